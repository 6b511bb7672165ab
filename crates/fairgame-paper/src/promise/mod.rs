//! The promise, tested: how often constraints that a training promised fail in the population.
//!
//! A margin of confidence 95 % means: with that probability over the training rows, every constraint holds in the
//! population. So rows are drawn from a known or large population many times, each time a classifier is trained and
//! judged by rows of the population that it has not seen, and the share of broken promises is counted.
//!
//! A draw is a pure function of its problem, model, settings and seed, and is trained by one thread.

mod draw;
mod judge;
mod page;
mod population;
mod problem;
mod summary;

use std::path::PathBuf;

use fairgame::Result;
use fairgame::classifier::Margin;
use serde::Serialize;

pub use draw::{Constraint, Draw};
pub use page::percent;
pub use population::{
    APART, Drawn, JUDGING_OF_PLENTY, JUDGING_ROWS, POSITIVE, Population, judging_rows,
};
pub use problem::{GAME_TURNS, Learner, Problem};
pub use summary::{Broken, ConstraintLine, Kind, Line, OFTEN, fails_by, normal_below};

use crate::schedule::{self, Agenda, Progress};
use crate::store::Store;

/// What to run.
#[derive(Debug, Clone, PartialEq)]
pub struct PromisePlan {
    /// Which problems.
    pub problems: Vec<Problem>,
    /// With which models.
    pub models: Vec<Learner>,
    /// How many draws of each problem and model.
    pub draws: u64,
    /// The seed of the first draw; the others follow.
    pub seed: u64,
    /// The margin that is asked for.
    pub margin: Margin,
    /// At most so many turns a game, for a quick look.
    pub turns: Option<u64>,
    /// Where finished draws are kept.
    pub folder: PathBuf,
    /// How many threads; the numbers do not depend on it.
    pub threads: usize,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Promises {
    /// Of the shape.
    pub version: u32,
    /// How many draws of each problem and model.
    pub draws: u64,
    /// The seed of the first.
    pub seed: u64,
    /// The margin that was asked for.
    pub margin: Margin,
    /// The share of promises that may be broken, for a margin of a confidence.
    pub allowed: Option<f64>,
    /// At most so many turns a game, if they were cut short.
    pub turns: Option<u64>,
    /// Problem by problem, and model by model.
    pub lines: Vec<Line>,
    /// What was run.
    #[serde(skip)]
    pub problems: Vec<Problem>,
    /// How long all draws took together, of one core, whenever they were run.
    #[serde(skip)]
    pub seconds: f64,
}

impl PromisePlan {
    /// Runs what is not yet done.
    ///
    /// # Errors
    /// If a draw fails, or the folder cannot be written to; what was finished is kept.
    pub fn carry_out(&self, progress: impl FnMut(Progress)) -> Result<Promises> {
        let pairs = self
            .problems
            .iter()
            .flat_map(|problem| self.models.iter().map(move |&model| (problem, model)));
        let pairs: Vec<(&Problem, Learner)> = pairs.collect();
        let mut agenda = Agenda::new();
        for &(problem, model) in &pairs {
            let spec = problem.spec(model, self.margin, self.turns)?;
            let identity =
                (spec, problem.name, problem.rows, judging_rows(problem.rows) / problem.rows);
            let name = format!("promise-{}-{}", problem.name, model.name());
            let opened = Store::open(&self.folder.join("runs"), &name, &identity, self.seed)?;
            let cost = problem.rows as f64 * model.cost();
            let kind = schedule::Kind { name: problem.name, cost };
            agenda.add(kind, opened, (0..self.draws.max(1)).map(|draw| (0, draw)));
        }
        let shelf = population::Shelf::default();
        let (done, seconds) = agenda.carry_out(
            self.threads,
            |pair, (_, number)| {
                let (problem, model) = pairs[pair];
                let settings = (self.margin, self.turns);
                draw::draw(problem, model, settings, self.seed.wrapping_add(number), &shelf)
            },
            progress,
        )?;
        let allowed = self.margin.confidence().map(|confidence| 1.0 - confidence);
        let lines = pairs.iter().zip(done).map(|(&(problem, model), draws)| {
            Line::of(problem, model, &draws.into_values().collect::<Vec<_>>(), allowed)
        });
        Ok(Promises {
            version: 1,
            draws: self.draws.max(1),
            seed: self.seed,
            margin: self.margin,
            allowed,
            turns: self.turns,
            lines: lines.collect(),
            problems: self.problems.clone(),
            seconds,
        })
    }
}
