//! The games of a training: one, or with cross-fitting one for each fold.
//!
//! With cross-fitting each model is judged only on rows it was not trained on. All games are played on the
//! same features and cells, each with its own rows among them; no row is copied.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use super::training::Rows;
use super::{Checkpoints, Datasets, Training, Turn, Watch};
use crate::algorithm::{Algorithm, Setting};
use crate::game::{Ending, Game, Kept, Observer};
use crate::observe::{Checkpoint, EarlyStop, Periodic};
use crate::random::mix;
use crate::rate::Multipliers;
use crate::sample::{MemorySample, Sample};
use crate::{Error, ErrorKind, Result, Threads};

/// The rows of a game: which are the model player's, and which the constraint player's.
#[derive(Debug, Clone)]
pub(super) struct Fold {
    pub(super) train: Vec<u32>,
    pub(super) val: Vec<u32>,
    /// Of which repeat it is.
    pub(super) repeat: usize,
    /// The learning-rate multiplier.
    pub(super) step: f64,
}

/// Cuts rows into folds, as evenly as can be, also the rows of each cell; once for each repeat and learning-rate
/// multiplier.
pub(super) fn cut(
    datasets: Datasets,
    steps: &[f64],
    cells: &[u32],
    seed: u64,
) -> Result<Vec<Fold>> {
    let Datasets::Cross { folds, repeats } = datasets else { return Ok(Vec::new()) };
    if cells.len() < 2 * folds {
        let message = format!("{} rows cannot be cut into {folds} folds", cells.len());
        return Err(Error::new(ErrorKind::Settings, message).help("ask for fewer folds"));
    }
    let lengths = repeats * steps.len();
    let mut all = Vec::with_capacity(folds * lengths);
    for repeat in 0..lengths {
        let step = steps[repeat % steps.len()];
        let key = mix(seed ^ mix(0x666f_6c64 + repeat as u64));
        let mut order: Vec<u32> = (0..cells.len() as u32).collect();
        // Rows of a cell side by side, in an order of chance, and dealt out like cards.
        order.sort_by_key(|&row| (cells[row as usize], mix(key ^ u64::from(row)), row));
        let mut of_row = vec![0; cells.len()];
        order.iter().enumerate().for_each(|(place, &row)| of_row[row as usize] = place % folds);
        for fold in 0..folds {
            let rows = 0..cells.len() as u32;
            let (val, train) = rows.partition(|&row| of_row[row as usize] == fold);
            all.push(Fold { train, val, repeat, step });
        }
    }
    Ok(all)
}

/// What one game came to.
#[derive(Debug, Clone)]
pub struct Played {
    /// What it kept.
    pub kept: Kept,
    /// The mean of what its constraint player played.
    pub mean_lambda: Multipliers,
    /// ρ, where the model player could state one.
    pub suboptimality: Option<f64>,
    /// How many turns were played, of how many.
    pub turn: u64,
    /// How many there are.
    pub turns: u64,
    /// Whether it was played to its end.
    pub ending: Ending,
    /// Whether it was the watcher who stopped it.
    pub interrupted: bool,
}

/// What a game came to, and what became of its models.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameSummary {
    /// The learning-rate multiplier.
    pub step: f64,
    /// How many turns were played.
    pub turns: u64,
    /// Whether it ended before its last turn.
    pub stopped_early: bool,
    /// How many turns' models were kept.
    pub kept: usize,
    /// How much of the mixture is from this game.
    pub weight: f64,
}

/// The learning-rate multipliers that were tried, ascending, and how much of the mixture is from games with each.
pub fn weight_of_steps(games: &[GameSummary]) -> Vec<(f64, f64)> {
    let mut steps: Vec<f64> = games.iter().map(|game| game.step).collect();
    steps.sort_by(f64::total_cmp);
    steps.dedup();
    let of = |step: f64| {
        let own = games.iter().filter(|game| game.step == step);
        own.fold(0.0, |sum, game| sum + game.weight)
    };
    steps.into_iter().map(|step| (step, of(step))).collect()
}

