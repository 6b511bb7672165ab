//! A million Adult-like rows are read and encoded within 300 MB, and a thousand constraints over a
//! million rows are compiled within a few bytes a row; rows are decided and judged within a few megabytes,
//! however many there are.

#[path = "common/counting.rs"]
mod counting;

use std::io::{Read, Write};
use std::sync::Mutex;

use counting::peak;
use fairgame::algorithm::{Algorithm, Practical};
use fairgame::classifier::{Classifier, Draw, draws};
use fairgame::encode::{Encoder, EncoderSpec};
use fairgame::evaluate::{Accumulator, Audit, Decisions};
use fairgame::rate::Problem;
use fairgame::table::{
    Category, Column, Format, ReadOptions, Shipped, Source, Table, Untyped, Values, Writer, chunks,
    read,
};
use fairgame::train::{Datasets, Spec};

const ROWS: usize = 1_000_000;

/// One measurement at a time: the counters are the process's.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn a_million_rows_within_300_mb() {
    let _alone = ALONE.lock().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("adult-like.csv");
    {
        let mut text = String::new();
        let adult = Shipped::find("adult").unwrap();
        flate2::read::GzDecoder::new(adult.bytes).read_to_string(&mut text).unwrap();
        let (header, body) = text.split_once('\n').unwrap();
        let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
        writeln!(file, "{header}").unwrap();
        for line in body.lines().cycle().take(ROWS) {
            writeln!(file, "{line}").unwrap();
        }
    }

    let (peak, (table, features)) = peak(|| {
        let table = read([Source::Path(path)], &ReadOptions::default()).unwrap();
        let (encoder, _) = Encoder::fit(&EncoderSpec::default(), &table).unwrap();
        let features = encoder.encode(&table).unwrap();
        (table, features)
    });
    assert_eq!((table.rows(), features.rows()), (ROWS, ROWS));
    assert!(peak < 300_000_000, "a peak of {} MB", peak / 1_000_000);
}

/// A bit for each row and constraint would be 125 MB.
#[test]
fn a_thousand_constraints_without_rows_times_constraints() {
    let _alone = ALONE.lock().unwrap();
    let names: Vec<String> = (0..1000).map(|value| format!("v{value}")).collect();
    let values = (0..ROWS).map(|row| Some(names[row * 7919 % 1000].as_str()));
    let group = Values::Category(Category::from_texts(values));
    let label = Values::Boolean((0..ROWS).map(|row| Some(row % 3 == 0)).collect());
    let table = Table::new(vec![Column::new("group", group), Column::new("label", label)]).unwrap();
    let problem = Problem::parse("label", "error()", &["tpr(each group) >= 0.9 * tpr()"]).unwrap();
    let (peak, (bound, compiled)) = peak(|| {
        let (bound, _) = problem.bind(&table, &[]).unwrap();
        let compiled = bound.compile(&table, None).unwrap();
        (bound, compiled)
    });
    assert_eq!((bound.constraints().len(), compiled.losses().cells()), (1000, 2000));
    assert!(peak < 40 * ROWS, "a peak of {} MB", peak / 1_000_000);
}

/// Twenty flags make nearly every row a cell of its own, and each row is in hundreds of the groups: a
/// bit for each row and group is what they are, and what they may take, with its making.
#[test]
fn a_thousand_groups_of_twenty_flags() {
    const FEW: usize = 200_000;
    let _alone = ALONE.lock().unwrap();
    let flag = |shift: usize| {
        let truth = |row: usize| Some((row.wrapping_mul(0x9e37_79b9) >> shift) & 1 == 1);
        Column::new(format!("b{shift}"), Values::Boolean((0..FEW).map(truth).collect()))
    };
    let table = Table::new((0..20).map(flag).collect()).unwrap();
    let constraints: Vec<String> = (0..1000)
        .map(|k| {
            let (i, j, l) = (k % 19, (k / 19) % 19, (k * 7) % 19);
            format!("positive_rate(b{i} and b{j} or b{l}) >= 0.8 * positive_rate()")
        })
        .collect();
    let problem = Problem::parse("b19", "error()", &constraints).unwrap();
    let (peak, compiled) = peak(|| {
        let (bound, _) = problem.bind(&table, &[]).unwrap();
        bound.compile(&table, None).unwrap()
    });
    assert!(compiled.losses().cells() > FEW / 2);
    assert!(peak < FEW * 1000 / 8 * 6, "a peak of {} MB", peak / 1_000_000);
}

/// CSV of so many rows, made as it is read.
struct People {
    rows: std::ops::Range<usize>,
    ready: std::io::Cursor<Vec<u8>>,
}

