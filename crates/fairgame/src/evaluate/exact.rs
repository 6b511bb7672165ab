//! Sums of numbers that are never rounded.
//!
//! A term is m·2^e with a whole number m below 2^128. The sum is one fixed-point number: a row of 64-bit limbs,
//! the lowest first, whose unit is the smallest power of two that a term can have. Adding whole numbers is exact,
//! so no order of the terms, no cut into parts and no order of merging can change a bit of the sum. It is rounded
//! once, when it is turned into an f64.

use serde::{Deserialize, Serialize};

/// A sum of terms that are not negative, in units of 2^UNIT.
///
/// It holds every sum below 2^(64·LIMBS + UNIT). Whoever chooses LIMBS makes sure that no sum reaches that;
/// beyond it, the sum is wrong (and a debug build stops).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Exact<const LIMBS: usize, const UNIT: i32> {
    #[serde(with = "limbs")]
    limbs: [u64; LIMBS],
}

impl<const LIMBS: usize, const UNIT: i32> Default for Exact<LIMBS, UNIT> {
    fn default() -> Self {
        Exact { limbs: [0; LIMBS] }
    }
}

impl<const LIMBS: usize, const UNIT: i32> Exact<LIMBS, UNIT> {
    /// Adds mantissa·2^exponent; the exponent is at least UNIT.
    pub(crate) fn add(&mut self, mantissa: u128, exponent: i32) {
        debug_assert!(exponent >= UNIT, "2^{exponent} is below the unit 2^{UNIT}");
        let places = (exponent - UNIT) as usize;
        let (first, shift) = (places / 64, places % 64);
        let (low, high) = (mantissa as u64, (mantissa >> 64) as u64);
        // Shifting by 64 is not defined, by 63 and then by 1 is.
        let parts =
            [low << shift, high << shift | (low >> 1) >> (63 - shift), (high >> 1) >> (63 - shift)];
        let mut carry = false;
        for (at, part) in parts.into_iter().enumerate() {
            let Some(limb) = self.limbs.get_mut(first + at) else {
                debug_assert!(part == 0 && !carry, "the sum is too large");
                return;
            };
            let (sum, over) = limb.overflowing_add(part);
            let (sum, again) = sum.overflowing_add(u64::from(carry));
            (*limb, carry) = (sum, over || again);
        }
        for limb in self.limbs.iter_mut().skip(first + parts.len()) {
            if !carry {
                return;
            }
            (*limb, carry) = limb.overflowing_add(1);
        }
        debug_assert!(!carry, "the sum is too large");
    }

    /// Adds another sum.
    pub(crate) fn merge(&mut self, other: &Self) {
        let mut carry = false;
        for (limb, part) in self.limbs.iter_mut().zip(other.limbs) {
            let (sum, over) = limb.overflowing_add(part);
            let (sum, again) = sum.overflowing_add(u64::from(carry));
            (*limb, carry) = (sum, over || again);
        }
        debug_assert!(!carry, "the sum is too large");
    }

    /// The f64 that is nearest to the sum; of two that are as near, the even one.
    pub(crate) fn value(&self) -> f64 {
        let Some(top) = self.limbs.iter().rposition(|&limb| limb != 0) else { return 0.0 };
        let below = |back: usize| top.checked_sub(back).map_or(0, |at| self.limbs[at]);
        // The first 64 bits from the highest that is set, and whether any bit follows them.
        let empty = self.limbs[top].leading_zeros();
        let head = self.limbs[top] << empty | (below(1) >> 1) >> (63 - empty);
        let rest = below(1) << empty != 0
            || self.limbs[..top.saturating_sub(1)].iter().any(|&limb| limb != 0);
        // A bit that stands for all that follow: the conversion then rounds as if it saw them.
        let head = (head | u64::from(rest)) as f64;
        scaled(head, 64 * top as i32 - empty as i32 + UNIT)
    }
}

/// number·2^exponent, where neither it nor a factor is too large or too small for an f64.
fn scaled(number: f64, exponent: i32) -> f64 {
    let power = |exponent: i32| f64::from_bits(((1023 + exponent) as u64) << 52);
    number * power(exponent / 2) * power(exponent - exponent / 2)
}

