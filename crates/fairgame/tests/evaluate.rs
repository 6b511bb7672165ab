//! Evaluations are what their definitions say: values by hand and by the losses of training, intervals by hand,
//! and what must not change them does not. How well intervals cover is in `coverage.rs`.

mod common;

use fairgame::ErrorKind;
use fairgame::algorithm::{Algorithm, Practical};
use fairgame::classifier::Draw;
use fairgame::evaluate::{
    Decisions, Estimate, Evaluation, Measurement, Verdict, evaluate, rows_needed,
};
use fairgame::rate::{Bound, Problem, Tally, tally_scores};
use fairgame::table::{Column, ReadOptions, Source, Table, Values, read};
use fairgame::train::{Datasets, Spec};
use proptest::prelude::*;

fn people(csv: &str) -> Table {
    let source = Source::stream("people.csv", std::io::Cursor::new(csv.to_owned().into_bytes()));
    read([source], &ReadOptions::default()).unwrap()
}

fn bind<S: AsRef<str>>(table: &Table, constraints: &[S]) -> Bound {
    Problem::parse("y", "error()", constraints).unwrap().bind(table, &[]).unwrap().0
}

fn estimate(measurement: &Measurement) -> Estimate {
    measurement.estimate().unwrap()
}

fn near(found: f64, wanted: f64) {
    assert!((found - wanted).abs() < 1e-9, "{found} is not {wanted}");
}

/// Eight people, two groups of four, with a decision each.
fn eight() -> (Table, [bool; 8]) {
    let csv = "g,y\na,true\na,true\na,false\na,false\nb,true\nb,false\nb,false\nb,false\n";
    (people(csv), [true, false, true, false, true, true, false, false])
}

/// Rates, losses and intervals, worked out by hand.
#[test]
fn by_hand() {
    let (table, decisions) = eight();
    let constraints = [
        "positive_rate(g == \"a\") <= positive_rate(g == \"b\") + 0.1",
        "precision() >= 0.4",
        "tpr(g == \"b\") >= 0.3",
        "f1() >= 0.5",
    ];
    let bound = bind(&table, &constraints);
    // So that each of the four constraints alone has 95 %.
    let found = evaluate(&bound, &table, None, Decisions::Hard(&decisions), 0.8).unwrap();
    assert_eq!(found.rows, 8);
    near(estimate(&found.objective.measurement).value, 3.0 / 8.0);

    // Both rates are 2/4: V = 2·(1/4)/4 = 1/8, with 3 + 3 degrees of freedom; t₆ = 2.446911851. What unseen rows
    // could do is less: they would have to be more than all rows of their group.
    let loss = estimate(&found.constraints[0].measurement);
    near(loss.value, -0.1);
    near(loss.interval.high, -0.1 + 2.446_911_851_144_969 * 0.125_f64.sqrt());
    near(loss.interval.low, -0.1 - 2.446_911_851_144_969 * 0.125_f64.sqrt());
    let rates = &found.constraints[0].rates;
    let texts: Vec<&str> = rates.iter().map(|rate| rate.text.as_str()).collect();
    assert_eq!(texts, ["positive_rate(g == \"a\")", "positive_rate(g == \"b\")"]);
    assert!(rates.iter().all(|rate| rate.rows == 4 && estimate(&rate.measurement).value == 0.5));

    // Of 4 decided positive, 2 are: 0.4·4/8 − 2/8.
    near(estimate(&found.constraints[1].measurement).value, -0.05);
    let precision = &found.constraints[1].rates[0];
    assert_eq!((precision.text.as_str(), precision.rows), ("precision()", 4));
    near(estimate(&precision.measurement).value, 0.5);

    // The one positive of group b is decided so: Clopper and Pearson's lower end is 0.025.
    let recall = estimate(&found.constraints[2].measurement);
    near(recall.value, 0.3 - 1.0);
    near(recall.interval.low, -0.7);
    near(recall.interval.high, 0.3 - 0.025);
    assert_eq!(found.constraints[2].rates[0].rows, 1);

    // 2·2 / (4 + 3), of the 5 who are positive or decided so.
    let f1 = &found.constraints[3].rates[0];
    near(estimate(&f1.measurement).value, 4.0 / 7.0);
    assert_eq!(f1.rows, 5);
    assert_eq!(found.verdict, Verdict::Undecided);
}

