//! Every run of every experiment, by all cores; finished ones are kept, and not run again.
//!
//! A run is a pure function of its experiment, case, number and seed, and is trained by one thread, so the
//! numbers do not depend on how many threads there are or when anything was interrupted. Each finished run is a
//! line of JSON in `runs/NAME-HASH.jsonl`; the hash is of every training's complete settings, so a change of these
//! begins a new file.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use fairgame::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::experiment::{Experiment, Settings};
use crate::run::{Came, Shelf, cases, identity, run};

/// What to run, and where to keep it.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Which experiments.
    pub experiments: Vec<Experiment>,
    /// How many runs of each; of the simulated data a tenth, as in the paper.
    pub runs: u64,
    /// The seed of the first run; the others follow.
    pub seed: u64,
    /// At most so many turns a training: for a quick look.
    pub turns: Option<u64>,
    /// Where finished runs are kept.
    pub folder: PathBuf,
    /// How many threads.
    pub threads: usize,
}

/// All runs of one experiment: by case, and by number.
pub type Runs = BTreeMap<(usize, u64), Vec<Came>>;

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// The share of the work that is done, those runs included that were found done.
    pub done: f64,
    /// The share that was found done.
    pub found: f64,
    /// Of which experiment the last run was.
    pub experiment: Experiment,
    /// Runs done.
    pub runs: usize,
    /// Of so many.
    pub of: usize,
}

#[derive(Serialize, Deserialize)]
struct Line {
    case: usize,
    run: u64,
    came: Vec<Came>,
    /// How long it took, of one core.
    seconds: f64,
}

/// What a plan came to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CarriedOut {
    /// The runs of each experiment.
    pub runs: BTreeMap<Experiment, Runs>,
    /// How long they took together, of one core, whenever they were run.
    pub seconds: f64,
}

#[derive(Clone, Copy)]
struct Job {
    experiment: Experiment,
    case: usize,
    run: u64,
}

impl Plan {
    /// How an experiment is trained under this plan.
    pub fn settings(&self, experiment: Experiment) -> Settings {
        Settings::of(experiment).shortened(self.turns)
    }

    /// How many runs an experiment has of each case.
    pub fn runs_of(&self, experiment: Experiment) -> u64 {
        match experiment {
            Experiment::Simulated => self.runs.div_ceil(10).max(1),
            _ => self.runs.max(1),
        }
    }

    /// Runs what is not yet done.
    ///
    /// # Errors
    /// If a run fails, or the folder cannot be written to; what was finished is kept.
    pub fn carry_out(&self, mut progress: impl FnMut(Progress)) -> Result<CarriedOut> {
        let mut stores = BTreeMap::new();
        let mut done = CarriedOut::default();
        let mut jobs = Vec::new();
        let (mut total, mut found, mut of) = (0.0, 0.0, 0);
        for &experiment in &self.experiments {
            let settings = self.settings(experiment);
            let (store, runs) =
                Store::open(&self.folder.join("runs"), experiment, &settings, self.seed)?;
            let runs_of = self.runs_of(experiment);
            let wanted =
                (0..cases(experiment)).flat_map(|case| (0..runs_of).map(move |run| (case, run)));
            let mut kept = Runs::new();
            for (key, (came, seconds)) in runs {
                if key.0 < cases(experiment) && key.1 < runs_of {
                    kept.insert(key, came);
                    done.seconds += seconds;
                }
            }
            for key in wanted {
                total += cost(experiment);
                of += 1;
                if kept.contains_key(&key) {
                    found += cost(experiment);
                } else {
                    jobs.push(Job { experiment, case: key.0, run: key.1 });
                }
            }
            stores.insert(experiment, store);
            done.runs.insert(experiment, kept);
        }
        // Long ones first, so that no core is left waiting for one at the end.
        jobs.sort_by(|a, b| cost(b.experiment).total_cmp(&cost(a.experiment)));
        let (mut spent, mut runs) = (found, of - jobs.len());
        let mut tell = |experiment, spent: f64, runs| {
            let share = |part: f64| if total > 0.0 { part / total } else { 1.0 };
            progress(Progress { done: share(spent), found: share(found), experiment, runs, of });
        };
        if let Some(&first) = self.experiments.first() {
            tell(first, spent, runs);
        }
        self.work(&jobs, |job, came, seconds| {
            let store = stores.get_mut(&job.experiment);
            store.map_or(Ok(()), |store| store.keep(job, &came, seconds))?;
            done.runs.entry(job.experiment).or_default().insert((job.case, job.run), came);
            done.seconds += seconds;
            spent += cost(job.experiment);
            runs += 1;
            tell(job.experiment, spent, runs);
            Ok(())
        })?;
        Ok(done)
    }

