//! What is done where pivots make no progress.
//!
//! Where losses have few distinct values, many variables of a basis are 0 at once, and pivot after pivot is a step of
//! length 0. So b is moved: with a_t the coefficients of variable t and e_i those of what row i has to spare,
//!
//! ```text
//! b ← b + Σ_t δ_t·a_t + Σ_i δ_i·e_i      over t in S that are nearly 0, and rows i outside A
//! ```
//!
//! adds δ to the value of each of these and changes no other value, so that the basis stays feasible and its variables
//! are no longer 0 together. At the optimum b is moved back. Prices do not depend on b, so the basis is still optimal but
//! for a few values below 0; each of these leaves the basis by a pivot of the dual simplex method, which keeps prices.

use super::{Entering, Goal, Leaving, OPTIMAL, PIVOT, Simplex, Stuck, Variable};
use crate::random::mix;

/// b is moved so often at most.
pub(super) const SHAKES: usize = 12;

/// The most that a value is moved by.
const SHIFT: f64 = 1e-6;

/// Values below this are nearly 0.
const SMALL: f64 = 1e-6;

impl Simplex<'_> {
    /// Moves b, so that values that were 0 together are not.
    pub(super) fn shake(&mut self, goal: Goal) {
        if self.unmoved.is_none() {
            self.unmoved = Some(self.bound.clone());
        }
        self.shakes += 1;
        let shakes = self.shakes as u64;
        let shift = |of: u64| {
            let drawn = mix(mix(of) ^ shakes) >> 11;
            SHIFT * (0.5 + 0.5 * drawn as f64 / (1_u64 << 53) as f64)
        };
        let total = self.columns.constraints();
        let mut moved = vec![0.0; total];
        for at in 0..self.variables.len() {
            let variable = self.variables[at];
            if self.values[at] < SMALL && !self.is_free(goal, variable) {
                let by = shift(match variable {
                    Variable::Column(column) => column as u64,
                    Variable::Level | Variable::Share => self.columns.len() as u64,
                });
                self.add(variable, by, &mut moved);
                self.bound[total] += by * self.coefficient(variable, total);
                self.values[at] += by;
            }
        }
        for row in (0..total).filter(|&row| !self.binding[row]) {
            let by = shift(!(row as u64));
            moved[row] += by;
            self.spare[row] += by;
        }
        self.bound[..total].iter_mut().zip(moved).for_each(|(bound, by)| *bound += by);
    }

    /// Moves b back, and makes values feasible again.
    pub(super) fn move_back(&mut self, goal: Goal) -> Result<(), Stuck> {
        if let Some(bound) = self.unmoved.take() {
            self.bound = bound;
        }
        self.invert()?;
        let most = 100 + 4 * self.rows.len();
        for _ in 0..most {
            let Some(leaving) = self.lowest(goal) else { return Ok(()) };
            let entering = self.replacing(goal, leaving).ok_or(Stuck)?;
            self.work += self.cost_of_pivot() + self.columns.len() as u64;
            let (direction, rates) = self.direction(entering);
            let (value, rate) = match leaving {
                Leaving::Variable(at) => (self.values[at], direction[at]),
                Leaving::Spare(row) => (self.spare[row], rates[row]),
            };
            if rate > -PIVOT {
                return Err(Stuck);
            }
            if let Entering::Variable(Variable::Column(column)) = entering
                && !std::mem::replace(&mut self.pooled[column], true)
            {
                self.pool.push(column);
            }
            self.pivot(entering, leaving, value / rate, &direction, &rates);
            self.pivots += 1;
            // Few pivots, and each is to be trusted.
            self.invert()?;
        }
        Err(Stuck)
    }

    /// What is furthest below 0.
    fn lowest(&self, goal: Goal) -> Option<Leaving> {
        let values = self.values.iter().enumerate();
        let values = values.filter(|&(at, _)| !self.is_free(goal, self.variables[at]));
        let values = values.map(|(at, &value)| (value, Leaving::Variable(at)));
        let spare = self.spare.iter().enumerate().filter(|&(row, _)| !self.binding[row]);
        let spare = spare.map(|(row, &spare)| (spare, Leaving::Spare(row)));
        let below = values.chain(spare).filter(|&(value, _)| value < -0.5 * OPTIMAL);
        below.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, leaving)| leaving)
    }

    /// What enters in place of a variable that is below 0, so that no price falls below 0.
    fn replacing(&self, goal: Goal, leaving: Leaving) -> Option<Entering> {
        // How fast it falls as another grows is the product of this row with the other's coefficients in A.
        let (row, sign, own) = match leaving {
            Leaving::Variable(at) => (self.inverse[at].clone(), 1.0, None),
            Leaving::Spare(row) => (self.of_row(row), -1.0, Some(row)),
        };
        let mut multipliers = self.multipliers(goal);
        self.refine(goal, &mut multipliers);
        let scaled = self.per_unit(&multipliers);
        let rate = |variable: Variable| {
            let terms = self.rows.iter().zip(&row);
            let sum: f64 = terms.map(|(&at, one)| one * self.coefficient(variable, at)).sum();
            sign * sum + own.map_or(0.0, |own| self.coefficient(variable, own))
        };
        let columns = (0..self.columns.len()).filter(|&column| !self.basic[column]).map(|column| {
            let price = self.price(goal, column, multipliers[0], &scaled);
            let variable = Variable::Column(column);
            (Entering::Variable(variable), price, rate(variable))
        });
        let spare =
            (1..self.rows.len()).map(|at| (Entering::Spare(at), -multipliers[at], sign * row[at]));
        let share =
            (goal == Goal::Share && !self.variables.contains(&Variable::Share)).then(|| {
                let terms = self.rows[1..].iter().zip(&multipliers[1..]);
                let price = -1.0 - terms.map(|(&row, one)| one * self.given[row]).sum::<f64>();
                (Entering::Variable(Variable::Share), price, rate(Variable::Share))
            });
        let all = columns.chain(spare).chain(share).filter(|&(.., rate)| rate < -PIVOT);
        // Among nearly equal ratios, the largest rate: a small one would make W nearly singular.
        let all: Vec<(Entering, f64, f64)> = all.collect();
        let ratio = |price: f64, rate: f64| (price.max(0.0) + OPTIMAL) / -rate;
        let least =
            all.iter().map(|&(_, price, rate)| ratio(price, rate)).fold(f64::INFINITY, f64::min);
        let near = all.iter().filter(|&&(_, price, rate)| price.max(0.0) / -rate <= least);
        near.min_by(|a, b| a.2.total_cmp(&b.2)).map(|&(entering, ..)| entering)
    }
}
