//! What predicates ask of each column, as a code of its value.
//!
//! Predicates compare a column with a few values v_1 < … < v_m, its marks. A value x that is not missing
//! is told apart from others by its place among them alone: below v_1, equal to v_1, between v_1 and v_2,
//! and so on. So its code is
//!
//! ```text
//! 0 if x is missing,   2k + 2 if x = v_{k+1},   2k + 1 if k marks are below x and none is equal to it
//! ```
//!
//! Texts that are only asked to be equal or not have no places between marks: code 1 is any other text,
//! and k + 2 is v_{k+1}. A truth value has the code 1 if it is false and 2 if it is true. The code is a
//! function of the value and the marks alone, whatever table the value is in.

use std::collections::BTreeMap;

use crate::Result;
use crate::table::{Column, Comparison, Kind, MISSING, Predicate, Table, Value, Values, mismatch};

/// What predicates compare one column with.
#[derive(Debug, Clone)]
pub(super) struct Marks {
    column: String,
    /// One of the values asked for, for messages.
    example: Value,
    cuts: Cuts,
}

#[derive(Debug, Clone)]
enum Cuts {
    /// Ascending.
    Numbers(Vec<f64>),
    /// Ascending; `ordered` if one of them is compared by order.
    Texts {
        texts: Vec<String>,
        ordered: bool,
    },
    Truths,
}

/// The values that predicates ask for, each with whether it is compared by order.
type Asked<'a> = BTreeMap<(&'a str, Rank), Vec<(&'a Value, bool)>>;

/// Kinds in an order.
type Rank = u8;

fn rank(kind: Kind) -> Rank {
    match kind {
        Kind::Number => 0,
        Kind::Category => 1,
        Kind::Boolean => 2,
    }
}

fn ask<'a>(predicate: &'a Predicate, asked: &mut Asked<'a>) {
    let mut add = |column: &'a str, value: &'a Value, ordered: bool| {
        asked.entry((column, rank(value.kind()))).or_default().push((value, ordered));
    };
    match predicate {
        Predicate::Compare { column, comparison, value } => {
            add(column, value, !matches!(comparison, Comparison::Eq | Comparison::Ne));
        }
        Predicate::In { column, values } => values.iter().for_each(|one| add(column, one, false)),
        Predicate::And(parts) | Predicate::Or(parts) => {
            parts.iter().for_each(|part| ask(part, asked));
        }
        Predicate::Not(part) => ask(part, asked),
    }
}

impl Marks {
    /// The marks of each column that the predicates mention, in the order of [`Marks::key`].
    pub(super) fn of(predicates: &[Predicate]) -> Vec<Marks> {
        let mut asked = Asked::new();
        predicates.iter().for_each(|predicate| ask(predicate, &mut asked));
        let marks = asked.into_iter().map(|((column, _), values)| Marks {
            column: column.to_owned(),
            example: values[0].0.clone(),
            cuts: Cuts::new(&values),
        });
        marks.collect()
    }

    /// The column, and the kind of value that it is compared with.
    pub(super) fn key(&self) -> (&str, Rank) {
        (&self.column, rank(self.example.kind()))
    }

    /// The marks of the column of a comparison with such a value.
    pub(super) fn find(all: &[Marks], column: &str, value: &Value) -> Option<usize> {
        all.binary_search_by(|marks| marks.key().cmp(&(column, rank(value.kind())))).ok()
    }

    /// How many codes there are.
    pub(super) fn codes(&self) -> usize {
        match &self.cuts {
            Cuts::Numbers(cuts) => 2 * cuts.len() + 2,
            Cuts::Texts { texts, ordered: true } => 2 * texts.len() + 2,
            Cuts::Texts { texts, ordered: false } => texts.len() + 2,
            Cuts::Truths => 3,
        }
    }

