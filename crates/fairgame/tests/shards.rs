//! Trainings whose rows are with shards: the same to the bit as in one place, however rows are cut, and whoever is lost.

use std::borrow::Cow;

use fairgame::model::ModelSpec;
use fairgame::random::Stream as Draws;
use fairgame::table::{Category, Column, Feed, Missing, ReadOptions, Source, Table, Values};
use fairgame::train::{Driver, Engine, Shard, Spec, Streams};
use fairgame::{Result, Threads};

/// From so many rows on, there are no tables.
const PLENTY: usize = 1_000_000;

const RULE: &str = "positive_rate(each group) >= 0.8 * positive_rate()";

/// Rows whose label depends on two numbers; one group in four scores lower.
fn table(rows: usize, seed: u64) -> Table {
    let mut draws = Draws::new(seed, "rows");
    let (mut x, mut z, mut group, mut label) = (vec![], vec![], vec![], vec![]);
    let (mut weight, mut person) = (vec![], vec![]);
    for row in 0..rows {
        let of_group = draws.below(4) == 0;
        let (a, b) = (draws.unit() - if of_group { 0.2 } else { 0.0 }, draws.unit());
        x.push(a);
        z.push(if draws.below(50) == 0 { f64::NAN } else { b });
        // One row of a third group, late, which few shards have.
        group.push(match row {
            700_001 => None,
            _ => Some(if of_group { "few" } else { "many" }),
        });
        label.push(Some(a + 0.5 * b + 0.3 * draws.unit() > 1.0));
        weight.push(if row % 7 == 0 { 0.0 } else { 0.3 + (row % 5) as f64 });
        person.push((row / 3) as f64);
    }
    Table::new(vec![
        Column::new("x", Values::Number(x)),
        Column::new("z", Values::Number(z)),
        Column::new("group", Values::Category(Category::from_texts(group))),
        Column::new("y", Values::Boolean(label)),
        Column::new("w", Values::Number(weight)),
        Column::new("person", Values::Number(person)),
    ])
    .unwrap()
}

/// Shards in this process. One is lost at some of the questions.
struct Here {
    all: Vec<Table>,
    owners: Vec<Vec<u32>>,
    shards: Vec<Shard>,
    history: Vec<Vec<u8>>,
    asked: usize,
    lose_every: usize,
    /// At this question the first shard is lost, and its first run has other rows when it is built again.
    change_at: Option<(usize, Table)>,
}

impl Here {
    /// Rows that are cut at these places, and whose parts are dealt out to so many shards.
    fn new(table: &Table, cuts: &[usize], shards: usize, lose_every: usize) -> Self {
        let ends = cuts.iter().copied().chain([table.rows()]);
        let mut start = 0;
        let all: Vec<Table> = ends
            .map(|end| {
                let rows: Vec<usize> = (start..end).collect();
                start = end;
                table.take(&rows)
            })
            .collect();
        let owners: Vec<Vec<u32>> = (0..shards)
            .map(|shard| {
                (0..all.len() as u32).filter(|run| *run as usize % shards == shard).collect()
            })
            .collect();
        let mut here = Here {
            all,
            owners,
            shards: Vec::new(),
            history: Vec::new(),
            asked: 0,
            lose_every,
            change_at: None,
        };
        here.shards = (0..shards).map(|shard| here.shard(shard)).collect();
        here
    }

    fn shard(&self, at: usize) -> Shard {
        let runs = self.owners[at].iter().map(|&run| {
            let table = self.all[run as usize].clone();
            (run, Feed::of(format!("part {run}"), Cow::Owned(table)))
        });
        Shard::new(runs.collect(), Threads::new(1))
    }
}

impl Engine for Here {
    fn ask(&mut self, question: &[u8], keep: Option<usize>) -> Result<Vec<Vec<u8>>> {
        self.asked += 1;
        let change = self.change_at.take_if(|(at, _)| *at == self.asked);
        let changes = change.is_some();
        if let Some((_, other)) = change {
            self.all[0] = other;
        }
        let loses = self.lose_every > 0 && self.asked.is_multiple_of(self.lose_every);
        if changes || loses {
            let lost = if changes { 0 } else { self.asked / self.lose_every % self.shards.len() };
            self.shards[lost] = self.shard(lost);
            for question in &self.history {
                self.shards[lost].answer(question);
            }
        }
        if let Some(keep) = keep {
            self.history.truncate(keep);
            self.history.push(question.to_vec());
        }
        // In an order of their own.
        let mut answers: Vec<Vec<u8>> =
            self.shards.iter_mut().map(|shard| shard.answer(question)).collect();
        answers.rotate_left(self.asked % self.shards.len());
        Ok(answers)
    }
}

