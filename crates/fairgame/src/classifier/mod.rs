//! From a game's models to a classifier: selection, shrinking, decisions, and the file.
//!
//! A classifier is a mixture: model k with weight p_k and threshold t_k, and for each row one of them is drawn. Its
//! chance of a positive decision is Σ_k p_k·1{f_k(x) > t_k}. In the plug-in game the models of a column, one for each
//! fold, are not drawn from: their mean score decides ([`Blend`]). The draw is a hash of the row and of the classifier's
//! key, so the same row is decided the same way every time, in every order, on every machine.

mod candidates;
mod companion;
mod decide;
mod explain;
mod file;
mod iterates;
mod judge;
mod program;
mod seen;
mod select;
mod shrink;
mod simplex;
mod view;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::{Deserialize, Serialize};

pub use candidates::{Candidate, Candidates};
pub use companion::Companion;
pub use decide::{Draw, Prediction, draw_of_text, draws};
pub use explain::{
    ColumnContribution, Contributions, Deciding, Explanation, MemberExplanation, other_rows,
};
pub use iterates::{Dataset, Iterate, Iterates, Measured};
pub(crate) use program::{
    Columns, Incremental, Start, explain_columns, price_columns, shrink_columns, shrink_yielding,
    single_column, single_yielding,
};
pub use seen::{Recognition, Seen};
pub(crate) use seen::{Sketch, hashes as row_hashes, sketch};
pub use select::{Blend, Margin, Selected, Selection, ShrinkSpec};
pub use shrink::{Epsilon, Explained, Shrunk, explain, shrink};
pub(crate) use view::LogOdds;
pub use view::{Probabilities, Probability, View};

use crate::archive::Arrays;
use crate::encode::Features;
use crate::model::Scorer;
use crate::rate::{Bound, LossValues, Tally, Weighted};
use crate::sample::Hypothesis;
use crate::table::{Kind, Missing, Table, no_column};
use crate::{Error, ErrorKind, Result};

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
/// let losses = classifier.measure(&people)?;
/// assert_eq!(classifier.bound().constraints()[0].name(), "recall() >= 0.9");
/// assert!(losses.constraints[0] <= 1e-6);
/// # Ok::<(), fairgame::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Classifier {
    bound: Bound,
    views: Vec<View>,
    members: Vec<Member>,
    key: u64,
    blend: Blend,
    provenance: Provenance,
    record: Option<serde_json::Value>,
    record_arrays: Arrays,
    labels: Option<[serde_json::Value; 2]>,
    companion: Option<Companion>,
    candidates: Option<Candidates>,
}

