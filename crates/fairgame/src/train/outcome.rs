//! What a training came to: a classifier, how it did, and what to know of it.

use std::borrow::Cow;

use super::columns::{Measurements, mean};
use super::mixture::{Chosen, Told};
use super::training::Rows;
use super::{
    Baseline, BaselineKind, Datasets, Enforcement, GameSummary, GroupConfusion, Importance, Notice,
    Played, Record, RecordedModel, RecordedPart, Standing, Training, Warning, warning,
};
use crate::algorithm::{Algorithm, Ended, Guarantee};
use crate::classifier::{
    Blend, Classifier, Dataset, Draw, Explained, Iterates, Member, Selection, ShrinkSpec, Shrunk,
    View, draws, sketch,
};
use crate::encode::Features;
use crate::evaluate::{Decisions, Evaluation, ROUNDING, evaluate_cells};
use crate::game::{Ending, Moment};
use crate::random::mix;
use crate::rate::{LABEL, LossValues, Multipliers, Side, Weighted};
use crate::{Error, ErrorKind, Result};

/// How sure the verdicts that a model file remembers are, all together.
pub const CONFIDENCE: f64 = 0.95;

/// How a training ended.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// With a classifier.
    Trained(Box<Trained>),
    /// It was stopped before every game had kept a model.
    Stopped {
        /// How many games there are.
        games: usize,
    },
}

impl Outcome {
    /// The classifier and all about it.
    ///
    /// # Errors
    /// If the training was stopped before there was one.
    pub fn trained(self) -> Result<Trained> {
        match self {
            Outcome::Trained(trained) => Ok(*trained),
            Outcome::Stopped { .. } => {
                let message = "the training was stopped before every game had kept a model";
                Err(Error::new(ErrorKind::Settings, message).help("let it play some more turns"))
            }
        }
    }
}

/// What a training came to.
#[derive(Debug, Clone)]
pub struct Trained {
    /// The classifier, with the record in it.
    pub classifier: Classifier,
    /// What the classifier comes to on the rows of `train`, `val` and `test`, as far as there are any.
    pub parts: Vec<RecordedPart>,
    /// What is said of each constraint: enforced, promised or violated, and with which margin.
    pub enforcement: Vec<Enforcement>,
    /// The models that were kept, measured at their own thresholds; with cross-fitting, those that all folds kept at a
    /// turn are one.
    pub iterates: Iterates,
    /// How the classifier was to be made of them.
    pub selection: Selection,
    /// How it is.
    pub mixture: Mixture,
    /// What the constraints cost, and which stand against each other, if it was by shrinking.
    pub explained: Option<Explained>,
    /// With cross-fitting, each training row's chance of a positive decision by models that were not trained on it.
    pub out_of_fold: Option<Vec<f64>>,
    /// λ̄: the mean of what the constraint player played.
    pub mean_lambda: Multipliers,
    /// ρ, where the model player could state one.
    pub suboptimality: Option<f64>,
    /// What Theorem 1 or 2 says of the game, where it was one of Algorithm 1 or 2.
    pub guarantee: Option<Guarantee>,
    /// How many turns were played.
    pub turns: u64,
    /// Of each game, how it went and how much of the mixture it is.
    pub games: Vec<GameSummary>,
    /// How much each column counts, the one that counts most first; empty where that was not found out.
    pub importance: Vec<Importance>,
    /// The same rows decided without the constraints, and all alike.
    pub baselines: Vec<Baseline>,
    /// Decisions by label in each group of the constraints, on the rows that judge; all rows first.
    pub confusions: Vec<GroupConfusion>,
    /// What preparing it found worth telling.
    pub notices: Vec<Notice>,
    /// What to know before trusting the classifier: above all, constraints that it does not meet.
    pub warnings: Vec<Warning>,
}

impl Trained {
    /// What the classifier comes to on one part of the data: `train`, `val` or `test`.
    pub fn part(&self, name: &str) -> Option<&Evaluation> {
        self.parts.iter().find(|part| part.part == name).map(|part| &part.evaluation)
    }

    /// What it comes to on the rows that the constraints were enforced on.
    pub fn enforced(&self) -> Option<&Evaluation> {
        self.part("val").or_else(|| self.part("train"))
    }

    /// What another way to decide the rows comes to, on the rows that the constraints were enforced on or on those of `test`.
    pub fn baseline(&self, kind: BaselineKind, test: bool) -> Option<&Evaluation> {
        let own = |one: &&Baseline| one.kind == kind && (one.part == "test") == test;
        self.baselines.iter().find(own).map(|one| &one.evaluation)
    }