    /// Runs jobs on threads of their own, and hands on what each came to, in whatever order they finish.
    fn work(
        &self,
        jobs: &[Job],
        mut take: impl FnMut(Job, Vec<Came>, f64) -> Result<()>,
    ) -> Result<()> {
        let next = AtomicUsize::new(0);
        let shelf = Shelf::default();
        let (send, receive) = mpsc::channel();
        thread::scope(|scope| {
            for _ in 0..self.threads.clamp(1, jobs.len().max(1)) {
                let send = send.clone();
                let (next, shelf) = (&next, &shelf);
                scope.spawn(move || {
                    while let Some(&job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let settings = self.settings(job.experiment);
                        let seed = self.seed.wrapping_add(job.run);
                        let start = Instant::now();
                        let came = run(job.experiment, &settings, job.case, seed, shelf);
                        let seconds = start.elapsed().as_secs_f64();
                        if send.send((job, came, seconds)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(send);
            let mut result = Ok(());
            for (job, came, seconds) in receive {
                let taken = came.and_then(|came| take(job, came, seconds)).map_err(|error| {
                    error.at(format!("{}, run {}", job.experiment.name(), job.run + 1))
                });
                if taken.is_err() && result.is_ok() {
                    // The others finish the run they are at.
                    next.store(jobs.len(), Ordering::Relaxed);
                    result = taken;
                }
            }
            result
        })
    }
}

/// About how many seconds of one core a run takes; only the ratios matter.
fn cost(experiment: Experiment) -> f64 {
    match experiment {
        Experiment::Simulated => 13.0,
        Experiment::Communities => 2.5,
        Experiment::Entities => 7.0,
        Experiment::Adult => 11.0,
        Experiment::Compas => 3.5,
    }
}

/// To be raised with every change of the code that changes a run's numbers: what was kept is then not of use.
const NUMBERS: u32 = 2;

/// What was found done, and how long each took.
type Found = BTreeMap<(usize, u64), (Vec<Came>, f64)>;

/// The finished runs of one experiment, line by line.
struct Store {
    path: PathBuf,
    file: File,
}

impl Store {
    fn open(
        folder: &Path,
        experiment: Experiment,
        settings: &Settings,
        seed: u64,
    ) -> Result<(Self, Found)> {
        fs::create_dir_all(folder).map_err(|error| {
            Error::new(ErrorKind::Io, format!("the folder cannot be made: {error}"))
                .at(folder.display())
        })?;
        let text = serde_json::to_string(&(NUMBERS, identity(experiment, settings)?, seed))
            .map_err(|error| {
                Error::new(ErrorKind::Settings, format!("no JSON can be made: {error}"))
            })?;
        let hash: String =
            Sha256::digest(text).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        let path = folder.join(format!("{}-{hash}.jsonl", experiment.name()));
        let before = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => {
                let message = format!("finished runs cannot be read: {error}");
                return Err(Error::new(ErrorKind::Io, message).at(path.display()));
            }
        };
        // A line that was being written when the program was killed is run again.
        let lines = before.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok());
        let runs = lines.map(|line| ((line.case, line.run), (line.came, line.seconds))).collect();
        let file = File::options().create(true).append(true).open(&path).map_err(|error| {
            Error::new(ErrorKind::Io, format!("finished runs cannot be kept: {error}"))
                .at(path.display())
        })?;
        let mut store = Store { path, file };
        if !(before.is_empty() || before.ends_with('\n')) {
            store.write("\n")?;
        }
        Ok((store, runs))
    }

    fn keep(&mut self, job: Job, came: &[Came], seconds: f64) -> Result<()> {
        let line = Line { case: job.case, run: job.run, came: came.to_vec(), seconds };
        let mut text = serde_json::to_string(&line).map_err(|error| {
            Error::new(ErrorKind::Value, format!("no JSON can be made: {error}"))
        })?;
        text.push('\n');
        self.write(&text)
    }

    fn write(&mut self, text: &str) -> Result<()> {
        self.file.write_all(text.as_bytes()).map_err(|error| {
            Error::new(ErrorKind::Io, format!("a finished run cannot be kept: {error}"))
                .help("check that the disk has room; what was finished before is kept")
                .at(self.path.display())
        })
    }
}
