//! A model of one's own, trained under a constraint: f(x) = b + Σ_j w_j·x_j².
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::sync::Arc;

use fairgame::encode::Features;
use fairgame::model::{Differentiable, Model, Rows, Scorer, Tape};
use fairgame::train::{Data, Spec};

#[derive(Debug)]
struct Squares(usize);

impl Scorer for Squares {
    fn params(&self) -> usize {
        self.0 + 1
    }

    fn fits(&self, features: &Features) -> bool {
        features.numbers() == self.0
    }

    fn score(&self, theta: &[f32], rows: Rows<'_>, _tape: &mut Tape, scores: &mut [f32]) {
        for (row, score) in scores.iter_mut().enumerate() {
            let terms = rows.values(row).iter().zip(&theta[1..]);
            *score = theta[0] + terms.map(|(x, w)| w * x * x).sum::<f32>();
        }
    }
}

impl Differentiable for Squares {
    fn initial(&self, _seed: u64) -> Vec<f32> {
        vec![0.0; self.params()]
    }

    fn pullback(&self, _: &[f32], rows: Rows<'_>, _: &mut Tape, slopes: &[f32], into: &mut [f32]) {
        for (row, slope) in slopes.iter().enumerate() {
            into[0] += slope;
            let numbers = rows.values(row).iter().zip(&mut into[1..]);
            numbers.for_each(|(x, w)| *w += slope * x * x);
        }
    }
}

impl Model for Squares {
    fn differentiable(&self) -> Option<&dyn Differentiable> {
        Some(self)
    }
}

pub(crate) fn main() -> fairgame::Result<()> {
    let points = fairgame::preset::simulated_points(2000, 0.5, 1)?;
    let mut spec = Spec::new("label", &["recall() >= 0.9"]);
    spec.test_fraction = 0.25;
    let data = Data::from(&points);
    let plan = spec.plan(&data.shape())?;
    let plan = plan.with_model("squares", |made| Ok(Arc::new(Squares(made.numbers()))));
    let trained = plan.run(data, &mut ())?.trained()?;
    println!("{:?}", trained.part("test").map(|test| (test.error, test.verdict)));
    Ok(())
}
