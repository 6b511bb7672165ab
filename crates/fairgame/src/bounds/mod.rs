//! The theorems of Cotter et al. 2018 as numbers: how many turns, what step, how far off at most.
//!
//! Every function is a formula of the paper, named after the result it comes from. Symbols:
//!
//! | here | paper | what it is |
//! |---|---|---|
//! | `constraints` | m | how many constraints there are |
//! | `rows` | \|S\| | how many rows the sample has |
//! | `delta` | δ | the bound fails with at most this probability |
//! | `epsilon` | ε | how near to an equilibrium the game gets |
//! | `loss_range` | B_ℓ | at least b_i − a_i for every constraint loss in \[a_i, b_i\] |
//! | `proxy_size` | B_ℓ̃ | at least \|ℓ\| for the objective and every proxy loss |
//! | `objective_range` | B_ℓ₀ | at least the range of the expected objective |
//! | `gradient` | B_Δ | at least ‖Δ‖_∞ of the constraint player's gradients |
//! | `subgradient` | B_Δ̌ | at least ‖Δ̌‖₂ of the model player's subgradients |
//! | `convexity` | μ | the objective and proxy losses are μ-strongly convex |
//! | `lipschitz` | L | the constraint losses are L-Lipschitz |
//! | `margin` | γ | some θ' meets every constraint by this much |
//! | `train`, `val` | G̃_train, G̃_val | generalization errors of the two samples |
//! | `approximation` | ρ | how far the oracle is from the best |
//!
//! Arguments are positive numbers; what comes out of others is NaN or infinite, never a panic.

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

/// Lemma "covering-number": the logarithm of (5/r)^m, the size of a covering of the simplex with
/// radius r ≤ 1 in the 1-norm. A logarithm, because the number itself is soon beyond any float.
pub fn ln_covering_size(constraints: usize, radius: f64) -> f64 {
    constraints as f64 * (5.0 / radius).ln().max(0.0)
}

/// Lemma "finite-generalization": B_ℓ·√(ln(2·|Θ|/δ)/(2·|S|)), how far the average loss on a sample is
/// from its expectation, for all of |Θ| models that were chosen without the sample.
///
/// ```
/// use fairgame::bounds::finite_class;
/// // 100 models, 1,000 rows, δ = 0.05: √(ln 4,000 / 2,000).
/// assert!((finite_class(100.0_f64.ln(), 1000, 0.05, 1.0) - 0.064_397).abs() < 1e-6);
/// ```
pub fn finite_class(ln_models: f64, rows: usize, delta: f64, loss_range: f64) -> f64 {
    loss_range * (((2.0 / delta).ln() + ln_models) / (2.0 * rows as f64)).sqrt()
}

/// Lemma "discrete-generalization": [`finite_class`] for m constraints at once, over the models of a
/// covering.
pub fn covering_generalization(
    constraints: usize,
    ln_covering: f64,
    rows: usize,
    delta: f64,
    loss_range: f64,
) -> f64 {
    finite_class((constraints as f64).ln() + ln_covering, rows, delta, loss_range)
}

/// Theorem 1: B_ℓ·√((m·ln(10·B_ℓ̃/ε) + ln(2m/δ))/(2·|S_val|)), Algorithm 1's validation generalization.
///
/// It does not depend on how many parameters the model has.
pub fn theorem_1(
    constraints: usize,
    rows: usize,
    delta: f64,
    epsilon: f64,
    loss_range: f64,
    proxy_size: f64,
) -> f64 {
    let covering = ln_covering_size(constraints, covering_radius(epsilon, proxy_size));
    covering_generalization(constraints, covering, rows, delta, loss_range)
}

/// What Theorem 2 asks to be known of the losses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Smoothness {
    /// μ: the objective and proxy losses are μ-strongly convex.
    pub convexity: f64,
    /// L: the constraint losses are L-Lipschitz in θ.
    pub lipschitz: f64,
    /// B_ℓ: at least the range of every constraint loss.
    pub loss_range: f64,
    /// B_ℓ̃: at least the size of the objective and every proxy loss.
    pub proxy_size: f64,
}

