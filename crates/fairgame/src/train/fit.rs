//! The probabilities of the plug-in game, fitted in each fold.
//!
//! P(S | x) is fitted on the rows that teach in a fold; the rows set aside stop the boosting and calibrate. So nothing that
//! judges has taught. Probabilities that another model gives fold by fold are calibrated by rows that judge other folds. With checkpoints, a fold is saved when it is done.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use super::calibrate::{calibrate, calibrate_any};
use super::games::Saved;
use super::scores::Given;
use super::streams::{JUDGED, Streamed};
use super::training::Rows;
use super::{Played, Training, Turn, Watch};
use crate::algorithm::{Algorithm, PlugIn};
use crate::archive::Archive;
use crate::classifier::{LogOdds, Probabilities, Probability, View};
use crate::encode::{Encoder, Features};
use crate::game::{Ending, Kept};
use crate::model::trees::{Bins, Lesson, TreesSpec, boost};
use crate::model::{AnyModel, ModelSpec, Rule, ScoreScale};
use crate::random::mix;
use crate::rate::{Bound, Classes, Grid, LABEL, LossValues, Multipliers, Partition};
use crate::sample::Work;
use crate::table::Table;
use crate::{Error, ErrorKind, Result, Threads};

/// What a problem is like to rules.
#[derive(Debug, Clone)]
pub(super) struct Ground {
    classes: Classes,
    pub(super) grid: Grid,
    pub(super) rule: Rule,
}

impl Ground {
    /// The classes of the training rows by the predicates whose columns all encoders make features of.
    pub(super) fn new(
        bound: &Bound,
        partition: &Partition,
        encoders: &[&Encoder],
        table: &Table,
    ) -> Result<Self> {
        let kinds: Vec<_> = encoders.iter().map(|encoder| encoder.kinds()).collect();
        let is_feature = |column: &str| kinds.iter().all(|kinds| kinds.contains_key(column));
        let mut predicates = Vec::new();
        let mut known = Vec::with_capacity(bound.predicates().len());
        for (at, predicate) in bound.predicates().iter().enumerate() {
            let told = at != LABEL && predicate.columns().into_iter().all(is_feature);
            known.push(told.then_some(predicates.len()));
            predicates.extend(told.then(|| predicate.clone()));
        }
        let (classes, _) = Classes::new(predicates, table)?;
        let grid = Grid::new(bound, partition, &classes, &known)?;
        let rule = Rule::new(classes.count(), grid.sets())?;
        Ok(Ground { classes, grid, rule })
    }

    /// Whether some probability is that of the label itself.
    pub(super) fn models(&self, labelled: &[bool]) -> bool {
        (0..self.grid.sets()).any(|set| self.grid.in_set(set) == labelled)
    }

    /// The sets other than that of the label, whose probabilities are those of groups.
    pub(super) fn unlabelled(&self, labelled: &[bool]) -> Vec<usize> {
        (0..self.grid.sets()).filter(|&set| self.grid.in_set(set) != labelled).collect()
    }

    /// The class of each of the first rows.
    fn classes_of(&self, rows: &Rows, count: usize) -> Vec<u32> {
        rows.compiled.cells()[..count].iter().map(|&cell| self.grid.class_of(cell)).collect()
    }
}

/// The probabilities of one fold, and what they say of the rows.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// The view of the fold: encoder, probabilities and the family of rules.
    pub(super) view: View,
    /// What rules see of the training rows that a classifier is judged on, and of validation rows.
    pub(super) train: Features,
    pub(super) val: Option<Features>,
}

