//! The columns of the selection program: a kept turn in all folds at once, times a threshold.
//!
//! Selecting models fold by fold would pick the noise of each small fold: m + 1 degrees of freedom in each. A column is
//! *tied*: the models that all folds kept at the same turn, decided at the same quantile of their own scores. Each row is
//! judged by the model of the fold that it judges, so the sums of a column are over all rows. A fold that stopped
//! earlier contributes its last kept model. Repeats are averaged within a column.
//!
//! Scores of different folds cannot be compared, since their encoders differ. So threshold k is a quantile level of each
//! model's scores on the rows that its constraint player played on: half of the levels among those labelled positive,
//! half among the others, so that both tails are covered however unbalanced the label is.

use std::collections::{BTreeSet, HashMap};

use super::rules::RuleSums;
use super::streams::JUDGED;
use super::{Played, Training};
use crate::classifier::{Candidate, Candidates, Columns, Iterate, Iterates, Measured, Shrunk};
use crate::game::Moment;
use crate::rate::{LossValues, Losses, Multipliers, Side, Sums, Tally};
use crate::sample::{Hypothesis, Levels, Parts, Work};
use crate::{Error, ErrorKind, Result};

/// At most so many sums are kept; with more columns, constraints and parts, fewer turns are columns.
const MOST_SUMS: usize = 1 << 24;

/// At most so many sums are kept in a model file: a megabyte.
const MOST_KEPT: usize = 1 << 18;

/// Models that all folds kept at the same turn.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tied {
    /// Which way of playing.
    pub(super) variant: usize,
    /// The kept model of each fold.
    pub(super) models: Vec<usize>,
    /// The thresholds of each fold's model: its own, then those at the quantile levels.
    pub(super) thresholds: Vec<Vec<f32>>,
    /// The turn at which they were first kept.
    pub(super) turn: u64,
}

/// Whose a column is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// All programs have it.
    Everyone,
    /// The program over all rows, or over all but a part, found it.
    Program(Option<usize>),
}

/// The columns that one program has.
pub(super) struct Held {
    pub(super) columns: Columns,
    /// Where each is among all columns; ascending.
    ids: Vec<usize>,
}

impl Held {
    /// A mixture of the program's columns, as one of all columns.
    pub(super) fn named(&self, mut shrunk: Shrunk) -> Shrunk {
        shrunk.weights.iter_mut().for_each(|(column, _)| *column = self.ids[*column]);
        shrunk
    }

    /// The objective of a mixture of all columns.
    pub(super) fn objective(&self, weights: &[(usize, f64)]) -> f64 {
        let local = |&(column, weight): &(usize, f64)| {
            Some((self.ids.binary_search(&column).ok()?, weight))
        };
        self.columns.objective(&weights.iter().filter_map(local).collect::<Vec<_>>())
    }
}

/// What kept models are like on the rows that judge them, at every threshold.
pub(super) struct Measurements {
    /// The models; the columns of one are beside each other, one for each threshold.
    pub(super) tied: Vec<Tied>,
    /// At their own thresholds.
    pub(super) iterates: Iterates,
    /// How many thresholds each has.
    pub(super) levels: usize,
    /// How many parts the rows are cut into.
    pub(super) parts: usize,
    /// The weight decided positive: column by column, part by part, event by event.
    positive: Vec<f64>,
    /// The losses over all rows, and over all but each part.
    losses: Losses,
    without: Vec<Without>,
    /// In the plug-in game: the rules, and whose each is. Otherwise every column is everyone's.
    rules: Vec<Hypothesis>,
    owners: Vec<Owner>,
}

/// The losses over all rows but those of a part.
struct Without {
    losses: Losses,
    /// The constraints about a group that has no other rows: they cannot be measured without the part.
    empty: Vec<usize>,
}

