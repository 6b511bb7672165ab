//! Boosting: each tree corrects the trees before it.
//!
//! Scores begin at the log-odds of the weighted mean target. Each round takes the gradients of the logistic loss at the
//! scores, grows a tree on a sample of rows and columns, and adds the learning rate times its values. Which rows and
//! columns a tree sees follows from a hash of seed, tree and row or column, not from any order. Training stops when
//! the loss on the rows set aside has not improved for some trees; the forest is cut back to where it was least.

use std::borrow::Cow;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::bins::{Binned, Bins};
use super::field::{About, Field, Round, Rows, is_first};
use super::forest::Forest;
use super::gradient::{Scale, loss};
use super::grow::Grower;
use super::histogram::Frame;
use super::spec::TreesSpec;
use crate::random::{Stream, mix};
use crate::threads::Threads;
use crate::{Error, ErrorKind, Result};

/// Trees learn from fewer rows than this: the number of a row has 32 bits.
pub(super) const MOST_ROWS: usize = u32::MAX as usize;

/// What trees learn from.
#[derive(Debug, Clone, Copy)]
pub struct Lesson<'a> {
    /// The codes of all rows.
    pub binned: &'a Binned,
    /// What the codes mean.
    pub bins: &'a Bins,
    /// The rows to learn from; a row that is named twice counts twice.
    pub teach: &'a [u32],
    /// The rows that early stopping looks at; without any, all trees are grown.
    pub aside: &'a [u32],
    /// What each row should be, from 0 to 1.
    pub target: &'a [f32],
    /// How much each row counts, 0 or more; a row of weight 2 counts as two rows.
    pub weights: Option<&'a [f32]>,
    /// What the rows that a tree sees are drawn by: a number for each row. Without, it is its place.
    pub numbers: Option<&'a [u32]>,
}

