//! CSV in: one pass, streaming.
//!
//! Kinds are settled on the first [`SAMPLE`] rows of the first file, unless content is not to decide
//! them ([`Untyped::Text`]). A later value that contradicts its column is an error that names the line,
//! never a silent change of kind: a typo in row 900,001 of a number column would otherwise turn the
//! whole column into categories.

use std::cell::RefCell;
use std::io::{self, Read};
use std::rc::Rc;
use std::vec;

use csv::{ByteRecord, Error as CsvError, ErrorKind as CsvErrorKind, Reader, ReaderBuilder};

use super::builder::{ColumnBuilder, Misfit, Origin, TableBuilder, infer};
use super::input::Stream;
use super::quotes::{Grammar, LARGE, Limits, PER_FIELD, Seen, TooLong, Unspaced};
use super::{Header, ReadOptions, Untyped};
use crate::{Error, ErrorKind, Remedy, Result, memory};

/// How many rows settle the kinds of the columns.
pub(super) const SAMPLE: usize = 10_000;

/// What a column takes, in bytes, whatever it holds: `fairgame data describe` of a million columns takes 2,130 for each.
const PER_COLUMN: u128 = 2_200;

/// So many of these are appended column by column at a time.
const BLOCK: usize = 256;

/// The rows of a CSV stream, still to be appended.
pub(super) struct Rows {
    records: Records,
    record: ByteRecord,
    /// Whether `record` was read and not appended.
    pending: bool,
    /// What was read to settle kinds, each row with its place, before `records` goes on.
    sample: vec::IntoIter<(ByteRecord, String)>,
    /// The column that each field goes to.
    fields: Vec<Option<usize>>,
}

impl Rows {
    /// Reads the header, and as many rows as it takes to settle kinds.
    pub(super) fn open(
        input: Stream,
        options: &ReadOptions,
        table: &mut TableBuilder,
    ) -> Result<Self> {
        let mut records = Records::new(input, options);
        let mut record = ByteRecord::new();
        if !records.next(&mut record)? {
            return Err(Error::new(ErrorKind::Format, "the file is empty")
                .help("give a file with a header line and at least one row"));
        }
        check_columns(record.len()).map_err(|error| error.at(records.place(&record)))?;
        let (names, mut pending) =
            names(&record, options).map_err(|error| error.at(records.place(&record)))?;
        let fields: Vec<Option<usize>> = table.open(names, options)?;

        if options.untyped == Untyped::Text {
            table.columns.iter_mut().for_each(ColumnBuilder::decide_text);
        }
        let mut sample = Vec::new();
        if table.columns.iter().any(|column| column.kind().is_none()) {
            let (mut bytes, mut foreseen) = (0, LARGE as usize);
            while pending || (sample.len() < SAMPLE && records.next(&mut record)?) {
                pending = false;
                bytes += held(&record);
                if bytes > foreseen {
                    foreseen = 2 * bytes;
                    let what = format!("the first {} rows, which tell the kinds", sample.len() + 1);
                    check_memory(2 * bytes, &what)
                        .map_err(|error| error.at(records.place(&record)))?;
                }
                sample.push((record.clone(), records.place(&record)));
            }
            for (field, column) in fields.iter().enumerate() {
                let Some(column) = column.map(|column| &mut table.columns[column]) else {
                    continue;
                };
                let texts = sample.iter().map(|(record, _)| record[field].trim_ascii());
                if let (None, Some(kind)) = (column.kind(), infer(texts, &options.missing)) {
                    column.decide(kind);
                }
            }
        }
        Ok(Rows { records, record, pending, sample: sample.into_iter(), fields })
    }

    /// Appends at most `room` rows, and says whether there may be more.
    pub(super) fn append(
        &mut self,
        room: usize,
        options: &ReadOptions,
        table: &mut TableBuilder,
    ) -> Result<bool> {
        let mut room = room;
        loop {
            let block: Vec<_> = self.sample.by_ref().take(room.min(BLOCK)).collect();
            if block.is_empty() {
                break;
            }
            if let Some((_, place)) = block.first() {
                table.foresee(block.len()).map_err(|error| error.at(place))?;
            }
            append_all(&block, &self.fields, options, table)?;
            room -= block.len();
        }
        while room > 0 {
            if !self.pending && !self.records.next(&mut self.record)? {
                return self.records.check_end().map(|()| false);
            }
            self.pending = false;
            table
                .foresee(1)
                .and_then(|()| append(&self.record, &self.fields, options, table))
                .map_err(|error| error.at(self.records.place(&self.record)))?;
            room -= 1;
        }
        Ok(true)
    }
}

