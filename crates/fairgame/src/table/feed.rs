//! Rows that are read more than once, in chunks, so that the whole table is never held.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{Seek, copy};
use std::path::PathBuf;
use std::time::SystemTime;

use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::SchemaRef;

use super::chunks::{files, open_failed};
use super::{Chunks, ReadOptions, Shipped, Source, Table, chunks, read};
use crate::{Error, ErrorKind, Result};

/// From so many rows on, they are read in chunks and not held as a table.
pub(crate) const PLENTY: usize = 1_000_000;

/// Rows that can be read again and again: files, Arrow's batches, or a table.
///
/// A stream can be read only once, so it is copied to a temporary file first.
pub struct Feed<'a> {
    name: String,
    rows: Held<'a>,
}

enum Held<'a> {
    Table(Cow<'a, Table>),
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
                Source::Batches { name, reader } => {
                    let schema = reader.schema();
                    let batches = reader.collect::<Result<Vec<_>, _>>().map_err(|error| {
                        Error::new(ErrorKind::Format, format!("is damaged: {error}")).at(&name)
                    })?;
                    all.push(Again::Batches(name, schema, batches));
                }
            }
        }
        Ok(Feed { name: name.into(), rows: Held::Sources(all, Box::new(options)) })
    }

    /// The rows of a table that is in memory.
    pub fn of(name: impl Into<String>, table: Cow<'a, Table>) -> Self {
        Feed { name: name.into(), rows: Held::Table(table) }
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
        if let Held::Sources(_, options) = &mut self.rows {
            let kinds = table.columns().iter();
            options.expected = kinds.map(|one| (one.name.clone(), one.values.kind())).collect();
        }
        self
    }

    /// The whole table, if it has fewer rows than so many; otherwise its first rows.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn head(&self, rows: usize) -> Result<Head> {
        match &self.rows {
            Held::Table(table) if table.rows() < rows => Ok(Head::Whole(None)),
            Held::Table(table) => Ok(Head::First(table.take(&[0]))),
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

    /// All rows as one table.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn whole(self) -> Result<Cow<'a, Table>> {
        match self.rows {
            Held::Table(table) => Ok(table),
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
        chunks(sources, options, rows)
    }

    /// Hands out all rows, in tables of at most so many. Once all were read, files that have changed are an error.
    ///
    /// # Errors
    /// If they cannot be read, or `see` fails.
    pub(crate) fn each(&self, rows: usize, mut see: impl FnMut(Table) -> Result<()>) -> Result<()> {
        if let Held::Table(table) = &self.rows {
            for first in (0..table.rows()).step_by(rows) {
                let chunk: Vec<usize> = (first..table.rows().min(first + rows)).collect();
                see(table.take(&chunk))?;
            }
            return Ok(());
        }
        for chunk in self.sources(rows)? {
            see(chunk?)?;
        }
        let Held::Sources(sources, _) = &self.rows else { return Ok(()) };
        sources.iter().try_for_each(Again::check)
    }
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
