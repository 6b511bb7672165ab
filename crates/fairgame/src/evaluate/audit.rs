//! Anyone's decisions, judged by a problem that is bound to the very rows they are about.
//!
//! What a problem takes from rows (the groups of an `each`, quantiles) is known only once all rows were read. So rows
//! are summed by what the problem could ask of them, the problem is bound to these patterns at the end, and their
//! sums become those of its cells. One pass is enough, but for quantiles: their numbers have to be known before.

use std::collections::BTreeMap;

use super::accumulate::{add_rows, check_units};
use super::sums::RowSums;
use super::units::Units;
use super::{Accumulator, Decisions, Evaluation, check_confidence};
use crate::rate::{
    BindNotice, Bound, Counted, Problem, Quantiles, Question, RowCounts, Survey, check_each_weight,
};
use crate::table::{Table, Values};
use crate::{Error, ErrorKind, Result};

/// Rows and decisions, added in parts, that a problem is to be bound to.
///
/// ```
/// use fairgame::evaluate::{Audit, Decisions};
/// use fairgame::rate::Problem;
/// use fairgame::table::{ReadOptions, Source, chunks};
///
/// let problem = Problem::parse("able == \"yes\"", "error()", &["tpr(each sex) >= 0.5"])?;
/// let csv = "sex,able\nf,yes\nm,no\nf,no\nm,yes\n";
/// let mut audit = Audit::new(&problem);
/// for people in chunks([Source::stream("people.csv", csv.as_bytes())], &ReadOptions::default(), 2)? {
///     audit.add(&people?, None, Decisions::Hard(&[true, false]))?;
/// }
/// let found = audit.finish(0.95)?.evaluation;
/// let names: Vec<&str> = found.constraints.iter().map(|one| one.name.as_str()).collect();
/// assert_eq!(names, ["tpr(sex == \"f\") >= 0.5", "tpr(sex == \"m\") >= 0.5"]);
/// assert_eq!(found.constraints[1].value(), Some(0.5));
/// # Ok::<(), fairgame::Error>(())
/// ```
#[derive(Debug)]
pub struct Audit {
    problem: Problem,
    /// What decides rows, if it is a condition, and what messages call it.
    condition: Option<(Problem, String)>,
    question: Question,
    /// The numbers of columns whose quantiles are asked for.
    numbers: BTreeMap<String, Vec<f64>>,
    /// `None` until the first row is added.
    rows: Option<Surveyed>,
}

/// The patterns of rows, and the sums of each.
#[derive(Debug)]
struct Surveyed {
    survey: Survey,
    sums: Vec<RowSums>,
    /// Of each pattern; `None` where no row was given a unit.
    units: Option<Units>,
    rows: u64,
    quantiles: Quantiles,
}

/// What an audit comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Audited {
    /// Rates, losses and verdicts.
    pub evaluation: Evaluation,
    /// What binding the problem to the rows found worth telling.
    pub notices: Vec<BindNotice>,
    /// How many rows have no label: they count as negative.
    pub unlabelled: u64,
    /// How many rows have no unit, where units were given: each of them is a unit of its own.
    pub without_unit: u64,
}

impl Audit {
    /// Of no rows yet; what was decided is given with the rows.
    pub fn new(problem: &Problem) -> Self {
        let (problem, question) = (problem.clone(), Question::of(problem));
        Audit { problem, condition: None, question, numbers: BTreeMap::new(), rows: None }
    }

    /// The same audit, of rows that are decided positive where they meet a condition; messages say that it stands
    /// in `place`.
    ///
    /// # Errors
    /// If the condition cannot be read.
    pub fn decided_by(mut self, condition: &str, place: &str) -> Result<Self> {
        let parsed = Problem::parse(condition, "positive_rate()", &[] as &[&str]);
        let parsed = parsed.map_err(|error| error.at(place))?;
        self.question.and_label_of(&parsed);
        self.condition = Some((parsed, place.to_owned()));
        Ok(self)
    }

