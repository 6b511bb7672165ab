//! Training from Python.

use std::ops::ControlFlow;
use std::path::PathBuf;

use fairgame::table::{Feed, Missing, ReadOptions, Source};
use fairgame::train::{
    Checkpoints, Data, Finding, FoldRows, Outcome, Pass, Plan, Shape, Sheet, Spec, Stream, Streams,
    Trained, Turn, Watch, check_data,
};
use fairgame::{Store, Threads, bytes_of, printable};
use numpy::PyArray1;
use pyo3::prelude::*;
use serde_json::json;

use crate::classifier::PyClassifier;
use crate::table::PyTable;
use crate::{failed, spec};

/// Python's signals and its callback, called by the thread that trains.
pub(crate) struct Called {
    progress: Option<Py<PyAny>>,
    /// An exception that Python raised while it was called back, Ctrl-C above all.
    raised: Option<PyErr>,
}

impl Called {
    /// Calls Python, and says whether to go on.
    fn call(&mut self, done: u64, total: u64) -> ControlFlow<()> {
        // Once something was raised, Python is not called again: games that run on only end.
        if self.raised.is_none() {
            let told = Python::attach(|py| -> PyResult<()> {
                py.check_signals()?;
                if let Some(progress) = &self.progress {
                    progress.call1(py, (done, total))?;
                }
                Ok(())
            });
            self.raised = told.err();
        }
        match self.raised {
            None => ControlFlow::Continue(()),
            Some(_) => ControlFlow::Break(()),
        }
    }
}

impl Watch for Called {
    fn pass(&mut self, pass: &Pass) -> ControlFlow<()> {
        self.call(pass.rows, pass.of.unwrap_or(0))
    }

    fn turn(&mut self, turn: &Turn) -> ControlFlow<()> {
        self.call(turn.done, turn.total)
    }
}

/// What Python may print.
fn message(notice: &impl ToString) -> String {
    printable(&notice.to_string()).into_owned()
}

/// Rows to train on.
#[derive(FromPyObject)]
pub(crate) enum Given {
    Table(Py<PyTable>),
    /// The names of files, which may be larger than memory.
    Files(Vec<String>),
}

impl Given {
    fn rows(&self) -> Option<usize> {
        match self {
            Given::Table(table) => Some(table.get().rows()),
            Given::Files(_) => None,
        }
    }

    /// The rows; of files, `missing` says what stands for a missing value.
    fn feed(&self, missing: &Missing) -> fairgame::Result<Feed<'_>> {
        match self {
            Given::Table(table) => Ok(table.get().feed(GIVEN)),
            Given::Files(names) => {
                let sources = names.iter().map(|name| Source::parse(name));
                let sources = sources.collect::<fairgame::Result<Vec<_>>>()?;
                let options = ReadOptions { missing: missing.clone(), ..ReadOptions::default() };
                Feed::open(names.join(", "), sources, options)
            }
        }
    }
}

/// What messages call the rows.
const GIVEN: &str = "rows given from Python";

pub(crate) fn sheet(table: &PyTable) -> fairgame::Result<Sheet<'_>> {
    Ok(Sheet { table: table.table()?, weights: None, source: GIVEN.to_owned() })
}

/// The rows of a training or of its folds, as tables.
pub(crate) fn data<'a>(train: &'a PyTable, val: Option<&'a PyTable>) -> fairgame::Result<Data<'a>> {
    Ok(Data::from(sheet(train)?).with_val(val.map(sheet).transpose()?))
}

/// The rows of each fold: those to train a model on, those set aside, and those that judge it.
#[pyfunction]
#[pyo3(signature = (policy, train, val=None))]
pub(crate) fn folds<'py>(
    py: Python<'py>,
    policy: &str,
    train: &PyTable,
    val: Option<&PyTable>,
) -> PyResult<Vec<[Bound<'py, PyArray1<u32>>; 3]>> {
    let spec = spec(policy)?;
    let found = py.detach(|| {
        let data = data(train, val)?;
        spec.plan(&data.shape())?.folds(data)
    });
    let arrays = |fold: FoldRows| {
        [fold.teach, fold.aside, fold.judge].map(|rows| PyArray1::from_vec(py, rows))
    };
    Ok(found.map_err(failed)?.into_iter().map(arrays).collect())
}

/// How many patterns there are, the pattern of each training row, and sets of patterns.
type Found<'py> = (usize, Bound<'py, PyArray1<u32>>, Vec<Vec<u32>>);

