//! From kept models to one classifier: which, and how likely each.

use std::fmt;

use serde_json::{Value, json};

use super::shrink::{Epsilon, Shrunk, shrink};
use super::{Dataset, Iterates};
use crate::evaluate::normal;
use crate::rate::Side;
use crate::settings::{Fault, Place, Recipe, Wrong, declare};
use crate::{Error, ErrorKind, Result};

declare! {
    /// How a classifier is made of the models that were kept.
    #[derive(Copy)]
    pub enum Selection (default Selection::Shrink(ShrinkSpec::default())) (short "rule: one deterministic rule" one_rule) {
        /// Each with probability λ₁⁽ᵗ⁾/Σ_s λ₁⁽ˢ⁾, as in Theorems 1 and 2. Algorithms that have a theorem keep the models of
        /// all turns for it. With other algorithms, the sum is over the kept turns.
        Theorem = "theorem",
        /// Each turn's model with the same probability, as in the baseline's theorem. Algorithms that have a theorem keep the
        /// models of all turns for it.
        Uniform = "uniform",
        /// The last model alone.
        Last = "last",
        /// The best single model, by rank.
        Best = "best",
        /// The best mixture of at most one model more than there are constraints.
        Shrink(ShrinkSpec) = "shrink",
    }
}

declare! {
    /// What shrinking minimises, and under what.
    ///
    /// Constraints are always the exact ones on val, the constraint player's sample.
    #[derive(Copy)]
    pub struct ShrinkSpec {
        /// Whether the objective itself is minimised or its proxy.
        pub objective: Side = with(Side::Exact),
        /// The rows that the objective is measured on.
        pub on: Dataset = by(|recipe| match recipe {
            Recipe::Recommended => Dataset::Val,
            Recipe::Paper => Dataset::Train,
        }),
        /// Thresholds at which each kept model may decide, beside its own: quantiles of its scores.
        pub thresholds: usize = by(|recipe| match recipe {
            Recipe::Recommended => 25,
            Recipe::Paper => 0,
        })
        .between(0.0, 1000.0)
        .flag("thresholds"),
        /// Parts into which the judging rows are cut to measure how optimistic the selection is: it is repeated without
        /// each part, and judged on that part. 0 does not measure it.
        pub parts: usize = by(|recipe| match recipe {
            Recipe::Recommended => 20,
            Recipe::Paper => 0,
        })
        .check(|parts| parts_are_several(*parts)),
        /// How the folds of the plug-in game decide a new row together: draw one of them, or take their mean.
        pub blend: Blend = with(Blend::Draw).flag("blend").only("algorithm", &["plug_in"]),
        /// Select one rule that decides without a draw, in place of a mixture; only of the plug-in game. The mean of the
        /// folds then decides, whatever `blend` says.
        pub deterministic: bool = with(false).flag("deterministic").only("algorithm", &["plug_in"]),
        /// How far constraints may be violated.
        pub epsilon: Epsilon = with(Epsilon::Least).check(|epsilon| epsilon.check()),
        /// Safety margin of each constraint: so many standard errors (`1`), enough for all constraints to hold with a
        /// confidence (`95%`), enough for `evaluate` on so many new rows to say met (`gate:95%@9000`), or `none`.
        pub margin: Margin = by(|recipe| match recipe {
            Recipe::Recommended => Margin::Errors(1.0),
            Recipe::Paper => Margin::None,
        })
        .check(|margin| margin.check())
        .flag("margin")
        .only("algorithm", &["plug_in", "practical", "lagrangian", "baseline", "discrete", "continuous"]),
    }
}

declare! {
    /// What becomes of the models of a column, one for each fold.
    #[derive(Copy, Eq)]
    pub enum Blend (default Blend::Draw) {
        /// One of them is drawn: the classifier is just what was judged.
        Draw = "draw",
        /// Their mean score decides: a little less error and fewer draws. But the mean was not judged, so nothing is
        /// promised.
        Mean = "mean",
    }
}

declare! {
    /// By how much a mixture is to meet its constraints on the rows they are enforced on, so that it does on others.
    ///
    /// The margin of each constraint is of the mixture, and not of each model: what rows of a mixture say together is
    /// surer than what those of one of its models do.
    #[derive(Copy)]
    pub enum Margin (default Margin::None) (short "standard errors (1), a confidence (95%), a gate (gate:95%@9000), or none" full) {
        /// No margin.
        None = "none",
        /// So many standard errors of each constraint.
        Errors(f64) = "errors",
        /// Enough standard errors for all constraints to hold on new rows with this probability.
        Confidence(f64) = "confidence",
        /// Enough for `evaluate` on so many new rows, at this confidence, to say that all constraints are met.
        Gate {
            /// Confidence that `evaluate` is asked for.
            confidence: f64 = with(0.95).below(0.5, 1.0),
            /// Number of new rows that it is given.
            rows: u64 = needed().above(0.0),
            /// Probability with which it is to say met.
            chance: f64 = with(0.8).below(0.5, 1.0),
        } = "gate",
    }
}

