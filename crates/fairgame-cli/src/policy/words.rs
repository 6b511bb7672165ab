//! Flags whose values are words: a word that is none is told the nearest.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, Command};
use fairgame::nearest;
use fairgame::settings::Variant;

/// The words of a choice.
#[derive(Clone)]
pub(super) struct Words(pub(super) &'static [Variant]);

impl Words {
    fn values(&self) -> Vec<PossibleValue> {
        let value = |one: &'static Variant| PossibleValue::new(one.name).help(one.help.as_str());
        self.0.iter().map(value).collect()
    }
}

impl TypedValueParser for Words {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        flag: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        let parser = PossibleValuesParser::new(self.values());
        parser.parse_ref(command, flag, value).map_err(|mut error| {
            // Clap's own measure knows no letters that changed places.
            let near = nearest(&value.to_string_lossy(), self.0.iter().map(|one| one.name));
            if let Some(near) = near {
                let near = ContextValue::String(near.to_owned());
                error.insert(ContextKind::SuggestedValue, near);
            }
            error
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.values().into_iter()))
    }
}
