//! Flags whose values are words: a word that is none is told the nearest.

use std::ffi::OsStr;
use std::marker::PhantomData;

use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, Command, ValueEnum};
use fairgame::nearest;

/// The words of an enum.
#[derive(Clone)]
pub(super) struct Words<E>(PhantomData<E>);

impl<E> Words<E> {
    pub(super) fn new() -> Self {
        Words(PhantomData)
    }
}

/// The word that a flag's value is written with.
pub(super) fn word(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
}

impl<E: ValueEnum + Clone + Send + Sync + 'static> TypedValueParser for Words<E> {
    type Value = E;

    fn parse_ref(
        &self,
        command: &Command,
        flag: Option<&Arg>,
        value: &OsStr,
    ) -> Result<E, clap::Error> {
        EnumValueParser::<E>::new().parse_ref(command, flag, value).map_err(|mut error| {
            let words: Vec<String> = E::value_variants().iter().map(word).collect();
            // Clap's own measure knows no letters that changed places.
            let near = nearest(&value.to_string_lossy(), words.iter().map(String::as_str));
            if let Some(near) = near {
                let near = ContextValue::String(near.to_owned());
                error.insert(ContextKind::SuggestedValue, near);
            }
            error
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(E::value_variants().iter().filter_map(E::to_possible_value)))
    }
}
