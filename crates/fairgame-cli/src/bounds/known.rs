//! What is known of a problem, and what follows from it: line by line.

use fairgame::Result;
use fairgame::bounds::{self, Baseline, Errors, Smoothness};
use serde_json::json;

use super::settings;

/// What a line's number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A number.
    Number,
    /// Something counted.
    Count,
    /// Whether something holds: 1 or 0.
    Holds,
}

/// A symbol, what it is, and its number if it has one.
pub(super) struct Line {
    pub(super) symbol: &'static str,
    pub(super) key: &'static str,
    pub(super) what: &'static str,
    pub(super) value: Option<f64>,
    pub(super) kind: Kind,
}

fn line(symbol: &'static str, key: &'static str, what: &'static str, value: Option<f64>) -> Line {
    Line { symbol, key, what, value, kind: Kind::Number }
}

/// A line of a whole number.
fn count(symbol: &'static str, key: &'static str, what: &'static str, value: Option<f64>) -> Line {
    Line { symbol, key, what, value, kind: Kind::Count }
}

/// A line of whether something holds.
fn holds(symbol: &'static str, key: &'static str, what: &'static str, value: Option<bool>) -> Line {
    Line { symbol, key, what, value: value.map(f64::from), kind: Kind::Holds }
}

impl Line {
    pub(super) fn json(&self) -> serde_json::Value {
        match (self.kind, self.value) {
            // More than that is a whole number, but not one of JSON.
            (Kind::Count, Some(value)) if value < u64::MAX as f64 => json!(value as u64),
            (Kind::Holds, Some(value)) => json!(value > 0.0),
            (_, value) => json!(value),
        }
    }
}

/// The numbers that the theorems are about; those that are not known say nothing.
pub(super) struct Known {
    pub(super) constraints: usize,
    pub(super) rows: usize,
    pub(super) epsilon: f64,
    pub(super) delta: f64,
    pub(super) gradient: Option<f64>,
    pub(super) loss: Option<f64>,
    pub(super) proxy: Option<f64>,
    /// B_ℓ̃ of a single row, which G̃_train is made of; of losses of whole samples, it would be too small.
    pub(super) proxy_row: Option<f64>,
    pub(super) subgradient: Option<f64>,
    pub(super) convexity: Option<f64>,
    /// B_ℓ of the losses that L is of.
    pub(super) smooth_loss: Option<f64>,
    pub(super) lipschitz: Option<f64>,
    pub(super) rho: f64,
    pub(super) gamma: Option<f64>,
    pub(super) objective_range: Option<f64>,
    pub(super) objective_weight: Option<f64>,
    pub(super) train_rows: usize,
    pub(super) rademacher: Option<f64>,
    pub(super) g_train: Option<f64>,
    pub(super) multiplier_bound: f64,
    pub(super) multiplier_norm: Option<f64>,
}

impl Known {
    /// Refuses numbers that the theorems say nothing about.
    pub(super) fn check(&self) -> Result<()> {
        if !(self.delta > 0.0 && self.delta < 1.0) {
            return Err(settings(format!("a delta of {} is no probability", self.delta))
                .help("give --delta a number between 0 and 1"));
        }
        let wrong = |flag: &str, number: f64, least: &str| {
            Err(settings(format!("the theorems say nothing where {flag} is {number}"))
                .help(format!("give --{flag} a number {least}")))
        };
        for (flag, number) in [
            ("epsilon", Some(self.epsilon)),
            ("gradient", self.gradient),
            ("loss", self.loss),
            ("proxy", self.proxy),
            ("subgradient", self.subgradient),
            ("lipschitz", self.lipschitz),
            ("gamma", self.gamma),
            ("objective-range", self.objective_range),
            ("objective-weight", self.objective_weight),
            ("train-rows", Some(self.train_rows as f64)),
            ("multiplier-bound", Some(self.multiplier_bound)),
        ] {
            if let Some(number) = number.filter(|number| !(*number > 0.0 && number.is_finite())) {
                return wrong(flag, number, "above 0");
            }
        }
        for (flag, number) in [
            ("rho", Some(self.rho)),
            ("rademacher", self.rademacher),
            ("g-train", self.g_train),
            ("multiplier-norm", self.multiplier_norm),
        ] {
            if let Some(number) = number.filter(|number| !(*number >= 0.0 && number.is_finite())) {
                return wrong(flag, number, "of 0 or more");
            }
        }
        if let Some(weight) = self.objective_weight.filter(|weight| *weight > 1.0) {
            return wrong("objective-weight", weight, "between 0 and 1");
        }
        if let Some(norm) = self.multiplier_norm.filter(|norm| *norm >= self.multiplier_bound) {
            return wrong("multiplier-norm", norm, "below --multiplier-bound");
        }
        Ok(())
    }

