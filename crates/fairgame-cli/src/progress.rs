//! What the user sees while a game is played or rows are decided, and how that is asked to stop.

use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use fairgame::Result;
use fairgame::game::{Game, Observer};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How often Ctrl-C was pressed.
static ASKED: AtomicU32 = AtomicU32::new(0);

/// Whether there is something to stop in good order.
static LISTENING: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C is only asked about, until pressed again.
fn listen() {
    LISTENING.store(true, Ordering::Relaxed);
    static LISTENS: OnceLock<bool> = OnceLock::new();
    LISTENS.get_or_init(|| {
        ctrlc::set_handler(|| {
            let before = ASKED.fetch_add(1, Ordering::Relaxed);
            if before > 0 || !LISTENING.load(Ordering::Relaxed) {
                std::process::exit(130);
            }
        })
        .is_ok()
    });
}

fn bar(length: Option<u64>, style: &str, quiet: bool) -> ProgressBar {
    let bar = match quiet {
        true => ProgressBar::hidden(),
        // Hidden where standard error is no terminal.
        false => ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr()),
    };
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style);
    }
    bar
}

/// How many rows are done, on standard error if that is a terminal.
pub(crate) struct RowCount(ProgressBar);

impl RowCount {
    pub(crate) fn new(quiet: bool) -> Self {
        RowCount(bar(None, "{human_pos} rows, {per_sec}", quiet))
    }

    /// From now on Ctrl-C does not end the program, but asks it to stop.
    pub(crate) fn listen(&self) {
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

/// A bar on standard error, if that is a terminal; and an ear for Ctrl-C.
pub(crate) struct Progress {
    bar: ProgressBar,
    every: u64,
    /// Means over the last turns: of the objective, and of each constraint.
    objective: f64,
    constraints: Vec<f64>,
    stopped: bool,
}

impl Progress {
    pub(crate) fn new(turns: u64, quiet: bool) -> Self {
        listen();
        let style = "{bar:24} {human_pos}/{human_len} turns, {per_sec}, {eta} left {msg}";
        let bar = bar(Some(turns), style, quiet);
        let every = (turns / 1000).clamp(1, 1000);
        Progress { bar, every, objective: f64::NAN, constraints: Vec::new(), stopped: false }
    }

    /// Whether Ctrl-C ended the game.
    pub(crate) fn was_stopped(&self) -> bool {
        self.stopped
    }

    pub(crate) fn finish(&self) {
        LISTENING.store(false, Ordering::Relaxed);
        self.bar.finish_and_clear();
    }

    /// Minibatches are noisy: what is shown is a mean that forgets.
    fn learn(&mut self, game: &Game<'_>) {
        let losses = game.losses();
        if losses.constraints.is_empty() && losses.objective == 0.0 {
            return;
        }
        if self.objective.is_nan() {
            self.objective = losses.objective;
            self.constraints.clone_from(&losses.constraints);
            return;
        }
        let forget = 0.01;
        self.objective += forget * (losses.objective - self.objective);
        for (mean, loss) in self.constraints.iter_mut().zip(&losses.constraints) {
            *mean += forget * (loss - *mean);
        }
    }
}

impl Observer for Progress {
    fn after_turn(&mut self, game: &Game<'_>) -> Result<ControlFlow<()>> {
        if !self.bar.is_hidden() {
            self.learn(game);
            if game.turn().is_multiple_of(self.every) {
                self.bar.set_position(game.turn());
                let worst = self.constraints.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let objective = self.objective;
                self.bar.set_message(match worst.is_finite() {
                    true => format!("· objective {objective:.3}, worst {worst:+.3}"),
                    false => format!("· objective {objective:.3}"),
                });
            }
        }
        if ASKED.load(Ordering::Relaxed) > 0 {
            self.stopped = true;
            return Ok(ControlFlow::Break(()));
        }
        Ok(ControlFlow::Continue(()))
    }
}
