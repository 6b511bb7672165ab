//! Classifiers trained under data-dependent constraints that hold on unseen data.
//!
//! Two players play a game: one chooses a model on a training sample, the other enforces constraints on an
//! independent validation sample (Cotter et al. 2018). [`train::Spec`] is the way in; folders follow the way
//! of the data:
//!
//! - [`table`]: typed columns from CSV, Parquet and Arrow; predicates; seeded splits;
//! - [`encode`]: encoders fitted on training rows, and the compact [`encode::Features`] they make;
//! - [`rate`]: rates and constraints as text, and the losses they become on a table;
//! - [`model`]: linear models, neural networks and calibrated lattices on compact features;
//! - [`optimize`]: optimizers on flat slices;
//! - [`sample`]: a dataset as a player sees it: tallies and gradients over rows;
//! - [`player`], [`game`], [`algorithm`]: who plays, the loop, and which players make which algorithm;
//! - [`classifier`]: from a game's models to a stochastic classifier, its decisions and its file;
//! - [`observe`]: progress, checkpoints, early stopping;
//! - [`evaluate`]: rates and constraints of decisions on a dataset, with intervals and verdicts;
//! - [`train`]: all of it in one call; [`archive`]: the file of models and checkpoints;
//! - [`settings`]: what can be set, each setting declared once;
//! - [`bounds`]: the theorems as numbers;
//! - [`preset`]: the preparation of each shipped dataset that the paper's experiments use.
//!
//! Nothing here prints, reads a clock, or keeps global state; every failure is an [`Error`] that
//! says where it happened and what to do.
//!
//! # Example
//!
//! ```
//! use fairgame::encode::{Encoder, EncoderSpec};
//! use fairgame::table::{self, ReadOptions, Source};
//!
//! let csv = "age,job,hired\n25,clerk,no\n35,nurse,yes\n45,clerk,yes\n55,nurse,no\n";
//! let source = Source::stream("people.csv", csv.as_bytes());
//! let people = table::read([source], &ReadOptions::default())?;
//! assert_eq!(people.rows(), 4);
//!
//! let spec = EncoderSpec { ignore: vec!["hired".into()], ..EncoderSpec::default() };
//! let (encoder, _notices) = Encoder::fit(&spec, &people)?;
//! let features = encoder.encode(&people)?;
//! // One standardised number (age) and one code (job) a row; job has two values, so two weights.
//! assert_eq!((features.numbers(), features.slots(), features.weights()), (1, 1, 2));
//! # Ok::<(), fairgame::Error>(())
//! ```
#![deny(unsafe_code)]

pub mod algorithm;
pub mod archive;
pub mod bounds;
pub mod classifier;
pub mod encode;
mod error;
pub mod evaluate;
pub mod export;
pub mod game;
mod kind;
mod memory;
pub mod model;
pub mod observe;
pub mod optimize;
pub mod player;
pub mod preset;
mod printable;
pub mod random;
pub mod rate;
pub mod sample;
pub mod settings;
mod slab;
pub mod table;
mod threads;
pub mod train;
mod whole;
mod wide;

pub use error::{Error, ErrorKind, Remedy, Result, nearest};
pub use memory::bytes_of;
pub use printable::{is_hidden, printable, printable_lines, shown};
pub use slab::{Slab, Store};
pub use threads::Threads;

/// The README's examples, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The examples of the page about Rust.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/rust.md")]
struct Rust;
