//! Shrinking: the best mixture of at most m+1 models, by linear programs.
//!
//! With ℓ₀⁽ᵗ⁾ and ℓ_i⁽ᵗ⁾ the objective and constraints of model t, a mixture p costs
//!
//! ```text
//! least  ε ≥ 0       with  Σ_t p_t·ℓ_i⁽ᵗ⁾ ≤ ε for every i, p in the simplex         (1)
//! least  Σ_t p_t·ℓ₀⁽ᵗ⁾  with  Σ_t p_t·ℓ_i⁽ᵗ⁾ ≤ ε for every i, p in the simplex         (2)
//! ```
//!
//! The paper searches for the least ε of (2) by bisection; it is itself the linear program (1), and exact.
//! Both are solved by a simplex method, which ends at a vertex, and a vertex of (2) has at most m+1 positive
//! p_t: it has as many rows.

use microlp::{ComparisonOp, OptimizationDirection, Problem};
use serde::Serialize;

use super::program::{Columns, Start, explain_columns, shrink_columns};
use crate::settings::{Fault, declare};
use crate::{Error, ErrorKind, Result};

declare! {
    /// How far constraints may be violated.
    #[derive(Copy)]
    pub enum Epsilon (default Epsilon::Least) {
        /// As little as any mixture violates them: the paper's choice.
        Least = "least",
        /// As much as the mixture of the theorems does, if more: then neither gets worse by shrinking.
        Mixture = "mixture",
        /// So much, or where that is infeasible as little as possible.
        AtMost(f64) = "at_most",
    }
}

impl Epsilon {
    /// Refuses an allowance that is none.
    pub(crate) fn check(self) -> Result<(), Fault> {
        match self {
            Epsilon::AtMost(allowed) if !(allowed >= 0.0 && allowed.is_finite()) => {
                Err(Fault::new(
                    format!("constraints cannot be allowed to be violated by {allowed}"),
                    "give a number from 0 up; to ask for a margin, tighten the constraint itself",
                ))
            }
            _ => Ok(()),
        }
    }
}

/// A mixture found by shrinking.
#[derive(Debug, Clone, PartialEq)]
pub struct Shrunk {
    /// Models and their weights, which add up to 1; at most one more than there are constraints.
    pub weights: Vec<(usize, f64)>,
    /// ε: the most that a constraint is violated by, and at least 0.
    pub epsilon: f64,
    /// The least ε ≥ 0 that any mixture has.
    pub least: f64,
    /// Whether the constraints can be met as far as was asked.
    pub feasible: bool,
    /// By how much more each constraint was to be met, as far as that can be had; losses and ε are with it.
    pub margins: Vec<f64>,
}

/// How far the solver lets a constraint be missed, where losses are about 1.
pub(super) const SOLVER: f64 = 1e-7;

/// What the second program allows beyond the first, for what that rounded away.
pub(super) const HAIR: f64 = 1e-9;

/// The best mixture of models with these objectives and constraint losses (model by model).
///
/// `allowed` is how far constraints may be violated; where no mixture gets there, the least is taken, and
/// the result says so.
///
/// ```
/// use fairgame::classifier::shrink;
/// // A good model that violates by 0.1, and a bad one with 0.1 to spare: half of each.
/// let shrunk = shrink(&[0.1, 0.3], &[vec![0.1], vec![-0.1]], 0.0)?;
/// assert!(shrunk.feasible && (shrunk.weights[0].1 - 0.5).abs() < 1e-6);
/// // Two bad ones: as little as can be.
/// let shrunk = shrink(&[0.1, 0.3], &[vec![0.1], vec![0.2]], 0.0)?;
/// assert!(!shrunk.feasible && (shrunk.least - 0.1).abs() < 1e-6);
/// # Ok::<(), fairgame::Error>(())
/// ```
///
/// # Errors
/// If there are no models, a loss is not a finite number, or the solver fails.
pub fn shrink(objective: &[f64], constraints: &[Vec<f64>], allowed: f64) -> Result<Shrunk> {
    shrink_columns(&columns(objective, constraints)?, &[], allowed, &mut Start::default())
}

