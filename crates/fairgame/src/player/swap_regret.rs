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
//! M is kept as logarithms, because the exponents only ever grow; there the update is a plain step along
//! Δλᵀ. Departures from the pseudocode, each a choice of [`SwapRegretSpec`]: Adam on log M in place of the
//! plain step, as the paper's experiments do; a start in which the objective has all weight but the floor; a
//! floor under the entries of M, below which a constraint that was met for long would take as long to be
//! heard again. The last two are those of the authors' library, TensorFlow Constrained Optimization, on which the
//! paper's experiments are based: its `MultiplicativeSwapRegretOptimizer` floors entries at 1e-3/(m + 1)
//! (`minimum_multiplier_radius`), and begins with each constraint's entries there and the rest on the objective
//! (`initial_multiplier_radius`).
//!
//! The fixed point is found by the elimination of Grassmann, Taksar and Heyman (1985), which subtracts
//! nothing and so loses no digits, and has no tolerance to tune. It takes (m+1)³/3 steps. From
//! [`LARGE`] on, the last turn's λ is first tried as a start: M moves little in a turn, so that λ ← Mλ,
//! at (m+1)² each time, mostly ends after a few times where rounding moves it no more.

use super::ConstraintPlayer;
use crate::Result;
use crate::archive::{Arrays, Numbers};
use crate::optimize::{Memory, Optimizer};
use crate::rate::Multipliers;
use crate::settings::{self, declare};

/// The size of M from which on the last fixed point is tried first.
const LARGE: usize = 64;

declare! {
    /// How the player starts and learns: from uniform, as in the paper's pseudocode, with the optimizer of its experiments
    /// and the floor of its authors' library.
    #[derive(Copy)]
    pub struct SwapRegretSpec {
        /// Optimizer of log M; plain steps are the multiplicative updates of the pseudocode.
        pub optimizer: Optimizer = with(Optimizer::default()).flag("optimizer"),
        /// Where M starts.
        pub start: Start = with(Start::Uniform),
        /// Smallest entry of M, times m + 1.
        pub floor: f64 = with(1e-3).below(0.0, 1.0),
    }
}

impl SwapRegretSpec {
    /// The player of the theorems: multiplicative updates with step η, from uniform, without a floor.
    pub fn multiplicative(step: f64) -> Self {
        SwapRegretSpec { optimizer: Optimizer::sgd(step), start: Start::Uniform, floor: 0.0 }
    }

    /// Refuses settings that no game can be played with.
    pub fn check(&self) -> Result<()> {
        settings::check(self)
    }
}

declare! {
    /// Where M starts.
    #[derive(Copy, Eq)]
    pub enum Start {
        /// Every entry is 1/(m + 1).
        Uniform = "uniform",
        /// The objective has all weight but the floor, so that training begins unconstrained: each constraint's entries are
        /// floor/(m + 1), as in the library of the paper's authors.
        Objective = "objective",
    }
}

/// Multiplicative weights on a left-stochastic matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct SwapRegret {
    spec: SwapRegretSpec,
    size: usize,
    /// log M, column by column.
    log: Vec<f64>,
    /// M.
    matrix: Vec<f64>,
    memory: Memory<f64>,
    /// −Δλᵀ, for optimizers that descend.
    slopes: Vec<f64>,
    /// λ, the objective's weight first.
    lambda: Vec<f64>,
    played: Multipliers,
    /// Space to find the fixed point in.
    work: Vec<f64>,
}

impl SwapRegret {
    /// The player for that many constraints.
    pub fn new(constraints: usize, spec: SwapRegretSpec) -> Self {
        let size = constraints + 1;
        let mut log = vec![0.0; size * size];
        if spec.start == Start::Objective {
            // All but the floor of each column is the objective's.
            let floor = spec.floor.max(1e-12) / size as f64;
            for column in log.chunks_exact_mut(size) {
                column[0] = (1.0 - constraints as f64 * floor).ln();
                column[1..].fill(floor.ln());
            }
        }
        let mut player = SwapRegret {
            spec,
            size,
            matrix: log.clone(),
            slopes: vec![0.0; log.len()],
            log,
            memory: Memory::default(),
            lambda: vec![1.0 / size as f64; size],
            played: Multipliers { objective: 0.0, constraints: vec![0.0; constraints] },
            work: Vec::new(),
        };
        player.renormalise();
        player
    }

