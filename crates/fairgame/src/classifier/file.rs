//! A classifier as a file: an [`Archive`] whose header says all but the parameters.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Classifier, Member, Provenance};
use crate::archive::{Archive, Arrays, Numbers};
use crate::encode::Encoder;
use crate::model::{AnyModel, Scorer};
use crate::rate::Frozen;
use crate::sample::Hypothesis;
use crate::{Error, ErrorKind, Result};

/// What an [`Archive`] of a classifier is called.
const WHAT: &str = "model";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    problem: Frozen,
    encoder: Encoder,
    model: AnyModel,
    /// The weights of the mixture.
    weights: Vec<f64>,
    /// The turns that its models are of.
    turns: Vec<u64>,
    /// The key of the draws, as a text: JSON's numbers need not hold 64 bits.
    key: String,
    provenance: Provenance,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    record: Option<serde_json::Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    labels: Option<[serde_json::Value; 2]>,
}

impl Classifier {
    /// The classifier as an archive.
    ///
    /// # Errors
    /// If its model is one of the caller's own: what that is made of is not known here.
    pub fn to_archive(&self) -> Result<Archive> {
        if let AnyModel::Own(_) = self.model {
            let message = "a model of your own cannot be written to a file";
            return Err(Error::new(ErrorKind::Format, message)
                .help("keep the parameters of its members (`Classifier::members`) yourself"));
        }
        let mut arrays = Arrays::default();
        for (at, member) in self.members.iter().enumerate() {
            arrays.put(&format!("theta.{at}"), Numbers::F32(member.hypothesis.theta().to_vec()));
        }
        let header = Header {
            problem: self.bound.frozen(),
            encoder: self.encoder.clone(),
            model: self.model.clone(),
            weights: self.members.iter().map(|member| member.weight).collect(),
            turns: self.members.iter().map(|member| member.turn).collect(),
            key: format!("{:016x}", self.key),
            provenance: self.provenance.clone(),
            record: self.record_value().cloned(),
            labels: self.labels().cloned(),
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
        let header: Header =
            serde_json::from_str(&archive.header).map_err(|error| broken(error.to_string()))?;
        let key =
            u64::from_str_radix(&header.key, 16).map_err(|error| broken(error.to_string()))?;
        if header.weights.len() != header.turns.len() {
            return Err(broken("it has other numbers of weights and of turns".to_owned()));
        }
        let mut arrays = archive.arrays;
        let members = header.weights.iter().zip(&header.turns).enumerate();
        let members = members.map(|(at, (&weight, &turn))| {
            let theta = arrays.take_f32(&format!("theta.{at}"), header.model.params())?;
            Ok(Member { weight, turn, hypothesis: Hypothesis::Theta(theta) })
        });
        let members = members.collect::<Result<Vec<_>>>()?;
        let (problem, Header { encoder, model, provenance, record, labels, .. }) =
            (header.problem.thaw()?, header);
        let mut classifier = Classifier::new(problem, encoder, model, members, key, provenance)?;
        classifier.set_record(record);
        classifier.keep_labels(labels);
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
