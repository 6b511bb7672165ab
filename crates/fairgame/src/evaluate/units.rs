//! Rows that are drawn together, such as those of one person: exact sums for each unit and class.
//!
//! A **unit** is one draw from the population, and may have several rows. What intervals need of it is Σ w and Σ w·p
//! over its rows in each class: two exact sums, which add in any order. A unit that has one row is that row. A row
//! whose unit is not known is a unit of its own. A row of weight 0 tells nothing, and is not kept.
//!
//! Memory grows with the number of units: about 130 bytes for a unit of one row, and 100 more for each class that a
//! unit of several rows is in.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use serde::{Deserialize, Serialize};

use super::counts::Part;
use super::decisions::Decisions;
use super::exact::Exact;
use super::sums::{Chance, RowSums};

/// Units, as rows are added.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Units {
    known: HashMap<u64, Unit>,
    /// Of each class, the sums over rows that are known to be units of their own.
    loose: Vec<RowSums>,
    /// How many rows have no unit.
    missing: u64,
}

/// The rows of a unit.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Unit {
    One {
        class: u32,
        weight: f32,
        chance: Chance,
    },
    /// By class, in ascending order.
    Several(Vec<(u32, UnitSums)>),
}

/// Σ w and Σ w·p over the rows of a unit in one class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct UnitSums {
    w: Exact<5, -149>,
    wp: Exact<6, -202>,
}

impl Units {
    /// Whether they can be of so many classes.
    pub(super) fn are_of(&self, classes: usize) -> bool {
        let known = |class: u32| (class as usize) < classes;
        self.loose.len() <= classes
            && self.known.values().all(|unit| match unit {
                Unit::One { class, weight, chance } => {
                    known(*class) && weight.is_finite() && *weight >= 0.0 && chance.is_sound()
                }
                Unit::Several(sums) => sums.iter().all(|(class, _)| known(*class)),
            })
    }
}

impl UnitSums {
    fn merge(&mut self, other: &Self) {
        self.w.merge(&other.w);
        self.wp.merge(&other.wp);
    }
}

impl Unit {
    /// The unit with the rows of another part of it.
    fn and(self, other: Unit) -> Unit {
        let mut sums = self.several();
        for (class, more) in other.several() {
            match sums.binary_search_by_key(&class, |(class, _)| *class) {
                Ok(at) => sums[at].1.merge(&more),
                Err(at) => {
                    sums.reserve_exact(1);
                    sums.insert(at, (class, more));
                }
            }
        }
        Unit::Several(sums)
    }

    fn several(self) -> Vec<(u32, UnitSums)> {
        match self {
            Unit::Several(sums) => sums,
            Unit::One { class, weight, chance } => {
                let mut sums = UnitSums::default();
                chance.add_to(weight, &mut sums.w, &mut sums.wp);
                vec![(class, sums)]
            }
        }
    }

    /// The same rows, with the classes of another numbering; rows of a class that is not positive are decided
    /// negative.
    fn renumbered(&self, class_of: &[u32], positive: impl Fn(u32) -> bool) -> Unit {
        match self {
            Unit::One { class, weight, chance } => Unit::One {
                class: class_of[*class as usize],
                weight: *weight,
                chance: if positive(*class) { *chance } else { Chance::new(0.0) },
            },
            Unit::Several(sums) => {
                let parts = sums.iter().map(|(class, sums)| {
                    let wp = if positive(*class) { sums.wp } else { Exact::default() };
                    Unit::Several(vec![(class_of[*class as usize], UnitSums { w: sums.w, wp })])
                });
                parts.reduce(Unit::and).unwrap_or_else(|| Unit::Several(Vec::new()))
            }
        }
    }
}

impl Units {
    /// Of no unit that is known, beside these sums over rows that are units of their own.
    pub(super) fn of_rows(loose: &[RowSums]) -> Self {
        Units { loose: loose.to_vec(), ..Units::default() }
    }

    /// Adds rows whose classes are known, each with its unit.
    pub(super) fn add(
        &mut self,
        classes: &[u32],
        weights: Option<&[f32]>,
        units: impl Iterator<Item = Option<u64>>,
        decisions: Decisions<'_>,
    ) {
        for ((row, &class), unit) in classes.iter().enumerate().zip(units) {
            let weight = weights.map_or(1.0, |weights| weights[row]);
            let chance = Chance::new(decisions.probability(row));
            self.missing += u64::from(unit.is_none());
            match unit {
                Some(unit) if weight > 0.0 => {
                    self.join(unit, Unit::One { class, weight, chance });
                }
                _ => self.loose(class).add(weight, chance),
            }
        }
    }