/// Theorem 2's bound on Algorithm 2's validation generalization:
///
/// ```text
/// B_ℓ·√((2m/|S|)·max{1, ln(160·L²·B_ℓ̃·|S| / (m·μ·B_ℓ²))}) + B_ℓ·√(ln(2m/δ)/(2|S|)) + 2L·√(2ε/μ)
/// ```
///
/// The paper prints the last term as 2L·ε·√(2/μ). Its proof substitutes T_θ into
/// (2L·B_Δ̌/μ)·√((1 + ln T_θ)/T_θ), which is at most 2L·√(2ε/μ), and for ε < 1 that is the larger of the
/// two; it is what stands here.
pub fn theorem_2(
    constraints: usize,
    rows: usize,
    delta: f64,
    epsilon: f64,
    smooth: Smoothness,
) -> f64 {
    let Smoothness { convexity, lipschitz, loss_range, proxy_size } = smooth;
    let (m, n) = (constraints as f64, rows as f64);
    let inside =
        160.0 * lipschitz * lipschitz * proxy_size * n / (m * convexity * loss_range * loss_range);
    loss_range * (2.0 * m / n * inside.ln().max(1.0)).sqrt()
        + loss_range * ((2.0 * m / delta).ln() / (2.0 * n)).sqrt()
        + 2.0 * lipschitz * (2.0 * epsilon / convexity).sqrt()
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

/// The errors that the guarantees of Theorems 1 and 2 add up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Errors {
    /// ε_θ: how far the model player is from the best response (ρ + ε in Theorem 1, ε in Theorem 2).
    pub model: f64,
    /// ε_λ: the constraint player's swap regret.
    pub constraint: f64,
    /// G̃_train(Θ): the generalization error of the training sample, over all models.
    pub train: f64,
    /// G̃_val(Θ̂): the generalization error of the validation sample, over the iterates.
    pub val: f64,
}

impl Errors {
    /// ε_θ + ε_λ + 2·G̃_train + G̃_val.
    fn total(self) -> f64 {
        self.model + self.constraint + 2.0 * self.train + self.val
    }

    /// How much worse than the best that meets the proxy constraints the classifier's objective is:
    /// (ε_θ + ε_λ + 2·G̃_train + G̃_val) / λ̄₁.
    pub fn suboptimality(self, objective_weight: f64) -> f64 {
        self.total() / objective_weight
    }

    /// How far a constraint is violated at most: ε_λ/λ̄₁ + G̃_val.
    pub fn infeasibility(self, objective_weight: f64) -> f64 {
        self.constraint / objective_weight + self.val
    }

    /// The least that λ̄₁ can be where some θ' meets all constraints by a margin γ:
    /// (γ − ε_θ − ε_λ − 2·G̃_train − G̃_val)/(γ + B_ℓ₀). At 0 or below it says nothing.
    pub fn least_objective_weight(self, margin: f64, objective_range: f64) -> f64 {
        (margin - self.total()) / (margin + objective_range)
    }
}

/// The guarantees of the one-dataset Lagrangian baseline, whose multipliers have ‖λ‖₁ ≤ R.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Baseline {
    /// ε: how near to an equilibrium the game gets.
    pub epsilon: f64,
    /// G̃_train(Θ): the generalization error of the one sample, over all models.
    pub train: f64,
}

impl Baseline {
    /// How much worse than the best feasible model: ε + 2·G̃_train.
    pub fn suboptimality(self) -> f64 {
        self.epsilon + 2.0 * self.train
    }

    /// How far a constraint is violated at most: ε/(R − ‖λ̄‖₁) + G̃_train.
    pub fn infeasibility(self, radius: f64, multipliers: f64) -> f64 {
        self.epsilon / (radius - multipliers) + self.train
    }

