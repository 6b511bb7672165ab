//! Random tables, and populations to draw tables from.
#![allow(dead_code, reason = "each test crate uses its part")]

pub(crate) mod page;
pub(crate) mod population;

use fairgame::table::{Category, Column, Table, Values};
use proptest::prelude::*;

/// Values that look ordinary, odd, empty-ish or extreme.
pub(crate) fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => (-5_i32..5).prop_map(f64::from),
        3 => -100.0..100.0,
        1 => Just(f64::NAN),
        1 => prop_oneof![Just(1e308), Just(-1e308), Just(5e-324), Just(0.1 + 0.2)],
    ]
}

/// Texts that survive a CSV file: trimmed, and no missing marker.
pub(crate) fn text() -> impl Strategy<Value = Option<String>> {
    prop_oneof![
        6 => prop::sample::select(vec!["a", "b", "c", "d, e", "\"q\"", "é\nü", "x=1", "-"])
            .prop_map(|text| Some(text.to_owned())),
        1 => "[a-z]{1,3}".prop_filter("a marker", |text| text != "na" && text != "nan")
            .prop_map(Some),
        1 => Just(None),
    ]
}

/// A table of two numbers, two categories and a boolean.
pub(crate) fn table(
    rows: impl Into<proptest::collection::SizeRange>,
) -> impl Strategy<Value = Table> {
    let row = (number(), -1e6..1e6, text(), text(), any::<Option<bool>>());
    prop::collection::vec(row, rows).prop_map(|rows| {
        let category = |texts: Vec<Option<&str>>| Values::Category(Category::from_texts(texts));
        Table::new(vec![
            Column::new("x", Values::Number(rows.iter().map(|row| row.0).collect())),
            Column::new("y", Values::Number(rows.iter().map(|row| row.1).collect())),
            Column::new("job", category(rows.iter().map(|row| row.2.as_deref()).collect())),
            Column::new("odd, name", category(rows.iter().map(|row| row.3.as_deref()).collect())),
            Column::new("flag", Values::Boolean(rows.iter().map(|row| row.4).collect())),
        ])
        .expect("columns of one length")
    })
}
