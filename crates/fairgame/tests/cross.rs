//! Cross-fitting: each model is judged only on rows that it was not trained on, and folds are selected together.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use fairgame::algorithm::{Algorithm, Practical};
use fairgame::classifier::{Iterates, Margin, Selection, ShrinkSpec, explain, shrink};
use fairgame::encode::{Coding, Cuts, Steps};
use fairgame::evaluate::{Decisions, Evaluation, Verdict, evaluate, rows_needed};
use fairgame::observe::Patience;
use fairgame::optimize::Optimizer;
use fairgame::player::{Start, SwapRegretSpec};
use fairgame::random::Stream;
use fairgame::rate::Weighted;
use fairgame::table::{Category, Column, Table, Values};
use fairgame::train::{
    Checkpoints, Data, Datasets, Every, Played, Recipe, Shape, Spec, Trained, Training, Turn,
    weight_of_steps,
};
use fairgame::{Result, Threads};

const ROWS: usize = 1_203;

/// People of two groups, one of them a tenth, of which fewer are hired.
fn people(seed: u64) -> Table {
    let mut stream = Stream::new(seed, "people");
    let (mut skill, mut group, mut hired) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROWS {
        let few = stream.below(10) == 0;
        let able = stream.unit() - if few { 0.2 } else { 0.0 };
        skill.push(able);
        group.push(Some(if few { "few" } else { "many" }));
        hired.push(Some(able + 0.4 * (stream.unit() - 0.5) > 0.5));
    }
    Table::new(vec![
        Column::new("skill", Values::Number(skill)),
        Column::new("group", Values::Category(Category::from_texts(group))),
        Column::new("hired", Values::Boolean(hired)),
    ])
    .unwrap()
}

fn weights() -> Vec<f32> {
    let mut stream = Stream::new(9, "weights");
    (0..ROWS).map(|_| stream.below(3) as f32 * 0.5 + 0.5).collect()
}

fn spec(margin: Margin, repeats: usize) -> Spec {
    let rules = [
        "positive_rate(each group) >= 0.8 * positive_rate()",
        "tpr(group == \"few\") >= tpr() - 0.15",
    ];
    let mut spec = Spec::new("hired", &rules);
    spec.encoder.ignore = vec!["group".to_owned()];
    spec.datasets = Datasets::Cross { folds: 4, repeats };
    spec.algorithm = Algorithm::Practical(Practical { turns: 3_000, ..Practical::default() });
    // Optimism is measured elsewhere.
    spec.selection =
        Selection::Shrink(ShrinkSpec { margin, parts: 0, ..ShrinkSpec::of(Recipe::Recommended) });
    spec.plain = false;
    spec.seed = 3;
    spec.early_stop = None;
    spec
}

fn train<'a>(spec: &Spec, data: impl Into<Data<'a>>, threads: usize) -> Result<Trained> {
    let data = data.into();
    let plan = spec.plan(&data.shape())?.with_threads(Threads::new(threads));
    plan.run(data, &mut ())?.trained()
}

fn judged(trained: &Trained, table: &Table, weights: Option<&[f32]>, sure: f64) -> Evaluation {
    let chances = trained.out_of_fold.as_ref().unwrap();
    let decisions = Decisions::Probabilities(chances);
    evaluate(trained.classifier.bound(), table, weights, decisions, sure).unwrap()
}

/// What the linear program believes of the mixture is what all rows say of it, each by models that did not
/// learn from it: with the denominators of all rows, with weights, and with several repeats.
#[test]
fn the_program_is_exact() {
    let (table, weights) = (people(1), weights());
    for (weights, repeats) in [(None, 1), (Some(weights.as_slice()), 1), (None, 3)] {
        let rows = Weighted { table: &table, weights };
        let trained = train(&spec(Margin::None, repeats), rows, 2).unwrap();
        let mixed = &trained.mixture.val;
        let found = judged(&trained, &table, weights, 0.95);
        for (found, mixed) in found.constraints.iter().zip(&mixed.constraints) {
            let found = found.measurement.estimate().unwrap().value;
            assert!((found - mixed).abs() < 1e-6, "{found} {mixed}, {repeats} repeats");
        }
        let objective = found.objective.measurement.estimate().unwrap().value;
        assert!((objective - mixed.objective).abs() < 1e-6, "{objective} {}", mixed.objective);
        assert!(mixed.worst() < 1e-6, "the constraints can be met");
    }
}

