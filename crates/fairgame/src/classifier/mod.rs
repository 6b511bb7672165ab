//! From a game's models to a classifier: selection, shrinking, decisions, and the file.
//!
//! A classifier is a mixture: model k with weight p_k, and for each row one of them is drawn. Its chance of
//! a positive decision is Σ_k p_k·1{f_k(x) > 0}. The draw is a hash of the row and of the classifier's key, so
//! the same row is decided the same way every time, in every order, on every machine.

mod decide;
mod file;
mod iterates;
mod judge;
mod program;
mod seen;
mod select;
mod shrink;
mod simplex;

use serde::{Deserialize, Serialize};

pub use decide::{Draw, Prediction, draw_of_text, draws};
pub use iterates::{Dataset, Iterate, Iterates, Measured};
pub(crate) use program::Incremental;
pub(crate) use seen::sketch;
pub use seen::{Recognition, Seen};
pub use select::{Margin, Selected, Selection, ShrinkSpec};
pub(crate) use shrink::Balance;
pub use shrink::{Epsilon, Explained, Shrunk, explain, shrink};

use crate::encode::{Encoder, Features};
use crate::model::{AnyModel, Scorer};
use crate::rate::{Bound, Compiled, LossValues, Side, Surrogate, Tally, Weighted};
use crate::sample::{Batch, Hypothesis, MemorySample, Sample, Work};
use crate::table::{Missing, Table};
use crate::{Error, ErrorKind, Result, Threads};

/// A stochastic classifier and all that is needed to use it.
///
/// ```
/// # use fairgame::algorithm::{Algorithm, Practical};
/// # use fairgame::table::{ReadOptions, Source, read};
/// # use fairgame::train::{Datasets, Spec};
/// # let csv = "age,hired\n21,no\n25,no\n35,yes\n45,yes\n50,yes\n22,no\n39,no\n28,yes\n";
/// # let people = read([Source::stream("people.csv", csv.as_bytes())], &ReadOptions::default())?;
/// # let mut spec = Spec::paper("hired == \"yes\"", &["recall() >= 0.9"]);
/// # spec.algorithm = Algorithm::Practical(Practical { turns: 2000, ..Practical::default() });
/// # spec.datasets = Datasets::One;
/// # let trained = spec.train(&people)?;
/// let classifier = trained.classifier;
/// // Whoever asks, in whatever order: the same row is decided the same way.
/// let someone = read([Source::stream("one.csv", &b"age\n41\n"[..])], &ReadOptions::default())?;
/// let first = classifier.decide(&someone)?[0];
/// assert_eq!(classifier.decide(&someone)?[0], first);
/// // The chance over the draw of a model, not the chance that the label is positive.
/// assert!((0.0..=1.0).contains(&first.probability));
/// // Each constraint by name, on any rows that have labels and groups.
/// let losses = classifier.measure(&people, &fairgame::Threads::default())?;
/// assert_eq!(classifier.bound().constraints()[0].name(), "recall() >= 0.9");
/// assert!(losses.constraints[0] <= 1e-6);
/// # Ok::<(), fairgame::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Classifier {
    bound: Bound,
    encoder: Encoder,
    model: AnyModel,
    members: Vec<Member>,
    key: u64,
    provenance: Provenance,
    record: Option<serde_json::Value>,
    labels: Option<[serde_json::Value; 2]>,
}

/// One model of the mixture.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// How likely it is drawn.
    pub weight: f64,
    /// The turn at which it was first kept.
    pub turn: u64,
    /// The function from rows to scores.
    pub hypothesis: Hypothesis,
}

/// Where a classifier comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The version of fairgame that made it.
    pub version: String,
    /// The settings it was made with, as JSON.
    pub settings: serde_json::Value,
    /// The rows that the model learnt from.
    pub train: Fingerprint,
    /// The rows that the constraints were enforced on; `None` for one dataset.
    pub val: Option<Fingerprint>,
}

/// How many rows there were, and a hash of what was learnt from them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fingerprint {
    /// How many.
    pub rows: usize,
    /// SHA-256 of features, cells and weights.
    pub sha256: String,
    /// Hashes of a few rows that no other row was like, to know them again.
    pub sketch: Vec<u64>,
}

