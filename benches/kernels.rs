//! How near the machine's limit do the models run? One thread throughout.
//!
//! Prints, for score and pullback of each model, µs a block, ns a row, GFLOP/s (a multiplication and an
//! addition each count; a code is one addition a unit) and the share of the GFLOP/s that a matrix product
//! reaches: the machine's (512 × 512 × 512), and one of the same shape where the model is dense.
//!
//! ```text
//! cargo bench --bench kernels
//! ```
#![allow(clippy::print_stdout, reason = "a bench prints")]

use std::hint::black_box;
use std::time::Instant;

use fairgame::encode::{Coding, Encoder, EncoderSpec, Features};
use fairgame::model::{AnyModel, LatticeSpec, ModelSpec, Rows, Scorer, Tape};
use fairgame::preset::Preset;
use fairgame::random::Stream;
use fairgame::table::{Column, Table, Values};

fn main() {
    let machine = product(512, 512, 512);
    println!("machine: {machine:.1} GFLOP/s (512 × 512 × 512)\n");
    println!(
        "{:<34} {:>6} {:>9} {:>8} {:>9} {:>8} {:>8}",
        "", "rows", "µs", "ns/row", "GFLOP/s", "machine", "shape"
    );

    let adult = Preset::find("adult").and_then(|preset| preset.prepare(1)).expect("shipped data");
    let codes = (adult.encoder, adult.train.features);
    let onehot = dense(&one_hot(&codes.1));
    let network = ModelSpec::Mlp { units: 50 };
    let mut ratios = Vec::new();
    for rows in [100, 1000] {
        let gathered = run("network 50, 13 codes", &network, &codes, rows, machine, None);
        let shape = Some([122, 50]);
        let dense = run("network 50, one-hot as numbers", &network, &onehot, rows, machine, shape);
        ratios.push((rows, dense.0 / gathered.0, dense.1 / gathered.1));
    }
    run("linear, 13 codes", &ModelSpec::Linear, &codes, 1000, machine, None);
    let wide = dense(&random(512, 4000));
    let network = ModelSpec::Mlp { units: 512 };
    run("network 512, 512 numbers", &network, &wide, 1000, machine, Some([512, 512]));
    let inputs = dense(&random(37, 4000));
    let lattice = ModelSpec::Lattice(LatticeSpec::default());
    run("lattice, 37 numbers", &lattice, &inputs, 1000, machine, None);

    println!();
    for (rows, score, pullback) in ratios {
        println!(
            "codes against one-hot numbers, {rows} rows: score {score:.1} ×, pullback {pullback:.1} ×"
        );
    }
}

/// The best of several rounds, in seconds.
fn best(mut work: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..7 {
        let mut turns = 0;
        let start = Instant::now();
        while start.elapsed().as_secs_f64() < 0.05 {
            work();
            turns += 1;
        }
        best = best.min(start.elapsed().as_secs_f64() / f64::from(turns));
    }
    best
}

/// GFLOP/s of a bare matrix product.
fn product(m: usize, k: usize, n: usize) -> f64 {
    let (a, b, mut c) = (vec![1.0_f32; m * k], vec![0.5_f32; k * n], vec![0.0_f32; m * n]);
    let seconds = best(|| {
        // SAFETY: the matrices have these sizes, and lie row by row.
        unsafe {
            let (row_a, row_b) = (k as isize, n as isize);
            matrixmultiply::sgemm(
                m,
                k,
                n,
                1.0,
                a.as_ptr(),
                row_a,
                1,
                b.as_ptr(),
                row_b,
                1,
                0.0,
                c.as_mut_ptr(),
                row_b,
                1,
            );
        }
        black_box(&c);
    });
    2.0 * (m * k * n) as f64 / seconds / 1e9
}

