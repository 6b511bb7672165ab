//! Whether rows are those that a classifier was made from: a verdict on them says nothing of new ones.
//!
//! Of the rows that no other training row is like, the 256 whose hashes are smallest are remembered. A table
//! that has nearly all of them has the training rows within it, in whatever order and among whatever others.
//! Rows of a fresh sample may be like training rows where features are few, but not nearly all of those
//! that were alone even in the training data: as often as a fresh sample of the same size would have
//! such a row again, about two in three at most.

use std::collections::BTreeMap;
use std::fmt;

use super::Classifier;
use crate::Result;
use crate::encode::Features;
use crate::random::mix;
use crate::table::Table;

/// So many rows are remembered at most.
const REMEMBERED: usize = 256;

/// With fewer, nothing is said.
const NEEDED: usize = 20;

/// With this share of the remembered rows, a table has them.
const NEARLY_ALL: f64 = 0.9;

/// Whose rows a table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// Those that the model learnt from.
    Train,
    /// Those that the constraints were enforced on.
    Val,
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whose = match self {
            Seen::Train => "the model learnt from",
            Seen::Val => "the constraints were enforced on",
        };
        write!(
            f,
            "the rows that {whose} are among these: what is met on them may not be on new rows, whatever the \
             intervals say"
        )
    }
}

/// Enough that some of them came once, even where most rows have others like them.
const HELD: usize = 64 * REMEMBERED;

/// The smallest hashes of rows that come in parts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sketch {
    /// How often each of the smallest came.
    counts: BTreeMap<u64, u32>,
}

impl Sketch {
    /// Adds rows.
    pub(crate) fn add(&mut self, hashes: impl Iterator<Item = u64>) {
        for hash in hashes {
            let last = self.counts.last_key_value().map(|(last, _)| *last);
            if self.counts.len() < HELD || last.is_some_and(|last| hash <= last) {
                *self.counts.entry(hash).or_default() += 1;
                if self.counts.len() > HELD {
                    self.counts.pop_last();
                }
            }
        }
    }

    /// The smallest hashes, and how often each came.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (u64, u32)> {
        self.counts.iter().map(|(&hash, &count)| (hash, count))
    }

    /// Adds the rows of another, of which these are the smallest hashes.
    pub(crate) fn merge(&mut self, counts: Vec<(u64, u32)>) {
        for (hash, count) in counts {
            *self.counts.entry(hash).or_default() += count;
        }
        while self.counts.len() > HELD {
            self.counts.pop_last();
        }
    }

    /// The smallest hashes of rows that came once.
    pub(crate) fn finish(&self) -> Vec<u64> {
        let alone = self.counts.iter().filter(|(_, count)| **count == 1);
        alone.take(REMEMBERED).map(|(hash, _)| *hash).collect()
    }
}

/// The smallest hashes of rows that occur once.
pub(crate) fn sketch(features: &Features) -> Vec<u64> {
    let mut all = hashes(features);
    all.sort_unstable();
    let alone =
        |&at: &usize| (at == 0 || all[at - 1] != all[at]) && all.get(at + 1) != Some(&all[at]);
    (0..all.len()).filter(alone).take(REMEMBERED).map(|at| all[at]).collect()
}

/// A hash of each row, by which it is known again.
pub(crate) fn hashes(features: &Features) -> Vec<u64> {
    let row = |row: usize| {
        if features.is_made_of_others() {
            return features.hash(row);
        }
        let codes = features.row_codes(row).map(|code| code as u64);
        let values = features.row_values(row).iter().map(|value| u64::from(value.to_bits()));
        codes.chain(values).fold(0, |hash, part| mix(hash ^ mix(part.wrapping_add(1))))
    };
    (0..features.rows()).map(row).collect()
}

/// Looks for the rows that a classifier was made from among others, which may come in parts.
#[derive(Debug, Clone)]
pub struct Recognition<'a> {
    classifier: &'a Classifier,
    /// The hashes that are remembered, ascending, and which of them were found.
    remembered: Vec<(u64, bool)>,
}

impl Recognition<'_> {
    /// Looks among the rows of these features, of which the first view's tell.
    pub fn add(&mut self, features: &[Features]) {
        let Some(features) = features.first() else { return };
        // The smallest hashes are remembered: nearly all rows have a larger one than any of them.
        let Some(&(last, _)) = self.remembered.last() else { return };
        for hash in hashes(features).into_iter().filter(|hash| *hash <= last) {
            if let Ok(at) = self.remembered.binary_search_by_key(&hash, |(hash, _)| *hash) {
                self.remembered[at].1 = true;
            }
        }
    }

    /// Whose rows were among them, if nearly all of one player's were.
    pub fn finish(&self) -> Option<Seen> {
        let found = |hash: &u64| {
            let at = self.remembered.binary_search_by_key(hash, |(hash, _)| *hash);
            at.is_ok_and(|at| self.remembered[at].1)
        };
        let has = |sketch: &[u64]| {
            let known = sketch.iter().filter(|hash| found(hash)).count();
            sketch.len() >= NEEDED && known as f64 >= NEARLY_ALL * sketch.len() as f64
        };
        let provenance = self.classifier.provenance();
        if has(&provenance.train.sketch) {
            return Some(Seen::Train);
        }
        let val = provenance.val.as_ref().is_some_and(|val| has(&val.sketch));
        val.then_some(Seen::Val)
    }
}

impl Classifier {
    /// What finds the rows that this classifier was made from among others.
    pub fn recognition(&self) -> Recognition<'_> {
        let provenance = self.provenance();
        let sketches = [Some(&provenance.train), provenance.val.as_ref()];
        let hashes = sketches.into_iter().flatten().flat_map(|rows| &rows.sketch);
        let mut remembered: Vec<(u64, bool)> = hashes.map(|&hash| (hash, false)).collect();
        remembered.sort_unstable();
        remembered.dedup();
        Recognition { classifier: self, remembered }
    }

    /// Whose rows the table has among its own, if nearly all of one player's are there.
    ///
    /// # Errors
    /// If the table lacks a column of the features.
    pub fn seen(&self, table: &Table) -> Result<Option<Seen>> {
        let mut recognition = self.recognition();
        recognition.add(&self.encode(table)?);
        Ok(recognition.finish())
    }
}
