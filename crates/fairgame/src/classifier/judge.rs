//! What a classifier comes to on rows that have labels.

use super::Classifier;
use crate::Result;
use crate::evaluate::{Decisions, Evaluation, evaluate};
use crate::table::Table;

impl Classifier {
    /// Evaluates the classifier's own problem on a table, through its chance of a positive decision on each
    /// row.
    ///
    /// # Errors
    /// If the table lacks a column of the features or the problem; and those of [`evaluate`].
    pub fn evaluate(
        &self,
        table: &Table,
        weights: Option<&[f32]>,
        confidence: f64,
    ) -> Result<Evaluation> {
        let predictions = self.decide(table)?;
        let probabilities: Vec<f64> =
            predictions.iter().map(|prediction| prediction.probability).collect();
        let decisions = Decisions::Probabilities(&probabilities);
        evaluate(self.bound(), table, weights, decisions, confidence)
    }
}
