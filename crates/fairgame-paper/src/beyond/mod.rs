//! Beyond the paper: the recommended recipe beside the paper's, on splits of which train and test are both drawn anew.
//!
//! The games of a cross-fitted training are played once a run, and the mixture is chosen from them with one margin after
//! another, so that margins are compared on the same models.

mod page;

use std::collections::BTreeMap;
use std::path::PathBuf;

use fairgame::Result;
use fairgame::classifier::{Margin, Selection, ShrinkSpec};
use fairgame::encode::{Coding, EncoderSpec};
use fairgame::evaluate::Verdict;
use fairgame::model::ModelSpec;
use fairgame::model::trees::TreesSpec;
use fairgame::player::Start;
use fairgame::preset::{Preset, simulated_points};
use fairgame::rate::Policy;
use fairgame::table::{ReadOptions, Source, Table, read, split};
use fairgame::train::{Data, Datasets, Recipe, Spec, Trained};
use serde::{Deserialize, Serialize};

use crate::entities;
use crate::experiment::{Experiment, Settings, Way};
use crate::schedule::{Agenda, Kind, Progress};
use crate::store::Store;
use crate::summary::Mean;

/// The margins that are tried: of so many standard errors, or for all constraints to hold with that confidence.
pub const MARGINS: [Margin; 4] =
    [Margin::None, Margin::Errors(1.0), Margin::Errors(2.0), Margin::Confidence(0.95)];

/// What is trained on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ground {
    /// Adult, cut anew into as many rows as its own two files have.
    Adult,
    /// Adult with 10,000 rows to train on, so that the others say nearly what the population does.
    SmallAdult,
    /// COMPAS.
    Compas,
    /// Communities and Crime.
    Communities,
    /// The stand-in for entity resolution.
    Entities,
    /// Two Gaussians with radial features, σ = 0.1, a linear model.
    Simulated,
}

impl Ground {
    /// All of them.
    pub const ALL: [Ground; 6] = [
        Ground::Adult,
        Ground::Compas,
        Ground::Communities,
        Ground::Entities,
        Ground::Simulated,
        Ground::SmallAdult,
    ];

