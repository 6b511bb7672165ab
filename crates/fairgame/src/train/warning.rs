//! What to know before trusting a classifier.

use std::collections::HashSet;
use std::fmt;

use microlp::{ComparisonOp, OptimizationDirection, Problem};
use serde::Serialize;

use crate::algorithm::Algorithm;
use crate::classifier::{Dataset, Explained, Iterates};
use crate::evaluate::{Evaluation, Interval, ROUNDING, rows_needed};
use crate::rate::{Bound, Losses, Side, Tally};

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
    /// The constraint player hardly moved, though constraints are violated or it holds to some.
    Unmoved {
        /// The most that a multiplier changed from the first kept turn to the last.
        moved: f64,
    },
    /// The classifier decides nearly all rows alike.
    Constant {
        /// The share of the rows that it decides positive.
        positive_rate: f64,
    },
    /// Constraints that can be met together only where each holds with equality, as groups that are everyone
    /// together cannot all be above everyone's rate: any noise violates one.
    OnlyEquality {
        /// Which.
        constraints: Vec<String>,
    },
    /// The game was stopped before its last turn.
    Stopped {
        /// After which turn.
        turn: u64,
        /// Of how many.
        turns: u64,
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
        /// With about so many rows it would be known to a tenth on either side.
        needed: usize,
    },
    /// The constraints cannot be met together by the models that were kept, with the margin that was asked for.
    Infeasible {
        /// The least by which all of them would have to be loosened.
        relaxation: f64,
        /// Those that stand against each other, the weightiest first.
        conflict: Vec<String>,
        /// Whether they can be met without the margin.
        but_for_margin: bool,
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
            Warning::OnlyEquality { constraints } => {
                let named: Vec<String> =
                    constraints.iter().map(|name| format!("`{name}`")).collect();
                write!(
                    f,
                    "{} can be met together only with equality, so that on new rows one of them is all but \
                     surely violated: give them some slack",
                    match named.as_slice() {
                        [first, second] => format!("{first} and {second}"),
                        [first, .., last] => format!("{first} to {last} ({} of them)", named.len()),
                        _ => named.concat(),
                    }
                )
            }
            Warning::Stopped { turn, turns } => write!(
                f,
                "stopped at turn {turn} of {turns}: the model is made of what was kept until then"
            ),
            Warning::Infeasible { relaxation, conflict, but_for_margin } => {
                let named: Vec<String> = conflict.iter().map(|name| format!("`{name}`")).collect();
                let with = if *but_for_margin { " with the margin asked for" } else { "" };
                write!(
                    f,
                    "no mixture of the models that were found meets all constraints{with}: some would, were each \
                     loosened by {relaxation:.4}; what stands in the way: {}",
                    named.join(", ")
                )
            }
            Warning::FewRows { rate, rows, interval, confidence, needed } => write!(
                f,
                "`{rate}` is measured on {rows} row{} only: in the population it is between {:.2} and {:.2}, at a \
                 confidence of {} %; get more rows (about {needed} would tell it to a tenth), or merge small groups",
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
        let estimate = rate.measurement.estimate()?;
        let (value, interval) = (estimate.value, estimate.interval);
        (interval.high - interval.low > HARDLY_KNOWN).then(|| Warning::FewRows {
            rate: rate.text.clone(),
            rows: rate.rows,
            interval,
            confidence: enforced.confidence,
            needed: rows_needed(value, rate.rows, enforced.confidence, HARDLY_KNOWN),
        })
    });
    few.collect()
}

/// The constraints that stand against each other, if they cannot all be met.
pub(super) fn infeasible(bound: &Bound, explained: &Explained, violated: bool) -> Option<Warning> {
    if explained.relaxation <= ROUNDING {
        return None;
    }
    let mut shares: Vec<(f64, usize)> =
        explained.conflict.iter().copied().enumerate().map(|(at, share)| (share, at)).collect();
    shares.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    // The largest, however many share in it.
    let least = shares.first().map_or(0.0, |(most, _)| 0.01 * most);
    let binding = shares.into_iter().filter(|(share, _)| *share > least);
    Some(Warning::Infeasible {
        relaxation: explained.relaxation,
        conflict: binding.map(|(_, at)| bound.constraints()[at].name().to_owned()).collect(),
        but_for_margin: !violated,
    })
}

