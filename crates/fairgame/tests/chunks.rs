//! Tables read in chunks, of whatever size and from whatever format, are the whole table; written in
//! chunks, they are the same file.

mod common;

use std::io::{Cursor, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, NullArray, RecordBatch, StringArray};
use arrow_ipc::writer::StreamWriter;
use fairgame::Result;
use fairgame::table::{
    Category, Column, Format, Kind, ReadOptions, Source, Table, Untyped, Values, Writer, chunks,
    read, write,
};
use proptest::prelude::*;

const SIZES: [usize; 4] = [1, 7, 1000, usize::MAX];

/// Chunks put together again, each of which but the last is full.
fn joined(sources: Vec<Source>, options: &ReadOptions, size: usize) -> Result<Table> {
    let tables = chunks(sources, options, size)?.collect::<Result<Vec<Table>>>()?;
    let (last, full) = tables.split_last().expect("an error, or a table");
    assert!(full.iter().all(|table| table.rows() == size) && (1..=size).contains(&last.rows()));
    Ok(join(&tables))
}

fn join(tables: &[Table]) -> Table {
    let column = |at: usize| {
        let parts = || tables.iter().map(|table| &table.columns()[at].values);
        let first = &tables[0].columns()[at];
        assert!(parts().all(|part| part.kind() == first.values.kind()), "{}", first.name);
        let values = match &first.values {
            Values::Number(_) => Values::Number(
                parts()
                    .flat_map(|part| match part {
                        Values::Number(numbers) => numbers.clone(),
                        _ => Vec::new(),
                    })
                    .collect(),
            ),
            Values::Category(_) => {
                Values::Category(Category::from_texts(parts().flat_map(|part| match part {
                    Values::Category(category) => category.texts().collect(),
                    _ => Vec::new(),
                })))
            }
            Values::Boolean(_) => Values::Boolean(
                parts()
                    .flat_map(|part| match part {
                        Values::Boolean(truths) => truths.clone(),
                        _ => Vec::new(),
                    })
                    .collect(),
            ),
        };
        Column::new(&first.name, values)
    };
    Table::new((0..tables[0].columns().len()).map(column).collect()).expect("columns of one length")
}

/// Two numbers, texts of which nearly all differ, a few texts, and truth values, with gaps.
fn table(rows: usize) -> Table {
    let text = |row: usize| (row % 11 != 3).then(|| format!("k{}", row * 7919 % 5003));
    let texts: Vec<Option<String>> = (0..rows).map(text).collect();
    let jobs = ["clerk", "nurse, chief", "pilot \"ace\"", "line\nbreak"];
    let category = |texts: Vec<Option<&str>>| Values::Category(Category::from_texts(texts));
    let number = |row: usize| if row % 13 == 5 { f64::NAN } else { (row * 37 % 1009) as f64 / 8.0 };
    Table::new(vec![
        Column::new("key", category(texts.iter().map(Option::as_deref).collect())),
        Column::new("x", Values::Number((0..rows).map(number).collect())),
        Column::new("job", category((0..rows).map(|row| Some(jobs[row % 4])).collect())),
        Column::new(
            "flag",
            Values::Boolean((0..rows).map(|r| [Some(true), Some(false), None][r % 3]).collect()),
        ),
        Column::new("n", Values::Number((0..rows).map(|row| row as f64).collect())),
    ])
    .expect("columns of one length")
}

fn arrow_stream(batches: &[RecordBatch]) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

fn path(path: &Path) -> Vec<Source> {
    vec![Source::Path(path.to_owned())]
}

/// Every format, also as a stream; several files; a folder.
#[test]
fn chunks_are_the_whole() {
    let whole = table(20_011);
    let folder = tempfile::tempdir().unwrap();
    let options = ReadOptions::default();
    for format in Format::ALL.into_iter().filter(|&format| format != Format::JsonLines) {
        let file = folder.path().join(format!("all.{format}"));
        write(&whole, &file, format).unwrap();
        let bytes = std::fs::read(&file).unwrap();
        for size in SIZES {
            assert!(joined(path(&file), &options, size).unwrap() == whole, "{format} by {size}");
            let stream = vec![Source::stream("stream", Cursor::new(bytes.clone()))];
            assert!(joined(stream, &options, size).unwrap() == whole, "piped {format} by {size}");
        }
    }
    // Parts whose ends are not those of chunks, in formats that take turns.
    let parts = folder.path().join("parts");
    std::fs::create_dir(&parts).unwrap();
    for (part, format) in [Format::Parquet, Format::Csv, Format::Arrow].into_iter().enumerate() {
        let rows: Vec<usize> = (part * 7000..20_011.min(part * 7000 + 7000)).collect();
        write(&whole.take(&rows), &parts.join(format!("{part}.{format}")), format).unwrap();
    }
    for size in SIZES {
        assert!(joined(path(&parts), &options, size).unwrap() == whole, "parts by {size}");
    }
}

