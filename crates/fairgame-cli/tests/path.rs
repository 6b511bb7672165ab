//! The whole path on a file of one's own: train, evaluate, predict, audit, report.

mod common;

use common::applicants::{applicants, folder};
use common::{Folder, Run};
use serde_json::Value;

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"))
}

#[test]
fn train_evaluate_predict_audit() {
    let folder = folder();
    let trained = folder.fairgame(&[
        "train",
        "people.csv",
        "--policy",
        "policy.toml",
        "--test",
        "new.csv",
        "-o",
        "m.safetensors",
        "--json",
    ]);
    assert_eq!(trained.code, Some(0), "{trained:?}");
    let result = json(&trained);
    // Five folds, each with a game under constraints and one without.
    assert_eq!(result["iterations"], 40_000);
    assert!(result["train_seconds"].as_f64().unwrap() > 0.0);
    for part in ["train", "val", "test"] {
        assert!(result[part]["error"].as_f64().unwrap() < 0.3, "{result}");
        let constraints = result[part]["constraints"].as_array().unwrap();
        assert_eq!(constraints.len(), 3, "each group, and recall");
        for one in constraints {
            let (value, violation) = (one["value"].as_f64(), one["violation"].as_f64());
            assert_eq!(violation, value.map(|value| value.max(0.0)));
            assert!(!one["name"].as_str().unwrap().is_empty());
        }
    }

    let evaluated = folder.fairgame(&["evaluate", "m.safetensors", "new.csv", "--json"]);
    assert!(matches!(evaluated.code, Some(0 | 1 | 3)), "{evaluated:?}");
    let evaluation = json(&evaluated);
    let verdict = evaluation["verdict"].as_str().unwrap();
    let code = match verdict {
        "met" => 0,
        "violated" => 1,
        _ => 3,
    };
    assert_eq!(evaluated.code, Some(code));

    // Groups and label are not needed to predict; and chances say all that evaluation needs.
    let predicted = folder.fairgame(&[
        "predict",
        "m.safetensors",
        "new.csv",
        "-o",
        "scored.csv",
        "--keep",
        "id",
        "--keep",
        "group",
        "--keep",
        "hired",
    ]);
    assert_eq!(predicted.code, Some(0), "{predicted:?}");
    let audited = folder.fairgame(&[
        "audit",
        "scored.csv",
        "--prediction",
        "probability",
        "--policy",
        "policy.toml",
        "--json",
    ]);
    assert_eq!(audited.code, evaluated.code, "{audited:?}");
    // Only a model that we train can be given a margin.
    let mut same = evaluation.clone();
    same["margin_to_meet"] = serde_json::Value::Null;
    assert_eq!(json(&audited), same, "on the same decisions, to the bit");
    // The drawn decisions are decisions too, as booleans and as a condition.
    let drawn = |prediction: &str| {
        let arguments = [
            "audit",
            "scored.csv",
            "--prediction",
            prediction,
            "--policy",
            "policy.toml",
            "--json",
        ];
        json(&folder.fairgame(&arguments))
    };
    assert_eq!(drawn("decision"), drawn("decision == true"));
    let text = folder.fairgame(&["evaluate", "m.safetensors", "new.csv", "--confidence", "0.5"]);
    assert!(text.stdout.contains("recall() >= 0.7") && text.stdout.contains("50 %"), "{text:?}");
}

