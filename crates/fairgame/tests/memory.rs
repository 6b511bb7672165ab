//! A million Adult-like rows are read and encoded within 300 MB, and a thousand constraints over a
//! million rows are compiled within a few bytes a row.

#[path = "common/counting.rs"]
mod counting;

use std::io::{Read, Write};
use std::sync::Mutex;

use counting::peak;
use fairgame::encode::{Encoder, EncoderSpec};
use fairgame::rate::Problem;
use fairgame::table::{Category, Column, ReadOptions, Shipped, Source, Table, Values, read};

const ROWS: usize = 1_000_000;

/// One measurement at a time: the counters are the process's.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn a_million_rows_within_300_mb() {
    let _alone = ALONE.lock().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("adult-like.csv");
    {
        let mut text = String::new();
        let adult = Shipped::find("adult").unwrap();
        flate2::read::GzDecoder::new(adult.bytes).read_to_string(&mut text).unwrap();
        let (header, body) = text.split_once('\n').unwrap();
        let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
        writeln!(file, "{header}").unwrap();
        for line in body.lines().cycle().take(ROWS) {
            writeln!(file, "{line}").unwrap();
        }
    }

    let (peak, (table, features)) = peak(|| {
        let table = read([Source::Path(path)], &ReadOptions::default()).unwrap();
        let (encoder, _) = Encoder::fit(&EncoderSpec::default(), &table).unwrap();
        let features = encoder.encode(&table).unwrap();
        (table, features)
    });
    assert_eq!((table.rows(), features.rows()), (ROWS, ROWS));
    assert!(peak < 300_000_000, "a peak of {} MB", peak / 1_000_000);
}

/// A bit for each row and constraint would be 125 MB.
#[test]
fn a_thousand_constraints_without_rows_times_constraints() {
    let _alone = ALONE.lock().unwrap();
    let names: Vec<String> = (0..1000).map(|value| format!("v{value}")).collect();
    let values = (0..ROWS).map(|row| Some(names[row * 7919 % 1000].as_str()));
    let group = Values::Category(Category::from_texts(values));
    let label = Values::Boolean((0..ROWS).map(|row| Some(row % 3 == 0)).collect());
    let table = Table::new(vec![Column::new("group", group), Column::new("label", label)]).unwrap();
    let problem = Problem::parse("label", "error()", &["tpr(each group) >= 0.9 * tpr()"]).unwrap();
    let (peak, (bound, compiled)) = peak(|| {
        let (bound, _) = problem.bind(&table, &[]).unwrap();
        let compiled = bound.compile(&table, None).unwrap();
        (bound, compiled)
    });
    assert_eq!((bound.constraints().len(), compiled.losses().cells()), (1000, 1001));
    assert!(peak < 40 * ROWS, "a peak of {} MB", peak / 1_000_000);
}

/// Twenty flags make nearly every row a cell of its own, and each row is in hundreds of the groups: a
/// bit for each row and group is what they are, and what they may take, with its making.
#[test]
fn a_thousand_groups_of_twenty_flags() {
    const FEW: usize = 200_000;
    let _alone = ALONE.lock().unwrap();
    let flag = |shift: usize| {
        let truth = |row: usize| Some((row.wrapping_mul(0x9e37_79b9) >> shift) & 1 == 1);
        Column::new(format!("b{shift}"), Values::Boolean((0..FEW).map(truth).collect()))
    };
    let table = Table::new((0..20).map(flag).collect()).unwrap();
    let constraints: Vec<String> = (0..1000)
        .map(|k| {
            let (i, j, l) = (k % 19, (k / 19) % 19, (k * 7) % 19);
            format!("positive_rate(b{i} and b{j} or b{l}) >= 0.8 * positive_rate()")
        })
        .collect();
    let problem = Problem::parse("b19", "error()", &constraints).unwrap();
    let (peak, compiled) = peak(|| {
        let (bound, _) = problem.bind(&table, &[]).unwrap();
        bound.compile(&table, None).unwrap()
    });
    assert!(compiled.losses().cells() > FEW / 2);
    assert!(peak < FEW * 1000 / 8 * 6, "a peak of {} MB", peak / 1_000_000);
}
