//! A million Adult-like rows are read and encoded within 300 MB.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use fairgame::encode::{Encoder, EncoderSpec};
use fairgame::table::{ReadOptions, Shipped, Source, read};

/// The system's allocator, with the bytes in use and their peak counted.
struct Counting;

static USED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        PEAK.fetch_max(USED.fetch_add(layout.size(), Relaxed) + layout.size(), Relaxed);
        // SAFETY: the caller's layout.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the block came from the same allocator with the same layout.
        unsafe { System.dealloc(block, layout) }
    }

    // `realloc` is the default one: allocate, copy, free. Its peak, with the old and the new block
    // both in use, is the worst that any system can show.
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const ROWS: usize = 1_000_000;
const LIMIT: usize = 300_000_000;

#[test]
fn a_million_rows_within_300_mb() {
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

    let before = USED.load(Relaxed);
    PEAK.store(before, Relaxed);
    let table = read([Source::Path(path)], &ReadOptions::default()).unwrap();
    let (encoder, _) = Encoder::fit(&EncoderSpec::default(), &table).unwrap();
    let features = encoder.encode(&table).unwrap();
    let peak = PEAK.load(Relaxed) - before;
    assert_eq!((table.rows(), features.rows()), (ROWS, ROWS));
    assert!(peak < LIMIT, "a peak of {} MB", peak / 1_000_000);
}
