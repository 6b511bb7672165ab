//! CSV in: one pass, streaming.
//!
//! Kinds are settled on the first [`SAMPLE`] rows. A later value that contradicts its column is an
//! error that names the line, never a silent change of kind: a typo in row 900,001 of a number
//! column would otherwise turn the whole column into categories.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

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
    let crlf = input.head().windows(2).any(|pair| pair == b"\r\n");
    let seen = Rc::new(Seen::default());
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
        .from_reader(Watched { inner: input, quote: options.quote, seen: Rc::clone(&seen) });

    let last = ByteRecord::new();
    let mut records = Records { reader: &mut reader, last, seen, delimiter, compressed, crlf };
    let mut record = ByteRecord::new();
    if !records.next(&mut record)? {
        return Err(Error::new(ErrorKind::Format, "the file is empty")
            .help("give a file with a header line and at least one row"));
    }
    let (names, mut pending) =
        names(&record, options).map_err(|error| error.at(records.place(&record)))?;
    let fields: Vec<Option<usize>> = table.open(names, options)?;

    if table.columns.iter().any(|column| column.kind().is_none()) {
        let mut sample = Vec::new();
        while pending || (sample.len() < SAMPLE && records.next(&mut record)?) {
            pending = false;
            sample.push((record.clone(), records.place(&record)));
        }
        for (field, column) in fields.iter().enumerate() {
            let Some(column) = column.map(|column| &mut table.columns[column]) else { continue };
            let texts = sample.iter().map(|(record, _)| record[field].trim_ascii());
            if let (None, Some(kind)) = (column.kind(), infer(texts, &options.missing)) {
                column.decide(kind);
            }
        }
        for (record, place) in &sample {
            append(record, &fields, options, table).map_err(|error| error.at(place))?;
        }
    }
    while pending || records.next(&mut record)? {
        pending = false;
        append(&record, &fields, options, table)
            .map_err(|error| error.at(records.place(&record)))?;
    }
    records.check_end()
}

/// The column names, and whether the first record is data rather than a header.
fn names(first: &ByteRecord, options: &ReadOptions) -> Result<(Vec<String>, bool)> {
    let pending = options.header == Header::Absent;
    if let Some(names) = &options.names {
        if names.len() != first.len() {
            let found = first.len();
            return Err(Error::new(
                ErrorKind::Format,
                format!("{} column names are given for rows of {found} fields", names.len()),
            )
            .help("give one name for each field, or the right --delimiter"));
        }
        return Ok((names.clone(), pending));
    }
    if pending {
        return Ok(((1..=first.len()).map(|number| format!("c{number}")).collect(), true));
    }
    let names = first.iter().enumerate().map(|(index, name)| match std::str::from_utf8(name) {
        Ok(name) => Ok(name.trim().to_owned()),
        Err(_) => {
            let shown = format!("{} ({})", index + 1, String::from_utf8_lossy(name));
            Err(Misfit::NotUtf8.error(name, &shown, false))
        }
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
            return Err(misfit.error(text.trim_ascii(), &column.name, column.declared));
        }
    }
    Ok(())
}

/// What has gone through to the parser.
#[derive(Default)]
struct Seen {
    bytes: Cell<u64>,
    quotes: Cell<u64>,
    last: Cell<u8>,
}

/// A reader that takes note of what goes through.
struct Watched {
    inner: Box<dyn Read>,
    quote: u8,
    seen: Rc<Seen>,
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let bytes = &buffer[..read];
        let quotes: u32 = bytes.iter().map(|&byte| u32::from(byte == self.quote)).sum();
        self.seen.bytes.set(self.seen.bytes.get() + read as u64);
        self.seen.quotes.set(self.seen.quotes.get() + u64::from(quotes));
        self.seen.last.set(bytes.last().copied().unwrap_or(self.seen.last.get()));
        Ok(read)
    }
}

/// Records of one length, whose errors say where they are and what to do.
struct Records<'a> {
    reader: &'a mut Reader<Watched>,
    /// The record before the one just read: at the end, the last of the file.
    last: ByteRecord,
    seen: Rc<Seen>,
    delimiter: u8,
    compressed: bool,
    crlf: bool,
}

impl Records<'_> {
    fn next(&mut self, record: &mut ByteRecord) -> Result<bool> {
        if self.reader.is_done() {
            return Ok(false);
        }
        std::mem::swap(record, &mut self.last);
        self.reader.read_byte_record(record).map_err(|error| self.explain(error, record))
    }

    /// The line on which the record just read begins.
    ///
    /// The parser's own position is that of the record before, with blank lines and comments still
    /// to come. So count back from the record's end: past its line end, which the parser has not
    /// read yet where it is CRLF, and over the line ends within its fields.
    fn place(&self, record: &ByteRecord) -> String {
        let end = self.reader.position();
        let at_end = end.byte() >= self.seen.bytes.get();
        // The file's last line end may be inside a field whose quote is never closed.
        let open = self.swallowed(record)
            && record.iter().next_back().is_some_and(|field| field.ends_with(b"\n"));
        let unended = at_end && (open || self.seen.last.get() != b'\n');
        let past = u64::from(!unended && !self.crlf);
        let inside = record.iter().flatten().filter(|&&byte| byte == b'\n').count() as u64;
        format!("line {}", end.line().saturating_sub(past + inside))
    }

    /// A quote that is never closed takes the rest of the file into its field.
    fn check_end(&self) -> Result<()> {
        if self.swallowed(&self.last) {
            return Err(unclosed().at(self.place(&self.last)));
        }
        Ok(())
    }

    fn swallowed(&self, record: &ByteRecord) -> bool {
        self.seen.quotes.get() % 2 == 1
            && record.iter().next_back().is_some_and(|field| field.contains(&b'\n'))
    }

    fn explain(&self, error: CsvError, record: &ByteRecord) -> Error {
        match error.into_kind() {
            CsvErrorKind::UnequalLengths { .. } if self.swallowed(record) => {
                unclosed().at(self.place(record))
            }
            CsvErrorKind::UnequalLengths { expected_len, len, .. } => Error::new(
                ErrorKind::Format,
                format!("the number of fields is {len} here and {expected_len} in the first line"),
            )
            .help(format!(
                "mend the row, quote fields that contain `{}`, or give the right --delimiter or \
                 --comment",
                char::from(self.delimiter).escape_default()
            ))
            .at(self.place(record)),
            CsvErrorKind::Io(error) => {
                let line = self.reader.position().line();
                super::input::failed(&error, self.compressed).at(format!("about line {line}"))
            }
            other => Error::new(ErrorKind::Format, format!("not readable as CSV: {other:?}")),
        }
    }
}

fn unclosed() -> Error {
    Error::new(ErrorKind::Format, "a quote in this row is never closed")
        .help("close it, double it if it is part of the text, or say what quotes are (--quote)")
}

/// The delimiter that the first line suggests: the candidate that it holds most of.
fn delimiter(head: &[u8], options: &ReadOptions) -> u8 {
    let line = head
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(head)
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
