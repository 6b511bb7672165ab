//! What `--json` prints is what `docs/json.md` says, name by name.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::Folder;
use serde_json::Value;

type Shape = BTreeMap<String, BTreeSet<&'static str>>;

/// Each leaf of a document by its path, and what it is.
fn shape(value: &Value, path: &str, into: &mut Shape) {
    let kind = match value {
        // Settings have the keys of a policy, which docs/policy.md lists.
        Value::Object(_) if path == "settings" => "policy",
        Value::Object(members) => {
            for (name, member) in members {
                let dot = if path.is_empty() { "" } else { "." };
                shape(member, &format!("{path}{dot}{name}"), into);
            }
            return;
        }
        Value::Array(items) => {
            return items.iter().for_each(|item| shape(item, &format!("{path}[]"), into));
        }
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "text",
    };
    into.entry(path.to_owned()).or_default().insert(kind);
}

/// The table under each heading of the page.
fn documented() -> BTreeMap<&'static str, Shape> {
    let page = include_str!("../../../docs/json.md");
    let sections = page.split("\n## ").skip(1).map(|section| {
        let (title, body) = section.split_once('\n').unwrap();
        let rows = body.lines().filter_map(|line| line.strip_prefix("| `")).map(|line| {
            let (name, rest) = line.split_once("` | ").unwrap();
            let kinds = rest.split(" | ").next().unwrap();
            (name.to_owned(), kinds.split(" or ").collect())
        });
        (title, rows.collect())
    });
    sections.collect()
}

