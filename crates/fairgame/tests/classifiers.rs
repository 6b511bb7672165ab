//! A classifier decides the same row the same way, says how likely that was, and survives its file.

use std::path::Path;

use fairgame::algorithm::{Algorithm, Lagrangian, Practical};
use fairgame::archive::Archive;
use fairgame::classifier::{Classifier, Draw, Prediction, Selection, draw_of_text};
use fairgame::game::Keep;
use fairgame::model::{LatticeSpec, ModelSpec};
use fairgame::random::Stream;
use fairgame::table::{ReadOptions, Source, Table, read};
use fairgame::train::{Datasets, Spec, Trained, Warning};

fn compas() -> Table {
    read([Source::parse("@compas").unwrap()], &ReadOptions::default()).unwrap()
}

/// A mixture of a hundred models, with a median and a column that stands alone in its problem.
fn trained(model: ModelSpec, selection: Selection) -> (Trained, Table) {
    let table = compas();
    let mut spec = Spec::paper(
        "two_year_recid",
        &["fpr(age > median(age)) <= fpr() + 0.1", "tpr(each sex) >= 0.3"],
    );
    spec.encoder.ignore = vec!["is_recid".into()];
    spec.model = model;
    spec.algorithm = Algorithm::Practical(Practical { turns: 1000, ..Practical::default() });
    spec.selection = selection;
    spec.datasets = Datasets::One;
    (spec.train(&table).unwrap(), table)
}

fn uniform() -> (Classifier, Table) {
    let (trained, table) = trained(ModelSpec::Mlp { units: 6 }, Selection::Uniform);
    (trained.classifier, table)
}

fn bits(predictions: &[Prediction]) -> Vec<(bool, u64, u64)> {
    let one = |p: &Prediction| (p.positive, p.probability.to_bits(), p.score.to_bits());
    predictions.iter().map(one).collect()
}

/// Each row alone, all in another order, and from a file: the same bits.
#[test]
fn a_row_is_decided_the_same_way_every_time() {
    let (classifier, table) = uniform();
    let features = classifier.encode(&table).unwrap();
    let all = bits(&classifier.decide(&table).unwrap());
    let order: Vec<usize> = (0..table.rows()).rev().step_by(7).collect();
    let few = classifier.encode(&table.take(&order)).unwrap();
    let again = bits(&classifier.predict(&few, Draw::Features).unwrap());
    assert!(order.iter().zip(&again).all(|(&row, found)| all[row] == *found));

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    classifier.save(&path).unwrap();
    let loaded = Classifier::load(&path).unwrap();
    assert_eq!(bits(&loaded.predict(&features, Draw::Features).unwrap()), all);
    assert_eq!(loaded.to_archive().unwrap(), classifier.to_archive().unwrap());
}

/// What the problem was on the training table, it is after the file: medians are numbers now.
#[test]
fn the_problem_survives_its_file() {
    let (classifier, table) = uniform();
    let bytes = classifier.to_archive().unwrap().to_bytes().unwrap();
    let loaded = Classifier::from_bytes(&bytes).unwrap();
    // A table of other ages: the median is still that of training.
    let rows: Vec<usize> = (0..table.rows()).filter(|row| row % 3 != 0).collect();
    for table in [&table, &table.take(&rows)] {
        let compile = |classifier: &Classifier| classifier.bound().compile(table, None).unwrap();
        let (before, after) = (compile(&classifier), compile(&loaded));
        assert_eq!(before.cells(), after.cells());
        assert_eq!(before.losses(), after.losses());
    }
    let names = |classifier: &Classifier| -> Vec<String> {
        classifier.bound().constraints().iter().map(|one| one.name().to_owned()).collect()
    };
    assert_eq!(names(&loaded), names(&classifier));
    assert!(names(&loaded)[0].contains("median(age)"), "the name is as it was written");
    assert!(!loaded.bound().frozen().constraints[0].text.contains("median"));
}

/// Decisions come up as often as their probability says, and the rate of positive decisions is their mean.
#[test]
fn probabilities_are_what_they_say() {
    let (classifier, table) = uniform();
    let features = classifier.encode(&table).unwrap();
    let keys: Vec<u64> = (0..table.rows()).map(|row| draw_of_text(&row.to_string())).collect();
    for draw in [Draw::Features, Draw::Keys(&keys)] {
        let found = classifier.predict(&features, draw).unwrap();
        let decided = found.iter().filter(|p| p.positive).count() as f64;
        let expected: f64 = found.iter().map(|p| p.probability).sum();
        let variance: f64 = found.iter().map(|p| p.probability * (1.0 - p.probability)).sum();
        assert!(variance > 10.0, "the mixture is none");
        // Equal rows are drawn equally by their features, so their draws are not independent.
        let sigmas = if matches!(draw, Draw::Features) { 12.0 } else { 4.0 };
        assert!((decided - expected).abs() < sigmas * variance.sqrt(), "{decided} {expected}");
        for p in &found {
            assert!((0.0..=1.0).contains(&p.probability));
            assert!(p.probability > 0.0 || !p.positive);
            assert!(p.probability < 1.0 || p.positive);
        }
        let mean = classifier.evaluate(&table, None, 0.95).unwrap().positive_rate.unwrap();
        assert!((mean - expected / table.rows() as f64).abs() < 1e-12, "{mean} {expected}");
    }
    assert!(classifier.predict(&features, Draw::Keys(&keys[1..])).is_err());
}

