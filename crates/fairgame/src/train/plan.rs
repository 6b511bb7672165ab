//! The plan of a training: settings as they will be used, and the one road from data to a classifier.
//!
//! A [`Spec`] is what was asked for. [`Spec::plan`] resolves every setting to what will be used, given the
//! [`Shape`] of the data; [`Plan::run`] then goes the whole way:
//!
//! ```text
//! divide ──► fit ──► play ──► select ──► judge ──► record
//! ```
//!
//! Command line, demo, experiments and Python all go this way, so that a setting does the same in each.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};

use super::streams::{Driver, Reading, Settled, Streams};
use super::{Data, Datasets, Notice, Outcome, Recipe, Spec, Trained, Training, Watch};
use crate::algorithm::{Algorithm, PlugIn};
use crate::classifier::{Dataset, Epsilon, Margin, Selection, ShrinkSpec};
use crate::encode::{Encoder, Features};
use crate::game::Keep;
use crate::model::{AnyModel, Model, ModelSpec};
use crate::rate::{Problem, Side, Surrogate};
use crate::table::PLENTY;
use crate::{Error, ErrorKind, Result, Store, Threads};

/// The share of the rows that constraints are enforced on where there are plenty.
const SPLIT: f64 = 0.25;

/// What is known of the data before they are read, or of the data that were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shape {
    /// How many rows there are to learn from, before any are set aside.
    pub rows: Option<usize>,
    /// Whether there are rows of their own to enforce the constraints on.
    pub validation: bool,
    /// Whether there are rows of their own to test on.
    pub test: bool,
}

/// Settings as they will be used.
#[derive(Clone)]
pub struct Plan {
    /// The settings as they were asked for.
    stated: Spec,
    pub(super) spec: Spec,
    /// What was asked for and is not used.
    pub(super) notices: Vec<Notice>,
    pub(super) problem: Problem,
    pub(super) own: Option<OwnModel>,
    pub(super) threads: Threads,
    pub(super) checkpoints: Option<Checkpoints>,
    pub(super) store: Store,
    /// Whether nobody named the algorithm, so that the recipe may choose another.
    pub(super) open: bool,
}

/// A model of the caller's own: what it is called, and how it is made for features.
#[derive(Clone)]
pub(super) struct OwnModel {
    pub(super) name: String,
    pub(super) make: Arc<MakeModel>,
}

/// Makes a model for features.
type MakeModel = dyn Fn(&Features) -> Result<Arc<dyn Model>> + Send + Sync;

/// Where the games of a training are saved, how often, and whether to go on from there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoints {
    /// The folder.
    pub folder: PathBuf,
    /// How many turns apart; `None` is a fiftieth of all.
    pub every: Option<u64>,
    /// Whether to go on from what is there; otherwise it is an error if something is.
    pub resume: bool,
}

impl Spec {
    /// Resolves every setting to what will be used on data of this shape.
    ///
    /// ```
    /// use fairgame::algorithm::{Algorithm, Discrete};
    /// use fairgame::train::{Datasets, Shape, Spec};
    /// // The recommended recipe cross-fits; Algorithm 1 is played on two datasets, as in the paper.
    /// let mut spec = Spec::new("hired == \"yes\"", &["recall() >= 0.9"]);
    /// spec.algorithm = Algorithm::Discrete(Discrete::default());
    /// let plan = spec.plan(&Shape::default())?;
    /// assert_eq!(plan.spec().datasets, Datasets::Two { val_fraction: 0.5 });
    /// # Ok::<(), fairgame::Error>(())
    /// ```
    ///
    /// # Errors
    /// If settings are wrong, or not possible together.
    pub fn plan(&self, shape: &Shape) -> Result<Plan> {
        let problem = self.check()?;
        self.settled().plan_settled(self, problem, shape)
    }

