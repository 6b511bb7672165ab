//! Rows of one unit are not independent: intervals by unit cover where intervals by row do not, and units of one row
//! change nothing.
//!
//! What is measured stands in `docs/evaluate.md`; `UPDATE_COVERAGE=1` writes it there.

mod common;

use fairgame::ErrorKind;
use fairgame::classifier::draws;
use fairgame::evaluate::{
    Accumulator, Audit, Decisions, Estimate, Evaluation, Measurement, evaluate, evaluate_by_unit,
};
use fairgame::random::Stream;
use fairgame::rate::{Bound, Problem, Weighted};
use fairgame::table::{Column, Table, Values};
use proptest::prelude::*;

fn estimate(measurement: &Measurement) -> Estimate {
    measurement.estimate().unwrap()
}

/// All numbers of an evaluation that are not counts.
fn numbers(found: &Evaluation) -> Vec<f64> {
    let constraints = found.constraints.iter().flat_map(|one| {
        std::iter::once(&one.measurement).chain(one.rates.iter().map(|rate| &rate.measurement))
    });
    constraints
        .filter_map(Measurement::estimate)
        .flat_map(|one| [one.value, one.interval.low, one.interval.high])
        .collect()
}

// ---- what units must not change, and what they must

#[derive(Debug, Clone)]
struct Case {
    table: Table,
    weights: Vec<f32>,
    chances: Vec<f64>,
    units: Vec<Option<u64>>,
}

const CONSTRAINTS: [&str; 6] = [
    "positive_rate(a) <= 0.5",
    "tpr(b) >= tpr() - 0.1",
    "positive_rate(a) - positive_rate(b) <= 0.2",
    "error(a and b) <= error() + 0.1",
    "precision() >= 0.3",
    "f1(a) >= 0.2",
];

impl Case {
    fn bound(&self) -> Option<Bound> {
        let rows = Weighted { table: &self.table, weights: Some(&self.weights) };
        Some(Problem::parse("y", "error()", &CONSTRAINTS).unwrap().bind(rows, &[]).ok()?.0)
    }

    fn of(&self, rows: &[usize]) -> Case {
        Case {
            table: self.table.take(rows),
            weights: rows.iter().map(|&row| self.weights[row]).collect(),
            chances: rows.iter().map(|&row| self.chances[row]).collect(),
            units: rows.iter().map(|&row| self.units[row]).collect(),
        }
    }

    fn found(&self, bound: &Bound, units: Option<&[Option<u64>]>) -> Evaluation {
        let decisions = Decisions::Probabilities(&self.chances);
        evaluate_by_unit(bound, &self.table, Some(&self.weights), units, decisions, 0.9).unwrap()
    }

    fn add_to(&self, all: &mut Accumulator) {
        let decisions = Decisions::Probabilities(&self.chances);
        all.add_by_unit(&self.table, Some(&self.weights), Some(&self.units), decisions).unwrap();
    }
}

