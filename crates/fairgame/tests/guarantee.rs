//! What a training of Algorithm 1 or 2 says for itself: its mixture is that of the theorem, over all turns, and the
//! guarantee is made of the game's own numbers.

#[path = "common/square.rs"]
mod square;

use fairgame::algorithm::{Algorithm, Continuous, DELTA, Discrete, Scales};
use fairgame::bounds;
use fairgame::classifier::{Iterate, Iterates, Measured, Selection};
use fairgame::encode::EncoderSpec;
use fairgame::game::Keep;
use fairgame::player::OracleSpec;
use fairgame::random::Stream;
use fairgame::rate::{LossValues, Side, Surrogate, Tally};
use fairgame::sample::Hypothesis;
use fairgame::table::{Category, Column, Table, Values};
use fairgame::train::{Data, Datasets, Notice, Sheet, Spec, Trained};
use square::{data, spec, table, training};

fn discrete() -> Discrete {
    let oracle = OracleSpec { rho: 0.02, ..OracleSpec::default() };
    Discrete { epsilon: 0.1, oracle, ..Discrete::default() }
}

fn continuous(side: Side) -> Continuous {
    Continuous { epsilon: 0.3, inner_turns: Some(20), side, ..Continuous::default() }
}

fn trained(algorithm: Algorithm, selection: Selection, one: bool) -> Trained {
    let mut spec = spec(algorithm);
    spec.selection = selection;
    spec.train(data(one)).unwrap()
}

/// θ̄ has θ⁽ᵗ⁾ with probability λ₁⁽ᵗ⁾/Σ_s λ₁⁽ˢ⁾ over every turn of the game, though the paper's recipe keeps 100.
#[test]
fn the_mixture_of_the_theorem_is_of_every_turn() {
    for algorithm in
        [Algorithm::Discrete(discrete()), Algorithm::Continuous(continuous(Side::Exact))]
    {
        let training = training(algorithm, false);
        let mut game = training.game(0).unwrap();
        game.run(&mut []).unwrap();
        assert!(game.turns() > 100);
        // By model, since Algorithm 1 plays some more than once.
        let mut weights = vec![0.0; game.kept().models.len()];
        let moments = &game.kept().moments;
        let total: f64 = moments.iter().map(|moment| moment.lambda.objective).sum();
        moments.iter().for_each(|one| weights[one.model] += one.lambda.objective / total);

        let trained = trained(algorithm, Selection::Theorem, false);
        assert_eq!(trained.iterates.moments.len() as u64, game.turns());
        let found = &trained.mixture.weights;
        assert_eq!(found.len(), weights.len());
        for &(model, weight) in found {
            assert!((weight - weights[model]).abs() < 1e-9, "{weight} {}", weights[model]);
        }
    }
}

/// A number of models to keep is not used then, and that is said; other selections keep what they are told to.
#[test]
fn a_theorem_keeps_every_turn() {
    let plan = |selection: Selection, keep: Keep| {
        let mut spec = spec(Algorithm::Discrete(discrete()));
        (spec.selection, spec.keep) = (selection, keep);
        let data = data(false);
        let plan = spec.plan(&data.shape()).unwrap();
        let unused =
            |notice: &Notice| matches!(notice, Notice::Unused { setting, .. } if setting == "keep");
        let told = plan.prepare(data).unwrap().notices().iter().any(unused);
        (plan.spec().keep, told)
    };
    assert_eq!(plan(Selection::Theorem, Keep::default()), (Keep::Every, false));
    assert_eq!(plan(Selection::Theorem, Keep::Spaced(7)), (Keep::Every, true));
    assert_eq!(plan(Selection::Uniform, Keep::Every), (Keep::Every, false));
    assert_eq!(plan(Selection::Last, Keep::Spaced(7)), (Keep::Spaced(7), false));
}