/// `rule` in full: the selection of one deterministic rule.
fn one_rule(given: &Value, _at: &Place) -> Result<Option<Value>, Wrong> {
    let rule = given.as_str() == Some("rule");
    Ok(rule.then(|| json!({ "shrink": { "deterministic": true } })))
}

/// Refuses a single part: there would be nothing to choose by without it.
fn parts_are_several(parts: usize) -> Result<(), Fault> {
    match parts {
        0 | 2..=1000 => Ok(()),
        parts => Err(Fault::new(
            format!("the optimism of the selection cannot be measured with {parts} parts"),
            "give a number from 2 to 1000 (20 is usual), or 0 not to measure it",
        )),
    }
}

/// A margin in full: `1` is standard errors, `95%` a confidence, `gate:95%@9000` an evaluation that is to say met.
fn full(given: &Value, at: &Place) -> Result<Option<Value>, Wrong> {
    let text = match given {
        Value::Number(errors) => return Ok(Some(json!({ "errors": errors }))),
        Value::String(text)
            if !["none", "errors", "confidence", "gate"].contains(&text.as_str()) =>
        {
            text
        }
        _ => return Ok(None),
    };
    if let Some(errors) = text.trim().parse::<f64>().ok().filter(|errors| errors.is_finite()) {
        return Ok(Some(json!({ "errors": errors })));
    }
    let percent = |text: &str| {
        let number = text.trim().strip_suffix('%')?.trim().parse::<f64>().ok()?;
        number.is_finite().then_some(number / 100.0)
    };
    let gate = || {
        let (level, rows) = text.strip_prefix("gate:")?.split_once('@')?;
        let rows = rows.trim().replace(',', "").parse::<u64>().ok()?;
        // At a gate a confidence may be a share, too: standard errors are not meant there.
        let share = || level.trim().parse::<f64>().ok().filter(|share| (0.5..1.0).contains(share));
        Some(json!({ "gate": { "confidence": percent(level).or_else(share)?, "rows": rows } }))
    };
    let level = percent(text).map(|level| json!({ "confidence": level }));
    level.or_else(gate).map(Some).ok_or_else(|| {
        Wrong::value(
            at,
            format!(
                "`{text}` is neither standard errors (1) nor a confidence (95%), nor a gate (gate:95%@9000: `evaluate` on \
                 9,000 new rows says met at 95 %), nor `none`"
            ),
        )
    })
}

impl fmt::Display for Margin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the tail of a product that is not exact.
        let percent = |share: f64| (1e6 * share).round() / 1e4;
        match *self {
            Margin::None => write!(f, "none"),
            Margin::Errors(1.0) => write!(f, "one standard error"),
            Margin::Errors(errors) => write!(f, "{errors} standard errors"),
            Margin::Confidence(level) => write!(f, "{} % confidence", percent(level)),
            Margin::Gate { confidence, rows, chance } => write!(
                f,
                "a gate: `evaluate` on {rows} new rows says met at {} % with a probability of {} %",
                percent(confidence),
                percent(chance)
            ),
        }
    }
}

impl Margin {
    pub(crate) fn check(self) -> Result<(), Fault> {
        let wrong = |message: String, help: &str| Err(Fault::new(message, help));
        match self {
            Margin::Errors(errors) if !(0.0..=10.0).contains(&errors) => {
                let help = "give a number from 0 to 10; a confidence is written with its sign, 95%";
                wrong(format!("a margin of {errors} standard errors"), help)
            }
            Margin::Confidence(level) | Margin::Gate { confidence: level, .. }
                if !(0.5..=0.9999).contains(&level) =>
            {
                let message = format!("a margin for a confidence of {} %", 100.0 * level);
                wrong(message, "give one from 50% to 99.99%, such as 95%")
            }
            _ => Ok(()),
        }
    }

    /// The confidence that all constraints are to hold with, if one was asked for.
    pub fn confidence(self) -> Option<f64> {
        match self {
            Margin::Confidence(level) | Margin::Gate { confidence: level, .. } => Some(level),
            Margin::None | Margin::Errors(_) => None,
        }
    }

    /// z: how many standard errors the margin of one of so many constraints is, were it known that losses are normal.
    pub(crate) fn quantile(self, constraints: usize) -> f64 {
        let count = constraints.max(1) as f64;
        match self {
            Margin::None => 0.0,
            Margin::Errors(errors) => errors,
            Margin::Confidence(level) => normal((1.0 - level) / count),
            Margin::Gate { chance, .. } => normal((1.0 - chance) / count),
        }
    }

