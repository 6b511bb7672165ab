//! Rows that are read more than once, in chunks, so that the whole table is never held.

mod part;

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{Seek, copy};
use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::SchemaRef;

use super::chunks::{files, open_failed};
use super::input::{self, Input};
use super::{Chunks, Kind, Missing, ReadOptions, Shipped, Source, Table, arrow, chunks, read};
use crate::{Error, ErrorKind, Result};

pub(crate) use part::{KindFrom, PartColumn};

/// From so many rows on, they are read in chunks and not held as a table.
pub const PLENTY: usize = 1_000_000;

/// Rows that hand out any run of themselves as a table, such as columns that another program holds.
pub trait Runs: Send + Sync {
    /// How many rows there are.
    fn rows(&self) -> usize;

    /// The rows from one number up to another; columns and their kinds are the same in all runs.
    ///
    /// # Errors
    /// If they cannot be had, or hold what no table holds.
    fn run(&self, rows: Range<usize>) -> Result<Table>;
}

/// Rows that can be read again and again: files, Arrow's batches, a table, or [`Runs`].
///
/// A stream can be read only once, so it is copied to a temporary file first.
pub struct Feed<'a> {
    name: String,
    rows: Held<'a>,
    /// The columns that are expected, in their order, and their kinds.
    expected: Vec<(String, Kind)>,
    /// Whether these rows are a part of others. Then files may have no rows, and columns come as they are expected.
    is_part: bool,
}

enum Held<'a> {
    Table(Cow<'a, Table>),
    Runs(Box<dyn Runs + 'a>),
    Sources(Vec<Again>, Box<ReadOptions>),
}

/// A source that can be opened again.
enum Again {
    File(PathBuf, Stamp),
    /// A copy of a stream, under the stream's name.
    Copy(String, File),
    Shipped(Shipped),
    Batches(String, SchemaRef, Vec<RecordBatch>),
}

/// What tells that a file has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    fn of(path: &PathBuf) -> Result<Self> {
        let found = fs::metadata(path).map_err(|error| open_failed(&error).at(path.display()))?;
        Ok(Stamp { length: found.len(), modified: found.modified().ok() })
    }
}

impl Again {
    /// Refuses a file that is another one than when it was first looked at.
    fn check(&self) -> Result<()> {
        match self {
            Again::File(path, stamp) if Stamp::of(path)? != *stamp => {
                Err(Error::new(ErrorKind::Io, "the file has changed while it was being read")
                    .help("train again once nobody writes to it")
                    .at(path.display()))
            }
            _ => Ok(()),
        }
    }

    fn open(&self) -> Result<Source> {
        self.check()?;
        Ok(match self {
            Again::File(path, _) => Source::Path(path.clone()),
            Again::Copy(name, file) => {
                let failed = |error: std::io::Error| open_failed(&error).at(name);
                let mut file = file.try_clone().map_err(failed)?;
                file.rewind().map_err(failed)?;
                Source::File { name: name.clone(), file }
            }
            Again::Shipped(shipped) => Source::Shipped(*shipped),
            Again::Batches(name, schema, batches) => {
                let batches = batches.clone().into_iter().map(Ok);
                Source::batches(name, RecordBatchIterator::new(batches, schema.clone()))
            }
        })
    }
}

impl Again {
    /// How many rows there are, and whether the number is exact. `rate` is rows a byte of text, once that is known.
    fn count(
        &self,
        options: &ReadOptions,
        most: usize,
        rate: &mut Option<f64>,
    ) -> Result<(u64, bool)> {
        let (name, mut file) = match self {
            Again::Batches(_, _, batches) => {
                return Ok((batches.iter().map(|batch| batch.num_rows() as u64).sum(), true));
            }
            Again::Shipped(_) => return self.count_all(options),
            Again::File(path, _) => (path.display().to_string(), File::open(path)),
            Again::Copy(name, file) => (name.clone(), file.try_clone()),
        };
        let failed = |error: std::io::Error| open_failed(&error).at(&name);
        if let Ok(file) = &mut file {
            file.rewind().map_err(failed)?;
        }
        let mut file = file.map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        // A clone shares the place that is read next.
        let opened = input::file(file.try_clone().map_err(failed)?);
        match opened.map_err(|error| error.at(&name))? {
            Input::Parquet(whole) => {
                arrow::parquet_rows(whole).map(|rows| (rows, true)).map_err(|error| error.at(&name))
            }
            Input::Csv(_) => {
                if let Some(rate) = *rate {
                    return Ok(((length as f64 * rate) as u64, false));
                }
                file.rewind().map_err(failed)?;
                let clone = file.try_clone().map_err(failed)?;
                let source = Source::File { name: name.clone(), file: clone };
                let mut read = chunks([source], options, most)?;
                let rows = read.next().transpose()?.map_or(0, |table| table.rows());
                let place = file.stream_position().map_err(failed)?.max(1);
                if rows < most || place >= length {
                    // What is left of a short file is in memory.
                    let rest = read.map(|table| table.map(|table| table.rows()));
                    return Ok(((rows + rest.sum::<Result<usize>>()?) as u64, true));
                }
                let found = *rate.insert(rows as f64 / place as f64);
                Ok(((length as f64 * found) as u64, false))
            }
            Input::ArrowFile(_) | Input::ArrowStream(_) => self.count_all(options),
        }
    }

