//! Evaluation as sums: rows are added in parts, parts are merged, and the sums are judged at the end.

use std::collections::HashMap;

use super::counts::Counts;
use super::estimate;
use super::sums::{Chance, RowSums};
use super::{
    ConstraintResult, Decisions, Evaluation, Measurement, ObjectiveResult, RateResult, Verdict,
    check_confidence,
};
use crate::Result;
use crate::rate::{Bound, LABEL, PartitionBuilder, Set, check_each_weight, check_total_weight};
use crate::table::Table;

/// What evaluation needs of rows, however many there are: exact sums for each cell of a problem.
///
/// Rows may come in any parts, in any order, and parts that were summed apart may be merged in any order: the
/// evaluation is the same to the bit. What is kept grows with the number of cells, not of rows.
///
/// ```
/// use fairgame::evaluate::{Accumulator, Decisions, evaluate};
/// use fairgame::rate::Problem;
/// use fairgame::table::{ReadOptions, Source, read};
///
/// let csv = "group,hired\na,yes\nb,no\na,no\nb,yes\nb,yes\n";
/// let people = read([Source::stream("people.csv", csv.as_bytes())], &ReadOptions::default())?;
/// let constraints = ["tpr(each group) >= 0.4"];
/// let (bound, _) = Problem::parse("hired == \"yes\"", "error()", &constraints)?.bind(&people, &[])?;
/// let chances = [0.9, 0.2, 0.4, 0.6, 0.1];
///
/// let (mut first, mut second) = (Accumulator::new(&bound), Accumulator::new(&bound));
/// first.add(&people.take(&[0, 1, 2]), None, Decisions::Probabilities(&chances[..3]))?;
/// second.add(&people.take(&[3, 4]), None, Decisions::Probabilities(&chances[3..]))?;
/// second.merge(&first)?;
/// let whole = evaluate(&bound, &people, None, Decisions::Probabilities(&chances), 0.95)?;
/// assert_eq!(second.finish(0.95)?, whole);
/// # Ok::<(), fairgame::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Accumulator {
    bound: Bound,
    classes: PartitionBuilder,
    /// Of each class.
    sums: Vec<RowSums>,
    rows: u64,
}

impl Accumulator {
    /// Of no rows yet.
    pub fn new(bound: &Bound) -> Self {
        let classes = PartitionBuilder::new(bound);
        Accumulator { bound: bound.clone(), classes, sums: Vec::new(), rows: 0 }
    }

    /// Adds rows and what was decided of them; without weights, each row counts 1.
    ///
    /// # Errors
    /// If there is not one decision a row, or one weight; if a probability is not between 0 and 1 or a weight is
    /// negative; or if the table lacks a column of the problem. Then nothing is added. Rows are counted from the
    /// first that was added.
    pub fn add(
        &mut self,
        table: &Table,
        weights: Option<&[f32]>,
        decisions: Decisions<'_>,
    ) -> Result<()> {
        decisions.check(table.rows(), self.rows)?;
        check_each_weight(weights, table.rows(), self.rows)?;
        let classes = self.classes.add(table)?;
        self.sums.resize_with(self.classes.classes(), RowSums::default);
        add_rows(&mut self.sums, &classes, weights, decisions);
        self.rows += table.rows() as u64;
        Ok(())
    }

    /// Adds sums over rows that meet the same predicates as each row of a table.
    pub(crate) fn add_summed(&mut self, table: &Table, rows: &[RowSums]) -> Result<()> {
        let classes = self.classes.add(table)?;
        self.sums.resize_with(self.classes.classes(), RowSums::default);
        for (class, sums) in classes.into_iter().zip(rows) {
            self.sums[class as usize].merge(sums);
            self.rows += sums.rows;
        }
        Ok(())
    }

