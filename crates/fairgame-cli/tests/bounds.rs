//! `fairgame bounds`: each line is the theorem's own, with its own numbers, and not only a formula that is right elsewhere.

mod common;

use common::Folder;
use serde_json::Value;

/// Two constraints, 1,000 validation rows, B_ℓ = 1, B_ℓ̃ = 2, ε = δ = .05, ρ = .01, μ = .5, L = 1.
fn bounds(more: &[&str]) -> Value {
    let numbers = "--constraints 2 --rows 1000 --epsilon 0.05 --delta 0.05 --loss 1 --proxy 2 --rho 0.01 \
                   --objective-range 1 --convexity 0.5 --lipschitz 1 --json";
    let flags: Vec<&str> = numbers.split(' ').filter(|flag| !flag.is_empty()).collect();
    let run = Folder::new().fairgame(&[&["bounds"], &flags[..], more].concat());
    assert_eq!(run.code, Some(0), "{run:?}");
    serde_json::from_str::<Value>(&run.stdout).unwrap()["bounds"].clone()
}

fn near(bounds: &Value, key: &str, wanted: f64) {
    let found = bounds[key].as_f64().unwrap_or_else(|| panic!("{key} in {bounds}"));
    assert!((found - wanted).abs() < 1e-6 * (1.0 + wanted), "{key} is {found}, not {wanted}");
}

/// With G̃_train = .02 and γ = .9, by hand.
#[test]
fn by_hand() {
    let found = bounds(&["--g-train", "0.02", "--gamma", "0.9"]);
    near(&found, "g_train", 0.02);
    // r = .05/(2·2), ε_θ = .01 + 2·.0125·2, √((2·ln 400 + ln 80)/2,000)
    near(&found, "radius", 0.0125);
    near(&found, "model_1", 0.06);
    near(&found, "theorem_1", 0.090_457_0);
    // .06 + .05 + 2·.02 + .090457 = .240457, which is at most .45; (.9 − .240457)/(.9 + 1)
    assert_eq!(found["assumption_1"], true);
    near(&found, "least_weight_1", 0.347_127_9);
    near(&found, "suboptimality_1", 0.692_704_5);
    near(&found, "infeasibility_1", 0.234_496_2);
    // 2·.5·1²/(32·1²·2·1,000)
    near(&found, "radius_2", 1.0 / 64_000.0);
    // (.05 + 1)/(.9 − .02), .05 + (2 + 1.193182)·.02, .05/(10 − 1.193182) + .02
    assert_eq!(found["baseline_assumption"], true);
    near(&found, "baseline_multipliers", 1.193_181_8);
    near(&found, "baseline_suboptimality", 0.113_863_6);
    near(&found, "baseline_infeasibility", 0.025_677_4);
}

/// Assumptions fail where γ is smaller; an objective weight or multipliers that were played go before those by γ.
#[test]
fn other_margins_and_what_was_played() {
    let found = bounds(&["--g-train", "0.02", "--gamma", "0.48"]);
    assert_eq!(
        (&found["assumption_1"], &found["baseline_assumption"]),
        (&false.into(), &true.into())
    );
    let found = bounds(&["--g-train", "0.02", "--gamma", "0.03"]);
    assert_eq!(found["baseline_assumption"], false);
    let played = ["--g-train", "0.02", "--objective-weight", "0.5", "--multiplier-norm", "3"];
    let found = bounds(&played);
    assert!(found["assumption_1"].is_null() && found["least_weight_1"].is_null());
    // .240457/.5, .05/.5 + .090457, .05 + 5·.02, .05/7 + .02
    near(&found, "suboptimality_1", 0.480_914_1);
    near(&found, "infeasibility_1", 0.190_457_0);
    near(&found, "baseline_suboptimality", 0.15);
    near(&found, "baseline_infeasibility", 0.027_142_9);
}

/// The baseline's multipliers are in a ball: where γ allows more than R, or is not known, they are still at most R. At its
/// edge violations have no bound.
#[test]
fn multipliers_are_at_most_r() {
    for margin in [&["--gamma", "0.025"][..], &["--gamma", "0.01"], &[]] {
        let found = bounds(&[&["--g-train", "0.02", "--multiplier-bound", "8"], margin].concat());
        near(&found, "baseline_multipliers", 8.0);
        near(&found, "baseline_suboptimality", 0.05 + 10.0 * 0.02);
        assert!(found["baseline_infeasibility"].is_null(), "{found}");
    }
}

