//! Settings of a training, as they are asked for.

use serde::{Deserialize, Serialize};

use super::{Datasets, Recipe, recipe};
use crate::algorithm::Algorithm;
use crate::classifier::{Selection, ShrinkSpec};
use crate::encode::EncoderSpec;
use crate::game::Keep;
use crate::model::{ModelSpec, Region};
use crate::observe::Patience;
use crate::rate::{Problem, Surrogate};
use crate::table::Missing;
use crate::{Error, ErrorKind, Result};

/// All that a training depends on but the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "recipe::Given")]
pub struct Spec {
    /// The condition that makes a row positive.
    pub label: String,
    /// What to minimise.
    pub objective: String,
    /// What is to hold.
    pub constraints: Vec<String>,
    /// Whether groups of an `each` that have no rows are left out rather than refused.
    pub skip_empty_groups: bool,
    /// The column that says how much each row counts; 1 each without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<String>,
    /// What stands for a missing value in the files that rows are read from, to learn from and to be decided.
    pub missing: Missing,
    /// What stands where the settings below are not given.
    pub recipe: Recipe,
    /// One dataset for both players, two, or every row as both in turn.
    pub datasets: Datasets,
    /// The share of the rows that is kept to test on.
    pub test_fraction: f64,
    /// How columns become features; the label's and the weight's never do.
    pub encoder: EncoderSpec,
    /// The family of models.
    pub model: ModelSpec,
    /// What stands in for decisions where slopes are needed.
    pub surrogate: Surrogate,
    /// Where parameters may be, and how they are held back.
    pub region: Region,
    /// How the game is played.
    pub algorithm: Algorithm,
    /// With cross-fitting, how many times as long as set the model's steps may be: every fold is played with each of
    /// these, and the mixture chosen among all.
    pub steps: Vec<f64>,
    /// Which turns' models are kept.
    pub keep: Keep,
    /// Whether to stop once models get no better, and when.
    #[serde(serialize_with = "recipe::never")]
    pub early_stop: Option<Patience>,
    /// How the classifier is made of them; without constraints to shrink under, the last is taken.
    pub selection: Selection,
    /// Draws the start, the minibatches and the decisions.
    pub seed: u64,
}

pub(super) fn error_rate() -> String {
    "error()".to_owned()
}

pub(super) fn one_step() -> Vec<f64> {
    vec![1.0]
}

pub(super) fn linear() -> ModelSpec {
    ModelSpec::Linear
}

impl Spec {
    /// A linear model for a label under constraints, with every setting as recommended.
    pub fn new<S: AsRef<str>>(label: &str, constraints: &[S]) -> Self {
        Spec::of(Recipe::Recommended, label, constraints)
    }

    /// The same, with every setting as in the paper.
    pub fn paper<S: AsRef<str>>(label: &str, constraints: &[S]) -> Self {
        Spec::of(Recipe::Paper, label, constraints)
    }

    /// The same, with every setting as in a recipe.
    pub fn of<S: AsRef<str>>(recipe: Recipe, label: &str, constraints: &[S]) -> Self {
        Spec {
            label: label.to_owned(),
            objective: error_rate(),
            constraints: constraints.iter().map(|text| text.as_ref().to_owned()).collect(),
            skip_empty_groups: false,
            weight: None,
            missing: Missing::default(),
            recipe,
            datasets: recipe.datasets(),
            test_fraction: 0.0,
            encoder: EncoderSpec::default(),
            model: ModelSpec::Linear,
            surrogate: Surrogate::default(),
            region: Region::default(),
            algorithm: Algorithm::default(),
            steps: one_step(),
            keep: recipe.keep(),
            early_stop: recipe.early_stop(),
            selection: recipe.selection(),
            seed: 0,
        }
    }

    /// Refuses what no training could begin with, whatever the data; gives the problem, as it was read.
    ///
    /// ```
    /// use fairgame::train::Spec;
    /// let mut spec = Spec::new("hired == \"yes\"", &["recall() >= 0.9"]);
    /// assert!(spec.check().is_ok());
    /// spec.region.convexity = -1.0;
    /// assert!(spec.check().is_err());
    /// ```
    pub fn check(&self) -> Result<Problem> {
        let wrong = |message: String, help: &str| {
            Err(Error::new(ErrorKind::Settings, message).help(help.to_owned()))
        };
        if self.keep == Keep::Spaced(0) {
            return wrong("to keep no model leaves nothing to select from".to_owned(), "keep some");
        }
        if let Some(Patience { kept, least, .. }) = self.early_stop
            && !(kept > 0 && least >= 0.0 && least.is_finite())
        {
            let message = format!("early stopping after {kept} kept models by less than {least}");
            return wrong(message, "give a number of models above 0, and a least from 0 up");
        }
        if let Selection::Shrink(ShrinkSpec { epsilon, margin, .. }) = self.selection {
            epsilon.check().map_err(|error| error.at("selection.shrink.epsilon"))?;
            margin.check().map_err(|error| error.at("selection.shrink.margin"))?;
        }
        self.check_fractions()?;
        self.check_steps()?;
        self.encoder.check().map_err(|error| error.at("encoder"))?;
        self.model.check().map_err(|error| error.at("model"))?;
        self.algorithm.check(self.region, self.model == ModelSpec::Linear)?;
        let problem = Problem::parse(&self.label, &self.objective, &self.constraints)?;
        Ok(if self.skip_empty_groups { problem.skip_empty_groups() } else { problem })
    }

    fn check_steps(&self) -> Result<()> {
        let wrong = |message: String, help: &str| {
            Err(Error::new(ErrorKind::Settings, message).help(help.to_owned()).at("steps"))
        };
        let sound = |step: &f64| step.is_finite() && *step > 0.0;
        if let Some(step) = self.steps.iter().find(|step| !sound(step)) {
            return wrong(format!("steps cannot be {step} times as long"), "give numbers above 0");
        }
        let again =
            self.steps.iter().enumerate().find(|(at, step)| self.steps[..*at].contains(step));
        if let Some((_, step)) = again {
            return wrong(format!("{step} is given twice"), "give each length of steps once");
        }
        match self.steps[..] {
            [] => wrong("no steps are to be taken".to_owned(), "give 1 for steps as they are set"),
            [1.0] => Ok(()),
            _ if !self.cross_fits()
                || self.constraints.is_empty()
                || !matches!(self.datasets, Datasets::Cross { .. }) =>
            {
                wrong(
                    "steps are chosen by what rows say that a game does not learn from".to_owned(),
                    "cross-fit by `practical` or `lagrangian`, or set the algorithm's own step",
                )
            }
            _ => Ok(()),
        }
    }

    /// Refuses shares of the rows that are none.
    fn check_fractions(&self) -> Result<()> {
        let share = |name: &str, fraction: f64, least: f64| {
            if fraction >= least && fraction < 1.0 {
                return Ok(());
            }
            Err(Error::new(ErrorKind::Settings, format!("a {name} fraction of {fraction}"))
                .help("give a number between 0 and 1"))
        };
        share("test", self.test_fraction, 0.0)?;
        match self.datasets {
            Datasets::One | Datasets::Given => Ok(()),
            Datasets::Cross { folds, repeats } => {
                if (2..=100).contains(&folds) && (1..=100).contains(&repeats) {
                    return Ok(());
                }
                let message = format!("cross-fitting with folds = {folds} and repeats = {repeats}");
                Err(Error::new(ErrorKind::Settings, message)
                    .help("give 2 to 100 folds, and 1 to 100 repeats"))
            }
            Datasets::Two { val_fraction } => share("validation", val_fraction, f64::MIN_POSITIVE),
        }
    }
}
