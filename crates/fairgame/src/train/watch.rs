//! Who watches a training: progress, and the wish to stop it.

use std::ops::ControlFlow;

use super::Training;
use crate::rate::{LossValues, Multipliers};

/// Someone who watches a training, whatever its plan; the calling thread calls it.
pub trait Watch {
    /// Called once, when all is ready to play.
    fn prepared(&mut self, training: &Training<'_>) {
        let _ = training;
    }

    /// Told now and then how far a pass over the rows is, where there are too many for a table; the training ends with an
    /// error once this breaks.
    fn pass(&mut self, pass: &Pass) -> ControlFlow<()> {
        let _ = pass;
        ControlFlow::Continue(())
    }

    /// How many turns apart to be told of a game of so many turns.
    fn apart(&self, turns: u64) -> u64 {
        (turns / 500).clamp(1, 256)
    }

    /// Told of a turn of one of the games; all games stop once this breaks.
    fn turn(&mut self, turn: &Turn) -> ControlFlow<()> {
        let _ = turn;
        ControlFlow::Continue(())
    }

    /// Called when no more turns are played, and the classifier is made of what was kept.
    fn selecting(&mut self) {}
}

/// How far a pass over the rows is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pass {
    /// What it does.
    pub name: &'static str,
    /// How many rows were read.
    pub rows: u64,
    /// How many there are, where that is known.
    pub of: Option<u64>,
}

/// Nobody watches.
impl Watch for () {}

/// Calls a function every so many turns of every game, and after the last of each; it may stop the training.
///
/// ```
/// use std::ops::ControlFlow;
/// use fairgame::algorithm::{Algorithm, Practical};
/// use fairgame::table::{ReadOptions, Source, read};
/// use fairgame::train::{Data, Every, Spec, Turn};
/// # let csv = format!("age,hired\n{}", "21,no\n25,no\n35,yes\n45,yes\n".repeat(5));
/// # let csv = std::io::Cursor::new(csv);
/// # let people = read([Source::stream("people.csv", csv)], &ReadOptions::default())?;
/// let mut spec = Spec::new("hired == \"yes\"", &["recall() >= 0.9"]);
/// spec.algorithm = Algorithm::Practical(Practical { turns: 2000, ..Practical::default() });
/// let mut seen = vec![0; 10];
/// let mut count = Every::new(1000, |turn: &Turn| {
///     seen[turn.game] += 1;
///     ControlFlow::Continue(())
/// });
/// let data = Data::from(&people);
/// spec.plan(&data.shape())?.run(data, &mut count)?;
/// // Five folds, each with a game under constraints and one without.
/// assert_eq!(seen, [2; 10]);
/// # Ok::<(), fairgame::Error>(())
/// ```
pub struct Every<F> {
    turns: u64,
    call: F,
}

impl<F: FnMut(&Turn) -> ControlFlow<()>> Every<F> {
    /// Calls `call` every `turns` turns.
    pub fn new(turns: u64, call: F) -> Self {
        Every { turns: turns.max(1), call }
    }
}

impl<F: FnMut(&Turn) -> ControlFlow<()>> Watch for Every<F> {
    fn apart(&self, _turns: u64) -> u64 {
        self.turns
    }

    fn turn(&mut self, turn: &Turn) -> ControlFlow<()> {
        (self.call)(turn)
    }
}

/// A turn of one of the games.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// Which game, from 0.
    pub game: usize,
    /// How many of its turns were played, of how many.
    pub turn: u64,
    /// How many turns it has.
    pub turns: u64,
    /// Turns of all games that were played, or need not be.
    pub done: u64,
    /// Turns of all games.
    pub total: u64,
    /// What the constraint player was last shown: of a minibatch, an estimate.
    pub losses: LossValues,
    /// The mean of what it played so far.
    pub mean_lambda: Multipliers,
}
