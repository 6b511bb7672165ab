//! `fairgame evaluate` and `fairgame audit`: do the constraints hold, and how sure is that?

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use comfy_table::CellAlignment;
use fairgame::classifier::{Classifier, Draw, draws};
use fairgame::evaluate::{
    self, Accumulator, Audited, ConstraintResult, Decisions, Evaluation, GroupAudit, GroupsFound,
    MOST_ROWS, Measurement,
};
use fairgame::rate::Problem;
use fairgame::rate::language::Condition;
use fairgame::table::{Table, Values};
use fairgame::train::weight_column;
use fairgame::{Error, ErrorKind, Result, printable};
use serde_json::json;

use crate::groups;
use crate::output;
use crate::policy::ProblemArguments;
use crate::read::ReadArguments;
use crate::verdict::Verdict;

pub(crate) const EVALUATE_EXAMPLES: &str = "\
Examples:
  fairgame evaluate adult.safetensors @adult/test
  fairgame evaluate model.safetensors new.csv --confidence 0.99 --json
  fairgame evaluate model.safetensors visits.csv --unit patient

Files may be larger than memory: rows are read, decided and summed a part at a time. With --unit, sums are kept for each
unit: about 140 MB for a million units of one row, and 320 MB for a million of two.

Undecided constraints say about how many rows like these would decide them, if their values stayed as they are.

Exit codes: 0 all constraints are met at the confidence, 1 one is violated, 2 bad usage or data, 3 it cannot
be decided at the confidence: there are too few rows.";

pub(crate) const AUDIT_EXAMPLES: &str = "\
Examples:
  fairgame audit scored.csv --prediction hired --label 'able == \"yes\"' --constraint 'tpr(each sex) >= 0.8'
  fairgame audit scored.parquet --prediction probability --policy policy.toml
  fairgame audit scored.csv --prediction 'decision == \"accept\"' --policy policy.toml --json

  fairgame audit scored.csv --prediction hired --by sex --by race,sex
  fairgame audit scored.csv --prediction 'p >= 0.5' --score p --label 'able == \"yes\"' --by sex

With --by, each group is shown with its rows, base rate, selection rate, true and false positive rate, precision and
error, and with the ratio of its selection rate to that of all rows. Without a label, only selection rates are. No constraint
is needed. Rows without a value are a group of their own. The exit code is that of the constraints, 0 without any.

A median() or quantile() is that of the rows audited, and an `each` has the groups that occur in them; `evaluate`
has those of the training rows.

Files may be larger than memory: rows are read and summed a part at a time. With a median() or quantile(), files are
read twice, and the numbers of its column are held in memory; of standard input, which can be read only once, the
columns that the problem needs are held. Exit codes: as of evaluate.";

#[derive(Args)]
pub(crate) struct Evaluate {
    /// The model file
    model: PathBuf,

    /// The column with the scores, for a model trained with --score [default: as in training]
    #[arg(long, value_name = "COLUMN")]
    score: Option<String>,

    #[command(flatten)]
    read: ReadArguments,

    #[command(flatten)]
    how: HowArguments,
}

#[derive(Args)]
pub(crate) struct Audit {
    #[command(flatten)]
    read: ReadArguments,

    /// What was decided: a column of true and false, of 0 and 1, or of probabilities of a positive decision (of a
    /// randomised classifier); or a condition, 'decision == "accept"'. For probabilities of the label, write a
    /// condition: 'p >= 0.5'
    #[arg(long, value_name = "EXPR")]
    prediction: String,

    /// Compare groups: a column, or several with commas between for the combinations of their values (repeatable)
    #[arg(long, value_name = "COLUMNS")]
    by: Vec<String>,

    /// The column of scores, for the AUC of each group [default: --prediction, if it is a column of probabilities]
    #[arg(long, value_name = "COLUMN", requires = "by")]
    score: Option<String>,

    #[command(flatten)]
    problem: ProblemArguments,

    #[command(flatten)]
    how: HowArguments,
}

