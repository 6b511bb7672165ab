//! `fairgame tradeoff`: what other bounds would cost.

use std::path::PathBuf;

use clap::Args;
use comfy_table::CellAlignment;
use fairgame::classifier::Classifier;
use fairgame::train::{SLACKS, TradeOff, TradeOffPoint, trade_off};
use fairgame::{Error, ErrorKind, Result, nearest, printable};
use serde_json::{Value, json};

use crate::output;
use crate::verdict::Verdict;

pub(crate) const EXAMPLES: &str = "\
Examples:
  fairgame tradeoff model.safetensors
  fairgame tradeoff model.safetensors --constraint 2 --slack -0.02,0,0.02,0.05
  fairgame tradeoff model.safetensors --constraint 'recall() >= 0.9' --json

A slack of 0.01 loosens a bound by 0.01: the constraint holds if its loss is at most 0.01. Margins stay as they were in the
training. Nothing is trained: the mixture is chosen again from the sums that the model file keeps. Far away from the bounds of
the training, a training of its own would find better models, so the objective shown there is a little too high.";

#[derive(Args)]
pub(crate) struct Tradeoff {
    /// The model file
    model: PathBuf,

    /// The constraint whose bound is moved, by its number from 1 or as `show` has it [default: all of them]
    #[arg(long, value_name = "N")]
    constraint: Option<String>,

    /// By how much bounds are loosened, several with commas between; below 0 they are tightened
    #[arg(long, value_name = "X", value_delimiter = ',', allow_hyphen_values = true)]
    slack: Vec<f64>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Tradeoff) -> Result<Verdict> {
    let classifier = Classifier::load(&arguments.model)?;
    let which = arguments.constraint.as_deref().map(|text| place(text, &classifier)).transpose()?;
    let slacks = if arguments.slack.is_empty() { &SLACKS[..] } else { &arguments.slack };
    let found = trade_off(&classifier, which, slacks)?;
    if arguments.json {
        let mut document = json!({ "version": output::VERSION });
        if let (Some(into), Value::Object(from)) = (document.as_object_mut(), json!(found)) {
            into.extend(from);
        }
        output::print_json(&document)?;
    } else {
        output::print(&text(&found))?;
    }
    Ok(Verdict::Met)
}

/// The place of a constraint, by its number or its name.
fn place(text: &str, classifier: &Classifier) -> Result<usize> {
    let names: Vec<&str> = classifier.bound().constraints().iter().map(|one| one.name()).collect();
    if let Some(at) = names.iter().position(|name| *name == text) {
        return Ok(at);
    }
    let number = text.parse::<usize>().ok().filter(|number| (1..=names.len()).contains(number));
    number.map(|number| number - 1).ok_or_else(|| {
        let error = Error::new(ErrorKind::Value, format!("there is no constraint `{text}`"));
        let error = match nearest(text, names.iter().copied()) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error
                .help(format!("give a number from 1 to {}, or one as `show` has it", names.len())),
        };
        error.at("--constraint")
    })
}

fn text(found: &TradeOff) -> String {
    let percent = output::short(100.0 * found.confidence);
    let new = format!("on new rows ({percent} %)");
    let header = ["slack", "where judged", "optimism", &new, "beside slack 0"];
    let mut table = output::table(&header);
    let own = found.points.iter().find(|point| point.slack == 0.0).and_then(|point| point.estimate);
    for point in &found.points {
        let TradeOffPoint { slack, objective, optimism, estimate, interval, .. } = point;
        let number = |number: &Option<f64>| number.map_or("–".to_owned(), |x| format!("{x:.4}"));
        let new = match (estimate, interval) {
            (Some(value), Some(at)) => format!("{value:.4} ({:.4} to {:.4})", at.low, at.high),
            (Some(value), None) => format!("{value:.4}"),
            (None, _) => "infeasible".to_owned(),
        };
        let beside = estimate.zip(own).map(|(value, own)| format!("{:+.4}", value - own));
        table.add_row([
            format!("{slack:+}"),
            number(objective),
            optimism.map_or("–".to_owned(), |x| format!("{x:+.4}")),
            new,
            beside.unwrap_or_default(),
        ]);
    }
    for column in 0..header.len() {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let what = match &found.constraint {
        Some(name) => format!("the bound of `{}` is", printable(name)),
        None => "the bounds of all constraints are".to_owned(),
    };
    format!(
        "What {} comes to if {what} moved by a slack; above 0 is looser:\n{table}\n",
        printable(&found.objective)
    )
}
