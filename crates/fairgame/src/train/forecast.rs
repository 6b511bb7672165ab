//! What a training will take, foretold from trainings on some of its rows.
//!
//! Two trainings, on n/2 and on n of the first rows, go the road that all rows will go. Time grows with rows as a line
//! through both. Memory is computed from what is stored of a row, and from what was measured to come on top of it (bench
//! `scale`).

use std::borrow::Cow;
use std::time::Instant;

use serde::Serialize;

use super::training::Rows;
use super::{Data, Plan, Sheet, Stream, Streams, Training};
use crate::Result;
use crate::model::ModelSpec;
use crate::table::{Extent, Feed, PLENTY, Table, Values};

/// Most rows of a trial.
const TRIAL: usize = 200_000;

/// Bytes a row beside those that are stored, in a training that holds no table: of a linear model, and of trees.
const BESIDE: f64 = 13.0;
const BESIDE_TREES: f64 = 31.0;

/// Bytes a row beside the table and what models see of it, in a training that holds the table.
const BESIDE_TABLE: f64 = 80.0;
const BESIDE_TABLE_TREES: f64 = 140.0;

/// What the program takes by itself.
const BASE: f64 = 6e7;

/// What the rows of a trial are called.
const FIRST: &str = "the first rows";

/// What a training will take.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Forecast {
    /// Rows to train on and to enforce constraints on.
    pub rows: u64,
    /// Whether that number is exact; otherwise it is foretold from the first rows of text files.
    pub exact: bool,
    /// Whether rows are read in passes, and never held as a table.
    pub in_passes: bool,
    /// Seconds that reading takes, all passes together.
    pub reading: f64,
    /// Seconds that all takes; none if the first rows cannot be trained on alone.
    pub seconds: Option<f64>,
    /// Why they cannot.
    pub obstacle: Option<String>,
    /// Bytes of memory at the most.
    pub memory: u64,
    /// Bytes of temporary files at the most.
    pub disk: u64,
    /// How many rows the larger of the two trainings had.
    pub trial: usize,
}

/// How long a trial took, and how large its rows are.
struct Trial {
    rows: f64,
    /// Seconds until all was ready to play, and in all.
    prepared: f64,
    seconds: f64,
    /// Bytes of what is stored.
    stored: f64,
}

impl Plan {
    /// Foretells what a training on these rows will take. Files are not read to their end, unless they are of Arrow's
    /// format, or short.
    ///
    /// # Errors
    /// If the rows cannot be read, or do not fit the settings.
    pub fn forecast(&self, streams: Streams<'_>) -> Result<Forecast> {
        let train = streams.train.feed.extent(TRIAL)?;
        let val = match streams.val {
            Some(val) => Some(val.feed.like(&train.first).extent(TRIAL)?),
            None => None,
        };
        let others = val.as_ref().map_or(0, |val| val.rows);
        let rows = train.rows + others;
        let mut shape = Streams::new(Feed::of("", Cow::Borrowed(&train.first)))
            .shape(usize::try_from(train.rows).unwrap_or(usize::MAX));
        (shape.validation, shape.test) = (val.is_some(), streams.test.is_some());
        let mut plan = self.stated().plan(&shape)?.with_threads(self.threads.clone());
        plan.own = self.own.clone();
        let in_passes = train.rows >= PLENTY as u64 && plan.streams();
        // A trial of nearly all rows would take as long as the training.
        let trial = train.first.rows().min((train.rows / 4).max(100) as usize);
        let tried =
            [trial / 2, trial].map(|rows| plan.trial(rows, &train, val.as_ref(), in_passes));
        let passes = if in_passes { 2.0 } else { 1.0 };
        let reading = train.took.as_secs_f64() * rows as f64 * passes;
        let trees = matches!(plan.spec().model, ModelSpec::Trees(_));
        let of_table = bytes_of(&train.first) / train.first.rows().max(1) as f64;
        let mut forecast = Forecast {
            rows,
            exact: train.exact && val.is_none_or(|val| val.exact),
            in_passes,
            reading,
            seconds: None,
            obstacle: None,
            memory: (of_table * rows as f64) as u64,
            disk: 0,
            trial,
        };
        let [half, whole] = match tried {
            [Ok(half), Ok(whole)] => [half, whole],
            [Err(error), _] | [_, Err(error)] => {
                forecast.obstacle = Some(error.to_string());
                return Ok(forecast);
            }
        };
        let many = rows as f64;
        let stored = whole.stored / whole.rows * many;
        let beside = match (in_passes, trees) {
            (true, false) => BESIDE,
            (true, true) => BESIDE_TREES,
            (false, false) => BESIDE_TABLE + of_table,
            (false, true) => BESIDE_TABLE_TREES + of_table,
        };
        let budget = self.store.budget().map_or(f64::INFINITY, |bytes| bytes as f64);
        let held = if in_passes { stored.min(budget) } else { stored };
        let prepared = line(&half, &whole, many, |trial| trial.prepared);
        let played = line(&half, &whole, many, |trial| trial.seconds - trial.prepared);
        // In passes another thread reads ahead.
        let ready = if in_passes { prepared.max(reading) } else { prepared + reading };
        forecast.seconds = Some(ready + played);
        forecast.memory = (BASE + held + beside * many) as u64;
        forecast.disk = (stored - held) as u64;
        Ok(forecast)
    }

