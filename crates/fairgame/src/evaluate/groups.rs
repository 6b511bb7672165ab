//! How groups fare: counts and rates of decisions in each group of rows, with no constraint asked for.
//!
//! A **grouping** is a list of columns; its groups are the combinations of values that occur. A row that has no value in one of
//! the columns is in a group with that value unknown. Of each group g, and of all rows, with y the label and p the chance of
//! a positive decision:
//!
//! ```text
//! base rate       W(g ∧ y) / W(g)            selection rate   P(g) / W(g)
//! tpr             P(g ∧ y) / W(g ∧ y)        fpr              P(g ∧ ¬y) / W(g ∧ ¬y)
//! precision       P(g ∧ y) / P(g)            error            share of g whose decision is not y
//! ratio           selection rate of g / selection rate of all rows
//! to highest      selection rate of g / selection rate of h, the group of the grouping with the highest estimate
//! ```
//!
//! Intervals of rates are those of [`evaluate`](super), each at the confidence 1 − α for itself alone.
//!
//! **The ratio to all rows** has Fieller's interval: the ρ for which the interval of sel(g) − ρ·sel(all) has 0 inside. The
//! rows of g are among all rows, and that interval accounts for it. So its verdict is that of the constraint
//! sel(g) ≥ 0.8·sel(all).
//!
//! **The ratio to the highest group** is that of the four-fifths rule (29 CFR 1607.4(D)). Its interval is Fieller's of
//! sel(g) − ρ·sel(h). Groups of a grouping share no row, so the two rates are independent. (Where rows come in units, a unit
//! may have rows in both; its influences on the difference are added up before they are squared.)
//!
//! What is wanted is T = sel(g)/max_j sel(j) in the population. h is the highest group of these rows; another group, of few
//! rows above all, may be the highest in the population:
//!
//! - The lower end is the least of the lower ends, at α/2, of the ratios to all groups that may be the highest: h, and those
//!   whose interval of the selection rate reaches above the rate of h. It is above T only if the lower end of the ratio to the
//!   group that is truly highest is, so no union bound is needed.
//! - The upper end is that of the ratio to h, and h was chosen. With k groups it is at α/(2(k − 1)): by the union bound, it is
//!   then right against each of the k − 1 groups that could have been chosen. With two groups this changes nothing. The ratio
//!   to any group is at least T, so this end covers T as well.
//!
//! For h itself the ratio is 1, and its interval ends there.
//!
//! Rows come in parts. What is kept are sums for each combination of values, and for an AUC the scores as [`ranking`](super::ranking)
//! keeps them.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::accumulate::{add_rows, check_units};
use super::audit::unlabelled;
use super::counts::Counts;
use super::estimate;
use super::loss::Loss;
use super::ranking::Ranking;
use super::sums::RowSums;
use super::units::Units;
use super::{Decisions, Estimate, Interval, Measurement, Verdict, check_confidence};
use crate::rate::{
    Counted, GroupRate, LABEL, Problem, Quantiles, Question, RowCounts, Set, Survey,
    check_each_weight, check_total_weight,
};
use crate::table::{MISSING, Table, Values};
use crate::{Error, ErrorKind, Result};

/// A grouping has at most so many groups, and a column so many values: more are identifiers or measurements.
pub const MOST_GROUPS: usize = 1_000;

/// The ratio to the highest group that the four-fifths rule asks for.
pub const FOUR_FIFTHS: f64 = 0.8;

/// Rows and decisions, added in parts, of which groups are compared.
///
/// ```
/// use fairgame::evaluate::{Decisions, GroupAudit};
/// use fairgame::table::{ReadOptions, Source, read};
///
/// let csv = "sex,able\nf,yes\nm,no\nf,no\nm,yes\n,yes\n";
/// let people = read([Source::stream("people.csv", csv.as_bytes())], &ReadOptions::default())?;
/// let mut audit = GroupAudit::new(&[vec!["sex".to_owned()]])?.with_label("able == \"yes\"")?;
/// audit.add(&people, None, None, Some(Decisions::Hard(&[true, false, false, true, true])), None)?;
/// let found = audit.finish(0.95)?;
/// assert_eq!(found.all.selection_rate.estimate().unwrap().value, 0.6);
/// let groups = &found.groupings[0].groups;
/// // Women, men, and those of whom it is not known.
/// assert_eq!(groups.iter().map(|group| group.rows).collect::<Vec<_>>(), [2, 2, 1]);
/// assert_eq!(groups[0].tpr.as_ref().unwrap().estimate().unwrap().value, 1.0);
/// # Ok::<(), fairgame::Error>(())
/// ```
#[derive(Debug)]
pub struct GroupAudit {
    groupings: Vec<Vec<String>>,
    label: Option<Problem>,
    /// What decides rows, if it is a condition, and what messages call it.
    condition: Option<(Problem, String)>,
    question: Question,
    numbers: BTreeMap<String, Vec<f64>>,
    /// Each column of the groupings, once.
    columns: Vec<GroupColumn>,
    /// `None` until the first row is added.
    rows: Option<Grouped>,
}

