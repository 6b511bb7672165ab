//! What a policy file says is what runs, flags replace what they name and nothing else, and what cannot be
//! is refused with its place and the nearest name.

mod common;

use common::{Folder, Run};
use fairgame::settings::{Declared, Field};
use fairgame::train::Spec;
use serde_json::Value;
use toml::Table;

const PROBLEM: &str = "label = 'hired == \"yes\"'\nconstraints = ['recall() >= 0.7']\n";

/// A folder with a small table and this policy, after the problem.
fn folder(policy: &str) -> Folder {
    let row = |i: usize| {
        let skill = (i * 37 % 101) as f64 / 10.0;
        let hired = if skill + (i % 3) as f64 > 6.0 { "yes" } else { "no" };
        format!("{},{skill},{hired}\n", ["a", "b"][i % 2])
    };
    let rows: String = (0..300).map(row).collect();
    let folder = Folder::with("people.csv", format!("group,skill,hired\n{rows}"));
    folder.write("policy.toml", format!("{PROBLEM}{policy}\n"));
    folder
}

fn print(policy: &str, flags: &[&str]) -> Run {
    let train = ["train", "people.csv", "--policy", "policy.toml", "--print-policy"];
    folder(policy).fairgame(&[&train, flags].concat())
}

/// Asserts that the complete policy has this value under this dotted key.
#[track_caller]
fn says(policy: &str, flags: &[&str], key: &str, wanted: impl Into<toml::Value>) {
    let run = print(policy, flags);
    assert_eq!(run.code, Some(0), "{policy} {flags:?}: {run:?}");
    let printed: toml::Value = run.stdout.parse::<Table>().unwrap().into();
    let found = key.split('.').try_fold(&printed, |table, key| table.get(key));
    assert_eq!(found, Some(&wanted.into()), "{policy} {flags:?}: {key} in\n{}", run.stdout);
}

/// Asserts that it is refused, in these words.
#[track_caller]
fn refuses(policy: &str, flags: &[&str], words: &[&str]) {
    let run = print(policy, flags);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{policy} {flags:?}: {run:?}");
    for word in words {
        assert!(run.stderr.contains(word), "{policy} {flags:?}: no {word} in {}", run.stderr);
    }
}

/// Folds, margins and lengths of steps by flags, and what these cannot be.
#[test]
fn folds_margins_and_steps() {
    says("", &["--folds", "7"], "datasets.cross.folds", 7);
    says("datasets = \"one\"", &["--folds", "7"], "datasets.cross.folds", 7);
    says("", &["--margin", "2"], "selection.shrink.margin.errors", 2.0);
    says("", &["--margin", "99%"], "selection.shrink.margin.confidence", 0.99);
    says("", &["--margin", "none"], "selection.shrink.margin", "none");
    let steps = || toml::Value::from(vec![0.5, 1.0]);
    says("", &["--steps", "0.5,1", "--algorithm", "practical"], "steps", steps());
    says("steps = [0.5, 1.0]\nalgorithm = \"practical\"", &[], "steps", steps());
    // What is said of patience leaves the rest as the recipe has it; 0 is none.
    says("early_stop.least = 0.001", &[], "early_stop.after", 5_000);
    says("", &["--early-stop", "0"], "early_stop.kept", 0);
    refuses("", &["--folds", "1"], &["fold"]);
    refuses("", &["--folds", "3", "--one-dataset"], &["cannot be used with"]);
    refuses("", &["--margin", "much"], &["`much` is neither"]);
    refuses("", &["--margin", "-1"], &["a margin of -1 standard errors"]);
    refuses("", &["--margin", "100%"], &["such as 95%"]);
    refuses(
        "",
        &["--margin", "1", "--selection", "last"],
        &["the selection last", "--selection shrink"],
    );
    refuses("", &["--steps", "0,1"], &["steps: ", "0 times as large"]);
    refuses(
        "",
        &["--steps", "0.5,1", "--one-dataset", "--algorithm", "practical"],
        &["out-of-fold rows", "cross-fit"],
    );
    refuses("steps = []", &[], &["steps: no multiplier"]);
}

