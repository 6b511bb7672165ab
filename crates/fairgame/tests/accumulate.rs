//! Evaluations of rows that come in parts: in whatever parts, in whatever order and merged however, they are those
//! of the whole table, to the bit; and an audit is a problem that was bound to the whole table.

mod common;

use fairgame::ErrorKind;
use fairgame::evaluate::{Accumulator, Audit, Decisions, Evaluation, evaluate};
use fairgame::rate::{Bound, Problem, Weighted};
use fairgame::table::{Category, Column, ReadOptions, Source, Table, Values, read};
use proptest::prelude::*;

const CONSTRAINTS: [&str; 5] = [
    "tpr(each job) >= 0.5",
    "positive_rate(flag) <= positive_rate() + 0.1",
    "error(y > median(y)) - fpr(y < quantile(x, 0.3)) <= 1",
    "precision(job in [\"a\", \"b\"]) >= 0.1",
    "churn(job >= \"b\", y > 0) + positive_rate(each [flag, job] where x < 3) <= 2",
];

fn problem(constraints: &[&str]) -> Problem {
    Problem::parse("label", "error() + 0.1 * fpr(flag)", constraints).unwrap().skip_empty_groups()
}

/// A table with a label.
fn labelled(table: &Table, label: &[bool]) -> Table {
    let mut columns = table.columns().to_vec();
    let label = label[..table.rows()].iter().map(|&label| Some(label)).collect();
    columns.push(Column::new("label", Values::Boolean(label)));
    Table::new(columns).unwrap()
}

/// Some rows as a table of their own, with dictionaries of their own.
fn part(table: &Table, rows: &[usize]) -> Table {
    let own = |mut column: Column| {
        if let Values::Category(category) = &column.values {
            column.values = Values::Category(Category::from_texts(category.texts()));
        }
        column
    };
    Table::new(table.take(rows).columns().iter().cloned().map(own).collect()).unwrap()
}

#[derive(Debug)]
struct Case {
    table: Table,
    weights: Vec<f32>,
    chances: Vec<f64>,
}

impl Case {
    /// The weights and chances of some rows.
    fn of(&self, rows: &[usize]) -> (Table, Vec<f32>, Vec<f64>) {
        let weights = rows.iter().map(|&row| self.weights[row]).collect();
        (part(&self.table, rows), weights, rows.iter().map(|&row| self.chances[row]).collect())
    }

    fn whole(&self, bound: &Bound) -> Evaluation {
        let decisions = Decisions::Probabilities(&self.chances);
        evaluate(bound, &self.table, Some(&self.weights), decisions, 0.9).unwrap()
    }

    fn accumulator(&self, bound: &Bound, rows: &[usize]) -> Accumulator {
        let mut accumulator = Accumulator::new(bound);
        let (table, weights, chances) = self.of(rows);
        let decisions = Decisions::Probabilities(&chances);
        accumulator.add(&table, Some(&weights), decisions).unwrap();
        accumulator
    }

    /// Σ w·p and Σ w over the rows that a condition holds for, as a loop has it.
    fn mean(&self, holds: impl Fn(usize) -> bool, p: impl Fn(usize) -> f64) -> f64 {
        let rows = || (0..self.table.rows()).filter(|&row| holds(row));
        let weight = |row: usize| f64::from(self.weights[row]);
        let over: f64 = rows().map(|row| weight(row) * p(row)).sum();
        over / rows().map(weight).sum::<f64>()
    }
}

/// Lists of row numbers: of all rows in this order, cut at these places.
fn cut(order: &[usize], rows: usize, cuts: &[usize]) -> Vec<Vec<usize>> {
    let order: Vec<usize> = order.iter().copied().filter(|&row| row < rows).collect();
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut % (rows + 1)).chain([0, rows]).collect();
    places.sort_unstable();
    places.windows(2).map(|ends| order[ends[0]..ends[1]].to_vec()).collect()
}

const ROWS: usize = 80;

fn case() -> impl Strategy<Value = (Case, Vec<bool>)> {
    let row = (any::<bool>(), 0.0..4.0_f32, prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0_f64]);
    (common::table(1..ROWS), prop::collection::vec(row, ROWS)).prop_map(|(table, rows)| {
        let label: Vec<bool> = rows.iter().map(|row| row.0).collect();
        let table = labelled(&table, &label);
        let rows = &rows[..table.rows()];
        // A quarter of the weights is 0.
        let weights = rows.iter().map(|row| (row.1 - 1.0).max(0.0)).collect();
        let chances = rows.iter().map(|row| row.2).collect();
        (Case { table, weights, chances }, label)
    })
}

