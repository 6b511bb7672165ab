//! How a hypothesis decides rows at several thresholds at once.
//!
//! A row is decided positive at threshold t where its score is above t. One pass over the scores gives, for each
//! threshold, each part of the rows and each event of the losses, the weight that is decided positive: all that the
//! exact losses need, with or without any of the parts.

use super::{Hypothesis, MemorySample, Sample, Work};
use crate::Result;
use crate::rate::{Tally, tally_scores};

/// What rows are cut into, so that what is chosen without a part can be judged by it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parts<'a> {
    /// The part of each row, by its place in the dataset.
    pub(crate) of: &'a [u16],
    /// How many there are.
    pub(crate) count: usize,
}

/// Decisions at several thresholds.
#[derive(Debug, Clone)]
pub(crate) struct Levels {
    /// Of the model's own threshold, which is 0, with the sums of the surrogate.
    pub(crate) tally: Tally,
    /// The weight decided positive: threshold by threshold, part by part, event by event.
    pub(crate) positive: Vec<f64>,
}

impl MemorySample<'_> {
    /// Scores of all rows, with their places in the dataset.
    fn scored(&self, by: &Hypothesis, work: &mut Work) -> Result<(Vec<u32>, Vec<f32>)> {
        let (mut places, mut scores) = (Vec::new(), Vec::new());
        places.reserve(self.rows());
        scores.reserve(self.rows());
        self.scores(by, work, |row, score| {
            places.push(row as u32);
            scores.push(score);
        })?;
        Ok((places, scores))
    }

    /// How the rows are decided at each threshold; nothing is scaled, whatever rows the sample has.
    pub(crate) fn levels(
        &self,
        by: &Hypothesis,
        thresholds: &[f32],
        parts: Parts<'_>,
        work: &mut Work,
    ) -> Result<Levels> {
        let (places, scores) = self.scored(by, work)?;
        let losses = self.losses();
        let cells: Vec<u32> =
            places.iter().map(|&row| self.compiled.cells()[row as usize]).collect();
        let weights: Option<Vec<f32>> =
            self.weights.map(|all| places.iter().map(|&row| all[row as usize]).collect());
        let mut tally = Tally::new(losses.cells());
        tally_scores(&cells, weights.as_deref(), &scores, Some(self.surrogate), &mut tally);

        let mut ascending: Vec<usize> = (0..thresholds.len()).collect();
        ascending.sort_by(|&a, &b| thresholds[a].total_cmp(&thresholds[b]).then(a.cmp(&b)));
        let sorted: Vec<f32> = ascending.iter().map(|&level| thresholds[level]).collect();
        // By how many of the ascending thresholds are below the score.
        let events = losses.events();
        let bins = thresholds.len() + 1;
        let mut binned = vec![0.0; bins * parts.count * events];
        for (at, (&row, &score)) in places.iter().zip(&scores).enumerate() {
            let bin = sorted.partition_point(|threshold| *threshold < score);
            if bin > 0 {
                let weight = weights.as_ref().map_or(1.0, |weights| f64::from(weights[at]));
                let part = usize::from(parts.of[row as usize]);
                let sums = &mut binned[(bin * parts.count + part) * events..][..events];
                losses.each_event(cells[at] as usize, |event| sums[event] += weight);
            }
        }
        let size = parts.count * events;
        let mut positive = vec![0.0; thresholds.len() * size];
        let mut above = vec![0.0; size];
        for (rank, &level) in ascending.iter().enumerate().rev() {
            let bin = &binned[(rank + 1) * size..][..size];
            above.iter_mut().zip(bin).for_each(|(sum, more)| *sum += more);
            positive[level * size..][..size].copy_from_slice(&above);
        }
        Ok(Levels { tally, positive })
    }

    /// How the rows are decided at the threshold 0: the weight decided positive, part by part and event by event, and the
    /// tally without the surrogate's sums. Nothing is scaled.
    pub(crate) fn decided(
        &self,
        by: &Hypothesis,
        parts: Parts<'_>,
        work: &mut Work,
    ) -> Result<(Vec<f64>, Tally)> {
        let losses = self.losses();
        let (cells, events) = (losses.cells(), losses.events());
        let mut sums = vec![0.0; parts.count * cells];
        let mut tally = Tally::new(cells);
        self.scores(by, work, |row, score| {
            let cell = self.compiled.cells()[row] as usize;
            let weight = self.weights.map_or(1.0, |all| f64::from(all[row]));
            tally.counts[cell].weight += weight;
            let positive = if score > 0.0 { weight } else { 0.0 };
            sums[usize::from(parts.of[row]) * cells + cell] += positive;
        })?;
        let mut positive = vec![0.0; parts.count * events];
        for (part, own) in sums.chunks(cells.max(1)).enumerate() {
            for (cell, &sum) in own.iter().enumerate().filter(|(_, sum)| **sum != 0.0) {
                tally.counts[cell].positive += sum;
                losses.each_event(cell, |event| positive[part * events + event] += sum);
            }
        }
        Ok((positive, tally))
    }

    /// Thresholds at these quantile levels of the scores, first among the rows of cells that are labelled positive, then
    /// among the others; among all, where one of these has fewer than two rows.
    pub(crate) fn quantiles(
        &self,
        by: &Hypothesis,
        labelled: &[bool],
        levels: [&[f64]; 2],
        work: &mut Work,
    ) -> Result<Vec<f32>> {
        let (places, scores) = self.scored(by, work)?;
        let mut sides = [Vec::new(), Vec::new()];
        for (&row, &score) in places.iter().zip(&scores) {
            let positive = labelled[self.compiled.cells()[row as usize] as usize];
            sides[usize::from(!positive)].push(score);
        }
        if sides.iter().any(|side| side.len() < 2) {
            sides = [scores.clone(), scores];
        }
        sides.iter_mut().for_each(|side| side.sort_unstable_by(f32::total_cmp));
        let at = |side: &[f32], level: f64| {
            let last = side.len().saturating_sub(1);
            side.get(((level * side.len() as f64) as usize).min(last)).copied().unwrap_or(0.0)
        };
        let of = |(side, levels): (&Vec<f32>, &[f64])| -> Vec<f32> {
            levels.iter().map(|&level| at(side, level)).collect()
        };
        Ok(sides.iter().zip(levels).flat_map(of).collect())
    }
}
