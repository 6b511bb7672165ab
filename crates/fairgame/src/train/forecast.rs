//! What a training will take, foretold from trainings on some of its rows.
//!
//! Two trainings, on n/2 and on n of the first rows, go the road that all rows will go. Time grows with rows as a line
//! through both. Memory is computed from what is stored of a row, and from what was measured to come on top of it (bench
//! `scale`).

use std::borrow::Cow;
use std::time::Instant;

use serde::Serialize;

use super::streams::{CHUNK, Reading, STAGED_BYTES, sample_rows};
use super::training::Rows;
use super::{Data, Notice, Plan, Sheet, Stream, Streams, Training};
use crate::Result;
use crate::model::ModelSpec;
use crate::rate::Question;
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

/// How often the sample that encoders are fitted on is held at a time, as a table or as features, and how many chunks are.
const SAMPLES: f64 = 2.5;
const CHUNKS: f64 = 5.0;

/// What the rows of a trial are called.
const FIRST: &str = "the first rows";

/// What a training will take.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Forecast {
    /// Rows that are given to train on, and validation rows.
    pub rows: u64,
    /// Whether that number is exact; otherwise it is foretold from the first rows of text files.
    pub exact: bool,
    /// Whether rows are read in passes, and never held as a table.
    pub in_passes: bool,
    /// How often they are read.
    pub passes: u32,
    /// Seconds that reading takes, all passes together.
    pub reading: f64,
    /// Seconds that all takes; none if the first rows cannot be trained on alone.
    pub seconds: Option<f64>,
    /// Why they cannot.
    pub obstacle: Option<String>,
    /// Bytes of memory; none if the first rows cannot be trained on alone.
    pub memory: Option<u64>,
    /// Bytes of temporary files at the most; none if the first rows cannot be trained on alone.
    pub disk: Option<u64>,
    /// How many rows the larger of the two trainings had.
    pub trial: usize,
}

/// How long a trial took, and how large its rows are.
struct Trial {
    /// How many rows it was given.
    rows: f64,
    /// Seconds until all was ready to play, and in all.
    prepared: f64,
    seconds: f64,
    /// Bytes of what is stored of rows, slab by slab.
    slabs: Vec<f64>,
    /// Whether copies were found, so that the first pass is made twice.
    copies: bool,
}

