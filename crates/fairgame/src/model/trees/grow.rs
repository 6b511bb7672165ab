//! One tree, grown leaf by leaf.
//!
//! The leaf whose best split gains most is split next, until there are enough leaves or nothing gains. Only the smaller
//! child's histogram is asked of the rows: the other's is the node's less that.

use std::ops::Range;

use super::bins::Order;
use super::field::{Cut, Field, Round};
use super::forest::{Forest, LEAF};
use super::gradient::Sum;
use super::histogram::{Frame, Histogram};
use super::spec::Growth;
use super::split::{Bounds, Node, Split};
use crate::Result;
use crate::model::Monotone;

/// The space that trees are grown in, one after the other.
#[derive(Default)]
pub(super) struct Grower {
    /// Histograms that no leaf holds.
    free: Vec<Histogram>,
    leaves: Vec<Leaf>,
}

struct Leaf {
    /// How many rows it has, and what they add up to.
    rows: u64,
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
    /// Grows a tree on the rows that a field opens, and adds it to the forest; false if nothing gains, or it sees no rows.
    pub(super) fn grow(
        &mut self,
        field: &mut dyn Field,
        round: &Round<'_>,
        growth: Growth,
        forest: &mut Forest,
    ) -> Result<bool> {
        let frame = &round.frame;
        self.free.extend(self.leaves.drain(..).filter_map(|leaf| leaf.histogram));
        let monotone = |shape: &super::bins::Shape| matches!(shape.order, Order::Ordered(Some(_)));
        let bounds = frame.shapes.iter().any(monotone).then_some(Bounds::NONE);
        let mut histogram = self.take(frame);
        field.open(round, &mut histogram)?;
        let total = frame.total(&mut histogram);
        let mut root = Leaf {
            rows: frame.scale.count(total),
            total,
            bounds,
            value: 0.0,
            parent: None,
            histogram: Some(histogram),
            best: None,
        };
        root.search(frame, growth);
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
            self.split(place, &split, (field, round), growth, forest)?;
        }
        if forest.splits.len() == first {
            return Ok(false);
        }
        forest.roots.push(first as u32);
        for leaf in &self.leaves {
            if let Some((split, side)) = leaf.parent {
                forest.splits[split].children[side] = LEAF + forest.leaves.len() as u32;
            }
            forest.leaves.push((leaf.value * growth.rate) as f32);
        }
        Ok(true)
    }

    /// The value of each leaf of the last tree, as the forest has it.
    pub(super) fn values(&self, rate: f64) -> Vec<f32> {
        self.leaves.iter().map(|leaf| (leaf.value * rate) as f32).collect()
    }

    /// The leaves that are likely to be cut soon beside one: those that gain most, and no more than may be cut. A new leaf may
    /// gain more than they do, so half of what is left is for these.
    fn soon(&self, but: usize, most: usize, frame: &Frame<'_>, growth: Growth) -> Vec<Foreseen> {
        if most < 2 {
            return Vec::new();
        }
        let others = self.leaves.iter().enumerate().filter(|(leaf, _)| *leaf != but);
        let mut others: Vec<(usize, Split)> =
            others.filter_map(|(at, leaf)| leaf.best.map(|split| (at, split))).collect();
        others.sort_by(|(_, a), (_, b)| b.gain.total_cmp(&a.gain));
        others.truncate((growth.leaves - self.leaves.len()).div_ceil(2).min(most) - 1);
        let foreseen = |(leaf, split): (usize, Split)| Foreseen {
            leaf,
            column: usize::from(frame.active[split.column]),
            goes_left: split.route.table(),
            sum: summed(&split, frame, growth),
        };
        others.into_iter().map(foreseen).collect()
    }

    fn take(&mut self, frame: &Frame<'_>) -> Histogram {
        let mut histogram = self.free.pop().unwrap_or_default();
        histogram.resize(frame.active.len(), [[0; 2]; 260]);
        histogram
    }

    fn split(
        &mut self,
        place: usize,
        split: &Split,
        (field, round): (&mut dyn Field, &Round<'_>),
        growth: Growth,
        forest: &mut Forest,
    ) -> Result<()> {
        let frame = &round.frame;
        let last = self.leaves.len() + 1 == growth.leaves;
        let soon = self.soon(place, field.foresees(), frame, growth);
        let column = usize::from(frame.active[split.column]);
        let at = forest.push(column, &split.route, split.gain);
        let node = &mut self.leaves[place];
        if let Some((parent, side)) = node.parent {
            forest.splits[parent].children[side] = at as u32;
        }
        let (bounds, histogram) = (node.bounds, node.histogram.take());
        let bounds = bounds.map_or([None; 2], |bounds| {
            let Order::Ordered(Some(monotone)) = frame.shapes[column].order else {
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
        let [mut left, mut right] = [0, 1].map(|side| Leaf {
            rows: frame.scale.count(split.sums[side]),
            total: split.sums[side],
            bounds: bounds[side],
            value: split.values[side],
            parent: Some((at, side)),
            histogram: None,
            best: None,
        });
        let goes_left = split.route.table();
        let sum = summed(split, frame, growth).filter(|_| !last && histogram.is_some());
        let mut smaller = if sum.is_some() { self.take(frame) } else { Histogram::new() };
        let cut = Cut { leaf: place, column, goes_left: &goes_left, sum };
        let soon: Vec<Cut<'_>> = soon.iter().map(Foreseen::cut).collect();
        field.cut(round, cut, &soon, &mut smaller)?;
        let (small, large) =
            if left.rows <= right.rows { (&mut left, &mut right) } else { (&mut right, &mut left) };
        match histogram {
            Some(mut histogram) if sum.is_some() => {
                frame.subtract(&mut histogram, &mut smaller);
                large.histogram = Some(histogram);
                large.search(frame, growth);
                small.histogram = Some(smaller);
                if can_split(small.rows, growth) {
                    small.search(frame, growth);
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
        Ok(())
    }
}

/// A cut that is likely to be made soon.
struct Foreseen {
    leaf: usize,
    column: usize,
    goes_left: [bool; 256],
    sum: Option<usize>,
}

impl Foreseen {
    fn cut(&self) -> Cut<'_> {
        let &Foreseen { leaf, column, ref goes_left, sum } = self;
        Cut { leaf, column, goes_left, sum }
    }
}

/// Whether a leaf of so many rows can be split.
fn can_split(rows: u64, growth: Growth) -> bool {
    rows >= 2 * growth.min_leaf.max(1) as u64
}

/// The side of a split whose histogram is needed: a leaf that cannot be split needs none, unless its sibling's is made of it.
fn summed(split: &Split, frame: &Frame<'_>, growth: Growth) -> Option<usize> {
    let [left, right] = split.sums.map(|sum| frame.scale.count(sum));
    can_split(left.max(right), growth).then_some(usize::from(left > right))
}

impl Leaf {
    /// Finds the best split; of equal ones, that of the first column.
    fn search(&mut self, frame: &Frame<'_>, growth: Growth) {
        let node = Node { total: self.total, scale: frame.scale, growth, bounds: self.bounds };
        let Some(histogram) = &self.histogram else { return };
        let best = |columns: Range<usize>| {
            let splits = columns.map(|at| node.best(at, &histogram[at], frame.shape(at)));
            splits.flatten().reduce(|a, b| if b.gain > a.gain { b } else { a })
        };
        let levels: usize = (0..histogram.len()).map(|at| frame.shape(at).levels).sum();
        let parts = (levels / SHARE).clamp(1, frame.threads.count());
        if parts == 1 {
            self.best = best(0..histogram.len());
            return;
        }
        let share = histogram.len().div_ceil(parts);
        let starts: Vec<usize> = (0..histogram.len()).step_by(share).collect();
        let found =
            frame.threads.each(&starts, |&start| best(start..histogram.len().min(start + share)));
        self.best = found.into_iter().flatten().reduce(|a, b| if b.gain > a.gain { b } else { a });
    }
}
