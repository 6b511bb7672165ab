//! A simplex method for few binding constraints and very many columns.
//!
//! With c_t and ℓ_ti the objective and the constraints of column t, it solves
//!
//! ```text
//! least  c(p, z, f)   with  Σ_t p_t = 1,  Σ_t p_t·ℓ_ti + g_i·f − z ≤ b_i for every i,  p ≥ 0, f ≥ 0
//! ```
//!
//! for three goals, one after the other. The *level* z is free and in the basis from the beginning, so that any single
//! column is a feasible start; the first goal is the least z, or any z ≤ 0. Then b becomes b + ε with ε ≥ z, and the level is
//! u = ε − z ≥ 0, which only takes away: the basis stays as it is, and the second goal is the least Σ_t p_t·c_t, or the
//! most f, the *share* of the vector g.
//!
//! **The basis.** Let A be the rows that hold with equality, the total Σ_t p_t = 1 among them, and S the variables that are
//! not at their bound. There are as many of either, so that x_S = W⁻¹·b_A for the square matrix W of the coefficients of S
//! in the rows A; what the other rows have to spare follows. Only W⁻¹ is kept, so a pivot costs |S|² + m·|S| whatever the
//! number of columns, and |S| is small where few constraints bind. Multipliers are π = c_S·W⁻¹; the price of column t is
//! its reduced cost c_t − π₀ − Σ_{i∈A} π_i·ℓ_ti, and y_i = −π_i ≥ 0 at an optimum.
//!
//! **Columns are priced in two tiers.** Pivots look at a pool of columns only. Once the pool has none that helps, all
//! columns are priced and the best few enter the pool; where there is none, the vertex is optimal over all of them.
//!
//! Numbers are in units in which the largest loss is 1 and objectives differ by at most 1. Ties are broken by the lowest
//! index, so that a run is a function of its input. After a run of pivots without progress, bounds are moved apart a
//! little, and moved back at the optimum ([`stall`]). After a few times of that, Bland's rule takes over until there is
//! progress: it cannot cycle.

mod stall;

use super::program::Columns;
use stall::SHAKES;

/// A variable helps if its reduced cost is below this, negated.
pub(super) const OPTIMAL: f64 = 1e-9;

/// A reduced cost below this, negated, is believed; others are found again by refined multipliers.
const CLEAR: f64 = 1e-6;

/// Rates of change as small as this are zero to the ratio test.
const PIVOT: f64 = 1e-9;

/// How far below zero the ratio test lets a variable go, to choose among more pivots.
const SLIP: f64 = 1e-11;

/// A level that low is none.
const NONE: f64 = 1e-12;

/// W is inverted anew after so many pivots.
const FRESH: usize = 64;

/// At most so many columns enter the pool at once, or as many as there are in the basis.
const FEW: usize = 16;

/// The method failed: it took too many pivots, or W is singular to f64.
#[derive(Debug)]
pub(super) struct Stuck;

/// What is minimised.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Goal {
    /// The level, until it is 0.
    Level,
    /// Σ_t p_t·c_t.
    Objective,
    /// The share, negated.
    Share,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Variable {
    Column(usize),
    Level,
    Share,
}

/// What enters the basis: a variable, or what a row in A (by its place there) has to spare.
#[derive(Clone, Copy, PartialEq)]
enum Entering {
    Variable(Variable),
    Spare(usize),
}

/// What leaves it: a variable by its place in S, or what a row has to spare.
#[derive(Clone, Copy, PartialEq)]
enum Leaving {
    Variable(usize),
    Spare(usize),
}

/// Multipliers at an optimum: y of each constraint, and w of Σ_t p_t = 1, in the units of the columns.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Multipliers {
    pub(super) constraints: Vec<f64>,
    pub(super) total: f64,
}

pub(super) struct Simplex<'a> {
    columns: &'a Columns,
    /// b, and g; the unit of both and of the constraints' losses.
    bound: Vec<f64>,
    given: Vec<f64>,
    unit: f64,
    /// The coefficient of the level: −1 while it is z, 1 once it is u.
    sign: f64,
    /// S with the values of its variables, and A, the total first: row m.
    variables: Vec<Variable>,
    values: Vec<f64>,
    rows: Vec<usize>,
    /// W⁻¹, by variables and rows.
    inverse: Vec<Vec<f64>>,
    /// What each row has to spare.
    spare: Vec<f64>,
    binding: Vec<bool>,
    basic: Vec<bool>,
    pool: Vec<usize>,
    pooled: Vec<bool>,
    /// Pivots since W was inverted, and in all.
    stale: usize,
    pivots: usize,
    /// About how many products were added up.
    work: u64,
    /// b before it was moved, if it is, and how often it was.
    unmoved: Option<Vec<f64>>,
    shakes: usize,
}

