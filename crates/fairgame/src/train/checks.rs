//! Checks of the data before training: what a careful person looks for in a table.
//!
//! - **A leak** is a column that alone predicts the label almost perfectly, such as its complement, a code for it, a number that
//!   the label was cut from, or one that is missing just where the label is negative. Half of the rows choose a prediction for
//!   each value (of a number also one threshold), and the other half say how often it is wrong. With e that share and e₀
//!   the share of the rarer label, the column *explains* 1 − e/e₀. At [`LEAK`] and above it is a leak.
//! - **An identifier** is different in nearly every row: a text with at least [`OWN`] distinct values for each row, or a whole
//!   number without any repetition that counts the rows or is named like an identifier.
//! - **Protected** columns are features that constraints look at, or that are named like protected attributes.
//! - **Copies** are rows that were copied, **one label** leaves nothing to learn, and a **small group** has too few rows
//!   to say what a rate of a constraint is.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Notice, Plan, Spec, units};
use crate::evaluate::{Decisions, evaluate, rows_needed};
use crate::model::ModelSpec;
use crate::random::mix;
use crate::rate::{Bound, LABEL, Problem};
use crate::settings::declare;
use crate::table::{Column, MISSING, Table, Values, no_such_column};
use crate::{Error, ErrorKind, Result, Threads, shown};

declare! {
    /// What becomes of columns that the checks of the data object to.
    #[derive(Copy, Eq)]
    pub enum Checks {
        /// Leave out leaks and identifiers, unless `features` names them, and say so.
        LeaveOut = "leave_out",
        /// Leave nothing out, and say what was found.
        Tell = "tell",
        /// Check nothing.
        Off = "off",
    }
}

/// A column that explains at least this share of the label is a leak.
pub const LEAK: f64 = 0.9;

/// A text with at least so many distinct values for each row is an identifier.
pub const OWN: f64 = 0.9;

/// Fewer rows than this say nothing of leaks and identifiers.
const FEWEST_ROWS: usize = 100;

/// Nor do fewer rows of the rarer label, in each half.
const FEWEST_LABELS: usize = 10;

/// So many rows are looked at.
const MOST_ROWS: usize = 200_000;

/// So many values in all, over the columns, but no fewer rows than [`LEAST_SAMPLE`].
const MOST_VALUES: usize = 40_000_000;
const LEAST_SAMPLE: usize = 5_000;

/// A rate is to be known to a tenth on either side, at this confidence.
const CONFIDENCE: f64 = 0.95;
const WIDTH: f64 = 0.2;

/// What a check found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "finding")]
#[non_exhaustive]
pub enum Finding {
    /// A column that alone predicts the label.
    Leak {
        /// The column.
        column: String,
        /// How often the column alone is wrong about the label, on rows that had no part in the prediction.
        error: f64,
        /// The share of the rarer label: how often a prediction without any column is wrong.
        without: f64,
        /// Whether it is left out.
        left_out: bool,
    },
    /// A column that is different in nearly every row.
    Identifier {
        /// The column.
        column: String,
        /// How many distinct values it has.
        values: usize,
        /// In how many rows.
        rows: usize,
        /// Whether it is left out.
        left_out: bool,
    },
    /// Features that constraints look at, or that are named like protected attributes.
    Protected {
        /// The columns.
        columns: Vec<String>,
    },
    /// Rows that are copies of earlier ones: more of them are equal in all columns than chance explains.
    Copies {
        /// How many.
        rows: usize,
    },
    /// All rows have the same label.
    OneLabel {
        /// Which.
        positive: bool,
    },
    /// Rows without a label.
    MissingLabels {
        /// How many.
        rows: usize,
    },
    /// A rate of a constraint has too few rows.
    SmallGroup {
        /// The rate, as written.
        rate: String,
        /// How many rows it is measured on.
        rows: usize,
        /// About so many would tell it to a tenth on either side.
        needed: usize,
    },
}

impl Finding {
    /// Whether it stands in the way of a model that can be trusted. Protected features and missing labels do not.
    pub fn is_serious(&self) -> bool {
        !matches!(self, Finding::Protected { .. } | Finding::MissingLabels { .. })
    }

