//! The plug-in game: Algorithm 1 with the best response of a probability model.
//!
//! For given λ the Lagrangian is a sum over rows of (cost of the row's cell) × (decision). If P(cell | x) is known, its
//! minimiser over all functions of x is a [rule](crate::model::Rule): decide positive where the expected cost is below 0.
//! So P is learnt once, and every λ then has its best response for the price of one addition a row.
//!
//! The constraint player is fully corrective. It solves the program over all rules found so far, measured with true labels
//! on rows that P was not trained on; the duals of that program are the next λ, and so is their running mean. It stops
//! when no rule improves the program by more than 2·10⁻⁶.

use super::Setting;
use crate::game::Game;
use crate::optimize::Optimizer;
use crate::settings::declare;
use crate::{Error, ErrorKind, Result};

declare! {
    /// The settings of the plug-in game.
    #[derive(Copy)]
    pub struct PlugIn {
        /// Most rounds of the constraint player, for each program.
        pub rounds: usize = with(40).between(1.0, 10_000.0),
        /// Turns that a model other than trees is trained for.
        pub turns: u64 = with(50_000).above(0.0).flag("turns").carried(1),
        /// Rows in a mini-batch of such a model.
        pub batch: usize = with(100).above(0.0).flag("batch").carried(1),
        /// Optimizer of such a model's parameters.
        pub model: Optimizer = with(Optimizer::default()).flag("optimizer"),
    }
}

impl PlugIn {
    /// A game of turns is only part of it: [`Training::play`](crate::train::Training::play) plays all of it.
    pub(super) fn game<'a>(&self, _setting: &Setting<'a>) -> Result<Game<'a>> {
        Err(Error::new(ErrorKind::Settings, "the plug-in game is not played turn by turn")
            .help("train by `Plan::run`"))
    }
}