    fn count_all(&self, options: &ReadOptions) -> Result<(u64, bool)> {
        let all = chunks([self.open()?], options, PLENTY)?;
        let rows = all.map(|table| table.map(|table| table.rows() as u64));
        Ok((rows.sum::<Result<u64>>()?, true))
    }
}

impl<'a> Feed<'a> {
    /// Rows of these sources, one after the other; messages call them `name`.
    ///
    /// # Errors
    /// If options contradict each other, a file is not there, or a stream cannot be copied.
    pub fn open(
        name: impl Into<String>,
        sources: impl IntoIterator<Item = Source>,
        options: ReadOptions,
    ) -> Result<Feed<'static>> {
        let mut all = Vec::new();
        for source in sources {
            match source {
                Source::Path(path) => {
                    let found = fs::metadata(&path);
                    // A pipe with a name is still a pipe.
                    if found.is_ok_and(|found| !found.is_file() && !found.is_dir()) {
                        let name = path.display().to_string();
                        let pipe =
                            File::open(&path).map_err(|error| open_failed(&error).at(&name))?;
                        all.push(copied(name, pipe)?);
                        continue;
                    }
                    for file in files(&path)? {
                        let stamp = Stamp::of(&file)?;
                        all.push(Again::File(file, stamp));
                    }
                }
                Source::File { name, file } => all.push(Again::Copy(name, file)),
                Source::Shipped(shipped) => all.push(Again::Shipped(shipped)),
                Source::Stream { name, reader } => all.push(copied(name, reader)?),
                Source::Batches { name, reader, .. } => {
                    let schema = reader.schema();
                    let batches = reader.collect::<Result<Vec<_>, _>>().map_err(|error| {
                        Error::new(ErrorKind::Format, format!("is damaged: {error}")).at(&name)
                    })?;
                    all.push(Again::Batches(name, schema, batches));
                }
            }
        }
        Ok(Feed::new(name.into(), Held::Sources(all, Box::new(options))))
    }

    /// The rows of a table that is in memory.
    pub fn of(name: impl Into<String>, table: Cow<'a, Table>) -> Self {
        Feed::new(name.into(), Held::Table(table))
    }

    /// Rows that hand out runs of themselves.
    pub fn runs(name: impl Into<String>, rows: impl Runs + 'a) -> Self {
        Feed::new(name.into(), Held::Runs(Box::new(rows)))
    }

    fn new(name: String, rows: Held<'a>) -> Self {
        Feed { name, rows, expected: Vec::new(), is_part: false }
    }

    /// These rows are a part of others: files may have no rows, and columns come in the order and of the kinds that are
    /// expected.
    pub(crate) fn into_part(mut self) -> Self {
        self.is_part = true;
        self
    }

    /// Whether the kinds of columns are inferred from text, rather than stored with the rows.
    ///
    /// # Errors
    /// If a file cannot be read.
    fn is_text(&self) -> Result<bool> {
        let Held::Sources(sources, _) = &self.rows else { return Ok(false) };
        for source in sources {
            let (name, opened) = match source {
                Again::File(path, _) => (path.display().to_string(), File::open(path)),
                Again::Copy(name, file) => (name.clone(), file.try_clone()),
                Again::Shipped(_) => return Ok(true),
                Again::Batches(..) => continue,
            };
            let failed = |error: std::io::Error| open_failed(&error).at(&name);
            let mut file = opened.map_err(failed)?;
            file.rewind().map_err(failed)?;
            if matches!(input::file(file).map_err(|error| error.at(&name))?, Input::Csv(_)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What messages call the rows.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many bytes of streams were copied to temporary files.
    pub fn copied(&self) -> u64 {
        let Held::Sources(sources, _) = &self.rows else { return 0 };
        let length = |source: &Again| match source {
            Again::Copy(_, file) => file.metadata().map_or(0, |found| found.len()),
            _ => 0,
        };
        sources.iter().map(length).sum()
    }

    /// The same rows, with columns of these kinds where they are there.
    #[must_use]
    pub fn like(mut self, table: &Table) -> Self {
        let kinds = table.columns().iter();
        let kinds: Vec<_> = kinds.map(|one| (one.name.clone(), one.values.kind())).collect();
        self.expect(&kinds);
        self
    }

    /// From now on, columns are of these kinds and in this order where they are there.
    pub(crate) fn expect(&mut self, kinds: &[(String, Kind)]) {
        self.expected = kinds.to_vec();
        if let Held::Sources(_, options) = &mut self.rows {
            options.expected = kinds.iter().cloned().collect();
        }
    }

    /// From now on, these stand for a missing value in files.
    pub(crate) fn mark_missing(&mut self, missing: &Missing) {
        if let Held::Sources(_, options) = &mut self.rows {
            options.missing = missing.clone();
        }
    }

    /// The whole table, if it has fewer rows than so many; otherwise its first rows.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn head(&self, rows: usize) -> Result<Head> {
        match &self.rows {
            Held::Table(table) if table.rows() < rows => Ok(Head::Whole(None)),
            Held::Table(table) => Ok(Head::First(table.take(&[0]))),
            Held::Runs(all) if all.rows() < rows => {
                all.run(0..all.rows()).map(|table| Head::Whole(Some(table)))
            }
            Held::Runs(all) => all.run(0..1).map(Head::First),
            Held::Sources(..) => {
                let mut all = self.sources(rows)?;
                let Some(first) = all.next().transpose()? else { return Err(all.no_rows()) };
                match first.rows() < rows {
                    true => Ok(Head::Whole(Some(first))),
                    false => Ok(Head::First(first.take(&[0]))),
                }
            }
        }
    }

    /// The first rows, at most so many, and how many rows there are. Text files are not read to their end: of these the
    /// number is foretold from the bytes that the first rows take.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(crate) fn extent(&self, most: usize) -> Result<Extent> {
        let (sources, options) = match &self.rows {
            Held::Table(table) => {
                let first = table.take(&(0..table.rows().min(most)).collect::<Vec<_>>());
                let rows = table.rows() as u64;
                return Ok(Extent { first, rows, exact: true, took: Duration::ZERO });
            }
            Held::Runs(all) => {
                let start = Instant::now();
                let first = all.run(0..all.rows().min(most))?;
                let took = start.elapsed().div_f64(first.rows().max(1) as f64);
                return Ok(Extent { first, rows: all.rows() as u64, exact: true, took });
            }
            Held::Sources(sources, options) => (sources, options),
        };
        let mut all = self.sources(most.div_ceil(2))?;
        // What opening takes, as of a checksum, is in the time of the first half only.
        let Some(first) = all.next().transpose()? else { return Err(all.no_rows()) };
        let start = Instant::now();
        let second = all.next().transpose()?;
        let took = start.elapsed().div_f64(second.as_ref().map_or(1, Table::rows) as f64);
        let first = match second {
            Some(second) => Table::concat(&[first, second])?,
            None => first,
        };
        if first.rows() < most {
            return Ok(Extent { rows: first.rows() as u64, first, exact: true, took });
        }
        let (mut rows, mut exact) = (0, true);
        // Rows a byte, of the first text that was not read to its end; others are like it.
        let mut rate: Option<f64> = None;
        for source in sources {
            let (found, whole) = source.count(options, most, &mut rate)?;
            rows += found;
            exact &= whole;
        }
        Ok(Extent { first, rows, exact, took })
    }

    /// All rows as one table.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn whole(self) -> Result<Cow<'a, Table>> {
        match self.rows {
            Held::Table(table) => Ok(table),
            Held::Runs(all) => all.run(0..all.rows()).map(Cow::Owned),
            Held::Sources(sources, options) => {
                let sources = sources.iter().map(Again::open).collect::<Result<Vec<_>>>()?;
                read(sources, &options).map(Cow::Owned)
            }
        }
    }

    fn sources(&self, rows: usize) -> Result<Chunks> {
        let Held::Sources(sources, options) = &self.rows else {
            return chunks([], &ReadOptions::default(), rows);
        };
        let sources = sources.iter().map(Again::open).collect::<Result<Vec<_>>>()?;
        let mut all = chunks(sources, options, rows)?;
        all.may_be_empty = self.is_part;
        Ok(all)
    }

    /// Hands out all rows, in tables of at most so many. Once all were read, files that have changed are an error.
    ///
    /// # Errors
    /// If they cannot be read, or `see` fails.
    pub(crate) fn each(&self, rows: usize, mut see: impl FnMut(Table) -> Result<()>) -> Result<()> {
        let runs =
            |all: usize| (0..all).step_by(rows).map(move |first| first..all.min(first + rows));
        let mut see = |chunk: Table| match chunk.rows() {
            0 => Ok(()),
            _ if self.is_part => {
                see(chunk.like(&self.expected).map_err(|error| error.at(&self.name))?)
            }
            _ => see(chunk),
        };
        match &self.rows {
            Held::Table(table) => {
                runs(table.rows()).try_for_each(|run| see(table.take(&run.collect::<Vec<_>>())))
            }
            Held::Runs(all) => runs(all.rows()).try_for_each(|run| see(all.run(run)?)),
            Held::Sources(sources, _) => {
                for chunk in self.sources(rows)? {
                    see(chunk?)?;
                }
                sources.iter().try_for_each(Again::check)
            }
        }
    }
}

