//! Predicates on classes of rows, by their codes.
//!
//! A class is a tuple of codes, and every predicate says the same of all its rows. A comparison accepts
//! some codes of one column, and is met by the classes that have one of these; so what a thousand groups
//! cost is their members.

use super::marks::Marks;
use super::set::Set;
use super::trie::Trie;
use crate::table::{Comparison, Predicate};

/// The classes that have each code of each column.
pub(super) struct Lookup<'a> {
    count: u32,
    marks: &'a [Marks],
    places: Vec<Places>,
}

/// The classes with code c of one column are `classes[starts[c]..starts[c + 1]]`, ascending.
struct Places {
    starts: Vec<usize>,
    classes: Vec<u32>,
}

impl<'a> Lookup<'a> {
    pub(super) fn new(marks: &'a [Marks], trie: &Trie) -> Self {
        let count = trie.len() as u32;
        // Where the tuple of each class stands, from the last level up.
        let mut at: Vec<u32> = (0..count).collect();
        let mut places = Vec::with_capacity(marks.len());
        for (marks, pairs) in marks.iter().zip(trie.pairs()).rev() {
            let mut starts = vec![0; marks.codes() + 1];
            at.iter().for_each(|&tuple| starts[pairs[tuple as usize].1 as usize + 1] += 1);
            for code in 0..marks.codes() {
                starts[code + 1] += starts[code];
            }
            let (mut next, mut classes) = (starts.clone(), vec![0; count as usize]);
            for (class, tuple) in (0..).zip(&mut at) {
                let (before, code) = pairs[*tuple as usize];
                classes[next[code as usize]] = class;
                next[code as usize] += 1;
                *tuple = before;
            }
            places.push(Places { starts, classes });
        }
        places.reverse();
        Lookup { count, marks, places }
    }

    /// The classes that meet a predicate.
    pub(super) fn matching(&self, predicate: &Predicate) -> Set {
        let none = || Set::new(self.count, std::iter::empty());
        match predicate {
            Predicate::Compare { column, comparison, value } => {
                Marks::find(self.marks, column, value).map_or_else(none, |found| {
                    self.with(found, &self.marks[found].accepted(*comparison, value))
                })
            }
            Predicate::In { column, values } => {
                let places = values.iter().filter_map(|value| {
                    let found = Marks::find(self.marks, column, value)?;
                    Some((found, self.marks[found].accepted(Comparison::Eq, value)))
                });
                let mut codes: Vec<(usize, Vec<u32>)> = places.collect();
                // Values of one kind ask the same column for one code more.
                codes.sort_unstable();
                codes.dedup_by(|next, first| {
                    let same = next.0 == first.0;
                    if same {
                        first.1.append(&mut next.1);
                    }
                    same
                });
                codes.iter().fold(none(), |set, (found, codes)| set.or(&self.with(*found, codes)))
            }
            Predicate::And(parts) => parts
                .iter()
                .map(|part| self.matching(part))
                .reduce(|set, part| set.and(&part))
                .unwrap_or_else(|| Set::all(self.count)),
            Predicate::Or(parts) => parts
                .iter()
                .map(|part| self.matching(part))
                .reduce(|set, part| set.or(&part))
                .unwrap_or_else(none),
            Predicate::Not(part) => self.matching(part).not(),
        }
    }

    /// The classes that have one of these codes of a column.
    fn with(&self, column: usize, codes: &[u32]) -> Set {
        let Places { starts, classes } = &self.places[column];
        let members = |code: u32| &classes[starts[code as usize]..starts[code as usize + 1]];
        match codes {
            [] => Set::new(self.count, std::iter::empty()),
            [code] => Set::new(self.count, members(*code).iter().copied()),
            codes => {
                let mut all: Vec<u32> =
                    codes.iter().flat_map(|code| members(*code)).copied().collect();
                all.sort_unstable();
                all.dedup();
                Set::new(self.count, all.into_iter())
            }
        }
    }
}
