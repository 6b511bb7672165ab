//! Who watches a game: progress, checkpoints, early stopping.
//!
//! An observer is called after every turn and decides for itself when to do something. None of them changes
//! the game; whether one stops it depends on what the game kept alone, so a resumed game stops where it
//! would have stopped.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use crate::archive::Archive;
use crate::classifier::Incremental;
use crate::game::{Game, Observer, WHAT};
use crate::rate::{LossValues, Side};
use crate::sample::{Batch, Sample, Work};
use crate::settings::{Declared, Place, Recipe, Schema, Wrong, declare};
use crate::{Error, ErrorKind, Result, Threads};

/// Calls a function every so many turns, and after the last; it may stop the game.
pub struct Periodic<F> {
    turns: u64,
    call: F,
}

impl<F: FnMut(&Game<'_>) -> ControlFlow<()>> Periodic<F> {
    /// Calls `call` every `turns` turns.
    pub fn new(turns: u64, call: F) -> Self {
        Periodic { turns: turns.max(1), call }
    }
}

impl<F: FnMut(&Game<'_>) -> ControlFlow<()>> Observer for Periodic<F> {
    fn after_turn(&mut self, game: &Game<'_>) -> Result<ControlFlow<()>> {
        if game.turn().is_multiple_of(self.turns) || game.turn() == game.turns() {
            return Ok((self.call)(game));
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Saves the game every so many turns, each time whole or not at all.
///
/// [`Plan::with_checkpoints`](crate::train::Plan::with_checkpoints) saves all games of a training.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    path: PathBuf,
    every: u64,
    identity: String,
}

impl Checkpoint {
    /// Saves to `path` every `every` turns. `identity` says what game it is: see
    /// [`Training::identity`](crate::train::Training::identity).
    pub fn new(path: impl Into<PathBuf>, every: u64, identity: impl Into<String>) -> Self {
        Checkpoint { path: path.into(), every: every.max(1), identity: identity.into() }
    }

    /// Takes up the game from the file, if there is one; says whether there was.
    ///
    /// # Errors
    /// If the file is damaged, or of another game.
    pub fn resume(&self, game: &mut Game<'_>) -> Result<bool> {
        match self.path.try_exists() {
            Ok(false) => return Ok(false),
            Ok(true) => {}
            Err(error) => {
                let message = format!("cannot be looked for: {error}");
                return Err(Error::new(ErrorKind::Io, message).at(self.path.display()));
            }
        }
        let archive = Archive::read(&self.path, WHAT)?;
        game.resume(archive, &self.identity).map_err(|error| error.at(self.path.display()))?;
        Ok(true)
    }
}

impl Checkpoint {
    /// Saves the game as it is now.
    pub fn save(&self, game: &Game<'_>) -> Result<()> {
        game.save(&self.identity)?.write(&self.path)
    }
}

impl Observer for Checkpoint {
    fn after_turn(&mut self, game: &Game<'_>) -> Result<ControlFlow<()>> {
        if game.turn().is_multiple_of(self.every) || game.turn() == game.turns() {
            self.save(game)?;
        }
        Ok(ControlFlow::Continue(()))
    }
}

declare! {
    /// When to stop early.
    #[derive(Copy)]
    pub struct Patience {
        /// Stop after so many kept models that bring no improvement; as long as constraints are violated, four times as
        /// many.
        pub kept: u64 = with(25).above(0.0),
        /// Smallest improvement that counts.
        pub least: f64 = with(1e-4).at_least(0.0),
        /// Turns to play before training may stop.
        pub after: u64 = by(|recipe| match recipe {
            // Shorter games are played out: they are hardly begun.
            Recipe::Recommended => 5_000,
            Recipe::Paper => 0,
        }),
    }
}

/// Early stopping, or none: as a table, as the number of kept models (0 is none), or as `true` or `false`.
impl Declared for Option<Patience> {
    fn schema() -> Schema {
        let short = Some("a number of kept models, true or false");
        Schema { short, ..Patience::schema() }
    }

    fn read(given: &Value, at: &Place, base: Option<&Self>) -> Result<Self, Wrong> {
        let base = base.copied().flatten().unwrap_or_else(|| Patience::of(at.recipe()));
        let patience = match given {
            Value::Bool(true) => base,
            Value::Bool(false) => return Ok(None),
            Value::Number(_) => Patience { kept: u64::read(given, at, None)?, ..base },
            given => Patience::read(given, at, Some(&base))?,
        };
        Ok(Some(patience).filter(|patience| patience.kept > 0))
    }

    /// Without patience, 0 kept models: what is left out would be as the recipe has it.
    fn write(&self) -> Value {
        self.unwrap_or(Patience { kept: 0, ..Patience::default() }).write()
    }

    fn verify(&self, at: &Place) -> Result<(), Wrong> {
        self.map_or(Ok(()), |patience| patience.verify(at))
    }
}

/// How many times as patient it is before constraints are met.
const LATE: u64 = 4;

/// Stops a game once the classifier that could be made of its models gets no better.
///
/// Each time a model is kept, all that were kept so far are shrunk with objective and constraints both
/// measured on val. A model helps if it lowers the least ε, or the objective at no larger ε; most that do not are told by
/// one sum, their reduced cost. Where constraints are not met yet, the constraint player may only be on its way.
///
/// With hundreds of constraints a program is a large part of a turn's cost, so it is solved only now and then: its cost is
/// counted, and spread over the models that are kept until the next.
pub struct EarlyStop<'a> {
    patience: Patience,
    val: Arc<dyn Sample + 'a>,
    work: Work,
    /// How many kept turns were looked at, and the best mixture of the models kept at them.
    seen: usize,
    mixture: Incremental,
    progress: Progress,
}

/// The least ε and the objective so far, and how many kept turns ago they were found.
#[derive(Debug, Clone, Default, PartialEq)]
struct Progress {
    best: Option<(f64, f64)>,
    ago: u64,
    /// Kept turns since, of which it is not known yet whether they help.
    waiting: u64,
}

impl Progress {
    /// After a kept turn with this least ε and objective, or where they will be known at a later one.
    fn note(&mut self, found: Option<(f64, f64)>, patience: &Patience) {
        let Some(found) = found else {
            self.waiting += 1;
            return;
        };
        let waited = std::mem::take(&mut self.waiting);
        let helps = self.best.is_none_or(|best| {
            let by = patience.least;
            found.0 < best.0 - by || (found.0 <= best.0 && found.1 < best.1 - by)
        });
        if helps {
            (self.best, self.ago) = (Some(found), 0);
        } else {
            self.ago += 1 + waited;
        }
    }

    /// After a kept turn whose model was kept before.
    fn repeat(&mut self) {
        match self.waiting {
            0 => self.ago += 1,
            _ => self.waiting += 1,
        }
    }

    /// Whether patience is at its end at a kept turn; of a resumed game these are looked at again.
    fn is_over(&self, turn: u64, patience: &Patience) -> bool {
        let Patience { kept, least, after } = *patience;
        let met = self.best.is_some_and(|(epsilon, _)| epsilon <= least);
        let kept = if met { kept } else { LATE * kept };
        self.ago >= kept && turn >= after
    }
}

impl<'a> EarlyStop<'a> {
    /// Stops by what is measured on `val`, by these threads.
    pub fn new(patience: Patience, val: Arc<dyn Sample + 'a>, threads: &Threads) -> Self {
        let mixture = Incremental::new(val.losses().constraints());
        EarlyStop {
            patience,
            val,
            work: Work::new(threads),
            seen: 0,
            mixture,
            progress: Progress::default(),
        }
    }

    /// Looks at the next kept turn; whether patience is at its end.
    fn look(&mut self, game: &Game<'_>) -> Result<bool> {
        let moment = &game.kept().moments[self.seen];
        self.seen += 1;
        if moment.model < self.mixture.len() {
            // A model that was kept before changes nothing.
            self.progress.repeat();
        } else {
            let mut values = LossValues::default();
            let model = &game.kept().models[moment.model];
            self.val.measure(model, Batch::All, Side::Exact, &mut self.work, &mut values)?;
            let found = self.mixture.push(values.objective, &values.constraints)?;
            self.progress.note(found, &self.patience);
        }
        Ok(self.progress.is_over(moment.turn, &self.patience))
    }
}

impl Observer for EarlyStop<'_> {
    fn after_turn(&mut self, game: &Game<'_>) -> Result<ControlFlow<()>> {
        while self.seen < game.kept().moments.len() {
            if self.look(game)? {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classifier::shrink;
    use crate::random::Stream;

    /// A game stops where it would if all models were shrunk anew whenever one is kept.
    #[test]
    fn stops_as_if_all_were_shrunk_anew() {
        let mut stream = Stream::new(1, "early");
        let patience = Patience { kept: 4, least: 1e-3, after: 0 };
        let mut stops = 0;
        for case in 0..200 {
            let constraints = stream.below(6) as usize;
            let mut mixture = Incremental::new(constraints);
            let (mut progress, mut anew) = (Progress::default(), Progress::default());
            let (mut objective, mut losses) = (Vec::new(), Vec::<Vec<f64>>::new());
            let (mut least, start) = (f64::INFINITY, 0.6 * stream.unit());
            for turn in 0..60_u32 {
                // On its way from violated constraints to a trade-off.
                let gone = f64::from(turn) / 20.0;
                let noise = 0.3 * (stream.unit() - 0.5);
                objective.push(0.2 + 0.1 * (1.0 - (-gone).exp()) - noise * 0.3);
                let loss = |_| start - 0.5 * (1.0 - (-gone).exp()) + noise + 0.2 * stream.unit();
                losses.push((0..constraints).map(loss).collect());
                let found = mixture.push(objective[turn as usize], &losses[turn as usize]).unwrap();
                progress.note(found, &patience);

                let shrunk = shrink(&objective, &losses, 0.0).unwrap();
                let terms = shrunk.weights.iter().map(|&(model, weight)| weight * objective[model]);
                // The least of more models is not larger but for rounding.
                least = if shrunk.least > least - 1e-12 { least } else { shrunk.least };
                anew.note(Some((least, terms.sum())), &patience);
                assert_eq!(progress.ago, anew.ago, "case {case}, turn {turn}");
                let over = progress.is_over(turn.into(), &patience);
                assert_eq!(over, anew.is_over(turn.into(), &patience), "case {case}, turn {turn}");
                if over {
                    stops += 1;
                    break;
                }
            }
        }
        assert!((100..200).contains(&stops), "{stops} of 200 stopped");
    }
}