fn columns(objective: &[f64], constraints: &[Vec<f64>]) -> Result<Columns> {
    let count = constraints.first().map_or(0, Vec::len);
    let even = constraints.iter().all(|losses| losses.len() == count);
    if objective.len() != constraints.len() || !even {
        let message = "shrinking needs models, each with its losses";
        return Err(Error::new(ErrorKind::Settings, message)
            .help("give an objective and as many constraints for every model"));
    }
    let mut columns = Columns::new(count);
    objective.iter().zip(constraints).for_each(|(&one, losses)| columns.push(one, losses));
    Ok(columns)
}

/// Models of several games, whose weights are to be in balance.
///
/// Each game measures on rows of its own, a fold. In balance, the weights of a game's models add up to its fold's
/// share of the rows (times the weight of the repeat that it is of), so that what the mixture is said to be like is
/// what every row has to say, each on models that have not seen it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Balance {
    /// The game of each model.
    pub(crate) game: Vec<usize>,
    /// Of each game, its fold's share of the rows, and which repeat it is of.
    pub(crate) folds: Vec<(f64, usize)>,
}

/// [`shrink`] with weights in balance: then there may be as many models more as there are games.
pub(crate) fn shrink_balanced(
    objective: &[f64],
    constraints: &[Vec<f64>],
    allowed: f64,
    balance: Option<&Balance>,
) -> Result<Shrunk> {
    let wrong = |message: &str, help: &str| {
        Err(Error::new(ErrorKind::Settings, message.to_owned()).help(help.to_owned()))
    };
    if objective.is_empty() || objective.len() != constraints.len() {
        return wrong("shrinking needs models, each with its losses", "keep at least one model");
    }
    if !objective.iter().chain(constraints.iter().flatten()).all(|loss| loss.is_finite()) {
        return wrong(
            "a kept model has a loss that is not a finite number",
            "a rate over a group that has no rows on a sample is none; leave such groups out",
        );
    }
    Epsilon::AtMost(allowed).check()?;
    // In a unit in which the largest loss is 1, which is what the solver's tolerances are for.
    let largest = constraints.iter().flatten().fold(0.0, |most: f64, loss| most.max(loss.abs()));
    let unit = if largest > 0.0 { largest } else { 1.0 };
    let scaled: Vec<Vec<f64>> =
        constraints.iter().map(|losses| losses.iter().map(|loss| loss / unit).collect()).collect();
    let every = vec![1.0; constraints[0].len()];
    let (violation, _) =
        solve(&vec![0.0; objective.len()], &scaled, Bound::Least(&every), balance)?;
    let least = violation.max(0.0);
    let feasible = least <= allowed / unit + SOLVER;
    let (_, weights) =
        solve(objective, &scaled, Bound::At(least.max(allowed / unit) + HAIR), balance)?;
    let mixed = |i: usize| weights.iter().map(|&(k, weight)| weight * constraints[k][i]).sum();
    let epsilon = (0..constraints[0].len()).map(mixed).fold(0.0, f64::max);
    let margins = vec![0.0; constraints[0].len()];
    Ok(Shrunk { weights, epsilon, least: least * unit, feasible, margins })
}

/// Which of the two programs.
#[derive(Clone, Copy)]
pub(super) enum Bound<'a> {
    /// (2), for this ε.
    At(f64),
    /// (1): the least ε of which each constraint is given so many times as much.
    Least(&'a [f64]),
}

