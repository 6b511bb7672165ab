//! How often promises are kept, over all draws of a problem and model.
//!
//! Finitely many rows judge, so a value seen in draw d is v_d + noise. The share of draws in which a constraint fails
//! *in the population* is found by a normal model: with m the mean of the values, s² their variance and e² the mean of
//! their squared standard errors, the true values have the variance s² − e², and the share is Φ(m / √(s² − e²)). The
//! shares of all constraints are added, which is at least the share of draws in which any of them fails. Its standard
//! error is the jackknife's over draws.

use super::{Constraint, Draw, Learner, Problem};
use crate::summary::Mean;
use fairgame::train::Standing;
use serde::Serialize;

/// How often a promise was broken, of those draws in which one was made; NaN if there are none.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Broken {
    /// The share of draws in which the judging rows violate some constraint.
    pub raw: Mean,
    /// The share in which the population does, with the noise of the judging rows taken out; NaN of fewer than three
    /// draws.
    pub share: Mean,
    /// Whether that is at most what the margin allows, within two standard errors; for margins of a confidence.
    pub kept: Option<bool>,
}

/// Draws of which the same was said.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Kind {
    /// What was said: the worst of all constraints.
    pub said: Standing,
    /// In which share of all draws.
    pub share: f64,
    /// In which share of these the judging rows violate some constraint; NaN of none.
    pub fails: Mean,
}

/// One constraint over all draws.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConstraintLine {
    /// Its name.
    pub name: String,
    /// On the rows it was enforced on.
    pub enforced: Mean,
    /// The margin that was kept.
    pub margin: Mean,
    /// The optimism that was estimated; NaN if it was not.
    pub optimism: Mean,
    /// The true optimism: the value in the population less the one on the rows it was enforced on.
    pub gap: Mean,
    /// The estimate less the truth, draw by draw; NaN without an estimate.
    pub apart: Mean,
    /// In the population.
    pub truth: Mean,
    /// The mean standard error of a draw's value in the population.
    pub noise: f64,
    /// In which share of all draws the judging rows violate it.
    pub fails: Mean,
}

/// One problem and model over all draws.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// The problem's name.
    pub problem: &'static str,
    /// The model's.
    pub model: &'static str,
    /// Whether it was said beforehand that a promise can be had.
    pub feasible: bool,
    /// How many draws there are.
    pub draws: usize,
    /// In which share of them every constraint was promised.
    pub promised: Mean,
    /// How often such a promise was broken.
    pub broken: Broken,
    /// The optimism that was estimated: the mean over constraints and draws; NaN if it was not.
    pub optimism: Mean,
    /// The true one.
    pub gap: Mean,
    /// The estimate less the truth, draw by draw; NaN without an estimate.
    pub apart: Mean,
    /// The objective in the population.
    pub objective: Mean,
    /// The draws by what was said of them.
    pub kinds: Vec<Kind>,
    /// Constraint by constraint.
    pub constraints: Vec<ConstraintLine>,
    /// How long a training took, of one core, in the mean.
    #[serde(skip)]
    pub seconds: f64,
}

/// In which share of the draws a promise is to be made where that was said to be possible.
pub const OFTEN: f64 = 0.8;

impl Line {
    /// Sums up the draws of a problem and model; `allowed` is the share of promises that may be broken.
    pub(super) fn of(
        problem: &Problem,
        model: Learner,
        draws: &[Draw],
        allowed: Option<f64>,
    ) -> Self {
        let over =
            |pick: &dyn Fn(&Draw) -> f64| Mean::of(&draws.iter().map(pick).collect::<Vec<_>>());
        let among = |pick: &dyn Fn(&Constraint) -> Option<f64>| {
            mean_of(draws.iter().map(|draw| {
                let picked: Vec<f64> = draw.constraints.iter().map(pick).collect::<Option<_>>()?;
                Some(Mean::of(&picked).mean)
            }))
        };
        let promised: Vec<&Draw> = draws.iter().filter(|draw| draw.promised()).collect();
        Line {
            problem: problem.name,
            model: model.name(),
            feasible: problem.feasible.is_some(),
            draws: draws.len(),
            promised: share(draws.iter(), |draw| draw.promised()),
            broken: broken(&promised, allowed),
            optimism: among(&|one| one.optimism),
            gap: among(&|one| Some(gap(one))),
            apart: among(&|one| Some(one.optimism? - gap(one))),
            objective: over(&|draw| draw.objective),
            kinds: kinds(draws),
            constraints: constraints(draws),
            seconds: over(&|draw| draw.seconds).mean,
        }
    }

    /// Whether promises were made as often as was said beforehand; `None` where nothing was said.
    pub fn often_enough(&self) -> Option<bool> {
        self.feasible.then_some(self.promised.mean >= OFTEN)
    }

    /// Whether a promise is broken more often than the margin allows, beyond two standard errors.
    pub fn breaks(&self) -> bool {
        self.broken.kept == Some(false)
    }

    /// Whether the estimated optimism is off by more than two standard errors.
    pub fn misjudges(&self) -> bool {
        self.apart.error.is_some_and(|error| self.apart.mean.abs() > 2.0 * error)
    }
}

/// True value less the enforced one.
fn gap(one: &Constraint) -> f64 {
    one.truth - one.enforced
}

/// Of what there is no number.
const NONE: Mean = Mean { mean: f64::NAN, error: None };