    pub(super) fn given(&self) -> Vec<Line> {
        vec![
            count("m", "constraints", "constraints", Some(self.constraints as f64)),
            count("|S_val|", "rows", "rows of the constraint player", Some(self.rows as f64)),
            count(
                "|S_train|",
                "train_rows",
                "rows of the model player",
                Some(self.train_rows as f64),
            ),
            line(
                "ε",
                "epsilon",
                "how far from an equilibrium the game may end",
                Some(self.epsilon),
            ),
            line(
                "δ",
                "delta",
                "how likely G̃_train may fail, and how likely G̃_val; what is made of both, with up to 2δ",
                Some(self.delta),
            ),
            line(
                "B_Δ",
                "gradient",
                "the most that a constraint's loss can be, either way",
                self.gradient,
            ),
            line("B_ℓ", "loss", "the width of the range of a single row's loss", self.loss),
            line("B_ℓ̃", "proxy", "the most that a proxy loss can be, either way", self.proxy),
            line(
                "B_ℓ₀",
                "objective_range",
                "the width of the range of the objective",
                self.objective_range,
            ),
            line(
                "B_Δ̌",
                "subgradient",
                "the most that the model player's slope can be",
                self.subgradient,
            ),
            line(
                "μ",
                "convexity",
                "strong convexity of the objective and the proxies",
                self.convexity,
            ),
            line(
                "L",
                "lipschitz",
                "how fast a single row's constraint loss changes with θ",
                self.lipschitz,
            ),
            line("ρ", "rho", "how far the oracle is from the best", Some(self.rho)),
            line("γ", "gamma", "the margin by which the proxy constraints can be met", self.gamma),
            line(
                "R_n",
                "rademacher",
                "Rademacher complexity of the objective and the proxies",
                self.rademacher,
            ),
            line(
                "R",
                "multiplier_bound",
                "bound on the baseline's multipliers",
                Some(self.multiplier_bound),
            ),
        ]
    }

    /// What Theorem 2 asks to be known of the losses.
    fn smooth(&self) -> Option<Smoothness> {
        Some(Smoothness {
            convexity: self.convexity?,
            lipschitz: self.lipschitz?,
            loss_range: self.smooth_loss?,
            proxy_size: self.proxy?,
        })
    }

    /// G̃_train: as given, or by the Rademacher complexity.
    fn train(&self) -> Option<f64> {
        self.g_train.or_else(|| {
            let (complexity, size) = self.rademacher.zip(self.proxy_row)?;
            let (m, rows) = (self.constraints, self.train_rows);
            Some(bounds::rademacher_generalization(complexity, m, rows, self.delta, size))
        })
    }

    pub(super) fn promised(&self) -> Vec<Line> {
        let &Known { constraints, rows, epsilon, delta, loss, proxy, convexity, .. } = self;
        let turns = self.gradient.map(|most| bounds::swap_regret_turns(constraints, epsilon, most));
        let step = self
            .gradient
            .zip(turns)
            .map(|(most, turns)| bounds::swap_regret_step(constraints, turns, most));
        let radius = proxy.map(|size| bounds::covering_radius(epsilon, size));
        let ln_size = radius.map(|radius| bounds::ln_covering_size(constraints, radius));
        let first = loss
            .zip(proxy)
            .map(|(range, size)| bounds::theorem_1(constraints, rows, delta, epsilon, range, size));
        let oracle = radius
            .zip(proxy)
            .map(|(radius, size)| bounds::oracle_suboptimality(self.rho, radius, size));
        let slopes = self.subgradient.zip(convexity);
        let inner = slopes.map(|(most, mu)| bounds::inner_turns(epsilon, most, mu));
        let descent = slopes
            .zip(inner)
            .map(|((most, mu), turns)| bounds::inner_suboptimality(turns, most, mu));
        let smooth = self.smooth();
        let second =
            smooth.map(|smooth| bounds::theorem_2(constraints, rows, delta, epsilon, smooth));
        let second_radius =
            smooth.map(|smooth| bounds::continuous_radius(constraints, rows, smooth));
        let lemma = smooth.zip(second_radius).zip(inner.zip(self.subgradient)).map(
            |((smooth, radius), inner)| {
                bounds::continuous_generalization(constraints, rows, delta, inner, radius, smooth)
            },
        );
        let mut lines = vec![
            count("T", "turns", "turns (Theorems 1 and 2)", turns),
            line("η_λ", "step", "the constraint player's step (Theorems 1 and 2)", step),
            line(
                "G̃_train",
                "g_train",
                "how far train may be from the truth (Table 2), by R_n and what one row can change",
                self.train(),
            ),
            line("r (1)", "radius", "the covering's radius (Theorem 1)", radius),
            line("ln |C_r|", "ln_covering", "the logarithm of its size, at most", ln_size),
            line(
                "ε_θ (1)",
                "model_1",
                "how far the model player is from the best (Theorem 1)",
                oracle,
            ),
            line("G̃_val (1)", "theorem_1", "how far val may be from the truth (Theorem 1)", first),
        ];
        lines.extend(self.of_theorem(FIRST, oracle, first));
        lines.extend([
            count("T_θ", "inner_turns", "inner turns (Theorem 2)", inner),
            line(
                "ε_θ (2)",
                "model_2",
                "how far the model player is from the best (Theorem 2)",
                descent,
            ),
            line(
                "r (2)",
                "radius_2",
                "the radius of the covering in its proof (Theorem 2)",
                second_radius,
            ),
            line(
                "G̃_val (lemma)",
                "continuous",
                "the same by the lemma, with these T_θ and r",
                lemma,
            ),
            line("G̃_val (2)", "theorem_2", "how far val may be from the truth (Theorem 2)", second),
        ]);
        lines.extend(self.of_theorem(SECOND, descent, lemma.or(second)));
        lines.extend(self.of_baseline());
        lines
    }