    /// The name in a table.
    pub fn title(self) -> &'static str {
        match self {
            Ground::Adult => "Adult",
            Ground::SmallAdult => "Adult, 10,000 rows",
            Ground::Compas => "COMPAS",
            Ground::Communities => "Communities and Crime",
            Ground::Entities => "Entity resolution (stand-in)",
            Ground::Simulated => "Simulated, σ = 0.1",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Ground::SmallAdult => "small_adult",
            ground => ground.experiment().name(),
        }
    }

    /// About how many seconds of one core a run takes; only the ratios matter.
    fn cost(self) -> f64 {
        match self {
            Ground::Adult => 14.0,
            Ground::SmallAdult => 7.0,
            Ground::Compas => 2.5,
            Ground::Communities => 2.5,
            Ground::Entities => 12.0,
            Ground::Simulated => 1.0,
        }
    }

    fn experiment(self) -> Experiment {
        match self {
            Ground::Adult | Ground::SmallAdult => Experiment::Adult,
            Ground::Compas => Experiment::Compas,
            Ground::Communities => Experiment::Communities,
            Ground::Entities => Experiment::Entities,
            Ground::Simulated => Experiment::Simulated,
        }
    }

    /// How its rows are seen.
    fn encoder(self) -> Result<EncoderSpec> {
        match self {
            Ground::Simulated => {
                Ok(EncoderSpec { numbers: Coding::AsIs, ..EncoderSpec::default() })
            }
            Ground::Entities => Ok(entities::spec()?.encoder),
            ground => Ok(Preset::find(ground.experiment().name())?.encoder()),
        }
    }

    /// Rows to train on and to test on.
    fn draw(self, seed: u64) -> Result<(Table, Table)> {
        match self {
            Ground::Adult | Ground::SmallAdult => {
                let sources = [Source::parse("@adult")?, Source::parse("@adult/test")?];
                let all = read(sources, &ReadOptions::default())?;
                let rows = if self == Ground::Adult { 32_561.0 } else { 10_000.0 };
                let share = rows / all.rows() as f64;
                let parts = split::by_fraction(all.rows(), &[share, 1.0 - share], seed, None)?;
                Ok((all.take(&parts[0]), all.take(&parts[1])))
            }
            Ground::Compas | Ground::Communities => {
                let prepared = Preset::find(self.experiment().name())?.prepare(seed)?;
                Ok((prepared.train.table, prepared.test.table))
            }
            Ground::Entities => {
                let entities::Entities { train, test } = entities::generate(seed)?;
                Ok((train, test))
            }
            Ground::Simulated => {
                let all = simulated_points(1000, 0.1, seed)?;
                let parts = split::by_fraction(1000, &[2.0 / 3.0, 1.0 / 3.0], seed, None)?;
                Ok((all.take(&parts[0]), all.take(&parts[1])))
            }
        }
    }

    /// The settings of a recipe: the experiment's model and algorithm, and for the rest what the recipe says.
    fn spec(self, recipe: Recipe, settings: &Settings, encoder: &EncoderSpec) -> Result<Spec> {
        let policy = Policy::find(self.experiment().name())?;
        let mut spec = Spec::of(recipe, policy.label, policy.constraints);
        spec.objective = policy.objective.to_owned();
        (spec.encoder, spec.model) = (encoder.clone(), settings.model.clone());
        let settings = match recipe {
            Recipe::Paper => settings.clone(),
            // The start is the recipe's own, and not that of the paper's experiments.
            Recipe::Recommended => settings.clone().starting(Start::Uniform),
        };
        spec.algorithm = settings.algorithm(Way::PracticalTwo);
        Ok(spec)
    }

    fn settings(self, turns: Option<u64>) -> Settings {
        Settings::of(self.experiment()).shortened(turns)
    }

    /// The settings of boosted trees with the plug-in game, on the columns as they are; `None` for the stand-in, whose
    /// features are made for lattices.
    fn trees(self, turns: Option<u64>) -> Result<Option<Spec>> {
        if self == Ground::Entities {
            return Ok(None);
        }
        let policy = Policy::find(self.experiment().name())?;
        let mut spec = Spec::new(policy.label, policy.constraints);
        spec.objective = policy.objective.to_owned();
        let trees = TreesSpec::default();
        let most = turns.map_or(trees.trees, |turns| trees.trees.min(turns as usize).max(1));
        spec.model = ModelSpec::Trees(TreesSpec { trees: most, ..trees });
        spec.encoder = EncoderSpec {
            // Of Adult all columns are features; of the others those of the preset are left out that are no features.
            ignore: match self {
                Ground::Adult | Ground::SmallAdult => Vec::new(),
                ground => ground.encoder()?.ignore,
            },
            ..EncoderSpec::default()
        };
        Ok(Some(spec))
    }

    /// What the ways are called: the paper's two, the recommended recipe with the paper's model and with trees, and of
    /// Adult trees that see neither sex nor race.
    fn ways(self) -> Vec<String> {
        let paper = ["paper, one dataset".to_owned(), "paper, two datasets".to_owned()];
        let margins = |name: &str| {
            MARGINS.map(|margin| match margin {
                Margin::None => format!("{name}, no margin"),
                Margin::Errors(1.0) => format!("{name} (κ = 1)"),
                Margin::Errors(errors) => format!("{name}, κ = {errors}"),
                Margin::Confidence(level) => format!("{name}, {} % sure", 100.0 * level),
                margin => format!("{name}, {margin}"),
            })
        };
        let mut ways: Vec<String> = paper.into_iter().chain(margins("recommended")).collect();
        if self != Ground::Entities {
            ways.extend(margins("trees"));
            ways.push("trees, one rule (κ = 1)".to_owned());
        }
        if self == Ground::Adult {
            ways.push("trees without sex and race (κ = 1)".to_owned());
        }
        ways
    }
}

