//! Moments by what the predicates of one loss can tell apart.

use std::collections::BTreeMap;

use super::moments::Moments;
use super::sums::RowSums;
use super::units::GatheredUnits;
use crate::rate::{Form, Set};

/// Rows that some predicates treat alike: which of these they meet, and their sums.
pub(super) struct Pattern {
    pub(super) meets: Vec<bool>,
    pub(super) sums: Moments,
    /// The sums over those of the rows that are a unit of their own: all of them where there are no units.
    pub(super) alone: Moments,
}

/// Σ w and Σ w·p over the rows of a unit in one cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Part {
    pub(super) cell: u32,
    pub(super) w: f64,
    pub(super) wp: f64,
}

/// Units as numbers, by cell.
struct UnitCounts {
    alone: Vec<Moments>,
    /// The parts of each kind of unit of several rows, one kind after the other: how many such units there are, and
    /// where their parts end.
    several: Vec<(f64, usize)>,
    parts: Vec<Part>,
}

/// The sums of a table, by class.
pub(super) struct Counts<'a> {
    met: &'a [Set],
    classes: Vec<Moments>,
    all: Moments,
    /// Of each predicate, the sums over the rows that meet it, once they were asked for.
    known: Vec<Option<Moments>>,
    /// `None` where no unit has more than one row.
    units: Option<UnitCounts>,
}

/// With more predicates than this in one loss, classes are told apart one by one.
const MOST_PREDICATES: usize = 6;

impl<'a> Counts<'a> {
    /// The sums of each class, of which `met` says for each predicate which ones meet it; and the units that the rows
    /// are from, if these are known.
    pub(super) fn new(met: &'a [Set], classes: &[RowSums], units: Option<&GatheredUnits>) -> Self {
        let mut all = RowSums::default();
        classes.iter().for_each(|sums| all.merge(sums));
        // Weights count in relation to their mean, so that squares of them stay within numbers.
        let mean = all.weight() / all.rows as f64;
        let mean = if mean > 0.0 { mean } else { 1.0 };
        let moments = |sums: &[RowSums]| sums.iter().map(|sums| sums.moments(mean)).collect();
        let part = |part: &Part| Part { w: part.w / mean, wp: part.wp / mean, ..*part };
        let units = units.filter(|units| !units.several.is_empty()).map(|units| {
            let (mut several, mut all) = (Vec::new(), Vec::new());
            for (times, parts) in &units.several {
                all.extend(parts.iter().map(part));
                several.push((*times as f64, all.len()));
            }
            UnitCounts { alone: moments(&units.alone), several, parts: all }
        });
        let (classes, known) = (moments(classes), vec![None; met.len()]);
        Counts { met, classes, all: all.moments(mean), known, units }
    }

    fn over(&self, set: &Set) -> Moments {
        let mut total = Moments::default();
        set.iter().for_each(|class| total += self.classes[class as usize]);
        total
    }

    /// The patterns of the predicates that have rows.
    ///
    /// A pattern's sums are those over the intersection of the predicates it meets, less those over every
    /// larger intersection: what is added up is the members of the groups at hand, not all rows anew for
    /// each loss.
    fn patterns(&mut self, predicates: &[usize]) -> Vec<Pattern> {
        if predicates.len() > MOST_PREDICATES {
            return self.one_by_one(predicates);
        }
        let mut sums = vec![Moments::default(); 1 << predicates.len()];
        sums[0] = self.all;
        self.intersect(predicates, 0, 0, None, &mut sums);
        for bit in 0..predicates.len() {
            for mask in (0..sums.len()).filter(|mask| mask >> bit & 1 == 0) {
                let part = sums[mask | 1 << bit];
                sums[mask] -= part;
            }
        }
        let pattern = |(mask, sums): (usize, Moments)| Pattern {
            meets: (0..predicates.len()).map(|bit| mask >> bit & 1 == 1).collect(),
            sums,
            alone: sums,
        };
        let patterns = sums.into_iter().enumerate().filter(|(_, sums)| sums.rows > 0);
        patterns.map(pattern).collect()
    }

