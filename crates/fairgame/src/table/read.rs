//! Sources and how to read them.

use std::collections::{BTreeMap, HashSet};
use std::io::Read;
use std::path::PathBuf;

use arrow_array::RecordBatchReader;

use super::chunks::Chunks;
use super::{Kind, Shipped, Table};
use crate::{Error, ErrorKind, Result};

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
    /// An open file, at its beginning, with a name for messages.
    File {
        /// What messages call it.
        name: String,
        /// The file.
        file: std::fs::File,
    },
    /// Any reader, with a name for messages.
    Stream {
        /// What messages call it.
        name: String,
        /// Where its bytes come from.
        reader: Box<dyn Read + Send>,
    },
    /// Record batches that are in memory already, with a name for messages.
    Batches {
        /// What messages call them.
        name: String,
        /// Where they come from.
        reader: Box<dyn RecordBatchReader + Send>,
        /// How many rows came before them.
        before: usize,
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

    /// Arrow's record batches as a source; messages call it `name`.
    pub fn batches(
        name: impl Into<String>,
        reader: impl RecordBatchReader + Send + 'static,
    ) -> Self {
        Source::batches_from(name, reader, 0)
    }

    /// The same, where so many rows came before: messages count them, too.
    pub fn batches_from(
        name: impl Into<String>,
        reader: impl RecordBatchReader + Send + 'static,
        before: usize,
    ) -> Self {
        Source::Batches { name: name.into(), reader: Box::new(reader), before }
    }

    /// Any reader as a source; messages call it `name`.
    pub fn stream(name: impl Into<String>, reader: impl Read + Send + 'static) -> Self {
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

/// What a column is whose kind neither [`ReadOptions::kinds`] nor its file tells: one of CSV.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Untyped {
    /// What the first 10,000 rows look like: numbers, truth values, or else categories. A later value
    /// that contradicts them is an error.
    #[default]
    Content,
    /// A category: every value is the text as it is written.
    Text,
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
    /// What other columns of CSV are.
    pub untyped: Untyped,
    /// The columns to read; `None` reads all.
    pub columns: Option<Vec<String>>,
    /// The columns to leave out.
    pub drop: Vec<String>,
    /// The bytes that one text may have: a field of CSV without its quotes, a text of Parquet or Arrow. A longer one is
    /// an error, so that a small compressed file cannot fill the memory.
    pub max_field: usize,
    /// The bytes that one row of CSV may take: those of its fields, and eight for each of them.
    pub max_record: usize,
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
            untyped: Untyped::Content,
            columns: None,
            drop: Vec::new(),
            max_field: 64 << 20,
            max_record: 128 << 20,
        }
    }
}

impl ReadOptions {
    /// Says of a name whether its column is read.
    pub(super) fn wanted(&self) -> impl Fn(&str) -> bool {
        let set = |names: &'_ [String]| -> HashSet<String> { names.iter().cloned().collect() };
        let (columns, drop) = (self.columns.as_deref().map(set), set(&self.drop));
        move |name| columns.as_ref().is_none_or(|all| all.contains(name)) && !drop.contains(name)
    }

    /// Refuses options that a Parquet or Arrow file would ignore.
    pub(super) fn check_not_csv(&self) -> Result<()> {
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
        if self.max_field == 0 || self.max_record == 0 {
            return Err(Error::new(ErrorKind::Settings, "fields or rows of 0 bytes are asked for")
                .help("let them have at least one byte"));
        }
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
/// Memory stays near the size of the typed columns: all formats come in pieces (Parquet and Arrow
/// files that are not on disk are held in memory while read).
pub fn read(sources: impl IntoIterator<Item = Source>, options: &ReadOptions) -> Result<Table> {
    let mut all = chunks(sources, options, usize::MAX)?;
    all.next().unwrap_or_else(|| Err(all.no_rows()))
}

/// Reads sources, one after the other, in tables of at most `rows` rows.
///
/// Memory stays near the size of one such table, however many there are: a category's dictionary has
/// the texts of its own table. Of Parquet and Arrow, besides, a row group's pages or a batch are held,
/// and the whole of a Parquet or Arrow file that is not on disk.
///
/// Rows, errors and their places are those of [`read`], and so are kinds: a column is of one kind in all
/// tables. Only, a column that has nothing but missing values in the first table (and in the rows that
/// tell kinds, [`Untyped::Content`]) is a category in those after it too.
///
/// ```
/// use fairgame::table::{ReadOptions, Source, chunks};
/// let csv = Source::stream("people.csv", &b"age,job\n21,clerk\n47,nurse\n35,pilot\n"[..]);
/// let mut rows = Vec::new();
/// for table in chunks([csv], &ReadOptions::default(), 2)? {
///     rows.push(table?.rows());
/// }
/// assert_eq!(rows, [2, 1]);
/// # Ok::<(), fairgame::Error>(())
/// ```
///
/// # Errors
/// If options contradict each other, or `rows` is 0. What goes wrong in reading is the last that the
/// iterator yields; that there are no rows at all is such an error.
pub fn chunks(
    sources: impl IntoIterator<Item = Source>,
    options: &ReadOptions,
    rows: usize,
) -> Result<Chunks> {
    options.check()?;
    if rows == 0 {
        return Err(Error::new(ErrorKind::Settings, "tables of 0 rows are asked for")
            .help("read at least one row at a time"));
    }
    Ok(Chunks::new(sources.into_iter().collect(), options.clone(), rows))
}
