//! From kept models to one mixture: measured, selected, with margins and the optimism of the selection.
//!
//! The program chooses, of thousands of columns, those that look best on the judging rows; on new rows they are a
//! little worse. With the judging rows cut into J parts, p⁽ʲ⁾ the mixture chosen without part j, ℓ_i⁽⁻ʲ⁾ the losses over
//! all rows but that part, and ℓ_i over all rows with part j decided by p⁽ʲ⁾,
//!
//! ```text
//! optimism_i = ℓ_i(p⁽¹⁾ on part 1, …, p⁽ᴶ⁾ on part J) − 1/J·Σ_j ℓ_i⁽⁻ʲ⁾(p⁽ʲ⁾)
//! ```
//!
//! estimates by how much. It is added to each constraint before anything else; the margin that was asked for comes on
//! top of it. The estimate has noise of its own. What p⁽ʲ⁾ loses on part j beside the mixture p of all rows is
//! δ_j = J·(ℓ_ij(p⁽ʲ⁾) − ℓ_ij(p)), with ℓ_ij what part j adds to ℓ_i; the estimate's standard error is that of their mean,
//! √(Var_j δ_j / J). The programs share most of their rows, so that this is too small; what was measured over many draws
//! of the rows is [`SPREAD`] of the optimism. With τ_i the larger of the two, and at least [`LEAST_SPREAD`]·σ_i where
//! the constraint counts labels, a margin of z standard errors σ_i is z·√(σ_i² + τ_i²).
//!
//! Margin and optimism depend on the mixture, and it on both, so all three are found anew until they stay. A margin that
//! is infeasible is reduced, and no constraint is; the optimism is reduced last.

use super::columns::{Held, Measurements};
use super::fit::Ground;
use super::rules::Jury;
use super::{Played, Training};
use crate::Result;
use crate::classifier::{
    Candidates, Columns, Dataset, Epsilon, Explained, Margin, Selection, ShrinkSpec, Shrunk, Start,
    explain_columns, shrink_columns, shrink_yielding, single_column, single_yielding,
};
use crate::evaluate::{Decisions, Gate, gate_margins, margins};
use crate::rate::{LossValues, Side};
use crate::sample::{Parts, Work};

/// How often margins and optimism are found anew of the mixture that the last ones led to.
const ROUNDS: usize = 5;

/// Margins that change by less are found.
pub(super) const SAME: f64 = 2e-4;

/// The spread of T = true loss − (loss where enforced + optimism) over draws of the training rows, beyond the standard
/// error of the loss, as a share of the optimism. It was .57 to .8 in eight cases: the problems credit, known, precision
/// and rare of `fairgame reproduce promise --draws 120 --seed 6001`, each with a linear model and a network.
const SPREAD: f64 = 0.7;

/// The least of that spread, as a share of the standard error of the loss, for constraints that count labels. The estimate
/// of the optimism is noisy, and where it is too low by chance so would be a margin that follows it. Chosen with seeds
/// 90001 to 90200 of `fairgame reproduce promise`, networks: it takes the problems credit, categories and rare from 6.5 to
/// 8 % broken promises to 3.5 to 5.5 %. Rates of decisions alone have hardly any optimism.
const LEAST_SPREAD: f64 = 0.63;

/// A mixture, and what its selection found.
pub(super) struct Chosen {
    pub(super) measured: Measurements,
    /// Columns and their weights, which add up to 1.
    pub(super) weights: Vec<(usize, f64)>,
    /// What shrinking found, if it was by shrinking.
    pub(super) paid: Option<Paid>,
    pub(super) explained: Option<Explained>,
    /// What the mixture was chosen from, in short.
    pub(super) candidates: Option<Candidates>,
    /// The chance of a positive decision of each row that judges, as they are stored.
    pub(super) chances: Vec<f64>,
    /// The spread of each constraint's loss by draws that rows share, which the margins cover; empty if they cover none.
    pub(super) paid_shared: Vec<f64>,
    /// That spread as it is for this mixture; empty until the classifier is made.
    pub(super) shared: Vec<f64>,
}

/// What is to be told of a mixture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// The mixture alone.
    Mixture,
    /// What its constraints cost, too, and what else there was to choose.
    All,
}

