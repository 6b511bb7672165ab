//! The inner loops, compiled twice: for any machine, and for those with AVX2.
//!
//! Both copies come from the same source, over vectors of eight lanes that only add, multiply and
//! compare. Neither fuses a multiplication with an addition, so they give the same bits, on every
//! machine; which of them runs is decided at run time. The matrix product is here too, because one that
//! is not ours allocates, and adds up in an order of its own.
//!
//! This is the only module with unsafe code: to use AVX2 after asking whether the machine has it, and to
//! prefetch.
#![allow(unsafe_code)]

use super::rows::Rows;

/// How many floats are worked on at once.
pub(super) const LANES: usize = 8;

/// At most so many vectors of a hidden layer are held in registers.
const TILE: usize = 8;

/// How many rows ahead of use a row is fetched.
const AHEAD: usize = 12;

/// A code as it is stored.
pub(super) trait Code: Copy + Send + Sync {
    fn index(self) -> usize;
}

impl Code for u16 {
    #[inline(always)]
    fn index(self) -> usize {
        usize::from(self)
    }
}

impl Code for u32 {
    #[inline(always)]
    fn index(self) -> usize {
        self as usize
    }
}

/// Which copy of the loops runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Path {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

impl Path {
    /// The fastest that this machine has.
    #[inline]
    pub(super) fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            return Path::Avx2;
        }
        Path::Portable
    }
}

/// Eight floats.
pub(super) trait Vector: Copy {
    /// The first eight items.
    fn load(from: &[f32]) -> Self;
    fn store(self, into: &mut [f32]);
    fn splat(item: f32) -> Self;
    fn add(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// Each item where `gate` is not 0 or below, and 0 elsewhere. What is not a number passes: a model
    /// that has diverged must show it.
    fn gated(self, gate: Self) -> Self;

    /// Each item, or 0 where it is below.
    #[inline(always)]
    fn relu(self) -> Self {
        self.gated(self)
    }

    /// The items added up, always in the same order.
    #[inline(always)]
    fn total(self) -> f32 {
        let mut lanes = [0.0; LANES];
        self.store(&mut lanes);
        let half: [f32; 4] = std::array::from_fn(|lane| lanes[lane] + lanes[lane + 4]);
        (half[0] + half[2]) + (half[1] + half[3])
    }
}

impl Vector for [f32; LANES] {
    #[inline(always)]
    fn load(from: &[f32]) -> Self {
        std::array::from_fn(|lane| from[..LANES][lane])
    }

    #[inline(always)]
    fn store(self, into: &mut [f32]) {
        into[..LANES].copy_from_slice(&self);
    }

    #[inline(always)]
    fn splat(item: f32) -> Self {
        [item; LANES]
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        std::array::from_fn(|lane| self[lane] + other[lane])
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        std::array::from_fn(|lane| self[lane] * other[lane])
    }

    #[inline(always)]
    fn gated(self, gate: Self) -> Self {
        std::array::from_fn(|lane| if gate[lane] <= 0.0 { 0.0 } else { self[lane] })
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256, _CMP_NLE_UQ, _mm256_add_ps, _mm256_and_ps, _mm256_cmp_ps, _mm256_loadu_ps,
        _mm256_mul_ps, _mm256_set1_ps, _mm256_setzero_ps, _mm256_storeu_ps,
    };

    use super::{LANES, Vector};

    // SAFETY, for every block below: these vectors are used only within functions that are compiled for
    // AVX2 and called where the machine has it; loads and stores are of eight floats of a slice.
    impl Vector for __m256 {
        #[inline(always)]
        fn load(from: &[f32]) -> Self {
            let from = &from[..LANES];
            // SAFETY: see above.
            unsafe { _mm256_loadu_ps(from.as_ptr()) }
        }

        #[inline(always)]
        fn store(self, into: &mut [f32]) {
            let into = &mut into[..LANES];
            // SAFETY: see above.
            unsafe { _mm256_storeu_ps(into.as_mut_ptr(), self) }
        }

