//! A bound problem as text that says the same with no training table at hand: what a model file keeps.
//!
//! Binding replaces quantiles by the numbers they were on the training rows, and a column that stands
//! alone by the comparison it stood for. The trees that remain print as text of the language, and that
//! text, read back, needs no table.

use serde::{Deserialize, Serialize};

use super::bind::{Bound, BoundConstraint};
use super::language::{Condition, Expression, Inequality, Literal, Name, Span, Statement};
use super::linear;
use super::lower::{Lowering, Predicates};
use super::problem::{Parsed, parsed};
use crate::table::{Predicate, Value};
use crate::{ErrorKind, Result};

/// A bound problem as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frozen {
    /// The label's condition.
    pub label: String,
    /// The values that the label's column had in training, where they are few and named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub label_values: Vec<String>,
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
    /// The rates as they were written, where the text has others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<String>,
}

/// A predicate in the language.
pub(super) fn express(predicate: &Predicate) -> Condition {
    let all = |parts: &[Predicate]| parts.iter().map(express).collect();
    match predicate {
        Predicate::Compare { column, comparison, value } => Condition::Compare {
            column: name(column),
            comparison: *comparison,
            value: literal(value),
        },
        Predicate::In { column, values } => {
            Condition::In { column: name(column), values: values.iter().map(literal).collect() }
        }
        Predicate::And(parts) => Condition::And(all(parts)),
        Predicate::Or(parts) => Condition::Or(all(parts)),
        Predicate::Not(part) => Condition::Not(Box::new(express(part))),
    }
}

fn name(text: &str) -> Name {
    Name { text: text.to_owned(), span: Span::default() }
}

fn literal(value: &Value) -> Literal {
    let span = Span::default();
    match value {
        Value::Number(number) => Literal::Number(*number, span),
        Value::Text(text) => Literal::Text(text.clone(), span),
        Value::Boolean(truth) => Literal::Boolean(*truth, span),
        Value::Quantile { column, level } => {
            Literal::Quantile { column: name(column), level: *level, span }
        }
    }
}

impl FrozenConstraint {
    pub(super) fn new(constraint: &BoundConstraint) -> Self {
        let (name, text) = (constraint.name.clone(), constraint.text.clone());
        // Where nothing was frozen, the text itself has the rates as written.
        let written = || constraint.loss.rates.iter().map(|rate| rate.text.clone()).collect();
        let rates = if name == text { Vec::new() } else { written() };
        FrozenConstraint { name, text, rates }
    }

    fn thaw(&self, number: usize, predicates: &mut Predicates) -> Result<BoundConstraint> {
        let place = format!("constraint {number}");
        let Parsed { tree, source } = parsed(place, &self.text, Statement::parse)?;
        let inequality = match tree {
            Statement::Chain { first, mut rest } if rest.len() == 1 => {
                let (relation, right) = rest.remove(0);
                Inequality { left: first, relation, right }
            }
            _ => {
                let all = Span::whole(&source.text);
                return Err(source.fail(ErrorKind::Syntax, all, "this is not one inequality", ""));
            }
        };
        let mut lowering = Lowering { source: &source, table: None, quantiles: None, predicates };
        let (mut loss, _) = linear::constraint(&inequality, &mut lowering)?;
        let texts = match &self.rates[..] {
            [] if self.name != self.text => rates_of(&self.name),
            texts => texts.to_vec(),
        };
        if texts.len() == loss.rates.len() {
            loss.rates.iter_mut().zip(texts).for_each(|(rate, text)| rate.text = text);
        }
        let (name, text, each) = (self.name.clone(), self.text.clone(), Vec::new());
        Ok(BoundConstraint { name, text, loss, each })
    }
}

impl Frozen {
    /// The problem that this text means.
    pub fn thaw(&self) -> Result<Bound> {
        let label = parsed("label".to_owned(), &self.label, Condition::parse)?;
        let objective = parsed("objective".to_owned(), &self.objective, Expression::parse)?;
        let mut predicates = Predicates::default();
        let source = &label.source;
        let mut lowering =
            Lowering { source, table: None, quantiles: None, predicates: &mut predicates };
        let label = lowering.condition(&label.tree)?;
        lowering.predicates.intern(label);
        lowering.source = &objective.source;
        let (loss, _) = linear::objective(&objective.tree, &mut lowering)?;
        let thawed = (1..).zip(&self.constraints);
        let constraints = thawed
            .map(|(number, constraint)| constraint.thaw(number, &mut predicates))
            .collect::<Result<_>>()?;
        Ok(Bound {
            predicates: predicates.into_list(),
            label_text: self.label.clone(),
            label_values: self.label_values.clone(),
            objective: loss,
            objective_text: self.objective.clone(),
            constraints,
        })
    }
}

/// The rates of a constraint's name, for files that do not list them.
fn rates_of(name: &str) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    let Ok(Statement::Chain { first, rest }) = Statement::parse(name) else { return texts };
    for side in std::iter::once(&first).chain(rest.iter().map(|(_, side)| side)) {
        side.rates(&mut |rate| {
            let text = rate.to_string();
            if !texts.contains(&text) {
                texts.push(text);
            }
        });
    }
    texts
}
