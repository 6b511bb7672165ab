//! The README, the docs and every `--help` are in plain words.
//!
//! [`OLD`] has phrases that we no longer use, each with what to say in its place. A phrase is found across line ends and in
//! either case. The glossary of `docs/concepts.md` has each term once, with one sentence, and each term is used.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use common::Folder;

/// What is no longer said, and what is said in its place.
const OLD: &[(&str, &str)] = &[
    ("has back what", "avoids the accuracy that is lost by"),
    ("every row teaches", "cross-fitting: each model is judged only on rows it was not trained on"),
    ("what four do", "the cost per row does not grow with the number of constraints"),
    ("yields by itself", "if a margin is infeasible, only that margin is reduced"),
    ("so many times as long", "learning-rate multipliers"),
    ("lengths of steps", "learning-rate multipliers"),
    ("what stands where", "defaults to use"),
    ("misses on either side", "two-sided miss probability"),
    ("what is wrong about that", "override the detected type with `--type`"),
    ("get no better there", "stops early when the held-out loss stops improving"),
    ("while the model works", "prefetch"),
    ("can be had", "is feasible, or is possible"),
    ("cannot be had", "is infeasible"),
    ("could be had", "was feasible"),
    ("margin had", "margin was feasible"),
    ("margin that was had", "margin that was feasible"),
    ("has taught", "has trained, or had a part in training"),
    ("have taught", "have trained, or had a part in training"),
    ("rows that teach", "training rows"),
    ("come to the same", "do as well, or are equal"),
    ("comes to the same", "does as well, or is equal"),
    ("trainings come to", "the results of training"),
    ("decisions come to", "the rates of decisions"),
    ("stand against each other", "conflict"),
    ("stands against", "conflicts with"),
    ("slack would do", "slack would be enough"),
    ("way back", "backward pass"),
    ("is one word away", "name it with `--model`"),
    ("does without a draw", "decides without a draw"),
    ("rather than a hair below", "exactly"),
    ("what binds tightest", "operators by precedence"),
    ("for itself alone", "by itself"),
    ("said beforehand that a promise can", "said beforehand to be possible"),
    ("is told by its value", "is told apart by value"),
    ("what is misspelt is refused", "a misspelt name is an error"),
    ("stochastic classifier", "randomised classifier"),
    ("randomized", "randomised"),
    ("regularization", "regularisation"),
    ("standardized", "standardised"),
    ("minimizes", "minimises"),
];

/// Phrases that are left on pages which a command writes, until it writes them again.
const LEFT: &[(&str, &str)] = &[
    ("docs/paper/beyond.md", "cannot be had"),
    ("docs/paper/beyond.md", "could be had"),
    ("docs/paper/beyond.md", "margin had"),
];

/// Text as it is searched: one space between words, lower case, without the marks of Markdown.
fn flat(text: &str) -> String {
    let plain = text.replace(['*', '_', '`'], "");
    plain.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// What a text says that we no longer say.
fn found(text: &str) -> BTreeSet<&'static str> {
    let text = flat(text);
    OLD.iter().map(|(old, _)| *old).filter(|old| text.contains(*old)).collect()
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The README and all of docs/, by their paths.
fn pages() -> BTreeMap<String, String> {
    fn list(folder: &Path, name: &str, into: &mut BTreeMap<String, String>) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = format!("{name}/{}", path.file_name().unwrap().to_string_lossy());
            if path.is_dir() {
                list(&path, &name, into);
            } else if name.ends_with(".md") {
                into.insert(name, std::fs::read_to_string(&path).expect("a page"));
            }
        }
    }
    let mut pages = BTreeMap::new();
    list(&root().join("docs"), "docs", &mut pages);
    let readme = std::fs::read_to_string(root().join("README.md")).expect("README.md");
    pages.insert("README.md".to_owned(), readme);
    pages
}

