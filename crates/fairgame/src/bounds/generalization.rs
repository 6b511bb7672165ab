//! How far a loss on a sample may be from its expectation: G̃_train and G̃_val.

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
    let radius = super::covering_radius(epsilon, proxy_size);
    let covering = ln_covering_size(constraints, radius);
    covering_generalization(constraints, covering, rows, delta, loss_range)
}

/// What Theorem 2 asks to be known of the losses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Smoothness {
    /// μ: the objective and proxy losses are μ-strongly convex.
    pub convexity: f64,
    /// L: the constraint losses are L-Lipschitz in θ. Decisions of 0 and 1 are not; their proxies may be.
    pub lipschitz: f64,
    /// B_ℓ: at least the range of every constraint loss.
    pub loss_range: f64,
    /// B_ℓ̃: at least the size of the objective and every proxy loss.
    pub proxy_size: f64,
}

/// Proof of Theorem 2: the radius r = m·μ·B_ℓ²/(32·L²·B_ℓ̃·|S_val|) of the covering that its bound is made with.
/// Algorithm 2 itself has no covering.
pub fn continuous_radius(constraints: usize, rows: usize, smooth: Smoothness) -> f64 {
    let Smoothness { convexity, lipschitz, loss_range, proxy_size } = smooth;
    constraints as f64 * convexity * loss_range * loss_range
        / (32.0 * lipschitz * lipschitz * proxy_size * rows as f64)
}