#[test]
fn json_is_as_documented() {
    let people = |from: usize| {
        let row = |i: usize| {
            let (group, skill) = (["a", "b"][i % 2], (i * 37 % 101) as f64 / 10.0);
            format!(
                "{i},{group},{skill},{}\n",
                if skill + (i % 3) as f64 > 6.0 { "yes" } else { "no" }
            )
        };
        let rows: String = (from..from + 300).map(row).collect();
        format!("id,group,skill,hired\n{rows}")
    };
    let folder = Folder::with("people.csv", people(0));
    folder.write("new.csv", people(300));
    folder.write("strangers.csv", people(300).replace(",b,", ",c,"));
    let none_of_b: String = people(0)
        .lines()
        .filter(|line| !line.contains(",b,"))
        .map(|line| format!("{line}\n"))
        .collect();
    folder.write("a.csv", none_of_b);
    // So few that not every constraint is decided.
    folder.write(
        "few.csv",
        people(300).lines().take(41).map(|line| format!("{line}\n")).collect::<String>(),
    );
    let leaks = people(0).replacen("hired\n", "hired,copy\n", 1);
    let leaks = leaks.replace(",yes\n", ",yes,1\n").replace(",no\n", ",no,0\n");
    let first = leaks.lines().nth(1).unwrap().replace("no,0", ",0").replace("yes,1", ",0");
    folder.write("leaks.csv", format!("{leaks}{first}\n{first}\n"));
    folder.write("gaps.csv", people(300).replacen(",yes", ",", 1));
    let label = ["--label", "hired == \"yes\"", "--constraint", "recall(each group) >= 0.9"];
    let train = [&["train", "people.csv", "--ignore", "id", "--json"], &label[..]].concat();
    let whole =
        ["--turns", "200", "--test", "new.csv", "-o", "m.safetensors", "--report", "m.html"];
    let audit = ["audit", "new.csv", "--prediction", "skill > 5", "--json"];
    let commands: Vec<(&str, Vec<&str>)> = vec![
        ("train", [&train[..], &whole].concat()),
        // So few turns that something is to be warned of.
        (
            "train",
            [
                &train[..],
                &["--one-dataset", "--turns", "1", "--constraint", "fpr() <= 0.01"],
                &["-o", "w.safetensors"],
            ]
            .concat(),
        ),
        ("train", [&train[..], &["--turns", "20", "--test", "a.csv"]].concat()),
        (
            "train",
            [
                &["train", "leaks.csv", "--json"],
                &label[..],
                &["--validation", "new.csv", "-o", "v.safetensors"],
            ]
            .concat(),
        ),
        // A game that a theorem speaks of.
        (
            "train",
            [
                &train[..],
                &["--recipe", "paper", "--algorithm", "discrete", "--selection", "theorem"],
                &["--radius", "1", "--convexity", "0.5", "--epsilon", "1", "--turns", "20"],
            ]
            .concat(),
        ),
        ("train --dry-run", [&train[..], &["--dry-run"]].concat()),
        (
            "train --dry-run",
            [&train[..], &["--constraint", "recall(group == \"z\") >= 0.5", "--dry-run"]].concat(),
        ),
        ("evaluate, audit", vec!["evaluate", "m.safetensors", "new.csv", "--json"]),
        ("evaluate, audit", vec!["evaluate", "m.safetensors", "people.csv", "--json"]),
        ("evaluate, audit", [&audit, &label[..]].concat()),
        ("evaluate, audit", vec!["evaluate", "m.safetensors", "few.csv", "--unit", "id", "--json"]),
        (
            "audit --by",
            [&audit[..], &["--label", "hired == \"yes\"", "--score", "skill"], &["--by", "group"]]
                .concat(),
        ),
        ("audit --by", [&audit[..], &["--by", "group", "--unit", "id"]].concat()),
        (
            "audit --by",
            [
                &["audit", "gaps.csv", "--prediction", "skill > 5", "--json", "--by", "group"],
                &label[..2],
            ]
            .concat(),
        ),
        ("predict", vec!["predict", "m.safetensors", "new.csv", "-o", "p.csv", "--json"]),
        ("predict", vec!["predict", "m.safetensors", "strangers.csv", "-o", "s.csv", "--json"]),
        ("show", vec!["show", "m.safetensors", "--json"]),
        ("show", vec!["show", "v.safetensors", "--json"]),
        ("show", vec!["show", "w.safetensors", "--json"]),
        ("tradeoff", vec!["tradeoff", "m.safetensors", "--json"]),
        (
            "tradeoff",
            vec!["tradeoff", "m.safetensors", "--constraint", "1", "--slack=-2,0", "--json"],
        ),
        ("explain", vec!["explain", "m.safetensors", "new.csv", "--row", "3", "--json"]),
        ("explain", vec!["explain", "w.safetensors", "new.csv", "--row", "3", "--json"]),
        ("export", vec!["export", "m.safetensors", "m.onnx", "--json"]),
        ("report", vec!["report", "m.safetensors", "-o", "r.html", "--json"]),
        ("bounds", vec!["bounds", "--constraints", "3", "--rows", "100", "--json"]),
        ("bounds", [&["bounds", "people.csv", "--json"], &label[..]].concat()),
        (
            "bounds",
            [
                &[
                    "bounds",
                    "--constraints",
                    "1",
                    "--rows",
                    "1000000",
                    "--epsilon",
                    "0.01",
                    "--json",
                ][..],
                &["--g-train", "0.01", "--gamma", "0.5", "--convexity", "1", "--lipschitz", "0.1"],
            ]
            .concat(),
        ),
        (
            "reproduce",
            vec![
                "reproduce",
                "compas",
                "simulated",
                "--runs",
                "1",
                "--turns",
                "2",
                "--out",
                "paper",
                "--json",
            ],
        ),
        (
            "reproduce beyond",
            vec!["reproduce", "beyond", "--runs", "1", "--turns", "2", "--out", "paper", "--json"],
        ),
        (
            "reproduce communities-grid",
            [
                &["reproduce", "communities-grid", "--splits", "1", "--halvings", "1"][..],
                &["--turns", "2", "--out", "grid", "--json"][..],
            ]
            .concat(),
        ),
        (
            "reproduce promise",
            [
                &["reproduce", "promise", "--problem", "known", "--draws", "2"][..],
                &["--turns", "20", "--out", "promise", "--json"],
            ]
            .concat(),
        ),
        ("data list", vec!["data", "list", "--json"]),
        ("data describe", vec!["data", "describe", "people.csv", "--json"]),
        ("data check", vec!["data", "check", "people.csv", "--json", "--label", "skill > -1"]),
        ("data check", [&["data", "check", "few.csv", "--json"], &label[..]].concat()),
        ("data check", [&["data", "check", "leaks.csv", "--json"], &label[..]].concat()),
        ("data export", vec!["data", "export", "compas", "exported", "--json"]),
        ("demo", vec!["demo", "--turns", "50", "--runs", "1", "--out", "demo", "--json"]),
        ("demo", vec!["demo", "--turns", "50", "--runs", "2", "--out", "demo", "--json"]),
    ];
    let documented = documented();
    let mut found: BTreeMap<&str, Shape> = BTreeMap::new();
    for (section, arguments) in commands {
        let run = folder.fairgame(&arguments);
        assert!(matches!(run.code, Some(0 | 1 | 3)), "{arguments:?}: {run:?}");
        let document: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(document["version"], 1);
        shape(&document, "", found.entry(section).or_default());
    }
    // A page of five models can be sent by mail.
    assert!(folder.bytes("demo/report.html").len() < 400_000);
    assert_eq!(documented.keys().collect::<Vec<_>>(), found.keys().collect::<Vec<_>>());
    for (section, found) in &found {
        let documented = &documented[section];
        for (name, kinds) in found {
            // A whole part that is not there: `val` and `test`.
            if kinds.len() == 1 && kinds.contains("null") {
                let below = format!("{name}.");
                if documented.keys().any(|known| known.starts_with(&below)) {
                    continue;
                }
            }
            let known = documented.get(name);
            assert!(
                known.is_some_and(|known| kinds.is_subset(known)),
                "{section}: {name}: {kinds:?}"
            );
        }
        let unprinted = documented.keys().find(|name| !found.contains_key(*name));
        assert_eq!(unprinted, None, "{section}: documented, and not printed");
    }
}