impl Training<'_> {
    /// Measures what the games kept.
    pub(super) fn measure(
        &self,
        played: &[Played],
        (thresholds, parts): (usize, usize),
    ) -> Result<Measurements> {
        let enforced = self.enforced();
        let losses = enforced.compiled.losses();
        let of = enforced.deck().parts(parts, &self.folds, self.plan.spec.seed);
        let cut = Parts { of: &of, count: parts.max(1) };
        let levels = 1 + thresholds;
        let most = MOST_SUMS / (levels * cut.count * losses.events().max(1));
        let (mut tied, moments) = self.tie(played, (most / self.variants.len()).max(1));
        let size = cut.count * losses.events();
        let mut positive = vec![0.0; tied.len() * levels * size];
        let mut tallies = vec![Tally::new(losses.cells()); tied.len()];
        let share = 1.0 / self.repeats() as f64;
        for (game, played) in played.iter().enumerate() {
            let (fold, variant) = (game % self.folds.len(), game / self.folds.len());
            let mut kept: Vec<usize> = tied
                .iter()
                .filter(|one| one.variant == variant)
                .map(|one| one.models[fold])
                .collect();
            kept.sort_unstable();
            kept.dedup();
            let judging = self.judging(&[], fold);
            let measure = |&model: &usize| -> Result<(Vec<f32>, Levels)> {
                let (model, mut work) = (&played.kept.models[model], Work::default());
                let mut at = vec![0.0];
                if thresholds > 0 {
                    let levels = quantile_levels(thresholds);
                    let levels = [levels[0].as_slice(), levels[1].as_slice()];
                    let labelled = self.partition.labelled();
                    at.extend(
                        self.aside(game, false).quantiles(model, &labelled, levels, &mut work)?,
                    );
                }
                let found = judging.levels(model, &at, cut, &mut work)?;
                Ok((at, found))
            };
            let measured = self.plan.threads.each(&kept, measure);
            let measured = measured.into_iter().collect::<Result<Vec<_>>>()?;
            let own = tied.iter_mut().enumerate().filter(|(_, one)| one.variant == variant);
            for (at, one) in own {
                let Ok(place) = kept.binary_search(&one.models[fold]) else { continue };
                let (thresholds, found) = &measured[place];
                one.thresholds.push(thresholds.clone());
                let sums = &mut positive[at * levels * size..][..levels * size];
                sums.iter_mut().zip(&found.positive).for_each(|(sum, more)| *sum += share * more);
                let mut tally = found.tally.clone();
                tally.scale(share);
                tallies[at] += &tally;
            }
        }
        let measured = |tally: Tally| {
            let (exact, proxy) = (losses.exact(&tally), losses.proxy(&tally));
            Measured { tally, exact, proxy }
        };
        let mut models: Vec<Iterate> = Vec::with_capacity(tied.len());
        for tally in tallies {
            let val = measured(tally);
            models.push(Iterate { train: val.clone(), val });
        }
        if self.folds.len() == 1 && self.val.is_some() {
            // The paper's selection minimises the objective on the rows that teach.
            let few = self.taught_first();
            let measure = |one: &Tied| {
                let game = one.variant;
                let mut sample = self.teaching(game);
                sample.among = few.as_deref().or(sample.among);
                Measured::of(
                    &sample,
                    &played[game].kept.models[one.models[0]],
                    &mut Work::default(),
                )
            };
            let found = self.plan.threads.each(&tied, measure);
            for (iterate, train) in models.iter_mut().zip(found) {
                iterate.train = train?;
            }
        }
        let without =
            (0..parts).map(|part| self.losses_without(part, &of)).collect::<Result<_>>()?;
        Ok(Measurements {
            tied,
            iterates: Iterates { models, moments },
            levels,
            parts,
            positive,
            losses: losses.clone(),
            without,
            rules: Vec::new(),
            owners: Vec::new(),
        })
    }

    /// Of plenty of rows that teach, so many that the rate of all of them is known to about .0005; none where all are
    /// measured. They are in a random order, so the first are a sample.
    fn taught_first(&self) -> Option<Vec<u32>> {
        self.streamed.as_ref()?;
        let teach = self.folds.first()?.teach.as_ref().map_or(self.train.count(), Vec::len);
        (teach > JUDGED).then(|| (0..JUDGED as u32).collect())
    }

    /// Measurements of rules, of which there are none yet, and the part of each judging row.
    pub(super) fn no_rules(&self, parts: usize) -> Result<(Measurements, Vec<u16>)> {
        let enforced = self.enforced();
        let of = enforced.deck().parts(parts, &self.folds, self.plan.spec.seed);
        let without =
            (0..parts).map(|part| self.losses_without(part, &of)).collect::<Result<_>>()?;
        let measured = Measurements {
            tied: Vec::new(),
            iterates: Iterates { models: Vec::new(), moments: Vec::new() },
            levels: 1,
            parts,
            positive: Vec::new(),
            losses: enforced.compiled.losses().clone(),
            without,
            rules: Vec::new(),
            owners: Vec::new(),
        };
        Ok((measured, of))
    }

    /// Whether some variant's games have all kept a model; a training that was stopped may not have begun others.
    pub(super) fn has_models(&self, played: &[Played]) -> bool {
        played.len() == self.games()
            && match self.ground {
                Some(_) => played.iter().all(|game| game.fitted.is_some()),
                None => played.chunks(self.folds.len()).any(all_kept),
            }
    }

    /// How often the rows were cut into folds.
    pub(super) fn repeats(&self) -> usize {
        self.folds.iter().map(|fold| fold.repeat + 1).max().unwrap_or(1)
    }

    /// The weight and the number of the judging rows in each cell, without those of a part.
    pub(super) fn cells_without(&self, part: Option<usize>, of: &[u16]) -> (Vec<f64>, Vec<usize>) {
        let (enforced, cells) = (self.enforced(), self.partition.cells());
        let (mut weights, mut rows) = (vec![0.0; cells], vec![0; cells]);
        for (row, &cell) in enforced.compiled.cells().iter().enumerate() {
            if Some(usize::from(of[row])) != part {
                weights[cell as usize] +=
                    enforced.weights.as_ref().map_or(1.0, |weights| f64::from(weights[row]));
                rows[cell as usize] += 1;
            }
        }
        (weights, rows)
    }

    /// The losses over all judging rows but those of a part.
    fn losses_without(&self, part: usize, of: &[u16]) -> Result<Without> {
        let enforced = self.enforced();
        let (weights, rows) = self.cells_without(Some(part), of);
        let (losses, _) = Losses::new(&self.bound, &self.partition, &weights, &rows)?;
        // Where a region has no other rows, denominators are those of all rows.
        let all = enforced.compiled.losses();
        let losses = if losses.same_events(all) { losses } else { all.clone() };
        let left = losses.least_of_events(&weights).into_iter().enumerate();
        let empty = left.filter_map(|(at, left)| (left <= 0.0).then_some(at)).collect();
        Ok(Without { losses, empty })
    }

    /// Ties what the folds kept, variant by variant, and says at which turns; at most so many models of each variant.
    fn tie(&self, played: &[Played], most: usize) -> (Vec<Tied>, Vec<Moment>) {
        let folds = self.folds.len();
        let (mut tied, mut moments) = (Vec::new(), Vec::new());
        for variant in 0..self.variants.len() {
            let games = &played[variant * folds..][..folds];
            if !all_kept(games) {
                continue;
            }
            let last = games.iter().map(|game| game.kept.moments.len()).max().unwrap_or(0);
            let mut known: HashMap<Vec<usize>, usize> = HashMap::new();
            for k in 0..last {
                // Evenly spaced, the last among them.
                if last > most && (k + 1) * most / last == k * most / last {
                    continue;
                }
                let at = |game: &&Played| -> Moment {
                    let all = &game.kept.moments;
                    all[k.min(all.len() - 1)].clone()
                };
                let now: Vec<Moment> = games.iter().by_ref().map(|game| at(&game)).collect();
                let models: Vec<usize> = now.iter().map(|moment| moment.model).collect();
                let turn = now.iter().map(|moment| moment.turn).max().unwrap_or(0);
                let model = *known.entry(models.clone()).or_insert(tied.len());
                if model == tied.len() {
                    tied.push(Tied { variant, models, thresholds: Vec::new(), turn });
                }
                let lambda = mean(now.iter().map(|moment| &moment.lambda));
                moments.push(Moment { turn, model, lambda });
            }
        }
        (tied, moments)
    }
}

