//! Whose a row is, as a function of the row alone.
//!
//! Where rows are plenty, each is drawn by a hash of its number: to test on, to enforce constraints on, to be set aside,
//! or to teach. Shares are then right to within chance, which is nothing beside a million rows, and no list of rows is
//! needed. Rows of one unit share a hash, so they are never apart; copies share that of their values.

use crate::random::mix;

/// What a row is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Train = 0,
    Val = 1,
    Test = 2,
}

/// How rows are divided.
#[derive(Debug, Clone, Copy)]
pub(super) struct Divide {
    seed: u64,
    /// Whose the rows are that are neither drawn to test nor to enforce constraints on.
    rest: Part,
    test: f64,
    val: f64,
}

impl Divide {
    /// Draws a share of the rows to test on, and of the others a share to enforce constraints on.
    pub(super) fn shares(seed: u64, test: f64, val: f64) -> Self {
        Divide { seed, rest: Part::Train, test, val }
    }

    /// All rows are of one part.
    pub(super) fn all(part: Part) -> Self {
        Divide { seed: 0, rest: part, test: 0.0, val: 0.0 }
    }

    /// Whether some rows are drawn to test on.
    pub(super) fn tests(&self) -> bool {
        self.test > 0.0
    }

    /// The part of the row, or of all rows of the unit, with this key.
    #[inline]
    pub(super) fn part(&self, key: u64) -> Part {
        if self.test > 0.0 && drawn(self.seed ^ 0x7465_7374, key, self.test) {
            return Part::Test;
        }
        if self.val > 0.0 && drawn(self.seed ^ 0x0076_616c, key, self.val) {
            return Part::Val;
        }
        self.rest
    }
}

/// Whether a share that a seed draws has a key in it.
#[inline]
pub(super) fn drawn(seed: u64, key: u64, share: f64) -> bool {
    let limit = (share.clamp(0.0, 1.0) * 2.0_f64.powi(64)) as u64;
    mix(mix(seed) ^ mix(key)) < limit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_as_asked_for() {
        let divide = Divide::shares(7, 0.1, 0.25);
        let mut counts = [0; 3];
        (0..100_000).for_each(|row| counts[divide.part(row) as usize] += 1);
        let share = |part: Part| f64::from(counts[part as usize]) / 100_000.0;
        assert!((share(Part::Test) - 0.1).abs() < 0.004);
        assert!((share(Part::Val) - 0.225).abs() < 0.006);
        assert!((0..1000).all(|row| Divide::all(Part::Val).part(row) == Part::Val));
    }
}
