//! What a training came to: a classifier, how it did, and what to know of it.

use super::training::Rows;
use super::{GameSummary, Notice, Played, Record, RecordedPart, Training, Warning, warning};
use crate::classifier::{Classifier, Draw, Explained, Iterates, Member, Selected, Selection};
use crate::evaluate::{Decisions, Evaluation, evaluate_cells};
use crate::game::Ending;
use crate::random::mix;
use crate::rate::{Multipliers, Weighted};
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
    /// The models that were kept, measured on both samples.
    pub iterates: Iterates,
    /// How the classifier was to be made of them.
    pub selection: Selection,
    /// How it is.
    pub selected: Selected,
    /// What the constraints cost, and which stand against each other, if it was by shrinking.
    pub explained: Option<Explained>,
    /// With cross-fitting, each training row's chance of a positive decision by models that were not trained on it.
    pub out_of_fold: Option<Vec<f64>>,
    /// λ̄: the mean of what the constraint player played.
    pub mean_lambda: Multipliers,
    /// ρ, where the model player could state one.
    pub suboptimality: Option<f64>,
    /// How many turns were played.
    pub turns: u64,
    /// Of each game, how it went and how much of the mixture it is.
    pub games: Vec<GameSummary>,
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

    /// Whether a watcher stopped it before its last turn.
    pub fn was_stopped(&self) -> bool {
        self.warnings.iter().any(|one| matches!(one, Warning::Stopped { .. }))
    }
}

impl Training<'_> {
    /// Measures what all games kept, selects the mixture, judges it, and keeps the record.
    ///
    /// # Errors
    /// If a game kept no model.
    pub fn finish(&self, played: &[Played]) -> Result<Trained> {
        let selection = self.plan.spec.selection;
        if played.len() != self.games() || played.iter().any(|game| game.kept.moments.is_empty()) {
            return Err(Error::new(ErrorKind::Settings, "no model was kept to select from")
                .help("play at least one turn"));
        }
        let (iterates, selected, explained) = self.select(played, selection)?;
        let out_of_fold = match self.folds.is_empty() {
            true => None,
            false => Some(self.chances(&iterates, &selected.weights)?),
        };
        let classifier = self.classifier(&iterates, &selected)?;
        let parts = self.judge(&classifier, out_of_fold.as_deref())?;
        let warnings = self.warnings(played, &iterates, &selected, explained.as_ref());
        let out_of_fold = out_of_fold.map(|stored| self.train.in_table_order(&stored));
        let mut trained = Trained {
            classifier,
            games: self.summaries(played, &iterates, &selected.weights),
            parts,
            iterates,
            warnings,
            selection,
            selected,
            explained,
            out_of_fold,
            mean_lambda: mean(played.iter().map(|game| &game.mean_lambda)),
            suboptimality: played
                .iter()
                .map(|game| game.suboptimality)
                .reduce(|a, b| a.zip(b).map(|(a, b)| a.max(b)))
                .flatten(),
            turns: played.iter().map(|game| game.turn).sum(),
            notices: self.notices.clone(),
        };
        if let Some(enforced) = trained.enforced() {
            let few = warning::few_rows(enforced);
            trained.warnings.extend(few);
        }
        let record = Record::of(&trained);
        trained.classifier.keep_record(&record)?;
        Ok(trained)
    }

    fn classifier(&self, iterates: &Iterates, selected: &Selected) -> Result<Classifier> {
        let member = |&(model, weight): &(usize, f64)| {
            let first = iterates.moments.iter().find(|moment| moment.model == model);
            let turn = first.map_or(0, |moment| moment.turn);
            Member { weight, turn, hypothesis: iterates.models[model].hypothesis.clone() }
        };
        Classifier::new(
            self.bound.clone(),
            self.encoder.clone(),
            self.model.clone(),
            selected.weights.iter().map(member).collect(),
            mix(self.plan.spec.seed ^ 0x6b65_7900),
            self.provenance.clone(),
        )
    }

    /// What the classifier comes to on the rows of `train`; as `val` on those that the constraints were enforced
    /// on, with cross-fitting the training rows again, each by models that were not trained on it; and on those
    /// of `test`.
    fn judge(
        &self,
        classifier: &Classifier,
        out_of_fold: Option<&[f64]>,
    ) -> Result<Vec<RecordedPart>> {
        let mut parts = vec![self.judged("train", classifier, &self.train, None)?];
        if out_of_fold.is_some() {
            let mut part = self.judged("val", classifier, &self.train, out_of_fold)?;
            part.source += ", each row by models that were not trained on it";
            parts.push(part);
        } else if let Some(val) = &self.val {
            parts.push(self.judged("val", classifier, val, None)?);
        }
        if let Some(test) = &self.test {
            let Weighted { table, weights } = test.weighted();
            let evaluation = classifier.evaluate(table, weights, CONFIDENCE)?;
            let (part, source) = ("test".to_owned(), test.source.clone());
            parts.push(RecordedPart { part, source, evaluation });
        }
        Ok(parts)
    }

    /// What decisions come to on one player's rows: the classifier's, or those of these chances.
    fn judged(
        &self,
        part: &str,
        classifier: &Classifier,
        rows: &Rows,
        chances: Option<&[f64]>,
    ) -> Result<RecordedPart> {
        let own: Vec<f64>;
        let chances = match chances {
            Some(chances) => chances,
            None => {
                let decided = classifier.predict(&rows.features, Draw::Features)?;
                own = decided.iter().map(|one| one.probability).collect();
                &own
            }
        };
        let cells = (&self.partition, rows.compiled.cells());
        let decisions = Decisions::Probabilities(chances);
        let weights = rows.given.as_deref();
        let evaluation = evaluate_cells(&self.bound, cells, weights, decisions, CONFIDENCE)?;
        Ok(RecordedPart { part: part.to_owned(), source: rows.source.clone(), evaluation })
    }

    fn warnings(
        &self,
        played: &[Played],
        iterates: &Iterates,
        selected: &Selected,
        explained: Option<&Explained>,
    ) -> Vec<Warning> {
        let mut warnings = warning::warnings(
            &self.bound,
            self.plan.spec.algorithm,
            iterates,
            &selected.weights,
            self.enforced().compiled.losses(),
        );
        let violated = warnings.iter().any(|one| matches!(one, Warning::Violated { .. }));
        let infeasible = explained.and_then(|all| warning::infeasible(&self.bound, all, violated));
        warnings.extend(infeasible);
        if played.iter().any(|game| game.interrupted) {
            let turn = played.iter().map(|game| game.turn).sum();
            let turns = played.iter().map(|game| game.turns).sum();
            warnings.push(Warning::Stopped { turn, turns });
        }
        warnings
    }

    /// What each game came to, and how much of a mixture is from it.
    fn summaries(
        &self,
        played: &[Played],
        iterates: &Iterates,
        weights: &[(usize, f64)],
    ) -> Vec<GameSummary> {
        let summary = |(game, played): (usize, &Played)| GameSummary {
            step: self.folds.get(game).map_or(1.0, |fold| fold.step),
            turns: played.turn,
            stopped_early: played.ending == Ending::Stopped,
            kept: played.kept.moments.len(),
            weight: weights
                .iter()
                .filter(|(model, _)| iterates.models[*model].game == game)
                .fold(0.0, |sum, (_, weight)| sum + weight),
        };
        played.iter().enumerate().map(summary).collect()
    }
}

/// The mean over games.
fn mean<'a>(all: impl ExactSizeIterator<Item = &'a Multipliers>) -> Multipliers {
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
