//! A partition is a function of the row alone: neither the order of rows, nor how they are cut into
//! tables, nor the dictionaries of these change the cell of a row.

mod common;

use common::table;
use fairgame::evaluate::{Decisions, evaluate};
use fairgame::rate::{
    Bound, Compiled, Frozen, FrozenConstraint, Losses, Partition, PartitionBuilder, Problem,
};
use fairgame::table::{
    Category, Column, Comparison, Predicate, ReadOptions, Source, Table, Value, Values, read,
};
use proptest::prelude::*;

const COMPARISONS: [Comparison; 6] = [
    Comparison::Eq,
    Comparison::Ne,
    Comparison::Lt,
    Comparison::Le,
    Comparison::Gt,
    Comparison::Ge,
];

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![(-5_i32..5).prop_map(f64::from), Just(-0.0), Just(0.3), Just(1e308)]
}

fn text() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c", "bb", "x=1", "-", "zz", ""]).prop_map(str::to_owned)
}

fn leaf() -> impl Strategy<Value = Predicate> {
    let comparison = || prop::sample::select(COMPARISONS.to_vec());
    let category = || prop::sample::select(vec!["job", "odd, name"]);
    let equality = prop::sample::select(COMPARISONS[..2].to_vec());
    prop_oneof![
        (comparison(), number()).prop_map(|(how, x)| Predicate::compare("x", how, x)),
        (category(), comparison(), text()).prop_map(|(column, how, text)| Predicate::compare(
            column,
            how,
            text.as_str()
        )),
        (category(), equality.clone(), text()).prop_map(|(column, how, text)| Predicate::compare(
            column,
            how,
            text.as_str()
        )),
        (equality, any::<bool>()).prop_map(|(how, truth)| Predicate::compare("flag", how, truth)),
        prop::collection::vec(number(), 1..4).prop_map(|values| Predicate::In {
            column: "x".to_owned(),
            values: values.into_iter().map(Value::Number).collect(),
        }),
        (category(), prop::collection::vec(text(), 1..4)).prop_map(|(column, values)| {
            let values = values.into_iter().map(Value::Text).collect();
            Predicate::In { column: column.to_owned(), values }
        }),
    ]
}

fn predicate() -> impl Strategy<Value = Predicate> {
    leaf().prop_recursive(3, 8, 3, |inner| {
        let parts = || prop::collection::vec(inner.clone(), 2..4);
        prop_oneof![
            inner.clone().prop_map(Predicate::not),
            parts().prop_map(Predicate::And),
            parts().prop_map(Predicate::Or),
        ]
    })
}

/// The text of a predicate.
fn written(predicate: &Predicate) -> String {
    let value = |value: &Value| match value {
        Value::Number(number) => format!("{number:?}"),
        Value::Text(text) => format!("\"{text}\""),
        Value::Boolean(truth) => truth.to_string(),
        Value::Quantile { .. } => unreachable!("quantiles are not drawn"),
    };
    let joined = |parts: &[Predicate], by: &str| {
        parts.iter().map(|part| format!("({})", written(part))).collect::<Vec<_>>().join(by)
    };
    match predicate {
        Predicate::Compare { column, comparison, value: with } => {
            let how = match comparison {
                Comparison::Eq => "==",
                Comparison::Ne => "!=",
                Comparison::Lt => "<",
                Comparison::Le => "<=",
                Comparison::Gt => ">",
                Comparison::Ge => ">=",
            };
            format!("`{column}` {how} {}", value(with))
        }
        Predicate::In { column, values } => {
            let values: Vec<String> = values.iter().map(value).collect();
            format!("`{column}` in [{}]", values.join(", "))
        }
        Predicate::And(parts) => joined(parts, " and "),
        Predicate::Or(parts) => joined(parts, " or "),
        Predicate::Not(part) => format!("not ({})", written(part)),
    }
}

/// A problem with this label and a group for each of the others.
fn problem(predicates: &[Predicate]) -> Bound {
    let constraints = predicates[1..].iter().map(|group| {
        let text = format!("error({}) <= 0.5", written(group));
        FrozenConstraint { name: text.clone(), text, rates: Vec::new() }
    });
    let frozen = Frozen {
        label_values: Vec::new(),
        label: written(&predicates[0]),
        objective: "error()".to_owned(),
        constraints: constraints.collect(),
    };
    frozen.thaw().unwrap()
}

fn partition(bound: &Bound, tables: &[&Table]) -> (Partition, Vec<Vec<u32>>) {
    let mut builder = PartitionBuilder::new(bound);
    let classes: Vec<Vec<u32>> = tables.iter().map(|table| builder.add(table).unwrap()).collect();
    let (partition, cell_of) = builder.finish();
    let cells = |classes: &Vec<u32>| classes.iter().map(|&class| cell_of[class as usize]).collect();
    (partition, classes.iter().map(cells).collect())
}

