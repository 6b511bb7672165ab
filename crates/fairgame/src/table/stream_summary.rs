//! A summary of rows that come in chunks, in bounded memory.
//!
//! The values of a column are counted as long as there are few different ones. A column of more values has its quartiles
//! from a sample of rows, and the number of its different values is an estimate: of n values whose hashes are uniform, the
//! k-th smallest hash is near k/n of the largest possible. With k = 4,096 the estimate is off by 1.6 % (one standard error).

use std::collections::{BTreeSet, HashMap};

use super::summary::{ColumnSummary, Range, Summary, quantile, top};
use super::{Column, MISSING, Table, Values};
use crate::random::mix;
use crate::{Error, ErrorKind, Result};

/// Most different values of a column that are counted.
const COUNTED: usize = 1 << 18;

/// Rows of the sample that quartiles are taken from.
const SAMPLED: usize = 1 << 16;

/// The smallest hashes that are kept to estimate how many different values there are.
const HASHES: usize = 1 << 12;

/// A summary that grows with the rows.
#[derive(Default)]
pub(super) struct Growing {
    rows: u64,
    columns: Vec<GrowingColumn>,
}

struct GrowingColumn {
    name: String,
    missing: u64,
    values: Held,
}

enum Held {
    Numbers(Box<Numbers>),
    Texts { counts: HashMap<String, u64>, more: Option<Hashes> },
    Truths([u64; 2]),
}

/// Numbers of a column.
struct Numbers {
    /// How often each comes, by its bits, as long as there are few.
    counts: HashMap<u64, u64>,
    more: Option<Hashes>,
    /// Numbers of some rows, with the hash of the row's number: those of the smallest hashes.
    sample: Vec<(u64, f64)>,
    sum: f64,
    count: u64,
    min: f64,
    max: f64,
}

/// The smallest hashes of values, once there are too many values to count.
#[derive(Default)]
struct Hashes(BTreeSet<u64>);

impl Hashes {
    fn add(&mut self, hash: u64) {
        if self.0.len() < HASHES || self.0.last().is_some_and(|last| hash < *last) {
            self.0.insert(hash);
            if self.0.len() > HASHES {
                self.0.pop_last();
            }
        }
    }

    /// About how many different values there are.
    fn distinct(&self) -> usize {
        match self.0.last() {
            Some(&last) if self.0.len() == HASHES => {
                ((HASHES - 1) as f64 / (last as f64 / 2.0_f64.powi(64))).round() as usize
            }
            _ => self.0.len(),
        }
    }
}

/// A hash of a text, the same in every run.
fn hash_of(text: &str) -> u64 {
    text.bytes().fold(mix(text.len() as u64), |hash, byte| mix(hash ^ u64::from(byte)))
}

impl Numbers {
    fn add(&mut self, row: u64, number: f64) {
        self.count += 1;
        self.sum += number;
        (self.min, self.max) = (self.min.min(number), self.max.max(number));
        let bits = number.to_bits();
        match &mut self.more {
            Some(hashes) => hashes.add(mix(mix(bits))),
            None => {
                *self.counts.entry(bits).or_default() += 1;
                if self.counts.len() > COUNTED {
                    let mut hashes = Hashes::default();
                    self.counts.drain().for_each(|(bits, _)| hashes.add(mix(mix(bits))));
                    self.counts.shrink_to_fit();
                    self.more = Some(hashes);
                }
            }
        }
        self.sample.push((mix(row ^ 0x7375_6d6d), number));
        if self.sample.len() > 2 * SAMPLED {
            self.prune();
        }
    }

    fn prune(&mut self) {
        if self.sample.len() > SAMPLED {
            self.sample.select_nth_unstable_by_key(SAMPLED, |one| one.0);
            self.sample.truncate(SAMPLED);
        }
    }

