//! The arrows of ARCHITECTURE.md are those of the code: which module of the library uses which, and never in a
//! circle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

type Arrows = BTreeMap<String, BTreeSet<String>>;

/// The names that the root of the crate hands on, and the modules they are from.
const HANDED_ON: [(&str, &str); 13] = [
    ("Error", "error"),
    ("ErrorKind", "error"),
    ("Remedy", "error"),
    ("Result", "error"),
    ("nearest", "error"),
    ("is_hidden", "printable"),
    ("printable", "printable"),
    ("printable_lines", "printable"),
    ("shown", "printable"),
    ("Threads", "threads"),
    ("Slab", "slab"),
    ("Store", "slab"),
    ("bytes_of", "memory"),
];

/// The lines `module -> others` of the block that begins with "```arrows".
fn stated() -> Arrows {
    let text = include_str!("../../../ARCHITECTURE.md");
    let block = text.split("```arrows\n").nth(1).and_then(|rest| rest.split("```").next());
    let lines = block.expect("ARCHITECTURE.md states the arrows").lines();
    let arrow = |line: &str| {
        let (from, to) = line.split_once("->").expect("module -> others");
        (from.trim().to_owned(), to.split_whitespace().map(str::to_owned).collect())
    };
    lines.filter(|line| !line.trim().is_empty()).map(arrow).collect()
}

/// The modules that the code of a file uses, without its comments and its tests.
fn used(text: &str) -> BTreeSet<String> {
    let code: String = text
        .split("#[cfg(test)]")
        .next()
        .unwrap_or_default()
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| [line, "\n"])
        .collect();
    let mut found = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        let word = |text: &str| -> String {
            text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
        };
        match rest.strip_prefix('{') {
            // `use crate::{Error, rate::Bound};`
            Some(list) => {
                let list = list.split("};").next().unwrap_or_default();
                found.extend(list.split(',').map(|item| word(item.trim())));
            }
            None => {
                found.insert(word(rest));
            }
        }
    }
    found
}

fn walk(folder: &Path, see: &mut dyn FnMut(&Path)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { walk(&path, see) } else { see(&path) }
    }
}

fn of_the_code() -> Arrows {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut arrows = Arrows::new();
    walk(&source, &mut |path| {
        let inside = path.strip_prefix(&source).unwrap();
        let first = inside.iter().next().unwrap().to_string_lossy();
        let module = first.trim_end_matches(".rs").to_owned();
        if module != "lib" {
            arrows.entry(module).or_default().extend(used(&fs::read_to_string(path).unwrap()));
        }
    });
    let modules: BTreeSet<String> = arrows.keys().cloned().collect();
    for (module, uses) in &mut arrows {
        let handed = HANDED_ON.iter().filter(|(name, _)| uses.contains(*name));
        let handed: Vec<String> = handed.map(|(_, from)| (*from).to_owned()).collect();
        uses.extend(handed);
        uses.retain(|other| other != module && modules.contains(other));
    }
    arrows
}

#[test]
fn the_arrows_are_true() {
    let (stated, found) = (stated(), of_the_code());
    for (module, uses) in &found {
        let said = stated.get(module).unwrap_or_else(|| panic!("`{module}` is not stated"));
        assert_eq!(uses, said, "the arrows of `{module}`: left the code, right ARCHITECTURE.md");
    }
    assert_eq!(stated.len(), found.len(), "a module is stated that is not there");
}

#[test]
fn the_arrows_make_no_circle() {
    let mut left = of_the_code();
    while !left.is_empty() {
        let free: Vec<String> = left
            .iter()
            .filter(|(_, uses)| uses.iter().all(|other| !left.contains_key(other)))
            .map(|(module, _)| module.clone())
            .collect();
        assert!(!free.is_empty(), "a circle among {:?}", left.keys().collect::<Vec<_>>());
        free.iter().for_each(|module| drop(left.remove(module)));
    }
}
