//! Shards of a training, and who asks them, from Python.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use fairgame::table::{Feed, ReadOptions, Runs, Source, Table};
use fairgame::train::{Driver, Engine, Shape, Shard};
use fairgame::{Error, ErrorKind, Result, Threads};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::failed;
use crate::table::PyTable;
use crate::train::{self, Settings, trained_by};

/// A run of rows.
#[derive(FromPyObject)]
enum Run {
    Table(Py<PyTable>),
    File(String),
}

/// A table that Python holds.
struct Held(Py<PyTable>);

impl Runs for Held {
    fn rows(&self) -> usize {
        self.0.get().rows()
    }

    fn run(&self, rows: std::ops::Range<usize>) -> Result<Table> {
        Runs::run(&self.0.get(), rows)
    }
}

/// Some of the rows of a training.
#[pyclass(frozen, module = "fairgame._fairgame", name = "Shard")]
pub(crate) struct PyShard(Mutex<Shard>);

#[pymethods]
impl PyShard {
    /// Of runs of rows: each with its number among all runs, its name, and a table or the name of a file.
    #[new]
    #[pyo3(signature = (runs, threads=1))]
    fn new(py: Python<'_>, runs: Vec<(u32, String, Run)>, threads: usize) -> PyResult<Self> {
        let open = |(number, name, run): (u32, String, Run)| -> Result<(u32, Feed<'static>)> {
            Ok((
                number,
                match run {
                    Run::Table(table) => Feed::runs(name, Held(table)),
                    Run::File(path) => {
                        Feed::open(name, [Source::parse(&path)?], ReadOptions::default())?
                    }
                },
            ))
        };
        let runs = py.detach(|| runs.into_iter().map(open).collect::<Result<Vec<_>>>());
        Ok(PyShard(Mutex::new(Shard::new(runs.map_err(failed)?, Threads::new(threads)))))
    }

    /// The answer to a question of `train_shards`. An error is an answer, too.
    fn answer<'py>(&self, py: Python<'py>, question: &[u8]) -> Bound<'py, PyBytes> {
        let answer =
            py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).answer(question));
        PyBytes::new(py, &answer)
    }
}

/// What Python raised while it asked shards.
type Raised = Arc<Mutex<Option<PyErr>>>;

/// A function of Python that asks shards.
struct Asking {
    ask: Py<PyAny>,
    raised: Raised,
}

impl Engine for Asking {
    fn ask(&mut self, question: &[u8], keep: Option<usize>) -> Result<Vec<Vec<u8>>> {
        let answers = Python::attach(|py| -> PyResult<Vec<Vec<u8>>> {
            let answers = self.ask.bind(py).call1((PyBytes::new(py, question), keep))?;
            let answer = |one: PyResult<Bound<'_, PyAny>>| {
                Ok(one?.cast_into::<PyBytes>()?.as_bytes().to_vec())
            };
            answers.try_iter()?.map(answer).collect()
        });
        answers.map_err(|error| {
            *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            Error::new(ErrorKind::Io, "the shards cannot be asked")
        })
    }
}

/// Trains on rows that shards have: the classifier, and what the training came to as JSON.
///
/// `ask` is called with a question, and with None or a number: how many of the questions that were remembered stay, before this
/// one is remembered behind them. It returns the answers of all shards.
#[pyfunction]
#[pyo3(signature = (policy, ask, name, threads=1, progress=None, memory=None, checkpoint=None, resume=false))]
#[expect(clippy::too_many_arguments, reason = "they are named in Python")]
pub(crate) fn train_shards(
    py: Python<'_>,
    policy: &str,
    ask: Py<PyAny>,
    name: String,
    threads: usize,
    progress: Option<Py<PyAny>>,
    memory: Option<&str>,
    checkpoint: Option<PathBuf>,
    resume: bool,
) -> PyResult<train::Result> {
    let settings = Settings { policy, threads, memory, checkpoint, resume };
    let raised = Raised::default();
    let driver = Driver::new(Asking { ask, raised: Arc::clone(&raised) }, name);
    let how = (&settings, Shape::default());
    let trained = trained_by(py, how, progress, |plan, watch| plan.run_shards(driver, watch));
    match raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(error) => Err(error),
        None => trained,
    }
}

/// The files that a path names: itself, or those of a folder, in their order.
#[pyfunction]
pub(crate) fn files(path: &str) -> PyResult<Vec<String>> {
    let found = fairgame::table::files(&PathBuf::from(path)).map_err(failed)?;
    Ok(found.into_iter().map(|file| file.display().to_string()).collect())
}
