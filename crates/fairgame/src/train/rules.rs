//! The rules of the plug-in game, found by the programs.
//!
//! A **rule** is one λ, the same in all folds: each row is decided by the probabilities of the fold that it judges, so the
//! sums of a rule are over all rows. There is one program over all judging rows, and one without each part of them; each
//! finds rules of its own, from its own duals, so that the optimism of the selection has the search for rules in it.

use super::columns::{Measurements, Owner};
use super::fit::Ground;
use super::ranked::{Judged, Ranked};
use super::{Played, Training};
use crate::Result;
use crate::classifier::{Selection, ShrinkSpec, Start, price_columns};
use crate::rate::{Costs, LossValues, Multipliers, Tally};
use crate::sample::{Hypothesis, Parts, Work};

/// A rule that improves a program by less is not sought further.
const IMPROVES: f64 = 2e-6;

/// A rule that a program found.
struct Found {
    lambda: Multipliers,
    rule: Vec<f32>,
    sums: RuleSums,
}

/// What a rule decides on the judging rows.
pub(super) struct RuleSums {
    /// The weight decided positive: part by part, event by event.
    pub(super) positive: Vec<f64>,
    pub(super) tally: Tally,
}

/// The rows that judge, and the probabilities by which rules decide them.
pub(super) struct Jury<'a> {
    training: &'a Training<'a>,
    played: &'a [Played],
    cut: Parts<'a>,
    /// Where rules decide by at most one probability.
    ranked: Option<Ranked>,
}

impl<'a> Jury<'a> {
    /// Each judging row with the probability of the fold that it judges.
    pub(super) fn new(
        training: &'a Training<'a>,
        ground: &Ground,
        played: &'a [Played],
        cut: Parts<'a>,
    ) -> Self {
        let mut jury = Jury { training, played, cut, ranked: None };
        if ground.rule.probabilities() == 1 {
            let class_of = |cell: u32| match ground.grid.class_of(cell) {
                // As the rule itself takes a class that it does not know.
                class if (class as usize) < ground.rule.classes() => class,
                _ => 0,
            };
            let size = (training.enforced().compiled.losses().cells(), cut.count);
            let each = |see: &mut dyn FnMut(Judged)| jury.each(see);
            jury.ranked = Some(Ranked::new(size, class_of, each, &training.plan.threads));
        }
        jury
    }

    /// Calls with every row of every fold.
    fn each(&self, see: &mut dyn FnMut(Judged)) {
        for fold in 0..self.training.folds.len() {
            let sample = self.training.judging(self.played, fold);
            let (cells, weights) = (sample.compiled.cells(), sample.weights);
            let mut one = |row: usize| {
                see(Judged {
                    cell: cells[row],
                    part: self.cut.of[row],
                    probability: sample.features.row_values(row)[0],
                    weight: weights.map_or(1.0, |weights| weights[row]),
                });
            };
            match sample.among {
                Some(among) => among.iter().for_each(|&row| one(row as usize)),
                None => (0..sample.features.rows()).for_each(one),
            }
        }
    }

    /// What a rule decides on the judging rows, each by the fold that it judges.
    pub(super) fn measure(&self, rule: &[f32]) -> Result<RuleSums> {
        let (training, cut) = (self.training, self.cut);
        let losses = training.enforced().compiled.losses();
        let share = 1.0 / training.repeats() as f64;
        let (mut positive, mut tally) = match &self.ranked {
            Some(ranked) => ranked.decided(rule, losses),
            None => {
                let mut sums = (vec![0.0; cut.count * losses.events()], Tally::new(losses.cells()));
                let (rule, mut work) = (Hypothesis::Theta(rule.to_vec()), Work::default());
                for fold in 0..training.folds.len() {
                    let own = training.judging(self.played, fold).decided(&rule, cut, &mut work)?;
                    sums.0.iter_mut().zip(&own.0).for_each(|(sum, more)| *sum += more);
                    sums.1 += &own.1;
                }
                sums
            }
        };
        positive.iter_mut().for_each(|sum| *sum *= share);
        tally.scale(share);
        Ok(RuleSums { positive, tally })
    }
}

impl Training<'_> {
    /// The first rules of all programs: that of the objective alone, and the two constant ones.
    pub(super) fn first_rules(
        &self,
        ground: &Ground,
        jury: &Jury<'_>,
        measured: &mut Measurements,
    ) -> Result<()> {
        let enforced = self.enforced().compiled.losses();
        let rows = vec![1; enforced.cells()];
        let costs = ground.grid.costs(&self.bound, enforced.weights(), &rows);
        let width = 1 + ground.rule.probabilities();
        let constant = |gain: f32| -> Vec<f32> {
            let params = ground.rule.classes() * width;
            (0..params).map(|at| if at % width == 0 { gain } else { 0.0 }).collect()
        };
        for rule in [costs.rule(&self.silent()), constant(1.0), constant(-1.0)] {
            let sums = jury.measure(&rule)?;
            measured.push_rule(rule, self.silent(), Owner::Everyone, sums);
        }
        Ok(())
    }

    /// Lets each program find rules under each of these margins, and adds them to what was measured.
    pub(super) fn find_rules(
        &self,
        ground: &Ground,
        jury: &Jury<'_>,
        measured: &mut Measurements,
        (targets, allowed): (&[Vec<f64>], f64),
    ) -> Result<()> {
        let programs: Vec<Option<usize>> =
            std::iter::once(None).chain((0..measured.parts).map(Some)).collect();
        let find = |but: &Option<usize>| {
            let (weights, rows) = self.cells_without(*but, jury.cut.of);
            let costs = ground.grid.costs(&self.bound, &weights, &rows);
            let search = Search { training: self, jury, measured, costs, but: *but };
            search.run(targets, allowed)
        };
        let found = self.plan.threads.each(&programs, find);
        for (but, found) in programs.into_iter().zip(found) {
            for Found { lambda, rule, sums } in found? {
                measured.push_rule(rule, lambda, Owner::Program(but), sums);
            }
        }
        Ok(())
    }
}

