//! Settings as a tree of TOML: a file's, and single ones that are put over what is there.

use std::fs;
use std::path::Path;

use fairgame::preset::Preset;
use fairgame::train::{Recipe, Spec, explained};
use fairgame::{Error, ErrorKind, Result, rate};
use serde::Deserialize;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

pub(super) fn settings(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Settings, message)
}

/// One of the paper's problems; of a dataset that is shipped, with the features that the paper has.
pub(super) fn named(name: &str, recipe: Recipe) -> Result<Spec> {
    let policy = rate::Policy::find(name.trim_start_matches('@'))?;
    let mut spec = Spec::of(recipe, policy.label, policy.constraints);
    spec.objective = policy.objective.to_owned();
    if let Ok(preset) = Preset::find(policy.name) {
        spec.encoder = preset.encoder();
    }
    Ok(spec)
}

/// A policy file; its label is empty where it has none.
pub(super) fn read(path: &Path, recipe: Option<Recipe>) -> Result<Spec> {
    let text = fs::read_to_string(path).map_err(|error| {
        Error::new(ErrorKind::Io, format!("the policy cannot be read: {error}"))
            .help("give a TOML file, or @NAME for one of the paper's problems")
            .at(path.display())
    })?;
    let placed = |failed: Error, hint: Option<String>, error: &toml::de::Error| {
        let failed = match error.span() {
            Some(span) => {
                let line = text[..span.start.min(text.len())].matches('\n').count() + 1;
                failed.pointing(&text, span, hint.unwrap_or_default()).at(format!("line {line}"))
            }
            None => helped(failed, hint),
        };
        failed.at(path.display())
    };
    let mut table = DeTable::parse(&text).map_err(|error| {
        let message = format!("the policy is not TOML: {}", error.message());
        placed(Error::new(ErrorKind::Syntax, message), None, &error)
    })?;
    // A flag may still give it.
    let none = || Spanned::new(0..0, DeValue::String("".into()));
    table.get_mut().entry(Spanned::new(0..0, "label".into())).or_insert_with(none);
    if let Some(recipe) = recipe {
        let name = match recipe {
            Recipe::Recommended => "recommended",
            Recipe::Paper => "paper",
        };
        let name = Spanned::new(0..0, DeValue::String(name.into()));
        table.get_mut().insert(Spanned::new(0..0, "recipe".into()), name);
    }
    Spec::deserialize(toml::Deserializer::from(table)).map_err(|error| {
        let (message, hint) = explained(error.message());
        placed(settings(message), hint, &error)
    })
}

/// The settings with `given` put over them.
///
/// Tables are merged as deep as that makes sense: what names another algorithm, model or optimizer than
/// the one that is there takes its place.
pub(super) fn set(spec: &Spec, given: &Table) -> Result<Spec> {
    let before = Table::try_from(spec).map_err(|error| settings(error.to_string()))?;
    let mut depth = depth(given);
    loop {
        let mut table = before.clone();
        merge(&mut table, given, depth);
        match Spec::deserialize(table) {
            Ok(spec) => return Ok(spec),
            Err(_) if depth > 1 => depth -= 1,
            Err(error) => {
                let (message, hint) = explained(error.message());
                return Err(helped(settings(message), hint));
            }
        }
    }
}

/// One of several by its name, with every setting at its default, or as it is if it is there already.
pub(super) fn choose(spec: &Spec, key: &str, name: &str) -> Result<Spec> {
    let now = Table::try_from(spec).map_err(|error| settings(error.to_string()))?;
    match now.get(key) {
        Some(Value::Table(one)) if one.contains_key(name) => Ok(spec.clone()),
        _ => set(spec, &Table::from_iter([(key.to_owned(), Value::from(name))])),
    }
}

fn helped(error: Error, hint: Option<String>) -> Error {
    match hint {
        Some(hint) => error.help(hint),
        None => error,
    }
}

/// How many keys lead to a value, at most.
fn depth(table: &Table) -> usize {
    1 + table.values().filter_map(Value::as_table).map(depth).max().unwrap_or(0)
}

/// Puts `given` over what is there, the tables of the first `depth` keys merged.
fn merge(table: &mut Table, given: &Table, depth: usize) {
    for (key, value) in given {
        match (table.get_mut(key), value) {
            (Some(Value::Table(inner)), Value::Table(given)) if depth > 1 => {
                merge(inner, given, depth - 1);
            }
            _ => {
                table.insert(key.clone(), value.clone());
            }
        }
    }
}