/// The same rows with dictionaries of their own, in another order.
fn recoded(table: &Table, rows: &[usize]) -> Table {
    let taken = table.take(rows);
    let columns = taken.columns().iter().map(|column| {
        let values = match &column.values {
            Values::Category(category) => {
                let texts: Vec<Option<&str>> = category.texts().collect();
                Values::Category(Category::from_texts(texts))
            }
            other => other.clone(),
        };
        Column::new(column.name.clone(), values)
    });
    Table::new(columns.collect()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Two rows are in the same cell if and only if they meet the same predicates, as
    /// `Predicate::evaluate` says row by row.
    #[test]
    fn cells_are_patterns(table in table(1..40), predicates in prop::collection::vec(predicate(), 1..6)) {
        let bound = problem(&predicates);
        let (partition, cells) = partition(&bound, &[&table]);
        let met: Vec<Vec<bool>> =
            predicates.iter().map(|one| one.evaluate(&table).unwrap()).collect();
        let pattern = |row: usize| -> Vec<bool> { met.iter().map(|one| one[row]).collect() };
        for a in 0..table.rows() {
            for b in 0..a {
                let (same, alike) = (cells[0][a] == cells[0][b], pattern(a) == pattern(b));
                prop_assert_eq!(same, alike, "rows {} and {}", a, b);
            }
        }
        prop_assert_eq!(partition.cells(), cells[0].iter().max().map_or(0, |last| *last as usize + 1));
    }

    /// Permuted, cut into tables with dictionaries of their own, or merged: the same partition.
    #[test]
    fn rows_in_any_order(table in table(2..40), predicates in prop::collection::vec(predicate(), 1..6),
                         order in Just((0..40).collect::<Vec<usize>>()).prop_shuffle(), cut in 0_usize..40) {
        let bound = problem(&predicates);
        let (whole, cells) = partition(&bound, &[&table]);
        let order: Vec<usize> = order.into_iter().filter(|row| *row < table.rows()).collect();
        let (first, second) = order.split_at(cut.min(order.len()));
        let tables = [recoded(&table, first), recoded(&table, second)];
        let (chunked, chunks) = partition(&bound, &[&tables[0], &tables[1]]);
        prop_assert_eq!(&chunked, &whole);
        let wanted: Vec<u32> = order.iter().map(|&row| cells[0][row]).collect();
        prop_assert_eq!(chunks.concat(), wanted);

        let mut a = PartitionBuilder::new(&bound);
        a.add(&tables[1]).unwrap();
        let mut b = PartitionBuilder::new(&bound);
        let classes = b.add(&tables[0]).unwrap();
        let moved = a.merge(&b).unwrap();
        let (merged, cell_of) = a.finish();
        prop_assert_eq!(&merged, &whole);
        for (class, &row) in classes.iter().zip(first) {
            prop_assert_eq!(cell_of[moved[*class as usize] as usize], cells[0][row]);
        }
    }

    /// Written and read back, a partition assigns the same cells; also to rows whose codes it has not
    /// seen, if they meet predicates that it has seen together.
    #[test]
    fn assigned(train in table(1..40), later in table(1..40), predicates in prop::collection::vec(predicate(), 1..4)) {
        let bound = problem(&predicates);
        let (made, cells) = partition(&bound, &[&train]);
        let text = serde_json::to_string(&made).unwrap();
        let read: Partition = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&read, &made);
        prop_assert_eq!(&read.assign(&train).unwrap(), &cells[0]);

        let patterns = |table: &Table| -> Vec<Vec<bool>> {
            let met: Vec<Vec<bool>> =
                predicates.iter().map(|one| one.evaluate(table).unwrap()).collect();
            (0..table.rows()).map(|row| met.iter().map(|one| one[row]).collect()).collect()
        };
        let known = patterns(&train);
        let wanted = patterns(&later).into_iter().map(|pattern| {
            known.iter().position(|one| *one == pattern).map(|row| cells[0][row])
        });
        let wanted: Vec<Option<u32>> = wanted.collect();
        match wanted.iter().position(Option::is_none) {
            None => {
                let wanted: Vec<u32> = wanted.into_iter().flatten().collect();
                prop_assert_eq!(read.assign(&later).unwrap(), wanted);
            }
            Some(row) => {
                let message = read.assign(&later).unwrap_err().to_string();
                let first = format!("row {} meets", row + 1);
                prop_assert!(message.starts_with(&first), "{}", message);
            }
        }
    }
}

