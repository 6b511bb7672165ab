//! Where output goes: data to standard output, all else to standard error.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::error::{ContextKind, ContextValue};
use comfy_table::{ContentArrangement, LineStyle, Table, TableStyle};
use fairgame::classifier::Classifier;
use fairgame::{Error, ErrorKind, Remedy, Result, is_hidden, printable, printable_lines, shown};
use serde::Serialize;

/// Of every JSON document.
pub(crate) const VERSION: u32 = 1;

/// As many threads as the machine has cores for us.
pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Standard output. A reader that stopped listening is no error: what it would have got is dropped.
#[derive(Clone, Default)]
pub(crate) struct Stdout(Arc<AtomicBool>);

impl Stdout {
    /// Whether nobody listens any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn unless_closed<T>(&self, done: T, write: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        if self.is_closed() {
            return Ok(done);
        }
        if crate::inherited::stdout_is_closed() {
            return Err(io::Error::other("it is closed"));
        }
        match write() {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.0.store(true, Ordering::Relaxed);
                Ok(done)
            }
            other => other,
        }
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unless_closed(bytes.len(), || io::stdout().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.unless_closed((), || io::stdout().flush())
    }
}

/// Prints a text for people; names and values in it from outside cannot harm a terminal.
pub(crate) fn print(text: &str) -> Result<()> {
    print_data(&printable_lines(text))
}

/// Prints data, as it is.
pub(crate) fn print_data(text: &str) -> Result<()> {
    let mut out = Stdout::default();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| {
        Error::new(ErrorKind::Io, format!("cannot be written: {error}")).at(STDOUT)
    })
}

/// What messages call standard output.
pub(crate) const STDOUT: &str = "standard output";

/// A JSON document as text; characters that are hidden stand in it as escapes of JSON.
pub(crate) fn document(document: &impl Serialize) -> Result<String> {
    let failed =
        |error: String| Error::new(ErrorKind::Value, format!("no JSON can be made: {error}"));
    let text = serde_json::to_string_pretty(document).map_err(|error| failed(error.to_string()))?;
    let mut safe = String::with_capacity(text.len() + 1);
    for c in text.chars() {
        // Between the strings of a document there is nothing hidden but line ends.
        if c != '\n' && is_hidden(c) {
            let mut units = [0; 2];
            let units = c.encode_utf16(&mut units).iter();
            safe.extend(units.map(|unit| format!("\\u{unit:04x}")));
        } else {
            safe.push(c);
        }
    }
    safe.push('\n');
    Ok(safe)
}

/// Prints a JSON document.
pub(crate) fn print_json(value: &impl Serialize) -> Result<()> {
    print_data(&document(value)?)
}

/// Tells the user something that is not data.
pub(crate) fn notice(text: impl std::fmt::Display) {
    // Nothing can be done about a standard error that is closed.
    let _ = writeln!(io::stderr(), "note: {}", printable(&text.to_string()));
}

/// Warns the user of something about the result.
pub(crate) fn warning(text: impl std::fmt::Display) {
    let _ = writeln!(io::stderr(), "warning: {}", printable(&text.to_string()));
}

/// Tells the user what went wrong.
pub(crate) fn error(error: &Error) {
    let _ = writeln!(io::stderr(), "error: {}", error.shown(flag));
}

/// What is wrong with the command line, with what was typed fit for a terminal.
pub(crate) fn misused(mut error: clap::Error) -> clap::Error {
    let safe = |text: &String| printable(text).into_owned();
    let typed: Vec<(ContextKind, ContextValue)> = error
        .context()
        .filter_map(|(kind, value)| match value {
            ContextValue::String(text) => Some((kind, ContextValue::String(safe(text)))),
            ContextValue::Strings(texts) => {
                Some((kind, ContextValue::Strings(texts.iter().map(safe).collect())))
            }
            // Tips that quote what was typed.
            ContextValue::StyledStrs(texts) => {
                let texts = texts.iter().map(|text| safe(&text.to_string()).into());
                Some((kind, ContextValue::StyledStrs(texts.collect())))
            }
            _ => None,
        })
        .collect();
    for (kind, value) in typed {
        error.insert(kind, value);
    }
    error
}

/// The option of the command line that does what helps.
fn flag(remedy: &Remedy) -> String {
    match remedy {
        Remedy::Missing(text) => format!("{remedy} (--missing '{}')", shown(text)),
        Remedy::Kind(column, kind) => format!("{remedy} (--type '{}={kind}')", shown(column)),
        Remedy::Drop(column) => format!("{remedy} (--drop '{}')", shown(column)),
        Remedy::NoHeader => format!("{remedy} (--no-header)"),
        Remedy::Names => format!("{remedy} (--names a,b,c)"),
        Remedy::Delimiter => format!("{remedy} (--delimiter ';', or ' ')"),
        Remedy::Comment => format!("{remedy} (--comment '#')"),
        Remedy::Quote => format!("{remedy} (--quote)"),
        Remedy::MaxField => format!("{remedy} (--max-field 1G)"),
        Remedy::MaxRecord => format!("{remedy} (--max-record 1G)"),
        other => other.to_string(),
    }
}

