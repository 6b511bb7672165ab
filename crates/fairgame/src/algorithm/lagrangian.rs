//! Algorithm 4, LagrangianTwoDataset: one step a turn, against ascent on λ ∈ R₊^m.
//!
//! The model player's Lagrangian is ℓ̃₀ + Σ_i λ_i·ℓ̃_i on train, the constraint player's ℓ₀ + Σ_i λ_i·ℓ_i on
//! val. Both steps are Adam's by default, as in the paper's experiments.

use serde::{Deserialize, Serialize};

use super::{Setting, check_counts};
use crate::Result;
use crate::game::Game;
use crate::optimize::Optimizer;
use crate::player::{Ascent, Descent};
use crate::rate::Side;

/// Algorithm 4's settings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lagrangian {
    /// T.
    pub turns: u64,
    /// Rows in each player's minibatch.
    pub batch: usize,
    /// How θ moves.
    pub model: Optimizer,
    /// How λ moves.
    pub constraint: Optimizer,
}

impl Default for Lagrangian {
    fn default() -> Self {
        Lagrangian {
            turns: 50_000,
            batch: 100,
            model: Optimizer::default(),
            constraint: Optimizer::default(),
        }
    }
}

impl Lagrangian {
    pub(super) fn check(&self) -> Result<()> {
        check_counts(self.turns, self.batch)?;
        self.model.check().map_err(|error| error.at("algorithm.lagrangian.model"))?;
        self.constraint.check().map_err(|error| error.at("algorithm.lagrangian.constraint"))
    }

    pub(super) fn game<'a>(&self, setting: &Setting<'a>) -> Result<Game<'a>> {
        Ok(Game::new(
            Box::new(Descent::new(setting.learner(), self.model, self.batch)?),
            Box::new(Ascent::new(setting.constraints(), self.constraint, None)),
            setting.referee(Some(self.batch), Side::Exact),
            (self.turns, setting.keep),
            &setting.threads,
        ))
    }
}
