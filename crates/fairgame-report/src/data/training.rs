//! How a classifier came to be: the models that were kept, the mixture of them, and the multipliers.

use serde::{Deserialize, Serialize};

use super::Role;
use crate::number;

/// The models that training kept, each measured, and the mixture that was made of them.
///
/// ```
/// use fairgame_report::{Iterate, Iterates, Role};
/// let iterates = Iterates {
///     violation_on: Role::Val,
///     all: vec![Iterate { turn: 10, error: 0.2, violation: 0.03 }],
///     ..Iterates::default()
/// };
/// assert_eq!(iterates.error_on, Role::Train);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Iterates {
    /// Where the objective was measured.
    pub error_on: Role,
    /// Where the constraints were.
    pub violation_on: Role,
    /// All models that were kept.
    pub all: Vec<Iterate>,
    /// Those of the mixture.
    pub members: Vec<Member>,
    /// The mixture itself.
    pub mixture: Option<Point>,
}

/// One kept model.
///
/// ```
/// let iterate: fairgame_report::Iterate =
///     serde_json::from_str(r#"{"turn": 5, "error": 0.25, "violation": "NaN"}"#).unwrap();
/// assert!(iterate.violation.is_nan());
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Iterate {
    /// After which turn.
    pub turn: u64,
    /// Its objective.
    #[serde(with = "number")]
    pub error: f64,
    /// The largest of its constraints' losses.
    #[serde(with = "number")]
    pub violation: f64,
}

/// One model of the mixture.
///
/// ```
/// use fairgame_report::Member;
/// let member = Member { turn: 900, weight: 0.7, error: 0.15, violation: 0.01 };
/// assert!(serde_json::to_string(&member).unwrap().contains(r#""weight":0.7"#));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// After which turn.
    pub turn: u64,
    /// Its probability.
    #[serde(with = "number")]
    pub weight: f64,
    /// Its own objective.
    #[serde(with = "number")]
    pub error: f64,
    /// The largest of its own constraints' losses.
    #[serde(with = "number")]
    pub violation: f64,
}

/// Where the mixture is.
///
/// ```
/// use fairgame_report::Point;
/// assert_eq!(Point { error: 0.15, violation: 0.0 }.violation, 0.0);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Its objective.
    #[serde(with = "number")]
    pub error: f64,
    /// The largest of its constraints' losses.
    #[serde(with = "number")]
    pub violation: f64,
}

/// λ by turn. Every line has a value for each turn; a shorter one ends early.
///
/// ```
/// use fairgame_report::{Line, Multipliers};
/// let multipliers = Multipliers {
///     note: None,
///     turns: vec![1, 2],
///     objective: Some(vec![1.0, 0.8]),
///     constraints: vec![Line { text: "fpr() <= 0.1".into(), values: vec![0.0, 0.2] }],
/// };
/// assert_eq!(multipliers.constraints[0].values.len(), multipliers.turns.len());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Multipliers {
    /// What is to be known of them.
    pub note: Option<String>,
    /// When λ was written down.
    pub turns: Vec<u64>,
    /// The objective's weight, λ₁.
    #[serde(with = "number::option_list")]
    pub objective: Option<Vec<f64>>,
    /// Each constraint's.
    pub constraints: Vec<Line>,
}

/// One constraint's multiplier by turn.
///
/// ```
/// let line: fairgame_report::Line = serde_json::from_str(r#"{"text": "a", "values": [0, 0.5, null]}"#).unwrap();
/// assert!(line.values[2].is_nan());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Line {
    /// The constraint, as it was written.
    pub text: String,
    /// Its multiplier at each turn.
    #[serde(with = "number::list")]
    pub values: Vec<f64>,
}