/// The optimum of a program, and the mixture.
pub(super) fn solve(
    objective: &[f64],
    constraints: &[Vec<f64>],
    bound: Bound<'_>,
    balance: Option<&Balance>,
) -> Result<(f64, Vec<(usize, f64)>)> {
    let mut program = Problem::new(OptimizationDirection::Minimize);
    let weights: Vec<_> =
        objective.iter().map(|&cost| program.add_var(cost, (0.0, f64::INFINITY))).collect();
    let slack = match bound {
        Bound::At(_) => None,
        Bound::Least(given) => Some((program.add_var(1.0, (0.0, f64::INFINITY)), given)),
    };
    match balance {
        None => {
            let ones: Vec<_> = weights.iter().map(|&weight| (weight, 1.0)).collect();
            program.add_constraint(&ones, ComparisonOp::Eq, 1.0);
        }
        Some(balance) => {
            let count = balance.folds.iter().map(|&(_, repeat)| repeat + 1).max().unwrap_or(0);
            let repeats: Vec<_> =
                (0..count).map(|_| program.add_var(0.0, (0.0, f64::INFINITY))).collect();
            let ones: Vec<_> = repeats.iter().map(|&repeat| (repeat, 1.0)).collect();
            program.add_constraint(&ones, ComparisonOp::Eq, 1.0);
            for (game, &(share, repeat)) in balance.folds.iter().enumerate() {
                let own = weights.iter().zip(&balance.game).filter(|(_, of)| **of == game);
                let row: Vec<_> = own
                    .map(|(&weight, _)| (weight, 1.0))
                    .chain([(repeats[repeat], -share)])
                    .collect();
                program.add_constraint(&row, ComparisonOp::Eq, 0.0);
            }
        }
    }
    for i in 0..constraints[0].len() {
        let terms = weights.iter().zip(constraints).map(|(&weight, losses)| (weight, losses[i]));
        let row: Vec<_> = terms.chain(slack.map(|(slack, given)| (slack, -given[i]))).collect();
        let epsilon = if let Bound::At(epsilon) = bound { epsilon } else { 0.0 };
        program.add_constraint(&row, ComparisonOp::Le, epsilon);
    }
    let failed = |why: String| {
        Error::new(ErrorKind::Settings, format!("the linear program of shrinking failed: {why}"))
            .help("select the theorem's, the uniform, the best or the last model instead")
    };
    let solution = program
        .solve()
        .map_err(|error| failed(error.to_string()))?
        .into_solution()
        .map_err(|_| failed("it was interrupted".to_owned()))?;
    let mut found: Vec<(usize, f64)> = weights
        .iter()
        .enumerate()
        .map(|(model, &weight)| (model, solution.var_value(weight)))
        // A weight that small is the hair's, or the solver's.
        .filter(|&(_, weight)| weight > SOLVER)
        .collect();
    let total: f64 = found.iter().map(|(_, weight)| weight).sum();
    found.iter_mut().for_each(|(_, weight)| *weight /= total);
    Ok((solution.objective(), found))
}

/// A constraint with a smaller share in why margins cannot be had does not stand in the way.
pub(super) const STANDS: f64 = 1e-6;

/// What a margin that yields gives up beyond the least, for what the solver rounds away.
const ROUNDED: f64 = 5e-7;

/// The margins that can be had without any constraint being violated by more than `allowed`.
///
/// Where not all can, those yield that stand in the way, all of them by the same share of their own, which is as small as
/// can be; then the same is done for the others, and so on. Without margins some mixture is to exist.
pub(crate) fn yielding(
    constraints: &[Vec<f64>],
    margins: &[f64],
    allowed: f64,
    balance: Option<&Balance>,
) -> Result<Vec<f64>> {
    let none = vec![0.0; constraints.len()];
    let (mut had, mut free) = (margins.to_vec(), margins.to_vec());
    for _ in 0..margins.len() {
        let with = |losses: &Vec<f64>| {
            losses.iter().zip(&had).map(|(loss, margin)| loss + margin - allowed).collect()
        };
        let with: Vec<Vec<f64>> = constraints.iter().map(with).collect();
        let (share, _) = solve(&none, &with, Bound::Least(&free), balance)?;
        if share <= SOLVER {
            break;
        }
        let duals = duals(&none, &with, Bound::Least(&free), balance)?;
        let stands = |at: usize| free[at] > 0.0 && duals[at] * free[at] > STANDS;
        let standing: Vec<usize> = (0..had.len()).filter(|&at| stands(at)).collect();
        if standing.is_empty() {
            break;
        }
        for at in standing {
            had[at] -= (share * free[at]).min(margins[at]) + ROUNDED;
            free[at] = 0.0;
        }
    }
    Ok(had)
}

/// What constraints cost, and which of them stand against each other: the duals of the linear programs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explained {
    /// Of each constraint, how much the objective would fall for each unit of slack that it were given, while others
    /// stay as they are: 0 where it does not bind, and where the constraints cannot be met.
    pub prices: Vec<f64>,
    /// The least by which all constraints together would have to be loosened for some mixture to meet them: 0 where one
    /// does.
    pub relaxation: f64,
    /// Of each constraint, its share in why they cannot be met together; all 0 where they can.
    pub conflict: Vec<f64>,
}

