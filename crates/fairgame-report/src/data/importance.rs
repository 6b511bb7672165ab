//! How much each column counts.

use serde::{Deserialize, Serialize};

use crate::number;

/// How much a column counts.
///
/// ```
/// let age: fairgame_report::Importance = serde_json::from_str(r#"{"column": "age", "gain": 0.4}"#).unwrap();
/// assert_eq!(age.gain, Some(0.4));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Importance {
    /// The column.
    pub column: String,
    /// Its share of what the splits of trees gained.
    #[serde(with = "number::option")]
    pub gain: Option<f64>,
    /// By how much the objective rises if its values are shuffled.
    #[serde(with = "number::option")]
    pub objective: Option<f64>,
    /// The constraint whose loss rises most, and by how much.
    pub constraint: Option<(String, f64)>,
}
