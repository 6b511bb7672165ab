//! A dataset as a player sees it: it answers with tallies and gradients, which are sums over rows.
//!
//! A sample brings together what knows nothing of each other: a model that scores features, and losses
//! over cells. The two questions are [`Sample::tally`], how rows are decided under θ, and
//! [`Sample::gradient`], the slope in θ of λ₁·ℓ̃₀ + Σ_i λ_{i+1}·ℓ̃_i; [`Sample::measure`] is the first for
//! those who need the losses alone. Over a minibatch all are estimates, scaled by the rows there are over
//! the rows in the batch; denominators are those of the whole sample. A sample may be of some of a dataset's
//! rows only: then all that it says is scaled to the dataset, in the same way.
//!
//! Over all rows, chunks of a fixed size are summed by as many threads as the [`Work`] has, and added up
//! in the order of the rows, so that the result does not depend on how many threads there are.

use std::ops::Range;
use std::thread;

use crate::encode::Features;
use crate::model::{AnyModel, Model, Rows, Tape};
use crate::rate::{
    Compiled, Count, LossValues, Losses, Multipliers, Push, Pushes, Side, Sums, Surrogate, Tally,
    push_scores, tally_scores,
};

/// Rows that are scored at a time when all of them are: what a model works on stays in cache.
const BLOCK: usize = 1024;

/// Rows that one thread sums before the sums are added up.
const CHUNK: usize = 16 * BLOCK;

/// A dataset, the model that scores it and the problem it is measured by.
#[derive(Debug, Clone, Copy)]
pub struct Sample<'a> {
    /// What a model sees.
    pub features: &'a Features,
    /// The rows that are the sample's, or `None` for all.
    pub among: Option<&'a [u32]>,
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

/// Space to answer in, and how many threads may; it grows to what is needed, and then no more.
#[derive(Debug, Clone)]
pub struct Work {
    pushes: Pushes,
    /// One for each thread.
    lanes: Vec<Lane>,
}

/// The space of one thread.
#[derive(Debug, Clone, Default)]
struct Lane {
    tape: Tape,
    scores: Vec<f32>,
    slopes: Vec<f32>,
    list: Vec<u32>,
    cells: Vec<u32>,
    weights: Vec<f32>,
    push_of: Vec<Push>,
    sums: Sums,
    gradient: Vec<f32>,
}

impl Work {
    /// Space for that many threads, and for at least one.
    pub fn new(threads: usize) -> Self {
        Work { pushes: Pushes::default(), lanes: vec![Lane::default(); threads.max(1)] }
    }

    /// How many threads there may be.
    pub fn threads(&self) -> usize {
        self.lanes.len()
    }
}

impl Default for Work {
    fn default() -> Self {
        Work::new(1)
    }
}

