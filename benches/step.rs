//! How long does a turn of the game take, and does it depend on the number of constraints?
//!
//! Adult as the paper prepares it, a network of 50 units, minibatches of 100 rows for each player, one
//! thread. The first table is of whole turns; the second of turns whose constraint player holds still, so
//! that what is left is the work on rows, which should be flat in the number of constraints, and the m losses
//! and m multipliers themselves, which are measured beside it as a turn on no rows; the third is of the
//! constraint player's matrix alone, which has (m+1)² entries.
//!
//! ```text
//! cargo bench --bench step
//! ```
#![allow(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::sync::Arc;
use std::time::Instant;

use fairgame::Threads;
use fairgame::algorithm::{Algorithm, Lagrangian, Practical, Setting, Unconstrained};
use fairgame::archive::Arrays;
use fairgame::game::{Game, Keep, Referee};
use fairgame::model::{ModelSpec, Region, Scorer};
use fairgame::optimize::Optimizer;
use fairgame::player::{ConstraintPlayer, Descent, Learner, SwapRegret, SwapRegretSpec};
use fairgame::preset::Preset;
use fairgame::rate::{Bound, LossValues, Multipliers, Problem, Side, Surrogate};
use fairgame::sample::{Batch, Hypothesis, MemorySample, Sample, Work};
use fairgame::table::{Table, split};

const RUNS: usize = 7;
const TURNS: u64 = 5_000;

/// A constraint player that always plays the same, and is shown the losses all the same.
struct Still(Multipliers);

impl ConstraintPlayer for Still {
    fn play(&self) -> &Multipliers {
        &self.0
    }

    fn learn(&mut self, losses: &[f64]) {
        assert_eq!(losses.len(), self.0.constraints.len());
    }

    fn save(&self) -> Arrays {
        Arrays::default()
    }

    fn load(&mut self, _arrays: Arrays) -> fairgame::Result<()> {
        Ok(())
    }
}

/// Overlapping groups of Adult: the paper's four, and more, spread over combinations of these columns.
fn bind(train: &Table, val: &Table, constraints: usize) -> Bound {
    let columns =
        ["education", "occupation", "marital_status", "relationship", "workclass", "race"];
    let label = "income == \">50K\"";
    let mut all = Vec::new();
    for (at, first) in columns.iter().enumerate() {
        for second in &columns[at + 1..] {
            for third in ["sex", "race"] {
                if *second != third {
                    let each = format!("each [`{first}`, `{second}`, `{third}`]");
                    all.push(format!("positive_rate({each}) >= 0.8 * positive_rate()"));
                }
            }
        }
    }
    let problem = Problem::parse(label, "error()", &all).expect("it parses").skip_empty_groups();
    let (bound, _) = problem.bind(train, &[val.into()]).expect("it binds");
    let names: Vec<&str> = bound.constraints().iter().map(|one| one.name()).collect();
    assert!(names.len() >= constraints, "{} groups", names.len());
    // The paper's four, whose groups have every row, and others beside them.
    let own = ["race == \"White\"", "race == \"Black\"", "sex == \"Female\"", "sex == \"Male\""];
    let mut chosen =
        own.map(|group| format!("positive_rate({group}) >= 0.8 * positive_rate()")).to_vec();
    let more = constraints - chosen.len();
    chosen.extend((0..more).map(|index| names[index * names.len() / more].to_owned()));
    let problem = Problem::parse(label, "error()", &chosen).expect("it parses");
    problem.bind(train, &[val.into()]).expect("it binds").0
}

