//! One training, one folder of checkpoints.
//!
//! Two trainings that save to one folder would overwrite each other's games. The first holds a lock on a file there, in which
//! it says who it is. The system gives the lock back when its process ends, however it ends, so that a killed training
//! can be resumed at once; the file stays.

use std::fs::{File, TryLockError};
use std::io::{Read, Write};
use std::path::Path;

use crate::{Error, ErrorKind, Result};

/// What the file is called.
const NAME: &str = "checkpoint.lock";

/// A folder that no other training takes as long as this is held.
#[derive(Debug)]
pub(super) struct FolderLock {
    /// `None` where the file system knows no locks.
    _file: Option<File>,
}

impl FolderLock {
    /// Takes the lock.
    ///
    /// # Errors
    /// If another training has it, or its file cannot be written.
    pub(super) fn take(folder: &Path) -> Result<Self> {
        let path = folder.join(NAME);
        let opened =
            File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = opened.map_err(|error| {
            Error::new(ErrorKind::Io, format!("cannot be written: {error}"))
                .help("give a folder that may be written to")
                .at(path.display())
        })?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(taken(file, folder)),
            Err(TryLockError::Error(_)) => return Ok(FolderLock { _file: None }),
        }
        // What it says is for people; a disk that is full shows when a game is saved.
        let says = format!("process {}\n", std::process::id());
        let _ = file.set_len(0).and_then(|()| file.write_all(says.as_bytes()));
        Ok(FolderLock { _file: Some(file) })
    }
}

fn taken(file: File, folder: &Path) -> Error {
    let mut says = String::new();
    // No more than a line of ours, whatever is there.
    let _ = file.take(64).read_to_string(&mut says);
    let number = says.trim().strip_prefix("process ").and_then(|id| id.parse::<u32>().ok());
    let who = number.map_or("another process".to_owned(), |id| format!("process {id}"));
    Error::new(
        ErrorKind::Settings,
        format!("{who} is training there, and saves its games to this folder"),
    )
    .help("let it end, or choose another folder")
    .at(folder.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let lock = FolderLock::take(folder.path()).unwrap();
        let error = FolderLock::take(folder.path()).unwrap_err().to_string();
        assert!(error.contains(&format!("process {}", std::process::id())), "{error}");
        drop(lock);
        FolderLock::take(folder.path()).unwrap();
        // Whatever is in the file.
        std::fs::write(folder.path().join(NAME), "process \u{1b}[31m").unwrap();
        let lock = FolderLock::take(folder.path()).unwrap();
        std::fs::write(folder.path().join(NAME), "process \u{1b}[31m").unwrap();
        let error = FolderLock::take(folder.path()).unwrap_err().to_string();
        assert!(error.contains("another process") && !error.contains('\u{1b}'), "{error}");
        drop(lock);
    }
}
