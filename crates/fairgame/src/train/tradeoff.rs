//! What other bounds would cost: the selection again, from the sums that a model file keeps.
//!
//! A model file keeps its [`Candidates`]: columns of the selection program, and what each adds to each loss in each of the J
//! parts of the judging rows. With bounds moved by a slack s, the program is solved again over them, ℓ_i + margin_i ≤ s, with
//! the margins and the optimism of the training. As in training, a margin that is infeasible is reduced. Nothing is trained.
//! The optimism of this selection is measured as in training: p⁽ʲ⁾ is chosen without part j, and
//!
//! ```text
//! optimism = ℓ₀(p⁽¹⁾ on part 1, …, p⁽ᴶ⁾ on part J) − 1/J·Σ_j ℓ₀⁽⁻ʲ⁾(p⁽ʲ⁾),   ℓ₀⁽⁻ʲ⁾ = constant + J/(J − 1)·Σ_{l≠j} sums_l
//! ```
//!
//! The objective on new rows is estimated by that on the judging rows plus the optimism. Its interval is as wide as that of
//! the classifier's own objective, which hardly changes with the bounds.
//!
//! Columns were sought under the bounds of the training. Far away from these, a training of its own would find better ones,
//! so the curve is a little too high there. On Adult it was within 0.001 of ten trainings of their own, at bounds that were
//! looser or tighter by up to 0.05 (`tests/tradeoff.rs`).

use serde::{Deserialize, Serialize};

use super::mixture::{PaidFor, paid_for};
use super::{Record, RecordedPart};
use crate::classifier::{Candidates, Classifier, Columns, Start};
use crate::evaluate::Interval;
use crate::{Error, ErrorKind, Result};

/// What other bounds would cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TradeOff {
    /// The constraint whose bound is moved; all of them where there is none.
    pub constraint: Option<String>,
    /// The objective.
    pub objective: String,
    /// How sure each interval is.
    pub confidence: f64,
    /// By ascending slack.
    pub points: Vec<TradeOffPoint>,
}

/// The best that can be had with bounds moved by a slack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TradeOffPoint {
    /// Constraints hold where their loss is at most this: above 0 they are looser, below 0 tighter.
    pub slack: f64,
    /// Whether the bounds can be met, optimism included. If not, there is nothing to compare.
    pub feasible: bool,
    /// The objective on the judging rows.
    pub objective: Option<f64>,
    /// By how much it is larger on rows that had no part in the selection.
    pub optimism: Option<f64>,
    /// The objective on new rows, and where it lies.
    pub estimate: Option<f64>,
    /// Where the objective on new rows lies.
    pub interval: Option<Interval>,
    /// The loss of each constraint on the judging rows, at the bounds of the training.
    pub losses: Vec<f64>,
}

/// Slacks that are of interest where none are asked for.
pub const SLACKS: [f64; 9] = [-0.05, -0.02, -0.01, 0.0, 0.01, 0.02, 0.03, 0.05, 0.1];

/// What other bounds would cost, of one constraint or of all.
///
/// # Errors
/// If the classifier was not made by shrinking, or remembers neither its candidates nor its training; if there is no such
/// constraint, or no finite slack.
pub fn trade_off(
    classifier: &Classifier,
    constraint: Option<usize>,
    slacks: &[f64],
) -> Result<TradeOff> {
    let missing = |what: &str| {
        Error::new(ErrorKind::Format, format!("the model file does not keep {what}")).help(
            "train it again: `fairgame train` keeps it for models that are selected by shrinking",
        )
    };
    let candidates = classifier.candidates().ok_or_else(|| missing("what it was chosen from"))?;
    let record = classifier.record()?.ok_or_else(|| missing("a record of its training"))?;
    let constraints = classifier.bound().constraints();
    if constraints.is_empty() {
        let message = "there are no constraints, so that nothing can be traded";
        return Err(Error::new(ErrorKind::Value, message));
    }
    if let Some(at) = constraint.filter(|at| *at >= constraints.len()) {
        let message = format!("there is no constraint {}: there are {}", at + 1, constraints.len());
        return Err(Error::new(ErrorKind::Value, message));
    }
    let mut slacks = slacks.to_vec();
    slacks.sort_unstable_by(f64::total_cmp);
    slacks.dedup();
    if slacks.is_empty() || slacks.iter().any(|slack| !slack.is_finite()) {
        return Err(Error::new(ErrorKind::Value, "slacks are finite numbers, at least one")
            .help("0 is the bound of the training, 0.01 a looser one"));
    }
    let enforced = &record.enforcement;
    let program = Program {
        candidates,
        optimism: enforced.iter().map(|one| one.optimism.unwrap_or(0.0).max(0.0)).collect(),
        margins: enforced.iter().map(|one| one.asked).collect(),
        single: is_single(classifier),
    };
    let half = half_width(&record);
    let points = slacks
        .into_iter()
        .map(|slack| program.point(constraint, slack, half))
        .collect::<Result<Vec<_>>>()?;
    Ok(TradeOff {
        constraint: constraint.map(|at| constraints[at].name().to_owned()),
        objective: classifier.bound().objective().to_owned(),
        confidence: super::CONFIDENCE,
        points,
    })
}

