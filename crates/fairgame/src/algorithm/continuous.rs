//! Algorithm 2, ContinuousTwoDataset: inner descent, averaged, against swap regret.
//!
//! It asks for losses that are μ-strongly convex in θ and for a bounded Θ: a linear model, a hinge or
//! logistic surrogate, and a [`Region`] with a convexity μ above 0. Theorem 2 gives,
//! for any ε,
//!
//! ```text
//! T_θ = (B_Δ̌²/(με))·ln(B_Δ̌²/(με)),   T_λ = 4·B_Δ²·(m+1)·ln(m+1)/ε²,   η_λ = √((m+1)·ln(m+1)/(T_λ·B_Δ²))
//! ```
//!
//! each of which can be set instead. Other models are refused: from θ = 0 a network never moves, and the
//! mean of two networks is no network between them. With a surrogate that is not convex it runs without the
//! promise.

use serde::{Deserialize, Serialize};

use super::discrete::{check_swap_regret, swap_regret};
use super::{Scales, Setting, check_cost, whole_turns};
use crate::bounds;
use crate::game::Game;
use crate::model::Region;
use crate::player::{InnerDescent, SwapRegret, SwapRegretSpec};
use crate::rate::Side;
use crate::{Error, ErrorKind, Result};

/// Algorithm 2's settings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Continuous {
    /// ε, from which follows what is not set.
    pub epsilon: f64,
    /// T_λ, or that of Theorem 2.
    pub turns: Option<u64>,
    /// T_θ, or that of Theorem 2.
    pub inner_turns: Option<u64>,
    /// η_λ, or that of Theorem 2.
    pub step: Option<f64>,
    /// Rows in a minibatch of the inner steps, or `None` for all rows, as in the pseudocode.
    pub batch: Option<usize>,
}

fn fail<T>(message: &str, help: &str) -> Result<T> {
    Err(Error::new(ErrorKind::Settings, message).help(help))
}

impl Default for Continuous {
    fn default() -> Self {
        Continuous { epsilon: 0.05, turns: None, inner_turns: None, step: None, batch: None }
    }
}

impl Continuous {
    pub(super) fn check(&self, region: Region, linear: bool) -> Result<()> {
        if region.convexity <= 0.0 {
            return fail(
                "Algorithm 2 needs strongly convex losses",
                "set region.convexity above 0: (convexity/2)·‖θ‖² is added to the losses",
            );
        }
        if !linear {
            return fail(
                "Algorithm 2 is for linear models: it starts at 0 and takes means of parameters",
                "use a linear model, or another algorithm",
            );
        }
        if self.batch == Some(0) {
            return fail("a minibatch of no rows", "give a number above 0, or none for all rows");
        }
        if self.inner_turns == Some(0) {
            return fail("no inner turns train nothing", "give a number above 0");
        }
        if self.batch.is_some() && self.inner_turns.is_none() {
            return fail(
                "Theorem 2 gives the inner turns for all rows, not for minibatches of them",
                "set the inner turns, or leave the batch out",
            );
        }
        check_swap_regret(self.epsilon, self.turns, self.step)
    }

    pub(super) fn game<'a>(&self, setting: &Setting<'a>) -> Result<Game<'a>> {
        let mu = setting.region.convexity;
        let (turns, step) = swap_regret(setting, self.epsilon, self.turns, self.step)?;
        let inner = match (self.inner_turns, Scales::of(setting)?.subgradient) {
            (Some(turns), _) => turns,
            (None, Some(most)) => {
                let inner = whole_turns(bounds::inner_turns(self.epsilon, most, mu))?;
                check_cost(turns, inner, setting.train.rows())?;
                inner
            }
            (None, None) => {
                return fail(
                    "Theorem 2 gives no number of inner turns: these losses' slopes have no bound",
                    "set algorithm.continuous.inner_turns, or hold the model in a ball (region.radius)",
                );
            }
        };
        let spec = SwapRegretSpec::multiplicative(step);
        spec.check()?;
        Ok(Game::new(
            Box::new(InnerDescent::new(setting.learner(), inner, self.batch)?),
            Box::new(SwapRegret::new(setting.constraints(), spec)),
            setting.referee(None, Side::Exact),
            (turns, setting.keep),
            &setting.threads,
        ))
    }
}