/// The bytes that a row takes while it is held.
fn held(record: &ByteRecord) -> usize {
    record.as_slice().len() + PER_FIELD as usize * record.len()
}

/// Refuses more columns than there is memory for: a row of `1,1,1,…` is small, but each of its fields becomes a column.
fn check_columns(columns: usize) -> Result<()> {
    let bytes = PER_COLUMN * columns as u128;
    if bytes < u128::from(LARGE) || memory::fits(bytes) {
        return Ok(());
    }
    let bytes = memory::shown(bytes);
    let message = format!("{columns} columns would take {bytes}, and there is less memory");
    Err(Error::new(ErrorKind::Value, message)
        .help("see whether line ends are missing")
        .remedy(Remedy::Delimiter))
}

/// Refuses what needs more bytes than there are.
fn check_memory(bytes: usize, what: &str) -> Result<()> {
    if memory::fits(bytes as u128) {
        return Ok(());
    }
    let bytes = memory::shown(bytes as u128);
    let message = format!("{what}, would take {bytes}, and there is less memory");
    Err(Error::new(ErrorKind::Value, message)
        .help("read a smaller file, or on a machine with more memory"))
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
            .help("give one name for each field")
            .remedy(Remedy::Delimiter));
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
            Err(Misfit::NotUtf8.error(name, &shown, Origin::Content))
        }
    });
    Ok((names.collect::<Result<_>>()?, false))
}

/// Appends rows column by column: of a hundred thousand columns, only a few fit into a cache.
fn append_all(
    rows: &[(ByteRecord, String)],
    fields: &[Option<usize>],
    options: &ReadOptions,
    table: &mut TableBuilder,
) -> Result<()> {
    // The error that reading row by row would meet first.
    let mut first: Option<(usize, Error)> = None;
    for (field, column) in fields.iter().enumerate() {
        let Some(column) = *column else { continue };
        let column = &mut table.columns[column];
        column.reserve(rows.len());
        for (row, (record, place)) in rows.iter().enumerate() {
            let text = record[field].trim_ascii();
            if let Err(misfit) = column.push_text(text, &options.missing) {
                if first.as_ref().is_none_or(|(before, _)| row < *before) {
                    let error = misfit.error(text, &column.name, column.origin);
                    first = Some((row, error.at(place)));
                }
                break;
            }
        }
    }
    first.map_or(Ok(()), |(_, error)| Err(error))
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
            return Err(misfit.error(text.trim_ascii(), &column.name, column.origin));
        }
    }
    Ok(())
}

/// What the parser was given last: its bytes, and how many came before them.
#[derive(Default)]
struct Chunk {
    bytes: Vec<u8>,
    before: u64,
}

/// A reader that remembers what it handed on last.
struct Watched<R> {
    inner: R,
    last: Rc<RefCell<Chunk>>,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        if read > 0 {
            let mut last = self.last.borrow_mut();
            last.before += last.bytes.len() as u64;
            last.bytes.clear();
            last.bytes.extend_from_slice(&buffer[..read]);
        }
        Ok(read)
    }
}

/// Records of one length, whose errors say where they are and what to do.
struct Records {
    reader: Reader<Watched<Unspaced<Stream>>>,
    /// The record before the one just read: at the end, the last of the file.
    last: ByteRecord,
    chunk: Rc<RefCell<Chunk>>,
    quotes: Rc<Seen>,
    delimiter: u8,
    limits: Limits,
    compressed: bool,
}

impl Records {
    fn new(input: Stream, options: &ReadOptions) -> Self {
        let delimiter = options.delimiter.unwrap_or_else(|| delimiter(input.head(), options));
        let compressed = input.compressed();
        let grammar = Grammar { delimiter, quote: options.quote, comment: options.comment };
        let limits = Limits { field: options.max_field, record: options.max_record };
        let input = Unspaced::new(input, grammar, limits);
        let (quotes, chunk) = (input.seen(), Rc::default());
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .delimiter(delimiter)
            .quote(options.quote)
            .comment(options.comment)
            .buffer_capacity(1 << 17)
            .from_reader(Watched { inner: input, last: Rc::clone(&chunk) });
        Records { reader, last: ByteRecord::new(), chunk, quotes, delimiter, limits, compressed }
    }

    fn next(&mut self, record: &mut ByteRecord) -> Result<bool> {
        if self.reader.is_done() {
            return Ok(false);
        }
        std::mem::swap(record, &mut self.last);
        let more =
            self.reader.read_byte_record(record).map_err(|error| self.explain(error, record))?;
        self.check_length(record)?;
        Ok(more)
    }

