//! What rows say of a loss: its value, its variance, and what its interval is made of.

use std::collections::BTreeMap;

use super::counts::{Counts, Layout};
use super::estimate::{Quotient, RegionSums, outcomes, regions};
use super::interval::{Interval, Mean, Stratum, Unseen, sum_interval};
use super::quantile::normal;
use super::{Estimate, Measurement};
use crate::rate::{Form, Outcome};

/// What rows say of a loss ℓ = β + Σ_k a_k·μ_k.
#[derive(Debug, Clone)]
pub(super) struct Loss {
    /// ℓ on these rows.
    value: f64,
    /// Where ℓ lies, whatever the rows: every mean lies between 0 and 1.
    least: f64,
    most: f64,
    means: Means,
    rates: Vec<RateMean>,
}

/// A mean μ_k of a loss.
#[derive(Debug, Clone, Copy)]
struct RateMean {
    /// a_k.
    factor: f64,
    /// μ_k.
    value: f64,
    /// n_k.
    rows: f64,
}

impl RateMean {
    /// a_k²·p(1 − p)/n_k of a rate p.
    fn variance(&self, p: f64) -> f64 {
        self.factor * self.factor * p * (1.0 - p) / self.rows
    }

    /// p = (n_k·μ_k + 2)/(n_k + 4): with two rows added on either side.
    fn drawn(&self) -> f64 {
        (self.rows * self.value + 2.0) / (self.rows + 4.0)
    }
}

/// What the interval of a loss is made of.
#[derive(Debug, Clone)]
enum Means {
    None,
    One { mean: Mean, constant: f64, factor: f64 },
    Several { strata: Vec<Stratum>, unseen: Vec<Unseen> },
}

impl Loss {
    /// A loss, or why there is nothing to measure.
    pub(super) fn new(form: &Form, counts: &mut Counts<'_>) -> Result<Self, String> {
        let layout = Layout::new(counts, &[form]);
        let mut regions = regions(form, &layout)?;
        let factors = || form.terms.iter().map(|(factor, _)| *factor);
        let sum: f64 = factors().zip(&regions).map(|(factor, region)| factor * region.mean()).sum();
        let means = match &mut regions[..] {
            [] => Means::None,
            [region] => {
                let part = |meets: &[bool]| {
                    let outcome = outcomes(form, &layout, meets).next().flatten();
                    outcome.map(|outcome| (outcome, (1.0, 0.0)))
                };
                let mean = Quotient::new(&layout, part).mean(counts);
                region.squares = region.weight * region.weight / mean.rows;
                Means::One { mean, constant: form.constant, factor: form.terms[0].0 }
            }
            several => {
                let (strata, together) = strata(form, &layout, counts, several);
                let mut unseen = unseen(form, &layout, several);
                unseen.extend(together);
                Means::Several { strata, unseen }
            }
        };
        let rates = factors().zip(&regions).map(|(factor, region)| RateMean {
            factor,
            value: region.mean(),
            rows: region.effective(),
        });
        Ok(Loss {
            value: form.constant + sum,
            least: form.constant + factors().map(|factor| factor.min(0.0)).sum::<f64>(),
            most: form.constant + factors().map(|factor| factor.max(0.0)).sum::<f64>(),
            means,
            rates: rates.collect(),
        })
    }

    /// The interval that misses the population's loss with probability `alpha`.
    pub(super) fn interval(&self, alpha: f64) -> Interval {
        let value = self.value;
        match &self.means {
            Means::None => Interval { low: value, high: value },
            Means::One { mean, constant, factor } => {
                mean.interval(alpha).affine(*constant, *factor)
            }
            Means::Several { strata, unseen } => {
                let mut interval = sum_interval(value, strata, unseen, alpha);
                interval.low = interval.low.max(self.least).min(value);
                interval.high = interval.high.min(self.most).max(value);
                interval
            }
        }
    }

    /// The standard error of the loss on these rows, which does not vanish where decisions of a small group agree:
    /// the root of V + Σ_k a_k²·max(0, p_k(1 − p_k) − μ_k(1 − μ_k))/n_k, with p_k = (n_k·μ_k + 2)/(n_k + 4).
    pub(super) fn standard_error(&self) -> f64 {
        let more = |rate: &RateMean| rate.variance(rate.drawn()) - rate.variance(rate.value);
        let more: f64 = self.rates.iter().map(|rate| more(rate).max(0.0)).sum();
        (self.variance() + more).sqrt()
    }