    fn finish(mut self) -> (usize, Option<Range>, bool) {
        if self.count == 0 {
            return (0, None, false);
        }
        let (distinct, sorted): (usize, Vec<f64>) = match &self.more {
            Some(hashes) => {
                let distinct = hashes.distinct();
                self.prune();
                let mut sorted: Vec<f64> = self.sample.iter().map(|one| one.1).collect();
                sorted.sort_unstable_by(f64::total_cmp);
                (distinct, sorted)
            }
            None => (self.counts.len(), Vec::new()),
        };
        let at = |level: f64| match self.more {
            Some(_) => quantile(&sorted, level).unwrap_or(self.min),
            None => counted_quantile(&self.counts, self.count, level),
        };
        let range = Range {
            min: self.min,
            lower_quartile: at(0.25),
            median: at(0.5),
            upper_quartile: at(0.75),
            max: self.max,
            mean: self.sum / self.count as f64,
        };
        (distinct, Some(range), self.more.is_some())
    }
}

/// The quantile of numbers that come so often, as [`quantile`] has it.
fn counted_quantile(counts: &HashMap<u64, u64>, count: u64, level: f64) -> f64 {
    let mut sorted: Vec<(f64, u64)> =
        counts.iter().map(|(bits, count)| (f64::from_bits(*bits), *count)).collect();
    sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let place = level * (count - 1) as f64;
    let at = |rank: u64| {
        let mut before = 0;
        let found = sorted.iter().find(|(_, count)| {
            before += count;
            rank < before
        });
        found.map_or(f64::NAN, |one| one.0)
    };
    let (low, high) = (at(place.floor() as u64), at((place.floor() as u64 + 1).min(count - 1)));
    quantile(&[low, high], place - place.floor()).unwrap_or(low)
}

impl Growing {
    /// Adds the rows of a table.
    ///
    /// # Errors
    /// If a column is of another kind than before.
    pub(super) fn add(&mut self, table: &Table) -> Result<()> {
        if self.columns.is_empty() {
            self.columns = table.columns().iter().map(GrowingColumn::like).collect();
        }
        for column in &mut self.columns {
            column.add(self.rows, table.column(&column.name)?)?;
        }
        self.rows += table.rows() as u64;
        Ok(())
    }

    /// What the rows hold.
    pub(super) fn finish(self) -> Summary {
        let rows = self.rows as usize;
        Summary { rows, columns: self.columns.into_iter().map(|one| one.finish(rows)).collect() }
    }
}

impl GrowingColumn {
    fn like(column: &Column) -> Self {
        let values = match &column.values {
            Values::Number(_) => Held::Numbers(Box::new(Numbers {
                counts: HashMap::new(),
                more: None,
                sample: Vec::new(),
                sum: 0.0,
                count: 0,
                min: f64::INFINITY,
                max: f64::NEG_INFINITY,
            })),
            Values::Category(_) => Held::Texts { counts: HashMap::new(), more: None },
            Values::Boolean(_) => Held::Truths([0; 2]),
        };
        GrowingColumn { name: column.name.clone(), missing: 0, values }
    }

    fn add(&mut self, first: u64, column: &Column) -> Result<()> {
        self.missing += column.values.missing() as u64;
        match (&mut self.values, &column.values) {
            (Held::Numbers(own), Values::Number(numbers)) => {
                let rows = (first..).zip(numbers).filter(|(_, number)| !number.is_nan());
                rows.for_each(|(row, &number)| own.add(row, number));
            }
            (Held::Truths(own), Values::Boolean(truths)) => {
                truths.iter().flatten().for_each(|&truth| own[usize::from(truth)] += 1);
            }
            (Held::Texts { counts, more }, Values::Category(category)) => {
                let mut here = vec![0_u64; category.dictionary.len()];
                for &code in category.codes.iter().filter(|&&code| code != MISSING) {
                    here[code as usize] += 1;
                }
                for (text, count) in category.dictionary.texts().zip(here) {
                    if count == 0 {
                        continue;
                    }
                    if let Some(hashes) = more {
                        hashes.add(hash_of(text));
                    }
                    match counts.get_mut(text) {
                        Some(sum) => *sum += count,
                        None if more.is_none() => drop(counts.insert(text.to_owned(), count)),
                        None => {}
                    }
                }
                if more.is_none() && counts.len() > COUNTED {
                    let mut hashes = Hashes::default();
                    counts.keys().for_each(|text| hashes.add(hash_of(text)));
                    *more = Some(hashes);
                }
            }
            _ => {
                let message = format!("column `{}` is of another kind than before", self.name);
                return Err(Error::new(ErrorKind::Column, message));
            }
        }
        Ok(())
    }

