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
//! | number | [`Coding::Distinct`] | one of the two above: the one with more distinct training values in f32 |
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

use serde::Serialize;

pub use encoder::{Encoder, Input, Scale};
pub(crate) use encoder::{FAR, Map};
pub use features::{Codes, Features};

use crate::settings::{self, Fault, declare};
use crate::{Result, shown};

declare! {
    /// How columns become features.
    #[derive()]
    pub struct EncoderSpec {
        /// Column that is not a feature; constraints may still use it.
        pub ignore: Vec<String> = with(Vec::new()).flag("ignore").adds(),
        /// How number columns become features that `columns` does not name.
        pub numbers: Coding = with(Coding::Standardise),
        /// How single columns become features; a column with several codings gives the features of each.
        pub columns: BTreeMap<String, Vec<Coding>> = with(BTreeMap::new()).check(coded),
        /// Most values of a category that have a code of their own; the others are pooled.
        pub max_values: usize = with(1000),
        // A value seen once says nothing that carries over, but all such values together teach the pooled code what an
        // unseen value is like.
        /// A value in fewer training rows than this is pooled.
        pub min_count: usize = with(2),
    }
}

/// Refuses columns that are named without a coding.
fn coded(columns: &BTreeMap<String, Vec<Coding>>) -> Result<(), Fault> {
    match columns.iter().find(|(_, codings)| codings.is_empty()) {
        Some((column, _)) => Err(Fault::new(
            format!("column `{column}` is given no coding"),
            "to leave it out, add it to `ignore`",
        )),
        None => Ok(()),
    }
}

impl EncoderSpec {
    /// Refuses codings that no column could have.
    pub(crate) fn check(&self) -> Result<()> {
        settings::check(self)
    }
}

declare! {
    /// How one column becomes features.
    #[derive()]
    pub enum Coding {
        /// A number less its training mean, divided by its training standard deviation.
        Standardise = "standardise",
        /// A number as it is.
        AsIs = "as_is",
        /// A number standardised or as it is, whichever keeps more of its training values apart. For trees, which see
        /// only the order.
        Distinct = "distinct",
        /// Which bucket a number falls into.
        Buckets {
            /// Where one bucket ends and the next begins.
            cuts: Cuts = needed().check(Cuts::check),
            /// Whether features tell the bucket or each step up to it.
            steps: Steps = with(Steps::Single),
        } = "buckets",
        /// Which value it is; a number counts as its text.
        Values = "values",
    }
}

declare! {
    /// Where buckets end: x is in the first bucket whose cut point is at least x.
    #[derive()]
    pub enum Cuts {
        /// At these points.
        Points(Vec<f64>) = "points",
        /// At the quantiles of these levels of the training rows.
        Levels(Vec<f64>) = "levels",
        /// At the quantiles that make so many buckets of about equally many training rows.
        Quantiles(usize) = "quantiles",
    }
}

impl Cuts {
    fn check(&self) -> Result<(), Fault> {
        match self {
            Cuts::Points(points)
                if points.is_empty()
                    || !points.iter().all(|point| point.is_finite())
                    || !points.is_sorted_by(|a, b| a < b) =>
            {
                Err(Fault::new(
                    format!("the cut points {points:?} must be ascending numbers"),
                    "list numbers, each greater than the one before",
                ))
            }
            Cuts::Levels(levels)
                if levels.is_empty() || !levels.iter().all(|level| (0.0..=1.0).contains(level)) =>
            {
                Err(Fault::new(
                    format!("the quantile levels {levels:?} must lie between 0 and 1"),
                    "0.5 is the median",
                ))
            }
            Cuts::Quantiles(buckets @ ..2) => Err(Fault::new(
                format!("{buckets} buckets tell nothing apart"),
                "ask for 2 or more",
            )),
            _ => Ok(()),
        }
    }
}

declare! {
    /// What the features of a bucketed number tell.
    #[derive(Copy, Eq)]
    pub enum Steps (default Steps::Single) {
        /// The bucket: exactly one of the features is on.
        Single = "single",
        /// The steps: one feature for each cut point, on if x is above it.
        Cumulative = "cumulative",
    }
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
        let (Notice::Constant { column: name }
        | Notice::Pooled { column: name, .. }
        | Notice::AllRare { column: name, .. }
        | Notice::Identifier { column: name, .. }) = self;
        let column = shown(name);
        match self {
            Notice::Constant { .. } => {
                write!(f, "column `{column}` has a single value in training and is not a feature")
            }
            Notice::Pooled { values, rows, .. } => {
                write!(
                    f,
                    "column `{column}`: rare values share one code ({values} of them, in {rows} rows)"
                )
            }
            Notice::AllRare { values, .. } => write!(
                f,
                "column `{column}` has {values} values, each of them rare, and is not a feature"
            ),
            Notice::Identifier { values, .. } => write!(
                f,
                "column `{column}` has {values} values, most of them in one row: \
                 if it is an identifier, ignore it"
            ),
        }
    }
}