/// Tables that a problem is compiled for share one partition, which fits the problem as it is kept in a
/// file, also where groups were left out.
#[test]
fn tables_share_a_partition() {
    let table = |csv: &str| {
        let source = Source::stream("x.csv", std::io::Cursor::new(csv.to_owned().into_bytes()));
        read([source], &ReadOptions::default()).unwrap()
    };
    let train = table("g,x,y\nb,1,true\na,2,false\na,5,true\nc,4,true\nb,3,false\n");
    let val = table("g,x,y\na,9,true\nb,1,false\nb,1,true\na,0,false\nc,7,true\n");
    let constraints = ["fpr(each g) <= 0.5", "tpr(x > median(x)) >= 0.1"];
    let problem = Problem::parse("y", "error()", &constraints).unwrap().skip_empty_groups();
    let binding = problem.compile(&train, &[(&val).into()]).unwrap();
    assert_eq!((binding.bound.constraints().len(), binding.notices.len()), (3, 1));
    let thawed = binding.bound.frozen().thaw().unwrap();
    for (table, compiled) in [&train, &val].into_iter().zip(&binding.tables) {
        assert_eq!(binding.partition.assign(table).unwrap(), compiled.cells());
        assert_eq!(compiled.losses().weights().iter().sum::<f64>(), table.rows() as f64);
        let (cells, partition) = (compiled.cells().to_vec(), &binding.partition);
        let again = Compiled::new(&thawed, partition, cells, None).unwrap();
        assert_eq!(again.losses(), compiled.losses());
    }
    let beyond = vec![binding.partition.cells() as u32];
    let error = Compiled::new(&thawed, &binding.partition, beyond, None).unwrap_err();
    assert!(error.to_string().contains("is none of the"), "{error}");
}

/// A file from before rates were listed shows them as its constraint's name has them.
#[test]
fn rates_are_shown_as_written() {
    let train = Table::new(vec![
        Column::new("x", Values::Number(vec![1.0, 2.0, 3.0])),
        Column::new("y", Values::Boolean(vec![Some(true), Some(false), Some(true)])),
    ])
    .unwrap();
    let problem = Problem::parse("y", "error()", &["tpr(x >= median(x)) >= 0.5"]).unwrap();
    let mut frozen = problem.bind(&train, &[]).unwrap().0.frozen();
    assert_eq!(frozen.constraints[0].text, "tpr(x >= 2) >= 0.5");
    assert_eq!(frozen.constraints[0].rates, ["tpr(x >= median(x))"]);
    let shown = |frozen: &Frozen| {
        let decisions = Decisions::Hard(&[true, false, true]);
        let found = evaluate(&frozen.thaw().unwrap(), &train, None, decisions, 0.9).unwrap();
        found.constraints[0].rates[0].text.clone()
    };
    assert_eq!(shown(&frozen), "tpr(x >= median(x))");
    frozen.constraints[0].rates.clear();
    assert_eq!(shown(&frozen), "tpr(x >= median(x))");
}

/// A partition of another problem, or one that was tampered with, is refused.
#[test]
fn what_does_not_fit_is_refused() {
    let table = Table::new(vec![Column::new("x", Values::Number(vec![1.0, 2.0, 3.0]))]).unwrap();
    let bound = |at: f64| problem(&[Predicate::compare("x", Comparison::Gt, at)]);
    let (made, _) = partition(&bound(1.5), &[&table]);
    assert_eq!(made.cells(), 2);
    Losses::new(&bound(1.5), &made, &[1.0, 2.0], &[1, 2]).unwrap();
    let error = Losses::new(&bound(2.5), &made, &[1.0, 2.0], &[1, 2]).unwrap_err();
    assert!(error.to_string().contains("another problem"), "{error}");
    let error = Losses::new(&bound(1.5), &made, &[1.0], &[1]).unwrap_err();
    assert!(error.to_string().contains("for 2 cells"), "{error}");
    let mut builder = PartitionBuilder::new(&bound(1.5));
    builder.merge(&PartitionBuilder::new(&bound(2.5))).unwrap_err();

    // Of a table that lacks a column, nothing is added.
    let groups = ["x", "z"].map(|column| Predicate::compare(column, Comparison::Gt, 1.5));
    let mut builder = PartitionBuilder::new(&problem(&groups));
    let empty = builder.clone().finish().0;
    builder.add(&table).unwrap_err();
    assert_eq!(builder.finish().0, empty);

    let text = serde_json::to_string(&made).unwrap();
    assert!(text.contains("[[[0,1],[0,3]]]"), "{text}");
    for damaged in ["[[[0,3],[0,1]]]", "[[[0,1],[0,4]]]", "[[[0,1],[1,3]]]", "[]"] {
        let text = text.replace("[[[0,1],[0,3]]]", damaged);
        serde_json::from_str::<Partition>(&text).unwrap_err();
    }

    let text = Column::new("x", Values::Category(Category::from_texts([Some("a")])));
    let error = made.assign(&Table::new(vec![text]).unwrap()).unwrap_err().to_string();
    assert!(error.contains("cannot be compared with the number 1.5"), "{error}");
}
