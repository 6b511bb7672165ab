//! A recall of at least 97 %, on the paper's simulated data, enforced on rows the model never learnt from.
//!
//! ```text
//! cargo run --release -p fairgame --example recall
//! ```
#![allow(clippy::print_stdout, reason = "an example prints what it found")]

use fairgame::preset::simulated;
use fairgame::train::{Data, Spec};

fn main() -> fairgame::Result<()> {
    let [train, val, test] = simulated(1000, 1.0, 1)?;
    let spec = Spec::paper("label", &["recall() >= 0.97"]);
    let data = Data::from(&train).with_val(Some(&val));
    let classifier = spec.train(data)?.classifier;

    let mut recalls = Vec::new();
    for (name, table) in [("train", &train), ("val", &val), ("test", &test)] {
        let losses = classifier.measure(table)?;
        recalls.push(0.97 - losses.constraints[0]);
        println!(
            "{name:<6} recall {:.4}  error {:.4}",
            recalls[recalls.len() - 1],
            losses.objective
        );
    }
    assert!(recalls[1] >= 0.97 - 1e-6, "enforced on val");
    Ok(())
}
