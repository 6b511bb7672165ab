//! The arithmetic of one lattice: interpolation between corners, and values kept in order.

/// The most inputs of one lattice: 256 corners.
pub(super) const MOST: usize = 8;

/// The interpolation of one lattice: its corners folded in two along one input after another.
///
/// `levels` holds the corners, then what is left after each fold: 2^d + 2^(d−1) + … + 1 numbers.
pub(super) struct Fold {
    levels: [f32; 2 << MOST],
    slopes: [f32; 1 << MOST],
}

impl Fold {
    /// Space to fold in, made once for many lattices.
    pub(super) fn new() -> Self {
        Fold { levels: [0.0; 2 << MOST], slopes: [0.0; 1 << MOST] }
    }

    /// The value at `inputs`, the first of which is the lowest bit of a corner.
    #[inline]
    pub(super) fn run(&mut self, corners: &[f32], inputs: impl Iterator<Item = f32>) -> f32 {
        self.levels[..corners.len()].copy_from_slice(corners);
        let (mut start, mut length) = (0, corners.len());
        for x in inputs {
            let half = length / 2;
            let (folded, rest) = self.levels.split_at_mut(start + length);
            for i in 0..half {
                let (low, high) = (folded[start + 2 * i], folded[start + 2 * i + 1]);
                rest[i] = low + x * (high - low);
            }
            start += length;
            length = half;
        }
        self.levels[start]
    }

    /// Adds `slope` times the derivatives in the corners to `gradient`, and hands on those in the
    /// inputs. The fold must have been run with the same inputs.
    #[inline]
    pub(super) fn back(
        &mut self,
        inputs: impl DoubleEndedIterator<Item = f32> + ExactSizeIterator,
        slope: f32,
        gradient: &mut [f32],
        mut input_slope: impl FnMut(usize, f32),
    ) {
        let Fold { levels, slopes } = self;
        slopes[0] = slope;
        // Levels from the last fold back to the corners.
        let (mut length, mut end) = (1, 2 * gradient.len() - 1);
        for (k, x) in inputs.enumerate().rev() {
            let start = end - length - 2 * length;
            let mut along = 0.0;
            for i in (0..length).rev() {
                let (low, high) = (levels[start + 2 * i], levels[start + 2 * i + 1]);
                let slope = slopes[i];
                along += slope * (high - low);
                slopes[2 * i + 1] = slope * x;
                slopes[2 * i] = slope * (1.0 - x);
            }
            input_slope(k, along);
            end -= length;
            length *= 2;
        }
        gradient.iter_mut().zip(&*slopes).for_each(|(corner, slope)| *corner += slope);
    }
}

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
