//! Calibrated lattices (Gupta et al. 2016): interpretable, and monotone where asked to be.
//!
//! Each input passes through a **calibrator** into 0..1: a piecewise linear function of a number, with
//! keypoints at training quantiles and a value of its own for missing, or a value for each code. Each
//! **lattice** interpolates multilinearly between values at the 2^d corners of a cube, over d ≤ 8
//! calibrated inputs: with x ∈ [0,1]^d and a value at each corner,
//!
//! ```text
//! L(x) = Σ_{corner ∈ {0,1}^d} value[corner] · Π_k (x_k if corner_k else 1 − x_k)
//! ```
//!
//! and f = mean of the lattices + bias. A seeded assignment deals the inputs to the lattices so that
//! each is in at least one. A function is monotone in an input where its calibrator is ordered and each
//! lattice's values are ordered along it; [`Differentiable::project`] keeps both.
//!
//! θ holds the calibrators' values input by input, then the corners lattice by lattice, then the bias.

mod interpolate;
mod pass;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use interpolate::{MOST, isotonic, order};
use pass::{Backward, Forward, Place};

use super::kernel::{LANES, Path, run, with_codes};
use super::{Differentiable, Model, Monotone, Rows, Scorer, Tape, check_params, check_rows};
use crate::encode::{Encoder, Features, Input as Encoded};
use crate::random::Stream;
use crate::settings::{self, declare};
use crate::table::{no_such_column, quantile};
use crate::{Error, ErrorKind, Result};

declare! {
    /// How to make lattices.
    #[derive()]
    pub struct LatticeSpec {
        /// Keypoints of each number's calibrator.
        pub keypoints: usize = with(10).between(2.0, 1_000.0),
        /// Inputs of each lattice.
        pub inputs: usize = with(4).between(1.0, MOST as f64),
        /// Number of lattices; where one lattice can hold all inputs, there is one.
        pub lattices: Option<usize> =
            with(None).between(1.0, 100_000.0).auto("as many as put each input into about three"),
        /// Number columns in which the score must not fall, or must not rise.
        pub monotone: BTreeMap<String, Monotone> = with(BTreeMap::new()),
        /// Seed that draws which inputs share a lattice.
        pub seed: u64 = with(1),
    }
}

impl LatticeSpec {
    /// Refuses lattices that cannot be made.
    pub(super) fn check(&self) -> Result<()> {
        settings::check(self)
    }
}

/// Where every row of some features lies on the calibrators of a lattice, found once.
///
/// It depends on the keypoints alone and not on θ, while rows are scored anew at every turn and for every kept model.
#[derive(Debug, Clone)]
pub struct Placed {
    /// Row by row, input by input: a place in θ, and how far on to the next.
    spots: Vec<(u32, f32)>,
}

/// Where rows lie is found once for up to so many rows times inputs, 64 MB; of more, anew for each score.
const MOST_PLACED: usize = 1 << 23;

/// An ensemble of calibrated lattices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Description", into = "Description")]
pub struct Lattice {
    description: Description,
    /// Where each input's calibrator begins in θ.
    calibrators: Vec<usize>,
    /// Where each lattice's corners begin in θ.
    corners: Vec<usize>,
    params: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    weights: usize,
    slots: usize,
    numbers: usize,
    inputs: Vec<Calibrator>,
    /// The inputs of each lattice.
    lattices: Vec<Vec<usize>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Calibrator {
    /// Values at the keypoints, then one for missing.
    Number {
        number: usize,
        keypoints: Vec<f32>,
        /// The slot that says it is missing, where one does.
        missing: Option<usize>,
        monotone: Option<Monotone>,
    },
    /// A value for each of the slot's weights from `first` on, then one for silence.
    Code { slot: usize, first: usize, count: usize },
}

impl Calibrator {
    fn values(&self) -> usize {
        match self {
            Calibrator::Number { keypoints, .. } => keypoints.len() + 1,
            Calibrator::Code { count, .. } => count + 1,
        }
    }

