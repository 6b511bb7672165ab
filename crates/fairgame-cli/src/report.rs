//! `fairgame report`: what a model file remembers, as a page.

use std::path::{Path, PathBuf};

use clap::Args;
use fairgame::classifier::Classifier;
use fairgame::evaluate::{ConstraintResult, Evaluation, Measurement, RateResult, Verdict as Found};
use fairgame::train::{HAIR, Record, RecordedModel, RecordedPart};
use fairgame::{Error, ErrorKind, Result, table};
use fairgame_report as page;
use serde_json::json;

use crate::output;
use crate::verdict::Verdict;

pub(crate) const EXAMPLES: &str = "\
Examples:
  fairgame report adult.safetensors -o report.html
  fairgame report one.safetensors two.safetensors -o compared.html

The page needs no network and holds no rows of the data. All of it is from the model file, in which
`fairgame train` keeps how the model was trained and how it did.";

#[derive(Args)]
pub(crate) struct Report {
    /// Model files
    #[arg(required = true, value_name = "MODEL")]
    models: Vec<PathBuf>,

    /// Where the page is written
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Say nothing but the result
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn run(arguments: &Report) -> Result<Verdict> {
    let mut models = Vec::new();
    for path in &arguments.models {
        let classifier = Classifier::load(path)?;
        let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy();
        models.push((name.into_owned(), classifier));
    }
    let inputs = arguments.models.iter().map(PathBuf::as_path);
    output::check_distinct(inputs, [arguments.output.as_path()])?;
    write(&models, &arguments.output)?;
    if arguments.json {
        output::print_json(&json!({
            "version": output::VERSION, "models": arguments.models, "output": arguments.output,
        }))?;
    } else if !arguments.quiet {
        output::notice(format!("the report is in {}", arguments.output.display()));
    }
    Ok(Verdict::Met)
}

/// Writes a page about these models.
pub(crate) fn write(models: &[(String, Classifier)], path: &Path) -> Result<()> {
    let mut report = page::Report { title: "fairgame report".to_owned(), ..Default::default() };
    for (name, classifier) in models {
        let record = classifier.record()?.ok_or_else(|| {
            Error::new(ErrorKind::Format, format!("model `{name}` remembers no training"))
                .help("make it with `fairgame train`, which keeps a record in the file")
        })?;
        let warnings = record.warnings.iter().map(|text| match models.len() {
            1 => text.clone(),
            _ => format!("{name}: {text}"),
        });
        report.warnings.extend(warnings);
        report.models.push(model(name, classifier, &record));
    }
    table::write_text(path, &report.to_html())
}

fn model(name: &str, classifier: &Classifier, record: &Record) -> page::Model {
    let last = record.parts.last();
    let provenance = classifier.provenance();
    let seed = provenance.settings.get("seed").and_then(serde_json::Value::as_u64);
    let hash = |part: &str| match part {
        "train" => Some(provenance.train.sha256.clone()),
        "val" => provenance.val.as_ref().map(|rows| rows.sha256.clone()),
        _ => None,
    };
    page::Model {
        name: name.to_owned(),
        verdict: last.map_or(page::Verdict::Undecided, carried_over),
        words: last.map_or(String::new(), words),
        confidence: last.filter(|last| last.part == "test").map(|last| last.evaluation.confidence),
        samples: record
            .parts
            .iter()
            .map(|part| page::Sample {
                role: role(&part.part),
                name: part.source.clone(),
                rows: part.evaluation.rows as u64,
                hash: hash(&part.part),
            })
            .collect(),
        objective: last.map(|part| page::Objective {
            text: part.evaluation.objective.name.clone(),
            on: on(record, |found| Some(measured(&found.objective.measurement, None))),
        }),
        constraints: constraints(record),
        groups: groups(record),
        iterates: Some(iterates(classifier, record)),
        multipliers: Some(multipliers(classifier, record)),
        settings: provenance.settings.clone(),
        provenance: page::Provenance {
            version: Some(provenance.version.clone()),
            seed,
            facts: vec![("turns played".to_owned(), record.turns.to_string())],
        },
    }
}

fn role(part: &str) -> page::Role {
    match part {
        "val" => page::Role::Val,
        "test" => page::Role::Test,
        _ => page::Role::Train,
    }
}

fn verdict(found: Found) -> page::Verdict {
    match found {
        Found::Met => page::Verdict::Met,
        Found::Violated => page::Verdict::Violated,
        Found::Undecided => page::Verdict::Undecided,
    }
}

/// What the last part says of new rows. Those that a classifier was chosen on say nothing good of it.
fn carried_over(last: &RecordedPart) -> page::Verdict {
    match (last.part.as_str(), last.evaluation.verdict) {
        ("test", found) => verdict(found),
        (_, Found::Violated) => page::Verdict::Violated,
        _ => page::Verdict::Undecided,
    }
}

fn words(part: &RecordedPart) -> String {
    let RecordedPart { part, evaluation, .. } = part;
    let rows = output::count(evaluation.rows, "row");
    let sure = output::short(100.0 * evaluation.confidence);
    let on = match part.as_str() {
        "test" => "rows that the training never saw",
        "val" => "the rows that the constraints were enforced on",
        _ => "the rows that it learnt from",
    };
    if part != "test" {
        let value = |one: &ConstraintResult| one.measurement.estimate().map(|found| found.value);
        let met = evaluation.constraints.iter().all(|one| value(one).is_some_and(|x| x <= HAIR));
        let all = if met { "all" } else { "not all" };
        return format!(
            "On {rows}, {on}, {all} constraints are met. There were no test rows: what is met on rows that a \
             classifier was made from may not be on new ones, and the intervals here are too hopeful."
        );
    }
    let what = match evaluation.verdict {
        Found::Met => "all constraints are met",
        Found::Violated => "a constraint is violated",
        Found::Undecided => "not every constraint can be decided",
    };
    format!("On {rows}, {on}, {what} at a confidence of {sure} %.")
}

/// What each part has of something.
fn on<T>(record: &Record, pick: impl Fn(&Evaluation) -> Option<T>) -> page::On<T> {
    on_parts(record, |_, found| pick(found))
}

/// The same, for what depends on which part it is.
fn on_parts<T>(record: &Record, pick: impl Fn(&str, &Evaluation) -> Option<T>) -> page::On<T> {
    let mut all = page::On::default();
    for part in &record.parts {
        let value = pick(&part.part, &part.evaluation);
        match part.part.as_str() {
            "train" => all.train = value,
            "val" => all.val = value,
            _ => all.test = value,
        }
    }
    all
}

/// The verdict is only given on test rows; on others, the value says whether the loss is met there.
fn measured(measurement: &Measurement, found: Option<Found>) -> page::Measured {
    let estimate = measurement.estimate();
    page::Measured {
        value: estimate.map_or(f64::NAN, |estimate| estimate.value),
        interval: estimate.map(|estimate| page::Interval {
            low: estimate.interval.low,
            high: estimate.interval.high,
        }),
        verdict: found.map(verdict),
    }
}

/// The rates of a constraint, by its place.
fn rates(found: &Evaluation, place: usize) -> &[RateResult] {
    found.constraints.get(place).map_or(&[], |one| &one.rates)
}

fn constraints(record: &Record) -> Vec<page::Constraint> {
    let Some(last) = record.parts.last() else { return Vec::new() };
    let constraint = |(place, one): (usize, &ConstraintResult)| page::Constraint {
        text: one.name.clone(),
        on: on_parts(record, |part, found| {
            let one = found.constraints.get(place)?;
            Some(measured(&one.measurement, (part == "test").then_some(one.verdict)))
        }),
        rates: one
            .rates
            .iter()
            .enumerate()
            .map(|(at, rate)| page::Rate {
                text: rate.text.clone(),
                on: on(record, |found| {
                    rates(found, place).get(at).map(|rate| {
                        let page::Measured { value, interval, .. } =
                            measured(&rate.measurement, None);
                        page::Estimate { value, interval, rows: Some(rate.rows as u64) }
                    })
                }),
            })
            .collect(),
    };
    last.evaluation.constraints.iter().enumerate().map(constraint).collect()
}

/// The rows that each rate is measured on, each rate once.
fn groups(record: &Record) -> page::Groups {
    let mut groups = page::Groups::default();
    let Some(last) = record.parts.last() else { return groups };
    for (place, one) in last.evaluation.constraints.iter().enumerate() {
        for (at, rate) in one.rates.iter().enumerate() {
            if groups.all.iter().all(|group| group.text != rate.text) {
                groups.all.push(page::Group {
                    text: rate.text.clone(),
                    rows: on(record, |found| {
                        rates(found, place).get(at).map(|rate| rate.rows as u64)
                    }),
                });
            }
        }
    }
    groups
}

fn iterates(classifier: &Classifier, record: &Record) -> page::Iterates {
    let worst = |model: &RecordedModel| model.worst.unwrap_or(f64::NAN);
    let two = record.parts.iter().any(|part| part.part == "val");
    let members = classifier.members().iter().zip(&record.members);
    page::Iterates {
        error_on: page::Role::Train,
        violation_on: if two { page::Role::Val } else { page::Role::Train },
        all: record
            .moments
            .iter()
            .map(|moment| page::Iterate {
                turn: moment.turn,
                error: moment.model.objective,
                violation: worst(&moment.model),
            })
            .collect(),
        members: members
            .map(|(member, model)| page::Member {
                turn: member.turn,
                weight: member.weight,
                error: model.objective,
                violation: worst(model),
            })
            .collect(),
        mixture: Some(page::Point {
            error: record.mixture.objective,
            violation: worst(&record.mixture),
        }),
    }
}

fn multipliers(classifier: &Classifier, record: &Record) -> page::Multipliers {
    let value = |place: usize| {
        let of = |moment: &fairgame::train::RecordedMoment| moment.lambda.get(place).copied();
        record.moments.iter().map(|moment| of(moment).unwrap_or(f64::NAN)).collect::<Vec<f64>>()
    };
    let names = classifier.bound().constraints().iter().enumerate();
    page::Multipliers {
        turns: record.moments.iter().map(|moment| moment.turn).collect(),
        objective: Some(value(0)),
        constraints: names
            .map(|(place, one)| page::Line {
                text: one.name().to_owned(),
                values: value(place + 1),
            })
            .collect(),
    }
}