/// What shrinking found, and what it paid for constraints that hold on new rows.
pub(super) struct Paid {
    pub(super) shrunk: Shrunk,
    /// How optimistic the selection is, if that was measured.
    pub(super) optimism: Option<Optimism>,
    /// The margin of each constraint beyond the optimism: what was asked for, and what was had.
    pub(super) asked: Vec<f64>,
    pub(super) had: Vec<f64>,
    /// Whether margins half as large again are feasible on rows that had no part in finding that out; otherwise they were
    /// had by luck.
    pub(super) spare: bool,
    /// By how much margin and optimism raise the objective.
    pub(super) price: f64,
    /// By how much one deterministic rule raises it, beside the best mixture.
    pub(super) rule_price: Option<f64>,
}

/// How optimistic the selection is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Optimism {
    /// As it was measured: by how much the losses are larger on rows that had no part in the selection.
    pub(super) losses: LossValues,
    /// The standard error of each constraint's.
    pub(super) errors: Vec<f64>,
    /// Which constraints are about a group of so few rows that parts of it say nothing of new ones.
    pub(super) unknown: Vec<bool>,
    /// In how many of the programs without a part the margin of each constraint could not be had.
    pub(super) yielded: Vec<usize>,
}

impl Optimism {
    /// What is added to each constraint: never less than 0.
    pub(super) fn paid(&self) -> Vec<f64> {
        self.losses.constraints.iter().map(|one| one.max(0.0)).collect()
    }
}

