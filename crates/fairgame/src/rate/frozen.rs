//! A bound problem as text that says the same with no training table at hand: what a model file keeps.
//!
//! Binding replaces quantiles by the numbers they were on the training rows, and a column that stands
//! alone by the comparison it stood for. The trees that remain print as text of the language, and that
//! text, read back, needs no table.

use serde::{Deserialize, Serialize};

use super::bind::{Bound, BoundConstraint};
use super::language::{Condition, Expression, Group, Inequality, Literal, Name, Span, Statement};
use super::linear::{self, Lowered, Written};
use super::lower::Lowering;
use super::problem::{Source, written};
use crate::table::{Predicate, Value};
use crate::{ErrorKind, Result};

/// A bound problem as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frozen {
    /// The label's condition.
    pub label: String,
    /// The objective.
    pub objective: String,
    /// The constraints.
    pub constraints: Vec<FrozenConstraint>,
}

/// A constraint as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrozenConstraint {
    /// As it was written, without chains and without `each`.
    pub name: String,
    /// What it means without a training table.
    pub text: String,
}

impl Lowering<'_> {
    /// The condition with what it took from the training table in place.
    pub(super) fn freeze(&self, condition: &Condition) -> Result<Condition> {
        let all = |parts: &[Condition]| -> Result<Vec<_>> {
            parts.iter().map(|part| self.freeze(part)).collect()
        };
        Ok(match condition {
            Condition::And(parts) => Condition::And(all(parts)?),
            Condition::Or(parts) => Condition::Or(all(parts)?),
            Condition::Not(part) => Condition::Not(Box::new(self.freeze(part)?)),
            leaf => match self.condition(leaf)? {
                Predicate::Compare { column, comparison, value } => {
                    let column = name(column);
                    Condition::Compare { column, comparison, value: literal(value) }
                }
                Predicate::In { column, values } => {
                    let values = values.into_iter().map(literal).collect();
                    Condition::In { column: name(column), values }
                }
                Predicate::And(_) | Predicate::Or(_) | Predicate::Not(_) => leaf.clone(),
            },
        })
    }

    pub(super) fn freeze_expression(&self, expression: &Expression) -> Result<Expression> {
        Ok(match expression {
            Expression::Number(..) => expression.clone(),
            Expression::Rate { rate, old, group, span } => Expression::Rate {
                rate: *rate,
                old: old.as_ref().map(|old| self.freeze(old)).transpose()?,
                group: match group {
                    Group::Where(condition) => Group::Where(self.freeze(condition)?),
                    Group::All | Group::Each { .. } => group.clone(),
                },
                span: *span,
            },
            Expression::Negate(inner, span) => {
                Expression::Negate(Box::new(self.freeze_expression(inner)?), *span)
            }
            Expression::Sum(parts, span) => Expression::Sum(self.freeze_parts(parts)?, *span),
            Expression::Product(parts, span) => {
                Expression::Product(self.freeze_parts(parts)?, *span)
            }
        })
    }

    fn freeze_parts<T: Copy>(&self, parts: &[(T, Expression)]) -> Result<Vec<(T, Expression)>> {
        parts.iter().map(|(how, part)| Ok((*how, self.freeze_expression(part)?))).collect()
    }

    pub(super) fn freeze_inequality(&self, inequality: &Inequality) -> Result<Inequality> {
        Ok(Inequality {
            left: self.freeze_expression(&inequality.left)?,
            relation: inequality.relation,
            right: self.freeze_expression(&inequality.right)?,
        })
    }
}

fn name(text: String) -> Name {
    Name { text, span: Span::default() }
}

fn literal(value: Value) -> Literal {
    let span = Span::default();
    match value {
        Value::Number(number) => Literal::Number(number, span),
        Value::Text(text) => Literal::Text(text, span),
        Value::Boolean(truth) => Literal::Boolean(truth, span),
        Value::Quantile { column, level } => {
            Literal::Quantile { column: name(column), level, span }
        }
    }
}

