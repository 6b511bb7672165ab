//! Sums that no order can change: numbers added up as integers.
//!
//! A block's sum x, which is always made in the same order, is added as the integer ⌊x·2⁶⁴⌋. Integers add up to
//! the same in any order, so neither threads nor the place where a block is held can change a bit. Block sums are
//! below 2⁴⁴, so that 128 bits hold the sums of 2¹⁸ blocks, which is four billion rows. Larger ones, and what is not
//! a finite number, are errors.

use crate::{Error, ErrorKind, Result};

/// What 1 is counted as: 2⁶⁴.
const ONE: f64 = 18_446_744_073_709_551_616.0;

/// Each number that is added must be below this: 2⁴⁴.
const MOST: f64 = (1_u64 << 44) as f64;

/// Sums of vectors of one length.
#[derive(Debug)]
pub(super) struct FixedSums {
    sums: Vec<i128>,
    sound: bool,
}

impl FixedSums {
    pub(super) fn new(length: usize) -> Self {
        FixedSums { sums: vec![0; length], sound: true }
    }

    /// Adds a vector.
    pub(super) fn add(&mut self, numbers: impl Iterator<Item = f64>) {
        for (sum, number) in self.sums.iter_mut().zip(numbers) {
            self.sound &= number.abs() < MOST;
            *sum = sum.wrapping_add((number * ONE) as i128);
        }
    }

    /// The sums.
    ///
    /// # Errors
    /// If a number was too large, or none at all.
    pub(super) fn values(&self) -> Result<impl Iterator<Item = f64> + '_> {
        if !self.sound {
            let message = "a sum over rows is too large, or not a finite number";
            return Err(Error::new(ErrorKind::Settings, message)
                .help("use a smaller learning rate, or standardise the numbers"));
        }
        Ok(self.sums.iter().map(|&sum| sum as f64 / ONE))
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
            let mut sums = FixedSums::new(1);
            numbers.for_each(|number| sums.add(std::iter::once(number)));
            sums.values().unwrap().next().unwrap()
        };
        let forth = sum(&mut numbers.iter().copied());
        assert_eq!(forth.to_bits(), sum(&mut numbers.iter().rev().copied()).to_bits());
        assert!((forth - numbers.iter().sum::<f64>()).abs() < 1e-12);
    }

    #[test]
    fn what_is_no_number_is_an_error() {
        for wrong in [f64::NAN, f64::INFINITY, 1e30] {
            let mut sums = FixedSums::new(2);
            sums.add([1.0, wrong].into_iter());
            assert!(sums.values().is_err(), "{wrong}");
        }
    }
}
