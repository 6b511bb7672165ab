//! From kept models to one classifier: which, and how likely each.

use serde::{Deserialize, Serialize};

use super::shrink::{Epsilon, Shrunk, shrink};
use super::{Dataset, Iterates};
use crate::rate::Side;
use crate::{Error, ErrorKind, Result};

/// How a classifier is made of the models that were kept.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// Each with probability λ₁⁽ᵗ⁾/Σ_s λ₁⁽ˢ⁾, as in Theorems 1 and 2.
    Theorem,
    /// Each turn's with the same probability, as in the baseline's theorem.
    Uniform,
    /// The last alone.
    Last,
    /// The best alone: by rank, see [`best`](Iterates::best).
    Best,
    /// The best mixture of at most m+1.
    Shrink(ShrinkSpec),
}

impl Default for Selection {
    fn default() -> Self {
        Selection::Shrink(ShrinkSpec::default())
    }
}

/// What shrinking minimises, and under what.
///
/// Constraints are always the exact ones on val, the constraint player's sample.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ShrinkSpec {
    /// The objective itself, or its proxy.
    pub objective: Side,
    /// Where it is measured.
    pub on: Dataset,
    /// How far constraints may be violated.
    pub epsilon: Epsilon,
}

impl Default for ShrinkSpec {
    /// As in the paper's experiments: the 0/1 objective on train, the least ε.
    fn default() -> Self {
        ShrinkSpec { objective: Side::Exact, on: Dataset::Train, epsilon: Epsilon::Least }
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
    /// Selects from models that were kept.
    pub fn select(&self, iterates: &Iterates) -> Result<Selected> {
        let Some(last) = iterates.moments.last() else {
            return Err(Error::new(ErrorKind::Settings, "no model was kept to select from")
                .help("play at least one turn"));
        };
        let weights = match self {
            Selection::Theorem => iterates.theorem()?,
            Selection::Uniform => iterates.weigh(|_| 1.0),
            Selection::Last => vec![(last.theta, 1.0)],
            Selection::Best => vec![(iterates.best(), 1.0)],
            Selection::Shrink(spec) => {
                let shrunk = spec.shrink(iterates)?;
                return Ok(Selected { weights: shrunk.weights.clone(), shrunk: Some(shrunk) });
            }
        };
        Ok(Selected { weights, shrunk: None })
    }
}

impl ShrinkSpec {
    /// Shrinks the models that were kept.
    pub fn shrink(&self, iterates: &Iterates) -> Result<Shrunk> {
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