/// A column that groups are made of, and the values that occurred in it.
#[derive(Debug)]
struct GroupColumn {
    name: String,
    codes: HashMap<String, u32>,
    texts: Vec<String>,
    /// Whether the values are numbers, and are listed as such.
    numbers: bool,
    /// The classes of this column and of those before it, by their class there and the value here.
    classes: HashMap<(u32, u32), u32>,
    made_of: Vec<(u32, u32)>,
}

#[derive(Debug)]
struct Grouped {
    survey: Survey,
    quantiles: Quantiles,
    sums: Vec<RowSums>,
    units: Option<Units>,
    ranking: Option<Ranking>,
    rows: u64,
}

/// How groups fare.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupsFound {
    /// How many rows there are.
    pub rows: u64,
    /// How many units they are from, where rows were given units.
    pub units: Option<u64>,
    /// How likely each interval is right, for itself alone.
    pub confidence: f64,
    /// How many rows have no label: they count as negative. 0 where there is no label at all.
    pub unlabelled: u64,
    /// How many rows have no unit, where units were given.
    pub without_unit: u64,
    /// The share of the rows that are decided by a draw.
    pub drawn: Option<f64>,
    /// Whether scores were told apart exactly, where there are scores; see [`GroupResult::auc`].
    pub exact_auc: Option<bool>,
    /// All rows.
    pub all: GroupResult,
    /// As asked for.
    pub groupings: Vec<GroupingResult>,
}

/// The groups of one grouping.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupingResult {
    /// The columns.
    pub by: Vec<String>,
    /// The groups in ascending order of their values, unknown ones last.
    pub groups: Vec<GroupResult>,
}

/// How a group fares.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupResult {
    /// Its value in each column; `None` is unknown.
    pub values: Vec<Option<String>>,
    /// How many rows it has.
    pub rows: u64,
    /// Their weight.
    pub weight: f64,
    /// That weight as a share of all.
    pub share: f64,
    /// Weights by label and decision, where there is a label.
    pub confusion: Option<Confusion>,
    /// The share that is labelled positive.
    pub base_rate: Option<Measurement>,
    /// The share that is decided positive.
    pub selection_rate: Measurement,
    /// Of those labelled positive, the share decided positive.
    pub tpr: Option<Measurement>,
    /// Of those labelled negative, the share decided positive.
    pub fpr: Option<Measurement>,
    /// Of those decided positive, the share labelled positive.
    pub precision: Option<Measurement>,
    /// The share decided other than labelled.
    pub error: Option<Measurement>,
    /// Its selection rate over that of all rows.
    pub ratio: Measurement,
    /// Whether `ratio` is at least 0.8 in the population. This is not the four-fifths rule, which compares with the highest
    /// group.
    pub four_fifths_of_all: Verdict,
    /// Its selection rate over that of the group with the highest one in its grouping. `None` for all rows.
    pub ratio_to_highest: Option<Measurement>,
    /// The four-fifths rule: whether `ratio_to_highest` is at least 0.8 in the population. `None` for all rows.
    pub four_fifths: Option<Verdict>,
    /// The area under the ROC curve, where there are scores: the chance that a row labelled positive scores higher than one
    /// labelled negative, where equal scores count half. It has no interval where rows were given units.
    pub auc: Option<Auc>,
}

/// Weights by label and decision: a row that is decided by a draw counts in both, by its chance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Confusion {
    /// Labelled and decided positive.
    pub true_positive: f64,
    /// Labelled negative, decided positive.
    pub false_positive: f64,
    /// Labelled positive, decided negative.
    pub false_negative: f64,
    /// Labelled and decided negative.
    pub true_negative: f64,
}

impl Confusion {
    /// Of rows that are labelled positive, and of others.
    fn of(yes: &RowSums, no: &RowSums) -> Self {
        Confusion {
            true_positive: yes.positive_weight(),
            false_positive: no.positive_weight(),
            false_negative: yes.weight() - yes.positive_weight(),
            true_negative: no.weight() - no.positive_weight(),
        }
    }
}

