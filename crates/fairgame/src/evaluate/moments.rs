//! Sums over rows as numbers, and what follows from them for an outcome that is affine in p.

use std::ops::{AddAssign, SubAssign};

use crate::rate::Outcome;

/// Sums over rows as numbers, with w the weight of a row relative to the mean and p its chance of a positive
/// decision.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moments {
    /// How many rows there are, how many of weight above 0, and how many of these have p > 0.
    pub(super) rows: usize,
    pub(super) counted: usize,
    pub(super) positive: usize,
    /// Σ w, Σ w·p, Σ w·p².
    pub(super) w: f64,
    pub(super) wp: f64,
    pub(super) wp2: f64,
    /// Σ w², Σ w²·p, Σ w²·p².
    pub(super) w2: f64,
    pub(super) w2p: f64,
    pub(super) w2p2: f64,
}

impl Moments {
    /// Σ w·(u + v·p).
    pub(super) fn sum(&self, (u, v): Outcome) -> f64 {
        u * self.w + v * self.wp
    }

    /// Σ ω·x², where ω = w·(d + e·p) and ω·x = w·(u + v·p): either e = 0, or d = u = 0.
    pub(super) fn spread(&self, (u, v): Outcome, (d, e): Outcome) -> f64 {
        if d > 0.0 {
            (u * u * self.w + 2.0 * u * v * self.wp + v * v * self.wp2).max(0.0) / d
        } else if e > 0.0 {
            v * v * self.wp / e
        } else {
            0.0
        }
    }

    /// Σ w²·(u + v·p)².
    pub(super) fn squares(&self, (u, v): Outcome) -> f64 {
        let (ends, middle) = (u * u * self.w2 + v * v * self.w2p2, 2.0 * u * v * self.w2p);
        // What rounding leaves of nothing must not look like a variance: it would have degrees of freedom.
        if ends + middle > 1e-12 * ends { ends + middle } else { 0.0 }
    }
}

impl AddAssign for Moments {
    fn add_assign(&mut self, other: Self) {
        self.rows += other.rows;
        self.counted += other.counted;
        self.positive += other.positive;
        self.w += other.w;
        self.wp += other.wp;
        self.wp2 += other.wp2;
        self.w2 += other.w2;
        self.w2p += other.w2p;
        self.w2p2 += other.w2p2;
    }
}

impl SubAssign for Moments {
    /// Takes a part away; what rounding leaves of nothing is nothing.
    fn sub_assign(&mut self, part: Self) {
        self.rows -= part.rows;
        self.counted -= part.counted;
        self.positive -= part.positive;
        if self.counted == 0 {
            *self = Moments { rows: self.rows, ..Moments::default() };
            return;
        }
        self.w = (self.w - part.w).max(0.0);
        self.w2 = (self.w2 - part.w2).max(0.0);
        if self.positive == 0 {
            (self.wp, self.wp2, self.w2p, self.w2p2) = (0.0, 0.0, 0.0, 0.0);
            return;
        }
        self.wp = (self.wp - part.wp).max(0.0);
        self.wp2 = (self.wp2 - part.wp2).max(0.0);
        self.w2p = (self.w2p - part.w2p).max(0.0);
        self.w2p2 = (self.w2p2 - part.w2p2).max(0.0);
    }
}
