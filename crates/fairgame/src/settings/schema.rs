//! What settings there are, at run time.

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::Recipe;

/// What can be given for a setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    /// The kind of value.
    pub kind: Kind,
    /// What a single text or number means, for a setting that is a table or a choice in full.
    pub short: Option<&'static str>,
}

/// The kind of a value.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// `true` or `false`.
    Truth,
    /// A whole number from 0 up.
    Whole,
    /// A number.
    Number,
    /// A text.
    Text,
    /// Values of one kind.
    List(Box<Schema>),
    /// Values of one kind by names of the user's own.
    Map(Box<Schema>),
    /// Settings by their names.
    Record(Vec<Field>),
    /// One of several.
    Choice(Vec<Variant>),
}

/// A setting of a record.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a sentence without a full stop.
    pub help: String,
    /// What can be given.
    pub schema: Schema,
    /// The default by [`Recipe::ALL`]; `None` where the setting must be given.
    pub defaults: Option<[Value; 2]>,
    /// The word for a value that is not set, and what it means.
    pub absent: Option<Absent>,
    /// Which values it takes, such as `above 0`.
    pub range: Option<String>,
    /// Its flag on the command line, without dashes.
    pub flag: Option<&'static str>,
    /// What comes before the flags of the settings inside; `None` where these have no flags.
    pub inner: Option<&'static str>,
    /// Where the settings are shown together in help texts.
    pub group: Option<&'static str>,
    /// Whether the flag chooses the variant that the setting is in.
    pub chooses: bool,
    /// Over how many enclosing choices a flag that chooses another variant carries the value.
    pub carried: usize,
    /// What the flag means without a value.
    pub bare: Option<&'static str>,
    /// Whether the flag adds to a list rather than replace it.
    pub adds: bool,
    /// A choice elsewhere, and the words of it that the flag is for.
    pub only: Option<(&'static str, &'static [&'static str])>,
}

/// The word for a value that is not set.
#[derive(Debug, Clone, PartialEq)]
pub struct Absent {
    /// The word, such as `auto`.
    pub word: &'static str,
    /// What it means.
    pub rule: &'static str,
}

/// One of the variants of a choice.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// Its word.
    pub name: &'static str,
    /// What it is, in a sentence without a full stop.
    pub help: String,
    /// What can be given with it, if anything.
    pub schema: Option<Schema>,
    /// A flag of the command line that chooses it.
    pub flag: Option<&'static str>,
}

