//! One error type: where it happened, what was found, what to do.

use std::fmt;

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of thing went wrong, for callers that decide on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file could not be opened, read or written.
    Io,
    /// Bytes that are not what their format says: a ragged row, a truncated file.
    Format,
    /// A column that is absent, named twice, or of another kind than asked for.
    Column,
    /// A value that does not fit its column.
    Value,
    /// Settings that contradict each other or the data.
    Settings,
}

/// An error that says where, what, and what to do about it.
///
/// ```
/// use fairgame::{Error, ErrorKind};
/// let error = Error::new(ErrorKind::Value, "`abc` is not a number")
///     .at("line 3")
///     .at("people.csv")
///     .help("add it as a missing marker");
/// assert_eq!(
///     error.to_string(),
///     "people.csv, line 3: `abc` is not a number\n  help: add it as a missing marker"
/// );
/// ```
pub struct Error(Box<Parts>);

struct Parts {
    kind: ErrorKind,
    /// Outermost place first: file, then line, then column.
    places: Vec<String>,
    message: String,
    help: Option<String>,
}

impl Error {
    /// An error of `kind` whose `message` says what was asked and what was found.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Parts { kind, places: Vec::new(), message: message.into(), help: None }))
    }

    /// Adds an enclosing place: the innermost is added first, a file last.
    #[must_use]
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        self.0.places.insert(0, place.to_string());
        self
    }

    /// Says what the user can do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.0.help = Some(help.into());
        self
    }

    /// What kind of thing went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Where, what and why in one line, without the help.
    pub fn message(&self) -> String {
        if self.0.places.is_empty() {
            self.0.message.clone()
        } else {
            format!("{}: {}", self.0.places.join(", "), self.0.message)
        }
    }

    /// What the user can do, where there is advice to give.
    pub fn advice(&self) -> Option<&str> {
        self.0.help.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())?;
        match self.advice() {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.0.kind)
    }
}

impl std::error::Error for Error {}

/// The candidate most like `word`, if any is alike enough to be what was meant.
///
/// Alike: equal but for case, or at most a third of the letters (and at least one) away.
///
/// ```
/// assert_eq!(fairgame::nearest("agee", ["age", "race"]), Some("age"));
/// assert_eq!(fairgame::nearest("zip", ["age", "race"]), None);
/// ```
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let allowed = (word.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
