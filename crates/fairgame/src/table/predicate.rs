//! Predicates over rows: labels, groups and filters.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

use super::{Column, Kind, MISSING, Table, Values, quantile};
use crate::{Error, ErrorKind, Result};

/// A condition that each row of a table meets or does not.
///
/// A comparison with a missing value is false, `!=` included: a row whose race is missing is
/// neither `race == "Black"` nor `race != "Black"`.
///
/// ```
/// use fairgame::table::{Comparison, Predicate, ReadOptions, Source, read};
/// let csv = "age,job\n25,clerk\n35,\n45,nurse\n";
/// let table = read([Source::stream("people.csv", csv.as_bytes())], &ReadOptions::default())?;
/// let young = Predicate::compare("age", Comparison::Lt, 40.0);
/// let clerk = Predicate::compare("job", Comparison::Eq, "clerk");
/// assert_eq!(young.clone().and(clerk.not()).evaluate(&table)?, [false, true, false]);
/// # Ok::<(), fairgame::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Predicate {
    /// The column's value stands in this relation to the given one.
    Compare {
        /// The column's name.
        column: String,
        /// The relation.
        comparison: Comparison,
        /// What the column is compared with.
        value: Value,
    },
    /// The column's value is one of these.
    In {
        /// The column's name.
        column: String,
        /// The values.
        values: Vec<Value>,
    },
    /// All hold; none is needed for all of none to hold.
    And(Vec<Predicate>),
    /// At least one holds.
    Or(Vec<Predicate>),
    /// It does not hold.
    Not(Box<Predicate>),
}

/// A relation between a column's value and a given one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl Comparison {
    /// Whether the relation holds between values that compare like this.
    pub(crate) fn accepts(self, ordering: Ordering) -> bool {
        match self {
            Comparison::Eq => ordering.is_eq(),
            Comparison::Ne => ordering.is_ne(),
            Comparison::Lt => ordering.is_lt(),
            Comparison::Le => ordering.is_le(),
            Comparison::Gt => ordering.is_gt(),
            Comparison::Ge => ordering.is_ge(),
        }
    }

    fn holds<T: PartialOrd>(self, left: &T, right: &T) -> bool {
        match self {
            Comparison::Eq => left == right,
            Comparison::Ne => left != right,
            Comparison::Lt => left < right,
            Comparison::Le => left <= right,
            Comparison::Gt => left > right,
            Comparison::Ge => left >= right,
        }
    }
}

/// What a column is compared with. Two values are equal if their numbers have the same bits.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// A truth value.
    Boolean(bool),
    /// The quantile of a number column, taken on the training table by [`Predicate::freeze`].
    Quantile {
        /// The number column.
        column: String,
        /// Between 0 and 1; the median is 0.5.
        level: f64,
    },
}

impl Value {
    /// The bits of its number, and its text.
    fn bits_and_text(&self) -> (u64, &str) {
        match self {
            Value::Number(number) => (number.to_bits(), ""),
            Value::Text(text) => (0, text),
            Value::Boolean(truth) => (u64::from(*truth), ""),
            Value::Quantile { column, level } => (level.to_bits(), column),
        }
    }

    /// What a column is that it can be compared with.
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Value::Number(_) | Value::Quantile { .. } => Kind::Number,
            Value::Text(_) => Kind::Category,
            Value::Boolean(_) => Kind::Boolean,
        }
    }

    /// The value, with a quantile replaced by its number on `train`.
    pub(crate) fn freeze(&self, train: &Table) -> Result<Value> {
        let Value::Quantile { column, level } = self else { return Ok(self.clone()) };
        let none = |why: &str| {
            Error::new(ErrorKind::Column, format!("column `{column}` has no quantiles: {why}"))
        };
        let Values::Number(numbers) = &train.column(column)?.values else {
            return Err(none("it is not a number"));
        };
        if !(0.0..=1.0).contains(level) {
            return Err(none(&format!("the level {level} is not between 0 and 1")));
        }
        let mut sorted: Vec<f64> = numbers.iter().copied().filter(|x| !x.is_nan()).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        quantile(&sorted, *level).map(Value::Number).ok_or_else(|| none("every value is missing"))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
            && self.bits_and_text() == other.bits_and_text()
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        self.bits_and_text().hash(state);
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Value::Number(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_owned())
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Value::Boolean(truth)
    }
}

impl Predicate {
    /// The columns it looks at, each once, in the order in which it does.
    pub fn columns(&self) -> Vec<&str> {
        let mut found = Vec::new();
        let mut parts = vec![self];
        while let Some(part) = parts.pop() {
            match part {
                Predicate::Compare { column, .. } | Predicate::In { column, .. } => {
                    if !found.contains(&column.as_str()) {
                        found.push(column.as_str());
                    }
                }
                Predicate::And(all) | Predicate::Or(all) => parts.extend(all.iter().rev()),
                Predicate::Not(part) => parts.push(part),
            }
        }
        found
    }

    /// The columns it looks at, and the kinds that they must be of to be compared with its values.
    pub fn kinds(&self) -> Vec<(&str, Kind)> {
        let mut found = Vec::new();
        let mut parts = vec![self];
        while let Some(part) = parts.pop() {
            match part {
                Predicate::Compare { column, value, .. } => {
                    found.push((column.as_str(), value.kind()))
                }
                Predicate::In { column, values } => {
                    found.extend(values.iter().map(|value| (column.as_str(), value.kind())));
                }
                Predicate::And(all) | Predicate::Or(all) => parts.extend(all),
                Predicate::Not(part) => parts.push(part),
            }
        }
        found
    }

