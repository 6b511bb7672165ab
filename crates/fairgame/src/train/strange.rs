//! Rows that constraints say nothing of, and labels that training rows do not have.

use super::{Data, Notice, Warning};
use crate::Result;
use crate::model::{ModelSpec, ScoreScale};
use crate::rate::{Bound, RowNotice};
use crate::table::{Table, Values};

/// What is worth telling of the rows before the first turn: rows without a group as notices, and labels and groups of
/// validation and test rows that the training rows do not have as warnings.
///
/// # Errors
/// If validation or test rows have labels that training rows have not, and none of them is positive.
pub(super) fn strange(bound: &Bound, data: &Data<'_>) -> Result<(Vec<Notice>, Vec<Warning>)> {
    let (mut notices, mut warnings) = (Vec::new(), Vec::new());
    let mut unnamed = bound.unnamed();
    unnamed.add(&data.train.table)?;
    // Values that constraints leave out are meant to be, of rows that they are made for.
    let without =
        unnamed.finish()?.into_iter().filter(|one| matches!(one, RowNotice::NoGroup { .. }));
    notices.extend(without.map(|notice| Notice::Rows { part: "training", notice }));
    for (part, sheet) in [("validation", &data.val), ("test", &data.test)] {
        let Some(sheet) = sheet else { continue };
        let mut unnamed = bound.unnamed_or_unlabelled();
        let found = unnamed.add(&sheet.table).and_then(|()| unnamed.finish());
        for notice in found.map_err(|error| error.at(format!("the {part} rows")))? {
            match notice {
                RowNotice::NoGroup { .. } => notices.push(Notice::Rows { part, notice }),
                _ => warnings.push(Warning::Rows { part, notice }),
            }
        }
    }
    Ok((notices, warnings))
}

/// Scores of another model that rank rows the wrong way round, or so well that the model must have learnt from these rows.
pub(super) fn suspicious(
    model: &ModelSpec,
    bound: &Bound,
    table: &Table,
) -> Result<Option<Warning>> {
    let ModelSpec::Scores { columns, scale, taught, .. } = model else { return Ok(None) };
    let labels = bound.label().evaluate(table)?;
    for column in columns {
        let Values::Number(scores) = &table.column(column)?.values else { continue };
        let Some((auc, error)) = auc(scores, &labels) else { continue };
        let (column, scale) = (column.clone(), *scale);
        if auc < 0.5 - 3.0 * error {
            return Ok(Some(Warning::Reversed { column, auc, scale }));
        }
        // Scores of models that these rows have taught are known to be too good on rows that taught.
        if auc > TOO_GOOD && columns.len() == 1 && !taught && labels.len() >= MANY {
            return Ok(Some(Warning::TooGood { column, auc }));
        }
    }
    Ok(None)
}

/// Scores of an AUC above it, of so many rows, give the label away.
const TOO_GOOD: f64 = 0.998;
const MANY: usize = 100;

/// The probability that a positive row has a larger score than a negative one (AUC; equal scores count half), and the
/// standard deviation of that of scores that tell nothing; none if all rows have one label.
fn auc(scores: &[f64], labels: &[bool]) -> Option<(f64, f64)> {
    let mut rows: Vec<(f64, bool)> = scores.iter().copied().zip(labels.iter().copied()).collect();
    rows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let positive = rows.iter().filter(|row| row.1).count() as f64;
    let negative = rows.len() as f64 - positive;
    if positive < 1.0 || negative < 1.0 {
        return None;
    }
    // Pairs in which the positive row is above the negative one.
    let (mut below, mut pairs) = (0.0, 0.0);
    for equal in rows.chunk_by(|a, b| a.0 == b.0) {
        let own = equal.iter().filter(|row| row.1).count() as f64;
        let others = equal.len() as f64 - own;
        pairs += own * (below + 0.5 * others);
        below += others;
    }
    let auc = pairs / (positive * negative);
    // The standard deviation of the rank sum of scores that tell nothing.
    let error = ((positive + negative + 1.0) / (12.0 * positive * negative)).sqrt();
    Some((auc, error))
}

/// What to do with scores that rank rows the wrong way round.
pub(super) fn turned(scale: ScoreScale) -> &'static str {
    match scale {
        ScoreScale::Probability => "give 1 − p, the probability of the other label,",
        ScoreScale::LogOdds => "give scores of the other sign,",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_chance_would_not_do_is_reversed() {
        let labels: Vec<bool> = (0..200).map(|row| row % 2 == 0).collect();
        let told =
            |sign: f64| labels.iter().map(|&label| sign * f64::from(u8::from(label))).collect();
        let (with, against): (Vec<f64>, Vec<f64>) = (told(1.0), told(-1.0));
        let of = |scores: &[f64], rows: usize| auc(&scores[..rows], &labels[..rows]).unwrap();
        let reversed = |(auc, error): (f64, f64)| auc < 0.5 - 3.0 * error;
        assert_eq!((of(&with, 200).0, of(&against, 200).0), (1.0, 0.0));
        assert_eq!(of(&[0.5; 200], 200).0, 0.5);
        assert!(reversed(of(&against, 200)) && !reversed(of(&with, 200)));
        assert!(!reversed(of(&against, 4)));
        assert_eq!(auc(&with[..1], &labels[..1]), None);
    }
}