/// An area under the ROC curve, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Auc {
    /// `None` where one of the labels has no row.
    pub value: Option<f64>,
    /// DeLong's variance gives it; `None` where there is no value, or where rows were given units.
    pub interval: Option<Interval>,
}

impl GroupAudit {
    /// Of no rows yet, by these lists of columns.
    ///
    /// # Errors
    /// If there is no grouping, if one has no column, or one twice.
    pub fn new(groupings: &[Vec<String>]) -> Result<Self> {
        let wrong = |message: &str| Err(Error::new(ErrorKind::Settings, message));
        if groupings.is_empty() || groupings.iter().any(Vec::is_empty) {
            return wrong("groups are made by at least one column");
        }
        let mut columns: Vec<GroupColumn> = Vec::new();
        for grouping in groupings {
            for (at, name) in grouping.iter().enumerate() {
                if grouping[..at].contains(name) {
                    return wrong(&format!("groups are made by column `{name}` twice"));
                }
                if columns.iter().all(|column| column.name != *name) {
                    columns.push(GroupColumn::new(name));
                }
            }
        }
        Ok(GroupAudit {
            groupings: groupings.to_vec(),
            label: None,
            condition: None,
            question: Question::default(),
            numbers: BTreeMap::new(),
            columns,
            rows: None,
        })
    }

    /// With a label: rows that meet this condition are positive.
    ///
    /// # Errors
    /// If the condition cannot be read.
    pub fn with_label(mut self, label: &str) -> Result<Self> {
        let parsed = Problem::parse(label, "positive_rate()", &[] as &[&str])?;
        self.question.and_label_of(&parsed);
        self.label = Some(parsed);
        Ok(self)
    }

    /// The same audit, of rows that are decided positive where they meet a condition; messages say that it stands in
    /// `place`.
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

