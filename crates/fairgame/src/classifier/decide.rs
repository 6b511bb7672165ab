//! Decisions of a stochastic classifier, each drawn by a hash.

use super::{Blend, Classifier, Member};
use crate::encode::Features;
use crate::model::{Rows, Scorer, Tape};
use crate::random::mix;
use crate::table::{Values, canonical};
use crate::{Error, ErrorKind, Result};

/// What a classifier says of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// The decision.
    pub positive: bool,
    /// The chance of a positive decision, over the draw: Σ_k p_k·1{f_k(x) > t_k}.
    pub probability: f64,
    /// The mean score above the threshold, Σ_k p_k·(f_k(x) − t_k).
    pub score: f64,
}

/// What the draw of a row depends on, beside the classifier's key.
#[derive(Debug, Clone, Copy)]
pub enum Draw<'a> {
    /// Its features, as the first view has them: equal rows are decided equally.
    Features,
    /// A number for each row, such as [`draw_of_text`] of an identifier: the same person is decided
    /// the same way even if the features change.
    Keys(&'a [u64]),
}

/// The number that an identifier draws by.
///
/// It depends on the value, not on how a file holds or writes it: a number draws by its shortest text
/// and a truth value by `true` or `false`, whether it was stored as such or as a text. A text with zeros
/// in front is another identifier than the number without them.
///
/// ```
/// use fairgame::classifier::draw_of_text;
/// assert_eq!(draw_of_text("7.0"), draw_of_text("7"));
/// assert_ne!(draw_of_text("007"), draw_of_text("7"));
/// ```
pub fn draw_of_text(text: &str) -> u64 {
    let text = canonical(text);
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| mix(hash ^ u64::from(byte)));
    mix(hash ^ text.len() as u64)
}

/// The number that each of a column's identifiers draws by, [`draw_of_text`] of it; `None` where it is
/// missing.
///
/// ```
/// use fairgame::classifier::{draw_of_text, draws};
/// use fairgame::table::Values;
/// assert_eq!(draws(&Values::Number(vec![7.0, f64::NAN])), [Some(draw_of_text("7")), None]);
/// ```
pub fn draws(identifiers: &Values) -> Vec<Option<u64>> {
    match identifiers {
        Values::Number(numbers) => {
            let number = |number: &f64| (!number.is_nan()).then(|| number.to_string());
            numbers.iter().map(|one| number(one).map(|text| draw_of_text(&text))).collect()
        }
        Values::Category(category) => category.texts().map(|text| text.map(draw_of_text)).collect(),
        Values::Boolean(truths) => {
            truths.iter().map(|truth| truth.map(|truth| draw_of_text(&truth.to_string()))).collect()
        }
    }
}

/// Rows that are scored at a time.
const BLOCK: usize = 1024;

impl Classifier {
    /// The scores that one model of the mixture gives rows, less its threshold: it decides positive where they are
    /// above 0.
    ///
    /// # Panics
    /// If there is no such member.
    ///
    /// # Errors
    /// If the features are not those of the classifier's encoders ([`Classifier::encode`]).
    pub fn scores(&self, member: usize, features: &[Features]) -> Result<Vec<f32>> {
        let (mut tape, mut all) = (Tape::default(), vec![0.0; self.check(features)?]);
        let member = &self.members[member];
        for (block, scores) in all.chunks_mut(BLOCK).enumerate() {
            self.score(member, features, block * BLOCK, &mut tape, scores);
        }
        Ok(all)
    }

    /// The scores of rows from `first` on, less the member's threshold.
    fn score(
        &self,
        member: &Member,
        features: &[Features],
        first: usize,
        tape: &mut Tape,
        scores: &mut [f32],
    ) {
        let rows = Rows::range(&features[member.view], first..first + scores.len());
        self.views[member.view].model.score(member.hypothesis.theta(), rows, tape, scores);
        scores.iter_mut().for_each(|score| *score = above(*score, member.threshold));
    }

    /// Decides rows.
    ///
    /// A row is positive where a number in [0, 1), hashed from the draw and the classifier's key, is below
    /// the row's chance of a positive decision: as likely as if a model had been drawn.
    ///
    /// # Errors
    /// If the features are not those of the classifier's encoders ([`Classifier::encode`]), or there is not one key a row.
    pub fn predict(&self, features: &[Features], draw: Draw<'_>) -> Result<Vec<Prediction>> {
        let rows = self.check(features)?;
        if let Draw::Keys(keys) = draw
            && keys.len() != rows
        {
            let message = format!("{} keys are given for {rows} rows", keys.len());
            return Err(Error::new(ErrorKind::Value, message));
        }
        let start = Prediction { positive: false, probability: 0.0, score: 0.0 };
        let mut predictions = vec![start; rows];
        let (mut tape, mut scores) = (Tape::default(), vec![0.0; BLOCK]);
        // How many models decide a row positive: where all do, it is certain, however weights round.
        let mut votes = vec![0_usize; BLOCK];
        let mut means = vec![0.0; BLOCK];
        for (block, rows) in predictions.chunks_mut(BLOCK).enumerate() {
            let first = block * BLOCK;
            let scores = &mut scores[..rows.len()];
            votes.fill(0);
            let together =
                |a: &Member, b: &Member| self.blend == Blend::Mean && a.column == b.column;
            for members in self.members.chunk_by(together) {
                let weight: f64 = members.iter().map(|member| member.weight).sum();
                means[..rows.len()].fill(0.0);
                for member in members {
                    self.score(member, features, first, &mut tape, scores);
                    let share = member.weight / weight;
                    let pairs = means.iter_mut().zip(&*scores);
                    pairs.for_each(|(mean, score)| *mean += share * f64::from(*score));
                }
                for ((row, mean), votes) in rows.iter_mut().zip(&means).zip(&mut votes) {
                    row.score += weight * mean;
                    if *mean > 0.0 {
                        row.probability += weight;
                        *votes += members.len();
                    }
                }
            }
            for (at, row) in rows.iter_mut().enumerate() {
                let by = match draw {
                    Draw::Features => features[0].hash(first + at),
                    Draw::Keys(keys) => keys[first + at],
                };
                if votes[at] == self.members.len() {
                    row.probability = 1.0;
                }
                row.probability = row.probability.min(1.0);
                row.positive = unit(mix(mix(self.key) ^ by)) < row.probability;
            }
        }
        Ok(predictions)
    }
}

/// How far a score is above a threshold: above 0 exactly where the score is above the threshold.
pub(crate) fn above(score: f32, threshold: f32) -> f32 {
    score - threshold
}

/// A number in [0, 1) from 64 bits.
fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}
