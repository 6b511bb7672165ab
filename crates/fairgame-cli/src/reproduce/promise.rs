//! `fairgame reproduce promise`: how often promised constraints fail in the population.

use std::path::PathBuf;

use clap::Args;
use comfy_table::CellAlignment;
use fairgame::classifier::{Margin, Selection};
use fairgame::train::Spec;
use fairgame::{Error, ErrorKind, Result};
use fairgame_paper::promise::{Learner, Problem, PromisePlan, Promises, percent};
use serde_json::json;

use super::{Watch, made};
use crate::output;
use crate::verdict::Verdict;

pub(crate) const EXAMPLES: &str = "\
Examples:
  fairgame reproduce promise --draws 20
  fairgame reproduce promise --problem credit --problem rare --draws 200
  fairgame reproduce promise --margin 1 --out one-error
  fairgame reproduce promise --problem credit --model linear --rows 1000000 --draws 40
  fairgame reproduce promise --out promise           # finishes what was interrupted

Problems: credit, neyman-pearson, adult, small-group, precision, overlap, weighted, known, corner, compas, rare,
categories, churn.

Finished draws are kept in the folder and not run again. The page and the JSON say which claims fall short; the
exit code is 0 all the same.";

#[derive(Args)]
pub(crate) struct Promise {
    /// How many draws of training rows, for each problem and model
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
    draws: u64,

    /// Run only this problem; may be given several times [default: all]
    #[arg(long = "problem", value_name = "NAME")]
    problems: Vec<String>,

    /// Run only this model (linear, mlp, trees, game); may be given several times [default: all]
    #[arg(long = "model", value_name = "NAME")]
    models: Vec<String>,

    /// Train on so many rows in each draw, of problems whose rows are generated [default: as each problem has them]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(100..))]
    rows: Option<u64>,

    /// Margin that trainings are asked for: a confidence (95%), standard errors (1), or none
    #[arg(long, default_value = "95%")]
    margin: String,

    /// Where the page and finished draws are written
    #[arg(long, short, value_name = "DIR", default_value = "fairgame-promise")]
    out: PathBuf,

    /// Seed of the first draw; the others follow
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Play at most so many turns a game: for a quick look
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

pub(super) fn run(arguments: &Promise) -> Result<Verdict> {
    let mut problems = Problem::find(&arguments.problems)?;
    if let Some(rows) = arguments.rows {
        problems = problems
            .into_iter()
            .map(|problem| problem.with_rows(rows as usize))
            .collect::<Result<_>>()?;
    }
    let plan = PromisePlan {
        problems,
        models: Learner::find(&arguments.models)?,
        draws: arguments.draws,
        seed: arguments.seed,
        margin: margin(&arguments.margin)?,
        turns: arguments.turns,
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
    let page = plan.folder.join("promise.md");
    output::print(&format!(
        "{}\n\n{}In {}. The page is {}.\n",
        table(&found),
        shortfalls(&found),
        output::time(watch.seconds()),
        page.display()
    ))?;
    Ok(Verdict::Met)
}

/// The margin of a text, as a policy reads it.
fn margin(text: &str) -> Result<Margin> {
    let given = match text.parse::<f64>() {
        Ok(errors) => json!(errors),
        Err(_) => json!(text),
    };
    let recommended = Spec::new::<&str>("label", &[]);
    let spec = recommended.over(&json!({ "selection": { "shrink": { "margin": given } } }))?;
    let Selection::Shrink(shrink) = spec.selection else {
        return Err(Error::new(ErrorKind::Settings, "only shrinking has a margin"));
    };
    spec.check()?;
    Ok(shrink.margin)
}

impl Promise {
    /// The command that makes these results.
    fn command(&self) -> String {
        let turns = self.turns.map_or(String::new(), |turns| format!(" --turns {turns}"));
        let problems = self.problems.iter().map(|name| format!(" --problem {name}"));
        let models = self.models.iter().map(|name| format!(" --model {name}"));
        let rows = self.rows.map(|rows| format!(" --rows {rows}"));
        let problems: String = problems.chain(models).chain(rows).collect();
        let Promise { draws, margin, seed, .. } = self;
        made(&format!("promise --draws {draws} --margin {margin} --seed {seed}{problems}{turns}"))
    }
}

fn table(found: &Promises) -> comfy_table::Table {
    let header =
        ["problem", "model", "promise made", "broken, as seen", "broken", "objective", "seconds"];
    let mut table = output::table(&header);
    for line in &found.lines {
        table.add_row([
            line.problem.to_owned(),
            line.model.to_owned(),
            percent(line.promised),
            percent(line.broken.raw),
            percent(line.broken.share),
            line.objective.to_string(),
            format!("{:.2}", line.seconds),
        ]);
    }
    for column in 2..header.len() {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn shortfalls(found: &Promises) -> String {
    match found.shortfalls() {
        none if none.is_empty() => "Nothing falls short.\n\n".to_owned(),
        some => format!("What falls short:\n  {}\n\n", some.join("\n  ")),
    }
}
