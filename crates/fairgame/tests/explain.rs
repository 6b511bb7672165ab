//! What is said of one row: contributions of columns are Shapley values, from their definition.

use std::collections::BTreeMap;

use fairgame::classifier::{Classifier, Deciding, Draw, Explanation, MemberExplanation};
use fairgame::random::mix;
use fairgame::table::{ReadOptions, Source, Table, read};
use fairgame::train::Spec;

fn people() -> Table {
    let mut csv = String::from("age,job,team,size,hired\n");
    for row in 0..400_u64 {
        let draw = mix(row);
        let (age, size) = (20 + draw % 40, draw >> 8 & 63);
        let job = ["clerk", "nurse", "pilot", ""][(draw >> 20 & 3) as usize];
        let team = ["a", "b"][(draw >> 30 & 1) as usize];
        let hired = age + 10 * (draw >> 20 & 1) + (draw >> 40 & 15) > 45;
        csv += &format!("{age},{job},{team},{size},{}\n", if hired { "yes" } else { "no" });
    }
    read([Source::stream("p.csv", std::io::Cursor::new(csv))], &ReadOptions::default()).unwrap()
}

/// Shapley values from their definition, over all subsets of columns.
fn naive(
    classifier: &Classifier,
    row: &Table,
    other: &Table,
    value: impl Fn(&Table) -> f64,
) -> Vec<f64> {
    let names: Vec<String> = classifier.feature_columns();
    let n = names.len();
    let mixed = |set: usize| {
        let columns = row.columns().iter().map(|column| {
            let at = names.iter().position(|name| *name == column.name);
            let own = at.is_some_and(|at| set >> at & 1 == 1);
            if own { column.clone() } else { other.column(&column.name).unwrap().clone() }
        });
        value(&Table::new(columns.collect()).unwrap())
    };
    let values: Vec<f64> = (0..1 << n).map(mixed).collect();
    (0..n)
        .map(|at| {
            let without = (0..1_usize << n).filter(|set| set >> at & 1 == 0);
            without
                .map(|set| {
                    let size = set.count_ones() as usize;
                    (values[set | 1 << at] - values[set]) / (n as f64 * choose(n - 1, size))
                })
                .sum()
        })
        .collect()
}

/// The chance of a positive decision, from what is said of the members.
fn chance(found: &Explanation) -> f64 {
    let weight = |of: &[&MemberExplanation]| of.iter().map(|member| member.weight).sum::<f64>();
    let mut columns: BTreeMap<usize, Vec<&MemberExplanation>> = BTreeMap::new();
    found.members.iter().for_each(|one| columns.entry(one.column).or_default().push(one));
    let of = |members: &Vec<&MemberExplanation>| match found.blend {
        Deciding::Fold => {
            let positive: Vec<_> = members.iter().copied().filter(|one| one.positive).collect();
            weight(&positive)
        }
        Deciding::Mean => {
            let above = |one: &&MemberExplanation| one.weight * (one.score - one.threshold);
            if members.iter().map(above).sum::<f64>() > 0.0 { weight(members) } else { 0.0 }
        }
    };
    columns.values().map(of).sum()
}

/// Where the mean of the folds decides, each column does so by the mean of its members, though these may disagree.
#[test]
fn the_mean_of_the_folds_decides() {
    let table = people();
    let trained = |shrink: &str| {
        let text = format!(
            "{{\"label\": \"hired == \\\"yes\\\"\", \"constraints\": [\"tpr(each team) >= 0.5\"], \"selection\": \
             {{\"shrink\": {{{shrink}}}}}}}"
        );
        Spec::from_json(&text).unwrap().train(&table).unwrap().classifier
    };
    for (shrink, columns) in [("\"deterministic\": true", Some(1)), ("\"blend\": \"mean\"", None)] {
        let classifier = trained(shrink);
        let mut split = 0;
        for row in 0..table.rows() {
            let row = table.take(&[row]);
            let found = classifier.explain(&row, &table.take(&[1]), Draw::Features).unwrap();
            assert_eq!(found.blend, Deciding::Mean);
            assert!((chance(&found) - found.probability).abs() < 1e-9, "{found:?}");
            let positive = found.members.iter().filter(|one| one.positive).count();
            split += usize::from((1..found.members.len()).contains(&positive));
        }
        if columns == Some(1) {
            assert_eq!(classifier.columns(), 1);
            assert!(split > 0, "folds never disagree");
        }
    }
    let drawn = trained("\"blend\": \"draw\"");
    let found = drawn.explain(&table.take(&[0]), &table.take(&[1]), Draw::Features).unwrap();
    assert_eq!(found.blend, Deciding::Fold);
}

