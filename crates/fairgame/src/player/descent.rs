//! The model player of Algorithms 3 and 4: one projected step each turn.
//!
//! θ ← Π_Θ(θ − η·g), with g the gradient of λ₁·ℓ̃₀ + Σ_i λ_{i+1}·ℓ̃_i + (μ/2)‖θ‖² over a minibatch. The
//! paper starts from 0; a network of which all weights are 0 never moves, so θ starts where the model says
//! ([`Differentiable::initial`]), which for a linear model is 0. With Adam the step is Adam's, as in the paper's
//! experiments.

use std::sync::Arc;

use super::ModelPlayer;
use crate::archive::{Arrays, Numbers};
use crate::model::{AnyModel, Differentiable, Region, Scorer};
use crate::optimize::{Memory, Optimizer};
use crate::random::mix;
use crate::rate::Multipliers;
use crate::sample::{Batch, Hypothesis, Sample, Work};
use crate::{Result, Threads};

/// What a model player has before the first turn, whichever it is.
#[derive(Clone)]
pub struct Learner<'a> {
    /// What it learns on.
    pub train: Arc<dyn Sample + 'a>,
    /// The family of models.
    pub model: &'a AnyModel,
    /// Whether the proxy losses are convex in the scores.
    pub convex: bool,
    /// Where θ may be, and how it is held back.
    pub region: Region,
    /// Draws the start and the minibatches.
    pub seed: u64,
    /// The threads that may sum over all rows.
    pub threads: Threads,
}

/// What draws the minibatches of a game with this seed.
pub(crate) fn learner_seed(game: u64) -> u64 {
    mix(game ^ 0x7461_7468)
}

impl Learner<'_> {
    /// The gradient of the Lagrangian at θ, in place of what `gradient` held.
    pub(super) fn gradient(
        &self,
        theta: &[f32],
        lambda: &Multipliers,
        batch: Batch,
        work: &mut Work,
        gradient: &mut [f32],
    ) -> Result<()> {
        gradient.fill(0.0);
        self.train.gradient(theta, lambda, batch, work, gradient)?;
        self.region.add_gradient(theta, gradient);
        Ok(())
    }

    /// The minibatch of a turn.
    pub(super) fn batch(&self, turn: u64, size: usize) -> Batch {
        Batch::Turn { seed: learner_seed(self.seed), turn, size }
    }
}

/// Gradient descent, one step a turn.
pub struct Descent<'a> {
    learner: Learner<'a>,
    model: &'a dyn Differentiable,
    optimizer: Optimizer,
    batch: usize,
    played: Hypothesis,
    memory: Memory<f32>,
    gradient: Vec<f32>,
    work: Work,
}

impl<'a> Descent<'a> {
    /// Descent on minibatches of that many rows.
    ///
    /// # Errors
    /// If the model has no slopes.
    pub fn new(learner: Learner<'a>, optimizer: Optimizer, batch: usize) -> Result<Self> {
        let model = learner.model.slopes()?;
        let mut theta = model.initial(learner.seed);
        learner.region.project(model, &mut theta);
        Ok(Descent {
            model,
            optimizer,
            batch,
            played: Hypothesis::Theta(theta),
            memory: Memory::default(),
            gradient: vec![0.0; learner.model.params()],
            work: Work::default(),
            learner,
        })
    }
}

impl ModelPlayer for Descent<'_> {
    fn play(&mut self, _lambda: &Multipliers) -> Result<&Hypothesis> {
        Ok(&self.played)
    }

    fn learn(&mut self, lambda: &Multipliers) -> Result<()> {
        let batch = self.learner.batch(self.memory.steps(), self.batch);
        let Hypothesis::Theta(theta) = &mut self.played;
        self.learner.gradient(theta, lambda, batch, &mut self.work, &mut self.gradient)?;
        self.memory.step(&self.optimizer, theta, &self.gradient);
        self.learner.region.project(self.model, theta);
        Ok(())
    }

    fn save(&self) -> Arrays {
        let mut arrays = Arrays::default();
        self.memory.save(&mut arrays);
        arrays.put("theta", Numbers::F32(self.played.theta().to_vec()));
        arrays
    }

    fn load(&mut self, mut arrays: Arrays) -> Result<()> {
        let params = self.gradient.len();
        self.memory = Memory::load(&mut arrays, &self.optimizer, params)?;
        self.played = Hypothesis::Theta(arrays.take_f32("theta", params)?);
        Ok(())
    }
}