    /// The column of a table, if it is there and of the kind that it is compared with.
    pub(super) fn column<'a>(&self, table: &'a Table) -> Result<&'a Column> {
        let column = table.column(&self.column)?;
        if column.values.kind() == self.example.kind() {
            return Ok(column);
        }
        Err(mismatch(column, &self.example))
    }

    /// Hands the code of each row of a table to `take`, in order, with what `take` made of it before.
    pub(super) fn each_code(
        &self,
        table: &Table,
        rows: &mut [u32],
        mut take: impl FnMut(u32, u32) -> u32,
    ) -> Result<()> {
        let column = self.column(table)?;
        match (&column.values, &self.cuts) {
            (Values::Number(numbers), Cuts::Numbers(cuts)) => {
                for (row, number) in rows.iter_mut().zip(numbers) {
                    *row = take(*row, number_code(cuts, *number));
                }
            }
            (Values::Category(category), Cuts::Texts { texts, ordered }) => {
                let dictionary = &category.dictionary;
                let codes: Vec<u32> = if *ordered {
                    dictionary.texts().map(|text| text_code(texts, text)).collect()
                } else {
                    let mut codes = vec![1; dictionary.len()];
                    for (code, text) in (2..).zip(texts) {
                        if let Some(entry) = dictionary.code(text) {
                            codes[entry as usize] = code;
                        }
                    }
                    codes
                };
                for (row, &entry) in rows.iter_mut().zip(&category.codes) {
                    *row = take(*row, if entry == MISSING { 0 } else { codes[entry as usize] });
                }
            }
            (Values::Boolean(truths), Cuts::Truths) => {
                for (row, truth) in rows.iter_mut().zip(truths) {
                    *row = take(*row, truth.map_or(0, |truth| 1 + u32::from(truth)));
                }
            }
            _ => return Err(mismatch(column, &self.example)),
        }
        Ok(())
    }

    /// The codes of the values that compare in this way with one of the marks.
    pub(super) fn accepted(&self, comparison: Comparison, value: &Value) -> Vec<u32> {
        let equal = self.equal(value);
        match (comparison, equal) {
            (Comparison::Eq, code) => code.into_iter().collect(),
            (Comparison::Ne, code) => {
                (1..self.codes() as u32).filter(|other| Some(*other) != code).collect()
            }
            // Codes stand in the order of the values.
            (_, Some(code)) => {
                let accepts = |other: &u32| comparison.accepts(other.cmp(&code));
                (1..self.codes() as u32).filter(accepts).collect()
            }
            (_, None) => Vec::new(),
        }
    }

    /// The code of the values that are equal to one of the marks.
    fn equal(&self, value: &Value) -> Option<u32> {
        match (&self.cuts, value) {
            (Cuts::Numbers(cuts), Value::Number(number)) => {
                Some(number_code(cuts, *number)).filter(|code| *code > 0)
            }
            (Cuts::Texts { texts, ordered }, Value::Text(text)) => {
                let place = texts.binary_search(text).ok()? as u32;
                Some(if *ordered { 2 * place + 2 } else { place + 2 })
            }
            (Cuts::Truths, Value::Boolean(truth)) => Some(1 + u32::from(*truth)),
            _ => None,
        }
    }
}

impl Cuts {
    fn new(values: &[(&Value, bool)]) -> Self {
        match values[0].0 {
            Value::Number(_) | Value::Quantile { .. } => {
                let number = |(value, _): &(&Value, bool)| match value {
                    Value::Number(number) if !number.is_nan() => Some(*number),
                    _ => None,
                };
                let mut cuts: Vec<f64> = values.iter().filter_map(number).collect();
                cuts.sort_unstable_by(f64::total_cmp);
                cuts.dedup();
                Cuts::Numbers(cuts)
            }
            Value::Text(_) => {
                let text = |(value, _): &(&Value, bool)| match value {
                    Value::Text(text) => Some(text.clone()),
                    _ => None,
                };
                let mut texts: Vec<String> = values.iter().filter_map(text).collect();
                texts.sort_unstable();
                texts.dedup();
                Cuts::Texts { texts, ordered: values.iter().any(|(_, ordered)| *ordered) }
            }
            Value::Boolean(_) => Cuts::Truths,
        }
    }
}

fn number_code(cuts: &[f64], number: f64) -> u32 {
    if number.is_nan() {
        return 0;
    }
    let below = cuts.partition_point(|cut| *cut < number);
    let equal = cuts.get(below).is_some_and(|cut| *cut == number);
    1 + 2 * below as u32 + u32::from(equal)
}

fn text_code(texts: &[String], text: &str) -> u32 {
    match texts.binary_search_by(|mark| mark.as_str().cmp(text)) {
        Ok(place) => 2 * place as u32 + 2,
        Err(below) => 2 * below as u32 + 1,
    }
}
