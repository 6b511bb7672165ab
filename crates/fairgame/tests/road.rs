//! The road from rows to a classifier: which rows are whose, and who watches the games.

use std::ops::ControlFlow;

use fairgame::Threads;
use fairgame::algorithm::{Algorithm, Practical};
use fairgame::game::Keep;
use fairgame::random::Stream;
use fairgame::table::{Column, Table, Values, split};
use fairgame::train::{
    Data, Datasets, Every, Notice, Outcome, Plan, Shape, Spec, Trained, Turn, Warning,
};

/// People, some of whom are hired.
fn people(rows: usize, seed: u64) -> Table {
    let mut stream = Stream::new(seed, "people");
    let skill: Vec<f64> = (0..rows).map(|_| stream.unit()).collect();
    let hired = skill.iter().map(|skill| Some(skill + 0.4 * (stream.unit() - 0.5) > 0.5)).collect();
    Table::new(vec![
        Column::new("skill", Values::Number(skill)),
        Column::new("hired", Values::Boolean(hired)),
    ])
    .unwrap()
}

fn practical(turns: u64) -> Algorithm {
    Algorithm::Practical(Practical { turns, ..Practical::default() })
}

/// The parts that were judged, and how many rows each has.
fn parts(trained: &Trained) -> Vec<(&str, usize)> {
    trained.parts.iter().map(|one| (one.part.as_str(), one.evaluation.rows)).collect()
}

/// The paper's recipe plays on two datasets, and rows to test on are set aside, also of a single table.
#[test]
fn one_table_is_divided() {
    let table = people(400, 1);
    let mut spec = Spec::paper("hired", &["recall() >= 0.9"]);
    (spec.algorithm, spec.seed) = (practical(500), 7);
    let trained = spec.train(&table).unwrap();
    let found = trained.classifier.provenance();
    assert_eq!((found.train.rows, found.val.as_ref().unwrap().rows), (200, 200));
    assert_eq!(parts(&trained), [("train", 200), ("val", 200)]);
    // They are the two halves of the table, and the same as if they were given as such.
    let halves = split::by_fraction(400, &[0.5, 0.5], 7, None).unwrap();
    let [train, val] = [0, 1].map(|half| table.take(&halves[half]));
    let given = spec.train(Data::from(&train).with_val(Some(&val))).unwrap();
    let own = given.classifier.provenance();
    assert_eq!((&own.train, &own.val), (&found.train, &found.val));
    assert_ne!(found.train.sha256, found.val.as_ref().unwrap().sha256);
    assert_eq!(given.classifier.members(), trained.classifier.members());

    spec.test_fraction = 0.25;
    let trained = spec.train(&table).unwrap();
    assert_eq!(parts(&trained), [("train", 150), ("val", 150), ("test", 100)]);
    assert!(trained.parts.iter().all(|one| one.source == "a part of the rows given"));
    let found = trained.classifier.provenance();
    assert_eq!((found.train.rows, found.val.as_ref().unwrap().rows), (150, 150));
    // Rows to test on that are given are those, and none are set aside.
    let test = people(60, 2);
    let trained = spec.train(Data::from(&table).with_test(Some(&test))).unwrap();
    assert_eq!(parts(&trained), [("train", 200), ("val", 200), ("test", 60)]);

    (spec.test_fraction, spec.datasets) = (0.0, Datasets::One);
    let trained = spec.train(&table).unwrap();
    let found = trained.classifier.provenance();
    assert!(found.train.rows == 400 && found.val.is_none() && trained.part("val").is_none());
    assert_eq!(parts(&trained), [("train", 400)]);
    assert_eq!(trained.enforced(), trained.part("train"));
}

/// Five folds, which games are played for.
fn crossed<'a>(table: &'a Table, turns: u64, keep: Keep, threads: usize) -> (Plan, Data<'a>) {
    let mut spec = Spec::new("hired", &["recall() >= 0.9"]);
    (spec.algorithm, spec.keep, spec.early_stop) = (practical(turns), keep, None);
    spec.plain = false;
    let data = Data::from(table);
    let plan = spec.plan(&data.shape()).unwrap().with_threads(Threads::new(threads));
    (plan, data)
}

