//! Labels and groups that a model does not know are told, and what cannot be judged by them is refused.

mod common;

use common::Folder;
use common::applicants::{applicants, folder};
use fairgame::classifier::{Classifier, Companion};

const QUICK: [&str; 8] =
    ["--policy", "policy.toml", "--algorithm", "practical", "--turns", "500", "--margin", "none"];

fn train(folder: &Folder, more: &[&str]) -> common::Run {
    folder.fairgame(&[&["train", "people.csv"], &QUICK[..], more].concat())
}

/// Rows whose labels are written in another way are not rows of the other label.
#[test]
fn labels_that_training_did_not_have() {
    let folder = folder();
    // Rates of positive rows would have nothing to measure, and are refused anyway.
    let policy = String::from_utf8(folder.bytes("policy.toml")).unwrap();
    let policy = policy.replace(", 'recall() >= 0.7'", "");
    folder.write("policy.toml", policy);
    let rows = applicants(1500, 2);
    folder.write("dots.csv", rows.replace(",yes\n", ",yes.\n").replace(",no\n", ",no.\n"));
    let half: String = rows.lines().enumerate().fold(String::new(), |text, (at, line)| {
        text + line + if at % 2 == 1 { ".\n" } else { "\n" }
    });
    folder.write("half.csv", half);
    assert_eq!(train(&folder, &["-o", "m.safetensors"]).code, Some(0));
    let known = "a value of the label's column `hired` that training did not have (`no.`, `yes.`)";

    let run = folder.fairgame(&["evaluate", "m.safetensors", "dots.csv"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains(known) && run.stderr.contains("no row is positive"), "{run:?}");
    let run = folder.fairgame(&["evaluate", "m.safetensors", "half.csv"]);
    assert!(run.stderr.contains(known) && run.code != Some(2), "{run:?}");
    let run = folder.fairgame(&["evaluate", "m.safetensors", "new.csv"]);
    assert!(!run.stderr.contains("did not have"), "{run:?}");

    for (part, flag) in [("test", "--test"), ("validation", "--validation")] {
        let run = train(&folder, &[flag, "dots.csv"]);
        assert_eq!(run.code, Some(2), "{run:?}");
        let place = format!("the {part} rows");
        assert!(run.stderr.contains(known) && run.stderr.contains(&place), "{run:?}");
        let run = train(&folder, &[flag, "half.csv"]);
        let place = format!("in the {part} rows, 750 rows have");
        assert!(run.stderr.contains(known) && run.stderr.contains(&place), "{run:?}");
    }
    // Nothing is promised by labels that nobody knows.
    let few = ["train", "people.csv", "--policy", "policy.toml", "--algorithm", "plug_in"];
    let more = ["--validation", "half.csv", "--margin", "60%", "--require-promise"];
    let run = folder.fairgame(&[&few[..], &more].concat());
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stderr.contains("are not those of the training rows"), "{run:?}");
}

/// Groups coded as numbers, rows without a group, and a group that only the constraints know.
#[test]
fn groups_that_no_constraint_names() {
    let coded = |seed: u64| applicants(1500, seed).replace(",a,", ",1,").replace(",b,", ",2,");
    let folder = folder();
    folder.write("people.csv", coded(1));
    let ignored = ["-o", "m.safetensors", "--ignore", "group"];
    assert_eq!(train(&folder, &ignored).code, Some(0));
    folder.write("new.csv", coded(2).replace(",1,", ",3,"));
    let known = "a value of `group` that no constraint names (`3`)";
    let run = folder.fairgame(&["predict", "m.safetensors", "new.csv", "-o", "d.csv"]);
    assert!(run.stderr.contains(known) && run.code == Some(0), "{run:?}");
    let run = folder.fairgame(&["predict", "m.safetensors", "people.csv", "-o", "d.csv"]);
    assert!(!run.stderr.contains("no constraint names"), "{run:?}");
    // Without the column there is nothing to tell.
    folder.write("less.csv", "skill,city\n1.5,Bonn\n");
    let run = folder.fairgame(&["predict", "m.safetensors", "less.csv", "-o", "d.csv"]);
    assert!(!run.stderr.contains("warning") && run.code == Some(0), "{run:?}");

    folder.write("people.csv", applicants(1500, 1).replace(",a,1", ",,1"));
    let run = train(&folder, &["-o", "m.safetensors"]);
    let without = "have no value of `group`, so that they are in none of its groups";
    assert!(
        run.stderr.contains("in the training rows, ") && run.stderr.contains(without),
        "{run:?}"
    );
    folder.write("new.csv", applicants(1500, 2).replace(",a,1", ",,1"));
    let run = folder.fairgame(&["evaluate", "m.safetensors", "new.csv"]);
    assert!(run.stderr.contains(without) && run.stderr.contains(" of 1500 rows ("), "{run:?}");
}