    fn finish(self, rows: usize) -> ColumnSummary {
        let kind = match &self.values {
            Held::Numbers(_) => super::Kind::Number,
            Held::Texts { .. } => super::Kind::Category,
            Held::Truths(_) => super::Kind::Boolean,
        };
        let (distinct, range, top, approximate) = match self.values {
            Held::Numbers(own) => {
                let (distinct, range, approximate) = own.finish();
                (distinct, range, Vec::new(), approximate)
            }
            Held::Texts { counts, more } => {
                let all = counts.iter().map(|(text, count)| (text.as_str(), *count as usize));
                let (distinct, top) = top(all, rows);
                let distinct = more.as_ref().map_or(distinct, Hashes::distinct);
                (distinct, None, top, more.is_some())
            }
            Held::Truths([no, yes]) => {
                let (distinct, top) = top([("false", no as usize), ("true", yes as usize)], rows);
                (distinct, None, top, false)
            }
        };
        ColumnSummary {
            name: self.name,
            kind,
            missing: self.missing as usize,
            missing_share: self.missing as f64 / rows.max(1) as f64,
            distinct,
            approximate,
            range,
            top,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Threads;
    use crate::table::Category;

    fn table(rows: usize) -> Table {
        let draw = |row: usize| mix(row as u64);
        let few =
            (0..rows).map(|row| if row % 9 == 0 { f64::NAN } else { (draw(row) % 50) as f64 });
        let texts: Vec<String> = (0..rows).map(|row| format!("t{}", draw(row + 1) % 30)).collect();
        let texts = texts.iter().map(|text| Some(text.as_str()));
        let truths = (0..rows).map(|row| (row % 5 > 0).then_some(row % 3 == 0)).collect();
        let many = (0..rows).map(|row| (draw(row + 7) >> 20) as f64).collect();
        Table::new(vec![
            Column::new("few", Values::Number(few.collect())),
            Column::new("texts", Values::Category(Category::from_texts(texts))),
            Column::new("truths", Values::Boolean(truths)),
            Column::new("many", Values::Number(many)),
        ])
        .unwrap()
    }

    fn grown(all: &Table, chunk: usize) -> Summary {
        let mut growing = Growing::default();
        for first in (0..all.rows()).step_by(chunk) {
            let rows: Vec<usize> = (first..all.rows().min(first + chunk)).collect();
            growing.add(&all.take(&rows)).unwrap();
        }
        growing.finish()
    }

    /// With few values it is the summary of the whole table; the mean is added up in another order.
    #[test]
    fn few_values_are_counted() {
        let all = table(5_000);
        let (whole, parts) = (Summary::of(&all, &Threads::default()), grown(&all, 777));
        for (mut own, other) in parts.columns.into_iter().zip(whole.columns) {
            if let (Some(own), Some(other)) = (&mut own.range, &other.range) {
                assert!((own.mean - other.mean).abs() < 1e-9 * other.mean.abs());
                own.mean = other.mean;
            }
            assert_eq!(own, other);
        }
    }

    /// With many values quartiles and counts are near, and do not depend on chunks.
    #[test]
    fn many_values_are_estimated() {
        let all = table(COUNTED + 100_000);
        let (whole, parts) = (Summary::of(&all, &Threads::default()), grown(&all, 65_536));
        assert_eq!(parts, grown(&all, 10_001));
        let (own, other) = (&parts.columns[3], &whole.columns[3]);
        assert!(own.approximate && !other.approximate);
        assert!((own.distinct as f64 / other.distinct as f64 - 1.0).abs() < 0.06);
        let (own, other) = (own.range.unwrap(), other.range.unwrap());
        assert_eq!((own.min, own.max), (other.min, other.max));
        let spread = other.max - other.min;
        assert!((own.median - other.median).abs() < 0.01 * spread);
        assert!((own.lower_quartile - other.lower_quartile).abs() < 0.01 * spread);
    }
}
