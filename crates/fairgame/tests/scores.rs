//! Constraints over the scores of another model, which come as columns of the table.

use fairgame::classifier::{Classifier, Draw};
use fairgame::model::{ModelSpec, ScoreScale};
use fairgame::random::Stream;
use fairgame::table::{Category, Column, Table, Values};
use fairgame::train::{Data, Notice, Spec, Standing, Trained, Warning};

/// People of two groups, the true probability of their label, and what it depends on.
fn people(rows: usize, seed: u64) -> Table {
    let mut stream = Stream::new(seed, "scored people");
    let (mut skill, mut sex, mut p, mut hired) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rows {
        let (male, x) = (stream.unit() < 0.6, stream.unit());
        let odds = 6.0 * (x - 0.6) + if male { 0.8 } else { -0.8 };
        let chance = 1.0 / (1.0 + (-odds).exp());
        skill.push(x);
        sex.push(Some(if male { "m" } else { "f" }));
        p.push(chance);
        hired.push(Some(stream.unit() < chance));
    }
    Table::new(vec![
        Column::new("skill", Values::Number(skill)),
        Column::new("sex", Values::Category(Category::from_texts(sex))),
        Column::new("p", Values::Number(p)),
        Column::new("hired", Values::Boolean(hired)),
    ])
    .unwrap()
}

const RULE: &str = "positive_rate(each sex) >= 0.8 * positive_rate()";

fn spec(constraints: &[&str], columns: &[&str]) -> Spec {
    let mut spec = Spec::new("hired", constraints);
    let columns = columns.iter().map(|&column| column.to_owned()).collect();
    spec.model = ModelSpec::Scores {
        columns,
        taught: false,
        scale: ScoreScale::Probability,
        groups: Vec::new(),
    };
    spec
}

fn train(spec: &Spec, rows: &Table) -> Trained {
    spec.train(rows).unwrap()
}

/// The table with one column in the place of another, or beside all.
fn with(table: &Table, name: &str, values: Values) -> Table {
    let mut columns = table.columns().to_vec();
    columns.retain(|column| column.name != name);
    columns.push(Column::new(name, values));
    Table::new(columns).unwrap()
}

fn numbers(table: &Table, name: &str) -> Vec<f64> {
    let Values::Number(numbers) = &table.column(name).unwrap().values else { panic!("numbers") };
    numbers.clone()
}

/// One column of scores: constraints hold on new rows, the score and the group are all that is needed, a saved rule
/// decides alike, and the scores may come under another name.
#[test]
fn one_column() {
    let (rows, fresh) = (people(4_000, 1), people(20_000, 2));
    let trained = train(&spec(&[RULE], &["p"]), &rows);
    assert!(trained.enforcement.iter().all(|one| one.standing == Standing::Enforced));
    let needs = |notice: &Notice| matches!(notice, Notice::Scores { column } if column == "p");
    assert!(trained.notices.iter().any(needs), "{:?}", trained.notices);
    let classifier = &trained.classifier;
    assert_eq!(classifier.kinds().into_keys().collect::<Vec<_>>(), ["p", "sex"]);
    let losses = classifier.measure(&fresh).unwrap();
    // The best rule of the true probability has an error of about .23 under this constraint.
    assert!(losses.objective < 0.25 && losses.worst() < 0.02, "{losses:?}");

    let bytes = classifier.to_bytes().unwrap();
    let mut loaded = Classifier::from_bytes(&bytes).unwrap();
    assert_eq!(loaded.decide(&fresh).unwrap(), classifier.decide(&fresh).unwrap());
    loaded.take_scores_from("chance").unwrap();
    let renamed = with(&fresh, "chance", Values::Number(numbers(&fresh, "p")));
    assert_eq!(loaded.decide(&renamed).unwrap(), classifier.decide(&fresh).unwrap());
    let error = loaded.take_scores_from("sex").unwrap_err().to_string();
    assert!(error.contains("is a feature itself"), "{error}");
    let error = loaded.decide(&fresh.take(&[0])).err().map(|error| error.to_string());
    assert!(error.is_some_and(|error| error.contains("chance")));
}

