//! The games of a training: one for each fold, and for each way of playing it.
//!
//! A fold's game is played once for each learning-rate multiplier, and once without constraints: on the error, with the
//! logistic loss, so that its scores rank rows well at any threshold. All games are played on the same cells, each with its
//! own rows among them; no row is copied but for its features, which each view has its own of.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use super::fit::Fitted;
use super::folds::Fold;
use super::lock::FolderLock;
use super::training::Rows;
use super::{Checkpoints, Plan, Spec, Training, Turn, Watch};
use crate::algorithm::{Algorithm, Setting};
use crate::game::{Ending, Game, Keep, Kept, Observer};
use crate::model::Scorer;
use crate::observe::{Checkpoint, EarlyStop, Periodic};
use crate::player::learner_seed;
use crate::random::mix;
use crate::rate::{Multipliers, Surrogate};
use crate::sample::{BLOCK, MemorySample, Sample, drawn_blocks};
use crate::{Error, ErrorKind, Result, Threads, memory};

/// One way in which each fold's game is played.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Variant {
    /// The learning-rate multiplier.
    pub(super) step: f64,
    /// Whether the constraints are left out, and the error is minimised with the logistic loss.
    pub(super) plain: bool,
}

impl Variant {
    /// The variants of a training: one for each learning-rate multiplier, and the plain one.
    pub(super) fn all(spec: &Spec) -> Vec<Self> {
        if let Algorithm::PlugIn(_) = spec.algorithm {
            return vec![Variant { step: 1.0, plain: true }];
        }
        let played = spec.steps.iter().map(|&step| Variant { step, plain: false });
        played.chain(spec.plain.then_some(Variant { step: 1.0, plain: true })).collect()
    }
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
    /// In the plug-in game: the probabilities of the fold.
    pub fitted: Option<Arc<Fitted>>,
}

/// What a game came to, and what became of its models.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameSummary {
    /// The learning-rate multiplier.
    pub step: f64,
    /// Whether it was played without constraints.
    #[serde(default)]
    pub plain: bool,
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
    let own = games.iter().filter(|game| !game.plain);
    let mut steps: Vec<f64> = own.map(|game| game.step).collect();
    steps.sort_by(f64::total_cmp);
    steps.dedup();
    let of = |step: f64| {
        let own = games.iter().filter(|game| game.step == step && !game.plain);
        own.fold(0.0, |sum, game| sum + game.weight)
    };
    steps.into_iter().map(|step| (step, of(step))).collect()
}

/// The seed of a game.
fn seed_of(seed: u64, folds: usize, game: usize) -> u64 {
    match folds {
        1 if game == 0 => seed,
        _ => mix(seed ^ mix(game as u64)),
    }
}

/// Which blocks of so many rows that teach the minibatches of a plan with one fold are drawn from.
pub(super) fn blocks(plan: &Plan, teach: usize) -> Vec<bool> {
    let mut needed = vec![false; teach.div_ceil(BLOCK)];
    let variants = Variant::all(&plan.spec);
    for game in 0..variants.len() {
        let learner = learner_seed(seed_of(plan.spec.seed, 1, game));
        match plan.spec.algorithm.steps() {
            Some((turns, size)) => drawn_blocks(teach, (learner, turns, size), &mut needed),
            None => needed.fill(true),
        }
    }
    needed
}

