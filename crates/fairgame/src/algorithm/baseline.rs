//! The baseline of the last appendix: the Lagrangian of one dataset, with ‖λ‖₁ ≤ R.
//!
//! Both players play the same function, ℓ₀ + Σ_i λ_i·ℓ_i, so its analysis is that of a zero-sum game and has
//! no proxies. For the model player to have slopes, the ℓ_i must then be the surrogates for both; that is
//! the default (`side`), and what it promises of the surrogates holds the more of the indicators below
//! them. With the indicators themselves the constraint player is Algorithm 4's, in a ball.
//!
//! The model player is an oracle that answers each λ with its best θ, as in the analysis and in Agarwal
//! et al. 2018, or takes one step a turn.

use serde::{Deserialize, Serialize};

use super::{Setting, check_counts};
use crate::game::Game;
use crate::optimize::Optimizer;
use crate::player::{Ascent, Descent, ModelPlayer, Oracle, OracleSpec};
use crate::rate::Side;
use crate::{Error, ErrorKind, Result};

/// The baseline's settings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Baseline {
    /// T.
    pub turns: u64,
    /// R: the multipliers add up to at most this.
    pub radius: f64,
    /// Who chooses the model.
    pub model: Answer,
    /// How λ moves.
    pub constraint: Optimizer,
    /// What the constraint player is shown.
    pub side: Side,
}

/// How the baseline's model player answers λ.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Answer {
    /// With the best θ, over all rows.
    Oracle(OracleSpec),
    /// With one step, over a minibatch for each player.
    Descent {
        /// How θ moves.
        optimizer: Optimizer,
        /// Rows in a minibatch.
        batch: usize,
    },
}

impl Default for Baseline {
    fn default() -> Self {
        Baseline {
            turns: 50_000,
            radius: 10.0,
            model: Answer::Descent { optimizer: Optimizer::default(), batch: 100 },
            constraint: Optimizer::default(),
            side: Side::Proxy,
        }
    }
}

impl Baseline {
    pub(super) fn check(&self) -> Result<()> {
        self.constraint.check().map_err(|error| error.at("algorithm.baseline.constraint"))?;
        if !(self.radius > 0.0 && self.radius.is_finite()) {
            let message = format!("multipliers cannot lie within a radius of {}", self.radius);
            return Err(Error::new(ErrorKind::Settings, message).help("give a number above 0"));
        }
        let (batch, checked) = match self.model {
            Answer::Oracle(spec) => (1, spec.check()),
            Answer::Descent { optimizer, batch } => (batch, optimizer.check()),
        };
        check_counts(self.turns, batch)?;
        checked.map_err(|error| error.at("algorithm.baseline.model"))
    }

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
