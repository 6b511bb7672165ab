//! Intervals cover what they say, and verdicts are as seldom wrong as they say, over simulated datasets.
//!
//! A population is a list of kinds of rows, each with its share, groups, label, weight and chance of a
//! positive decision; a dataset draws kinds. The population's own losses are those of a dataset that has
//! each kind once, weighted by its share.
//!
//! What is measured stands in `docs/evaluate.md`; `UPDATE_COVERAGE=1` writes it there.

mod common;

use common::population::{Draws, Kind, POPULATIONS, Population};
use fairgame::evaluate::{Decisions, Evaluation, Measurement, Verdict, evaluate};
use fairgame::random::Stream;
use fairgame::rate::{Bound, Problem, Weighted};
use fairgame::table::{Column, Table, Values};

fn table(kinds: &[Kind]) -> Table {
    let column = |name: &str, of: fn(&Kind) -> bool| {
        Column::new(name, Values::Boolean(kinds.iter().map(|kind| Some(of(kind))).collect()))
    };
    let columns = [column("a", |k| k.a), column("b", |k| k.b), column("y", |k| k.y)];
    Table::new(columns.into()).unwrap()
}

fn weights(kinds: &[Kind], shares: bool) -> Vec<f32> {
    let weight = |kind: &Kind| if shares { kind.weight * kind.share as f32 } else { kind.weight };
    kinds.iter().map(weight).collect()
}

fn evaluated(bound: &Bound, kinds: &[Kind], shares: bool, confidence: f64) -> Evaluation {
    let weights = weights(kinds, shares);
    let chances: Vec<f64> = kinds.iter().map(|kind| kind.chance).collect();
    let decisions = Decisions::Probabilities(&chances);
    evaluate(bound, &table(kinds), Some(&weights), decisions, confidence).unwrap()
}

/// What constraints are about.
#[derive(Debug, Clone, Copy, PartialEq)]
enum About {
    Rate,
    Difference,
    Ratio,
}

/// Each is made into a constraint that the population violates by a hair: `<= c` where it is to be low,
/// `>= c` where it is to be high.
const CONSTRAINTS: [(About, &str, &str); 14] = [
    (About::Rate, "positive_rate(a)", "<="),
    (About::Rate, "tpr(a)", ">="),
    (About::Rate, "error(a)", "<="),
    (About::Difference, "positive_rate(a) - positive_rate(b)", ">="),
    (About::Difference, "positive_rate(a) - positive_rate()", ">="),
    (About::Difference, "tpr(a) - tpr()", ">="),
    (About::Difference, "fpr(a and b) - fpr(b)", "<="),
    (About::Difference, "error(a) - error()", "<="),
    (About::Difference, "tpr(a) + fpr(b)", "<="),
    (About::Difference, "positive_rate(a) - 0.8 * positive_rate()", ">="),
    (About::Ratio, "precision()", ">="),
    (About::Ratio, "precision(a)", ">="),
    (About::Ratio, "f1()", ">="),
    (About::Ratio, "positive_rate(a) / positive_rate()", ">="),
];

/// By how much they are violated.
const HAIR: f64 = 0.001;

/// The problem whose constraints a population violates by a hair.
fn violated(kinds: &[Kind]) -> Bound {
    let (table, shares) = (table(kinds), weights(kinds, true));
    let bind = |constraints: [String; CONSTRAINTS.len()]| {
        let weighted = Weighted { table: &table, weights: Some(&shares) };
        Problem::parse("y", "error()", &constraints).unwrap().bind(weighted, &[]).unwrap().0
    };
    let zero = bind(CONSTRAINTS.map(|(_, left, _)| format!("{left} >= 0")));
    let mut values = evaluated(&zero, kinds, true, 0.5).constraints.into_iter();
    bind(CONSTRAINTS.map(|(about, left, relation)| {
        let constraint = values.next().unwrap();
        let value = |measurement: &Measurement| measurement.estimate().unwrap().value;
        let rates: Vec<f64> =
            constraint.rates.iter().map(|rate| value(&rate.measurement)).collect();
        let value = match (about, &rates[..]) {
            (About::Ratio, [over, under]) => over / under,
            (About::Ratio, _) => rates[0],
            _ => -value(&constraint.measurement),
        };
        let by = if relation == "<=" { value - HAIR } else { value + HAIR };
        format!("{left} {relation} {by:.9}")
    }))
}

/// How often something was so.
#[derive(Debug, Clone, Copy, Default)]
struct Share {
    of: u32,
    so: u32,
}

impl Share {
    fn add(&mut self, so: bool) {
        self.of += 1;
        self.so += u32::from(so);
    }

    fn percent(self) -> f64 {
        100.0 * f64::from(self.so) / f64::from(self.of)
    }
}

const DATASETS: u32 = 2000;

/// What intervals and verdicts came to over the datasets of a population, in per cent.
struct Measured {
    /// The least coverage of a rate, or of a constraint of one.
    rates: f64,
    /// The least coverage of a constraint of several rates, and of a ratio.
    differences: f64,
    ratios: f64,
    /// How often all constraints were covered together, at 95 %.
    together: f64,
    /// The most that a violated constraint was said to be met.
    met: f64,
    /// How many datasets each constraint could be measured on, at least.
    datasets: u32,
}

