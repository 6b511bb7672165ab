//! Losses as arithmetic on a tally.

use std::rc::Rc;

use super::set::Set;
use super::sparse::{Members, Short};
use super::tally::{Count, Push, Tally};
use crate::settings::declare;

/// The objective and the constraints of a problem on one table: what they are as a function of a
/// tally, and how they push scores as a function of the multipliers.
///
/// Both go through *events*, sets of cells that many constraints share, so that their cost is that of
/// the cells and the memberships of a cell, not of cells × constraints.
#[derive(Debug, Clone, PartialEq)]
pub struct Losses {
    /// The weight of each cell in the whole table.
    weights: Vec<f64>,
    members: Members,
    events: usize,
    /// β of the objective, then of each constraint.
    constants: Vec<f64>,
    /// The terms of loss i are `terms[starts[i]..starts[i + 1]]`, the objective's first.
    starts: Vec<usize>,
    terms: Vec<Term>,
    /// The exact losses again, for every turn: a group and all rows are two terms.
    exact: Short<2, f64>,
    /// The same terms event by event, each of them of a loss: a group is mostly one constraint's own.
    pushed: Short<1, (f64, f64)>,
}

/// β plus numbers on events.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Loss {
    pub(super) constant: f64,
    pub(super) terms: Vec<Term>,
}

/// What one event adds to a loss: `exact`·P, and `down`·A + `up`·(B − W).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Term {
    pub(super) event: u32,
    pub(super) exact: f64,
    pub(super) down: f64,
    pub(super) up: f64,
}

impl Term {
    pub(super) fn add(&mut self, exact: f64, down: f64, up: f64) {
        self.exact += exact;
        self.down += down;
        self.up += up;
    }
}

declare! {
    /// The loss itself or its upper bound.
    #[derive(Copy, Eq)]
    pub enum Side (default Side::Exact) {
        /// The indicators: what is promised.
        Exact = "exact",
        /// The surrogate in their place: what has slopes.
        Proxy = "proxy",
    }
}

/// A tally summed over each event.
#[derive(Debug, Clone, Default)]
pub struct Sums {
    /// P of each event, for the exact losses.
    positive: Vec<f64>,
    /// A and B − W of each event, for the proxies.
    surrogate: Vec<(f64, f64)>,
}

impl Sums {
    fn clear(&mut self, side: Side, events: usize) {
        // One past the last: what cells have in place of an event, and sums of no terms in place of one.
        let events = events + 1;
        match side {
            Side::Exact => {
                self.positive.clear();
                self.positive.resize(events, 0.0);
            }
            Side::Proxy => {
                self.surrogate.clear();
                self.surrogate.resize(events, (0.0, 0.0));
            }
        }
    }
}

impl Sums {
    /// Room for so many events.
    fn reserve(&mut self, side: Side, events: usize) {
        match side {
            Side::Exact => self.positive.reserve((events + 1).saturating_sub(self.positive.len())),
            Side::Proxy => {
                self.surrogate.reserve((events + 1).saturating_sub(self.surrogate.len()))
            }
        }
    }

    /// Adds those of other rows.
    fn merge(&mut self, side: Side, other: &Sums) {
        match side {
            Side::Exact => {
                let sums = self.positive.iter_mut().zip(&other.positive);
                sums.for_each(|(sum, more)| *sum += more);
            }
            Side::Proxy => {
                for (sum, more) in self.surrogate.iter_mut().zip(&other.surrogate) {
                    *sum = (sum.0 + more.0, sum.1 + more.1);
                }
            }
        }
    }
}

/// λ: how much the objective and each constraint count.
#[derive(Debug, Clone, PartialEq)]
pub struct Multipliers {
    /// λ₁ of the paper's simplex, or 1 for a Lagrangian.
    pub objective: f64,
    /// One for each constraint.
    pub constraints: Vec<f64>,
}

/// How hard each event pushes, for one λ; [`Losses::push`] adds up those of a cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Pushes {
    lambda: Vec<f64>,
    events: Vec<(f64, f64)>,
}

/// An objective's loss and those of the constraints.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LossValues {
    /// ℓ₀.
    pub objective: f64,
    /// ℓ₁ … ℓ_m, each met where it is at most 0.
    pub constraints: Vec<f64>,
}

