//! Models: functions of features that give a row a score, and decide positive where it is above 0.
//!
//! A model's parameters θ are one flat slice of f32, so that players, optimizers, checkpoints and files
//! treat all models alike. A model answers two questions about a block of rows: their scores f(x; θ),
//! and, for slopes g_r, the gradient Σ_r g_r · ∂f(x_r; θ)/∂θ. It allocates nothing to do so: all space
//! is in a [`Tape`] that the caller owns and that only ever grows.

mod kernel;
mod ladder;
mod lattice;
mod linear;
mod mlp;
mod region;
mod rows;

use serde::{Deserialize, Serialize};

pub use lattice::{Lattice, LatticeSpec, Monotone};
pub use linear::Linear;
pub use mlp::Mlp;
pub use region::Region;
pub use rows::{Rows, Tape};

use crate::encode::{Encoder, Features};
use crate::{Error, ErrorKind, Result};

/// A parameterised function from rows to scores.
pub trait Model: Send + Sync {
    /// How many parameters there are.
    fn params(&self) -> usize;

    /// Parameters to start from, the same for the same seed.
    fn initial(&self, seed: u64) -> Vec<f32>;

    /// Writes the score of each row, and leaves on the tape what [`Model::pullback`] needs.
    ///
    /// # Panics
    /// If a slice has the wrong length, or the features are not those the model was made for.
    fn score(&self, theta: &[f32], rows: Rows<'_>, tape: &mut Tape, scores: &mut [f32]);

    /// Adds Σ_r slopes_r · ∂f(x_r; θ)/∂θ to `gradient`.
    ///
    /// The tape is that of [`Model::score`] for the same θ and the same rows: of others, the gradient
    /// would be wrong.
    ///
    /// # Panics
    /// As [`Model::score`], or if the tape is of another number of rows.
    fn pullback(
        &self,
        theta: &[f32],
        rows: Rows<'_>,
        tape: &mut Tape,
        slopes: &[f32],
        gradient: &mut [f32],
    );

    /// Moves θ to parameters that the model allows, near where it was; for most models, all are.
    fn project(&self, theta: &mut [f32]) {
        let _ = theta;
    }
}

/// Which model, before it has met any data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ModelSpec {
    /// A weighted sum.
    Linear,
    /// One hidden layer of rectified linear units.
    Mlp {
        /// How many units.
        #[serde(default = "units")]
        units: usize,
    },
    /// An ensemble of calibrated lattices.
    Lattice(LatticeSpec),
}

/// As in the paper's experiments.
fn units() -> usize {
    50
}

impl ModelSpec {
    /// Refuses what no features could be given to.
    pub(crate) fn check(&self) -> Result<()> {
        match self {
            ModelSpec::Linear => Ok(()),
            ModelSpec::Mlp { units } => mlp::check_units(*units),
            ModelSpec::Lattice(spec) => spec.check(),
        }
    }

    /// The model for features of this encoder; the training rows give a lattice its keypoints.
    pub fn build(&self, encoder: &Encoder, train: &Features) -> Result<AnyModel> {
        match self {
            ModelSpec::Linear => Ok(AnyModel::Linear(Linear::new(train))),
            ModelSpec::Mlp { units } => Ok(AnyModel::Mlp(Mlp::new(train, *units)?)),
            ModelSpec::Lattice(spec) => Ok(AnyModel::Lattice(Lattice::new(spec, encoder, train)?)),
        }
    }
}

/// Any of the models, as they are kept in files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnyModel {
    /// A weighted sum.
    Linear(Linear),
    /// One hidden layer of rectified linear units.
    Mlp(Mlp),
    /// An ensemble of calibrated lattices.
    Lattice(Lattice),
}

/// Refuses more parameters than a file or a memory could hold; `None` is beyond counting.
fn check_params(params: Option<usize>) -> Result<()> {
    const MOST: usize = 1 << 32;
    match params {
        Some(params) if params <= MOST => Ok(()),
        _ => Err(Error::new(ErrorKind::Settings, "the model would have too many parameters")
            .help("use fewer features or units")),
    }
}

impl AnyModel {
    /// Whether these parameters, and features of this shape, are what the model takes.
    ///
    /// To be asked once of what comes from outside, before any row is scored.
    pub fn check(&self, theta: &[f32], features: &Features) -> Result<()> {
        let fits = match self {
            AnyModel::Linear(model) => model.fits(features),
            AnyModel::Mlp(model) => model.fits(features),
            AnyModel::Lattice(model) => model.fits(features),
        };
        let wrong = |what: String| Err(Error::new(ErrorKind::Format, what));
        if !fits {
            return wrong("the features are not those that the model was made for".to_owned());
        }
        if theta.len() != self.params() {
            let found = theta.len();
            return wrong(format!("the model has {} parameters, not {found}", self.params()));
        }
        match theta.iter().position(|parameter| !parameter.is_finite()) {
            Some(at) => wrong(format!("parameter {at} is not a finite number")),
            None => Ok(()),
        }
    }

    fn inner(&self) -> &dyn Model {
        match self {
            AnyModel::Linear(model) => model,
            AnyModel::Mlp(model) => model,
            AnyModel::Lattice(model) => model,
        }
    }
}

impl Model for AnyModel {
    fn params(&self) -> usize {
        self.inner().params()
    }

    fn initial(&self, seed: u64) -> Vec<f32> {
        self.inner().initial(seed)
    }

    fn score(&self, theta: &[f32], rows: Rows<'_>, tape: &mut Tape, scores: &mut [f32]) {
        self.inner().score(theta, rows, tape, scores);
    }

    fn pullback(
        &self,
        theta: &[f32],
        rows: Rows<'_>,
        tape: &mut Tape,
        slopes: &[f32],
        gradient: &mut [f32],
    ) {
        self.inner().pullback(theta, rows, tape, slopes, gradient);
    }

    fn project(&self, theta: &mut [f32]) {
        self.inner().project(theta);
    }
}
