//! Models learn what they can and a linear model cannot.

use fairgame::encode::{Encoder, EncoderSpec, Features};
use fairgame::model::{AnyModel, LatticeSpec, ModelSpec, Monotone, Rows, Scorer, Tape};
use fairgame::optimize::{Memory, Optimizer};
use fairgame::random::Stream;
use fairgame::table::{Column, Table, Values};

/// Points of a square, and their features.
struct Data {
    points: Vec<(f64, f64)>,
    encoder: Encoder,
    features: Features,
}

fn square(rows: usize, seed: u64) -> Data {
    let mut stream = Stream::new(seed, "square");
    let points: Vec<(f64, f64)> =
        (0..rows).map(|_| (stream.unit() * 2.0 - 1.0, stream.unit() * 2.0 - 1.0)).collect();
    let column = |name: &str, pick: fn(&(f64, f64)) -> f64| {
        Column::new(name, Values::Number(points.iter().map(pick).collect()))
    };
    let table = Table::new(vec![column("x", |p| p.0), column("y", |p| p.1)]).unwrap();
    let (encoder, _) = Encoder::fit(&EncoderSpec::default(), &table).unwrap();
    let features = encoder.encode(&table).unwrap();
    Data { points, encoder, features }
}

/// Adam on the slopes of a loss in the scores, over all rows.
fn train(
    model: &AnyModel,
    features: &Features,
    turns: usize,
    slope: impl Fn(usize, f32) -> f32,
) -> Vec<f32> {
    let model = model.slopes().unwrap();
    let mut theta = model.initial(1);
    let (mut memory, mut tape) = (Memory::default(), Tape::default());
    let mut scores = vec![0.0; features.rows()];
    let mut gradient = vec![0.0; model.params()];
    for _ in 0..turns {
        model.score(&theta, Rows::all(features), &mut tape, &mut scores);
        let slopes: Vec<f32> = scores
            .iter()
            .enumerate()
            .map(|(row, &score)| slope(row, score) / features.rows() as f32)
            .collect();
        gradient.fill(0.0);
        model.pullback(&theta, Rows::all(features), &mut tape, &slopes, &mut gradient);
        memory.step(&Optimizer::adam(0.02), &mut theta, &gradient);
        model.project(&mut theta);
    }
    theta
}

fn scores(model: &AnyModel, theta: &[f32], features: &Features) -> Vec<f32> {
    let mut scores = vec![0.0; features.rows()];
    model.score(theta, Rows::all(features), &mut Tape::default(), &mut scores);
    scores
}

/// XOR: positive where the signs differ. No line gets much more than half of it right.
#[test]
fn xor() {
    let data = square(600, 1);
    let label = |row: usize| (data.points[row].0 > 0.0) != (data.points[row].1 > 0.0);
    let error = |spec: ModelSpec| {
        let model = spec.build(&data.encoder, &data.features).unwrap();
        // The hinge: down where a negative row scores above −1, up where a positive one is below 1.
        let theta = train(&model, &data.features, 600, |row, score| match label(row) {
            true if score < 1.0 => -1.0,
            false if score > -1.0 => 1.0,
            _ => 0.0,
        });
        let scores = scores(&model, &theta, &data.features);
        let wrong = scores.iter().enumerate().filter(|(row, s)| (**s > 0.0) != label(*row)).count();
        wrong as f64 / scores.len() as f64
    };
    assert!(error(ModelSpec::Linear) > 0.3);
    let mlp = error(ModelSpec::Mlp { units: 20 });
    assert!(mlp < 0.05, "the network is wrong on {mlp}");
    let lattice = error(ModelSpec::Lattice(LatticeSpec::default()));
    assert!(lattice < 0.05, "the lattice is wrong on {lattice}");
}

/// A function that rises in x and falls in y, with noise: a monotone lattice finds it again.
#[test]
fn a_monotone_function() {
    let data = square(2000, 2);
    let function = |x: f64, y: f64| x.exp() - (y + 1.0) * (y + 1.0) / 2.0 + 0.5 * x * (1.0 - y);
    let mut noise = Stream::new(3, "noise");
    let targets: Vec<f32> = data
        .points
        .iter()
        .map(|&(x, y)| (function(x, y) + (noise.unit() - 0.5) * 0.5) as f32)
        .collect();
    let monotone =
        [("x".to_owned(), Monotone::Increasing), ("y".to_owned(), Monotone::Decreasing)].into();
    let spec = ModelSpec::Lattice(LatticeSpec { monotone, ..LatticeSpec::default() });
    let model = spec.build(&data.encoder, &data.features).unwrap();
    let theta = train(&model, &data.features, 1500, |row, score| score - targets[row]);
    let scores = scores(&model, &theta, &data.features);
    let off = data
        .points
        .iter()
        .zip(&scores)
        .map(|(&(x, y), &score)| (f64::from(score) - function(x, y)).powi(2));
    let root = (off.sum::<f64>() / scores.len() as f64).sqrt();
    // The function spans more than four; the noise alone has a standard deviation of 0.14.
    assert!(root < 0.1, "off by {root}");
}

/// 37 inputs, as in the paper's entity resolution: an ensemble learns a sum of parts of them.
#[test]
fn thirty_seven_inputs() {
    let mut stream = Stream::new(5, "inputs");
    let rows = 2000;
    let values: Vec<Vec<f64>> =
        (0..37).map(|_| (0..rows).map(|_| stream.unit() * 2.0 - 1.0).collect()).collect();
    let label: Vec<bool> = (0..rows)
        .map(|row| (0..37).map(|k| values[k][row] * ((k % 5) as f64 - 1.0)).sum::<f64>() > 0.0)
        .collect();
    let columns = values.into_iter().enumerate();
    let table = Table::new(
        columns.map(|(k, values)| Column::new(format!("n{k}"), Values::Number(values))).collect(),
    )
    .unwrap();
    let (encoder, _) = Encoder::fit(&EncoderSpec::default(), &table).unwrap();
    let features = encoder.encode(&table).unwrap();
    let model = ModelSpec::Lattice(LatticeSpec::default()).build(&encoder, &features).unwrap();
    let theta = train(&model, &features, 800, |row, score| match label[row] {
        true if score < 1.0 => -1.0,
        false if score > -1.0 => 1.0,
        _ => 0.0,
    });
    let scores = scores(&model, &theta, &features);
    let wrong = scores.iter().zip(&label).filter(|(s, label)| (**s > 0.0) != **label).count();
    assert!(wrong < rows / 20, "{wrong} of {rows} are wrong");
}
