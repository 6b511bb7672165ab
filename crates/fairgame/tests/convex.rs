//! On a small convex problem, whose exact optimum a linear program gives, every algorithm ends feasible
//! and near-optimal: Algorithms 1 and 2 within what Theorems 1 and 2 promise, with one dataset and with two.
//!
//! `cargo test --test convex -- --nocapture` prints how near.
#![allow(clippy::print_stdout, reason = "how near is worth seeing")]

#[path = "common/square.rs"]
mod square;

use fairgame::Threads;
use fairgame::algorithm::{
    Algorithm, Answer, Baseline, Continuous, Discrete, Lagrangian, Practical, Scales, Setting,
    Unconstrained,
};
use fairgame::bounds::{self, Errors};
use fairgame::classifier::{Dataset, Iterates, Selection};
use fairgame::game::Game;
use fairgame::optimize::Optimizer;
use fairgame::player::{Covering, ModelPlayer, Oracle, OracleSpec};
use fairgame::random::Stream;
use fairgame::rate::{LossValues, Multipliers, Pushes, Side};
use fairgame::sample::{Batch, Hypothesis, Work};
use fairgame::train::Training;
use microlp::{ComparisonOp, OptimizationDirection, Problem};
use square::{CONVEXITY, RADIUS, learner, table, training};

/// On the training rows, the least ℓ̃₀ + (μ/2)‖θ‖² that a linear program finds under ℓ̃_i ≤ −margin, with θ in a box inside the
/// ball; and the least ℓ̃₀ alone under ℓ̃_i ≤ 0.
fn optimum(training: &Training<'_>, margin: f64) -> (f64, f64) {
    let table = table(120, 1);
    let features = training.views()[0].encoder.encode(&table).unwrap();
    let compiled = training.bound().compile(&table, None).unwrap();
    let losses = compiled.losses();
    let constraints = losses.constraints();
    let pushes = |loss: usize| {
        let mut unit = Multipliers { objective: 0.0, constraints: vec![0.0; constraints] };
        match loss {
            0 => unit.objective = 1.0,
            loss => unit.constraints[loss - 1] = 1.0,
        }
        let mut pushes = Pushes::default();
        losses.pushes(&unit, &mut pushes);
        losses.push_cells(&pushes)
    };
    let constant = losses.proxy(&fairgame::rate::Tally::new(losses.cells()));
    let box_side = RADIUS / 3.0_f64.sqrt();

    let mut program = Problem::new(OptimizationDirection::Minimize);
    let theta: Vec<_> = (0..3).map(|_| program.add_var(0.0, (-box_side, box_side))).collect();
    let objective = pushes(0);
    let cells = compiled.cells();
    // h(f) and h(−f) of each row.
    let rows: Vec<_> = (0..table.rows())
        .map(|row| {
            let push = objective[cells[row] as usize];
            let above = program.add_var(f64::from(push.down), (0.0, f64::INFINITY));
            let below = program.add_var(f64::from(push.up), (0.0, f64::INFINITY));
            let values = features.row_values(row);
            for (hinge, sign) in [(above, -1.0), (below, 1.0)] {
                let terms = [
                    (hinge, 1.0),
                    (theta[0], sign * f64::from(values[0])),
                    (theta[1], sign * f64::from(values[1])),
                    (theta[2], sign),
                ];
                program.add_constraint(terms, ComparisonOp::Ge, 1.0);
            }
            (above, below)
        })
        .collect();
    let mut offset = constant.objective;
    offset -= cells.iter().map(|&cell| f64::from(objective[cell as usize].up)).sum::<f64>();
    for (i, constant) in constant.constraints.iter().enumerate() {
        let pushes = pushes(i + 1);
        let mut right = -margin - constant;
        let mut terms = Vec::new();
        for (&(above, below), &cell) in rows.iter().zip(cells) {
            let push = pushes[cell as usize];
            right += f64::from(push.up);
            terms.push((above, f64::from(push.down)));
            terms.push((below, f64::from(push.up)));
        }
        program.add_constraint(&terms, ComparisonOp::Le, right);
    }
    let solution = program.solve().unwrap().into_solution().unwrap();
    let square: f64 = theta.iter().map(|&weight| solution.var_value(weight).powi(2)).sum();
    let value = solution.objective() + offset;
    let penalty = CONVEXITY / 2.0 * square;
    assert!(penalty <= margin || margin == 0.0, "{penalty} is above the margin");
    (value + penalty, value)
}

