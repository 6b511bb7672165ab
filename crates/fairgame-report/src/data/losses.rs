//! What was asked of a classifier, and what it does: losses, verdicts, and the rates behind them.

use serde::{Deserialize, Serialize};

use super::On;
use crate::number;

/// Whether something holds.
///
/// ```
/// use fairgame_report::Verdict;
/// assert_eq!(Verdict::of(-0.01), Verdict::Met);
/// assert_eq!(Verdict::of(f64::NAN), Verdict::Undecided);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It holds.
    Met,
    /// It does not.
    Violated,
    /// The data cannot tell.
    #[default]
    Undecided,
}

impl Verdict {
    /// What a value alone says of a loss: met if it is at most 0.
    pub fn of(value: f64) -> Verdict {
        match value {
            v if v.is_nan() => Verdict::Undecided,
            v if v <= 0.0 => Verdict::Met,
            _ => Verdict::Violated,
        }
    }
}

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

/// A loss on a sample: a constraint is met if and only if its loss is at most 0.
///
/// ```
/// use fairgame_report::{Interval, Measured, Verdict};
/// let loss = Measured { interval: Some(Interval { low: -0.02, high: 0.01 }), ..Measured::exactly(-0.005) };
/// assert_eq!(loss.verdict(), Verdict::Met, "nothing else was said, so the value decides");
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
    /// What was concluded; without one, the value alone decides.
    #[serde(default)]
    pub verdict: Option<Verdict>,
}

impl Measured {
    /// A value and nothing more.
    pub fn exactly(value: f64) -> Measured {
        Measured { value, interval: None, verdict: None }
    }

    /// What was concluded or, where nothing was, what the value says.
    pub fn verdict(&self) -> Verdict {
        self.verdict.unwrap_or(Verdict::of(self.value))
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
