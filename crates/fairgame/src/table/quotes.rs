//! What CSV text looks like around its quotes, before it is parsed.
//!
//! The CSV grammar lets a quote open a field only as its first byte. Files written with a space after
//! each delimiter, as in `a, "b, c"`, need that space gone before they are parsed; a space before an
//! unquoted field is left for the parser's user to trim. And a quote that is never closed would take
//! the rest of a file into one field without a word, so the end of the text asks whether one is open,
//! or was closed in the middle of a field, which is what a later quote does to it.
//!
//! The parser holds a whole row, however long. So the text ends with an error where a field or a row is far beyond its
//! limit: twice as long and a piece of the file, since quotes may be doubled and only whole pieces are counted. What is
//! nearer to the limit is seen once the row is parsed.
//!
//! The parser doubles its memory as a row grows, and a program that gets none ends at once. So from [`LARGE`] on, the text
//! also ends with an error where there is no memory for a row of twice the length.

use std::cell::Cell;
use std::fmt;
use std::io::{self, Read};
use std::rc::Rc;

use crate::memory;

/// A reader that leaves out spaces between a delimiter or line end and a quote.
pub(super) struct Unspaced<R> {
    inner: R,
    grammar: Grammar,
    state: State,
    /// Spaces that a quote may follow.
    held: usize,
    /// Bytes that are through, of which the first `given` are handed on.
    ready: Vec<u8>,
    given: usize,
    chunk: Vec<u8>,
    line: u64,
    limits: Limits,
    /// The line on which the row begins, and the bytes so far of the row and of its last field.
    record: (u64, u64),
    field: u64,
    /// The length of row that memory was last asked for.
    foreseen: u64,
    seen: Rc<Seen>,
}

/// From this length on, memory for a row is asked for before the parser needs it.
pub(super) const LARGE: u64 = 16 << 20;

/// What the parser holds of a field beside its bytes: where it ends.
pub(super) const PER_FIELD: u64 = 8;

/// How many bytes a field and a row may have.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) field: usize,
    pub(super) record: usize,
}

/// The error for a field or a row that is longer than it may be.
#[derive(Debug, Clone, Copy)]
pub(super) enum TooLong {
    /// A field of the row that begins on this line.
    Field(u64),
    /// The row that begins on this line.
    Record(u64),
    /// The row that begins on this line, of so many bytes so far, for which there is no memory.
    Memory(u64, u64),
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TooLong::Field(line) => write!(f, "a field of line {line} is too long"),
            TooLong::Record(line) => write!(f, "line {line} is too long"),
            TooLong::Memory(line, _) => write!(f, "there is no memory for line {line}"),
        }
    }
}

impl std::error::Error for TooLong {}

/// What was seen of quotes so far.
#[derive(Default)]
pub(super) struct Seen {
    /// Whether a quote is open at the end of what was read.
    pub(super) open: Cell<bool>,
    /// The first line on which text follows the end of a quoted field.
    pub(super) stray: Cell<Option<u64>>,
}

/// The bytes that mean something.
#[derive(Clone, Copy)]
pub(super) struct Grammar {
    pub(super) delimiter: u8,
    pub(super) quote: u8,
    pub(super) comment: Option<u8>,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    LineStart,
    FieldStart,
    Plain,
    Comment,
    Quoted,
    /// After a quote within quotes: the field's end, or the first half of a doubled quote.
    QuoteSeen,
}

impl<R: Read> Unspaced<R> {
    pub(super) fn new(inner: R, grammar: Grammar, limits: Limits) -> Self {
        Unspaced {
            inner,
            grammar,
            state: State::LineStart,
            held: 0,
            ready: Vec::new(),
            given: 0,
            chunk: vec![0; 1 << 16],
            line: 1,
            limits,
            record: (1, 0),
            field: 0,
            foreseen: LARGE,
            seen: Rc::default(),
        }
    }

    /// What is seen of quotes, as reading goes on.
    pub(super) fn seen(&self) -> Rc<Seen> {
        Rc::clone(&self.seen)
    }