    /// The columns that label, groups and condition look at.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.question.columns()
    }

    /// The columns whose quantiles are asked for: where there are any, all rows are to be given to
    /// [`Audit::add_quantiles`] before the first is added.
    pub fn quantile_columns(&self) -> impl Iterator<Item = &str> {
        self.question.quantile_columns()
    }

    /// Takes in the numbers of the columns whose quantiles are asked for. A column that is not there is told of
    /// at the end.
    pub fn add_quantiles(&mut self, table: &Table) {
        for name in self.question.quantile_columns() {
            let column = table.columns().iter().find(|column| column.name == name);
            if let Some(Values::Number(numbers)) = column.map(|column| &column.values) {
                self.numbers.entry(name.to_owned()).or_default().extend(numbers);
            }
        }
    }

    fn surveyed(&mut self) -> &mut Surveyed {
        let (question, numbers) = (&self.question, &mut self.numbers);
        self.rows.get_or_insert_with(|| {
            let quantiles = question.quantiles(std::mem::take(numbers));
            let survey = Survey::new(question, &quantiles);
            Surveyed { survey, sums: Vec::new(), units: None, rows: 0, quantiles }
        })
    }

    /// Adds rows and what was decided of them; without weights, each row counts 1.
    ///
    /// # Errors
    /// As of [`Accumulator::add`]; or if rows are decided by a condition.
    pub fn add(
        &mut self,
        table: &Table,
        weights: Option<&[f32]>,
        decisions: Decisions<'_>,
    ) -> Result<()> {
        self.add_by_unit(table, weights, None, Some(decisions))
    }

    /// Adds rows that the condition decides; without weights, each row counts 1.
    ///
    /// # Errors
    /// As of [`Accumulator::add`]; or if there is no condition.
    pub fn add_undecided(&mut self, table: &Table, weights: Option<&[f32]>) -> Result<()> {
        self.add_by_unit(table, weights, None, None)
    }

    /// Adds rows, the unit of each as [`Accumulator::add_by_unit`] has it, and what was decided of them; without
    /// decisions, the condition decides.
    ///
    /// # Errors
    /// As of [`Accumulator::add_by_unit`]; if there are both decisions and a condition, or neither.
    pub fn add_by_unit(
        &mut self,
        table: &Table,
        weights: Option<&[f32]>,
        units: Option<&[Option<u64>]>,
        decisions: Option<Decisions<'_>>,
    ) -> Result<()> {
        // As if all were positive, until it is known which are not.
        let positive;
        let decisions = match (decisions, &self.condition) {
            (Some(decisions), None) => decisions,
            (None, Some(_)) => {
                positive = vec![true; table.rows()];
                Decisions::Hard(&positive)
            }
            (Some(_), Some(_)) => {
                let message = "decisions are given for rows that a condition decides";
                return Err(Error::new(ErrorKind::Settings, message));
            }
            (None, None) => {
                let message = "rows are given without decisions, and no condition decides them";
                return Err(Error::new(ErrorKind::Settings, message));
            }
        };
        self.surveyed().add(table, weights, units, decisions)
    }

    /// A row of each pattern, the sums of its rows, the units and the number of rows.
    pub(super) fn surveyed_rows(&mut self) -> Result<(Table, Vec<RowSums>, Option<Units>, u64)> {
        if let Some(column) = self.question.quantile_columns().next() {
            let message = format!("quantiles of `{column}` are those of all rows, and no sums");
            return Err(Error::new(ErrorKind::Problem, message)
                .help("write the numbers in place of quantile()"));
        }
        let Surveyed { survey, sums, units, rows, .. } = self.surveyed();
        Ok((survey.table()?, sums.clone(), units.clone(), *rows))
    }

    /// Adds sums over rows that are like each row of a table, and the units of these rows by row of the table.
    pub(super) fn merge_summed(
        &mut self,
        table: &Table,
        sums: &[RowSums],
        units: Option<Units>,
        rows: u64,
    ) -> Result<()> {
        if sums.is_empty() {
            return Ok(());
        }
        let all = self.surveyed();
        let patterns = all.survey.add(table)?;
        if units.is_some() && all.units.is_none() {
            all.units = Some(Units::of_rows(&all.sums));
        }
        all.sums.resize_with(all.survey.len(), RowSums::default);
        for (&pattern, sums) in patterns.iter().zip(sums) {
            all.sums[pattern as usize].merge(sums);
        }
        match (&mut all.units, &units) {
            (None, _) => {}
            (Some(all), None) => all.add_loose(&patterns, sums),
            (Some(all), Some(units)) => all.merge(units, &patterns),
        }
        all.rows += rows;
        Ok(())
    }

    /// What the decisions come to on all rows that were added.
    ///
    /// # Errors
    /// If the problem cannot be bound to the rows, as of [`Problem::bind`]; and those of [`Accumulator::finish`].
    pub fn finish(mut self, confidence: f64) -> Result<Audited> {
        check_confidence(confidence)?;
        self.surveyed();
        let Audit { problem, condition, rows, .. } = self;
        let Some(Surveyed { survey, sums, units, quantiles, .. }) = rows else {
            return Err(Error::new(ErrorKind::Value, "there are no rows"));
        };
        let table = survey.table()?;
        let weights: Vec<f64> = sums.iter().map(RowSums::weight).collect();
        let rows: Vec<usize> = sums.iter().map(|sums| sums.rows as usize).collect();
        let counts = RowCounts::Many { weights: &weights, rows: &rows };
        let bind =
            |problem: &Problem| problem.bind_counted(Counted { table: &table, counts }, &quantiles);
        let (bound, notices) = bind(&problem)?;
        let unlabelled = unlabelled(&bound, &table, &rows)?;
        let mut positive = vec![true; table.rows()];
        if let Some((condition, place)) = &condition {
            let (decided, _) = bind(condition).map_err(|error| error.at(place))?;
            positive = decided.label().evaluate(&table)?;
        }
        let all = Accumulator::of_summed(&bound, &table, &sums, units, &positive)?;
        let (evaluation, without_unit) = (all.finish(confidence)?, all.rows_without_unit());
        Ok(Audited { evaluation, notices, unlabelled, without_unit })
    }
}

