//! The curve of a model file is what trainings of their own come to at those bounds.

use fairgame::classifier::{Margin, Selection};
use fairgame::random::mix;
use fairgame::table::{Kind, ReadOptions, Source, Table, read};
use fairgame::train::{Spec, trade_off};

fn adult() -> Table {
    let table = read([Source::parse("@adult").unwrap()], &ReadOptions::default()).unwrap();
    let rows: Vec<usize> = (0..table.rows()).filter(|row| row % 2 == 0).collect();
    table.take(&rows)
}

fn spec(slack: f64) -> Spec {
    let rule = format!("positive_rate(each sex) >= 0.8 * positive_rate() - {}", 0.05 + slack);
    Spec::new("income == \">50K\"", &[rule])
}

#[test]
fn points_are_those_of_fresh_trainings() {
    let table = adult();
    let trained = spec(0.0).train(&table).unwrap();
    let slacks = [-0.05, -0.04, -0.03, -0.02, -0.01, 0.0, 0.01, 0.02, 0.03, 0.04];
    let found = trade_off(&trained.classifier, None, &slacks).unwrap();
    assert_eq!(found.points.len(), slacks.len());
    for point in &found.points {
        let fresh = spec(point.slack).train(&table).unwrap();
        let evaluation = fresh.enforced().unwrap();
        let own = evaluation.objective.measurement.estimate().unwrap().value
            + fresh.mixture.optimism.as_ref().map_or(0.0, |optimism| optimism.objective);
        let interval = point.interval.unwrap();
        assert!(point.feasible && interval.contains(own), "{point:?}: {own}");
        // Nearer than the interval says: the rows are the same.
        assert!((point.estimate.unwrap() - own).abs() < 0.002, "{point:?}: {own}");
    }
    // Looser bounds cost no more.
    let values: Vec<f64> = found.points.iter().map(|point| point.objective.unwrap()).collect();
    assert!(values.is_sorted_by(|a, b| *a >= b - 1e-9), "{values:?}");
    // At its own bounds it is the classifier.
    let own = trained.mixture.val.objective;
    assert!((values[5] - own).abs() < 5e-4, "{} {own}", values[5]);
    // Of one constraint, the other stays.
    let one = trade_off(&trained.classifier, Some(0), &[0.0, 0.02]).unwrap();
    assert_eq!(one.constraint.as_deref(), Some(trained.classifier.bound().constraints()[0].name()));
    assert!(one.points[1].losses[1] <= 1e-6, "{one:?}");
    // It is in the file.
    let again =
        fairgame::classifier::Classifier::from_bytes(&trained.classifier.to_bytes().unwrap());
    assert_eq!(trade_off(&again.unwrap(), None, &slacks).unwrap(), found);
    // What cannot be had is said.
    let tight = trade_off(&trained.classifier, None, &[-0.6]).unwrap();
    assert!(!tight.points[0].feasible && tight.points[0].objective.is_none());
    for (which, slacks) in [(Some(9), &[0.0][..]), (None, &[]), (None, &[f64::NAN])] {
        assert!(trade_off(&trained.classifier, which, slacks).is_err());
    }
    let mut forgetful = trained.classifier.clone();
    forgetful.forget();
    assert!(trade_off(&forgetful, None, &[0.0]).unwrap_err().to_string().contains("does not keep"));
}

/// Rows of so many groups, whose label depends on a number.
fn groups(rows: u64, groups: u64) -> Table {
    let mut csv = String::from("g,x,y\n");
    for row in 0..rows {
        let draw = mix(row);
        let (g, x) = (draw % groups, (draw >> 20 & 1023) as f64 / 1023.0);
        let shift = 0.4 * (g as f64 / groups as f64 - 0.5);
        let noise = (draw >> 40 & 1023) as f64 / 1023.0;
        let y = x + shift + noise > 1.0;
        csv += &format!("{g},{x},{}\n", if y { "yes" } else { "no" });
    }
    let mut options = ReadOptions::default();
    options.kinds.insert("g".to_owned(), Kind::Category);
    read([Source::stream("g.csv", std::io::Cursor::new(csv))], &options).unwrap()
}

/// With many constraints a file has room for few sums: the mixture's own columns are among them.
#[test]
fn many_constraints_at_their_own_bounds() {
    let table = groups(12_000, 60);
    let rules = ["tpr(each g) >= 0.53", "positive_rate(each g) <= 0.72"];
    let trained = Spec::new("y == \"yes\"", &rules).train(&table).unwrap();
    assert_eq!(trained.classifier.bound().constraints().len(), 120);
    let candidates = trained.classifier.candidates().unwrap();
    assert!(candidates.parts > 1 && candidates.sums.len() <= 1 << 18, "{}", candidates.parts);
    let found = trade_off(&trained.classifier, None, &[0.0]).unwrap();
    let (own, at) = (trained.mixture.val.objective, found.points[0].objective.unwrap());
    assert!((own - at).abs() < 1e-3, "{own} {at}");
}

/// Where the margin that was asked for is infeasible, looser bounds have more of it, as a training of their own has.
#[test]
fn margins_that_were_reduced() {
    let table = groups(6_000, 3);
    let spec = |slack: f64| {
        let bound = 0.005 + slack;
        let mut spec = Spec::new("y == \"yes\"", &[format!("fpr(each g) <= fpr() + {bound}")]);
        if let Selection::Shrink(shrink) = &mut spec.selection {
            shrink.margin = Margin::Confidence(0.95);
        }
        spec
    };
    let trained = spec(0.0).train(&table).unwrap();
    assert!(trained.enforcement.iter().any(|one| one.margin < 0.9 * one.asked), "feasible");
    let slacks = [0.0, 0.05, 0.1];
    let found = trade_off(&trained.classifier, None, &slacks).unwrap();
    for point in &found.points {
        let fresh = spec(point.slack).train(&table).unwrap();
        let own = fresh.mixture.val.objective
            + fresh.mixture.optimism.as_ref().map_or(0.0, |optimism| optimism.objective);
        assert!((point.estimate.unwrap() - own).abs() < 0.006, "{point:?}: {own}");
    }
}