impl<'a> Simplex<'a> {
    /// Starts from the one column of `pool`, or of all if it is empty, that misses b by the least.
    pub(super) fn new(columns: &'a Columns, bound: &[f64], given: &[f64], pool: &[usize]) -> Self {
        let count = columns.constraints();
        let unit = columns.unit(bound);
        let mut pooled = vec![false; columns.len()];
        let known = |&&column: &&usize| column < columns.len();
        let mut pool: Vec<usize> = pool.iter().filter(known).copied().collect();
        pool.retain(|&column| !std::mem::replace(&mut pooled[column], true));
        let worst = |column: usize| {
            let missed = columns.of(column).iter().zip(bound).map(|(loss, bound)| loss - bound);
            missed.fold(f64::NEG_INFINITY, f64::max)
        };
        let all = (0..if pool.is_empty() { columns.len() } else { 0 }).chain(pool.iter().copied());
        let (_, first) = all
            .map(|column| (worst(column), column))
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
            .unwrap_or((0.0, 0));
        if !std::mem::replace(&mut pooled[first], true) {
            pool.push(first);
        }
        let mut basic = vec![false; columns.len()];
        basic[first] = true;
        let mut binding = vec![false; count + 1];
        binding[count] = true;
        let mut simplex = Simplex {
            columns,
            bound: bound.iter().map(|bound| bound / unit).chain([1.0]).collect(),
            given: given.iter().map(|given| given / unit).collect(),
            unit,
            sign: -1.0,
            variables: vec![Variable::Column(first)],
            values: Vec::new(),
            rows: vec![count],
            inverse: Vec::new(),
            spare: Vec::new(),
            binding,
            basic,
            pool,
            pooled,
            stale: 0,
            pivots: 0,
            work: 0,
            unmoved: None,
            shakes: 0,
        };
        let missed = |row: usize| columns.of(first)[row] - bound[row];
        if let Some(row) =
            (0..count).max_by(|&a, &b| missed(a).total_cmp(&missed(b)).then(b.cmp(&a)))
        {
            simplex.variables.push(Variable::Level);
            simplex.rows.push(row);
            simplex.binding[row] = true;
        }
        simplex
    }

    /// Goes on to the optimum.
    pub(super) fn run(&mut self, goal: Goal) -> Result<(), Stuck> {
        self.invert()?;
        self.shakes = 0;
        let limit = self.pivots + 10_000 + 20 * (self.bound.len() + self.pool.len());
        let mut idle = 0;
        loop {
            if goal == Goal::Level && self.unmoved.is_none() && self.level() <= NONE {
                return Ok(());
            }
            if self.shakes < SHAKES && idle > 20 + self.rows.len() / 2 {
                self.shake(goal);
                idle = 0;
            }
            let careful = idle > 20 + 2 * self.rows.len();
            self.work += self.cost_of_pivot();
            let mut multipliers = self.multipliers(goal);
            let mut found = self.entering(goal, &multipliers, careful);
            if found.is_none_or(|(_, price)| price > -CLEAR) {
                self.refine(goal, &mut multipliers);
                found = self.entering(goal, &multipliers, careful);
            }
            let Some((entering, price)) = found else {
                if self.stale > 0 {
                    self.invert()?;
                    continue;
                }
                if self.find(goal, &multipliers) {
                    continue;
                }
                if self.unmoved.is_some() {
                    self.move_back(goal)?;
                    continue;
                }
                return self.is_feasible(goal).then_some(()).ok_or(Stuck);
            };
            let (direction, rates) = self.direction(entering);
            let leaving = self.leaving(goal, &direction, &rates, careful);
            let Some((leaving, step, pivot)) = leaving else { return Err(Stuck) };
            if pivot < 1e-6 && self.stale > 0 {
                self.invert()?;
                continue;
            }
            idle = if -price * step > 1e-13 { 0 } else { idle + 1 };
            self.pivot(entering, leaving, step, &direction, &rates);
            self.pivots += 1;
            self.stale += 1;
            if self.pivots > limit {
                return Err(Stuck);
            }
            if self.stale >= FRESH {
                self.invert()?;
            }
        }
    }

