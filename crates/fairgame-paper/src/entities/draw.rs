//! Draws that the generator is made of.

use fairgame::random::Stream;

/// Whether something of that probability happens.
pub(super) fn chance(stream: &mut Stream, probability: f64) -> bool {
    stream.unit() < probability
}

/// A number from 0 to below `bound`, which is above 0.
pub(super) fn below(stream: &mut Stream, bound: usize) -> usize {
    stream.below(bound as u64) as usize
}

/// One of some items, of which there is at least one.
pub(super) fn pick<'a, T>(stream: &mut Stream, items: &'a [T]) -> &'a T {
    &items[below(stream, items.len())]
}

/// One of some words that spaces part.
pub(super) fn pick_word<'a>(stream: &mut Stream, words: &'a str) -> &'a str {
    let count = words.split(' ').count();
    words.split(' ').nth(below(stream, count)).unwrap_or_default()
}

/// An item drawn by weight; the weights add up to more than 0.
pub(super) fn pick_weighted<T: Copy>(stream: &mut Stream, items: &[(T, f64)]) -> T {
    let total: f64 = items.iter().map(|(_, weight)| weight).sum();
    let mut left = stream.unit() * total;
    for &(item, weight) in items {
        left -= weight;
        if left < 0.0 {
            return item;
        }
    }
    items[items.len() - 1].0
}

/// So many digits.
pub(super) fn digits(stream: &mut Stream, count: usize) -> String {
    (0..count).map(|_| char::from(b'0' + stream.below(10) as u8)).collect()
}

/// A text with a capital letter first.
pub(super) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