    /// Compares a column with a value.
    pub fn compare(column: &str, comparison: Comparison, value: impl Into<Value>) -> Self {
        Predicate::Compare { column: column.to_owned(), comparison, value: value.into() }
    }

    /// Both this and `other`.
    #[must_use]
    pub fn and(self, other: Predicate) -> Self {
        Predicate::And(vec![self, other])
    }

    /// This or `other` or both.
    #[must_use]
    pub fn or(self, other: Predicate) -> Self {
        Predicate::Or(vec![self, other])
    }

    /// Not this.
    #[must_use]
    #[allow(clippy::should_implement_trait)]
    pub fn not(self) -> Self {
        Predicate::Not(Box::new(self))
    }

    /// The predicate with every quantile replaced by its value on `train`.
    pub fn freeze(&self, train: &Table) -> Result<Predicate> {
        let frozen = |value: &Value| value.freeze(train);
        Ok(match self {
            Predicate::Compare { column, comparison, value } => Predicate::Compare {
                column: column.clone(),
                comparison: *comparison,
                value: frozen(value)?,
            },
            Predicate::In { column, values } => Predicate::In {
                column: column.clone(),
                values: values.iter().map(frozen).collect::<Result<_>>()?,
            },
            Predicate::And(parts) => Predicate::And(freeze_all(parts, train)?),
            Predicate::Or(parts) => Predicate::Or(freeze_all(parts, train)?),
            Predicate::Not(a) => a.freeze(train)?.not(),
        })
    }

    /// Whether each row meets the predicate, whose quantiles must be frozen.
    pub fn evaluate(&self, table: &Table) -> Result<Vec<bool>> {
        match self {
            Predicate::Compare { column, comparison, value } => {
                compare(table.column(column)?, *comparison, value)
            }
            Predicate::In { column, values } => {
                let column = table.column(column)?;
                let mut met = vec![false; table.rows()];
                for value in values {
                    let equal = compare(column, Comparison::Eq, value)?;
                    met.iter_mut().zip(equal).for_each(|(met, equal)| *met |= equal);
                }
                Ok(met)
            }
            Predicate::And(parts) => fold(parts, table, true, |met, part| met & part),
            Predicate::Or(parts) => fold(parts, table, false, |met, part| met | part),
            Predicate::Not(a) => Ok(a.evaluate(table)?.into_iter().map(|met| !met).collect()),
        }
    }
}

fn freeze_all(parts: &[Predicate], train: &Table) -> Result<Vec<Predicate>> {
    parts.iter().map(|part| part.freeze(train)).collect()
}

fn fold(
    parts: &[Predicate],
    table: &Table,
    none: bool,
    join: impl Fn(bool, bool) -> bool,
) -> Result<Vec<bool>> {
    let mut met = vec![none; table.rows()];
    for part in parts {
        let part = part.evaluate(table)?;
        met.iter_mut().zip(part).for_each(|(met, part)| *met = join(*met, part));
    }
    Ok(met)
}

fn compare(column: &Column, comparison: Comparison, value: &Value) -> Result<Vec<bool>> {
    match (&column.values, value) {
        (Values::Number(numbers), Value::Number(value)) => Ok(numbers
            .iter()
            .map(|number| !number.is_nan() && comparison.holds(number, value))
            .collect()),
        (Values::Category(category), Value::Text(text)) => {
            // Texts are compared once each, rows by their code; an equal one is looked up.
            if let Comparison::Eq | Comparison::Ne = comparison {
                let code = category.dictionary.code(text);
                let wanted = comparison == Comparison::Eq;
                let is = |row: u32| row != MISSING && (Some(row) == code) == wanted;
                return Ok(category.codes.iter().map(|&row| is(row)).collect());
            }
            let met: Vec<bool> = category
                .dictionary
                .texts()
                .map(|entry| comparison.holds(&entry, &text.as_str()))
                .collect();
            Ok(category.codes.iter().map(|&code| code != MISSING && met[code as usize]).collect())
        }
        (Values::Boolean(truths), Value::Boolean(value)) => Ok(truths
            .iter()
            .map(|truth| truth.is_some_and(|truth| comparison.holds(&truth, value)))
            .collect()),
        (_, Value::Quantile { column, .. }) => Err(Error::new(
            ErrorKind::Settings,
            format!("the quantile of `{column}` is not frozen on a training table"),
        )),
        (_, value) => Err(mismatch(column, value)),
    }
}

/// The error of comparing a column with a value of another kind.
pub(crate) fn mismatch(column: &Column, value: &Value) -> Error {
    let (kind, value) = (column.values.kind(), shown(value));
    let message =
        format!("column `{}` is a {kind} and cannot be compared with {value}", column.name);
    Error::new(ErrorKind::Column, message).help(match kind {
        Kind::Number => "compare it with a number",
        Kind::Category => "compare it with a text in double quotes",
        Kind::Boolean => "compare it with true or false",
    })
}

fn shown(value: &Value) -> String {
    match value {
        Value::Number(number) => format!("the number {number}"),
        Value::Text(text) => format!("the text \"{text}\""),
        Value::Boolean(truth) => truth.to_string(),
        Value::Quantile { column, level } => format!("quantile({column}, {level})"),
    }
}