/// A column is one kept turn and one threshold level in all folds: its weight is the same in each, and there are at
/// most as many columns as constraints and one more.
#[test]
fn columns_are_tied() {
    let table = people(2);
    let trained = train(&spec(Margin::None, 1), &table, 1).unwrap();
    let mut of_column: BTreeMap<usize, Vec<(f64, u64, usize)>> = BTreeMap::new();
    for member in trained.classifier.members() {
        let one = (member.weight, member.turn, member.view);
        of_column.entry(member.column).or_default().push(one);
    }
    assert!((1..=4).contains(&of_column.len()), "{of_column:?}");
    for (column, members) in &of_column {
        let views: BTreeSet<usize> = members.iter().map(|member| member.2).collect();
        assert_eq!((members.len(), views.len()), (4, 4), "the folds' encoders differ");
        let (weight, turn, _) = members[0];
        assert!(members.iter().all(|one| (one.0, one.1) == (weight, turn)));
        assert!((4.0 * weight - trained.mixture.weights[*column].1).abs() < 1e-12);
    }
}

/// A margin is of the mixture: with it, the very rows say that all constraints are met at the confidence.
#[test]
fn margins_hold() {
    let table = people(3);
    let trained = train(&spec(Margin::Confidence(0.9), 1), &table, 2).unwrap();
    let shrunk = trained.mixture.shrunk.as_ref().unwrap();
    assert!(shrunk.feasible, "{shrunk:?}");
    assert!(shrunk.margins.iter().all(|margin| *margin > 0.005), "{:?}", shrunk.margins);
    // One side of 0.9 is both sides of 0.8. A hair is left to the last round's change of the margins.
    let found = judged(&trained, &table, None, 0.8);
    for one in &found.constraints {
        assert!(one.measurement.estimate().unwrap().interval.high < 1e-3, "{one:?}");
    }
    let none = train(&spec(Margin::None, 1), &table, 2).unwrap();
    assert_ne!(judged(&none, &table, None, 0.8).verdict, Verdict::Met);
    // κ standard errors are less than what makes three constraints sure together.
    let one = train(&spec(Margin::Errors(1.0), 1), &table, 2).unwrap();
    let errors = &one.mixture.shrunk.as_ref().unwrap().margins;
    assert!(errors.iter().zip(&shrunk.margins).all(|(one, sure)| one < sure && *one > 0.0));
}

fn finish(training: &Training<'_>, played: &[Played]) -> Result<Vec<u8>> {
    training.finish(played)?.classifier.to_bytes()
}

/// By one thread or three, in one go or stopped and taken up again: the same bits.
#[test]
fn threads_and_stops_change_nothing() {
    stopped_and_taken_up(None);
}

/// Also where patience ends a game: what was kept before the stop is not looked at as if it were kept now.
#[test]
fn patience_is_the_same_after_a_stop() {
    stopped_and_taken_up(Some(Patience { kept: 3, least: 1e-3, after: 1_010 }));
}