/// Whoever watches sees every turn of every fold's game once, and in order.
#[test]
fn every_turn_of_every_fold_is_seen() {
    let (table, turns) = (people(200, 3), 300_u64);
    for threads in [1, 3] {
        let (plan, data) = crossed(&table, turns, Keep::Every, threads);
        let (mut seen, mut done) = (vec![Vec::new(); 5], 0);
        let caller = std::thread::current().id();
        let mut watch = Every::new(1, |turn: &Turn| {
            assert_eq!(std::thread::current().id(), caller);
            done += 1;
            assert_eq!((turn.turns, turn.done, turn.total), (turns, done, 5 * turns));
            assert_eq!((turn.losses.constraints.len(), turn.mean_lambda.constraints.len()), (1, 1));
            seen[turn.game].push(turn.turn);
            ControlFlow::Continue(())
        });
        let trained = plan.run(data, &mut watch).unwrap().trained().unwrap();
        let all: Vec<u64> = (1..=turns).collect();
        assert!(seen.iter().all(|seen| *seen == all), "{threads} threads");
        assert!(!trained.was_stopped() && trained.turns == 5 * turns);
    }
}

/// One word of the watcher stops all games, and the result says so.
#[test]
fn a_watcher_stops_all_games() {
    let table = people(200, 3);
    // As many threads as games: all have begun, and none is near its end.
    let turns = 1_000_000;
    let (plan, data) = crossed(&table, turns, Keep::Spaced(10_000), 5);
    let mut at = [0; 5];
    let mut watch = Every::new(100, |turn: &Turn| {
        at[turn.game] = turn.turn;
        match at.iter().all(|&turn| turn >= 100) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    let trained = plan.run(data, &mut watch).unwrap().trained().unwrap();
    let short = |turn: u64| (100..turns).contains(&turn);
    assert!(trained.games.iter().all(|game| game.stopped_early && short(game.turns)));
    let stopped = trained.warnings.iter().find_map(|warning| match warning {
        Warning::Stopped { turn, turns } => Some((*turn, *turns)),
        _ => None,
    });
    assert_eq!(stopped, Some((trained.turns, 5 * turns)));
    let record = trained.classifier.record().unwrap().unwrap();
    assert!(record.warnings.iter().any(|warning| warning.contains("stopped at turn")));

    // One thread plays one game after the other: stopped in the first, the others are not begun.
    let (plan, data) = crossed(&table, 300, Keep::Every, 1);
    let mut heard = Vec::new();
    let outcome = plan.run(
        data.clone(),
        &mut Every::new(1, |turn: &Turn| {
            heard.push((turn.game, turn.turn));
            if turn.turn < 20 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        }),
    );
    assert_eq!(heard.last(), Some(&(0, 20)));
    let outcome = outcome.unwrap();
    assert!(matches!(outcome, Outcome::Stopped { games: 5 }));
    assert!(outcome.trained().unwrap_err().to_string().contains("was stopped"));
    // And stopped in the last: that one is short, and there is a classifier.
    let mut watch = Every::new(1, |turn: &Turn| match (turn.game, turn.turn) {
        (4, 20) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    let trained = plan.run(data, &mut watch).unwrap().trained().unwrap();
    let played: Vec<u64> = trained.games.iter().map(|game| game.turns).collect();
    assert_eq!(played, [300, 300, 300, 300, 20]);
    assert!(trained.warnings.contains(&Warning::Stopped { turn: 1220, turns: 1500 }));
}

/// A plan that was made for data of another shape is made anew for those that it runs on; what is asked for and not
/// used is told.
#[test]
fn a_plan_fits_the_data_it_runs_on() {
    let (table, val) = (people(400, 1), people(300, 2));
    let mut spec = Spec::new("hired", &["recall() >= 0.8"]);
    (spec.algorithm, spec.test_fraction) = (practical(300), 0.5);
    let plan = spec.plan(&Shape::default()).unwrap();
    assert!(matches!(plan.spec().datasets, Datasets::Cross { .. }));
    let data = Data::from(&table).with_val(Some(&val)).with_test(Some(&val));
    let trained = plan.run(data, &mut ()).unwrap().trained().unwrap();
    let found = trained.classifier.provenance();
    assert_eq!((found.train.rows, found.val.as_ref().unwrap().rows), (400, 300));
    assert_eq!(found.settings["datasets"], "given");
    assert_eq!(found.settings["test_fraction"], 0.0);
    let unused = |notice: &Notice| matches!(notice, Notice::Unused { setting, .. } if setting == "test_fraction");
    assert!(trained.notices.iter().any(unused), "{:?}", trained.notices);

    spec.datasets = Datasets::Given;
    let plan = spec.plan(&Shape::default()).unwrap();
    let error = plan.run(Data::from(&table), &mut ()).unwrap_err().to_string();
    assert!(error.contains("validation rows") && error.contains("none are given"), "{error}");
}