    /// Adds the rows of another accumulator.
    ///
    /// # Errors
    /// If it is of another problem.
    pub fn merge(&mut self, other: &Accumulator) -> Result<()> {
        let classes = self.classes.merge(&other.classes)?;
        self.sums.resize_with(self.classes.classes(), RowSums::default);
        for (class, sums) in classes.into_iter().zip(&other.sums) {
            self.sums[class as usize].merge(sums);
        }
        self.rows += other.rows;
        Ok(())
    }

    /// How many rows were added.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// What the decisions come to on all rows that were added.
    ///
    /// # Errors
    /// If `confidence` is below 0.01 or not below 1, or if all weights together are too large or too small.
    pub fn finish(&self, confidence: f64) -> Result<Evaluation> {
        check_confidence(confidence)?;
        let (partition, cell_of) = self.classes.clone().finish();
        let mut cells = vec![RowSums::default(); partition.cells()];
        for (cell, sums) in cell_of.into_iter().zip(&self.sums) {
            cells[cell as usize].merge(sums);
        }
        judge(&self.bound, partition.met(), &cells, confidence)
    }
}

/// Adds rows whose classes are known to the sums of these; there is a decision for each.
pub(crate) fn add_rows(
    sums: &mut [RowSums],
    classes: &[u32],
    weights: Option<&[f32]>,
    decisions: Decisions<'_>,
) {
    for (row, &class) in classes.iter().enumerate() {
        let weight = weights.map_or(1.0, |weights| weights[row]);
        sums[class as usize].add(weight, Chance::new(decisions.probability(row)));
    }
}

/// What sums come to, of cells of which `met` says for each predicate of the problem which ones meet it.
///
/// Numbers are added in the order of the cells: those of a partition do not depend on the order of rows.
pub(crate) fn judge(
    bound: &Bound,
    met: &[Set],
    cells: &[RowSums],
    confidence: f64,
) -> Result<Evaluation> {
    let (mut labelled, mut all) = (RowSums::default(), RowSums::default());
    met[LABEL].iter().for_each(|cell| labelled.merge(&cells[cell as usize]));
    cells.iter().for_each(|sums| all.merge(sums));
    let total = all.weight();
    check_total_weight(total)?;
    let share = |sum: f64| (total > 0.0).then(|| sum / total);
    let (positive, rightly) = (all.positive_weight(), labelled.positive_weight());

    let counts = &mut Counts::new(met, cells);
    let alpha = 1.0 - confidence;
    let each = alpha / bound.constraints().len().max(1) as f64;
    // A thousand constraints may compare their group with the same rate.
    let mut known: HashMap<&str, RateResult> = HashMap::new();
    let mut results = bound.losses().enumerate().map(|(index, loss)| {
        let misses = if index == 0 { alpha } else { each };
        let measurement = estimate::loss(&loss.form.collected(), counts, misses);
        let rates = loss.rates.iter().map(|rate| {
            let known = known.entry(rate.text.as_str());
            known.or_insert_with(|| estimate::rate(rate, counts, alpha)).clone()
        });
        (measurement, rates.collect::<Vec<_>>())
    });
    let (measurement, rates) = results.next().unwrap_or_else(|| {
        (Measurement::Nothing { reason: "there is no objective".to_owned() }, Vec::new())
    });
    let objective = ObjectiveResult { name: bound.objective().to_owned(), measurement, rates };
    let named = bound.constraints().iter().zip(results);
    let constraints: Vec<ConstraintResult> = named
        .map(|(constraint, (measurement, rates))| ConstraintResult {
            name: constraint.name().to_owned(),
            verdict: measurement.verdict(),
            measurement,
            rates,
        })
        .collect();
    let verdict = Verdict::of_all(constraints.iter().map(|constraint| constraint.verdict));
    Ok(Evaluation {
        rows: all.rows as usize,
        confidence,
        // Decided positive and not labelled so, or the other way round.
        error: share((positive - rightly) + (labelled.weight() - rightly)),
        positive_rate: share(positive),
        objective,
        constraints,
        verdict,
    })
}
