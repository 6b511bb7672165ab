//! Shrinking: at most m+1 models, optimal by duality, the least ε really least, and never worse than the
//! mixture it began with.

#[path = "common/square.rs"]
mod square;

use fairgame::algorithm::{Algorithm, Practical};
use fairgame::classifier::{
    Classifier, Dataset, Epsilon, Iterate, Iterates, Measured, Selection, ShrinkSpec, shrink,
};
use fairgame::game::{Keep, Moment};
use fairgame::random::Stream;
use fairgame::rate::{LossValues, Multipliers, Side, Tally};
use microlp::{ComparisonOp, OptimizationDirection, Problem};

/// The dual of "least ε ≥ 0": the most v with v ≤ Σ_i y_i·ℓ_i⁽ᵗ⁾ for every t, y ≥ 0, Σ y ≤ 1.
fn dual_epsilon(constraints: &[Vec<f64>]) -> f64 {
    let mut program = Problem::new(OptimizationDirection::Maximize);
    let value = program.add_var(1.0, (f64::NEG_INFINITY, f64::INFINITY));
    let prices: Vec<_> =
        constraints[0].iter().map(|_| program.add_var(0.0, (0.0, f64::INFINITY))).collect();
    let ones: Vec<_> = prices.iter().map(|&price| (price, 1.0)).collect();
    program.add_constraint(&ones, ComparisonOp::Le, 1.0);
    for losses in constraints {
        let mut terms = vec![(value, 1.0)];
        terms.extend(prices.iter().zip(losses).map(|(&price, &loss)| (price, -loss)));
        program.add_constraint(&terms, ComparisonOp::Le, 0.0);
    }
    program.solve().unwrap().into_solution().unwrap().objective()
}

/// The dual of the second program: the most v − ε·Σ_i y_i with v − Σ_i y_i·ℓ_i⁽ᵗ⁾ ≤ ℓ₀⁽ᵗ⁾, y ≥ 0.
fn dual_objective(objective: &[f64], constraints: &[Vec<f64>], epsilon: f64) -> f64 {
    let mut program = Problem::new(OptimizationDirection::Maximize);
    let value = program.add_var(1.0, (f64::NEG_INFINITY, f64::INFINITY));
    let prices: Vec<_> =
        constraints[0].iter().map(|_| program.add_var(-epsilon, (0.0, f64::INFINITY))).collect();
    for (cost, losses) in objective.iter().zip(constraints) {
        let mut terms = vec![(value, 1.0)];
        terms.extend(prices.iter().zip(losses).map(|(&price, &loss)| (price, -loss)));
        program.add_constraint(&terms, ComparisonOp::Le, *cost);
    }
    program.solve().unwrap().into_solution().unwrap().objective()
}

struct Case {
    objective: Vec<f64>,
    constraints: Vec<Vec<f64>>,
}

/// Models on a trade-off, at random, or with few distinct values, where many vertices are one point.
fn case(stream: &mut Stream, kind: u64) -> Case {
    let (models, count) = (1 + stream.below(100) as usize, stream.below(21) as usize);
    let shift = stream.unit() * 0.6 - 0.3;
    let mut loss = |error: f64| match kind {
        0 => stream.unit() - 0.5 + shift,
        1 => (stream.below(5) as f64 - 2.0) / 10.0 + (shift * 10.0).round() / 10.0,
        _ => 0.3 - error + (stream.unit() - 0.5) * 0.1 + shift,
    };
    let objective: Vec<f64> = (0..models).map(|model| model as f64 / 200.0).collect();
    let constraints =
        objective.iter().map(|&error| (0..count).map(|_| loss(error)).collect()).collect();
    Case { objective, constraints }
}

