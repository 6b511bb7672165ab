//! The constants of the theorems, of a problem on two samples.
//!
//! | symbol | field | is at least |
//! |---|---|---|
//! | B_Δ | `gradient` | \|ℓ_i\| on val, over all classifiers |
//! | B_ℓ | `loss` | the width of the range of each ℓ_i(x), over single rows x of val |
//! | B_ℓ₀ | `objective` | the width of the range of ℓ̃₀ on train, where scores are bounded |
//! | B_ℓ̃ | `proxy` | \|ℓ̃₀\| and \|ℓ̃_i\| on train, where scores are bounded |
//! | B_ℓ̃ of a row | `proxy_row` | half the width of the range of ℓ̃₀(x) and each ℓ̃_i(x), over single rows x of train, where scores are bounded |
//! | B_Δ̌ | `subgradient` | ‖∂L_θ/∂θ‖₂ on train, for λ in the simplex, for linear models in a ball |
//! | L̃ | `slope` | ‖∂ℓ̃(x; θ)/∂θ‖₂ over single rows x of train, of ℓ̃₀ and each ℓ̃_i, for linear models |
//!
//! Where the constraint player is shown the proxies in place of the losses ([`Side::Proxy`]), the ℓ_i of the theorems are
//! the ℓ̃_i on val, and [`Shown`] has what is B_Δ, B_ℓ and L of them. Losses of decisions have no L.
//!
//! A row's own loss ℓ_i(x) is what its mean over n rows is ℓ_i: n·w·α_i(x) for a positive decision. So for a
//! rate over one row in a hundred, B_ℓ is a hundred: a sample bounds such a rate that much less. Denominators
//! are taken as known; they are those of the sample.
//!
//! Scores are bounded where a linear model's θ lies in a ball of radius R: then |f| ≤ R·max‖x‖. A sigmoid
//! or ramp bounds the proxies whatever the scores. All but B_ℓ, B_ℓ̃ of a row, L and L̃ are of losses of whole samples,
//! which is what the players see, and what the proofs of convergence need. Those four are of single rows, as bounds on
//! generalization need: McDiarmid's inequality asks how much one row can change the mean.

use super::Setting;
use crate::rate::{Multipliers, Pushes, Side, Surrogate};
use crate::sample::Sample;
use crate::{Error, ErrorKind, Result};

/// The constants of a problem.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scales {
    /// B_Δ.
    pub gradient: f64,
    /// B_ℓ.
    pub loss: f64,
    /// B_ℓ₀, where there is one.
    pub objective: Option<f64>,
    /// B_ℓ̃, where there is one.
    pub proxy: Option<f64>,
    /// B_ℓ̃ of a single row, where there is one: what [`crate::bounds::rademacher_generalization`] needs. A constant that is
    /// the same for all rows, such as the penalty, does not count.
    pub proxy_row: Option<f64>,
    /// B_Δ̌, where there is one.
    pub subgradient: Option<f64>,
    /// L̃, where there is one.
    pub slope: Option<f64>,
    /// Of the proxies as the constraint player's losses, where they are bounded.
    pub shown: Option<Shown>,
}

/// The constants of the losses that the constraint player is shown, where these are proxies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shown {
    /// B_Δ.
    pub gradient: f64,
    /// B_ℓ.
    pub loss: f64,
    /// L, for linear models.
    pub lipschitz: Option<f64>,
}

