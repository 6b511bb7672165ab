//! How the players of the theorems move, by hand: the update of M, the turns and the step of Algorithms 1 and 2, and the
//! first iterates of the inner descent.

#[path = "common/square.rs"]
mod square;

use fairgame::algorithm::{Algorithm, Continuous, Discrete};
use fairgame::bounds;
use fairgame::model::Region;
use fairgame::optimize::Optimizer;
use fairgame::player::{
    ConstraintPlayer, InnerDescent, ModelPlayer, Start, SwapRegret, SwapRegretSpec,
};
use fairgame::rate::{Multipliers, Pushes, Side};
use square::{learner, table, training};

/// M after two turns with η = 0.5 and m = 2, worked out apart: M ← M ⊙ exp(η·Δλᵀ), columns renormalised. In the second
/// turn λ = (.3272, .3616, .3112), so that each column moves by another factor.
#[test]
fn the_matrix_moves_by_the_outer_product() {
    let mut player = SwapRegret::new(2, SwapRegretSpec::multiplicative(0.5));
    player.learn(&[0.6, -0.3]);
    let lambda = player.play().clone();
    // Every column is (1, e^(0.5 · 0.6/3), e^(−0.5 · 0.3/3)), and their sum is 3.0564.
    close(lambda.objective, 0.327_182_269_3);
    close(lambda.constraints[0], 0.361_592_328_9);
    close(lambda.constraints[1], 0.311_225_401_7);
    player.learn(&[-2.0, 4.0]);
    let wanted = [
        [0.275_720_259_0, 0.268_075_269_0, 0.279_158_246_0],
        [0.219_687_158_6, 0.206_370_989_0, 0.226_004_160_7],
        [0.504_592_582_4, 0.525_553_742_0, 0.494_837_593_3],
    ];
    for (i, row) in wanted.iter().enumerate() {
        for (j, &entry) in row.iter().enumerate() {
            close(player.entry(i, j), entry);
        }
    }
    let lambda = player.play();
    close(lambda.objective, 0.275_772_510_4);
    close(lambda.constraints[0], 0.219_943_908_7);
    close(lambda.constraints[1], 0.504_283_580_9);
}

fn close(found: f64, wanted: f64) {
    assert!((found - wanted).abs() < 1e-9, "{found} is not {wanted}");
}

/// The start of the authors' library: each constraint's entries are floor/(m + 1), and the objective has the rest.
#[test]
fn training_may_begin_with_the_objective() {
    let spec =
        SwapRegretSpec { optimizer: Optimizer::default(), start: Start::Objective, floor: 1e-3 };
    let player = SwapRegret::new(3, spec);
    for column in 0..4 {
        close(player.entry(0, column), 1.0 - 3.0 * 1e-3 / 4.0);
        (1..4).for_each(|row| close(player.entry(row, column), 1e-3 / 4.0));
    }
    // All columns are the same, so λ is one of them.
    close(player.play().objective, 1.0 - 3.0 * 1e-3 / 4.0);
}

/// B_Δ of the square: recall() >= 0.9 is at most .9, positive_rate(group == "b") >= 0.8 at most .8.
const GRADIENT: f64 = 0.9;

/// Algorithms 1 and 2 play T = ⌈4·B²·3·ln 3/ε²⌉ turns with η = √(3·ln 3/(T·B²)): what λ is in the second turn shows the
/// step, since M was uniform in the first.
#[test]
fn turns_and_steps_are_those_of_the_theorems() {
    let epsilon = 0.1;
    // 4 · 0.81 · 3.295836866… / 0.01
    let turns = 1_068;
    let step = (3.0 * 3.0_f64.ln() / (turns as f64 * GRADIENT * GRADIENT)).sqrt();
    let discrete = Algorithm::Discrete(Discrete { epsilon, ..Discrete::default() });
    let inner = Continuous { epsilon, inner_turns: Some(5), ..Continuous::default() };
    let proxy = Continuous { side: Side::Proxy, ..inner };
    for algorithm in [discrete, Algorithm::Continuous(inner), Algorithm::Continuous(proxy)] {
        let training = training(algorithm, false);
        let mut game = training.game(0).unwrap();
        let (turns, step) = match algorithm {
            Algorithm::Continuous(Continuous { side: Side::Proxy, .. }) => {
                // Proxies are larger than the losses they bound, so there are more turns.
                let scales = fairgame::algorithm::Scales::of(&training.setting(0)).unwrap();
                let gradient = scales.shown.unwrap().gradient;
                assert!(gradient > 2.0 * GRADIENT);
                let turns = bounds::swap_regret_turns(2, epsilon, gradient);
                (turns as u64, bounds::swap_regret_step(2, turns, gradient))
            }
            _ => (turns, step),
        };
        assert_eq!(game.turns(), turns);
        game.play_turn().unwrap();
        let shown = game.losses().constraints.clone();
        assert!(shown.iter().any(|loss| loss.abs() > 0.1), "{shown:?}");
        game.play_turn().unwrap();
        let lambda = &game.kept().moments[1].lambda;
        let pull: Vec<f64> = shown.iter().map(|loss| (step * loss / 3.0).exp()).collect();
        let total = 1.0 + pull.iter().sum::<f64>();
        close(lambda.objective, 1.0 / total);
        pull.iter().zip(&lambda.constraints).for_each(|(pull, found)| close(*found, pull / total));
    }
}