/// A group without rows beside those of the part that is left out: nothing is asked of it.
fn ask_nothing_of_empty(but: Option<usize>, values: &mut LossValues) {
    if but.is_some() {
        let empty = values.constraints.iter_mut().filter(|loss| loss.is_nan());
        empty.for_each(|loss| *loss = -1.0);
    }
}

/// Whether each game has kept a model.
fn all_kept(games: &[Played]) -> bool {
    games.iter().all(|game| !game.kept.moments.is_empty())
}

/// The mean of what constraint players played.
pub(super) fn mean<'a>(all: impl ExactSizeIterator<Item = &'a Multipliers>) -> Multipliers {
    let share = 1.0 / all.len().max(1) as f64;
    let mut sum = Multipliers { objective: 0.0, constraints: Vec::new() };
    for one in all {
        sum.objective += share * one.objective;
        sum.constraints.resize(one.constraints.len(), 0.0);
        let sums = sum.constraints.iter_mut().zip(&one.constraints);
        sums.for_each(|(sum, lambda)| *sum += share * lambda);
    }
    sum
}

/// Quantile levels, denser towards both ends: for rows labelled positive, and for the others.
fn quantile_levels(count: usize) -> [Vec<f64>; 2] {
    /// The logarithm of the odds of the first and last level: 1 % and 99 %.
    const ENDS: f64 = 4.6;
    let side = |count: usize| -> Vec<f64> {
        let level = |k: usize| {
            let place = (k as f64 + 0.5) / count as f64 * 2.0 - 1.0;
            1.0 / (1.0 + (-ENDS * place).exp())
        };
        (0..count).map(level).collect()
    };
    [side(count.div_ceil(2)), side(count / 2)]
}

