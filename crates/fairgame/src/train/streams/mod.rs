//! Trainings whose rows are too many for a table: two passes over the files.
//!
//! The first pass ([`scan`]) finds out what rows are like, and binds the problem; the encoder is fitted on a sample of
//! the training rows ([`gather`]). The second ([`storing`]) encodes all rows, and stores what models see of them in a random
//! order: in memory up to a budget, beyond it in mapped files. The table of all rows is never held. Which way a training
//! goes depends on the number of its rows and on its settings, and on nothing else; so a table in memory and its file
//! come to the same, to the bit.

mod counts;
mod depot;
mod divide;
mod gather;
mod reading;
mod scan;
mod shards;
mod storing;
mod tested;

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;

use counts::Counts;
pub(super) use depot::STAGED_BYTES;
use depot::{Seen, Stored};
pub(super) use reading::Reading;
use scan::{By, COPIES, Look, TEST};
pub(super) use scan::{CHUNK, sample_rows};
pub use shards::{Driver, Engine, Shard};
use storing::{AllStored, Storing};
pub(super) use tested::Streamed;

use super::checks;
use super::fit::Ground;
use super::folds::Fold;
use super::games::Variant;
use super::importance::Excerpt;
use super::training::{Rows, encoder_of, most_with_matrix};
use super::{Data, Datasets, Notice, Pass, Plan, Shape, Sheet, Training, Warning, Watch};
use crate::algorithm::Algorithm;
use crate::classifier::{Provenance, View};
use crate::encode::{Encoder, Features};
use crate::model::trees::{Binned, Bins};
use crate::model::{AnyModel, ModelSpec, Rule};
use crate::rate::{Binding, Bound, Compiled, Counted, RowCounts, RowNotice, check_each_weight};
use crate::table::{Feed, Head, PLENTY, Table};
use crate::{Error, ErrorKind, Result};

/// Most training rows that a classifier is judged on, of plenty.
pub(super) const JUDGED: usize = 1 << 20;

/// Rows that can be read more than once, and how much each counts.
pub struct Stream<'a> {
    /// The rows.
    pub feed: Feed<'a>,
    /// One weight a row, or 1 each; a weight column that the settings name wins over them.
    pub weights: Option<Cow<'a, [f32]>>,
}

impl Stream<'_> {
    /// The weights of a chunk whose first row has the number `first`: those of a column, or those that are given.
    fn weights_of(
        &self,
        column: Option<&str>,
        chunk: &Table,
        first: u64,
    ) -> Result<Option<Vec<f32>>> {
        let weights = match (column, &self.weights) {
            (Some(name), _) => Some(super::weight_column(chunk, name, first)?),
            (None, Some(all)) => {
                let from = (first as usize).min(all.len());
                Some(all[from..(from + chunk.rows()).min(all.len())].to_vec())
            }
            (None, None) => None,
        };
        check_each_weight(weights.as_deref(), chunk.rows(), first)?;
        Ok(weights)
    }
}

impl<'a> From<Feed<'a>> for Stream<'a> {
    fn from(feed: Feed<'a>) -> Self {
        Stream { feed, weights: None }
    }
}

impl<'a> From<Sheet<'a>> for Stream<'a> {
    fn from(Sheet { table, weights, source }: Sheet<'a>) -> Self {
        Stream { feed: Feed::of(source, table), weights }
    }
}

/// The rows to learn from, and others beside them, where they may be too many for tables.
pub struct Streams<'a> {
    /// The rows to learn from; the settings may set some of them aside.
    pub train: Stream<'a>,
    /// Rows of their own to enforce the constraints on.
    pub val: Option<Stream<'a>>,
    /// Rows of their own to test on.
    pub test: Option<Stream<'a>>,
}

