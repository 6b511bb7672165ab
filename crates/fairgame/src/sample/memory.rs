//! A sample whose rows are in memory.
//!
//! Its rows are stored in a random order ([`Training`](crate::train::Training) draws it), so that minibatches are
//! runs of rows. Over all rows, blocks are summed by as many threads as there are. A block is always summed in the
//! order of its rows, and the sums of blocks are added up as integers ([`FixedSums`]), so that neither the number
//! of threads nor the order in which they finish can change a bit. Weights and the decisions they count are exact
//! anyway: a training's weights ([`quantised`](crate::rate::quantised)) add up in f64 without rounding.

use std::ops::Range;

use super::batches::{self, Members};
use super::fixed::{FixedSums, SLOPES, SUMS};
use super::{Batch, Extremes, Hypothesis, Lane, Sample, Work};
use crate::encode::Features;
use crate::model::{AnyModel, Differentiable, Model, Placed, Rows, Scorer};
use crate::rate::{
    Compiled, Count, LossValues, Losses, Multipliers, Push, Pushes, Side, Surrogate, Tally,
    push_scores, tally_scores,
};
use crate::{Error, ErrorKind, Result};

/// Rows that are scored at a time when all of them are: what a model works on stays in cache.
const TILE: usize = 1024;

/// Blocks for each thread whose sums are held before they are added up.
const WAVE: usize = 4;

/// A dataset in memory, the model that scores it and the problem it is measured by.
#[derive(Debug, Clone, Copy)]
pub struct MemorySample<'a> {
    /// What a model sees.
    pub features: &'a Features,
    /// The rows that are the sample's, ascending, or `None` for all.
    pub among: Option<&'a [u32]>,
    /// The cell of each row, and the losses.
    pub compiled: &'a Compiled,
    /// How much each row counts; 1 each where it is `None`.
    pub weights: Option<&'a [f32]>,
    /// The model.
    pub model: &'a AnyModel,
    /// Where the rows lie on the model's calibrators, if it was found before: [`AnyModel::place_all`].
    pub placed: Option<&'a Placed>,
    /// What stands in for decisions where slopes are needed.
    pub surrogate: Surrogate,
}

