//! Tables out: CSV, plain or compressed, Parquet and Arrow, each written whole or not at all.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::{MISSING, Table, Values};
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
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 5] =
        [Format::Csv, Format::CsvGz, Format::CsvZst, Format::Parquet, Format::Arrow];

    /// How names of such files end, without the dot.
    pub fn ending(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::CsvGz => "csv.gz",
            Format::CsvZst => "csv.zst",
            Format::Parquet => "parquet",
            Format::Arrow => "arrow",
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
    whole_file(path, |file| {
        let out = BufWriter::new(file);
        match format {
            Format::Csv => csv(table, out)?.flush(),
            Format::CsvGz => {
                let encoder = flate2::write::GzEncoder::new(out, flate2::Compression::default());
                csv(table, encoder)?.finish()?.flush()
            }
            Format::CsvZst => csv(table, zstd::Encoder::new(out, 0)?)?.finish()?.flush(),
            Format::Parquet => parquet(table, out),
            Format::Arrow => arrow(table, out),
        }
    })
}

/// Writes a table as CSV to anything that takes bytes.
pub fn write_csv(table: &Table, out: impl Write) -> Result<()> {
    let failed = |error: io::Error| {
        Error::new(ErrorKind::Io, format!("the table cannot be written: {error}"))
    };
    csv(table, out).and_then(|mut out| out.flush()).map_err(failed)
}

/// Writes a text to a file, whole or not at all.
pub fn write_text(path: &Path, text: &str) -> Result<()> {
    whole_file(path, |mut file| file.write_all(text.as_bytes()))
}

/// Creates a file under a temporary name beside `path`, and renames it once `fill` is done.
///
/// Whatever goes wrong, `path` is left as it was and the temporary file is removed. A device or a pipe is
/// written to as it is: a rename would put a file in its place.
pub(crate) fn whole_file(path: &Path, fill: impl FnOnce(&File) -> io::Result<()>) -> Result<()> {
    struct Partial(PathBuf);
    impl Drop for Partial {
        fn drop(&mut self) {
            // After the rename there is nothing left to remove.
            let _ = fs::remove_file(&self.0);
        }
    }

    let failed = |error: io::Error| {
        Error::new(ErrorKind::Io, format!("cannot be written: {error}"))
            .help("check that the folder exists, may be written to, and has room")
            .at(path.display())
    };
    if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        let file = File::options().write(true).open(path).map_err(failed)?;
        return fill(&file).map_err(failed);
    }
    // What a link points to is written, not the link.
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.partial", std::process::id()));
    let partial = Partial(path.with_file_name(name));
    let file = File::create(&partial.0).map_err(failed)?;
    fill(&file).and_then(|()| file.sync_all()).map_err(failed)?;
    fs::rename(&partial.0, path).map_err(failed)
}

fn csv<W: Write>(table: &Table, out: W) -> io::Result<W> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(table.columns().iter().map(|column| &column.name))?;
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
    writer.into_inner().map_err(|error| io::Error::other(error.to_string()))
}

/// The shortest text that reads back as this number; with an exponent where digits alone would look
/// like an identifier.
fn decimal(number: f64) -> String {
    if number.abs() < 1e15 { number.to_string() } else { format!("{number:e}") }
}

fn parquet<W: Write + Send>(table: &Table, out: W) -> io::Result<()> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .build();
    let mut writer = parquet::arrow::ArrowWriter::try_new(out, schema(table), Some(properties))?;
    for batch in batches(table) {
        writer.write(&batch.map_err(io::Error::other)?)?;
    }
    writer.into_inner()?.flush()
}

fn arrow<W: Write>(table: &Table, out: W) -> io::Result<()> {
    let written = || -> Result<W, ArrowError> {
        let mut writer = arrow_ipc::writer::FileWriter::try_new(out, &schema(table))?;
        for batch in batches(table) {
            writer.write(&batch?)?;
        }
        writer.into_inner()
    };
    written().map_err(io::Error::other)?.flush()
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
