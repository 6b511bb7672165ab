//! A forest: trees whose leaves add up to the log-odds of a row.
//!
//! A row's score is f(x) = base + Σ_t leaf_t(x), added up in f32 in the order of the trees. All trees lie in the same
//! arrays. A tree of m splits has m + 1 leaves, and a split's children lie after it, so that every walk ends.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::arrays::Description;
use super::bins::{Binned, MISSING};
use super::flat::FlatTree;
use super::split::{Route, Set};

/// Trees, and what they are added to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Description", into = "Description")]
pub struct Forest {
    /// How many codes a row has.
    pub(super) columns: usize,
    pub(super) base: f32,
    /// The first split of each tree.
    pub(super) roots: Vec<u32>,
    pub(super) splits: Vec<Fork>,
    /// What each split gained.
    pub(super) gains: Vec<f32>,
    pub(super) leaves: Vec<f32>,
    pub(super) sets: Vec<Set>,
}

/// A split as it is walked: 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Fork {
    /// Left and right: a split, or from [`LEAF`] on a leaf.
    pub(super) children: [u32; 2],
    /// The set of categories that go left, or [`NO_SET`].
    pub(super) set: u32,
    pub(super) column: u16,
    /// 1 where missing values go left: the missing code, 255, is then moved to 0 and all others up by one.
    pub(super) shift: u8,
    /// The greatest code, so moved, that goes left.
    pub(super) cut: u8,
}

/// A node: a split by its place, or the value of a leaf.
pub(crate) type Child = Result<usize, f32>;

/// A split as it is to be understood.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Branch {
    /// The column whose code is looked at.
    pub(crate) column: usize,
    /// The codes that go left, where there is a set of them.
    pub(crate) set: Option<Set>,
    /// Otherwise the greatest code that goes left; none does without one.
    pub(crate) level: Option<usize>,
    /// Whether missing values go left.
    pub(crate) missing_left: bool,
    /// Left and right.
    pub(crate) children: [Child; 2],
}

impl Branch {
    /// Whether rows with this code go left.
    pub(crate) fn is_left(&self, code: u8) -> bool {
        match (self.set, code) {
            (Some(set), code) => set[usize::from(code / 64)] >> (code % 64) & 1 == 1,
            (None, MISSING) => self.missing_left,
            (None, code) => self.level.is_some_and(|level| usize::from(code) <= level),
        }
    }
}

/// The first number of a child that is a leaf.
pub(super) const LEAF: u32 = 1 << 31;

/// A split on an ordered column.
pub(super) const NO_SET: u32 = u32::MAX;

impl Forest {
    /// A forest without trees.
    pub(super) fn new(columns: usize, base: f32) -> Self {
        let (roots, splits, gains) = (Vec::new(), Vec::new(), Vec::new());
        Forest { columns, base, roots, splits, gains, leaves: Vec::new(), sets: Vec::new() }
    }

    /// How many trees there are.
    pub fn trees(&self) -> usize {
        self.roots.len()
    }

    /// How many codes a row has.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The score of a row that is in no tree.
    pub fn base(&self) -> f32 {
        self.base
    }

    /// The first node of a tree.
    pub(crate) fn root(&self, tree: usize) -> Child {
        self.child(self.roots[tree])
    }

    fn child(&self, at: u32) -> Child {
        match at.checked_sub(LEAF) {
            None => Ok(at as usize),
            Some(leaf) => Err(self.leaves[leaf as usize]),
        }
    }

    /// A split as it is to be understood.
    pub(crate) fn branch(&self, split: usize) -> Branch {
        let fork = &self.splits[split];
        Branch {
            column: usize::from(fork.column),
            set: self.sets.get(fork.set as usize).copied(),
            level: usize::from(fork.cut).checked_sub(usize::from(fork.shift)),
            missing_left: fork.shift == 1,
            children: fork.children.map(|child| self.child(child)),
        }
    }

