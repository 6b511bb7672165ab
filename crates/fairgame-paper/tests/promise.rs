//! The promise suite in small: populations are what they say, sums are right, and what is promised holds.
//! `fairgame reproduce promise` is the whole of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use fairgame::classifier::Margin;
use fairgame::random::Stream;
use fairgame::table::{Table, Values};
use fairgame_paper::promise::{
    APART, Drawn, Learner, POSITIVE, Population, Problem, PromisePlan, Promises, fails_by,
    normal_below,
};

const GENERATED: [Population; 6] = [
    Population::Credit,
    Population::Curved,
    Population::Rare,
    Population::Groups,
    Population::Gaussians,
    Population::Categories,
];

fn numbers<'a>(table: &'a Table, name: &str) -> &'a [f64] {
    match &table.column(name).unwrap().values {
        Values::Number(numbers) => numbers,
        _ => panic!("`{name}` is a number"),
    }
}

fn labels(rows: &Drawn) -> Vec<bool> {
    match &rows.table.column("label").unwrap().values {
        Values::Boolean(truths) => truths.iter().map(|truth| truth.unwrap()).collect(),
        _ => panic!("a label is true or false"),
    }
}

/// The share of pairs of a positive and a negative row that η ranks rightly.
fn auc(eta: &[f64]) -> f64 {
    let mut order = eta.to_vec();
    order.sort_by(f64::total_cmp);
    let (mut right, mut negative, mut positive) = (0.0, 0.0, 0.0);
    for eta in order {
        right += eta * negative;
        negative += 1.0 - eta;
        positive += eta;
    }
    right / (positive * negative)
}

#[test]
fn populations_are_what_they_say() {
    // Share of positives, and how well the best score ranks.
    let said =
        [(0.22, 0.78), (0.35, 0.85), (0.03, 0.91), (0.40, 0.81), (POSITIVE, 0.855), (0.42, 0.83)];
    for (population, (positive, ranks)) in GENERATED.into_iter().zip(said) {
        let rows = population.rows(1, 40_000, "test").unwrap();
        let (eta, labels) = (rows.eta.clone().unwrap(), labels(&rows));
        let mean = eta.iter().sum::<f64>() / eta.len() as f64;
        assert!((mean - positive).abs() < 0.012, "{population:?}: {mean}");
        let found = auc(&eta);
        assert!((found - ranks).abs() < 0.015, "{population:?}: {found}");
        // Labels are drawn by η: in the whole, and among the lower half of the rows.
        let mut order: Vec<usize> = (0..eta.len()).collect();
        order.sort_by(|&a, &b| eta[a].total_cmp(&eta[b]));
        for part in [&order[..], &order[..eta.len() / 2]] {
            let drawn = part.iter().filter(|&&row| labels[row]).count() as f64;
            let expected: f64 = part.iter().map(|&row| eta[row]).sum();
            let variance: f64 = part.iter().map(|&row| eta[row] * (1.0 - eta[row])).sum();
            assert!((drawn - expected).abs() < 4.5 * variance.sqrt(), "{population:?}");
        }
    }
}

#[test]
fn populations_are_drawn_by_their_seed() {
    for population in GENERATED {
        let rows = |seed, purpose| population.rows(seed, 50, purpose).unwrap().table;
        assert_eq!(rows(7, "train"), rows(7, "train"), "{population:?}");
        assert_ne!(rows(7, "train"), rows(8, "train"), "{population:?}");
        assert_ne!(rows(7, "train"), rows(7, "judge"), "{population:?}");
    }
    assert!(Population::Adult.rows(1, 10, "train").is_err());
}

#[test]
fn groups_have_the_sizes_that_were_said() {
    let rows = Population::Groups.rows(2, 40_000, "test").unwrap();
    let Values::Category(region) = &rows.table.column("region").unwrap().values else {
        panic!("regions are categories");
    };
    let isles = region.texts().filter(|text| *text == Some("isles")).count() as f64 / 40_000.0;
    assert!((isles - 0.02).abs() < 0.004, "{isles}");
}

/// The rates of linear rules on the two normal distributions, from the formula and from the rows' η.
#[test]
fn known_rates_are_right() {
    let rows = 40_000;
    let drawn = Population::Gaussians.rows(3, rows, "test").unwrap();
    let (table, eta) = (&drawn.table, drawn.eta.unwrap());
    let x = ["x0", "x1", "x2", "x3"].map(|name| numbers(table, name));
    for (w, b) in
        [([0.5, 0.5, 0.5, 0.5], 0.2), ([1.0, 0.0, 0.0, 0.0], 0.5), ([1.0, -1.0, 2.0, 0.5], -0.3)]
    {
        let length = w.iter().map(|w| w * w).sum::<f64>().sqrt();
        let along = w.iter().map(|w| w * APART / 2.0).sum::<f64>();
        let exact = [normal_below((along - b) / length), normal_below(-b / length)];
        let mut sums = [[0.0; 2]; 2];
        for row in 0..rows {
            let score: f64 = w.iter().zip(&x).map(|(w, x)| w * x[row]).sum();
            for (sum, weight) in sums.iter_mut().zip([eta[row], 1.0 - eta[row]]) {
                sum[0] += weight * f64::from(u8::from(score > b));
                sum[1] += weight;
            }
        }
        for (exact, [decided, all]) in exact.into_iter().zip(sums) {
            // At most as noisy as so many drawn labels.
            let error = (exact * (1.0 - exact) / all).sqrt();
            assert!(
                (decided / all - exact).abs() < 4.5 * error,
                "{w:?}: {exact} {}",
                decided / all
            );
        }
    }
}

