//! Any text, read as a policy file, is an error or a policy: no panic, no hang, no overflow.
//!
//! What is read must print as a policy that reads as itself.
#![no_main]

use fairgame::settings::Declared;
use libfuzzer_sys::fuzz_target;

/// The command line's reader, with what it needs of the modules around it.
#[path = "."]
mod policy {
    use std::sync::OnceLock;

    use fairgame::settings::{Declared, Schema};
    use fairgame::train::Spec;
    use fairgame::{Error, ErrorKind};

    #[allow(dead_code, reason = "the command line reads files too")]
    #[path = "../../crates/fairgame-cli/src/policy/file.rs"]
    mod file;

    mod flags {
        pub(super) fn schema() -> &'static super::Schema {
            static SCHEMA: super::OnceLock<super::Schema> = super::OnceLock::new();
            SCHEMA.get_or_init(<super::Spec as super::Declared>::schema)
        }
    }

    fn settings(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Settings, message)
    }

    pub(super) fn read(text: &str) -> fairgame::Result<Spec> {
        file::policy(text, None)
    }

    pub(super) fn set(text: &str) {
        if let Err(error) = file::parse(text) {
            drop(error.to_string());
        }
    }

    pub(super) use file::printed;
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    policy::set(text);
    match policy::read(text) {
        Err(error) => drop(error.to_string()),
        Ok(spec) if spec.check().is_ok() => {
            let printed = policy::printed(&spec).expect("a sound policy can be printed");
            let again = policy::read(&printed).expect("what is printed can be read");
            assert_eq!(again.write(), spec.write());
        }
        Ok(_) => {}
    }
});
