//! The paper's experiments, cut short, from the command to the pages.

mod common;

use common::Folder;
use serde_json::Value;

fn reproduce(folder: &Folder, out: &str, more: &[&str]) -> Value {
    let run = folder.fairgame(&[&["reproduce", "--out", out, "--json"], more].concat());
    assert_eq!(run.code, Some(0), "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

/// All of it, a few turns each: every table, figure, bound and claim, on each of the pages.
#[test]
fn all_in_small() {
    let folder = Folder::new();
    let small = ["all", "--runs", "11", "--turns", "3"];
    let document = reproduce(&folder, "paper", &small);
    let results = &document["results"];
    let lengths = ["tables", "figures", "promises", "claims"]
        .map(|name| results[name].as_array().unwrap().len());
    assert_eq!(lengths, [4, 4, 5, 4 * 6 + 4 * (6 + 2) + 1]);
    for table in results["tables"].as_array().unwrap() {
        assert_eq!(table["rows"].as_array().unwrap().len(), 5);
        for row in table["rows"].as_array().unwrap() {
            for cell in ["train_error", "train_worst", "test_error", "test_worst"] {
                let cell = &row["cells"][cell];
                assert!(cell["ours"]["mean"].is_f64() && cell["ours"]["error"].is_f64(), "{cell}");
                assert!(cell["paper"].is_f64(), "{cell}");
            }
        }
    }
    for figure in results["figures"].as_array().unwrap() {
        let curves = figure["curves"].as_array().unwrap();
        assert_eq!(curves.len(), 4);
        assert!(curves.iter().all(|curve| curve["error"].as_array().unwrap().len() == 6));
    }
    let text = |name: &str| String::from_utf8(folder.bytes(&format!("paper/{name}"))).unwrap();
    let (html, markdown) = (text("index.html"), text("README.md"));
    for page in [&html, &markdown] {
        for words in
            ["COMPAS", "Algorithm 4, two datasets", "Theorem 2", "cut short", "--runs 11 --seed 1"]
        {
            assert!(page.contains(words), "{words}");
        }
    }
    assert_eq!(html.matches("<svg ").count(), 8);
    assert!(!html.contains("src=") && !html.contains("href="), "the page asks for nothing");
    for model in ["linear", "5", "10", "100"] {
        for kind in ["error", "violation"] {
            let svg = text(&format!("simulated-{model}-{kind}.svg"));
            assert!(
                svg.starts_with("<svg ") && svg.contains("two datasets, test"),
                "{model} {kind}"
            );
            assert!(markdown.contains(&format!("simulated-{model}-{kind}.svg")));
        }
    }
    let kept: Value = serde_json::from_str(&text("results.json")).unwrap();
    assert_eq!(&kept, results);
}

/// Finished runs are not run again, lines that were cut off are, and threads do not matter.
#[test]
fn finished_runs_are_kept() {
    let folder = Folder::new();
    let two = ["compas", "--runs", "2", "--turns", "20", "--threads", "1"];
    let first = reproduce(&folder, "a", &two);
    let file = std::fs::read_dir(folder.path("a/runs")).unwrap().next().unwrap().unwrap().path();
    let lines = |text: &str| text.lines().count();
    let finished = std::fs::read_to_string(&file).unwrap();
    assert_eq!(lines(&finished), 2);
    assert_eq!(reproduce(&folder, "a", &two)["results"], first["results"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), finished, "nothing was run");

    // The second line is cut off, as by a kill while it was written.
    std::fs::write(&file, &finished[..finished.len() - 40]).unwrap();
    assert_eq!(reproduce(&folder, "a", &two)["results"], first["results"]);
    assert_eq!(lines(&std::fs::read_to_string(&file).unwrap()), 3, "one was run again");

    // More runs take up those that are there; other threads and another folder make the same numbers.
    let four = ["compas", "--runs", "4", "--turns", "20", "--threads"];
    let more = reproduce(&folder, "a", &[&four[..], &["2"]].concat());
    assert_eq!(lines(&std::fs::read_to_string(&file).unwrap()), 5);
    let anew = reproduce(&folder, "b", &[&four[..], &["3"]].concat());
    assert_eq!(more["results"], anew["results"]);
    // Another seed is another file.
    reproduce(&folder, "a", &["compas", "--runs", "1", "--turns", "20", "--seed", "9"]);
    assert_eq!(std::fs::read_dir(folder.path("a/runs")).unwrap().count(), 2);
}

/// The recommended recipe beside the paper's, in small: every ground and way, kept, and the same on any threads.
#[test]
fn beyond_in_small() {
    let folder = Folder::new();
    let small = ["beyond", "--runs", "2", "--turns", "4", "--seed", "7", "--threads"];
    let first = reproduce(&folder, "a", &[&small[..], &["2"]].concat());
    let grounds = first["results"]["grounds"].as_array().unwrap();
    assert_eq!(grounds.len(), 6);
    for ground in grounds {
        let lines = ground["lines"].as_array().unwrap();
        let wanted = match ground["ground"].as_str().unwrap() {
            "entities" => 6,
            "adult" => 12,
            _ => 11,
        };
        assert_eq!(lines.len(), wanted);
        for line in lines {
            assert!((0.0..=1.0).contains(&line["error"]["mean"].as_f64().unwrap()), "{line}");
            assert!(line["worst"]["error"].is_f64(), "{line}");
            let share = |name: &str| line[name].as_f64().unwrap();
            assert!(share("shown_violated") <= share("violated"), "{line}");
            assert!(share("violated") <= share("runs_violated"), "{line}");
        }
    }
    assert_eq!(std::fs::read_dir(folder.path("a/runs")).unwrap().count(), 6);
    let text = |name: &str| String::from_utf8(folder.bytes(name)).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&text("a/beyond.json")).unwrap(), first["results"]);
    for page in ["a/beyond.html", "a/beyond.md"] {
        for words in ["COMPAS", "recommended (κ = 1)", "cut short", "--runs 2 --seed 7 --turns 4"]
        {
            assert!(text(page).contains(words), "{page}: {words}");
        }
    }
    assert!(text("a/beyond-promises.svg").starts_with("<svg "));
    let again = reproduce(&folder, "a", &[&small[..], &["2"]].concat());
    assert!(text("a/beyond.md").contains("reused from an interrupted command"));
    let anew = reproduce(&folder, "b", &[&small[..], &["1"]].concat());
    for other in [again, anew] {
        assert_eq!(other["results"], first["results"]);
    }
}