impl LossValues {
    /// λ₁·ℓ₀ + Σ_i λ_{i+1}·ℓ_i.
    ///
    /// # Panics
    /// If there is not one multiplier for each constraint.
    pub fn weighted(&self, lambda: &Multipliers) -> f64 {
        assert_eq!(lambda.constraints.len(), self.constraints.len(), "one for each constraint");
        let constraints = self.constraints.iter().zip(&lambda.constraints);
        lambda.objective * self.objective + constraints.map(|(loss, by)| loss * by).sum::<f64>()
    }

    /// The most that a constraint is violated by; below 0 where all are met, and −∞ where there is none.
    ///
    /// NaN where one cannot be measured, because a group has no rows: of that nothing is known.
    pub fn worst(&self) -> f64 {
        let worse = |most: f64, &loss: &f64| if loss > most || loss.is_nan() { loss } else { most };
        match self.constraints.iter().find(|loss| loss.is_nan()) {
            Some(nan) => *nan,
            None => self.constraints.iter().fold(f64::NEG_INFINITY, worse),
        }
    }
}

impl Losses {
    pub(super) fn of_events(weights: Vec<f64>, sets: &[Rc<Set>], losses: Vec<Loss>) -> Self {
        let (events, members) = (sets.len(), Members::new(weights.len(), sets));
        let (mut constants, mut starts, mut terms) = (Vec::new(), vec![0], Vec::new());
        let mut pushed = vec![Vec::new(); events];
        for (loss, Loss { constant, terms: own }) in losses.into_iter().enumerate() {
            for &Term { event, down, up, .. } in &own {
                pushed[event as usize].push((loss as u32, (down, up)));
            }
            constants.push(constant);
            terms.extend(own);
            starts.push(terms.len());
        }
        let exact = |ends: &[usize]| {
            let own = &terms[ends[0]..ends[1]];
            own.iter().map(|term: &Term| (term.event, term.exact)).collect()
        };
        let exact = Short::new(starts.windows(2).map(exact));
        let pushed = Short::new(pushed.into_iter());
        Losses { weights, members, events, constants, starts, terms, exact, pushed }
    }

    /// How many cells there are.
    pub fn cells(&self) -> usize {
        self.weights.len()
    }

    /// How many constraints there are.
    pub fn constraints(&self) -> usize {
        self.constants.len() - 1
    }

    /// How many events there are: sums over them are all that the exact losses need of decisions.
    pub(crate) fn events(&self) -> usize {
        self.events
    }

    /// Hands on the events that a cell is in.
    #[inline]
    pub(crate) fn each_event(&self, cell: usize, mut run: impl FnMut(usize)) {
        self.members.each(cell, |event| {
            if event < self.events {
                run(event);
            }
        });
    }

    /// Of each constraint, the least that an event of it has, by what each cell has.
    pub(crate) fn least_of_events(&self, cells: &[f64]) -> Vec<f64> {
        let mut events = vec![0.0; self.events];
        for (cell, &has) in cells.iter().enumerate() {
            self.each_event(cell, |event| events[event] += has);
        }
        let least = |ends: &[usize]| {
            let terms = self.terms[ends[0]..ends[1]].iter().filter(|term| term.exact != 0.0);
            terms.map(|term| events[term.event as usize]).fold(f64::INFINITY, f64::min)
        };
        self.starts.windows(2).skip(1).map(least).collect()
    }

    /// Whether both have the same events over the same cells.
    pub(crate) fn same_events(&self, other: &Losses) -> bool {
        self.members == other.members && self.events == other.events
    }

    /// ℓ₀ and ℓ₁ … ℓ_m of decisions of which the weight decided positive in each event is known; `spare` is space.
    pub(crate) fn of_positive(&self, positive: &[f64], spare: &mut Sums, values: &mut LossValues) {
        spare.clear(Side::Exact, self.events);
        spare.positive[..self.events].copy_from_slice(positive);
        self.evaluate(Side::Exact, spare, 1.0, values);
    }

    /// The weight of each cell in the whole table.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// ℓ₀ and ℓ₁ … ℓ_m: the indicators themselves.
    pub fn exact(&self, tally: &Tally) -> LossValues {
        self.values(Side::Exact, tally)
    }

