//! Columns as a view's encoder has them, and the conditions on columns that classes are made of.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::{Builder, Place};
use super::proto::{Element, Tensor};
use super::refused;
use crate::Result;
use crate::encode::{Encoder, FAR, Map, Steps};
use crate::table::{Comparison, Kind, Missing, Predicate, Value};

/// The inputs of the graph.
pub(super) struct Inputs {
    /// By column.
    pub(super) columns: BTreeMap<String, (Kind, Place)>,
    /// The texts that mean missing.
    markers: Vec<String>,
    /// The texts that were categories in training, by column. A marker among them is a category: frames of Python have no
    /// markers.
    categories: BTreeMap<String, BTreeSet<String>>,
}

impl Inputs {
    /// Inputs that have the names of their columns. Numbers that mean missing become NaN.
    pub(super) fn new(
        kinds: &BTreeMap<String, Kind>,
        missing: &Missing,
        categories: BTreeMap<String, BTreeSet<String>>,
        graph: &mut Builder,
    ) -> Inputs {
        let mut column = |(name, kind): (&String, &Kind)| {
            let mut place = Place(name.clone());
            if *kind == Kind::Number {
                for &marker in missing.numbers() {
                    let (marker, nan) = (graph.double(marker), graph.double(f64::NAN));
                    let absent = graph.op("Equal", &[&place, &marker]);
                    place = graph.op("Where", &[&absent, &nan, &place]);
                }
            }
            (name.clone(), (*kind, place))
        };
        let columns = kinds.iter().map(&mut column).collect();
        Inputs { columns, markers: missing.all_texts(), categories }
    }

    fn get(&self, column: &str) -> Result<&(Kind, Place)> {
        self.columns.get(column).ok_or_else(|| refused(format!("column `{column}` is no input")))
    }

    /// A whole number for each known text, one for all that mean missing, and one for all others.
    fn labels<'a>(
        &'a self,
        (column, input): (&str, &Place),
        mut known: Vec<(&'a str, i64)>,
        (other, absent): (i64, i64),
        graph: &mut Builder,
    ) -> Place {
        let texts: BTreeSet<&str> = known.iter().map(|(text, _)| *text).collect();
        let category = |text: &str| {
            texts.contains(text)
                || self.categories.get(column).is_some_and(|all| all.contains(text))
        };
        let markers = self.markers.iter().map(String::as_str);
        known.extend(markers.filter(|text| !category(text)).map(|text| (text, absent)));
        graph.labels(input, &known, other)
    }
}

/// What one feature of an encoder becomes.
pub(super) enum Coded {
    /// A number, and where it is missing if training had such rows.
    Number { value: Place, missing: Option<Place> },
    /// A place among so many weights; their number is silence.
    Code { place: Place, count: usize, steps: usize },
}

/// What an encoder makes of the inputs, feature by feature.
pub(super) fn encoded(
    encoder: &Encoder,
    inputs: &Inputs,
    graph: &mut Builder,
) -> Result<Vec<Coded>> {
    let mut all = Vec::new();
    for (column, map) in encoder.maps() {
        let (kind, input) = inputs.get(column)?;
        all.push(match map {
            Map::Number { shift, scale, fill, missing } => {
                let (shift, scale) = (graph.double(*shift), graph.double(*scale));
                let moved = graph.op("Sub", &[input, &shift]);
                let moved = graph.op("Mul", &[&moved, &scale]);
                let absent = graph.op("IsNaN", &[input]);
                let fill = graph.double(*fill);
                let whole = graph.op("Where", &[&absent, &fill, &moved]);
                let ends = [-FAR, FAR].map(|end| graph.double(end));
                let near = graph.op("Clip", &[&whole, &ends[0], &ends[1]]);
                let value = graph.cast(&near, Element::Float);
                Coded::Number { value, missing: missing.then_some(absent) }
            }
            Map::Buckets { cuts, steps, missing } => {
                let first = usize::from(*steps == Steps::Single);
                let count = first + cuts.len() + usize::from(*missing);
                let row = graph.constant(Tensor::doubles(&[1, cuts.len()], cuts));
                let above = graph.op("Greater", &[input, &row]);
                let above = graph.cast(&above, Element::Int64);
                let mut place = graph.row_sum(&above);
                if *steps == Steps::Cumulative {
                    // Below the first step is silence.
                    let (zero, one, silent) = (graph.int(0), graph.int(1), graph.int(count as i64));
                    let below = graph.op("Equal", &[&place, &zero]);
                    let step = graph.op("Sub", &[&place, &one]);
                    place = graph.op("Where", &[&below, &silent, &step]);
                }
                let absent = graph.int(if *missing { count - 1 } else { count } as i64);
                let is_absent = graph.op("IsNaN", &[input]);
                let place = graph.op("Where", &[&is_absent, &absent, &place]);
                let steps = if *steps == Steps::Cumulative { cuts.len() } else { 0 };
                Coded::Code { place, count, steps }
            }
            Map::Values { values, pooled, missing } => {
                let count = values.len() + usize::from(*pooled) + usize::from(*missing);
                let other = if *pooled { values.len() } else { count } as i64;
                let absent = if *missing { count - 1 } else { count } as i64;
                let known = values.iter().zip(0_i64..);
                let place = match kind {
                    Kind::Category => {
                        let known = known.map(|(value, place)| (value.as_str(), place)).collect();
                        inputs.labels((column, input), known, (other, absent), graph)
                    }
                    Kind::Number | Kind::Boolean => {
                        let number = |text: &str| match text {
                            "true" => Some(1.0),
                            "false" => Some(0.0),
                            text => text.parse::<f64>().ok(),
                        };
                        let known = known.filter_map(|(value, at)| Some((number(value)?, at)));
                        by_number(input, &known.collect::<Vec<_>>(), (other, absent), graph)
                    }
                };
                Coded::Code { place, count, steps: 0 }
            }
        });
    }
    Ok(all)
}

