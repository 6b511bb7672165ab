//! `fairgame train`: data and a policy in, a classifier out.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use comfy_table::CellAlignment;
use fairgame::algorithm::Algorithm;
use fairgame::classifier::{Classifier, Margin, Selection, ShrinkSpec};
use fairgame::evaluate::{ConstraintResult, Evaluation, Measurement};
use fairgame::game::Ending;
use fairgame::observe::Checkpoint;
use fairgame::table::Table;
use fairgame::train::{
    Data, GameSummary, HAIR, RecordedPart, Spec, Trained, Training, Warning, WeightedRows,
    weight_of_steps,
};
use fairgame::{Error, ErrorKind, Result};
use serde::Serialize;
use serde_json::json;

use crate::output::{self, plain};
use crate::policy::{self, PolicyArguments};
use crate::progress::{self, Progress};
use crate::read::ReadArguments;
use crate::report;
use crate::verdict::Verdict;

pub(crate) const EXAMPLES: &str = "\
Examples:
  fairgame train people.csv --label 'hired == \"yes\"' --constraint 'recall() >= 0.9' -o model.safetensors
  fairgame train @adult --policy @adult --model mlp --test @adult/test -o adult.safetensors
  fairgame train people.csv --policy policy.toml --checkpoint run/ --resume
  fairgame train people.csv --policy policy.toml --turns 20000 --print-policy > complete.toml

Exit codes: 0 the constraints are met on the data they were enforced on, 1 they are not, 2 bad usage or
data, 130 stopped by Ctrl-C (the model is made of what was kept until then, if every fold has a model).";

#[derive(Args)]
pub(crate) struct Train {
    #[command(flatten)]
    read: ReadArguments,

    #[command(flatten)]
    policy: PolicyArguments,

    #[command(flatten)]
    split: SplitArguments,

    /// Where the model is written
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Where a report is written, as one HTML page
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Print the complete policy that would run, and do not train
    #[arg(long)]
    print_policy: bool,

    /// Save the game to this folder every so often
    #[arg(long, value_name = "DIR")]
    checkpoint: Option<PathBuf>,

    /// How many turns apart [default: a fiftieth of all]
    #[arg(long, value_name = "N", requires = "checkpoint")]
    checkpoint_every: Option<u64>,

    /// Go on from what --checkpoint saved, if it saved anything
    #[arg(long, requires = "checkpoint")]
    resume: bool,

    /// How many threads to use [default: all]; the result does not depend on it
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Say nothing but the result
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Args)]
#[command(next_help_heading = "Which rows are whose")]
struct SplitArguments {
    /// Rows that constraints are enforced on, from files of their own (repeatable)
    #[arg(long, value_name = "DATA", conflicts_with_all = ["val_fraction", "one_dataset"])]
    validation: Vec<String>,

    /// Cross-fit in so many folds, each of which judges models that learnt from the others
    #[arg(long, value_name = "N", conflicts_with_all = ["validation", "val_fraction", "one_dataset"])]
    folds: Option<u32>,

    /// Enforce constraints on this share of DATA, and learn from the rest
    #[arg(long, value_name = "X", allow_negative_numbers = true, conflicts_with = "one_dataset")]
    val_fraction: Option<f64>,

    /// Enforce the constraints on the rows that the model learns from
    #[arg(long)]
    one_dataset: bool,

    /// Rows to test on, from files of their own (repeatable)
    #[arg(long, value_name = "DATA", conflicts_with = "test_fraction")]
    test: Vec<String>,

    /// The share of DATA to test on
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    test_fraction: Option<f64>,
}

/// What a classifier is like on some rows.
#[derive(Debug, Serialize)]
pub(crate) struct Measured {
    rows: usize,
    /// The share of rows decided wrongly, whatever the objective is.
    pub(crate) error: Option<f64>,
    objective: Option<f64>,
    positive_rate: Option<f64>,
    constraints: Vec<ConstraintValue>,
}

#[derive(Debug, Serialize)]
struct ConstraintValue {
    name: String,
    /// Met where it is at most 0; `None` where there is nothing to measure.
    value: Option<f64>,
    /// How far it is missed.
    violation: Option<f64>,
    /// Why there is nothing to measure.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl ConstraintValue {
    /// Whether it is met on these rows.
    fn is_met(&self) -> bool {
        self.value.is_some_and(|value| value <= HAIR)
    }
}

