//! Boosted trees alone, on two CSV files: how long they take to train, and their error on the second.
//!
//! ```text
//! cargo run --release -p fairgame --example boost -- TRAIN TEST LABEL POSITIVE THREADS
//! ```
//!
//! Prints one line of JSON. With 0 threads it reads the files and trains nothing. `python/benchmarks/trees.py` runs it
//! beside LightGBM.
#![allow(clippy::print_stdout, reason = "an example prints what it found")]

use std::ops::ControlFlow;
use std::time::Instant;

use fairgame::encode::{Encoder, EncoderSpec};
use fairgame::model::trees::{Bins, Lesson, TreesSpec, boost};
use fairgame::table::{Comparison, Predicate, ReadOptions, Source, Table, read};
use fairgame::{Error, ErrorKind, Result, Threads};

fn main() -> Result<()> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let [train, test, label, positive, threads] = given.as_slice() else {
        let message = "five arguments are needed: TRAIN TEST LABEL POSITIVE THREADS";
        return Err(Error::new(ErrorKind::Settings, message));
    };
    let Ok(count) = threads.parse::<usize>() else {
        let message = format!("THREADS is a number, and not `{threads}`");
        return Err(Error::new(ErrorKind::Settings, message));
    };
    let table = |name: &str| read([Source::parse(name)?], &ReadOptions::default());
    let (train, test) = (table(train)?, table(test)?);
    let target = |table: &Table| -> Result<Vec<f32>> {
        let is = Predicate::compare(label, Comparison::Eq, positive.as_str());
        Ok(is.evaluate(table)?.into_iter().map(|one| f32::from(u8::from(one))).collect())
    };
    let (target, truth) = (target(&train)?, target(&test)?);
    if count == 0 {
        println!("{{\"error\": null, \"seconds\": 0.0}}");
        return Ok(());
    }
    let threads = Threads::new(count);
    let spec = TreesSpec {
        trees: 100,
        leaves: Some(31),
        rate: Some(0.1),
        min_leaf: Some(20),
        l2: 0.0,
        rows: 1.0,
        columns: 1.0,
        ..TreesSpec::default()
    };
    let started = Instant::now();
    let ignore = vec![label.clone()];
    let encoder = EncoderSpec { ignore, ..EncoderSpec::default() };
    let (encoder, _) = Encoder::fit(&encoder, &train)?;
    let features = encoder.encode(&train)?;
    let bins = Bins::fit(&spec, &encoder, &features, (None, None), &threads)?;
    let binned = bins.codes(&features, &threads)?;
    drop(features);
    let teach: Vec<u32> = (0..binned.rows() as u32).collect();
    let (aside, weights) = (&[][..], None);
    let lesson = Lesson {
        binned: &binned,
        bins: &bins,
        teach: &teach,
        aside,
        target: &target,
        weights,
        numbers: None,
    };
    let forest = boost(&lesson, &spec, 1, &threads, &mut |_| ControlFlow::Continue(()))?;
    let seconds = started.elapsed().as_secs_f64();
    let rows = test.rows();
    let binned = bins.codes(&encoder.encode(&test)?, &threads)?;
    let mut scores = vec![0.0; rows];
    forest.score(&binned, 0..rows, &mut scores);
    let wrong = scores.iter().zip(&truth).filter(|(score, y)| (**score > 0.0) != (**y > 0.5));
    let error = wrong.count() as f64 / rows as f64;
    println!("{{\"error\": {error}, \"seconds\": {seconds}}}");
    Ok(())
}
