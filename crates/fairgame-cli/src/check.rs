//! `fairgame data check`: what a careful person looks for in data before training.

use clap::Args;
use fairgame::train::{Checks, Finding, check_data};
use fairgame::{Error, ErrorKind, Result, Threads};
use serde_json::{Value, json};

use crate::output;
use crate::policy::ProblemArguments;
use crate::read::ReadArguments;
use crate::verdict::Verdict;

pub(crate) const EXAMPLES: &str = "\
Examples:
  fairgame data check people.csv --label 'hired == \"yes\"' --constraint 'tpr(each sex) >= 0.8'
  fairgame data check people.csv --policy policy.toml --json
  fairgame data check @compas --label 'two_year_recid == 1'

A column gives the label away if a prediction from this column alone removes at least 90 % of the error of a constant
prediction. The prediction is measured on rows that it was not made from. `train` leaves such columns out, and identifiers, unless --feature names them. Protected columns stay features.

Exit codes: 0 nothing was found that stands in the way (protected features and missing labels do not), 1 something was, 2
bad usage or data.";

#[derive(Args)]
pub(crate) struct Check {
    #[command(flatten)]
    read: ReadArguments,

    #[command(flatten)]
    problem: ProblemArguments,

    /// Column that is not a feature (repeatable)
    #[arg(long, value_name = "COLUMN")]
    ignore: Vec<String>,

    /// Column that stays a feature, whatever is found (repeatable)
    #[arg(long, value_name = "COLUMN")]
    feature: Vec<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Check) -> Result<Verdict> {
    let mut spec = arguments.problem.spec_if_any()?;
    spec.encoder.ignore.extend(arguments.ignore.iter().cloned());
    spec.features.extend(arguments.feature.iter().cloned());
    if let Some(both) = spec.features.iter().find(|name| spec.encoder.ignore.contains(name)) {
        let message = format!("column `{both}` is to be left out and to stay a feature");
        return Err(Error::new(ErrorKind::Settings, message).help("give --ignore or --feature"));
    }
    // A policy that asks for no checks is checked as `train` would check by default.
    if spec.checks == Checks::Off {
        spec.checks = Checks::LeaveOut;
    }
    let table = arguments.read.read(&spec.missing)?;
    for (flag, names) in [("--ignore", &arguments.ignore), ("--feature", &arguments.feature)] {
        for name in names {
            table.column(name).map_err(|error| error.at(flag))?;
        }
    }
    if table.rows() == 0 {
        return Err(Error::new(ErrorKind::Format, "there are no rows"));
    }
    let findings = check_data(&spec, &table, &Threads::all())?;
    let serious = findings.iter().any(Finding::is_serious);
    if arguments.json {
        output::print_json(&json!({
            "version": output::VERSION,
            "rows": table.rows(),
            "label": !spec.label.is_empty(),
            "serious": serious,
            "findings": findings.iter().map(document).collect::<Vec<_>>(),
        }))?;
    } else {
        let mut text: String = findings.iter().map(|one| format!("- {one}\n")).collect();
        let rows = output::count(table.rows(), "row");
        text += &match (findings.is_empty(), spec.label.is_empty()) {
            (true, false) => format!("{rows}: nothing was found.\n"),
            (true, true) => format!(
                "{rows}: nothing was found. To look for columns that give a label away, give --label.\n"
            ),
            (false, false) => format!("{rows} were checked.\n"),
            (false, true) => format!(
                "{rows} were checked. To look for columns that give a label away, give --label.\n"
            ),
        };
        output::print(&text)?;
    }
    Ok(if serious { Verdict::Violated } else { Verdict::Met })
}

/// A finding with its message.
fn document(finding: &Finding) -> Value {
    let mut document = json!(finding);
    document["serious"] = json!(finding.is_serious());
    document["message"] = json!(finding.to_string());
    document
}
