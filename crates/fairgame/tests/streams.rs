//! Trainings of more rows than are held as a table: the same to the bit for every budget of memory, number of threads,
//! format, and cut into files.

use std::borrow::Cow;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use fairgame::classifier::Classifier;
use fairgame::model::ModelSpec;
use fairgame::random::Stream as Draws;
use fairgame::table::{
    Category, Column, Feed, Format, ReadOptions, Source, Table, Values, Writer, write,
};
use fairgame::train::{Data, Datasets, Pass, Spec, Stream, Streams, Trained, Watch};
use fairgame::{Store, Threads};

/// From so many rows on, there are no tables.
const PLENTY: usize = 1_000_000;

const RULE: &str = "positive_rate(each group) >= 0.8 * positive_rate()";

/// Rows whose label depends on two numbers; one group in four scores lower.
fn table(rows: usize, seed: u64) -> Table {
    let mut draws = Draws::new(seed, "rows");
    let (mut x, mut z, mut group, mut label) = (vec![], vec![], vec![], vec![]);
    for _ in 0..rows {
        let of_group = draws.below(4) == 0;
        let (a, b) = (draws.unit() - if of_group { 0.2 } else { 0.0 }, draws.unit());
        x.push(a);
        z.push(if draws.below(50) == 0 { f64::NAN } else { b });
        group.push(Some(if of_group { "few" } else { "many" }));
        label.push(Some(a + 0.5 * b + 0.3 * draws.unit() > 1.0));
    }
    Table::new(vec![
        Column::new("x", Values::Number(x)),
        Column::new("z", Values::Number(z)),
        Column::new("group", Values::Category(Category::from_texts(group))),
        Column::new("y", Values::Boolean(label)),
    ])
    .unwrap()
}

fn spec(model: &str) -> Spec {
    let mut spec = Spec::new("y", &[RULE]);
    spec.model = match model {
        "linear" => ModelSpec::Linear,
        _ => serde_json::from_str(r#"{"trees": {"trees": 5, "leaves": 4}}"#).unwrap(),
    };
    spec
}

fn run<'a>(spec: &Spec, streams: Streams<'a>, threads: usize, memory: u64) -> Trained {
    let plan = spec.plan(&Default::default()).unwrap().with_threads(Threads::new(threads));
    let outcome = plan.with_store(Store::new(memory)).run_streams(streams, &mut ()).unwrap();
    outcome.trained().unwrap()
}

/// A classifier as its file.
fn bytes(folder: &Path, classifier: &Classifier) -> Vec<u8> {
    let path = folder.join("model.safetensors");
    classifier.save(&path).unwrap();
    std::fs::read(path).unwrap()
}

fn files(paths: &[PathBuf]) -> Streams<'static> {
    let sources = paths.iter().map(|path| Source::Path(path.clone()));
    Streams::new(Feed::open("rows", sources, ReadOptions::default()).unwrap())
}

#[test]
fn the_same_bits_however_rows_come() {
    let folder = tempfile::tempdir().unwrap();
    let all = table(PLENTY + 1234, 1);
    let path = |name: &str| folder.path().join(name);
    write(&all, &path("all.parquet"), Format::Parquet).unwrap();
    let mut csv = Writer::file(&path("second.csv"), Format::Csv).unwrap();
    let cut = 600_001;
    let rows = |range: std::ops::Range<usize>| all.take(&range.collect::<Vec<_>>());
    write(&rows(0..cut), &path("first.arrow"), Format::Arrow).unwrap();
    csv.write(&rows(cut..all.rows())).unwrap();
    csv.finish().unwrap();
    for model in ["linear", "trees"] {
        let spec = spec(model);
        let whole = || Streams::new(Feed::of("rows", Cow::Borrowed(&all)));
        let trained = run(&spec, whole(), 2, u64::MAX);
        let val = trained.part("val").unwrap();
        assert_eq!(val.rows + trained.part("train").unwrap().rows, all.rows());
        let share = val.rows as f64 / all.rows() as f64;
        assert!((share - 0.25).abs() < 0.002, "{share}");
        let found = bytes(folder.path(), &trained.classifier);
        let other = |streams: Streams<'_>, threads: usize, memory: u64| {
            let trained = run(&spec, streams, threads, memory);
            bytes(folder.path(), &trained.classifier)
        };
        assert!(other(whole(), 1, 1000) == found, "{model}: a small budget, one thread");
        assert!(other(files(&[path("all.parquet")]), 2, 1 << 20) == found, "{model}: Parquet");
        let two = [path("first.arrow"), path("second.csv")];
        assert!(other(files(&two), 2, u64::MAX) == found, "{model}: Arrow and CSV");
        // Rows that are in memory go the same way.
        let plan = spec.plan(&Default::default()).unwrap();
        let data = Data::from(fairgame::train::Sheet::owned(all.clone(), "rows"));
        let table = plan.run(data, &mut ()).unwrap().trained().unwrap();
        assert!(bytes(folder.path(), &table.classifier) == found, "{model}: a table");
        // What it says of new rows is so.
        let (rate, fresh) = (trained.mixture.val.objective, table_error(&trained, 50));
        assert!((rate - fresh).abs() < 0.01, "{model}: {rate} where enforced, {fresh} on new rows");
    }
}

/// The error on fresh rows.
fn table_error(trained: &Trained, seed: u64) -> f64 {
    trained.classifier.measure(&table(40_000, seed)).unwrap().objective
}

