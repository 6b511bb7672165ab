//! Output goes where it is asked to, and nowhere else.

mod common;

use common::Folder;

const ROWS: &str =
    "x,yes\n1,no\n2,no\n3,yes\n4,yes\n5,yes\n6,no\n7,yes\n8,yes\n9,no\n10,yes\n11,yes\n12,no\n";
const POLICY: &str =
    "label = 'yes == \"yes\"'\nconstraints = ['recall() >= 0.5']\nalgorithm.practical.turns = 50\n";

fn folder() -> Folder {
    let folder = Folder::with("rows.csv", ROWS);
    folder.write("policy.toml", POLICY);
    let train = ["train", "rows.csv", "--policy", "policy.toml", "-o", "m.safetensors"];
    assert!(matches!(folder.fairgame(&train).code, Some(0 | 1)));
    folder
}

/// What is read is not written over, under whatever name, and no place is written to twice.
#[test]
fn nothing_is_written_over() {
    let folder = folder();
    std::fs::create_dir(folder.path("sub")).unwrap();
    let train = ["train", "rows.csv", "--policy", "policy.toml"];
    let before = folder.listing();
    for arguments in [
        [&train[..], &["-o", "rows.csv"]].concat(),
        [&train[..], &["-o", "sub/../rows.csv"]].concat(),
        [&train[..], &["-o", "policy.toml"]].concat(),
        [&train[..], &["-o", "both", "--report", "./both"]].concat(),
        vec!["predict", "m.safetensors", "rows.csv", "-o", "./rows.csv"],
        vec!["predict", "m.safetensors", "rows.csv", "-o", "m.safetensors", "--format", "csv"],
        vec!["report", "m.safetensors", "-o", "m.safetensors"],
    ] {
        let run = folder.fairgame(&arguments);
        assert_eq!(run.code, Some(2), "{arguments:?}: {run:?}");
        assert!(run.stderr.contains("would be written over"), "{arguments:?}: {run:?}");
        assert_eq!(folder.listing(), before, "{arguments:?}");
    }
}

/// A link stays a link, and what it points to is written; a pipe and a device take what they are given.
#[cfg(unix)]
#[test]
fn links_and_pipes() {
    let folder = folder();
    let predict = |to: &str| {
        folder.fairgame(&["predict", "m.safetensors", "rows.csv", "--format", "csv", "-o", to])
    };
    assert_eq!(predict("plain.csv").code, Some(0));
    std::os::unix::fs::symlink("target.csv", folder.path("link.csv")).unwrap();
    folder.write("target.csv", "old");
    assert_eq!(predict("link.csv").code, Some(0));
    assert!(folder.path("link.csv").is_symlink());
    assert_eq!(folder.bytes("target.csv"), folder.bytes("plain.csv"));

    let made = std::process::Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap();
    assert!(made.success());
    let path = folder.path("pipe");
    let reader = std::thread::spawn(move || std::fs::read(path).unwrap());
    assert_eq!(predict("pipe").code, Some(0));
    assert_eq!(reader.join().unwrap(), folder.bytes("plain.csv"));
    assert_eq!(predict("/dev/null").code, Some(0));
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
}
