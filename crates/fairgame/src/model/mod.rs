//! Models: functions of features that give a row a score, and decide positive where it is above 0.
//!
//! A model's parameters θ are one flat slice of f32, so that players, optimizers, checkpoints and files
//! treat all models alike. A model says what it can do: give rows their scores f(x; θ) ([`Scorer`]);
//! take slopes g_r back to the gradient Σ_r g_r · ∂f(x_r; θ)/∂θ ([`Differentiable`]); answer costs with the
//! θ that decides best under them ([`BestResponse`]). Scores and slopes allocate nothing: all space is in a
//! [`Tape`] that the caller owns and that only ever grows.

mod kernel;
mod ladder;
mod lattice;
mod linear;
mod mlp;
mod monotone;
mod region;
mod rows;
mod rule;
mod scores;
pub mod trees;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use lattice::{Lattice, LatticeSpec, Placed};
pub use linear::Linear;
pub use mlp::Mlp;
pub use monotone::Monotone;
pub use region::Region;
pub use rows::{Rows, Tape};
pub use rule::Rule;
pub use scores::ScoreScale;

use crate::encode::{Encoder, Features};
use crate::settings::declare;
use crate::{Error, ErrorKind, Result};

/// A parameterised function from rows to scores.
pub trait Scorer: Send + Sync + fmt::Debug {
    /// How many parameters there are.
    fn params(&self) -> usize;

    /// Whether the features are of the shape that the model was made for.
    fn fits(&self, features: &Features) -> bool;

    /// Writes the score of each row, and leaves on the tape what [`Differentiable::pullback`] needs.
    ///
    /// # Panics
    /// If a slice has the wrong length, or the features are not those the model was made for.
    fn score(&self, theta: &[f32], rows: Rows<'_>, tape: &mut Tape, scores: &mut [f32]);
}

/// A model that takes slopes of scores back to its parameters: Algorithms 2 to 4 and the baseline need this.
pub trait Differentiable: Scorer {
    /// Parameters to start from, the same for the same seed.
    fn initial(&self, seed: u64) -> Vec<f32>;

    /// Adds Σ_r slopes_r · ∂f(x_r; θ)/∂θ to `gradient`.
    ///
    /// The tape is that of [`Scorer::score`] for the same θ and the same rows: of others, the gradient
    /// would be wrong.
    ///
    /// # Panics
    /// As [`Scorer::score`], or if the tape is of another number of rows.
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

/// A model that answers costs: the oracle of Algorithm 1 and of the baseline, without slopes.
pub trait BestResponse: Scorer {
    /// θ that makes Σ_r costs_r · 1{f(x_r; θ) > 0} small. The same rows and costs give the same θ.
    ///
    /// # Errors
    /// Where the model cannot learn from these rows.
    fn respond(&self, rows: Rows<'_>, costs: &[f64]) -> Result<Vec<f32>>;
}

/// A model, and what it can do. Implement this to train a model of your own:
/// see [`Plan::with_model`](crate::train::Plan::with_model).
pub trait Model: Scorer {
    /// Itself, if it takes slopes back.
    fn differentiable(&self) -> Option<&dyn Differentiable> {
        None
    }

