//! What a classifier comes to on rows that have labels.

use super::Classifier;
use crate::Result;
use crate::evaluate::{Decisions, Evaluation, evaluate_by_unit};
use crate::table::Table;

impl Classifier {
    /// What to know of an evaluation without units, of a classifier that was trained with them.
    pub fn forgets_unit(&self, by_unit: bool) -> Option<String> {
        let unit = self.provenance().settings.get("unit").and_then(|name| name.as_str())?;
        (!by_unit).then(|| {
            format!(
                "the training had several rows of one `{unit}`, and this evaluation takes rows as independent: if these \
                 are not, name the column that says which belong together (`unit`)"
            )
        })
    }

    /// Evaluates the classifier's own problem on a table, through its chance of a positive decision on each
    /// row.
    ///
    /// # Errors
    /// If the table lacks a column of the features or the problem; and those of
    /// [`evaluate`](crate::evaluate::evaluate).
    pub fn evaluate(
        &self,
        table: &Table,
        weights: Option<&[f32]>,
        confidence: f64,
    ) -> Result<Evaluation> {
        self.evaluate_by_unit(table, weights, None, confidence)
    }

    /// The same, of rows of these units: one a row, as [`draws`](super::draws) of a column of identifiers has them.
    ///
    /// # Errors
    /// As of [`Classifier::evaluate`]; or if there is not one unit a row.
    pub fn evaluate_by_unit(
        &self,
        table: &Table,
        weights: Option<&[f32]>,
        units: Option<&[Option<u64>]>,
        confidence: f64,
    ) -> Result<Evaluation> {
        let predictions = self.decide(table)?;
        let probabilities: Vec<f64> =
            predictions.iter().map(|prediction| prediction.probability).collect();
        let decisions = Decisions::Probabilities(&probabilities);
        evaluate_by_unit(self.bound(), table, weights, units, decisions, confidence)
    }
}
