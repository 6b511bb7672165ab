//! Who asks the shards, and goes the road of a training with what they answer.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::super::depot::{self, Pile};
use super::super::gather::Gather;
use super::super::scan::{By, CHUNK, Look, Noted, SAMPLES, Scanned, retold, sizes};
use super::super::storing::{AllStored, Stamped, Storing, TEACH};
use super::super::{JUDGED, Streams, tell};
use super::wire::{
    Begin, Carried, Counted, Question, Samples, ScanAnswer, Seal, Store, StoreAnswer, answer_of,
    of_bytes, seal, to_bytes,
};
use crate::algorithm::Algorithm;
use crate::classifier::Classifier;
use crate::evaluate::Accumulator;
use crate::model::{ModelSpec, trees};
use crate::rate::{Question as Asked, Survey, Unnamed};
use crate::sample::BLOCK;
use crate::table::{Feed, HeldTable, Kind, KindFrom, PLENTY, PartColumn, Table};
use crate::train::{Pass, Plan, Watch};
use crate::{Error, ErrorKind, Result};

/// Rows that shards hand over at a time, all together, and at least how many each.
const AT_ONCE: u64 = 1 << 18;
const LEAST_AT_ONCE: u64 = 4096;

/// How questions get to shards, and answers back.
pub trait Engine: Send {
    /// Asks every shard, and returns the answers of all, in any order.
    ///
    /// A shard that is lost is rebuilt from its rows, asked what is remembered, and then this. With `keep`, the first so many
    /// of the remembered questions stay, and this one is remembered behind them.
    ///
    /// # Errors
    /// If some shard does not answer.
    fn ask(&mut self, question: &[u8], keep: Option<usize>) -> Result<Vec<Vec<u8>>>;
}

/// Who asks the shards.
pub struct Driver {
    engine: Mutex<Remembering>,
    name: String,
    /// The number of the first row of each run.
    firsts: Vec<u64>,
    runs: Vec<Counted>,
    shards: u64,
    /// What the first pass noted of each run.
    noted: Mutex<Vec<[u8; 32]>>,
}

/// An engine, and which of the questions that it remembers matter.
struct Remembering {
    engine: Box<dyn Engine>,
    /// The stage of each question.
    stages: Vec<u8>,
}

impl Question {
    /// How late in a training a remembered question comes, and whether it takes the place of those of its own stage. One of a
    /// stage takes the place of all that were asked in later stages.
    fn stage(&self) -> Option<(u8, bool)> {
        match self {
            Question::Begin(_) => Some((0, true)),
            Question::Scan(..) => Some((1, true)),
            Question::Store(_) => Some((2, true)),
            Question::Stored(_) => Some((3, true)),
            Question::Fetched => Some((4, true)),
            Question::Teach { .. } => Some((5, true)),
            Question::Trees(trees::Question::Start { .. }) => Some((6, true)),
            Question::Trees(trees::Question::Learn { .. }) => Some((7, false)),
            Question::Trees(trees::Question::Open { .. }) => Some((8, true)),
            Question::Trees(trees::Question::Cut(_)) => Some((9, false)),
            _ => None,
        }
    }
}

impl Remembering {
    /// The replies of all shards, which are answers.
    fn ask(&mut self, question: &Question) -> Result<Vec<Vec<u8>>> {
        let stage = question.stage();
        let keep = stage.map(|(stage, replaces)| {
            self.stages.partition_point(|&other| other < stage || (other == stage && !replaces))
        });
        let replies = self.engine.ask(&to_bytes(question)?, keep)?;
        if let (Some((stage, _)), Some(keep)) = (stage, keep) {
            self.stages.truncate(keep);
            self.stages.push(stage);
        }
        replies.iter().try_for_each(|reply| answer_of(reply).map(|_| ()))?;
        Ok(replies)
    }
}

impl Driver {
    /// Of the shards that an engine reaches; messages call their rows `name`.
    pub fn new(engine: impl Engine + 'static, name: impl Into<String>) -> Self {
        let engine = Remembering { engine: Box::new(engine), stages: Vec::new() };
        let (firsts, runs) = (Vec::new(), Vec::new());
        Driver {
            engine: Mutex::new(engine),
            name: name.into(),
            firsts,
            runs,
            shards: 1,
            noted: Mutex::default(),
        }
    }

