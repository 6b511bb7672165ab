//! What the training says of each constraint: whether it was enforced, and whether it is promised on new rows.

use fairgame::train::Standing;
use serde::{Deserialize, Serialize};

use super::Estimate;
use crate::number;

/// What the training says of all constraints.
///
/// ```
/// let promise: fairgame_report::Promise = serde_json::from_str(r#"{"margin_price": 0.002}"#).unwrap();
/// assert!(promise.constraints.is_empty());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Promise {
    /// Of the intervals on new rows, as a share: 0.95.
    #[serde(with = "number::option")]
    pub confidence: Option<f64>,
    /// By how much margins and optimism raise the objective where constraints are enforced.
    #[serde(with = "number::option")]
    pub margin_price: Option<f64>,
    /// Each constraint.
    pub constraints: Vec<Enforcement>,
}

/// One constraint, as the training left it. All numbers are losses, which are to be at most 0.
///
/// ```
/// let found: fairgame_report::Enforcement = serde_json::from_str(
///     r#"{"text": "fpr() <= 0.1", "value": -0.02, "asked": 0.01, "margin": 0.01, "standing": "promised"}"#,
/// ).unwrap();
/// assert_eq!(found.standing, fairgame_report::Standing::Promised);
/// assert_eq!(found.optimism, None);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Enforcement {
    /// The constraint, as it was written.
    pub text: String,
    /// Its loss on the rows that it was enforced on.
    #[serde(with = "number")]
    pub value: f64,
    /// By how much the loss is larger on rows that had no part in the selection; absent where it was not measured.
    #[serde(default, with = "number::option")]
    pub optimism: Option<f64>,
    /// The margin that was asked for, beyond the optimism.
    #[serde(with = "number")]
    pub asked: f64,
    /// The margin that was had.
    #[serde(with = "number")]
    pub margin: f64,
    /// Its loss on new rows.
    #[serde(default)]
    pub estimate: Option<Estimate>,
    /// How it stands.
    pub standing: Standing,
}
