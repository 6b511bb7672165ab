//! Matrix products of the numbers of rows.

use super::vector::{Vector, load};
use super::{AHEAD, Kernel, LANES, prefetch};
use crate::model::rows::Rows;

/// How many rows of a product are made at once, and how many vectors of columns: as many sums as there
/// are registers for.
const ROWS: usize = 6;
const COLUMNS: usize = 2;

/// C ← X·W + C for the numbers X of rows (m × k), row-major W (k × n) and C (m × n), n a multiple of
/// [`LANES`].
///
/// Every item of C is added up in the order of k, so a row's result does not depend on its neighbours.
/// `packed` is space for W in the order in which it is read.
pub(in crate::model) struct Product<'a> {
    pub(in crate::model) rows: Rows<'a>,
    pub(in crate::model) matrix: &'a [f32],
    pub(in crate::model) units: usize,
    pub(in crate::model) into: &'a mut [f32],
    pub(in crate::model) packed: &'a mut Vec<f32>,
}

impl Kernel for Product<'_> {
    #[inline(always)]
    fn run<V: Vector>(self) {
        const WIDTH: usize = COLUMNS * LANES;
        let (numbers, units) = (self.rows.features().numbers(), self.units);
        let length = units.div_ceil(WIDTH) * numbers * WIDTH;
        if self.packed.len() < length {
            self.packed.resize(length, 0.0);
        }
        for (tile, packed) in self.packed[..length].chunks_exact_mut(numbers * WIDTH).enumerate() {
            let width = WIDTH.min(units - tile * WIDTH);
            for (into, from) in packed.chunks_exact_mut(WIDTH).zip(self.matrix.chunks_exact(units))
            {
                into[..width].copy_from_slice(&from[tile * WIDTH..][..width]);
                into[width..].fill(0.0);
            }
        }
        let last = self.rows.len().saturating_sub(1);
        for first in (0..self.rows.len()).step_by(ROWS) {
            let height = ROWS.min(self.rows.len() - first);
            for row in first + ROWS..(first + 2 * ROWS).min(self.rows.len()) {
                self.rows.values(row).iter().step_by(2 * LANES).for_each(prefetch);
            }
            // Beyond the last row, the last row again: its sums are not kept.
            let x: [&[f32]; ROWS] =
                std::array::from_fn(|row| &self.rows.values((first + row).min(last))[..numbers]);
            for (tile, packed) in self.packed[..length].chunks_exact(numbers * WIDTH).enumerate() {
                let mut sums = [[V::splat(0.0); COLUMNS]; ROWS];
                for (k, w) in packed.chunks_exact(WIDTH).enumerate() {
                    let w: [V; COLUMNS] = load(w);
                    for row in 0..ROWS {
                        let x = V::splat(x[row][k]);
                        sums[row] = std::array::from_fn(|c| sums[row][c].add(x.mul(w[c])));
                    }
                }
                for (row, sums) in sums.iter().enumerate().take(height) {
                    let into = &mut self.into[(first + row) * units + tile * WIDTH..];
                    let width = WIDTH.min(units - tile * WIDTH);
                    for (c, sum) in sums.iter().enumerate().take(width / LANES) {
                        let into = &mut into[c * LANES..];
                        V::load(into).add(*sum).store(into);
                    }
                }
            }
        }
    }
}

/// G ← Xᵀ·D + G for the numbers X of rows (m × k), row-major D (m × n) and G (k × n).
///
/// Rows of slope 0 are left out: their D is 0 and numbers are finite, so they would add ±0 to sums that start at +0,
/// which changes no bit of them.
///
/// `packed` is space for both factors in the order in which they are read.
pub(in crate::model) struct ProductBack<'a> {
    pub(in crate::model) rows: Rows<'a>,
    pub(in crate::model) slopes: &'a [f32],
    pub(in crate::model) inner: &'a [f32],
    pub(in crate::model) units: usize,
    pub(in crate::model) into: &'a mut [f32],
    pub(in crate::model) packed: &'a mut Vec<f32>,
}

impl Kernel for ProductBack<'_> {
    #[inline(always)]
    fn run<V: Vector>(self) {
        const WIDTH: usize = COLUMNS * LANES;
        // What is not a number is not 0: a model that has diverged must show it.
        let heard = || self.slopes.iter().enumerate().filter(|(_, slope)| **slope != 0.0);
        let heard = || heard().map(|(row, _)| row);
        let (rows, numbers, units) = (heard().count(), self.rows.features().numbers(), self.units);
        if rows == 0 {
            return;
        }
        let blocks = numbers.div_ceil(ROWS);
        let length = blocks * rows * ROWS + rows * WIDTH;
        if self.packed.len() < length {
            self.packed.resize(length, 0.0);
        }
        let (x, d) = self.packed[..length].split_at_mut(blocks * rows * ROWS);
        for (at, row) in heard().enumerate() {
            if row + AHEAD < self.rows.len() {
                self.rows.values(row + AHEAD).iter().step_by(2 * LANES).for_each(prefetch);
            }
            for (block, from) in self.rows.values(row).chunks(ROWS).enumerate() {
                let into = &mut x[(block * rows + at) * ROWS..][..ROWS];
                into[..from.len()].copy_from_slice(from);
                into[from.len()..].fill(0.0);
            }
        }
        for first in (0..units).step_by(WIDTH) {
            let width = WIDTH.min(units - first);
            for (into, row) in d.chunks_exact_mut(WIDTH).zip(heard()) {
                into[..width].copy_from_slice(&self.inner[row * units + first..][..width]);
                into[width..].fill(0.0);
            }
            for (block, x) in x.chunks_exact(rows * ROWS).enumerate() {
                let mut sums = [[V::splat(0.0); COLUMNS]; ROWS];
                for (x, d) in x.chunks_exact(ROWS).zip(d.chunks_exact(WIDTH)) {
                    let d: [V; COLUMNS] = load(d);
                    for row in 0..ROWS {
                        let x = V::splat(x[row]);
                        sums[row] = std::array::from_fn(|c| sums[row][c].add(x.mul(d[c])));
                    }
                }
                let height = ROWS.min(numbers - block * ROWS);
                for (row, sums) in sums.iter().enumerate().take(height) {
                    let into = &mut self.into[(block * ROWS + row) * units + first..];
                    for (c, sum) in sums.iter().enumerate().take(width / LANES) {
                        let into = &mut into[c * LANES..];
                        V::load(into).add(*sum).store(into);
                    }
                }
            }
        }
    }
}