    pub(in crate::train::streams) fn name(&self) -> &str {
        &self.name
    }

    fn ask(&self, question: &Question) -> Result<Vec<Vec<u8>>> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner).ask(question)
    }

    fn ask_for<T: for<'d> serde::Deserialize<'d>>(&self, question: &Question) -> Result<Vec<T>> {
        self.ask(question)?.iter().map(|reply| of_bytes(answer_of(reply)?)).collect()
    }

    /// Counts the rows and tells the shards how to read them. With fewer rows than are read in passes, these are the rows.
    pub(in crate::train) fn settle(&mut self, plan: &Plan) -> Result<Option<Streams<'static>>> {
        let unwritten = |error: serde_json::Error| {
            Error::new(ErrorKind::Settings, format!("the settings cannot be written: {error}"))
        };
        let missing = serde_json::to_string(&plan.stated().missing).map_err(unwritten)?;
        let counted: Vec<Vec<Counted>> = self.ask_for(&Question::Count(missing))?;
        self.shards = counted.len().max(1) as u64;
        let mut runs: Vec<Counted> = counted.into_iter().flatten().collect();
        runs.sort_unstable_by_key(|run| run.run);
        if runs.iter().enumerate().any(|(at, run)| run.run as usize != at) {
            let message = "the shards do not have each run of rows once";
            return Err(Error::new(ErrorKind::Format, message));
        }
        let mut rows = 0;
        self.firsts = runs
            .iter()
            .map(|run| {
                rows += run.rows;
                rows - run.rows
            })
            .collect();
        if rows == 0 {
            return Err(Error::new(ErrorKind::Format, "there is no row of data")
                .help("give at least one row")
                .at(&self.name));
        }
        if rows > u64::from(u32::MAX) {
            let message = format!("there are {rows} rows, and the number of a row has 32 bits");
            return Err(Error::new(ErrorKind::Settings, message)
                .help(format!("train on a sample of at most {} rows", u32::MAX))
                .at(&self.name));
        }
        let is_plenty = rows >= PLENTY as u64;
        let kinds = same_columns(&runs, if is_plenty { CHUNK } else { PLENTY } as u64)?;
        if let (true, Some((setting, instead))) = (is_plenty, plan.for_plenty()?.needs_table()) {
            let message = format!("{rows} rows would be sent here, because of this setting");
            return Err(Error::new(ErrorKind::Settings, message)
                .help(format!(
                    "{instead}; or train in one place with memory for all rows as a table"
                ))
                .at(setting));
        }
        self.runs = runs;
        let spec = serde_json::to_string(plan.stated()).map_err(unwritten)?;
        self.ask(&Question::Begin(Begin { spec, firsts: self.firsts.clone(), kinds }))?;
        if is_plenty {
            return Ok(None);
        }
        let mut tables: Vec<(u32, HeldTable)> = self
            .ask_for::<Vec<(u32, HeldTable)>>(&Question::Table)?
            .into_iter()
            .flatten()
            .collect();
        tables.sort_unstable_by_key(|(run, _)| *run);
        let tables = tables.into_iter().map(|(_, table)| Table::try_from(table));
        let tables: Vec<Table> = tables.collect::<Result<_>>()?;
        let table =
            Table::concat(&tables.into_iter().filter(|one| one.rows() > 0).collect::<Vec<_>>())?;
        Ok(Some(Streams::new(Feed::of(&self.name, std::borrow::Cow::Owned(table)))))
    }

    pub(in crate::train::streams) fn scan(
        &self,
        look: &Look<'_>,
        by: By,
        watch: &mut dyn Watch,
    ) -> Result<Scanned> {
        let rows = self.runs.iter().map(|run| run.rows).sum();
        tell(watch, Pass { name: "reading", rows: 0, of: Some(rows) })?;
        let question = Asked::of(look.problem);
        let mut numbers: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        if question.quantile_columns().next().is_some() {
            let counts: Vec<BTreeMap<String, Vec<(f64, u64)>>> =
                self.ask_for(&Question::Quantiles(by.clone()))?;
            for (name, counts) in counts.into_iter().flatten() {
                let own = numbers.entry(name).or_default();
                for (number, count) in counts {
                    own.extend(std::iter::repeat_n(number, count as usize));
                }
            }
        }
        let quantiles = question.quantiles(numbers);
        let answers: Vec<ScanAnswer> =
            self.ask_for(&Question::Scan(by.clone(), quantiles.all().collect()))?;
        tell(watch, Pass { name: "reading", rows, of: Some(rows) })?;

        // Patterns are numbered as they first come among all rows.
        let mut survey = Survey::new(&question, &quantiles);
        let (mut tables, mut firsts) = (Vec::new(), Vec::new());
        let mut starts = Vec::with_capacity(answers.len());
        let (mut all, mut keys) = (Vec::new(), [const { Vec::new() }; SAMPLES]);
        let (mut missing_units, mut dropped) = (0, Vec::new());
        for answer in answers {
            starts.push(firsts.len());
            dropped.push(answer.below);
            firsts.extend(answer.firsts);
            let table = Table::try_from(answer.patterns)?;
            tables.extend((table.rows() > 0).then_some(table));
            all.push(answer.runs);
            missing_units += answer.missing_units as usize;
            keys.iter_mut().zip(answer.keys).for_each(|(all, own)| all.extend(own));
        }
        let mut order: Vec<usize> = (0..firsts.len()).collect();
        order.sort_unstable_by_key(|&at| firsts[at]);
        let mut global = vec![0; firsts.len()];
        if !tables.is_empty() {
            let numbers = survey.add(&Table::concat(&tables)?.take(&order))?;
            order.iter().zip(numbers).for_each(|(&at, number)| global[at] = number);
        }

        let mut own: Vec<Noted> = self.runs.iter().map(|_| Noted::default()).collect();
        let mut seals = vec![[0; 32]; own.len()];
        for (start, runs) in starts.into_iter().zip(all) {
            for run in runs {
                let place = own.get_mut(run.run as usize).ok_or_else(strange)?;
                seals[run.run as usize] = seal(&run.notes, &run.weights, &run.keys);
                let notes = run.notes.iter().map(|notes| retold(notes, &global[start..]));
                *place = Noted {
                    notes: notes.collect(),
                    weights: run.weights.into_owned(),
                    keys: run.keys.into_owned(),
                    rows: run.notes.iter().map(|notes| notes.len() as u64).sum(),
                };
            }
        }
        if own.iter().zip(&self.runs).any(|(own, run)| own.rows != run.rows) {
            return Err(super::super::storing::changed());
        }
        let own = own.into_iter().reduce(|mut all, more| {
            all.notes.extend(more.notes);
            all.weights.extend(more.weights);
            all.keys.extend(more.keys);
            all.rows += more.rows;
            all
        });

        let columns = self.runs.iter().map(|run| run.columns.len()).max().unwrap_or(0);
        *self.noted.lock().unwrap_or_else(PoisonError::into_inner) = seals;
        let mut sizes = sizes(columns).into_iter().enumerate();
        let below = keys.map(|keys| {
            let (at, most) = sizes.next().unwrap_or_default();
            Gather::limit(keys, dropped.iter().map(|dropped| dropped[at]), most)
        });
        let mut parts = [const { Vec::new() }; SAMPLES];
        for Samples(own) in self.ask_for(&Question::Samples(below))? {
            parts.iter_mut().zip(own).for_each(|(parts, own)| parts.push(own));
        }
        let [sample, excerpt, alike, others] = parts.map(Gather::merge);
        let samples = [sample?, excerpt?, alike?, others?];
        let patterns = (survey.table()?, quantiles);
        look.found(by, own.into_iter().collect(), patterns, samples, missing_units)
    }

    pub(in crate::train::streams) fn store(
        &self,
        storing: &Storing<'_>,
        scanned: &mut Scanned,
        strange: &mut [Unnamed; 2],
        watch: &mut dyn Watch,
    ) -> Result<AllStored> {
        let total = self.runs.iter().map(|run| run.rows).sum();
        tell(watch, Pass { name: "storing", rows: 0, of: Some(total) })?;
        let mut piles = storing.piles(scanned);
        // They are not needed any more, and memory is about to fill.
        scanned.sources.iter_mut().for_each(|source| *source = Noted::default());
        let needed = Needed::of(storing, piles.piles[TEACH].rows());
        let kept = piles.piles[TEACH].keep(|places| needed.any(places)).to_vec();
        let mut depots = storing.depots(&piles, scanned.by != By::Row)?;
        let written = |error: serde_json::Error| {
            Error::new(ErrorKind::Format, format!("the encoder cannot be sent: {error}"))
        };
        let store = Store {
            noted: self.noted.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            encoder: serde_json::to_string(&storing.view.encoder).map_err(written)?,
            bins: storing
                .bins
                .map(|bins| serde_json::to_string(&**bins))
                .transpose()
                .map_err(written)?,
            patterns: scanned.patterns.clone().into(),
            cell_of: storing.cell_of.to_vec(),
            quantisers: [storing.counts[0].quantiser, storing.counts[1].quantiser],
            weighted: [storing.counts[0].weighted, storing.counts[1].weighted],
            plug_in: storing.plug_in,
            keyed: scanned.by != By::Row,
            numbers: storing.samples_rows(),
            whose: piles.whose,
            kept,
            groups: strange[0].columns().map(str::to_owned).collect(),
        };
        let mut sums = Stamped::new(storing.prints());
        let mut seals: Vec<Seal> = Vec::new();
        for answer in self.ask_for::<StoreAnswer>(&Question::Store(Box::new(store)))? {
            let Some(seal) = answer.seal else { continue };
            sums.prints.iter_mut().zip(seal.prints).for_each(|(print, own)| print.add(own));
            let sketches = sums.sketches.iter_mut().zip(answer.sketches);
            sketches.for_each(|(sketch, own)| sketch.merge(own));
            strange[0].add_missing(seal.rows, &answer.missing);
            seals.push(seal);
        }
        if seals.iter().map(|seal| seal.rows).sum::<u64>() != total {
            return Err(super::super::storing::changed());
        }
        self.ask(&Question::Stored(seals))?;
        // The next rows are on their way while these are stored.
        let at_once = (AT_ONCE / self.shards).max(LEAST_AT_ONCE);
        let fetch = |from| self.ask_for::<Carried>(&Question::Fetch { from, rows: at_once });
        let (mut from, mut next) = (at_once, fetch(0)?);
        while next.iter().any(|carried| carried.rows() > 0) {
            let here = std::mem::take(&mut next);
            next = std::thread::scope(|scope| {
                let asked = scope.spawn(|| fetch(from));
                for carried in here {
                    carried.each(storing.like, |(of_val, key), row| {
                        let hash = depot::hash(piles.whose.order, row.number);
                        let pile = piles.whose.pile(of_val, key);
                        let spot = piles.piles[pile].next(hash);
                        let spot = spot.ok_or_else(super::super::storing::changed)?;
                        depots[usize::from(of_val)].put(spot, row)
                    })?;
                }
                let over = |_| Err(Error::new(ErrorKind::Io, "the shards cannot be asked"));
                asked.join().unwrap_or_else(over)
            })?;
            tell(watch, Pass { name: "storing", rows: total, of: Some(total) })?;
            from += at_once;
        }
        if !piles.piles.iter().all(Pile::is_full) {
            return Err(super::super::storing::changed());
        }
        self.ask(&Question::Fetched)?;
        storing.finish(depots, piles, sums)
    }

    /// Boosts trees on the rows that teach; the lesson has those that are set aside.
    pub(in crate::train) fn boost(
        &self,
        (inside, unit): (Vec<bool>, Option<f64>),
        lesson: &trees::Lesson<'_>,
        (spec, seed): (&trees::TreesSpec, u64),
        threads: &crate::Threads,
        watch: &mut dyn FnMut(usize) -> std::ops::ControlFlow<()>,
    ) -> Result<trees::Forest> {
        self.ask(&Question::Teach { inside, unit })?;
        let mut ask = |question: &trees::Question| -> Result<Vec<trees::Answer>> {
            self.ask_for(&Question::Trees(question.clone()))
        };
        trees::boost_elsewhere(&mut ask, lesson, spec, seed, threads, watch)
    }

    /// What a classifier comes to on the rows to test on.
    pub(in crate::train::streams) fn test(
        &self,
        by: &By,
        classifier: &Classifier,
    ) -> Result<Accumulator> {
        let question = Question::Test { by: by.clone(), classifier: classifier.to_bytes()? };
        let mut sums = Accumulator::new(classifier.bound());
        for part in self.ask(&question)? {
            sums.merge_bytes(answer_of(&part)?)?;
        }
        Ok(sums)
    }
}