impl Training<'_> {
    /// Measures what the games kept, and selects one mixture of it. Margins cover draws that rows share if `shared` says by
    /// how much these spread each constraint's loss.
    pub(super) fn select(
        &self,
        played: &[Played],
        (selection, told): (Selection, Told),
        shared: &[f64],
    ) -> Result<Chosen> {
        let Selection::Shrink(spec) = selection else {
            let measured = self.measure(played, (0, 0))?;
            measured.check()?;
            let weights = selection.select(&measured.iterates)?.weights;
            let chances = self.chances(played, &measured, &weights)?;
            let (paid, explained, candidates) = (None, None, None);
            let (paid_shared, shared) = (Vec::new(), Vec::new());
            return Ok(Chosen {
                measured,
                weights,
                paid,
                explained,
                candidates,
                chances,
                paid_shared,
                shared,
            });
        };
        let mut start = Start::default();
        let (measured, allowed, paid) = match &self.ground {
            Some(ground) => self.pay_for_rules(ground, played, (spec, shared), &mut start)?,
            None => {
                let measured = self.measure(played, (spec.thresholds, spec.parts))?;
                measured.check()?;
                let allowed = self.allowed(spec.epsilon, &measured)?;
                let program =
                    Program { spec, allowed, training: self, measured: &measured, shared };
                let paid = program.pay(played, &program.columns(None)?, &mut start)?;
                (measured, allowed, paid)
            }
        };
        let (explained, candidates) = match told {
            Told::All => {
                let program =
                    Program { spec, allowed, training: self, measured: &measured, shared };
                let (explained, candidates) = program.tell(&paid, &mut start)?;
                (explained, Some(candidates))
            }
            Told::Mixture => (None, None),
        };
        let weights = paid.shrunk.weights.clone();
        let chances = self.chances(played, &measured, &weights)?;
        let paid = Some(paid);
        let (paid_shared, shared) = (shared.to_vec(), Vec::new());
        Ok(Chosen { measured, weights, paid, explained, candidates, chances, paid_shared, shared })
    }

    /// Of each constraint, whether a group that it is about has fewer rows than there are parts. What a part loses is then
    /// that of a single row, or of none.
    fn too_few_for_parts(&self, parts: usize) -> Vec<bool> {
        let enforced = self.enforced();
        let mut rows = vec![0.0; self.partition.cells()];
        enforced.compiled.cells().iter().for_each(|&cell| rows[cell as usize] += 1.0);
        let least = enforced.compiled.losses().least_of_events(&rows);
        least.into_iter().map(|least| least < parts as f64).collect()
    }

    /// How far constraints may be violated.
    fn allowed(&self, epsilon: Epsilon, measured: &Measurements) -> Result<f64> {
        Ok(match epsilon {
            Epsilon::Least => 0.0,
            Epsilon::AtMost(epsilon) => epsilon,
            Epsilon::Mixture => {
                let weights = Selection::Theorem.select(&measured.iterates)?.weights;
                let mixed = measured.iterates.mixed(&weights, Dataset::Val, Side::Exact);
                mixed.worst().max(0.0)
            }
        })
    }

    /// Finds rules and the mixture of them, in turns: which margins rules are sought under depends on the mixture.
    fn pay_for_rules(
        &self,
        ground: &Ground,
        played: &[Played],
        (spec, shared): (ShrinkSpec, &[f64]),
        start: &mut Start,
    ) -> Result<(Measurements, f64, Paid)> {
        /// How often rules are sought under the margins that the last ones led to.
        const TIMES: usize = 3;
        let (mut measured, of) = self.no_rules(spec.parts)?;
        let cut = Parts { of: &of, count: spec.parts.max(1) };
        let jury = Jury::new(self, ground, played, cut);
        self.first_rules(ground, &jury, &mut measured)?;
        let allowed = self.allowed(spec.epsilon, &measured)?;
        let mut asked = vec![0.0; self.bound.constraints().len()];
        let mut targets = vec![asked.clone()];
        let mut time = 0;
        loop {
            self.find_rules(ground, &jury, &mut measured, (&targets, allowed))?;
            let program = Program { spec, allowed, training: self, measured: &measured, shared };
            let paid = program.pay(played, &program.columns(None)?, start)?;
            let total = paid.total_asked();
            time += 1;
            if time == TIMES || (time > 1 && apart(&total, &asked) < SAME) {
                return Ok((measured, allowed, paid));
            }
            targets = vec![total.clone()];
            if spec.margin.confidence().is_some() && time == 1 {
                targets.push(out_of_reach(&total));
            }
            asked = total;
        }
    }

    /// The chance of a positive decision of each row that judges, as they are stored: with cross-fitting, by models that
    /// were not trained on the row.
    pub(super) fn chances(
        &self,
        played: &[Played],
        measured: &Measurements,
        weights: &[(usize, f64)],
    ) -> Result<Vec<f64>> {
        let mut chances = vec![0.0; self.enforced().count()];
        let (mut work, folds) = (Work::default(), self.folds.len());
        for &(column, weight) in weights {
            for fold in 0..folds {
                let (model, threshold) = measured.hypothesis(played, column, (fold, folds));
                let weight = weight / self.repeats() as f64;
                self.judging(played, fold).scores(model, &mut work, |row, score| {
                    chances[row] += if score > threshold { weight } else { 0.0 };
                })?;
            }
        }
        chances.iter_mut().for_each(|chance| *chance = chance.clamp(0.0, 1.0));
        Ok(chances)
    }

    /// The margin that is asked for, of a mixture that decides the judging rows with these chances and whose optimism is
    /// known no better than this.
    pub(super) fn margins(
        &self,
        margin: Margin,
        chances: &[f64],
        optimism: Option<&Optimism>,
        shared: &[f64],
    ) -> Vec<f64> {
        let constraints = self.bound.constraints().len();
        let enforced = self.enforced();
        let cells = (&self.partition, enforced.compiled.cells());
        let decisions = Decisions::Probabilities(chances);
        let (weights, units) = (enforced.given.as_deref(), enforced.units.as_deref());
        let mut found = match (margin, margin.misses(constraints)) {
            (Margin::Gate { confidence, rows, chance }, _) => {
                let gate = Gate { confidence, rows, chance };
                gate_margins(&self.bound, cells, weights, units, decisions, gate)
            }
            (_, Some(misses)) => margins(&self.bound, cells, weights, units, decisions, misses),
            (_, None) => vec![0.0; constraints],
        };
        if let Some(optimism) = optimism {
            let z = margin.quantile(constraints);
            let labels = self.bound.count_labels();
            for ((margin, error), by_label) in found.iter_mut().zip(&optimism.errors).zip(labels) {
                let least = if by_label { LEAST_SPREAD * *margin } else { 0.0 };
                *margin = margin.hypot((z * error).max(least));
            }
        }
        let z = margin.quantile(constraints);
        found
            .iter_mut()
            .zip(shared)
            .for_each(|(margin, spread)| *margin = margin.hypot(z * spread));
        found
    }
}

