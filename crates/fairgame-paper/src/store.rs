//! Finished runs, kept line by line so that they are not run again.
//!
//! Each is a line of JSON in `NAME-HASH.jsonl`; the hash is of every training's complete settings, so a change of these
//! begins a new file.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use fairgame::{Error, ErrorKind, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// To be raised with every change of the code that changes a run's numbers: what was kept is then not of use.
const NUMBERS: u32 = 5;

/// Which run: of which case, and its number.
pub(crate) type Key = (usize, u64);

#[derive(Serialize, Deserialize)]
struct Line<T> {
    case: usize,
    run: u64,
    came: T,
    /// How long it took, of one core.
    seconds: f64,
}

/// What runs came to, and how long each took.
pub(crate) type Found<T> = BTreeMap<Key, (T, f64)>;

/// The finished runs of one experiment.
pub(crate) struct Store {
    path: PathBuf,
    file: File,
}

impl Store {
    /// The file for runs of these settings in a folder, which is made, and the runs that it has.
    pub(crate) fn open<T: DeserializeOwned>(
        folder: &Path,
        name: &str,
        settings: &impl Serialize,
        seed: u64,
    ) -> Result<(Self, Found<T>)> {
        fs::create_dir_all(folder).map_err(|error| {
            Error::new(ErrorKind::Io, format!("the folder cannot be made: {error}"))
                .at(folder.display())
        })?;
        let text = serde_json::to_string(&(NUMBERS, settings, seed)).map_err(|error| {
            Error::new(ErrorKind::Settings, format!("no JSON can be made: {error}"))
        })?;
        let hash: String =
            Sha256::digest(text).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        let path = folder.join(format!("{name}-{hash}.jsonl"));
        let before = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => {
                let message = format!("finished runs cannot be read: {error}");
                return Err(Error::new(ErrorKind::Io, message).at(path.display()));
            }
        };
        // A line that was being written when the program was killed is run again.
        let lines = before.lines().filter_map(|line| serde_json::from_str::<Line<T>>(line).ok());
        let runs = lines.map(|line| ((line.case, line.run), (line.came, line.seconds))).collect();
        let file = File::options().create(true).append(true).open(&path).map_err(|error| {
            Error::new(ErrorKind::Io, format!("finished runs cannot be kept: {error}"))
                .at(path.display())
        })?;
        let mut store = Store { path, file };
        if !(before.is_empty() || before.ends_with('\n')) {
            store.write("\n")?;
        }
        Ok((store, runs))
    }

    pub(crate) fn keep(&mut self, key: Key, came: &impl Serialize, seconds: f64) -> Result<()> {
        let line = Line { case: key.0, run: key.1, came, seconds };
        let mut text = serde_json::to_string(&line).map_err(|error| {
            Error::new(ErrorKind::Value, format!("no JSON can be made: {error}"))
        })?;
        text.push('\n');
        self.write(&text)
    }

    fn write(&mut self, text: &str) -> Result<()> {
        self.file.write_all(text.as_bytes()).map_err(|error| {
            Error::new(ErrorKind::Io, format!("a finished run cannot be kept: {error}"))
                .help("check that the disk has room; what was finished before is kept")
                .at(self.path.display())
        })
    }
}
