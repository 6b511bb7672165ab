//! What a report is made of: plain data, filled in by a caller, read and written with serde.
//!
//! Nearly every field has a default, and what is absent is left out of the page. Numbers that are not
//! finite are kept: they are written as the texts `"NaN"`, `"inf"` and `"-inf"`, since JSON has no others.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::number;

mod importance;
mod losses;
mod promise;
mod summary;
mod training;

pub use fairgame::evaluate::Verdict;
pub use fairgame::train::Standing;
pub use importance::Importance;
pub use losses::{Constraint, Estimate, Interval, Measured, Objective, Rate};
pub use promise::{Enforcement, Promise};
pub use summary::{Baseline, ConfusionShift, RateShift, Shift, Summary, TradePoint};
pub use training::{Iterate, Iterates, Line, Member, Multipliers, Point};

/// Everything that is on one page.
///
/// ```
/// use fairgame_report::{Constraint, Measured, Model, On, Report, Verdict};
///
/// let report = Report {
///     title: "Loans, 2024".into(),
///     models: vec![Model {
///         verdict: Verdict::Met,
///         constraints: vec![Constraint {
///             text: "tpr(sex == \"F\") >= 0.8".into(),
///             on: On { test: Some(Measured::exactly(-0.03)), ..On::default() },
///             ..Constraint::default()
///         }],
///         ..Model::default()
///     }],
///     ..Report::default()
/// };
/// let html = report.to_html();
/// assert!(html.contains("<h1>Loans, 2024</h1>"));
/// assert!(html.contains("−0.0300"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Report {
    /// The heading of the page.
    pub title: String,
    /// What a reader should know before all else; shown first.
    pub warnings: Vec<String>,
    /// One or more classifiers. With several, the page begins with a comparison.
    pub models: Vec<Model>,
}

/// One classifier: what was asked of it, what it does, and how it came to be.
///
/// ```
/// let model: fairgame_report::Model = serde_json::from_str(
///     r#"{"name": "linear", "verdict": "violated", "words": "1 of 4 constraints is violated."}"#,
/// ).unwrap();
/// assert_eq!(model.verdict, fairgame_report::Verdict::Violated);
/// assert!(model.constraints.is_empty());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Model {
    /// What tells it from the other models of the page.
    pub name: String,
    /// Whether its constraints hold.
    pub verdict: Verdict,
    /// The verdict in plain words.
    pub words: String,
    /// Of the intervals and verdicts, as a share: 0.95.
    #[serde(with = "number::option")]
    pub confidence: Option<f64>,
    /// What to know before signing; a model file of an earlier version has less of it.
    pub summary: Option<Summary>,
    /// The rows it was trained and measured on.
    pub samples: Vec<Sample>,
    /// What was minimised.
    pub objective: Option<Objective>,
    /// What had to hold.
    pub constraints: Vec<Constraint>,
    /// What the training says of them; a model file of an earlier version says nothing.
    pub promise: Option<Promise>,
    /// How much each column counts, the one that counts most first.
    pub importance: Vec<Importance>,
    /// The groups that the constraints speak of.
    pub groups: Groups,
    /// The models that training kept, and those that were chosen.
    pub iterates: Option<Iterates>,
    /// What the constraint player played.
    pub multipliers: Option<Multipliers>,
    /// Settings of the run, nested as they are.
    pub settings: Value,
    /// What is needed to make it again.
    pub provenance: Provenance,
}

/// Which sample: the model player's, the constraint player's, or one that neither saw.
///
/// ```
/// use fairgame_report::Role;
/// assert_eq!(serde_json::to_string(&Role::Val).unwrap(), r#""val""#);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// What the model player learns on.
    #[default]
    Train,
    /// What the constraint player enforces on.
    Val,
    /// What neither saw.
    Test,
}

/// A sample's name, size and hash.
///
/// ```
/// use fairgame_report::{Role, Sample};
/// let sample = Sample { role: Role::Train, name: "adult.csv".into(), rows: 16_280, hash: None };
/// assert!(serde_json::to_string(&sample).unwrap().contains("16280"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// What it was used for.
    pub role: Role,
    /// Usually a file's name.
    pub name: String,
    /// How many rows it has.
    pub rows: u64,
    /// Of its content, such as `sha256:…`.
    #[serde(default)]
    pub hash: Option<String>,
}

/// One thing on each of the samples where it was measured.
///
/// ```
/// use fairgame_report::{On, Role};
/// let rows = On { train: Some(800), val: Some(200), test: None };
/// assert_eq!(rows.get(Role::Val), Some(&200));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct On<T> {
    /// On the model player's sample.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub train: Option<T>,
    /// On the constraint player's.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub val: Option<T>,
    /// On one that neither saw.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub test: Option<T>,
}

fn none<T>() -> Option<T> {
    None
}

impl<T> Default for On<T> {
    fn default() -> Self {
        On { train: None, val: None, test: None }
    }
}

impl<T> On<T> {
    /// What was measured on this sample.
    pub fn get(&self, role: Role) -> Option<&T> {
        match role {
            Role::Train => self.train.as_ref(),
            Role::Val => self.val.as_ref(),
            Role::Test => self.test.as_ref(),
        }
    }
}

/// Groups, and from what size on they are not small.
///
/// ```
/// use fairgame_report::Groups;
/// assert_eq!(Groups::default().small_below, 100);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Groups {
    /// A group with fewer rows than this on some sample is marked as small.
    pub small_below: u64,
    /// The groups.
    pub all: Vec<Group>,
}

impl Default for Groups {
    fn default() -> Self {
        Groups { small_below: 100, all: Vec::new() }
    }
}

/// A group and its rows.
///
/// ```
/// use fairgame_report::{Group, On};
/// let rows = On { train: Some(412), val: Some(97), test: None };
/// let group = Group { text: "race == \"Other\"".into(), rows };
/// assert_eq!(group.rows.val, Some(97));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Group {
    /// As it was written.
    pub text: String,
    /// Its rows on each sample.
    pub rows: On<u64>,
}

/// What is needed to make a model again, beside its settings and the hashes of its samples.
///
/// ```
/// use fairgame_report::Provenance;
/// let facts = vec![("commit".to_string(), "2b11d47".to_string())];
/// let provenance = Provenance { version: Some("0.1.0".into()), seed: Some(7), facts };
/// assert_eq!(provenance.seed, Some(7));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Provenance {
    /// Of the software.
    pub version: Option<String>,
    /// Of all randomness.
    pub seed: Option<u64>,
    /// Whatever else, by name.
    pub facts: Vec<(String, String)>,
}
