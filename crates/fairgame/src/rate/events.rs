//! Events: sets of cells that losses share, and each loss as numbers on them.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::linear::Form;
use super::losses::{Loss, Term};
use super::set::Set;

/// Sets of cells that losses share.
pub(super) struct Events<'a> {
    regions: &'a [Set],
    sets: Vec<Rc<Set>>,
    known: HashMap<Rc<Set>, u32>,
}

/// With more regions than this in one constraint, its patterns are told apart one by one.
const MOST_REGIONS: usize = 6;

impl<'a> Events<'a> {
    pub(super) fn new(regions: &'a [Set]) -> Self {
        Events { regions, sets: Vec::new(), known: HashMap::new() }
    }

    /// The sets, by event.
    pub(super) fn into_sets(self) -> Vec<Rc<Set>> {
        self.sets
    }

    fn event(&mut self, set: &Set) -> u32 {
        if let Some(&event) = self.known.get(set) {
            return event;
        }
        let event = self.sets.len() as u32;
        let set = Rc::new(set.clone());
        self.sets.push(Rc::clone(&set));
        self.known.insert(set, event);
        event
    }

    pub(super) fn loss(&mut self, sum: &Form<usize>) -> Loss {
        // One number for each distinct set of cells.
        let mut merged: BTreeMap<u32, f64> = BTreeMap::new();
        for &(number, region) in &sum.terms {
            let set = &self.regions[region];
            if !set.is_empty() {
                *merged.entry(self.event(set)).or_default() += number;
            }
        }
        let parts: Vec<(u32, f64)> =
            merged.into_iter().filter(|(_, number)| *number != 0.0).collect();
        let mut terms: BTreeMap<u32, Term> = BTreeMap::new();
        if parts.len() <= MOST_REGIONS {
            self.intersections(&parts, &mut terms);
        } else {
            self.patterns(&parts, &mut terms);
        }
        let terms = terms.into_iter().map(|(event, term)| Term { event, ..term });
        Loss { constant: sum.constant, terms: terms.collect() }
    }

    /// α⁺ and α⁻ as sums over the intersections of the parts.
    fn intersections(&mut self, parts: &[(u32, f64)], terms: &mut BTreeMap<u32, Term>) {
        let alpha = |members: usize| -> f64 {
            parts.iter().enumerate().filter(|(j, _)| members >> j & 1 == 1).map(|(_, p)| p.1).sum()
        };
        for members in 1..1_usize << parts.len() {
            let (mut down, mut up) = (0.0, 0.0);
            // Every subset of the members, the empty one last, which adds nothing.
            let mut subset = members;
            while subset > 0 {
                let odd = (members.count_ones() - subset.count_ones()) % 2 == 1;
                let sign = if odd { -1.0 } else { 1.0 };
                down += sign * alpha(subset).max(0.0);
                up += sign * (-alpha(subset)).max(0.0);
                subset = (subset - 1) & members;
            }
            let exact = if members.count_ones() == 1 { alpha(members) } else { 0.0 };
            if down == 0.0 && up == 0.0 && exact == 0.0 {
                continue;
            }
            let mut chosen =
                parts.iter().enumerate().filter(|(j, _)| members >> j & 1 == 1).map(|(_, p)| p.0);
            let Some(first) = chosen.next() else { continue };
            let first = Set::clone(&self.sets[first as usize]);
            let common = chosen.fold(first, |set, event| set.and(&self.sets[event as usize]));
            if !common.is_empty() {
                let event = self.event(&common);
                terms.entry(event).or_default().add(exact, down, up);
            }
        }
    }

    /// α⁺ and α⁻ on the sets of cells that lie in exactly the same parts.
    fn patterns(&mut self, parts: &[(u32, f64)], terms: &mut BTreeMap<u32, Term>) {
        let Some(below) = self.regions.first().map(Set::below) else { return };
        let mut members: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (part, (event, _)) in parts.iter().enumerate() {
            for cell in self.sets[*event as usize].iter() {
                members.entry(cell).or_default().push(part);
            }
        }
        let mut patterns: BTreeMap<Vec<usize>, Vec<u32>> = BTreeMap::new();
        for (cell, pattern) in members {
            patterns.entry(pattern).or_default().push(cell);
        }
        for (pattern, cells) in patterns {
            let alpha: f64 = pattern.iter().map(|&part| parts[part].1).sum();
            let event = self.event(&Set::new(below, cells.into_iter()));
            terms.entry(event).or_default().add(alpha, alpha.max(0.0), (-alpha).max(0.0));
        }
    }
}