fn stopped_and_taken_up(early_stop: Option<Patience>) {
    let table = people(4);
    let data = Data::from(&table);
    let spec = Spec { early_stop, ..spec(Margin::Errors(1.0), 1) };
    let plan = spec.plan(&data.shape()).unwrap();
    let by = |threads: usize, checkpoints: Option<Checkpoints>| {
        let plan = plan.clone().with_threads(Threads::new(threads));
        plan.with_checkpoints(checkpoints).prepare(data.clone()).unwrap()
    };
    let training = by(1, None);
    let whole = finish(&training, &training.play(&mut ()).unwrap()).unwrap();
    let training = by(3, None);
    let three = finish(&training, &training.play(&mut ()).unwrap()).unwrap();
    assert!(whole == three);
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_owned();
    let training = by(2, Some(Checkpoints { folder, every: Some(500), resume: true }));
    let mut last = 0;
    for _ in 0..5 {
        let mut left = 600;
        let played = training.play(&mut Every::new(6, |turn: &Turn| {
            assert_eq!(turn.total, 12_000);
            left -= 1;
            if left > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        }));
        let turns: u64 = played.unwrap().iter().map(|game| game.turn).sum();
        assert!(turns >= last, "{turns} after {last}");
        last = turns;
    }
    let rest = training.play(&mut ()).unwrap();
    assert!(finish(&training, &rest).unwrap() == whole);
}

/// Rows that are given to enforce the constraints on are taken as they are.
#[test]
fn validation_rows_win() {
    let (table, val) = (people(5), people(6));
    let data = Data::from(&table).with_val(Some(&val));
    let plan = spec(Margin::Errors(1.0), 1).plan(&data.shape()).unwrap();
    let training = plan.with_threads(Threads::new(2)).prepare(data).unwrap();
    assert_eq!(training.games(), 1);
    let played = training.play(&mut ()).unwrap();
    let trained = training.finish(&played).unwrap();
    assert!(trained.out_of_fold.is_none());
    let shrunk = trained.mixture.shrunk.unwrap();
    assert!(shrunk.feasible && shrunk.margins.iter().all(|margin| *margin > 0.0));
}

/// Lengths of steps are chosen by rows that were not learnt from: the mixture of all is as good there as the best of
/// each, and the games are as they would be alone.
#[test]
fn steps_are_chosen() {
    let table = people(1);
    let mut spec = spec(Margin::None, 1);
    spec.steps = vec![1.0, 30.0];
    let both = train(&spec, &table, 2).unwrap();
    assert_eq!(both.games.len(), 8);
    let weights = weight_of_steps(&both.games);
    assert_eq!(weights.iter().map(|(step, _)| *step).collect::<Vec<_>>(), [1.0, 30.0]);
    assert!((weights.iter().map(|(_, weight)| weight).sum::<f64>() - 1.0).abs() < 1e-9);
    let objective = |trained: &Trained| {
        assert!(trained.mixture.shrunk.as_ref().unwrap().feasible);
        trained.mixture.val.objective
    };
    let models = both.iterates.models.len();
    for (at, step) in [1.0, 30.0].into_iter().enumerate() {
        spec.steps = vec![step];
        let alone = train(&spec, &table, 1).unwrap();
        assert!(objective(&both) <= objective(&alone) + 1e-9, "{step}");
        if at == 0 {
            let own = alone.iterates.models.len();
            assert!(alone.iterates.models[..] == both.iterates.models[..own] && own < models);
        }
    }
    // With the step set, in place of scaled, it is the same game.
    spec.steps = vec![1.0];
    let Algorithm::Practical(practical) = spec.algorithm else { unreachable!() };
    spec.algorithm = Algorithm::Practical(Practical { model: Optimizer::adam(0.003), ..practical });
    let set = train(&spec, &table, 1).unwrap();
    spec.algorithm = Algorithm::Practical(Practical { model: Optimizer::adam(0.001), ..practical });
    spec.steps = vec![3.0];
    let scaled = train(&spec, &table, 1).unwrap();
    assert_eq!(set.classifier.members(), scaled.classifier.members());
}

