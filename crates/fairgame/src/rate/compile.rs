//! A bound problem and the weight of each cell, made into losses.
//!
//! A rate is a sum over **regions** (a group, and a label or older decision) of the weight decided
//! positive. Every region is a set of cells (`partition.rs`), and the i-th loss has on each cell the
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
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::bind::{Bound, Weighted};
use super::events::Events;
use super::language::Span;
use super::linear::Form;
use super::losses::Losses;
use super::partition::Partition;
use super::regions::Regions;
use super::set::Set;
use crate::slab::Slab;
use crate::table::Table;
use crate::{Error, ErrorKind, Result};

/// The cells and losses of a problem on one table.
#[derive(Debug, Clone)]
pub struct Compiled {
    cells: Arc<Slab<u32>>,
    losses: Losses,
    emptiness: Emptiness,
}

/// Which losses have a rate with nothing to measure.
#[derive(Debug, Clone, Default)]
pub struct Emptiness {
    /// Where the rate is written, and why.
    pub(super) objective: Option<(Span, String)>,
    pub(super) constraints: BTreeMap<usize, (Span, String)>,
}

impl Emptiness {
    /// Why the objective cannot be measured, if it cannot.
    pub fn objective(&self) -> Option<&str> {
        self.objective.as_ref().map(|(_, reason)| reason.as_str())
    }

    /// The constraints that cannot be measured, each with the reason.
    pub fn constraints(&self) -> impl Iterator<Item = (usize, &str)> {
        self.constraints.iter().map(|(&index, (_, reason))| (index, reason.as_str()))
    }

    /// Takes in what another table lacks.
    pub(super) fn add(&mut self, other: &Emptiness) {
        self.objective = self.objective.take().or_else(|| other.objective.clone());
        for (index, reason) in &other.constraints {
            self.constraints.entry(*index).or_insert_with(|| reason.clone());
        }
    }
}

impl Compiled {
    /// The losses of a problem on rows with these cells and weights, 1 each where there are none.
    ///
    /// # Errors
    /// If the partition is of another problem, a cell is not one of its cells, or the weights are not one
    /// number from 0 up for each row.
    pub fn new(
        bound: &Bound,
        partition: &Partition,
        cells: Vec<u32>,
        weights: Option<&[f32]>,
    ) -> Result<Self> {
        Compiled::of(bound, partition, cells, RowCounts::One(weights))
    }

    /// The same for rows that count in any way.
    pub(super) fn of(
        bound: &Bound,
        partition: &Partition,
        cells: Vec<u32>,
        counts: RowCounts<'_>,
    ) -> Result<Self> {
        counts.check(cells.len())?;
        let count = partition.cells();
        if let Some(cell) = cells.iter().find(|&&cell| cell as usize >= count) {
            let message = format!("cell {cell} is none of the {count} cells of the partition");
            return Err(Error::new(ErrorKind::Value, message));
        }
        let (sums, rows) = counts.sum(&cells, count);
        let (losses, emptiness) = Losses::new(bound, partition, &sums, &rows)?;
        Ok(Compiled { cells: Arc::new(cells.into()), losses, emptiness })
    }

    /// The same losses over rows that have these cells.
    #[must_use]
    pub(crate) fn with_cells(mut self, cells: Arc<Slab<u32>>) -> Self {
        self.cells = cells;
        self
    }

    /// The losses of another problem with the same predicates, over the same rows: all rows of a cell are alike to it,
    /// too.
    ///
    /// # Errors
    /// If the predicates are others.
    pub(crate) fn of_other(
        bound: &Bound,
        partition: &Partition,
        (weights, rows): (&[f64], &[usize]),
        cells: &Arc<Slab<u32>>,
    ) -> Result<Self> {
        let (losses, emptiness) = Losses::new(bound, partition, weights, rows)?;
        Ok(Compiled { cells: Arc::clone(cells), losses, emptiness })
    }

    /// The cell of each row.
    pub fn cells(&self) -> &[u32] {
        &self.cells
    }

