//! Views and members: from encoded columns to scores.

use std::collections::BTreeMap;

use super::encoded::{Coded, Inputs, condition, encoded};
use super::graph::{Builder, Place};
use super::proto::{Element, Given, Tensor};
use super::refused;
use crate::Result;
use crate::classifier::{LogOdds, Member, View};
use crate::model::trees::{Bins, Branch, Forest, TreeColumn};
use crate::model::{AnyModel, ScoreScale};

/// What members of a view decide by.
pub(super) enum Seen {
    /// Encoded columns, and the model over them.
    Columns { coded: Vec<Coded>, model: AnyModel },
    /// The class of each row as a list, and one and the probabilities beside each other.
    Rule { class: Place, gains: Place, classes: usize, width: usize },
}

/// What the members of a view see.
pub(super) fn seen(
    view: &View,
    inputs: &Inputs,
    like: &Place,
    graph: &mut Builder,
) -> Result<Seen> {
    let coded = encoded(&view.encoder, inputs, graph)?;
    let Some(probabilities) = &view.probabilities else {
        return Ok(Seen::Columns { coded, model: view.model.clone() });
    };
    let one = graph.filled(like, 1.0);
    let mut gains = vec![one];
    for probability in probabilities.models() {
        let log_odds = match &probability.scorer {
            LogOdds::Trees(Some(forest)) => {
                let bins = probabilities.bins();
                let bins = bins.ok_or_else(|| refused("trees have no bins".to_owned()))?;
                trees(forest, bins, &coded, like, graph)?
            }
            LogOdds::Trees(None) => return Err(refused("its trees are not there".to_owned())),
            LogOdds::Model { model, theta } => scored(model, theta, &coded, graph)?,
            LogOdds::Score { number, scale } => given(*number, *scale, &coded, graph)?,
        };
        // In doubles, as we do it.
        let (slope, shift) = (graph.double(probability.slope), graph.double(probability.shift));
        let log_odds = graph.cast(&log_odds, Element::Double);
        let log_odds = graph.op("Mul", &[&log_odds, &slope]);
        let log_odds = graph.op("Add", &[&log_odds, &shift]);
        let found = graph.op("Sigmoid", &[&log_odds]);
        gains.push(graph.cast(&found, Element::Float));
    }
    let width = gains.len();
    let gains = graph.beside(&gains);
    let patterns = probabilities.classes().patterns();
    let class = class(probabilities.classes().known(), &patterns, inputs, like, graph)?;
    Ok(Seen::Rule { class, gains, classes: patterns.len(), width })
}

/// The class of each row: the first whose pattern differs in the fewest conditions.
fn class(
    predicates: &[crate::table::Predicate],
    patterns: &[Vec<bool>],
    inputs: &Inputs,
    like: &Place,
    graph: &mut Builder,
) -> Result<Place> {
    if predicates.is_empty() {
        let zeros = graph.filled(like, 0.0);
        let zeros = graph.cast(&zeros, Element::Int64);
        return Ok(graph.listed(&zeros));
    }
    let mut met = Vec::with_capacity(predicates.len());
    for predicate in predicates {
        let own = condition(predicate, inputs, graph)?;
        met.push(graph.cast(&own, Element::Float));
    }
    let met = graph.beside(&met);
    // With b the pattern of a class, |met − b| = met·(1 − 2b) + b, summed over conditions.
    let (count, classes) = (predicates.len(), patterns.len());
    let mut slopes = vec![0.0; count * classes];
    for (class, pattern) in patterns.iter().enumerate() {
        for (at, met) in pattern.iter().enumerate() {
            slopes[at * classes + class] = if *met { -1.0 } else { 1.0 };
        }
    }
    let base: Vec<f32> =
        patterns.iter().map(|pattern| pattern.iter().filter(|met| **met).count() as f32).collect();
    let slopes = graph.constant(Tensor::floats(&[count, classes], &slopes));
    let base = graph.constant(Tensor::floats(&[1, classes], &base));
    let apart = graph.op("MatMul", &[&met, &slopes]);
    let apart = graph.op("Add", &[&apart, &base]);
    let given = vec![("axis", Given::Int(1)), ("keepdims", Given::Int(0))];
    Ok(graph.op_with("ArgMin", &[&apart], given))
}