    /// From z to u: b is raised by ε, the level or more, in units of the columns.
    pub(super) fn raise(&mut self, epsilon: f64) {
        let epsilon = epsilon / self.unit;
        let count = self.columns.constraints();
        self.bound[..count].iter_mut().for_each(|bound| *bound += epsilon);
        self.sign = 1.0;
    }

    /// Whether a variable may be below 0: z may.
    fn is_free(&self, goal: Goal, variable: Variable) -> bool {
        goal == Goal::Level && variable == Variable::Level
    }

    /// z or u; 0 if there are no constraints.
    fn level(&self) -> f64 {
        let at = self.variables.iter().position(|&variable| variable == Variable::Level);
        at.map_or(0.0, |at| self.values[at])
    }

    /// The least z ≥ 0, after a run for it, in units of the columns.
    pub(super) fn least(&self) -> f64 {
        let level = self.level();
        if level <= NONE { 0.0 } else { level * self.unit }
    }

    /// f.
    pub(super) fn share(&self) -> f64 {
        let at = self.variables.iter().position(|&variable| variable == Variable::Share);
        at.map_or(0.0, |at| self.values[at])
    }

    pub(super) fn unit(&self) -> f64 {
        self.unit
    }

    /// About how many products were added up so far.
    pub(super) fn work(&self) -> u64 {
        self.work
    }

    /// About how many products a pivot adds up: multipliers, prices, the direction and W⁻¹.
    fn cost_of_pivot(&self) -> u64 {
        let size = self.rows.len();
        (size * (3 * size + self.pool.len() + self.bound.len())) as u64
    }

    /// The columns in the basis and their weights, by index.
    pub(super) fn weights(&self) -> Vec<(usize, f64)> {
        let one = |(variable, value): (&Variable, &f64)| match variable {
            Variable::Column(column) => Some((*column, *value)),
            _ => None,
        };
        let mut weights: Vec<_> = self.variables.iter().zip(&self.values).filter_map(one).collect();
        weights.sort_by_key(|&(column, _)| column);
        weights
    }

    /// y and w, in units of the columns.
    pub(super) fn dual(&self, goal: Goal) -> Multipliers {
        let mut found = self.multipliers(goal);
        self.refine(goal, &mut found);
        let (worth, lowest) = match goal {
            Goal::Level => (self.unit, 0.0),
            Goal::Objective => (self.columns.worth(), self.columns.lowest()),
            Goal::Share => (1.0, 0.0),
        };
        let mut constraints = vec![0.0; self.columns.constraints()];
        for (&row, multiplier) in self.rows.iter().zip(&found).skip(1) {
            constraints[row] = (-multiplier * worth / self.unit).max(0.0);
        }
        Multipliers { constraints, total: found[0] * worth + lowest }
    }

    fn cost(&self, goal: Goal, variable: Variable) -> f64 {
        match (goal, variable) {
            (Goal::Level, Variable::Level) => 1.0,
            (Goal::Objective, Variable::Column(column)) => self.columns.cost(column),
            (Goal::Share, Variable::Share) => -1.0,
            _ => 0.0,
        }
    }

    /// The coefficient of a variable in a row, of which the total is the last.
    fn coefficient(&self, variable: Variable, row: usize) -> f64 {
        let total = row == self.columns.constraints();
        match variable {
            Variable::Column(_) if total => 1.0,
            _ if total => 0.0,
            Variable::Column(column) => self.columns.of(column)[row] / self.unit,
            Variable::Level => self.sign,
            Variable::Share => self.given[row],
        }
    }

