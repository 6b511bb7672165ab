//! The options of every command that reads data.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use clap::Args;
use fairgame::classifier::Classifier;
use fairgame::table::{
    self, Chunks, Feed, Header, Kind, Missing, ReadOptions, Source, Table, Untyped,
};
use fairgame::{Error, ErrorKind, Result};

/// What is read, and how.
#[derive(Args)]
pub(crate) struct ReadArguments {
    /// Files or folders (CSV, gzip or zstd CSV, Parquet, Arrow), @NAME for a shipped dataset, - for
    /// standard input; several are read as one table
    #[arg(required = true, value_name = "DATA")]
    pub(crate) data: Vec<String>,

    #[command(flatten)]
    pub(crate) format: FormatArguments,
}

/// How to read what is read.
#[derive(Args)]
#[command(next_help_heading = "Reading data")]
pub(crate) struct FormatArguments {
    /// What separates CSV fields [default: whichever of , tab ; | the first line has most of]
    #[arg(long, value_name = "CHAR", value_parser = byte)]
    delimiter: Option<u8>,

    /// What CSV fields are quoted with
    #[arg(long, value_name = "CHAR", value_parser = byte, default_value = "\"")]
    quote: u8,

    /// Skip CSV lines that begin with this character
    #[arg(long, value_name = "CHAR", value_parser = byte)]
    comment: Option<u8>,

    /// The first CSV line is data; columns are called c1, c2, … unless --names names them
    #[arg(long)]
    no_header: bool,

    /// The column names of CSV, in place of the header's
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    names: Option<Vec<String>>,

    /// One more text that means missing, beside empty ? NA N/A null nan (repeatable)
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    missing: Vec<String>,

    /// Only empty fields and --missing texts mean missing
    #[arg(long)]
    no_standard_missing: bool,

    /// Read a column as number, category or boolean, whatever it looks like (repeatable)
    #[arg(long = "type", value_name = "COLUMN=KIND", value_parser = kind)]
    kinds: Vec<(String, Kind)>,

    /// Read only this column (repeatable)
    #[arg(long = "column", value_name = "COLUMN")]
    columns: Vec<String>,

    /// Leave this column out (repeatable)
    #[arg(long, value_name = "COLUMN")]
    drop: Vec<String>,

    /// The bytes that one field may have, as 500K, 64M or 1G; a longer one is an error
    #[arg(long, value_name = "BYTES", value_parser = fairgame::bytes_of, default_value = "64M")]
    max_field: usize,

    /// Largest row of CSV, in bytes; each field counts eight bytes more than its text
    #[arg(long, value_name = "BYTES", value_parser = fairgame::bytes_of, default_value = "128M")]
    max_record: usize,
}

impl ReadArguments {
    /// Reads the table; `missing` is what the settings say stands for a missing value.
    pub(crate) fn read(&self, missing: &Missing) -> Result<Table> {
        self.format.read(&self.data, self.format.options(missing))
    }

    /// Rows to be read in parts for a classifier: missing values and kinds of columns are what they were in
    /// training, whatever a short file makes them look like. A column of identifiers that the classifier does not use is
    /// read as texts.
    pub(crate) fn rows_for(
        &self,
        classifier: &Classifier,
        identifiers: Option<&str>,
    ) -> Result<RowReader<'_>> {
        let kinds = classifier.bound().kinds().into_iter().chain(classifier.kinds());
        let mut expected: BTreeMap<String, Kind> = kinds.collect();
        if let Some(name) = identifiers.filter(|name| !self.format.declares(name)) {
            expected.entry(name.to_owned()).or_insert(Kind::Category);
        }
        let options = self.format.options(&classifier.missing());
        RowReader::new(self, ReadOptions { expected, ..options })
    }

    /// Rows to be read in parts; `missing` is what the settings say stands for a missing value. A column of
    /// identifiers is read as texts.
    pub(crate) fn rows(
        &self,
        missing: &Missing,
        identifiers: Option<&str>,
    ) -> Result<RowReader<'_>> {
        let identifiers = identifiers.filter(|name| !self.format.declares(name));
        let expected = identifiers.map(|name| (name.to_owned(), Kind::Category));
        let expected = expected.into_iter().collect();
        RowReader::new(self, ReadOptions { expected, ..self.format.options(missing) })
    }

    /// Reads tables of so many rows for a classifier: its columns, and the `kept` ones as they are
    /// written.
    pub(crate) fn chunks_for(
        &self,
        classifier: &Classifier,
        kept: &[&str],
        rows: usize,
    ) -> Result<Chunks> {
        self.chunks_of(&self.data, classifier, kept, rows)
    }

    /// The same of other files, which are read in the same way.
    pub(crate) fn chunks_of(
        &self,
        data: &[String],
        classifier: &Classifier,
        kept: &[&str],
        rows: usize,
    ) -> Result<Chunks> {
        self.format.check()?;
        let expected = classifier.kinds();
        let needed = expected.keys().map(String::as_str).chain(kept.iter().copied());
        let mut needed: Vec<String> = needed.map(str::to_owned).collect();
        let mut options = self.format.options(&classifier.missing());
        options.untyped = Untyped::Text;
        if options.columns.is_none() && !needed.is_empty() {
            // Groups that no row needs to be decided are looked at where they are there.
            let groups = classifier.bound().unnamed();
            let groups: Vec<&str> =
                groups.columns().filter(|name| !needed.iter().any(|one| one == name)).collect();
            if !groups.is_empty() && data.iter().all(|text| can_be_read_again(text)) {
                let first = table::chunks(sources(data)?, &options, 1)?.next().transpose()?;
                let there =
                    |name: &&&str| first.as_ref().is_some_and(|row| row.column(name).is_ok());
                needed.extend(groups.iter().filter(there).map(|name| (*name).to_owned()));
            }
            options.columns = Some(needed);
        }
        table::chunks(sources(data)?, &ReadOptions { expected, ..options }, rows)
    }
}

