//! A folder of its own for each test, and the real binary run inside it.

#![allow(dead_code, reason = "each test binary uses a part of it")]

pub(crate) mod applicants;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A temporary folder; the binary runs in it, so that messages show short paths.
pub(crate) struct Folder(TempDir);

/// What a run of the binary left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Folder(tempfile::tempdir().expect("a temporary folder can be made"))
    }

    /// A folder with one file.
    pub(crate) fn with(name: &str, content: impl AsRef<[u8]>) -> Self {
        let folder = Folder::new();
        folder.write(name, content);
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, and the folders above it.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("files are in the folder")).expect("made");
        fs::write(path, content).expect("the file can be written");
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("the file can be read")
    }

    /// Every path below the folder, with the content of files.
    pub(crate) fn listing(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        fn list(folder: &Path, into: &mut BTreeMap<PathBuf, Vec<u8>>) {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    list(&path, into);
                }
                into.insert(path.clone(), fs::read(path).unwrap_or_default());
            }
        }
        let mut listing = BTreeMap::new();
        list(self.0.path(), &mut listing);
        listing
    }

    /// Runs `fairgame` with nothing on its standard input.
    pub(crate) fn fairgame(&self, arguments: &[&str]) -> Run {
        self.fairgame_on(arguments, b"")
    }

    /// Runs `fairgame` with `stdin` on its standard input.
    pub(crate) fn fairgame_on(&self, arguments: &[&str], stdin: &[u8]) -> Run {
        let mut child = self.command(arguments).spawn().expect("the binary starts");
        let mut pipe = child.stdin.take().expect("standard input is a pipe");
        let output = std::thread::scope(|scope| {
            // A program that does not listen is no failure of the test.
            scope.spawn(move || pipe.write_all(stdin).ok());
            child.wait_with_output().expect("the binary ends")
        });
        let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
        Run { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// The binary, in this folder, all streams piped.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fairgame"));
        command.args(arguments).current_dir(self.0.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}