    /// Itself, if it answers costs.
    fn best_response(&self) -> Option<&dyn BestResponse> {
        None
    }
}

declare! {
    /// Which model, before it has met any data.
    #[derive()]
    pub enum ModelSpec {
        /// Trees where the algorithm is the plug-in game, and linear otherwise.
        Auto = "auto",
        /// A weighted sum of the features.
        Linear = "linear",
        /// A neural network with one hidden layer of rectified linear units.
        Mlp {
            /// Hidden units of the neural network.
            units: usize = with(50).between(1.0, mlp::MOST_UNITS as f64).flag("units"),
        } = "mlp",
        /// An ensemble of calibrated lattices.
        Lattice(LatticeSpec) = "lattice",
        /// Boosted trees: the probability of the label, for the plug-in game.
        Trees(trees::TreesSpec) = "trees",
        /// Scores of another model that the table has: the probability of the label, for the plug-in game.
        Scores {
            /// Column with the scores of another model that was not trained on these rows; or one column for each fold.
            columns: Vec<String> = with(Vec::new())
                .check(|columns: &Vec<String>| scores::some(columns))
                .flag("score")
                .group("Features")
                .chooses(),
            /// Whether the model was trained on the training rows. If so, only rows set aside calibrate the scores. It makes no
            /// difference with a column for each fold.
            taught: bool = with(false),
            /// What the scores are.
            scale: ScoreScale = with(ScoreScale::Probability),
            /// Columns with another model's probabilities of groups, one set for each fold, for groups that are not features;
            /// without any, boosted trees learn them.
            groups: Vec<String> = with(Vec::new()),
        } = "scores",
    }
}

impl ModelSpec {
    /// The model for features of this encoder; the training rows give a lattice its keypoints.
    pub fn build(&self, encoder: &Encoder, train: &Features) -> Result<AnyModel> {
        match self {
            ModelSpec::Auto | ModelSpec::Linear => Ok(AnyModel::Linear(Linear::new(train))),
            ModelSpec::Mlp { units } => Ok(AnyModel::Mlp(Mlp::new(train, *units)?)),
            ModelSpec::Lattice(spec) => Ok(AnyModel::Lattice(Lattice::new(spec, encoder, train)?)),
            ModelSpec::Trees(_) => {
                Err(Error::new(ErrorKind::Settings, "trees have no parameters to descend along")
                    .help("use the algorithm `plug_in`"))
            }
            ModelSpec::Scores { .. } => {
                Err(Error::new(ErrorKind::Settings, "scores have no parameters to descend along")
                    .help("use the algorithm `plug_in`"))
            }
        }
    }
}

/// Any of the models.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnyModel {
    /// A weighted sum.
    Linear(Linear),
    /// One hidden layer of rectified linear units.
    Mlp(Mlp),
    /// An ensemble of calibrated lattices.
    Lattice(Lattice),
    /// A rule over probabilities.
    Rule(Rule),
    /// A model of the caller's own; it cannot be kept in a file.
    #[serde(skip)]
    Own(Arc<dyn Model>),
}

impl PartialEq for AnyModel {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (AnyModel::Linear(one), AnyModel::Linear(other)) => one == other,
            (AnyModel::Mlp(one), AnyModel::Mlp(other)) => one == other,
            (AnyModel::Lattice(one), AnyModel::Lattice(other)) => one == other,
            (AnyModel::Rule(one), AnyModel::Rule(other)) => one == other,
            (AnyModel::Own(one), AnyModel::Own(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

/// Panics unless parameters, features and a number for each row are those of a model.
fn check_rows(model: &impl Scorer, theta: &[f32], rows: &Rows<'_>, per_row: usize) {
    assert_eq!(theta.len(), model.params(), "parameters of this model");
    assert!(model.fits(rows.features()), "features of this model");
    assert_eq!(rows.len(), per_row, "one number a row");
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
        let wrong = |what: String| Err(Error::new(ErrorKind::Format, what));
        if !self.fits(features) {
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

    /// What takes slopes back.
    ///
    /// # Errors
    /// If it is a model of the caller's own that does not.
    pub fn slopes(&self) -> Result<&dyn Differentiable> {
        self.differentiable().ok_or_else(|| {
            Error::new(ErrorKind::Settings, "this model has no slopes to descend along")
                .help("use `discrete`, or `baseline` with an oracle: they ask for best responses")
        })
    }

    /// What its scores need of each row and not of θ, to be found once; `None` where there is nothing, or of too many rows.
    pub fn place_all(&self, features: &Features) -> Option<Placed> {
        match self {
            AnyModel::Lattice(model) => model.place_all(features),
            _ => None,
        }
    }

    /// Whether it is the linear model, whose losses are convex in θ under a convex surrogate.
    pub(crate) fn is_linear(&self) -> bool {
        matches!(self, AnyModel::Linear(_))
    }

    fn inner(&self) -> &dyn Model {
        match self {
            AnyModel::Linear(model) => model,
            AnyModel::Mlp(model) => model,
            AnyModel::Lattice(model) => model,
            AnyModel::Rule(model) => model,
            AnyModel::Own(model) => &**model,
        }
    }
}

impl Scorer for AnyModel {
    fn params(&self) -> usize {
        self.inner().params()
    }

    fn fits(&self, features: &Features) -> bool {
        self.inner().fits(features)
    }

    fn score(&self, theta: &[f32], rows: Rows<'_>, tape: &mut Tape, scores: &mut [f32]) {
        self.inner().score(theta, rows, tape, scores);
    }
}

impl Model for AnyModel {
    fn differentiable(&self) -> Option<&dyn Differentiable> {
        self.inner().differentiable()
    }

    fn best_response(&self) -> Option<&dyn BestResponse> {
        self.inner().best_response()
    }
}