impl Training<'_> {
    /// Fits the probabilities of all folds, as many at once as there are threads.
    pub(super) fn fit(&self, ground: &Ground, watch: &mut dyn Watch) -> Result<Vec<Played>> {
        let saved = self.checkpoints()?;
        let turns = self.fit_turns(ground);
        let apart = watch.apart(turns).clamp(1, 10);
        self.play_all(turns, watch, |game, stop, tell| {
            self.fit_or_load(ground, game, saved.as_ref(), (turns, apart), stop, tell)
        })
    }

    /// Most turns of a fold: a tree is one, and so is a step of another model.
    fn fit_turns(&self, ground: &Ground) -> u64 {
        let sets = ground.grid.sets() as u64;
        match &self.plan.spec.model {
            ModelSpec::Trees(spec) => sets * spec.trees as u64,
            // At least one, so that there is an end.
            ModelSpec::Scores { .. } => 1 + sets * TreesSpec::default().trees as u64,
            _ => {
                let others = sets.saturating_sub(1) * TreesSpec::default().trees as u64;
                self.plug_in().turns + others
            }
        }
    }

    pub(super) fn plug_in(&self) -> PlugIn {
        match self.plan.spec.algorithm {
            Algorithm::PlugIn(plug_in) => plug_in,
            _ => PlugIn::default(),
        }
    }

    /// A fold as it was saved, or fitted and saved.
    fn fit_or_load(
        &self,
        ground: &Ground,
        game: usize,
        saved: Option<&Saved<'_>>,
        (turns, apart): (u64, u64),
        stop: &AtomicBool,
        tell: &dyn Fn(Turn),
    ) -> Result<Played> {
        let Some(saved) = saved else {
            return self.fit_fold(ground, game, (turns, apart), stop, tell);
        };
        let (path, identity) = (saved.path(game), saved.identity(game));
        if saved.checkpoints.resume && path.exists() {
            let archive = Archive::read(&path, WHAT)?;
            let (view, turn) =
                load(archive, &identity).map_err(|error| error.at(path.display()))?;
            let (losses, mean_lambda) = (LossValues::default(), self.silent());
            tell(Turn { game, turn, turns, done: turns, total: 0, losses, mean_lambda });
            return self.fitted(ground, game, view, (turn, turns));
        }
        let played = self.fit_fold(ground, game, (turns, apart), stop, tell)?;
        if let Some(fitted) = &played.fitted {
            let header = Header { identity, turn: played.turn, view: fitted.view.clone() };
            let header = serde_json::to_string(&header).map_err(|error| {
                Error::new(ErrorKind::Format, format!("the fold cannot be saved: {error}"))
            })?;
            let arrays = fitted.view.arrays();
            Archive { what: WHAT.to_owned(), header, arrays }.write(&path)?;
        }
        Ok(played)
    }

    /// What a fold came to whose probabilities are known.
    fn fitted(
        &self,
        ground: &Ground,
        game: usize,
        view: View,
        (turn, turns): (u64, u64),
    ) -> Result<Played> {
        let fold = &self.folds[game];
        let threads = self.fold_threads();
        let see = |rows: &Rows, count: usize| match &view.probabilities {
            Some(probabilities) => {
                let (features, classes) =
                    (&rows.features[fold.view], ground.classes_of(rows, count));
                let some = (count < rows.count()).then(|| features.first(count));
                let features = some.as_ref().unwrap_or(features);
                let rule = &ground.rule;
                let mut seen = match &rows.binned {
                    Some((_, binned)) => {
                        let some = (count < rows.count()).then(|| binned.first(count));
                        let binned = some.as_ref().unwrap_or(binned);
                        let rows = (features, binned);
                        probabilities.features_of_bins(rows, &classes, rule, &threads)?
                    }
                    None => probabilities.features(features, &classes, rule, &threads)?,
                };
                if game > 0 {
                    seen.forget_hashes();
                }
                Ok(seen)
            }
            None => Err(Error::new(ErrorKind::Format, "the fold has no probabilities")),
        };
        let train = see(&self.train, self.judged_rows())?;
        let val = self.val.as_ref().map(|val| see(val, val.count())).transpose()?;
        Ok(self.fold_played(Some(Arc::new(Fitted { view, train, val })), (turn, turns)))
    }

    /// What a fold came to: without probabilities, it was interrupted.
    fn fold_played(&self, fitted: Option<Arc<Fitted>>, (turn, turns): (u64, u64)) -> Played {
        Played {
            kept: Kept::default(),
            mean_lambda: self.silent(),
            suboptimality: None,
            turn,
            turns,
            ending: if turn < turns { Ending::Stopped } else { Ending::Played },
            interrupted: fitted.is_none(),
            fitted,
        }
    }

    /// How many of the training rows a classifier is judged on: all, or of plenty the first, which are a random sample.
    pub(super) fn judged_rows(&self) -> usize {
        match self.streamed {
            Some(_) => self.train.count().min(JUDGED),
            None => self.train.count(),
        }
    }

    /// What weights are multiplied with, so that their mean over the rows that teach is 1: the L2 penalty of trees is measured
    /// in rows. None where rows have no weights.
    fn unit_of_weights(&self, teach: &[u32]) -> Option<f64> {
        let weights = self.train.weights.as_deref()?;
        // Weights add up without rounding.
        let total = match &self.streamed {
            Some(streamed) => streamed.taught_weight(),
            None => teach.iter().map(|&row| f64::from(weights[row as usize])).sum(),
        };
        let unit = teach.len() as f64 / total;
        Some(if unit.is_finite() { unit } else { 1.0 })
    }

    /// The threads of one fold: folds run beside each other.
    fn fold_threads(&self) -> Threads {
        match self.folds.len() {
            1 => self.plan.threads.clone(),
            _ => Threads::default(),
        }
    }

    fn fit_fold(
        &self,
        ground: &Ground,
        game: usize,
        (turns, apart): (u64, u64),
        stop: &AtomicBool,
        tell: &dyn Fn(Turn),
    ) -> Result<Played> {
        let fold = &self.folds[game];
        let threads = self.fold_threads();
        let told = |turn: u64, done: u64| {
            let (losses, mean_lambda) = (LossValues::default(), self.silent());
            tell(Turn { game, turn, turns, done, total: 0, losses, mean_lambda });
        };
        let mut turn = 0;
        let mut tick = |more: u64| {
            turn += more;
            if turn % apart < more {
                told(turn, turn);
            }
            match stop.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let features = &self.train.features[fold.view];
        let all: Vec<u32>;
        let teach = match &fold.teach {
            Some(teach) => teach,
            None => {
                all = (0..features.rows() as u32).collect();
                &all
            }
        };
        let aside = fold.aside.as_deref().unwrap_or_default();
        let spec = match &self.plan.spec.model {
            ModelSpec::Trees(spec) => spec.clone(),
            _ => TreesSpec::default(),
        };
        let labelled = self.partition.labelled();
        let unit = self.unit_of_weights(teach);
        let weights = self.train.weights.as_deref().zip(unit);
        let weights = weights.map(|(all, unit)| of_unit(all, unit));
        let weights = weights.as_deref();
        let scores_of = Given::of(&self.plan.spec.model, &self.views[fold.view].encoder, game)?;
        let place = (game, self.folds.len());
        let groups =
            Given::of_groups(&self.plan.spec.model, &self.views[fold.view].encoder, place)?;
        let mut groups = groups.iter().enumerate();
        // Scores that none of the rows taught are calibrated by all rows but those that judge.
        let taught: Vec<u32>;
        let calibrating = match &scores_of {
            Some(given) if !given.of_fold => {
                taught = teach.iter().chain(aside).copied().collect();
                &taught
            }
            _ => aside,
        };
        let mut binned = None;
        let mut models = Vec::with_capacity(ground.grid.sets());
        for set in 0..ground.grid.sets() {
            let inside = ground.grid.in_set(set);
            let cells = self.train.compiled.cells();
            let target = |row: usize| f32::from(u8::from(inside[cells[row] as usize]));
            let of_label = inside == labelled;
            let of_group = if of_label { None } else { groups.next() };
            let by_others = of_group.is_some() || (of_label && scores_of.is_some());
            let calibrating = if of_group.is_some() { aside } else { calibrating };
            let mut rows = Cow::Borrowed(if by_others { calibrating } else { aside });
            let (scorer, scores) = match (&scores_of, &self.views[fold.view].model) {
                (Some(given), _) if by_others => {
                    let (group, given) =
                        of_group.map_or((None, given), |(at, one)| (Some(at), one));
                    let scores = match self.out_of_fold(game, group)? {
                        Some((others, scores)) => {
                            rows = Cow::Owned(others);
                            scores
                        }
                        None => {
                            rows.iter().map(|&row| given.score(features, row as usize)).collect()
                        }
                    };
                    (given.log_odds(), scores)
                }
                (None, model) if of_label && !matches!(model, AnyModel::Rule(_)) => {
                    self.fit_model(game, &target, &mut tick)?
                }
                _ => {
                    let (bins, codes) = match (&self.train.binned, &binned) {
                        (Some((bins, codes)), _) => (&**bins, codes),
                        (None, Some((bins, codes))) => (bins, codes),
                        (None, None) => {
                            let encoder = &self.views[fold.view].encoder;
                            let but = scores_of.as_ref().filter(|given| given.of_fold);
                            let but = but.map(|given| given.column.as_str());
                            let bins =
                                Bins::fit(&spec, encoder, features, (Some(teach), but), &threads)?;
                            let codes = bins.codes(features, &threads)?;
                            let both = binned.insert((bins, codes));
                            (&both.0, &both.1)
                        }
                    };
                    // What is said of the label's probability says nothing of a group's.
                    let free = (inside != labelled).then(|| bins.without_order());
                    let bins = free.as_ref().unwrap_or(bins);
                    let targets: Vec<f32> = (0..cells.len()).map(target).collect();
                    let numbers = self.train.numbers.as_deref();
                    let target = &targets;
                    let lesson =
                        Lesson { binned: codes, bins, teach, aside, target, weights, numbers };
                    let seed = mix(self.plan.spec.seed ^ mix((game * 64 + set) as u64));
                    let driver = self.streamed.as_ref().and_then(Streamed::driver);
                    let forest = match driver.filter(|_| self.train.binned.is_some()) {
                        Some(driver) => {
                            let lesson = Lesson { teach: &[], ..lesson };
                            let (inside, how) = (inside.to_vec(), (&spec, seed));
                            let tell = &mut |_| tick(1);
                            driver.boost((inside, unit), &lesson, how, &threads, tell)?
                        }
                        None => boost(&lesson, &spec, seed, &threads, &mut |_| tick(1))?,
                    };
                    let score = |&row: &u32| forest.score_row(codes.row(row as usize));
                    let scores: Vec<f32> = aside.iter().map(score).collect();
                    (LogOdds::Trees(Some(forest)), scores)
                }
            };
            let rows = rows.iter().zip(&scores).map(|(&row, &score)| {
                let row = row as usize;
                (score, target(row), weights.map_or(1.0, |weights| weights[row]))
            });
            let rows: Vec<_> = rows.collect();
            let (slope, shift) = match by_others {
                true => calibrate_any(rows),
                false => calibrate(&rows),
            };
            let condition = ground.grid.condition(set);
            models.push(Probability { scorer, slope, shift, condition });
        }
        let interrupted = stop.load(Ordering::Relaxed);
        if !interrupted {
            told(turn, turns);
        }
        let stored = self.train.binned.as_ref().map(|(bins, _)| Bins::clone(bins));
        let bins = binned.map(|(bins, _)| bins).or(stored);
        let view = View {
            encoder: self.views[fold.view].encoder.clone(),
            model: AnyModel::Rule(ground.rule.clone()),
            probabilities: Some(Probabilities::new(ground.classes.clone(), bins, models)),
        };
        match interrupted {
            true => Ok(self.fold_played(None, (turn, turns))),
            false => self.fitted(ground, game, view, (turn, turns)),
        }
    }

    /// The rows and scores that calibrate a fold's probabilities, where another model was fitted once for each fold: rows that
    /// judge the other folds, each with the score of the model that it judges. With a `group`, these are the probabilities of
    /// that set. So another model can learn from all rows but those that judge it, and no row calibrates a fold that it judges.
    fn out_of_fold(
        &self,
        game: usize,
        group: Option<usize>,
    ) -> Result<Option<(Vec<u32>, Vec<f32>)>> {
        let ModelSpec::Scores { columns, scale, .. } = &self.plan.spec.model else {
            return Ok(None);
        };
        // Log-odds in name only may be in units that differ from fold to fold.
        let alike = *scale == ScoreScale::Probability;
        let own = group.is_some() || (columns.len() > 1 && alike);
        if !own || self.folds.iter().any(|fold| fold.judge.is_none()) {
            return Ok(None);
        }
        let (mut rows, mut scores) = (Vec::new(), Vec::new());
        for (at, fold) in self.folds.iter().enumerate() {
            if at == game || fold.repeat != self.folds[game].repeat {
                continue;
            }
            let (model, encoder) = (&self.plan.spec.model, &self.views[fold.view].encoder);
            let given = match group {
                Some(group) => {
                    Given::of_groups(model, encoder, (at, self.folds.len()))?.into_iter().nth(group)
                }
                None => Given::of(model, encoder, at)?,
            };
            let features = &self.train.features[fold.view];
            if let (Some(given), Some(judge)) = (given, &fold.judge) {
                rows.extend(judge);
                scores.extend(judge.iter().map(|&row| given.score(features, row as usize)));
            }
        }
        Ok(Some((rows, scores)))
    }

    /// Multipliers before any were played.
    pub(super) fn silent(&self) -> Multipliers {
        Multipliers { objective: 1.0, constraints: vec![0.0; self.bound.constraints().len()] }
    }

    /// Trains the settings' own model on the error with the logistic loss, and takes the kept parameters with the least
    /// logistic loss on the rows set aside.
    fn fit_model(
        &self,
        game: usize,
        target: &dyn Fn(usize) -> f32,
        tick: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<(LogOdds, Vec<f32>)> {
        let fold = &self.folds[game];
        let kept = self.play_plain(game, tick)?;
        let aside = fold.aside.as_deref().unwrap_or_default();
        let sample = self.aside(game, true);
        let mut best: Option<(f64, usize, Vec<f32>)> = None;
        let (mut work, weights) = (Work::default(), self.train.weights.as_deref());
        // Without such rows nothing but the rows that judge could tell: the last model is as good as any.
        let told_apart = if aside.is_empty() { &[] } else { kept.models.as_slice() };
        for (at, model) in told_apart.iter().enumerate() {
            let (mut loss, mut scores) = (0.0, Vec::with_capacity(aside.len()));
            sample.scores(model, &mut work, |row, score| {
                let sign = if target(row) > 0.5 { 1.0 } else { -1.0 };
                let weight = weights.map_or(1.0, |weights| f64::from(weights[row]));
                loss += weight * (-sign * f64::from(score)).exp().ln_1p();
                scores.push(score);
            })?;
            if best.as_ref().is_none_or(|(least, ..)| loss < *least) {
                best = Some((loss, at, scores));
            }
        }
        let last = kept.models.len().saturating_sub(1);
        let (at, scores) = best.map_or((last, Vec::new()), |(_, at, scores)| (at, scores));
        let theta = kept.models.get(at).map(|model| model.theta().to_vec()).unwrap_or_default();
        let model = Box::new(self.views[fold.view].model.clone());
        Ok((LogOdds::Model { model, theta }, scores))
    }
}

/// What an [`Archive`] of a fold is called.
const WHAT: &str = "checkpoint";

/// A fold that is done, as it is saved; the numbers of its models are arrays beside it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    identity: String,
    /// How many trees or turns it took.
    turn: u64,
    view: View,
}

/// The view that was saved, and how many turns it took.
fn load(mut archive: Archive, identity: &str) -> Result<(View, u64)> {
    let broken = |why: String| {
        Error::new(ErrorKind::Format, format!("the checkpoint's header is wrong: {why}"))
    };
    let header: Header =
        serde_json::from_str(&archive.header).map_err(|error| broken(error.to_string()))?;
    if header.identity != identity {
        let message = "the checkpoint is of another training: its data or its settings differ";
        return Err(Error::new(ErrorKind::Settings, message).help(
            "train with the data and settings that it was saved with, or choose another folder",
        ));
    }
    let mut view = header.view;
    view.take_arrays(&mut archive.arrays)?;
    view.check()?;
    Ok((view, header.turn))
}

/// The same weights, each so many times as much.
fn of_unit(weights: &[f32], unit: f64) -> Vec<f32> {
    weights.iter().map(|&weight| (f64::from(weight) * unit) as f32).collect()
}