/// Explains what shrinking these models under these constraints comes to; see [`shrink`].
///
/// ```
/// use fairgame::classifier::explain;
/// // Half of each meets the constraint; a hundredth of slack moves a twentieth of the weight to the better one.
/// let found = explain(&[0.1, 0.3], &[vec![0.1], vec![-0.1]], 0.0)?;
/// assert!((found.prices[0] - 1.0).abs() < 1e-6 && found.relaxation == 0.0);
/// # Ok::<(), fairgame::Error>(())
/// ```
///
/// # Errors
/// If the solver fails.
pub fn explain(objective: &[f64], constraints: &[Vec<f64>], allowed: f64) -> Result<Explained> {
    explain_columns(&columns(objective, constraints)?, &[], allowed, &mut Start::default())
}

pub(crate) fn explain_balanced(
    objective: &[f64],
    constraints: &[Vec<f64>],
    allowed: f64,
    balance: Option<&Balance>,
) -> Result<Explained> {
    let shrunk = shrink_balanced(objective, constraints, allowed, balance)?;
    let count = constraints[0].len();
    if shrunk.feasible {
        let prices = duals(objective, constraints, Bound::At(allowed + HAIR), balance)?;
        return Ok(Explained { prices, relaxation: 0.0, conflict: vec![0.0; count] });
    }
    let every = vec![1.0; count];
    let conflict = duals(&vec![0.0; objective.len()], constraints, Bound::Least(&every), balance)?;
    Ok(Explained { prices: vec![0.0; count], relaxation: shrunk.least, conflict })
}

