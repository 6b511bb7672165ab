//! The hidden layer of a network, forward and back.

use super::vector::{Vector, add_to, load, store};
use super::{Code, Kernel, LANES, fetch_ahead};
use crate::model::ladder::Climb;
use crate::model::rows::Rows;

/// At most so many vectors of a hidden layer are held in registers.
const TILE: usize = 8;

/// The first layer of a network: where its parameters lie.
#[derive(Debug, Clone, Copy)]
pub(in crate::model) struct Layer {
    /// Weights that codes index: one row each of the matrix; also the silent code.
    pub(in crate::model) weights: usize,
    /// Numbers of a row that are added here, one by one, after the codes.
    pub(in crate::model) numbers: usize,
    /// Units, a multiple of [`LANES`].
    pub(in crate::model) units: usize,
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

/// Writes the activations of each row to `hidden`, and its score: h = max(0, z + Σ_codes W[code] +
/// Σ_j x_j W[weights + j]), f = v·h + c, where z is the bias, or what `hidden` holds if there is none.
pub(in crate::model) struct Forward<'a, C> {
    pub(in crate::model) codes: &'a [C],
    pub(in crate::model) layer: Layer,
    pub(in crate::model) rows: Rows<'a>,
    pub(in crate::model) matrix: &'a [f32],
    pub(in crate::model) climb: Climb<'a>,
    pub(in crate::model) bias: Option<&'a [f32]>,
    pub(in crate::model) output: &'a [f32],
    pub(in crate::model) last: f32,
    pub(in crate::model) hidden: &'a mut [f32],
    pub(in crate::model) scores: &'a mut [f32],
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
            let mut sum: [V; K] = load(self.bias.map_or(&*kept, |bias| &bias[at..]));
            for &code in &self.codes[place * slots..(place + 1) * slots] {
                let code = code.index();
                if code < weights {
                    let row: [V; K] = load(
                        &self.climb.of(code).unwrap_or_else(|| &self.matrix[code * units..])[at..],
                    );
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
pub(in crate::model) struct Backward<'a, C> {
    pub(in crate::model) codes: &'a [C],
    pub(in crate::model) layer: Layer,
    pub(in crate::model) rows: Rows<'a>,
    pub(in crate::model) output: &'a [f32],
    pub(in crate::model) slopes: &'a [f32],
    pub(in crate::model) hidden: &'a [f32],
    pub(in crate::model) inner: &'a mut [f32],
    /// Gradients: of the matrix, of the bias, and of the output layer.
    pub(in crate::model) matrix: &'a mut [f32],
    pub(in crate::model) bias: &'a mut [f32],
    pub(in crate::model) above: &'a mut [f32],
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
