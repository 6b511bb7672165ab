//! What evaluation keeps of rows: exact sums, which add in any order.
//!
//! A weight w is an f32: a whole number m < 2^24 times 2^e, with e from −149 to 104. A chance p is rounded once to a
//! whole number k ≤ 2^53 times 2^−53. So each term below is a whole number times a power of two, and is summed as
//! such. The number of limbs of a sum follows from its least unit and from its largest term:
//!
//! | sum | unit | each term is below | limbs hold sums below | so at least |
//! |---|---|---|---|---|
//! | Σ w | 2^−149 | 2^128 | 2^171 | 2^43 rows |
//! | Σ w·p | 2^−202 | 2^128 | 2^182 | 2^54 rows |
//! | Σ w·p² | 2^−255 | 2^128 | 2^193 | 2^65 rows |
//! | Σ w² | 2^−298 | 2^256 | 2^342 | 2^86 rows |
//! | Σ w²·p | 2^−351 | 2^256 | 2^353 | 2^97 rows |
//! | Σ w²·p² | 2^−404 | 2^256 | 2^300 | 2^44 rows |
//!
//! 2^43 rows are more than anyone has, so that no sum overflows, whatever the weights.

use serde::{Deserialize, Serialize};

use super::exact::Exact;
use super::moments::Moments;

/// A chance of a positive decision, rounded to a multiple of 2^−53: numerator·2^exponent.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Chance {
    numerator: u64,
    exponent: i32,
}

impl Chance {
    /// The chance nearest to p, which is between 0 and 1.
    pub(crate) fn new(p: f64) -> Self {
        const WHOLE: u64 = 1 << 53;
        match (p * WHOLE as f64).round_ties_even() as u64 {
            // A decision: its products have few bits.
            0 => Chance { numerator: 0, exponent: 0 },
            WHOLE => Chance { numerator: 1, exponent: 0 },
            numerator => Chance { numerator, exponent: -53 },
        }
    }

    /// Whether it is one that [`Chance::new`] makes.
    pub(super) fn is_sound(self) -> bool {
        match self.exponent {
            0 => self.numerator <= 1,
            -53 => self.numerator < 1 << 53,
            _ => false,
        }
    }

    /// Adds w and w·p of a row to sums of these.
    pub(super) fn add_to(self, weight: f32, w: &mut Exact<5, -149>, wp: &mut Exact<6, -202>) {
        let (m, e) = parts(weight);
        w.add(u128::from(m), e);
        wp.add(u128::from(m) * u128::from(self.numerator), e + self.exponent);
    }
}

/// Sums over rows, with w the weight of a row and p its chance of a positive decision.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RowSums {
    /// How many rows there are, how many of weight above 0, and how many of these have p > 0 and 0 < p < 1.
    pub(super) rows: u64,
    counted: u64,
    positive: u64,
    #[serde(default)]
    drawn: u64,
    w: Exact<5, -149>,
    wp: Exact<6, -202>,
    wp2: Exact<7, -255>,
    w2: Exact<10, -298>,
    w2p: Exact<11, -351>,
    w2p2: Exact<11, -404>,
}

impl RowSums {
    /// Adds a row; its weight is finite and not negative.
    pub(crate) fn add(&mut self, weight: f32, chance: Chance) {
        self.rows += 1;
        let (m, e) = parts(weight);
        if m == 0 {
            return;
        }
        self.counted += 1;
        self.w.add(u128::from(m), e);
        self.w2.add(u128::from(m * m), 2 * e);
        let Chance { numerator: k, exponent } = chance;
        if k == 0 {
            return;
        }
        self.positive += 1;
        self.drawn += u64::from(exponent != 0);
        let product = |a: u64| u128::from(a) * u128::from(k);
        self.wp.add(product(m), e + exponent);
        self.w2p.add(product(m * m), 2 * e + exponent);
        // m·k² has up to 130 bits and m²·k² up to 154: in two parts, 64 bits of k² apart.
        let square = u128::from(k) * u128::from(k);
        for (part, up) in [(square as u64, 0), ((square >> 64) as u64, 64)] {
            if part > 0 {
                let product = |a: u64| u128::from(a) * u128::from(part);
                self.wp2.add(product(m), e + 2 * exponent + up);
                self.w2p2.add(product(m * m), 2 * (e + exponent) + up);
            }
        }
    }

    /// The sums of the same rows, were none of them decided positive.
    pub(super) fn all_negative(&self) -> Self {
        let RowSums { rows, counted, w, w2, .. } = *self;
        RowSums { rows, counted, w, w2, ..RowSums::default() }
    }