/// A name alone is as good as a name with settings; two names are none.
#[test]
fn algorithms_by_name() {
    says("algorithm = \"lagrangian\"", &[], "algorithm.lagrangian.turns", 50_000);
    says("algorithm = \"lagrangian\"", &["--turns", "7"], "algorithm.lagrangian.turns", 7);
    let both = "[algorithm.lagrangian]\nturns = 3\n[algorithm.practical]\n";
    for more in ["turns = 4", "turnz = 4"] {
        let second = ["policy.toml, line 3", "algorithm: ", "`lagrangian` and `practical`"];
        refuses(&format!("{both}{more}"), &[], &second);
    }
    // A flag names one of them, and the file is wrong all the same.
    refuses(both, &["--algorithm", "practical"], &["only one can be chosen"]);
}

/// What a flag does not name stays as the policy has it.
#[test]
fn flags_replace_what_they_name() {
    let sgd = "algorithm.practical.model.sgd.step = 0.5";
    says(sgd, &["--step", "0.1"], "algorithm.practical.model.sgd.step", 0.1);
    says(sgd, &["--optimizer", "sgd"], "algorithm.practical.model.sgd.step", 0.5);
    says(sgd, &["--optimizer", "adam"], "algorithm.practical.model.adam.step", 0.5);
    // Another algorithm plays as long; one more column that is not a feature is one more.
    let turns = "algorithm.practical = { turns = 30, batch = 7 }\nencoder.ignore = [\"group\"]";
    says(turns, &["--algorithm", "lagrangian"], "algorithm.lagrangian.turns", 30);
    says(turns, &["--algorithm", "unconstrained"], "algorithm.unconstrained.batch", 7);
    says(turns, &["--algorithm", "lagrangian", "--turns", "9"], "algorithm.lagrangian.turns", 9);
    says(turns, &["--ignore", "skill"], "encoder.ignore", vec!["group", "skill"]);
    let adam = "algorithm.practical.model.adam = {step = 0.5, momentum = 0.3, floor = 0.25}\n\
                algorithm.practical.constraint.optimizer.adam = {step = 0.5, memory = 0.75}";
    let steps = ["--step", "0.1", "--constraint-step", "0.2"];
    for (key, wanted) in [
        ("model.adam.step", 0.1),
        ("model.adam.momentum", 0.3),
        ("model.adam.floor", 0.25),
        ("constraint.optimizer.adam.step", 0.2),
        ("constraint.optimizer.adam.memory", 0.75),
    ] {
        says(adam, &steps, &format!("algorithm.practical.{key}"), wanted);
    }
    let lagrangian = "algorithm.lagrangian.constraint.sgd.step = 0.5";
    let key = "algorithm.lagrangian.constraint.sgd.step";
    says(lagrangian, &["--constraint-step", "0.1"], key, 0.1);
    says(lagrangian, &["--constraint-optimizer", "sgd"], key, 0.5);
    says(lagrangian, &["--algorithm", "lagrangian"], key, 0.5);
    let descent = "algorithm.baseline.model.descent.optimizer.adam.step";
    says("", &["--algorithm", "baseline", "--batch", "5"], descent, 0.001);

    says("model.mlp.units = 9", &["--model", "mlp"], "model.mlp.units", 9);
    says("model = \"mlp\"", &["--units", "7"], "model.mlp.units", 7);
    says("", &["--model", "mlp"], "model.mlp.units", 50);
    refuses("", &["--units", "7"], &["--units is not for the model trees", "--model mlp"]);
    says("", &["--deterministic"], "selection.shrink.deterministic", true);
    says("selection = \"rule\"", &[], "selection.shrink.deterministic", true);
    says("", &["--selection", "rule"], "selection.shrink.deterministic", true);
    says("", &["--model", "trees"], "algorithm.plug_in.rounds", 40);
    says("", &["--model", "linear"], "algorithm.plug_in.turns", 50_000);
    says("", &["--algorithm", "practical"], "algorithm.practical.turns", 50_000);
    says("", &["--algorithm", "practical"], "model", "linear");
    says("", &["--deterministic", "--model", "mlp"], "selection.shrink.deterministic", true);
    refuses("", &["--deterministic", "--algorithm", "practical"], &["--deterministic"]);
    refuses("", &["--score", "p", "--model", "mlp"], &["--score and --model mlp are both given"]);
    let shrink = "selection.shrink.on = \"val\"";
    says(shrink, &["--selection", "shrink"], "selection.shrink.on", "val");
    says("early_stop.least = 0.5", &["--early-stop", "3"], "early_stop.least", 0.5);
    says("early_stop.kept = 5", &["--early-stop"], "early_stop.kept", 5);
    says("", &["--early-stop"], "early_stop.kept", 25);
    says(
        "[datasets.two]\nval_fraction = 0.25",
        &["--seed", "4"],
        "datasets.two.val_fraction",
        0.25,
    );
}

