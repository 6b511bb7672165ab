//! Gradients of the logistic loss, as integers.
//!
//! For a row of score z (log-odds), target y ∈ [0, 1] and weight w, with p = 1 / (1 + e^−z):
//!
//! ```text
//! loss = w · (log(1 + e^z) − y z)        gradient = w (p − y)        hessian = w p (1 − p)
//! ```
//!
//! |gradient| ≤ w and hessian ≤ w / 4, so the largest weight gives a scale before the first tree. A gradient is
//! rounded to a multiple of 2⁻²⁷ of its bound. A hessian is rounded to a multiple of 2^−b of its bound, b ≤ 28. Sums
//! of integers are exact, so neither the order of rows nor the number of threads can change a bit.
//!
//! A [`Sum`] is two words: the gradients, and the hessians together with the number of rows. With fewer than 2^L rows,
//! each row adds `hessian · 2^L + 1` to the second word, which fits into 64 bits as long as b + 2L ≤ 64: b is 28 up to
//! 262,143 rows, 24 at a million and 10 at 2²⁷, where what rounding adds to a leaf is still below a thousandth of its
//! hessian for most rows. From 2²⁷ rows on the second word has hessians alone, with b = 28. The number of rows is then
//! taken as what the hessian would need at least, Σ hessian / (w / 4): a leaf that has enough of these has enough rows.

use serde::{Deserialize, Serialize};

use crate::wide::wide;

/// The gradient and hessian of one row, as integers.
pub(super) type Pair = [i32; 2];

/// Gradients of some rows; hessians of some rows and how many they are.
pub(super) type Sum = [i64; 2];

#[inline(always)]
pub(super) fn plus(a: Sum, b: Sum) -> Sum {
    [a[0].wrapping_add(b[0]), a[1].wrapping_add(b[1])]
}

#[inline(always)]
pub(super) fn minus(a: Sum, b: Sum) -> Sum {
    [a[0].wrapping_sub(b[0]), a[1].wrapping_sub(b[1])]
}

/// How real numbers become integers, and sums of integers real numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Scale {
    /// What 1 is as an integer gradient, a power of two; and as an integer hessian.
    to: [f64; 2],
    /// What an integer of 1 is.
    from: [f64; 2],
    /// L: the bits that count rows; 0 where they are not counted.
    bits: u32,
    /// b: the bits of a row's hessian.
    hessian: u32,
}

/// From so many rows on, they are not counted.
const UNCOUNTED: usize = 1 << 27;

/// Adding this to a number below 2³¹ leaves the nearest integer in the lowest bits.
const ROUND: f64 = 6_755_399_441_055_744.0;

impl Scale {
    /// The scale for so many rows, none heavier than `heaviest`.
    pub(super) fn new(rows: usize, heaviest: f32) -> Self {
        debug_assert!(heaviest > 0.0 && heaviest.is_finite());
        let (bits, hessian) = match usize::BITS - rows.leading_zeros() {
            _ if rows >= UNCOUNTED => (0, 28),
            bits => (bits, 28.min(64 - 2 * bits)),
        };
        // The least power of two that is at least the heaviest weight.
        let exponent = f64::from(heaviest).log2().ceil() as i32;
        let to = [2.0_f64.powi(27 - exponent), 2.0_f64.powi(hessian as i32 + 2 - exponent)];
        Scale { to, from: [1.0 / to[0], 1.0 / to[1]], bits, hessian }
    }

    /// What a row adds to a sum.
    #[inline(always)]
    pub(super) fn row(&self, [gradient, hessian]: Pair) -> Sum {
        [i64::from(gradient), (i64::from(hessian) << self.bits) + i64::from(self.bits > 0)]
    }

    /// How many rows a sum is of; where they are not counted, how many at least.
    #[inline(always)]
    pub(super) fn count(&self, sum: Sum) -> u64 {
        match self.bits {
            0 => sum[1] as u64 >> self.hessian,
            bits => sum[1] as u64 & ((1 << bits) - 1),
        }
    }

    /// The gradient and the hessian of a sum.
    #[inline(always)]
    pub(super) fn real(&self, sum: Sum) -> (f64, f64) {
        let hessian = (sum[1] as u64 >> self.bits) as i64;
        (sum[0] as f64 * self.from[0], hessian as f64 * self.from[1])
    }

    /// Writes the gradient and hessian of each row.
    pub(super) fn pairs(
        &self,
        scores: &[f32],
        target: &[f32],
        weights: Option<&[f32]>,
        pairs: &mut [Pair],
    ) {
        let [gradient, hessian] = self.to;
        let pair = |score: f32, target: f32, weight: f32| {
            let (weight, chance) = (f64::from(weight), sigmoid(f64::from(score)));
            let slope = weight * (chance - f64::from(target)) * gradient;
            let curve = weight * chance * (1.0 - chance) * hessian;
            [(slope + ROUND).to_bits() as i32, (curve + ROUND).to_bits() as i32]
        };
        let rows = pairs.iter_mut().zip(scores).zip(target);
        match weights {
            None => wide(
                #[inline(always)]
                || rows.for_each(|((to, score), target)| *to = pair(*score, *target, 1.0)),
            ),
            Some(weights) => wide(
                #[inline(always)]
                || {
                    let rows = rows.zip(weights);
                    rows.for_each(|(((to, score), target), w)| *to = pair(*score, *target, *w));
                },
            ),
        }
    }
}

