//! Flags of the command line, found from the schema.
//!
//! A flag may be for several settings: `--turns` is `algorithm.practical.turns` or `algorithm.lagrangian.turns`,
//! whichever algorithm is chosen. [`Flag::find`] finds the one that is meant.

use serde_json::{Map, Value};

use super::{Field, Schema};

/// A flag and the settings that it is for.
#[derive(Debug, Clone)]
pub struct Flag<'a> {
    /// Its name, without dashes.
    pub name: String,
    /// The settings, in the order of their declaration.
    pub uses: Vec<Use<'a>>,
}

/// A setting that a flag is for.
#[derive(Debug, Clone)]
pub struct Use<'a> {
    /// What leads to it.
    pub path: Vec<Step>,
    /// The setting, or `None` for a flag that chooses a variant.
    pub field: Option<&'a Field>,
    /// What the flag does.
    pub help: &'a str,
    /// Where it is shown in help texts.
    pub group: Option<&'static str>,
}

/// One of the names that lead to a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A setting.
    Name(&'static str),
    /// A variant of a choice.
    Variant(&'static str),
}

/// Why a flag is for nothing that is chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfit {
    /// The key of the choice.
    pub choice: String,
    /// What is chosen.
    pub word: String,
    /// What would have to be.
    pub words: Vec<&'static str>,
}

impl Step {
    fn name(self) -> &'static str {
        match self {
            Step::Name(name) | Step::Variant(name) => name,
        }
    }
}

impl Schema {
    /// Every flag, in the order of its first setting.
    pub fn flags(&self) -> Vec<Flag<'_>> {
        let mut flags = Vec::new();
        collect(self, "", None, &mut Vec::new(), &mut flags);
        flags
    }
}

fn collect<'a>(
    schema: &'a Schema,
    prefix: &str,
    group: Option<&'static str>,
    path: &mut Vec<Step>,
    flags: &mut Vec<Flag<'a>>,
) {
    let add = |flags: &mut Vec<Flag<'a>>, name: &str, found: Use<'a>| {
        let name = format!("{prefix}{name}");
        match flags.iter_mut().find(|flag| flag.name == name) {
            Some(flag) => flag.uses.push(found),
            None => flags.push(Flag { name, uses: vec![found] }),
        }
    };
    for field in schema.fields() {
        path.push(Step::Name(field.name));
        let group = field.group.or(group);
        if let Some(name) = field.flag {
            let found = Use { path: path.clone(), field: Some(field), help: &field.help, group };
            add(flags, name, found);
        }
        if let Some(inner) = field.inner {
            collect(&field.schema, &format!("{prefix}{inner}"), group, path, flags);
        }
        path.pop();
    }
    for variant in schema.variants() {
        path.push(Step::Variant(variant.name));
        if let Some(name) = variant.flag {
            let found = Use { path: path.clone(), field: None, help: &variant.help, group };
            add(flags, name, found);
        }
        if let Some(schema) = &variant.schema {
            collect(schema, prefix, group, path, flags);
        }
        path.pop();
    }
}

/// The word of a choice in written settings.
fn word(value: &Value) -> Option<&str> {
    match value {
        Value::String(word) => Some(word),
        Value::Object(one) => one.keys().next().map(String::as_str),
        _ => None,
    }
}

impl Use<'_> {
    /// The names that lead to the setting.
    pub fn key(&self) -> Vec<&'static str> {
        self.path.iter().map(|step| step.name()).collect()
    }

    /// Settings in which nothing but this one is given.
    pub fn given(&self, value: Value) -> Value {
        match self.path.split_last() {
            // A variant by its name alone.
            Some((Step::Variant(word), above)) => nested(above, Value::from(*word)),
            _ => nested(&self.path, value),
        }
    }

    /// Its value in written settings, if its variants are chosen there.
    pub fn value<'v>(&self, settings: &'v Value) -> Option<&'v Value> {
        self.path.iter().try_fold(settings, |value, step| value.get(step.name()))
    }

    /// The first choice on the way that has another variant: how deep, and its word.
    fn unchosen(&self, settings: &Value) -> Option<(usize, String)> {
        if self.field.is_none_or(|field| field.chooses) {
            return None;
        }
        let mut value = settings;
        for (depth, step) in self.path.iter().enumerate() {
            if let Step::Variant(wanted) = step
                && word(value) != Some(wanted)
            {
                return Some((depth, word(value).unwrap_or_default().to_owned()));
            }
            value = value.get(step.name()).unwrap_or(&Value::Null);
        }
        None
    }

    /// Whether a change of the choice at this key carries the value over.
    fn is_carried(&self, choice: &[&str]) -> bool {
        let Some(field) = self.field else { return false };
        let variants = self.path.iter().enumerate().rev();
        let mut above = variants.filter(|(_, step)| matches!(step, Step::Variant(_)));
        let key = self.key();
        above.by_ref().take(field.carried).any(|(depth, _)| key[..depth] == *choice)
    }
}

fn nested(path: &[Step], value: Value) -> Value {
    path.iter()
        .rev()
        .fold(value, |value, step| Map::from_iter([(step.name().to_owned(), value)]).into())
}

impl<'a> Flag<'a> {
    /// The setting that is meant, by what is chosen in written settings.
    pub fn find(&self, settings: &Value) -> Result<&Use<'a>, Unfit> {
        let Some(found) = self.uses.iter().find(|one| one.unchosen(settings).is_none()) else {
            return Err(self.unfit(settings));
        };
        if let Some((choice, words)) = found.field.and_then(|field| field.only) {
            let chosen = settings.get(choice).and_then(word).unwrap_or_default();
            if !words.contains(&chosen) {
                let (choice, word) = (choice.to_owned(), chosen.to_owned());
                return Err(Unfit { choice, word, words: words.to_vec() });
            }
        }
        Ok(found)
    }

    fn unfit(&self, settings: &Value) -> Unfit {
        let missed = |one: &Use<'a>| one.unchosen(settings);
        let deepest = self.uses.iter().filter_map(missed).map(|(depth, _)| depth).max();
        let mut unfit = Unfit { choice: String::new(), word: String::new(), words: Vec::new() };
        for one in &self.uses {
            if let Some((depth, word)) = missed(one).filter(|(depth, _)| Some(*depth) == deepest) {
                unfit.choice = one.key()[..depth].join(".");
                unfit.word = word;
                let wanted = one.path[depth].name();
                if !unfit.words.contains(&wanted) {
                    unfit.words.push(wanted);
                }
            }
        }
        unfit
    }

    /// What a change of the choice at this key carries over, to be given after it.
    ///
    /// Another algorithm plays as many turns, and another optimizer takes as long steps.
    pub fn carried(&self, choice: &[&str], before: &Value, after: &Value) -> Option<Value> {
        let carried = |one: &&Use<'a>| one.is_carried(choice);
        let old = self.uses.iter().filter(carried).find_map(|one| one.value(before))?;
        let new = self.uses.iter().filter(carried).find(|one| one.value(after).is_some())?;
        Some(new.given(old.clone()))
    }
}
