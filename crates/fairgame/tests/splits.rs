//! Splits are disjoint, complete, reproducible, and as large as asked for.

use std::thread;

use fairgame::table::split::{by_column, by_fraction};
use fairgame::table::{Category, Column, Values};
use proptest::prelude::*;

fn fractions() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(1_u32..10, 1..5).prop_map(|parts| {
        let total: u32 = parts.iter().sum();
        parts.into_iter().map(|part| f64::from(part) / f64::from(total)).collect()
    })
}

proptest! {
    #[test]
    fn disjoint_complete_reproducible(
        strata in prop::collection::vec(0_u32..4, 1..300),
        fractions in fractions(),
        seed: u64,
        stratified: bool,
    ) {
        let rows = strata.len();
        let strata = stratified.then_some(strata.as_slice());
        let Ok(parts) = by_fraction(rows, &fractions, seed, strata) else {
            prop_assert!(fractions.iter().any(|f| f * (rows as f64) < 1.0), "only a small part is refused");
            return Ok(());
        };
        let mut all: Vec<usize> = parts.concat();
        all.sort_unstable();
        prop_assert_eq!(all, (0..rows).collect::<Vec<_>>());
        for (part, fraction) in parts.iter().zip(&fractions) {
            prop_assert!(part.is_sorted());
            prop_assert!((part.len() as f64 - fraction * rows as f64).abs() < 1.0 + 1e-9);
        }
        // Strata are divided alike: each within two rows of its share of the part.
        if let Some(strata) = strata {
            for stratum in 0..4 {
                let size = strata.iter().filter(|&&s| s == stratum).count() as f64;
                for (part, fraction) in parts.iter().zip(&fractions) {
                    let inside = part.iter().filter(|&&row| strata[row] == stratum).count() as f64;
                    prop_assert!((inside - fraction * size).abs() <= 2.0, "{inside} of {size}");
                }
            }
        }
        prop_assert_eq!(parts, by_fraction(rows, &fractions, seed, strata).unwrap());
    }
}

#[test]
fn the_same_on_any_thread_and_machine() {
    let wanted = by_fraction(12, &[0.5, 0.5], 7, None).unwrap();
    let threads: Vec<_> =
        (0..8).map(|_| thread::spawn(|| by_fraction(12, &[0.5, 0.5], 7, None).unwrap())).collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), wanted);
    }
    // Written down, so that no later release can change what a seed means unnoticed.
    assert_eq!(wanted[0], GOLDEN);
    assert_ne!(by_fraction(12, &[0.5, 0.5], 8, None).unwrap(), wanted);
}

const GOLDEN: [usize; 6] = [0, 1, 3, 5, 8, 10];

#[test]
fn every_row_is_as_likely_as_any_other() {
    let mut counts = [0_u32; 10];
    for seed in 0..10_000 {
        by_fraction(10, &[0.3, 0.7], seed, None).unwrap()[0].iter().for_each(|&r| counts[r] += 1);
    }
    // Each count has mean 3,000 and standard deviation 46.
    assert!(counts.iter().all(|count| count.abs_diff(3_000) < 230), "{counts:?}");
}

#[test]
fn by_column_values() {
    let texts = ["b", "a", "b", "c"].map(Some);
    let column = Column::new("fold", Values::Category(Category::from_texts(texts)));
    let parts = by_column(&column).unwrap();
    assert_eq!(parts, [("a".into(), vec![1]), ("b".into(), vec![0, 2]), ("c".into(), vec![3])]);
    let column = Column::new("fold", Values::Number(vec![10.0, 9.0, 10.0]));
    assert_eq!(by_column(&column).unwrap(), [("9".into(), vec![1]), ("10".into(), vec![0, 2])]);
    let column = Column::new("fold", Values::Boolean(vec![Some(true), None]));
    assert!(by_column(&column).unwrap_err().to_string().contains("1 values are missing"));
}

#[test]
fn impossible_splits_are_refused() {
    for fractions in [&[0.5, 0.6][..], &[1.0, 0.0], &[], &[f64::NAN]] {
        assert!(by_fraction(10, fractions, 1, None).is_err(), "{fractions:?}");
    }
    let message = by_fraction(3, &[0.9, 0.1], 1, None).unwrap_err().to_string();
    assert!(message.contains("empty"), "{message}");
    assert!(by_fraction(3, &[1.0], 1, Some(&[0, 1])).is_err());
}

/// Which strata get the rows that rounding leaves over is drawn as well.
#[test]
fn strata_of_one_row_are_drawn() {
    let strata: Vec<u32> = (0..20).collect();
    let split = |seed| by_fraction(20, &[0.5, 0.5], seed, Some(&strata)).unwrap();
    assert!((1..10).any(|seed| split(seed) != split(0)));
}