/// Boosts trees. `watch` is told how many trees there are after each, and may stop.
///
/// # Errors
/// If settings or lengths are wrong, if no row has a weight, or if a target or weight is not a number in its range.
pub fn boost(
    lesson: &Lesson<'_>,
    spec: &TreesSpec,
    seed: u64,
    threads: &Threads,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<Forest> {
    spec.check()?;
    lesson.check()?;
    grow_on(&mut Rows::new(lesson), lesson, spec, seed, threads, watch)
}

/// Boosts trees on rows that a field has; the rows set aside are the lesson's.
pub(super) fn grow_on(
    field: &mut dyn Field,
    lesson: &Lesson<'_>,
    spec: &TreesSpec,
    seed: u64,
    threads: &Threads,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<Forest> {
    let aside = lesson.ordered(lesson.aside);
    let heaviest = field.heaviest()?;
    let about = field.about(heaviest)?;
    if about.rows == 0 {
        return Err(Error::new(ErrorKind::Value, "there are no rows for trees to learn from")
            .help("give at least one row of a weight above 0"));
    }
    if about.rows >= MOST_ROWS {
        let message = format!("trees learn from fewer than {MOST_ROWS} rows, not {}", about.rows);
        return Err(Error::new(ErrorKind::Settings, message).help("train on a sample of the rows"));
    }
    let columns = lesson.bins.columns();
    let (base, constant) = base(&about);
    let mut forest = Forest::new(columns, base);
    if constant || columns == 0 {
        return Ok(forest);
    }
    let scale = Scale::new(about.rows, heaviest);
    let growth = spec.growth(about.rows);
    let sampler = Sampler::new(spec, seed);
    field.start(base, scale, sampler)?;
    let mut grower = Grower::default();
    let mut judge = Judge::new(lesson, &aside, base);
    for number in 0..spec.trees {
        let active = sampler.columns(number, columns);
        let (shapes, active) = (lesson.bins.shapes.as_slice(), active.as_slice());
        let round = Round { number, sampler, frame: Frame { scale, shapes, active, threads } };
        if !grower.grow(field, &round, growth, &mut forest)? {
            // Another sample may find what this one did not.
            if sampler.takes_all() {
                break;
            }
            continue;
        }
        field.learn(&forest, &grower.values(growth.rate))?;
        judge.hear(&forest, threads);
        let told = watch(forest.trees());
        if told.is_break() || judge.waited(forest.trees()) >= spec.patience {
            break;
        }
    }
    judge.cut(&mut forest);
    Ok(forest)
}

impl<'a> Lesson<'a> {
    fn check(&self) -> Result<()> {
        let wrong = |what: String| Err(Error::new(ErrorKind::Value, what));
        let rows = self.binned.rows();
        if self.binned.columns != self.bins.columns() {
            return wrong("the codes are not of these bins".to_owned());
        }
        if self.target.len() != rows || self.weights.is_some_and(|weights| weights.len() != rows) {
            return wrong(format!("there must be a target and a weight for each of {rows} rows"));
        }
        for &row in self.teach.iter().chain(self.aside) {
            let Some(target) = self.target.get(row as usize) else {
                return wrong(format!("there is no row {row}: there are {rows}"));
            };
            if !(0.0..=1.0).contains(target) {
                return wrong(format!("the target of row {row} is {target}, not from 0 to 1"));
            }
            let weight = self.weights.map_or(1.0, |weights| weights[row as usize]);
            // A sum of weights beyond these could not be scaled.
            if weight != 0.0 && !(1e-30..=1e30).contains(&weight) {
                return wrong(format!(
                    "the weight of row {row} is {weight}, neither 0 nor from 1e-30 to 1e30"
                ));
            }
        }
        Ok(())
    }

    /// The rows that have a weight, in ascending order.
    pub(super) fn ordered<'r>(&self, rows: &'r [u32]) -> Cow<'r, [u32]> {
        if self.weights.is_none() && rows.is_sorted() {
            return Cow::Borrowed(rows);
        }
        let weighs = |row: &u32| self.weights.is_none_or(|weights| weights[*row as usize] > 0.0);
        let mut rows: Vec<u32> = rows.iter().copied().filter(weighs).collect();
        rows.sort_unstable();
        Cow::Owned(rows)
    }

    /// The codes of these rows, beside each other.
    pub(super) fn codes(&self, rows: &[u32]) -> Cow<'a, [u8]> {
        if is_first(rows) {
            return Cow::Borrowed(&self.binned.codes[..rows.len() * self.binned.columns]);
        }
        Cow::Owned(rows.iter().flat_map(|&row| self.binned.row(row as usize)).copied().collect())
    }
}

/// The log-odds of the mean target, and whether all targets are the same one, 0 or 1.
fn base(about: &About) -> (f32, bool) {
    // As if half a row more of each kind had been seen, where there is none of one kind.
    let least = 0.5 / (about.rows as f64 + 1.0);
    let mean = (about.positive as f64 / about.weight as f64).clamp(least, 1.0 - least);
    let (low, high) = about.targets;
    ((mean / (1.0 - mean)).ln() as f32, low == high && (low == 0.0 || low == 1.0))
}

/// Which rows and columns a tree sees.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sampler {
    rows: f64,
    columns: f64,
    keys: [u64; 2],
}

impl Sampler {
    fn new(spec: &TreesSpec, seed: u64) -> Self {
        let keys = ["rows of a tree", "columns of a tree"];
        let keys = keys.map(|purpose| Stream::new(seed, purpose).bits());
        Sampler { rows: spec.rows, columns: spec.columns, keys }
    }

    fn takes_all(&self) -> bool {
        self.rows >= 1.0 && self.columns >= 1.0
    }

    /// A hash of the tree and a row or column.
    fn hash(key: u64, round: usize, item: u64) -> u64 {
        mix(mix(key ^ round as u64) ^ item)
    }

