//! The stand-in for the paper's entity resolution data: a few pairs, or what trainings on it come to.
//!
//! ```text
//! cargo run --release -p fairgame-paper --example entities -- show 20
//! cargo run --release -p fairgame-paper --example entities -- train 5
//! ```
//!
//! `show` prints so many pairs. `train` prints, for so many seeds and their mean, error and greatest violation
//! on training and test pairs, as the paper's table does, and the time that a training took.
#![allow(clippy::print_stdout, reason = "an example prints what it found")]

use std::time::Instant;

use fairgame::algorithm::{Algorithm, Lagrangian, Unconstrained};
use fairgame::optimize::Optimizer;
use fairgame::rate::LossValues;
use fairgame::train::{Data, Datasets};
use fairgame::{Error, ErrorKind, Result};
use fairgame_paper::entities::{Entities, Part, STEP, TURNS, generate, pairs, spec};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let count = arguments.get(1).and_then(|count| count.parse().ok());
    match arguments.first().map(String::as_str) {
        Some("show") => show(count.unwrap_or(20)),
        Some("train") => train(count.unwrap_or(1) as u64)?,
        _ => {
            return Err(Error::new(ErrorKind::Settings, "there is nothing to do")
                .help("give `show` or `train`, and how many pairs or seeds"));
        }
    }
    Ok(())
}

fn show(count: usize) {
    for pair in pairs(1, Part::Train, 2_000).iter().take(count) {
        let (chain, same) = (if pair.chain { "chain" } else { "independent" }, pair.same);
        println!("{} {chain}, {:?}, same: {same}", pair.country, pair.case);
        println!("    {}\n    {}", pair.left, pair.right);
    }
}

/// The five columns of the paper's table.
fn runs() -> Result<[(&'static str, Algorithm, Datasets); 5]> {
    let optimizer = Optimizer::adam(STEP);
    let practical = spec()?.algorithm;
    let lagrangian = Algorithm::Lagrangian(Lagrangian {
        turns: TURNS,
        model: optimizer,
        constraint: optimizer,
        ..Lagrangian::default()
    });
    let unconstrained = Algorithm::Unconstrained(Unconstrained {
        turns: TURNS,
        model: optimizer,
        ..Unconstrained::default()
    });
    Ok([
        ("unconstrained", unconstrained, Datasets::One),
        ("algorithm 3, one", practical, Datasets::One),
        ("algorithm 3, two", practical, Datasets::default()),
        ("algorithm 4, one", lagrangian, Datasets::One),
        ("algorithm 4, two", lagrangian, Datasets::default()),
    ])
}

fn train(seeds: u64) -> Result<()> {
    println!("seed  algorithm         train error  viol.   test error  viol.   seconds  µs a turn");
    let mut sums = [[0.0; 6]; 5];
    for seed in 0..seeds {
        let data = generate(seed)?;
        for ((name, algorithm, datasets), sum) in runs()?.into_iter().zip(&mut sums) {
            let found = run(&data, algorithm, datasets, seed)?;
            print(&seed.to_string(), name, found);
            sum.iter_mut().zip(found).for_each(|(sum, found)| *sum += found);
        }
    }
    for ((name, ..), sum) in runs()?.into_iter().zip(sums) {
        print("mean", name, sum.map(|sum| sum / seeds as f64));
    }
    Ok(())
}

fn print(seed: &str, name: &str, [error, violation, test_error, test_violation, s, us]: [f64; 6]) {
    println!(
        "{seed:4}  {name:16}  {error:11.3}  {violation:5.3}  {test_error:11.3}  {test_violation:5.3}  \
         {s:8.2}  {us:9.1}"
    );
}

/// One training: the error on the model player's rows, the violation on the constraint player's, both on the
/// test rows, seconds in all and microseconds a turn.
fn run(data: &Entities, algorithm: Algorithm, datasets: Datasets, seed: u64) -> Result<[f64; 6]> {
    let mut spec = spec()?;
    (spec.algorithm, spec.datasets, spec.seed) = (algorithm, datasets, seed);
    let rows = spec.divide(data.train.clone(), false)?;
    let val = rows.val.as_ref();
    let began = Instant::now();
    let training = spec.prepare(&Data { train: (&rows.train).into(), val: val.map(Into::into) })?;
    let mut game = training.game(1)?;
    let playing = Instant::now();
    training.play(&mut game, 1, &mut [])?;
    let played = playing.elapsed();
    let classifier = training.finish(&game, 1)?.classifier;
    let seconds = began.elapsed().as_secs_f64();
    let worst = |losses: &LossValues| losses.constraints.iter().copied().fold(f64::MIN, f64::max);
    let train = classifier.measure(&rows.train, 1)?;
    let enforced = classifier.measure(val.unwrap_or(&rows.train), 1)?;
    let test = classifier.measure(&data.test, 1)?;
    let turn = played.as_secs_f64() * 1e6 / TURNS as f64;
    Ok([train.objective, worst(&enforced), test.objective, worst(&test), seconds, turn])
}
