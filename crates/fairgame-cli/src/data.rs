//! `fairgame data`: list, describe and export data.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use comfy_table::CellAlignment;
use fairgame::encode::{Encoder, EncoderSpec, Features, Notice};
use fairgame::preset::{PAPER, Preset};
use fairgame::table::{
    self, ColumnSummary, Format, Missing, ReadOptions, SHIPPED, Shipped, Source, Summary, Table,
};
use fairgame::{Error, ErrorKind, Result, Threads, shown};
use serde_json::{Value, json};

use crate::check;
use crate::output::{self, VERSION, count, percent, short};
use crate::progress::RowCount;
use crate::read::ReadArguments;
use crate::verdict::Verdict;

#[derive(Subcommand)]
pub(crate) enum Data {
    /// List the shipped datasets
    List(List),
    /// Show what is understood of data: rows, and each column's type, missing share and values
    #[command(after_help = DESCRIBE_EXAMPLES)]
    Describe(Describe),
    /// Look for columns that give the label away, identifiers, protected features, copied rows and small groups
    #[command(after_help = check::EXAMPLES)]
    Check(Box<check::Check>),
    /// Write a shipped dataset to a folder: all its tables, or one, as in adult/test
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(Export),
}

const DESCRIBE_EXAMPLES: &str = "\
Examples:
  fairgame data describe @adult
  fairgame data describe people.csv.gz --missing unknown --type zip=category
  fairgame data describe adult.test --no-header --comment '|'
  fairgame data describe parts/ --json
  fairgame data describe @adult --encode paper";

const EXPORT_EXAMPLES: &str = "\
Examples:
  fairgame data export adult out/
  fairgame data export compas out/ --format parquet";

#[derive(Args)]
pub(crate) struct List {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(crate) struct Describe {
    #[command(flatten)]
    read: ReadArguments,

    /// Also show the features that a model would see
    #[arg(long, value_name = "HOW")]
    encode: Option<Encoding>,

    /// With --encode default: a column that is not a feature (repeatable)
    #[arg(long, value_name = "COLUMN", requires = "encode")]
    ignore: Vec<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Encoding {
    /// Numbers standardised, categories by value; values seen once, or beyond 1,000, share a code
    Default,
    /// As in the paper's experiments; for one shipped dataset
    Paper,
}

#[derive(Args)]
pub(crate) struct Export {
    /// The dataset: adult (training and test rows), adult/test, compas or communities
    name: String,

    /// The folder to write to; it is made if need be
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// The file format: csv, csv.gz, csv.zst, parquet, arrow or jsonl
    #[arg(long, value_name = "FORMAT", default_value = "csv")]
    format: Format,

