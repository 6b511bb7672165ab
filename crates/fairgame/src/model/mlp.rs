//! A network with one hidden layer of rectified linear units.
//!
//! f(x; θ) = v·max(0, z(x)) + c with z(x) = b + Σ_codes W[code] + Σ_j x_j · W[weights + j]. A code picks a
//! row of W, so that a one-hot vector times W is a few rows added up. A few numbers are added in the
//! same loop; many are a matrix product of the whole block.
//!
//! θ holds W row by row, then b, v and c. Units are padded to a multiple of eight with units that are
//! zero, and stay so: their output is zero, so their gradients are.

use serde::{Deserialize, Serialize};

use super::kernel::{
    self, Backward, Forward, LANES, Layer, Path, Product, ProductBack, with_codes,
};
use super::ladder::{self, Climb};
use super::{Differentiable, Model, Rows, Scorer, Tape, check_params, check_rows};
use crate::encode::Features;
use crate::random::Stream;
use crate::{Error, ErrorKind, Result};

/// From so many numbers on, a matrix product is faster than adding rows.
const MANY: usize = 12;

/// One hidden layer of rectified linear units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Sizes", into = "Sizes")]
pub struct Mlp {
    weights: usize,
    numbers: usize,
    units: usize,
}

/// A network as it is written down.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sizes {
    weights: usize,
    numbers: usize,
    units: usize,
}

impl From<Mlp> for Sizes {
    fn from(Mlp { weights, numbers, units }: Mlp) -> Self {
        Sizes { weights, numbers, units }
    }
}

impl TryFrom<Sizes> for Mlp {
    type Error = Error;

    fn try_from(Sizes { weights, numbers, units }: Sizes) -> Result<Self> {
        check_units(units)?;
        let params = weights
            .checked_add(numbers)
            .and_then(|inputs| inputs.checked_add(2)?.checked_mul(units.next_multiple_of(LANES)));
        check_params(params)?;
        Ok(Mlp { weights, numbers, units })
    }
}

/// More units than this are surely a mistake.
pub(super) const MOST_UNITS: usize = 1 << 16;

pub(super) fn check_units(units: usize) -> Result<()> {
    if (1..=MOST_UNITS).contains(&units) {
        return Ok(());
    }
    let message = format!("a hidden layer of {units} units cannot be");
    Err(Error::new(ErrorKind::Settings, message).help(format!("ask for 1 to {MOST_UNITS}")))
}

impl Mlp {
    /// The model of that many units for features like these.
    pub fn new(features: &Features, units: usize) -> Result<Self> {
        let (weights, numbers) = (features.weights(), features.numbers());
        Mlp::try_from(Sizes { weights, numbers, units })
    }

    /// How many units there are with those that are padding.
    pub(crate) fn padded(&self) -> usize {
        self.units.next_multiple_of(LANES)
    }

    fn inputs(&self) -> usize {
        self.weights + self.numbers
    }

    /// The first layer as the kernels see it: without numbers, where these are a product of their own.
    fn layer(&self) -> Layer {
        let numbers = if self.numbers < MANY { self.numbers } else { 0 };
        Layer { weights: self.weights, numbers, units: self.padded() }
    }

    /// W, b, v and c.
    fn parts<'a>(&self, theta: &'a [f32]) -> (&'a [f32], &'a [f32], &'a [f32], f32) {
        let (matrix, rest) = theta.split_at(self.inputs() * self.padded());
        let (bias, rest) = rest.split_at(self.padded());
        let (output, last) = rest.split_at(self.padded());
        (matrix, bias, output, last[0])
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
        if rows.is_empty() {
            return;
        }
        let (layer, units) = (self.layer(), self.padded());
        let (matrix, bias, output, last) = self.parts(theta);
        let hidden = Tape::fit(&mut tape.kept, rows.len() * units);
        let many = layer.numbers < self.numbers;
        if many {
            hidden.chunks_exact_mut(units).for_each(|row| row.copy_from_slice(bias));
            let matrix = &matrix[self.weights * units..];
            let packed = &mut tape.packed;
            kernel::run(path, Product { rows, matrix, units, into: &mut *hidden, packed });
        }
        let climb = Climb::new(rows.features().ladders(), matrix, units, &mut tape.climbed);
        with_codes!(rows.codes(), codes => {
            let bias = (!many).then_some(bias);
            let forward =
                Forward { codes, layer, rows, matrix, climb, bias, output, last, hidden, scores };
            kernel::run(path, forward);
        });
    }

    fn pullback_on(
        &self,
        path: Path,
        theta: &[f32],
        rows: Rows<'_>,
        tape: &mut Tape,
        slopes: &[f32],
        gradient: &mut [f32],
    ) {
        check_rows(self, theta, &rows, slopes.len());
        assert_eq!(gradient.len(), self.params(), "one slope for each parameter");
        assert_eq!(tape.rows, rows.len(), "the tape of these rows");
        if rows.is_empty() {
            return;
        }
        let (layer, units) = (self.layer(), self.padded());
        let (_, _, output, _) = self.parts(theta);
        let many = layer.numbers < self.numbers;
        let inner = Tape::fit(&mut tape.slopes, if many { rows.len() * units } else { 0 });
        let (matrix, rest) = gradient.split_at_mut(self.inputs() * units);
        let (bias, rest) = rest.split_at_mut(units);
        let (above, last) = rest.split_at_mut(units);
        last[0] += slopes.iter().sum::<f32>();
        let ladders = rows.features().ladders();
        ladder::pull_back(ladders, matrix, units, &mut tape.climbed, |matrix| {
            with_codes!(rows.codes(), codes => {
                let (hidden, inner) = (&tape.kept[..], &mut *inner);
                let backward = Backward {
                    codes, layer, rows, output, slopes, hidden, inner, matrix, bias, above,
                };
                kernel::run(path, backward);
            });
        });
        if many {
            let into = &mut matrix[self.weights * units..];
            let packed = &mut tape.packed;
            kernel::run(path, ProductBack { rows, slopes, inner, units, into, packed });
        }
    }
}

