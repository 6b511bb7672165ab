//! The programs of [shrinking](super::shrink()) over very many columns, with margins.
//!
//! A column t is what a model, or a model at a threshold, is like: its objective ℓ₀⁽ᵗ⁾ and its constraints ℓ_i⁽ᵗ⁾. With
//! margins δ_i, the two programs are
//!
//! ```text
//! least  ε ≥ 0          with  Σ_t p_t·(ℓ_i⁽ᵗ⁾ + δ_i) ≤ ε for every i, p in the simplex         (1)
//! least  Σ_t p_t·ℓ₀⁽ᵗ⁾   with  Σ_t p_t·(ℓ_i⁽ᵗ⁾ + δ_i) ≤ ε for every i, p in the simplex         (2)
//! ```
//!
//! (2) begins at the vertex that (1) ended at, and both give their multipliers: y of the constraints and w of Σ_t p_t = 1,
//!
//! ```text
//! most  w − ε·Σ_i y_i   with  w ≤ ℓ₀⁽ᵗ⁾ + Σ_i y_i·(ℓ_i⁽ᵗ⁾ + δ_i) for every t, y ≥ 0
//! ```
//!
//! where for (1) ℓ₀ is 0 and Σ_i y_i ≤ 1. So a column that comes later changes nothing if it meets its inequality in
//! both, which is one sum to find out.
//!
//! A result is optimal over all columns: no reduced cost is below −10⁻⁹ in a unit in which the largest loss is 1 and
//! objectives differ by at most 1. It is a vertex, so at most m+1 weights are positive. The method is in
//! [`simplex`](super::simplex); where it fails, `microlp` solves the program with all columns at once.

use super::shrink::{self, Bound, Epsilon, Explained, HAIR, SOLVER, STANDS, Shrunk};
use super::simplex::{Goal, Multipliers, OPTIMAL, Simplex, Stuck};
use crate::{Error, ErrorKind, Result};

/// Losses of columns: the objective of each, and its constraints, column by column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Columns {
    objective: Vec<f64>,
    constraints: Vec<f64>,
    /// The least and the largest loss of each constraint, and of the objective.
    ranges: Vec<(f64, f64)>,
    costs: (f64, f64),
    finite: bool,
}

/// The range of no number.
const EMPTY: (f64, f64) = (f64::INFINITY, f64::NEG_INFINITY);

impl Columns {
    /// No columns yet, of so many constraints.
    pub(crate) fn new(constraints: usize) -> Self {
        Columns {
            objective: Vec::new(),
            constraints: Vec::new(),
            ranges: vec![EMPTY; constraints],
            costs: EMPTY,
            finite: true,
        }
    }

    /// Adds a column.
    pub(crate) fn push(&mut self, objective: f64, constraints: &[f64]) {
        assert_eq!(
            constraints.len(),
            self.ranges.len(),
            "each column has a loss for each constraint"
        );
        let all = constraints.iter().zip(&mut self.ranges).chain([(&objective, &mut self.costs)]);
        for (&loss, range) in all {
            *range = (range.0.min(loss), range.1.max(loss));
            self.finite &= loss.is_finite();
        }
        self.objective.push(objective);
        self.constraints.extend_from_slice(constraints);
    }

    /// The same columns with each constraint larger by so much.
    pub(crate) fn shifted(&self, by: &[f64]) -> Self {
        let mut shifted = Columns::new(self.constraints());
        let mut constraints = vec![0.0; by.len()];
        for (column, &objective) in self.objective.iter().enumerate() {
            let sums = constraints.iter_mut().zip(self.of(column)).zip(by);
            sums.for_each(|((sum, loss), by)| *sum = loss + by);
            shifted.push(objective, &constraints);
        }
        shifted
    }

    /// How many columns there are.
    pub(crate) fn len(&self) -> usize {
        self.objective.len()
    }

    /// How many constraints each has.
    pub(crate) fn constraints(&self) -> usize {
        self.ranges.len()
    }

    /// The constraints of a column.
    pub(crate) fn of(&self, column: usize) -> &[f64] {
        let count = self.ranges.len();
        &self.constraints[column * count..][..count]
    }

    /// The objective of a mixture.
    pub(crate) fn objective(&self, weights: &[(usize, f64)]) -> f64 {
        weights.iter().map(|&(column, weight)| weight * self.objective[column]).sum()
    }

    /// Refuses what no program is made of.
    fn check(&self) -> Result<()> {
        let wrong = |message: &str, help: &str| {
            Err(Error::new(ErrorKind::Settings, message.to_owned()).help(help.to_owned()))
        };
        if self.objective.is_empty() {
            return wrong(
                "shrinking needs models, each with its losses",
                "keep at least one model",
            );
        }
        if !self.finite {
            return wrong(
                "a kept model has a loss that is not a finite number",
                "a rate over a group that has no rows on a sample is none; leave such groups out",
            );
        }
        Ok(())
    }

    /// The most that a loss differs from its bound by, or 1 where none does.
    pub(super) fn unit(&self, bound: &[f64]) -> f64 {
        let far = |(range, bound): (&(f64, f64), &f64)| {
            (range.0 - bound).abs().max((range.1 - bound).abs())
        };
        let unit = self.ranges.iter().zip(bound).map(far).fold(0.0, f64::max);
        if unit > 0.0 { unit } else { 1.0 }
    }

    /// The least objective of a column.
    pub(super) fn lowest(&self) -> f64 {
        self.costs.0
    }

