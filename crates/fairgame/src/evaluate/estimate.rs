//! Rates and losses of one table: values, and the sums that their intervals need.

use std::collections::BTreeMap;

use super::counts::{Counts, Layout};
use super::interval::{Interval, Mean, Stratum, Unseen, sum_interval};
use super::moments::Moments;
use super::{Estimate, Measurement, RateResult};
use crate::rate::{Form, Outcome, WrittenRate};

/// What is summed over the region of a mean: the rows that it counts.
#[derive(Debug, Clone, Copy, Default)]
struct RegionSums {
    /// How many rows its group has, and how many of these are of its label.
    group: usize,
    rows: usize,
    /// W: their weight, and Σ w².
    weight: f64,
    squares: f64,
    /// Σ w·x.
    outcome: f64,
}

impl RegionSums {
    fn mean(&self) -> f64 {
        // Between 0 and 1, but for rounding.
        (self.outcome / self.weight).clamp(0.0, 1.0)
    }

    fn effective(&self) -> f64 {
        self.weight * self.weight / self.squares
    }
}

/// The outcomes of the shares of a form for rows that meet these predicates; `None` where they do not count.
fn outcomes<'a>(
    form: &'a Form,
    layout: &'a Layout,
    meets: &'a [bool],
) -> impl Iterator<Item = Option<Outcome>> + 'a {
    form.terms.iter().enumerate().map(|(index, (_, share))| {
        let (inside, told) = layout.of(index, meets);
        if inside { share.outcome(told) } else { None }
    })
}

/// The regions of a form's shares, or why one of them has nothing to measure.
fn regions(form: &Form, layout: &Layout) -> Result<Vec<RegionSums>, String> {
    let mut regions = vec![RegionSums::default(); form.terms.len()];
    for pattern in &layout.patterns {
        let sums = &pattern.sums;
        let shares = outcomes(form, layout, &pattern.meets).enumerate();
        for ((index, outcome), region) in shares.zip(&mut regions) {
            region.group += if layout.of(index, &pattern.meets).0 { sums.rows } else { 0 };
            if let Some(outcome) = outcome {
                region.rows += sums.rows;
                region.weight += sums.w;
                region.squares += sums.w2;
                region.outcome += sums.sum(outcome);
            }
        }
    }
    match regions.iter().zip(&form.terms).find(|(region, _)| region.weight <= 0.0) {
        Some((region, (_, share))) => Err(share.nothing(region.group, region.rows)),
        None => Ok(regions),
    }
}

/// A loss and the interval that misses it with probability `alpha`.
pub(super) fn loss(form: &Form, counts: &mut Counts<'_>, alpha: f64) -> Measurement {
    let layout = Layout::new(counts, &[form]);
    let regions = match regions(form, &layout) {
        Ok(regions) => regions,
        Err(reason) => return Measurement::Nothing { reason },
    };
    let factors = || form.terms.iter().map(|(factor, _)| *factor);
    let sum: f64 = factors().zip(&regions).map(|(factor, region)| factor * region.mean()).sum();
    let value = form.constant + sum;
    let interval = match &regions[..] {
        [] => Interval { low: value, high: value },
        [_] => {
            let mut quotient = Quotient::default();
            for pattern in &layout.patterns {
                if let Some(outcome) = outcomes(form, &layout, &pattern.meets).next().flatten() {
                    quotient.add(outcome, (1.0, 0.0), pattern.sums);
                }
            }
            quotient.mean().interval(alpha).affine(form.constant, form.terms[0].0)
        }
        _ => {
            let strata = strata(form, &layout, &regions);
            let mut interval =
                sum_interval(value, &strata, &unseen(form, &layout, &regions), alpha);
            // Every mean lies between 0 and 1.
            let least = form.constant + factors().map(|factor| factor.min(0.0)).sum::<f64>();
            let most = form.constant + factors().map(|factor| factor.max(0.0)).sum::<f64>();
            interval.low = interval.low.max(least).min(value);
            interval.high = interval.high.min(most).max(value);
            interval
        }
    };
    Measurement::Measured(Estimate { value, interval })
}

/// Σ z_r² over the rows in the same regions, for each combination of regions.
fn strata(form: &Form, layout: &Layout, regions: &[RegionSums]) -> Vec<Stratum> {
    // V_i, Σ w and Σ w² of each.
    let mut sums: BTreeMap<Vec<bool>, (f64, f64, f64)> = BTreeMap::new();
    for pattern in layout.patterns.iter().filter(|pattern| pattern.sums.counted > 0) {
        let shares: Vec<_> = outcomes(form, layout, &pattern.meets).collect();
        let mut influence = (0.0, 0.0);
        for ((outcome, (factor, _)), region) in shares.iter().zip(&form.terms).zip(regions) {
            if let Some((u, v)) = outcome {
                influence.0 += factor * (u - region.mean()) / region.weight;
                influence.1 += factor * v / region.weight;
            }
        }
        let inside: Vec<bool> = shares.iter().map(Option::is_some).collect();
        if inside.contains(&true) {
            let sum = sums.entry(inside).or_default();
            sum.0 += pattern.sums.squares(influence);
            sum.1 += pattern.sums.w;
            sum.2 += pattern.sums.w2;
        }
    }
    let stratum = |(variance, weight, squares): (f64, f64, f64)| Stratum {
        variance,
        rows: weight * weight / squares,
    };
    sums.into_values().map(stratum).collect()
}

