//! `fairgame evaluate` and `fairgame audit`: do the constraints hold, and how sure is that?

use std::path::PathBuf;

use clap::Args;
use comfy_table::CellAlignment;
use fairgame::classifier::Classifier;
use fairgame::evaluate::{self, Decisions, Evaluation, Measurement};
use fairgame::rate::language::Condition;
use fairgame::rate::{Bound, Problem};
use fairgame::table::{Table, Values};
use fairgame::train::weight_column;
use fairgame::{Error, ErrorKind, Result};
use serde_json::json;

use crate::output::{self, plain};
use crate::policy::ProblemArguments;
use crate::read::ReadArguments;
use crate::verdict::Verdict;

pub(crate) const EVALUATE_EXAMPLES: &str = "\
Examples:
  fairgame evaluate adult.safetensors @adult/test
  fairgame evaluate model.safetensors new.csv --confidence 0.99 --json

Exit codes: 0 all constraints are met at the confidence, 1 one is violated, 2 bad usage or data, 3 it cannot
be decided at the confidence: there are too few rows.";

pub(crate) const AUDIT_EXAMPLES: &str = "\
Examples:
  fairgame audit scored.csv --prediction hired --label 'able == \"yes\"' --constraint 'tpr(each sex) >= 0.8'
  fairgame audit scored.parquet --prediction probability --policy policy.toml
  fairgame audit scored.csv --prediction 'decision == \"accept\"' --policy policy.toml --json

A median() or quantile() is that of the rows audited, and an `each` has the groups that occur in them; `evaluate`
has those of the training rows. Exit codes: as of evaluate.";

#[derive(Args)]
pub(crate) struct Evaluate {
    /// The model file
    model: PathBuf,

    #[command(flatten)]
    read: ReadArguments,

    #[command(flatten)]
    how: HowArguments,
}

#[derive(Args)]
pub(crate) struct Audit {
    #[command(flatten)]
    read: ReadArguments,

    /// What was decided: a column of true and false, of 0 and 1, or of chances of a positive decision; or a
    /// condition, 'decision == "accept"'
    #[arg(long, value_name = "EXPR")]
    prediction: String,

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

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Say nothing but the result
    #[arg(long, short)]
    quiet: bool,
}

impl HowArguments {
    /// The weights that a column holds: the one that was asked for, or `own`.
    fn weights(&self, table: &Table, own: Option<String>) -> Result<Option<Vec<f32>>> {
        let column = match (&self.weight, self.no_weight) {
            (Some(weight), _) => Some(weight.clone()),
            (None, true) => None,
            (None, false) => own,
        };
        let weights = column.map(|column| weight_column(table, &column)).transpose();
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
    let classifier = Classifier::load(&arguments.model)?;
    let table = arguments.read.read_for(&classifier)?;
    let settings = &classifier.provenance().settings;
    let own = settings.get("weight").and_then(|name| name.as_str()).map(str::to_owned);
    let weights = how.weights(&table, own)?;
    let mut warnings = unlabelled(classifier.bound(), &table)?;
    warnings.extend(classifier.seen(&table)?.map(|seen| seen.to_string()));
    let found = classifier.evaluate(&table, weights.as_deref(), how.confidence)?;
    finish(&found, &warnings, how)
}

pub(crate) fn audit(arguments: &Audit) -> Result<Verdict> {
    let (spec, how) = (arguments.problem.spec()?, &arguments.how);
    let table = arguments.read.read(&spec.missing)?;
    let weights = how.weights(&table, spec.weight.clone())?;
    let mut problem = Problem::parse(&spec.label, &spec.objective, &spec.constraints)?;
    if spec.skip_empty_groups {
        problem = problem.skip_empty_groups();
    }
    let rows = fairgame::rate::Weighted { table: &table, weights: weights.as_deref() };
    let (bound, notices) = problem.bind(rows, &[])?;
    if !how.quiet {
        notices.iter().for_each(output::notice);
    }
    let warnings = unlabelled(&bound, &table)?;
    let predictions =
        Predictions::of(&arguments.prediction, &table).map_err(|error| error.at("--prediction"))?;
    let found = evaluate::evaluate(
        &bound,
        &table,
        weights.as_deref(),
        predictions.decisions(),
        how.confidence,
    )?;
    finish(&found, &warnings, how)
}

/// A warning of rows that have no label, if there are any.
fn unlabelled(bound: &Bound, table: &Table) -> Result<Vec<String>> {
    Ok(match bound.missing_labels(table)? {
        0 => Vec::new(),
        rows => vec![format!("{} without a label count as negative", output::count(rows, "row"))],
    })
}

/// What was decided of each row.
enum Predictions {
    Hard(Vec<bool>),
    Chances(Vec<f64>),
}

impl Predictions {
    /// A column by its name, or a condition.
    fn of(text: &str, table: &Table) -> Result<Self> {
        let named = match Condition::parse(text) {
            Ok(Condition::Is(name)) => name.text,
            _ => text.to_owned(),
        };
        let Some(column) = table.columns().iter().find(|column| column.name == named) else {
            return Self::of_condition(text, table);
        };
        let missing = |row: usize| {
            Error::new(ErrorKind::Value, format!("row {} has no prediction", row + 1))
                .help("leave out the rows that were not decided, or fill them in")
                .at(format!("column `{text}`"))
        };
        match &column.values {
            Values::Boolean(truths) => {
                let decided = truths.iter().enumerate();
                let decided = decided.map(|(row, truth)| truth.ok_or_else(|| missing(row)));
                Ok(Predictions::Hard(decided.collect::<Result<_>>()?))
            }
            Values::Number(numbers) => match numbers.iter().position(|number| number.is_nan()) {
                Some(row) => Err(missing(row)),
                None => Ok(Predictions::Chances(numbers.clone())),
            },
            Values::Category(_) => Err(Error::new(
                ErrorKind::Column,
                format!("column `{text}` holds texts, of which any may be the positive one"),
            )
            .help(format!("say which is: --prediction '{text} == \"yes\"'"))),
        }
    }