/// Data that are read, or will be read in passes.
pub enum Settled<'a> {
    /// Tables in memory.
    Whole(Box<Data<'a>>),
    /// More rows than are held as tables.
    Large(Box<Streams<'a>>),
}

impl<'a> Streams<'a> {
    /// Rows to learn from, and nothing beside them.
    pub fn new(train: impl Into<Stream<'a>>) -> Self {
        Streams { train: train.into(), val: None, test: None }
    }

    /// What a plan needs to know of them: how many rows there are at least, if they are plenty.
    pub(super) fn shape(&self, rows: usize) -> Shape {
        Shape { rows: Some(rows), validation: self.val.is_some(), test: self.test.is_some() }
    }

    /// Reads the rows as tables, unless there are plenty of them and the settings have a way without tables.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn settle(mut self, plan: &Plan) -> Result<Settled<'a>> {
        let head = match self.train.feed.head(PLENTY)? {
            Head::Whole(table) => {
                return self.read(table).map(|data| Settled::Whole(Box::new(data)));
            }
            Head::First(first) => first,
        };
        self.val = self.val.map(|one| Stream { feed: one.feed.like(&head), ..one });
        self.test = self.test.map(|one| Stream { feed: one.feed.like(&head), ..one });
        match plan.stated().plan(&self.shape(PLENTY))?.streams() {
            true => Ok(Settled::Large(Box::new(self))),
            false => self.read(None).map(|data| Settled::Whole(Box::new(data))),
        }
    }

    /// The rows as tables; the training table may be read already.
    fn read(self, train: Option<Table>) -> Result<Data<'a>> {
        fn sheet<'a>(
            Stream { feed, weights }: Stream<'a>,
            read: Option<Table>,
        ) -> Result<Sheet<'a>> {
            let source = feed.name().to_owned();
            let table = match read {
                Some(table) => Cow::Owned(table),
                None => feed.whole()?,
            };
            Ok(Sheet { table, weights, source })
        }
        let train = sheet(self.train, train)?;
        let like = |stream: Stream<'a>| {
            let Stream { feed, weights } = stream;
            sheet(Stream { feed: feed.like(&train.table), weights }, None)
        };
        let (val, test) = (self.val.map(&like).transpose()?, self.test.map(&like).transpose()?);
        Ok(Data { train, val, test, fitted: None })
    }
}

