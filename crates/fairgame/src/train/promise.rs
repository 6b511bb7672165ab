//! What a training says of each constraint: whether it was enforced, and whether it is promised on new rows.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Training;
use super::mixture::{Chosen, Optimism, SAME};
use crate::classifier::{Blend, Margin, Selection};
use crate::evaluate::{Estimate, Evaluation, Interval, ROUNDING};

/// How a constraint stands after training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Enforced, and with the margin for the confidence that was asked for: it holds in the population as often as that.
    Promised,
    /// Its value on the judging rows, and the optimism of the selection, are together at most 0.
    Enforced,
    /// Neither.
    Violated,
}

impl Standing {
    /// How all constraints stand together: promised where all are, violated where one is.
    pub fn of_all(enforcement: &[Enforcement]) -> Standing {
        let any = |standing: Standing| enforcement.iter().any(|one| one.standing == standing);
        match () {
            () if any(Standing::Violated) => Standing::Violated,
            () if any(Standing::Enforced) => Standing::Enforced,
            // Without constraints there is nothing that a promise could be of.
            () if enforcement.is_empty() => Standing::Enforced,
            () => Standing::Promised,
        }
    }

    /// One word for it.
    pub fn name(self) -> &'static str {
        match self {
            Standing::Promised => "promised",
            Standing::Enforced => "enforced",
            Standing::Violated => "violated",
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What a training says of a constraint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Enforcement {
    /// The constraint, as written.
    pub constraint: String,
    /// Its loss on the rows that it was enforced on; with cross-fitting, out of fold.
    pub value: f64,
    /// By how much its loss is larger on rows that had no part in the selection, as it was measured; `None` where it was
    /// not.
    pub optimism: Option<f64>,
    /// The margin that was asked for, beyond the optimism.
    pub asked: f64,
    /// The margin that was had: less than 0 where not even the optimism could be paid.
    pub margin: f64,
    /// Its loss on new rows: with the optimism, and the interval that the judging rows give.
    pub estimate: Option<Estimate>,
    /// How it stands.
    pub standing: Standing,
}

/// Why nothing is promised where a confidence was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoPromise {
    /// Rows that judge have taught.
    RowsThatTeach,
    /// The validation rows are among the training rows.
    Overlap,
    /// The validation rows have labels that the training rows have not.
    Labels,
    /// The optimism of the selection was not measured.
    NotMeasured,
    /// The mean of several folds decides, which was not judged.
    Mean,
}

impl Training<'_> {
    /// Why no promise can be made, whatever the margin.
    pub(super) fn no_promise(&self) -> Option<NoPromise> {
        match self.plan.spec.selection {
            Selection::Shrink(spec) if spec.parts > 0 => match () {
                () if self.validates_by_training_rows() => Some(NoPromise::Overlap),
                () if self.validates_by_strange_labels() => Some(NoPromise::Labels),
                () if !self.judges_apart() => Some(NoPromise::RowsThatTeach),
                () if self.blend() == Blend::Mean && self.folds.len() > 1 => Some(NoPromise::Mean),
                () => None,
            },
            _ => Some(NoPromise::NotMeasured),
        }
    }

    /// What is said of each constraint, given the judging rows' own evaluation.
    pub(super) fn enforcement(&self, chosen: &Chosen, enforced: &Evaluation) -> Vec<Enforcement> {
        let values = chosen.measured.mixed(&chosen.weights, None).constraints;
        let paid = chosen.paid.as_ref();
        let optimism = paid.and_then(|paid| paid.optimism.as_ref());
        let corrections = optimism.map(Optimism::paid);
        let sure = self.sure(chosen, optimism);
        let of = |(at, value): (usize, f64)| {
            let correction = corrections.as_ref().map_or(0.0, |all| all[at]);
            let (asked, margin) = paid.map_or((0.0, 0.0), |paid| (paid.asked[at], paid.had[at]));
            let found = enforced.constraints[at].measurement.estimate();
            let estimate = found.map(|found| Estimate {
                value: found.value + correction,
                interval: Interval {
                    low: found.interval.low + correction,
                    high: found.interval.high + correction,
                },
            });
            let yielded = optimism.map_or(0, |optimism| optimism.yielded[at]);
            let known = optimism.filter(|optimism| !optimism.unknown[at]);
            let promised = sure.as_ref().is_some_and(|sure| {
                let room = -(value + correction);
                known.is_some()
                    && margin >= asked - 1e-6
                    && room >= sure[at].with_draws * (1.0 - NEARLY) - SAME
                    && paid.is_some_and(|paid| paid.spare)
                    && 10 * yielded <= chosen.measured.parts
            });
            Enforcement {
                constraint: self.bound.constraints()[at].name().to_owned(),
                value,
                optimism: known.map(|optimism| optimism.losses.constraints[at]),
                asked,
                margin,
                estimate,
                standing: match value + correction <= ROUNDING {
                    true if promised => Standing::Promised,
                    true => Standing::Enforced,
                    false => Standing::Violated,
                },
            }
        };
        values.into_iter().enumerate().map(of).collect()
    }