#[test]
fn arrow_streams_come_a_message_at_a_time() {
    let batch = |first: i64| {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter(first..first + 10));
        let texts: ArrayRef =
            Arc::new(StringArray::from_iter_values((first..first + 10).map(|n| format!("t{n}"))));
        RecordBatch::try_from_iter([("n", numbers), ("t", texts)]).unwrap()
    };
    let bytes = arrow_stream(&[batch(0), batch(10), batch(20)]);
    let source = |bytes: &[u8]| vec![Source::stream("s", Cursor::new(bytes.to_vec()))];
    let whole = read(source(&bytes), &ReadOptions::default()).unwrap();
    assert_eq!(whole.rows(), 30);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(&bytes).unwrap();
    let gzip = gzip.finish().unwrap();
    for size in [1, 7, 10, 1000] {
        assert!(joined(source(&bytes), &ReadOptions::default(), size).unwrap() == whole);
        assert!(joined(source(&gzip), &ReadOptions::default(), size).unwrap() == whole);
    }
    // Cut off anywhere within a message: the rows before it, then an error, never fewer rows.
    for (kept, bytes) in [(bytes.len() - 100, &bytes), (gzip.len() - 20, &gzip)] {
        let tables: Vec<Result<Table>> =
            chunks(source(&bytes[..kept]), &ReadOptions::default(), 5).unwrap().collect();
        let (last, before) = tables.split_last().unwrap();
        assert!(last.is_err() && before.iter().all(Result::is_ok), "{tables:?}");
    }
}

/// The bad value is named by its place in the file, as if it had been read at once; and nothing
/// follows it.
#[test]
fn errors_are_those_of_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("people.csv");
    let mut text = "a,b\n".to_owned();
    (0..2500).for_each(|row| text += &format!("{row},\"x\ny\"\n"));
    text += "oops,z\n";
    std::fs::write(&csv, &text).unwrap();
    let kinds = [("a".to_owned(), Kind::Number)].into();
    let declared = ReadOptions { kinds, ..ReadOptions::default() };
    let numbers: ArrayRef = Arc::new(Float64Array::from_iter_values(
        (0..2500).map(|row| if row == 2468 { f64::INFINITY } else { f64::from(row) }),
    ));
    let arrow = arrow_stream(&[RecordBatch::try_from_iter([("a", numbers)]).unwrap()]);
    let arrow = || vec![Source::stream("a.arrows", Cursor::new(arrow.clone()))];
    let wanted = read(path(&csv), &declared).unwrap_err().to_string();
    assert!(wanted.contains("people.csv, line 5002: column `a` holds `oops`"), "{wanted}");
    let infinite = read(arrow(), &ReadOptions::default()).unwrap_err().to_string();
    assert!(infinite.contains("a.arrows, row 2469: column `a` holds `inf`"), "{infinite}");
    for size in SIZES {
        let mut tables = chunks(path(&csv), &declared, size).unwrap();
        let errors: Vec<String> =
            tables.by_ref().filter_map(|table| Some(table.err()?.to_string())).collect();
        assert_eq!(errors, [wanted.as_str()], "by {size}");
        assert!(tables.next().is_none());
        assert_eq!(
            joined(arrow(), &ReadOptions::default(), size).unwrap_err().to_string(),
            infinite
        );
    }
    let empty = || vec![Source::stream("none.csv", &b"a,b\n"[..])];
    let wanted = read(empty(), &ReadOptions::default()).unwrap_err().to_string();
    assert_eq!(joined(empty(), &ReadOptions::default(), 7).unwrap_err().to_string(), wanted);
    assert!(chunks(empty(), &ReadOptions::default(), 0).is_err());
}

