//! Fitted encoders and the compact features they make.
//!
//! A model sees a row as a few **codes** and a few **numbers**. A code is the index of a weight:
//! the linear model adds the weights at the row's codes, the neural network adds rows of its first
//! weight matrix. A one-hot vector is never built: Adult's 122 binary features are 13 codes a row.
//!
//! [`EncoderSpec`] says how columns become features, [`Encoder::fit`] learns what it needs from
//! training rows alone (means, cut points, values), and [`Encoder::encode`] applies it to any later
//! table by column name, as a pure function of the encoder and the row:
//!
//! | column | coding | gives |
//! |---|---|---|
//! | number | [`Coding::Standardise`] | (x − mean) / standard deviation; missing: the mean, and an indicator if training had missing values |
//! | number | [`Coding::AsIs`] | x; missing: as above |
//! | number | [`Coding::Buckets`] | the bucket between cut points, or one indicator `x > cut` for each cut point |
//! | any | [`Coding::Values`] | one of the values seen in training; rare ones share the pooled code |
//!
//! What training never saw is **silent**, that is it adds nothing to a score: an unseen value where
//! training had no rare ones to learn a pooled weight from, or a missing category where nothing was
//! missing. Its weight would be whatever the model was initialised with.

mod encoder;
mod features;
mod fit;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

pub use encoder::{Encoder, Input};
pub use features::{Codes, Features};

use crate::{Error, ErrorKind, Result};

/// How columns become features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EncoderSpec {
    /// Columns that are not features; they remain visible to predicates.
    pub ignore: Vec<String>,
    /// The coding of number columns that [`EncoderSpec::columns`] does not name.
    pub numbers: Coding,
    /// The codings of single columns; a column with several gives the features of each.
    pub columns: BTreeMap<String, Vec<Coding>>,
    /// At most so many values of a category have a code of their own; the rest are pooled.
    pub max_values: usize,
    /// A value in fewer training rows than this is pooled.
    pub min_count: usize,
}

impl Default for EncoderSpec {
    fn default() -> Self {
        EncoderSpec {
            ignore: Vec::new(),
            numbers: Coding::Standardise,
            columns: BTreeMap::new(),
            max_values: 1000,
            // A value seen once says nothing that carries over, but all such values together teach
            // the pooled code what an unseen value is like.
            min_count: 2,
        }
    }
}

impl EncoderSpec {
    /// Refuses codings that no column could have.
    pub(crate) fn check(&self) -> Result<()> {
        let check = |coding: &Coding| match coding {
            Coding::Buckets { cuts, .. } => cuts.check(),
            _ => Ok(()),
        };
        check(&self.numbers)?;
        for (column, codings) in &self.columns {
            if codings.is_empty() {
                let message = format!("column `{column}` is given no coding");
                return Err(settings(message).help("to leave it out, ignore it"));
            }
            let checked = codings.iter().try_for_each(check);
            checked.map_err(|error| error.at(format!("column `{column}`")))?;
        }
        Ok(())
    }
}

/// How one column becomes features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Coding {
    /// A number less its training mean, divided by its training standard deviation.
    Standardise,
    /// A number as it is.
    AsIs,
    /// Which bucket a number falls into.
    Buckets {
        /// Where one bucket ends and the next begins.
        cuts: Cuts,
        /// Whether features tell the bucket or each step up to it.
        #[serde(default)]
        steps: Steps,
    },
    /// Which value it is; a number counts as its text.
    Values,
}

/// Where buckets end: x is in the first bucket whose cut point is at least x.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cuts {
    /// At these points.
    Points(Vec<f64>),
    /// At the quantiles of these levels of the training rows.
    Levels(Vec<f64>),
    /// At the quantiles that make so many buckets of about equally many training rows.
    Quantiles(usize),
}

impl Cuts {
    fn check(&self) -> Result<()> {
        match self {
            Cuts::Points(points)
                if points.is_empty()
                    || !points.iter().all(|point| point.is_finite())
                    || !points.is_sorted_by(|a, b| a < b) =>
            {
                Err(settings(format!("the cut points {points:?} must be ascending numbers")))
            }
            Cuts::Levels(levels)
                if levels.is_empty() || !levels.iter().all(|level| (0.0..=1.0).contains(level)) =>
            {
                Err(settings(format!("the quantile levels {levels:?} must lie between 0 and 1")))
            }
            Cuts::Quantiles(buckets @ ..2) => {
                Err(settings(format!("{buckets} buckets tell nothing apart"))
                    .help("ask for 2 or more"))
            }
            _ => Ok(()),
        }
    }
}

fn settings(message: String) -> Error {
    Error::new(ErrorKind::Settings, message)
}

/// What the features of a bucketed number tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Steps {
    /// The bucket: exactly one of the features is on.
    #[default]
    Single,
    /// The steps: one feature for each cut point, on if x is above it.
    Cumulative,
}

/// Something that fitting an encoder found worth telling the user.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "notice")]
#[non_exhaustive]
pub enum Notice {
    /// A column with one value, or none, is not a feature.
    Constant {
        /// The column's name.
        column: String,
    },
    /// Rare values share the pooled code.
    Pooled {
        /// The column's name.
        column: String,
        /// How many values are pooled.
        values: usize,
        /// In how many training rows.
        rows: usize,
    },
    /// No value comes often enough to have a code of its own, so the column is not a feature.
    AllRare {
        /// The column's name.
        column: String,
        /// How many values there are.
        values: usize,
    },
    /// Almost every row has a value of its own.
    Identifier {
        /// The column's name.
        column: String,
        /// How many values there are.
        values: usize,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::Constant { column } => {
                write!(f, "column `{column}` has a single value in training and is not a feature")
            }
            Notice::Pooled { column, values, rows } => {
                write!(
                    f,
                    "column `{column}`: rare values share one code ({values} of them, in {rows} rows)"
                )
            }
            Notice::AllRare { column, values } => write!(
                f,
                "column `{column}` has {values} values, each of them rare, and is not a feature"
            ),
            Notice::Identifier { column, values } => write!(
                f,
                "column `{column}` has {values} values, most of them in one row: \
                 if it is an identifier, ignore it"
            ),
        }
    }
}
