//! A problem bound to a training table: quantiles frozen, `each` spelt out, names checked.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::compile::{Compiled, Counted, Emptiness};
use super::each::eaches;
use super::frozen::{Frozen, FrozenConstraint, express};
use super::language::{Expression, Inequality, Relation, Sign, Span, Statement};
use super::linear::{self, BoundLoss};
use super::lower::{LABEL, Lowering, Predicates};
use super::partition::{Partition, PartitionBuilder};
use super::problem::{BindNotice, Problem, Source};
use super::survey::Quantiles;
use super::unnamed::label_values;
use crate::table::{Kind, Predicate, Table};
use crate::{Error, ErrorKind, Result};

/// A problem whose meaning no later table can change.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// Different predicates: the label first, then groups and older decisions as they first come.
    pub(super) predicates: Arc<[Predicate]>,
    pub(super) label_text: String,
    /// The values of the label's column in training, where they are few and named.
    pub(super) label_values: Vec<String>,
    pub(super) objective: BoundLoss,
    pub(super) objective_text: String,
    pub(super) constraints: Vec<BoundConstraint>,
}

/// A single constraint: a linear form of rates that is to be at most 0.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundConstraint {
    pub(super) name: String,
    /// Its text with what it took from the training table in place.
    pub(super) text: String,
    pub(super) loss: BoundLoss,
    /// Where in the source its `each` stand.
    pub(super) each: Vec<Range<usize>>,
}

/// A problem bound to its training table, and the tables it was bound for, cut into cells.
#[derive(Debug, Clone)]
pub struct Binding {
    /// The problem.
    pub bound: Bound,
    /// What is worth telling the user.
    pub notices: Vec<BindNotice>,
    /// The cells of all tables together.
    pub partition: Partition,
    /// The cells and losses of each table: the training table, then the others.
    pub tables: Vec<Compiled>,
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
    ) -> Result<(Bound, Vec<BindNotice>)> {
        self.compile(train, others).map(|binding| (binding.bound, binding.notices))
    }

    /// Binds the problem as [`Problem::bind`] does, and keeps what that found of the tables: one
    /// partition for all of them, and the cells and losses of each.
    pub fn compile<'a>(
        &self,
        train: impl Into<Weighted<'a>>,
        others: &[Weighted<'_>],
    ) -> Result<Binding> {
        let train = train.into();
        let tables = std::iter::once(train).chain(others.iter().copied());
        let tables: Vec<Counted<'_>> = tables.map(Counted::from).collect();
        self.lower(train.table, None)?.check(&tables, self.skip_empty)
    }

    /// Binds the problem to rows of which a table has one of each pattern, and which are counted elsewhere.
    pub(crate) fn bind_counted(
        &self,
        rows: Counted<'_>,
        quantiles: &Quantiles,
    ) -> Result<(Bound, Vec<BindNotice>)> {
        let bound = self.lower(rows.table, Some(quantiles))?.check(&[rows], self.skip_empty);
        bound.map(|binding| (binding.bound, binding.notices))
    }

    /// Binds the problem as [`Problem::compile`] does, to tables that have one row of each pattern. The first is of the
    /// training rows.
    pub(crate) fn compile_counted(
        &self,
        tables: &[Counted<'_>],
        quantiles: &Quantiles,
    ) -> Result<Binding> {
        let Some(train) = tables.first() else {
            return Err(Error::new(ErrorKind::Problem, "there are no rows to bind the problem to"));
        };
        self.lower(train.table, Some(quantiles))?.check(tables, self.skip_empty)
    }

    /// The problem with what it takes from the training table.
    fn lower(&self, train: &Table, quantiles: Option<&Quantiles>) -> Result<Bound> {
        let mut predicates = Predicates::default();
        let mut lowering = Lowering {
            source: &self.label.source,
            table: Some(train),
            quantiles,
            predicates: &mut predicates,
        };
        let label = lowering.condition(&self.label.tree)?;
        let label_text = express(&label).to_string();
        let label_values = label_values(&label, train);
        lowering.predicates.intern(label);
        lowering.source = &self.objective.source;
        let (objective, objective_tree) = linear::objective(&self.objective.tree, &mut lowering)?;

        let mut constraints = Vec::new();
        for written in &self.constraints {
            lowering.source = &written.source;
            let each = eaches(&written.tree, &written.source)?;
            let statements = match &each {
                None => vec![written.tree.clone()],
                Some(each) => lowering.spell_out(&written.tree, each)?,
            };
            let each = each.map_or(Vec::new(), |each| each.spans);
            for inequality in statements.into_iter().flat_map(single) {
                let (loss, frozen) = linear::constraint(&inequality, &mut lowering)?;
                let (name, text) = (inequality.to_string(), frozen.to_string());
                constraints.push(BoundConstraint { name, text, loss, each: each.clone() });
            }
        }
        Ok(Bound {
            predicates: predicates.into_list(),
            label_text,
            label_values,
            objective,
            objective_text: objective_tree.to_string(),
            constraints,
        })
    }
}

