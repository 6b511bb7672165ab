//! The 37 similarities of two listings, each in 0..=1, or NaN where a field that it needs is empty.

use std::collections::BTreeSet;

use strsim::{jaro_winkler, normalized_levenshtein as levenshtein, sorensen_dice};

use super::countries::COUNTRIES;
use super::country::KINDS;
use super::record::Record;
use super::similarity::{
    alike, contained, digits, fold, initials, prefix, shared, skeleton, sorted, suffix,
};

/// How many features there are: as many as the paper's data have.
pub const WIDTH: usize = 37;

/// The names of the features, in their order.
pub const FEATURES: [&str; WIDTH] = [
    "name_equal",
    "name_levenshtein",
    "name_jaro_winkler",
    "name_bigrams",
    "name_words",
    "name_words_sorted",
    "name_words_contained",
    "name_words_alike",
    "name_first_word",
    "name_initials",
    "name_core_levenshtein",
    "name_core_words",
    "name_skeleton",
    "name_numbers",
    "name_as_written",
    "street_levenshtein",
    "street_jaro_winkler",
    "street_bigrams",
    "street_words",
    "street_words_alike",
    "street_core",
    "street_number_equal",
    "street_number_near",
    "city_levenshtein",
    "city_jaro_winkler",
    "postcode_equal",
    "postcode_prefix",
    "phone_equal",
    "phone_suffix",
    "phone_levenshtein",
    "site_equal",
    "site_levenshtein",
    "site_of_name",
    "category_words",
    "address_bigrams",
    "all_words",
    "fields_shared",
];

/// Compares listings; it knows the words that say little because so many names and streets have them.
#[derive(Debug, Clone)]
pub struct Matcher {
    common: BTreeSet<String>,
}

/// A listing, folded once.
struct View {
    name: Vec<String>,
    core: Vec<String>,
    street: Option<Street>,
    city: Option<String>,
    postcode: Option<String>,
    phone: Option<String>,
    site: Option<String>,
    category: Option<Vec<String>>,
    address: Option<String>,
    all: Vec<String>,
}

struct Street {
    words: Vec<String>,
    line: String,
    core: String,
    number: Option<u32>,
}

impl Default for Matcher {
    fn default() -> Self {
        Matcher::new()
    }
}

impl Matcher {
    /// With the legal forms, kinds of street and kinds of business of all countries as common words.
    pub fn new() -> Self {
        let mut common = BTreeSet::new();
        for country in &COUNTRIES {
            let forms = country.legal.iter().chain(country.streets);
            forms.for_each(|(full, short)| common.extend([fold(full), fold(short)].concat()));
            (0..KINDS).for_each(|kind| common.extend(fold(country.kind(kind, false))));
        }
        Matcher { common }
    }

    /// The features of two listings, in the order of [`FEATURES`]; neither comes first.
    ///
    /// ```
    /// use fairgame_paper::entities::{FEATURES, Matcher, Record};
    /// let named = |name: &str| Record { name: name.to_owned(), ..Record::default() };
    /// let features = Matcher::new().features(&named("Alder Bakery"), &named("ALDER, bakery"));
    /// assert_eq!((FEATURES[0], features[0]), ("name_equal", 1.0));
    /// // As written, six of thirteen letters differ.
    /// assert_eq!((FEATURES[14], features[14]), ("name_as_written", 1.0 - 6.0 / 13.0));
    /// // There are no streets to compare.
    /// assert!(features[15].is_nan());
    /// ```
    pub fn features(&self, left: &Record, right: &Record) -> [f64; WIDTH] {
        let (a, b) = (self.view(left), self.view(right));
        let [a, b] = [&a, &b];
        let (name_a, name_b) = (a.name.join(" "), b.name.join(" "));
        let (core_a, core_b) = (a.core.join(" "), b.core.join(" "));
        let (numbers_a, numbers_b) = (digits(&name_a), digits(&name_b));
        let cores = !a.core.is_empty() && !b.core.is_empty();
        let first = |words: &[String]| words.first().cloned().unwrap_or_default();
        let (street_a, street_b) = (a.street.as_ref(), b.street.as_ref());
        let streets = |compare: fn(&Street, &Street) -> f64| both(street_a, street_b, compare);
        let numbers = || {
            street_a.and_then(|street| street.number).zip(street_b.and_then(|street| street.number))
        };
        let cities = |compare: fn(&str, &str) -> f64| text(&a.city, &b.city, compare);
        let codes = |compare: fn(&str, &str) -> f64| text(&a.postcode, &b.postcode, compare);
        let phones = |compare: fn(&str, &str) -> f64| text(&a.phone, &b.phone, compare);
        let sites = |compare: fn(&str, &str) -> f64| text(&a.site, &b.site, compare);
        [
            truth(name_a == name_b),
            levenshtein(&name_a, &name_b),
            jaro_winkler(&name_a, &name_b),
            sorensen_dice(&name_a, &name_b),
            shared(&a.name, &b.name),
            levenshtein(&sorted(&a.name), &sorted(&b.name)),
            contained(&a.name, &b.name),
            alike(&a.name, &b.name),
            jaro_winkler(&first(&a.name), &first(&b.name)),
            levenshtein(&initials(&a.name), &initials(&b.name)),
            when(cores, || levenshtein(&core_a, &core_b)),
            when(cores, || shared(&a.core, &b.core)),
            levenshtein(&skeleton(&a.name), &skeleton(&b.name)),
            when(!numbers_a.is_empty() || !numbers_b.is_empty(), || truth(numbers_a == numbers_b)),
            levenshtein(&left.name, &right.name),
            streets(|a, b| levenshtein(&a.line, &b.line)),
            streets(|a, b| jaro_winkler(&a.line, &b.line)),
            streets(|a, b| sorensen_dice(&a.line, &b.line)),
            streets(|a, b| shared(&a.words, &b.words)),
            streets(|a, b| alike(&a.words, &b.words)),
            streets(|a, b| levenshtein(&a.core, &b.core)),
            numbers().map_or(f64::NAN, |(a, b)| truth(a == b)),
            numbers().map_or(f64::NAN, |(a, b)| 1.0 / (1.0 + f64::from(a.abs_diff(b)))),
            cities(levenshtein),
            cities(jaro_winkler),
            codes(|a, b| truth(a == b)),
            codes(prefix),
            phones(|a, b| truth(a == b)),
            phones(suffix),
            phones(levenshtein),
            sites(|a, b| truth(a == b)),
            sites(levenshtein),
            site_of_name(a, b),
            both(a.category.as_ref(), b.category.as_ref(), |a, b| contained(a, b)),
            text(&a.address, &b.address, sorensen_dice),
            shared(&a.all, &b.all),
            fields_shared(left, right),
        ]
    }

