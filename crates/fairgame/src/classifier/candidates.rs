//! What a classifier's mixture was chosen from: enough of its columns to choose again under other bounds.

use serde::{Deserialize, Serialize};

use crate::archive::{Arrays, Numbers};
use crate::{Error, ErrorKind, Result};

/// Columns of the selection program, and what each adds to each loss in each part of the judging rows.
///
/// With s_jk the sum of column t in part j for loss k (0 is the objective), the loss of the column on all judging rows
/// is `constants[k]` + Σ_j s_jk. A mixture's is the weighted mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidates {
    /// Each column: the turn that it was kept at, and the place of its threshold, of which 0 is the model's own.
    pub columns: Vec<Candidate>,
    /// How many parts there are.
    pub parts: usize,
    /// What each loss is without any positive decision: the objective, then the constraints.
    pub constants: Vec<f64>,
    /// The sums: column by column, part by part, loss by loss.
    pub sums: Vec<f32>,
}

/// A column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// The turn that it was kept at.
    pub turn: u64,
    /// The place of its threshold.
    pub level: usize,
}

/// All but the sums, as it is written down.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Described {
    turns: Vec<u64>,
    levels: Vec<usize>,
    parts: usize,
    constants: Vec<f64>,
}

const SUMS: &str = "candidates.sums";

impl Candidates {
    /// ℓ_k of a column on all judging rows, 0 being the objective.
    ///
    /// # Panics
    /// If there is no such column or loss.
    pub fn loss(&self, column: usize, loss: usize) -> f64 {
        let count = self.constants.len();
        let own = &self.sums[column * self.parts * count..][..self.parts * count];
        self.constants[loss]
            + own.iter().skip(loss).step_by(count).map(|&sum| f64::from(sum)).sum::<f64>()
    }

    pub(super) fn describe(&self, arrays: &mut Arrays) -> Described {
        arrays.put(SUMS, Numbers::F32(self.sums.clone()));
        Described {
            turns: self.columns.iter().map(|column| column.turn).collect(),
            levels: self.columns.iter().map(|column| column.level).collect(),
            parts: self.parts,
            constants: self.constants.clone(),
        }
    }

    pub(super) fn of(described: Described, arrays: &mut Arrays) -> Result<Self> {
        let Described { turns, levels, parts, constants } = described;
        let length = turns.len().checked_mul(parts).and_then(|n| n.checked_mul(constants.len()));
        let Some(length) = length.filter(|_| turns.len() == levels.len()) else {
            return Err(Error::new(
                ErrorKind::Format,
                "the model's candidates are not all described",
            ));
        };
        let sums = arrays.take_f32(SUMS, length)?;
        let columns = turns.into_iter().zip(levels).map(|(turn, level)| Candidate { turn, level });
        Ok(Candidates { columns: columns.collect(), parts, constants, sums })
    }
}
