//! Histograms: for each column and code, the [`Sum`] of the rows that have it.
//!
//! A column takes 260 sums, so that a code, which is a byte, needs no check, and so that the first levels of all
//! columns do not fall into the same few places of the cache.

use super::bins::{MISSING, Shape};
use super::gradient::{Pair, Scale, Sum, minus, plus};
use crate::threads::Threads;
use crate::wide::{prefetch, wide};
use crate::{Error, ErrorKind, Result};

/// The sums of one column, by code.
pub(super) type Column = [Sum; 260];

/// The sums of all columns that a tree may split on.
pub(super) type Histogram = Vec<Column>;

/// What histograms of a tree are of: the columns that it may split on.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    pub(super) scale: Scale,
    pub(super) shapes: &'a [Shape],
    /// The columns of the histogram.
    pub(super) active: &'a [u16],
    pub(super) threads: &'a Threads,
}

/// Rows that make it worth to wake another thread.
const SHARE: usize = 4_096;

/// How far ahead rows are fetched.
const AHEAD: usize = 12;

impl Frame<'_> {
    pub(super) fn columns(&self) -> usize {
        self.shapes.len()
    }

    pub(super) fn shape(&self, active: usize) -> Shape {
        self.shapes[usize::from(self.active[active])]
    }

    /// The codes that a column of the histogram has, a range and missing.
    fn used<'h>(&self, active: usize, column: &'h mut Column) -> (&'h mut [Sum], &'h mut Sum) {
        let (levels, rest) = column.split_at_mut(usize::from(MISSING));
        (&mut levels[..self.shape(active).levels], &mut rest[0])
    }

    /// Adds another histogram to one, or takes it away.
    pub(super) fn combine(
        &self,
        into: &mut Histogram,
        other: &mut Histogram,
        how: impl Fn(Sum, Sum) -> Sum,
    ) {
        for (at, (column, other)) in into.iter_mut().zip(other).enumerate() {
            let (levels, missing) = self.used(at, column);
            let (others, other) = self.used(at, other);
            levels.iter_mut().zip(others).for_each(|(level, other)| *level = how(*level, *other));
            *missing = how(*missing, *other);
        }
    }

    /// A histogram of no rows.
    pub(super) fn zeros(&self) -> Histogram {
        vec![[[0; 2]; 260]; self.active.len()]
    }

    /// The sums of a histogram as bytes: column by column, those of its levels and of missing.
    pub(super) fn bytes(&self, histogram: &mut Histogram) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (at, column) in histogram.iter_mut().enumerate() {
            let (levels, missing) = self.used(at, column);
            for sum in levels.iter().chain([&*missing]) {
                bytes.extend(sum.iter().flat_map(|word| word.to_le_bytes()));
            }
        }
        bytes
    }

    /// What is left of a node's histogram without that of one child: the other child's.
    pub(super) fn subtract(&self, node: &mut Histogram, child: &mut Histogram) {
        self.combine(node, child, minus);
    }

    /// The sum of all rows of a histogram.
    pub(super) fn total(&self, histogram: &mut Histogram) -> Sum {
        let Some(column) = histogram.first_mut() else { return [0; 2] };
        let (levels, missing) = self.used(0, column);
        levels.iter().fold(*missing, |sum, level| plus(sum, *level))
    }
}

/// Adds sums that are bytes to a histogram.
pub(super) fn plus_words(frame: &Frame<'_>, into: &mut Histogram, bytes: &[u8]) -> Result<()> {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut words = words.iter().map(|word| i64::from_le_bytes(*word));
    let wrong = || Error::new(ErrorKind::Format, "a histogram is of other columns");
    for (at, column) in into.iter_mut().enumerate() {
        let (levels, missing) = frame.used(at, column);
        for sum in levels.iter_mut().chain([missing]) {
            let (Some(gradient), Some(hessian)) = (words.next(), words.next()) else {
                return Err(wrong());
            };
            *sum = plus(*sum, [gradient, hessian]);
        }
    }
    if words.next().is_some() || !rest.is_empty() { Err(wrong()) } else { Ok(()) }
}

/// Rows of a training, of which some are added up.
pub(super) struct Data<'a> {
    pub(super) frame: &'a Frame<'a>,
    /// Row by row.
    pub(super) codes: &'a [u8],
    pub(super) pairs: &'a [Pair],
}

impl Data<'_> {
    /// Sums over some of the rows, by as many threads as it is worth; `spare` is space for the others.
    pub(super) fn add_up(&self, rows: &[u32], into: &mut Histogram, spare: &mut Vec<Histogram>) {
        let frame = self.frame;
        let parts = (rows.len() / SHARE).clamp(1, frame.threads.count());
        while spare.len() + 1 < parts {
            spare.push(vec![[[0; 2]; 260]; into.len()]);
        }
        let spare = &mut spare[..parts - 1];
        let share = rows.len().div_ceil(parts).max(1);
        // One of no rows has to be cleared, too.
        let shares = rows.chunks(share).chain(rows.is_empty().then_some(rows));
        let histograms = spare.iter_mut().chain([&mut *into]);
        let mut work: Vec<_> = histograms.zip(shares).collect();
        frame.threads.each_mut(&mut work, |(histogram, rows)| {
            histogram.resize(frame.active.len(), [[0; 2]; 260]);
            for (at, column) in histogram.iter_mut().enumerate() {
                let (levels, missing) = frame.used(at, column);
                levels.fill([0; 2]);
                *missing = [0; 2];
            }
            wide(
                #[inline(always)]
                || self.add(rows, histogram),
            );
        });
        for other in spare {
            frame.combine(into, other, plus);
        }
    }

    #[inline(always)]
    fn add(&self, rows: &[u32], histogram: &mut [Column]) {
        let columns = self.frame.columns();
        let all = histogram.len() == columns;
        for (at, &row) in rows.iter().enumerate() {
            if let Some(&row) = rows.get(at + AHEAD) {
                self.codes.get(row as usize * columns).into_iter().for_each(prefetch);
                self.pairs.get(row as usize).into_iter().for_each(prefetch);
            }
            let row = row as usize;
            let sum = self.frame.scale.row(self.pairs[row]);
            let codes = &self.codes[row * columns..(row + 1) * columns];
            if all {
                for (column, &code) in histogram.iter_mut().zip(codes) {
                    let level = &mut column[usize::from(code)];
                    *level = plus(*level, sum);
                }
            } else {
                for (column, &active) in histogram.iter_mut().zip(self.frame.active) {
                    let level = &mut column[usize::from(codes[usize::from(active)])];
                    *level = plus(*level, sum);
                }
            }
        }
    }
}