#[test]
fn the_normal_distribution_is_right() {
    for (z, below) in [(0.0, 0.5), (-1.0, 0.158_655_25), (1.644_853_6, 0.95), (-2.5, 0.006_209_67)]
    {
        assert!((normal_below(z) - below).abs() < 2e-7, "{z}");
    }
}

/// True values N(−1.645·0.02, 0.02²), of which 5 % are above 0, seen with noise as large as they vary: a plain count
/// would find 12 %.
#[test]
fn the_noise_of_judging_is_taken_out() {
    let mut stream = Stream::new(5, "noise");
    let mut normal = || {
        let length = (-2.0 * (1.0 - stream.unit()).ln()).sqrt();
        length * (std::f64::consts::TAU * stream.unit()).cos()
    };
    let seen: Vec<(f64, f64)> =
        (0..20_000).map(|_| (0.02 * (-1.645 + normal() + normal()), 0.02)).collect();
    let plain = seen.iter().filter(|(value, _)| *value > 0.0).count() as f64 / 20_000.0;
    assert!((plain - 0.1224).abs() < 0.01, "{plain}");
    let share = fails_by(&seen);
    assert!((share - 0.05).abs() < 0.008, "{share}");
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("promise").join(name);
    let _ = fs::remove_dir_all(&folder);
    folder
}

fn plan(problems: &[&str], draws: u64, turns: u64, folder: PathBuf) -> PromisePlan {
    PromisePlan {
        problems: Problem::find(problems).unwrap(),
        models: Learner::ALL.into(),
        draws,
        seed: 1,
        margin: Margin::Confidence(0.95),
        turns: Some(turns),
        folder,
        threads: 2,
    }
}

fn carry_out(plan: &PromisePlan) -> Promises {
    plan.carry_out(|_| ()).unwrap()
}

/// One thread and two give the same bytes, and so does what was interrupted.
#[test]
fn threads_and_interruptions_change_nothing() {
    let whole = plan(&["known"], 4, 60, folder("whole"));
    carry_out(&whole).write(&whole.folder, &[]).unwrap();
    let bytes = |folder: &Path| fs::read(folder.join("promise.json")).unwrap();
    let one = PromisePlan { threads: 1, folder: folder("one"), ..whole.clone() };
    carry_out(&one).write(&one.folder, &[]).unwrap();
    assert_eq!(bytes(&one.folder), bytes(&whole.folder));
    let page = fs::read(whole.folder.join("promise.md")).unwrap();
    let runs = fs::read_dir(whole.folder.join("runs")).unwrap();
    let cut = runs.map(|file| file.unwrap().path()).min().unwrap();
    let text = fs::read_to_string(&cut).unwrap();
    assert_eq!(text.lines().count(), 4);
    // Again with nothing to run: the page too, with the seconds that were kept.
    carry_out(&whole).write(&whole.folder, &[]).unwrap();
    assert_eq!(fs::read(whole.folder.join("promise.md")).unwrap(), page);
    // The last line was being written when the run was killed.
    fs::write(&cut, &text[..text.len() - 30]).unwrap();
    carry_out(&whole).write(&whole.folder, &[]).unwrap();
    assert_eq!(bytes(&whole.folder), bytes(&one.folder));
}

/// P(X ≥ broken), X binomial.
fn tail(broken: u32, of: u32, chance: f64) -> f64 {
    let mut term = (1.0 - chance).powi(of as i32);
    let mut below = 0.0;
    for k in 0..broken {
        below += term;
        term *= f64::from(of - k) / f64::from(k + 1) * chance / (1.0 - chance);
    }
    1.0 - below
}

/// The small suite, run once for the tests that look at it.
fn small() -> &'static Promises {
    static SMALL: OnceLock<Promises> = OnceLock::new();
    SMALL.get_or_init(|| carry_out(&plan(&["known", "overlap"], 16, 1500, folder("small"))))
}

/// Of what is promised with 95 %, no more fails than chance allows.
#[test]
fn promises_are_kept() {
    assert_eq!(small().lines.len(), 8);
    for line in &small().lines {
        let made = (line.promised.mean * line.draws as f64).round();
        let broken = if made > 0.0 { (made * line.broken.raw.mean).round() } else { 0.0 };
        let name = format!("{}, {}: {broken} of {made}", line.problem, line.model);
        assert!(tail(broken as u32, made as u32, 0.05) > 0.001, "{name}");
    }
}

/// Where it was said that a promise can be had, it is made: promising nothing does not pass.
#[test]
fn promises_are_made() {
    for line in &small().lines {
        let made = line.promised.mean;
        assert!(line.often_enough() != Some(false), "{}, {}: {made}", line.problem, line.model);
    }
}

#[test]
fn tails_are_right() {
    assert!((tail(1, 10, 0.05) - (1.0 - 0.95_f64.powi(10))).abs() < 1e-12);
    assert!((tail(2, 2, 0.1) - 0.01).abs() < 1e-12);
}
