//! Constraints over a column of scores: trained, decided and evaluated from the command line.

mod common;

use std::fmt::Write as _;

use common::Folder;

/// Rows with a score, a group and a label; the score is called `name`.
fn scored(rows: std::ops::Range<u64>, name: &str) -> String {
    let mut text = format!("{name},sex,city,hired\n");
    for row in rows {
        let random = fairgame::random::mix(row);
        let p = (random % 1000) as f64 / 1000.0;
        let sex = if random >> 20 & 1 == 0 { "f" } else { "m" };
        let hired = if (random >> 32) % 1000 < random % 1000 { "yes" } else { "no" };
        writeln!(text, "{p},{sex},{},{hired}", random >> 50 & 7).unwrap();
    }
    text
}

const TRAIN: [&str; 6] =
    ["train", "scored.csv", "--label", "hired == \"yes\"", "--constraint", "tpr(each sex) >= 0.8"];

#[test]
fn a_rule_over_scores() {
    let folder = Folder::with("scored.csv", scored(0..2_000, "p"));
    folder.write("new.csv", scored(5_000..9_000, "q"));
    let run = folder.fairgame(&[&TRAIN[..], &["--score", "p", "-o", "rule.safetensors"]].concat());
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stderr.contains("was not trained on these rows"), "{run:?}");
    // The column has another name, and the city is not needed.
    let run = folder.fairgame(&["predict", "rule.safetensors", "new.csv", "--drop", "city"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("`p`"), "{run:?}");
    let run = folder.fairgame(&[
        "predict",
        "rule.safetensors",
        "new.csv",
        "--drop",
        "city",
        "--drop",
        "hired",
        "--score",
        "q",
    ]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(run.stdout.lines().count(), 4_001);
    let run = folder.fairgame(&["evaluate", "rule.safetensors", "new.csv", "--score", "q"]);
    assert!(matches!(run.code, Some(0 | 3)), "{run:?}");
}

#[test]
fn refused() {
    let folder = Folder::with("scored.csv", scored(0..500, "p"));
    let run = folder.fairgame(&[&TRAIN[..], &["--score", "city"]].concat());
    assert!(run.code == Some(2) && run.stderr.contains("which is no probability"), "{run:?}");
    let run = folder.fairgame(&[&TRAIN[..], &["--score", "p", "--model", "linear"]].concat());
    assert_eq!(run.code, Some(2), "{run:?}");
    let run = folder.fairgame(&[&TRAIN[..], &["-o", "m.safetensors"]].concat());
    assert!(matches!(run.code, Some(0 | 1)), "{run:?}");
    let run = folder.fairgame(&["predict", "m.safetensors", "scored.csv", "--score", "p"]);
    assert!(run.code == Some(2) && run.stderr.contains("features of its own"), "{run:?}");
}