/// Kinds do not change from chunk to chunk: content decides on the first rows, or not at all.
#[test]
fn kinds_are_of_the_whole() {
    let mut text = "id,amount,gap\n".to_owned();
    (1..=9).for_each(|row| text += &format!("{row},{row}.50,\n"));
    text += "007,true,5\n";
    let csv = || Source::stream("x.csv", Cursor::new(text.clone().into_bytes()));
    let kinds = |table: &Table| -> Vec<Kind> {
        table.columns().iter().map(|column| column.values.kind()).collect()
    };
    let as_text = ReadOptions { untyped: Untyped::Text, ..ReadOptions::default() };
    for size in SIZES {
        let table = joined(vec![csv()], &as_text, size).unwrap();
        assert_eq!(kinds(&table), [Kind::Category; 3]);
        let Values::Category(ids) = &table.columns()[0].values else { panic!() };
        assert_eq!(ids.texts().last(), Some(Some("007")));
        let Values::Category(amounts) = &table.columns()[1].values else { panic!() };
        assert_eq!(amounts.texts().next(), Some(Some("1.50")));
        assert!(table == joined(vec![csv()], &as_text, usize::MAX).unwrap());
        let by_content = joined(vec![csv()], &ReadOptions::default(), size).unwrap();
        assert_eq!(kinds(&by_content), [Kind::Category, Kind::Category, Kind::Number]);
    }
    // Types are those of the file; where it has none to tell, any value is taken as text.
    let numbers = || {
        let one: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
        let batch = RecordBatch::try_from_iter([("id", Arc::clone(&one)), ("gap", one)]).unwrap();
        Source::stream("numbers", Cursor::new(arrow_stream(&[batch])))
    };
    let nulls = || {
        let id: ArrayRef = Arc::new(Int64Array::from(vec![3, 4]));
        let gap: ArrayRef = Arc::new(NullArray::new(2));
        let batch = RecordBatch::try_from_iter([("id", id), ("gap", gap)]).unwrap();
        Source::stream("nulls", Cursor::new(arrow_stream(&[batch])))
    };
    for size in [1, 2, 3, 100] {
        let table = joined(vec![nulls(), numbers()], &as_text, size).unwrap();
        assert_eq!(kinds(&table), [Kind::Number, Kind::Category]);
        let table = joined(vec![numbers(), nulls()], &as_text, size).unwrap();
        assert_eq!(kinds(&table), [Kind::Number, Kind::Number]);
    }
}

/// Whole or not at all, with the same bytes or the same rows whatever the chunks.
#[test]
fn written_in_chunks_is_written_whole() {
    let whole = table(2_003);
    let folder = tempfile::tempdir().unwrap();
    for format in Format::ALL {
        let (once, often) = (folder.path().join("once"), folder.path().join("often"));
        write(&whole, &once, format).unwrap();
        for size in [1, 7, 1000] {
            let mut writer = Writer::file(&often, format).unwrap();
            for first in (0..whole.rows()).step_by(size) {
                let rows: Vec<usize> = (first..whole.rows().min(first + size)).collect();
                writer.write(&whole.take(&rows)).unwrap();
                assert!(!often.exists());
            }
            let other = Table::new(vec![Column::new("x", Values::Number(vec![1.0]))]).unwrap();
            assert!(writer.write(&other).is_err(), "other columns");
            writer.finish().unwrap();
            match format {
                Format::Csv | Format::JsonLines => {
                    assert_eq!(std::fs::read(&often).unwrap(), std::fs::read(&once).unwrap());
                }
                _ => {
                    let read = |file| read(path(file), &ReadOptions::default()).unwrap();
                    assert!(read(&often) == whole && read(&once) == whole, "{format} by {size}");
                }
            }
            std::fs::remove_file(&often).unwrap();
        }
        std::fs::remove_file(&once).unwrap();
        // Left before its end.
        let mut writer = Writer::file(&often, format).unwrap();
        writer.write(&whole).unwrap();
        drop(writer);
        assert!(Writer::file(&often, format).unwrap().finish().is_err(), "no table");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{format}");
    }
    assert!(Writer::file(folder.path(), Format::Csv).is_err(), "a folder");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_table_in_any_chunks(whole in common::table(1..40), size in 1_usize..50) {
        for format in [Format::Csv, Format::Parquet, Format::Arrow] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("table");
            write(&whole, &file, format).unwrap();
            // Text has no types of its own: those of the table are declared.
            let kinds = whole.columns().iter().map(|c| (c.name.clone(), c.values.kind())).collect();
            let options = ReadOptions { kinds, ..ReadOptions::default() };
            prop_assert_eq!(joined(path(&file), &options, size).unwrap(), read(path(&file), &options).unwrap());
        }
    }
}