impl Frozen {
    /// The problem that this text means.
    pub fn thaw(&self) -> Result<Bound> {
        let label = written("label".to_owned(), &self.label, Condition::parse)?;
        let objective = written("objective".to_owned(), &self.objective, Expression::parse)?;
        let source = objective.source.clone();
        let form = linear::objective(&objective.tree, &source, &|rate| lower(rate, &source))?;
        let objective_rates =
            linear::rates([&objective.tree], &source, &|rate| lower(rate, &source))?;
        let mut constraints = Vec::with_capacity(self.constraints.len());
        for (index, FrozenConstraint { name, text }) in self.constraints.iter().enumerate() {
            let place = format!("constraint {}", index + 1);
            let constraint = written(place, text, Statement::parse)?;
            let source = constraint.source;
            let inequality = match constraint.tree {
                Statement::Chain { first, mut rest } if rest.len() == 1 => {
                    let (relation, right) = rest.remove(0);
                    Inequality { left: first, relation, right }
                }
                _ => {
                    let all = Span::whole(&source.text);
                    return Err(source.fail(
                        ErrorKind::Syntax,
                        all,
                        "this is not one inequality",
                        "",
                    ));
                }
            };
            let form = linear::constraint(&inequality, &source, &|rate| lower(rate, &source))?;
            let sides = [&inequality.left, &inequality.right];
            let mut rates = linear::rates(sides, &source, &|rate| lower(rate, &source))?;
            shown(name, &mut rates);
            let (name, text, each) = (name.clone(), text.clone(), Vec::new());
            constraints.push(BoundConstraint { name, text, form, rates, source, each });
        }
        Ok(Bound {
            label: predicate(&label.tree, &label.source)?,
            label_text: self.label.clone(),
            objective: (form, source),
            objective_text: self.objective.clone(),
            objective_rates,
            constraints,
        })
    }
}

/// Shows rates as they stand in the name of their constraint, with quantiles still by name.
fn shown(name: &str, rates: &mut [Written]) {
    let Ok(Statement::Chain { first, rest }) = Statement::parse(name) else { return };
    let mut texts: Vec<String> = Vec::new();
    for side in std::iter::once(&first).chain(rest.iter().map(|(_, side)| side)) {
        side.rates(&mut |rate| {
            let text = rate.to_string();
            if !texts.contains(&text) {
                texts.push(text);
            }
        });
    }
    if texts.len() == rates.len() {
        rates.iter_mut().zip(texts).for_each(|(rate, text)| rate.text = text);
    }
}

/// A rate whose group needs no table.
fn lower(rate: &Expression, source: &Source) -> Result<Lowered> {
    let Expression::Rate { old, group, span, .. } = rate else {
        return Err(source.fail(ErrorKind::Syntax, rate.span(), "this is not a rate", ""));
    };
    let old = old.as_ref().map(|old| predicate(old, source)).transpose()?;
    match group {
        Group::All => Ok(Lowered { group: None, old, shown: "all rows".to_owned() }),
        Group::Where(condition) => Ok(Lowered {
            group: Some(predicate(condition, source)?),
            old,
            shown: condition.to_string(),
        }),
        Group::Each { .. } => Err(unfrozen(source, *span)),
    }
}

fn predicate(condition: &Condition, source: &Source) -> Result<Predicate> {
    let all = |parts: &[Condition]| -> Result<Vec<_>> {
        parts.iter().map(|part| predicate(part, source)).collect()
    };
    let value = |literal: &Literal| match literal {
        Literal::Number(number, _) => Ok(Value::Number(*number)),
        Literal::Text(text, _) => Ok(Value::Text(text.clone())),
        Literal::Boolean(truth, _) => Ok(Value::Boolean(*truth)),
        Literal::Quantile { span, .. } => Err(unfrozen(source, *span)),
    };
    match condition {
        Condition::Compare { column, comparison, value: literal } => Ok(Predicate::Compare {
            column: column.text.clone(),
            comparison: *comparison,
            value: value(literal)?,
        }),
        Condition::In { column, values } => Ok(Predicate::In {
            column: column.text.clone(),
            values: values.iter().map(value).collect::<Result<_>>()?,
        }),
        Condition::Is(column) => Err(unfrozen(source, column.span)),
        Condition::And(parts) => Ok(Predicate::And(all(parts)?)),
        Condition::Or(parts) => Ok(Predicate::Or(all(parts)?)),
        Condition::Not(part) => Ok(predicate(part, source)?.not()),
    }
}

fn unfrozen(source: &Source, span: Span) -> crate::Error {
    source.fail(ErrorKind::Syntax, span, "this depends on training data", "and so cannot be kept")
}
