//! Rows that a problem says nothing of, or that it may take for others, found as rows come in parts.
//!
//! An `each race` becomes one constraint for each race that training had. A row of a race that it had not, or of none, is
//! in none of these groups: whatever is decided of it, every verdict stays. That is worth telling. A column counts where
//! constraints name at least two of its values; where they name one, the others are meant to be left out.
//!
//! A label that training had not, such as `>50K.` for `>50K`, is not the positive one, whatever it means. Labels are
//! compared with those of the training rows, which a bound problem remembers.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use serde::Serialize;

use super::Bound;
use crate::table::{Comparison, MISSING, Predicate, Table, Value, Values};
use crate::{Error, ErrorKind, Result, shown};

/// A label that has more values than this is not remembered: most of its values tell nothing of the others.
const MOST_LABELS: usize = 64;

/// So many values are kept of those that are not known.
const MOST_FOUND: usize = 50;

/// Rows that a problem says nothing of, counted as they come.
#[derive(Debug, Clone)]
pub struct Unnamed {
    groups: Vec<Column>,
    label: Option<Label>,
    rows: u64,
}

#[derive(Debug, Clone)]
struct Label {
    predicate: Predicate,
    condition: String,
    /// Its column, where the values that it had in training are known.
    column: Option<Column>,
    positive: u64,
}

#[derive(Debug, Clone)]
struct Column {
    name: String,
    named: BTreeSet<String>,
    /// Whether the values are numbers.
    numbers: bool,
    /// Other values, each with the number of its rows.
    found: BTreeMap<String, u64>,
    /// How many rows have any of them.
    rows: u64,
    /// How many rows have none.
    missing: u64,
}

impl Bound {
    /// Nothing found yet, to look for groups only.
    pub fn unnamed(&self) -> Unnamed {
        let mut named = BTreeMap::new();
        // The label comes first, and is no group.
        for predicate in self.predicates().iter().skip(1) {
            collect(predicate, &mut named);
        }
        let groups = named.into_iter().filter(|(_, named)| named.len() > 1);
        let groups = groups.map(|(name, named)| Column::new(name, named)).collect();
        Unnamed { groups, label: None, rows: 0 }
    }

    /// Nothing found yet, to look for groups and labels.
    pub fn unnamed_or_unlabelled(&self) -> Unnamed {
        let predicate = self.label().clone();
        let column = match (predicate.columns().as_slice(), &self.label_values[..]) {
            (_, []) => None,
            ([name], values) => {
                let mut named = BTreeMap::new();
                collect(&predicate, &mut named);
                let numbers = named.values().flatten().all(|(_, number)| *number);
                let named = values.iter().map(|value| (value.clone(), numbers)).collect();
                Some(Column::new(name, named))
            }
            _ => None,
        };
        let condition = self.label_text.clone();
        let label = Some(Label { predicate, condition, column, positive: 0 });
        Unnamed { label, ..self.unnamed() }
    }
}

/// The values that a label has in a table, where it asks for some of one column by name and there are few.
pub(super) fn label_values(label: &Predicate, table: &Table) -> Vec<String> {
    let mut named = BTreeMap::new();
    collect(label, &mut named);
    let columns = label.columns();
    let ([name], true) = (columns.as_slice(), named.len() == 1) else { return Vec::new() };
    let Some(column) = table.find(name) else { return Vec::new() };
    let mut values = BTreeSet::new();
    each_value(&column.values, |value, _| {
        if values.len() <= MOST_LABELS {
            values.extend(value.map(str::to_owned));
        }
    });
    if values.len() > MOST_LABELS { Vec::new() } else { values.into_iter().collect() }
}

/// The values that predicates name, as text, and whether each is a number.
type Named<'a> = BTreeMap<&'a str, BTreeSet<(String, bool)>>;

fn collect<'a>(predicate: &'a Predicate, named: &mut Named<'a>) {
    let mut add = |column: &'a str, value: &Value| {
        let value = match value {
            Value::Text(text) => (text.clone(), false),
            Value::Number(number) => (written(*number), true),
            _ => return,
        };
        named.entry(column).or_default().insert(value);
    };
    match predicate {
        Predicate::Compare { column, comparison: Comparison::Eq | Comparison::Ne, value } => {
            add(column, value);
        }
        Predicate::Compare { .. } => {}
        Predicate::In { column, values } => values.iter().for_each(|value| add(column, value)),
        Predicate::And(all) | Predicate::Or(all) => {
            all.iter().for_each(|one| collect(one, named));
        }
        Predicate::Not(one) => collect(one, named),
    }
}

/// A number as text: one for each value.
fn written(number: f64) -> String {
    (number + 0.0).to_string()
}

/// Each value of a column that is a text or a number, with the number of its rows; `None` is missing.
fn each_value(values: &Values, mut see: impl FnMut(Option<&str>, u64)) {
    let missing = match values {
        Values::Category(category) => {
            let mut counts = vec![0_u64; category.dictionary.len()];
            let mut missing = 0;
            for &code in &category.codes {
                match code {
                    MISSING => missing += 1,
                    code => counts[code as usize] += 1,
                }
            }
            for (text, count) in category.dictionary.texts().zip(counts) {
                if count > 0 {
                    see(Some(text), count);
                }
            }
            missing
        }
        Values::Number(numbers) => {
            let mut counts: HashMap<u64, u64> = HashMap::new();
            let mut missing = 0;
            for &number in numbers {
                match number.is_nan() {
                    true => missing += 1,
                    false => *counts.entry((number + 0.0).to_bits()).or_default() += 1,
                }
            }
            for (bits, count) in counts {
                see(Some(&written(f64::from_bits(bits))), count);
            }
            missing
        }
        Values::Boolean(truths) => truths.iter().filter(|truth| truth.is_none()).count() as u64,
    };
    if missing > 0 {
        see(None, missing);
    }
}