    /// The columns that groups, label and condition look at.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        let groups = self.columns.iter().map(|column| column.name.as_str());
        groups.chain(self.question.columns())
    }

    /// The columns whose quantiles are asked for, as of [`Audit::quantile_columns`](super::Audit::quantile_columns).
    pub fn quantile_columns(&self) -> impl Iterator<Item = &str> {
        self.question.quantile_columns()
    }

    /// Takes in the numbers of the columns whose quantiles are asked for.
    pub fn add_quantiles(&mut self, table: &Table) {
        for name in self.question.quantile_columns() {
            let column = table.columns().iter().find(|column| column.name == name);
            if let Some(Values::Number(numbers)) = column.map(|column| &column.values) {
                self.numbers.entry(name.to_owned()).or_default().extend(numbers);
            }
        }
    }

    fn grouped(&mut self) -> &mut Grouped {
        let (question, numbers) = (&self.question, &mut self.numbers);
        self.rows.get_or_insert_with(|| {
            let quantiles = question.quantiles(std::mem::take(numbers));
            let survey = Survey::new(question, &quantiles);
            let (sums, units, ranking) = (Vec::new(), None, None);
            Grouped { survey, quantiles, sums, units, ranking, rows: 0 }
        })
    }

    /// Adds rows and what was decided of them: their weights, units and scores, if they have any. Without decisions, the
    /// condition decides.
    ///
    /// # Errors
    /// As of [`Accumulator::add_by_unit`](super::Accumulator::add_by_unit); if there are both decisions and a condition, or
    /// neither; if a score is missing; if a column of a grouping is not there, or has more than [`MOST_GROUPS`] values.
    pub fn add(
        &mut self,
        table: &Table,
        weights: Option<&[f32]>,
        units: Option<&[Option<u64>]>,
        decisions: Option<Decisions<'_>>,
        scores: Option<&[f64]>,
    ) -> Result<()> {
        let wrong = |message: &str| Err(Error::new(ErrorKind::Settings, message));
        // As if all were positive, until it is known which are not.
        let positive;
        let decisions = match (decisions, &self.condition) {
            (Some(decisions), None) => decisions,
            (None, Some(_)) => {
                positive = vec![true; table.rows()];
                Decisions::Hard(&positive)
            }
            (Some(_), Some(_)) => {
                return wrong("decisions are given for rows that a condition decides");
            }
            (None, None) => {
                return wrong("rows are given without decisions, and no condition decides them");
            }
        };
        let before = self.grouped().rows;
        decisions.check(table.rows(), before)?;
        check_each_weight(weights, table.rows(), before)?;
        check_units(units, table.rows())?;
        check_scores(scores, table.rows(), before)?;
        let mut classes = self.grouped().survey.add(table)?;
        for column in &mut self.columns {
            column.divide(table, &mut classes)?;
        }
        let count = self.columns.last().map_or(0, |column| column.made_of.len());
        let grouped = self.grouped();
        if units.is_some() && grouped.units.is_none() {
            grouped.units = Some(Units::of_rows(&grouped.sums));
        }
        grouped.sums.resize_with(count, RowSums::default);
        add_rows(&mut grouped.sums, &classes, weights, decisions);
        if let Some(all) = &mut grouped.units {
            let unit = |row: usize| units.and_then(|units| units[row]);
            all.add(&classes, weights, (0..table.rows()).map(unit), decisions);
        }
        if let Some(scores) = scores {
            let ranking = grouped.ranking.get_or_insert_with(Ranking::default);
            for (row, (&class, &score)) in classes.iter().zip(scores).enumerate() {
                ranking.add(class, score, weights.map_or(1.0, |weights| weights[row]));
            }
        }
        grouped.rows += table.rows() as u64;
        Ok(())
    }

    /// How groups fare on all rows that were added.
    ///
    /// # Errors
    /// If label or condition cannot be bound to the rows; if there are no rows; if `confidence` is below 0.01 or not
    /// below 1; or if a grouping has more than [`MOST_GROUPS`] groups.
    pub fn finish(mut self, confidence: f64) -> Result<GroupsFound> {
        check_confidence(confidence)?;
        self.grouped();
        let GroupAudit { groupings, label, condition, columns, rows, .. } = self;
        let Some(grouped) = rows.filter(|grouped| grouped.rows > 0) else {
            return Err(Error::new(ErrorKind::Value, "there are no rows"));
        };
        let Grouped { survey, quantiles, sums, units, ranking, rows } = grouped;
        // Of each class, the pattern of label and condition, and the value in each column.
        let made_of: Vec<(usize, Vec<u32>)> =
            (0..sums.len() as u32).map(|class| unfold(&columns, class)).collect();
        let patterns: Vec<usize> = made_of.iter().map(|(pattern, _)| *pattern).collect();
        let table = survey.table()?.take(&patterns);
        let weights: Vec<f64> = sums.iter().map(RowSums::weight).collect();
        let counted: Vec<usize> = sums.iter().map(|sums| sums.rows as usize).collect();
        let counts = RowCounts::Many { weights: &weights, rows: &counted };
        let bind =
            |problem: &Problem| problem.bind_counted(Counted { table: &table, counts }, &quantiles);
        let mut labelled = vec![false; sums.len()];
        let mut without_label = 0;
        if let Some(label) = &label {
            let (bound, _) = bind(label)?;
            labelled = bound.label().evaluate(&table)?;
            without_label = unlabelled(&bound, &table, &counted)?;
        }
        let mut positive = vec![true; sums.len()];
        if let Some((condition, place)) = &condition {
            let (decided, _) = bind(condition).map_err(|error| error.at(place))?;
            positive = decided.label().evaluate(&table)?;
        }

        // Cells in an order that does not depend on that of the rows.
        let ranks: Vec<Vec<u32>> = columns.iter().map(GroupColumn::ranks).collect();
        let key = |class: usize| -> (Vec<u32>, bool) {
            let values = made_of[class].1.iter().zip(&ranks);
            let rank = |(&code, ranks): (&u32, &Vec<u32>)| {
                if code == MISSING { MISSING } else { ranks[code as usize] }
            };
            (values.map(rank).collect(), labelled[class])
        };
        let mut cell_of_key: BTreeMap<(Vec<u32>, bool), u32> = BTreeMap::new();
        (0..sums.len()).for_each(|class| {
            cell_of_key.insert(key(class), 0);
        });
        cell_of_key.values_mut().zip(0..).for_each(|(cell, at)| *cell = at);
        let keys: Vec<&(Vec<u32>, bool)> = cell_of_key.keys().collect();
        let cell_of: Vec<u32> = (0..sums.len()).map(|class| cell_of_key[&key(class)]).collect();
        let mut cells = vec![RowSums::default(); keys.len()];
        for ((&cell, sums), positive) in cell_of.iter().zip(&sums).zip(&positive) {
            let sums = if *positive { *sums } else { sums.all_negative() };
            cells[cell as usize].merge(&sums);
        }
        let without_unit = units.as_ref().map_or(0, Units::missing);
        let same: Vec<u32> = (0..cells.len() as u32).collect();
        let units =
            units.map(|units| units.renumbered(&cell_of, &positive).gathered(&same, cells.len()));

        // The label, all groups of all groupings: each is a set of cells.
        let below = cells.len() as u32;
        let mut met =
            vec![Set::new(below, same.iter().copied().filter(|&cell| keys[cell as usize].1))];
        debug_assert_eq!(LABEL, 0);
        let mut listed: Vec<(&[String], Vec<Named>)> = Vec::new();
        for by in &groupings {
            let at = |name: &String| columns.iter().position(|column| column.name == *name);
            let places: Vec<usize> = by.iter().filter_map(at).collect();
            let mut groups: BTreeMap<Vec<u32>, Vec<u32>> = BTreeMap::new();
            for (cell, (values, _)) in keys.iter().enumerate() {
                let values = places.iter().map(|&place| values[place]).collect();
                groups.entry(values).or_default().push(cell as u32);
            }
            if groups.len() > MOST_GROUPS {
                return Err(too_many(&by.join(", "), groups.len()));
            }
            let mut named = Vec::with_capacity(groups.len());
            for (values, members) in groups {
                let text =
                    |(&place, &rank): (&usize, &u32)| columns[place].text(&ranks[place], rank);
                named.push((places.iter().zip(&values).map(text).collect(), met.len()));
                met.push(Set::new(below, members.into_iter()));
            }
            listed.push((by, named));
        }

        let mut all = RowSums::default();
        cells.iter().for_each(|sums| all.merge(sums));
        check_total_weight(all.weight())?;
        let exact_auc = ranking.as_ref().map(Ranking::is_exact);
        let ranking = ranking.filter(|_| label.is_some()).map(|ranking| ranking.sorted(&cell_of));
        let mut judged = Judged {
            counts: Counts::new(&met, &cells, units.as_ref()),
            met: &met,
            cells: &cells,
            all,
            labelled: label.is_some(),
            by_unit: units.is_some(),
            ranking,
            alpha: 1.0 - confidence,
        };
        let everyone = judged.group(None, Vec::new(), "");
        let groupings = listed.into_iter().map(|(by, named)| {
            let predicates: Vec<(usize, String)> =
                named.iter().map(|(values, predicate)| (*predicate, shown(by, values))).collect();
            let groups = named.into_iter().zip(&predicates);
            let mut groups: Vec<GroupResult> = groups
                .map(|((values, predicate), (_, shown))| {
                    judged.group(Some(predicate), values, shown)
                })
                .collect();
            judged.compare_with_highest(&mut groups, &predicates);
            GroupingResult { by: by.to_vec(), groups }
        });
        let groupings = groupings.collect();
        let drawn = (all.counted() > 0).then(|| all.drawn() as f64 / all.counted() as f64);
        Ok(GroupsFound {
            rows,
            units: units.as_ref().map(|units| units.units),
            confidence,
            unlabelled: without_label,
            without_unit,
            drawn,
            exact_auc: exact_auc.filter(|_| label.is_some()),
            all: everyone,
            groupings,
        })
    }
}