    /// The chance that an interval as wide misses on either side, for one of so many constraints.
    pub(crate) fn misses(self, constraints: usize) -> Option<f64> {
        match self {
            Margin::None | Margin::Gate { .. } => None,
            Margin::Errors(0.0) => None,
            Margin::Errors(errors) => Some(2.0 * crate::evaluate::normal_tail(errors)),
            Margin::Confidence(level) => Some(2.0 * (1.0 - level) / constraints.max(1) as f64),
        }
    }
}

/// What was selected.
#[derive(Debug, Clone, PartialEq)]
pub struct Selected {
    /// Models and their weights, which add up to 1.
    pub weights: Vec<(usize, f64)>,
    /// What shrinking found, if it was by shrinking.
    pub shrunk: Option<Shrunk>,
}

impl Selection {
    /// Selects from models that were kept: without margins and at their own thresholds, which are a training's.
    pub fn select(&self, iterates: &Iterates) -> Result<Selected> {
        let Some(last) = iterates.moments.last() else {
            return Err(Error::new(ErrorKind::Settings, "no model was kept to select from")
                .help("play at least one turn"));
        };
        let weights = match self {
            Selection::Theorem => iterates.theorem()?,
            Selection::Uniform => iterates.weigh(|_| 1.0),
            Selection::Last => vec![(last.model, 1.0)],
            Selection::Best => vec![(iterates.best(), 1.0)],
            Selection::Shrink(spec) => {
                let shrunk = spec.shrink(iterates)?;
                return Ok(Selected { weights: shrunk.weights.clone(), shrunk: Some(shrunk) });
            }
        };
        Ok(Selected { weights, shrunk: None })
    }
}

/// Objectives, constraints, and ε.
type Program = (Vec<f64>, Vec<Vec<f64>>, f64);

impl ShrinkSpec {
    /// The objective of each model, its constraints, and how far these may be violated.
    fn program(&self, iterates: &Iterates) -> Result<Program> {
        let models = || iterates.models.iter();
        let objective: Vec<f64> =
            models().map(|model| model.on(self.on).losses(self.objective).objective).collect();
        let constraints: Vec<Vec<f64>> =
            models().map(|model| model.val.exact.constraints.clone()).collect();
        let allowed = match self.epsilon {
            Epsilon::Least => 0.0,
            Epsilon::AtMost(epsilon) => epsilon,
            Epsilon::Mixture => {
                let weights = iterates.theorem()?;
                iterates.mixed(&weights, Dataset::Val, Side::Exact).worst().max(0.0)
            }
        };
        Ok((objective, constraints, allowed))
    }

    /// Shrinks the models that were kept.
    fn shrink(&self, iterates: &Iterates) -> Result<Shrunk> {
        let (objective, constraints, allowed) = self.program(iterates)?;
        shrink(&objective, &constraints, allowed)
    }
}

impl Iterates {
    /// Each model with probability λ₁⁽ᵗ⁾/Σ_s λ₁⁽ˢ⁾ over the turns that were kept.
    fn theorem(&self) -> Result<Vec<(usize, f64)>> {
        let weights = self.weigh(|moment| moment.lambda.objective);
        if weights.is_empty() {
            let message = "the objective never counted: the constraints had all of the weight";
            return Err(Error::new(ErrorKind::Settings, message).help(
                "they may not be possible together; select by shrinking, which says how near they come",
            ));
        }
        Ok(weights)
    }

    /// The single best model, by the heuristic of Cotter et al. 2018 ("Two-player games"): models are
    /// ranked by their objective on train and by each constraint's violation on val, of which those that
    /// are met share the first rank. The best is the one whose worst rank is best; of several, the one
    /// with the least objective, then the last.
    pub fn best(&self) -> usize {
        let ranks = |values: Vec<f64>| -> Vec<usize> {
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            values.iter().map(|value| sorted.partition_point(|other| other < value)).collect()
        };
        let objective: Vec<f64> =
            self.models.iter().map(|model| model.train.exact.objective).collect();
        let mut worst = ranks(objective.clone());
        let constraints = self.models.first().map_or(0, |m| m.val.exact.constraints.len());
        for i in 0..constraints {
            let violation = |model: &super::Iterate| model.val.exact.constraints[i].max(0.0);
            let of_constraint = ranks(self.models.iter().map(violation).collect());
            worst.iter_mut().zip(of_constraint).for_each(|(worst, rank)| *worst = rank.max(*worst));
        }
        let order = |&a: &usize, &b: &usize| {
            let by_objective = objective[a].total_cmp(&objective[b]);
            worst[a].cmp(&worst[b]).then(by_objective).then(b.cmp(&a))
        };
        (0..self.models.len()).min_by(order).unwrap_or(0)
    }
}
