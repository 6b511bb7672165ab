//! `evaluate` and `audit` read rows in parts: what they print is what the library says of the whole table, to the
//! bit, from whatever the rows come; and memory does not grow with their number.

mod common;

use std::fmt::Write;

use common::{Folder, Run};
use fairgame::classifier::Classifier;
use fairgame::evaluate::{Decisions, Evaluation, GroupAudit, evaluate};
use fairgame::rate::{Problem, Weighted};
use fairgame::table::{Format, ReadOptions, Source, Table, Values, read, write};
use serde_json::Value;

/// More than are read at a time.
const ROWS: usize = 70_000;

/// People, of whom the first thousand all have one job.
fn people(rows: usize) -> String {
    let mut csv = String::from("name,sex,age,job,able,chance,decided,weight\n");
    for row in 0..rows {
        let draw = row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        let sex = ["f", "m", ""][draw % 16 / 7];
        let job = if row < 1000 { "clerk" } else { ["clerk", "nurse", "pilot"][draw / 7 % 3] };
        let (age, chance) = (18 + draw % 60, (draw % 1009) as f64 / 1008.0);
        let able = ["yes", "no"][usize::from(draw % 1013 > 300 + 5 * age)];
        let decided = ["accept", "refuse"][draw / 11 % 2];
        let weight = 0.25 + (draw % 997) as f64 / 500.0;
        writeln!(csv, "p{row},{sex},{age},{job},{able},{chance},{decided},{weight}").unwrap();
    }
    csv
}

fn whole(csv: &str) -> Table {
    let source = Source::stream("people.csv", std::io::Cursor::new(csv.to_owned().into_bytes()));
    read([source], &ReadOptions::default()).unwrap()
}

fn numbers<'a>(table: &'a Table, name: &str) -> &'a [f64] {
    let Values::Number(numbers) = &table.column(name).unwrap().values else { panic!("{name}") };
    numbers
}

/// The same people as CSV, compressed, Parquet and Arrow, and as two files.
fn folder(csv: &str) -> Folder {
    let folder = Folder::with("people.csv", csv);
    let table = whole(csv);
    for (name, format) in [
        ("people.csv.gz", Format::CsvGz),
        ("people.csv.zst", Format::CsvZst),
        ("people.parquet", Format::Parquet),
        ("people.arrow", Format::Arrow),
    ] {
        write(&table, &folder.path(name), format).unwrap();
    }
    let (header, rows) = csv.split_once('\n').unwrap();
    let lines: Vec<&str> = rows.lines().collect();
    let (first, second) = lines.split_at(lines.len() / 3);
    folder.write("parts/1.csv", format!("{header}\n{}\n", first.join("\n")));
    folder.write("parts/2.csv", format!("{header}\n{}\n", second.join("\n")));
    folder
}

/// What a run printed is an evaluation, to the bit.
fn assert_is(run: &Run, wanted: &Evaluation, context: &str) {
    assert!(matches!(run.code, Some(0 | 1 | 3)), "{context}: {run:?}");
    let mut found: Value = serde_json::from_str(&run.stdout).unwrap();
    let printed = found.as_object_mut().unwrap();
    printed.retain(|name, _| !["version", "warnings", "margin_to_meet"].contains(&name.as_str()));
    // Both through the same text.
    let wanted: Value = serde_json::from_str(&serde_json::to_string(wanted).unwrap()).unwrap();
    assert_eq!(found, wanted, "{context}");
}

const SOURCES: [&str; 7] = [
    "people.csv",
    "people.csv.gz",
    "people.csv.zst",
    "people.parquet",
    "people.arrow",
    "parts",
    "-",
];