/// A single rate has Clopper and Pearson's interval, from tables of it.
#[test]
fn hard_decisions_have_the_exact_interval() {
    let table = people(&format!("y,x\n{}", "true,1\nfalse,2\n".repeat(5)));
    let bound = bind(&table, &["positive_rate() <= 0.7"]);
    for (positive, low, high) in
        [(0, 0.0, 0.308_497_1), (3, 0.066_739_5, 0.652_452_9), (10, 0.691_502_9, 1.0)]
    {
        let decisions: Vec<bool> = (0..10).map(|row| row < positive).collect();
        let found = evaluate(&bound, &table, None, Decisions::Hard(&decisions), 0.95).unwrap();
        let rate = estimate(&found.constraints[0].rates[0].measurement);
        assert!((rate.interval.low - low).abs() < 1e-7, "{rate:?}");
        assert!((rate.interval.high - high).abs() < 1e-7, "{rate:?}");
        // One constraint of one rate: its loss is the rate, moved.
        let loss = estimate(&found.constraints[0].measurement);
        near(loss.interval.high, rate.interval.high - 0.7);
    }
}

/// Where nothing varies, the interval is as wide as unseen rows could make it.
#[test]
fn agreement_is_not_certainty() {
    let table = people(&format!("g,y\n{}{}", "a,true\n".repeat(10), "b,false\n".repeat(10)));
    let gap = "positive_rate(g == \"a\") <= positive_rate(g == \"b\") + 0.4";
    let bound = bind(&table, &[gap]);
    let chances = [0.3; 20];
    let decisions = Decisions::Probabilities(&chances);
    let found = evaluate(&bound, &table, None, decisions, 0.95).unwrap();
    // η = z²/(n + z²), of the way from 0.3 to either end.
    let eta = 3.841_458_820_694_124 / 13.841_458_820_694_124;
    let rate = estimate(&found.constraints[0].rates[0].measurement);
    near(rate.interval.low, 0.3 - 0.3 * eta);
    near(rate.interval.high, 0.3 + 0.7 * eta);
    // η = t²/(n + t²) with t₉ = 2.2621571628.
    let t2 = 2.262_157_162_798_205_5_f64.powi(2);
    let loss = estimate(&found.constraints[0].measurement);
    near(loss.interval.high, -0.4 + 0.7 * t2 / (10.0 + t2));
    assert_eq!(found.verdict, Verdict::Met);
}

/// The whole of them: violated before undecided before met.
#[test]
fn verdicts() {
    let table = people(&format!("g,y\n{}{}", "a,true\n".repeat(100), "b,false\n".repeat(100)));
    let judged = |constraints: &[&str]| {
        let bound = bind(&table, constraints);
        let decisions: Vec<bool> = (0..200).map(|row| row % 2 == 0).collect();
        evaluate(&bound, &table, None, Decisions::Hard(&decisions), 0.95).unwrap()
    };
    let (met, violated, open) =
        ("tpr() <= 0.8", "tpr() >= 0.8", "positive_rate(g == \"a\") <= positive_rate() + 0.01");
    assert_eq!(judged(&[met]).verdict, Verdict::Met);
    assert_eq!(judged(&[]).verdict, Verdict::Met);
    assert_eq!(judged(&[met, open]).verdict, Verdict::Undecided);
    let all = judged(&[met, violated, open]);
    assert_eq!(all.verdict, Verdict::Violated);
    let each: Vec<String> = all.constraints.iter().map(|c| c.verdict.to_string()).collect();
    assert_eq!(each, ["met", "violated", "undecided"]);
    // What cannot be violated is met, whatever the rows.
    assert_eq!(judged(&["tpr() - fpr() <= 1"]).verdict, Verdict::Met);
}

/// A group with no rows, or nothing decided positive: no number, and the reason.
#[test]
fn nothing_to_measure_is_undecided() {
    let (table, _) = eight();
    let constraints =
        ["tpr(g == \"a\") >= tpr(g == \"b\") - 0.1", "precision() >= 0.3", "fpr() <= 0.9"];
    let bound = bind(&table, &constraints);
    let later = table.take(&[5, 6, 7]);
    let found = evaluate(&bound, &later, None, Decisions::Hard(&[false; 3]), 0.95).unwrap();
    let first = &found.constraints[0];
    assert_eq!(first.verdict, Verdict::Undecided);
    let reasons: Vec<_> = first.rates.iter().map(|rate| rate.measurement.reason()).collect();
    let none = "none of the 3 rows with g == \"b\" is positive";
    assert_eq!(reasons, [Some("no row has g == \"a\""), Some(none)]);
    assert!(reasons.contains(&first.measurement.reason()));
    // A precision of nothing is met where it is enforced, but nothing is known of it.
    let precision = &found.constraints[1];
    near(estimate(&precision.measurement).value, 0.0);
    assert_eq!(precision.verdict, Verdict::Undecided);
    let reason = precision.rates[0].measurement.reason();
    assert_eq!(reason, Some("nothing is decided positive"));
    assert_eq!(found.verdict, Verdict::Undecided);

    let none = table.take(&[]);
    let found = evaluate(&bound, &none, None, Decisions::Hard(&[]), 0.95).unwrap();
    assert_eq!(found.objective.measurement.reason(), Some("there is no row"));
    let weightless = evaluate(&bound, &later, Some(&[0.0; 3]), Decisions::Hard(&[true; 3]), 0.9);
    let weightless = weightless.unwrap();
    let reason = weightless.objective.measurement.reason().unwrap();
    assert_eq!(reason, "every row that counts here has weight 0");
    let json = serde_json::to_value(&weightless).unwrap();
    assert_eq!(json["objective"]["reason"], reason);
    assert_eq!(json["verdict"], "undecided");
}

