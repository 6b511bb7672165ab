//! Data that answers: what players ask of a dataset are sums over its rows.
//!
//! A [`Sample`] brings together what knows nothing of each other: a model that scores features, and losses
//! over cells. Its two questions are [`Sample::tally`], how rows are decided by a hypothesis, and
//! [`Sample::gradient`], the slope in θ of λ₁·ℓ̃₀ + Σ_i λ_{i+1}·ℓ̃_i; [`Sample::measure`] is the first for
//! those who need the losses alone. All may fail: rows need not be in memory.
//!
//! Over a minibatch the answers are estimates, scaled by the rows there are over the rows in the batch;
//! denominators are those of the whole sample. Which rows a minibatch has is a function of a seed and a turn
//! ([`Batch`]), so no list of rows is ever handed to a sample. A sample may be of some of a dataset's rows only,
//! as a fold is: then all that it says is scaled to the dataset, in the same way.

mod batches;
mod fixed;
mod levels;
mod memory;

use std::sync::{Mutex, PoisonError};

pub(crate) use batches::{BLOCK, drawn_blocks};
pub(crate) use levels::{Levels, Parts};
pub use memory::MemorySample;

use crate::model::Tape;
use crate::rate::{LossValues, Losses, Multipliers, Push, Pushes, Side, Sums, Tally};
use crate::{Result, Threads};

/// What a model player plays: a function from rows to scores.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Hypothesis {
    /// The parameters of a model.
    Theta(Vec<f32>),
}

impl Hypothesis {
    /// The parameters.
    pub fn theta(&self) -> &[f32] {
        let Hypothesis::Theta(theta) = self;
        theta
    }
}

/// A dataset, as players see it.
pub trait Sample: Send + Sync {
    /// How many rows there are.
    fn rows(&self) -> usize;

    /// The losses over this sample.
    fn losses(&self) -> &Losses;

    /// How the rows are decided, with the surrogate's sums where `side` is [`Side::Proxy`].
    ///
    /// A minibatch's tally is scaled to all rows.
    fn tally(&self, by: &Hypothesis, batch: Batch, side: Side, work: &mut Work) -> Result<Tally>;

    /// ℓ₀ … ℓ_m of a hypothesis, or their proxies; of a minibatch, as scaled to all rows.
    fn measure(
        &self,
        by: &Hypothesis,
        batch: Batch,
        side: Side,
        work: &mut Work,
        values: &mut LossValues,
    ) -> Result<()>;

    /// Adds the gradient in θ of λ₁·ℓ̃₀ + Σ_i λ_{i+1}·ℓ̃_i to `gradient`.
    fn gradient(
        &self,
        theta: &[f32],
        lambda: &Multipliers,
        batch: Batch,
        work: &mut Work,
        gradient: &mut [f32],
    ) -> Result<()>;

    /// The best response to λ of a model that answers costs itself
    /// ([`BestResponse`](crate::model::BestResponse)); `None` where the model does not.
    fn best_response(&self, lambda: &Multipliers, work: &mut Work) -> Result<Option<Hypothesis>>;

    /// The largest of what rows are like: what the constants of the theorems are made of.
    fn extremes(&self) -> Result<Extremes>;
}

/// Which rows a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batch {
    /// All of them.
    All,
    /// A minibatch; what its rows add up to is scaled to all rows.
    Turn {
        /// Draws the order of the rows.
        seed: u64,
        /// Which minibatch of that order, from 0.
        turn: u64,
        /// How many rows it has.
        size: usize,
    },
}

/// The largest of what rows are like.
#[derive(Debug, Clone, PartialEq)]
pub struct Extremes {
    /// max‖x‖₂ over the rows, the bias's 1 included.
    pub norm: f64,
    /// The weight of the heaviest row of each cell.
    pub heaviest: Vec<f64>,
}

/// Space to answer in, and the threads that may; it grows to what is needed, and then no more.
#[derive(Debug, Default)]
pub struct Work {
    threads: Threads,
    pushes: Pushes,
    /// The order of the epoch that the last minibatch was of.
    epoch: batches::Epoch,
    /// The rows of a minibatch, and where its pieces end.
    rows: Vec<u32>,
    pieces: Vec<usize>,
    /// The gradient of a piece, and the sums over events of all pieces and of one.
    part: Vec<f32>,
    sums: [Sums; 2],
    lane: Lane,
    /// The lanes of other threads, while they have no work.
    spare: Mutex<Vec<Lane>>,
}

/// The space of one thread.
#[derive(Debug, Clone, Default)]
struct Lane {
    tape: Tape,
    scores: Vec<f32>,
    slopes: Vec<f32>,
    cells: Vec<u32>,
    weights: Vec<f32>,
    push_of: Vec<Push>,
}

impl Work {
    /// Space for work by these threads.
    pub fn new(threads: &Threads) -> Self {
        Work { threads: threads.clone(), ..Work::default() }
    }

    /// Runs with a lane that no other thread has.
    fn with_lane<R>(spare: &Mutex<Vec<Lane>>, run: impl FnOnce(&mut Lane) -> R) -> R {
        let lanes = || spare.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lane = lanes().pop().unwrap_or_default();
        let result = run(&mut lane);
        lanes().push(lane);
        result
    }
}
