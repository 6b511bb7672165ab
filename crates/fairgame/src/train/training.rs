//! A training that is ready to begin: rows divided and encoded, the problem bound to them.
//!
//! Each fold has a *view* of its own: an encoder that is fitted on the rows that teach there, and the model over its
//! features. Folds whose views are equal share one.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::checks;
use super::fit::Ground;
use super::folds::{Deck, Fold, cut};
use super::games::Variant;
use super::importance::{Excerpt, MOST_ROWS};
use super::scores::{check_groups, check_scores, distinct_numbers, own_columns};
use super::strange::{strange, suspicious};
use super::streams::Streamed;
use super::units::{self, Together};
use super::{Data, Datasets, Notice, Plan, Recipe, Sheet, Warning};
use crate::algorithm::Algorithm;
use crate::archive::hex;
use crate::classifier::{self, Provenance, Selection, View};
use crate::encode::{Coding, Encoder, EncoderSpec, Features};
use crate::model::trees::{Binned, Bins};
use crate::model::{AnyModel, ModelSpec, Placed, Rule, ScoreScale};
use crate::random::mix;
use crate::rate::{
    self, Binding, Bound, Compiled, LABEL, Partition, Problem, RowNotice, Weighted, quantised,
};
use crate::table::Table;
use crate::{Error, ErrorKind, Result, Slab};

/// With more constraints than this, a recipe plays Algorithm 4 where no algorithm is named: each turn of Algorithm 3 finds the fixed point of a matrix
/// of their number squared (129 µs with 100 of them, 13 ms with 1,000, 0.4 s with 5,000).
pub(super) fn most_with_matrix(recipe: Recipe) -> usize {
    match recipe {
        Recipe::Recommended => 100,
        Recipe::Paper => 1_000,
    }
}

/// One player's rows, ready to be played on: in an order drawn at random, so that any run of them is a minibatch.
#[derive(Debug, Clone)]
pub(super) struct Rows {
    /// Where each of them is in the table; empty if there is none.
    pub(super) order: Vec<u32>,
    /// What a model sees, in each of the views.
    pub(super) features: Vec<Features>,
    /// Where the rows lie on the calibrators of each view's model, if it has any; empty where it was not found out.
    pub(super) placed: Vec<Option<Placed>>,
    /// The cells and losses.
    pub(super) compiled: Compiled,
    /// The cells and losses of the error alone, for games without constraints.
    pub(super) plain: Option<Compiled>,
    /// The codes of trees, where these are all that is stored of the features.
    pub(super) binned: Option<(Arc<Bins>, Binned)>,
    /// The number of each row among all that were read, where trees sample rows by it.
    pub(super) numbers: Option<Slab<u32>>,
    /// The unit of each row, where rows may be of the same.
    pub(super) units: Option<Vec<u32>>,
    /// How much each row counts to the players: weights that add up without rounding, or 1 each.
    pub(super) weights: Option<Slab<f32>>,
    /// How much each row counts to those who judge: the weights as they were given.
    pub(super) given: Option<Slab<f32>>,
    /// Where the rows are from.
    pub(super) source: String,
}

impl Rows {
    /// Puts the rows of a sheet in order; they have no features yet.
    pub(super) fn new(
        compiled: Compiled,
        plain: Option<Compiled>,
        sheet: &Sheet<'_>,
        weights: Option<&[f32]>,
        units: Option<Vec<u32>>,
        seed: u64,
    ) -> Result<Self> {
        let order = order(sheet.table.rows(), seed)?;
        let ordered = |all: &[f32]| -> Slab<f32> {
            order.iter().map(|&row| all[row as usize]).collect::<Vec<_>>().into()
        };
        Ok(Rows {
            features: Vec::new(),
            placed: Vec::new(),
            binned: None,
            numbers: None,
            compiled: compiled.reordered(&order),
            plain: plain.map(|plain| plain.reordered(&order)),
            weights: weights.map(ordered),
            given: sheet.weights.as_deref().map(ordered),
            units: units.map(|all| order.iter().map(|&row| all[row as usize]).collect()),
            source: sheet.source.clone(),
            order,
        })
    }

    /// Adds what one more view sees of the rows.
    fn see(&mut self, encoder: &Encoder, table: &Table) -> Result<()> {
        self.features.push(encoder.encode(table)?.take(&self.order));
        Ok(())
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.compiled.cells().len()
    }

