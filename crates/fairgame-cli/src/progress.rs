//! What the user sees while a game is played or rows are decided, and how that is asked to stop.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use fairgame::rate::LossValues;
use fairgame::train::{Pass, Training, Turn, Watch};
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::inherited;

/// How often Ctrl-C was pressed; SIGTERM and SIGHUP count as much.
static ASKED: AtomicU32 = AtomicU32::new(0);

/// Whether there is something to stop in good order.
static LISTENING: AtomicBool = AtomicBool::new(false);

/// Whether what is to be stopped may wait for input without an end, so that it cannot stop by itself.
static WAITS: AtomicBool = AtomicBool::new(false);

/// How long what may wait for input has to stop by itself.
const GRACE: Duration = Duration::from_secs(3);

/// What is said if Ctrl-C ends the program.
static PARTING: OnceLock<String> = OnceLock::new();

/// From now on Ctrl-C is only asked about, until pressed again.
fn listen() {
    LISTENING.store(true, Ordering::Relaxed);
    handle();
}

/// From now on Ctrl-C ends the program with these words.
pub(crate) fn part_with(words: String) {
    // The first are as good as any.
    PARTING.set(words).ok();
    handle();
}

fn handle() {
    static LISTENS: OnceLock<bool> = OnceLock::new();
    LISTENS.get_or_init(|| {
        let ignored = inherited::hangups_are_ignored();
        let set = ctrlc::set_handler(|| {
            let before = ASKED.fetch_add(1, Ordering::Relaxed);
            if WAITS.load(Ordering::Relaxed) {
                std::thread::sleep(GRACE);
            }
            if before > 0 || WAITS.load(Ordering::Relaxed) || !LISTENING.load(Ordering::Relaxed) {
                PARTING.get().into_iter().for_each(crate::output::warning);
                std::process::exit(130);
            }
        });
        if ignored {
            // `nohup` asked for that.
            inherited::ignore_hangups();
        }
        set.is_ok()
    });
}

fn bar(length: Option<u64>, style: &str, quiet: bool) -> ProgressBar {
    let bar = match quiet {
        true => ProgressBar::hidden(),
        // Hidden where standard error is no terminal.
        false => ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr()),
    };
    bar.set_style(styled(style));
    bar
}

fn styled(style: &str) -> ProgressStyle {
    let rate = |state: &ProgressState, out: &mut dyn fmt::Write| {
        // A bar that cannot be written is no reason to stop.
        write!(out, "{}/s", HumanCount(state.per_sec() as u64)).ok();
    };
    let style = ProgressStyle::with_template(style);
    style.unwrap_or_else(|_| ProgressStyle::default_bar()).with_key("rate", rate)
}

/// How many rows are done, on standard error if that is a terminal.
pub(crate) struct RowCount(ProgressBar);

impl RowCount {
    pub(crate) fn new(quiet: bool) -> Self {
        RowCount(bar(None, "{human_pos} rows, {rate}", quiet))
    }

    /// From now on Ctrl-C asks the program to stop, and ends it if it waits for input.
    pub(crate) fn listen(&self) {
        WAITS.store(true, Ordering::Relaxed);
        listen();
    }

    /// Whether Ctrl-C asked to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        ASKED.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn add(&self, rows: usize) {
        self.0.inc(rows as u64);
    }
}

impl Drop for RowCount {
    fn drop(&mut self) {
        LISTENING.store(false, Ordering::Relaxed);
        self.0.finish_and_clear();
    }
}

/// Nothing to count yet.
const WAITING: &str = "preparing";

const TURNS: &str = "{bar:24} {human_pos}/{human_len} turns, {eta} left {msg}";

/// Rates and times to go mean little before this.
const SETTLED: Duration = Duration::from_secs(1);

/// What a training shows: notices, a bar on standard error if that is a terminal; and an ear for Ctrl-C.
pub(crate) struct Progress {
    bar: ProgressBar,
    quiet: bool,
    /// The pass over the rows that is shown.
    pass: Option<&'static str>,
    /// Whether enough turns were played to say how long the others take.
    settled: bool,
    /// When the first turn began.
    start: Option<Instant>,
    /// Means over what was told last: of the objective, and of each constraint.
    objective: f64,
    constraints: Vec<f64>,
}

impl Progress {
    pub(crate) fn new(quiet: bool, json: bool) -> Self {
        let bar = bar(Some(0), WAITING, quiet || json);
        let (objective, constraints) = (f64::NAN, Vec::new());
        Progress { bar, quiet, pass: None, settled: false, start: None, objective, constraints }
    }

    /// Takes the bar away; how many seconds passed since the first turn.
    pub(crate) fn finish(&self) -> f64 {
        LISTENING.store(false, Ordering::Relaxed);
        self.bar.finish_and_clear();
        self.start.map_or(0.0, |start| start.elapsed().as_secs_f64())
    }
}

impl Watch for Progress {
    fn prepared(&mut self, training: &Training<'_>) {
        if !self.quiet {
            training.notices().iter().for_each(crate::output::notice);
        }
        self.pass = None;
        self.bar.reset();
        self.bar.set_message("");
        self.bar.set_style(styled("{bar:24} {human_pos}/{human_len} turns"));
        self.settled = false;
        listen();
        self.start = Some(Instant::now());
    }

    fn pass(&mut self, pass: &Pass) -> ControlFlow<()> {
        if self.bar.is_hidden() {
            return ControlFlow::Continue(());
        }
        let style = match pass.of {
            Some(_) => "{msg}: {bar:24} {human_pos}/{human_len} rows, {rate}, {eta} left",
            None => "{msg}: {human_pos} rows, {rate}",
        };
        if self.pass != Some(pass.name) {
            self.pass = Some(pass.name);
            self.bar.reset();
            self.bar.set_length(pass.of.unwrap_or(0));
            self.bar.set_message(pass.name);
            self.bar.set_style(styled(style));
        }
        self.bar.set_position(pass.rows);
        ControlFlow::Continue(())
    }

    fn turn(&mut self, turn: &Turn) -> ControlFlow<()> {
        if !self.bar.is_hidden() {
            self.learn(&turn.losses);
            self.bar.set_length(turn.total);
            self.bar.set_position(turn.done);
            let worst = self.constraints.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let objective = self.objective;
            self.bar.set_message(match (objective.is_finite(), worst.is_finite()) {
                (true, true) => format!("· objective {objective:.3}, worst {worst:+.3}"),
                (true, false) => format!("· objective {objective:.3}"),
                (false, _) => String::new(),
            });
            if !self.settled && self.bar.elapsed() > SETTLED {
                self.settled = true;
                self.bar.set_style(styled(TURNS));
            }
        }
        match ASKED.load(Ordering::Relaxed) > 0 {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn selecting(&mut self) {
        LISTENING.store(false, Ordering::Relaxed);
        self.bar.finish_and_clear();
        part_with("stopped while the classifier was made: nothing was written".to_owned());
    }
}

impl Progress {
    /// Minibatches are noisy: what is shown is a mean that forgets.
    fn learn(&mut self, losses: &LossValues) {
        if losses.constraints.is_empty() && losses.objective == 0.0 {
            return;
        }
        if self.objective.is_nan() {
            self.objective = losses.objective;
            self.constraints.clone_from(&losses.constraints);
            return;
        }
        let forget = 0.05;
        self.objective += forget * (losses.objective - self.objective);
        for (mean, loss) in self.constraints.iter_mut().zip(&losses.constraints) {
            *mean += forget * (loss - *mean);
        }
    }
}