impl<'a> Sample<'a> {
    /// The losses over this sample.
    pub fn losses(&self) -> &'a Losses {
        self.compiled.losses()
    }

    /// How many parameters its model has.
    pub fn params(&self) -> usize {
        self.model.params()
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.among.map_or(self.features.rows(), <[u32]>::len)
    }

    /// Some of its rows, by their places among them.
    fn listed<'r>(&self, list: &'r [u32], space: &'r mut Vec<u32>) -> Rows<'r>
    where
        'a: 'r,
    {
        let Some(among) = self.among else { return Rows::list(self.features, list) };
        space.clear();
        space.extend(list.iter().map(|&place| among[place as usize]));
        Rows::list(self.features, space)
    }

    /// A range of its rows.
    fn ranged(&self, range: Range<usize>) -> Rows<'a> {
        match self.among {
            None => Rows::range(self.features, range),
            Some(among) => Rows::list(self.features, &among[range]),
        }
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
        let surrogate = surrogates.then_some(self.surrogate);
        let add = |rows: Rows<'_>, lane: &mut Lane, tally: &mut Tally| {
            self.score(theta, rows, lane);
            let weights = self.weights.map(|_| lane.weights.as_slice());
            tally_scores(&lane.cells, weights, &lane.scores, surrogate, tally);
        };
        let mut tally = Tally::new(self.losses().cells());
        match batch {
            Batch::Rows(list) => {
                let lane = &mut work.lanes[0];
                let mut space = std::mem::take(&mut lane.list);
                add(self.listed(list, &mut space), lane, &mut tally);
                lane.list = space;
                tally.scale(self.scale(list.len()));
            }
            Batch::All => {
                self.each_chunk(
                    &mut work.lanes,
                    |range, lane| {
                        let mut part = Tally::new(self.losses().cells());
                        blocks(range).for_each(|block| add(self.ranged(block), lane, &mut part));
                        part
                    },
                    |part, _| tally += &part,
                );
                if self.among.is_some() {
                    tally.scale(self.scale(self.rows()));
                }
            }
        }
        tally
    }

    /// Calls `see` with each of its rows' place in the dataset, and its score under θ.
    pub(crate) fn scores(&self, theta: &[f32], work: &mut Work, mut see: impl FnMut(usize, f32)) {
        let lane = &mut work.lanes[0];
        for block in blocks(0..self.rows()) {
            let rows = self.ranged(block);
            self.score(theta, rows, lane);
            rows.places().zip(&lane.scores).for_each(|(row, &score)| see(row, score));
        }
    }

    /// ℓ₀ … ℓ_m under θ, or their proxies; of a minibatch, as scaled to all rows.
    ///
    /// # Panics
    /// As [`Sample::tally`].
    pub fn measure(
        &self,
        theta: &[f32],
        batch: Batch<'_>,
        side: Side,
        work: &mut Work,
        values: &mut LossValues,
    ) {
        let Batch::Rows(list) = batch else {
            let tally = self.tally(theta, Batch::All, side == Side::Proxy, work);
            *values = match side {
                Side::Exact => self.losses().exact(&tally),
                Side::Proxy => self.losses().proxy(&tally),
            };
            return;
        };
        let lane = &mut work.lanes[0];
        let mut space = std::mem::take(&mut lane.list);
        self.score(theta, self.listed(list, &mut space), lane);
        lane.list = space;
        let Lane { cells, scores, weights, sums, .. } = lane;
        let rows = cells.iter().zip(&*scores).enumerate().map(|(index, (&cell, &score))| {
            let weight = f64::from(if weights.is_empty() { 1.0 } else { weights[index] });
            let h = |score: f32| f64::from(self.surrogate.value(score));
            let count = match side {
                Side::Exact => {
                    let positive = if score > 0.0 { weight } else { 0.0 };
                    Count { weight, positive, above: 0.0, below: 0.0 }
                }
                Side::Proxy => Count {
                    weight,
                    positive: 0.0,
                    above: weight * h(score),
                    below: weight * h(-score),
                },
            };
            (cell, count)
        });
        self.losses().rows(side, rows, self.scale(list.len()), sums, values);
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
        let Work { pushes, lanes } = work;
        self.losses().pushes(multipliers, pushes);
        let pushes = &*pushes;
        match batch {
            Batch::Rows(list) => {
                let (lane, scale) = (&mut lanes[0], self.scale(list.len()) as f32);
                let mut space = std::mem::take(&mut lane.list);
                let rows = self.listed(list, &mut space);
                self.gradient_rows(theta, rows, pushes, scale, lane, gradient);
                lane.list = space;
            }
            Batch::All => self.each_chunk(
                lanes,
                |range, lane| {
                    let mut part = std::mem::take(&mut lane.gradient);
                    part.clear();
                    part.resize(theta.len(), 0.0);
                    let scale = self.scale(self.rows()) as f32;
                    blocks(range).for_each(|block| {
                        let rows = self.ranged(block);
                        self.gradient_rows(theta, rows, pushes, scale, lane, &mut part);
                    });
                    part
                },
                |part, lane| {
                    gradient.iter_mut().zip(&part).for_each(|(slope, part)| *slope += part);
                    lane.gradient = part;
                },
            ),
        }
    }

    fn gradient_rows(
        &self,
        theta: &[f32],
        rows: Rows<'_>,
        pushes: &Pushes,
        scale: f32,
        lane: &mut Lane,
        gradient: &mut [f32],
    ) {
        self.score(theta, rows, lane);
        // The pushes of the rows' own cells, and of no others: there may be more cells than rows.
        lane.push_of.clear();
        for cell in &mut lane.cells {
            let push = self.losses().push(pushes, *cell as usize);
            lane.push_of.push(Push { down: push.down * scale, up: push.up * scale });
            *cell = lane.push_of.len() as u32 - 1;
        }
        lane.slopes.resize(rows.len(), 0.0);
        let weights = self.weights.map(|_| lane.weights.as_slice());
        push_scores(
            &lane.cells,
            weights,
            &lane.scores,
            &lane.push_of,
            self.surrogate,
            &mut lane.slopes,
        );
        self.model.pullback(theta, rows, &mut lane.tape, &lane.slopes, gradient);
    }

    /// The scores of rows, and beside them their cells and weights.
    fn score(&self, theta: &[f32], rows: Rows<'_>, lane: &mut Lane) {
        lane.cells.clear();
        lane.cells.extend(rows.places().map(|row| self.compiled.cells()[row]));
        lane.weights.clear();
        if let Some(weights) = self.weights {
            lane.weights.extend(rows.places().map(|row| weights[row]));
        }
        // While the model works.
        self.losses().fetch(&lane.cells);
        lane.scores.resize(rows.len(), 0.0);
        self.model.score(theta, rows, &mut lane.tape, &mut lane.scores);
    }

    /// How many rows of the dataset each of so many stands for.
    fn scale(&self, rows: usize) -> f64 {
        self.features.rows() as f64 / rows.max(1) as f64
    }

    /// Sums chunks of all rows, as many at a time as there are lanes, and adds them up in order.
    fn each_chunk<T: Send>(
        &self,
        lanes: &mut [Lane],
        sum: impl Fn(Range<usize>, &mut Lane) -> T + Sync,
        mut add: impl FnMut(T, &mut Lane),
    ) {
        let rows = self.rows();
        let chunk = |start: usize| start..rows.min(start + CHUNK);
        let starts: Vec<usize> = (0..rows).step_by(CHUNK).collect();
        for wave in starts.chunks(lanes.len()) {
            if let [start] = wave {
                let part = sum(chunk(*start), &mut lanes[0]);
                add(part, &mut lanes[0]);
                continue;
            }
            let parts: Vec<T> = thread::scope(|scope| {
                let running: Vec<_> = wave
                    .iter()
                    .zip(&mut *lanes)
                    .map(|(&start, lane)| {
                        let (sum, range) = (&sum, chunk(start));
                        scope.spawn(move || sum(range, lane))
                    })
                    .collect();
                let joined = running.into_iter().map(thread::ScopedJoinHandle::join);
                joined
                    .map(|part| part.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                    .collect()
            });
            parts.into_iter().zip(&mut *lanes).for_each(|(part, lane)| add(part, lane));
        }
    }
}

/// A range of rows in blocks.
fn blocks(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range.step_by(BLOCK).map(move |start| start..end.min(start + BLOCK))
}
