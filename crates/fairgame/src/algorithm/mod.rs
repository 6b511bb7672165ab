//! Which players make which algorithm; one file each.
//!
//! | algorithm | model player | constraint player | promise |
//! |---|---|---|---|
//! | [`Discrete`] (1) | an oracle on a covering of λ | swap regret | Theorem 1 |
//! | [`Continuous`] (2) | inner descent, averaged | swap regret | Theorem 2 |
//! | [`Practical`] (3) | one step a turn | swap regret | none |
//! | [`Lagrangian`] (4) | one step a turn | ascent on R₊^m | none |
//! | [`PlugIn`] | the rule of a probability model | the duals of a program | measured (docs/promise.md) |
//! | [`Baseline`] | an oracle, or one step a turn | ascent in ‖λ‖₁ ≤ R | the last appendix's |
//! | [`Unconstrained`] | one step a turn | none | |
//!
//! Each plays on two samples, `train` for the model and `val` for the constraints; with one dataset they
//! are the same.

mod baseline;
mod continuous;
mod discrete;
mod guarantee;
mod lagrangian;
mod plug_in;
mod practical;
mod scales;
mod unconstrained;

use std::sync::Arc;

pub use baseline::{Answer, Baseline};
pub use continuous::Continuous;
pub use discrete::Discrete;
pub use guarantee::{DELTA, Ended, Guarantee};
pub use lagrangian::Lagrangian;
pub use plug_in::PlugIn;
pub use practical::Practical;
pub use scales::{Scales, Shown};
pub use unconstrained::Unconstrained;

use crate::game::{Game, Keep, Referee};
use crate::model::{AnyModel, Region};
use crate::player::{ConstraintPlayer, Learner};
use crate::random::mix;
use crate::rate::{Side, Surrogate};
use crate::sample::Sample;
use crate::settings::{Declared, Place, Recipe, declare};
use crate::{Error, ErrorKind, Result, Threads};

declare! {
    /// An algorithm and its settings.
    #[derive(Copy)]
    pub enum Algorithm (default Algorithm::Practical(Practical::default())) {
        /// `plug_in`, and in the paper's recipe `practical`.
        Auto = "auto",
        /// Algorithm 1: an oracle on a covering against swap regret (Theorem 1).
        Discrete(Discrete) = "discrete",
        /// Algorithm 2: averaged gradient descent against swap regret (Theorem 2).
        Continuous(Continuous) = "continuous",
        /// Algorithm 3: one step a turn against swap regret.
        Practical(Practical) = "practical",
        /// Algorithm 4: one step a turn against ascent on Lagrange multipliers.
        Lagrangian(Lagrangian) = "lagrangian",
        /// The plug-in game: rules over probabilities, against the duals of the selection program.
        PlugIn(PlugIn) = "plug_in",
        /// The one-dataset Lagrangian with bounded multipliers, of the last appendix.
        Baseline(Baseline) = "baseline",
        /// The objective alone, without constraints.
        Unconstrained(Unconstrained) = "unconstrained",
    }
}

/// What a game is played on.
#[derive(Clone)]
pub struct Setting<'a> {
    /// What the model player learns on.
    pub train: Arc<dyn Sample + 'a>,
    /// What the constraint player measures on; the same again for one dataset.
    pub val: Arc<dyn Sample + 'a>,
    /// The family of models.
    pub model: &'a AnyModel,
    /// What stands in for decisions where slopes are needed.
    pub surrogate: Surrogate,
    /// Where θ may be, and how it is held back.
    pub region: Region,
    /// Which turns' models are kept.
    pub keep: Keep,
    /// Draws the start and the minibatches.
    pub seed: u64,
    /// The threads that may sum over all rows; the result does not depend on them.
    pub threads: Threads,
}

impl<'a> Setting<'a> {
    fn learner(&self) -> Learner<'a> {
        Learner {
            train: Arc::clone(&self.train),
            model: self.model,
            convex: self.surrogate.is_convex(),
            region: self.region,
            seed: self.seed,
            threads: self.threads.clone(),
        }
    }

    /// What the constraint player is shown: minibatches of that size, or all rows.
    fn referee(&self, batch: Option<usize>, side: Side) -> Referee<'a> {
        let seed = mix(self.seed ^ 0x0076_616c);
        Referee { val: Arc::clone(&self.val), batch: batch.map(|size| (seed, size)), side }
    }

    fn constraints(&self) -> usize {
        self.val.losses().constraints()
    }
}

