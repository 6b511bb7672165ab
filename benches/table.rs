//! How fast do tables come in, and how fast do they become features? One thread throughout.
//!
//! ```text
//! cargo bench --bench table
//! ```

use std::io::Cursor;

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use fairgame::encode::{Coding, Cuts, Encoder, EncoderSpec, Steps};
use fairgame::table::{self, Format, ReadOptions, Source, Table};
use fairgame_benches::adult_like_csv;

const ROWS: usize = 500_000;

fn main() {
    divan::main();
}

fn read(bytes: &'static [u8]) -> Table {
    let source = Source::stream("adult.csv", Cursor::new(bytes));
    table::read([source], &ReadOptions::default()).expect("the data is sound")
}

fn csv() -> &'static [u8] {
    static CSV: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    CSV.get_or_init(|| adult_like_csv(ROWS))
}

/// How many MB of CSV are typed and coded in a second?
#[divan::bench(sample_count = 10)]
fn csv_bytes(bencher: Bencher) {
    bencher.counter(BytesCount::of_slice(csv())).bench(|| read(black_box(csv())));
}

/// How many rows of Parquet in a second?
#[divan::bench(sample_count = 10)]
fn parquet_rows(bencher: Bencher) {
    let folder = std::env::temp_dir().join(format!("fairgame-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let path = folder.join("adult.parquet");
    table::write(&read(csv()), &path, Format::Parquet).expect("it is written");
    bencher.counter(ItemsCount::new(ROWS)).bench(|| {
        table::read([Source::Path(path.clone())], &ReadOptions::default()).expect("it is read")
    });
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
}

/// How many rows are encoded in a second, with numbers standardised?
#[divan::bench(sample_count = 10)]
fn encode_standardised(bencher: Bencher) {
    encode(bencher, &EncoderSpec::default());
}

/// How many rows are encoded in a second, with numbers in buckets?
#[divan::bench(sample_count = 10)]
fn encode_buckets(bencher: Bencher) {
    let numbers = Coding::Buckets { cuts: Cuts::Quantiles(8), steps: Steps::Single };
    encode(bencher, &EncoderSpec { numbers, ..EncoderSpec::default() });
}

fn encode(bencher: Bencher, spec: &EncoderSpec) {
    let table = read(csv());
    let (encoder, _) = Encoder::fit(spec, &table).expect("the data is sound");
    bencher
        .counter(ItemsCount::new(ROWS))
        .bench(|| encoder.encode(black_box(&table)).expect("the data is sound"));
}
