//! The experiments of Cotter et al. 2018, "Training Well-Generalizing Classifiers for Fairness Metrics and
//! Other Data-Dependent Constraints", run again, with the paper's numbers beside ours.
//!
//! A [`Plan`] says what to run; [`Plan::carry_out`] runs it by all cores and keeps each finished run;
//! [`Results`] sums up; [`Results::write`] makes pages and figures of it.
//!
//! [`promise`] tests whether promised constraints hold in the population.
//! [`entities`] is a stand-in for the paper's entity resolution data, which are proprietary.
//!
//! ```no_run
//! use fairgame_paper::{Experiment, Plan, Results};
//!
//! let plan = Plan {
//!     experiments: vec![Experiment::Compas],
//!     runs: 10,
//!     seed: 1,
//!     turns: None,
//!     start: fairgame::player::Start::Objective,
//!     folder: "paper".into(),
//!     threads: 2,
//! };
//! let done = plan.carry_out(|progress| eprintln!("{:.0} %", 100.0 * progress.done))?;
//! Results::of(&plan, &done.runs)?.write(&plan.folder, &[])?;
//! # Ok::<(), fairgame::Error>(())
//! ```

pub mod entities;
pub mod promise;

mod beyond;
mod document;
mod experiment;
mod grid;
mod page;
mod paper;
mod run;
mod schedule;
mod store;
mod summary;

pub use beyond::{Beyond, BeyondPlan, Ground, Grounds, Line, MARGINS, Outcome};
pub use experiment::{Experiment, Settings, Way};
pub use grid::{Cut, Grid, GridPlan, Reading, SLACKS};
pub use paper::{Four, printed};
pub use run::{Came, Constants, REGION, SIGMAS, UNITS};
pub use schedule::{CarriedOut, Plan, Progress, Runs};
pub use summary::{
    Cell, Claim, Curve, DELTA, EPSILON, Figure, Mean, Nearness, Promise, Results, Row, Table,
};