/// At least what the penalty of the program's θ is, so that it meets the constraints with it as well.
const MARGIN: f64 = 0.06;

fn play<'a>(training: &'a Training<'_>) -> (Game<'a>, Iterates) {
    let mut game = training.game(0).unwrap();
    game.run(&mut []).unwrap();
    let Setting { train, val, .. } = training.setting(0);
    let iterates = Iterates::measure(game.kept(), &train, &val, &Threads::new(2)).unwrap();
    (game, iterates)
}

/// The suboptimality and infeasibility of the mixture of the theorems, beside what they promise.
fn check_theorem(training: &Training<'_>, epsilon: f64, name: &str) {
    let (game, iterates) = play(training);
    let setting = training.setting(0);
    let weights = Selection::Theorem.select(&iterates).unwrap().weights;
    let mean = game.mean_lambda();

    // ε_θ is what the model player can be off by: ρ and the covering's ε, or the inner steps' ε.
    let model = epsilon + game.suboptimality().unwrap_or(0.0);
    // With two datasets, what of the constraint player's losses did not carry over to train, as it was:
    // the mean over turns of Σ_i λ_i·(ℓ_i on val − ℓ_i on train).
    let carried = iterates.moments.iter().map(|moment| {
        let iterate = &iterates.models[moment.model];
        let gaps = iterate.val.exact.constraints.iter().zip(&iterate.train.exact.constraints);
        let gaps = gaps.zip(&moment.lambda.constraints);
        gaps.map(|((val, train), lambda)| lambda * (val - train)).sum::<f64>()
    });
    let carried = carried.sum::<f64>() / iterates.moments.len() as f64;
    let promise = Errors { model, constraint: epsilon, train: 0.0, val: carried.max(0.0) };

    let penalty = |theta: &[f32]| setting.region.penalty(theta);
    let objective: f64 = weights
        .iter()
        .map(|&(model, weight)| {
            let iterate = &iterates.models[model];
            weight * (iterate.train.proxy.objective + penalty(game.kept().models[model].theta()))
        })
        .sum();
    let (best, _) = optimum(training, MARGIN);
    let (_, plain) = optimum(training, 0.0);
    let gap = objective - best;
    let worst = iterates.mixed(&weights, Dataset::Val, Side::Exact).worst();
    let infeasibility = Errors { val: 0.0, ..promise }.infeasibility(mean.objective);
    let suboptimality = promise.suboptimality(mean.objective);
    println!(
        "{name}: {} turns, {} models, weight of the objective {:.3}; objective {objective:.4}, best \
         {best:.4} ({plain:.4} without penalty and margin), gap {gap:.4} ≤ {suboptimality:.4}; worst \
         {worst:.4} ≤ {infeasibility:.4}",
        game.turn(),
        iterates.models.len(),
        mean.objective,
    );
    assert!(gap <= suboptimality, "{name}: {gap} above {suboptimality}");
    assert!(worst <= infeasibility, "{name}: {worst} above {infeasibility}");
}

/// Without constraints, one is violated far: the tests below would pass by chance otherwise.
#[test]
fn the_constraints_bind() {
    let unconstrained = Unconstrained { turns: 5_000, ..Unconstrained::default() };
    for one in [true, false] {
        let training = training(Algorithm::Unconstrained(unconstrained), one);
        let (_, iterates) = play(&training);
        let last = Selection::Last.select(&iterates).unwrap().weights;
        let values = iterates.mixed(&last, Dataset::Val, Side::Exact);
        println!("unconstrained: {values:?}");
        assert!(values.worst() > 0.1, "{values:?}");
    }
}

#[test]
fn algorithm_1_keeps_theorem_1() {
    let epsilon = 0.1;
    for one in [true, false] {
        let oracle = OracleSpec { rho: 0.02, ..OracleSpec::default() };
        let discrete = Discrete { epsilon, oracle, ..Discrete::default() };
        let training = training(Algorithm::Discrete(discrete), one);
        check_theorem(&training, epsilon, if one { "1, one dataset" } else { "1, two datasets" });
        // No more models than centres, and one model for each centre: see `Kept`, which has each once.
        let covering = discrete.covering(&training.setting(0)).unwrap();
        let mut game = training.game(0).unwrap();
        game.run(&mut []).unwrap();
        assert!((game.kept().models.len() as f64) <= covering.len());
        assert!(game.suboptimality().unwrap() <= 0.02);
        let proxy = Scales::of(&training.setting(0)).unwrap().proxy.unwrap();
        assert!((covering.radius() - epsilon / (2.0 * proxy)).abs() < 1e-4);
    }
}

