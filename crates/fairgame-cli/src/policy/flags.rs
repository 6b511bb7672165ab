//! Flags, one for each setting that has one, as the library's schema declares them.

use std::marker::PhantomData;
use std::sync::OnceLock;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use fairgame::settings::{Declared, Field, Flag, Kind, Recipe, Schema, Step, Unfit, Use};
use fairgame::train::Spec;
use fairgame::{Error, Result};
use serde_json::Value;

use super::settings;
use super::words::Words;

/// All settings.
pub(super) fn schema() -> &'static Schema {
    static SCHEMA: OnceLock<Schema> = OnceLock::new();
    SCHEMA.get_or_init(Spec::schema)
}

/// All flags.
fn flags() -> &'static [Flag<'static>] {
    static FLAGS: OnceLock<Vec<Flag<'static>>> = OnceLock::new();
    FLAGS.get_or_init(|| schema().flags())
}

/// Which groups of settings have flags here.
pub(crate) trait Groups {
    const NAMES: &'static [&'static str];
}

/// What is to hold.
pub(crate) struct Problem;

impl Groups for Problem {
    const NAMES: &'static [&'static str] = &["Problem"];
}

/// What the model sees, and how it is trained.
pub(crate) struct Training;

impl Groups for Training {
    const NAMES: &'static [&'static str] = &["Features", "Training"];
}

/// Which rows are trained on, enforced on and tested on.
pub(crate) struct Rows;

impl Groups for Rows {
    const NAMES: &'static [&'static str] = &["Rows"];
}

/// A flag as it was typed, with its values.
pub(super) type Typed = (&'static Flag<'static>, Vec<String>);

/// The flags of some groups of settings that were typed.
pub(crate) struct Flags<G> {
    pub(super) typed: Vec<Typed>,
    groups: PhantomData<G>,
}

impl<G: Groups> Flags<G> {
    fn all() -> impl Iterator<Item = &'static Flag<'static>> {
        let here =
            |flag: &&Flag<'_>| flag.uses[0].group.is_some_and(|group| G::NAMES.contains(&group));
        flags().iter().filter(here)
    }

    /// The text of a flag, if it was typed.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let (_, values) = self.typed.iter().find(|(flag, _)| flag.name == name)?;
        values.last().map(String::as_str)
    }
}

