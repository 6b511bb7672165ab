//! The kinds of columns.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Finite numbers, as f64.
    Number,
    /// Texts, as codes into a dictionary.
    Category,
    /// True or false.
    Boolean,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Kind::Number => "number",
            Kind::Category => "category",
            Kind::Boolean => "boolean",
        })
    }
}
