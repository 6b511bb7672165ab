//! A trained classifier in Python.

use std::path::PathBuf;

use fairgame::classifier::{Classifier, Companion, Draw, Member, draws, other_rows};
use fairgame::export::onnx;
use fairgame::train::{RecordedPart, SLACKS, Standing, trade_off};
use fairgame::{Error, ErrorKind};
use fairgame_report::Report;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Value, json};

use crate::table::PyTable;
use crate::{evaluated, failed, json_failed, units_of, weights, without_unit};

/// A trained classifier.
#[pyclass(frozen, module = "fairgame._fairgame", name = "Classifier")]
pub(crate) struct PyClassifier(pub(crate) Classifier);

/// What each row's draw is made from: the identifiers in the only column.
fn drawn_by(keys: &PyTable) -> fairgame::Result<Vec<u64>> {
    let keys = keys.table()?;
    let identifiers = keys.columns().iter().flat_map(|column| draws(&column.values));
    let key = |(row, draw): (usize, Option<u64>)| {
        draw.ok_or_else(|| Error::new(ErrorKind::Value, format!("row {row} has no key")))
    };
    identifiers.enumerate().map(key).collect()
}

/// Decisions, chances of a positive one, and scores.
type Predicted<'py> =
    (Bound<'py, PyArray1<bool>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

#[pymethods]
impl PyClassifier {
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| Classifier::load(&path)).map(PyClassifier).map_err(failed)
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        Classifier::from_bytes(bytes).map(PyClassifier).map_err(failed)
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.0.save(&path)).map_err(failed)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.to_bytes().map_err(failed)?))
    }

    /// The same classifier, with what its two labels are called as JSON: the negative one, then the positive one.
    fn with_labels(&self, labels: &str) -> PyResult<Self> {
        let labels: [Value; 2] = serde_json::from_str(labels).map_err(json_failed)?;
        let mut classifier = self.0.clone();
        classifier.keep_labels(Some(labels));
        Ok(PyClassifier(classifier))
    }

    /// The same classifier, which names a file beside its own, as JSON.
    fn with_companion(&self, companion: &str) -> PyResult<Self> {
        let companion: Companion = serde_json::from_str(companion).map_err(json_failed)?;
        let mut classifier = self.0.clone();
        classifier.keep_companion(Some(companion)).map_err(failed)?;
        Ok(PyClassifier(classifier))
    }

    /// Decisions of rows: drawn by a hash of their features, or of `keys`, a table of one column.
    #[pyo3(signature = (table, keys=None))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        table: &PyTable,
        keys: Option<&PyTable>,
    ) -> PyResult<Predicted<'py>> {
        let predictions = py.detach(|| {
            let features = self.0.encode(&*table.table()?)?;
            let keys = keys.map(drawn_by).transpose()?;
            self.0.predict(&features, keys.as_deref().map_or(Draw::Features, Draw::Keys))
        });
        let predictions = predictions.map_err(failed)?;
        let decided: Vec<bool> = predictions.iter().map(|one| one.positive).collect();
        let chances: Vec<f64> = predictions.iter().map(|one| one.probability).collect();
        let scores: Vec<f64> = predictions.iter().map(|one| one.score).collect();
        Ok((decided.into_pyarray(py), chances.into_pyarray(py), scores.into_pyarray(py)))
    }

    /// What other bounds would cost, of one constraint or of all, as JSON.
    #[pyo3(signature = (constraint=None, slacks=None))]
    fn trade_off(
        &self,
        py: Python<'_>,
        constraint: Option<usize>,
        slacks: Option<Vec<f64>>,
    ) -> PyResult<String> {
        let slacks = slacks.unwrap_or_else(|| SLACKS.to_vec());
        let found = py.detach(|| trade_off(&self.0, constraint, &slacks)).map_err(failed)?;
        serde_json::to_string(&found).map_err(json_failed)
    }

    /// Why a row of a table is decided as it is, in comparison with other rows, as JSON. `keys` has an identifier for each row
    /// of the table. Without other rows, it is compared with up to 100 others of the table.
    #[pyo3(signature = (table, row, others=None, keys=None))]
    fn explain(
        &self,
        py: Python<'_>,
        table: &PyTable,
        row: usize,
        others: Option<&PyTable>,
        keys: Option<&PyTable>,
    ) -> PyResult<String> {
        let found = py.detach(|| {
            let table = table.table()?;
            if row >= table.rows() {
                let message = format!("there is no row {row}: there are {}", table.rows());
                return Err(Error::new(ErrorKind::Value, message));
            }
            let others = match others {
                Some(others) => others.table()?.into_owned(),
                None => other_rows(&table, Some(row)).ok_or_else(|| {
                    let message = "X has one row, and it is compared with others";
                    Error::new(ErrorKind::Value, message)
                        .help("give rows to compare it with as background=")
                })?,
            };
            let key = match keys.map(drawn_by).transpose()? {
                None => None,
                Some(keys) if keys.len() == table.rows() => Some([keys[row]]),
                Some(keys) => {
                    let message =
                        format!("{} keys are given for {} rows", keys.len(), table.rows());
                    return Err(Error::new(ErrorKind::Value, message));
                }
            };
            let draw = key.as_ref().map_or(Draw::Features, |key| Draw::Keys(key));
            self.0.explain(&table.take(&[row]), &others, draw)
        });
        serde_json::to_string(&found.map_err(failed)?).map_err(json_failed)
    }

    /// The classifier as an ONNX graph.
    fn to_onnx<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let exported = py.detach(|| onnx(&self.0)).map_err(failed)?;
        Ok(PyBytes::new(py, &exported.bytes))
    }

    /// The scores of rows by each model of the mixture.
    fn scores<'py>(
        &self,
        py: Python<'py>,
        table: &PyTable,
    ) -> PyResult<Vec<Bound<'py, PyArray1<f32>>>> {
        let scores = py.detach(|| {
            let features = self.0.encode(&*table.table()?)?;
            let members = 0..self.0.members().len();
            members
                .map(|member| self.0.scores(member, &features))
                .collect::<fairgame::Result<Vec<_>>>()
        });
        Ok(scores.map_err(failed)?.into_iter().map(|scores| scores.into_pyarray(py)).collect())
    }

    /// Rates, constraints, intervals and verdicts on rows that have a label, as JSON; and what to know of it.
    ///
    /// Rows are of the `units` in the only column of a table, if it is given.
    #[pyo3(signature = (table, weight=None, confidence=0.95, units=None))]
    fn evaluate(
        &self,
        py: Python<'_>,
        table: &PyTable,
        weight: Option<PyReadonlyArray1<'_, f64>>,
        confidence: f64,
        units: Option<&PyTable>,
    ) -> PyResult<(String, Vec<String>)> {
        let (weights, units) = (weights(weight), units_of(units)?);
        let (found, seen, unnamed) = py
            .detach(|| {
                let (weights, units) = (weights.as_deref(), units.as_deref());
                let table = table.table()?;
                let found = self.0.evaluate_by_unit(&table, weights, units, confidence)?;
                let mut unnamed = self.0.bound().unnamed_or_unlabelled();
                unnamed.add(&table)?;
                Ok((found, self.0.seen(&table)?, unnamed))
            })
            .map_err(failed)?;
        let unnamed = unnamed.finish().map_err(failed)?;
        let mut warnings: Vec<String> = unnamed.iter().map(ToString::to_string).collect();
        warnings.extend(seen.map(|seen| seen.to_string()));
        warnings.extend(without_unit(units.as_deref()));
        warnings.extend(self.0.forgets_unit(units.is_some()));
        Ok((evaluated(&found)?, warnings))
    }

    /// The page about it; with rows to test on, also how it does on them.
    #[pyo3(signature = (name, table=None, weight=None, confidence=0.95))]
    fn report(
        &self,
        py: Python<'_>,
        name: String,
        table: Option<&PyTable>,
        weight: Option<PyReadonlyArray1<'_, f64>>,
        confidence: f64,
    ) -> PyResult<String> {
        let weights = weights(weight);
        let page = py.detach(|| -> fairgame::Result<String> {
            let mut classifier = self.0.clone();
            if let (Some(table), Some(mut record)) = (table, classifier.record()?) {
                let table = table.table()?;
                if let Some(seen) = classifier.seen(&table)? {
                    return Err(Error::new(ErrorKind::Value, seen.to_string())
                        .help("test on rows that the training has not seen"));
                }
                let evaluation = classifier.evaluate(&table, weights.as_deref(), confidence)?;
                record.parts.retain(|part| part.part != "test");
                let (part, source) = ("test".to_owned(), "given for the report".to_owned());
                record.parts.push(RecordedPart { part, source, evaluation });
                classifier.keep_record(&record)?;
            }
            Ok(Report::of_classifiers(&[(name, classifier)])?.to_html())
        });
        page.map_err(failed)
    }

    /// What stands for a missing value in files, as JSON, as a policy has it.
    fn missing(&self) -> PyResult<String> {
        serde_json::to_string(&self.0.missing()).map_err(json_failed)
    }

    /// As JSON: the columns that it needs to decide a row, its label, constraints, settings and mixture, and what
    /// it remembers of its training.
    fn describe(&self) -> PyResult<String> {
        let bound = self.0.bound();
        let columns = self.0.feature_columns();
        let member = |member: &Member| json!({ "weight": member.weight, "turn": member.turn });
        let members: Vec<Value> = self.0.members().iter().map(member).collect();
        let names: Vec<&str> = bound.constraints().iter().map(|one| one.name()).collect();
        let record = self.0.record().map_err(failed)?;
        // A file of an earlier version does not say how its constraints stand.
        let says = record.as_ref().filter(|one| one.enforcement.len() == names.len());
        let standing = says.map(|one| Standing::of_all(&one.enforcement));
        serde_json::to_string(&json!({
            "columns": columns,
            "label": bound.frozen().label,
            "labels": self.0.labels(),
            "companion": self.0.companion(),
            "label_columns": bound.label().kinds().into_iter().map(|(column, _)| column).collect::<Vec<_>>(),
            "constraints": names,
            "settings": self.0.provenance().settings,
            "mixture": members,
            "standing": standing,
            "record": record,
        }))
        .map_err(json_failed)
    }
}