/// Multipliers that change by less hardly move.
const HARDLY: f64 = 0.01;

/// The constraints that can be met together only with equality.
///
/// Loss i is β_i + Σ_c a_ic·x_c, with x_c the share of cell c that is decided positive. Where some λ ≥ 0 has
/// Σ_i λ_i·ℓ_i = 0 whatever x is, no ℓ_i with λ_i > 0 can be below 0 unless another is above. The linear program
/// max Σ_i λ_i, λ_i ≤ 1, under these equalities finds all such i. It is not tried where it would be large.
fn only_equality(losses: &Losses) -> Vec<usize> {
    let (cells, constraints) = (losses.cells(), losses.constraints());
    if !(2..=100).contains(&constraints) || cells > 1000 {
        return Vec::new();
    }
    let mut tally = Tally::new(cells);
    let counts = tally.counts.iter_mut().zip(losses.weights());
    counts.for_each(|(count, &weight)| count.weight = weight);
    let constants = losses.exact(&tally).constraints;
    let mut rows = vec![constants.clone()];
    for cell in 0..cells {
        tally.counts[cell].positive = losses.weights()[cell];
        let with = losses.exact(&tally).constraints;
        tally.counts[cell].positive = 0.0;
        rows.push(with.iter().zip(&constants).map(|(with, without)| with - without).collect());
    }
    if rows.iter().flatten().any(|number| !number.is_finite()) {
        return Vec::new();
    }
    let mut program = Problem::new(OptimizationDirection::Maximize);
    let lambda: Vec<_> = (0..constraints).map(|_| program.add_var(1.0, (0.0, 1.0))).collect();
    for row in rows {
        let terms: Vec<_> = lambda.iter().copied().zip(row).collect();
        // Equal but for rounding.
        program.add_constraint(&terms, ComparisonOp::Le, 1e-9);
        program.add_constraint(&terms, ComparisonOp::Ge, -1e-9);
    }
    let solved = program.solve().ok().and_then(|solved| solved.into_solution().ok());
    let Some(solution) = solved else { return Vec::new() };
    let found =
        (0..constraints).filter(|&at| solution.var_value(lambda[at]) > 1e-3).collect::<Vec<_>>();
    if found.len() < 2 { Vec::new() } else { found }
}

/// What is to be warned of in a mixture of kept models.
pub(super) fn warnings(
    bound: &Bound,
    algorithm: Algorithm,
    iterates: &Iterates,
    weights: &[(usize, f64)],
    losses: &Losses,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if !matches!(algorithm, Algorithm::Unconstrained(_)) {
        let mixed = iterates.mixed(weights, Dataset::Val, Side::Exact);
        for (constraint, &by) in bound.constraints().iter().zip(&mixed.constraints) {
            if by > ROUNDING {
                warnings.push(Warning::Violated { constraint: constraint.name().to_owned(), by });
            }
        }
        // One game stands for all: between two of them, multipliers begin anew.
        let first = || iterates.moments.iter().filter(|one| iterates.models[one.model].game == 0);
        let ends = first().next().zip(first().next_back());
        if let Some((first, last)) = ends {
            let pairs = first.lambda.constraints.iter().zip(&last.lambda.constraints);
            let moved = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            // Multipliers that stay at 0 are as they should be where nothing is violated.
            let held = last.lambda.constraints.iter().sum::<f64>() > HARDLY;
            if moved < HARDLY && (held || !warnings.is_empty()) {
                warnings.push(Warning::Unmoved { moved });
            }
        }
        let equal = only_equality(losses);
        if !equal.is_empty() {
            let name = |at: usize| bound.constraints()[at].name().to_owned();
            let constraints = equal.into_iter().map(name).collect();
            warnings.push(Warning::OnlyEquality { constraints });
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
