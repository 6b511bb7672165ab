//! Spaces before a quote, taken out: `a, "b, c"` is two fields, as its writer meant.
//!
//! The CSV grammar lets a quote open a field only as its first byte. Files written with a space after
//! each delimiter need that space gone before they are parsed; a space before an unquoted field is
//! left for the parser's user to trim.

use std::io::{self, Read};

/// A reader that leaves out spaces between a delimiter or line end and a quote.
pub(super) struct Unspaced<R> {
    inner: R,
    delimiter: u8,
    quote: u8,
    state: State,
    /// Spaces that a quote may follow.
    held: usize,
    /// Bytes that are through, of which the first `given` are handed on.
    ready: Vec<u8>,
    given: usize,
    chunk: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    FieldStart,
    Plain,
    Quoted,
    /// After a quote within quotes: the field's end, or the first half of a doubled quote.
    QuoteSeen,
}

/// Whether a text has spaces after its delimiters, so that [`Unspaced`] is worth its time.
pub(super) fn spaced(head: &[u8], delimiter: u8) -> bool {
    head.windows(2).any(|pair| pair == [delimiter, b' '])
}

impl<R: Read> Unspaced<R> {
    pub(super) fn new(inner: R, delimiter: u8, quote: u8) -> Self {
        Unspaced {
            inner,
            delimiter,
            quote,
            state: State::FieldStart,
            held: 0,
            ready: Vec::new(),
            given: 0,
            chunk: vec![0; 1 << 16],
        }
    }

    fn pass(&mut self, byte: u8) {
        let ends_field = byte == self.delimiter || byte == b'\n';
        self.state = match self.state {
            State::FieldStart if byte == b' ' && !ends_field => {
                self.held += 1;
                return;
            }
            State::FieldStart if byte == self.quote => {
                self.held = 0;
                State::Quoted
            }
            State::Quoted if byte == self.quote => State::QuoteSeen,
            State::Quoted => State::Quoted,
            State::QuoteSeen if byte == self.quote => State::Quoted,
            _ if ends_field => State::FieldStart,
            _ => State::Plain,
        };
        self.release();
        self.ready.push(byte);
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
            chunk[..*read.as_ref().unwrap_or(&0)].iter().for_each(|&byte| self.pass(byte));
            self.chunk = chunk;
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

    #[test]
    fn spaces_before_quotes_go() {
        let cases = [
            ("a, \"b, c\" ,d", "a,\"b, c\" ,d"),
            (" \"a\"\n  \"b\"", "\"a\"\n\"b\""),
            ("a,  b, c ", "a,  b, c "),
            ("\"x, \"\" \"\"y\", \"z\"", "\"x, \"\" \"\"y\",\"z\""),
            ("a,  ", "a,  "),
            ("a b \"c\"", "a b \"c\""),
        ];
        for (text, wanted) in cases {
            let mut out = String::new();
            Unspaced::new(text.as_bytes(), b',', b'"').read_to_string(&mut out).unwrap();
            assert_eq!(out, wanted);
        }
    }
}
