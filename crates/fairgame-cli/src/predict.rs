//! `fairgame predict`: decisions of a model, each with its chance.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use fairgame::classifier::{Classifier, Draw, draw_of_text};
use fairgame::table::{self, Column, Format, MISSING, Table, Values};
use fairgame::{Error, ErrorKind, Result};
use serde_json::{Map, Value, json};

use crate::output;
use crate::read::ReadArguments;
use crate::verdict::Verdict;

pub(crate) const EXAMPLES: &str = "\
Examples:
  fairgame predict model.safetensors new.csv -o decisions.csv --id customer
  fairgame predict model.safetensors new.parquet -o decisions.parquet --keep name
  fairgame predict model.safetensors - < new.csv --format jsonl

A row is decided by a hash of its features and of the model's key, or of --id: the same row gets the same
decision every time, in every order, on every machine. The label and the groups of the constraints are not
needed.";

#[derive(Args)]
pub(crate) struct Predict {
    /// The model file
    model: PathBuf,

    #[command(flatten)]
    read: ReadArguments,

    /// Where the decisions are written [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// The format [default: by the name of the output, or csv]
    #[arg(long, value_name = "FORMAT")]
    format: Option<OutputFormat>,

    /// The column that says who a row is: it is kept, and decides the draw in place of the features
    #[arg(long, value_name = "COLUMN")]
    id: Option<String>,

    /// Another column to keep (repeatable)
    #[arg(long, value_name = "COLUMN")]
    keep: Vec<String>,

    /// Print what was written as JSON
    #[arg(long, requires = "output")]
    json: bool,

    /// Say nothing but the result
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    /// Comma-separated values
    Csv,
    /// Parquet
    Parquet,
    /// One JSON object a line
    Jsonl,
}

pub(crate) fn run(arguments: &Predict) -> Result<Verdict> {
    let format = arguments.format()?;
    let inputs = arguments.read.data.iter().map(Path::new).chain([arguments.model.as_path()]);
    output::check_distinct(inputs, arguments.output.as_deref())?;
    let classifier = Classifier::load(&arguments.model)?;
    let rows = arguments.read.read_for(&classifier)?;
    let features = classifier.encoder().encode(&rows)?;
    let keys = match &arguments.id {
        None => None,
        Some(id) => Some(keys(column(&rows, id, "--id")?)?),
    };
    let draw = keys.as_deref().map_or(Draw::Features, Draw::Keys);
    let predictions = classifier.predict(&features, draw)?;

    let mut columns = Vec::new();
    for name in arguments.id.iter().chain(&arguments.keep) {
        let kept = column(&rows, name, "--keep")?;
        if ["decision", "probability", "score"].contains(&name.as_str()) {
            let message = format!("column `{name}` has the name of a result");
            return Err(
                Error::new(ErrorKind::Settings, message).help("rename it, or do not keep it")
            );
        }
        if !columns.iter().any(|column: &Column| column.name == kept.name) {
            columns.push(kept.clone());
        }
    }
    let number = |pick: fn(&fairgame::classifier::Prediction) -> f64| {
        Values::Number(predictions.iter().map(pick).collect())
    };
    let decided = predictions.iter().map(|one| Some(one.positive)).collect();
    columns.push(Column::new("decision", Values::Boolean(decided)));
    columns.push(Column::new("probability", number(|one| one.probability)));
    columns.push(Column::new("score", number(|one| one.score)));
    let result = Table::new(columns)?;
    write(&result, arguments.output.as_deref(), format)?;
    let positive = predictions.iter().filter(|one| one.positive).count();
    if arguments.json {
        output::print_json(&json!({
            "version": output::VERSION, "rows": result.rows(), "positive": positive,
            "output": arguments.output,
        }))?;
    } else if let (Some(path), false) = (&arguments.output, arguments.quiet) {
        output::notice(format!(
            "{} in {}: {positive} positive",
            output::count(result.rows(), "decision"),
            path.display()
        ));
    }
    Ok(Verdict::Met)
}

