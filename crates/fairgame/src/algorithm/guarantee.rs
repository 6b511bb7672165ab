//! What Theorems 1 and 2 say of a game that was played: with its own turns, step, covering and constants.
//!
//! With probability at least 1 − δ over the validation rows, every constraint of θ̄ in the population is at most
//!
//! ```text
//! ε_λ/λ̄₁ + G̃_val
//! ```
//!
//! where θ̄ draws θ⁽ᵗ⁾ with probability λ₁⁽ᵗ⁾/Σ_s λ₁⁽ˢ⁾ over *all* turns (`selection = "theorem"`), and λ̄₁ is the mean weight
//! that the constraint player gave the objective. Nothing here is hoped for: T, η, λ̄₁ and ρ are those of the game.

use serde::Serialize;

use super::{Algorithm, Continuous, Discrete, Scales, Setting};
use crate::Result;
use crate::bounds::{self, Smoothness};
use crate::rate::{Multipliers, Side};

/// The probability δ with which a stated guarantee may fail.
pub const DELTA: f64 = 0.05;

/// What a theorem says of a game that was played.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Guarantee {
    /// 1 or 2.
    pub theorem: u8,
    /// δ: the probability with which it may fail.
    pub delta: f64,
    /// ε_λ: the constraint player's swap regret, at most.
    pub regret: f64,
    /// ε_θ: how far the model player is from its best answers, at most; `None` where that cannot be told.
    pub model: Option<f64>,
    /// γ: the most by which a kept model meets every proxy constraint on the training rows, with (μ/2)·‖θ‖² added to the
    /// proxies as Theorem 2 has it; where it is not above 0, the
    /// theorem does not bound λ̄₁ from below.
    pub margin: Option<f64>,
    /// λ̄₁: the mean weight of the objective.
    pub objective_weight: f64,
    /// ε_λ/λ̄₁: how far θ̄ violates a constraint on the validation rows, at most.
    pub enforced: f64,
    /// G̃_val: how far a constraint in the population may be from that on the validation rows; `None` where a premise does
    /// not hold: validation rows of their own, and for Theorem 2 losses that are Lipschitz.
    pub generalization: Option<f64>,
    /// ε_λ/λ̄₁ + G̃_val: how far θ̄ violates a constraint in the population, at most.
    pub infeasibility: Option<f64>,
}

/// What is to be known of a game that was played.
#[derive(Debug, Clone, Copy)]
pub struct Ended<'a> {
    /// Turns that were played.
    pub turns: u64,
    /// λ̄.
    pub mean_lambda: &'a Multipliers,
    /// ρ, where the model player could state one.
    pub suboptimality: Option<f64>,
    /// γ on the training rows.
    pub margin: Option<f64>,
    /// Whether the validation rows are others than the training rows: a theorem says nothing of new rows by rows that
    /// models were trained on.
    pub apart: bool,
}

impl Algorithm {
    /// What Theorem 1 or 2 says of a game of this algorithm; `None` for the others, of which no theorem speaks.
    ///
    /// # Errors
    /// If a sample cannot be read.
    pub fn guarantee(&self, setting: &Setting<'_>, ended: Ended<'_>) -> Result<Option<Guarantee>> {
        if setting.constraints() == 0 || ended.turns == 0 {
            return Ok(None);
        }
        match self {
            Algorithm::Discrete(own) => own.guarantee(setting, ended).map(Some),
            Algorithm::Continuous(own) => own.guarantee(setting, ended).map(Some),
            _ => Ok(None),
        }
    }
}

impl Guarantee {
    fn new(theorem: u8, regret: f64, ended: Ended<'_>) -> Self {
        let objective_weight = ended.mean_lambda.objective;
        Guarantee {
            theorem,
            delta: DELTA,
            regret,
            model: None,
            margin: ended.margin,
            objective_weight,
            enforced: regret / objective_weight,
            generalization: None,
            infeasibility: None,
        }
    }

    fn with(self, model: Option<f64>, generalization: Option<f64>) -> Self {
        let infeasibility = generalization.map(|val| self.enforced + val);
        Guarantee { model, generalization, infeasibility, ..self }
    }
}

impl Discrete {
    fn guarantee(&self, setting: &Setting<'_>, ended: Ended<'_>) -> Result<Guarantee> {
        let (scales, covering) = (Scales::of(setting)?, self.covering(setting)?);
        let (constraints, (_, step)) = (setting.constraints(), self.pace(setting)?);
        let turns = ended.turns as f64;
        let regret = bounds::swap_regret_with(constraints, turns, scales.gradient, step);
        let model = ended.suboptimality.zip(scales.proxy);
        let model =
            model.map(|(rho, proxy)| bounds::oracle_suboptimality(rho, covering.radius(), proxy));
        let (ln_centres, rows) = (covering.len().ln(), setting.val.rows());
        let val = ended.apart.then(|| {
            bounds::covering_generalization(constraints, ln_centres, rows, DELTA, scales.loss)
        });
        Ok(Guarantee::new(1, regret, ended).with(model, val))
    }
}

impl Continuous {
    fn guarantee(&self, setting: &Setting<'_>, ended: Ended<'_>) -> Result<Guarantee> {
        let scales = Scales::of(setting)?;
        let (constraints, (_, step)) = (setting.constraints(), self.pace(setting)?);
        let gradient = scales.gradient_on(self.side)?;
        let turns = ended.turns as f64;
        let regret = bounds::swap_regret_with(constraints, turns, gradient, step);
        let convexity = setting.region.convexity;
        // Both bounds are for inner steps over all rows, and for losses that are convex.
        let exact = self.batch.is_none() && setting.surrogate.is_convex();
        let inner = match scales.subgradient.filter(|_| exact) {
            Some(subgradient) => Some((self.inner(setting)? as f64, subgradient)),
            None => None,
        };
        let model = inner.map(|(steps, most)| bounds::inner_suboptimality(steps, most, convexity));
        let lipschitz = scales.shown.and_then(|shown| Some((shown.loss, shown.lipschitz?)));
        let premises = lipschitz.filter(|_| self.side == Side::Proxy && ended.apart);
        let known = premises.zip(scales.proxy).zip(inner);
        let val = known.map(|(((loss_range, lipschitz), proxy_size), inner)| {
            let smooth = Smoothness { convexity, lipschitz, loss_range, proxy_size };
            let rows = setting.val.rows();
            let radius = bounds::continuous_radius(constraints, rows, smooth);
            bounds::continuous_generalization(constraints, rows, DELTA, inner, radius, smooth)
        });
        Ok(Guarantee::new(2, regret, ended).with(model, val))
    }
}
