//! How rows become what a member of the mixture sees.
//!
//! A view encodes a table, and may go one step further: in the plug-in game a member is a rule over probabilities, so the
//! view of a fold holds the models of P(S | x) that were fitted there, one for each [set](crate::rate) of patterns, and
//! gives each row its class and these probabilities.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::archive::{Arrays, Numbers};
use crate::encode::{Encoder, Features, Input};
use crate::model::trees::{Binned, Bins, Forest};
use crate::model::{AnyModel, Rows, Rule, ScoreScale, Scorer, Tape};
use crate::rate::Classes;
use crate::table::{Kind, Table};
use crate::{Error, ErrorKind, Result, Threads};

/// How rows become scores: an encoder, and the family of models over its features or over probabilities of them.
///
/// With cross-fitting each fold has its own, fitted on the rows that teach there; folds whose views are equal share one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct View {
    /// From tables to features.
    pub encoder: Encoder,
    /// From features, or from probabilities, and parameters to scores.
    pub model: AnyModel,
    /// From features to probabilities, where the model is a rule over them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probabilities: Option<Probabilities>,
}

/// From features to probabilities, and from tables to classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probabilities {
    /// What is known of a row's groups.
    classes: Classes,
    /// The codes of trees, where some probability is of trees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bins: Option<Bins>,
    /// One for each set of patterns.
    models: Vec<Probability>,
}

/// A model of one probability: P = 1 / (1 + exp(−(slope·f(x) + shift))).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probability {
    /// What gives the log-odds f.
    pub(crate) scorer: LogOdds,
    /// The calibration.
    pub(crate) slope: f64,
    pub(crate) shift: f64,
    /// What it is the probability of, in the language; none where no short condition says it, and in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) condition: Option<String>,
}

/// What gives log-odds. Its numbers are arrays of a file, and no part of its header.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum LogOdds {
    /// Boosted trees.
    Trees(#[serde(skip)] Option<Forest>),
    /// Another model, and its parameters.
    Model {
        model: Box<AnyModel>,
        #[serde(skip)]
        theta: Vec<f32>,
    },
    /// Scores of another model, which are a number of the features.
    Score { number: usize, scale: ScoreScale },
}

impl View {
    /// What the model sees of a table's rows.
    ///
    /// # Errors
    /// If the table lacks a column, or has one of another kind.
    pub fn encode(&self, table: &Table) -> Result<Features> {
        let features = self.encoder.encode(table)?;
        let (Some(probabilities), AnyModel::Rule(rule)) = (&self.probabilities, &self.model) else {
            return Ok(features);
        };
        probabilities.check_scores(&self.encoder, table)?;
        let classes = probabilities.classes.assign(table)?;
        probabilities.features(&features, &classes, rule, &Threads::default())
    }

    /// The column with the scores of another model, if it decides by such.
    pub fn score_column(&self) -> Option<String> {
        let models = &self.probabilities.as_ref()?.models;
        models.iter().find_map(|one| match one.scorer {
            LogOdds::Score { number, .. } => {
                score_input(&self.encoder, number).map(|input| input.column().to_owned())
            }
            _ => None,
        })
    }

    /// The columns that are needed, and their kinds.
    pub fn kinds(&self) -> BTreeMap<String, Kind> {
        let mut kinds = self.encoder.kinds();
        if let Some(probabilities) = &self.probabilities {
            probabilities.classes.kinds().into_iter().for_each(|(column, kind)| {
                kinds.entry(column).or_insert(kind);
            });
        }
        kinds
    }

    /// Refuses a view whose parts do not fit each other.
    pub(crate) fn check(&self) -> Result<()> {
        let sound = match (&self.probabilities, &self.model) {
            (None, AnyModel::Rule(_)) => false,
            (None, _) => true,
            (Some(probabilities), AnyModel::Rule(rule)) => {
                rule.probabilities() == probabilities.models.len()
                    && rule.classes() == probabilities.classes.count()
                    && probabilities.is_sound(&self.encoder)
            }
            (Some(_), _) => false,
        };
        match sound {
            true => Ok(()),
            false => Err(Error::new(
                ErrorKind::Format,
                "the model's probabilities and its rules do not fit each other",
            )),
        }
    }

    /// What a file has of the view beside its header.
    pub(crate) fn arrays(&self) -> Arrays {
        let mut arrays = Arrays::default();
        let models = self.probabilities.iter().flat_map(|all| &all.models);
        for (at, model) in models.enumerate() {
            match &model.scorer {
                LogOdds::Trees(forest) => {
                    if let Some(forest) = forest {
                        arrays.put_part(&at.to_string(), forest.to_arrays());
                    }
                }
                LogOdds::Model { theta, .. } => {
                    arrays.put(&format!("{at}.theta"), Numbers::F32(theta.clone()));
                }
                LogOdds::Score { .. } => {}
            }
        }
        arrays
    }

    /// Takes what a file has of the view beside its header.
    pub(crate) fn take_arrays(&mut self, arrays: &mut Arrays) -> Result<()> {
        let models = self.probabilities.iter_mut().flat_map(|all| &mut all.models);
        for (at, model) in models.enumerate() {
            let mut own = arrays.take_part(&at.to_string());
            match &mut model.scorer {
                LogOdds::Trees(forest) => *forest = Some(Forest::from_arrays(&mut own)?),
                LogOdds::Model { model, theta } => {
                    *theta = own.take_f32("theta", model.params())?;
                }
                LogOdds::Score { .. } => {}
            }
        }
        Ok(())
    }
}

impl Probabilities {
    pub(crate) fn new(classes: Classes, bins: Option<Bins>, models: Vec<Probability>) -> Self {
        Probabilities { classes, bins, models }
    }

