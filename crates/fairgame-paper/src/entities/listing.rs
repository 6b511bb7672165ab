//! From a business as it is to a listing of it.
//!
//! What is lost and changed on the way is a source's doing: registers like the legal form and the full name
//! of a street, people on the web like neither. How much of it happens is the country's [`Noise`].

use fairgame::random::Stream;

use super::corrupt::{respell, slip, slip_digit, unmark};
use super::country::{AddressOrder, Country, KINDS, Noise};
use super::draw::{below, chance, digits, pick, pick_word};
use super::record::Record;
use super::script::Script;
use super::world::{Business, Nation, Place};

/// Who lists a business.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// A register or a directory.
    Formal,
    /// A map, a review, the owner's own page.
    Informal,
}

/// What each kind of business may be filed under.
const CATEGORIES: [[&str; 3]; KINDS] = [
    ["Bakery", "Food: Bakery", "Bread and cakes"],
    ["Pharmacy", "Health: Pharmacy", "Chemist"],
    ["Restaurant", "Food: Restaurant", "Dining"],
    ["Hotel", "Travel: Hotel", "Lodging"],
    ["Cafe", "Food: Cafe", "Coffee shop"],
    ["Garage", "Cars: Garage", "Car repair"],
    ["Florist", "Shopping: Florist", "Flower shop"],
    ["Books", "Shopping: Books", "Book shop"],
    ["Hairdresser", "Beauty: Hairdresser", "Hair salon"],
    ["Bank", "Finance: Bank", "Savings bank"],
    ["Supermarket", "Shopping: Supermarket", "Grocery"],
    ["Dentist", "Health: Dentist", "Dental practice"],
];

/// One listing in the making.
struct Clerk<'a> {
    nation: &'a Nation,
    country: &'static Country,
    noise: &'static Noise,
    source: Source,
    /// The script of this listing.
    script: Script,
    /// Whether marks above letters are kept.
    marks: bool,
    stream: &'a mut Stream,
}

/// A listing of a business by a source.
pub(super) fn list(
    nation: &Nation,
    business: &Business,
    source: Source,
    stream: &mut Stream,
) -> Record {
    let country = nation.country;
    let noise = &country.noise;
    let script = if chance(stream, noise.script) { country.script } else { Script::Latin };
    let marks = chance(stream, 0.6);
    Clerk { nation, country, noise, source, script, marks, stream }.record(business)
}

