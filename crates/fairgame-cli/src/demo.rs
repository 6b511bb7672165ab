//! `fairgame demo`: the point of it all, on data that is shipped.
//!
//! Adult under the 80 % rule, by the recommended recipe, with boosted trees and with a network, and as the paper's
//! experiments have it: constrained on rows that
//! the model does not learn from, on those that it does, and unconstrained. Each run has a split of its own: one file of
//! test rows has noise of its own, which more runs would not take away.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use comfy_table::CellAlignment;
use fairgame::algorithm::{Algorithm, Practical, Unconstrained};
use fairgame::classifier::Classifier;
use fairgame::encode::EncoderSpec;
use fairgame::evaluate::Evaluation;
use fairgame::model::ModelSpec;
use fairgame::preset::Preset;
use fairgame::rate::Policy;
use fairgame::table::{ReadOptions, Source, Table, read, split};
use fairgame::train::{BaselineKind, Data, Datasets, Recipe, Sheet, Spec};
use fairgame::{Error, ErrorKind, Result, Threads};
use serde_json::{Value, json};

use crate::output;
use crate::report;
use crate::train::worst_value;
use crate::verdict::Verdict;

#[derive(Args)]
pub(crate) struct Demo {
    /// Where the models and the report are written
    #[arg(long, value_name = "DIR", default_value = "fairgame-demo")]
    out: PathBuf,

    /// Most turns to play; the default reproduces the paper's table
    #[arg(long, value_name = "N", default_value_t = 110_000)]
    turns: u64,

    /// Number of random splits into training and test rows; the table shows means
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,

    /// Seed of the first run; the others follow
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Say nothing but the result
    #[arg(long, short)]
    quiet: bool,
}

/// All of Adult, and how a model sees it.
struct Adult {
    all: Table,
    encoder: EncoderSpec,
}

/// Where its rows are from, and how many of them are in the first.
const SOURCES: [&str; 2] = ["@adult", "@adult/test"];
const ROWS: usize = 32_561;

impl Adult {
    fn read() -> Result<Self> {
        let sources = SOURCES.iter().map(|name| Source::parse(name)).collect::<Result<Vec<_>>>()?;
        let encoder = Preset::find("adult")?.encoder();
        Ok(Adult { all: read(sources, &ReadOptions::default())?, encoder })
    }
}

/// One way to train.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    file: &'static str,
    recipe: Recipe,
    algorithm: Algorithm,
    /// Whether boosted trees are trained on the columns as they are, rather than a network on the paper's features.
    trees: bool,
    /// Whether the constraints are enforced on the rows that the model learns from.
    one: bool,
}

/// The file of the network that knows no constraints.
const FREE: &str = "unconstrained";

/// What one run of a way came to.
struct Run {
    classifier: Classifier,
    /// The same kind of model without constraints, on the test rows.
    free: Option<Evaluation>,
    /// On the rows that the model learnt from, that the constraints were enforced on, and on the test rows.
    train: Evaluation,
    enforced: Evaluation,
    test: Evaluation,
}

/// What a way came to, run by run.
struct Came {
    way: Way,
    runs: Vec<Run>,
}

impl Run {
    fn free_error(&self) -> f64 {
        self.free.as_ref().and_then(|found| found.error).unwrap_or(f64::NAN)
    }
}

impl Came {
    /// Whether each run has beside it the same kind of model without constraints.
    fn is_beside_free(&self) -> bool {
        self.runs.iter().all(|run| run.free.is_some())
    }

    /// The mean over the runs, and its standard error where there are several.
    fn mean(&self, pick: impl Fn(&Run) -> f64) -> (f64, Option<f64>) {
        let runs = self.runs.len() as f64;
        let mean = self.runs.iter().map(&pick).sum::<f64>() / runs;
        let square: f64 = self.runs.iter().map(|run| (pick(run) - mean).powi(2)).sum();
        (mean, (runs > 1.0).then(|| (square / (runs - 1.0) / runs).sqrt()))
    }
}

