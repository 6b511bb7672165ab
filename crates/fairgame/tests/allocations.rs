//! After the first call, scoring and its way back allocate nothing.

#[path = "common/counting.rs"]
mod counting;

use counting::calls;
use fairgame::encode::{Encoder, EncoderSpec};
use fairgame::model::{LatticeSpec, ModelSpec, Rows, Tape};
use fairgame::optimize::{Memory, Optimizer};
use fairgame::table::{ReadOptions, Source, read};

#[test]
fn nothing_after_the_first_call() {
    let names = ["@adult", "@communities"];
    for (name, numbers) in names.into_iter().zip(["few", "many"]) {
        let table = read([Source::parse(name).unwrap()], &ReadOptions::default()).unwrap();
        let (encoder, _) = Encoder::fit(&EncoderSpec::default(), &table).unwrap();
        let features = encoder.encode(&table).unwrap();
        let lattice = LatticeSpec { lattices: Some(30), ..LatticeSpec::default() };
        let specs = [ModelSpec::Linear, ModelSpec::Mlp { units: 50 }, ModelSpec::Lattice(lattice)];
        for spec in specs {
            let model = spec.build(&encoder, &features).unwrap();
            let model = model.slopes().unwrap();
            let mut theta = model.initial(1);
            let (mut tape, mut memory) = (Tape::default(), Memory::default());
            let (mut scores, mut gradient) = (vec![0.0; 100], vec![0.0; model.params()]);
            let list: Vec<u32> = (0..100).map(|k| k * 19 % 1993).collect();
            let mut step = || {
                for rows in [Rows::list(&features, &list), Rows::range(&features, 7..107)] {
                    model.score(&theta, rows, &mut tape, &mut scores);
                    gradient.fill(0.0);
                    model.pullback(&theta, rows, &mut tape, &scores, &mut gradient);
                }
                memory.step(&Optimizer::default(), &mut theta, &gradient);
                model.project(&mut theta);
            };
            step();
            let before = calls();
            (0..10).for_each(|_| step());
            assert_eq!(calls() - before, 0, "{spec:?} with {numbers} numbers");
        }
    }
}