/// The time of a turn of each game in microseconds, least and median over several runs, which take turns:
/// a machine that is busy for a while is busy for all of them.
fn time(games: &[&dyn Fn() -> Game<'static>]) -> Vec<(f64, f64)> {
    let mut runs = vec![Vec::new(); games.len()];
    for _ in 0..RUNS {
        for (game, runs) in games.iter().zip(&mut runs) {
            let mut game = game();
            (0..200).for_each(|_| game.play_turn().expect("it plays"));
            let start = Instant::now();
            (0..TURNS).for_each(|_| game.play_turn().expect("it plays"));
            runs.push(start.elapsed().as_secs_f64() * 1e6 / TURNS as f64);
        }
    }
    runs.iter_mut().for_each(|runs| runs.sort_by(f64::total_cmp));
    runs.iter().map(|runs| (runs[0], runs[RUNS / 2])).collect()
}

/// What the m losses and the m multipliers take themselves: a turn's two questions about no rows, in
/// microseconds, the least of several runs.
fn no_rows(constraints: usize, samples: &[MemorySample<'static>; 2]) -> f64 {
    let [train, val] = samples.map(|sample| MemorySample { among: Some(&[]), ..sample });
    let batch = Batch::Turn { seed: 1, turn: 0, size: 100 };
    let each = vec![0.01 / constraints as f64; constraints];
    let lambda = Multipliers { objective: 0.99, constraints: each };
    let (mut work, mut values) = (Work::default(), LossValues::default());
    let theta = vec![0.0; train.model.params()];
    let (by, mut gradient) = (Hypothesis::Theta(theta.clone()), theta.clone());
    let mut run = || {
        let start = Instant::now();
        for _ in 0..TURNS {
            val.measure(&by, batch, Side::Exact, &mut work, &mut values).expect("it measures");
            train
                .gradient(&theta, &lambda, batch, &mut work, &mut gradient)
                .expect("it has slopes");
        }
        start.elapsed().as_secs_f64() * 1e6 / TURNS as f64
    };
    (0..RUNS).map(|_| run()).fold(f64::INFINITY, f64::min)
}

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

fn main() {
    let prepared =
        leak(Preset::find("adult").expect("it is shipped").prepare(1).expect("it is sound"));
    let table = &prepared.train.table;
    let halves = split::by_fraction(table.rows(), &[0.5, 0.5], 1, None).expect("two halves");
    let tables = leak([table.take(&halves[0]), table.take(&halves[1])]);
    let encode = |table: &Table| prepared.encoder.encode(table).expect("it encodes");
    let features = leak([encode(&tables[0]), encode(&tables[1])]);
    let spec = ModelSpec::Mlp { units: 50 };
    let model = leak(spec.build(&prepared.encoder, &features[0]).expect("it builds"));
    let samples = |bound: &Bound| -> [MemorySample<'static>; 2] {
        [0, 1].map(|half| MemorySample {
            features: &features[half],
            among: None,
            compiled: leak(bound.compile(&tables[half], None).expect("it compiles")),
            weights: None,
            model,
            placed: None,
            surrogate: Surrogate::Hinge,
        })
    };

    println!("A turn on Adult, microseconds (least, median of {RUNS} runs of {TURNS} turns)");
    let [train, val] = samples(&prepared.bound);
    let turns = 1_000_000;
    let practical = Algorithm::Practical(Practical { turns, ..Practical::default() });
    let lagrangian = Algorithm::Lagrangian(Lagrangian { turns, ..Lagrangian::default() });
    let unconstrained =
        Algorithm::Unconstrained(Unconstrained { turns, ..Unconstrained::default() });
    let (keep, region) = (Keep::Spaced(100), Region::default());
    let (surrogate, threads) = (Surrogate::Hinge, Threads::default());
    let setting = |val: MemorySample<'static>| Setting {
        train: Arc::new(train),
        val: Arc::new(val),
        model,
        surrogate,
        region,
        keep,
        seed: 1,
        threads: threads.clone(),
    };
    let begin = |algorithm: Algorithm, val| algorithm.game(&setting(val)).expect("it begins");
    let times = time(&[
        &|| begin(practical, val),
        &|| begin(practical, train),
        &|| begin(lagrangian, val),
        &|| begin(unconstrained, train),
    ]);
    let names =
        ["Algorithm 3, two datasets", "Algorithm 3, one", "Algorithm 4, two", "unconstrained"];
    for (name, (least, median)) in names.iter().zip(times) {
        println!("  {name:<30} {least:>8.1} {median:>8.1}");
    }

    println!("The same without the constraint player's own work, by constraints");
    let sizes = [4, 100, 1000];
    let samples = sizes.map(|constraints| samples(&bind(&tables[0], &tables[1], constraints)));
    let still = |constraints: usize, [train, val]: [MemorySample<'static>; 2]| {
        // The objective counts the same, so that the models, and how many rows push them, are alike.
        let each = vec![0.01 / constraints as f64; constraints];
        let lambda = Multipliers { objective: 0.99, constraints: each };
        let learner = Learner {
            train: Arc::new(train),
            model,
            convex: surrogate.is_convex(),
            region,
            seed: 1,
            threads: threads.clone(),
        };
        let descent = Descent::new(learner, Optimizer::default(), 100).expect("it has slopes");
        Game::new(
            Box::new(descent),
            Box::new(Still(lambda)),
            Referee { val: Arc::new(val), batch: Some((2, 100)), side: Side::Exact },
            (turns, keep),
            &threads,
        )
    };
    let times = time(&[&|| still(sizes[0], samples[0]), &|| still(sizes[1], samples[1]), &|| {
        still(sizes[2], samples[2])
    }]);
    println!("  {:<26} {:>8} {:>8} {:>8} {:>8}", "", "least", "median", "no rows", "rows");
    let mut first = None;
    for ((&constraints, pair), (least, median)) in sizes.iter().zip(&samples).zip(&times) {
        let name = format!("m = {constraints}, {} cells", pair[0].losses().cells());
        let none = no_rows(constraints, pair);
        let rows = least - none;
        let (whole, of_rows) = *first.get_or_insert((*least, rows));
        let (by_whole, by_rows) = (least / whole, rows / of_rows);
        println!(
            "  {name:<26} {least:>8.1} {median:>8.1} {none:>8.1} {rows:>8.1}   × {by_whole:.2}, rows × {by_rows:.2}"
        );
    }

    println!("The constraint player's matrix alone: learn and find the fixed point");
    for constraints in [4_usize, 19, 100, 1000] {
        let mut player = SwapRegret::new(constraints, SwapRegretSpec::default());
        let losses: Vec<f64> = (0..constraints).map(|i| (i as f64).sin() * 0.1).collect();
        let turns = (2_000_000 / (constraints * constraints)).clamp(20, 20_000);
        let start = Instant::now();
        (0..turns).for_each(|_| player.learn(&losses));
        let each = start.elapsed().as_secs_f64() * 1e6 / turns as f64;
        let name = format!("m = {constraints}");
        println!("  {name:<30} {each:>8.1}");
    }
}