/// What [`Schema::walk`] calls: with a key, its setting if it is one and not a variant, and what can be given there.
pub type Visit<'v, 'a> = dyn FnMut(&[&'a str], Option<&'a Field>, &'a Schema) + 'v;

impl From<Kind> for Schema {
    fn from(kind: Kind) -> Self {
        Schema { kind, short: None }
    }
}

impl Schema {
    /// The settings of a record; empty for any other kind.
    pub fn fields(&self) -> &[Field] {
        match &self.kind {
            Kind::Record(fields) => fields,
            _ => &[],
        }
    }

    /// The variants of a choice; empty for any other kind.
    pub fn variants(&self) -> &[Variant] {
        match &self.kind {
            Kind::Choice(variants) => variants,
            _ => &[],
        }
    }

    /// The kind in a word.
    pub fn word(&self) -> &'static str {
        match &self.kind {
            Kind::Truth => "truth",
            Kind::Whole => "whole number",
            Kind::Number => "number",
            Kind::Text => "text",
            Kind::List(_) => "list",
            Kind::Map(_) => "map",
            Kind::Record(_) => "table",
            Kind::Choice(_) => "choice",
        }
    }

    /// What a text of a flag is in a policy: a number where the setting takes one, parts where it takes a list.
    ///
    /// A text that is no such thing stays what it is, for the reader to refuse.
    pub fn value(&self, text: &str) -> Value {
        let own = || Value::String(text.to_owned());
        match &self.kind {
            Kind::Text => own(),
            Kind::List(item) => text.split(',').map(|part| item.value(part.trim())).collect(),
            _ => match (text.parse::<bool>(), text.parse::<u64>(), text.parse::<f64>()) {
                (Ok(truth), ..) => truth.into(),
                (_, Ok(whole), _) => whole.into(),
                (.., Ok(number)) if number.is_finite() => number.into(),
                _ => own(),
            },
        }
    }

    /// All settings below, each with the names that lead to it; variants are names too.
    pub fn walk<'a>(&'a self, visit: &mut Visit<'_, 'a>) {
        fn below<'a>(schema: &'a Schema, key: &mut Vec<&'a str>, visit: &mut Visit<'_, 'a>) {
            for field in schema.fields() {
                key.push(field.name);
                visit(key, Some(field), &field.schema);
                below(&field.schema, key, visit);
                key.pop();
            }
            for variant in schema.variants() {
                let Some(schema) = &variant.schema else { continue };
                key.push(variant.name);
                visit(key, None, schema);
                below(schema, key, visit);
                key.pop();
            }
        }
        below(self, &mut Vec::new(), visit);
    }

    /// The setting at a key, if there is one.
    pub fn at<'a>(&'a self, key: &[&str]) -> Option<(Option<&'a Field>, &'a Schema)> {
        let mut found = None;
        self.walk(&mut |path, field, schema| {
            if path == key {
                found = Some((field, schema));
            }
        });
        found
    }

    /// Every setting as JSON: its key, help, kind, words, range, flag, group and default by recipe.
    pub fn listed(&self) -> Value {
        let mut all = Vec::new();
        self.walk(&mut |key, field, schema| {
            let Some(field) = field else { return };
            let mut one = json!({
                "key": key.join("."), "name": field.name, "help": field.help, "kind": schema.word(),
                "group": field.group, "range": field.range, "flag": field.flag,
            });
            let words: Map<String, Value> = schema
                .variants()
                .iter()
                .map(|variant| (variant.name.to_owned(), variant.help.clone().into()))
                .collect();
            if !words.is_empty() {
                one["words"] = words.into();
            }
            if let Some(Absent { word, rule }) = field.absent {
                one["absent"] = json!({ "word": word, "rule": rule });
            }
            if let Some(defaults) = &field.defaults {
                let named = Recipe::ALL.iter().zip(defaults);
                one["default"] = named
                    .map(|(recipe, value)| (recipe.name().to_owned(), value.clone()))
                    .collect::<Map<_, _>>()
                    .into();
            }
            all.push(one);
        });
        all.into()
    }
}

/// Settings with their schema, which serialise in the order of their declaration.
#[derive(Debug)]
pub struct Ordered<'a>(pub &'a Schema, pub &'a Value);

impl Serialize for Ordered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Ordered(schema, value) = self;
        match (&schema.kind, value) {
            (Kind::Record(fields), Value::Object(values)) => {
                let mut map = serializer.serialize_map(Some(values.len()))?;
                for field in fields {
                    if let Some(value) = values.get(field.name) {
                        map.serialize_entry(field.name, &Ordered(&field.schema, value))?;
                    }
                }
                map.end()
            }
            (Kind::Choice(variants), Value::Object(values)) => {
                let mut map = serializer.serialize_map(Some(values.len()))?;
                for variant in variants {
                    if let (Some(schema), Some(value)) = (&variant.schema, values.get(variant.name))
                    {
                        map.serialize_entry(variant.name, &Ordered(schema, value))?;
                    }
                }
                map.end()
            }
            (Kind::List(item), Value::Array(values)) => {
                let mut list = serializer.serialize_seq(Some(values.len()))?;
                values
                    .iter()
                    .try_for_each(|value| list.serialize_element(&Ordered(item, value)))?;
                list.end()
            }
            (Kind::Map(item), Value::Object(values)) => {
                let mut map = serializer.serialize_map(Some(values.len()))?;
                for (name, value) in values {
                    map.serialize_entry(name, &Ordered(item, value))?;
                }
                map.end()
            }
            _ => value.serialize(serializer),
        }
    }
}
