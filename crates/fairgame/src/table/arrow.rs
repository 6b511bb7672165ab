//! Parquet and Arrow IPC in: record batches appended to growing columns.
//!
//! Declared types settle the kinds: numbers of any width are numbers; text in any of Arrow's
//! layouts is a category; dates and times are categories of their ISO text, as they would be in a
//! CSV file (in UTC, where they have a time zone). Missing markers and surrounding spaces mean the same as in CSV, so one table describes
//! identically whichever format it came in.

use std::io::{Cursor, Read, Seek};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::file::reader::ChunkReader;

use super::arrow_values::{self, Unread};
use super::builder::{ColumnBuilder, Misfit, Origin, TableBuilder};
use super::input::{Stream, Whole};
use super::ipc::{Messages, check_footer, messages};
use super::text::EXACT;
use super::{Kind, MISSING, Missing, ReadOptions, Untyped, checksum};
use crate::{Error, ErrorKind, Remedy, Result, shown};

/// Rows decoded at a time.
const BATCH: usize = 8192;

type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>>;

/// The rows of record batches, still to be appended.
pub(super) struct Rows {
    batches: Batches,
    /// The columns that those of a batch go to, in order.
    columns: Vec<usize>,
    /// What is left of a batch that there was no room for.
    rest: Option<RecordBatch>,
    /// How many rows were appended, or came before.
    appended: usize,
    format: &'static str,
}

impl Rows {
    /// The rows of a Parquet file.
    pub(super) fn parquet(
        whole: Whole,
        options: &ReadOptions,
        table: &mut TableBuilder,
    ) -> Result<Self> {
        match whole {
            Whole::File(file) => parquet(file, options, table),
            Whole::Memory(bytes) => parquet(bytes::Bytes::from(bytes), options, table),
        }
    }

    /// The rows of an Arrow IPC file.
    pub(super) fn ipc_file(
        whole: Whole,
        options: &ReadOptions,
        table: &mut TableBuilder,
    ) -> Result<Self> {
        match whole {
            Whole::File(file) => ipc_file(std::io::BufReader::new(file), options, table),
            Whole::Memory(bytes) => ipc_file(Cursor::new(bytes), options, table),
        }
    }

    /// The rows of an Arrow IPC stream.
    pub(super) fn ipc_stream(
        stream: Stream,
        options: &ReadOptions,
        table: &mut TableBuilder,
    ) -> Result<Self> {
        stream_of(stream, options, table)
    }

    /// The rows of record batches in memory.
    pub(super) fn batches(
        (reader, before): (Box<dyn RecordBatchReader + Send>, usize),
        options: &ReadOptions,
        table: &mut TableBuilder,
    ) -> Result<Self> {
        let fields = table.open(names(&reader.schema()), options)?;
        Ok(Rows { appended: before, ..Rows::projected(reader, &fields) })
    }

    /// The rows of Arrow batches that still hold the columns that are left out.
    fn projected(
        batches: impl Iterator<Item = Result<RecordBatch, ArrowError>> + 'static,
        fields: &[Option<usize>],
    ) -> Self {
        let kept = kept(fields);
        let batches = batches.map(move |batch| batch.and_then(|batch| batch.project(&kept)));
        Rows::new(Box::new(batches), fields, "Arrow")
    }

    /// The rows of batches that hold the kept columns, in the file's order.
    fn new(batches: Batches, fields: &[Option<usize>], format: &'static str) -> Self {
        let columns = fields.iter().copied().flatten().collect();
        Rows { batches, columns, rest: None, appended: 0, format }
    }

    /// Appends at most `room` rows, and says whether there may be more.
    pub(super) fn append(
        &mut self,
        room: usize,
        options: &ReadOptions,
        table: &mut TableBuilder,
    ) -> Result<bool> {
        let mut room = room;
        while room > 0 {
            let batch = match self.rest.take() {
                Some(rest) => rest,
                None => match self.batches.next() {
                    None => return Ok(false),
                    Some(batch) => batch.map_err(|error| damaged(self.format, &error))?,
                },
            };
            let fits = batch.num_rows().min(room);
            if fits < batch.num_rows() {
                self.rest = Some(batch.slice(fits, batch.num_rows() - fits));
            }
            self.append_batch(&batch.slice(0, fits), options, table)?;
            room -= fits;
        }
        Ok(true)
    }

