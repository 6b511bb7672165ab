//! Reports of real trainings in a real browser: as `fairgame-report`'s own test has it, for what `train` and
//! `demo` write.
//!
//! It needs what that test needs; see `crates/fairgame-report/browser`.

mod common;

use std::path::Path;
use std::process::Command;

use common::Folder;

#[test]
fn reports_of_trainings() {
    let folder = Folder::new();
    let train = ["train", "@compas", "--policy", "@compas", "--turns", "300", "--quiet"];
    let test = ["--test-fraction", "0.3", "--report", "tested.html", "-o", "tested.safetensors"];
    let one = ["--one-dataset", "--report", "one.html", "-o", "one.safetensors"];
    for more in [&test[..], &one] {
        let run = folder.fairgame(&[&train[..], more].concat());
        assert!(matches!(run.code, Some(0 | 1)), "{run:?}");
    }
    let both = ["report", "tested.safetensors", "one.safetensors", "-o", "both.html"];
    assert_eq!(folder.fairgame(&both).code, Some(0));
    let demo = ["demo", "--turns", "1000", "--runs", "1", "--quiet", "--out", "."];
    assert_eq!(folder.fairgame(&demo).code, Some(0));
    if std::env::var_os("FAIRGAME_SKIP_BROWSER").is_some_and(|value| value == "1") {
        return;
    }
    let browser = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fairgame-report/browser");
    let install = "run crates/fairgame-report/browser/install, or set FAIRGAME_SKIP_BROWSER=1";
    let mut node = Command::new("node");
    node.arg(browser.join("check.mjs"))
        .arg(folder.path(""))
        .args(["tested", "one", "both", "report"]);
    let output = node.output().unwrap_or_else(|error| panic!("node: {error}: {install}"));
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}\n{install}", String::from_utf8_lossy(&said));
}
