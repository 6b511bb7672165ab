//! Judging rows in the order of their probability, so that a rule is measured by a few binary searches.
//!
//! A rule over one probability p scores a row of class k by θ_k0 + θ_k1·p. That is monotone in p, also as f32 numbers
//! are rounded, so within a class the rows decided positive are those on one side of a threshold. Rows are grouped by cell
//! and part and sorted by p, once. A rule then costs one binary search a group, however many rows there are. The
//! threshold is found with the rule's own arithmetic, so the decisions are those of scoring each row, to the bit.

use crate::Threads;
use crate::rate::{Count, Losses, Tally};

/// One row that judges, as a rule sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Judged {
    pub(super) cell: u32,
    pub(super) part: u16,
    pub(super) probability: f32,
    pub(super) weight: f32,
}

/// Judging rows, sorted by probability within each cell and part.
#[derive(Debug, Clone)]
pub(super) struct Ranked {
    groups: Vec<Group>,
    /// The weight of each cell.
    weights: Vec<f64>,
    parts: usize,
}

/// The rows of one cell in one part.
#[derive(Debug, Clone)]
struct Group {
    cell: usize,
    class: usize,
    part: usize,
    /// Ascending.
    probabilities: Vec<f32>,
    /// The weight of the first so many rows, from none to all; empty where rows count 1 each.
    before: Vec<f64>,
}

impl Ranked {
    /// Ranks rows. `each` calls with every row, and is asked twice; `class_of` gives the class of a cell.
    pub(super) fn new(
        (cells, parts): (usize, usize),
        class_of: impl Fn(u32) -> u32,
        each: impl Fn(&mut dyn FnMut(Judged)),
        threads: &Threads,
    ) -> Self {
        let mut sizes = vec![0_usize; cells * parts];
        let (mut weights, mut weighted) = (vec![0.0; cells], false);
        each(&mut |row| {
            sizes[row.cell as usize * parts + usize::from(row.part)] += 1;
            weights[row.cell as usize] += f64::from(row.weight);
            weighted |= row.weight != 1.0;
        });
        let mut rows: Vec<(Vec<f32>, Vec<f32>)> = sizes
            .iter()
            .map(|&size| {
                (Vec::with_capacity(size), Vec::with_capacity(if weighted { size } else { 0 }))
            })
            .collect();
        each(&mut |row| {
            let own = &mut rows[row.cell as usize * parts + usize::from(row.part)];
            own.0.push(row.probability);
            if weighted {
                own.1.push(row.weight);
            }
        });
        let sorted = threads.each_mut(&mut rows, |(probabilities, weights)| match weighted {
            true => sort_weighted(probabilities, weights),
            false => {
                probabilities.sort_unstable_by(f32::total_cmp);
                Vec::new()
            }
        });
        let groups = rows.into_iter().zip(sorted).enumerate();
        let groups = groups.filter(|(_, ((probabilities, _), _))| !probabilities.is_empty());
        let groups = groups.map(|(at, ((probabilities, _), before))| Group {
            cell: at / parts,
            class: class_of((at / parts) as u32) as usize,
            part: at % parts,
            probabilities,
            before,
        });
        Ranked { groups: groups.collect(), weights, parts }
    }

    /// What a rule decides: the weight decided positive, part by part and event by event, and the tally.
    pub(super) fn decided(&self, rule: &[f32], losses: &Losses) -> (Vec<f64>, Tally) {
        let events = losses.events();
        let mut positive = vec![0.0; self.parts * events];
        let weighed = |&weight: &f64| Count { weight, ..Count::default() };
        let mut tally = Tally { counts: self.weights.iter().map(weighed).collect() };
        for group in &self.groups {
            let own = &rule[2 * group.class..][..2];
            let sum = group.positive(own[0], own[1]);
            if sum != 0.0 {
                tally.counts[group.cell].positive += sum;
                let sums = &mut positive[group.part * events..][..events];
                losses.each_event(group.cell, |event| sums[event] += sum);
            }
        }
        (positive, tally)
    }
}