impl Paid {
    /// Optimism and margin, as they were asked for.
    fn total_asked(&self) -> Vec<f64> {
        let paid = self.optimism.as_ref().map(Optimism::paid);
        let paid = paid.unwrap_or_else(|| vec![0.0; self.asked.len()]);
        sum(&paid, &self.asked)
    }
}

/// Margins that no mixture can have: the program then finds the mixture that comes nearest to them.
fn out_of_reach(margins: &[f64]) -> Vec<f64> {
    margins.iter().map(|margin| margin + 10.0).collect()
}

/// The most that two lists differ by.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn sum(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// A mixture that pays for optimism.
pub(super) struct PaidFor {
    pub(super) shrunk: Shrunk,
    /// How much of the margin it has: less than 0 where it cannot pay all of the optimism.
    had: Vec<f64>,
    /// Whether it can.
    pub(super) is_payable: bool,
}

/// The best mixture, or where `deterministic` the best column, that pays for this optimism and has this margin, or as much of
/// it as is feasible.
pub(super) fn paid_for(
    columns: &Columns,
    optimism: &[f64],
    margin: &[f64],
    (deterministic, allowed): (bool, f64),
    start: &mut Start,
) -> Result<PaidFor> {
    let shifted = columns.shifted(optimism);
    let alone = match deterministic {
        true => single_column(&shifted, &[], allowed)?,
        false => shrink_columns(&shifted, &[], allowed, start)?,
    };
    let mut yielding = |columns: &Columns, margins: &[f64]| match deterministic {
        true => single_yielding(columns, margins, allowed),
        false => shrink_yielding(columns, margins, allowed, start),
    };
    if alone.feasible {
        let shrunk = yielding(&shifted, margin)?;
        let had = shrunk.margins.clone();
        let shrunk = Shrunk { margins: sum(optimism, &had), ..shrunk };
        return Ok(PaidFor { shrunk, had, is_payable: true });
    }
    let shrunk = yielding(columns, optimism)?;
    let had = shrunk.margins.iter().zip(optimism).map(|(had, asked)| (had - asked).min(0.0));
    let had = had.collect();
    Ok(PaidFor { shrunk: Shrunk { feasible: false, ..shrunk }, had, is_payable: false })
}

/// The selection program of a training.
struct Program<'a> {
    spec: ShrinkSpec,
    /// How far constraints may be violated.
    allowed: f64,
    training: &'a Training<'a>,
    measured: &'a Measurements,
    /// By how much draws that rows share spread each constraint's loss; empty where margins need not cover that.
    shared: &'a [f64],
}

