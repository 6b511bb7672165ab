//! Algorithm 4, LagrangianTwoDataset: one step a turn, against ascent on λ ∈ R₊^m.
//!
//! The model player's Lagrangian is ℓ̃₀ + Σ_i λ_i·ℓ̃_i on train, the constraint player's ℓ₀ + Σ_i λ_i·ℓ_i on
//! val. Both steps are Adam's by default, as in the paper's experiments.

use super::Setting;
use crate::Result;
use crate::game::Game;
use crate::optimize::Optimizer;
use crate::player::{Ascent, ConstraintPlayer, Descent};
use crate::rate::Side;
use crate::settings::declare;

declare! {
    /// Algorithm 4's settings.
    #[derive(Copy)]
    pub struct Lagrangian {
        /// Turns of the game (T).
        pub turns: u64 = with(50_000).above(0.0).flag("turns").carried(1),
        /// Rows in each player's mini-batch.
        pub batch: usize = with(100).above(0.0).flag("batch").carried(1),
        /// Optimizer of the model's parameters θ.
        pub model: Optimizer = with(Optimizer::default()).flag("optimizer"),
        /// Optimizer of the Lagrange multipliers λ.
        pub constraint: Optimizer =
            with(Optimizer::default()).flag("constraint-optimizer").inner("constraint-"),
    }
}

impl Lagrangian {
    pub(super) fn constraint_player(&self, constraints: usize) -> Box<dyn ConstraintPlayer> {
        Box::new(Ascent::new(constraints, self.constraint, None))
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
