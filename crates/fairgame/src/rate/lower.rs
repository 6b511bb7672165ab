//! Conditions as written, checked against a table and made into predicates, each of which has a number.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::frozen::express;
use super::language::{Condition, Expression, Group, Literal, Name, Rate, Span};
use super::problem::Source;
use super::survey::Quantiles;
use crate::table::{Column, Comparison, Predicate, Table, Value, Values};
use crate::{Error, ErrorKind, Remedy, Result, nearest, shown};

/// The number of the label among the predicates of a problem.
pub(crate) const LABEL: usize = 0;

/// Different predicates, numbered as they first come.
#[derive(Default)]
pub(super) struct Predicates {
    list: Vec<Predicate>,
    index: HashTable<usize>,
    hasher: DefaultHashBuilder,
}

impl Predicates {
    /// The number of a predicate.
    pub(super) fn intern(&mut self, predicate: Predicate) -> usize {
        let Predicates { list, index, hasher } = self;
        let hash = hasher.hash_one(&predicate);
        if let Some(&known) = index.find(hash, |&known| list[known] == predicate) {
            return known;
        }
        list.push(predicate);
        index.insert_unique(hash, list.len() - 1, |&known| hasher.hash_one(&list[known]));
        list.len() - 1
    }

    pub(super) fn into_list(self) -> Arc<[Predicate]> {
        self.list.into()
    }
}

/// Conditions as written, made into predicates.
pub(super) struct Lowering<'a> {
    pub(super) source: &'a Source,
    /// The training table; `None` for text that needs none.
    pub(super) table: Option<&'a Table>,
    /// Quantiles that the table does not tell.
    pub(super) quantiles: Option<&'a Quantiles>,
    pub(super) predicates: &'a mut Predicates,
}

/// What a rate is about.
pub(super) struct Lowered {
    pub(super) rate: Rate,
    /// The predicates of the group and of churn's older decision.
    pub(super) group: Option<usize>,
    pub(super) old: Option<usize>,
    /// The group as written.
    pub(super) shown: Arc<str>,
    pub(super) span: Span,
    /// The rate as a tree that needs no training table.
    pub(super) frozen: Expression,
}