    /// Adds rows of which none has a unit, as sums by class.
    pub(super) fn add_loose(&mut self, classes: &[u32], sums: &[RowSums]) {
        for (&class, sums) in classes.iter().zip(sums) {
            self.loose(class).merge(sums);
        }
    }

    /// Adds the units of another list, of which `class_of` says which class here each of its classes is.
    pub(super) fn merge(&mut self, other: &Units, class_of: &[u32]) {
        self.add_loose(class_of, &other.loose);
        for (&unit, rows) in &other.known {
            self.join(unit, rows.renumbered(class_of, |_| true));
        }
        self.missing += other.missing;
    }

    /// The same units, with the classes of another numbering; rows of a class that is not positive are decided
    /// negative.
    pub(super) fn renumbered(mut self, class_of: &[u32], positive: &[bool]) -> Self {
        for (class, sums) in std::mem::take(&mut self.loose).into_iter().enumerate() {
            let sums = if positive[class] { sums } else { sums.all_negative() };
            self.loose(class_of[class]).merge(&sums);
        }
        for rows in self.known.values_mut() {
            *rows = rows.renumbered(class_of, |class| positive[class as usize]);
        }
        self
    }

    fn loose(&mut self, class: u32) -> &mut RowSums {
        let class = class as usize;
        if self.loose.len() <= class {
            self.loose.resize_with(class + 1, RowSums::default);
        }
        &mut self.loose[class]
    }

    fn join(&mut self, unit: u64, rows: Unit) {
        match self.known.entry(unit) {
            Entry::Vacant(entry) => {
                entry.insert(rows);
            }
            Entry::Occupied(mut entry) => {
                let known = std::mem::replace(entry.get_mut(), Unit::Several(Vec::new()));
                *entry.get_mut() = known.and(rows);
            }
        }
    }

    /// How many units have a row that counts.
    pub(super) fn count(&self) -> u64 {
        let loose: u64 = self.loose.iter().map(RowSums::counted).sum();
        self.known.len() as u64 + loose
    }

    /// How many rows have no unit.
    pub(super) fn missing(&self) -> u64 {
        self.missing
    }

    /// The units as numbers, with cells in place of classes.
    pub(super) fn gathered(&self, cell_of: &[u32], cells: usize) -> GatheredUnits {
        let mut alone = vec![RowSums::default(); cells];
        let mut several = Vec::new();
        for (&cell, sums) in cell_of.iter().zip(&self.loose) {
            alone[cell as usize].merge(sums);
        }
        for unit in self.known.values() {
            match unit.renumbered(cell_of, |_| true) {
                Unit::One { class, weight, chance } => alone[class as usize].add(weight, chance),
                Unit::Several(sums) => several.push(
                    sums.iter()
                        .map(|(cell, sums)| Part {
                            cell: *cell,
                            w: sums.w.value(),
                            wp: sums.wp.value(),
                        })
                        .collect::<Vec<_>>(),
                ),
            }
        }
        // By what they hold: neither the order of rows nor what units are called can change a bit.
        several.sort_unstable_by(|a, b| {
            let key = |part: &Part| (part.cell, part.w.to_bits(), part.wp.to_bits());
            a.iter().map(key).cmp(b.iter().map(key))
        });
        let mut gathered = GatheredUnits { alone, several: Vec::new(), units: self.count() };
        for parts in several {
            match gathered.several.last_mut() {
                Some((times, same)) if *same == parts => *times += 1,
                _ => gathered.several.push((1, parts)),
            }
        }
        gathered
    }
}

/// Units by cell: in an order that does not depend on that of the rows.
#[derive(Debug)]
pub(super) struct GatheredUnits {
    /// Of each cell, the sums over rows that are a unit of their own.
    pub(super) alone: Vec<RowSums>,
    /// What a unit of several rows has in each cell, and how many such units there are.
    pub(super) several: Vec<(u64, Vec<Part>)>,
    /// How many units there are in all.
    pub(super) units: u64,
}

