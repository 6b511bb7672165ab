//! What `train` says of each constraint: promised, enforced or violated; with which margin, and at what price.

mod common;

use common::applicants::applicants;
use common::{Folder, Run};
use serde_json::Value;

const FLOOR: &str = "recall(each group) >= 0.85";

/// Applicants to train on.
fn people(rows: usize) -> Folder {
    Folder::with("people.csv", applicants(rows, 1))
}

fn train(folder: &Folder, more: &[&str]) -> Run {
    let base = ["train", "people.csv", "--label", "hired == \"yes\"", "--turns", "1000"];
    let ignored = ["--ignore", "group", "--ignore", "weight"];
    folder.fairgame(&[&base[..], &ignored, more].concat())
}

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"))
}

fn has(text: &str, parts: &[&str]) {
    parts.iter().for_each(|part| assert!(text.contains(part), "{part:?} is not in\n{text}"));
}

/// The lines of the table of constraints that end in this word.
fn lines(run: &Run, standing: &str) -> usize {
    let ends = |line: &&str| line.trim_end().ends_with(standing) && line.contains(" to ");
    run.stdout.lines().filter(ends).count()
}

#[test]
fn enforced_is_not_promised() {
    let folder = people(1500);
    let run = train(&folder, &["--constraint", FLOOR, "--ignore", "id"]);
    assert_eq!((run.code, lines(&run, "enforced")), (Some(0), 2), "{run:?}");
    has(
        &run.stdout,
        &[
            "where enforced   optimism",
            "Enforced: every loss is at most 0, optimism included. To ask for a promise on new rows, give --margin",
            "The safety margin (one standard error) and the optimism raise the objective by 0.",
            "each row was judged only by models that were not trained on it",
        ],
    );
    assert!(!run.stdout.contains("Promised"), "{run:?}");
    let found = json(&train(&folder, &["--constraint", FLOOR, "--ignore", "id", "--json"]));
    assert_eq!((&found["standing"], &found["holds"]), (&"enforced".into(), &true.into()));
    assert!(found["margin_price"].as_f64().unwrap() > 0.0);
}

#[test]
fn promised_with_a_confidence() {
    let folder = people(1500);
    let asked = ["--constraint", FLOOR, "--ignore", "id", "--margin", "95%"];
    let run = train(&folder, &asked);
    assert_eq!((run.code, lines(&run, "promised")), (Some(0), 2), "{run:?}");
    has(
        &run.stdout,
        &[
            "Promised: with a probability of 95 % all constraints hold in the population that the rows are from.",
            "The safety margin (95 % confidence) and the optimism raise the objective by 0.",
        ],
    );
    let found = json(&train(&folder, &[&asked[..], &["--json", "--report", "r.html"]].concat()));
    assert_eq!(found["standing"], "promised");
    let page = String::from_utf8(folder.bytes("r.html")).unwrap();
    has(&page, &["What is promised</h2>", "promises that they hold in the population"]);
    assert_eq!(page.matches("<td><span class=\"badge promised\">promised</span></td>").count(), 2);
    for one in found["enforcement"].as_array().unwrap() {
        let number = |name: &str| one[name].as_f64().unwrap();
        assert!(number("margin") >= number("asked") - 1e-6 && number("asked") > 0.0, "{one}");
        let new = one["estimate"]["value"].as_f64().unwrap();
        assert!((number("value") + number("optimism").max(0.0) - new).abs() < 1e-6, "{one}");
    }
}

#[test]
fn violated_is_exit_code_1() {
    let folder = people(1500);
    let bounds = ["--constraint", "recall() >= 0.99", "--constraint", "fpr() <= 0.01"];
    let run = train(&folder, &[&bounds[..], &["--ignore", "id", "--margin", "95%"]].concat());
    assert_eq!((run.code, lines(&run, "violated")), (Some(1), 2), "{run:?}");
    has(&run.stdout, &["Violated: 2 of 2 constraints."]);
    has(&run.stderr, &["`recall() >= 0.99` is violated by", "not promised: `recall() >= 0.99`"]);
    assert!(
        !run.stdout.contains("-0.0000 on these rows"),
        "a price of nothing is not said: {run:?}"
    );
}

