//! What someone who must sign wants to know, and the evidence for it.

use serde::{Deserialize, Serialize};

use super::{Estimate, Interval, Measured, Role};
use crate::number;

/// What was asked, what it comes to beside the same model without constraints, and what was not checked.
///
/// ```
/// use fairgame_report::Summary;
/// let summary: Summary = serde_json::from_str(r#"{"label": "hired == \"yes\"", "drawn": 0.04}"#).unwrap();
/// assert_eq!(summary.drawn, Some(0.04));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Summary {
    /// Which rows are positive, as written.
    pub label: String,
    /// The rows that before and after are measured on.
    pub on: Role,
    /// How many rows these are.
    pub rows: u64,
    /// The share of them that is labelled positive.
    #[serde(with = "number::option")]
    pub base_rate: Option<f64>,
    /// The share that a draw decides.
    #[serde(with = "number::option")]
    pub drawn: Option<f64>,
    /// The objective without constraints, and with them.
    #[serde(with = "number::option")]
    pub objective_before: Option<f64>,
    /// With them.
    #[serde(with = "number::option")]
    pub objective_after: Option<f64>,
    /// The same rows decided in other ways, this classifier first.
    pub baselines: Vec<Baseline>,
    /// Each constraint without and with being enforced.
    pub constraints: Vec<Shift>,
    /// The rates of groups that constraints speak of.
    pub rates: Vec<RateShift>,
    /// Whether the data were checked.
    pub checked: bool,
    /// What the checks of the data found.
    pub findings: Vec<String>,
    /// The columns that decide, and their kinds.
    pub features: Vec<(String, String)>,
    /// What other bounds would cost, by ascending slack.
    pub trade_off: Vec<TradePoint>,
    /// Decisions by label, in each group.
    pub confusions: Vec<ConfusionShift>,
    /// What nobody has checked.
    pub unchecked: Vec<String>,
}

/// What the rows come to if they are decided in one way.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Baseline {
    /// Which way, in words.
    pub text: String,
    /// The objective.
    #[serde(with = "number::option")]
    pub objective: Option<f64>,
    /// How many constraints have a loss above 0 on these rows.
    pub violated: u64,
    /// The largest loss of a constraint.
    #[serde(with = "number::option")]
    pub worst: Option<f64>,
}

/// A constraint of a model that does not know it, and of one that does.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Shift {
    /// As written.
    pub text: String,
    /// Its loss where it was not enforced.
    pub before: Option<Measured>,
    /// Its loss where it was.
    pub after: Option<Measured>,
}

/// A rate of a group under both.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RateShift {
    /// As written.
    pub text: String,
    /// The rows that it is measured on.
    pub rows: u64,
    /// Without constraints.
    pub before: Option<Estimate>,
    /// With them.
    pub after: Option<Estimate>,
}

/// The objective with bounds moved by a slack.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TradePoint {
    /// Above 0, bounds are looser.
    pub slack: f64,
    /// The objective on new rows; none where the bounds are infeasible.
    #[serde(with = "number::option")]
    pub value: Option<f64>,
    /// Where it lies.
    pub interval: Option<Interval>,
}

/// True positives, false positives, false negatives and true negatives of a group, by weight.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConfusionShift {
    /// The group; empty for all rows.
    pub group: String,
    /// Its rows.
    pub rows: u64,
    /// Without constraints.
    pub before: Option<[f64; 4]>,
    /// With them.
    pub after: Option<[f64; 4]>,
}
