//! `fairgame reproduce`: the paper's experiments again, its numbers and ours side by side.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use comfy_table::CellAlignment;
use fairgame::Result;
use fairgame_paper::{Experiment, Plan, Results};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use crate::output;
use crate::verdict::Verdict;

pub(crate) const EXAMPLES: &str = "\
Examples:
  fairgame reproduce --runs 5
  fairgame reproduce adult compas --runs 100 --out paper
  fairgame reproduce all --runs 100 --out paper      # finishes what was interrupted

Finished runs are kept in the folder and not run again. The paper has 100 runs of its four datasets, and 10
of the simulated data: of these, a tenth of --runs is run.";

#[derive(Args)]
pub(crate) struct Reproduce {
    /// simulated, communities, entities, adult, compas, or all [default: all]
    #[arg(value_name = "EXPERIMENT")]
    experiments: Vec<String>,

    /// How many runs, each with a split of its own
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,

    /// Where pages, figures and finished runs are written
    #[arg(long, value_name = "DIR", default_value = "fairgame-paper")]
    out: PathBuf,

    /// The seed of the first run; those of the others follow
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Play at most so many turns a training: a quick look, whose numbers are not the paper's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    turns: Option<u64>,

    /// How many threads to use [default: all]; the numbers do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    threads: Option<u64>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Say nothing but the result
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn run(arguments: &Reproduce) -> Result<Verdict> {
    let threads = arguments.threads.map_or_else(output::threads, |threads| threads as usize);
    let plan = Plan {
        experiments: Experiment::find(&arguments.experiments)?,
        runs: arguments.runs,
        seed: arguments.seed,
        turns: arguments.turns,
        folder: arguments.out.clone(),
        threads,
    };
    let start = Instant::now();
    let bar = bar(arguments.quiet || arguments.json);
    let mut found = 0.0;
    let done = plan.carry_out(|progress| {
        found = progress.found;
        let spent = start.elapsed().as_secs_f64();
        let here = progress.done - progress.found;
        let left = (here > 0.0).then(|| spent * (1.0 - progress.done) / here);
        bar.set_position((1000.0 * progress.done) as u64);
        bar.set_message(format!(
            "{} of {} runs, {}{}",
            progress.runs,
            progress.of,
            progress.experiment.name(),
            left.map_or(String::new(), |left| format!(", {} left", human(left))),
        ));
    });
    bar.finish_and_clear();
    let done = done?;
    let seconds = start.elapsed().as_secs_f64();
    let results = Results::of(&plan, &done.runs)?;
    let time = match found > 0.0 {
        true => "Some runs were found done.".to_owned(),
        false => format!("It took {} on {}.", human(seconds), output::count(threads, "thread")),
    };
    let cores = format!("All runs together took {} of one core.", human(done.seconds));
    results.write(&plan.folder, &[arguments.command(&plan), format!("{time} {cores}")])?;
    print(arguments, &results, seconds)?;
    Ok(Verdict::Met)
}

impl Reproduce {
    /// The command that makes these results.
    fn command(&self, plan: &Plan) -> String {
        let names: Vec<&str> = match plan.experiments.len() {
            5 => vec!["all"],
            _ => plan.experiments.iter().map(|one| one.name()).collect(),
        };
        let turns = self.turns.map_or(String::new(), |turns| format!(" --turns {turns}"));
        format!(
            "Made by: fairgame reproduce {} --runs {} --seed {}{turns}, version {}.",
            names.join(" "),
            self.runs,
            self.seed,
            env!("CARGO_PKG_VERSION")
        )
    }
}

fn bar(quiet: bool) -> ProgressBar {
    let bar = match quiet {
        true => ProgressBar::hidden(),
        false => ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr()),
    };
    if let Ok(style) = ProgressStyle::with_template("{bar:24} {percent} %, {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_secs(1));
    bar
}

/// A time: `12 s`, `3 min 20 s`.
fn human(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    match seconds / 60 {
        0 => format!("{seconds} s"),
        minutes => format!("{minutes} min {} s", seconds % 60),
    }
}

fn print(arguments: &Reproduce, results: &Results, seconds: f64) -> Result<()> {
    if arguments.json {
        let mut document =
            json!({ "version": output::VERSION, "seconds": seconds, "out": arguments.out });
        if let (Some(into), Ok(value)) = (document.as_object_mut(), serde_json::to_value(results)) {
            into.insert("results".to_owned(), value);
        }
        return output::print_json(&document);
    }
    let mut text = String::new();
    for one in &results.tables {
        let mut table = output::table(&[
            one.experiment.title(),
            "train error",
            "paper",
            "violation",
            "paper",
            "test error",
            "paper",
            "violation",
            "paper",
        ]);
        for row in &one.rows {
            let cells = row.cells.list().into_iter().flat_map(|cell| {
                let mark = match one.experiment {
                    Experiment::Entities => "",
                    _ => cell.nearness.mark(),
                };
                [format!("{}{mark:1}", cell.ours), format!("{:.3}", cell.paper)]
            });
            table.add_row(std::iter::once(row.way.title().to_owned()).chain(cells));
        }
        for column in 1..9 {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        text += &format!("{table}\n\n");
    }
    if !results.tables.is_empty() {
        text += "≈ is off the paper's by more than .006, ≠ by more than .012; entity resolution is a stand-in.\n\n";
    }
    if !results.claims.is_empty() {
        let mut table = output::table(&["claim", "difference", "holds"]);
        for claim in &results.claims {
            table.add_row([
                claim.text.clone(),
                claim.difference.to_string(),
                claim.verdict().to_owned(),
            ]);
        }
        text += &format!("{table}\n\n");
    }
    text += &format!(
        "In {}. The page is {}.\n",
        human(seconds),
        arguments.out.join("index.html").display()
    );
    output::print(&text)
}