/// G̃_train by a Rademacher complexity: 2·.01 + 3·√(2·ln(2·5/.05)/1,000), of the model player's rows.
#[test]
fn g_train_by_a_complexity() {
    let numbers = "--constraints 4 --rows 50 --train-rows 1000 --proxy 3 --rademacher 0.01 --json";
    let flags: Vec<&str> = numbers.split(' ').collect();
    let run = Folder::new().fairgame(&[&["bounds"], &flags[..]].concat());
    let found = serde_json::from_str::<Value>(&run.stdout).unwrap()["bounds"].clone();
    near(&found, "g_train", 0.328_819_9);
}

/// With data, it is made of what a single row can change. A tenth of the rows are in the group, so each counts ten times;
/// whole losses are at most 1, and would make a bound of a fifth.
#[test]
fn g_train_by_data_is_of_single_rows() {
    let row = |at: usize| {
        let (group, x) = (if at.is_multiple_of(10) { "small" } else { "large" }, at * 37 % 101);
        format!("{group},{x},{}\n", if (x + at % 7) > 50 { "yes" } else { "no" })
    };
    let rows: String = (0..2_000).map(row).collect();
    let folder = Folder::with("rows.csv", format!("group,x,hired\n{rows}"));
    let run = folder.fairgame(&[
        "bounds",
        "rows.csv",
        "--label",
        "hired == \"yes\"",
        "--constraint",
        "positive_rate(group == \"small\") <= 0.5",
        "--ignore",
        "group",
        "--model",
        "linear",
        "--radius",
        "1",
        "--set",
        "surrogate = \"ramp\"",
        "--json",
        "--quiet",
    ]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    let given = |key: &str| document["given"][key].as_f64().unwrap();
    // (G̃_train − 2·R_n)/√(2·ln(2·2/δ)/n) is the B_ℓ̃ of a row.
    let rest = document["bounds"]["g_train"].as_f64().unwrap() - 2.0 * given("rademacher");
    let of_row = rest / (2.0 * 80.0_f64.ln() / given("train_rows")).sqrt();
    assert!((4.0..6.5).contains(&of_row), "{of_row}: {document}");
    assert!(given("proxy") <= 1.0 + 1e-9, "{document}");
}

/// Theorem 1 says nothing of new rows where validation rows are also training rows, and `train` says that this is why.
#[test]
fn training_rows_that_validate_are_told() {
    let row = |at: usize| {
        let (x, noise) = (at * 37 % 101, at * 17 % 23);
        // All rows differ from each other.
        format!("{x}.{at:04},{}\n", if x + noise > 60 { "yes" } else { "no" })
    };
    let rows = |from: usize| (from..from + 101).map(row).collect::<String>();
    let folder = Folder::with("rows.csv", format!("x,hired\n{}", rows(0)));
    folder.write("others.csv", format!("x,hired\n{}", rows(1_000)));
    let theorem = |val: &str| {
        let run = folder.fairgame(&[
            "train",
            "rows.csv",
            "--validation",
            val,
            "--label",
            "hired == \"yes\"",
            "--constraint",
            "recall() >= 0.5",
            "--algorithm",
            "discrete",
            "--model",
            "linear",
            "--radius",
            "4",
            "--recipe",
            "paper",
            "--set",
            "algorithm.discrete.epsilon = 0.3",
            "--feature",
            "x",
        ]);
        assert!(matches!(run.code, Some(0 | 3)), "{run:?}");
        let text = run.stdout + &run.stderr;
        text.lines()
            .find(|line| line.starts_with("Theorem 1"))
            .unwrap_or_else(|| panic!("{text}"))
            .to_owned()
    };
    let same = theorem("rows.csv");
    assert!(same.ends_with("new rows here: validation rows are also training rows."), "{same}");
    let others = theorem("others.csv");
    assert!(others.contains("in the population"), "{others}");
}
