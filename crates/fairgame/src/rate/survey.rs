//! Rows of which a problem that is not bound yet may ask something, as patterns.
//!
//! Binding takes from rows which values occur, in which combinations, and quantiles. Of all else it asks no more than
//! how a value compares with those that the problem is written with. So rows that hold the same values, or values
//! that compare alike with those, are one **pattern**, and one row of each pattern stands for all of them: with the
//! number and the weight of its rows, the problem can be bound to these few rows. Rows come in parts, and what is
//! kept grows with the number of patterns.

use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::HashMap;

use super::each;
use super::language::{Condition, Expression, Group, Literal};
use super::problem::Problem;
use crate::table::{Category, Column, Comparison, Dictionary, MISSING, Table, Values, quantile};
use crate::{Error, ErrorKind, Result};

/// Quantiles of columns, known before the rows that are to be looked at.
#[derive(Debug, Clone, Default)]
pub(crate) struct Quantiles(BTreeMap<(String, u64), f64>);

impl Quantiles {
    /// Those that are known: of a column, at a level, the value.
    pub(crate) fn known(all: Vec<(String, f64, f64)>) -> Self {
        let one = |(name, level, value): (String, f64, f64)| ((name, level.to_bits()), value);
        Quantiles(all.into_iter().map(one).collect())
    }

    /// All of them: of a column, at a level, the value.
    pub(crate) fn all(&self) -> impl Iterator<Item = (String, f64, f64)> {
        self.0.iter().map(|((name, level), &value)| (name.clone(), f64::from_bits(*level), value))
    }

    pub(super) fn get(&self, column: &str, level: f64) -> Option<f64> {
        self.0.get(&(column.to_owned(), level.to_bits())).copied()
    }
}

/// What a problem asks of one column.
#[derive(Debug, Clone, Default)]
struct Asked {
    /// Ascending, once all are known.
    numbers: Vec<f64>,
    texts: Vec<String>,
    /// Every value is a group, or texts are compared by order.
    every: bool,
    /// The levels of its quantiles.
    levels: Vec<f64>,
}

/// What a problem asks of columns, before it is bound.
#[derive(Debug, Clone, Default)]
pub(crate) struct Question(BTreeMap<String, Asked>);

impl Question {
    /// What label, objective and constraints ask.
    pub(crate) fn of(problem: &Problem) -> Self {
        let mut question = Question::default();
        question.condition(&problem.label.tree);
        problem.objective.tree.rates(&mut |rate| question.rate(rate));
        for constraint in &problem.constraints {
            each::rates(&constraint.tree, &mut |rate| question.rate(rate));
        }
        question
    }

    /// Asks what another problem's label asks, too.
    pub(crate) fn and_label_of(&mut self, problem: &Problem) {
        self.condition(&problem.label.tree);
    }

    /// The columns that something is asked of.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The columns whose quantiles are asked for.
    pub(crate) fn quantile_columns(&self) -> impl Iterator<Item = &str> {
        let asked = self.0.iter().filter(|(_, asked)| !asked.levels.is_empty());
        asked.map(|(name, _)| name.as_str())
    }

    /// The quantiles that are asked for, of the numbers of each column.
    pub(crate) fn quantiles(&self, numbers: BTreeMap<String, Vec<f64>>) -> Quantiles {
        let mut known = BTreeMap::new();
        for (name, mut numbers) in numbers {
            numbers.retain(|number| !number.is_nan());
            numbers.sort_unstable_by(f64::total_cmp);
            for &level in self.0.get(&name).map_or(&[][..], |asked| &asked.levels) {
                if let Some(value) = quantile(&numbers, level) {
                    known.insert((name.clone(), level.to_bits()), value);
                }
            }
        }
        Quantiles(known)
    }

    fn rate(&mut self, rate: &Expression) {
        let Expression::Rate { old, group, .. } = rate else { return };
        old.iter().for_each(|old| self.condition(old));
        match group {
            Group::All => {}
            Group::Where(condition) => self.condition(condition),
            Group::Each { columns, condition } => {
                columns.iter().for_each(|name| self.column(&name.text).every = true);
                condition.iter().for_each(|condition| self.condition(condition));
            }
        }
    }

    fn condition(&mut self, condition: &Condition) {
        match condition {
            Condition::Compare { column, comparison, value } => {
                self.value(&column.text, value);
                if !matches!(comparison, Comparison::Eq | Comparison::Ne)
                    && matches!(value, Literal::Text(..))
                {
                    self.column(&column.text).every = true;
                }
            }
            Condition::In { column, values } => {
                values.iter().for_each(|value| self.value(&column.text, value));
            }
            // Alone, it may be 0 or 1, and nothing else.
            Condition::Is(column) => self.column(&column.text).numbers.extend([0.0, 1.0]),
            Condition::And(parts) | Condition::Or(parts) => {
                parts.iter().for_each(|part| self.condition(part));
            }
            Condition::Not(part) => self.condition(part),
        }
    }

