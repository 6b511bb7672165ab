//! What a table holds, in numbers.

use serde::Serialize;

use super::stream_summary::Growing;
use super::{Column, Feed, Head, Kind, MISSING, PLENTY, Table, Values};
use crate::{Result, Threads};

/// How many of the most frequent values a summary keeps.
const TOP: usize = 5;

/// What a table holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// How many rows there are.
    pub rows: usize,
    /// What each column holds, in order.
    pub columns: Vec<ColumnSummary>,
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnSummary {
    /// The column's name.
    pub name: String,
    /// What its values are.
    pub kind: Kind,
    /// How many rows are missing.
    pub missing: usize,
    /// The share of rows that are missing.
    pub missing_share: f64,
    /// How many different values there are, missing not counted.
    pub distinct: usize,
    /// Whether `distinct` is an estimate, and quartiles are those of a sample of rows: of many values in many rows.
    #[serde(skip_serializing_if = "is_exact")]
    pub approximate: bool,
    /// For a number column with at least one value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
    /// For categories and booleans, the most frequent values first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub top: Vec<TopValue>,
}

/// Where the values of a number column lie.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Range {
    /// The least value.
    pub min: f64,
    /// A quarter of the values are at most this.
    pub lower_quartile: f64,
    /// Half of the values are at most this.
    pub median: f64,
    /// Three quarters of the values are at most this.
    pub upper_quartile: f64,
    /// The greatest value.
    pub max: f64,
    /// The average.
    pub mean: f64,
}

/// A value and how often it comes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TopValue {
    /// The value.
    pub value: String,
    /// In how many rows.
    pub count: usize,
    /// In what share of all rows.
    pub share: f64,
}

impl Summary {
    /// What `table` holds. Columns are summarised on `threads`.
    pub fn of(table: &Table, threads: &Threads) -> Self {
        Summary { rows: table.rows(), columns: threads.each(table.columns(), summarise) }
    }

    /// What the rows of a feed hold. A million rows or more are read in chunks, and columns of many values are then
    /// summarised approximately. `told` hears how many rows were read.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub fn stream(feed: &Feed<'_>, threads: &Threads, told: &mut dyn FnMut(u64)) -> Result<Self> {
        match feed.head(PLENTY)? {
            Head::Whole(Some(table)) => Ok(Summary::of(&table, threads)),
            _ => {
                let (mut growing, mut rows) = (Growing::default(), 0);
                feed.each(1 << 16, |chunk| {
                    rows += chunk.rows() as u64;
                    told(rows);
                    growing.add(&chunk)
                })?;
                Ok(growing.finish())
            }
        }
    }
}

fn is_exact(approximate: &bool) -> bool {
    !approximate
}

fn summarise(column: &Column) -> ColumnSummary {
    let rows = column.values.len();
    let missing = column.values.missing();
    let (distinct, range, top) = match &column.values {
        Values::Number(numbers) => {
            let (distinct, range) = numeric(numbers);
            (distinct, range, Vec::new())
        }
        Values::Category(category) => {
            let mut counts = vec![0_usize; category.dictionary.len()];
            for &code in category.codes.iter().filter(|&&code| code != MISSING) {
                counts[code as usize] += 1;
            }
            let (distinct, top) = top(category.dictionary.texts().zip(counts), rows);
            (distinct, None, top)
        }
        Values::Boolean(truths) => {
            let count = |wanted| truths.iter().filter(|&&truth| truth == Some(wanted)).count();
            let (distinct, top) = top([("false", count(false)), ("true", count(true))], rows);
            (distinct, None, top)
        }
    };
    ColumnSummary {
        name: column.name.clone(),
        kind: column.values.kind(),
        missing,
        missing_share: missing as f64 / rows.max(1) as f64,
        distinct,
        approximate: false,
        range,
        top,
    }
}

fn numeric(numbers: &[f64]) -> (usize, Option<Range>) {
    let mut sorted: Vec<f64> = numbers.iter().copied().filter(|number| !number.is_nan()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let (Some(&min), Some(&max)) = (sorted.first(), sorted.last()) else { return (0, None) };
    let at = |level| quantile(&sorted, level).unwrap_or(min);
    let range = Range {
        min,
        lower_quartile: at(0.25),
        median: at(0.5),
        upper_quartile: at(0.75),
        max,
        // Divided before it is added, so that large values cannot overflow.
        mean: sorted.iter().map(|number| number / sorted.len() as f64).sum(),
    };
    (sorted.chunk_by(|a, b| a == b).count(), Some(range))
}

pub(super) fn top<'a>(
    counts: impl IntoIterator<Item = (&'a str, usize)>,
    rows: usize,
) -> (usize, Vec<TopValue>) {
    let mut counts: Vec<_> = counts.into_iter().filter(|(_, count)| *count > 0).collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let distinct = counts.len();
    counts.truncate(TOP);
    let share = |count| count as f64 / rows.max(1) as f64;
    let top = counts.into_iter().map(|(value, count)| TopValue {
        value: value.to_owned(),
        count,
        share: share(count),
    });
    (distinct, top.collect())
}

/// The quantile of ascending numbers at a level in 0..=1, linear between neighbours (Hyndman and
/// Fan's type 7, the default of NumPy and R); `None` if there are no numbers.
///
/// ```
/// use fairgame::table::quantile;
/// assert_eq!(quantile(&[1.0, 2.0, 3.0, 10.0], 0.5), Some(2.5));
/// ```
pub fn quantile(sorted: &[f64], level: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = level.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    let weight = place - below as f64;
    let (low, high) = (sorted[below], sorted[above]);
    let step = high - low;
    // Between equals lies nothing but themselves, to the bit: ties must not fall beside a quantile.
    let value =
        if step.is_finite() { low + step * weight } else { low * (1.0 - weight) + high * weight };
    Some(value.clamp(low, high))
}
