//! Draws that rows share.
//!
//! A row whose decision is drawn is drawn by a hash of its features, so rows with equal features are decided alike. All
//! that is judged are chances. With w_i the weight of row i, p its chance of a positive decision and a_c(i) what a positive
//! decision of it adds to loss c, decisions that are drawn together spread loss c around its mean by
//!
//! ```text
//! √ Σ_h p_h·(1 − p_h)·[ (Σ_{i ∈ h} a_c(i))² − Σ_{i ∈ h} a_c(i)² ]
//! ```
//!
//! over the hashes h, beyond what draws of each row alone would. In a large population the latter vanishes, and this does
//! not.

use std::collections::HashMap;

use super::Training;
use crate::encode::Features;
use crate::rate::Tally;

impl Training<'_> {
    /// By how much draws that rows share spread each constraint's loss, as a standard deviation; `chances` are those of
    /// the rows that constraints are enforced on, and `seen` what the classifier's first view has of them.
    pub(super) fn shared_draws(&self, seen: &Features, chances: &[f64]) -> Vec<f64> {
        let (enforced, constraints) = (self.enforced(), self.bound.constraints().len());
        let mut of_hash: HashMap<u64, Vec<u32>> = HashMap::new();
        for (row, chance) in chances.iter().enumerate() {
            if *chance > 1e-9 && *chance < 1.0 - 1e-9 {
                of_hash.entry(seen.hash(row)).or_default().push(row as u32);
            }
        }
        let mut variances = vec![0.0; constraints];
        let mut effects: HashMap<u32, Vec<f64>> = HashMap::new();
        let (mut sums, mut squares) = (vec![0.0; constraints], vec![0.0; constraints]);
        // In the order of the rows, so that sums are the same every time.
        let mut shared: Vec<Vec<u32>> =
            of_hash.into_values().filter(|rows| rows.len() > 1).collect();
        shared.sort_unstable();
        for rows in shared {
            sums.fill(0.0);
            squares.fill(0.0);
            for &row in &rows {
                let cell = enforced.compiled.cells()[row as usize];
                let weight =
                    enforced.weights.as_ref().map_or(1.0, |all| f64::from(all[row as usize]));
                let effect = effects.entry(cell).or_insert_with(|| self.effect_of(cell));
                for (at, by) in effect.iter().enumerate() {
                    sums[at] += weight * by;
                    squares[at] += (weight * by).powi(2);
                }
            }
            let chance = chances[rows[0] as usize];
            for ((variance, sum), square) in variances.iter_mut().zip(&sums).zip(&squares) {
                *variance += chance * (1.0 - chance) * (sum * sum - square);
            }
        }
        variances.into_iter().map(|variance: f64| variance.max(0.0).sqrt()).collect()
    }

    /// What a positive decision of a row of this cell, of weight 1, adds to each constraint's loss.
    fn effect_of(&self, cell: u32) -> Vec<f64> {
        let losses = self.enforced().compiled.losses();
        let mut tally = Tally::new(losses.cells());
        let without = losses.exact(&tally).constraints;
        tally.counts[cell as usize].positive = 1.0;
        let with = losses.exact(&tally).constraints;
        with.iter().zip(&without).map(|(with, without)| with - without).collect()
    }
}
