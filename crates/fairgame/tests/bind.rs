//! A problem that is bound to training rows means the same on every later table; what these rows cannot
//! give, a group or a classifier, is said when it is bound.

use fairgame::rate::{Problem, Tally, Weighted, tally_scores};
use fairgame::table::Table;

fn people(csv: &str) -> Table {
    let source =
        fairgame::table::Source::stream("x.csv", std::io::Cursor::new(csv.to_owned().into_bytes()));
    fairgame::table::read([source], &fairgame::table::ReadOptions::default()).unwrap()
}

/// Bound to one table, a problem means the same on another: medians and groups stay those of training.
#[test]
fn meaning_is_frozen_on_training_rows() {
    let train = people("age,job,label\n10,a,true\n20,b,false\n30,a,false\n40,b,true\n");
    let later = people("age,job,label\n24,a,true\n26,c,true\n99,c,false\n1,b,true\n2,b,false\n");
    let constraints = ["positive_rate(age > median(age)) <= 0.5", "positive_rate(each job) <= 0.9"];
    let problem = Problem::parse("label", "error()", &constraints).unwrap();
    let (bound, _) = problem.bind(&train, &[]).unwrap();
    // The median is 25, and `c` is no group.
    assert_eq!(bound.constraints().len(), 3);
    let compiled = bound.compile(&later, None).unwrap();
    let mut tally = Tally::new(compiled.losses().cells());
    tally_scores(compiled.cells(), None, &[1.0, 1.0, -1.0, -1.0, -1.0], None, &mut tally);
    let values = compiled.losses().exact(&tally).constraints;
    for (value, wanted) in values.iter().zip([0.0, 0.1, -0.9]) {
        assert!((value - wanted).abs() < 1e-12, "{values:?}");
    }
    // A group that a later table lacks is named, and its loss is no number.
    let lacking = bound.compile(&later.take(&[3, 4]), None).unwrap();
    let empty: Vec<(usize, &str)> = lacking.empty_constraints().collect();
    assert_eq!(empty[0].0, 0);
    assert_eq!(empty[1], (1, "no row has job == \"a\""));
    assert!(lacking.losses().exact(&Tally::new(lacking.losses().cells())).constraints[1].is_nan());
}

/// Weights decide what can be met and what is empty.
#[test]
fn weights_count_when_a_problem_is_bound() {
    let table = people("g,label\na,true\na,false\na,true\nb,true\n");
    let bind = |constraint: &str, weights: &[f32]| {
        let problem = Problem::parse("label", "error()", &[constraint]).unwrap();
        problem.bind(Weighted { table: &table, weights: Some(weights) }, &[]).map(|_| ())
    };
    let gap = "positive_rate() - positive_rate(g == \"a\") >= 0.5";
    assert!(bind(gap, &[1.0; 4]).unwrap_err().to_string().contains("no classifier can meet"));
    bind(gap, &[1.0, 1.0, 1.0, 9.0]).unwrap();
    let message = bind("tpr(g == \"b\") >= 0.5", &[1.0, 1.0, 1.0, 0.0]).unwrap_err().to_string();
    assert!(message.contains("has weight 0"), "{message}");
}

/// Only the groups of an `each` may be left out, not what stands beside them.
#[test]
fn only_the_groups_of_an_each_are_left_out() {
    let table = people("g,label\na,true\na,false\nb,true\n");
    let bind = |constraint: &str| {
        let problem = Problem::parse("label", "error()", &[constraint]).unwrap();
        problem.skip_empty_groups().bind(&table, &[])
    };
    let (bound, notices) = bind("fpr(each g) <= 0.5").unwrap();
    assert_eq!((bound.constraints().len(), notices.len()), (1, 1));
    assert!(bind("tpr(each g) >= tpr(g == \"a\" and g == \"b\")").is_err());
}

/// What no classifier can meet is said, however small the numbers, and for ratios too.
#[test]
fn what_cannot_be_met_is_said() {
    let table = people("g,label\na,true\na,false\nb,true\nb,false\n");
    let bind = |objective: &str, constraint: &str| {
        Problem::parse("label", objective, &[constraint])
            .unwrap()
            .bind(&table, &[])
            .map(|bound| bound.1)
    };
    for constraint in [
        "1e-10 * tpr() >= 2e-10",
        "precision() >= 1.2",
        "precision() <= -0.1",
        "f1() >= 1.01",
        "0 * precision() >= 0.5",
        "tpr() / fpr() <= -1",
    ] {
        let error = bind("error()", constraint).unwrap_err().to_string();
        assert!(error.contains("no classifier can meet"), "{constraint}: {error}");
    }
    assert_eq!(bind("error()", "1e-10 * tpr() <= 2e-10").unwrap().len(), 1);
    assert_eq!(bind("error()", "precision() >= 1").unwrap().len(), 0);
    let error = bind("1e308 * error() + 1e308 * error()", "tpr() >= 0.5").unwrap_err();
    assert!(error.to_string().contains("too large"), "{error}");
}
