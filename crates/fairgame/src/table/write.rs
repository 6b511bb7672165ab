//! Tables out: CSV, plain or compressed, Parquet, Arrow and JSON lines.

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use flate2::write::GzEncoder;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use super::checksum::{KEY, Sum, Summed};
use super::{Column, Kind, MISSING, Table, Values};
use crate::whole::WholeFile;
use crate::{Error, ErrorKind, Result};

/// A file format for a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values.
    Csv,
    /// Comma-separated values in gzip.
    CsvGz,
    /// Comma-separated values in zstd.
    CsvZst,
    /// Parquet, compressed with zstd.
    Parquet,
    /// An Arrow IPC file.
    Arrow,
    /// One JSON object a line; it is written only.
    JsonLines,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 6] = [
        Format::Csv,
        Format::CsvGz,
        Format::CsvZst,
        Format::Parquet,
        Format::Arrow,
        Format::JsonLines,
    ];

    /// How names of such files end, without the dot.
    pub fn ending(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::CsvGz => "csv.gz",
            Format::CsvZst => "csv.zst",
            Format::Parquet => "parquet",
            Format::Arrow => "arrow",
            Format::JsonLines => "jsonl",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.ending())
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Format::ALL.into_iter().find(|format| format.ending() == text).ok_or_else(|| {
            Error::new(ErrorKind::Settings, format!("`{text}` is not a format")).help(format!(
                "the formats are {}",
                Format::ALL.map(|format| format!("`{format}`")).join(", ")
            ))
        })
    }
}

/// Writes a table. The file appears whole under its name, or not at all.
pub fn write(table: &Table, path: &Path, format: Format) -> Result<()> {
    let mut writer = Writer::file(path, format)?;
    writer.write(table)?;
    writer.finish()
}

/// Writes tables of the same columns, one after the other, as one.
///
/// A file appears under its name, whole, when the writer is finished; a writer that is dropped before
/// leaves nothing behind. Memory does not grow with the number of tables.
///
/// ```
/// use fairgame::table::{Column, Format, Table, Values, Writer, ReadOptions, Source, read};
/// # let folder = std::env::temp_dir().join(format!("fairgame-writer-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let path = folder.join("numbers.parquet");
/// let mut writer = Writer::file(&path, Format::Parquet)?;
/// for x in [1.0, 2.0] {
///     writer.write(&Table::new(vec![Column::new("x", Values::Number(vec![x]))])?)?;
///     assert!(!path.exists());
/// }
/// writer.finish()?;
/// assert_eq!(read([Source::Path(path)], &ReadOptions::default())?.rows(), 2);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Writer {
    format: Format,
    // Before the file, which it writes to for the last time when dropped.
    body: Body,
    /// Of every table.
    columns: Vec<(String, Kind)>,
    to: Destination,
}

/// Where bytes go, and what messages call it.
enum Destination {
    File(WholeFile),
    Stream(String),
}

type Out = BufWriter<Box<dyn Write + Send>>;

/// The encoders, which need the columns to begin.
enum Body {
    Waiting(Option<Out>),
    Csv(csv::Writer<Out>),
    CsvGz(csv::Writer<GzEncoder<Out>>),
    CsvZst(csv::Writer<zstd::Encoder<'static, Out>>),
    Parquet(Box<ArrowWriter<Summed<Out>>>, Sum),
    Arrow(Box<FileWriter<Summed<Out>>>, Sum),
    JsonLines(Out),
}

impl Writer {
    /// A writer to a file.
    ///
    /// # Errors
    /// If no file can be made beside `path`.
    pub fn file(path: &Path, format: Format) -> Result<Self> {
        let file = WholeFile::create(path)?;
        Ok(Writer::new(Box::new(file.handle()), format, Destination::File(file)))
    }

    /// A writer to anything that takes bytes; messages call it `name`. What is written of a table as CSV
    /// or JSON lines is passed on at once.
    pub fn stream(
        name: impl Into<String>,
        out: impl Write + Send + 'static,
        format: Format,
    ) -> Self {
        Writer::new(Box::new(out), format, Destination::Stream(name.into()))
    }

    fn new(out: Box<dyn Write + Send>, format: Format, to: Destination) -> Self {
        let body = Body::Waiting(Some(BufWriter::new(out)));
        Writer { format, body, columns: Vec::new(), to }
    }