impl Training<'_> {
    /// How many games there are.
    pub fn games(&self) -> usize {
        self.folds.len().max(1)
    }

    /// Rows of one of the players, as its sample.
    pub(super) fn sample<'b>(
        &'b self,
        rows: &'b Rows,
        among: Option<&'b [u32]>,
    ) -> MemorySample<'b> {
        MemorySample {
            features: &rows.features,
            among,
            compiled: &rows.compiled,
            weights: rows.weights.as_deref(),
            model: &self.model,
            surrogate: self.plan.spec.surrogate,
        }
    }

    /// The rows that a game's constraints are enforced on.
    pub(super) fn val_of(&self, game: usize) -> MemorySample<'_> {
        let among = self.folds.get(game).map(|fold| fold.val.as_slice());
        self.sample(self.enforced(), among)
    }

    /// What one of the games is played on.
    pub fn setting(&self, game: usize) -> Setting<'_> {
        let spec = &self.plan.spec;
        let fold = self.folds.get(game);
        let among = fold.map(|fold| fold.train.as_slice());
        let train: Arc<dyn Sample + '_> = Arc::new(self.sample(&self.train, among));
        let val = match (&self.val, fold) {
            (None, None) => Arc::clone(&train),
            _ => Arc::new(self.val_of(game)),
        };
        Setting {
            train,
            val,
            model: &self.model,
            surrogate: spec.surrogate,
            region: spec.region,
            keep: spec.keep,
            seed: fold.map_or(spec.seed, |_| mix(spec.seed ^ mix(game as u64))),
            // Several games run beside each other, each by one thread: one that waited for its sums would take up
            // another game.
            threads: match self.games() {
                1 => self.plan.threads.clone(),
                _ => Threads::default(),
            },
        }
    }

    /// One of the games, before its first turn.
    pub fn game(&self, game: usize) -> Result<Game<'_>> {
        self.algorithm(game).game(&self.setting(game))
    }

    /// How one of the games is played.
    fn algorithm(&self, game: usize) -> Algorithm {
        let algorithm = self.plan.spec.algorithm;
        self.folds.get(game).map_or(algorithm, |fold| algorithm.scaled(fold.step))
    }

    /// Plays all games to their ends, as many at once as there are threads; the result does not depend on them.
    ///
    /// # Errors
    /// If a game diverges, or a checkpoint cannot be read or written.
    pub fn play(&self, watch: &mut dyn Watch) -> Result<Vec<Played>> {
        let games = self.games();
        let saved = self.checkpoints()?;
        let stop = AtomicBool::new(false);
        let turns = self.game(0)?.turns();
        let apart = watch.apart(turns).max(1);
        let mut at = vec![0; games];
        let play = |game: usize, tell: &dyn Fn(Turn)| {
            let saved = saved.as_ref().map(|saved| saved.of(game));
            let played = self.play_one(game, apart, saved, &stop, tell);
            // Others need not go on for nothing.
            stop.fetch_or(played.is_err(), Ordering::Relaxed);
            played
        };
        let hear = |mut turn: Turn| {
            at[turn.game] = turn.done;
            (turn.done, turn.total) = (at.iter().sum(), turns * games as u64);
            if watch.turn(&turn).is_break() {
                stop.store(true, Ordering::Relaxed);
            }
        };
        self.plan.threads.deal(games, play, hear).into_iter().collect()
    }

    fn play_one(
        &self,
        place: usize,
        apart: u64,
        saved: Option<(Checkpoint, bool)>,
        stop: &AtomicBool,
        tell: &dyn Fn(Turn),
    ) -> Result<Played> {
        let setting = self.setting(place);
        let mut game = self.algorithm(place).game(&setting)?;
        let mut saved = match saved {
            Some((checkpoint, resume)) => {
                if resume {
                    checkpoint.resume(&mut game)?;
                }
                Some(checkpoint)
            }
            None => None,
        };
        let turns = game.turns();
        let told = |game: &Game<'_>, done: u64| {
            let (losses, mean_lambda) = (game.losses().clone(), game.mean_lambda());
            let (turn, total) = (game.turn(), 0);
            tell(Turn { game: place, turn, turns, done, total, losses, mean_lambda });
        };
        let mut every = Periodic::new(apart, |game: &Game<'_>| {
            told(game, game.turn());
            match stop.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        let patience = self.plan.spec.early_stop;
        let mut patience =
            patience.map(|one| EarlyStop::new(one, Arc::clone(&setting.val), &setting.threads));
        let mut observers: Vec<&mut dyn Observer> = Vec::new();
        observers.extend(saved.as_mut().map(|saved| saved as &mut dyn Observer));
        observers.push(&mut every);
        // Last, so that the others have seen the turn it stops at.
        observers.extend(patience.as_mut().map(|patience| patience as &mut dyn Observer));
        let ending = match stop.load(Ordering::Relaxed) {
            true => Ending::Stopped,
            false => game.run(&mut observers)?,
        };
        let interrupted = stop.load(Ordering::Relaxed);
        if let (Some(saved), true) = (&saved, interrupted) {
            saved.save(&game)?;
        }
        if !interrupted && game.turn() < turns {
            // The turns that early stopping saved count as done.
            told(&game, turns);
        }
        Ok(Played {
            kept: game.kept().clone(),
            mean_lambda: game.mean_lambda(),
            suboptimality: game.suboptimality(),
            turn: game.turn(),
            turns,
            ending,
            interrupted: interrupted && game.turn() < turns,
        })
    }

    /// Where the games are saved, if they are to be.
    fn checkpoints(&self) -> Result<Option<Saved<'_>>> {
        let Some(checkpoints) = &self.plan.checkpoints else { return Ok(None) };
        let folder = &checkpoints.folder;
        std::fs::create_dir_all(folder).map_err(|error| {
            Error::new(ErrorKind::Io, format!("the folder cannot be made: {error}"))
                .at(folder.display())
        })?;
        let every = match checkpoints.every {
            Some(every) => every,
            None => self.game(0)?.turns().div_ceil(50),
        };
        let saved = Saved { checkpoints, games: self.games(), every, identity: self.identity() };
        let mut there = (0..saved.games).map(|game| saved.path(game));
        match there.find(|path| path.exists()) {
            Some(path) if !checkpoints.resume => {
                Err(Error::new(ErrorKind::Settings, "a checkpoint is there already")
                    .help("go on from it (--resume), or remove it, or choose another folder")
                    .at(path.display()))
            }
            _ => Ok(Some(saved)),
        }
    }
}

impl Checkpoints {
    /// Whether the folder holds a checkpoint.
    pub fn any(&self) -> bool {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name()).any(|name| {
            let name = name.to_string_lossy();
            name.starts_with("checkpoint") && name.ends_with(".safetensors")
        })
    }
}

/// The checkpoints of a training's games.
struct Saved<'a> {
    checkpoints: &'a Checkpoints,
    games: usize,
    every: u64,
    identity: String,
}

impl Saved<'_> {
    fn path(&self, game: usize) -> PathBuf {
        self.checkpoints.folder.join(match self.games {
            1 => "checkpoint.safetensors".to_owned(),
            _ => format!("checkpoint-{}.safetensors", game + 1),
        })
    }

    /// Where one of the games is saved, and whether to go on from there.
    fn of(&self, game: usize) -> (Checkpoint, bool) {
        let identity = match self.games {
            1 => self.identity.clone(),
            _ => format!("{}, game {}", self.identity, game + 1),
        };
        let checkpoint = Checkpoint::new(self.path(game), self.every, identity);
        (checkpoint, self.checkpoints.resume)
    }
}
