//! The games of a training: one, or with cross-fitting one for each fold.
//!
//! In cross-fitting every row teaches, and every row judges models that have not learnt from it. All games are played
//! on the same features and cells, each with its own rows among them; no row is copied.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use serde::{Deserialize, Serialize};

use super::{Datasets, Training};
use crate::algorithm::{Algorithm, Setting};
use crate::classifier::{Balance, Explained, Iterates, Selected, Selection, ShrinkSpec, Shrunk};
use crate::evaluate::{Decisions, margins};
use crate::game::{Ending, Game, Kept, Observer};
use crate::observe::{Checkpoint, EarlyStop, Every};
use crate::random::mix;
use crate::rate::{LossValues, Multipliers};
use crate::sample::Work;
use crate::{Error, ErrorKind, Result};

/// The rows of a game: which are the model player's, and which the constraint player's.
#[derive(Debug, Clone)]
pub(super) struct Fold {
    pub(super) train: Vec<u32>,
    pub(super) val: Vec<u32>,
    /// Of which repeat it is.
    pub(super) repeat: usize,
    /// How many times as long the model's steps are.
    pub(super) step: f64,
}

/// Cuts rows into folds, as evenly as can be, also the rows of each cell; for each length of steps, so many times.
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
    /// How many turns were played.
    pub turn: u64,
    /// Whether it was played to its end.
    pub ending: Ending,
}

impl Played {
    pub(super) fn of(game: &Game<'_>, ending: Ending) -> Self {
        Played {
            kept: game.kept().clone(),
            mean_lambda: game.mean_lambda(),
            suboptimality: game.suboptimality(),
            turn: game.turn(),
            ending,
        }
    }
}

/// What a game came to, and what became of its models.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameSummary {
    /// How many times as long as set the model's steps were.
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

/// The lengths of steps that were tried, ascending, and how much of the mixture is from games with each.
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

/// How far the games of a training are, all together.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Turns that were played, or need not be.
    pub done: u64,
    /// Turns of all games.
    pub turns: u64,
    /// What a constraint player was last shown: of a minibatch, an estimate.
    pub losses: LossValues,
}

/// What a game tells: which it is, how far of how many turns, and what was last measured.
type Told = (usize, u64, u64, LossValues);

/// How often a game says how far it is, and after how many turns at the latest: then it may be asked to stop.
const TELLS: u64 = 500;
const LATEST: u64 = 256;

/// How often margins are found anew of the mixture that the last ones led to.
const ROUNDS: usize = 8;

/// Margins that change by less are found.
const SAME: f64 = 1e-5;

impl Training {
    /// How many games there are.
    pub fn games(&self) -> usize {
        self.folds.len().max(1)
    }

