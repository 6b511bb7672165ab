//! A report as JSON on standard input, as HTML into a file:
//! `cargo run -p fairgame-report --example render -- page.html < report.json`

use fairgame_report::Report;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: render PAGE.html < REPORT.json")?;
    let report: Report = serde_json::from_reader(std::io::stdin())?;
    Ok(std::fs::write(path, report.to_html())?)
}