/// The score that a member gives each row, not yet less its threshold.
pub(super) fn score(
    seen: &Seen,
    member: &Member,
    _like: &Place,
    graph: &mut Builder,
) -> Result<Place> {
    let theta = member.hypothesis.theta();
    match seen {
        Seen::Columns { coded, model } => scored(model, theta, coded, graph),
        Seen::Rule { class, gains, classes, width } => {
            let own = graph.lines(Tensor::floats(&[*classes, *width], theta), class);
            let each = graph.op("Mul", &[&own, gains]);
            Ok(graph.row_sum(&each))
        }
    }
}

/// The scores of another model, as log-odds.
fn given(number: usize, scale: ScoreScale, coded: &[Coded], graph: &mut Builder) -> Result<Place> {
    let numbers = coded.iter().filter_map(|one| match one {
        Coded::Number { value, .. } => Some(value),
        Coded::Code { .. } => None,
    });
    let value = numbers.clone().nth(number);
    let value = value.ok_or_else(|| refused("its score is no number".to_owned()))?;
    if scale == ScoreScale::LogOdds {
        return Ok(value.clone());
    }
    let wide = graph.cast(value, Element::Double);
    let ends = [1e-6, 1.0 - 1e-6].map(|end| graph.double(end));
    let near = graph.op("Clip", &[&wide, &ends[0], &ends[1]]);
    let one = graph.double(1.0);
    let rest = graph.op("Sub", &[&one, &near]);
    let odds = graph.op("Div", &[&near, &rest]);
    let log = graph.op("Log", &[&odds]);
    Ok(graph.cast(&log, Element::Float))
}

/// The score of a model over encoded columns.
fn scored(model: &AnyModel, theta: &[f32], coded: &[Coded], graph: &mut Builder) -> Result<Place> {
    match model {
        AnyModel::Linear(_) => Ok(layer(coded, theta, 1, graph)),
        AnyModel::Mlp(network) => {
            let units = network.padded();
            let inner = theta.len() - units - 1;
            let hidden = layer(coded, &theta[..inner], units, graph);
            let hidden = graph.op("Relu", &[&hidden]);
            let output = graph.constant(Tensor::floats(&[units, 1], &theta[inner..inner + units]));
            let score = graph.op("MatMul", &[&hidden, &output]);
            let last = graph.float(theta[inner + units]);
            Ok(graph.op("Add", &[&score, &last]))
        }
        AnyModel::Lattice(_) => Err(refused("a lattice has no operators of its own".to_owned())
            .help("train another model: `trees`, `mlp` or `linear`")),
        AnyModel::Rule(_) => Err(refused("a rule stands where a model should".to_owned())),
        AnyModel::Own(_) => Err(refused("it is a model of the caller's own".to_owned())),
    }
}

/// b + Σ_codes W[code] + Σ_j x_j·W[weights + j], with W and b one after the other, `units` wide.
fn layer(coded: &[Coded], theta: &[f32], units: usize, graph: &mut Builder) -> Place {
    let line = |at: usize| &theta[at * units..(at + 1) * units];
    let mut at = 0;
    let (mut sums, mut numbers) = (Vec::new(), Vec::new());
    for one in coded {
        match one {
            Coded::Number { value, missing } => {
                numbers.push(value.clone());
                if let Some(missing) = missing {
                    let on = graph.cast(missing, Element::Float);
                    let own = graph.constant(Tensor::floats(&[1, units], line(at)));
                    sums.push(graph.op("Mul", &[&on, &own]));
                    at += 1;
                }
            }
            Coded::Code { place, count, steps } => {
                // Steps are climbed: each has all weights below it, too. What is silent adds nothing.
                let mut table = theta[at * units..(at + count) * units].to_vec();
                for step in 1..*steps {
                    for unit in 0..units {
                        table[step * units + unit] += table[(step - 1) * units + unit];
                    }
                }
                table.extend(vec![0.0; units]);
                let list = graph.listed(place);
                sums.push(graph.lines(Tensor::floats(&[count + 1, units], &table), &list));
                at += count;
            }
        }
    }
    if !numbers.is_empty() {
        let matrix = &theta[at * units..(at + numbers.len()) * units];
        let matrix = graph.constant(Tensor::floats(&[numbers.len(), units], matrix));
        let all = graph.beside(&numbers);
        sums.push(graph.op("MatMul", &[&all, &matrix]));
        at += numbers.len();
    }
    let bias = graph.constant(Tensor::floats(&[1, units], line(at)));
    sums.into_iter().fold(bias, |sum, one| graph.op("Add", &[&sum, &one]))
}