impl Column {
    fn new(name: &str, named: BTreeSet<(String, bool)>) -> Self {
        let numbers = named.iter().all(|(_, number)| *number);
        let named = named.into_iter().map(|(value, _)| value).collect();
        let (name, found) = (name.to_owned(), BTreeMap::new());
        Column { name, named, numbers, found, rows: 0, missing: 0 }
    }

    fn add(&mut self, table: &Table) {
        let Some(column) = table.find(&self.name) else { return };
        each_value(&column.values, |value, count| {
            let Some(value) = value else {
                self.missing += count;
                return;
            };
            // A column that nobody needs may have been read as texts.
            let number = value.parse::<f64>().ok().filter(|_| self.numbers).map(written);
            if self.named.contains(number.as_deref().unwrap_or(value)) {
                return;
            }
            self.rows += count;
            if self.found.len() < MOST_FOUND || self.found.contains_key(value) {
                *self.found.entry(value.to_owned()).or_default() += count;
            }
        });
    }
}

impl Unnamed {
    /// The columns of groups that are looked at.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().map(|column| column.name.as_str())
    }

    /// Adds rows of which others have counted how many miss each of the columns of groups.
    pub(crate) fn add_missing(&mut self, rows: u64, missing: &[u64]) {
        self.rows += rows;
        self.groups.iter_mut().zip(missing).for_each(|(column, more)| column.missing += more);
    }

    /// Adds rows; a column that they do not have is passed over.
    ///
    /// # Errors
    /// If the label cannot be found of the rows.
    pub fn add(&mut self, table: &Table) -> Result<()> {
        self.rows += table.rows() as u64;
        self.groups.iter_mut().for_each(|column| column.add(table));
        if let Some(label) = &mut self.label {
            let positive = label.predicate.evaluate(table)?;
            label.positive += positive.iter().filter(|positive| **positive).count() as u64;
            label.column.iter_mut().for_each(|column| column.add(table));
        }
        Ok(())
    }

    /// What to tell of the rows.
    ///
    /// # Errors
    /// If no row is positive, and rows have labels that training had not: these mean something else there.
    pub fn finish(self) -> Result<Vec<RowNotice>> {
        let mut notices = Vec::new();
        if let Some(Label { condition, column, positive, .. }) = self.label {
            let unknown = column.filter(|column| column.rows > 0);
            match unknown {
                Some(Column { name, found, rows, .. }) => {
                    let notice = RowNotice::Label { column: name, rows, values: found, condition };
                    if positive == 0 {
                        return Err(Error::new(ErrorKind::Value, notice.to_string()).help(
                            "no row is positive: write the labels as they were in training",
                        ));
                    }
                    notices.push(notice);
                }
                None if positive == 0 && self.rows > 0 => {
                    notices.push(RowNotice::NonePositive { condition });
                }
                None => {}
            }
        }
        for Column { name, found, rows, missing, .. } in self.groups {
            if rows > 0 {
                notices.push(RowNotice::Group { column: name.clone(), rows, values: found });
            }
            if missing > 0 {
                notices.push(RowNotice::NoGroup { column: name, rows: missing, of: self.rows });
            }
        }
        Ok(notices)
    }
}

/// What to tell of rows that a problem says nothing of, or takes for others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "notice")]
#[non_exhaustive]
pub enum RowNotice {
    /// Values of a group that no constraint names.
    Group {
        /// The column.
        column: String,
        /// How many rows have one.
        rows: u64,
        /// Some of the values, each with the number of its rows.
        values: BTreeMap<String, u64>,
    },
    /// Rows without a group.
    NoGroup {
        /// The column.
        column: String,
        /// How many.
        rows: u64,
        /// Of how many.
        of: u64,
    },
    /// Labels that training had not.
    Label {
        /// The column.
        column: String,
        /// How many rows have one.
        rows: u64,
        /// Some of the labels, each with the number of its rows.
        values: BTreeMap<String, u64>,
        /// What makes a row positive.
        condition: String,
    },
    /// No row is positive.
    NonePositive {
        /// What makes a row positive.
        condition: String,
    },
}

impl fmt::Display for RowNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 5;
        let some = |values: &BTreeMap<String, u64>| {
            let texts = values.keys().take(SHOWN).map(|text| format!("`{}`", shown(text)));
            let more = if values.len() > SHOWN { ", …" } else { "" };
            texts.collect::<Vec<_>>().join(", ") + more
        };
        let have = |rows: u64| if rows == 1 { "row has" } else { "rows have" };
        let them = |rows: u64| if rows == 1 { "it" } else { "them" };
        match self {
            RowNotice::Group { column, rows, values } => write!(
                f,
                "{rows} {} a value of `{}` that no constraint names ({}): nothing is enforced for {}",
                have(*rows),
                shown(column),
                some(values),
                them(*rows)
            ),
            RowNotice::NoGroup { column, rows, of } => write!(
                f,
                "{rows} of {of} rows ({:.1} %) have no value of `{}`, so that they are in none of its groups: nothing is \
                 enforced for {}",
                100.0 * *rows as f64 / (*of).max(1) as f64,
                shown(column),
                them(*rows)
            ),
            RowNotice::Label { column, rows, values, condition } => write!(
                f,
                "{rows} {} a value of the label's column `{}` that training did not have ({}): a row is positive only \
                 where `{}`",
                have(*rows),
                shown(column),
                some(values),
                shown(condition)
            ),
            RowNotice::NonePositive { condition } => {
                write!(f, "no row is positive: none has `{}`", shown(condition))
            }
        }
    }
}
