//! What was asked of a classifier, and what it does: losses, verdicts, and the rates behind them.

use fairgame::evaluate::Verdict;
use serde::{Deserialize, Serialize};

use super::On;
use crate::number;

/// Where a value lies, at the model's confidence.
///
/// ```
/// let interval: fairgame_report::Interval = serde_json::from_str(r#"{"low": -0.1, "high": "inf"}"#).unwrap();
/// assert_eq!(interval.high, f64::INFINITY);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interval {
    /// Its lower end.
    #[serde(with = "number")]
    pub low: f64,
    /// Its upper end.
    #[serde(with = "number")]
    pub high: f64,
}

/// A loss on a sample, which is to be at most 0.
///
/// ```
/// use fairgame_report::{Interval, Measured, Verdict};
/// let loss = Measured { interval: Some(Interval { low: -0.02, high: 0.01 }), ..Measured::exactly(-0.005) };
/// assert_eq!(loss.verdict(), Verdict::Undecided, "nothing else was said, so the interval decides");
/// assert_eq!(Measured::exactly(-0.005).verdict(), Verdict::Met);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// The loss.
    #[serde(with = "number")]
    pub value: f64,
    /// Where the loss lies on unseen data.
    #[serde(default)]
    pub interval: Option<Interval>,
    /// What was concluded; without one, the interval decides.
    #[serde(default)]
    pub verdict: Option<Verdict>,
}

impl Measured {
    /// A value and nothing more.
    pub fn exactly(value: f64) -> Measured {
        Measured { value, interval: None, verdict: None }
    }

    /// What was concluded or, where nothing was, what the interval says; without one, the value is exact.
    pub fn verdict(&self) -> Verdict {
        let exact = Interval { low: self.value, high: self.value };
        let Interval { low, high } = self.interval.unwrap_or(exact);
        self.verdict.unwrap_or(Verdict::of_interval(low, high))
    }
}

/// What was minimised, and how low it is.
///
/// ```
/// use fairgame_report::{Measured, Objective, On};
/// let on = On { test: Some(Measured::exactly(0.142)), ..On::default() };
/// assert_eq!(Objective { text: "error()".into(), on }.text, "error()");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Objective {
    /// As it was written.
    pub text: String,
    /// Its value on each sample. Verdicts are not shown.
    pub on: On<Measured>,
}

/// What had to hold, and whether it does.
///
/// ```
/// let constraint: fairgame_report::Constraint =
///     serde_json::from_str(r#"{"text": "fpr() <= 0.1", "on": {"val": {"value": -0.02}}}"#).unwrap();
/// assert_eq!(constraint.on.val.unwrap().value, -0.02);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Constraint {
    /// As it was written.
    pub text: String,
    /// Its loss on each sample.
    pub on: On<Measured>,
    /// The rates it is made of.
    pub rates: Vec<Rate>,
}

/// A rate within a constraint.
///
/// ```
/// use fairgame_report::{Estimate, On, Rate};
/// let test = Some(Estimate { value: 0.62, interval: None, rows: Some(310) });
/// let rate = Rate { text: "tpr(race == \"Black\")".into(), on: On { test, ..On::default() } };
/// assert_eq!(rate.on.test.unwrap().rows, Some(310));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rate {
    /// As it was written.
    pub text: String,
    /// What it is on each sample.
    pub on: On<Estimate>,
}

/// A rate on a sample.
///
/// ```
/// let rate: fairgame_report::Estimate = serde_json::from_str(r#"{"value": 0.5, "rows": 12}"#).unwrap();
/// assert_eq!((rate.value, rate.rows), (0.5, Some(12)));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Estimate {
    /// A share of rows.
    #[serde(with = "number")]
    pub value: f64,
    /// Where it lies on unseen data.
    #[serde(default)]
    pub interval: Option<Interval>,
    /// The rows that it is a share of.
    #[serde(default)]
    pub rows: Option<u64>,
}
