//! Scores of another model, which the table has as columns.
//!
//! A score s is a probability p, and then its log-odds are log(p / (1 − p)), or the log-odds themselves. Probabilities of
//! 0 and 1 are taken as 10⁻⁶ and 1 − 10⁻⁶: no finite number of rows shows more.

use crate::settings::{Fault, declare};
use crate::table::{Table, Values, is_probability, no_such_column};
use crate::{Error, ErrorKind, Result};

declare! {
    /// What the scores of another model are.
    #[derive(Copy, Eq)]
    pub enum ScoreScale (default ScoreScale::Probability) {
        /// Probabilities of the label, from 0 to 1.
        Probability = "probability",
        /// Log-odds of the label: any finite number.
        LogOdds = "log_odds",
    }
}

/// The least probability, and the least distance from 1.
const LEAST: f64 = 1e-6;

impl ScoreScale {
    /// The log-odds of a score.
    ///
    /// ```
    /// use fairgame::model::ScoreScale;
    /// assert_eq!(ScoreScale::Probability.log_odds(0.5), 0.0);
    /// assert!((ScoreScale::Probability.log_odds(0.75) - 3.0_f32.ln()).abs() < 1e-6);
    /// assert_eq!(ScoreScale::LogOdds.log_odds(-2.0), -2.0);
    /// ```
    pub fn log_odds(self, score: f32) -> f32 {
        match self {
            ScoreScale::Probability => {
                let p = f64::from(score).clamp(LEAST, 1.0 - LEAST);
                (p / (1.0 - p)).ln() as f32
            }
            ScoreScale::LogOdds => score,
        }
    }

    /// Refuses a column of a table that does not have a score in each row.
    pub(crate) fn check(self, table: &Table, column: &str) -> Result<()> {
        let found = table.columns().iter().find(|one| one.name == column);
        let names = table.columns().iter().map(|one| one.name.as_str());
        let values = &found.ok_or_else(|| no_such_column(column, names))?.values;
        let wrong = |message: String, help: &str| {
            let error = Error::new(ErrorKind::Value, message).help(help.to_owned());
            Err(error.at(format!("column `{column}`")))
        };
        let Values::Number(scores) = values else {
            let message = format!("is a {}, and scores are numbers", values.kind());
            return wrong(
                message,
                "name the column that has the scores; if it is this one, `--type COLUMN=number` finds the text that is none",
            );
        };
        let sound = |score: &f64| match self {
            ScoreScale::Probability => is_probability(*score),
            ScoreScale::LogOdds => score.is_finite() && score.abs() <= f64::from(f32::MAX),
        };
        match scores.iter().position(|score| !sound(score)) {
            None => Ok(()),
            Some(row) if scores[row].is_nan() => wrong(
                format!("row {} has no score", row + 1),
                "give every row a score, or leave the row out",
            ),
            Some(row) if self == ScoreScale::LogOdds => wrong(
                format!("row {} has the score {}, which is too large", row + 1, scores[row]),
                "give finite log-odds",
            ),
            Some(row) => wrong(
                format!("row {} has the score {}, which is no probability", row + 1, scores[row]),
                "give probabilities from 0 to 1; log-odds are named in training: \
                 --set 'model.scores.scale = \"log_odds\"', in Python scale=\"log_odds\"",
            ),
        }
    }
}

/// Refuses settings without a column, or with one twice.
pub(super) fn some(columns: &[String]) -> Result<(), Fault> {
    if columns.is_empty() {
        return Err(Fault::new("no column has the scores", "name one, or one for each fold"));
    }
    for (at, column) in columns.iter().enumerate() {
        if columns[..at].contains(column) {
            let message = format!("column `{column}` is given twice");
            return Err(Fault::new(message, "give one column, or a column for each fold"));
        }
    }
    Ok(())
}
