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

use super::{Scales, Setting, whole_turns};
use crate::bounds;
use crate::game::Game;
use crate::player::{Covering, Oracle, OracleSpec, SwapRegret, SwapRegretSpec};
use crate::rate::Side;
use crate::settings::{self, declare};
use crate::{Error, ErrorKind, Result};

declare! {
    /// Algorithm 1's settings.
    #[derive(Copy)]
    pub struct Discrete {
        /// Suboptimality ε of Theorem 1, which gives what is not set.
        pub epsilon: f64 = with(0.05).above(0.0).flag("epsilon"),
        /// Turns of the game (T).
        pub turns: Option<u64> = with(None)
            .above(0.0)
            .auto("T of Theorem 1: 4·B²·(m+1)·ln(m+1)/ε²")
            .flag("turns"),
        /// Learning rate η_λ of the constraint player.
        pub step: Option<f64> = with(None)
            .above(0.0)
            .auto("η of Theorem 1: √((m+1)·ln(m+1)/(T·B²))")
            .flag("constraint-step"),
        /// Radius r of the covering of the multipliers.
        pub radius: Option<f64> =
            with(None).above(0.0).auto("r of Theorem 1: ε/(2·B), B the largest proxy loss"),
        /// The oracle that answers each centre of the covering.
        pub oracle: OracleSpec = with(OracleSpec::default()).no_flags(),
    }
}

impl Discrete {
    /// The covering that is used.
    pub fn covering(&self, setting: &Setting<'_>) -> Result<Covering> {
        settings::check(self)?;
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

    /// T and η_λ.
    pub(super) fn pace(&self, setting: &Setting<'_>) -> Result<(u64, f64)> {
        swap_regret(setting, Side::Exact, self.epsilon, self.turns, self.step)
    }

    pub(super) fn game<'a>(&self, setting: &Setting<'a>) -> Result<Game<'a>> {
        let covering = self.covering(setting)?;
        let (turns, step) = self.pace(setting)?;
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

/// T and η_λ, as set or as the theorems give them for ε.
pub(super) fn swap_regret(
    setting: &Setting<'_>,
    side: Side,
    epsilon: f64,
    turns: Option<u64>,
    step: Option<f64>,
) -> Result<(u64, f64)> {
    let constraints = setting.constraints();
    if let (Some(turns), Some(step)) = (turns, step) {
        return Ok((turns, step));
    }
    let gradient = Scales::of(setting)?.gradient_on(side)?;
    let turns = match turns {
        Some(turns) => turns,
        None => whole_turns(bounds::swap_regret_turns(constraints, epsilon, gradient))?,
    };
    let given = bounds::swap_regret_step(constraints, turns as f64, gradient);
    // With no constraints, or none that can be violated, there is nothing to learn.
    let step = step.unwrap_or(if given.is_finite() && given > 0.0 { given } else { 1.0 });
    Ok((turns, step))
}
