//! `fairgame report`: what a model file remembers, as a page.

use std::path::{Path, PathBuf};

use clap::Args;
use fairgame::classifier::Classifier;
use fairgame::{Result, table};
use fairgame_report as page;
use serde_json::json;

use crate::output;
use crate::verdict::Verdict;

pub(crate) const EXAMPLES: &str = "\
Examples:
  fairgame report adult.safetensors -o report.html
  fairgame report one.safetensors two.safetensors -o compared.html

The page needs no network and holds no rows of the data. All of it is from the model file, in which
`fairgame train` keeps how the model was trained and how it did.";

#[derive(Args)]
pub(crate) struct Report {
    /// Model files
    #[arg(required = true, value_name = "MODEL")]
    models: Vec<PathBuf>,

    /// Where the page is written
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
    write(&models, &arguments.output)?;
    if arguments.json {
        output::print_json(&json!({
            "version": output::VERSION, "models": arguments.models, "output": arguments.output,
        }))?;
    } else if !arguments.quiet {
        output::notice(format!("the report is in {}", arguments.output.display()));
    }
    Ok(Verdict::Met)
}

/// Writes a page about these models.
pub(crate) fn write(models: &[(String, Classifier)], path: &Path) -> Result<()> {
    table::write_text(path, &page::Report::of_classifiers(models)?.to_html())
}
