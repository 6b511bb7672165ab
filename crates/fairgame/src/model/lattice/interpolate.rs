//! The arithmetic of one lattice: interpolation between corners, and values kept in order.
//!
//! Eight rows are interpolated at once, one a lane, each by the same operations as if it were alone.

use crate::model::kernel::Vector;

/// The most inputs of one lattice: 256 corners.
pub(super) const MOST: usize = 8;

/// A lattice of D inputs and N = 2^D corners, with what it keeps of its last rows.
///
/// Corners are folded in two along one input after another, the first of which is the lowest bit of a
/// corner: `rises` holds how much each pair of them differed, 2^(D−1) + … + 1 numbers.
pub(super) struct Fold<V, const D: usize, const N: usize> {
    rises: [V; N],
}

impl<V: Vector, const D: usize, const N: usize> Fold<V, D, N> {
    /// Space to fold in, made once for many rows.
    #[inline(always)]
    pub(super) fn new() -> Self {
        const { assert!(N == 1 << D) };
        Fold { rises: [V::splat(0.0); N] }
    }

    /// The values at `inputs`.
    #[inline(always)]
    pub(super) fn run(&mut self, corners: &[f32; N], inputs: &[V; D]) -> V {
        let mut level = [V::splat(0.0); N];
        for corner in 0..N {
            level[corner] = V::splat(corners[corner]);
        }
        let mut start = 0;
        for (k, x) in inputs.iter().enumerate() {
            let half = N >> (k + 1);
            for i in 0..half {
                let (low, high) = (level[2 * i], level[2 * i + 1]);
                let rise = high.sub(low);
                self.rises[start + i] = rise;
                level[i] = low.add(x.mul(rise));
            }
            start += half;
        }
        level[0]
    }

    /// Adds `slope` times the derivatives in the corners to `gradient`, and gives those in the inputs. The
    /// fold must have been run with the same inputs.
    #[inline(always)]
    pub(super) fn back(&self, inputs: &[V; D], slope: V, gradient: &mut [V; N]) -> [V; D] {
        let mut slopes = [V::splat(0.0); N];
        let mut along = [V::splat(0.0); D];
        slopes[0] = slope;
        // From the last fold back to the corners.
        let mut end = N - 1;
        for k in (0..D).rev() {
            let half = N >> (k + 1);
            let start = end - half;
            let (x, rest) = (inputs[k], V::splat(1.0).sub(inputs[k]));
            for i in (0..half).rev() {
                let slope = slopes[i];
                along[k] = along[k].add(slope.mul(self.rises[start + i]));
                slopes[2 * i + 1] = slope.mul(x);
                slopes[2 * i] = slope.mul(rest);
            }
            end = start;
        }
        for corner in 0..N {
            gradient[corner] = gradient[corner].add(slopes[corner]);
        }
        along
    }
}

/// Calls `$run` with the number of inputs and of corners as constants.
macro_rules! with_inputs {
    ($inputs:expr, |$d:ident, $n:ident| $run:expr) => {
        with_inputs!(@ $inputs, $d, $n, $run, 1 2 3 4 5 6 7 8)
    };
    (@ $inputs:expr, $d:ident, $n:ident, $run:expr, $($inputs_of:literal)*) => {
        match $inputs {
            $($inputs_of => {
                const $d: usize = $inputs_of;
                const $n: usize = 1 << $d;
                $run
            })*
            inputs => unreachable!("a lattice of {inputs} inputs"),
        }
    };
}
pub(super) use with_inputs;

/// The nearest ascending values, by pooling neighbours that are out of order.
pub(super) fn isotonic(values: &mut [f32]) {
    for end in 1..values.len() {
        // Everything before `end` is ascending; pool backwards from it as far as need be.
        let mut start = end;
        let mut sum = values[end];
        let mut mean = sum;
        while start > 0 && values[start - 1] > mean {
            start -= 1;
            sum += values[start];
            mean = sum / (end - start + 1) as f32;
        }
        values[start..=end].fill(mean);
    }
}

/// Corner values that do not fall along any of the bits.
pub(super) fn order(corners: &mut [f32], bits: &[usize]) {
    const SWEEPS: usize = 8;
    for _ in 0..SWEEPS {
        let mut moved = false;
        for &bit in bits {
            for corner in (0..corners.len()).filter(|corner| corner & bit == 0) {
                let (low, high) = (corners[corner], corners[corner | bit]);
                if low > high {
                    let mean = low + (high - low) / 2.0;
                    corners[corner] = mean;
                    corners[corner | bit] = mean;
                    moved = true;
                }
            }
        }
        if !moved {
            return;
        }
    }
    // Raising upwards, lower corners first, leaves nothing out of order.
    for corner in 0..corners.len() {
        for &bit in bits {
            if corner & bit != 0 {
                corners[corner] = corners[corner].max(corners[corner ^ bit]);
            }
        }
    }
}
