//! Met, violated or undecided: the one place that says so.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Interval;

/// A loss that is above 0 by no more than this is not told apart from 0.
///
/// The linear program that mixes models meets constraints to about 1e-7, and scores are 32-bit numbers: a constraint
/// that holds with equality may come out above 0 by as much.
pub const ROUNDING: f64 = 1e-6;

/// Whether a constraint is met in the population, as far as an interval tells.
///
/// [`Verdict::of_interval`] is the one place where that is decided: training, `evaluate`, `audit`, reports and Python
/// all take their verdicts from it. Whether a constraint holds on given rows is another question:
/// [`ConstraintResult::holds_on_rows`](super::ConstraintResult::holds_on_rows).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The whole interval of the loss is at most 0.
    Met,
    /// The whole interval of the loss is above 0.
    Violated,
    /// The interval has both, or there is nothing to measure.
    #[default]
    Undecided,
}

impl Verdict {
    /// The verdict on a loss that lies between `low` and `high`: met where all of that is at most 0, violated where
    /// all of it is above 0.
    ///
    /// ```
    /// use fairgame::evaluate::Verdict;
    /// assert_eq!(Verdict::of_interval(-0.02, 0.0), Verdict::Met);
    /// assert_eq!(Verdict::of_interval(0.01, 0.02), Verdict::Violated);
    /// assert_eq!(Verdict::of_interval(-0.02, 0.01), Verdict::Undecided);
    /// assert_eq!(Verdict::of_interval(f64::NAN, f64::NAN), Verdict::Undecided);
    /// ```
    pub fn of_interval(low: f64, high: f64) -> Verdict {
        if high <= 0.0 {
            Verdict::Met
        } else if low > 0.0 {
            Verdict::Violated
        } else {
            Verdict::Undecided
        }
    }

    /// The verdict on constraints together: violated if one is, else undecided if one is, else met.
    pub fn of_all(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
        verdicts.into_iter().fold(Verdict::Met, |all, one| match (all, one) {
            (Verdict::Violated, _) | (_, Verdict::Violated) => Verdict::Violated,
            (Verdict::Undecided, _) | (_, Verdict::Undecided) => Verdict::Undecided,
            (Verdict::Met, Verdict::Met) => Verdict::Met,
        })
    }
}

impl Interval {
    /// What it says of a loss that lies within.
    pub fn verdict(&self) -> Verdict {
        Verdict::of_interval(self.low, self.high)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Met => "met",
            Verdict::Violated => "violated",
            Verdict::Undecided => "undecided",
        })
    }
}