/// The values of a group, and the predicate that its rows meet.
type Named = (Vec<Option<String>>, usize);

/// A group in words: `race Black, sex unknown`.
fn shown(by: &[String], values: &[Option<String>]) -> String {
    let one = |(name, value): (&String, &Option<String>)| {
        format!("{name} {}", value.as_deref().unwrap_or("unknown"))
    };
    by.iter().zip(values).map(one).collect::<Vec<_>>().join(", ")
}

fn too_many(by: &str, groups: usize) -> Error {
    let message =
        format!("`{by}` has {groups} groups or more, and at most {MOST_GROUPS} are shown");
    Error::new(ErrorKind::Value, message)
        .help("name columns with fewer values, or cut a number into ranges first")
}

fn check_scores(scores: Option<&[f64]>, rows: usize, before: u64) -> Result<()> {
    let Some(scores) = scores else { return Ok(()) };
    if scores.len() != rows {
        let message = format!("{} scores are given for {rows} rows", scores.len());
        return Err(Error::new(ErrorKind::Value, message));
    }
    match scores.iter().position(|score| score.is_nan()) {
        None => Ok(()),
        Some(row) => {
            let row = before + row as u64 + 1;
            Err(Error::new(ErrorKind::Value, format!("row {row} has no score"))
                .help("leave out the rows without a score, or fill them in"))
        }
    }
}

/// The pattern that a class is of, and its value in each column.
fn unfold(columns: &[GroupColumn], mut class: u32) -> (usize, Vec<u32>) {
    let mut values = vec![0; columns.len()];
    for (column, value) in columns.iter().zip(&mut values).rev() {
        (class, *value) = column.made_of[class as usize];
    }
    (class as usize, values)
}

impl GroupColumn {
    fn new(name: &str) -> Self {
        GroupColumn {
            name: name.to_owned(),
            codes: HashMap::new(),
            texts: Vec::new(),
            numbers: false,
            classes: HashMap::new(),
            made_of: Vec::new(),
        }
    }

