//! What happens to single words: slips, other spellings, lost marks.

use deunicode::deunicode;
use fairgame::random::Stream;

use super::draw::{below, capital, chance};
use super::script::Script;

/// A word with one slip of the finger: two letters swapped, one lost, doubled or replaced by another of the
/// word. A single letter stays as it is.
pub(super) fn slip(word: &str, stream: &mut Stream) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    if letters.len() < 2 {
        return word.to_owned();
    }
    let at = below(stream, letters.len() - 1);
    match below(stream, 4) {
        0 => letters.swap(at, at + 1),
        1 => drop(letters.remove(at + 1)),
        2 => letters.insert(at, letters[at]),
        _ => letters[at + 1] = letters[below(stream, letters.len())],
    }
    letters.into_iter().collect()
}

/// A text with one of its digits changed, where it has any.
pub(super) fn slip_digit(text: &str, stream: &mut Stream) -> String {
    let places: Vec<usize> =
        text.bytes().enumerate().filter(|(_, b)| b.is_ascii_digit()).map(|(at, _)| at).collect();
    let mut text = text.to_owned();
    if !places.is_empty() {
        let at = places[below(stream, places.len())];
        let digit = below(stream, 10).to_string();
        text.replace_range(at..=at, &digit);
    }
    text
}

/// A word with its sounds written another way, of those that the script's readers use.
pub(super) fn respell(word: &str, script: Script, stream: &mut Stream) -> String {
    let mut spelt = word.to_lowercase();
    for (one, other) in script.spellings() {
        let (from, to) = if spelt.contains(one) { (one, other) } else { (other, one) };
        if !from.is_empty() && spelt.contains(from) && chance(stream, 0.6) {
            spelt = spelt.replace(from, to);
        }
    }
    capital(&spelt)
}

/// A word without marks above its letters: ü is u to some, and ue to others.
pub(super) fn unmark(word: &str, stream: &mut Stream) -> String {
    const DOUBLE: [(char, &str); 4] = [('ä', "ae"), ('ö', "oe"), ('ü', "ue"), ('å', "aa")];
    let mut word = word.to_owned();
    if chance(stream, 0.5) {
        for (letter, two) in DOUBLE {
            word = word.replace(letter, two);
        }
    }
    deunicode(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_small() {
        let mut stream = Stream::new(1, "test");
        for _ in 0..200 {
            let slipped = slip("bakery", &mut stream);
            assert!(strsim::damerau_levenshtein("bakery", &slipped) <= 1, "{slipped}");
            let code = slip_digit("AB1 2CD", &mut stream);
            assert!(strsim::hamming("AB1 2CD", &code).unwrap() <= 1, "{code}");
            assert!(code.starts_with("AB") && code.ends_with("CD"), "{code}");
        }
        assert_eq!(slip("b", &mut stream), "b");
        assert_eq!(slip_digit("none", &mut stream), "none");
    }

    #[test]
    fn marks_are_lost_in_two_ways() {
        let mut stream = Stream::new(1, "test");
        let ways: std::collections::BTreeSet<String> =
            (0..40).map(|_| unmark("Bäcker", &mut stream)).collect();
        assert_eq!(ways.into_iter().collect::<Vec<_>>(), ["Backer", "Baecker"]);
    }
}
