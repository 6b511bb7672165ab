//! Bad input ends in exit code 2 and one error that says where, what and what to do; nothing is
//! printed as data and nothing is written.

mod common;

use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, ListArray, RecordBatch};
use common::Folder;
use parquet::arrow::ArrowWriter;

/// The run is refused with one error that says all of `phrases`, and leaves the folder as it was.
#[track_caller]
fn refused(folder: &Folder, arguments: &[&str], phrases: &[&str]) {
    let before = folder.listing();
    let run = folder.fairgame(arguments);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert_eq!(run.stdout, "");
    let errors = run.stderr.lines().filter(|line| line.starts_with("error: ")).count();
    assert_eq!(errors, 1, "{}", run.stderr);
    assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
    for phrase in phrases {
        assert!(run.stderr.contains(phrase), "no `{phrase}` in: {}", run.stderr);
    }
    assert!(folder.listing() == before, "the folder changed");
}

/// `data describe` of the only file `name`, which holds `content`, is refused.
#[track_caller]
fn refused_file(name: &str, content: impl AsRef<[u8]>, arguments: &[&str], phrases: &[&str]) {
    let folder = Folder::with(name, content);
    let phrases = [&[name, "help: "], phrases].concat();
    refused(&folder, &[&["data", "describe", name], arguments].concat(), &phrases);
}

const PEOPLE: &str = "age,job,zip\n25,clerk,007\n35,nurse,123\n";

#[test]
fn nothing_to_read() {
    let folder = Folder::with("notes/readme.txt", "no data here");
    refused(
        &folder,
        &["data", "describe", "absent.csv"],
        &["error: absent.csv: no such file or folder", "help: check the path"],
    );
    refused(
        &folder,
        &["data", "describe", "notes"],
        &["error: notes: the folder has no data files", "help: data files end in .csv,"],
    );
    refused_file("empty.csv", "", &[], &["the file is empty", "at least one row"]);
    refused_file("blank.csv", "\n\n\n", &[], &["the file is empty"]);
    refused_file("header.csv", "age,job\n", &[], &["columns, but no row of data", "--no-header"]);
}

#[test]
fn rows_and_headers_that_do_not_fit() {
    refused_file(
        "ragged.csv",
        "age,job\n25,clerk\n35,nurse\n45\n55,pilot\n",
        &[],
        &[
            "ragged.csv, line 4: the number of fields is 1 here and 2 in the first line",
            "--delimiter",
        ],
    );
    refused_file(
        "long.csv",
        "age,job\n25,clerk, cook\n",
        &[],
        &["long.csv, line 2: the number of fields is 3 here", "quote fields that contain `,`"],
    );
    refused_file(
        "twice.csv",
        "age,job,age\n25,clerk,25\n",
        &[],
        &["columns 1 and 3 are both named `age`", "help: rename one"],
    );
    refused_file("unnamed.csv", "age,\n25,clerk\n", &[], &["column 2 of 2 has no name", "--names"]);
    refused_file(
        "people.csv",
        PEOPLE,
        &["--names", "a,b"],
        &["2 column names are given for rows of 3 fields", "one name for each field"],
    );
    refused_file(
        "quote.csv",
        "age,job\n25,clerk\n\"35,nurse\n45,clerk\n",
        &[],
        &["quote.csv, line 3: a quote in this row is never closed"],
    );
}

#[test]
fn text_that_is_not_utf8() {
    refused_file(
        "cell.csv",
        b"age,job\n25,clerk\n35,caf\xe9\n",
        &[],
        &["cell.csv, line 3: column `job` holds bytes that are not UTF-8", "help: convert"],
    );
    refused_file(
        "header.csv",
        b"age,m\xe9tier\n25,clerk\n",
        &[],
        &["header.csv, line 1", "bytes that are not UTF-8", "help: convert"],
    );
}

#[test]
fn compressed_files_cut_short() {
    let mut text = String::from("number,square\n");
    for number in 0..50_000_u64 {
        text += &format!("{number},{}\n", number * number);
    }
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text.as_bytes()).expect("written to memory");
    let gzip = gzip.finish().expect("written to memory");
    let zstd = zstd::encode_all(text.as_bytes(), 0).expect("written to memory");
    for (name, whole) in [("squares.csv.gz", gzip), ("squares.csv.zst", zstd)] {
        for kept in [15, whole.len() / 2, whole.len() - 4, whole.len() - 1] {
            let phrases = ["the compressed data ends early", "help: copy or download"];
            refused_file(name, &whole[..kept], &[], &phrases);
        }
    }
}

#[test]
fn parquet_and_arrow_files_cut_short() {
    for (format, title) in [("parquet", "Parquet"), ("arrow", "Arrow")] {
        let folder = Folder::new();
        let run = folder.fairgame(&["data", "export", "adult", ".", "--format", format]);
        assert_eq!(run.code, Some(0), "{run:?}");
        let name = &format!("adult.{format}");
        let whole = folder.bytes(name);
        for kept in [8, 1000, whole.len() / 2, whole.len() - 100, whole.len() - 4, whole.len() - 1]
        {
            let read_as = format!("cannot be read as {title}");
            refused_file(name, &whole[..kept], &[], &[&read_as, "truncated or damaged"]);
        }
    }
}