    /// The column that is left out, if one is.
    pub fn left_out(&self) -> Option<&str> {
        match self {
            Finding::Leak { column, left_out: true, .. }
            | Finding::Identifier { column, left_out: true, .. } => Some(column),
            _ => None,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let done = |f: &mut fmt::Formatter<'_>, column: &str, left_out: bool| {
            let column = shown(column);
            match left_out {
                true => write!(
                    f,
                    "; it is left out (to keep it: `--feature {column}`, in a policy `features`)"
                ),
                false => write!(f, "; to leave it out, ignore it (`--ignore {column}`)"),
            }
        };
        match self {
            Finding::Leak { column, error, without, left_out } => {
                write!(
                    f,
                    "column `{}` gives the label away: alone it predicts the label with an error of {error:.4}, and without \
                     any column the error is {without:.4}",
                    shown(column)
                )?;
                done(f, column, *left_out)
            }
            Finding::Identifier { column, values, rows, left_out } => {
                write!(
                    f,
                    "column `{}` looks like an identifier: it has {values} values in {rows} rows",
                    shown(column)
                )?;
                done(f, column, *left_out)
            }
            Finding::Protected { columns } => {
                let named: Vec<String> =
                    columns.iter().map(|name| format!("`{}`", shown(name))).collect();
                write!(
                    f,
                    "protected attributes are used as features: {} (a constraint uses the column, or its name says so); to \
                     leave one out, ignore it (`--ignore {}`), and constraints can still use it",
                    named.join(", "),
                    shown(&columns[0]),
                )
            }
            Finding::Copies { rows } => write!(
                f,
                "{rows} rows are exact copies of other rows: training keeps copies in one fold, and counts them as one row"
            ),
            Finding::OneLabel { positive } => {
                let none = if *positive { "every" } else { "no" };
                write!(f, "{none} row is positive: there is nothing to learn")
            }
            Finding::MissingLabels { rows } => {
                write!(f, "{rows} rows have no label, and count as negative")
            }
            Finding::SmallGroup { rate, rows, needed } => write!(
                f,
                "`{}` is measured on {rows} row{} only: get more rows (about {needed} would tell it to a tenth), or merge \
                 small groups",
                shown(rate),
                if *rows == 1 { "" } else { "s" },
            ),
        }
    }
}

/// What is to be checked.
pub struct Asked<'a> {
    /// The problem, bound to the rows; without it there is no label to look for.
    pub bound: Option<&'a Bound>,
    /// Columns that are no features.
    pub ignored: &'a [String],
    /// Columns that are features whatever is found.
    pub insisted: &'a [String],
    /// Whether leaks and identifiers are left out.
    pub leaves_out: bool,
}

