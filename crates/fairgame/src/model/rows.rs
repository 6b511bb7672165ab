//! A block of rows, and the space that a model works in.

use std::ops::Range;

use super::Placed;
use crate::encode::{Codes, Features};

/// Some rows of a dataset's features: a range of them, or any list.
///
/// Blocks of a few hundred rows keep what a model works on in cache.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    features: &'a Features,
    which: Which<'a>,
    placed: Option<&'a Placed>,
}

#[derive(Debug, Clone, Copy)]
enum Which<'a> {
    Range { start: usize, end: usize },
    List(&'a [u32]),
}

impl<'a> Rows<'a> {
    /// Every row.
    pub fn all(features: &'a Features) -> Self {
        Rows { features, which: Which::Range { start: 0, end: features.rows() }, placed: None }
    }

    /// A range of rows.
    ///
    /// # Panics
    /// If the range goes beyond the features.
    pub fn range(features: &'a Features, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= features.rows(), "rows of the features");
        Rows { features, which: Which::Range { start: range.start, end: range.end }, placed: None }
    }

    /// These rows, in this order.
    ///
    /// # Panics
    /// If a row is beyond the features.
    pub fn list(features: &'a Features, rows: &'a [u32]) -> Self {
        assert!(rows.iter().all(|&row| (row as usize) < features.rows()), "rows of the features");
        Rows { features, which: Which::List(rows), placed: None }
    }

    /// The same rows, for a lattice that was asked before where the rows of these features lie.
    #[must_use]
    pub fn placed(mut self, placed: Option<&'a Placed>) -> Self {
        self.placed = placed;
        self
    }

    /// Where the rows of the features lie, if it is known.
    pub(super) fn known_places(&self) -> Option<&'a Placed> {
        self.placed
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        match self.which {
            Which::Range { start, end } => end - start,
            Which::List(rows) => rows.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The features that they are rows of.
    pub fn features(&self) -> &'a Features {
        self.features
    }

    /// The place in the features of the row at `index`.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn place(&self, index: usize) -> usize {
        match self.which {
            Which::Range { start, .. } => start + index,
            Which::List(rows) => rows[index] as usize,
        }
    }

    /// The places of all rows in the features.
    pub(crate) fn places(&self) -> impl Iterator<Item = usize> + 'a {
        let rows = *self;
        (0..rows.len()).map(move |index| rows.place(index))
    }

    /// The numbers of the row at `index`.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn values(&self, index: usize) -> &'a [f32] {
        let (place, numbers) = (self.place(index), self.features.numbers());
        &self.features.values()[place * numbers..(place + 1) * numbers]
    }

    pub(super) fn codes(&self) -> &'a Codes {
        self.features.codes()
    }
}

/// Space that a model works in: it grows to what the largest block needs, and then no more.
#[derive(Debug, Clone, Default)]
pub struct Tape {
    /// How many rows the last score was of.
    pub(super) rows: usize,
    /// What the model keeps of each row from score to pullback.
    pub(super) kept: Vec<f32>,
    /// Where rows lie between parameters that the model interpolates: the place of the one before, …
    pub(super) places: Vec<u32>,
    /// … and how far on to the next.
    pub(super) shares: Vec<f32>,
    /// The weights of ladders, added up; on the way back, slopes that were there before.
    pub(super) climbed: Vec<f32>,
    /// Slopes within the model.
    pub(super) slopes: Vec<f32>,
    /// A factor of a matrix product, in the order in which it is read.
    pub(super) packed: Vec<f32>,
}

impl Tape {
    /// Space for a model of one's own, kept from score to pullback: as many numbers as asked for, with what was
    /// last written to them.
    pub fn space(&mut self, length: usize) -> &mut [f32] {
        Tape::fit(&mut self.kept, length)
    }

    /// Makes `space` as long as asked for, without looking at what is in it.
    pub(super) fn fit<T: Copy + Default>(space: &mut Vec<T>, length: usize) -> &mut [T] {
        if space.len() < length {
            space.resize(length, T::default());
        }
        &mut space[..length]
    }
}