/// The gradient of λ₁·ℓ̃₀ + Σ λ_{i+1}·ℓ̃_i + (μ/2)‖θ‖² for hinges, written from the definition.
fn gradient(theta: &[f64; 3], lambda: &Multipliers, mu: f64) -> [f64; 3] {
    let training = training(Algorithm::default(), true);
    let rows = table(120, 1);
    let features = training.views()[0].encoder.encode(&rows).unwrap();
    let compiled = training.bound().compile(&rows, None).unwrap();
    let mut pushes = Pushes::default();
    compiled.losses().pushes(lambda, &mut pushes);
    let pushes = compiled.losses().push_cells(&pushes);
    let mut slope = theta.map(|at| mu * at);
    for (row, &cell) in compiled.cells().iter().enumerate() {
        let values = features.row_values(row);
        let x = [f64::from(values[0]), f64::from(values[1]), 1.0];
        let score: f64 = x.iter().zip(theta).map(|(x, at)| x * at).sum();
        let push = pushes[cell as usize];
        let down = if 1.0 + score > 0.0 { f64::from(push.down) } else { 0.0 };
        let up = if 1.0 - score > 0.0 { f64::from(push.up) } else { 0.0 };
        slope.iter_mut().zip(x).for_each(|(slope, x)| *slope += (down - up) * x);
    }
    slope
}

/// θ̃₁ = 0, θ̃_{s+1} = Π(θ̃_s − g_s/(μ·s)), and what is played is their mean, the last step not among them: for one step
/// 0, for two θ̃₂/2, for three (θ̃₂ + θ̃₃)/3; in a ball that binds, and in one that does not.
#[test]
fn inner_descent_begins_at_zero_and_plays_the_mean() {
    let training = training(Algorithm::default(), true);
    let lambda = Multipliers { objective: 0.6, constraints: vec![0.3, 0.1] };
    for (mu, radius) in [(0.1, 100.0), (0.1, 1.5)] {
        let mut learner = learner(&training);
        learner.region = Region { radius: Some(radius), convexity: mu };
        let project = |theta: [f64; 3]| {
            let norm = theta.iter().map(|x| x * x).sum::<f64>().sqrt();
            theta.map(|x| if norm > radius { x * radius / norm } else { x })
        };
        let step = |theta: [f64; 3], s: f64| {
            let slope = gradient(&theta, &lambda, mu);
            let mut next = theta;
            next.iter_mut().zip(slope).for_each(|(at, slope)| *at -= slope / (mu * s));
            project(next)
        };
        let iterates: Vec<[f64; 3]> = (1..6)
            .scan([0.0; 3], |at, s| Some(std::mem::replace(at, step(*at, f64::from(s)))))
            .collect();
        let apart = |a: usize, b: usize| {
            iterates[a].iter().zip(iterates[b]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        assert!(apart(0, 1) > 0.1 && (radius < 100.0 || apart(1, 2) > 0.01), "{iterates:?}");
        for steps in 1..=5 {
            let mut player = InnerDescent::new(learner.clone(), steps as u64, None).unwrap();
            let played = player.play(&lambda).unwrap().theta().to_vec();
            for (k, found) in played.iter().enumerate() {
                let mean = iterates[..steps].iter().map(|one| one[k]).sum::<f64>() / steps as f64;
                assert!((f64::from(*found) - mean).abs() < 1e-3, "{steps} steps: {found}, {mean}");
            }
        }
    }
}