impl Measurements {
    /// How many columns there are.
    pub(super) fn columns(&self) -> usize {
        self.tied.len() * self.levels
    }

    /// The weight decided positive in each event, by a column, in a part.
    fn of_part(&self, column: usize, part: usize) -> &[f64] {
        let (count, events) = (self.parts.max(1), self.losses.events());
        &self.positive[(column * count + part) * events..][..events]
    }

    /// Adds what a column decides positive in each event, in all parts but one.
    fn add(&self, column: usize, weight: f64, but: Option<usize>, sums: &mut [f64]) {
        for part in (0..self.parts.max(1)).filter(|part| Some(*part) != but) {
            let own = self.of_part(column, part).iter();
            sums.iter_mut().zip(own).for_each(|(sum, more)| *sum += weight * more);
        }
    }

    /// The losses of a mixture of columns over all rows, or all but a part.
    pub(super) fn mixed(&self, weights: &[(usize, f64)], but: Option<usize>) -> LossValues {
        let mut sums = vec![0.0; self.losses.events()];
        weights.iter().for_each(|&(column, weight)| self.add(column, weight, but, &mut sums));
        self.values(&sums, but)
    }

    /// What a part adds to the losses of a mixture of columns.
    pub(super) fn in_part(&self, weights: &[(usize, f64)], part: usize) -> LossValues {
        let mut sums = vec![0.0; self.losses.events()];
        for &(column, weight) in weights {
            let own = self.of_part(column, part).iter();
            sums.iter_mut().zip(own).for_each(|(sum, more)| *sum += weight * more);
        }
        self.values(&sums, None)
    }

    fn losses(&self, but: Option<usize>) -> &Losses {
        but.and_then(|part| self.without.get(part)).map_or(&self.losses, |one| &one.losses)
    }

