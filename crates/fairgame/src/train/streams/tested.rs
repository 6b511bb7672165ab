//! What a classifier comes to on rows to test on, which are read in chunks at the end.

use super::Streams;
use super::divide::{Divide, Part};
use super::scan::{self, By, pass};
use crate::Result;
use crate::classifier::{Classifier, draws};
use crate::evaluate::{Accumulator, Decisions, Evaluation};

/// What is known of rows that are not held as tables.
pub(in crate::train) struct Streamed<'a> {
    pub(super) streams: Streams<'a>,
    pub(super) divide: Divide,
    pub(super) by: By,
    pub(super) weight: Option<String>,
    pub(super) unit: Option<String>,
}

impl Streamed<'_> {
    /// What the classifier comes to on the rows to test on, and where these are from; none if there are none.
    pub(in crate::train) fn test(
        &self,
        classifier: &Classifier,
        confidence: f64,
    ) -> Result<Option<(String, Evaluation)>> {
        let (stream, divide) = match &self.streams.test {
            Some(test) => (test, None),
            None => (&self.streams.train, Some(self.divide)),
        };
        let mut sums = Accumulator::new(classifier.bound());
        let mut any = false;
        if divide.is_some_and(|divide| !divide.tests()) {
            return Ok(None);
        }
        pass(&stream.feed, &mut |chunk, first| {
            let mut weights = stream.weights_of(self.weight.as_deref(), &chunk, first)?;
            let mut chunk = chunk;
            if let Some(divide) = divide {
                let (keys, _) = scan::keys(&self.by, &chunk, first)?;
                let rows: Vec<usize> =
                    (0..keys.len()).filter(|&row| divide.part(keys[row]) == Part::Test).collect();
                weights = weights.map(|all| rows.iter().map(|&row| all[row]).collect());
                chunk = chunk.take(&rows);
            }
            if chunk.rows() == 0 {
                return Ok(());
            }
            any = true;
            let decided = classifier.decide(&chunk)?;
            let chances: Vec<f64> = decided.iter().map(|one| one.probability).collect();
            let unit = self.unit.as_deref().and_then(|name| chunk.find(name));
            let units = unit.map(|column| draws(&column.values));
            let decisions = Decisions::Probabilities(&chances);
            sums.add_by_unit(&chunk, weights.as_deref(), units.as_deref(), decisions)
        })?;
        if !any {
            return Ok(None);
        }
        let source = match divide {
            Some(_) => format!("a part of {}", stream.feed.name()),
            None => stream.feed.name().to_owned(),
        };
        Ok(Some((source, sums.finish(confidence)?)))
    }
}
