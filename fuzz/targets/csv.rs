//! Any bytes, read as a table, are an error or a table: no panic, no hang, no memory beyond the limits.
//!
//! The first byte says how the rest is read. Rows that come all at once are those that come one at a time: the same
//! values, or the same error.
#![no_main]

use std::io::Cursor;

use fairgame::table::{Header, ReadOptions, Source, Untyped, chunks, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((&how, text)) = bytes.split_first() else { return };
    let bit = |at: u32| how & (1 << at) != 0;
    let options = ReadOptions {
        delimiter: bit(0).then_some(if bit(1) { b' ' } else { b';' }),
        comment: bit(2).then_some(b'#'),
        header: if bit(3) { Header::Absent } else { Header::Present },
        untyped: if bit(4) { Untyped::Text } else { Untyped::Content },
        max_field: if bit(5) { 8 } else { 1 << 12 },
        max_record: if bit(6) { 64 } else { 1 << 16 },
        ..ReadOptions::default()
    };
    let source = || [Source::stream("rows", Cursor::new(text.to_vec()))];
    let whole = read(source(), &options);
    let parts = chunks(source(), &options, 1).and_then(|parts| parts.collect::<Result<Vec<_>, _>>());
    match (whole, parts) {
        (Ok(whole), Ok(parts)) => {
            assert_eq!(parts.len(), whole.rows());
            for (row, part) in parts.iter().enumerate() {
                for (one, all) in part.columns().iter().zip(whole.columns()) {
                    // A column without a value in its first rows may be of another kind.
                    if one.values.kind() == all.values.kind() {
                        assert_eq!(*one, all.take(&[row]));
                    }
                }
            }
        }
        (Err(one), Err(other)) => assert_eq!(one.to_string(), other.to_string()),
        // So may one that has a value that does not fit the kind which no value told.
        (Ok(_), Err(error)) => drop(error.to_string()),
        (Err(error), Ok(_)) => panic!("parts are read, but not the whole: {error}"),
    }
});
