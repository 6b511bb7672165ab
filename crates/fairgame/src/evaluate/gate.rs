//! Margins: by how much more than to its bound a constraint has to be met on some rows, so that it is met elsewhere.
//!
//! [`margins`] is the upper half of the interval of each loss. It is floored by z·σ, where σ is the standard error with
//! each rate drawn towards ½ by two rows on either side (Agresti and Coull): rates of 0 and 1 in small groups have a
//! variance of 0, and are still not known.

use super::counts::Counts;
use super::loss::Loss;
use super::{CellSums, Decisions};
use crate::rate::{Bound, Partition};

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
    use super::super::normal_tail;
    use super::super::quantile::normal;
    use super::*;
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
}
