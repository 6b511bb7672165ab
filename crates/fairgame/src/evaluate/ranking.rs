//! The area under the ROC curve from scores that come in parts.
//!
//! Kept is the weight of each score in each class of rows. Scores that are equal share an entry, and once there are [`MOST`]
//! entries, so do scores that agree in their first 12 binary digits: memory is then bounded, and the area is off by at most
//! half of the share of pairs of rows that can no longer be told apart.
//!
//! With V(s) the share of negative rows below score s (equal ones count half), the area is A, the mean of V over positive
//! rows. DeLong's variance is Var(V)/n₁ + Var(U)/n₀, with U the same share for negative rows, and n₁ and n₀ the effective
//! numbers of rows.

use hashbrown::HashMap;

use super::groups::Auc;
use super::interval::Mean;

/// So many different scores of a class are told apart exactly, over all classes.
const MOST: usize = 1 << 19;

/// Binary digits of a score that are dropped beyond: 52 of the fraction but for 12.
const DROPPED: u32 = 40;

/// Weights by class and score.
#[derive(Debug, Default)]
pub(super) struct Ranking {
    weights: HashMap<(u32, u64), f64>,
    coarse: bool,
}

/// A number whose order is that of the score.
fn ordered(score: f64) -> u64 {
    // −0 is 0.
    let bits = (score + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

impl Ranking {
    /// Adds a row; its score is a number.
    pub(super) fn add(&mut self, class: u32, score: f64, weight: f32) {
        if weight <= 0.0 {
            return;
        }
        let score = ordered(score);
        let key = (class, if self.coarse { score >> DROPPED } else { score });
        *self.weights.entry(key).or_default() += f64::from(weight);
        if !self.coarse && self.weights.len() > MOST {
            self.coarse = true;
            let fine = std::mem::take(&mut self.weights);
            for ((class, score), weight) in fine {
                *self.weights.entry((class, score >> DROPPED)).or_default() += weight;
            }
        }
    }

    /// Whether all scores are told apart.
    pub(super) fn is_exact(&self) -> bool {
        !self.coarse
    }

    /// By score, with cells in place of classes.
    pub(super) fn sorted(self, cell_of: &[u32]) -> Sorted {
        let entry =
            |((class, score), weight): ((u32, u64), f64)| (score, cell_of[class as usize], weight);
        let mut entries: Vec<(u64, u32, f64)> = self.weights.into_iter().map(entry).collect();
        entries.sort_unstable_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
        Sorted(entries)
    }
}

/// Scores in ascending order, each with a cell and the weight of its rows.
#[derive(Debug)]
pub(super) struct Sorted(Vec<(u64, u32, f64)>);

impl Sorted {
    /// The area under the curve of rows of some cells: `label` says which, and what their label is. `rows` are the effective
    /// numbers of positive and negative rows; without `alpha` there is no interval.
    pub(super) fn auc(
        &self,
        label: impl Fn(u32) -> Option<bool>,
        rows: [f64; 2],
        alpha: Option<f64>,
    ) -> Auc {
        // The positive and the negative weight of each score.
        let mut levels: Vec<(u64, f64, f64)> = Vec::new();
        for &(score, cell, weight) in &self.0 {
            let Some(label) = label(cell) else { continue };
            if levels.last().is_none_or(|(last, ..)| *last != score) {
                levels.push((score, 0.0, 0.0));
            }
            if let Some((_, positive, negative)) = levels.last_mut() {
                *(if label { positive } else { negative }) += weight;
            }
        }
        let positive: f64 = levels.iter().map(|level| level.1).sum();
        let negative: f64 = levels.iter().map(|level| level.2).sum();
        if positive <= 0.0 || negative <= 0.0 {
            return Auc { value: None, interval: None };
        }
        // Of each level: V, U.
        let (mut below, mut above) = (0.0, positive);
        let mut places = Vec::with_capacity(levels.len());
        for &(_, p, n) in &levels {
            above -= p;
            places.push(((below + n / 2.0) / negative, (above + p / 2.0) / positive));
            below += n;
        }
        let area = levels.iter().zip(&places).map(|(level, place)| level.1 * place.0).sum::<f64>();
        let area = (area / positive).clamp(0.0, 1.0);
        let (mut of_positive, mut of_negative) = (0.0, 0.0);
        for (&(_, p, n), (v, u)) in levels.iter().zip(&places) {
            of_positive += p * (v - area).powi(2);
            of_negative += n * (u - area).powi(2);
        }
        let interval = alpha.map(|alpha| {
            // The sample's variance, for which one row says nothing.
            let of = |sum: f64, weight: f64, rows: f64| sum / weight / (rows - 1.0).max(1.0);
            let variance = of(of_positive, positive, rows[0]) + of(of_negative, negative, rows[1]);
            let fewer = rows[0].min(rows[1]);
            Mean { value: area, variance, spread: fewer * variance, rows: fewer }.interval(alpha)
        });
        Auc { value: Some(area), interval }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    /// Against all pairs; coarse ones are near.
    #[test]
    fn areas_are_shares_of_pairs() {
        let mut stream = Stream::new(5, "areas");
        for _ in 0..20 {
            let rows: Vec<(f64, bool, f32)> = (0..200)
                .map(|_| {
                    let label = stream.below(3) == 0;
                    let score = stream.below(50) as f64 - 20.0 + if label { 5.0 } else { 0.0 };
                    (score / 10.0, label, (1 + stream.below(3)) as f32)
                })
                .collect();
            let (mut wins, mut pairs) = (0.0, 0.0);
            for a in rows.iter().filter(|row| row.1) {
                for b in rows.iter().filter(|row| !row.1) {
                    let weight = f64::from(a.2 * b.2);
                    pairs += weight;
                    wins += weight
                        * match a.0.total_cmp(&b.0) {
                            std::cmp::Ordering::Greater => 1.0,
                            std::cmp::Ordering::Equal => 0.5,
                            std::cmp::Ordering::Less => 0.0,
                        };
                }
            }
            let auc = |coarse| {
                let mut ranking = Ranking { coarse, ..Ranking::default() };
                rows.iter().for_each(|row| ranking.add(u32::from(row.1), row.0, row.2));
                ranking.sorted(&[0, 1]).auc(|cell| Some(cell == 1), [60.0, 140.0], Some(0.05))
            };
            let found = auc(false);
            let value = found.value.unwrap();
            assert!((value - wins / pairs).abs() < 1e-12, "{value} {}", wins / pairs);
            assert!(found.interval.unwrap().contains(value));
            assert!((auc(true).value.unwrap() - value).abs() < 1e-3);
        }
    }

    /// Many scores are kept coarsely, and the area hardly moves.
    #[test]
    fn many_scores() {
        let mut ranking = Ranking::default();
        let mut stream = Stream::new(6, "many scores");
        for _ in 0..MOST + 100_000 {
            let label = stream.below(2) == 0;
            let score = if label { stream.unit().sqrt() } else { stream.unit() };
            ranking.add(u32::from(label), score, 1.0);
        }
        assert!(!ranking.is_exact() && ranking.weights.len() < MOST / 4);
        let found = ranking.sorted(&[0, 1]).auc(|cell| Some(cell == 1), [3e5, 3e5], Some(0.05));
        // P(√a > b) = E √a = 2/3.
        assert!((found.value.unwrap() - 2.0 / 3.0).abs() < 2e-3, "{found:?}");
        assert!(found.interval.unwrap().contains(2.0 / 3.0));
    }
}