/// With more predicates than this that shares are told by, only seen combinations of them are thought of.
const MOST_TOLD: usize = 4;

/// The kinds of rows that could have gone unseen: those of the patterns, with any label, and either decision.
fn unseen(form: &Form, layout: &Layout, regions: &[RegionSums]) -> Vec<Unseen> {
    let told = if layout.told.len() > MOST_TOLD { &[] } else { &layout.told[..] };
    let mut kinds = Vec::new();
    for pattern in &layout.patterns {
        for labels in 0..1_usize << told.len() {
            let mut meets = pattern.meets.clone();
            for (bit, &place) in told.iter().enumerate() {
                meets[place] = labels >> bit & 1 == 1;
            }
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

/// Σ ω·x / Σ ω over parts of the rows, in each of which ω = w·(d + e·p) and ω·x = w·(u + v·p).
#[derive(Default)]
struct Quotient {
    over: f64,
    under: f64,
    /// Σ ω², Σ ω·x².
    squares: f64,
    outcomes: f64,
    parts: Vec<(Outcome, Outcome, Moments)>,
    /// How many rows have ω > 0.
    rows: usize,
}

impl Quotient {
    fn add(&mut self, over: Outcome, under: Outcome, sums: Moments) {
        self.over += sums.sum(over);
        self.under += sums.sum(under);
        self.squares += sums.squares(under);
        self.outcomes += sums.spread(over, under);
        self.rows += match (under.0 > 0.0, under.1 > 0.0) {
            (true, _) => sums.counted,
            (false, true) => sums.positive,
            (false, false) => 0,
        };
        self.parts.push((over, under, sums));
    }

    fn mean(&self) -> Mean {
        let value = (self.over / self.under).clamp(0.0, 1.0);
        let deviations = self
            .parts
            .iter()
            .map(|((u, v), (d, e), sums)| sums.squares((u - value * d, v - value * e)));
        Mean {
            value,
            variance: deviations.sum::<f64>() / (self.under * self.under),
            spread: (self.outcomes / self.under - value * value).max(0.0),
            rows: self.under * self.under / self.squares,
        }
    }
}

/// A rate as it is written, and the interval that misses it with probability `alpha`.
///
/// A ratio c·N/D is an increasing function c·q / (1 + (c − 1)·q) of q = N / (D − (c − 1)·N). Of F1, where c is 2,
/// q is the share of rows decided positive among those that are positive, or decided so, or both: a mean in
/// which every row counts alike, which F1 itself is not.
pub(super) fn rate(shown: &WrittenRate, counts: &mut Counts<'_>, alpha: f64) -> RateResult {
    let one = Form::constant(1.0);
    let under = shown.under.as_ref().unwrap_or(&one);
    let layout = Layout::new(counts, &[&shown.over, under]);
    let result = |rows, measurement| RateResult { text: shown.text.clone(), rows, measurement };
    if let Err(reason) = regions(&shown.over, &layout) {
        return result(0, Measurement::Nothing { reason });
    }
    let c = match (&shown.under, &shown.over.terms[..]) {
        (Some(_), [(factor, _)]) => *factor,
        _ => 1.0,
    };
    let mut quotient = Quotient::default();
    for pattern in &layout.patterns {
        let over = linear(&shown.over, &layout, 0, &pattern.meets);
        let under = linear(under, &layout, shown.over.terms.len(), &pattern.meets);
        if let (Some((u, v)), Some((d, e))) = (over, under) {
            let (u, v) = (u / c, v / c);
            quotient.add((u, v), (d - (c - 1.0) * u, e - (c - 1.0) * v), pattern.sums);
        }
    }
    if quotient.under <= 0.0 {
        let reason = "nothing is decided positive".to_owned();
        return result(0, Measurement::Nothing { reason });
    }
    let mean = quotient.mean();
    let from = |q: f64| c * q / (1.0 + (c - 1.0) * q);
    let Interval { low, high } = mean.interval(alpha);
    let interval = Interval { low: from(low), high: from(high) };
    result(quotient.rows, Measurement::Measured(Estimate { value: from(mean.value), interval }))
}

/// β + Σ_k a_k·x_k of a row as u + v·p, where the shares stand from `first` on; `None` where it does not count.
fn linear(form: &Form, layout: &Layout, first: usize, meets: &[bool]) -> Option<Outcome> {
    let mut sum = (form.constant, 0.0);
    for (index, (factor, share)) in form.terms.iter().enumerate() {
        let (inside, told) = layout.of(first + index, meets);
        let (u, v) = if inside { share.outcome(told)? } else { return None };
        sum = (sum.0 + factor * u, sum.1 + factor * v);
    }
    Some(sum)
}