/// Arrays of any length as lists.
mod limbs {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer, const LIMBS: usize>(
        limbs: &[u64; LIMBS],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        limbs.as_slice().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>, const LIMBS: usize>(
        deserializer: D,
    ) -> Result<[u64; LIMBS], D::Error> {
        let limbs = Vec::<u64>::deserialize(deserializer)?;
        let found = limbs.len();
        limbs.try_into().map_err(|_| {
            D::Error::custom(format!("{LIMBS} limbs are needed, and {found} are given"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    type Sum = Exact<7, -255>;

    /// The bits of a sum, one at a time: slow, and plain enough to be right.
    #[derive(Clone, PartialEq, Debug)]
    struct Bits(Vec<bool>);

    impl Bits {
        fn add(&mut self, mantissa: u128, place: usize) {
            let mut carry = false;
            for (at, bit) in self.0.iter_mut().enumerate().skip(place) {
                let other = at - place < 128 && mantissa >> (at - place) & 1 == 1;
                let ones = u8::from(*bit) + u8::from(other) + u8::from(carry);
                (*bit, carry) = (ones & 1 == 1, ones > 1);
            }
            assert!(!carry);
        }

        /// Rounded by hand: the 53 highest bits are kept, the next one and the rest decide.
        fn value(&self, unit: i32) -> f64 {
            let Some(top) = self.0.iter().rposition(|bit| *bit) else { return 0.0 };
            let bit = |at: Option<usize>| at.is_some_and(|at| self.0[at]);
            let kept =
                (0..53).fold(0_u64, |kept, back| kept << 1 | u64::from(bit(top.checked_sub(back))));
            let half = bit(top.checked_sub(53));
            let rest = top >= 54 && self.0[..top - 53].iter().any(|bit| *bit);
            let up = half && (rest || kept & 1 == 1);
            (kept + u64::from(up)) as f64 * 2.0_f64.powi(top as i32 - 52 + unit)
        }
    }

    fn term(stream: &mut Stream) -> (u128, i32) {
        let wide = u128::from(stream.bits()) << 64 | u128::from(stream.bits());
        let mantissa = match stream.below(4) {
            0 => wide >> 27,
            1 => wide >> (27 + stream.below(100)),
            2 => (1 << stream.below(101)) - 1,
            _ => 1 << stream.below(101),
        };
        (mantissa, -255 + stream.below(253) as i32)
    }

    #[test]
    fn sums_are_those_of_bits() {
        let mut stream = Stream::new(5, "exact");
        for turn in 0..300 {
            let (mut sum, mut bits) = (Sum::default(), Bits(vec![false; 448]));
            for _ in 0..1 + turn % 40 {
                let (mantissa, exponent) = term(&mut stream);
                sum.add(mantissa, exponent);
                bits.add(mantissa, (exponent + 255) as usize);
                assert_eq!(sum.value().to_bits(), bits.value(-255).to_bits());
            }
            let of_sum = (0..448).map(|at| sum.limbs[at / 64] >> (at % 64) & 1 == 1);
            assert_eq!(of_sum.collect::<Vec<bool>>(), bits.0);
        }
    }

    #[test]
    fn order_and_cuts_do_not_matter() {
        let mut stream = Stream::new(6, "exact order");
        for _ in 0..200 {
            let mut terms: Vec<_> = (0..1 + stream.below(60)).map(|_| term(&mut stream)).collect();
            let add = |terms: &[(u128, i32)]| {
                let mut sum = Sum::default();
                terms.iter().for_each(|(mantissa, exponent)| sum.add(*mantissa, *exponent));
                sum
            };
            let whole = add(&terms);
            stream.shuffle(&mut terms);
            let (left, right) = terms.split_at(stream.below(terms.len() as u64 + 1) as usize);
            let mut merged = add(right);
            merged.merge(&add(left));
            assert_eq!(merged, whole);
            let text = serde_json::to_string(&whole).unwrap();
            assert_eq!(serde_json::from_str::<Sum>(&text).unwrap(), whole);
        }
        assert!(serde_json::from_str::<Sum>("[1,2]").is_err());
    }

    #[test]
    fn values_are_rounded_to_even() {
        let value = |terms: &[(u128, i32)]| {
            let mut sum = Sum::default();
            terms.iter().for_each(|(mantissa, exponent)| sum.add(*mantissa, *exponent));
            sum.value()
        };
        assert_eq!(value(&[]), 0.0);
        assert_eq!(value(&[(1, -255)]), 2.0_f64.powi(-255));
        let one = 1_u128 << 53;
        assert_eq!(value(&[(one, 0), (1, 0)]), 9_007_199_254_740_992.0);
        assert_eq!(value(&[(one, 0), (3, 0)]), 9_007_199_254_740_996.0);
        // The smallest bit there is decides a tie.
        assert_eq!(value(&[(one, 0), (1, 0), (1, -255)]), 9_007_199_254_740_994.0);
        // Ten tenths, as 32-bit numbers, are not 1, and are summed as what they are.
        let tenth = 13_421_773;
        assert_eq!(value(&[(tenth, -27); 10]), 10.0 * f64::from(0.1_f32));
    }
}
