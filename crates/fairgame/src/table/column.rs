//! A named column and its values.

use std::str::FromStr;
use std::sync::Arc;

use super::Dictionary;
use crate::kind::Kind;
use crate::{Error, ErrorKind, Result};

impl FromStr for Kind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "number" => Ok(Kind::Number),
            "category" => Ok(Kind::Category),
            "boolean" => Ok(Kind::Boolean),
            _ => Err(Error::new(ErrorKind::Settings, format!("`{text}` is not a kind of column"))
                .help("the kinds are `number`, `category` and `boolean`; dates are categories")),
        }
    }
}

/// A named column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The name, as in the file's header.
    pub name: String,
    /// The values, one a row.
    pub values: Values,
}

/// The values of a column, one a row.
#[derive(Debug, Clone)]
pub enum Values {
    /// Finite numbers; NaN is missing.
    Number(Vec<f64>),
    /// Codes into a dictionary; [`MISSING`] is missing.
    Category(Category),
    /// Truth values; `None` is missing.
    Boolean(Vec<Option<bool>>),
}

/// The code of a missing value in a [`Category`].
pub const MISSING: u32 = u32::MAX;

/// Codes into a dictionary of texts, which tables cut from one another share.
#[derive(Debug, Clone)]
pub struct Category {
    /// One code a row, below the dictionary's length, or [`MISSING`].
    pub codes: Vec<u32>,
    /// The text of each code.
    pub dictionary: Arc<Dictionary>,
}

impl Category {
    /// The category of these texts.
    pub fn from_texts<'a>(texts: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        let mut dictionary = Dictionary::default();
        let codes = texts
            .into_iter()
            .map(|text| text.map_or(MISSING, |text| dictionary.intern(text)))
            .collect();
        Category { codes, dictionary: Arc::new(dictionary) }
    }

    /// The text of each row.
    pub fn texts(&self) -> impl Iterator<Item = Option<&str>> {
        self.codes.iter().map(|&code| (code != MISSING).then(|| self.dictionary.text(code)))
    }
}

impl Values {
    /// So many missing values of a kind.
    pub(super) fn missing_of(kind: Kind, rows: usize) -> Values {
        match kind {
            Kind::Number => Values::Number(vec![f64::NAN; rows]),
            Kind::Category => Values::Category(Category::from_texts((0..rows).map(|_| None))),
            Kind::Boolean => Values::Boolean(vec![None; rows]),
        }
    }

    /// Values of one kind, one after the other.
    pub(super) fn concat<'a>(all: impl Iterator<Item = &'a Values>) -> Result<Values> {
        let (mut numbers, mut truths) = (Vec::new(), Vec::new());
        let (mut codes, mut dictionary) = (Vec::new(), Dictionary::default());
        for values in all {
            match values {
                Values::Number(more) => numbers.extend_from_slice(more),
                Values::Boolean(more) => truths.extend_from_slice(more),
                Values::Category(more) => {
                    // Only texts that rows have, as they first come.
                    let mut place = vec![None; more.dictionary.len()];
                    codes.extend(more.codes.iter().map(|&code| match code {
                        MISSING => MISSING,
                        code => {
                            *place[code as usize].get_or_insert_with(|| {
                                dictionary.intern(more.dictionary.text(code))
                            })
                        }
                    }));
                }
            }
        }
        match [!numbers.is_empty(), !truths.is_empty(), !codes.is_empty()] {
            [true, false, false] => Ok(Values::Number(numbers)),
            [false, true, false] => Ok(Values::Boolean(truths)),
            [false, false, _] => {
                Ok(Values::Category(Category { codes, dictionary: Arc::new(dictionary) }))
            }
            _ => {
                Err(Error::new(ErrorKind::Column, "a column is of different kinds in parts of it"))
            }
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        match self {
            Values::Number(numbers) => numbers.len(),
            Values::Category(category) => category.codes.len(),
            Values::Boolean(truths) => truths.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the values are.
    pub fn kind(&self) -> Kind {
        match self {
            Values::Number(_) => Kind::Number,
            Values::Category(_) => Kind::Category,
            Values::Boolean(_) => Kind::Boolean,
        }
    }

    /// Whether a row has no value.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn is_missing(&self, row: usize) -> bool {
        match self {
            Values::Number(numbers) => numbers[row].is_nan(),
            Values::Category(category) => category.codes[row] == MISSING,
            Values::Boolean(truths) => truths[row].is_none(),
        }
    }

    /// How many rows are missing.
    pub fn missing(&self) -> usize {
        match self {
            Values::Number(numbers) => numbers.iter().filter(|number| number.is_nan()).count(),
            Values::Category(category) => {
                category.codes.iter().filter(|&&code| code == MISSING).count()
            }
            Values::Boolean(truths) => truths.iter().filter(|truth| truth.is_none()).count(),
        }
    }
}

/// Equal values row by row: a missing value equals a missing value, and categories compare by
/// text, whatever the order of their dictionaries.
impl PartialEq for Values {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Values::Number(a), Values::Number(b)) => {
                a.len() == b.len()
                    && a.iter().zip(b).all(|(a, b)| a == b || (a.is_nan() && b.is_nan()))
            }
            (Values::Category(a), Values::Category(b)) => {
                a.codes.len() == b.codes.len() && a.texts().eq(b.texts())
            }
            (Values::Boolean(a), Values::Boolean(b)) => a == b,
            _ => false,
        }
    }
}

impl Column {
    /// A column of that name.
    pub fn new(name: impl Into<String>, values: Values) -> Self {
        Column { name: name.into(), values }
    }

    /// These rows of the column, in this order.
    ///
    /// # Panics
    /// If a row is beyond the column's end.
    #[must_use]
    pub fn take(&self, rows: &[usize]) -> Column {
        let values = match &self.values {
            Values::Number(numbers) => {
                Values::Number(rows.iter().map(|&row| numbers[row]).collect())
            }
            Values::Category(category) => Values::Category(Category {
                codes: rows.iter().map(|&row| category.codes[row]).collect(),
                dictionary: Arc::clone(&category.dictionary),
            }),
            Values::Boolean(truths) => {
                Values::Boolean(rows.iter().map(|&row| truths[row]).collect())
            }
        };
        Column { name: self.name.clone(), values }
    }
}

/// Whether a number is a probability. A sum of these may be beyond 0 or 1 by rounding: 0.1 + 0.2 + 0.7 is
/// 1.0000000000000002 to some.
pub(crate) fn is_probability(number: f64) -> bool {
    const SLACK: f64 = 1e-9;
    (-SLACK..=1.0 + SLACK).contains(&number)
}
