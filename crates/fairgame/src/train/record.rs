//! What is kept in a model file beside the model: how it was trained, and how it did.
//!
//! Nothing is decided by it. It lets a report be made of the file alone, long after the data are gone. Of very many kept
//! turns it has some, evenly spaced: what a curve needs. Their numbers are arrays of the file, not JSON.

use serde::{Deserialize, Serialize};

use super::{
    Baseline, BaselineKind, Enforcement, Finding, GameSummary, GroupConfusion, Importance, Notice,
    Trained, warning,
};
use crate::archive::{Arrays, Numbers};
use crate::classifier::Classifier;
use crate::evaluate::Evaluation;
use crate::game::Moment;
use crate::{Error, ErrorKind, Result};

/// At most so many kept turns of a game are recorded.
const MOST_TURNS: usize = 1_000;

/// At most so many multipliers of all of them.
const MOST_MULTIPLIERS: usize = 1 << 20;

/// How a classifier was trained, and how it did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// How many turns were played.
    pub turns: u64,
    /// How each game went.
    pub games: Vec<GameSummary>,
    /// The turns that were kept, game by game, in order; of very many, some, the last among them.
    #[serde(default)]
    pub moments: Vec<RecordedMoment>,
    /// The columns of the mixture, in its order.
    pub members: Vec<RecordedModel>,
    /// The mixture.
    pub mixture: RecordedModel,
    /// What it came to on each part of the data, in the order train, val, test.
    pub parts: Vec<RecordedPart>,
    /// What is said of each constraint.
    #[serde(default)]
    pub enforcement: Vec<Enforcement>,
    /// By how much margins and optimism raise the objective on the rows that judge, where it is known.
    #[serde(default)]
    pub margin_price: Option<f64>,
    /// By how much the objective would fall for each unit of slack in a constraint; empty where it is not known.
    #[serde(default)]
    pub prices: Vec<f64>,
    /// How much each column counts, the one that counts most first; empty where that was not found out.
    #[serde(default)]
    pub importance: Vec<Importance>,
    /// By how much one deterministic rule raises the objective beside the best mixture, where one was asked for.
    #[serde(default)]
    pub rule_price: Option<f64>,
    /// Whether objectives are measured on the rows that judge, as with cross-fitting, or on those that teach.
    #[serde(default)]
    pub on_val: bool,
    /// The same rows decided without the constraints, and all alike. Of many constraints, these have no rates.
    #[serde(default)]
    pub baselines: Vec<Baseline>,
    /// Decisions by label in each group of the constraints, on the rows that judge.
    #[serde(default)]
    pub confusions: Vec<GroupConfusion>,
    /// What the checks of the features found.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// What was to be known before trusting it.
    pub warnings: Vec<String>,
}

/// A kept turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedMoment {
    /// Of which game.
    pub game: usize,
    /// Which.
    pub turn: u64,
    /// λ: of the objective, then of each constraint.
    pub lambda: Vec<f64>,
    /// The model that was played.
    pub model: RecordedModel,
}

/// What a model is like.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedModel {
    /// ℓ₀ on train.
    pub objective: f64,
    /// The worst ℓ_i on val; `None` without constraints.
    pub worst: Option<f64>,
}

/// One part of the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedPart {
    /// `train`, `val` or `test`.
    pub part: String,
    /// Where the rows are from.
    pub source: String,
    /// What the classifier came to on them.
    pub evaluation: Evaluation,
}

/// With more constraints than this, rates are not recorded again for each way to decide the rows.
const MOST_RATED: usize = 200;

/// A baseline without the rates of constraints, where all rows are decided alike or constraints are many.
fn short(baseline: &Baseline) -> Baseline {
    let mut short = baseline.clone();
    let many = short.evaluation.constraints.len() > MOST_RATED;
    if many || short.kind != BaselineKind::Unconstrained {
        short.evaluation.constraints.iter_mut().for_each(|one| one.rates.clear());
    }
    short
}

impl Record {
    /// Whether test rows were also training rows, so that the training has seen them.
    pub fn tests_have_taught(&self) -> bool {
        warning::tests_have_taught(&self.warnings)
    }

