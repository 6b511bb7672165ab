//! The businesses as they are: cities, streets, families, chains, and what is where.

use fairgame::random::Stream;

use super::countries::COUNTRIES;
use super::country::{Country, KINDS, Sounds};
use super::draw::{below, capital, chance, digits, pick, pick_word};

/// A country and what is in it.
#[derive(Debug)]
pub(super) struct Nation {
    pub(super) country: &'static Country,
    pub(super) families: Vec<String>,
    pub(super) streets: Vec<Street>,
    pub(super) cities: Vec<City>,
    pub(super) chains: Vec<Chain>,
}

#[derive(Debug)]
pub(super) struct Street {
    pub(super) name: String,
    /// Which of the country's kinds of street.
    pub(super) kind: usize,
}

#[derive(Debug)]
pub(super) struct City {
    pub(super) name: String,
    pub(super) districts: Vec<String>,
    area: String,
    /// What the post codes of the city begin with.
    postcode: String,
}

/// A brand with many branches.
#[derive(Debug)]
pub(super) struct Chain {
    name: Name,
    /// The number that head office would have all branches use.
    phone: String,
}

/// A business as it is.
#[derive(Debug, Clone)]
pub(super) struct Business {
    pub(super) name: Name,
    pub(super) place: Place,
    /// Area and number, without any prefix.
    pub(super) phone: String,
    pub(super) chain: Option<usize>,
    /// What tells a branch from the others, where it is numbered.
    pub(super) branch: usize,
}

#[derive(Debug, Clone)]
pub(super) struct Name {
    /// One family or brand, or two partners.
    pub(super) proper: Vec<String>,
    pub(super) extra: Option<&'static str>,
    pub(super) kind: usize,
    /// Which of the country's legal forms.
    pub(super) legal: Option<usize>,
}

#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) number: usize,
    pub(super) street: usize,
    pub(super) city: usize,
    pub(super) postcode: String,
}

/// All countries, for one seed.
pub(super) fn nations(seed: u64) -> Vec<Nation> {
    let stream = |country: &Country| Stream::new(seed, &format!("entities: {}", country.code));
    COUNTRIES.iter().map(|country| Nation::draw(country, &mut stream(country))).collect()
}

impl Nation {
    fn draw(country: &'static Country, stream: &mut Stream) -> Self {
        let Sounds { families, cities, .. } = country.sounds;
        let families: Vec<String> = (0..120).map(|_| proper(country, families, stream)).collect();
        let streets = (0..100).map(|_| {
            let kind = below(stream, country.streets.len());
            // Half of the streets are called after families.
            let name = match chance(stream, 0.5) {
                true => pick(stream, &families).clone(),
                false => proper(country, "", stream),
            };
            Street { name, kind }
        });
        let streets = streets.collect();
        let cities = (0..12).map(|_| City {
            name: proper(country, cities, stream),
            districts: (0..4).map(|_| proper(country, cities, stream)).collect(),
            area: digits(stream, country.phone.area),
            postcode: fill(&country.postcode[..country.postcode.len() / 2], stream),
        });
        let cities = cities.collect();
        let mut nation = Nation { country, families, streets, cities, chains: Vec::new() };
        let chains = (0..40).map(|_| {
            let brand = proper(country, "", stream);
            let name = Name { proper: vec![brand], ..nation.name(stream) };
            let rest = country.phone.area + country.phone.rest;
            Chain { name, phone: digits(stream, rest) }
        });
        nation.chains = chains.collect();
        nation
    }

    /// A name of an independent business.
    pub(super) fn name(&self, stream: &mut Stream) -> Name {
        let mut proper = vec![pick(stream, &self.families).clone()];
        if chance(stream, 0.15) {
            proper.push(pick(stream, &self.families).clone());
        }
        let extra = chance(stream, 0.35).then(|| *pick(stream, &self.country.language.extras));
        let legal = chance(stream, 0.6).then(|| below(stream, self.country.legal.len()));
        Name { proper, extra, kind: below(stream, KINDS), legal }
    }

    /// A place in a city.
    pub(super) fn place(&self, city: usize, stream: &mut Stream) -> Place {
        let (street, number) = (below(stream, self.streets.len()), 1 + below(stream, 180));
        let start = &self.cities[city].postcode;
        let rest = fill(&self.country.postcode[start.len()..], stream);
        Place { number, street, city, postcode: format!("{start}{rest}") }
    }

    /// A phone number in a city.
    pub(super) fn phone(&self, city: usize, stream: &mut Stream) -> String {
        format!("{}{}", self.cities[city].area, digits(stream, self.country.phone.rest))
    }

    /// An independent business in a city.
    pub(super) fn independent(&self, city: usize, stream: &mut Stream) -> Business {
        Business {
            name: self.name(stream),
            place: self.place(city, stream),
            phone: self.phone(city, stream),
            chain: None,
            branch: 0,
        }
    }

    /// A branch of a chain in a city.
    pub(super) fn branch(&self, chain: usize, city: usize, stream: &mut Stream) -> Business {
        let Chain { name, phone } = &self.chains[chain];
        let phone = match chance(stream, 0.3) {
            true => phone.clone(),
            false => self.phone(city, stream),
        };
        Business {
            name: name.clone(),
            place: self.place(city, stream),
            phone,
            chain: Some(chain),
            branch: 1 + below(stream, 400),
        }
    }
}

/// An invented name: one or two syllables, and one of the endings where there are any.
fn proper(country: &Country, endings: &str, stream: &mut Stream) -> String {
    let Sounds { onsets, vowels, codas, .. } = country.sounds;
    let mut name = String::new();
    let syllables = 1 + below(stream, 2) + usize::from(endings.is_empty());
    for _ in 0..syllables {
        name.push_str(pick_word(stream, onsets));
        name.push_str(pick_word(stream, vowels));
        if chance(stream, 0.4) {
            name.push_str(pick_word(stream, codas));
        }
    }
    if !endings.is_empty() {
        name.push_str(pick_word(stream, endings));
    }
    capital(&name)
}

/// A pattern with its digits and letters drawn.
fn fill(pattern: &str, stream: &mut Stream) -> String {
    let letter = |sign: char| match sign {
        '9' => char::from(b'0' + below(stream, 10) as u8),
        'A' => char::from(b'A' + below(stream, 26) as u8),
        sign => sign,
    };
    pattern.chars().map(letter).collect()
}
