//! Each setting is declared once, and all else follows: what is written is read again, what is left out is as the
//! recipe has it, what is misspelt is refused with its key and the nearest, and every flag is for a setting.

use fairgame::algorithm::{Algorithm, Practical};
use fairgame::classifier::{Margin, Selection, ShrinkSpec};
use fairgame::game::Keep;
use fairgame::model::ModelSpec;
use fairgame::observe::Patience;
use fairgame::settings::{Declared, Kind, Recipe, Schema, Wrong};
use fairgame::train::{Datasets, Spec};
use serde_json::{Map, Value, json};

fn read(given: Value) -> Result<Spec, Wrong> {
    Spec::from_value(&given)
}

fn nested(key: &[&str], value: Value) -> Value {
    let wrap = |value, name: &&str| Map::from_iter([((*name).to_owned(), value)]).into();
    key.iter().rev().fold(value, wrap)
}

/// Every key that leads to a schema for which `wanted` holds.
fn keys(wanted: impl Fn(&Schema) -> bool) -> Vec<(Vec<String>, Schema)> {
    let (schema, mut found) = (Spec::schema(), Vec::new());
    schema.walk(&mut |key, _, schema| {
        if wanted(schema) {
            found.push((key.iter().map(|name| (*name).to_owned()).collect(), schema.clone()));
        }
    });
    found
}

