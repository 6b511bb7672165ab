//! Data for the benches: as large as asked for, the same on every run.

use std::io::Read;
use std::path::Path;

use fairgame::Result;
use fairgame::random::Stream;
use fairgame::table::{Format, ReadOptions, Shipped, Source, Table, Values, Writer, read};

/// A CSV of Adult's rows, over and over, with a header.
///
/// # Panics
/// If the shipped data cannot be read.
pub fn adult_like_csv(rows: usize) -> Vec<u8> {
    let shipped = Shipped::find("adult").expect("Adult is shipped");
    let mut text = String::new();
    flate2::read::GzDecoder::new(shipped.bytes).read_to_string(&mut text).expect("it is gzip");
    let (header, body) = text.split_once('\n').expect("it has a header");
    let mut csv = format!("{header}\n").into_bytes();
    for line in body.lines().cycle().take(rows) {
        csv.extend_from_slice(line.as_bytes());
        csv.push(b'\n');
    }
    csv
}

/// Rows that are written at a time.
const CHUNK: usize = 1 << 16;

/// Writes so many rows like Adult's to a Parquet file.
///
/// Each is one of Adult's rows, drawn at random, with other numbers near its own, so that rows are no copies of each
/// other. It is the same file on every run.
///
/// # Errors
/// If the file cannot be written.
pub fn write_adult_like(rows: usize, path: &Path) -> Result<()> {
    let adult = read([Source::parse("@adult")?], &ReadOptions::default())?;
    let mut writer = Writer::file(path, Format::Parquet)?;
    for first in (0..rows).step_by(CHUNK) {
        writer.write(&adult_like(&adult, first..rows.min(first + CHUNK)))?;
    }
    writer.finish()
}

/// Rows like Adult's, by their numbers.
fn adult_like(adult: &Table, rows: std::ops::Range<usize>) -> Table {
    let count = rows.len();
    let mut stream = Stream::new(rows.start as u64, "adult-like");
    let drawn: Vec<usize> =
        (0..count).map(|_| stream.below(adult.rows() as u64) as usize).collect();
    let columns = adult.take(&drawn).columns().to_vec().into_iter().map(|mut column| {
        // How far a number is moved at most, where it is.
        let far = match column.name.as_str() {
            "age" => 3.0,
            "fnlwgt" => 20_000.0,
            "hours_per_week" => 5.0,
            _ => 0.0,
        };
        if let (Values::Number(numbers), true) = (&mut column.values, far > 0.0) {
            for number in numbers {
                *number = (*number + (2.0 * stream.unit() - 1.0) * far).round().max(1.0);
            }
        }
        column
    });
    Table::new(columns.collect()).expect("the columns of a table")
}
