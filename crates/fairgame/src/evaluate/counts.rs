//! Rows as sums: by class of rows, and by what the predicates of one loss can tell apart.

use std::collections::BTreeMap;
use std::ops::{AddAssign, SubAssign};

use super::Decisions;
use crate::rate::{Classes, Form, Set};

/// u + v·p.
pub(super) type Affine = (f64, f64);

/// Sums over rows, with w the weight of a row and p its chance of a positive decision.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sums {
    /// How many rows there are, how many of weight above 0, and how many of these have p > 0.
    pub(super) rows: usize,
    pub(super) counted: usize,
    pub(super) positive: usize,
    /// Σ w, Σ w·p, Σ w·p².
    pub(super) w: f64,
    pub(super) wp: f64,
    pub(super) wp2: f64,
    /// Σ w², Σ w²·p, Σ w²·p².
    pub(super) w2: f64,
    pub(super) w2p: f64,
    pub(super) w2p2: f64,
}

impl Sums {
    /// Σ w·(u + v·p).
    pub(super) fn sum(&self, (u, v): Affine) -> f64 {
        u * self.w + v * self.wp
    }

    /// Σ ω·x², where ω = w·(d + e·p) and ω·x = w·(u + v·p): either e = 0, or d = u = 0.
    pub(super) fn spread(&self, (u, v): Affine, (d, e): Affine) -> f64 {
        if d > 0.0 {
            (u * u * self.w + 2.0 * u * v * self.wp + v * v * self.wp2).max(0.0) / d
        } else if e > 0.0 {
            v * v * self.wp / e
        } else {
            0.0
        }
    }

    /// Σ w²·(u + v·p)².
    pub(super) fn squares(&self, (u, v): Affine) -> f64 {
        let (ends, middle) = (u * u * self.w2 + v * v * self.w2p2, 2.0 * u * v * self.w2p);
        // What rounding leaves of nothing must not look like a variance: it would have degrees of freedom.
        if ends + middle > 1e-12 * ends { ends + middle } else { 0.0 }
    }

    fn add(&mut self, weight: f64, p: f64) {
        let square = weight * weight;
        self.rows += 1;
        self.counted += usize::from(weight > 0.0);
        self.positive += usize::from(weight > 0.0 && p > 0.0);
        self.w += weight;
        self.wp += weight * p;
        self.wp2 += weight * p * p;
        self.w2 += square;
        self.w2p += square * p;
        self.w2p2 += square * p * p;
    }
}

impl AddAssign for Sums {
    fn add_assign(&mut self, other: Self) {
        self.rows += other.rows;
        self.counted += other.counted;
        self.positive += other.positive;
        self.w += other.w;
        self.wp += other.wp;
        self.wp2 += other.wp2;
        self.w2 += other.w2;
        self.w2p += other.w2p;
        self.w2p2 += other.w2p2;
    }
}

impl SubAssign for Sums {
    /// Takes a part away; what rounding leaves of nothing is nothing.
    fn sub_assign(&mut self, part: Self) {
        self.rows -= part.rows;
        self.counted -= part.counted;
        self.positive -= part.positive;
        if self.counted == 0 {
            *self = Sums { rows: self.rows, ..Sums::default() };
            return;
        }
        self.w = (self.w - part.w).max(0.0);
        self.w2 = (self.w2 - part.w2).max(0.0);
        if self.positive == 0 {
            (self.wp, self.wp2, self.w2p, self.w2p2) = (0.0, 0.0, 0.0, 0.0);
            return;
        }
        self.wp = (self.wp - part.wp).max(0.0);
        self.wp2 = (self.wp2 - part.wp2).max(0.0);
        self.w2p = (self.w2p - part.w2p).max(0.0);
        self.w2p2 = (self.w2p2 - part.w2p2).max(0.0);
    }
}

/// Rows that some predicates treat alike: which of these they meet, and their sums.
pub(super) struct Pattern {
    pub(super) meets: Vec<bool>,
    pub(super) sums: Sums,
}

/// The sums of a table, by class.
pub(super) struct Counts<'a> {
    met: &'a [Set],
    classes: Vec<Sums>,
    all: Sums,
    /// Of each predicate, the sums over the rows that meet it, once they were asked for.
    known: Vec<Option<Sums>>,
}

/// With more predicates than this in one loss, classes are told apart one by one.
const MOST_PREDICATES: usize = 6;

