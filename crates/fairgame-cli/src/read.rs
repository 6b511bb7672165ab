//! The options of every command that reads data.

use std::collections::BTreeMap;
use std::io;

use clap::Args;
use fairgame::classifier::Classifier;
use fairgame::table::{self, Chunks, Header, Kind, Missing, ReadOptions, Source, Table, Untyped};
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
}

impl ReadArguments {
    /// Reads the table; `missing` is what the settings say stands for a missing value.
    pub(crate) fn read(&self, missing: &Missing) -> Result<Table> {
        self.format.read(&self.data, self.format.options(missing))
    }

    /// Reads another table that is to be like one that was read.
    pub(crate) fn read_like(
        &self,
        data: &[String],
        like: &Table,
        missing: &Missing,
    ) -> Result<Table> {
        let expected =
            like.columns().iter().map(|column| (column.name.clone(), column.values.kind()));
        let expected = expected.collect();
        self.format.read(data, ReadOptions { expected, ..self.format.options(missing) })
    }

    /// Reads a table for a classifier: missing values and kinds of columns are what they were in training,
    /// whatever a short file makes them look like.
    pub(crate) fn read_for(&self, classifier: &Classifier) -> Result<Table> {
        let kinds = classifier.bound().kinds().into_iter().chain(classifier.encoder().kinds());
        let expected = kinds.collect();
        let options = self.format.options(&classifier.missing());
        self.format.read(&self.data, ReadOptions { expected, ..options })
    }

    /// Reads tables of so many rows for a classifier: its columns, and the `kept` ones as they are
    /// written.
    pub(crate) fn chunks_for(
        &self,
        classifier: &Classifier,
        kept: &[&str],
        rows: usize,
    ) -> Result<Chunks> {
        self.format.check()?;
        let expected = classifier.encoder().kinds();
        let needed = expected.keys().map(String::as_str).chain(kept.iter().copied());
        let needed: Vec<String> = needed.map(str::to_owned).collect();
        let mut options = self.format.options(&classifier.missing());
        if options.columns.is_none() && !needed.is_empty() {
            options.columns = Some(needed);
        }
        let options = ReadOptions { expected, untyped: Untyped::Text, ..options };
        table::chunks(sources(&self.data)?, &options, rows)
    }
}

impl FormatArguments {
    /// Reads a table.
    pub(crate) fn read(&self, data: &[String], options: ReadOptions) -> Result<Table> {
        let sources = sources(data)?;
        self.check()?;
        table::read(sources, &options)
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
        }
    }
}

fn sources(data: &[String]) -> Result<Vec<Source>> {
    let source = |text: &String| match text.as_str() {
        "-" => Ok(Source::stream("standard input", io::stdin())),
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