    /// The plan, where model and algorithm are chosen; `stated` are the settings as they were asked for.
    fn plan_settled(&self, stated: &Spec, problem: Problem, shape: &Shape) -> Result<Plan> {
        let mut spec = self.clone();
        spec.datasets = self.resolved_datasets(shape)?;
        spec.test_fraction = if shape.test { 0.0 } else { self.test_fraction };
        let recipe = Spec::of::<&str>(self.recipe, "", &[]);
        if !self.cross_fits() && self.early_stop == recipe.early_stop {
            // The recipe's early stopping is for the algorithms that it is measured with.
            spec.early_stop = None;
        }
        let plug_in = matches!(self.algorithm, Algorithm::PlugIn(_));
        let constrained = self.cross_fits() && !self.constraints.is_empty();
        if let (false, Selection::Shrink(shrink)) = (constrained && !plug_in, &mut spec.selection)
            && self.selection == recipe.selection
        {
            // Thresholds are for games under constraints that are played by steps.
            shrink.thresholds = 0;
        }
        // With a linear model, the hinge's slope at far scores can push all games to a constant.
        spec.surrogate = self.surrogate.or(Some(match self.model {
            ModelSpec::Linear if self.cross_fits() => Surrogate::Sigmoid,
            _ => Surrogate::Hinge,
        }));
        let shrinks = matches!(self.selection, Selection::Shrink(_));
        let by_steps = !matches!(self.model, ModelSpec::Trees(_) | ModelSpec::Scores { .. });
        spec.plain = match plug_in {
            // The model of the probability is trained without constraints.
            true => by_steps,
            false => self.plain && constrained && shrinks,
        };
        if let (true, Selection::Shrink(shrink)) = (plug_in, &mut spec.selection) {
            // Rules are measured on the rows that judge, and nowhere else.
            (shrink.on, shrink.objective) = (Dataset::Val, Side::Exact);
        }
        // One dataset judges by the rows that teach: there is nothing to set aside for, but for early stopping.
        let judges = plug_in || (constrained && spec.datasets != Datasets::One);
        spec.aside = if judges { self.aside } else { 0.0 };
        let mut notices = Vec::new();
        let unused = |setting: &str, because: &str| Notice::Unused {
            setting: setting.to_owned(),
            because: because.to_owned(),
        };
        let named = ![recipe.datasets, Datasets::Given].contains(&self.datasets);
        if shape.validation && named {
            notices.push(unused("datasets", "validation rows are given"));
        }
        if !judges && self.aside > 0.0 && self.aside != recipe.aside {
            notices.push(unused("aside", "no rows judge that have not taught"));
        }
        if plug_in {
            let because = "the plug-in game finds rules over probabilities";
            let mut unless = |name: &str, same: bool| {
                notices.extend((!same).then(|| unused(name, because)));
            };
            unless("keep", self.keep == recipe.keep || by_steps);
            unless("plain", self.plain == recipe.plain || self.plain == by_steps);
            let surrogate = [recipe.surrogate, Some(Surrogate::Hinge)].contains(&self.surrogate);
            unless("surrogate", surrogate);
            unless("early_stop", self.early_stop == recipe.early_stop || by_steps);
            unless("region", self.region == recipe.region || by_steps);
            if let (Selection::Shrink(asked), Selection::Shrink(own)) =
                (self.selection, recipe.selection)
            {
                let thresholds = [own.thresholds, 0].contains(&asked.thresholds);
                unless("selection.shrink.thresholds", thresholds);
                unless("selection.shrink.on", asked.on == own.on);
                unless("selection.shrink.objective", asked.objective == own.objective);
            }
        }
        if let (Algorithm::PlugIn(set), false) = (self.algorithm, by_steps) {
            let default = PlugIn::default();
            let because = "no model is trained by steps";
            let unused_of = |name: &str, same: bool| (!same).then(|| unused(name, because));
            notices.extend(unused_of("turns", set.turns == default.turns));
            notices.extend(unused_of("batch", set.batch == default.batch));
            notices.extend(unused_of("optimizer", set.model == default.model));
        }
        if self.mixes_every_turn() && self.keep != Keep::Every {
            if self.keep != recipe.keep {
                notices.push(unused("keep", "the mixture of a theorem is of every turn"));
            }
            spec.keep = Keep::Every;
        }
        if let Selection::Shrink(ShrinkSpec { margin: Margin::Errors(errors), .. }) = self.selection
            && (0.5..1.0).contains(&errors)
        {
            notices.push(Notice::MarginOfErrors { errors });
        }
        if shape.test && self.test_fraction > 0.0 {
            notices.push(unused("test_fraction", "test rows are given"));
        }
        if let (Algorithm::Unconstrained(_), Selection::Shrink(_)) =
            (self.algorithm, self.selection)
        {
            // Shrinking would choose by the constraints that the training leaves out.
            spec.selection = Selection::Last;
        }
        if let (Some(rows), Datasets::Cross { folds, .. }) = (shape.rows, spec.datasets)
            && rows < 2 * folds
        {
            let message = format!("{rows} rows cannot be cut into {folds} folds");
            return Err(Error::new(ErrorKind::Settings, message).help("ask for fewer folds"));
        }
        let threads = Threads::default();
        let (stated, open) = (stated.clone(), stated.algorithm == Algorithm::Auto);
        let (own, checkpoints, store) = (None, None, Store::default());
        Ok(Plan { stated, spec, notices, problem, own, threads, checkpoints, store, open })
    }

