//! One tree, grown leaf by leaf.
//!
//! The leaf whose best split gains most is split next, until there are enough leaves or nothing gains. Each leaf is a
//! run of one list of rows; a split partitions its run in place, in the rows' order. Only the smaller child's histogram
//! is summed up: the other's is the node's less that.

use std::ops::Range;

use super::bins::Order;
use super::forest::{Forest, LEAF};
use super::gradient::Sum;
use super::histogram::{Data, Histogram};
use super::spec::Growth;
use super::split::{Bounds, Node, Split};
use crate::model::Monotone;

/// The space that trees are grown in, one after the other.
#[derive(Default)]
pub(super) struct Grower {
    /// The rows of the tree, those of a leaf beside each other.
    pub(super) rows: Vec<u32>,
    scratch: Vec<u32>,
    /// Histograms that no leaf holds.
    free: Vec<Histogram>,
    /// Space for the sums of other threads.
    spare: Vec<Histogram>,
    leaves: Vec<Leaf>,
}

struct Leaf {
    rows: Range<usize>,
    total: Sum,
    bounds: Option<Bounds>,
    value: f64,
    /// The split that it hangs from, and on which side.
    parent: Option<(usize, usize)>,
    histogram: Option<Histogram>,
    best: Option<Split>,
}

/// Levels of a histogram that make it worth to wake another thread.
const SHARE: usize = 2_048;

impl Grower {
    /// Grows a tree on [`Grower::rows`] and adds it to the forest; false if nothing gains.
    pub(super) fn grow(&mut self, data: &Data<'_>, growth: Growth, forest: &mut Forest) -> bool {
        self.free.extend(self.leaves.drain(..).filter_map(|leaf| leaf.histogram));
        self.scratch.resize(self.rows.len(), 0);
        let monotone = |shape: &super::bins::Shape| matches!(shape.order, Order::Ordered(Some(_)));
        let bounds = data.shapes.iter().any(monotone).then_some(Bounds::NONE);
        let mut histogram = self.take(data);
        data.fill(&self.rows, &mut histogram, &mut self.spare);
        let mut root = Leaf {
            rows: 0..self.rows.len(),
            total: data.total(&mut histogram),
            bounds,
            value: 0.0,
            parent: None,
            histogram: Some(histogram),
            best: None,
        };
        root.search(data, growth);
        self.leaves.push(root);

        let first = forest.splits.len();
        while self.leaves.len() < growth.leaves {
            // The greatest gain, and of equal ones the first.
            let gain = |leaf: &Leaf| leaf.best.map_or(0.0, |split| split.gain);
            let best = (0..self.leaves.len())
                .reduce(|a, b| if gain(&self.leaves[b]) > gain(&self.leaves[a]) { b } else { a });
            let Some((place, split)) =
                best.and_then(|at| self.leaves[at].best.map(|split| (at, split)))
            else {
                break;
            };
            let last = self.leaves.len() + 1 == growth.leaves;
            self.split(place, &split, last, data, growth, forest);
        }
        if forest.splits.len() == first {
            return false;
        }
        forest.roots.push(first as u32);
        for leaf in &self.leaves {
            if let Some((split, side)) = leaf.parent {
                forest.splits[split].children[side] = LEAF + forest.leaves.len() as u32;
            }
            forest.leaves.push((leaf.value * growth.rate) as f32);
        }
        true
    }

    /// The rows of each leaf of the last tree, and its value as the forest has it.
    pub(super) fn grown(&self, rate: f64) -> impl Iterator<Item = (&[u32], f32)> {
        let leaf = move |leaf: &Leaf| (leaf.rows.clone(), (leaf.value * rate) as f32);
        self.leaves.iter().map(leaf).map(|(rows, value)| (&self.rows[rows], value))
    }

    fn take(&mut self, data: &Data<'_>) -> Histogram {
        let mut histogram = self.free.pop().unwrap_or_default();
        histogram.resize(data.active.len(), [[0; 2]; 260]);
        histogram
    }