    /// The same for the rows in another order.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn reordered(mut self, order: &[u32]) -> Self {
        let cells: Vec<u32> = order.iter().map(|&row| self.cells[row as usize]).collect();
        self.cells = Arc::new(cells.into());
        self
    }

    /// The losses, of which a tally over the cells is all the data they need.
    pub fn losses(&self) -> &Losses {
        &self.losses
    }

    /// The constraints that have a rate with nothing to measure, each with the reason.
    pub fn empty_constraints(&self) -> impl Iterator<Item = (usize, &str)> {
        self.emptiness.constraints()
    }

    pub(super) fn emptiness(&self) -> &Emptiness {
        &self.emptiness
    }
}

/// A table, and what its rows count.
#[derive(Clone, Copy)]
pub(crate) struct Counted<'a> {
    pub(crate) table: &'a Table,
    pub(crate) counts: RowCounts<'a>,
}

#[derive(Clone, Copy)]
pub(crate) enum RowCounts<'a> {
    /// Each row is one row, of its weight or of weight 1.
    One(Option<&'a [f32]>),
    /// Each row stands for so many rows, of so much weight together.
    Many { weights: &'a [f64], rows: &'a [usize] },
}

impl<'a> From<Weighted<'a>> for Counted<'a> {
    fn from(Weighted { table, weights }: Weighted<'a>) -> Self {
        Counted { table, counts: RowCounts::One(weights) }
    }
}

impl Counted<'_> {
    /// Checks what the rows count, before any is looked at.
    pub(super) fn check(&self) -> Result<()> {
        self.counts.check(self.table.rows())
    }
}

impl RowCounts<'_> {
    fn check(&self, rows: usize) -> Result<()> {
        match self {
            RowCounts::One(weights) => {
                check_each_weight(*weights, rows, 0)?;
                let weights = weights.unwrap_or_default().iter();
                check_total_weight(weights.map(|&weight| f64::from(weight)).sum())
            }
            RowCounts::Many { weights, .. } => check_total_weight(weights.iter().sum()),
        }
    }

    /// The weight and the number of rows of each cell.
    ///
    /// Weights are added row by row, as a tally adds them up, so that a full tally has these to the bit.
    fn sum(&self, cells: &[u32], count: usize) -> (Vec<f64>, Vec<usize>) {
        let (mut sums, mut numbers) = (vec![0.0; count], vec![0; count]);
        for (row, &cell) in cells.iter().enumerate() {
            let (weight, number) = match self {
                RowCounts::One(None) => (1.0, 1),
                RowCounts::One(Some(weights)) => (f64::from(weights[row]), 1),
                RowCounts::Many { weights, rows } => (weights[row], rows[row]),
            };
            sums[cell as usize] += weight;
            numbers[cell as usize] += number;
        }
        (sums, numbers)
    }
}

impl Losses {
    /// The losses of a problem on rows of which the weight and the number in each cell are known, and
    /// which of them have nothing to measure; those are NaN.
    ///
    /// # Errors
    /// If the partition is of another problem, or there is not one weight and one number for each cell.
    pub fn new(
        bound: &Bound,
        partition: &Partition,
        weights: &[f64],
        rows: &[usize],
    ) -> Result<(Losses, Emptiness)> {
        partition.check(bound)?;
        if weights.len() != partition.cells() || rows.len() != partition.cells() {
            let (given, cells) = (weights.len(), partition.cells());
            let message = format!("the weights of {given} cells are given for {cells} cells");
            return Err(Error::new(ErrorKind::Value, message));
        }
        Ok(Losses::of_met(bound, partition.met(), weights, rows))
    }

    /// The same where of each predicate the cells are known that meet it.
    pub(super) fn of_met(
        bound: &Bound,
        met: &[Set],
        weights: &[f64],
        rows: &[usize],
    ) -> (Losses, Emptiness) {
        let mut regions = Regions::new(met, weights, rows);
        let (forms, emptiness) = forms(bound, &mut regions);
        let regions = regions.into_sets();
        let mut events = Events::new(&regions);
        let losses = forms.iter().map(|form| events.loss(form)).collect();
        (Losses::of_events(weights.to_vec(), &events.into_sets(), losses), emptiness)
    }
}

