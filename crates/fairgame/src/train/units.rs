//! Rows that are not independent: those of one unit, such as a person, and exact copies.
//!
//! Copies of a row must not teach in one fold and judge in another. But equal rows need not be copies: where columns have
//! few values, independent rows are often equal. Two signs tell copies from such rows.
//!
//! With N_k the number of rows that are there exactly k times, independent rows have E N_k = E[λ^k·e^−λ / k!] over
//! the rates λ of all possible rows, so that k!·E N_k is log-convex in k (Cauchy-Schwarz):
//!
//! ```text
//! (k!·N_k)² ≤ (k − 1)!·N_{k−1} · (k + 1)!·N_{k+1}
//! ```
//!
//! up to noise. Rows that were copied c times break this at k = c. Rows drawn with replacement do not, and there a column
//! of many values tells, such as an amount. Independent rows with the same amount have other values in other columns.
//! Copies with the same amount are equal in all of them. They never differ in the label alone, either.

use std::collections::{HashMap, HashSet};

use crate::Result;
use crate::classifier::{draw_of_text, draws};
use crate::random::mix;
use crate::table::{Column, MISSING, Table, Values, no_such_column};

/// Below this share of the rows, copies change nothing that could be measured.
const FEW: f64 = 0.005;

/// The rows of a training that belong together.
#[derive(Default)]
pub(super) struct Together {
    /// The unit of each row; none where every row stands alone.
    pub(super) units: Option<Vec<u32>>,
    /// How many rows have no unit.
    pub(super) missing: usize,
    /// How many rows are copies of an earlier one, where copies are the units.
    pub(super) copied: usize,
}

/// The rows of a training that belong together: by the column that names their unit, or else because they are copies.
/// `label` are the columns that say which rows are positive.
pub(super) fn together(table: &Table, unit: Option<&str>, label: &[&str]) -> Result<Together> {
    if let Some(name) = unit {
        let (units, missing) = codes(table, name)?;
        return Ok(Together { units: Some(units), missing, copied: 0 });
    }
    let Copies { rows, units } = copies(table, label);
    let copied = if units.is_some() { rows } else { 0 };
    Ok(Together { units, missing: 0, copied })
}

/// The unit of each row, counted from 0, and how many rows have none; these are units of their own.
pub(super) fn codes(table: &Table, name: &str) -> Result<(Vec<u32>, usize)> {
    let Some(column) = table.columns().iter().find(|column| column.name == *name) else {
        let names = table.columns().iter().map(|column| column.name.as_str());
        return Err(no_such_column(name, names).at("unit"));
    };
    let (mut known, mut next, mut missing) = (HashMap::new(), 0_u32, 0);
    let mut fresh = || {
        next += 1;
        next - 1
    };
    let units = draws(&column.values).into_iter().map(|unit| match unit {
        Some(unit) => *known.entry(unit).or_insert_with(&mut fresh),
        None => {
            missing += 1;
            fresh()
        }
    });
    let units = units.collect();
    Ok((units, missing))
}

/// How many rows of `others` are of a unit that the rows of a table have, too.
pub(super) fn shared(table: &Table, others: &Table, name: &str) -> usize {
    let units = |table: &Table| -> Vec<Option<u64>> {
        let column = table.columns().iter().find(|column| column.name == *name);
        column.map(|column| draws(&column.values)).unwrap_or_default()
    };
    let known: HashSet<u64> = units(table).into_iter().flatten().collect();
    units(others).into_iter().flatten().filter(|unit| known.contains(unit)).count()
}

/// The rows of a table that are equal in all columns.
struct Copies {
    /// How many rows are equal to an earlier one.
    rows: usize,
    /// For each row the first that it is equal to; none if they are equal by chance.
    units: Option<Vec<u32>>,
}

/// How many rows are equal to an earlier one, and whether they are copies rather than equal by chance.
pub(super) fn equal_rows(table: &Table, label: &[&str]) -> (usize, bool) {
    let found = copies(table, label);
    (found.rows, found.units.is_some())
}

/// Looks for copies; `label` are the columns that say which rows are positive.
fn copies(table: &Table, label: &[&str]) -> Copies {
    let columns: Vec<&Column> = table.columns().iter().collect();
    let hashes = row_hashes(&columns, table.rows());
    let mut sorted = hashes.clone();
    sorted.sort_unstable();
    let sizes: Vec<usize> = sorted.chunk_by(|a, b| a == b).map(<[u64]>::len).collect();
    let rows = hashes.len() - sizes.len();
    let many = rows as f64 > FEW * hashes.len() as f64;
    let copied = many && (counts_tell(&sizes) || values_tell(table, &hashes, label));
    let units = copied.then(|| {
        let mut first = HashMap::with_capacity(sizes.len());
        let unit = |(row, hash): (usize, &u64)| *first.entry(*hash).or_insert(row as u32);
        hashes.iter().enumerate().map(unit).collect()
    });
    Copies { rows, units }
}