impl Measured {
    pub(crate) fn of(evaluation: &Evaluation) -> Self {
        let value = |measurement: &Measurement| measurement.estimate().map(|found| found.value);
        let constraint = |one: &ConstraintResult| ConstraintValue {
            name: one.name.clone(),
            value: value(&one.measurement),
            violation: value(&one.measurement).map(|value| value.max(0.0)),
            reason: one.measurement.reason().map(str::to_owned),
        };
        Measured {
            rows: evaluation.rows,
            error: evaluation.error,
            objective: value(&evaluation.objective.measurement),
            positive_rate: evaluation.positive_rate,
            constraints: evaluation.constraints.iter().map(constraint).collect(),
        }
    }

    /// The constraint that is farthest from being met, of those that can be measured.
    fn worst(&self) -> Option<&ConstraintValue> {
        let measured = self.constraints.iter().filter(|one| one.value.is_some());
        measured.max_by(|a, b| a.value.partial_cmp(&b.value).unwrap_or(Ordering::Equal))
    }

    /// The largest loss; NaN where there is none.
    pub(crate) fn worst_value(&self) -> f64 {
        self.worst().and_then(|worst| worst.value).unwrap_or(f64::NAN)
    }

    fn is_met(&self) -> bool {
        self.constraints.iter().all(ConstraintValue::is_met)
    }
}

pub(crate) fn run(arguments: &Train) -> Result<Verdict> {
    let spec = arguments.spec()?;
    if arguments.print_policy {
        output::print(&policy::printed(&spec)?)?;
        return Ok(Verdict::Met);
    }
    let outputs = || arguments.output.iter().chain(&arguments.report).map(PathBuf::as_path);
    let split = &arguments.split;
    let data = arguments.read.data.iter().chain(&split.validation).chain(&split.test);
    if data.clone().filter(|name| *name == "-").count() > 1 {
        let message = "standard input is to be read more than once";
        return Err(
            Error::new(ErrorKind::Settings, message).help("write one of the tables to a file")
        );
    }
    let inputs = data.map(Path::new).chain(arguments.policy.file());
    output::check_distinct(inputs, outputs())?;
    for path in outputs() {
        check_writable(path)?;
    }
    let threads = arguments.threads.unwrap_or_else(output::threads).max(1);
    let sheets = arguments.sheets(&spec)?;
    let data = Data {
        train: sheets.train.weighted(),
        val: sheets.val.as_ref().map(WeightedRows::weighted),
    };
    let training = spec.prepare(&data)?;
    if !arguments.quiet {
        training.notices().iter().for_each(output::notice);
    }

    let start = Instant::now();
    let checkpoints = arguments.checkpoints(&training)?;
    let mut progress = Progress::new(arguments.quiet || arguments.json);
    let played = match &checkpoints {
        Some(checkpoints) => {
            let saved = |game: usize| (checkpoints.of(game), arguments.resume);
            training.play_all(threads, Some(&saved), &mut |told| progress.told(&told))
        }
        None => training.play_all(threads, None, &mut |told| progress.told(&told)),
    };
    progress.finish();
    let played = played?;
    if progress.was_stopped() && played.iter().any(|game| game.kept.moments.is_empty()) {
        output::warning(match (training.games(), &checkpoints) {
            (1, None) => "stopped before any model was kept: there is no result",
            (_, None) => "stopped before every fold had a model: there is no result",
            (_, Some(_)) => "stopped before every fold had a model; --resume goes on from here",
        });
        return Ok(Verdict::Interrupted);
    }
    progress::part_with("stopped while the classifier was made: nothing was written".to_owned());
    let mut trained = training.finish_all(&played, threads)?;
    let seconds = start.elapsed().as_secs_f64();

    let mut found = trained.judge(&data, CONFIDENCE)?;
    if let Some(test) = &sheets.test {
        let weights = test.weights.as_deref();
        found.push(("test", trained.classifier.evaluate(&test.table, weights, CONFIDENCE)?));
    }
    let cross = training.games() > 1;
    let parts: Vec<RecordedPart> = found
        .into_iter()
        .map(|(part, evaluation)| {
            let source = sheets.source(part, cross);
            RecordedPart { part: part.to_owned(), source, evaluation }
        })
        .collect();
    let part = |name: &str| {
        let found = parts.iter().find(|part| part.part == name);
        found.map(|part| Measured::of(&part.evaluation))
    };
    let result = TrainResult {
        seconds,
        stopped_early: played.iter().any(|game| game.ending == Ending::Stopped),
        enforced: !matches!(spec.algorithm, Algorithm::Unconstrained(_)),
        train: part("train").unwrap_or_else(|| Measured::of(&parts[0].evaluation)),
        val: part("val"),
        test: part("test"),
    };
    if progress.was_stopped() {
        let (turn, turns) = progress.at();
        trained.warnings.push(Warning::Stopped { turn, turns });
    }
    let record = trained.record(parts);
    trained.classifier.keep_record(&record)?;
    let warnings: Vec<String> = trained.warnings.iter().map(ToString::to_string).collect();
    if let Some(path) = &arguments.output {
        save(&trained.classifier, path)?;
    }
    let reported = arguments.report.as_ref().map_or(Ok(()), |path| {
        let name = arguments.output.as_deref().and_then(Path::file_stem);
        let name = name.map_or("model".into(), |name| name.to_string_lossy());
        report::write(&[(name.into_owned(), trained.classifier.clone())], path)
    });
    result.print(arguments, &trained, &warnings, reported.is_ok())?;
    // The result is there, whatever became of the page.
    reported?;
    if progress.was_stopped() {
        return Ok(Verdict::Interrupted);
    }
    Ok(if result.on_enforced().is_met() { Verdict::Met } else { Verdict::Violated })
}

