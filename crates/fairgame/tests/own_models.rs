//! A model that is written outside the crate is trained like one of ours: by slopes, or by best responses.

use std::sync::Arc;

use fairgame::algorithm::{Algorithm, Discrete, Practical};
use fairgame::encode::{Coding, EncoderSpec, Features};
use fairgame::model::{BestResponse, Model, Rows, Scorer, Tape};
use fairgame::preset::simulated_points;
use fairgame::train::{Data, Datasets, Spec};
use fairgame::{Error, ErrorKind, Result};

#[path = "../examples/own_model.rs"]
#[allow(dead_code, reason = "the example's main is run as a test")]
mod own_model;

#[test]
fn the_example_runs() {
    own_model::main().unwrap();
}

/// A threshold on one column: θ is the column, the threshold, and the side that is positive.
#[derive(Debug)]
struct Stump(usize);

impl Scorer for Stump {
    fn params(&self) -> usize {
        3
    }

    fn fits(&self, features: &Features) -> bool {
        features.numbers() == self.0
    }

    fn score(&self, theta: &[f32], rows: Rows<'_>, _tape: &mut Tape, scores: &mut [f32]) {
        for (row, score) in scores.iter_mut().enumerate() {
            *score = theta[2] * (rows.values(row)[theta[0] as usize] - theta[1]);
        }
    }
}

impl BestResponse for Stump {
    fn respond(&self, rows: Rows<'_>, costs: &[f64]) -> Result<Vec<f32>> {
        if rows.is_empty() {
            return Err(Error::new(ErrorKind::Value, "a stump needs rows"));
        }
        let mut best = (f64::INFINITY, Vec::new());
        for column in 0..self.0 {
            let mut sorted: Vec<(f32, f64)> = costs
                .iter()
                .enumerate()
                .map(|(row, &cost)| (rows.values(row)[column], cost))
                .collect();
            sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
            let all: f64 = costs.iter().sum();
            let mut below = 0.0;
            for pair in sorted.windows(2) {
                below += pair[0].1;
                let cut = pair[0].0 + (pair[1].0 - pair[0].0) / 2.0;
                for (total, side) in [(all - below, 1.0), (below, -1.0)] {
                    if total < best.0 && pair[0].0 < pair[1].0 {
                        best = (total, vec![column as f32, cut, side]);
                    }
                }
            }
        }
        Ok(best.1)
    }
}

impl Model for Stump {
    fn best_response(&self) -> Option<&dyn BestResponse> {
        Some(self)
    }
}

fn spec(algorithm: Algorithm) -> Spec {
    let mut spec = Spec::paper("label", &["recall() >= 0.9"]);
    spec.encoder = EncoderSpec { numbers: Coding::AsIs, ..EncoderSpec::default() };
    (spec.algorithm, spec.datasets) = (algorithm, Datasets::One);
    spec
}

/// Algorithm 1 asks a model without slopes for its best responses, and mixes them until the constraint holds.
#[test]
fn a_model_without_slopes_plays_algorithm_1() {
    let points = simulated_points(600, 0.5, 3).unwrap();
    let discrete = Discrete { turns: Some(200), radius: Some(0.02), ..Discrete::default() };
    let train = |algorithm: Algorithm| {
        let data = Data::from(&points);
        let make = |features: &Features| Ok(Arc::new(Stump(features.numbers())) as Arc<dyn Model>);
        let plan = spec(algorithm).plan(&data.shape())?.with_model("stump", make);
        plan.run(data, &mut ())?.trained()
    };
    let trained = train(Algorithm::Discrete(discrete)).unwrap();
    let shrunk = trained.mixture.shrunk.as_ref().unwrap();
    assert!(shrunk.feasible, "{shrunk:?}");
    assert!(trained.classifier.members().len() <= 2);
    assert_eq!(trained.classifier.provenance().settings["model"]["own"]["name"], "stump");
    // It decides like any other, and says clearly that no file can hold it.
    assert_eq!(trained.classifier.decide(&points).unwrap().len(), 600);
    let error = trained.classifier.to_bytes().unwrap_err().to_string();
    assert!(error.contains("cannot be written to a file"), "{error}");
    // What needs slopes refuses it.
    let error = train(Algorithm::Practical(Practical::default())).unwrap_err().to_string();
    assert!(error.contains("no slopes") && error.contains("discrete"), "{error}");
}