        #[inline(always)]
        fn splat(item: f32) -> Self {
            // SAFETY: see above.
            unsafe { _mm256_set1_ps(item) }
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            // SAFETY: see above.
            unsafe { _mm256_add_ps(self, other) }
        }

        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            // SAFETY: see above.
            unsafe { _mm256_mul_ps(self, other) }
        }

        #[inline(always)]
        fn gated(self, gate: Self) -> Self {
            // SAFETY: see above.
            unsafe {
                let above = _mm256_cmp_ps::<_CMP_NLE_UQ>(gate, _mm256_setzero_ps());
                _mm256_and_ps(self, above)
            }
        }
    }
}

/// A loop over rows, for any vectors.
pub(super) trait Kernel {
    fn run<V: Vector>(self);
}

/// Runs a loop on the path that is asked for.
pub(super) fn run(path: Path, kernel: impl Kernel) {
    match path {
        Path::Portable => kernel.run::<[f32; LANES]>(),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Path::Avx2` is only made where the machine has AVX2.
        Path::Avx2 => unsafe { run_avx2(kernel) },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn run_avx2(kernel: impl Kernel) {
    kernel.run::<std::arch::x86_64::__m256>();
}

/// The first layer of a network: where its parameters lie.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layer {
    /// Weights that codes index: one row each of the matrix; also the silent code.
    pub(super) weights: usize,
    /// Numbers of a row that are added here, one by one, after the codes.
    pub(super) numbers: usize,
    /// Units, a multiple of [`LANES`].
    pub(super) units: usize,
}

/// Calls `$run::<V, K>` with K vectors at a time until all units are done.
macro_rules! tiles {
    ($units:expr, |$at:ident, $vectors:ident| $run:expr) => {{
        let mut $at = 0;
        while $at < $units {
            let count = (($units - $at) / LANES).min(TILE);
            match count {
                1 => {
                    const $vectors: usize = 1;
                    $run
                }
                2 => {
                    const $vectors: usize = 2;
                    $run
                }
                3 => {
                    const $vectors: usize = 3;
                    $run
                }
                4 => {
                    const $vectors: usize = 4;
                    $run
                }
                5 => {
                    const $vectors: usize = 5;
                    $run
                }
                6 => {
                    const $vectors: usize = 6;
                    $run
                }
                7 => {
                    const $vectors: usize = 7;
                    $run
                }
                _ => {
                    const $vectors: usize = 8;
                    $run
                }
            }
            $at += count * LANES;
        }
    }};
}

/// Turns what `hidden` holds of each row (bias, or bias and dense product) into its activations, and
/// writes the scores: h = max(0, hidden + Σ_codes W[code] + Σ_j x_j W[weights + j]), f = v·h + c.
pub(super) struct Forward<'a, C> {
    pub(super) codes: &'a [C],
    pub(super) layer: Layer,
    pub(super) rows: Rows<'a>,
    pub(super) matrix: &'a [f32],
    pub(super) output: &'a [f32],
    pub(super) last: f32,
    pub(super) hidden: &'a mut [f32],
    pub(super) scores: &'a mut [f32],
}

impl<C: Code> Kernel for Forward<'_, C> {
    #[inline(always)]
    fn run<V: Vector>(mut self) {
        self.scores.fill(self.last);
        tiles!(self.layer.units, |at, K| self.tile::<V, K>(at));
    }
}

impl<C: Code> Forward<'_, C> {
    #[inline(always)]
    fn tile<V: Vector, const K: usize>(&mut self, at: usize) {
        let Layer { weights, numbers, units } = self.layer;
        let slots = self.rows.features().slots();
        let v: [V; K] = load(&self.output[at..]);
        for (index, score) in self.scores.iter_mut().enumerate() {
            fetch_ahead(self.codes, self.rows, index);
            let place = self.rows.place(index);
            let kept = &mut self.hidden[index * units + at..][..K * LANES];
            let mut sum: [V; K] = load(kept);
            for &code in &self.codes[place * slots..(place + 1) * slots] {
                let code = code.index();
                if code < weights {
                    let row: [V; K] = load(&self.matrix[code * units + at..]);
                    sum = std::array::from_fn(|k| sum[k].add(row[k]));
                }
            }
            for (j, &x) in self.rows.values(index)[..numbers].iter().enumerate() {
                let (x, row): (V, [V; K]) =
                    (V::splat(x), load(&self.matrix[(weights + j) * units + at..]));
                sum = std::array::from_fn(|k| sum[k].add(x.mul(row[k])));
            }
            let mut dot = V::splat(0.0);
            for k in 0..K {
                sum[k] = sum[k].relu();
                dot = dot.add(sum[k].mul(v[k]));
            }
            store(&sum, kept);
            *score += dot.total();
        }
    }
}

/// The way back: adds to the gradients of the matrix rows that codes and numbers index, of the bias and
/// of the output layer. Where `inner` is not empty, it takes each row's slopes for the product with its
/// other numbers.
pub(super) struct Backward<'a, C> {
    pub(super) codes: &'a [C],
    pub(super) layer: Layer,
    pub(super) rows: Rows<'a>,
    pub(super) output: &'a [f32],
    pub(super) slopes: &'a [f32],
    pub(super) hidden: &'a [f32],
    pub(super) inner: &'a mut [f32],
    /// Gradients: of the matrix, of the bias, and of the output layer.
    pub(super) matrix: &'a mut [f32],
    pub(super) bias: &'a mut [f32],
    pub(super) above: &'a mut [f32],
}

impl<C: Code> Kernel for Backward<'_, C> {
    #[inline(always)]
    fn run<V: Vector>(mut self) {
        tiles!(self.layer.units, |at, K| self.tile::<V, K>(at));
    }
}

impl<C: Code> Backward<'_, C> {
    #[inline(always)]
    fn tile<V: Vector, const K: usize>(&mut self, at: usize) {
        let Layer { weights, numbers, units } = self.layer;
        let slots = self.rows.features().slots();
        let v: [V; K] = load(&self.output[at..]);
        for (index, &slope) in self.slopes.iter().enumerate() {
            // A hinge leaves most rows alone.
            if slope == 0.0 {
                if !self.inner.is_empty() {
                    self.inner[index * units + at..][..K * LANES].fill(0.0);
                }
                continue;
            }
            let by = V::splat(slope);
            let kept: [V; K] = load(&self.hidden[index * units + at..]);
            add_to(&mut self.above[at..], &kept.map(|kept| by.mul(kept)));
            let inner: [V; K] = std::array::from_fn(|k| by.mul(v[k]).gated(kept[k]));
            add_to(&mut self.bias[at..], &inner);
            let place = self.rows.place(index);
            for &code in &self.codes[place * slots..(place + 1) * slots] {
                let code = code.index();
                if code < weights {
                    add_to(&mut self.matrix[code * units + at..], &inner);
                }
            }
            for (j, &x) in self.rows.values(index)[..numbers].iter().enumerate() {
                let x = V::splat(x);
                add_to(
                    &mut self.matrix[(weights + j) * units + at..],
                    &inner.map(|inner| x.mul(inner)),
                );
            }
            if !self.inner.is_empty() {
                store(&inner, &mut self.inner[index * units + at..][..K * LANES]);
            }
        }
    }
}

#[inline(always)]
fn load<V: Vector, const K: usize>(from: &[f32]) -> [V; K] {
    let from = &from[..K * LANES];
    std::array::from_fn(|k| V::load(&from[k * LANES..]))
}

#[inline(always)]
fn store<V: Vector, const K: usize>(vectors: &[V; K], into: &mut [f32]) {
    let into = &mut into[..K * LANES];
    for k in 0..K {
        vectors[k].store(&mut into[k * LANES..]);
    }
}

#[inline(always)]
fn add_to<V: Vector, const K: usize>(row: &mut [f32], vectors: &[V; K]) {
    let row = &mut row[..K * LANES];
    for k in 0..K {
        V::load(&row[k * LANES..]).add(vectors[k]).store(&mut row[k * LANES..]);
    }
}

/// The sum of a·b, eight lanes at a time.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0; LANES];
    let (a8, b8) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f32 = a8.remainder().iter().zip(b8.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a8.zip(b8) {
        for lane in 0..LANES {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    lanes.total() + rest
}

/// Asks for the codes and numbers of a row that comes soon: rows of a minibatch lie anywhere.
#[inline(always)]
pub(super) fn fetch_ahead<C: Code>(codes: &[C], rows: Rows<'_>, index: usize) {
    let ahead = index + AHEAD;
    if ahead < rows.len() {
        let place = rows.place(ahead);
        let (slots, numbers) = (rows.features().slots(), rows.features().numbers());
        if slots > 0 {
            prefetch(&codes[place * slots]);
            prefetch(&codes[place * slots + slots - 1]);
        }
        if numbers > 0 {
            prefetch(&rows.features().values()[place * numbers]);
        }
    }
}

#[inline(always)]
fn prefetch<T>(item: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing, and the address is that of a reference.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = item;
}

/// Calls `run` with the codes in the width they are stored in.
macro_rules! with_codes {
    ($codes:expr, $name:ident => $run:expr) => {
        match $codes {
            crate::encode::Codes::Narrow($name) => $run,
            crate::encode::Codes::Wide($name) => $run,
        }
    };
}
pub(super) use with_codes;

/// How many rows of a product are made at once, and how many vectors of columns: as many sums as there
/// are registers for.
const ROWS: usize = 6;
const COLUMNS: usize = 2;

/// C ← X·W + C for the numbers X of rows (m × k), row-major W (k × n) and C (m × n), n a multiple of
/// [`LANES`].
///
/// Every item of C is added up in the order of k, so a row's result does not depend on its neighbours.
/// `packed` is space for W in the order in which it is read.
pub(super) struct Product<'a> {
    pub(super) rows: Rows<'a>,
    pub(super) matrix: &'a [f32],
    pub(super) units: usize,
    pub(super) into: &'a mut [f32],
    pub(super) packed: &'a mut Vec<f32>,
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
/// `packed` is space for both factors in the order in which they are read.
pub(super) struct ProductBack<'a> {
    pub(super) rows: Rows<'a>,
    pub(super) inner: &'a [f32],
    pub(super) units: usize,
    pub(super) into: &'a mut [f32],
    pub(super) packed: &'a mut Vec<f32>,
}

impl Kernel for ProductBack<'_> {
    #[inline(always)]
    fn run<V: Vector>(self) {
        const WIDTH: usize = COLUMNS * LANES;
        let (rows, numbers, units) = (self.rows.len(), self.rows.features().numbers(), self.units);
        let blocks = numbers.div_ceil(ROWS);
        let length = blocks * rows * ROWS + rows * WIDTH;
        if self.packed.len() < length {
            self.packed.resize(length, 0.0);
        }
        let (x, d) = self.packed[..length].split_at_mut(blocks * rows * ROWS);
        for row in 0..rows {
            if row + AHEAD < rows {
                self.rows.values(row + AHEAD).iter().step_by(2 * LANES).for_each(prefetch);
            }
            for (block, from) in self.rows.values(row).chunks(ROWS).enumerate() {
                let into = &mut x[(block * rows + row) * ROWS..][..ROWS];
                into[..from.len()].copy_from_slice(from);
                into[from.len()..].fill(0.0);
            }
        }
        for first in (0..units).step_by(WIDTH) {
            let width = WIDTH.min(units - first);
            for (into, from) in d.chunks_exact_mut(WIDTH).zip(self.inner.chunks_exact(units)) {
                into[..width].copy_from_slice(&from[first..][..width]);
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