/// So many rows at a time that so many values of each are a few megabytes.
pub(crate) fn rows_at_a_time(values: usize) -> usize {
    ((1 << 21) / values.max(1)).clamp(1 << 8, 1 << 16)
}

/// So many rows are read at a time where it is not known how many columns they have.
const UNKNOWN_WIDTH: usize = 1 << 13;

/// Rows that are read in parts, so that memory does not grow with their number.
pub(crate) struct RowReader<'a> {
    read: &'a ReadArguments,
    options: ReadOptions,
    /// The columns that there are.
    names: Vec<String>,
    rows: usize,
    again: Again,
}

/// Whether rows can be read again.
enum Again {
    /// Files can.
    Yes,
    /// A stream cannot: its first rows, and what follows them.
    No(Table, Box<Chunks>),
    /// The rows of a stream that are held in memory.
    Held(Vec<Table>),
}

impl<'a> RowReader<'a> {
    fn new(read: &'a ReadArguments, options: ReadOptions) -> Result<Self> {
        read.format.check()?;
        let again = read.data.iter().all(|text| can_be_read_again(text));
        // Of a file, a row is enough to know its columns.
        let rows = if again { 1 } else { UNKNOWN_WIDTH };
        let mut chunks = table::chunks(sources(&read.data)?, &options, rows)?;
        let Some(first) = chunks.next().transpose()? else {
            return Err(Error::new(ErrorKind::Format, "there are no rows"));
        };
        let names = first.columns().iter().map(|column| column.name.clone()).collect();
        let again = if again { Again::Yes } else { Again::No(first, Box::new(chunks)) };
        Ok(RowReader { read, options, names, rows: UNKNOWN_WIDTH, again })
    }

    /// The columns that there are.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Reads no more than these columns of files from here on. Where one of them is not there, all are read, for
    /// messages that know their names. A row has `more` values beside them in memory.
    pub(crate) fn only(&mut self, needed: &BTreeSet<String>, more: usize) {
        let names: BTreeSet<&String> = self.names.iter().collect();
        let there = |name: &String| names.contains(name);
        let files = matches!(self.again, Again::Yes) && self.options.columns.is_none();
        if files && !needed.is_empty() && needed.iter().all(there) {
            self.options.columns = Some(needed.iter().cloned().collect());
            self.rows = rows_at_a_time(needed.len() + more);
        }
    }

    /// All rows, to be read once more afterwards; `needed` are the columns that are held of a stream, and `first`
    /// those of them that this reading is about.
    pub(crate) fn read_before(
        &mut self,
        first: &BTreeSet<String>,
        needed: &BTreeSet<String>,
    ) -> Result<Box<dyn Iterator<Item = Result<Table>> + '_>> {
        if let Again::Yes = self.again {
            let mut options = self.options.clone();
            if options.columns.is_some() {
                options.columns = Some(first.iter().cloned().collect());
            }
            let chunks = table::chunks(sources(&self.read.data)?, &options, self.rows)?;
            return Ok(Box::new(chunks));
        }
        let held = match std::mem::replace(&mut self.again, Again::Yes) {
            Again::No(first, chunks) => {
                let all = std::iter::once(Ok(first)).chain(*chunks);
                all.map(|table| held(&table?, needed)).collect::<Result<Vec<_>>>()?
            }
            Again::Held(tables) => tables,
            Again::Yes => Vec::new(),
        };
        self.again = Again::Held(held);
        let Again::Held(tables) = &self.again else { return Ok(Box::new(std::iter::empty())) };
        Ok(Box::new(tables.iter().map(|table| Ok(table.clone()))))
    }

    /// All rows.
    pub(crate) fn read(self) -> Result<Box<dyn Iterator<Item = Result<Table>>>> {
        Ok(match self.again {
            Again::Yes => {
                Box::new(table::chunks(sources(&self.read.data)?, &self.options, self.rows)?)
            }
            Again::No(first, chunks) => Box::new(std::iter::once(Ok(first)).chain(*chunks)),
            Again::Held(tables) => Box::new(tables.into_iter().map(Ok)),
        })
    }
}

