//! What is kept in a model file beside the model: how it was trained, and how it did.
//!
//! Nothing is decided by it. It lets a report be made of the file alone, long after the data are gone.

use serde::{Deserialize, Serialize};

use super::{Enforcement, GameSummary, Importance, Trained};
use crate::classifier::Classifier;
use crate::evaluate::Evaluation;
use crate::{Error, ErrorKind, Result};

/// How a classifier was trained, and how it did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// How many turns were played.
    pub turns: u64,
    /// How each game went.
    pub games: Vec<GameSummary>,
    /// The turns that were kept, game by game, in order.
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

impl Record {
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
        let mut game = 0;
        let mut before = 0;
        let moments = iterates.moments.iter().map(|moment| {
            game += usize::from(moment.turn < before);
            before = moment.turn;
            RecordedMoment {
                game,
                turn: moment.turn,
                lambda: std::iter::once(moment.lambda.objective)
                    .chain(moment.lambda.constraints.iter().copied())
                    .collect(),
                model: model(moment.model),
            }
        });
        Record {
            turns: trained.turns,
            games: trained.games.clone(),
            moments: moments.collect(),
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
            warnings: trained.warnings.iter().map(ToString::to_string).collect(),
        }
    }
}

impl Classifier {
    /// Keeps a record with the classifier.
    pub fn keep_record(&mut self, record: &Record) -> Result<()> {
        let record = serde_json::to_value(record).map_err(|error| {
            Error::new(ErrorKind::Format, format!("the record cannot be kept: {error}"))
        })?;
        self.set_record(Some(record));
        Ok(())
    }

    /// The record that was kept with the classifier, if any was.
    pub fn record(&self) -> Result<Option<Record>> {
        let Some(record) = self.record_value() else { return Ok(None) };
        serde_json::from_value(record.clone()).map(Some).map_err(|error| {
            Error::new(ErrorKind::Format, format!("the model's record cannot be read: {error}"))
        })
    }
}