#[test]
fn optimal_by_duality_with_at_most_m_plus_one_models() {
    let mut stream = Stream::new(1, "shrink");
    let (mut feasible, mut infeasible) = (0, 0);
    for turn in 0..600 {
        let Case { objective, constraints } = case(&mut stream, turn % 3);
        let shrunk = shrink(&objective, &constraints, 0.0).unwrap();
        let count = constraints[0].len();
        let context = format!("turn {turn}: {} models, {count} constraints", objective.len());
        assert!(shrunk.weights.len() <= count + 1, "{context}: {}", shrunk.weights.len());
        assert!(shrunk.weights.iter().all(|&(_, weight)| weight > 0.0), "{context}");
        let total: f64 = shrunk.weights.iter().map(|(_, weight)| weight).sum();
        assert!((total - 1.0).abs() < 1e-12, "{context}");

        let mixed = |i: usize| -> f64 {
            shrunk.weights.iter().map(|&(k, weight)| weight * constraints[k][i]).sum()
        };
        assert!((0..count).all(|i| mixed(i) <= shrunk.epsilon + 2e-7), "{context}");
        let least = dual_epsilon(&constraints).max(0.0);
        assert!((shrunk.least - least).abs() < 1e-6, "{context}: {} {least}", shrunk.least);
        assert_eq!(shrunk.feasible, least <= 1e-7, "{context}");
        let cost: f64 = shrunk.weights.iter().map(|&(k, weight)| weight * objective[k]).sum();
        let dual = dual_objective(&objective, &constraints, shrunk.epsilon + 1e-9);
        assert!((cost - dual).abs() < 1e-5, "{context}: {cost} {dual}");
        if shrunk.feasible { feasible += 1 } else { infeasible += 1 }
    }
    assert!(feasible > 100 && infeasible > 100, "{feasible} {infeasible}");
}

/// A looser ε is taken as it is; one that cannot be had is a result, not an error.
#[test]
fn what_is_allowed() {
    let (objective, constraints) = ([0.1, 0.3], [vec![0.2], vec![0.05]]);
    let loose = shrink(&objective, &constraints, 0.3).unwrap();
    assert!(loose.feasible && loose.weights == [(0, 1.0)] && loose.epsilon == 0.2);
    let tight = shrink(&objective, &constraints, 0.01).unwrap();
    assert!(!tight.feasible && (tight.epsilon - 0.05).abs() < 1e-6);
    assert_eq!(tight.weights.len(), 1);
    assert!(shrink(&[], &[], 0.0).is_err());
    assert!(shrink(&[f64::NAN], &[vec![0.0]], 0.0).is_err());
    // Without constraints, the best model alone.
    assert_eq!(shrink(&objective, &[vec![], vec![]], 0.0).unwrap().weights, [(0, 1.0)]);
}

fn measured(objective: f64, constraints: Vec<f64>) -> Measured {
    let exact = LossValues { objective, constraints };
    Measured { tally: Tally::new(0), proxy: exact.clone(), exact }
}

fn iterates(Case { objective, constraints }: Case, stream: &mut Stream) -> Iterates {
    let count = constraints[0].len();
    let models: Vec<Iterate> = objective
        .into_iter()
        .zip(constraints)
        .map(|(objective, constraints)| Iterate {
            train: measured(objective, constraints.clone()),
            val: measured(objective + 0.01, constraints),
        })
        .collect();
    let moments = (0..models.len() as u64 + 20)
        .map(|turn| Moment {
            turn: turn + 1,
            model: (turn as usize) % models.len(),
            lambda: Multipliers { objective: stream.unit(), constraints: vec![0.0; count] },
        })
        .collect();
    Iterates { models, moments }
}

