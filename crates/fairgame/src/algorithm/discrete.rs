//! Algorithm 1, DiscreteTwoDataset: an oracle on finitely many λ, against swap regret.
//!
//! Each turn λ is rounded to the nearest centre of a covering of the simplex, and the oracle answers the
//! centre; so there are no more models than centres, chosen without a look at val, and what is measured on
//! val carries over however many parameters the model has. Theorem 1 gives, for any ε,
//!
//! ```text
//! T = 4·B_Δ²·(m+1)·ln(m+1)/ε²,   η_λ = √((m+1)·ln(m+1)/(T·B_Δ²)),   r = ε/(2·B_ℓ̃)
//! ```
//!
//! each of which can be set instead.

use serde::{Deserialize, Serialize};

use super::{Scales, Setting, check_counts, check_epsilon, whole_turns};
use crate::bounds;
use crate::game::Game;
use crate::player::{Covering, Oracle, OracleSpec, SwapRegret, SwapRegretSpec};
use crate::rate::Side;
use crate::{Error, ErrorKind, Result};

/// Algorithm 1's settings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Discrete {
    /// ε, from which follows what is not set.
    pub epsilon: f64,
    /// T, or that of Theorem 1.
    pub turns: Option<u64>,
    /// η_λ, or that of Theorem 1.
    pub step: Option<f64>,
    /// The covering's radius r, or that of Theorem 1.
    pub radius: Option<f64>,
    /// The oracle.
    pub oracle: OracleSpec,
}

impl Default for Discrete {
    fn default() -> Self {
        Discrete {
            epsilon: 0.05,
            turns: None,
            step: None,
            radius: None,
            oracle: OracleSpec::default(),
        }
    }
}

impl Discrete {
    /// The covering that is used.
    pub fn covering(&self, setting: &Setting<'_>) -> Result<Covering> {
        check_epsilon(self.epsilon)?;
        let radius = match (self.radius, Scales::of(setting)?.proxy) {
            (Some(radius), _) => radius,
            (None, Some(proxy)) if proxy.is_finite() => {
                bounds::covering_radius(self.epsilon, proxy)
            }
            (None, _) => {
                let message =
                    "Theorem 1 gives no covering radius: these proxy losses have no bound";
                return Err(Error::new(ErrorKind::Settings, message).help(
                    "set algorithm.discrete.radius, or bound the losses: a linear model in a ball (region.radius), or the surrogate sigmoid or ramp",
                ));
            }
        };
        Covering::new(setting.constraints(), radius)
    }

    pub(super) fn check(&self) -> Result<()> {
        self.oracle.check().map_err(|error| error.at("algorithm.discrete.oracle"))?;
        self.radius.map_or(Ok(()), Covering::check_radius)?;
        check_swap_regret(self.epsilon, self.turns, self.step)
    }

    pub(super) fn game<'a>(&self, setting: &Setting<'a>) -> Result<Game<'a>> {
        let covering = self.covering(setting)?;
        let (turns, step) = swap_regret(setting, self.epsilon, self.turns, self.step)?;
        let spec = SwapRegretSpec::multiplicative(step);
        spec.check()?;
        Ok(Game::new(
            Box::new(Oracle::new(setting.learner(), self.oracle, Some(covering))),
            Box::new(SwapRegret::new(setting.constraints(), spec)),
            setting.referee(None, Side::Exact),
            (turns, setting.keep),
            &setting.threads,
        ))
    }
}

/// Refuses settings that the theorems' constraint player cannot play with.
pub(super) fn check_swap_regret(epsilon: f64, turns: Option<u64>, step: Option<f64>) -> Result<()> {
    check_epsilon(epsilon)?;
    check_counts(turns.unwrap_or(1), 1)?;
    step.map_or(Ok(()), |step| SwapRegretSpec::multiplicative(step).check())
}

/// T and η_λ, as set or as the theorems give them for ε.
pub(super) fn swap_regret(
    setting: &Setting<'_>,
    epsilon: f64,
    turns: Option<u64>,
    step: Option<f64>,
) -> Result<(u64, f64)> {
    let (constraints, gradient) = (setting.constraints(), Scales::of(setting)?.gradient);
    let turns = match turns {
        Some(turns) => turns,
        None => whole_turns(bounds::swap_regret_turns(constraints, epsilon, gradient))?,
    };
    let given = bounds::swap_regret_step(constraints, turns as f64, gradient);
    // With no constraints, or none that can be violated, there is nothing to learn.
    let step = step.unwrap_or(if given.is_finite() && given > 0.0 { given } else { 1.0 });
    Ok((turns, step))
}
