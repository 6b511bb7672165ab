//! Training from Python.

use std::ops::ControlFlow;

use fairgame::train::{Data, RecordedPart, WeightedRows};
use pyo3::prelude::*;
use serde_json::json;

use crate::classifier::PyClassifier;
use crate::table::PyTable;
use crate::{failed, spec};

/// How sure the verdicts that a model file remembers are.
const CONFIDENCE: f64 = 0.95;

/// Trains: the classifier, and what the training came to as JSON.
///
/// Label and weights are columns, named in the policy. Without `val`, and with two datasets in the policy, a
/// seeded part of `train` is the constraint player's. `progress` is called now and then with turn and turns; what
/// it raises ends the training.
#[pyfunction]
#[pyo3(signature = (policy, train, val=None, threads=1, progress=None))]
pub(crate) fn train(
    py: Python<'_>,
    policy: &str,
    train: &PyTable,
    val: Option<&PyTable>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(PyClassifier, String)> {
    let spec = spec(policy)?;
    // An exception that Python raised while it was called back, Ctrl-C above all.
    let mut raised: Option<PyErr> = None;
    let made = py.detach(|| -> fairgame::Result<_> {
        let divided = spec.divide(train.0.clone(), val.is_some())?;
        let own = spec.rows(divided.train)?;
        let val = val.map(|val| val.0.clone()).or(divided.val);
        let val = val.map(|val| spec.rows(val)).transpose()?;
        let test = divided.test.map(|test| spec.rows(test)).transpose()?;
        let data = Data { train: own.weighted(), val: val.as_ref().map(WeightedRows::weighted) };
        let training = spec.prepare(&data)?;
        let played = training.play_all(threads, None, &mut |told| {
            let told = Python::attach(|py| -> PyResult<()> {
                py.check_signals()?;
                if let Some(progress) = &progress {
                    progress.call1(py, (told.done, told.turns))?;
                }
                Ok(())
            });
            match told {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    raised = Some(error);
                    ControlFlow::Break(())
                }
            }
        })?;
        if raised.is_some() {
            return Ok(None);
        }
        let mut trained = training.finish_all(&played, threads)?;
        let mut found = trained.judge(&data, CONFIDENCE)?;
        if let Some(WeightedRows { table, weights }) = &test {
            let weights = weights.as_deref();
            found.push(("test", trained.classifier.evaluate(table, weights, CONFIDENCE)?));
        }
        let mut parts = Vec::new();
        for (part, evaluation) in found {
            let source = "rows given from Python".to_owned();
            parts.push(RecordedPart { part: part.to_owned(), source, evaluation });
        }
        let record = trained.record(parts);
        trained.classifier.keep_record(&record)?;
        let notices: Vec<String> = trained.notices.iter().map(ToString::to_string).collect();
        let result = json!({
            "turns": trained.turns,
            "notices": notices,
            "warnings": record.warnings,
            "multipliers": trained.mean_lambda.constraints,
        });
        Ok(Some((trained.classifier, result.to_string())))
    });
    match (raised, made.map_err(failed)?) {
        (None, Some((classifier, result))) => Ok((PyClassifier(classifier), result)),
        (Some(error), _) => Err(error),
        (None, None) => Err(pyo3::exceptions::PyRuntimeError::new_err("the training was stopped")),
    }
}
