//! `fairgame explain`: why one row is decided as it is.

use std::path::PathBuf;

use clap::Args;
use comfy_table::CellAlignment;
use fairgame::classifier::{Classifier, Contributions, Explanation};
use fairgame::table::{Table, Values};
use fairgame::{Error, ErrorKind, Result, printable, shown};
use serde_json::{Value, json};

use crate::output;
use crate::read::ReadArguments;
use crate::verdict::Verdict;

pub(crate) const EXAMPLES: &str = "\
Examples:
  fairgame explain model.safetensors people.csv --row 17
  fairgame explain model.safetensors people.csv --row 17 --json

Each model of the mixture is shown with its weight, its score and the threshold that decides. In the plug-in game a rule is
a threshold on the probability of the label, which may differ by group.

Contributions are exact Shapley values, for trees and linear models: by how much each column moves the row away from the mean of
other rows of the file. They add up. Networks and lattices have none; `fairgame show` has the importance of their columns.";

/// The row is compared with so many others, spread evenly over the first rows of the file.
const OTHERS: usize = 100;

/// So many rows are read at a time, and the first are those that others are taken from.
const FIRST: usize = 1 << 16;

#[derive(Args)]
pub(crate) struct Explain {
    /// The model file
    model: PathBuf,

    #[command(flatten)]
    read: ReadArguments,

    /// Which row is to be explained, counted from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    row: u64,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Explain) -> Result<Verdict> {
    let classifier = Classifier::load(&arguments.model)?;
    let (row, others) = rows(arguments, &classifier)?;
    let found = classifier.explain(&row, &others)?;
    match arguments.json {
        true => output::print_json(&document(arguments.row, &row, &found, &classifier))?,
        false => output::print(&text(arguments.row, &row, &found, &classifier))?,
    }
    Ok(Verdict::Met)
}

/// The row, and others to compare it with.
fn rows(arguments: &Explain, classifier: &Classifier) -> Result<(Table, Table)> {
    let chunks = arguments.read.chunks_for(classifier, &[], FIRST);
    let chunks = chunks.map_err(|error| classifier.about_features(error))?;
    let (mut before, mut others) = (0, None);
    for table in chunks {
        let table = table.map_err(|error| classifier.about_features(error))?;
        let rows = table.rows() as u64;
        if others.is_none() {
            let count = table.rows().min(OTHERS);
            let places: Vec<usize> = (0..count).map(|at| at * table.rows() / count).collect();
            others = Some(table.take(&places));
        }
        if let (true, Some(others)) = (arguments.row <= before + rows, &others) {
            let place = (arguments.row - before - 1) as usize;
            return Ok((table.take(&[place]), others.clone()));
        }
        before += rows;
    }
    Err(Error::new(ErrorKind::Value, format!("there is no row {}", arguments.row))
        .help(format!("the data have {}", output::count(before as usize, "row")))
        .at("--row"))
}

/// A value of the row, as text; `None` where it is missing.
fn value(row: &Table, column: &str) -> Option<String> {
    match &row.columns().iter().find(|one| one.name == column)?.values {
        Values::Number(numbers) => numbers.first().filter(|x| !x.is_nan()).map(ToString::to_string),
        Values::Category(category) => category.texts().next().flatten().map(str::to_owned),
        Values::Boolean(truths) => truths.first().copied().flatten().map(|one| one.to_string()),
    }
}

fn document(number: u64, row: &Table, found: &Explanation, classifier: &Classifier) -> Value {
    let one = |column: String| {
        let value = value(row, &column);
        json!({ "column": column, "value": value })
    };
    let mut document = json!({
        "version": output::VERSION,
        "row": number,
        "values": classifier.feature_columns().into_iter().map(one).collect::<Vec<_>>(),
    });
    if let (Some(into), Value::Object(from)) = (document.as_object_mut(), json!(found)) {
        into.extend(from);
    }
    document
}

