//! The settings of a training.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::{Checks, Datasets};
use crate::algorithm::{Algorithm, PlugIn};
use crate::classifier::{Selection, ShrinkSpec};
use crate::encode::EncoderSpec;
use crate::game::Keep;
use crate::model::trees::TreesSpec;
use crate::model::{ModelSpec, Region};
use crate::observe::Patience;
use crate::rate::{Problem, Surrogate};
use crate::settings::{self, Declared, Fault, Place, Recipe, Wrong, declare};
use crate::table::Missing;
use crate::{Error, ErrorKind, Result};

declare! {
    /// All that a training depends on but the data.
    ///
    /// As JSON or TOML, what is left out is as the [`Recipe`] has it:
    ///
    /// ```
    /// use fairgame::train::Spec;
    /// let spec = Spec::from_json(r#"{"label": "hired", "model": {"mlp": {"units": 9}}, "keep": 40}"#)?;
    /// assert_eq!(spec, Spec { keep: fairgame::game::Keep::Spaced(40), ..spec.clone() });
    /// # Ok::<(), fairgame::Error>(())
    /// ```
    #[derive()]
    whole pub struct Spec {
        /// Condition that makes a row positive: 'income == ">50K"'.
        pub label: String = with(String::new()).flag("label").group("Problem"),
        /// What to minimise.
        pub objective: String = with("error()".to_owned()).flag("objective").group("Problem"),
        /// Constraint that must hold, such as 'positive_rate(each sex) >= 0.8 * positive_rate()'.
        pub constraints: Vec<String> = with(Vec::new()).flag("constraint").group("Problem"),
        /// Leave out groups of an `each` that have no rows, rather than refuse them.
        pub skip_empty_groups: bool = with(false).flag("skip-empty-groups").group("Problem"),
        /// Column with the weight of each row; 1 each without.
        pub weight: Option<String> = with(None).flag("weight").group("Features"),
        /// What stands for a missing value in the files that rows are read from.
        pub missing: Missing = with(Missing::default()).group("Features"),
        /// Defaults of all that is not given.
        pub recipe: Recipe = by(|recipe| recipe).flag("recipe").group("Problem"),
        /// Which rows the model is trained on, and which rows constraints are enforced on.
        pub datasets: Datasets = by(|recipe| match recipe {
            Recipe::Recommended => Datasets::Auto,
            Recipe::Paper => Datasets::Two { val_fraction: 0.5 },
        })
        .group("Rows"),
        /// Share of each fold's training rows on which the constraint player plays and early stopping looks, so that the
        /// rows that judge a model had no part in its training; 0 uses the judging rows for both, and then nothing is promised.
        pub aside: f64 = by(|recipe| match recipe {
            Recipe::Recommended => 0.1,
            Recipe::Paper => 0.0,
        })
        .below(0.0, 1.0)
        .flag("aside")
        .group("Rows"),
        /// Column whose equal values mark rows of one unit, such as a person: a unit is never divided between folds, and
        /// standard errors are by unit.
        pub unit: Option<String> = with(None).flag("unit").group("Rows"),
        /// Share of the rows that is kept to test on.
        pub test_fraction: f64 = with(0.0).below(0.0, 1.0).flag("test-fraction").group("Rows"),
        /// How columns become features; the label's and the weight's never do.
        pub encoder: EncoderSpec = with(EncoderSpec::default()).group("Features"),
        /// Column that stays a feature, whatever the checks of the data find.
        pub features: Vec<String> = with(Vec::new()).flag("feature").adds().group("Features"),
        /// What becomes of columns that give the label away, and of identifiers.
        pub checks: Checks = by(|recipe| match recipe {
            Recipe::Recommended => Checks::LeaveOut,
            Recipe::Paper => Checks::Tell,
        })
        .flag("checks")
        .group("Features"),
        /// Family of models; `auto` is trees for the plug-in game, and linear for other algorithms.
        pub model: ModelSpec = by(|recipe| match recipe {
            Recipe::Recommended => ModelSpec::Auto,
            Recipe::Paper => ModelSpec::Linear,
        })
        .flag("model")
        .group("Training"),
        /// Function that replaces the 0/1 decision where a gradient is needed; `auto` is the sigmoid for a linear model and
        /// the hinge for others.
        pub surrogate: Option<Surrogate> = by(|recipe| match recipe {
            Recipe::Recommended => None,
            Recipe::Paper => Some(Surrogate::Hinge),
        })
        .flag("surrogate")
        .group("Training"),
        /// Regularisation of the model's parameters.
        pub region: Region = with(Region::default()).group("Training"),
        /// Algorithm that trains; discrete, continuous, practical and lagrangian are 1 to 4 of the paper. `auto` is the
        /// plug-in game, and in the paper's recipe practical.
        pub algorithm: Algorithm = with(Algorithm::Auto)
        .flag("algorithm")
        .group("Training"),
        /// Learning-rate multipliers: with cross-fitting, each fold is trained once per multiplier, and the mixture is
        /// chosen among all models.
        pub steps: Vec<f64> = with(one_step()).check(|steps| multipliers(steps)).flag("steps").group("Training"),
        /// Also train each fold without constraints, on the error, and let the mixture choose among these models too.
        pub plain: bool = by(|recipe| recipe == Recipe::Recommended).group("Training"),
        /// How many models are kept, evenly spaced over the turns, or `every`.
        pub keep: Keep = by(|recipe| match recipe {
            Recipe::Recommended => Keep::Spaced(250),
            Recipe::Paper => Keep::default(),
        })
        .check(some_kept)
        .flag("keep")
        .group("Training"),
        /// Stop early after so many kept models without an improvement on the rows that the constraint player plays on; 0
        /// plays every turn.
        pub early_stop: Option<Patience> = by(|recipe| match recipe {
            Recipe::Recommended => Some(Patience::of(recipe)),
            Recipe::Paper => None,
        })
        .flag("early-stop")
        .bare("true")
        .group("Training"),
        /// How the classifier is made of the models that were kept.
        pub selection: Selection = by(|recipe| Selection::Shrink(ShrinkSpec::of(recipe)))
            .flag("selection")
            .group("Training"),
        /// Seed of the splits, the initial parameters, the mini-batches and the decisions.
        pub seed: u64 = with(0).flag("seed").group("Training"),
    }
}

