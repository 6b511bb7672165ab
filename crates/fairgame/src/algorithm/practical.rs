//! Algorithm 3, PracticalTwoDataset: one step a turn for each player.
//!
//! As in the paper's experiments both steps are Adam's by default, over minibatches of 100 rows of each
//! player's own sample, in place of the pseudocode's plain stochastic steps.

use serde::{Deserialize, Serialize};

use super::{Setting, check_counts};
use crate::Result;
use crate::game::Game;
use crate::optimize::Optimizer;
use crate::player::{Descent, SwapRegret, SwapRegretSpec};
use crate::rate::Side;

/// Algorithm 3's settings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Practical {
    /// T.
    pub turns: u64,
    /// Rows in each player's minibatch.
    pub batch: usize,
    /// How θ moves.
    pub model: Optimizer,
    /// How M moves.
    pub constraint: SwapRegretSpec,
}

impl Default for Practical {
    fn default() -> Self {
        Practical {
            turns: 50_000,
            batch: 100,
            model: Optimizer::default(),
            constraint: SwapRegretSpec::default(),
        }
    }
}

impl Practical {
    pub(super) fn check(&self) -> Result<()> {
        check_counts(self.turns, self.batch)?;
        self.model.check().map_err(|error| error.at("algorithm.practical.model"))?;
        self.constraint.check().map_err(|error| error.at("algorithm.practical.constraint"))
    }

    pub(super) fn game<'a>(&self, setting: &Setting<'a>) -> Result<Game<'a>> {
        Ok(Game::new(
            Box::new(Descent::new(setting.learner(), self.model, self.batch)?),
            Box::new(SwapRegret::new(setting.constraints(), self.constraint)),
            setting.referee(Some(self.batch), Side::Exact),
            (self.turns, setting.keep),
            &setting.threads,
        ))
    }
}
