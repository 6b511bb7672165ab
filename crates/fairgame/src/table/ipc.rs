//! Arrow IPC whose lengths are checked before they are believed.
//!
//! The readers of `arrow-ipc` allocate whatever length a file or a message claims. So a file's footer is
//! compared with the file's size, and a stream is handed on a message at a time, each once it has come.

use std::io::{self, Read, Seek, SeekFrom};

use arrow_ipc::reader::read_footer_length;
use arrow_ipc::{Block, Message, root_as_footer, root_as_message};
use arrow_schema::ArrowError;

use super::checksum::KEY;

/// Refuses a file whose footer speaks of blocks that the file has no room for; the checksum that it has, if any.
pub(super) fn check_footer<R: Read + Seek>(input: &mut R) -> Result<Option<String>, ArrowError> {
    let size = input.seek(SeekFrom::End(0))?;
    let bad = |what: &str| ArrowError::ParseError(what.to_owned());
    let mut trailer = [0; 10];
    input.seek(SeekFrom::End(-10))?;
    input.read_exact(&mut trailer)?;
    let length = read_footer_length(trailer)?;
    if length as u64 + 10 > size {
        return Err(bad("the footer is longer than the file"));
    }
    input.seek(SeekFrom::End(-10 - length as i64))?;
    let mut footer = vec![0; length];
    input.read_exact(&mut footer)?;
    let footer = root_as_footer(&footer).map_err(|error| bad(&error.to_string()))?;
    let blocks = footer.recordBatches().into_iter().chain(footer.dictionaries()).flatten();
    for block in blocks {
        let parts = [block.offset(), i64::from(block.metaDataLength()), block.bodyLength()];
        let end = parts.iter().try_fold(0_u64, |end, &part| end.checked_add(part.try_into().ok()?));
        if end.is_none_or(|end| end > size) {
            return Err(bad("a block lies beyond the end of the file"));
        }
        check_block(input, block)?;
    }
    let sum = footer.custom_metadata().into_iter().flatten();
    let sum = sum.filter(|pair| pair.key() == Some(KEY)).find_map(|pair| pair.value());
    let sum = sum.map(str::to_owned);
    input.rewind()?;
    Ok(sum)
}

/// Checks what a block of a file claims of its buffers.
fn check_block<R: Read + Seek>(input: &mut R, block: &Block) -> io::Result<()> {
    let length = usize::try_from(block.metaDataLength()).unwrap_or(0);
    let start = u64::try_from(block.offset()).unwrap_or(0);
    let mut head = vec![0; length];
    input.seek(SeekFrom::Start(start))?;
    input.read_exact(&mut head)?;
    // A marker and a length come before the description; files of old lack the marker.
    let skipped = if head.starts_with(&[0xff; 4]) { 8 } else { 4 };
    let message = head.get(skipped..).unwrap_or_default();
    let message = root_as_message(message).map_err(|error| bad(&error.to_string()))?;
    check_claims(&message, |at| {
        let mut word = [0; 8];
        input.seek(SeekFrom::Start(start + length as u64 + at as u64)).ok()?;
        input.read_exact(&mut word).ok()?;
        Some(word)
    })
}

/// The messages of a file, of which so many bytes come before its footer: what follows its first word, and zeros.
pub(super) fn messages<R: Read + Seek>(mut input: R, bytes: u64) -> io::Result<impl Read> {
    const MAGIC: u64 = 6;
    input.seek(SeekFrom::Start(MAGIC))?;
    let (mut start, mut byte) = (MAGIC, [0]);
    while start < bytes && input.read(&mut byte)? == 1 && byte == [0] {
        start += 1;
    }
    input.seek(SeekFrom::Start(start))?;
    Ok(input.take(bytes - start))
}

/// Refuses compressed buffers that claim to be longer than any of so many bytes can be; `word` has the eight bytes at a
/// place of the body.
fn check_claims(
    message: &Message<'_>,
    mut word: impl FnMut(usize) -> Option<[u8; 8]>,
) -> io::Result<()> {
    /// A block of zstd of four bytes holds at most 128 KiB, and LZ4 shortens by less.
    const MOST: i64 = 1 << 15;
    let dictionary = message.header_as_dictionary_batch().and_then(|one| one.data());
    let Some(batch) = message.header_as_record_batch().or(dictionary) else { return Ok(()) };
    if batch.compression().is_none() {
        return Ok(());
    }
    for buffer in batch.buffers().into_iter().flatten().filter(|buffer| buffer.length() >= 8) {
        let claimed = usize::try_from(buffer.offset()).ok().and_then(&mut word);
        let claimed =
            claimed.map(i64::from_le_bytes).ok_or_else(|| bad("a buffer is not there"))?;
        if claimed > buffer.length().saturating_mul(MOST) {
            return Err(bad("a compressed buffer claims to be longer than it can be"));
        }
    }
    Ok(())
}

/// An IPC stream of which only whole messages are handed on.
///
/// What is held is one message: a schema, a dictionary, or a batch of rows.
pub(super) struct Messages<R> {
    inner: R,
    message: Vec<u8>,
    given: usize,
    ended: bool,
}

impl<R: Read> Messages<R> {
    pub(super) fn new(inner: R) -> Self {
        Messages { inner, message: Vec::new(), given: 0, ended: false }
    }

    /// Reads the next message: its length, its description, and the body that this speaks of.
    fn load(&mut self) -> io::Result<()> {
        self.message.clear();
        self.given = 0;
        self.ended = true;
        let Some(first) = self.word()? else { return Ok(()) };
        // Streams of old lack the continuation marker before the length.
        let length = if first == u32::MAX { self.word()?.unwrap_or(0) } else { first };
        if length == 0 {
            return Ok(());
        }
        let start = self.message.len();
        if self.take(u64::from(length))? < u64::from(length) {
            return Err(bad("a message is longer than the stream"));
        }
        let message = root_as_message(&self.message[start..]);
        let body = message.map_err(|error| bad(&error.to_string()))?.bodyLength();
        let body = u64::try_from(body).map_err(|_| bad("a batch has a length below 0"))?;
        let end = self.message.len();
        if self.take(body)? < body {
            return Err(bad("a batch is longer than the stream"));
        }
        let (head, body) = self.message.split_at(end);
        let message = root_as_message(&head[start..]).map_err(|error| bad(&error.to_string()))?;
        check_claims(&message, |at| body.get(at..)?.first_chunk().copied())?;
        self.ended = false;
        Ok(())
    }

    /// The next four bytes as a number, if the stream has so many.
    fn word(&mut self) -> io::Result<Option<u32>> {
        let whole = self.take(4)? == 4;
        let word = self.message.last_chunk().copied().map(u32::from_le_bytes);
        Ok(word.filter(|_| whole))
    }

    /// Adds at most so many bytes to the message, and says how many there were.
    fn take(&mut self, count: u64) -> io::Result<u64> {
        let read = (&mut self.inner).take(count).read_to_end(&mut self.message);
        // An unexpected end would be taken for the end of the stream.
        read.map(|read| read as u64).map_err(|error| bad(&error.to_string()))
    }
}

impl<R: Read> Read for Messages<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.message.len() && !self.ended {
            self.load()?;
        }
        let read = (&self.message[self.given..]).read(buffer)?;
        self.given += read;
        Ok(read)
    }
}

fn bad(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
