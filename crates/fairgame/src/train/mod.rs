//! From tables and settings to a classifier.
//!
//! A [`Spec`] says all that a training depends on but the data; it is what a policy file, the command line
//! and other surfaces fill in. [`Spec::prepare`] binds the problem, fits the encoder and compiles both
//! samples into a [`Training`]; its [`Training::game`] is played, and [`Training::finish`] makes the
//! classifier. [`Spec::train`] is all three.

mod cross;
mod divide;
mod named;
mod recipe;
mod record;
mod settings;
mod warning;

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::algorithm::{Algorithm, Setting};
use crate::archive::hex;
use crate::classifier::{
    self, Classifier, Explained, Iterates, Margin, Member, Provenance, Selected, Selection,
    ShrinkSpec,
};
use crate::encode::{self, Codes, Encoder, EncoderSpec, Features};
use crate::game::{Ending, Game, Keep, Observer};
use crate::model::{AnyModel, ModelSpec, Region};
use crate::observe::{EarlyStop, Patience};
use crate::random::mix;
use crate::rate::{self, Bound, Compiled, Measures, Multipliers, Problem, Surrogate, Weighted};
use crate::sample::Sample;
use crate::table::{Missing, Table};
use crate::{Error, ErrorKind, Result};

pub use cross::{GameSummary, Played, Progress, weight_of_steps};
pub use divide::{Datasets, Divided, WeightedRows};
pub use recipe::Recipe;
pub use record::{Record, RecordedModel, RecordedMoment, RecordedPart};
pub use settings::explained;
pub use warning::{HAIR, Warning};

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

fn error_rate() -> String {
    "error()".to_owned()
}

fn one_step() -> Vec<f64> {
    vec![1.0]
}

fn linear() -> ModelSpec {
    ModelSpec::Linear
}

/// The rows to learn from.
#[derive(Debug, Clone, Copy)]
pub struct Data<'a> {
    /// The model player's; of one dataset, both players'.
    pub train: Weighted<'a>,
    /// The constraint player's, independent of the others, or `None` for one dataset.
    pub val: Option<Weighted<'a>>,
}

/// Something that preparing a training found worth telling the user.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Notice {
    /// About the features.
    Features(encode::Notice),
    /// About the problem.
    Problem(rate::Notice),
    /// Rows of which the label says nothing count as negative.
    MissingLabels {
        /// How many.
        rows: usize,
    },
    /// All rows, or none, are positive: there is nothing to learn.
    OneClass {
        /// What the label is of all rows.
        positive: bool,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::Features(notice) => notice.fmt(f),
            Notice::Problem(notice) => notice.fmt(f),
            Notice::MissingLabels { rows } => {
                write!(f, "{rows} of the training rows have no label, and count as negative")
            }
            Notice::OneClass { positive } => {
                let none = if *positive { "every" } else { "no" };
                write!(f, "{none} training row is positive: there is nothing to learn")
            }
        }
    }
}

/// One player's rows, ready to be played on.
#[derive(Debug, Clone)]
pub struct Part {
    /// What a model sees.
    pub features: Features,
    /// The cells and losses.
    pub compiled: Compiled,
    /// How much each row counts; 1 each where it is `None`.
    pub weights: Option<Vec<f32>>,
}

impl Part {
    /// Encodes and compiles the rows of a table.
    pub fn new(encoder: &Encoder, bound: &Bound, rows: Weighted<'_>) -> Result<Self> {
        Ok(Part {
            features: encoder.encode(rows.table)?,
            compiled: bound.compile(rows.table, rows.weights)?,
            weights: rows.weights.map(<[f32]>::to_vec),
        })
    }

    /// How many rows there are, and a hash of all that the players see of them.
    fn provenance(&self) -> classifier::Fingerprint {
        let mut hash = Sha256::new();
        let (features, weights) = (&self.features, self.weights.as_deref().unwrap_or_default());
        for size in [features.rows(), features.slots(), features.numbers(), features.weights()] {
            hash.update((size as u64).to_le_bytes());
        }
        hash.update((weights.len() as u64).to_le_bytes());
        match self.features.codes() {
            Codes::Narrow(codes) => codes.iter().for_each(|code| hash.update(code.to_le_bytes())),
            Codes::Wide(codes) => codes.iter().for_each(|code| hash.update(code.to_le_bytes())),
        }
        self.features.values().iter().for_each(|value| hash.update(value.to_le_bytes()));
        self.compiled.cells().iter().for_each(|cell| hash.update(cell.to_le_bytes()));
        weights.iter().for_each(|weight| hash.update(weight.to_le_bytes()));
        classifier::Fingerprint {
            rows: self.features.rows(),
            sha256: hex(&hash.finalize()),
            sketch: classifier::sketch(&self.features),
        }
    }
}

