//! Optimizers on flat slices: plain steps, and Adam.
//!
//! Both minimise: they move parameters against a gradient. A player that maximises hands over the
//! gradient with its sign changed.

use serde::{Deserialize, Serialize};

use crate::{Error, ErrorKind, Result};

/// How to step, and how far.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Optimizer {
    /// θ ← θ − η·g.
    Sgd {
        /// η.
        step: f64,
    },
    /// Adam (Kingma and Ba 2015): m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g²,
    /// θ ← θ − η·m̂ / (√v̂ + ε) with m̂ = m/(1−β₁ᵗ), v̂ = v/(1−β₂ᵗ).
    Adam {
        /// η.
        step: f64,
        /// β₁.
        momentum: f64,
        /// β₂.
        memory: f64,
        /// ε.
        floor: f64,
    },
}

impl Optimizer {
    /// Adam with the defaults of its paper, which the experiments use: β₁ 0.9, β₂ 0.999, ε 1e-8.
    pub fn adam(step: f64) -> Self {
        Optimizer::Adam { step, momentum: 0.9, memory: 0.999, floor: 1e-8 }
    }

    /// Plain steps.
    pub fn sgd(step: f64) -> Self {
        Optimizer::Sgd { step }
    }
}

impl Optimizer {
    /// Refuses settings that no step can be taken with.
    pub fn check(&self) -> Result<()> {
        let share = |number: f64| (0.0..1.0).contains(&number);
        let sound = match *self {
            Optimizer::Sgd { step } => step.is_finite() && step > 0.0,
            Optimizer::Adam { step, momentum, memory, floor } => {
                let positive = |number: f64| number.is_finite() && number > 0.0;
                positive(step) && share(momentum) && share(memory) && positive(floor)
            }
        };
        if sound {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Settings, format!("{self:?} cannot take a step"))
            .help("a step and a floor are above 0, momentum and memory from 0 to below 1"))
    }
}

impl Default for Optimizer {
    /// Adam with a step of 0.001.
    fn default() -> Self {
        Optimizer::adam(1e-3)
    }
}

/// What an optimizer remembers from step to step; all of it is needed to resume a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// How many steps were taken.
    pub steps: u64,
    /// m, empty where the optimizer has none.
    pub mean: Vec<f32>,
    /// v, likewise.
    pub square: Vec<f32>,
}

impl Memory {
    /// Moves parameters one step against their gradient.
    ///
    /// ```
    /// use fairgame::optimize::{Memory, Optimizer};
    /// let (mut theta, mut memory) = ([1.0], Memory::default());
    /// memory.step(&Optimizer::adam(0.1), &mut theta, &[4.0]);
    /// // The first step of Adam is η, whatever the size of the gradient.
    /// assert!((theta[0] - 0.9).abs() < 1e-6);
    /// ```
    ///
    /// # Panics
    /// If the slices differ in length from each other, or from those of earlier steps.
    pub fn step(&mut self, optimizer: &Optimizer, parameters: &mut [f32], gradient: &[f32]) {
        assert_eq!(parameters.len(), gradient.len(), "one slope for each parameter");
        self.steps += 1;
        match *optimizer {
            Optimizer::Sgd { step } => {
                let step = step as f32;
                parameters.iter_mut().zip(gradient).for_each(|(p, g)| *p -= step * g);
            }
            Optimizer::Adam { step, momentum, memory, floor } => {
                if self.mean.is_empty() {
                    self.mean = vec![0.0; parameters.len()];
                    self.square = vec![0.0; parameters.len()];
                }
                assert_eq!(self.mean.len(), parameters.len(), "the parameters of earlier steps");
                assert_eq!(self.square.len(), parameters.len(), "the parameters of earlier steps");
                let turns = self.steps as f64;
                let unbiased = step / (1.0 - momentum.powf(turns));
                let spread = 1.0 / (1.0 - memory.powf(turns)).sqrt();
                let by = Steps {
                    step: unbiased as f32,
                    spread: spread as f32,
                    momentum: momentum as f32,
                    memory: memory as f32,
                    floor: floor as f32,
                };
                by.adam(parameters, gradient, &mut self.mean, &mut self.square);
            }
        }
    }
}

/// One turn's factors.
struct Steps {
    step: f32,
    spread: f32,
    momentum: f32,
    memory: f32,
    floor: f32,
}

impl Steps {
    fn adam(&self, parameters: &mut [f32], gradient: &[f32], mean: &mut [f32], square: &mut [f32]) {
        /// Moments of features that are rarely on decay into subnormal numbers, which are slow.
        const TINY: f32 = 1e-30;
        /// The square of a larger slope would be infinite, and no later step would move again.
        const STEEP: f32 = 1e18;
        let moments = mean.iter_mut().zip(square);
        for ((p, g), (m, v)) in parameters.iter_mut().zip(gradient).zip(moments) {
            let g = g.clamp(-STEEP, STEEP);
            let mean = self.momentum * *m + (1.0 - self.momentum) * g;
            let square = self.memory * *v + (1.0 - self.memory) * g * g;
            *m = if mean.abs() < TINY { 0.0 } else { mean };
            *v = if square < TINY { 0.0 } else { square };
            *p -= self.step * *m / (v.sqrt() * self.spread + self.floor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three steps of Adam in f64, by the paper's pseudocode.
    #[test]
    fn adam_is_the_papers() {
        let gradients = [[0.5, -2.0], [0.25, 1.0], [-1.0, 0.0]];
        let (mut theta, mut memory) = ([0.1, 0.2], Memory::default());
        let (mut wanted, mut m, mut v) = ([0.1_f64, 0.2], [0.0_f64; 2], [0.0_f64; 2]);
        for (turn, gradient) in gradients.iter().enumerate() {
            memory.step(&Optimizer::adam(0.01), &mut theta, &gradient.map(|g| g as f32));
            let t = turn as i32 + 1;
            for i in 0..2 {
                m[i] = 0.9 * m[i] + 0.1 * gradient[i];
                v[i] = 0.999 * v[i] + 0.001 * gradient[i] * gradient[i];
                let (mean, square) =
                    (m[i] / (1.0 - 0.9_f64.powi(t)), v[i] / (1.0 - 0.999_f64.powi(t)));
                wanted[i] -= 0.01 * mean / (square.sqrt() + 1e-8);
                assert!((f64::from(theta[i]) - wanted[i]).abs() < 1e-6, "{theta:?} {wanted:?}");
            }
        }
    }

    #[test]
    fn sgd_steps_against_the_gradient() {
        let (mut theta, mut memory) = ([1.0, 2.0], Memory::default());
        memory.step(&Optimizer::sgd(0.5), &mut theta, &[1.0, -1.0]);
        assert_eq!(theta, [0.5, 2.5]);
    }
}