/// The help of the program and of every command, by what was typed.
fn helps() -> BTreeMap<String, String> {
    let folder = Folder::new();
    let mut helps = BTreeMap::new();
    let mut open = vec![Vec::<String>::new()];
    while let Some(command) = open.pop() {
        let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        arguments.push("--help");
        let run = folder.fairgame(&arguments);
        assert_eq!(run.code, Some(0), "{arguments:?}: {run:?}");
        // Commands are listed under a heading of their own, two spaces before each name.
        let listed = run.stdout.split("\nCommands:\n").nth(1).unwrap_or_default();
        for line in listed.lines().take_while(|line| !line.is_empty()) {
            let Some(name) = line.strip_prefix("  ").and_then(|line| line.split(' ').next()) else {
                continue;
            };
            if !name.is_empty() && name != "help" {
                open.push([&command[..], &[name.to_owned()]].concat());
            }
        }
        helps.insert(format!("fairgame {}", arguments.join(" ")), run.stdout);
    }
    helps
}

#[test]
fn old_phrases_are_gone() {
    let mut wrong = Vec::new();
    let helps = helps();
    for command in ["train", "data check", "reproduce promise", "man"] {
        assert!(helps.contains_key(&format!("fairgame {command} --help")), "{command} has no help");
    }
    for (place, text) in pages().iter().chain(&helps) {
        for old in found(text) {
            if !LEFT.contains(&(place, old)) {
                let (_, say) = OLD.iter().find(|(phrase, _)| *phrase == old).unwrap();
                wrong.push(format!("{place}: \"{old}\"; say: {say}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is written again in plain words leaves the list.
#[test]
fn what_is_left_is_still_there() {
    let pages = pages();
    for (page, old) in LEFT {
        assert!(found(&pages[*page]).contains(old), "take (\"{page}\", \"{old}\") out of LEFT");
    }
}

#[test]
fn an_old_phrase_is_found() {
    let text = "A margin that\n  **Cannot** be   had is reduced.";
    assert_eq!(found(text).into_iter().collect::<Vec<_>>(), ["cannot be had"]);
    assert!(found("A margin that is infeasible is reduced.").is_empty());
    for (old, say) in OLD {
        assert_eq!(flat(old), *old, "a phrase is searched in lower case");
        assert!(!flat(say).contains(old), "\"{say}\" says \"{old}\" again");
    }
}

/// The terms of the glossary with their sentences, and the pages without it.
fn glossary() -> (Vec<(String, String)>, String) {
    let mut pages = pages();
    let concepts = pages.remove("docs/concepts.md").expect("docs/concepts.md");
    let (before, table) = concepts.split_once("\n## Glossary\n").expect("a glossary");
    let rows = table.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let cells = rows.filter_map(|row| row.split_once(" | "));
    let terms =
        cells.map(|(term, meaning)| (term.to_owned(), meaning.to_owned())).skip(1).collect();
    let helps = helps().into_values();
    let texts = pages.into_values().chain([before.to_owned()]).chain(helps);
    (terms, flat(&texts.collect::<Vec<_>>().join("\n")))
}

/// Whether a term stands in a flat text as words of their own, in the singular or with an s.
fn is_used(term: &str, text: &str) -> bool {
    let word = |letter: char| letter.is_alphanumeric() || letter == '-';
    text.match_indices(term).any(|(at, _)| {
        let after = text[at + term.len()..].strip_prefix('s').unwrap_or(&text[at + term.len()..]);
        !text[..at].ends_with(word) && !after.starts_with(word)
    })
}

#[test]
fn the_glossary_has_each_term_once_and_each_is_used() {
    let (terms, text) = glossary();
    assert!(terms.len() >= 40, "the glossary has only {} terms", terms.len());
    for pair in terms.windows(2) {
        assert!(pair[0].0 < pair[1].0, "`{}` and `{}` are not in order", pair[0].0, pair[1].0);
    }
    for (term, meaning) in &terms {
        let one = meaning.ends_with('.') && !meaning.trim_end_matches('.').contains(". ");
        assert!(one, "`{term}` is not explained in one sentence: {meaning}");
        assert!(is_used(term, &text), "`{term}` is in the glossary, and used nowhere");
    }
}

#[test]
fn use_is_told_from_parts_of_words() {
    assert!(is_used("rate", "all rates are shares"));
    assert!(!is_used("rate", "a moderate accurate thing"));
    assert!(is_used("out-of-fold", "such a prediction is out-of-fold."));
    assert!(!is_used("fold", "such a prediction is out-of-fold."));
}
