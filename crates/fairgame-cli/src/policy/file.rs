//! Policy files: TOML in, with the line of whatever is wrong, and TOML out.

use std::fs;
use std::ops::Range;
use std::path::Path;

use fairgame::settings::{Culprit, Recipe, Wrong};
use fairgame::train::Spec;
use fairgame::{Error, ErrorKind, Result, is_hidden};
use serde_json::Value;
use toml::Table;
use toml::de::{DeTable, DeValue};

use super::flags::schema;
use super::settings;

/// A policy file, under a recipe if a flag names one; its label is empty where it has none.
pub(super) fn read(path: &Path, recipe: Option<Recipe>) -> Result<Spec> {
    let text = fs::read_to_string(path).map_err(|error| {
        Error::new(ErrorKind::Io, format!("the policy cannot be read: {error}"))
            .help("give a TOML file, or @NAME for one of the paper's problems")
            .at(path.display())
    })?;
    policy(&text, recipe).map_err(|error| error.at(path.display()))
}

/// The policy that a text holds.
pub(super) fn policy(text: &str, recipe: Option<Recipe>) -> Result<Spec> {
    let placed = |error: Error, span: Option<Range<usize>>, label: &str| match span {
        Some(span) => {
            let line = text[..span.start.min(text.len())].matches('\n').count() + 1;
            error.pointing(text, span, label).at(format!("line {line}"))
        }
        None => error,
    };
    let not_toml = |error: toml::de::Error| {
        let message = format!("the policy is not TOML: {}", error.message());
        placed(Error::new(ErrorKind::Syntax, message), error.span(), "")
    };
    let spans = DeTable::parse(text).map_err(not_toml)?;
    let table: toml::Table = text.parse().map_err(not_toml)?;
    let mut given = json(table.into());
    if let (Some(recipe), Some(given)) = (recipe, given.as_object_mut()) {
        given.insert("recipe".to_owned(), recipe.name().into());
    }
    Spec::from_value(&given).map_err(|wrong| {
        let found = span(spans.get_ref(), &wrong);
        match (found, wrong.help.clone()) {
            // The help stands under what it is about.
            (Some(found), Some(help)) => {
                placed(Error::from(Wrong { help: None, ..wrong }), Some(found), &help)
            }
            (found, _) => placed(Error::from(wrong), found, ""),
        }
    })
}

/// Settings of TOML text that stands on the command line.
pub(super) fn parse(text: &str) -> Result<Value> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        settings(format!("this is not TOML: {}", error.message()))
            .help("write it as in a policy file: 'model.mlp.units = 20'")
    })?;
    Ok(json(table.into()))
}

/// TOML as JSON, which has no dates and no infinities: these stay texts.
fn json(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => serde_json::Number::from_f64(number)
            .map_or_else(|| number.to_string().into(), Value::Number),
        toml::Value::Boolean(truth) => truth.into(),
        toml::Value::Datetime(date) => date.to_string().into(),
        toml::Value::Array(items) => items.into_iter().map(json).collect(),
        toml::Value::Table(table) => {
            table.into_iter().map(|(name, value)| (name, json(value))).collect()
        }
    }
}

/// Where a setting stands in the text, or the nearest that it is part of.
fn span(table: &DeTable<'_>, wrong: &Wrong) -> Option<Range<usize>> {
    let (name, rest) = wrong.key.split_first()?;
    let (key, value) = table.iter().find(|(key, _)| key.get_ref() == name)?;
    let own = match (wrong.culprit, value.get_ref()) {
        (Culprit::Name, _) | (_, DeValue::Table(_)) => key.span(),
        _ => value.span(),
    };
    let rest = Wrong { key: rest.to_vec(), ..wrong.clone() };
    let inner = match value.get_ref() {
        DeValue::Table(table) => span(table, &rest),
        DeValue::Array(items) => {
            let at = rest.key.first().and_then(|at| at.parse::<usize>().ok());
            at.and_then(|at| items.get(at)).map(|item| item.span())
        }
        _ => None,
    };
    inner.or(Some(own))
}

/// The same TOML with characters that cannot be seen as escapes.
fn visible(text: &str) -> Result<String> {
    let hidden = |c: char| c != '\n' && is_hidden(c);
    if !text.contains(hidden) {
        return Ok(text.to_owned());
    }
    let line = |line: &str| {
        if !line.contains(hidden) {
            return format!("{line}\n");
        }
        // Between single quotes nothing is an escape, so double quotes take their place.
        let (start, rest) = line.split_at(line.find('\'').unwrap_or(line.len()));
        let literal = rest.strip_prefix('\'').and_then(|rest| rest.rsplit_once('\''));
        let line = match literal.filter(|_| !start.contains('"')) {
            Some((inside, end)) => {
                let inside = inside.replace('\\', "\\\\").replace('"', "\\\"");
                format!("{start}\"{inside}\"{end}")
            }
            None => line.to_owned(),
        };
        let escape = |c: char| match hidden(c) {
            true => format!("\\U{:08X}", u32::from(c)),
            false => c.to_string(),
        };
        line.chars().map(escape).chain(["\n".to_owned()]).collect::<String>()
    };
    let seen: String = text.lines().map(line).collect();
    match toml::from_str::<Table>(&seen).ok() == toml::from_str::<Table>(text).ok() {
        true => Ok(seen),
        false => Err(settings(
            "the policy holds characters that cannot be seen, and cannot be printed without them"
                .to_owned(),
        )),
    }
}

/// A policy file that says all of what will run; what follows from the data stands with its rule.
pub(crate) fn printed(spec: &Spec) -> Result<String> {
    let text = toml::to_string_pretty(spec)
        .map_err(|error| settings(format!("the policy cannot be written as TOML: {error}")))?;
    let text = visible(&text)?;
    let mut section: Vec<&str> = Vec::new();
    let mut printed = String::new();
    for line in text.lines() {
        printed += line;
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = name.split('.').collect();
        } else if let Some((name, value)) = line.split_once(" = ") {
            let key: Vec<&str> = section.iter().copied().chain([name]).collect();
            let absent = schema().at(&key).and_then(|(field, _)| field?.absent.as_ref());
            if let Some(absent) = absent.filter(|one| value.trim_matches('"') == one.word) {
                printed += &format!(" # {}", absent.rule);
            }
        }
        printed.push('\n');
    }
    Ok(printed)
}
