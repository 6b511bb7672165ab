//! What is wrong with settings.

use std::fmt;

use serde_json::Value;

use super::Place;
use crate::{Error, ErrorKind, nearest};

/// What is wrong with a setting, and which.
#[derive(Debug, Clone, PartialEq)]
pub struct Wrong {
    /// The names that lead to it.
    pub key: Vec<String>,
    /// Whether its name is wrong or its value.
    pub culprit: Culprit,
    /// What was found, and what was expected.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

/// The part of a setting that is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Culprit {
    /// There is no setting of this name.
    Name,
    /// The setting does not take this value.
    Value,
}

impl Wrong {
    /// A value that the setting at this place does not take.
    pub fn value(at: &Place, message: impl Into<String>) -> Self {
        let (key, culprit) = (at.key.clone(), Culprit::Value);
        Wrong { key, culprit, message: message.into(), help: None }
    }

    /// A value of another kind than expected.
    pub fn expected(at: &Place, expected: &str, found: &Value) -> Self {
        Wrong::value(at, format!("expected {expected}, found {}", shown(found)))
    }

    /// A name that is no setting at this place.
    pub fn unknown_key(at: &Place, name: &str, known: &[&str]) -> Self {
        let (key, culprit) = (at.key(name).key, Culprit::Name);
        let message = format!("there is no setting `{}`", crate::shown(&key.join(".")));
        Wrong { key, culprit, message, help: Some(hint(name, known)) }
    }

    /// A word that is none of a choice; `culprit` says whether it is the name of a table or a value.
    pub fn unknown_word(at: &Place, word: &str, known: &[&str], culprit: Culprit) -> Self {
        let key = match culprit {
            Culprit::Name => at.key(word).key,
            Culprit::Value => at.key.clone(),
        };
        let message = match at.key.is_empty() {
            true => format!("there is no `{}`", crate::shown(word)),
            false => format!("there is no {} `{}`", at.key.join("."), crate::shown(word)),
        };
        Wrong { key, culprit, message, help: Some(hint(word, known)) }
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The names that lead to the setting, as they are written in a policy.
    pub fn dotted(&self) -> String {
        self.key.join(".")
    }
}

/// What a check finds wrong with a value: what it is, and what to give instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What was found.
    pub message: String,
    /// What to give instead.
    pub help: String,
}

impl Fault {
    /// A fault, in these words.
    pub fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Fault { message: message.into(), help: help.into() }
    }
}

impl From<Fault> for Error {
    fn from(Fault { message, help }: Fault) -> Self {
        Error::new(ErrorKind::Settings, message).help(help)
    }
}

/// What was meant, or all that could be.
fn hint(word: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "there are none".to_owned(),
        None => format!("there are {}", known.join(", ")),
    }
}

/// A value in words.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(truth) => format!("`{truth}`"),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the text `{}`", crate::shown(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a table".to_owned(),
    }
}

impl From<Wrong> for Error {
    fn from(wrong: Wrong) -> Self {
        // A word that is none is told with its key.
        let key = format!("{} `", wrong.dotted());
        let named = matches!(wrong.culprit, Culprit::Name)
            || wrong.key.is_empty()
            || wrong.message.contains(&key);
        let error = Error::new(ErrorKind::Settings, wrong.message.clone());
        let error = match &wrong.help {
            Some(help) => error.help(help.clone()),
            None => error,
        };
        match named {
            true => error,
            false => error.at(wrong.dotted()),
        }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Error::from(self.clone()).fmt(f)
    }
}