/// How sure the verdicts of a record are, all together.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// The rows of each part, and where those are from that have a source of their own.
struct Sheets {
    train: WeightedRows,
    val: Option<WeightedRows>,
    test: Option<WeightedRows>,
    sources: [String; 3],
}

impl Sheets {
    /// Where the rows of a part are from.
    fn source(&self, part: &str, cross: bool) -> String {
        let [train, val, test] = &self.sources;
        match part {
            "train" => train.clone(),
            "val" if cross => format!("{train}, each row by models that have not learnt from it"),
            "val" => val.clone(),
            _ => test.clone(),
        }
    }
}

/// Where the games of a training are saved, and how often.
struct Checkpoints {
    folder: PathBuf,
    games: usize,
    every: u64,
    identity: String,
}

impl Checkpoints {
    fn path(&self, game: usize) -> PathBuf {
        self.folder.join(match self.games {
            1 => "checkpoint.safetensors".to_owned(),
            _ => format!("checkpoint-{}.safetensors", game + 1),
        })
    }

    fn of(&self, game: usize) -> Checkpoint {
        let identity = match self.games {
            1 => self.identity.clone(),
            _ => format!("{}, game {}", self.identity, game + 1),
        };
        Checkpoint::new(self.path(game), self.every, identity)
    }
}

impl Train {
    fn spec(&self) -> Result<Spec> {
        let mut more: Vec<(&str, toml::Value)> = Vec::new();
        let split = &self.split;
        if split.one_dataset {
            more.push(("datasets", "one".into()));
        }
        let nested = |name: &str, key: &str, value: toml::Value| {
            let inner = toml::Table::from_iter([(key.to_owned(), value)]);
            toml::Table::from_iter([(name.to_owned(), inner.into())]).into()
        };
        if let Some(folds) = split.folds {
            more.push(("datasets", nested("cross", "folds", i64::from(folds).into())));
        }
        if let Some(fraction) = split.val_fraction {
            more.push(("datasets", nested("two", "val_fraction", fraction.into())));
        }
        if let Some(fraction) = split.test_fraction {
            more.push(("test_fraction", fraction.into()));
        }
        let mut spec = self.policy.spec(&more)?;
        let cross_fits =
            matches!(spec.algorithm, Algorithm::Practical(_) | Algorithm::Lagrangian(_));
        if split.folds.is_some() && !cross_fits {
            let message = format!("--folds is not for the algorithm {}", spec.algorithm.name());
            return Err(
                Error::new(ErrorKind::Settings, message).help("it is for practical and lagrangian")
            );
        }
        // A model remembers them, and reads the rows it is to decide as it read those it learnt from.
        spec.missing = self.read.format.missing(&spec.missing);
        Ok(spec)
    }