impl Classifier {
    /// A classifier of these parts.
    ///
    /// # Errors
    /// If weights are not a distribution, or θ is not the model's.
    pub fn new(
        bound: Bound,
        encoder: Encoder,
        model: AnyModel,
        members: Vec<Member>,
        key: u64,
        provenance: Provenance,
    ) -> Result<Self> {
        let wrong = |message: String| Err(Error::new(ErrorKind::Format, message));
        let sum: f64 = members.iter().map(|member| member.weight).sum();
        let positive = members.iter().all(|member| member.weight > 0.0);
        if !positive || (sum - 1.0).abs() > 1e-9 {
            return wrong(format!("the weights of the mixture add up to {sum}, not 1"));
        }
        for Member { hypothesis, turn, .. } in &members {
            let theta = hypothesis.theta();
            if theta.len() != model.params() || theta.iter().any(|x| !x.is_finite()) {
                return wrong(format!("the parameters of turn {turn} are not the model's"));
            }
        }
        Ok(Classifier {
            bound,
            encoder,
            model,
            members,
            key,
            provenance,
            record: None,
            labels: None,
        })
    }

    /// What the negative and the positive label are called, for those who decide by name.
    pub fn labels(&self) -> Option<&[serde_json::Value; 2]> {
        self.labels.as_ref()
    }

    /// Keeps what the two labels are called with the classifier.
    pub fn keep_labels(&mut self, labels: Option<[serde_json::Value; 2]>) {
        self.labels = labels;
    }

    /// The problem it was made for: label, objective and constraints.
    pub fn bound(&self) -> &Bound {
        &self.bound
    }

    /// From tables to features.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// The models of the mixture.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The family of the models.
    pub fn model(&self) -> &AnyModel {
        &self.model
    }

    /// What stood for a missing value in the files that it was made from.
    pub fn missing(&self) -> Missing {
        let said = self.provenance.settings.get("missing").cloned();
        said.and_then(|said| serde_json::from_value(said).ok()).unwrap_or_default()
    }

    /// Where it comes from.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// What a surface keeps with the classifier, of which it itself knows nothing.
    pub(crate) fn record_value(&self) -> Option<&serde_json::Value> {
        self.record.as_ref()
    }

    pub(crate) fn set_record(&mut self, record: Option<serde_json::Value>) {
        self.record = record;
    }

    /// How rows are decided on average over the draw: the weighted mean of the models' tallies.
    ///
    /// Of decisions, that is: the sums of a surrogate are 0.
    ///
    /// # Errors
    /// If the features are not those of the classifier's encoder.
    pub fn tally(
        &self,
        features: &Features,
        compiled: &Compiled,
        weights: Option<&[f32]>,
        threads: &Threads,
    ) -> Result<Tally> {
        self.check(features)?;
        let surrogate = Surrogate::Hinge;
        let model = &self.model;
        let sample = MemorySample { features, among: None, compiled, weights, model, surrogate };
        let mut work = Work::new(threads);
        let mut mixed = Tally::new(compiled.losses().cells());
        for member in &self.members {
            let mut tally = sample.tally(&member.hypothesis, Batch::All, Side::Exact, &mut work)?;
            tally.scale(member.weight);
            mixed += &tally;
        }
        Ok(mixed)
    }

    /// ℓ₀ … ℓ_m of the classifier on rows, on average over the draw; in the order of
    /// [`Bound::constraints`], which has their names.
    ///
    /// A constraint that has nothing to measure, because a group has no rows, is NaN.
    ///
    /// # Errors
    /// If a column is missing that the encoder, the label or a constraint needs.
    pub fn measure<'a>(
        &self,
        rows: impl Into<Weighted<'a>>,
        threads: &Threads,
    ) -> Result<LossValues> {
        let Weighted { table, weights } = rows.into();
        let features = self.encoder.encode(table)?;
        let compiled = self.bound.compile(table, weights)?;
        let tally = self.tally(&features, &compiled, weights, threads)?;
        Ok(compiled.losses().exact(&tally))
    }

    /// Decides the rows of a table, which needs the columns of the encoder and no others: neither label
    /// nor groups. The draw is by the row's features: see [`Classifier::predict`].
    pub fn decide(&self, table: &Table) -> Result<Vec<Prediction>> {
        self.predict(&self.encoder.encode(table)?, Draw::Features)
    }

    fn check(&self, features: &Features) -> Result<()> {
        match self.members.first() {
            Some(member) => self.model.check(member.hypothesis.theta(), features),
            None => Err(Error::new(ErrorKind::Format, "the classifier has no models")),
        }
    }
}