    /// Moments over the intersections of `common`, the set of `mask`, with those of the predicates from `next`
    /// on.
    fn intersect(
        &mut self,
        predicates: &[usize],
        next: usize,
        mask: usize,
        common: Option<&Set>,
        sums: &mut [Moments],
    ) {
        for bit in next..predicates.len() {
            let with = mask | 1 << bit;
            let met = self.met;
            let own = &met[predicates[bit]];
            match common {
                None => {
                    let known = self.known[predicates[bit]];
                    sums[with] = known.unwrap_or_else(|| self.over(own));
                    self.known[predicates[bit]] = Some(sums[with]);
                    self.intersect(predicates, bit + 1, with, Some(own), sums);
                }
                Some(common) => {
                    let both = common.and(own);
                    if !both.is_empty() {
                        sums[with] = self.over(&both);
                        self.intersect(predicates, bit + 1, with, Some(&both), sums);
                    }
                }
            }
        }
    }

    fn one_by_one(&self, predicates: &[usize]) -> Vec<Pattern> {
        let mut meets = vec![vec![false; predicates.len()]; self.classes.len()];
        for (bit, &predicate) in predicates.iter().enumerate() {
            self.met[predicate].iter().for_each(|class| meets[class as usize][bit] = true);
        }
        let mut patterns: BTreeMap<Vec<bool>, Moments> = BTreeMap::new();
        for (meets, sums) in meets.into_iter().zip(&self.classes) {
            *patterns.entry(meets).or_default() += *sums;
        }
        let pattern = |(meets, sums)| Pattern { meets, sums, alone: sums };
        patterns.into_iter().map(pattern).collect()
    }

    /// The patterns of the predicates that have rows, with what units need of them; and which pattern each class is of.
    ///
    /// All classes are of one pattern at first, and each predicate divides those that have classes of both kinds.
    fn patterns_with_units(
        &self,
        units: &UnitCounts,
        predicates: &[usize],
    ) -> (Vec<Pattern>, Vec<usize>) {
        let none = Moments::default();
        let empty = |meets| Pattern { meets, sums: none, alone: none };
        let mut patterns = vec![empty(vec![false; predicates.len()])];
        let mut pattern_of = vec![0; self.classes.len()];
        for (bit, &predicate) in predicates.iter().enumerate() {
            let mut divided: Vec<Option<usize>> = vec![None; patterns.len()];
            for class in self.met[predicate].iter() {
                let own = &mut pattern_of[class as usize];
                *own = *divided[*own].get_or_insert_with(|| {
                    let mut meets = patterns[*own].meets.clone();
                    meets[bit] = true;
                    patterns.push(empty(meets));
                    patterns.len() - 1
                });
            }
        }
        for (&own, (sums, alone)) in pattern_of.iter().zip(self.classes.iter().zip(&units.alone)) {
            patterns[own].sums += *sums;
            patterns[own].alone += *alone;
        }
        // A class without rows has no pattern, and no unit is in it.
        let mut place = 0;
        let place_of: Vec<usize> = patterns
            .iter()
            .map(|pattern| {
                place += usize::from(pattern.sums.rows > 0);
                place.saturating_sub(1)
            })
            .collect();
        pattern_of.iter_mut().for_each(|own| *own = place_of[*own]);
        patterns.retain(|pattern| pattern.sums.rows > 0);
        (patterns, pattern_of)
    }

    /// Each kind of unit of several rows: how many there are, and their sums by pattern of a layout.
    pub(super) fn units<'b>(
        &'b self,
        layout: &'b Layout,
    ) -> impl Iterator<Item = (f64, impl Iterator<Item = (usize, f64, f64)> + Clone + 'b)> + 'b
    {
        let (several, parts) = match &self.units {
            Some(units) => (&units.several[..], &units.parts[..]),
            None => (&[][..], &[][..]),
        };
        let mut start = 0;
        several.iter().map(move |&(times, end)| {
            let own = &parts[std::mem::replace(&mut start, end)..end];
            let pattern = |part: &Part| layout.pattern_of[part.cell as usize];
            (times, own.iter().map(move |part| (pattern(part), part.w, part.wp)))
        })
    }
}

