//! A graph of operators, written down one after the other.

use super::proto::{Attribute, Element, Given, Node, Tensor};

/// The domain of operators for trees and labels.
const ML: &str = "ai.onnx.ml";

/// A value of the graph, by its name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Place(pub(super) String);

/// Operators and constants, in the order in which they were asked for.
#[derive(Default)]
pub(super) struct Builder {
    pub(super) nodes: Vec<Node>,
    pub(super) constants: Vec<Tensor>,
}

impl Builder {
    fn name(&self) -> String {
        // No column's name begins so: it would have to be typed.
        format!("\u{2}{}", self.nodes.len() + self.constants.len())
    }

    pub(super) fn constant(&mut self, tensor: Tensor) -> Place {
        let name = self.name();
        self.constants.push(Tensor { name: name.clone(), ..tensor });
        Place(name)
    }

    pub(super) fn float(&mut self, value: f32) -> Place {
        self.constant(Tensor::floats(&[], &[value]))
    }

    pub(super) fn double(&mut self, value: f64) -> Place {
        self.constant(Tensor::doubles(&[], &[value]))
    }

    pub(super) fn int(&mut self, value: i64) -> Place {
        self.constant(Tensor::ints(&[], &[value]))
    }

    fn push(&mut self, domain: &str, op: &str, of: &[&Place], attribute: Vec<Attribute>) -> Place {
        let name = self.name();
        self.nodes.push(Node {
            input: of.iter().map(|place| place.0.clone()).collect(),
            output: vec![name.clone()],
            name: format!("{op}{}", self.nodes.len()),
            op_type: op.to_owned(),
            attribute,
            domain: domain.to_owned(),
        });
        Place(name)
    }

    pub(super) fn op(&mut self, op: &str, of: &[&Place]) -> Place {
        self.push("", op, of, Vec::new())
    }

    pub(super) fn op_with(&mut self, op: &str, of: &[&Place], given: Vec<(&str, Given)>) -> Place {
        let attribute = given.into_iter().map(|(name, given)| Attribute::new(name, given));
        self.push("", op, of, attribute.collect())
    }

    pub(super) fn ml(&mut self, op: &str, of: &[&Place], given: Vec<(&str, Given)>) -> Place {
        let attribute = given.into_iter().map(|(name, given)| Attribute::new(name, given));
        self.push(ML, op, of, attribute.collect())
    }

    pub(super) fn cast(&mut self, of: &Place, to: Element) -> Place {
        self.op_with("Cast", &[of], vec![("to", Given::Int(to as i64))])
    }

    /// Columns beside each other.
    pub(super) fn beside(&mut self, of: &[Place]) -> Place {
        match of {
            [one] => one.clone(),
            _ => {
                let of: Vec<&Place> = of.iter().collect();
                self.op_with("Concat", &of, vec![("axis", Given::Int(1))])
            }
        }
    }

    /// The sum of each row's values, as one column.
    pub(super) fn row_sum(&mut self, of: &Place) -> Place {
        let axes = self.constant(Tensor::ints(&[1], &[1]));
        self.op_with("ReduceSum", &[of, &axes], vec![("keepdims", Given::Int(1))])
    }

    /// A column of whole numbers as a list of them.
    pub(super) fn listed(&mut self, of: &Place) -> Place {
        let axes = self.constant(Tensor::ints(&[1], &[1]));
        self.op("Squeeze", &[of, &axes])
    }

    /// The lines of a table that a list of whole numbers names.
    pub(super) fn lines(&mut self, table: Tensor, list: &Place) -> Place {
        let table = self.constant(table);
        self.op_with("Gather", &[&table, list], vec![("axis", Given::Int(0))])
    }

    /// A whole number for each text, and another for all others.
    pub(super) fn labels(&mut self, of: &Place, known: &[(&str, i64)], other: i64) -> Place {
        let texts = known.iter().map(|(text, _)| text.as_bytes().to_vec()).collect();
        let values = known.iter().map(|(_, value)| *value).collect();
        let given = vec![
            ("keys_strings", Given::Texts(texts)),
            ("values_int64s", Given::Ints(values)),
            ("default_int64", Given::Int(other)),
        ];
        self.ml("LabelEncoder", &[of], given)
    }

    /// A column of this number, as long as another column.
    pub(super) fn filled(&mut self, like: &Place, value: f32) -> Place {
        let shape = self.op("Shape", &[like]);
        let value = Given::Tensor(Tensor::floats(&[1], &[value]));
        self.op_with("ConstantOfShape", &[&shape], vec![("value", value)])
    }
}
