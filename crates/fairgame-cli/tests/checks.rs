//! What is checked before a training, and what a model file says of its features.

mod common;

use std::fmt::Write;

use common::Folder;
use serde_json::Value;

fn people() -> String {
    let mut csv = String::from("id,age,job,group,sex,hired,refused\n");
    for row in 0..600_usize {
        let draw = row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        let (age, job) = (18 + draw % 43, ["clerk", "nurse", "pilot"][draw / 50 % 3]);
        let hired = draw / 1000 % 100 < if age > 40 { 75 } else { 30 };
        let word = |yes: bool| if yes { "yes" } else { "no" };
        let (group, sex) = (["a", "b"][draw / 7 % 2], ["f", "m"][draw / 11 % 2]);
        let (hired, refused) = (word(hired), word(!hired));
        writeln!(csv, "{},{age},{job},{group},{sex},{hired},{refused}", 1000 + row).unwrap();
    }
    csv
}

const TRAIN: [&str; 7] = [
    "train",
    "people.csv",
    "--label",
    "hired == \"yes\"",
    "--constraint",
    "tpr(each group) >= 0.3",
    "--json",
];

fn features(document: &Value) -> Vec<&str> {
    let listed = document["features"].as_array().unwrap();
    listed.iter().map(|one| one["column"].as_str().unwrap()).collect()
}

#[test]
fn leaks_and_identifiers_are_left_out() {
    let folder = Folder::with("people.csv", people());
    let run = folder.fairgame(&[&TRAIN[..], &["-o", "m.safetensors"]].concat());
    assert_eq!(run.code, Some(0), "{run:?}");
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(features(&document), ["age", "job", "group", "sex"]);
    let notices = document["notices"].to_string();
    for part in [
        "column `refused` gives the label away",
        "column `id` looks like an identifier",
        "are used as features: `age`, `group`, `sex` (",
    ] {
        assert!(notices.contains(part), "{part}: {notices}");
    }
    // The settings that were used say so, too.
    assert_eq!(document["settings"]["encoder"]["ignore"], serde_json::json!(["id", "refused"]));
    let insisted = [&TRAIN[..], &["--feature", "refused", "--feature", "id"]].concat();
    let document: Value = serde_json::from_str(&folder.fairgame(&insisted).stdout).unwrap();
    assert_eq!(features(&document), ["id", "age", "job", "group", "sex", "refused"]);
    assert_eq!(document["train"]["error"], 0.0);
    let text = folder.fairgame(&TRAIN[..6]);
    assert!(text.stdout.contains("It uses 4 features: age, job, group, sex."), "{text:?}");
    assert!(text.stderr.contains("note: column `refused` gives the label away"), "{text:?}");

    // What other bounds cost.
    let run = folder.fairgame(&["tradeoff", "m.safetensors", "--slack", "0,0.1"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(
        run.stdout.contains("bounds of all constraints") && run.stdout.contains("+0.1"),
        "{run:?}"
    );
    let run = folder.fairgame(&["tradeoff", "m.safetensors", "--constraint", "7"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("from 1 to 2"), "{run:?}");

    // One row is explained.
    let run = folder.fairgame(&["explain", "m.safetensors", "people.csv", "--row", "600"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    for part in ["Row 600 is decided", "positive if", "Each column adds", "100 other rows"] {
        assert!(run.stdout.contains(part), "{part}: {run:?}");
    }
    let run = folder.fairgame(&["explain", "m.safetensors", "people.csv", "--row", "601"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("the data have 600 rows"), "{run:?}");

    // It can be exported, to a file that is named so.
    let run = folder.fairgame(&["export", "m.safetensors", "m.onnx"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stderr.contains("4 inputs"), "{run:?}");
    assert!(folder.bytes("m.onnx").len() > 1000);
    let run = folder.fairgame(&["export", "m.safetensors", "m.txt"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("ends in .onnx"), "{run:?}");

    // The model file remembers, and says which column is missing in new rows.
    let shown = folder.fairgame(&["show", "m.safetensors"]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    for part in ["hired == \"yes\"", "(enforced)", "4 features", "category", "gives the label away"]
    {
        assert!(shown.stdout.contains(part), "{part}: {shown:?}");
    }
    let cut: String = people()
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            format!("{},{},{}\n", cells[1], cells[3], cells[4])
        })
        .collect();
    folder.write("cut.csv", &cut);
    for arguments in [
        &["predict", "m.safetensors", "cut.csv", "-o", "p.csv"][..],
        &["predict", "m.safetensors", "-", "-o", "p.csv"],
    ] {
        let run = folder.fairgame_on(arguments, cut.as_bytes());
        assert_eq!(run.code, Some(2), "{run:?}");
        let wanted = "there is no column `job`\n  help: it is a feature of the model, a category in training";
        assert!(run.stderr.contains(wanted), "{run:?}");
    }
}

#[test]
fn data_check() {
    let folder = Folder::with("people.csv", people());
    let check = ["data", "check", "people.csv", "--label", "hired == \"yes\""];
    let run = folder.fairgame(&check);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stdout.contains("`refused` gives the label away"), "{run:?}");
    assert!(run.stdout.contains("`id` looks like an identifier"), "{run:?}");
    let run = folder
        .fairgame(&[&check[..], &["--ignore", "id", "--ignore", "refused", "--json"]].concat());
    assert_eq!(run.code, Some(0), "{run:?}");
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(document["findings"][0]["finding"], "protected");
    assert_eq!(document["serious"], false);
    let run = folder.fairgame(&["data", "check", "people.csv"]);
    assert!(run.stdout.contains("give --label"), "{run:?}");
    let run = folder.fairgame(&[&check[..], &["--feature", "agge"]].concat());
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("did you mean `age`?"), "{run:?}");
    // The paper's problems have what they want.
    for name in ["adult", "compas", "communities"] {
        let at = format!("@{name}");
        let run = folder.fairgame(&["data", "check", &at, "--policy", &at]);
        assert_eq!(run.code, Some(0), "{run:?}");
        assert!(run.stdout.contains("nothing was found"), "{run:?}");
    }
}

/// One column may be left out and another kept, and only the same column both is a contradiction.
#[test]
fn ignore_and_feature_name_different_columns() {
    let folder = common::applicants::folder();
    let check = ["data", "check", "people.csv", "--label", "hired == \"yes\"", "--ignore", "id"];
    let run = folder.fairgame(&[&check[..], &["--feature", "city"]].concat());
    assert!(matches!(run.code, Some(0 | 1)) && run.stdout.starts_with("1500 rows"), "{run:?}");
    let run = folder.fairgame(&[&check[..], &["--ignore", "citty"]].concat());
    assert!(run.code == Some(2) && run.stderr.contains("`city`"), "{run:?}");
    let run = folder.fairgame(&[&check[..], &["--feature", "id"]].concat());
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("column `id` is to be left out and to stay a feature"), "{run:?}");
}
