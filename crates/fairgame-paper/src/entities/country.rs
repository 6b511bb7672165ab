//! What tells countries apart: script, sounds, the shape of addresses and phone numbers, and how much is
//! lost between two listings of one business.
//!
//! The data are in [`COUNTRIES`]; this file says what they mean.

use super::countries::COUNTRIES;
use super::languages::ENGLISH;
use super::script::Script;

/// How many kinds of business there are.
pub(super) const KINDS: usize = 12;

/// A country's conventions.
#[derive(Debug)]
pub(super) struct Country {
    /// Two letters, as in ISO 3166.
    pub(super) code: &'static str,
    /// What local businesses are written in.
    pub(super) script: Script,
    pub(super) language: &'static Language,
    pub(super) sounds: Sounds,
    /// Each in full, then short.
    pub(super) legal: &'static [(&'static str, &'static str)],
    /// Each in full, then short.
    pub(super) streets: &'static [(&'static str, &'static str)],
    pub(super) address: AddressOrder,
    /// `9` is a digit, `A` a letter, and all else itself.
    pub(super) postcode: &'static str,
    pub(super) phone: PhoneShape,
    pub(super) domain: &'static str,
    pub(super) noise: Noise,
}

/// The words that names of businesses have in common.
#[derive(Debug)]
pub(super) struct Language {
    /// Bakery, pharmacy, restaurant, hotel, café, garage, florist, bookshop, hairdresser, bank, supermarket,
    /// dentist; in Latin letters.
    pub(super) kinds: [&'static str; KINDS],
    /// Words that go with any of them.
    pub(super) extras: [&'static str; 8],
    /// What joins two partners.
    pub(super) and: &'static str,
    /// Whether it is "Bakery Smith" rather than "Smith Bakery".
    pub(super) kind_first: bool,
}

/// A grammar of invented proper names: syllables of an onset, a vowel and a coda, and then an ending.
#[derive(Debug)]
pub(super) struct Sounds {
    pub(super) onsets: &'static str,
    pub(super) vowels: &'static str,
    pub(super) codas: &'static str,
    pub(super) families: &'static str,
    pub(super) cities: &'static str,
}

/// Where the number and the kind of a street stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AddressOrder {
    /// 12 Alder Street.
    NumberNameType,
    /// 12 rue Alder.
    NumberTypeName,
    /// Calle Alder 12.
    TypeNameNumber,
    /// Alderstraße 12.
    JoinedNumber,
    /// Alder Sokak 12.
    NameTypeNumber,
}

/// How phone numbers are made.
#[derive(Debug)]
pub(super) struct PhoneShape {
    pub(super) country: &'static str,
    /// What is dialled before the area within the country.
    pub(super) trunk: &'static str,
    pub(super) area: usize,
    pub(super) rest: usize,
}

/// How likely it is that a listing departs from the business as it is, in each way.
#[derive(Debug)]
pub(super) struct Noise {
    /// A local script, where the other listing need not be in it.
    pub(super) script: f64,
    /// Another way of writing the same sounds, for each word.
    pub(super) spelling: f64,
    /// The kind of business in English.
    pub(super) translate: f64,
    /// A slip of the finger, for each word.
    pub(super) typo: f64,
    /// A word left out, for each that can be.
    pub(super) drop: f64,
    /// A place described rather than addressed: "opposite the market".
    pub(super) vague: f64,
    /// A field left empty, for each.
    pub(super) missing: f64,
    /// An outdated listing: of a business that has moved, or changed its name or its line.
    pub(super) outdated: f64,
}

impl Country {
    /// How many of `pairs` each country has: country r of 16 in proportion to (r + 1/2)^(−3/2), and at least 2.
    pub(super) fn counts(pairs: usize) -> Vec<usize> {
        let ranks = (1..=COUNTRIES.len()).map(|rank| rank as f64 + 0.5);
        let weights: Vec<f64> = ranks.map(|rank| 1.0 / (rank * rank.sqrt())).collect();
        let total: f64 = weights.iter().sum();
        let share = |weight: &f64| ((pairs as f64 * weight / total) as usize).max(2);
        let mut counts: Vec<usize> = weights.iter().map(share).collect();
        // What rounding left over, or took too much of, is the largest country's.
        let others: usize = counts[1..].iter().sum();
        counts[0] = pairs.saturating_sub(others);
        counts
    }

    /// The word for a kind of business, in English or in the country's language.
    pub(super) fn kind(&self, kind: usize, english: bool) -> &'static str {
        if english { ENGLISH.kinds[kind] } else { self.language.kinds[kind] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up_and_fall() {
        let counts = Country::counts(11_560);
        assert_eq!(counts.len(), 16);
        assert_eq!(counts.iter().sum::<usize>(), 11_560);
        assert!(counts.is_sorted_by(|a, b| a >= b), "{counts:?}");
        assert!((80..=120).contains(&counts[15]), "{counts:?}");
    }

    #[test]
    fn kinds_are_words_of_their_own() {
        for country in &COUNTRIES {
            let mut kinds = country.language.kinds.to_vec();
            kinds.sort_unstable();
            kinds.dedup();
            assert_eq!(kinds.len(), KINDS, "{}", country.code);
        }
    }
}
