//! A classifier as a file: an [`Archive`] whose header says all but the parameters.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::candidates::Described;
use super::{Blend, Candidates, Classifier, Companion, Member, Provenance, View};
use crate::archive::{Archive, Arrays, Numbers};
use crate::encode::Encoder;
use crate::model::{AnyModel, Scorer};
use crate::rate::Frozen;
use crate::sample::Hypothesis;
use crate::{Error, ErrorKind, Result};

/// What an [`Archive`] of a classifier is called.
const WHAT: &str = "model";

/// The parameters of all members, one after another; in files of version 1 they are an array each.
const THETAS: &str = "thetas";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    problem: Frozen,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    views: Vec<View>,
    /// The weights of the mixture.
    weights: Vec<f64>,
    /// The turns that its models are of.
    turns: Vec<u64>,
    /// The columns, the views and the thresholds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    columns: Vec<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    of_view: Vec<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    thresholds: Vec<f32>,
    /// In files of version 0.1: the one view, without thresholds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    encoder: Option<Encoder>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<AnyModel>,
    /// What becomes of the models of a column.
    #[serde(default)]
    blend: Blend,
    /// The key of the draws, as a text: JSON's numbers need not hold 64 bits.
    key: String,
    provenance: Provenance,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    record: Option<serde_json::Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    labels: Option<[serde_json::Value; 2]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    companion: Option<Companion>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    candidates: Option<Described>,
}

impl Classifier {
    /// The classifier as an archive.
    ///
    /// # Errors
    /// If its model is one of the caller's own: what that is made of is not known here.
    pub fn to_archive(&self) -> Result<Archive> {
        if self.views.iter().any(|view| matches!(view.model, AnyModel::Own(_))) {
            let message = "a model of your own cannot be written to a file";
            return Err(Error::new(ErrorKind::Format, message)
                .help("keep the parameters of its members (`Classifier::members`) yourself"));
        }
        let mut arrays = Arrays::default();
        let thetas = self.members.iter().flat_map(|member| member.hypothesis.theta());
        arrays.put(THETAS, Numbers::F32(thetas.copied().collect()));
        arrays.put_part("record", self.record_arrays().clone());
        for (at, view) in self.views.iter().enumerate() {
            arrays.put_part(&format!("view.{at}"), view.arrays());
        }
        let header = Header {
            problem: self.bound.frozen(),
            views: self.views.clone(),
            weights: self.members.iter().map(|member| member.weight).collect(),
            turns: self.members.iter().map(|member| member.turn).collect(),
            columns: self.members.iter().map(|member| member.column).collect(),
            of_view: self.members.iter().map(|member| member.view).collect(),
            thresholds: self.members.iter().map(|member| member.threshold).collect(),
            encoder: None,
            model: None,
            blend: self.blend(),
            key: format!("{:016x}", self.key),
            provenance: self.provenance.clone(),
            record: self.record_value().cloned(),
            labels: self.labels().cloned(),
            companion: self.companion().cloned(),
            candidates: self.candidates().map(|candidates| candidates.describe(&mut arrays)),
        };
        let header = serde_json::to_string(&header).map_err(|error| {
            Error::new(ErrorKind::Format, format!("the model cannot be written: {error}"))
        })?;
        Ok(Archive { what: WHAT.to_owned(), header, arrays })
    }

    /// The classifier of an archive.
    pub fn from_archive(archive: Archive) -> Result<Self> {
        let broken = |why: String| {
            Error::new(ErrorKind::Format, format!("the model's header is wrong: {why}"))
        };
        let mut header: Header =
            serde_json::from_str(&archive.header).map_err(|error| broken(error.to_string()))?;
        let key =
            u64::from_str_radix(&header.key, 16).map_err(|error| broken(error.to_string()))?;
        let count = header.weights.len();
        if let (true, Some(encoder), Some(model)) =
            (header.views.is_empty(), header.encoder.take(), header.model.take())
        {
            header.views = vec![View { encoder, model, probabilities: None }];
            header.columns = (0..count).collect();
            header.of_view = vec![0; count];
            header.thresholds = vec![0.0; count];
        }
        let lengths = [
            header.turns.len(),
            header.columns.len(),
            header.of_view.len(),
            header.thresholds.len(),
        ];
        if lengths.iter().any(|length| *length != count) {
            return Err(broken("its members are not all described".to_owned()));
        }
        // Columns are counted from 0, and there are no more of them than members.
        if header.columns.iter().any(|column| *column >= count) {
            return Err(broken("a member is of no column".to_owned()));
        }
        let mut arrays = archive.arrays;
        for (at, view) in header.views.iter_mut().enumerate() {
            view.take_arrays(&mut arrays.take_part(&format!("view.{at}")))?;
        }
        let mut params = Vec::with_capacity(count);
        for &view in &header.of_view {
            let view = header.views.get(view);
            let view = view.ok_or_else(|| broken("a member has no encoder".to_owned()))?;
            params.push(view.model.params());
        }
        let total = params.iter().try_fold(0_usize, |sum, &own| sum.checked_add(own));
        let total =
            total.ok_or_else(|| broken("its members have too many parameters".to_owned()))?;
        let record_arrays = arrays.take_part("record");
        let thetas = match arrays.length(THETAS) {
            Some(_) => Some(arrays.take_f32(THETAS, total)?),
            None => None,
        };
        let mut from = 0;
        let member = |at: usize| {
            let theta = match &thetas {
                Some(thetas) => thetas[from..from + params[at]].to_vec(),
                None => arrays.take_f32(&format!("theta.{at}"), params[at])?,
            };
            from += params[at];
            Ok(Member {
                weight: header.weights[at],
                turn: header.turns[at],
                column: header.columns[at],
                view: header.of_view[at],
                threshold: header.thresholds[at],
                hypothesis: Hypothesis::Theta(theta),
            })
        };
        let members = (0..count).map(member).collect::<Result<Vec<_>>>()?;
        let candidates = header.candidates.take();
        let candidates = candidates.map(|one| Candidates::of(one, &mut arrays)).transpose()?;
        let (problem, Header { views, blend, provenance, record, labels, companion, .. }) =
            (header.problem.thaw()?, header);
        let mut classifier = Classifier::new(problem, views, members, key, provenance)?;
        classifier.set_blend(blend);
        classifier.set_record(record, record_arrays);
        classifier.keep_labels(labels);
        classifier.keep_companion(companion)?;
        classifier.keep_candidates(candidates);
        Ok(classifier)
    }

    /// Writes a model file, whole or not at all.
    pub fn save(&self, path: &Path) -> Result<()> {
        self.to_archive()?.write(path)
    }

    /// The bytes of a model file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.to_archive()?.to_bytes()
    }

    /// Reads a model file.
    pub fn load(path: &Path) -> Result<Self> {
        let archive = Archive::read(path, WHAT)?;
        Classifier::from_archive(archive).map_err(|error| error.at(path.display()))
    }

    /// The classifier that the bytes of a model file hold.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Classifier::from_archive(Archive::from_bytes(bytes, WHAT)?)
    }
}