/// At the ε of the mixture it begins with, shrinking makes neither objective nor violation worse; at the
/// least ε, not the violation of any mixture.
#[test]
fn never_worse_than_what_it_began_with() {
    let mut stream = Stream::new(2, "mixtures");
    for turn in 0..200 {
        let case = case(&mut stream, turn % 3);
        if case.constraints[0].is_empty() {
            continue;
        }
        let iterates = iterates(case, &mut stream);
        let worth = |selection: Selection| {
            let weights = selection.select(&iterates).unwrap().weights;
            let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
            assert!((total - 1.0).abs() < 1e-9);
            let train = iterates.mixed(&weights, Dataset::Train, Side::Exact).objective;
            (train, iterates.mixed(&weights, Dataset::Val, Side::Exact).worst().max(0.0))
        };
        let shrunk =
            |epsilon| worth(Selection::Shrink(ShrinkSpec { epsilon, ..ShrinkSpec::default() }));
        let (theorem, uniform) = (worth(Selection::Theorem), worth(Selection::Uniform));
        let kept = shrunk(Epsilon::Mixture);
        assert!(kept.0 <= theorem.0 + 1e-6 && kept.1 <= theorem.1 + 1e-6, "{kept:?} {theorem:?}");
        let least = shrunk(Epsilon::Least);
        for other in [theorem, uniform, worth(Selection::Last), worth(Selection::Best)] {
            assert!(least.1 <= other.1 + 1e-6, "{least:?} {other:?}");
        }
        let at_most = shrunk(Epsilon::AtMost(uniform.1));
        assert!(at_most.0 <= uniform.0 + 1e-6 && at_most.1 <= uniform.1 + 1e-6);
    }
}

/// By hand: the theorem's weights are sums of λ₁ over the turns of a model; the best is by rank.
#[test]
fn selections_by_hand() {
    let case = Case {
        objective: vec![0.10, 0.12, 0.20, 0.15],
        constraints: vec![vec![0.30], vec![0.02], vec![-0.10], vec![0.00]],
    };
    let mut iterates = iterates(case, &mut Stream::new(1, "hand"));
    iterates.moments.truncate(5);
    for (moment, weight) in iterates.moments.iter_mut().zip([0.1, 0.2, 0.3, 0.3, 0.1]) {
        moment.lambda.objective = weight;
    }
    let close = |found: Vec<(usize, f64)>, wanted: &[(usize, f64)]| {
        assert_eq!(found.len(), wanted.len());
        for ((model, weight), (other, wanted)) in found.iter().zip(wanted) {
            assert!(model == other && (weight - wanted).abs() < 1e-7, "{found:?}");
        }
    };
    let select = |selection: Selection| selection.select(&iterates).unwrap().weights;
    close(select(Selection::Theorem), &[(0, 0.2), (1, 0.2), (2, 0.3), (3, 0.3)]);
    close(select(Selection::Uniform), &[(0, 0.4), (1, 0.2), (2, 0.2), (3, 0.2)]);
    close(select(Selection::Last), &[(0, 1.0)]);
    // Ranks by objective 0, 1, 3, 2; by violation 3, 2, 0, 0 (the last two are met): worst 3, 2, 3, 2;
    // of the two, model 1 has the lower objective.
    close(select(Selection::Best), &[(1, 1.0)]);
    // Shrinking on val's objective, or train's, which differ by a constant here: the same mixture.
    let on = |on| Selection::Shrink(ShrinkSpec { on, ..ShrinkSpec::default() });
    let (train, val) = (select(on(Dataset::Train)), select(on(Dataset::Val)));
    assert_eq!(train.len(), val.len());
    // 0.12 at 0.02 and 0.20 at −0.10 mix to 0 at 5/6 and 1/6: 0.1333, better than 0.15.
    close(train, &[(1, 5.0 / 6.0), (2, 1.0 / 6.0)]);
}

/// Those who need the mixture alone have the same one, to the bit, as those to whom everything else is told.
#[test]
fn a_mixture_alone_is_the_same() {
    for (one, keep) in [(false, Keep::default()), (true, Keep::Spaced(1))] {
        let mut spec =
            square::spec(Algorithm::Practical(Practical { turns: 600, ..Practical::default() }));
        spec.keep = keep;
        let data = square::data(one);
        let training = spec.plan(&data.shape()).unwrap().prepare(data).unwrap();
        let played = training.play(&mut ()).unwrap();
        let (classifier, mixture) = training.mix(&played).unwrap();
        let trained = training.finish(&played).unwrap();
        assert_eq!(mixture, trained.mixture);
        assert_eq!(classifier.members(), trained.classifier.members());
        let is_kept = |one: &Classifier| one.record().unwrap().is_some();
        assert!(is_kept(&trained.classifier) && !is_kept(&classifier));
    }
}
