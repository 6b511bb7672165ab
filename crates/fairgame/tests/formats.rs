//! Parquet with every common codec, Arrow files and streams, and text in every layout, read alike.

use std::io::Cursor;
use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, Decimal256Type, Int32Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Date64Array, Decimal128Array, Decimal256Array,
    DictionaryArray, Float32Array, Float64Array, Int8Array, Int32Array, Int64Array,
    LargeStringArray, RecordBatch, StringArray, StringViewArray, Time32SecondArray,
    Time64MicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray,
    TimestampSecondArray, UInt16Array,
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

fn column(array: ArrayRef, options: &ReadOptions) -> fairgame::Result<Values> {
    let batch = RecordBatch::try_from_iter_with_nullable([("x", array, true)]).unwrap();
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let bytes = writer.into_inner().unwrap();
    let table = read([Source::stream("x.arrow", Cursor::new(bytes))], options)?;
    Ok(table.column("x")?.values.clone())
}

/// A decimal number is the number that its text reads as.
#[test]
fn numbers_of_every_type() {
    let decimals = |scale: i8, values: Vec<i128>| {
        Arc::new(Decimal128Array::from(values).with_precision_and_scale(38, scale).unwrap())
    };
    let wide = Decimal256Array::from(vec![Some(Wide::from_i128(12345)), None])
        .with_precision_and_scale(76, 2)
        .unwrap();
    let huge: f64 = "12345678901234567890.12".parse().unwrap();
    let cases: Vec<(ArrayRef, Vec<f64>)> = vec![
        (Arc::new(Int8Array::from(vec![-3, 4])), vec![-3.0, 4.0]),
        (Arc::new(UInt16Array::from(vec![0, 65535])), vec![0.0, 65535.0]),
        (decimals(2, vec![110, -5]), vec![1.1, -0.05]),
        (decimals(2, vec![1_234_567_890_123_456_789_012]), vec![huge]),
        (decimals(-2, vec![7]), vec![700.0]),
        (decimals(30, vec![1]), vec![1e-30]),
        (Arc::new(wide), vec![123.45, f64::NAN]),
    ];
    for (array, expected) in cases {
        let named = format!("{:?}", array.data_type());
        let Values::Number(numbers) = column(array, &options()).unwrap() else { panic!("{named}") };
        let bits = |numbers: &[f64]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&numbers), bits(&expected), "{named}");
    }
    let long = decimals(0, vec![1 << 60]);
    assert!(column(long, &options()).unwrap_err().to_string().contains("1152921504606846976"));
}

/// What Arrow keeps a wide decimal in.
type Wide = <Decimal256Type as ArrowPrimitiveType>::Native;

/// Dates and times are their ISO text, and so is a dictionary of them.
#[test]
fn times_of_every_unit() {
    let keys = Int32Array::from(vec![Some(1), None, Some(0)]);
    let days: ArrayRef = Arc::new(Date32Array::from(vec![0, 18262]));
    let cases: Vec<(ArrayRef, Vec<Option<&str>>)> = vec![
        (Arc::new(Date64Array::from(vec![86_400_000])), vec![Some("1970-01-02T00:00:00")]),
        (Arc::new(Time32SecondArray::from(vec![3661])), vec![Some("01:01:01")]),
        (Arc::new(Time64MicrosecondArray::from(vec![1_500_000])), vec![Some("00:00:01.500")]),
        (
            Arc::new(TimestampSecondArray::from(vec![Some(0), None])),
            vec![Some("1970-01-01T00:00:00"), None],
        ),
        (
            Arc::new(TimestampNanosecondArray::from(vec![1])),
            vec![Some("1970-01-01T00:00:00.000000001")],
        ),
        (
            Arc::new(DictionaryArray::new(keys, days)),
            vec![Some("2020-01-01"), None, Some("1970-01-01")],
        ),
    ];
    for (array, expected) in cases {
        let named = format!("{:?}", array.data_type());
        let Values::Category(texts) = column(array, &options()).unwrap() else { panic!("{named}") };
        assert_eq!(texts.texts().collect::<Vec<_>>(), expected, "{named}");
    }
    let beyond: ArrayRef = Arc::new(TimestampSecondArray::from(vec![i64::MAX]));
    let error = column(beyond, &options()).unwrap_err().to_string();
    assert!(error.contains("beyond the calendar"), "{error}");
}

/// Texts of a dictionary that no row has may be of any length; one that a row has is refused with its row.
#[test]
fn texts_that_no_row_has() {
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["a text that is long", "short"]));
    let options = ReadOptions { max_field: 10, ..ReadOptions::default() };
    let unused = DictionaryArray::new(Int32Array::from(vec![1, 1]), Arc::clone(&texts));
    let Values::Category(found) = column(Arc::new(unused), &options).unwrap() else { panic!() };
    assert_eq!(found.texts().collect::<Vec<_>>(), [Some("short"), Some("short")]);
    let used = DictionaryArray::new(Int32Array::from(vec![1, 0]), texts);
    let error = column(Arc::new(used), &options).unwrap_err().to_string();
    assert!(error.contains("row 2"), "{error}");
}