    fn values(&self, sums: &[f64], but: Option<usize>) -> LossValues {
        let (mut spare, mut values) = (Sums::default(), LossValues::default());
        self.losses(but).of_positive(sums, &mut spare, &mut values);
        self.forget_empty(but, &mut values);
        values
    }

    /// What cannot be measured without a part is not a number.
    fn forget_empty(&self, but: Option<usize>, values: &mut LossValues) {
        let empty = but.and_then(|part| self.without.get(part)).map(|one| &one.empty);
        empty.into_iter().flatten().for_each(|&at| values.constraints[at] = f64::NAN);
    }

    /// What several mixtures, each chosen without a part, come to on the parts they were chosen without.
    pub(super) fn on_parts(&self, mixtures: &[Vec<(usize, f64)>]) -> LossValues {
        let mut sums = vec![0.0; self.losses.events()];
        for (part, weights) in mixtures.iter().enumerate() {
            for &(column, weight) in weights {
                let own = self.of_part(column, part).iter();
                sums.iter_mut().zip(own).for_each(|(sum, more)| *sum += weight * more);
            }
        }
        self.values(&sums, None)
    }

    /// The columns as a program has them, over all rows or all but a part; `objective` gives the objective of those whose
    /// objective is measured otherwise.
    pub(super) fn program(
        &self,
        but: Option<usize>,
        objective: impl Fn(usize) -> Option<f64>,
    ) -> Result<Held> {
        let losses = self.losses(but);
        let mut columns = Columns::new(losses.constraints());
        let (mut sums, mut spare) = (vec![0.0; losses.events()], Sums::default());
        let mut values = LossValues::default();
        let ids: Vec<usize> = (0..self.columns()).filter(|&column| self.has(but, column)).collect();
        for &column in &ids {
            sums.fill(0.0);
            self.add(column, 1.0, but, &mut sums);
            losses.of_positive(&sums, &mut spare, &mut values);
            self.forget_empty(but, &mut values);
            ask_nothing_of_empty(but, &mut values);
            columns.push(objective(column).unwrap_or(values.objective), &values.constraints);
        }
        Ok(Held { columns, ids })
    }

    /// Whether a program has a column.
    fn has(&self, but: Option<usize>, column: usize) -> bool {
        match self.owners.get(column) {
            None | Some(Owner::Everyone) => true,
            Some(Owner::Program(owner)) => *owner == but,
        }
    }

    /// The losses of a column of which the sums by part and event are known, over all rows or all but a part.
    pub(super) fn losses_of(&self, positive: &[f64], but: Option<usize>) -> LossValues {
        let mut sums = vec![0.0; self.losses.events()];
        for (part, own) in positive.chunks(self.losses.events().max(1)).enumerate() {
            if Some(part) != but {
                sums.iter_mut().zip(own).for_each(|(sum, more)| *sum += more);
            }
        }
        let mut values = self.values(&sums, but);
        ask_nothing_of_empty(but, &mut values);
        values
    }

    /// Adds a rule and what it decides.
    pub(super) fn push_rule(
        &mut self,
        rule: Vec<f32>,
        lambda: Multipliers,
        owner: Owner,
        RuleSums { positive, tally }: RuleSums,
    ) {
        let model = self.tied.len();
        self.tied.push(Tied {
            variant: 0,
            models: Vec::new(),
            thresholds: Vec::new(),
            turn: model as u64,
        });
        let exact = self.losses.exact(&tally);
        let measured = Measured { tally, proxy: exact.clone(), exact };
        self.iterates.models.push(Iterate { train: measured.clone(), val: measured });
        self.iterates.moments.push(Moment { turn: model as u64, model, lambda });
        self.positive.extend(positive);
        self.rules.push(Hypothesis::Theta(rule));
        self.owners.push(owner);
    }

    /// The rules of a program.
    pub(super) fn rules_of(&self, but: Option<usize>) -> impl Iterator<Item = &[f32]> {
        let own = (0..self.rules.len()).filter(move |&column| self.has(but, column));
        own.map(|column| self.rules[column].theta())
    }