    fn append_batch(
        &mut self,
        batch: &RecordBatch,
        options: &ReadOptions,
        table: &mut TableBuilder,
    ) -> Result<()> {
        /// A batch may claim any number of nulls, which take no room in it.
        const MOST_NULLS: usize = 1 << 27;
        let nothing = batch.columns().iter().all(|array| *array.data_type() == DataType::Null);
        if nothing && batch.num_rows() > MOST_NULLS {
            let claimed = format!("a batch of {} rows holds nothing but nulls", batch.num_rows());
            return Err(damaged(self.format, &claimed));
        }
        for (array, &column) in batch.columns().iter().zip(&self.columns) {
            let column = &mut table.columns[column];
            append(array, column, options).map_err(|misplaced| match misplaced {
                Misplaced::Value(row, text, misfit) => misfit
                    .error(text.as_bytes(), &column.name, column.origin)
                    .at(format!("row {}", self.appended + row + 1)),
                Misplaced::Kind(error) => error.at(format!("column `{}`", shown(&column.name))),
            })?;
        }
        self.appended += batch.num_rows();
        Ok(())
    }
}

/// How many rows a Parquet file says it has.
pub(super) fn parquet_rows(whole: Whole) -> Result<u64> {
    let options = ArrowReaderOptions::default();
    let metadata = match whole {
        Whole::File(file) => ArrowReaderMetadata::load(&file, options),
        Whole::Memory(bytes) => ArrowReaderMetadata::load(&bytes::Bytes::from(bytes), options),
    };
    let metadata = metadata.map_err(|error| damaged("Parquet", &error))?;
    Ok(u64::try_from(metadata.metadata().file_metadata().num_rows()).unwrap_or(0))
}

fn parquet<R: ChunkReader + 'static>(
    input: R,
    options: &ReadOptions,
    table: &mut TableBuilder,
) -> Result<Rows> {
    let metadata = ArrowReaderMetadata::load(&input, ArrowReaderOptions::default())
        .map_err(|error| damaged("Parquet", &error))?;
    let pairs = metadata.metadata().file_metadata().key_value_metadata();
    let mut sums = pairs.into_iter().flatten().filter(|pair| pair.key == checksum::KEY);
    // Who writes the rows of our files to new ones may copy what is said of the file along with them.
    let rows = metadata.metadata().row_groups().iter().flat_map(|group| group.columns());
    let end = rows.map(|column| column.byte_range()).map(|(start, length)| start + length).max();
    let own = |sum: &&str| checksum::is_of(sum, end.unwrap_or(0)..input.len());
    if let Some(sum) = sums.find_map(|pair| pair.value.as_deref()).filter(own) {
        let bytes = input.get_read(0).map_err(|error| damaged("Parquet", &error))?;
        checksum::check(bytes, sum).map_err(|error| damaged("Parquet", &error))?;
    }
    let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(input, metadata);
    let fields = table.open(names(reader.schema()), options)?;
    let mask = ProjectionMask::roots(reader.parquet_schema(), kept(&fields));
    let batches = reader
        .with_projection(mask)
        .with_batch_size(BATCH)
        .build()
        .map_err(|error| damaged("Parquet", &error))?;
    Ok(Rows::new(Box::new(batches), &fields, "Parquet"))
}

fn ipc_file<R: Read + Seek + 'static>(
    mut input: R,
    options: &ReadOptions,
    table: &mut TableBuilder,
) -> Result<Rows> {
    let sum = check_footer(&mut input).map_err(|error| damaged("Arrow", &error))?;
    if let Some(sum) = sum {
        // All that is read of it is then what the checksum is about; the footer is not.
        let stream = checksum::check(&mut input, &sum)
            .and_then(|bytes| messages(input, bytes))
            .map_err(|error| damaged("Arrow", &error))?;
        return stream_of(stream, options, table);
    }
    let reader = FileReader::try_new(input, None).map_err(|error| damaged("Arrow", &error))?;
    let fields = table.open(names(&reader.schema()), options)?;
    Ok(Rows::projected(reader, &fields))
}

fn stream_of<R: Read + 'static>(
    stream: R,
    options: &ReadOptions,
    table: &mut TableBuilder,
) -> Result<Rows> {
    let reader = StreamReader::try_new(Messages::new(stream), None)
        .map_err(|error| damaged("Arrow", &error))?;
    let fields = table.open(names(&reader.schema()), options)?;
    Ok(Rows::projected(reader, &fields))
}