    /// ℓ̃₀ and ℓ̃₁ … ℓ̃_m, for the surrogate that the tally was made with.
    pub fn proxy(&self, tally: &Tally) -> LossValues {
        self.values(Side::Proxy, tally)
    }

    fn values(&self, side: Side, tally: &Tally) -> LossValues {
        let (mut sums, mut values) = (Sums::default(), LossValues::default());
        sums.clear(side, self.events);
        for (cell, count) in tally.counts.iter().enumerate() {
            self.add(side, cell, count, &mut sums);
        }
        self.evaluate(side, &sums, 1.0, &mut values);
        values
    }

    /// The losses of rows with these counts, each of which stands for `scale` rows, without a tally: a
    /// minibatch has fewer rows than a problem may have cells.
    ///
    /// `pieces` says where the rows of each holder end; each piece is summed by itself, and the sums are added up
    /// in order.
    pub(crate) fn rows(
        &self,
        side: Side,
        mut rows: impl Iterator<Item = (u32, Count)>,
        pieces: &[usize],
        scale: f64,
        [all, piece]: &mut [Sums; 2],
        values: &mut LossValues,
    ) {
        let mut start = 0;
        all.clear(side, self.events);
        // The space of a second piece, which few minibatches have, before the first has one.
        piece.reserve(side, self.events);
        for (number, &end) in pieces.iter().enumerate() {
            let sums = if number == 0 { &mut *all } else { &mut *piece };
            if number > 0 {
                sums.clear(side, self.events);
            }
            let rows = rows.by_ref().take(end - start);
            rows.for_each(|(cell, count)| self.add(side, cell as usize, &count, sums));
            if number > 0 {
                all.merge(side, piece);
            }
            start = end;
        }
        self.evaluate(side, all, scale, values);
    }

    #[inline]
    fn add(&self, side: Side, cell: usize, count: &Count, sums: &mut Sums) {
        match side {
            Side::Exact if count.positive == 0.0 => {}
            Side::Exact => {
                self.members.each(cell, |event| sums.positive[event] += count.positive);
            }
            Side::Proxy if count.weight == 0.0 => {}
            Side::Proxy => self.members.each(cell, |event| {
                let (above, below) = &mut sums.surrogate[event];
                *above += count.above;
                *below += count.below - count.weight;
            }),
        }
    }

    fn evaluate(&self, side: Side, sums: &Sums, scale: f64, values: &mut LossValues) {
        let LossValues { objective, constraints } = values;
        constraints.clear();
        match side {
            Side::Exact => {
                let exact = &self.exact;
                let at = |event: u32| sums.positive[event as usize];
                let first = exact.of.iter().zip(&exact.by).zip(&self.constants);
                let mut first = first.map(|((of, by), constant)| {
                    constant + scale * (by[0] * at(of[0]) + by[1] * at(of[1]))
                });
                *objective = first.next().unwrap_or(0.0);
                constraints.extend(first);
                for (loss, rest) in &exact.long {
                    let terms =
                        exact.rest_of[rest.clone()].iter().zip(&exact.rest_by[rest.clone()]);
                    let more = scale * terms.map(|(&of, by)| by * at(of)).sum::<f64>();
                    match *loss as usize {
                        0 => *objective += more,
                        loss => constraints[loss - 1] += more,
                    }
                }
            }
            Side::Proxy => {
                let mut all =
                    self.starts.windows(2).zip(&self.constants).map(|(ends, constant)| {
                        let terms = self.terms[ends[0]..ends[1]].iter().map(|term| {
                            let (above, below) = sums.surrogate[term.event as usize];
                            term.down * above + term.up * below
                        });
                        constant + scale * terms.sum::<f64>()
                    });
                *objective = all.next().unwrap_or(0.0);
                constraints.extend(all);
            }
        }
    }

