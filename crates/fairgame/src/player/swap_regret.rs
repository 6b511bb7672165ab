//! The constraint player of Algorithms 1 to 3: multiplicative weights on a left-stochastic matrix M.
//!
//! Turn t plays the fixed point λ = Mλ, sees Δ = (0, ℓ₁, …, ℓ_m), and sets
//!
//! ```text
//! M[i][j] ← M[i][j] · exp(η · Δ_i · λ_j),   each column renormalised,
//! ```
//!
//! which is the KL projection onto left-stochastic matrices. With the η of the theorems
//! ([`crate::bounds::swap_regret_step`]) its average swap regret after T turns is at most
//! 2·B·√((m+1)·ln(m+1)/T).
//!
//! M is kept as logarithms, because the exponents only ever grow. Departures from the pseudocode, each a
//! choice of [`SwapRegretSpec`]: Adam on log M in place of the plain step, as the paper's experiments do;
//! a start in which the objective has most of the weight; a floor under the entries of M, below which
//! a constraint that was met for long would take as long to be heard again.
//!
//! The fixed point is found by the elimination of Grassmann, Taksar and Heyman (1985), which subtracts
//! nothing and so loses no digits, and has no tolerance to tune.

use serde::{Deserialize, Serialize};

use super::ConstraintPlayer;
use crate::rate::Multipliers;

/// How the player starts and learns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SwapRegretSpec {
    /// How M moves.
    pub update: Update,
    /// Where M starts.
    pub start: Start,
    /// Entries of M are at least this over m + 1.
    pub floor: f64,
}

impl Default for SwapRegretSpec {
    /// As in the paper's experiments: Adam with a step of 0.001, a uniform start, a floor of 0.001.
    fn default() -> Self {
        SwapRegretSpec { update: Update::Adam { step: 1e-3 }, start: Start::Uniform, floor: 1e-3 }
    }
}

/// How M moves.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Update {
    /// As in the pseudocode: `log M[i][j]` grows by η·Δ_i·λ_j.
    Multiplicative {
        /// η.
        step: f64,
    },
    /// Adam on log M, with the defaults of its paper but for the step.
    Adam {
        /// η.
        step: f64,
    },
}

/// Where M starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// Every entry is 1/(m + 1).
    Uniform,
    /// The objective's row is near 1, so that training begins unconstrained.
    Objective,
}

/// Multiplicative weights on a left-stochastic matrix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SwapRegret {
    spec: SwapRegretSpec,
    size: usize,
    /// log M, column by column.
    log: Vec<f64>,
    /// Adam's moments, empty for plain updates, and the turns taken.
    mean: Vec<f64>,
    square: Vec<f64>,
    turns: u64,
    #[serde(skip, default = "nothing")]
    played: Multipliers,
    #[serde(skip)]
    work: Vec<f64>,
}

fn nothing() -> Multipliers {
    Multipliers { objective: 1.0, constraints: Vec::new() }
}

impl SwapRegret {
    /// The player for that many constraints.
    pub fn new(constraints: usize, spec: SwapRegretSpec) -> Self {
        let size = constraints + 1;
        let mut log = vec![0.0; size * size];
        if spec.start == Start::Objective {
            // All but a floor's worth of each column is the objective's.
            let others = (spec.floor.max(1e-12) / size as f64).ln();
            for column in log.chunks_exact_mut(size) {
                column[1..].fill(others);
            }
        }
        let moments = match spec.update {
            Update::Multiplicative { .. } => 0,
            Update::Adam { .. } => log.len(),
        };
        let mut player = SwapRegret {
            spec,
            size,
            log,
            mean: vec![0.0; moments],
            square: vec![0.0; moments],
            turns: 0,
            played: nothing(),
            work: Vec::new(),
        };
        player.renormalise();
        player
    }

    /// The entry of row i and column j of M.
    pub fn entry(&self, row: usize, column: usize) -> f64 {
        self.log[column * self.size + row].exp()
    }

    /// Makes each column a distribution again, with no entry below the floor.
    fn renormalise(&mut self) {
        let floor = (self.spec.floor / self.size as f64).ln();
        for column in self.log.chunks_exact_mut(self.size) {
            normalise(column);
            if column.iter().any(|&entry| entry < floor) {
                column.iter_mut().for_each(|entry| *entry = entry.max(floor));
                normalise(column);
            }
        }
    }
}

/// Subtracts log Σ exp, so that the exponentials add up to 1.
fn normalise(column: &mut [f64]) {
    let most = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = column.iter().map(|entry| (entry - most).exp()).sum();
    let shift = most + sum.ln();
    column.iter_mut().for_each(|entry| *entry -= shift);
}