/// `--set` is more of the file: another algorithm takes the place of the one that is there.
#[test]
fn set_is_more_of_the_file() {
    let set =
        |text, key, wanted: toml::Value| says("", &["--set", text, "--batch", "9"], key, wanted);
    set("algorithm.lagrangian.turns = 5", "algorithm.lagrangian.turns", 5.into());
    set("algorithm = 'lagrangian'", "algorithm.lagrangian.batch", 9.into());
    let sgd = "algorithm.practical.model.sgd.step = 0.25";
    set(sgd, "algorithm.practical.model.sgd.step", 0.25.into());
    set("model.mlp.units = 4", "model.mlp.units", 4.into());
    set("region.radius = 2.0", "region.convexity", 0.0.into());
    set("keep = 'every'", "keep", "every".into());
    // Beside what the file says, and of what a flag names.
    let both = "algorithm.practical = {turns = 3, batch = 8}";
    says(both, &["--set", sgd], "algorithm.practical.turns", 3);
    let baseline =
        ["--algorithm", "baseline", "--set", "algorithm.baseline.model.descent.batch = 5"];
    says("", &baseline, "algorithm.baseline.model.descent.batch", 5);
    refuses("", &["--set", "model"], &["--set 'model'"]);
}

/// A name that is none gets its place and the nearest that is.
#[test]
fn typos() {
    let at = "policy.toml, line 3, column 1: there is no setting";
    refuses("sed = 3", &[], &[at, "`sed`", "did you mean `seed`?"]);
    refuses("sed = 3", &["--set", "seed = 4"], &[at]);
    refuses("algorithm = \"lagrangean\"", &[], &["line 3", "did you mean `lagrangian`?"]);
    refuses("algorithm = \"lagrangean\"", &["--algorithm", "practical"], &["lagrangean"]);
    refuses("[algorithm.lagrangean]", &[], &["line 3", "did you mean `lagrangian`?"]);
    refuses("[algorithm.practical]\nturnz = 3", &[], &["line 4", "did you mean `turns`?"]);
    refuses("[algorithm.practical.model.adm]\nstep = 1.0", &[], &["did you mean `adam`?"]);
    refuses("[encoder]\nignor = []", &[], &["line 4", "did you mean `ignore`?"]);
    refuses("surrogate = \"hinje\"", &[], &["line 3", "did you mean `hinge`?"]);
    refuses("selection = \"shink\"", &[], &["line 3", "did you mean `shrink`?"]);
    refuses("zebra = 3", &[], &["line 3", "there are label, objective, constraints"]);
    refuses("seed = \"x\"", &[], &["line 3, column 8, seed: expected a whole number", "`x`"]);
    refuses("seed = ", &[], &["policy.toml, line 3", "not TOML"]);
    refuses("", &["--set", "sed = 3"], &["--set 'sed = 3'", "did you mean `seed`?"]);
    let turns = "algorithm.lagrangian.turnz = 3";
    refuses("", &["--set", turns], &[turns, "did you mean `turns`?"]);
    for (flag, typo, meant) in [
        ("--model", "mpl", "mlp"),
        ("--algorithm", "lagrangean", "lagrangian"),
        ("--optimizer", "adma", "adam"),
        ("--surrogate", "hinje", "hinge"),
    ] {
        refuses("", &[flag, typo], &[flag, typo, &format!("'{meant}'")]);
    }
    refuses("", &["--selection", "shink"], &["--selection shink", "did you mean `shrink`?"]);
}