/// Learning rates as they are set.
fn one_step() -> Vec<f64> {
    vec![1.0]
}

fn multipliers(steps: &[f64]) -> Result<(), Fault> {
    if let Some(step) = steps.iter().find(|step| !(step.is_finite() && **step > 0.0)) {
        let message = format!("a learning rate cannot be {step} times as large");
        return Err(Fault::new(message, "give numbers above 0"));
    }
    let mut rest = steps;
    while let Some((first, after)) = rest.split_first() {
        if after.contains(first) {
            return Err(Fault::new(format!("{first} is given twice"), "give each number once"));
        }
        rest = after;
    }
    match steps.is_empty() {
        true => Err(Fault::new("no multiplier is given", "give 1 to keep the learning rate")),
        false => Ok(()),
    }
}

fn some_kept(keep: &Keep) -> Result<(), Fault> {
    match keep {
        Keep::Spaced(0) => Err(Fault::new(
            "to keep no model leaves nothing to select from",
            "give a number above 0, or `every`",
        )),
        _ => Ok(()),
    }
}

impl Recipe {
    /// How many datasets there are.
    pub fn datasets(self) -> Datasets {
        Spec::of::<&str>(self, "", &[]).datasets
    }

    /// How the classifier is made.
    pub fn selection(self) -> Selection {
        Spec::of::<&str>(self, "", &[]).selection
    }
}

impl Spec {
    /// Settings for a label under constraints, all as recommended.
    pub fn new<S: AsRef<str>>(label: &str, constraints: &[S]) -> Self {
        Spec::of(Recipe::Recommended, label, constraints)
    }

    /// The same, with every setting as in the paper.
    pub fn paper<S: AsRef<str>>(label: &str, constraints: &[S]) -> Self {
        Spec::of(Recipe::Paper, label, constraints)
    }

