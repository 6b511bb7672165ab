//! The paper's preparation of each shipped dataset: its sizes, and what stands in `docs/datasets.md`.

use fairgame::preset::{PAPER, Preset};
use fairgame::table::SHIPPED;

#[test]
fn sizes() {
    // name, training rows, test rows, features
    let wanted = [
        ("adult", 32_561, 16_281, 122),
        ("communities", 1_494, 499, 117),
        ("compas", 4_110, 2_062, 32),
    ];
    for (preset, wanted) in PAPER.iter().zip(wanted) {
        let prepared = preset.prepare(1).unwrap();
        let (train, test) = (&prepared.train, &prepared.test);
        let found = (preset.name, train.table.rows(), test.table.rows(), prepared.encoder.width());
        assert_eq!(found, wanted);
        for part in [train, test] {
            assert_eq!(part.label.len(), part.table.rows());
            assert_eq!(part.features.rows(), part.table.rows());
        }
    }
}

/// Adult's binary features: exactly 13 of 122 are on in every row, and each is on in some row.
#[test]
fn adult_is_one_hot() {
    let prepared = Preset::find("adult").unwrap().prepare(1).unwrap();
    assert_eq!((prepared.train.features.slots(), prepared.train.features.numbers()), (13, 0));
    let mut seen = [false; 122];
    for row in 0..prepared.train.features.rows() {
        let codes: Vec<usize> = prepared.train.features.row_codes(row).collect();
        assert_eq!(codes.len(), 13);
        codes.into_iter().for_each(|code| seen[code] = true);
    }
    assert!(seen.iter().all(|&seen| seen));
    let positive = prepared.train.label.iter().filter(|&&label| label).count();
    assert_eq!(positive, 7_841);
}

/// ProPublica's filter leaves 6,172 rows, 2,809 of them positive.
#[test]
fn compas_is_filtered() {
    let prepared = Preset::find("@compas").unwrap().prepare(3).unwrap();
    let labels = || prepared.train.label.iter().chain(&prepared.test.label);
    assert_eq!((labels().count(), labels().filter(|&&label| label).count()), (6_172, 2_809));
}

/// The label of Communities is its training 70th percentile; groups are halves at the median.
#[test]
fn communities_is_cut() {
    let prepared = Preset::find("communities").unwrap().prepare(1).unwrap();
    let share =
        |label: &[bool]| label.iter().filter(|&&label| label).count() as f64 / label.len() as f64;
    assert!((share(&prepared.train.label) - 0.3).abs() < 0.02);
    let names = prepared.encoder.names();
    assert_eq!(names.iter().filter(|name| name.starts_with("fold = ")).count(), 10);
    assert_eq!(names.iter().filter(|name| name.starts_with("race") && name.len() > 13).count(), 8);
}

/// A seed draws the same test rows each time, and another seed draws others.
#[test]
fn seeds() {
    let compas = Preset::find("compas").unwrap();
    let labels = |seed| compas.prepare(seed).unwrap().test.label;
    assert_eq!(labels(1), labels(1));
    assert_ne!(labels(1), labels(2));
}

#[test]
fn unknown_names_are_told_the_nearest() {
    let error = Preset::find("comps").unwrap_err();
    assert_eq!(error.advice(), Some("did you mean `compas`?"));
    assert!(SHIPPED.iter().map(|shipped| shipped.bytes.len()).sum::<usize>() < 2_000_000);
}

/// A pool is read once and drawn from many times: the draws are those of the preparation.
#[test]
fn a_pool_draws_what_is_prepared() {
    for preset in PAPER {
        let pool = preset.pool().unwrap();
        for seed in [3, 4] {
            let (train, test) = pool.draw(seed).unwrap();
            let prepared = preset.prepare(seed).unwrap();
            for (table, part) in [(train, prepared.train), (test, prepared.test)] {
                assert_eq!(
                    prepared.encoder.encode(&table).unwrap(),
                    part.features,
                    "{}",
                    preset.name
                );
            }
        }
    }
}
