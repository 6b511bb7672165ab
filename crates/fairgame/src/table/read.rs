//! Sources and how to read them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Cursor, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use super::builder::TableBuilder;
use super::input::{self, Input};
use super::{Kind, Shipped, Table, arrow, csv};
use crate::{Error, ErrorKind, Remedy, Result};

pub use super::text::Missing;

/// Where a table, or a part of it, comes from.
///
/// The format is told from the first bytes, not from the name: CSV, CSV in gzip or zstd, Parquet,
/// Arrow IPC file or stream.
pub enum Source {
    /// A file, or a folder whose data files are read in the order of their names.
    Path(PathBuf),
    /// A dataset that is part of this library.
    Shipped(Shipped),
    /// Any reader, with a name for messages.
    Stream {
        /// What messages call it.
        name: String,
        /// Where its bytes come from.
        reader: Box<dyn Read>,
    },
}

impl Source {
    /// The source that a user means by `text`: `@adult` is a shipped dataset, all else a path.
    ///
    /// ```
    /// use fairgame::table::Source;
    /// assert!(matches!(Source::parse("@adult/test")?, Source::Shipped(_)));
    /// assert!(matches!(Source::parse("people.csv")?, Source::Path(_)));
    /// # Ok::<(), fairgame::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self> {
        match text.strip_prefix('@') {
            Some(name) => Ok(Source::Shipped(Shipped::find(name)?)),
            None => Ok(Source::Path(PathBuf::from(text))),
        }
    }

    /// Any reader as a source; messages call it `name`.
    pub fn stream(name: impl Into<String>, reader: impl Read + 'static) -> Self {
        Source::Stream { name: name.into(), reader: Box::new(reader) }
    }
}

/// Whether a CSV file's first line names its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Header {
    /// The first line holds names.
    #[default]
    Present,
    /// The first line is data.
    Absent,
}

/// How to read a table.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadOptions {
    /// What separates the fields of CSV; `None` takes the one of `,` tab `;` `|` that the first
    /// line has most of.
    pub delimiter: Option<u8>,
    /// What CSV fields are quoted with.
    pub quote: u8,
    /// Lines of CSV that begin with this byte are skipped.
    pub comment: Option<u8>,
    /// Whether CSV has a header.
    pub header: Header,
    /// The column names of CSV, in place of the header's, or of `c1`, `c2`, … where there is none.
    pub names: Option<Vec<String>>,
    /// What stands for a missing value.
    pub missing: Missing,
    /// The kinds of columns that content should not decide.
    pub kinds: BTreeMap<String, Kind>,
    /// The same, of columns that need not be there: those of another table, as a rule, that this one is to be
    /// like.
    pub expected: BTreeMap<String, Kind>,
    /// The columns to read; `None` reads all.
    pub columns: Option<Vec<String>>,
    /// The columns to leave out.
    pub drop: Vec<String>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            delimiter: None,
            quote: b'"',
            comment: None,
            header: Header::Present,
            names: None,
            missing: Missing::standard(),
            kinds: BTreeMap::new(),
            expected: BTreeMap::new(),
            columns: None,
            drop: Vec::new(),
        }
    }
}

impl ReadOptions {
    /// Whether the column of that name is read.
    pub(super) fn wants(&self, name: &str) -> bool {
        let among = |names: &[String]| names.iter().any(|other| other == name);
        self.columns.as_deref().is_none_or(among) && !among(&self.drop)
    }

    /// Refuses options that a Parquet or Arrow file would ignore.
    fn check_not_csv(&self) -> Result<()> {
        let plain = ReadOptions::default();
        let option = if self.names != plain.names {
            "column names are"
        } else if self.header != plain.header {
            "the absence of a header is"
        } else if self.delimiter != plain.delimiter {
            "a delimiter is"
        } else if self.quote != plain.quote {
            "a quote is"
        } else if self.comment != plain.comment {
            "a comment character is"
        } else {
            return Ok(());
        };
        Err(Error::new(ErrorKind::Settings, format!("{option} given, but this is not CSV"))
            .help("leave it away: Parquet and Arrow files know their columns"))
    }

    fn check(&self) -> Result<()> {
        let clash = |what: &str| {
            Error::new(ErrorKind::Settings, format!("{what} must be different characters"))
        };
        if self.delimiter == Some(self.quote) {
            return Err(clash("the delimiter and the quote"));
        }
        if self
            .comment
            .is_some_and(|comment| comment == self.quote || Some(comment) == self.delimiter)
        {
            return Err(clash("the comment character, the delimiter and the quote"));
        }
        Ok(())
    }
}

/// Reads sources, one after the other, as one table.
///
/// Memory stays near the size of the typed columns: CSV streams, Parquet and Arrow come in batches
/// (Parquet and Arrow files that are not on disk, and Arrow streams, are held in memory while read).
pub fn read(sources: impl IntoIterator<Item = Source>, options: &ReadOptions) -> Result<Table> {
    options.check()?;
    let mut table = TableBuilder::default();
    let mut names = Vec::new();
    for source in sources {
        match source {
            Source::Path(path) => {
                for file in files(&path)? {
                    let name = file.display().to_string();
                    let input = File::open(&file).map_err(|error| open_failed(&error));
                    let read = input.and_then(input::file);
                    read.and_then(|input| append(input, options, &mut table))
                        .map_err(|error| error.at(&name))?;
                    names.push(name);
                }
            }
            Source::Shipped(shipped) => {
                let input = input::stream(Box::new(Cursor::new(shipped.bytes)));
                input
                    .and_then(|input| append(input, options, &mut table))
                    .map_err(|error| error.at(shipped))?;
                names.push(shipped.to_string());
            }
            Source::Stream { name, reader } => {
                let read = input::stream(reader);
                read.and_then(|input| append(input, options, &mut table))
                    .map_err(|error| error.at(&name))?;
                names.push(name);
            }
        }
    }
    let table = table.finish()?;
    if table.rows() == 0 {
        let error = Error::new(ErrorKind::Format, "there are columns, but no row of data")
            .help("give at least one row")
            .remedy(Remedy::NoHeader);
        return Err(if names.is_empty() { error } else { error.at(names.join(", ")) });
    }
    Ok(table)
}

fn append(input: Input, options: &ReadOptions, table: &mut TableBuilder) -> Result<()> {
    if !matches!(input, Input::Csv(_)) {
        options.check_not_csv()?;
    }
    match input {
        Input::Csv(stream) => csv::read(stream, options, table),
        Input::Parquet(whole) => guarded(|| arrow::read_parquet(whole, options, table)),
        Input::ArrowFile(whole) => guarded(|| arrow::read_file(whole, options, table)),
        Input::ArrowStream(bytes) => guarded(|| arrow::read_stream(bytes, options, table)),
    }
}

/// The readers of Parquet and Arrow panic on some damaged files; to the user it is a damaged file.
fn guarded(read: impl FnOnce() -> Result<()>) -> Result<()> {
    // What the panic leaves behind, a half-grown table, is dropped with the error.
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

/// The files that a path stands for: itself, or the data files of the folder.
fn files(path: &Path) -> Result<Vec<PathBuf>> {
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

fn open_failed(error: &std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::NotFound => Error::new(ErrorKind::Io, "no such file or folder")
            .help("check the path; shipped datasets are named with an @, as in @adult"),
        std::io::ErrorKind::PermissionDenied => {
            Error::new(ErrorKind::Io, "permission to read it is denied")
        }
        _ => Error::new(ErrorKind::Io, format!("cannot be opened: {error}")),
    }
}