    /// What is known of a row's groups.
    pub(crate) fn classes(&self) -> &Classes {
        &self.classes
    }

    /// The codes of trees.
    pub(crate) fn bins(&self) -> Option<&Bins> {
        self.bins.as_ref()
    }

    /// One for each set of patterns.
    pub(crate) fn models(&self) -> &[Probability] {
        &self.models
    }

    /// How much the splits on each column of the bins have lowered the training loss, over all trees.
    pub(crate) fn gains(&self) -> Option<Vec<f64>> {
        let mut gains = vec![0.0; self.bins.as_ref()?.columns()];
        for one in &self.models {
            if let LogOdds::Trees(Some(forest)) = &one.scorer {
                let own = forest.importance();
                gains.iter_mut().zip(own).for_each(|(sum, gain)| *sum += gain);
            }
        }
        Some(gains)
    }

    /// Refuses a table that lacks a score of another model.
    fn check_scores(&self, encoder: &Encoder, table: &Table) -> Result<()> {
        for one in &self.models {
            if let LogOdds::Score { number, scale } = one.scorer
                && let Some(input) = score_input(encoder, number)
            {
                scale.check(table, input.column())?;
            }
        }
        Ok(())
    }

    /// Whether trees have bins of as many columns, scores are among the features, and numbers are finite.
    fn is_sound(&self, encoder: &Encoder) -> bool {
        self.models.iter().all(|one| {
            let numbers = one.slope.is_finite() && one.shift.is_finite();
            numbers
                && match &one.scorer {
                    LogOdds::Trees(forest) => {
                        let columns = self.bins.as_ref().map(Bins::columns);
                        forest.as_ref().map(Forest::columns) == columns && columns.is_some()
                    }
                    LogOdds::Model { model, theta } => {
                        !matches!(**model, AnyModel::Rule(_))
                            && theta.len() == model.params()
                            && theta.iter().all(|x| x.is_finite())
                    }
                    LogOdds::Score { number, .. } => score_input(encoder, *number).is_some(),
                }
        })
    }

    /// What a rule sees of rows of these features and classes.
    ///
    /// # Errors
    /// If the features are not those that the models were made for.
    pub(crate) fn features(
        &self,
        features: &Features,
        classes: &[u32],
        rule: &Rule,
        threads: &Threads,
    ) -> Result<Features> {
        let binned = self.bins.as_ref().map(|bins| bins.codes(features, threads)).transpose()?;
        let values = self.values(features, binned.as_ref(), threads)?;
        Ok(rule.features(classes, values).made_of(features))
    }

    /// The same for rows of which only the codes of trees are known; `features` has their hashes.
    ///
    /// # Errors
    /// If a probability is not one of trees.
    pub(crate) fn features_of_bins(
        &self,
        (features, binned): (&Features, &Binned),
        classes: &[u32],
        rule: &Rule,
        threads: &Threads,
    ) -> Result<Features> {
        if self.models.iter().any(|one| !matches!(one.scorer, LogOdds::Trees(_))) {
            let message = "probabilities of other models than trees need all features";
            return Err(Error::new(ErrorKind::Format, message));
        }
        let seen = rule.features(classes, self.values(features, Some(binned), threads)?);
        Ok(if features.is_made_of_others() { seen.made_of(features) } else { seen })
    }

    /// The probabilities, row by row.
    fn values(
        &self,
        features: &Features,
        binned: Option<&Binned>,
        threads: &Threads,
    ) -> Result<Vec<f32>> {
        /// Rows that are scored at a time.
        const BLOCK: usize = 4096;
        let (rows, width) = (features.rows(), self.models.len());
        for one in &self.models {
            if let LogOdds::Model { model, theta } = &one.scorer {
                model.check(theta, features)?;
            }
        }
        let mut values = vec![0.0; rows * width];
        let mut blocks: Vec<(usize, &mut [f32])> =
            values.chunks_mut(BLOCK * width.max(1)).enumerate().collect();
        threads.each_mut(&mut blocks, |(block, values)| {
            let first = *block * BLOCK;
            let count = values.len() / width.max(1);
            let (mut scores, mut tape) = (vec![0.0; count], Tape::default());
            for (at, one) in self.models.iter().enumerate() {
                let range = first..first + count;
                match (&one.scorer, binned) {
                    (LogOdds::Trees(Some(forest)), Some(binned)) => {
                        forest.score(binned, range, &mut scores);
                    }
                    (LogOdds::Model { model, theta }, _) => {
                        model.score(theta, Rows::range(features, range), &mut tape, &mut scores);
                    }
                    (LogOdds::Score { number, scale }, _) => {
                        for (score, row) in scores.iter_mut().zip(range) {
                            *score = scale.log_odds(features.row_values(row)[*number]);
                        }
                    }
                    // A view that was checked has its trees.
                    (LogOdds::Trees(_), _) => scores.fill(0.0),
                }
                for (row, score) in scores.iter().enumerate() {
                    values[row * width + at] = one.of(*score);
                }
            }
        });
        Ok(values)
    }
}

/// The input of an encoder that is a number at this place.
fn score_input(encoder: &Encoder, number: usize) -> Option<Input> {
    let is = |input: &Input| matches!(input, Input::Number { number: at, .. } if *at == number);
    encoder.inputs().into_iter().find(is)
}

impl Probability {
    /// P of log-odds.
    pub(crate) fn of(&self, score: f32) -> f32 {
        let log_odds = self.slope * f64::from(score) + self.shift;
        (1.0 / (1.0 + (-log_odds).exp())) as f32
    }
}
