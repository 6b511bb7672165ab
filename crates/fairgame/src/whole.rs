//! Files that appear under their name whole, or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{Error, ErrorKind, Result};

/// Writes a text to a file, whole or not at all.
pub fn write_text(path: &Path, text: &str) -> Result<()> {
    write_bytes(path, text.as_bytes())
}

/// Writes bytes to a file, whole or not at all.
pub(crate) fn write_bytes(path: &Path, bytes: &[u8]) -> Result<()> {
    let file = WholeFile::create(path)?;
    file.handle().write_all(bytes).map_err(|error| file.failed(&error))?;
    file.finish()
}

/// A file that is written under a temporary name, beside the one that it gets when it is finished.
///
/// Dropped before, it is removed, and what has the name is left as it was. A device or a pipe is written
/// to as it is: a rename would put a file in its place.
pub(crate) struct WholeFile {
    /// What messages call it.
    path: PathBuf,
    /// The temporary name and the one to come.
    names: Option<(PathBuf, PathBuf)>,
    file: Arc<File>,
}

impl WholeFile {
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let failed = |error| failed(&error, path);
        let found = fs::metadata(path);
        // Rather now than when all is written.
        if found.as_ref().is_ok_and(fs::Metadata::is_dir) {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        let opened = if found.is_ok_and(|found| !found.is_file()) {
            File::options().write(true).open(path).map(|file| (None, file))
        } else {
            // What a link points to is written, not the link.
            let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            let mut name = std::ffi::OsString::from(".");
            name.push(target.file_name().unwrap_or_default());
            name.push(format!(".{}.partial", std::process::id()));
            let partial = target.with_file_name(name);
            File::create(&partial).map(|file| (Some((partial, target)), file))
        };
        let (names, file) = opened.map_err(failed)?;
        Ok(WholeFile { path: path.to_owned(), names, file: Arc::new(file) })
    }

    /// What writes to it.
    pub(crate) fn handle(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    /// Gives the file its name, once it is on disk.
    pub(crate) fn finish(self) -> Result<()> {
        let Some((partial, target)) = &self.names else { return Ok(()) };
        let done = self.file.sync_all().and_then(|()| fs::rename(partial, target));
        done.map_err(|error| self.failed(&error))
    }

    /// The error for bytes that could not be written to it.
    pub(crate) fn failed(&self, error: &io::Error) -> Error {
        failed(error, &self.path)
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if let Some((partial, _)) = &self.names {
            // After the rename there is nothing left to remove.
            let _ = fs::remove_file(partial);
        }
    }
}

fn failed(error: &io::Error, path: &Path) -> Error {
    Error::new(ErrorKind::Io, format!("cannot be written: {error}"))
        .help("check that the folder exists, may be written to, and has room")
        .at(path.display())
}
