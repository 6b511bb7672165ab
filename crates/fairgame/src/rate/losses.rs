//! Losses as arithmetic on a tally.

use std::rc::Rc;

use super::set::Set;
use super::tally::{Count, Push, Tally};

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
    objective: Loss,
    constraints: Vec<Loss>,
}

/// The events of each cell: a list where most cells are in few, a bit each where they are in many.
#[derive(Debug, Clone, PartialEq)]
enum Members {
    /// The events of cell c are `events[starts[c]..starts[c + 1]]`.
    Lists { starts: Vec<usize>, events: Vec<u32> },
    /// Those of cell c are the bits of `words[c * width..(c + 1) * width]`.
    Bits { width: usize, words: Vec<u64> },
}

impl Members {
    fn new(cells: usize, sets: &[Rc<Set>]) -> Self {
        let width = sets.len().div_ceil(64);
        let total: usize = sets.iter().map(|set| set.len()).sum();
        if total > 2 * cells * width {
            let mut words = vec![0_u64; cells * width];
            for (event, set) in sets.iter().enumerate() {
                for cell in set.iter() {
                    words[cell as usize * width + event / 64] |= 1 << (event % 64);
                }
            }
            return Members::Bits { width, words };
        }
        let mut starts = vec![0; cells + 1];
        sets.iter().flat_map(|set| set.iter()).for_each(|cell| starts[cell as usize + 1] += 1);
        for cell in 0..cells {
            starts[cell + 1] += starts[cell];
        }
        let mut next = starts.clone();
        let mut events = vec![0; total];
        for (event, set) in sets.iter().enumerate() {
            for cell in set.iter() {
                events[next[cell as usize]] = event as u32;
                next[cell as usize] += 1;
            }
        }
        Members::Lists { starts, events }
    }

    /// Hands the events of a cell on, ascending.
    #[inline]
    fn each(&self, cell: usize, mut run: impl FnMut(usize)) {
        match self {
            Members::Lists { starts, events } => {
                events[starts[cell]..starts[cell + 1]]
                    .iter()
                    .for_each(|&event| run(event as usize));
            }
            Members::Bits { width, words } => {
                for (place, &word) in words[cell * width..(cell + 1) * width].iter().enumerate() {
                    let mut word = word;
                    while word != 0 {
                        run(place * 64 + word.trailing_zeros() as usize);
                        word &= word - 1;
                    }
                }
            }
        }
    }
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

impl Loss {
    fn exact(&self, sums: &[Count]) -> f64 {
        let terms = self.terms.iter().map(|term| term.exact * sums[term.event as usize].positive);
        self.constant + terms.sum::<f64>()
    }

    fn proxy(&self, sums: &[Count]) -> f64 {
        let terms = self.terms.iter().map(|term| {
            let sum = sums[term.event as usize];
            term.down * sum.above + term.up * (sum.below - sum.weight)
        });
        self.constant + terms.sum::<f64>()
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

impl Losses {
    pub(super) fn new(
        weights: Vec<f64>,
        sets: &[Rc<Set>],
        objective: Loss,
        constraints: Vec<Loss>,
    ) -> Self {
        let (events, members) = (sets.len(), Members::new(weights.len(), sets));
        Losses { weights, members, events, objective, constraints }
    }

    /// How many cells there are.
    pub fn cells(&self) -> usize {
        self.weights.len()
    }

    /// How many constraints there are.
    pub fn constraints(&self) -> usize {
        self.constraints.len()
    }

    /// The weight of each cell in the whole table.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The tally summed over each event.
    fn sums(&self, tally: &Tally) -> Vec<Count> {
        let mut sums = vec![Count::default(); self.events];
        for (cell, count) in tally.counts.iter().enumerate() {
            // Most cells are not in a minibatch.
            if count.weight > 0.0 {
                self.members.each(cell, |event| sums[event] += *count);
            }
        }
        sums
    }

    /// ℓ₀ and ℓ₁ … ℓ_m: the indicators themselves.
    pub fn exact(&self, tally: &Tally) -> LossValues {
        let sums = self.sums(tally);
        LossValues {
            objective: self.objective.exact(&sums),
            constraints: self.constraints.iter().map(|loss| loss.exact(&sums)).collect(),
        }
    }

    /// ℓ̃₀ and ℓ̃₁ … ℓ̃_m, for the surrogate that the tally was made with.
    pub fn proxy(&self, tally: &Tally) -> LossValues {
        let sums = self.sums(tally);
        LossValues {
            objective: self.objective.proxy(&sums),
            constraints: self.constraints.iter().map(|loss| loss.proxy(&sums)).collect(),
        }
    }

    /// How hard the Lagrangian, the losses times `lambda`, pushes each event.
    ///
    /// # Panics
    /// If there is not one multiplier for each constraint.
    pub fn pushes(&self, lambda: &Multipliers, pushes: &mut Pushes) {
        let Multipliers { objective, constraints: lambda } = lambda;
        assert_eq!(lambda.len(), self.constraints.len(), "one multiplier for each constraint");
        pushes.events.clear();
        pushes.events.resize(self.events, (0.0, 0.0));
        let losses = std::iter::once(&self.objective).chain(&self.constraints);
        for (loss, &by) in losses.zip(std::iter::once(objective).chain(lambda)) {
            if by != 0.0 {
                for term in &loss.terms {
                    let (down, up) = &mut pushes.events[term.event as usize];
                    *down += by * term.down;
                    *up += by * term.up;
                }
            }
        }
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
        let mut sums = vec![0.0; self.events];
        for (cell, weight) in self.weights.iter().enumerate() {
            self.members.each(cell, |event| sums[event] += weight);
        }
        let range = |loss: &Loss| {
            let sum = |part: fn(&Term) -> f64| {
                loss.terms.iter().map(|term| part(term) * sums[term.event as usize]).sum::<f64>()
            };
            (loss.constant - sum(|term| term.up), loss.constant + sum(|term| term.down))
        };
        (range(&self.objective), self.constraints.iter().map(range).collect())
    }
}
