//! Checksums of Parquet and Arrow files that we write.
//!
//! A bit that a disk or a copy changed within a column of numbers is another number, and nothing shows it. CSV in gzip and
//! zstd carries a checksum of its own. Arrow has none; Parquet has one for each page, which readers here verify where it
//! is present, but the `parquet` crate does not write. So both carry, in the metadata of their footer, how many bytes come
//! before it and their SHA-256. Other readers ignore it; ours compares it before any row is read.

use std::io::{self, Read, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};

/// The name of the checksum among a file's metadata.
pub(super) const KEY: &str = "fairgame.sha256";

/// What was written so far: how many bytes, and their hash.
#[derive(Clone, Default)]
pub(super) struct Sum(Arc<Mutex<(u64, Sha256)>>);

impl Sum {
    /// The bytes so far, in a form that [`check`] reads.
    pub(super) fn told(&self) -> String {
        let (bytes, hash) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told(*bytes, hash.clone())
    }
}

fn told(bytes: u64, hash: Sha256) -> String {
    let digits = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    format!("{bytes}:{digits}")
}

/// A writer that keeps the sum of what it hands on.
pub(super) struct Summed<W> {
    inner: W,
    sum: Sum,
}

impl<W> Summed<W> {
    pub(super) fn new(inner: W) -> (Self, Sum) {
        let sum = Sum::default();
        (Summed { inner, sum: sum.clone() }, sum)
    }

    pub(super) fn into_inner(self) -> W {
        self.inner
    }
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        let (count, hash) = &mut *self.sum.0.lock().unwrap_or_else(PoisonError::into_inner);
        *count += written as u64;
        hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Whether a checksum is about a file whose rows end at the start of a range, and whose bytes end at its end.
///
/// One that was copied from another file is about other bytes, unless both files are of nearly the same length.
pub(super) fn is_of(wanted: &str, range: Range<u64>) -> bool {
    let bytes = wanted.split_once(':').and_then(|(bytes, _)| bytes.parse::<u64>().ok());
    bytes.is_none_or(|bytes| range.contains(&bytes))
}

/// How many bytes a checksum is about, if the file, read from its beginning, has that checksum.
pub(super) fn check(mut file: impl Read, wanted: &str) -> io::Result<u64> {
    let damaged =
        || io::Error::new(io::ErrorKind::InvalidData, "its checksum is not the one it says");
    let bytes = wanted.split_once(':').and_then(|(bytes, _)| bytes.parse::<u64>().ok());
    let bytes = bytes.ok_or_else(damaged)?;
    let (mut hash, mut left) = (Sha256::new(), bytes);
    let mut piece = vec![0; 1 << 16];
    while left > 0 {
        let most = usize::try_from(left).map_or(piece.len(), |left| left.min(piece.len()));
        match file.read(&mut piece[..most]) {
            Ok(0) => return Err(damaged()),
            Ok(read) => {
                hash.update(&piece[..read]);
                left -= read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    if told(bytes, hash) == wanted { Ok(bytes) } else { Err(damaged()) }
}