/// 1 / (1 + e^−z).
#[inline(always)]
fn sigmoid(z: f64) -> f64 {
    1.0 / (1.0 + exp(-z.clamp(-700.0, 700.0)))
}

/// e^x for |x| ≤ 700, to a relative error of 10⁻¹², without a branch: the same bits on every machine.
///
/// x = k log 2 + r with |r| ≤ log 2 / 2, and e^r by its Taylor polynomial.
#[inline(always)]
fn exp(x: f64) -> f64 {
    let shifted = x * std::f64::consts::LOG2_E + ROUND;
    let k = shifted - ROUND;
    // log 2 in two parts: the first has few enough bits that k times it is exact.
    const HIGH: f64 = 0.693_145_751_953_125;
    const LOW: f64 = 1.428_606_820_309_417_3e-6;
    let r = (x - k * HIGH) - k * LOW;
    const TAYLOR: [f64; 10] = [
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        1.0 / 2.0,
        1.0,
    ];
    let mut sum = TAYLOR[0];
    let mut at = 1;
    while at < TAYLOR.len() {
        sum = sum * r + TAYLOR[at];
        at += 1;
    }
    let power = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1_f64.to_bits()));
    (sum * r + 1.0) * power
}

/// log(1 + e^z) − y z: the loss of a row of weight 1.
pub(super) fn loss(score: f32, target: f32) -> f64 {
    let (score, target) = (f64::from(score), f64::from(target));
    exp(-score.abs().min(700.0)).ln_1p() + score.max(0.0) - target * score
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    #[test]
    fn exp_is_near_the_exact_one() {
        let mut stream = Stream::new(1, "exp");
        for _ in 0..100_000 {
            let x = (stream.unit() - 0.5) * 1_400.0;
            assert!((exp(x) / x.exp() - 1.0).abs() < 2e-12, "{x}");
        }
        assert_eq!(exp(0.0), 1.0);
    }

    /// Sums of rounded pairs are those of f64 to within half a step a row, and the count is exact.
    #[test]
    fn sums_are_near_the_exact_ones() {
        let mut stream = Stream::new(2, "pairs");
        let rows = 5_000;
        let scores: Vec<f32> = (0..rows).map(|_| (stream.unit() * 20.0 - 10.0) as f32).collect();
        let target: Vec<f32> = (0..rows).map(|_| stream.below(2) as f32).collect();
        let weights: Vec<f32> = (0..rows).map(|_| (stream.unit() * 3.0) as f32).collect();
        let scale = Scale::new(rows, 3.0);
        let mut pairs = vec![[0; 2]; rows];
        scale.pairs(&scores, &target, Some(&weights), &mut pairs);
        let sum = pairs.iter().fold([0; 2], |sum, pair| plus(sum, scale.row(*pair)));
        let mut exact = (0.0, 0.0);
        for row in 0..rows {
            let p = 1.0 / (1.0 + (-f64::from(scores[row])).exp());
            exact.0 += f64::from(weights[row]) * (p - f64::from(target[row]));
            exact.1 += f64::from(weights[row]) * p * (1.0 - p);
        }
        let real = scale.real(sum);
        assert_eq!(scale.count(sum), rows as u64);
        assert!((real.0 - exact.0).abs() < rows as f64 * 2e-8, "{real:?} {exact:?}");
        assert!((real.1 - exact.1).abs() < rows as f64 * 1e-8, "{real:?} {exact:?}");
    }

    /// The most rows that there may be, all of the greatest hessian, overflow nothing, counted or not.
    #[test]
    fn the_largest_sums_fit() {
        for rows in [UNCOUNTED - 1, UNCOUNTED, u32::MAX as usize] {
            let scale = Scale::new(rows, 1.0);
            let mut pairs = [[0; 2]];
            scale.pairs(&[0.0], &[0.0], None, &mut pairs);
            let row = scale.row(pairs[0]);
            let sum = [row[0] * rows as i64, row[1].wrapping_mul(rows as i64)];
            assert_eq!(scale.count(sum), rows as u64);
            assert_eq!(scale.real(sum), (0.5 * rows as f64, 0.25 * rows as f64));
        }
    }

    /// Where rows are not counted, no more are found than there are.
    #[test]
    fn rows_that_are_not_counted() {
        let scale = Scale::new(UNCOUNTED, 2.0);
        let mut pairs = [[0; 2]; 3];
        scale.pairs(&[0.0, 3.0, -9.0], &[0.0; 3], Some(&[2.0, 1.0, 2.0]), &mut pairs);
        let sum = pairs.iter().fold([0; 2], |sum, pair| plus(sum, scale.row(*pair)));
        assert_eq!(scale.count(sum), 1);
        assert_eq!(scale.count(minus(sum, sum)), 0);
    }
}