impl ConstraintPlayer for SwapRegret {
    fn play(&mut self) -> &Multipliers {
        self.work.clear();
        self.work.extend(self.log.iter().map(|entry| entry.exp()));
        let lambda = fixed_point(&mut self.work, self.size);
        self.played.objective = lambda[0];
        self.played.constraints.clear();
        self.played.constraints.extend_from_slice(&lambda[1..]);
        &self.played
    }

    fn learn(&mut self, losses: &[f64]) {
        assert_eq!(losses.len() + 1, self.size, "one loss for each constraint");
        if self.played.constraints.len() != losses.len() {
            self.play();
        }
        self.turns += 1;
        let lambda = |j: usize| match j {
            0 => self.played.objective,
            j => self.played.constraints[j - 1],
        };
        // Row 0, the objective's, has Δ = 0: only renormalising moves it.
        let delta = |i: usize| if i == 0 { 0.0 } else { losses[i - 1] };
        match self.spec.update {
            Update::Multiplicative { step } => {
                for (j, column) in self.log.chunks_exact_mut(self.size).enumerate() {
                    let by = step * lambda(j);
                    column.iter_mut().enumerate().for_each(|(i, entry)| *entry += by * delta(i));
                }
            }
            Update::Adam { step } => {
                let (momentum, memory, least) = (0.9, 0.999, 1e-8);
                let turns = self.turns as f64;
                let step = step / (1.0 - f64::powf(momentum, turns));
                let spread = 1.0 / (1.0 - f64::powf(memory, turns)).sqrt();
                for (at, entry) in self.log.iter_mut().enumerate() {
                    let slope = delta(at % self.size) * lambda(at / self.size);
                    let (mean, square) = (&mut self.mean[at], &mut self.square[at]);
                    *mean = momentum * *mean + (1.0 - momentum) * slope;
                    *square = memory * *square + (1.0 - memory) * slope * slope;
                    *entry += step * *mean / (square.sqrt() * spread + least);
                }
            }
        }
        self.renormalise();
    }
}