    /// V as it is estimated.
    pub(super) fn variance(&self) -> f64 {
        match &self.means {
            Means::None => 0.0,
            Means::One { mean, factor, .. } => factor * factor * mean.found(),
            Means::Several { strata, .. } => strata.iter().map(|stratum| stratum.variance).sum(),
        }
    }

    /// Whether it is at most 0 whatever the rows.
    pub(super) fn always_met(&self) -> bool {
        self.most <= 0.0
    }

    /// How far the population's loss may be above that of these rows, with a chance of `misses` / 2: the upper half of
    /// the interval, and no less than the standard error allows.
    ///
    /// A loss that cannot be above 0 whatever the rows needs no more than the interval.
    pub(super) fn margin(&self, misses: f64) -> f64 {
        let upper = self.interval(misses).high - self.value;
        if self.always_met() {
            upper
        } else {
            upper.max(normal(misses / 2.0) * self.standard_error())
        }
    }

    /// The loss on `by` times as many rows like these.
    pub(super) fn of_more(&self, by: f64) -> Loss {
        let means = match &self.means {
            Means::None => Means::None,
            Means::One { mean, constant, factor } => {
                Means::One { mean: mean.of_more(by), constant: *constant, factor: *factor }
            }
            Means::Several { strata, unseen } => Means::Several {
                strata: strata
                    .iter()
                    .map(|one| Stratum { variance: one.variance / by, rows: one.rows * by })
                    .collect(),
                unseen: unseen.iter().map(|one| Unseen { rows: one.rows * by, ..*one }).collect(),
            },
        };
        let rates = self.rates.iter().map(|rate| RateMean { rows: rate.rows * by, ..*rate });
        Loss { means, rates: rates.collect(), ..*self }
    }

    /// The loss if it were larger by `up`, with the variance that the rates would then have, and no less than now.
    ///
    /// Of all ways to move the rates, the likeliest moves rate k by up·a_k·v_k / Σ_j a_j²·v_j, where v_k is its
    /// variance.
    pub(super) fn moved(&self, up: f64) -> Loss {
        let before: f64 = self.rates.iter().map(|rate| rate.variance(rate.drawn())).sum();
        let moved = |rate: &RateMean| {
            let by = up * rate.variance(rate.drawn()) / before / rate.factor;
            RateMean { value: (rate.value + by).clamp(0.0, 1.0), ..*rate }
        };
        let rates: Vec<RateMean> = self.rates.iter().map(moved).collect();
        let after: f64 = rates.iter().map(|rate| rate.variance(rate.drawn())).sum();
        let grown = (after / before).max(1.0);
        let means = match (&self.means, &rates[..]) {
            (Means::One { mean, constant, factor }, [rate]) => {
                Means::One { mean: mean.moved(rate.value), constant: *constant, factor: *factor }
            }
            (Means::Several { strata, unseen }, _) => Means::Several {
                strata: strata
                    .iter()
                    .map(|one| Stratum { variance: grown * one.variance, ..*one })
                    .collect(),
                unseen: unseen.clone(),
            },
            (means, _) => means.clone(),
        };
        let sum = |rates: &[RateMean]| rates.iter().map(|one| one.factor * one.value).sum::<f64>();
        let value = self.value + sum(&rates) - sum(&self.rates);
        Loss { value, means, rates, ..*self }
    }

    /// The loss of a form and the interval that misses it with probability `alpha`, or why there is nothing to measure.
    pub(super) fn measure(form: &Form, counts: &mut Counts<'_>, alpha: f64) -> Measurement {
        match Loss::new(form, counts) {
            Ok(loss) => loss.measured(alpha),
            Err(reason) => Measurement::Nothing { reason },
        }
    }

    /// The loss and the interval that misses it with probability `alpha`.
    pub(super) fn measured(&self, alpha: f64) -> Measurement {
        Measurement::Measured(Estimate { value: self.value, interval: self.interval(alpha) })
    }
}

