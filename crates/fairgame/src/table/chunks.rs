//! Sources opened one after the other, and their rows handed out in tables.

use std::fs::{self, File};
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::vec;

use super::builder::TableBuilder;
use super::input::{self, Input};
use super::{ReadOptions, Source, Table, arrow, csv};
use crate::{Error, ErrorKind, Remedy, Result};

/// The tables that [`chunks`](super::chunks) reads, one after the other; the first error is the last item.
pub struct Chunks {
    options: ReadOptions,
    /// How many rows a table has; the last may have fewer.
    rows: usize,
    sources: vec::IntoIter<Source>,
    /// What is left of the folder that is being read.
    files: vec::IntoIter<PathBuf>,
    /// What is being read, and its name.
    open: Option<(String, Rows)>,
    table: TableBuilder,
    /// What was opened so far.
    names: Vec<String>,
    started: bool,
    ended: bool,
    /// Whether sources without rows are a table without rows; otherwise they are an error.
    pub(super) may_be_empty: bool,
    /// The columns of which nothing has told the kind when the first table was handed out.
    pub(super) untyped: Vec<String>,
}

impl Chunks {
    pub(super) fn new(sources: Vec<Source>, options: ReadOptions, rows: usize) -> Self {
        Chunks {
            options,
            rows,
            sources: sources.into_iter(),
            files: Vec::new().into_iter(),
            open: None,
            table: TableBuilder::default(),
            names: Vec::new(),
            started: false,
            ended: false,
            may_be_empty: false,
            untyped: Vec::new(),
        }
    }

    /// The error for sources without rows.
    pub(super) fn no_rows(&self) -> Error {
        let error = Error::new(ErrorKind::Format, "there are columns, but no row of data")
            .help("give at least one row")
            .remedy(Remedy::NoHeader);
        if self.names.is_empty() { error } else { error.at(self.names.join(", ")) }
    }

    /// The next table, or none after the last row.
    fn table(&mut self) -> Result<Option<Table>> {
        while self.table.rows() < self.rows {
            if self.open.is_none() {
                self.open = self.open_next()?;
            }
            let Some((name, rows)) = &mut self.open else { break };
            let room = self.rows - self.table.rows();
            let more = rows.append(room, &self.options, &mut self.table);
            if !more.map_err(|error| error.at(name))? {
                self.open = None;
            }
        }
        let is_empty = self.may_be_empty && !self.started && !self.table.columns.is_empty();
        if self.table.rows() > 0 || is_empty {
            if !self.started {
                let columns = self.table.columns.iter().filter(|column| column.kind().is_none());
                self.untyped = columns.map(|column| column.name.clone()).collect();
            }
            self.started = true;
            return self.table.take().map(Some);
        }
        if self.started { Ok(None) } else { Err(self.no_rows()) }
    }

    fn open_next(&mut self) -> Result<Option<(String, Rows)>> {
        let (name, input) = loop {
            if let Some(file) = self.files.next() {
                let input = File::open(&file).map_err(|error| open_failed(&error));
                break (file.display().to_string(), input.and_then(input::file));
            }
            match self.sources.next() {
                None => return Ok(None),
                Some(Source::Path(path)) => self.files = files(&path)?.into_iter(),
                Some(Source::Shipped(shipped)) => {
                    let bytes = Box::new(Cursor::new(shipped.bytes));
                    break (shipped.to_string(), input::stream(bytes));
                }
                Some(Source::File { name, file }) => break (name, input::file(file)),
                Some(Source::Stream { name, reader }) => break (name, input::stream(reader)),
                Some(Source::Batches { name, reader, before }) => {
                    let (options, table) = (&self.options, &mut self.table);
                    let rows = options
                        .check_not_csv()
                        .and_then(|()| {
                            guarded(|| arrow::Rows::batches((reader, before), options, table))
                        })
                        .map_err(|error| error.at(&name))?;
                    self.names.push(name.clone());
                    return Ok(Some((name, Rows::Arrow(rows))));
                }
            }
        };
        let rows = input.and_then(|input| Rows::open(input, &self.options, &mut self.table));
        let rows = rows.map_err(|error| error.at(&name))?;
        self.names.push(name.clone());
        Ok(Some((name, rows)))
    }
}

