//! Settings as a tree of TOML, before they mean anything.

use std::fs;
use std::path::Path;

use fairgame::rate;
use fairgame::{Error, ErrorKind, Result};
use toml::{Table, Value};

/// TOML's whole numbers have a sign.
pub(super) fn whole(number: u64, flag: &str) -> Result<Value> {
    i64::try_from(number)
        .map(Value::Integer)
        .map_err(|_| settings(format!("{flag} {number} is too large")).help("give less than 2^63"))
}

pub(super) fn settings(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Settings, message)
}

/// Puts a value under a dotted key.
pub(super) fn put(table: &mut Table, key: &str, value: Value) -> Result<()> {
    match key.split_once('.') {
        None => {
            table.insert(key.to_owned(), value);
            Ok(())
        }
        Some((first, rest)) => {
            let inner = table.entry(first).or_insert_with(|| Value::Table(Table::new()));
            // A word such as `linear` gives way to a table of settings.
            if !inner.is_table() {
                *inner = Value::Table(Table::new());
            }
            match inner {
                Value::Table(inner) => put(inner, rest, value),
                _ => Err(settings(format!("`{first}` has no settings of its own"))),
            }
        }
    }
}

/// Puts all of `given` over what is there, table by table.
pub(super) fn merge(table: &mut Table, given: Table) {
    for (key, value) in given {
        match (table.get_mut(&key), value) {
            (Some(Value::Table(inner)), Value::Table(given)) => merge(inner, given),
            (_, value) => {
                table.insert(key, value);
            }
        }
    }
}

/// One of the paper's problems.
pub(super) fn named(name: &str) -> Result<Table> {
    let policy = rate::Policy::find(name.trim_start_matches('@'))?;
    let mut table = Table::new();
    table.insert("label".to_owned(), policy.label.into());
    table.insert("objective".to_owned(), policy.objective.into());
    let constraints: Vec<Value> = policy.constraints.iter().map(|&text| text.into()).collect();
    table.insert("constraints".to_owned(), constraints.into());
    Ok(table)
}

pub(super) fn read(path: &Path) -> Result<Table> {
    let text = fs::read_to_string(path).map_err(|error| {
        Error::new(ErrorKind::Io, format!("the policy cannot be read: {error}"))
            .help("give a TOML file, or @NAME for one of the paper's problems")
            .at(path.display())
    })?;
    text.parse().map_err(|error: toml::de::Error| {
        let message = format!("the policy is not TOML: {}", error.message());
        let failed = Error::new(ErrorKind::Syntax, message);
        match error.span() {
            Some(span) => {
                let line = text[..span.start.min(text.len())].matches('\n').count() + 1;
                failed.at(format!("line {line}")).at(path.display())
            }
            None => failed.at(path.display()),
        }
    })
}
