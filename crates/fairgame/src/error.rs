//! One error type: where it happened, what was found, what to do.

use std::fmt;
use std::ops::Range;

use unicode_width::UnicodeWidthChar;

use crate::kind::Kind;
use crate::printable::{printable, shown, write_char};

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
    /// A text of the constraint language that cannot be read.
    Syntax,
    /// A constraint or objective that is not linear in the decisions, or that none can meet.
    Problem,
    /// A group with nothing to measure a rate on.
    Group,
}

/// An error that says where, what, and what to do about it.
///
/// Names and values from outside may be in any part of it: every part is made [`printable`](crate::printable).
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
    snippet: Option<Snippet>,
    help: Option<String>,
    remedies: Vec<Remedy>,
}

/// A setting that would help, which each surface names in its own words: an option of the command
/// line, an argument in Python, a field of [`ReadOptions`](crate::table::ReadOptions).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Count this text as missing.
    Missing(String),
    /// Read this column as that kind.
    Kind(String, Kind),
    /// Leave this column out.
    Drop(String),
    /// Say that there is no header.
    NoHeader,
    /// Name the columns.
    Names,
    /// Give the right delimiter.
    Delimiter,
    /// Give the character that comments begin with.
    Comment,
    /// Give the right quote.
    Quote,
    /// Let one text have more bytes.
    MaxField,
    /// Let a row of CSV have more bytes.
    MaxRecord,
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Remedy::Missing(text) => write!(f, "count `{}` as missing", shown(text)),
            Remedy::Kind(column, kind) => write!(f, "read column `{}` as a {kind}", shown(column)),
            Remedy::Drop(column) => write!(f, "leave column `{}` out", shown(column)),
            Remedy::NoHeader => f.write_str("say that the file has no header"),
            Remedy::Names => f.write_str("name the columns yourself"),
            Remedy::Delimiter => f.write_str("give the right delimiter"),
            Remedy::Comment => f.write_str("say what comments begin with"),
            Remedy::Quote => f.write_str("say what fields are quoted with"),
            Remedy::MaxField => f.write_str("allow longer fields"),
            Remedy::MaxRecord => f.write_str("allow longer rows"),
        }
    }
}

/// A line of a text, a part of it underlined, and what is said of that part.
struct Snippet {
    line: String,
    underline: String,
    label: String,
}

impl Error {
    /// An error of `kind` whose `message` says what was asked and what was found.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let (places, message) = (Vec::new(), printable(&message.into()).into_owned());
        let remedies = Vec::new();
        Error(Box::new(Parts { kind, places, message, snippet: None, help: None, remedies }))
    }

    /// Adds an enclosing place: the innermost is added first, a file last.
    #[must_use]
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        self.0.places.insert(0, printable(&place.to_string()).into_owned());
        self
    }

    /// Points at a part of a text, given in bytes, and says something of it.
    ///
    /// ```
    /// use fairgame::{Error, ErrorKind};
    /// let error = Error::new(ErrorKind::Syntax, "unknown rate `fprr`")
    ///     .pointing("fprr() <= 0.1", 0..4, "did you mean `fpr`?")
    ///     .at("constraint 3");
    /// assert_eq!(
    ///     error.to_string(),
    ///     "constraint 3, column 1: unknown rate `fprr`\n    fprr() <= 0.1\n    ^^^^ did you mean `fpr`?"
    /// );
    /// ```
    #[must_use]
    pub fn pointing(mut self, text: &str, part: Range<usize>, label: impl Into<String>) -> Self {
        let (column, snippet) = Snippet::new(text, part, printable(&label.into()).into_owned());
        self.0.snippet = Some(snippet);
        self.at(format!("column {column}"))
    }

    /// Says what the user can do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.0.help = Some(printable(&help.into()).into_owned());
        self
    }

    /// Names a setting that would help.
    #[must_use]
    pub fn remedy(mut self, remedy: Remedy) -> Self {
        self.0.remedies.push(remedy);
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

    /// The settings that would help.
    pub fn remedies(&self) -> &[Remedy] {
        &self.0.remedies
    }

    /// The whole error, with each remedy in the words of `name`, which are made printable too.
    pub fn shown(&self, name: impl Fn(&Remedy) -> String) -> String {
        let mut text = self.message();
        if let Some(Snippet { line, underline, label }) = &self.0.snippet {
            text += &format!("\n    {line}\n    {}", format!("{underline} {label}").trim_end());
        }
        let help: Vec<String> = self
            .advice()
            .map(str::to_owned)
            .into_iter()
            .chain(self.remedies().iter().map(|remedy| printable(&name(remedy)).into_owned()))
            .collect();
        if !help.is_empty() {
            text += &format!("\n  help: {}", help.join("; or "));
        }
        text
    }
}

impl Snippet {
    /// The column, counted in characters of its line from 1, and the snippet.
    fn new(text: &str, part: Range<usize>, label: String) -> (usize, Self) {
        /// Longer lines are cut around the part.
        const SHOWN: usize = 100;
        let floor =
            |at: usize| (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at));
        let start = floor(part.start).unwrap_or(0);
        let end = floor(part.end).unwrap_or(0).max(start);
        let first = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let last = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
        let column = text[first..start].chars().count() + 1;

        let printable = |part: &str| -> Vec<char> {
            let mut printed = String::new();
            part.chars().for_each(|c| write_char(c, &mut printed));
            printed.chars().collect()
        };
        let before = printable(&text[first..start]);
        let after = printable(&text[start..last]);
        let skipped = before.len().saturating_sub(SHOWN / 2);
        let kept = after.len().min(SHOWN - (before.len() - skipped));
        let mut line = String::from(if skipped > 0 { "…" } else { "" });
        line.extend(&before[skipped..]);
        let width = |text: &[char]| text.iter().map(|c| c.width().unwrap_or(0)).sum::<usize>();
        let indent = width(&line.chars().collect::<Vec<_>>());
        line.extend(&after[..kept]);
        line.push_str(if kept < after.len() { "…" } else { "" });
        let marked = printable(&text[start..end.min(last).max(start)]).len().min(kept);
        let underline =
            format!("{}{}", " ".repeat(indent), "^".repeat(width(&after[..marked]).max(1)));
        (column, Snippet { line, underline, label })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown(Remedy::to_string))
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
    /// Nobody means a name by so long a word.
    const LONGEST: usize = 100;
    let lower = word.to_lowercase();
    let length = lower.chars().count();
    if length > LONGEST {
        return None;
    }
    let allowed = (length / 3).max(1);
    candidates
        .into_iter()
        .filter(|candidate| candidate.chars().count().abs_diff(length) <= allowed)
        .map(|candidate| (strsim::osa_distance(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