/// Checks the features: leaks, identifiers, protected columns.
///
/// # Errors
/// If a column that is insisted on is not there.
pub fn check_features(table: &Table, asked: &Asked<'_>, threads: &Threads) -> Result<Vec<Finding>> {
    for name in asked.insisted {
        if table.find(name).is_none() {
            let names = table.columns().iter().map(|column| column.name.as_str());
            return Err(no_such_column(name, names).at("features"));
        }
    }
    let label: HashSet<&str> =
        asked.bound.map(|bound| bound.label().columns().into_iter().collect()).unwrap_or_default();
    let ignored: HashSet<&str> = asked.ignored.iter().map(String::as_str).collect();
    let columns: Vec<&Column> = table
        .columns()
        .iter()
        .filter(|column| {
            !label.contains(column.name.as_str()) && !ignored.contains(column.name.as_str())
        })
        .collect();
    let rows = sampled(table.rows(), columns.len());
    let labels = asked.bound.map(|bound| labels(bound, table, &rows)).transpose()?;
    let halves = labels.as_ref().and_then(|labels| Halves::new(&rows, labels));
    let judged = threads.each(&columns, |column| {
        let leak = halves.as_ref().and_then(|halves| halves.leak(column, &rows));
        (leak, identifier(column, &rows))
    });
    let mut findings = Vec::new();
    for (column, (leak, identifier)) in columns.iter().zip(judged) {
        let insisted = asked.insisted.contains(&column.name);
        let (name, left_out) = (column.name.clone(), asked.leaves_out && !insisted);
        if let Some((error, without)) = leak {
            findings.push(Finding::Leak { column: name, error, without, left_out });
        } else if let Some(values) = identifier.filter(|_| !insisted) {
            let rows = rows.len();
            findings.push(Finding::Identifier { column: name, values, rows, left_out });
        }
    }
    // One column has to be left, whatever it says.
    let out = findings.iter().filter(|one| one.left_out().is_some()).count();
    if out == columns.len() {
        for one in &mut findings {
            if let Finding::Leak { left_out, .. } | Finding::Identifier { left_out, .. } = one {
                *left_out = false;
            }
        }
    }
    let out: HashSet<String> =
        findings.iter().filter_map(Finding::left_out).map(str::to_owned).collect();
    let in_constraints: BTreeSet<&str> = asked.bound.map_or_else(BTreeSet::new, |bound| {
        let predicates = bound.predicates();
        (0..predicates.len())
            .filter(|&at| at != LABEL)
            .flat_map(|at| predicates[at].columns())
            .collect()
    });
    let protected = columns.iter().map(|column| &column.name).filter(|name| {
        !out.contains(*name)
            && !asked.insisted.contains(name)
            && (in_constraints.contains(name.as_str()) || is_named_protected(name))
    });
    let protected: Vec<String> = protected.cloned().collect();
    if !protected.is_empty() {
        findings.push(Finding::Protected { columns: protected });
    }
    Ok(findings)
}

/// Checks rows, label and groups: copies, labels that are missing or all alike, groups of too few rows.
///
/// # Errors
/// If the table lacks a column of the problem.
pub fn check_rows(table: &Table, bound: Option<&Bound>) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let label: Vec<&str> = bound.map(|bound| bound.label().columns()).unwrap_or_default();
    let (rows, copied) = units::equal_rows(table, &label);
    if copied {
        findings.push(Finding::Copies { rows });
    }
    let Some(bound) = bound else { return Ok(findings) };
    let missing = bound.missing_labels(table)?;
    if missing > 0 {
        findings.push(Finding::MissingLabels { rows: missing });
    }
    let labels = bound.label().evaluate(table)?;
    if let Some(&positive) = labels.first()
        && labels.iter().all(|&label| label == positive)
    {
        findings.push(Finding::OneLabel { positive });
    }
    // How many rows each rate has does not depend on the decisions.
    let decided = vec![true; table.rows()];
    let found = evaluate(bound, table, None, Decisions::Hard(&decided), CONFIDENCE)?;
    let mut seen = HashSet::new();
    for rate in found.constraints.iter().flat_map(|one| &one.rates) {
        let needed = rows_needed(0.5, 0, CONFIDENCE, WIDTH);
        if seen.insert(&rate.text) && rate.rows < needed {
            let (rate, rows) = (rate.text.clone(), rate.rows);
            findings.push(Finding::SmallGroup { rate, rows, needed });
        }
    }
    Ok(findings)
}

/// Checks data for a training by these settings, of which only the problem and the features count. Without a label, columns
/// cannot be compared with it.
///
/// ```
/// use fairgame::table::{ReadOptions, Source, read};
/// use fairgame::train::{Finding, Spec, check_data};
///
/// let compas = read([Source::parse("@compas")?], &ReadOptions::default())?;
/// let spec = Spec::new::<&str>("two_year_recid == 1", &[]);
/// let found = check_data(&spec, &compas, &fairgame::Threads::all())?;
/// let leaks = found.iter().filter(|one| matches!(one, Finding::Leak { .. }));
/// assert_eq!(leaks.filter_map(Finding::left_out).collect::<Vec<_>>(), ["is_recid"]);
/// # Ok::<(), fairgame::Error>(())
/// ```
///
/// # Errors
/// If the problem cannot be read or bound to the table, or a column is not there.
pub fn check_data(spec: &Spec, table: &Table, threads: &Threads) -> Result<Vec<Finding>> {
    let bound = match spec.label.is_empty() {
        true => None,
        false => {
            let problem = Problem::parse(&spec.label, &spec.objective, &spec.constraints)?;
            Some(problem.skip_empty_groups().bind(table, &[])?.0)
        }
    };
    let mut ignored = spec.encoder.ignore.clone();
    ignored.extend(spec.weight.iter().chain(&spec.unit).cloned());
    let asked = Asked {
        bound: bound.as_ref(),
        ignored: &ignored,
        insisted: &spec.features,
        leaves_out: spec.checks == Checks::LeaveOut,
    };
    let mut findings = check_features(table, &asked, threads)?;
    findings.extend(check_rows(table, bound.as_ref())?);
    Ok(findings)
}

