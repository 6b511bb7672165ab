//! What is no promise, and what has to be done for one: rows that are copies, rows that judge and have taught, draws that
//! rows share, and groups of too few rows.

use fairgame::model::ModelSpec;
use fairgame::model::trees::TreesSpec;
use fairgame::random::Stream;
use fairgame::table::{Column, Table, Values};
use fairgame::train::{Data, Spec, Standing, Trained, Warning};

/// Rows of four numbers, of which `values` are different, two groups, and a label that the first two tell.
fn people(rows: usize, values: usize, seed: u64) -> Table {
    let mut stream = Stream::new(seed, "people");
    let mut columns: [Vec<f64>; 4] = Default::default();
    let (mut group, mut label, mut id) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..rows {
        for column in &mut columns {
            column.push((stream.unit() * values as f64).floor() / values as f64);
        }
        let member = stream.unit() < 0.4;
        let odds = 4.0 * (columns[0][row] + columns[1][row] - 1.2) - if member { 0.7 } else { 0.0 };
        group.push(Some(member));
        label.push(Some(stream.unit() < 1.0 / (1.0 + (-odds).exp())));
        id.push((seed as usize * rows + row) as f64);
    }
    let mut all: Vec<Column> = columns
        .into_iter()
        .enumerate()
        .map(|(at, numbers)| Column::new(format!("x{at}"), Values::Number(numbers)))
        .collect();
    all.push(Column::new("member", Values::Boolean(group)));
    all.push(Column::new("y", Values::Boolean(label)));
    all.push(Column::new("id", Values::Number(id)));
    Table::new(all).unwrap()
}

fn spec(constraint: &str) -> Spec {
    let mut spec = Spec::new("y", &[constraint]);
    spec.model = ModelSpec::Trees(TreesSpec { trees: 40, ..TreesSpec::default() });
    spec.encoder.ignore = vec!["id".to_owned()];
    let fairgame::classifier::Selection::Shrink(shrink) = &mut spec.selection else { panic!() };
    shrink.margin = fairgame::classifier::Margin::Confidence(0.95);
    spec
}

fn without_id(table: &Table) -> Table {
    let kept = table.columns().iter().filter(|column| column.name != "id");
    Table::new(kept.cloned().collect()).unwrap()
}

fn train_on(spec: &Spec, rows: &Table, val: Option<&Table>) -> Trained {
    let data = Data::from(rows).with_val(val);
    spec.plan(&data.shape()).unwrap().run(data, &mut ()).unwrap().trained().unwrap()
}

fn why_not(trained: &Trained) -> String {
    let not = trained.warnings.iter().find(|one| matches!(one, Warning::NotPromised { .. }));
    not.map(ToString::to_string).unwrap_or_default()
}

/// Rows that were copied teach nothing that judges them: the floor holds on new rows, though each row is there thrice.
#[test]
fn copies_stay_together() {
    let mut spec = spec("recall() >= 0.8");
    spec.objective = "fpr()".to_owned();
    spec.encoder.ignore.clear();
    let new = without_id(&people(20_000, 1 << 20, 99));
    let mut broken = 0;
    for seed in 0..6 {
        let plain = without_id(&people(700, 1 << 20, seed));
        let thrice = plain.take(&(0..2100).map(|row| row % 700).collect::<Vec<_>>());
        let trained = train_on(&spec, &thrice, None);
        assert!(
            trained.notices.iter().any(|one| one.to_string().contains("never apart")),
            "{:?}",
            trained.notices
        );
        let worst = trained.classifier.measure(&new).unwrap().worst();
        broken += usize::from(trained.standing() == Standing::Promised && worst > 0.0);
    }
    // Before they did, all six were broken, by .2 on average. At 5 % two of six are broken in 3 % of all cases.
    assert!(broken <= 1, "{broken} of 6");
}

/// Validation rows that are training rows, or of the same people, promise nothing.
#[test]
fn validation_rows_that_taught() {
    let spec = spec("recall() >= 0.7");
    let (rows, apart) = (people(1500, 1 << 20, 1), people(1500, 1 << 20, 2));
    assert_eq!(train_on(&spec, &rows, Some(&apart)).standing(), Standing::Promised);
    let trained = train_on(&spec, &rows, Some(&rows));
    assert_ne!(trained.standing(), Standing::Promised);
    assert!(why_not(&trained).contains("also training rows"), "{}", why_not(&trained));
    let some = rows.take(&(0..150).chain(0..150).collect::<Vec<_>>());
    let mixed: Vec<Column> = apart
        .columns()
        .iter()
        .zip(some.columns())
        .map(|(a, b)| {
            let values = match (&a.values, &b.values) {
                (Values::Number(a), Values::Number(b)) => Values::Number([&a[..], &b[..]].concat()),
                (Values::Boolean(a), Values::Boolean(b)) => {
                    Values::Boolean([&a[..], &b[..]].concat())
                }
                _ => unreachable!("there are no others"),
            };
            Column::new(a.name.clone(), values)
        })
        .collect();
    let trained = train_on(&spec, &rows, Some(&Table::new(mixed).unwrap()));
    assert_ne!(trained.standing(), Standing::Promised, "a sixth of the rows have taught");

    let mut by_unit = spec.clone();
    by_unit.unit = Some("id".to_owned());
    assert_eq!(train_on(&by_unit, &rows, Some(&apart)).standing(), Standing::Promised);
    let mut columns: Vec<Column> = apart.columns().to_vec();
    *columns.last_mut().unwrap() = rows.columns().last().unwrap().clone();
    let same_people = Table::new(columns).unwrap();
    assert_ne!(train_on(&by_unit, &rows, Some(&same_people)).standing(), Standing::Promised);
}