/// A whole number for each number, another for all others, and one for what is missing.
fn by_number(
    input: &Place,
    known: &[(f64, i64)],
    (other, absent): (i64, i64),
    graph: &mut Builder,
) -> Place {
    let keys: Vec<f64> = known.iter().map(|(key, _)| *key).collect();
    let values: Vec<i64> = known.iter().map(|(_, value)| value - other).collect();
    let keys = graph.constant(Tensor::doubles(&[1, keys.len()], &keys));
    let values = graph.constant(Tensor::ints(&[1, values.len()], &values));
    let (other, absent) = (graph.int(other), graph.int(absent));
    let equal = graph.op("Equal", &[input, &keys]);
    let equal = graph.cast(&equal, Element::Int64);
    let found = graph.op("Mul", &[&equal, &values]);
    let found = graph.row_sum(&found);
    let found = graph.op("Add", &[&found, &other]);
    let is_absent = graph.op("IsNaN", &[input]);
    graph.op("Where", &[&is_absent, &absent, &found])
}

/// Whether rows meet a condition.
pub(super) fn condition(
    predicate: &Predicate,
    inputs: &Inputs,
    graph: &mut Builder,
) -> Result<Place> {
    match predicate {
        Predicate::Compare { column, comparison, value } => {
            compared(column, *comparison, value, inputs, graph)
        }
        Predicate::In { column, values } => {
            let each = values
                .iter()
                .map(|value| compared(column, Comparison::Eq, value, inputs, graph))
                .collect::<Result<Vec<_>>>()?;
            joined("Or", each, graph)
        }
        Predicate::And(parts) | Predicate::Or(parts) => {
            let op = if matches!(predicate, Predicate::And(_)) { "And" } else { "Or" };
            let each = parts
                .iter()
                .map(|part| condition(part, inputs, graph))
                .collect::<Result<Vec<_>>>()?;
            joined(op, each, graph)
        }
        Predicate::Not(part) => {
            let part = condition(part, inputs, graph)?;
            Ok(graph.op("Not", &[&part]))
        }
    }
}

fn joined(op: &str, each: Vec<Place>, graph: &mut Builder) -> Result<Place> {
    let mut each = each.into_iter();
    let first = each.next().ok_or_else(|| refused("a condition is of no parts".to_owned()))?;
    Ok(each.fold(first, |all, one| graph.op(op, &[&all, &one])))
}

fn compared(
    column: &str,
    comparison: Comparison,
    value: &Value,
    inputs: &Inputs,
    graph: &mut Builder,
) -> Result<Place> {
    let (_, input) = inputs.get(column)?;
    let number = match value {
        Value::Text(text) => {
            let (same, other) = match comparison {
                Comparison::Eq => (1, 0),
                Comparison::Ne => (0, 1),
                _ => {
                    let message = format!("texts of column `{column}` are compared by their order");
                    return Err(refused(message));
                }
            };
            // What is missing is neither equal nor unequal to anything.
            let found =
                inputs.labels((column, input), vec![(text.as_str(), same)], (other, 0), graph);
            return Ok(graph.cast(&found, Element::Bool));
        }
        Value::Number(number) => *number,
        Value::Boolean(truth) => f64::from(u8::from(*truth)),
        Value::Quantile { column, .. } => {
            return Err(refused(format!("a quantile of column `{column}` is not known")));
        }
    };
    let number = graph.double(number);
    let pair = [input, &number];
    Ok(match comparison {
        Comparison::Eq => graph.op("Equal", &pair),
        Comparison::Ne => {
            let (same, absent) = (graph.op("Equal", &pair), graph.op("IsNaN", &[input]));
            let either = graph.op("Or", &[&same, &absent]);
            graph.op("Not", &[&either])
        }
        Comparison::Lt => graph.op("Less", &pair),
        Comparison::Le => graph.op("LessOrEqual", &pair),
        Comparison::Gt => graph.op("Greater", &pair),
        Comparison::Ge => graph.op("GreaterOrEqual", &pair),
    })
}
