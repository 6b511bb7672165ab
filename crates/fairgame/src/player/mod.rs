//! The players of the game.
//!
//! The **model player** chooses θ to make λ₁·ℓ̃₀ + Σ_i λ_{i+1}·ℓ̃_i small on its own sample. The
//! **constraint player** chooses λ, how much each constraint counts, from how far each is violated on
//! *its* own sample. Which two play is what tells the paper's algorithms apart:
//!
//! | model player | plays | |
//! |---|---|---|
//! | [`Oracle`] | Algorithm 1, the baseline | the best answer to λ, or to the nearest of finitely many λ |
//! | [`InnerDescent`] | Algorithm 2 | T_θ steps from 0 of size 1/(μs), averaged |
//! | [`Descent`] | Algorithms 3 and 4, the baseline, unconstrained | one step each turn |
//!
//! | constraint player | plays | learns by |
//! |---|---|---|
//! | [`SwapRegret`] (Algorithms 1 to 3) | a distribution λ ∈ Δ^{m+1} over the objective and the constraints | multiplicative updates of a left-stochastic matrix M, of which λ is the fixed point |
//! | [`Ascent`] (Algorithm 4, the baseline) | λ ∈ R₊^m, or ‖λ‖₁ ≤ R, beside an objective that counts 1 | steps along the violations, projected |
//! | [`Silent`] (unconstrained) | nothing | nothing |
//!
//! Both save all that their next turns depend on, so that a game can be left and taken up again.

mod ascent;
mod covering;
mod descent;
mod inner;
mod oracle;
mod swap_regret;

use crate::Result;
use crate::archive::Arrays;
use crate::rate::Multipliers;
use crate::sample::Hypothesis;

pub use ascent::Ascent;
pub use covering::Covering;
pub(crate) use descent::learner_seed;
pub use descent::{Descent, Learner};
pub use inner::InnerDescent;
pub use oracle::{Oracle, OracleSpec};
pub use swap_regret::{Start, SwapRegret, SwapRegretSpec};

/// The player that chooses the model.
pub trait ModelPlayer: Send {
    /// What is played this turn, where λ is what the other player plays.
    fn play(&mut self, lambda: &Multipliers) -> Result<&Hypothesis>;

    /// Learns from λ for the next turn.
    fn learn(&mut self, lambda: &Multipliers) -> Result<()>;

    /// What the next turns depend on.
    fn save(&self) -> Arrays;

    /// Takes up where [`ModelPlayer::save`] left off.
    fn load(&mut self, arrays: Arrays) -> Result<()>;

    /// How far above the least possible the Lagrangian of each θ played so far is at most: ρ, where the
    /// player can say.
    fn suboptimality(&self) -> Option<f64> {
        None
    }
}

/// The player that enforces the constraints.
pub trait ConstraintPlayer: Send {
    /// What is played this turn.
    fn play(&self) -> &Multipliers;

    /// Learns from ℓ₁ … ℓ_m of this turn's model, each met where it is at most 0.
    ///
    /// # Panics
    /// If there is not one loss for each constraint.
    fn learn(&mut self, losses: &[f64]);

    /// Whether it learns at all; for one that does not, no losses need be measured.
    fn listens(&self) -> bool {
        true
    }

    /// What the next turns depend on.
    fn save(&self) -> Arrays;

    /// Takes up where [`ConstraintPlayer::save`] left off.
    fn load(&mut self, arrays: Arrays) -> Result<()>;
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
    fn play(&self) -> &Multipliers {
        &self.0
    }

    fn learn(&mut self, _losses: &[f64]) {}

    fn listens(&self) -> bool {
        false
    }

    fn save(&self) -> Arrays {
        Arrays::default()
    }

    fn load(&mut self, _arrays: Arrays) -> Result<()> {
        Ok(())
    }
}
