//! Sums of an evaluation or an audit, which several processes make and one adds up.

use std::sync::{Mutex, PoisonError};

use fairgame::evaluate::{Accumulator, Audit, Decisions};
use fairgame::rate::Problem;
use fairgame::{Error, ErrorKind};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::classifier::PyClassifier;
use crate::table::PyTable;
use crate::{evaluated, failed, json_failed, spec, units_of, weights};

/// Sums over rows; after `finish` of an audit there are none.
#[pyclass(frozen, module = "fairgame._fairgame", name = "Sums")]
pub(crate) struct PySums(Mutex<Option<Of>>);

/// What the rows are judged by.
enum Of {
    /// A classifier's problem.
    Classifier(Box<Accumulator>),
    /// A problem that is bound to the rows themselves.
    Policy(Box<Audit>),
}

impl PySums {
    fn with<R>(&self, run: impl FnOnce(&mut Of) -> fairgame::Result<R>) -> PyResult<R> {
        let mut sums = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let over = || Error::new(ErrorKind::Value, "the sums were judged already");
        sums.as_mut().ok_or_else(over).and_then(run).map_err(failed)
    }
}

#[pymethods]
impl PySums {
    /// Sums of no rows yet, for the problem of a classifier.
    #[staticmethod]
    fn of_classifier(classifier: &PyClassifier) -> Self {
        let sums = Accumulator::new(classifier.0.bound());
        PySums(Mutex::new(Some(Of::Classifier(Box::new(sums)))))
    }

    /// Sums of no rows yet, for the problem of a policy, which is bound to the rows at the end.
    #[staticmethod]
    fn of_policy(policy: &str) -> PyResult<Self> {
        let spec = spec(policy)?;
        let problem = Problem::parse(&spec.label, &spec.objective, &spec.constraints);
        let mut problem = problem.map_err(failed)?;
        if spec.skip_empty_groups {
            problem = problem.skip_empty_groups();
        }
        Ok(PySums(Mutex::new(Some(Of::Policy(Box::new(Audit::new(&problem)))))))
    }

    /// Adds rows and the chances that they are decided positive.
    #[pyo3(signature = (table, chances, weight=None, units=None))]
    fn add(
        &self,
        py: Python<'_>,
        table: &PyTable,
        chances: PyReadonlyArray1<'_, f64>,
        weight: Option<PyReadonlyArray1<'_, f64>>,
        units: Option<&PyTable>,
    ) -> PyResult<()> {
        let (weights, units) = (weights(weight), units_of(units)?);
        let chances: Vec<f64> = chances.as_array().iter().copied().collect();
        py.detach(|| {
            self.with(|sums| {
                let (table, decisions) = (table.table()?, Decisions::Probabilities(&chances));
                let (weights, units) = (weights.as_deref(), units.as_deref());
                match sums {
                    Of::Classifier(all) => all.add_by_unit(&table, weights, units, decisions),
                    Of::Policy(all) => all.add_by_unit(&table, weights, units, Some(decisions)),
                }
            })
        })
    }

    /// The sums as bytes, for `merge` in another process.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.with(|sums| match sums {
            Of::Classifier(all) => all.to_bytes(),
            Of::Policy(all) => all.to_bytes(),
        });
        Ok(PyBytes::new(py, &bytes?))
    }

    /// Adds the rows whose sums are these bytes.
    fn merge(&self, bytes: &[u8]) -> PyResult<()> {
        self.with(|sums| match sums {
            Of::Classifier(all) => all.merge_bytes(bytes),
            Of::Policy(all) => all.merge_bytes(bytes),
        })
    }

    /// Rates, constraints, intervals and verdicts as JSON, and how many rows have no unit.
    fn finish(&self, py: Python<'_>, confidence: f64) -> PyResult<(String, u64)> {
        let mut sums = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let over = || Error::new(ErrorKind::Value, "the sums were judged already");
        match sums.take().ok_or_else(over).map_err(failed)? {
            Of::Classifier(all) => {
                let found = py.detach(|| all.finish(confidence)).map_err(failed)?;
                Ok((evaluated(&found)?, all.rows_without_unit()))
            }
            Of::Policy(all) => {
                let found = py.detach(|| all.finish(confidence)).map_err(failed)?;
                let text = serde_json::to_string(&found.evaluation).map_err(json_failed)?;
                Ok((text, found.without_unit))
            }
        }
    }
}
