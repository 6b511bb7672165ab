//! Does the cost of a row depend on the number of constraints? It should not.
//!
//! A million rows with overlapping groups: each combination of three columns of ten values, any of
//! which may be left open. The time of `tally` and `push` should be flat in the number of constraints.
//!
//! ```text
//! cargo bench --bench rates
//! ```

use std::sync::OnceLock;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use fairgame::random::Stream;
use fairgame::rate::{
    Bound, Compiled, Multipliers, Problem, Pushes, Surrogate, Tally, push_scores, tally_scores,
};
use fairgame::table::{Category, Column, Table, Values};

const ROWS: usize = 1_000_000;
const BLOCK: usize = 4096;

fn main() {
    divan::main();
}

/// Three columns of ten values, a label, and a score for each row.
fn data() -> &'static (Table, Vec<f32>) {
    static DATA: OnceLock<(Table, Vec<f32>)> = OnceLock::new();
    DATA.get_or_init(|| {
        let mut stream = Stream::new(1, "bench");
        let names: Vec<String> = (0..10).map(|value| format!("v{value}")).collect();
        let mut column = |name: &str| {
            let texts: Vec<Option<&str>> =
                (0..ROWS).map(|_| Some(names[stream.below(10) as usize].as_str())).collect();
            Column::new(name, Values::Category(Category::from_texts(texts)))
        };
        let mut columns = vec![column("a"), column("b"), column("c")];
        let label = (0..ROWS).map(|_| Some(stream.below(3) == 0)).collect();
        columns.push(Column::new("label", Values::Boolean(label)));
        let scores = (0..ROWS).map(|_| stream.below(4000) as f32 / 1000.0 - 2.0).collect();
        (Table::new(columns).expect("sound columns"), scores)
    })
}

/// So many constraints, each on a group that overlaps with others.
fn bind(constraints: usize) -> Bound {
    let value = |column: &str, value: usize| match value {
        0 => String::new(),
        value => format!("{column} == \"v{}\"", value - 1),
    };
    let groups = (1..1331).map(|code| {
        let parts = [value("a", code % 11), value("b", code / 11 % 11), value("c", code / 121)];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" and ")
    });
    // Spread over all kinds of group, from the widest to the narrowest.
    let groups: Vec<String> = groups.collect();
    let chosen = (0..constraints).map(|index| &groups[index * groups.len() / constraints]);
    let texts: Vec<String> = chosen.map(|group| format!("tpr({group}) >= 0.9 * tpr()")).collect();
    let problem = Problem::parse("label", "error()", &texts).expect("it parses");
    problem.bind(&data().0, &[]).expect("it binds").0
}

fn compiled(constraints: usize) -> Compiled {
    bind(constraints).compile(&data().0, None).expect("it compiles")
}

/// How long do a million rows take to tally, with 4, 100 and 1,000 constraints?
#[divan::bench(args = [4, 100, 1000], sample_count = 20)]
fn tally(bencher: Bencher, constraints: usize) {
    let compiled = compiled(constraints);
    let mut tally = Tally::new(compiled.losses().cells());
    bencher.counter(ItemsCount::new(ROWS)).bench_local(|| {
        tally.clear();
        let (cells, scores) = (compiled.cells(), &data().1);
        tally_scores(cells, None, scores, Some(Surrogate::Hinge), &mut tally);
        black_box(compiled.losses().exact(&tally).objective)
    });
}

/// How long do a million rows take to push?
#[divan::bench(args = [4, 100, 1000], sample_count = 20)]
fn push(bencher: Bencher, constraints: usize) {
    let compiled = compiled(constraints);
    let each = 1.0 / constraints as f64;
    let lambda = Multipliers { objective: 1.0, constraints: vec![each; constraints] };
    let (mut pushes, mut slopes) = (Pushes::default(), vec![0.0; BLOCK]);
    bencher.counter(ItemsCount::new(ROWS)).bench_local(|| {
        compiled.losses().pushes(&lambda, &mut pushes);
        let cells = compiled.losses().push_cells(&pushes);
        // Block by block, as a model takes its slopes, so that memory does not decide.
        for (rows, scores) in compiled.cells().chunks(BLOCK).zip(data().1.chunks(BLOCK)) {
            let slopes = &mut slopes[..rows.len()];
            push_scores(rows, None, scores, &cells, Surrogate::Hinge, slopes);
            black_box(slopes[0]);
        }
    });
}

/// How long does it take to compile so many constraints over a million rows?
#[divan::bench(args = [4, 100, 1000], sample_count = 3)]
fn compile(bencher: Bencher, constraints: usize) {
    let bound = bind(constraints);
    bencher
        .counter(ItemsCount::new(ROWS))
        .bench_local(|| bound.compile(&data().0, None).expect("it compiles"));
}

/// The worst case: twenty flags, so that nearly every row is a cell of its own, and a thousand groups
/// that each row is in hundreds of. How long does it take to compile?
#[divan::bench(sample_count = 1, sample_size = 1)]
fn compile_flags(bencher: Bencher) {
    let mut stream = Stream::new(2, "flags");
    let mut flag = |name: usize| {
        let truths = (0..ROWS).map(|_| Some(stream.below(2) == 1)).collect();
        Column::new(format!("b{name}"), Values::Boolean(truths))
    };
    let table = Table::new((0..20).map(&mut flag).collect()).expect("sound columns");
    let texts: Vec<String> = (0..1000)
        .map(|k| {
            let (i, j, l) = (k % 19, (k / 19) % 19, (k * 7) % 19);
            format!("positive_rate(b{i} and b{j} or b{l}) >= 0.8 * positive_rate()")
        })
        .collect();
    let problem = Problem::parse("b19", "error()", &texts).expect("it parses");
    let (bound, _) = problem.bind(&table, &[]).expect("it binds");
    bencher
        .counter(ItemsCount::new(ROWS))
        .bench_local(|| bound.compile(&table, None).expect("it compiles"));
}