/// Log-odds in place of probabilities decide nearly alike: both are calibrated.
#[test]
fn log_odds() {
    let rows = people(3_000, 3);
    let odds = numbers(&rows, "p").into_iter().map(|p| (p / (1.0 - p)).ln()).collect();
    let rows = with(&rows, "odds", Values::Number(odds));
    let by_p = train(&spec(&[RULE], &["p"]), &rows);
    let mut by_odds = spec(&[RULE], &["odds"]);
    let error = by_odds.train(&rows).unwrap_err().to_string();
    assert!(error.contains("which is no probability") && error.contains("log_odds"), "{error}");
    let columns = vec!["odds".to_owned()];
    by_odds.model = ModelSpec::Scores {
        columns,
        taught: false,
        scale: ScoreScale::LogOdds,
        groups: Vec::new(),
    };
    let by_odds = train(&by_odds, &rows);
    let chances = |trained: &Trained| -> Vec<f64> {
        let features = trained.classifier.encode(&rows).unwrap();
        let decided = trained.classifier.predict(&features, Draw::Features).unwrap();
        decided.into_iter().map(|one| one.probability).collect()
    };
    let apart = chances(&by_p).into_iter().zip(chances(&by_odds));
    let apart = apart.filter(|(a, b)| (a - b).abs() > 0.01).count();
    assert!(apart < 30, "{apart}");
}

/// Scores that are twice too extreme are put right by calibration, and so is their shift.
#[test]
fn calibrated() {
    let (rows, fresh) = (people(4_000, 5), people(20_000, 6));
    let spoilt = |table: &Table| {
        let spoil = |p: f64| 1.0 / (1.0 + (-(2.0 * (p / (1.0 - p)).ln() + 1.0)).exp());
        with(table, "p", Values::Number(numbers(table, "p").into_iter().map(spoil).collect()))
    };
    let constraint = ["precision() >= 0.75"];
    let honest = train(&spec(&constraint, &["p"]), &rows).classifier.measure(&fresh).unwrap();
    let spoilt = train(&spec(&constraint, &["p"]), &spoilt(&rows))
        .classifier
        .measure(&spoilt(&fresh))
        .unwrap();
    assert!((honest.objective - spoilt.objective).abs() < 0.01, "{honest:?} {spoilt:?}");
}

/// A group that is no feature is modelled from the others, so rows are decided without it.
#[test]
fn groups_that_are_not_features() {
    let (rows, fresh) = (people(4_000, 7), people(20_000, 8));
    let mut spec = spec(&["tpr(each sex) >= tpr() - 0.05"], &["p"]);
    spec.encoder.ignore = vec!["sex".to_owned()];
    let trained = train(&spec, &rows);
    assert!(!trained.classifier.kinds().contains_key("sex"));
    let losses = trained.classifier.measure(&fresh).unwrap();
    assert!(losses.worst() < 0.02, "{losses:?}");
}

/// The rows of folds are known before any model is: each judges once, and nothing that judges has taught. A model of each
/// fold then gives its own column of scores.
#[test]
fn a_column_for_each_fold() {
    let (rows, fresh) = (people(3_000, 9), people(20_000, 10));
    let plain = Spec::new("hired", &[RULE]);
    let data = Data::from(&rows);
    let folds = plain.plan(&data.shape()).unwrap().folds(data).unwrap();
    assert_eq!(folds.len(), 5);
    let mut judged: Vec<u32> = folds.iter().flat_map(|fold| fold.judge.clone()).collect();
    judged.sort_unstable();
    assert_eq!(judged, (0..3_000).collect::<Vec<u32>>());
    let names = ["s0", "s1", "s2", "s3", "s4"];
    // A model that knows the label of what it learnt from by heart, as large forests do, and little else.
    let score = |table: &Table, known: &[u32]| {
        let shifted = |p: f64| 1.0 / (1.0 + (-(p / (1.0 - p)).ln() - 1.5).exp());
        let mut scores: Vec<f64> = numbers(table, "p").into_iter().map(shifted).collect();
        let Values::Boolean(labels) = &table.column("hired").unwrap().values else { panic!() };
        for &row in known {
            scores[row as usize] = if labels[row as usize] == Some(true) { 0.999 } else { 0.001 };
        }
        Values::Number(scores)
    };
    let (mut scored, mut later) = (rows.clone(), fresh.clone());
    for (fold, name) in folds.iter().zip(names) {
        let mut all = [fold.teach.clone(), fold.aside.clone(), fold.judge.clone()].concat();
        all.sort_unstable();
        assert_eq!(all.len(), 3_000);
        all.dedup();
        assert_eq!(all.len(), 3_000);
        // It is calibrated by rows that judge other folds, by their models: so it may know all rows but those it judges.
        let known = [fold.teach.clone(), fold.aside.clone()].concat();
        scored = with(&scored, name, score(&rows, &known));
        later = with(&later, name, score(&fresh, &[]));
    }
    let trained = train(&spec(&[RULE], &names), &scored);
    let losses = trained.classifier.measure(&later).unwrap();
    let val = trained.parts.iter().find(|part| part.part == "val").unwrap();
    let seen = val.evaluation.error.unwrap();
    assert!((losses.objective - seen).abs() < 0.03 && losses.worst() < 0.03, "{losses:?} {seen}");
    // Of the true probability it is about .23; the shift alone, not put right, would cost .05.
    assert!(losses.objective < 0.25, "{losses:?}");
    let error = spec(&[RULE], &names[..3]).train(&scored).unwrap_err().to_string();
    assert!(error.contains("3 columns have scores, and there are 5 folds"), "{error}");
}