impl Training<'_> {
    /// How many games there are.
    pub fn games(&self) -> usize {
        self.folds.len() * self.variants.len()
    }

    /// The fold and the variant of a game.
    pub(super) fn place(&self, game: usize) -> (&Fold, Variant) {
        (&self.folds[game % self.folds.len()], self.variants[game / self.folds.len()])
    }

    /// Some rows of one of the players, as a sample.
    fn sample<'b>(
        &'b self,
        rows: &'b Rows,
        view: usize,
        among: Option<&'b [u32]>,
        plain: bool,
    ) -> MemorySample<'b> {
        let (compiled, surrogate) = match &rows.plain {
            Some(compiled) if plain => (compiled, Surrogate::Logistic),
            _ => (&rows.compiled, self.plan.spec.surrogate.unwrap_or_default()),
        };
        MemorySample {
            features: &rows.features[view],
            among,
            compiled,
            weights: rows.weights.as_deref(),
            model: &self.views[view].model,
            placed: rows.placed.get(view).and_then(Option::as_ref),
            surrogate,
        }
    }

    /// The rows that a game's model player learns on, measured by the constraints.
    pub(super) fn teaching(&self, game: usize) -> MemorySample<'_> {
        let fold = self.place(game).0;
        self.sample(&self.train, fold.view, fold.teach.as_deref(), false)
    }

    /// The rows that a fold's models are judged by; in the plug-in game, as its rules see them.
    pub(super) fn judging<'b>(&'b self, played: &'b [Played], at: usize) -> MemorySample<'b> {
        let fold = &self.folds[at];
        let sample = self.sample(self.enforced(), fold.view, fold.judge.as_deref(), false);
        match played.get(at).and_then(|game| game.fitted.as_ref()) {
            Some(fitted) => MemorySample {
                features: fitted.val.as_ref().unwrap_or(&fitted.train),
                model: &fitted.view.model,
                placed: None,
                ..sample
            },
            None => sample,
        }
    }

    /// The rows that a fold's constraint player plays on.
    pub(super) fn aside(&self, game: usize, plain: bool) -> MemorySample<'_> {
        let fold = self.place(game).0;
        match &fold.aside {
            Some(aside) => self.sample(&self.train, fold.view, Some(aside), plain),
            None => self.sample(self.enforced(), fold.view, fold.judge.as_deref(), plain),
        }
    }

    /// What one of the games is played on.
    pub fn setting(&self, game: usize) -> Setting<'_> {
        let spec = &self.plan.spec;
        let (fold, variant) = self.place(game);
        let sample = self.sample(&self.train, fold.view, fold.teach.as_deref(), variant.plain);
        let train: Arc<dyn Sample + '_> = Arc::new(sample);
        let one = self.val.is_none() && fold.aside.is_none() && fold.judge.is_none();
        Setting {
            val: match one {
                true => Arc::clone(&train),
                false => Arc::new(self.aside(game, variant.plain)),
            },
            train,
            model: &self.views[fold.view].model,
            surrogate: match variant.plain {
                true => Surrogate::Logistic,
                false => spec.surrogate.unwrap_or_default(),
            },
            region: spec.region,
            keep: spec.keep,
            seed: seed_of(spec.seed, self.folds.len(), game),
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
        let (algorithm, variant) = (self.plan.spec.algorithm, self.place(game).1);
        match variant.plain {
            true => algorithm.plain(),
            false => algorithm.scaled(variant.step),
        }
    }

    /// Plays all games to their ends, as many at once as there are threads; the result does not depend on them.
    ///
    /// # Errors
    /// If a game diverges, or a checkpoint cannot be read or written.
    pub fn play(&self, watch: &mut dyn Watch) -> Result<Vec<Played>> {
        if let Some(ground) = &self.ground {
            return self.fit(ground, watch);
        }
        self.check_matrix()?;
        let saved = self.checkpoints()?;
        let turns = self.game(0)?.turns();
        self.check_kept(turns)?;
        let apart = watch.apart(turns).max(1);
        self.play_all(turns, watch, |game, stop, tell| {
            let saved = saved.as_ref().map(|saved| saved.of(game));
            self.play_one(game, apart, saved, stop, tell)
        })
    }

    /// Refuses a matrix of the constraint player that does not fit into memory.
    fn check_matrix(&self) -> Result<()> {
        /// M, its logarithm, the slopes, two moments of Adam, and space for the fixed point: f64 each.
        const COPIES: u128 = 6 * 8;
        let constraints = self.enforced().compiled.losses().constraints();
        let at_once = self.games().min(self.plan.threads.count()) as u128;
        match self.plan.spec.algorithm {
            Algorithm::Practical(_) | Algorithm::Discrete(_) | Algorithm::Continuous(_) => {
                memory::check(
                    (constraints as u128 + 1).pow(2) * COPIES * at_once,
                    &format!("the constraint player's matrix of {constraints} constraints"),
                    "play `lagrangian`, whose constraint player has no matrix",
                )
            }
            _ => Ok(()),
        }
    }

    /// Refuses to keep more models than fit into memory, before the first turn rather than after many.
    fn check_kept(&self, turns: u64) -> Result<()> {
        let losses = self.enforced().compiled.losses();
        let kept = match self.plan.spec.keep {
            Keep::Every => turns,
            Keep::Spaced(count) => count.min(turns),
        };
        let params = self.views.iter().map(|view| view.model.params()).max().unwrap_or(0);
        // Parameters as f32, multipliers as f64, and what selection measures of each model on each cell.
        let each = 4 * params + 8 * (losses.constraints() + 1) + 32 * losses.cells() + 128;
        let models = u128::from(kept) * self.games() as u128;
        memory::check(
            models * each as u128,
            &format!("keeping {models} models of {params} parameters each"),
            "keep fewer of them (--keep N)",
        )
    }

    /// Runs all games of so many turns, as many at once as there are threads. The watcher hears of their turns and may
    /// stop them.
    pub(super) fn play_all(
        &self,
        turns: u64,
        watch: &mut dyn Watch,
        run: impl Fn(usize, &AtomicBool, &dyn Fn(Turn)) -> Result<Played> + Sync,
    ) -> Result<Vec<Played>> {
        let games = self.games();
        let stop = AtomicBool::new(false);
        let mut at = vec![0; games];
        let run = |game: usize, tell: &dyn Fn(Turn)| {
            let played = run(game, &stop, tell);
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
        self.plan.threads.deal(games, run, hear).into_iter().collect()
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
            fitted: None,
        })
    }

    /// What a game without constraints keeps; `tick` is told of turns, and may stop it.
    pub(super) fn play_plain(
        &self,
        place: usize,
        tick: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Kept> {
        const APART: u64 = 256;
        let setting = self.setting(place);
        let mut game = self.algorithm(place).game(&setting)?;
        let mut every = Periodic::new(APART, |_: &Game<'_>| tick(APART));
        let patience = self.plan.spec.early_stop;
        let mut patience =
            patience.map(|one| EarlyStop::new(one, Arc::clone(&setting.val), &setting.threads));
        let mut observers: Vec<&mut dyn Observer> = vec![&mut every];
        observers.extend(patience.as_mut().map(|patience| patience as &mut dyn Observer));
        game.run(&mut observers)?;
        Ok(game.kept().clone())
    }

    /// Where the games are saved, if they are to be.
    pub(super) fn checkpoints(&self) -> Result<Option<Saved<'_>>> {
        let Some(checkpoints) = &self.plan.checkpoints else { return Ok(None) };
        let folder = &checkpoints.folder;
        std::fs::create_dir_all(folder).map_err(|error| {
            Error::new(ErrorKind::Io, format!("the folder cannot be made: {error}"))
                .at(folder.display())
        })?;
        let lock = FolderLock::take(folder)?;
        let every = match checkpoints.every {
            Some(every) => every,
            // A fold of the plug-in game is saved when it is done.
            None if self.ground.is_some() => 1,
            None => self.game(0)?.turns().div_ceil(50),
        };
        let identity = self.identity();
        let saved = Saved { checkpoints, games: self.games(), every, identity, _lock: lock };
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
pub(super) struct Saved<'a> {
    pub(super) checkpoints: &'a Checkpoints,
    games: usize,
    every: u64,
    identity: String,
    /// No other training saves to the folder as long as this one does.
    _lock: FolderLock,
}

impl Saved<'_> {
    pub(super) fn path(&self, game: usize) -> PathBuf {
        self.checkpoints.folder.join(match self.games {
            1 => "checkpoint.safetensors".to_owned(),
            _ => format!("checkpoint-{}.safetensors", game + 1),
        })
    }

    /// What tells a game from any other.
    pub(super) fn identity(&self, game: usize) -> String {
        match self.games {
            1 => self.identity.clone(),
            _ => format!("{}, game {}", self.identity, game + 1),
        }
    }

    /// Where one of the games is saved, and whether to go on from there.
    fn of(&self, game: usize) -> (Checkpoint, bool) {
        let checkpoint = Checkpoint::new(self.path(game), self.every, self.identity(game));
        (checkpoint, self.checkpoints.resume)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Practical;
    use crate::encode::{Coding, Cuts, Steps};
    use crate::model::ModelSpec;
    use crate::random::Stream;
    use crate::table::{Category, Column, Table, Values};
    use crate::train::Data;

    /// A number, a category with rare values, and a label.
    fn table(seed: u64) -> Table {
        let mut stream = Stream::new(seed, "teach");
        let (mut x, mut town, mut hired) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..400 {
            let value = stream.unit();
            x.push(value);
            town.push(Some(format!("t{}", stream.below(60))));
            hired.push(Some(value + 0.5 * stream.unit() > 0.7));
        }
        let towns = town.iter().map(Option::as_deref);
        Table::new(vec![
            Column::new("x", Values::Number(x)),
            Column::new("town", Values::Category(Category::from_texts(towns))),
            Column::new("hired", Values::Boolean(hired)),
        ])
        .unwrap()
    }

    /// The same rows, but some with other features.
    fn altered(table: &Table, rows: &[u32]) -> Table {
        let mut columns = table.columns().to_vec();
        if let Values::Number(x) = &mut columns[0].values {
            rows.iter().for_each(|&row| x[row as usize] = 1e6 + f64::from(row));
        }
        let Values::Category(towns) = &columns[1].values else { unreachable!("a category") };
        let mut texts: Vec<Option<String>> =
            towns.texts().map(|text| text.map(str::to_owned)).collect();
        rows.iter().for_each(|&row| texts[row as usize] = Some("elsewhere".to_owned()));
        let texts = texts.iter().map(Option::as_deref);
        columns[1].values = Values::Category(Category::from_texts(texts));
        Table::new(columns).unwrap()
    }

    /// Nothing that judges has taught: whatever the features of the rows that judge a fold, its games keep the same
    /// models, stop at the same turn and see the same encoder.
    #[test]
    fn what_judges_has_not_taught() {
        let buckets = Coding::Buckets { cuts: Cuts::Quantiles(7), steps: Steps::Single };
        let lattice = ModelSpec::Lattice(Default::default());
        let models = [ModelSpec::Linear, ModelSpec::Mlp { units: 4 }, lattice];
        for (model, coding) in
            models.into_iter().zip([Coding::Standardise, buckets, Coding::Standardise])
        {
            let mut spec = Spec::new("hired", &["recall() >= 0.9"]);
            spec.algorithm = Algorithm::Practical(Practical { turns: 400, ..Practical::default() });
            spec.encoder.numbers = coding;
            (spec.model, spec.keep) = (model, crate::game::Keep::Spaced(40));
            spec.early_stop = Some(crate::observe::Patience { kept: 5, least: 1e-3, after: 50 });
            let (whole, data) = (table(1), Data::from(&table(1)).shape());
            let plan = spec.plan(&data).unwrap();
            let training = plan.prepare(Data::from(&whole)).unwrap();
            let played = training.play(&mut ()).unwrap();
            let fold = &training.folds[0];
            let stored = fold.judge.as_ref().unwrap().iter();
            let judge: Vec<u32> = stored.map(|&row| training.train.order[row as usize]).collect();
            let other = altered(&whole, &judge);
            let again = plan.prepare(Data::from(&other)).unwrap();
            assert_eq!(again.views[again.folds[0].view], training.views[fold.view]);
            let replayed = again.play(&mut ()).unwrap();
            let folds = training.folds.len();
            for game in [0, folds] {
                assert_eq!(replayed[game].kept, played[game].kept);
                assert_eq!(replayed[game].turn, played[game].turn);
                assert_ne!(
                    replayed[game + 1].kept,
                    played[game + 1].kept,
                    "the rows teach the others"
                );
            }
        }
    }
}