    fn monotone(&self) -> Option<Monotone> {
        match self {
            Calibrator::Number { monotone, .. } => *monotone,
            Calibrator::Code { .. } => None,
        }
    }
}

impl From<Lattice> for Description {
    fn from(lattice: Lattice) -> Self {
        lattice.description
    }
}

impl TryFrom<Description> for Lattice {
    type Error = Error;

    fn try_from(description: Description) -> Result<Self> {
        let Description { weights, slots, numbers, ref inputs, ref lattices } = description;
        let sound = |input: &Calibrator| match input {
            Calibrator::Number { number, keypoints, missing, .. } => {
                *number < numbers
                    && missing.is_none_or(|slot| slot < slots)
                    && keypoints.len() >= 2
                    && keypoints.iter().all(|point| point.is_finite())
                    && keypoints.is_sorted_by(|a, b| a < b)
            }
            Calibrator::Code { slot, first, count } => {
                *slot < slots && first.checked_add(*count).is_some_and(|end| end <= weights)
            }
        };
        let fits = |lattice: &Vec<usize>| {
            (1..=MOST).contains(&lattice.len()) && lattice.iter().all(|&input| input < inputs.len())
        };
        check_params(Some(weights))?;
        if !inputs.iter().all(sound) || !lattices.iter().all(fits) || lattices.is_empty() {
            return Err(Error::new(ErrorKind::Format, "the description of a lattice is not sound"));
        }
        // Each length is small enough that no sum of so many of them as a memory holds overflows.
        let mut params: usize = 0;
        let mut begin = |length: usize| {
            params = params.saturating_add(length);
            params.saturating_sub(length)
        };
        let calibrators = inputs.iter().map(|input| begin(input.values())).collect();
        let corners = lattices.iter().map(|lattice| begin(1 << lattice.len())).collect();
        begin(1);
        check_params(Some(params))?;
        Ok(Lattice { description, calibrators, corners, params })
    }
}

impl Lattice {
    /// The model for features of this encoder, with keypoints from the training rows.
    pub fn new(spec: &LatticeSpec, encoder: &Encoder, train: &Features) -> Result<Self> {
        let settings = |message: String| Error::new(ErrorKind::Settings, message);
        spec.check()?;
        let encoded = encoder.inputs();
        let columns = || encoded.iter().map(Encoded::column);
        for name in spec.monotone.keys() {
            if !columns().any(|column| column == name) {
                return Err(no_such_column(name, columns()));
            }
        }
        let mut inputs = Vec::new();
        for input in &encoded {
            let monotone = spec.monotone.get(input.column()).copied();
            match *input {
                Encoded::Number { number, missing, .. } => inputs.push(Calibrator::Number {
                    number,
                    keypoints: keypoints(train, number, missing, spec.keypoints),
                    missing,
                    monotone,
                }),
                Encoded::Code { .. } if monotone.is_some() => {
                    return Err(settings(format!(
                        "column `{}` is not encoded as a number, so no score is monotone in it",
                        input.column()
                    ))
                    .help("encode it as a number, or ask for no order"));
                }
                Encoded::Code { slot, first, count, .. } => {
                    inputs.push(Calibrator::Code { slot, first, count });
                }
            }
        }
        let lattices = deal(inputs.len(), spec);
        let (weights, slots, numbers) = (train.weights(), train.slots(), train.numbers());
        Lattice::try_from(Description { weights, slots, numbers, inputs, lattices })
    }

    /// How many numbers are kept of rows: one for each input, of full groups of eight rows.
    fn space(&self, rows: usize) -> usize {
        rows.next_multiple_of(LANES) * self.description.inputs.len()
    }

    /// Where the rows of these features lie on the calibrators, for [`Rows::placed`]; `None` of too many rows.
    pub fn place_all(&self, features: &Features) -> Option<Placed> {
        self.place_on(Path::best(), features)
    }

