//! Sums that no order can change: numbers added up as integers.
//!
//! A block's sum x, which is always made in the same order, is added as the integer part of x·2ˢ. Integers add up to
//! the same in any order, so neither threads nor the place where a block is held can change a bit. Each number that is
//! added is below 2^(108 − s), so that 128 bits hold the sums of 2¹⁸ blocks, which is four billion rows. A sum of larger
//! numbers, or of what is not a number, is NaN: a model that has diverged must show it.

/// s of sums of weights times surrogates: up to 2⁶⁸, with an error of at most 2⁻⁴⁰ a block.
pub(super) const SUMS: i32 = 40;

/// s of gradients: up to 2³⁶, with an error of at most 2⁻⁷² a block.
pub(super) const SLOPES: i32 = 72;

/// Sums of vectors of one length.
#[derive(Debug)]
pub(super) struct FixedSums {
    sums: Vec<i128>,
    /// 2ˢ, and the bound on what is added.
    one: f64,
    most: f64,
    sound: bool,
}

impl FixedSums {
    /// So many sums, each with s digits after the point.
    pub(super) fn new(length: usize, digits: i32) -> Self {
        let (one, most) = (2_f64.powi(digits), 2_f64.powi(108 - digits));
        FixedSums { sums: vec![0; length], one, most, sound: true }
    }

    /// Adds a vector.
    pub(super) fn add(&mut self, numbers: impl Iterator<Item = f64>) {
        for (sum, number) in self.sums.iter_mut().zip(numbers) {
            self.sound &= number.abs() < self.most;
            *sum = sum.wrapping_add((number * self.one) as i128);
        }
    }

    /// The sums.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> + '_ {
        let known = if self.sound { 1.0 / self.one } else { f64::NAN };
        self.sums.iter().map(move |&sum| sum as f64 * known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    /// Any order gives the same bits, near what f64 gives.
    #[test]
    fn order_changes_nothing() {
        let mut stream = Stream::new(1, "fixed");
        let numbers: Vec<f64> = (0..500)
            .map(|_| (stream.unit() - 0.5) * 10_f64.powi(stream.below(12) as i32 - 9))
            .collect();
        let sum = |numbers: &mut dyn Iterator<Item = f64>| {
            let mut sums = FixedSums::new(1, SLOPES);
            numbers.for_each(|number| sums.add(std::iter::once(number)));
            sums.values().next().unwrap()
        };
        let forth = sum(&mut numbers.iter().copied());
        assert_eq!(forth.to_bits(), sum(&mut numbers.iter().rev().copied()).to_bits());
        assert!((forth - numbers.iter().sum::<f64>()).abs() < 1e-12);
    }

    #[test]
    fn what_is_too_large_is_no_number() {
        for (digits, wrong) in
            [(SUMS, f64::NAN), (SUMS, f64::INFINITY), (SUMS, 1e21), (SLOPES, 1e11)]
        {
            let mut sums = FixedSums::new(2, digits);
            sums.add([1.0, wrong].into_iter());
            assert!(sums.values().all(f64::is_nan), "{wrong}");
            let mut sums = FixedSums::new(1, digits);
            sums.add(std::iter::once(1e10));
            assert_eq!(sums.values().next(), Some(1e10));
        }
    }
}