/// Keeps quiet about panics in the readers of Parquet and Arrow: the library turns them into errors.
pub(crate) fn quiet_dependencies() {
    let loud = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let file = panic.location().map_or("", |location| location.file());
        if !["/arrow-", "/parquet-", "/flatbuffers-"].iter().any(|name| file.contains(name)) {
            loud(panic);
        }
    }));
}

/// A rule under the header, and nothing else.
const STYLE: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// An empty table with this header, as wide as the terminal or as its content.
pub(crate) fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(STYLE).set_header(header);
    // A terminal that does not know its width has none to fit into.
    if io::stdout().is_terminal() && table.width().is_some_and(|width| width >= 20) {
        table.set_content_arrangement(ContentArrangement::Dynamic);
    }
    table
}

/// A number in at most six significant digits.
pub(crate) fn short(number: f64) -> String {
    if number != 0.0 && !(1e-4..1e15).contains(&number.abs()) {
        return format!("{number:.3e}");
    }
    let digits = if number == 0.0 { 0 } else { number.abs().log10().floor() as i32 };
    let text = format!("{number:.*}", usize::try_from(5 - digits).unwrap_or(0));
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Refuses to write over what is read, or twice to one place.
pub(crate) fn check_distinct<'a>(
    inputs: impl IntoIterator<Item = &'a Path>,
    outputs: impl IntoIterator<Item = &'a Path>,
) -> Result<()> {
    // Of a file that is not there yet, its folder is.
    let place = |path: &Path| {
        path.canonicalize().ok().or_else(|| {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
            Some(folder.join(path.file_name()?))
        })
    };
    let regular = |path: &&Path| !path.exists() || path.is_file();
    let mut taken: Vec<(PathBuf, &str)> = Vec::new();
    for path in inputs.into_iter().filter(regular) {
        taken.extend(place(path).map(|place| (place, "is read from")));
    }
    for path in outputs.into_iter().filter(regular) {
        let Some(place) = place(path) else { continue };
        if let Some((_, used)) = taken.iter().find(|(other, _)| *other == place) {
            let message = format!("the file {used}, and would be written over");
            return Err(Error::new(ErrorKind::Settings, message)
                .help("give another name for the output")
                .at(path.display()));
        }
        taken.push((place, "is written already"));
    }
    Ok(())
}

/// So many of a thing.
pub(crate) fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// A time: `12 s`, `3 min 20 s`.
pub(crate) fn time(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    match seconds / 60 {
        0 => format!("{seconds} s"),
        minutes => format!("{minutes} min {} s", seconds % 60),
    }
}

/// A number of bytes: `12 MB`, `3.4 GB`.
pub(crate) fn bytes(number: u64) -> String {
    match number as f64 {
        some if some < 1e9 => format!("{:.0} MB", (some / 1e6).ceil()),
        many => format!("{:.1} GB", many / 1e9),
    }
}

/// A share in percent.
pub(crate) fn percent(share: f64) -> String {
    match share * 100.0 {
        0.0 => "0 %".to_owned(),
        small if small < 0.1 => "<0.1 %".to_owned(),
        percent => format!("{percent:.1} %"),
    }
}

/// Refuses a model whose scores an estimator in Python gives, unless the scores are named.
pub(crate) fn check_decides_alone(classifier: &Classifier, score: Option<&str>) -> Result<()> {
    let (Some(companion), None) = (classifier.companion(), score) else { return Ok(()) };
    let kind = companion.estimators.first().map_or("estimator", String::as_str);
    let load = match companion.format.as_str() {
        "torch" => "fairgame.torch.load(path, module)",
        _ => "fairgame.load(path)",
    };
    let message = format!(
        "the model wraps an estimator of Python ({}), which gives rows their scores",
        shown(kind)
    );
    Err(Error::new(ErrorKind::Settings, message).help(format!("use it from Python: {load}")))
}

/// A name from outside in a cell of a table: fit for a terminal, and without its middle where it is long.
pub(crate) fn cell(text: &str) -> String {
    const MOST: usize = 200;
    const END: usize = 60;
    let count = text.chars().count();
    if count <= MOST {
        return printable(text).into_owned();
    }
    let first: String = text.chars().take(MOST - END).collect();
    let last: String = text.chars().skip(count - END).collect();
    printable(&format!("{first}… {} characters …{last}", count - MOST)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_numbers() {
        let cases = [
            (0.0, "0"),
            (38.581_647, "38.5816"),
            (99_999.0, "99999"),
            (1_234_567.4, "1234567"),
            (-0.05, "-0.05"),
            (1e-9, "1.000e-9"),
            (1e300, "1.000e300"),
        ];
        for (number, wanted) in cases {
            assert_eq!(short(number), wanted);
        }
    }
}
