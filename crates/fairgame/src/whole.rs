//! Files that appear under their name whole, or not at all.

use std::ffi::OsString;
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
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<()> {
    write_beside(path, bytes, None)
}

/// Writes bytes to a file, whole or not at all. A new file has the permissions of the file `like`, if that is there.
pub fn write_beside(path: &Path, bytes: &[u8], like: Option<&Path>) -> Result<()> {
    let file = WholeFile::create_like(path, like)?;
    file.handle().write_all(bytes).map_err(|error| file.failed(&error))?;
    file.finish()
}

/// A file that is written under a temporary name, beside the one that it gets when it is finished.
///
/// Dropped before, it is removed, and what has the name is left as it was. A device or a pipe is written
/// to as it is: a rename would put a file in its place.
///
/// The temporary file is `.NAME.PID.partial`. It is made anew, never opened, so that a link which somebody put there
/// leads nowhere; it is locked while it is written, so that what a killed run left behind can be told from what another
/// run is writing; and it has the permissions of what it replaces.
pub(crate) struct WholeFile {
    /// What messages call it.
    path: PathBuf,
    /// The temporary name and the one to come.
    names: Option<(PathBuf, PathBuf)>,
    file: Arc<File>,
}

/// What temporary names end in.
const ENDING: &str = ".partial";

impl WholeFile {
    pub(crate) fn create(path: &Path) -> Result<Self> {
        Self::create_like(path, None)
    }

    /// One that has the permissions of the file `like` if it is new.
    fn create_like(path: &Path, like: Option<&Path>) -> Result<Self> {
        let failed = |error| failed(&error, path);
        let found = fs::metadata(path);
        // Rather now than when all is written.
        if found.as_ref().is_ok_and(fs::Metadata::is_dir) {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        if found.is_err() && fs::symlink_metadata(path).is_ok_and(|own| own.is_symlink()) {
            let message = "cannot be written: it is a link to a file that does not exist";
            return Err(Error::new(ErrorKind::Io, message)
                .help("make the file that it leads to, or remove the link")
                .at(path.display()));
        }
        let opened = if found.as_ref().is_ok_and(|found| !found.is_file()) {
            File::options().write(true).open(path).map(|file| (None, file))
        } else {
            // What a link points to is written, not the link.
            let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            remove_leftovers_of(&target);
            let permissions = found.ok().or_else(|| fs::metadata(like?).ok());
            create_partial(&target, permissions.as_ref())
                .map(|(partial, file)| (Some((partial, target)), file))
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
        // The new name is on disk once its folder is.
        done.and_then(|()| sync_folder(target)).map_err(|error| self.failed(&error))
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

/// A temporary file that nobody else has, locked, with the permissions of what it will replace.
fn create_partial(target: &Path, replaced: Option<&fs::Metadata>) -> io::Result<(PathBuf, File)> {
    /// Names beside the first are for other writers of this process, and for what is in the way.
    const MOST: usize = 100;
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for attempt in 0..MOST {
        let mut name = prefix(target);
        name.push(std::process::id().to_string());
        if attempt > 0 {
            name.push(format!("-{attempt}"));
        }
        name.push(ENDING);
        let partial = target.with_file_name(name);
        let mut options = File::options();
        options.write(true).create_new(true);
        // Nobody may read what only the owner might, not even until its permissions are set.
        #[cfg(unix)]
        if replaced.is_some() {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        let file = match options.open(&partial) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                last = error;
                continue;
            }
            Err(error) => return Err(error),
        };
        // Somebody who clears leftovers may have had it between its making and its lock.
        if matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)) || is_removed(&file) {
            continue;
        }
        if let Some(replaced) = replaced {
            file.set_permissions(replaced.permissions()).inspect_err(|_| {
                let _ = fs::remove_file(&partial);
            })?;
        }
        return Ok((partial, file));
    }
    Err(last)
}

/// Whether no name leads to an open file any more, where that can be told.
fn is_removed(file: &File) -> bool {
    #[cfg(unix)]
    return file.metadata().is_ok_and(|found| std::os::unix::fs::MetadataExt::nlink(&found) == 0);
    #[cfg(not(unix))]
    return false;
}

/// What the temporary names of a file begin with.
fn prefix(target: &Path) -> OsString {
    let mut name = OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    name.push(".");
    name
}

/// Removes the temporary files that killed runs left of one file.
fn remove_leftovers_of(target: &Path) {
    let prefix = prefix(target);
    let prefix = prefix.as_encoded_bytes();
    remove_where(folder_of(target), |name| name.strip_prefix(prefix));
}

/// Removes all temporary files that killed runs left in a folder; what another run is writing stays.
pub fn remove_leftovers(folder: &Path) {
    remove_where(folder, |name| {
        let rest = name.strip_prefix(b".")?;
        let dot = rest.strip_suffix(ENDING.as_bytes())?.iter().rposition(|&byte| byte == b'.')?;
        Some(&rest[dot + 1..])
    });
}

/// Removes files whose names end in a number and the ending, where `number` finds that end, and that nobody has locked.
/// What cannot be removed is left: it is in nobody's way.
fn remove_where(folder: &Path, number: impl Fn(&[u8]) -> Option<&[u8]>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let ours = number(name.as_encoded_bytes())
            .and_then(|rest| rest.strip_suffix(ENDING.as_bytes()))
            .is_some_and(|id| {
                id.first().is_some_and(u8::is_ascii_digit)
                    && id.iter().all(|&byte| byte.is_ascii_digit() || byte == b'-')
            });
        // Not a link, which may lead anywhere.
        if !ours || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let path = entry.path();
        if let Ok(file) = File::options().write(true).open(&path)
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(&path);
        }
    }
}

fn folder_of(target: &Path) -> &Path {
    match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Has a folder written to disk, where its system can do that.
fn sync_folder(target: &Path) -> io::Result<()> {
    #[cfg(unix)]
    match File::open(folder_of(target)).and_then(|folder| folder.sync_all()) {
        // A folder that may be written to but not read, or a file system without it.
        Err(error)
            if !matches!(
                error.kind(),
                io::ErrorKind::PermissionDenied
                    | io::ErrorKind::InvalidInput
                    | io::ErrorKind::Unsupported
            ) =>
        {
            return Err(error);
        }
        _ => {}
    }
    Ok(())
}

fn failed(error: &io::Error, path: &Path) -> Error {
    Error::new(ErrorKind::Io, format!("cannot be written: {error}"))
        .help("check that the folder exists, may be written to, and has room")
        .at(path.display())
}