fn spec(model: &str) -> Spec {
    let mut spec = Spec::new("y", &[RULE]);
    spec.model = match model {
        "trees" => serde_json::from_str(r#"{"trees": {"trees": 6, "leaves": 7}}"#).unwrap(),
        _ => ModelSpec::Linear,
    };
    spec.encoder.ignore = vec!["w".to_owned(), "person".to_owned()];
    spec
}

/// The model files of a training in one place, and with shards.
fn both(spec: &Spec, table: &Table, here: Here) -> [Vec<u8>; 2] {
    let plan = spec.plan(&Default::default()).unwrap().with_threads(Threads::new(2));
    let streams = Streams::new(Feed::of("rows", Cow::Borrowed(table)));
    let one = plan.run_streams(streams, &mut ()).unwrap().trained().unwrap();
    let all = plan.run_shards(Driver::new(here, "rows"), &mut ()).unwrap().trained().unwrap();
    let texts = |notices: &[fairgame::train::Notice]| -> Vec<String> {
        notices.iter().map(ToString::to_string).collect()
    };
    assert_eq!(texts(&one.notices), texts(&all.notices));
    let (one_test, all_test) = (one.part("test"), all.part("test"));
    assert_eq!(one_test, all_test);
    [one.classifier.to_bytes().unwrap(), all.classifier.to_bytes().unwrap()]
}

#[test]
fn the_same_bits_as_in_one_place() {
    let all = table(PLENTY + 1234, 1);
    for model in ["trees", "linear"] {
        let cuts: [(&[usize], usize, usize); 3] = [
            (&[], 1, 0),
            (&[400_000, 400_000, 1_001_000], 2, 7),
            (&[3, 70_000, 500_000, 800_000], 3, 0),
        ];
        for (cuts, shards, lose_every) in cuts {
            let [one, found] = both(&spec(model), &all, Here::new(&all, cuts, shards, lose_every));
            assert!(one == found, "{model}: {cuts:?}, {shards} shards");
        }
    }
}

/// Weights, units, rows to test on, and quantiles.
#[test]
fn weights_units_and_test_rows() {
    let all = table(PLENTY, 2);
    for model in ["trees", "linear"] {
        let mut spec = spec(model);
        spec.test_fraction = 0.1;
        spec.constraints.push("tpr(x >= quantile(x, 0.4)) >= 0.5".to_owned());
        spec.weight = Some("w".to_owned());
        spec.unit = (model == "linear").then(|| "person".to_owned());
        let [one, found] = both(&spec, &all, Here::new(&all, &[123_456, 654_321], 2, 11));
        assert!(one == found, "{model}");
    }
}

/// A gradient game and a network, which need the rows of minibatches.
#[test]
fn games_of_steps() {
    let all = table(PLENTY, 3);
    for algorithm in [
        r#"{"algorithm": {"practical": {"turns": 600}}, "model": "linear"}"#,
        r#"{"algorithm": {"lagrangian": {"turns": 300, "batch": 5000}}, "model": {"mlp": {"units": 3}}}"#,
    ] {
        let mut spec = spec("linear").over(&serde_json::from_str(algorithm).unwrap()).unwrap();
        spec.keep = fairgame::game::Keep::Spaced(10);
        let [one, found] = both(&spec, &all, Here::new(&all, &[500_001], 2, 5));
        assert!(one == found, "{algorithm}");
    }
}

/// Few rows are trained on as a table; copies are kept together.
#[test]
fn few_rows_and_copies() {
    let few = table(3000, 4);
    let [one, found] = both(&spec("trees"), &few, Here::new(&few, &[1000, 1500], 2, 0));
    assert!(one == found);
    let once = table(PLENTY / 2, 5);
    let twice: Vec<usize> = (0..PLENTY).map(|row| row / 2).collect();
    let all = once.take(&twice);
    let [one, found] = both(&spec("trees"), &all, Here::new(&all, &[300_001], 2, 0));
    assert!(one == found);
}

/// Parts that do not have the same columns, and no rows at all.
#[test]
fn parts_that_do_not_fit() {
    let refused = |parts: Vec<Table>| {
        let mut here = Here::new(&parts[0], &[], 1, 0);
        here.owners = vec![(0..parts.len() as u32).collect()];
        here.all = parts;
        here.shards = vec![here.shard(0)];
        let plan = spec("trees").plan(&Default::default()).unwrap();
        let Err(error) = plan.run_shards(Driver::new(here, "rows"), &mut ()) else {
            panic!("refused")
        };
        error.to_string()
    };
    let good = table(100, 6);
    let without = Table::new(good.columns()[1..].to_vec()).unwrap();
    let error = refused(vec![good.clone(), without.clone()]);
    assert!(error.contains("part 1: there is no column `x`, and part 0 has one"), "{error}");
    let error = refused(vec![without, good.clone()]);
    assert!(error.contains("part 1: there is a column `x`, and part 0 has none"), "{error}");
    let mut columns = good.columns().to_vec();
    columns[0].values = Values::Boolean(vec![Some(true); 100]);
    let error = refused(vec![good.clone(), Table::new(columns).unwrap()]);
    assert!(error.contains("part 1: column `x` is a boolean, and in part 0 a number"), "{error}");
    // Also where the first values are missing.
    let mut columns = good.columns().to_vec();
    let Values::Number(z) = &mut columns[1].values else { panic!("a column of numbers") };
    z[..5].fill(f64::NAN);
    let late = Table::new(columns.clone()).unwrap();
    columns[1].values = Values::Boolean(vec![Some(true); 100]);
    let error = refused(vec![late, Table::new(columns).unwrap()]);
    assert!(error.contains("part 1: column `z` is a boolean, and in part 0 a number"), "{error}");
    let error = refused(vec![good.take(&[])]);
    assert!(error.contains("there is no row of data"), "{error}");
}

/// Parts whose columns come in another order, are all missing, or that have no rows at all.
#[test]
fn parts_that_are_put_right() {
    let all = table(PLENTY, 7);
    let mut columns = all.columns().to_vec();
    // Of the first part, the column `z` is missing everywhere.
    let Values::Number(z) = &mut columns[1].values else { panic!("a column of numbers") };
    z[..200_000].fill(f64::NAN);
    let all = Table::new(columns).unwrap();
    let cuts = [200_000, 500_000, 500_000];
    let mut here = Here::new(&all, &cuts, 2, 9);
    let mut first = here.all[0].columns().to_vec();
    first[1].values = Values::Category(Category::from_texts((0..200_000).map(|_| None)));
    here.all[0] = Table::new(first).unwrap();
    let reversed: Vec<Column> = here.all[1].columns().iter().rev().cloned().collect();
    here.all[1] = Table::new(reversed).unwrap();
    here.shards = (0..2).map(|shard| here.shard(shard)).collect();
    let [one, found] = both(&spec("trees"), &all, here);
    assert!(one == found);
}

/// A shard is lost, and the rows that it is built from are others by then.
#[test]
fn rows_that_change_between_questions() {
    // The first questions are for the number of rows, which is the same, and how to read them.
    for lose_at in [4, 5, 6, 7, 12] {
        let all = table(PLENTY, 8);
        let mut here = Here::new(&all, &[400_000], 2, 0);
        here.change_at = Some((lose_at, table(PLENTY, 9).take(&(0..400_000).collect::<Vec<_>>())));
        let plan = spec("trees").plan(&Default::default()).unwrap();
        let Err(error) = plan.run_shards(Driver::new(here, "rows"), &mut ()) else {
            panic!("other rows were trained on, question {lose_at}")
        };
        assert!(error.to_string().contains("changed"), "question {lose_at}: {error}");
    }
}

/// One shard for each file, in this process.
struct OfFiles(Vec<Shard>);

impl Engine for OfFiles {
    fn ask(&mut self, question: &[u8], _: Option<usize>) -> Result<Vec<Vec<u8>>> {
        Ok(self.0.iter_mut().map(|shard| shard.answer(question)).collect())
    }
}

/// The settings for rows of CSV, which have other columns.
fn spec_of_csv() -> Spec {
    let mut spec = spec("trees");
    spec.encoder.ignore = Vec::new();
    spec
}

/// The model files of a training on files of CSV, in one place and with a shard for each.
fn both_of_files(spec: &Spec, texts: &[String]) -> [Vec<u8>; 2] {
    let folder = tempfile::tempdir().unwrap();
    let open = |at: usize| Source::Path(folder.path().join(format!("{at}.csv")));
    for (at, text) in texts.iter().enumerate() {
        std::fs::write(folder.path().join(format!("{at}.csv")), text).unwrap();
    }
    let plan = spec.plan(&Default::default()).unwrap();
    let options = ReadOptions { missing: spec.missing.clone(), ..ReadOptions::default() };
    let all = Feed::open("rows", (0..texts.len()).map(open), options).unwrap();
    let one = plan.run_streams(Streams::new(all), &mut ()).unwrap().trained().unwrap();
    let shard = |at| {
        let feed = Feed::open(format!("{at}.csv"), [open(at)], ReadOptions::default()).unwrap();
        Shard::new(vec![(at as u32, feed)], Threads::new(1))
    };
    let shards = OfFiles((0..texts.len()).map(shard).collect());
    let all = plan.run_shards(Driver::new(shards, "rows"), &mut ()).unwrap().trained().unwrap();
    [one, all].map(|trained| trained.classifier.to_bytes().unwrap())
}

/// Rows of CSV, with a code and a number that are of the caller's choice.
fn csv(rows: usize, seed: u64, more: impl Fn(usize) -> (String, String)) -> String {
    let mut draws = Draws::new(seed, "csv");
    let mut text = "code,number,x,group,y\n".to_owned();
    for row in 0..rows {
        let (x, group) = (draws.unit(), if draws.below(3) == 0 { "few" } else { "many" });
        let (code, number) = more(row);
        text += &format!("{code},{number},{x:.3},{group},{}\n", x + draws.unit() > 1.0);
    }
    text
}

/// What a column of text is, the first file says, as in one place; what later files alone would look like does not matter.
#[test]
fn kinds_of_text_are_those_of_the_first_file() {
    let word = |row: usize| (format!("B{}", row % 7), format!("{}", row % 10));
    // Digits at first, and a text long after the rows that kinds are told by.
    let digits = |row: usize| match row {
        12_000 => ("A12".to_owned(), "3".to_owned()),
        _ => (format!("{}", row % 9), format!("{}", row % 11)),
    };
    let texts = [csv(3000, 1, word), csv(13_000, 2, digits)];
    let [one, all] = both_of_files(&spec_of_csv(), &texts);
    assert!(one == all);
    // The first value of a column comes late in the first file, or only in the next.
    let late = |row: usize| match row {
        12_500 => ("007".to_owned(), String::new()),
        _ => (String::new(), String::new()),
    };
    let texts =
        [csv(13_000, 3, late), csv(4000, 4, |row| (format!("{}", row % 5), format!("{row}")))];
    let [one, all] = both_of_files(&spec_of_csv(), &texts);
    assert!(one == all);
}

/// What stands for a missing value is known to shards before they read.
#[test]
fn missing_values_of_the_policy() {
    let more = |row: usize| {
        let number =
            if row.is_multiple_of(3) { "-999".to_owned() } else { format!("{}", row % 10) };
        (if row.is_multiple_of(4) { "unknown" } else { "B" }.to_owned(), number)
    };
    let texts = [csv(3000, 5, more), csv(2000, 6, more)];
    let mut marked = spec_of_csv();
    marked.missing = Missing::standard().and("-999").and("unknown");
    let [one, all] = both_of_files(&marked, &texts);
    assert!(one == all);
    // Also where all rows of the first file are missing.
    let texts = [csv(3000, 7, |_| ("unknown".to_owned(), "-999".to_owned())), csv(2000, 8, more)];
    let [one, all] = both_of_files(&marked, &texts);
    assert!(one == all);
}

/// Plenty of rows are not sent to one place because of a setting that needs a table.
#[test]
fn settings_that_need_a_table() {
    let all = table(PLENTY, 10);
    for (settings, setting, instead) in [
        (r#"{"datasets": "one"}"#, "datasets", "leave it out, or choose `two`"),
        (r#"{"datasets": {"cross": {"folds": 3}}}"#, "datasets", "leave it out"),
        (
            r#"{"algorithm": {"practical": {"turns": 100}}, "steps": [0.5, 1]}"#,
            "steps",
            "one learning rate",
        ),
        (r#"{"algorithm": {"unconstrained": {"turns": 100}}}"#, "algorithm", "`plug_in`"),
    ] {
        let spec = spec("linear").over(&serde_json::from_str(settings).unwrap()).unwrap();
        let plan = spec.plan(&Default::default()).unwrap();
        let driver = Driver::new(Here::new(&all, &[400_000], 2, 0), "rows");
        let Err(error) = plan.run_shards(driver, &mut ()) else { panic!("{settings}") };
        let error = format!("{error}; {}", error.advice().unwrap_or_default());
        assert!(error.contains("1000000 rows would be sent here"), "{settings}: {error}");
        assert!(error.contains(setting) && error.contains(instead), "{settings}: {error}");
    }
}