/// Beyond every number, and beyond every threshold that all numbers are below.
const FARTHEST: f32 = f32::MAX;
const BEYOND: f32 = 1e37;

/// The log-odds of trees.
///
/// The operator compares numbers with thresholds. Of each column it sees two numbers: one is greater than every threshold
/// where the value is missing, and the other less. Of each set of categories it sees 0 for its members and 1 for others.
fn trees(
    forest: &Forest,
    bins: &Bins,
    coded: &[Coded],
    like: &Place,
    graph: &mut Builder,
) -> Result<Place> {
    if forest.trees() == 0 {
        return Ok(graph.filled(like, forest.base()));
    }
    let columns = bins.tree_columns();
    if columns.len() != coded.len() {
        return Err(refused("its trees are of other columns".to_owned()));
    }
    // What each column is where missing values go right, and where they go left; codes of categories as a list.
    let mut seen: Vec<Place> = Vec::new();
    let mut lists: Vec<Option<Place>> = Vec::new();
    for (column, one) in columns.iter().zip(coded) {
        match (column, one) {
            (TreeColumn::Number { .. }, Coded::Number { value, missing }) => {
                let ends = [FARTHEST, -FARTHEST].map(|end| match missing {
                    None => value.clone(),
                    Some(missing) => {
                        let end = graph.float(end);
                        graph.op("Where", &[missing, &end, value])
                    }
                });
                seen.extend(ends);
                lists.push(None);
            }
            (TreeColumn::Codes { codes, silent }, Coded::Code { place, count, .. }) => {
                let mut table: Vec<i64> = codes.iter().map(|code| i64::from(*code)).collect();
                table.resize(*count, i64::from(*silent));
                table.push(i64::from(*silent));
                let list = graph.listed(place);
                let code = graph.lines(Tensor::ints(&[count + 1], &table), &list);
                let axes = graph.constant(Tensor::ints(&[1], &[1]));
                let upright = graph.op("Unsqueeze", &[&code, &axes]);
                let number = graph.cast(&upright, Element::Float);
                let (absent, below) = (graph.float(255.0), graph.float(-1.0));
                let is_absent = graph.op("Equal", &[&number, &absent]);
                let left = graph.op("Where", &[&is_absent, &below, &number]);
                seen.extend([number, left]);
                lists.push(Some(code));
            }
            _ => return Err(refused("its trees are of other columns".to_owned())),
        }
    }
    // The sets of each column, in the order in which they are first met.
    let mut sets: BTreeMap<usize, Vec<[u64; 4]>> = BTreeMap::new();
    for branch in forest.branches() {
        if let Some(set) = branch.set {
            let own = sets.entry(branch.column).or_default();
            if !own.contains(&set) {
                own.push(set);
            }
        }
    }
    let mut first_of: BTreeMap<usize, usize> = BTreeMap::new();
    let mut width = seen.len();
    for (&column, own) in &sets {
        let list = lists[column].as_ref();
        let list = list.ok_or_else(|| refused("a number is split by a set".to_owned()))?;
        first_of.insert(column, width);
        width += own.len();
        let member = |code: usize, set: &[u64; 4]| set[code / 64] >> (code % 64) & 1 == 1;
        let table: Vec<f32> = (0..256)
            .flat_map(|code| own.iter().map(move |set| if member(code, set) { 0.0 } else { 1.0 }))
            .collect();
        seen.push(graph.lines(Tensor::floats(&[256, own.len()], &table), list));
    }
    let place_of = |branch: &Branch| -> (usize, f32) {
        match branch.set {
            Some(set) => {
                let own = &sets[&branch.column];
                let at = own.iter().position(|one| *one == set).unwrap_or(0);
                (first_of[&branch.column] + at, 0.5)
            }
            None => {
                let threshold = match (&columns[branch.column], branch.level) {
                    (_, None) => -BEYOND,
                    (TreeColumn::Number { cuts }, Some(level)) => {
                        cuts.get(level).copied().unwrap_or(BEYOND)
                    }
                    (TreeColumn::Codes { .. }, Some(level)) => level as f32 + 0.5,
                };
                (2 * branch.column + usize::from(branch.missing_left), threshold)
            }
        }
    };
    let nodes = Nodes::of(forest, place_of);
    let all = graph.beside(&seen);
    Ok(graph.ml("TreeEnsembleRegressor", &[&all], nodes.given(forest.base())))
}

