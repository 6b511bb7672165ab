//! Some pairs of the stand-in for the paper's entity resolution data.
//!
//! ```text
//! cargo run --release -p fairgame-paper --example entities -- 20
//! ```
#![allow(clippy::print_stdout, reason = "an example prints what it found")]

use fairgame_paper::entities::{Part, pairs};

fn main() {
    let count = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(20);
    for pair in pairs(1, Part::Train, 2_000).iter().take(count) {
        let (chain, same) = (if pair.chain { "chain" } else { "independent" }, pair.same);
        println!("{} {chain}, {:?}, same: {same}", pair.country, pair.case);
        println!("    {}\n    {}", pair.left, pair.right);
    }
}