    fn check_length(&self, record: &ByteRecord) -> Result<()> {
        let length = record.as_slice().len();
        if held(record) > self.limits.record {
            return Err(self.too_long(TooLong::Record(0)).at(self.place(record)));
        }
        // No field is longer than its row.
        if length > self.limits.field
            && let Some(at) = record.iter().position(|field| field.len() > self.limits.field)
        {
            let error = self.too_long(TooLong::Field(0)).at(format!("field {}", at + 1));
            return Err(error.at(self.place(record)));
        }
        // Its fields are copied into their columns, and these double as they grow.
        if length > LARGE as usize {
            let what = format!("the row, of {}", memory::shown(length as u128));
            check_memory(3 * length, &what).map_err(|error| error.at(self.place(record)))?;
        }
        Ok(())
    }

    fn too_long(&self, what: TooLong) -> Error {
        let error = |what: &str, most: usize| {
            Error::new(ErrorKind::Value, format!("the {what} has more than {most} bytes"))
                .help("see whether a quote or a line end is missing")
        };
        match what {
            TooLong::Field(_) => error("field", self.limits.field).remedy(Remedy::MaxField),
            TooLong::Record(_) => error("row", self.limits.record).remedy(Remedy::MaxRecord),
            TooLong::Memory(_, bytes) => {
                let bytes = memory::shown(bytes.into());
                let message =
                    format!("the row has more than {bytes}, and there is no memory for it");
                Error::new(ErrorKind::Value, message)
                    .help("see whether a quote or a line end is missing")
            }
        }
    }

    /// The line on which the record just read begins.
    ///
    /// The parser's own position is that of the record before, with blank lines and comments still
    /// to come. So count back from the record's end: past its line end, unless that is still to be
    /// read (of CRLF the parser takes the CR), and over the line ends within its fields.
    fn place(&self, record: &ByteRecord) -> String {
        let end = self.reader.position();
        let chunk = self.chunk.borrow();
        let at = usize::try_from(end.byte().saturating_sub(chunk.before)).unwrap_or(0);
        let newline = at.checked_sub(1).and_then(|at| chunk.bytes.get(at)) == Some(&b'\n');
        let past = u64::from(newline && !self.swallowed(at, &chunk));
        let inside = record.as_slice().iter().filter(|&&byte| byte == b'\n').count() as u64;
        format!("line {}", end.line().saturating_sub(past + inside))
    }

    /// Whether what was read up to here ends within quotes.
    fn swallowed(&self, at: usize, chunk: &Chunk) -> bool {
        self.quotes.open.get() && at >= chunk.bytes.len()
    }

    /// A quote that is never closed takes the rest of the file into its field.
    fn check_end(&self) -> Result<()> {
        if self.quotes.open.get() {
            return Err(unclosed().at(self.place(&self.last)));
        }
        match self.quotes.stray.get() {
            None => Ok(()),
            Some(line) => Err(Error::new(
                ErrorKind::Format,
                "text follows a quote that ends a field, so a quote is open or closed too early",
            )
            .help("double a quote that is part of the text")
            .remedy(Remedy::Quote)
            .at(format!("line {line}"))),
        }
    }

    fn explain(&self, error: CsvError, record: &ByteRecord) -> Error {
        match error.into_kind() {
            CsvErrorKind::UnequalLengths { expected_len, len, .. } => {
                let end = self.reader.position().byte();
                let chunk = self.chunk.borrow();
                let at = usize::try_from(end.saturating_sub(chunk.before)).unwrap_or(0);
                if self.swallowed(at, &chunk) {
                    return unclosed().at(self.place(record));
                }
                let delimiter = char::from(self.delimiter).escape_default();
                Error::new(
                    ErrorKind::Format,
                    format!(
                        "the number of fields is {len} here and {expected_len} in the first line"
                    ),
                )
                .help(format!("mend the row, quote fields that contain `{delimiter}`"))
                .remedy(Remedy::Delimiter)
                .remedy(Remedy::Comment)
                .at(self.place(record))
            }
            CsvErrorKind::Io(error) => {
                if let Some(&what) =
                    error.get_ref().and_then(|inner| inner.downcast_ref::<TooLong>())
                {
                    let (TooLong::Field(line) | TooLong::Record(line) | TooLong::Memory(line, _)) =
                        what;
                    return self.too_long(what).at(format!("line {line}"));
                }
                let line = self.reader.position().line();
                super::input::failed(&error, self.compressed).at(format!("about line {line}"))
            }
            other => Error::new(ErrorKind::Format, format!("not readable as CSV: {other:?}")),
        }
    }
}

fn unclosed() -> Error {
    Error::new(ErrorKind::Format, "a quote in this row is never closed")
        .help("close it, or double it if it is part of the text")
        .remedy(Remedy::Quote)
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