    fn code(&mut self, text: &str) -> Result<u32> {
        if let Some(&code) = self.codes.get(text) {
            return Ok(code);
        }
        if self.texts.len() == MOST_GROUPS {
            return Err(too_many(&self.name, MOST_GROUPS + 1));
        }
        let code = self.texts.len() as u32;
        self.texts.push(text.to_owned());
        self.codes.insert(text.to_owned(), code);
        Ok(code)
    }

    /// Divides the classes of rows by their values here.
    fn divide(&mut self, table: &Table, classes: &mut [u32]) -> Result<()> {
        let values = &table.column(&self.name)?.values;
        let codes: Vec<u32> = match values {
            Values::Category(category) => {
                // Each text is looked up once.
                let mut known: Vec<Option<u32>> = vec![None; category.dictionary.len()];
                let mut codes = Vec::with_capacity(category.codes.len());
                for &own in &category.codes {
                    codes.push(match own {
                        MISSING => MISSING,
                        own => match known[own as usize] {
                            Some(code) => code,
                            None => {
                                let code = self.code(category.dictionary.text(own))?;
                                known[own as usize] = Some(code);
                                code
                            }
                        },
                    });
                }
                codes
            }
            Values::Boolean(truths) => {
                let one = |truth: &Option<bool>| match truth {
                    None => Ok(MISSING),
                    Some(truth) => self.code(if *truth { "true" } else { "false" }),
                };
                truths.iter().map(one).collect::<Result<_>>()?
            }
            Values::Number(numbers) => {
                self.numbers = true;
                let mut known: HashMap<u64, u32> = HashMap::new();
                let mut codes = Vec::with_capacity(numbers.len());
                for &number in numbers {
                    // −0 is 0.
                    let number = number + 0.0;
                    codes.push(if number.is_nan() {
                        MISSING
                    } else if let Some(&code) = known.get(&number.to_bits()) {
                        code
                    } else {
                        let code = self.code(&number.to_string())?;
                        known.insert(number.to_bits(), code);
                        code
                    });
                }
                codes
            }
        };
        for (class, code) in classes.iter_mut().zip(codes) {
            let key = (*class, code);
            *class = *self.classes.entry(key).or_insert_with(|| {
                self.made_of.push(key);
                self.made_of.len() as u32 - 1
            });
        }
        Ok(())
    }

    /// The place of each value in ascending order.
    fn ranks(&self) -> Vec<u32> {
        let number = |code: usize| self.texts[code].parse().unwrap_or(f64::NAN);
        let mut order: Vec<usize> = (0..self.texts.len()).collect();
        order.sort_by(|&a, &b| match self.numbers {
            true => f64::total_cmp(&number(a), &number(b)),
            false => self.texts[a].cmp(&self.texts[b]),
        });
        let mut ranks = vec![0; order.len()];
        order.into_iter().zip(0..).for_each(|(code, rank)| ranks[code] = rank);
        ranks
    }

    /// The value of a rank; `None` is unknown.
    fn text(&self, ranks: &[u32], rank: u32) -> Option<String> {
        let code = ranks.iter().position(|own| *own == rank)?;
        Some(self.texts[code].clone())
    }
}

/// All that groups are measured by.
struct Judged<'a> {
    counts: Counts<'a>,
    met: &'a [Set],
    cells: &'a [RowSums],
    all: RowSums,
    labelled: bool,
    by_unit: bool,
    ranking: Option<super::ranking::Sorted>,
    alpha: f64,
}

