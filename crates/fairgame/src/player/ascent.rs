//! The constraint player of Algorithm 4 and of the one-dataset baseline: projected ascent.
//!
//! λ ← Π(λ + η·ℓ), with λ ∈ R₊^m, or in the baseline's {λ ∈ R₊^m : ‖λ‖₁ ≤ R}; the objective counts 1.
//! With Adam, the step is Adam's, as in the paper's experiments.

use super::ConstraintPlayer;
use crate::Result;
use crate::archive::{Arrays, Numbers};
use crate::optimize::{Memory, Optimizer};
use crate::rate::Multipliers;

/// Ascent on the multipliers of a Lagrangian.
#[derive(Debug, Clone, PartialEq)]
pub struct Ascent {
    optimizer: Optimizer,
    /// R, or `None` for all of R₊^m.
    radius: Option<f64>,
    memory: Memory<f64>,
    descent: Vec<f64>,
    /// λ, beside the objective's 1.
    played: Multipliers,
    /// Space to project in.
    sorted: Vec<f64>,
}

impl Ascent {
    /// From λ = 0, for that many constraints.
    pub fn new(constraints: usize, optimizer: Optimizer, radius: Option<f64>) -> Self {
        Ascent {
            optimizer,
            radius,
            memory: Memory::default(),
            descent: vec![0.0; constraints],
            played: Multipliers { objective: 1.0, constraints: vec![0.0; constraints] },
            sorted: Vec::with_capacity(constraints),
        }
    }
}

impl ConstraintPlayer for Ascent {
    fn play(&self) -> &Multipliers {
        &self.played
    }

    fn learn(&mut self, losses: &[f64]) {
        let lambda = &mut self.played.constraints;
        assert_eq!(losses.len(), lambda.len(), "one loss for each constraint");
        // The optimizers descend, so they are given what to descend.
        self.descent.iter_mut().zip(losses).for_each(|(slope, loss)| *slope = -loss);
        self.memory.step(&self.optimizer, lambda, &self.descent);
        lambda.iter_mut().for_each(|lambda| *lambda = lambda.max(0.0));
        if let Some(radius) = self.radius {
            into_ball(lambda, radius, &mut self.sorted);
        }
    }

    fn save(&self) -> Arrays {
        let mut arrays = Arrays::default();
        self.memory.save(&mut arrays);
        arrays.put("lambda", Numbers::F64(self.played.constraints.clone()));
        arrays
    }

    fn load(&mut self, mut arrays: Arrays) -> Result<()> {
        let constraints = self.played.constraints.len();
        self.memory = Memory::load(&mut arrays, &self.optimizer, constraints)?;
        self.played.constraints = arrays.take_f64("lambda", constraints)?;
        Ok(())
    }
}

/// The nearest point with non-negative items that add up to at most `radius` (Duchi et al. 2008): each
/// item less a threshold, and at least 0.
fn into_ball(lambda: &mut [f64], radius: f64, sorted: &mut Vec<f64>) {
    if lambda.iter().sum::<f64>() <= radius {
        return;
    }
    sorted.clear();
    sorted.extend_from_slice(lambda);
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let (mut sum, mut threshold) = (0.0, 0.0);
    for (before, item) in sorted.iter().enumerate() {
        sum += item;
        let candidate = (sum - radius) / (before + 1) as f64;
        if *item > candidate {
            threshold = candidate;
        }
    }
    lambda.iter_mut().for_each(|item| *item = (*item - threshold).max(0.0));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    #[test]
    fn violations_grow_and_met_constraints_stay_at_zero() {
        let mut player = Ascent::new(2, Optimizer::sgd(0.5), None);
        assert_eq!(player.play().constraints, [0.0, 0.0]);
        player.learn(&[0.2, -0.4]);
        player.learn(&[0.2, -0.4]);
        let played = player.play();
        assert!((played.constraints[0] - 0.2).abs() < 1e-12 && played.constraints[1] == 0.0);
        assert_eq!(played.objective, 1.0);
    }

    /// The projection is the nearest point of the ball: no other point of it is nearer.
    #[test]
    fn the_ball() {
        let mut stream = Stream::new(4, "ball");
        for _ in 0..200 {
            let point: Vec<f64> = (0..5).map(|_| stream.unit() * 3.0).collect();
            let mut projected = point.clone();
            into_ball(&mut projected, 2.0, &mut Vec::new());
            let sum: f64 = projected.iter().sum();
            assert!(sum <= 2.0 + 1e-9 && projected.iter().all(|&item| item >= 0.0));
            let distance = |other: &[f64]| -> f64 {
                point.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum()
            };
            for _ in 0..50 {
                let draw: Vec<f64> = (0..5).map(|_| -stream.unit().max(1e-9).ln()).collect();
                let total: f64 = draw.iter().sum();
                let scale = 2.0 * stream.unit() / total;
                let other: Vec<f64> = draw.iter().map(|x| x * scale).collect();
                assert!(distance(&projected) <= distance(&other) + 1e-9);
            }
        }
    }
}
