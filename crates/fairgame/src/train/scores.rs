//! Scores of another model in the plug-in game: which column a fold takes them from, and which rows may learn from them.

use crate::classifier::LogOdds;
use crate::encode::{Encoder, Features, Input};
use crate::model::{ModelSpec, ScoreScale};
use crate::table::{Table, Values};
use crate::{Error, ErrorKind, Result};

/// The scores of another model that a fold decides by.
pub(super) struct Given {
    pub(super) column: String,
    number: usize,
    scale: ScoreScale,
    /// Whether the scores are of a model that the fold's rows have taught, so that only rows that did not can learn
    /// from them.
    pub(super) of_fold: bool,
}

impl Given {
    /// Those of one fold, if the model is scores.
    pub(super) fn of(model: &ModelSpec, encoder: &Encoder, game: usize) -> Result<Option<Self>> {
        let ModelSpec::Scores { columns, taught, scale } = model else { return Ok(None) };
        let column = score_column(columns, game);
        let number = encoder.inputs().into_iter().find_map(|input| match input {
            Input::Number { column: of, number, .. } if of == column => Some(number),
            _ => None,
        });
        let Some(number) = number else {
            let message =
                format!("column `{column}` has the same score in all rows, or is ignored");
            return Err(Error::new(ErrorKind::Value, message)
                .help("give scores that tell rows apart, and do not ignore their column"));
        };
        let (column, of_fold) = (column.to_owned(), *taught || columns.len() > 1);
        Ok(Some(Given { column, number, scale: *scale, of_fold }))
    }

    pub(super) fn log_odds(&self) -> LogOdds {
        LogOdds::Score { number: self.number, scale: self.scale }
    }

    pub(super) fn score(&self, features: &Features, row: usize) -> f32 {
        self.scale.log_odds(features.row_values(row)[self.number])
    }
}

/// The column with the scores of a fold.
pub(super) fn score_column(columns: &[String], game: usize) -> &str {
    &columns[game % columns.len()]
}

/// How many different numbers a column has.
pub(super) fn distinct_numbers(table: &Table, column: &str) -> Result<usize> {
    let Values::Number(numbers) = &table.column(column)?.values else { return Ok(0) };
    let mut bits: Vec<u64> = numbers.iter().map(|number| number.to_bits()).collect();
    bits.sort_unstable();
    bits.dedup();
    Ok(bits.len())
}

/// Refuses scores that are neither of one model nor of one for each fold.
pub(super) fn check_scores(columns: &[String], folds: usize) -> Result<()> {
    if columns.len() == 1 || columns.len() == folds {
        return Ok(());
    }
    let message = format!("{} columns have scores, and there are {folds} folds", columns.len());
    let help = "name one column, with scores of a model that was not trained on these rows, or one for each fold";
    Err(Error::new(ErrorKind::Settings, message).help(help))
}
