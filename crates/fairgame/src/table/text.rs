//! What a text means: missing, a number, a truth value.

use std::borrow::Cow;

use serde_json::Value;

use crate::settings::{Declared, Place, Schema, Wrong, declare};

/// Which texts and numbers stand for a missing value.
///
/// The standard markers are the empty text, `?`, `NA`, `N/A`, `null` and `nan`, in any case. In a
/// number column, a marker that reads as a number marks that number however it is written: `-999`
/// marks `-999.0`, in CSV and in Parquet alike.
///
/// ```
/// use fairgame::table::Missing;
/// let missing = Missing::standard().and("-999");
/// assert!(missing.is_text(b"NaN") && missing.is_text(b"-999") && missing.is_number(-999.0));
/// assert!(!Missing::only(["-999"]).is_text(b"NA"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Missing {
    standard: bool,
    texts: Vec<String>,
    numbers: Vec<f64>,
}

declare! {
    /// [`Missing`] in a file of settings.
    #[derive()]
    struct Markers {
        /// Whether `?`, `NA`, `N/A`, `null` and `nan` stand for a missing value; an empty field always does.
        pub standard: bool = with(true),
        /// Further texts that stand for a missing value.
        pub also: Vec<String> = with(Vec::new()),
    }
}

impl Declared for Missing {
    fn schema() -> Schema {
        Markers::schema()
    }

    fn read(given: &Value, at: &Place, base: Option<&Self>) -> Result<Self, Wrong> {
        let base = base.cloned().map(Markers::from);
        Markers::read(given, at, base.as_ref()).map(Missing::from)
    }

    fn write(&self) -> Value {
        Markers::from(self.clone()).write()
    }
}

declare! { @serde Missing }

impl From<Markers> for Missing {
    fn from(Markers { standard, also }: Markers) -> Self {
        Missing { standard, ..Missing::only(also) }
    }
}

impl From<Missing> for Markers {
    fn from(Missing { standard, texts, .. }: Missing) -> Self {
        Markers { standard, also: texts }
    }
}

impl Default for Missing {
    fn default() -> Self {
        Missing::standard()
    }
}

impl Missing {
    /// The standard markers.
    pub fn standard() -> Self {
        Missing { standard: true, texts: Vec::new(), numbers: Vec::new() }
    }

    /// These markers and the empty text, without the standard ones.
    pub fn only<S: Into<String>>(markers: impl IntoIterator<Item = S>) -> Self {
        let none = Missing { standard: false, texts: Vec::new(), numbers: Vec::new() };
        markers.into_iter().fold(none, Missing::and)
    }

    /// The same without the standard markers.
    #[must_use]
    pub fn without_standard(self) -> Self {
        Missing { standard: false, ..self }
    }

    /// One more marker.
    #[must_use]
    pub fn and(mut self, marker: impl Into<String>) -> Self {
        // Fields are trimmed before they are looked at.
        let marker = marker.into().trim().to_owned();
        if self.texts.contains(&marker) {
            return self;
        }
        // Not only what a column may hold: `inf` marks the infinities of a Parquet file.
        if let Ok(number) = marker.parse::<f64>() {
            self.numbers.push(number);
        }
        self.texts.push(marker);
        self
    }

    /// Whether a text, already trimmed, is a marker.
    pub fn is_text(&self, text: &[u8]) -> bool {
        text.is_empty()
            || (self.standard
                && match text.len() {
                    1 => text == b"?",
                    2 => text.eq_ignore_ascii_case(b"na"),
                    3 => text.eq_ignore_ascii_case(b"n/a") || text.eq_ignore_ascii_case(b"nan"),
                    4 => text.eq_ignore_ascii_case(b"null"),
                    _ => false,
                })
            || self.texts.iter().any(|marker| marker.as_bytes() == text)
    }

    /// Whether a number is a marker.
    pub fn is_number(&self, number: f64) -> bool {
        number.is_nan() || self.numbers.contains(&number)
    }
}

/// What a text reads as, where a number is wanted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Parsed {
    Number(f64),
    /// An integer that an f64 cannot hold to the last digit: an identifier, most likely.
    Inexact,
    /// A number beyond the largest f64.
    TooLarge,
    NotNumber,
}

/// Integers up to this size are exact in an f64.
pub(super) const EXACT: u64 = 1 << 53;