impl<'a> MemorySample<'a> {
    /// A range of its rows.
    fn ranged(&self, range: Range<usize>) -> Rows<'a> {
        let rows = match self.among {
            None => Rows::range(self.features, range),
            Some(among) => Rows::list(self.features, &among[range]),
        };
        rows.placed(self.placed)
    }

    /// These of its features' rows.
    fn listed<'b>(&self, rows: &'b [u32]) -> Rows<'b>
    where
        'a: 'b,
    {
        Rows::list(self.features, rows).placed(self.placed)
    }

    fn members(&self) -> Members<'a> {
        self.among.map_or(Members::All(self.features.rows()), Members::Some)
    }

    /// Writes the rows of a minibatch, by their places in the features, and where its pieces end.
    fn draw(&self, drawn: (u64, u64, usize), work: &mut Work) {
        let Work { epoch, rows, pieces, .. } = work;
        batches::rows_of(self.members(), drawn, epoch, rows, pieces);
    }

    /// Adds the decisions of rows to a tally.
    fn add(&self, theta: &[f32], rows: Rows<'_>, side: Side, lane: &mut Lane, tally: &mut Tally) {
        self.score(theta, rows, lane);
        let weights = self.weights.map(|_| lane.weights.as_slice());
        let surrogate = (side == Side::Proxy).then_some(self.surrogate);
        tally_scores(&lane.cells, weights, &lane.scores, surrogate, tally);
    }

    /// Calls `see` with each of its rows' place in the dataset, and its score.
    pub(crate) fn scores(
        &self,
        by: &Hypothesis,
        work: &mut Work,
        mut see: impl FnMut(usize, f32),
    ) -> Result<()> {
        self.check(by.theta())?;
        for tile in tiles(0..self.rows()) {
            let rows = self.ranged(tile);
            self.score(by.theta(), rows, &mut work.lane);
            rows.places().zip(&work.lane.scores).for_each(|(row, &score)| see(row, score));
        }
        Ok(())
    }

    fn gradient_rows(
        &self,
        model: &dyn Differentiable,
        theta: &[f32],
        rows: Rows<'_>,
        (pushes, scale): (&Pushes, f32),
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
        model.pullback(theta, rows, &mut lane.tape, &lane.slopes, gradient);
    }

    /// The scores of rows, and beside them their cells and weights.
    fn score(&self, theta: &[f32], rows: Rows<'_>, lane: &mut Lane) {
        lane.cells.clear();
        lane.cells.extend(rows.places().map(|row| self.compiled.cells()[row]));
        lane.weights.clear();
        if let Some(weights) = self.weights {
            lane.weights.extend(rows.places().map(|row| weights[row]));
        }
        // Prefetch cell data; scoring hides the latency.
        self.losses().fetch(&lane.cells);
        lane.scores.resize(rows.len(), 0.0);
        self.model.score(theta, rows, &mut lane.tape, &mut lane.scores);
    }

    /// How many rows of the dataset each of so many stands for.
    fn scale(&self, rows: usize) -> f64 {
        self.features.rows() as f64 / rows.max(1) as f64
    }

    /// Refuses parameters that are not the model's.
    fn check(&self, theta: &[f32]) -> Result<()> {
        if theta.len() == self.model.params() {
            return Ok(());
        }
        let (params, found) = (self.model.params(), theta.len());
        let message = format!("the model has {params} parameters, and {found} are given");
        Err(Error::new(ErrorKind::Value, message))
    }

    /// Sums blocks of rows by all threads, and adds the sums up in the order of the rows.
    fn each_block<T: Send>(
        &self,
        work: &Work,
        sum: impl Fn(Range<usize>, &mut Lane) -> T + Sync,
        add: impl FnMut(T),
    ) {
        let mut blocks = Vec::new();
        self.members().each_block(|_, places| blocks.push(places));
        let sum =
            |places: &Range<usize>| Work::with_lane(&work.spare, |lane| sum(places.clone(), lane));
        let waves = blocks.chunks(WAVE * work.threads.count());
        waves.flat_map(|wave| work.threads.each(wave, sum)).for_each(add);
    }
}