/// How many rows of `others` are copies of rows of a table, if they are more than fresh rows would have alike.
///
/// A fresh row is like one of the table's about as often as one of its own rows is like another. `copied` says that the
/// table's own rows are copies of each other, which tells nothing of fresh ones.
pub(super) fn among(table: &Table, others: &Table, copied: bool) -> Option<usize> {
    let columns = table.columns().iter();
    let (own, same): (Vec<&Column>, Vec<&Column>) =
        columns.filter_map(|column| Some((column, others.find(&column.name)?))).unzip();
    let (known, new) = (row_hashes(&own, table.rows()), row_hashes(&same, others.rows()));
    let mut counts: HashMap<u64, u32> = HashMap::with_capacity(known.len());
    known.iter().for_each(|hash| *counts.entry(*hash).or_default() += 1);
    let alike = known.iter().filter(|hash| counts[*hash] > 1).count() as f64;
    let natural = if copied { 0.0 } else { alike / known.len().max(1) as f64 };
    let found = new.iter().filter(|hash| counts.contains_key(hash)).count();
    let rows = new.len().max(1) as f64;
    let noise = 4.0 * (natural * (1.0 - natural) / rows).sqrt();
    (found as f64 / rows > natural + noise + FEW).then_some(found)
}

/// A hash of each row's values in these columns, the same in every table.
pub(super) fn row_hashes(columns: &[&Column], rows: usize) -> Vec<u64> {
    let mut hashes = vec![0_u64; rows];
    for column in columns {
        let mut row = 0;
        each_value(column, |value| {
            hashes[row] = mix(hashes[row] ^ mix(value.unwrap_or(u64::MAX)));
            row += 1;
        });
    }
    hashes
}

/// Each row's value as a number that equal values share, in every table.
fn each_value(column: &Column, mut put: impl FnMut(Option<u64>)) {
    match &column.values {
        Values::Number(numbers) => {
            numbers.iter().for_each(|x| put((!x.is_nan()).then(|| (x + 0.0).to_bits())))
        }
        Values::Category(category) => {
            let texts: Vec<u64> = category.dictionary.texts().map(draw_of_text).collect();
            category.codes.iter().for_each(|&code| {
                put((code != MISSING).then(|| texts[code as usize]));
            });
        }
        Values::Boolean(truths) => truths.iter().for_each(|truth| put(truth.map(u64::from))),
    }
}

/// Whether rows are there k times more often, for some k, than independent rows can be.
fn counts_tell(sizes: &[usize]) -> bool {
    /// More copies of a row are not looked for.
    const MOST: usize = 32;
    let mut times = [0.0_f64; MOST + 2];
    sizes.iter().filter(|size| **size <= MOST + 1).for_each(|&size| times[size] += 1.0);
    let rows: usize = sizes.iter().sum();
    (2..=MOST).any(|k| {
        let surely = times[k] - 3.0 * times[k].sqrt();
        let perhaps = |k: usize| times[k] + 3.0 * times[k].sqrt() + 3.0;
        // k!² / ((k − 1)!·(k + 1)!) = k / (k + 1).
        let most = perhaps(k - 1) * perhaps(k + 1) * (k + 1) as f64 / k as f64;
        surely > 0.0 && surely * surely > most && (k - 1) as f64 * times[k] > FEW * rows as f64
    })
}

/// Whether a column of many values says that equal rows are copies.
fn values_tell(table: &Table, hashes: &[u64], label: &[&str]) -> bool {
    /// At most so many rows are looked at.
    const MOST: usize = 100_000;
    let rows = hashes.len();
    let step = rows.div_ceil(MOST).max(1);
    if step > 1 {
        // Copies may be far apart: rows are taken by their hash, so that all copies of one are.
        let taken: Vec<usize> =
            (0..rows).filter(|&row| mix(hashes[row]).is_multiple_of(step as u64)).collect();
        let part = table.take(&taken);
        let hashes: Vec<u64> = taken.iter().map(|&row| hashes[row]).collect();
        return values_tell_all(&part, &hashes, label);
    }
    values_tell_all(table, hashes, label)
}

