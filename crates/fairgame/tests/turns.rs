//! After the first turns, a turn of the game allocates nothing, and costs no pass over the data.

#[path = "common/counting.rs"]
mod counting;

use counting::calls;
use fairgame::algorithm::{Algorithm, Baseline, Lagrangian, Practical, Unconstrained};
use fairgame::game::Keep;
use fairgame::model::{LatticeSpec, ModelSpec};
use fairgame::table::{ReadOptions, Source, read, split};
use fairgame::train::{Data, Spec};

#[test]
fn nothing_after_the_first_turns() {
    let table = read([Source::parse("@adult").unwrap()], &ReadOptions::default()).unwrap();
    let halves = split::by_fraction(table.rows(), &[0.5, 0.5], 1, None).unwrap();
    let (train, val) = (table.take(&halves[0]), table.take(&halves[1]));
    let data = Data::from(&train).with_val(Some(&val));
    let turns = 1_000_000;
    let lattice = LatticeSpec { lattices: Some(30), ..LatticeSpec::default() };
    for model in [ModelSpec::Linear, ModelSpec::Mlp { units: 50 }, ModelSpec::Lattice(lattice)] {
        for algorithm in [
            Algorithm::Practical(Practical { turns, ..Practical::default() }),
            Algorithm::Lagrangian(Lagrangian { turns, ..Lagrangian::default() }),
            Algorithm::Baseline(Baseline { turns, radius: 1e-3, ..Baseline::default() }),
            Algorithm::Unconstrained(Unconstrained { turns, ..Unconstrained::default() }),
        ] {
            let mut spec = Spec::paper(
                "income == \">50K\"",
                &["positive_rate(each sex) >= 0.8 * positive_rate()", "tpr(each race) >= 0.5"],
            );
            (spec.model, spec.algorithm, spec.keep) = (model.clone(), algorithm, Keep::Spaced(1));
            let training = spec.plan(&data.shape()).unwrap().prepare(data.clone()).unwrap();
            let mut game = training.game(0).unwrap();
            (0..20).for_each(|_| game.play_turn().unwrap());
            let before = calls();
            (0..200).for_each(|_| game.play_turn().unwrap());
            assert_eq!(calls() - before, 0, "{model:?}, {}", algorithm.name());
        }
    }
}
