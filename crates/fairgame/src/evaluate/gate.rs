//! Margins: by how much more than to its bound a constraint has to be met on some rows, so that it is met elsewhere.
//!
//! # In the population
//!
//! [`margins`] is the upper half of the interval of each loss. It is floored by z·σ, where σ is the standard error with
//! each rate drawn towards ½ by two rows on either side (Agresti and Coull): rates of 0 and 1 in small groups have a
//! variance of 0, and are still not known.
//!
//! # At a gate
//!
//! A gate is an evaluation on N new rows at confidence 1 − α, which is to say met. There are m constraints. Let loss i
//! be ℓ_i on the n rows at hand, with standard error σ_i, and L_i in the population. The gate sees ℓ_i' on its rows,
//! with standard error σ_i·√(n/N), and half-width h_i: that of an interval which misses with probability α/m on N rows
//! with these rates. It says met if ℓ_i' + h_i ≤ 0 for all i. Since
//!
//! ```text
//! ℓ_i' − ℓ_i = (ℓ_i' − L_i) + (L_i − ℓ_i)
//! ```
//!
//! is about normal with variance σ_i²·n/N + σ_i², the gate says met for constraint i with probability 1 − (1 − c)/m if
//!
//! ```text
//! ℓ_i ≤ −(h_i + z·√(σ_i²·n/N + σ_i²)),   z the quantile of the normal distribution at 1 − (1 − c)/m,
//! ```
//!
//! and for all constraints together with probability at least c (Bonferroni). Where a rate is below ½ and was found too
//! low, so was its variance: h_i and σ_i are those of rates that are worse by z·√(σ_i²·n/N + σ_i²). What choosing a classifier on the n rows
//! does to ℓ_i is no part of this.

use super::counts::Counts;
use super::loss::Loss;
use super::quantile::normal;
use super::{CellSums, Decisions};
use crate::rate::{Bound, Partition};

/// An evaluation that is to say met.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Gate {
    /// 1 − α: the confidence of the evaluation, for all constraints together.
    pub(crate) confidence: f64,
    /// N: on how many new rows it is made.
    pub(crate) rows: u64,
    /// c: how likely it is to say met.
    pub(crate) chance: f64,
}

/// How far the loss of each constraint may be above what rows say, each with a chance of `misses` / 2.
///
/// The cells of the rows are known already; `units` says which unit each row is of. A constraint that has nothing to
/// measure has no margin.
pub(crate) fn margins(
    bound: &Bound,
    cells: (&Partition, &[u32]),
    weights: Option<&[f32]>,
    units: Option<&[u32]>,
    decisions: Decisions<'_>,
    misses: f64,
) -> Vec<f64> {
    each_loss(bound, cells, weights, units, decisions, |loss| loss.margin(misses))
}

/// By how much more than to its bound each constraint is to be met on these rows, so that a gate says met.
///
/// As of [`margins`] otherwise.
pub(crate) fn gate_margins(
    bound: &Bound,
    cells: (&Partition, &[u32]),
    weights: Option<&[f32]>,
    units: Option<&[u32]>,
    decisions: Decisions<'_>,
    gate: Gate,
) -> Vec<f64> {
    let constraints = bound.constraints().len().max(1) as f64;
    let misses = (1.0 - gate.confidence) / constraints;
    let z = normal(((1.0 - gate.chance) / constraints).clamp(1e-12, 0.5));
    let by = gate.rows.max(1) as f64 / cells.1.len().max(1) as f64;
    each_loss(bound, cells, weights, units, decisions, |loss| {
        if loss.always_met() {
            return 0.0;
        }
        let apart = |loss: &Loss| z * loss.standard_error() * (1.0 + 1.0 / by).sqrt();
        let worse = loss.moved(apart(loss));
        worse.of_more(by).margin(misses) + apart(&worse)
    })
}

