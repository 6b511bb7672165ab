//! What the theorems say of the classifier: how far from the best, and how far a constraint may be violated.

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

    /// The least that λ̄₁ can be where some θ' meets all *proxy* constraints by a margin γ:
    /// (γ − ε_θ − ε_λ − 2·G̃_train − G̃_val)/(γ + B_ℓ₀). At 0 or below it says nothing.
    ///
    /// The paper prints "E\[ℓ_i(x; θ')\] ≤ −γ", of the constraints themselves. Its proof and its table of notation have
    /// the proxies, and so it must be: the model player only sees proxies. Where these cannot be met, λ̄₁ may go to 0
    /// however well the constraints could be (`tests/theorems.rs` has such a game).
    pub fn least_objective_weight(self, proxy_margin: f64, objective_range: f64) -> f64 {
        (proxy_margin - self.total()) / (proxy_margin + objective_range)
    }

    /// Table 1's assumption for two datasets: ε_θ + ε_λ + 2·G̃_train + G̃_val ≤ γ/2, with γ the margin of the proxy
    /// constraints. Then λ̄₁ is at least γ/2/(γ + B_ℓ₀), a constant of the problem.
    pub fn within(self, proxy_margin: f64) -> bool {
        self.total() <= proxy_margin / 2.0
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
    /// How much worse than the best feasible model: ε + (2 + ‖λ̄‖₁)·G̃_train.
    ///
    /// The paper prints ε + 2·G̃_train, which is false. Its proof compares with the best model that is feasible on the
    /// training rows, and the theorem with the best that is feasible in the population; these are other models. With θ*
    /// feasible in the population,
    ///
    /// ```text
    /// Ê[ℓ₀(θ̄)] ≤ Ê[ℓ₀(θ*)] + Σ_i λ̄_i·Ê[ℓ_i(θ*)] + ε ≤ E[ℓ₀(θ*)] + G̃ + ‖λ̄‖₁·G̃ + ε,
    /// ```
    ///
    /// and one more G̃ leads from Ê[ℓ₀(θ̄)] to E[ℓ₀(θ̄)]. `tests/theorems.rs` has a case in which the printed bound is
    /// .2 and the truth .909.
    pub fn suboptimality(self, multipliers: f64) -> f64 {
        self.epsilon + (2.0 + multipliers) * self.train
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

    /// Table 1's assumption for one dataset: G̃_train ≤ γ/2. Then ‖λ̄‖₁ is at most 2·(ε + B_ℓ₀)/γ.
    pub fn within(self, margin: f64) -> bool {
        self.train <= margin / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 1e-9, "{found} is not {wanted}");
    }

    /// Worked by hand.
    #[test]
    fn by_hand() {
        let errors = Errors { model: 0.03, constraint: 0.01, train: 0.02, val: 0.05 };
        near(errors.suboptimality(0.5), 0.26);
        near(errors.infeasibility(0.5), 0.07);
        near(errors.least_objective_weight(0.33, 0.67), 0.2);
        // The four add up to 0.13.
        assert!(errors.within(0.261) && !errors.within(0.259));
        let baseline = Baseline { epsilon: 0.1, train: 0.02 };
        near(baseline.suboptimality(3.0), 0.2);
        near(baseline.infeasibility(5.0, 3.0), 0.07);
        near(baseline.most_multipliers(0.12, 1.0), 11.0);
        assert_eq!(baseline.most_multipliers(0.01, 1.0), f64::INFINITY);
        assert!(baseline.within(0.041) && !baseline.within(0.039));
    }

    /// Where Table 1's assumptions hold, what they are for holds.
    #[test]
    fn the_assumptions_are_enough() {
        for margin in [0.2, 1.0] {
            let train = margin / 8.0;
            let errors = Errors { model: 0.0, constraint: margin / 16.0, train, val: margin / 8.0 };
            assert!(errors.within(margin));
            let least = errors.least_objective_weight(margin, 1.0);
            assert!(least >= margin / 2.0 / (margin + 1.0));
            let baseline = Baseline { epsilon: 0.01, train: margin / 2.0 };
            assert!(baseline.within(margin));
            assert!(baseline.most_multipliers(margin, 1.0) <= 2.0 * 1.01 / margin + 1e-12);
        }
    }
}