    /// Adds so many times a variable's coefficients in all constraints.
    fn add(&self, variable: Variable, times: f64, sums: &mut [f64]) {
        let add = |sums: &mut [f64], terms: &[f64], times: f64| {
            sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += times * term);
        };
        match variable {
            Variable::Column(column) => add(sums, self.columns.of(column), times / self.unit),
            Variable::Level => sums.iter_mut().for_each(|sum| *sum += times * self.sign),
            Variable::Share => add(sums, &self.given, times),
        }
    }

    /// π = c_S·W⁻¹, by rows of A.
    fn multipliers(&self, goal: Goal) -> Vec<f64> {
        let mut found = vec![0.0; self.rows.len()];
        for (&variable, row) in self.variables.iter().zip(&self.inverse) {
            let cost = self.cost(goal, variable);
            if cost != 0.0 {
                found.iter_mut().zip(row).for_each(|(sum, entry)| *sum += cost * entry);
            }
        }
        found
    }

    /// Adds (c_S − π·W)·W⁻¹ to π: W⁻¹ is as far off as W is near to singular, where columns are nearly alike.
    fn refine(&self, goal: Goal, multipliers: &mut [f64]) {
        let rough = multipliers.to_vec();
        for (&variable, entries) in self.variables.iter().zip(&self.inverse) {
            let terms = self.rows.iter().zip(&rough);
            let sum: f64 = terms.map(|(&row, one)| one * self.coefficient(variable, row)).sum();
            let left = self.cost(goal, variable) - sum;
            multipliers.iter_mut().zip(entries).for_each(|(one, entry)| *one += left * entry);
        }
    }

    /// The reduced cost of a column, for multipliers that are divided by the unit.
    fn price(&self, goal: Goal, column: usize, total: f64, multipliers: &[f64]) -> f64 {
        let losses = self.columns.of(column);
        let terms = self.rows[1..].iter().zip(multipliers).map(|(&row, one)| one * losses[row]);
        self.cost(goal, Variable::Column(column)) - total - terms.sum::<f64>()
    }

    fn per_unit(&self, multipliers: &[f64]) -> Vec<f64> {
        multipliers[1..].iter().map(|multiplier| multiplier / self.unit).collect()
    }

    /// What helps most and its price, or if `careful`, the first that helps.
    fn entering(&self, goal: Goal, multipliers: &[f64], careful: bool) -> Option<(Entering, f64)> {
        let scaled = self.per_unit(multipliers);
        let columns = self.pool.iter().filter(|&&column| !self.basic[column]).map(|&column| {
            let price = self.price(goal, column, multipliers[0], &scaled);
            (Entering::Variable(Variable::Column(column)), price, column)
        });
        let after = self.columns.len();
        let share =
            (goal == Goal::Share && !self.variables.contains(&Variable::Share)).then(|| {
                let terms = self.rows[1..].iter().zip(&multipliers[1..]);
                let price = -1.0 - terms.map(|(&row, one)| one * self.given[row]).sum::<f64>();
                (Entering::Variable(Variable::Share), price, after)
            });
        let spare = self
            .rows
            .iter()
            .enumerate()
            .skip(1)
            .map(|(at, row)| (Entering::Spare(at), -multipliers[at], after + 1 + row));
        let all = columns.chain(share).chain(spare).filter(|&(_, price, _)| price < -OPTIMAL);
        let best = if careful {
            all.min_by_key(|&(.., index)| index)
        } else {
            all.min_by(|a, b| a.1.total_cmp(&b.1).then(a.2.cmp(&b.2)))
        };
        best.map(|(entering, price, _)| (entering, price))
    }

    /// Prices all columns; the best few that help enter the pool. Whether there are any.
    fn find(&mut self, goal: Goal, multipliers: &[f64]) -> bool {
        self.work += (self.columns.len() * self.rows.len()) as u64;
        let scaled = self.per_unit(multipliers);
        let mut found: Vec<(f64, usize)> = (0..self.columns.len())
            .filter(|&column| !self.pooled[column])
            .map(|column| (self.price(goal, column, multipliers[0], &scaled), column))
            .filter(|&(price, _)| price < -OPTIMAL)
            .collect();
        let order = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        let few = FEW.max(self.rows.len());
        if found.len() > few {
            found.select_nth_unstable_by(few, order);
            found.truncate(few);
        }
        found.sort_by(order);
        for &(_, column) in &found {
            self.pooled[column] = true;
            self.pool.push(column);
        }
        !found.is_empty()
    }

    /// How fast the variables of S fall as the entering one grows, and what rows have to spare.
    fn direction(&self, entering: Entering) -> (Vec<f64>, Vec<f64>) {
        let mut rates = vec![0.0; self.columns.constraints()];
        let direction: Vec<f64> = match entering {
            Entering::Spare(at) => self.inverse.iter().map(|row| row[at]).collect(),
            Entering::Variable(variable) => {
                self.add(variable, 1.0, &mut rates);
                let own: Vec<f64> =
                    self.rows.iter().map(|&row| self.coefficient(variable, row)).collect();
                let dot = |row: &Vec<f64>| row.iter().zip(&own).map(|(a, b)| a * b).sum();
                self.inverse.iter().map(dot).collect()
            }
        };
        for (&variable, &rate) in self.variables.iter().zip(&direction) {
            self.add(variable, -rate, &mut rates);
        }
        (direction, rates)
    }

    /// What reaches zero first, after which step, and the size of its rate.
    fn leaving(
        &self,
        goal: Goal,
        direction: &[f64],
        rates: &[f64],
        careful: bool,
    ) -> Option<(Leaving, f64, f64)> {
        let after = self.columns.len();
        let variables = self.variables.iter().enumerate().map(|(at, &variable)| {
            let index = match variable {
                Variable::Column(column) => column,
                _ => after,
            };
            (Leaving::Variable(at), self.values[at], direction[at], index)
        });
        let variables = variables.filter(|&(leaving, ..)| match leaving {
            Leaving::Variable(at) => !self.is_free(goal, self.variables[at]),
            Leaving::Spare(_) => true,
        });
        let rows = (0..rates.len()).filter(|&row| !self.binding[row]);
        let spare =
            rows.map(|row| (Leaving::Spare(row), self.spare[row], rates[row], after + 1 + row));
        let all = || variables.clone().chain(spare.clone()).filter(|&(_, _, rate, _)| rate > PIVOT);
        let slip = if careful { 0.0 } else { SLIP };
        let limit = all()
            .map(|(_, value, rate, _)| (value.max(0.0) + slip) / rate)
            .fold(f64::INFINITY, f64::min);
        let near = all().filter(|&(_, value, rate, _)| value.max(0.0) / rate <= limit);
        let best = if careful {
            near.min_by_key(|&(.., index)| index)
        } else {
            near.min_by(|a, b| b.2.total_cmp(&a.2).then(a.3.cmp(&b.3)))
        };
        best.map(|(leaving, value, rate, _)| (leaving, value.max(0.0) / rate, rate))
    }

    /// The row of W⁻¹ that what a constraint has to spare would have, were it in S, negated.
    fn of_row(&self, row: usize) -> Vec<f64> {
        let mut sums = vec![0.0; self.rows.len()];
        for (&variable, entries) in self.variables.iter().zip(&self.inverse) {
            let times = self.coefficient(variable, row);
            sums.iter_mut().zip(entries).for_each(|(sum, entry)| *sum += times * entry);
        }
        sums
    }

    /// One variable enters the basis and another leaves it; W⁻¹ follows.
    fn pivot(
        &mut self,
        entering: Entering,
        leaving: Leaving,
        step: f64,
        direction: &[f64],
        rates: &[f64],
    ) {
        self.values.iter_mut().zip(direction).for_each(|(value, rate)| *value -= step * rate);
        self.spare.iter_mut().zip(rates).for_each(|(spare, rate)| *spare -= step * rate);
        let subtract = |from: &mut [f64], times: f64, row: &[f64]| {
            from.iter_mut().zip(row).for_each(|(entry, other)| *entry -= times * other);
        };
        match (entering, leaving) {
            (Entering::Variable(variable), Leaving::Variable(at)) => {
                let pivot = direction[at];
                let own: Vec<f64> = self.inverse[at].iter().map(|entry| entry / pivot).collect();
                for (row, &rate) in self.inverse.iter_mut().zip(direction) {
                    subtract(row, rate, &own);
                }
                self.inverse[at] = own;
                self.leave(at);
                self.enter(variable);
                self.variables[at] = variable;
                self.values[at] = step;
            }
            (Entering::Variable(variable), Leaving::Spare(row)) => {
                let mut own = self.of_row(row);
                let pivot = rates[row];
                own.iter_mut().for_each(|entry| *entry /= -pivot);
                for (entries, &rate) in self.inverse.iter_mut().zip(direction) {
                    subtract(entries, rate, &own);
                    entries.push(-rate / pivot);
                }
                own.push(1.0 / pivot);
                self.inverse.push(own);
                self.enter(variable);
                self.variables.push(variable);
                self.values.push(step);
                self.bind(row);
                self.rows.push(row);
            }
            (Entering::Spare(place), Leaving::Variable(at)) => {
                let pivot = direction[at];
                let mut own = self.inverse.swap_remove(at);
                own.swap_remove(place);
                let mut rates = direction.to_vec();
                rates.swap_remove(at);
                for (row, rate) in self.inverse.iter_mut().zip(rates) {
                    row.swap_remove(place);
                    subtract(row, rate / pivot, &own);
                }
                self.leave(at);
                self.variables.swap_remove(at);
                self.values.swap_remove(at);
                let row = self.rows.swap_remove(place);
                self.binding[row] = false;
                self.spare[row] = step;
            }
            (Entering::Spare(place), Leaving::Spare(row)) => {
                let mut own = self.of_row(row);
                let pivot = own[place];
                own[place] = 0.0;
                for entries in &mut self.inverse {
                    entries[place] /= pivot;
                    let times = entries[place];
                    subtract(entries, times, &own);
                }
                let freed = std::mem::replace(&mut self.rows[place], row);
                self.binding[freed] = false;
                self.bind(row);
                self.spare[freed] = step;
            }
        }
    }

    fn bind(&mut self, row: usize) {
        self.binding[row] = true;
        self.spare[row] = 0.0;
    }

    fn enter(&mut self, variable: Variable) {
        if let Variable::Column(column) = variable {
            self.basic[column] = true;
        }
    }

    fn leave(&mut self, at: usize) {
        if let Variable::Column(column) = self.variables[at] {
            self.basic[column] = false;
        }
    }

    /// Inverts W by elimination, and finds all values anew.
    fn invert(&mut self) -> Result<(), Stuck> {
        let size = self.rows.len();
        self.work += (3 * size * size / 2 + self.bound.len()) as u64 * size as u64;
        let mut left: Vec<Vec<f64>> = Vec::with_capacity(size);
        for (at, &row) in self.rows.iter().enumerate() {
            let mut entries: Vec<f64> = Vec::with_capacity(2 * size);
            entries.extend(self.variables.iter().map(|&one| self.coefficient(one, row)));
            entries.extend((0..size).map(|other| f64::from(u8::from(other == at))));
            left.push(entries);
        }
        for at in 0..size {
            let largest = (at..size)
                .max_by(|&a, &b| left[a][at].abs().total_cmp(&left[b][at].abs()).then(b.cmp(&a)));
            left.swap(at, largest.unwrap_or(at));
            let pivot = left[at][at];
            if pivot.abs() < 1e-13 {
                return Err(Stuck);
            }
            let mut own = std::mem::take(&mut left[at]);
            own[at..].iter_mut().for_each(|entry| *entry /= pivot);
            for row in left.iter_mut().filter(|row| !row.is_empty()) {
                let times = row[at];
                if times != 0.0 {
                    let entries = row[at..].iter_mut().zip(&own[at..]);
                    entries.for_each(|(entry, other)| *entry -= times * other);
                }
            }
            left[at] = own;
        }
        self.inverse = left.into_iter().map(|mut row| row.split_off(size)).collect();
        let bound: Vec<f64> = self.rows.iter().map(|&row| self.bound[row]).collect();
        let dot = |row: &Vec<f64>| row.iter().zip(&bound).map(|(a, b)| a * b).sum();
        self.values = self.inverse.iter().map(dot).collect();
        let mut spare = self.bound[..self.columns.constraints()].to_vec();
        for (&variable, &value) in self.variables.iter().zip(&self.values) {
            self.add(variable, -value, &mut spare);
        }
        let binding = spare.iter_mut().zip(&self.binding);
        binding.filter(|(_, binding)| **binding).for_each(|(spare, _)| *spare = 0.0);
        (self.spare, self.stale) = (spare, 0);
        Ok(())
    }

    /// Whether no variable is below its bound by more than rounding explains.
    fn is_feasible(&self, goal: Goal) -> bool {
        let values = self.variables.iter().zip(&self.values);
        values
            .filter(|(variable, _)| !self.is_free(goal, **variable))
            .all(|(_, &value)| value > -OPTIMAL)
            && self.spare.iter().all(|&spare| spare > -OPTIMAL)
    }
}
