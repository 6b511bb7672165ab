//! `fairgame train`: data and a policy in, a classifier out.

mod render;

use std::path::{Path, PathBuf};

use clap::Args;
use fairgame::classifier::{Classifier, Selection};
use fairgame::train::{Checkpoints, Datasets, Outcome, Shape, Spec, Standing, Stream, Streams};
use fairgame::{Error, ErrorKind, Result, Store, Threads, table};

use crate::output;
use crate::policy::{self, Flags, PolicyArguments, Rows};
use crate::progress::Progress;
use crate::read::ReadArguments;
use crate::report;
use crate::verdict::Verdict;
use render::Rendered;
pub(crate) use render::worst_value;

pub(crate) const EXAMPLES: &str = "\
Examples:
  fairgame train people.csv --label 'hired == \"yes\"' --constraint 'recall() >= 0.9' -o model.safetensors
  fairgame train @adult --policy @adult --model mlp --test @adult/test -o adult.safetensors
  fairgame train people.csv --policy policy.toml --checkpoint run/ --resume
  fairgame train people.csv --policy policy.toml --turns 20000 --print-policy > complete.toml
  fairgame train parts/ --policy policy.toml --memory 4GB --dry-run

Exit codes: 0 every constraint is enforced or promised, 1 one is violated (with --require-promise: not
promised), 2 bad usage or data, 130 stopped by Ctrl-C, SIGTERM or SIGHUP (the
model is made of what was kept until then, if every fold has a model).";

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

    /// Exit with code 1 unless every constraint is promised; needs --margin 95% or --margin gate:…
    #[arg(long)]
    require_promise: bool,

    /// Where a report is written, as one HTML page
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Print the complete policy that would run, and do not train
    #[arg(long)]
    print_policy: bool,

    /// Print what memory, disk and time the training will take, from trials on the first rows, and do not train
    #[arg(long, conflicts_with_all = ["print_policy", "resume"])]
    dry_run: bool,

    /// Save checkpoints of the training to this folder
    #[arg(long, value_name = "DIR")]
    checkpoint: Option<PathBuf>,

    /// How many turns apart [default: a fiftieth of all]
    #[arg(long, value_name = "N", requires = "checkpoint", value_parser = clap::value_parser!(u64).range(1..))]
    checkpoint_every: Option<u64>,

    /// Go on from what --checkpoint saved, if it saved anything
    #[arg(long, requires = "checkpoint")]
    resume: bool,

    /// How many threads to use [default: all]; the result does not depend on it
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Memory for the stored rows of a training on a million rows or more, such as 500MB or 4GB [default: half of the free
    /// memory]; the rest goes to a temporary file, and the result is the same
    #[arg(long, value_name = "BYTES", value_parser = fairgame::bytes_of)]
    memory: Option<usize>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Say nothing but the result
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Args)]
#[command(next_help_heading = "Rows")]
struct SplitArguments {
    /// Rows that constraints are enforced on, from files of their own (repeatable)
    #[arg(long, value_name = "DATA", conflicts_with_all = ["folds", "val-fraction", "one-dataset"])]
    validation: Vec<String>,

    /// Rows to test on, from files of their own (repeatable)
    #[arg(long, value_name = "DATA", conflicts_with = "test-fraction")]
    test: Vec<String>,

    #[command(flatten)]
    flags: Flags<Rows>,
}

