//! Populations that datasets are drawn from.

use fairgame::random::Stream;

/// A kind of row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) share: f64,
    /// Whether it is in group `a`, in group `b`, and positive.
    pub(crate) a: bool,
    pub(crate) b: bool,
    pub(crate) y: bool,
    pub(crate) weight: f32,
    pub(crate) chance: f64,
}

/// What decides a row: how likely it is in the groups and positive, and how it is decided.
pub(crate) struct Population {
    pub(crate) name: &'static str,
    pub(crate) rows: usize,
    a: f64,
    b: f64,
    positive: f64,
    /// The rate of positive decisions, given group `a`, group `b` and the label.
    rate: fn(bool, bool, bool) -> f64,
    /// Chances, each with how often it occurs, whose mean is a rate.
    chances: fn(f64) -> Vec<(f64, f64)>,
    /// Weights, given whether the row is in `a`, and its chance; each equally often.
    weights: fn(bool, f64) -> Vec<f32>,
}

fn hard(rate: f64) -> Vec<(f64, f64)> {
    vec![(1.0 - rate, 0.0), (rate, 1.0)]
}

/// Half of the rows have the rate itself as their chance, the others less or more.
fn soft(rate: f64) -> Vec<(f64, f64)> {
    vec![(0.5, rate), (0.25, 0.6 * rate), (0.25, 1.4 * rate)]
}

/// Most rows are decided for sure; some by a draw, as those near a threshold.
fn mixed(rate: f64) -> Vec<(f64, f64)> {
    vec![(0.8 * (1.0 - rate), 0.0), (0.8 * rate, 1.0), (0.2, rate)]
}

/// Nearly every row has the same chance; a few are decided for sure.
fn rare(rate: f64) -> Vec<(f64, f64)> {
    vec![(0.97, rate * 0.9), (0.03, (rate - 0.97 * rate * 0.9) / 0.03)]
}

fn alike(_: bool, _: f64) -> Vec<f32> {
    vec![1.0]
}

/// A few rows count fifteen times as much as most.
fn heavy(_: bool, _: f64) -> Vec<f32> {
    vec![0.2, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 3.0]
}

/// A few rows carry most of the weight.
fn extreme(_: bool, _: f64) -> Vec<f32> {
    let mut weights = vec![1.0; 30];
    weights.extend([5.0, 10.0, 30.0]);
    weights
}

fn uneven(_: bool, _: f64) -> Vec<f32> {
    vec![0.5, 1.0, 1.0, 3.0]
}

/// Rows decided positive count more, and so do those of group `a`.
fn leaning(a: bool, chance: f64) -> Vec<f32> {
    let by = if a { 2.0 } else { 1.0 };
    if chance > 0.5 { vec![by, 2.0 * by] } else { vec![by] }
}

impl Population {
    pub(crate) fn kinds(&self) -> Vec<Kind> {
        let mut kinds = Vec::new();
        let either = |share: f64, is: bool| if is { share } else { 1.0 - share };
        for bits in 0..8 {
            let (a, b, y) = (bits & 1 == 1, bits & 2 == 2, bits & 4 == 4);
            let share = either(self.a, a) * either(self.b, b) * either(self.positive, y);
            for (often, chance) in (self.chances)((self.rate)(a, b, y)) {
                let weights = (self.weights)(a, chance);
                for &weight in &weights {
                    let share = share * often / weights.len() as f64;
                    kinds.push(Kind { share, a, b, y, weight, chance });
                }
            }
        }
        kinds.retain(|kind| kind.share > 0.0);
        kinds
    }
}

pub(crate) struct Draws {
    kinds: Vec<Kind>,
    ends: Vec<f64>,
}

impl Draws {
    pub(crate) fn new(kinds: Vec<Kind>) -> Self {
        let mut end = 0.0;
        let ends = kinds.iter().map(|kind| {
            end += kind.share;
            end
        });
        Draws { ends: ends.collect(), kinds }
    }

    pub(crate) fn dataset(&self, rows: usize, stream: &mut Stream) -> Vec<Kind> {
        let draw = |_| {
            let at = stream.unit();
            let kind = self.ends.partition_point(|end| *end <= at);
            self.kinds[kind.min(self.kinds.len() - 1)]
        };
        (0..rows).map(draw).collect()
    }
}

/// The rate of positive decisions where those of group `a` are harder to come by.
fn harder(a: bool, y: bool) -> f64 {
    match (a, y) {
        (true, true) => 0.5,
        (true, false) => 0.2,
        (false, true) => 0.7,
        (false, false) => 0.3,
    }
}

const SMALL: Population = Population {
    name: "small groups",
    rows: 200,
    a: 0.1,
    b: 0.2,
    positive: 0.4,
    rate: |a, _, y| harder(a, y),
    chances: hard,
    weights: alike,
};

pub(crate) const POPULATIONS: [Population; 15] = [
    SMALL,
    Population { name: "groups of 10 rows", rows: 100, a: 0.1, b: 0.5, positive: 0.5, ..SMALL },
    Population {
        name: "rates near 0",
        rows: 300,
        rate: |a, _, _| if a { 0.02 } else { 0.03 },
        ..SMALL
    },
    Population {
        name: "rates near 0 and 1",
        rows: 300,
        rate: |a, _, y| match (a, y) {
            (true, true) => 0.95,
            (false, true) => 0.98,
            _ => 0.02,
        },
        ..SMALL
    },
    Population {
        name: "near 0 in one group",
        b: 0.3,
        rate: |a, b, y| {
            if a {
                0.03
            } else if b {
                0.97
            } else {
                harder(a, y)
            }
        },
        ..SMALL
    },
    Population {
        name: "rarely wrong",
        rows: 400,
        positive: 0.3,
        rate: |_, _, y| if y { 0.8 } else { 0.02 },
        ..SMALL
    },
    Population { name: "stochastic", b: 0.3, chances: soft, ..SMALL },
    Population { name: "partly stochastic", rows: 150, a: 0.15, chances: mixed, ..SMALL },
    Population {
        name: "a few chances differ",
        rate: |_, _, y| if y { 0.2 } else { 0.1 },
        chances: rare,
        ..SMALL
    },
    Population { name: "uneven weights", rows: 300, a: 0.15, weights: uneven, ..SMALL },
    Population {
        name: "uneven weights, near 0",
        rows: 300,
        a: 0.15,
        rate: |a, _, _| if a { 0.03 } else { 0.05 },
        weights: heavy,
        ..SMALL
    },
    Population {
        name: "weights lean to decisions",
        rows: 300,
        a: 0.15,
        b: 0.3,
        chances: mixed,
        weights: leaning,
        ..SMALL
    },
    Population {
        name: "a few rows carry the weight",
        rows: 300,
        a: 0.15,
        rate: |_, _, y| if y { 0.9 } else { 0.05 },
        weights: extreme,
        ..SMALL
    },
    Population {
        name: "few positives",
        rows: 1000,
        positive: 0.02,
        rate: |_, _, y| if y { 0.9 } else { 0.001 },
        ..SMALL
    },
    Population { name: "2,000 rows", rows: 2000, b: 0.3, chances: mixed, weights: uneven, ..SMALL },
];