/// Weights, validation and test rows of their own, and rows set aside to test on.
#[test]
fn rows_beside_the_training_rows() {
    let (all, val, test) = (table(PLENTY, 2), table(30_000, 3), table(20_000, 4));
    let feed = |table| Stream::from(Feed::of("rows", Cow::Borrowed(table)));
    let weights: Vec<f32> = (0..all.rows()).map(|row| 1.0 + (row % 3) as f32).collect();
    let streams = Streams {
        train: Stream { weights: Some(Cow::Borrowed(&weights)), ..feed(&all) },
        val: Some(feed(&val)),
        test: Some(feed(&test)),
    };
    let trained = run(&spec("linear"), streams, 2, 1 << 24);
    let rows = |part: &str| trained.part(part).map(|part| part.rows);
    assert_eq!(rows("train"), Some(PLENTY));
    assert_eq!((rows("val"), rows("test")), (Some(30_000), Some(20_000)));
    assert_eq!(trained.classifier.provenance().train.rows, PLENTY);
    // The rows whose values are dealt out are the stored ones: without a column that tells much, much is lost.
    let most = trained.importance.iter().filter_map(|one| one.objective).fold(0.0, f64::max);
    assert!(most > 0.02, "{:?}", trained.importance);

    let mut spec = spec("linear");
    spec.test_fraction = 0.1;
    spec.datasets = Datasets::Two { val_fraction: 0.5 };
    let trained = run(&spec, Streams::new(Feed::of("rows", Cow::Borrowed(&all))), 2, u64::MAX);
    let share = |part: &str| trained.part(part).unwrap().rows as f64 / PLENTY as f64;
    for (part, wanted) in [("test", 0.1), ("val", 0.45), ("train", 0.45)] {
        assert!((share(part) - wanted).abs() < 0.003, "{part}: {}", share(part));
    }
    assert!((share("test") + share("val") + share("train") - 1.0).abs() < 1e-9);
}

/// Copies and rows of one unit are never apart.
#[test]
fn rows_that_belong_together() {
    let once = table(PLENTY / 2, 5);
    let twice: Vec<usize> = (0..PLENTY).map(|row| row / 2).collect();
    let all = once.take(&twice);
    let stream = || Streams::new(Feed::of("rows", Cow::Borrowed(&all)));
    let trained = run(&spec("linear"), stream(), 2, u64::MAX);
    let notices: Vec<String> = trained.notices.iter().map(ToString::to_string).collect();
    assert!(notices.iter().any(|one| one.contains("cop")), "{notices:?}");
    let val = trained.part("val").unwrap();
    assert_eq!(val.rows % 2, 0);
    assert_eq!(val.units, Some(val.rows as u64 / 2));

    let unit = (0..PLENTY).map(|row| (row / 4) as f64).collect();
    let mut columns = table(PLENTY, 6).columns().to_vec();
    columns.push(Column::new("person", Values::Number(unit)));
    let all = Table::new(columns).unwrap();
    let mut spec = spec("linear");
    spec.unit = Some("person".to_owned());
    let trained = run(&spec, Streams::new(Feed::of("rows", Cow::Borrowed(&all))), 2, u64::MAX);
    let val = trained.part("val").unwrap();
    assert_eq!((val.rows % 4, val.units), (0, Some(val.rows as u64 / 4)));
}

/// A file that changes between the passes, and one that cannot be read to its end.
#[test]
fn files_that_change() {
    struct Meddle(PathBuf);
    impl Watch for Meddle {
        fn pass(&mut self, pass: &Pass) -> ControlFlow<()> {
            if pass.name == "storing" && pass.rows < 200_000 {
                let file = std::fs::OpenOptions::new().append(true).open(&self.0);
                file.unwrap().write_all(b"0.1,0.2,few,true\n").unwrap();
            }
            ControlFlow::Continue(())
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.csv");
    write(&table(PLENTY, 7), &path, Format::Csv).unwrap();
    let plan = spec("linear").plan(&Default::default()).unwrap();
    let streams = files(std::slice::from_ref(&path));
    let error = plan.run_streams(streams, &mut Meddle(path.clone())).unwrap_err().to_string();
    assert!(error.contains("changed"), "{error}");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend(b"no,number,few,true\n");
    std::fs::write(&path, bytes).unwrap();
    let error = plan.run_streams(files(&[path]), &mut ()).unwrap_err().to_string();
    assert!(error.contains("not the finite number") && error.contains("line"), "{error}");
}

/// A stream can be read once, so it is copied.
#[test]
fn streams_are_copied() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.parquet");
    write(&table(PLENTY, 8), &path, Format::Parquet).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let length = bytes.len() as u64;
    let stream = Source::stream("a pipe", std::io::Cursor::new(bytes));
    let feed = Feed::open("rows", [stream], ReadOptions::default()).unwrap();
    assert_eq!(feed.copied(), length);
    let (piped, read) = (
        run(&spec("linear"), Streams::new(feed), 2, u64::MAX),
        run(&spec("linear"), files(&[path]), 2, u64::MAX),
    );
    let model = |one: &Trained| bytes_of(folder.path(), one);
    assert!(model(&piped) == model(&read));
}

fn bytes_of(folder: &Path, trained: &Trained) -> Vec<u8> {
    bytes(folder, &trained.classifier)
}