    /// The entry of row i and column j of M.
    pub fn entry(&self, row: usize, column: usize) -> f64 {
        self.matrix[column * self.size + row]
    }

    /// Makes each column a distribution again, with no entry below the floor, and λ its fixed point.
    fn renormalise(&mut self) {
        let floor = (self.spec.floor / self.size as f64).ln();
        let columns = self.log.chunks_exact_mut(self.size);
        for (column, into) in columns.zip(self.matrix.chunks_exact_mut(self.size)) {
            normalise(column, into);
            if column.iter().any(|&entry| entry < floor) {
                column.iter_mut().for_each(|entry| *entry = entry.max(floor));
                normalise(column, into);
            }
        }
        if self.size < LARGE || !settle(&self.matrix, &mut self.lambda, &mut self.work) {
            self.work.clear();
            self.work.extend_from_slice(&self.matrix);
            fixed_point(&mut self.work, &mut self.lambda);
        }
        self.played.objective = self.lambda[0];
        self.played.constraints.copy_from_slice(&self.lambda[1..]);
    }
}

/// Subtracts log Σ exp, so that the exponentials, which are written to `into`, add up to 1.
fn normalise(column: &mut [f64], into: &mut [f64]) {
    let most = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for (entry, into) in column.iter().zip(&mut *into) {
        *into = (entry - most).exp();
        sum += *into;
    }
    let shift = most + sum.ln();
    for (entry, into) in column.iter_mut().zip(into) {
        *entry -= shift;
        *into /= sum;
    }
}

impl ConstraintPlayer for SwapRegret {
    fn play(&self) -> &Multipliers {
        &self.played
    }

    fn learn(&mut self, losses: &[f64]) {
        assert_eq!(losses.len() + 1, self.size, "one loss for each constraint");
        for (column, by) in self.slopes.chunks_exact_mut(self.size).zip(&self.lambda) {
            // Row 0, the objective's, has Δ = 0: only renormalising moves it.
            column[1..].iter_mut().zip(losses).for_each(|(slope, loss)| *slope = -loss * by);
        }
        self.memory.step(&self.spec.optimizer, &mut self.log, &self.slopes);
        self.renormalise();
    }

    fn save(&self) -> Arrays {
        let mut arrays = Arrays::default();
        self.memory.save(&mut arrays);
        arrays.put("log", Numbers::F64(self.log.clone()));
        arrays.put("matrix", Numbers::F64(self.matrix.clone()));
        arrays.put("lambda", Numbers::F64(self.lambda.clone()));
        arrays
    }

    fn load(&mut self, mut arrays: Arrays) -> Result<()> {
        let entries = self.log.len();
        self.memory = Memory::load(&mut arrays, &self.spec.optimizer, entries)?;
        self.log = arrays.take_f64("log", entries)?;
        self.matrix = arrays.take_f64("matrix", entries)?;
        self.lambda = arrays.take_f64("lambda", self.size)?;
        self.played.objective = self.lambda[0];
        self.played.constraints.copy_from_slice(&self.lambda[1..]);
        Ok(())
    }
}

/// λ ← Mλ until it stays, from where it is; whether it did after a few times.
fn settle(matrix: &[f64], lambda: &mut [f64], work: &mut Vec<f64>) -> bool {
    /// An elimination costs about as much as `lambda.len() / 3` of these.
    const TIMES: usize = 20;
    work.resize(lambda.len(), 0.0);
    for _ in 0..TIMES {
        work[..lambda.len()].fill(0.0);
        for (column, by) in matrix.chunks_exact(lambda.len()).zip(&*lambda) {
            work.iter_mut().zip(column).for_each(|(sum, entry)| *sum += by * entry);
        }
        let total: f64 = work[..lambda.len()].iter().sum();
        let mut moved = 0.0;
        for (lambda, sum) in lambda.iter_mut().zip(&*work) {
            let next = sum / total;
            moved += (next - *lambda).abs();
            *lambda = next;
        }
        if moved < 1e-14 {
            return true;
        }
    }
    false
}

