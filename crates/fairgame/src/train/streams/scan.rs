//! The first pass over the rows: what they are like.
//!
//! It counts rows, checks weights, finds the patterns that the problem tells apart ([`Survey`]), looks for copies, and
//! draws the sample that the encoder is fitted on. Of each row it keeps its pattern and part, in one, two or four bytes.

use std::collections::BTreeMap;
use std::sync::mpsc::sync_channel;

use serde::{Deserialize, Serialize};

use super::divide::{Divide, Part};
use super::gather::Gather;
use super::{Stream, depot};
use crate::classifier::draws;
use crate::random::mix;
use crate::rate::{Problem, Quantiles, Question, Survey};
use crate::table::{Column, Feed, Table, Values, no_such_column};
use crate::train::importance::MOST_ROWS;
use crate::train::{Datasets, Plan, units};
use crate::{Error, ErrorKind, Result};

/// Rows of a chunk.
pub(in crate::train) const CHUNK: usize = 1 << 16;

/// Most rows that encoders and bins are fitted on. LightGBM takes 200,000 for its bins.
const SAMPLE: usize = 1 << 18;

/// Most values of such a sample: a table of many columns has fewer rows of it.
const SAMPLE_VALUES: usize = 1 << 25;

/// Most rows that copies are looked for among.
pub(super) const COPIES: usize = 100_000;

/// How many rows of so many columns encoders are fitted on at most.
pub(in crate::train) fn sample_rows(columns: usize) -> usize {
    (SAMPLE_VALUES / columns.max(1)).clamp(SAMPLE / 16, SAMPLE)
}

/// What rows share that belong together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum By {
    /// Each row stands alone.
    Row,
    /// Equal rows are copies of each other.
    Copies,
    /// Rows with the same value of a column.
    Unit(String),
}

/// The key of each row of a chunk whose first row has the number `first`: rows that belong together share one. Also how
/// many rows have no unit.
pub(super) fn keys(by: &By, chunk: &Table, first: u64) -> Result<(Vec<u64>, usize)> {
    let rows = first..first + chunk.rows() as u64;
    Ok(match by {
        By::Row => (rows.collect(), 0),
        By::Copies => (contents(chunk), 0),
        By::Unit(name) => {
            let Some(column) = chunk.find(name) else {
                let names = chunk.columns().iter().map(|column| column.name.as_str());
                return Err(no_such_column(name, names).at("unit"));
            };
            let units = draws(&column.values);
            let missing = units.iter().filter(|unit| unit.is_none()).count();
            // A row without a unit is one of its own.
            let key = |(unit, row): (Option<u64>, u64)| unit.unwrap_or_else(|| mix(!row));
            (units.into_iter().zip(rows).map(key).collect(), missing)
        }
    })
}

/// A hash of the values of each row.
fn contents(chunk: &Table) -> Vec<u64> {
    let columns: Vec<&Column> = chunk.columns().iter().collect();
    units::row_hashes(&columns, chunk.rows())
}

/// What the first pass keeps of the rows of one source, chunk by chunk.
#[derive(Default)]
pub(super) struct Noted {
    /// The pattern and part of each row ([`note`]).
    pub(super) notes: Vec<Notes>,
    pub(super) weights: Vec<Vec<f32>>,
    /// What rows share that belong together, where they do not stand alone.
    pub(super) keys: Vec<Vec<u64>>,
    pub(super) rows: u64,
}

/// The notes of a chunk, in as few bytes as they fit. The largest number stands for [`TEST`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Notes {
    Byte(#[serde(with = "serde_bytes")] Vec<u8>),
    Short(Vec<u16>),
    Long(Vec<u32>),
}

impl Notes {
    fn new(all: Vec<u32>) -> Self {
        let most = all.iter().copied().filter(|&note| note != TEST).max().unwrap_or(0);
        // What does not fit is a test row, and becomes the largest number.
        if most < u32::from(u8::MAX) {
            let short = |&note: &u32| u8::try_from(note).unwrap_or(u8::MAX);
            Notes::Byte(all.iter().map(short).collect())
        } else if most < u32::from(u16::MAX) {
            let short = |&note: &u32| u16::try_from(note).unwrap_or(u16::MAX);
            Notes::Short(all.iter().map(short).collect())
        } else {
            Notes::Long(all)
        }
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        match self {
            Notes::Byte(all) => all.len(),
            Notes::Short(all) => all.len(),
            Notes::Long(all) => all.len(),
        }
    }

