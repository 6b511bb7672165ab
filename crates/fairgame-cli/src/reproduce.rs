//! `fairgame reproduce`: the paper's experiments, run again, and its numbers beside ours.

mod grid;
mod promise;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand, ValueEnum};
use comfy_table::CellAlignment;
use fairgame::player::Start;
use fairgame::{Error, ErrorKind, Result};
use fairgame_paper::{BeyondPlan, Experiment, Grounds, Mean, Plan, Progress, Results};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use crate::verdict::Verdict;
use crate::{output, progress};

pub(crate) const EXAMPLES: &str = "\
Examples:
  fairgame reproduce --runs 5
  fairgame reproduce adult compas --runs 100 --out paper
  fairgame reproduce all --runs 100 --out paper      # finishes what was interrupted
  fairgame reproduce beyond --runs 50 --seed 7001 --out paper
  fairgame reproduce communities-grid --out paper
  fairgame reproduce promise --out promise

Finished runs are kept in the folder and not run again. Simulated data get a tenth of --runs, as in the paper,
which has 100 runs of its four datasets and 10 of the simulated data.";

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Reproduce {
    #[command(subcommand)]
    test: Option<Test>,

    /// simulated, communities, entities, adult, compas, or all [default: all]; or beyond: the recommended recipe
    /// beside the paper's
    #[arg(value_name = "EXPERIMENT")]
    experiments: Vec<String>,

    /// How many runs, each with a split of its own
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,

    /// Where pages, figures and finished runs are written
    #[arg(long, short, value_name = "DIR", default_value = "fairgame-paper")]
    out: PathBuf,

    /// The seed of the first run; those of the others follow
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Where the matrix of Algorithm 3 starts, in every experiment
    #[arg(long, value_enum, default_value_t)]
    start: Began,

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

/// What is tested that the paper does not have.
#[derive(Subcommand)]
enum Test {
    /// How often do constraints that training promised fail in the population?
    #[command(after_help = promise::EXAMPLES)]
    Promise(promise::Promise),
    /// Which constraints did the paper use on Communities and Crime? Trains with several readings
    #[command(name = "communities-grid", after_help = grid::EXAMPLES)]
    Grid(grid::Grid),
}

/// Where the matrix of Algorithm 3 starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Began {
    /// All weight but the floor is the objective's, as in the library of the paper's authors
    #[default]
    Objective,
    /// Every entry is the same, as in the paper's pseudocode
    Uniform,
}

impl From<Began> for Start {
    fn from(began: Began) -> Self {
        match began {
            Began::Objective => Start::Objective,
            Began::Uniform => Start::Uniform,
        }
    }
}

impl Began {
    /// As it is typed, where it is not the default.
    fn flag(self) -> &'static str {
        match self {
            Began::Objective => "",
            Began::Uniform => " --start uniform",
        }
    }
}

pub(crate) fn run(arguments: &Reproduce) -> Result<Verdict> {
    match &arguments.test {
        Some(Test::Promise(arguments)) => return promise::run(arguments),
        Some(Test::Grid(arguments)) => return grid::run(arguments),
        None => {}
    }
    if arguments.experiments.iter().any(|name| name == "beyond") {
        return beyond(arguments);
    }
    let plan = Plan {
        experiments: Experiment::find(&arguments.experiments)?,
        runs: arguments.runs,
        seed: arguments.seed,
        turns: arguments.turns,
        start: arguments.start.into(),
        folder: arguments.out.clone(),
        threads: arguments.threads(),
    };
    let names: Vec<&str> = match plan.experiments.len() {
        5 => vec!["all"],
        _ => plan.experiments.iter().map(|one| one.name()).collect(),
    };
    let mut watch = Watch::new(&arguments.out, arguments.quiet || arguments.json);
    let done = plan.carry_out(|progress| watch.tell(progress))?;
    let results = Results::of(&plan, &done.runs)?;
    let facts = [arguments.command(&names.join(" ")), watch.time(plan.threads, done.seconds)];
    results.write(&plan.folder, &facts)?;
    print(arguments, &results, watch.seconds())?;
    Ok(Verdict::Met)
}