/// Times a model on blocks of rows drawn at random, and prints a line each for score and pullback.
fn run(
    name: &str,
    spec: &ModelSpec,
    (encoder, features): &(Encoder, Features),
    rows: usize,
    machine: f64,
    shape: Option<[usize; 2]>,
) -> (f64, f64) {
    let model = spec.build(encoder, features).expect("a sound model");
    let slopes_of = model.slopes().expect("it has slopes");
    let theta = slopes_of.initial(1);
    let mut stream = Stream::new(1, "bench");
    let blocks: Vec<Vec<u32>> = (0..64)
        .map(|_| (0..rows).map(|_| stream.below(features.rows() as u64) as u32).collect())
        .collect();
    let (mut tape, mut scores) = (Tape::default(), vec![0.0; rows]);
    let mut gradient = vec![0.0; model.params()];
    let mut turn = 0;
    let score = best(|| {
        turn += 1;
        let rows = Rows::list(features, &blocks[turn % blocks.len()]);
        model.score(&theta, rows, &mut tape, &mut scores);
        black_box(&scores);
    });
    // Every row has a slope: the most work that there can be.
    let slopes = vec![0.25; rows];
    let both = best(|| {
        turn += 1;
        let rows = Rows::list(features, &blocks[turn % blocks.len()]);
        model.score(&theta, rows, &mut tape, &mut scores);
        slopes_of.pullback(&theta, rows, &mut tape, &slopes, &mut gradient);
        black_box(&gradient);
    });
    // A pullback follows the score of the same rows, as it does in training.
    let pullback = both - score;
    let units = if let ModelSpec::Mlp { units } = spec { *units } else { 0 };
    let flops = flops(&model, features, units) * rows as f64;
    let bare = shape.map(|[k, n]| [product(rows, k, n), product(k, rows, n)]);
    for (index, (what, seconds)) in
        [("score", score), ("pullback", pullback)].into_iter().enumerate()
    {
        let speed = flops / seconds / 1e9;
        let same =
            bare.map_or("—".to_owned(), |bare| format!("{:.0} %", speed / bare[index] * 100.0));
        println!(
            "{:<34} {rows:>6} {:>9.2} {:>8.1} {speed:>9.1} {:>6.0} % {same:>8}",
            format!("{name}: {what}"),
            seconds * 1e6,
            seconds * 1e9 / rows as f64,
            speed / machine * 100.0,
        );
    }
    (score, pullback)
}

/// Additions and multiplications of a row, one way.
fn flops(model: &AnyModel, features: &Features, units: usize) -> f64 {
    let (slots, numbers) = (features.slots() as f64, features.numbers() as f64);
    match model {
        AnyModel::Linear(_) => slots + 2.0 * numbers,
        AnyModel::Mlp(_) => {
            // Asked for; the units that pad the layer are work, but not work done.
            units as f64 * (slots + 2.0 * numbers + 2.0)
        }
        // Each lattice of d inputs folds 2^d − 1 times, three operations each; 28 lattices of 4.
        AnyModel::Lattice(_) => 28.0 * 15.0 * 3.0,
        AnyModel::Rule(_) | AnyModel::Own(_) => f64::NAN,
    }
}

/// Every binary feature as a number.
fn one_hot(features: &Features) -> Table {
    let column = |weight: usize| {
        let on = |row| features.row_codes(row).any(|code| code == weight);
        (0..features.rows()).map(|row| f64::from(u8::from(on(row)))).collect()
    };
    numbers((0..features.weights()).map(column).collect())
}

fn random(columns: usize, rows: usize) -> Table {
    let mut stream = Stream::new(2, "bench");
    let mut column = || (0..rows).map(|_| stream.unit() * 2.0 - 1.0).collect();
    numbers((0..columns).map(|_| column()).collect())
}

fn numbers(columns: Vec<Vec<f64>>) -> Table {
    let columns = columns.into_iter().enumerate();
    Table::new(
        columns.map(|(k, values)| Column::new(format!("n{k}"), Values::Number(values))).collect(),
    )
    .expect("sound columns")
}

/// The table with its numbers as they are.
fn dense(table: &Table) -> (Encoder, Features) {
    let spec = EncoderSpec { numbers: Coding::AsIs, ..EncoderSpec::default() };
    let (encoder, _) = Encoder::fit(&spec, table).expect("sound data");
    let features = encoder.encode(table).expect("sound data");
    (encoder, features)
}
