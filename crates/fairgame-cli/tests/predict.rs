//! Rows are decided a chunk at a time: whatever the chunks, the formats and the order, the same decisions and
//! the same kept columns; and an error leaves no file.

mod common;

use std::fmt::Write as _;
use std::io::Write as _;

use common::{Folder, Run};
use fairgame::table::{Format, Kind, ReadOptions, Source, Table, Untyped, Values, read, write};
use serde_json::Value;

/// Applicants with an identifier that has zeros in front for some, and an amount with zeros behind.
fn applicants(rows: std::ops::Range<usize>) -> String {
    let mut text = "id,code,skill,city,amount,hired\n".to_owned();
    for row in rows {
        let random = row.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let random = (random ^ (random >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20;
        let skill = (random % 1000) as f64 / 100.0;
        let city = ["Aachen", "Bonn", "Celle"][random / 1000 % 3];
        let hired = if skill + (random / 3000 % 400) as f64 / 100.0 > 6.5 { "yes" } else { "no" };
        let shown = if random % 17 == 0 { String::new() } else { format!("{skill}") };
        let code = if row % 5 == 4 { format!("00{row}") } else { format!("{row}") };
        writeln!(text, "{row},{code},{shown},{city},{}.50,{hired}", row % 90).unwrap();
    }
    text
}

/// A folder with a model that draws many of its decisions, and rows to decide.
fn folder() -> Folder {
    let folder = Folder::with("people.csv", applicants(0..900));
    folder.write("new.csv", applicants(5000..8003));
    let run = folder.fairgame(&[
        "train",
        "people.csv",
        "--label",
        "hired == \"yes\"",
        "--constraint",
        "recall() >= 0.7",
        "--ignore",
        "id",
        "--ignore",
        "code",
        "--ignore",
        "amount",
        "--recipe",
        "paper",
        "--selection",
        "uniform",
        "--turns",
        "2000",
        "-o",
        "m.safetensors",
    ]);
    assert!(matches!(run.code, Some(0 | 1)), "{run:?}");
    folder
}

fn predict(folder: &Folder, arguments: &[&str]) -> Run {
    let run = folder.fairgame(&[&["predict", "m.safetensors"], arguments].concat());
    assert_eq!(run.code, Some(0), "{arguments:?}: {run:?}");
    run
}

fn whole(folder: &Folder, file: &str) -> Table {
    read([Source::Path(folder.path(file))], &ReadOptions::default()).expect("readable")
}

/// The columns as text, to write them as a format that has types.
fn as_text(folder: &Folder, file: &str) -> Table {
    let kinds = [("skill".to_owned(), Kind::Number)].into();
    let options = ReadOptions { untyped: Untyped::Text, kinds, ..ReadOptions::default() };
    read([Source::Path(folder.path(file))], &options).expect("readable")
}

#[test]
fn chunks_change_nothing() {
    let folder = folder();
    let keep = ["--id", "code", "--keep", "amount", "--keep", "city", "--keep", "hired"];
    let run = |input: &[&str], more: &[&str]| predict(&folder, &[input, &keep, more].concat());
    let wanted = run(&["new.csv"], &[]).stdout;
    let lines = run(&["new.csv"], &["--format", "jsonl"]).stdout;
    assert_eq!((wanted.lines().count(), lines.lines().count()), (3004, 3003));
    let first = "5000,50.50,";
    assert!(wanted.lines().nth(1).unwrap().starts_with(first), "{}", &wanted[..200]);
    assert!(wanted.contains("\n005004,54.50,"), "as it is written");
    assert!(
        lines.starts_with("{\"code\":\"5000\",\"amount\":\"50.50\",\"city\":"),
        "{}",
        &lines[..99]
    );
    // Neither all nor none are drawn alike.
    assert!(wanted.contains(",true,0.") && wanted.contains(",false,0."));

    // The same rows in every format, also compressed, in parts, and on standard input.
    let text = as_text(&folder, "new.csv");
    for format in [Format::CsvGz, Format::CsvZst, Format::Parquet, Format::Arrow] {
        write(&text, &folder.path(&format!("new.{format}")), format).unwrap();
    }
    folder.write("parts/1.csv", applicants(5000..6001));
    folder.write("parts/2.csv", applicants(6001..8003));
    for chunk in ["1", "7", "1000", "100000"] {
        let chunk = ["--chunk", chunk];
        for input in [
            &["new.csv"][..],
            &["new.csv.gz"],
            &["new.csv.zst"],
            &["new.parquet"],
            &["new.arrow"],
            &["parts"],
            &["parts/1.csv", "parts/2.csv"],
        ] {
            assert_eq!(run(input, &chunk).stdout, wanted, "{input:?} {chunk:?}");
        }
        let arguments = [&["predict", "m.safetensors", "-"], &keep[..], &chunk].concat();
        let piped = folder.fairgame_on(&arguments, &folder.bytes("new.csv"));
        assert_eq!(piped.stdout, wanted, "{chunk:?}");
        assert_eq!(run(&["new.csv"], &[&["--format", "jsonl"], &chunk[..]].concat()).stdout, lines);

        for (file, printed) in [("out.csv", &wanted), ("out.jsonl", &lines)] {
            run(&["new.csv"], &[&["-o", file], &chunk[..]].concat());
            assert_eq!(&String::from_utf8(folder.bytes(file)).unwrap(), printed, "{chunk:?}");
        }
        folder.write("wanted.csv", &wanted);
        for file in ["out.parquet", "out.arrow", "out.csv.gz"] {
            run(&["new.csv"], &[&["-o", file], &chunk[..]].concat());
            let (found, wanted) = (whole(&folder, file), whole(&folder, "wanted.csv"));
            assert_eq!(found.columns()[4..], wanted.columns()[4..], "{file} {chunk:?}");
            assert_eq!(found.rows(), 3003);
        }
        // Texts stay texts, unless they are said to be numbers.
        assert_eq!(whole(&folder, "out.parquet").columns()[1].values.kind(), Kind::Category);
        let number = [&["-o", "out.parquet", "--type", "amount=number"], &chunk[..]].concat();
        run(&["new.csv"], &number);
        let Values::Number(amounts) = &whole(&folder, "out.parquet").columns()[1].values.clone()
        else {
            panic!("numbers")
        };
        assert_eq!(amounts[..2], [50.5, 51.5]);
    }
    let json = run(&["new.csv"], &["-o", "out.csv", "--json", "--chunk", "7"]).stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    let positive = wanted.matches(",true,").count();
    assert_eq!((&json["rows"], &json["positive"]), (&3003.into(), &positive.into()));
    assert_eq!((&json["output"], &json["version"]), (&"out.csv".into(), &1.into()));
}

/// One person is one draw: as a number or as text, in CSV and in Parquet, first or last, alone or among
/// identifiers that are no numbers.
#[test]
fn an_identifier_draws_by_its_value() {
    let folder = folder();
    let decided = |input: &[&str]| -> Vec<(String, Value)> {
        let more = ["--id", "id", "--format", "jsonl", "--chunk", "100"];
        let run = predict(&folder, &[input, &more].concat());
        let mut rows: Vec<(String, Value)> = run
            .stdout
            .lines()
            .map(|line| {
                let row: Value = serde_json::from_str(line).unwrap();
                let id = match &row["id"] {
                    Value::Number(number) => number.as_f64().unwrap().to_string(),
                    other => other.as_str().unwrap().to_owned(),
                };
                (id, row["decision"].clone())
            })
            .collect();
        rows.sort_by(|a, b| a.0.cmp(&b.0));
        rows
    };
    let wanted = decided(&["new.csv"]);
    assert!(wanted.iter().any(|row| row.1 == true) && wanted.iter().any(|row| row.1 == false));
    // As numbers and as texts in a format with types.
    write(&whole(&folder, "new.csv"), &folder.path("number.parquet"), Format::Parquet).unwrap();
    write(&as_text(&folder, "new.csv"), &folder.path("text.parquet"), Format::Parquet).unwrap();
    assert_eq!(decided(&["number.parquet"]), wanted);
    assert_eq!(decided(&["text.parquet"]), wanted);
    assert_eq!(decided(&["new.csv", "--type", "id=number"]), wanted);
    assert_eq!(decided(&["number.parquet", "--type", "id=category"]), wanted);
    // Backwards.
    let text = applicants(5000..8003);
    let (header, rows) = text.split_once('\n').unwrap();
    let mut lines: Vec<String> = rows.lines().map(str::to_owned).collect();
    lines.reverse();
    folder.write("backwards.csv", format!("{header}\n{}\n", lines.join("\n")));
    assert_eq!(decided(&["backwards.csv"]), wanted);
    // Written as by a program that takes identifiers for floats, and among one that is no number.
    let floats = lines.iter().map(|line| line.replacen(',', ".0,", 1));
    let floats: Vec<String> = floats.chain(["K-1,1,2.5,Bonn,1,no".to_owned()]).collect();
    folder.write("floats.csv", format!("{header}\n{}\n", floats.join("\n")));
    let floats: Vec<(String, Value)> = decided(&["floats.csv"])
        .into_iter()
        .filter(|row| row.0 != "K-1")
        .map(|row| (row.0.trim_end_matches(".0").to_owned(), row.1))
        .collect();
    assert_eq!(floats, wanted);
}

/// The last row is bad: no file, the line of the file, and on standard output the rows before.
#[test]
fn an_error_leaves_no_file() {
    let folder = folder();
    folder.write("bad.csv", applicants(0..2500) + "2500,1,high,Bonn,1,no\n");
    folder.write("nameless.csv", applicants(0..2500) + ",1,5,Bonn,1,no\n");
    folder.write("ragged.csv", applicants(0..2500) + "2500,1\n");
    let before = folder.listing();
    for (file, wanted) in [
        ("bad.csv", "bad.csv, line 2502: column `skill` holds `high`"),
        ("nameless.csv", "column `id`: row 2501 has no identifier"),
        ("ragged.csv", "ragged.csv, line 2502: the number of fields is 2"),
    ] {
        for chunk in ["1", "7", "1000", "5000"] {
            let arguments = ["predict", "m.safetensors", file, "--id", "id", "--chunk", chunk];
            for output in ["out.csv", "out.parquet", "out.jsonl", "out.csv.zst", "out.arrow"] {
                let run = folder.fairgame(&[&arguments[..], &["-o", output]].concat());
                assert_eq!(run.code, Some(2), "{run:?}");
                assert!(run.stderr.contains(wanted) && run.stdout.is_empty(), "{run:?}");
                assert_eq!(folder.listing(), before, "{output} {chunk}");
            }
            let run = folder.fairgame(&arguments);
            assert_eq!(run.code, Some(2), "{run:?}");
            let written = 2500 / chunk.parse::<usize>().unwrap() * chunk.parse::<usize>().unwrap();
            let lines = if written == 0 { 0 } else { written + 1 };
            assert_eq!(run.stdout.lines().count(), lines, "{chunk}");
            let noted = run.stderr.contains(&format!("{written} decisions were written before"));
            assert!(run.stderr.contains(wanted) && noted == (written > 0), "{}", run.stderr);
        }
    }
    // A file that is there already stays as it is.
    folder.write("out.csv", "precious");
    folder.fairgame(&["predict", "m.safetensors", "bad.csv", "-o", "out.csv", "--chunk", "9"]);
    assert_eq!(folder.bytes("out.csv"), b"precious");
}

/// What neither the model nor the output needs is not looked at: it may be damaged, or differ between files.
#[test]
fn only_what_is_needed_is_read() {
    let folder = folder();
    let wanted = predict(&folder, &["new.csv"]).stdout;
    let other = applicants(5000..8003).replace(",hired\n", ",\"else\"\n");
    folder.write("other.csv", other.replace("005004,", "\u{7}odd,"));
    assert_eq!(predict(&folder, &["other.csv"]).stdout, wanted);
    folder.write("few.csv", "city,skill\nBonn,5\n");
    let both = predict(&folder, &["other.csv", "few.csv"]).stdout;
    assert!(both.starts_with(&wanted) && both.lines().count() == 3005);
    for (arguments, wanted) in [
        (&["--keep", "score"][..], "has the name of a result"),
        (&["--keep", "hird"], "did you mean `hired`?"),
        (&["--keep", "hired", "--drop", "hired"], "hired"),
        (&["--chunk", "0"], "above 0"),
        (&["--format", "parquet"], "standard output"),
        (&["-o", "."], "format"),
        (&["-o", ".", "--format", "csv"], "folder"),
    ] {
        let run = folder.fairgame(&[&["predict", "m.safetensors", "new.csv"], arguments].concat());
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run:?}");
        assert!(run.stderr.contains(wanted), "{arguments:?}: {run:?}");
    }
}

/// Ctrl-C ends it between two chunks, and leaves no file either.
#[test]
#[cfg(unix)]
fn stopped_without_a_trace() {
    let folder = folder();
    let before = folder.listing();
    let arguments = ["predict", "m.safetensors", "-", "-o", "out.csv", "--chunk", "10"];
    let mut child = folder.command(&arguments).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(applicants(0..5000).as_bytes()).unwrap();
    // The file under its temporary name says that it listens.
    let mut tries = 0;
    while folder.listing().len() == before.len() {
        assert!(child.try_wait().unwrap().is_none() && tries < 6000, "no file is begun");
        std::thread::sleep(std::time::Duration::from_millis(10));
        tries += 1;
    }
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
    std::thread::sleep(std::time::Duration::from_millis(300));
    // What it waited for; it may have gone already.
    let rest = applicants(5000..20_000);
    let _ = pipe.write_all(rest.split_once('\n').unwrap().1.as_bytes());
    drop(pipe);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(folder.listing(), before);
}
