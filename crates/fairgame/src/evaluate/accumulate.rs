//! Evaluation as sums: rows are added in parts, parts are merged, and the sums are judged at the end.

use std::collections::HashMap;

use super::carried::Carried;
use super::counts::Counts;
use super::estimate;
use super::loss::Loss;
use super::result::rows_to_decide;
use super::sums::{Chance, RowSums};
use super::units::{GatheredUnits, Units};
use super::{
    ConstraintResult, Decisions, Evaluation, Measurement, ObjectiveResult, RateResult, Verdict,
    check_confidence,
};
use crate::rate::{
    Bound, LABEL, Partition, PartitionBuilder, Set, check_each_weight, check_total_weight,
};
use crate::table::Table;
use crate::{Error, ErrorKind, Result};

/// What evaluation needs of rows, however many there are: exact sums for each cell of a problem.
///
/// Rows may come in any parts, in any order, and parts that were summed apart may be merged in any order: the
/// evaluation is the same to the bit. What is kept grows with the number of cells, not of rows; with units
/// ([`Accumulator::add_by_unit`]), it also grows with the number of units.
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
    /// `None` where no row was given a unit: each is one of its own.
    units: Option<Units>,
    rows: u64,
}

impl Accumulator {
    /// Of no rows yet.
    pub fn new(bound: &Bound) -> Self {
        let classes = PartitionBuilder::new(bound);
        Accumulator { bound: bound.clone(), classes, sums: Vec::new(), units: None, rows: 0 }
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
        self.add_by_unit(table, weights, None, decisions)
    }

    /// Adds rows and what was decided of them, and says which unit each row is of: a person or a household, of which
    /// there may be several rows, here or in other parts.
    ///
    /// Rows of one unit are not independent, and units are. Intervals are then those of independent units. A unit is
    /// any number: [`draws`](crate::classifier::draws) makes them of a column of identifiers. A row without one is a
    /// unit of its own. Memory grows with the number of units: about 130 bytes for a unit of one row, and 100 more for
    /// each cell that a unit of several rows is in.
    ///
    /// ```
    /// use fairgame::evaluate::{Accumulator, Decisions};
    /// use fairgame::rate::Problem;
    /// use fairgame::table::{ReadOptions, Source, read};
    ///
    /// // Twenty people, each with five equal rows, and a decision that is the same for all rows of a person.
    /// let csv = format!("able\n{}", "yes\n".repeat(100));
    /// let visits = read([Source::stream("visits.csv", std::io::Cursor::new(csv))], &ReadOptions::default())?;
    /// let (bound, _) = Problem::parse("able == \"yes\"", "error()", &["tpr() >= 0.3"])?.bind(&visits, &[])?;
    /// let person: Vec<Option<u64>> = (0..100).map(|row| Some(row / 5)).collect();
    /// let decided: Vec<bool> = (0..100).map(|row| row / 5 < 10).collect();
    ///
    /// let mut all = Accumulator::new(&bound);
    /// all.add_by_unit(&visits, None, Some(&person), Decisions::Hard(&decided))?;
    /// let found = all.finish(0.95)?;
    /// // The interval of 10 of 20, not that of 50 of 100.
    /// let rate = found.constraints[0].rates[0].measurement.estimate().unwrap();
    /// assert!((rate.interval.low - 0.2720).abs() < 1e-4 && (rate.interval.high - 0.7280).abs() < 1e-4);
    /// assert_eq!((found.rows, found.units), (100, Some(20)));
    /// # Ok::<(), fairgame::Error>(())
    /// ```
    ///
    /// # Errors
    /// As of [`Accumulator::add`]; or if there is not one unit a row.
    pub fn add_by_unit(
        &mut self,
        table: &Table,
        weights: Option<&[f32]>,
        units: Option<&[Option<u64>]>,
        decisions: Decisions<'_>,
    ) -> Result<()> {
        decisions.check(table.rows(), self.rows)?;
        check_each_weight(weights, table.rows(), self.rows)?;
        check_units(units, table.rows())?;
        let classes = self.classes.add(table)?;
        self.with_units(units.is_some());
        self.sums.resize_with(self.classes.classes(), RowSums::default);
        add_rows(&mut self.sums, &classes, weights, decisions);
        if let Some(all) = &mut self.units {
            let unit = |row: usize| units.and_then(|units| units[row]);
            all.add(&classes, weights, (0..table.rows()).map(unit), decisions);
        }
        self.rows += table.rows() as u64;
        Ok(())
    }

    /// Keeps units from here on: what was added before has none.
    fn with_units(&mut self, wanted: bool) {
        if wanted && self.units.is_none() {
            self.units = Some(Units::of_rows(&self.sums));
        }
    }

