//! The settings of boosted trees, and what is used where a setting is left to the data.

use std::collections::BTreeMap;

use super::bins::LEVELS;
use crate::Result;
use crate::model::Monotone;
use crate::settings::{self, declare};

declare! {
    /// How to boost trees.
    #[derive()]
    pub struct TreesSpec {
        /// Most trees.
        pub trees: usize = with(400).between(1.0, 100_000.0),
        /// Most leaves of a tree.
        pub leaves: Option<usize> =
            with(None).between(2.0, 4_096.0).auto("15 from 15,000 training rows on, 6 below"),
        /// Learning rate: the share of each tree's correction that is used.
        pub rate: Option<f64> =
            with(None).between(0.0001, 1.0).auto("0.1 from 15,000 training rows on, 0.05 below"),
        /// Least training rows in a leaf.
        pub min_leaf: Option<usize> =
            with(None).between(1.0, 1e9).auto("20 from 15,000 training rows on, 30 below"),
        /// L2 penalty on the values of leaves.
        pub l2: f64 = with(1.0).between(0.0, 1e9),
        /// Share of the rows that each tree is trained on.
        pub rows: f64 = with(0.8).between(0.01, 1.0),
        /// Share of the columns that each tree may split on.
        pub columns: f64 = with(0.8).between(0.01, 1.0),
        /// Training stops after so many trees that do not improve the held-out loss.
        pub patience: usize = with(25).between(1.0, 100_000.0),
        /// Most bins that a number is sorted into.
        pub bins: usize = with(LEVELS).between(2.0, LEVELS as f64),
        /// Columns in which the probability of the label must not fall, or must not rise.
        pub monotone: BTreeMap<String, Monotone> = with(BTreeMap::new()),
    }
}

/// From so many training rows on, trees are larger and learn faster.
const MANY: usize = 15_000;

/// The settings that depend on the number of training rows, as they are used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Growth {
    /// Most leaves of a tree.
    pub leaves: usize,
    /// Learning rate.
    pub rate: f64,
    /// Least rows in a leaf.
    pub min_leaf: usize,
    /// L2 penalty on the values of leaves.
    pub l2: f64,
}

impl TreesSpec {
    /// Refuses settings that no tree could be grown with.
    pub fn check(&self) -> Result<()> {
        settings::check(self)
    }

    /// What is used for so many training rows.
    pub fn growth(&self, rows: usize) -> Growth {
        let many = rows >= MANY;
        Growth {
            leaves: self.leaves.unwrap_or(if many { 15 } else { 6 }),
            rate: self.rate.unwrap_or(if many { 0.1 } else { 0.05 }),
            min_leaf: self.min_leaf.unwrap_or(if many { 20 } else { 30 }),
            l2: self.l2,
        }
    }
}
