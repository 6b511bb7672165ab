//! A bound problem and a table, made into cells and losses.
//!
//! A rate is a sum over **regions** (a group, and a label or older decision) of the weight decided
//! positive. Rows that lie in the same regions are a cell, and the i-th loss has on each cell the
//! number α_i(c) = Σ_j a_j·1{c ∈ R_j} over the regions R_j of its rates.
//!
//! A table of α over cells × constraints could be as large as rows × constraints. So losses are kept
//! as sums over **events**, sets of cells that constraints share: α itself needs the regions alone,
//! and its positive part, which depends on which of the few regions of one constraint a cell lies in,
//! is by Möbius inversion a sum over intersections of these:
//!
//! ```text
//! α⁺(c) = Σ_S δ_S · 1{c ∈ ∩S},   δ_S = Σ_{T ⊆ S} (−1)^{|S| − |T|} · max(0, Σ_{j ∈ T} a_j)
//! ```
//!
//! For `positive_rate(g) >= 0.8 * positive_rate()` that is two events, g and all rows, of which a
//! thousand such constraints share the second. What it costs to compile, to sum a tally and to push is
//! the number of memberships of cells in events: small where groups are few to a row, and at worst, where
//! every row is a cell of its own and in most groups, a bit for each cell and event.

use std::collections::BTreeMap;

use super::bind::Bound;
use super::events::Events;
use super::language::Span;
use super::losses::Losses;
use super::regions::{Regions, Sum};
use crate::table::Table;
use crate::{Error, ErrorKind, Result};

/// The cells and losses of a problem on one table.
#[derive(Debug, Clone)]
pub struct Compiled {
    cells: Vec<u32>,
    losses: Losses,
    emptiness: Emptiness,
}

/// Which losses have a rate with nothing to measure: where it is written, and why.
#[derive(Debug, Clone, Default)]
pub(super) struct Emptiness {
    pub(super) objective: Option<(Span, String)>,
    pub(super) constraints: BTreeMap<usize, (Span, String)>,
}

impl Emptiness {
    /// Takes in what another table lacks.
    pub(super) fn add(&mut self, other: &Emptiness) {
        self.objective = self.objective.take().or_else(|| other.objective.clone());
        for (index, reason) in &other.constraints {
            self.constraints.entry(*index).or_insert_with(|| reason.clone());
        }
    }
}

impl Compiled {
    /// The cell of each row.
    pub fn cells(&self) -> &[u32] {
        &self.cells
    }

    /// The losses, of which a tally over the cells is all the data they need.
    pub fn losses(&self) -> &Losses {
        &self.losses
    }

    /// The constraints that have a rate with nothing to measure, each with the reason.
    pub fn empty_constraints(&self) -> impl Iterator<Item = (usize, &str)> {
        self.emptiness.constraints.iter().map(|(&index, (_, reason))| (index, reason.as_str()))
    }

    pub(super) fn emptiness(&self) -> &Emptiness {
        &self.emptiness
    }
}

pub(super) fn compile(bound: &Bound, table: &Table, weights: Option<&[f32]>) -> Result<Compiled> {
    check_weights(weights, table.rows())?;
    let mut regions = Regions::new(bound, table, weights)?;
    let mut emptiness = Emptiness::default();
    let objective = regions.sum(&bound.objective.0).unwrap_or_else(|reason| {
        emptiness.objective = Some(reason);
        Sum::undefined()
    });
    let mut constraints = Vec::with_capacity(bound.constraints.len());
    for (index, constraint) in bound.constraints.iter().enumerate() {
        constraints.push(regions.sum(&constraint.form).unwrap_or_else(|reason| {
            emptiness.constraints.insert(index, reason);
            Sum::undefined()
        }));
    }

    let cells = regions.merge(weights);
    let mut events = Events::new(&cells.regions);
    let objective = events.loss(&objective);
    let constraints = constraints.iter().map(|sum| events.loss(sum)).collect();
    let losses = Losses::new(cells.weights, &events.into_sets(), objective, constraints);
    Ok(Compiled { cells: cells.of_row, losses, emptiness })
}

pub(super) fn check_weights(weights: Option<&[f32]>, rows: usize) -> Result<()> {
    let Some(weights) = weights else { return Ok(()) };
    if weights.len() != rows {
        let message = format!("{} weights are given for {rows} rows", weights.len());
        return Err(Error::new(ErrorKind::Value, message));
    }
    match weights.iter().position(|weight| !(*weight >= 0.0 && weight.is_finite())) {
        None => {
            // Slopes are numbers over the total weight, and are kept in 32 bits.
            let total: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
            if total == 0.0 || (1e-25..1e35).contains(&total) {
                return Ok(());
            }
            Err(Error::new(ErrorKind::Value, format!("the weights add up to {total:e}"))
                .help("only their proportions count: multiply them all by the same number, so that they are about 1"))
        }
        Some(row) => Err(Error::new(
            ErrorKind::Value,
            format!("the weight of row {} is {}", row + 1, weights[row]),
        )
        .help("weights are numbers from 0 up")),
    }
}
