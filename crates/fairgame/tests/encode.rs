//! Encoding is a pure function of the encoder and the row, and nothing in a later table breaks it.

mod common;

use std::collections::BTreeMap;

use common::table;
use fairgame::encode::{Codes, Coding, Cuts, Encoder, EncoderSpec, Features, Notice, Steps};
use fairgame::table::{Category, Column, ReadOptions, Source, Table, Values, read};
use proptest::prelude::*;

fn spec() -> impl Strategy<Value = EncoderSpec> {
    let steps = prop_oneof![Just(Steps::Single), Just(Steps::Cumulative)];
    let cuts = prop_oneof![
        Just(Cuts::Points(vec![-1.0, 0.0, 2.5])),
        Just(Cuts::Quantiles(4)),
        Just(Cuts::Levels(vec![0.0, 0.5, 0.9])),
    ];
    let buckets = (cuts, steps).prop_map(|(cuts, steps)| Coding::Buckets { cuts, steps });
    let coding = prop_oneof![buckets, Just(Coding::Values)];
    (coding, 1_usize..6, 1_usize..4).prop_map(|(coding, max_values, min_count)| EncoderSpec {
        numbers: coding.clone(),
        columns: BTreeMap::from([("y".to_owned(), vec![Coding::Standardise, coding])]),
        max_values,
        min_count,
        ..EncoderSpec::default()
    })
}

/// The row as a model sees it: which weights are on, and its numbers, to the bit.
fn row(features: &Features, row: usize) -> (Vec<usize>, Vec<u32>) {
    let numbers = features.row_values(row).iter().map(|number| number.to_bits());
    (features.row_codes(row).collect(), numbers.collect())
}

proptest! {
    /// A row encodes the same alone, in company, in any order, and from any dictionary.
    #[test]
    fn pure(train in table(3..40), later in table(1..20), spec in spec()) {
        let Ok((encoder, _)) = Encoder::fit(&spec, &train) else { return Ok(()) };
        let all = encoder.encode(&later).unwrap();
        let reversed: Vec<usize> = (0..later.rows()).rev().collect();
        let backwards = encoder.encode(&later.take(&reversed)).unwrap();
        for index in 0..later.rows() {
            let alone = later.take(&[index]);
            prop_assert_eq!(row(&all, index), row(&encoder.encode(&alone).unwrap(), 0));
            prop_assert_eq!(row(&all, index), row(&backwards, later.rows() - 1 - index));
            prop_assert_eq!(row(&all, index), row(&encoder.encode(&fresh(&alone)).unwrap(), 0));
        }
    }

    /// Whatever comes later, codes stay below the silent one and numbers stay finite.
    #[test]
    fn bounded(train in table(3..40), later in table(1..40), spec in spec()) {
        let Ok((encoder, _)) = Encoder::fit(&spec, &train) else { return Ok(()) };
        let features = encoder.encode(&later).unwrap();
        prop_assert_eq!(encoder.names().len(), encoder.width());
        prop_assert_eq!(features.width(), encoder.width());
        let Codes::Byte(codes) = features.codes() else { panic!("few weights") };
        prop_assert!(codes.iter().all(|&code| usize::from(code) <= features.weights()));
        prop_assert_eq!(codes.len(), features.slots() * later.rows());
        for index in 0..later.rows() {
            prop_assert!(features.row_values(index).iter().all(|number| number.is_finite()));
        }
    }

    /// Fitting does not depend on the order of the rows.
    #[test]
    fn order_of_rows(train in table(3..40), spec in spec()) {
        let reversed: Vec<usize> = (0..train.rows()).rev().collect();
        let backwards = Encoder::fit(&spec, &train.take(&reversed)).ok();
        prop_assert_eq!(Encoder::fit(&spec, &train).ok(), backwards);
    }

    /// Written down and read back, an encoder is the same to the bit.
    #[test]
    fn written_down(train in table(3..40), spec in spec()) {
        let Ok((encoder, _)) = Encoder::fit(&spec, &train) else { return Ok(()) };
        let text = serde_json::to_string(&encoder).unwrap();
        prop_assert_eq!(serde_json::from_str::<Encoder>(&text).unwrap(), encoder);
        let text = serde_json::to_string(&spec).unwrap();
        prop_assert_eq!(serde_json::from_str::<EncoderSpec>(&text).unwrap(), spec);
    }

    /// A damaged description is refused or harmless, never a panic.
    #[test]
    fn damaged(train in table(3..20), spec in spec(), at in any::<prop::sample::Index>(), byte: u8) {
        let Ok((encoder, _)) = Encoder::fit(&spec, &train) else { return Ok(()) };
        let mut bytes = serde_json::to_vec(&encoder).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(encoder) = serde_json::from_slice::<Encoder>(&bytes) {
            let _ = encoder.encode(&train);
        }
    }
}

/// The same table with dictionaries of its own.
fn fresh(table: &Table) -> Table {
    let columns = table.columns().iter().map(|column| {
        let values = match &column.values {
            Values::Category(category) => Values::Category(Category::from_texts(
                ["zzz"].into_iter().map(Some).chain(category.texts()).collect::<Vec<_>>(),
            )),
            Values::Number(numbers) => {
                Values::Number([0.0].into_iter().chain(numbers.iter().copied()).collect())
            }
            Values::Boolean(truths) => {
                Values::Boolean([None].into_iter().chain(truths.iter().copied()).collect())
            }
        };
        Column::new(column.name.clone(), values)
    });
    let longer = Table::new(columns.collect()).unwrap();
    longer.take(&(1..longer.rows()).collect::<Vec<_>>())
}