/// A game that has not met its constraints is not given up as soon as one that has.
#[test]
fn patience_waits_for_constraints() {
    let table = people(1);
    let mut spec = spec(Margin::None, 1);
    let start = SwapRegretSpec {
        start: Start::Objective,
        optimizer: Optimizer::adam(0.01),
        ..SwapRegretSpec::default()
    };
    spec.algorithm = Algorithm::Practical(Practical {
        turns: 20_000,
        constraint: start,
        ..Practical::default()
    });
    spec.early_stop = Some(Patience { kept: 5, ..Patience::default() });
    let trained = train(&spec, &table, 2).unwrap();
    let mut late = 0;
    let played = {
        let data = Data::from(&table);
        let training = spec.plan(&data.shape()).unwrap().prepare(data).unwrap();
        let played = training.play(&mut ()).unwrap();
        let measure = |(game, played): (usize, &Played)| {
            let setting = training.setting(game);
            Iterates::measure(&played.kept, &setting.train, &setting.val, &Threads::default())
        };
        played.iter().enumerate().map(measure).collect::<Result<Vec<_>>>().unwrap()
    };
    for (own, summary) in played.iter().zip(&trained.games) {
        // As early stopping sees it: on the rows that the constraint player plays on.
        let losses: Vec<Vec<f64>> =
            own.models.iter().map(|model| model.val.exact.constraints.clone()).collect();
        let objective: Vec<f64> =
            own.models.iter().map(|model| model.val.exact.objective).collect();
        // When constraints could first be met, and whether nothing before that stopped the game.
        let met =
            |kept: usize| shrink(&objective[..kept], &losses[..kept], 0.0).unwrap().least <= 1e-4;
        let first = (1..=losses.len()).find(|&kept| met(kept));
        late += usize::from(first.is_some_and(|first| first > 6));
        assert!(first.is_some() || !summary.stopped_early || summary.kept > 20, "{summary:?}");
    }
    assert!(late > 0, "no game met its constraints late: {:?}", trained.games);
}

/// A margin that cannot be had takes nothing from those that can: recall is at most 1, and the others keep theirs.
#[test]
fn hopeless_margins_yield_alone() {
    let table = people(2);
    let mut spec = spec(Margin::Errors(2.0), 1);
    spec.constraints =
        vec!["tpr(group == \"few\") >= 1".to_owned(), "fpr(group == \"many\") <= 0.4".to_owned()];
    spec.encoder.ignore.clear();
    let trained = train(&spec, &table, 2).unwrap();
    let shrunk = trained.mixture.shrunk.as_ref().unwrap();
    assert!(!shrunk.feasible, "{shrunk:?}");
    let (hopeless, other) = (shrunk.margins[0], shrunk.margins[1]);
    assert!(hopeless.abs() < 1e-5 && other > 0.01, "{shrunk:?}");
    let found = judged(&trained, &table, None, 0.95);
    let value = |at: usize| found.constraints[at].measurement.estimate().unwrap().value;
    assert!(value(0) <= 1e-5 && value(1) <= 1e-5 - other, "{} {}", value(0), value(1));
    // What is said of it is about the margins that were asked for.
    let explained = trained.explained.as_ref().unwrap();
    assert!(explained.relaxation > 0.01 && explained.conflict[0] > 0.99, "{explained:?}");
}

/// Constraints that leave no room for a margin are met all the same.
#[test]
fn margins_break_no_constraint() {
    let table = people(4);
    for margin in [Margin::None, Margin::Errors(1.0), Margin::Confidence(0.95)] {
        let mut spec = spec(margin, 1);
        spec.constraints = vec!["tpr(each group) <= tpr()".to_owned()];
        let trained = train(&spec, &table, 2).unwrap();
        let found = judged(&trained, &table, None, 0.95);
        for one in &found.constraints {
            let value = one.measurement.estimate().unwrap().value;
            assert!(value <= 2e-6, "{margin:?}: {} is {value}", one.name);
        }
        let shrunk = trained.mixture.shrunk.as_ref().unwrap();
        assert_eq!(shrunk.feasible, margin == Margin::None);
    }
}

