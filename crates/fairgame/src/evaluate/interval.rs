//! Confidence intervals of means of bounded outcomes, and of sums of such means over overlapping groups.
//!
//! # One mean
//!
//! Let x_r ∈ [0, 1] be the outcome of row r and ω_r ≥ 0 what it counts; μ = Σ ω_r·x_r / Σ ω_r estimates the
//! population's E[ω·x] / E[ω], from n = (Σ ω_r)² / Σ ω_r² effective rows (Kish). Its variance V is estimated by
//! Σ ω_r²·(x_r − μ)² / (Σ ω_r)², but by no less than (Σ ω_r·(x_r − μ)² / Σ ω_r) / n, what it would be if ω told
//! nothing of x: of a few rows that differ from the others, the heavy ones may have gone unseen. The interval at
//! level 1 − α is the wider end, either side, of two:
//!
//! - **Clopper and Pearson's**, of μ·n* successes in n* trials, where n* = μ(1 − μ)/V trials would have the same
//!   variance (Korn and Graubard 1998). Where outcomes are 0 or 1 and rows count alike, V = μ(1 − μ)/n, so n* = n,
//!   and the interval is the exact one. Where V differs from μ(1 − μ)/n, it has been estimated, and what the
//!   mean alone does not tell of it is widened by (t/z)², with z and t the quantiles of the normal and
//!   Student's distribution with n − 1 degrees of freedom.
//! - **Wilson's, for bounded outcomes.** Equal outcomes have V = 0, and yet an unseen kind of row may be out
//!   there. Let a share η of the population be such rows, at the far end J away from μ. The mean moves by η·J, and
//!   a row's variance to (1 − η)(n·V + η·J²); the end is where the move is as large as z standard errors allow:
//!
//!   ```text
//!   n·(η·J)² = z²·(1 − η)·(n·V + η·J²)
//!   ```
//!
//!   For outcomes of 0 and 1 this is Wilson's interval.
//!
//! # Sums of means
//!
//! Let ℓ = β + Σ_k a_k·μ_k, with μ_k the mean of x_k over region R_k of weight W_k. The influence of row r,
//!
//! ```text
//! z_r = Σ_k a_k·w_r·1{r ∈ R_k}·(x_kr − μ_k) / W_k,
//! ```
//!
//! is summed over all regions before it is squared, so V = Σ_r z_r² has every covariance of overlapping regions.
//! V is a sum over strata, the rows that are in the same regions: V = Σ_i V_i, each with n_i effective rows, and
//! has (Σ V_i)² / Σ V_i²/(n_i − 1) degrees of freedom (Welch and Satterthwaite). The interval reaches as far as
//! unseen rows could have moved ℓ, as above: of every kind of row, seen or with another label, that moves ℓ by J
//! for each unit of its share η of the smallest region it is in, one of n effective rows,
//!
//! ```text
//! n·(η·J)² = t²·(n·V + η·(1 − η)·J²),
//! ```
//!
//! and never less far than t·√V.
//!
//! # By unit
//!
//! Where rows come in units, a unit u counts as one row: of one mean, with ω_u = Σ_r ω_r and x_u = Σ_r ω_r·x_r / ω_u, which
//! lies in [0, 1], too; of several, with z_u = Σ_r z_r. n counts effective units, V = Σ_u z_u², and a stratum is the units
//! whose rows are, together, in the same regions. Beside the kinds of rows that may be unseen there are kinds of units:
//! made up of rows as those of a stratum are, and all of these moving ℓ one way as far as they can.

use serde::{Deserialize, Serialize};

use super::quantile::{beta, normal, student};

/// Both ends of a confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// The values β + a·x for x within.
    pub(super) fn affine(self, constant: f64, factor: f64) -> Self {
        let ends = [self.low, self.high].map(|end| constant + factor * end);
        Interval { low: ends[0].min(ends[1]), high: ends[0].max(ends[1]) }
    }

    /// Whether a value lies within.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// A mean μ of outcomes in [0, 1].
#[derive(Debug, Clone, Copy)]
pub(super) struct Mean {
    /// μ.
    pub(super) value: f64,
    /// Σ ω²·(x − μ)² / (Σ ω)².
    pub(super) variance: f64,
    /// Σ ω·(x − μ)² / Σ ω.
    pub(super) spread: f64,
    /// n.
    pub(super) rows: f64,
}

/// Student's distribution needs one degree of freedom; fewer are as good as none.
fn freedom(rows: f64) -> f64 {
    (rows - 1.0).max(1.0)
}

impl Mean {
    /// V as it is estimated: no less than if ω told nothing of x.
    pub(super) fn found(self) -> f64 {
        self.variance.max(self.spread / self.rows)
    }

    /// The mean of `by` times as many rows like these.
    pub(super) fn of_more(self, by: f64) -> Mean {
        Mean { variance: self.variance / by, rows: self.rows * by, ..self }
    }

    /// The mean if it were `value`, with outcomes spread as they are in relation to outcomes of 0 and 1, and no less
    /// than now.
    pub(super) fn moved(self, value: f64) -> Mean {
        let (before, after) = (self.value * (1.0 - self.value), value * (1.0 - value));
        let (variance, spread) = if before > 0.0 {
            (self.variance * after / before, self.spread * after / before)
        } else {
            (after / self.rows, after)
        };
        let (variance, spread) = (variance.max(self.variance), spread.max(self.spread));
        Mean { value, variance, spread, rows: self.rows }
    }