impl Algorithm {
    /// The word for it.
    pub fn name(&self) -> &'static str {
        match self {
            Algorithm::Auto => "auto",
            Algorithm::Discrete(_) => "discrete",
            Algorithm::Continuous(_) => "continuous",
            Algorithm::Practical(_) => "practical",
            Algorithm::Lagrangian(_) => "lagrangian",
            Algorithm::PlugIn(_) => "plug_in",
            Algorithm::Baseline(_) => "baseline",
            Algorithm::Unconstrained(_) => "unconstrained",
        }
    }

    /// The same with model steps so many times as long, of the algorithms whose games may be several.
    pub(crate) fn scaled(mut self, by: f64) -> Self {
        match &mut self {
            Algorithm::Practical(Practical { model, .. })
            | Algorithm::Lagrangian(Lagrangian { model, .. }) => *model = model.scaled(by),
            _ => {}
        }
        self
    }

    /// The same turns and steps without a constraint player, of the algorithms whose games may be several.
    pub(crate) fn plain(self) -> Self {
        match self {
            Algorithm::Practical(Practical { turns, batch, model, .. })
            | Algorithm::Lagrangian(Lagrangian { turns, batch, model, .. }) => {
                Algorithm::Unconstrained(Unconstrained { turns, batch, model })
            }
            Algorithm::PlugIn(PlugIn { turns, batch, model, .. }) => {
                Algorithm::Unconstrained(Unconstrained { turns, batch, model })
            }
            other => other,
        }
    }

    /// Refuses settings that no game can be played with, whatever the data; `linear` says whether the
    /// model is.
    pub(crate) fn check(&self, region: Region, linear: bool) -> Result<()> {
        let root = Place::root(Recipe::Paper);
        Declared::verify(&region, &root.key("region"))?;
        Declared::verify(self, &root.key("algorithm"))?;
        match self {
            Algorithm::Continuous(algorithm) => algorithm.check(region, linear),
            _ => Ok(()),
        }
    }

    /// How many turns there are and how many rows a minibatch has, where the model player takes one step a turn.
    pub(crate) fn steps(&self) -> Option<(u64, usize)> {
        match self {
            Algorithm::Practical(one) => Some((one.turns, one.batch)),
            Algorithm::Lagrangian(one) => Some((one.turns, one.batch)),
            Algorithm::Unconstrained(one) => Some((one.turns, one.batch)),
            _ => None,
        }
    }

    /// The constraint player and the turns of the algorithms whose model player takes one step a turn, and so may be
    /// someone else's.
    pub(crate) fn constraint_player(
        &self,
        constraints: usize,
    ) -> Option<(Box<dyn ConstraintPlayer>, u64)> {
        match self {
            Algorithm::Practical(one) => Some((one.constraint_player(constraints), one.turns)),
            Algorithm::Lagrangian(one) => Some((one.constraint_player(constraints), one.turns)),
            _ => None,
        }
    }

    /// The game, before its first turn.
    pub fn game<'a>(&self, setting: &Setting<'a>) -> Result<Game<'a>> {
        self.check(setting.region, setting.model.is_linear())?;
        if setting.train.rows() == 0 || setting.val.rows() == 0 {
            return Err(Error::new(ErrorKind::Settings, "there are no rows to learn from"));
        }
        match self {
            Algorithm::Auto => Practical::default().game(setting),
            Algorithm::Discrete(algorithm) => algorithm.game(setting),
            Algorithm::Continuous(algorithm) => algorithm.game(setting),
            Algorithm::Practical(algorithm) => algorithm.game(setting),
            Algorithm::Lagrangian(algorithm) => algorithm.game(setting),
            Algorithm::PlugIn(algorithm) => algorithm.game(setting),
            Algorithm::Baseline(algorithm) => algorithm.game(setting),
            Algorithm::Unconstrained(algorithm) => algorithm.game(setting),
        }
    }
}

/// T as a whole number, if it is one that can be played.
fn whole_turns(turns: f64) -> Result<u64> {
    /// A year of turns of a microsecond.
    const MOST: f64 = 3e13;
    if turns <= MOST {
        return Ok(turns.max(1.0) as u64);
    }
    let message = format!("the theorem asks for {turns:.1e} turns");
    Err(Error::new(ErrorKind::Settings, message)
        .help("allow a larger epsilon, or set the turns yourself"))
}

/// Refuses what a theorem asks for and nobody can wait for: so many passes over single rows.
fn check_cost(turns: u64, steps: u64, rows: usize) -> Result<()> {
    /// Some hours.
    const MOST: f64 = 1e12;
    let cost = turns as f64 * steps as f64 * rows as f64;
    if cost <= MOST {
        return Ok(());
    }
    let message = format!(
        "the theorem asks for {turns} turns of {steps} steps over {rows} rows, {cost:.0e} in all"
    );
    Err(Error::new(ErrorKind::Settings, message).help(
        "allow a larger epsilon or convexity, set turns and inner_turns yourself, or use `practical`",
    ))
}
