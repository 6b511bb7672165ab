//! What a player asks of data: a tally of decisions, and the slope of the Lagrangian in the scores.

use std::ops::AddAssign;

use super::Surrogate;

/// The sums over the rows of one cell.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Count {
    /// W: the weight of the rows.
    pub weight: f64,
    /// P: the weight of the rows decided positive.
    pub positive: f64,
    /// A: the sum of w·h(f).
    pub above: f64,
    /// B: the sum of w·h(−f).
    pub below: f64,
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.weight += other.weight;
        self.positive += other.positive;
        self.above += other.above;
        self.below += other.below;
    }
}

/// One [`Count`] for each cell. Tallies of blocks of rows add up to the tally of all.
#[derive(Debug, Clone, PartialEq)]
pub struct Tally {
    /// The counts, by cell.
    pub counts: Vec<Count>,
}

impl Tally {
    /// The tally of no rows.
    pub fn new(cells: usize) -> Self {
        Tally { counts: vec![Count::default(); cells] }
    }

    /// Back to the tally of no rows.
    pub fn clear(&mut self) {
        self.counts.fill(Count::default());
    }

    /// Every sum times `factor`: the tally of a minibatch of b of n rows, times n/b, estimates that of
    /// all.
    pub fn scale(&mut self, factor: f64) {
        for count in &mut self.counts {
            count.weight *= factor;
            count.positive *= factor;
            count.above *= factor;
            count.below *= factor;
        }
    }
}

impl AddAssign<&Tally> for Tally {
    /// # Panics
    /// If the tallies have different numbers of cells.
    fn add_assign(&mut self, other: &Self) {
        assert_eq!(self.counts.len(), other.counts.len(), "tallies of the same cells add");
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, other)| *count += *other);
    }
}

/// How hard the Lagrangian pushes the scores of a cell's rows, both ways.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Push {
    /// d(c): down.
    pub down: f32,
    /// u(c): up.
    pub up: f32,
}

/// Adds the rows with these cells, weights (`None` is 1 each) and scores to a tally.
///
/// Without a surrogate, only weights and decisions are counted.
///
/// # Panics
/// If the slices differ in length, or a cell is not in the tally.
pub fn tally_scores(
    cells: &[u32],
    weights: Option<&[f32]>,
    scores: &[f32],
    surrogate: Option<Surrogate>,
    tally: &mut Tally,
) {
    assert_eq!(cells.len(), scores.len(), "one score a row");
    let Some(surrogate) = surrogate else {
        return each_row(cells, weights, scores, |cell, weight, score| {
            let count = &mut tally.counts[cell as usize];
            count.weight += f64::from(weight);
            count.positive += f64::from(if score > 0.0 { weight } else { 0.0 });
        });
    };
    // One loop for each surrogate, so that none decides which it is for every row.
    match surrogate {
        Surrogate::Hinge => {
            tally_with(cells, weights, scores, tally, |f| Surrogate::Hinge.value(f))
        }
        Surrogate::Logistic => {
            tally_with(cells, weights, scores, tally, |f| Surrogate::Logistic.value(f));
        }
        Surrogate::Sigmoid => {
            tally_with(cells, weights, scores, tally, |f| Surrogate::Sigmoid.value(f));
        }
        Surrogate::Ramp => tally_with(cells, weights, scores, tally, |f| Surrogate::Ramp.value(f)),
    }
}

#[inline]
fn tally_with(
    cells: &[u32],
    weights: Option<&[f32]>,
    scores: &[f32],
    tally: &mut Tally,
    h: impl Fn(f32) -> f32,
) {
    each_row(cells, weights, scores, |cell, weight, score| {
        tally.counts[cell as usize] += Count {
            weight: f64::from(weight),
            positive: f64::from(if score > 0.0 { weight } else { 0.0 }),
            above: f64::from(weight) * f64::from(h(score)),
            below: f64::from(weight) * f64::from(h(-score)),
        };
    });
}

/// Writes the slope of Σ_i λ_i ℓ̃_i in each row's score: w·(d(c)·h'(f) − u(c)·h'(−f)).
///
/// `pushes` holds one push for each cell.
///
/// # Panics
/// If the slices differ in length, or a cell has no push.
pub fn push_scores(
    cells: &[u32],
    weights: Option<&[f32]>,
    scores: &[f32],
    pushes: &[Push],
    surrogate: Surrogate,
    slopes: &mut [f32],
) {
    assert_eq!(cells.len(), scores.len(), "one score a row");
    assert_eq!(cells.len(), slopes.len(), "one slope a row");
    match surrogate {
        Surrogate::Hinge => {
            push_with(cells, weights, scores, pushes, slopes, |f| Surrogate::Hinge.slope(f));
        }
        Surrogate::Logistic => {
            push_with(cells, weights, scores, pushes, slopes, |f| Surrogate::Logistic.slope(f));
        }
        Surrogate::Sigmoid => {
            push_with(cells, weights, scores, pushes, slopes, |f| Surrogate::Sigmoid.slope(f));
        }
        Surrogate::Ramp => {
            push_with(cells, weights, scores, pushes, slopes, |f| Surrogate::Ramp.slope(f));
        }
    }
}

#[inline]
fn push_with(
    cells: &[u32],
    weights: Option<&[f32]>,
    scores: &[f32],
    pushes: &[Push],
    slopes: &mut [f32],
    slope: impl Fn(f32) -> f32,
) {
    let mut slopes = slopes.iter_mut();
    each_row(cells, weights, scores, |cell, weight, score| {
        let push = pushes[cell as usize];
        if let Some(out) = slopes.next() {
            *out = weight * (push.down * slope(score) - push.up * slope(-score));
        }
    });
}

/// Hands each row's cell, weight and score to `row`.
#[inline]
fn each_row(
    cells: &[u32],
    weights: Option<&[f32]>,
    scores: &[f32],
    mut row: impl FnMut(u32, f32, f32),
) {
    match weights {
        None => cells.iter().zip(scores).for_each(|(&cell, &score)| row(cell, 1.0, score)),
        Some(weights) => {
            assert_eq!(cells.len(), weights.len(), "one weight a row");
            for ((&cell, &score), &weight) in cells.iter().zip(scores).zip(weights) {
                row(cell, weight, score);
            }
        }
    }
}