impl Bound {
    /// Takes the labels that there are from other rows than those that the problem was bound to.
    pub(crate) fn remember_labels(&mut self, table: &Table) {
        self.label_values = label_values(&self.predicates[LABEL], table);
    }

    /// The error alone, as a problem of the same predicates.
    ///
    /// # Errors
    /// If the label is not that of the table.
    pub(crate) fn error_alone(&self, table: &Table) -> Result<Bound> {
        let error = Problem::parse::<&str>(&self.label_text, "error()", &[])?;
        let error = error.lower(table, None)?;
        // Both have the label as their first predicate, and the error is about no other.
        Ok(Bound { predicates: Arc::clone(&self.predicates), ..error })
    }

    /// The constraints, in order.
    pub fn constraints(&self) -> &[BoundConstraint] {
        &self.constraints
    }

    /// The condition that makes a row positive.
    pub fn label(&self) -> &Predicate {
        &self.predicates[LABEL]
    }

    /// The columns that label and groups look at, and their kinds.
    ///
    /// Give them to [`ReadOptions::kinds`](crate::table::ReadOptions::kinds) when reading a table to evaluate:
    /// in another file, the codes of a group may happen to look like numbers.
    pub fn kinds(&self) -> BTreeMap<String, Kind> {
        let kinds = self.predicates.iter().flat_map(Predicate::kinds);
        kinds.map(|(column, kind)| (column.to_owned(), kind)).collect()
    }

    /// Label, groups and older decisions, each once.
    pub(crate) fn predicates(&self) -> &Arc<[Predicate]> {
        &self.predicates
    }

    /// Whether a group of the constraints is told by several columns together, such as `race == "a" and sex == "f"`.
    pub fn combines_columns(&self) -> bool {
        let combined = |atom: &super::measure::Atom| {
            atom.group.is_some_and(|group| self.predicates[group].columns().len() > 1)
        };
        self.constraints.iter().flat_map(|one| &one.loss.form.terms).any(|(_, atom)| combined(atom))
    }

    /// The groups of the constraints, each once: all rows first, then each with its predicate and as it is written.
    pub(crate) fn groups(&self) -> Vec<(Option<usize>, String)> {
        let mut groups = vec![(None, String::new())];
        for (_, atom) in self.constraints.iter().flat_map(|one| &one.loss.form.terms) {
            if groups.iter().all(|(known, _)| *known != atom.group) {
                groups.push((atom.group, atom.shown.to_string()));
            }
        }
        groups
    }

    /// Of each constraint, whether its rates count rows by their label.
    pub(crate) fn count_labels(&self) -> Vec<bool> {
        let by_label =
            |loss: &BoundLoss| loss.form.terms.iter().any(|(_, atom)| atom.told == Some(LABEL));
        self.constraints.iter().map(|one| by_label(&one.loss)).collect()
    }

    /// The objective, then each constraint.
    pub(crate) fn losses(&self) -> impl Iterator<Item = &BoundLoss> {
        std::iter::once(&self.objective).chain(self.constraints.iter().map(|one| &one.loss))
    }

