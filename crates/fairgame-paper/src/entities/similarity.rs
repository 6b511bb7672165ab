//! How alike two texts are, in 0..=1: what `strsim` has not. All take words that are already folded.

use strsim::jaro_winkler;

/// Words without case, marks, scripts and punctuation: what features compare.
///
/// ```
/// use fairgame_paper::entities::fold;
/// assert_eq!(fold("Café  Müller, S.r.l."), ["cafe", "muller", "srl"]);
/// assert_eq!(fold("Жуков & シモダ"), ["zhukov", "simoda"]);
/// ```
pub fn fold(text: &str) -> Vec<String> {
    let plain = deunicode::deunicode(text).to_lowercase();
    // "S.r.l." is a word.
    let letters = plain.chars().filter(|sign| !matches!(sign, '.' | '\''));
    let spaced: String = letters.map(|c| if c.is_ascii_alphanumeric() { c } else { ' ' }).collect();
    spaced.split_whitespace().map(str::to_owned).collect()
}

/// The digits of a text.
pub(super) fn digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

/// The share of all words that both have (Jaccard's), each counted once.
pub(super) fn shared(a: &[String], b: &[String]) -> f64 {
    let both = distinct(a).iter().filter(|word| b.contains(word)).count();
    let all = distinct(a).len() + distinct(b).len() - both;
    share(both, all)
}

/// The share of the shorter one's words that the longer one has.
pub(super) fn contained(a: &[String], b: &[String]) -> f64 {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    share(short.iter().filter(|word| long.contains(word)).count(), short.len())
}

/// The mean over words of the most alike word of the other text (Monge and Elkan's), of both directions.
pub(super) fn alike(a: &[String], b: &[String]) -> f64 {
    let best = |word: &String, others: &[String]| {
        others.iter().map(|other| jaro_winkler(word, other)).fold(0.0, f64::max)
    };
    let mean = |a: &[String], b: &[String]| {
        a.iter().map(|word| best(word, b)).sum::<f64>() / a.len().max(1) as f64
    };
    (mean(a, b) + mean(b, a)) / 2.0
}

/// The words in alphabetical order, as one text.
pub(super) fn sorted(words: &[String]) -> String {
    let mut words = words.to_vec();
    words.sort_unstable();
    words.join(" ")
}

/// What is left of a text without vowels and doubled letters: about what the ear keeps.
pub(super) fn skeleton(words: &[String]) -> String {
    let vowel = |c: &char| "aeiouyhw ".contains(*c);
    let mut letters: Vec<char> = words.concat().chars().filter(|c| !vowel(c)).collect();
    letters.dedup();
    letters.into_iter().collect()
}

/// The first letters of the words.
pub(super) fn initials(words: &[String]) -> String {
    words.iter().filter_map(|word| word.chars().next()).collect()
}

/// How much of the shorter text both begin with.
pub(super) fn prefix(a: &str, b: &str) -> f64 {
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    share(same, a.len().min(b.len()))
}

/// How much of the shorter text both end with.
pub(super) fn suffix(a: &str, b: &str) -> f64 {
    let same = a.bytes().rev().zip(b.bytes().rev()).take_while(|(a, b)| a == b).count();
    share(same, a.len().min(b.len()))
}

fn distinct(words: &[String]) -> Vec<&String> {
    let mut words: Vec<&String> = words.iter().collect();
    words.sort_unstable();
    words.dedup();
    words
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        fold(text)
    }

    #[test]
    fn by_hand() {
        let (a, b) = (words("alder and oak bakery"), words("bakery oak"));
        assert_eq!(shared(&a, &b), 0.5);
        assert_eq!(contained(&a, &b), 1.0);
        assert_eq!(sorted(&a), "alder and bakery oak");
        assert_eq!(initials(&a), "aaob");
        assert_eq!(skeleton(&words("Zhukkov")), "zkv");
        assert_eq!(prefix("12345", "12399"), 0.6);
        assert_eq!(suffix("004930123456", "030123456"), 8.0 / 9.0);
        // "oak" and "oac": Jaro (2/3 + 2/3 + 1)/3 = 7/9, and two letters in front: 7/9 + 0.2·2/9.
        let (a, b) = (words("oak"), words("oac"));
        assert!((alike(&a, &b) - (7.0 / 9.0 + 0.2 * 2.0 / 9.0)).abs() < 1e-12);
        assert_eq!(shared(&[], &[]), 0.0);
    }
}