/// The same centre gives the same θ, asked again, by another oracle, or by a λ nearby; others do not.
#[test]
fn a_centre_has_one_model() {
    let training = training(Algorithm::default(), true);
    let learner = learner(&training);
    // Tenths: every coordinate of λ is rounded to a multiple of 0.1.
    let covering = || Some(Covering::new(2, 4.0 / 30.0).unwrap());
    let spec = OracleSpec { rho: 0.05, ..OracleSpec::default() };
    let lambda = |objective: f64, first: f64| Multipliers {
        objective,
        constraints: vec![first, 1.0 - objective - first],
    };
    let mut oracle = Oracle::new(learner.clone(), spec, covering());
    let mut other = Oracle::new(learner.clone(), spec, covering());
    let one = oracle.play(&lambda(0.5, 0.3)).unwrap().clone();
    assert_eq!(*other.play(&lambda(0.52, 0.29)).unwrap(), one);
    assert_eq!(*oracle.play(&lambda(0.49, 0.31)).unwrap(), one);
    let far = oracle.play(&lambda(0.4, 0.3)).unwrap().clone();
    assert_ne!(far, one);
    assert_eq!(*oracle.play(&lambda(0.5, 0.3)).unwrap(), one);
    assert!(oracle.suboptimality().unwrap() <= 0.05);
    // Without a covering, every λ has its own.
    let mut exact = Oracle::new(learner, spec, None);
    let one = exact.play(&lambda(0.5, 0.3)).unwrap().clone();
    assert_ne!(*exact.play(&lambda(0.49, 0.31)).unwrap(), one);
}

/// The ρ that the oracle states is one: no other θ of the ball is better by more; and it is met, in a ball
/// that binds too.
#[test]
fn rho_is_a_certificate() {
    for radius in [RADIUS, 1.0, 0.3] {
        check_rho(radius);
    }
}

fn check_rho(radius: f64) {
    let training = training(Algorithm::default(), true);
    let mut learner = learner(&training);
    learner.region.radius = Some(radius);
    let (train, region) = (&learner.train, learner.region);
    let lambda = Multipliers { objective: 0.6, constraints: vec![0.3, 0.1] };
    let value = |by: &Hypothesis| {
        let (mut work, mut values) = (Work::default(), LossValues::default());
        train.measure(by, Batch::All, Side::Proxy, &mut work, &mut values).unwrap();
        values.weighted(&lambda) + region.penalty(by.theta())
    };
    let answer = |rho: f64| {
        let spec = OracleSpec { rho, ..OracleSpec::default() };
        let mut oracle = Oracle::new(learner.clone(), spec, None);
        (value(oracle.play(&lambda).unwrap()), oracle.suboptimality().unwrap())
    };
    let (best, finest) = answer(0.001);
    assert!(finest <= 0.001);
    for rho in [0.5, 0.1, 0.02] {
        let (found, stated) = answer(rho);
        assert!(stated <= rho && found <= best + stated, "{found} {stated} {best}");
    }
    let mut stream = Stream::new(5, "thetas");
    for _ in 0..2000 {
        let mut theta: Vec<f32> = (0..3).map(|_| (stream.unit() * 4.0 - 2.0) as f32).collect();
        region.shrink(&mut theta);
        assert!(value(&Hypothesis::Theta(theta)) >= best - finest - 1e-6);
    }
}

#[test]
fn algorithm_2_keeps_theorem_2() {
    let epsilon = 0.2;
    for one in [true, false] {
        let continuous = Continuous { epsilon, ..Continuous::default() };
        let training = training(Algorithm::Continuous(continuous), one);
        check_theorem(&training, epsilon, if one { "2, one dataset" } else { "2, two datasets" });
    }
}