    /// All splits.
    pub(crate) fn branches(&self) -> impl Iterator<Item = Branch> + '_ {
        (0..self.splits.len()).map(|split| self.branch(split))
    }

    /// Adds a split whose children are still to be set, and returns its place.
    pub(super) fn push(&mut self, column: usize, route: &Route, gain: f64) -> usize {
        let (set, shift, cut) = match route {
            Route::Cut { code, missing_left } => {
                (NO_SET, u8::from(*missing_left), code + u8::from(*missing_left))
            }
            Route::Among(set) => {
                self.sets.push(*set);
                (self.sets.len() as u32 - 1, 0, 0)
            }
        };
        let children = [LEAF; 2];
        self.splits.push(Fork { children, set, column: column as u16, shift, cut });
        self.gains.push(gain as f32);
        self.splits.len() - 1
    }

    /// Cuts the forest back to its first trees.
    pub(super) fn truncate(&mut self, trees: usize) {
        let Some(&splits) = self.roots.get(trees) else { return };
        self.roots.truncate(trees);
        self.splits.truncate(splits as usize);
        self.gains.truncate(splits as usize);
        self.leaves.truncate(splits as usize + trees);
        let sets = self.splits.iter().filter(|split| split.set != NO_SET).count();
        self.sets.truncate(sets);
    }

    /// The value of the leaf that a row falls into.
    #[inline(always)]
    pub(super) fn walk(&self, tree: usize, codes: &[u8]) -> f32 {
        let mut at = self.roots[tree];
        while at < LEAF {
            let split = &self.splits[at as usize];
            let code = codes[usize::from(split.column)];
            let left = match self.sets.get(split.set as usize) {
                None => code.wrapping_add(split.shift) <= split.cut,
                Some(set) => set[usize::from(code / 64)] >> (code % 64) & 1 == 1,
            };
            at = split.children[usize::from(!left)];
        }
        self.leaves[(at - LEAF) as usize]
    }

    /// The score of a row: its log-odds.
    ///
    /// # Panics
    /// If there are fewer codes than columns.
    pub fn score_row(&self, codes: &[u8]) -> f32 {
        (0..self.trees()).fold(self.base, |score, tree| score + self.walk(tree, codes))
    }

    /// Writes the scores of a range of rows.
    ///
    /// # Panics
    /// If there are no such rows, if they have other columns, or if there is not one score a row.
    pub fn score(&self, binned: &Binned, rows: Range<usize>, scores: &mut [f32]) {
        assert_eq!(binned.columns, self.columns, "columns of this forest");
        assert_eq!(rows.len(), scores.len(), "one score a row");
        let codes = &binned.codes[rows.start * self.columns..rows.end * self.columns];
        self.score_codes(codes, scores);
    }

    /// Writes the scores of rows of codes, a block of rows after the other, so that a tree and a block stay in cache.
    ///
    /// # Panics
    /// If there are not as many codes as columns for each score.
    pub fn score_codes(&self, codes: &[u8], scores: &mut [f32]) {
        const BLOCK: usize = 256;
        /// Fewer rows are not worth laying the trees out for.
        const FEW: usize = 64;
        assert_eq!(codes.len(), scores.len() * self.columns, "a code for each column of each row");
        scores.fill(self.base);
        if self.columns == 0 {
            return;
        }
        if scores.len() < FEW {
            for (codes, score) in codes.chunks_exact(self.columns).zip(&mut *scores) {
                *score = self.score_row(codes);
            }
            return;
        }
        let trees: Vec<Option<FlatTree>> =
            (0..self.trees()).map(|tree| FlatTree::new(self, tree)).collect();
        let blocks = codes.chunks(BLOCK * self.columns).zip(scores.chunks_mut(BLOCK));
        for (codes, scores) in blocks {
            for (at, tree) in trees.iter().enumerate() {
                match tree {
                    Some(tree) => tree.add_to(codes, self.columns, scores),
                    None => {
                        let rows = codes.chunks_exact(self.columns).zip(&mut *scores);
                        rows.for_each(|(codes, score)| *score += self.walk(at, codes));
                    }
                }
            }
        }
    }

    /// The gain of all splits on each column: how much it has lowered the training loss, times two.
    pub fn importance(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.columns];
        for (split, gain) in self.splits.iter().zip(&self.gains) {
            sums[usize::from(split.column)] += f64::from(*gain);
        }
        sums
    }
}