/// λ = Mλ for a left-stochastic M, column by column, which is used up; λ is left in its first column.
///
/// M[i][j] is the chance to go from j to i, so λ is the stationary distribution of a Markov chain. States
/// are taken out one by one from the last, and their chances passed on; no difference is ever formed.
fn fixed_point(matrix: &mut [f64], size: usize) -> &[f64] {
    for last in (1..size).rev() {
        let (before, column) = matrix.split_at_mut(last * size);
        let leave: f64 = column[..last].iter().sum();
        // A state that is never left keeps all the weight that reaches it: a trap, and the fixed point.
        if leave <= 0.0 {
            matrix[..size].fill(0.0);
            matrix[last] = 1.0;
            return &matrix[..size];
        }
        for from in before.chunks_exact_mut(size) {
            // How often `last` is visited for each visit of `from`.
            from[last] /= leave;
            let visits = from[last];
            for (to, chance) in from[..last].iter_mut().zip(&column[..last]) {
                *to += visits * chance;
            }
        }
    }
    // Visits to each state for one visit of the first.
    let mut visits = vec![1.0; size];
    for state in 1..size {
        visits[state] = (0..state).map(|from| visits[from] * matrix[from * size + state]).sum();
    }
    let total: f64 = visits.iter().sum();
    for (into, visits) in matrix.iter_mut().zip(&visits) {
        *into = visits / total;
    }
    &matrix[..size]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds;
    use crate::random::Stream;

    fn residual(player: &mut SwapRegret) -> f64 {
        let size = player.size;
        let played = player.play().clone();
        let lambda: Vec<f64> =
            std::iter::once(played.objective).chain(played.constraints).collect();
        assert!((lambda.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(lambda.iter().all(|&weight| weight >= 0.0));
        (0..size)
            .map(|i| {
                let mapped: f64 = (0..size).map(|j| player.entry(i, j) * lambda[j]).sum();
                (mapped - lambda[i]).abs()
            })
            .fold(0.0, f64::max)
    }

    /// Mλ = λ to 1e-12, for random matrices, and columns that are nearly 0 or 1.
    #[test]
    fn fixed_points_are_fixed() {
        let mut stream = Stream::new(1, "matrix");
        for constraints in [1, 2, 8, 30] {
            for sharp in [0.1, 1.0, 20.0, 200.0] {
                let spec = SwapRegretSpec { floor: 0.0, ..SwapRegretSpec::default() };
                let mut player = SwapRegret::new(constraints, spec);
                player.log.iter_mut().for_each(|entry| *entry = (stream.unit() - 0.5) * sharp);
                player.renormalise();
                assert!(residual(&mut player) < 1e-12, "{constraints} {sharp}");
            }
        }
    }

    /// By hand: from 1 to 2 with chance 0.2, back with 0.1, so λ = (1/3, 2/3).
    #[test]
    fn by_hand() {
        let lambda = fixed_point(&mut [0.8, 0.2, 0.1, 0.9], 2).to_vec();
        assert!((lambda[0] - 1.0 / 3.0).abs() < 1e-15 && (lambda[1] - 2.0 / 3.0).abs() < 1e-15);
        assert_eq!(fixed_point(&mut [0.5, 0.5, 0.0, 1.0], 2), [0.0, 1.0]);
    }

    /// The swap regret: what the best matrix M* applied to every λ would have gained on average.
    fn average_swap_regret(history: &[(Vec<f64>, Vec<f64>)]) -> f64 {
        let size = history[0].0.len();
        let turns = history.len() as f64;
        let gain = |from: usize, to: usize| -> f64 {
            history.iter().map(|(lambda, delta)| lambda[from] * delta[to]).sum::<f64>() / turns
        };
        (0..size)
            .map(|from| {
                let best = (0..size).map(|to| gain(from, to)).fold(f64::NEG_INFINITY, f64::max);
                best - gain(from, from)
            })
            .sum()
    }

    /// With the theorem's step, the regret is below the lemma's bound: against random losses, and
    /// against an adversary that always punishes what is played most.
    #[test]
    fn swap_regret_is_below_the_bound() {
        for constraints in [1, 8, 30] {
            let turns = 2000;
            let step = bounds::swap_regret_step(constraints, f64::from(turns), 1.0);
            let bound = bounds::swap_regret(constraints, f64::from(turns), 1.0);
            for adversary in 0..3 {
                let update = Update::Multiplicative { step };
                let spec = SwapRegretSpec { update, start: Start::Uniform, floor: 0.0 };
                let mut player = SwapRegret::new(constraints, spec);
                let mut stream = Stream::new(adversary, "losses");
                let mut history = Vec::new();
                for turn in 0..turns {
                    let played = player.play().clone();
                    let lambda: Vec<f64> =
                        std::iter::once(played.objective).chain(played.constraints).collect();
                    let most = (1..lambda.len()).max_by(|&a, &b| lambda[a].total_cmp(&lambda[b]));
                    let losses: Vec<f64> = (1..lambda.len())
                        .map(|i| match adversary {
                            0 => stream.unit() * 2.0 - 1.0,
                            1 if Some(i) == most => -1.0,
                            1 => 1.0,
                            _ => {
                                if (turn / 50 + i as i32) % 2 == 0 {
                                    1.0
                                } else {
                                    -1.0
                                }
                            }
                        })
                        .collect();
                    player.learn(&losses);
                    let delta = std::iter::once(0.0).chain(losses).collect();
                    history.push((lambda, delta));
                }
                let regret = average_swap_regret(&history);
                assert!(regret <= bound, "m = {constraints}, {adversary}: {regret} above {bound}");
            }
        }
    }

    /// A million extreme updates leave numbers, and a fixed point.
    #[test]
    fn extremes_leave_numbers() {
        for update in [Update::Multiplicative { step: 1.0 }, Update::Adam { step: 0.1 }] {
            for floor in [0.0, 1e-3] {
                let spec = SwapRegretSpec { update, start: Start::Objective, floor };
                let mut player = SwapRegret::new(3, spec);
                for turn in 0..250_000_u32 {
                    let sign = if turn / 1000 % 2 == 0 { 1.0 } else { -1.0 };
                    player.learn(&[1e3 * sign, -1e3, f64::from(turn % 7) - 3.0]);
                    if turn % 50 == 0 {
                        player.play();
                    }
                }
                assert!(player.log.iter().all(|entry| !entry.is_nan()), "{update:?}");
                assert!(residual(&mut player) < 1e-12, "{update:?} {floor}");
            }
        }
    }

    /// A violated constraint gains weight, from either start; one that is met loses it.
    #[test]
    fn violations_gain_weight() {
        for start in [Start::Uniform, Start::Objective] {
            let mut player =
                SwapRegret::new(2, SwapRegretSpec { start, ..SwapRegretSpec::default() });
            let before = player.play().clone();
            // Adam moves log M by its step each turn: from the floor, 0.001/3, it is 8,000 turns to 1.
            for _ in 0..12_000 {
                player.play();
                player.learn(&[0.3, -0.3]);
            }
            let after = player.play();
            assert!(after.constraints[0] > before.constraints[0] + 0.3);
            assert!(after.constraints[1] <= before.constraints[1] + 1e-9);
        }
    }
}
