//! Any bytes, read as an Arrow stream, are an error or a table: no panic that gets out, no hang, and no more memory than
//! the stream can fill.
//!
//! The first byte says what the others are: 0 a stream as it is, anything else changes of three bytes (a place and a
//! value) to a sound stream, which the first byte chooses.
#![no_main]

use std::io::Cursor;
use std::sync::{Arc, OnceLock};

use arrow_array::types::Int32Type;
use arrow_array::{
    BooleanArray, DictionaryArray, Float64Array, Int64Array, NullArray, RecordBatch, StringArray,
    TimestampMillisecondArray,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use fairgame::table::{ReadOptions, Source, read};
use libfuzzer_sys::fuzz_target;

/// Sound streams: plain, and compressed in both ways.
fn streams() -> &'static [Vec<u8>; 3] {
    static STREAMS: OnceLock<[Vec<u8>; 3]> = OnceLock::new();
    STREAMS.get_or_init(|| {
        let dictionary: DictionaryArray<Int32Type> = ["a", "b", "a", "c"].into_iter().collect();
        let batch = RecordBatch::try_from_iter([
            ("x", Arc::new(Float64Array::from(vec![1.0, 2.0, f64::NAN, 4.0])) as _),
            ("n", Arc::new(Int64Array::from(vec![Some(1), None, Some(3), Some(4)])) as _),
            ("town", Arc::new(StringArray::from(vec!["Rome", "Oslo", "", "Rome"])) as _),
            ("group", Arc::new(dictionary) as _),
            ("hired", Arc::new(BooleanArray::from(vec![true, false, true, true])) as _),
            ("at", Arc::new(TimestampMillisecondArray::from(vec![1, 2, 3, 4])) as _),
            ("nothing", Arc::new(NullArray::new(4)) as _),
        ])
        .expect("a batch");
        [None, Some(CompressionType::ZSTD), Some(CompressionType::LZ4_FRAME)].map(|codec| {
            let options = IpcWriteOptions::default().try_with_compression(codec).expect("an option");
            let mut bytes = Vec::new();
            let mut writer = StreamWriter::try_new_with_options(&mut bytes, &batch.schema(), options)
                .expect("a writer");
            writer.write(&batch).and_then(|()| writer.write(&batch)).expect("written");
            writer.finish().expect("written");
            drop(writer);
            bytes
        })
    })
}

fuzz_target!(|bytes: &[u8]| {
    // The library turns the readers' panics into errors: they are not to end the fuzzing.
    static QUIET: OnceLock<()> = OnceLock::new();
    QUIET.get_or_init(|| {
        let loud = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let file = panic.location().map_or("", |location| location.file());
            if !["/arrow-", "/flatbuffers-"].iter().any(|name| file.contains(name)) {
                loud(panic);
            }
        }));
    });
    let Some((&how, rest)) = bytes.split_first() else { return };
    let stream = match how {
        0 => rest.to_vec(),
        how => {
            let mut stream = streams()[usize::from(how) % 3].clone();
            let (edits, _) = rest.as_chunks::<3>();
            for [low, high, value] in edits {
                let place = usize::from(u16::from_le_bytes([*low, *high])) % stream.len();
                stream[place] = *value;
            }
            stream
        }
    };
    match read([Source::stream("rows", Cursor::new(stream))], &ReadOptions::default()) {
        Err(error) => drop(error.to_string()),
        Ok(table) => assert!(table.columns().iter().all(|column| column.values.len() == table.rows())),
    }
});