pub(crate) fn run(arguments: &Demo) -> Result<Verdict> {
    std::fs::create_dir_all(&arguments.out).map_err(|error| {
        Error::new(ErrorKind::Io, format!("the folder cannot be made: {error}"))
            .at(arguments.out.display())
    })?;
    let start = Instant::now();
    let adult = Adult::read()?;
    let turns = arguments.turns;
    let practical = Algorithm::Practical(Practical { turns, ..Practical::default() });
    let unconstrained =
        Algorithm::Unconstrained(Unconstrained { turns, ..Unconstrained::default() });
    let way = |name, file, recipe, algorithm, one| Way {
        name,
        file,
        recipe,
        algorithm,
        trees: algorithm == Algorithm::Auto,
        one,
    };
    let ways = [
        way("trees", "recommended", Recipe::Recommended, Algorithm::Auto, false),
        way("network", "network", Recipe::Recommended, practical, false),
        way("network, paper's two datasets", "two", Recipe::Paper, practical, false),
        way("network, paper's one dataset", "one", Recipe::Paper, practical, true),
        way("network, no constraints", FREE, Recipe::Paper, unconstrained, true),
    ];
    if !arguments.quiet && !arguments.json {
        output::notice(format!(
            "Adult, {} rows to train on and {} to test on; boosted trees, and networks of 50 units, trained in five ways, {}",
            ROWS,
            adult.all.rows() - ROWS,
            output::count(arguments.runs as usize, "time"),
        ));
    }
    let came = train(&ways, &adult, arguments)?;
    let mut models = Vec::new();
    for Came { way, runs } in &came {
        if let Some(first) = runs.first() {
            first.classifier.save(&arguments.out.join(format!("{}.safetensors", way.file)))?;
            models.push((way.name.to_owned(), first.classifier.clone()));
        }
    }
    let page = arguments.out.join("report.html");
    report::write(&models, &page)?;
    // The picture is of what is recommended.
    report::picture(&models[..models.len().min(1)], &arguments.out.join("rates.svg"))?;
    print(arguments, &came, start.elapsed().as_secs_f64(), &page)?;
    Ok(Verdict::Met)
}

/// Every way, so many times, by all cores.
fn train(ways: &[Way], adult: &Adult, arguments: &Demo) -> Result<Vec<Came>> {
    let runs = arguments.runs.max(1);
    let jobs: Vec<(Way, u64)> =
        (0..runs).flat_map(|run| ways.iter().map(move |&way| (way, run))).collect();
    let done = Threads::all()
        .each(&jobs, |(way, run)| (way.name, way.run(adult, arguments.seed.wrapping_add(*run))));
    let mut came: Vec<Came> = ways.iter().map(|&way| Came { way, runs: Vec::new() }).collect();
    for (name, result) in done {
        if let Some(of) = came.iter_mut().find(|one| one.way.name == name) {
            of.runs.push(result?);
        }
    }
    Ok(came)
}

impl Way {
    fn run(self, adult: &Adult, seed: u64) -> Result<Run> {
        let policy = Policy::find("adult")?;
        let mut spec = Spec::of(self.recipe, policy.label, policy.constraints);
        (spec.algorithm, spec.seed) = (self.algorithm, seed);
        if !self.trees {
            (spec.model, spec.encoder) = (ModelSpec::Mlp { units: 50 }, adult.encoder.clone());
        }
        if self.one {
            spec.datasets = Datasets::One;
        }
        let share = ROWS as f64 / adult.all.rows() as f64;
        let parts = split::by_fraction(adult.all.rows(), &[share, 1.0 - share], seed, None)?;
        let rows = |part: &[usize]| {
            Sheet::owned(adult.all.take(part), format!("a part of {}", SOURCES.join(", ")))
        };
        let data = Data::from(rows(&parts[0])).with_test(Some(rows(&parts[1])));
        let trained = spec.plan(&data.shape())?.run(data, &mut ())?.trained()?;
        let missing = || Error::new(ErrorKind::Value, "a part of Adult was not measured");
        let measured = |part: Option<&Evaluation>| part.cloned().ok_or_else(missing);
        Ok(Run {
            free: trained.baseline(BaselineKind::Unconstrained, true).cloned(),
            train: measured(trained.part("train"))?,
            enforced: measured(trained.enforced())?,
            test: measured(trained.part("test"))?,
            classifier: trained.classifier,
        })
    }
}