/// Reads a decimal number: digits, sign, point, exponent. Infinities and NaN are not numbers.
pub(super) fn number(text: &[u8]) -> Parsed {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let integer = digits.iter().all(u8::is_ascii_digit) && !digits.is_empty();
    if integer && digits.len() <= 15 {
        let value = digits.iter().fold(0_u64, |value, digit| value * 10 + u64::from(digit - b'0'));
        // Subtracting from zero keeps `-0` from becoming a second zero.
        return Parsed::Number(if negative { 0.0 - value as f64 } else { value as f64 });
    }
    if !matches!(digits.first(), Some(b'0'..=b'9' | b'.')) {
        return Parsed::NotNumber;
    }
    let Ok(text) = std::str::from_utf8(text) else { return Parsed::NotNumber };
    let exact = || text.trim_start_matches(['+', '-']).parse::<u64>().is_ok_and(|n| n <= EXACT);
    if integer && !exact() {
        return Parsed::Inexact;
    }
    match text.parse::<f64>().ok() {
        Some(value) if value.is_finite() => Parsed::Number(value + 0.0),
        Some(_) => Parsed::TooLarge,
        _ => Parsed::NotNumber,
    }
}

/// Whether a number has zeros in front, as the postcode `02139` has: as a number it would lose them.
pub(super) fn zero_padded(text: &[u8]) -> bool {
    matches!(text, [b'0', b'0'..=b'9', ..])
}

/// The one writing of a value: of a number its shortest, of a truth `true` or `false`, and of all else,
/// numbers with zeros in front among it, the text itself.
pub(crate) fn canonical(text: &str) -> Cow<'_, str> {
    match number(text.as_bytes()) {
        Parsed::Number(_) if zero_padded(text.as_bytes()) => Cow::Borrowed(text),
        Parsed::Number(number) => Cow::Owned(number.to_string()),
        _ => match truth(text.as_bytes()) {
            Some(truth) => Cow::Borrowed(if truth { "true" } else { "false" }),
            None => Cow::Borrowed(text),
        },
    }
}

/// Reads `true` or `false`, in any case.
pub(super) fn truth(text: &[u8]) -> Option<bool> {
    if text.eq_ignore_ascii_case(b"true") {
        Some(true)
    } else if text.eq_ignore_ascii_case(b"false") {
        Some(false)
    } else {
        None
    }
}

/// Reads the words for true and false that a user who declares a column boolean may have in it.
pub(super) fn declared_truth(text: &[u8]) -> Option<bool> {
    let is = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word.as_bytes()));
    truth(text).or_else(|| {
        if is(&["1", "1.0", "t", "yes", "y"]) {
            Some(true)
        } else if is(&["0", "0.0", "f", "no", "n"]) {
            Some(false)
        } else {
            None
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_writing_of_each_value() {
        let cases = [
            ("7", "7"),
            ("7.0", "7"),
            ("+7", "7"),
            ("7e0", "7"),
            ("-0", "0"),
            ("1.50", "1.5"),
            ("007", "007"),
            ("0", "0"),
            ("0.5", "0.5"),
            // Beyond what a number keeps exactly: two people, not one.
            ("9007199254740993", "9007199254740993"),
            ("TRUE", "true"),
            ("no", "no"),
            ("K-7.0", "K-7.0"),
            ("inf", "inf"),
        ];
        for (text, wanted) in cases {
            assert_eq!(canonical(text), wanted, "{text}");
            assert_eq!(canonical(wanted), wanted, "once is enough");
        }
    }

    #[test]
    fn numbers_are_finite_decimals() {
        let cases: &[(&str, Parsed)] = &[
            ("0", Parsed::Number(0.0)),
            ("-0", Parsed::Number(0.0)),
            ("+17", Parsed::Number(17.0)),
            ("999999999999999", Parsed::Number(999_999_999_999_999.0)),
            ("9007199254740992", Parsed::Number(EXACT as f64)),
            ("-9007199254740993", Parsed::Inexact),
            ("0000000000000000000007", Parsed::Number(7.0)),
            ("-12345678901234567890", Parsed::Inexact),
            ("1e300", Parsed::Number(1e300)),
            (".5", Parsed::Number(0.5)),
            ("-2.50", Parsed::Number(-2.5)),
            ("1e999", Parsed::TooLarge),
            ("inf", Parsed::NotNumber),
            ("nan", Parsed::NotNumber),
            ("-", Parsed::NotNumber),
            ("", Parsed::NotNumber),
            ("1,5", Parsed::NotNumber),
            ("0x10", Parsed::NotNumber),
        ];
        for (text, wanted) in cases {
            assert_eq!(number(text.as_bytes()), *wanted, "{text}");
        }
        let Parsed::Number(zero) = number(b"-0.0") else { panic!("-0.0 is a number") };
        assert!(zero.is_sign_positive());
    }
}