/// Whether one rule was to decide without a draw.
fn is_single(classifier: &Classifier) -> bool {
    let selection = &classifier.provenance().settings["selection"]["shrink"];
    selection["deterministic"].as_bool().unwrap_or(false)
}

/// Half of the width of the interval of the classifier's objective on the judging rows.
fn half_width(record: &Record) -> Option<f64> {
    let part = |name: &str| record.parts.iter().find(|one| one.part == name);
    let part: &RecordedPart = part("val").or_else(|| part("train"))?;
    let interval = part.evaluation.objective.measurement.estimate()?.interval;
    Some((interval.high - interval.low) / 2.0)
}

struct Program<'a> {
    candidates: &'a Candidates,
    optimism: Vec<f64>,
    /// Those that were asked for.
    margins: Vec<f64>,
    single: bool,
}

/// Columns and their weights.
type Mixture = [(usize, f64)];

impl Program<'_> {
    /// What a column adds to each loss in a part.
    fn sums(&self, column: usize, part: usize) -> &[f32] {
        let (parts, count) = (self.candidates.parts, self.candidates.constants.len());
        &self.candidates.sums[(column * parts + part) * count..][..count]
    }

    /// The losses of a column on all parts but one.
    fn losses(&self, column: usize, but: Option<usize>) -> Vec<f64> {
        let parts = self.candidates.parts;
        let share = match but {
            Some(_) => parts as f64 / (parts as f64 - 1.0),
            None => 1.0,
        };
        let mut losses = self.candidates.constants.clone();
        for part in (0..parts).filter(|part| Some(*part) != but) {
            for (loss, sum) in losses.iter_mut().zip(self.sums(column, part)) {
                *loss += share * f64::from(*sum);
            }
        }
        losses
    }

    /// The best mixture by all parts but one, with bounds that are moved by these slacks.
    fn best(&self, slacks: &[f64], but: Option<usize>) -> Result<PaidFor> {
        let mut columns = Columns::new(self.margins.len());
        for column in 0..self.candidates.columns.len() {
            let mut losses = self.losses(column, but);
            losses[1..].iter_mut().zip(slacks).for_each(|(loss, slack)| *loss -= slack);
            columns.push(losses[0], &losses[1..]);
        }
        let (kind, start) = ((self.single, 0.0), &mut Start::default());
        paid_for(&columns, &self.optimism, &self.margins, kind, start)
    }

    fn mixed(&self, mixture: &Mixture, but: Option<usize>) -> Vec<f64> {
        let mut sum = vec![0.0; self.candidates.constants.len()];
        for &(column, weight) in mixture {
            let losses = self.losses(column, but);
            sum.iter_mut().zip(losses).for_each(|(sum, loss)| *sum += weight * loss);
        }
        sum
    }

    fn point(&self, which: Option<usize>, slack: f64, half: Option<f64>) -> Result<TradeOffPoint> {
        let own = |at: usize| which.is_none_or(|which| which == at);
        let slacks: Vec<f64> =
            (0..self.margins.len()).map(|at| if own(at) { slack } else { 0.0 }).collect();
        let found = self.best(&slacks, None)?;
        if !found.is_payable {
            return Ok(TradeOffPoint {
                slack,
                feasible: false,
                objective: None,
                optimism: None,
                estimate: None,
                interval: None,
                losses: Vec::new(),
            });
        }
        let losses = self.mixed(&found.shrunk.weights, None);
        let parts = self.candidates.parts;
        let mut optimism = None;
        if parts > 1 {
            let (mut told, mut believed) = (self.candidates.constants[0], 0.0);
            for part in 0..parts {
                let chosen = self.best(&slacks, Some(part))?.shrunk.weights;
                for &(column, weight) in &chosen {
                    told += weight * f64::from(self.sums(column, part)[0]);
                }
                believed += self.mixed(&chosen, Some(part))[0] / parts as f64;
            }
            optimism = Some(told - believed);
        }
        let estimate = losses[0] + optimism.unwrap_or(0.0);
        let interval = half.map(|half| Interval { low: estimate - half, high: estimate + half });
        Ok(TradeOffPoint {
            slack,
            feasible: true,
            objective: Some(losses[0]),
            optimism,
            estimate: Some(estimate),
            interval,
            losses: losses[1..].to_vec(),
        })
    }
}