#[derive(Args)]
struct HowArguments {
    /// How sure the verdicts are to be, all together
    #[arg(long, value_name = "X", allow_negative_numbers = true, default_value_t = 0.95)]
    confidence: f64,

    /// The column that says how much each row counts [default: that of the training or the policy, if any]
    #[arg(long, value_name = "COLUMN")]
    weight: Option<String>,

    /// Every row counts the same, whatever the training or the policy says
    #[arg(long, conflicts_with = "weight")]
    no_weight: bool,

    /// The column that says which rows belong together, such as those of one person: intervals are then those of
    /// independent units, not of independent rows. A row without a value is a unit of its own
    #[arg(long, value_name = "COLUMN")]
    unit: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Say nothing but the result
    #[arg(long, short)]
    quiet: bool,
}

impl HowArguments {
    /// The unit of each row, if a column says it. A unit is told by its value, whatever its column's kind.
    fn units(&self, table: &Table) -> Result<Option<Vec<Option<u64>>>> {
        let column = self.unit.as_ref().map(|name| table.column(name)).transpose();
        let column = column.map_err(|error| error.at("--unit"))?;
        Ok(column.map(|column| draws(&column.values)))
    }

    /// The column of weights: the one that was asked for, or `own`.
    fn weight(&self, own: Option<String>) -> Option<String> {
        if self.no_weight { None } else { self.weight.clone().or(own) }
    }

    /// The weights that a column of a table holds; `before` rows came before it.
    fn weights(
        &self,
        table: &Table,
        weight: &Option<String>,
        before: u64,
    ) -> Result<Option<Vec<f32>>> {
        let weights = weight.as_ref().map(|name| weight_column(table, name, before)).transpose();
        weights.map_err(|error| match self.weight.is_some() {
            true => error,
            false => error
                .at("the weight column of the training")
                .help("name another (--weight), or let every row count the same (--no-weight)"),
        })
    }
}

pub(crate) fn run(arguments: &Evaluate) -> Result<Verdict> {
    let how = &arguments.how;
    evaluate::check_confidence(how.confidence)?;
    let mut classifier = Classifier::load(&arguments.model)?;
    output::check_decides_alone(&classifier, arguments.score.as_deref())?;
    if let Some(score) = &arguments.score {
        classifier.take_scores_from(score).map_err(|error| error.at("--score"))?;
    }
    let bound = classifier.bound();
    let settings = &classifier.provenance().settings;
    let own = settings.get("weight").and_then(|name| name.as_str()).map(str::to_owned);
    let weight = how.weight(own);

    let mut reader = arguments.read.rows_for(&classifier, how.unit.as_deref())?;
    let columns = bound.kinds().into_keys().chain(classifier.kinds().into_keys());
    let needed: BTreeSet<String> = columns.chain(weight.clone()).chain(how.unit.clone()).collect();
    reader.only(&needed, classifier.inputs());
    let (mut rows, mut seen) = (Accumulator::new(bound), classifier.recognition());
    let (mut unlabelled, mut unnamed) = (0, bound.unnamed_or_unlabelled());
    for table in reader.read()? {
        let table = table?;
        let weights = how.weights(&table, &weight, rows.rows())?;
        unlabelled += bound.missing_labels(&table)? as u64;
        unnamed.add(&table)?;
        let features = classifier.encode(&table)?;
        seen.add(&features);
        let predictions = classifier.predict(&features, Draw::Features)?;
        let chances: Vec<f64> = predictions.iter().map(|one| one.probability).collect();
        let (weights, units) = (weights.as_deref(), how.units(&table)?);
        let decisions = Decisions::Probabilities(&chances);
        rows.add_by_unit(&table, weights, units.as_deref(), decisions)?;
    }
    let mut warnings = without_label(unlabelled);
    warnings.extend(without_unit(rows.rows_without_unit()));
    warnings.extend(classifier.forgets_unit(how.unit.is_some()));
    warnings.extend(unnamed.finish()?.iter().map(ToString::to_string));
    warnings.extend(seen.finish().map(|seen| seen.to_string()));
    let found = rows.finish(how.confidence)?;
    let margin = found.margin_to_meet();
    finish(&found, margin, &warnings, None, how)
}