#[test]
fn parquet_with_a_nested_column() {
    let folder = Folder::new();
    let scores = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1), Some(2)])]);
    let batch = RecordBatch::try_from_iter([("scores", Arc::new(scores) as ArrayRef)]);
    let batch = batch.expect("one column");
    let file = File::create(folder.path("nested.parquet")).expect("created");
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("written");
    writer.close().expect("closed");
    refused(
        &folder,
        &["data", "describe", "nested.parquet"],
        &["error: nested.parquet, column `scores`: the type List", "help: ", "--drop 'scores'"],
    );
}

#[test]
fn columns_that_are_not_there() {
    for arguments in [
        ["--type", "agee=number"].as_slice(),
        &["--drop", "agee"],
        &["--column", "agee"],
        &["--encode", "default", "--ignore", "agee"],
    ] {
        let phrases = ["people.csv: there is no column `agee`", "help: did you mean `age`?"];
        refused_file("people.csv", PEOPLE, arguments, &phrases);
    }
    refused_file(
        "people.csv",
        PEOPLE,
        &["--drop", "height"],
        &["there is no column `height`", "help: the columns are `age`, `job`, `zip`"],
    );
}

#[test]
fn values_that_contradict_their_column() {
    let mut numbers = String::from("score,row\n");
    let mut truths = String::from("member,row\n");
    for row in 1..=1_000_000 {
        let (number, truth) = if row == 900_001 { ("12x", "maybe") } else { ("12", "true") };
        numbers += &format!("{number},{row}\n");
        truths += &format!("{truth},{row}\n");
    }
    refused_file(
        "scores.csv",
        numbers,
        &[],
        &[
            "scores.csv, line 900002: column `score` holds `12x`",
            "not the finite number",
            "--missing '12x'",
        ],
    );
    refused_file(
        "members.csv",
        truths,
        &[],
        &[
            "members.csv, line 900002: column `member` holds `maybe`",
            "not the true or false",
            "--type 'member=category'",
        ],
    );
    refused_file(
        "people.csv",
        PEOPLE,
        &["--type", "job=number"],
        &["people.csv, line 2: column `job` holds `clerk`", "is declared", "--type 'job=category'"],
    );
    refused_file(
        "ids.csv",
        "id\n1\n12345678901234567890\n",
        &["--type", "id=number"],
        &[
            "ids.csv, line 3: column `id` holds `12345678901234567890`, an integer too long",
            "--drop 'id'",
        ],
    );
}

#[test]
fn files_of_one_table_with_different_columns() {
    let folder = Folder::with("part-1.csv", "age,job\n25,clerk\n");
    folder.write("part-2.csv", "age,work\n35,nurse\n");
    folder.write("part-3.csv", "age,job,zip\n35,nurse,123\n");
    refused(
        &folder,
        &["data", "describe", "part-1.csv", "part-2.csv"],
        &["error: part-2.csv: the file lacks `job`, which the first file has", "help: "],
    );
    refused(
        &folder,
        &["data", "describe", "part-1.csv", "part-3.csv"],
        &["error: part-3.csv: the file has `zip`, which the first file lacks", "help: "],
    );
}

#[test]
fn settings_that_make_no_sense() {
    let folder = Folder::with("people.csv", PEOPLE);
    // A file does not become a shipped dataset by its name.
    folder.write("adult", PEOPLE);
    let cases: &[(&[&str], &[&str])] = &[
        (
            &["people.csv", "--type", "age=nubmer"],
            &["`nubmer` is not a kind", "help: the kinds are `number`"],
        ),
        (&["people.csv", "--type", "age"], &["--type", "as in `age=number`"]),
        (&["people.csv", "--delimiter", "ab"], &["'ab' for '--delimiter", "one ASCII character"]),
        (&["people.csv", "--ignore", "age"], &["--encode"]),
        (&["@adlt"], &["no shipped dataset `@adlt`", "help: did you mean `@adult`?"]),
        (
            &["people.csv", "--encode", "paper"],
            &["shipped dataset, which `people.csv` is not", "help: as in", "@adult"],
        ),
        (&["adult", "--encode", "paper"], &["shipped dataset, which `adult` is not", "help: "]),
        (&["@adult", "@adult/test", "--encode", "paper"], &["prepares one dataset", "help: "]),
        (
            &["@adult", "--encode", "paper", "--drop", "age"],
            &["--encode paper says itself how to read", "help: "],
        ),
        (
            &["@adult", "--encode", "paper", "--ignore", "age"],
            &["which columns to ignore", "help: "],
        ),
        (
            &["@adult/test", "--encode", "paper"],
            &["no preparation of a dataset `adult/test`", "help: "],
        ),
    ];
    for (arguments, phrases) in cases {
        refused(&folder, &[&["data", "describe"], *arguments].concat(), phrases);
    }
    refused(&folder, &["data", "descrbe", "people.csv"], &["'descrbe'", "'describe'"]);
}