#[test]
fn evaluations_are_those_of_the_whole_table() {
    let csv = people(ROWS);
    let folder = folder(&csv);
    folder.write("few.csv", people(1500));
    let train = ["train", "few.csv", "--label", "able == \"yes\"", "--ignore", "name"];
    let constraints =
        ["--constraint", "tpr(each sex) >= 0.2", "--weight", "weight", "--turns", "60"];
    let trained =
        folder.fairgame(&[&train[..], &constraints, &["--quiet", "-o", "m.safetensors"]].concat());
    assert!(matches!(trained.code, Some(0 | 1)), "{trained:?}");
    let classifier = Classifier::load(&folder.path("m.safetensors")).unwrap();
    let table = whole(&csv);
    let weights: Vec<f32> = numbers(&table, "weight").iter().map(|&weight| weight as f32).collect();
    for (more, weights) in [(&[][..], Some(&weights[..])), (&["--no-weight"][..], None)] {
        let wanted = classifier.evaluate(&table, weights, 0.95).unwrap();
        for source in SOURCES {
            let evaluate = ["evaluate", "m.safetensors", source, "--json"];
            let run = folder.fairgame_on(&[&evaluate, more].concat(), csv.as_bytes());
            assert_is(&run, &wanted, source);
        }
    }
}

#[test]
fn audits_are_those_of_the_whole_table() {
    let csv = people(ROWS);
    let folder = folder(&csv);
    let table = whole(&csv);
    let weights: Vec<f32> = numbers(&table, "weight").iter().map(|&weight| weight as f32).collect();
    let constraints = [
        "tpr(each job) >= 0.4",
        "positive_rate(each [sex, job] where age > 30) <= 0.9",
        "positive_rate(age > median(age)) <= fpr(age < quantile(age, 0.2)) + 0.1",
    ];
    let decided: Vec<bool> = csv.lines().skip(1).map(|line| line.contains(",accept,")).collect();
    let hard = ["--prediction", "decided == \"accept\""];
    let soft = ["--prediction", "chance", "--weight", "weight"];
    // With the third constraint there are quantiles.
    for count in [2, 3] {
        let constraints = &constraints[..count];
        let problem = Problem::parse("able == \"yes\"", "error()", constraints).unwrap();
        let flags = constraints.iter().flat_map(|text| ["--constraint", text]);
        let flags: Vec<&str> = flags.chain(["--label", "able == \"yes\"", "--json"]).collect();
        for (prediction, weights, decisions) in [
            (&soft[..], Some(&weights[..]), Decisions::Probabilities(numbers(&table, "chance"))),
            (&hard[..], None, Decisions::Hard(&decided)),
        ] {
            let (bound, _) = problem.bind(Weighted { table: &table, weights }, &[]).unwrap();
            let wanted = evaluate(&bound, &table, weights, decisions, 0.95).unwrap();
            for source in SOURCES {
                let audit = [&["audit", source], prediction, &flags].concat();
                let run = folder.fairgame_on(&audit, csv.as_bytes());
                assert_is(&run, &wanted, &format!("{source}, {count} constraints"));
            }
        }
    }
}

