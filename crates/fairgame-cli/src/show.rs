//! `fairgame show`: what a model file holds.

use std::borrow::Cow;
use std::path::PathBuf;

use clap::Args;
use comfy_table::CellAlignment;
use fairgame::classifier::Classifier;
use fairgame::train::{Finding, Importance, Record};
use fairgame::{Result, printable, shown};
use serde_json::{Value, json};

use crate::output;
use crate::verdict::Verdict;

pub(crate) const EXAMPLES: &str = "\
Examples:
  fairgame show model.safetensors
  fairgame show model.safetensors --json

The features are the columns that `predict` needs. `gain` is the column's share of the total gain of all splits, for trees. The
other numbers say what happens on held-out rows if the values of the column are shuffled: `objective` is the rise of the
objective, and `by` is the largest rise of the loss of a constraint; the last column names that constraint. --json has the rise
for every constraint.";

#[derive(Args)]
pub(crate) struct Show {
    /// The model file
    model: PathBuf,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Show) -> Result<Verdict> {
    let classifier = Classifier::load(&arguments.model)?;
    let record = classifier.record()?;
    match arguments.json {
        true => output::print_json(&document(&classifier, record.as_ref()))?,
        false => output::print(&text(&classifier, record.as_ref()))?,
    }
    Ok(Verdict::Met)
}

/// The columns that the model uses, each with its kind. Of a wrapped estimator, these are the estimator's, whose kinds are
/// not known.
pub(crate) fn features(classifier: &Classifier) -> Vec<Value> {
    if let Some(beside) = classifier.companion() {
        return beside.used().map(|name| json!({ "column": name, "kind": null })).collect();
    }
    let kinds = classifier.kinds();
    let feature = |name: String| {
        let kind = kinds.get(&name).map(ToString::to_string);
        json!({ "column": name, "kind": kind })
    };
    classifier.feature_columns().into_iter().map(feature).collect()
}

fn document(classifier: &Classifier, record: Option<&Record>) -> Value {
    let bound = classifier.bound();
    let provenance = classifier.provenance();
    let enforcement = record.map_or(&[][..], |record| &record.enforcement);
    let constraints = bound.constraints().iter().enumerate().map(|(at, one)| {
        let standing = enforcement.get(at).map(|one| one.standing);
        json!({ "name": one.name(), "standing": standing })
    });
    let members = classifier.members().iter().map(|member| {
        let (weight, turn, column) = (member.weight, member.turn, member.column);
        json!({ "weight": weight, "turn": turn, "column": column, "threshold": member.threshold })
    });
    json!({
        "version": output::VERSION,
        "made_by": provenance.version,
        "label": bound.frozen().label,
        "objective": bound.objective(),
        "constraints": constraints.collect::<Vec<_>>(),
        "features": features(classifier),
        "importance": record.map(|record| &record.importance),
        "findings": record.map(|record| &record.findings),
        "mixture": members.collect::<Vec<_>>(),
        "train_rows": provenance.train.rows,
        "val_rows": provenance.val.as_ref().map(|val| val.rows),
        "settings": provenance.settings,
        "warnings": record.map(|record| &record.warnings),
    })
}

fn text(classifier: &Classifier, record: Option<&Record>) -> String {
    let bound = classifier.bound();
    let provenance = classifier.provenance();
    let line = |name: &str, value: &str| format!("{name:<12} {}\n", printable(value));
    let mut text = line("label", &bound.frozen().label) + &line("objective", bound.objective());
    let enforcement = record.map_or(&[][..], |record| &record.enforcement);
    for (at, one) in bound.constraints().iter().enumerate() {
        let standing = enforcement.get(at).map(|one| format!(" ({})", one.standing));
        let name = if at == 0 { "constraints" } else { "" };
        text += &line(name, &format!("{}{}", one.name(), standing.unwrap_or_default()));
    }
    let setting = |name: &str| match &provenance.settings[name] {
        Value::String(text) => text.clone(),
        Value::Object(map) => map.keys().next().cloned().unwrap_or_default(),
        _ => "unknown".to_owned(),
    };
    let companion = classifier.companion();
    text += &match companion {
        None => {
            line("model", &format!("{}, trained by {}", setting("model"), setting("algorithm")))
        }
        Some(beside) => {
            let mut kinds = beside.estimators.clone();
            kinds.sort();
            kinds.dedup();
            let value =
                format!("{}, in the file {} beside this one", kinds.join(", "), beside.file);
            line("model", &format!("scores of {value}; rules by {}", setting("algorithm")))
        }
    };
    let members = output::count(classifier.members().len(), "member");
    text += &line(
        "mixture",
        &format!("{members} in {}", output::count(classifier.columns(), "column")),
    );
    let rows = output::count(provenance.train.rows, "training row");
    let val = provenance
        .val
        .as_ref()
        .map(|val| format!(", {}", output::count(val.rows, "validation row")));
    text += &line("rows", &format!("{rows}{}", val.unwrap_or_default()));
    text += &line("made by", &format!("fairgame {}", provenance.version));

    if let Some(beside) = companion {
        let used: Vec<Cow<'_, str>> = beside.used().map(shown).collect();
        text += &line("features", &used.join(", "));
        return text
            + "\nHow much each of these columns counts is known to Python only: importance_ of the loaded model.\n";
    }
    let kinds = classifier.kinds();
    let importance = record.map_or(&[][..], |record| &record.importance);
    let of = |name: &str| importance.iter().find(|one| one.column == *name);
    let trees = importance.iter().any(|one| one.gain.is_some());
    let mut header = vec!["feature", "kind"];
    header.extend(trees.then_some("gain"));
    header.extend(["objective", "by", "constraint that changes most"]);
    let enforced: Vec<&str> = bound.constraints().iter().map(|one| one.name()).collect();
    let mut table = output::table(&header);
    let mut names = classifier.feature_columns();
    // The most important first, where that is known.
    let place = |name: &String| importance.iter().position(|one| one.column == *name);
    names.sort_by_key(|name| place(name).unwrap_or(usize::MAX));
    for name in &names {
        let number = |number: Option<f64>| number.map_or("–".to_owned(), |x| format!("{x:.4}"));
        let mut row = vec![shown(name).into_owned()];
        row.push(kinds.get(name).map(ToString::to_string).unwrap_or_default());
        row.extend(trees.then(|| number(of(name).and_then(|one: &Importance| one.gain))));
        row.push(number(of(name).and_then(|one| one.objective)));
        let each = of(name).map_or(&[][..], |one| &one.constraints).iter().zip(&enforced);
        let most = each.max_by(|a, b| a.0.total_cmp(b.0));
        row.push(number(most.map(|(by, _)| *by)));
        row.push(most.map_or(String::new(), |(_, name)| printable(name).into_owned()));
        table.add_row(row);
    }
    for column in 2..header.len() - 1 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    text += &format!("\n{}:\n{table}\n", output::count(names.len(), "feature"));
    let findings = record.map_or(&[][..], |record| &record.findings);
    if !findings.is_empty() {
        text += "\nWhat the checks of the data found:\n";
        text += &findings.iter().map(|one: &Finding| format!("- {one}\n")).collect::<String>();
    }
    if let Some(record) = record.filter(|record| !record.warnings.is_empty()) {
        text += "\nWhat to know before trusting it:\n";
        text += &record.warnings.iter().map(|one| format!("- {one}\n")).collect::<String>();
    }
    text
}