impl Predict {
    fn format(&self) -> Result<OutputFormat> {
        if let Some(format) = self.format {
            if format == OutputFormat::Parquet && self.output.is_none() {
                return Err(Error::new(
                    ErrorKind::Settings,
                    "Parquet is not written to standard output",
                )
                .help("give a file (-o), or another --format"));
            }
            return Ok(format);
        }
        let name = self.output.as_ref().map(|path| path.to_string_lossy().to_lowercase());
        match name.as_deref() {
            None => Ok(OutputFormat::Csv),
            Some(name) if name.ends_with(".csv") => Ok(OutputFormat::Csv),
            Some(name) if name.ends_with(".parquet") => Ok(OutputFormat::Parquet),
            Some(name) if name.ends_with(".jsonl") || name.ends_with(".ndjson") => {
                Ok(OutputFormat::Jsonl)
            }
            Some(name) => {
                let message = format!("the name `{name}` does not say which format to write");
                Err(Error::new(ErrorKind::Settings, message)
                    .help("let it end in .csv, .parquet or .jsonl, or give --format"))
            }
        }
    }
}

fn column<'a>(table: &'a Table, name: &str, flag: &str) -> Result<&'a Column> {
    table.columns().iter().find(|column| column.name == name).ok_or_else(|| {
        let error = Error::new(ErrorKind::Column, format!("there is no column `{name}`")).at(flag);
        let columns = table.columns().iter().map(|column| column.name.as_str());
        match fairgame::nearest(name, columns) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error,
        }
    })
}

/// What each row draws by: the text of its identifier, so that a number is the same in every file.
fn keys(column: &Column) -> Result<Vec<u64>> {
    let text = |row: usize| match &column.values {
        Values::Number(numbers) if numbers[row].is_nan() => None,
        Values::Number(numbers) => Some(numbers[row].to_string()),
        Values::Category(category) => match category.codes[row] {
            MISSING => None,
            code => Some(category.dictionary.text(code).to_owned()),
        },
        Values::Boolean(truths) => truths[row].map(|truth| truth.to_string()),
    };
    let rows = match &column.values {
        Values::Number(numbers) => numbers.len(),
        Values::Category(category) => category.codes.len(),
        Values::Boolean(truths) => truths.len(),
    };
    let key = |row: usize| {
        text(row).map(|text| draw_of_text(&text)).ok_or_else(|| {
            Error::new(ErrorKind::Value, format!("row {} has no identifier", row + 1))
                .help("fill it in, or let the features decide the draw (no --id)")
                .at(format!("column `{}`", column.name))
        })
    };
    (0..rows).map(key).collect()
}

fn write(result: &Table, path: Option<&Path>, format: OutputFormat) -> Result<()> {
    let Some(path) = path else {
        let text = match format {
            OutputFormat::Jsonl => lines(result),
            _ => csv(result)?,
        };
        return output::print(&text);
    };
    match format {
        OutputFormat::Csv => table::write(result, path, Format::Csv),
        OutputFormat::Parquet => table::write(result, path, Format::Parquet),
        OutputFormat::Jsonl => table::write_text(path, &lines(result)),
    }
}

fn csv(result: &Table) -> Result<String> {
    let mut bytes = Vec::new();
    table::write_csv(result, &mut bytes)?;
    String::from_utf8(bytes)
        .map_err(|error| Error::new(ErrorKind::Value, format!("no CSV can be made: {error}")))
}

fn lines(result: &Table) -> String {
    let value = |column: &Column, row: usize| match &column.values {
        Values::Number(numbers) => json!(numbers[row]),
        Values::Category(category) => match category.codes[row] {
            MISSING => Value::Null,
            code => json!(category.dictionary.text(code)),
        },
        Values::Boolean(truths) => json!(truths[row]),
    };
    let mut text = String::new();
    for row in 0..result.rows() {
        let object: Map<String, Value> =
            result.columns().iter().map(|c| (c.name.clone(), value(c, row))).collect();
        text += &Value::Object(object).to_string();
        text.push('\n');
    }
    text
}