    fn pass_all(&mut self, chunk: &[u8]) {
        let within = matches!(self.state, State::Quoted | State::QuoteSeen);
        if within || chunk.contains(&self.grammar.quote) {
            chunk.iter().for_each(|&byte| self.pass(byte));
            return;
        }
        // Without a quote only the last field matters: whether it has begun, and with what spaces.
        let last = chunk.iter().rposition(|&byte| byte == self.grammar.delimiter || byte == b'\n');
        let (through, rest) = chunk.split_at(last.unwrap_or(0));
        if !through.is_empty() {
            self.release();
            self.ready.extend_from_slice(through);
            self.line += through.iter().map(|&byte| u64::from(byte == b'\n')).sum::<u64>();
            self.count(through);
            // Only a comment makes the end of a line differ from its beginning.
            let newline = through.iter().rposition(|&byte| byte == b'\n');
            let begins = newline.is_some() || self.state == State::LineStart;
            let first = through.get(newline.map_or(0, |newline| newline + 1)).copied();
            let comment = match self.grammar.comment {
                Some(comment) if begins => first == Some(comment),
                _ => self.state == State::Comment && newline.is_none(),
            };
            self.state = match (comment, newline) {
                (true, _) => State::Comment,
                // What is left begins a line of its own.
                (false, Some(newline)) if newline + 1 == through.len() => State::LineStart,
                (false, _) => State::Plain,
            };
        }
        rest.iter().for_each(|&byte| self.pass(byte));
    }

    fn pass(&mut self, byte: u8) {
        let Grammar { delimiter, quote, comment } = self.grammar;
        let ends =
            byte == delimiter || matches!(byte, b'\n' | b'\r' | b' ' | b'\t') || byte == quote;
        if self.state == State::QuoteSeen && !ends && self.seen.stray.get().is_none() {
            self.seen.stray.set(Some(self.line));
        }
        let quoted = self.state == State::Quoted && byte != quote;
        self.line += u64::from(byte == b'\n');
        match byte {
            // A carriage return alone ends a row to the parser.
            b'\n' | b'\r' if !quoted => (self.record, self.field) = ((self.line, 0), 0),
            byte => {
                let ends = byte == delimiter && !quoted;
                self.record.1 += 1 + PER_FIELD * u64::from(ends);
                self.field = if ends { 0 } else { self.field + 1 };
            }
        }
        let starts = matches!(self.state, State::LineStart | State::FieldStart);
        self.state = match self.state {
            State::LineStart if Some(byte) == comment => State::Comment,
            State::Comment if byte != b'\n' => State::Comment,
            _ if starts && byte == b' ' && byte != delimiter => {
                self.held += 1;
                self.state = State::FieldStart;
                return;
            }
            _ if starts && byte == quote => {
                self.held = 0;
                State::Quoted
            }
            State::Quoted if byte == quote => State::QuoteSeen,
            State::Quoted => State::Quoted,
            State::QuoteSeen if byte == quote => State::Quoted,
            _ if byte == b'\n' => State::LineStart,
            _ if byte == delimiter => State::FieldStart,
            _ => State::Plain,
        };
        self.release();
        self.ready.push(byte);
    }

    /// Counts bytes outside quotes, of which the last may go on.
    fn count(&mut self, bytes: &[u8]) {
        let begun = |end: Option<usize>| end.map_or(0, |end| end + 1);
        let ends_row = |byte: u8| matches!(byte, b'\n' | b'\r');
        let newline = begun(bytes.iter().rposition(|&byte| ends_row(byte)));
        let delimiter = self.grammar.delimiter;
        let field = bytes.iter().rposition(|&byte| byte == delimiter || ends_row(byte));
        if newline > 0 {
            self.record = (self.line, 0);
        }
        let row = &bytes[newline..];
        let ends = row.iter().map(|&byte| u64::from(byte == delimiter)).sum::<u64>();
        self.record.1 += row.len() as u64 + PER_FIELD * ends;
        let rest = (bytes.len() - begun(field)) as u64;
        self.field = if field.is_some() { rest } else { self.field + rest };
    }

