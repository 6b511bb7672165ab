//! What Python sees of the library: tables, training, classifiers, audits.
//!
//! It is thin on purpose. Settings cross as one JSON text, a [`Spec`], and results as JSON; rows cross as
//! columns of numpy or as Arrow's record batches; errors become `ValueError` with the library's own text. All
//! that makes it feel at home in Python is written in Python.

mod classifier;
mod game;
mod shards;
mod sums;
mod table;
mod train;

use std::path::PathBuf;

use fairgame::classifier::draws;
use fairgame::evaluate::{self, Decisions, Evaluation, GroupAudit, GroupsFound};
use fairgame::rate::{Problem, Weighted};
use fairgame::settings::Declared;
use fairgame::train::{Finding, Spec};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use serde_json::{Value, json};

use classifier::PyClassifier;
use game::PyGame;
use shards::PyShard;
use sums::PySums;
use table::PyTable;

/// The library's error as Python's, with the same text.
fn failed(error: fairgame::Error) -> PyErr {
    match error.kind() {
        fairgame::ErrorKind::Io => PyOSError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// What cannot be made to JSON.
fn json_failed(error: serde_json::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A policy, checked.
fn spec(policy: &str) -> PyResult<Spec> {
    Spec::from_json(policy).map_err(failed)
}

/// One weight a row, as the library has them.
fn weights(given: Option<PyReadonlyArray1<'_, f64>>) -> Option<Vec<f32>> {
    given.map(|given| given.as_array().iter().map(|&weight| weight as f32).collect())
}

/// The unit of each row, from the only column of a table.
fn units_of(table: Option<&PyTable>) -> PyResult<Option<Vec<Option<u64>>>> {
    let Some(table) = table else { return Ok(None) };
    let table = table.table().map_err(failed)?;
    Ok(Some(table.columns().iter().flat_map(|column| draws(&column.values)).collect()))
}

/// What to know of rows that have no unit, if there are any.
fn without_unit(units: Option<&[Option<u64>]>) -> Option<String> {
    match units.map_or(0, |units| units.iter().filter(|unit| unit.is_none()).count()) {
        0 => None,
        1 => Some("1 row without a unit counts as a unit of its own".to_owned()),
        rows => Some(format!("{rows} rows without a unit count as units of their own")),
    }
}

/// An evaluation of a classifier as JSON, with the margin that would have let it say met.
fn evaluated(found: &Evaluation) -> PyResult<String> {
    let mut document = serde_json::to_value(found).map_err(json_failed)?;
    document["margin_to_meet"] = json!(found.margin_to_meet());
    Ok(document.to_string())
}

/// A message for people, with the names and values in it fit for a terminal.
#[pyfunction]
fn printable(text: &str) -> String {
    fairgame::printable(text).into_owned()
}

/// A name or a value within a message, fit for a terminal and cut where it is long.
#[pyfunction]
fn shown(text: &str) -> String {
    fairgame::shown(text).into_owned()
}

/// A number of bytes that a text says, such as `4GB`.
#[pyfunction]
fn bytes_of(text: &str) -> PyResult<usize> {
    fairgame::bytes_of(text).map_err(|error| failed(error.at("memory")))
}

/// Writes a file whole or not at all. A new one has the permissions of the file `like`, if that is there.
#[pyfunction]
#[pyo3(signature = (path, content, like=None))]
fn write_whole(path: PathBuf, content: &[u8], like: Option<PathBuf>) -> PyResult<()> {
    fairgame::table::write_beside(&path, content, like.as_deref()).map_err(failed)
}

/// Refuses settings that no training could be made with, and gives the complete ones.
#[pyfunction]
fn check(policy: &str) -> PyResult<String> {
    serde_json::to_string(&spec(policy)?).map_err(json_failed)
}

/// Every setting of a policy as JSON: its key, help, kind, group, words and default by recipe.
#[pyfunction]
fn settings() -> String {
    Spec::schema().listed().to_string()
}

/// The verdicts on anyone's decisions, as chances of a positive one: as JSON; and what to know of it.
#[pyfunction]
#[pyo3(signature = (policy, table, chances, weight=None, confidence=0.95, units=None))]
fn audit(
    py: Python<'_>,
    policy: &str,
    table: &PyTable,
    chances: PyReadonlyArray1<'_, f64>,
    weight: Option<PyReadonlyArray1<'_, f64>>,
    confidence: f64,
    units: Option<&PyTable>,
) -> PyResult<(String, Vec<String>)> {
    let (spec, weights, units) = (spec(policy)?, weights(weight), units_of(units)?);
    let chances: Vec<f64> = chances.as_array().iter().copied().collect();
    let found = py.detach(|| -> fairgame::Result<Evaluation> {
        let table = table.table()?;
        let mut problem = Problem::parse(&spec.label, &spec.objective, &spec.constraints)?;
        if spec.skip_empty_groups {
            problem = problem.skip_empty_groups();
        }
        let rows = Weighted { table: &table, weights: weights.as_deref() };
        let (bound, _) = problem.bind(rows, &[])?;
        let decisions = Decisions::Probabilities(&chances);
        let (weights, units) = (weights.as_deref(), units.as_deref());
        evaluate::evaluate_by_unit(&bound, &table, weights, units, decisions, confidence)
    });
    let found = serde_json::to_string(&found.map_err(failed)?).map_err(json_failed)?;
    Ok((found, without_unit(units.as_deref()).into_iter().collect()))
}

/// How groups fare under anyone's decisions, as chances of a positive one: as JSON; and what to know of it.
///
/// `by` has lists of columns. Without a label, only selection rates are compared; with scores, there is an AUC.
#[pyfunction]
#[pyo3(signature = (by, label, table, chances, scores=None, weight=None, confidence=0.95, units=None))]
#[expect(clippy::too_many_arguments, reason = "they are named in Python")]
fn groups(
    py: Python<'_>,
    by: Vec<Vec<String>>,
    label: Option<&str>,
    table: &PyTable,
    chances: PyReadonlyArray1<'_, f64>,
    scores: Option<PyReadonlyArray1<'_, f64>>,
    weight: Option<PyReadonlyArray1<'_, f64>>,
    confidence: f64,
    units: Option<&PyTable>,
) -> PyResult<(String, Vec<String>)> {
    let (weights, units) = (weights(weight), units_of(units)?);
    let chances: Vec<f64> = chances.as_array().iter().copied().collect();
    let scores: Option<Vec<f64>> = scores.map(|scores| scores.as_array().iter().copied().collect());
    let found = py.detach(|| -> fairgame::Result<GroupsFound> {
        evaluate::check_confidence(confidence)?;
        let mut audit = GroupAudit::new(&by)?;
        if let Some(label) = label {
            audit = audit.with_label(label)?;
        }
        let (weights, units) = (weights.as_deref(), units.as_deref());
        let decisions = Some(Decisions::Probabilities(&chances));
        audit.add(&*table.table()?, weights, units, decisions, scores.as_deref())?;
        audit.finish(confidence)
    });
    let found = found.map_err(failed)?;
    let mut notes: Vec<String> = without_unit(units.as_deref()).into_iter().collect();
    notes.extend(match found.unlabelled {
        0 => None,
        1 => Some("1 row without a label counts as negative".to_owned()),
        rows => Some(format!("{rows} rows without a label count as negative")),
    });
    Ok((serde_json::to_string(&found).map_err(json_failed)?, notes))
}

/// What the checks of data find, as JSON: a list of findings, each with its message.
#[pyfunction]
#[pyo3(signature = (policy, table, threads=1))]
fn check_data(py: Python<'_>, policy: &str, table: &PyTable, threads: usize) -> PyResult<String> {
    let given: Value = serde_json::from_str(policy).map_err(json_failed)?;
    // Without a label it would be no complete policy.
    let spec = Spec::from_value(&given).map_err(|wrong| failed(wrong.into()))?;
    let found = py.detach(|| train::check(&spec, table, threads)).map_err(failed)?;
    let document = |finding: &Finding| {
        let mut document = serde_json::to_value(finding)?;
        document["serious"] = finding.is_serious().into();
        document["message"] = finding.to_string().into();
        Ok(document)
    };
    let found = found.iter().map(document).collect::<Result<Vec<Value>, serde_json::Error>>();
    serde_json::to_string(&found.map_err(json_failed)?).map_err(json_failed)
}

#[pymodule]
fn _fairgame(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<PyTable>()?;
    module.add_class::<PyClassifier>()?;
    module.add_class::<PyGame>()?;
    module.add_class::<PySums>()?;
    module.add_class::<PyShard>()?;
    module.add_function(wrap_pyfunction!(printable, module)?)?;
    module.add_function(wrap_pyfunction!(shown, module)?)?;
    module.add_function(wrap_pyfunction!(bytes_of, module)?)?;
    module.add_function(wrap_pyfunction!(write_whole, module)?)?;
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(settings, module)?)?;
    module.add_function(wrap_pyfunction!(train::train, module)?)?;
    module.add_function(wrap_pyfunction!(shards::train_shards, module)?)?;
    module.add_function(wrap_pyfunction!(shards::files, module)?)?;
    module.add_function(wrap_pyfunction!(train::folds, module)?)?;
    module.add_function(wrap_pyfunction!(train::patterns, module)?)?;
    module.add_function(wrap_pyfunction!(audit, module)?)?;
    module.add_function(wrap_pyfunction!(groups, module)?)?;
    module.add_function(wrap_pyfunction!(check_data, module)?)?;
    Ok(())
}