/// The guarantee is ε/λ̄₁ + G̃_val of this very game: its turns, its step, its covering, its λ̄₁ and its rows.
#[test]
fn algorithm_1_states_its_guarantee() {
    let training = training(Algorithm::Discrete(discrete()), false);
    let setting = training.setting(0);
    let (scales, covering) =
        (Scales::of(&setting).unwrap(), discrete().covering(&setting).unwrap());
    let trained = trained(Algorithm::Discrete(discrete()), Selection::Theorem, false);
    let said = trained.guarantee.unwrap();
    assert_eq!((said.theorem, said.delta), (1, DELTA));
    // The theorem's T and η: the regret is at most ε.
    let regret = bounds::swap_regret(2, trained.turns as f64, scales.gradient);
    assert!((said.regret - regret).abs() < 1e-9 && regret <= 0.1);
    let val = bounds::covering_generalization(2, covering.len().ln(), 120, DELTA, scales.loss);
    assert_eq!(said.generalization, Some(val));
    let weight = trained.mean_lambda.objective;
    assert_eq!(said.objective_weight, weight);
    assert!((said.infeasibility.unwrap() - (regret / weight + val)).abs() < 1e-9);
    // On the validation rows it is kept, and the model player is as near its best as it says.
    assert!(trained.mixture.val.worst() <= said.enforced);
    let rho = trained.suboptimality.unwrap();
    let model = bounds::oracle_suboptimality(rho, covering.radius(), scales.proxy.unwrap());
    assert_eq!(said.model, Some(model));
    // γ is of the proxies on the training rows, with each model's penalty; that of the constraints would be another.
    let mut game = training.game(0).unwrap();
    game.run(&mut []).unwrap();
    assert!(setting.region.convexity > 0.0);
    let models = || trained.iterates.models.iter().zip(&game.kept().models);
    let best = |worst: &dyn Fn(&Iterate) -> f64, penalised: bool| {
        let margin = |(iterate, model): (&Iterate, &Hypothesis)| {
            let penalty = if penalised { setting.region.penalty(model.theta()) } else { 0.0 };
            -(worst(iterate) + penalty)
        };
        models().map(margin).fold(f64::NEG_INFINITY, f64::max)
    };
    let margin = said.margin.unwrap();
    assert!((margin - best(&|one| one.train.proxy.worst(), true)).abs() < 1e-12);
    let exact = best(&|one| one.train.exact.worst(), true);
    let alone = best(&|one| one.train.proxy.worst(), false);
    assert!(margin < exact - 0.002 && margin < alone - 0.005, "{margin} {exact} {alone}");
    // With one dataset there are no other rows, so nothing is said of new ones.
    let one = self::trained(Algorithm::Discrete(discrete()), Selection::Theorem, true);
    let said = one.guarantee.unwrap();
    assert!(said.generalization.is_none() && said.infeasibility.is_none());
}

/// Validation rows that are the training rows say nothing of new rows either, though they are a table of their own.
#[test]
fn training_rows_that_validate_promise_nothing_of_new_rows() {
    let mut spec = spec(Algorithm::Discrete(discrete()));
    spec.selection = Selection::Theorem;
    let guarantee = |seed: u64| {
        let [train, val] = [1, seed].map(|seed| Sheet::owned(table(120, seed), "a square"));
        spec.train(Data::from(train).with_val(Some(val))).unwrap().guarantee.unwrap()
    };
    let (same, others) = (guarantee(1), guarantee(2));
    assert!(same.generalization.is_none() && same.infeasibility.is_none());
    assert!(others.generalization.is_some() && others.infeasibility.is_some());
}