    fn value(&mut self, column: &str, value: &Literal) {
        let asked = self.column(column);
        match value {
            Literal::Number(number, _) => asked.numbers.push(*number),
            Literal::Text(text, _) => asked.texts.push(text.clone()),
            Literal::Boolean(..) => {}
            Literal::Quantile { column, level, .. } => {
                let levels = &mut self.column(&column.text).levels;
                if !levels.contains(level) {
                    levels.push(*level);
                }
            }
        }
    }

    fn column(&mut self, name: &str) -> &mut Asked {
        self.0.entry(name.to_owned()).or_default()
    }
}

/// The patterns of the rows that were added.
#[derive(Debug)]
pub(crate) struct Survey {
    question: BTreeMap<String, Asked>,
    /// All columns of the first table, in its order; those that nothing is asked of keep nothing.
    columns: Vec<Surveyed>,
    /// By the codes of the asked columns.
    patterns: HashMap<Box<[u32]>, u32>,
}

#[derive(Debug)]
struct Surveyed {
    name: String,
    asked: Option<Asked>,
    examples: Examples,
}

/// A value of each pattern.
#[derive(Debug)]
enum Examples {
    /// With the code of each number, where every one has its own.
    Numbers(Vec<f64>, HashMap<u64, u32>),
    /// With all texts that occurred, and the code of each.
    Texts {
        codes: Vec<u32>,
        dictionary: Dictionary,
        code_of: Vec<u32>,
    },
    Truths(Vec<Option<bool>>),
}

impl Survey {
    /// Of no rows yet; quantiles that are known are numbers that values are compared with.
    pub(crate) fn new(question: &Question, quantiles: &Quantiles) -> Self {
        let mut question = question.0.clone();
        let known: Vec<f64> = quantiles.0.values().copied().collect();
        for asked in question.values_mut() {
            // Whichever column they are compared with.
            asked.numbers.extend(&known);
            asked.numbers.sort_unstable_by(f64::total_cmp);
            asked.numbers.dedup();
        }
        Survey { question, columns: Vec::new(), patterns: HashMap::new() }
    }

    /// How many patterns there are.
    pub(crate) fn len(&self) -> usize {
        self.patterns.len()
    }

    /// Adds rows, and returns the pattern of each.
    ///
    /// # Errors
    /// If a column is of another kind than in the rows before, or is not there any more.
    pub(crate) fn add(&mut self, table: &Table) -> Result<Vec<u32>> {
        if self.columns.is_empty() {
            let surveyed = |column: &Column| {
                let asked = self.question.get(&column.name).cloned();
                Surveyed { name: column.name.clone(), asked, examples: Examples::like(column) }
            };
            self.columns = table.columns().iter().map(surveyed).collect();
        }
        let mut coded: Vec<(Vec<u32>, u64)> = Vec::new();
        for column in self.columns.iter_mut().filter(|column| column.asked.is_some()) {
            coded.push(column.codes(table.column(&column.name)?)?);
        }
        let mut keys = vec![0_u64; table.rows()];
        let mut below = 1_u64;
        for (codes, count) in &coded {
            below = below.checked_mul(*count).unwrap_or_else(|| numbered(&mut keys) * count);
            keys.iter_mut()
                .zip(codes)
                .for_each(|(key, &code)| *key = *key * count + u64::from(code));
        }
        // The pattern of each key that occurs: few, and looked up for every row.
        let mut known: HashMap<u64, u32> = HashMap::new();
        let mut of_row = Vec::with_capacity(keys.len());
        for (row, key) in keys.into_iter().enumerate() {
            of_row.push(*known.entry(key).or_insert_with(|| {
                let codes: Box<[u32]> = coded.iter().map(|(codes, _)| codes[row]).collect();
                let next = self.patterns.len() as u32;
                *self.patterns.entry(codes).or_insert_with(|| {
                    self.columns.iter_mut().for_each(|column| column.keep(table, row));
                    next
                })
            }));
        }
        Ok(of_row)
    }

