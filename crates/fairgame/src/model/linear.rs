//! The linear model: f(x; θ) = Σ_codes w[code] + Σ_j x_j · w[weights + j] + b.
//!
//! θ holds the weights of the codes, then those of the numbers, then the bias.

use serde::{Deserialize, Serialize};

use super::kernel::{Code, dot, fetch_ahead, with_codes};
use super::{Model, Rows, Tape, check_params};
use crate::encode::Features;
use crate::{Error, Result};

/// A weighted sum of features.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Sizes", into = "Sizes")]
pub struct Linear {
    weights: usize,
    numbers: usize,
}

/// A linear model as it is written down.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sizes {
    weights: usize,
    numbers: usize,
}

impl From<Linear> for Sizes {
    fn from(Linear { weights, numbers }: Linear) -> Self {
        Sizes { weights, numbers }
    }
}

impl TryFrom<Sizes> for Linear {
    type Error = Error;

    fn try_from(Sizes { weights, numbers }: Sizes) -> Result<Self> {
        check_params(weights.checked_add(numbers))?;
        Ok(Linear { weights, numbers })
    }
}

impl Linear {
    /// The model for features like these.
    pub fn new(features: &Features) -> Self {
        Linear { weights: features.weights(), numbers: features.numbers() }
    }

    /// Whether the features are of the shape that the model was made for.
    pub(super) fn fits(&self, features: &Features) -> bool {
        features.weights() == self.weights && features.numbers() == self.numbers
    }

    fn check(&self, theta: &[f32], rows: &Rows<'_>, per_row: usize) {
        assert_eq!(theta.len(), self.params(), "parameters of this model");
        assert!(self.fits(rows.features()), "features of this model");
        assert_eq!(rows.len(), per_row, "one number a row");
    }
}

impl Model for Linear {
    fn params(&self) -> usize {
        self.weights + self.numbers + 1
    }

    /// Zeros: the loss of a linear model is convex, so it starts where no weight speaks.
    fn initial(&self, _seed: u64) -> Vec<f32> {
        vec![0.0; self.params()]
    }

    fn score(&self, theta: &[f32], rows: Rows<'_>, tape: &mut Tape, scores: &mut [f32]) {
        self.check(theta, &rows, scores.len());
        tape.rows = rows.len();
        with_codes!(rows.codes(), codes => score(codes, theta, rows, scores));
    }

    fn pullback(
        &self,
        theta: &[f32],
        rows: Rows<'_>,
        tape: &mut Tape,
        slopes: &[f32],
        gradient: &mut [f32],
    ) {
        self.check(theta, &rows, slopes.len());
        assert_eq!(gradient.len(), self.params(), "one slope for each parameter");
        assert_eq!(tape.rows, rows.len(), "the tape of these rows");
        with_codes!(rows.codes(), codes => pullback(codes, rows, slopes, gradient));
    }
}

fn score<C: Code>(codes: &[C], theta: &[f32], rows: Rows<'_>, scores: &mut [f32]) {
    let (slots, weights) = (rows.features().slots(), rows.features().weights());
    let (by_code, rest) = theta.split_at(weights);
    let (by_number, bias) = rest.split_at(rest.len() - 1);
    for (index, score) in scores.iter_mut().enumerate() {
        fetch_ahead(codes, rows, index);
        let place = rows.place(index);
        let mut sum = bias[0];
        for &code in &codes[place * slots..(place + 1) * slots] {
            // The silent code is one past the last weight, and adds nothing.
            sum += by_code.get(code.index()).copied().unwrap_or(0.0);
        }
        *score = sum + dot(rows.values(index), by_number);
    }
}

fn pullback<C: Code>(codes: &[C], rows: Rows<'_>, slopes: &[f32], gradient: &mut [f32]) {
    let (slots, weights) = (rows.features().slots(), rows.features().weights());
    let (by_code, rest) = gradient.split_at_mut(weights);
    let (by_number, bias) = rest.split_at_mut(rest.len() - 1);
    for (index, &slope) in slopes.iter().enumerate() {
        if slope == 0.0 {
            continue;
        }
        let place = rows.place(index);
        for &code in &codes[place * slots..(place + 1) * slots] {
            if let Some(weight) = by_code.get_mut(code.index()) {
                *weight += slope;
            }
        }
        for (weight, x) in by_number.iter_mut().zip(rows.values(index)) {
            *weight += slope * x;
        }
        bias[0] += slope;
    }
}