impl<G: Groups> Args for Flags<G> {
    fn augment_args(command: Command) -> Command {
        Self::all().fold(command, |command, flag| command.arg(argument(flag)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<G: Groups> FromArgMatches for Flags<G> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let typed =
            |flag: &&Flag<'_>| matches.value_source(&flag.name) == Some(ValueSource::CommandLine);
        let values = |flag: &'static Flag<'static>| {
            let values = match takes_value(flag) {
                true => matches.get_many::<String>(&flag.name).into_iter().flatten().cloned(),
                false => None.into_iter().flatten().cloned(),
            };
            (flag, values.collect())
        };
        let typed = Self::all().filter(typed).map(values).collect();
        Ok(Flags { typed, groups: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// All settings where nothing is given.
fn defaults() -> &'static Value {
    static DEFAULTS: OnceLock<Value> = OnceLock::new();
    DEFAULTS.get_or_init(|| Spec::new::<&str>("", &[]).write())
}

/// The use of a flag that the defaults have, or else the first: what its help is about.
fn shown(flag: &'static Flag<'static>) -> &'static Use<'static> {
    let chosen = flag.uses.iter().find(|one| one.value(defaults()).is_some());
    chosen.unwrap_or(&flag.uses[0])
}

fn takes_value(flag: &Flag<'_>) -> bool {
    flag.uses[0].field.is_some_and(|field| field.schema.kind != Kind::Truth)
}

fn argument(flag: &'static Flag<'static>) -> Arg {
    let one = shown(flag);
    let argument = Arg::new(flag.name.as_str()).long(flag.name.as_str()).help(help(flag, one));
    let argument = match one.group {
        Some(group) => argument.help_heading(group),
        None => argument,
    };
    let argument = argument.conflicts_with_all(rivals(flag));
    let Some(field) = one.field.filter(|_| takes_value(flag)) else {
        return argument.action(ArgAction::SetTrue);
    };
    let argument = argument.value_name(value_name(one, field));
    match &field.schema {
        Schema { kind: Kind::Choice(variants), short: None } => {
            argument.value_parser(Words(variants))
        }
        Schema { kind: Kind::Text, .. } => argument,
        Schema { kind: Kind::List(item), .. } if item.kind == Kind::Text => {
            argument.action(ArgAction::Append)
        }
        _ => {
            let argument = argument.allow_negative_numbers(true);
            match field.bare {
                Some(bare) => argument.num_args(0..=1).default_missing_value(bare),
                None => argument,
            }
        }
    }
}

fn value_name(one: &Use<'_>, field: &Field) -> &'static str {
    match (&field.schema.kind, one.group) {
        (Kind::List(item), _) if item.kind != Kind::Text => "X,…",
        (Kind::Text | Kind::List(_), Some("Features")) => "COLUMN",
        (Kind::Text | Kind::List(_), _) => "EXPR",
        (Kind::Whole | Kind::Record(_), _) => "N",
        (Kind::Choice(_), _) if field.schema.short.is_none() => "NAME",
        _ => "X",
    }
}

/// What the flag does, what it is for where that depends on a choice, and its default.
fn help(flag: &Flag<'_>, one: &Use<'_>) -> String {
    // The declaration that names the flag itself says more than one inside of an optimizer.
    let named = |one: &&Use<'_>| one.field.is_some_and(|field| field.flag == Some(&flag.name));
    let mut help = match named(&one) {
        true => one.help.to_owned(),
        false => flag.uses.iter().find(named).unwrap_or(one).help.to_owned(),
    };
    let Some(field) = one.field else { return help };
    if matches!(&field.schema.kind, Kind::List(item) if item.kind == Kind::Text) {
        help += " (repeatable)";
    }
    if one.value(defaults()).is_none() && !field.chooses {
        let mut words: Vec<&str> = flag.uses.iter().filter_map(|one| variant(one)).collect();
        let mut seen = std::collections::BTreeSet::new();
        words.retain(|word| seen.insert(*word));
        if let (false, Some(choice)) = (words.is_empty(), one.path.first()) {
            let (Step::Name(choice) | Step::Variant(choice)) = choice;
            help += &format!("; for --{choice} {}", words.join(" or "));
        }
    }
    let Some([recommended, paper]) = &field.defaults else { return help };
    let told = |value: &Value| match value {
        Value::Null => None,
        Value::String(text) if text.is_empty() => None,
        Value::Array(items) if items.is_empty() => None,
        Value::Array(items) => {
            Some(items.iter().map(Value::to_string).collect::<Vec<_>>().join(","))
        }
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) => None,
        // A choice by its word; what it holds has flags of its own.
        Value::Object(one) if field.schema.short.is_none() => one.keys().next().cloned(),
        Value::Object(one) => {
            let first = field.schema.fields().first().and_then(|first| one.get(first.name));
            first.or_else(|| one.values().next()).map(Value::to_string)
        }
        other => Some(other.to_string()),
    };
    match (told(recommended), told(paper)) {
        (Some(one), Some(other)) if one != other && field.name != "recipe" => {
            help += &format!(" [default: {one}; of the paper: {other}]");
        }
        (Some(one), _) => help += &format!(" [default: {one}]"),
        _ => {}
    }
    help
}

/// The variant of the first choice that a setting is in.
fn variant(one: &Use<'_>) -> Option<&'static str> {
    one.path.iter().find_map(|step| match step {
        Step::Variant(word) => Some(*word),
        Step::Name(_) => None,
    })
}

/// Flags that choose another variant of the same choice.
fn rivals(flag: &'static Flag<'static>) -> Vec<&'static str> {
    let choice = |flag: &'static Flag<'static>| -> Option<&'static [Step]> {
        let one = &flag.uses[0];
        let last = one.path.iter().rposition(|step| matches!(step, Step::Variant(_)))?;
        one.field.is_none_or(|field| field.chooses).then(|| &one.path[..last])
    };
    let Some(own) = choice(flag) else { return Vec::new() };
    let others = flags().iter().filter(|other| other.name != flag.name);
    others.filter(|other| choice(other) == Some(own)).map(|other| other.name.as_str()).collect()
}

/// Whether a flag chooses the model, the algorithm or the like, and so what other flags are about.
pub(super) fn is_choice((flag, _): &Typed) -> bool {
    let field = flag.uses[0].field;
    flag.uses[0].path.len() == 1
        && field.is_some_and(|field| {
            matches!(&field.schema, Schema { kind: Kind::Choice(_), short: None })
        })
}

/// The settings with what a flag says in the place of the setting that it is for.
pub(super) fn apply(spec: &Spec, (flag, values): &Typed) -> Result<Spec> {
    let before = spec.write();
    let one = flag.find(&before).map_err(|found| unfit(&flag.name, &found))?;
    let value = match one.field {
        None => Value::Null,
        Some(field) => value(field, values, one.value(&before)),
    };
    let typed = || match values.last() {
        Some(text) => format!("--{} {text}", flag.name),
        None => format!("--{}", flag.name),
    };
    let placed = |wrong| Error::from(wrong).at(typed());
    let mut spec = spec.over(&one.given(value)).map_err(placed)?;
    let after = spec.write();
    for other in flags() {
        if let Some(carried) = other.carried(&one.key(), &before, &after) {
            spec = spec.over(&carried).map_err(placed)?;
        }
    }
    Ok(spec)
}

/// What was typed, in the shape of a policy.
fn value(field: &Field, values: &[String], now: Option<&Value>) -> Value {
    let texts = || values.iter().map(|text| Value::from(text.as_str()));
    match &field.schema.kind {
        Kind::Truth => Value::Bool(true),
        Kind::List(item) if item.kind == Kind::Text => {
            let kept = now.filter(|_| field.adds).and_then(Value::as_array);
            let mut all: Vec<Value> = kept.cloned().unwrap_or_default();
            for text in texts() {
                if !field.adds || !all.contains(&text) {
                    all.push(text);
                }
            }
            all.into()
        }
        _ => field.schema.value(values.last().map(String::as_str).unwrap_or_default()),
    }
}

fn unfit(flag: &str, Unfit { choice, word, words }: &Unfit) -> Error {
    let error = settings(format!("--{flag} is not for the {choice} {word}"));
    let has_flag = flags().iter().any(|flag| flag.name == *choice);
    error.help(match has_flag {
        true => format!("it is for --{choice} {}", words.join(", ")),
        false => format!("it is for {}", words.join(", ")),
    })
}

/// A recipe by its name.
pub(super) fn recipe(name: &str) -> Option<Recipe> {
    Recipe::ALL.into_iter().find(|recipe| recipe.name() == name)
}