impl People {
    fn source(rows: usize) -> Source {
        let ready = std::io::Cursor::new(b"person,age,job,hired\n".to_vec());
        Source::stream("people.csv", People { rows: 0..rows, ready })
    }
}

impl Read for People {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.ready.read(buffer)?;
        let Some(row) = (read == 0).then(|| self.rows.next()).flatten() else { return Ok(read) };
        let (age, job) = (20 + row * 7919 % 50, ["clerk", "nurse", "pilot"][row % 3]);
        let hired = if age > 40 { "yes" } else { "no" };
        self.ready = std::io::Cursor::new(format!("{row:09x},{age},{job},{hired}\n").into_bytes());
        self.ready.read(buffer)
    }
}

/// Decides rows by their identifier, all of them different, and keeps it.
fn decide(classifier: &Classifier, rows: usize, format: Format) -> usize {
    let kinds = classifier.kinds();
    let columns = kinds.keys().cloned().chain(["person".to_owned()]).collect();
    let (columns, untyped) = (Some(columns), Untyped::Text);
    let options = ReadOptions { columns, kinds, untyped, ..ReadOptions::default() };
    let mut writer = Writer::stream("nowhere", std::io::sink(), format);
    let mut decided = 0;
    for table in chunks([People::source(rows)], &options, 10_000).unwrap() {
        let table = table.unwrap();
        let person = table.column("person").unwrap();
        let keys: Option<Vec<u64>> = draws(&person.values).into_iter().collect();
        let features = classifier.encode(&table).unwrap();
        let predictions = classifier.predict(&features, Draw::Keys(&keys.unwrap())).unwrap();
        let scores = Values::Number(predictions.iter().map(|one| one.score).collect());
        let result = Table::new(vec![person.clone(), Column::new("score", scores)]).unwrap();
        writer.write(&result).unwrap();
        decided += predictions.len();
    }
    writer.finish().unwrap();
    decided
}

#[test]
fn deciding_takes_no_more_for_more_rows() {
    let _alone = ALONE.lock().unwrap();
    let people = read([People::source(1000)], &ReadOptions::default()).unwrap();
    let mut spec = Spec::paper("hired == \"yes\"", &["recall() >= 0.9"]);
    spec.encoder.ignore = vec!["person".to_owned()];
    spec.datasets = Datasets::One;
    spec.algorithm = Algorithm::Practical(Practical { turns: 50, ..Practical::default() });
    let trained = spec.train(&people).unwrap();
    for format in [Format::Csv, Format::JsonLines, Format::Parquet] {
        let measured = |rows| {
            let (peak, decided) = peak(|| decide(&trained.classifier, rows, format));
            assert_eq!(decided, rows);
            peak
        };
        // A row group of Parquet is full after a quarter of a million rows.
        let (few, many) = (measured(300_000), measured(1_200_000));
        assert!(many < few + few / 20, "{format}: a peak of {few} bytes, and of {many}");
        assert!(many < 16_000_000, "{format}: a peak of {many} bytes");
    }
}

#[test]
fn judging_takes_no_more_for_more_rows() {
    let _alone = ALONE.lock().unwrap();
    let constraints = ["tpr(each job) >= 0.1", "positive_rate(age > 50) <= 0.9"];
    let problem = Problem::parse("hired == \"yes\"", "error()", &constraints).unwrap();
    let people = read([People::source(1000)], &ReadOptions::default()).unwrap();
    let (bound, _) = problem.bind(&people, &[]).unwrap();
    let chances = vec![0.4; 10_000];
    let judge = |rows: usize, audited: bool| {
        let (mut all, mut audit) = (Accumulator::new(&bound), Audit::new(&problem));
        for table in chunks([People::source(rows)], &ReadOptions::default(), 10_000).unwrap() {
            let (table, decisions) = (table.unwrap(), Decisions::Probabilities(&chances));
            match audited {
                true => audit.add(&table, None, decisions).unwrap(),
                false => all.add(&table, None, decisions).unwrap(),
            }
        }
        match audited {
            true => audit.finish(0.95).unwrap().evaluation,
            false => all.finish(0.95).unwrap(),
        }
    };
    for audited in [false, true] {
        let measured = |rows| {
            let (peak, found) = peak(|| judge(rows, audited));
            assert_eq!(found.rows, rows);
            peak
        };
        let (few, many) = (measured(30_000), measured(300_000));
        assert!(many < few + few / 20, "a peak of {few} bytes, and of {many}");
        assert!(many < 8_000_000, "a peak of {many} bytes");
    }
}
