//! What to know before trusting a classifier.

use std::collections::HashSet;
use std::fmt;

use microlp::{ComparisonOp, OptimizationDirection, Problem};
use serde::Serialize;

use super::mixture::{Chosen, Optimism};
use super::promise::NoPromise;
use super::strange::turned;
use super::{Enforcement, Standing, Training};
use crate::classifier::{Explained, Margin, Selection};
use crate::evaluate::{Evaluation, Interval, ROUNDING};
use crate::game::Moment;
use crate::model::ScoreScale;
use crate::rate::{Bound, Losses, RowNotice, Tally};

/// A reason not to trust a classifier as it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "warning")]
#[non_exhaustive]
pub enum Warning {
    /// A constraint is violated: its loss on the rows it was enforced on, with the optimism of the selection, is above 0.
    Violated {
        /// Which.
        constraint: String,
        /// By how much.
        by: f64,
    },
    /// A confidence was asked for, and constraints are not promised with it.
    NotPromised {
        /// Which.
        constraints: Vec<String>,
        /// Why not.
        because: String,
    },
    /// Rows to enforce constraints on, or to test on, are among those that teach.
    Overlap {
        /// Which: `validation` or `test`.
        part: &'static str,
        /// How many.
        rows: usize,
        /// Of how many.
        of: usize,
        /// The column that says which rows are of one unit, if rows of the same units are meant.
        unit: Option<String>,
    },
    /// Validation or test rows have labels or groups that training rows have not, or none of them is positive.
    Rows {
        /// Which: `validation` or `test`.
        part: &'static str,
        /// What.
        #[serde(flatten)]
        notice: RowNotice,
    },
    /// The scores of another model rank rows the wrong way round.
    Reversed {
        /// Their column.
        column: String,
        /// The probability that a positive row has a larger score than a negative one.
        auc: f64,
        /// What the scores are.
        #[serde(skip)]
        scale: ScoreScale,
    },
    /// The scores of another model rank rows nearly without a mistake.
    TooGood {
        /// Their column.
        column: String,
        /// The probability that a positive row has a larger score than a negative one.
        auc: f64,
    },
    /// Rows with equal features share a draw, and this spreads a constraint's loss around what it was judged by.
    SharedDraws {
        /// Which, the one whose loss spreads most.
        constraint: String,
        /// Its standard deviation.
        spread: f64,
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
    /// The classifier's error is no less than that of deciding all rows as most are labelled.
    NoBetter {
        /// Its error.
        error: f64,
        /// The other.
        majority: f64,
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
                "`{constraint}` is violated by {by:.4} where it was enforced, optimism included: try another model, a looser \
                 bound, or, in games of turns, more turns or a larger step of the constraint player"
            ),
            Warning::NotPromised { constraints, because } => {
                let named: Vec<String> =
                    constraints.iter().map(|name| format!("`{name}`")).collect();
                write!(f, "not promised: {}; {because}", named.join(", "))
            }
            Warning::Overlap { part, rows, of, unit } => {
                match unit {
                    None => write!(f, "{rows} of the {of} {part} rows are also training rows: "),
                    Some(unit) => write!(
                        f,
                        "{rows} of the {of} {part} rows have a `{unit}` that training rows have, too: "
                    ),
                }?;
                f.write_str(match *part {
                    "test" => "what is met on them may not be on new rows",
                    _ => "nothing can be promised, and constraints may be violated on new rows",
                })
            }
            Warning::Rows { part, notice } => write!(f, "in the {part} rows, {notice}"),
            Warning::Reversed { column, auc, scale } => write!(
                f,
                "the scores in column `{column}` rank rows in reverse: a positive row has the larger score in only {:.0} % of \
                 all pairs (AUC); {} or check the label",
                100.0 * auc,
                turned(*scale)
            ),
            Warning::TooGood { column, auc } => write!(
                f,
                "the scores in column `{column}` tell the label nearly without a mistake (AUC {auc:.4}): if their model was \
                 trained on these rows, what is said here does not hold on new rows"
            ),
            Warning::SharedDraws { constraint, spread } => write!(
                f,
                "rows with equal features share a draw, so that decisions may miss `{constraint}` by {:.4} either way: have \
                 `predict` draw for each person alone, by an identifier (`--id`; in Python `keys`)",
                2.0 * spread
            ),
            Warning::NoBetter { error, majority } => write!(
                f,
                "the classifier's error is {error:.4}, and deciding every row alike has {majority:.4}: the features tell \
                 nothing of the label, or the model did not learn it"
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

/// What a warning says of test rows that are also training rows, and of no others.
const OF_TESTS: &str = " test rows ";

/// Whether a record's warnings say that test rows are also training rows.
pub(super) fn tests_have_taught(warnings: &[String]) -> bool {
    warnings.iter().any(|one| one.contains(OF_TESTS) && one.contains("training rows"))
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
        let interval = estimate.interval;
        if interval.high - interval.low <= HARDLY_KNOWN {
            return None;
        }
        Some(Warning::FewRows {
            rate: rate.text.clone(),
            rows: rate.rows,
            interval,
            confidence: enforced.confidence,
            needed: rate.rows_to_know(enforced.confidence, HARDLY_KNOWN)?,
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

/// The constraints that are violated.
pub(super) fn violated(enforcement: &[Enforcement]) -> impl Iterator<Item = Warning> {
    let violated = enforcement.iter().filter(|one| one.standing == Standing::Violated);
    violated.map(|one| Warning::Violated {
        constraint: one.constraint.clone(),
        by: one.value + one.optimism.unwrap_or(0.0).max(0.0),
    })
}

/// Whether draws that rows share spread a loss by more than its margin covers.
pub(super) fn shared_draws(enforcement: &[Enforcement], chosen: &Chosen) -> Option<Warning> {
    /// Less than this is nothing to anyone.
    const NOTHING: f64 = 0.002;
    let shared = &chosen.shared;
    let wide = enforcement
        .iter()
        .zip(shared)
        .enumerate()
        .filter(|(at, (one, _))| !chosen.covers_shared(*at, one.margin.max(NOTHING)))
        .map(|(_, both)| both);
    let (one, spread) = wide.max_by(|a, b| a.1.total_cmp(b.1))?;
    Some(Warning::SharedDraws { constraint: one.constraint.clone(), spread: *spread })
}

/// Whether the constraint player hardly moved, though it should have.
pub(super) fn unmoved(moments: &[&Moment], violated: bool) -> Option<Warning> {
    let (first, last) = moments.first().zip(moments.last())?;
    let pairs = first.lambda.constraints.iter().zip(&last.lambda.constraints);
    let moved = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    // Multipliers that stay at 0 are as they should be where nothing is violated.
    let held = last.lambda.constraints.iter().sum::<f64>() > HARDLY;
    (moved < HARDLY && (held || violated)).then_some(Warning::Unmoved { moved })
}

/// The constraints that can be met together only with equality, if there are any.
pub(super) fn only_with_equality(bound: &Bound, losses: &Losses) -> Option<Warning> {
    let equal = only_equality(losses);
    let name = |at: usize| bound.constraints()[at].name().to_owned();
    let constraints: Vec<String> = equal.into_iter().map(name).collect();
    (!constraints.is_empty()).then_some(Warning::OnlyEquality { constraints })
}

/// Whether decisions are nearly constant, or no better than that; `base` is the share of rows labelled positive, and
/// `error_alone` says that nothing but the error was to be small.
pub(super) fn tells_nothing(
    enforced: &Evaluation,
    base: f64,
    error_alone: bool,
) -> Option<Warning> {
    let (positive_rate, error) = (enforced.positive_rate?, enforced.error?);
    if !(0.005..=0.995).contains(&positive_rate) {
        return Some(Warning::Constant { positive_rate });
    }
    let majority = base.min(1.0 - base);
    let worse = error_alone && error >= majority;
    worse.then_some(Warning::NoBetter { error, majority })
}

impl Training<'_> {
    /// Whether all that is not promised is about groups of too few rows.
    fn too_few(&self, enforcement: &[Enforcement], optimism: &Optimism) -> bool {
        let mut short = enforcement.iter().zip(&optimism.unknown);
        short.all(|(one, unknown)| *unknown || one.standing == Standing::Promised)
    }

    /// Why constraints are not promised, where a confidence was asked for.
    pub(super) fn not_promised(
        &self,
        chosen: &Chosen,
        enforcement: &[Enforcement],
    ) -> Option<Warning> {
        let Selection::Shrink(spec) = self.plan.spec.selection else { return None };
        spec.margin.confidence()?;
        let short = enforcement.iter().filter(|one| one.standing != Standing::Promised);
        let constraints: Vec<String> = short.map(|one| one.constraint.clone()).collect();
        if constraints.is_empty() {
            return None;
        }
        let optimism = chosen.paid.as_ref().and_then(|paid| paid.optimism.as_ref());
        let because = match (self.no_promise(), optimism) {
            (Some(NoPromise::RowsThatTeach), _) => {
                "the rows that judge have also taught: set rows aside (`aside`), and use cross-fitting or validation rows"
                    .to_owned()
            }
            (Some(NoPromise::Overlap), _) => {
                "validation rows are also training rows: give others, or leave them out".to_owned()
            }
            (Some(NoPromise::Labels), _) => {
                "labels of the validation rows are not those of the training rows".to_owned()
            }
            (Some(NoPromise::Mean), _) => {
                "the mean of the folds decides, and each fold was judged by itself: leave out `deterministic` and `blend`, or \
                 give validation rows, so that there are no folds"
                    .to_owned()
            }
            (Some(NoPromise::NotMeasured), _) | (None, None) => {
                "the optimism of the selection was not measured (`parts`)".to_owned()
            }
            (None, Some(optimism)) if self.too_few(enforcement, optimism) => {
                "a group of it has so few rows that nothing is known of new ones: get more rows, or merge small groups"
                    .to_owned()
            }
            (None, Some(_)) if shared_draws(enforcement, chosen).is_some() => {
                "rows with equal features share a draw, and the margin does not cover that".to_owned()
            }
            (None, Some(optimism)) => {
                let most = optimism.yielded.iter().max().copied().unwrap_or(0);
                let parts = chosen.measured.parts;
                let reduced = chosen.paid.as_ref().is_some_and(|paid| !paid.shrunk.feasible);
                let spare = chosen.paid.as_ref().is_some_and(|paid| paid.spare);
                let gate = matches!(spec.margin, Margin::Gate { .. });
                match (reduced, spare) {
                    (false, true) if 10 * most <= parts => match gate {
                        true if self.short_by_draws(chosen, enforcement) => {
                            "rows with equal features share a draw, and the margin does not cover that".to_owned()
                        }
                        true => "the margin of the gate is smaller than that of a promise: ask for a confidence, such as `--margin 95%`"
                            .to_owned(),
                        false => "the margin was still changing when it was last found: get more rows, or ask for less \
                                  confidence"
                            .to_owned(),
                    },
                    (true, _) => "the margin for it is infeasible: get more rows, ask for less confidence, or loosen a bound"
                        .to_owned(),
                    (false, false) => "the margin for it is met on all rows together, but only just on parts of them that \
                                       were left out of the selection: get more rows, ask for less confidence, or loosen \
                                       a bound"
                        .to_owned(),
                    (false, true) => format!(
                        "the margin for it is infeasible in {most} of {parts} selections that were repeated without a part \
                         of the rows: it was had by luck"
                    ),
                }
            }
        };
        Some(Warning::NotPromised { constraints, because })
    }
}
