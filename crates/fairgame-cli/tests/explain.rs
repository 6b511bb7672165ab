//! What `fairgame explain` says: the decision of `predict`, who draws, what the folds do, and other rows.

mod common;

use common::Folder;
use common::applicants::{applicants, folder};
use serde_json::Value;

fn json(folder: &Folder, arguments: &[&str]) -> Value {
    let run = folder.fairgame(&[arguments, &["--json"]].concat());
    assert_eq!(run.code, Some(0), "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

/// A model of trees over five folds.
fn trained(folder: &Folder, more: &[&str]) {
    let train = ["train", "people.csv", "--label", "hired == \"yes\"", "--ignore", "id"];
    let rule = ["--constraint", "positive_rate(each group) == positive_rate() within 0.01"];
    let run = folder.fairgame(&[&train[..], &rule, &["-o", "m.safetensors"], more].concat());
    assert!(matches!(run.code, Some(0 | 1)), "{run:?}");
}

/// With the same `--id`, the decision is that of `predict`; without it, the text says that features draw.
#[test]
fn an_identifier_draws() {
    let folder = folder();
    trained(&folder, &[]);
    // The same person under a hundred numbers.
    let decide = ["predict", "m.safetensors", "new.csv", "--id", "id"];
    let decided = folder.fairgame(&decide).stdout;
    let drawn = |line: &&str| {
        let chance: f64 = line.split(',').nth(2).unwrap().parse().unwrap();
        chance > 0.2 && chance < 0.8
    };
    let line = decided.lines().skip(1).find(drawn).expect("a row is drawn");
    let number: usize = line.split(',').next().unwrap().parse().unwrap();
    let new = applicants(1500, 2);
    let (id, rest) = new.lines().nth(number + 1).unwrap().split_once(',').unwrap();
    assert_eq!(id, number.to_string());
    let copies: String = (0..40).map(|copy| format!("{copy},{rest}\n")).collect();
    folder.write("copies.csv", format!("{}\n{copies}", new.lines().next().unwrap()));
    let decided = folder.fairgame(&["predict", "m.safetensors", "copies.csv", "--id", "id"]).stdout;
    let decided: Vec<bool> = decided.lines().skip(1).map(|line| line.contains(",true,")).collect();
    assert!(decided.contains(&true) && decided.contains(&false), "{decided:?}");
    for row in [decided.iter().position(|one| *one), decided.iter().position(|one| !*one)] {
        let row = row.unwrap();
        let number = (row + 1).to_string();
        let ask = ["explain", "m.safetensors", "copies.csv", "--row", &number];
        let found = json(&folder, &[&ask[..], &["--id", "id"]].concat());
        assert_eq!(found["positive"], decided[row]);
        assert_eq!(found["id"], row.to_string());
        let text = folder.fairgame(&[&ask[..], &["--id", "id"]].concat()).stdout;
        assert!(text.contains("by a draw by `id`"), "{text}");
        let text = folder.fairgame(&ask).stdout;
        assert!(text.contains("by a draw by the row's features"), "{text}");
    }
    let run =
        folder.fairgame(&["explain", "m.safetensors", "copies.csv", "--row", "1", "--id", "x"]);
    assert!(run.code == Some(2) && run.stderr.contains("no column `x`"), "{run:?}");
}

/// The folds of a deterministic model may disagree, and their mean decides. What is shown is said to be a mean.
#[test]
fn the_mean_of_the_folds() {
    let folder = folder();
    trained(&folder, &["--deterministic"]);
    let ask = ["explain", "m.safetensors", "new.csv", "--row", "3"];
    assert_eq!(json(&folder, &ask)["blend"], "mean");
    let text = folder.fairgame(&ask).stdout;
    assert!(text.contains("the mean of the folds decides"), "{text}");
    assert!(!text.contains("all models agree"), "{text}");
    assert!(text.contains(", on average over the folds, are"), "{text}");
    trained(&folder, &["--one-dataset"]);
    assert_eq!(json(&folder, &ask)["blend"], "fold");
    let text = folder.fairgame(&ask).stdout;
    assert!(!text.contains("over the folds"), "{text}");
}

/// A row is compared with other rows, and never with itself.
#[test]
fn a_row_is_no_background_of_itself() {
    let folder = folder();
    trained(&folder, &["--one-dataset"]);
    let lines: Vec<String> = applicants(1500, 2).lines().map(str::to_owned).collect();
    folder.write("two.csv", format!("{}\n{}\n{}\n", lines[0], lines[5], lines[900]));
    folder.write("one.csv", format!("{}\n{}\n", lines[0], lines[5]));
    folder.write("other.csv", format!("{}\n{}\n", lines[0], lines[900]));
    let of = |file: &str, more: &[&str]| {
        let ask = ["explain", "m.safetensors", file, "--row", "1"];
        json(&folder, &[&ask[..], more].concat())
    };
    let alone = of("one.csv", &["--background", "other.csv"]);
    let beside = of("two.csv", &[]);
    assert_eq!(beside["background"], 1);
    assert_eq!(beside["contributions"], alone["contributions"]);
    let run = folder.fairgame(&["explain", "m.safetensors", "one.csv", "--row", "1"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("--background FILE"), "{run:?}");
    let run = folder.fairgame(&["explain", "m.safetensors", "one.csv", "--row", "2"]);
    assert!(run.code == Some(2) && run.stderr.contains("there is no row 2"), "{run:?}");
    let all = of("new.csv", &[]);
    assert_eq!(all["background"], 100);
}