    /// The margins that a promise needs at the confidence that was asked for, if one can be made.
    fn sure(&self, chosen: &Chosen, optimism: Option<&Optimism>) -> Option<Vec<Sure>> {
        let Selection::Shrink(spec) = self.plan.spec.selection else { return None };
        if self.no_promise().is_some() {
            return None;
        }
        let level = spec.margin.confidence()?;
        let margin = Margin::Confidence(level);
        let z = margin.quantile(self.bound.constraints().len());
        let alone = self.margins(margin, &chosen.chances, optimism, &chosen.paid_shared);
        let sure = |(at, alone): (usize, f64)| {
            let spread = chosen.shared.get(at).copied().unwrap_or(0.0);
            let with_draws = match chosen.covers_shared(at, alone) {
                true => alone,
                // Squares of what spreads independently add up.
                false => alone.hypot(z * spread),
            };
            Sure { alone, with_draws }
        };
        Some(alone.into_iter().enumerate().map(sure).collect())
    }

    /// Whether all constraints that are not promised have the margin that a promise needs, but for draws that rows share.
    pub(super) fn short_by_draws(&self, chosen: &Chosen, enforcement: &[Enforcement]) -> bool {
        let optimism = chosen.paid.as_ref().and_then(|paid| paid.optimism.as_ref());
        let corrections = optimism.map(Optimism::paid);
        let Some(sure) = self.sure(chosen, optimism) else { return false };
        enforcement.iter().zip(&sure).enumerate().all(|(at, (one, sure))| {
            let room = -(one.value + corrections.as_ref().map_or(0.0, |all| all[at]));
            one.standing == Standing::Promised || room >= sure.alone * (1.0 - NEARLY) - SAME
        })
    }
}

/// The margin that a promise of a constraint needs.
struct Sure {
    /// Without draws that rows share, or with those that were paid for.
    alone: f64,
    /// With them.
    with_draws: f64,
}

impl Chosen {
    /// Whether this margin of a constraint covers the spread by draws that rows share.
    ///
    /// It does where it was asked for, or where the spread is small: two standard deviations of a quarter of the margin
    /// add 3 % to it, as squares add up.
    pub(super) fn covers_shared(&self, at: usize, margin: f64) -> bool {
        let of = |all: &[f64]| all.get(at).copied().unwrap_or(0.0);
        let (spread, paid) = (of(&self.shared), of(&self.paid_shared));
        2.0 * spread <= 0.25 * margin || spread <= 1.15 * paid
    }
}

impl Training<'_> {
    /// By how much draws that rows share spread each constraint's loss, where margins can cover that and do not yet:
    /// a spread that is larger than the margin itself would cost too much, and draws by an identifier cost nothing.
    pub(super) fn to_cover(&self, chosen: &Chosen) -> Option<Vec<f64>> {
        let Selection::Shrink(spec) = self.plan.spec.selection else { return None };
        let z = spec.margin.quantile(self.bound.constraints().len());
        let asked = &chosen.paid.as_ref()?.asked;
        let open = (0..asked.len()).any(|at| !chosen.covers_shared(at, asked[at]));
        let small = chosen.shared.iter().zip(asked).all(|(spread, margin)| z * spread <= *margin);
        (open && small).then(|| chosen.shared.clone())
    }
}

/// The last round of margins may leave this share of one.
const NEARLY: f64 = 0.02;
