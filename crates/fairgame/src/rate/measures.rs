//! What losses are measured on, for those who ask more of a table than its losses: each rate apart, and
//! which rows it is about.
//!
//! A share k is a mean over the rows of its group (and, of some, of its label) of an outcome in [0, 1] that
//! is affine in the chance p of a positive decision. Which rows, and which outcome, is told by two
//! predicates: its group, and the label or an older decision.

use super::bind::Bound;
use super::compile::check_weights;
use super::linear::{self, Atom, Measure};
use super::regions::{self, Regions};
use super::set::Set;
use crate::Result;
use crate::table::Table;

/// The shares that the losses of a problem are made of, on one table.
#[derive(Debug)]
pub(crate) struct Measures {
    /// The class of each row: rows of one class meet the same predicates.
    pub(crate) of_row: Vec<u32>,
    /// How many classes there are.
    pub(crate) classes: usize,
    /// Of each predicate, the classes that meet it.
    pub(crate) met: Vec<Set>,
    /// The objective, then each constraint.
    pub(crate) losses: Vec<Measured>,
}

/// A loss, and the rates that it is written with.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) form: Form,
    pub(crate) rates: Vec<Shown>,
}

/// A rate as it is written.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) text: String,
    pub(crate) over: Form,
    /// `None` is 1.
    pub(crate) under: Option<Form>,
}

/// β + Σ_k a_k·share_k.
#[derive(Debug)]
pub(crate) struct Form {
    pub(crate) constant: f64,
    /// Different shares, with factors other than 0.
    pub(crate) terms: Vec<(f64, Share)>,
}

/// A mean of an outcome over rows.
#[derive(Debug, Clone)]
pub(crate) struct Share {
    atom: Atom,
    /// The predicate of its group; `None` is all rows.
    pub(crate) group: Option<usize>,
    /// The predicate that its rows or its outcome depend on, beside the group.
    pub(crate) told: Option<usize>,
}

impl Share {
    /// The outcome u + v·p of a row of the group that meets `told` or does not; `None` where such a row does
    /// not count.
    pub(crate) fn outcome(&self, told: bool) -> Option<(f64, f64)> {
        match (&self.atom.measure, told) {
            (Measure::Positive, _) | (Measure::TruePositive, true) => Some((0.0, 1.0)),
            (Measure::FalsePositive, false) | (Measure::RightlyPositive, true) => Some((0.0, 1.0)),
            (Measure::Error | Measure::Churn(_), false) => Some((0.0, 1.0)),
            (Measure::Error | Measure::Churn(_), true) => Some((1.0, -1.0)),
            (Measure::Label, true) => Some((1.0, 0.0)),
            (Measure::RightlyPositive | Measure::Label, false) => Some((0.0, 0.0)),
            (Measure::TruePositive, false) | (Measure::FalsePositive, true) => None,
        }
    }

    /// Why there is nothing to measure, where `counted` of the `rows` of the group count.
    pub(crate) fn nothing(&self, rows: usize, counted: usize) -> String {
        regions::nothing(&self.atom, rows, counted)
    }
}

impl Bound {
    pub(crate) fn measures(&self, table: &Table, weights: Option<&[f32]>) -> Result<Measures> {
        check_weights(weights, table.rows())?;
        let regions = Regions::new(self, table, weights)?;
        let objective = (&self.objective.0, &self.objective_rates);
        let constraints =
            self.constraints.iter().map(|constraint| (&constraint.form, &constraint.rates));
        let losses = std::iter::once(objective).chain(constraints).map(|(loss, rates)| Measured {
            form: form(loss, &regions),
            rates: rates
                .iter()
                .map(|rate| Shown {
                    text: rate.text.clone(),
                    over: form(&rate.over, &regions),
                    under: rate.under.as_ref().map(|under| form(under, &regions)),
                })
                .collect(),
        });
        let losses = losses.collect();
        let classes = regions.classes.examples.len();
        Ok(Measures { losses, classes, of_row: regions.classes.of_row, met: regions.met })
    }
}

/// A form with equal atoms added up.
fn form(form: &linear::Form, regions: &Regions) -> Form {
    let mut terms: Vec<(f64, Share)> = Vec::new();
    for (factor, atom) in &form.terms {
        let group = atom.group.as_ref().map(|group| regions.predicate(group));
        let told = match &atom.measure {
            Measure::Positive => None,
            Measure::Churn(old) => Some(regions.predicate(old)),
            _ => Some(regions.label),
        };
        let same = |share: &Share| {
            share.group == group && share.told == told && share.atom.measure == atom.measure
        };
        match terms.iter_mut().find(|(_, share)| same(share)) {
            Some((total, _)) => *total += factor,
            None => terms.push((*factor, Share { atom: atom.clone(), group, told })),
        }
    }
    terms.retain(|(factor, _)| *factor != 0.0);
    Form { constant: form.constant, terms }
}