    /// A row of each pattern. Columns that nothing is asked of are there by name.
    pub(crate) fn table(&self) -> Result<Table> {
        let rows = self.len();
        let column = |column: &Surveyed| {
            let values = match (&column.asked, &column.examples) {
                (None, _) => Values::Boolean(vec![None; rows]),
                (_, Examples::Numbers(numbers, _)) => Values::Number(numbers.clone()),
                (_, Examples::Truths(truths)) => Values::Boolean(truths.clone()),
                (_, Examples::Texts { codes, dictionary, .. }) => {
                    let dictionary = Arc::new(dictionary.clone());
                    Values::Category(Category { codes: codes.clone(), dictionary })
                }
            };
            Column::new(&column.name, values)
        };
        Table::new(self.columns.iter().map(column).collect())
    }
}

/// Numbers keys from 0 as they first come, and returns how many there are.
fn numbered(keys: &mut [u64]) -> u64 {
    let mut known: HashMap<u64, u64> = HashMap::new();
    for key in keys {
        let next = known.len() as u64;
        *key = *known.entry(*key).or_insert(next);
    }
    known.len() as u64
}

impl Surveyed {
    /// The code of each row, and a number above all codes. Rows of one code compare alike; 0 is missing.
    fn codes(&mut self, column: &Column) -> Result<(Vec<u32>, u64)> {
        let Some(asked) = &self.asked else { return Ok((Vec::new(), 1)) };
        match (&mut self.examples, &column.values) {
            (Examples::Numbers(_, known), Values::Number(numbers)) if asked.every => {
                let mut code = |number: &f64| {
                    let next = known.len() as u32 + 1;
                    let bits = number.to_bits();
                    if number.is_nan() { 0 } else { *known.entry(bits).or_insert(next) }
                };
                let codes = numbers.iter().map(&mut code).collect();
                Ok((codes, known.len() as u64 + 1))
            }
            (Examples::Numbers(..), Values::Number(numbers)) => {
                let cuts = &asked.numbers;
                let codes = numbers.iter().map(|number| match number {
                    number if number.is_nan() => 0,
                    number => {
                        let below = cuts.partition_point(|cut| cut < number);
                        1 + 2 * below as u32 + u32::from(cuts.get(below) == Some(number))
                    }
                });
                Ok((codes.collect(), 2 * cuts.len() as u64 + 2))
            }
            (Examples::Texts { dictionary, code_of, .. }, Values::Category(category)) => {
                let mut here = Vec::with_capacity(category.dictionary.len());
                for text in category.dictionary.texts() {
                    let place = dictionary.intern(text) as usize;
                    if place == code_of.len() {
                        let apart = asked.every || asked.texts.iter().any(|asked| asked == text);
                        code_of.push(if apart { place as u32 + 2 } else { 1 });
                    }
                    here.push(code_of[place]);
                }
                let code = |&code: &u32| if code == MISSING { 0 } else { here[code as usize] };
                Ok((category.codes.iter().map(code).collect(), dictionary.len() as u64 + 2))
            }
            (Examples::Truths(_), Values::Boolean(truths)) => {
                let code = |truth: &Option<bool>| truth.map_or(0, |truth| 1 + u32::from(truth));
                Ok((truths.iter().map(code).collect(), 3))
            }
            (examples, values) => {
                let (name, before, now) = (&self.name, examples.kind(), values.kind());
                let message = format!("column `{name}` is a {now}, and was a {before} before");
                Err(Error::new(ErrorKind::Column, message)
                    .help("read all rows with the same kinds of columns"))
            }
        }
    }

    /// Keeps the value of a row as the example of the next pattern.
    fn keep(&mut self, table: &Table, row: usize) {
        let column = table.find(&self.name);
        let (Some(_), Some(column)) = (&self.asked, column) else { return };
        match (&mut self.examples, &column.values) {
            (Examples::Numbers(kept, _), Values::Number(numbers)) => kept.push(numbers[row]),
            (Examples::Truths(kept), Values::Boolean(truths)) => kept.push(truths[row]),
            (Examples::Texts { codes, dictionary, .. }, Values::Category(category)) => {
                codes.push(match category.codes[row] {
                    MISSING => MISSING,
                    code => dictionary.intern(category.dictionary.text(code)),
                });
            }
            // The kinds were compared when the row was coded.
            _ => {}
        }
    }
}

impl Examples {
    fn like(column: &Column) -> Self {
        match &column.values {
            Values::Number(_) => Examples::Numbers(Vec::new(), HashMap::new()),
            Values::Boolean(_) => Examples::Truths(Vec::new()),
            Values::Category(_) => Examples::Texts {
                codes: Vec::new(),
                dictionary: Dictionary::default(),
                code_of: Vec::new(),
            },
        }
    }

    fn kind(&self) -> crate::table::Kind {
        match self {
            Examples::Numbers(..) => crate::table::Kind::Number,
            Examples::Texts { .. } => crate::table::Kind::Category,
            Examples::Truths(_) => crate::table::Kind::Boolean,
        }
    }
}