/// With the same draw, the decision is that of `predict`.
#[test]
fn the_draw_is_that_of_predictions() {
    let table = people();
    let text = "{\"label\": \"hired == \\\"yes\\\"\", \"constraints\": [\"positive_rate(each team) == positive_rate() \
                within 0.02\"]}";
    let classifier = Spec::from_json(text).unwrap().train(&table).unwrap().classifier;
    let features = classifier.encode(&table).unwrap();
    let chances = classifier.predict(&features, Draw::Features).unwrap();
    let drawn = chances.iter().position(|one| one.probability > 0.1 && one.probability < 0.9);
    let row = table.take(&[drawn.expect("a row is drawn")]);
    let features = classifier.encode(&row).unwrap();
    let mut decisions = [0; 2];
    for key in 0..50 {
        let draw = Draw::Keys(&[key]);
        let predicted = classifier.predict(&features, draw).unwrap()[0].positive;
        let found = classifier.explain(&row, &table.take(&[1]), draw).unwrap();
        assert_eq!(found.positive, predicted);
        decisions[usize::from(predicted)] += 1;
    }
    assert!(decisions[0] > 0 && decisions[1] > 0, "{decisions:?}");
}

#[test]
fn contributions_are_shapley_values() {
    let table = people();
    for model in ["\"trees\"", "\"linear\"", "\"practical\""] {
        let model = match model {
            "\"practical\"" => {
                "\"linear\", \"algorithm\": {\"practical\": {\"turns\": 300}}".to_owned()
            }
            other => other.to_owned(),
        };
        let text = format!(
            "{{\"label\": \"hired == \\\"yes\\\"\", \"constraints\": [\"tpr(each team) >= 0.5\"], \"model\": {model}}}"
        );
        let trained = Spec::from_json(&text).unwrap().train(&table).unwrap();
        let classifier = trained.classifier;
        for (own, other) in [(0, 1), (5, 77), (30, 31), (8, 200)] {
            let (row, other) = (table.take(&[own]), table.take(&[other]));
            let found = classifier.explain(&row, &other, Draw::Features).unwrap();
            let [all] = &found.contributions[..] else { panic!("{found:?}") };
            let sum: f64 = all.columns.iter().map(|one| one.contribution).sum();
            assert!((all.base + sum - all.value).abs() < 1e-5, "{all:?}");
            // f of any row: what is explained of it.
            let value = |table: &Table| {
                let found = classifier.explain(table, &other, Draw::Features).unwrap();
                found.contributions[0].value
            };
            let wanted = naive(&classifier, &row, &other, value);
            for (name, wanted) in classifier.feature_columns().iter().zip(wanted) {
                let one = all.columns.iter().find(|one| one.column == *name);
                let found = one.map_or(0.0, |one| one.contribution);
                assert!((found - wanted).abs() < 1e-5, "{name}: {found} {wanted}");
            }
            assert!((chance(&found) - found.probability).abs() < 1e-9);
            for member in &found.members {
                if let (Some(cut), [p]) = (member.cut, &member.probabilities[..]) {
                    assert!(
                        (p - cut).abs() < 1e-6 || member.positive == ((*p > cut) != member.below)
                    );
                }
            }
        }
    }
}

/// The probabilities of a rule say what they are of.
#[test]
fn probabilities_have_names() {
    let table = people();
    let spec = |ignore: &str, constraint: &str| {
        let text = format!(
            "{{\"label\": \"hired == \\\"yes\\\"\", \"constraints\": [\"{constraint}\"], \"encoder\": {{\"ignore\": [{ignore}]}}}}"
        );
        Spec::from_json(&text).unwrap().train(&table).unwrap().classifier
    };
    let named = |classifier: &Classifier| {
        let found =
            classifier.explain(&table.take(&[3]), &table.take(&[9]), Draw::Features).unwrap();
        let probabilities = found.members[0].probabilities.clone();
        assert_eq!(found.conditions.len(), probabilities.len());
        for all in &found.contributions {
            // The mean over folds of log-odds, each on the same side of the probability of its fold.
            let at = all.probability.unwrap();
            let of_folds: Vec<f64> =
                found.members.iter().map(|member| member.probabilities[at]).collect();
            let odds = |p: f64| (p / (1.0 - p)).ln();
            let least = of_folds.iter().copied().fold(1.0, f64::min);
            let most = of_folds.iter().copied().fold(0.0, f64::max);
            assert!(odds(least) - 1e-3 <= all.value && all.value <= odds(most) + 1e-3, "{all:?}");
        }
        let mut names: Vec<Option<String>> = found.conditions;
        names.sort();
        names
    };
    let label = || Some("hired == \"yes\"".to_owned());
    let known = spec("", "tpr(each team) >= 0.5");
    assert_eq!(named(&known), [label()]);
    let unknown = spec("\"team\"", "positive_rate(each team) >= 0.3");
    let names = named(&unknown);
    assert!(names.contains(&label()) && names.len() == 2, "{names:?}");
    assert!(names.iter().flatten().any(|name| name.starts_with("team == ")), "{names:?}");
    let both = spec("\"team\"", "tpr(each team) >= 0.5");
    let names = named(&both);
    assert!(
        names.iter().flatten().any(|name| name.contains("hired == \"yes\" and team == ")),
        "{names:?}"
    );
}

/// C(n, k).
fn choose(n: usize, k: usize) -> f64 {
    (0..k.min(n - k)).fold(1.0, |all, at| all * (n - at) as f64 / (at + 1) as f64)
}
