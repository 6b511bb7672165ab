//! The players of the game.
//!
//! The **constraint player** chooses how much each constraint counts, from how far each is violated on
//! its own sample. Which one plays is what tells the paper's algorithms apart:
//!
//! | player | plays | learns by |
//! |---|---|---|
//! | [`SwapRegret`] (Algorithms 1 to 3) | a distribution λ ∈ Δ^{m+1} over the objective and the constraints | multiplicative updates of a left-stochastic matrix M, of which λ is the fixed point |
//! | [`Ascent`] (Algorithm 4, the baseline) | λ ∈ R₊^m, or ‖λ‖₁ ≤ R, beside an objective that counts 1 | steps along the violations, projected |
//! | [`Silent`] (unconstrained) | nothing | nothing |

mod ascent;
mod swap_regret;

use crate::rate::Multipliers;

pub use ascent::Ascent;
pub use swap_regret::{Start, SwapRegret, SwapRegretSpec, Update};

/// The player that enforces the constraints.
pub trait ConstraintPlayer: Send {
    /// What is played this turn.
    fn play(&mut self) -> &Multipliers;

    /// Learns from ℓ₁ … ℓ_m of this turn's model, each met where it is at most 0.
    ///
    /// # Panics
    /// If there is not one loss for each constraint.
    fn learn(&mut self, losses: &[f64]);
}

/// The player of an unconstrained problem: the objective is all that counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Silent(Multipliers);

impl Silent {
    /// Silent about that many constraints.
    pub fn new(constraints: usize) -> Self {
        Silent(Multipliers { objective: 1.0, constraints: vec![0.0; constraints] })
    }
}

impl ConstraintPlayer for Silent {
    fn play(&mut self) -> &Multipliers {
        &self.0
    }

    fn learn(&mut self, _losses: &[f64]) {}
}
