//! A file that we wrote and that was damaged is an error, or reads as it was: never as other values.

use std::fs;
use std::path::Path;

use fairgame::random::Stream;
use fairgame::table::{Category, Column, Format, ReadOptions, Source, Table, Values, read, write};

fn people() -> Table {
    let mut stream = Stream::new(7, "damage");
    let rows = 3000;
    let numbers = (0..rows).map(|_| stream.unit()).collect();
    let texts: Vec<String> = (0..rows).map(|row| format!("town {}", row * 7 % 50)).collect();
    let texts = Category::from_texts(texts.iter().map(|text| Some(text.as_str())));
    let truths = (0..rows).map(|row| (row % 11 > 0).then_some(row % 3 == 0)).collect();
    Table::new(vec![
        Column::new("x", Values::Number(numbers)),
        Column::new("town", Values::Category(texts)),
        Column::new("hired", Values::Boolean(truths)),
    ])
    .expect("a table")
}

fn all(path: &Path) -> fairgame::Result<Table> {
    read([Source::Path(path.to_owned())], &ReadOptions::default())
}

#[test]
fn a_bit_that_changed_is_not_read_as_another_value() {
    let folder = tempfile::tempdir().expect("a folder");
    let table = people();
    for format in [Format::Arrow, Format::Parquet, Format::CsvZst, Format::CsvGz] {
        let path = folder.path().join(format!("people.{format}"));
        write(&table, &path, format).expect("written");
        assert_eq!(all(&path).expect("sound"), table, "{format}");
        // Held in memory, as from a pipe, it is the same.
        let sound = fs::read(&path).expect("read");
        let piped = Source::stream("people", std::io::Cursor::new(sound.clone()));
        assert_eq!(read([piped], &ReadOptions::default()).expect("sound"), table, "{format}");

        let mut stream = Stream::new(1, format.ending());
        let mut refused = 0;
        for _ in 0..300 {
            let mut bytes = sound.clone();
            let at = stream.below(bytes.len() as u64) as usize;
            bytes[at] ^= 1 << stream.below(8);
            fs::write(&path, &bytes).expect("written");
            match all(&path) {
                Err(_) => refused += 1,
                Ok(found) => {
                    assert_eq!(found, table, "{format}: the bit at {at} of {}", bytes.len())
                }
            }
        }
        assert!(refused > 270, "{format}: {refused} of 300 were refused");
    }
}

/// Files of others have no checksum of ours, and are read as ever.
#[test]
fn a_file_without_a_checksum_is_read() {
    use std::sync::Arc;

    use arrow_array::{Float64Array, RecordBatch};
    use arrow_schema::{DataType, Field, Schema};
    let folder = tempfile::tempdir().expect("a folder");
    let schema = Arc::new(Schema::new(vec![Field::new("x", DataType::Float64, false)]));
    let column = Arc::new(Float64Array::from(vec![1.0, 2.0]));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![column]).expect("a batch");

    let path = folder.path().join("plain.arrow");
    let file = fs::File::create(&path).expect("a file");
    let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &schema).expect("a writer");
    writer.write(&batch).and_then(|()| writer.finish()).expect("written");
    assert_eq!(all(&path).expect("sound").rows(), 2);

    let path = folder.path().join("plain.parquet");
    let file = fs::File::create(&path).expect("a file");
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, schema, None).expect("a writer");
    writer.write(&batch).expect("written");
    writer.close().expect("written");
    assert_eq!(all(&path).expect("sound").rows(), 2);
}

/// Who reads our Parquet file and writes another may copy what it says of itself: that is not about the new file.
#[test]
fn a_checksum_that_was_copied_to_another_file() {
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use parquet::file::properties::WriterProperties;
    let folder = tempfile::tempdir().expect("a folder");
    let (path, other) = (folder.path().join("ours.parquet"), folder.path().join("other.parquet"));
    let table = people();
    write(&table, &path, Format::Parquet).expect("written");
    let ours = ParquetRecordBatchReaderBuilder::try_new(fs::File::open(&path).expect("a file"));
    let ours = ours.expect("a reader");
    let told = ours.metadata().file_metadata().key_value_metadata().cloned();
    assert!(told.iter().flatten().any(|pair| pair.key == "fairgame.sha256"));
    let properties = WriterProperties::builder().set_key_value_metadata(told).build();
    let (file, schema) = (fs::File::create(&other).expect("a file"), ours.schema().clone());
    let writer = parquet::arrow::ArrowWriter::try_new(file, schema, Some(properties));
    let mut writer = writer.expect("a writer");
    for batch in ours.build().expect("batches") {
        writer.write(&batch.expect("a batch")).expect("written");
    }
    writer.close().expect("written");
    assert_eq!(all(&other).expect("sound"), table);
}

/// Lengths that a stream or a file claims are not believed: a small one cannot ask for terabytes.
#[test]
fn claims_of_compressed_buffers_are_checked() {
    use std::sync::Arc;

    use arrow_array::{Float64Array, RecordBatch};
    use arrow_ipc::CompressionType;
    use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
    use arrow_schema::{DataType, Field, Schema};
    let schema = Arc::new(Schema::new(vec![Field::new("x", DataType::Float64, false)]));
    let column = Arc::new(Float64Array::from(vec![1.5; 4096]));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![column]).expect("a batch");
    for codec in [CompressionType::ZSTD, CompressionType::LZ4_FRAME] {
        let options =
            IpcWriteOptions::default().try_with_compression(Some(codec)).expect("options");
        let mut stream = Vec::new();
        let mut writer =
            StreamWriter::try_new_with_options(&mut stream, &schema, options.clone()).expect("one");
        writer.write(&batch).and_then(|()| writer.finish()).expect("written");
        let mut file = Vec::new();
        let mut writer =
            FileWriter::try_new_with_options(&mut file, &schema, options).expect("one");
        writer.write(&batch).and_then(|()| writer.finish()).expect("written");
        for sound in [stream, file] {
            let source =
                |bytes: &[u8]| Source::stream("rows", std::io::Cursor::new(bytes.to_vec()));
            let table = read([source(&sound)], &ReadOptions::default()).expect("sound");
            assert_eq!(table.rows(), 4096);
            let claim = (4096_u64 * 8).to_le_bytes();
            let at = sound.windows(8).position(|window| window == claim).expect("the claim");
            let mut lying = sound.clone();
            lying[at..at + 8].copy_from_slice(&(1_u64 << 45).to_le_bytes());
            let error = read([source(&lying)], &ReadOptions::default()).expect_err("too long");
            assert!(error.to_string().contains("claims to be longer"), "{error}");
        }
    }
}