    /// The rows as cuts see them.
    pub(super) fn deck(&self) -> Deck<'_> {
        Deck { cells: self.compiled.cells(), units: self.units.as_deref() }
    }

    /// Numbers of the rows as they are stored, in the order of the table.
    pub(super) fn in_table_order(&self, stored: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; stored.len()];
        self.order.iter().zip(stored).for_each(|(&row, &number)| all[row as usize] = number);
        all
    }

    /// How many rows there are, and a hash of all that the players see of them.
    pub(super) fn provenance(&self) -> classifier::Fingerprint {
        let (features, weights) = (&self.features[0], self.weights.as_deref());
        let mut print = Print::new(features, features.rows(), weights.is_some());
        for (place, &row) in self.order.iter().enumerate() {
            let weight = weights.map(|weights| weights[place]);
            print.row(u64::from(row), features, place, self.compiled.cells()[place], weight);
        }
        print.finish(classifier::sketch(features))
    }
}

/// A hash of all that the players see of rows: each row's is of its number and of what is seen of it, and they are added up
/// as numbers of 256 bits. So rows may come in any order, and prints of parts add up to that of the whole.
pub(super) struct Print {
    head: Vec<u8>,
    bytes: Vec<u8>,
    rows: usize,
    sum: [u64; 4],
}

impl Print {
    /// Of no rows; only its sum can be had.
    pub(super) fn nothing() -> Self {
        Print { head: Vec::new(), bytes: Vec::new(), rows: 0, sum: [0; 4] }
    }

    /// Of so many rows with features like these.
    pub(super) fn new(like: &Features, rows: usize, weighted: bool) -> Self {
        let weights = if weighted { rows } else { 0 };
        let sizes = [rows, like.slots(), like.numbers(), like.weights(), weights];
        let head = sizes.into_iter().flat_map(|size| (size as u64).to_le_bytes()).collect();
        Print { head, bytes: Vec::new(), rows, sum: [0; 4] }
    }

    /// Adds the row with this number.
    pub(super) fn row(
        &mut self,
        number: u64,
        features: &Features,
        row: usize,
        cell: u32,
        weight: Option<f32>,
    ) {
        self.bytes.clear();
        self.bytes.extend(number.to_le_bytes());
        features.code_bytes(row, &mut self.bytes);
        self.bytes.extend(features.row_values(row).iter().flat_map(|x| x.to_le_bytes()));
        self.bytes.extend(cell.to_le_bytes());
        self.bytes.extend(weight.into_iter().flat_map(f32::to_le_bytes));
        let hash = Sha256::digest(&self.bytes);
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(hash.chunks_exact(8)) {
            *word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        }
        self.add(words);
    }

    /// Adds rows that were added up elsewhere.
    pub(super) fn add(&mut self, words: [u64; 4]) {
        let mut carry = false;
        for (sum, word) in self.sum.iter_mut().zip(words) {
            let (more, over) = sum.overflowing_add(word);
            let (more, again) = more.overflowing_add(u64::from(carry));
            (*sum, carry) = (more, over || again);
        }
    }

    /// The sum of the rows so far.
    pub(super) fn sum(&self) -> [u64; 4] {
        self.sum
    }

    /// What is known of the rows.
    pub(super) fn finish(mut self, sketch: Vec<u64>) -> classifier::Fingerprint {
        self.head.extend(self.sum.into_iter().flat_map(u64::to_le_bytes));
        let sha256 = hex(&Sha256::digest(&self.head));
        classifier::Fingerprint { rows: self.rows, sha256, sketch }
    }
}

/// What features do not tell of the training rows: label and groups together are a *pattern*, and of some sets of
/// patterns a rule needs the probability.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patterns {
    /// How many there are.
    pub count: usize,
    /// The pattern of each row, in the order of the table.
    pub of_rows: Vec<u32>,
    /// The sets whose probabilities are needed, beside that of the label.
    pub sets: Vec<Vec<u32>>,
}