/// All that a spec says, it says again: as a tree, as JSON text, and of every variant that can be chosen.
#[test]
fn what_is_written_is_read() {
    let mut specs = Vec::new();
    for recipe in Recipe::ALL {
        let base = Spec::of(recipe, "hired", &["recall() >= 0.9"]);
        for (key, schema) in keys(|schema| matches!(schema.kind, Kind::Choice(_))) {
            let key: Vec<&str> = key.iter().map(String::as_str).collect();
            for variant in schema.variants() {
                // What is no table cannot be chosen by its name alone.
                let Ok(spec) = base.over(&nested(&key, variant.name.into())) else { continue };
                specs.push(spec);
            }
        }
    }
    assert!(specs.len() > 60, "{}", specs.len());
    for spec in specs {
        assert_eq!(read(spec.write()).unwrap(), spec);
        let text = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::from_str::<Spec>(&text).unwrap(), spec);
        assert!(text.starts_with(r#"{"label":"#), "keys are in the order of their declaration");
    }
}

/// A name alone is a name with its defaults; a number alone is what it can only mean.
#[test]
fn short_forms() {
    let bare = json!({"label": "y", "algorithm": "practical", "model": "mlp", "datasets": "one"});
    let bare = read(bare).unwrap();
    assert_eq!(bare.algorithm, Algorithm::Practical(Practical::default()));
    assert_eq!((bare.model, bare.datasets), (ModelSpec::Mlp { units: 50 }, Datasets::One));
    let some = json!({"algorithm": {"practical": {"turns": 7, "model": {"adam": {"step": 0.01}}}}});
    let Algorithm::Practical(practical) = read(some).unwrap().algorithm else { panic!() };
    assert_eq!((practical.turns, practical.batch), (7, 100));

    for (given, keep) in [
        (json!(9), Keep::Spaced(9)),
        (json!({"spaced": 9}), Keep::Spaced(9)),
        (json!("every"), Keep::Every),
    ] {
        assert_eq!(read(json!({ "keep": given })).unwrap().keep, keep);
    }
    for (given, margin) in [
        (json!(2), Margin::Errors(2.0)),
        (json!({"errors": 2.0}), Margin::Errors(2.0)),
        (json!("95%"), Margin::Confidence(0.95)),
        (json!({"confidence": 0.95}), Margin::Confidence(0.95)),
        (json!("none"), Margin::None),
    ] {
        let spec = read(json!({"selection": {"shrink": {"margin": given}}})).unwrap();
        let Selection::Shrink(shrink) = spec.selection else { panic!() };
        assert_eq!(shrink.margin, margin);
    }
    for (given, kept) in [
        (json!(3), Some(3)),
        (json!({"kept": 3}), Some(3)),
        (json!(true), Some(25)),
        (json!(0), None),
        (json!({"kept": 0}), None),
        (json!(false), None),
        (json!(null), Some(25)),
    ] {
        let spec = read(json!({ "early_stop": given })).unwrap();
        assert_eq!(spec.early_stop.map(|patience| patience.kept), kept, "{given}");
    }
}

/// What is left out is as the recipe has it, also inside of what is given in part.
#[test]
fn partial_over_a_recipe() {
    assert_eq!(read(json!({})).unwrap(), Spec::new::<&str>("", &[]));
    assert_eq!(read(json!({"recipe": "paper"})).unwrap(), Spec::paper::<&str>("", &[]));
    let shrink = |given: Value| match read(given).unwrap().selection {
        Selection::Shrink(shrink) => shrink,
        other => panic!("{other:?}"),
    };
    let own = ShrinkSpec::of(Recipe::Recommended);
    assert_eq!(shrink(json!({"selection": "shrink"})), own);
    let part = json!({"selection": {"shrink": {"margin": 2}}});
    assert_eq!(shrink(part), ShrinkSpec { margin: Margin::Errors(2.0), ..own });
    let paper = json!({"recipe": "paper", "selection": "shrink"});
    assert_eq!(shrink(paper), ShrinkSpec::default());

    let patience = |given: Value| read(given).unwrap().early_stop;
    let wanted = Patience { kept: 25, least: 0.5, after: 5_000 };
    assert_eq!(patience(json!({"early_stop": {"least": 0.5}})), Some(wanted));
    let paper = json!({"recipe": "paper", "early_stop": {"least": 0.5}});
    assert_eq!(patience(paper), Some(Patience { after: 0, ..wanted }));

    // Over other settings: the same variant keeps what is not named, another has its defaults.
    let spec = read(json!({"algorithm": {"practical": {"turns": 3, "batch": 4}}})).unwrap();
    let same = spec.over(&json!({"algorithm": {"practical": {"batch": 5}}})).unwrap();
    assert_eq!(same.write()["algorithm"]["practical"]["turns"], 3);
    let other = spec.over(&json!({"algorithm": {"lagrangian": {"batch": 5}}})).unwrap();
    assert_eq!(other.write()["algorithm"]["lagrangian"]["turns"], 50_000);
}

/// What follows from the data is the word `auto`, and the settings of older model files are read.
#[test]
fn words_for_what_is_not_set() {
    for (algorithm, names) in [
        ("discrete", &["turns", "step", "radius"][..]),
        ("continuous", &["turns", "inner_turns", "step"]),
    ] {
        let spec = read(json!({ "algorithm": algorithm })).unwrap();
        for name in names {
            assert_eq!(spec.write()["algorithm"][algorithm][name], "auto");
            for unset in [json!("auto"), Value::Null] {
                let given = json!({"algorithm": {algorithm: {*name: unset}}});
                assert_eq!(read(given).unwrap(), spec);
            }
            let wrong = read(json!({"algorithm": {algorithm: {*name: "aut"}}})).unwrap_err();
            assert!(wrong.to_string().contains("`auto` is"), "{wrong}");
        }
    }
    let written = Spec::new::<&str>("", &[]).write();
    assert_eq!(written["region"]["radius"], "none");
    assert!(written.get("weight").is_none());
    assert_eq!(read(json!({"region": {"radius": null}})).unwrap().region.radius, None);
    let lattice = read(json!({"model": "lattice"})).unwrap().write();
    assert_eq!(lattice["model"]["lattice"]["lattices"], "auto");
}

/// At every level, a key that is none is named in full, with the nearest one.
#[test]
fn unknown_keys() {
    let mut tables = keys(|schema| matches!(schema.kind, Kind::Record(_)));
    tables.push((Vec::new(), Spec::schema()));
    assert!(tables.len() > 20, "{}", tables.len());
    for (key, schema) in tables {
        let field = &schema.fields()[0];
        let typo = format!("{}x", field.name);
        let path: Vec<&str> = key.iter().map(String::as_str).chain([typo.as_str()]).collect();
        let wrong = read(nested(&path, json!(1))).unwrap_err();
        assert_eq!(wrong.key, path);
        assert_eq!(wrong.message, format!("there is no setting `{}`", path.join(".")));
        assert_eq!(wrong.help, Some(format!("did you mean `{}`?", field.name)));
    }
    let far = read(json!({"zebra": 3})).unwrap_err();
    assert!(far.help.unwrap().starts_with("there are label, objective, constraints"));
}

/// At every level, a word that is none is named with its key and the nearest one, alone or with settings.
#[test]
fn unknown_words() {
    for (key, schema) in keys(|schema| matches!(schema.kind, Kind::Choice(_))) {
        let key: Vec<&str> = key.iter().map(String::as_str).collect();
        if key.ends_with(&["buckets", "steps"]) {
            // Its neighbour `cuts` must be given, and is missed first.
            continue;
        }
        let word = schema.variants()[0].name;
        let typo = format!("{word}x");
        let alone = read(nested(&key, typo.as_str().into())).unwrap_err();
        assert_eq!(alone.key, key);
        let path: Vec<&str> = key.iter().copied().chain([typo.as_str()]).collect();
        let table = read(nested(&path, json!({}))).unwrap_err();
        assert_eq!(table.key, path);
        for wrong in [alone, table].iter().filter(|_| schema.short.is_none()) {
            assert_eq!(wrong.message, format!("there is no {} `{typo}`", key.join(".")));
            assert_eq!(wrong.help, Some(format!("did you mean `{word}`?")));
        }
    }
    let both = read(json!({"algorithm": {"practical": {}, "lagrangian": {}}})).unwrap_err();
    assert!(both.message.contains("`lagrangian` and `practical`"), "{both}");
}

/// A value of the wrong kind, or out of range, is refused with its key.
#[test]
fn wrong_values() {
    for (given, wanted) in [
        (json!({"seed": "x"}), "seed: expected a whole number from 0 up, found the text `x`"),
        (json!({"seed": -1}), "seed: expected a whole number from 0 up, found the number -1"),
        (json!({"steps": 3}), "steps: expected a list, found the number 3"),
        (json!({"steps": [1, "x"]}), "steps.1: expected a number, found the text `x`"),
        (
            json!({"algorithm": 3}),
            "algorithm: expected one of auto, discrete, continuous, practical",
        ),
        (json!({"model": {"linear": {"units": 3}}}), "`linear` has no settings of its own"),
        (json!({"region": 3}), "region: expected a table, found the number 3"),
        (json!({"encoder": {"numbers": "buckets"}}), "encoder.numbers.buckets.cuts: "),
    ] {
        let wrong = read(given.clone()).unwrap_err().to_string();
        assert!(wrong.contains(wanted), "{given}: {wrong}");
    }
    for (given, wanted) in [
        (json!({"algorithm": {"practical": {"turns": 0}}}), "algorithm.practical.turns: 0 is out"),
        (
            json!({"algorithm": {"baseline": {"model": {"descent": {"batch": 0}}}}}),
            "algorithm.baseline.model.descent.batch: 0 is out of range",
        ),
        (json!({"algorithm": {"discrete": {"epsilon": 0}}}), "algorithm.discrete.epsilon: 0"),
        (json!({"model": {"mlp": {"units": 0}}}), "model.mlp.units: 0 is out of range"),
        (json!({"datasets": {"cross": {"folds": 1}}}), "datasets.cross.folds: 1 is out of range"),
        (json!({"datasets": {"two": {"val_fraction": 1}}}), "datasets.two.val_fraction: 1 is out"),
        (json!({"early_stop": {"least": -1}}), "early_stop.least: -1 is out of range"),
        (json!({"keep": 0}), "keep: to keep no model leaves nothing to select from"),
        (json!({"steps": []}), "steps: no multiplier is given"),
        (
            json!({"selection": {"shrink": {"epsilon": {"at_most": -1}}}}),
            "selection.shrink.epsilon: constraints cannot be allowed to be violated by -1",
        ),
    ] {
        let error = read(given.clone()).unwrap().check().unwrap_err().to_string();
        assert!(error.starts_with(wanted), "{given}: {error}");
    }
}

/// Every flag is for a setting, and the settings that people change most have one.
#[test]
fn flags_and_keys() {
    let schema = Spec::schema();
    let flags = schema.flags();
    let names: Vec<&str> = flags.iter().map(|flag| flag.name.as_str()).collect();
    for name in [
        "label",
        "objective",
        "constraint",
        "skip-empty-groups",
        "weight",
        "recipe",
        "one-dataset",
        "val-fraction",
        "folds",
        "test-fraction",
        "ignore",
        "model",
        "units",
        "surrogate",
        "radius",
        "convexity",
        "algorithm",
        "epsilon",
        "turns",
        "batch",
        "optimizer",
        "step",
        "constraint-optimizer",
        "constraint-step",
        "steps",
        "keep",
        "early-stop",
        "selection",
        "margin",
        "seed",
    ] {
        assert!(names.contains(&name), "{name} is not among {names:?}");
    }
    for flag in &flags {
        for one in &flag.uses {
            assert!(one.group.is_some(), "--{} is in no group", flag.name);
            assert!(!one.help.is_empty(), "--{} has no help", flag.name);
            assert!(one.field.is_none() || schema.at(&one.key()).is_some(), "{:?}", one.key());
        }
    }
    // Whose it is depends on what is chosen.
    let turns = flags.iter().find(|flag| flag.name == "turns").unwrap();
    let algorithms = schema.at(&["algorithm"]).unwrap().1.variants();
    for algorithm in algorithms.iter().filter(|algorithm| algorithm.name != "auto") {
        let spec = read(json!({ "algorithm": algorithm.name })).unwrap().write();
        assert_eq!(turns.find(&spec).unwrap().key(), ["algorithm", algorithm.name, "turns"]);
    }
    let batch = flags.iter().find(|flag| flag.name == "batch").unwrap();
    let discrete = read(json!({"algorithm": "discrete"})).unwrap().write();
    let unfit = batch.find(&discrete).unwrap_err();
    assert_eq!((unfit.choice.as_str(), unfit.word.as_str()), ("algorithm", "discrete"));
    let wanted = ["continuous", "practical", "lagrangian", "plug_in", "baseline", "unconstrained"];
    assert_eq!(unfit.words, wanted);
}
