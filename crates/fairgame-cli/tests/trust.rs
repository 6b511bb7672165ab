//! What may be concluded: exit codes, and warnings where less may be than it seems.

mod common;

use common::{Folder, Run};
use serde_json::Value;

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"))
}

/// Lines of a file in which so many of a hundred are decided positive.
fn decided(positive: usize) -> String {
    let row = |i: usize| format!("{},{}\n", i % 2, u8::from(i < positive));
    format!("label,decision\n{}", (0..100).map(row).collect::<String>())
}

/// 0 met, 1 violated, 3 undecided: by numbers that leave no doubt.
#[test]
fn exit_codes() {
    // The exact 95 % intervals of 10, 50 and 90 of 100 are [0.049, 0.176], [0.398, 0.602] and [0.824, 0.951].
    for (positive, code, verdict) in [(10, 0, "met"), (50, 3, "undecided"), (90, 1, "violated")] {
        let folder = Folder::with("decided.csv", decided(positive));
        let audit = |more: &[&str]| {
            let audit =
                ["audit", "decided.csv", "--prediction", "decision", "--label", "label == 1"];
            folder.fairgame(
                &[&audit[..], &["--constraint", "positive_rate() <= 0.55"], more].concat(),
            )
        };
        let run = audit(&["--json"]);
        assert_eq!(
            (run.code, json(&run)["verdict"].as_str()),
            (Some(code), Some(verdict)),
            "{run:?}"
        );
        assert_eq!(json(&run)["positive_rate"], positive as f64 / 100.0);
        assert_eq!(audit(&[]).code, Some(code));
    }
}

/// Six columns of numbers, and a label that two of them say something of.
fn noise(rows: usize, seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut unit = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut text = "a,b,c,d,e,f,group,yes\n".to_owned();
    for _ in 0..rows {
        let x: Vec<f64> = (0..6).map(|_| unit()).collect();
        let yes = x[0] + x[1] + unit() > 1.5;
        let group = ["1", "2", "U"][(unit() * 3.0) as usize];
        let numbers: Vec<String> = x.iter().map(|x| format!("{x:.4}")).collect();
        text += &format!("{},{group},{}\n", numbers.join(","), if yes { "yes" } else { "no" });
    }
    text
}

const POLICY: &str = r#"
label = 'yes == "yes"'
constraints = ['recall(each group) >= 0.6']
encoder.ignore = ["group"]
algorithm.practical.turns = 2000
"#;

fn trained(more: &[&str]) -> Folder {
    let folder = Folder::with("people.csv", noise(2000, 1));
    folder.write("new.csv", noise(2000, 2));
    folder.write("policy.toml", POLICY);
    let train =
        ["train", "people.csv", "--policy", "policy.toml", "-o", "m.safetensors", "--quiet"];
    let run = folder.fairgame(&[&train, more].concat());
    assert!(matches!(run.code, Some(0 | 1)), "{run:?}");
    folder
}

fn warnings(run: &Run) -> Vec<String> {
    let document = json(run);
    let all = document["warnings"].as_array().unwrap().iter();
    all.map(|one| one.as_str().unwrap().to_owned()).collect()
}

/// The rows that a model was made from are known again, in any order and among others; new rows are not.
#[test]
fn rows_seen_before() {
    for more in [&[][..], &["--one-dataset"]] {
        let folder = trained(more);
        let mut lines: Vec<String> = noise(2000, 1).lines().map(str::to_owned).collect();
        lines[1..].reverse();
        lines.extend(noise(300, 3).lines().skip(1).map(str::to_owned));
        folder.write("among.csv", lines.join("\n"));
        for (data, seen) in [("people.csv", true), ("among.csv", true), ("new.csv", false)] {
            let run = folder.fairgame(&["evaluate", "m.safetensors", data, "--json"]);
            let warned = warnings(&run).iter().any(|text| text.contains("learnt from"));
            assert_eq!(warned, seen, "{data}: {run:?}");
        }
    }
}

/// Without test rows a report does not say that constraints are met.
#[test]
fn no_verdict_without_test_rows() {
    let badge = |folder: &Folder| {
        let page = String::from_utf8(folder.bytes("m.html")).unwrap();
        let start = page.find("<p class=\"said\">").unwrap();
        (page[start..start + 200].to_owned(), page)
    };
    let (said, page) = badge(&trained(&["--report", "m.html"]));
    assert!(said.contains("undecided") && !said.contains("confidence"), "{said}");
    assert!(page.contains("There were no test rows"));
    let (said, page) = badge(&trained(&["--report", "m.html", "--test", "new.csv"]));
    assert!(said.contains("met") && said.contains("95 % confidence"), "{said}");
    assert!(!page.contains("There were no test rows"));
}

