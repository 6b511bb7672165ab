//! A rule over probabilities: the best response to multipliers where P(event | x) is known.
//!
//! Its features are not those of an encoder: a row is its class k, as one code, and probabilities P_1 … P_n, as numbers.
//! The score is the gain that is expected of a positive decision,
//!
//! ```text
//! f(k, P; θ) = θ_k0 + Σ_s θ_ks·P_s,
//! ```
//!
//! and θ has one line for each class.

use serde::{Deserialize, Serialize};

use super::{Model, Rows, Scorer, Tape, check_params, check_rows};
use crate::encode::{Codes, Features};
use crate::{Error, ErrorKind, Result};

/// A rule over probabilities.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Shape", into = "Shape")]
pub struct Rule {
    classes: usize,
    probabilities: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shape {
    classes: usize,
    probabilities: usize,
}

impl From<Rule> for Shape {
    fn from(rule: Rule) -> Self {
        Shape { classes: rule.classes, probabilities: rule.probabilities }
    }
}

impl TryFrom<Shape> for Rule {
    type Error = Error;

    fn try_from(shape: Shape) -> Result<Self> {
        Rule::new(shape.classes, shape.probabilities)
    }
}

impl Rule {
    /// A rule for rows of so many classes, by so many probabilities.
    ///
    /// # Errors
    /// If there are no classes, or too many.
    pub fn new(classes: usize, probabilities: usize) -> Result<Self> {
        if classes == 0 {
            return Err(Error::new(ErrorKind::Format, "a rule needs a class"));
        }
        let width = probabilities.checked_add(1);
        check_params(width.and_then(|width| width.checked_mul(classes)))?;
        Ok(Rule { classes, probabilities })
    }

    /// How many classes there are.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// By how many probabilities it decides.
    pub fn probabilities(&self) -> usize {
        self.probabilities
    }

    /// What a rule sees of rows: the class of each, and its probabilities, row by row.
    pub(crate) fn features(&self, classes: &[u32], probabilities: Vec<f32>) -> Features {
        Features::of_classes(self.classes, classes, self.probabilities, probabilities)
    }
}

impl Scorer for Rule {
    fn params(&self) -> usize {
        self.classes * (1 + self.probabilities)
    }

    fn fits(&self, features: &Features) -> bool {
        features.slots() == 1
            && features.weights() == self.classes
            && features.numbers() == self.probabilities
            && features.ladders().is_empty()
    }

    fn score(&self, theta: &[f32], rows: Rows<'_>, _tape: &mut Tape, scores: &mut [f32]) {
        check_rows(self, theta, &rows, scores.len());
        let (features, width) = (rows.features(), 1 + self.probabilities);
        let score = |row: usize| {
            let class = match features.codes() {
                Codes::Byte(codes) => usize::from(codes[row]),
                Codes::Narrow(codes) => usize::from(codes[row]),
                Codes::Wide(codes) => codes[row] as usize,
            };
            // A class that training did not have is decided like the first.
            let class = if class < self.classes { class } else { 0 };
            let own = &theta[class * width..][..width];
            let gains = own[1..].iter().zip(features.row_values(row));
            gains.fold(own[0], |sum, (gain, probability)| sum + gain * probability)
        };
        rows.places().zip(scores).for_each(|(row, to)| *to = score(row));
    }
}

impl Model for Rule {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gain_of_a_class() {
        let rule = Rule::new(2, 1).unwrap();
        let features = rule.features(&[0, 1, 1], vec![0.25, 0.5, 1.0]);
        assert!(rule.fits(&features));
        let (theta, mut scores) = ([-0.5, 1.0, 0.25, -1.0], [0.0; 3]);
        rule.score(&theta, Rows::range(&features, 0..3), &mut Tape::default(), &mut scores);
        assert_eq!(scores, [-0.25, -0.25, -0.75]);
        assert!(Rule::new(0, 1).is_err() && Rule::new(usize::MAX, 2).is_err());
    }
}