pub(crate) fn run(arguments: &Train) -> Result<Verdict> {
    let spec = arguments.spec()?;
    if arguments.print_policy {
        let plan = spec.plan(&arguments.shape())?;
        let mut printed = plan.spec().clone();
        if spec.datasets == Datasets::Auto && arguments.split.validation.is_empty() {
            // Folds or one split: the number of rows will say.
            printed.datasets = Datasets::Auto;
        }
        output::print_data(&policy::printed(&printed)?)?;
        return Ok(Verdict::Met);
    }
    arguments.check_files()?;
    let streams = arguments.streams(&spec)?;
    let threads = arguments.threads.map_or_else(Threads::all, Threads::new);
    let checkpoints = arguments.checkpoints();
    let store = arguments.memory.map_or_else(Store::half_of_free, |bytes| Store::new(bytes as u64));
    let plan = spec.plan(&arguments.shape())?.with_threads(threads).with_checkpoints(checkpoints);
    let plan = plan.with_open_algorithm(!arguments.policy.names_algorithm()?);
    if arguments.dry_run {
        let forecast = plan.with_store(store).forecast(streams)?;
        match arguments.json {
            true => {
                let mut document = serde_json::json!(forecast);
                document["version"] = output::VERSION.into();
                output::print_json(&document)?;
            }
            false => output::print(&render::forecast(&forecast))?,
        }
        return Ok(Verdict::Met);
    }
    let mut progress = Progress::new(arguments.quiet, arguments.json);
    let outcome = plan.with_store(store).run_streams(streams, &mut progress);
    let seconds = progress.finish();
    let trained = match outcome? {
        Outcome::Trained(trained) => trained,
        Outcome::Stopped { games } => {
            output::warning(match (games, &arguments.checkpoint) {
                (1, None) => "stopped before any model was kept: there is no result",
                (_, None) => "stopped before every fold had a model: there is no result",
                (_, Some(_)) => "stopped before every fold had a model; --resume goes on from here",
            });
            return Ok(Verdict::Interrupted);
        }
    };
    match &arguments.output {
        Some(path) => save(&trained.classifier, path)?,
        None if arguments.quiet => {}
        None => {
            output::notice("the model is not kept: to keep it, say where (-o model.safetensors)")
        }
    }
    let reported = arguments.report.as_ref().map_or(Ok(()), |path| {
        let name = arguments.output.as_deref().and_then(Path::file_stem);
        let name = name.map_or("model".into(), |name| name.to_string_lossy());
        report::write(&[(name.into_owned(), trained.classifier.clone())], path)
    });
    let result = Rendered {
        trained: &trained,
        seconds,
        model: arguments.output.as_deref(),
        report: arguments.report.as_deref().filter(|_| reported.is_ok()),
    };
    match arguments.json {
        true => output::print_data(&result.json()?)?,
        false => output::print(&result.text())?,
    }
    // The result is there, whatever became of the page.
    reported?;
    Ok(match trained.standing() {
        _ if trained.was_stopped() => Verdict::Interrupted,
        Standing::Enforced if arguments.require_promise => Verdict::Violated,
        Standing::Promised | Standing::Enforced => Verdict::Met,
        Standing::Violated => Verdict::Violated,
    })
}

impl Train {
    fn spec(&self) -> Result<Spec> {
        let mut spec = self.policy.spec(&self.split.flags)?;
        // A model remembers them, and reads the rows it is to decide as it read those it learnt from.
        spec.missing = self.read.format.missing(&spec.missing);
        let sure =
            matches!(spec.selection, Selection::Shrink(one) if one.margin.confidence().is_some());
        if self.require_promise && !sure {
            let message = "--require-promise needs a margin with a confidence";
            return Err(Error::new(ErrorKind::Settings, message).help("give one: --margin 95%"));
        }
        Ok(spec)
    }

    /// Refuses to write over what is read, and to write where nothing can be.
    fn check_files(&self) -> Result<()> {
        let outputs = || self.output.iter().chain(&self.report).map(PathBuf::as_path);
        let split = &self.split;
        let data = self.read.data.iter().chain(&split.validation).chain(&split.test);
        if data.clone().filter(|name| *name == "-").count() > 1 {
            let message = "standard input is to be read more than once";
            return Err(
                Error::new(ErrorKind::Settings, message).help("write one of the tables to a file")
            );
        }
        let inputs = data.map(Path::new).chain(self.policy.file());
        output::check_distinct(inputs, outputs())?;
        outputs().try_for_each(check_writable)
    }

    /// What is known of the data before they are read.
    fn shape(&self) -> Shape {
        let (validation, test) = (!self.split.validation.is_empty(), !self.split.test.is_empty());
        Shape { validation, test, ..Shape::default() }
    }

    /// The data, to be read.
    fn streams(&self, spec: &Spec) -> Result<Streams<'static>> {
        let feed = |data: &[String]| -> Result<Option<Stream<'static>>> {
            if data.is_empty() {
                return Ok(None);
            }
            let feed = self.read.format.feed(data, &spec.missing)?;
            if feed.copied() > 0 && !self.quiet {
                let bytes = output::count(feed.copied() as usize, "byte");
                let name = if data == ["-"] { "standard input" } else { feed.name() };
                output::notice(format!(
                    "{bytes} of {name} were copied to a temporary file, to be read more than once"
                ));
            }
            Ok(Some(Stream::from(feed)))
        };
        let (val, test) = (feed(&self.split.validation)?, feed(&self.split.test)?);
        let train = feed(&self.read.data)?.ok_or_else(|| {
            Error::new(ErrorKind::Settings, "there are no data to train on").help("name a file")
        })?;
        Ok(Streams { train, val, test })
    }

    /// Where the games are saved.
    fn checkpoints(&self) -> Option<Checkpoints> {
        let folder = self.checkpoint.clone()?;
        let (every, resume) = (self.checkpoint_every, self.resume);
        let checkpoints = Checkpoints { folder, every, resume };
        if resume {
            // What was being saved when a run was killed is of no use.
            table::remove_leftovers(&checkpoints.folder);
            if !self.quiet && checkpoints.any() {
                let folder = checkpoints.folder.display();
                output::notice(format!("going on from what is in {folder}"));
            }
        }
        Some(checkpoints)
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
    if path.is_symlink() && !path.exists() {
        return wrong("the file cannot be written: it is a link to a file that does not exist");
    }
    if let Err(error) = std::fs::File::create_new(&probe) {
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
