//! Data for the benches: as large as asked for, the same on every run.

use std::io::Read;

use fairgame::table::Shipped;

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