    /// What one of the games is played on.
    pub(super) fn setting_of(&self, game: usize, threads: usize) -> Setting<'_> {
        let mut setting = self.setting(threads);
        if let Some(fold) = self.folds.get(game) {
            setting.train.among = Some(&fold.train);
            setting.val.among = Some(&fold.val);
            setting.seed = mix(setting.seed ^ mix(game as u64));
        }
        setting
    }

    /// How one of the games is played.
    fn algorithm_of(&self, game: usize) -> Algorithm {
        let algorithm = self.spec.algorithm;
        let fold = self.folds.get(game);
        fold.map_or(algorithm, |fold| algorithm.scaled(fold.step))
    }

    /// What each game came to, and how much of a mixture is from it.
    pub(super) fn summaries(
        &self,
        played: &[Played],
        iterates: &Iterates,
        weights: &[(usize, f64)],
    ) -> Vec<GameSummary> {
        let summary = |(game, played): (usize, &Played)| GameSummary {
            step: self.folds.get(game).map_or(1.0, |fold| fold.step),
            turns: played.turn,
            stopped_early: played.ending == Ending::Stopped,
            kept: played.kept.moments.len(),
            weight: weights
                .iter()
                .filter(|(model, _)| iterates.models[*model].game == game)
                .fold(0.0, |sum, (_, weight)| sum + weight),
        };
        played.iter().enumerate().map(summary).collect()
    }

    /// Plays all games to their ends, as many at once as there are threads; the result does not depend on them.
    ///
    /// `watch` is called by this thread now and then; if it breaks, all games stop. `checkpoint` names the file and
    /// the number of turns that a game is saved in and after, and whether to go on from there.
    pub fn play_all(
        &self,
        threads: usize,
        checkpoint: Option<&(dyn Fn(usize) -> (Checkpoint, bool) + Sync)>,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Vec<Played>> {
        let games = self.games();
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let workers = threads.clamp(1, games);
        let (tell, told) = mpsc::channel::<Told>();
        thread::scope(|scope| {
            let running: Vec<_> = (0..workers)
                .map(|_| {
                    let (next, stop, tell) = (&next, &stop, tell.clone());
                    scope.spawn(move || -> Result<Vec<(usize, Played)>> {
                        let mut all = Vec::new();
                        loop {
                            let game = next.fetch_add(1, Ordering::Relaxed);
                            if game >= games {
                                return Ok(all);
                            }
                            let threads = if games == 1 { threads } else { 1 };
                            let played = self.play_one(game, threads, checkpoint, stop, &tell);
                            // Others need not go on for nothing.
                            stop.fetch_or(played.is_err(), Ordering::Relaxed);
                            all.push((game, played?));
                        }
                    })
                })
                .collect();
            drop(tell);
            let mut at = vec![0; games];
            for (game, done, turns, losses) in told {
                at[game] = done;
                let (done, turns) = (at.iter().sum(), turns * games as u64);
                if watch(Progress { done, turns, losses }).is_break() {
                    stop.store(true, Ordering::Relaxed);
                }
            }
            let mut all = Vec::new();
            for worker in running {
                let done = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                all.extend(done?);
            }
            all.sort_by_key(|(game, _)| *game);
            Ok(all.into_iter().map(|(_, played)| played).collect())
        })
    }

    fn play_one(
        &self,
        place: usize,
        threads: usize,
        checkpoint: Option<&(dyn Fn(usize) -> (Checkpoint, bool) + Sync)>,
        stop: &AtomicBool,
        tell: &mpsc::Sender<Told>,
    ) -> Result<Played> {
        let setting = self.setting_of(place, threads);
        let mut game = self.algorithm_of(place).game(&setting)?;
        let mut saved = checkpoint.map(|make| make(place));
        if let Some((saved, true)) = &saved {
            saved.resume(&mut game)?;
        }
        let turns = game.turns();
        let mut watch = Every::new((turns / TELLS).clamp(1, LATEST), |game: &Game<'_>| {
            // Nobody listens any more once the training is over.
            tell.send((place, game.turn(), turns, game.losses().clone())).ok();
            match stop.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        let mut patience =
            self.spec.patience().map(|patience| EarlyStop::new(patience, setting.val, threads));
        let mut observers: Vec<&mut dyn Observer> = Vec::new();
        observers.extend(saved.as_mut().map(|(saved, _)| saved as &mut dyn Observer));
        observers.push(&mut watch);
        // Last, so that the others have seen the turn it stops at.
        observers.extend(patience.as_mut().map(|patience| patience as &mut dyn Observer));
        let ending = match stop.load(Ordering::Relaxed) {
            true => Ending::Stopped,
            false => game.run(&mut observers)?,
        };
        let asked = stop.load(Ordering::Relaxed);
        if let (Some((saved, _)), true) = (&saved, asked) {
            saved.save(&game)?;
        }
        if !asked {
            tell.send((place, turns, turns, game.losses().clone())).ok();
        }
        Ok(Played::of(&game, ending))
    }

    /// What the games kept, measured, and one mixture of it.
    pub(super) fn select(
        &self,
        played: &[Played],
        threads: usize,
        selection: Selection,
    ) -> Result<(Iterates, Selected, Option<Explained>)> {
        let measured = played.iter().enumerate().map(|(game, played)| {
            let Setting { train, val, .. } = self.setting_of(game, threads);
            Iterates::measure(&played.kept, &train, &val, threads)
        });
        let iterates = Iterates::join(measured.collect::<Vec<_>>());
        let Selection::Shrink(spec) = selection else {
            let selected = self.select_each(&iterates, selection)?;
            return Ok((iterates, selected, None));
        };
        let (shrunk, asked) = self.shrink(&spec, &iterates)?;
        // Prices are good to know, and no reason to have no classifier.
        let balance = self.balance(&iterates);
        let explain = |margins: &[f64]| spec.explain(&iterates, margins, balance.as_ref());
        let explained = explain(&[]).and_then(|without| match without.relaxation > 0.0 {
            // They cannot be met even without margins.
            true => Ok(without),
            false if shrunk.feasible => explain(&shrunk.margins),
            false => Ok(Explained { prices: explain(&shrunk.margins)?.prices, ..explain(&asked)? }),
        });
        let explained = explained.ok();
        let selected = Selected { weights: shrunk.weights.clone(), shrunk: Some(shrunk) };
        Ok((iterates, selected, explained))
    }

    /// Selects from each game, and weighs games by the rows that they are judged by.
    fn select_each(&self, iterates: &Iterates, selection: Selection) -> Result<Selected> {
        if self.folds.is_empty() {
            return selection.select(iterates);
        }
        let repeats = self.folds.iter().map(|fold| fold.repeat + 1).max().unwrap_or(1);
        let all = (self.train.features.rows() * repeats) as f64;
        let mut weights = Vec::new();
        for (game, fold) in self.folds.iter().enumerate() {
            let (own, places) = iterates.of_game(game);
            let share = fold.val.len() as f64 / all;
            let selected = selection.select(&own)?.weights.into_iter();
            weights.extend(selected.map(|(model, weight)| (places[model], share * weight)));
        }
        Ok(Selected { weights, shrunk: None })
    }

    fn balance(&self, iterates: &Iterates) -> Option<Balance> {
        let rows = self.train.features.rows() as f64;
        (!self.folds.is_empty()).then(|| Balance {
            game: iterates.models.iter().map(|model| model.game).collect(),
            folds: self
                .folds
                .iter()
                .map(|fold| (fold.val.len() as f64 / rows, fold.repeat))
                .collect(),
        })
    }

    /// Shrinks with margins of the mixture that comes of them; and the margins that were to be.
    fn shrink(&self, spec: &ShrinkSpec, iterates: &Iterates) -> Result<(Shrunk, Vec<f64>)> {
        let balance = self.balance(iterates);
        let mut shrunk = spec.shrink(iterates, &[], balance.as_ref())?;
        let constraints = self.bound.constraints().len();
        let Some(misses) = spec.margin.misses(constraints) else {
            return Ok((shrunk, Vec::new()));
        };
        let Some(measures) = &self.measures else {
            let message = "margins are measured on rows that this training was not prepared from";
            return Err(Error::new(ErrorKind::Settings, message)
                .help("prepare it by `Spec::prepare` with a margin, or select without one"));
        };
        let enforced = self.val.as_ref().unwrap_or(&self.train);
        let mut before = vec![0.0; constraints];
        for round in 0..ROUNDS {
            let chances = self.chances(iterates, &shrunk.weights);
            let decisions = Decisions::Probabilities(&chances);
            let mut found = margins(measures, enforced.weights.as_deref(), decisions, misses);
            if round >= ROUNDS / 2 {
                // Two mixtures may take turns: from here on margins only grow, and are enough for both.
                found.iter_mut().zip(&before).for_each(|(now, before)| *now = now.max(*before));
            }
            let moved = before.iter().zip(&found).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            if moved < SAME {
                break;
            }
            shrunk = spec.shrink_yielding(iterates, &found, balance.as_ref())?;
            before = found;
        }
        Ok((shrunk, before))
    }

    /// The chance of a positive decision of each row that constraints are enforced on: with cross-fitting, by models
    /// that have not learnt from the row.
    pub(super) fn chances(&self, iterates: &Iterates, weights: &[(usize, f64)]) -> Vec<f64> {
        let enforced = self.val.as_ref().unwrap_or(&self.train);
        let mut chances = vec![0.0; enforced.features.rows()];
        let (mut total, mut work) = (vec![0.0; chances.len()], Work::default());
        for &(model, weight) in weights {
            let model = &iterates.models[model];
            let val = self.setting_of(model.game, 1).val;
            // As much as the repeat counts, whatever the fold's size.
            let weight = weight / val.rows() as f64;
            val.scores(&model.theta, &mut work, |row, score| {
                total[row] += weight;
                chances[row] += if score > 0.0 { weight } else { 0.0 };
            });
        }
        let shares = chances.iter_mut().zip(&total).filter(|(_, total)| **total > 0.0);
        shares.for_each(|(chance, total)| *chance = (*chance / total).clamp(0.0, 1.0));
        chances
    }
}

/// The mean over games.
pub(super) fn mean<'a>(all: impl ExactSizeIterator<Item = &'a Multipliers>) -> Multipliers {
    let share = 1.0 / all.len().max(1) as f64;
    let mut sum = Multipliers { objective: 0.0, constraints: Vec::new() };
    for one in all {
        sum.objective += share * one.objective;
        sum.constraints.resize(one.constraints.len(), 0.0);
        let sums = sum.constraints.iter_mut().zip(&one.constraints);
        sums.for_each(|(sum, lambda)| *sum += share * lambda);
    }
    sum
}