/// The mean of numbers, if all of them are there.
fn mean_of(numbers: impl Iterator<Item = Option<f64>>) -> Mean {
    numbers.collect::<Option<Vec<f64>>>().map_or(NONE, |numbers| Mean::of(&numbers))
}

/// The share of draws of which something is true, with the binomial standard error; NaN of none.
fn share<'a>(
    draws: impl ExactSizeIterator<Item = &'a Draw>,
    holds: impl Fn(&Draw) -> bool,
) -> Mean {
    let count = draws.len() as f64;
    let share = draws.filter(|draw| holds(draw)).count() as f64 / count;
    Mean { mean: share, error: (count > 1.0).then(|| (share * (1.0 - share) / count).sqrt()) }
}

fn broken(promised: &[&Draw], allowed: Option<f64>) -> Broken {
    let raw = share(promised.iter().copied(), Draw::fails);
    let without_noise = (promised.len() >= 3).then(|| {
        let all = failing(promised, None);
        let count = promised.len();
        let without: Vec<f64> = (0..count).map(|draw| failing(promised, Some(draw))).collect();
        let mean = without.iter().sum::<f64>() / count as f64;
        let square: f64 = without.iter().map(|one| (one - mean).powi(2)).sum();
        let error = (square * (count - 1) as f64 / count as f64).sqrt();
        Mean { mean: all, error: Some(error) }
    });
    let within = |allowed: f64| {
        without_noise.map(|share| share.mean <= allowed + 2.0 * share.error.unwrap_or(0.0))
    };
    Broken { raw, share: without_noise.unwrap_or(NONE), kept: allowed.and_then(within) }
}

/// The share of draws in which some constraint fails in the population, by the normal model; one draw may be left out.
fn failing(draws: &[&Draw], left_out: Option<usize>) -> f64 {
    let constraints = draws.first().map_or(0, |draw| draw.constraints.len());
    let tail = |at: usize| {
        let kept = draws.iter().enumerate().filter(|(draw, _)| Some(*draw) != left_out);
        let pairs: Vec<(f64, f64)> = kept
            .map(|(_, draw)| (draw.constraints[at].truth, draw.constraints[at].error))
            .collect();
        fails_by(&pairs)
    };
    (0..constraints).map(tail).sum::<f64>().min(1.0)
}

/// The share of true values above 0, of values that were seen with standard errors.
///
/// ```
/// use fairgame_paper::promise::fails_by;
/// // Mean −1 and variance 2, all of it noise but 1: Φ(−1).
/// let seen = [(0.0, 1.0), (-2.0, 1.0)];
/// assert!((fails_by(&seen) - 0.158_655).abs() < 1e-6);
/// // Nothing but noise: the true value is the mean.
/// assert_eq!(fails_by(&[(0.5, 2.0), (-2.0, 2.0)]), 0.0);
/// ```
pub fn fails_by(seen: &[(f64, f64)]) -> f64 {
    let count = seen.len() as f64;
    let mean = seen.iter().map(|(value, _)| value).sum::<f64>() / count;
    let variance =
        seen.iter().map(|(value, _)| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let noise = seen.iter().map(|(_, error)| error * error).sum::<f64>() / count;
    let spread = (variance - noise).max(0.0).sqrt();
    match spread > 0.0 {
        true => normal_below(mean / spread),
        false => f64::from(u8::from(mean > 0.0)),
    }
}

/// Φ(z), to about 10⁻⁷ (Abramowitz and Stegun, 26.2.17).
pub fn normal_below(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let weights = [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let sum = weights.iter().rev().fold(0.0, |sum, weight| (sum + weight) * t);
    let above = (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt() * sum;
    if z < 0.0 { above } else { 1.0 - above }
}

/// The draws by what was said of them.
fn kinds(draws: &[Draw]) -> Vec<Kind> {
    let of = |draw: &Draw| match (draw.promised(), draw.violated()) {
        (true, _) => Standing::Promised,
        (_, true) => Standing::Violated,
        _ => Standing::Enforced,
    };
    let kind = |said: Standing| {
        let own: Vec<&Draw> = draws.iter().filter(|draw| of(draw) == said).collect();
        Kind {
            said,
            share: own.len() as f64 / draws.len() as f64,
            fails: share(own.iter().copied(), Draw::fails),
        }
    };
    [Standing::Promised, Standing::Enforced, Standing::Violated].map(kind).into()
}

fn constraints(draws: &[Draw]) -> Vec<ConstraintLine> {
    let first = draws.first().map_or(&[][..], |draw| &draw.constraints);
    let line = |(at, one): (usize, &Constraint)| {
        let all = || draws.iter().map(|draw| &draw.constraints[at]);
        let mean =
            |pick: &dyn Fn(&Constraint) -> f64| Mean::of(&all().map(pick).collect::<Vec<_>>());
        let some = |pick: &dyn Fn(&Constraint) -> Option<f64>| mean_of(all().map(pick));
        ConstraintLine {
            name: one.name.clone(),
            enforced: mean(&|one| one.enforced),
            margin: mean(&|one| one.margin),
            optimism: some(&|one| one.optimism),
            gap: mean(&gap),
            apart: some(&|one| Some(one.optimism? - gap(one))),
            truth: mean(&|one| one.truth),
            noise: mean(&|one| one.error).mean,
            fails: share(draws.iter(), |draw| draw.constraints[at].truth > 0.0),
        }
    };
    first.iter().enumerate().map(line).collect()
}