impl<'a> Counts<'a> {
    /// Sums the rows of a table; there is one decision a row, and one weight where there are weights.
    pub(super) fn new(of: &'a Classes, weights: Option<&[f32]>, decisions: Decisions<'_>) -> Self {
        let mut classes = vec![Sums::default(); of.count];
        // Weights count in relation to their mean, so that squares of them stay within numbers.
        let mean = weights.map_or(1.0, |weights| {
            let sum: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
            if sum > 0.0 { sum / weights.len() as f64 } else { 1.0 }
        });
        for (row, &class) in of.of_row.iter().enumerate() {
            let weight = weights.map_or(1.0, |weights| f64::from(weights[row]) / mean);
            classes[class as usize].add(weight, decisions.probability(row));
        }
        let mut all = Sums::default();
        classes.iter().for_each(|sums| all += *sums);
        Counts { met: &of.met, classes, all, known: vec![None; of.met.len()] }
    }

    fn over(&self, set: &Set) -> Sums {
        let mut total = Sums::default();
        set.iter().for_each(|class| total += self.classes[class as usize]);
        total
    }

    /// The patterns of the predicates that have rows.
    ///
    /// A pattern's sums are those over the intersection of the predicates it meets, less those over every
    /// larger intersection: what is added up is the members of the groups at hand, not all rows anew for
    /// each loss.
    pub(super) fn patterns(&mut self, predicates: &[usize]) -> Vec<Pattern> {
        if predicates.len() > MOST_PREDICATES {
            return self.one_by_one(predicates);
        }
        let mut sums = vec![Sums::default(); 1 << predicates.len()];
        sums[0] = self.all;
        self.intersect(predicates, 0, 0, None, &mut sums);
        for bit in 0..predicates.len() {
            for mask in (0..sums.len()).filter(|mask| mask >> bit & 1 == 0) {
                let part = sums[mask | 1 << bit];
                sums[mask] -= part;
            }
        }
        let pattern = |(mask, sums): (usize, Sums)| Pattern {
            meets: (0..predicates.len()).map(|bit| mask >> bit & 1 == 1).collect(),
            sums,
        };
        let patterns = sums.into_iter().enumerate().filter(|(_, sums)| sums.rows > 0);
        patterns.map(pattern).collect()
    }

    /// Sums over the intersections of `common`, the set of `mask`, with those of the predicates from `next`
    /// on.
    fn intersect(
        &mut self,
        predicates: &[usize],
        next: usize,
        mask: usize,
        common: Option<&Set>,
        sums: &mut [Sums],
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
        let mut patterns: BTreeMap<Vec<bool>, Sums> = BTreeMap::new();
        for (meets, sums) in meets.into_iter().zip(&self.classes) {
            *patterns.entry(meets).or_default() += *sums;
        }
        patterns.into_iter().map(|(meets, sums)| Pattern { meets, sums }).collect()
    }
}

/// A form's shares over the patterns of their predicates.
pub(super) struct Layout {
    pub(super) patterns: Vec<Pattern>,
    /// Of each share, where its group and what it is told by stand among the predicates.
    places: Vec<(Option<usize>, Option<usize>)>,
    /// Where the predicates stand that shares are told by, beside their groups.
    pub(super) told: Vec<usize>,
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
        Layout { patterns: counts.patterns(&predicates), places, told }
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
    use crate::random::Stream;
    use crate::table::{Column, Table, Values};

    /// Patterns by intersections are those of the classes one by one.
    #[test]
    fn patterns_are_patterns() {
        let mut stream = Stream::new(3, "patterns");
        for (rows, most) in [(300, 2), (40, 10), (7, 100)] {
            let mut truths = |most: u64| (0..rows).map(|_| Some(stream.below(most) == 0)).collect();
            let names = ["y", "a", "b", "c", "d"];
            let columns = names.map(|name| Column::new(name, Values::Boolean(truths(most))));
            let table = Table::new(columns.into()).unwrap();
            let frozen = crate::rate::Frozen {
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
            let of = frozen.thaw().unwrap().classes(&table).unwrap();
            let decisions = Decisions::Probabilities(&chances);
            let mut counts = Counts::new(&of, Some(&weights), decisions);
            let predicates: Vec<usize> = (0..of.met.len()).collect();
            assert_eq!(predicates.len(), 5);
            let mut found = counts.patterns(&predicates);
            found.sort_by(|a, b| a.meets.cmp(&b.meets));
            let wanted = counts.one_by_one(&predicates);
            assert_eq!(found.len(), wanted.len());
            for (found, wanted) in found.iter().zip(&wanted) {
                assert_eq!(found.meets, wanted.meets);
                let (a, b) = (&found.sums, &wanted.sums);
                assert_eq!((a.rows, a.counted, a.positive), (b.rows, b.counted, b.positive));
                let numbers = |s: &Sums| [s.w, s.wp, s.wp2, s.w2, s.w2p, s.w2p2];
                let near = |(a, b): (f64, f64)| (a - b).abs() < 1e-9;
                assert!(numbers(a).into_iter().zip(numbers(b)).all(near), "{a:?} {b:?}");
            }
        }
    }
}