fn order() -> impl Strategy<Value = Vec<usize>> {
    Just((0..ROWS).collect::<Vec<usize>>()).prop_shuffle()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    /// Added in parts or merged in any tree, in any order: the same to the bit.
    #[test]
    fn parts_are_the_whole(
        (case, _) in case(),
        order in order(),
        cuts in prop::collection::vec(0..ROWS, 0..6),
        joins in prop::collection::vec(any::<prop::sample::Index>(), 12),
    ) {
        let rows = Weighted { table: &case.table, weights: Some(&case.weights) };
        let bound = problem(&CONSTRAINTS).bind(rows, &[]).or_else(|_| problem(&[]).bind(rows, &[]));
        let Ok((bound, _)) = bound else {
            return Err(TestCaseError::reject("there is nothing to measure"));
        };
        let whole = case.whole(&bound);
        let parts = cut(&order, case.table.rows(), &cuts);

        let mut all = Accumulator::new(&bound);
        for part in &parts {
            let (table, weights, chances) = case.of(part);
            all.add(&table, Some(&weights), Decisions::Probabilities(&chances)).unwrap();
        }
        prop_assert_eq!(all.rows(), case.table.rows() as u64);
        prop_assert_eq!(&all.finish(0.9).unwrap(), &whole);

        let mut apart: Vec<Accumulator> =
            parts.iter().map(|part| case.accumulator(&bound, part)).collect();
        for join in joins.chunks(2).take(parts.len() - 1) {
            let one = apart.swap_remove(join[0].index(apart.len()));
            let other = join[1].index(apart.len());
            apart[other].merge(&one).unwrap();
        }
        let [merged] = &apart[..] else { panic!("{} are left", apart.len()) };
        prop_assert_eq!(&merged.finish(0.9).unwrap(), &whole);
    }

    /// Sums that were written and read come to what all rows come to, with units and without, of evaluations and audits.
    #[test]
    fn sums_as_bytes(
        (case, _) in case(),
        order in order(),
        cuts in prop::collection::vec(0..ROWS, 0..6),
        people in prop::option::of(2..40_u64),
    ) {
        let problem = problem(&[CONSTRAINTS[0], CONSTRAINTS[1], CONSTRAINTS[3]]);
        let rows = Weighted { table: &case.table, weights: Some(&case.weights) };
        let Ok((bound, _)) = problem.bind(rows, &[]) else {
            return Err(TestCaseError::reject("there is nothing to measure"));
        };
        // Every ninth row has no unit.
        let unit = |row: usize| people.filter(|_| !row.is_multiple_of(9)).map(|people| row as u64 % people);
        let all: Vec<usize> = (0..case.table.rows()).collect();
        let (mut whole, mut merged) = (Accumulator::new(&bound), Accumulator::new(&bound));
        let (mut audit, mut audited) = (Audit::new(&problem), Audit::new(&problem));
        let add = |rows: &[usize], to: &mut Accumulator, and: &mut Audit| {
            let (table, weights, chances) = case.of(rows);
            let units: Option<Vec<Option<u64>>> =
                people.map(|_| rows.iter().map(|&row| unit(row)).collect());
            let (weights, units) = (Some(&weights[..]), units.as_deref());
            let decisions = Decisions::Probabilities(&chances);
            to.add_by_unit(&table, weights, units, decisions).unwrap();
            and.add_by_unit(&table, weights, units, Some(decisions)).unwrap();
        };
        add(&all, &mut whole, &mut audit);
        for part in cut(&order, case.table.rows(), &cuts) {
            let (mut own, mut of_own) = (Accumulator::new(&bound), Audit::new(&problem));
            if !part.is_empty() {
                add(&part, &mut own, &mut of_own);
            }
            merged.merge_bytes(&own.to_bytes().unwrap()).unwrap();
            audited.merge_bytes(&of_own.to_bytes().unwrap()).unwrap();
        }
        prop_assert_eq!(merged.finish(0.9).unwrap(), whole.finish(0.9).unwrap());
        prop_assert_eq!(merged.rows_without_unit(), whole.rows_without_unit());
        let (found, wanted) = (audited.finish(0.9).unwrap(), audit.finish(0.9).unwrap());
        prop_assert_eq!(found.evaluation, wanted.evaluation);
        prop_assert_eq!(found.without_unit, wanted.without_unit);
    }

    /// Values are those of a plain loop over rows.
    #[test]
    fn values_are_those_of_a_loop((case, label) in case()) {
        let constraints = ["tpr() >= 0.5", "positive_rate(flag == true) <= 0.5"];
        let rows = Weighted { table: &case.table, weights: Some(&case.weights) };
        let bound = Problem::parse("label", "error()", &constraints).unwrap().bind(rows, &[]);
        let Ok((bound, _)) = bound else {
            return Err(TestCaseError::reject("there is nothing to measure"));
        };
        let found = case.whole(&bound);
        let p = |row: usize| case.chances[row];
        let Values::Boolean(flag) = &case.table.column("flag").unwrap().values else { panic!() };
        let error = case.mean(|_| true, |row| if label[row] { 1.0 - p(row) } else { p(row) });
        let near = |found: Option<f64>, wanted: f64| (found.unwrap() - wanted).abs() < 1e-12;
        prop_assert!(near(found.error, error));
        prop_assert!(near(found.objective.measurement.estimate().map(|one| one.value), error));
        prop_assert!(near(found.positive_rate, case.mean(|_| true, p)));
        prop_assert!(near(found.constraints[0].value(), 0.5 - case.mean(|row| label[row], p)));
        let flagged = case.mean(|row| flag[row] == Some(true), p);
        prop_assert!(near(found.constraints[1].value(), flagged - 0.5));
    }

    /// An audit of parts is what binding to the whole table, and evaluating it, comes to; errors are the same.
    #[test]
    fn audits_bind_to_all_rows(
        (case, _) in case(),
        cuts in prop::collection::vec(0..ROWS, 0..6),
        which in prop::sample::subsequence(CONSTRAINTS.to_vec(), 0..=CONSTRAINTS.len()),
        condition in prop::sample::select(vec!["", "x > 1", "job == \"a\" or flag", "y < median(y)"]),
    ) {
        let problem = problem(&which);
        let rows = Weighted { table: &case.table, weights: Some(&case.weights) };
        let whole = problem.bind(rows, &[]).and_then(|(bound, notices)| {
            let decisions = match condition {
                "" => return Ok((case.whole(&bound), notices)),
                text => Problem::parse(text, "positive_rate()", &[] as &[&str])?.bind(rows, &[])?.0,
            };
            let decided = decisions.label().evaluate(&case.table)?;
            let decisions = Decisions::Hard(&decided);
            let weights = Some(&case.weights[..]);
            Ok((evaluate(&bound, &case.table, weights, decisions, 0.9)?, notices))
        });

        let mut audit = Audit::new(&problem);
        if !condition.is_empty() {
            audit = audit.decided_by(condition, "--prediction").unwrap();
        }
        let in_order: Vec<usize> = (0..ROWS).collect();
        let parts = cut(&in_order, case.table.rows(), &cuts);
        let parts: Vec<_> = parts.iter().filter(|part| !part.is_empty()).map(|part| case.of(part)).collect();
        parts.iter().for_each(|(table, ..)| audit.add_quantiles(table));
        for (table, weights, chances) in &parts {
            let decisions = Decisions::Probabilities(chances);
            match condition {
                "" => audit.add(table, Some(weights), decisions).unwrap(),
                _ => audit.add_undecided(table, Some(weights)).unwrap(),
            }
        }
        match (audit.finish(0.9), whole) {
            (Ok(found), Ok((evaluation, notices))) => {
                prop_assert_eq!(found.evaluation, evaluation);
                prop_assert_eq!(found.notices, notices);
            }
            (Err(found), Err(wanted)) => {
                let found = found.to_string();
                let found = found.strip_prefix("--prediction, ").unwrap_or(&found).to_owned();
                prop_assert_eq!(found, wanted.to_string());
            }
            (found, wanted) => prop_assert!(false, "{found:?} is not {wanted:?}"),
        }
    }
}