fn names(schema: &Schema) -> Vec<String> {
    schema.fields().iter().map(|field| field.name().clone()).collect()
}

/// The fields that some column takes.
fn kept(fields: &[Option<usize>]) -> Vec<usize> {
    (0..fields.len()).filter(|&field| fields[field].is_some()).collect()
}

/// Why an array cannot be appended.
enum Misplaced {
    /// The value of that row, printed, does not fit.
    Value(usize, String, Misfit),
    /// The whole array is of another kind than the column.
    Kind(Error),
}

fn append(
    array: &ArrayRef,
    column: &mut ColumnBuilder,
    options: &ReadOptions,
) -> Result<(), Misplaced> {
    if let Some(plain) = without_dictionary(array)? {
        return append(&plain, column, options);
    }
    let missing = &options.missing;
    let natural = natural_kind(array.data_type()).ok_or_else(|| {
        Misplaced::Kind(
            Error::new(
                ErrorKind::Column,
                format!("the type {} has no place in a table", array.data_type()),
            )
            .help("columns are numbers, texts, booleans, dates or times")
            .remedy(Remedy::Drop(column.name.clone())),
        )
    })?;
    let Some(natural) = natural else {
        if options.untyped == Untyped::Text {
            column.decide_text();
        }
        column.push_missing(array.len());
        return Ok(());
    };
    column.decide(natural);
    match (column.kind(), natural) {
        (Some(Kind::Number), Kind::Number) => append_numbers(array, column, missing),
        (Some(Kind::Boolean), Kind::Boolean) => {
            if let Some(truths) = column.truths() {
                let marked =
                    [false, true].map(|truth| missing.is_text(truth.to_string().as_bytes()));
                let present = |truth: &bool| !marked[usize::from(*truth)];
                truths.extend(array.as_boolean().iter().map(|truth| truth.filter(present)));
            }
            Ok(())
        }
        (Some(Kind::Category), Kind::Category) if dictionary_of_text(array.data_type()) => {
            append_dictionary(array, column, options)
        }
        (Some(_), _) if column.origin != Origin::Content || natural == Kind::Category => {
            append_texts(array, column, options)
        }
        (kind, _) => Err(Misplaced::Kind(
            Error::new(
                ErrorKind::Column,
                format!(
                    "is a {natural} here, but a {} in the files before",
                    kind.unwrap_or(Kind::Category)
                ),
            )
            .remedy(Remedy::Kind(column.name.clone(), Kind::Category)),
        )),
    }
}

/// The kind that a declared type suggests; `Some(None)` for a column of nulls, `None` for types
/// that have no place in a table.
fn natural_kind(data_type: &DataType) -> Option<Option<Kind>> {
    match data_type {
        DataType::Null => Some(None),
        DataType::Boolean => Some(Some(Kind::Boolean)),
        DataType::Dictionary(_, values) => natural_kind(values),
        DataType::Interval(_) | DataType::Duration(_) => None,
        number if number.is_numeric() => Some(Some(Kind::Number)),
        text if text.is_string() || text.is_temporal() => Some(Some(Kind::Category)),
        _ => None,
    }
}

/// The plain values of a dictionary of anything but text.
fn without_dictionary(array: &ArrayRef) -> Result<Option<ArrayRef>, Misplaced> {
    match array.data_type() {
        DataType::Dictionary(_, values) if !values.is_string() => {
            let plain = arrow_values::without_dictionary(array);
            plain.map(Some).map_err(|error| Misplaced::Kind(unread_error(&error)))
        }
        _ => Ok(None),
    }
}

fn dictionary_of_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Dictionary(_, values) if values.is_string())
}

fn append_numbers(
    array: &ArrayRef,
    column: &mut ColumnBuilder,
    missing: &Missing,
) -> Result<(), Misplaced> {
    check_exact(array)?;
    let Some(into) = column.numbers() else { return Ok(()) };
    arrow_values::numbers(array, |row, number| {
        into.push(match number {
            Some(number) if missing.is_number(number) => f64::NAN,
            Some(number) if number.is_infinite() => {
                return Err(Misplaced::Value(row, number.to_string(), Misfit::NotNumber));
            }
            Some(number) => number + 0.0,
            None => f64::NAN,
        });
        Ok(())
    })
}

