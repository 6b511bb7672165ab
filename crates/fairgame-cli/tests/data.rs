//! What `fairgame data` says of data is right, and the same whichever way the data comes in.

mod common;

use std::process::Stdio;

use common::{Folder, Run};
use fairgame::table::{self, ReadOptions, Source};
use serde_json::{Value, json};

/// What a run printed, which must have succeeded and had nothing but notes to say beside it.
#[track_caller]
fn printed(run: Run) -> String {
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stderr.lines().all(|line| line.starts_with("note: ")), "{run:?}");
    run.stdout
}

/// What `data describe … --json` prints.
#[track_caller]
fn describe_text(folder: &Folder, arguments: &[&str]) -> String {
    printed(folder.fairgame(&[&["data", "describe", "--json"], arguments].concat()))
}

#[track_caller]
fn describe(folder: &Folder, arguments: &[&str]) -> Value {
    serde_json::from_str(&describe_text(folder, arguments)).expect("JSON")
}

/// What is said of one column.
#[track_caller]
fn column<'a>(document: &'a Value, name: &str) -> &'a Value {
    let columns = document["columns"].as_array().expect("columns");
    columns.iter().find(|column| column["name"] == name).expect("the column is there")
}

fn names(document: &Value) -> Vec<&str> {
    let columns = document["columns"].as_array().expect("columns");
    columns.iter().filter_map(|column| column["name"].as_str()).collect()
}

/// The values of a category, the most frequent first.
fn values<'a>(document: &'a Value, name: &str) -> Vec<&'a str> {
    let top = column(document, name)["top"].as_array().expect("top values");
    top.iter().filter_map(|top| top["value"].as_str()).collect()
}

/// A folder with Adult in it, in one format.
fn adult(format: &str) -> Folder {
    let folder = Folder::new();
    printed(folder.fairgame(&["data", "export", "adult", "out", "--format", format]));
    folder
}

#[test]
fn shipped_datasets_have_their_published_sizes() {
    let folder = Folder::new();
    let train = describe(&folder, &["@adult"]);
    assert_eq!((&train["version"], &train["rows"]), (&json!(1), &json!(32_561)));
    assert_eq!(describe(&folder, &["@adult/test"])["rows"], 16_281);
    let list = printed(folder.fairgame(&["data", "list", "--json"]));
    let list: Value = serde_json::from_str(&list).expect("JSON");
    assert_eq!(list["version"], 1);
    let datasets = list["datasets"].as_array().expect("datasets");
    let names: Vec<&Value> = datasets.iter().map(|dataset| &dataset["name"]).collect();
    assert_eq!(names, ["@adult", "@adult/test", "@compas", "@communities"]);
    assert_eq!(datasets[0]["rows"], 32_561);
}

#[test]
fn the_papers_preparation_is_set_against_the_papers_numbers() {
    for (name, ours, paper) in
        [("@adult", 122, 122), ("@compas", 32, 32), ("@communities", 117, 140)]
    {
        let document = describe(&Folder::new(), &[name, "--encode", "paper"]);
        let encoding = &document["encoding"];
        assert_eq!(
            (&encoding["features"], &encoding["paper"]["features"]),
            (&json!(ours), &json!(paper)),
            "{name}"
        );
        assert_eq!(encoding["names"].as_array().map(Vec::len), Some(ours), "{name}");
    }
}

#[test]
fn an_exported_dataset_reads_back_as_the_shipped_one() {
    let folder = adult("csv");
    assert_eq!(folder.listing().len(), 3, "the folder `out` and its two files");
    for (file, shipped) in [("out/adult.csv", "@adult"), ("out/adult-test.csv", "@adult/test")] {
        assert_eq!(describe_text(&folder, &[file]), describe_text(&folder, &[shipped]));
        let read = |source| table::read([source], &ReadOptions::default()).expect("readable");
        let copy = read(Source::Path(folder.path(file)));
        assert!(copy == read(Source::parse(shipped).expect("shipped")), "{file}");
    }
}

#[test]
fn every_format_describes_the_same() {
    let shipped = describe_text(&Folder::new(), &["@adult"]);
    for format in ["csv.gz", "csv.zst", "parquet", "arrow"] {
        let folder = adult(format);
        let file = format!("out/adult.{format}");
        assert_eq!(describe_text(&folder, &[&file]), shipped, "{format}");
    }
}