    fn view(&self, record: &Record) -> View {
        let name = fold(&record.name);
        let rare = |words: &[String]| -> Vec<String> {
            words.iter().filter(|word| !self.common.contains(*word)).cloned().collect()
        };
        let core = rare(&name);
        let street = record.street.as_deref().map(|street| {
            let words = fold(street);
            let number = words.iter().find_map(|word| leading_number(word));
            Street { core: rare(&words).join(" "), line: words.join(" "), words, number }
        });
        let whole = |field: &Option<String>| field.as_deref().map(|field| fold(field).join(" "));
        let (city, postcode) = (whole(&record.city), record.postcode.as_deref().map(compact));
        let line = street.as_ref().map(|street| street.line.clone());
        let parts = [&line, &city, &postcode].map(|part| part.clone().unwrap_or_default());
        let address = parts.iter().any(|part| !part.is_empty()).then(|| parts.join(" "));
        let mut all = name.clone();
        all.extend(parts.iter().flat_map(|part| fold(part)));
        View {
            name,
            core,
            street,
            city,
            postcode,
            phone: record.phone.as_deref().map(national),
            site: record.site.as_deref().map(bare),
            category: record.category.as_deref().map(fold),
            address,
            all,
        }
    }
}

fn truth(true_or_not: bool) -> f64 {
    f64::from(u8::from(true_or_not))
}

fn when(comparable: bool, compare: impl FnOnce() -> f64) -> f64 {
    if comparable { compare() } else { f64::NAN }
}

fn both<T>(a: Option<&T>, b: Option<&T>, compare: impl FnOnce(&T, &T) -> f64) -> f64 {
    a.zip(b).map_or(f64::NAN, |(a, b)| compare(a, b))
}

fn text(a: &Option<String>, b: &Option<String>, compare: fn(&str, &str) -> f64) -> f64 {
    both(a.as_ref(), b.as_ref(), |a, b| compare(a, b))
}

fn leading_number(word: &str) -> Option<u32> {
    let end = word.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(word.len());
    word[..end].parse().ok()
}

/// Letters and digits alone.
fn compact(code: &str) -> String {
    fold(code).concat()
}

/// The digits of a phone number without what stands before the area, as far as one can tell.
fn national(phone: &str) -> String {
    let digits = digits(phone);
    let codes = COUNTRIES.iter().map(|country| country.phone.country);
    let international = digits.strip_prefix("00").or(phone.starts_with('+').then_some(&digits));
    let number = match international {
        Some(number) => {
            let code = codes.filter(|code| number.starts_with(code)).max_by_key(|code| code.len());
            &number[code.map_or(0, str::len)..]
        }
        None => digits.trim_start_matches('0'),
    };
    number.to_owned()
}

/// A web address without its scheme and its `www.`.
fn bare(site: &str) -> String {
    let site = site.to_lowercase();
    let site = site.split_once("://").map_or(site.as_str(), |(_, rest)| rest);
    site.trim_start_matches("www.").trim_end_matches('/').to_owned()
}

/// How alike the first part of one's web address, or the last of its path, is to the other's name.
fn site_of_name(a: &View, b: &View) -> f64 {
    let compare = |site: &Option<String>, other: &View| {
        let site = site.as_ref()?;
        let slug = match site.split_once('/') {
            Some((_, path)) => path,
            None => site.split('.').next().unwrap_or_default(),
        };
        Some(sorensen_dice(&compact(slug), &other.name.concat()))
    };
    let found = [compare(&a.site, b), compare(&b.site, a)];
    found.into_iter().flatten().reduce(f64::max).unwrap_or(f64::NAN)
}

/// The share of the fields that both listings have.
fn fields_shared(a: &Record, b: &Record) -> f64 {
    let (a, b) = (a.fields(), b.fields());
    let shared = a.iter().zip(&b).filter(|(a, b)| a.is_some() && b.is_some()).count();
    shared as f64 / a.len() as f64
}