impl Plan {
    /// Foretells what a training on these rows will take. Files are not read to their end, unless they are of Arrow's
    /// format, or short.
    ///
    /// # Errors
    /// If the rows cannot be read, or do not fit the settings.
    pub fn forecast(&self, streams: Streams<'_>) -> Result<Forecast> {
        let copied = streams.train.feed.copied() as f64;
        let train = streams.train.feed.extent(TRIAL)?;
        let extent = |stream: Option<Stream<'_>>| -> Result<Option<Extent>> {
            stream.map(|one| one.feed.like(&train.first).extent(TRIAL)).transpose()
        };
        let (val, test) = (extent(streams.val)?, extent(streams.test)?);
        let rows = train.rows + val.as_ref().map_or(0, |val| val.rows);
        let mut shape = Streams::new(Feed::of("", Cow::Borrowed(&train.first)))
            .shape(usize::try_from(train.rows).unwrap_or(usize::MAX));
        (shape.validation, shape.test) = (val.is_some(), test.is_some());
        let mut plan = self.stated().plan(&shape)?.with_threads(self.threads.clone());
        (plan.own, plan.open) = (self.own.clone(), self.open);
        let in_passes = train.rows >= PLENTY as u64 && plan.streams();
        // A trial of nearly all rows would take as long as the training.
        let trial = train.first.rows().min((train.rows / 4).max(100) as usize);
        let tried =
            [trial / 2, trial].map(|rows| plan.trial(rows, &train, val.as_ref(), in_passes));
        let spec = plan.spec();
        let mut passes = match in_passes {
            true => 2 + u32::from(Question::of(&plan.problem).quantile_columns().next().is_some()),
            false => 1,
        };
        passes += u32::from(in_passes && spec.test_fraction > 0.0);
        let copies = |one: &Result<Trial>| one.as_ref().is_ok_and(|one| one.copies);
        passes += u32::from(in_passes && tried.iter().any(copies));
        let took = train.took.as_secs_f64();
        let tested = test.as_ref().map_or(0, |test| test.rows) as f64;
        let reading = took * (rows as f64 * f64::from(passes) + tested);
        let trees = matches!(spec.model, ModelSpec::Trees(_));
        let mut forecast = Forecast {
            rows,
            exact: train.exact && val.is_none_or(|val| val.exact),
            in_passes,
            passes,
            reading,
            seconds: None,
            obstacle: None,
            memory: None,
            disk: None,
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
        let prepared = line(&half, &whole, many, |trial| trial.prepared);
        let played = line(&half, &whole, many, |trial| trial.seconds - trial.prepared);
        // In passes another thread reads ahead.
        let ready = if in_passes { prepared.max(reading) } else { prepared + reading };
        forecast.seconds = Some(ready + played);
        let a_row = bytes_of(&train.first) / train.first.rows().max(1) as f64;
        let slabs = whole.slabs.iter().map(|bytes| bytes / whole.rows * many);
        if !in_passes {
            let beside = a_row + if trees { BESIDE_TABLE_TREES } else { BESIDE_TABLE };
            forecast.memory = Some((BASE + slabs.sum::<f64>() + beside * many) as u64);
            forecast.disk = Some(copied as u64);
            return Ok(forecast);
        }
        // As rows are stored: what does not fit into what is left of the budget is a file, whole.
        let mut left = self.store.budget().map_or(f64::INFINITY, |bytes| bytes as f64);
        let (mut held, mut disk) = (0.0, 0.0);
        for bytes in slabs {
            if bytes <= left {
                (held, left) = (held + bytes, left - bytes);
            } else {
                disk += bytes;
            }
        }
        let fixed = BASE
            + SAMPLES * a_row * sample_rows(train.first.columns().len()).min(many as usize) as f64
            + CHUNKS * a_row * CHUNK as f64
            + if disk > 0.0 { STAGED_BYTES as f64 } else { 0.0 };
        let beside = if trees { BESIDE_TREES } else { BESIDE };
        forecast.memory = Some((fixed + held + beside * many) as u64);
        forecast.disk = Some((disk + copied) as u64);
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
        let given = own.rows() + others.as_ref().map_or(0, Table::rows);
        let start = Instant::now();
        let training = match in_passes {
            true => {
                let stream = |table| Stream::from(Feed::of(FIRST, Cow::Owned(table)));
                let streams = Streams { train: stream(own), val: others.map(stream), test: None };
                Training::streamed(self.clone(), Reading::Here(Box::new(streams)), &mut ())?
            }
            false => {
                let val = others.map(|table| Sheet::owned(table, FIRST));
                let train = Sheet::owned(own, FIRST);
                Training::new(self.clone(), Data { train, val, test: None, fitted: None })?
            }
        };
        let prepared = start.elapsed().as_secs_f64();
        let parts = std::iter::once(&training.train).chain(&training.val);
        let slabs = parts.flat_map(|part| part.slabs(in_passes)).map(|bytes| bytes as f64);
        let slabs = slabs.collect();
        let copies = training.notices.iter().any(|one| matches!(one, Notice::Copies { .. }));
        let played = training.play(&mut ())?;
        training.finish(&played)?;
        let seconds = start.elapsed().as_secs_f64();
        Ok(Trial { rows: given as f64, prepared, seconds, slabs, copies })
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
    /// The bytes of all that is stored of the rows, as it is allocated one after the other. In passes the number of each row
    /// is stored, too, until rows are in order.
    fn slabs(&self, in_passes: bool) -> Vec<usize> {
        let features: usize = self.features.iter().map(|one| one.all_bytes()).sum();
        let seen = features + self.binned.as_ref().map_or(0, |(_, codes)| codes.bytes());
        let weights = self.weights.iter().chain(&self.given).map(|all| size_of_val(&**all));
        // Units are numbers of four bytes here, and were keys of eight.
        let units = self.units.as_ref().map(|all| 2 * size_of_val(all.as_slice()));
        let numbers = if in_passes { 4 * self.count() } else { 0 };
        let cells = size_of_val(self.compiled.cells());
        [seen, cells].into_iter().chain(weights).chain(units).chain([numbers]).collect()
    }
}
