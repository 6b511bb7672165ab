//! Settings, each declared once.
//!
//! A type of settings is declared with `declare!`: a struct whose fields are settings, or an enum of which one
//! variant is chosen. Next to each field stands its default, its help (the doc comment), the values that it takes and
//! the flag of the command line. All else follows from the declaration:
//!
//! - [`Declared::read`] reads JSON (and with it TOML and Python's arguments) over settings that are already there, so
//!   that what is left out stays as it is, or as the [`Recipe`] has it;
//! - [`Declared::write`] writes the complete settings in the shape that `read` takes;
//! - [`Declared::verify`] refuses values that no training can begin with;
//! - [`Declared::schema`] describes all of it at run time, for flags, documentation and Python.
//!
//! An error names the key, what was found, what was expected and the nearest key or word. This module knows nothing of
//! what the settings are about.

mod declare;
mod flag;
mod leaf;
mod of;
mod read;
mod schema;
mod wrong;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

pub(crate) use declare::declare;
pub use flag::{Flag, Step, Unfit, Use};
pub(crate) use leaf::Numeric;
pub(crate) use of::{Of, by, needed, sentence, with};
pub(crate) use read::{chosen, field, record, unit};
pub use schema::{Absent, Field, Kind, Ordered, Schema, Variant, Visit};
pub use wrong::{Culprit, Fault, Wrong};

/// Which defaults hold for settings that are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Recipe {
    /// Five-fold cross-fitting, early stopping, and a mixture chosen on out-of-fold rows with a safety margin of one
    /// standard error.
    #[default]
    Recommended,
    /// The paper's settings: two halves of the rows, no early stopping, and a mixture chosen by its objective on the
    /// rows it was trained on.
    Paper,
}

impl Recipe {
    /// Every recipe.
    pub const ALL: [Recipe; 2] = [Recipe::Recommended, Recipe::Paper];

    /// Its name in a policy.
    pub fn name(self) -> &'static str {
        match self {
            Recipe::Recommended => "recommended",
            Recipe::Paper => "paper",
        }
    }
}

/// Where in the settings something is read: its key, and the recipe that gives the defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    recipe: Recipe,
    key: Vec<String>,
}

impl Place {
    /// The settings as a whole.
    pub fn root(recipe: Recipe) -> Self {
        Place { recipe, key: Vec::new() }
    }

    /// A setting below this one.
    #[must_use]
    pub fn key(&self, name: &str) -> Self {
        let mut below = self.clone();
        below.key.push(name.to_owned());
        below
    }

    /// The recipe that gives the defaults.
    pub fn recipe(&self) -> Recipe {
        self.recipe
    }
}

/// A type whose values are settings.
pub trait Declared: Sized + Clone + PartialEq {
    /// What can be given.
    fn schema() -> Schema;

    /// Reads what is given; what is left out is as in `base` or, without one, as the recipe has it.
    fn read(given: &Value, at: &Place, base: Option<&Self>) -> Result<Self, Wrong>;

    /// The complete settings, in the shape that [`Declared::read`] takes.
    fn write(&self) -> Value;

    /// Refuses values that are out of range.
    fn verify(&self, at: &Place) -> Result<(), Wrong> {
        let _ = at;
        Ok(())
    }
}

/// Refuses settings that stand alone, with keys that begin at themselves.
pub(crate) fn check<T: Declared>(settings: &T) -> crate::Result<()> {
    settings.verify(&Place::root(Recipe::Paper)).map_err(Into::into)
}

/// Serialises with keys in the order of their declaration.
pub(crate) fn serialize<T: Declared, S: Serializer>(
    settings: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    Ordered(&T::schema(), &settings.write()).serialize(serializer)
}

/// Deserialises settings that stand alone; what is left out is as in the paper.
pub(crate) fn deserialize<'de, T: Declared, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    let given = Value::deserialize(deserializer)?;
    T::read(&given, &Place::root(Recipe::Paper), None).map_err(D::Error::custom)
}

declare! {
    @choice Recipe {
        /// Five-fold cross-fitting, a safety margin of one standard error, early stopping
        Recommended = "recommended",
        /// Two halves of the rows, no margin, every turn is played
        Paper = "paper",
    }
}
