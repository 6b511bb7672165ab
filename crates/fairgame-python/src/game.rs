//! A game whose model player is in Python: scores in, slopes out.

use std::sync::{Mutex, PoisonError};

use fairgame::rate::{LossValues, Side};
use fairgame::train::{Data, Outside, Whose};
use fairgame::{Error, ErrorKind, Threads};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::classifier::PyClassifier;
use crate::table::PyTable;
use crate::train::{result_of, sheet};
use crate::{failed, spec};

/// A game whose model player is in Python. After `finish` there is none.
#[pyclass(frozen, module = "fairgame._fairgame", name = "Game")]
pub(crate) struct PyGame(Mutex<Option<Outside>>);

/// ℓ₀, and ℓ₁ … ℓ_m.
type Losses<'py> = (f64, Bound<'py, PyArray1<f64>>);

/// The classifier over columns of scores; what the training came to, as JSON; and the column of each model that it has,
/// with its number among those kept.
type Finished = (PyClassifier, String, Vec<(String, usize)>);

fn losses(py: Python<'_>, found: LossValues) -> Losses<'_> {
    (found.objective, found.constraints.into_pyarray(py))
}

fn whose(val: bool) -> Whose {
    if val { Whose::Val } else { Whose::Train }
}

impl PyGame {
    fn with<R>(&self, run: impl FnOnce(&mut Outside) -> fairgame::Result<R>) -> PyResult<R> {
        let mut game = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let over = || Error::new(ErrorKind::Value, "the game is over: its mixture was selected");
        game.as_mut().ok_or_else(over).and_then(run).map_err(failed)
    }
}

/// Rows and their scores, as the library has them.
fn given(
    rows: Option<&PyReadonlyArray1<'_, u32>>,
    scores: &PyReadonlyArray1<'_, f32>,
) -> (Option<Vec<u32>>, Vec<f32>) {
    let rows = rows.map(|rows| rows.as_array().iter().copied().collect());
    (rows, scores.as_array().iter().copied().collect())
}

#[pymethods]
impl PyGame {
    #[new]
    #[pyo3(signature = (policy, name, train, val=None, threads=1))]
    fn new(
        py: Python<'_>,
        policy: &str,
        name: &str,
        train: &PyTable,
        val: Option<&PyTable>,
        threads: usize,
    ) -> PyResult<Self> {
        let spec = spec(policy)?;
        let game = py.detach(|| {
            let own = |table| sheet(table).map(|sheet| sheet.owned_rows());
            let data = Data::from(own(train)?).with_val(val.map(own).transpose()?);
            Outside::new(&spec, name, data, &Threads::new(threads))
        });
        Ok(PyGame(Mutex::new(Some(game.map_err(failed)?))))
    }

    /// The slope of the Lagrangian in the score of each of some training rows, or of all.
    #[pyo3(signature = (scores, rows=None))]
    fn slopes<'py>(
        &self,
        py: Python<'py>,
        scores: PyReadonlyArray1<'_, f32>,
        rows: Option<PyReadonlyArray1<'_, u32>>,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let (rows, scores) = given(rows.as_ref(), &scores);
        let slopes = self.with(|game| game.slopes(rows.as_deref(), &scores))?;
        Ok(slopes.into_pyarray(py))
    }

    /// The losses of scores, or their proxies: of training rows, or of the constraint player's.
    #[pyo3(signature = (scores, rows=None, val=false, proxy=false))]
    fn measure<'py>(
        &self,
        py: Python<'py>,
        scores: PyReadonlyArray1<'_, f32>,
        rows: Option<PyReadonlyArray1<'_, u32>>,
        val: bool,
        proxy: bool,
    ) -> PyResult<Losses<'py>> {
        let (rows, scores) = given(rows.as_ref(), &scores);
        let side = if proxy { Side::Proxy } else { Side::Exact };
        let found = self.with(|game| game.measure(whose(val), side, rows.as_deref(), &scores))?;
        Ok(losses(py, found))
    }

    /// Ends a turn: the constraint player learns from the scores of its rows.
    #[pyo3(signature = (scores, rows=None))]
    fn judge<'py>(
        &self,
        py: Python<'py>,
        scores: PyReadonlyArray1<'_, f32>,
        rows: Option<PyReadonlyArray1<'_, u32>>,
    ) -> PyResult<Losses<'py>> {
        let (rows, scores) = given(rows.as_ref(), &scores);
        let found = self.with(|game| game.judge(rows.as_deref(), &scores))?;
        Ok(losses(py, found))
    }

    /// Keeps the model of this turn by its scores of all rows of each player.
    #[pyo3(signature = (train, val=None))]
    fn keep(
        &self,
        train: PyReadonlyArray1<'_, f32>,
        val: Option<PyReadonlyArray1<'_, f32>>,
    ) -> PyResult<()> {
        let all = |scores: &PyReadonlyArray1<'_, f32>| scores.as_array().iter().copied().collect();
        self.with(|game| game.keep(all(&train), val.as_ref().map(all)))
    }

    /// Selects the mixture, and ends the game.
    fn finish(&self, py: Python<'_>) -> PyResult<Finished> {
        let game = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let over = || Error::new(ErrorKind::Value, "the game is over: its mixture was selected");
        let selected = py.detach(|| game.ok_or_else(over).and_then(Outside::finish));
        let selected = selected.map_err(failed)?;
        let result = result_of(&selected.trained);
        Ok((PyClassifier(selected.trained.classifier), result, selected.columns))
    }

    /// The names of the constraints.
    #[getter]
    fn constraints(&self) -> PyResult<Vec<String>> {
        self.with(|game| Ok(game.constraints().into_iter().map(str::to_owned).collect()))
    }

    /// What the constraint player plays: the objective's weight, then that of each constraint.
    #[getter]
    fn multipliers<'py>(&self, py: Python<'py>) -> PyResult<Losses<'py>> {
        self.with(|game| {
            let lambda = game.lambda();
            Ok((lambda.objective, lambda.constraints.clone().into_pyarray(py)))
        })
    }

    /// How many turns were played, how many there are, and how many models were kept.
    #[getter]
    fn turns(&self) -> PyResult<(u64, u64, usize)> {
        self.with(|game| Ok((game.turn(), game.turns(), game.kept())))
    }

    /// Whether the model of this turn is one to keep.
    #[getter]
    fn keeps(&self) -> PyResult<bool> {
        self.with(|game| Ok(game.keeps()))
    }

    /// How many rows the players have.
    #[getter]
    fn rows(&self) -> PyResult<(usize, usize)> {
        self.with(|game| Ok((game.rows(Whose::Train), game.rows(Whose::Val))))
    }
}