/// A training that is ready to begin.
#[derive(Debug, Clone)]
pub struct Training {
    spec: Spec,
    bound: Bound,
    encoder: Encoder,
    model: AnyModel,
    train: Part,
    val: Option<Part>,
    /// With cross-fitting, the rows of each game.
    folds: Vec<cross::Fold>,
    /// What margins are found by, if there are to be any.
    measures: Option<Arc<Measures>>,
    provenance: Provenance,
    notices: Vec<Notice>,
}

/// What a training came to.
#[derive(Debug, Clone)]
pub struct Trained {
    /// The classifier.
    pub classifier: Classifier,
    /// The models that were kept, measured on both samples.
    pub iterates: Iterates,
    /// How the classifier was to be made of them.
    pub selection: Selection,
    /// How it is.
    pub selected: Selected,
    /// What the constraints cost, and which stand against each other, if it was by shrinking.
    pub explained: Option<Explained>,
    /// With cross-fitting, each training row's chance of a positive decision by models that have not learnt from it.
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

    /// Refuses what no training could begin with, whatever the data.
    ///
    /// ```
    /// use fairgame::train::Spec;
    /// let mut spec = Spec::new("hired == \"yes\"", &["recall() >= 0.9"]);
    /// assert!(spec.check().is_ok());
    /// spec.region.convexity = -1.0;
    /// assert!(spec.check().is_err());
    /// ```
    pub fn check(&self) -> Result<()> {
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
        self.problem().map(|_| ())
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
            _ if !matches!(self.datasets_in_use(), Datasets::Cross { .. }) => wrong(
                "steps are chosen by what rows say that a game does not learn from".to_owned(),
                "cross-fit by `practical` or `lagrangian`, or set the algorithm's own step",
            ),
            _ => Ok(()),
        }
    }

    /// The problem as written.
    fn problem(&self) -> Result<Problem> {
        let problem = Problem::parse(&self.label, &self.objective, &self.constraints)?;
        Ok(if self.skip_empty_groups { problem.skip_empty_groups() } else { problem })
    }

    /// Binds the problem to the data, fits the encoder on the training rows, and compiles both samples.
    pub fn prepare(&self, data: &Data<'_>) -> Result<Training> {
        self.check()?;
        let others: Vec<Weighted<'_>> = data.val.into_iter().collect();
        let (bound, found) = self.problem()?.bind(data.train, &others)?;
        let mut notices: Vec<Notice> = found.into_iter().map(Notice::Problem).collect();
        notices.extend(label_notices(&bound, data.train.table)?);
        let mut encoder = self.encoder.clone();
        for column in bound.label().columns().into_iter().chain(self.weight.as_deref()) {
            // A model that sees the label learns nothing else.
            if !encoder.ignore.iter().any(|ignored| ignored == column) {
                encoder.ignore.push(column.to_owned());
            }
        }
        let (encoder, found) = Encoder::fit(&encoder, data.train.table)?;
        notices.extend(found.into_iter().map(Notice::Features));
        let train = Part::new(&encoder, &bound, data.train)?;
        let val = data.val.map(|val| Part::new(&encoder, &bound, val)).transpose();
        let val = val.map_err(|error| error.at("the validation rows"))?;
        let mut training = Training::new(self.clone(), bound, encoder, train, val)?;
        training.notices = notices;
        if let Selection::Shrink(ShrinkSpec { margin, .. }) = self.selection
            && margin != Margin::None
        {
            let Weighted { table, weights } = data.val.unwrap_or(data.train);
            training.measures = Some(Arc::new(training.bound.measures(table, weights)?));
        }
        Ok(training)
    }

    /// Prepares, plays and finishes; see [`Training`] for the parts.
    ///
    /// ```
    /// use fairgame::algorithm::{Algorithm, Practical};
    /// use fairgame::table::{ReadOptions, Source, read};
    /// use fairgame::train::{Data, Spec};
    ///
    /// let csv = "age,hired\n21,no\n25,no\n35,yes\n45,yes\n50,yes\n22,no\n39,no\n28,yes\n";
    /// let people = read([Source::stream("people.csv", csv.as_bytes())], &ReadOptions::default())?;
    /// let mut spec = Spec::paper("hired == \"yes\"", &["recall() >= 0.9"]);
    /// spec.algorithm = Algorithm::Practical(Practical { turns: 2000, ..Practical::default() });
    /// let trained = spec.train(&Data { train: (&people).into(), val: None }, 1, &mut [])?;
    /// let shrunk = trained.selected.shrunk.unwrap();
    /// assert!(shrunk.feasible);
    /// // One constraint: at most two models.
    /// assert!(trained.classifier.members().len() <= 2);
    /// # Ok::<(), fairgame::Error>(())
    /// ```
    pub fn train(
        &self,
        data: &Data<'_>,
        threads: usize,
        observers: &mut [&mut dyn Observer],
    ) -> Result<Trained> {
        let training = self.prepare(data)?;
        if training.games() > 1 {
            let played = training.play_all(threads, None, &mut |_| ControlFlow::Continue(()))?;
            return training.finish_all(&played, threads);
        }
        let mut game = training.game(threads)?;
        training.play(&mut game, threads, observers)?;
        training.finish(&game, threads)
    }
}

