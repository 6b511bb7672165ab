//! What preparing a training found worth telling.

use std::fmt;

use super::Finding;
use crate::{encode, rate};

/// Something that preparing a training found worth telling the user.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Notice {
    /// About the features.
    Features(encode::Notice),
    /// About the problem.
    Problem(rate::BindNotice),
    /// What a check of the features found.
    Checked(Finding),
    /// Rows without a label count as negative.
    MissingLabels {
        /// How many.
        rows: usize,
    },
    /// A setting was given that is not used.
    Unused {
        /// Its key.
        setting: String,
        /// Why it is not used.
        because: String,
    },
    /// All rows, or none, are positive: there is nothing to learn.
    OneClass {
        /// What the label is of all rows.
        positive: bool,
    },
    /// There are so many constraints that Algorithm 4 is much faster than Algorithm 3.
    ManyConstraints {
        /// How many.
        constraints: usize,
        /// Whether it is played in its place, since nobody named Algorithm 3.
        replaced: bool,
    },
    /// Rows that constraints say nothing of.
    Rows {
        /// Of which rows: `training`, `validation` or `test`.
        part: &'static str,
        /// What.
        notice: rate::RowNotice,
    },
    /// A margin of standard errors that may have been meant as a confidence.
    MarginOfErrors {
        /// How many.
        errors: f64,
    },
    /// Rows are exact copies of others.
    Copies {
        /// How many.
        rows: usize,
        /// Whether they were counted in a sample of the rows only.
        sampled: bool,
    },
    /// So many rows that one split replaces cross-fitting.
    OneSplit {
        /// How many judge.
        judging: usize,
        /// Of how many.
        rows: usize,
    },
    /// Rows whose unit is missing count as units of their own.
    MissingUnits {
        /// How many.
        rows: usize,
    },
    /// Many rows have the same score of another model, so they share a draw.
    CoarseScores {
        /// Their column.
        column: String,
        /// How many different scores there are.
        values: usize,
    },
    /// The scores of another model are taken as they are.
    Scores {
        /// Their column.
        column: String,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::Features(notice) => notice.fmt(f),
            Notice::Problem(notice) => notice.fmt(f),
            Notice::Checked(finding) => finding.fmt(f),
            Notice::MissingLabels { rows } => {
                write!(f, "{rows} of the training rows have no label, and count as negative")
            }
            Notice::Unused { setting, because } => {
                write!(f, "{because}: the setting `{setting}` is not used")
            }
            Notice::OneClass { positive } => {
                let none = if *positive { "every" } else { "no" };
                write!(f, "{none} training row is positive: there is nothing to learn")
            }
            Notice::ManyConstraints { constraints, replaced } => {
                let then = match replaced {
                    true => "`lagrangian` is played in its place",
                    false => "`lagrangian` would be faster",
                };
                write!(
                    f,
                    "with {constraints} constraints, a turn of `practical` takes the cube of their number: {then}"
                )
            }
            Notice::Rows { part, notice } => write!(f, "in the {part} rows, {notice}"),
            Notice::MarginOfErrors { errors } => write!(
                f,
                "the margin {errors} is of standard errors: for a confidence, write it as a percentage (`{}%`)",
                100.0 * errors
            ),
            Notice::Copies { rows, sampled } => {
                let rows = match sampled {
                    true => format!("in a sample of the training rows, {rows}"),
                    false => format!("{rows} of the training rows"),
                };
                write!(
                    f,
                    "{rows} are exact copies of other rows: copies are never apart, so that none judges a model that \
                     another taught, and they count as one row where the constraints' standard errors are found"
                )
            }
            Notice::OneSplit { judging, rows } => write!(
                f,
                "with a million rows or more there is no cross-fitting: {judging} of {rows} rows judge, and the others \
                 train (`--folds 5` asks for folds; in Python, datasets=\"cross\")"
            ),
            Notice::MissingUnits { rows } => {
                write!(f, "{rows} of the rows have no unit, and count as units of their own")
            }
            Notice::CoarseScores { column, values } => write!(
                f,
                "column `{column}` has {values} different scores: rows of one group with the same score share a draw, \
                 unless an identifier of each row decides it (`predict --id`, `keys` in Python)"
            ),
            Notice::Scores { column } => write!(
                f,
                "column `{column}` must hold scores of a model that was not trained on these rows: otherwise the \
                 constraints will hold less often on new rows than is said here"
            ),
        }
    }
}