/// Checks the features of a training, and has the plan ignore those that are left out.
pub(super) fn apply(plan: &mut Plan, bound: &Bound, table: &Table) -> Result<Vec<Notice>> {
    let spec = &plan.spec;
    for name in &spec.features {
        if spec.encoder.ignore.contains(name) {
            let message = format!("column `{name}` is to be ignored, and is to be a feature");
            return Err(Error::new(ErrorKind::Settings, message).help("ask for one of the two"));
        }
    }
    if spec.checks == Checks::Off {
        return Ok(Vec::new());
    }
    let mut ignored = spec.encoder.ignore.clone();
    ignored.extend(spec.weight.iter().chain(&spec.unit).cloned());
    let mut insisted = spec.features.clone();
    // The scores of another model are to predict the label.
    if let ModelSpec::Scores { columns, groups, .. } = &spec.model {
        insisted.extend(columns.iter().chain(groups).cloned());
    }
    let asked = Asked {
        bound: Some(bound),
        ignored: &ignored,
        insisted: &insisted,
        leaves_out: spec.checks == Checks::LeaveOut,
    };
    let findings = check_features(table, &asked, &plan.threads)?;
    // Who insists on a leak knows of it.
    let told =
        |one: &Finding| !matches!(one, Finding::Leak { column, .. } if insisted.contains(column));
    let out = findings.iter().filter_map(Finding::left_out).map(str::to_owned);
    let out: Vec<String> = out.collect();
    plan.spec.encoder.ignore.extend(out.iter().cloned());
    for column in out {
        plan.spec.encoder.columns.remove(&column);
    }
    Ok(findings.into_iter().filter(told).map(Notice::Checked).collect())
}

/// The rows that are looked at, in ascending order.
fn sampled(rows: usize, columns: usize) -> Vec<usize> {
    let most = (MOST_VALUES / columns.max(1)).clamp(LEAST_SAMPLE, MOST_ROWS);
    if rows <= most {
        return (0..rows).collect();
    }
    let share = most as f64 / rows as f64;
    let limit = (share * u64::MAX as f64) as u64;
    (0..rows).filter(|&row| mix(row as u64 ^ 0x0063_6865_636b) < limit).collect()
}

/// The label of rows; `None` where it is missing.
fn labels(bound: &Bound, table: &Table, rows: &[usize]) -> Result<Vec<Option<bool>>> {
    let columns = bound.label().columns();
    let columns = columns.iter().map(|name| table.column(name)).collect::<Result<Vec<_>>>()?;
    let labels = bound.label().evaluate(table)?;
    let missing = |row: usize| columns.iter().any(|column| column.values.is_missing(row));
    Ok(rows.iter().map(|&row| (!missing(row)).then_some(labels[row])).collect())
}

/// Rows in two halves, one to choose a prediction and one to judge it.
struct Halves<'a> {
    labels: &'a [Option<bool>],
    /// Whether a row judges.
    judges: Vec<bool>,
    /// Of the judging rows: how many there are, and how many have the rarer label.
    judging: usize,
    rarer: usize,
    /// What most rows that choose are.
    usual: bool,
}

/// How many rows are negative, and how many positive.
type Votes = [u32; 2];