    /// Whether the mixture of a theorem is asked for, of an algorithm that has one: its weights are those of all turns.
    fn mixes_every_turn(&self) -> bool {
        let asked = match self.selection {
            Selection::Theorem | Selection::Uniform => true,
            Selection::Shrink(ShrinkSpec { epsilon, .. }) => epsilon == Epsilon::Mixture,
            Selection::Last | Selection::Best => false,
        };
        let theorem = matches!(
            self.algorithm,
            Algorithm::Discrete(_) | Algorithm::Continuous(_) | Algorithm::Baseline(_)
        );
        asked && theorem
    }

    /// Whether the algorithm is one that cross-fitting and the recipe's early stopping are for.
    pub(super) fn cross_fits(&self) -> bool {
        matches!(
            self.algorithm,
            Algorithm::Practical(_) | Algorithm::Lagrangian(_) | Algorithm::PlugIn(_)
        )
    }

    /// The datasets that will be used. Only Algorithms 3 and 4 are cross-fitted, and only under constraints:
    /// without these one model is best, and a fold to stop it by is enough.
    fn resolved_datasets(&self, shape: &Shape) -> Result<Datasets> {
        let wrong = |message: &str, help: &str| {
            Err(Error::new(ErrorKind::Settings, message.to_owned()).help(help.to_owned()))
        };
        if shape.validation {
            if self.steps != [1.0] {
                return wrong(
                    "learning-rate multipliers are chosen by cross-fitting, but validation rows are given",
                    "leave out one of the two",
                )
                .map_err(|error: Error| error.at("steps"));
            }
            return Ok(Datasets::Given);
        }
        match (self.folds_or_split(shape), self.algorithm) {
            (Datasets::Given, _) if shape.rows.is_some() => wrong(
                "the settings ask for validation rows of their own, and none are given",
                "give them, or set datasets to `two`, `cross` or `one`",
            ),
            (Datasets::Cross { folds, .. }, _)
                if self.cross_fits()
                    && self.constraints.is_empty()
                    && !matches!(self.algorithm, Algorithm::PlugIn(_)) =>
            {
                Ok(Datasets::Two { val_fraction: 1.0 / folds as f64 })
            }
            (Datasets::Cross { .. }, Algorithm::Unconstrained(_) | Algorithm::Baseline(_)) => {
                Ok(Datasets::One)
            }
            (Datasets::Cross { .. }, _) if !self.cross_fits() => Ok(Recipe::Paper.datasets()),
            (datasets, _) => Ok(datasets),
        }
    }

    /// Where nothing else is asked for: cross-fitting, or one split of so many rows that folds would gain nothing.
    fn folds_or_split(&self, shape: &Shape) -> Datasets {
        let plenty = shape.rows.is_some_and(|rows| rows >= PLENTY);
        // Learning rates are compared on out-of-fold rows.
        match (self.datasets, plenty && self.cross_fits() && self.steps == [1.0]) {
            (Datasets::Auto, true) => Datasets::Two { val_fraction: SPLIT },
            (Datasets::Auto, false) => Datasets::Cross { folds: 5, repeats: 1 },
            (datasets, _) => datasets,
        }
    }

