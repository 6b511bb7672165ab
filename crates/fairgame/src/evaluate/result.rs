//! What decisions come to: rates, losses, their intervals, and verdicts.

use serde::{Deserialize, Serialize};

use super::{Interval, ROUNDING, Verdict, rows_needed};

/// What decisions come to on a dataset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// How many rows there are.
    pub rows: usize,
    /// How many units they are from, where rows were evaluated by unit.
    #[serde(default)]
    pub units: Option<u64>,
    /// How likely the intervals of all constraints are right together.
    pub confidence: f64,
    /// The share of them, by weight, that are decided wrongly, whatever the objective is; `None` of no rows.
    pub error: Option<f64>,
    /// The share that are decided positive.
    pub positive_rate: Option<f64>,
    /// The share that are labelled positive: the error of deciding every row negative. `None` of no rows, and in files of
    /// version 0.1.
    #[serde(default)]
    pub base_rate: Option<f64>,
    /// The share of the rows that are decided by a draw: their chance of a positive decision is neither 0 nor 1. `None` of
    /// no rows, and in files of version 0.1.
    #[serde(default)]
    pub drawn: Option<f64>,
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

    /// How many rows like these would decide every constraint: the most that an undecided one needs. `None` where none
    /// is undecided, or where no number of rows decides one.
    pub fn rows_to_decide(&self) -> Option<u64> {
        let mut undecided = self.constraints.iter().filter(|one| one.verdict == Verdict::Undecided);
        undecided
            .try_fold(0, |most, one| Some(one.rows_to_decide?.max(most)))
            .filter(|most| *most > 0)
    }

    /// The margin to train with so that an evaluation like this one is likely to say met: `gate:95%@9000` asks that an
    /// evaluation on 9,000 new rows at a confidence of 95 % says so with a probability of at least 0.8. `None` where no
    /// constraint with something to measure is undecided.
    pub fn margin_to_meet(&self) -> Option<String> {
        let open =
            |one: &ConstraintResult| one.verdict == Verdict::Undecided && one.value().is_some();
        let percent = (1e10 * self.confidence).round() / 1e8;
        self.constraints.iter().any(open).then(|| format!("gate:{percent}%@{}", self.rows))
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
    /// Of an undecided constraint: about how many rows like these would decide it, if its value stayed as it is.
    /// `None` where it is decided, where there is nothing to measure, and where no number of rows would: its value is
    /// 0, or so near to it that more than [`MOST_ROWS`] rows would be needed.
    #[serde(default)]
    pub rows_to_decide: Option<u64>,
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
    /// How many independent rows of equal weight tell as much: fewer than `rows` where weights differ, or where several
    /// rows are of one unit.
    #[serde(default)]
    pub effective_rows: f64,
    /// Its value; the interval is at the confidence for it alone.
    #[serde(flatten)]
    pub measurement: Measurement,
}

impl RateResult {
    /// About how many rows like these would tell the rate to within `width` at that confidence, as [`rows_needed`] has
    /// it; no fewer than there are. `None` where there is nothing to measure.
    pub fn rows_to_know(&self, confidence: f64, width: f64) -> Option<usize> {
        let value = self.measurement.estimate()?.value;
        // Records of earlier versions do not say how many are effective.
        let effective =
            if self.effective_rows > 0.0 { self.effective_rows } else { self.rows as f64 };
        let needed = rows_needed(value, effective.round() as usize, confidence, width);
        Some(((needed as f64 * self.rows as f64 / effective).ceil() as usize).max(self.rows))
    }
}

/// More rows than anyone has: where more are needed, no number of rows decides.
pub const MOST_ROWS: u64 = 1_000_000_000;

/// About how many rows like these would decide a loss of so many rows, if it is undecided and some number would.
///
/// The half-width h of an interval falls as 1/√n, and the interval clears 0 once h is at most the loss v: with
/// n·(h/v)² rows. It is rounded up to two digits.
pub(super) fn rows_to_decide(measurement: &Measurement, rows: u64) -> Option<u64> {
    let Estimate { value, interval } = measurement.estimate()?;
    if measurement.verdict() != Verdict::Undecided || value == 0.0 {
        return None;
    }
    let half = if value < 0.0 { interval.high - value } else { value - interval.low };
    let needed = rows as f64 * (half / value).powi(2);
    if needed.is_nan() || needed > MOST_ROWS as f64 {
        return None;
    }
    // One more than there are, at least: these do not decide.
    let needed = needed.max(rows as f64 + 1.0);
    let unit = 10_f64.powf((needed.log10().floor() - 1.0).max(0.0));
    Some(((needed / unit).ceil() * unit) as u64)
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