impl Scales {
    /// The constants of a game's setting.
    ///
    /// # Errors
    /// If a sample cannot be read.
    pub fn of(setting: &Setting<'_>) -> Result<Self> {
        let Setting { train, val, region, surrogate, .. } = setting;
        let surrogate = *surrogate;
        let size = |&(least, most): &(f64, f64)| f64::max(-least, most);
        let width = |&(least, most): &(f64, f64)| most - least;
        let most = |numbers: &mut dyn Iterator<Item = f64>| numbers.fold(0.0, f64::max);
        let (_, exact) = val.losses().ranges();
        let (objective, constraints) = train.losses().ranges();

        let norm = match setting.model.is_linear() {
            true => Some(train.extremes()?.norm),
            false => None,
        };
        let score = norm.zip(region.radius).map(|(norm, radius)| norm * radius);
        let penalty = region.radius.map_or(0.0, |radius| region.convexity / 2.0 * radius * radius);
        let bounded = match (surrogate, score) {
            (Surrogate::Sigmoid | Surrogate::Ramp, _) => Some((0.0, 1.0)),
            (surrogate, Some(score)) => {
                let value = |score: f64| f64::from(surrogate.value(score as f32));
                Some((value(-score), value(score)))
            }
            _ => None,
        };
        // A penalty on a θ that is not in a ball has no bound.
        let held = region.radius.is_some() || region.convexity == 0.0;
        let proxies = bounded.filter(|_| held).map(|(low, high)| {
            let (objective, constraints) = train.losses().ranges_between(low, high);
            let all = most(&mut std::iter::once(&objective).chain(&constraints).map(size));
            (all + penalty, width(&objective) + penalty)
        });
        // A loss's slopes in the scores add up to at most the width of its exact range, times |h'|.
        let steep = most(&mut std::iter::once(&objective).chain(&constraints).map(width))
            * steepest(surrogate);
        let subgradient =
            norm.zip(region.radius).map(|(norm, radius)| steep * norm + region.convexity * radius);
        // How fast the loss of a single row changes with a linear model's θ.
        let slope = |sample: &dyn Sample, objective: bool| -> Result<Option<f64>> {
            if !setting.model.is_linear() {
                return Ok(None);
            }
            let (push, norm) = (row_push(sample, objective)?, sample.extremes()?.norm);
            Ok(Some(steepest(surrogate) * push * norm))
        };
        let shown = match bounded {
            Some((low, high)) => {
                let (_, proxies) = val.losses().ranges_between(low, high);
                let gradient = most(&mut proxies.iter().map(size));
                let (loss, lipschitz) =
                    (row_range(&**val, false, (low, high))?, slope(&**val, false)?);
                Some(Shown { gradient, loss, lipschitz })
            }
            None => None,
        };
        Ok(Scales {
            gradient: most(&mut exact.iter().map(size)),
            loss: row_range(&**val, false, (0.0, 1.0))?,
            objective: proxies.map(|(_, width)| width),
            proxy: proxies.map(|(all, _)| all),
            proxy_row: bounded
                .map(|range| row_range(&**train, true, range).map(|width| width / 2.0))
                .transpose()?,
            subgradient,
            slope: slope(&**train, true)?,
            shown,
        })
    }

    /// B_Δ of what the constraint player is shown.
    ///
    /// # Errors
    /// If it is shown proxies that have no bound.
    pub fn gradient_on(&self, side: Side) -> Result<f64> {
        match (side, self.shown) {
            (Side::Exact, _) => Ok(self.gradient),
            (Side::Proxy, Some(shown)) => Ok(shown.gradient),
            (Side::Proxy, None) => {
                let message =
                    "the theorems give no turns and no step: these proxy losses have no bound";
                Err(Error::new(ErrorKind::Settings, message).help(
                    "bound the losses: a linear model in a ball (region.radius), or the surrogate sigmoid or ramp",
                ))
            }
        }
    }
}

/// Calls back with the down and up pushes of each cell's heaviest row, times the number of rows: loss by loss of a sample,
/// the objective only if asked for.
fn each_push(
    sample: &dyn Sample,
    objective: bool,
    mut each: impl FnMut(&[(f64, f64)]),
) -> Result<()> {
    let losses = sample.losses();
    let (constraints, rows) = (losses.constraints(), sample.rows() as f64);
    let heaviest = sample.extremes()?.heaviest;
    let (mut pushes, mut all) = (Pushes::default(), Vec::new());
    for loss in usize::from(!objective)..=constraints {
        let mut unit = Multipliers { objective: 0.0, constraints: vec![0.0; constraints] };
        match loss {
            0 => unit.objective = 1.0,
            loss => unit.constraints[loss - 1] = 1.0,
        }
        losses.pushes(&unit, &mut pushes);
        all.clear();
        all.extend(heaviest.iter().enumerate().map(|(cell, weight)| {
            let push = losses.push(&pushes, cell);
            (weight * f64::from(push.down) * rows, weight * f64::from(push.up) * rows)
        }));
        each(&all);
    }
    Ok(())
}

/// The widest range of a single row's loss, over the constraints and if asked for the objective, where h(f) and h(−f) lie
/// between `low` and `high`.
fn row_range(sample: &dyn Sample, objective: bool, (low, high): (f64, f64)) -> Result<f64> {
    let mut widest = 0.0_f64;
    each_push(sample, objective, |cells| {
        let (mut least, mut most) = (0.0_f64, 0.0_f64);
        for (down, up) in cells {
            least = least.min(down * low + up * (low - 1.0));
            most = most.max(down * high + up * (high - 1.0));
        }
        widest = widest.max(most - least);
    })?;
    Ok(widest)
}

/// The largest push on the score of a single row, over the losses.
fn row_push(sample: &dyn Sample, objective: bool) -> Result<f64> {
    let mut largest = 0.0_f64;
    each_push(sample, objective, |cells| {
        largest = cells.iter().map(|(down, up)| down + up).fold(largest, f64::max);
    })?;
    Ok(largest)
}

/// The largest |h'|.
fn steepest(surrogate: Surrogate) -> f64 {
    match surrogate {
        Surrogate::Hinge | Surrogate::Ramp => 1.0,
        Surrogate::Logistic => std::f64::consts::LOG2_E,
        Surrogate::Sigmoid => 0.25,
    }
}