fn csv(text: &'static str) -> Table {
    read([Source::stream("test.csv", text.as_bytes())], &ReadOptions::default()).unwrap()
}

/// A small table worked out by hand.
#[test]
fn by_hand() {
    let train = csv(
        "age,job,member\n10,nurse,true\n20,clerk,false\n30,nurse,true\n,pilot,true\n20,clerk,\n",
    );
    let spec = EncoderSpec::default();
    let (encoder, notices) = Encoder::fit(&spec, &train).unwrap();
    // `pilot` is seen once, so it is pooled; `age` and `member` have missing values.
    assert_eq!(
        encoder.names(),
        [
            "age = (missing)",
            "job = clerk",
            "job = nurse",
            "job = (other)",
            "member = false",
            "member = true",
            "member = (missing)",
            "age",
        ]
    );
    assert_eq!(notices.len(), 1);

    // The mean of 10, 20, 30, 20 is 20 and the variance 50.
    let features =
        encoder.encode(&csv("member,job,age,more\ntrue,clerk,30,1\n,baker,,2\n")).unwrap();
    assert_eq!(features.row_codes(0).collect::<Vec<_>>(), [1, 5]);
    assert!((features.row_values(0)[0] - 10.0 / 50_f32.sqrt()).abs() < 1e-6);
    assert_eq!(features.row_codes(1).collect::<Vec<_>>(), [0, 3, 6]);
    assert_eq!(features.row_values(1), [0.0]);
}

#[test]
fn constant_columns_are_dropped_with_a_notice() {
    let train = csv("one,empty,x\n7,,1\n7,,2\n7,,3\n");
    let (encoder, notices) = Encoder::fit(&EncoderSpec::default(), &train).unwrap();
    assert_eq!(encoder.names(), ["x"]);
    let constant = |name: &str| Notice::Constant { column: name.into() };
    assert_eq!(notices, [constant("one"), constant("empty")]);
}

#[test]
fn an_identifier_is_told() {
    let names = (0..200).map(|n| format!("name {n}")).collect::<Vec<_>>();
    let table = Table::new(vec![
        Column::new(
            "name",
            Values::Category(Category::from_texts(names.iter().map(|name| Some(name.as_str())))),
        ),
        Column::new("x", Values::Number((0..200).map(f64::from).collect())),
    ])
    .unwrap();
    let (_, notices) = Encoder::fit(&EncoderSpec::default(), &table).unwrap();
    assert_eq!(notices, [Notice::AllRare { column: "name".into(), values: 200 }]);
}

#[test]
fn errors_name_the_column() {
    let train = csv("age,job\n1,a\n2,b\n3,a\n4,b\n");
    let (encoder, _) = Encoder::fit(&EncoderSpec::default(), &train).unwrap();
    let message = |table: &'static str| encoder.encode(&csv(table)).unwrap_err().to_string();
    assert_eq!(message("Age,job\n1,a\n"), "there is no column `age`\n  help: did you mean `Age`?");
    assert_eq!(
        message("age,job\nold,a\n"),
        "column `age` is a category, but was a number in training\n  \
         help: read column `age` as a number"
    );
    let spec = EncoderSpec { ignore: vec!["jbo".into()], ..EncoderSpec::default() };
    let error = Encoder::fit(&spec, &train).unwrap_err();
    assert_eq!(error.advice(), Some("did you mean `job`?"));
    let spec = EncoderSpec { ignore: vec!["age".into(), "job".into()], ..EncoderSpec::default() };
    assert!(Encoder::fit(&spec, &train).unwrap_err().to_string().contains("no column is left"));
}

/// `distinct` keeps values apart that standardising would make one, and those that taking them as they are would.
#[test]
fn distinct_keeps_values_apart() {
    // Many tiny values beside a large one; large values that are close to each other.
    let tiny: Vec<f64> = (0..50).map(|at| 10.0_f64.powi(-at)).chain([1e9]).collect();
    let close: Vec<f64> = (0..51).map(|at| 1.7e9 + f64::from(at)).collect();
    let column = |name: &str, values: &[f64]| Column::new(name, Values::Number(values.to_vec()));
    let table = Table::new(vec![column("tiny", &tiny), column("close", &close)]).unwrap();
    let apart = |numbers: Coding| {
        let spec = EncoderSpec { numbers, ..EncoderSpec::default() };
        let features = Encoder::fit(&spec, &table).unwrap().0.encode(&table).unwrap();
        [0, 1].map(|number| {
            let values = (0..table.rows()).map(|row| features.row_values(row)[number].to_bits());
            values.collect::<std::collections::BTreeSet<_>>().len()
        })
    };
    let (standard, as_is) = (apart(Coding::Standardise), apart(Coding::AsIs));
    assert!(standard[0] < 20 && standard[1] == 51, "{standard:?}");
    assert!(as_is[0] > 40 && as_is[1] < 5, "{as_is:?}");
    assert_eq!(apart(Coding::Distinct), [as_is[0], 51]);
}
