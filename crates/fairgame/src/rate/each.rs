//! `each`, spelt out: one constraint for each group that occurs in training.

use std::collections::BTreeSet;
use std::ops::Range;

use super::language::{Condition, Expression, Group, Literal, Name, Statement};
use super::lower::Lowering;
use super::problem::Source;
use crate::table::{Column, Comparison, MISSING, Values};
use crate::{ErrorKind, Result};

/// The columns and the condition of an `each`.
pub(super) struct Each {
    /// Where each `each` stands.
    pub(super) spans: Vec<Range<usize>>,
    columns: Vec<Name>,
    condition: Option<Condition>,
}

/// Visits the rates of a statement.
pub(super) fn rates<'a>(statement: &'a Statement, visit: &mut dyn FnMut(&'a Expression)) {
    match statement {
        Statement::Chain { first, rest } => {
            first.rates(visit);
            rest.iter().for_each(|(_, side)| side.rates(visit));
        }
        Statement::Equal { left, right, .. } => {
            left.rates(visit);
            right.rates(visit);
        }
    }
}

/// What a statement goes over, if it has an `each`; all that it has must go over the same columns.
pub(super) fn eaches(statement: &Statement, source: &Source) -> Result<Option<Each>> {
    let mut found: Option<Each> = None;
    let mut clash = None;
    rates(statement, &mut |rate| {
        let Expression::Rate { group: Group::Each { columns, condition }, span, .. } = rate else {
            return;
        };
        match &mut found {
            None => {
                let (columns, condition) = (columns.clone(), condition.clone());
                found = Some(Each { spans: vec![span.range()], columns, condition });
            }
            Some(first) if first.columns == *columns => first.spans.push(span.range()),
            Some(_) => clash = clash.or(Some(*span)),
        }
    });
    match clash {
        None => Ok(found),
        Some(span) => Err(source.fail(
            ErrorKind::Problem,
            span,
            "a second `each` over other columns",
            "every `each` of a constraint goes over the same columns, in the same order",
        )),
    }
}

/// The statement with every `each` replaced by the condition that `members` stands for.
fn substitute(statement: &Statement, members: &[Condition]) -> Statement {
    let expression = |tree: &Expression| substitute_in(tree, members);
    match statement {
        Statement::Chain { first, rest } => Statement::Chain {
            first: expression(first),
            rest: rest.iter().map(|(relation, side)| (*relation, expression(side))).collect(),
        },
        Statement::Equal { left, right, within } => {
            Statement::Equal { left: expression(left), right: expression(right), within: *within }
        }
    }
}

fn substitute_in(tree: &Expression, members: &[Condition]) -> Expression {
    match tree {
        Expression::Rate { rate, old, group: Group::Each { condition, .. }, span } => {
            let mut parts = members.to_vec();
            match condition {
                Some(Condition::And(more)) => parts.extend(more.iter().cloned()),
                Some(more) => parts.push(more.clone()),
                None => {}
            }
            let condition = match <[_; 1]>::try_from(parts) {
                Ok([part]) => part,
                Err(parts) => Condition::And(parts),
            };
            Expression::Rate {
                rate: *rate,
                old: old.clone(),
                group: Group::Where(condition),
                span: *span,
            }
        }
        Expression::Number(..) | Expression::Rate { .. } => tree.clone(),
        Expression::Negate(part, span) => {
            Expression::Negate(Box::new(substitute_in(part, members)), *span)
        }
        Expression::Sum(parts, span) => Expression::Sum(
            parts.iter().map(|(sign, part)| (*sign, substitute_in(part, members))).collect(),
            *span,
        ),
        Expression::Product(parts, span) => Expression::Product(
            parts.iter().map(|(factor, part)| (*factor, substitute_in(part, members))).collect(),
            *span,
        ),
    }
}

/// More groups than this from one `each` are surely a mistake.
const MOST_GROUPS: usize = 100_000;

/// More groups than this are, where a column of numbers makes them: numbers of which so many differ are amounts.
const MOST_OF_NUMBERS: usize = 1_000;

impl Lowering<'_> {
    /// One statement for each combination of values that occurs in training.
    pub(super) fn spell_out(&self, statement: &Statement, each: &Each) -> Result<Vec<Statement>> {
        let table = self.table(each.columns[0].span)?;
        let rows = match &each.condition {
            None => vec![true; table.rows()],
            Some(condition) => self.condition(condition)?.evaluate(table)?,
        };
        let columns: Vec<&Column> =
            each.columns.iter().map(|name| self.column(name)).collect::<Result<_>>()?;
        let numbers = columns.iter().any(|column| matches!(column.values, Values::Number(_)));
        let most = if numbers { MOST_OF_NUMBERS } else { MOST_GROUPS };
        let mut combinations = BTreeSet::new();
        for row in (0..table.rows()).filter(|&row| rows[row]) {
            let codes: Option<Vec<u64>> = columns.iter().map(|column| code(column, row)).collect();
            combinations.extend(codes);
            if combinations.len() > most {
                let name = &each.columns[0];
                return Err(self.fail(
                    name.span,
                    format!("`each` over more than {most} groups"),
                    match numbers {
                        true => "compare the number with bounds (`age < 30`), or cut it into a few groups first",
                        false => "cut the column into a few groups first",
                    },
                ));
            }
        }
        if combinations.is_empty() {
            let label = match each.condition {
                None => "no row has a value here",
                Some(_) => "no row that meets the condition has a value here",
            };
            return Err(self.fail(each.columns[0].span, "`each` goes over nothing", label));
        }
        let mut groups: Vec<(Vec<GroupKey>, Vec<Condition>)> = combinations
            .iter()
            .map(|codes| {
                let parts = each.columns.iter().zip(&columns).zip(codes);
                parts.map(|((name, column), &code)| member(name, column, code)).unzip()
            })
            .collect();
        groups.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap_or(std::cmp::Ordering::Equal));
        Ok(groups.into_iter().map(|(_, members)| substitute(statement, &members)).collect())
    }
}

/// A value by which groups are put in order.
#[derive(PartialEq, PartialOrd)]
enum GroupKey {
    Number(f64),
    Text(String),
    Boolean(bool),
}

/// A row's value as bits, if it is not missing.
fn code(column: &Column, row: usize) -> Option<u64> {
    match &column.values {
        Values::Number(numbers) => (!numbers[row].is_nan()).then(|| numbers[row].to_bits()),
        Values::Category(category) => {
            (category.codes[row] != MISSING).then(|| u64::from(category.codes[row]))
        }
        Values::Boolean(truths) => truths[row].map(u64::from),
    }
}

/// The condition that a column has the value behind these bits.
fn member(name: &Name, column: &Column, code: u64) -> (GroupKey, Condition) {
    let equal =
        |value| Condition::Compare { column: name.clone(), comparison: Comparison::Eq, value };
    match &column.values {
        Values::Number(_) => {
            let number = f64::from_bits(code);
            (GroupKey::Number(number), equal(Literal::Number(number, name.span)))
        }
        Values::Category(category) => {
            let text = category.dictionary.text(code as u32).to_owned();
            (GroupKey::Text(text.clone()), equal(Literal::Text(text, name.span)))
        }
        Values::Boolean(_) => {
            // `not flag` would take rows in whose flag is missing.
            (GroupKey::Boolean(code == 1), equal(Literal::Boolean(code == 1, name.span)))
        }
    }
}