    /// The interval that misses the population's mean with probability `alpha`.
    pub(super) fn interval(self, alpha: f64) -> Interval {
        let (tail, n) = (alpha / 2.0, self.rows);
        let mean = self.value.clamp(0.0, 1.0);
        let z = normal(tail);
        let widened = (student(freedom(n), tail) / z).powi(2);
        let told = mean * (1.0 - mean) / n;
        let found = self.found();
        let variance = if found <= told {
            told.min(found * widened)
        } else {
            found + (widened - 1.0) * (found - told)
        };
        let trials = if told > 0.0 { mean * (1.0 - mean) / variance } else { n };
        let (below, above) = clopper_pearson(mean, trials, tail);
        let high = mean + wilson(n, variance, 1.0 - mean, z);
        let low = mean - wilson(n, variance, mean, z);
        Interval { low: low.min(below).max(0.0), high: high.max(above).min(1.0) }
    }
}

/// About how many rows would tell a rate to within `width`, at that confidence, given what it is on so few.
///
/// These may be so few that they all agree: the rate that is reckoned with is drawn towards ½, by as much as an interval
/// of Agresti and Coull is.
///
/// ```
/// // Nothing is known of it: as many as for a half.
/// let needed = fairgame::evaluate::rows_needed(1.0, 1, 0.95, 0.2);
/// assert!((85..=105).contains(&needed));
/// // Known to be rare: fewer will do.
/// assert!(fairgame::evaluate::rows_needed(0.02, 1_000, 0.95, 0.2) < 40);
/// ```
pub fn rows_needed(value: f64, rows: usize, confidence: f64, width: f64) -> usize {
    let alpha = (1.0 - confidence).clamp(1e-12, 1.0);
    let (n, z2) = (rows as f64, normal(alpha / 2.0).powi(2));
    let value = (n * value.clamp(0.0, 1.0) + z2 / 2.0) / (n + z2);
    let spread = value * (1.0 - value);
    let tells = |rows: u64| {
        let rows = rows as f64;
        let Interval { low, high } =
            Mean { value, variance: spread / rows, spread, rows }.interval(alpha);
        high - low <= width
    };
    let (mut few, mut enough) = (0, 1);
    while !tells(enough) && enough < 1 << 40 {
        (few, enough) = (enough, 2 * enough);
    }
    while enough - few > 1 {
        let half = few + (enough - few) / 2;
        if tells(half) { enough = half } else { few = half }
    }
    enough as usize
}

/// The ends for `mean·trials` successes, of which neither need be whole.
fn clopper_pearson(mean: f64, trials: f64, tail: f64) -> (f64, f64) {
    let (successes, failures) = (mean * trials, (1.0 - mean) * trials);
    // Nothing varies, or so little that only the normal shape is left.
    if trials > 1e9 {
        let far = normal(tail) * (mean * (1.0 - mean) / trials).sqrt();
        return (mean - far, mean + far);
    }
    let low = if successes > 0.0 { beta(successes, failures + 1.0, tail) } else { 0.0 };
    let high = if failures > 0.0 { 1.0 - beta(failures, successes + 1.0, tail) } else { 1.0 };
    (low, high)
}

/// How far unseen rows, `jump` away, may have moved a mean: η·J of Wilson's equation.
fn wilson(n: f64, variance: f64, jump: f64, z: f64) -> f64 {
    if jump <= 0.0 {
        return 0.0;
    }
    let (z2, spread) = (z * z, n * variance / (jump * jump));
    // (n + z²)·η² − z²·(1 − spread)·η − z²·spread = 0
    let linear = z2 * (1.0 - spread);
    let root = (linear * linear + 4.0 * (n + z2) * z2 * spread).sqrt();
    (linear + root) / (2.0 * (n + z2)) * jump
}

/// A kind of row that may be unseen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unseen {
    /// J: above 0 where it moves the loss up.
    pub(super) jump: f64,
    /// n, of the smallest region that it is in.
    pub(super) rows: f64,
}

/// The rows that are in the same regions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stratum {
    /// V_i.
    pub(super) variance: f64,
    /// n_i.
    pub(super) rows: f64,
}

/// The interval that misses the population's loss with probability `alpha`.
pub(super) fn sum_interval(
    value: f64,
    strata: &[Stratum],
    unseen: &[Unseen],
    alpha: f64,
) -> Interval {
    let variance: f64 = strata.iter().map(|stratum| stratum.variance).sum();
    let spread: f64 = strata
        .iter()
        .map(|stratum| stratum.variance * stratum.variance / freedom(stratum.rows))
        .sum();
    let freedom = if spread > 0.0 {
        variance * variance / spread
    } else {
        freedom(strata.iter().map(|stratum| stratum.rows).fold(f64::INFINITY, f64::min))
    };
    let t2 = student(freedom.max(1.0), alpha / 2.0).powi(2);
    let reach = |sign: f64| {
        let moves = unseen.iter().filter(|unseen| sign * unseen.jump > 0.0).map(|unseen| {
            let (n, jump) = (unseen.rows, unseen.jump.abs());
            // (n + t²)·η² − t²·η − t²·n·V/J² = 0
            let rest = 4.0 * (n + t2) * t2 * n * variance / (jump * jump);
            (t2 + (t2 * t2 + rest).sqrt()) / (2.0 * (n + t2)) * jump
        });
        moves.fold((t2 * variance).sqrt(), f64::max)
    };
    Interval { low: value - reach(-1.0), high: value + reach(1.0) }
}
