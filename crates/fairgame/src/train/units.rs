//! Rows that are not independent: those of one unit, such as a person, and exact copies.

use std::collections::HashMap;

use crate::Result;
use crate::classifier::draws;
use crate::random::mix;
use crate::table::{Table, Values, no_such_column};

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

/// How many rows are exact copies of an earlier one, in all columns.
pub(super) fn copies(table: &Table) -> usize {
    let mut hashes = vec![0_u64; table.rows()];
    for column in table.columns() {
        let mut add = |row: usize, value: u64| hashes[row] = mix(hashes[row] ^ mix(value));
        match &column.values {
            Values::Number(numbers) => {
                numbers.iter().enumerate().for_each(|(row, x)| add(row, (x + 0.0).to_bits()));
            }
            Values::Category(category) => {
                category
                    .codes
                    .iter()
                    .enumerate()
                    .for_each(|(row, code)| add(row, u64::from(*code)));
            }
            Values::Boolean(truths) => truths.iter().enumerate().for_each(|(row, truth)| {
                add(row, truth.map_or(2, u64::from));
            }),
        }
    }
    hashes.sort_unstable();
    hashes.len() - hashes.chunk_by(|a, b| a == b).count()
}
