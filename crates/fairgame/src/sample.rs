//! A dataset as a player sees it: it answers with tallies and gradients, which are sums over rows.
//!
//! A sample brings together what knows nothing of each other: a model that scores features, and losses
//! over cells. The two questions are [`Sample::tally`], how rows are decided under θ, and
//! [`Sample::gradient`], the slope in θ of λ₁·ℓ̃₀ + Σ_i λ_{i+1}·ℓ̃_i. Over a minibatch both are estimates,
//! scaled by the rows there are over the rows in the batch; denominators are those of the whole sample.
//!
//! Over all rows, blocks of a fixed size are tallied by several threads and added up in the order of the
//! rows, so the result does not depend on how many threads there are.

use std::thread;

use crate::encode::Features;
use crate::model::{AnyModel, Model, Rows, Tape};
use crate::rate::{
    Compiled, Losses, Multipliers, Push, Pushes, Surrogate, Tally, push_scores, tally_scores,
};

/// Rows that are scored at a time when all of them are.
const BLOCK: usize = 1024;

/// A dataset, the model that scores it and the problem it is measured by.
#[derive(Debug, Clone, Copy)]
pub struct Sample<'a> {
    /// What a model sees.
    pub features: &'a Features,
    /// The cell of each row, and the losses.
    pub compiled: &'a Compiled,
    /// How much each row counts; 1 each where it is `None`.
    pub weights: Option<&'a [f32]>,
    /// The model.
    pub model: &'a AnyModel,
    /// What stands in for decisions where slopes are needed.
    pub surrogate: Surrogate,
}

/// Which rows a question is about.
#[derive(Debug, Clone, Copy)]
pub enum Batch<'a> {
    /// All of them.
    All,
    /// These; what they add up to is scaled to all.
    Rows(&'a [u32]),
}

/// Space to answer in; it grows to what is needed, and then no more.
#[derive(Debug, Clone, Default)]
pub struct Work {
    tape: Tape,
    scores: Vec<f32>,
    slopes: Vec<f32>,
    cells: Vec<u32>,
    weights: Vec<f32>,
    pushes: Pushes,
    push_of: Vec<Push>,
}

impl<'a> Sample<'a> {
    /// The losses over this sample.
    pub fn losses(&self) -> &'a Losses {
        self.compiled.losses()
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.features.rows()
    }

    /// How the rows are decided under θ, with the surrogate's sums where `surrogates` asks for them.
    ///
    /// A minibatch's tally is scaled to all rows.
    ///
    /// # Panics
    /// If θ is not the model's, or a row is not the sample's.
    pub fn tally(
        &self,
        theta: &[f32],
        batch: Batch<'_>,
        surrogates: bool,
        work: &mut Work,
    ) -> Tally {
        let mut tally = Tally::new(self.losses().cells());
        match batch {
            Batch::Rows(list) => {
                self.tally_rows(
                    theta,
                    Rows::list(self.features, list),
                    surrogates,
                    work,
                    &mut tally,
                );
                tally.scale(self.rows() as f64 / list.len().max(1) as f64);
            }
            Batch::All => {
                for start in (0..self.rows()).step_by(BLOCK) {
                    tally += &self.tally_block(theta, start, surrogates, work);
                }
            }
        }
        tally
    }

    /// The tally of all rows, by several threads: the same bits for any number of them.
    ///
    /// # Panics
    /// As [`Sample::tally`].
    pub fn tally_all(&self, theta: &[f32], surrogates: bool, threads: usize) -> Tally {
        let starts: Vec<usize> = (0..self.rows()).step_by(BLOCK).collect();
        let mut tally = Tally::new(self.losses().cells());
        let mut works = vec![Work::default(); threads.max(1)];
        for wave in starts.chunks(works.len()) {
            let parts: Vec<Tally> = thread::scope(|scope| {
                let running: Vec<_> = wave
                    .iter()
                    .zip(&mut works)
                    .map(|(&start, work)| {
                        scope.spawn(move || self.tally_block(theta, start, surrogates, work))
                    })
                    .collect();
                running
                    .into_iter()
                    .map(|part| {
                        part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                    })
                    .collect()
            });
            parts.iter().for_each(|part| tally += part);
        }
        tally
    }

    fn tally_block(&self, theta: &[f32], start: usize, surrogates: bool, work: &mut Work) -> Tally {
        let mut tally = Tally::new(self.losses().cells());
        let rows = Rows::range(self.features, start..self.rows().min(start + BLOCK));
        self.tally_rows(theta, rows, surrogates, work, &mut tally);
        tally
    }

    fn tally_rows(
        &self,
        theta: &[f32],
        rows: Rows<'_>,
        surrogates: bool,
        work: &mut Work,
        tally: &mut Tally,
    ) {
        work.scores.resize(rows.len(), 0.0);
        self.model.score(theta, rows, &mut work.tape, &mut work.scores);
        self.gather(rows, work);
        let weights = self.weights.map(|_| work.weights.as_slice());
        let surrogate = surrogates.then_some(self.surrogate);
        tally_scores(&work.cells, weights, &work.scores, surrogate, tally);
    }

    /// Adds the gradient in θ of λ₁·ℓ̃₀ + Σ_i λ_{i+1}·ℓ̃_i to `gradient`.
    ///
    /// # Panics
    /// As [`Sample::tally`], or if there is not one multiplier for each constraint.
    pub fn gradient(
        &self,
        theta: &[f32],
        multipliers: &Multipliers,
        batch: Batch<'_>,
        work: &mut Work,
        gradient: &mut [f32],
    ) {
        self.losses().pushes(multipliers, &mut work.pushes);
        match batch {
            Batch::Rows(list) => {
                let scale = self.rows() as f32 / list.len().max(1) as f32;
                self.gradient_rows(theta, Rows::list(self.features, list), scale, work, gradient);
            }
            Batch::All => {
                for start in (0..self.rows()).step_by(BLOCK) {
                    let rows = Rows::range(self.features, start..self.rows().min(start + BLOCK));
                    self.gradient_rows(theta, rows, 1.0, work, gradient);
                }
            }
        }
    }

    fn gradient_rows(
        &self,
        theta: &[f32],
        rows: Rows<'_>,
        scale: f32,
        work: &mut Work,
        gradient: &mut [f32],
    ) {
        work.scores.resize(rows.len(), 0.0);
        work.slopes.resize(rows.len(), 0.0);
        self.model.score(theta, rows, &mut work.tape, &mut work.scores);
        self.gather(rows, work);
        // The pushes of the rows' own cells, and of no others: there may be more cells than rows.
        work.push_of.clear();
        for cell in &mut work.cells {
            let push = self.losses().push(&work.pushes, *cell as usize);
            work.push_of.push(Push { down: push.down * scale, up: push.up * scale });
            *cell = work.push_of.len() as u32 - 1;
        }
        let weights = self.weights.map(|_| work.weights.as_slice());
        push_scores(
            &work.cells,
            weights,
            &work.scores,
            &work.push_of,
            self.surrogate,
            &mut work.slopes,
        );
        self.model.pullback(theta, rows, &mut work.tape, &work.slopes, gradient);
    }

    /// The cells and weights of rows, side by side.
    fn gather(&self, rows: Rows<'_>, work: &mut Work) {
        work.cells.clear();
        work.cells.extend(rows.places().map(|row| self.compiled.cells()[row]));
        work.weights.clear();
        if let Some(weights) = self.weights {
            work.weights.extend(rows.places().map(|row| weights[row]));
        }
    }
}