    /// Trains on the first rows.
    fn trial(
        &self,
        rows: usize,
        train: &Extent,
        val: Option<&Extent>,
        in_passes: bool,
    ) -> Result<Trial> {
        let first = |extent: &Extent, rows: usize| {
            let rows = rows.clamp(1, extent.first.rows());
            extent.first.take(&(0..rows).collect::<Vec<_>>())
        };
        let own = first(train, rows);
        let others =
            val.map(|val| first(val, (val.rows * rows as u64 / train.rows.max(1)) as usize));
        let start = Instant::now();
        let training = match in_passes {
            true => {
                let stream = |table| Stream::from(Feed::of(FIRST, Cow::Owned(table)));
                let streams = Streams { train: stream(own), val: others.map(stream), test: None };
                Training::streamed(self.clone(), streams, &mut ())?
            }
            false => {
                let val = others.map(|table| Sheet::owned(table, FIRST));
                let train = Sheet::owned(own, FIRST);
                Training::new(self.clone(), Data { train, val, test: None, fitted: None })?
            }
        };
        let prepared = start.elapsed().as_secs_f64();
        let parts = || std::iter::once(&training.train).chain(&training.val);
        let (stored, rows) = parts().fold((0.0, 0.0), |(bytes, rows), part| {
            (bytes + part.bytes() as f64, rows + part.count() as f64)
        });
        let played = training.play(&mut ())?;
        training.finish(&played)?;
        Ok(Trial { rows, prepared, seconds: start.elapsed().as_secs_f64(), stored })
    }
}

/// A line through two trials, at so many rows; it does not fall.
fn line(half: &Trial, whole: &Trial, rows: f64, of: impl Fn(&Trial) -> f64) -> f64 {
    let slope = ((of(whole) - of(half)) / (whole.rows - half.rows).max(1.0)).max(0.0);
    of(whole) + slope * (rows - whole.rows).max(0.0)
}

/// The bytes of a table's values.
fn bytes_of(table: &Table) -> f64 {
    let values = table.columns().iter().map(|column| match &column.values {
        Values::Number(all) => size_of_val(all.as_slice()),
        Values::Category(all) => size_of_val(all.codes.as_slice()),
        Values::Boolean(all) => size_of_val(all.as_slice()),
    });
    values.sum::<usize>() as f64
}

impl Rows {
    /// The bytes that are stored of all rows.
    fn bytes(&self) -> usize {
        let features: usize = self.features.iter().map(|one| one.all_bytes()).sum();
        let binned = self.binned.as_ref().map_or(0, |(_, codes)| codes.bytes());
        let weights = self.weights.iter().chain(&self.given).map(|all| size_of_val(&**all));
        let units = self.units.as_ref().map_or(0, |all| size_of_val(all.as_slice()));
        let cells = size_of_val(self.compiled.cells());
        features + binned + cells + units + weights.sum::<usize>()
    }
}
