//! Trainings whose rows are with shards: the same to the bit as in one place, however rows are cut, and whoever is lost.

use std::borrow::Cow;

use fairgame::model::ModelSpec;
use fairgame::random::Stream as Draws;
use fairgame::table::{Category, Column, Feed, Table, Values};
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
