//! Text from outside, made fit for a terminal: the one way that names, values and paths go into messages.
//!
//! A column's name or a value may hold anything, so also an escape sequence that retitles a terminal or colours it,
//! a line end that forges a second message, or U+202E, which makes what follows read backwards. [`printable`] writes
//! all that cannot be seen as an escape, `\n` or `\u{1b}`, and leaves out the middle of what is long. Errors do it to
//! every part of themselves, so it cannot be forgotten; [`shown`] is for a single name or value within a longer text.
//! What is printable already stays as it is, so doing it twice does no harm.

use std::borrow::Cow;
use std::fmt::Write;

/// So many characters of a message are shown, and so many of them from its end.
const MESSAGE: (usize, usize) = (1000, 300);

/// So many characters of a name or a value are shown, and so many of them from its end.
const VALUE: (usize, usize) = (80, 20);

/// A message that may hold names and values from outside, fit for a terminal.
///
/// ```
/// use fairgame::printable;
/// assert_eq!(printable("column `a\x1b[31m`\nerror: \u{202e}"), r"column `a\u{1b}[31m`\nerror: \u{202e}");
/// assert_eq!(printable("Zürich, 東京, q\u{301}"), "Zürich, 東京, q\u{301}");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(cut(text, MESSAGE))
}

/// A name or a value from outside within a longer text.
///
/// ```
/// use fairgame::shown;
/// assert_eq!(shown("age"), "age");
/// assert!(shown(&"x".repeat(1_000_000)).chars().count() < 120);
/// ```
pub fn shown(value: &str) -> Cow<'_, str> {
    escaped(cut(value, VALUE))
}

/// Several lines, each fit for a terminal and none cut: a table, a page of text.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| c == '\n' || !is_hidden(c)) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(
        text.split('\n').map(|line| escaped(Cow::Borrowed(line))).collect::<Vec<_>>().join("\n"),
    )
}

/// Whether a character shows nothing of itself, or changes how others are shown.
///
/// ```
/// use fairgame::is_hidden;
/// assert!(['\x07', '\u{9b}', '\u{200b}', '\u{202e}', '\u{feff}', '\u{e0041}'].into_iter().all(is_hidden));
/// assert!([' ', 'a', 'é', '\u{301}', '東', '🙂'].into_iter().all(|c| !is_hidden(c)));
/// ```
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            // Format characters: joiners, marks and overrides of direction, annotations, tags.
            '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}'
            | '\u{8e2}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
            // Ends of lines and paragraphs; spaces that are not the usual ones.
            | '\u{2028}' | '\u{2029}' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}'
            // Fillers, selectors of variants, a joiner, the empty Braille cell.
            | '\u{34f}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{3164}' | '\u{ffa0}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{2800}'
        )
}

/// One character as it is shown.
pub(crate) fn write_char(c: char, into: &mut String) {
    match c {
        '\n' => into.push_str("\\n"),
        '\r' => into.push_str("\\r"),
        '\t' => into.push_str("\\t"),
        hidden if is_hidden(hidden) => {
            let _ = write!(into, "\\u{{{:x}}}", u32::from(hidden));
        }
        seen => into.push(seen),
    }
}

fn escaped(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 16);
    text.chars().for_each(|c| write_char(c, &mut out));
    Cow::Owned(out)
}

/// A text without its middle, if it has more than `most` characters: so many of its `end` stay.
fn cut(text: &str, (most, end): (usize, usize)) -> Cow<'_, str> {
    // No text has more characters than bytes.
    if text.len() <= most || text.chars().nth(most).is_none() {
        return Cow::Borrowed(text);
    }
    let place = |at: Option<(usize, char)>| at.map_or(text.len(), |(at, _)| at);
    let first = place(text.char_indices().nth(most - end));
    let last = place(text.char_indices().nth_back(end - 1));
    let left_out = text[first..last].chars().count();
    Cow::Owned(format!("{}… {left_out} characters …{}", &text[..first], &text[last..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printable_stays_and_what_is_cut_says_so() {
        for text in
            ["", "age", "a\\n", "\u{1b}]0;x\u{7}", &"é".repeat(3000), &"\u{200b}".repeat(3000)]
        {
            let once = printable(text).into_owned();
            assert!(!once.chars().any(is_hidden));
            assert!(once.chars().count() <= 1000 * 10 + 40);
            assert!(!shown(&shown(text)).chars().any(is_hidden));
        }
        assert_eq!(shown(&"a".repeat(80)), "a".repeat(80));
        let long = format!("{}{}", "a".repeat(100), "z".repeat(30));
        assert_eq!(shown(&long), format!("{}… 50 characters …{}", "a".repeat(60), "z".repeat(20)));
        assert_eq!(printable_lines("a\tb\nc"), "a\\tb\nc");
    }
}
