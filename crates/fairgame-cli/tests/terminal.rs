//! Nothing that comes from outside can drive a terminal: names, values, paths, settings and model headers are printed
//! with what is hidden in them as escapes, and long ones are cut. Data stay as they are.

mod common;

use common::{Folder, Run};

/// Retitles a terminal, colours it, reads backwards, has no width, ends a line.
const NASTY: &str = "\u{1b}]0;X\u{7}\u{1b}[31m\u{9b}2J\u{202e}\u{200b}z";

/// Its beginning, as it is shown.
const SHOWN: &str = r"\u{1b}]0;X\u{7}\u{1b}[31m\u{9b}2J\u{202e}\u{200b}z";

fn is_safe(text: &str) -> bool {
    let nasty = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
    };
    !text.chars().any(nasty)
}

fn check(run: &Run, code: i32, wanted: &str) {
    assert_eq!(run.code, Some(code), "{run:?}");
    assert!(is_safe(&run.stderr) && is_safe(&run.stdout), "{run:?}");
    let all = format!("{}{}", run.stderr, run.stdout);
    assert!(all.contains(wanted), "{wanted} is not in {all}");
    assert!(all.len() < 20_000, "{} bytes", all.len());
}

#[test]
fn values_and_names_of_data() {
    let folder = Folder::with("value.csv", format!("a,y\n1,yes\n{NASTY},no\n"));
    let label = ["--label", "y == \"yes\""];
    check(
        &folder.fairgame(&["train", "value.csv", "--type", "a=number", label[0], label[1]]),
        2,
        SHOWN,
    );

    folder.write("name.csv", format!("{NASTY},{NASTY},y\n1,2,yes\n"));
    check(&folder.fairgame(&["data", "describe", "name.csv"]), 2, SHOWN);
    folder.write("one.csv", format!("\"{NASTY}\n\",y\n1,yes\n2,no\n"));
    check(&folder.fairgame(&["data", "describe", "one.csv"]), 0, SHOWN);
    check(
        &folder.fairgame(&["data", "describe", "one.csv", "--column", "nothing_like_it"]),
        2,
        SHOWN,
    );
    check(&folder.fairgame(&["data", "describe", "one.csv", "--encode", "default"]), 0, SHOWN);

    // A line end in a name forges no second message.
    folder.write("line.csv", "\"a\nerror: all is lost\",y\n1,yes\nx,no\n");
    let run = folder.fairgame(&[
        "data",
        "describe",
        "line.csv",
        "--type",
        "a\nerror: all is lost=number",
    ]);
    check(&run, 2, r"a\nerror: all is lost");
    assert_eq!(run.stderr.lines().filter(|line| line.starts_with("error")).count(), 1);
}

#[test]
fn names_of_files_and_options() {
    let folder = Folder::new();
    check(&folder.fairgame(&["data", "describe", NASTY]), 2, SHOWN);
    check(&folder.fairgame(&["data", "describe", &format!("@{NASTY}")]), 2, SHOWN);
    check(&folder.fairgame(&["data", "describe", &format!("--{NASTY}")]), 2, r"\u{1b}]0;X");
    check(
        &folder.fairgame(&["data", "describe", "@adult", "--type", &format!("age={NASTY}")]),
        2,
        SHOWN,
    );
    check(&folder.fairgame(&["predict", NASTY, "@adult"]), 2, SHOWN);
}

#[test]
fn texts_of_problems_and_policies() {
    let folder = Folder::with("people.csv", format!("a,y\n1,{NASTY}\n{}", "2,no\n".repeat(20)));
    let wrong = format!("y == \"{NASTY}?\"");
    check(&folder.fairgame(&["train", "people.csv", "--label", &wrong]), 2, SHOWN);
    // What is underlined is under its text, escapes and all.
    let run = folder.fairgame(&["train", "people.csv", "--label", "y == \"\u{202e}\" and b == 1"]);
    check(&run, 2, r#"y == "\u{202e}""#);

    // TOML has escapes of its own for what it does not take as it is.
    let key = r#""\u001b]0;X\u0007\u202e" = 1"#;
    folder.write("policy.toml", format!("label = 'y == \"no\"'\n{key}\n"));
    let run = folder.fairgame(&["train", "people.csv", "--policy", "policy.toml"]);
    check(&run, 2, r"\u{1b}]0;X\u{7}\u{202e}");
    folder.write("raw.toml", format!("label = \"{NASTY}\"\n"));
    check(&folder.fairgame(&["train", "people.csv", "--policy", "raw.toml"]), 2, r"\u{1b}]0;X");
    check(&folder.fairgame(&["train", "people.csv", "--label", "a > 1", "--set", NASTY]), 2, SHOWN);
}

#[test]
fn long_names_and_values_are_cut() {
    let long = "x".repeat(100_000);
    let folder =
        Folder::with("long.csv", format!("{long},y\n{}", format!("1,{long}\n").repeat(10)));
    let cut = "x… 99920 characters …x";
    check(&folder.fairgame(&["data", "describe", "long.csv"]), 0, cut);
    check(&folder.fairgame(&["data", "describe", "long.csv", "--type", "y=number"]), 2, cut);
    check(
        &folder.fairgame(&["data", "describe", "long.csv", "--column", "nothing_like_it"]),
        2,
        cut,
    );
    let train = ["train", "long.csv", "--label", "nothing_like_it == 1"];
    check(&folder.fairgame(&train), 2, "x…");
}

/// What other programs read is what was in the data, to the byte.
#[test]
fn data_stay_as_they_are() {
    let folder = Folder::with("people.csv", format!("{NASTY},y\n1,yes\n2,no\n"));
    let run = folder.fairgame(&["data", "describe", "people.csv", "--json"]);
    assert!(is_safe(&run.stdout), "{run:?}");
    let found: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(found["columns"][0]["name"], NASTY);

    let mut rows = "id,a,y\n".to_owned();
    for row in 0..200 {
        rows += &format!("{NASTY}{row},{},{}\n", row % 7, if row % 7 > 3 { "yes" } else { "no" });
    }
    folder.write("rows.csv", &rows);
    let label =
        ["--label", "y == \"yes\"", "--ignore", "id", "--model", "linear", "--turns", "200"];
    let run =
        folder.fairgame(&[&["train", "rows.csv", "-o", "m.safetensors"], &label[..]].concat());
    assert_eq!(run.code, Some(0), "{run:?}");
    let run = folder.fairgame(&["predict", "m.safetensors", "rows.csv", "--id", "id"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stdout.contains(&format!("\n{NASTY}17,")));
}

/// A printed policy is TOML that says the same, with what is hidden as escapes.
#[test]
fn printed_policies() {
    let folder = Folder::with(
        "policy.toml",
        "label = 'y == \"a\\\\b\"'\nconstraints = [\"recall(g == \\\"\\u009b\\u202e\\u200bz\\\") >= 0.1\"]\n",
    );
    let run = folder.fairgame(&["train", "x.csv", "--policy", "policy.toml", "--print-policy"]);
    check(&run, 0, r"\U0000009B\U0000202E\U0000200Bz");
    folder.write("again.toml", &run.stdout);
    let again = folder.fairgame(&["train", "x.csv", "--policy", "again.toml", "--print-policy"]);
    assert_eq!(again.stdout, run.stdout);
}
