//! A problem bound to a training table: quantiles frozen, `each` spelt out, names checked.

use std::collections::BTreeMap;
use std::ops::Range;

use super::compile::Compiled;
use super::each::eaches;
use super::frozen::{Frozen, FrozenConstraint};
use super::language::{Expression, Inequality, Relation, Sign, Span, Statement};
use super::linear::{self, Form, Measure, Written};
use super::lower::Lowering;
use super::problem::{Notice, Problem, Source};
use crate::table::{Kind, Predicate, Table};
use crate::{Error, ErrorKind, Result};

/// A problem whose meaning no later table can change.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    pub(super) label: Predicate,
    pub(super) label_text: String,
    pub(super) objective: (Form, Source),
    pub(super) objective_text: String,
    /// The rates that the objective is made of, as written.
    pub(super) objective_rates: Vec<Written>,
    pub(super) constraints: Vec<BoundConstraint>,
}

/// A single constraint: a linear form of rates that is to be at most 0.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundConstraint {
    pub(super) name: String,
    /// Its text with what it took from the training table in place.
    pub(super) text: String,
    pub(super) form: Form,
    /// The rates it is made of, as written.
    pub(super) rates: Vec<Written>,
    pub(super) source: Source,
    /// Where in the source its `each` stand.
    pub(super) each: Vec<Range<usize>>,
}

/// A table whose rows count as much as their weights say, or 1 each.
#[derive(Debug, Clone, Copy)]
pub struct Weighted<'a> {
    /// The rows.
    pub table: &'a Table,
    /// One weight a row.
    pub weights: Option<&'a [f32]>,
}

impl<'a> From<&'a Table> for Weighted<'a> {
    fn from(table: &'a Table) -> Self {
        Weighted { table, weights: None }
    }
}

impl BoundConstraint {
    /// The constraint in the language, without chains and without `each`.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Problem {
    /// Takes from the training table what depends on it, and freezes it.
    ///
    /// Quantiles become numbers, an `each` becomes one constraint for each value (or combination) that
    /// occurs in training, columns and values are checked. Every rate must have something to measure
    /// in `train` and in each of `others`, the tables that the problem is to be compiled for; a group
    /// of an `each` that has not is refused, or left out where
    /// [`Problem::skip_empty_groups`] allows it. Messages call a single other the validation rows.
    ///
    /// A constraint that no classifier can meet on the training table is an error, one that none can
    /// violate a notice.
    pub fn bind<'a>(
        &self,
        train: impl Into<Weighted<'a>>,
        others: &[Weighted<'_>],
    ) -> Result<(Bound, Vec<Notice>)> {
        let train = train.into();
        let lowering = |source| Lowering { source, table: train.table };
        let label = lowering(&self.label.source).condition(&self.label.tree)?;
        let label_text = lowering(&self.label.source).freeze(&self.label.tree)?.to_string();
        let source = self.objective.source.clone();
        let lower = |rate: &Expression| lowering(&source).rate(rate);
        let objective = linear::objective(&self.objective.tree, &source, &lower)?;
        let objective_rates = linear::rates([&self.objective.tree], &source, &lower)?;
        let objective_text = lowering(&source).freeze_expression(&self.objective.tree)?.to_string();

        let mut constraints = Vec::new();
        for written in &self.constraints {
            let source = &written.source;
            let lower = |rate: &Expression| lowering(source).rate(rate);
            let each = eaches(&written.tree, source)?;
            let statements = match &each {
                None => vec![written.tree.clone()],
                Some(each) => lowering(source).spell_out(&written.tree, each)?,
            };
            for inequality in statements.into_iter().flat_map(single) {
                constraints.push(BoundConstraint {
                    name: inequality.to_string(),
                    text: lowering(source).freeze_inequality(&inequality)?.to_string(),
                    form: linear::constraint(&inequality, source, &lower)?,
                    rates: linear::rates([&inequality.left, &inequality.right], source, &lower)?,
                    source: source.clone(),
                    each: each.as_ref().map_or(Vec::new(), |each| each.spans.clone()),
                });
            }
        }
        let objective = (objective, source);
        let bound =
            Bound { label, label_text, objective, objective_text, objective_rates, constraints };
        bound.check(train, others, self.skip_empty)
    }
}

impl Bound {
    /// The constraints, in order.
    pub fn constraints(&self) -> &[BoundConstraint] {
        &self.constraints
    }

    /// The condition that makes a row positive.
    pub fn label(&self) -> &Predicate {
        &self.label
    }

    /// The columns that label and groups look at, and their kinds.
    ///
    /// Give them to [`ReadOptions::kinds`](crate::table::ReadOptions::kinds) when reading a table to evaluate:
    /// in another file, the codes of a group may happen to look like numbers.
    pub fn kinds(&self) -> BTreeMap<String, Kind> {
        let forms =
            std::iter::once(&self.objective.0).chain(self.constraints.iter().map(|one| &one.form));
        let atoms = forms.flat_map(|form| form.terms.iter().map(|(_, atom)| atom));
        let predicates = atoms.flat_map(|atom| {
            let old = match &atom.measure {
                Measure::Churn(old) => Some(old),
                _ => None,
            };
            atom.group.iter().chain(old)
        });
        let all = std::iter::once(&self.label).chain(predicates);
        all.flat_map(Predicate::kinds).map(|(column, kind)| (column.to_owned(), kind)).collect()
    }

    /// How many rows of a table have no label: they count as negative.
    ///
    /// # Errors
    /// If a column of the label is not there.
    pub fn missing_labels(&self, table: &Table) -> Result<usize> {
        let columns = self.label.columns();
        let columns = columns.iter().map(|name| table.column(name)).collect::<Result<Vec<_>>>()?;
        let missing = |row: &usize| columns.iter().any(|column| column.values.is_missing(*row));
        Ok((0..table.rows()).filter(missing).count())
    }

