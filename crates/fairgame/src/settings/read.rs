//! What every declared record and choice has in common when it is read.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{Culprit, Declared, Of, Place, Wrong};

/// Settings of a record as they are given, by name.
pub(crate) type Given<'a> = Cow<'a, Map<String, Value>>;

/// What is given of a record: a table that has no other names than these, or nothing at all.
pub(crate) fn record<'a>(given: &'a Value, at: &Place, known: &[&str]) -> Result<Given<'a>, Wrong> {
    let given = match given {
        Value::Null => return Ok(Cow::Owned(Map::new())),
        Value::Object(given) => given,
        other => {
            let wrong = Wrong::expected(at, "a table", other);
            return Err(wrong.help(format!("its settings are {}", known.join(", "))));
        }
    };
    match given.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(Wrong::unknown_key(at, name, known)),
        None => Ok(Cow::Borrowed(given)),
    }
}

/// One setting of a record: as given, or else as in `base`, or else its default.
pub(crate) fn field<T: Declared>(
    given: &Given<'_>,
    name: &str,
    at: &Place,
    base: Option<&T>,
    of: &Of<T>,
) -> Result<T, Wrong> {
    let at = at.key(name);
    let default = || base.cloned().or_else(|| of.default(at.recipe()));
    let absent = of.absent.as_ref();
    match (given.get(name), absent) {
        (Some(Value::Null), Some((_, value))) => Ok(value.clone()),
        (Some(Value::String(text)), Some((absent, value))) if text == absent.word => {
            Ok(value.clone())
        }
        // JSON's way to leave something out.
        (None | Some(Value::Null), _) => {
            default().ok_or_else(|| Wrong::value(&at, format!("`{name}` is not given")))
        }
        (Some(given), _) => T::read(given, &at, default().as_ref()).map_err(|wrong| match absent {
            Some((absent, _)) if wrong.key == at.key => {
                wrong.help(format!("`{}` is {}", absent.word, absent.rule))
            }
            _ => wrong,
        }),
    }
}

/// The word of a choice, and what is given with it.
pub(crate) fn chosen<'a>(
    given: &'a Value,
    at: &Place,
    known: &[&'static str],
) -> Result<(&'static str, &'a Value), Wrong> {
    let find = |word: &str, culprit: Culprit| {
        let found = known.iter().find(|one| **one == word);
        found.copied().ok_or_else(|| Wrong::unknown_word(at, word, known, culprit))
    };
    let words = || format!("one of {}", known.join(", "));
    match given {
        Value::String(word) => Ok((find(word, Culprit::Value)?, &Value::Null)),
        Value::Object(given) => {
            let mut entries = given.iter();
            match (entries.next(), entries.next()) {
                (Some((word, given)), None) => Ok((find(word, Culprit::Name)?, given)),
                (None, _) => Err(Wrong::value(at, "an empty table chooses nothing")
                    .help(format!("name {}", words()))),
                (Some((one, _)), Some((other, _))) => {
                    let message =
                        format!("only one can be chosen, and here are `{one}` and `{other}`");
                    let wrong = Wrong::value(at, message);
                    Err(wrong.help("leave out one of the two"))
                }
            }
        }
        other => Err(Wrong::expected(at, &words(), other)),
    }
}

/// Refuses settings of a variant that has none.
pub(crate) fn unit(given: &Value, at: &Place, word: &str) -> Result<(), Wrong> {
    match given {
        Value::Null => Ok(()),
        Value::Object(given) if given.is_empty() => Ok(()),
        _ => Err(Wrong::value(&at.key(word), format!("`{word}` has no settings of its own"))),
    }
}