    /// Reads the data, and divides what is to be divided.
    fn sheets(&self, spec: &Spec) -> Result<Sheets> {
        let all = self.read.read(&spec.missing)?;
        let read = |data: &[String]| -> Result<Option<Table>> {
            match data {
                [] => Ok(None),
                data => self.read.read_like(data, &all, &spec.missing).map(Some),
            }
        };
        let (val, test) = (read(&self.split.validation)?, read(&self.split.test)?);
        let mut spec = spec.clone();
        if test.is_some() {
            spec.test_fraction = 0.0;
        }
        let divided = spec.divide(all, val.is_some())?;
        let rows = |table: Option<Table>| table.map(|table| spec.rows(table)).transpose();
        let own = self.read.data.join(", ");
        let source = |data: &[String]| match data {
            [] => format!("a part of {own}"),
            data => data.join(", "),
        };
        let part = divided.val.is_some() || divided.test.is_some();
        let sources = [
            if part { source(&[]) } else { own.clone() },
            source(&self.split.validation),
            source(&self.split.test),
        ];
        Ok(Sheets {
            train: spec.rows(divided.train)?,
            val: rows(val.or(divided.val))?,
            test: rows(test.or(divided.test))?,
            sources,
        })
    }

    fn checkpoints(&self, training: &Training) -> Result<Option<Checkpoints>> {
        let Some(folder) = &self.checkpoint else { return Ok(None) };
        std::fs::create_dir_all(folder).map_err(|error| {
            Error::new(ErrorKind::Io, format!("the folder cannot be made: {error}"))
                .at(folder.display())
        })?;
        let checkpoints = Checkpoints {
            folder: folder.clone(),
            games: training.games(),
            every: match self.checkpoint_every {
                Some(every) => every,
                None => training.game(1)?.turns().div_ceil(50),
            },
            identity: training.identity(),
        };
        let there = (0..checkpoints.games).map(|game| checkpoints.path(game));
        match there.into_iter().find(|path| path.exists()) {
            Some(path) if !self.resume => {
                Err(Error::new(ErrorKind::Settings, "a checkpoint is there already")
                    .help("go on from it (--resume), or remove it, or choose another folder")
                    .at(path.display()))
            }
            Some(_) if !self.quiet => {
                output::notice(format!("going on from what is in {}", folder.display()));
                Ok(Some(checkpoints))
            }
            _ => Ok(Some(checkpoints)),
        }
    }
}

/// Refuses a place that no file can be written to, before a long training rather than after.
fn check_writable(path: &Path) -> Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let wrong = |message: &str| {
        Err(Error::new(ErrorKind::Io, message.to_owned())
            .help("give a file in a folder that exists and may be written to")
            .at(path.display()))
    };
    if path.is_dir() {
        return wrong("a file is to be written, and this is a folder");
    }
    if path.exists() && !path.is_file() {
        return Ok(()); // A device or a pipe: what it takes shows when it is written to.
    }
    if !folder.is_dir() {
        return wrong("the file cannot be written: its folder does not exist");
    }
    let probe = folder.join(format!(".fairgame-{}.partial", std::process::id()));
    if let Err(error) = std::fs::File::create(&probe) {
        return wrong(&format!("the file cannot be written: {error}"));
    }
    // What cannot be removed is empty, and says by its name that it is nothing.
    let _ = std::fs::remove_file(&probe);
    Ok(())
}

/// Saves a model; if its place cannot take it any more, where temporary files are, so that no training is lost.
fn save(classifier: &Classifier, path: &Path) -> Result<()> {
    classifier.save(path).map_err(|error| {
        let name = format!("fairgame-rescued-{}.safetensors", std::process::id());
        let rescue = std::env::temp_dir().join(name);
        match classifier.save(&rescue) {
            Ok(()) => error.help(format!(
                "the model is not lost, it is in {}: move it once there is room",
                rescue.display()
            )),
            Err(_) => error,
        }
    })
}