impl Judged<'_> {
    fn rate(&mut self, rate: GroupRate, group: Option<usize>, shown: &str) -> Measurement {
        estimate::rate(&rate.written(group, shown), &mut self.counts, self.alpha).measurement
    }

    fn group(
        &mut self,
        group: Option<usize>,
        values: Vec<Option<String>>,
        shown: &str,
    ) -> GroupResult {
        let own: Vec<bool> = match group {
            None => vec![true; self.cells.len()],
            Some(group) => {
                let mut own = vec![false; self.cells.len()];
                self.met[group].iter().for_each(|cell| own[cell as usize] = true);
                own
            }
        };
        let mut labelled = vec![false; self.cells.len()];
        self.met[LABEL].iter().for_each(|cell| labelled[cell as usize] = true);
        let (mut yes, mut no) = (RowSums::default(), RowSums::default());
        for (cell, sums) in self.cells.iter().enumerate().filter(|(cell, _)| own[*cell]) {
            if labelled[cell] { yes.merge(sums) } else { no.merge(sums) }
        }
        let mut sums = yes;
        sums.merge(&no);
        let label = self.labelled;
        let mut told = |rate| label.then(|| self.rate(rate, group, shown));
        let (base_rate, tpr) = (told(GroupRate::Base), told(GroupRate::TruePositive));
        let (fpr, precision) = (told(GroupRate::FalsePositive), told(GroupRate::Precision));
        let error = told(GroupRate::Error);
        let (ratio, four_fifths_of_all) = self.ratio(group, &sums, shown);
        let auc = self.ranking.as_ref().map(|ranking| {
            ranking.auc(
                |cell| own[cell as usize].then_some(labelled[cell as usize]),
                [effective(&yes), effective(&no)],
                (!self.by_unit).then_some(self.alpha),
            )
        });
        GroupResult {
            values,
            rows: sums.rows,
            weight: sums.weight(),
            share: if self.all.weight() > 0.0 { sums.weight() / self.all.weight() } else { 0.0 },
            confusion: label.then(|| Confusion::of(&yes, &no)),
            base_rate,
            selection_rate: self.rate(GroupRate::Selection, group, shown),
            tpr,
            fpr,
            precision,
            error,
            ratio,
            four_fifths_of_all,
            ratio_to_highest: None,
            four_fifths: None,
            auc,
        }
    }

    /// The selection rate of a group over that of all rows, with Fieller's interval; and whether it is at least 0.8.
    fn ratio(
        &mut self,
        group: Option<usize>,
        sums: &RowSums,
        shown: &str,
    ) -> (Measurement, Verdict) {
        let (own, all) = (sums.weight(), self.all.weight());
        let (selected, everywhere) = (sums.positive_weight(), self.all.positive_weight());
        if own <= 0.0 {
            return nothing(weightless(shown));
        }
        if everywhere <= 0.0 {
            return nothing("nothing is decided positive".to_owned());
        }
        // All rows in comparison with all rows.
        let Some(group) = group.filter(|_| sums.rows < self.all.rows) else { return one() };
        let ratio = Ratio {
            group: (group, shown),
            to: None,
            value: (selected / own) / (everywhere / all),
            // Even if all positive decisions were the group's.
            most: all / own,
            alphas: [self.alpha; 2],
        };
        ratio.measured(&mut self.counts)
    }

    /// Compares the groups of a grouping with the one whose selection rate has the highest estimate. Beside each predicate
    /// is the group's name.
    fn compare_with_highest(&mut self, groups: &mut [GroupResult], predicates: &[(usize, String)]) {
        let rate = |group: &GroupResult| Some(group.selection_rate.estimate()?.value);
        let rates: Vec<Option<f64>> = groups.iter().map(rate).collect();
        let measured = rates.iter().enumerate().filter_map(|(at, rate)| Some((at, (*rate)?)));
        // The first of those that share the highest rate.
        let (mut highest, mut others) = (None, 0_usize);
        for (at, rate) in measured {
            others += usize::from(highest.is_some());
            if highest.is_none_or(|(_, most)| rate > most) {
                highest = Some((at, rate));
            }
        }
        // Those that may be the highest in the population.
        let reaches = |group: &GroupResult| {
            let most = highest.map_or(0.0, |(_, most)| most);
            group.selection_rate.estimate().is_some_and(|one| one.interval.high > most)
        };
        let rivals: Vec<usize> = (0..groups.len()).filter(|&at| reaches(&groups[at])).collect();
        for (at, group) in groups.iter_mut().enumerate() {
            let (predicate, shown) = &predicates[at];
            let (mut ratio, mut verdict) = match (rates[at], highest) {
                (None, _) | (_, None) => nothing(weightless(shown)),
                (_, Some((_, most))) if most <= 0.0 => {
                    nothing("nothing is decided positive".to_owned())
                }
                (_, Some((place, _))) if place == at => one(),
                (Some(rate), Some((place, most))) => {
                    let (to, name) = &predicates[place];
                    let ratio = Ratio {
                        group: (*predicate, shown),
                        to: Some((*to, name)),
                        value: rate / most,
                        most: 1.0,
                        // The group was chosen among so many.
                        alphas: [self.alpha, self.alpha / others as f64],
                    };
                    ratio.measured(&mut self.counts)
                }
            };
            if let (Measurement::Measured(found), Some(rate)) = (&mut ratio, rates[at]) {
                for &rival in rivals.iter().filter(|rival| **rival != at) {
                    let (to, name) = &predicates[rival];
                    let to_rival = Ratio {
                        group: (*predicate, shown),
                        to: Some((*to, name)),
                        value: rates[rival].map_or(1.0, |other| (rate / other).min(1.0)),
                        most: 1.0,
                        alphas: [self.alpha; 2],
                    };
                    let (to_rival, said) = to_rival.measured(&mut self.counts);
                    if let Measurement::Measured(other) = to_rival {
                        found.interval.low = found.interval.low.min(other.interval.low);
                    }
                    if verdict == Verdict::Met && said != Verdict::Met {
                        verdict = Verdict::Undecided;
                    }
                }
            }
            group.ratio_to_highest = Some(ratio);
            group.four_fifths = Some(verdict);
        }
    }
}