/// What the label leaves open.
fn label_notices(bound: &Bound, table: &Table) -> Result<Vec<Notice>> {
    let mut notices = Vec::new();
    let rows = bound.missing_labels(table)?;
    if rows > 0 {
        notices.push(Notice::MissingLabels { rows });
    }
    let labels = bound.label().evaluate(table)?;
    if let Some(&positive) = labels.first()
        && labels.iter().all(|&label| label == positive)
    {
        notices.push(Notice::OneClass { positive });
    }
    Ok(notices)
}

impl Training {
    /// A training on parts that were prepared elsewhere; `val` is `None` for one dataset.
    pub fn new(
        spec: Spec,
        bound: Bound,
        encoder: Encoder,
        train: Part,
        val: Option<Part>,
    ) -> Result<Self> {
        let model = spec.model.build(&encoder, &train.features)?;
        let settings = serde_json::to_value(&spec).map_err(|error| {
            Error::new(ErrorKind::Settings, format!("the settings cannot be written: {error}"))
        })?;
        let provenance = Provenance {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            settings,
            train: train.provenance(),
            val: val.as_ref().map(Part::provenance),
        };
        let folds = match &val {
            Some(_) if spec.steps != one_step() => {
                let message = "steps are chosen by cross-fitting, and rows to enforce the constraints on are given";
                return Err(Error::new(ErrorKind::Settings, message)
                    .help("leave out one of the two")
                    .at("steps"));
            }
            // Whoever gives rows to enforce the constraints on has said which.
            Some(_) => Vec::new(),
            None => {
                cross::cut(spec.datasets_in_use(), &spec.steps, train.compiled.cells(), spec.seed)?
            }
        };
        let (measures, notices) = (None, Vec::new());
        Ok(Training {
            spec,
            bound,
            encoder,
            model,
            train,
            val,
            folds,
            measures,
            provenance,
            notices,
        })
    }

    /// What preparing it found worth telling the user.
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// The problem, bound to the training rows.
    pub fn bound(&self) -> &Bound {
        &self.bound
    }

    /// The encoder, fitted on the training rows.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// The family of models.
    pub fn model(&self) -> &AnyModel {
        &self.model
    }

    /// Chooses the mixture in another way than the settings say, of games that are or will be played.
    ///
    /// # Errors
    /// At [`Training::finish_all`], if margins are asked for and [`Spec::prepare`] was not asked for any.
    pub fn select_by(&mut self, selection: Selection) {
        self.spec.selection = selection;
        if let Ok(settings) = serde_json::to_value(&self.spec) {
            self.provenance.settings = settings;
        }
    }

    /// What tells this training from any other: a hash of its settings and data.
    pub fn identity(&self) -> String {
        let text = serde_json::to_string(&self.provenance).unwrap_or_default();
        hex(&Sha256::digest(text))
    }