/// A group without rows is no constraint that is met, and weights count as they do in training.
#[test]
fn what_is_not_measured_is_not_met() {
    let (classifier, table) = uniform();
    let men: Vec<usize> = {
        let only =
            fairgame::table::Predicate::compare("sex", fairgame::table::Comparison::Eq, "Male");
        let keep = only.evaluate(&table).unwrap();
        (0..table.rows()).filter(|&row| keep[row]).collect()
    };
    let losses = classifier.measure(&table.take(&men)).unwrap();
    assert!(losses.constraints.iter().any(|loss| loss.is_nan()));
    assert!(losses.worst().is_nan());
    // A weight of two is a row twice.
    let rows: Vec<usize> = (0..200).chain(0..100).collect();
    let twice = classifier.measure(&table.take(&rows)).unwrap();
    let weights: Vec<f32> = (0..200).map(|row| if row < 100 { 2.0 } else { 1.0 }).collect();
    let few = table.take(&rows[..200]);
    let weighted = fairgame::rate::Weighted { table: &few, weights: Some(weights.as_slice()) };
    let found = classifier.measure(weighted).unwrap();
    assert!((found.objective - twice.objective).abs() < 1e-12);
}

/// A problem that cannot be met says so, whichever way the classifier is selected.
#[test]
fn infeasible_is_a_warning() {
    let table = compas();
    let mut spec =
        Spec::paper("two_year_recid", &["positive_rate() >= 0.9", "positive_rate() <= 0.1"]);
    spec.encoder.ignore = vec!["is_recid".into()];
    spec.datasets = Datasets::One;
    spec.algorithm = Algorithm::Practical(Practical { turns: 300, ..Practical::default() });
    for selection in [Selection::Theorem, Selection::Uniform, Selection::default(), Selection::Last]
    {
        spec.selection = selection;
        let trained = spec.train(&table).unwrap();
        let violated = |warning: &Warning| matches!(warning, Warning::Violated { .. });
        assert!(trained.warnings.iter().any(violated), "{selection:?}");
    }
}

/// Every model family has its file.
#[test]
fn every_model_has_its_file() {
    let lattice = LatticeSpec { lattices: Some(5), ..LatticeSpec::default() };
    for model in [ModelSpec::Linear, ModelSpec::Mlp { units: 3 }, ModelSpec::Lattice(lattice)] {
        let (trained, table) = trained(model, Selection::default());
        let classifier = trained.classifier;
        assert!(classifier.members().len() <= classifier.bound().constraints().len() + 1);
        let bytes = classifier.to_archive().unwrap().to_bytes().unwrap();
        let loaded = Classifier::from_bytes(&bytes).unwrap();
        let features = loaded.encode(&table).unwrap();
        let predict =
            |classifier: &Classifier| bits(&classifier.predict(&features, Draw::Features).unwrap());
        assert_eq!(predict(&loaded), predict(&classifier));
    }
}

/// However many turns were kept, the classifier can be written, and its record has a curve of them.
#[test]
fn a_finished_training_has_its_file() {
    let csv = "x,yes\n0.1,no\n0.2,no\n0.3,yes\n0.4,no\n0.6,yes\n0.7,yes\n0.8,no\n0.9,yes\n";
    let rows = read([Source::stream("rows.csv", csv.as_bytes())], &ReadOptions::default()).unwrap();
    // 60 multipliers of each of 90,000 turns would be more than the 100 MB of JSON that a safetensors file may have.
    let constraints: Vec<String> = (0..60)
        .map(|at| format!("positive_rate(x < 0.{:02}) <= 0.{:02}", 30 + at, 40 + at / 2))
        .collect();
    let mut spec = Spec::paper("yes == \"yes\"", &constraints);
    spec.datasets = Datasets::One;
    spec.keep = Keep::Every;
    let turns = 4_000;
    for selection in [Selection::default(), Selection::Uniform] {
        let lagrangian = Lagrangian { turns, batch: 8, ..Lagrangian::default() };
        (spec.algorithm, spec.selection) = (Algorithm::Lagrangian(lagrangian), selection);
        let classifier = spec.train(&rows).unwrap().classifier;
        let archive = classifier.to_archive().unwrap();
        let members = classifier.members().len();
        let length = archive.header.len();
        assert!(length < 300_000 + 100 * members, "{length} bytes of JSON, {members} members");
        let loaded = Classifier::from_bytes(&archive.to_bytes().unwrap()).unwrap();
        assert_eq!(loaded.members(), classifier.members());
        let record = loaded.record().unwrap().unwrap();
        assert_eq!(record.moments.last().unwrap().turn, turns);
        assert!((500..=1000).contains(&record.moments.len()), "{}", record.moments.len());
        assert!(record.moments.iter().all(|moment| moment.lambda.len() == 61));
    }
}