impl Sample for MemorySample<'_> {
    fn rows(&self) -> usize {
        self.among.map_or(self.features.rows(), <[u32]>::len)
    }

    fn losses(&self) -> &Losses {
        self.compiled.losses()
    }

    fn tally(&self, by: &Hypothesis, batch: Batch, side: Side, work: &mut Work) -> Result<Tally> {
        let theta = by.theta();
        self.check(theta)?;
        let mut tally = Tally::new(self.losses().cells());
        match batch {
            Batch::Turn { seed, turn, size } => {
                self.draw((seed, turn, size), work);
                let Work { rows, lane, .. } = work;
                self.add(theta, self.listed(rows), side, lane, &mut tally);
                tally.scale(self.scale(rows.len()));
            }
            Batch::All => {
                let sum = |range: Range<usize>, lane: &mut Lane| {
                    let mut part = Tally::new(self.losses().cells());
                    tiles(range).for_each(|tile| {
                        self.add(theta, self.ranged(tile), side, lane, &mut part);
                    });
                    part
                };
                let mut surrogates = FixedSums::new(2 * tally.counts.len(), SUMS);
                self.each_block(work, sum, |part| {
                    if side == Side::Proxy {
                        let sums = part.counts.iter().flat_map(|one| [one.above, one.below]);
                        surrogates.add(sums);
                    }
                    tally += &part;
                });
                if side == Side::Proxy {
                    let mut sums = surrogates.values();
                    for count in &mut tally.counts {
                        count.above = sums.next().unwrap_or(0.0);
                        count.below = sums.next().unwrap_or(0.0);
                    }
                }
                if self.among.is_some() {
                    tally.scale(self.scale(self.rows()));
                }
            }
        }
        Ok(tally)
    }

    fn measure(
        &self,
        by: &Hypothesis,
        batch: Batch,
        side: Side,
        work: &mut Work,
        values: &mut LossValues,
    ) -> Result<()> {
        let Batch::Turn { seed, turn, size } = batch else {
            let tally = self.tally(by, Batch::All, side, work)?;
            *values = match side {
                Side::Exact => self.losses().exact(&tally),
                Side::Proxy => self.losses().proxy(&tally),
            };
            return Ok(());
        };
        self.check(by.theta())?;
        self.draw((seed, turn, size), work);
        let Work { rows, pieces, sums, lane, .. } = work;
        self.score(by.theta(), self.listed(rows), lane);
        let Lane { cells, scores, weights, .. } = lane;
        let counts = cells.iter().zip(&*scores).enumerate().map(|(index, (&cell, &score))| {
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
        self.losses().rows(side, counts, pieces, self.scale(rows.len()), sums, values);
        Ok(())
    }

    fn gradient(
        &self,
        theta: &[f32],
        lambda: &Multipliers,
        batch: Batch,
        work: &mut Work,
        gradient: &mut [f32],
    ) -> Result<()> {
        self.check(theta)?;
        let model = self.model.slopes()?;
        let mut pushes = std::mem::take(&mut work.pushes);
        self.losses().pushes(lambda, &mut pushes);
        match batch {
            Batch::Turn { seed, turn, size } => {
                self.draw((seed, turn, size), work);
                let Work { rows, pieces, part, lane, .. } = work;
                let push = (&pushes, self.scale(rows.len()) as f32);
                part.resize(theta.len(), 0.0);
                let mut start = 0;
                for &end in &*pieces {
                    let piece = self.listed(&rows[start..end]);
                    if start == 0 {
                        self.gradient_rows(model, theta, piece, push, lane, gradient);
                    } else {
                        // Each piece is summed by itself, since another may hold its block.
                        part.fill(0.0);
                        self.gradient_rows(model, theta, piece, push, lane, part);
                        gradient.iter_mut().zip(&*part).for_each(|(slope, part)| *slope += part);
                    }
                    start = end;
                }
            }
            Batch::All => {
                let push = (&pushes, self.scale(self.rows()) as f32);
                let sum = |range: Range<usize>, lane: &mut Lane| {
                    let mut part = vec![0.0; theta.len()];
                    tiles(range).for_each(|tile| {
                        let rows = self.ranged(tile);
                        self.gradient_rows(model, theta, rows, push, lane, &mut part);
                    });
                    part
                };
                let mut sums = FixedSums::new(theta.len(), SLOPES);
                self.each_block(work, sum, |part| sums.add(part.into_iter().map(f64::from)));
                let sums = sums.values();
                gradient.iter_mut().zip(sums).for_each(|(slope, sum)| *slope += sum as f32);
            }
        }
        work.pushes = pushes;
        Ok(())
    }

    fn best_response(&self, lambda: &Multipliers, work: &mut Work) -> Result<Option<Hypothesis>> {
        let Some(model) = self.model.best_response() else { return Ok(None) };
        self.losses().pushes(lambda, &mut work.pushes);
        let scale = self.scale(self.rows());
        let rows = self.ranged(0..self.rows());
        let cost = |row: usize| {
            let push = self.losses().push(&work.pushes, self.compiled.cells()[row] as usize);
            let weight = self.weights.map_or(1.0, |weights| f64::from(weights[row]));
            weight * scale * (f64::from(push.down) - f64::from(push.up))
        };
        let costs: Vec<f64> = rows.places().map(cost).collect();
        let theta = model.respond(rows, &costs)?;
        self.check(&theta)?;
        Ok(Some(Hypothesis::Theta(theta)))
    }

    fn extremes(&self) -> Result<Extremes> {
        let features = self.features;
        let square = |row: usize| {
            let numbers = features.row_values(row).iter().map(|&x| f64::from(x) * f64::from(x));
            1.0 + features.row_codes(row).count() as f64 + numbers.sum::<f64>()
        };
        let norm = (0..features.rows()).map(square).fold(0.0, f64::max).sqrt();
        let mut heaviest = vec![0.0_f64; self.losses().cells()];
        for (row, &cell) in self.compiled.cells().iter().enumerate() {
            let weight = self.weights.map_or(1.0, |weights| f64::from(weights[row]));
            heaviest[cell as usize] = heaviest[cell as usize].max(weight);
        }
        Ok(Extremes { norm, heaviest })
    }
}

/// A range of rows in tiles.
fn tiles(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range.step_by(TILE).map(move |start| start..end.min(start + TILE))
}
