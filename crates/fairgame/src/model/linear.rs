//! The linear model: f(x; θ) = Σ_codes w[code] + Σ_j x_j · w[weights + j] + b.
//!
//! θ holds the weights of the codes, then those of the numbers, then the bias.

use serde::{Deserialize, Serialize};

use super::kernel::{self, Path, Sum, SumBack, with_codes};
use super::ladder::{self, Climb};
use super::{Differentiable, Model, Rows, Scorer, Tape, check_params, check_rows};
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

    fn score_on(
        &self,
        path: Path,
        theta: &[f32],
        rows: Rows<'_>,
        tape: &mut Tape,
        scores: &mut [f32],
    ) {
        check_rows(self, theta, &rows, scores.len());
        tape.rows = rows.len();
        let (by_code, rest) = theta.split_at(self.weights);
        let (by_number, bias) = rest.split_at(self.numbers);
        let bias = bias[0];
        let climb = Climb::new(rows.features().ladders(), by_code, 1, &mut tape.climbed);
        with_codes!(rows.codes(), codes => {
            kernel::run(path, Sum { codes, rows, by_code, climb, by_number, bias, scores });
        });
    }

    fn pullback_on(
        &self,
        path: Path,
        rows: Rows<'_>,
        tape: &mut Tape,
        slopes: &[f32],
        gradient: &mut [f32],
    ) {
        assert_eq!(gradient.len(), self.params(), "one slope for each parameter");
        let (by_code, rest) = gradient.split_at_mut(self.weights);
        let (by_number, bias) = rest.split_at_mut(self.numbers);
        let bias = &mut bias[0];
        ladder::pull_back(rows.features().ladders(), by_code, 1, &mut tape.climbed, |by_code| {
            with_codes!(rows.codes(), codes => {
                kernel::run(path, SumBack { codes, rows, slopes, by_code, by_number, bias });
            });
        });
    }
}

impl Scorer for Linear {
    fn params(&self) -> usize {
        self.weights + self.numbers + 1
    }

    fn fits(&self, features: &Features) -> bool {
        features.weights() == self.weights && features.numbers() == self.numbers
    }

    fn score(&self, theta: &[f32], rows: Rows<'_>, tape: &mut Tape, scores: &mut [f32]) {
        self.score_on(Path::best(), theta, rows, tape, scores);
    }
}

impl Differentiable for Linear {
    /// Zeros: the loss of a linear model is convex, so it starts where no weight speaks.
    fn initial(&self, _seed: u64) -> Vec<f32> {
        vec![0.0; self.params()]
    }

    fn pullback(
        &self,
        theta: &[f32],
        rows: Rows<'_>,
        tape: &mut Tape,
        slopes: &[f32],
        gradient: &mut [f32],
    ) {
        check_rows(self, theta, &rows, slopes.len());
        assert_eq!(tape.rows, rows.len(), "the tape of these rows");
        self.pullback_on(Path::best(), rows, tape, slopes, gradient);
    }
}

impl Model for Linear {
    fn differentiable(&self) -> Option<&dyn Differentiable> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Encoder, EncoderSpec};
    use crate::random::Stream;
    use crate::table::{Category, Column, Table, Values};

    /// Both copies of the loops give the same bits, whatever is left over of the lanes.
    #[test]
    fn portable_and_best_paths_agree_to_the_bit() {
        let mut stream = Stream::new(5, "test");
        for numbers in [0, 1, 7, 8, 31, 32, 33, 71] {
            let mut columns: Vec<Column> = (0..numbers)
                .map(|number| {
                    let values = (0..50).map(|_| stream.unit() * 4.0 - 2.0).collect();
                    Column::new(format!("n{number}"), Values::Number(values))
                })
                .collect();
            let texts = (0..50).map(|row| Some(["a", "b", "c"][row % 3]));
            columns.push(Column::new("code", Values::Category(Category::from_texts(texts))));
            let table = Table::new(columns).unwrap();
            let (encoder, _) = Encoder::fit(&EncoderSpec::default(), &table).unwrap();
            let features = encoder.encode(&table).unwrap();
            let model = Linear::new(&features);
            let theta: Vec<f32> = (0..model.params()).map(|_| stream.unit() as f32 - 0.5).collect();
            let list: Vec<u32> = (0..50).rev().step_by(3).collect();
            let rows = Rows::list(&features, &list);
            let run = |path: Path| {
                let (mut scores, mut gradient) = (vec![0.0; rows.len()], vec![0.0; model.params()]);
                let mut tape = Tape::default();
                model.score_on(path, &theta, rows, &mut tape, &mut scores);
                model.pullback_on(path, rows, &mut tape, &scores, &mut gradient);
                let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                (bits(&scores), bits(&gradient))
            };
            assert_eq!(run(Path::Portable), run(Path::best()), "{numbers}");
        }
    }
}
