//! How near to an equilibrium the players get: turns, steps, and how far off they end.

/// Lemma "discrete-convergence": ε_λ = 2·B_Δ·√((m+1)·ln(m+1)/T), the average swap regret of the
/// constraint player after T turns with [`swap_regret_step`].
///
/// ```
/// use fairgame::bounds::swap_regret;
/// // m = 1, T = 10,000, B = 1: 2·√(2·ln 2 / 10,000).
/// assert!((swap_regret(1, 10_000.0, 1.0) - 0.023_548_2).abs() < 1e-7);
/// ```
pub fn swap_regret(constraints: usize, turns: f64, gradient: f64) -> f64 {
    2.0 * gradient * (size(constraints) / turns).sqrt()
}

/// The average swap regret after T turns with any step: (m+1)·ln(m+1)/(η·T) + η·B_Δ².
///
/// Each column j of M is a multiplicative-weights learner whose gains Δ_i·λ_j are at most B_Δ·λ_j either way, so that its
/// regret is at most ln(m+1)/η + η·B_Δ²·Σ_t λ_j². Over the m+1 columns, Σ_j λ_j² is at most 1. With the η of
/// [`swap_regret_step`] this is [`swap_regret`]. It is what holds where a game ends early, or its step was set.
pub fn swap_regret_with(constraints: usize, turns: f64, gradient: f64, step: f64) -> f64 {
    size(constraints) / (step * turns) + step * gradient * gradient
}

/// Theorems 1 and 2: T ≥ 4·B_Δ²·(m+1)·ln(m+1)/ε², the turns after which the swap regret is at most ε.
///
/// ```
/// use fairgame::bounds::{swap_regret, swap_regret_turns};
/// let turns = swap_regret_turns(8, 0.05, 1.0);
/// assert!(swap_regret(8, turns, 1.0) <= 0.05);
/// assert!(swap_regret(8, turns - 1.0, 1.0) > 0.05);
/// ```
pub fn swap_regret_turns(constraints: usize, epsilon: f64, gradient: f64) -> f64 {
    (4.0 * gradient * gradient * size(constraints) / (epsilon * epsilon)).ceil()
}

/// Theorems 1 and 2: η_λ = √((m+1)·ln(m+1)/(T·B_Δ²)), the constraint player's step.
pub fn swap_regret_step(constraints: usize, turns: f64, gradient: f64) -> f64 {
    (size(constraints) / turns).sqrt() / gradient
}

/// (m+1)·ln(m+1).
fn size(constraints: usize) -> f64 {
    let all = constraints as f64 + 1.0;
    all * all.ln()
}

/// Proof of Theorem 1: the covering's radius r = ε / (2·B_ℓ̃).
pub fn covering_radius(epsilon: f64, proxy_size: f64) -> f64 {
    epsilon / (2.0 * proxy_size)
}

/// Lemma "discrete-convergence": ε_θ = ρ + 2·r·B_ℓ̃, how far the oracle's answer to the nearest centre of a covering is
/// from the best answer to λ itself.
///
/// ```
/// use fairgame::bounds::{covering_radius, oracle_suboptimality};
/// // With Theorem 1's radius it is ρ + ε.
/// let radius = covering_radius(0.1, 3.0);
/// assert!((oracle_suboptimality(0.02, radius, 3.0) - 0.12).abs() < 1e-15);
/// ```
pub fn oracle_suboptimality(approximation: f64, radius: f64, proxy_size: f64) -> f64 {
    approximation + 2.0 * radius * proxy_size
}

/// Lemma "continuous-convergence": ε_θ = B_Δ̌²·(1 + ln T_θ)/(2μ·T_θ), how far T_θ inner steps of
/// Algorithm 2 are from the best.
pub fn inner_suboptimality(turns: f64, subgradient: f64, convexity: f64) -> f64 {
    subgradient * subgradient * (1.0 + turns.ln()) / (2.0 * convexity * turns)
}

/// Theorem 2: T_θ ≥ (B_Δ̌²/(με))·ln(B_Δ̌²/(με)), and at least 1.
pub fn inner_turns(epsilon: f64, subgradient: f64, convexity: f64) -> f64 {
    let ratio = subgradient * subgradient / (convexity * epsilon);
    (ratio * ratio.ln()).ceil().max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 1e-6 * (1.0 + wanted.abs()), "{found} is not {wanted}");
    }

    /// Worked by hand, with a calculator.
    #[test]
    fn by_hand() {
        // 4 · 2² · 9 · ln 9 / 0.1² = 16 · 19.775021… · 100
        near(swap_regret_turns(8, 0.1, 2.0), 31_641.0);
        // √(9 · ln 9 / 31,641) / 2
        near(swap_regret_step(8, 31_641.0, 2.0), 0.012_499_9);
        // 2 · ln 2 / (0.01 · 5,000) + 0.01 · 3²
        near(swap_regret_with(1, 5_000.0, 3.0, 0.01), 0.117_725_9);
        near(covering_radius(0.1, 2.0), 0.025);
        // 0.01 + 2 · 0.03 · 4
        near(oracle_suboptimality(0.01, 0.03, 4.0), 0.25);
        // 1²·(1 + ln 100)/(2 · 0.5 · 100)
        near(inner_suboptimality(100.0, 1.0, 0.5), 0.056_051_7);
        // (1/(0.5 · 0.01)) · ln 200 = 200 · 5.298317… = 1,059.66…
        near(inner_turns(0.01, 1.0, 0.5), 1060.0);
    }

    /// The theorem's step is the best there is: the regret is the lemma's, and any other step's is larger.
    #[test]
    fn the_step_of_the_theorem_is_best() {
        for (constraints, turns, gradient) in [(1, 100.0, 1.0), (8, 5_000.0, 3.0)] {
            let step = swap_regret_step(constraints, turns, gradient);
            let least = swap_regret(constraints, turns, gradient);
            near(swap_regret_with(constraints, turns, gradient, step), least);
            for times in [0.5, 0.9, 1.1, 2.0] {
                assert!(swap_regret_with(constraints, turns, gradient, times * step) > least);
            }
        }
    }

    /// The theorem's T_θ makes the lemma's ε_θ at most ε.
    #[test]
    fn inner_turns_are_enough() {
        for epsilon in [0.5, 0.1, 0.01, 0.001] {
            for (subgradient, convexity) in [(1.0, 0.1), (3.0, 1.0), (10.0, 0.01)] {
                let turns = inner_turns(epsilon, subgradient, convexity);
                assert!(inner_suboptimality(turns, subgradient, convexity) <= epsilon);
            }
        }
    }
}