pub(crate) fn audit(arguments: &Audit) -> Result<Verdict> {
    let how = &arguments.how;
    let problem = &arguments.problem;
    let spec = if arguments.by.is_empty() { problem.spec()? } else { problem.spec_if_any()? };
    evaluate::check_confidence(how.confidence)?;
    let weight = how.weight(spec.weight.clone());
    // Without a constraint, groups are all that is asked for.
    let mut rows = match arguments.by.is_empty() || !spec.constraints.is_empty() {
        true => {
            let mut problem = Problem::parse(&spec.label, &spec.objective, &spec.constraints)?;
            if spec.skip_empty_groups {
                problem = problem.skip_empty_groups();
            }
            Some(evaluate::Audit::new(&problem))
        }
        false => None,
    };
    // A unit that the problem asks something of is what the problem takes it for.
    let unit = how.unit.as_deref().filter(|unit| {
        let asked = rows.iter().flat_map(evaluate::Audit::columns).any(|column| column == *unit);
        !asked && !arguments.by.iter().any(|by| by.split(',').any(|name| name.trim() == *unit))
    });
    let mut reader = arguments.read.rows(&spec.missing, unit)?;
    let prediction = Prediction::of(&arguments.prediction, reader.names());
    let prediction = prediction.map_err(|error| error.at(PREDICTION))?;
    let mut groups = match &arguments.by[..] {
        [] => None,
        by => {
            let groupings = groups::groupings(by, reader.names());
            let groups = GroupAudit::new(&groupings).map_err(|error| error.at("--by"))?;
            Some(if spec.label.is_empty() { groups } else { groups.with_label(&spec.label)? })
        }
    };
    if let Prediction::Condition = prediction {
        let decided = |audit: evaluate::Audit| audit.decided_by(&arguments.prediction, PREDICTION);
        rows = rows.map(decided).transpose()?;
        let decided = |audit: GroupAudit| audit.decided_by(&arguments.prediction, PREDICTION);
        groups = groups.map(decided).transpose()?;
    }

    let asked = rows.iter().flat_map(evaluate::Audit::columns);
    let asked = asked.chain(groups.iter().flat_map(GroupAudit::columns)).map(str::to_owned);
    let columns = asked.chain(weight.clone()).chain(how.unit.clone());
    let columns = columns.chain(arguments.score.clone());
    let needed: BTreeSet<String> = columns.chain(prediction.column()).collect();
    reader.only(&needed, 0);
    let quantiles = rows.iter().flat_map(evaluate::Audit::quantile_columns);
    let quantiles = quantiles.chain(groups.iter().flat_map(GroupAudit::quantile_columns));
    let quantiles: BTreeSet<String> = quantiles.map(str::to_owned).collect();
    if !quantiles.is_empty() {
        for table in reader.read_before(&quantiles, &needed)? {
            let table = table?;
            rows.iter_mut().for_each(|rows| rows.add_quantiles(&table));
            groups.iter_mut().for_each(|groups| groups.add_quantiles(&table));
        }
    }
    let mut before = 0;
    for table in reader.read()? {
        let table = table?;
        let weights = how.weights(&table, &weight, before)?;
        let units = how.units(&table)?;
        let decided = match &prediction {
            Prediction::Condition => None,
            Prediction::Column(name) => {
                Some(decided(name, &table, before).map_err(|error| error.at(PREDICTION))?)
            }
        };
        let decisions = decided.as_ref().map(Decided::decisions);
        let (weights, units) = (weights.as_deref(), units.as_deref());
        if let Some(rows) = &mut rows {
            rows.add_by_unit(&table, weights, units, decisions)?;
        }
        if let Some(groups) = &mut groups {
            let scores = scores(arguments.score.as_deref(), &table)?;
            let scores = scores.or(match &decided {
                Some(Decided::Chances(chances)) => Some(&chances[..]),
                _ => None,
            });
            groups.add(&table, weights, units, decisions, scores)?;
        }
        before += table.rows() as u64;
    }
    let found = groups.map(|groups| groups.finish(how.confidence)).transpose()?;
    let Some(rows) = rows else {
        return Ok(match found {
            Some(found) => groups_alone(&found, how)?,
            None => Verdict::Met,
        });
    };
    let Audited { evaluation, notices, unlabelled, without_unit: alone } =
        rows.finish(how.confidence)?;
    if !how.quiet {
        notices.iter().for_each(output::notice);
    }
    let mut warnings = without_label(unlabelled);
    warnings.extend(without_unit(alone));
    // Nothing is trained here that could have a margin.
    finish(&evaluation, None, &warnings, found.as_ref(), how)
}