    /// The objective in the language.
    pub fn objective(&self) -> &str {
        &self.objective.1.text
    }

    /// The problem as text that needs no training table.
    pub fn frozen(&self) -> Frozen {
        let constraint = |constraint: &BoundConstraint| FrozenConstraint {
            name: constraint.name.clone(),
            text: constraint.text.clone(),
        };
        Frozen {
            label: self.label_text.clone(),
            objective: self.objective_text.clone(),
            constraints: self.constraints.iter().map(constraint).collect(),
        }
    }

    /// Looks for empty groups and for constraints that cannot be met or cannot be violated.
    fn check(
        mut self,
        train: Weighted<'_>,
        others: &[Weighted<'_>],
        skip: bool,
    ) -> Result<(Bound, Vec<Notice>)> {
        let mut notices = Vec::new();
        let mut compiled = self.compile(train.table, train.weights)?;
        let mut empty = compiled.emptiness().clone();
        for (number, other) in (2..).zip(others) {
            let name = match others.len() {
                1 => "the validation rows".to_owned(),
                _ => format!("table {number}"),
            };
            let compiled = self.compile(other.table, other.weights);
            let compiled = compiled.map_err(|error| error.at(&name))?;
            let mut lacks = compiled.emptiness().clone();
            let reasons = lacks.objective.iter_mut().chain(lacks.constraints.values_mut());
            reasons.for_each(|(_, reason)| *reason = format!("in {name}, {reason}"));
            empty.add(&lacks);
        }
        if let Some((span, reason)) = &empty.objective {
            let help = "check the group, or take it out of the objective";
            return Err(group_error(&self.objective.1, *span, reason, help));
        }
        if !empty.constraints.is_empty() {
            for (&index, (span, reason)) in &empty.constraints {
                let constraint = &self.constraints[index];
                // Only the groups that the `each` made may be left out, not others beside them.
                let each = constraint.each.contains(&span.range());
                if !(each && skip) {
                    let help = if each {
                        "merge the small groups, or allow empty groups to be left out"
                    } else {
                        "check the group, or take the constraint out"
                    };
                    return Err(group_error(&constraint.source, *span, reason, help));
                }
                notices.push(Notice::EmptyGroup {
                    constraint: constraint.name.clone(),
                    reason: reason.clone(),
                });
            }
            let mut index = 0..;
            self.constraints
                .retain(|_| !index.next().is_some_and(|i| empty.constraints.contains_key(&i)));
            compiled = self.compile(train.table, train.weights)?;
        }
        let (objective, ranges) = compiled.losses().ranges();
        let large = |source: &Source| {
            let message = "its numbers are too large to add up";
            source.fail(ErrorKind::Problem, Span::whole(&source.text), message, "")
        };
        if !(objective.0.is_finite() && objective.1.is_finite()) {
            return Err(large(&self.objective.1));
        }
        for (constraint, (least, most)) in self.constraints.iter().zip(ranges) {
            if !(least.is_finite() && most.is_finite()) {
                return Err(large(&constraint.source));
            }
            // Rounding, on the scale of the constraint's own numbers.
            let hair = 1e-9 * least.abs().max(most.abs()).max(constraint.form.constant.abs());
            if least > hair {
                let all = Span::whole(&constraint.source.text);
                return Err(constraint.source.fail(
                    ErrorKind::Problem,
                    all,
                    format!("no classifier can meet `{}`", constraint.name),
                    format!(
                        "the best that any can do on the training rows misses it by {}",
                        round(least)
                    ),
                ));
            }
            if most <= hair {
                notices.push(Notice::AlwaysMet { constraint: constraint.name.clone() });
            }
        }
        Ok((self, notices))
    }

    /// Cuts a table into cells and makes the losses of the problem on it.
    ///
    /// `weights` counts rows, 1 each where it is `None`. A rate that has nothing to measure in this
    /// table makes the losses it is part of NaN; [`Compiled::empty_constraints`] names them.
    pub fn compile(&self, table: &Table, weights: Option<&[f32]>) -> Result<Compiled> {
        super::compile::compile(self, table, weights)
    }
}

fn round(number: f64) -> String {
    if number < 1e-3 {
        return format!("{number:.1e}");
    }
    let text = format!("{number:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn group_error(source: &Source, span: Span, reason: &str, help: &str) -> Error {
    source.fail(ErrorKind::Group, span, reason, "this rate has nothing to measure").help(help)
}

/// The inequalities that a statement without `each` stands for.
fn single(statement: Statement) -> Vec<Inequality> {
    match statement {
        Statement::Chain { first, rest } => {
            let mut left = first;
            let mut inequalities = Vec::new();
            for (relation, right) in rest {
                inequalities.push(Inequality { left, relation, right: right.clone() });
                left = right;
            }
            inequalities
        }
        Statement::Equal { left, right, within } => {
            let shifted = |sign| {
                let (span, within) = (right.span(), Expression::Number(within, right.span()));
                let mut parts = match &right {
                    Expression::Sum(parts, _) => parts.clone(),
                    other => vec![(Sign::Plus, other.clone())],
                };
                parts.push((sign, within));
                Expression::Sum(parts, span)
            };
            [(Relation::AtMost, Sign::Plus), (Relation::AtLeast, Sign::Minus)]
                .map(|(relation, sign)| Inequality {
                    left: left.clone(),
                    relation,
                    right: shifted(sign),
                })
                .into()
        }
    }
}
