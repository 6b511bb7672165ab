//! A report written as JSON is the same report when it is read again, whatever its numbers.

mod fixtures;

use fairgame_report::{Measured, Report};
use proptest::prelude::*;

#[test]
fn a_report_comes_back() {
    for report in [fixtures::adult(), fixtures::two(), Report::default()] {
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
    }
}

#[test]
fn numbers_that_are_not_finite_come_back() {
    // NaN is not equal to itself, so pages are compared.
    let report = fixtures::hostile();
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&text).unwrap().to_html(), report.to_html());
}

#[test]
fn a_misspelt_field_is_an_error_that_names_it() {
    let error = serde_json::from_str::<Report>(r#"{"titel": "x"}"#).unwrap_err().to_string();
    assert!(error.contains("titel") && error.contains("title"), "{error}");
    let error = serde_json::from_str::<Measured>(r#"{"value": "many"}"#).unwrap_err().to_string();
    assert!(error.contains("many") && error.contains("a number"), "{error}");
}

proptest! {
    #[test]
    fn any_number_comes_back_to_the_bit(bits: u64) {
        let x = f64::from_bits(bits);
        let text = serde_json::to_string(&Measured::exactly(x)).unwrap();
        let back = serde_json::from_str::<Measured>(&text).unwrap().value;
        prop_assert!(back.to_bits() == x.to_bits() || (back.is_nan() && x.is_nan()));
    }
}