    /// By how much objectives differ, or 1 where they do not.
    pub(super) fn worth(&self) -> f64 {
        let worth = self.costs.1 - self.costs.0;
        if worth > 0.0 { worth } else { 1.0 }
    }

    /// The objective of a column, where the least is 0 and the largest 1.
    pub(super) fn cost(&self, column: usize) -> f64 {
        (self.objective[column] - self.lowest()) / self.worth()
    }

    /// Constraints with margins, each column by itself.
    fn with(&self, margins: &[f64]) -> Vec<Vec<f64>> {
        let margin = |at: usize| margins.get(at).copied().unwrap_or(0.0);
        let one = |column: usize| {
            self.of(column).iter().enumerate().map(|(at, loss)| loss + margin(at)).collect()
        };
        (0..self.len()).map(one).collect()
    }
}

/// What earlier programs of these columns, or of others much like them, ended with: a program that begins there is solved
/// in less time, with the same result up to ties.
#[derive(Debug, Default, Clone)]
pub(crate) struct Start {
    columns: Vec<usize>,
}

impl Start {
    /// The columns of a vertex come first; those that were of none for long are forgotten.
    fn remember(&mut self, simplex: &Simplex<'_>) {
        let mut columns: Vec<usize> = simplex.weights().iter().map(|&(column, _)| column).collect();
        let most = 64 + 4 * columns.len();
        let older: Vec<usize> = self
            .columns
            .iter()
            .copied()
            .filter(|one| columns.binary_search(one).is_err())
            .collect();
        columns.extend(older);
        columns.truncate(most);
        self.columns = columns;
    }
}

/// The optimum of (1): ε, and its multipliers if that is not 0.
struct Least {
    epsilon: f64,
    conflict: Option<Multipliers>,
    /// The largest loss.
    unit: f64,
}

/// The optima of (1) and (2).
struct Optimum {
    least: Least,
    feasible: bool,
    weights: Vec<(usize, f64)>,
    prices: Multipliers,
    /// About how many products finding them added up.
    work: u64,
}

impl Least {
    fn is_at_most(&self, allowed: f64) -> bool {
        self.epsilon <= allowed + SOLVER * self.unit
    }

    /// What (2) allows.
    fn or(&self, allowed: f64) -> f64 {
        self.epsilon.max(allowed) + HAIR * self.unit
    }
}

/// b of constraints with these margins; none are zeros.
fn bounds(columns: &Columns, margins: &[f64]) -> Vec<f64> {
    (0..columns.constraints()).map(|at| -margins.get(at).copied().unwrap_or(0.0)).collect()
}

/// The multipliers where margins are added to losses, of those where they are taken from bounds.
fn with_margins(multipliers: Multipliers, margins: &[f64]) -> Multipliers {
    let Multipliers { constraints, total } = multipliers;
    let terms = constraints.iter().zip(margins).map(|(one, margin)| one * margin);
    let total = total + terms.sum::<f64>();
    Multipliers { constraints, total }
}

/// (1), and where it ended.
fn least<'a>(
    columns: &'a Columns,
    margins: &[f64],
    start: &mut Start,
) -> Result<(Least, Simplex<'a>), Stuck> {
    let mut simplex = Simplex::new(columns, &bounds(columns, margins), &[], &start.columns);
    simplex.run(Goal::Level)?;
    start.remember(&simplex);
    let epsilon = simplex.least();
    let conflict = (epsilon > 0.0).then(|| with_margins(simplex.dual(Goal::Level), margins));
    Ok((Least { epsilon, conflict, unit: simplex.unit() }, simplex))
}

/// (1), then (2) from there.
fn by_simplex(
    columns: &Columns,
    margins: &[f64],
    allowed: f64,
    start: &mut Start,
) -> Result<Optimum, Stuck> {
    let (least, mut simplex) = least(columns, margins, start)?;
    simplex.raise(least.or(allowed));
    simplex.run(Goal::Objective)?;
    start.remember(&simplex);
    let mut weights = simplex.weights();
    // A weight that small is the hair's.
    weights.retain(|&(_, weight)| weight > SOLVER);
    let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
    weights.iter_mut().for_each(|(_, weight)| *weight /= total);
    let feasible = least.is_at_most(allowed);
    let prices = with_margins(simplex.dual(Goal::Objective), margins);
    Ok(Optimum { least, feasible, weights, prices, work: simplex.work() })
}

/// (1) with all columns at once.
fn least_by_microlp(columns: &Columns, constraints: &[Vec<f64>], unit: f64) -> Result<Least> {
    let (none, every) = (vec![0.0; columns.len()], vec![1.0; columns.constraints()]);
    let scaled: Vec<Vec<f64>> =
        constraints.iter().map(|losses| losses.iter().map(|loss| loss / unit).collect()).collect();
    let (violation, _) = shrink::solve(&none, &scaled, Bound::Least(&every))?;
    let epsilon = violation.max(0.0) * unit;
    let conflict = match epsilon > 0.0 {
        true => Some(shrink::duals(&none, &scaled, Bound::Least(&every))?),
        false => None,
    };
    let conflict = conflict.map(|constraints| Multipliers { constraints, total: epsilon });
    Ok(Least { epsilon, conflict, unit })
}