impl Group {
    /// The weight of the rows whose score is above 0.
    fn positive(&self, constant: f32, gain: f32) -> f64 {
        let above = |p: &f32| constant + gain * p > 0.0;
        let weight = |rows: usize| self.before.get(rows).copied().unwrap_or(rows as f64);
        let all = self.probabilities.len();
        match gain < 0.0 {
            true => weight(self.probabilities.partition_point(above)),
            false => weight(all) - weight(self.probabilities.partition_point(|p| !above(p))),
        }
    }
}

/// Sorts probabilities with their weights, and gives the weight of the first so many.
fn sort_weighted(probabilities: &mut [f32], weights: &[f32]) -> Vec<f64> {
    let mut rows: Vec<(f32, f32)> =
        probabilities.iter().copied().zip(weights.iter().copied()).collect();
    rows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    probabilities.iter_mut().zip(&rows).for_each(|(to, row)| *to = row.0);
    let mut sum = 0.0;
    let sums = rows.iter().map(|row| {
        sum += f64::from(row.1);
        sum
    });
    std::iter::once(0.0).chain(sums.collect::<Vec<_>>()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate::{Problem, Weighted};
    use crate::table::{Category, Column, Table, Values};

    /// Searching sorted rows decides as scoring each of them does, to the bit.
    #[test]
    fn a_rule_is_measured_as_row_by_row() {
        let rows = 500;
        let mut state = 11_u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        let truths = |draw: &mut dyn FnMut(u64) -> u64| {
            Values::Boolean((0..rows).map(|_| Some(draw(2) == 1)).collect())
        };
        let label = truths(&mut draw);
        let groups: Vec<u64> = (0..rows).map(|_| draw(3)).collect();
        let texts = groups.iter().map(|&group| Some(["a", "b", "c"][group as usize]));
        let group = Values::Category(Category::from_texts(texts));
        let table = Table::new(vec![Column::new("y", label), Column::new("g", group)]).unwrap();
        let problem =
            Problem::parse("y", "error()", &["positive_rate(g == \"a\") >= positive_rate()"])
                .unwrap();
        let bound = problem.compile(Weighted { table: &table, weights: None }, &[]).unwrap();
        let compiled = &bound.tables[0];
        let losses = compiled.losses();
        let (parts, classes) = (4, 3);
        let class_of = |cell: u32| cell % classes as u32;
        for weighted in [false, true] {
            let judged: Vec<Judged> = (0..rows)
                .map(|row| Judged {
                    cell: compiled.cells()[row],
                    part: draw(parts as u64) as u16,
                    // With ties, and the ends of the range.
                    probability: draw(50) as f32 / 49.0,
                    weight: if weighted { draw(8) as f32 / 4.0 } else { 1.0 },
                })
                .collect();
            let each = |see: &mut dyn FnMut(Judged)| judged.iter().for_each(|&row| see(row));
            let size = (losses.cells(), parts);
            let ranked = Ranked::new(size, class_of, each, &Threads::new(2));
            for _ in 0..200 {
                let mut gain = || draw(99) as f32 / 49.0 - 1.0;
                let rule: Vec<f32> = (0..2 * classes).map(|_| gain()).collect();
                let mut positive = vec![0.0; parts * losses.events()];
                let mut tally = Tally::new(losses.cells());
                for row in &judged {
                    let own = &rule[2 * class_of(row.cell) as usize..][..2];
                    let weight = f64::from(row.weight);
                    let count = &mut tally.counts[row.cell as usize];
                    count.weight += weight;
                    if own[0] + own[1] * row.probability > 0.0 {
                        count.positive += weight;
                        let first = usize::from(row.part) * losses.events();
                        losses.each_event(row.cell as usize, |at| positive[first + at] += weight);
                    }
                }
                assert_eq!(ranked.decided(&rule, losses), (positive, tally), "{rule:?}");
            }
        }
    }
}