    /// Puts the places of the rows that the tree sees into `seen`, and returns the others.
    pub(super) fn rows(&self, round: usize, teach: &[u32], seen: &mut Vec<u32>) -> Vec<u32> {
        seen.clear();
        let places = 0..teach.len() as u32;
        if self.rows >= 1.0 {
            seen.extend(places);
            return Vec::new();
        }
        let limit = (self.rows * 2.0_f64.powi(64)) as u64;
        let key = mix(self.keys[0] ^ round as u64);
        seen.resize(teach.len(), 0);
        let mut rest = vec![0; teach.len()];
        let (mut taken, mut left) = (0, 0);
        for (place, &row) in places.zip(teach) {
            let takes = usize::from(mix(key ^ u64::from(row)) < limit);
            seen[taken] = place;
            rest[left] = place;
            taken += takes;
            left += 1 - takes;
        }
        seen.truncate(taken);
        rest.truncate(left);
        rest
    }

    /// The columns that the tree may split on, at least one of them.
    fn columns(&self, round: usize, columns: usize) -> Vec<u16> {
        let mut drawn: Vec<u16> = (0..columns as u16).collect();
        let count = (self.columns * columns as f64).ceil().max(1.0) as usize;
        if count < columns {
            drawn.sort_by_cached_key(|&column| Self::hash(self.keys[1], round, u64::from(column)));
            drawn.truncate(count);
            drawn.sort_unstable();
        }
        drawn
    }
}

/// The loss on the rows set aside, after each tree.
struct Judge<'a> {
    lesson: &'a Lesson<'a>,
    rows: &'a [u32],
    scores: Vec<f32>,
    /// The least loss, and after how many trees.
    best: (i128, usize),
}

impl<'a> Judge<'a> {
    fn new(lesson: &'a Lesson<'a>, rows: &'a [u32], base: f32) -> Self {
        let mut judge = Judge { lesson, rows, scores: vec![base; rows.len()], best: (0, 0) };
        judge.best.0 = judge.loss(0, &judge.scores);
        judge
    }

    /// The loss of rows from `start` on, in fixed point, so that their order cannot matter.
    fn loss(&self, start: usize, scores: &[f32]) -> i128 {
        let weights = self.lesson.weights;
        let heaviest = weights.map_or(1.0, |weights| {
            self.rows.iter().map(|&row| weights[row as usize]).fold(0.0, f32::max)
        });
        let scale = 2.0_f64.powi(40) / f64::from(heaviest);
        let rows = self.rows[start..].iter().zip(scores);
        rows.map(|(&row, &score)| {
            let row = row as usize;
            let weight = weights.map_or(1.0, |weights| weights[row]);
            (f64::from(weight) * loss(score, self.lesson.target[row]) * scale).round() as i128
        })
        .sum()
    }

    /// Hears of the last tree.
    fn hear(&mut self, forest: &Forest, threads: &Threads) {
        const BLOCK: usize = 8_192;
        let mut scores = std::mem::take(&mut self.scores);
        let mut blocks: Vec<_> = scores.chunks_mut(BLOCK).enumerate().collect();
        let losses = threads.each_mut(&mut blocks, |(block, scores)| {
            let start = *block * BLOCK;
            for (score, &row) in scores.iter_mut().zip(&self.rows[start..]) {
                *score += forest.walk(forest.trees() - 1, self.lesson.binned.row(row as usize));
            }
            self.loss(start, scores)
        });
        let loss = losses.iter().sum();
        self.scores = scores;
        if loss < self.best.0 {
            self.best = (loss, forest.trees());
        }
    }

    /// How many trees have not improved the loss.
    fn waited(&self, trees: usize) -> usize {
        if self.rows.is_empty() { 0 } else { trees - self.best.1 }
    }

    /// Cuts the forest back to where the loss was least.
    fn cut(&self, forest: &mut Forest) {
        if !self.rows.is_empty() {
            forest.truncate(self.best.1);
        }
    }
}