/// Other selections are of every game, so that all rows judge them.
#[test]
fn other_selections_are_judged_by_all_rows() {
    let table = people(1);
    for selection in [Selection::Last, Selection::Best, Selection::Uniform, Selection::Theorem] {
        let mut spec = spec(Margin::None, 2);
        spec.selection = selection;
        let trained = train(&spec, &table, 2).unwrap();
        assert!(trained.games.iter().all(|game| game.weight > 0.1));
        let mixed = &trained.mixture.val;
        let found = judged(&trained, &table, None, 0.95);
        let error = found.error.unwrap();
        assert!((error - mixed.objective).abs() < 1e-6, "{selection:?}: {error} {mixed:?}");
        for (found, mixed) in found.constraints.iter().zip(&mixed.constraints) {
            let found = found.measurement.estimate().unwrap().value;
            assert!((found - mixed).abs() < 1e-6, "{selection:?}: {found} {mixed}");
        }
    }
}

/// Without constraints there is nothing to mix, and one model is taken: a fold says which.
#[test]
fn without_constraints_one_model_is_taken() {
    let mut spec = spec(Margin::Errors(1.0), 1);
    spec.constraints.clear();
    let trained = spec.train(&people(3)).unwrap();
    let val = trained.classifier.provenance().val.as_ref().unwrap();
    assert_eq!(val.rows, ROWS.div_ceil(4));
    assert_eq!((trained.games.len(), trained.classifier.members().len()), (1, 1));
}

#[test]
fn what_cannot_be_is_refused() {
    let table = people(7);
    let (few, none) = ("folds: 1 is out of range", "folds: 0 is out of range");
    for (folds, repeats, wanted) in [
        (1, 1, few),
        (0, 1, none),
        (5, 0, "repeats: 0 is out of range\n  help: give a number from 1 to 100"),
        (101, 1, "folds: 101 is out of range\n  help: give a number from 2 to 100"),
    ] {
        let mut spec = spec(Margin::None, 1);
        spec.datasets = Datasets::Cross { folds, repeats };
        let error = train(&spec, &table, 1).unwrap_err().to_string();
        assert!(error.starts_with(&format!("datasets.cross.{wanted}")), "{error}");
    }
    for margin in [Margin::Errors(-1.0), Margin::Errors(f64::NAN), Margin::Confidence(95.0)] {
        let error = train(&spec(margin, 1), &table, 1).unwrap_err().to_string();
        assert!(error.contains("selection.shrink.margin"), "{error}");
    }
    let few = table.take(&[0, 1, 2, 3, 4, 5]);
    let mut spec = spec(Margin::None, 1);
    spec.constraints = vec!["positive_rate() >= 0".to_owned()];
    assert!(train(&spec, &few, 1).unwrap_err().to_string().contains("fewer folds"));
}

/// Prices and relaxations are those of programs that are solved again with a little more slack.
#[test]
fn duals_are_slopes() {
    let mut stream = Stream::new(11, "duals");
    let mut binding = 0;
    for case in 0..200 {
        let (models, count) = (3 + stream.below(40) as usize, 1 + stream.below(5) as usize);
        let objective: Vec<f64> = (0..models).map(|_| stream.unit()).collect();
        // Some cannot be met.
        let shift = if case % 3 == 0 { 0.4 } else { 0.7 };
        let constraints: Vec<Vec<f64>> =
            (0..models).map(|_| (0..count).map(|_| stream.unit() - shift).collect()).collect();
        let cost = |constraints: &[Vec<f64>], allowed: f64| {
            let shrunk = shrink(&objective, constraints, allowed).unwrap();
            let cost = shrunk.weights.iter().map(|&(k, weight)| weight * objective[k]).sum::<f64>();
            (cost, shrunk)
        };
        let found = explain(&objective, &constraints, 0.0).unwrap();
        let (now, shrunk) = cost(&constraints, 0.0);
        if !shrunk.feasible {
            // Loosened by so much it can be met, by a little less it cannot.
            let loosened = |by: f64| -> Vec<Vec<f64>> {
                constraints.iter().map(|all| all.iter().map(|one| one - by).collect()).collect()
            };
            assert!(cost(&loosened(found.relaxation + 1e-6), 0.0).1.feasible);
            assert!(!cost(&loosened(found.relaxation - 1e-4), 0.0).1.feasible);
            assert!((found.conflict.iter().sum::<f64>() - 1.0).abs() < 1e-6, "{found:?}");
            // Whatever has no share in it may be left out, and no mixture is better off.
            let of_share: Vec<Vec<f64>> = constraints
                .iter()
                .map(|all| {
                    let shares = all.iter().zip(&found.conflict);
                    shares.filter(|(_, share)| **share > 1e-9).map(|(one, _)| *one).collect()
                })
                .collect();
            let least = cost(&of_share, 0.0).1.least;
            assert!((least - found.relaxation).abs() < 1e-6, "{least} {found:?}");
            continue;
        }
        assert_eq!((found.relaxation, found.conflict.iter().sum::<f64>()), (0.0, 0.0));
        for (at, price) in found.prices.iter().enumerate() {
            // The cost is convex in the slack: the price lies between the slopes on either side.
            let moved = |by: f64| -> Option<f64> {
                let mut moved = constraints.clone();
                moved.iter_mut().for_each(|all| all[at] -= by);
                let (cost, shrunk) = cost(&moved, 0.0);
                shrunk.feasible.then_some((now - cost) / by)
            };
            let step = 1e-4;
            assert!(moved(step).is_none_or(|less| less <= price + 1e-3), "{case}: {found:?}");
            assert!(moved(-step).is_none_or(|more| more >= price - 1e-3), "{case}: {found:?}");
            binding += usize::from(*price > 0.01);
        }
    }
    assert!(binding > 50, "{binding} prices");
}