/// What the probabilities of a rule are called.
fn names(found: &Explanation) -> Vec<String> {
    let name = |(at, condition): (usize, &Option<String>)| match condition {
        Some(condition) => format!("P({})", shown(condition)),
        None => format!("P{}", at + 1),
    };
    found.conditions.iter().enumerate().map(name).collect()
}

fn contributions(all: &Contributions, names: &[String], row: &Table, others: usize) -> String {
    let mut table = output::table(&["column", "value", "adds"]);
    for one in &all.columns {
        let value = value(row, &one.column);
        let value = value.map_or("(missing)".to_owned(), |value| shown(&value).into_owned());
        let name = shown(&one.column).into_owned();
        table.add_row([name, value, format!("{:+.4}", one.contribution)]);
    }
    if let Some(column) = table.column_mut(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let of = match all.probability.and_then(|at| names.get(at)) {
        Some(name) => format!("log-odds of {name} are"),
        None => format!("{} is", all.of),
    };
    format!(
        "\nThe {of} {:+.4} for this row, and {:+.4} on average over {}. Each column adds:\n{table}\n",
        all.value,
        all.base,
        output::count(others, "other row"),
    )
}

fn text(number: u64, row: &Table, found: &Explanation, classifier: &Classifier) -> String {
    let decided = if found.positive { "positive" } else { "negative" };
    let how = match found.probability {
        p if p <= 0.0 || p >= 1.0 => "all models agree".to_owned(),
        p => format!("by a draw: the probability of a positive decision is {p:.4}"),
    };
    let mut text = format!(
        "Row {number} is decided {decided}; {how}. The mean score is {:+.4}.\n\n",
        found.score
    );
    let rules = found.members.iter().any(|member| !member.probabilities.is_empty());
    let cuts = found.members.iter().all(|member| member.cut.is_some());
    let mut header = vec!["column", "fold", "weight"];
    let names = names(found);
    // Many probabilities share a column.
    let apart = names.len() <= 3;
    match rules {
        true if apart => header.extend(names.iter().map(String::as_str)),
        true => header.push("probabilities"),
        false => {}
    }
    header.extend(match (rules, cuts) {
        (true, true) => &["positive if"][..],
        _ => &["score", "threshold"],
    });
    header.push("decides");
    let mut table = output::table(&header);
    for member in &found.members {
        let mut cells = vec![
            member.column.to_string(),
            member.view.to_string(),
            format!("{:.4}", member.weight),
        ];
        if rules {
            let each = member.probabilities.iter().map(|p| format!("{p:.4}"));
            match apart {
                true => cells.extend(each),
                false => cells.push(each.collect::<Vec<_>>().join(", ")),
            }
        }
        match member.cut.filter(|_| rules && cuts) {
            Some(cut) if cut <= 0.0 || cut >= 1.0 => {
                let always = (cut <= 0.0) != member.below;
                cells.push(if always { "always" } else { "never" }.to_owned());
            }
            Some(cut) => {
                cells.push(format!("{} {cut:.4}", if member.below { "below" } else { "above" }));
            }
            None => {
                cells.push(format!("{:+.4}", member.score));
                cells.push(format!("{:+.4}", member.threshold));
            }
        }
        cells.push(if member.positive { "positive" } else { "negative" }.to_owned());
        table.add_row(cells);
    }
    text += &format!("{table}\n");
    if rules && !apart {
        text += &format!("The probabilities are, in this order: {}.\n", names.join(", "));
    }
    for all in &found.contributions {
        text += &contributions(all, &names, row, found.background);
    }
    if found.contributions.is_empty() {
        text += "\nThis kind of model has no exact contributions of columns. The row:\n";
        for column in classifier.feature_columns() {
            let value = value(row, &column).unwrap_or_else(|| "(missing)".to_owned());
            text += &format!("  {}: {}\n", shown(&column), printable(&value));
        }
    }
    text
}