impl Program<'_> {
    /// The best mixture with these margins, or the best single column where no draw is to decide.
    fn best(
        &self,
        columns: &Columns,
        margins: &[f64],
        allowed: f64,
        start: &mut Start,
    ) -> Result<Shrunk> {
        match self.spec.deterministic {
            true => single_column(columns, margins, allowed),
            false => shrink_columns(columns, margins, allowed, start),
        }
    }

    fn columns(&self, but: Option<usize>) -> Result<Held> {
        self.measured.program(but, |column| self.measured.objective_of(column, &self.spec))
    }

    /// The mixture with margins and optimism that belong to it.
    fn pay(&self, played: &[Played], all: &Held, start: &mut Start) -> Result<Paid> {
        let count = all.columns.constraints();
        let none = vec![0.0; count];
        let without = all.named(self.best(&all.columns, &[], self.allowed, start)?);
        let mut shrunk = without.clone();
        let (mut asked, mut had, mut paid) = (none.clone(), none.clone(), none);
        let mut optimism = None;
        let margin = self.spec.margin;
        for round in 0..2 * ROUNDS {
            let chances = self.training.chances(played, self.measured, &shrunk.weights)?;
            let mut next = self.training.margins(margin, &chances, optimism.as_ref(), self.shared);
            let last = round >= ROUNDS;
            let mut found = match (self.measured.parts, last) {
                (0, _) | (_, true) => None,
                _ => Some(self.optimism(&shrunk.weights, &next, &paid, start)?),
            };
            if let (0, Some(found)) = (round, &found) {
                next = self.training.margins(margin, &chances, Some(found), self.shared);
            }
            // Two mixtures may take turns: halfway between them both are nearly right. At last margins only grow, so
            // that they are enough for the mixture that they lead to.
            let halfway = |now: f64, before: f64| match round {
                0 | 1 => now,
                _ if last => now.max(before),
                _ => 0.5 * (now + before),
            };
            next.iter_mut().zip(&asked).for_each(|(now, before)| *now = halfway(*now, *before));
            if let Some(found) = &mut found {
                let pairs = found.losses.constraints.iter_mut().zip(&paid);
                pairs.for_each(|(now, before)| *now = halfway(*now, *before));
            }
            let next_paid = found.as_ref().map_or_else(|| paid.clone(), Optimism::paid);
            let same = apart(&next, &asked).max(apart(&next_paid, &paid)) < SAME;
            if round > 0 && same {
                break;
            }
            if found.is_some() {
                optimism = found;
            }
            (asked, paid) = (next, next_paid);
            (shrunk, had) = self.solve(all, &paid, &asked, start)?;
        }
        let price = all.objective(&shrunk.weights) - all.objective(&without.weights);
        let rule_price = match self.spec.deterministic {
            // Where constraints cannot be met, rule and mixture violate them by different amounts.
            true if shrunk.feasible => {
                let mixture = shrink_columns(&all.columns, &shrunk.margins, self.allowed, start)?;
                let mixture = all.columns.objective(&mixture.weights);
                Some((all.objective(&shrunk.weights) - mixture).max(0.0))
            }
            _ => None,
        };
        // Half as much again: at the edge of what is feasible, it takes luck to be within it.
        let more: Vec<f64> = asked.iter().map(|margin| 1.5 * margin).collect();
        let spare = margin.confidence().is_none() || self.has_room(&more, start)?;
        Ok(Paid { shrunk, optimism, asked, had, spare, price, rule_price })
    }

    /// What the constraints cost, if that can be told, and columns to choose from again.
    fn tell(&self, paid: &Paid, start: &mut Start) -> Result<(Option<Explained>, Candidates)> {
        let all = self.columns(None)?;
        let candidates = self.candidates(paid, &all, start)?;
        // Prices are good to know, and no reason to have no classifier.
        let mut explain =
            |margins: &[f64]| explain_columns(&all.columns, margins, self.allowed, start);
        let explained = explain(&[]).and_then(|without| match without.relaxation > 0.0 {
            // They cannot be met even without margins.
            true => Ok(without),
            false if paid.shrunk.feasible => explain(&paid.shrunk.margins),
            false => {
                let (paid_for, prices) =
                    (paid.total_asked(), explain(&paid.shrunk.margins)?.prices);
                Ok(Explained { prices, ..explain(&paid_for)? })
            }
        });
        Ok((explained.ok(), candidates))
    }

    /// Columns to choose from again: the mixture's own, then those chosen without each part, then those chosen under bounds
    /// that are looser or tighter by up to a tenth.
    fn candidates(&self, paid: &Paid, all: &Held, start: &mut Start) -> Result<Candidates> {
        const BOUNDS: [f64; 8] = [0.01, -0.01, 0.02, -0.02, 0.05, -0.05, 0.1, -0.1];
        let own = paid.shrunk.weights.len();
        let mut chosen: Vec<usize> = Vec::new();
        let mut add = |found: &Shrunk| {
            for &(column, _) in &found.weights {
                if !chosen.contains(&column) {
                    chosen.push(column);
                }
            }
        };
        add(&paid.shrunk);
        for part in 0..self.measured.parts {
            let held = self.columns(Some(part))?;
            let found = self.best(&held.columns, &paid.shrunk.margins, self.allowed, start)?;
            add(&held.named(found));
        }
        for by in BOUNDS {
            let moved: Vec<f64> = paid.shrunk.margins.iter().map(|margin| margin + by).collect();
            add(&all.named(self.best(&all.columns, &moved, self.allowed, start)?));
        }
        Ok(self.measured.candidates(&chosen, own))
    }

    /// The mixture with this optimism and margin, and how much of the margin was had.
    fn solve(
        &self,
        held: &Held,
        optimism: &[f64],
        margin: &[f64],
        start: &mut Start,
    ) -> Result<(Shrunk, Vec<f64>)> {
        let kind = (self.spec.deterministic, self.allowed);
        let found = paid_for(&held.columns, optimism, margin, kind, start)?;
        Ok((held.named(found.shrunk), found.had))
    }

    /// Whether the mixtures that meet the constraints by most, each found without a part, meet them with these margins on
    /// the parts that they were found without.
    fn has_room(&self, margin: &[f64], start: &Start) -> Result<bool> {
        let beyond = out_of_reach(margin);
        let parts: Vec<usize> = (0..self.measured.parts).collect();
        let choose = |&part: &usize| {
            let held = self.columns(Some(part))?;
            let found = self.best(&held.columns, &beyond, 0.0, &mut start.clone())?;
            Ok(held.named(found).weights)
        };
        let chosen = self.training.plan.threads.each(&parts, choose);
        let chosen = chosen.into_iter().collect::<Result<Vec<_>>>()?;
        let found = self.measured.on_parts(&chosen).constraints;
        let room = |(loss, margin): (&f64, &f64)| loss + margin <= self.allowed || loss.is_nan();
        Ok(chosen.is_empty() || found.iter().zip(margin).all(room))
    }

    /// Selects without each part, and compares what was believed with what the parts say.
    fn optimism(
        &self,
        mixture: &[(usize, f64)],
        margin: &[f64],
        paid: &[f64],
        start: &Start,
    ) -> Result<Optimism> {
        let parts: Vec<usize> = (0..self.measured.parts).collect();
        let choose = |&part: &usize| {
            let held = self.columns(Some(part))?;
            self.solve(&held, paid, margin, &mut start.clone())
        };
        let chosen = self.training.plan.threads.each(&parts, choose);
        let chosen = chosen.into_iter().collect::<Result<Vec<_>>>()?;
        let count = margin.len();
        let mut yielded = vec![0; count];
        let mut believed = LossValues { objective: 0.0, constraints: vec![0.0; count] };
        let mut known = vec![0.0; count];
        let mut mixtures = Vec::with_capacity(chosen.len());
        for (part, (Shrunk { weights, .. }, had)) in chosen.into_iter().enumerate() {
            let found = self.measured.mixed(&weights, Some(part));
            believed.objective += found.objective / parts.len() as f64;
            for (at, loss) in found.constraints.iter().enumerate() {
                yielded[at] += usize::from(had[at] < margin[at] - SAME);
                if loss.is_finite() {
                    believed.constraints[at] += loss;
                    known[at] += 1.0;
                }
            }
            mixtures.push(weights);
        }
        let mut errors = self.errors(mixture, &mixtures, count);
        let mut losses = self.measured.on_parts(&mixtures);
        losses.objective -= believed.objective;
        for ((loss, believed), known) in
            losses.constraints.iter_mut().zip(believed.constraints).zip(known)
        {
            let optimism = *loss - believed / known;
            *loss = if optimism.is_finite() { optimism } else { 0.0 };
        }
        for (error, optimism) in errors.iter_mut().zip(&losses.constraints) {
            *error = error.max(SPREAD * optimism);
        }
        let unknown = self.training.too_few_for_parts(parts.len());
        for (at, _) in unknown.iter().enumerate().filter(|(_, unknown)| **unknown) {
            (losses.constraints[at], errors[at]) = (0.0, 0.0);
        }
        Ok(Optimism { losses, errors, unknown, yielded })
    }

    /// The standard error of each constraint's optimism: how much what mixtures lose on the parts they were chosen
    /// without, beside the mixture of all rows, differs from part to part.
    fn errors(
        &self,
        all: &[(usize, f64)],
        without: &[Vec<(usize, f64)>],
        count: usize,
    ) -> Vec<f64> {
        let parts = without.len() as f64;
        let (mut sums, mut squares) = (vec![0.0; count], vec![0.0; count]);
        for (part, weights) in without.iter().enumerate() {
            let chosen = self.measured.in_part(weights, part).constraints;
            let whole = self.measured.in_part(all, part).constraints;
            for (at, (chosen, whole)) in chosen.iter().zip(&whole).enumerate() {
                let lost = parts * (chosen - whole);
                sums[at] += lost;
                squares[at] += lost * lost;
            }
        }
        let error = |(sum, square): (&f64, &f64)| {
            let variance = (square - sum * sum / parts) / (parts - 1.0).max(1.0);
            let error = (variance.max(0.0) / parts).sqrt();
            if error.is_finite() { error } else { 0.0 }
        };
        sums.iter().zip(&squares).map(error).collect()
    }
}
