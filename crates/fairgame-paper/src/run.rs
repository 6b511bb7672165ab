//! One run of an experiment: data drawn by a seed, trained in each of its ways, and measured.
//!
//! With two datasets, the rows for training are halved, and errors are told of the model player's half, violations
//! of the constraint player's. With one, both players have all of them: the union that the paper compares
//! with. Test rows are drawn anew for each run where the dataset has no official ones.

use std::sync::OnceLock;

use fairgame::algorithm::Scales;
use fairgame::encode::{Coding, Encoder, EncoderSpec};
use fairgame::game::Keep;
use fairgame::model::Region;
use fairgame::preset::{Pool, Preset, simulated_points};
use fairgame::rate::{Bound, Policy, Problem, Surrogate};
use fairgame::table::{Table, split};
use fairgame::train::{Datasets, Spec};
use fairgame::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::entities;
use crate::experiment::{Experiment, Settings, Way};

/// What one training came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Came {
    /// Of which model, where an experiment has several: its hidden units, 0 for linear.
    pub units: Option<usize>,
    /// How it was trained.
    pub way: Way,
    /// The error where the model learnt.
    pub train_error: f64,
    /// The constraints' losses where they were enforced.
    pub train_losses: Vec<f64>,
    /// The error on test rows.
    pub test_error: f64,
    /// The constraints' losses on test rows.
    pub test_losses: Vec<f64>,
    /// How many models the classifier mixes.
    pub models: usize,
}

/// The worst of losses.
pub(crate) fn worst(losses: &[f64]) -> f64 {
    losses.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// The values of σ in the figures.
pub const SIGMAS: [f64; 6] = [0.05, 0.1, 0.2, 0.3, 0.5, 1.0];

/// The hidden units of the models in the figures; 0 is linear.
pub const UNITS: [usize; 4] = [0, 5, 10, 100];

/// How many points are simulated.
const POINTS: usize = 1000;

/// How many cases an experiment has, each of which is run so many times.
pub(crate) fn cases(experiment: Experiment) -> usize {
    match experiment {
        Experiment::Simulated => SIGMAS.len(),
        _ => 1,
    }
}

/// All settings that a run depends on: those of each training, and what draws its data.
pub(crate) fn identity(experiment: Experiment, settings: &Settings) -> Result<serde_json::Value> {
    let policy = Policy::find(experiment.name())?;
    let of = |settings: &Settings, way: Way| {
        let mut spec = Spec::paper(policy.label, policy.constraints);
        (spec.model, spec.algorithm) = (settings.model.clone(), settings.algorithm(way));
        json!(spec)
    };
    Ok(match experiment {
        Experiment::Simulated => {
            let models =
                UNITS.map(|units| of(&settings.clone().with_units(units), Way::PracticalTwo));
            json!({ "points": POINTS, "sigmas": SIGMAS, "models": models.to_vec() })
        }
        Experiment::Entities => {
            let spec = entities::spec()?.encoder;
            let sizes = [entities::TRAIN, entities::TEST];
            json!([Way::ALL.map(|way| of(settings, way)).to_vec(), spec, sizes])
        }
        _ => json!(Way::ALL.map(|way| of(settings, way)).to_vec()),
    })
}

/// What does not change from run to run: of Adult all data, since its test rows are given; of the others the rows that
/// were read, of which each run draws its own.
#[derive(Default)]
pub(crate) struct Shelf {
    adult: OnceLock<Data>,
    communities: OnceLock<Pool>,
    compas: OnceLock<Pool>,
}

/// One run of one case: of simulated data, all models for one σ.
pub(crate) fn run(
    experiment: Experiment,
    settings: &Settings,
    case: usize,
    seed: u64,
    shelf: &Shelf,
) -> Result<Vec<Came>> {
    let drawn;
    let data = match experiment {
        Experiment::Simulated => return simulated(settings, SIGMAS[case], seed),
        Experiment::Adult => match shelf.adult.get() {
            Some(adult) => adult,
            None => {
                let adult = Data::of(experiment, seed, shelf)?;
                shelf.adult.get_or_init(|| adult)
            }
        },
        _ => {
            drawn = Data::of(experiment, seed, shelf)?;
            &drawn
        }
    };
    Way::ALL.iter().map(|&way| data.train(settings, way, seed, None)).collect()
}

/// A problem, rows for training and for testing, and how they are seen.
pub(crate) struct Data {
    label: String,
    constraints: Vec<String>,
    bound: Bound,
    spec: EncoderSpec,
    encoder: Encoder,
    train: Table,
    test: Table,
}

impl Data {
    /// Binds the problem to the training rows, and fits the encoder on them.
    pub(crate) fn new(
        label: &str,
        constraints: Vec<String>,
        spec: EncoderSpec,
        train: Table,
        test: Table,
    ) -> Result<Self> {
        let (bound, _) = Problem::parse(label, "error()", &constraints)?.bind(&train, &[])?;
        let (encoder, _) = Encoder::fit(&spec, &train)?;
        Ok(Data { label: label.to_owned(), constraints, bound, spec, encoder, train, test })
    }

    /// The problem of that name.
    fn named(name: &str, spec: EncoderSpec, train: Table, test: Table) -> Result<Self> {
        let policy = Policy::find(name)?;
        let constraints = policy.constraints.iter().map(|&text| text.to_owned()).collect();
        Data::new(policy.label, constraints, spec, train, test)
    }

    fn of(experiment: Experiment, seed: u64, shelf: &Shelf) -> Result<Self> {
        let preset = || Preset::find(experiment.name());
        let of_pool = |pool: &Pool| {
            let (train, test) = pool.draw(seed)?;
            Data::named(experiment.name(), preset()?.encoder(), train, test)
        };
        let kept = match experiment {
            Experiment::Simulated => return Data::of_simulated(0.5, seed),
            Experiment::Entities => return Data::of_entities(seed),
            // All of it is kept, so its rows need not be.
            Experiment::Adult => return of_pool(&preset()?.pool()?),
            Experiment::Communities => &shelf.communities,
            Experiment::Compas => &shelf.compas,
        };
        if let Some(pool) = kept.get() {
            return of_pool(pool);
        }
        let pool = preset()?.pool()?;
        of_pool(kept.get_or_init(|| pool))
    }

    fn of_entities(seed: u64) -> Result<Self> {
        let entities::Entities { train, test } = entities::generate(seed)?;
        let mut spec = entities::spec()?.encoder;
        spec.ignore.push("same".to_owned());
        Data::named("entities", spec, train, test)
    }

    fn of_simulated(sigma: f64, seed: u64) -> Result<Self> {
        let all = simulated_points(POINTS, sigma, seed)?;
        let parts = split::by_fraction(POINTS, &[2.0 / 3.0, 1.0 / 3.0], seed, None)?;
        let ignore = vec!["label".to_owned()];
        let spec = EncoderSpec { ignore, numbers: Coding::AsIs, ..EncoderSpec::default() };
        Data::named("simulated", spec, all.take(&parts[0]), all.take(&parts[1]))
    }

    /// What a training has: the rows, and a problem and an encoder that are fitted on all of them.
    fn data(&self) -> fairgame::train::Data<'_> {
        fairgame::train::Data::from(&self.train).fitted(self.bound.clone(), self.encoder.clone())
    }

    fn spec(&self) -> Spec {
        let mut spec = Spec::paper(&self.label, &self.constraints);
        spec.encoder = self.spec.clone();
        spec
    }

    /// Trains in a way, and measures what came of it.
    pub(crate) fn train(
        &self,
        settings: &Settings,
        way: Way,
        seed: u64,
        units: Option<usize>,
    ) -> Result<Came> {
        let mut spec = self.spec();
        spec.model = settings.model.clone();
        spec.algorithm = settings.algorithm(way);
        spec.seed = seed;
        if !way.is_two() {
            spec.datasets = Datasets::One;
        }
        if way == Way::Unconstrained {
            // Its last model is taken: others would only be measured.
            spec.keep = Keep::Spaced(1);
        }
        let data = self.data();
        let training = spec.plan(&data.shape())?.prepare(data)?;
        // Nobody reads what else a training tells, and there are thousands.
        let (classifier, mixture) = training.mix(&training.play(&mut ())?)?;
        let test = classifier.measure(&self.test)?;
        Ok(Came {
            units,
            way,
            train_error: mixture.train.objective,
            train_losses: mixture.val.constraints,
            test_error: test.objective,
            test_losses: test.constraints,
            models: mixture.weights.len(),
        })
    }
}

