//! How a classifier is trained on these data: the paper's way, with settings that it does not state.

use fairgame::Result;
use fairgame::algorithm::{Algorithm, Practical};
use fairgame::model::{LatticeSpec, ModelSpec, Monotone};
use fairgame::optimize::Optimizer;
use fairgame::player::SwapRegretSpec;
use fairgame::rate::Policy;
use fairgame::train::Spec;

use super::FEATURES;

/// Turns after which more of them change little.
pub const TURNS: u64 = 5_000;

/// Adam's step for both players. With the 0.001 of the other experiments 20,000 turns are too few: Algorithm 3
/// then still takes nearly all pairs for the same.
pub const STEP: f64 = 0.01;

/// An ensemble of calibrated lattices of 4 inputs, each input in about three, which never falls as a similarity
/// rises.
pub fn model() -> ModelSpec {
    // How many fields can be compared is no similarity.
    let similarities = FEATURES.iter().filter(|name| **name != "fields_shared");
    let rising = |name: &&str| ((*name).to_owned(), Monotone::Increasing);
    let monotone = similarities.map(rising).collect();
    ModelSpec::Lattice(LatticeSpec { monotone, ..LatticeSpec::default() })
}

/// Algorithm 3 on the policy `@entities`, with a [`model`] that sees the 37 similarities and neither country nor
/// chain.
///
/// ```
/// use fairgame_paper::entities::{generate_sized, spec};
/// let data = generate_sized(1, 2_000, 100)?;
/// let mut spec = spec()?;
/// spec.datasets = fairgame::train::Datasets::One;
/// let rows = fairgame::train::Data::from(&data.train);
/// let training = spec.plan(&rows.shape())?.prepare(rows)?;
/// assert_eq!(training.bound().constraints().len(), 16 + 2 + 1);
/// assert_eq!(training.views()[0].encoder.inputs().len(), 37);
/// # Ok::<(), fairgame::Error>(())
/// ```
pub fn spec() -> Result<Spec> {
    let policy = Policy::find("@entities")?;
    let mut spec = Spec::paper(policy.label, policy.constraints);
    spec.encoder.ignore = vec!["country".to_owned(), "chain".to_owned()];
    spec.model = model();
    let optimizer = Optimizer::adam(STEP);
    spec.algorithm = Algorithm::Practical(Practical {
        turns: TURNS,
        model: optimizer,
        constraint: SwapRegretSpec { optimizer, ..SwapRegretSpec::default() },
        ..Practical::default()
    });
    Ok(spec)
}
