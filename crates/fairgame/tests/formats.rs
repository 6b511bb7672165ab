//! Parquet with every common codec, Arrow files and streams, and text in every layout, read alike.

use std::io::Cursor;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float32Array, Float64Array, Int64Array,
    LargeStringArray, RecordBatch, StringArray, StringViewArray, TimestampMillisecondArray,
};
use fairgame::table::{Kind, Missing, ReadOptions, Source, Table, Values, read};
use parquet::arrow::ArrowWriter;
use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterProperties;

const JOBS: [Option<&str>; 4] = [Some("clerk"), Some(" nurse "), None, Some("?")];

/// The same four jobs in every layout of text, and a few other types.
fn batch() -> RecordBatch {
    let dictionary: DictionaryArray<Int32Type> = JOBS.into_iter().collect();
    let times = TimestampMillisecondArray::from(vec![0, 1, 2, 3]).with_timezone("Europe/Berlin");
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("utf8", Arc::new(StringArray::from_iter(JOBS))),
        ("large", Arc::new(LargeStringArray::from_iter(JOBS))),
        ("view", Arc::new(StringViewArray::from_iter(JOBS))),
        ("dictionary", Arc::new(dictionary)),
        ("integer", Arc::new(Int64Array::from(vec![Some(1), None, Some(-999), Some(4)]))),
        ("single", Arc::new(Float32Array::from(vec![0.5, f32::NAN, 2.0, 3.0]))),
        ("flag", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false), Some(true)]))),
        ("day", Arc::new(Date32Array::from(vec![0, 1, 2, 3]))),
        ("time", Arc::new(times)),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn check(table: &Table) {
    for name in ["utf8", "large", "view", "dictionary"] {
        let Values::Category(jobs) = &table.column(name).unwrap().values else { panic!("{name}") };
        let texts: Vec<_> = jobs.texts().collect();
        assert_eq!(texts, [Some("clerk"), Some("nurse"), None, None], "{name}");
    }
    let Values::Number(integers) = &table.column("integer").unwrap().values else { panic!() };
    assert_eq!((integers[0], integers[1].is_nan(), integers[2].is_nan()), (1.0, true, true));
    let Values::Number(singles) = &table.column("single").unwrap().values else { panic!() };
    assert_eq!((singles[0], singles[1].is_nan()), (0.5, true));
    let flags = Values::Boolean(vec![Some(true), None, Some(false), Some(true)]);
    assert_eq!(table.column("flag").unwrap().values, flags);
    let Values::Category(days) = &table.column("day").unwrap().values else { panic!() };
    assert_eq!(days.texts().next(), Some(Some("1970-01-01")));
    let Values::Category(times) = &table.column("time").unwrap().values else { panic!() };
    assert_eq!(times.texts().next(), Some(Some("1970-01-01T00:00:00")));
}

fn options() -> ReadOptions {
    ReadOptions { missing: Missing::standard().and("-999.0"), ..ReadOptions::default() }
}

fn stream(bytes: Vec<u8>) -> Table {
    read([Source::stream("bytes", Cursor::new(bytes))], &options()).unwrap()
}

#[test]
fn parquet_codecs() {
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::BROTLI(BrotliLevel::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
        Compression::ZSTD(ZstdLevel::default()),
    ];
    for codec in codecs {
        let properties = WriterProperties::builder().set_compression(codec).build();
        let mut bytes = Vec::new();
        let mut writer =
            ArrowWriter::try_new(&mut bytes, batch().schema(), Some(properties)).unwrap();
        writer.write(&batch()).unwrap();
        writer.close().unwrap();
        check(&stream(bytes));
    }
}

#[test]
fn arrow_files_and_streams() {
    let mut file = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch().schema()).unwrap();
    file.write(&batch()).unwrap();
    file.finish().unwrap();
    check(&stream(file.into_inner().unwrap()));

    let mut writer =
        arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &batch().schema()).unwrap();
    writer.write(&batch()).unwrap();
    writer.finish().unwrap();
    let bytes = writer.into_inner().unwrap();
    check(&stream(bytes.clone()));

    // Whatever byte is damaged, it is an error or a table: nothing asks for memory by a wrong length.
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x41;
        let _ = read([Source::stream("bytes", Cursor::new(damaged))], &options());
    }
}

/// A whole number read as a category has the same text from every format.
#[test]
fn numbers_as_categories() {
    let numbers: ArrayRef = Arc::new(Float64Array::from(vec![36.0, 0.5, 1e20]));
    let batch = RecordBatch::try_from_iter([("x", numbers)]).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let kinds = [("x".to_owned(), Kind::Category)].into();
    let options = ReadOptions { kinds, ..ReadOptions::default() };
    let table = read([Source::stream("x.parquet", Cursor::new(bytes))], &options).unwrap();
    let Values::Category(x) = &table.column("x").unwrap().values else { panic!() };
    assert_eq!(x.texts().collect::<Vec<_>>(), [Some("36"), Some("0.5"), Some("1e20")]);
}
