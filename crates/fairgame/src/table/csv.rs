//! CSV in: one pass, streaming.
//!
//! Kinds are settled on the first [`SAMPLE`] rows. A later value that contradicts its column is an
//! error that names the line, never a silent change of kind: a typo in row 900,001 of a number
//! column would otherwise turn the whole column into categories.

use std::io::Read;

use csv::{ByteRecord, Error as CsvError, ErrorKind as CsvErrorKind, Reader, ReaderBuilder};

use super::builder::{Misfit, TableBuilder, infer};
use super::input::Stream;
use super::spaces::{Unspaced, spaced};
use super::{Header, ReadOptions};
use crate::{Error, ErrorKind, Result};

/// How many rows settle the kinds of the columns.
const SAMPLE: usize = 10_000;

/// Appends the rows of a CSV stream.
pub(super) fn read(input: Stream, options: &ReadOptions, table: &mut TableBuilder) -> Result<()> {
    let delimiter = options.delimiter.unwrap_or_else(|| delimiter(input.head(), options));
    let compressed = input.compressed();
    let input: Box<dyn Read> = if spaced(input.head(), delimiter) {
        Box::new(Unspaced::new(input, delimiter, options.quote))
    } else {
        Box::new(input)
    };
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .delimiter(delimiter)
        .quote(options.quote)
        .comment(options.comment)
        .buffer_capacity(1 << 17)
        .from_reader(input);

    let mut records = Records { reader: &mut reader, delimiter, compressed };
    let mut record = ByteRecord::new();
    if !records.next(&mut record)? {
        return Err(Error::new(ErrorKind::Format, "the file is empty")
            .help("give a file with a header line and at least one row"));
    }
    let (names, mut pending) = names(&record, options)?;
    let fields: Vec<Option<usize>> = table.open(names, options)?;

    if table.columns.iter().any(|column| column.kind().is_none()) {
        let mut sample = Vec::new();
        while pending || (sample.len() < SAMPLE && records.next(&mut record)?) {
            sample.push(record.clone());
            pending = false;
        }
        for (field, column) in fields.iter().enumerate() {
            let Some(column) = column.map(|column| &mut table.columns[column]) else { continue };
            let texts = sample.iter().map(|record| record[field].trim_ascii());
            if let (None, Some(kind)) = (column.kind(), infer(texts, &options.missing)) {
                column.decide(kind);
            }
        }
        for record in &sample {
            append(record, &fields, options, table)?;
        }
    }
    if pending {
        append(&record, &fields, options, table)?;
    }
    while records.next(&mut record)? {
        append(&record, &fields, options, table)?;
    }
    Ok(())
}

/// The column names, and whether the first record is data rather than a header.
fn names(first: &ByteRecord, options: &ReadOptions) -> Result<(Vec<String>, bool)> {
    let pending = options.header == Header::Absent;
    if let Some(names) = &options.names {
        if names.len() != first.len() {
            let found = first.len();
            return Err(Error::new(
                ErrorKind::Format,
                format!("{} column names are given, but the rows have {found} fields", names.len()),
            )
            .help("give one name for each field, or the right --delimiter"));
        }
        return Ok((names.clone(), pending));
    }
    if pending {
        return Ok(((1..=first.len()).map(|number| format!("c{number}")).collect(), true));
    }
    let names = first.iter().map(|name| match std::str::from_utf8(name) {
        Ok(name) => Ok(name.trim().to_owned()),
        Err(_) => Err(Misfit::NotUtf8.error(name, "header", false).at("line 1")),
    });
    Ok((names.collect::<Result<_>>()?, false))
}

fn append(
    record: &ByteRecord,
    fields: &[Option<usize>],
    options: &ReadOptions,
    table: &mut TableBuilder,
) -> Result<()> {
    for (text, column) in record.iter().zip(fields) {
        let Some(column) = *column else { continue };
        let column = &mut table.columns[column];
        if let Err(misfit) = column.push_text(text.trim_ascii(), &options.missing) {
            let line = record.position().map_or(0, csv::Position::line);
            return Err(misfit
                .error(text.trim_ascii(), &column.name, column.declared)
                .at(format!("line {line}")));
        }
    }
    Ok(())
}

/// Records whose errors say what to do.
struct Records<'a> {
    reader: &'a mut Reader<Box<dyn Read>>,
    delimiter: u8,
    compressed: bool,
}

impl Records<'_> {
    fn next(&mut self, record: &mut ByteRecord) -> Result<bool> {
        self.reader.read_byte_record(record).map_err(|error| self.explain(error))
    }

    fn explain(&self, error: CsvError) -> Error {
        match error.into_kind() {
            CsvErrorKind::UnequalLengths { pos, expected_len, len } => {
                let line = pos.as_ref().map_or(0, csv::Position::line);
                Error::new(
                    ErrorKind::Format,
                    format!("the row has {len} fields where the first line has {expected_len}"),
                )
                .help(format!(
                    "mend the row, quote fields that contain `{}`, or give the right --delimiter \
                     or --comment",
                    char::from(self.delimiter).escape_default()
                ))
                .at(format!("line {line}"))
            }
            CsvErrorKind::Io(error) => {
                let line = self.reader.position().line();
                super::input::failed(&error, self.compressed).at(format!("about line {line}"))
            }
            other => Error::new(ErrorKind::Format, format!("not readable as CSV: {other:?}")),
        }
    }
}

/// The delimiter that the first line suggests: the candidate that it holds most of.
fn delimiter(head: &[u8], options: &ReadOptions) -> u8 {
    let line = head
        .split(|&byte| byte == b'\n')
        .find(|line| !line.trim_ascii().is_empty() && line.first().copied() != options.comment)
        .unwrap_or_default();
    let mut quoted = false;
    let mut counts = [(0_usize, b','), (0, b'\t'), (0, b';'), (0, b'|')];
    for &byte in line {
        quoted ^= byte == options.quote;
        if let (false, Some(count)) = (quoted, counts.iter_mut().find(|count| count.1 == byte)) {
            count.0 += 1;
        }
    }
    // The first of equals wins, and `,` is first.
    counts.iter().rev().max_by_key(|count| count.0).map_or(b',', |count| count.1)
}