fn nothing(reason: String) -> (Measurement, Verdict) {
    (Measurement::Nothing { reason }, Verdict::Undecided)
}

fn weightless(shown: &str) -> String {
    match shown {
        "" => "every row has weight 0".to_owned(),
        shown => format!("every row with {shown} has weight 0"),
    }
}

/// A rate over itself.
fn one() -> (Measurement, Verdict) {
    let interval = Interval { low: 1.0, high: 1.0 };
    (Measurement::Measured(Estimate { value: 1.0, interval }), Verdict::Met)
}

/// The selection rate of a group over that of another group, or of all rows.
struct Ratio<'a> {
    /// The predicate of the group, and its name.
    group: (usize, &'a str),
    /// The same of the other group; `None` is all rows.
    to: Option<(usize, &'a str)>,
    /// What it is on these rows.
    value: f64,
    /// The interval ends here at the latest.
    most: f64,
    /// Twice how often the lower end may miss, and the upper end.
    alphas: [f64; 2],
}

impl Ratio<'_> {
    /// With Fieller's interval; and whether it is at least 0.8.
    fn measured(&self, counts: &mut Counts<'_>) -> (Measurement, Verdict) {
        let value = self.value;
        // The interval of the difference of the group's rate and `ratio` times the other.
        let mut difference = |ratio: f64| {
            let form = GroupRate::difference(self.group, ratio, self.to);
            let loss = Loss::new(&form, counts);
            loss.map(|loss| Interval {
                low: loss.interval(self.alphas[0]).low,
                high: loss.interval(self.alphas[1]).high,
            })
        };
        // What is asked is at most 0: 0.8 times the other, less the group's.
        let verdict = match difference(FOUR_FIFTHS) {
            Ok(interval) => Verdict::of_interval(-interval.high, -interval.low),
            Err(reason) => return nothing(reason),
        };
        let mut surely = |ratio: f64, below: bool| {
            difference(ratio).is_ok_and(|interval| match below {
                true => interval.low > 0.0,
                false => interval.high < 0.0,
            })
        };
        let mut end = |outer: f64, below: bool| {
            if !surely(outer, below) {
                return outer;
            }
            let (mut outside, mut inside) = (outer, value);
            for _ in 0..STEPS {
                let middle = (outside + inside) / 2.0;
                if surely(middle, below) { outside = middle } else { inside = middle }
            }
            (outside + inside) / 2.0
        };
        let (low, high) = (end(0.0, true), end(self.most, false));
        let interval = Interval { low: low.min(value), high: high.max(value) };
        (Measurement::Measured(Estimate { value, interval }), verdict)
    }
}

/// The rows of each group, and their weights by label and decision; the group `None` is all rows. `met` says which cells meet
/// each predicate of a problem.
pub(crate) fn confusions(
    groups: &[Option<usize>],
    (met, cells): (&[Set], &[u32]),
    count: usize,
    weights: Option<&[f32]>,
    decisions: Decisions<'_>,
) -> Vec<(u64, Confusion)> {
    let mut sums = vec![RowSums::default(); count];
    add_rows(&mut sums, cells, weights, decisions);
    let mut labelled = vec![false; count];
    met[LABEL].iter().for_each(|cell| labelled[cell as usize] = true);
    let one = |group: &Option<usize>| {
        let (mut yes, mut no) = (RowSums::default(), RowSums::default());
        let mut add = |cell: usize| {
            if labelled[cell] { yes.merge(&sums[cell]) } else { no.merge(&sums[cell]) }
        };
        match group {
            Some(group) => met[*group].iter().for_each(|cell| add(cell as usize)),
            None => (0..count).for_each(add),
        }
        (yes.rows + no.rows, Confusion::of(&yes, &no))
    };
    groups.iter().map(one).collect()
}

/// The ends of a ratio's interval are found by halving, so often.
const STEPS: usize = 30;

/// Kish's number of effective rows.
fn effective(sums: &RowSums) -> f64 {
    let moments = sums.moments(1.0);
    if moments.w2 > 0.0 { moments.w * moments.w / moments.w2 } else { 0.0 }
}