/// The search of one program for rules.
struct Search<'a> {
    training: &'a Training<'a>,
    jury: &'a Jury<'a>,
    measured: &'a Measurements,
    costs: Costs,
    but: Option<usize>,
}

impl Search<'_> {
    fn run(&self, targets: &[Vec<f64>], allowed: f64) -> Result<Vec<Found>> {
        let mut columns = self.measured.program(self.but, |_| None)?.columns;
        let mut known: Vec<Vec<f32>> =
            self.measured.rules_of(self.but).map(<[f32]>::to_vec).collect();
        let (mut found, mut start) = (Vec::new(), Start::default());
        let most = self.measured.most_rules();
        for margins in targets {
            let mut mean: Option<Multipliers> = None;
            for round in 0..self.training.plug_in().rounds {
                let priced = price_columns(&columns, margins, allowed, &mut start)?;
                let lambda = Multipliers {
                    objective: priced.objective,
                    constraints: priced.constraints.clone(),
                };
                let average = match mean.take() {
                    None => lambda.clone(),
                    Some(before) => averaged(&before, &lambda, 1.0 / (round as f64 + 1.0)),
                };
                let mut improved = false;
                for lambda in [&lambda, &average] {
                    let rule = self.costs.rule(lambda);
                    if found.len() >= most || known.contains(&rule) {
                        continue;
                    }
                    let sums = self.jury.measure(&rule)?;
                    let values = self.measured.losses_of(&sums.positive, self.but);
                    let reduced = priced.reduced(values.objective, &values.constraints, margins);
                    improved |= reduced < -IMPROVES;
                    columns.push(values.objective, &values.constraints);
                    known.push(rule.clone());
                    found.push(Found { lambda: lambda.clone(), rule, sums });
                }
                mean = Some(average);
                if !improved {
                    break;
                }
            }
        }
        if let (Selection::Shrink(ShrinkSpec { deterministic: true, .. }), Some(margins)) =
            (self.training.plan.spec.selection, targets.first())
        {
            let lambda = price_columns(&columns, margins, allowed, &mut start)?;
            let lambda =
                Multipliers { objective: lambda.objective, constraints: lambda.constraints };
            found.extend(self.nearby(lambda, margins)?);
        }
        Ok(found)
    }

    /// Rules near that of some multipliers, of which one may do without a mixture: a search by coordinates for the rule
    /// of least objective that meets the constraints with these margins.
    fn nearby(&self, mut lambda: Multipliers, margins: &[f64]) -> Result<Vec<Found>> {
        /// How far multipliers are moved, as shares of their sum; and thresholds, as shares of the largest gain.
        const STEPS: [f64; 6] = [0.5, 0.25, 0.1, 0.05, 0.02, 0.01];
        /// So many of the largest multipliers are moved.
        const MOVED: usize = 8;
        // A violation of .01 weighs as much as .2 of the objective.
        let merit = |values: &LossValues| {
            let losses = values.constraints.iter().zip(margins);
            let worst = losses.map(|(loss, margin)| loss + margin).fold(0.0, f64::max);
            values.objective + 20.0 * worst
        };
        lambda.objective = lambda.objective.max(1e-3);
        let width = 1 + self.costs.sets();
        let (mut shift, mut found) = (0.0, Vec::new());
        let mut look = |lambda: &Multipliers, shift: f32| -> Result<f64> {
            let mut rule = self.costs.rule(lambda);
            rule.iter_mut().step_by(width).for_each(|gain| *gain += shift);
            let sums = self.jury.measure(&rule)?;
            let worth = merit(&self.measured.losses_of(&sums.positive, self.but));
            found.push(Found { lambda: lambda.clone(), rule, sums });
            Ok(worth)
        };
        let mut best = look(&lambda, shift)?;
        for step in STEPS {
            let scale = lambda.objective + lambda.constraints.iter().sum::<f64>();
            let mut order: Vec<usize> = (0..lambda.constraints.len()).collect();
            order.sort_by(|&a, &b| lambda.constraints[b].total_cmp(&lambda.constraints[a]));
            for at in order.into_iter().take(MOVED) {
                for by in [step * scale, -step * scale] {
                    let mut moved = lambda.clone();
                    moved.constraints[at] = (moved.constraints[at] + by).max(0.0);
                    let worth = look(&moved, shift)?;
                    if worth < best {
                        (best, lambda) = (worth, moved);
                        break;
                    }
                }
            }
            for by in [0.2 * step as f32, -0.2 * step as f32] {
                let worth = look(&lambda, shift + by)?;
                if worth < best {
                    (best, shift) = (worth, shift + by);
                    break;
                }
            }
        }
        Ok(found)
    }
}

/// A share of one more added to a mean.
fn averaged(before: &Multipliers, now: &Multipliers, share: f64) -> Multipliers {
    let mix = |before: f64, now: f64| before + share * (now - before);
    let pairs = before.constraints.iter().zip(&now.constraints);
    Multipliers {
        objective: mix(before.objective, now.objective),
        constraints: pairs.map(|(&before, &now)| mix(before, now)).collect(),
    }
}