    /// How hard the Lagrangian, the losses times `lambda`, pushes each event.
    ///
    /// # Panics
    /// If there is not one multiplier for each constraint.
    pub fn pushes(&self, lambda: &Multipliers, pushes: &mut Pushes) {
        assert_eq!(lambda.constraints.len(), self.constraints(), "one multiplier a constraint");
        let Pushes { lambda: all, events } = pushes;
        all.clear();
        all.push(lambda.objective);
        all.extend_from_slice(&lambda.constraints);
        let all = &all[..];
        let term = |of: u32, by: &(f64, f64)| {
            let lambda = all[of as usize];
            (lambda * by.0, lambda * by.1)
        };
        let pushed = &self.pushed;
        events.clear();
        events.extend(pushed.of.iter().zip(&pushed.by).map(|(of, by)| term(of[0], &by[0])));
        events.push((0.0, 0.0));
        for (event, rest) in &pushed.long {
            // A thousand constraints share the event of all rows: four sums, so that none waits long.
            let (of, of_rest) = pushed.rest_of[rest.clone()].as_chunks::<4>();
            let (by, by_rest) = pushed.rest_by[rest.clone()].as_chunks::<4>();
            let mut sums = [(0.0, 0.0); 4];
            let fours = of.iter().zip(by).map(|(of, by)| (of.as_slice(), by.as_slice()));
            for (of, by) in fours.chain([(of_rest, by_rest)]) {
                for (sum, (&of, by)) in sums.iter_mut().zip(of.iter().zip(by)) {
                    let (down, up) = term(of, by);
                    *sum = (sum.0 + down, sum.1 + up);
                }
            }
            let [a, b, c, d] = sums;
            let event = &mut events[*event as usize];
            event.0 += (a.0 + b.0) + (c.0 + d.0);
            event.1 += (a.1 + b.1) + (c.1 + d.1);
        }
    }

    /// What a positive decision adds to the Lagrangian, the losses times `lambda`, in each event and unit of weight.
    ///
    /// # Panics
    /// If there is not one multiplier for each constraint.
    pub(crate) fn event_costs(&self, lambda: &Multipliers) -> Vec<f64> {
        assert_eq!(lambda.constraints.len(), self.constraints(), "one multiplier a constraint");
        let mut costs = vec![0.0; self.events];
        let all = std::iter::once(&lambda.objective).chain(&lambda.constraints);
        for (lambda, ends) in all.zip(self.starts.windows(2)).filter(|(lambda, _)| **lambda != 0.0)
        {
            for term in &self.terms[ends[0]..ends[1]] {
                costs[term.event as usize] += lambda * term.exact;
            }
        }
        costs
    }

    /// Asks for what is known of cells that are soon pushed or measured.
    pub(crate) fn fetch(&self, cells: &[u32]) {
        cells.iter().for_each(|&cell| self.members.fetch(cell as usize));
    }

    /// The push of one cell.
    pub fn push(&self, pushes: &Pushes, cell: usize) -> Push {
        let (mut down, mut up) = (0.0, 0.0);
        self.members.each(cell, |event| {
            down += pushes.events[event].0;
            up += pushes.events[event].1;
        });
        // Both are sums of non-negative numbers, but for the rounding of their differences.
        Push { down: down.max(0.0) as f32, up: up.max(0.0) as f32 }
    }

    /// The pushes of all cells.
    pub fn push_cells(&self, pushes: &Pushes) -> Vec<Push> {
        (0..self.cells()).map(|cell| self.push(pushes, cell)).collect()
    }

    /// The least and the most that the objective and each constraint can be, over all classifiers.
    pub fn ranges(&self) -> ((f64, f64), Vec<(f64, f64)>) {
        self.ranges_between(0.0, 1.0)
    }

    /// The least and the most that the proxies can be where h(f) and h(−f) lie between `low` and `high`.
    ///
    /// Between 0 and 1 lie the indicators themselves.
    pub fn ranges_between(&self, low: f64, high: f64) -> ((f64, f64), Vec<(f64, f64)>) {
        let mut sums = vec![0.0; self.events + 1];
        for (cell, weight) in self.weights.iter().enumerate() {
            self.members.each(cell, |event| sums[event] += weight);
        }
        let range = |loss: usize| {
            let terms = &self.terms[self.starts[loss]..self.starts[loss + 1]];
            let sum = |part: fn(&Term) -> f64| {
                terms.iter().map(|term| part(term) * sums[term.event as usize]).sum::<f64>()
            };
            let (down, up) = (sum(|term| term.down), sum(|term| term.up));
            let at = |h: f64| self.constants[loss] + h * down + (h - 1.0) * up;
            (at(low), at(high))
        };
        (range(0), (1..self.constants.len()).map(range).collect())
    }
}