    /// How the constraints stand together: promised where all are, violated where one is.
    pub fn standing(&self) -> Standing {
        Standing::of_all(&self.enforcement)
    }

    /// Whether a watcher stopped it before its last turn.
    pub fn was_stopped(&self) -> bool {
        self.warnings.iter().any(|one| matches!(one, Warning::Stopped { .. }))
    }
}

/// The mixture that was selected.
#[derive(Debug, Clone, PartialEq)]
pub struct Mixture {
    /// Columns and their weights, which add up to 1. Column c is model c / `levels` of the iterates, at threshold
    /// c % `levels`, of which 0 is the model's own.
    pub weights: Vec<(usize, f64)>,
    /// How many thresholds each model may decide at.
    pub levels: usize,
    /// What each of its columns is like on the rows that judge.
    pub columns: Vec<RecordedModel>,
    /// Its losses on the rows that teach, where they are known apart from those that judge.
    pub train: LossValues,
    /// Its losses on the rows that judge.
    pub val: LossValues,
    /// By how much the losses are larger on rows that had no part in the selection, as it was measured.
    pub optimism: Option<LossValues>,
    /// What shrinking found, if it was by shrinking.
    pub shrunk: Option<Shrunk>,
    /// By how much margins and optimism raise the objective on the rows that judge.
    pub price: Option<f64>,
    /// By how much one deterministic rule raises it beside the best mixture, where one was asked for.
    pub rule_price: Option<f64>,
}

