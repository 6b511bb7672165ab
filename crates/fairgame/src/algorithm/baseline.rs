//! The baseline of the last appendix: the Lagrangian of one dataset, with ‖λ‖₁ ≤ R.
//!
//! Both players play the same function, ℓ₀ + Σ_i λ_i·ℓ_i, so its analysis is that of a zero-sum game and has
//! no proxies. For the model player to have slopes, the ℓ_i must then be the surrogates for both; that is
//! the default (`side`), and what it promises of the surrogates holds the more of the indicators below
//! them. With the indicators themselves the constraint player is Algorithm 4's, in a ball.
//!
//! The model player is an oracle that answers each λ with its best θ, as in the analysis and in Agarwal
//! et al. 2018, or takes one step a turn.

use super::Setting;
use crate::Result;
use crate::game::Game;
use crate::optimize::Optimizer;
use crate::player::{Ascent, Descent, ModelPlayer, Oracle, OracleSpec};
use crate::rate::Side;
use crate::settings::declare;

declare! {
    /// The baseline's settings.
    #[derive(Copy)]
    pub struct Baseline {
        /// Turns of the game (T).
        pub turns: u64 = with(50_000).above(0.0).flag("turns").carried(1),
        /// Bound R on the multipliers: ‖λ‖₁ ≤ R.
        pub radius: f64 = with(10.0).above(0.0),
        /// How the model player answers λ.
        pub model: Answer =
            with(Answer::Descent { optimizer: Optimizer::default(), batch: 100 }),
        /// Optimizer of the Lagrange multipliers λ.
        pub constraint: Optimizer =
            with(Optimizer::default()).flag("constraint-optimizer").inner("constraint-"),
        /// Which losses the constraint player sees.
        pub side: Side = with(Side::Proxy),
    }
}

declare! {
    /// How the baseline's model player answers λ.
    #[derive(Copy)]
    pub enum Answer {
        /// With the best θ, over all rows.
        Oracle(OracleSpec) = "oracle",
        /// With one step, over a mini-batch for each player.
        Descent {
            /// Optimizer of the model's parameters θ.
            optimizer: Optimizer = with(Optimizer::default()).flag("optimizer"),
            /// Rows in each player's mini-batch.
            batch: usize = with(100).above(0.0).flag("batch").carried(2),
        } = "descent",
    }
}

impl Baseline {
    pub(super) fn game<'a>(&self, setting: &Setting<'a>) -> Result<Game<'a>> {
        let learner = setting.learner();
        let (model, batch): (Box<dyn ModelPlayer + 'a>, _) = match self.model {
            Answer::Oracle(spec) => (Box::new(Oracle::new(learner, spec, None)), None),
            Answer::Descent { optimizer, batch } => {
                (Box::new(Descent::new(learner, optimizer, batch)?), Some(batch))
            }
        };
        Ok(Game::new(
            model,
            Box::new(Ascent::new(setting.constraints(), self.constraint, Some(self.radius))),
            setting.referee(batch, self.side),
            (self.turns, setting.keep),
            &setting.threads,
        ))
    }
}