/// The columns of all runs in the order of the first, and their kinds: as they are stored with some rows, or else as text is
/// read in the first run that has values. Among the first `most` rows, that is: in one place, text without any value there is
/// a category.
fn same_columns(runs: &[Counted], most: u64) -> Result<Vec<(String, Kind)>> {
    let mut of = runs.iter().filter(|run| run.rows > 0);
    let Some(first) = of.next() else { return Ok(Vec::new()) };
    let names: BTreeSet<&str> = first.columns.iter().map(|one| one.name.as_str()).collect();
    let help = "give all parts the same columns, of the same types";
    let wrong =
        |message: String, at: &str| Err(Error::new(ErrorKind::Column, message).help(help).at(at));
    for run in of {
        let own: BTreeSet<&str> = run.columns.iter().map(|one| one.name.as_str()).collect();
        if let Some(name) = names.iter().find(|name| !own.contains(*name)) {
            let before = &first.name;
            return wrong(format!("there is no column `{name}`, and {before} has one"), &run.name);
        }
        if let Some(name) = own.iter().find(|name| !names.contains(*name)) {
            let before = &first.name;
            return wrong(format!("there is a column `{name}`, and {before} has none"), &run.name);
        }
    }
    // Of each column, the kind and the run that it is of.
    let mut kinds: BTreeMap<&str, (Kind, KindFrom, &str)> = BTreeMap::new();
    let mut first_row = 0;
    for run in runs.iter().filter(|run| run.rows > 0) {
        for PartColumn { name, kind, from } in &run.columns {
            let kind = match from {
                KindFrom::Text(row) if first_row + row >= most => &Kind::Category,
                _ => kind,
            };
            match (kinds.get(name.as_str()), from) {
                (None | Some((_, KindFrom::Nothing, _)), _) => {
                    kinds.insert(name, (*kind, *from, &run.name));
                }
                (Some((before, _, other)), KindFrom::Type) if before != kind => {
                    let message = format!("column `{name}` is a {kind}, and in {other} a {before}");
                    return wrong(message, &run.name);
                }
                _ => {}
            }
        }
        first_row += run.rows;
    }
    let kind = |one: &PartColumn| {
        (one.name.clone(), kinds.get(one.name.as_str()).map_or(one.kind, |found| found.0))
    };
    Ok(first.columns.iter().map(kind).collect())
}