/// No theorem speaks of Algorithms 3 and 4; they are to come as near as the others were promised to.
fn check_heuristic(algorithm: Algorithm, selection: Selection, name: &str) {
    for one in [true, false] {
        let training = training(algorithm, one);
        let (game, iterates) = play(&training);
        let weights = selection.select(&iterates).unwrap().weights;
        let objective = iterates.mixed(&weights, Dataset::Train, Side::Proxy).objective;
        let worst = iterates.mixed(&weights, Dataset::Val, Side::Exact).worst();
        let (_, best) = optimum(&training, 0.0);
        println!(
            "{name}, one dataset {one}: {} turns; objective {objective:.4}, best {best:.4}; worst {worst:.4}",
            game.turn()
        );
        assert!(objective <= best + 0.05, "{name}: {objective} against {best}");
        assert!(worst <= 0.02, "{name}: {worst}");
    }
}

#[test]
fn algorithm_3_comes_near() {
    let practical = Practical { turns: 20_000, ..Practical::default() };
    check_heuristic(Algorithm::Practical(practical), Selection::Theorem, "3");
}

#[test]
fn algorithm_4_comes_near() {
    let lagrangian = Lagrangian { turns: 20_000, ..Lagrangian::default() };
    check_heuristic(Algorithm::Lagrangian(lagrangian), Selection::Uniform, "4");
}

/// The baseline plays one function, so its mixture is within its measured equilibrium of the best.
#[test]
fn the_baseline_comes_near() {
    for model in [
        Answer::Oracle(OracleSpec { rho: 0.02, ..OracleSpec::default() }),
        Answer::Descent { optimizer: Optimizer::default(), batch: 100 },
    ] {
        let turns = if matches!(model, Answer::Oracle(_)) { 200 } else { 20_000 };
        let baseline = baseline(model, turns);
        check_heuristic(Algorithm::Baseline(baseline), Selection::Uniform, "baseline");
    }
}

/// R.
const MULTIPLIERS: f64 = 20.0;

fn baseline(model: Answer, turns: u64) -> Baseline {
    let constraint = Optimizer::sgd(0.5);
    Baseline { turns, radius: MULTIPLIERS, model, constraint, side: Side::Proxy }
}

/// On its one dataset the baseline is as good and as feasible as its theorem says, with the ε of the game that was
/// played: max_λ L(θ̄, λ) − min_θ L(θ, λ̄), with L = ℓ̃₀ + (μ/2)‖θ‖² + Σ λ_i·ℓ̃_i and ‖λ‖₁ ≤ R.
#[test]
fn the_baseline_keeps_its_theorem() {
    let oracle = OracleSpec { rho: 0.005, ..OracleSpec::default() };
    let training = training(Algorithm::Baseline(baseline(Answer::Oracle(oracle), 2_000)), true);
    let (game, iterates) = play(&training);
    let region = training.setting(0).region;
    let value = |model: usize| {
        let penalty = region.penalty(game.kept().models[model].theta());
        iterates.models[model].train.proxy.objective + penalty
    };
    let weights = Selection::Uniform.select(&iterates).unwrap().weights;
    let objective: f64 = weights.iter().map(|&(model, weight)| weight * value(model)).sum();
    let worst = iterates.mixed(&weights, Dataset::Train, Side::Proxy).worst();
    let mean = game.mean_lambda();
    let norm: f64 = mean.constraints.iter().sum();
    assert!(norm > 0.5 && norm < MULTIPLIERS - 1.0, "the constraints bind: {norm}");

    // The least of L(·, λ̄), from below: an oracle's answer less its ρ.
    let learner = learner(&training);
    let mut answers = Oracle::new(learner.clone(), oracle, None);
    let answer = answers.play(&mean).unwrap().clone();
    let (mut work, mut losses) = (Work::default(), LossValues::default());
    learner.train.measure(&answer, Batch::All, Side::Proxy, &mut work, &mut losses).unwrap();
    let least =
        losses.weighted(&mean) + region.penalty(answer.theta()) - answers.suboptimality().unwrap();
    let epsilon = objective + MULTIPLIERS * worst.max(0.0) - least;
    assert!((0.0..0.06).contains(&epsilon), "the game ends near an equilibrium: {epsilon}");

    let bound = bounds::Baseline { epsilon, train: 0.0 };
    let (best, _) = optimum(&training, MARGIN);
    println!(
        "baseline: ε {epsilon:.4}, ‖λ̄‖ {norm:.3}, objective {objective:.4}, best {best:.4}, worst {worst:.4}"
    );
    assert!(objective <= best + bound.suboptimality(norm), "{objective} {best} {epsilon}");
    assert!(worst <= bound.infeasibility(MULTIPLIERS, norm), "{worst} {epsilon}");
}
