//! The paper's problems, by name, on the paper's data.

use fairgame::rate::{POLICIES, Policy, Problem, Tally, tally_scores};
use fairgame::table::{ReadOptions, Source, Table, read};

fn shipped(name: &str) -> Table {
    read([Source::parse(name).unwrap()], &ReadOptions::default()).unwrap()
}

#[test]
fn every_policy_parses() {
    for policy in POLICIES {
        policy.problem().unwrap_or_else(|error| panic!("{}: {error}", policy.name));
        assert_eq!(Policy::find(policy.name).unwrap(), policy);
    }
    assert_eq!(Policy::find("@adlt").unwrap_err().advice(), Some("did you mean `@adult`?"));
}

/// Name, constraints, and the losses of deciding every row positive: error, then each constraint.
#[test]
fn deciding_every_row_positive() {
    // Every rate is 1, so the constraints are 0.8 · 1 − 1, 1 − 1 − 0.05, and 1 − 1.
    let cases = [
        ("@adult", 4, 24_720.0 / 32_561.0, -0.2),
        ("@compas", 4, 3_963.0 / 7_214.0, -0.05),
        ("@communities", 8, 1_410.0 / 1_993.0, 0.0),
    ];
    for (name, constraints, error, loss) in cases {
        let table = shipped(name);
        let problem = Policy::find(name).unwrap().problem().unwrap();
        let (bound, notices) = problem.bind(&table, &[]).unwrap();
        assert!(notices.is_empty(), "{notices:?}");
        let compiled = bound.compile(&table, None).unwrap();
        let losses = compiled.losses();
        assert_eq!(losses.constraints(), constraints);
        let mut tally = Tally::new(losses.cells());
        tally_scores(compiled.cells(), None, &vec![1.0; table.rows()], None, &mut tally);
        let values = losses.exact(&tally);
        assert!((values.objective - error).abs() < 1e-12, "{name}: {}", values.objective);
        assert!(values.constraints.iter().all(|value| (value - loss).abs() < 1e-12), "{name}");
    }
}

/// Entity resolution: 16 countries, chains, others, and the gap: 19 constraints.
#[test]
fn entities_are_nineteen_constraints() {
    let mut csv = String::from("country,chain,same\n");
    for row in 0..640 {
        csv += &format!("country {},{},{}\n", row % 16, row % 3 == 0, row % 5 < 2);
    }
    let source = Source::stream("entities.csv", std::io::Cursor::new(csv.into_bytes()));
    let table = read([source], &ReadOptions::default()).unwrap();
    let problem = Policy::find("entities").unwrap().problem().unwrap();
    let (bound, _) = problem.bind(&table, &[]).unwrap();
    assert_eq!(bound.constraints().len(), 19);
    assert_eq!(bound.constraints()[0].name(), "recall(country == \"country 0\") >= 0.95");
}

#[test]
fn the_names_of_constraints_are_constraints() {
    let table = shipped("@adult");
    let problem = Problem::parse(
        "income == \">50K\"",
        "0.7 * error() + 0.3 * fnr(age < median(age))",
        &[
            "positive_rate(each sex) >= 0.8 * positive_rate()",
            "fpr(each [race, sex] where age < 30) <= 1.2 * fpr()",
            "0.1 <= positive_rate() <= 0.9",
            "tpr(sex == \"Male\") == tpr(sex == \"Female\") within 0.05",
            "precision() >= 0.7",
            "f1(age >= 25) >= 0.3",
            "positive_rate(sex == \"Female\") / positive_rate(sex == \"Male\") >= 0.8",
        ],
    )
    .unwrap();
    let (bound, _) = problem.bind(&table, &[]).unwrap();
    assert_eq!(bound.constraints().len(), 2 + 10 + 2 + 2 + 3);
    for constraint in bound.constraints() {
        let again = Problem::parse("income == \">50K\"", "error()", &[constraint.name()]).unwrap();
        let (again, _) = again.bind(&table, &[]).unwrap();
        assert_eq!(again.constraints()[0].name(), constraint.name());
    }
}