/// The nodes of all trees, as the operator has them.
#[derive(Default)]
struct Nodes {
    tree: Vec<i64>,
    node: Vec<i64>,
    feature: Vec<i64>,
    threshold: Vec<f32>,
    left: Vec<i64>,
    right: Vec<i64>,
    leaf: Vec<bool>,
    leaf_tree: Vec<i64>,
    leaf_node: Vec<i64>,
    weight: Vec<f32>,
}

impl Nodes {
    fn of(forest: &Forest, place_of: impl Fn(&Branch) -> (usize, f32)) -> Self {
        let mut nodes = Nodes::default();
        for tree in 0..forest.trees() {
            // A node and where it is told to its parent: the parent's place here, and whether it is the left child.
            let mut open = vec![(forest.root(tree), None)];
            let (first, mut next) = (nodes.node.len(), 0);
            while let Some((child, parent)) = open.pop() {
                let own = next;
                next += 1;
                if let Some((parent, left)) = parent {
                    let side = if left { &mut nodes.left } else { &mut nodes.right };
                    side[first + parent as usize] = own;
                }
                let (feature, threshold, leaf) = match child {
                    Ok(split) => {
                        let branch = forest.branch(split);
                        // The left child is numbered next.
                        open.push((branch.children[1], Some((own, false))));
                        open.push((branch.children[0], Some((own, true))));
                        let (feature, threshold) = place_of(&branch);
                        (feature, threshold, false)
                    }
                    Err(value) => {
                        nodes.leaf_tree.push(tree as i64);
                        nodes.leaf_node.push(own);
                        nodes.weight.push(value);
                        (0, 0.0, true)
                    }
                };
                nodes.tree.push(tree as i64);
                nodes.node.push(own);
                nodes.feature.push(feature as i64);
                nodes.threshold.push(threshold);
                nodes.left.push(0);
                nodes.right.push(0);
                nodes.leaf.push(leaf);
            }
        }
        nodes
    }

    fn given(self, base: f32) -> Vec<(&'static str, Given)> {
        let mode = |leaf: &bool| if *leaf { b"LEAF".to_vec() } else { b"BRANCH_LEQ".to_vec() };
        let modes = self.leaf.iter().map(mode).collect();
        vec![
            ("n_targets", Given::Int(1)),
            ("aggregate_function", Given::Text("SUM")),
            ("post_transform", Given::Text("NONE")),
            ("base_values", Given::Floats(vec![base])),
            ("nodes_treeids", Given::Ints(self.tree)),
            ("nodes_nodeids", Given::Ints(self.node)),
            ("nodes_featureids", Given::Ints(self.feature)),
            ("nodes_modes", Given::Texts(modes)),
            ("nodes_values", Given::Floats(self.threshold)),
            ("nodes_truenodeids", Given::Ints(self.left)),
            ("nodes_falsenodeids", Given::Ints(self.right)),
            ("target_treeids", Given::Ints(self.leaf_tree.clone())),
            ("target_nodeids", Given::Ints(self.leaf_node)),
            ("target_ids", Given::Ints(vec![0; self.leaf_tree.len()])),
            ("target_weights", Given::Floats(self.weight)),
        ]
    }
}