    /// The same, with every setting as in a recipe.
    pub fn of<S: AsRef<str>>(recipe: Recipe, label: &str, constraints: &[S]) -> Self {
        match <Spec as Declared>::read(&Value::Null, &Place::root(recipe), None) {
            Ok(spec) => Spec {
                label: label.to_owned(),
                constraints: constraints.iter().map(|text| text.as_ref().to_owned()).collect(),
                ..spec
            },
            Err(wrong) => unreachable!("every setting has a default: {wrong}"),
        }
    }

    /// The settings of a JSON text, checked.
    ///
    /// ```
    /// use fairgame::train::Spec;
    /// let spec = Spec::from_json(r#"{"label": "hired", "model": "mlp"}"#)?;
    /// assert_eq!(spec.label, "hired");
    /// let error = Spec::from_json(r#"{"label": "hired", "model": "mpl"}"#).unwrap_err();
    /// assert_eq!(error.to_string(), "there is no model `mpl`\n  help: did you mean `mlp`?");
    /// # Ok::<(), fairgame::Error>(())
    /// ```
    pub fn from_json(text: &str) -> Result<Self> {
        let given: Value = serde_json::from_str(text).map_err(|error| {
            Error::new(ErrorKind::Settings, format!("the settings are not JSON: {error}"))
        })?;
        let spec = Spec::from_value(&given)?;
        spec.check()?;
        Ok(spec)
    }

    /// The settings that are given, with all else as in their recipe; not checked.
    pub fn from_value(given: &Value) -> Result<Self, Wrong> {
        let root = Place::root(Recipe::default());
        let recipe = match given.get("recipe").filter(|recipe| !recipe.is_null()) {
            Some(recipe) => Recipe::read(recipe, &root.key("recipe"), None)?,
            None => Recipe::default(),
        };
        <Spec as Declared>::read(given, &Place::root(recipe), None)
    }

    /// These settings with what is given put over them; not checked.
    ///
    /// Another variant of a choice takes the place of the one that is there, with its own defaults.
    ///
    /// ```
    /// use fairgame::train::Spec;
    /// use serde_json::json;
    /// let spec = Spec::new("hired", &["recall() >= 0.9"]).over(&json!({ "region": { "radius": 2 } }))?;
    /// assert_eq!((spec.region.radius, spec.region.convexity), (Some(2.0), 0.0));
    /// # Ok::<(), fairgame::settings::Wrong>(())
    /// ```
    pub fn over(&self, given: &Value) -> Result<Self, Wrong> {
        <Spec as Declared>::read(given, &Place::root(self.recipe), Some(self))
    }

    /// The same settings with model and algorithm chosen where they are `auto`.
    ///
    /// ```
    /// use fairgame::train::Spec;
    /// let spec = Spec::from_json(r#"{"label": "hired", "constraints": ["recall() >= 0.9"]}"#)?;
    /// assert_eq!(spec.settled().algorithm.name(), "plug_in");
    /// let spec = Spec::from_json(r#"{"label": "hired", "model": "mlp"}"#)?;
    /// assert_eq!(spec.settled().algorithm.name(), "plug_in");
    /// # Ok::<(), fairgame::Error>(())
    /// ```
    #[must_use]
    pub fn settled(&self) -> Self {
        let trees = || ModelSpec::Trees(TreesSpec::default());
        let (model, algorithm) = match (&self.model, self.algorithm) {
            (ModelSpec::Auto, Algorithm::Auto) if self.recipe == Recipe::Paper => {
                (ModelSpec::Linear, Algorithm::default())
            }
            (ModelSpec::Auto, Algorithm::Auto) => (trees(), Algorithm::PlugIn(PlugIn::default())),
            (ModelSpec::Auto, algorithm @ Algorithm::PlugIn(_)) => (trees(), algorithm),
            (ModelSpec::Auto, algorithm) => (ModelSpec::Linear, algorithm),
            (ModelSpec::Trees(_) | ModelSpec::Scores { .. }, Algorithm::Auto) => {
                (self.model.clone(), Algorithm::PlugIn(PlugIn::default()))
            }
            (model, Algorithm::Auto) if self.recipe == Recipe::Paper => {
                (model.clone(), Algorithm::default())
            }
            (model, Algorithm::Auto) => (model.clone(), Algorithm::PlugIn(PlugIn::default())),
            (model, algorithm) => (model.clone(), algorithm),
        };
        Spec { model, algorithm, ..self.clone() }
    }