impl Lowering<'_> {
    pub(super) fn fail(
        &self,
        span: Span,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Error {
        self.source.fail(ErrorKind::Column, span, message, label)
    }

    /// The error of what only a training table can say.
    fn unfrozen(&self, span: Span) -> Error {
        let label = "and so cannot be kept";
        self.source.fail(ErrorKind::Syntax, span, "this depends on training data", label)
    }

    /// The training table, for what stands there.
    pub(super) fn table(&self, span: Span) -> Result<&Table> {
        self.table.ok_or_else(|| self.unfrozen(span))
    }

    pub(super) fn column(&self, name: &Name) -> Result<&Column> {
        let table = self.table(name.span)?;
        let columns = || table.columns().iter().map(|column| column.name.as_str());
        table.find(&name.text).ok_or_else(|| {
            let label = match nearest(&name.text, columns()) {
                Some(near) => format!("did you mean `{}`?", shown(near)),
                None => format!("the columns are {}", crate::table::list(columns())),
            };
            let message = format!("there is no column `{}`", shown(&name.text));
            let error = self.fail(name.span, message, label);
            match crate::table::one_column(columns()) {
                true => error.remedy(Remedy::Delimiter),
                false => error,
            }
        })
    }

    pub(super) fn rate(&mut self, expression: &Expression) -> Result<Lowered> {
        let Expression::Rate { rate, old, group, span } = expression else {
            return Err(self.fail(expression.span(), "this is not a rate", ""));
        };
        let (rate, span) = (*rate, *span);
        let old = old.as_ref().map(|old| self.condition(old)).transpose()?;
        let (group, shown) = match group {
            Group::All => (None, "all rows".into()),
            Group::Where(condition) => {
                (Some(self.condition(condition)?), condition.to_string().into())
            }
            Group::Each { .. } if self.table.is_none() => return Err(self.unfrozen(span)),
            Group::Each { .. } => {
                return Err(self.source.fail(
                    ErrorKind::Problem,
                    span,
                    "an objective is one number, so `each` has no place in it",
                    "name the groups, or put a bound on each in a constraint",
                ));
            }
        };
        let frozen = Expression::Rate {
            rate,
            old: old.as_ref().map(express),
            group: group.as_ref().map_or(Group::All, |group| Group::Where(express(group))),
            span,
        };
        let group = group.map(|group| self.predicates.intern(group));
        let old = old.map(|old| self.predicates.intern(old));
        Ok(Lowered { rate, group, old, shown, span, frozen })
    }

    pub(super) fn condition(&self, condition: &Condition) -> Result<Predicate> {
        let all = |parts: &[Condition]| -> Result<Vec<_>> {
            parts.iter().map(|part| self.condition(part)).collect()
        };
        match condition {
            Condition::Compare { column, comparison, value } => Ok(Predicate::Compare {
                column: column.text.clone(),
                comparison: *comparison,
                value: self.value(column, *comparison, value)?,
            }),
            Condition::In { column, values } => Ok(Predicate::In {
                column: column.text.clone(),
                values: values
                    .iter()
                    .map(|value| self.value(column, Comparison::Eq, value))
                    .collect::<Result<_>>()?,
            }),
            Condition::Is(column) => self.truth(column),
            Condition::And(parts) => Ok(Predicate::And(all(parts)?)),
            Condition::Or(parts) => Ok(Predicate::Or(all(parts)?)),
            Condition::Not(part) => Ok(self.condition(part)?.not()),
        }
    }

    /// A column that stands alone is true or false, or 1 or 0.
    fn truth(&self, name: &Name) -> Result<Predicate> {
        let column = self.column(name)?;
        match &column.values {
            Values::Boolean(_) => Ok(Predicate::compare(&name.text, Comparison::Eq, true)),
            Values::Number(numbers)
                if numbers.iter().all(|&x| x == 0.0 || x == 1.0 || x.is_nan()) =>
            {
                Ok(Predicate::compare(&name.text, Comparison::Eq, 1.0))
            }
            _ => Err(self.fail(
                name.span,
                format!("column `{}` alone says neither true nor false", name.text),
                compare_with(name, column),
            )),
        }
    }

    fn value(&self, name: &Name, comparison: Comparison, literal: &Literal) -> Result<Value> {
        if self.table.is_none() {
            return match literal {
                Literal::Number(number, _) => Ok(Value::Number(*number)),
                Literal::Text(text, _) => Ok(Value::Text(text.clone())),
                Literal::Boolean(truth, _) => Ok(Value::Boolean(*truth)),
                Literal::Quantile { span, .. } => Err(self.unfrozen(*span)),
            };
        }
        let column = self.column(name)?;
        let ordered = !matches!(comparison, Comparison::Eq | Comparison::Ne);
        match (&column.values, literal) {
            (Values::Number(_), Literal::Number(number, _)) => Ok(Value::Number(*number)),
            (Values::Number(_), Literal::Quantile { column, level, .. }) => {
                self.quantile(column, *level)
            }
            (Values::Category(category), Literal::Text(text, span)) => {
                if !ordered && category.dictionary.code(text).is_none() {
                    let label = match nearest(text, category.dictionary.texts()) {
                        Some(near) => format!("did you mean {}?", written(near)),
                        None => format!("some of its values: {}", examples(column, 5)),
                    };
                    return Err(self.fail(*span, format!("no row has {name} == {literal}"), label));
                }
                Ok(Value::Text(text.clone()))
            }
            (Values::Boolean(_), Literal::Boolean(truth, _)) if !ordered => {
                Ok(Value::Boolean(*truth))
            }
            (values, literal) => {
                let is = format!("column `{}` is a {}", name.text, values.kind());
                let label = match (values, literal) {
                    (_, Literal::Quantile { span, .. }) => {
                        return Err(self.fail(*span, is, "only numbers have quantiles"));
                    }
                    (Values::Boolean(_), Literal::Boolean(_, span)) => {
                        let message = "true and false have no order";
                        return Err(self.fail(*span, message, "compare with `==` or `!=`"));
                    }
                    (Values::Number(_), Literal::Text(text, _)) if text.parse::<f64>().is_ok() => {
                        format!("without quotes: {text}")
                    }
                    (Values::Boolean(_), _) => format!("write `{name}` or `not {name}`"),
                    _ => compare_with(name, column),
                };
                Err(self.fail(literal.span(), format!("{is}, not {literal}"), label))
            }
        }
    }

    fn quantile(&self, name: &Name, level: f64) -> Result<Value> {
        let column = self.column(name)?;
        if !matches!(column.values, Values::Number(_)) {
            let message = format!("column `{}` is a {}", name.text, column.values.kind());
            return Err(self.fail(name.span, message, "only numbers have quantiles"));
        }
        let known = self.quantiles.and_then(|known| known.get(&name.text, level));
        if let Some(known) = known {
            return Ok(Value::Number(known));
        }
        let value = Value::Quantile { column: name.text.clone(), level };
        value.freeze(self.table(name.span)?).map_err(|_| {
            let message = format!("every value of `{}` is missing", name.text);
            self.fail(name.span, message, "it has no quantiles")
        })
    }
}

/// What a column can be compared with, and an example.
fn compare_with(name: &Name, column: &Column) -> String {
    let value = match column.values {
        Values::Number(_) => "a number",
        Values::Category(_) => "a text",
        Values::Boolean(_) => "true or false",
    };
    format!("compare it with {value}, as in `{name} == {}`", examples(column, 1))
}

/// A text as it is written in the language.
fn written(text: &str) -> String {
    Literal::Text(text.to_owned(), Span::default()).to_string()
}

/// The first few values of a column, as they are written in the language.
fn examples(column: &Column, most: usize) -> String {
    let shown: Vec<String> = match &column.values {
        Values::Category(category) => category.dictionary.texts().take(most).map(written).collect(),
        Values::Number(numbers) => {
            let known = numbers.iter().filter(|number| !number.is_nan());
            known.take(most).map(f64::to_string).collect()
        }
        Values::Boolean(_) => vec!["true".to_owned()],
    };
    if shown.is_empty() { "…".to_owned() } else { shown.join(", ") }
}
