//! The theorems of Cotter et al. 2018 as numbers: how many turns, what step, how far off at most.
//!
//! Every function is a formula of the paper, named after the result it comes from. Symbols:
//!
//! | here | paper | what it is |
//! |---|---|---|
//! | `constraints` | m | how many constraints there are |
//! | `rows` | \|S\|, n | how many rows the sample has |
//! | `delta` | δ | the bound fails with at most this probability |
//! | `epsilon` | ε | how near to an equilibrium the game gets |
//! | `loss_range` | B_ℓ | at least b_i − a_i for every constraint loss in \[a_i, b_i\] |
//! | `proxy_size` | B_ℓ̃ | at least \|ℓ\| for the objective and every proxy loss |
//! | `row_size` | B_ℓ̃ | the same of single rows x, \|ℓ(x)\|: a row of a small group counts many times |
//! | `objective_range` | B_ℓ₀ | at least the range of the expected objective |
//! | `gradient` | B_Δ | at least ‖Δ‖_∞ of the constraint player's gradients |
//! | `subgradient` | B_Δ̌ | at least ‖Δ̌‖₂ of the model player's subgradients |
//! | `convexity` | μ | the objective and proxy losses are μ-strongly convex |
//! | `lipschitz` | L | the constraint losses are L-Lipschitz in θ |
//! | `proxy_margin` | γ | some θ' meets every *proxy* constraint by this much; in the baseline, which has no proxies, every constraint (`margin`) |
//! | `train`, `val` | G̃_train, G̃_val | generalization errors of the two samples |
//! | `approximation` | ρ | how far the oracle is from the best |
//! | `complexity` | R_n(F) | a Rademacher complexity |
//! | `multipliers` | ‖λ̄‖₁ | of the baseline, whose multipliers have ‖λ‖₁ ≤ R |
//!
//! Arguments are positive numbers; what comes out of others is NaN or infinite, never a panic.
//!
//! Three statements of the paper are not as it prints them, each for a reason that stands with its function: the last
//! term of Theorem 2 ([`theorem_2`]), the margin γ of Theorems 1 and 2 ([`Errors::least_objective_weight`]), and the
//! suboptimality of the one-dataset baseline ([`Baseline::suboptimality`]).

mod convergence;
mod generalization;
mod guarantee;

pub use convergence::{
    covering_radius, inner_suboptimality, inner_turns, oracle_suboptimality, swap_regret,
    swap_regret_step, swap_regret_turns, swap_regret_with,
};
pub use generalization::{
    Smoothness, continuous_generalization, continuous_radius, covering_generalization,
    finite_class, linear_rademacher, ln_covering_size, rademacher_generalization, theorem_1,
    theorem_2,
};
pub use guarantee::{Baseline, Errors};