/// A form's shares over the patterns of their predicates.
pub(super) struct Layout {
    pub(super) patterns: Vec<Pattern>,
    /// Of each share, where its group and what it is told by stand among the predicates.
    places: Vec<(Option<usize>, Option<usize>)>,
    /// Where the predicates stand that shares are told by, beside their groups.
    pub(super) told: Vec<usize>,
    /// Which pattern each class is of, where units are to be looked at.
    pattern_of: Vec<usize>,
}

impl Layout {
    pub(super) fn new(counts: &mut Counts<'_>, forms: &[&Form]) -> Self {
        let mut predicates: Vec<usize> = Vec::new();
        let mut place = |predicate: usize| match predicates.iter().position(|p| *p == predicate) {
            Some(place) => place,
            None => {
                predicates.push(predicate);
                predicates.len() - 1
            }
        };
        let shares = forms.iter().flat_map(|form| &form.terms);
        let places: Vec<(Option<usize>, Option<usize>)> = shares
            .map(|(_, share)| (share.group.map(&mut place), share.told.map(&mut place)))
            .collect();
        let mut told: Vec<usize> = places.iter().filter_map(|place| place.1).collect();
        told.sort_unstable();
        told.dedup();
        // A predicate that is also a group is not free to be met or not.
        told.retain(|told| places.iter().all(|place| place.0 != Some(*told)));
        let (patterns, pattern_of) = match &counts.units {
            None => (counts.patterns(&predicates), Vec::new()),
            Some(units) => counts.patterns_with_units(units, &predicates),
        };
        Layout { patterns, places, told, pattern_of }
    }

    /// Whether rows that meet these predicates are of the share's group, and whether what it is told by holds.
    pub(super) fn of(&self, share: usize, meets: &[bool]) -> (bool, bool) {
        let (group, told) = self.places[share];
        (group.is_none_or(|group| meets[group]), told.is_some_and(|told| meets[told]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Decisions;
    use crate::evaluate::accumulate::add_rows;
    use crate::random::Stream;
    use crate::table::{Column, Table, Values};

    /// Patterns by intersections are those of the cells one by one.
    #[test]
    fn patterns_are_patterns() {
        let mut stream = Stream::new(3, "patterns");
        for (rows, most) in [(300, 2), (40, 10), (7, 100)] {
            let mut truths = |most: u64| (0..rows).map(|_| Some(stream.below(most) == 0)).collect();
            let names = ["y", "a", "b", "c", "d"];
            let columns = names.map(|name| Column::new(name, Values::Boolean(truths(most))));
            let table = Table::new(columns.into()).unwrap();
            let frozen = crate::rate::Frozen {
                label_values: Vec::new(),
                label: "y == true".into(),
                objective: names[1..]
                    .iter()
                    .map(|name| format!("error({name} == true)"))
                    .collect::<Vec<_>>()
                    .join(" + "),
                constraints: Vec::new(),
            };
            let chances: Vec<f64> = (0..rows).map(|_| stream.below(5) as f64 / 4.0).collect();
            let weights: Vec<f32> = (0..rows).map(|_| stream.below(4) as f32 / 4.0).collect();
            let (partition, of_row) = frozen.thaw().unwrap().partition(&table).unwrap();
            let mut cells = vec![RowSums::default(); partition.cells()];
            let decisions = Decisions::Probabilities(&chances);
            add_rows(&mut cells, &of_row, Some(&weights), decisions);
            let mut counts = Counts::new(partition.met(), &cells, None);
            let predicates: Vec<usize> = (0..partition.met().len()).collect();
            assert_eq!(predicates.len(), 5);
            let mut found = counts.patterns(&predicates);
            found.sort_by(|a, b| a.meets.cmp(&b.meets));
            let wanted = counts.one_by_one(&predicates);
            assert_eq!(found.len(), wanted.len());
            for (found, wanted) in found.iter().zip(&wanted) {
                assert_eq!(found.meets, wanted.meets);
                let (a, b) = (&found.sums, &wanted.sums);
                assert_eq!((a.rows, a.counted, a.positive), (b.rows, b.counted, b.positive));
                let numbers = |s: &Moments| [s.w, s.wp, s.wp2, s.w2, s.w2p, s.w2p2];
                let near = |(a, b): (f64, f64)| (a - b).abs() < 1e-9;
                assert!(numbers(a).into_iter().zip(numbers(b)).all(near), "{a:?} {b:?}");
            }
        }
    }
}
