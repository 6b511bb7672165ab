//! Recipes: what is not said of how to learn is as one of them has it.

use serde::{Deserialize, Serialize, Serializer};

use super::spec::{error_rate, linear, one_step};
use super::{Datasets, Spec, named};
use crate::algorithm::Algorithm;
use crate::classifier::{Dataset, Epsilon, Margin, Selection, ShrinkSpec};
use crate::encode::EncoderSpec;
use crate::game::Keep;
use crate::model::{ModelSpec, Region};
use crate::observe::Patience;
use crate::rate::{Side, Surrogate};
use crate::table::Missing;

/// Which settings stand where none are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recipe {
    /// Cross-fitting in five folds; games that stop once they get no better on rows that they do not learn from; and
    /// a mixture that is chosen by what such rows say, with a margin of one standard error.
    #[default]
    Recommended,
    /// The paper's: two halves, all turns, and a mixture that is chosen by its objective on the rows it learnt from.
    Paper,
}

impl Recipe {
    /// How many datasets there are.
    pub fn datasets(self) -> Datasets {
        match self {
            Recipe::Recommended => Datasets::Cross { folds: 5, repeats: 1 },
            Recipe::Paper => Datasets::Two { val_fraction: 0.5 },
        }
    }

    /// Which turns' models are kept.
    pub fn keep(self) -> Keep {
        match self {
            Recipe::Recommended => Keep::Spaced(250),
            Recipe::Paper => Keep::default(),
        }
    }

    /// When a game stops early.
    pub fn early_stop(self) -> Option<Patience> {
        match self {
            // Shorter games are played out: they are hardly begun.
            Recipe::Recommended => Some(Patience { after: 5_000, ..Patience::default() }),
            Recipe::Paper => None,
        }
    }

    /// How the classifier is made.
    pub fn selection(self) -> Selection {
        Selection::Shrink(self.shrink())
    }

    fn shrink(self) -> ShrinkSpec {
        match self {
            Recipe::Recommended => ShrinkSpec {
                on: Dataset::Val,
                margin: Margin::Errors(1.0),
                ..ShrinkSpec::default()
            },
            Recipe::Paper => ShrinkSpec::default(),
        }
    }
}

/// Settings as they are given, before a recipe says the rest.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Given {
    label: String,
    #[serde(default = "error_rate")]
    objective: String,
    #[serde(default)]
    constraints: Vec<String>,
    #[serde(default)]
    skip_empty_groups: bool,
    #[serde(default)]
    weight: Option<String>,
    #[serde(default)]
    missing: Missing,
    #[serde(default)]
    recipe: Recipe,
    #[serde(default, deserialize_with = "some")]
    datasets: Option<Datasets>,
    #[serde(default)]
    test_fraction: f64,
    #[serde(default)]
    encoder: EncoderSpec,
    #[serde(default = "linear", deserialize_with = "named::named")]
    model: ModelSpec,
    #[serde(default)]
    surrogate: Surrogate,
    #[serde(default)]
    region: Region,
    #[serde(default, deserialize_with = "named::named")]
    algorithm: Algorithm,
    #[serde(default = "one_step")]
    steps: Vec<f64>,
    #[serde(default)]
    keep: Option<Keep>,
    #[serde(default)]
    early_stop: Option<GivenPatience>,
    #[serde(default, deserialize_with = "some")]
    selection: Option<GivenSelection>,
    #[serde(default)]
    seed: u64,
}

/// Patience as it is given.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenPatience {
    kept: Option<u64>,
    least: Option<f64>,
    after: Option<u64>,
}

impl GivenPatience {
    fn by(self, recipe: Recipe) -> Patience {
        let Patience { kept, least, after } = recipe.early_stop().unwrap_or_default();
        Patience {
            kept: self.kept.unwrap_or(kept),
            least: self.least.unwrap_or(least),
            after: self.after.unwrap_or(after),
        }
    }
}

/// A selection as it is given.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum GivenSelection {
    Theorem,
    Uniform,
    Last,
    Best,
    Shrink(GivenShrink),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenShrink {
    objective: Option<Side>,
    on: Option<Dataset>,
    epsilon: Option<Epsilon>,
    margin: Option<Margin>,
}

impl GivenSelection {
    fn by(self, recipe: Recipe) -> Selection {
        let given = match self {
            GivenSelection::Theorem => return Selection::Theorem,
            GivenSelection::Uniform => return Selection::Uniform,
            GivenSelection::Last => return Selection::Last,
            GivenSelection::Best => return Selection::Best,
            GivenSelection::Shrink(given) => given,
        };
        let ShrinkSpec { objective, on, epsilon, margin } = recipe.shrink();
        Selection::Shrink(ShrinkSpec {
            objective: given.objective.unwrap_or(objective),
            on: given.on.unwrap_or(on),
            epsilon: given.epsilon.unwrap_or(epsilon),
            margin: given.margin.unwrap_or(margin),
        })
    }
}

fn some<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: serde::de::DeserializeOwned,
    D: serde::Deserializer<'de>,
{
    named::named(deserializer).map(Some)
}

impl From<Given> for Spec {
    fn from(given: Given) -> Self {
        let recipe = given.recipe;
        Spec {
            label: given.label,
            objective: given.objective,
            constraints: given.constraints,
            skip_empty_groups: given.skip_empty_groups,
            weight: given.weight,
            missing: given.missing,
            recipe,
            datasets: given.datasets.unwrap_or(recipe.datasets()),
            test_fraction: given.test_fraction,
            encoder: given.encoder,
            model: given.model,
            surrogate: given.surrogate,
            region: given.region,
            algorithm: given.algorithm,
            steps: given.steps,
            keep: given.keep.unwrap_or(recipe.keep()),
            early_stop: match given.early_stop {
                Some(GivenPatience { kept: Some(0), .. }) => None,
                Some(given) => Some(given.by(recipe)),
                None => recipe.early_stop(),
            },
            selection: match given.selection {
                Some(given) => given.by(recipe),
                None => recipe.selection(),
            },
            seed: given.seed,
        }
    }
}

/// Without patience, 0 kept models: what is left out would be as the recipe has it.
pub(super) fn never<S: Serializer>(
    patience: &Option<Patience>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    patience.unwrap_or(Patience { kept: 0, ..Patience::default() }).serialize(serializer)
}