/// Rows without a label are told of, wherever they matter.
#[test]
fn rows_without_a_label() {
    let folder = trained(&[]);
    let blank: String = noise(300, 4)
        .lines()
        .enumerate()
        .map(|(at, line)| match at % 3 {
            1 => format!("{},\n", line.rsplit_once(',').unwrap().0),
            _ => format!("{line}\n"),
        })
        .collect();
    folder.write("blank.csv", blank);
    let evaluated = folder.fairgame(&["evaluate", "m.safetensors", "blank.csv", "--json"]);
    assert_eq!(warnings(&evaluated), ["100 rows without a label count as negative"]);
    let audit = ["audit", "blank.csv", "--prediction", "a > 0.5", "--label", "yes == \"yes\""];
    let audited = folder.fairgame(&[&audit, &["--constraint", "recall() >= 0.1"][..]].concat());
    assert!(audited.stderr.contains("100 rows without a label"), "{audited:?}");
}

/// A group that the test rows lack is told of, and is no number.
#[test]
fn a_group_that_is_not_there() {
    let folder = trained(&[]);
    let without: String = noise(300, 5)
        .lines()
        .filter(|line| !line.contains(",U,"))
        .map(|line| format!("{line}\n"))
        .collect();
    folder.write("without.csv", without);
    let train = ["train", "people.csv", "--policy", "policy.toml", "--test", "without.csv"];
    let text = folder.fairgame(&train);
    assert!(text.stdout.contains("nothing to measure"), "{text:?}");
    assert!(text.stdout.contains("cannot be measured: no row has group == \"U\""), "{text:?}");
    assert!(!text.stdout.contains("NaN"), "{text:?}");
    let result = json(&folder.fairgame(&[&train[..], &["--json"]].concat()));
    let last = &result["test"]["constraints"][2];
    assert!(last["value"].is_null() && last["violation"].is_null(), "{last}");

    // Without its `U`, the column looks like numbers; the model knows better.
    let evaluated = folder.fairgame(&["evaluate", "m.safetensors", "without.csv"]);
    assert_eq!(evaluated.code, Some(3), "{evaluated:?}");
    assert!(evaluated.stdout.contains("there is nothing to measure for one"), "{evaluated:?}");
}

/// What stands for a missing value is remembered with the model.
#[test]
fn missing_values_are_remembered() {
    let folder = trained(&[]);
    let marked = |seed| -> String {
        let rows = noise(400, seed);
        let mark = |(at, line): (usize, &str)| match at % 4 {
            1 => format!("-999,{}\n", line.split_once(',').unwrap().1),
            _ => format!("{line}\n"),
        };
        rows.lines().enumerate().map(mark).collect()
    };
    folder.write("old.csv", marked(6));
    folder.write("young.csv", marked(7));
    let train =
        ["train", "old.csv", "--policy", "policy.toml", "-o", "marked.safetensors", "--quiet"];
    let run = folder.fairgame(&[&train[..], &["--missing=-999"]].concat());
    assert!(matches!(run.code, Some(0 | 1)), "{run:?}");
    let evaluate = |more: &[&str]| {
        let evaluate = ["evaluate", "marked.safetensors", "young.csv", "--json"];
        folder.fairgame(&[&evaluate[..], more].concat()).stdout
    };
    assert_eq!(evaluate(&[]), evaluate(&["--missing=-999"]));
    let predict = |more: &[&str]| {
        folder
            .fairgame(&[&["predict", "marked.safetensors", "young.csv"][..], more].concat())
            .stdout
    };
    assert_eq!(predict(&[]), predict(&["--missing=-999"]));
    let printed = folder.fairgame(&[&train[..], &["--missing=-999", "--print-policy"]].concat());
    assert!(printed.stdout.contains("also = [\"-999\"]"), "{printed:?}");
}

/// Each warning of a training, where there is reason for it.
#[test]
fn warnings_of_training() {
    let folder = trained(&[]);
    let warned = |more: &[&str]| {
        let train = ["train", "people.csv", "--policy", "policy.toml", "--turns", "200", "--json"];
        warnings(&folder.fairgame(&[&train, more].concat()))
    };
    let has = |found: &[String], text: &str| found.iter().any(|one| one.contains(text));
    assert_eq!(warned(&["--quiet"]), Vec::<String>::new());
    let unmoved = warned(&["--constraint-step", "1e-9"]);
    assert!(has(&unmoved, "hardly moved"), "{unmoved:?}");
    let constant =
        warned(&["--constraint", "positive_rate() <= 0.001", "--constraint-step", "0.1"]);
    assert!(has(&constant, "nearly constant"), "{constant:?}");
    let violated = warned(&["--constraint", "recall() >= 0.95", "--constraint", "fpr() <= 0.01"]);
    assert!(has(&violated, "is violated by"), "{violated:?}");
    let equal = warned(&["--constraint", "recall(each group) <= recall()"]);
    assert!(has(&equal, "only with equality"), "{equal:?}");
    let slack = warned(&["--constraint", "recall(each group) <= recall() + 0.05"]);
    assert!(!has(&slack, "only with equality"), "{slack:?}");
}
