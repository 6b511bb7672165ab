//! `fairgame export`: a model as an ONNX graph.

use std::path::PathBuf;

use clap::Args;
use fairgame::classifier::Classifier;
use fairgame::export::onnx;
use fairgame::table::write_bytes;
use fairgame::{Error, ErrorKind, Result};
use serde_json::json;

use crate::output;
use crate::verdict::Verdict;

pub(crate) const EXAMPLES: &str = "\
Examples:
  fairgame export model.safetensors model.onnx

The graph has an input for each feature, of shape [rows, 1]: numbers and booleans as doubles (NaN is missing), categories
as texts (an empty one is missing). Its outputs are `probability`, of a positive decision, and `score`, the mean
score. It has encoder, all models of the mixture and their weights, and needs opset 15 and ai.onnx.ml 3. Trees, networks,
linear models and scores of other models can be exported, lattices cannot.

The decision of `predict` is drawn by a hash of a text, for which ONNX has no operators: draw a number in [0, 1) for each
person, and decide positive where it is below `probability`.";

#[derive(Args)]
pub(crate) struct Export {
    /// The model file
    model: PathBuf,

    /// Where the graph is written; its name ends in .onnx
    #[arg(value_name = "OUT")]
    output: PathBuf,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Export) -> Result<Verdict> {
    if arguments.output.extension().is_none_or(|ending| ending != "onnx") {
        return Err(Error::new(
            ErrorKind::Settings,
            "the format is told by the name, and only ONNX is written",
        )
        .help("give a name that ends in .onnx")
        .at(arguments.output.display()));
    }
    output::check_distinct([arguments.model.as_path()], [arguments.output.as_path()])?;
    let classifier = Classifier::load(&arguments.model)?;
    let exported = onnx(&classifier)?;
    write_bytes(&arguments.output, &exported.bytes)?;
    if arguments.json {
        let input = |(column, kind): &(String, fairgame::table::Kind)| json!({ "column": column, "kind": kind.to_string() });
        output::print_json(&json!({
            "version": output::VERSION,
            "output": arguments.output,
            "bytes": exported.bytes.len(),
            "operators": exported.operators,
            "inputs": exported.inputs.iter().map(input).collect::<Vec<_>>(),
        }))?;
    } else {
        let inputs = output::count(exported.inputs.len(), "input");
        let operators = output::count(exported.operators, "operator");
        output::notice(format!("{inputs}, {operators} in {}", arguments.output.display()));
    }
    Ok(Verdict::Met)
}
