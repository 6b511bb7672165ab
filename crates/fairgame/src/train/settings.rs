//! Settings that come as text: what is wrong with them, in our words.

use super::Spec;
use crate::{Error, ErrorKind, Result, nearest};

impl Spec {
    /// The settings of a JSON text, checked.
    ///
    /// ```
    /// use fairgame::train::Spec;
    /// let spec = Spec::from_json(r#"{"label": "hired", "model": "mlp"}"#)?;
    /// assert_eq!(spec.label, "hired");
    /// let error = Spec::from_json(r#"{"label": "hired", "model": "mpl"}"#).unwrap_err();
    /// assert_eq!(error.to_string(), "there is no `mpl`\n  help: did you mean `mlp`?");
    /// # Ok::<(), fairgame::Error>(())
    /// ```
    pub fn from_json(text: &str) -> Result<Self> {
        let spec: Spec = serde_json::from_str(text).map_err(|error| {
            let message = error.to_string();
            // Whoever made the text did not see its lines.
            let message = message.split(" at line ").next().unwrap_or_default();
            let (message, hint) = explained(message);
            let error = Error::new(ErrorKind::Settings, message);
            match hint {
                Some(hint) => error.help(hint),
                None => error,
            }
        })?;
        spec.check()?;
        Ok(spec)
    }
}

/// What serde found wrong with settings in our words, and what was meant, where that can be told.
pub fn explained(message: &str) -> (String, Option<String>) {
    // "unknown field `a`, expected one of `b`, `c`", as serde has it.
    let words: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let what = match message {
        message if message.starts_with("unknown field") => "there is no setting",
        message if message.starts_with("unknown variant") => "there is no",
        message => return (message.to_owned(), None),
    };
    let Some((word, known)) = words.split_first() else { return (message.to_owned(), None) };
    let hint = match nearest(word, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", known.join(", ")),
    };
    (format!("{what} `{word}`"), Some(hint))
}