/// What one way of training came to in one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// On test rows.
    pub error: f64,
    /// Of each constraint, on test rows; of none where they have no row of its group.
    pub losses: Vec<Option<f64>>,
    /// How many constraints the test rows show to be violated, with 95 % confidence for all together.
    pub shown_violated: usize,
    /// Whether the rows that it was chosen by meet all constraints with the margin.
    pub promised: bool,
}

impl Outcome {
    fn worst(&self) -> f64 {
        self.losses.iter().copied().flatten().fold(f64::NEG_INFINITY, f64::max)
    }

    fn violated(&self) -> f64 {
        let violated = self.losses.iter().flatten().filter(|loss| **loss > 0.0);
        violated.count() as f64 / self.losses.len() as f64
    }

    fn of(trained: &Trained, test: &Table) -> Result<Self> {
        let found = trained.classifier.evaluate(test, None, 0.95)?;
        let value = |one: &fairgame::evaluate::ConstraintResult| {
            one.measurement.estimate().map(|found| found.value).filter(|value| value.is_finite())
        };
        let violated = found.constraints.iter().filter(|one| one.verdict == Verdict::Violated);
        Ok(Outcome {
            error: found.error.unwrap_or(f64::NAN),
            losses: found.constraints.iter().map(value).collect(),
            shown_violated: violated.count(),
            promised: trained.mixture.shrunk.as_ref().is_some_and(|shrunk| shrunk.feasible),
        })
    }
}

/// A row of a table: one way, over all runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// What it is called.
    pub way: String,
    /// Mean test error.
    pub error: Mean,
    /// Mean of the worst loss of a constraint on test rows.
    pub worst: Mean,
    /// The share of runs in which some constraint is violated on test rows.
    pub runs_violated: f64,
    /// The share of constraints that are, over all runs.
    pub violated: f64,
    /// The share of constraints that test rows show to be violated, beyond their own noise.
    pub shown_violated: f64,
    /// The share of runs whose margin could be had.
    pub promised: f64,
    /// Of these, the share in which some constraint is violated on test rows.
    pub broken: Option<f64>,
}

/// All ways on one ground.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Grounds {
    /// Which.
    pub ground: Ground,
    /// The paper's two ways, then the recommended one with each margin, then trees.
    pub lines: Vec<Line>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Beyond {
    /// How many runs of each.
    pub runs: u64,
    /// The seed of the first.
    pub seed: u64,
    /// At most so many turns a game, if they were cut short.
    pub turns: Option<u64>,
    /// How long they took together, of one core, whenever they were run.
    #[serde(skip)]
    pub seconds: f64,
    /// Ground by ground.
    pub grounds: Vec<Grounds>,
}

/// What to run.
#[derive(Debug, Clone, PartialEq)]
pub struct BeyondPlan {
    /// How many runs, each with a split of its own.
    pub runs: u64,
    /// The seed of the first run; the others follow.
    pub seed: u64,
    /// At most so many turns a game, for a quick look.
    pub turns: Option<u64>,
    /// Where finished runs are kept.
    pub folder: PathBuf,
    /// How many threads; the numbers do not depend on it.
    pub threads: usize,
}

