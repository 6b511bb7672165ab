//! Optimizers on flat slices: plain steps, and Adam.
//!
//! Both minimise: they move parameters against a gradient. A player that maximises hands over the
//! gradient with its sign changed. The model's parameters are f32, the constraint players' f64; one
//! implementation serves both.

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

use crate::Result;
use crate::archive::{Arrays, Numbers};
use crate::settings::{self, declare};
use crate::wide::wide;

declare! {
    /// How to step, and how far.
    ///
    /// Adam (Kingma and Ba 2015) is m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g², θ ← θ − η·m̂ / (√v̂ + ε) with
    /// m̂ = m/(1−β₁ᵗ), v̂ = v/(1−β₂ᵗ).
    #[derive(Copy)]
    pub enum Optimizer (default Optimizer::adam(1e-3)) {
        /// Plain gradient steps: θ ← θ − η·g.
        Sgd {
            /// Learning rate η.
            step: f64 = with(1e-3).above(0.0).flag("step").carried(1),
        } = "sgd",
        /// Adam (Kingma and Ba 2015).
        Adam {
            /// Learning rate η.
            step: f64 = with(1e-3).above(0.0).flag("step").carried(1),
            /// Decay rate of the first moment, β₁.
            momentum: f64 = with(0.9).below(0.0, 1.0),
            /// Decay rate of the second moment, β₂.
            memory: f64 = with(0.999).below(0.0, 1.0),
            /// Term ε of the denominator that keeps it above 0.
            floor: f64 = with(1e-8).above(0.0),
        } = "adam",
    }
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
    /// The same with steps so many times as long.
    #[must_use]
    pub fn scaled(mut self, by: f64) -> Self {
        let (Optimizer::Sgd { step } | Optimizer::Adam { step, .. }) = &mut self;
        *step *= by;
        self
    }

    /// Refuses settings that no step can be taken with.
    pub fn check(&self) -> Result<()> {
        settings::check(self)
    }
}

/// A number that parameters are made of: f32 or f64.
pub trait Real:
    Copy
    + Default
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
{
    /// The nearest number to this one.
    fn of(number: f64) -> Self;
    /// The square root.
    fn root(self) -> Self;
    /// Numbers of this kind as they are archived.
    fn numbers(slice: &[Self]) -> Numbers;
    /// Such numbers, of this length, out of an archive.
    fn take(arrays: &mut Arrays, name: &str, length: usize) -> Result<Vec<Self>>;
}

impl Real for f32 {
    #[inline(always)]
    fn of(number: f64) -> Self {
        number as f32
    }

    #[inline(always)]
    fn root(self) -> Self {
        self.sqrt()
    }

    fn numbers(slice: &[Self]) -> Numbers {
        Numbers::F32(slice.to_vec())
    }

    fn take(arrays: &mut Arrays, name: &str, length: usize) -> Result<Vec<Self>> {
        arrays.take_f32(name, length)
    }
}

impl Real for f64 {
    #[inline(always)]
    fn of(number: f64) -> Self {
        number
    }

    #[inline(always)]
    fn root(self) -> Self {
        self.sqrt()
    }

    fn numbers(slice: &[Self]) -> Numbers {
        Numbers::F64(slice.to_vec())
    }

    fn take(arrays: &mut Arrays, name: &str, length: usize) -> Result<Vec<Self>> {
        arrays.take_f64(name, length)
    }
}

/// What an optimizer remembers from step to step; all of it is needed to resume a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Memory<R: Real = f32> {
    /// How many steps were taken.
    steps: u64,
    /// m, empty where the optimizer has none.
    mean: Vec<R>,
    /// v, likewise.
    square: Vec<R>,
}

