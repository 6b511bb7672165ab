//! The same bits: by any number of threads, and after any number of kills.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use fairgame::Threads;
use fairgame::algorithm::{
    Algorithm, Answer, Baseline, Continuous, Discrete, Lagrangian, Practical, Unconstrained,
};
use fairgame::model::{ModelSpec, Region};
use fairgame::observe::{Checkpoint, Patience};
use fairgame::player::OracleSpec;
use fairgame::preset::Preset;
use fairgame::random::Stream;
use fairgame::table::{ReadOptions, Shipped, Source, Table, read, split};
use fairgame::train::{Checkpoints, Data, Datasets, Spec};

/// Adult's rows in two parts, the first more than one chunk of rows, and its four constraints.
fn adult() -> (Spec, Table, Table) {
    let shipped = Source::Shipped(Shipped::find("adult").unwrap());
    let table = read([shipped], &ReadOptions::default()).unwrap();
    let halves = split::by_fraction(table.rows(), &[0.7, 0.3], 1, None).unwrap();
    let groups = ["race == \"White\"", "race == \"Black\"", "sex == \"Male\"", "sex == \"Female\""];
    let constraints =
        groups.map(|group| format!("positive_rate({group}) >= 0.8 * positive_rate()"));
    let mut spec = Spec::paper("income == \">50K\"", &constraints);
    spec.datasets = Datasets::One;
    (spec, table.take(&halves[0]), table.take(&halves[1]))
}

fn bytes(spec: &Spec, train: &Table, val: Option<&Table>, threads: usize) -> Vec<u8> {
    let data = Data::from(train).with_val(val);
    let plan = spec.plan(&data.shape()).unwrap().with_threads(Threads::new(threads));
    let trained = plan.run(data, &mut ()).unwrap().trained().unwrap();
    trained.classifier.to_archive().unwrap().to_bytes().unwrap()
}

/// Every algorithm and model, with one dataset and with two: 1, 2 and 8 threads write the same file.
#[test]
fn threads_change_no_bit() {
    let (spec, train, val) = adult();
    // The oracle and inner descent sum over all rows: more than one chunk of them, and few turns.
    let oracle = OracleSpec { steps: 20, ..OracleSpec::default() };
    let held = Region { radius: Some(5.0), convexity: 0.1 };
    let descent = Answer::Descent { optimizer: Default::default(), batch: 50 };
    let mlp = ModelSpec::Mlp { units: 9 };
    let cases = [
        (
            Algorithm::Discrete(Discrete {
                turns: Some(5),
                radius: Some(0.2),
                oracle,
                ..Discrete::default()
            }),
            ModelSpec::Linear,
        ),
        (
            Algorithm::Continuous(Continuous {
                turns: Some(3),
                inner_turns: Some(10),
                ..Continuous::default()
            }),
            ModelSpec::Linear,
        ),
        (Algorithm::Practical(Practical { turns: 400, ..Practical::default() }), mlp.clone()),
        (
            Algorithm::Practical(Practical { turns: 100, ..Practical::default() }),
            ModelSpec::Lattice(Default::default()),
        ),
        (Algorithm::Lagrangian(Lagrangian { turns: 400, ..Lagrangian::default() }), mlp.clone()),
        (
            Algorithm::Baseline(Baseline { turns: 300, model: descent, ..Baseline::default() }),
            ModelSpec::Linear,
        ),
        (
            Algorithm::Baseline(Baseline {
                turns: 3,
                model: Answer::Oracle(oracle),
                ..Baseline::default()
            }),
            mlp.clone(),
        ),
        (Algorithm::Unconstrained(Unconstrained { turns: 300, ..Unconstrained::default() }), mlp),
    ];
    for (algorithm, model) in cases {
        for val in [None, Some(&val)] {
            let mut spec = spec.clone();
            (spec.algorithm, spec.model, spec.region) = (algorithm, model.clone(), held);
            let one = bytes(&spec, &train, val, 1);
            for threads in [2, 8] {
                let name = algorithm.name();
                assert!(bytes(&spec, &train, val, threads) == one, "{name}, {threads} threads");
            }
            spec.seed = 1;
            let random = !matches!(algorithm, Algorithm::Discrete(_) | Algorithm::Continuous(_));
            assert!(!random || bytes(&spec, &train, val, 1) != one, "the seed is read");
        }
    }
}

/// What the killed process trains: Algorithm 3 on Adult, saved often, stopped early or not.
fn killed_spec(stop: bool) -> Spec {
    let mut spec = adult().0;
    spec.model = ModelSpec::Mlp { units: 10 };
    spec.algorithm = Algorithm::Practical(Practical { turns: 12_000, ..Practical::default() });
    spec.early_stop = stop.then_some(Patience { kept: 15, least: 1e-3, after: 0 });
    spec.seed = 3;
    spec
}

fn train_with_checkpoints(folder: &Path, stop: bool) {
    let (_, train, val) = adult();
    let data = Data::from(&train).with_val(Some(&val));
    let checkpoints = Checkpoints { folder: folder.to_owned(), every: Some(100), resume: true };
    let plan = killed_spec(stop).plan(&data.shape()).unwrap().with_checkpoints(Some(checkpoints));
    let trained = plan.run(data, &mut ()).unwrap().trained().unwrap();
    trained.classifier.save(&folder.join("model")).unwrap();
}

/// Not a test of its own: what the process of the next one does.
#[test]
#[ignore = "run by killed_twenty_times_and_resumed"]
fn child() {
    let folder = std::env::var("FAIRGAME_TEST_FOLDER").expect("set by the parent");
    train_with_checkpoints(Path::new(&folder), std::env::var("FAIRGAME_TEST_STOP").is_ok());
}

