//! From kept models to one classifier: which, and how likely each.

use serde::{Deserialize, Serialize};

use super::shrink::{
    Balance, Epsilon, Explained, Shrunk, explain_balanced, shrink_balanced, yielding,
};
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
    /// By how much more than the rows say they are to be met.
    pub margin: Margin,
}

/// By how much a mixture is to meet its constraints on the rows they are enforced on, so that it does on others.
///
/// The margin of each constraint is of the mixture, and not of each model: what rows of a mixture say together is
/// surer than what those of one of its models do.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Margin {
    /// None.
    #[default]
    None,
    /// So many standard errors of each constraint.
    Errors(f64),
    /// As many as make it so likely that all constraints hold on new rows.
    Confidence(f64),
}

impl Margin {
    pub(crate) fn check(self) -> Result<()> {
        let wrong = |message: String, help: &str| {
            Err(Error::new(ErrorKind::Settings, message).help(help.to_owned()))
        };
        match self {
            Margin::Errors(errors) if !(0.0..=10.0).contains(&errors) => {
                let help = "give a number from 0 to 10; a confidence is { confidence = 0.95 }";
                wrong(format!("a margin of {errors} standard errors"), help)
            }
            Margin::Confidence(level) if !(0.5..1.0).contains(&level) => {
                wrong(format!("a margin for a confidence of {level}"), "0.95 is a usual one")
            }
            _ => Ok(()),
        }
    }

    /// The chance that an interval as wide misses on either side, for one of so many constraints.
    pub(crate) fn misses(self, constraints: usize) -> Option<f64> {
        match self {
            Margin::None => None,
            Margin::Errors(0.0) => None,
            Margin::Errors(errors) => Some(2.0 * crate::evaluate::normal_tail(errors)),
            Margin::Confidence(level) => Some(2.0 * (1.0 - level) / constraints.max(1) as f64),
        }
    }
}

impl Default for ShrinkSpec {
    /// As in the paper's experiments: the 0/1 objective on train, the least ε.
    fn default() -> Self {
        ShrinkSpec {
            objective: Side::Exact,
            on: Dataset::Train,
            epsilon: Epsilon::Least,
            margin: Margin::None,
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
    /// Selects from models that were kept.
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
                let shrunk = spec.shrink(iterates, &[], None)?;
                return Ok(Selected { weights: shrunk.weights.clone(), shrunk: Some(shrunk) });
            }
        };
        Ok(Selected { weights, shrunk: None })
    }
}

/// Objectives, constraints, and ε.
type Program = (Vec<f64>, Vec<Vec<f64>>, f64);

impl ShrinkSpec {
    /// The objective of each model, its constraints with their margins, and how far these may be violated.
    fn program(&self, iterates: &Iterates, margins: &[f64]) -> Result<Program> {
        let models = || iterates.models.iter();
        let objective: Vec<f64> =
            models().map(|model| model.on(self.on).losses(self.objective).objective).collect();
        // Weights add up to 1, so that a margin of the mixture is the same for every model.
        let margin = |at: usize| margins.get(at).copied().unwrap_or(0.0);
        let with_margins = |model: &super::Iterate| {
            let losses = model.val.exact.constraints.iter().enumerate();
            losses.map(|(at, loss)| loss + margin(at)).collect()
        };
        let constraints: Vec<Vec<f64>> = models().map(with_margins).collect();
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

    /// Shrinks the models that were kept, with these margins, or none.
    pub(crate) fn shrink(
        &self,
        iterates: &Iterates,
        margins: &[f64],
        balance: Option<&Balance>,
    ) -> Result<Shrunk> {
        let (objective, constraints, allowed) = self.program(iterates, margins)?;
        shrink_balanced(&objective, &constraints, allowed, balance)
    }

    /// Shrinks with margins, or as much of them as can be had; what is met without them is met.
    pub(crate) fn shrink_yielding(
        &self,
        iterates: &Iterates,
        margins: &[f64],
        balance: Option<&Balance>,
    ) -> Result<Shrunk> {
        let asked = self.shrink(iterates, margins, balance)?;
        if asked.feasible {
            return Ok(Shrunk { margins: margins.to_vec(), ..asked });
        }
        let (objective, constraints, allowed) = self.program(iterates, &[])?;
        let without = shrink_balanced(&objective, &constraints, allowed, balance)?;
        let allowed = without.least.max(allowed);
        let had = yielding(&constraints, margins, allowed, balance)?;
        let (objective, constraints, _) = self.program(iterates, &had)?;
        let shrunk = shrink_balanced(&objective, &constraints, allowed, balance)?;
        Ok(Shrunk { margins: had, least: asked.least, feasible: false, ..shrunk })
    }

    /// What that comes to, explained.
    pub(crate) fn explain(
        &self,
        iterates: &Iterates,
        margins: &[f64],
        balance: Option<&Balance>,
    ) -> Result<Explained> {
        let (objective, constraints, allowed) = self.program(iterates, margins)?;
        explain_balanced(&objective, &constraints, allowed, balance)
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