    /// What a theorem says of its mixture.
    fn of_theorem(&self, names: Names, model: Option<f64>, val: Option<f64>) -> [Line; 4] {
        let errors = model.zip(val).map(|(model, val)| Errors {
            model,
            constraint: self.epsilon,
            train: f64::NAN,
            val,
        });
        let whole = errors.zip(self.train()).map(|(errors, train)| Errors { train, ..errors });
        let least = whole
            .zip(self.gamma.zip(self.objective_range))
            .map(|(errors, (gamma, range))| errors.least_objective_weight(gamma, range));
        // At 0 or below it says nothing.
        let weight = self.objective_weight.or(least.filter(|least| *least > 0.0));
        let [least_name, within, suboptimality, infeasibility] = names.keys;
        [
            holds(
                names.symbols[0],
                within,
                "Table 1's assumption: ε_θ + ε + 2·G̃_train + G̃_val ≤ γ/2",
                whole.zip(self.gamma).map(|(errors, gamma)| errors.within(gamma)),
            ),
            line(
                names.symbols[1],
                least_name,
                "λ̄₁ at least, by γ; at 0 or below it says nothing",
                least,
            ),
            line(
                names.symbols[2],
                suboptimality,
                "how far the objective is above the best that meets the proxies, at most",
                whole.zip(weight).map(|(errors, weight)| errors.suboptimality(weight)),
            ),
            line(
                names.symbols[3],
                infeasibility,
                "how far a constraint is violated in the population, at most: ε/λ̄₁ + G̃_val",
                errors.zip(weight).map(|(errors, weight)| errors.infeasibility(weight)),
            ),
        ]
    }

    /// What the last appendix says of the one-dataset baseline.
    fn of_baseline(&self) -> [Line; 4] {
        let baseline = self.train().map(|train| Baseline { epsilon: self.epsilon, train });
        let by_margin = baseline
            .zip(self.gamma.zip(self.objective_range))
            .map(|(own, (gamma, range))| own.most_multipliers(gamma, range));
        // They are in a ball, whatever γ is.
        let most = by_margin.unwrap_or(f64::INFINITY).min(self.multiplier_bound);
        let norm = Some(self.multiplier_norm.unwrap_or(most));
        // At the edge of the ball, how far constraints are violated has no bound.
        let inside = norm.filter(|norm| *norm < self.multiplier_bound);
        [
            holds(
                "baseline",
                "baseline_assumption",
                "Table 1's assumption of one dataset: G̃_train ≤ γ/2",
                baseline.zip(self.gamma).map(|(own, gamma)| own.within(gamma)),
            ),
            line(
                "‖λ̄‖₁ ≤",
                "baseline_multipliers",
                "the baseline's multipliers at most: R, or less by γ",
                Some(most),
            ),
            line(
                "baseline",
                "baseline_suboptimality",
                "how far its objective is above the best feasible, at most: ε + (2 + ‖λ̄‖₁)·G̃_train",
                baseline.zip(norm).map(|(own, norm)| own.suboptimality(norm)),
            ),
            line(
                "baseline",
                "baseline_infeasibility",
                "how far it violates a constraint in the population, at most",
                baseline
                    .zip(inside)
                    .map(|(own, norm)| own.infeasibility(self.multiplier_bound, norm)),
            ),
        ]
    }
}

/// What the lines of a theorem are called.
#[derive(Clone, Copy)]
struct Names {
    symbols: [&'static str; 4],
    keys: [&'static str; 4],
}

const FIRST: Names = Names {
    symbols: ["(1)", "λ̄₁ (1) ≥", "objective (1)", "violation (1)"],
    keys: ["least_weight_1", "assumption_1", "suboptimality_1", "infeasibility_1"],
};

const SECOND: Names = Names {
    symbols: ["(2)", "λ̄₁ (2) ≥", "objective (2)", "violation (2)"],
    keys: ["least_weight_2", "assumption_2", "suboptimality_2", "infeasibility_2"],
};
