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

    /// All texts that are markers: for programs that cannot ask [`Missing::is_text`]. The empty text is the first.
    pub(crate) fn all_texts(&self) -> Vec<String> {
        let mut all = vec![String::new()];
        if self.standard {
            all.push("?".to_owned());
            all.extend(["na", "n/a", "nan", "null"].into_iter().flat_map(in_any_case));
        }
        for text in &self.texts {
            if !all.contains(text) {
                all.push(text.clone());
            }
        }
        all
    }

    /// The numbers that are markers, beside NaN.
    pub(crate) fn numbers(&self) -> &[f64] {
        &self.numbers
    }

    /// Whether a number is a marker.
    pub fn is_number(&self, number: f64) -> bool {
        number.is_nan() || self.numbers.contains(&number)
    }
}

/// A short text with each of its letters small or capital.
fn in_any_case(text: &str) -> Vec<String> {
    text.chars().fold(vec![String::new()], |all, letter| {
        let mut both = vec![letter, letter.to_ascii_uppercase()];
        both.dedup();
        let longer =
            |text: String| both.iter().map(|letter| format!("{text}{letter}")).collect::<Vec<_>>();
        all.into_iter().flat_map(longer).collect()
    })
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

/// Reads a decimal number: digits, sign, point, exponent. Infinities are too large, and NaN is not a number.
pub(super) fn number(text: &[u8]) -> Parsed {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if let Some(value) = short(digits) {
        // Subtracting from zero keeps `-0` from becoming a second zero.
        return Parsed::Number(if negative { 0.0 - value } else { value });
    }
    if !matches!(digits.first(), Some(b'0'..=b'9' | b'.')) {
        let infinite =
            [&b"inf"[..], b"infinity"].iter().any(|word| digits.eq_ignore_ascii_case(word));
        return if infinite { Parsed::TooLarge } else { Parsed::NotNumber };
    }
    let Ok(text) = std::str::from_utf8(text) else { return Parsed::NotNumber };
    let exact = || text.trim_start_matches(['+', '-']).parse::<u64>().is_ok_and(|n| n <= EXACT);
    if digits.iter().all(u8::is_ascii_digit) && !exact() {
        return Parsed::Inexact;
    }
    match text.parse::<f64>().ok() {
        Some(value) if value.is_finite() => Parsed::Number(value + 0.0),
        Some(_) => Parsed::TooLarge,
        _ => Parsed::NotNumber,
    }
}

/// The largest number of digits whose every integer is exact in an f64.
const SHORT: usize = 15;

/// A decimal of at most 15 digits without an exponent, as most are.
///
/// Both the digits as an integer and the power of ten are exact in an f64, so their quotient is the
/// f64 nearest to the decimal, as a general parser would find it (Clinger 1990).
fn short(digits: &[u8]) -> Option<f64> {
    const POWERS: [f64; SHORT + 1] =
        [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
    if digits.len() > SHORT + 1 {
        return None;
    }
    let mut integer = 0_u64;
    let mut point = None;
    for (at, &byte) in digits.iter().enumerate() {
        match byte.wrapping_sub(b'0') {
            digit @ 0..=9 => integer = integer * 10 + u64::from(digit),
            _ if byte == b'.' && point.is_none() => point = Some(at),
            _ => return None,
        }
    }
    let count = digits.len() - usize::from(point.is_some());
    let after = point.map_or(0, |point| digits.len() - 1 - point);
    (1..=SHORT).contains(&count).then(|| integer as f64 / POWERS[after])
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
            ("inf", Parsed::TooLarge),
            ("-Infinity", Parsed::TooLarge),
            ("info", Parsed::NotNumber),
            ("nan", Parsed::NotNumber),
            ("-", Parsed::NotNumber),
            ("", Parsed::NotNumber),
            ("1,5", Parsed::NotNumber),
            ("0x10", Parsed::NotNumber),
        ];
        for (text, wanted) in cases {
            assert_eq!(number(text.as_bytes()), *wanted, "{text}");
        }
        // What is read digit by digit is what the general parser reads, to the bit.
        let mut state = 7_u64;
        for _ in 0..200_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let digits = (state >> 20).to_string();
            let digits = &digits[..digits.len().min(1 + (state >> 8) as usize % 17)];
            let point = (state >> 3) as usize % (digits.len() + 1);
            let text = format!("-{}.{}", &digits[..point], &digits[point..]);
            let wanted = text.parse::<f64>().expect("a number") + 0.0;
            assert_eq!(number(text.as_bytes()), Parsed::Number(wanted), "{text}");
        }
        for text in ["", ".", "+", "1.2.3", "1 2", "٣"] {
            assert_eq!(number(text.as_bytes()), Parsed::NotNumber, "{text}");
        }
        let Parsed::Number(zero) = number(b"-0.0") else { panic!("-0.0 is a number") };
        assert!(zero.is_sign_positive());
    }
}
