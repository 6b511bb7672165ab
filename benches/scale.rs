//! How do time and memory grow with the number of rows?
//!
//! Rows like Adult's are written to Parquet once, and trained on under the 80 % rule, each size in a process of its own.
//! Memory is the largest anonymous resident memory of that process, looked at every 10 ms. Pages of files stand beside it:
//! the system may drop them.
//!
//! ```text
//! cargo bench --bench scale                              # a million rows, linear and trees
//! cargo bench --bench scale -- 1000000 10000000 100000000 --model linear --folder /data --memory 1000000000
//! ```

#![allow(clippy::print_stdout, reason = "it answers on standard output")]

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fairgame::model::ModelSpec;
use fairgame::model::trees::TreesSpec;
use fairgame::table::{Feed, ReadOptions, Source};
use fairgame::train::{Pass, Shape, Spec, Streams, Training, Watch};
use fairgame::{Store, Threads};
use fairgame_benches::write_adult_like;

/// Tells a process that it is one of those that are measured.
const ONE: &str = "--one";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|one| one == name)?;
        arguments.get(at + 1).cloned()
    };
    let memory = value("--memory").and_then(|bytes| bytes.parse().ok());
    if let (Some(path), Some(model)) = (value(ONE), value("--model")) {
        measure(Path::new(&path), &model, memory);
        return;
    }
    let folder = value("--folder").map_or_else(std::env::temp_dir, PathBuf::from);
    let flags = ["--memory", "--model", "--folder"];
    let values: Vec<String> = flags.iter().filter_map(|flag| value(flag)).collect();
    let sizes = arguments.iter().filter(|one| !values.contains(one));
    let mut sizes: Vec<usize> = sizes.filter_map(|one| one.parse().ok()).collect();
    if sizes.is_empty() {
        sizes.push(1_000_000);
    }
    let models = value("--model").map_or(vec!["linear".into(), "trees".into()], |one| vec![one]);
    println!(
        "{:>11} {:>7} {:>8} {:>8} {:>8} {:>8} {:>12} {:>9} {:>10} {:>8}",
        "rows",
        "model",
        "reading",
        "storing",
        "fitting",
        "seconds",
        "ns/row after",
        "memory",
        "bytes/row",
        "of files"
    );
    for rows in sizes {
        let path = folder.join(format!("adult-like-{rows}.parquet"));
        if !path.exists() {
            write_adult_like(rows, &path).expect("a file of rows");
        }
        for model in &models {
            let mut one = Command::new(std::env::current_exe().expect("this program"));
            one.arg(ONE).arg(&path).args(["--model", model]);
            if let Some(memory) = value("--memory") {
                one.args(["--memory", &memory]);
            }
            assert!(one.status().expect("this program runs").success());
        }
    }
}

/// Trains on a file, and prints a row of the table.
fn measure(path: &Path, model: &str, memory: Option<u64>) {
    let mut spec =
        Spec::new("income == \">50K\"", &["positive_rate(each sex) >= 0.8 * positive_rate()"]);
    spec.model = match model {
        "linear" => ModelSpec::Linear,
        "mlp" => ModelSpec::Mlp { units: 50 },
        _ => ModelSpec::Trees(TreesSpec {
            trees: 100,
            leaves: Some(31),
            patience: 100,
            ..TreesSpec::default()
        }),
    };
    let peaks = [AtomicU64::new(0), AtomicU64::new(0)];
    let done = AtomicBool::new(false);
    let store = memory.map_or_else(Store::half_of_free, Store::new);
    let mut clock = Clock { start: Instant::now(), first: None, second: None, rows: 0 };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                for (peak, name) in peaks.iter().zip(["RssAnon:", "RssFile:"]) {
                    peak.fetch_max(resident(name), Ordering::Relaxed);
                }
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        let source = Source::Path(path.to_owned());
        let feed = Feed::open("rows", [source], ReadOptions::default()).expect("a file");
        let plan = spec.plan(&Shape::default()).expect("sound settings");
        let plan = plan.with_threads(Threads::all()).with_store(store.clone());
        let outcome = plan.run_streams(Streams::new(feed), &mut clock).expect("a training");
        outcome.trained().expect("a classifier");
        done.store(true, Ordering::Relaxed);
    });
    let all = clock.start.elapsed().as_secs_f64();
    let (first, second) = (clock.first.unwrap_or(0.0), clock.second.unwrap_or(0.0));
    let rows = clock.rows as f64;
    let [anonymous, of_files] = peaks.map(|peak| peak.into_inner() as f64);
    println!(
        "{:>11} {model:>7} {first:>8.2} {:>8.2} {:>8.2} {all:>8.2} {:>12.0} {:>6.0} MB {:>10.1} {:>5.0} MB",
        clock.rows,
        second - first,
        all - second,
        (all - second) / rows * 1e9,
        anonymous / 1e6,
        anonymous / rows,
        of_files / 1e6,
    );
}

/// When each pass ended.
struct Clock {
    start: Instant,
    first: Option<f64>,
    second: Option<f64>,
    rows: u64,
}

impl Watch for Clock {
    fn pass(&mut self, pass: &Pass) -> ControlFlow<()> {
        let now = self.start.elapsed().as_secs_f64();
        if pass.name == "reading" {
            self.first = Some(now);
        }
        self.rows = self.rows.max(pass.rows);
        ControlFlow::Continue(())
    }

    fn prepared(&mut self, _: &Training<'_>) {
        self.second = Some(self.start.elapsed().as_secs_f64());
    }
}

/// Resident memory of this process in bytes, where the system says.
fn resident(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()).unwrap_or(0)
        * 1024
}