    /// Overwrite files that are there
    #[arg(long)]
    force: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(command: Data) -> Result<Verdict> {
    let done = match command {
        Data::List(arguments) => list(&arguments),
        Data::Describe(arguments) => describe(&arguments),
        Data::Check(arguments) => return check::run(&arguments),
        Data::Export(arguments) => export(&arguments),
    };
    done.map(|()| Verdict::Met)
}

fn shipped(shipped: Shipped) -> Result<Table> {
    table::read([Source::Shipped(shipped)], &ReadOptions::default())
}

fn list(arguments: &List) -> Result<()> {
    let mut datasets = Vec::new();
    let mut rows = output::table(&["dataset", "rows", "columns", "what it is"]);
    for entry in SHIPPED {
        let table = shipped(entry)?;
        let (name, height, width) = (entry.to_string(), table.rows(), table.columns().len());
        rows.add_row([&name, &height.to_string(), &width.to_string(), entry.about]);
        datasets.push(json!({
            "name": name, "rows": height, "columns": width, "about": entry.about,
            "paper_preset": PAPER.iter().any(|preset| preset.name == entry.name),
        }));
    }
    if arguments.json {
        return output::print_json(&json!({ "version": VERSION, "datasets": datasets }));
    }
    right(&mut rows, &[1, 2]);
    output::print(&format!("{rows}\n"))
}

fn describe(arguments: &Describe) -> Result<()> {
    let feed = arguments.read.format.feed(&arguments.read.data, &Missing::default())?;
    let summary = {
        let progress = RowCount::new(arguments.json);
        let mut before = 0;
        Summary::stream(&feed, &Threads::all(), &mut |rows| {
            progress.add((rows - before) as usize);
            before = rows;
        })?
    };
    let encoded = arguments
        .encode
        .map(|encoding| match encoding {
            Encoding::Default => {
                let table = feed.whole()?;
                Encoded::default(&table, &arguments.ignore)
                    .map_err(|error| error.at(arguments.read.data.join(", ")))
            }
            Encoding::Paper => Encoded::paper(preset(arguments)?),
        })
        .transpose()?;
    if arguments.json {
        let mut document = json!({
            "version": VERSION,
            "rows": summary.rows,
            "columns": summary.columns,
        });
        if let Some(encoded) = &encoded {
            document["encoding"] = encoded.json();
        }
        return output::print_json(&document);
    }
    for notice in encoded.iter().flat_map(|encoded| &encoded.notices) {
        output::notice(notice);
    }
    if table::one_column(summary.columns.iter().map(|column| column.name.as_str())) {
        output::notice(
            "there is one column: is it the right --delimiter? (--delimiter ' ' for spaces)",
        );
    }
    let described = printed(&summary);
    let features = encoded.map_or(String::new(), |encoded| encoded.printed());
    output::print(&format!("{described}{features}"))
}

/// The paper's preparation of the one shipped dataset that is described.
fn preset(arguments: &Describe) -> Result<Preset> {
    let refused = |message: &str| {
        Error::new(ErrorKind::Settings, format!("--encode paper {message}"))
            .help("as in `fairgame data describe @adult --encode paper`")
    };
    let [data] = arguments.read.data.as_slice() else {
        return Err(refused("prepares one dataset, and several are given"));
    };
    if !data.starts_with('@') {
        return Err(refused(&format!("is for a shipped dataset, which `{data}` is not")));
    }
    if !arguments.ignore.is_empty()
        || arguments.read.format.options(&Missing::default()) != ReadOptions::default()
    {
        return Err(refused("says itself how to read the data and which columns to ignore"));
    }
    Preset::find(data)
}

fn printed(summary: &Summary) -> String {
    let mut rows = output::table(&["column", "type", "missing", "distinct", "values"]);
    for column in &summary.columns {
        rows.add_row([
            shown(&column.name).into_owned(),
            column.kind.to_string(),
            percent(column.missing_share),
            format!("{}{}", if column.approximate { "about " } else { "" }, column.distinct),
            values(column),
        ]);
    }
    right(&mut rows, &[2, 3]);
    let columns = summary.columns.len();
    format!("{}, {}\n{rows}\n", count(summary.rows, "row"), count(columns, "column"))
}

/// The range of numbers, or the most frequent values.
fn values(column: &ColumnSummary) -> String {
    if let Some(range) = column.range {
        let [min, median, max, mean] = [range.min, range.median, range.max, range.mean].map(short);
        return format!("{min} to {max}, median {median}, mean {mean}");
    }
    let mut shown: Vec<String> = column
        .top
        .iter()
        .map(|top| format!("{} {}", shown(&top.value), percent(top.share)))
        .collect();
    if column.distinct > column.top.len() {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}

fn right(table: &mut comfy_table::Table, columns: &[usize]) {
    for &column in columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// The features that a model would see.
struct Encoded {
    encoder: Encoder,
    features: Features,
    notices: Vec<Notice>,
    /// For the paper's preparation: test rows, share of positives, and the paper's own sizes.
    paper: Option<(usize, f64, Preset)>,
}

impl Encoded {
    fn default(table: &Table, ignore: &[String]) -> Result<Self> {
        let spec = EncoderSpec { ignore: ignore.to_vec(), ..EncoderSpec::default() };
        let (encoder, notices) = Encoder::fit(&spec, table)?;
        let features = encoder.encode(table)?;
        Ok(Encoded { encoder, features, notices, paper: None })
    }

    fn paper(preset: Preset) -> Result<Self> {
        let prepared = preset.prepare(SEED)?;
        let label = &prepared.train.label;
        let positive = label.iter().filter(|&&label| label).count() as f64 / label.len() as f64;
        Ok(Encoded {
            encoder: prepared.encoder,
            features: prepared.train.features,
            notices: prepared.notices,
            paper: Some((prepared.test.table.rows(), positive, preset)),
        })
    }

    fn json(&self) -> Value {
        let mut document = json!({
            "features": self.encoder.width(),
            "codes_per_row": self.features.slots(),
            "numbers_per_row": self.features.numbers(),
            "bytes": self.features.bytes(),
            "names": self.encoder.names(),
            "notices": self.notices,
            "train_rows": self.features.rows(),
        });
        if let Some((test_rows, positive, Preset { paper, .. })) = self.paper {
            document["test_rows"] = json!(test_rows);
            document["positive_share"] = json!(positive);
            document["paper"] = json!({
                "features": paper.features, "train_rows": paper.train, "test_rows": paper.test,
            });
        }
        document
    }

    fn printed(&self) -> String {
        let (width, codes, numbers) =
            (self.encoder.width(), self.features.slots(), self.features.numbers());
        let mut text = format!("\n{width} features: {codes} codes and {numbers} numbers a row\n");
        if let Some((test_rows, positive, Preset { paper, .. })) = self.paper {
            let mut rows = output::table(&["", "training rows", "test rows", "features"]);
            let sizes = [self.features.rows(), test_rows, width].map(|size| size.to_string());
            rows.add_row(["here", &sizes[0], &sizes[1], &sizes[2]]);
            let sizes = [paper.train, paper.test, paper.features].map(|size| size.to_string());
            rows.add_row(["in the paper", &sizes[0], &sizes[1], &sizes[2]]);
            right(&mut rows, &[1, 2, 3]);
            text += &format!("{} of the training rows are positive\n{rows}\n", percent(positive));
        }
        for name in self.encoder.names() {
            text += &format!("  {}\n", shown(&name));
        }
        text
    }
}

/// Draws the test rows of datasets that have no official ones.
const SEED: u64 = 1;

fn export(arguments: &Export) -> Result<()> {
    let family = Shipped::family(&arguments.name)
        .map_err(|error| error.at("export writes shipped datasets"))?;
    fs::create_dir_all(&arguments.folder).map_err(|error| {
        Error::new(ErrorKind::Io, format!("the folder cannot be made: {error}"))
            .help("give a folder, or a path where a folder can be made")
            .at(arguments.folder.display())
    })?;
    let path = |entry: &Shipped| {
        let name = entry.name.replace('/', "-");
        arguments.folder.join(format!("{name}.{}", arguments.format.ending()))
    };
    if let Some(taken) = family.iter().map(path).find(|path| path.exists() && !arguments.force) {
        return Err(Error::new(ErrorKind::Io, "the file is there already")
            .help("choose another folder, or overwrite it (--force)")
            .at(taken.display()));
    }
    let mut files = Vec::new();
    for entry in family {
        let table = shipped(entry)?;
        table::write(&table, &path(&entry), arguments.format)?;
        files.push(written(&path(&entry), &table));
    }
    if arguments.json {
        return output::print_json(&json!({ "version": VERSION, "files": files }));
    }
    let lines = files.iter().map(|file| {
        format!("{}: {} rows\n", file["path"].as_str().unwrap_or_default(), file["rows"])
    });
    output::print(&lines.collect::<String>())
}

fn written(path: &Path, table: &Table) -> Value {
    json!({ "path": path.display().to_string(), "rows": table.rows() })
}