    /// Refuses models and ways to select that do not go with the algorithm.
    fn check_together(&self) -> Result<()> {
        let wrong = |message: &str, help: &str, at: &str| {
            Err(Error::new(ErrorKind::Settings, message.to_owned()).help(help.to_owned()).at(at))
        };
        let plug_in = matches!(self.algorithm, Algorithm::PlugIn(_));
        if matches!(self.model, ModelSpec::Trees(_)) && !plug_in {
            return wrong(
                &format!(
                    "trees cannot be trained by `{}`: they have no slopes",
                    self.algorithm.name()
                ),
                "leave the algorithm out, or set the model to `linear`, `mlp` or `lattice`",
                "model",
            );
        }
        if matches!(self.model, ModelSpec::Scores { .. }) && !plug_in {
            return wrong(
                &format!(
                    "scores of another model cannot be trained by `{}`",
                    self.algorithm.name()
                ),
                "leave the algorithm out",
                "model",
            );
        }
        if plug_in && !matches!(self.selection, Selection::Shrink(_)) {
            return wrong(
                "the rules of the plug-in game are selected by `shrink` alone",
                "leave the selection out",
                "selection",
            );
        }
        if let (Selection::Shrink(ShrinkSpec { deterministic: true, .. }), false) =
            (self.selection, plug_in)
        {
            return wrong(
                "one deterministic rule can be selected in the plug-in game alone: other games draw a fold",
                "leave the algorithm out, and use trees",
                "selection.deterministic",
            );
        }
        if plug_in && self.steps != one_step() {
            return wrong(
                "learning-rate multipliers are for games of turns, and the plug-in game is none",
                "leave them out, or set the algorithm to `practical`",
                "steps",
            );
        }
        Ok(())
    }

    /// Refuses what no training could begin with, whatever the data; gives the problem, as it was read.
    ///
    /// ```
    /// use fairgame::train::Spec;
    /// let mut spec = Spec::new("hired == \"yes\"", &["recall() >= 0.9"]);
    /// assert!(spec.check().is_ok());
    /// spec.region.convexity = -1.0;
    /// let error = spec.check().unwrap_err();
    /// assert_eq!(error.message(), "region.convexity: -1 is out of range");
    /// ```
    pub fn check(&self) -> Result<Problem> {
        self.check_values()?;
        self.settled().check_settled()
    }

    fn check_settled(&self) -> Result<Problem> {
        self.check_together()?;
        if self.label.is_empty() {
            return Err(Error::new(ErrorKind::Settings, "no label says which rows are positive")
                .help("give the condition as `label`: 'income == \">50K\"'"));
        }
        self.algorithm.check(self.region, self.model == ModelSpec::Linear)?;
        let folds = matches!(self.datasets, Datasets::Auto | Datasets::Cross { .. })
            && self.cross_fits()
            && !self.constraints.is_empty();
        if self.steps != one_step() && !folds {
            let message =
                "several learning rates are compared on out-of-fold rows, and there are no folds";
            return Err(Error::new(ErrorKind::Settings, message)
                .help("use cross-fitting with `practical` or `lagrangian`, or set the algorithm's own step")
                .at("steps"));
        }
        let problem = Problem::parse(&self.label, &self.objective, &self.constraints)?;
        Ok(if self.skip_empty_groups { problem.skip_empty_groups() } else { problem })
    }

    /// Refuses settings that are out of range, each by itself.
    fn check_values(&self) -> Result<()> {
        Declared::verify(self, &Place::root(self.recipe)).map_err(Into::into)
    }
}

impl Serialize for Spec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        settings::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Spec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = Value::deserialize(deserializer)?;
        Spec::from_value(&given).map_err(D::Error::custom)
    }
}
