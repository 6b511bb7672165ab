//! Leaks, identifiers and protected columns are found: on the shipped data those that are there and no others, and on
//! generated tables a leak of each kind.

use fairgame::Threads;
use fairgame::preset::PAPER;
use fairgame::random::mix;
use fairgame::rate::Policy;
use fairgame::table::{Category, Column, ReadOptions, Source, Table, Values, read};
use fairgame::train::{Checks, Finding, Notice, Spec, check_data};

fn shipped(name: &str) -> Table {
    read([Source::parse(name).unwrap()], &ReadOptions::default()).unwrap()
}

fn found(spec: &Spec, table: &Table) -> Vec<Finding> {
    check_data(spec, table, &Threads::all()).unwrap()
}

/// The columns that are left out, and those that are protected.
fn columns(found: &[Finding]) -> (Vec<&str>, Vec<&str>) {
    let out = found.iter().filter_map(Finding::left_out).collect();
    let protected = found.iter().filter_map(|one| match one {
        Finding::Protected { columns } => Some(columns.iter().map(String::as_str)),
        _ => None,
    });
    (out, protected.flatten().collect())
}

#[test]
fn the_shipped_data() {
    let adult = shipped("@adult");
    let found_there = found(&Spec::new::<&str>("income == \">50K\"", &[]), &adult);
    let protected = vec!["age", "marital_status", "race", "sex", "native_country"];
    assert_eq!(columns(&found_there), (vec![], protected));
    assert!(!found_there.iter().any(Finding::is_serious), "{found_there:?}");

    let compas = shipped("@compas");
    let found_there = found(&Spec::new::<&str>("two_year_recid == 1", &[]), &compas);
    let (out, protected) = columns(&found_there);
    assert_eq!(out, ["is_recid"]);
    assert!(matches!(&found_there[0], Finding::Leak { error, .. } if *error < 0.05));
    assert!(protected.contains(&"race") && protected.contains(&"sex"), "{protected:?}");

    let communities = shipped("@communities");
    let label = "ViolentCrimesPerPop > quantile(ViolentCrimesPerPop, 0.7)";
    let found_there = found(&Spec::new::<&str>(label, &[]), &communities);
    let (out, protected) = columns(&found_there);
    assert_eq!(out, ["communityname"]);
    assert!(protected.iter().all(|name| name.starts_with("race") || name.starts_with("age")));
}

/// What the paper's problems ask for has no leak, no identifier, and no small group; protected features are wanted.
#[test]
fn the_presets() {
    for preset in PAPER {
        let policy = Policy::find(preset.name).unwrap();
        let mut spec = Spec::new(policy.label, policy.constraints);
        spec.encoder = preset.encoder();
        spec.features = preset.protected().map(str::to_owned).collect();
        let table = preset.prepare(1).unwrap().train.table;
        let findings = found(&spec, &table);
        assert_eq!(findings, [], "{}", preset.name);
    }
}

/// A thousand rows: numbers that say something of the label, one that says nothing, and a group.
fn people(rows: usize) -> (Vec<bool>, Vec<Column>) {
    let draw =
        |row: usize, salt: u64| (mix(row as u64 ^ salt << 32) >> 11) as f64 / (1_u64 << 53) as f64;
    let skill: Vec<f64> = (0..rows).map(|row| draw(row, 1)).collect();
    let label: Vec<bool> = (0..rows).map(|row| skill[row] + draw(row, 2) > 1.2).collect();
    let noise = (0..rows).map(|row| draw(row, 3)).collect();
    let group = (0..rows).map(|row| Some(["a", "b"][row % 2]));
    let columns = vec![
        Column::new("skill", Values::Number(skill)),
        Column::new("noise", Values::Number(noise)),
        Column::new("team", Values::Category(Category::from_texts(group))),
        Column::new("hired", Values::Boolean(label.iter().map(|one| Some(*one)).collect())),
    ];
    (label, columns)
}