fn people(csv: &str) -> Table {
    let source = Source::stream("people.csv", std::io::Cursor::new(csv.to_owned().into_bytes()));
    read([source], &ReadOptions::default()).unwrap()
}

/// Messages count rows from the first of all, and what is refused is not added.
/// Sums that are damaged, or of another problem, are refused.
#[test]
fn what_is_no_sum() {
    let people = people("group,hired\na,yes\nb,no\na,no\nb,yes\n");
    let bound = |constraint: &str| {
        let problem = Problem::parse("hired == \"yes\"", "error()", &[constraint]).unwrap();
        problem.bind(&people, &[]).unwrap().0
    };
    let (one, other) = (bound("tpr(group == \"a\") >= 0.1"), bound("recall() >= 0.1"));
    let mut sums = Accumulator::new(&one);
    sums.add(&people, None, Decisions::Hard(&[true, false, true, false])).unwrap();
    let bytes = sums.to_bytes().unwrap();
    assert!(Accumulator::new(&other).merge_bytes(&bytes).is_err());
    for at in 0..bytes.len() {
        // Whatever is read of them, nothing panics, and what is refused changes nothing.
        let mut fresh = Accumulator::new(&one);
        if fresh.merge_bytes(&bytes[..at]).is_err() {
            assert_eq!(fresh.rows(), 0);
        }
    }
    let text = String::from_utf8(bytes).unwrap().replace("\"version\":2", "\"version\":9");
    let error = Accumulator::new(&one).merge_bytes(text.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("version is 9"), "{error}");
    let constraint = ["positive_rate(x > quantile(x, 0.5)) >= 0.1"];
    let problem = Problem::parse("hired == \"yes\"", "error()", &constraint).unwrap();
    let error = Audit::new(&problem).to_bytes().unwrap_err().to_string();
    assert!(error.contains("quantiles of `x`"), "{error}");
}

