//! What is counted of one player's rows, before they are stored.

use super::scan::{Noted, Notes, TEST, noted};
use crate::Result;
use crate::rate::{Quantiser, check_total_weight};
use crate::table::Table;

/// What is counted of one player's rows.
pub(super) struct Counts {
    pub(super) weights: Vec<f64>,
    pub(super) rows: Vec<usize>,
    pub(super) quantiser: Quantiser,
    pub(super) weighted: bool,
}

impl Counts {
    /// Counts the rows of each of so many patterns.
    pub(super) fn new(sources: &[Noted], patterns: usize, of_val: bool) -> Result<Self> {
        let own = |note: u32| note != TEST && noted(note).1 == of_val;
        let has = |source: &Noted| source.notes.iter().flat_map(Notes::iter).any(own);
        let weighted = sources.iter().any(|source| !source.weights.is_empty() && has(source));
        // Of a source, weights stand in the order of its rows.
        let given = || {
            sources.iter().flat_map(|source| {
                let weights = source.weights.iter().flatten();
                let notes = source.notes.iter().flat_map(Notes::iter);
                let rows = notes.zip(weights).filter(move |(note, _)| own(*note));
                rows.map(|(note, weight)| (noted(note).0, *weight))
            })
        };
        let most = given().map(|(_, weight)| weight).fold(0.0, f32::max);
        check_total_weight(given().map(|(_, weight)| f64::from(weight)).sum())?;
        let quantiser = Quantiser::new(most, || given().map(|(_, weight)| weight));
        let (mut weights, mut rows) = (vec![0.0; patterns], vec![0; patterns]);
        for source in sources {
            let notes = source.notes.iter().flat_map(Notes::iter).filter(|note| own(*note));
            notes.for_each(|note| rows[noted(note).0] += 1);
        }
        match weighted {
            true => given().for_each(|(pattern, weight)| {
                weights[pattern] += f64::from(quantiser.of(weight));
            }),
            false => weights.iter_mut().zip(&rows).for_each(|(sum, rows)| *sum = *rows as f64),
        }
        Ok(Counts { weights, rows, quantiser, weighted })
    }

    /// The patterns that there are rows of, and what these count.
    pub(super) fn present(&self, patterns: &Table) -> (Vec<usize>, Table, Vec<f64>, Vec<usize>) {
        let there: Vec<usize> = (0..self.rows.len()).filter(|&at| self.rows[at] > 0).collect();
        let table = patterns.take(&there);
        let weights = there.iter().map(|&at| self.weights[at]).collect();
        let rows = there.iter().map(|&at| self.rows[at]).collect();
        (there, table, weights, rows)
    }

    /// The weight and the number of rows in each cell.
    pub(super) fn by_cell(&self, cell_of: &[u32], cells: usize) -> (Vec<f64>, Vec<usize>) {
        let (mut weights, mut rows) = (vec![0.0; cells], vec![0; cells]);
        for (pattern, &cell) in cell_of.iter().enumerate().filter(|(_, cell)| **cell != TEST) {
            weights[cell as usize] += self.weights[pattern];
            rows[cell as usize] += self.rows[pattern];
        }
        (weights, rows)
    }
}