/// (1) and (2) with all columns at once.
fn by_microlp(columns: &Columns, margins: &[f64], allowed: f64) -> Result<Optimum> {
    let constraints = columns.with(margins);
    let unit = columns.unit(&bounds(columns, margins));
    let least = least_by_microlp(columns, &constraints, unit)?;
    let scaled: Vec<Vec<f64>> =
        constraints.iter().map(|losses| losses.iter().map(|loss| loss / unit).collect()).collect();
    let bound = Bound::At(least.or(allowed) / unit);
    let (_, weights) = shrink::solve(&columns.objective, &scaled, bound)?;
    let mut prices = shrink::duals(&columns.objective, &scaled, bound)?;
    prices.iter_mut().for_each(|price| *price /= unit);
    let worth = |(objective, losses): (&f64, &Vec<f64>)| {
        objective + prices.iter().zip(losses).map(|(price, loss)| price * loss).sum::<f64>()
    };
    let total = columns.objective.iter().zip(&constraints).map(worth).fold(f64::INFINITY, f64::min);
    let prices = Multipliers { constraints: prices, total };
    let feasible = least.is_at_most(allowed);
    // Products of two matrices of that size are about what its pivots add up.
    let work = (columns.len() * columns.constraints()) as u64 * columns.constraints() as u64;
    Ok(Optimum { least, feasible, weights, prices, work })
}

fn optimum(columns: &Columns, margins: &[f64], allowed: f64, start: &mut Start) -> Result<Optimum> {
    columns.check()?;
    Epsilon::AtMost(allowed).check()?;
    by_simplex(columns, margins, allowed, start)
        .or_else(|Stuck| by_microlp(columns, margins, allowed))
}

/// The best mixture of these columns with these margins, or none if empty; see [`shrink`](super::shrink()).
///
/// # Errors
/// If there are no columns, a loss is not a finite number, or the solver fails.
pub(crate) fn shrink_columns(
    columns: &Columns,
    margins: &[f64],
    allowed: f64,
    start: &mut Start,
) -> Result<Shrunk> {
    let Optimum { least, feasible, weights, .. } = optimum(columns, margins, allowed, start)?;
    let mut margins = margins.to_vec();
    margins.resize(columns.constraints(), 0.0);
    let mut mixed = margins.clone();
    for &(column, weight) in &weights {
        let losses = mixed.iter_mut().zip(columns.of(column));
        losses.for_each(|(sum, loss)| *sum += weight * loss);
    }
    let epsilon = mixed.into_iter().fold(0.0, f64::max);
    Ok(Shrunk { weights, epsilon, least: least.epsilon, feasible, margins })
}

/// The best single column with these margins: the one of least objective among those that meet the constraints with their
/// margins, or else among those that come nearest to that.
///
/// # Errors
/// If there are no columns, or a loss is not a finite number.
pub(crate) fn single_column(columns: &Columns, margins: &[f64], allowed: f64) -> Result<Shrunk> {
    columns.check()?;
    Epsilon::AtMost(allowed).check()?;
    let mut margins = margins.to_vec();
    margins.resize(columns.constraints(), 0.0);
    let worst = |column: usize| {
        let losses = columns.of(column).iter().zip(&margins);
        losses.map(|(loss, margin)| loss + margin).fold(f64::NEG_INFINITY, f64::max)
    };
    let least = (0..columns.len()).map(worst).fold(f64::INFINITY, f64::min);
    let unit = columns.unit(&bounds(columns, &margins));
    let feasible = least <= allowed + SOLVER * unit;
    let bound = if feasible { allowed } else { least } + SOLVER * unit;
    let near = (0..columns.len()).filter(|&column| worst(column) <= bound);
    let best = near.min_by(|&a, &b| columns.objective[a].total_cmp(&columns.objective[b]));
    let best = best.unwrap_or(0);
    let epsilon = worst(best).max(0.0);
    Ok(Shrunk { weights: vec![(best, 1.0)], epsilon, least: least.max(0.0), feasible, margins })
}

/// The best single column with margins, or with as much of them as it has where no column has all.
///
/// # Errors
/// As [`single_column`].
pub(crate) fn single_yielding(columns: &Columns, margins: &[f64], allowed: f64) -> Result<Shrunk> {
    let asked = single_column(columns, margins, allowed)?;
    if asked.feasible {
        return Ok(asked);
    }
    // Of those that meet the constraints without margins, if any does, the one with the largest share of all margins.
    let without = single_column(columns, &[], allowed)?;
    let bound = without.least.max(allowed);
    let hair = SOLVER * columns.unit(&bounds(columns, &[]));
    let worst =
        |column: usize| columns.of(column).iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let share = |column: usize| {
        let losses = columns.of(column).iter().zip(margins).filter(|(_, margin)| **margin > 0.0);
        losses.map(|(loss, margin)| (bound - loss) / margin).fold(1.0, f64::min)
    };
    let meets = (0..columns.len()).filter(|&column| worst(column) <= bound + hair);
    let better = |a: &usize, b: &usize| {
        let cheaper = columns.objective[*b].total_cmp(&columns.objective[*a]);
        share(*a).total_cmp(&share(*b)).then(cheaper)
    };
    let best = meets.max_by(better).unwrap_or(without.weights[0].0);
    let had = columns.of(best).iter().zip(margins);
    let had: Vec<f64> = had.map(|(loss, margin)| margin.min(bound - loss).max(0.0)).collect();
    let epsilon = columns.of(best).iter().copied().fold(0.0, f64::max);
    let weights = vec![(best, 1.0)];
    Ok(Shrunk { weights, epsilon, least: asked.least, feasible: false, margins: had })
}

