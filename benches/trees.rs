//! How many rows a second do boosted trees learn from and score?
//!
//! Adult's rows, over and over, one thread: 100 trees of 31 leaves. A row counts once for each tree, so rows/s should
//! be flat in the number of rows as long as codes and gradients stay in cache.
//!
//! ```text
//! cargo bench --bench trees
//! ```

use std::ops::ControlFlow;

use divan::Bencher;
use divan::counter::ItemsCount;

use fairgame::Threads;
use fairgame::encode::{Encoder, EncoderSpec, Features};
use fairgame::model::trees::{Binned, Bins, Forest, Lesson, TreesSpec, boost};
use fairgame::table::{self, ReadOptions, Source, Values};
use fairgame_benches::adult_like_csv;

const TREES: usize = 100;

fn main() {
    divan::main();
}

fn spec() -> TreesSpec {
    TreesSpec {
        trees: TREES,
        leaves: Some(31),
        rate: Some(0.1),
        min_leaf: Some(20),
        rows: 1.0,
        columns: 1.0,
        ..TreesSpec::default()
    }
}

struct Data {
    encoder: Encoder,
    features: Features,
    target: Vec<f32>,
}

impl Data {
    fn new(rows: usize) -> Self {
        let csv = std::io::Cursor::new(adult_like_csv(rows));
        let table = table::read([Source::stream("adult", csv)], &ReadOptions::default());
        let table = table.expect("sound data");
        let ignore = vec!["income".to_owned()];
        let spec = EncoderSpec { ignore, ..EncoderSpec::default() };
        let (encoder, _) = Encoder::fit(&spec, &table).expect("sound data");
        let features = encoder.encode(&table).expect("sound data");
        let income = &table.column("income").expect("the label").values;
        let Values::Category(income) = income else { panic!("income is a category") };
        let high = |code: &u32| f32::from(u8::from(*code == income.codes[7]));
        let target = income.codes.iter().map(high).collect();
        Data { encoder, features, target }
    }

    fn bins(&self) -> (Bins, Binned) {
        let threads = Threads::default();
        let bins = Bins::fit(&spec(), &self.encoder, &self.features, (None, None), &threads);
        let bins = bins.expect("sound data");
        let binned = bins.codes(&self.features, &threads).expect("its own features");
        (bins, binned)
    }

    fn boost(&self, bins: &Bins, binned: &Binned) -> Forest {
        let teach: Vec<u32> = (0..binned.rows() as u32).collect();
        let target = &self.target;
        let lesson = Lesson {
            binned,
            bins,
            teach: &teach,
            aside: &[],
            target,
            weights: None,
            numbers: None,
        };
        let mut watch = |_| ControlFlow::Continue(());
        boost(&lesson, &spec(), 1, &Threads::default(), &mut watch).expect("a sound lesson")
    }
}

#[divan::bench(args = [32_561, 1_000_000], sample_count = 3, sample_size = 1)]
fn bin(bencher: Bencher<'_, '_>, rows: usize) {
    let data = Data::new(rows);
    bencher.counter(ItemsCount::new(rows)).bench(|| data.bins());
}

#[divan::bench(args = [32_561, 1_000_000], sample_count = 3, sample_size = 1)]
fn learn(bencher: Bencher<'_, '_>, rows: usize) {
    let data = Data::new(rows);
    let (bins, binned) = data.bins();
    bencher.counter(ItemsCount::new(rows * TREES)).bench(|| data.boost(&bins, &binned));
}

#[divan::bench(args = [32_561], sample_count = 10, sample_size = 1)]
fn score(bencher: Bencher<'_, '_>, rows: usize) {
    let data = Data::new(rows);
    let (bins, binned) = data.bins();
    let forest = data.boost(&bins, &binned);
    let mut scores = vec![0.0; rows];
    bencher
        .counter(ItemsCount::new(rows * TREES))
        .bench_local(|| forest.score(&binned, 0..rows, &mut scores));
}