#[cfg(test)]
mod tests {
    use super::super::CellSums;
    use super::super::counts::Counts;
    use super::super::loss::Loss;
    use super::*;
    use crate::random::Stream;
    use crate::rate::{Problem, Weighted};
    use crate::table::{Column, Table, Values};

    /// One of two regions, by row; and the outcome there.
    type Region<'a> = &'a dyn Fn(usize) -> Option<f64>;

    /// Σ_u (Σ_{r ∈ u} z_r)², as it is defined.
    fn naive(terms: &[(f64, Region<'_>)], weights: &[f32], units: &[u32]) -> f64 {
        let mut sums = vec![0.0; units.len()];
        for (factor, region) in terms {
            let rows = || (0..units.len()).filter_map(|row| Some((row, region(row)?)));
            let total: f64 = rows().map(|(row, _)| f64::from(weights[row])).sum();
            let mean = rows().map(|(row, x)| f64::from(weights[row]) * x).sum::<f64>() / total;
            for (row, x) in rows() {
                sums[units[row] as usize] += factor * f64::from(weights[row]) * (x - mean) / total;
            }
        }
        sums.iter().map(|sum| sum * sum).sum()
    }

    #[test]
    fn variances_are_those_of_the_definition() {
        let mut stream = Stream::new(9, "units");
        for turn in 0..60 {
            let rows = 40 + 5 * turn;
            let mut truths =
                |share: f64| (0..rows).map(|_| stream.unit() < share).collect::<Vec<_>>();
            let (y, a, b) = (truths(0.5), truths(0.4), truths(0.6));
            let column = |name: &str, truths: &[bool]| {
                Column::new(name, Values::Boolean(truths.iter().map(|one| Some(*one)).collect()))
            };
            let table =
                Table::new(vec![column("y", &y), column("a", &a), column("b", &b)]).unwrap();
            let weights: Vec<f32> =
                (0..rows).map(|_| [0.0, 0.5, 1.0, 2.5][stream.below(4) as usize]).collect();
            let p: Vec<f64> =
                (0..rows).map(|_| [0.0, 1.0, stream.unit()][stream.below(3) as usize]).collect();
            let most = [rows as u64, 10, 1000][turn % 3];
            let units: Vec<u32> =
                (0..rows).map(|_| stream.below(most.min(rows as u64)) as u32).collect();
            let of_a = |row: usize| a[row].then_some(p[row]);
            let of_b = |row: usize| b[row].then_some(p[row]);
            let error_of_a =
                |row: usize| a[row].then(|| if y[row] { 1.0 - p[row] } else { p[row] });
            let recall = |row: usize| y[row].then_some(p[row]);
            let everyone = |row: usize| Some(p[row]);
            let cases: [(&str, Vec<(f64, Region<'_>)>); 5] = [
                ("positive_rate(a) <= 0.5", vec![(1.0, &of_a)]),
                ("positive_rate(a) <= positive_rate(b)", vec![(1.0, &of_a), (-1.0, &of_b)]),
                (
                    "0.8 * positive_rate() <= positive_rate(a)",
                    vec![(0.8, &everyone), (-1.0, &of_a)],
                ),
                ("error(a) <= 2 * tpr()", vec![(1.0, &error_of_a), (-2.0, &recall)]),
                (
                    "positive_rate(b) + tpr() <= error(a)",
                    vec![(1.0, &of_b), (1.0, &recall), (-1.0, &error_of_a)],
                ),
            ];
            let problem = Problem::parse("y", "error()", &cases.each_ref().map(|case| case.0));
            let weighted = Weighted { table: &table, weights: Some(&weights) };
            let (bound, _) = problem.unwrap().bind(weighted, &[]).unwrap();
            let (partition, cells) = bound.partition(&table).unwrap();
            let decisions = Decisions::Probabilities(&p);
            let sums = CellSums::new((&partition, &cells), Some(&weights), Some(&units), decisions);
            let mut counts = Counts::new(partition.met(), &sums.cells, sums.units.as_ref());
            for (loss, (text, terms)) in bound.losses().skip(1).zip(&cases) {
                let found = Loss::new(&loss.form.collected(), &mut counts).unwrap().variance();
                let wanted = naive(terms, &weights, &units);
                let same = (found - wanted).abs() < 1e-12;
                // Of one mean it is no less than if weights told nothing of outcomes.
                assert!(same || terms.len() == 1 && found > wanted, "{text}: {found} {wanted}");
            }
        }
    }
}