/// As JSON, a number and its interval stand beside the name.
#[test]
fn json() {
    let (table, decisions) = eight();
    let bound = bind(&table, &["fpr() <= 0.9"]);
    let found = evaluate(&bound, &table, None, Decisions::Hard(&decisions), 0.95).unwrap();
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["confidence"], 0.95);
    let constraint = &json["constraints"][0];
    assert_eq!(constraint["name"], "fpr() <= 0.9");
    assert_eq!(constraint["rates"][0]["rows"], 5);
    assert_eq!(constraint["rates"][0]["value"], 0.4);
    assert!(constraint["interval"]["low"].as_f64() < constraint["value"].as_f64());
}

/// Bad input is refused, and says where.
#[test]
fn bad_input() {
    let (table, decisions) = eight();
    let bound = bind(&table, &["fpr() <= 0.9"]);
    let fail = |weights: Option<&[f32]>, decisions: Decisions<'_>, confidence: f64| {
        let error = evaluate(&bound, &table, weights, decisions, confidence).unwrap_err();
        (error.kind(), error.message())
    };
    let hard = Decisions::Hard(&decisions);
    for confidence in [0.0, 1.0, -1.0, 95.0, f64::NAN] {
        let wanted = format!("the confidence is {confidence}, which is not between 0.01 and 1");
        assert_eq!(fail(None, hard, confidence), (ErrorKind::Settings, wanted));
    }
    let value = |message: &str| (ErrorKind::Value, message.to_owned());
    let few = Decisions::Hard(&decisions[..7]);
    assert_eq!(fail(None, few, 0.95), value("7 decisions are given for 8 rows"));
    for (wrong, shown) in [(1.5, "1.5"), (-0.1, "-0.1"), (f64::NAN, "NaN")] {
        let mut chances = [0.5; 8];
        chances[2] = wrong;
        let wanted = format!("the probability of row 3 is {shown}, which is not between 0 and 1");
        assert_eq!(fail(None, Decisions::Probabilities(&chances), 0.95), value(&wanted));
    }
    // Sums of chances that should be 1 or 0 are so but for rounding.
    let with = |p: f64| evaluate(&bound, &table, None, Decisions::Probabilities(&[p; 8]), 0.95);
    assert_eq!(with(1.000_000_000_000_000_2).unwrap(), with(1.0).unwrap());
    assert_eq!(with(-1e-17).unwrap(), with(0.0).unwrap());
    assert_eq!(fail(Some(&[1.0; 3]), hard, 0.95), value("3 weights are given for 8 rows"));
    let weights = [1.0, 1.0, -2.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    assert_eq!(fail(Some(&weights), hard, 0.95), value("the weight of row 3 is -2"));
}

/// A classifier is evaluated through its chances, and so is the problem of its file.
#[test]
fn classifiers() {
    let mut csv = String::from("age,hired\n");
    for row in 0..200 {
        let age = 20 + row * 7 % 40;
        csv += &format!("{age},{}\n", if (age + row * 13 % 17) > 45 { "yes" } else { "no" });
    }
    let table = people(&csv);
    let median = "positive_rate(age > median(age)) <= 0.6";
    let mut spec = Spec::paper("hired == \"yes\"", &["recall() >= 0.8", median]);
    spec.algorithm = Algorithm::Practical(Practical { turns: 300, ..Practical::default() });
    spec.datasets = Datasets::One;
    let classifier = spec.train(&table).unwrap().classifier;
    let found = classifier.evaluate(&table, None, 0.9).unwrap();

    let features = classifier.encode(&table).unwrap();
    let predictions = classifier.predict(&features, Draw::Features).unwrap();
    let chances: Vec<f64> = predictions.iter().map(|one| one.probability).collect();
    let decisions = Decisions::Probabilities(&chances);
    assert_eq!(evaluate(classifier.bound(), &table, None, decisions, 0.9).unwrap(), found);
    let losses = classifier.measure(&table).unwrap();
    near(estimate(&found.objective.measurement).value, losses.objective);
    near(estimate(&found.constraints[1].measurement).value, losses.constraints[1]);

    let mut thawed = classifier.bound().frozen().thaw().unwrap();
    let again = evaluate(&thawed, &table, None, decisions, 0.9).unwrap();
    assert_eq!(again.constraints, found.constraints);
    assert_eq!(again.constraints[1].rates[0].text, "positive_rate(age > median(age))");
    thawed = thawed.frozen().thaw().unwrap();
    assert_eq!(evaluate(&thawed, &table, None, decisions, 0.9).unwrap(), again);
}