    /// What the game is played on.
    pub fn setting(&self, threads: usize) -> Setting<'_> {
        let train = self.sample(&self.train);
        let val = self.val.as_ref().map_or(train, |val| self.sample(val));
        let Spec { region, keep, seed, .. } = self.spec;
        Setting { train, val, region, keep, seed, threads }
    }

    fn sample<'a>(&'a self, part: &'a Part) -> Sample<'a> {
        Sample {
            features: &part.features,
            among: None,
            compiled: &part.compiled,
            weights: part.weights.as_deref(),
            model: &self.model,
            surrogate: self.spec.surrogate,
        }
    }

    /// The game, before its first turn.
    pub fn game(&self, threads: usize) -> Result<Game<'_>> {
        self.spec.algorithm.game(&self.setting(threads))
    }

    /// Plays a game to its end, or until an observer or the spec's patience stops it.
    pub fn play(
        &self,
        game: &mut Game<'_>,
        threads: usize,
        observers: &mut [&mut dyn Observer],
    ) -> Result<Ending> {
        let Some(patience) = self.spec.patience() else { return game.run(observers) };
        let mut stop = EarlyStop::new(patience, self.setting(threads).val, threads);
        // Last, so that the others have seen the turn it stops at.
        let others = observers.iter_mut().map(|observer| &mut **observer as &mut dyn Observer);
        let mut all: Vec<&mut dyn Observer> = others.collect();
        all.push(&mut stop);
        game.run(&mut all)
    }

    /// Measures what the game kept and makes the classifier.
    pub fn finish(&self, game: &Game<'_>, threads: usize) -> Result<Trained> {
        let ending = match game.turn() < game.turns() {
            true => Ending::Stopped,
            false => Ending::Played,
        };
        self.finish_all(&[Played::of(game, ending)], threads)
    }

    /// Measures what all games kept and makes the classifier.
    ///
    /// # Errors
    /// If a game kept no model.
    pub fn finish_all(&self, played: &[Played], threads: usize) -> Result<Trained> {
        let Setting { val, .. } = self.setting(threads);
        let selection = match (self.spec.algorithm, self.spec.selection) {
            // Shrinking would choose by the constraints that the training was to leave out.
            (Algorithm::Unconstrained(_), Selection::Shrink(_)) => Selection::Last,
            (_, selection) => selection,
        };
        if played.len() != self.games() || played.iter().any(|game| game.kept.moments.is_empty()) {
            return Err(Error::new(ErrorKind::Settings, "no model was kept to select from")
                .help("play at least one turn"));
        }
        let (iterates, selected, explained) = self.select(played, threads, selection)?;
        let out_of_fold =
            (!self.folds.is_empty()).then(|| self.chances(&iterates, &selected.weights));
        let member = |&(model, weight): &(usize, f64)| {
            let first = iterates.moments.iter().find(|moment| moment.theta == model);
            let turn = first.map_or(0, |moment| moment.turn);
            Member { weight, turn, theta: iterates.models[model].theta.clone() }
        };
        let classifier = Classifier::new(
            self.bound.clone(),
            self.encoder.clone(),
            self.model.clone(),
            selected.weights.iter().map(member).collect(),
            mix(self.spec.seed ^ 0x6b65_7900),
            self.provenance.clone(),
        )?;
        let mut warnings = warning::warnings(
            &self.bound,
            self.spec.algorithm,
            &iterates,
            &selected.weights,
            val.losses(),
        );
        let violated = warnings.iter().any(|one| matches!(one, Warning::Violated { .. }));
        let found =
            explained.as_ref().and_then(|all| warning::infeasible(&self.bound, all, violated));
        warnings.extend(found);
        Ok(Trained {
            classifier,
            games: self.summaries(played, &iterates, &selected.weights),
            iterates,
            warnings,
            selection,
            selected,
            explained,
            out_of_fold,
            mean_lambda: cross::mean(played.iter().map(|game| &game.mean_lambda)),
            suboptimality: played
                .iter()
                .map(|game| game.suboptimality)
                .reduce(|a, b| a.zip(b).map(|(a, b)| a.max(b)))
                .flatten(),
            turns: played.iter().map(|game| game.turn).sum(),
            notices: self.notices.clone(),
        })
    }
}