fn case() -> impl Strategy<Value = Case> {
    let weight = prop_oneof![Just(0.0_f32), Just(1.0), 0.1..4.0_f32];
    let chance = prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0_f64];
    let unit = prop::option::weighted(0.9, 0..25_u64);
    let row = (any::<[bool; 3]>(), weight, chance, unit);
    prop::collection::vec(row, 4..80).prop_map(|rows| {
        let column = |name: &str, at: usize| {
            Column::new(name, Values::Boolean(rows.iter().map(|row| Some(row.0[at])).collect()))
        };
        Case {
            table: Table::new(vec![column("a", 0), column("b", 1), column("y", 2)]).unwrap(),
            weights: rows.iter().map(|row| row.1).collect(),
            chances: rows.iter().map(|row| row.2).collect(),
            units: rows.iter().map(|row| row.3).collect(),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    /// Units of one row are rows, to the bit; and so are rows without a unit.
    #[test]
    fn units_of_one_row_are_rows(case in case()) {
        let Some(bound) = case.bound() else { return Err(TestCaseError::reject("nothing")) };
        let by_row = case.found(&bound, None);
        let own: Vec<_> = (0..case.table.rows() as u64).map(|row| Some(row * 7919)).collect();
        for units in [own, vec![None; case.table.rows()]] {
            let found = case.found(&bound, Some(&units));
            let counted = case.weights.iter().filter(|weight| **weight > 0.0).count();
            prop_assert_eq!(found.units, Some(counted as u64));
            prop_assert_eq!(Evaluation { units: None, ..found }, by_row.clone());
        }
    }

    /// Rows may come in any order and in any parts, be merged however, and units be called anything: the same to the
    /// bit.
    #[test]
    fn parts_are_the_whole(
        case in case(),
        order in Just((0..80).collect::<Vec<usize>>()).prop_shuffle(),
        cuts in prop::collection::vec(0..80_usize, 0..5),
    ) {
        let Some(bound) = case.bound() else { return Err(TestCaseError::reject("nothing")) };
        let whole = case.found(&bound, Some(&case.units));
        let rows = case.table.rows();
        let order: Vec<usize> = order.into_iter().filter(|&row| row < rows).collect();
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut % (rows + 1)).chain([0, rows]).collect();
        places.sort_unstable();
        let parts: Vec<Case> = places.windows(2).map(|ends| case.of(&order[ends[0]..ends[1]])).collect();

        let (mut all, mut merged) = (Accumulator::new(&bound), Accumulator::new(&bound));
        for (at, part) in parts.iter().enumerate() {
            part.add_to(&mut all);
            let mut one = Accumulator::new(&bound);
            part.add_to(&mut one);
            if at % 2 == 0 {
                merged.merge(&one).unwrap();
            } else {
                one.merge(&merged).unwrap();
                merged = one;
            }
        }
        prop_assert_eq!(&all.finish(0.9).unwrap(), &whole);
        prop_assert_eq!(&merged.finish(0.9).unwrap(), &whole);
        let missing = case.units.iter().filter(|unit| unit.is_none()).count();
        prop_assert_eq!(all.rows_without_unit(), missing as u64);

        let renamed: Vec<_> = case.units.iter().map(|unit| unit.map(|unit| !unit.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
        prop_assert_eq!(&case.found(&bound, Some(&renamed)), &whole);
    }

    /// A unit of equal rows is one row that weighs as much.
    #[test]
    fn copies_add_nothing(case in case(), copies in 2..5_usize) {
        let Some(bound) = case.bound() else { return Err(TestCaseError::reject("nothing")) };
        let once = case.found(&bound, None);
        let rows: Vec<usize> = (0..case.table.rows() * copies).map(|row| row / copies).collect();
        let mut many = case.of(&rows);
        many.units = rows.iter().map(|&row| Some(row as u64)).collect();
        let found = many.found(&bound, Some(&many.units));
        for (a, b) in numbers(&found).into_iter().zip(numbers(&once)) {
            prop_assert!((a - b).abs() < 1e-9, "{a} is not {b}");
        }
        // Every interval by row is narrower, or as wide.
        let by_row = many.found(&bound, None);
        for (unit, row) in found.constraints.iter().zip(&by_row.constraints) {
            if let Some(unit) = unit.measurement.estimate() {
                let row = estimate(&row.measurement);
                prop_assert!(row.interval.high <= unit.interval.high + 1e-9);
                prop_assert!(row.interval.low >= unit.interval.low - 1e-9);
            }
        }
    }

    /// An audit by unit is the evaluation by unit.
    #[test]
    fn audits_have_units(case in case(), cut in 0..80_usize, condition in any::<bool>()) {
        let Some(bound) = case.bound() else { return Err(TestCaseError::reject("nothing")) };
        let problem = Problem::parse("y", "error()", &CONSTRAINTS).unwrap();
        let mut audit = Audit::new(&problem);
        let mut case = case;
        if condition {
            audit = audit.decided_by("a or y", "--prediction").unwrap();
            let met = Problem::parse("a or y", "error()", &[] as &[&str]).unwrap();
            let met = met.bind(&case.table, &[]).unwrap().0.label().evaluate(&case.table).unwrap();
            case.chances = met.into_iter().map(|met| f64::from(u8::from(met))).collect();
        }
        let rows: Vec<usize> = (0..case.table.rows()).collect();
        let (first, second) = rows.split_at(cut % rows.len());
        for part in [case.of(first), case.of(second)] {
            let decisions = (!condition).then_some(Decisions::Probabilities(&part.chances));
            audit.add_by_unit(&part.table, Some(&part.weights), Some(&part.units), decisions).unwrap();
        }
        let found = audit.finish(0.9).unwrap();
        prop_assert_eq!(found.evaluation, case.found(&bound, Some(&case.units)));
        let missing = case.units.iter().filter(|unit| unit.is_none()).count();
        prop_assert_eq!(found.without_unit, missing as u64);
    }
}

/// There is a unit for each row, whatever kind of column it is from; and rows may have none.
#[test]
fn what_units_are() {
    let texts = ["7", "7.0", "b", "007"].map(Some);
    let category =
        Values::Category(fairgame::table::Category::from_texts(texts.into_iter().chain([None])));
    let units = draws(&category);
    assert_eq!(units[0], units[1]);
    assert_eq!(units[0], draws(&Values::Number(vec![7.0]))[0]);
    assert_ne!(units[0], units[3]);
    assert_eq!(units[4], None);

    let truths = |truths: [bool; 5]| Values::Boolean(truths.map(Some).into());
    let y = Column::new("y", truths([true, true, true, false, false]));
    let table = Table::new(vec![y]).unwrap();
    let problem = Problem::parse("y", "error()", &["tpr() >= 0.5"]).unwrap();
    let (bound, _) = problem.bind(&table, &[]).unwrap();
    let decisions = Decisions::Hard(&[true, true, false, false, true]);
    let found = evaluate_by_unit(&bound, &table, None, Some(&units), decisions, 0.9).unwrap();
    assert_eq!((found.rows, found.units), (5, Some(4)));
    let few = evaluate_by_unit(&bound, &table, None, Some(&units[..3]), decisions, 0.9);
    let few = few.unwrap_err();
    assert_eq!(few.kind(), ErrorKind::Value);
    assert!(few.to_string().contains("3 units are given for 5 rows"), "{few}");
}

// ---- coverage

/// A kind of unit, and of its rows.
struct Population {
    name: &'static str,
    units: usize,
    /// How many rows a unit has, each equally often: of the first sort of units, and of the second.
    sizes: [&'static [usize]; 2],
    /// The share of units of the second sort.
    second: f64,
    /// The chance of a positive decision of a row, by sort of unit and whether the unit is of group a.
    chance: fn(bool, bool) -> f64,
    weights: &'static [f32],
}

const SHARE_A: f64 = 0.3;
const SHARE_B: f64 = 0.4;
const SHARE_Y: f64 = 0.5;

const POPULATIONS: [Population; 6] = [
    Population {
        name: "people with 1 to 8 rows",
        units: 150,
        sizes: [&[1, 2, 4, 8], &[1, 2, 4, 8]],
        second: 0.5,
        chance: |second, a| if second { 0.9 } else { 0.1 + 0.1 * f64::from(u8::from(a)) },
        weights: &[1.0],
    },
    Population {
        name: "those with many rows differ",
        units: 150,
        sizes: [&[1, 2], &[4, 6]],
        second: 0.3,
        chance: |second, a| if second { 0.8 } else { 0.2 + 0.1 * f64::from(u8::from(a)) },
        weights: &[1.0],
    },
    Population {
        name: "hardly alike",
        units: 100,
        sizes: [&[2, 3, 5], &[2, 3, 5]],
        second: 0.5,
        chance: |second, _| if second { 0.6 } else { 0.4 },
        weights: &[1.0],
    },
    Population {
        name: "few units of many rows",
        units: 25,
        sizes: [&[10, 20], &[10, 20]],
        second: 0.5,
        chance: |second, _| if second { 0.7 } else { 0.3 },
        weights: &[1.0],
    },
    Population {
        name: "rates near 0",
        units: 200,
        sizes: [&[1, 3], &[1, 3]],
        second: 0.06,
        chance: |second, _| if second { 0.9 } else { 0.01 },
        weights: &[1.0],
    },
    Population {
        name: "uneven weights",
        units: 150,
        sizes: [&[1, 2, 4], &[1, 2, 4]],
        second: 0.4,
        chance: |second, _| if second { 0.85 } else { 0.15 },
        weights: &[0.5, 1.0, 1.0, 3.0],
    },
];

/// A row: in group a (as its whole unit is), in group b, its label, its decision, and its weight.
#[derive(Clone, Copy)]
struct Row {
    of: [bool; 3],
    positive: bool,
    weight: f64,
}

fn table_of(rows: &[Row]) -> Table {
    let column = |(at, name): (usize, &str)| {
        Column::new(name, Values::Boolean(rows.iter().map(|row| Some(row.of[at])).collect()))
    };
    Table::new(["a", "b", "y"].into_iter().enumerate().map(column).collect()).unwrap()
}

impl Population {
    /// Every kind of row, weighted by how much of the population it is.
    fn kinds(&self) -> Vec<Row> {
        let mut kinds = Vec::new();
        for bits in 0..32_u32 {
            let is = |bit: u32| bits >> bit & 1 == 1;
            let (second, of, positive) = (is(0), [is(1), is(2), is(3)], is(4));
            let either = |share: f64, is: bool| if is { share } else { 1.0 - share };
            let sizes = self.sizes[usize::from(second)];
            let size = sizes.iter().sum::<usize>() as f64 / sizes.len() as f64;
            let shares =
                [(SHARE_A, of[0]), (SHARE_B, of[1]), (SHARE_Y, of[2]), (self.second, second)];
            let share: f64 = shares.map(|(share, is)| either(share, is)).iter().product();
            let weight = size * share * either((self.chance)(second, of[0]), positive);
            kinds.push(Row { of, positive, weight });
        }
        kinds
    }

    fn draw(&self, stream: &mut Stream) -> (Vec<Row>, Vec<Option<u64>>) {
        let (mut rows, mut units) = (Vec::new(), Vec::new());
        for unit in 0..self.units as u64 {
            let (second, a) = (stream.unit() < self.second, stream.unit() < SHARE_A);
            let sizes = self.sizes[usize::from(second)];
            for _ in 0..sizes[stream.below(sizes.len() as u64) as usize] {
                let of = [a, stream.unit() < SHARE_B, stream.unit() < SHARE_Y];
                let positive = stream.unit() < (self.chance)(second, a);
                let weight = self.weights[stream.below(self.weights.len() as u64) as usize];
                rows.push(Row { of, positive, weight: f64::from(weight) });
                units.push(Some(unit));
            }
        }
        (rows, units)
    }
}

fn evaluated(bound: &Bound, rows: &[Row], units: Option<&[Option<u64>]>) -> Evaluation {
    let weights: Vec<f32> = rows.iter().map(|row| row.weight as f32).collect();
    let decided: Vec<bool> = rows.iter().map(|row| row.positive).collect();
    let (table, decisions) = (table_of(rows), Decisions::Hard(&decided));
    // So that each of the constraints alone has 95 %.
    let alone = 1.0 - 0.05 * MEASURED.len() as f64;
    evaluate_by_unit(bound, &table, Some(&weights), units, decisions, alone).unwrap()
}

/// Rates, then differences of several, then ratios.
const MEASURED: [&str; 9] = [
    "positive_rate(a) <= 0.5",
    "tpr() >= 0.5",
    "error(b) <= 0.5",
    "positive_rate(a) - positive_rate() <= 0.1",
    "positive_rate(b) - positive_rate(not b) <= 0.1",
    "tpr(a) - fpr(b) <= 0.1",
    "positive_rate(a and b) >= 0.8 * positive_rate()",
    "precision() >= 0.5",
    "f1(b) >= 0.5",
];

const DATASETS: u32 = 1000;

/// The least coverage in per cent of rates, of differences and of ratios.
fn measure(seed: u64, population: &Population) -> [[f64; 3]; 2] {
    let kinds = population.kinds();
    let problem = Problem::parse("y", "error()", &MEASURED).unwrap();
    let (bound, _) = problem.bind(&table_of(&kinds), &[]).unwrap();
    let truth = evaluated(&bound, &kinds, None);
    let mut stream = Stream::new(seed, "coverage by unit");
    let mut covered = [[0_u32; MEASURED.len()]; 2];
    let mut of = [0_u32; MEASURED.len()];
    for _ in 0..DATASETS {
        let (rows, units) = population.draw(&mut stream);
        for (way, units) in [None, Some(&units[..])].into_iter().enumerate() {
            let found = evaluated(&bound, &rows, units);
            for (at, (one, truth)) in found.constraints.iter().zip(&truth.constraints).enumerate() {
                let truth = estimate(&truth.measurement).value;
                if let Some(Estimate { interval, .. }) = one.measurement.estimate() {
                    of[at] += u32::from(way == 0);
                    let inside = interval.low - 1e-6 <= truth && truth <= interval.high + 1e-6;
                    covered[way][at] += u32::from(inside);
                }
            }
        }
    }
    assert!(of.iter().all(|of| *of > DATASETS * 4 / 5), "{of:?}");
    covered.map(|covered| {
        let percent = |at: usize| 100.0 * f64::from(covered[at]) / f64::from(of[at]);
        [0..3, 3..7, 7..9].map(|places| places.map(percent).fold(100.0, f64::min))
    })
}

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/evaluate.md");
const HEADING: &str = "## What they cover by unit";

#[test]
fn intervals_by_unit_cover() {
    let mut lines = String::new();
    let measured: Vec<_> = std::thread::scope(|scope| {
        let half = |first: usize| {
            let own = POPULATIONS.iter().enumerate().skip(first).step_by(2);
            move || own.map(|(seed, one)| (seed, measure(seed as u64, one))).collect::<Vec<_>>()
        };
        let threads = [0, 1].map(|first| scope.spawn(half(first)));
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    for (at, Population { name, units, .. }) in POPULATIONS.iter().enumerate() {
        let [by_row, by_unit] = measured.iter().find(|(seed, _)| *seed == at).unwrap().1;
        let [a, b, c] = by_row;
        let [d, e, f] = by_unit;
        lines += &format!(
            "| {name} | {units} | {a:.1} | {b:.1} | {c:.1} | {d:.1} | {e:.1} | {f:.1} |\n"
        );
    }
    for (at, [by_row, by_unit]) in &measured {
        assert!(by_unit.iter().all(|percent| *percent >= 94.0), "{lines}");
        // Where rows of a unit are hardly alike, rows do not fail by much.
        assert!(*at == 2 || by_row[0] < 92.0, "{lines}");
    }
    let page = std::fs::read_to_string(PAGE).unwrap();
    let section = page.find(HEADING).unwrap();
    let start = section + page[section..].find("---|\n").unwrap() + 5;
    let end = start + page[start..].find("\n\n").unwrap() + 1;
    if std::env::var_os("UPDATE_COVERAGE").is_some_and(|value| value == "1") {
        std::fs::write(PAGE, [&page[..start], &lines, &page[end..]].concat()).unwrap();
        return;
    }
    assert_eq!(&page[start..end], lines, "UPDATE_COVERAGE=1 writes it");
}

/// Without units, `evaluate` is what it was.
#[test]
fn evaluate_has_no_units() {
    let kinds = POPULATIONS[0].kinds();
    let problem = Problem::parse("y", "error()", &MEASURED).unwrap();
    let (bound, _) = problem.bind(&table_of(&kinds), &[]).unwrap();
    let decided = vec![true; kinds.len()];
    let found = evaluate(&bound, &table_of(&kinds), None, Decisions::Hard(&decided), 0.9).unwrap();
    assert_eq!(found.units, None);
}