/// The scores that a column holds.
fn scores<'a>(name: Option<&str>, table: &'a Table) -> Result<Option<&'a [f64]>> {
    let Some(name) = name else { return Ok(None) };
    match &table.column(name).map_err(|error| error.at("--score"))?.values {
        Values::Number(numbers) => Ok(Some(numbers)),
        values => {
            let message = format!("column `{name}` is a {}, and scores are numbers", values.kind());
            Err(Error::new(ErrorKind::Column, message).at("--score"))
        }
    }
}

/// Says how groups fare, where nothing else was asked.
fn groups_alone(found: &GroupsFound, how: &HowArguments) -> Result<Verdict> {
    let mut warnings = without_label(found.unlabelled);
    warnings.extend(without_unit(found.without_unit));
    if how.json {
        let document = json!({ "version": output::VERSION, "warnings": warnings, "groups": found });
        output::print_json(&document)?;
    } else {
        warnings.iter().for_each(output::warning);
        output::print(&groups::printed(found))?;
    }
    Ok(Verdict::Met)
}

/// A warning of rows that have no unit, if there are any.
fn without_unit(rows: u64) -> Option<String> {
    (rows > 0).then(|| {
        let counted = output::count(rows as usize, "row");
        let own =
            if rows == 1 { "counts as a unit of its own" } else { "count as units of their own" };
        format!("{counted} without a unit {own}")
    })
}

/// A warning of rows that have no label, if there are any.
fn without_label(rows: u64) -> Vec<String> {
    match rows {
        0 => Vec::new(),
        rows => {
            let rows = output::count(rows as usize, "row");
            vec![format!("{rows} without a label count as negative")]
        }
    }
}

/// The flag that says what was decided.
const PREDICTION: &str = "--prediction";

/// Where decisions are found.
enum Prediction {
    /// In the column of that name.
    Column(String),
    /// They are whether a condition is met.
    Condition,
}

impl Prediction {
    /// A column by its name, or a condition.
    fn of(text: &str, names: &[String]) -> Result<Self> {
        let parsed = Condition::parse(text);
        let named = match &parsed {
            Ok(Condition::Is(name)) => &name.text,
            _ => text,
        };
        if names.iter().any(|name| name == named) {
            return Ok(Prediction::Column(named.to_owned()));
        }
        if let Condition::Is(name) = parsed? {
            let error =
                Error::new(ErrorKind::Column, format!("there is no column `{}`", name.text));
            return Err(match fairgame::nearest(&name.text, names.iter().map(String::as_str)) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help("name a column, or write a condition".to_owned()),
            });
        }
        Ok(Prediction::Condition)
    }

    fn column(&self) -> Option<String> {
        match self {
            Prediction::Column(name) => Some(name.clone()),
            Prediction::Condition => None,
        }
    }
}

/// What was decided of each row.
enum Decided {
    Hard(Vec<bool>),
    Chances(Vec<f64>),
}

impl Decided {
    fn decisions(&self) -> Decisions<'_> {
        match self {
            Decided::Hard(decided) => Decisions::Hard(decided),
            Decided::Chances(chances) => Decisions::Probabilities(chances),
        }
    }
}