/// A training that is ready to begin.
pub struct Training<'a> {
    pub(super) plan: Plan,
    pub(super) bound: Bound,
    /// The cells of all rows.
    pub(super) partition: Partition,
    pub(super) views: Vec<View>,
    pub(super) train: Rows,
    pub(super) val: Option<Rows>,
    /// Which rows teach and which judge: one, or with cross-fitting several.
    pub(super) folds: Vec<Fold>,
    /// The ways in which each fold's game is played.
    pub(super) variants: Vec<Variant>,
    /// In the plug-in game, what the problem is like to rules.
    pub(super) ground: Option<Ground>,
    /// A few of the rows that judge, to find out how much each column counts.
    pub(super) excerpt: Option<Excerpt>,
    /// The rows to test on.
    pub(super) test: Option<Sheet<'a>>,
    /// The rows as they can be read again, if they were too many for a table.
    pub(super) streamed: Option<Streamed<'a>>,
    pub(super) provenance: Provenance,
    pub(super) notices: Vec<Notice>,
    /// What to warn of before the first turn, such as rows that judge and are also training rows.
    pub(super) overlaps: Vec<Warning>,
}

impl<'a> Training<'a> {
    /// Divides the data, binds the problem, fits the encoder, and encodes the rows.
    pub(super) fn new(mut plan: Plan, data: Data<'a>) -> Result<Self> {
        let mut data = data.divided(&plan.spec)?;
        let fitted = data.fitted.take();
        let train_weights = exact_weights(&data.train)?;
        let val_weights = match &data.val {
            Some(val) => exact_weights(val).map_err(|error| error.at("the validation rows"))?,
            None => None,
        };
        let train = Weighted { table: &data.train.table, weights: train_weights.as_deref() };
        let val = data.val.as_ref();
        let val = val.map(|val| Weighted { table: &val.table, weights: val_weights.as_deref() });
        let (given, binding) = match fitted {
            Some((bound, encoder)) => (Some(encoder), bound.compile_all(train, val)?),
            None => {
                let others: Vec<Weighted<'_>> = val.into_iter().collect();
                (None, plan.problem.compile(train, &others)?)
            }
        };
        let mut notices = plan.notices.clone();
        notices.extend(binding.notices.iter().cloned().map(Notice::Problem));
        let plain = match plan.spec.plain {
            true => {
                let others: Vec<Weighted<'_>> = val.into_iter().collect();
                let error = Problem::parse::<&str>(&plan.spec.label, "error()", &[])?;
                error.compile(train, &others)?.tables.into_iter().map(Some).collect()
            }
            false => vec![None; 2],
        };
        let Binding { bound, partition, tables, .. } = binding;
        if given.is_none() {
            notices.extend(checks::apply(&mut plan, &bound, &data.train.table)?);
        }
        let constraints = bound.constraints().len();
        if let Algorithm::Practical(practical) = plan.spec.algorithm
            && constraints > most_with_matrix(plan.spec.recipe)
        {
            let replaced = plan.open;
            notices.push(Notice::ManyConstraints { constraints, replaced });
            if replaced {
                plan.spec.algorithm = Algorithm::Lagrangian(practical.without_matrix());
            }
        }
        let (mut tables, mut plain) = (tables.into_iter(), plain.into_iter());
        let seed = plan.spec.seed;
        let label: Vec<&str> = bound.label().kinds().into_iter().map(|one| one.0).collect();
        let unit = plan.spec.unit.as_deref();
        // Rows that are encoded by others stand for themselves, unless a unit is named.
        let looks = given.is_none() || unit.is_some();
        let own = looks.then(|| units::together(&data.train.table, unit, &label)).transpose()?;
        let own = own.unwrap_or_default();
        notices.extend(
            (own.copied > 0).then_some(Notice::Copies { rows: own.copied, sampled: false }),
        );
        let mut overlaps = overlaps(&plan, &data, own.copied > 0);
        let (told, warned) = strange(&bound, &data)?;
        notices.extend(told);
        overlaps.extend(warned);
        overlaps.extend(suspicious(&plan.spec.model, &bound, &data.train.table)?);
        let mut rows = |sheet: &Sheet<'_>, weights: Option<&[f32]>, seed: u64, own: Together| {
            let unbound = || Error::new(ErrorKind::Problem, "the problem was not bound to rows");
            let compiled = tables.next().ok_or_else(unbound)?;
            let Together { units, missing, .. } = own;
            notices.extend((missing > 0).then_some(Notice::MissingUnits { rows: missing }));
            Rows::new(compiled, plain.next().flatten(), sheet, weights, units, seed)
        };
        let mut train = rows(&data.train, train_weights.as_deref(), seed, own)?;
        let val = data.val.as_ref().map(|val| {
            let own = unit.map(|_| units::together(&val.table, unit, &[])).transpose()?;
            let seed = mix(seed ^ 0x0076_616c);
            rows(val, val_weights.as_deref(), seed, own.unwrap_or_default())
        });
        let mut val = val.transpose().map_err(|error| error.at("the validation rows"))?;
        let spec = &plan.spec;
        let mut folds = cut(spec.datasets, spec.aside, train.deck(), spec.seed)?;
        if let ModelSpec::Scores { columns, taught, scale, groups } = &spec.model {
            check_scores(columns, folds.len())?;
            let others = [(&data.val, "the validation rows"), (&data.test, "the test rows")];
            let check_column = |scale: ScoreScale, column: &str| -> Result<()> {
                scale.check(&data.train.table, column)?;
                for (sheet, place) in others {
                    let checked = sheet.as_ref().map(|sheet| scale.check(&sheet.table, column));
                    checked.transpose().map_err(|error| error.at(place))?;
                }
                Ok(())
            };
            for column in columns {
                check_column(*scale, column)?;
            }
            for column in groups {
                check_column(ScoreScale::Probability, column)?;
            }
            if let ([column], false) = (columns.as_slice(), taught) {
                notices.push(Notice::Scores { column: column.clone() });
            }
            let (values, rows) = (distinct_numbers(&data.train.table, &columns[0])?, train.count());
            if 4 * values < rows {
                let column = columns[0].clone();
                notices.push(Notice::CoarseScores { column, values });
            }
        }
        let count = folds.len();
        let wanted = |game| encoder_of(&plan, &bound, &data.train.table, (game, count));
        if given.is_none() {
            notices.extend(label_notices(&bound, &data.train.table)?);
            let (_, found) = Encoder::fit(&wanted(0), &data.train.table)?;
            notices.extend(found.into_iter().map(Notice::Features));
        }
        let mut views: Vec<View> = Vec::new();
        for (game, fold) in folds.iter_mut().enumerate() {
            let wanted = wanted(game);
            let encoder = match (&given, &fold.teach) {
                (Some(encoder), _) => encoder.clone(),
                (None, None) => Encoder::fit(&wanted, &data.train.table)?.0,
                (None, Some(teach)) => {
                    let stored = teach.iter().chain(fold.aside.iter().flatten());
                    let mut taught: Vec<usize> =
                        stored.map(|&row| train.order[row as usize] as usize).collect();
                    taught.sort_unstable();
                    Encoder::fit(&wanted, &data.train.table.take(&taught))?.0
                }
            };
            // A lattice has keypoints of its own, from the rows that teach.
            let trees = matches!(spec.model, ModelSpec::Trees(_) | ModelSpec::Scores { .. });
            let learns = matches!(spec.model, ModelSpec::Lattice(_));
            let same = views.iter().position(|view| view.encoder == encoder);
            if let (Some(view), false) = (same, learns || plan.own.is_some()) {
                fold.view = view;
                continue;
            }
            fold.view = views.len();
            train.see(&encoder, &data.train.table)?;
            if let (Some(val), Some(sheet)) = (&mut val, &data.val) {
                val.see(&encoder, &sheet.table).map_err(|error| error.at("the validation rows"))?;
            }
            let seen = &train.features[fold.view];
            let model = match (&fold.teach, learns) {
                // Trees come later, and have no parameters; scores have none either.
                _ if trees => AnyModel::Rule(Rule::new(1, 0)?),
                (Some(teach), true) => plan.model(&encoder, &seen.take(teach))?,
                _ => plan.model(&encoder, seen)?,
            };
            for rows in std::iter::once(&mut train).chain(&mut val) {
                rows.placed.push(model.place_all(&rows.features[fold.view]));
            }
            views.push(View { encoder, model, probabilities: None });
        }
        let ground = match spec.algorithm {
            Algorithm::PlugIn(_) => {
                let encoders: Vec<&Encoder> = views.iter().map(|view| &view.encoder).collect();
                Some(Ground::new(&bound, &partition, &encoders, &data.train.table)?)
            }
            _ => None,
        };
        if let (Some(ground), ModelSpec::Scores { groups, .. }) = (&ground, &spec.model) {
            let sets = ground.unlabelled(&partition.labelled()).len();
            check_groups(groups, folds.len() * sets)?;
        }
        if let (Some(ground), false) = (&ground, matches!(spec.model, ModelSpec::Trees(_)))
            && !ground.models(&partition.labelled())
        {
            notices.push(Notice::Unused {
                setting: "model".to_owned(),
                because: "the problem does not need the label's own probability, and those of groups are trees'"
                    .to_owned(),
            });
        }
        let provenance = Provenance {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            settings: plan.settings()?,
            train: train.provenance(),
            val: val.as_ref().map(Rows::provenance),
        };
        let variants = Variant::all(spec);
        let judging = (val.as_ref().unwrap_or(&train), data.val.as_ref().unwrap_or(&data.train));
        let excerpt = given.is_none().then(|| {
            let rows: Vec<u32> = (0..judging.0.count().min(MOST_ROWS) as u32).collect();
            let places: Vec<usize> =
                rows.iter().map(|&row| judging.0.order[row as usize] as usize).collect();
            Excerpt { rows, table: judging.1.table.take(&places) }
        });
        let test = data.test;
        Ok(Training {
            plan,
            bound,
            partition,
            views,
            train,
            val,
            folds,
            variants,
            ground,
            excerpt,
            test,
            streamed: None,
            provenance,
            overlaps,
            notices,
        })
    }

    /// Whether rows judge that have taught nothing, so that a promise can be made.
    pub(super) fn judges_apart(&self) -> bool {
        self.plan.spec.datasets != Datasets::One
            && !self.validates_by_training_rows()
            && self.folds.iter().all(|fold| fold.aside.is_some())
    }

    /// Whether rows that constraints are enforced on are also training rows.
    pub(super) fn validates_by_training_rows(&self) -> bool {
        let judges = |one: &Warning| matches!(one, Warning::Overlap { part: "validation", .. });
        self.overlaps.iter().any(judges)
    }

    /// Whether rows that constraints are enforced on have labels that the training rows have not, or none is positive.
    pub(super) fn validates_by_strange_labels(&self) -> bool {
        let strange = |notice: &RowNotice| {
            matches!(notice, RowNotice::Label { .. } | RowNotice::NonePositive { .. })
        };
        self.overlaps.iter().any(
            |one| matches!(one, Warning::Rows { part: "validation", notice } if strange(notice)),
        )
    }

    /// The same training with another way to choose the mixture, of games that are or will be played.
    ///
    /// # Errors
    /// If the settings cannot be written.
    pub fn select_by(&mut self, selection: Selection) -> Result<()> {
        self.plan.spec.selection = selection;
        self.provenance.settings = self.plan.settings()?;
        Ok(())
    }

    /// The plan that it follows.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What preparing it found worth telling the user.
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// The problem, bound to the training rows.
    pub fn bound(&self) -> &Bound {
        &self.bound
    }

    /// How rows become scores, in each of the folds; those whose views are equal share one.
    pub fn views(&self) -> &[View] {
        &self.views
    }

    /// In the plug-in game, what of the training rows has to be modelled beside the label.
    pub fn patterns(&self) -> Option<Patterns> {
        let grid = &self.ground.as_ref()?.grid;
        let mut of_rows = vec![0; self.train.count()];
        for (place, &row) in self.train.order.iter().enumerate() {
            of_rows[row as usize] = grid.pattern_of(self.train.compiled.cells()[place]);
        }
        let sets = self.ground.as_ref()?.unlabelled(&self.partition.labelled());
        let sets = sets.into_iter().map(|set| grid.set(set).to_vec()).collect();
        Some(Patterns { count: grid.patterns(), of_rows, sets })
    }

    /// What tells this training from any other: a hash of its settings and data.
    pub fn identity(&self) -> String {
        let text = serde_json::to_string(&self.provenance).unwrap_or_default();
        hex(&Sha256::digest(text))
    }

    /// The rows that constraints are enforced on.
    pub(super) fn enforced(&self) -> &Rows {
        self.val.as_ref().unwrap_or(&self.train)
    }
}