    /// Trains on data: plans, and runs the plan to its end.
    ///
    /// ```
    /// use fairgame::algorithm::{Algorithm, Practical};
    /// use fairgame::table::{ReadOptions, Source, read};
    /// use fairgame::train::Spec;
    ///
    /// let csv = "age,hired\n21,no\n25,no\n35,yes\n45,yes\n50,yes\n22,no\n39,no\n28,yes\n";
    /// let people = read([Source::stream("people.csv", csv.as_bytes())], &ReadOptions::default())?;
    /// let mut spec = Spec::paper("hired == \"yes\"", &["recall() >= 0.9"]);
    /// spec.algorithm = Algorithm::Practical(Practical { turns: 2000, ..Practical::default() });
    /// let trained = spec.train(&people)?;
    /// // Half of the rows are the constraint player's: the paper's recipe plays on two datasets.
    /// assert_eq!(trained.classifier.provenance().val.as_ref().unwrap().rows, 4);
    /// // One constraint: at most two models.
    /// assert!(trained.classifier.members().len() <= 2);
    /// # Ok::<(), fairgame::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the settings are wrong or do not fit the data.
    pub fn train<'a>(&self, data: impl Into<Data<'a>>) -> Result<Trained> {
        let data = data.into();
        self.plan(&data.shape())?.run(data, &mut ())?.trained()
    }
}

impl Plan {
    /// The settings as they will be used.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The settings as JSON, as a model file keeps them.
    pub fn settings(&self) -> Result<Value> {
        let mut settings = serde_json::to_value(&self.spec).map_err(|error| {
            Error::new(ErrorKind::Settings, format!("the settings cannot be written: {error}"))
        })?;
        if let Some(own) = &self.own {
            settings["model"] = json!({ "own": { "name": own.name } });
        }
        Ok(settings)
    }

    /// The same plan, run by these threads; the result does not depend on them.
    #[must_use]
    pub fn with_threads(mut self, threads: Threads) -> Self {
        self.threads = threads;
        self
    }

    /// The same plan, with this memory for rows where they are too many for a table; the result does not depend on it.
    #[must_use]
    pub fn with_store(mut self, store: Store) -> Self {
        self.store = store;
        self
    }

    /// The same plan, with its games saved now and then.
    #[must_use]
    pub fn with_checkpoints(mut self, checkpoints: Option<Checkpoints>) -> Self {
        self.checkpoints = checkpoints;
        self
    }

    /// The same plan, where the algorithm is only the recipe's own: with very many constraints another may be played.
    #[must_use]
    pub fn with_open_algorithm(mut self, open: bool) -> Self {
        self.open |= open;
        self
    }

    /// The same plan with a model of the caller's own in place of the one that the settings name: `make` is
    /// given the training rows' features. `examples/own_model.rs` is one.
    #[must_use]
    pub fn with_model(
        mut self,
        name: &str,
        make: impl Fn(&Features) -> Result<Arc<dyn Model>> + Send + Sync + 'static,
    ) -> Self {
        self.own = Some(OwnModel { name: name.to_owned(), make: Arc::new(make) });
        if self.stated.algorithm == Algorithm::Auto {
            // The plug-in game's default is for trees.
            (self.stated.algorithm, self.spec.algorithm) = Default::default();
            (self.stated.model, self.spec.model) = (ModelSpec::Linear, ModelSpec::Linear);
        }
        self
    }

    /// Goes the whole way: divide, fit, play, select, judge, record.
    ///
    /// # Errors
    /// If the data do not fit the settings, or cannot be read; if a checkpoint cannot be written.
    pub fn run(&self, data: Data<'_>, watch: &mut dyn Watch) -> Result<Outcome> {
        let training = self.prepare_watched(data, watch)?;
        self.go_on(&training, watch)
    }

    /// The same for rows that may be too many for tables.
    ///
    /// # Errors
    /// As of [`Plan::run`].
    pub fn run_streams(&self, streams: Streams<'_>, watch: &mut dyn Watch) -> Result<Outcome> {
        match streams.settle(self)? {
            Settled::Whole(data) => self.run(*data, watch),
            Settled::Large(streams) => {
                let training = self.stream(*streams, watch)?;
                self.go_on(&training, watch)
            }
        }
    }

