//! `fairgame predict`: decisions of a model, each with its chance.
//!
//! Rows are read, decided and written a chunk at a time, so memory does not grow with their number.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use clap::Args;
use fairgame::classifier::{Classifier, Draw, Prediction, draws};
use fairgame::table::{Column, Format, Table, Values, Writer};
use fairgame::{Error, ErrorKind, Result, shown};
use serde_json::json;

use crate::output::{self, Stdout};
use crate::progress::RowCount;
use crate::read::{ReadArguments, rows_at_a_time};
use crate::verdict::Verdict;

pub(crate) const EXAMPLES: &str = "\
Examples:
  fairgame predict model.safetensors new.csv -o decisions.csv --id customer
  fairgame predict model.safetensors parts/ -o decisions.parquet --keep name --keep amount --type amount=number
  fairgame predict model.safetensors - < new.csv --format jsonl

If the rules of the classifier disagree on a row, a draw decides. The draw is a hash of a key stored in the model
file, and of the row's features or its --id. So the same row gets the same decision every time, in every order,
on every machine. The label and the groups of the constraints are not needed.

Files may be larger than memory: rows are read, decided and written a chunk at a time. An output file appears
once it is whole; on standard output, an error comes after the rows before it.

Columns that are kept are written as they are read. CSV stays text: 007 stays 007. Parquet and Arrow keep their
types. --type changes the kind of a column. An identifier draws by its value: 7, 7.0 and the number 7 are the
same, 007 is another.";

#[derive(Args)]
pub(crate) struct Predict {
    /// The model file
    model: PathBuf,

    #[command(flatten)]
    read: ReadArguments,

    /// Where the decisions are written [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// The format: csv, csv.gz, csv.zst, parquet, arrow or jsonl (one JSON object a line) [default: by the
    /// name of the output, or csv]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,

    /// The column that says who a row is: it is kept, and decides the draw in place of the features
    #[arg(long, value_name = "COLUMN")]
    id: Option<String>,

    /// The column with the scores, for a model trained with --score [default: as in training]
    #[arg(long, value_name = "COLUMN")]
    score: Option<String>,

    /// Another column to keep (repeatable)
    #[arg(long, value_name = "COLUMN")]
    keep: Vec<String>,

    /// How many rows are read, decided and written at a time, which changes nothing but the memory it takes
    /// [default: 65536, or fewer where a row is long]
    #[arg(long, value_name = "ROWS", value_parser = rows)]
    chunk: Option<usize>,

    /// Print what was written as JSON
    #[arg(long, requires = "output")]
    json: bool,

    /// Say nothing but the result
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn run(arguments: &Predict) -> Result<Verdict> {
    let format = arguments.format()?;
    let kept = arguments.kept()?;
    let inputs = arguments.read.data.iter().map(Path::new).chain([arguments.model.as_path()]);
    output::check_distinct(inputs, arguments.output.as_deref())?;
    let mut classifier = Classifier::load(&arguments.model)?;
    output::check_decides_alone(&classifier, arguments.score.as_deref())?;
    if let Some(score) = &arguments.score {
        classifier.take_scores_from(score).map_err(|error| error.at("--score"))?;
    }
    let cells = classifier.kinds().len() + classifier.inputs() + kept.len();
    let chunk = arguments.chunk.unwrap_or_else(|| rows_at_a_time(cells));
    let chunks = arguments.read.chunks_for(&classifier, &kept, chunk);
    let chunks = chunks.map_err(|error| classifier.about_features(error))?;
    let count = RowCount::new(arguments.quiet || arguments.json);
    if arguments.output.is_some() {
        // A file that is half written is to be removed first.
        count.listen();
    }
    let stdout = Stdout::default();
    let mut writer = match &arguments.output {
        Some(path) => Writer::file(path, format)?,
        None => Writer::stream(output::STDOUT, stdout.clone(), format),
    };

    let (mut rows, mut positive, mut people) = (0, 0, Distinct::default());
    let mut unnamed = classifier.bound().unnamed();
    for table in chunks {
        let table = table.map_err(|error| classifier.about_features(error));
        let written = table.and_then(|table| {
            unnamed.add(&table)?;
            let predictions = arguments.decide(&classifier, &table, rows, &mut people)?;
            writer.write(&result(&table, &kept, &predictions)?)?;
            Ok(predictions)
        });
        if written.is_err() && rows > 0 && arguments.output.is_none() && !arguments.quiet {
            output::notice(format!("{} were written before the error", decisions(rows)));
        }
        let predictions = written?;
        rows += predictions.len();
        positive += predictions.iter().filter(|one| one.positive).count();
        count.add(predictions.len());
        if count.is_stopped() {
            return Ok(Verdict::Interrupted);
        }
        if stdout.is_closed() {
            return Ok(Verdict::Met);
        }
    }
    writer.finish()?;
    drop(count);
    let mut warnings: Vec<String> = unnamed.finish()?.iter().map(ToString::to_string).collect();
    warnings.extend(arguments.id.as_deref().and_then(|id| people.warning(id, rows)));
    if !arguments.json {
        warnings.iter().for_each(output::warning);
    }
    if arguments.json {
        output::print_json(&json!({
            "version": output::VERSION, "rows": rows, "positive": positive,
            "output": arguments.output, "warnings": warnings,
        }))?;
    } else if let (Some(path), false) = (&arguments.output, arguments.quiet) {
        let (decisions, path) = (decisions(rows), path.display());
        output::notice(format!("{decisions} in {path}: {positive} positive"));
    }
    Ok(Verdict::Met)
}

impl Predict {
    fn format(&self) -> Result<Format> {
        if let Some(format) = self.format {
            if self.output.is_none() && !matches!(format, Format::Csv | Format::JsonLines) {
                let message = format!("`{format}` is not written to standard output");
                return Err(Error::new(ErrorKind::Settings, message)
                    .help("give a file (-o), or the --format `csv` or `jsonl`"));
            }
            return Ok(format);
        }
        let Some(path) = &self.output else { return Ok(Format::Csv) };
        let name = path.to_string_lossy().to_lowercase();
        if name.ends_with(".ndjson") {
            return Ok(Format::JsonLines);
        }
        let named = |format: &Format| name.ends_with(&format!(".{format}"));
        Format::ALL.into_iter().find(named).ok_or_else(|| {
            let message = format!("the name `{name}` does not say which format to write");
            let endings = Format::ALL.map(|format| format!(".{format}")).join(", ");
            Error::new(ErrorKind::Settings, message)
                .help(format!("let it end in one of {endings}, or give --format"))
        })
    }