#[test]
fn exports_that_fail_leave_nothing_behind() {
    let folder = Folder::with("file", "not a folder");
    // The file to write is a folder that holds something.
    folder.write("taken/adult.csv/file", "in the way");
    let cases: &[(&[&str], &[&str])] = &[
        (&["adlt", "out"], &["no shipped dataset `@adlt`", "help: did you mean `@adult`?"]),
        (&["adult", "file"], &["error: file: the folder cannot be made", "help: "]),
        (&["adult", "file/below"], &["error: file/below: the folder cannot be made", "help: "]),
        (&["adult", "out", "--format", "xls"], &["`xls` is not a format", "help: the formats are"]),
        (&["adult", "taken"], &["taken/adult.csv: the file is there already", "help: "]),
    ];
    for (arguments, phrases) in cases {
        refused(&folder, &[&["data", "export"], *arguments].concat(), phrases);
    }
    assert!(folder.listing().keys().all(|path| !path.to_string_lossy().contains("partial")));
}

/// The line is that of the bad row, whatever comes before it and however lines end.
#[test]
fn lines_are_counted_right() {
    let cases = [
        ("a,b\r\n1,x\r\n2,y\r\n3\r\n", 4),
        ("a,b\n\n\n1,x\n2,y\n\n\n3\n", 8),
        ("a,b\n\n\n1,x\n2,y\n\n\n3", 8),
        ("# first\na,b\n# second\n1,x\n# third\n3\n", 6),
        ("a,b\n1,\"x\ny\nz\"\n3\n", 5),
        ("a,b\n1,x\n\"3\n\"\n", 3),
        ("a,b\n1,\"x\r\ny\"\n2,z\n3\n", 5),
    ];
    for (text, line) in cases {
        refused_file(
            "lines.csv",
            text,
            &["--comment", "#"],
            &[&format!("lines.csv, line {line}:")],
        );
    }
}

/// A quote that is never closed would take the rest of the file with it.
#[test]
fn quotes_that_are_never_closed() {
    let open = "a quote in this row is never closed";
    let stray = "text follows a quote that ends a field";
    let cases = [
        ("a,b\n1,\"x\n2,y\n", 2, open),
        ("a,b\n\"1,x\n2,y\n", 2, open),
        ("a,b\n1,5\" x\n2,\"y\n3,z\n4,w\n", 3, open),
        ("a,b\n1,\"x\n2,\"y\"\n", 3, stray),
        ("a,b\n1,\"x\"y\n", 2, stray),
    ];
    for (text, line, problem) in cases {
        refused_file("open.csv", text, &[], &[&format!("open.csv, line {line}: {problem}")]);
    }
    let folder = Folder::with("fine.csv", "# 5\" wide\na,b\n1,5\" x\n2,\"y\nz\"\n");
    let run = folder.fairgame(&["data", "describe", "fine.csv", "--comment", "#", "--json"]);
    assert!(run.stdout.contains("\"rows\": 2"), "{run:?}");
}

#[test]
fn other_kinds_of_file() {
    refused_file("book.xlsx", b"PK\x03\x04rest", &[], &["a zip archive", "save the sheet as CSV"]);
    refused_file("wide.csv", b"\xff\xfea\x00,\x00b\x00", &[], &["UTF-16", "iconv -f UTF-16"]);
    refused_file("lines.json", "{\"a\": 1}\n", &[], &["is JSON"]);
}

#[test]
fn settings_that_contradict_each_other() {
    refused(
        &Folder::with("people.csv", PEOPLE),
        &["data", "describe", "people.csv", "--type", "age=number", "--type", "age=category"],
        &["--type gives column `age` two kinds"],
    );
    refused(
        &Folder::with("people.csv", PEOPLE),
        &["data", "describe", "people.csv", "--delimiter", "\""],
        &["must be different characters"],
    );
}

/// Bytes flipped in the metadata of Arrow and Parquet files: an error or a table, never a panic.
#[test]
fn damaged_metadata() {
    let folder = Folder::with("people.csv", PEOPLE);
    for format in ["arrow", "parquet"] {
        let export = ["data", "export", "compas", ".", "--format", format];
        assert_eq!(folder.fairgame(&export).code, Some(0));
        let name = format!("compas.{format}");
        let whole = folder.bytes(&name);
        let footer = whole.len() - 3000;
        for at in (footer..whole.len()).step_by(61) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x41;
            folder.write(&name, damaged);
            let run = folder.fairgame(&["data", "describe", &name]);
            assert!(matches!(run.code, Some(0 | 2)), "byte {at} of {name}: {}", run.stderr);
            assert!(!run.stderr.contains("panicked"), "byte {at} of {name}: {}", run.stderr);
        }
    }
}