/// The best mixture with margins, or as much of them as can be had: where they cannot all be, those are reduced that stand
/// in the way. No constraint is violated by more than without margins, or than `allowed`.
///
/// # Errors
/// As [`shrink_columns`].
pub(crate) fn shrink_yielding(
    columns: &Columns,
    margins: &[f64],
    allowed: f64,
    start: &mut Start,
) -> Result<Shrunk> {
    let asked = shrink_columns(columns, margins, allowed, start)?;
    if asked.feasible {
        return Ok(asked);
    }
    let without = match least(columns, &[], start) {
        Ok((least, _)) => least.epsilon,
        Err(Stuck) => {
            let unit = columns.unit(&bounds(columns, &[]));
            least_by_microlp(columns, &columns.with(&[]), unit)?.epsilon
        }
    };
    let allowed = without.max(allowed);
    let had = yielding(columns, margins, allowed, start)
        .or_else(|Stuck| shrink::yielding(&columns.with(&[]), margins, allowed))?;
    let shrunk = shrink_columns(columns, &had, allowed, start)?;
    Ok(Shrunk { least: asked.least, feasible: false, ..shrunk })
}

/// What a margin that yields gives up beyond the least, in the unit of the losses.
const ROUNDED: f64 = 1e-8;

/// The margins that can be had without any constraint being violated by more than `allowed`, which is possible without
/// margins.
///
/// With margins δ, of which the constraints in F may yield, it solves
///
/// ```text
/// most  f   with  Σ_t p_t·ℓ_i⁽ᵗ⁾ + δ_i − δ_i·(1 − f)·[i ∈ F] ≤ allowed for every i, p in the simplex
/// ```
///
/// which gives each margin in F up to f of its own. Those with a multiplier stand in the way: they are reduced to that and
/// leave F, and the program is solved again for the others.
fn yielding(
    columns: &Columns,
    margins: &[f64],
    allowed: f64,
    start: &mut Start,
) -> Result<Vec<f64>, Stuck> {
    let (mut had, mut free) = (margins.to_vec(), margins.to_vec());
    while free.iter().any(|&margin| margin > 0.0) {
        let bound = had.iter().zip(&free).map(|(had, free)| allowed - had + free);
        let bound: Vec<f64> = bound.collect();
        let mut simplex = Simplex::new(columns, &bound, &free, &start.columns);
        simplex.run(Goal::Level)?;
        simplex.raise(simplex.least() + HAIR * simplex.unit());
        simplex.run(Goal::Share)?;
        start.remember(&simplex);
        let lost = 1.0 - simplex.share();
        if lost <= SOLVER {
            break;
        }
        let prices = simplex.dual(Goal::Share).constraints;
        let stands = |at: usize| free[at] > 0.0 && prices[at] * free[at] > STANDS;
        let standing: Vec<usize> = (0..had.len()).filter(|&at| stands(at)).collect();
        if standing.is_empty() {
            break;
        }
        for at in standing {
            had[at] -= (lost * free[at]).min(margins[at]) + ROUNDED * simplex.unit();
            free[at] = 0.0;
        }
    }
    Ok(had)
}

/// The multipliers of a program at its optimum, which price columns that it does not have.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Priced {
    /// 1 where the constraints can be met, and the multipliers are those of (2); 0 where they cannot, and they are of (1).
    pub(crate) objective: f64,
    /// y.
    pub(crate) constraints: Vec<f64>,
    /// w: what a column is worth that changes nothing.
    total: f64,
}

impl Priced {
    /// The reduced cost of a column: below 0, it would improve the optimum.
    pub(crate) fn reduced(&self, objective: f64, constraints: &[f64], margins: &[f64]) -> f64 {
        let margin = |at: usize| margins.get(at).copied().unwrap_or(0.0);
        let terms = self.constraints.iter().zip(constraints).enumerate();
        let dot = terms.map(|(at, (y, loss))| y * (loss + margin(at))).sum::<f64>();
        self.objective * objective + dot - self.total
    }
}

/// The multipliers of the program of these columns with these margins.
///
/// # Errors
/// As [`shrink_columns`].
pub(crate) fn price_columns(
    columns: &Columns,
    margins: &[f64],
    allowed: f64,
    start: &mut Start,
) -> Result<Priced> {
    let found = optimum(columns, margins, allowed, start)?;
    let (objective, multipliers) = match found.least.conflict {
        Some(conflict) if !found.feasible => (0.0, conflict),
        _ => (1.0, found.prices),
    };
    Ok(Priced { objective, constraints: multipliers.constraints, total: multipliers.total })
}

/// What constraints cost, or which stand against each other; see [`explain`](super::explain()).
///
/// # Errors
/// As [`shrink_columns`].
pub(crate) fn explain_columns(
    columns: &Columns,
    margins: &[f64],
    allowed: f64,
    start: &mut Start,
) -> Result<Explained> {
    let found = optimum(columns, margins, allowed, start)?;
    let none = vec![0.0; columns.constraints()];
    Ok(match found.least.conflict {
        Some(conflict) if !found.feasible => Explained {
            prices: none,
            relaxation: found.least.epsilon,
            conflict: conflict.constraints,
        },
        _ => Explained { prices: found.prices.constraints, relaxation: 0.0, conflict: none },
    })
}