    /// The columns to keep, each once.
    fn kept(&self) -> Result<Vec<&str>> {
        let mut kept: Vec<&str> = Vec::new();
        for name in self.id.iter().chain(&self.keep).map(String::as_str) {
            if RESULTS.contains(&name) {
                let message = format!("column `{name}` has the name of a result");
                return Err(
                    Error::new(ErrorKind::Settings, message).help("rename it, or do not keep it")
                );
            }
            if !kept.contains(&name) {
                kept.push(name);
            }
        }
        Ok(kept)
    }

    /// Decides rows, of which `before` others came first.
    fn decide(
        &self,
        classifier: &Classifier,
        table: &Table,
        before: usize,
        people: &mut Distinct,
    ) -> Result<Vec<Prediction>> {
        let features = classifier.encode(table)?;
        let Some(id) = &self.id else { return classifier.predict(&features, Draw::Features) };
        let draws = draws(&table.column(id).map_err(|error| error.at("--id"))?.values);
        let key = |(row, draw): (usize, Option<u64>)| {
            draw.ok_or_else(|| {
                let message = format!("row {} has no identifier", before + row + 1);
                Error::new(ErrorKind::Value, message)
                    .help("fill it in, or let the features decide the draw (no --id)")
                    .at(format!("column `{id}`"))
            })
        };
        let keys = draws.into_iter().enumerate().map(key).collect::<Result<Vec<_>>>()?;
        people.add(&keys);
        classifier.predict(&features, Draw::Keys(&keys))
    }
}

/// How many identifiers there are, as far as that is worth knowing: memory does not grow with the number of rows.
#[derive(Default)]
struct Distinct(HashSet<u64>);

impl Distinct {
    /// With so many identifiers, they are not of a few groups.
    const MANY: usize = 10_000;

    fn add(&mut self, keys: &[u64]) {
        for &key in keys {
            if self.0.len() < Self::MANY {
                self.0.insert(key);
            }
        }
    }

    /// What to say where an identifier stands for very many rows: these share one draw.
    fn warning(&self, id: &str, rows: usize) -> Option<String> {
        let few = self.0.len();
        (few < Self::MANY && rows > 20 * few.max(1)).then(|| {
            format!(
                "column `{}` has {few} different values for {rows} rows, and rows with the same value share a draw: is it \
                 who a row is?",
                shown(id)
            )
        })
    }
}

/// The names of the columns that are added.
const RESULTS: [&str; 3] = ["decision", "probability", "score"];

/// The kept columns, and what was decided.
fn result(table: &Table, kept: &[&str], predictions: &[Prediction]) -> Result<Table> {
    let kept = kept.iter().map(|name| table.column(name).cloned());
    let mut columns = kept.collect::<Result<Vec<_>>>().map_err(|error| error.at("--keep"))?;
    let number =
        |pick: fn(&Prediction) -> f64| Values::Number(predictions.iter().map(pick).collect());
    let decided = predictions.iter().map(|one| Some(one.positive)).collect();
    let [decision, probability, score] = RESULTS;
    columns.push(Column::new(decision, Values::Boolean(decided)));
    columns.push(Column::new(probability, number(|one| one.probability)));
    columns.push(Column::new(score, number(|one| one.score)));
    Table::new(columns)
}

fn decisions(rows: usize) -> String {
    output::count(rows, "decision")
}

/// A number of rows, at least one.
fn rows(text: &str) -> Result<usize> {
    match text.parse() {
        Ok(rows) if rows > 0 => Ok(rows),
        _ => Err(Error::new(ErrorKind::Settings, "a whole number above 0 is needed")),
    }
}