/// Order and company change no decision; a column less does not either, if the model does not need it.
#[test]
fn a_person_gets_one_answer() {
    let folder = folder();
    let train = [
        "train",
        "people.csv",
        "--policy",
        "policy.toml",
        "-o",
        "m.safetensors",
        "--selection",
        "uniform",
        "--turns",
        "400",
    ];
    let run = folder.fairgame(&train);
    assert!(matches!(run.code, Some(0 | 1)), "{run:?}");
    let text = applicants(1500, 2);
    let mut lines: Vec<&str> = text.lines().collect();
    let header = lines.remove(0);
    lines.reverse();
    let without = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        format!("{}\n", [fields[3], fields[2], fields[0], fields[1]].join(","))
    };
    let reversed: String =
        std::iter::once(header).chain(lines.iter().take(40).copied()).map(without).collect();
    folder.write("few.csv", reversed);
    for draw in [&[][..], &["--id", "id"][..]] {
        let decide = |file: &str| -> Vec<Value> {
            let mut arguments =
                vec!["predict", "m.safetensors", file, "--format", "jsonl", "--keep", "id"];
            arguments.extend(draw);
            let run = folder.fairgame(&arguments);
            assert_eq!(run.code, Some(0), "{run:?}");
            run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        };
        let (all, few) = (decide("new.csv"), decide("few.csv"));
        assert_eq!((all.len(), few.len()), (1500, 40));
        for one in &few {
            let same = all.iter().find(|other| other["id"] == one["id"]).unwrap();
            assert_eq!(one, same);
        }
    }
    // Parquet holds the same.
    let parquet = folder.fairgame(&["predict", "m.safetensors", "few.csv", "-o", "few.parquet"]);
    assert_eq!(parquet.code, Some(0), "{parquet:?}");
    let described = folder.fairgame(&["data", "describe", "few.parquet", "--json"]);
    assert_eq!(json(&described)["rows"], 40);
}

/// A rate that is measured on a handful of rows is warned of, with what they can say, and remembered.
#[test]
fn few_rows() {
    let folder = folder();
    // In half of these rows, group a has a handful.
    folder.write("few.csv", applicants(40, 1));
    let train = |data: &'static str| {
        let all = ["train", data, "--policy", "policy.toml", "--turns", "300", "--json"];
        json(&folder.fairgame(&[&all[..], &["-o", "m.safetensors", "--report", "m.html"]].concat()))
    };
    let warned = |result: &Value| {
        let warnings = result["warnings"].as_array().unwrap().iter();
        let few = warnings.filter_map(Value::as_str).find(|text| text.contains("is measured on"));
        few.map(str::to_owned)
    };
    let few = warned(&train("few.csv")).expect("20 rows are few");
    assert!(few.contains("positive_rate(group ==") && few.contains("rows only"), "{few}");
    let page = String::from_utf8(folder.bytes("m.html")).unwrap();
    assert!(page.contains("rows only: in the population"), "the file remembers");
    assert_eq!(warned(&train("people.csv")), None);
}

/// What is printed as a policy is one, and says the same again; flags win over the file.
#[test]
fn policies() {
    let folder = folder();
    let print = |arguments: &[&str]| {
        let all = [&["train", "people.csv", "--print-policy"], arguments].concat();
        let run = folder.fairgame(&all);
        assert_eq!(run.code, Some(0), "{run:?}");
        run.stdout
    };
    let complete = print(&["--policy", "policy.toml"]);
    folder.write("complete.toml", &complete);
    assert_eq!(print(&["--policy", "complete.toml"]), complete);
    for (flags, wanted) in [
        (&["--turns", "7"][..], "turns = 7"),
        (&["--model", "mlp", "--units", "9"], "units = 9"),
        (&["--model", "lattice"], "[model.lattice]"),
        (&["--algorithm", "lagrangian"], "[algorithm.lagrangian]"),
        (&["--algorithm", "baseline", "--batch", "5"], "batch = 5"),
        (&["--algorithm", "discrete", "--epsilon", "0.2"], "epsilon = 0.2"),
        (
            &["--algorithm", "unconstrained", "--optimizer", "sgd", "--step", "0.5"],
            "[algorithm.unconstrained.model.sgd]",
        ),
        (&["--constraint-step", "0.01"], "step = 0.01"),
        (&["--surrogate", "sigmoid"], "surrogate = \"sigmoid\""),
        (&["--selection", "theorem"], "selection = \"theorem\""),
        (&["--keep", "every"], "keep = \"every\""),
        (&["--keep", "12"], "spaced = 12"),
        (&["--early-stop"], "[early_stop]"),
        (&["--radius", "2.5"], "radius = 2.5"),
        (&["--one-dataset"], "datasets = \"one\""),
        (&["--val-fraction", "0.25"], "val_fraction = 0.25"),
        (&["--test-fraction", "0.2"], "test_fraction = 0.2"),
        (&["--weight", "weight"], "weight = \"weight\""),
        (&["--ignore", "city"], "\"city\""),
        (&["--seed", "11"], "seed = 11"),
        (&["--set", "algorithm.practical.constraint.floor = 0.5"], "floor = 0.5"),
        (&["--constraint", "fpr() <= 0.3"], "fpr() <= 0.3"),
    ] {
        let printed = print(&[&["--policy", "policy.toml"], flags].concat());
        assert!(printed.contains(wanted), "{flags:?}: {printed}");
        folder.write("again.toml", &printed);
        assert_eq!(print(&["--policy", "again.toml"]), printed, "{flags:?}");
    }
    assert!(print(&["--policy", "@adult"]).contains("positive_rate(sex == \"Female\")"));
}