    /// Writes the rows of a table.
    ///
    /// # Errors
    /// If they cannot be written, or the columns are not those of the tables before.
    pub fn write(&mut self, table: &Table) -> Result<()> {
        let columns = table.columns().iter();
        let columns: Vec<_> = columns.map(|c| (c.name.clone(), c.values.kind())).collect();
        if let Body::Waiting(out) = &mut self.body
            && let Some(out) = out.take()
        {
            self.body = Body::begin(out, table, self.format).map_err(|e| self.to.failed(&e))?;
            self.columns = columns;
        } else if columns != self.columns {
            let message = "a table has other columns than the ones before";
            return Err(Error::new(ErrorKind::Column, message));
        }
        self.body.write(table).map_err(|error| self.to.failed(&error))
    }

    /// Ends what was written; a file appears under its name.
    ///
    /// # Errors
    /// If no table was written, or the last of them cannot be.
    pub fn finish(self) -> Result<()> {
        if let Body::Waiting(_) = self.body {
            return Err(Error::new(ErrorKind::Settings, "there is no table to write"));
        }
        self.body.finish().map_err(|error| self.to.failed(&error))?;
        match self.to {
            Destination::File(file) => file.finish(),
            Destination::Stream(_) => Ok(()),
        }
    }
}

impl Destination {
    fn failed(&self, error: &io::Error) -> Error {
        match self {
            Destination::File(file) => file.failed(error),
            Destination::Stream(name) => {
                Error::new(ErrorKind::Io, format!("cannot be written: {error}")).at(name)
            }
        }
    }
}

impl Body {
    fn begin(out: Out, table: &Table, format: Format) -> io::Result<Self> {
        /// The most that a row group has: its encoded pages are held until it is complete.
        const ROWS: usize = 1 << 18;
        const BYTES: usize = 1 << 26;
        Ok(match format {
            Format::Csv => Body::Csv(csv_header(table, out)?),
            Format::CsvGz => {
                Body::CsvGz(csv_header(table, GzEncoder::new(out, flate2::Compression::default()))?)
            }
            Format::CsvZst => {
                let mut encoder = zstd::Encoder::new(out, 0)?;
                encoder.include_checksum(true)?;
                Body::CsvZst(csv_header(table, encoder)?)
            }
            Format::Parquet => {
                let properties = WriterProperties::builder()
                    .set_compression(Compression::ZSTD(ZstdLevel::default()))
                    .set_max_row_group_row_count(Some(ROWS))
                    .set_max_row_group_bytes(Some(BYTES))
                    .build();
                let (out, sum) = Summed::new(out);
                let writer = ArrowWriter::try_new(out, schema(table), Some(properties))?;
                Body::Parquet(Box::new(writer), sum)
            }
            Format::Arrow => {
                let (out, sum) = Summed::new(out);
                let writer = FileWriter::try_new(out, &schema(table)).map_err(io::Error::other)?;
                Body::Arrow(Box::new(writer), sum)
            }
            Format::JsonLines => Body::JsonLines(out),
        })
    }

    fn write(&mut self, table: &Table) -> io::Result<()> {
        match self {
            // The caller begins first.
            Body::Waiting(_) => Ok(()),
            Body::Csv(writer) => csv_rows(table, writer).and_then(|()| writer.flush()),
            Body::CsvGz(writer) => csv_rows(table, writer),
            Body::CsvZst(writer) => csv_rows(table, writer),
            Body::Parquet(writer, _) => batches(table).try_for_each(|batch| {
                batch.map_err(io::Error::other).and_then(|batch| Ok(writer.write(&batch)?))
            }),
            Body::Arrow(writer, _) => batches(table)
                .try_for_each(|batch| batch.and_then(|batch| writer.write(&batch)))
                .map_err(io::Error::other),
            Body::JsonLines(out) => json_lines(table, out).and_then(|()| out.flush()),
        }
    }

