//! The rows that trees grow on, as growing sees them.
//!
//! Boosting never asks for a row. It asks what rows add up to before the first tree ([`Field::about`]), for the histogram
//! of those that a tree sees ([`Field::open`]), to cut a leaf in two and add up the smaller side ([`Field::cut`]), and to
//! learn a tree ([`Field::learn`]). All answers are sums of integers, so rows may be divided among any number of fields:
//! what these answer together is what one field of all rows answers, to the bit.

use std::borrow::Cow;
use std::ops::{AddAssign, Range};

use serde::{Deserialize, Serialize};

use super::boost::{Lesson, Sampler};
use super::forest::Forest;
use super::gradient::{Pair, Scale};
use super::histogram::{Data, Frame, Histogram};
use crate::Result;
use crate::threads::Threads;

/// What rows are like before the first tree.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct About {
    /// How many have a weight above 0.
    pub(super) rows: usize,
    /// The weight of all, and of what their targets say is positive, as multiples of 2⁻⁴⁰ of the greatest weight.
    pub(super) weight: i128,
    pub(super) positive: i128,
    /// The least and the greatest target.
    pub(super) targets: (f32, f32),
}

impl About {
    /// Of no rows.
    pub(super) const NOTHING: About =
        About { rows: 0, weight: 0, positive: 0, targets: (1.0, 0.0) };
}

impl AddAssign for About {
    fn add_assign(&mut self, other: About) {
        self.rows += other.rows;
        self.weight += other.weight;
        self.positive += other.positive;
        let ((least, most), (low, high)) = (self.targets, other.targets);
        self.targets = (least.min(low), most.max(high));
    }
}

/// What a tree is grown with.
#[derive(Clone, Copy)]
pub(super) struct Round<'a> {
    /// Which tree it is to be, counting those that were not grown.
    pub(super) number: usize,
    pub(super) sampler: Sampler,
    pub(super) frame: Frame<'a>,
}

/// A cut of a leaf: rows whose code goes left stay in it, the others are a new leaf.
#[derive(Clone, Copy)]
pub(super) struct Cut<'a> {
    pub(super) leaf: usize,
    pub(super) column: usize,
    pub(super) goes_left: &'a [bool; 256],
    /// Whose histogram is asked for: of the rows that go left (0) or of the others (1).
    pub(super) sum: Option<usize>,
}

/// Rows that trees grow on.
pub(super) trait Field {
    /// The greatest weight of a row.
    fn heaviest(&mut self) -> Result<f32>;

    /// What the rows are like, where none of all is heavier than this.
    fn about(&mut self, heaviest: f32) -> Result<About>;

    /// Before the first tree: all scores are `base`.
    fn start(&mut self, base: f32, scale: Scale, sampler: Sampler) -> Result<()>;

    /// Takes the gradients at the scores, and adds up those of the rows that a tree sees. They are one leaf, number 0.
    fn open(&mut self, round: &Round<'_>, into: &mut Histogram) -> Result<()>;

    /// How many leaves it would like to cut at once.
    fn foresees(&self) -> usize {
        1
    }

    /// Cuts a leaf in two, and adds up one side where that is asked for. The leaves of `soon` are likely to be cut next.
    fn cut(
        &mut self,
        round: &Round<'_>,
        cut: Cut<'_>,
        soon: &[Cut<'_>],
        into: &mut Histogram,
    ) -> Result<()>;

    /// Adds the last tree of a forest to the scores; its leaves have these values, in the order of their numbers.
    fn learn(&mut self, forest: &Forest, values: &[f32]) -> Result<()>;
}

/// Rows in memory.
pub(super) struct Rows<'a> {
    codes: Cow<'a, [u8]>,
    columns: usize,
    /// What the rows that a tree sees are drawn by.
    numbers: Cow<'a, [u32]>,
    target: Vec<f32>,
    weights: Option<Vec<f32>>,
    scale: Option<Scale>,
    scores: Vec<f32>,
    pairs: Vec<Pair>,
    /// The places of the rows that the tree sees, those of a leaf beside each other; and of the others.
    seen: Vec<u32>,
    rest: Vec<u32>,
    scratch: Vec<u32>,
    leaves: Vec<Range<usize>>,
    /// Space for the sums of other threads.
    spare: Vec<Histogram>,
}

impl<'a> Rows<'a> {
    /// The rows that a lesson teaches by.
    pub(super) fn new(lesson: &Lesson<'a>) -> Self {
        let teach = lesson.ordered(lesson.teach);
        let of = |numbers: &[f32]| -> Vec<f32> {
            teach.iter().map(|&row| numbers[row as usize]).collect()
        };
        let (target, weights) = (of(lesson.target), lesson.weights.map(of));
        let codes = lesson.codes(&teach);
        let numbers = match lesson.numbers {
            None => teach,
            Some(all) if is_first(&teach) => Cow::Borrowed(&all[..teach.len()]),
            Some(all) => Cow::Owned(teach.iter().map(|&row| all[row as usize]).collect()),
        };
        Rows { target, weights, ..Rows::of(codes, lesson.bins.columns(), numbers) }
    }

