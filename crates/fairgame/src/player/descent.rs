//! The model player of Algorithms 3 and 4: one projected step each turn.
//!
//! θ ← Π_Θ(θ − η·g), with g the gradient of λ₁·ℓ̃₀ + Σ_i λ_{i+1}·ℓ̃_i + (μ/2)‖θ‖² over a minibatch. The
//! paper starts from 0; a network of which all weights are 0 never moves, so θ starts where the model says
//! ([`Model::initial`]), which for a linear model is 0. With Adam the step is Adam's, as in the paper's
//! experiments.

use super::ModelPlayer;
use crate::Result;
use crate::archive::{Arrays, Numbers};
use crate::batch::Batches;
use crate::model::{Model, Region};
use crate::optimize::{Memory, Optimizer};
use crate::rate::Multipliers;
use crate::sample::{Batch, Sample, Work};

/// What a model player has before the first turn, whichever it is.
#[derive(Debug, Clone, Copy)]
pub struct Learner<'a> {
    /// What it learns on.
    pub train: Sample<'a>,
    /// Where θ may be, and how it is held back.
    pub region: Region,
    /// Draws the start and the minibatches.
    pub seed: u64,
    /// How many threads may sum over all rows.
    pub threads: usize,
}

impl Learner<'_> {
    /// The gradient of the Lagrangian at θ, in place of what `gradient` held.
    pub(super) fn gradient(
        &self,
        theta: &[f32],
        lambda: &Multipliers,
        batch: Batch<'_>,
        work: &mut Work,
        gradient: &mut [f32],
    ) {
        gradient.fill(0.0);
        self.train.gradient(theta, lambda, batch, work, gradient);
        self.region.add_gradient(theta, gradient);
    }

    pub(super) fn batches(&self, size: usize) -> Batches {
        Batches::new(self.train.rows(), size, crate::random::mix(self.seed ^ 0x7461_7468))
    }
}

/// Gradient descent, one step a turn.
#[derive(Debug, Clone)]
pub struct Descent<'a> {
    learner: Learner<'a>,
    optimizer: Optimizer,
    batches: Batches,
    theta: Vec<f32>,
    memory: Memory<f32>,
    gradient: Vec<f32>,
    rows: Vec<u32>,
    work: Work,
}

impl<'a> Descent<'a> {
    /// Descent on minibatches of that many rows.
    pub fn new(learner: Learner<'a>, optimizer: Optimizer, batch: usize) -> Self {
        let model = learner.train.model;
        let mut theta = model.initial(learner.seed);
        learner.region.project(model, &mut theta);
        Descent {
            learner,
            optimizer,
            batches: learner.batches(batch),
            theta,
            memory: Memory::default(),
            gradient: vec![0.0; model.params()],
            rows: Vec::new(),
            work: Work::default(),
        }
    }
}

impl ModelPlayer for Descent<'_> {
    fn play(&mut self, _lambda: &Multipliers) -> &[f32] {
        &self.theta
    }

    fn learn(&mut self, lambda: &Multipliers) {
        self.batches.rows_of(self.memory.steps(), &mut self.rows);
        let batch = Batch::Rows(&self.rows);
        self.learner.gradient(&self.theta, lambda, batch, &mut self.work, &mut self.gradient);
        self.memory.step(&self.optimizer, &mut self.theta, &self.gradient);
        self.learner.region.project(self.learner.train.model, &mut self.theta);
    }

    fn save(&self) -> Arrays {
        let mut arrays = Arrays::default();
        self.memory.save(&mut arrays);
        arrays.put("theta", Numbers::F32(self.theta.clone()));
        arrays
    }

    fn load(&mut self, mut arrays: Arrays) -> Result<()> {
        self.memory = Memory::load(&mut arrays, &self.optimizer, self.theta.len())?;
        self.theta = arrays.take_f32("theta", self.theta.len())?;
        Ok(())
    }
}
