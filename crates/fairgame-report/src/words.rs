//! What things are called on the page.

use crate::{Role, Standing, Verdict};

/// All samples, in the order of columns.
pub(crate) const ROLES: [Role; 3] = [Role::Train, Role::Val, Role::Test];

/// A sample's name in a running text.
pub(crate) fn role_name(role: Role) -> &'static str {
    match role {
        Role::Train => "train",
        Role::Val => "val",
        Role::Test => "test",
    }
}

/// A verdict's name.
pub(crate) fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Met => "met",
        Verdict::Violated => "violated",
        Verdict::Undecided => "undecided",
    }
}

/// What a badge of it says, for those who do not know the word.
pub(crate) fn standing_meaning(standing: Standing) -> &'static str {
    match standing {
        Standing::Promised => {
            "loss and optimism are at most 0, with the margin for the confidence that was asked for"
        }
        Standing::Enforced => "loss and optimism together are at most 0",
        Standing::Violated => "loss and optimism together are above 0",
    }
}

/// A verdict as one character, so that colour is never the only sign of it.
pub(crate) fn glyph(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Met => "✓",
        Verdict::Violated => "✕",
        Verdict::Undecided => "?",
    }
}

/// The rates of the language, and what they are called.
const RATES: [(&str, &str); 12] = [
    ("error", "the error rate"),
    ("accuracy", "the accuracy"),
    ("positive_rate", "the share decided positive"),
    ("negative_rate", "the share decided negative"),
    ("tpr", "the true positive rate"),
    ("recall", "the recall"),
    ("fnr", "the false negative rate"),
    ("fpr", "the false positive rate"),
    ("tnr", "the true negative rate"),
    ("precision", "the precision"),
    ("f1", "the F1 score"),
    ("churn", "the share decided otherwise than before"),
];

/// A constraint or an objective in words: `tpr(sex == "f") >= 0.8` is "the true positive rate where sex is "f" is at least
/// 0.8". What is not understood stays as it is written.
pub(crate) fn in_words(text: &str) -> String {
    let mut words = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let rate = RATES.iter().find(|(rate, _)| *rate == name);
        if let (Some((_, called)), Some(group)) = (rate, rest[name.len()..].strip_prefix('(')) {
            let end = closing(group);
            words.push_str(called);
            match group[..end].trim() {
                "" => words.push_str(" of everyone"),
                inside => words.push_str(&format!(" where {}", condition(inside))),
            }
            rest = group.get(end + 1..).unwrap_or_default();
            continue;
        }
        if !name.is_empty() {
            words.push_str(&name);
            rest = &rest[name.len()..];
            continue;
        }
        let signs = [
            (">=", "is at least"),
            ("<=", "is at most"),
            ("==", "equals"),
            ("*", "times"),
            ("+ ", "plus "),
            ("- ", "minus "),
        ];
        match signs.iter().find(|(sign, _)| rest.starts_with(sign)) {
            Some((sign, said)) => {
                words.push_str(said);
                rest = &rest[sign.len()..];
            }
            None => {
                words.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    words
}

/// Where the bracket closes that is open before a text.
fn closing(text: &str) -> usize {
    let (mut depth, mut quoted) = (0, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted && depth == 0 => return at,
            ')' if !quoted => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// A condition with words for signs, but for what is quoted.
fn condition(text: &str) -> String {
    let parts = text.split('"').enumerate().map(|(at, part)| match at % 2 {
        1 => format!("\"{part}\""),
        _ => part
            .replace(" == ", " is ")
            .replace(" != ", " is not ")
            .replace(" >= ", " is at least ")
            .replace(" <= ", " is at most ")
            .replace(" > ", " is above ")
            .replace(" < ", " is below "),
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_in_words() {
        for (text, wanted) in [
            (
                "positive_rate(sex == \"Female\") >= 0.8 * positive_rate()",
                "the share decided positive where sex is \"Female\" is at least 0.8 times the share decided positive of \
                 everyone",
            ),
            ("recall() >= 0.9", "the recall of everyone is at least 0.9"),
            (
                "fpr(race == \"a (b)\" and age > 30) <= fpr() + 0.05",
                "the false positive rate where race is \"a (b)\" and age is above 30 is at most the false positive rate of \
                 everyone plus 0.05",
            ),
            ("strange(x) >= 1", "strange(x) is at least 1"),
            ("tpr(", "the true positive rate of everyone"),
        ] {
            assert_eq!(in_words(text), wanted);
        }
    }
}
