//! What decisions come to: rates, losses, their intervals, and verdicts.

use serde::{Deserialize, Serialize};

use super::{Interval, ROUNDING, Verdict};

/// What decisions come to on a dataset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// How many rows there are.
    pub rows: usize,
    /// How likely the intervals of all constraints are right together.
    pub confidence: f64,
    /// The share of them, by weight, that are decided wrongly, whatever the objective is; `None` of no rows.
    pub error: Option<f64>,
    /// The share that are decided positive.
    pub positive_rate: Option<f64>,
    /// The objective.
    pub objective: ObjectiveResult,
    /// The constraints, in the order of the problem.
    pub constraints: Vec<ConstraintResult>,
    /// Of all constraints together.
    pub verdict: Verdict,
}

impl Evaluation {
    /// Whether every constraint holds on these very rows; see [`ConstraintResult::holds_on_rows`].
    pub fn holds_on_rows(&self) -> bool {
        self.constraints.iter().all(ConstraintResult::holds_on_rows)
    }

    /// The constraint of the largest loss, if any has one: the worst violation, or what is nearest to its bound.
    pub fn worst(&self) -> Option<&ConstraintResult> {
        let measured = self.constraints.iter().filter_map(|one| Some((one.value()?, one)));
        // The first of equal ones.
        measured.rev().max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, one)| one)
    }
}

/// What an objective comes to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ObjectiveResult {
    /// As written.
    pub name: String,
    /// Its value; the interval is at the confidence for it alone.
    #[serde(flatten)]
    pub measurement: Measurement,
    /// The rates that it is written with.
    pub rates: Vec<RateResult>,
}

/// What a constraint comes to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConstraintResult {
    /// As written, without chains and without `each`.
    pub name: String,
    /// Its loss ℓ, met where it is at most 0; the interval is right together with those of all others.
    #[serde(flatten)]
    pub measurement: Measurement,
    /// Whether it is met in the population.
    pub verdict: Verdict,
    /// The rates that it is written with.
    pub rates: Vec<RateResult>,
}

impl ConstraintResult {
    /// Its loss on these rows, where there is something to measure.
    pub fn value(&self) -> Option<f64> {
        self.measurement.estimate().map(|found| found.value)
    }

    /// Whether the constraint holds on these very rows: its loss is at most 0, but for [`ROUNDING`].
    ///
    /// This is a statement about the rows, and [`ConstraintResult::verdict`] is one about the population that they
    /// are from. A constraint may hold on a hundred rows without being met: other rows might violate it. On the rows
    /// that a classifier was made from, holding says that training succeeded, and nothing more.
    pub fn holds_on_rows(&self) -> bool {
        self.value().is_some_and(|value| value <= ROUNDING)
    }
}

/// What a rate comes to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RateResult {
    /// As written.
    pub text: String,
    /// How many rows of weight above 0 it is measured on: of a precision, those that may be decided positive.
    pub rows: usize,
    /// Its value; the interval is at the confidence for it alone.
    #[serde(flatten)]
    pub measurement: Measurement,
}

/// A number, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Measurement {
    /// A number and its interval.
    Measured(Estimate),
    /// A rate has nothing to measure.
    Nothing {
        /// Why: such as a group that has no row.
        reason: String,
    },
}

/// A number on the dataset, and where that of the population is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// On the dataset.
    pub value: f64,
    /// Where the population's is, at the confidence asked for.
    pub interval: Interval,
}

impl Measurement {
    /// The number and its interval, where there is one.
    pub fn estimate(&self) -> Option<Estimate> {
        match self {
            Measurement::Measured(estimate) => Some(*estimate),
            Measurement::Nothing { .. } => None,
        }
    }

    /// Why there is no number, where there is none.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Measurement::Measured(_) => None,
            Measurement::Nothing { reason } => Some(reason),
        }
    }

    /// Whether a loss is at most 0 in the population.
    pub(super) fn verdict(&self) -> Verdict {
        self.estimate().map_or(Verdict::Undecided, |found| found.interval.verdict())
    }
}