/// The first rows of a feed, and how many there are.
pub(crate) struct Extent {
    pub(crate) first: Table,
    pub(crate) rows: u64,
    /// Whether the number is exact, or foretold.
    pub(crate) exact: bool,
    /// How long it takes to read a row.
    pub(crate) took: Duration,
}

/// What the first rows of a feed tell.
pub(crate) enum Head {
    /// That is all there is: a table that was read, or none if it was in memory before.
    Whole(Option<Table>),
    /// There are more. It has a row, for its columns.
    First(Table),
}

/// Copies a stream to a temporary file without a name.
fn copied(name: String, mut stream: impl std::io::Read) -> Result<Again> {
    let failed = |error: std::io::Error| {
        let message = format!("cannot be copied to a temporary file: {error}");
        Error::new(ErrorKind::Io, message)
            .help("free some space, or set TMPDIR to another folder")
            .at(&name)
    };
    let mut file = tempfile::tempfile().map_err(failed)?;
    copy(&mut stream, &mut file).map_err(failed)?;
    Ok(Again::Copy(name, file))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn csv(rows: usize) -> String {
        let rows: String =
            (0..rows).map(|row| format!("{},{}\n", 1000 + row % 9000, row % 2)).collect();
        format!("age,hired\n{rows}")
    }

    fn extent_of(files: &[String], most: usize) -> Extent {
        let folder = tempfile::tempdir().unwrap();
        for (at, text) in files.iter().enumerate() {
            fs::write(folder.path().join(format!("{at}.csv")), text).unwrap();
        }
        let source = Source::Path(folder.path().to_owned());
        let feed = Feed::open("people", [source], ReadOptions::default()).unwrap();
        feed.extent(most).unwrap()
    }

    /// Of text that is not read to its end the number of rows is foretold; of what is read it is counted.
    #[test]
    fn how_many_rows_there_are() {
        let small = extent_of(&[csv(900), csv(50)], 2000);
        assert_eq!((small.first.rows(), small.rows, small.exact), (950, 950, true));
        let large = extent_of(&[csv(400_000), csv(100_000)], 100_000);
        assert_eq!((large.first.rows(), large.exact), (100_000, false));
        let off = (large.rows as f64 - 500_000.0).abs() / 500_000.0;
        assert!(off < 0.3, "{} rows", large.rows);
    }

    /// Compressed text is measured in the bytes of its file.
    #[test]
    fn rows_of_compressed_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("people.csv.gz");
        let mut out = flate2::write::GzEncoder::new(
            File::create(&path).unwrap(),
            flate2::Compression::fast(),
        );
        out.write_all(csv(600_000).as_bytes()).unwrap();
        out.finish().unwrap();
        let feed = Feed::open("people", [Source::Path(path)], ReadOptions::default()).unwrap();
        let found = feed.extent(200_000).unwrap();
        let off = (found.rows as f64 - 600_000.0).abs() / 600_000.0;
        assert!(off < 0.3, "{} rows", found.rows);
    }
}
