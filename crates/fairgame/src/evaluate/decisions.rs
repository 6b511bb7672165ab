//! What was decided of rows.

use crate::table::is_probability;
use crate::{Error, ErrorKind, Result};

/// What was decided of each row.
#[derive(Debug, Clone, Copy)]
pub enum Decisions<'a> {
    /// The decisions themselves.
    Hard(&'a [bool]),
    /// The chance of a positive decision; what is beyond 0 or 1 by no more than rounding is 0 or 1.
    Probabilities(&'a [f64]),
}

impl Decisions<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Decisions::Hard(decisions) => decisions.len(),
            Decisions::Probabilities(probabilities) => probabilities.len(),
        }
    }

    /// p of a row; a decision is a chance of 0 or 1.
    pub(super) fn probability(&self, row: usize) -> f64 {
        match self {
            Decisions::Hard(decisions) => f64::from(u8::from(decisions[row])),
            Decisions::Probabilities(probabilities) => probabilities[row].clamp(0.0, 1.0),
        }
    }

    /// Checks that there is a chance for each of these rows, which come after `before` others.
    pub(super) fn check(&self, rows: usize, before: u64) -> Result<()> {
        if self.len() != rows {
            let message = format!("{} decisions are given for {rows} rows", self.len());
            return Err(Error::new(ErrorKind::Value, message));
        }
        let Decisions::Probabilities(probabilities) = self else { return Ok(()) };
        match probabilities.iter().position(|&p| !is_probability(p)) {
            None => Ok(()),
            Some(row) => {
                let message = format!(
                    "the probability of row {} is {}, which is not between 0 and 1",
                    before + row as u64 + 1,
                    probabilities[row]
                );
                Err(Error::new(ErrorKind::Value, message)
                    .help("give the chance of a positive decision, not a score"))
            }
        }
    }
}