/// The recommended recipe beside the paper's.
fn beyond(arguments: &Reproduce) -> Result<Verdict> {
    if arguments.experiments.len() > 1 {
        return Err(Error::new(
            ErrorKind::Settings,
            "`beyond` is run alone: it has all experiments",
        )
        .help("fairgame reproduce beyond"));
    }
    if arguments.start != Began::default() {
        let message = "`beyond` has no --start: each recipe has its own";
        return Err(Error::new(ErrorKind::Settings, message).help("leave it out"));
    }
    let plan = BeyondPlan {
        runs: arguments.runs,
        seed: arguments.seed,
        turns: arguments.turns,
        folder: arguments.out.clone(),
        threads: arguments.threads(),
    };
    let mut watch = Watch::new(&arguments.out, arguments.quiet || arguments.json);
    let found = plan.carry_out(|progress| watch.tell(progress))?;
    let facts = [arguments.command("beyond"), watch.time(plan.threads, found.seconds)];
    found.write(&plan.folder, &facts)?;
    if arguments.json {
        output::print_json(&json!({
            "version": output::VERSION, "seconds": watch.seconds(), "out": arguments.out, "results": found,
        }))?;
        return Ok(Verdict::Met);
    }
    let mut text = String::new();
    for Grounds { ground, lines } in &found.grounds {
        let mut table = output::table(&[
            ground.title(),
            "test error",
            "worst on test rows",
            "runs with a violation",
            "constraints violated",
        ]);
        for line in lines {
            table.add_row([
                line.way.clone(),
                line.error.to_string(),
                line.worst.to_string(),
                output::percent(line.runs_violated),
                output::percent(line.violated),
            ]);
        }
        for column in 1..5 {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        text += &format!("{table}\n\n");
    }
    let page = plan.folder.join("beyond.html");
    text += &format!("In {}. The page is {}.\n", output::time(watch.seconds()), page.display());
    output::print(&text)?;
    Ok(Verdict::Met)
}

/// A bar on standard error, if that is a terminal, and a clock.
struct Watch {
    bar: ProgressBar,
    start: Instant,
    /// The share of the work that was found done.
    found: f64,
}

impl Watch {
    /// Finished runs are kept in `out`; the bar may be hidden.
    fn new(out: &Path, hidden: bool) -> Self {
        progress::part_with(format!(
            "stopped; finished runs are kept in {}: the same command goes on",
            out.display()
        ));
        let bar = bar(hidden);
        Watch { bar, start: Instant::now(), found: 0.0 }
    }

    fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    fn tell(&mut self, progress: Progress) {
        self.found = progress.found;
        let here = progress.done - progress.found;
        let left = (here > 0.0).then(|| self.seconds() * (1.0 - progress.done) / here);
        self.bar.set_position((1000.0 * progress.done) as u64);
        self.bar.set_message(format!(
            "{} of {} runs, {}{}",
            progress.runs,
            progress.of,
            progress.now,
            left.map_or(String::new(), |left| format!(", {} left", output::time(left))),
        ));
    }

    /// How long it took, for the page.
    fn time(&self, threads: usize, of_one_core: f64) -> String {
        let time = match self.found > 0.0 {
            true => "Some runs were reused from an interrupted command.".to_owned(),
            false => {
                format!(
                    "It took {} on {}.",
                    output::time(self.seconds()),
                    output::count(threads, "thread")
                )
            }
        };
        format!("{time} All runs together took {} of one core.", output::time(of_one_core))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Reproduce {
    fn threads(&self) -> usize {
        self.threads.map_or_else(output::threads, |threads| threads as usize)
    }

    /// The command that makes these results.
    fn command(&self, names: &str) -> String {
        let turns = self.turns.map_or(String::new(), |turns| format!(" --turns {turns}"));
        let start = self.start.flag();
        made(&format!("{names} --runs {} --seed {}{start}{turns}", self.runs, self.seed))
    }
}

/// What made a page: the command, the version, the day and the time.
fn made(command: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!("Made by: fairgame reproduce {command}, version {version}, on {}.", now())
}

/// Now, in UTC: `2026-11-18, 21:05 UTC`.
fn now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let minutes = seconds / 60 % 1_440;
    format!("{}, {:02}:{:02} UTC", day(seconds / 86_400), minutes / 60, minutes % 60)
}

/// The date of a day, counted from 1 January 1970, by the Gregorian calendar.
fn day(since_1970: u64) -> String {
    // Years begin in March, so that a leap day is the last of its year; 719,468 days are from 1 March of year 0.
    let days = since_1970 + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{date:02}", era * 400 + year + next)
}

fn bar(hidden: bool) -> ProgressBar {
    let bar = match hidden {
        true => ProgressBar::hidden(),
        false => ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr()),
    };
    if let Ok(style) = ProgressStyle::with_template("{bar:24} {percent} %, {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_secs(1));
    bar
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
        text += &format!("{}\n\n", beside_paper(one));
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
        output::time(seconds),
        arguments.out.join("index.html").display()
    );
    output::print(&text)
}

/// An experiment's numbers, each with the paper's to its right.
fn beside_paper(one: &fairgame_paper::Table) -> comfy_table::Table {
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
            [format!("{}{mark:1}", cell.ours), Mean { mean: cell.paper, error: None }.to_string()]
        });
        table.add_row(std::iter::once(row.way.title().to_owned()).chain(cells));
    }
    for column in 1..9 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::day;

    #[test]
    fn days_have_dates() {
        for (days, date) in [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (20_775, "2026-11-18"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(day(days), date);
        }
    }
}
