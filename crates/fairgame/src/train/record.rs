//! What is kept in a model file beside the model: how it was trained, and how it did.
//!
//! Nothing is decided by it. It lets a report be made of the file alone, long after the data are gone.

use serde::{Deserialize, Serialize};

use super::warning::few_rows;
use super::{Data, GameSummary, Trained, Warning};
use crate::classifier::{Classifier, Dataset};
use crate::evaluate::{Decisions, Evaluation, evaluate};
use crate::rate::{Side, Weighted};
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
    /// The models of the mixture, in its order.
    pub members: Vec<RecordedModel>,
    /// The mixture.
    pub mixture: RecordedModel,
    /// What it came to on each part of the data, in the order train, val, test.
    pub parts: Vec<RecordedPart>,
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

impl Trained {
    /// What the classifier comes to on the rows that it was made from: those of `train`, and as `val` those that the
    /// constraints were enforced on, with cross-fitting the same rows again, each by models that have not learnt from it.
    pub fn judge(
        &self,
        data: &Data<'_>,
        confidence: f64,
    ) -> Result<Vec<(&'static str, Evaluation)>> {
        let on =
            |rows: Weighted<'_>| self.classifier.evaluate(rows.table, rows.weights, confidence);
        let mut parts = vec![("train", on(data.train)?)];
        if let Some(chances) = &self.out_of_fold {
            let Weighted { table, weights } = data.train;
            let decisions = Decisions::Probabilities(chances);
            let bound = self.classifier.bound();
            parts.push(("val", evaluate(bound, table, weights, decisions, confidence)?));
        } else if let Some(val) = data.val {
            parts.push(("val", on(val)?));
        }
        Ok(parts)
    }

    /// The record of a training, with what the classifier came to on parts of the data; the rates that these
    /// hardly say are added to the warnings.
    pub fn record(&mut self, parts: Vec<RecordedPart>) -> Record {
        self.warnings.retain(|warning| !matches!(warning, Warning::FewRows { .. }));
        let of = |name: &str| parts.iter().find(|part| part.part == name);
        if let Some(enforced) = of("val").or_else(|| of("train")) {
            self.warnings.extend(few_rows(&enforced.evaluation));
        }
        let known = |number: f64| Some(number).filter(|number| number.is_finite());
        let model = |model: usize| {
            let iterate = &self.iterates.models[model];
            let (train, val) = (&iterate.train.exact, &iterate.val.exact);
            RecordedModel { objective: train.objective, worst: known(val.worst()) }
        };
        let moments = self.iterates.moments.iter().map(|moment| RecordedMoment {
            game: self.iterates.models[moment.theta].game,
            turn: moment.turn,
            lambda: std::iter::once(moment.lambda.objective)
                .chain(moment.lambda.constraints.iter().copied())
                .collect(),
            model: model(moment.theta),
        });
        let weights = &self.selected.weights;
        let mixed = |dataset| self.iterates.mixed(weights, dataset, Side::Exact);
        Record {
            turns: self.turns,
            games: self.games.clone(),
            moments: moments.collect(),
            members: weights.iter().map(|&(place, _)| model(place)).collect(),
            mixture: RecordedModel {
                objective: mixed(Dataset::Train).objective,
                worst: known(mixed(Dataset::Val).worst()),
            },
            parts,
            warnings: self.warnings.iter().map(ToString::to_string).collect(),
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