/// What the column of that name says was decided of rows that come after `before` others.
fn decided(name: &str, table: &Table, before: u64) -> Result<Decided> {
    let missing = |row: usize| {
        let row = before + row as u64 + 1;
        Error::new(ErrorKind::Value, format!("row {row} has no prediction"))
            .help("leave out the rows that were not decided, or fill them in")
            .at(format!("column `{name}`"))
    };
    match &table.column(name)?.values {
        Values::Boolean(truths) => {
            let decided = truths.iter().enumerate();
            let decided = decided.map(|(row, truth)| truth.ok_or_else(|| missing(row)));
            Ok(Decided::Hard(decided.collect::<Result<_>>()?))
        }
        Values::Number(numbers) => match numbers.iter().position(|number| number.is_nan()) {
            Some(row) => Err(missing(row)),
            None => Ok(Decided::Chances(numbers.clone())),
        },
        Values::Category(_) => Err(Error::new(
            ErrorKind::Column,
            format!("column `{name}` holds texts, of which any may be the positive one"),
        )
        .help(format!("say which is: --prediction '{name} == \"yes\"'"))),
    }
}

/// Says what was found; `margin` is the one to train with so that an undecided constraint is likely to be met.
fn finish(
    found: &Evaluation,
    margin: Option<String>,
    warnings: &[String],
    groups: Option<&GroupsFound>,
    how: &HowArguments,
) -> Result<Verdict> {
    if how.json {
        let mut document =
            json!({ "version": output::VERSION, "warnings": warnings, "margin_to_meet": margin });
        if let (Some(into), Ok(serde_json::Value::Object(from))) =
            (document.as_object_mut(), serde_json::to_value(found))
        {
            into.extend(from);
        }
        if let Some(groups) = groups {
            document["groups"] = json!(groups);
        }
        output::print_json(&document)?;
    } else {
        warnings.iter().for_each(output::warning);
        output::print(&printed(found, margin.as_deref()))?;
        if let Some(groups) = groups {
            output::print(&format!("\n{}", groups::printed(groups)))?;
        }
    }
    Ok(match found.verdict {
        evaluate::Verdict::Met => Verdict::Met,
        evaluate::Verdict::Violated => Verdict::Violated,
        evaluate::Verdict::Undecided => Verdict::Undecided,
    })
}

/// A value and its interval, or why there is none.
fn cells(measurement: &Measurement, signed: bool) -> [String; 2] {
    let number = |x: f64| if signed { format!("{x:+.4}") } else { format!("{x:.4}") };
    match measurement {
        Measurement::Measured(estimate) => {
            let interval = estimate.interval;
            let shown = format!("{} to {}", number(interval.low), number(interval.high));
            [number(estimate.value), shown]
        }
        Measurement::Nothing { reason } => ["–".to_owned(), printable(reason).into_owned()],
    }
}

/// A whole number with its thousands told apart.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let places = digits.char_indices().map(|(at, digit)| {
        let comma = at > 0 && (digits.len() - at).is_multiple_of(3);
        format!("{}{digit}", if comma { "," } else { "" })
    });
    places.collect()
}

/// How many rows would decide a constraint that is undecided.
fn to_decide(one: &ConstraintResult) -> String {
    match (one.verdict, one.rows_to_decide, &one.measurement) {
        (evaluate::Verdict::Undecided, Some(rows), _) => format!("about {}", grouped(rows)),
        (evaluate::Verdict::Undecided, None, Measurement::Measured(_)) => "no number".to_owned(),
        _ => String::new(),
    }
}