/// A model file remembers enough for a report, of one model or several; other files do not.
#[test]
fn reports() {
    let folder = folder();
    let train = ["train", "people.csv", "--policy", "policy.toml", "--turns", "300", "--quiet"];
    for (name, more) in [("two", &["--test", "new.csv"][..]), ("one", &["--one-dataset"])] {
        let file = format!("{name}.safetensors");
        let page = format!("{name}.html");
        let all = [&train[..], more, &["-o", &file, "--report", &page]].concat();
        let run = folder.fairgame(&all);
        assert!(matches!(run.code, Some(0 | 1)), "{run:?}");
        let html = String::from_utf8(folder.bytes(&page)).unwrap();
        assert!(
            html.contains("recall() &gt;= 0.7") || html.contains("recall() &#62;= 0.7"),
            "{html}"
        );
        let again = folder.fairgame(&["report", &file, "-o", "again.html"]);
        assert_eq!(again.code, Some(0), "{again:?}");
        assert_eq!(folder.bytes("again.html"), folder.bytes(&page), "the file remembers all of it");
    }
    let both = folder.fairgame(&[
        "report",
        "one.safetensors",
        "two.safetensors",
        "-o",
        "both.html",
        "--json",
    ]);
    assert_eq!(both.code, Some(0), "{both:?}");
    assert_eq!(json(&both)["output"], "both.html");
    let html = String::from_utf8(folder.bytes("both.html")).unwrap();
    // Nothing is fetched from anywhere.
    assert!(!html.contains("src=\"http") && !html.contains("href=\"http"));

    // The picture alone.
    let drawn = folder.fairgame(&["report", "two.safetensors", "-o", "rates.svg"]);
    assert_eq!(drawn.code, Some(0), "{drawn:?}");
    let svg = String::from_utf8(folder.bytes("rates.svg")).unwrap();
    assert!(svg.starts_with("<svg ") && svg.contains("% without constraints, "), "{svg}");
    assert!(svg.contains(">recall()<") && svg.contains("test rows"), "{svg}");
    let several =
        folder.fairgame(&["report", "one.safetensors", "two.safetensors", "-o", "rates.svg"]);
    assert!(several.code == Some(2) && several.stderr.contains("one model"), "{several:?}");
}

