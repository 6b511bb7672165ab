//! Rates and constraints of decisions on a dataset, with confidence intervals and verdicts.
//!
//! # What is estimated
//!
//! Row r is an independent draw from a population: what its predicates say of it, its label y_r, its weight
//! w_r, and p_r, the chance that it is decided positive. A hard decision is a chance of 0 or 1; a stochastic
//! classifier draws each row's decision on its own. The population's rate over region R is the expected one,
//! over rows and over draws: E[w·x·1{r ∈ R}] / E[w·1{r ∈ R}], where the outcome x is p for a rate of positive
//! decisions, 1 − p or p for an error, and so on. The dataset's rate averages the p_r themselves, not one draw
//! of decisions, so the noise of the draws is no part of it.
//!
//! A constraint's loss ℓ_i is a sum of such rates, met where it is at most 0, and a ratio (precision, F1) is
//! cleared of its denominator as it is everywhere in [`rate`](crate::rate).
//!
//! # What is promised
//!
//! At confidence 1 − α, with m constraints, the interval of each loss misses the population's with a
//! probability of about α/m, so all m are right together with 1 − α, however they depend on each other
//! (Bonferroni). A constraint is [met](Verdict::Met) where its whole interval is at most 0: that a violated
//! one is said to be met, or a met one to be violated, is as unlikely. Intervals of rates and of the objective
//! are each at 1 − α alone. `docs/evaluate.md` has what was measured; the private module `interval` has how
//! intervals are made, in short:
//!
//! - of one mean of outcomes in [0, 1]: Clopper and Pearson's, exact for hard decisions without weights;
//!   otherwise with the trials that the variance found stands for (Korn and Graubard 1998), or Wilson's
//!   interval for bounded outcomes where that is wider;
//! - of several: z_r = Σ_k a_k·w_r·1{r ∈ R_k}·(x_kr − μ_k)/W_k is the influence of row r on ℓ = β + Σ_k a_k·μ_k, with
//!   μ_k the mean of x_k over R_k and W_k the weight of R_k. Σ_r z_r² is the variance, with the covariances of
//!   overlapping regions; Student's quantile is taken with Welch and Satterthwaite's degrees of freedom, and the
//!   interval is widened by what unseen kinds of rows could have moved ℓ by, so that it never has width 0 where
//!   a group's decisions merely agree.
//!
//! # What it costs
//!
//! Rows that no predicate tells apart are summed once (Σ w, w·p, w·p², w², w²·p, w²·p²); all else is arithmetic
//! on sums over the members of each constraint's groups. A thousand groups cost their members, not a
//! thousand times the rows.
//!
//! # Example
//!
//! ```
//! use fairgame::evaluate::{Decisions, Verdict, evaluate};
//! use fairgame::rate::Problem;
//! use fairgame::table::{ReadOptions, Source, read};
//!
//! let csv = format!("group,hired\n{}{}", "a,yes\n".repeat(10), "b,no\n".repeat(90));
//! let people = read([Source::stream("people.csv", std::io::Cursor::new(csv))], &ReadOptions::default())?;
//! let constraints = ["positive_rate(group == \"a\") <= 0.4"];
//! let (bound, _) = Problem::parse("hired == \"yes\"", "error()", &constraints)?.bind(&people, &[])?;
//!
//! // None of the ten of group a is decided positive: the rate is 0, and at most 1 − 0.025^(1/10) = 0.3085.
//! let decisions = vec![false; 100];
//! let found = evaluate(&bound, &people, None, Decisions::Hard(&decisions), 0.95)?;
//! let rate = found.constraints[0].rates[0].measurement.estimate().unwrap();
//! assert_eq!((rate.value, rate.interval.low), (0.0, 0.0));
//! assert!((rate.interval.high - 0.3085).abs() < 1e-4);
//! assert_eq!(found.verdict, Verdict::Met);
//! # Ok::<(), fairgame::Error>(())
//! ```

mod counts;
mod estimate;
mod interval;
mod quantile;

use std::collections::HashMap;
use std::fmt;

use serde::{Deserialize, Serialize};

pub use interval::{Interval, rows_needed};
pub(crate) use quantile::normal_tail;

use crate::classifier::{Classifier, Draw};
use crate::rate::{Bound, Classes, Form, check_weights};
use crate::table::Table;
use crate::{Error, ErrorKind, Result};
use counts::Counts;

/// What was decided of each row.
#[derive(Debug, Clone, Copy)]
pub enum Decisions<'a> {
    /// The decisions themselves.
    Hard(&'a [bool]),
    /// The chance of a positive decision.
    Probabilities(&'a [f64]),
}

impl Decisions<'_> {
    fn len(&self) -> usize {
        match self {
            Decisions::Hard(decisions) => decisions.len(),
            Decisions::Probabilities(probabilities) => probabilities.len(),
        }
    }

    /// p of a row; a decision is a chance of 0 or 1.
    fn probability(&self, row: usize) -> f64 {
        match self {
            Decisions::Hard(decisions) => f64::from(u8::from(decisions[row])),
            Decisions::Probabilities(probabilities) => probabilities[row],
        }
    }

    fn check(&self, rows: usize) -> Result<()> {
        if self.len() != rows {
            let message = format!("{} decisions are given for {rows} rows", self.len());
            return Err(Error::new(ErrorKind::Value, message));
        }
        let Decisions::Probabilities(probabilities) = self else { return Ok(()) };
        match probabilities.iter().position(|p| !(0.0..=1.0).contains(p)) {
            None => Ok(()),
            Some(row) => {
                let message = format!(
                    "the probability of row {} is {}, which is not between 0 and 1",
                    row + 1,
                    probabilities[row]
                );
                Err(Error::new(ErrorKind::Value, message)
                    .help("give the chance of a positive decision, not a score"))
            }
        }
    }
}

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
    fn verdict(&self) -> Verdict {
        match self {
            Measurement::Measured(Estimate { interval, .. }) if interval.high <= 0.0 => {
                Verdict::Met
            }
            Measurement::Measured(Estimate { interval, .. }) if interval.low > 0.0 => {
                Verdict::Violated
            }
            _ => Verdict::Undecided,
        }
    }
}

