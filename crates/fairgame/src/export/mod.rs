//! A classifier as an ONNX graph: encoder, all members and their weights, so that other programs decide as we do.
//!
//! | output | is |
//! |---|---|
//! | `probability` | the chance of a positive decision, Σ_k p_k·1{f_k(x) > t_k} |
//! | `score` | the mean score above the thresholds, Σ_k p_k·(f_k(x) − t_k) |
//!
//! Each column that decides is an input of shape [rows, 1]: a number is a double, and missing where it is NaN; a truth value
//! is a double of 1, 0 or NaN; a category is a text, and missing where it is empty or a marker of missing values ([`Missing`](crate::table::Missing)).
//! A number that is such a marker is missing, too. The graph has operators of opset 15, and
//! of `ai.onnx.ml` 3 for categories and trees.
//!
//! The decision itself is no output. It compares the probability with a hash of an identifier's text or of the row's
//! features, and ONNX has no operators on the bytes of a text. A caller who draws a number u in [0, 1) for a person decides
//! positive where u is below the probability.
//!
//! Numbers are encoded in doubles, as we do, so codes and bins are the same. Sums of leaves and weights are in 32 bits and in
//! the runtime's own order: scores agree to about 1e-6, and a row that is as close to a threshold may have another
//! probability.

mod encoded;
mod graph;
mod model;
mod proto;

use std::collections::{BTreeMap, BTreeSet};

use prost::Message;

use crate::classifier::{Blend, Classifier};
use crate::encode::Map;
use crate::table::Kind;
use crate::{Error, ErrorKind, Result};
use encoded::Inputs;
use graph::{Builder, Place};
use proto::{Element, Given, Tensor};

/// The version of the format, of the operators, and of those for trees and labels.
const IR: i64 = 8;
const OPSET: i64 = 15;
const ML_OPSET: i64 = 3;

/// What an export came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// The graph, as a file has it.
    pub bytes: Vec<u8>,
    /// Its inputs: each column, and what it was in training.
    pub inputs: Vec<(String, Kind)>,
    /// How many operators it has.
    pub operators: usize,
}

/// A model that cannot be a graph, and why.
fn refused(why: String) -> Error {
    Error::new(ErrorKind::Settings, format!("the model cannot be written as ONNX: {why}"))
}