/// No policy is printed that training would refuse without a look at the data.
#[test]
fn what_is_printed_can_run() {
    for (policy, flags, wanted) in [
        ("", &["--turns", "0"][..], "above 0"),
        ("", &["--batch", "0"], "above 0"),
        ("", &["--step", "-1", "--model", "linear"], "algorithm.plug_in.model"),
        (
            "",
            &["--constraint-step", "-1", "--algorithm", "practical"],
            "algorithm.practical.constraint",
        ),
        ("", &["--constraint-step", "-1"], "--constraint-step is not for the algorithm plug_in"),
        ("", &["--model", "trees", "--algorithm", "practical"], "trees cannot be trained"),
        ("", &["--radius", "-1"], "region"),
        ("", &["--model", "mlp", "--units", "0"], "units"),
        ("", &["--keep", "0"], "keep"),
        ("early_stop.least = -1.0", &[], "early_stop.least: -1"),
        ("", &["--set", "recipe = 'paper'"], "--recipe"),
        ("datasets.cross.fold = 4", &[], "fold"),
        ("", &["--folds", "4", "--algorithm", "baseline"], "--folds"),
        ("", &["--margin", "2", "--algorithm", "unconstrained"], "--margin"),
        ("", &["--margin", "95"], "95%"),
        ("", &["--steps", "1,1"], "given twice"),
        ("", &["--steps", "1,2"], "plug-in game"),
        ("", &["--val-fraction", "1.5"], "fraction"),
        ("", &["--test-fraction", "-1"], "fraction"),
        ("", &["--constraint", "recal() >= 0.9"], "recall"),
        ("", &["--label", "hired = 3"], "label"),
        ("", &["--epsilon", "0.1"], "--epsilon is not for the algorithm plug_in"),
        ("", &["--algorithm", "discrete", "--epsilon", "0"], "epsilon"),
        ("", &["--algorithm", "continuous"], "convex"),
        (
            "",
            &["--algorithm", "discrete", "--batch", "5"],
            "--batch is not for the algorithm discrete",
        ),
        ("", &["--algorithm", "discrete", "--optimizer", "sgd"], "--optimizer"),
        ("", &["--algorithm", "unconstrained", "--constraint-step", "1"], "--constraint-step"),
        ("region.convexity = 0.1\nmodel = 'mlp'\nalgorithm = 'continuous'", &[], "linear models"),
        ("algorithm.baseline.radius = 0.0", &[], "radius"),
        ("algorithm.discrete.radius = -1.0", &[], "radius"),
        ("algorithm.practical.constraint.floor = 2.0", &[], "floor"),
        ("model.lattice.inputs = 0", &[], "inputs"),
        ("selection.shrink.epsilon.at_most = -1.0", &[], "selection.shrink.epsilon"),
        ("encoder.columns.skill = [{buckets = {cuts = {quantiles = 1}}}]", &[], "encoder"),
        ("encoder.columns.skill = []", &[], "no coding"),
    ] {
        refuses(policy, flags, &[wanted]);
    }
}

/// `bounds` goes by the policy where no flag says otherwise.
#[test]
fn bounds_of_a_policy() {
    let bounds = |policy: &str, flags: &[&str]| {
        let all = [&["bounds", "people.csv", "--policy", "policy.toml", "--json"], flags].concat();
        let run = folder(policy).fairgame(&all);
        assert_eq!(run.code, Some(0), "{policy} {flags:?}: {run:?}");
        serde_json::from_str::<Value>(&run.stdout).unwrap()["given"].clone()
    };
    let theory = "region.convexity = 0.1\nalgorithm.discrete.epsilon = 0.2";
    for (policy, flags, epsilon, convexity) in [
        ("", &[][..], 0.05, None),
        (theory, &[], 0.2, Some(0.1)),
        (theory, &["--epsilon", "0.3", "--convexity", "0.4"], 0.3, Some(0.4)),
        (theory, &["--convexity", "0"], 0.2, None),
        ("algorithm.continuous.epsilon = 0.2", &[], 0.2, None),
        ("algorithm.practical.turns = 9", &["--epsilon", "0.3"], 0.3, None),
    ] {
        let given = bounds(policy, flags);
        assert_eq!(given["epsilon"], epsilon, "{policy} {flags:?}");
        assert_eq!(given["convexity"].as_f64(), convexity, "{policy} {flags:?}");
    }
}

