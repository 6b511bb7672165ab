//! A field and a row have limits: what is beyond them is an error with its line, however long the input goes on.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fairgame::table::Category;
use fairgame::table::{Column, Format, ReadOptions, Source, Table, Values, Writer, read};
use fairgame::{Error, Remedy};

fn limited(max_field: usize, max_record: usize) -> ReadOptions {
    ReadOptions { max_field, max_record, ..ReadOptions::default() }
}

fn csv(text: &str, options: &ReadOptions) -> Result<Table, Error> {
    read([Source::stream("rows.csv", io::Cursor::new(text.to_owned()))], options)
}

/// Text that begins one way and goes on with one byte, and counts what is taken of it.
struct Endless {
    first: io::Cursor<Vec<u8>>,
    byte: u8,
    taken: Arc<AtomicU64>,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match self.first.read(buffer)? {
            0 => {
                buffer.fill(self.byte);
                buffer.len()
            }
            read => read,
        };
        let before = self.taken.fetch_add(read as u64, Ordering::Relaxed);
        // Without a limit this would not end.
        if before > 1 << 30 { Err(io::Error::other("a gigabyte was taken")) } else { Ok(read) }
    }
}

/// The error for text that goes on with `byte` for ever.
fn endless(first: &str, byte: u8) -> String {
    let taken = Arc::new(AtomicU64::new(0));
    let first = io::Cursor::new(first.as_bytes().to_vec());
    let source = Source::stream("rows.csv", Endless { first, byte, taken: Arc::clone(&taken) });
    let error = read([source], &ReadOptions::default()).expect_err("it never ends").to_string();
    let taken = taken.load(Ordering::Relaxed);
    assert!(taken < 300 << 20, "{taken} bytes were taken: {error}");
    error
}

#[test]
fn a_field_without_end_is_an_error_with_its_line() {
    for (first, byte) in [
        ("a,b\n1,2\n3,", b'x'),
        ("a,b\n1,2\n3,\"x", b'x'),
        ("a,b\n1,2\n3,\"x", b'\n'),
        ("a,b\n1,2\n3,\"x", b'"'),
        ("a,b\n1,2\n3,", b' '),
    ] {
        let error = endless(first, byte);
        let wanted = "rows.csv, line 3: the field has more than 67108864 bytes";
        assert!(error.starts_with(wanted), "{first:?} and {byte}: {error}");
    }
    let row = endless("a,b\n1,2\n3,4\n", b',');
    assert!(row.starts_with("rows.csv, line 4: the row has more than 134217728 bytes"), "{row}");
    let header = endless("a", b'b');
    assert!(header.starts_with("rows.csv, line 1: the field has more"), "{header}");
}

#[test]
fn limits_are_exact_and_count_what_is_within_quotes() {
    let text = "a,b\n1,\"ten \"\"bytes\"\nx,y\n";
    assert_eq!(csv(text, &limited(10, 27)).expect("just so").rows(), 2);
    let error = csv(text, &limited(9, 27)).expect_err("one too many");
    assert!(
        error.message().ends_with("line 2, field 2: the field has more than 9 bytes"),
        "{error}"
    );
    assert!(error.remedies().contains(&Remedy::MaxField), "{error}");
    let error = csv(text, &limited(10, 26)).expect_err("one too many");
    assert!(error.message().ends_with("line 2: the row has more than 26 bytes"), "{error}");
    assert!(error.remedies().contains(&Remedy::MaxRecord), "{error}");
    // A comment is no field, and neither is the rest of the file.
    let comment = ReadOptions { comment: Some(b'#'), ..limited(3, 18) };
    let text = format!("a,b\n# {}\n{}", "long ".repeat(100_000), "1,2\n".repeat(1000));
    assert_eq!(csv(&text, &comment).expect("short fields").rows(), 1000);
    assert!(csv("a\n1\n", &limited(0, 5)).is_err());
}

#[test]
fn texts_of_parquet_and_arrow_have_the_same_limit() {
    let folder = tempfile::tempdir().expect("a folder");
    let texts = Category::from_texts([Some("short"), Some("a longer text"), None]);
    let table = Table::new(vec![Column::new("a", Values::Category(texts))]).expect("a table");
    for format in [Format::Parquet, Format::Arrow, Format::CsvZst] {
        let path = folder.path().join(format!("rows.{format}"));
        let mut writer = Writer::file(&path, format).expect("a file");
        writer.write(&table).and_then(|()| writer.finish()).expect("it is written");
        let all = |options: &ReadOptions| read([Source::Path(path.clone())], options);
        assert_eq!(all(&limited(13, 21)).expect("just so"), table);
        let error = all(&limited(12, 21)).expect_err("one too many").to_string();
        assert!(error.contains("more than 12 bytes"), "{error}");
    }
}

#[test]
fn a_small_compressed_file_cannot_fill_the_memory() {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(b"a,b\n1,2\n3,").expect("to memory");
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..400 {
        packed.write_all(&piece).expect("to memory");
    }
    let packed = packed.finish().expect("to memory");
    assert!(packed.len() < 1 << 20);
    let source = Source::stream("rows.csv.gz", io::Cursor::new(packed));
    let error = read([source], &ReadOptions::default()).expect_err("too long").to_string();
    assert!(error.starts_with("rows.csv.gz, line 3: the field has more than"), "{error}");
}