/// Constraints of one, of several and of many rates, over groups that overlap.
const CONSTRAINTS: [&str; 9] = [
    "tpr(flag) >= 0.5",
    "positive_rate(flag) <= positive_rate() + 0.1",
    "error(job == \"a\") - fpr(y < 0) <= 1",
    "precision(y < 200000) >= 0.5",
    "f1() >= 0.2",
    "churn(flag, y > 0) + accuracy() >= 0.2",
    "positive_rate(flag) / positive_rate(y < 0) <= 2",
    "0.5 * tnr() + fnr(flag) - 2 * recall(y < 0) <= 2",
    "error(flag) + error(job == \"a\") + error(job == \"b\") + error(y < 0) + error(y < 100000) \
     + churn(flag, y < 300000) + error(y < -100000) - 3 * error() <= 5",
];

/// The problem on a random table with a label, where all groups have rows.
fn random(table: &Table, label: &[bool]) -> Option<(Bound, Table)> {
    let mut columns = table.columns().to_vec();
    let label = label[..table.rows()].iter().map(|&label| Some(label)).collect();
    columns.push(Column::new("label", Values::Boolean(label)));
    let table = Table::new(columns).unwrap();
    let problem = Problem::parse("label", "error(flag) + fpr()", &CONSTRAINTS).unwrap();
    Some((problem.bind(&table, &[]).ok()?.0, table))
}

fn estimates(found: &Evaluation) -> Vec<f64> {
    let rates = found.constraints.iter().flat_map(|constraint| &constraint.rates);
    let rates = rates.map(|rate| &rate.measurement);
    let losses = found.constraints.iter().map(|constraint| &constraint.measurement);
    let all = std::iter::once(&found.objective.measurement).chain(losses).chain(rates);
    all.flat_map(|measurement| match measurement.estimate() {
        Some(Estimate { value, interval }) => [value, interval.low, interval.high],
        None => [-9.0; 3],
    })
    .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    /// Losses are those of training; booleans are chances of 0 and 1; scaled weights and another order of
    /// rows change nothing; every interval has its value within, and a width.
    #[test]
    fn invariances(
        table in common::table(25..60),
        rows in prop::collection::vec((any::<bool>(), any::<bool>(), 0_u8..5, 0.0..=1.0_f64), 60),
        order in Just((0..60).collect::<Vec<usize>>()).prop_shuffle(),
        scale in -20..20_i32,
    ) {
        let label: Vec<bool> = rows.iter().map(|row| row.0).collect();
        let Some((bound, table)) = random(&table, &label) else {
            return Err(TestCaseError::reject("a group is empty"));
        };
        let rows = &rows[..table.rows()];
        let decided: Vec<bool> = rows.iter().map(|row| row.1).collect();
        let weights: Vec<f32> = rows.iter().map(|row| f32::from(row.2) / 2.0).collect();
        let chances: Vec<f64> = rows.iter().map(|row| row.3).collect();
        let with = |decisions| evaluate(&bound, &table, Some(&weights), decisions, 0.9).unwrap();

        let hard = with(Decisions::Hard(&decided));
        let as_chances: Vec<f64> = decided.iter().map(|&d| if d { 1.0 } else { 0.0 }).collect();
        prop_assert_eq!(&with(Decisions::Probabilities(&as_chances)), &hard);

        let compiled = bound.compile(&table, Some(&weights)).unwrap();
        let mut tally = Tally::new(compiled.losses().cells());
        let scores: Vec<f32> = decided.iter().map(|&d| if d { 1.0 } else { -1.0 }).collect();
        tally_scores(compiled.cells(), Some(&weights), &scores, None, &mut tally);
        let losses = compiled.losses().exact(&tally);
        for (constraint, loss) in hard.constraints.iter().zip(losses.constraints) {
            match constraint.measurement.estimate() {
                Some(estimate) => prop_assert!((estimate.value - loss).abs() < 1e-9),
                None => prop_assert!(loss.is_nan()),
            }
        }

        let soft = with(Decisions::Probabilities(&chances));
        for found in [&hard, &soft] {
            for three in estimates(found).chunks(3).filter(|three| three[0] != -9.0) {
                prop_assert!(three[1] <= three[0] && three[0] <= three[2] && three[1] < three[2], "{three:?}");
            }
        }
        let scaled: Vec<f32> = weights.iter().map(|weight| weight * 2.0_f32.powi(scale)).collect();
        let decisions = Decisions::Probabilities(&chances);
        prop_assert_eq!(&evaluate(&bound, &table, Some(&scaled), decisions, 0.9).unwrap(), &soft);

        let order: Vec<usize> = order.into_iter().filter(|&row| row < table.rows()).collect();
        let moved_weights: Vec<f32> = order.iter().map(|&row| weights[row]).collect();
        let moved: Vec<f64> = order.iter().map(|&row| chances[row]).collect();
        let decisions = Decisions::Probabilities(&moved);
        let again = evaluate(&bound, &table.take(&order), Some(&moved_weights), decisions, 0.9).unwrap();
        prop_assert_eq!(&again, &soft);
    }
}

