//! A sample's answers are sums over rows: the same bits for any number of threads, unbiased over
//! minibatches, and the gradient is the derivative of the Lagrangian.

use fairgame::Threads;
use fairgame::encode::{Encoder, EncoderSpec};
use fairgame::model::{AnyModel, ModelSpec, Scorer};
use fairgame::preset::{Prepared, Preset};
use fairgame::rate::{Compiled, Multipliers, Side, Surrogate};
use fairgame::sample::{Batch, Hypothesis, MemorySample, Sample, Work};

struct Adult {
    prepared: Prepared,
    compiled: Compiled,
    weights: Vec<f32>,
    model: AnyModel,
}

impl Adult {
    fn new(spec: &ModelSpec) -> Self {
        let prepared = Preset::find("adult").unwrap().prepare(1).unwrap();
        let weights: Vec<f32> =
            (0..prepared.train.table.rows()).map(|row| 0.5 + (row % 5) as f32 / 4.0).collect();
        let compiled = prepared.bound.compile(&prepared.train.table, Some(&weights)).unwrap();
        let model = spec.build(&prepared.encoder, &prepared.train.features).unwrap();
        Adult { prepared, compiled, weights, model }
    }

    fn sample(&self, surrogate: Surrogate) -> MemorySample<'_> {
        MemorySample {
            features: &self.prepared.train.features,
            among: None,
            compiled: &self.compiled,
            weights: Some(&self.weights),
            model: &self.model,
            placed: None,
            surrogate,
        }
    }
}

fn multipliers() -> Multipliers {
    Multipliers { objective: 0.4, constraints: vec![0.1, 0.2, 0.25, 0.05] }
}

#[test]
fn one_two_and_eight_threads_give_the_same_bits() {
    let adult = Adult::new(&ModelSpec::Mlp { units: 10 });
    let sample = adult.sample(Surrogate::Hinge);
    let by = Hypothesis::Theta(adult.model.slopes().unwrap().initial(3));
    let tally = |work: &mut Work| sample.tally(&by, Batch::All, Side::Proxy, work).unwrap();
    let alone = tally(&mut Work::default());
    for threads in [1, 2, 8] {
        let tally = tally(&mut Work::new(&Threads::new(threads)));
        let bits = |tally: &fairgame::rate::Tally| -> Vec<[u64; 4]> {
            let each = |c: &fairgame::rate::Count| [c.weight, c.positive, c.above, c.below];
            tally.counts.iter().map(|count| each(count).map(f64::to_bits)).collect()
        };
        assert_eq!(bits(&tally), bits(&alone), "{threads} threads");
    }
}

/// The average over an epoch of minibatches is the whole.
#[test]
fn minibatches_average_to_the_whole() {
    let adult = Adult::new(&ModelSpec::Linear);
    let sample = adult.sample(Surrogate::Logistic);
    let theta: Vec<f32> = (0..adult.model.params()).map(|k| (k as f32).sin() / 4.0).collect();
    let mut work = Work::default();
    let by = Hypothesis::Theta(theta.clone());
    let tally = sample.tally(&by, Batch::All, Side::Exact, &mut work).unwrap();
    let whole = sample.losses().exact(&tally);
    let mut gradient = vec![0.0; theta.len()];
    sample.gradient(&theta, &multipliers(), Batch::All, &mut work, &mut gradient).unwrap();

    let size = 1049;
    let turns = 31;
    // 32,561 rows are 31 batches of 1,049 and 42 rows more: nearly an epoch.
    let mut sum = 0.0;
    let mut average = vec![0.0; theta.len()];
    for turn in 0..turns {
        let batch = Batch::Turn { seed: 4, turn, size };
        let tally = sample.tally(&by, batch, Side::Exact, &mut work).unwrap();
        sum += sample.losses().exact(&tally).constraints[0];
        sample.gradient(&theta, &multipliers(), batch, &mut work, &mut average).unwrap();
    }
    assert!((sum / turns as f64 - whole.constraints[0]).abs() < 0.003);
    for (average, whole) in average.iter().zip(&gradient) {
        assert!((average / turns as f32 - whole).abs() < 0.003, "{average} {whole}");
    }
}

/// The gradient over all rows is the derivative of λ₁·ℓ̃₀ + Σ λ·ℓ̃, by central differences.
#[test]
fn gradients_are_derivatives() {
    for spec in [ModelSpec::Linear, ModelSpec::Mlp { units: 4 }] {
        let adult = Adult::new(&spec);
        let sample = adult.sample(Surrogate::Logistic);
        let mut theta = adult.model.slopes().unwrap().initial(5);
        theta.iter_mut().enumerate().for_each(|(k, p)| *p += ((k * 7) as f32).cos() * 0.01);
        let mut work = Work::default();
        let multipliers = multipliers();
        let mut lagrangian = |theta: &[f32]| {
            let by = Hypothesis::Theta(theta.to_vec());
            let tally = sample.tally(&by, Batch::All, Side::Proxy, &mut work).unwrap();
            let values = sample.losses().proxy(&tally);
            let constraints = values.constraints.iter().zip(&multipliers.constraints);
            multipliers.objective * values.objective
                + constraints.map(|(loss, by)| loss * by).sum::<f64>()
        };
        let mut gradient = vec![0.0; theta.len()];
        let mut all = Work::default();
        sample.gradient(&theta, &multipliers, Batch::All, &mut all, &mut gradient).unwrap();
        for at in (0..theta.len()).step_by(theta.len() / 9) {
            let step = 1e-2;
            let mut moved = |by: f32| {
                let mut theta = theta.clone();
                theta[at] += by;
                lagrangian(&theta)
            };
            let slope = (moved(step) - moved(-step)) / (2.0 * f64::from(step));
            let found = f64::from(gradient[at]);
            assert!(
                (found - slope).abs() < 2e-3 * (1.0 + slope.abs()),
                "{spec:?} {at}: {found} {slope}"
            );
        }
    }
}

/// One dataset is the same sample for both players; the encoder of the one serves the other.
#[test]
fn the_default_encoder_serves_too() {
    let prepared = Preset::find("compas").unwrap().prepare(2).unwrap();
    let spec = EncoderSpec {
        ignore: vec!["two_year_recid".into(), "is_recid".into()],
        ..EncoderSpec::default()
    };
    let (encoder, _) = Encoder::fit(&spec, &prepared.train.table).unwrap();
    let features = encoder.encode(&prepared.test.table).unwrap();
    let model = ModelSpec::Linear.build(&encoder, &features).unwrap();
    let compiled = prepared.bound.compile(&prepared.test.table, None).unwrap();
    let surrogate = Surrogate::Hinge;
    let sample = MemorySample {
        features: &features,
        among: None,
        compiled: &compiled,
        weights: None,
        model: &model,
        placed: None,
        surrogate,
    };
    let by = Hypothesis::Theta(model.slopes().unwrap().initial(1));
    let tally = sample.tally(&by, Batch::All, Side::Proxy, &mut Work::default()).unwrap();
    // Every score is 0, so every decision is negative, and the hinge is 1 everywhere.
    let (exact, proxy) = (sample.losses().exact(&tally), sample.losses().proxy(&tally));
    let positive = prepared.test.label.iter().filter(|&&label| label).count() as f64;
    assert!((exact.objective - positive / sample.rows() as f64).abs() < 1e-12);
    assert!((proxy.objective - 1.0).abs() < 1e-9);
}