impl Training<'_> {
    /// Measures what all games kept and selects the mixture, and nothing more: for experiments of thousands of trainings,
    /// which need no prices, verdicts or records.
    ///
    /// The classifier and the mixture are those of [`Training::finish`], except that margins do not cover draws that rows
    /// share; without a margin there are none to cover.
    ///
    /// # Errors
    /// If a game kept no model.
    pub fn mix(&self, played: &[Played]) -> Result<(Classifier, Mixture)> {
        self.check_models(played)?;
        let chosen = self.select(played, (self.plan.spec.selection, Told::Mixture), &[])?;
        Ok((self.classifier(played, &chosen)?, self.mixture(&chosen)))
    }

    fn check_models(&self, played: &[Played]) -> Result<()> {
        if self.has_models(played) {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Settings, "no model was kept to select from")
            .help("play at least one turn"))
    }

    /// Measures what all games kept, selects the mixture, judges it, and keeps the record.
    ///
    /// # Errors
    /// If a game kept no model.
    pub fn finish(&self, played: &[Played]) -> Result<Trained> {
        let selection = self.plan.spec.selection;
        self.check_models(played)?;
        let mut chosen = self.select(played, (selection, Told::All), &[])?;
        let cross = matches!(self.plan.spec.datasets, Datasets::Cross { .. });
        let mut classifier = self.classifier(played, &chosen)?;
        let (mut parts, shared) = self.judge(&classifier, played, &chosen)?;
        chosen.shared = shared;
        if let Some(shared) = self.to_cover(&chosen) {
            // Once more, with margins that cover what draws that rows share spread.
            chosen = self.select(played, (selection, Told::All), &shared)?;
            classifier = self.classifier(played, &chosen)?;
            (parts, chosen.shared) = self.judge(&classifier, played, &chosen)?;
        }
        classifier.keep_candidates(chosen.candidates.clone());
        let out_of_fold = cross.then(|| self.train.in_table_order(&chosen.chances));
        let mut trained = Trained {
            classifier,
            games: self.summaries(played, &chosen),
            parts,
            enforcement: Vec::new(),
            warnings: Vec::new(),
            selection,
            mixture: self.mixture(&chosen),
            out_of_fold,
            mean_lambda: self.mean_lambda(played, &chosen),
            suboptimality: played
                .iter()
                .map(|game| game.suboptimality)
                .reduce(|a, b| a.zip(b).map(|(a, b)| a.max(b)))
                .flatten(),
            guarantee: self.guarantee(played, &chosen)?,
            turns: played.iter().map(|game| game.turn).sum(),
            importance: self.importance(played, &chosen)?,
            baselines: self.baselines(played, &chosen)?,
            confusions: self.confusions(played, &chosen)?,
            notices: self.notices.clone(),
            explained: chosen.explained.clone(),
            iterates: chosen.measured.iterates.clone(),
        };
        if let Some(enforced) = trained.enforced() {
            trained.enforcement = self.enforcement(&chosen, enforced);
        }
        trained.warnings = self.warnings(played, &chosen, &trained);
        let record = Record::of(&trained, cross);
        trained.classifier.keep_record(&record)?;
        Ok(trained)
    }

    /// The mean of what constraint players played; in the plug-in game, of the multipliers of the rules of the mixture.
    fn mean_lambda(&self, played: &[Played], chosen: &Chosen) -> Multipliers {
        if self.ground.is_none() {
            return mean(played[..self.folds.len()].iter().map(|game| &game.mean_lambda));
        }
        let constraints = vec![0.0; self.bound.constraints().len()];
        let mut sum = Multipliers { objective: 0.0, constraints };
        for &(column, weight) in &chosen.weights {
            let lambda = &chosen.measured.iterates.moments[column].lambda;
            sum.objective += weight * lambda.objective;
            let sums = sum.constraints.iter_mut().zip(&lambda.constraints);
            sums.for_each(|(sum, one)| *sum += weight * one);
        }
        sum
    }

    /// What a theorem says of the game; of several games none speaks.
    fn guarantee(&self, played: &[Played], chosen: &Chosen) -> Result<Option<Guarantee>> {
        let [game] = played else { return Ok(None) };
        let algorithm = self.plan.spec.algorithm;
        if !matches!(algorithm, Algorithm::Discrete(_) | Algorithm::Continuous(_)) {
            return Ok(None);
        }
        let measured = &chosen.measured;
        let penalty = |model: usize| {
            let kept = measured.tied[model].models[0];
            self.plan.spec.region.penalty(game.kept.models[kept].theta())
        };
        let ended = Ended {
            turns: game.turn,
            mean_lambda: &game.mean_lambda,
            suboptimality: game.suboptimality,
            margin: measured.iterates.proxy_margin(penalty),
            apart: self.val.is_some() && !self.validates_by_training_rows(),
        };
        algorithm.guarantee(&self.setting(0), ended)
    }

    /// What becomes of the models of a column.
    pub(super) fn blend(&self) -> Blend {
        match self.plan.spec.selection {
            Selection::Shrink(ShrinkSpec { deterministic: true, .. }) => Blend::Mean,
            Selection::Shrink(spec) if self.ground.is_some() => spec.blend,
            _ => Blend::Draw,
        }
    }

    fn mixture(&self, chosen: &Chosen) -> Mixture {
        let (measured, weights) = (&chosen.measured, &chosen.weights);
        let val = measured.mixed(weights, None);
        let own = measured.levels == 1;
        let column = |&(column, _): &(usize, f64)| {
            let alone = measured.mixed(&[(column, 1.0)], None);
            let train = &measured.iterates.models[column / measured.levels].train.exact;
            RecordedModel {
                objective: if own { train.objective } else { alone.objective },
                worst: Some(alone.worst()).filter(|worst| worst.is_finite()),
            }
        };
        Mixture {
            columns: weights.iter().map(column).collect(),
            train: match own {
                true => measured.iterates.mixed(weights, Dataset::Train, Side::Exact),
                false => val.clone(),
            },
            val,
            weights: weights.clone(),
            levels: measured.levels,
            optimism: chosen
                .paid
                .as_ref()
                .and_then(|paid| paid.optimism.as_ref())
                .map(|optimism| optimism.losses.clone()),
            shrunk: chosen.paid.as_ref().map(|paid| paid.shrunk.clone()),
            price: chosen.paid.as_ref().map(|paid| paid.price),
            rule_price: chosen.paid.as_ref().and_then(|paid| paid.rule_price),
        }
    }

    /// Of each column, the models of all folds: one of them is drawn, or in the plug-in game their mean score decides.
    fn classifier(&self, played: &[Played], chosen: &Chosen) -> Result<Classifier> {
        self.classifier_of(played, &chosen.measured, &chosen.weights)
    }

    /// The same of any mixture of columns.
    pub(super) fn classifier_of(
        &self,
        played: &[Played],
        measured: &Measurements,
        weights: &[(usize, f64)],
    ) -> Result<Classifier> {
        let folds = self.folds.len();
        let fitted: Option<Vec<View>> =
            played.iter().map(|game| game.fitted.as_ref().map(|own| own.view.clone())).collect();
        let mut members = Vec::with_capacity(weights.len() * folds);
        for (place, &(column, weight)) in weights.iter().enumerate() {
            for (at, fold) in self.folds.iter().enumerate() {
                let (hypothesis, threshold) = measured.hypothesis(played, column, (at, folds));
                members.push(Member {
                    weight: weight / folds as f64,
                    turn: measured.tied[column / measured.levels].turn,
                    column: place,
                    view: if fitted.is_some() { at } else { fold.view },
                    threshold,
                    hypothesis: hypothesis.clone(),
                });
            }
        }
        let blend = self.blend();
        let mut provenance = self.provenance.clone();
        if let Some(first) = played.first().and_then(|game| game.fitted.as_ref()) {
            // Rows are known again by what the first view has of them, which here are probabilities.
            if self.streamed.is_none() {
                provenance.train.sketch = sketch(&first.train);
                if let (Some(known), Some(val)) = (&mut provenance.val, &first.val) {
                    known.sketch = sketch(val);
                }
            }
        }
        let mut classifier = Classifier::new(
            self.bound.clone(),
            fitted.unwrap_or_else(|| self.views.clone()),
            members,
            mix(self.plan.spec.seed ^ 0x6b65_7900),
            provenance,
        )?;
        classifier.set_blend(blend);
        Ok(classifier)
    }

    /// What the classifier comes to on the rows of `train`; as `val` on those that the constraints were enforced
    /// on, with cross-fitting the training rows again, each by models that were not trained on it; and on those
    /// of `test`. Also by how much draws that rows share spread each constraint's loss.
    fn judge(
        &self,
        classifier: &Classifier,
        played: &[Played],
        chosen: &Chosen,
    ) -> Result<(Vec<RecordedPart>, Vec<f64>)> {
        let (train, val) = (self.seen(played, false), self.seen(played, true));
        let decided = |seen: &[Features]| -> Result<Vec<f64>> {
            let decided = classifier.predict(seen, Draw::Features)?;
            Ok(decided.iter().map(|one| one.probability).collect())
        };
        let mut chances = Cow::Owned(decided(&train)?);
        let mut parts =
            vec![self.judged("train", &self.train, Decisions::Probabilities(&chances))?];
        if let Datasets::Cross { .. } = self.plan.spec.datasets {
            let mut part =
                self.judged("val", &self.train, Decisions::Probabilities(&chosen.chances))?;
            // Each row is judged by one fold; new rows may be decided by a draw among all.
            part.evaluation.drawn = parts[0].evaluation.drawn;
            part.source += ", each row by models that were not trained on it";
            parts.push(part);
        } else if let Some(rows) = &self.val {
            chances = match self.streamed {
                // One fold, so that the classifier has the chances that were judged.
                Some(_) => Cow::Borrowed(&chosen.chances),
                None => Cow::Owned(decided(&val)?),
            };
            parts.push(self.judged("val", rows, Decisions::Probabilities(&chances))?);
        }
        let judging = if self.val.is_some() { &val } else { &train };
        let shared = judging.first().map(|seen| self.shared_draws(seen, &chances));
        if let Some(streamed) = &self.streamed
            && let Some((source, evaluation)) = streamed.test(classifier, CONFIDENCE)?
        {
            parts.push(RecordedPart { part: "test".to_owned(), source, evaluation });
        }
        if let Some(test) = &self.test {
            let Weighted { table, weights } = test.weighted();
            // Test rows need not have the column.
            let unit = self.plan.spec.unit.as_deref();
            let unit = table.columns().iter().find(|column| Some(column.name.as_str()) == unit);
            let units = unit.map(|column| draws(&column.values));
            let units = units.as_deref();
            let evaluation = classifier.evaluate_by_unit(table, weights, units, CONFIDENCE)?;
            let (part, source) = ("test".to_owned(), test.source.clone());
            parts.push(RecordedPart { part, source, evaluation });
        }
        Ok((parts, shared.unwrap_or_default()))
    }

    /// What the classifier's views have of the training rows, or of validation rows.
    fn seen(&self, played: &[Played], of_val: bool) -> Cow<'_, [Features]> {
        let rows = if of_val { self.val.as_ref() } else { Some(&self.train) };
        if self.ground.is_none() {
            if let (Some(_), false, Some(rows)) = (&self.streamed, of_val, rows) {
                return Cow::Owned(vec![rows.features[0].first(self.judged_rows())]);
            }
            return rows.map_or(Cow::Owned(Vec::new()), |rows| Cow::Borrowed(&rows.features[..]));
        }
        let own = played.iter().filter_map(|game| game.fitted.as_ref());
        let own = own.filter_map(|one| if of_val { one.val.as_ref() } else { Some(&one.train) });
        Cow::Owned(own.cloned().collect())
    }

    /// What decisions with these chances come to on one player's rows.
    pub(super) fn judged(
        &self,
        part: &str,
        rows: &Rows,
        decisions: Decisions<'_>,
    ) -> Result<RecordedPart> {
        // Those that are judged are the first.
        let count = decisions.len();
        let cells = (&self.partition, &rows.compiled.cells()[..count]);
        let weights = rows.given.as_deref().map(|all| &all[..count]);
        let units = rows.units.as_deref().map(|all| &all[..count]);
        let evaluation = evaluate_cells(&self.bound, cells, weights, units, decisions, CONFIDENCE)?;
        let source = match count < rows.count() {
            true => format!("{}, a random sample of {count} rows", rows.source),
            false => rows.source.clone(),
        };
        Ok(RecordedPart { part: part.to_owned(), source, evaluation })
    }

    fn warnings(&self, played: &[Played], chosen: &Chosen, trained: &Trained) -> Vec<Warning> {
        let constrained = !matches!(self.plan.spec.algorithm, Algorithm::Unconstrained(_));
        let mut warnings = self.overlaps.clone();
        if constrained {
            warnings.extend(warning::violated(&trained.enforcement));
            // One variant stands for all: between two of them, multipliers begin anew.
            let own = |moment: &&Moment| chosen.measured.tied[moment.model].variant == 0;
            let first: Vec<&Moment> = chosen.measured.iterates.moments.iter().filter(own).collect();
            if self.ground.is_none() {
                let violated = |one: &Warning| matches!(one, Warning::Violated { .. });
                warnings.extend(warning::unmoved(&first, warnings.iter().any(violated)));
            }
            let losses = self.enforced().compiled.losses();
            warnings.extend(warning::only_with_equality(&self.bound, losses));
        }
        if let Some(enforced) = trained.enforced() {
            let base = self.base_rate();
            let prices = chosen.explained.as_ref().map(|all| &all.prices);
            let free = prices.is_none_or(|prices| prices.iter().all(|price| *price <= ROUNDING));
            // Constraints may well cost errors, and so may another objective.
            let error_alone = free && self.bound.objective() == "error()";
            warnings.extend(warning::tells_nothing(enforced, base, error_alone));
        }
        let violated = warnings.iter().any(|one| matches!(one, Warning::Violated { .. }));
        let explained = chosen.explained.as_ref();
        let infeasible = explained.and_then(|all| warning::infeasible(&self.bound, all, violated));
        warnings.extend(infeasible);
        warnings.extend(self.not_promised(chosen, &trained.enforcement));
        warnings.extend(warning::shared_draws(&trained.enforcement, chosen));
        if played.iter().any(|game| game.interrupted) {
            let turn = played.iter().map(|game| game.turn).sum();
            let turns = played.iter().map(|game| game.turns).sum();
            warnings.push(Warning::Stopped { turn, turns });
        }
        warnings.extend(trained.enforced().map(warning::few_rows).unwrap_or_default());
        warnings
    }

    /// The share of the judging rows that are labelled positive, by weight.
    fn base_rate(&self) -> f64 {
        let weights = self.enforced().compiled.losses().weights();
        let labelled = self.partition.met()[LABEL].iter().map(|cell| weights[cell as usize]);
        labelled.sum::<f64>() / weights.iter().sum::<f64>()
    }

    /// What each game came to, and how much of the mixture is from it.
    fn summaries(&self, played: &[Played], chosen: &Chosen) -> Vec<GameSummary> {
        let (folds, measured) = (self.folds.len(), &chosen.measured);
        let summary = |(game, played): (usize, &Played)| {
            let variant = self.variants[game / folds];
            let of = |column: usize| measured.tied[column / measured.levels].variant;
            let own = chosen.weights.iter().filter(|(column, _)| of(*column) == game / folds);
            GameSummary {
                step: variant.step,
                plain: variant.plain,
                turns: played.turn,
                stopped_early: played.ending == Ending::Stopped,
                kept: match self.ground {
                    Some(_) => measured.iterates.models.len(),
                    None => played.kept.moments.len(),
                },
                weight: own.fold(0.0, |sum, (_, weight)| sum + weight / folds as f64),
            }
        };
        played.iter().enumerate().map(summary).collect()
    }
}