impl Iterator for Chunks {
    type Item = Result<Table>;

    fn next(&mut self) -> Option<Result<Table>> {
        if self.ended {
            return None;
        }
        let table = self.table().transpose();
        self.ended = !matches!(table, Some(Ok(_)));
        table
    }
}

/// The rows of one file or stream, still to be appended.
enum Rows {
    Csv(Box<csv::Rows>),
    Arrow(arrow::Rows),
}

impl Rows {
    fn open(input: Input, options: &ReadOptions, table: &mut TableBuilder) -> Result<Self> {
        if !matches!(input, Input::Csv(_)) {
            options.check_not_csv()?;
        }
        let rows = match input {
            Input::Csv(stream) => {
                let rows = csv::Rows::open(stream, options, table)?;
                return Ok(Rows::Csv(Box::new(rows)));
            }
            Input::Parquet(whole) => guarded(|| arrow::Rows::parquet(whole, options, table)),
            Input::ArrowFile(whole) => guarded(|| arrow::Rows::ipc_file(whole, options, table)),
            Input::ArrowStream(stream) => {
                guarded(|| arrow::Rows::ipc_stream(stream, options, table))
            }
        };
        rows.map(Rows::Arrow)
    }

    /// Appends at most `room` rows, and says whether there may be more.
    fn append(
        &mut self,
        room: usize,
        options: &ReadOptions,
        table: &mut TableBuilder,
    ) -> Result<bool> {
        match self {
            Rows::Csv(rows) => rows.append(room, options, table),
            Rows::Arrow(rows) => guarded(|| rows.append(room, options, table)),
        }
    }
}

/// The readers of Parquet and Arrow panic on some damaged files; to the user it is a damaged file.
fn guarded<T>(read: impl FnOnce() -> Result<T>) -> Result<T> {
    // What the panic leaves behind, a half-grown table, is never taken: nothing follows an error.
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<String>().map_or("it is damaged", String::as_str);
        Err(arrow::damaged("Parquet or Arrow", &message))
    })
}

/// What data files in a folder are called.
const ENDINGS: [&str; 12] = [
    ".csv", ".csv.gz", ".csv.zst", ".tsv", ".tsv.gz", ".tsv.zst", ".parquet", ".pq", ".arrow",
    ".arrows", ".feather", ".ipc",
];

/// The files that a path stands for: itself, or the data files of the folder, in the order of their names.
///
/// # Errors
/// If the folder cannot be read, or has no data files.
pub fn files(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = fs::read_dir(path)
        .and_then(|entries| entries.collect::<Result<Vec<_>, _>>())
        .map_err(|error| open_failed(&error).at(path.display()))?;
    let mut files: Vec<PathBuf> = entries
        .into_iter()
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
            let hidden = name.starts_with(['.', '_']);
            !hidden && ENDINGS.iter().any(|ending| name.ends_with(ending)) && path.is_file()
        })
        .collect();
    files.sort();
    if files.is_empty() {
        return Err(Error::new(ErrorKind::Io, "the folder has no data files")
            .help(format!("data files end in {}", ENDINGS.join(", ")))
            .at(path.display()));
    }
    Ok(files)
}

pub(super) fn open_failed(error: &std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::NotFound => Error::new(ErrorKind::Io, "no such file or folder")
            .help("check the path; shipped datasets are named with an @, as in @adult"),
        std::io::ErrorKind::PermissionDenied => {
            Error::new(ErrorKind::Io, "permission to read it is denied")
        }
        _ => Error::new(ErrorKind::Io, format!("cannot be opened: {error}")),
    }
}