#[test]
fn parts_describe_as_the_whole() {
    let folder = adult("csv");
    let whole = String::from_utf8(folder.bytes("out/adult.csv")).expect("UTF-8");
    let (header, rows) = whole.split_once('\n').expect("a header");
    let rows: Vec<&str> = rows.lines().collect();
    for (part, rows) in rows.chunks(12_000).enumerate() {
        folder.write(&format!("parts/part-{part}.csv"), format!("{header}\n{}\n", rows.join("\n")));
    }
    // Neither of these is a data file.
    folder.write("parts/_SUCCESS", "");
    folder.write("parts/.part-0.csv.crc", "?");
    let shipped = describe_text(&folder, &["@adult"]);
    assert_eq!(describe_text(&folder, &["parts"]), shipped);
    let parts = ["parts/part-0.csv", "parts/part-1.csv", "parts/part-2.csv"];
    assert_eq!(describe_text(&folder, &parts), shipped);
}

#[test]
fn standard_input_describes_as_the_file() {
    let shipped = describe_text(&Folder::new(), &["@adult"]);
    for format in ["csv", "csv.gz", "parquet"] {
        let folder = adult(format);
        let bytes = folder.bytes(&format!("out/adult.{format}"));
        let described = printed(folder.fairgame_on(&["data", "describe", "-", "--json"], &bytes));
        assert_eq!(described, shipped, "{format}");
    }
}

#[test]
fn adult_reads_as_its_authors_wrote_it() {
    let text = "\
|1x3 Cross validator
25, Private, 226802, 11th, 7, Never-married, Machine-op-inspct, Own-child, Black, Male, 0, 0, 40, United-States, <=50K.
18, ?, 103497, Some-college, 10, Never-married, ?, Own-child, White, Female, 0, 0, 30, United-States, <=50K.
44, Private, 160323, Some-college, 10, Married-civ-spouse, Machine-op-inspct, Husband, Black, Male, 7688, 0, 40, ?, >50K.

";
    let header = "age,workclass,fnlwgt,education,education_num,marital_status,occupation,\
                  relationship,race,sex,capital_gain,capital_loss,hours_per_week,native_country,\
                  income";
    let folder = Folder::with("adult.test", text);
    let arguments = ["adult.test", "--no-header", "--comment", "|", "--names", header];
    let document = describe(&folder, &arguments);
    assert_eq!(document["rows"], 3);
    assert_eq!(names(&document), header.split(',').collect::<Vec<_>>());
    assert_eq!(values(&document, "workclass"), ["Private"]);
    assert_eq!(values(&document, "income"), ["<=50K.", ">50K."]);
    assert_eq!(column(&document, "age")["range"]["max"], 44.0);
    for (name, missing) in [("workclass", 1), ("occupation", 1), ("native_country", 1), ("age", 0)]
    {
        assert_eq!(column(&document, name)["missing"], missing, "{name}");
    }
}

#[test]
fn missing_markers_are_the_users_to_choose() {
    let folder = Folder::with("m.csv", "job,pay\nNA,1\nunknown,-999\nclerk,3\n,-999.0\n");
    let missing = |arguments: &[&str]| {
        let document = describe(&folder, &[&["m.csv"], arguments].concat());
        ["job", "pay"].map(|name| column(&document, name)["missing"].as_u64().expect("a count"))
    };
    assert_eq!(missing(&[]), [2, 0]);
    assert_eq!(missing(&["--no-standard-missing"]), [1, 0]);
    assert_eq!(missing(&["--missing", "unknown"]), [3, 0]);
    assert_eq!(missing(&["--missing", "unknown", "--missing", "-999"]), [3, 2]);
    assert_eq!(missing(&["--missing", "unknown", "--no-standard-missing"]), [2, 0]);
}

#[test]
fn kinds_and_columns_are_the_users_to_choose() {
    let folder = Folder::with("people.csv", "age,zip,member\n25,007,1\n35,123,0\n");
    let plain = describe(&folder, &["people.csv"]);
    assert_eq!(values(&plain, "zip"), ["007", "123"], "a number would lose the zeros");
    let arguments = ["people.csv", "--type", "zip=number", "--type", "member=boolean"];
    let told = describe(&folder, &arguments);
    assert_eq!(column(&told, "zip")["range"]["min"], 7.0);
    assert_eq!(column(&told, "member")["kind"], "boolean");
    assert_eq!(values(&told, "member"), ["false", "true"]);

    let names_of = |arguments: &[&str]| {
        let document = describe(&folder, &[&["people.csv"], arguments].concat());
        names(&document).join(" ")
    };
    assert_eq!(names_of(&["--drop", "zip"]), "age member");
    assert_eq!(names_of(&["--column", "zip", "--column", "age"]), "age zip");
    assert_eq!(names_of(&["--names", "a,b,c"]), "a b c");
    assert_eq!(names_of(&["--no-header"]), "c1 c2 c3");
}