fn measure(seed: u64, population: &Population) -> Measured {
    let kinds = population.kinds();
    let bound = violated(&kinds);
    let truth = evaluated(&bound, &kinds, true, 0.5);
    let loss = |index: usize| truth.constraints[index].measurement.estimate().unwrap().value;
    let draws = Draws::new(kinds);
    let mut stream = Stream::new(seed, "coverage");
    let mut covered = [Share::default(); CONSTRAINTS.len()];
    let mut met = [Share::default(); CONSTRAINTS.len()];
    let mut rates = vec![Share::default(); truth.constraints.iter().map(|c| c.rates.len()).sum()];
    let mut together = Share::default();
    // Shares of kinds are f32 as weights, so truths are known to about 1e-7.
    let near = 1e-6;
    for _ in 0..DATASETS {
        let data = draws.dataset(population.rows, &mut stream);
        // So that each of the constraints alone has 95 %.
        let alone = 1.0 - 0.05 * CONSTRAINTS.len() as f64;
        let found = evaluated(&bound, &data, false, alone);
        for (index, constraint) in found.constraints.iter().enumerate() {
            let Some(estimate) = constraint.measurement.estimate() else { continue };
            let (low, high) = (estimate.interval.low, estimate.interval.high);
            covered[index].add(low - near <= loss(index) && loss(index) <= high + near);
            met[index].add(constraint.verdict == Verdict::Met);
        }
        let found = evaluated(&bound, &data, false, 0.95);
        let mut all = true;
        for (index, constraint) in found.constraints.iter().enumerate() {
            let Some(estimate) = constraint.measurement.estimate() else { continue };
            let (low, high) = (estimate.interval.low, estimate.interval.high);
            all &= low - near <= loss(index) && loss(index) <= high + near;
        }
        together.add(all);
        let truths = truth.constraints.iter().flat_map(|constraint| &constraint.rates);
        let founds = found.constraints.iter().flat_map(|constraint| &constraint.rates);
        for ((truth, found), share) in truths.zip(founds).zip(&mut rates) {
            let truth = truth.measurement.estimate().unwrap().value;
            let Some(estimate) = found.measurement.estimate() else { continue };
            let (low, high) = (estimate.interval.low, estimate.interval.high);
            share.add(low - near <= truth && truth <= high + near);
        }
    }
    let least = |shares: &[Share]| shares.iter().map(|s| s.percent()).fold(100.0, f64::min);
    let about = |about: About| -> Vec<Share> {
        let shares = CONSTRAINTS.iter().zip(&covered).filter(|((sort, ..), _)| *sort == about);
        shares.map(|(_, share)| *share).collect()
    };
    let mut singles = rates;
    singles.extend(about(About::Rate));
    Measured {
        rates: least(&singles),
        differences: least(&about(About::Difference)),
        ratios: least(&about(About::Ratio)),
        together: together.percent(),
        met: met.iter().map(|share| share.percent()).fold(0.0, f64::max),
        datasets: covered.iter().map(|share| share.of).min().unwrap_or(0),
    }
}

/// The page that says what was measured, and where in it.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/evaluate.md");
const FIRST: &str = "|---|---|---|---|---|---|---|\n";

#[test]
fn intervals_cover_and_verdicts_hold() {
    let mut measured: Vec<(usize, Measured)> = Vec::new();
    std::thread::scope(|scope| {
        let third = |first: usize| {
            let own = POPULATIONS.iter().enumerate().skip(first).step_by(3);
            move || own.map(|(seed, one)| (seed, measure(seed as u64, one))).collect::<Vec<_>>()
        };
        let threads = [0, 1, 2].map(|first| scope.spawn(third(first)));
        measured.extend(threads.into_iter().flat_map(|thread| thread.join().unwrap()));
    });
    measured.sort_by_key(|(seed, _)| *seed);

    let mut lines = String::new();
    for (seed, Measured { rates, differences, ratios, together, met, datasets }) in &measured {
        let Population { name, rows, .. } = &POPULATIONS[*seed];
        lines += &format!(
            "| {name} | {rows} | {rates:.1} | {differences:.1} | {ratios:.1} | {together:.1} | {met:.1} |\n"
        );
        assert!(*rates >= 94.0 && *differences >= 94.0 && *ratios >= 94.0, "{lines}");
        assert!(*together >= 95.0 && *met <= 5.0, "{lines}");
        // A group with no rows is undecided, and neither covers nor misses.
        assert!(*datasets >= DATASETS * 4 / 5, "{name}: measured on {datasets} datasets");
    }

    let page = std::fs::read_to_string(PAGE).unwrap();
    let start = page.find(FIRST).unwrap() + FIRST.len();
    let end = start + page[start..].find("\n\n").unwrap() + 1;
    if std::env::var_os("UPDATE_COVERAGE").is_some_and(|value| value == "1") {
        std::fs::write(PAGE, [&page[..start], &lines, &page[end..]].concat()).unwrap();
        return;
    }
    // A machine whose logarithms round otherwise may move an end across a truth.
    let numbers = |line: &str| -> Vec<f64> {
        line.split('|').filter_map(|cell| cell.trim().parse().ok()).collect()
    };
    assert_eq!(page[start..end].lines().count(), lines.lines().count());
    for (said, found) in page[start..end].lines().zip(lines.lines()) {
        let apart = |(a, b): (&f64, &f64)| (a - b).abs() < 0.101;
        let same = numbers(said).iter().zip(&numbers(found)).all(apart);
        assert!(
            same,
            "docs/evaluate.md says\n{said}\nand measured is\n{found}\nUPDATE_COVERAGE=1 writes it"
        );
    }
}