    /// The record of a training.
    pub(super) fn of(trained: &Trained, cross: bool) -> Self {
        let known = |number: f64| Some(number).filter(|number| number.is_finite());
        let (iterates, mixture) = (&trained.iterates, &trained.mixture);
        let model = |model: usize| {
            let (train, val) =
                (&iterates.models[model].train.exact, &iterates.models[model].val.exact);
            RecordedModel { objective: train.objective, worst: known(val.worst()) }
        };
        // The moments of a variant follow each other, and turns begin anew with the next.
        let games: Vec<&[Moment]> =
            iterates.moments.chunk_by(|before, after| before.turn <= after.turn).collect();
        let width = 1 + mixture.val.constraints.len();
        let most = (MOST_MULTIPLIERS / (width * games.len().max(1))).clamp(2, MOST_TURNS);
        let mut moments = Vec::new();
        for (game, all) in games.into_iter().enumerate() {
            // Evenly spaced, the last among them.
            let before = |place: usize| place * most.min(all.len()) / all.len();
            for (place, moment) in all.iter().enumerate() {
                if before(place + 1) > before(place) {
                    moments.push(RecordedMoment {
                        game,
                        turn: moment.turn,
                        lambda: std::iter::once(moment.lambda.objective)
                            .chain(moment.lambda.constraints.iter().copied())
                            .collect(),
                        model: model(moment.model),
                    });
                }
            }
        }
        Record {
            turns: trained.turns,
            games: trained.games.clone(),
            moments,
            members: mixture.columns.clone(),
            mixture: RecordedModel {
                objective: mixture.train.objective,
                worst: known(mixture.val.worst()),
            },
            parts: trained.parts.clone(),
            enforcement: trained.enforcement.clone(),
            margin_price: mixture.price,
            prices: trained.explained.as_ref().map_or(Vec::new(), |found| found.prices.clone()),
            importance: trained.importance.clone(),
            rule_price: mixture.rule_price,
            on_val: cross,
            baselines: trained.baselines.iter().map(short).collect(),
            confusions: trained.confusions.clone(),
            findings: trained
                .notices
                .iter()
                .filter_map(|notice| match notice {
                    Notice::Checked(finding) => Some(finding.clone()),
                    _ => None,
                })
                .collect(),
            warnings: trained.warnings.iter().map(ToString::to_string).collect(),
        }
    }
}

/// Kept turns as arrays: one number of each, and the multipliers turn by turn, of which games without constraints have
/// fewer. A worst loss of NaN is none.
fn arrays(moments: &[RecordedMoment]) -> Arrays {
    let mut arrays = Arrays::default();
    let each = |pick: fn(&RecordedMoment) -> f64| moments.iter().map(pick).collect();
    arrays.put("game", Numbers::U64(moments.iter().map(|one| one.game as u64).collect()));
    arrays.put("turn", Numbers::U64(moments.iter().map(|one| one.turn).collect()));
    arrays.put("objective", Numbers::F64(each(|one| one.model.objective)));
    arrays.put("worst", Numbers::F64(each(|one| one.model.worst.unwrap_or(f64::NAN))));
    arrays.put("width", Numbers::U64(moments.iter().map(|one| one.lambda.len() as u64).collect()));
    let lambda = moments.iter().flat_map(|one| one.lambda.iter().copied());
    arrays.put("lambda", Numbers::F64(lambda.collect()));
    arrays
}

/// Kept turns of arrays.
fn moments(mut arrays: Arrays) -> Result<Vec<RecordedMoment>> {
    let count = arrays.length("turn").unwrap_or(0);
    let turns = arrays.take_u64("turn", count)?;
    let games = arrays.take_u64("game", count)?;
    let objectives = arrays.take_f64("objective", count)?;
    let worst = arrays.take_f64("worst", count)?;
    let widths = arrays.take_u64("width", count)?;
    let length = arrays.length("lambda").unwrap_or(0);
    let mut lambdas = arrays.take_f64("lambda", length)?.into_iter();
    let mut moments = Vec::with_capacity(count);
    for (at, width) in widths.into_iter().enumerate() {
        let width = usize::try_from(width).ok().filter(|width| *width <= lambdas.len());
        let width = width.ok_or_else(|| {
            Error::new(ErrorKind::Format, "the model's record lacks multipliers of kept turns")
        })?;
        let worst = Some(worst[at]).filter(|worst| !worst.is_nan());
        moments.push(RecordedMoment {
            game: usize::try_from(games[at]).unwrap_or(usize::MAX),
            turn: turns[at],
            lambda: lambdas.by_ref().take(width).collect(),
            model: RecordedModel { objective: objectives[at], worst },
        });
    }
    Ok(moments)
}

impl Classifier {
    /// Keeps a record with the classifier.
    pub fn keep_record(&mut self, record: &Record) -> Result<()> {
        let arrays = arrays(&record.moments);
        let record = Record { moments: Vec::new(), ..record.clone() };
        let record = serde_json::to_value(record).map_err(|error| {
            Error::new(ErrorKind::Format, format!("the record cannot be kept: {error}"))
        })?;
        self.set_record(Some(record), arrays);
        Ok(())
    }

    /// The record that was kept with the classifier, if any was.
    pub fn record(&self) -> Result<Option<Record>> {
        let Some(record) = self.record_value() else { return Ok(None) };
        let mut record: Record = serde_json::from_value(record.clone()).map_err(|error| {
            Error::new(ErrorKind::Format, format!("the model's record cannot be read: {error}"))
        })?;
        // In files of version 1 they are in the JSON.
        if !self.record_arrays().is_empty() {
            record.moments = moments(self.record_arrays().clone())?;
        }
        Ok(Some(record))
    }
}