/// V_i, Σ w and Σ w² of the units in the same regions, and the weight by pattern of those that have several rows.
#[derive(Default)]
struct StratumSums {
    variance: f64,
    weight: f64,
    squares: f64,
    together: Option<Vec<f64>>,
}

/// A set of regions, the first at the highest bit. Those from the 64th on share a bit: strata are only coarser for it.
fn region_set(shares: &[Option<Outcome>]) -> u64 {
    let bit = |(index, _): (usize, _)| 1 << (63 - index.min(63));
    shares.iter().enumerate().filter(|(_, share)| share.is_some()).map(bit).fold(0, |a, b| a | b)
}

/// Σ z_u² over the units in the same regions, for each combination of regions; and the kinds of units of several rows
/// that could have gone unseen. The squares of regions are completed by those of units of several rows.
fn strata(
    form: &Form,
    layout: &Layout,
    counts: &Counts<'_>,
    regions: &mut [RegionSums],
) -> (Vec<Stratum>, Vec<Unseen>) {
    let mut sums: BTreeMap<u64, StratumSums> = BTreeMap::new();
    // Of each pattern, the regions that it is in, and z_r = w·(u + v·p) of its rows.
    let mut influences: Vec<(u64, Outcome)> = Vec::with_capacity(layout.patterns.len());
    let mut inside: Vec<Vec<usize>> = Vec::with_capacity(layout.patterns.len());
    for pattern in &layout.patterns {
        let shares: Vec<_> = outcomes(form, layout, &pattern.meets).collect();
        let mut influence = (0.0, 0.0);
        for ((outcome, (factor, _)), region) in shares.iter().zip(&form.terms).zip(&*regions) {
            if let Some((u, v)) = outcome {
                influence.0 += factor * (u - region.mean()) / region.weight;
                influence.1 += factor * v / region.weight;
            }
        }
        let set = region_set(&shares);
        if set != 0 && pattern.alone.counted > 0 {
            let sum = sums.entry(set).or_default();
            sum.variance += pattern.alone.squares(influence);
            sum.weight += pattern.alone.w;
            sum.squares += pattern.alone.w2;
        }
        influences.push((set, influence));
        inside.push((0..shares.len()).filter(|&index| shares[index].is_some()).collect());
    }
    let mut weights = vec![0.0; regions.len()];
    for (times, parts) in counts.units(layout) {
        weights.fill(0.0);
        let (mut set, mut influence, mut least, mut weight) = (0, 0.0, 0.0, 0.0);
        for (pattern, w, wp) in parts.clone() {
            let (own, (u, v)) = influences[pattern];
            if own != 0 {
                set |= own;
                influence += u * w + v * wp;
                least += (u * w).abs() + (v * wp).abs();
                weight += w;
                inside[pattern].iter().for_each(|&index| weights[index] += w);
            }
        }
        if set == 0 {
            continue;
        }
        let sum = sums.entry(set).or_default();
        // What rounding leaves of nothing is nothing.
        if influence.abs() > 1e-12 * least {
            sum.variance += times * influence * influence;
        }
        sum.weight += times * weight;
        sum.squares += times * weight * weight;
        for (region, weight) in regions.iter_mut().zip(&weights) {
            region.squares += times * weight * weight;
        }
        let together = sum.together.get_or_insert_with(|| vec![0.0; influences.len()]);
        parts.for_each(|(pattern, w, _)| together[pattern] += times * w);
    }
    let mut unseen = Vec::new();
    if sums.values().any(|sum| sum.together.is_some()) {
        let furthest: Vec<_> = layout
            .patterns
            .iter()
            .map(|pattern| furthest(form, layout, &pattern.meets, regions))
            .collect();
        for together in sums.values().filter_map(|sum| sum.together.as_deref()) {
            unseen.extend(unseen_units(together, &inside, &furthest, regions));
        }
    }
    let stratum = |sum: StratumSums| Stratum {
        variance: sum.variance,
        rows: sum.weight * sum.weight / sum.squares,
    };
    (sums.into_values().map(stratum).collect(), unseen)
}

