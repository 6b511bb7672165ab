//! Every run of every experiment, by all cores; finished ones are kept, and not run again.
//!
//! A run is a pure function of its experiment, case, number and seed, and is trained by one thread, so the
//! numbers do not depend on how many threads there are or when anything was interrupted.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use fairgame::player::Start;
use fairgame::{Result, Threads};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::experiment::{Experiment, Settings};
use crate::run::{Came, Shelf, cases, identity, run};
use crate::store::{Found, Key, Store};

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
    /// Where the matrix of Algorithm 3 starts, in every experiment.
    pub start: Start,
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
    pub now: &'static str,
    /// Runs done.
    pub runs: usize,
    /// Of so many.
    pub of: usize,
}

/// What a plan came to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CarriedOut {
    /// The runs of each experiment.
    pub runs: BTreeMap<Experiment, Runs>,
    /// How long they took together, of one core, whenever they were run.
    pub seconds: f64,
}

impl Plan {
    /// How an experiment is trained under this plan.
    pub fn settings(&self, experiment: Experiment) -> Settings {
        Settings::of(experiment).starting(self.start).shortened(self.turns)
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
    pub fn carry_out(&self, progress: impl FnMut(Progress)) -> Result<CarriedOut> {
        let mut agenda = Agenda::new();
        for &experiment in &self.experiments {
            let settings = identity(experiment, &self.settings(experiment))?;
            let opened =
                Store::open(&self.folder.join("runs"), experiment.name(), &settings, self.seed)?;
            let runs = self.runs_of(experiment);
            let wanted =
                (0..cases(experiment)).flat_map(|case| (0..runs).map(move |run| (case, run)));
            agenda.add(Kind { name: experiment.name(), cost: cost(experiment) }, opened, wanted);
        }
        let shelf = Shelf::default();
        let (done, seconds) = agenda.carry_out(
            self.threads,
            |kind, (case, number)| {
                let experiment = self.experiments[kind];
                let seed = self.seed.wrapping_add(number);
                run(experiment, &self.settings(experiment), case, seed, &shelf)
            },
            progress,
        )?;
        let runs = self.experiments.iter().copied().zip(done).collect();
        Ok(CarriedOut { runs, seconds })
    }
}

/// About how many seconds of one core a run takes; only the ratios matter.
fn cost(experiment: Experiment) -> f64 {
    match experiment {
        Experiment::Simulated => 5.0,
        Experiment::Communities => 1.5,
        Experiment::Entities => 4.0,
        Experiment::Adult => 8.5,
        Experiment::Compas => 2.2,
    }
}

/// A kind of run: its name, and about how many seconds of one core it takes, of which only the ratios matter.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) cost: f64,
}

/// What there is to run, kind by kind, and what of it is done.
pub(crate) struct Agenda<T> {
    kinds: Vec<(Kind, Store)>,
    done: Vec<BTreeMap<Key, T>>,
    jobs: Vec<(usize, Key)>,
    /// How long those took that were found done.
    seconds: f64,
}

impl<T: Serialize + DeserializeOwned + Send> Agenda<T> {
    pub(crate) fn new() -> Self {
        Agenda { kinds: Vec::new(), done: Vec::new(), jobs: Vec::new(), seconds: 0.0 }
    }

    /// Adds the wanted runs of a kind, whose store was opened: those that it does not have are to be run.
    pub(crate) fn add(
        &mut self,
        kind: Kind,
        (store, mut found): (Store, Found<T>),
        wanted: impl Iterator<Item = Key>,
    ) {
        let mut done = BTreeMap::new();
        for key in wanted {
            match found.remove(&key) {
                Some((came, seconds)) => {
                    done.insert(key, came);
                    self.seconds += seconds;
                }
                None => self.jobs.push((self.kinds.len(), key)),
            }
        }
        self.kinds.push((kind, store));
        self.done.push(done);
    }

    /// Runs what is not yet done, and gives the runs of each kind, and how many seconds of one core they took.
    ///
    /// `run` is told the kind's place and the run.
    pub(crate) fn carry_out(
        mut self,
        threads: usize,
        run: impl Fn(usize, Key) -> Result<T> + Sync,
        mut progress: impl FnMut(Progress),
    ) -> Result<(Vec<BTreeMap<Key, T>>, f64)> {
        let costs: Vec<f64> = self.kinds.iter().map(|(kind, _)| kind.cost).collect();
        let found: f64 =
            self.done.iter().zip(&costs).map(|(runs, cost)| runs.len() as f64 * cost).sum();
        let total = found + self.jobs.iter().map(|(kind, _)| costs[*kind]).sum::<f64>();
        let mut runs = self.done.iter().map(BTreeMap::len).sum();
        let (of, mut spent) = (runs + self.jobs.len(), found);
        let mut tell = |now, spent: f64, runs| {
            let share = |part: f64| if total > 0.0 { part / total } else { 1.0 };
            progress(Progress { done: share(spent), found: share(found), now, runs, of });
        };
        if let Some((first, _)) = self.kinds.first() {
            tell(first.name, spent, runs);
        }
        // Long ones first, so that no core is left waiting for one at the end.
        self.jobs.sort_by(|a, b| costs[b.0].total_cmp(&costs[a.0]));
        work(threads, &self.jobs, run, |(kind, key), came, seconds| {
            let (Kind { name, cost }, store) = &mut self.kinds[kind];
            store.keep(key, &came, seconds)?;
            self.done[kind].insert(key, came);
            self.seconds += seconds;
            spent += *cost;
            runs += 1;
            tell(name, spent, runs);
            Ok(())
        })
        .map_err(|((kind, key), error)| {
            error.at(format!("{}, run {}", self.kinds[kind].0.name, key.1 + 1))
        })?;
        Ok((self.done, self.seconds))
    }
}

/// Runs jobs by several threads, and hands on what each came to, in whatever order they finish.
fn work<T: Send>(
    threads: usize,
    jobs: &[(usize, Key)],
    run: impl Fn(usize, Key) -> Result<T> + Sync,
    mut take: impl FnMut((usize, Key), T, f64) -> Result<()>,
) -> Result<(), ((usize, Key), fairgame::Error)> {
    let stop = AtomicBool::new(false);
    let mut result = Ok(());
    let play = |place: usize, tell: &dyn Fn((usize, Result<T>, f64))| {
        // The others finish the run they are at.
        if !stop.load(Ordering::Relaxed) {
            let start = Instant::now();
            let came = run(jobs[place].0, jobs[place].1);
            tell((place, came, start.elapsed().as_secs_f64()));
        }
    };
    Threads::new(threads).deal(jobs.len(), play, |(place, came, seconds)| {
        let taken = came.and_then(|came| take(jobs[place], came, seconds));
        if let (Err(error), Ok(())) = (taken, &result) {
            stop.store(true, Ordering::Relaxed);
            result = Err((jobs[place], error));
        }
    });
    result
}
