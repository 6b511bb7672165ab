//! The objective alone: what the other algorithms are compared with.

use super::Setting;
use crate::Result;
use crate::game::Game;
use crate::optimize::Optimizer;
use crate::player::{Descent, Silent};
use crate::rate::Side;
use crate::settings::declare;

declare! {
    /// The settings of unconstrained training.
    #[derive(Copy)]
    pub struct Unconstrained {
        /// Turns of the game (T).
        pub turns: u64 = with(50_000).above(0.0).flag("turns").carried(1),
        /// Rows in a mini-batch.
        pub batch: usize = with(100).above(0.0).flag("batch").carried(1),
        /// Optimizer of the model's parameters θ.
        pub model: Optimizer = with(Optimizer::default()).flag("optimizer"),
    }
}

impl Unconstrained {
    pub(super) fn game<'a>(&self, setting: &Setting<'a>) -> Result<Game<'a>> {
        Ok(Game::new(
            Box::new(Descent::new(setting.learner(), self.model, self.batch)?),
            Box::new(Silent::new(setting.constraints())),
            setting.referee(Some(self.batch), Side::Exact),
            (self.turns, setting.keep),
            &setting.threads,
        ))
    }
}
