//! `fairgame reproduce communities-grid`: Communities and Crime under other readings of its constraints.

use std::path::PathBuf;

use clap::Args;
use comfy_table::CellAlignment;
use fairgame::Result;
use fairgame_paper::GridPlan;
use serde_json::json;

use super::{Began, Watch, made};
use crate::output;
use crate::verdict::Verdict;

pub(crate) const EXAMPLES: &str = "\
Examples:
  fairgame reproduce communities-grid --splits 2 --halvings 3
  fairgame reproduce communities-grid --out paper    # finishes what was interrupted

Finished runs are kept in the folder and not run again. All of it takes many hours of one core.";

#[derive(Args)]
pub(crate) struct Grid {
    /// How many fixed splits into training and test rows
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    splits: u64,

    /// How many times the training rows of each split are halved
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    halvings: u64,

    /// Where the page and finished runs are written
    #[arg(long, short, value_name = "DIR", default_value = "fairgame-paper")]
    out: PathBuf,

    /// Seed of the first split; the others follow
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Where the matrix of Algorithm 3 starts
    #[arg(long, value_enum, default_value_t)]
    start: Began,

    /// Play at most so many turns a training: for a quick look
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    turns: Option<u64>,

    /// How many threads to use [default: all]; the numbers do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    threads: Option<u64>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Print nothing but the result
    #[arg(long, short)]
    quiet: bool,
}

pub(super) fn run(arguments: &Grid) -> Result<Verdict> {
    let plan = GridPlan {
        splits: arguments.splits,
        halvings: arguments.halvings,
        seed: arguments.seed,
        turns: arguments.turns,
        start: arguments.start.into(),
        folder: arguments.out.clone(),
        threads: arguments.threads.map_or_else(output::threads, |threads| threads as usize),
    };
    let mut watch = Watch::new(&arguments.out, arguments.quiet || arguments.json);
    let found = plan.carry_out(|progress| watch.tell(progress))?;
    let facts = [arguments.command(), watch.time(plan.threads, found.seconds)];
    found.write(&plan.folder, &facts)?;
    if arguments.json {
        output::print_json(&json!({
            "version": output::VERSION, "seconds": watch.seconds(), "out": arguments.out, "results": found,
        }))?;
        return Ok(Verdict::Met);
    }
    let header = ["groups cut at", "slack", "unconstrained, off by", "test violations, off by"];
    let mut table = output::table(&header);
    for one in &found.readings {
        table.add_row([
            one.cut.title().to_owned(),
            one.slack.to_string(),
            format!("{:.3}", one.unconstrained_apart),
            format!("{:.3}", one.test_apart),
        ]);
    }
    for column in 1..header.len() {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let page = plan.folder.join("communities-grid.html");
    let time = output::time(watch.seconds());
    output::print(&format!("{table}\n\nIn {time}. The page is {}.\n", page.display()))?;
    Ok(Verdict::Met)
}

impl Grid {
    /// The command that makes these results.
    fn command(&self) -> String {
        let turns = self.turns.map_or(String::new(), |turns| format!(" --turns {turns}"));
        let start = self.start.flag();
        let Grid { splits, halvings, seed, .. } = self;
        made(&format!(
            "communities-grid --splits {splits} --halvings {halvings} --seed {seed}{start}{turns}"
        ))
    }
}
