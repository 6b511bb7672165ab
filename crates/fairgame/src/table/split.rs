//! Seeded splits of rows, the same on every machine and for any number of threads.

use super::{Column, MISSING, Values};
use crate::random::{Stream, mix};
use crate::{Error, ErrorKind, Result};

/// Parts of `rows` rows, drawn at random, that hold these fractions of them.
///
/// The parts are disjoint and complete, each in ascending order, and a pure function of the
/// arguments. With `strata` (one small integer a row: a label, a fold) every stratum is divided
/// alike, and what rounding takes from a part in one stratum it gets back in the next, so that each
/// part's total stays within one row of its fraction.
///
/// ```
/// use fairgame::table::split;
/// let parts = split::by_fraction(10, &[0.7, 0.3], 1, None)?;
/// assert_eq!((parts[0].len(), parts[1].len()), (7, 3));
/// # Ok::<(), fairgame::Error>(())
/// ```
pub fn by_fraction(
    rows: usize,
    fractions: &[f64],
    seed: u64,
    strata: Option<&[u32]>,
) -> Result<Vec<Vec<usize>>> {
    let total: f64 = fractions.iter().sum();
    if !fractions.iter().all(|&fraction| fraction > 0.0) || (total - 1.0).abs() > 1e-9 {
        return Err(Error::new(
            ErrorKind::Settings,
            format!("the fractions {fractions:?} of a split must be above 0 and add up to 1"),
        ));
    }
    if let Some(strata) = strata.filter(|strata| strata.len() != rows) {
        let found = strata.len();
        return Err(Error::new(
            ErrorKind::Settings,
            format!("{found} strata are given for {rows} rows"),
        ));
    }

    let mut order: Vec<usize> = (0..rows).collect();
    Stream::new(seed, "split").shuffle(&mut order);
    if let Some(strata) = strata {
        // Strata in an order of the seed's, so that which of them rounding favours is drawn as well.
        let place = |row: usize| mix(mix(seed) ^ u64::from(strata[row]));
        order.sort_by_key(|&row| (place(row), strata[row]));
    }

    let mut parts = vec![Vec::new(); fractions.len()];
    let mut carry = vec![0.0; fractions.len()];
    let same = |a: &usize, b: &usize| strata.is_none_or(|strata| strata[*a] == strata[*b]);
    for stratum in order.chunk_by(same) {
        let sizes = allot(stratum.len(), fractions, &mut carry);
        let mut rest = stratum;
        for (part, size) in parts.iter_mut().zip(sizes) {
            let (taken, left) = rest.split_at(size);
            part.extend_from_slice(taken);
            rest = left;
        }
    }
    for (part, fraction) in parts.iter_mut().zip(fractions) {
        if part.is_empty() {
            return Err(Error::new(
                ErrorKind::Settings,
                format!(
                    "a split into {fractions:?} of {rows} rows leaves a part of {fraction} empty"
                ),
            )
            .help("give more rows or a larger fraction"));
        }
        part.sort_unstable();
    }
    Ok(parts)
}

/// Whole numbers that add up to `rows`, each near its fraction plus what rounding owes it.
fn allot(rows: usize, fractions: &[f64], carry: &mut [f64]) -> Vec<usize> {
    for (owed, fraction) in carry.iter_mut().zip(fractions) {
        *owed += fraction * rows as f64;
    }
    let mut sizes: Vec<usize> = carry.iter().map(|owed| owed.max(0.0).floor() as usize).collect();
    let order = |a: &usize, b: &usize, sizes: &[usize]| {
        let left = |part: usize| carry[part] - sizes[part] as f64;
        left(*b).total_cmp(&left(*a)).then(a.cmp(b))
    };
    // Rounding down leaves a few rows over; debts of earlier strata may ask for a few too many.
    while sizes.iter().sum::<usize>() < rows {
        let most = (0..sizes.len()).min_by(|a, b| order(a, b, &sizes)).unwrap_or(0);
        sizes[most] += 1;
    }
    while sizes.iter().sum::<usize>() > rows {
        let least = (0..sizes.len())
            .filter(|&part| sizes[part] > 0)
            .max_by(|a, b| order(a, b, &sizes))
            .unwrap_or(0);
        sizes[least] -= 1;
    }
    for (owed, size) in carry.iter_mut().zip(&sizes) {
        *owed -= *size as f64;
    }
    sizes
}

/// One part for each value of a column, in ascending order of the values.
///
/// A missing value belongs to no part, so it is an error.
pub fn by_column(column: &Column) -> Result<Vec<(String, Vec<usize>)>> {
    let missing = column.values.missing();
    if missing > 0 {
        return Err(Error::new(
            ErrorKind::Value,
            format!("column `{}` cannot split the rows: {missing} values are missing", column.name),
        )
        .help("fill them in, or split by another column"));
    }
    let mut order: Vec<usize> = (0..column.values.len()).collect();
    let mut parts: Vec<(String, Vec<usize>)> = Vec::new();
    let mut push = |row: usize, value: String| match parts.last_mut() {
        Some((last, rows)) if *last == value => rows.push(row),
        _ => parts.push((value, vec![row])),
    };
    match &column.values {
        Values::Number(numbers) => {
            order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
            order.into_iter().for_each(|row| push(row, numbers[row].to_string()));
        }
        Values::Category(category) => {
            let text = |row: usize| match category.codes[row] {
                MISSING => "",
                code => category.dictionary.text(code),
            };
            order.sort_by_key(|&row| text(row));
            order.into_iter().for_each(|row| push(row, text(row).to_owned()));
        }
        Values::Boolean(truths) => {
            order.sort_by_key(|&row| truths[row]);
            order.into_iter().for_each(|row| push(row, truths[row].unwrap_or(false).to_string()));
        }
    }
    Ok(parts)
}