/// McDiarmid's inequality asks how much one row can change a loss. Of a rate of a tenth of the rows, a single row counts ten
/// times: a bound by the sizes of whole losses is below what a draw of the rows does.
#[test]
fn a_row_of_a_small_group_counts_many_times() {
    let rows = 1_000;
    let mut stream = Stream::new(5, "small");
    let group = (0..rows).map(|row| Some(if row % 10 == 0 { "small" } else { "large" }));
    let table = Table::new(vec![
        Column::new("x", Values::Number((0..rows).map(|_| stream.unit()).collect())),
        Column::new("group", Values::Category(Category::from_texts(group.collect::<Vec<_>>()))),
        Column::new(
            "label",
            Values::Boolean((0..rows).map(|_| Some(stream.unit() < 0.5)).collect()),
        ),
    ])
    .unwrap();
    let mut spec = Spec::paper("label", &["positive_rate(group == \"small\") <= 0.5"]);
    spec.encoder = EncoderSpec { ignore: vec!["group".into()], ..EncoderSpec::default() };
    (spec.datasets, spec.surrogate) = (Datasets::One, Some(Surrogate::Ramp));
    let data = Data::from(&table);
    let training = spec.plan(&data.shape()).unwrap().prepare(data).unwrap();
    let scales = Scales::of(&training.setting(0)).unwrap();
    // A ramp is between 0 and 1, so the mean loss is between −.5 and .5, or for the error up to 1; a row of the group is
    // 1,000/100 of a decision, from 0 to 10.
    assert!((scales.proxy.unwrap() - 1.0).abs() < 1e-6, "{scales:?}");
    assert!((scales.proxy_row.unwrap() - 5.0).abs() < 1e-6, "{scales:?}");
    // One model that is positive on half of a group of which 1,000 rows have a tenth: its rate is off by 3 standard
    // deviations, .5/√100 each, in one draw of 370.
    let far = 3.0 * 0.5 / 100.0_f64.sqrt();
    let bound = |size| bounds::rademacher_generalization(0.0, 1, rows, 1.0 / 370.0, size);
    assert!(bound(1.0) < far, "{} would be a bound", bound(1.0));
    assert!(bound(scales.proxy_row.unwrap()) > far);
}

/// Theorem 2 asks for Lipschitz constraint losses: decisions have none, their proxies do.
#[test]
fn algorithm_2_says_nothing_of_new_rows_by_decisions() {
    let exact = trained(Algorithm::Continuous(continuous(Side::Exact)), Selection::Theorem, false);
    let said = exact.guarantee.unwrap();
    assert_eq!((said.theorem, said.generalization, said.infeasibility), (2, None, None));
    assert!(exact.mixture.val.worst() <= said.enforced);

    let proxy = trained(Algorithm::Continuous(continuous(Side::Proxy)), Selection::Theorem, false);
    let said = proxy.guarantee.unwrap();
    let (val, most) = (said.generalization.unwrap(), said.infeasibility.unwrap());
    assert!(val > 0.0 && (most - (said.enforced + val)).abs() < 1e-9);
    // What was enforced are the proxies: decisions are below them.
    let weights = &proxy.mixture.weights;
    let on_val = |side| proxy.iterates.mixed(weights, fairgame::classifier::Dataset::Val, side);
    assert!(on_val(Side::Proxy).worst() <= said.enforced);
    assert!(on_val(Side::Exact).worst() <= on_val(Side::Proxy).worst());
    assert_ne!(proxy.mean_lambda, exact.mean_lambda);
}

/// Other algorithms have no theorem.
#[test]
fn others_state_none() {
    assert!(trained(Algorithm::default(), Selection::default(), false).guarantee.is_none());
}

/// γ is the margin of the proxies, on the training rows: a model that meets only the constraints has none.
#[test]
fn the_margin_is_that_of_the_proxies() {
    let losses = |objective: f64, constraints: [f64; 2]| LossValues {
        objective,
        constraints: constraints.to_vec(),
    };
    let measured = |exact: [f64; 2], proxy: [f64; 2]| Measured {
        tally: Tally::new(1),
        exact: losses(0.1, exact),
        proxy: losses(0.2, proxy),
    };
    let iterate = |exact: [f64; 2], proxy: [f64; 2]| Iterate {
        train: measured(exact, proxy),
        val: measured([-9.0; 2], [-9.0; 2]),
    };
    let models = vec![iterate([-0.9, -0.8], [0.4, 0.1]), iterate([-0.3, -0.4], [-0.25, -0.1])];
    let both = Iterates { models: models.clone(), moments: Vec::new() };
    assert_eq!(both.proxy_margin(|_| 0.0), Some(0.1));
    // The penalty belongs to the proxies: −(−.1 + .3), and −(.4 + .05) of the other model.
    let with = both.proxy_margin(|at| [0.05, 0.3][at]).unwrap();
    assert!((with + 0.2).abs() < 1e-12, "{with}");
    let first = Iterates { models: models[..1].to_vec(), moments: Vec::new() };
    assert_eq!(first.proxy_margin(|_| 0.0), Some(-0.4));
}