fn simulated(settings: &Settings, sigma: f64, seed: u64) -> Result<Vec<Came>> {
    let data = Data::of_simulated(sigma, seed)?;
    let mut came = Vec::new();
    for units in UNITS {
        let settings = settings.clone().with_units(units);
        for way in [Way::PracticalOne, Way::PracticalTwo] {
            came.push(data.train(&settings, way, seed, Some(units))?);
        }
    }
    Ok(came)
}

/// The constants of the theorems, on one draw of an experiment's data.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Constants {
    /// m.
    pub constraints: usize,
    /// |S_val|.
    pub rows: usize,
    /// B_ℓ: the widest range of a single row's loss.
    pub loss: f64,
    /// B_ℓ̃ of a ramp in place of the hinge, whatever the model.
    pub ramp: f64,
    /// B_ℓ̃ of the hinge, for a linear model in a ball.
    pub hinge: f64,
    /// L of a ramp in place of decisions, for a linear model: how fast the loss of a single validation row changes with θ,
    /// as in `fairgame bounds`.
    pub lipschitz: f64,
}

/// The ball and the strong convexity with which Theorem 2 is stated.
pub const REGION: Region = Region { radius: Some(1.0), convexity: 1.0 };

pub(crate) fn constants(experiment: Experiment, seed: u64) -> Result<Constants> {
    let data = Data::of(experiment, seed, &Shelf::default())?;
    let scales = |surrogate: Surrogate, region: Region| -> Result<(usize, usize, Scales)> {
        let mut spec = data.spec();
        (spec.surrogate, spec.region, spec.seed) = (Some(surrogate), region, seed);
        let rows = data.data();
        let training = spec.plan(&rows.shape())?.prepare(rows)?;
        let setting = training.setting(0);
        Ok((setting.val.losses().constraints(), setting.val.rows(), Scales::of(&setting)?))
    };
    let unknown = || Error::new(ErrorKind::Value, "a constant of the theorems is not known");
    let free = Region { radius: REGION.radius, convexity: 0.0 };
    let (constraints, rows, ramp) = scales(Surrogate::Ramp, free)?;
    let (_, _, hinge) = scales(Surrogate::Hinge, REGION)?;
    Ok(Constants {
        constraints,
        rows,
        loss: ramp.loss,
        ramp: ramp.proxy.ok_or_else(unknown)?,
        hinge: hinge.proxy.ok_or_else(unknown)?,
        lipschitz: ramp.shown.and_then(|shown| shown.lipschitz).ok_or_else(unknown)?,
    })
}