#[test]
fn rows_are_counted_from_the_first() {
    let table = people("g,y\na,true\na,false\nb,true\nb,false\n");
    let problem = Problem::parse("y", "error()", &["tpr(each g) >= 0.1"]).unwrap();
    let (bound, _) = problem.bind(&table, &[]).unwrap();
    let (good, bad) = ([0.1, 0.9, 0.4, 0.6], [0.1, 0.9, 1.4, 0.6]);
    let mut all = Accumulator::new(&bound);
    all.add(&table, None, Decisions::Probabilities(&good)).unwrap();
    let error = all.add(&table, None, Decisions::Probabilities(&bad)).unwrap_err();
    assert!(error.to_string().contains("probability of row 7 is 1.4"), "{error}");
    let weights = [1.0, -1.0, 1.0, 1.0];
    let error = all.add(&table, Some(&weights), Decisions::Probabilities(&good)).unwrap_err();
    assert!(error.to_string().contains("weight of row 6 is -1"), "{error}");
    assert_eq!(all.rows(), 4);
    assert_eq!(all.finish(0.9).unwrap().rows, 4);
    assert_eq!(all.finish(1.0).unwrap_err().kind(), ErrorKind::Settings);

    let (other, _) = Problem::parse("y", "error(g == \"a\")", &[] as &[&str])
        .unwrap()
        .bind(&table, &[])
        .unwrap();
    assert_eq!(all.merge(&Accumulator::new(&other)).unwrap_err().kind(), ErrorKind::Settings);
    // Together they are too much, though each is not.
    let mut heavy = Accumulator::new(&bound);
    for _ in 0..2 {
        heavy.add(&table, Some(&[2e34; 4]), Decisions::Probabilities(&good)).unwrap();
    }
    assert!(heavy.finish(0.9).unwrap_err().to_string().contains("add up to 1."));
}

/// "Holds on these rows" and "met" are two statements.
#[test]
fn holding_is_not_being_met() {
    let table = people(&format!("g,y\n{}", "a,true\nb,false\n".repeat(20)));
    let decided: Vec<bool> = (0..40).map(|row| row % 4 == 0).collect();
    let judged = |constraint: &str| {
        let (bound, _) =
            Problem::parse("y", "error()", &[constraint]).unwrap().bind(&table, &[]).unwrap();
        evaluate(&bound, &table, None, Decisions::Hard(&decided), 0.95).unwrap()
    };
    let found = judged("tpr() >= 0.5");
    assert!(found.holds_on_rows() && found.worst().unwrap().value() == Some(0.0));
    assert_eq!(found.verdict.to_string(), "undecided");
    let found = judged("tpr() >= 0.51");
    assert!(!found.holds_on_rows() && found.verdict.to_string() == "undecided");
    assert!(judged("tpr() >= 0.01").verdict.to_string() == "met");
}
