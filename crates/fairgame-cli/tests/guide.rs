//! The commands of `docs/guide.md` run, in order, and print what the page shows.
//!
//! A block that is fenced as `console` has commands, each on a line that begins with `$ `. Below a command stands what it
//! prints, standard error before standard output, and `exit code N` if that is not 0. A line `…` stands for any lines.
//! Seconds may differ. `UPDATE_GUIDE=1` writes what is printed into the page, where the page has something else.

mod common;

use std::path::Path;

use common::Folder;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide.md");

/// A command of the page with what stands below it.
struct Step {
    /// The line of the page that the command stands on, counted from 1.
    line: usize,
    command: String,
    shown: Vec<String>,
}

/// A piece of the page: text that stays as it is, or a command.
enum Piece {
    Text(String),
    Step(Step),
}

fn pieces(page: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut inside = false;
    for (at, line) in page.lines().enumerate() {
        match (inside, line.strip_prefix("$ "), pieces.last_mut()) {
            (true, Some(command), _) => pieces.push(Piece::Step(Step {
                line: at + 1,
                command: command.to_owned(),
                shown: Vec::new(),
            })),
            (true, None, Some(Piece::Step(step))) if line != "```" => {
                step.shown.push(line.to_owned());
            }
            _ => {
                inside = if line.starts_with("```") { line == "```console" } else { inside };
                pieces.push(Piece::Text(line.to_owned()));
            }
        }
    }
    pieces
}

/// The words of a command, as a shell splits them: quotes keep what is between them together.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for letter in command.chars() {
        match (quote, letter) {
            (Some(open), close) if open == close => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    assert!(quote.is_none(), "a quote is never closed: {command}");
    words.extend(word);
    words
}

/// The lines that a command prints, standard error first.
fn printed(folder: &Folder, command: &str) -> Vec<String> {
    let words = words(command);
    let Some(("fairgame", arguments)) = words.split_first().map(|(first, rest)| (&first[..], rest))
    else {
        panic!("the guide runs only fairgame: {command}")
    };
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let run = folder.fairgame(&arguments);
    let lines = run.stderr.lines().chain(run.stdout.lines());
    let mut lines: Vec<String> = lines.map(|line| line.trim_end().to_owned()).collect();
    lines.extend(run.code.filter(|code| *code != 0).map(|code| format!("exit code {code}")));
    lines
}

/// A line without what differs from run to run, and from machine to machine. Trees are the same everywhere; logarithms
/// of other systems may round otherwise, so there only the words are compared.
fn comparable(line: &str) -> String {
    let exact = cfg!(all(target_os = "linux", target_arch = "x86_64"));
    let number = |word: &str| {
        let bare = word.trim_matches(|letter: char| !letter.is_ascii_digit());
        !bare.is_empty() && bare.parse::<f64>().is_ok()
    };
    let words: Vec<&str> = line.split_whitespace().collect();
    let shown = words.iter().enumerate().map(|(at, word)| {
        let seconds = words.get(at + 1).is_some_and(|next| *next == "s" || *next == "s;");
        let varies = number(word) && (seconds || !exact);
        if varies { "#" } else { word }
    });
    shown.collect::<Vec<_>>().join(" ")
}

/// Whether lines that are shown are those that were printed; `…` stands for any lines.
fn matches(shown: &[String], printed: &[String]) -> bool {
    match (shown.split_first(), printed.split_first()) {
        (None, first) => first.is_none(),
        (Some((any, rest)), _) if any == "…" => {
            (0..=printed.len()).any(|skipped| matches(rest, &printed[skipped..]))
        }
        (Some(_), None) => false,
        (Some((line, rest)), Some((first, others))) => {
            comparable(line) == comparable(first) && matches(rest, others)
        }
    }
}

