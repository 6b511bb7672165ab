//! What to know before trusting a classifier.

use std::collections::HashSet;
use std::fmt;

use serde::Serialize;

use crate::algorithm::Algorithm;
use crate::classifier::{Dataset, Iterates};
use crate::evaluate::{Evaluation, Interval};
use crate::rate::{Bound, Side};

/// A reason not to trust a classifier as it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "warning")]
#[non_exhaustive]
pub enum Warning {
    /// A constraint is violated on the very rows it was enforced on.
    Violated {
        /// Which.
        constraint: String,
        /// By how much.
        by: f64,
    },
    /// The constraint player hardly moved, though constraints are violated.
    Unmoved {
        /// The most that a multiplier changed from the first kept turn to the last.
        moved: f64,
    },
    /// The classifier decides nearly all rows alike.
    Constant {
        /// The share of the rows that it decides positive.
        positive_rate: f64,
    },
    /// A rate of a constraint is measured on so few rows that they hardly say what it is.
    FewRows {
        /// The rate, as written.
        rate: String,
        /// How many rows it is measured on, where the constraints were enforced.
        rows: usize,
        /// Where the population's is, at the confidence.
        interval: Interval,
        /// How sure that is.
        confidence: f64,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::Violated { constraint, by } => write!(
                f,
                "`{constraint}` is still violated where it was enforced, by {by:.4}: try more turns, \
                 a larger step of the constraint player, another model, or a looser bound"
            ),
            Warning::Unmoved { moved } => write!(
                f,
                "the constraint player hardly moved (its multipliers changed by {moved:.4} at most), \
                 so the constraints had no say: play more turns, or let it take larger steps"
            ),
            Warning::Constant { positive_rate } => write!(
                f,
                "the classifier is nearly constant: it decides {:.1} % of the rows positive",
                100.0 * positive_rate
            ),
            Warning::FewRows { rate, rows, interval, confidence } => write!(
                f,
                "`{rate}` is measured on {rows} row{} only: in the population it is between {:.2} and {:.2}, at a \
                 confidence of {} %; get more rows, or merge small groups",
                if *rows == 1 { "" } else { "s" },
                interval.low,
                interval.high,
                100.0 * confidence
            ),
        }
    }
}

/// A rate whose interval is wider than this is hardly known.
const HARDLY_KNOWN: f64 = 0.2;

/// The rates of constraints that the rows they were enforced on hardly say, each once.
pub(super) fn few_rows(enforced: &Evaluation) -> Vec<Warning> {
    let mut seen = HashSet::new();
    let rates = enforced.constraints.iter().flat_map(|constraint| &constraint.rates);
    let once = rates.filter(|rate| seen.insert(rate.text.as_str()));
    let few = once.filter_map(|rate| {
        let interval = rate.measurement.estimate()?.interval;
        (interval.high - interval.low > HARDLY_KNOWN).then(|| Warning::FewRows {
            rate: rate.text.clone(),
            rows: rate.rows,
            interval,
            confidence: enforced.confidence,
        })
    });
    few.collect()
}

/// What is to be warned of in a mixture of kept models.
pub(super) fn warnings(
    bound: &Bound,
    algorithm: Algorithm,
    iterates: &Iterates,
    weights: &[(usize, f64)],
) -> Vec<Warning> {
    /// Less than this is rounding.
    const HAIR: f64 = 1e-6;
    let mut warnings = Vec::new();
    if !matches!(algorithm, Algorithm::Unconstrained(_)) {
        let losses = iterates.mixed(weights, Dataset::Val, Side::Exact);
        for (constraint, &by) in bound.constraints().iter().zip(&losses.constraints) {
            if by > HAIR {
                warnings.push(Warning::Violated { constraint: constraint.name().to_owned(), by });
            }
        }
        let ends = iterates.moments.first().zip(iterates.moments.last());
        if let Some((first, last)) = ends.filter(|_| !warnings.is_empty()) {
            let pairs = first.lambda.constraints.iter().zip(&last.lambda.constraints);
            let moved = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            if moved < 0.01 {
                warnings.push(Warning::Unmoved { moved });
            }
        }
    }
    let (mut positive, mut total) = (0.0, 0.0);
    for &(model, weight) in weights {
        for count in &iterates.models[model].val.tally.counts {
            positive += weight * count.positive;
            total += weight * count.weight;
        }
    }
    let positive_rate = positive / total;
    if !(0.005..=0.995).contains(&positive_rate) {
        warnings.push(Warning::Constant { positive_rate });
    }
    warnings
}