fn each_loss(
    bound: &Bound,
    (partition, cells): (&Partition, &[u32]),
    weights: Option<&[f32]>,
    units: Option<&[u32]>,
    decisions: Decisions<'_>,
    margin: impl Fn(&Loss) -> f64,
) -> Vec<f64> {
    let rows = CellSums::new((partition, cells), weights, units, decisions);
    let counts = &mut Counts::new(partition.met(), &rows.cells, rows.units.as_ref());
    let losses = bound.losses().skip(1);
    losses
        .map(|loss| Loss::new(&loss.form.collected(), counts).map_or(0.0, |loss| margin(&loss)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Verdict, evaluate, normal_tail};
    use super::*;
    use crate::random::Stream;
    use crate::rate::Problem;
    use crate::table::{Column, Table, Values};

    fn table(columns: &[(&str, Vec<bool>)]) -> Table {
        let column = |(name, truths): &(&str, Vec<bool>)| {
            Column::new(*name, Values::Boolean(truths.iter().map(|&truth| Some(truth)).collect()))
        };
        Table::new(columns.iter().map(column).collect()).unwrap()
    }

    fn bind(table: &Table, constraints: &[String]) -> Bound {
        Problem::parse("y", "error()", constraints).unwrap().bind(table, &[]).unwrap().0
    }

    /// p(1 − p)/n, with two rows added on either side.
    fn add_two(positive: usize, rows: usize) -> f64 {
        let p = (positive as f64 + 2.0) / (rows as f64 + 4.0);
        p * (1.0 - p) / rows as f64
    }

    /// One standard error and 95 % are at least those of rates that two rows on either side were added to, in
    /// small groups whose decisions agree but for one at most: of one rate, and of two of separate groups or of one
    /// within the other.
    #[test]
    fn margins_do_not_vanish() {
        let constraints = [
            "positive_rate(a) <= 0.5",
            "positive_rate(a) >= 0.5",
            "positive_rate(a) <= positive_rate(b) + 0.2",
            "positive_rate(a) >= positive_rate(b) - 0.2",
            "positive_rate(a) <= positive_rate() + 0.2",
            "positive_rate(a) >= 0.8 * positive_rate()",
        ]
        .map(str::to_owned);
        let (mut least, mut without_floor) = ([f64::INFINITY; 6], [f64::INFINITY; 6]);
        for (rows, others) in (3..=50).flat_map(|rows| [3, 10, 50, 500].map(|more| (rows, more))) {
            let table = table(&[
                ("a", (0..rows + others).map(|row| row < rows).collect()),
                ("b", (0..rows + others).map(|row| row >= rows).collect()),
                ("y", (0..rows + others).map(|row| row % 2 == 0).collect()),
            ]);
            let bound = bind(&table, &constraints);
            let (partition, cells) = bound.partition(&table).unwrap();
            for (some, more) in [0, 1, rows - 1, rows]
                .into_iter()
                .flat_map(|some| [0, 1, others / 2, others - 1, others].map(|more| (some, more)))
            {
                let positive = |row: usize| if row < rows { row < some } else { row - rows < more };
                let decided: Vec<bool> = (0..rows + others).map(positive).collect();
                let (first, second) = (add_two(some, rows), add_two(more, others));
                let share = rows as f64 / (rows + others) as f64;
                // c times everyone's rate: c·share of it is that of the group itself.
                let within = |c: f64| {
                    (1.0 - c * share).powi(2) * first + (c * (1.0 - share)).powi(2) * second
                };
                let both = add_two(some + more, rows + others);
                let apart = |c: f64| if share < 0.1 { first + c * c * both } else { 0.0 };
                let wanted = [
                    first,
                    first,
                    first + second,
                    first + second,
                    within(1.0).max(apart(1.0)),
                    within(0.8).max(apart(0.8)),
                ];
                for z in [1.0, normal(0.025)] {
                    let (decisions, misses) = (Decisions::Hard(&decided), 2.0 * normal_tail(z));
                    let cells = (&partition, &cells[..]);
                    let found = margins(&bound, cells, None, None, decisions, misses);
                    let upper = |loss: &Loss| {
                        let found = loss.measured(misses).estimate().unwrap();
                        found.interval.high - found.value
                    };
                    let bare = each_loss(&bound, cells, None, None, decisions, upper);
                    for (place, variance) in wanted.into_iter().enumerate() {
                        let wanted = z * variance.sqrt();
                        least[place] = least[place].min(found[place] / wanted);
                        without_floor[place] = without_floor[place].min(bare[place] / wanted);
                    }
                }
            }
        }
        // Of a group within another, the formula leaves out that they share rows, or what agrees within one alone.
        let enough =
            |(place, least): (usize, &f64)| *least > if place < 4 { 1.0 - 1e-9 } else { 0.93 };
        assert!(least.iter().enumerate().all(enough), "{least:?}");
        // An interval ends where a loss cannot go further: it needs the floor.
        assert!(without_floor.iter().all(|least| *least < 0.1), "{without_floor:?}");
    }

    /// A population in which those of group a are decided positive with one chance and the others with another.
    struct Population {
        share: f64,
        chances: [f64; 2],
        /// How many rows a unit has; all of them are decided alike.
        unit: usize,
    }

    impl Population {
        fn draw(&self, rows: usize, stream: &mut Stream) -> (Table, Vec<bool>, Vec<u32>) {
            let (mut of, mut decided) = (Vec::new(), Vec::new());
            while of.len() < rows {
                let a = stream.unit() < self.share;
                let positive = stream.unit() < self.chances[usize::from(!a)];
                of.extend(std::iter::repeat_n(a, self.unit));
                decided.extend(std::iter::repeat_n(positive, self.unit));
            }
            let units = (0..of.len()).map(|row| (row / self.unit) as u32).collect();
            let not: Vec<bool> = of.iter().map(|a| !a).collect();
            (table(&[("y", not.clone()), ("a", of), ("b", not)]), decided, units)
        }

        /// How often the gate says met, where on the rows at hand each constraint is met by just its margin.
        fn passes(&self, lefts: &[&str], rows: usize, gate: Gate, stream: &mut Stream) -> f64 {
            const TIMES: usize = 400;
            let constraints = |bounds: &[f64]| -> Vec<String> {
                lefts
                    .iter()
                    .zip(bounds)
                    .map(|(left, bound)| format!("{left} <= {bound:.9}"))
                    .collect()
            };
            let mut met = 0;
            for _ in 0..TIMES {
                let (here, decided, units) = self.draw(rows, stream);
                let decisions = Decisions::Hard(&decided);
                let bound = bind(&here, &constraints(&vec![0.0; lefts.len()]));
                let (partition, cells) = bound.partition(&here).unwrap();
                let units = (self.unit > 1).then_some(&units[..]);
                let margins =
                    gate_margins(&bound, (&partition, &cells), None, units, decisions, gate);
                let found = evaluate(&bound, &here, None, decisions, 0.5).unwrap();
                let values = found.constraints.iter().map(|one| one.value().unwrap());
                let bounds: Vec<f64> =
                    values.zip(&margins).map(|(value, margin)| value + margin).collect();

                let (new, decided, units) = self.draw(gate.rows as usize, stream);
                let bound = bind(&new, &constraints(&bounds));
                let units: Vec<Option<u64>> =
                    units.iter().map(|unit| Some(u64::from(*unit))).collect();
                let units = (self.unit > 1).then_some(&units[..]);
                let decisions = Decisions::Hard(&decided);
                let found = super::super::evaluate_by_unit(
                    &bound,
                    &new,
                    None,
                    units,
                    decisions,
                    gate.confidence,
                );
                met += usize::from(found.unwrap().verdict == Verdict::Met);
            }
            met as f64 / TIMES as f64
        }
    }

    /// The gate says met as often as was asked, within two standard errors of what was simulated, and not always.
    #[test]
    fn gates_are_passed() {
        let even = Population { share: 0.3, chances: [0.3, 0.4], unit: 1 };
        let rare = Population { share: 0.2, chances: [0.05, 0.1], unit: 1 };
        let together = Population { share: 0.3, chances: [0.3, 0.4], unit: 4 };
        let (one, gap) = ("positive_rate(a)", "positive_rate(a) - positive_rate(b)");
        let two = [one, gap];
        let cases: [(&Population, &[&str], usize, u64, f64); 8] = [
            (&even, &two[..1], 600, 600, 0.8),
            (&even, &two[..1], 400, 1600, 0.8),
            (&even, &two[..1], 1600, 400, 0.9),
            (&even, &two[1..], 600, 600, 0.8),
            (&even, &two, 600, 900, 0.8),
            (&rare, &two[..1], 600, 600, 0.8),
            (&rare, &two, 600, 600, 0.8),
            (&together, &two, 1200, 1200, 0.8),
        ];
        let mut stream = Stream::new(11, "gates");
        let mut found = Vec::new();
        for (population, lefts, rows, new, chance) in cases {
            let gate = Gate { confidence: 0.95, rows: new, chance };
            found.push((population.passes(lefts, rows, gate, &mut stream), chance));
        }
        let error = |chance: f64| (chance * (1.0 - chance) / 400.0).sqrt();
        let enough = |(met, chance): &(f64, f64)| *met >= chance - 2.0 * error(*chance);
        assert!(found.iter().all(enough), "{found:?}");
        assert!(found.iter().take(4).all(|(met, chance)| *met < chance + 0.12), "{found:?}");
    }
}