/// Which rows that are to judge are also training rows.
fn overlaps(plan: &Plan, data: &Data<'_>, copied: bool) -> Vec<Warning> {
    let unit = plan.spec.unit.as_deref();
    let parts = [("validation", data.val.as_ref()), ("test", data.test.as_ref())];
    let mut found = Vec::new();
    for (part, sheet) in parts {
        let Some(sheet) = sheet else { continue };
        let (own, others) = (&data.train.table, &sheet.table);
        let of = others.rows();
        if let Some(rows) = units::among(own, others, copied) {
            found.push(Warning::Overlap { part, rows, of, unit: None });
        } else if let Some(unit) = unit
            && let rows @ 1.. = units::shared(own, others, unit)
        {
            found.push(Warning::Overlap { part, rows, of, unit: Some(unit.to_owned()) });
        }
    }
    found
}

/// The order in which rows are stored: by a hash of the seed and the row's number, so that it is known of each row
/// alone.
fn order(rows: usize, seed: u64) -> Result<Vec<u32>> {
    let Ok(rows) = u32::try_from(rows) else {
        let message = format!("{rows} rows are more than one machine's training takes");
        return Err(Error::new(ErrorKind::Value, message).help("train on a sample of them"));
    };
    let key = mix(seed ^ 0x6f72_6465_7200);
    let mut keyed: Vec<(u64, u32)> =
        (0..rows).map(|row| (mix(key ^ u64::from(row)), row)).collect();
    keyed.sort_unstable();
    Ok(keyed.into_iter().map(|(_, row)| row).collect())
}