/// Killed (not asked to stop) at twenty random moments and resumed each time: the same bits as one run
/// that never was.
#[test]
fn killed_twenty_times_and_resumed() {
    for stop in [false, true] {
        let (whole, broken) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        train_with_checkpoints(whole.path(), stop);
        let child = || {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["--exact", "child", "--ignored"]);
            command.env("FAIRGAME_TEST_FOLDER", broken.path());
            if stop {
                command.env("FAIRGAME_TEST_STOP", "1");
            }
            command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        };
        let mut stream = Stream::new(u64::from(stop), "kills");
        let saved = || std::fs::read(broken.path().join("checkpoint.safetensors")).ok();
        let (mut moved, mut last) = (0, None);
        for kill in 0..20 {
            let mut process = child();
            // Every other time as soon as the game was saved anew, however slow the machine is, and
            // then at a random moment soon after; else at once, while it still reads or resumes.
            if kill % 2 == 0 {
                while saved() == last && process.try_wait().unwrap().is_none() {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            std::thread::sleep(Duration::from_millis(stream.below(60)));
            process.kill().unwrap();
            process.wait().unwrap();
            moved += usize::from(saved() != last);
            last = saved();
        }
        assert!(moved > 0, "no kill came after a checkpoint");
        assert!(child().wait().unwrap().success());
        let read = |folder: &Path| std::fs::read(folder.join("model")).unwrap();
        assert!(read(whole.path()) == read(broken.path()), "20 kills, {moved} after a checkpoint");
        // Nothing half-written is left behind under the names of the files themselves.
        assert!(fairgame::classifier::Classifier::load(&broken.path().join("model")).is_ok());
    }
}

/// Every algorithm, saved and taken up by another game after each turn: the same bits.
#[test]
fn every_algorithm_can_be_left_after_any_turn() {
    let (spec, train, val) = adult();
    let rows: Vec<usize> = (0..2000).collect();
    let (train, val) = (train.take(&rows), val.take(&rows));
    let data = Data::from(&train).with_val(Some(&val));
    let oracle = OracleSpec { steps: 10, ..OracleSpec::default() };
    let (turns, inner_turns) = (Some(12), Some(5));
    let continuous = Continuous { turns, inner_turns, ..Continuous::default() };
    for algorithm in [
        Algorithm::Discrete(Discrete { turns, radius: Some(0.2), oracle, ..Discrete::default() }),
        Algorithm::Continuous(continuous),
        Algorithm::Continuous(Continuous { batch: Some(10), ..continuous }),
        Algorithm::Practical(Practical { turns: 12, ..Practical::default() }),
        Algorithm::Lagrangian(Lagrangian { turns: 12, ..Lagrangian::default() }),
        Algorithm::Baseline(Baseline { turns: 12, ..Baseline::default() }),
        Algorithm::Baseline(Baseline {
            turns: 12,
            model: Answer::Oracle(oracle),
            ..Baseline::default()
        }),
        Algorithm::Unconstrained(Unconstrained { turns: 12, ..Unconstrained::default() }),
    ] {
        let mut spec = spec.clone();
        spec.algorithm = algorithm;
        spec.region = Region { radius: Some(5.0), convexity: 0.1 };
        let plan = spec.plan(&data.shape()).unwrap();
        let training = plan.prepare(data.clone()).unwrap();
        let by_two = plan.with_threads(Threads::new(2)).prepare(data.clone()).unwrap();
        let mut whole = training.game(0).unwrap();
        whole.run(&mut []).unwrap();
        let mut game = by_two.game(0).unwrap();
        for _ in 0..12 {
            let mut next = training.game(0).unwrap();
            next.resume(game.save("it").unwrap(), "it").unwrap();
            assert_eq!(next.losses(), game.losses());
            game = next;
            game.play_turn().unwrap();
        }
        let bytes = |game: &fairgame::game::Game<'_>| game.save("it").unwrap().to_bytes().unwrap();
        assert!(bytes(&whole) == bytes(&game), "{}", algorithm.name());
        assert_eq!(whole.suboptimality(), game.suboptimality(), "{}", algorithm.name());
    }
}

/// A checkpoint of other settings or data, or a damaged one, is refused.
#[test]
fn other_games_are_not_resumed() {
    let (_, train, val) = adult();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    let data = Data::from(&train).with_val(Some(&val));
    let mut spec = killed_spec(false);
    spec.algorithm = Algorithm::Practical(Practical { turns: 200, ..Practical::default() });
    let resume = |spec: &Spec, data: &Data<'_>| {
        let training = spec.plan(&data.shape()).unwrap().prepare(data.clone()).unwrap();
        let checkpoint = Checkpoint::new(&path, 100, training.identity());
        let mut game = training.game(0).unwrap();
        let resumed = checkpoint.resume(&mut game);
        resumed.and_then(|found| game.run(&mut [&mut { checkpoint }]).map(|_| found))
    };
    assert!(!resume(&spec, &data).unwrap(), "there was nothing to resume");
    assert!(resume(&spec, &data).unwrap(), "it is its own");
    let one = Data { val: None, ..data.clone() };
    let error = resume(&spec, &one).unwrap_err().to_string();
    assert!(error.contains("other settings or other data"), "{error}");
    spec.seed += 1;
    assert!(resume(&spec, &data).is_err());
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    spec.seed -= 1;
    let error = resume(&spec, &data).unwrap_err().to_string();
    assert!(error.contains("damaged") || error.contains("not a checkpoint"), "{error}");
}

/// The paper's preparation of Adult has the same identity each time.
#[test]
fn preparation_is_a_function() {
    let prepared = |seed| Preset::find("adult").unwrap().prepare(seed).unwrap().train.features;
    assert_eq!(prepared(1), prepared(1));
}
