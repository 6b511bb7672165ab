//! Work grows with the number of columns, not with its square: counted in comparisons of names, by the clock of nobody.
//!
//! A table of 200,000 columns takes seconds where each of them looks its name up among all others (2·10¹⁰ comparisons
//! take more than ten), and is not noticed where it does not.

use fairgame::Threads;
use fairgame::algorithm::{Algorithm, Practical};
use fairgame::encode::{Encoder, EncoderSpec};
use fairgame::model::ModelSpec;
use fairgame::table::{Column, ReadOptions, Source, Summary, Table, Values, read};
use fairgame::train::{Recipe, Spec};

const COLUMNS: usize = 200_000;

fn csv() -> String {
    let row =
        |value: &dyn Fn(usize) -> String| (0..COLUMNS).map(value).collect::<Vec<_>>().join(",");
    let mut text = row(&|column| format!("a_rather_long_name_{column}"));
    for number in 0..3 {
        text += "\n";
        text += &row(&|column| ((column + number) % 7).to_string());
    }
    text
}

#[test]
fn a_table_of_many_columns() {
    let text = csv();
    let source = || Source::stream("wide.csv", std::io::Cursor::new(text.clone()));
    // Twice, as two files of one table.
    let table = read([source(), source()], &ReadOptions::default()).expect("a table");
    assert_eq!((table.rows(), table.columns().len()), (6, COLUMNS));
    assert_eq!(Summary::of(&table, &Threads::default()).columns.len(), COLUMNS);

    let names: Vec<String> = table.columns().iter().map(|column| column.name.clone()).collect();
    let columns = Some(names.clone());
    let some = read([source()], &ReadOptions { columns, ..ReadOptions::default() }).expect("all");
    assert_eq!(some.columns().len(), COLUMNS);
    let drop = names[1..].to_vec();
    let one = read([source()], &ReadOptions { drop, ..ReadOptions::default() }).expect("one");
    assert_eq!(one.columns().len(), 1);

    let spec = EncoderSpec { ignore: names[COLUMNS / 2..].to_vec(), ..EncoderSpec::default() };
    let (encoder, _) = Encoder::fit(&spec, &table).expect("an encoder");
    assert_eq!(encoder.encode(&table).expect("features").rows(), 6);
    assert!(table.take(&[0, 1]).column(&names[COLUMNS - 1]).is_ok());
}

/// A training, with rows held out that are compared with its own.
#[test]
fn a_training_on_many_columns() {
    let number = |column: usize| {
        let values = (0..40).map(|row| ((column + row * row) % 7) as f64).collect();
        Column::new(format!("a_rather_long_name_{column}"), Values::Number(values))
    };
    let label = Values::Boolean((0..40).map(|row| Some(row % 3 == 0)).collect());
    let columns = (0..COLUMNS / 2).map(number).chain([Column::new("y", label)]);
    let table = Table::new(columns.collect()).expect("a table");
    let mut spec = Spec::of(Recipe::Paper, "y", &["recall() >= 0.1"]);
    spec.model = ModelSpec::Linear;
    spec.algorithm = Algorithm::Practical(Practical { turns: 2, ..Practical::default() });
    let trained = spec.train(&table).expect("a training");
    assert_eq!(trained.classifier.provenance().train.rows, 20);
}

/// The index of names is right after every way to make a table of another.
#[test]
fn columns_are_found_by_name() {
    let column = |name: &str, value: f64| Column::new(name, Values::Number(vec![value, -value]));
    let table = Table::new(vec![column("b", 1.0), column("a", 2.0)]).expect("a table");
    for table in [table.clone(), table.take(&[1, 0]), table.filter(&[true, true])] {
        assert_eq!(table.column("a").expect("it is there").name, "a");
        assert_eq!(table.column("b").expect("it is there").name, "b");
        assert!(table.column("c").is_err());
    }
    assert!(Table::new(vec![column("a", 1.0), column("a", 2.0)]).is_err());
}
