//! Rates of one table, and the means that rates and losses are made of: values, and the sums that intervals need.

use super::counts::{Counts, Layout, Pattern};
use super::interval::{Interval, Mean};
use super::{Estimate, Measurement, RateResult};
use crate::rate::{Form, Outcome, WrittenRate};

/// What is summed over the region of a mean: the rows that it counts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RegionSums {
    /// How many rows its group has, and how many of these are of its label.
    group: usize,
    rows: usize,
    /// W: their weight, and Σ w² over units.
    pub(super) weight: f64,
    pub(super) squares: f64,
    /// Σ w·x.
    outcome: f64,
}

impl RegionSums {
    pub(super) fn mean(&self) -> f64 {
        // Between 0 and 1, but for rounding.
        (self.outcome / self.weight).clamp(0.0, 1.0)
    }

    /// Effective units: rows, where each is a unit of its own.
    pub(super) fn effective(&self) -> f64 {
        self.weight * self.weight / self.squares
    }
}

/// The outcomes of the shares of a form for rows that meet these predicates; `None` where they do not count.
pub(super) fn outcomes<'a>(
    form: &'a Form,
    layout: &'a Layout,
    meets: &'a [bool],
) -> impl Iterator<Item = Option<Outcome>> + 'a {
    form.terms.iter().enumerate().map(|(index, (_, share))| {
        let (inside, told) = layout.of(index, meets);
        if inside { share.outcome(told) } else { None }
    })
}

/// The regions of a form's shares, or why one of them has nothing to measure. Units of several rows are no part of
/// their squares.
pub(super) fn regions(form: &Form, layout: &Layout) -> Result<Vec<RegionSums>, String> {
    let mut regions = vec![RegionSums::default(); form.terms.len()];
    for pattern in &layout.patterns {
        let sums = &pattern.sums;
        let shares = outcomes(form, layout, &pattern.meets).enumerate();
        for ((index, outcome), region) in shares.zip(&mut regions) {
            region.group += if layout.of(index, &pattern.meets).0 { sums.rows } else { 0 };
            if let Some(outcome) = outcome {
                region.rows += sums.rows;
                region.weight += sums.w;
                region.squares += pattern.alone.w2;
                region.outcome += sums.sum(outcome);
            }
        }
    }
    match regions.iter().zip(&form.terms).find(|(region, _)| region.weight <= 0.0) {
        Some((region, (_, share))) => Err(share.nothing(region.group, region.rows)),
        None => Ok(regions),
    }
}

/// Σ ω·x / Σ ω over rows, where ω = w·(d + e·p) and ω·x = w·(u + v·p) in each pattern of a layout.
pub(super) struct Quotient<'a> {
    layout: &'a Layout,
    /// (u, v) and (d, e) of each pattern; `None` where its rows do not count.
    parts: Vec<Option<(Outcome, Outcome)>>,
    over: f64,
    under: f64,
    /// How many rows have ω > 0.
    rows: usize,
}

impl<'a> Quotient<'a> {
    pub(super) fn new(
        layout: &'a Layout,
        part: impl Fn(&[bool]) -> Option<(Outcome, Outcome)>,
    ) -> Self {
        let (mut over, mut under, mut rows) = (0.0, 0.0, 0);
        let mut add = |pattern: &Pattern| {
            let part = part(&pattern.meets)?;
            let sums = &pattern.sums;
            over += sums.sum(part.0);
            under += sums.sum(part.1);
            rows += match (part.1.0 > 0.0, part.1.1 > 0.0) {
                (true, _) => sums.counted,
                (false, true) => sums.positive,
                (false, false) => 0,
            };
            Some(part)
        };
        let parts = layout.patterns.iter().map(&mut add).collect();
        Quotient { layout, parts, over, under, rows }
    }

    /// The mean; a unit of several rows counts as one row with ω = Σ ω_r, whose outcome is their mean.
    pub(super) fn mean(&self, counts: &Counts<'_>) -> Mean {
        let value = (self.over / self.under).clamp(0.0, 1.0);
        // Σ ω², Σ ω·x², Σ ω²·(x − μ)².
        let (mut squares, mut outcomes, mut deviations) = (0.0, 0.0, 0.0);
        let patterns = self.layout.patterns.iter().zip(&self.parts);
        for (pattern, part) in patterns {
            if let Some((over, under)) = *part {
                let sums = &pattern.alone;
                squares += sums.squares(under);
                outcomes += sums.spread(over, under);
                deviations += sums.squares((over.0 - value * under.0, over.1 - value * under.1));
            }
        }
        for (times, rows) in counts.units(self.layout) {
            let (mut over, mut under, mut least) = (0.0, 0.0, 0.0);
            for (pattern, w, wp) in rows {
                if let Some(((u, v), (d, e))) = self.parts[pattern] {
                    over += u * w + v * wp;
                    under += d * w + e * wp;
                    least +=
                        ((u * w).abs() + (v * wp).abs()) + value * ((d * w).abs() + (e * wp).abs());
                }
            }
            if under > 0.0 {
                squares += times * under * under;
                outcomes += times * over * over / under;
                // What rounding leaves of nothing is nothing.
                let deviation = over - value * under;
                if deviation.abs() > 1e-12 * least {
                    deviations += times * deviation * deviation;
                }
            }
        }
        Mean {
            value,
            variance: deviations / (self.under * self.under),
            spread: (outcomes / self.under - value * value).max(0.0),
            rows: self.under * self.under / squares,
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
    let nothing = |reason| RateResult {
        text: shown.text.clone(),
        rows: 0,
        effective_rows: 0.0,
        measurement: Measurement::Nothing { reason },
    };
    if let Err(reason) = regions(&shown.over, &layout) {
        return nothing(reason);
    }
    let c = match (&shown.under, &shown.over.terms[..]) {
        (Some(_), [(factor, _)]) => *factor,
        _ => 1.0,
    };
    let quotient = Quotient::new(&layout, |meets| {
        let over = linear(&shown.over, &layout, 0, meets)?;
        let (d, e) = linear(under, &layout, shown.over.terms.len(), meets)?;
        let (u, v) = (over.0 / c, over.1 / c);
        Some(((u, v), (d - (c - 1.0) * u, e - (c - 1.0) * v)))
    });
    if quotient.under <= 0.0 {
        return nothing("nothing is decided positive".to_owned());
    }
    let mean = quotient.mean(counts);
    let from = |q: f64| c * q / (1.0 + (c - 1.0) * q);
    let Interval { low, high } = mean.interval(alpha);
    let interval = Interval { low: from(low), high: from(high) };
    RateResult {
        text: shown.text.clone(),
        rows: quotient.rows,
        effective_rows: mean.rows,
        measurement: Measurement::Measured(Estimate { value: from(mean.value), interval }),
    }
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