impl Scorer for Mlp {
    fn params(&self) -> usize {
        (self.inputs() + 2) * self.padded() + 1
    }

    fn fits(&self, features: &Features) -> bool {
        features.weights() == self.weights && features.numbers() == self.numbers
    }

    fn score(&self, theta: &[f32], rows: Rows<'_>, tape: &mut Tape, scores: &mut [f32]) {
        self.score_on(Path::best(), theta, rows, tape, scores);
    }
}

impl Differentiable for Mlp {
    /// Glorot's uniform: within ±√(6 / (inputs + outputs)) of each layer; biases are 0.
    fn initial(&self, seed: u64) -> Vec<f32> {
        let mut stream = Stream::new(seed, "mlp");
        let padded = self.padded();
        let mut theta = vec![0.0; self.params()];
        let mut fill = |row: &mut [f32], inputs: usize, outputs: usize| {
            let limit = (6.0 / (inputs + outputs) as f64).sqrt();
            for weight in row {
                *weight = ((2.0 * stream.unit() - 1.0) * limit) as f32;
            }
        };
        for input in 0..self.inputs() {
            fill(&mut theta[input * padded..][..self.units], self.inputs(), self.units);
        }
        fill(&mut theta[(self.inputs() + 1) * padded..][..self.units], self.units, 1);
        theta
    }

    fn pullback(
        &self,
        theta: &[f32],
        rows: Rows<'_>,
        tape: &mut Tape,
        slopes: &[f32],
        gradient: &mut [f32],
    ) {
        self.pullback_on(Path::best(), theta, rows, tape, slopes, gradient);
    }
}

impl Model for Mlp {
    fn differentiable(&self) -> Option<&dyn Differentiable> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Encoder, EncoderSpec};
    use crate::table::{Category, Column, Table, Values};

    fn features(numbers: usize, codes: usize, rows: usize) -> Features {
        let mut stream = Stream::new(3, "test");
        let mut columns = Vec::new();
        for number in 0..numbers {
            let values = (0..rows).map(|_| stream.unit() * 4.0 - 2.0).collect();
            columns.push(Column::new(format!("n{number}"), Values::Number(values)));
        }
        for code in 0..codes {
            let texts = ["a", "b", "c", "d"];
            let values: Vec<_> = (0..rows).map(|_| Some(texts[stream.below(4) as usize])).collect();
            columns.push(Column::new(
                format!("c{code}"),
                Values::Category(Category::from_texts(values)),
            ));
        }
        let table = Table::new(columns).unwrap();
        let (encoder, _) = Encoder::fit(&EncoderSpec::default(), &table).unwrap();
        encoder.encode(&table).unwrap()
    }

    /// Both copies of the loops give the same bits, for every width of the hidden layer.
    #[test]
    fn portable_and_best_paths_agree_to_the_bit() {
        for (numbers, codes) in [(0, 5), (3, 0), (3, 5), (20, 0), (20, 5)] {
            let features = features(numbers, codes, 100);
            let list: Vec<u32> = (0..100).rev().step_by(3).collect();
            for units in [1, 5, 8, 10, 17, 50, 63, 64, 65, 100, 130] {
                let model = Mlp::new(&features, units).unwrap();
                let theta = model.initial(7);
                let rows = Rows::list(&features, &list);
                let run = |path| {
                    let (mut tape, mut scores) = (Tape::default(), vec![0.0; rows.len()]);
                    model.score_on(path, &theta, rows, &mut tape, &mut scores);
                    let mut gradient = vec![0.0; model.params()];
                    model.pullback_on(path, &theta, rows, &mut tape, &scores, &mut gradient);
                    let bits =
                        |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                    (bits(&scores), bits(&gradient))
                };
                assert_eq!(run(Path::Portable), run(Path::best()), "{numbers} {codes} {units}");
            }
        }
    }

    /// Rows of slope 0 change no bit of a gradient, whether there are others or none; a slope that is not a number does.
    #[test]
    fn rows_of_slope_0_are_as_if_they_were_not_there() {
        let features = features(20, 2, 100);
        let model = Mlp::new(&features, 17).unwrap();
        let theta = model.initial(7);
        let gradient = |list: &[u32], slope: &dyn Fn(u32) -> f32| {
            let rows = Rows::list(&features, list);
            let slopes: Vec<f32> = list.iter().map(|&row| slope(row)).collect();
            let (mut tape, mut scores) = (Tape::default(), vec![0.0; rows.len()]);
            model.score(&theta, rows, &mut tape, &mut scores);
            let mut gradient = vec![0.0; model.params()];
            model.pullback(&theta, rows, &mut tape, &slopes, &mut gradient);
            gradient.into_iter().map(f32::to_bits).collect::<Vec<_>>()
        };
        let all: Vec<u32> = (0..100).collect();
        let heard: Vec<u32> = (0..100).filter(|row| row % 7 == 3).collect();
        let slope = |row: u32| if row % 7 == 3 { row as f32 / 50.0 - 1.1 } else { 0.0 };
        assert_eq!(gradient(&all, &slope), gradient(&heard, &slope));
        assert!(gradient(&all, &|_| 0.0).into_iter().all(|bits| f32::from_bits(bits) == 0.0));
        let diverged = gradient(&all, &|row| if row == 50 { f32::NAN } else { 0.0 });
        assert!(diverged.into_iter().any(|bits| f32::from_bits(bits).is_nan()));
    }
}