/// A table of those of its columns that are needed; all of them where none is, for messages.
fn held(table: &Table, needed: &BTreeSet<String>) -> Result<Table> {
    let columns = table.columns().iter().filter(|column| needed.contains(&column.name));
    let columns: Vec<_> = columns.cloned().collect();
    if columns.len() < needed.len() { Ok(table.clone()) } else { Table::new(columns) }
}

/// Whether a source gives the same rows a second time: files do, standard input and pipes do not.
fn can_be_read_again(text: &str) -> bool {
    let pipe = || std::fs::metadata(text).is_ok_and(|found| !found.is_file() && !found.is_dir());
    text != "-" && (text.starts_with('@') || !pipe())
}

impl FormatArguments {
    /// Rows that can be read more than once.
    pub(crate) fn feed(&self, data: &[String], missing: &Missing) -> Result<Feed<'static>> {
        let sources = sources(data)?;
        self.check()?;
        Feed::open(data.join(", "), sources, self.options(missing))
    }

    /// Reads a table.
    pub(crate) fn read(&self, data: &[String], options: ReadOptions) -> Result<Table> {
        let sources = sources(data)?;
        self.check()?;
        table::read(sources, &options)
    }

    /// Whether `--type` gives a column its kind.
    fn declares(&self, column: &str) -> bool {
        self.kinds.iter().any(|(declared, _)| declared == column)
    }

    fn check(&self) -> Result<()> {
        for (index, (column, kind)) in self.kinds.iter().enumerate() {
            if self.kinds[..index].iter().any(|(other, before)| other == column && before != kind) {
                return Err(Error::new(
                    ErrorKind::Settings,
                    format!("--type gives column `{column}` two kinds"),
                )
                .help("give it one"));
            }
        }
        Ok(())
    }

    /// What flags say, beside what the settings say of missing values.
    pub(crate) fn missing(&self, settings: &Missing) -> Missing {
        let base = match self.no_standard_missing {
            true => settings.clone().without_standard(),
            false => settings.clone(),
        };
        self.missing.iter().fold(base, |missing, text| missing.and(text))
    }

    /// How to read, with what the settings say of missing values.
    pub(crate) fn options(&self, missing: &Missing) -> ReadOptions {
        ReadOptions {
            delimiter: self.delimiter,
            quote: self.quote,
            comment: self.comment,
            header: if self.no_header { Header::Absent } else { Header::Present },
            names: self.names.clone(),
            missing: self.missing(missing),
            kinds: self.kinds.iter().cloned().collect(),
            expected: BTreeMap::new(),
            untyped: Untyped::Content,
            columns: (!self.columns.is_empty()).then(|| self.columns.clone()),
            drop: self.drop.clone(),
            max_field: self.max_field,
            max_record: self.max_record,
        }
    }
}

fn sources(data: &[String]) -> Result<Vec<Source>> {
    let source = |text: &String| match text.as_str() {
        "-" => Ok(Source::stream("standard input", io::stdin())),
        text if text.ends_with(".safetensors") => {
            let message = "this is a model file, and rows are wanted here";
            Err(Error::new(ErrorKind::Settings, message)
                .help("give one model, and then the files that have the rows")
                .at(text))
        }
        text => Source::parse(text),
    };
    data.iter().map(source).collect()
}

/// One ASCII character, or the word `tab`.
fn byte(text: &str) -> Result<u8> {
    match text.as_bytes() {
        [byte] => Ok(*byte),
        b"tab" | b"\\t" => Ok(b'\t'),
        _ => Err(Error::new(ErrorKind::Settings, "one ASCII character is needed, or `tab`")),
    }
}

fn kind(text: &str) -> Result<(String, Kind)> {
    let (column, kind) = text.rsplit_once('=').ok_or_else(|| {
        Error::new(ErrorKind::Settings, "a column and a kind are needed, as in `age=number`")
    })?;
    Ok((column.to_owned(), kind.parse()?))
}