/// One run: every way on one draw of the rows.
fn run(ground: Ground, seed: u64, turns: Option<u64>) -> Result<Vec<Outcome>> {
    let ((train, test), encoder) = (ground.draw(seed)?, ground.encoder()?);
    let settings = ground.settings(turns);
    let mut outcomes = Vec::new();
    for datasets in [Datasets::One, Recipe::Paper.datasets()] {
        let mut spec = ground.spec(Recipe::Paper, &settings, &encoder)?;
        (spec.seed, spec.datasets) = (seed, datasets);
        outcomes.push(Outcome::of(&spec.train(&train)?, &test)?);
    }
    let mut spec = ground.spec(Recipe::Recommended, &settings, &encoder)?;
    spec.seed = seed;
    let data = Data::from(&train);
    let mut training = spec.plan(&data.shape())?.prepare(data)?;
    let played = training.play(&mut ())?;
    for margin in MARGINS {
        let Selection::Shrink(shrink) = Recipe::Recommended.selection() else { continue };
        training.select_by(Selection::Shrink(ShrinkSpec { margin, ..shrink }))?;
        outcomes.push(Outcome::of(&training.finish(&played)?, &test)?);
    }
    if let Some(mut spec) = ground.trees(turns)? {
        spec.seed = seed;
        let Selection::Shrink(shrink) = Recipe::Recommended.selection() else {
            return Ok(outcomes);
        };
        let mut selections = MARGINS.map(|margin| ShrinkSpec { margin, ..shrink }).to_vec();
        selections.push(ShrinkSpec { deterministic: true, ..shrink });
        let data = Data::from(&train);
        let mut training = spec.plan(&data.shape())?.prepare(data)?;
        let played = training.play(&mut ())?;
        for selection in selections {
            let thresholds = 0;
            training.select_by(Selection::Shrink(ShrinkSpec { thresholds, ..selection }))?;
            outcomes.push(Outcome::of(&training.finish(&played)?, &test)?);
        }
        if ground == Ground::Adult {
            spec.encoder.ignore.extend(["sex".to_owned(), "race".to_owned()]);
            outcomes.push(Outcome::of(&spec.train(&train)?, &test)?);
        }
    }
    Ok(outcomes)
}

impl BeyondPlan {
    /// Runs what is not yet done.
    ///
    /// # Errors
    /// If a run fails, or the folder cannot be written to; what was finished is kept.
    pub fn carry_out(&self, progress: impl FnMut(Progress)) -> Result<Beyond> {
        let mut agenda = Agenda::new();
        for ground in Ground::ALL {
            let settings = ground.settings(self.turns);
            let encoder = ground.encoder()?;
            let paper = ground.spec(Recipe::Paper, &settings, &encoder)?;
            let recommended = ground.spec(Recipe::Recommended, &settings, &encoder)?;
            let identity = (paper, recommended, ground.trees(self.turns)?, MARGINS);
            let name = format!("beyond-{}", ground.name());
            let opened = Store::open(&self.folder.join("runs"), &name, &identity, self.seed)?;
            let kind = Kind { name: ground.name(), cost: ground.cost() };
            agenda.add(kind, opened, (0..self.runs.max(1)).map(|run| (0, run)));
        }
        let (done, seconds) = agenda.carry_out(
            self.threads,
            |ground, (_, number)| {
                run(Ground::ALL[ground], self.seed.wrapping_add(number), self.turns)
            },
            progress,
        )?;
        let of = |(ground, runs): (Ground, BTreeMap<_, Vec<Outcome>>)| Grounds {
            ground,
            lines: lines(ground, &runs.into_values().collect::<Vec<_>>()),
        };
        let grounds = Ground::ALL.into_iter().zip(done).map(of).collect();
        Ok(Beyond { runs: self.runs, seed: self.seed, turns: self.turns, seconds, grounds })
    }
}

fn lines(ground: Ground, runs: &[Vec<Outcome>]) -> Vec<Line> {
    let line = |(way, name): (usize, String)| {
        let of = |pick: &dyn Fn(&Outcome) -> f64| -> Vec<f64> {
            runs.iter().map(|outcomes| pick(&outcomes[way])).collect()
        };
        let share = |pick: &dyn Fn(&Outcome) -> f64| Mean::of(&of(pick)).mean;
        Line {
            way: name,
            error: Mean::of(&of(&|one| one.error)),
            worst: Mean::of(&of(&Outcome::worst)),
            runs_violated: share(&|one| f64::from(one.worst() > 0.0)),
            violated: share(&Outcome::violated),
            shown_violated: share(&|one| one.shown_violated as f64 / one.losses.len() as f64),
            promised: share(&|one| f64::from(one.promised)),
            broken: {
                let promised =
                    runs.iter().map(|outcomes| &outcomes[way]).filter(|one| one.promised);
                let broken: Vec<f64> = promised.map(|one| f64::from(one.worst() > 0.0)).collect();
                (!broken.is_empty()).then(|| Mean::of(&broken).mean)
            },
        }
    };
    ground.ways().into_iter().enumerate().map(line).collect()
}