impl<'a> Halves<'a> {
    /// `None` where there are too few rows to tell.
    fn new(rows: &[usize], labels: &'a [Option<bool>]) -> Option<Self> {
        let judges: Vec<bool> =
            rows.iter().map(|&row| mix(row as u64 ^ 0x6861_6c66).is_multiple_of(2)).collect();
        let mut votes: [Votes; 2] = [[0; 2]; 2];
        for (label, &judges) in labels.iter().zip(&judges) {
            if let Some(label) = label {
                votes[usize::from(judges)][usize::from(*label)] += 1;
            }
        }
        let few = votes.iter().flatten().any(|&count| (count as usize) < FEWEST_LABELS);
        if few || rows.len() < FEWEST_ROWS {
            return None;
        }
        let [choosing, judging] = votes;
        Some(Halves {
            labels,
            judges,
            judging: (judging[0] + judging[1]) as usize,
            rarer: judging[0].min(judging[1]) as usize,
            usual: choosing[1] > choosing[0],
        })
    }

    /// The error of predictions on judging rows.
    fn error(&self, predicted: impl Fn(usize) -> bool) -> f64 {
        let rows = self.labels.iter().enumerate().filter(|(place, _)| self.judges[*place]);
        let wrong =
            rows.filter(|(place, label)| label.is_some_and(|label| label != predicted(*place)));
        wrong.count() as f64 / self.judging as f64
    }

    /// The labels of the rows that choose, by place.
    fn choosing(&self) -> impl Iterator<Item = (usize, bool)> + '_ {
        let rows = self.labels.iter().enumerate().filter(|(place, _)| !self.judges[*place]);
        rows.filter_map(|(place, label)| Some((place, (*label)?)))
    }

    /// The error of a column alone and that without it, if the column is a leak.
    fn leak(&self, column: &Column, rows: &[usize]) -> Option<(f64, f64)> {
        let without = self.rarer as f64 / self.judging as f64;
        let by_value = match &column.values {
            Values::Category(category) => {
                let codes: Vec<u64> =
                    rows.iter().map(|&row| u64::from(category.codes[row])).collect();
                self.by_value(&codes)
            }
            Values::Boolean(truths) => {
                let codes: Vec<u64> = rows
                    .iter()
                    .map(|&row| truths[row].map_or(u64::from(MISSING), u64::from))
                    .collect();
                self.by_value(&codes)
            }
            Values::Number(numbers) => {
                let values: Vec<f64> = rows.iter().map(|&row| numbers[row] + 0.0).collect();
                let codes: Vec<u64> = values
                    .iter()
                    .map(|x| if x.is_nan() { u64::MAX } else { x.to_bits() })
                    .collect();
                self.by_value(&codes).min(self.by_threshold(&values))
            }
        };
        (by_value <= (1.0 - LEAK) * without).then_some((by_value, without))
    }

    /// Predicts for each value what most rows with it are; for a new one, what most rows are.
    fn by_value(&self, codes: &[u64]) -> f64 {
        let mut votes: HashMap<u64, Votes> = HashMap::new();
        for (place, label) in self.choosing() {
            votes.entry(codes[place]).or_default()[usize::from(label)] += 1;
        }
        self.error(|place| match votes.get(&codes[place]) {
            Some([negative, positive]) if negative != positive => positive > negative,
            _ => self.usual,
        })
    }

    /// Predicts one label up to a threshold and the other above it; of missing numbers, what most of them are.
    fn by_threshold(&self, values: &[f64]) -> f64 {
        let mut missing: Votes = [0; 2];
        let mut known: Vec<(f64, bool)> = Vec::new();
        for (place, label) in self.choosing() {
            match values[place].is_nan() {
                true => missing[usize::from(label)] += 1,
                false => known.push((values[place], label)),
            }
        }
        known.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let positive = known.iter().filter(|(_, label)| *label).count() as i64;
        // Wrong rows if all above the threshold are positive; the other way round, the others are wrong.
        let mut wrong = known.len() as i64 - positive;
        let (mut best, mut threshold, mut above) = (i64::MAX, f64::NEG_INFINITY, true);
        let count = known.len() as i64;
        let mut look = |wrong: i64, at: f64| {
            if wrong < best {
                (best, threshold, above) = (wrong, at, true);
            }
            if count - wrong < best {
                (best, threshold, above) = (count - wrong, at, false);
            }
        };
        look(wrong, f64::NEG_INFINITY);
        for (at, &(value, label)) in known.iter().enumerate() {
            wrong += if label { 1 } else { -1 };
            if known.get(at + 1).is_none_or(|next| next.0 > value) {
                look(wrong, value);
            }
        }
        let of_missing =
            if missing[0] == missing[1] { self.usual } else { missing[1] > missing[0] };
        self.error(|place| match values[place].is_nan() {
            true => of_missing,
            false => (values[place] > threshold) == above,
        })
    }
}