/// Writes a classifier as an ONNX graph.
///
/// # Errors
/// If a model is a lattice or of the caller's own, or if groups are told by the order of texts.
pub fn onnx(classifier: &Classifier) -> Result<Exported> {
    let mut graph = Builder::default();
    let kinds = classifier.kinds();
    for name in ["probability", "score"] {
        if kinds.contains_key(name) {
            return Err(refused(format!("column `{name}` is named like an output"))
                .help("rename the column, and train again"));
        }
    }
    let mut categories: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (column, map) in classifier.views().iter().flat_map(|view| view.encoder.maps()) {
        if let Map::Values { values, .. } = map {
            categories.entry(column.to_owned()).or_default().extend(values.iter().cloned());
        }
    }
    let inputs = Inputs::new(&kinds, &classifier.missing(), categories, &mut graph);
    // Any input that is a number of rows long.
    let Some(like) = kinds.keys().next().map(|name| Place(name.clone())) else {
        return Err(refused("it has no features".to_owned()));
    };
    let like = &like;
    let seen = classifier
        .views()
        .iter()
        .map(|view| model::seen(view, &inputs, like, &mut graph))
        .collect::<Result<Vec<_>>>()?;
    let members = classifier.members();
    let mut scores = Vec::with_capacity(members.len());
    for member in members {
        let score = model::score(&seen[member.view], member, like, &mut graph)?;
        let threshold = graph.float(member.threshold);
        scores.push(graph.op("Sub", &[&score, &threshold]));
    }
    // One group of members for each decision: in a blend of means, those of a column decide together.
    let together = |a: usize, b: usize| {
        classifier.blend() == Blend::Mean && members[a].column == members[b].column
    };
    let mut group_of = vec![0; members.len()];
    for at in 1..members.len() {
        group_of[at] = group_of[at - 1] + usize::from(!together(at - 1, at));
    }
    let groups = group_of.last().map_or(0, |last| last + 1);
    let mut weights = vec![0.0; groups];
    group_of.iter().zip(members).for_each(|(&group, member)| weights[group] += member.weight);
    let mut shares = vec![0.0; members.len() * groups];
    for (at, (&group, member)) in group_of.iter().zip(members).enumerate() {
        shares[at * groups + group] = member.weight / weights[group];
    }
    let all = graph.beside(&scores);
    let all = graph.cast(&all, Element::Double);
    let shares = graph.constant(Tensor::doubles(&[members.len(), groups], &shares));
    let means = graph.op("MatMul", &[&all, &shares]);
    let weights = graph.constant(Tensor::doubles(&[groups, 1], &weights));
    let score = graph.op("MatMul", &[&means, &weights]);
    let zero = graph.double(0.0);
    let votes = graph.op("Greater", &[&means, &zero]);
    let votes = graph.cast(&votes, Element::Double);
    let chance = graph.op("MatMul", &[&votes, &weights]);
    // Where all agree it is certain, however weights round.
    let (one, every) = (graph.double(1.0), graph.double(groups as f64 - 0.5));
    let count = graph.row_sum(&votes);
    let agreed = graph.op("Greater", &[&count, &every]);
    let chance = graph.op("Min", &[&chance, &one]);
    let chance = graph.op("Where", &[&agreed, &one, &chance]);
    let named = |from: &Place, to: &str, graph: &mut Builder| {
        let made = graph.op_with("Identity", &[from], Vec::<(&str, Given)>::new());
        if let Some(node) = graph.nodes.last_mut() {
            debug_assert_eq!(node.output, [made.0]);
            node.output = vec![to.to_owned()];
        }
    };
    named(&chance, "probability", &mut graph);
    named(&score, "score", &mut graph);
    let operators = graph.nodes.len();
    let bytes = document(classifier, graph, &kinds).encode_to_vec();
    Ok(Exported { bytes, inputs: kinds.into_iter().collect(), operators })
}

fn document(
    classifier: &Classifier,
    graph: Builder,
    kinds: &BTreeMap<String, Kind>,
) -> proto::Model {
    let input = |(name, kind): (&String, &Kind)| {
        let (element, doc) = match kind {
            Kind::Number => (Element::Double, "a number; NaN is missing"),
            Kind::Boolean => (Element::Double, "1 is true, 0 is false; NaN is missing"),
            Kind::Category => (
                Element::Text,
                "a category; an empty text and the markers of missing values are missing",
            ),
        };
        proto::ValueInfo::column(name, element, doc)
    };
    let output = |name, doc| proto::ValueInfo::column(name, Element::Double, doc);
    let bound = classifier.bound();
    let constraints: Vec<&str> = bound.constraints().iter().map(|one| one.name()).collect();
    let entry = |key: &str, value: String| proto::Entry { key: key.to_owned(), value };
    proto::Model {
        ir_version: IR,
        opset_import: [("", OPSET), ("ai.onnx.ml", ML_OPSET)]
            .map(|(domain, version)| proto::OperatorSet { domain: domain.to_owned(), version })
            .into(),
        producer_name: "fairgame".to_owned(),
        producer_version: env!("CARGO_PKG_VERSION").to_owned(),
        doc_string: "A classifier trained under constraints: decide a person positive where a number drawn for that \
                     person, uniform in [0, 1), is below `probability`."
            .to_owned(),
        graph: Some(proto::Graph {
            node: graph.nodes,
            name: "fairgame".to_owned(),
            initializer: graph.constants,
            input: kinds.iter().map(input).collect(),
            output: vec![
                output("probability", "the chance of a positive decision"),
                output("score", "the mean score above the thresholds"),
            ],
        }),
        metadata_props: vec![
            entry("label", bound.frozen().label.clone()),
            entry("objective", bound.objective().to_owned()),
            entry("constraints", constraints.join("\n")),
        ],
    }
}