    /// The most that ‖λ̄‖₁ can be where some θ' meets all constraints by a margin γ > G̃_train:
    /// (ε + B_ℓ₀)/(γ − G̃_train). Where γ is not above, there is no bound.
    pub fn most_multipliers(self, margin: f64, objective_range: f64) -> f64 {
        if margin > self.train {
            (self.epsilon + objective_range) / (margin - self.train)
        } else {
            f64::INFINITY
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

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
        near(covering_radius(0.1, 2.0), 0.025);
        // 3 · ln 200
        near(ln_covering_size(3, 0.025), 15.894_952_1);
        // √((4 · ln(10/0.1) + ln(8/0.05)) / 2,000) = √((18.420681 + 5.075174)/2,000)
        near(theorem_1(4, 1000, 0.05, 0.1, 1.0, 1.0), 0.108_388_3);
        near(finite_class(0.0, 50, 0.05, 2.0), 2.0 * (40.0_f64.ln() / 100.0).sqrt());
        // 1²·(1 + ln 100)/(2 · 0.5 · 100)
        near(inner_suboptimality(100.0, 1.0, 0.5), 0.056_051_7);
        // (1/(0.5 · 0.01)) · ln 200 = 200 · 5.298317… = 1,059.66…
        near(inner_turns(0.01, 1.0, 0.5), 1060.0);
        let smooth =
            Smoothness { convexity: 0.1, lipschitz: 1.0, loss_range: 1.0, proxy_size: 2.0 };
        // √(8/10,000 · ln(160·2·10,000/0.4)) + √(ln(160)/20,000) + 2·√0.02
        near(theorem_2(4, 10_000, 0.05, 0.001, smooth), 0.112_765_1 + 0.015_929_8 + 0.282_842_7);

        let errors = Errors { model: 0.03, constraint: 0.01, train: 0.02, val: 0.05 };
        near(errors.suboptimality(0.5), 0.26);
        near(errors.infeasibility(0.5), 0.07);
        near(errors.least_objective_weight(0.33, 0.67), 0.2);
        let baseline = Baseline { epsilon: 0.1, train: 0.02 };
        near(baseline.suboptimality(), 0.14);
        near(baseline.infeasibility(5.0, 3.0), 0.07);
        near(baseline.most_multipliers(0.12, 1.0), 11.0);
        assert_eq!(baseline.most_multipliers(0.01, 1.0), f64::INFINITY);
    }

    /// What is printed as Theorem 1 is Lemma "discrete-generalization" with the covering put in.
    #[test]
    fn theorem_1_is_as_printed() {
        let cases: [(u32, u32, f64, f64); 3] =
            [(1, 100, 0.5, 1.0), (8, 5000, 0.05, 3.0), (30, 100_000, 0.01, 1.5)];
        for (m, n, epsilon, size) in cases {
            let found = theorem_1(m as usize, n as usize, 0.05, epsilon, 2.0, size);
            let (m, n) = (f64::from(m), f64::from(n));
            let inside = m * (10.0 * size / epsilon).ln() + (2.0 * m / 0.05).ln();
            near(found, 2.0 * (inside / (2.0 * n)).sqrt());
        }
    }

    /// The theorem's T_θ makes the lemma's ε_θ at most ε, and the proof's last term at most Theorem 2's.
    #[test]
    fn inner_turns_are_enough() {
        for epsilon in [0.5, 0.1, 0.01, 0.001] {
            for (subgradient, convexity) in [(1.0, 0.1), (3.0, 1.0), (10.0, 0.01)] {
                let turns = inner_turns(epsilon, subgradient, convexity);
                assert!(inner_suboptimality(turns, subgradient, convexity) <= epsilon);
                let ratio = subgradient * subgradient / (convexity * epsilon);
                if ratio >= 5.0 {
                    let last = 2.0 * subgradient / convexity * ((1.0 + turns.ln()) / turns).sqrt();
                    assert!(last <= 2.0 * (2.0 * epsilon / convexity).sqrt() * 1.000_001);
                }
            }
        }
    }

    /// Over 1,000 samples, the finite-class bound fails no more often than it may.
    #[test]
    fn the_finite_class_bound_holds() {
        let (rows, models, confidence) = (200, 20, 0.1);
        let mut stream = Stream::new(11, "bounds");
        // Each model errs with a probability of its own, on each row independently.
        let rates: Vec<f64> = (0..models).map(|_| stream.unit()).collect();
        let bound = finite_class((models as f64).ln(), rows, confidence, 1.0);
        let mut failures = 0;
        for _ in 0..1000 {
            let worst = rates.iter().map(|rate| {
                let wrong = (0..rows).filter(|_| stream.unit() < *rate).count();
                (wrong as f64 / rows as f64 - rate).abs()
            });
            failures += usize::from(worst.fold(0.0, f64::max) >= bound);
        }
        // 100 may fail; so few do that three standard deviations (28) do not matter.
        assert!(failures <= 100, "{failures} of 1,000");
    }
}