/// Test rows that are training rows are said to be.
#[test]
fn test_rows_that_taught() {
    let spec = spec("recall() >= 0.7");
    let rows = people(1000, 1 << 20, 3);
    let data = Data::from(&rows).with_test(Some(&rows));
    let trained = spec.plan(&data.shape()).unwrap().run(data, &mut ()).unwrap().trained().unwrap();
    let said = trained.warnings.iter().any(|one| one.to_string().contains("1000 test rows"));
    assert!(said, "{:?}", trained.warnings);
}

/// The spread of 0.9·P(positive) − P(positive | member) where all rows with equal features are decided by one draw,
/// beyond that of a draw for each row: found pattern by pattern.
fn spread_of(trained: &Trained, rows: &Table) -> f64 {
    let chances = trained.classifier.decide(rows).unwrap();
    let number = |name: &str, row: usize| match &rows.column(name).unwrap().values {
        Values::Number(numbers) => numbers[row].to_bits(),
        Values::Boolean(truths) => u64::from(truths[row].unwrap()),
        Values::Category(_) => unreachable!("there is none"),
    };
    let members = (0..rows.rows()).filter(|&row| number("member", row) == 1).count() as f64;
    let mut patterns: std::collections::HashMap<[u64; 3], (f64, f64, f64)> = Default::default();
    for (row, decided) in chances.iter().enumerate() {
        let key = ["x0", "x1", "member"].map(|name| number(name, row));
        let one = 0.9 / rows.rows() as f64 - if key[2] == 1 { 1.0 / members } else { 0.0 };
        let (sum, square, chance) = patterns.entry(key).or_default();
        (*sum, *square, *chance) = (*sum + one, *square + one * one, decided.probability);
    }
    let variance = patterns.values().map(|(sum, square, p)| p * (1.0 - p) * (sum * sum - square));
    variance.sum::<f64>().sqrt()
}

/// Where a few different rows are all there are, a draw decides many people at once: nothing is promised of that.
#[test]
fn draws_that_rows_share() {
    let spec = spec("positive_rate(member) >= 0.9 * positive_rate()");
    let coarse = |seed: u64| {
        let mut columns = without_id(&people(4000, 2, seed)).columns().to_vec();
        columns.drain(2..4);
        Table::new(columns).unwrap()
    };
    let mut spec = spec;
    spec.encoder.ignore.clear();
    let trained = train_on(&spec, &coarse(5), None);
    assert_ne!(trained.standing(), Standing::Promised);
    let shared = trained.warnings.iter().find_map(|one| match one {
        Warning::SharedDraws { spread, .. } => Some(*spread),
        _ => None,
    });
    let spread = shared.expect("eight different rows share draws");
    assert!((0.005..0.3).contains(&spread), "{spread}");
    let expected = spread_of(&trained, &coarse(5));
    assert!((spread - expected).abs() < 1e-6, "{spread}, {expected}");
    let fine = train_on(&spec, &without_id(&people(4000, 1 << 20, 5)), None);
    assert!(!fine.warnings.iter().any(|one| matches!(one, Warning::SharedDraws { .. })));
    assert_eq!(fine.standing(), Standing::Promised);
}

/// A gate's margin may be much larger than a promise needs: it is one if it covers the draws, and is never called smaller.
#[test]
fn a_large_margin_covers_draws() {
    let mut promised = 0;
    for (values, seed) in [(4, 5), (6, 5), (8, 5), (12, 5), (8, 6), (12, 6)] {
        let mut columns = without_id(&people(4000, values, seed)).columns().to_vec();
        columns.drain(2..4);
        let rows = Table::new(columns).unwrap();
        let mut spec = spec("positive_rate(member) >= 0.8 * positive_rate()");
        spec.encoder.ignore.clear();
        let fairgame::classifier::Selection::Shrink(shrink) = &mut spec.selection else { panic!() };
        shrink.margin =
            fairgame::classifier::Margin::Gate { confidence: 0.95, rows: 500, chance: 0.8 };
        let trained = train_on(&spec, &rows, None);
        let spread = spread_of(&trained, &rows);
        promised += usize::from(trained.standing() == Standing::Promised && spread > 0.004);
        let why = why_not(&trained);
        assert!(!why.contains("smaller than"), "{why}");
    }
    assert!(promised > 0);
}

/// A group with five positive rows: that parts of it say nothing is said, and not that the constraint is violated.
#[test]
fn groups_of_too_few_rows() {
    let rows = people(600, 1 << 20, 7);
    let Values::Boolean(label) = &rows.column("y").unwrap().values else { panic!() };
    let mut left = 5;
    let tiny = label.iter().map(|y| {
        let tiny = *y == Some(true) && left > 0;
        left -= usize::from(tiny);
        Some(tiny)
    });
    let tiny = Column::new("tiny", Values::Boolean(tiny.collect()));
    let rows = Table::new(rows.columns().iter().cloned().chain([tiny]).collect()).unwrap();
    let mut spec = spec("tpr(tiny) >= 0.6");
    spec.encoder.ignore.push("tiny".to_owned());
    let trained = train_on(&spec, &rows, None);
    let one = &trained.enforcement[0];
    assert_eq!((one.optimism, one.standing), (None, Standing::Enforced), "{one:?}");
    assert!(why_not(&trained).contains("so few rows"), "{}", why_not(&trained));
}
