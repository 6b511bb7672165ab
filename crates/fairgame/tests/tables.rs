//! A table written in any format reads back equal, and predicates mean what they say.

mod common;

use common::table;
use fairgame::table::{
    Comparison, Format, Kind, Predicate, ReadOptions, Source, Table, Value, Values, read, write,
};
use proptest::prelude::*;

fn csv(text: &'static str, options: &ReadOptions) -> fairgame::Result<Table> {
    read([Source::stream("test.csv", text.as_bytes())], options)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn round_trip(table in table(1..50)) {
        let folder = tempfile::tempdir().unwrap();
        let options = ReadOptions {
            kinds: table.columns().iter().map(|c| (c.name.clone(), c.values.kind())).collect(),
            ..ReadOptions::default()
        };
        // JSON lines are written only.
        for format in Format::ALL.into_iter().filter(|&format| format != Format::JsonLines) {
            let path = folder.path().join(format!("table.{format}"));
            write(&table, &path, format).unwrap();
            let back = read([Source::Path(path)], &options).unwrap();
            prop_assert_eq!(&back, &table, "{}", format);
        }
    }

    /// Several files in a row are one table.
    #[test]
    fn several_files(table in table(2..40), cut in any::<prop::sample::Index>()) {
        let folder = tempfile::tempdir().unwrap();
        let cut = 1 + cut.index(table.rows() - 1);
        let rows: Vec<usize> = (0..table.rows()).collect();
        let (first, second) = (folder.path().join("1.csv"), folder.path().join("2.parquet"));
        write(&table.take(&rows[..cut]), &first, Format::Csv).unwrap();
        write(&table.take(&rows[cut..]), &second, Format::Parquet).unwrap();
        let options = ReadOptions {
            kinds: table.columns().iter().map(|c| (c.name.clone(), c.values.kind())).collect(),
            ..ReadOptions::default()
        };
        prop_assert_eq!(&read([Source::Path(folder.path().into())], &options).unwrap(), &table);
    }

    /// Predicates agree with their definition, row by row.
    #[test]
    fn predicates(table in table(1..40), threshold in common::number()) {
        let Values::Number(x) = &table.column("x").unwrap().values else { unreachable!() };
        let Values::Category(job) = &table.column("job").unwrap().values else { unreachable!() };
        let below = Predicate::compare("x", Comparison::Lt, threshold);
        let is_a = Predicate::compare("job", Comparison::Eq, "a");
        let either = below.clone().or(is_a.clone()).evaluate(&table).unwrap();
        let both = below.clone().and(is_a.clone().not()).evaluate(&table).unwrap();
        let among = Predicate::In {
            column: "job".into(),
            values: vec![Value::from("a"), Value::from("never seen")],
        };
        prop_assert_eq!(among.evaluate(&table).unwrap(), is_a.evaluate(&table).unwrap());
        for (row, text) in job.texts().enumerate() {
            prop_assert_eq!(either[row], x[row] < threshold || text == Some("a"));
            prop_assert_eq!(both[row], x[row] < threshold && text != Some("a"));
        }
    }
}

#[test]
fn kinds_come_from_content() {
    let table = csv(
        "n,b,c,id,mixed,zip\n1,true,x,12345678901234567890,1,2139\n\
         -2.5,FALSE,y,12345678901234567891,a,02139\n?,,na,NULL,,\n",
        &ReadOptions::default(),
    )
    .unwrap();
    let kinds: Vec<Kind> = table.columns().iter().map(|column| column.values.kind()).collect();
    use Kind::{Boolean, Category, Number};
    assert_eq!(kinds, [Number, Boolean, Category, Category, Category, Category]);
    assert!(table.columns().iter().all(|column| column.values.missing() == 1));
}

#[test]
fn missing_comparisons_are_false() {
    let table = csv("x,c\n1,a\n,\n", &ReadOptions::default()).unwrap();
    for comparison in [Comparison::Eq, Comparison::Ne, Comparison::Le, Comparison::Gt] {
        assert!(!Predicate::compare("x", comparison, 1.0).evaluate(&table).unwrap()[1]);
        assert!(!Predicate::compare("c", comparison, "a").evaluate(&table).unwrap()[1]);
    }
}

#[test]
fn quantiles_are_frozen_on_training_rows() {
    let train = csv("x\n1\n2\n3\n10\n", &ReadOptions::default()).unwrap();
    let later = csv("x\n2.4\n2.6\n100\n", &ReadOptions::default()).unwrap();
    let median = Value::Quantile { column: "x".into(), level: 0.5 };
    let above = Predicate::compare("x", Comparison::Gt, median);
    assert!(above.evaluate(&later).is_err(), "not frozen");
    assert_eq!(above.freeze(&train).unwrap().evaluate(&later).unwrap(), [false, true, true]);
}

#[test]
fn predicates_refuse_other_kinds() {
    let table = csv("age,job\n1,a\n2,b\n", &ReadOptions::default()).unwrap();
    let message = |predicate: Predicate| predicate.evaluate(&table).unwrap_err().to_string();
    assert_eq!(
        message(Predicate::compare("age", Comparison::Lt, "young")),
        "column `age` is a number and cannot be compared with the text \"young\"\n  \
         help: compare it with a number"
    );
    assert!(
        message(Predicate::compare("jobb", Comparison::Eq, "a")).contains("did you mean `job`?")
    );
}

/// A column that is empty for the whole sample still finds its kind later.
#[test]
fn a_late_first_value_decides() {
    let mut text = String::from("x,c\n");
    (0..10_500).for_each(|_| text.push_str("1,\n"));
    text.push_str("2,7\n");
    let stream = Source::stream("late.csv", std::io::Cursor::new(text.into_bytes()));
    let table = read([stream], &ReadOptions::default()).unwrap();
    let Values::Number(c) = &table.column("c").unwrap().values else { panic!("a number") };
    assert!(c[..10_500].iter().all(|c| c.is_nan()) && c[10_500] == 7.0);
}

/// Spaces around fields are no part of them, also where a field is quoted.
#[test]
fn spaces_around_fields() {
    let table = csv("a, b, c\n 1 , \"x, y\" ,  z \n2,\"u\", ?\n", &ReadOptions::default()).unwrap();
    let Values::Category(b) = &table.column("b").unwrap().values else { panic!("a category") };
    assert_eq!(b.texts().collect::<Vec<_>>(), [Some("x, y"), Some("u")]);
    let Values::Category(c) = &table.column("c").unwrap().values else { panic!("a category") };
    assert_eq!(c.texts().collect::<Vec<_>>(), [Some("z"), None]);
}

/// Between equal numbers lies nothing but themselves: ties never fall beside a quantile.
#[test]
fn quantiles_of_ties_are_exact() {
    let sorted = [0.1, 0.21, 0.21, 0.21];
    for step in 34..=100 {
        assert_eq!(fairgame::table::quantile(&sorted, f64::from(step) / 100.0), Some(0.21));
    }
    assert_eq!(fairgame::table::quantile(&[-1e308, 1e308], 0.5), Some(0.0));
    let train = csv("x\n1\n2\n", &ReadOptions::default()).unwrap();
    let level = Value::Quantile { column: "x".into(), level: 70.0 };
    let error = Predicate::compare("x", Comparison::Gt, level).freeze(&train).unwrap_err();
    assert!(error.to_string().contains("the level 70 is not between 0 and 1"), "{error}");
}