/// As many rows as are said to decide a constraint decide it, and half as many do not.
#[test]
fn rows_that_would_decide_do() {
    // 9 of 20 are decided positive, however many rows there are.
    let judged = |rows: usize, constraint: &str| {
        let table = people(&format!("y\n{}", "true\n".repeat(rows)));
        let decisions: Vec<bool> = (0..rows).map(|row| row % 20 < 9).collect();
        evaluate(&bind(&table, &[constraint]), &table, None, Decisions::Hard(&decisions), 0.95)
            .unwrap()
    };
    for (constraint, verdict) in
        [("tpr() <= 0.5", Verdict::Met), ("tpr() >= 0.5", Verdict::Violated)]
    {
        let found = judged(200, constraint);
        let needed = found.constraints[0].rows_to_decide.unwrap();
        assert!((380..=440).contains(&needed) && needed % 10 == 0, "{needed}");
        assert_eq!(found.rows_to_decide(), Some(needed));
        assert_eq!(found.margin_to_meet().unwrap(), "gate:95%@200");
        // Clopper and Pearson's interval falls a little slower than 1/√n.
        let decided = judged((needed as usize * 21 / 20).next_multiple_of(20), constraint);
        assert_eq!(decided.verdict, verdict, "{needed}");
        assert_eq!((decided.rows_to_decide(), decided.margin_to_meet()), (None, None));
        let half = judged((needed as usize / 2).next_multiple_of(20), constraint);
        assert_eq!(half.verdict, Verdict::Undecided);
    }
    // Exactly at the bound, no number of rows decides.
    let found = judged(200, "tpr() >= 0.45");
    assert_eq!((found.verdict, found.rows_to_decide()), (Verdict::Undecided, None));
    assert!(found.margin_to_meet().is_some());
}

/// How many rows a rate needs is reckoned in effective rows, and never below the rows there are.
#[test]
fn rows_to_know_are_effective() {
    let table = people(&format!("y\n{}", "true\n".repeat(40)));
    let bound = bind(&table, &["tpr() >= 0.5"]);
    let decisions: Vec<bool> = (0..40).map(|row| row / 4 % 2 == 0).collect();
    let needed = |weights: Option<&[f32]>| {
        let found = evaluate(&bound, &table, weights, Decisions::Hard(&decisions), 0.95).unwrap();
        let rate = found.constraints[0].rates[0].clone();
        (rate.effective_rows, rate.rows_to_know(0.95, 0.2).unwrap())
    };
    let (effective, alike) = needed(None);
    assert_eq!((effective.round(), alike), (40.0, rows_needed(0.5, 40, 0.95, 0.2)));
    // A quarter of the rows counts ten times as much: 13²·10 / (3·1 + 1·100), and as many rows more.
    let weights: Vec<f32> = (0..40).map(|row| if row % 4 < 3 { 1.0 } else { 10.0 }).collect();
    let (effective, uneven) = needed(Some(&weights));
    assert!((effective - 1690.0 / 103.0).abs() < 1e-9, "{effective}");
    assert!(uneven > 2 * alike, "{uneven}");
    // What is known already needs no fewer rows than there are.
    let known = evaluate(&bound, &table, None, Decisions::Hard(&[true; 40]), 0.95).unwrap();
    assert!(known.constraints[0].rates[0].rows_to_know(0.95, 0.9).unwrap() >= 40);
}