impl<R: Real> Memory<R> {
    /// How many steps were taken.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Moves parameters one step against their gradient.
    ///
    /// ```
    /// use fairgame::optimize::{Memory, Optimizer};
    /// let (mut theta, mut memory) = ([1.0_f32], Memory::default());
    /// memory.step(&Optimizer::adam(0.1), &mut theta, &[4.0]);
    /// // The first step of Adam is η, whatever the size of the gradient.
    /// assert!((theta[0] - 0.9).abs() < 1e-6);
    /// ```
    ///
    /// # Panics
    /// If the slices differ in length from each other, or from those of earlier steps.
    pub fn step(&mut self, optimizer: &Optimizer, parameters: &mut [R], gradient: &[R]) {
        assert_eq!(parameters.len(), gradient.len(), "one slope for each parameter");
        self.steps += 1;
        match *optimizer {
            Optimizer::Sgd { step } => {
                let step = R::of(step);
                parameters.iter_mut().zip(gradient).for_each(|(p, g)| *p -= step * *g);
            }
            Optimizer::Adam { step, momentum, memory, floor } => {
                if self.mean.is_empty() {
                    self.mean = vec![R::default(); parameters.len()];
                    self.square = vec![R::default(); parameters.len()];
                }
                assert_eq!(self.mean.len(), parameters.len(), "the parameters of earlier steps");
                assert_eq!(self.square.len(), parameters.len(), "the parameters of earlier steps");
                let turns = self.steps as f64;
                let by = Adam {
                    step: R::of(step / (1.0 - momentum.powf(turns))),
                    spread: R::of(1.0 / (1.0 - memory.powf(turns)).sqrt()),
                    momentum: R::of(momentum),
                    memory: R::of(memory),
                    floor: R::of(floor),
                };
                let (mean, square) = (&mut self.mean, &mut self.square);
                wide(|| by.step(parameters, gradient, mean, square));
            }
        }
    }

    /// Puts what is remembered into an archive.
    pub fn save(&self, arrays: &mut Arrays) {
        arrays.put("steps", Numbers::U64(vec![self.steps]));
        arrays.put("mean", R::numbers(&self.mean));
        arrays.put("square", R::numbers(&self.square));
    }

    /// What was remembered about so many parameters.
    pub fn load(arrays: &mut Arrays, optimizer: &Optimizer, parameters: usize) -> Result<Self> {
        let steps = arrays.take_u64("steps", 1)?[0];
        let adam = matches!(optimizer, Optimizer::Adam { .. }) && steps > 0;
        let length = if adam { parameters } else { 0 };
        let (mean, square) = (R::take(arrays, "mean", length)?, R::take(arrays, "square", length)?);
        Ok(Memory { steps, mean, square })
    }
}

/// One turn's factors of Adam.
struct Adam<R> {
    step: R,
    spread: R,
    momentum: R,
    memory: R,
    floor: R,
}

impl<R: Real> Adam<R> {
    #[inline(always)]
    fn step(&self, parameters: &mut [R], gradient: &[R], mean: &mut [R], square: &mut [R]) {
        // Moments of features that are rarely on decay into subnormal numbers, which are slow.
        let (tiny, nothing, one) = (R::of(1e-30), R::default(), R::of(1.0));
        // The square of a larger slope would be infinite, and no later step would move again.
        let steep = R::of(1e18);
        let moments = mean.iter_mut().zip(square);
        for ((p, &g), (m, v)) in parameters.iter_mut().zip(gradient).zip(moments) {
            let g = if g > steep { steep } else { g };
            let g = if g < -steep { -steep } else { g };
            let mean = self.momentum * *m + (one - self.momentum) * g;
            let square = self.memory * *v + (one - self.memory) * g * g;
            *m = if mean < tiny && mean > -tiny { nothing } else { mean };
            *v = if square < tiny { nothing } else { square };
            *p -= self.step * *m / (v.root() * self.spread + self.floor);
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
        let (mut theta, mut memory) = ([0.1_f32, 0.2], Memory::default());
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
        let (mut theta, mut memory) = ([1.0_f32, 2.0], Memory::default());
        memory.step(&Optimizer::sgd(0.5), &mut theta, &[1.0, -1.0]);
        assert_eq!(theta, [0.5, 2.5]);
    }
}
