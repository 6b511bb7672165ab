//! A file appears whole or not at all, with the permissions of what it replaces, and clears up after runs that were
//! killed; nothing that somebody put in the way is written to.
#![cfg(unix)]

use std::collections::BTreeSet;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use fairgame::table::{Column, Format, Table, Values, Writer, remove_leftovers, write, write_text};

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    entries
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("a file").permissions().mode() & 0o777
}

fn numbers() -> Table {
    Table::new(vec![Column::new("x", Values::Number(vec![1.0]))]).expect("a table")
}

#[test]
fn leftovers_of_killed_runs_go_when_the_name_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let left = [".out.csv.4194305.partial", ".out.csv.17-2.partial"];
    // Files of other names, and of people.
    let others =
        [".other.csv.17.partial", ".out.csv.mine.partial", ".out.csv.partial", "out.csv.1.partial"];
    for name in left.iter().chain(&others) {
        fs::write(path(name), "half").expect("written");
    }
    // What another run is writing has a lock.
    let other = File::create(path(".out.csv.99.partial")).expect("a file");
    other.lock().expect("locked");
    symlink(path("other"), path(".out.csv.5.partial")).expect("a link");

    write(&numbers(), &path("out.csv"), Format::Csv).expect("written");
    let mut wanted: BTreeSet<String> = others.iter().map(ToString::to_string).collect();
    wanted.extend(["out.csv", ".out.csv.99.partial", ".out.csv.5.partial"].map(str::to_owned));
    assert_eq!(names(folder.path()), wanted);

    drop(other);
    remove_leftovers(folder.path());
    for name in [".out.csv.99.partial", ".other.csv.17.partial"] {
        wanted.remove(name);
    }
    assert_eq!(names(folder.path()), wanted);
}

#[test]
fn what_is_being_written_is_no_leftover() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("out.csv");
    let mut first = Writer::file(&path, Format::Csv).expect("a file");
    first.write(&numbers()).expect("written");
    // A second writer of the same name, in the same process.
    write_text(&path, "second").expect("written");
    remove_leftovers(folder.path());
    assert_eq!(fs::read_to_string(&path).expect("read"), "second");
    first.finish().expect("its temporary file is still there");
    assert_eq!(fs::read_to_string(&path).expect("read"), "x\n1\n");
    assert_eq!(names(folder.path()).len(), 1);
}

#[test]
fn permissions_stay() {
    let folder = tempfile::tempdir().expect("a folder");
    for wanted in [0o600, 0o640, 0o444, 0o755] {
        let path = folder.path().join(format!("{wanted:o}"));
        fs::write(&path, "before").expect("written");
        fs::set_permissions(&path, Permissions::from_mode(wanted)).expect("set");
        let mut writer = Writer::file(&path, Format::Csv).expect("a file");
        let partial = names(folder.path()).into_iter().find(|name| name.ends_with(".partial"));
        let partial = folder.path().join(partial.expect("a temporary file"));
        assert_eq!(mode(&partial), wanted, "from the beginning");
        writer.write(&numbers()).and_then(|()| writer.finish()).expect("written");
        assert_eq!(mode(&path), wanted);
        assert_eq!(fs::read_to_string(&path).expect("read"), "x\n1\n");
    }
}

#[test]
fn links_lead_to_what_is_written_or_are_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    symlink(path("nowhere"), path("dangling")).expect("a link");
    let error = write_text(&path("dangling"), "text").expect_err("it leads nowhere").to_string();
    assert!(error.contains("a link to a file that does not exist"), "{error}");
    assert!(fs::symlink_metadata(path("dangling")).expect("still there").is_symlink());
    assert!(!path("nowhere").exists());

    fs::write(path("real"), "before").expect("written");
    symlink(path("real"), path("link")).expect("a link");
    write_text(&path("link"), "after").expect("written");
    assert_eq!(fs::read_to_string(path("real")).expect("read"), "after");
    assert!(fs::symlink_metadata(path("link")).expect("still there").is_symlink());
}

#[test]
fn a_link_at_the_temporary_name_is_not_followed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    fs::write(path("victim"), "precious").expect("written");
    let taken = format!(".out.txt.{}.partial", std::process::id());
    symlink(path("victim"), path(&taken)).expect("a link");
    write_text(&path("out.txt"), "text").expect("written under another temporary name");
    assert_eq!(fs::read_to_string(path("victim")).expect("read"), "precious");
    assert_eq!(fs::read_to_string(path("out.txt")).expect("read"), "text");
}