/// How many values a column has, if it looks like an identifier.
fn identifier(column: &Column, rows: &[usize]) -> Option<usize> {
    if rows.len() < FEWEST_ROWS {
        return None;
    }
    match &column.values {
        Values::Boolean(_) => None,
        Values::Category(category) => {
            let codes = rows.iter().map(|&row| category.codes[row]).filter(|&code| code != MISSING);
            let (mut distinct, mut known) = (HashSet::new(), 0_usize);
            for code in codes {
                distinct.insert(code);
                known += 1;
            }
            let many = known >= FEWEST_ROWS && distinct.len() as f64 >= OWN * known as f64;
            many.then_some(distinct.len())
        }
        Values::Number(numbers) => {
            let known: Vec<f64> =
                rows.iter().map(|&row| numbers[row]).filter(|x| !x.is_nan()).collect();
            if known.len() < FEWEST_ROWS || known.iter().any(|x| x.fract() != 0.0) {
                return None;
            }
            let distinct = known.iter().map(|x| x.to_bits()).collect::<HashSet<_>>().len();
            if (distinct as f64) < 0.99 * known.len() as f64 {
                return None;
            }
            let (low, high) = known.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |ends, &x| {
                (ends.0.min(x), ends.1.max(x))
            });
            // Row numbers, perhaps of a file that rows were taken from; in order, or named so.
            let counts = high - low < 1.5 * numbers.len() as f64;
            let ascends = known.is_sorted() && high - low < 100.0 * numbers.len() as f64;
            (counts || ascends || is_named_identifier(&column.name)).then_some(distinct)
        }
    }
}

/// The words of a name, in lower case: `customer_ID`, `customerId` and `customer.id` have the same.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut word, mut small) = (String::new(), false);
    for c in name.chars() {
        if !c.is_alphabetic() || (c.is_uppercase() && small) {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        }
        if c.is_alphabetic() {
            word.extend(c.to_lowercase());
        }
        small = c.is_lowercase();
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

fn is_named_identifier(name: &str) -> bool {
    const WORDS: [&str; 9] =
        ["id", "uid", "uuid", "guid", "identifier", "key", "ssn", "index", "rowid"];
    words(name).iter().any(|word| WORDS.contains(&word.as_str()))
}

/// Words of names of attributes that laws protect, such as the EU Charter, article 21, and Title VII in the US.
const PROTECTED: [&str; 24] = [
    "sex",
    "gender",
    "race",
    "racial",
    "ethnicity",
    "ethnic",
    "age",
    "birthdate",
    "birthday",
    "dob",
    "religion",
    "religious",
    "nationality",
    "citizenship",
    "disability",
    "disabled",
    "pregnant",
    "pregnancy",
    "marital",
    "orientation",
    "veteran",
    "caste",
    "ancestry",
    "immigrant",
];

/// Pairs of words that only mean it together.
const PROTECTED_PAIRS: [[&str; 2]; 4] =
    [["native", "country"], ["national", "origin"], ["birth", "date"], ["skin", "color"]];

fn is_named_protected(name: &str) -> bool {
    let words = words(name);
    words.iter().any(|word| PROTECTED.contains(&word.as_str()))
        || words.windows(2).any(|two| PROTECTED_PAIRS.contains(&[&two[0], &two[1]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for name in
            ["sex", "Gender", "race_white", "agePct12t21", "native_country", "marital.status"]
        {
            assert!(is_named_protected(name), "{name}");
        }
        for name in ["page", "wage", "sextant", "trace", "country", "usage", "agency"] {
            assert!(!is_named_protected(name), "{name}");
        }
        assert_eq!(words("customerID2_x"), ["customer", "id", "x"]);
        assert!(is_named_identifier("CustomerId") && !is_named_identifier("paid"));
    }
}