/// The multipliers of the constraints at the optimum of program (2) for the ε given, or of (1) for none: the dual
///
/// ```text
/// most  w − ε·Σ_i y_i   with  w ≤ ℓ₀⁽ᵗ⁾ + Σ_i y_i·ℓ_i⁽ᵗ⁾ for every t, y ≥ 0
/// ```
///
/// where for (1) ℓ₀ is 0 and Σ_i y_i, each as many times as it is given of ε, is at most 1; with weights in balance, w
/// is split over the games of each repeat.
pub(super) fn duals(
    objective: &[f64],
    constraints: &[Vec<f64>],
    at: Bound<'_>,
    balance: Option<&Balance>,
) -> Result<Vec<f64>> {
    let mut program = Problem::new(OptimizationDirection::Maximize);
    let epsilon = if let Bound::At(epsilon) = at { epsilon } else { 0.0 };
    let free = (f64::NEG_INFINITY, f64::INFINITY);
    let bound = program.add_var(1.0, free);
    let prices: Vec<_> = (0..constraints[0].len())
        .map(|_| program.add_var(-epsilon, (0.0, f64::INFINITY)))
        .collect();
    let games: Vec<_> = match balance {
        None => vec![bound],
        Some(balance) => balance.folds.iter().map(|_| program.add_var(0.0, free)).collect(),
    };
    if let Some(balance) = balance {
        let count = balance.folds.iter().map(|&(_, repeat)| repeat + 1).max().unwrap_or(0);
        for repeat in 0..count {
            let own = balance.folds.iter().zip(&games).filter(|((_, of), _)| *of == repeat);
            let row: Vec<_> =
                own.map(|(&(share, _), &game)| (game, share)).chain([(bound, -1.0)]).collect();
            program.add_constraint(&row, ComparisonOp::Ge, 0.0);
        }
    }
    for (model, losses) in constraints.iter().enumerate() {
        let game = games[balance.map_or(0, |balance| balance.game[model])];
        let terms = prices.iter().zip(losses).map(|(&price, &loss)| (price, loss));
        let row: Vec<_> = terms.chain([(game, -1.0)]).collect();
        program.add_constraint(&row, ComparisonOp::Ge, -objective[model]);
    }
    if let Bound::Least(given) = at {
        let row: Vec<_> = prices.iter().zip(given).map(|(&price, &given)| (price, given)).collect();
        program.add_constraint(&row, ComparisonOp::Le, 1.0);
    }
    let failed = |why: String| {
        Error::new(ErrorKind::Settings, format!("the dual program of shrinking failed: {why}"))
    };
    let solution = program
        .solve()
        .map_err(|error| failed(error.to_string()))?
        .into_solution()
        .map_err(|_| failed("it was interrupted".to_owned()))?;
    Ok(prices.iter().map(|&price| solution.var_value(price).max(0.0)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    /// With weights in balance, prices lie between the slopes of programs that are solved again with a little more or
    /// less slack, and what cannot be met can once it is loosened as told.
    #[test]
    fn duals_in_balance_are_slopes() {
        let mut stream = Stream::new(12, "balance");
        let (mut binding, mut infeasible) = (0, 0);
        for case in 0..150 {
            let (folds, repeats) = (2 + stream.below(3) as usize, 1 + stream.below(2) as usize);
            let (games, count) = (folds * repeats, 1 + stream.below(4) as usize);
            let models = games * (3 + stream.below(8) as usize);
            let objective: Vec<f64> = (0..models).map(|_| stream.unit()).collect();
            let shift = if case % 3 == 0 { 0.35 } else { 0.7 };
            let constraints: Vec<Vec<f64>> =
                (0..models).map(|_| (0..count).map(|_| stream.unit() - shift).collect()).collect();
            let balance = Balance {
                game: (0..models).map(|model| model % games).collect(),
                folds: (0..games).map(|game| (1.0 / folds as f64, game / folds)).collect(),
            };
            let cost = |constraints: &[Vec<f64>]| {
                let shrunk = shrink_balanced(&objective, constraints, 0.0, Some(&balance)).unwrap();
                let terms = shrunk.weights.iter().map(|&(k, weight)| weight * objective[k]);
                (terms.sum::<f64>(), shrunk.feasible)
            };
            let loosened = |by: f64, only: Option<usize>| -> Vec<Vec<f64>> {
                let one = |(at, loss): (usize, &f64)| match only {
                    Some(only) if only != at => *loss,
                    _ => loss - by,
                };
                constraints.iter().map(|all| all.iter().enumerate().map(one).collect()).collect()
            };
            let found = explain_balanced(&objective, &constraints, 0.0, Some(&balance)).unwrap();
            let (now, feasible) = cost(&constraints);
            if !feasible {
                assert!(cost(&loosened(found.relaxation + 1e-6, None)).1);
                assert!(!cost(&loosened(found.relaxation - 1e-4, None)).1);
                assert!((found.conflict.iter().sum::<f64>() - 1.0).abs() < 1e-6, "{found:?}");
                infeasible += 1;
                continue;
            }
            for (at, price) in found.prices.iter().enumerate() {
                let slope = |by: f64| {
                    let (cost, feasible) = cost(&loosened(by, Some(at)));
                    feasible.then_some((now - cost) / by)
                };
                assert!(slope(1e-4).is_none_or(|less| less <= price + 1e-3), "{case}: {found:?}");
                assert!(slope(-1e-4).is_none_or(|more| more >= price - 1e-3), "{case}: {found:?}");
                binding += usize::from(*price > 0.01);
            }
        }
        assert!(binding > 30 && infeasible > 10, "{binding} prices, {infeasible} infeasible");
    }

    /// Margins that cannot all be had: what is met without them stays met, and none yields that need not.
    #[test]
    fn margins_yield_where_they_must() {
        // The first constraint is at best met exactly; the second has room, by the second model alone.
        let losses = [vec![0.1, -0.3], vec![0.0, -0.2], vec![0.0, 0.4]];
        let had = yielding(&losses, &[0.05, 0.1], 0.0, None).unwrap();
        assert!(had[0].abs() < 1e-5 && had[1] == 0.1, "{had:?}");
        // Two that stand against each other yield by the same share of their own.
        let losses = [vec![-0.1, 0.1], vec![0.1, -0.1]];
        let had = yielding(&losses, &[0.03, 0.06], 0.0, None).unwrap();
        assert!(had.iter().all(|margin| margin.abs() < 1e-5), "{had:?}");
        let losses = [vec![-0.14, 0.1], vec![0.1, -0.14]];
        let had = yielding(&losses, &[0.03, 0.06], 0.0, None).unwrap();
        assert!((2.0 * had[0] - had[1]).abs() < 1e-5 && had[0] > 0.01, "{had:?}");
        // And where all can be had, none does.
        assert_eq!(yielding(&losses, &[0.01, 0.01], 0.0, None).unwrap(), [0.01, 0.01]);
    }
}