/// A kind that the model needs is the model's, whether or not it is also declared.
#[test]
fn help_does_not_go_in_circles() {
    let folder = folder();
    assert_eq!(train(&folder, &["-o", "m.safetensors"]).code, Some(0));
    folder.write("odd.csv", "id,group,skill,city\n1,a,tall,Bonn\n");
    let run = folder.fairgame(&["predict", "m.safetensors", "odd.csv", "--type", "skill=number"]);
    assert_eq!(run.code, Some(2));
    assert!(!run.stderr.contains("--type") && run.stderr.contains("has to be"), "{run:?}");
    let run = folder.fairgame(&["predict", "m.safetensors", "new.csv", "--type", "skill=category"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("column `skill` has to be a number, not a category"), "{run:?}");
    let run = folder.fairgame(&["predict", "m.safetensors", "new.csv", "--type", "skill=number"]);
    assert_eq!(run.code, Some(0), "{run:?}");
}

/// Scores that rank rows in reverse are told; what rounding puts beyond 1 is 1.
#[test]
fn scores() {
    let mut rows = "p,q,group,hired\n".to_owned();
    for line in applicants(1500, 1).lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let skill: f64 = fields[2].parse().unwrap_or(5.0);
        let p = 1.0 / (1.0 + (5.5 - skill).exp());
        let p = if skill > 9.9 { 1.000_000_000_000_000_2 } else { p };
        rows += &format!("{p},{},{},{}\n", (1.0 - p).max(0.0), fields[1], fields[5]);
    }
    let folder = Folder::with("scored.csv", rows);
    let label = ["--label", "hired == \"yes\"", "--constraint", "recall() >= 0.7"];
    let train = ["train", "scored.csv", "--ignore", "q", "-o", "m.safetensors", "--score", "p"];
    let run = folder.fairgame(&[&train[..], &label].concat());
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(!run.stderr.contains("reverse"), "{run:?}");
    let run = folder.fairgame(&["predict", "m.safetensors", "scored.csv", "-o", "d.csv"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let train = ["train", "scored.csv", "--ignore", "p", "--score", "q"];
    let run = folder.fairgame(&[&train[..], &label].concat());
    assert!(run.stderr.contains("the scores in column `q` rank rows in reverse"), "{run:?}");
}

/// A model whose scores come from Python says so.
#[test]
fn a_model_that_wraps_an_estimator() {
    let folder = folder();
    assert_eq!(train(&folder, &["-o", "m.safetensors"]).code, Some(0));
    let mut classifier = Classifier::load(&folder.path("m.safetensors")).unwrap();
    let companion = Companion {
        file: "m.safetensors.joblib".to_owned(),
        sha256: "0".repeat(64),
        format: "joblib".to_owned(),
        estimators: vec!["LGBMClassifier".to_owned()],
        features: vec!["skill".to_owned(), "city".to_owned(), "group".to_owned()],
        named: true,
        groups: Vec::new(),
        ignored: vec!["city".to_owned()],
    };
    classifier.keep_companion(Some(companion)).unwrap();
    classifier.save(&folder.path("m.safetensors")).unwrap();
    for command in ["predict", "evaluate"] {
        let run = folder.fairgame(&[command, "m.safetensors", "new.csv"]);
        assert_eq!(run.code, Some(2), "{run:?}");
        let known = "the model wraps an estimator of Python (LGBMClassifier)";
        assert!(run.stderr.contains(known) && run.stderr.contains("fairgame.load"), "{run:?}");
    }
    // Its features are those of the estimator.
    let run = folder.fairgame(&["show", "m.safetensors"]);
    assert!(run.stdout.contains("skill, group\n"), "{run:?}");
    let run = folder.fairgame(&["show", "m.safetensors", "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let wanted = serde_json::json!([
        { "column": "skill", "kind": null }, { "column": "group", "kind": null },
    ]);
    assert_eq!(shown["features"], wanted);
    let run = folder.fairgame(&["report", "m.safetensors", "-o", "r.html"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let page = String::from_utf8(folder.bytes("r.html")).unwrap();
    let used = "<code><bdi>skill</bdi></code>, <code><bdi>group</bdi></code>.</p>";
    assert!(page.contains("The classifier uses 2 columns:") && page.contains(used));
}

/// A promise can be required, and a confidence that is written as a number is asked about.
#[test]
fn promises_and_margins() {
    let folder = folder();
    let run = train(&folder, &["--require-promise"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("--margin 95%"), "{run:?}");
    let policy = ["train", "people.csv", "--policy", "policy.toml", "--turns", "300"];
    // Rows that judge have taught.
    let more = ["--set", "datasets = \"one\"", "--margin", "95%"];
    let run = folder.fairgame(&[&policy[..], &more].concat());
    assert_eq!(run.code, Some(0), "{run:?}");
    let run = folder.fairgame(&[&policy[..], &more, &["--require-promise"]].concat());
    assert_eq!(run.code, Some(1), "{run:?}");
    let run = folder.fairgame(&[&policy[..], &["--margin", "0.95"]].concat());
    assert!(run.stderr.contains("write it as a percentage (`95%`)"), "{run:?}");
}

/// A column of few values is not who a row is.
#[test]
fn identifiers_of_many_rows() {
    let folder = folder();
    assert_eq!(train(&folder, &["-o", "m.safetensors"]).code, Some(0));
    let decide = ["predict", "m.safetensors", "new.csv", "-o", "d.csv", "--id"];
    let run = folder.fairgame(&[&decide[..], &["city"]].concat());
    let known = "column `city` has 3 different values for 1500 rows";
    assert!(run.stderr.contains(known) && run.code == Some(0), "{run:?}");
    let run = folder.fairgame(&[&decide[..], &["id"]].concat());
    assert!(!run.stderr.contains("different values"), "{run:?}");
}
