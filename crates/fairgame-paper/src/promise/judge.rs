//! What a classifier comes to in the population, and how sure the judging rows are of it.
//!
//! Where η is known, a row counts as positive with weight η and as negative with weight 1 − η. The standard error is
//! the jackknife's: the judging rows are cut into B = 20 blocks; with v₍₋ᵦ₎ the value without block b and v̄ the mean of
//! these, its square is (B − 1)/B · Σ (v₍₋ᵦ₎ − v̄)². That is right for weights, ratios and η alike.

use fairgame::classifier::Classifier;
use fairgame::evaluate::{Accumulator, Decisions, Evaluation};
use fairgame::table::{Column, Table, Values};
use fairgame::train::weight_column;
use fairgame::{Error, ErrorKind, Result};

use super::Drawn;

/// B.
const BLOCKS: usize = 20;

/// Of sums that are judged at a confidence: its value is not used.
const ANY: f64 = 0.95;

/// The objective in the population; and each constraint there, with its standard error.
pub(super) struct Judged {
    pub(super) objective: f64,
    pub(super) constraints: Vec<(f64, f64)>,
}

pub(super) fn judge(classifier: &Classifier, rows: &Drawn, weight: Option<&str>) -> Result<Judged> {
    let decided = classifier.decide(&rows.table)?;
    let chances: Vec<f64> = decided.iter().map(|one| one.probability).collect();
    let weights = match weight {
        Some(name) => weight_column(&rows.table, name, 0)?,
        None => vec![1.0; chances.len()],
    };
    // The same rows once or twice, each time with labels and weights of its own.
    let copies: Vec<(Table, Vec<f32>)> = match &rows.eta {
        None => vec![(rows.table.clone(), weights)],
        Some(eta) => [true, false]
            .into_iter()
            .map(|label| {
                let share = |eta: f64| if label { eta } else { 1.0 - eta };
                let weighed = weights.iter().zip(eta).map(|(w, &eta)| w * share(eta) as f32);
                Ok((labelled(&rows.table, label)?, weighed.collect()))
            })
            .collect::<Result<_>>()?,
    };
    let block = |block: usize| -> Result<Accumulator> {
        let own: Vec<usize> = (block..chances.len()).step_by(BLOCKS).collect();
        let chances: Vec<f64> = own.iter().map(|&row| chances[row]).collect();
        let mut sums = Accumulator::new(classifier.bound());
        for (table, weights) in &copies {
            let weights: Vec<f32> = own.iter().map(|&row| weights[row]).collect();
            sums.add(&table.take(&own), Some(&weights), Decisions::Probabilities(&chances))?;
        }
        Ok(sums)
    };
    let blocks: Vec<Accumulator> = (0..BLOCKS).map(block).collect::<Result<_>>()?;
    let all_but = |left_out: Option<usize>| -> Result<Vec<f64>> {
        let mut sums = Accumulator::new(classifier.bound());
        for (at, block) in blocks.iter().enumerate() {
            if left_out != Some(at) {
                sums.merge(block)?;
            }
        }
        values(&sums.finish(ANY)?)
    };
    let without: Vec<Vec<f64>> =
        (0..BLOCKS).map(|block| all_but(Some(block))).collect::<Result<_>>()?;
    let mut all = all_but(None)?.into_iter().enumerate();
    let objective = all.next().map_or(f64::NAN, |(_, value)| value);
    let constraints = all.map(|(at, value)| {
        let mean = without.iter().map(|one| one[at]).sum::<f64>() / BLOCKS as f64;
        let square: f64 = without.iter().map(|one| (one[at] - mean).powi(2)).sum();
        (value, (square * (BLOCKS - 1) as f64 / BLOCKS as f64).sqrt())
    });
    Ok(Judged { objective, constraints: constraints.collect() })
}

/// The objective, then the constraints.
fn values(found: &Evaluation) -> Result<Vec<f64>> {
    let constraints = found.constraints.iter().map(|one| &one.measurement);
    let value = |one: &fairgame::evaluate::Measurement| {
        let reason = one.reason().unwrap_or_default();
        let nothing = || Error::new(ErrorKind::Value, format!("nothing can be judged: {reason}"));
        one.estimate().map(|found| found.value).ok_or_else(nothing)
    };
    std::iter::once(&found.objective.measurement).chain(constraints).map(value).collect()
}

/// The same rows, all with this label.
fn labelled(table: &Table, label: bool) -> Result<Table> {
    let columns = table.columns().iter().map(|column| match column.name.as_str() {
        "label" => Column::new("label", Values::Boolean(vec![Some(label); table.rows()])),
        _ => column.clone(),
    });
    Table::new(columns.collect())
}

#[cfg(test)]
mod tests {
    use fairgame::algorithm::{Algorithm, Practical};
    use fairgame::train::Spec;

    use super::*;
    use crate::promise::Population;

    /// A classifier's values are those of the definition, and stray from set to set of rows as their errors say.
    #[test]
    fn values_and_their_errors_are_right() {
        let population = Population::Groups;
        let train = population.rows(1, 1000, "train").unwrap().table;
        let mut spec = Spec::paper("label", &["tpr(region == \"south\") >= 0.8"]);
        spec.weight = Some("weight".to_owned());
        spec.algorithm = Algorithm::Practical(Practical { turns: 300, ..Practical::default() });
        let classifier = spec.train(&train).unwrap().classifier;
        let (mut values, mut squares) = (Vec::new(), 0.0);
        const SETS: usize = 60;
        for set in 0..SETS {
            let rows = population.rows(set as u64, 2000, "judge").unwrap();
            let judged = judge(&classifier, &rows, Some("weight")).unwrap();
            let (value, error) = judged.constraints[0];
            assert!((value - by_definition(&classifier, &rows)).abs() < 1e-5, "set {set}");
            values.push(value);
            squares += error * error / SETS as f64;
        }
        let mean = values.iter().sum::<f64>() / SETS as f64;
        let spread: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        // Of 60 sets, the ratio of standard deviations has a standard deviation of about 0.09.
        let ratio = (spread / (SETS - 1) as f64 / squares).sqrt();
        assert!((0.7..1.35).contains(&ratio), "{ratio}");
    }

    /// 0.8 less the weighted recall of the south, by η.
    fn by_definition(classifier: &Classifier, rows: &Drawn) -> f64 {
        let Values::Category(region) = &rows.table.column("region").unwrap().values else {
            panic!("regions are categories");
        };
        let decided = classifier.decide(&rows.table).unwrap();
        let weights = weight_column(&rows.table, "weight", 0).unwrap();
        let eta = rows.eta.as_ref().unwrap();
        let (mut recalled, mut all) = (0.0, 0.0);
        for (row, text) in region.texts().enumerate() {
            if text == Some("south") {
                let weight = f64::from(weights[row]) * eta[row];
                recalled += weight * decided[row].probability;
                all += weight;
            }
        }
        0.8 - recalled / all
    }
}
