//! What people stumble over is said, and help leads somewhere.

mod common;

use common::{Folder, applicants};

#[test]
fn a_number_too_large_is_an_error_not_a_category() {
    let folder = Folder::with("rows.csv", "a,y\n1,yes\n1e400,no\n3,yes\n");
    let run = folder.fairgame(&["data", "describe", "rows.csv"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("line 3: column `a` holds `1e400`, a number larger"), "{run:?}");
    for way_out in [["--missing", "1e400"], ["--type", "a=category"]] {
        let run = folder.fairgame(&[&["data", "describe", "rows.csv"][..], &way_out].concat());
        assert_eq!(run.code, Some(0), "{run:?}");
    }
    // Among texts it is one of them.
    folder.write("texts.csv", "a\n1e400\nx\n");
    assert_eq!(folder.fairgame(&["data", "describe", "texts.csv"]).code, Some(0));
}

#[test]
fn a_wrong_delimiter_is_hinted_at() {
    let folder = Folder::with("rows.csv", format!("a b y\n{}", "1 2 yes\n3 4 no\n".repeat(10)));
    let run = folder.fairgame(&["data", "describe", "rows.csv"]);
    assert!(run.stderr.contains("is it the right --delimiter?"), "{run:?}");
    let train = ["train", "rows.csv", "--label", "y == \"yes\""];
    let run = folder.fairgame(&train);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("give the right delimiter (--delimiter"), "{run:?}");
    let run = folder.fairgame(&["data", "describe", "rows.csv", "--column", "y"]);
    assert!(run.stderr.contains("give the right delimiter (--delimiter"), "{run:?}");
    let run = folder.fairgame(&["data", "describe", "rows.csv", "--delimiter", " "]);
    assert!(run.stdout.contains("20 rows, 3 columns") && run.stderr.is_empty(), "{run:?}");
}

#[test]
fn what_a_model_needs_and_whom_it_does_not_know() {
    let folder = applicants::folder();
    let policy = ["--policy", "policy.toml", "--algorithm", "practical", "--turns", "500"];
    let run = folder.fairgame(&[&["train", "people.csv"], &policy[..]].concat());
    assert!(run.stderr.contains("note: the model is not kept"), "{run:?}");
    let kept =
        folder.fairgame(&[&["train", "people.csv", "-o", "m.safetensors"], &policy[..]].concat());
    assert!(!kept.stderr.contains("not kept"), "{kept:?}");

    // Another kind is no way out where the model needs this one.
    folder.write("odd.csv", "id,group,skill,city\n1,a,tall,Bonn\n");
    let run = folder.fairgame(&["predict", "m.safetensors", "odd.csv"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("column `skill` holds `tall`"), "{run:?}");
    assert!(!run.stderr.contains("--type"), "{run:?}");
    assert!(run.stderr.contains("--missing 'tall'"), "{run:?}");
    assert_eq!(
        folder.fairgame(&["predict", "m.safetensors", "odd.csv", "--missing", "tall"]).code,
        Some(0)
    );

    // A group that training did not have is in no constraint.
    let strangers = applicants::applicants(1500, 2).replace(",a,", ",c,");
    folder.write("strangers.csv", &strangers);
    let known = "a value of `group` that no constraint names (`c`)";
    for command in [
        &["evaluate", "m.safetensors", "strangers.csv"][..],
        &["predict", "m.safetensors", "strangers.csv"],
    ] {
        let run = folder.fairgame(command);
        assert!(run.stderr.contains(known), "{:?} {}", run.code, run.stderr);
    }
    let run = folder.fairgame(&["predict", "m.safetensors", "new.csv"]);
    assert!(run.stderr.is_empty(), "{}", run.stderr);
}

#[test]
fn small_mistakes() {
    let folder = Folder::with("twice.csv", "a,b,a,y\n1,2,3,yes\n4,5,6,no\n");
    let run = folder.fairgame(&["data", "describe", "twice.csv"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("both named `a`") && run.stderr.contains("--drop"), "{run:?}");
    let run = folder.fairgame(&["data", "describe", "twice.csv", "--drop", "a"]);
    assert_eq!(run.code, Some(0), "{run:?}");

    // A number that is infinite is no category.
    folder.write("inf.csv", "x,y\n1,yes\ninf,no\n3,yes\n");
    let run = folder.fairgame(&["data", "describe", "inf.csv"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("line 3: column `x` holds `inf`"), "{run:?}");
    folder.write("inf.csv", "x,y\ninfo,yes\ninf,no\n");
    assert_eq!(folder.fairgame(&["data", "describe", "inf.csv"]).code, Some(0));

    // Names that begin with a digit, and several names in one.
    folder.write("rows.csv", format!("2023-y,b,c\n{}", "1,2,3\n0,4,5\n".repeat(20)));
    let run = folder.fairgame(&["train", "rows.csv", "--label", "2023-y == 1"]);
    assert!(run.stderr.contains("written in backticks: `2023-y`"), "{run:?}");
    let run = folder.fairgame(&["train", "rows.csv", "--label", "b == 2", "--ignore", "b,c"]);
    assert!(run.stderr.contains("once for each of `b`, `c`"), "{run:?}");

    let run = folder.fairgame(&["evaluate", "a.safetensors", "b.safetensors", "rows.csv"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    let help = folder.fairgame(&["train", "--help"]).stdout;
    assert!(!help.contains("practical or practical") && !help.contains("lagrangian or lagrangian"));
}