/// One model of the mixture.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// How likely it is drawn.
    pub weight: f64,
    /// The turn at which it was first kept.
    pub turn: u64,
    /// The column of the mixture that it is of: with cross-fitting, a column has a model of each fold.
    pub column: usize,
    /// Which of the classifier's views it is of.
    pub view: usize,
    /// It decides positive where its score is above this.
    pub threshold: f32,
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
        views: Vec<View>,
        members: Vec<Member>,
        key: u64,
        provenance: Provenance,
    ) -> Result<Self> {
        let wrong = |message: String| Err(Error::new(ErrorKind::Format, message));
        let sum: f64 = members.iter().map(|member| member.weight).sum();
        if let Some(Member { weight, turn, .. }) =
            members.iter().find(|one| one.weight.is_nan() || one.weight <= 0.0)
        {
            return wrong(format!(
                "the model of turn {turn} has a weight of {weight} in the mixture, which is not above 0"
            ));
        }
        if (sum - 1.0).abs() > 1e-9 {
            return wrong(format!("the weights of the mixture add up to {sum}, not 1"));
        }
        views.iter().try_for_each(View::check)?;
        for Member { hypothesis, turn, view, threshold, .. } in &members {
            let Some(view) = views.get(*view) else {
                return wrong(format!("the model of turn {turn} has no encoder"));
            };
            let theta = hypothesis.theta();
            if theta.len() != view.model.params() || theta.iter().any(|x| !x.is_finite()) {
                return wrong(format!("the parameters of turn {turn} are not the model's"));
            }
            if !threshold.is_finite() {
                return wrong(format!("the threshold of turn {turn} is not a finite number"));
            }
        }
        Ok(Classifier {
            bound,
            views,
            members,
            key,
            blend: Blend::default(),
            provenance,
            record: None,
            record_arrays: Arrays::default(),
            labels: None,
            companion: None,
            candidates: None,
        })
    }

    /// The same mixture by other means: another view, its models, and the rows as it knows them again.
    pub(crate) fn replace(
        &mut self,
        view: View,
        members: Vec<Member>,
        train: Vec<u64>,
        val: Option<Vec<u64>>,
    ) -> Result<()> {
        let mut provenance = self.provenance.clone();
        provenance.train.sketch = train;
        if let (Some(known), Some(sketch)) = (&mut provenance.val, val) {
            known.sketch = sketch;
        }
        let made = Classifier::new(self.bound.clone(), vec![view], members, self.key, provenance)?;
        (self.views, self.members, self.provenance) = (made.views, made.members, made.provenance);
        Ok(())
    }

    /// What the negative and the positive label are called, for those who decide by name.
    pub fn labels(&self) -> Option<&[serde_json::Value; 2]> {
        self.labels.as_ref()
    }

    /// Keeps what the two labels are called with the classifier.
    pub fn keep_labels(&mut self, labels: Option<[serde_json::Value; 2]>) {
        self.labels = labels;
    }

    /// The file beside the model file that gives rows their scores, if another library does.
    pub fn companion(&self) -> Option<&Companion> {
        self.companion.as_ref()
    }

    /// Keeps which file beside the model file gives rows their scores.
    ///
    /// # Errors
    /// If it is described wrongly: see [`Companion::check`].
    pub fn keep_companion(&mut self, companion: Option<Companion>) -> Result<()> {
        companion.iter().try_for_each(Companion::check)?;
        self.companion = companion;
        Ok(())
    }

    /// What becomes of the models of a column.
    pub fn blend(&self) -> Blend {
        self.blend
    }

    pub(crate) fn set_blend(&mut self, blend: Blend) {
        self.blend = blend;
    }

    /// The problem it was made for: label, objective and constraints.
    pub fn bound(&self) -> &Bound {
        &self.bound
    }

    /// How rows become scores.
    pub fn views(&self) -> &[View] {
        &self.views
    }

    /// The features of a table's rows, as each of the views has them.
    ///
    /// # Errors
    /// If the table lacks a column of the features.
    pub fn encode(&self, table: &Table) -> Result<Vec<Features>> {
        let encoded = self.views.iter().map(|view| view.encode(table));
        let encoded = encoded.collect::<Result<Vec<Features>>>();
        let mut all = encoded.map_err(|error| self.about_features(error))?;
        // Draws are by the rows of the first view.
        all.iter_mut().skip(1).for_each(Features::forget_hashes);
        Ok(all)
    }

    /// An error about a column that is not there, with what the model needs it for.
    pub fn about_features(&self, error: Error) -> Error {
        let says = |name: &str| error.message().ends_with(&no_column(name));
        match self.kinds().into_iter().find(|(name, _)| says(name)) {
            Some((_, kind)) => {
                let help = error.advice().unwrap_or_default().to_owned();
                error.help(format!("it is a feature of the model, a {kind} in training; {help}"))
            }
            None => error,
        }
    }

    /// The columns that are needed to decide a row, and their kinds.
    pub fn kinds(&self) -> BTreeMap<String, Kind> {
        self.views.iter().flat_map(View::kinds).collect()
    }

    /// The columns that some view makes features of, in the order of the training table.
    pub fn feature_columns(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let mut known: HashSet<String> = HashSet::new();
        for view in &self.views {
            // Beside those that come before it in this view, where it is in no view before.
            let mut after = 0;
            for input in view.encoder.inputs() {
                let name = input.column();
                if known.insert(name.to_owned()) {
                    names.insert(after, name.to_owned());
                    after += 1;
                } else if names.get(after).is_some_and(|next| next == name) {
                    // In the same order as in the views before, as a rule.
                    after += 1;
                } else if let Some(at) = names.iter().position(|one| one == name) {
                    after = at + 1;
                }
            }
        }
        names
    }

    /// Takes the scores of another model from a column of this name, instead of the one that training had.
    ///
    /// # Errors
    /// If the classifier does not decide by the scores of one other model.
    pub fn take_scores_from(&mut self, name: &str) -> Result<()> {
        let columns: BTreeSet<Option<String>> = self.views.iter().map(View::score_column).collect();
        let columns: Vec<String> = columns.into_iter().flatten().collect();
        let [column] = columns.as_slice() else {
            let message = match columns.len() {
                0 => "the model decides by features of its own, not by scores of another model"
                    .to_owned(),
                several => {
                    format!("the model decides by {several} columns of scores, one for each fold")
                }
            };
            return Err(Error::new(ErrorKind::Settings, message)
                .help("leave out which column has the scores"));
        };
        if column != name && self.kinds().contains_key(name) {
            let message =
                format!("column `{name}` is a feature itself, and cannot have the scores");
            return Err(Error::new(ErrorKind::Settings, message));
        }
        for view in &mut self.views {
            view.encoder = view.encoder.renamed(column, name);
        }
        Ok(())
    }

    /// How many codes and numbers a row is in all views together: what deciding it takes in memory.
    pub fn inputs(&self) -> usize {
        self.views.iter().map(|view| view.encoder.inputs().len()).sum()
    }

    /// The models of the mixture.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// How many columns the mixture has: models that stand for each other, one for each fold, are one column.
    pub fn columns(&self) -> usize {
        self.members.iter().map(|member| member.column + 1).max().unwrap_or(0)
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

    /// What its mixture was chosen from, if the file says.
    pub fn candidates(&self) -> Option<&Candidates> {
        self.candidates.as_ref()
    }

    /// Keeps what its mixture was chosen from with the classifier.
    pub(crate) fn keep_candidates(&mut self, candidates: Option<Candidates>) {
        self.candidates = candidates;
    }

    /// What a surface keeps with the classifier, of which it itself knows nothing.
    pub(crate) fn record_value(&self) -> Option<&serde_json::Value> {
        self.record.as_ref()
    }

    /// Forgets how it was trained and what it was chosen from: a smaller file that decides alike.
    pub fn forget(&mut self) {
        (self.record, self.candidates) = (None, None);
        self.record_arrays = Arrays::default();
    }

    /// The arrays of that.
    pub(crate) fn record_arrays(&self) -> &Arrays {
        &self.record_arrays
    }

    pub(crate) fn set_record(&mut self, record: Option<serde_json::Value>, arrays: Arrays) {
        (self.record, self.record_arrays) = (record, arrays);
    }

    /// ℓ₀ … ℓ_m of the classifier on rows, on average over the draw; in the order of
    /// [`Bound::constraints`], which has their names.
    ///
    /// A constraint that has nothing to measure, because a group has no rows, is NaN.
    ///
    /// # Errors
    /// If a column is missing that the encoder, the label or a constraint needs.
    pub fn measure<'a>(&self, rows: impl Into<Weighted<'a>>) -> Result<LossValues> {
        let Weighted { table, weights } = rows.into();
        let compiled = self.bound.compile(table, weights)?;
        let mut tally = Tally::new(compiled.losses().cells());
        for (row, decided) in self.decide(table)?.iter().enumerate() {
            let weight = weights.map_or(1.0, |weights| f64::from(weights[row]));
            let count = &mut tally.counts[compiled.cells()[row] as usize];
            count.weight += weight;
            count.positive += weight * decided.probability;
        }
        Ok(compiled.losses().exact(&tally))
    }

    /// Decides the rows of a table, which needs the columns of the encoder and no others: neither label
    /// nor groups. The draw is by the row's features: see [`Classifier::predict`].
    pub fn decide(&self, table: &Table) -> Result<Vec<Prediction>> {
        self.predict(&self.encode(table)?, Draw::Features)
    }

    /// Refuses features that are not those of the views; says how many rows there are.
    fn check(&self, features: &[Features]) -> Result<usize> {
        let wrong = |message: &str| Err(Error::new(ErrorKind::Value, message.to_owned()));
        let Some(first) = features.first().filter(|_| !self.members.is_empty()) else {
            return wrong("the classifier has no models");
        };
        if features.len() != self.views.len()
            || features.iter().any(|one| one.rows() != first.rows())
        {
            return wrong("there are not the same rows for each of the classifier's encoders");
        }
        for member in &self.members {
            let (view, features) = (&self.views[member.view], &features[member.view]);
            view.model.check(member.hypothesis.theta(), features)?;
        }
        Ok(first.rows())
    }
}
