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
) -> Result<(f64, Vec<(usize, f64)>)> {
    let mut program = Problem::new(OptimizationDirection::Minimize);
    let weights: Vec<_> =
        objective.iter().map(|&cost| program.add_var(cost, (0.0, f64::INFINITY))).collect();
    let slack = match bound {
        Bound::At(_) => None,
        Bound::Least(given) => Some((program.add_var(1.0, (0.0, f64::INFINITY)), given)),
    };
    let ones: Vec<_> = weights.iter().map(|&weight| (weight, 1.0)).collect();
    program.add_constraint(&ones, ComparisonOp::Eq, 1.0);
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
) -> Result<Vec<f64>> {
    let none = vec![0.0; constraints.len()];
    let (mut had, mut free) = (margins.to_vec(), margins.to_vec());
    for _ in 0..margins.len() {
        let with = |losses: &Vec<f64>| {
            losses.iter().zip(&had).map(|(loss, margin)| loss + margin - allowed).collect()
        };
        let with: Vec<Vec<f64>> = constraints.iter().map(with).collect();
        let (share, _) = solve(&none, &with, Bound::Least(&free))?;
        if share <= SOLVER {
            break;
        }
        let duals = duals(&none, &with, Bound::Least(&free))?;
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

/// The multipliers of the constraints at the optimum of program (2) for the ε given, or of (1) for none: the dual
///
/// ```text
/// most  w − ε·Σ_i y_i   with  w ≤ ℓ₀⁽ᵗ⁾ + Σ_i y_i·ℓ_i⁽ᵗ⁾ for every t, y ≥ 0
/// ```
///
/// where for (1) ℓ₀ is 0 and Σ_i y_i, each as many times as it is given of ε, is at most 1.
pub(super) fn duals(
    objective: &[f64],
    constraints: &[Vec<f64>],
    at: Bound<'_>,
) -> Result<Vec<f64>> {
    let mut program = Problem::new(OptimizationDirection::Maximize);
    let epsilon = if let Bound::At(epsilon) = at { epsilon } else { 0.0 };
    let free = (f64::NEG_INFINITY, f64::INFINITY);
    let bound = program.add_var(1.0, free);
    let prices: Vec<_> = (0..constraints[0].len())
        .map(|_| program.add_var(-epsilon, (0.0, f64::INFINITY)))
        .collect();
    for (model, losses) in constraints.iter().enumerate() {
        let terms = prices.iter().zip(losses).map(|(&price, &loss)| (price, loss));
        let row: Vec<_> = terms.chain([(bound, -1.0)]).collect();
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

    /// Margins that cannot all be had: what is met without them stays met, and none yields that need not.
    #[test]
    fn margins_yield_where_they_must() {
        // The first constraint is at best met exactly; the second has room, by the second model alone.
        let losses = [vec![0.1, -0.3], vec![0.0, -0.2], vec![0.0, 0.4]];
        let had = yielding(&losses, &[0.05, 0.1], 0.0).unwrap();
        assert!(had[0].abs() < 1e-5 && had[1] == 0.1, "{had:?}");
        // Two that stand against each other yield by the same share of their own.
        let losses = [vec![-0.1, 0.1], vec![0.1, -0.1]];
        let had = yielding(&losses, &[0.03, 0.06], 0.0).unwrap();
        assert!(had.iter().all(|margin| margin.abs() < 1e-5), "{had:?}");
        let losses = [vec![-0.14, 0.1], vec![0.1, -0.14]];
        let had = yielding(&losses, &[0.03, 0.06], 0.0).unwrap();
        assert!((2.0 * had[0] - had[1]).abs() < 1e-5 && had[0] > 0.01, "{had:?}");
        // And where all can be had, none does.
        assert_eq!(yielding(&losses, &[0.01, 0.01], 0.0).unwrap(), [0.01, 0.01]);
    }
}
