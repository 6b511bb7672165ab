//! Work grows with the number of columns, not with its square.
//!
//! A table of sixteen times as many columns may take sixteen times as long, and some more for caches that are too small. It
//! would take 256 times as long if each column looked its name up among all others. What is compared is the ratio of two
//! times on the same machine, the shorter of several: no machine is too slow for it.

use std::time::{Duration, Instant};

use fairgame::Threads;
use fairgame::algorithm::{Algorithm, Practical};
use fairgame::encode::{Encoder, EncoderSpec};
use fairgame::model::ModelSpec;
use fairgame::table::{Column, ReadOptions, Source, Summary, Table, Values, read};
use fairgame::train::{Recipe, Spec};

const FEW: usize = 10_000;
const MORE: usize = 16;

/// Between 16, if work grows with the number of columns, and 256, if it grows with its square.
const MOST: f64 = 90.0;

/// Refuses work on so many columns that takes far more than 16 times as long with 16 times as many.
fn grows_with_columns(work: impl Fn(usize)) {
    let time = |columns: usize| {
        let begun = Instant::now();
        work(columns);
        begun.elapsed()
    };
    let few = (0..5).map(|_| time(FEW)).min().unwrap_or_default().max(Duration::from_millis(1));
    // Once is enough, unless somebody else had the machine meanwhile.
    let ratio = |()| time(MORE * FEW).as_secs_f64() / few.as_secs_f64();
    let ratios: Vec<f64> =
        std::iter::repeat_n((), 3).map(ratio).take_while(|one| *one > MOST).collect();
    assert!(ratios.len() < 3, "{MORE} times as many columns take {ratios:?} times as long");
}

fn csv(columns: usize) -> String {
    let row =
        |value: &dyn Fn(usize) -> String| (0..columns).map(value).collect::<Vec<_>>().join(",");
    let mut text = row(&|column| format!("a_rather_long_name_{column}"));
    for number in 0..3 {
        text += "\n";
        text += &row(&|column| ((column + number) % 7).to_string());
    }
    text
}

#[test]
fn a_table_of_many_columns() {
    grows_with_columns(|columns| {
        let text = csv(columns);
        let source = || Source::stream("wide.csv", std::io::Cursor::new(text.clone()));
        // Twice, as two files of one table.
        let table = read([source(), source()], &ReadOptions::default()).expect("a table");
        assert_eq!((table.rows(), table.columns().len()), (6, columns));
        assert_eq!(Summary::of(&table, &Threads::default()).columns.len(), columns);

        let names: Vec<String> = table.columns().iter().map(|column| column.name.clone()).collect();
        let wanted = Some(names.clone());
        let some = read([source()], &ReadOptions { columns: wanted, ..ReadOptions::default() });
        assert_eq!(some.expect("all").columns().len(), columns);
        let drop = names[1..].to_vec();
        let one = read([source()], &ReadOptions { drop, ..ReadOptions::default() }).expect("one");
        assert_eq!(one.columns().len(), 1);

        let spec = EncoderSpec { ignore: names[columns / 2..].to_vec(), ..EncoderSpec::default() };
        let (encoder, _) = Encoder::fit(&spec, &table).expect("an encoder");
        assert_eq!(encoder.encode(&table).expect("features").rows(), 6);
        assert!(table.take(&[0, 1]).column(&names[columns - 1]).is_ok());
    });
}

/// A training, with rows held out that are compared with its own.
#[test]
fn a_training_on_many_columns() {
    grows_with_columns(|columns| {
        let number = |column: usize| {
            let values = (0..40).map(|row| ((column + row * row) % 7) as f64).collect();
            Column::new(format!("a_rather_long_name_{column}"), Values::Number(values))
        };
        let label = Values::Boolean((0..40).map(|row| Some(row % 3 == 0)).collect());
        let columns = (0..columns / 2).map(number).chain([Column::new("y", label)]);
        let table = Table::new(columns.collect()).expect("a table");
        let mut spec = Spec::of(Recipe::Paper, "y", &["recall() >= 0.1"]);
        spec.model = ModelSpec::Linear;
        spec.algorithm = Algorithm::Practical(Practical { turns: 2, ..Practical::default() });
        let trained = spec.train(&table).expect("a training");
        assert_eq!(trained.classifier.provenance().train.rows, 20);
    });
}

/// A square is noticed.
#[test]
#[should_panic(expected = "times as long")]
fn what_grows_with_the_square() {
    grows_with_columns(|columns| {
        let names: Vec<usize> = (0..columns / 3).collect();
        let found = names
            .iter()
            .map(|own| std::hint::black_box(&names).iter().filter(|other| *other == own).count());
        assert_eq!(found.sum::<usize>(), names.len());
    });
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