/// Lemma "continuous-generalization": how far Algorithm 2's losses on val are from the truth, for any covering radius r
/// and any number T_θ of inner steps:
///
/// ```text
/// 2L·√(4r·B_ℓ̃/μ) + (2L·B_Δ̌/μ)·√((1 + ln T_θ)/T_θ) + B_ℓ·√(ln(2m·|C_r|/δ)/(2·|S_val|))
/// ```
pub fn continuous_generalization(
    constraints: usize,
    rows: usize,
    delta: f64,
    (inner_turns, subgradient): (f64, f64),
    radius: f64,
    smooth: Smoothness,
) -> f64 {
    let Smoothness { convexity, lipschitz, loss_range, proxy_size } = smooth;
    let covering = ln_covering_size(constraints, radius);
    2.0 * lipschitz * (4.0 * radius * proxy_size / convexity).sqrt()
        + 2.0 * lipschitz * subgradient / convexity
            * ((1.0 + inner_turns.ln()) / inner_turns).sqrt()
        + covering_generalization(constraints, covering, rows, delta, loss_range)
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

/// Table 2: G̃_train(Θ) ≤ 2·R_n(ℓ∘F) + B_ℓ̃·√(2·ln(2(m+1)/δ)/n), the standard bound by a Rademacher complexity, for the
/// objective and m proxies at once.
///
/// B_ℓ̃ is of a single row here, |ℓ̃(x; θ)| ≤ B_ℓ̃ for every x ([`Scales::proxy_row`](crate::algorithm::Scales::proxy_row)): the
/// loss of a whole sample is bounded by less, and would make the bound too small. Of a rate of a tenth of the rows, a
/// single row counts ten times.
///
/// R_n is the largest Rademacher complexity E sup_θ (1/n)·Σ_i σ_i·ℓ(x_i; θ) of the m + 1 losses. The paper gives only
/// the order O(R_n + √(ln(1/δ)/n)); the constants are those of symmetrisation and of McDiarmid's inequality for losses of
/// width 2·B_ℓ̃, on both sides and for each loss.
pub fn rademacher_generalization(
    complexity: f64,
    constraints: usize,
    rows: usize,
    delta: f64,
    row_size: f64,
) -> f64 {
    let losses = constraints as f64 + 1.0;
    2.0 * complexity + row_size * (2.0 * (2.0 * losses / delta).ln() / rows as f64).sqrt()
}

/// R_n ≤ L·R/√n for a linear model with ‖θ‖₂ ≤ R whose losses of single rows are L-Lipschitz in θ: by contraction it is
/// no more than that of θ ↦ L·⟨θ, u⟩ over unit vectors u.
pub fn linear_rademacher(lipschitz: f64, radius: f64, rows: usize) -> f64 {
    lipschitz * radius / (rows as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::{covering_radius, inner_turns};
    use crate::random::Stream;

    fn near(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 1e-6 * (1.0 + wanted.abs()), "{found} is not {wanted}");
    }

    const SMOOTH: Smoothness =
        Smoothness { convexity: 0.1, lipschitz: 1.0, loss_range: 1.0, proxy_size: 2.0 };

    /// Worked by hand, with a calculator.
    #[test]
    fn by_hand() {
        // 3 · ln 200
        near(ln_covering_size(3, 0.025), 15.894_952_1);
        // √((4 · ln(10/0.1) + ln(8/0.05)) / 2,000) = √((18.420681 + 5.075174)/2,000)
        near(theorem_1(4, 1000, 0.05, 0.1, 1.0, 1.0), 0.108_388_3);
        near(finite_class(0.0, 50, 0.05, 2.0), 2.0 * (40.0_f64.ln() / 100.0).sqrt());
        // √(8/10,000 · ln(160·2·10,000/0.4)) + √(ln(160)/20,000) + 2·√0.02
        near(theorem_2(4, 10_000, 0.05, 0.001, SMOOTH), 0.112_765_1 + 0.015_929_8 + 0.282_842_7);
        // 4 · 0.1 · 1² / (32 · 1² · 2 · 10,000)
        near(continuous_radius(4, 10_000, SMOOTH), 6.25e-7);
        // 2·√(4 · 0.001 · 2/0.1) + (2·3/0.1)·√((1 + ln 100)/100) + √((4·ln 5,000 + ln 160)/20,000)
        let found = continuous_generalization(4, 10_000, 0.05, (100.0, 3.0), 0.001, SMOOTH);
        near(found, 0.565_685_4 + 14.205_144_4 + 0.044_240_3);
        // 2 · 0.01 + 3·√(2·ln(2·5/0.05)/1,000)
        near(rademacher_generalization(0.01, 4, 1_000, 0.05, 3.0), 0.328_819_9);
        near(linear_rademacher(2.0, 5.0, 400), 0.5);
    }

    /// What is printed as Theorem 1 is Lemma "discrete-generalization" with the covering put in.
    #[test]
    fn theorem_1_is_as_printed() {
        let cases: [(u32, u32, f64, f64); 3] =
            [(1, 100, 0.5, 1.0), (8, 5000, 0.05, 3.0), (30, 100_000, 0.01, 1.5)];
        for (m, n, epsilon, size) in cases {
            let found = theorem_1(m as usize, n as usize, 0.05, epsilon, 2.0, size);
            let covering = ln_covering_size(m as usize, covering_radius(epsilon, size));
            near(found, covering_generalization(m as usize, covering, n as usize, 0.05, 2.0));
            let (m, n) = (f64::from(m), f64::from(n));
            let inside = m * (10.0 * size / epsilon).ln() + (2.0 * m / 0.05).ln();
            near(found, 2.0 * (inside / (2.0 * n)).sqrt());
        }
    }

    /// Theorem 2 is the lemma with its radius and its T_θ put in, and square roots of sums taken apart: never less than
    /// the lemma, and the printed last term would be.
    #[test]
    fn theorem_2_is_no_less_than_its_lemma() {
        for epsilon in [0.1, 0.01, 0.001] {
            for (m, rows, subgradient) in [(1, 500, 2.0), (4, 10_000, 5.0), (19, 100_000, 10.0)] {
                let turns = inner_turns(epsilon, subgradient, SMOOTH.convexity);
                let radius = continuous_radius(m, rows, SMOOTH);
                let inner = (turns, subgradient);
                let lemma = continuous_generalization(m, rows, 0.05, inner, radius, SMOOTH);
                let theorem = theorem_2(m, rows, 0.05, epsilon, SMOOTH);
                assert!(lemma <= theorem * (1.0 + 1e-9), "{lemma} above {theorem}");
                let printed = 2.0 * SMOOTH.lipschitz * epsilon * (2.0 / SMOOTH.convexity).sqrt();
                let ours = 2.0 * SMOOTH.lipschitz * (2.0 * epsilon / SMOOTH.convexity).sqrt();
                assert!(theorem - ours + printed < lemma, "the printed term would do");
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

    /// Over 1,000 samples, the Rademacher bound holds for every θ of a ball: of ℓ(x; θ) = ⟨θ, x⟩ with x uniform on the
    /// unit circle, whose mean is 0, the largest mean over ‖θ‖ ≤ R is R times the length of the mean of x.
    #[test]
    fn the_rademacher_bound_holds() {
        let (rows, radius, delta) = (100, 3.0, 0.1);
        let complexity = linear_rademacher(1.0, radius, rows);
        let bound = rademacher_generalization(complexity, 0, rows, delta, radius);
        let mut stream = Stream::new(12, "circle");
        let (mut failures, mut sum) = (0, 0.0);
        for _ in 0..1000 {
            let (mut x, mut y) = (0.0, 0.0);
            for _ in 0..rows {
                let turn = std::f64::consts::TAU * stream.unit();
                (x, y) = (x + turn.cos() / rows as f64, y + turn.sin() / rows as f64);
            }
            let worst = radius * x.hypot(y);
            sum += worst;
            failures += usize::from(worst >= bound);
        }
        assert!(failures <= 100, "{failures} of 1,000");
        // The complexity itself is no waste: the mean deviation is within a small factor of it.
        let mean = sum / 1000.0;
        assert!(mean <= 2.0 * complexity && mean > 0.5 * complexity, "{mean} {complexity}");
    }
}
