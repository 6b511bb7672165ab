//! From tables and settings to a classifier.
//!
//! A [`Spec`] says all that a training depends on but the data; it is what a policy file, the command line
//! and other surfaces fill in. [`Spec::plan`] resolves it to a [`Plan`], whose [`Plan::run`] is the one road from
//! [`Data`] to an [`Outcome`]; [`Spec::train`] is both. Those who need the stations of that road have
//! [`Plan::prepare`], [`Training::play`] and [`Training::finish`].

mod baseline;
mod calibrate;
mod checks;
mod columns;
mod data;
mod fit;
mod folds;
mod forecast;
mod games;
mod importance;
mod lock;
mod mixture;
mod notice;
mod outcome;
mod outside;
mod plan;
mod promise;
mod ranked;
mod record;
mod rules;
mod scores;
mod shared;
mod spec;
mod strange;
mod streams;
mod tradeoff;
mod training;
mod units;
mod warning;
mod watch;

pub use crate::settings::Recipe;
pub use baseline::{Baseline, BaselineKind, GroupConfusion};
pub use checks::{Asked, Checks, Finding, LEAK, OWN, check_data, check_features, check_rows};
pub use data::{Data, Datasets, Sheet, weight_column};
pub use fit::Fitted;
pub use folds::FoldRows;
pub use forecast::Forecast;
pub use games::{GameSummary, Played, weight_of_steps};
pub use importance::Importance;
pub use notice::Notice;
pub use outcome::{CONFIDENCE, Mixture, Outcome, Trained};
pub use outside::{Outside, Selected, Whose};
pub use plan::{Checkpoints, Plan, Shape};
pub use promise::{Enforcement, Standing};
pub use record::{Record, RecordedModel, RecordedMoment, RecordedPart};
pub use spec::Spec;
pub use streams::{Driver, Engine, Settled, Shard, Stream, Streams};
pub use tradeoff::{SLACKS, TradeOff, TradeOffPoint, trade_off};
pub use training::{Patterns, Training};
pub use warning::Warning;
pub use watch::{Every, Pass, Turn, Watch};