struct TrainResult {
    seconds: f64,
    stopped_early: bool,
    /// Whether anyone enforced the constraints.
    enforced: bool,
    train: Measured,
    val: Option<Measured>,
    test: Option<Measured>,
}

/// How many turns of how many games, and why no more.
fn played(games: &[GameSummary]) -> String {
    let turns = games.iter().map(|game| game.turns);
    let (least, most) = (turns.clone().min().unwrap_or(0), turns.max().unwrap_or(0));
    let turns = match least == most {
        true => format!("{most} turns"),
        false => format!("{least} to {most} turns"),
    };
    let text = match games.len() {
        1 => turns,
        count => format!("{count} games of {turns}"),
    };
    match games.iter().filter(|game| game.stopped_early).count() {
        0 => text,
        early if early == games.len() => format!("{text}, stopped early"),
        early => format!("{text}, {early} stopped early"),
    }
}

/// By how much more than to the bound each constraint is met, as far as can be.
fn margins(trained: &Trained) -> &[f64] {
    trained.selected.shrunk.as_ref().map_or(&[], |shrunk| &shrunk.margins)
}

/// What each constraint costs: how much the objective would fall for each unit of slack.
fn prices(trained: &Trained) -> Vec<Option<f64>> {
    let constraints = trained.classifier.bound().constraints().len();
    let of = |at: usize| trained.explained.as_ref().and_then(|found| found.prices.get(at).copied());
    (0..constraints).map(of).collect()
}

impl TrainResult {
    /// On the rows that the constraints were enforced on, or would have been.
    fn on_enforced(&self) -> &Measured {
        self.val.as_ref().unwrap_or(&self.train)
    }

    /// The parts by name, those that there are.
    fn parts(&self) -> Vec<(&'static str, &Measured)> {
        let parts = [
            ("train", Some(&self.train)),
            ("val", self.val.as_ref()),
            ("test", self.test.as_ref()),
        ];
        parts.into_iter().filter_map(|(name, part)| part.map(|part| (name, part))).collect()
    }