/// The demo prints what the README shows, in shape: the same lines, with numbers of its own.
#[test]
fn the_demo_is_as_in_the_readme() {
    let folder = Folder::new();
    let run = folder.fairgame(&["demo", "--turns", "300", "--runs", "2"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    for file in [
        "recommended.safetensors",
        "network.safetensors",
        "one.safetensors",
        "two.safetensors",
        "report.html",
    ] {
        assert!(folder.path("fairgame-demo").join(file).exists(), "{file}");
    }
    let readme = include_str!("../../../README.md");
    let start = readme.find("The 80 % rule on Adult").expect("the demo is in the README");
    let shown = &readme[start..start + readme[start..].find("```").unwrap()];
    // Words and lines as they are, numbers apart.
    let shape = |text: &str| -> Vec<String> {
        let number = |word: &str| word.trim_end_matches([',', '.']).parse::<f64>().is_ok();
        let word = |word: &str| if number(word) { "#".to_owned() } else { word.to_owned() };
        let line = |line: &str| line.split_whitespace().map(word).collect::<Vec<_>>().join(" ");
        let lines = text.lines().map(line).filter(|line| !line.is_empty() && !line.contains('─'));
        lines.collect()
    };
    assert_eq!(shape(&run.stdout), shape(shown));
    let json_run =
        folder.fairgame(&["demo", "--turns", "100", "--runs", "1", "--json", "--out", "again"]);
    assert_eq!(json(&json_run)["ways"].as_array().unwrap().len(), 5);
}

/// What shells and `man` want to know, for every command.
#[test]
fn completions_and_manual() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = folder.fairgame(&["completions", shell]);
        assert_eq!(run.code, Some(0), "{run:?}");
        assert!(run.stdout.contains("evaluate") && run.stdout.contains("fairgame"), "{shell}");
    }
    assert_eq!(folder.fairgame(&["completions", "cmd"]).code, Some(2));
    assert!(folder.fairgame(&["man"]).stdout.contains(".TH fairgame"));
    assert_eq!(folder.fairgame(&["man", "pages"]).code, Some(0));
    let page = String::from_utf8(folder.bytes("pages/fairgame-train.1")).unwrap();
    assert!(page.contains("constraint\\-step") || page.contains("constraint-step"), "{page}");
}

/// The theorems as numbers: from numbers alone, and from data.
#[test]
fn bounds() {
    let folder = folder();
    let numbers = folder.fairgame(&[
        "bounds",
        "--constraints",
        "8",
        "--rows",
        "10000",
        "--epsilon",
        "0.05",
        "--proxy",
        "2",
        "--json",
    ]);
    assert_eq!(numbers.code, Some(0), "{numbers:?}");
    let bounds = json(&numbers)["bounds"].clone();
    // 4·9·ln 9/0.0025, and √((8·ln 400 + ln 320)/20,000).
    assert_eq!(bounds["turns"], (4.0 * 9.0 * 9.0_f64.ln() / 0.0025).ceil() as u64);
    let wanted = ((8.0 * 400.0_f64.ln() + 320.0_f64.ln()) / 20_000.0).sqrt();
    assert!((bounds["theorem_1"].as_f64().unwrap() - wanted).abs() < 1e-12, "{bounds}");
    assert!(bounds["theorem_2"].is_null());
    let data = folder.fairgame(&[
        "bounds",
        "people.csv",
        "--policy",
        "policy.toml",
        "--algorithm",
        "discrete",
        "--radius",
        "2",
        "--convexity",
        "0.1",
        "--set",
        "algorithm = 'discrete'",
        "--json",
        "--lipschitz",
        "1",
    ]);
    assert_eq!(data.code, Some(0), "{data:?}");
    let data = json(&data);
    assert_eq!(data["given"]["constraints"], 3);
    assert_eq!(data["given"]["rows"], 750);
    // A group of about 40 % of the rows: a single row counts more than twice.
    assert!(data["given"]["loss"].as_f64().unwrap() > 2.0, "{data}");
    assert!(data["bounds"]["theorem_2"].as_f64().unwrap() > 0.0);
    let text = folder.fairgame(&["bounds", "--constraints", "2", "--rows", "100"]);
    assert!(text.stdout.contains("Theorem 1") && text.stdout.contains("B_Δ"), "{text:?}");
    assert_eq!(folder.fairgame(&["bounds"]).code, Some(2));
    assert_eq!(
        folder.fairgame(&["bounds", "--constraints", "1", "--rows", "9", "--delta", "2"]).code,
        Some(2)
    );
}
