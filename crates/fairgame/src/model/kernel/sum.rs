//! Weighted sums of the codes and numbers of rows.

use super::vector::Vector;
use super::{Code, Kernel, LANES, fetch_ahead};
use crate::model::ladder::Climb;
use crate::model::rows::Rows;

/// Sums that are added up side by side, so that none waits for itself.
const SIDE: usize = 4;

/// f ← Σ_codes w[code] + Σ_j x_j·w_j + b, for each row.
pub(in crate::model) struct Sum<'a, C> {
    pub(in crate::model) codes: &'a [C],
    pub(in crate::model) rows: Rows<'a>,
    pub(in crate::model) by_code: &'a [f32],
    pub(in crate::model) climb: Climb<'a>,
    pub(in crate::model) by_number: &'a [f32],
    pub(in crate::model) bias: f32,
    pub(in crate::model) scores: &'a mut [f32],
}

impl<C: Code> Kernel for Sum<'_, C> {
    #[inline(always)]
    fn run<V: Vector>(self) {
        let slots = self.rows.features().slots();
        for (index, score) in self.scores.iter_mut().enumerate() {
            fetch_ahead(self.codes, self.rows, index);
            let place = self.rows.place(index);
            let mut sum = self.bias;
            for &code in &self.codes[place * slots..(place + 1) * slots] {
                // The silent code is one past the last weight, and adds nothing.
                let code = code.index();
                let weight =
                    self.climb.of(code).map_or_else(|| self.by_code.get(code), <[f32]>::first);
                sum += weight.copied().unwrap_or(0.0);
            }
            *score = sum + dot::<V>(self.rows.values(index), self.by_number);
        }
    }
}

/// G ← G + Σ_rows slope·∂f/∂w, for the weights of codes and of numbers and for the bias.
pub(in crate::model) struct SumBack<'a, C> {
    pub(in crate::model) codes: &'a [C],
    pub(in crate::model) rows: Rows<'a>,
    pub(in crate::model) slopes: &'a [f32],
    pub(in crate::model) by_code: &'a mut [f32],
    pub(in crate::model) by_number: &'a mut [f32],
    pub(in crate::model) bias: &'a mut f32,
}

impl<C: Code> Kernel for SumBack<'_, C> {
    #[inline(always)]
    fn run<V: Vector>(self) {
        let slots = self.rows.features().slots();
        for (index, &slope) in self.slopes.iter().enumerate() {
            if slope == 0.0 {
                continue;
            }
            let place = self.rows.place(index);
            for &code in &self.codes[place * slots..(place + 1) * slots] {
                if let Some(weight) = self.by_code.get_mut(code.index()) {
                    *weight += slope;
                }
            }
            let mut weights = self.by_number.chunks_exact_mut(LANES);
            let mut numbers = self.rows.values(index).chunks_exact(LANES);
            let slopes = V::splat(slope);
            for (weight, x) in weights.by_ref().zip(numbers.by_ref()) {
                V::load(weight).add(slopes.mul(V::load(x))).store(weight);
            }
            for (weight, x) in weights.into_remainder().iter_mut().zip(numbers.remainder()) {
                *weight += slope * x;
            }
            *self.bias += slope;
        }
    }
}

/// The sum of a·b, always in the same order.
#[inline(always)]
fn dot<V: Vector>(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [V::splat(0.0); SIDE];
    let (mut wide_a, mut wide_b) = (a.chunks_exact(SIDE * LANES), b.chunks_exact(SIDE * LANES));
    for (a, b) in wide_a.by_ref().zip(wide_b.by_ref()) {
        for (side, sum) in sums.iter_mut().enumerate() {
            *sum = sum.add(V::load(&a[side * LANES..]).mul(V::load(&b[side * LANES..])));
        }
    }
    let (a, b) = (wide_a.remainder(), wide_b.remainder());
    let (mut narrow_a, mut narrow_b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    for (a, b) in narrow_a.by_ref().zip(narrow_b.by_ref()) {
        sums[0] = sums[0].add(V::load(a).mul(V::load(b)));
    }
    let last = narrow_a.remainder().iter().zip(narrow_b.remainder());
    let last: f32 = last.map(|(a, b)| a * b).sum();
    sums[0].add(sums[1]).add(sums[2].add(sums[3])).total() + last
}
