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
        let ModelSpec::Scores { columns, taught, scale, .. } = model else { return Ok(None) };
        let of_fold = *taught || columns.len() > 1;
        Self::find(score_column(columns, game), *scale, of_fold, encoder).map(Some)
    }

    /// The probabilities of groups that another model gives a fold, in the order of the sets that are not the label's.
    pub(super) fn of_groups(
        model: &ModelSpec,
        encoder: &Encoder,
        (game, folds): (usize, usize),
    ) -> Result<Vec<Self>> {
        let ModelSpec::Scores { groups, .. } = model else { return Ok(Vec::new()) };
        let own = group_columns(groups, (game, folds)).iter();
        own.map(|column| Self::find(column, ScoreScale::Probability, true, encoder)).collect()
    }

    fn find(column: &str, scale: ScoreScale, of_fold: bool, encoder: &Encoder) -> Result<Self> {
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
        Ok(Given { column: column.to_owned(), number, scale, of_fold })
    }

    pub(super) fn log_odds(&self) -> LogOdds {
        LogOdds::Score { number: self.number, scale: self.scale }
    }

    pub(super) fn score(&self, features: &Features, row: usize) -> f32 {
        self.scale.log_odds(features.row_values(row)[self.number])
    }
}

/// The columns that a fold decides by: that of its scores, and those of the probabilities of groups.
pub(super) fn own_columns<'a>(
    columns: &'a [String],
    groups: &'a [String],
    (game, folds): (usize, usize),
) -> Vec<&'a str> {
    let groups = group_columns(groups, (game, folds)).iter().map(String::as_str);
    std::iter::once(score_column(columns, game)).chain(groups).collect()
}

/// Of columns that are fold by fold, those of one fold.
fn group_columns(groups: &[String], (game, folds): (usize, usize)) -> &[String] {
    let each = groups.len() / folds.max(1);
    &groups[game * each..(game + 1) * each]
}

/// The column with the scores of a fold.
fn score_column(columns: &[String], game: usize) -> &str {
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

/// Refuses probabilities of groups that are not one for each fold and set.
pub(super) fn check_groups(groups: &[String], wanted: usize) -> Result<()> {
    if groups.is_empty() || groups.len() == wanted {
        return Ok(());
    }
    let message = format!(
        "{} columns have probabilities of groups, and the problem needs {wanted}: one for each fold and set of groups",
        groups.len()
    );
    Err(Error::new(ErrorKind::Settings, message).at("model.scores.groups").help(match wanted {
        0 => "leave them out: features tell all groups",
        _ => "leave them out, and boosted trees learn these probabilities",
    }))
}
