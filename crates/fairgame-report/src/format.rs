//! Numbers as a reader sees them: the same everywhere on the page.
//!
//! Four decimals; two from 100 and none from 10,000 on; powers of ten where these would show nothing
//! (below 0.00005) or too much (from 1,000,000). A minus is `−`, and nothing is ever minus zero.

/// A number: `0.1234`, `−0.0300`, `1,234.50`, `3.1e−6`, `∞`, `NaN`.
pub(crate) fn number(x: f64) -> String {
    if x.is_nan() {
        return "NaN".into();
    }
    if x.is_infinite() {
        return if x > 0.0 { "∞".into() } else { "−∞".into() };
    }
    let size = x.abs();
    if size != 0.0 && !(0.000_05..999_999.5).contains(&size) {
        return format!("{x:.2e}").replace('-', "−");
    }
    let decimals = match size {
        s if s < 99.999_95 => 4,
        s if s < 9_999.995 => 2,
        _ => 0,
    };
    signed(x, decimals)
}

/// A number with so many decimals, thousands set apart.
pub(crate) fn signed(x: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", x.abs());
    let zero = text.bytes().all(|b| b == b'0' || b == b'.');
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    format!("{}{}{rest}", if x < 0.0 && !zero { "−" } else { "" }, thousands(whole))
}

/// A count: `12,345`.
pub(crate) fn count(n: u64) -> String {
    thousands(&n.to_string())
}

fn thousands(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A share in percent, with the decimals it needs: `95 %`, `99.9 %`.
pub(crate) fn percent(share: f64) -> String {
    if !share.is_finite() {
        return number(share);
    }
    let text = signed(share * 100.0, 3);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// An interval: `[−0.0100, 0.0200]`.
pub(crate) fn interval(interval: &crate::Interval) -> String {
    format!("[{}, {}]", number(interval.low), number(interval.high))
}

/// One thing, or several: `1 constraint`, `1,000 constraints`.
pub(crate) fn several(n: usize, one: &str) -> String {
    format!("{} {one}{}", count(n as u64), if n == 1 { "" } else { "s" })
}

/// A page, or a text of it, with characters that cannot be seen, or that change how others are read, as escapes. Names and values come
/// from data, so any text on the page may have some; spaces and variants of signs are our own, too.
pub(crate) fn visible(page: &str) -> String {
    let ours = |c: char| {
        matches!(
            c,
            '\n' | '\t' | '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{fe0e}' | '\u{fe0f}'
        )
    };
    let mut text = String::with_capacity(page.len());
    for c in page.chars() {
        match fairgame::is_hidden(c) && !ours(c) {
            true => text.extend(format!("\\u{{{:x}}}", u32::from(c)).chars()),
            false => text.push(c),
        }
    }
    text
}

/// A text of at most `most` characters, its middle left out where it is longer: both ends of a
/// constraint tell it from others.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    // First, since escapes take room.
    let text = visible(text);
    let length = text.chars().count();
    if length <= most {
        return text;
    }
    let tail = most.saturating_sub(1) * 2 / 5;
    let head = most.saturating_sub(1) - tail;
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(length - tail).collect();
    format!("{}…{}", start.trim_end(), end.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_read_the_same_everywhere() {
        for (x, text) in [
            (0.0, "0.0000"),
            (-0.0, "0.0000"),
            (0.123_44, "0.1234"),
            (-0.03, "−0.0300"),
            (0.000_049, "4.90e−5"),
            (-3.14e-6, "−3.14e−6"),
            (99.999_99, "100.00"),
            (1234.5, "1,234.50"),
            (-54_321.2, "−54,321"),
            (999_999.9, "1.00e6"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "−∞"),
        ] {
            assert_eq!(number(x), text, "{x:e}");
        }
        assert_eq!(signed(-0.004, 2), "0.00");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!((percent(0.95), percent(0.999)), ("95 %".into(), "99.9 %".into()));
        assert_eq!(several(1, "row"), "1 row");
        assert_eq!(several(2000, "row"), "2,000 rows");
    }

    #[test]
    fn long_texts_keep_both_ends() {
        assert_eq!(shorten("short", 5), "short");
        assert_eq!(shorten("abcdefghijk", 6), "abc…jk");
        assert_eq!(shorten("ééééééééééé", 6), "ééé…éé");
    }

    proptest! {
        #[test]
        fn any_number_has_a_short_text_and_is_never_minus_zero(bits: u64) {
            let text = number(f64::from_bits(bits));
            prop_assert!(text.chars().count() <= 10, "{text}");
            prop_assert!(!text.contains('-'), "{text}");
            let digits = text.trim_start_matches('−');
            prop_assert!(digits == text || !digits.trim_matches(['0', '.']).is_empty(), "{text}");
        }
    }
}