/// The least ε and the least objective at it, while columns are added one by one.
///
/// A program is solved only if a new column has a negative reduced cost in (1) or (2), and only as often as each column
/// pays for: with many constraints, several columns go by until the next program.
pub(crate) struct Incremental {
    columns: Columns,
    start: Start,
    last: Option<Last>,
    /// Whether columns came that may help, and no program was solved since.
    waiting: bool,
    /// How much work may be done: each column adds [`PAID`], a program takes what it took.
    purse: i64,
}

/// About how many products each column pays for: some tenths of a millisecond.
const PAID: i64 = 1 << 19;

/// So many columns' pay is saved up at most.
const SAVED: i64 = 16;

/// What is paid for a program that could not be solved, in columns.
const FAILED: i64 = 16;

/// A program with at most so many losses is solved by `microlp` where ours is stuck; with more, that takes minutes.
const SMALL: usize = 1 << 14;

struct Last {
    epsilon: f64,
    objective: f64,
    optimum: Optimum,
}

impl Incremental {
    /// No columns yet, of so many constraints.
    pub(crate) fn new(constraints: usize) -> Self {
        Incremental {
            columns: Columns::new(constraints),
            start: Start::default(),
            last: None,
            waiting: false,
            purse: SAVED * PAID,
        }
    }

    /// How many columns there are.
    pub(crate) fn len(&self) -> usize {
        self.columns.len()
    }

    /// Adds a column; the least ε of all, and the least objective at it, or `None` where no program is solved until later
    /// columns come.
    ///
    /// # Errors
    /// If a loss is not a finite number, or the solver fails on a small program.
    pub(crate) fn push(
        &mut self,
        objective: f64,
        constraints: &[f64],
    ) -> Result<Option<(f64, f64)>> {
        self.columns.push(objective, constraints);
        self.columns.check()?;
        self.purse = (self.purse + PAID).min(SAVED * PAID);
        if let Some(last) = &self.last
            && !self.waiting
            && !self.helps(&last.optimum)
        {
            return Ok(Some((last.epsilon, last.objective)));
        }
        self.waiting = true;
        if self.purse < 0 {
            return Ok(None);
        }
        let small = self.columns.len() * self.columns.constraints() <= SMALL;
        let optimum = match by_simplex(&self.columns, &[], 0.0, &mut self.start) {
            Ok(optimum) => optimum,
            Err(Stuck) if small => by_microlp(&self.columns, &[], 0.0)?,
            Err(Stuck) => {
                self.purse -= FAILED * PAID;
                return Ok(None);
            }
        };
        self.purse -= i64::try_from(optimum.work).unwrap_or(i64::MAX / 2);
        self.waiting = false;
        // More columns cannot make it larger; rounding could.
        let before = self.last.as_ref().map_or(f64::INFINITY, |last| last.epsilon);
        let epsilon = optimum.least.epsilon.min(before);
        let objective = self.columns.objective(&optimum.weights);
        self.last = Some(Last { epsilon, objective, optimum });
        Ok(Some((epsilon, objective)))
    }