    fn place_on(&self, path: Path, features: &Features) -> Option<Placed> {
        assert!(self.fits(features), "features of this model");
        let length = features.rows().checked_mul(self.description.inputs.len())?;
        if length > MOST_PLACED {
            return None;
        }
        let mut all = vec![(0, 0.0); length];
        let (model, rows, spots) = (self, Rows::all(features), &mut all[..]);
        with_codes!(rows.codes(), codes => {
            run(path, Place { model, codes, rows, spots });
        });
        Some(Placed { spots: all })
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
        let placed = rows.known_places();
        let length = self.space(rows.len());
        let Tape { places, shares, kept, .. } = tape;
        let (places, shares) = (Tape::fit(places, length), Tape::fit(shares, length));
        let (model, kept) = (self, Tape::fit(kept, length));
        with_codes!(rows.codes(), codes => {
            run(path, Forward { model, codes, theta, rows, placed, places, shares, kept, scores });
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
        assert_eq!(gradient.len(), self.params, "one slope for each parameter");
        assert_eq!(tape.rows, rows.len(), "the tape of these rows");
        let length = self.space(rows.len());
        let inner = Tape::fit(&mut tape.slopes, length);
        let (model, kept) = (self, &tape.kept[..length]);
        run(path, Backward { model, theta, kept, slopes, inner, gradient });
        self.calibrate_back(tape, slopes, gradient);
    }
}

/// Keypoints at the quantiles of the rows that are not missing; two where all are equal.
///
/// Where one value is most of the column, most quantiles fall on it; the places that are left then go to
/// the quantiles of the distinct values, so that the rest of the range is not a single line.
fn keypoints(train: &Features, number: usize, missing: Option<usize>, count: usize) -> Vec<f32> {
    let present = |row: &usize| missing.is_none_or(|slot| train.code(*row, slot).is_none());
    let mut values: Vec<f64> = (0..train.rows())
        .filter(present)
        .map(|row| f64::from(train.row_values(row)[number]))
        .collect();
    values.sort_unstable_by(f64::total_cmp);
    let mut points: Vec<f32> = (0..count)
        .filter_map(|k| quantile(&values, k as f64 / (count - 1) as f64))
        .map(|point| point as f32)
        .collect();
    points.dedup();
    if points.len() < count {
        let left = count - points.len();
        values.dedup();
        let spread = (1..=left).filter_map(|k| quantile(&values, k as f64 / (left + 1) as f64));
        points.extend(spread.map(|point| point as f32));
        points.sort_unstable_by(f32::total_cmp);
        points.dedup();
    }
    match points.as_slice() {
        [] => vec![0.0, 1.0],
        [only] => vec![*only, *only + only.abs().max(1.0)],
        _ => points,
    }
}

/// The inputs of each lattice: shuffled and dealt round after round, so that every input is in one.
fn deal(inputs: usize, spec: &LatticeSpec) -> Vec<Vec<usize>> {
    let size = spec.inputs.min(inputs).max(1);
    let least = inputs.div_ceil(size);
    let count = spec.lattices.unwrap_or((3 * inputs).div_ceil(size)).max(least);
    if inputs <= size {
        return vec![(0..inputs).collect()];
    }
    let mut stream = Stream::new(spec.seed, "lattice");
    let mut lattices: Vec<Vec<usize>> = Vec::new();
    let mut deck: Vec<usize> = Vec::new();
    while lattices.len() < count {
        let mut lattice: Vec<usize> = Vec::with_capacity(size);
        while lattice.len() < size {
            if deck.is_empty() {
                deck = (0..inputs).collect();
                stream.shuffle(&mut deck);
            }
            // The last of a round may be in this lattice already: then the next one is.
            let Some(at) = deck.iter().rposition(|input| !lattice.contains(input)) else {
                deck.clear();
                continue;
            };
            lattice.push(deck.remove(at));
        }
        lattice.sort_unstable();
        lattices.push(lattice);
    }
    lattices
}

impl Scorer for Lattice {
    fn params(&self) -> usize {
        self.params
    }

    fn fits(&self, features: &Features) -> bool {
        let Description { weights, slots, numbers, .. } = self.description;
        (features.weights(), features.slots(), features.numbers()) == (weights, slots, numbers)
    }

    fn score(&self, theta: &[f32], rows: Rows<'_>, tape: &mut Tape, scores: &mut [f32]) {
        self.score_on(Path::best(), theta, rows, tape, scores);
    }
}

impl Differentiable for Lattice {
    /// Calibrators of numbers rise (or fall) evenly, codes lie at random around the middle, and each
    /// lattice is the average of its inputs, scaled to −1..1: monotone in all.
    fn initial(&self, seed: u64) -> Vec<f32> {
        let mut stream = Stream::new(seed, "lattice");
        let mut theta = vec![0.0; self.params];
        for (input, &start) in self.description.inputs.iter().zip(&self.calibrators) {
            match input {
                Calibrator::Number { keypoints, monotone, .. } => {
                    let last = (keypoints.len() - 1) as f32;
                    for k in 0..keypoints.len() {
                        let rising = k as f32 / last;
                        let falls = *monotone == Some(Monotone::Decreasing);
                        theta[start + k] = if falls { 1.0 - rising } else { rising };
                    }
                    theta[start + keypoints.len()] = 0.5;
                }
                Calibrator::Code { count, .. } => {
                    for value in &mut theta[start..start + count] {
                        *value = (0.25 + 0.5 * stream.unit()) as f32;
                    }
                    theta[start + count] = 0.5;
                }
            }
        }
        for (lattice, &start) in self.description.lattices.iter().zip(&self.corners) {
            for corner in 0..1_usize << lattice.len() {
                let share = corner.count_ones() as f32 / lattice.len() as f32;
                theta[start + corner] = 2.0 * share - 1.0;
            }
        }
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

    /// Calibrated values into 0..1, and orders kept: a calibrator's by the nearest ordered values, a
    /// lattice's by averaging pairs that are out of order and raising what is left.
    fn project(&self, theta: &mut [f32]) {
        for (input, &start) in self.description.inputs.iter().zip(&self.calibrators) {
            let values = &mut theta[start..start + input.values()];
            if let Calibrator::Number { keypoints, monotone: Some(monotone), .. } = input {
                let ordered = &mut values[..keypoints.len()];
                if *monotone == Monotone::Decreasing {
                    ordered.reverse();
                }
                isotonic(ordered);
                if *monotone == Monotone::Decreasing {
                    ordered.reverse();
                }
            }
            values.iter_mut().for_each(|value| *value = value.clamp(0.0, 1.0));
        }
        for (lattice, &start) in self.description.lattices.iter().zip(&self.corners) {
            let mut bits = [0_usize; MOST];
            let mut count = 0;
            for (k, &input) in lattice.iter().enumerate() {
                if self.description.inputs[input].monotone().is_some() {
                    bits[count] = 1 << k;
                    count += 1;
                }
            }
            order(&mut theta[start..start + (1 << lattice.len())], &bits[..count]);
        }
    }
}

impl Model for Lattice {
    fn differentiable(&self) -> Option<&dyn Differentiable> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::EncoderSpec;
    use crate::table::{Category, Column, Table, Values};

    /// Numbers, some of them missing, and categories.
    fn table() -> Table {
        let mut stream = Stream::new(3, "test");
        let mut columns = Vec::new();
        for name in 0..9 {
            let mut value = || if stream.below(8) == 0 { f64::NAN } else { stream.unit() };
            let values = Values::Number((0..100).map(|_| value()).collect());
            columns.push(Column::new(format!("n{name}"), values));
        }
        for name in 0..2 {
            let texts: Vec<_> =
                (0..100).map(|_| Some(["a", "b", "c"][stream.below(3) as usize])).collect();
            let values = Values::Category(Category::from_texts(texts));
            columns.push(Column::new(format!("c{name}"), values));
        }
        Table::new(columns).unwrap()
    }

    /// Both copies of the loops give the same bits, for every size of lattice, few keypoints and many.
    #[test]
    fn portable_and_best_paths_agree_to_the_bit() {
        let table = table();
        let (encoder, _) = Encoder::fit(&EncoderSpec::default(), &table).unwrap();
        let features = encoder.encode(&table).unwrap();
        let list: Vec<u32> = (0..100).rev().step_by(3).collect();
        for (inputs, keypoints) in (1..=MOST).zip([5, 40].into_iter().cycle()) {
            let spec = LatticeSpec { inputs, keypoints, ..LatticeSpec::default() };
            let model = Lattice::new(&spec, &encoder, &features).unwrap();
            let theta = model.initial(7);
            let rows = Rows::list(&features, &list);
            let run = |path| {
                let (mut tape, mut scores) = (Tape::default(), vec![0.0; rows.len()]);
                model.score_on(path, &theta, rows, &mut tape, &mut scores);
                let mut gradient = vec![0.0; model.params()];
                model.pullback_on(path, &theta, rows, &mut tape, &scores, &mut gradient);
                let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                (bits(&scores), bits(&gradient))
            };
            assert_eq!(run(Path::Portable), run(Path::best()), "{inputs} inputs");
        }
    }

    /// Where rows lie is the same whether it is found once or for each score, so scores and gradients have the same bits.
    #[test]
    fn places_found_before_give_the_same_bits() {
        let table = table();
        let (encoder, _) = Encoder::fit(&EncoderSpec::default(), &table).unwrap();
        let features = encoder.encode(&table).unwrap();
        let list: Vec<u32> = (0..100).rev().step_by(3).collect();
        for (keypoints, path) in [(5, Path::Portable), (5, Path::best()), (40, Path::best())] {
            let spec = LatticeSpec { keypoints, ..LatticeSpec::default() };
            let model = Lattice::new(&spec, &encoder, &features).unwrap();
            let theta = model.initial(7);
            let placed = model.place_on(path, &features).unwrap();
            for rows in [Rows::all(&features), Rows::list(&features, &list)] {
                let run = |rows: Rows<'_>| {
                    let (mut tape, mut scores) = (Tape::default(), vec![0.0; rows.len()]);
                    model.score_on(path, &theta, rows, &mut tape, &mut scores);
                    let mut gradient = vec![0.0; model.params()];
                    model.pullback_on(path, &theta, rows, &mut tape, &scores, &mut gradient);
                    let all = scores.iter().chain(&gradient);
                    all.map(|value| value.to_bits()).collect::<Vec<_>>()
                };
                assert_eq!(run(rows.placed(Some(&placed))), run(rows));
            }
        }
    }

    /// A row's score is the same alone as among others, however the groups of eight fall.
    #[test]
    fn a_score_does_not_depend_on_the_block() {
        let table = table();
        let (encoder, _) = Encoder::fit(&EncoderSpec::default(), &table).unwrap();
        let features = encoder.encode(&table).unwrap();
        let model = Lattice::new(&LatticeSpec::default(), &encoder, &features).unwrap();
        let (theta, mut tape) = (model.initial(7), Tape::default());
        let mut all = vec![0.0; features.rows()];
        model.score(&theta, Rows::all(&features), &mut tape, &mut all);
        for (row, score) in all.iter().enumerate() {
            let mut alone = [0.0];
            let rows = Rows::range(&features, row..row + 1);
            model.score(&theta, rows, &mut tape, &mut alone);
            assert_eq!(alone[0].to_bits(), score.to_bits(), "row {row}");
        }
    }
}
