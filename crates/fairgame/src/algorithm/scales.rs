//! The constants of the theorems, of a problem on two samples.
//!
//! | symbol | field | is at least |
//! |---|---|---|
//! | B_Δ | `gradient` | \|ℓ_i\| on val, over all classifiers |
//! | B_ℓ | `loss` | the width of the range of each ℓ_i(x), over single rows x of val |
//! | B_ℓ₀ | `objective` | the width of the range of ℓ̃₀ on train, where scores are bounded |
//! | B_ℓ̃ | `proxy` | \|ℓ̃₀\| and \|ℓ̃_i\| on train, where scores are bounded |
//! | B_Δ̌ | `subgradient` | ‖∂L_θ/∂θ‖₂ on train, for λ in the simplex, for linear models in a ball |
//!
//! A row's own loss ℓ_i(x) is what its mean over n rows is ℓ_i: n·w·α_i(x) for a positive decision. So for a
//! rate over one row in a hundred, B_ℓ is a hundred: a sample bounds such a rate that much less. Denominators
//! are taken as known; they are those of the sample.
//!
//! Scores are bounded where a linear model's θ lies in a ball of radius R: then |f| ≤ R·max‖x‖. A sigmoid
//! or ramp bounds the proxies whatever the scores. All but B_ℓ are of losses of whole samples, which is what
//! the players see, and what the proofs of convergence need.

use super::Setting;
use crate::Result;
use crate::rate::{Multipliers, Pushes, Surrogate};
use crate::sample::Sample;

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
    /// B_Δ̌, where there is one.
    pub subgradient: Option<f64>,
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
        Ok(Scales {
            gradient: most(&mut exact.iter().map(size)),
            loss: row_range(&**val)?,
            objective: proxies.map(|(_, width)| width),
            proxy: proxies.map(|(all, _)| all),
            subgradient,
        })
    }
}

/// The widest range of a single row's loss, over the constraints.
fn row_range(val: &dyn Sample) -> Result<f64> {
    let losses = val.losses();
    let constraints = losses.constraints();
    let heaviest = val.extremes()?.heaviest;
    let mut unit = Multipliers { objective: 0.0, constraints: vec![0.0; constraints] };
    let mut pushes = Pushes::default();
    let mut widest = 0.0_f64;
    for i in 0..constraints {
        unit.constraints[i] = 1.0;
        losses.pushes(&unit, &mut pushes);
        unit.constraints[i] = 0.0;
        let (mut down, mut up) = (0.0_f64, 0.0_f64);
        for (cell, weight) in heaviest.iter().enumerate() {
            let push = losses.push(&pushes, cell);
            down = down.max(weight * f64::from(push.down));
            up = up.max(weight * f64::from(push.up));
        }
        widest = widest.max(down + up);
    }
    Ok(widest * val.rows() as f64)
}

/// The largest |h'|.
fn steepest(surrogate: Surrogate) -> f64 {
    match surrogate {
        Surrogate::Hinge | Surrogate::Ramp => 1.0,
        Surrogate::Logistic => std::f64::consts::LOG2_E,
        Surrogate::Sigmoid => 0.25,
    }
}
