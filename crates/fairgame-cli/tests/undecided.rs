//! What `evaluate` and `audit` say of constraints that rows do not decide, and of rows that belong together.

mod common;

use common::Folder;
use serde_json::Value;

/// Three visits of each of so many patients, of whom one has no name; each is decided as the others of the patient.
fn visits(patients: usize) -> String {
    let rows = (0..3 * patients).map(|row| {
        let patient = row / 3;
        // Numbers first, texts and zeros in front far down.
        let name = match patient {
            0 => String::new(),
            patient if patient + 20 > patients => format!("0{patient}"),
            patient => patient.to_string(),
        };
        let (sex, ill) = (["f", "m"][patient % 2], row % 5 < 2);
        format!("{name},{sex},{ill},{}\n", patient * 37 % 100 < 45)
    });
    format!("patient,sex,ill,treated\n{}", rows.collect::<String>())
}

const AUDIT: [&str; 7] =
    ["audit", "visits.csv", "--prediction", "treated", "--label", "ill", "--constraint"];

#[test]
fn rows_of_one_unit_belong_together() {
    let folder = Folder::with("visits.csv", visits(5000));
    let audit = |more: &[&str]| {
        let run = folder
            .fairgame(&[&AUDIT[..], &["positive_rate(each sex) <= 0.5", "--json"], more].concat());
        assert_eq!(run.code, Some(0), "{run:?}");
        serde_json::from_str::<Value>(&run.stdout).unwrap()
    };
    let (by_row, by_unit) = (audit(&[]), audit(&["--unit", "patient"]));
    assert_eq!((&by_row["units"], &by_unit["units"]), (&Value::Null, &Value::from(5002)));
    assert_eq!(by_unit["warnings"][0], "3 rows without a unit count as units of their own");
    let width = |found: &Value| {
        let interval = &found["constraints"][0]["interval"];
        interval["high"].as_f64().unwrap() - interval["low"].as_f64().unwrap()
    };
    // Three rows that are alike tell what one does.
    let ratio = width(&by_unit) / width(&by_row);
    assert!((1.7..1.8).contains(&ratio), "{ratio}");

    let run = folder
        .fairgame(&[&AUDIT[..], &["positive_rate() <= 0.5", "--unit", "patients"][..]].concat());
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("--unit") && run.stderr.contains("patient"), "{}", run.stderr);
}

#[test]
fn undecided_constraints_say_what_would_decide() {
    let folder = Folder::with("visits.csv", visits(100));
    let said = |constraint: &str| {
        let run = folder.fairgame(&[&AUDIT[..], &[constraint][..]].concat());
        assert_eq!(run.code, Some(3), "{run:?}");
        run.stdout
    };
    // 135 of 300 at 0.45: the half-width of 0.057 is to be 0.02.
    let text = said("positive_rate() <= 0.47");
    assert!(text.contains("rows to decide"), "{text}");
    assert!(
        text.contains("About 2,600 rows like these would decide the undecided constraint"),
        "{text}"
    );
    assert!(!text.contains("--margin"), "nothing was trained: {text}");
    let text = said("positive_rate() <= 0.45");
    assert!(text.contains("no number"), "{text}");
    assert!(text.contains("No number of rows decides a value of 0"), "{text}");

    let train = ["train", "visits.csv", "--label", "ill", "--turns", "20", "-o", "m.safetensors"];
    let more = ["--constraint", "positive_rate() >= 0.0", "--constraint", "error(each sex) <= 0.4"];
    let run = folder.fairgame(&[&train[..], &more].concat());
    assert!(matches!(run.code, Some(0 | 1)), "{run:?}");
    let evaluate = ["evaluate", "m.safetensors", "visits.csv", "--confidence", "0.9"];
    let run = folder.fairgame(&evaluate);
    assert_eq!(run.code, Some(3), "{run:?}");
    assert!(run.stdout.contains("Or train with --margin gate:90%@300:"), "{}", run.stdout);
    let run = folder.fairgame(&[&evaluate[..], &["--json"]].concat());
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["margin_to_meet"], "gate:90%@300");
}