/// Counts are whole; a flag that would say nothing is refused, and so is a number that cannot be.
#[test]
fn bounds_of_numbers() {
    let folder = folder("");
    let bounds = |flags: &[&str]| {
        folder.fairgame(&[&["bounds", "--constraints", "3", "--rows", "100"], flags].concat())
    };
    let run = bounds(&["--convexity", "0.1", "--json"]);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(document["given"]["constraints"], 3);
    assert_eq!(document["given"]["rows"], 100);
    // 4·4·ln 4/0.05², and 200·ln 200 with 200 = 1/(0.1·0.05).
    assert_eq!(document["bounds"]["turns"], 8873);
    assert_eq!(document["bounds"]["inner_turns"], 1060);
    for (flags, wanted) in [
        (&["--policy", "nosuch.toml"][..], "--policy says nothing without DATA"),
        (&["--radius", "2"], "--radius says nothing without DATA"),
        (&["--set", "seed = 3"], "--set says nothing without DATA"),
        (&["--delimiter", ";"], "--delimiter says nothing without DATA"),
        (&["--convexity", "-1"], "convexity: -1 is out of range"),
        (&["--epsilon", "0"], "epsilon is 0"),
        (&["--proxy", "0"], "proxy is 0"),
        (&["--delta", "2"], "--delta"),
    ] {
        let run = bounds(flags);
        assert_eq!(run.code, Some(2), "{flags:?}: {run:?}");
        assert!(run.stderr.contains(wanted), "{flags:?}: {run:?}");
    }
    let with_data = ["people.csv", "--policy", "policy.toml", "--convexity", "-1"];
    assert_eq!(bounds(&with_data).code, Some(2));
}

/// The page on policies has every key that there is, and what it shows can run.
#[test]
fn the_page_is_complete() {
    let page = include_str!("../../../docs/policy.md");
    let example = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let folder = folder("");
    folder.write("example.toml", example);
    let train = ["train", "@adult", "--policy", "example.toml", "--print-policy"];
    let run = folder.fairgame(&train);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stdout.contains("turns = 110000") && run.stdout.contains("units = 50"), "{run:?}");

    // The table has every key of the schema, and no other; of those that it gives a plain default, the same.
    let table = page.split("## Recipes").next().unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    let schema = Spec::schema();
    let mut keys: Vec<(Vec<&str>, Option<&Field>)> = Vec::new();
    schema.walk(&mut |key, field, _| keys.push((key.to_vec(), field)));
    let names = |row: &[&str]| -> Vec<String> {
        row[1].split('`').nth(1).unwrap().split('.').map(str::to_owned).collect()
    };
    let matches = |pattern: &[String], key: &[&str]| {
        pattern.len() == key.len() && pattern.iter().zip(key).all(|(a, b)| a == "*" || a == b)
    };
    for row in &rows {
        let pattern = names(row);
        let found = keys.iter().find(|(key, _)| matches(&pattern, key));
        let (_, field) = found.unwrap_or_else(|| panic!("there is no setting {pattern:?}"));
        let default = row[2].strip_prefix('`').and_then(|text| text.strip_suffix('`'));
        if let (Some(default), Some(field)) = (default, field) {
            let told: Table = format!("it = {default}").parse().unwrap();
            let told = serde_json::to_value(&told["it"]).unwrap();
            assert_eq!(told, field.defaults.as_ref().unwrap()[0], "{pattern:?}");
        }
    }
    for (key, field) in &keys {
        let known = (1..=key.len())
            .any(|length| rows.iter().any(|row| matches(&names(row), &key[..length])));
        assert!(known || field.is_none_or(|one| !one.schema.fields().is_empty()), "{key:?}");
    }
}