fn print(arguments: &Demo, came: &[Came], seconds: f64, page: &Path) -> Result<()> {
    if arguments.json {
        return output::print_json(&document(arguments, came, seconds, page));
    }
    let table = compared(came);
    let out = arguments.out.display();
    output::print(&format!(
        "The 80 % rule on Adult, a public census dataset: each of four groups is to be accepted at least 0.8 times\n\
         as often as everyone. The violation is by how much the worst of the four groups misses the rule. At 0 or\n\
         less, all four keep it.\n\n{table}\n\n\
         The first two rows are of the recommended recipe. It uses cross-fitting: it trains on all rows, and judges\n\
         each model only on rows it was not trained on, with a safety margin of one standard error. Trees have the\n\
         columns as they are, and networks the paper's features. The paper trains on half of the rows and enforces\n\
         the rule on the other half (two datasets), or does both on all rows (one dataset).\n\
         {}, in {seconds:.1} s. Models, report.html and rates.svg are in {out}.\n",
        match came.first().map_or(0, |one| one.runs.len()) {
            1 => "One run, and so no standard errors".to_owned(),
            runs => format!("Means of {runs} splits with their standard errors"),
        },
    ))
}

/// What `--json` prints.
fn document(arguments: &Demo, came: &[Came], seconds: f64, page: &Path) -> Value {
    let part = |pick: fn(&Run) -> &Evaluation, one: &Came| {
        let error = one.mean(|run| pick(run).error.unwrap_or(f64::NAN));
        let worst = one.mean(|run| worst_value(pick(run)));
        json!({
            "error": error.0, "error_standard_error": error.1,
            "worst": worst.0, "worst_standard_error": worst.1,
        })
    };
    let ways: Vec<_> = came
        .iter()
        .map(|one| {
            json!({
                "name": one.way.name,
                "runs": one.runs.len(),
                "train": part(|run| &run.train, one),
                "enforced": part(|run| &run.enforced, one),
                "test": part(|run| &run.test, one),
                "unconstrained": one.is_beside_free().then(|| {
                    let error = one.mean(Run::free_error);
                    let worst =
                        one.mean(|run| run.free.as_ref().map_or(f64::NAN, worst_value));
                    json!({
                        "error": error.0, "error_standard_error": error.1,
                        "worst": worst.0, "worst_standard_error": worst.1,
                    })
                }),
                "model": arguments.out.join(format!("{}.safetensors", one.way.file)),
            })
        })
        .collect();
    json!({
        "version": output::VERSION, "seconds": seconds, "ways": ways, "report": page,
    })
}

/// The ways beside each other.
fn compared(came: &[Came]) -> comfy_table::Table {
    let mut table = output::table(&[
        "",
        "training error",
        "violation where enforced",
        "test error",
        "violation on test rows",
    ]);
    let none = || "–".to_owned();
    for one in came {
        table.add_row([
            one.way.name.to_owned(),
            shown(one.mean(|run| run.train.error.unwrap_or(f64::NAN)), false),
            match one.way.file {
                FREE => none(),
                _ => shown(one.mean(|run| worst_value(&run.enforced)), true),
            },
            shown(one.mean(|run| run.test.error.unwrap_or(f64::NAN)), false),
            shown(one.mean(|run| worst_value(&run.test)), true),
        ]);
    }
    // What the rule costs the trees.
    if let Some(trees) = came.iter().find(|one| one.way.trees && one.is_beside_free()) {
        table.add_row([
            format!("{}, no constraints", trees.way.name),
            none(),
            none(),
            shown(trees.mean(|run| run.free_error()), false),
            shown(trees.mean(|run| run.free.as_ref().map_or(f64::NAN, worst_value)), true),
        ]);
    }
    for column in 1..5 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// A mean and its standard error; without a sign where it rounds to 0.
fn shown((mean, error): (f64, Option<f64>), signed: bool) -> String {
    let mut text = if signed { format!("{mean:+.4}") } else { format!("{mean:.4}") };
    if text.trim_start_matches(['+', '-']) == "0.0000" {
        text = "0.0000".to_owned();
    }
    match error {
        Some(error) => format!("{text} ± {error:.4}"),
        None => text,
    }
}