/// The rows that a warning asks for have an interval about as wide as a rate may have to be known.
#[test]
fn rows_needed_are_rows_needed() {
    for (rows, share) in
        [(1_usize, 0.5), (2, 0.5), (3, 0.4), (5, 0.6), (12, 0.8), (20, 0.5), (30, 0.2), (40, 0.5)]
    {
        let mut stream = Stream::new(rows as u64, "needed");
        let mut table = |rows: usize| {
            let labels = (0..rows).map(|_| Some(stream.unit() < share)).collect();
            let skill = (0..rows).map(|row| row as f64).collect();
            Table::new(vec![
                Column::new("skill", Values::Number(skill)),
                Column::new("hired", Values::Boolean(labels)),
            ])
            .unwrap()
        };
        let found = |table: &Table| {
            let problem = fairgame::rate::Problem::parse("hired", "error()", &["error() <= 0.9"]);
            let (bound, _) = problem.unwrap().bind(table, &[]).unwrap();
            let none = vec![false; table.rows()];
            let found = evaluate(&bound, table, None, Decisions::Hard(&none), 0.95).unwrap();
            found.constraints[0].rates[0].measurement.estimate().unwrap()
        };
        // What so few rows say is needed, and how wide intervals of as many are, on average.
        let needed = |value: f64| rows_needed(value, rows, 0.95, 0.2);
        let needed: usize = (0..50).map(|_| needed(found(&table(rows)).value)).sum::<usize>() / 50;
        let width = |table: &Table| {
            let interval = found(table).interval;
            interval.high - interval.low
        };
        let then: f64 = (0..50).map(|_| width(&table(needed))).sum::<f64>() / 50.0;
        assert!((0.16..0.215).contains(&then), "{rows} rows, {needed} needed: {then}");
    }
}