/// A gate needs more room than a promise, and says what it is for.
#[test]
fn a_gate_asks_for_more() {
    let folder = people(1500);
    let asked = |margin: &str| {
        let more = ["--constraint", FLOOR, "--ignore", "id", "--margin", margin];
        let found = json(&train(&folder, &[&more[..], &["--json"]].concat()));
        found["enforcement"][0]["asked"].as_f64().unwrap()
    };
    assert!(asked("gate:95%@900") > 1.5 * asked("95%"));
    let run =
        train(&folder, &["--constraint", FLOOR, "--ignore", "id", "--margin", "gate:95%@900"]);
    assert_eq!((run.code, lines(&run, "promised")), (Some(0), 2), "{run:?}");
    has(
        &run.stdout,
        &[
            "from, and with a probability of 80 % `evaluate` on 900 new rows says met.",
            "The safety margin (a gate: `evaluate` on 900 new rows says met at 95 % with a probability of 80 %)",
        ],
    );
}

/// Where rows that judge have taught, and where the margin cannot be had, nothing is promised, and that is said.
#[test]
fn nothing_is_promised_without_reason() {
    let folder = people(1500);
    let run = train(
        &folder,
        &["--constraint", FLOOR, "--ignore", "id", "--margin", "95%", "--one-dataset"],
    );
    assert_eq!((run.code, lines(&run, "enforced")), (Some(0), 2), "{run:?}");
    has(&run.stderr, &["not promised: `recall(group == \"a\") >= 0.85`", "have also taught"]);
    assert!(!run.stdout.contains("To ask for a promise"), "it was asked for: {run:?}");

    let few = people(200);
    let bounds = ["--constraint", "recall(each group) >= 0.8", "--constraint", "fpr() <= 0.25"];
    let run = train(&few, &[&bounds[..], &["--ignore", "id", "--margin", "99%"]].concat());
    assert_eq!(lines(&run, "promised"), 0, "{run:?}");
    has(&run.stderr, &["not promised: ", "the margin for it is infeasible"]);
    has(&run.stdout, &[" of +"]);
}

/// Three rows of each applicant; the first two have no id.
fn thrice(rows: usize) -> String {
    let text = applicants(rows, 1);
    let mut lines = text.lines();
    let mut made = format!("{}\n", lines.next().unwrap());
    for (at, line) in lines.enumerate() {
        let rest = line.split_once(',').unwrap().1;
        let line = if at < 2 { format!(",{rest}\n") } else { format!("{line}\n") };
        made += &line.repeat(3);
    }
    made
}

/// A unit is not a feature, is in one fold, and counts once.
#[test]
fn units_of_training() {
    let folder = Folder::with("people.csv", thrice(500));
    let more = ["--constraint", FLOOR, "--margin", "1"];
    let (by_row, by_unit) = (
        train(&folder, &[&more[..], &["--ignore", "id", "--json"]].concat()),
        train(&folder, &[&more[..], &["--unit", "id", "--json"]].concat()),
    );
    let asked = |run: &Run| json(run)["enforcement"][1]["asked"].as_f64().unwrap();
    let ratio = asked(&by_unit) / asked(&by_row);
    // Three rows that are alike tell what one does, also where no column says so.
    assert!((0.9..1.1).contains(&ratio), "{ratio}");
    let notes = train(&folder, &[&more[..], &["--ignore", "id"]].concat()).stderr;
    has(&notes, &["1000 of the training rows are exact copies of other rows", "never apart"]);
    let notes = train(&folder, &[&more[..], &["--unit", "id"]].concat()).stderr;
    has(&notes, &["6 of the rows have no unit, and count as units of their own"]);
    assert!(!notes.contains("copies"), "{notes}");
    let run = train(&folder, &[&more[..], &["--unit", "ids"]].concat());
    assert_eq!(run.code, Some(2));
    has(&run.stderr, &["ids", "`id`"]);
}