impl<'a> From<Data<'a>> for Streams<'a> {
    fn from(data: Data<'a>) -> Self {
        let stream = Stream::from;
        Streams {
            train: stream(data.train),
            val: data.val.map(stream),
            test: data.test.map(stream),
        }
    }
}
impl<'a> Training<'a> {
    /// Two passes over the rows: all but to play.
    pub(super) fn streamed(
        mut plan: Plan,
        mut reading: Reading<'a>,
        watch: &mut dyn Watch,
    ) -> Result<Self> {
        let spec = &plan.spec;
        let look = Look::of(&plan);
        let (divide, order) = (look.divide[0], look.order);
        let by = spec.unit.clone().map_or(By::Row, By::Unit);
        let mut scanned = reading.scan(&look, by, watch)?;
        let copied = scanned.copied;
        if copied > 0 {
            // Once more, with copies kept together.
            scanned = reading.scan(&look, By::Copies, watch)?;
        }
        let rows: u64 = scanned.sources.iter().map(|source| source.rows).sum();
        if u32::try_from(rows).is_err() {
            let message = format!("{rows} rows are more than one machine's training takes");
            return Err(Error::new(ErrorKind::Value, message).help("train on a sample of them"));
        }
        let mut notices = plan.notices.clone();
        let sampled = rows > COPIES as u64;
        notices.extend((copied > 0).then_some(Notice::Copies { rows: copied, sampled }));
        let missing = scanned.missing_units;
        notices.extend((missing > 0).then_some(Notice::MissingUnits { rows: missing }));
        let mut overlaps = Vec::new();
        if let (Some(share), Some(_)) = (scanned.overlap, reading.name_of_val()) {
            let of = scanned.sources.last().map_or(0, |source| source.rows as usize);
            let found = (share * of as f64).round() as usize;
            overlaps.push(Warning::Overlap { part: "validation", rows: found, of, unit: None });
        }
        if let Some((found, of)) = reading.tested_again(&scanned)? {
            overlaps.push(Warning::Overlap { part: "test", rows: found, of, unit: None });
        }
        if let (Datasets::Auto, None) = (plan.stated().datasets, reading.name_of_val()) {
            let judging = scanned.count(true);
            notices.push(Notice::OneSplit { judging, rows: judging + scanned.count(false) });
        }

        // The problem, bound to the patterns of the rows.
        let patterns = scanned.patterns.rows();
        let counts = [false, true]
            .map(|of_val| Counts::new(&scanned.sources, patterns, of_val))
            .into_iter()
            .collect::<Result<Vec<_>>>()?;
        let present: Vec<_> = counts.iter().map(|own| own.present(&scanned.patterns)).collect();
        if let Some(part) = present.iter().position(|one| one.0.is_empty()) {
            let what = if part == 0 { "to train on" } else { "to enforce constraints on" };
            return Err(Error::new(ErrorKind::Settings, format!("no rows are left {what}")));
        }
        let tables: Vec<Counted<'_>> = present
            .iter()
            .map(|(_, table, weights, rows)| Counted {
                table,
                counts: RowCounts::Many { weights, rows },
            })
            .collect();
        let binding = plan.problem.compile_counted(&tables, &scanned.quantiles)?;
        let Binding { mut bound, partition, tables: compiled, notices: found } = binding;
        // A pattern does not have all labels, and the sample does.
        bound.remember_labels(&scanned.sample);
        notices.extend(found.into_iter().map(Notice::Problem));
        let mut cell_of = vec![TEST; patterns];
        for ((there, ..), compiled) in present.iter().zip(&compiled) {
            let cells = there.iter().zip(compiled.cells());
            cells.for_each(|(&pattern, &cell)| cell_of[pattern] = cell);
        }
        notices.extend(label_notices(&bound, &present[0].1, &counts[0].rows, &present[0].0)?);
        if let Algorithm::Practical(practical) = plan.spec.algorithm
            && bound.constraints().len() > most_with_matrix(plan.spec.recipe)
        {
            let (constraints, replaced) = (bound.constraints().len(), plan.open);
            notices.push(Notice::ManyConstraints { constraints, replaced });
            if replaced {
                plan.spec.algorithm = Algorithm::Lagrangian(practical.without_matrix());
            }
        }

        // The encoder, and the bins of trees, fitted on the sample.
        notices.extend(checks::apply(&mut plan, &bound, &scanned.sample)?);
        let spec = &plan.spec;
        let wanted = encoder_of(&plan, &bound, &scanned.sample, (0, 1));
        let (encoder, found) = Encoder::fit(&wanted, &scanned.sample)?;
        notices.extend(found.into_iter().map(Notice::Features));
        let like = encoder.encode(&scanned.sample)?;
        let bins = match &spec.model {
            ModelSpec::Trees(trees) => {
                Some(Arc::new(Bins::fit(trees, &encoder, &like, (None, None), &plan.threads)?))
            }
            _ => None,
        };
        let model = match &spec.model {
            ModelSpec::Trees(_) => AnyModel::Rule(Rule::new(1, 0)?),
            _ => plan.model(&encoder, &like)?,
        };
        let view = View { encoder, model, probabilities: None };
        let ground = match spec.algorithm {
            Algorithm::PlugIn(_) => {
                Some(Ground::new(&bound, &partition, &[&view.encoder], &present[0].1)?)
            }
            _ => None,
        };

        let storing = Storing {
            plan: &plan,
            view: &view,
            like: &like,
            bins: bins.as_ref(),
            cell_of: &cell_of,
            counts: &counts,
            order,
            plug_in: ground.is_some(),
        };
        let mut strange = [bound.unnamed(), bound.unnamed_or_unlabelled()];
        let AllStored { train, val, teach, taught_weight, prints: [own, others] } =
            reading.store(&storing, &mut scanned, &mut strange, watch)?;
        let [unnamed, others_unnamed] = strange;
        for notice in unnamed.finish()? {
            if let RowNotice::NoGroup { .. } = notice {
                notices.push(Notice::Rows { part: "training", notice });
            }
        }
        if reading.name_of_val().is_some() {
            let part = "validation";
            let found = others_unnamed.finish().map_err(|error| error.at("the validation rows"))?;
            for notice in found {
                match notice {
                    RowNotice::NoGroup { .. } => notices.push(Notice::Rows { part, notice }),
                    _ => overlaps.push(Warning::Rows { part, notice }),
                }
            }
        }
        let rows_of = |at: usize, stored: Stored| -> Result<Rows> {
            let Stored { seen, cells, weights, keys, hashes, numbers } = stored;
            let count = cells.len();
            let (features, binned) = match seen {
                Seen::Features { codes, values } => (like.stored(count, codes, values), None),
                Seen::Bins(codes, columns) => {
                    let binned = bins.clone().map(|bins| (bins, Binned::new(columns, codes)));
                    (Features::of_hashes(count, hashes), binned)
                }
            };
            let cells = Arc::new(cells);
            let plain = match plan.spec.plain {
                true => {
                    let error = bound.error_alone(&present[0].1)?;
                    let (weights, rows) = counts[at].by_cell(&cell_of, partition.cells());
                    let sums = (weights.as_slice(), rows.as_slice());
                    Some(Compiled::of_other(&error, &partition, sums, &cells)?)
                }
                false => None,
            };
            let (weights, given) = weights.map(|[exact, given]| (exact, given)).unzip();
            let source = match (at, reading.name_of_val()) {
                (1, Some(val)) => val.to_owned(),
                (0, Some(_)) => reading.name().to_owned(),
                _ => format!("a part of {}", reading.name()),
            };
            Ok(Rows {
                order: Vec::new(),
                features: vec![features],
                placed: Vec::new(),
                compiled: compiled[at].clone().with_cells(cells),
                plain,
                binned,
                numbers,
                units: keys.map(|keys| numbered(&keys)),
                weights,
                given,
                source,
            })
        };
        let (train, val) = (rows_of(0, train)?, rows_of(1, val)?);
        let (teach, aside) = (teach as u32, train.count() as u32);
        let fold = Fold {
            teach: (teach < aside).then(|| (0..teach).collect()),
            aside: (teach < aside).then(|| (teach..aside).collect()),
            judge: None,
            view: 0,
            repeat: 0,
        };
        let excerpt =
            Excerpt { rows: (0..scanned.excerpt.rows() as u32).collect(), table: scanned.excerpt };
        let provenance = Provenance {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            settings: plan.settings()?,
            train: own,
            val: Some(others),
        };
        let streamed = Streamed {
            divide,
            by: scanned.by,
            weight: plan.spec.weight.clone(),
            unit: plan.spec.unit.clone(),
            rows: reading,
            taught_weight,
        };
        let variants = Variant::all(&plan.spec);
        Ok(Training {
            plan,
            bound,
            partition,
            views: vec![view],
            train,
            val: Some(val),
            folds: vec![fold],
            variants,
            ground,
            excerpt: Some(excerpt),
            test: None,
            streamed: Some(streamed),
            provenance,
            overlaps,
            notices,
        })
    }
}
/// Tells a watcher of a pass, which may be stopped.
fn tell(watch: &mut dyn Watch, pass: Pass) -> Result<()> {
    match watch.pass(&pass) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => {
            let message = "the training was stopped while it read rows: there is no result";
            Err(Error::new(ErrorKind::Settings, message))
        }
    }
}

/// Units numbered from 0.
fn numbered(keys: &[u64]) -> Vec<u32> {
    let mut known = keys.to_vec();
    known.sort_unstable();
    known.dedup();
    keys.iter().map(|key| known.binary_search(key).unwrap_or(0) as u32).collect()
}

/// What the label leaves open, of patterns that so many rows have.
fn label_notices(
    bound: &Bound,
    table: &Table,
    rows: &[usize],
    there: &[usize],
) -> Result<Vec<Notice>> {
    let mut notices = Vec::new();
    let columns = bound.label().columns();
    let columns = columns.iter().map(|name| table.column(name)).collect::<Result<Vec<_>>>()?;
    let missing = |at: &usize| columns.iter().any(|column| column.values.is_missing(*at));
    let unlabelled: usize = (0..table.rows()).filter(missing).map(|at| rows[there[at]]).sum();
    if unlabelled > 0 {
        notices.push(Notice::MissingLabels { rows: unlabelled });
    }
    let labels = bound.label().evaluate(table)?;
    if let Some(&positive) = labels.first()
        && labels.iter().all(|&label| label == positive)
    {
        notices.push(Notice::OneClass { positive });
    }
    Ok(notices)
}