/// Rows of one unit are never apart: not between folds, nor where rows are set aside to enforce or to test on. Copies of
/// rows with random labels would otherwise be learnt by heart.
#[test]
fn units_stay_together() {
    let mut stream = Stream::new(5, "units");
    let (mut person, mut x, mut hired) = (Vec::new(), Vec::new(), Vec::new());
    for unit in 0..200 {
        let (value, label) = (stream.unit(), stream.below(2) == 0);
        for _ in 0..5 {
            person.push(f64::from(unit));
            x.push(value);
            hired.push(Some(label));
        }
    }
    let buckets = Coding::Buckets { cuts: Cuts::Quantiles(150), steps: Steps::Single };
    // Rows that are equal in all columns would stay together without a unit.
    let row = (0..person.len()).map(|row| row as f64).collect();
    let table = Table::new(vec![
        Column::new("row", Values::Number(row)),
        Column::new("person", Values::Number(person)),
        Column::new("x", Values::Number(x)),
        Column::new("hired", Values::Boolean(hired)),
    ])
    .unwrap();
    for datasets in [Datasets::Cross { folds: 4, repeats: 1 }, Datasets::Two { val_fraction: 0.3 }]
    {
        let error = |unit: Option<&str>| {
            let mut spec = Spec::new("hired", &["recall() >= 0.3"]);
            spec.algorithm =
                Algorithm::Practical(Practical { turns: 3_000, ..Practical::default() });
            spec.encoder.columns = BTreeMap::from([("x".to_owned(), vec![buckets.clone()])]);
            (spec.datasets, spec.test_fraction) = (datasets, 0.2);
            spec.unit = unit.map(str::to_owned);
            spec.encoder.ignore.push("row".to_owned());
            if unit.is_none() {
                spec.encoder.ignore.push("person".to_owned());
            }
            let trained = spec.train(&table).unwrap();
            ["val", "test"].map(|part| trained.part(part).unwrap().error.unwrap())
        };
        let (together, apart) = (error(Some("person")), error(None));
        assert!(apart.iter().all(|error| *error < 0.3), "{apart:?}: copies tell the label");
        assert!(together.iter().all(|error| *error > 0.38), "{together:?}: nobody can know it");
    }
}

/// With more constraints than Algorithm 3 has time for, a recipe plays Algorithm 4, and says so; an
/// algorithm that was named is played.
#[test]
fn many_constraints_are_played_by_algorithm_4() {
    let mut stream = Stream::new(6, "many");
    let (mut x, mut group, mut hired) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..2_400 {
        let value = stream.unit();
        x.push(value);
        group.push(Some(format!("g{}", row % 120)));
        hired.push(Some(value + stream.unit() > 1.0));
    }
    let group = Category::from_texts(group.iter().map(Option::as_deref));
    let table = Table::new(vec![
        Column::new("x", Values::Number(x)),
        Column::new("group", Values::Category(group)),
        Column::new("hired", Values::Boolean(hired)),
    ])
    .unwrap();
    let mut spec = Spec::new("hired", &["positive_rate(each group) >= 0.3 * positive_rate()"]);
    let said = |trained: &Trained, then: &str| {
        let notices = trained.notices.iter().map(ToString::to_string);
        notices.filter(|one| one.contains("with 120 constraints") && one.contains(then)).count()
    };
    spec.algorithm = Algorithm::Practical(Practical { turns: 200, ..Practical::default() });
    let trained = spec.train(&table).unwrap();
    assert_eq!(said(&trained, "would be faster"), 1, "{:?}", trained.notices);
    assert!(trained.classifier.provenance().settings["algorithm"].get("practical").is_some());
    assert_eq!(trained.enforcement.len(), 120);
    // In the paper's recipe the default is replaced only where there are more than 1,000.
    let paper = Spec::of(Recipe::Paper, "hired", &["positive_rate(each group) >= 0.3"]);
    assert_eq!(paper.algorithm, Algorithm::Auto);
    let prepared = paper.plan(&Shape::default()).unwrap().prepare(Data::from(&table)).unwrap();
    assert!(matches!(prepared.plan().spec().algorithm, Algorithm::Practical(_)));
    let mut many = Spec::of(Recipe::Paper, "hired", &[""; 0]);
    many.constraints =
        (1..=1_001).map(|at| format!("recall() >= {}", f64::from(at) / 2e3)).collect();
    let prepared = many.plan(&Shape::default()).unwrap().prepare(Data::from(&table)).unwrap();
    assert!(matches!(prepared.plan().spec().algorithm, Algorithm::Lagrangian(_)));
    many.algorithm = Algorithm::default();
    let prepared = many.plan(&Shape::default()).unwrap().prepare(Data::from(&table)).unwrap();
    assert!(matches!(prepared.plan().spec().algorithm, Algorithm::Practical(_)));
}
