//! `fairgame demo`: the point of it all, on data that is shipped.
//!
//! Adult under the 80 % rule, as the paper's experiments have it: unconstrained, constrained on the rows
//! that the model learns from, and constrained on rows that it does not; the last also with the mixture
//! chosen by its error on those rows, which is not in the paper.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use clap::Args;
use comfy_table::CellAlignment;
use fairgame::algorithm::{Algorithm, Practical, Unconstrained};
use fairgame::classifier::{Classifier, Dataset, Selection, ShrinkSpec};
use fairgame::model::ModelSpec;
use fairgame::preset::{Prepared, Preset};
use fairgame::rate::Policy;
use fairgame::table::{Table, split};
use fairgame::train::{Datasets, Part, RecordedPart, Spec, Training};
use fairgame::{Error, ErrorKind, Result};
use serde_json::json;

use crate::output;
use crate::report;
use crate::train::{CONFIDENCE, Measured};
use crate::verdict::Verdict;

#[derive(Args)]
pub(crate) struct Demo {
    /// Where the models and the report are written
    #[arg(long, value_name = "DIR", default_value = "fairgame-demo")]
    out: PathBuf,

    /// How many turns to play; 110,000 is what fits the paper's table
    #[arg(long, value_name = "N", default_value_t = 110_000)]
    turns: u64,

    /// How many times, each with halves of its own; what is shown are means
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,

    /// Draws the halves, the start and the minibatches of the first run
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Say nothing but the result
    #[arg(long, short)]
    quiet: bool,
}

/// One way to train.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    file: &'static str,
    algorithm: Algorithm,
    /// Whether constraints are enforced on rows of their own.
    two: bool,
    /// Where the mixture's objective is measured.
    chosen_on: Dataset,
}

/// What one run of a way came to.
struct Run {
    classifier: Classifier,
    /// On the rows that the model learnt from, that the constraints were enforced on, and on the test rows.
    train: Measured,
    enforced: Measured,
    test: Measured,
}

/// What a way came to, run by run.
struct Came {
    way: Way,
    runs: Vec<Run>,
}

