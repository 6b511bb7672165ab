//! Bytes in: a file or a stream, decompressed, and what its first bytes say it is.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek};

use crate::{Error, ErrorKind, Result};

/// Bytes of a known format.
pub(super) enum Input {
    Csv(Stream),
    Parquet(Whole),
    ArrowFile(Whole),
    ArrowStream(Stream),
}

/// Bytes that can be read from any place: a file, or a stream held in memory.
pub(super) enum Whole {
    File(File),
    Memory(Vec<u8>),
}

/// Bytes in order, whose first part can be looked at before reading.
pub(super) struct Stream {
    head: Cursor<Vec<u8>>,
    rest: Box<dyn Read>,
    compressed: bool,
}

/// How much of a stream is looked at to tell its format.
const HEAD: u64 = 1 << 16;

impl Stream {
    fn new(mut rest: Box<dyn Read>, compressed: bool) -> Result<Self> {
        let mut head = Vec::new();
        (&mut rest)
            .take(HEAD)
            .read_to_end(&mut head)
            .map_err(|error| failed(&error, compressed))?;
        Ok(Stream { head: Cursor::new(head), rest, compressed })
    }

    /// The first bytes, whether or not they were read already.
    pub(super) fn head(&self) -> &[u8] {
        self.head.get_ref()
    }

    /// Whether the bytes were decompressed on the way.
    pub(super) fn compressed(&self) -> bool {
        self.compressed
    }

    fn into_memory(mut self) -> Result<Vec<u8>> {
        let mut bytes = self.head.into_inner();
        self.rest.read_to_end(&mut bytes).map_err(|error| failed(&error, self.compressed))?;
        Ok(bytes)
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.head.read(buffer)? {
            0 => self.rest.read(buffer),
            read => Ok(read),
        }
    }
}

/// Tells the format of a file by its first bytes.
pub(super) fn file(mut file: File) -> Result<Input> {
    // A pipe with a name is still a pipe.
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return stream(Box::new(file));
    }
    let mut magic = Vec::new();
    (&mut file).take(8).read_to_end(&mut magic).map_err(|error| failed(&error, false))?;
    file.rewind().map_err(|error| failed(&error, false))?;
    match Magic::of(&magic) {
        Magic::Parquet => Ok(Input::Parquet(Whole::File(file))),
        Magic::ArrowFile => Ok(Input::ArrowFile(Whole::File(file))),
        _ => stream(Box::new(file)),
    }
}

/// Tells the format of a stream by its first bytes.
pub(super) fn stream(reader: Box<dyn Read>) -> Result<Input> {
    let outer = Stream::new(reader, false)?;
    let stream = match Magic::of(outer.head()) {
        Magic::Gzip => Stream::new(Box::new(flate2::read::MultiGzDecoder::new(outer)), true)?,
        Magic::Zstd => {
            let decoder = zstd::Decoder::new(outer).map_err(|error| failed(&error, true))?;
            Stream::new(Box::new(decoder), true)?
        }
        _ => outer,
    };
    match Magic::of(stream.head()) {
        Magic::Parquet => Ok(Input::Parquet(Whole::Memory(stream.into_memory()?))),
        Magic::ArrowFile => Ok(Input::ArrowFile(Whole::Memory(stream.into_memory()?))),
        Magic::ArrowStream => Ok(Input::ArrowStream(stream)),
        Magic::Gzip | Magic::Zstd => Err(Error::new(ErrorKind::Format, "compressed twice")
            .help("decompress it once before reading")),
        Magic::Other(what, advice) => {
            Err(Error::new(ErrorKind::Format, format!("is {what}, which is not a table we read"))
                .help(advice))
        }
        Magic::Text if stream.head().contains(&0) => {
            Err(Error::new(ErrorKind::Format, "is a binary file of a kind we do not read")
                .help("give CSV, Parquet or Arrow"))
        }
        Magic::Text => Ok(Input::Csv(stream)),
    }
}

enum Magic {
    Parquet,
    ArrowFile,
    ArrowStream,
    Gzip,
    Zstd,
    /// What it is, and what to do about it.
    Other(&'static str, &'static str),
    Text,
}

impl Magic {
    fn of(bytes: &[u8]) -> Self {
        match bytes {
            // What follows is binary, unlike in a CSV whose first column is so named.
            [b'P', b'A', b'R', b'1', next, ..] if !matches!(next, b' '..=b'~') => Magic::Parquet,
            [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Magic::ArrowFile,
            [0xff, 0xff, 0xff, 0xff, ..] => Magic::ArrowStream,
            [0x1f, 0x8b, ..] => Magic::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Magic::Zstd,
            [b'P', b'K', 3, 4, ..] => Magic::Other(
                "a zip archive, perhaps a spreadsheet",
                "save the sheet as CSV, or unpack the archive",
            ),
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Magic::Other(
                "UTF-16 text",
                "convert it, for example with `iconv -f UTF-16 -t UTF-8`",
            ),
            [b'{', b'"' | b'\n' | b'\r' | b' ', ..] | [b'[', b'{' | b'\n', ..] => {
                Magic::Other("JSON", "convert it to CSV, Parquet or Arrow")
            }
            _ => Magic::Text,
        }
    }
}

/// The error for bytes that could not be read.
pub(super) fn failed(error: &io::Error, compressed: bool) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof if compressed => {
            Error::new(ErrorKind::Format, "the compressed data ends early: the file is truncated")
                .help("copy or download the file again")
        }
        _ if compressed => {
            Error::new(ErrorKind::Format, format!("the compressed data cannot be read: {error}"))
                .help("copy or download the file again")
        }
        io::ErrorKind::IsADirectory => Error::new(ErrorKind::Io, "is a folder, not a file"),
        _ => Error::new(ErrorKind::Io, format!("cannot be read: {error}")),
    }
}