/// Weights that add up without rounding, once they were checked.
pub(super) fn exact_weights(sheet: &Sheet<'_>) -> Result<Option<Vec<f32>>> {
    let weights = sheet.weights.as_deref();
    rate::check_each_weight(weights, sheet.table.rows(), 0)?;
    let total = weights.unwrap_or_default().iter().map(|&weight| f64::from(weight)).sum();
    rate::check_total_weight(total)?;
    Ok(weights.map(quantised))
}

/// How columns become features in a fold: as the settings say, without the columns of label, weight and unit.
pub(super) fn encoder_of(
    plan: &Plan,
    bound: &Bound,
    table: &Table,
    (game, folds): (usize, usize),
) -> EncoderSpec {
    let mut encoder = plan.spec.encoder.clone();
    let ignore = |encoder: &mut EncoderSpec, column: &str| {
        if !encoder.ignore.iter().any(|ignored| ignored == column) {
            encoder.ignore.push(column.to_owned());
        }
    };
    let others = [plan.spec.weight.as_deref(), plan.spec.unit.as_deref()];
    for column in bound.label().columns().into_iter().chain(others.into_iter().flatten()) {
        // A model that sees the label learns nothing else.
        ignore(&mut encoder, column);
    }
    if let ModelSpec::Scores { columns, groups, .. } = &plan.spec.model {
        let own = own_columns(columns, groups, (game, folds));
        for column in columns.iter().chain(groups).filter(|one| !own.contains(&one.as_str())) {
            ignore(&mut encoder, column);
        }
        for column in &own {
            encoder.columns.insert((*column).to_owned(), vec![Coding::AsIs]);
        }
        let predicates = bound.predicates();
        let told: Vec<&str> = (0..predicates.len())
            .filter(|&at| at != LABEL)
            .flat_map(|at| predicates[at].columns())
            .collect();
        // Where the features tell every group, or another model does, a row is decided by scores and groups alone.
        if !groups.is_empty()
            || !told.iter().any(|column| encoder.ignore.iter().any(|ignored| ignored == column))
        {
            for column in table.columns().iter().map(|column| column.name.as_str()) {
                if !own.contains(&column) && !told.contains(&column) {
                    ignore(&mut encoder, column);
                }
            }
        }
    }
    // Trees see only the order of numbers, so no two values that differ should become one.
    let trees = matches!(plan.spec.model, ModelSpec::Trees(_) | ModelSpec::Scores { .. });
    if let (true, Coding::Standardise) = (trees, &encoder.numbers) {
        encoder.numbers = Coding::Distinct;
    }
    encoder
}

/// What the label leaves open.
fn label_notices(bound: &Bound, table: &Table) -> Result<Vec<Notice>> {
    let mut notices = Vec::new();
    let rows = bound.missing_labels(table)?;
    if rows > 0 {
        notices.push(Notice::MissingLabels { rows });
    }
    let labels = bound.label().evaluate(table)?;
    if let Some(&positive) = labels.first()
        && labels.iter().all(|&label| label == positive)
    {
        notices.push(Notice::OneClass { positive });
    }
    Ok(notices)
}
