//! `fairgame explain`: why one row is decided as it is.

use std::path::PathBuf;

use clap::Args;
use comfy_table::CellAlignment;
use fairgame::classifier::{
    Classifier, Contributions, Deciding, Draw, Explanation, draws, other_rows,
};
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
  fairgame explain model.safetensors new.csv --row 1 --id customer --background people.csv

If `predict` was run with --id, give the same --id here: the decision is then the same.

Each model of the mixture is shown with its weight, its score and the threshold that decides. In the plug-in game, a model is
a rule over probabilities. If all groups are features, the rule is a threshold on the probability of the label, one for each
group.

Contributions are exact Shapley values, for trees and linear models: by how much each column moves the row away from the mean of
up to 100 other rows, of the same file or of --background. They add up. Networks and lattices have none; `fairgame show` has the importance of their columns.";

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

    /// The column that says who a row is: it decides the draw in place of the features, as in `predict`
    #[arg(long, value_name = "COLUMN")]
    id: Option<String>,

    /// The column with the scores, for a model trained with --score [default: as in training]
    #[arg(long, value_name = "COLUMN")]
    score: Option<String>,

    /// A file with the rows that the row is compared with [default: other rows of DATA]
    #[arg(long, value_name = "FILE")]
    background: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Explain) -> Result<Verdict> {
    let mut classifier = Classifier::load(&arguments.model)?;
    output::check_decides_alone(&classifier, arguments.score.as_deref())?;
    if let Some(score) = &arguments.score {
        classifier.take_scores_from(score).map_err(|error| error.at("--score"))?;
    }
    let (row, others) = rows(arguments, &classifier)?;
    let key = arguments.id.as_deref().map(|id| key(arguments.row, &row, id)).transpose()?;
    let key = key.as_ref().map(std::slice::from_ref);
    let found = classifier.explain(&row, &others, key.map_or(Draw::Features, Draw::Keys))?;
    match arguments.json {
        true => output::print_json(&document(arguments, &row, &found, &classifier))?,
        false => output::print(&text(arguments, &row, &found, &classifier))?,
    }
    Ok(Verdict::Met)
}

/// What the row draws by.
fn key(number: u64, row: &Table, id: &str) -> Result<u64> {
    let values = &row.column(id).map_err(|error| error.at("--id"))?.values;
    draws(values).first().copied().flatten().ok_or_else(|| {
        Error::new(ErrorKind::Value, format!("row {number} has no identifier"))
            .help("fill it in, or let the features decide the draw (no --id)")
            .at(format!("column `{id}`"))
    })
}

/// The row, and others to compare it with, of which it is none.
fn rows(arguments: &Explain, classifier: &Classifier) -> Result<(Table, Table)> {
    let kept: Vec<&str> = arguments.id.as_deref().into_iter().collect();
    let mut others = None;
    if let Some(file) = &arguments.background {
        let data = std::slice::from_ref(file);
        let chunks = arguments.read.chunks_of(data, classifier, &[], FIRST);
        for table in chunks.map_err(|error| classifier.about_features(error))? {
            let table = table.map_err(|error| classifier.about_features(error))?;
            others = other_rows(&table, None);
            if others.is_some() {
                break;
            }
        }
        if others.is_none() {
            return Err(Error::new(ErrorKind::Value, "there are no rows").at("--background"));
        }
    }
    let chunks = arguments.read.chunks_for(classifier, &kept, FIRST);
    let chunks = chunks.map_err(|error| classifier.about_features(error))?;
    let (mut before, mut row) = (0, None);
    for table in chunks {
        let table = table.map_err(|error| classifier.about_features(error))?;
        let rows = table.rows() as u64;
        let own = (before < arguments.row && arguments.row <= before + rows)
            .then(|| (arguments.row - before - 1) as usize);
        if let Some(own) = own {
            row = Some(table.take(&[own]));
        }
        others = others.or_else(|| other_rows(&table, own));
        before += rows;
        if let (Some(row), Some(others)) = (&row, &others) {
            return Ok((row.clone(), others.clone()));
        }
    }
    Err(match row {
        Some(_) => {
            Error::new(ErrorKind::Value, "the data have one row, and it is compared with others")
                .help("give a file with rows to compare it with: --background FILE")
        }
        None => Error::new(ErrorKind::Value, format!("there is no row {}", arguments.row))
            .help(format!("the data have {}", output::count(before as usize, "row")))
            .at("--row"),
    })
}

/// A value of the row, as text; `None` where it is missing.
fn value(row: &Table, column: &str) -> Option<String> {
    match &row.columns().iter().find(|one| one.name == column)?.values {
        Values::Number(numbers) => numbers.first().filter(|x| !x.is_nan()).map(ToString::to_string),
        Values::Category(category) => category.texts().next().flatten().map(str::to_owned),
        Values::Boolean(truths) => truths.first().copied().flatten().map(|one| one.to_string()),
    }
}

fn document(
    arguments: &Explain,
    row: &Table,
    found: &Explanation,
    classifier: &Classifier,
) -> Value {
    let one = |column: String| {
        let value = value(row, &column);
        json!({ "column": column, "value": value })
    };
    let mut document = json!({
        "version": output::VERSION,
        "row": arguments.row,
        "id": arguments.id.as_deref().and_then(|id| value(row, id)),
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

/// How many folds there are.
fn folds(found: &Explanation) -> usize {
    found.members.iter().map(|member| member.view).max().map_or(0, |last| last + 1)
}

fn contributions(
    all: &Contributions,
    names: &[String],
    row: &Table,
    found: &Explanation,
) -> String {
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
        Some(name) => {
            let folds = if folds(found) > 1 { ", on average over the folds," } else { "" };
            format!("log-odds of {name}{folds} are")
        }
        None => format!("{} is", all.of),
    };
    format!(
        "\nThe {of} {:+.4} for this row, and {:+.4} on average over {}. Each column adds:\n{table}\n",
        all.value,
        all.base,
        output::count(found.background, "other row"),
    )
}

/// How the decision comes about.
fn how(arguments: &Explain, found: &Explanation) -> String {
    let columns = found.members.iter().map(|member| member.column).max().map_or(0, |last| last + 1);
    let mean = found.blend == Deciding::Mean && folds(found) > 1;
    match found.probability {
        p if p <= 0.0 || p >= 1.0 => match (mean, columns) {
            (true, 0 | 1) => "the mean of the folds decides".to_owned(),
            (true, _) => "the mean of the folds decides, and all columns agree".to_owned(),
            (false, _) => "all models agree".to_owned(),
        },
        p => {
            let by = match &arguments.id {
                Some(id) => format!("by a draw by `{}`", shown(id)),
                None => "by a draw by the row's features (--id draws by an identifier)".to_owned(),
            };
            let of = if mean { "; of each column, the mean of the folds decides" } else { "" };
            format!("{by}: the probability of a positive decision is {p:.4}{of}")
        }
    }
}

fn text(arguments: &Explain, row: &Table, found: &Explanation, classifier: &Classifier) -> String {
    let decided = if found.positive { "positive" } else { "negative" };
    let mut text = format!(
        "Row {} is decided {decided}; {}. The mean score is {:+.4}.\n\n",
        arguments.row,
        how(arguments, found),
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
        text += &contributions(all, &names, row, found);
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