/// Damaged files, files of other things, and headers that lie with the right hash: errors, no panic, and
/// no memory by an untrusted length.
#[test]
fn no_file_is_believed() {
    let (classifier, table) = uniform();
    let table = table.take(&(0..200).collect::<Vec<_>>());
    let archive = classifier.to_archive().unwrap();
    let bytes = archive.to_bytes().unwrap();
    let mut stream = Stream::new(9, "bytes");
    for _ in 0..300 {
        let mut damaged = bytes.clone();
        for _ in 0..1 + stream.below(4) {
            let at = stream.below(damaged.len() as u64) as usize;
            damaged[at] = stream.bits() as u8;
        }
        damaged.truncate(stream.below(2 * bytes.len() as u64) as usize);
        // An unlucky draw changes nothing; all else is refused.
        assert!(damaged == bytes || Classifier::from_bytes(&damaged).is_err());
    }
    let lie = |from: &str, to: &str| {
        assert!(archive.header.contains(from), "{from} is not in the header");
        let header = archive.header.replacen(from, to, 1);
        let lying = Archive { header, ..archive.clone() }.to_bytes().unwrap();
        let error = Classifier::from_bytes(&lying).err();
        error.unwrap_or_else(|| panic!("{from} became {to} unnoticed")).to_string()
    };
    lie("\"units\":6", "\"units\":4000000000");
    lie("\"units\":6", "\"units\":18446744073709551615");
    lie("\"units\":6", "\"units\":9");
    lie("\"weights\":[0.01", "\"weights\":[0.02");
    let error = lie("\"weights\":[0.01", "\"weights\":[-0.01");
    assert!(error.contains("a weight of -0.01") && !error.contains("add up"), "{error}");
    lie("\"weights\":[0.01", "\"weights\":[1e999");
    lie("\"turns\":[", "\"turns\":[1,");
    lie("\"key\":\"", "\"key\":\"xyz");
    lie("\"label\":\"", "\"label\":\"((((");
    lie("\"text\":\"", "\"text\":\"median(");
    lie("\"problem\"", "\"promise\"");
    // Every digit of the header as another digit: loads to something sound, or is refused.
    let digits: Vec<usize> = archive
        .header
        .char_indices()
        .filter(|(_, letter)| letter.is_ascii_digit())
        .map(|(at, _)| at)
        .collect();
    for _ in 0..300 {
        let at = digits[stream.below(digits.len() as u64) as usize];
        let mut header = archive.header.clone();
        header.replace_range(at..=at, &stream.below(10).to_string());
        let changed = Archive { header, ..archive.clone() }.to_bytes().unwrap();
        if let Ok(classifier) = Classifier::from_bytes(&changed)
            && let Ok(features) = classifier.encode(&table)
        {
            let _ = classifier.predict(&features, Draw::Features);
        }
    }
    assert!(Classifier::load(Path::new("/nonexistent/model")).is_err());
}

/// A file that version 0.1 wrote decides as it did then: probabilities and scores are those it printed.
#[test]
fn files_of_version_0_1_decide() {
    let classifier = Classifier::from_bytes(include_bytes!("data/model-0.1.safetensors")).unwrap();
    let csv =
        "skill,town,group\n0.742,c,many\n0.249,a,many\n0.269,a,few\n0.049,c,few\n0.716,b,few\n";
    let source = Source::stream("some.csv", csv.as_bytes());
    let some = read([source], &ReadOptions::default()).unwrap();
    let found = classifier.decide(&some).unwrap();
    let wanted = [
        (true, 1.0, 1.2362502217292786),
        (false, 0.0, -0.5168684124946594),
        (false, 0.5, 0.14516112208366394),
        (false, 0.0, -0.860740065574646),
        (true, 1.0, 1.496938705444336),
    ];
    for (found, (positive, probability, score)) in found.iter().zip(wanted) {
        assert_eq!(
            (found.positive, found.probability, found.score),
            (positive, probability, score)
        );
    }
    assert_eq!((classifier.views().len(), classifier.columns()), (1, classifier.members().len()));
    assert!(classifier.record().unwrap().unwrap().enforcement.is_empty());
}