impl Surveyed {
    fn add(
        &mut self,
        table: &Table,
        weights: Option<&[f32]>,
        units: Option<&[Option<u64>]>,
        decisions: Decisions<'_>,
    ) -> Result<()> {
        decisions.check(table.rows(), self.rows)?;
        check_each_weight(weights, table.rows(), self.rows)?;
        check_units(units, table.rows())?;
        let patterns = self.survey.add(table)?;
        if units.is_some() && self.units.is_none() {
            self.units = Some(Units::of_rows(&self.sums));
        }
        self.sums.resize_with(self.survey.len(), RowSums::default);
        add_rows(&mut self.sums, &patterns, weights, decisions);
        if let Some(all) = &mut self.units {
            let unit = |row: usize| units.and_then(|units| units[row]);
            all.add(&patterns, weights, (0..table.rows()).map(unit), decisions);
        }
        self.rows += table.rows() as u64;
        Ok(())
    }
}

/// How many rows have no label, where a table has a row for each of so many.
pub(super) fn unlabelled(bound: &Bound, table: &Table, rows: &[usize]) -> Result<u64> {
    let columns = bound.label().columns();
    let columns = columns.iter().map(|name| table.column(name)).collect::<Result<Vec<_>>>()?;
    let missing = |at: usize| columns.iter().any(|column| column.values.is_missing(at));
    Ok((0..table.rows()).filter(|&at| missing(at)).map(|at| rows[at] as u64).sum())
}
