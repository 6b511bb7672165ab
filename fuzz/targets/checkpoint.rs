//! Any checkpoint, however damaged, is refused or is a game that goes on: no panic, no hang, no overflow.
//!
//! A checkpoint has a hash of all that is in it, so bytes that were merely damaged are refused at once. What is changed here
//! is therefore a sound checkpoint, number by number and letter by letter, before its hash is made. The first byte says
//! which: 0 reads the bytes as a file, anything else is of one of the games, and takes them as changes of eight bytes each.
#![no_main]

mod edits;

use std::sync::OnceLock;

use fairgame::algorithm::{Algorithm, Baseline, Lagrangian, Practical};
use fairgame::archive::Archive;
use fairgame::game::{Keep, WHAT};
use fairgame::model::ModelSpec;
use fairgame::optimize::Optimizer;
use fairgame::table::{ReadOptions, Source, Table, read};
use fairgame::train::{Data, Datasets, Spec, Training};
use libfuzzer_sys::fuzz_target;

/// The identity of all games here: what a checkpoint is of is checked before anything else in it.
const IDENTITY: &str = "fuzzed";

fn people() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut csv = "age,town,sex,hired\n".to_owned();
        for row in 0..60 {
            let (age, town, sex) = (20 + row * 7 % 40, row % 5, ["f", "m"][row % 2]);
            let hired = if (age + row % 3 * 9) % 50 > 24 { "yes" } else { "no" };
            csv += &format!("{age},t{town},{sex},{hired}\n");
        }
        let source = Source::stream("people.csv", std::io::Cursor::new(csv));
        read([source], &ReadOptions::default()).expect("the table is sound")
    })
}

/// A training for each constraint player, and a checkpoint of its game after half of the turns.
fn games() -> &'static [(Training<'static>, Archive)] {
    static GAMES: OnceLock<Vec<(Training<'static>, Archive)>> = OnceLock::new();
    GAMES.get_or_init(|| {
        let turns = 40;
        let practical = Practical { turns, batch: 16, ..Practical::default() };
        let plain = Practical { model: Optimizer::sgd(0.1), ..practical };
        let lagrangian = Lagrangian { turns, batch: 16, ..Lagrangian::default() };
        let baseline = Baseline { turns, ..Baseline::default() };
        let algorithms = [
            (Algorithm::Practical(practical), ModelSpec::Mlp { units: 2 }),
            (Algorithm::Practical(plain), ModelSpec::Linear),
            (Algorithm::Lagrangian(lagrangian), ModelSpec::Linear),
            (Algorithm::Baseline(baseline), ModelSpec::Linear),
        ];
        algorithms.into_iter().map(|(algorithm, model)| saved(algorithm, model)).collect()
    })
}

fn saved(algorithm: Algorithm, model: ModelSpec) -> (Training<'static>, Archive) {
    let mut spec = Spec::paper("hired == \"yes\"", &["recall(each sex) >= 0.5", "fpr() <= 0.5"]);
    (spec.algorithm, spec.model, spec.datasets) = (algorithm, model, Datasets::One);
    spec.keep = Keep::Spaced(8);
    let data = Data::from(people());
    let training = spec.plan(&data.shape()).and_then(|plan| plan.prepare(data));
    let training = training.expect("the settings are sound");
    let archive = {
        let mut game = training.game(0).expect("there is a game");
        (0..20).for_each(|_| game.play_turn().expect("a turn can be played"));
        game.save(IDENTITY).expect("it can be saved")
    };
    (training, archive)
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let (training, sound) = &games()[usize::from(first) % games().len()];
    let read = match first {
        0 => Archive::from_bytes(rest, WHAT),
        _ => {
            let mut archive = sound.clone();
            let (changes, _) = rest.as_chunks::<8>();
            changes.iter().for_each(|change| edits::change(&mut archive, change));
            // Through its bytes, as a file would be.
            archive.to_bytes().and_then(|bytes| Archive::from_bytes(&bytes, WHAT))
        }
    };
    let mut game = training.game(0).expect("there is a game");
    match read.and_then(|archive| game.resume(archive, IDENTITY)) {
        Err(error) => drop(error.to_string()),
        Ok(()) => {
            for _ in 0..3 {
                if game.play_turn().is_err() {
                    break;
                }
            }
            let saved = game.save(IDENTITY).expect("what goes on can be saved");
            let mut again = training.game(0).expect("there is a game");
            again.resume(saved, IDENTITY).expect("what was saved can be resumed");
            assert_eq!(again.turn(), game.turn());
        }
    }
});