#[test]
fn dialects_of_csv_describe_the_same() {
    let folder = Folder::with("plain.csv", "name,pay\nAda,1\nBob,2\n");
    let plain = describe_text(&folder, &["plain.csv"]);
    let dialects: &[(&str, &[&str])] = &[
        ("name;pay\nAda;1\nBob;2\n", &[]),
        ("name;pay\nAda;1\nBob;2\n", &["--delimiter", ";"]),
        ("name\tpay\nAda\t1\nBob\t2\n", &[]),
        ("name\tpay\nAda\t1\nBob\t2\n", &["--delimiter", "tab"]),
        ("name|pay\nAda|1\nBob|2\n", &[]),
        ("name,pay\r\nAda,1\r\nBob,2\r\n", &[]),
        ("\u{feff}name,pay\nAda,1\nBob,2\n", &[]),
        ("\u{feff}\"name\",\"pay\"\r\n\"Ada\",\"1\"\r\n\"Bob\",\"2\"", &[]),
        ("'name','pay'\n'Ada','1'\n'Bob','2'\n", &["--quote", "'"]),
        ("# people\nname,pay\nAda,1\n# and\nBob,2\n", &["--comment", "#"]),
        (" name , pay \n Ada , 1 \n\n Bob , 2 \n", &[]),
    ];
    for (text, arguments) in dialects {
        folder.write("dialect.csv", text);
        let described = describe_text(&folder, &[&["dialect.csv"], *arguments].concat());
        assert_eq!(described, plain, "{text:?} {arguments:?}");
    }
}

#[test]
fn quoted_fields_hold_delimiters_newlines_and_quotes() {
    let text = "name,note\nAda,\"a, b\"\nBob,\"two\nlines\"\nCy,\"say \"\"hi\"\"\"\n";
    let folder = Folder::with("quoted.csv", text);
    let document = describe(&folder, &["quoted.csv"]);
    assert_eq!(document["rows"], 3);
    assert_eq!(values(&document, "note"), ["a, b", "say \"hi\"", "two\nlines"]);
}

#[test]
fn people_get_a_table() {
    let folder = Folder::with("people.csv", "age,job\n25,clerk\n35,\n");
    let text = printed(folder.fairgame(&["data", "describe", "people.csv", "--encode", "default"]));
    assert!(text.starts_with("2 rows, 2 columns\n"), "{text}");
    assert!(text.contains("25 to 35, median 30, mean 30"), "{text}");
    assert!(text.contains("clerk 50.0 %"), "{text}");
}

#[test]
fn a_reader_that_stops_listening_is_no_error() {
    let folder = Folder::new();
    for arguments in [["data", "list"].as_slice(), &["data", "describe", "@communities", "--json"]]
    {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = folder.command(arguments);
        let output = command.stdin(Stdio::null()).stdout(writer).output().expect("it runs");
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
}

#[test]
fn fields_and_rows_have_limits_that_flags_set() {
    let folder = Folder::with("rows.csv", format!("a,b\n1,{}\n", "x".repeat(2000)));
    let run = |more: &[&str]| folder.fairgame(&[&["data", "describe", "rows.csv"], more].concat());
    assert_eq!(run(&[]).code, Some(0));
    assert_eq!(run(&["--max-field", "2k", "--max-record", "3K"]).code, Some(0));
    let field = run(&["--max-field", "1K"]);
    assert_eq!(field.code, Some(2));
    assert!(
        field.stderr.contains("line 2, field 2: the field has more than 1024 bytes"),
        "{field:?}"
    );
    assert!(field.stderr.contains("--max-field 1G"), "{field:?}");
    let row = run(&["--max-record", "2010"]);
    assert!(row.stderr.contains("line 2: the row has more than 2010 bytes"), "{row:?}");
    for wrong in ["0", "-1", "1T", "", "99999999999G"] {
        assert_eq!(run(&[&format!("--max-field={wrong}")]).code, Some(2), "{wrong}");
    }
}
