//! Any model file, however damaged, is an error or decides rows: no panic, no hang, no overflow.
//!
//! A file has a hash of all that is in it, so bytes that were merely damaged are refused at once. What is changed here is
//! therefore a sound model of trees, number by number and letter by letter, before its hash is made. The first byte says
//! which: 0 reads the bytes as a file, anything else takes them as changes of eight bytes each.
#![no_main]

mod edits;

use std::sync::OnceLock;

use fairgame::algorithm::{Algorithm, PlugIn};
use fairgame::archive::Archive;
use fairgame::classifier::Classifier;
use fairgame::model::ModelSpec;
use fairgame::model::trees::TreesSpec;
use fairgame::table::{ReadOptions, Source, Table, read};
use fairgame::train::{Datasets, Spec};
use libfuzzer_sys::fuzz_target;

/// People whose sex is no feature, so that there are two forests in each fold.
fn people() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut csv = "age,town,sex,hired\n".to_owned();
        for row in 0..120 {
            let (age, town, sex) = (20 + row * 7 % 40, row % 5, ["f", "m"][row % 2]);
            let hired = if (age + row % 3 * 9) % 50 > 24 { "yes" } else { "no" };
            csv += &format!("{age},t{town},{sex},{hired}\n");
        }
        let source = Source::stream("people.csv", std::io::Cursor::new(csv));
        read([source], &ReadOptions::default()).expect("the table is sound")
    })
}

/// A model of trees.
fn model() -> &'static Archive {
    static MODEL: OnceLock<Archive> = OnceLock::new();
    MODEL.get_or_init(|| {
        let constraints = ["recall(each sex) >= 0.5"];
        let mut spec = Spec::new("hired == \"yes\"", &constraints);
        let trees = TreesSpec { trees: 4, leaves: Some(4), min_leaf: Some(5), ..TreesSpec::default() };
        spec.model = ModelSpec::Trees(trees);
        spec.algorithm = Algorithm::PlugIn(PlugIn { rounds: 3, ..PlugIn::default() });
        spec.datasets = Datasets::Cross { folds: 2, repeats: 1 };
        spec.encoder.ignore = vec!["sex".to_owned()];
        let mut trained = spec.train(people()).expect("it trains").classifier;
        trained.forget();
        trained.to_archive().expect("it can be written")
    })
}

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    let read = match first {
        0 => Classifier::from_bytes(rest),
        _ => {
            let mut archive = model().clone();
            let (edits, _) = rest.as_chunks::<8>();
            edits.iter().for_each(|edit| edits::change(&mut archive, edit));
            Classifier::from_archive(archive)
        }
    };
    match read {
        Err(error) => drop(error.to_string()),
        Ok(classifier) => {
            if let Ok(decided) = classifier.decide(people()) {
                let chances = decided.iter().all(|one| (0.0..=1.0).contains(&one.probability));
                assert!(chances, "a chance is between 0 and 1");
            }
        }
    }
});