/// The places of the rows that teach which the driver needs.
struct Needed {
    /// The first so many.
    first: usize,
    /// Which blocks minibatches are drawn from, where they are not drawn from all.
    blocks: Option<Vec<bool>>,
}

impl Needed {
    fn of(storing: &Storing<'_>, teach: usize) -> Self {
        let plan = storing.plan;
        let trees = matches!(plan.spec.model, ModelSpec::Trees(_));
        match plan.spec.algorithm {
            Algorithm::PlugIn(_) if trees => Needed { first: JUDGED, blocks: None },
            // Groups are modelled by trees over all rows.
            Algorithm::PlugIn(_) => Needed { first: teach, blocks: None },
            _ if teach <= JUDGED => Needed { first: teach, blocks: None },
            _ => Needed { first: JUDGED, blocks: Some(crate::train::games::blocks(plan, teach)) },
        }
    }

    /// Whether the rows of some of these places are needed.
    fn any(&self, places: Range<usize>) -> bool {
        let blocks = || places.start / BLOCK..places.end.div_ceil(BLOCK);
        let drawn = self
            .blocks
            .as_ref()
            .is_some_and(|all| blocks().any(|block| all.get(block).copied().unwrap_or(false)));
        !places.is_empty() && (places.start < self.first || drawn)
    }
}

fn strange() -> Error {
    Error::new(ErrorKind::Format, "a shard answered of rows that it was not given")
}
