//! The objective alone: what the other algorithms are compared with.

use serde::{Deserialize, Serialize};

use super::{Setting, check_counts};
use crate::Result;
use crate::game::Game;
use crate::optimize::Optimizer;
use crate::player::{Descent, Silent};
use crate::rate::Side;

/// The settings of unconstrained training.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Unconstrained {
    /// T.
    pub turns: u64,
    /// Rows in a minibatch.
    pub batch: usize,
    /// How θ moves.
    pub model: Optimizer,
}

impl Default for Unconstrained {
    fn default() -> Self {
        Unconstrained { turns: 50_000, batch: 100, model: Optimizer::default() }
    }
}

impl Unconstrained {
    pub(super) fn check(&self) -> Result<()> {
        check_counts(self.turns, self.batch)?;
        self.model.check().map_err(|error| error.at("algorithm.unconstrained.model"))
    }

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
