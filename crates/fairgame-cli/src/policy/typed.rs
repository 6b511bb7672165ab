//! Arguments that remember which of them were typed, for a command to which some mean nothing.

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

/// Arguments, and the flags that were given.
pub(crate) struct Typed<T> {
    pub(crate) arguments: T,
    /// Without their dashes.
    pub(crate) flags: Vec<String>,
}

fn flags<T: Args>(matches: &ArgMatches) -> Vec<String> {
    let command = T::augment_args(Command::new(""));
    let typed = command.get_arguments().filter(|argument| {
        matches.value_source(argument.get_id().as_str()) == Some(ValueSource::CommandLine)
    });
    typed.filter_map(|argument| argument.get_long()).map(str::to_owned).collect()
}

impl<T: Args> FromArgMatches for Typed<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Ok(Typed { flags: flags::<T>(matches), arguments: T::from_arg_matches(matches)? })
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
        // First, because reading the arguments takes them out.
        let flags = flags::<T>(matches);
        Ok(Typed { flags, arguments: T::from_arg_matches_mut(matches)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.flags.extend(flags::<T>(matches));
        self.arguments.update_from_arg_matches(matches)
    }
}

impl<T: Args> Args for Typed<T> {
    fn augment_args(command: Command) -> Command {
        T::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        T::augment_args_for_update(command)
    }
}