    fn of_condition(text: &str, table: &Table) -> Result<Self> {
        let tree = Condition::parse(text)?;
        if let Condition::Is(name) = &tree {
            let columns = table.columns().iter().map(|column| column.name.as_str());
            let error =
                Error::new(ErrorKind::Column, format!("there is no column `{}`", name.text));
            return Err(match fairgame::nearest(&name.text, columns) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help("name a column, or write a condition".to_owned()),
            });
        }
        // A condition is what a label is; binding checks its columns and values.
        let (bound, _) =
            Problem::parse(text, "positive_rate()", &[] as &[&str])?.bind(table, &[])?;
        let decided = bound.label();
        Ok(Predictions::Hard(decided.evaluate(table)?))
    }

    fn decisions(&self) -> Decisions<'_> {
        match self {
            Predictions::Hard(decided) => Decisions::Hard(decided),
            Predictions::Chances(chances) => Decisions::Probabilities(chances),
        }
    }
}

fn finish(found: &Evaluation, warnings: &[String], how: &HowArguments) -> Result<Verdict> {
    if how.json {
        let mut document = json!({ "version": output::VERSION, "warnings": warnings });
        if let (Some(into), Ok(serde_json::Value::Object(from))) =
            (document.as_object_mut(), serde_json::to_value(found))
        {
            into.extend(from);
        }
        output::print_json(&document)?;
    } else {
        warnings.iter().for_each(output::warning);
        output::print(&printed(found))?;
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
        Measurement::Nothing { reason } => ["–".to_owned(), plain(reason)],
    }
}

fn printed(found: &Evaluation) -> String {
    let percent = output::short(100.0 * found.confidence);
    let mut losses = output::table(&["", "value", "interval", "verdict"]);
    let [value, interval] = cells(&found.objective.measurement, false);
    losses.add_row([plain(&found.objective.name), value, interval, String::new()]);
    for one in &found.constraints {
        let [value, interval] = cells(&one.measurement, true);
        losses.add_row([plain(&one.name), value, interval, one.verdict.to_string()]);
    }
    let mut rates = output::table(&["rate", "rows", "value", "interval"]);
    let mut seen = Vec::new();
    for rate in found.constraints.iter().flat_map(|one| &one.rates) {
        if !seen.contains(&&rate.text) {
            seen.push(&rate.text);
            let [value, interval] = cells(&rate.measurement, false);
            rates.add_row([plain(&rate.text), rate.rows.to_string(), value, interval]);
        }
    }
    for (table, columns) in [(&mut losses, vec![1, 2]), (&mut rates, vec![1, 2, 3])] {
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
    let rows = output::count(found.rows, "row");
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
    text
}