    fn finish(self) -> io::Result<()> {
        let mut out = match self {
            Body::Waiting(_) => return Ok(()),
            Body::Csv(writer) => csv_end(writer)?,
            Body::CsvGz(writer) => csv_end(writer)?.finish()?,
            Body::CsvZst(writer) => csv_end(writer)?.finish()?,
            Body::Parquet(mut writer, sum) => {
                // All pages, and what the writer holds of them; the footer follows.
                writer.flush()?;
                writer.sync()?;
                writer.append_key_value_metadata(KeyValue::new(KEY.to_owned(), sum.told()));
                writer.into_inner()?.into_inner()
            }
            Body::Arrow(mut writer, sum) => {
                writer.flush().map_err(io::Error::other)?;
                writer.write_metadata(KEY, sum.told());
                writer.into_inner().map_err(io::Error::other)?.into_inner()
            }
            Body::JsonLines(out) => out,
        };
        out.flush()
    }
}

fn csv_header<W: Write>(table: &Table, out: W) -> io::Result<csv::Writer<W>> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(table.columns().iter().map(|column| &column.name))?;
    Ok(writer)
}

fn csv_rows<W: Write>(table: &Table, writer: &mut csv::Writer<W>) -> io::Result<()> {
    for row in 0..table.rows() {
        for column in table.columns() {
            match &column.values {
                Values::Number(numbers) if numbers[row].is_nan() => writer.write_field("")?,
                Values::Number(numbers) => writer.write_field(decimal(numbers[row]))?,
                Values::Category(category) => writer.write_field(match category.codes[row] {
                    MISSING => "",
                    code => category.dictionary.text(code),
                })?,
                Values::Boolean(truths) => writer.write_field(match truths[row] {
                    Some(true) => "true",
                    Some(false) => "false",
                    None => "",
                })?,
            }
        }
        writer.write_record(None::<&[u8]>)?;
    }
    Ok(())
}

fn csv_end<W: Write>(writer: csv::Writer<W>) -> io::Result<W> {
    writer.into_inner().map_err(|error| io::Error::other(error.to_string()))
}

/// The shortest text that reads back as this number; with an exponent where digits alone would look
/// like an identifier.
fn decimal(number: f64) -> String {
    if number.abs() < 1e15 { number.to_string() } else { format!("{number:e}") }
}

/// One object a row, its columns in their order.
fn json_lines(table: &Table, out: &mut Out) -> io::Result<()> {
    let name = |column: &Column| serde_json::to_string(&column.name);
    let names = table.columns().iter().map(name).collect::<Result<Vec<_>, _>>()?;
    for row in 0..table.rows() {
        for (at, (name, column)) in names.iter().zip(table.columns()).enumerate() {
            write!(out, "{}{name}:", if at == 0 { '{' } else { ',' })?;
            match &column.values {
                // NaN is written as null.
                Values::Number(numbers) => serde_json::to_writer(&mut *out, &numbers[row])?,
                Values::Category(category) => {
                    let code = category.codes[row];
                    let text = (code != MISSING).then(|| category.dictionary.text(code));
                    serde_json::to_writer(&mut *out, &text)?;
                }
                Values::Boolean(truths) => serde_json::to_writer(&mut *out, &truths[row])?,
            }
        }
        out.write_all(if names.is_empty() { b"{}\n" } else { b"}\n" })?;
    }
    Ok(())
}

fn schema(table: &Table) -> SchemaRef {
    let fields = table.columns().iter().map(|column| {
        let data_type = match column.values {
            Values::Number(_) => DataType::Float64,
            Values::Category(_) => DataType::Utf8,
            Values::Boolean(_) => DataType::Boolean,
        };
        Field::new(&column.name, data_type, true)
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// The table in record batches.
fn batches(table: &Table) -> impl Iterator<Item = Result<RecordBatch, ArrowError>> {
    const ROWS: usize = 1 << 16;
    let schema = schema(table);
    (0..table.rows()).step_by(ROWS).map(move |start| {
        let rows = start..table.rows().min(start + ROWS);
        let array = |values: &Values| -> ArrayRef {
            match values {
                Values::Number(numbers) => {
                    let numbers = numbers[rows.clone()].iter();
                    Arc::new(Float64Array::from_iter(
                        numbers.map(|&number| (!number.is_nan()).then_some(number)),
                    ))
                }
                Values::Category(category) => {
                    let codes = category.codes[rows.clone()].iter();
                    Arc::new(StringArray::from_iter(
                        codes
                            .map(|&code| (code != MISSING).then(|| category.dictionary.text(code))),
                    ))
                }
                Values::Boolean(truths) => {
                    Arc::new(BooleanArray::from(truths[rows.clone()].to_vec()))
                }
            }
        };
        let arrays = table.columns().iter().map(|column| array(&column.values)).collect();
        RecordBatch::try_new(Arc::clone(&schema), arrays)
    })
}