/// What features do not tell of the rows: their patterns of label and groups, and the sets of patterns whose probabilities
/// rules need beside that of the label.
#[pyfunction]
#[pyo3(signature = (policy, train, val=None))]
pub(crate) fn patterns<'py>(
    py: Python<'py>,
    policy: &str,
    train: &PyTable,
    val: Option<&PyTable>,
) -> PyResult<Found<'py>> {
    let spec = spec(policy)?;
    let found = py.detach(|| {
        let data = data(train, val)?;
        Ok(spec.plan(&data.shape())?.prepare(data)?.patterns())
    });
    let found = found.map_err(failed)?;
    let (count, of_rows, sets) =
        found.map_or_else(Default::default, |found| (found.count, found.of_rows, found.sets));
    Ok((count, PyArray1::from_vec(py, of_rows), sets))
}

/// The classifier, and what the training came to as JSON.
pub(crate) type Result = (PyClassifier, String);

/// How to train.
pub(crate) struct Settings<'a> {
    pub(crate) policy: &'a str,
    pub(crate) threads: usize,
    /// Plenty of rows take so many bytes, or half of what is free; beyond it they are on disk.
    pub(crate) memory: Option<&'a str>,
    /// The folder that games are saved to, and whether to go on from there.
    pub(crate) checkpoint: Option<PathBuf>,
    pub(crate) resume: bool,
}

/// Trains: the classifier, and what the training came to as JSON.
///
/// Label and weights are columns, named in the policy. Without `val`, and with two datasets in the policy, a
/// seeded part of `train` is the constraint player's. `progress` is called now and then with turn and turns; what
/// it raises ends the training. Plenty of rows take so many bytes of `memory`, or half of what is free; beyond it they are on
/// disk.
#[pyfunction]
#[pyo3(signature = (policy, train, val=None, threads=1, progress=None, memory=None))]
pub(crate) fn train(
    py: Python<'_>,
    policy: &str,
    train: Given,
    val: Option<Given>,
    threads: usize,
    progress: Option<Py<PyAny>>,
    memory: Option<&str>,
) -> PyResult<Result> {
    let settings = Settings { policy, threads, memory, checkpoint: None, resume: false };
    let shape = Shape { rows: train.rows(), validation: val.is_some(), test: false };
    trained_by(py, (&settings, shape), progress, |plan, watch| {
        let missing = &plan.spec().missing;
        let val = val.as_ref().map(|val| val.feed(missing)).transpose()?;
        let streams =
            Streams { train: train.feed(missing)?.into(), val: val.map(Stream::from), test: None };
        plan.run_streams(streams, watch)
    })
}

/// Trains as `run` says, once the plan is made.
pub(crate) fn trained_by(
    py: Python<'_>,
    (settings, shape): (&Settings<'_>, Shape),
    progress: Option<Py<PyAny>>,
    run: impl FnOnce(&Plan, &mut Called) -> fairgame::Result<Outcome> + Send,
) -> PyResult<Result> {
    let spec = spec(settings.policy)?;
    let mut watch = Called { progress, raised: None };
    let outcome = py.detach(|| {
        let folder = settings.checkpoint.clone();
        let resume = settings.resume;
        let checkpoints = folder.map(|folder| Checkpoints { folder, every: None, resume });
        let memory = settings.memory.map(bytes_of).transpose()?;
        let store = memory.map_or_else(Store::half_of_free, |bytes| Store::new(bytes as u64));
        let plan = spec.plan(&shape)?.with_threads(Threads::new(settings.threads));
        run(&plan.with_checkpoints(checkpoints).with_store(store), &mut watch)
    });
    if let Some(error) = watch.raised {
        return Err(error);
    }
    let trained = outcome.and_then(|outcome| outcome.trained()).map_err(failed)?;
    let result = result_of(&trained);
    Ok((PyClassifier(trained.classifier), result))
}

/// What the checks of data find.
pub(crate) fn check(
    spec: &Spec,
    table: &PyTable,
    threads: usize,
) -> fairgame::Result<Vec<Finding>> {
    check_data(spec, &*table.table()?, &Threads::new(threads))
}

/// What a training came to beside the classifier, as JSON.
pub(crate) fn result_of(trained: &Trained) -> String {
    let notices: Vec<String> = trained.notices.iter().map(message).collect();
    let warnings: Vec<String> = trained.warnings.iter().map(message).collect();
    let result = json!({
        "turns": trained.turns,
        "notices": notices,
        "warnings": warnings,
        "multipliers": trained.mean_lambda.constraints,
    });
    result.to_string()
}