    /// Whether the newest column has a negative reduced cost.
    fn helps(&self, before: &Optimum) -> bool {
        let newest = self.columns.len() - 1;
        let dot = |multipliers: &Multipliers| {
            let terms = multipliers.constraints.iter().zip(self.columns.of(newest));
            terms.map(|(multiplier, loss)| multiplier * loss).sum::<f64>() - multipliers.total
        };
        let lowers = |conflict| dot(conflict) < -OPTIMAL * before.least.unit;
        before.least.conflict.as_ref().is_some_and(lowers)
            || self.columns.objective[newest] + dot(&before.prices)
                < -OPTIMAL * self.columns.worth()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    /// At random, on a trade-off, with few distinct losses, with columns that repeat, or all alike but for a hair.
    fn random(stream: &mut Stream, kind: u64, constraints: usize, count: usize) -> Columns {
        let shift = stream.unit() * 0.6 - 0.3;
        let mut columns = Columns::new(constraints);
        for at in 0..count {
            let error = at as f64 / count as f64;
            let mut loss = |_| match kind {
                1 => 0.3 - error + (stream.unit() - 0.5) * 0.1 + shift,
                2 => (stream.below(5) as f64 - 2.0) / 10.0 + (shift * 10.0).round() / 10.0,
                4 => 0.3 - error + (stream.unit() - 0.5) * 1e-5 + shift,
                _ => stream.unit() - 0.5 + shift,
            };
            let mut losses: Vec<f64> = (0..constraints).map(&mut loss).collect();
            if kind == 3 && at > 0 && stream.below(2) == 0 {
                losses = columns.of(stream.below(at as u64) as usize).to_vec();
            }
            let objective = match stream.below(3) {
                0 => 0.5,
                1 => stream.below(4) as f64 / 4.0,
                _ => error,
            };
            columns.push(objective, &losses);
        }
        columns
    }

    fn random_margins(stream: &mut Stream, constraints: usize) -> Vec<f64> {
        match stream.below(2) {
            0 => Vec::new(),
            _ => (0..constraints).map(|_| stream.unit() * 0.1).collect(),
        }
    }

    /// By how much the worst constraint of a mixture is violated.
    fn violation(columns: &Columns, margins: &[f64], weights: &[(usize, f64)]) -> f64 {
        let mixed = |at: usize| {
            let terms = weights.iter().map(|&(column, weight)| weight * columns.of(column)[at]);
            terms.sum::<f64>() + margins.get(at).unwrap_or(&0.0)
        };
        (0..columns.constraints()).map(mixed).fold(0.0, f64::max)
    }

    #[test]
    fn optimal_over_all_columns_at_a_vertex() {
        let mut stream = Stream::new(1, "programs");
        let mut infeasible = 0;
        for case in 0..600 {
            let constraints = stream.below(9) as usize;
            let count = 2 + stream.below(if case % 5 == 0 { 199 } else { 40 }) as usize;
            let columns = random(&mut stream, case % 5, constraints, count);
            let margins = random_margins(&mut stream, constraints);
            let allowed = [0.0, 0.0, 0.05][stream.below(3) as usize];
            let context = format!("{case}: {constraints} constraints, {count} columns");
            let all = by_microlp(&columns, &margins, allowed).unwrap();
            let found = by_simplex(&columns, &margins, allowed, &mut Start::default());
            let found = found.unwrap_or_else(|Stuck| panic!("{context}: stuck"));
            let (least, other) = (found.least.epsilon, all.least.epsilon);
            assert!((least - other).abs() < 1e-7, "{context}: {least} {other}");
            assert_eq!(found.feasible, all.feasible, "{context}");
            infeasible += usize::from(!found.feasible);
            assert!(found.weights.len() <= constraints + 1, "{context}: {}", found.weights.len());
            let total: f64 = found.weights.iter().map(|(_, weight)| weight).sum();
            assert!((total - 1.0).abs() < 1e-12, "{context}");
            let epsilon = found.least.or(allowed);
            assert!(violation(&columns, &margins, &found.weights) < epsilon + 1e-6, "{context}");
            // Of what `microlp` lets constraints be missed by, the objective has its price.
            let prices = &found.prices.constraints;
            let rounded = 1e-7 * (1.0 + prices.iter().sum::<f64>());
            let (cost, other) =
                (columns.objective(&found.weights), columns.objective(&all.weights));
            assert!((cost - other).abs() < rounded, "{context}: {cost} {other}");
            // And by duality.
            let worth = |(objective, losses): (&f64, Vec<f64>)| {
                objective + prices.iter().zip(losses).map(|(y, loss)| y * loss).sum::<f64>()
            };
            let columns = columns.objective.iter().zip(columns.with(&margins));
            let most = columns.map(worth).fold(f64::INFINITY, f64::min);
            let dual = most - epsilon * prices.iter().sum::<f64>();
            assert!((found.prices.total - most).abs() < 1e-8, "{context}: {most}");
            assert!((cost - dual).abs() < rounded, "{context}: {cost} {dual}");
        }
        assert!((50..550).contains(&infeasible), "{infeasible}");
    }

    /// Prices lie between the slopes of programs that are solved again with a little more or less slack, and what cannot
    /// be met can once it is loosened as told.
    #[test]
    fn prices_are_slopes() {
        let mut stream = Stream::new(2, "slopes");
        let (mut binding, mut infeasible) = (0, 0);
        for case in 0..200 {
            let constraints = 1 + stream.below(5) as usize;
            let count = 3 + stream.below(60) as usize;
            let columns = random(&mut stream, case % 2, constraints, count);
            let margins = random_margins(&mut stream, constraints);
            let mut start = Start::default();
            let found = explain_columns(&columns, &margins, 0.0, &mut start).unwrap();
            let mut cost = |by: f64, only: Option<usize>| {
                let loosened = |at: usize| {
                    let margin = margins.get(at).copied().unwrap_or(0.0);
                    if only.is_none_or(|only| only == at) { margin - by } else { margin }
                };
                let margins: Vec<f64> = (0..constraints).map(loosened).collect();
                let shrunk = shrink_columns(&columns, &margins, 0.0, &mut start).unwrap();
                (columns.objective(&shrunk.weights), shrunk.feasible)
            };
            let (now, feasible) = cost(0.0, None);
            if !feasible {
                assert!(cost(found.relaxation + 1e-6, None).1);
                assert!(!cost(found.relaxation - 1e-4, None).1);
                assert!((found.conflict.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{found:?}");
                assert!(found.prices.iter().all(|&price| price == 0.0));
                infeasible += 1;
                continue;
            }
            assert!(found.relaxation == 0.0 && found.conflict.iter().all(|&share| share == 0.0));
            for (at, price) in found.prices.iter().enumerate() {
                let mut slope = |by: f64| {
                    let (cost, feasible) = cost(by, Some(at));
                    feasible.then_some((now - cost) / by)
                };
                assert!(slope(1e-4).is_none_or(|less| less <= price + 1e-3), "{case}: {found:?}");
                assert!(slope(-1e-4).is_none_or(|more| more >= price - 1e-3), "{case}: {found:?}");
                binding += usize::from(*price > 0.01);
            }
        }
        assert!(binding > 30 && infeasible > 10, "{binding} prices, {infeasible} infeasible");
    }

    fn of(losses: &[&[f64]]) -> Columns {
        let mut columns = Columns::new(losses[0].len());
        losses.iter().for_each(|losses| columns.push(0.0, losses));
        columns
    }

    /// Margins that cannot all be had: what is met without them stays met, and none yields that need not.
    #[test]
    fn margins_yield_where_they_must() {
        let had = |losses: &[&[f64]], margins: &[f64]| {
            shrink_yielding(&of(losses), margins, 0.0, &mut Start::default()).unwrap().margins
        };
        // The first constraint is at best met exactly; the second has room, by the second model alone.
        let found = had(&[&[0.1, -0.3], &[0.0, -0.2], &[0.0, 0.4]], &[0.05, 0.1]);
        assert!(found[0].abs() < 1e-5 && found[1] == 0.1, "{found:?}");
        // Two that stand against each other yield by the same share of their own.
        let found = had(&[&[-0.1, 0.1], &[0.1, -0.1]], &[0.03, 0.06]);
        assert!(found.iter().all(|margin| margin.abs() < 1e-5), "{found:?}");
        let losses: [&[f64]; 2] = [&[-0.14, 0.1], &[0.1, -0.14]];
        let found = had(&losses, &[0.03, 0.06]);
        assert!((2.0 * found[0] - found[1]).abs() < 1e-5 && found[0] > 0.01, "{found:?}");
        // And where all can be had, none does.
        assert_eq!(had(&losses, &[0.01, 0.01]), [0.01, 0.01]);
    }

    #[test]
    fn margins_yield_as_with_all_columns_at_once() {
        let mut stream = Stream::new(3, "yield");
        let mut yielded = 0;
        for case in 0..300 {
            let constraints = 1 + stream.below(6) as usize;
            let count = 2 + stream.below(30) as usize;
            let columns = random(&mut stream, case % 2, constraints, count);
            let margins: Vec<f64> = (0..constraints).map(|_| 0.3 * stream.unit()).collect();
            let found = shrink_yielding(&columns, &margins, 0.0, &mut Start::default()).unwrap();
            let without = shrink_columns(&columns, &[], 0.0, &mut Start::default()).unwrap();
            assert!(violation(&columns, &[], &found.weights) < without.least + 1e-6, "{case}");
            assert!(found.epsilon < without.least + 1e-6, "{case}: {found:?}");
            if found.feasible {
                assert_eq!(found.margins, margins);
                continue;
            }
            yielded += 1;
            let losses = columns.with(&[]);
            let all = shrink::yielding(&losses, &margins, without.least).unwrap();
            // That gives up 50 times as much for rounding, which constraints that are nearly alike magnify.
            let near = |(one, other): (&f64, &f64)| (one - other).abs() < 1e-3;
            assert!(found.margins.iter().zip(&all).all(near), "{case}: {found:?} {all:?}");
        }
        assert!(yielded > 50, "{yielded}");
    }

    /// Wherever it begins, even at columns of another program or that do not exist.
    #[test]
    fn a_start_changes_nothing_but_ties() {
        let mut stream = Stream::new(4, "starts");
        let mut start = Start::default();
        for case in 0..300 {
            let constraints = stream.below(9) as usize;
            let count = 2 + stream.below(100) as usize;
            let columns = random(&mut stream, case % 4, constraints, count);
            let margins = random_margins(&mut stream, constraints);
            let cold = shrink_columns(&columns, &margins, 0.0, &mut Start::default()).unwrap();
            let again = shrink_columns(&columns, &margins, 0.0, &mut Start::default()).unwrap();
            assert_eq!(cold, again);
            let warm = shrink_columns(&columns, &margins, 0.0, &mut start).unwrap();
            assert!((cold.least - warm.least).abs() < 1e-8, "{case}");
            assert_eq!(cold.feasible, warm.feasible);
            let (cold, warm) = (columns.objective(&cold.weights), columns.objective(&warm.weights));
            assert!((cold - warm).abs() < 1e-6, "{case}: {cold} {warm}");
        }
    }

    #[test]
    fn columns_one_by_one() {
        let mut stream = Stream::new(5, "one by one");
        let (mut solved, mut pushed) = (0, 0);
        for case in 0..60 {
            let constraints = stream.below(7) as usize;
            let columns = random(&mut stream, case % 4, constraints, 60);
            let (mut one_by_one, mut all) =
                (Incremental::new(constraints), Columns::new(constraints));
            let (mut before, mut order) = (f64::INFINITY, (0..60).collect::<Vec<usize>>());
            stream.shuffle(&mut order);
            for column in order {
                let (objective, losses) = (columns.objective[column], columns.of(column));
                all.push(objective, losses);
                let (least, cost) = one_by_one.push(objective, losses).unwrap().unwrap();
                let found = by_microlp(&all, &[], 0.0).unwrap();
                assert!(least <= before);
                assert!((least - found.least.epsilon).abs() < 1e-7, "{case}");
                let prices: f64 = found.prices.constraints.iter().sum();
                let other = all.objective(&found.weights);
                assert!((cost - other).abs() < 1e-7 * (1.0 + prices), "{case}: {cost} {other}");
                solved += usize::from(one_by_one.start.columns.contains(&(all.len() - 1)));
                pushed += 1;
                before = least;
            }
        }
        assert!(2 * solved < pushed, "{solved} of {pushed}");
    }

    /// A thousand constraints, of which about a hundred bind; then with other numbers.
    #[test]
    fn many_constraints() {
        let mut stream = Stream::new(6, "many");
        let worst: Vec<f64> = (0..1000).map(|_| stream.unit() * 0.2).collect();
        let mut columns = Columns::new(1000);
        for _ in 0..2000 {
            let given = stream.unit();
            let loss = |worst: &f64| worst - 0.4 * given + 0.6 * (stream.unit() - 0.5);
            let losses: Vec<f64> = worst.iter().map(loss).collect();
            columns.push(0.15 + 0.3 * given * given + 0.02 * stream.unit(), &losses);
        }
        let mut start = Start::default();
        for margin in [0.0, 0.001, 0.01] {
            let margins = vec![margin; 1000];
            let found = by_simplex(&columns, &margins, 0.0, &mut start).unwrap();
            assert!(violation(&columns, &margins, &found.weights) < 1e-6 && found.feasible);
            assert!((30..300).contains(&found.weights.len()), "{}", found.weights.len());
            let cost = columns.objective(&found.weights);
            let dual = found.prices.total;
            assert!((cost - dual).abs() < 1e-6, "{cost} {dual}");
        }
    }

    /// What a model of so many groups of four rows decides: each constraint has five values or fewer.
    fn coarse(stream: &mut Stream, groups: usize, count: usize) -> Columns {
        let mut columns = Columns::new(4 * groups);
        for _ in 0..count {
            let lean = stream.unit();
            let (mut losses, mut wrong) = (Vec::with_capacity(4 * groups), 0.0);
            for _ in 0..groups {
                let mut decided = [0.0; 4];
                decided.iter_mut().for_each(|one| *one = f64::from(stream.unit() < lean));
                let (positive, negative) = (decided[0] + decided[1], decided[2] + decided[3]);
                let rate = (positive + negative) / 4.0;
                losses.extend([0.6 - positive / 2.0, negative / 2.0 - 0.4, rate - 0.6, 0.4 - rate]);
                wrong += 2.0 - positive + negative;
            }
            columns.push(wrong / (4 * groups) as f64, &losses);
        }
        columns
    }

    /// Where losses have few distinct values, most pivots are steps of length 0; the program is solved all the same.
    #[test]
    fn few_distinct_losses() {
        let mut stream = Stream::new(7, "coarse");
        for (groups, count) in [(10, 60), (40, 200), (250, 200)] {
            let columns = coarse(&mut stream, groups, count);
            let found = by_simplex(&columns, &[], 0.0, &mut Start::default());
            let found = found.unwrap_or_else(|Stuck| panic!("{groups} groups: stuck"));
            let level = violation(&columns, &[], &found.weights);
            assert!((level - found.least.epsilon).abs() < 1e-6, "{groups}: {level}");
            let conflict = found.least.conflict.unwrap();
            assert!((conflict.constraints.iter().sum::<f64>() - 1.0).abs() < 1e-6);
            assert!((conflict.total - found.least.epsilon).abs() < 1e-6, "{groups}");
        }
    }

    /// However many constraints there are, columns one by one take a bounded amount of work each.
    #[test]
    fn work_of_columns_one_by_one() {
        let mut stream = Stream::new(8, "work");
        let columns = coarse(&mut stream, 250, 200);
        let mut one_by_one = Incremental::new(1000);
        let (mut done, mut most, mut known) = (0, 0, 0);
        for column in 0..200 {
            let before = (one_by_one.purse + PAID).min(SAVED * PAID);
            let found = one_by_one.push(columns.objective[column], columns.of(column)).unwrap();
            let taken = before - one_by_one.purse;
            (done, most) = (done + taken, most.max(taken));
            known += usize::from(found.is_some());
        }
        assert!(done - most <= (200 + SAVED) * PAID, "{done} of which {most} at once");
        assert!(known > 3, "{known} of 200");
    }

    /// One column of each kind: none is better that meets as much.
    #[test]
    fn a_single_column() {
        let mut columns = Columns::new(2);
        for (objective, losses) in
            [(0.1, [0.2, -0.1]), (0.3, [-0.05, -0.2]), (0.2, [-0.01, -0.02]), (0.5, [-0.4, -0.4])]
        {
            columns.push(objective, &losses);
        }
        let chosen = |margins: &[f64]| single_column(&columns, margins, 0.0).unwrap();
        assert_eq!(chosen(&[]).weights, [(2, 1.0)]);
        assert_eq!(chosen(&[0.03, 0.0]).weights, [(1, 1.0)]);
        assert!(chosen(&[0.1, 0.1]).feasible);
        let beyond = chosen(&[0.5, 0.1]);
        assert!(!beyond.feasible && beyond.weights == [(3, 1.0)]);
        let some = single_yielding(&columns, &[0.5, 0.1], 0.0).unwrap();
        assert_eq!(some.weights, [(3, 1.0)]);
        assert!((some.margins[0] - 0.4).abs() < 1e-12 && some.margins[1] == 0.1);
        // A constraint without a margin counts as much: what violates it is not chosen.
        let mut columns = Columns::new(2);
        columns.push(0.1, &[0.2, -0.3]);
        columns.push(0.3, &[0.0, -0.1]);
        columns.push(0.2, &[0.5, -0.9]);
        let some = single_yielding(&columns, &[0.0, 0.5], 0.0).unwrap();
        assert_eq!(some.weights, [(1, 1.0)]);
    }

    #[test]
    fn what_no_program_is_made_of() {
        let mut start = Start::default();
        assert!(shrink_columns(&Columns::new(1), &[], 0.0, &mut start).is_err());
        assert!(shrink_columns(&of(&[&[f64::NAN]]), &[], 0.0, &mut start).is_err());
        assert!(shrink_columns(&of(&[&[0.0]]), &[], -1.0, &mut start).is_err());
        let error = Incremental::new(1).push(f64::INFINITY, &[0.0]).unwrap_err();
        assert!(error.to_string().contains("not a finite number"), "{error}");
    }
}