#[test]
fn the_guide_is_what_the_commands_print() {
    let page = std::fs::read_to_string(Path::new(PAGE)).expect("docs/guide.md");
    let folder = Folder::new();
    let policy = page.split("```toml\n").nth(1).expect("a policy").split("```").next().unwrap();
    folder.write("policy.toml", policy);

    let mut new = String::new();
    let mut steps = 0;
    let mut wrong = Vec::new();
    for piece in pieces(&page) {
        let step = match piece {
            Piece::Text(text) => {
                new += &format!("{text}\n");
                continue;
            }
            Piece::Step(step) => step,
        };
        steps += 1;
        let printed = printed(&folder, &step.command);
        let same = matches(&step.shown, &printed);
        if !same {
            let (line, command) = (step.line, &step.command);
            wrong.push(format!(
                "line {line}: {command}\nthe page has\n{}\nthe command prints\n{}",
                step.shown.join("\n"),
                printed.join("\n")
            ));
        }
        // Where nothing else differs, seconds stay as they are.
        let kept = if same { &step.shown } else { &printed };
        new += &format!("$ {}\n", step.command);
        new.extend(kept.iter().map(|line| format!("{line}\n")));
    }
    assert!(steps >= 15, "the guide has only {steps} commands");
    if std::env::var_os("UPDATE_GUIDE").is_some_and(|value| value == "1") {
        std::fs::write(PAGE, new).unwrap();
        return;
    }
    assert!(wrong.is_empty(), "UPDATE_GUIDE=1 writes docs/guide.md\n\n{}", wrong.join("\n\n"));
    assert_eq!(new, page, "nothing but outputs may change");
}

/// The numbers with a decimal point in a text, without signs.
fn decimals(text: &str) -> Vec<&str> {
    let words = text.split(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let words = words.map(|word| word.trim_matches('.'));
    words.filter(|word| word.contains('.') && word.parse::<f64>().is_ok()).collect()
}

/// What the text says of results is what stands in a result: a number of the text begins one that is printed.
#[test]
fn numbers_of_the_text_are_printed() {
    let page = std::fs::read_to_string(Path::new(PAGE)).expect("docs/guide.md");
    let (mut said, mut printed) = (Vec::new(), String::new());
    for piece in pieces(&page) {
        match piece {
            Piece::Text(text) => said.push(text),
            Piece::Step(step) => printed += &[&[step.command], &step.shown[..]].concat().join("\n"),
        }
    }
    let printed = decimals(&printed);
    for line in &said {
        for number in decimals(line) {
            let found = printed.iter().any(|one| one.starts_with(number));
            assert!(found, "no command prints {number}: {line}");
        }
    }
    assert_eq!(decimals("rises from 0.5 (not 1) to −0.25, or 3.5 %."), ["0.5", "0.25", "3.5"]);
}

/// What a test of the guide rests on: how commands are split, and that differences are seen.
#[test]
fn differences_are_seen() {
    let split = words("fairgame train a.csv --label 'income == \">50K\"' --empty ''");
    assert_eq!(
        split,
        ["fairgame", "train", "a.csv", "--label", "income == \">50K\"", "--empty", ""]
    );
    assert_eq!(comparable("trained in 1.5 s; done"), comparable("trained  in 20.1 s; done"));
    assert_ne!(comparable("exit code"), comparable("exit codes"));
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        assert_ne!(comparable("error 0.1"), comparable("error 0.2"));
    }
    let lines = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    assert!(matches(&lines("a … d"), &lines("a b c d")) && matches(&lines("… a"), &lines("a")));
    assert!(!matches(&lines("a … d"), &lines("a b c")) && !matches(&lines("a"), &lines("a b")));
    let page =
        "a\n```console\n$ fairgame x\nshown\nexit code 3\n$ fairgame y\n```\nb\n```sh\n$ no\n```\n";
    let steps: Vec<Step> = pieces(page)
        .into_iter()
        .filter_map(|piece| match piece {
            Piece::Step(step) => Some(step),
            Piece::Text(_) => None,
        })
        .collect();
    assert_eq!(steps.len(), 2);
    assert_eq!((steps[0].line, &steps[0].command[..]), (3, "fairgame x"));
    assert_eq!(steps[0].shown, ["shown", "exit code 3"]);
    assert!(steps[1].shown.is_empty());
}