    /// Adds the rows of another sum.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.rows += other.rows;
        self.counted += other.counted;
        self.positive += other.positive;
        self.drawn += other.drawn;
        self.w.merge(&other.w);
        self.wp.merge(&other.wp);
        self.wp2.merge(&other.wp2);
        self.w2.merge(&other.w2);
        self.w2p.merge(&other.w2p);
        self.w2p2.merge(&other.w2p2);
    }

    /// How many rows have a weight above 0.
    pub(super) fn counted(&self) -> u64 {
        self.counted
    }

    /// How many of these are decided by a draw.
    pub(super) fn drawn(&self) -> u64 {
        self.drawn
    }

    /// Σ w.
    pub(super) fn weight(&self) -> f64 {
        self.w.value()
    }

    /// Σ w·p.
    pub(super) fn positive_weight(&self) -> f64 {
        self.wp.value()
    }

    /// The sums as numbers, with weights in units of `unit`.
    pub(super) fn moments(&self, unit: f64) -> Moments {
        let (first, second) = (|sum: f64| sum / unit, |sum: f64| sum / unit / unit);
        Moments {
            rows: self.rows as usize,
            counted: self.counted as usize,
            positive: self.positive as usize,
            w: first(self.w.value()),
            wp: first(self.wp.value()),
            wp2: first(self.wp2.value()),
            w2: second(self.w2.value()),
            w2p: second(self.w2p.value()),
            w2p2: second(self.w2p2.value()),
        }
    }
}

/// A finite number that is not negative as m·2^e.
fn parts(weight: f32) -> (u64, i32) {
    let bits = weight.to_bits();
    let (exponent, fraction) = (bits >> 23 & 0xff, u64::from(bits & 0x7f_ffff));
    match exponent {
        0 => (fraction, -149),
        exponent => (fraction | 1 << 23, exponent as i32 - 150),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    #[test]
    fn weights_are_taken_apart() {
        for weight in [0.0, f32::MIN_POSITIVE, 1e-45, 1.0, 0.1, 3.5, f32::MAX] {
            let (m, e) = parts(weight);
            assert_eq!(m as f64 * 2.0_f64.powi(e), f64::from(weight));
        }
    }

    #[test]
    fn chances_are_rounded_once() {
        let value = |p| {
            let Chance { numerator, exponent } = Chance::new(p);
            numerator as f64 * 2.0_f64.powi(exponent)
        };
        for p in [0.0, 1.0, 0.5, 0.75, 0.1, 1.0 / 3.0, 1.0 - f64::EPSILON / 2.0, 2.0_f64.powi(-53)]
        {
            assert!((value(p) - p).abs() <= 2.0_f64.powi(-54), "{p}");
        }
        assert_eq!([value(1.0), value(1.0 - f64::EPSILON / 2.0)], [1.0, 1.0 - f64::EPSILON / 2.0]);
        assert_eq!(value(1e-20), 0.0);
    }

    /// The largest and the smallest rows there are, in one sum.
    #[test]
    fn extremes_fit() {
        let mut sums = RowSums::default();
        let least = Chance::new(2.0_f64.powi(-53));
        for weight in [f32::MAX, 1e-45] {
            for chance in [Chance::new(1.0 - f64::EPSILON / 2.0), least, Chance::new(1.0)] {
                sums.add(weight, chance);
            }
        }
        let most = f64::from(f32::MAX);
        let found = sums.moments(1.0);
        assert_eq!((found.w, found.w2), (3.0 * most, 3.0 * most * most));
        assert_eq!((found.rows, found.counted, found.positive), (6, 6, 6));
        let mut tiny = RowSums::default();
        tiny.add(1e-45, least);
        assert_eq!(tiny.moments(1.0).w2p2, 2.0_f64.powi(-404));
    }

    /// Sums are those of f64, but for the rounding of these; and no order matters.
    #[test]
    fn sums_are_sums() {
        let mut stream = Stream::new(7, "row sums");
        for _ in 0..50 {
            let mut rows: Vec<(f32, f64)> = (0..1 + stream.below(300))
                .map(|_| {
                    let weight =
                        if stream.below(8) == 0 { 0.0 } else { (9.0 * stream.unit()) as f32 };
                    (weight, [0.0, 1.0, stream.unit()][stream.below(3) as usize])
                })
                .collect();
            let sum = |rows: &[(f32, f64)]| {
                let mut sums = RowSums::default();
                rows.iter().for_each(|(weight, p)| sums.add(*weight, Chance::new(*p)));
                sums
            };
            let (found, n) = (sum(&rows), rows.len() as f64);
            let moments = found.moments(1.0);
            let naive = |power: i32, of_p: i32| -> f64 {
                rows.iter().map(|(w, p)| f64::from(*w).powi(power) * p.powi(of_p)).sum()
            };
            let pairs = [
                (moments.w, naive(1, 0)),
                (moments.wp, naive(1, 1)),
                (moments.wp2, naive(1, 2)),
                (moments.w2, naive(2, 0)),
                (moments.w2p, naive(2, 1)),
                (moments.w2p2, naive(2, 2)),
            ];
            assert!(pairs.iter().all(|(a, b)| (a - b).abs() < 1e-12 * n * 81.0), "{pairs:?}");
            stream.shuffle(&mut rows);
            let (left, right) = rows.split_at(rows.len() / 3);
            let mut merged = sum(right);
            merged.merge(&sum(left));
            assert_eq!(merged, found);
        }
    }
}