    /// The note of a row.
    #[inline]
    fn at(&self, row: usize) -> u32 {
        match self {
            Notes::Byte(all) if all[row] == u8::MAX => TEST,
            Notes::Byte(all) => u32::from(all[row]),
            Notes::Short(all) if all[row] == u16::MAX => TEST,
            Notes::Short(all) => u32::from(all[row]),
            Notes::Long(all) => all[row],
        }
    }

    /// The notes, row by row.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.len()).map(|row| self.at(row))
    }
}

/// A row to test on, which is not looked at.
pub(super) const TEST: u32 = u32::MAX;

/// A pattern and a part in one number.
fn note(pattern: u32, part: Part) -> u32 {
    match part {
        Part::Test => TEST,
        part => pattern << 1 | part as u32,
    }
}

/// The pattern of a noted row, and whether it is to enforce constraints on.
#[inline]
pub(super) fn noted(note: u32) -> (usize, bool) {
    ((note >> 1) as usize, note & 1 == 1)
}

/// The same notes, with other numbers of the patterns.
pub(super) fn retold(notes: &Notes, numbers: &[u32]) -> Notes {
    let retell = |old: u32| match old {
        TEST => TEST,
        old => numbers[noted(old).0] << 1 | old & 1,
    };
    Notes::new(notes.iter().map(retell).collect())
}

/// What the first pass found.
pub(super) struct Scanned {
    pub(super) by: By,
    /// Of the rows that were given to train on, and of those to enforce constraints on.
    pub(super) sources: Vec<Noted>,
    /// One row of each pattern.
    pub(super) patterns: Table,
    pub(super) quantiles: Quantiles,
    /// Training rows for the encoder.
    pub(super) sample: Table,
    /// The first rows to enforce constraints on, as they will be stored.
    pub(super) excerpt: Table,
    pub(super) missing_units: usize,
    /// How many training rows are copies of an earlier one, where they are.
    pub(super) copied: usize,
    /// Which share of the rows to enforce constraints on are training rows, if some are: of a sample, where rows are many.
    pub(super) overlap: Option<f64>,
    /// The training rows of the smallest content hashes, and these.
    alike: (Table, Vec<u64>),
}

impl Scanned {
    /// How many rows train, or are to enforce constraints on.
    pub(super) fn count(&self, val: bool) -> usize {
        let notes = self.sources.iter().flat_map(|source| &source.notes).flat_map(Notes::iter);
        notes.filter(|&note| note != TEST && noted(note).1 == val).count()
    }

    /// About how many of other rows are training rows, and how many there are: found in a sample, where rows are many.
    pub(super) fn among(&self, feed: &Feed<'_>) -> Result<Option<(usize, usize)>> {
        let (mut alike, mut rows) = (Gather::new(COPIES), 0);
        pass(feed, &mut |chunk, _| {
            let contents = contents(&chunk);
            rows += chunk.rows();
            alike.add(&chunk, 0, |row| Some(mix(contents[row])))
        })?;
        let share = overlap(&self.alike, &alike.finish()?, self.copied > 0);
        Ok(share.map(|share| ((share * rows as f64).round() as usize, rows)))
    }
}

/// How to look at rows.
pub(super) struct Look<'a> {
    pub(super) problem: &'a Problem,
    pub(super) divide: [Divide; 2],
    pub(super) weight: Option<&'a str>,
    pub(super) seed: u64,
    /// The key that puts stored rows in order.
    pub(super) order: u64,
}

/// What a look at rows has found so far.
pub(super) struct Found {
    pub(super) survey: Survey,
    /// The number of the first row of each pattern.
    pub(super) firsts: Vec<u64>,
    /// The samples, in the order that [`SAMPLES`] names.
    pub(super) gathers: [Gather; 4],
    pub(super) missing_units: usize,
}

/// Samples that the first pass draws: training rows for the encoder, rows to enforce constraints on, and those of the
/// smallest content hashes, of the training rows and of the others.
pub(super) const SAMPLES: usize = 4;

impl Found {
    /// Nothing, in tables of so many columns.
    pub(super) fn new(question: &Question, quantiles: &Quantiles, columns: usize) -> Self {
        Found {
            survey: Survey::new(question, quantiles),
            firsts: Vec::new(),
            gathers: sizes(columns).map(Gather::new),
            missing_units: 0,
        }
    }
}