    /// Refuses to go on where a row or a field is far too long; a comment is held by nobody.
    fn check(&mut self) -> io::Result<()> {
        let far = |limit: usize| (limit as u64).saturating_mul(2).saturating_add(1 << 16);
        let too_long = match self.state {
            State::Comment => return Ok(()),
            _ if self.field > far(self.limits.field) => TooLong::Field(self.record.0),
            _ if self.record.1 > far(self.limits.record) => TooLong::Record(self.record.0),
            _ if self.record.1 > self.foreseen => {
                let (line, bytes) = self.record;
                self.foreseen = 2 * bytes;
                if memory::fits(3 * u128::from(bytes)) {
                    return Ok(());
                }
                TooLong::Memory(line, bytes)
            }
            _ => return Ok(()),
        };
        Err(io::Error::other(too_long))
    }

    fn release(&mut self) {
        self.ready.resize(self.ready.len() + self.held, b' ');
        self.held = 0;
    }
}

impl<R: Read> Read for Unspaced<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.ready.len() {
            self.ready.clear();
            self.given = 0;
            let mut chunk = std::mem::take(&mut self.chunk);
            let read = self.inner.read(&mut chunk);
            self.pass_all(&chunk[..*read.as_ref().unwrap_or(&0)]);
            self.chunk = chunk;
            self.check()?;
            self.seen.open.set(self.state == State::Quoted);
            if read? == 0 {
                self.release();
                if self.ready.is_empty() {
                    return Ok(0);
                }
            }
        }
        let count = buffer.len().min(self.ready.len() - self.given);
        buffer[..count].copy_from_slice(&self.ready[self.given..self.given + count]);
        self.given += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands on a byte at a time, so that every state is met at the edge of a chunk.
    struct Slowly<'a>(&'a [u8], usize);

    impl Read for Slowly<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    #[test]
    fn spaces_before_quotes_go_and_open_quotes_show() {
        let cases = [
            ("a, \"b, c\" ,d", "a,\"b, c\" ,d", false),
            (" \"a\"\n  \"b\"", "\"a\"\n\"b\"", false),
            ("a,  b, c ", "a,  b, c ", false),
            ("\"x, \"\" \"\"y\", \"z\"", "\"x, \"\" \"\"y\",\"z\"", false),
            ("a,  ", "a,  ", false),
            ("a b \"c\"", "a b \"c\"", false),
            ("# 5\" wide\na,b\n1,5\" x\n", "# 5\" wide\na,b\n1,5\" x\n", false),
            ("a,b\n1,5\" x\n2,\"y\n3,z\n", "a,b\n1,5\" x\n2,\"y\n3,z\n", true),
            ("a,b\n# it's \"open\n1,x\n", "a,b\n# it's \"open\n1,x\n", false),
            ("a,b\n1,\"x\n2,\"y\"\n", "a,b\n1,\"x\n2,\"y\"\n", false),
            ("a,b\nx #,#y, \"z\n", "a,b\nx #,#y,\"z\n", true),
            ("a\n# b, c,\"d\n1\n", "a\n# b, c,\"d\n1\n", false),
            ("\n\n#,\"\n\n\"a\"\n", "\n\n#,\"\n\n\"a\"\n", false),
        ];
        let grammar = Grammar { delimiter: b',', quote: b'"', comment: Some(b'#') };
        for (text, wanted, open) in cases {
            for step in [1, 2, 3, 7, 1000] {
                let limits = Limits { field: 100, record: 100 };
                let mut reader = Unspaced::new(Slowly(text.as_bytes(), step), grammar, limits);
                let mut out = String::new();
                reader.read_to_string(&mut out).unwrap();
                let found = (out.as_str(), reader.seen().open.get());
                assert_eq!(found, (wanted, open), "{step} bytes at a time");
                let stray = text.ends_with("2,\"y\"\n").then_some(3);
                assert_eq!(reader.seen().stray.get(), stray, "{text}");
            }
        }
    }
}