/// The promise suite, in small: each problem asked for with each model, kept, and the same on any threads.
#[test]
fn promise_in_small() {
    let folder = Folder::new();
    let promise = |out: &str, more: &[&str]| -> Value {
        let fixed = ["reproduce", "promise", "--turns", "40", "--seed", "3", "--json", "-o", out];
        let run = folder.fairgame(&[&fixed[..], more].concat());
        assert_eq!(run.code, Some(0), "{run:?}");
        serde_json::from_str(&run.stdout).unwrap()
    };
    let two = ["--problem", "known", "--problem", "corner", "--draws", "4"];
    let first = promise("a", &[&two[..], &["--threads", "1"]].concat());
    let lines = first["results"]["lines"].as_array().unwrap();
    let name = |line: &Value, key: &str| line[key].as_str().unwrap().to_owned();
    let pairs: Vec<_> =
        lines.iter().map(|line| (name(line, "problem"), name(line, "model"))).collect();
    let known = |problem: &str, model: &str| (problem.to_owned(), model.to_owned());
    assert_eq!(
        pairs,
        [
            known("known", "linear"),
            known("known", "mlp"),
            known("known", "trees"),
            known("known", "game"),
            known("corner", "linear"),
            known("corner", "mlp"),
            known("corner", "trees"),
            known("corner", "game")
        ]
    );
    for line in lines {
        assert_eq!(line["draws"], 4);
        assert!((0.0..=1.0).contains(&line["objective"]["mean"].as_f64().unwrap()), "{line}");
        let kinds = line["kinds"].as_array().unwrap();
        let sum: f64 = kinds.iter().map(|kind| kind["share"].as_f64().unwrap()).sum();
        assert_eq!(sum, 1.0, "{line}");
    }
    let text = |name: &str| String::from_utf8(folder.bytes(name)).unwrap();
    let kept: Value = serde_json::from_str(&text("a/promise.json")).unwrap();
    assert_eq!(kept, first["results"]);
    let page = text("a/promise.md");
    for words in [
        "--draws 4 --margin 95% --seed 3 --problem known --problem corner --turns 40",
        "cut short at 40 turns",
        "| known | linear | yes |",
        "`recall() >= 0.9`",
        "What falls short",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    // Finished draws are read, and give the same page but for the time it took.
    let tables = |page: &str| page.split_once("Promises made").unwrap().1.to_owned();
    assert_eq!(promise("a", &two)["results"], first["results"]);
    assert_eq!(tables(&text("a/promise.md")), tables(&page));
    assert_eq!(
        promise("b", &[&two[..], &["--threads", "2"]].concat())["results"],
        first["results"]
    );
    // Another margin has files of its own.
    let files = || std::fs::read_dir(folder.path("a/runs")).unwrap().count();
    assert_eq!(files(), 8);
    let one = promise("a", &[&two[..], &["--margin", "1"]].concat());
    assert_eq!((files(), &one["results"]["margin"]["errors"]), (16, &Value::from(1.0)));
    assert!(text("a/promise.md").contains("a margin of one standard error,"));
}

#[test]
fn help_names_every_problem() {
    let run = Folder::new().fairgame(&["reproduce", "promise", "--help"]);
    for problem in fairgame_paper::promise::Problem::ALL {
        assert!(run.stdout.contains(problem.name), "{}: {run:?}", problem.name);
    }
}

#[test]
fn mistakes() {
    let folder = Folder::with("file", "");
    for (arguments, wanted) in [
        (&["reproduce", "aduld"][..], "did you mean `adult`?"),
        (&["reproduce", "--runs", "0"], "--runs"),
        (&["reproduce", "beyond", "adult"], "`beyond` is run alone"),
        (&["reproduce", "beyont"], "did you mean `beyond`?"),
        (&["reproduce", "promisse"], "did you mean `promise`?"),
        (&["reproduce", "promise", "--problem", "crdit"], "did you mean `credit`?"),
        (&["reproduce", "promise", "--draws", "0"], "--draws"),
        (&["reproduce", "promise", "--margin", "many"], "`many` is neither standard errors"),
        (&["reproduce", "promise", "--margin", "20%"], "from 50% to 99.99%"),
        (&["reproduce", "compas", "--out", "file"], "folder cannot be made"),
    ] {
        let run = folder.fairgame(arguments);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{arguments:?}: {run:?}");
        assert!(run.stderr.contains(wanted), "{arguments:?}: {run:?}");
    }
}