    /// The same for rows that shards have.
    ///
    /// # Errors
    /// As of [`Plan::run`]; if shards do not answer.
    pub fn run_shards(&self, mut driver: Driver, watch: &mut dyn Watch) -> Result<Outcome> {
        if let Some(streams) = driver.settle(self)? {
            return self.run_streams(streams, watch);
        }
        let plan = self.for_plenty()?;
        let training = Training::streamed(plan, Reading::There(Box::new(driver)), watch)?;
        self.go_on(&training, watch)
    }

    /// The plan for plenty of rows.
    pub(super) fn for_plenty(&self) -> Result<Plan> {
        let shape = Shape { rows: Some(PLENTY), ..Shape::default() };
        let Plan { spec, problem, notices, .. } = self.stated.plan(&shape)?;
        Ok(Plan { spec, problem, notices, ..self.clone() })
    }

    fn go_on(&self, training: &Training<'_>, watch: &mut dyn Watch) -> Result<Outcome> {
        watch.prepared(training);
        let played = training.play(watch)?;
        if !training.has_models(&played) {
            return Ok(Outcome::Stopped { games: training.games() });
        }
        watch.selecting();
        training.finish(&played).map(|trained| Outcome::Trained(Box::new(trained)))
    }

    /// The model for features of this encoder.
    pub(super) fn model(&self, encoder: &Encoder, train: &Features) -> Result<AnyModel> {
        match &self.own {
            Some(own) => (own.make)(train).map(AnyModel::Own),
            None => self.spec.model.build(encoder, train),
        }
    }

    /// Divides the data, binds the problem, fits the encoder and encodes the rows: all but to play.
    ///
    /// # Errors
    /// If the data do not fit the settings.
    pub fn prepare<'a>(&self, data: Data<'a>) -> Result<Training<'a>> {
        self.prepare_watched(data, &mut ())
    }

    fn prepare_watched<'a>(&self, data: Data<'a>, watch: &mut dyn Watch) -> Result<Training<'a>> {
        // Data of another shape than the plan was made for may need other settings.
        let shape = data.shape();
        let Plan { spec, problem, notices, .. } = self.stated.plan(&shape)?;
        let mut plan = Plan { spec, problem, notices, ..self.clone() };
        let large = shape.rows >= Some(PLENTY) && data.fitted.is_none();
        if large && !plan.streams() && plan.store.is_named() {
            plan.notices.push(Notice::Unused {
                setting: "memory".to_owned(),
                because: "with folds, scores or one dataset all rows are held as a table"
                    .to_owned(),
            });
        }
        match large && plan.streams() {
            true => self.stream(data.into(), watch),
            false => Training::new(plan, data),
        }
    }

    /// Prepares a training of plenty of rows.
    fn stream<'a>(&self, streams: Streams<'a>, watch: &mut dyn Watch) -> Result<Training<'a>> {
        let Plan { spec, problem, notices, .. } = self.stated.plan(&streams.shape(PLENTY))?;
        let plan = Plan { spec, problem, notices, ..self.clone() };
        Training::streamed(plan, Reading::Here(Box::new(streams)), watch)
    }

    /// The settings as they were asked for.
    pub(super) fn stated(&self) -> &Spec {
        &self.stated
    }

    /// Whether plenty of rows are read in passes: where one split is enough, and the model is ours.
    pub(super) fn streams(&self) -> bool {
        self.needs_table().is_none()
    }

    /// The setting because of which all rows are held as a table, however many there are, and what to set instead.
    pub(super) fn needs_table(&self) -> Option<(&'static str, &'static str)> {
        if self.own.is_some() || matches!(self.spec.model, ModelSpec::Scores { .. }) {
            return Some(("model", "choose one of our own models"));
        }
        if !self.spec.cross_fits() {
            return Some(("algorithm", "choose `plug_in`, `practical` or `lagrangian`"));
        }
        if self.spec.steps != [1.0] {
            return Some(("steps", "give one learning rate"));
        }
        match self.spec.datasets {
            Datasets::Two { .. } | Datasets::Given => None,
            Datasets::Auto | Datasets::One | Datasets::Cross { .. } => {
                Some(("datasets", "leave it out, or choose `two`"))
            }
        }
    }
}