/// What an interval says of a constraint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The whole interval of the loss is at most 0.
    Met,
    /// The whole interval of the loss is above 0.
    Violated,
    /// The interval has both, or there is nothing to measure.
    Undecided,
}

impl Verdict {
    /// The verdict on constraints together: violated if one is, else undecided if one is, else met.
    pub fn of(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
        verdicts.into_iter().fold(Verdict::Met, |all, one| match (all, one) {
            (Verdict::Violated, _) | (_, Verdict::Violated) => Verdict::Violated,
            (Verdict::Undecided, _) | (_, Verdict::Undecided) => Verdict::Undecided,
            (Verdict::Met, Verdict::Met) => Verdict::Met,
        })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Met => "met",
            Verdict::Violated => "violated",
            Verdict::Undecided => "undecided",
        })
    }
}

/// Evaluates decisions on a dataset.
///
/// # Errors
/// If there is not one decision a row, or one weight; if a probability is not between 0 and 1, a weight is
/// negative, or `confidence` is below 0.01 or not below 1; or if the table lacks a column of the problem.
pub fn evaluate(
    bound: &Bound,
    table: &Table,
    weights: Option<&[f32]>,
    decisions: Decisions<'_>,
    confidence: f64,
) -> Result<Evaluation> {
    if !(0.01..1.0).contains(&confidence) {
        let message = format!("the confidence is {confidence}, which is not between 0.01 and 1");
        return Err(Error::new(ErrorKind::Settings, message).help("0.95 is a usual one"));
    }
    decisions.check(table.rows())?;
    check_weights(weights, table.rows())?;
    let classes = bound.classes(table)?;
    let labels = bound.label().evaluate(table)?;
    let (mut wrong, mut positive, mut total) = (0.0, 0.0, 0.0);
    for (row, label) in labels.into_iter().enumerate() {
        let weight = weights.map_or(1.0, |weights| f64::from(weights[row]));
        let chance = decisions.probability(row);
        wrong += weight * if label { 1.0 - chance } else { chance };
        positive += weight * chance;
        total += weight;
    }
    let share = |sum: f64| (total > 0.0).then(|| sum / total);
    let counts = &mut Counts::new(&classes, weights, decisions);
    let alpha = 1.0 - confidence;
    let each = alpha / bound.constraints().len().max(1) as f64;

    // A thousand constraints may compare their group with the same rate.
    let mut known: HashMap<&str, RateResult> = HashMap::new();
    let mut results = bound.losses().enumerate().map(|(index, loss)| {
        let misses = if index == 0 { alpha } else { each };
        let measurement = estimate::loss(&loss.form.collected(), counts, misses);
        let rates = loss.rates.iter().map(|rate| {
            let known = known.entry(rate.text.as_str());
            known.or_insert_with(|| estimate::rate(rate, counts, alpha)).clone()
        });
        (measurement, rates.collect::<Vec<_>>())
    });
    let (measurement, rates) = results.next().unwrap_or_else(|| {
        (Measurement::Nothing { reason: "there is no objective".to_owned() }, Vec::new())
    });
    let objective = ObjectiveResult { name: bound.objective().to_owned(), measurement, rates };
    let constraints: Vec<ConstraintResult> = bound
        .constraints()
        .iter()
        .zip(results)
        .map(|(constraint, (measurement, rates))| ConstraintResult {
            name: constraint.name().to_owned(),
            verdict: measurement.verdict(),
            measurement,
            rates,
        })
        .collect();
    let verdict = Verdict::of(constraints.iter().map(|constraint| constraint.verdict));
    Ok(Evaluation {
        rows: table.rows(),
        confidence,
        error: share(wrong),
        positive_rate: share(positive),
        objective,
        constraints,
        verdict,
    })
}

/// How far the loss of each constraint may be above what rows say, each with a chance of `misses` / 2.
pub(crate) fn margins(
    bound: &Bound,
    classes: &Classes,
    weights: Option<&[f32]>,
    decisions: Decisions<'_>,
    misses: f64,
) -> Vec<f64> {
    let counts = &mut Counts::new(classes, weights, decisions);
    let mut margin = |form: &Form| match estimate::loss(&form.collected(), counts, misses) {
        Measurement::Measured(found) => found.interval.high - found.value,
        Measurement::Nothing { .. } => 0.0,
    };
    bound.losses().skip(1).map(|loss| margin(&loss.form)).collect()
}

impl Classifier {
    /// Evaluates the classifier's own problem on a table, through its chance of a positive decision on each
    /// row.
    ///
    /// # Errors
    /// If the table lacks a column of the features or the problem; and those of [`evaluate`].
    pub fn evaluate(
        &self,
        table: &Table,
        weights: Option<&[f32]>,
        confidence: f64,
    ) -> Result<Evaluation> {
        let features = self.encoder().encode(table)?;
        let predictions = self.predict(&features, Draw::Features)?;
        let probabilities: Vec<f64> =
            predictions.iter().map(|prediction| prediction.probability).collect();
        let decisions = Decisions::Probabilities(&probabilities);
        evaluate(self.bound(), table, weights, decisions, confidence)
    }
}
