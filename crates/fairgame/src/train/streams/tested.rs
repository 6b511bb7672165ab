//! What a classifier comes to on rows to test on, which are read in chunks at the end.

use super::Stream;
use super::divide::{Divide, Part};
use super::reading::Reading;
use super::scan::{self, By, pass};
use super::shards::Driver;
use crate::Result;
use crate::classifier::{Classifier, draws};
use crate::evaluate::{Accumulator, Decisions, Evaluation};

/// What is known of rows that are not held as tables.
pub(in crate::train) struct Streamed<'a> {
    pub(super) rows: Reading<'a>,
    pub(super) divide: Divide,
    pub(super) by: By,
    pub(super) weight: Option<String>,
    pub(super) unit: Option<String>,
    /// What the rows that teach weigh together.
    pub(super) taught_weight: f64,
}

/// How rows to test on are found, weighed and told apart.
pub(super) struct How<'a> {
    /// What draws them; none if all are.
    pub(super) divide: Option<Divide>,
    pub(super) by: &'a By,
    pub(super) weight: Option<&'a str>,
    pub(super) unit: Option<&'a str>,
}

impl Streamed<'_> {
    /// What the rows that teach weigh together.
    pub(in crate::train) fn taught_weight(&self) -> f64 {
        self.taught_weight
    }

    /// Who asks the shards, where rows are with these.
    pub(in crate::train) fn driver(&self) -> Option<&Driver> {
        match &self.rows {
            Reading::Here(_) => None,
            Reading::There(driver) => Some(driver),
        }
    }

    /// What the classifier comes to on the rows to test on, and where these are from; none if there are none.
    pub(in crate::train) fn test(
        &self,
        classifier: &Classifier,
        confidence: f64,
    ) -> Result<Option<(String, Evaluation)>> {
        let drawn = || format!("a part of {}", self.rows.name());
        let (mut sums, source) = (Accumulator::new(classifier.bound()), drawn());
        let any = match &self.rows {
            Reading::There(_) if !self.divide.tests() => return Ok(None),
            Reading::There(driver) => {
                sums = driver.test(&self.by, classifier)?;
                sums.rows() > 0
            }
            Reading::Here(streams) => {
                let (stream, divide) = match &streams.test {
                    Some(test) => (test, None),
                    None if !self.divide.tests() => return Ok(None),
                    None => (&streams.train, Some(self.divide)),
                };
                let (weight, unit) = (self.weight.as_deref(), self.unit.as_deref());
                let how = How { divide, by: &self.by, weight, unit };
                add_up(classifier, stream, 0, &how, &mut sums)?;
                let any = sums.rows() > 0;
                if divide.is_none() {
                    let source = stream.feed.name().to_owned();
                    return any.then(|| Ok((source, sums.finish(confidence)?))).transpose();
                }
                any
            }
        };
        any.then(|| Ok((source, sums.finish(confidence)?))).transpose()
    }
}

/// Adds up what a classifier decides of the rows of a stream, whose first row has the number `before`.
pub(super) fn add_up(
    classifier: &Classifier,
    stream: &Stream<'_>,
    before: u64,
    how: &How<'_>,
    sums: &mut Accumulator,
) -> Result<()> {
    pass(&stream.feed, &mut |chunk, first| {
        let mut weights = stream.weights_of(how.weight, &chunk, first)?;
        let mut chunk = chunk;
        if let Some(divide) = how.divide {
            let (keys, _) = scan::keys(how.by, &chunk, before + first)?;
            let rows: Vec<usize> =
                (0..keys.len()).filter(|&row| divide.part(keys[row]) == Part::Test).collect();
            weights = weights.map(|all| rows.iter().map(|&row| all[row]).collect());
            chunk = chunk.take(&rows);
        }
        if chunk.rows() == 0 {
            return Ok(());
        }
        let decided = classifier.decide(&chunk)?;
        let chances: Vec<f64> = decided.iter().map(|one| one.probability).collect();
        let unit = how.unit.and_then(|name| chunk.find(name));
        let units = unit.map(|column| draws(&column.values));
        let decisions = Decisions::Probabilities(&chances);
        sums.add_by_unit(&chunk, weights.as_deref(), units.as_deref(), decisions)
    })
}