/// The losses as numbers on regions, the objective first.
fn forms(bound: &Bound, regions: &mut Regions<'_>) -> (Vec<Form<usize>>, Emptiness) {
    let mut emptiness = Emptiness::default();
    let mut forms = Vec::with_capacity(bound.constraints.len() + 1);
    for (index, loss) in bound.losses().enumerate() {
        forms.push(regions.sum(&loss.form).unwrap_or_else(|reason| {
            match index.checked_sub(1) {
                None => emptiness.objective = Some(reason),
                Some(index) => drop(emptiness.constraints.insert(index, reason)),
            }
            Form::constant(f64::NAN)
        }));
    }
    (forms, emptiness)
}

/// Weights, scaled by a power of two to be at most 1, that add up without rounding in any order.
///
/// They are multiples of 2⁻⁵³ of a power of two that is at least their sum, so that f64 holds every sum of some of them
/// exactly. What rounding changes is below 10⁻¹⁵ of the sum: of most weights, nothing. Only their proportions count.
///
/// ```
/// use fairgame::rate::quantised;
/// assert_eq!(quantised(&[3.0, 1.5, 0.0]), [0.75, 0.375, 0.0]);
/// // A third is not rounded: its digits are far above the last digit of the sum.
/// assert_eq!(quantised(&[1.0, 1.0 / 3.0]), [1.0, 1.0 / 3.0]);
/// ```
pub fn quantised(weights: &[f32]) -> Vec<f32> {
    let most = weights.iter().copied().fold(0.0, f32::max);
    let quantiser = Quantiser::new(most, || weights.iter().copied());
    weights.iter().map(|&weight| quantiser.of(weight)).collect()
}

/// How weights are rounded, so that they add up without rounding.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Quantiser(Option<(f64, f64)>);

impl Quantiser {
    /// For weights of which the largest is known.
    pub(crate) fn new<I: Iterator<Item = f32>>(most: f32, weights: impl Fn() -> I) -> Self {
        let most = f64::from(most);
        if !(most > 0.0 && most.is_finite()) {
            return Quantiser(None);
        }
        let above = |number: f64| 2_f64.powi(number.log2().ceil() as i32);
        let unit = above(most);
        let total: f64 = weights().map(|weight| f64::from(weight) / unit).sum();
        Quantiser(Some((unit, above(total) / (1_u64 << 53) as f64)))
    }

    /// One of the weights, rounded.
    pub(crate) fn of(&self, weight: f32) -> f32 {
        match self.0 {
            Some((unit, step)) => ((f64::from(weight) / unit / step).round() * step) as f32,
            None => weight,
        }
    }
}

/// Checks that there is a weight for each of these rows, which come after `before` others.
pub(crate) fn check_each_weight(weights: Option<&[f32]>, rows: usize, before: u64) -> Result<()> {
    let Some(weights) = weights else { return Ok(()) };
    if weights.len() != rows {
        let message = format!("{} weights are given for {rows} rows", weights.len());
        return Err(Error::new(ErrorKind::Value, message));
    }
    let wrong = weights.iter().position(|weight| !(*weight >= 0.0 && weight.is_finite()));
    let Some(row) = wrong else { return Ok(()) };
    let message = format!("the weight of row {} is {}", before + row as u64 + 1, weights[row]);
    Err(Error::new(ErrorKind::Value, message).help("weights are numbers from 0 up"))
}

/// Slopes are numbers over the total weight, and are kept in 32 bits.
pub(crate) fn check_total_weight(total: f64) -> Result<()> {
    if total == 0.0 || (1e-25..1e35).contains(&total) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Value, format!("the weights add up to {total:e}"))
        .help("only their proportions count: multiply them all by the same number, so that they are about 1"))
}