/// Scores of a few values are said to share draws.
#[test]
fn coarse_scores() {
    let rows = people(1_000, 12);
    let deciles = numbers(&rows, "p").into_iter().map(|p| (10.0 * p).round() / 10.0).collect();
    let trained = train(&spec(&[RULE], &["p"]), &with(&rows, "p", Values::Number(deciles)));
    let coarse = |notice: &Notice| matches!(notice, Notice::CoarseScores { values: 5..=11, .. });
    assert!(trained.notices.iter().any(coarse), "{:?}", trained.notices);
}

/// Scores that give the label away are told; those of an honest model are not.
#[test]
fn scores_that_know_the_label() {
    let rows = people(1_000, 13);
    let Values::Boolean(labels) = &rows.column("hired").unwrap().values else { panic!() };
    let told = numbers(&rows, "p").into_iter().zip(labels);
    let told = told.map(|(p, label)| 0.5 * p + if *label == Some(true) { 0.5 } else { 0.0 });
    let told = with(&rows, "p", Values::Number(told.collect()));
    let too_good = |trained: &Trained| {
        let warning = |one: &Warning| matches!(one, Warning::TooGood { auc, .. } if *auc > 0.99);
        trained.warnings.iter().any(warning)
    };
    assert!(too_good(&train(&spec(&[RULE], &["p"]), &told)));
    assert!(!too_good(&train(&spec(&[RULE], &["p"]), &rows)));
}

#[test]
fn refused() {
    let rows = people(500, 11);
    let refuse = |spec: &Spec, rows: &Table, said: &str| {
        let error = spec.train(rows).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    };
    let own = spec(&[RULE], &["p"]);
    let mut p = numbers(&rows, "p");
    p[41] = f64::NAN;
    refuse(&own, &with(&rows, "p", Values::Number(p.clone())), "row 42 has no score");
    p[41] = 1.5;
    refuse(&own, &with(&rows, "p", Values::Number(p)), "row 42 has the score 1.5");
    let constant = Values::Number(vec![0.5; 500]);
    refuse(&own, &with(&rows, "p", constant), "the same score in all rows");
    let mut tested = own.clone();
    tested.test_fraction = 0.5;
    let mut p = numbers(&rows, "p");
    p.iter_mut().step_by(7).for_each(|p| *p = f64::NAN);
    let error = tested.train(&with(&rows, "p", Values::Number(p))).unwrap_err().to_string();
    assert!(error.contains("has no score"), "{error}");
    refuse(&spec(&[RULE], &["q"]), &rows, "there is no column `q`");
    refuse(&spec(&[RULE], &["sex"]), &rows, "scores are numbers");
    refuse(&spec(&[RULE], &[]), &rows, "no column has the scores");
    refuse(&spec(&[RULE], &["p", "p"]), &rows, "given twice");
    let mut practical = own.clone();
    practical.algorithm = fairgame::algorithm::Algorithm::default();
    refuse(&practical, &rows, "cannot be trained by `practical`");
    // A new row without a score is an error too.
    let classifier = train(&own, &rows).classifier;
    let mut p = numbers(&rows, "p");
    p[3] = f64::NAN;
    let error = classifier.decide(&with(&rows, "p", Values::Number(p))).unwrap_err().to_string();
    assert!(error.contains("row 4 has no score"), "{error}");
}