#[test]
fn a_leak_of_each_kind() {
    let rows = 1000;
    let (label, columns_before) = people(rows);
    let spec = Spec::new::<&str>("hired", &[]);
    let base = Table::new(columns_before.clone()).unwrap();
    assert_eq!(columns(&found(&spec, &base)), (vec![], vec![]));
    let flip = |row: usize, every: usize| label[row] != row.is_multiple_of(every);
    let number = |of: &dyn Fn(usize) -> f64| Values::Number((0..rows).map(of).collect());
    let text = |of: &dyn Fn(usize) -> Option<&'static str>| {
        Values::Category(Category::from_texts((0..rows).map(of)))
    };
    let kinds: Vec<(&str, Values)> = vec![
        ("complement", Values::Boolean(label.iter().map(|one| Some(!one)).collect())),
        ("code", number(&|row| if label[row] { 7.0 } else { 3.0 })),
        (
            "several codes",
            text(&|row| {
                Some(if label[row] { ["x", "y"][row % 2] } else { ["u", "v", "w"][row % 3] })
            }),
        ),
        ("nearly", Values::Boolean((0..rows).map(|row| Some(flip(row, 50))).collect())),
        ("cut from", number(&|row| row as f64 / 1e4 + if label[row] { 5.0 } else { 2.0 })),
        (
            "in the middle",
            number(&|row| {
                if label[row] { 0.0 } else { [-1.0, 1.0][row % 2] * (1.0 + (row % 5) as f64) }
            }),
        ),
        ("missing", number(&|row| if label[row] { row as f64 % 17.0 } else { f64::NAN })),
        ("missing text", text(&|row| label[row].then_some(["a", "b", "c"][row % 3]))),
    ];
    for (name, values) in kinds {
        let mut all = columns_before.clone();
        all.push(Column::new(name, values));
        let table = Table::new(all).unwrap();
        let findings = found(&spec, &table);
        assert!(
            matches!(&findings[..], [Finding::Leak { column, .. }] if column == name),
            "{name}: {findings:?}"
        );
        let told = findings[0].to_string();
        assert!(told.contains("gives the label away") && told.contains("--feature"), "{told}");
        // Training leaves it out, unless it is insisted on.
        let trained = spec.train(&table).unwrap();
        assert!(!trained.classifier.feature_columns().iter().any(|one| one == name));
        assert!(
            trained.notices.iter().any(|one| matches!(one, Notice::Checked(Finding::Leak { .. })))
        );
        assert_eq!(trained.classifier.record().unwrap().unwrap().findings, findings);
        let insists = Spec { features: vec![name.to_owned()], ..spec.clone() };
        let trained = insists.train(&table).unwrap();
        assert!(trained.classifier.feature_columns().iter().any(|one| one == name));
        let tells = Spec { checks: Checks::Tell, ..spec.clone() };
        let trained = tells.train(&table).unwrap();
        assert!(trained.classifier.feature_columns().iter().any(|one| one == name));
    }
    // One flip in six is no leak: a good feature.
    let mut all = columns_before;
    all.push(Column::new(
        "good",
        Values::Boolean((0..rows).map(|row| Some(flip(row, 6))).collect()),
    ));
    assert_eq!(columns(&found(&spec, &Table::new(all).unwrap())), (vec![], vec![]));
}

#[test]
fn identifiers_and_rows() {
    let rows = 500;
    let (_, before) = people(rows);
    let spec = Spec::new::<&str>("hired", &["tpr(each team) >= 0.5"]);
    let texts: Vec<String> = (0..rows).map(|row| format!("p{}", mix(row as u64))).collect();
    let names = Values::Category(Category::from_texts(texts.iter().map(|one| Some(one.as_str()))));
    let numbered = Values::Number((0..rows).map(|row| 20_000.0 + row as f64).collect());
    let keys = Values::Number((0..rows).map(|row| (mix(row as u64) >> 20) as f64).collect());
    for (name, values, is_one) in [
        ("name", names, true),
        ("row", numbered, true),
        ("customer_id", keys.clone(), true),
        // A whole number that is different in every row may be an amount.
        ("balance", keys, false),
    ] {
        let mut all = before.clone();
        all.push(Column::new(name, values));
        let table = Table::new(all).unwrap();
        let findings = found(&spec, &table);
        let (out, protected) = columns(&findings);
        assert_eq!(out, if is_one { vec![name] } else { vec![] });
        assert_eq!(protected, ["team"]);
        let insists = Spec { features: vec![name.to_owned()], ..spec.clone() };
        assert_eq!(columns(&found(&insists, &table)).0, [] as [&str; 0]);
    }
    // Copies, one label, few rows.
    let table = Table::new(before).unwrap();
    let twice: Vec<usize> = (0..rows).chain(0..rows).collect();
    let copied = Finding::Copies { rows };
    assert!(found(&spec, &table.take(&twice)).contains(&copied));
    let few: Vec<usize> = (0..60).collect();
    let small = |one: &Finding| matches!(one, Finding::SmallGroup { rows, .. } if *rows < 30);
    assert_eq!(found(&spec, &table.take(&few)).iter().filter(|one| small(one)).count(), 2);
    let one = Spec::new::<&str>("skill < 2", &[]);
    assert!(found(&one, &table).contains(&Finding::OneLabel { positive: true }));
    // Mistakes.
    let wrong = Spec { features: vec!["skil".to_owned()], ..spec.clone() };
    let error = check_data(&wrong, &table, &Threads::all()).unwrap_err().to_string();
    assert!(error.contains("did you mean `skill`?"), "{error}");
    let mut both = Spec { features: vec!["skill".to_owned()], ..spec };
    both.encoder.ignore.push("skill".to_owned());
    let error = both.train(&table).unwrap_err().to_string();
    assert!(error.contains("is to be ignored, and is to be a feature"), "{error}");
}