/// λ = Mλ for a left-stochastic M, column by column, which is used up.
///
/// `M[i][j]` is the chance to go from j to i, so λ is the stationary distribution of a Markov chain. States
/// are taken out one by one from the last, and their chances passed on; no difference is ever formed.
fn fixed_point(matrix: &mut [f64], lambda: &mut [f64]) {
    /// A chance that is smaller is none: what is divided by it would be beyond all numbers.
    const NEVER: f64 = 1e-150;
    /// Visits that are more are counted in a larger unit.
    const MANY: f64 = 1e100;
    let size = lambda.len();
    let mut first = 0;
    for last in (1..size).rev() {
        let (before, column) = matrix.split_at_mut(last * size);
        let leave: f64 = column[..last].iter().sum();
        // A state that never goes to one before it, directly or by those after it, which are taken out
        // already: all weight ends with it and those after it.
        if leave < NEVER {
            first = last;
            break;
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
    lambda.fill(0.0);
    lambda[first] = 1.0;
    for state in first + 1..size {
        let visits = (first..state).map(|from| lambda[from] * matrix[from * size + state]).sum();
        lambda[state] = visits;
        if visits > MANY {
            lambda[..=state].iter_mut().for_each(|weight| *weight /= visits);
        }
    }
    let total: f64 = lambda.iter().sum();
    lambda.iter_mut().for_each(|weight| *weight /= total);
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
        for constraints in [1, 2, 8, 30, 100] {
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
        let mut lambda = [0.0; 2];
        fixed_point(&mut [0.8, 0.2, 0.1, 0.9], &mut lambda);
        assert!((lambda[0] - 1.0 / 3.0).abs() < 1e-15 && (lambda[1] - 2.0 / 3.0).abs() < 1e-15);
        fixed_point(&mut [0.5, 0.5, 0.0, 1.0], &mut lambda);
        assert_eq!(lambda, [0.0, 1.0]);
        // The last two only go to each other: both keep weight, the first none.
        let mut lambda = [0.0; 3];
        fixed_point(&mut [0.2, 0.4, 0.4, 0.0, 0.5, 0.5, 0.0, 0.5, 0.5], &mut lambda);
        assert_eq!(lambda, [0.0, 0.5, 0.5]);
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
                let mut player = SwapRegret::new(constraints, SwapRegretSpec::multiplicative(step));
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
        for optimizer in [Optimizer::sgd(1.0), Optimizer::adam(0.1)] {
            for floor in [0.0, 1e-3] {
                let spec = SwapRegretSpec { optimizer, start: Start::Objective, floor };
                let mut player = SwapRegret::new(3, spec);
                for turn in 0..250_000_u32 {
                    let sign = if turn / 1000 % 2 == 0 { 1.0 } else { -1.0 };
                    player.learn(&[1e3 * sign, -1e3, f64::from(turn % 7) - 3.0]);
                }
                assert!(player.log.iter().all(|entry| !entry.is_nan()), "{optimizer:?}");
                assert!(residual(&mut player) < 1e-12, "{optimizer:?} {floor}");
            }
        }
    }

    /// Constraints that are violated at every turn, as those of an infeasible problem are: what the others
    /// keep of M falls through all of the numbers that there are, and λ stays a distribution and fixed.
    #[test]
    fn what_is_never_met_leaves_a_distribution() {
        for (constraints, violated) in [(1, 1), (2, 1), (2, 2), (8, 1), (8, 3), (30, 30)] {
            for step in [0.05, 0.9, 20.0] {
                let mut player = SwapRegret::new(constraints, SwapRegretSpec::multiplicative(step));
                let losses: Vec<f64> =
                    (0..constraints).map(|i| if i < violated { 1.0 } else { -0.1 }).collect();
                let turns = if constraints == 30 { 300 } else { 2_000 };
                for turn in 0..turns * if step < 0.1 { 15 } else { 1 } {
                    player.learn(&losses);
                    if turn % 100 == 0 {
                        let off = residual(&mut player);
                        assert!(off < 1e-12, "{constraints} {violated} {step} {turn}: {off}");
                    }
                }
                let kept: f64 = player.play().constraints[..violated].iter().sum();
                assert!(kept > 0.99, "{constraints} {violated} {step}: {kept}");
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
