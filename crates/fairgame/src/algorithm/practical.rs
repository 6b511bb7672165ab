//! Algorithm 3, PracticalTwoDataset: one step a turn for each player.
//!
//! As in the paper's experiments both steps are Adam's by default, over minibatches of 100 rows of each
//! player's own sample, in place of the pseudocode's plain stochastic steps.

use super::{Lagrangian, Setting};
use crate::Result;
use crate::game::Game;
use crate::optimize::Optimizer;
use crate::player::{ConstraintPlayer, Descent, SwapRegret, SwapRegretSpec};
use crate::rate::Side;
use crate::settings::declare;

declare! {
    /// Algorithm 3's settings.
    #[derive(Copy)]
    pub struct Practical {
        /// Turns of the game (T).
        pub turns: u64 = with(50_000).above(0.0).flag("turns").carried(1),
        /// Rows in each player's mini-batch.
        pub batch: usize = with(100).above(0.0).flag("batch").carried(1),
        /// Optimizer of the model's parameters θ.
        pub model: Optimizer = with(Optimizer::default()).flag("optimizer"),
        /// How the constraint player's matrix M moves.
        pub constraint: SwapRegretSpec = with(SwapRegretSpec::default()).inner("constraint-"),
    }
}

impl Practical {
    /// Algorithm 4 with the same turns and steps: its constraint player has m multipliers and no matrix.
    pub(crate) fn without_matrix(self) -> Lagrangian {
        let Practical { turns, batch, model, constraint } = self;
        Lagrangian { turns, batch, model, constraint: constraint.optimizer }
    }

    pub(super) fn constraint_player(&self, constraints: usize) -> Box<dyn ConstraintPlayer> {
        Box::new(SwapRegret::new(constraints, self.constraint))
    }

    pub(super) fn game<'a>(&self, setting: &Setting<'a>) -> Result<Game<'a>> {
        Ok(Game::new(
            Box::new(Descent::new(setting.learner(), self.model, self.batch)?),
            self.constraint_player(setting.constraints()),
            setting.referee(Some(self.batch), Side::Exact),
            (self.turns, setting.keep),
            &setting.threads,
        ))
    }
}