impl Clerk<'_> {
    fn record(&mut self, business: &Business) -> Record {
        let missing = self.noise.missing;
        Record {
            name: self.name(business),
            street: self.unless(0.7 * missing, |clerk| clerk.street(&business.place)),
            city: self.unless(0.3 * missing, |clerk| clerk.city(&business.place)),
            postcode: self.unless(missing, |clerk| clerk.postcode(&business.place)),
            phone: self.unless(missing, |clerk| clerk.phone(business)),
            site: self.unless(0.3 + missing, |clerk| clerk.site(business)),
            category: self.unless(missing, |clerk| {
                (*pick(clerk.stream, &CATEGORIES[business.name.kind])).to_owned()
            }),
        }
    }

    fn unless(&mut self, missing: f64, field: impl Fn(&mut Self) -> String) -> Option<String> {
        (!self.chance(missing)).then(|| field(self))
    }

    fn chance(&mut self, probability: f64) -> bool {
        chance(self.stream, probability)
    }

    fn formal(&self) -> bool {
        self.source == Source::Formal
    }

    /// A word as this listing spells it.
    fn word(&mut self, word: &str) -> String {
        let mut word = word.to_owned();
        if self.chance(self.noise.spelling) {
            word = respell(&word, self.country.script, self.stream);
        }
        if self.chance(self.noise.typo) {
            word = slip(&word, self.stream);
        }
        if !self.marks {
            word = unmark(&word, self.stream);
        }
        self.script.write(&word)
    }

    fn words(&mut self, text: &str) -> Vec<String> {
        text.split(' ').map(|word| self.word(word)).collect()
    }

    fn name(&mut self, business: &Business) -> String {
        let (language, name) = (self.country.language, &business.name);
        let drop = if self.formal() { 0.5 } else { 1.0 } * self.noise.drop;
        let mut proper = self.words(&name.proper[0]);
        if let Some(partner) = name.proper.get(1)
            && !self.chance(drop)
        {
            proper.push(if self.chance(0.5) { "&".to_owned() } else { language.and.to_owned() });
            proper.extend(self.words(partner));
        }
        if proper.len() > 1 && self.chance(0.06) {
            let initials = proper.iter().filter_map(|word| word.chars().next());
            proper = vec![initials.collect()];
        }
        let extra = match name.extra {
            Some(extra) if !self.chance(drop) => self.words(extra),
            _ => Vec::new(),
        };
        let kind = match self.chance(0.8 * drop) {
            true => Vec::new(),
            false => {
                let english = self.chance(self.noise.translate);
                self.words(self.country.kind(name.kind, english))
            }
        };
        let mut words = match language.kind_first {
            true => [kind, extra, proper].concat(),
            false => [extra, proper, kind].concat(),
        };
        if words.len() > 1 && self.chance(0.07) {
            words.rotate_left(1);
        }
        if words.len() > 1 && self.chance(0.05) {
            let joined = words.remove(1).to_lowercase();
            words[0].push_str(&joined);
        }
        if let Some(legal) = name.legal
            && self.chance(if self.formal() { 0.7 } else { 0.12 })
        {
            let (full, short) = self.country.legal[legal];
            let form = if self.chance(0.3) { full } else { short };
            words.extend(self.words(form));
        }
        words.extend(self.tail(business));
        let name = words.join(" ");
        if self.chance(0.1) { name.to_uppercase() } else { name }
    }

    /// What a listing adds to the name: the branch, the place, or a word of praise.
    fn tail(&mut self, business: &Business) -> Vec<String> {
        let Place { city, street, .. } = business.place;
        let often = match business.chain {
            Some(_) => 0.4,
            None => 0.12,
        };
        if !self.chance(if self.formal() { 0.5 * often } else { often }) {
            return Vec::new();
        }
        let nation = self.nation;
        match below(self.stream, 3) {
            0 => self.words(&nation.cities[city].name),
            1 if business.chain.is_some() => vec![format!("#{}", business.branch)],
            1 => vec![pick_word(self.stream, "24h Online VIP Plus").to_owned()],
            _ => self.words(&nation.streets[street].name),
        }
    }

    fn street(&mut self, place: &Place) -> String {
        let nation = self.nation;
        let street = &nation.streets[place.street];
        let name = self.word(&street.name);
        if self.chance(self.noise.vague) {
            return self.landmark(&name);
        }
        let (full, short) = self.country.streets[street.kind];
        let short_often = if self.formal() { 0.2 } else { 0.6 };
        let kind = if self.chance(short_often) { short } else { full };
        let kind = if self.chance(0.3 * self.noise.drop) { String::new() } else { self.word(kind) };
        let number = self.number(place.number);
        let line = match self.country.address {
            AddressOrder::NumberNameType => [number, name, kind],
            AddressOrder::NumberTypeName => [number, kind, name],
            AddressOrder::TypeNameNumber => [kind, name, number],
            AddressOrder::NameTypeNumber => [name, kind, number],
            AddressOrder::JoinedNumber => [name + &kind.to_lowercase(), number, String::new()],
        };
        let mut line: Vec<String> = line.into_iter().filter(|part| !part.is_empty()).collect();
        if self.chance(if self.formal() { 0.15 } else { 0.08 }) {
            let unit = 1 + below(self.stream, 9);
            line.push(if self.chance(0.5) { format!("Unit {unit}") } else { format!("{unit}F") });
        }
        line.join(" ")
    }

    /// "Near the bank, Alder": without a number, and perhaps without the street.
    fn landmark(&mut self, street: &str) -> String {
        let at = *pick(self.stream, &["near", "opp.", "next to", "behind"]);
        let kind = below(self.stream, KINDS);
        let mut words = vec![at.to_owned()];
        let english = self.chance(0.5);
        words.extend(self.words(self.country.kind(kind, english)));
        if self.chance(0.5) {
            words.push(street.to_owned());
        }
        words.join(" ")
    }

    fn number(&mut self, number: usize) -> String {
        if self.chance(0.06 + 0.4 * self.noise.vague) {
            return String::new();
        }
        let near = number + 1 + below(self.stream, 4);
        match below(self.stream, 100) {
            0..5 => format!("{number}-{near}"),
            5..8 => format!("{number}{}", pick(self.stream, &["a", "b", "/2"])),
            8..14 => near.to_string(),
            _ => number.to_string(),
        }
    }

    fn city(&mut self, place: &Place) -> String {
        let nation = self.nation;
        let city = &nation.cities[place.city];
        let district = self.chance(0.05 + 0.4 * self.noise.vague);
        let name = if district { pick(self.stream, &city.districts) } else { &city.name };
        self.word(name)
    }

    fn postcode(&mut self, place: &Place) -> String {
        let slips = self.chance(0.04 + 0.5 * self.noise.typo);
        let code = place.postcode.clone();
        let code = if slips { slip_digit(&code, self.stream) } else { code };
        if self.chance(0.2) { code.replace([' ', '-'], "") } else { code }
    }

    fn phone(&mut self, business: &Business) -> String {
        let shape = &self.country.phone;
        let mut number = business.phone.clone();
        match below(self.stream, 100) {
            // Another line of the same switchboard, a mobile phone, a slip.
            0..9 => number.replace_range(number.len() - 2.., &digits(self.stream, 2)),
            9..17 => number = digits(self.stream, number.len()),
            17..20 => number = slip_digit(&number, self.stream),
            _ => {}
        }
        let (area, rest) = number.split_at(shape.area);
        let (first, last) = rest.split_at(rest.len() / 2);
        let (country, trunk) = (shape.country, shape.trunk);
        match below(self.stream, 5) {
            0 => format!("+{country} {area} {first} {last}"),
            1 => format!("({trunk}{area}) {first}-{last}"),
            2 => format!("{trunk}{area}/{rest}"),
            3 => format!("00{country}{area}{rest}"),
            _ => format!("{trunk}{area} {rest}"),
        }
    }

    fn site(&mut self, business: &Business) -> String {
        let plain = |text: &str| {
            let letters = deunicode::deunicode(text).to_lowercase();
            letters.chars().filter(char::is_ascii_alphanumeric).collect::<String>()
        };
        let mut slug = plain(&business.name.proper[0]);
        if business.chain.is_none() {
            slug.push('-');
            slug.push_str(&plain(self.country.kind(business.name.kind, false)));
        }
        match below(self.stream, 10) {
            0 | 1 => format!("https://pages.example/{slug}"),
            2 => format!("{slug}.example"),
            3 | 4 => format!("http://{slug}.{}", self.country.domain),
            _ => format!("www.{slug}.{}", self.country.domain),
        }
    }
}