    fn print(
        &self,
        arguments: &Train,
        trained: &Trained,
        warnings: &[String],
        reported: bool,
    ) -> Result<()> {
        let report = arguments.report.as_ref().filter(|_| reported);
        if arguments.json {
            let part = |part: &Option<Measured>| serde_json::to_value(part).unwrap_or_default();
            let members: Vec<_> = trained
                .classifier
                .members()
                .iter()
                .map(|member| json!({ "weight": member.weight, "turn": member.turn }))
                .collect();
            return output::print_json(&json!({
                "version": output::VERSION,
                "iterations": trained.turns,
                "train_seconds": self.seconds,
                "stopped_early": self.stopped_early,
                "train": self.train,
                "val": part(&self.val),
                "test": part(&self.test),
                "met": self.on_enforced().is_met(),
                "mixture": members,
                "mean_lambda": {
                    "objective": trained.mean_lambda.objective,
                    "constraints": trained.mean_lambda.constraints,
                },
                "prices": prices(trained),
                "margins": margins(trained),
                "margins_had": trained.selected.shrunk.as_ref().map(|shrunk| shrunk.feasible),
                "games": trained.games,
                "model": arguments.output,
                "report": report,
                "warnings": warnings,
            }));
        }
        warnings.iter().for_each(output::warning);
        let parts = self.parts();
        let header: Vec<&str> =
            std::iter::once("").chain(parts.iter().map(|(name, _)| *name)).collect();
        let mut table = output::table(&header);
        let mut row = |name: String, cell: &dyn Fn(&Measured) -> String| {
            table.add_row(std::iter::once(name).chain(parts.iter().map(|(_, part)| cell(part))));
        };
        row("rows".to_owned(), &|part| part.rows.to_string());
        let number = |number: Option<f64>| number.map_or("–".to_owned(), |x| format!("{x:.4}"));
        row("error".to_owned(), &|part| number(part.error));
        row("objective".to_owned(), &|part| number(part.objective));
        for (i, one) in self.train.constraints.iter().enumerate() {
            row(plain(&one.name), &|part| {
                let one = &part.constraints[i];
                match one.value {
                    Some(value) => {
                        format!("{value:+.4} {}", if one.is_met() { "met" } else { "violated" })
                    }
                    None => "nothing to measure".to_owned(),
                }
            });
        }
        for column in 1..header.len() {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let mut text = format!("{table}\n");
        text += &self.words(trained);
        if let Some(path) = &arguments.output {
            text += &format!("The model is in {}.\n", path.display());
        }
        if let Some(path) = report {
            text += &format!("The report is in {}.\n", path.display());
        }
        output::print(&text)
    }

    /// How much there is to spare, and whether that is as much as was asked for.
    fn margin(&self, trained: &Trained) -> String {
        let Some(shrunk) = &trained.selected.shrunk else { return String::new() };
        let most = shrunk.margins.iter().copied().fold(0.0, f64::max);
        let Selection::Shrink(ShrinkSpec { margin, .. }) = trained.selection else {
            return String::new();
        };
        let of = match margin {
            Margin::None => return String::new(),
            Margin::Errors(1.0) => "of one standard error".to_owned(),
            Margin::Errors(errors) => format!("of {errors} standard errors"),
            Margin::Confidence(level) => {
                format!("for all to hold with a confidence of {} %", 100.0 * level)
            }
        };
        match shrunk.feasible {
            true => {
                format!("They were to be met with a margin {of}, at most {most:.4}, and are.\n")
            }
            false => {
                format!("They were to be met with a margin {of}: not all of that could be had.\n")
            }
        }
    }

    /// What was reached, in plain words.
    fn words(&self, trained: &Trained) -> String {
        let enforced = self.on_enforced();
        let members = trained.classifier.members().len();
        let models = output::count(members, "model");
        let mut text = format!(
            "\n{} in {:.1} s; the classifier is a mixture of {models}.\n",
            played(&trained.games),
            self.seconds,
        );
        let steps = weight_of_steps(&trained.games);
        if steps.len() > 1 {
            let shares = steps.iter().map(|(step, weight)| format!("{weight:.2} from ×{step}"));
            let shares = shares.collect::<Vec<_>>().join(", ");
            text += &format!("Of the lengths of steps that were tried, it has {shares}.\n");
        }
        if enforced.constraints.is_empty() {
            return text;
        }
        let on = match (&trained.out_of_fold, &self.val) {
            (Some(_), _) => "rows that the models had not learnt from",
            (None, Some(_)) => "the validation rows",
            (None, None) => "the training rows",
        };
        let all = if enforced.is_met() { "All" } else { "Not all" };
        let how = match self.enforced {
            true => "where they were enforced",
            false => "though nothing enforced them",
        };
        text += &format!("{all} constraints are met on {on}, {how}");
        if let Some((worst, value)) = enforced.worst().and_then(|one| Some((one, one.value?))) {
            let place = match value {
                value if value > HAIR => "the worst is",
                value if value < -HAIR => "the nearest to its bound is",
                _ => "the one that binds is",
            };
            text += &format!("; {place} `{}` ({value:+.4})", plain(&worst.name));
        }
        text += ".\n";
        text += &self.margin(trained);
        let costs = prices(trained).into_iter().flatten().zip(&enforced.constraints);
        if let Some((price, one)) = costs.max_by(|a, b| a.0.total_cmp(&b.0))
            && price > 0.001
        {
            text += &format!(
                "The one that costs most is `{}`: 0.01 of slack would lower the objective by {:.4}.\n",
                plain(&one.name),
                0.01 * price
            );
        }
        let Some(test) = &self.test else {
            text +=
                "There are no test rows (--test, --test-fraction) to see how they carry over.\n";
            return text;
        };
        for one in &test.constraints {
            if let Some(reason) = &one.reason {
                text += &format!(
                    "On the test rows, `{}` cannot be told: {reason}.\n",
                    plain(&one.name)
                );
            }
        }
        text += &match test.worst() {
            _ if test.is_met() => "On the test rows all are met.\n".to_owned(),
            Some(worst) if !worst.is_met() => {
                format!("On the test rows the worst is off by {:.4}.\n", test.worst_value())
            }
            _ => "On the test rows all that can be told are met.\n".to_owned(),
        };
        text
    }
}
