//! Pairs of listings: of one business, or of two that are easily taken for one.

use fairgame::random::{Stream, mix};

use super::countries::COUNTRIES;
use super::country::Country;
use super::draw::{below, chance, pick_weighted};
use super::listing::{Source, list};
use super::record::Record;
use super::world::{Business, Name, Nation, nations};

/// The share of pairs that are about a chain.
const CHAINS: f64 = 0.4;

/// The share of pairs that are one business.
const SAME: f64 = 0.47;

/// Two listings, and whether they are of the same business.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// One listing.
    pub left: Record,
    /// Another one.
    pub right: Record,
    /// The code of the country that both are in.
    pub country: &'static str,
    /// Whether the business of the first listing is a branch of a chain.
    pub chain: bool,
    /// How the two came to be a pair.
    pub case: Case,
    /// What the person who compared them said; most of the time it is what they are.
    pub same: bool,
}

/// How two listings came to be a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Case {
    /// One business, listed twice.
    Listed,
    /// One business, listed before and after it moved.
    Moved,
    /// One business, listed before and after it changed its name or its line.
    Renamed,
    /// Two branches of a chain.
    Branch,
    /// Two businesses in one building, or next door.
    Neighbour,
    /// Two businesses in one city that are called alike.
    Namesake,
    /// Two businesses, one of which took over the other's premises.
    Successor,
    /// Two businesses in one city.
    Stranger,
}

impl Case {
    /// Whether the two listings are of one business.
    pub fn is_same(self) -> bool {
        matches!(self, Case::Listed | Case::Moved | Case::Renamed)
    }

    /// How often a person who compares two such listings is wrong.
    fn mistaken(self) -> f64 {
        match self {
            Case::Listed => 0.08,
            Case::Moved | Case::Renamed => 0.25,
            Case::Branch | Case::Successor => 0.01,
            Case::Neighbour | Case::Namesake => 0.005,
            Case::Stranger => 0.0,
        }
    }
}

/// What pairs are for; those of one part say nothing of those of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// To learn from.
    Train,
    /// To test on.
    Test,
}

/// So many pairs, in random order, with the countries in proportion to their sizes.
///
/// Both parts are of the same cities and chains. Each pair is a function of the seed, its part, its country
/// and its place among the country's pairs.
pub fn pairs(seed: u64, part: Part, count: usize) -> Vec<Pair> {
    let part = match part {
        Part::Train => "train",
        Part::Test => "test",
    };
    let mut pairs = Vec::with_capacity(count);
    for (nation, count) in nations(seed).iter().zip(Country::counts(count)) {
        let purpose = format!("entities: {part} {}", nation.country.code);
        for index in 0..count {
            let mut stream = Stream::new(mix(seed) ^ index as u64, &purpose);
            // In turns rather than by chance, so that a small country has some of each.
            let turn = |index: usize| (index as f64 * SAME) as usize;
            let same = turn(index + 1) > turn(index);
            pairs.push(draw(nation, same, &mut stream));
        }
    }
    Stream::new(seed, &format!("entities: {part}")).shuffle(&mut pairs);
    pairs
}

/// The codes of the countries, largest first.
pub fn countries() -> [&'static str; 16] {
    std::array::from_fn(|index| COUNTRIES[index].code)
}

fn draw(nation: &Nation, same: bool, stream: &mut Stream) -> Pair {
    let city = below(stream, nation.cities.len());
    let left = match chance(stream, CHAINS) {
        true => nation.branch(below(stream, nation.chains.len()), city, stream),
        false => nation.independent(city, stream),
    };
    let case = case(nation, left.chain.is_some(), same, stream);
    let right = other(nation, &left, case, stream);
    // Mostly a register's listing and one from the web, but two of a kind as well.
    let source = |formal: bool| if formal { Source::Formal } else { Source::Informal };
    let first = chance(stream, 0.5);
    let second = if chance(stream, 0.7) { !first } else { first };
    let mistaken = chance(stream, case.mistaken());
    Pair {
        country: nation.country.code,
        chain: left.chain.is_some(),
        left: list(nation, &left, source(first), stream),
        right: list(nation, &right, source(second), stream),
        case,
        same: case.is_same() != mistaken,
    }
}