/// How many rows the samples have at most.
pub(super) fn sizes(columns: usize) -> [usize; SAMPLES] {
    [sample_rows(columns), MOST_ROWS, COPIES, COPIES]
}

impl<'a> Look<'a> {
    /// As a plan says.
    pub(super) fn of(plan: &'a Plan) -> Self {
        let spec = &plan.spec;
        let val_fraction = match spec.datasets {
            Datasets::Two { val_fraction } => val_fraction,
            _ => 0.0,
        };
        let divide = Divide::shares(spec.seed, spec.test_fraction, val_fraction);
        Look {
            problem: &plan.problem,
            divide: [divide, Divide::all(Part::Val)],
            weight: spec.weight.as_deref(),
            seed: mix(spec.seed ^ 0x7361_6d70),
            order: mix(spec.seed ^ 0x6f72_6465_7200),
        }
    }
}

impl Look<'_> {
    /// Looks at all rows. `told` hears how many were read, and may stop it.
    pub(super) fn scan(
        &self,
        by: By,
        streams: &[&Stream<'_>],
        told: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<Scanned> {
        let question = Question::of(self.problem);
        let quantiles = self.quantiles(&question, &by, &streams[0].feed, 0)?;
        let quantiles = question.quantiles(quantiles);
        let mut found = None;
        let mut sources = Vec::new();
        let (mut total, mut before) = (0, 0);
        for (source, stream) in streams.iter().enumerate() {
            let mut own = Noted::default();
            pass(&stream.feed, &mut |chunk, first| {
                total += chunk.rows() as u64;
                told(total)?;
                let columns = chunk.columns().len();
                let found = found.get_or_insert_with(|| Found::new(&question, &quantiles, columns));
                self.add(&by, stream, (chunk, source, first, before), found, &mut own)
            })?;
            before += own.rows;
            sources.push(own);
        }
        let found = found.unwrap_or_else(|| Found::new(&question, &quantiles, 0));
        let [sample, excerpt, own, others] = found.gathers.map(Gather::finish);
        let samples = [sample?, excerpt?, own?, others?];
        self.found(by, sources, (found.survey.table()?, quantiles), samples, found.missing_units)
    }

    /// Looks at the rows of a chunk: of which source they are, the number of the first of them in it, and how many rows the
    /// sources before have.
    pub(super) fn add(
        &self,
        by: &By,
        stream: &Stream<'_>,
        (chunk, source, first, before): (Table, usize, u64, u64),
        found: &mut Found,
        own: &mut Noted,
    ) -> Result<()> {
        let weights = stream.weights_of(self.weight, &chunk, first)?;
        let contents = contents(&chunk);
        let (keys, missing) = keys(by, &chunk, first)?;
        found.missing_units += missing;
        let parts: Vec<Part> = keys.iter().map(|&key| self.divide[source].part(key)).collect();
        let tested = parts.contains(&Part::Test);
        let looked: Vec<usize> =
            (0..chunk.rows()).filter(|&row| parts[row] != Part::Test).collect();
        let patterns = match tested {
            true => found.survey.add(&chunk.take(&looked))?,
            false => found.survey.add(&chunk)?,
        };
        if found.survey.len() >= 1 << 31 {
            let message = "the constraints tell more than two billion kinds of rows apart";
            return Err(Error::new(ErrorKind::Problem, message));
        }
        let start = before + first;
        let mut notes = vec![TEST; chunk.rows()];
        for (&row, &pattern) in looked.iter().zip(&patterns) {
            notes[row] = note(pattern, parts[row]);
            // Patterns are numbered as they first come.
            if pattern as usize == found.firsts.len() {
                found.firsts.push(start + row as u64);
            }
        }
        let of = |row: usize, part: Part| parts[row] == part;
        let number = |row: usize| first + row as u64;
        let [sample, excerpt, alike @ ..] = &mut found.gathers;
        sample.add(&chunk, start, |row| {
            of(row, Part::Train).then(|| mix(self.seed ^ mix(number(row))))
        })?;
        excerpt.add(&chunk, start, |row| {
            of(row, Part::Val).then(|| depot::hash(self.order, (before + number(row)) as u32))
        })?;
        for (alike, part) in alike.iter_mut().zip([Part::Train, Part::Val]) {
            alike.add(&chunk, start, |row| of(row, part).then(|| mix(contents[row])))?;
        }
        own.notes.push(Notes::new(notes));
        own.weights.extend(weights);
        if *by != By::Row {
            own.keys.push(keys);
        }
        own.rows += chunk.rows() as u64;
        Ok(())
    }

    /// What was found, from what was noted of the rows, one row of each pattern, and the samples.
    pub(super) fn found(
        &self,
        by: By,
        sources: Vec<Noted>,
        (patterns, quantiles): (Table, Quantiles),
        [(sample, _), (excerpt, keys), own, others]: [(Table, Vec<u64>); SAMPLES],
        missing_units: usize,
    ) -> Result<Scanned> {
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_unstable_by_key(|&row| keys[row]);
        let mut label = Question::default();
        label.and_label_of(self.problem);
        let label: Vec<&str> = label.columns().collect();
        let copied = match by {
            By::Row => units::together(&own.0, None, &label)?.copied,
            By::Copies | By::Unit(_) => 0,
        };
        Ok(Scanned {
            by,
            sources,
            patterns,
            quantiles,
            sample,
            excerpt: excerpt.take(&order),
            missing_units,
            copied,
            overlap: overlap(&own, &others, copied > 0),
            alike: own,
        })
    }

    /// The numbers of the training rows in the columns whose quantiles the problem asks for. The feed's first row has the
    /// number `before`.
    pub(super) fn quantiles(
        &self,
        question: &Question,
        by: &By,
        feed: &Feed<'_>,
        before: u64,
    ) -> Result<BTreeMap<String, Vec<f64>>> {
        let mut numbers: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        let columns: Vec<&str> = question.quantile_columns().collect();
        if !columns.is_empty() {
            pass(feed, &mut |chunk, first| {
                let (keys, _) = keys(by, &chunk, before + first)?;
                for &name in &columns {
                    if let Some(Values::Number(all)) = chunk.find(name).map(|one| &one.values) {
                        let own = all.iter().zip(&keys);
                        let own = own.filter(|(_, key)| self.divide[0].part(**key) == Part::Train);
                        numbers.entry(name.to_owned()).or_default().extend(own.map(|(x, _)| x));
                    }
                }
                Ok(())
            })?;
        }
        Ok(numbers)
    }
}

/// Which share of other rows are copies of a table's, both of the smallest keys of all.
fn overlap(
    (own, own_keys): &(Table, Vec<u64>),
    (others, other_keys): &(Table, Vec<u64>),
    copied: bool,
) -> Option<f64> {
    // Where both samples are complete.
    let last = |keys: &[u64]| keys.iter().copied().max().unwrap_or(0);
    let below = last(own_keys).min(last(other_keys));
    let among = |table: &Table, keys: &[u64]| {
        table.take(&(0..keys.len()).filter(|&row| keys[row] <= below).collect::<Vec<_>>())
    };
    if own_keys.is_empty() || other_keys.is_empty() {
        return None;
    }
    let looked_at = among(others, other_keys);
    let found = units::among(&among(own, own_keys), &looked_at, copied)?;
    Some(found as f64 / looked_at.rows() as f64)
}

/// Hands out the rows of a feed in chunks, each with the number of its first row. Another thread reads ahead.
pub(super) fn pass(feed: &Feed<'_>, see: &mut dyn FnMut(Table, u64) -> Result<()>) -> Result<()> {
    let stopped = || Error::new(ErrorKind::Io, "nobody reads on");
    std::thread::scope(|scope| {
        let (give, take) = sync_channel(2);
        let read =
            scope.spawn(move || feed.each(CHUNK, |chunk| give.send(chunk).map_err(|_| stopped())));
        let mut first = 0;
        for chunk in take {
            let rows = chunk.rows() as u64;
            see(chunk, first)?;
            first += rows;
        }
        // A reader that panicked has said so already.
        read.join().unwrap_or_else(|_| Err(Error::new(ErrorKind::Io, "the rows cannot be read")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Notes are the same in however many bytes.
    #[test]
    fn notes_of_any_width() {
        for most in [0, 254, 255, 65_534, 65_535, 1 << 31] {
            let notes = Notes::new(vec![0, TEST, most]);
            assert_eq!(notes.iter().collect::<Vec<_>>(), [0, TEST, most]);
            let bytes = match notes {
                Notes::Byte(_) => 1,
                Notes::Short(_) => 2,
                Notes::Long(_) => 4,
            };
            let wanted = if most < 255 { 1 } else { 2 };
            assert_eq!(bytes, if most < 65_535 { wanted } else { 4 }, "{most}");
        }
        assert_eq!(Notes::new(Vec::new()).len(), 0);
    }
}
