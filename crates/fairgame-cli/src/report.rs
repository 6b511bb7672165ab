//! `fairgame report`: what a model file remembers, as a page.

use std::path::{Path, PathBuf};

use clap::Args;
use fairgame::classifier::Classifier;
use fairgame::{Error, ErrorKind, Result, table};
use fairgame_report as page;
use serde_json::json;

use crate::output;
use crate::verdict::Verdict;

pub(crate) const EXAMPLES: &str = "\
Examples:
  fairgame report adult.safetensors -o report.html
  fairgame report one.safetensors two.safetensors -o compared.html
  fairgame report adult.safetensors -o rates.svg     # only the picture: rates of groups, without and with constraints

The page needs no network and holds no rows of the data. All of it is from the model file, in which
`fairgame train` keeps how the model was trained and how it did.";

#[derive(Args)]
pub(crate) struct Report {
    /// Model files
    #[arg(required = true, value_name = "MODEL")]
    models: Vec<PathBuf>,

    /// Where the page is written. A name that ends with .svg gets one picture: the rates of groups
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Say nothing but the result
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn run(arguments: &Report) -> Result<Verdict> {
    let mut models = Vec::new();
    for path in &arguments.models {
        let classifier = Classifier::load(path)?;
        let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy();
        models.push((name.into_owned(), classifier));
    }
    let inputs = arguments.models.iter().map(PathBuf::as_path);
    output::check_distinct(inputs, [arguments.output.as_path()])?;
    let is_picture =
        arguments.output.extension().is_some_and(|end| end.eq_ignore_ascii_case("svg"));
    if is_picture {
        picture(&models, &arguments.output)?;
    } else {
        write(&models, &arguments.output)?;
    }
    if arguments.json {
        output::print_json(&json!({
            "version": output::VERSION, "models": arguments.models, "output": arguments.output,
        }))?;
    } else if !arguments.quiet {
        let what = if is_picture { "picture" } else { "report" };
        output::notice(format!("the {what} is in {}", arguments.output.display()));
    }
    Ok(Verdict::Met)
}

/// Writes the picture of the rates of a model's groups.
pub(crate) fn picture(models: &[(String, Classifier)], path: &Path) -> Result<()> {
    let [(name, _)] = models else {
        return Err(Error::new(
            ErrorKind::Settings,
            "a picture is of one model, and there are several",
        )
        .help("name one model, or write a page: -o report.html"));
    };
    let report = page::Report::of_classifiers(models)?;
    let summary = report.models.first().and_then(|model| model.summary.as_ref());
    let svg = summary.and_then(page::Summary::rates_svg).ok_or_else(|| {
        Error::new(ErrorKind::Value, "the model file keeps no rates of groups")
            .help("train with constraints on rates, and keep the model file of that training")
            .at(name)
    })?;
    table::write_text(path, &svg)
}

/// Writes a page about these models.
pub(crate) fn write(models: &[(String, Classifier)], path: &Path) -> Result<()> {
    table::write_text(path, &page::Report::of_classifiers(models)?.to_html())
}