    /// Rows that are held, of which nothing is known yet but their codes.
    pub(super) fn held(codes: Vec<u8>, columns: usize, numbers: Vec<u32>) -> Rows<'static> {
        Rows::of(Cow::Owned(codes), columns, Cow::Owned(numbers))
    }

    /// What the rows should be, and how much each counts.
    pub(super) fn teach(&mut self, target: Vec<f32>, weights: Option<Vec<f32>>) {
        (self.target, self.weights) = (target, weights);
        (self.scale, self.scores, self.pairs) = (None, Vec::new(), Vec::new());
    }

    fn of(codes: Cow<'a, [u8]>, columns: usize, numbers: Cow<'a, [u32]>) -> Self {
        Rows {
            codes,
            columns,
            numbers,
            target: Vec::new(),
            weights: None,
            scale: None,
            scores: Vec::new(),
            pairs: Vec::new(),
            seen: Vec::new(),
            rest: Vec::new(),
            scratch: Vec::new(),
            leaves: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// Adds the last tree of a forest to the scores, whatever was cut.
    pub(super) fn walk(&mut self, forest: &Forest) {
        let (tree, columns) = (forest.trees() - 1, self.columns);
        for (score, codes) in self.scores.iter_mut().zip(self.codes.chunks_exact(columns)) {
            *score += forest.walk(tree, codes);
        }
    }

    /// Writes the gradient and hessian of each row at its score.
    fn take_gradients(&mut self, threads: &Threads) {
        const BLOCK: usize = 16_384;
        let Some(scale) = self.scale else { return };
        let (scores, target, weights) = (&self.scores, &self.target, &self.weights);
        let mut blocks: Vec<_> = self.pairs.chunks_mut(BLOCK).enumerate().collect();
        threads.each_mut(&mut blocks, |(block, pairs)| {
            let run = *block * BLOCK..*block * BLOCK + pairs.len();
            let weights = weights.as_ref().map(|weights| &weights[run.clone()]);
            scale.pairs(&scores[run.clone()], &target[run], weights, pairs);
        });
    }
}

impl Field for Rows<'_> {
    fn heaviest(&mut self) -> Result<f32> {
        let weights = self.weights.as_deref();
        Ok(weights.map_or(1.0, |all| all.iter().copied().fold(0.0, f32::max)))
    }

    fn about(&mut self, heaviest: f32) -> Result<About> {
        let unit = 2.0_f64.powi(40) / f64::from(heaviest);
        let whole = |part: f64| (part * unit).round() as i128;
        let weights = self.weights.as_deref();
        let weight = |row: usize| weights.map_or(1.0, |weights| f64::from(weights[row]));
        let positive = self.target.iter().enumerate();
        Ok(About {
            rows: self.target.len(),
            weight: (0..self.target.len()).map(|row| whole(weight(row))).sum(),
            positive: positive.map(|(row, y)| whole(weight(row) * f64::from(*y))).sum(),
            targets: self
                .target
                .iter()
                .fold((1.0, 0.0), |(least, most), &y| (y.min(least), y.max(most))),
        })
    }

    fn start(&mut self, base: f32, scale: Scale, _: Sampler) -> Result<()> {
        self.scale = Some(scale);
        self.scores = vec![base; self.target.len()];
        self.pairs = vec![[0; 2]; self.target.len()];
        Ok(())
    }

    fn open(&mut self, round: &Round<'_>, into: &mut Histogram) -> Result<()> {
        self.take_gradients(round.frame.threads);
        self.rest = round.sampler.rows(round.number, &self.numbers, &mut self.seen);
        self.scratch.resize(self.seen.len(), 0);
        self.leaves.clear();
        self.leaves.push(0..self.seen.len());
        let data = Data { frame: &round.frame, codes: &self.codes, pairs: &self.pairs };
        data.add_up(&self.seen, into, &mut self.spare);
        Ok(())
    }

    fn cut(
        &mut self,
        round: &Round<'_>,
        cut: Cut<'_>,
        _: &[Cut<'_>],
        into: &mut Histogram,
    ) -> Result<()> {
        let run = self.leaves[cut.leaf].clone();
        let (codes, columns) = (&*self.codes, self.columns);
        let rows = (&mut self.seen[run.clone()], &mut self.scratch[run.clone()]);
        let left =
            partition((codes, columns), (cut.column, cut.goes_left), rows, round.frame.threads);
        let sides = [run.start..run.start + left, run.start + left..run.end];
        if let Some(side) = cut.sum {
            let data = Data { frame: &round.frame, codes, pairs: &self.pairs };
            data.add_up(&self.seen[sides[side].clone()], into, &mut self.spare);
        }
        let [left, right] = sides;
        self.leaves[cut.leaf] = left;
        self.leaves.push(right);
        Ok(())
    }

    fn learn(&mut self, forest: &Forest, values: &[f32]) -> Result<()> {
        for (leaf, value) in self.leaves.iter().zip(values) {
            for &row in &self.seen[leaf.clone()] {
                self.scores[row as usize] += value;
            }
        }
        let (tree, columns) = (forest.trees() - 1, self.columns);
        for &row in &self.rest {
            let at = row as usize;
            self.scores[at] += forest.walk(tree, &self.codes[at * columns..(at + 1) * columns]);
        }
        Ok(())
    }
}

/// Whether these are the first rows, in their order.
pub(super) fn is_first(rows: &[u32]) -> bool {
    rows.iter().enumerate().all(|(at, &row)| at == row as usize)
}

/// Rows that a thread partitions at a time.
const BLOCK: usize = 32_768;

/// Moves the rows that go left before the others, each side in its order, and returns how many go left.
fn partition(
    (codes, columns): (&[u8], usize),
    (column, goes_left): (usize, &[bool; 256]),
    (rows, scratch): (&mut [u32], &mut [u32]),
    threads: &Threads,
) -> usize {
    let block = if threads.count() == 1 { rows.len().max(1) } else { BLOCK };
    let mut blocks: Vec<_> = rows.chunks_mut(block).zip(scratch.chunks_mut(block)).collect();
    let lefts = threads.each_mut(&mut blocks, |(rows, scratch)| {
        // Both sides are written for every row, and one of them moves on: there is nothing to mispredict.
        let (mut left, mut right) = (0, 0);
        for at in 0..rows.len() {
            let row = rows[at];
            let goes_left =
                usize::from(goes_left[usize::from(codes[row as usize * columns + column])]);
            rows[left] = row;
            scratch[right] = row;
            left += goes_left;
            right += 1 - goes_left;
        }
        left
    });
    // Before this, left rows are at the start of each block, and right rows at the start of its scratch.
    let mut left = 0;
    for (at, &count) in lefts.iter().enumerate() {
        rows.copy_within(at * block..at * block + count, left);
        left += count;
    }
    let mut end = left;
    for (scratch, &count) in scratch.chunks(block).zip(&lefts) {
        let right = &scratch[..scratch.len() - count];
        rows[end..end + right.len()].copy_from_slice(right);
        end += right.len();
    }
    left
}