fn case(nation: &Nation, chain: bool, same: bool, stream: &mut Stream) -> Case {
    if same {
        let outdated = nation.country.noise.outdated;
        // Branches move, and are seldom renamed.
        let renamed = if chain { 0.2 } else { 0.5 };
        return pick_weighted(
            stream,
            &[
                (Case::Listed, 1.0 - outdated),
                (Case::Moved, outdated * (1.0 - renamed)),
                (Case::Renamed, outdated * renamed),
            ],
        );
    }
    let cases = match chain {
        true => [0.78, 0.08, 0.0, 0.09, 0.05],
        false => [0.0, 0.30, 0.28, 0.24, 0.18],
    };
    let named = [Case::Branch, Case::Neighbour, Case::Namesake, Case::Successor, Case::Stranger];
    let weighted: Vec<(Case, f64)> = named.into_iter().zip(cases).collect();
    pick_weighted(stream, &weighted)
}

/// The business of the other listing.
fn other(nation: &Nation, left: &Business, case: Case, stream: &mut Stream) -> Business {
    match case {
        Case::Listed => left.clone(),
        Case::Moved => moved(nation, left, stream),
        Case::Renamed => {
            let mut right = left.clone();
            right.name = renamed(nation, left, stream);
            if chance(stream, 0.15) {
                right.phone = nation.phone(left.place.city, stream);
            }
            right
        }
        Case::Branch => branch(nation, left, stream),
        Case::Neighbour => neighbour(nation, left, stream),
        Case::Namesake => namesake(nation, left, stream),
        Case::Successor => successor(nation, left, stream),
        Case::Stranger => nation.independent(left.place.city, stream),
    }
}

/// The same business elsewhere: mostly within the city, and the number is often kept.
fn moved(nation: &Nation, left: &Business, stream: &mut Stream) -> Business {
    let mut right = left.clone();
    let city = left.place.city;
    let city = if chance(stream, 0.85) { city } else { below(stream, nation.cities.len()) };
    right.place = nation.place(city, stream);
    if city == left.place.city && chance(stream, 0.4) {
        right.place.postcode.clone_from(&left.place.postcode);
    }
    if chance(stream, 0.25) {
        right.phone = nation.phone(city, stream);
    }
    right
}

/// Another branch of the same chain.
fn branch(nation: &Nation, left: &Business, stream: &mut Stream) -> Business {
    let city = left.place.city;
    let city = if chance(stream, 0.6) { city } else { below(stream, nation.cities.len()) };
    let chain = left.chain.unwrap_or_default();
    let mut right = nation.branch(chain, city, stream);
    if right.place.city == left.place.city {
        // Two branches on one street, or in one district.
        if chance(stream, 0.3) {
            right.place.street = left.place.street;
        }
        if chance(stream, 0.3) {
            right.place.postcode.clone_from(&left.place.postcode);
        }
    }
    right
}

/// Another business in the same building, or next door.
fn neighbour(nation: &Nation, left: &Business, stream: &mut Stream) -> Business {
    let mut right = nation.independent(left.place.city, stream);
    right.place = left.place.clone();
    if chance(stream, 0.5) {
        right.place.number += 1 + below(stream, 6);
    }
    if chance(stream, 0.15) {
        // The mall's switchboard.
        right.phone.clone_from(&left.phone);
    }
    right
}

/// Another business in the same city that is called alike.
fn namesake(nation: &Nation, left: &Business, stream: &mut Stream) -> Business {
    let mut right = nation.independent(left.place.city, stream);
    if chance(stream, 0.6) {
        right.name.proper.clone_from(&left.name.proper);
    } else {
        right.name.kind = left.name.kind;
        right.name.extra = left.name.extra;
    }
    if chance(stream, 0.4) {
        right.name.kind = left.name.kind;
    }
    if chance(stream, 0.3) {
        right.place.street = left.place.street;
        right.place.postcode.clone_from(&left.place.postcode);
    }
    right
}

/// Another business that took over the premises.
fn successor(nation: &Nation, left: &Business, stream: &mut Stream) -> Business {
    let mut right = nation.independent(left.place.city, stream);
    right.place = left.place.clone();
    if chance(stream, 0.6) {
        right.name.kind = left.name.kind;
    }
    if chance(stream, 0.3) {
        right.phone.clone_from(&left.phone);
    }
    right
}

/// A new name for the same business: another line, another family, or a new face for the old line.
fn renamed(nation: &Nation, business: &Business, stream: &mut Stream) -> Name {
    let (old, new) = (business.name.clone(), nation.name(stream));
    match below(stream, 3) {
        0 => Name { kind: new.kind, ..old },
        1 => Name { proper: new.proper, ..old },
        _ => Name { kind: old.kind, ..new },
    }
}
