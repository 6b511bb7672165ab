//! The same rows have the same evaluation, whoever is asked: `train`, `evaluate`, the report and the library say the
//! same words and the same numbers.

mod common;

use common::{Folder, Run};
use fairgame::classifier::Classifier;
use fairgame::table::{ReadOptions, Source, read};
use serde_json::Value;

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"))
}

/// Name, value, interval and verdict of each constraint, then of all together; as `evaluate --json` has them.
fn said(found: &Value) -> Vec<Value> {
    let constraints = found["constraints"].as_array().unwrap().iter();
    let one = |one: &Value| {
        serde_json::json!([one["name"], one["value"], one["interval"], one["verdict"]])
    };
    constraints.map(one).chain([found["verdict"].clone(), found["error"].clone()]).collect()
}

#[test]
fn one_evaluation() {
    let folder = Folder::new();
    let export = ["data", "export", "adult/test", "."];
    assert_eq!(folder.fairgame(&export).code, Some(0));
    // Weights, and a constraint of each kind: easily met, hopeless, and near its bound.
    let constraints = [
        "--constraint",
        "positive_rate(each sex) >= 0.2 * positive_rate()",
        "--constraint",
        "precision(race == \"Black\") >= 0.6",
        "--constraint",
        "positive_rate(sex == \"Female\") >= 0.8 * positive_rate()",
        "--constraint",
        "recall(native_country == \"Mexico\") >= 0.9",
    ];
    let label = ["--label", "income == \">50K\"", "--weight", "fnlwgt", "--turns", "2000"];
    for algorithm in ["practical", "unconstrained"] {
        let train = ["train", "@adult", "--algorithm", algorithm, "--test", "adult-test.csv"];
        let outputs = ["-o", "m.safetensors", "--json", "-q"];
        let run = folder.fairgame(&[&train[..], &label, &constraints, &outputs].concat());
        let trained = json(&run);
        let evaluated = folder.fairgame(&["evaluate", "m.safetensors", "adult-test.csv", "--json"]);
        let evaluated = json(&evaluated);
        assert_eq!(said(&trained["test"]), said(&evaluated), "train and evaluate, {algorithm}");
        let on_train = folder.fairgame(&["evaluate", "m.safetensors", "@adult", "--json"]);
        assert_eq!(said(&trained["train"]), said(&json(&on_train)), "on the training rows");

        let classifier = Classifier::load(&folder.path("m.safetensors")).unwrap();
        let options = ReadOptions { kinds: classifier.bound().kinds(), ..ReadOptions::default() };
        let new = read([Source::parse("@adult/test").unwrap()], &options).unwrap();
        let weights = fairgame::train::weight_column(&new, "fnlwgt", 0).unwrap();
        let found = classifier.evaluate(&new, Some(&weights), 0.95).unwrap();
        let found = serde_json::to_value(&found).unwrap();
        assert_eq!(said(&found), said(&evaluated), "the library and evaluate, {algorithm}");

        let models = [("m".to_owned(), classifier)];
        let report = fairgame_report::Report::of_classifiers(&models).unwrap();
        let constraints = evaluated["constraints"].as_array().unwrap();
        assert_eq!(report.models[0].constraints.len(), constraints.len());
        for (shown, wanted) in report.models[0].constraints.iter().zip(constraints) {
            let test = shown.on.test.unwrap();
            assert_eq!(shown.text, wanted["name"].as_str().unwrap());
            assert_eq!(serde_json::json!(test.value), wanted["value"]);
            assert_eq!(serde_json::json!(test.verdict()), wanted["verdict"]);
            let interval = test.interval.unwrap();
            assert_eq!(serde_json::json!(interval.low), wanted["interval"]["low"]);
            assert_eq!(serde_json::json!(interval.high), wanted["interval"]["high"]);
        }
    }
}