fn values_tell_all(table: &Table, hashes: &[u64], label: &[&str]) -> bool {
    let pairs = |mut all: Vec<u64>| -> f64 {
        all.sort_unstable();
        all.chunk_by(|a, b| a == b).map(|same| (same.len() * (same.len() - 1)) as f64).sum()
    };
    let rows = hashes.len() as f64;
    let equal = pairs(hashes.to_vec());
    let distinct = {
        let mut all = hashes.to_vec();
        all.sort_unstable();
        all.dedup();
        all.len()
    };
    let (of_label, features): (Vec<&Column>, Vec<&Column>) =
        table.columns().iter().partition(|column| label.contains(&column.name.as_str()));
    if of_label.is_empty() || features.len() < 2 || equal == 0.0 {
        return false;
    }
    // Pairs that differ in the label alone.
    let differing = pairs(row_hashes(&features, hashes.len())) - equal;
    if differing > 0.05 * equal {
        return false;
    }
    features.iter().any(|column| {
        let mut values = Vec::with_capacity(hashes.len());
        each_value(column, |value| values.push(value.unwrap_or(u64::MAX)));
        let different = values.iter().copied().collect::<HashSet<u64>>().len();
        if 2 * different < distinct {
            return false;
        }
        let others: Vec<&Column> =
            table.columns().iter().filter(|one| one.name != column.name).collect();
        let of_others = pairs(row_hashes(&others, hashes.len())) / (rows * (rows - 1.0)).max(1.0);
        let of_values = equal / pairs(values).max(1.0);
        of_values > 0.2 && of_values > 3.0 * of_others
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table of two numbers of which one has `values` different values, and a noisy label.
    fn table(rows: usize, values: u64, seed: u64) -> Table {
        let draw = |row: usize, of: u64| mix(seed ^ mix(row as u64 * 7 + of));
        let a = (0..rows).map(|row| (draw(row, 1) % values) as f64).collect();
        let b = (0..rows).map(|row| (draw(row, 2) % 5) as f64).collect();
        let y = (0..rows).map(|row| Some(draw(row, 3) % 3 == 0)).collect();
        Table::new(vec![
            Column::new("a", Values::Number(a)),
            Column::new("b", Values::Number(b)),
            Column::new("y", Values::Boolean(y)),
        ])
        .unwrap()
    }

    fn found(table: &Table) -> Copies {
        copies(table, &["y"])
    }

    #[test]
    fn independent_rows_that_are_equal_are_no_copies() {
        for seed in 0..20 {
            for (rows, values) in
                [(4000, 2), (4000, 60), (4000, 500), (4000, 4000), (300, 40), (2000, u64::MAX)]
            {
                let found = found(&table(rows, values, seed));
                assert!(found.units.is_none(), "{rows} rows of {values} values, seed {seed}");
            }
        }
    }

    #[test]
    fn rows_that_were_copied_are_units() {
        for seed in 0..20 {
            for values in [500, 4000, u64::MAX] {
                let plain = table(1000, values, seed);
                let thrice: Vec<usize> = (0..3000).map(|row| row % 1000).collect();
                let found = found(&plain.take(&thrice));
                assert!(found.units.is_some(), "{values} values, seed {seed}");
            }
        }
        // Oversampled by a factor, and a tenth of the rows twice.
        let plain = table(2000, u64::MAX, 1);
        let factor: Vec<usize> =
            (0..2000).flat_map(|row| vec![row; if row % 4 == 0 { 4 } else { 1 }]).collect();
        let units = found(&plain.take(&factor)).units.unwrap();
        assert_eq!(units[..5], [0, 0, 0, 0, 4]);
        let tenth: Vec<usize> = (0..2000).chain((0..2000).step_by(10)).collect();
        assert!(found(&plain.take(&tenth)).units.is_some());
        // Drawn with replacement.
        let drawn: Vec<usize> = (0..2000).map(|row| mix(row) as usize % 2000).collect();
        assert!(found(&plain.take(&drawn)).units.is_some());
    }

    #[test]
    fn rows_of_one_table_are_found_among_those_of_another() {
        for values in [60, 4000, u64::MAX] {
            let (own, fresh) = (table(3000, values, 1), table(3000, values, 2));
            assert_eq!(among(&own, &fresh, false), None, "{values} values");
        }
        let (own, fresh) = (table(3000, u64::MAX, 1), table(3000, u64::MAX, 2));
        assert_eq!(among(&own, &own, false), Some(3000));
        let some = own.take(&(0..300).collect::<Vec<_>>());
        assert_eq!(among(&own, &some, false), Some(300));
        assert_eq!(shared(&own, &fresh, "b"), 3000);
        assert_eq!(shared(&own, &fresh, "none"), 0);
    }
}