/// How far down and up a row that meets these predicates could move a loss for each unit of its weight, with any label
/// and either decision.
fn furthest(form: &Form, layout: &Layout, meets: &[bool], regions: &[RegionSums]) -> (f64, f64) {
    let (mut down, mut up) = (0.0_f64, 0.0_f64);
    for meets in relabelled(layout, meets) {
        for decided in [0.0, 1.0] {
            let shares = outcomes(form, layout, &meets).zip(&form.terms).zip(regions);
            let moved: f64 = shares
                .filter_map(|((outcome, (factor, _)), region)| {
                    let (u, v) = outcome?;
                    Some(factor * (u + v * decided - region.mean()) / region.weight)
                })
                .sum();
            (down, up) = (down.min(moved), up.max(moved));
        }
    }
    (down, up)
}

/// Units like those of one stratum that have gone unseen, whose rows all move the loss one way.
///
/// `together` is ŵ_c, the weight of the stratum's units in pattern c, which is `inside` some regions. In the smallest
/// region of theirs, of weight W, they have ŵ = Σ ŵ_c. If such units were a share η of that region, they would have
/// weight η·W·ŵ_c/ŵ in pattern c.
fn unseen_units(
    together: &[f64],
    inside: &[Vec<usize>],
    furthest: &[(f64, f64)],
    regions: &[RegionSums],
) -> Vec<Unseen> {
    let mut weights = vec![0.0; regions.len()];
    for (weight, inside) in together.iter().zip(inside) {
        inside.iter().for_each(|&index| weights[index] += weight);
    }
    let own = regions.iter().zip(weights).filter(|(_, weight)| *weight > 0.0);
    let smallest = own.min_by(|(a, _), (b, _)| a.weight.total_cmp(&b.weight));
    let Some((smallest, weight)) = smallest else { return Vec::new() };
    let sum = |side: fn(&(f64, f64)) -> f64| -> f64 {
        let moved = together.iter().zip(furthest).map(|(weight, ends)| weight * side(ends));
        moved.sum::<f64>() * smallest.weight / weight
    };
    let rows = smallest.effective();
    [sum(|ends| ends.0), sum(|ends| ends.1)].map(|jump| Unseen { jump, rows }).into()
}

/// With more predicates than this that shares are told by, only seen combinations of them are thought of.
const MOST_TOLD: usize = 4;

/// These predicates, with every combination of those that shares are told by.
fn relabelled<'a>(layout: &'a Layout, meets: &'a [bool]) -> impl Iterator<Item = Vec<bool>> + 'a {
    let told = if layout.told.len() > MOST_TOLD { &[] } else { &layout.told[..] };
    (0..1_usize << told.len()).map(move |labels| {
        let mut meets = meets.to_vec();
        for (bit, &place) in told.iter().enumerate() {
            meets[place] = labels >> bit & 1 == 1;
        }
        meets
    })
}

/// The kinds of rows that could have gone unseen: those of the patterns, with any label, and either decision.
fn unseen(form: &Form, layout: &Layout, regions: &[RegionSums]) -> Vec<Unseen> {
    let mut kinds = Vec::new();
    for pattern in &layout.patterns {
        for meets in relabelled(layout, &pattern.meets) {
            let shares: Vec<_> = outcomes(form, layout, &meets).collect();
            let inside = || {
                let inside = shares.iter().zip(regions).filter(|(outcome, _)| outcome.is_some());
                inside.map(|(_, region)| region)
            };
            let least = inside().map(|region| region.weight).fold(f64::INFINITY, f64::min);
            // Of regions of the same weight, but for rounding, the one of fewest effective rows: which is
            // found must not depend on the order in which weights were added up.
            let smallest = inside()
                .filter(|region| region.weight <= least * (1.0 + 1e-9))
                .min_by(|a, b| a.effective().total_cmp(&b.effective()));
            let Some(smallest) = smallest else { continue };
            for decided in [0.0, 1.0] {
                let terms = shares.iter().zip(&form.terms).zip(regions);
                let jump = terms.map(|((outcome, (factor, _)), region)| match outcome {
                    Some((u, v)) => {
                        let share = smallest.weight / region.weight;
                        factor * (u + v * decided - region.mean()) * share
                    }
                    None => 0.0,
                });
                kinds.push(Unseen { jump: jump.sum(), rows: smallest.effective() });
            }
        }
    }
    kinds
}