/// Groups are those of the whole table, from whatever the rows come.
#[test]
fn groups_are_those_of_the_whole_table() {
    let csv = people(ROWS);
    let folder = folder(&csv);
    let table = whole(&csv);
    let weights: Vec<f32> = numbers(&table, "weight").iter().map(|&weight| weight as f32).collect();
    let by = ["sex".to_owned()];
    let both = ["job".to_owned(), "sex".to_owned()];
    let audit = GroupAudit::new(&[by.to_vec(), both.to_vec()]).unwrap();
    let mut audit = audit.with_label("able == \"yes\"").unwrap();
    let chances = numbers(&table, "chance");
    let decisions = Some(Decisions::Probabilities(chances));
    audit.add(&table, Some(&weights), None, decisions, Some(chances)).unwrap();
    let wanted = audit.finish(0.95).unwrap();
    let [by_sex, by_both] = &wanted.groupings[..] else { panic!("{wanted:?}") };
    // Of some people it is not known.
    let values: Vec<_> = by_sex.groups.iter().map(|group| group.values[0].as_deref()).collect();
    assert_eq!(values, [Some("f"), Some("m"), None]);
    assert_eq!(by_both.groups.len(), 9);
    assert_eq!(by_sex.groups.iter().map(|group| group.rows).sum::<u64>(), ROWS as u64);
    let wanted: Value = serde_json::from_str(&serde_json::to_string(&wanted).unwrap()).unwrap();
    let flags = ["--prediction", "chance", "--weight", "weight", "--by", "sex", "--by", "job, sex"];
    let label = ["--label", "able == \"yes\"", "--json"];
    for source in SOURCES {
        let run =
            folder.fairgame_on(&[&["audit", source], &flags[..], &label].concat(), csv.as_bytes());
        assert_eq!(run.code, Some(0), "{source}: {run:?}");
        let found: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(found["groups"], wanted, "{source}");
    }
    // Beside constraints, and by a condition with a quantile, which is read before.
    let rule = ["--constraint", "tpr(each job) >= 0.4", "--label", "able == \"yes\""];
    let flags = ["--prediction", "age > median(age)", "--by", "sex", "--score", "age"];
    let run = folder.fairgame(&[&["audit", "people.csv"], &flags[..], &rule].concat());
    assert!(matches!(run.code, Some(0 | 1)), "{run:?}");
    for part in
        ["tpr(job == \"pilot\") >= 0.4", "(unknown)", "base rate", "auc", "four-fifths rule"]
    {
        assert!(run.stdout.contains(part), "{part}: {run:?}");
    }
    // Without a label there is less to say.
    let run = folder.fairgame(&["audit", "people.csv", "--prediction", "age > 40", "--by", "sex"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stdout.contains("ratio to all") && !run.stdout.contains("tpr"), "{run:?}");
    for (arguments, wanted) in [
        (&["--by", "sx"][..], "did you mean `sex`?"),
        (&["--by", "name"], "at most 1000 are shown"),
        (&["--by", "sex,sex"], "`sex` twice"),
        (&["--by", "sex", "--score", "job"], "--score: column `job` is a category"),
        (&["--by", "sex", "--constraint", "tpr() >= 0.4"], "no label"),
        (&["--score", "age"], "--by"),
    ] {
        let run = [&["audit", "people.csv", "--prediction", "age > 40"], arguments].concat();
        let run = folder.fairgame(&run);
        assert_eq!(run.code, Some(2), "{arguments:?}: {run:?}");
        assert!(run.stderr.contains(wanted), "{arguments:?}: {run:?}");
    }
}

/// Rows in messages are counted from the first of all, and names are those of all columns.
#[test]
fn mistakes_far_down() {
    let csv = people(ROWS);
    let rows: Vec<String> = csv
        .lines()
        .enumerate()
        .map(|(at, line)| match at {
            69_002 => line.rsplitn(4, ',').collect::<Vec<_>>()[3].to_owned() + ",,accept,1",
            69_003 => line.rsplitn(2, ',').collect::<Vec<_>>()[1].to_owned() + ",-2",
            _ => line.to_owned(),
        })
        .collect();
    let folder = Folder::with("people.csv", rows.join("\n"));
    let audit = |arguments: &[&str], stdin: bool| {
        let from = if stdin { "-" } else { "people.csv" };
        let flags = ["--label", "able == \"yes\"", "--constraint", "tpr(each job) >= 0.1"];
        let run = [&["audit", from][..], &flags, arguments].concat();
        folder.fairgame_on(&run, &folder.bytes("people.csv"))
    };
    for stdin in [false, true] {
        for (arguments, wanted) in [
            (&["--prediction", "chance"][..], "row 69002 has no prediction"),
            (&["--prediction", "age > 30", "--weight", "weight"], "weight of row 69003 is -2"),
            (&["--prediction", "chnce"], "did you mean `chance`?"),
            (&["--prediction", "age > 30", "--weight", "wieght"], "did you mean `weight`?"),
            (&["--prediction", "decided == \"acept\""], "did you mean \"accept\"?"),
            (
                &["--prediction", "age > 30", "--constraint", "tpr(jb == \"nurse\") >= 0.1"],
                "did you mean `job`?",
            ),
            (
                &["--prediction", "age > 30", "--constraint", "tpr(job == \"nurs\") >= 0.1"],
                "did you mean \"nurse\"?",
            ),
            (
                &["--prediction", "age > 30", "--constraint", "tpr(agge > median(agge)) >= 0.1"],
                "did you mean `age`?",
            ),
        ] {
            let run = audit(arguments, stdin);
            assert_eq!(run.code, Some(2), "{arguments:?}: {run:?}");
            assert!(run.stderr.contains(wanted), "{arguments:?}: {run:?}");
        }
    }
}

/// The most memory that a run took, in bytes.
#[cfg(target_os = "linux")]
fn peak(folder: &Folder, arguments: &[&str]) -> usize {
    let mut child = folder.command(arguments).spawn().unwrap();
    drop(child.stdin.take());
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    // The greatest so far is kept by the system: whenever it is looked at, nothing is missed before.
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        peak = peak.max(kilobytes.unwrap_or(0));
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert!(matches!(child.wait().unwrap().code(), Some(0 | 1 | 3)), "{arguments:?}");
    1024 * peak
}

/// Read as a whole, 300,000 rows took 52 MB to evaluate and 40 MB to audit.
#[test]
#[cfg(target_os = "linux")]
fn memory_does_not_grow_with_rows() {
    let folder = Folder::with("people.csv", people(300_000));
    write(&whole(&people(300_000)), &folder.path("people.parquet"), Format::Parquet).unwrap();
    folder.write("few.csv", people(1500));
    let train = ["train", "few.csv", "--label", "able == \"yes\"", "--ignore", "name", "--quiet"];
    let more = ["--constraint", "tpr(each sex) >= 0.2", "--turns", "60", "-o", "m.safetensors"];
    let trained = folder.fairgame(&[&train[..], &more].concat());
    assert!(matches!(trained.code, Some(0 | 1)), "{trained:?}");
    for data in ["people.csv", "people.parquet"] {
        let evaluate = ["evaluate", "m.safetensors", data];
        let audit = ["audit", data, "--prediction", "chance", "--label", "able == \"yes\""];
        let groups = [&audit[..], &["--by", "sex", "--by", "job,sex"]].concat();
        let audit = [&audit[..], &["--constraint", "tpr(each job) >= 0.4"]].concat();
        for arguments in [&evaluate[..], &audit, &groups] {
            let peak = peak(&folder, arguments);
            assert!(peak > 1 << 20, "nothing was measured: {arguments:?}");
            assert!(peak < 36_000_000, "{} MB: {arguments:?}", peak / 1_000_000);
        }
    }
}

/// A dry run says what a training will take, and trains nothing.
#[test]
fn what_a_training_will_take() {
    let folder = folder(&people(20_000));
    let policy = ["--label", "able == \"yes\"", "--constraint", "positive_rate(each sex) >= 0.1"];
    for name in ["people.csv", "people.csv.gz", "people.parquet", "people.arrow", "parts"] {
        let before = folder.listing();
        let settings = ["--ignore", "name", "--model", "linear", "-o", "model.safetensors"];
        let train = [&["train", name, "--dry-run"][..], &policy, &settings].concat();
        let run = folder.fairgame(&[&train[..], &["--json"]].concat());
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let found: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!((&found["rows"], &found["exact"]), (&20_000.into(), &true.into()), "{name}");
        assert_eq!(found["in_passes"], false);
        assert!(found["seconds"].as_f64().unwrap() > 0.0, "{found}");
        assert!(found["memory"].as_u64().unwrap() > 20_000 * 50, "{found}");
        let text = folder.fairgame(&train).stdout;
        assert!(
            text.contains("rows    20000, read once") && text.contains("disk    none"),
            "{text}"
        );
        assert_eq!(folder.listing(), before, "{name}: nothing is written");
    }
}