impl Came {
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
    let adult = Preset::find("adult")?.prepare(arguments.seed)?;
    let turns = arguments.turns;
    let practical = Algorithm::Practical(Practical { turns, ..Practical::default() });
    let unconstrained =
        Algorithm::Unconstrained(Unconstrained { turns, ..Unconstrained::default() });
    let way = |name, file, algorithm, two, chosen_on| Way { name, file, algorithm, two, chosen_on };
    let ways = [
        way("unconstrained", "unconstrained", unconstrained, false, Dataset::Train),
        way("one dataset", "one", practical, false, Dataset::Train),
        way("two datasets", "two", practical, true, Dataset::Train),
        way("two, chosen on the second", "chosen", practical, true, Dataset::Val),
    ];
    if !arguments.quiet && !arguments.json {
        output::notice(format!(
            "Adult, {} rows to train on and {} to test on; four networks of 50 units, {turns} turns each, {}",
            adult.train.table.rows(),
            adult.test.table.rows(),
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
    print(arguments, &came, start.elapsed().as_secs_f64(), &page)?;
    Ok(Verdict::Met)
}

/// Every way, so many times, by all cores.
fn train(ways: &[Way], adult: &Prepared, arguments: &Demo) -> Result<Vec<Came>> {
    let runs = arguments.runs.max(1);
    let jobs: Vec<(Way, u64)> =
        (0..runs).flat_map(|run| ways.iter().map(move |&way| (way, run))).collect();
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        while let Some((way, run)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push((*run, way.name, way.run(adult, arguments.seed.wrapping_add(*run))));
        }
        done
    };
    let mut done = std::thread::scope(|scope| {
        let running: Vec<_> = (0..output::threads()).map(|_| scope.spawn(worker)).collect();
        let joined = running.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined
            .flat_map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect::<Vec<_>>()
    });
    done.sort_by_key(|(run, _, _)| *run);
    let mut came: Vec<Came> = ways.iter().map(|&way| Came { way, runs: Vec::new() }).collect();
    for (_, name, result) in done {
        if let Some(of) = came.iter_mut().find(|one| one.way.name == name) {
            of.runs.push(result?);
        }
    }
    Ok(came)
}

impl Way {
    fn run(self, adult: &Prepared, seed: u64) -> Result<Run> {
        let policy = Policy::find("adult")?;
        let mut spec = Spec::paper(policy.label, policy.constraints);
        (spec.model, spec.algorithm) = (ModelSpec::Mlp { units: 50 }, self.algorithm);
        spec.seed = seed;
        let shrink = ShrinkSpec { on: self.chosen_on, ..ShrinkSpec::default() };
        spec.selection = match self.algorithm {
            Algorithm::Unconstrained(_) => Selection::Last,
            _ => Selection::Shrink(shrink),
        };
        if !self.two {
            spec.datasets = Datasets::One;
        }
        spec.encoder = adult.spec.clone();
        let all = &adult.train.table;
        let halves = split::by_fraction(all.rows(), &[0.5, 0.5], seed, None)?;
        let (train, val) = match self.two {
            true => (all.take(&halves[0]), Some(all.take(&halves[1]))),
            false => (all.clone(), None),
        };
        let part = |table: &Table| Part::new(&adult.encoder, &adult.bound, table.into());
        let val_part = val.as_ref().map(part).transpose()?;
        let training = Training::new(
            spec,
            adult.bound.clone(),
            adult.encoder.clone(),
            part(&train)?,
            val_part,
        )?;
        let mut game = training.game(1)?;
        training.play(&mut game, 1, &mut [])?;
        let mut trained = training.finish(&game, 1)?;
        let mut parts = Vec::new();
        let sources =
            [("train", Some(&train)), ("val", val.as_ref()), ("test", Some(&adult.test.table))];
        for (name, table) in sources {
            let Some(table) = table else { continue };
            let evaluation = trained.classifier.evaluate(table, None, CONFIDENCE)?;
            let source = if name == "test" { "@adult/test" } else { "@adult" };
            parts.push(RecordedPart { part: name.into(), source: source.into(), evaluation });
        }
        let measured = |name: &str| {
            let found = parts.iter().find(|part: &&RecordedPart| part.part == name);
            found.map(|part| Measured::of(&part.evaluation))
        };
        let (train, val, test) = (measured("train"), measured("val"), measured("test"));
        let missing = || Error::new(ErrorKind::Value, "a part of Adult was not measured");
        let enforced = val.or_else(|| measured("train")).ok_or_else(missing)?;
        let (train, test) = (train.ok_or_else(missing)?, test.ok_or_else(missing)?);
        let record = trained.record(parts);
        trained.classifier.keep_record(&record)?;
        Ok(Run { train, enforced, test, classifier: trained.classifier })
    }
}

fn print(arguments: &Demo, came: &[Came], seconds: f64, page: &Path) -> Result<()> {
    if arguments.json {
        let part = |pick: fn(&Run) -> &Measured, one: &Came| {
            let error = one.mean(|run| pick(run).error.unwrap_or(f64::NAN));
            let worst = one.mean(|run| pick(run).worst_value());
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
                    "model": arguments.out.join(format!("{}.safetensors", one.way.file)),
                })
            })
            .collect();
        return output::print_json(&json!({
            "version": output::VERSION, "seconds": seconds, "ways": ways, "report": page,
        }));
    }
    let mut table = output::table(&[
        "",
        "training error",
        "worst where enforced",
        "test error",
        "worst on the test rows",
    ]);
    for one in came {
        table.add_row([
            one.way.name.to_owned(),
            shown(one.mean(|run| run.train.error.unwrap_or(f64::NAN)), false),
            match one.way.name {
                "unconstrained" => "–".to_owned(),
                _ => shown(one.mean(|run| run.enforced.worst_value()), true),
            },
            shown(one.mean(|run| run.test.error.unwrap_or(f64::NAN)), false),
            shown(one.mean(|run| run.test.worst_value()), true),
        ]);
    }
    for column in 1..5 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let out = arguments.out.display();
    output::print(&format!(
        "The 80 % rule on Adult: each of four groups is to be accepted at least 0.8 times as often as\n\
         everyone. A worst of 0 or less is met, above 0 violated by so much.\n\n{table}\n\n\
         One dataset enforces the rule on the rows that the model learns from, two on rows of their own. The\n\
         paper chooses the mixture of models by its error on the first; the last line, by that on the second.\n\
         {}, in {seconds:.1} s. Models and report.html are in {out}.\n",
        match came.first().map_or(0, |one| one.runs.len()) {
            1 => "One run, of which no error can be told".to_owned(),
            runs => format!("Means of {runs} runs with their standard errors"),
        },
    ))
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
