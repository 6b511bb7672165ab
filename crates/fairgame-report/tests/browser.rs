//! Pages in a real browser: they ask for nothing, say nothing on the console, show every figure, and
//! tooltips come by pointer and by keyboard, in light and dark, on wide screens and narrow ones.
//!
//! It needs node, Chromium and the packages of `browser/package.json`; `browser/run` installs them.
//! Without them it fails, unless `FAIRGAME_SKIP_BROWSER=1` says that this is known.

mod fixtures;

use std::path::Path;
use std::process::Command;

#[test]
fn pages_work_in_a_browser() {
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
    std::fs::create_dir_all(&to).unwrap();
    let mut pages: Vec<(String, fairgame_report::Report)> = vec![
        ("adult".into(), fixtures::adult()),
        ("two".into(), fixtures::two()),
        ("many".into(), fixtures::many(200)),
        ("hostile".into(), fixtures::hostile()),
    ];
    pages.extend(
        fixtures::sparse()
            .into_iter()
            .enumerate()
            .map(|(i, report)| (format!("sparse{i}"), report)),
    );
    for (name, report) in &pages {
        std::fs::write(to.join(format!("{name}.html")), report.to_html()).unwrap();
    }
    if std::env::var_os("FAIRGAME_SKIP_BROWSER").is_some_and(|v| v == "1") {
        return;
    }

    let browser = Path::new(env!("CARGO_MANIFEST_DIR")).join("browser");
    let install = "run crates/fairgame-report/browser/install (node, npm and Debian's chromium, then \
                   npm ci), or set FAIRGAME_SKIP_BROWSER=1 to go without this test";
    assert!(
        browser.join("node_modules/playwright-core").is_dir(),
        "playwright-core is missing: {install}"
    );
    let mut node = Command::new("node");
    node.arg(browser.join("check.mjs")).arg(&to).args(pages.iter().map(|(name, _)| name));
    let output = node.output().unwrap_or_else(|error| panic!("node: {error}: {install}"));
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
