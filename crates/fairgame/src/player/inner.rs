//! The model player of Algorithm 2: for each λ, descent from 0, averaged.
//!
//! ```text
//! θ̃₁ = 0,   θ̃_{s+1} = Π_Θ(θ̃_s − g_s/(μ·s)),   θ = (1/T_θ)·Σ_{s=1}^{T_θ} θ̃_s
//! ```
//!
//! with g_s the gradient of λ₁·ℓ̃₀ + Σ_i λ_{i+1}·ℓ̃_i + (μ/2)‖θ‖² at θ̃_s. Over all rows, as the pseudocode
//! has it, and with losses that are convex in θ, θ is within B²·(1 + ln T_θ)/(2μ·T_θ) of the best
//! ([`crate::bounds::inner_suboptimality`]). Over minibatches, which are allowed for large data, that holds
//! in expectation, with a B that bounds the slopes of single minibatches.

use super::{Learner, ModelPlayer};
use crate::Result;
use crate::archive::{Arrays, Numbers};
use crate::model::{Differentiable, Scorer};
use crate::rate::Multipliers;
use crate::sample::{Batch, Hypothesis, Work};

/// Steps of 1/(μs) from 0, averaged.
pub struct InnerDescent<'a> {
    learner: Learner<'a>,
    model: &'a dyn Differentiable,
    /// T_θ.
    steps: u64,
    /// Rows in a minibatch, or `None` for all rows.
    batch: Option<usize>,
    /// How many turns were played.
    turns: u64,
    played: Hypothesis,
    at: Vec<f32>,
    sum: Vec<f64>,
    gradient: Vec<f32>,
    work: Work,
}

impl<'a> InnerDescent<'a> {
    /// So many inner steps a turn, over minibatches of that size or over all rows.
    ///
    /// The learner's region must have a convexity above 0: it is the μ of the steps.
    ///
    /// # Errors
    /// If the model has no slopes.
    pub fn new(learner: Learner<'a>, steps: u64, batch: Option<usize>) -> Result<Self> {
        let params = learner.model.params();
        Ok(InnerDescent {
            model: learner.model.slopes()?,
            steps: steps.max(1),
            batch,
            turns: 0,
            played: Hypothesis::Theta(vec![0.0; params]),
            at: vec![0.0; params],
            sum: vec![0.0; params],
            gradient: vec![0.0; params],
            work: Work::new(&learner.threads),
            learner,
        })
    }
}

impl ModelPlayer for InnerDescent<'_> {
    fn play(&mut self, lambda: &Multipliers) -> Result<&Hypothesis> {
        let region = self.learner.region;
        self.at.fill(0.0);
        self.sum.fill(0.0);
        for step in 1..=self.steps {
            self.sum.iter_mut().zip(&self.at).for_each(|(sum, at)| *sum += f64::from(*at));
            let turn = self.turns * self.steps + step - 1;
            let batch = self.batch.map_or(Batch::All, |size| self.learner.batch(turn, size));
            self.learner.gradient(&self.at, lambda, batch, &mut self.work, &mut self.gradient)?;
            let by = (1.0 / (region.convexity * step as f64)) as f32;
            self.at.iter_mut().zip(&self.gradient).for_each(|(at, slope)| *at -= by * slope);
            region.project(self.model, &mut self.at);
        }
        let share = 1.0 / self.steps as f64;
        let Hypothesis::Theta(theta) = &mut self.played;
        theta.iter_mut().zip(&self.sum).for_each(|(theta, sum)| *theta = (sum * share) as f32);
        Ok(&self.played)
    }

    fn learn(&mut self, _lambda: &Multipliers) -> Result<()> {
        self.turns += 1;
        Ok(())
    }

    fn save(&self) -> Arrays {
        let mut arrays = Arrays::default();
        arrays.put("turns", Numbers::U64(vec![self.turns]));
        arrays
    }

    fn load(&mut self, mut arrays: Arrays) -> Result<()> {
        self.turns = arrays.take_u64("turns", 1)?[0];
        Ok(())
    }
}