    /// How many rows of a table have no label: they count as negative.
    ///
    /// # Errors
    /// If a column of the label is not there.
    pub fn missing_labels(&self, table: &Table) -> Result<usize> {
        let columns = self.label().columns();
        let columns = columns.iter().map(|name| table.column(name)).collect::<Result<Vec<_>>>()?;
        let missing = |row: &usize| columns.iter().any(|column| column.values.is_missing(*row));
        Ok((0..table.rows()).filter(missing).count())
    }

    /// The objective in the language.
    pub fn objective(&self) -> &str {
        &self.objective.source.text
    }

    /// The problem as text that needs no training table.
    pub fn frozen(&self) -> Frozen {
        Frozen {
            label: self.label_text.clone(),
            label_values: self.label_values.clone(),
            objective: self.objective_text.clone(),
            constraints: self.constraints.iter().map(FrozenConstraint::new).collect(),
        }
    }

    /// Cuts the tables into cells, and looks for empty groups and for constraints that cannot be met or
    /// cannot be violated.
    fn check(mut self, tables: &[Counted<'_>], skip: bool) -> Result<Binding> {
        let (mut partition, mut compiled) = self.cut(tables)?;
        let empty = emptiness(&compiled);
        if let Some((span, reason)) = &empty.objective {
            let help = "check the group, or take it out of the objective";
            return Err(group_error(&self.objective.source, *span, reason, help));
        }
        let mut notices = Vec::new();
        if !empty.constraints.is_empty() {
            let mut left_out = Vec::new();
            for (&index, (span, reason)) in &empty.constraints {
                let constraint = &self.constraints[index];
                // Only the groups that the `each` made may be left out, not others beside them.
                let each = constraint.each.contains(&span.range());
                if !(each && skip) {
                    let help = if each {
                        "merge the small groups, or leave empty ones out (`skip_empty_groups`)"
                    } else {
                        "check the group, or take the constraint out"
                    };
                    return Err(group_error(&constraint.loss.source, *span, reason, help));
                }
                left_out.push((constraint.name.clone(), reason.clone()));
            }
            let first = left_out.first().map(|(_, reason)| reason.clone()).unwrap_or_default();
            if left_out.len() > 1 {
                let constraints = left_out.into_iter().map(|(constraint, _)| constraint).collect();
                notices.push(BindNotice::EmptyGroups { constraints, reason: first });
            } else {
                let single = |(constraint, reason)| BindNotice::EmptyGroup { constraint, reason };
                notices.extend(left_out.into_iter().map(single));
            }
            let mut index = 0..;
            self.constraints
                .retain(|_| !index.next().is_some_and(|i| empty.constraints.contains_key(&i)));
            self.forget_unused_predicates();
            (partition, compiled) = self.cut(tables)?;
        }
        self.check_ranges(&compiled[0], &mut notices)?;
        Ok(Binding { bound: self, notices, partition, tables: compiled })
    }

    /// The partition of all tables together, and the cells and losses of each. Each table is passed over
    /// once.
    fn cut(&self, tables: &[Counted<'_>]) -> Result<(Partition, Vec<Compiled>)> {
        let mut builder = PartitionBuilder::new(self);
        let mut of_rows = Vec::with_capacity(tables.len());
        for (number, rows) in tables.iter().enumerate() {
            let added = rows.check().and_then(|()| builder.add(rows.table));
            of_rows.push(added.map_err(|error| match table_name(number, tables.len()) {
                Some(name) => error.at(&name),
                None => error,
            })?);
        }
        let (partition, cell_of) = builder.finish();
        let compiled = of_rows.into_iter().zip(tables).map(|(mut cells, rows)| {
            cells.iter_mut().for_each(|class| *class = cell_of[*class as usize]);
            Compiled::of(self, &partition, cells, rows.counts)
        });
        let compiled = compiled.collect::<Result<_>>()?;
        Ok((partition, compiled))
    }

    /// Drops the predicates of constraints that were left out.
    fn forget_unused_predicates(&mut self) {
        let constraints = self.constraints.iter_mut().map(|constraint| &mut constraint.loss);
        let losses = std::iter::once(&mut self.objective).chain(constraints);
        let mut kept = Predicates::default();
        kept.intern(self.predicates[LABEL].clone());
        for loss in losses {
            for atom in loss.atoms_mut() {
                for place in atom.group.iter_mut().chain(&mut atom.told) {
                    *place = kept.intern(self.predicates[*place].clone());
                }
            }
        }
        self.predicates = kept.into_list();
    }

    fn check_ranges(&self, train: &Compiled, notices: &mut Vec<BindNotice>) -> Result<()> {
        let (objective, ranges) = train.losses().ranges();
        let large = |source: &Source| {
            let message = "its numbers are too large to add up";
            source.fail(ErrorKind::Problem, Span::whole(&source.text), message, "")
        };
        if !(objective.0.is_finite() && objective.1.is_finite()) {
            return Err(large(&self.objective.source));
        }
        for (constraint, (least, most)) in self.constraints.iter().zip(ranges) {
            let BoundLoss { form, source, .. } = &constraint.loss;
            if !(least.is_finite() && most.is_finite()) {
                return Err(large(source));
            }
            // Rounding, on the scale of the constraint's own numbers.
            let hair = 1e-9 * least.abs().max(most.abs()).max(form.constant.abs());
            if least > hair {
                let all = Span::whole(&source.text);
                let message = format!("no classifier can meet `{}`", constraint.name);
                let misses = round(least);
                let label =
                    format!("the best that any can do on the training rows misses it by {misses}");
                return Err(source.fail(ErrorKind::Problem, all, message, label));
            }
            if most <= hair {
                notices.push(BindNotice::AlwaysMet { constraint: constraint.name.clone() });
            }
        }
        Ok(())
    }

    /// The problem, bound elsewhere, on these tables: one partition for all, and the cells and losses of each.
    pub(crate) fn compile_all(
        self,
        train: Weighted<'_>,
        val: Option<Weighted<'_>>,
    ) -> Result<Binding> {
        let tables: Vec<Counted<'_>> =
            [Some(train), val].into_iter().flatten().map(Into::into).collect();
        let (partition, tables) = self.cut(&tables)?;
        Ok(Binding { bound: self, notices: Vec::new(), partition, tables })
    }

    /// The cells of a table: their partition, and the cell of each row.
    ///
    /// # Errors
    /// If a column of the problem is absent or of another kind.
    pub fn partition(&self, table: &Table) -> Result<(Partition, Vec<u32>)> {
        let mut builder = PartitionBuilder::new(self);
        let mut cells = builder.add(table)?;
        let (partition, cell_of) = builder.finish();
        cells.iter_mut().for_each(|class| *class = cell_of[*class as usize]);
        Ok((partition, cells))
    }

    /// Cuts a table into cells and makes the losses of the problem on it.
    ///
    /// `weights` counts rows, 1 each where it is `None`. A rate that has nothing to measure in this
    /// table makes the losses it is part of NaN; [`Compiled::empty_constraints`] names them.
    ///
    /// # Errors
    /// Those of [`Bound::partition`], and if the weights are not one number from 0 up for each row.
    pub fn compile(&self, table: &Table, weights: Option<&[f32]>) -> Result<Compiled> {
        let (partition, cells) = self.partition(table)?;
        Compiled::new(self, &partition, cells, weights)
    }
}

/// What messages call a table other than the training table.
fn table_name(number: usize, tables: usize) -> Option<String> {
    match (number, tables) {
        (0, _) => None,
        (_, 2) => Some("the validation rows".to_owned()),
        (number, _) => Some(format!("table {}", number + 1)),
    }
}

/// What the tables lack, each reason with the table's name.
fn emptiness(tables: &[Compiled]) -> Emptiness {
    let mut empty = Emptiness::default();
    for (number, table) in tables.iter().enumerate() {
        let mut lacks = table.emptiness().clone();
        if let Some(name) = table_name(number, tables.len()) {
            let reasons = lacks.objective.iter_mut().chain(lacks.constraints.values_mut());
            reasons.for_each(|(_, reason)| *reason = format!("in {name}, {reason}"));
        }
        empty.add(&lacks);
    }
    empty
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