    fn split(
        &mut self,
        place: usize,
        split: &Split,
        last: bool,
        data: &Data<'_>,
        growth: Growth,
        forest: &mut Forest,
    ) {
        let column = usize::from(data.active[split.column]);
        let at = forest.push(column, &split.route, split.gain);
        let node = &mut self.leaves[place];
        if let Some((parent, side)) = node.parent {
            forest.splits[parent].children[side] = at as u32;
        }
        let (rows, bounds) = (node.rows.clone(), node.bounds);
        let histogram = node.histogram.take();
        let (run, scratch) = (&mut self.rows[rows.clone()], &mut self.scratch[rows.clone()]);
        let middle = rows.start + partition(data, column, split.route.table(), run, scratch);

        let bounds = bounds.map_or([None; 2], |bounds| {
            let Order::Ordered(Some(monotone)) = data.shapes[column].order else {
                return [Some(bounds); 2];
            };
            let between = 0.5 * (split.values[0] + split.values[1]);
            let below = Bounds { high: bounds.high.min(between), ..bounds };
            let above = Bounds { low: bounds.low.max(between), ..bounds };
            match monotone {
                Monotone::Increasing => [Some(below), Some(above)],
                Monotone::Decreasing => [Some(above), Some(below)],
            }
        });
        let ranges = [rows.start..middle, middle..rows.end];
        let [mut left, mut right] = [0, 1].map(|side| Leaf {
            rows: ranges[side].clone(),
            total: split.sums[side],
            bounds: bounds[side],
            value: split.values[side],
            parent: Some((at, side)),
            histogram: None,
            best: None,
        });
        // A leaf that cannot be split needs no histogram, unless its sibling's is made of it.
        let small_first = left.rows.len() <= right.rows.len();
        let (small, large) =
            if small_first { (&mut left, &mut right) } else { (&mut right, &mut left) };
        let splits = |leaf: &Leaf| !last && leaf.rows.len() >= 2 * growth.min_leaf.max(1);
        match histogram {
            Some(mut histogram) if splits(large) => {
                let mut smaller = self.take(data);
                data.fill(&self.rows[small.rows.clone()], &mut smaller, &mut self.spare);
                data.subtract(&mut histogram, &mut smaller);
                large.histogram = Some(histogram);
                large.search(data, growth);
                small.histogram = Some(smaller);
                if splits(small) {
                    small.search(data, growth);
                }
            }
            histogram => self.free.extend(histogram),
        }
        for leaf in [&mut left, &mut right] {
            if leaf.best.is_none() {
                self.free.extend(leaf.histogram.take());
            }
        }
        self.leaves[place] = left;
        self.leaves.push(right);
    }
}

impl Leaf {
    /// Finds the best split; of equal ones, that of the first column.
    fn search(&mut self, data: &Data<'_>, growth: Growth) {
        let node = Node { total: self.total, scale: data.scale, growth, bounds: self.bounds };
        let Some(histogram) = &self.histogram else { return };
        let best = |columns: Range<usize>| {
            let splits = columns.map(|at| node.best(at, &histogram[at], data.shape(at)));
            splits.flatten().reduce(|a, b| if b.gain > a.gain { b } else { a })
        };
        let levels: usize = (0..histogram.len()).map(|at| data.shape(at).levels).sum();
        let parts = (levels / SHARE).clamp(1, data.threads.count());
        if parts == 1 {
            self.best = best(0..histogram.len());
            return;
        }
        let share = histogram.len().div_ceil(parts);
        let starts: Vec<usize> = (0..histogram.len()).step_by(share).collect();
        let found =
            data.threads.each(&starts, |&start| best(start..histogram.len().min(start + share)));
        self.best = found.into_iter().flatten().reduce(|a, b| if b.gain > a.gain { b } else { a });
    }
}

/// Rows that a thread partitions at a time.
const BLOCK: usize = 32_768;

/// Moves the rows that go left before the others, each side in its order, and returns how many go left.
fn partition(
    data: &Data<'_>,
    column: usize,
    goes_left: [bool; 256],
    rows: &mut [u32],
    scratch: &mut [u32],
) -> usize {
    let (codes, columns) = (data.codes, data.columns());
    let block = if data.threads.count() == 1 { rows.len().max(1) } else { BLOCK };
    let mut blocks: Vec<_> = rows.chunks_mut(block).zip(scratch.chunks_mut(block)).collect();
    let lefts = data.threads.each_mut(&mut blocks, |(rows, scratch)| {
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