/// Refuses integers that an f64 would round; decimals without a fraction are integers.
fn check_exact(array: &ArrayRef) -> Result<(), Misplaced> {
    let too_long = |row: usize, long: bool| {
        long.then(|| Misplaced::Value(row, arrow_values::text(array, row), Misfit::Inexact))
    };
    let inexact = match array.data_type() {
        DataType::Int64 => {
            let mut integers = array.as_primitive::<Int64Type>().iter().enumerate();
            integers.find_map(|(row, value)| too_long(row, value?.unsigned_abs() > EXACT))
        }
        DataType::UInt64 => {
            let mut integers = array.as_primitive::<UInt64Type>().iter().enumerate();
            integers.find_map(|(row, value)| too_long(row, value? > EXACT))
        }
        DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale) if *scale <= 0 => {
            let mut inexact = None;
            arrow_values::numbers(array, |row, value| {
                let long = value.is_some_and(|value| value.abs() >= EXACT as f64);
                inexact = inexact.take().or_else(|| too_long(row, long));
                Ok::<_, Misplaced>(())
            })?;
            inexact
        }
        _ => None,
    };
    inexact.map_or(Ok(()), Err)
}

fn append_texts(
    array: &ArrayRef,
    column: &mut ColumnBuilder,
    options: &ReadOptions,
) -> Result<(), Misplaced> {
    arrow_values::texts(array, |row, text| {
        let text = text.unwrap_or_default();
        check_length(row, text, options)?;
        column
            .push_text(text.as_bytes().trim_ascii(), &options.missing)
            .map_err(|misfit| Misplaced::Value(row, text.to_owned(), misfit))
    })
}

fn check_length(row: usize, text: &str, options: &ReadOptions) -> Result<(), Misplaced> {
    match text.len() > options.max_field {
        true => Err(Misplaced::Value(row, text.to_owned(), Misfit::TooLong(options.max_field))),
        false => Ok(()),
    }
}

/// Interns each text of an Arrow dictionary that rows have, once, then copies codes.
fn append_dictionary(
    array: &ArrayRef,
    column: &mut ColumnBuilder,
    options: &ReadOptions,
) -> Result<(), Misplaced> {
    let missing = &options.missing;
    let Some((codes, dictionary)) = column.category() else { return Ok(()) };
    let array = array.as_any_dictionary();
    // A text that rows have is read once; of the others nothing is asked.
    let values = array.values();
    let mut used = vec![false; values.len()];
    let keys = array.normalized_keys();
    if values.is_empty() {
        codes.resize(codes.len() + array.len(), MISSING);
        return Ok(());
    }
    for (row, &key) in keys.iter().enumerate() {
        used[key] |= array.is_valid(row);
    }
    let mut texts: Vec<Option<String>> = vec![None; values.len()];
    arrow_values::texts(values, |at, text| {
        let Some(text) = text.filter(|_| used[at]) else { return Ok(()) };
        if text.len() > options.max_field {
            let row = keys.iter().position(|&key| key == at).unwrap_or(0);
            return check_length(row, text, options);
        }
        let text = text.trim_ascii();
        texts[at] = (!missing.is_text(text.as_bytes())).then(|| text.to_owned());
        Ok(())
    })?;
    // In the order of rows, as they would be in a CSV file.
    let mut interned: Vec<Option<u32>> = vec![None; values.len()];
    let mut intern =
        |key: usize| texts[key].as_deref().map_or(MISSING, |text| dictionary.intern(text));
    codes.extend(keys.into_iter().enumerate().map(|(row, key)| match array.is_null(row) {
        true => MISSING,
        false => *interned[key].get_or_insert_with(|| intern(key)),
    }));
    Ok(())
}

impl From<Unread> for Misplaced {
    fn from(unread: Unread) -> Self {
        match unread {
            Unread::Kind => Misplaced::Kind(unread_error(&"its type is not known")),
            Unread::Time(row) => {
                let why = format!("the time of row {} is beyond the calendar", row + 1);
                Misplaced::Kind(unread_error(&why))
            }
        }
    }
}

fn unread_error(why: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::Value, format!("a value cannot be converted: {why}"))
        .help("mend the value, or leave the column out")
}

/// The error for a file that its format's reader refuses.
pub(super) fn damaged(format: &str, error: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::Format, format!("cannot be read as {format}: {error}"))
        .help("the file may be truncated or damaged: copy or download it again")
}