    /// How many more rules each program may find, so that all sums fit.
    pub(super) fn most_rules(&self) -> usize {
        let size = (self.parts.max(1) * self.losses.events()).max(1);
        (MOST_SUMS / size).saturating_sub(self.columns()).max(8) / (self.parts + 1) + 8
    }

    /// What decides in a fold for a column: the function from rows to scores, and the threshold.
    pub(super) fn hypothesis<'b>(
        &'b self,
        played: &'b [Played],
        column: usize,
        (fold, folds): (usize, usize),
    ) -> (&'b Hypothesis, f32) {
        match self.rules.get(column) {
            Some(rule) => (rule, 0.0),
            None => {
                let (tied, level) = (&self.tied[column / self.levels], column % self.levels);
                let kept = &played[tied.variant * folds + fold].kept;
                (&kept.models[tied.models[fold]], tied.thresholds[fold][level])
            }
        }
    }

    /// The objective of a column where it is not that of the judging rows' decisions.
    pub(super) fn objective_of(
        &self,
        column: usize,
        spec: &crate::classifier::ShrinkSpec,
    ) -> Option<f64> {
        use crate::classifier::Dataset;
        let own = column.is_multiple_of(self.levels);
        if (spec.on, spec.objective) == (Dataset::Val, Side::Exact) || !own {
            return None;
        }
        let iterate = &self.iterates.models[column / self.levels];
        Some(iterate.on(spec.on).losses(spec.objective).objective)
    }

    /// What to keep of the columns in a model file: those that some program chose, the most important first, of which the
    /// first `own` are the mixture's, and others evenly spaced.
    ///
    /// A file has room for so many sums. With many constraints, parts are put together before columns are left out, and those
    /// of the mixture are never left out.
    pub(super) fn candidates(&self, chosen: &[usize], own: usize) -> Candidates {
        let (all, count) = (self.parts.max(1), self.losses.constraints() + 1);
        let room = |parts: usize| (MOST_KEPT / (parts * count)).min(512);
        let mut numbers =
            (1..=all).filter(|at| all.is_multiple_of(*at) && (all / at > 1 || all == 1));
        let most_together = numbers.clone().next_back().unwrap_or(1);
        let together = numbers.find(|at| room(all / at) >= chosen.len()).unwrap_or(most_together);
        let parts = all / together;
        let most = room(parts).max(own).max(chosen.len().min(64));
        let mut kept: BTreeSet<usize> = chosen.iter().copied().take(most).collect();
        let step = self.columns().div_ceil(most).max(1);
        // No multiple of the number of thresholds, so that all of them come up.
        let step = if step.is_multiple_of(self.levels) { step + 1 } else { step };
        kept.extend((0..self.columns()).step_by(step).take(most - kept.len().min(most)));
        let zeros = self.values(&vec![0.0; self.losses.events()], None);
        let losses_of = |values: &LossValues| -> Vec<f64> {
            std::iter::once(values.objective).chain(values.constraints.iter().copied()).collect()
        };
        let constants = losses_of(&zeros);
        let mut sums = Vec::with_capacity(kept.len() * parts * count);
        for &column in &kept {
            for part in 0..parts {
                let mut sum = vec![0.0; count];
                for part in part * together..(part + 1) * together {
                    let values = losses_of(&self.values(self.of_part(column, part), None));
                    let more = values.iter().zip(&constants).map(|(value, zero)| value - zero);
                    sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
                }
                sums.extend(sum.iter().map(|sum| *sum as f32));
            }
        }
        let columns = kept.iter().map(|&column| Candidate {
            turn: self.tied[column / self.levels].turn,
            level: column % self.levels,
        });
        Candidates { columns: columns.collect(), parts, constants, sums }
    }

    /// Refuses what no program can be made of.
    pub(super) fn check(&self) -> Result<()> {
        match self.tied.is_empty() {
            true => Err(Error::new(ErrorKind::Settings, "no model was kept to select from")
                .help("play at least one turn")),
            false => Ok(()),
        }
    }
}