    /// Of sums over rows that meet the same predicates as each row of a table, and of the units of these rows by row of
    /// the table. Where a row of the table is not `positive`, none of its rows is decided so.
    pub(super) fn of_summed(
        bound: &Bound,
        table: &Table,
        rows: &[RowSums],
        units: Option<Units>,
        positive: &[bool],
    ) -> Result<Self> {
        let mut all = Accumulator::new(bound);
        let classes = all.classes.add(table)?;
        all.sums.resize_with(all.classes.classes(), RowSums::default);
        for ((&class, sums), positive) in classes.iter().zip(rows).zip(positive) {
            let sums = if *positive { *sums } else { sums.all_negative() };
            all.sums[class as usize].merge(&sums);
            all.rows += sums.rows;
        }
        all.units = units.map(|units| units.renumbered(&classes, positive));
        Ok(all)
    }

    /// Adds the rows of another accumulator.
    ///
    /// # Errors
    /// If it is of another problem.
    pub fn merge(&mut self, other: &Accumulator) -> Result<()> {
        let classes = self.classes.merge(&other.classes)?;
        self.with_units(other.units.is_some());
        self.sums.resize_with(self.classes.classes(), RowSums::default);
        for (&class, sums) in classes.iter().zip(&other.sums) {
            self.sums[class as usize].merge(sums);
        }
        match (&mut self.units, &other.units) {
            (None, _) => {}
            (Some(all), None) => all.add_loose(&classes, &other.sums),
            (Some(all), Some(units)) => all.merge(units, &classes),
        }
        self.rows += other.rows;
        Ok(())
    }

    /// The classes in ascending order, their sums, the units and the number of rows.
    pub(super) fn sorted(&self) -> Result<(Partition, Vec<RowSums>, Option<Units>, u64)> {
        let partition = self.classes.clone().finish().0;
        let classes = PartitionBuilder::from(partition.clone());
        let empty = Accumulator { classes, ..Accumulator::new(&self.bound) };
        let mut sorted = empty;
        sorted.merge(self)?;
        Ok((partition, sorted.sums, sorted.units, sorted.rows))
    }

    /// Adds rows that were summed elsewhere.
    pub(super) fn merge_carried(&mut self, carried: Carried<Partition>) -> Result<()> {
        let Carried { kinds, sums, units, rows, .. } = carried;
        let (bound, classes) = (self.bound.clone(), PartitionBuilder::from(kinds));
        self.merge(&Accumulator { bound, classes, sums, units, rows })
    }

    /// How many rows have no unit, where units were given: each of them is a unit of its own.
    pub fn rows_without_unit(&self) -> u64 {
        self.units.as_ref().map_or(0, Units::missing)
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
        for (&cell, sums) in cell_of.iter().zip(&self.sums) {
            cells[cell as usize].merge(sums);
        }
        let units = self.units.as_ref().map(|units| units.gathered(&cell_of, cells.len()));
        judge(&self.bound, partition.met(), &cells, units.as_ref(), confidence)
    }
}

/// Checks that there is a unit for each row, where there are units.
pub(super) fn check_units(units: Option<&[Option<u64>]>, rows: usize) -> Result<()> {
    match units {
        Some(units) if units.len() != rows => {
            let message = format!("{} units are given for {rows} rows", units.len());
            Err(Error::new(ErrorKind::Value, message))
        }
        _ => Ok(()),
    }
}

/// Adds rows whose classes are known to the sums of these; there is a decision for each.
pub(super) fn add_rows(
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
pub(super) fn judge(
    bound: &Bound,
    met: &[Set],
    cells: &[RowSums],
    units: Option<&GatheredUnits>,
    confidence: f64,
) -> Result<Evaluation> {
    let (mut labelled, mut all) = (RowSums::default(), RowSums::default());
    met[LABEL].iter().for_each(|cell| labelled.merge(&cells[cell as usize]));
    cells.iter().for_each(|sums| all.merge(sums));
    let total = all.weight();
    check_total_weight(total)?;
    let share = |sum: f64| (total > 0.0).then(|| sum / total);
    let (positive, rightly) = (all.positive_weight(), labelled.positive_weight());

    let counts = &mut Counts::new(met, cells, units);
    let alpha = 1.0 - confidence;
    let each = alpha / bound.constraints().len().max(1) as f64;
    // A thousand constraints may compare their group with the same rate.
    let mut known: HashMap<&str, RateResult> = HashMap::new();
    let mut results = bound.losses().enumerate().map(|(index, loss)| {
        let misses = if index == 0 { alpha } else { each };
        let measurement = Loss::measure(&loss.form.collected(), counts, misses);
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
            rows_to_decide: rows_to_decide(&measurement, all.rows),
            measurement,
            rates,
        })
        .collect();
    let verdict = Verdict::of_all(constraints.iter().map(|constraint| constraint.verdict));
    Ok(Evaluation {
        rows: all.rows as usize,
        units: units.map(|units| units.units),
        confidence,
        // Decided positive and not labelled so, or the other way round.
        error: share((positive - rightly) + (labelled.weight() - rightly)),
        positive_rate: share(positive),
        base_rate: share(labelled.weight()),
        drawn: (all.counted() > 0).then(|| all.drawn() as f64 / all.counted() as f64),
        objective,
        constraints,
        verdict,
    })
}
