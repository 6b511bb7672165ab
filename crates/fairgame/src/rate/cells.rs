//! Rows that no predicate of a problem can tell apart.
//!
//! Predicates look at a few columns, and compare them with a few values. Refining the rows by one
//! such column after another (which of the values, or which side of each threshold) gives classes of
//! rows that every predicate treats alike, in one pass of a hash table a column. Predicates are then
//! evaluated on one row of each class, and `column == value`, which most groups are made of, is looked
//! up: the cost of a thousand groups is that of their members.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::set::Set;

use crate::Result;
use crate::table::{Column, Comparison, MISSING, Predicate, Table, Value, Values};

/// Classes of rows that the predicates treat alike.
pub(super) struct Classes {
    /// The class of each row.
    pub(super) of_row: Vec<u32>,
    /// One row of each class.
    pub(super) examples: Vec<usize>,
}

/// One row of each class, and where each text of a category stands among them.
pub(super) struct Examples {
    table: Table,
    /// By column, then by code: the classes with that text.
    texts: BTreeMap<String, Vec<Vec<u32>>>,
}

impl Examples {
    pub(super) fn new(table: &Table, classes: &Classes) -> Self {
        let table = table.take(&classes.examples);
        let mut texts = BTreeMap::new();
        for column in table.columns() {
            let Values::Category(category) = &column.values else { continue };
            let mut places = vec![Vec::new(); category.dictionary.len()];
            for (class, &code) in category.codes.iter().enumerate() {
                if code != MISSING {
                    places[code as usize].push(class as u32);
                }
            }
            texts.insert(column.name.clone(), places);
        }
        Examples { table, texts }
    }

    pub(super) fn len(&self) -> u32 {
        self.table.rows() as u32
    }

    /// The classes that meet a predicate.
    pub(super) fn matching(&self, predicate: &Predicate) -> Result<Set> {
        match predicate {
            Predicate::Compare { column, comparison: Comparison::Eq, value: Value::Text(text) } => {
                self.with_text(column, text)
            }
            Predicate::In { column, values } => {
                let none = Set::new(self.len(), std::iter::empty());
                values.iter().try_fold(none, |set, value| {
                    let (column, value) = (column.clone(), value.clone());
                    let comparison = Comparison::Eq;
                    Ok(set.or(&self.matching(&Predicate::Compare { column, comparison, value })?))
                })
            }
            Predicate::And(parts) => parts
                .iter()
                .try_fold(Set::all(self.len()), |set, part| Ok(set.and(&self.matching(part)?))),
            Predicate::Or(parts) => {
                let none = Set::new(self.len(), std::iter::empty());
                parts.iter().try_fold(none, |set, part| Ok(set.or(&self.matching(part)?)))
            }
            Predicate::Not(part) => Ok(self.matching(part)?.not()),
            Predicate::Compare { .. } => Ok(Set::places(&predicate.evaluate(&self.table)?)),
        }
    }

    fn with_text(&self, column: &str, text: &str) -> Result<Set> {
        let found = self.table.column(column)?;
        let (Values::Category(category), Some(places)) = (&found.values, self.texts.get(column))
        else {
            let predicate = Predicate::compare(column, Comparison::Eq, text);
            return Ok(Set::places(&predicate.evaluate(&self.table)?));
        };
        let classes = category.dictionary.code(text).map(|code| places[code as usize].as_slice());
        Ok(Set::new(self.len(), classes.unwrap_or_default().iter().copied()))
    }
}

/// What predicates ask of one column.
#[derive(Default)]
struct Asked<'a> {
    numbers: Vec<f64>,
    texts: Vec<&'a str>,
    /// Texts are compared by order, so that each is a class of its own.
    every_text: bool,
}

/// The coarsest classes that the columns and values of the predicates make.
pub(super) fn classes(predicates: &[&Predicate], table: &Table) -> Result<Classes> {
    let mut asked: BTreeMap<&str, Asked<'_>> = BTreeMap::new();
    predicates.iter().for_each(|predicate| ask(predicate, &mut asked));

    let mut of_row = vec![0_u32; table.rows()];
    let mut examples: Vec<usize> = (0..table.rows().min(1)).collect();
    for (name, asked) in asked {
        let column = table.column(name)?;
        let finer = refine(column, &asked);
        let mut classes: HashMap<(u32, u32), u32> = HashMap::new();
        let mut firsts = Vec::new();
        for (row, class) in of_row.iter_mut().enumerate() {
            let next = classes.len() as u32;
            *class = *classes.entry((*class, finer(row))).or_insert_with(|| {
                firsts.push(row);
                next
            });
        }
        examples = firsts;
    }
    Ok(Classes { of_row, examples })
}

fn ask<'a>(predicate: &'a Predicate, asked: &mut BTreeMap<&'a str, Asked<'a>>) {
    match predicate {
        Predicate::Compare { column, comparison, value } => {
            let asked = asked.entry(column).or_default();
            asked.value(value);
            asked.every_text |= !matches!(comparison, Comparison::Eq | Comparison::Ne);
        }
        Predicate::In { column, values } => {
            let asked = asked.entry(column).or_default();
            values.iter().for_each(|value| asked.value(value));
        }
        Predicate::And(parts) | Predicate::Or(parts) => {
            parts.iter().for_each(|part| ask(part, asked));
        }
        Predicate::Not(part) => ask(part, asked),
    }
}

impl<'a> Asked<'a> {
    fn value(&mut self, value: &'a Value) {
        match value {
            Value::Number(number) => self.numbers.push(*number),
            Value::Text(text) => self.texts.push(text),
            Value::Boolean(_) | Value::Quantile { .. } => {}
        }
    }
}

/// The class of a row within one column.
fn refine<'a>(column: &'a Column, asked: &Asked<'_>) -> Box<dyn Fn(usize) -> u32 + 'a> {
    const NONE: u32 = 0;
    match &column.values {
        Values::Number(numbers) => {
            let mut cuts = asked.numbers.clone();
            cuts.sort_unstable_by(f64::total_cmp);
            cuts.dedup();
            Box::new(move |row| {
                let number = numbers[row];
                if number.is_nan() {
                    return NONE;
                }
                let below = cuts.partition_point(|cut| *cut < number);
                let equal = cuts.get(below).is_some_and(|cut| *cut == number);
                1 + 2 * below as u32 + u32::from(equal)
            })
        }
        Values::Category(category) => {
            let mut class_of: Vec<u32> = vec![1; category.dictionary.len()];
            if asked.every_text {
                class_of = (2..).take(category.dictionary.len()).collect();
            }
            let known = asked.texts.iter().filter_map(|text| category.dictionary.code(text));
            known.for_each(|code| class_of[code as usize] = code + 2);
            Box::new(move |row| match category.codes[row] {
                MISSING => NONE,
                code => class_of[code as usize],
            })
        }
        Values::Boolean(truths) => Box::new(|row| truths[row].map_or(NONE, |t| 1 + u32::from(t))),
    }
}