/// What would decide the constraints that are undecided, and what to train with.
fn advice(found: &Evaluation, margin: Option<&str>) -> String {
    let open = |one: &&ConstraintResult| {
        one.verdict == evaluate::Verdict::Undecided && one.value().is_some()
    };
    let open: Vec<_> = found.constraints.iter().filter(open).collect();
    if open.is_empty() {
        return String::new();
    }
    let needed: Vec<u64> = open.iter().filter_map(|one| one.rows_to_decide).collect();
    let mut text = String::new();
    if let Some(&rows) = needed.iter().max() {
        let what = match (open.len(), needed.len()) {
            (1, _) => "the undecided constraint",
            (all, some) if all == some => "all of them",
            _ => "those with a number",
        };
        let rows = grouped(rows);
        text += &format!(
            "About {rows} rows like these would decide {what}, if the rates stay as they are.\n"
        );
    }
    if needed.len() < open.len() {
        let most = grouped(MOST_ROWS);
        text += &format!(
            "No number of rows decides a value of 0, or one so near to 0 that more than {most} rows would be needed.\n"
        );
    }
    if let Some(margin) = margin {
        text += &format!(
            "Or train with --margin {margin}: an evaluation on {} new rows at this confidence then says met with a \
             probability of at least 0.8.\n",
            grouped(found.rows as u64)
        );
    }
    text
}

fn printed(found: &Evaluation, margin: Option<&str>) -> String {
    let percent = output::short(100.0 * found.confidence);
    let open = found.constraints.iter().any(|one| !to_decide(one).is_empty());
    let mut header = vec!["", "value", "interval", "verdict"];
    header.extend(open.then_some("rows to decide"));
    let mut losses = output::table(&header);
    let [value, interval] = cells(&found.objective.measurement, false);
    losses.add_row([output::cell(&found.objective.name), value, interval, String::new()]);
    for one in &found.constraints {
        let [value, interval] = cells(&one.measurement, true);
        let mut row = vec![output::cell(&one.name), value, interval, one.verdict.to_string()];
        row.extend(open.then(|| to_decide(one)));
        losses.add_row(row);
    }
    let mut rates = output::table(&["rate", "rows", "value", "interval"]);
    let mut seen = Vec::new();
    for rate in found.constraints.iter().flat_map(|one| &one.rates) {
        if !seen.contains(&&rate.text) {
            seen.push(&rate.text);
            let [value, interval] = cells(&rate.measurement, false);
            rates.add_row([output::cell(&rate.text), rate.rows.to_string(), value, interval]);
        }
    }
    for (table, columns) in [(&mut losses, vec![1, 2, 4]), (&mut rates, vec![1, 2, 3])] {
        for column in columns {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
    }
    let mut text = format!("{losses}\n");
    if !seen.is_empty() {
        text += &format!("\n{rates}\n");
    }
    let mut rows = output::count(found.rows, "row");
    if let Some(units) = found.units {
        rows += &format!(" of {}", output::count(units as usize, "unit"));
    }
    if let Some(share) = found.drawn.filter(|share| *share > 0.0) {
        text += &format!("\nA draw decides {:.1} % of the rows.", 100.0 * share);
    }
    if let (Some(base), Some(error)) = (found.base_rate, found.error) {
        text += &format!(
            "\nThe error is {error:.4}. {base:.4} of the rows are positive: deciding every row negative has an error of \
             {base:.4}, every row positive {:.4}.",
            1.0 - base
        );
    }
    text += &match found.verdict {
        _ if found.constraints.is_empty() => format!("\n{rows}; there are no constraints.\n"),
        evaluate::Verdict::Met => {
            format!("\nOn {rows}, all constraints are met, at a confidence of {percent} %.\n")
        }
        evaluate::Verdict::Violated => {
            format!("\nOn {rows}, a constraint is violated, at a confidence of {percent} %.\n")
        }
        evaluate::Verdict::Undecided => {
            let why = match found.constraints.iter().all(|one| one.measurement.reason().is_none()) {
                true => "an interval has 0 inside",
                false => "there is nothing to measure for one",
            };
            format!(
                "\nOn {rows}, not every constraint can be decided at a confidence of {percent} %: {why}.\n"
            )
        }
    };
    text += &advice(found, margin);
    text
}
