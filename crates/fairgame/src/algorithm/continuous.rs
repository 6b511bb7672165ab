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
//!
//! Theorem 2's bound on generalization has a premise more: the constraint losses ℓ_i are L-Lipschitz in θ. Losses of
//! decisions are not, since a decision jumps from 0 to 1. So with `side = "exact"`, the default, the game ends as near to
//! an equilibrium as the theorem says, and feasible on val; but nothing is promised of new rows. With `side = "proxy"` the
//! constraint player is shown the proxies, as the baseline's is. These are Lipschitz, the whole theorem holds of them, and
//! what it says of the proxies holds the more of the decisions below them. The price is a constraint that is met by more
//! than it must be.

use super::discrete::swap_regret;
use super::{Scales, Setting, check_cost, whole_turns};
use crate::bounds;
use crate::game::Game;
use crate::model::Region;
use crate::player::{InnerDescent, SwapRegret, SwapRegretSpec};
use crate::rate::Side;
use crate::settings::declare;
use crate::{Error, ErrorKind, Result};

declare! {
    /// Algorithm 2's settings.
    #[derive(Copy)]
    pub struct Continuous {
        /// Suboptimality ε of Theorem 2, which gives what is not set.
        pub epsilon: f64 = with(0.05).above(0.0).flag("epsilon"),
        /// Turns of the game (T_λ).
        pub turns: Option<u64> = with(None)
            .above(0.0)
            .auto("T_λ of Theorem 2: 4·B²·(m+1)·ln(m+1)/ε²")
            .flag("turns"),
        /// Steps of the model player in each turn (T_θ).
        pub inner_turns: Option<u64> = with(None)
            .above(0.0)
            .auto("T_θ of Theorem 2: (B²/(με))·ln(B²/(με)), B the largest subgradient"),
        /// Learning rate η_λ of the constraint player.
        pub step: Option<f64> = with(None)
            .above(0.0)
            .auto("η of Theorem 2: √((m+1)·ln(m+1)/(T·B²))")
            .flag("constraint-step"),
        /// Which losses the constraint player sees: those of decisions, or their proxies, of which alone Theorem 2 bounds the
        /// generalization.
        pub side: Side = with(Side::Exact),
        /// Rows in a mini-batch of the inner steps.
        pub batch: Option<usize> = with(None)
            .above(0.0)
            .unset("all", "all rows, as in the pseudocode")
            .flag("batch"),
    }
}

fn fail<T>(message: &str, help: &str) -> Result<T> {
    Err(Error::new(ErrorKind::Settings, message).help(help))
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
        if self.batch.is_some() && self.inner_turns.is_none() {
            return fail(
                "Theorem 2 gives the inner turns for all rows, not for minibatches of them",
                "set the inner turns, or leave the batch out",
            );
        }
        Ok(())
    }

    /// T_λ and η_λ.
    pub(super) fn pace(&self, setting: &Setting<'_>) -> Result<(u64, f64)> {
        swap_regret(setting, self.side, self.epsilon, self.turns, self.step)
    }

    /// T_θ.
    pub(super) fn inner(&self, setting: &Setting<'_>) -> Result<u64> {
        match (self.inner_turns, Scales::of(setting)?.subgradient) {
            (Some(turns), _) => Ok(turns),
            (None, Some(most)) => {
                whole_turns(bounds::inner_turns(self.epsilon, most, setting.region.convexity))
            }
            (None, None) => fail(
                "Theorem 2 gives no number of inner turns: these losses' slopes have no bound",
                "set algorithm.continuous.inner_turns, or hold the model in a ball (region.radius)",
            ),
        }
    }

    pub(super) fn game<'a>(&self, setting: &Setting<'a>) -> Result<Game<'a>> {
        let ((turns, step), inner) = (self.pace(setting)?, self.inner(setting)?);
        if self.inner_turns.is_none() {
            check_cost(turns, inner, setting.train.rows())?;
        }
        let spec = SwapRegretSpec::multiplicative(step);
        spec.check()?;
        Ok(Game::new(
            Box::new(InnerDescent::new(setting.learner(), inner, self.batch)?),
            Box::new(SwapRegret::new(setting.constraints(), spec)),
            setting.referee(None, self.side),
            (turns, setting.keep),
            &setting.threads,
        ))
    }
}
