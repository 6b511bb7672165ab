//! What runs come to: means with standard errors beside the paper's numbers, figures, bounds, and claims.

use std::collections::BTreeMap;
use std::fmt;

use fairgame::Result;
use fairgame::bounds::{self, Smoothness};
use serde::Serialize;

use crate::experiment::{Experiment, Settings, Way};
use crate::paper::{Four, printed};
use crate::run::{Came, Constants, REGION, SIGMAS, UNITS, constants, worst};
use crate::schedule::{Plan, Runs};

/// A mean over runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// Its standard error, of two runs or more.
    pub error: Option<f64>,
}

impl Mean {
    /// The mean of numbers; NaN of none.
    ///
    /// ```
    /// let mean = fairgame_paper::Mean::of(&[1.0, 2.0, 3.0]);
    /// // √(((1 + 0 + 1)/2)/3)
    /// assert_eq!((mean.mean, mean.error), (2.0, Some((1.0_f64 / 3.0).sqrt())));
    /// ```
    pub fn of(numbers: &[f64]) -> Self {
        let count = numbers.len() as f64;
        let mean = numbers.iter().sum::<f64>() / count;
        let square: f64 = numbers.iter().map(|x| (x - mean).powi(2)).sum();
        Mean { mean, error: (count > 1.0).then(|| (square / (count - 1.0) / count).sqrt()) }
    }
}

/// A number as the paper prints it: `.131`, `−.005`, `0`.
pub(crate) fn three(x: f64) -> String {
    if !x.is_finite() {
        return "–".to_owned();
    }
    let text = format!("{:.3}", x.abs());
    let digits = text.strip_prefix('0').unwrap_or(&text);
    match digits {
        ".000" => "0".to_owned(),
        digits => format!("{}{digits}", if x < 0.0 { "−" } else { "" }),
    }
}

/// As the paper prints numbers, with the standard error: `.131 ± .002`.
impl fmt::Display for Mean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&match self.error {
            Some(error) if error > 0.0 && error < 0.0005 => format!("{} ± <.001", three(self.mean)),
            Some(error) => format!("{} ± {}", three(self.mean), three(error)),
            None => three(self.mean),
        })
    }
}

/// How near a mean, before it is rounded, is to what the paper prints, which is rounded to three digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Nearness {
    /// Within .006.
    Agrees,
    /// Within .012.
    Near,
    /// Farther.
    Apart,
}

impl Nearness {
    /// What marks a number that is off.
    pub fn mark(self) -> &'static str {
        match self {
            Nearness::Agrees => "",
            Nearness::Near => "≈",
            Nearness::Apart => "≠",
        }
    }
}

/// A mean of ours beside a number of the paper's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Cell {
    /// Ours.
    pub ours: Mean,
    /// The paper's.
    pub paper: f64,
    /// How near they are.
    pub nearness: Nearness,
}

impl Cell {
    pub(crate) fn new(ours: Mean, paper: f64) -> Self {
        // Our mean as it is, and not as it is printed: a difference of .0064 is not within .006.
        let apart = (ours.mean - paper).abs();
        let nearness = match apart {
            apart if apart <= 0.006 => Nearness::Agrees,
            apart if apart <= 0.012 => Nearness::Near,
            _ => Nearness::Apart,
        };
        Cell { ours, paper, nearness }
    }
}

/// A row of the table of results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// How it was trained.
    pub way: Way,
    /// Errors and worst violations.
    pub cells: Four<Cell>,
}

/// The results on a real dataset, or on its stand-in.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// Which.
    pub experiment: Experiment,
    /// How it was trained.
    pub settings: Settings,
    /// Over so many runs.
    pub runs: usize,
    /// In the order of the paper.
    pub rows: Vec<Row>,
}

/// One curve of a figure: a mean for each σ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    /// With one dataset, or two.
    pub way: Way,
    /// On test rows, or where it was trained and enforced.
    pub test: bool,
    /// The error, by σ.
    pub error: Vec<Mean>,
    /// The constraint's violation, by σ.
    pub violation: Vec<Mean>,
}

/// A figure of simulated data: one model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// Hidden units; 0 is linear.
    pub units: usize,
    /// σ of each place in the curves.
    pub sigmas: Vec<f64>,
    /// Over so many runs.
    pub runs: usize,
    /// The four curves.
    pub curves: Vec<Curve>,
}

/// What the theorems promise for a dataset, and what was seen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Promise {
    /// Which dataset.
    pub experiment: Experiment,
    /// The constants of its problem.
    pub constants: Constants,
    /// Theorem 1: how far a constraint's loss may be from that on the validation rows.
    pub theorem_1: f64,
    /// Theorem 2: the same.
    pub theorem_2: f64,
    /// max_i |ℓ_i(test) − ℓ_i(enforced)| of Algorithm 3 with one dataset: the mean over runs.
    pub one: Mean,
    /// With two.
    pub two: Mean,
    /// The largest with two, over all runs.
    pub two_most: f64,
}

/// δ and ε that the theorems are stated with.
pub const DELTA: f64 = 0.05;
/// See [`DELTA`].
pub const EPSILON: f64 = 0.05;

/// A claim, held against our numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Claim {
    /// What is claimed.
    pub text: String,
    /// Of which experiment's runs; the text says it, too.
    #[serde(skip)]
    pub experiment: Experiment,
    /// Whether it is the paper's: of its entity resolution data it claims no advantage, and ours are others.
    pub of_paper: bool,
    /// The difference that the claim says is above 0, paired by run.
    pub difference: Mean,
    /// Whether it is: by two standard errors, or not, or too near to say.
    pub holds: Option<bool>,
}

impl Claim {
    /// A claim that `differences`, one a run, are above 0.
    fn new(experiment: Experiment, text: String, differences: &[f64]) -> Self {
        let difference = Mean::of(differences);
        let sure = 2.0 * difference.error.unwrap_or(f64::INFINITY);
        let holds = (difference.mean.abs() > sure).then_some(difference.mean > 0.0);
        // Of its entity resolution data the paper claims no advantage, and ours are others.
        let of_paper = experiment != Experiment::Entities;
        Claim { text, experiment, of_paper, difference, holds }
    }

    /// Whether it holds, in a word or two.
    pub fn verdict(&self) -> &'static str {
        match (self.holds, self.difference.error) {
            (Some(true), _) => "yes",
            (Some(false), _) => "no",
            (None, Some(_)) => "too near to say",
            (None, None) => "one run cannot say",
        }
    }
}

/// All that the experiments came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Results {
    /// Of the shape.
    pub version: u32,
    /// The seed of the first run.
    pub seed: u64,
    /// Runs of the real datasets.
    pub runs: u64,
    /// Turns, if they were cut short.
    pub turns: Option<u64>,
    /// The tables, in the order of the paper.
    pub tables: Vec<Table>,
    /// The figures, in the order of the paper.
    pub figures: Vec<Figure>,
    /// The theorems.
    pub promises: Vec<Promise>,
    /// The claims.
    pub claims: Vec<Claim>,
}

impl Results {
    /// Sums up what a plan came to.
    ///
    /// # Errors
    /// If the data of an experiment cannot be made, of which the theorems' constants are taken.
    pub fn of(plan: &Plan, runs: &BTreeMap<Experiment, Runs>) -> Result<Self> {
        let mut results = Results {
            version: 1,
            seed: plan.seed,
            runs: plan.runs,
            turns: plan.turns,
            tables: Vec::new(),
            figures: Vec::new(),
            promises: Vec::new(),
            claims: Vec::new(),
        };
        for (&experiment, runs) in runs {
            match experiment {
                Experiment::Simulated => {
                    results.figures = UNITS.iter().map(|&units| figure(units, runs)).collect();
                    results.claims.extend(simulated_claims(runs));
                }
                _ => {
                    results.tables.push(table(experiment, plan.settings(experiment), runs));
                    results.claims.extend(claims(experiment, runs));
                }
            }
            results.promises.push(promise(experiment, plan.seed, runs)?);
        }
        Ok(results)
    }
}

/// The trainings of one way, run by run.
fn of_way(runs: &Runs, case: usize, units: Option<usize>, way: Way) -> Vec<&Came> {
    let of_case = runs.iter().filter(|((one, _), _)| *one == case);
    let trained = of_case.flat_map(|(_, came)| came);
    trained.filter(|came| came.way == way && came.units == units).collect()
}

fn mean(came: &[&Came], pick: impl Fn(&Came) -> f64) -> Mean {
    Mean::of(&came.iter().map(|one| pick(one)).collect::<Vec<_>>())
}

fn table(experiment: Experiment, settings: Settings, runs: &Runs) -> Table {
    let rows = Way::ALL.into_iter().filter_map(|way| {
        let came = of_way(runs, 0, None, way);
        let paper = printed(experiment, way)?;
        let cells = Four {
            train_error: Cell::new(mean(&came, |one| one.train_error), paper.train_error),
            train_worst: Cell::new(mean(&came, |one| worst(&one.train_losses)), paper.train_worst),
            test_error: Cell::new(mean(&came, |one| one.test_error), paper.test_error),
            test_worst: Cell::new(mean(&came, |one| worst(&one.test_losses)), paper.test_worst),
        };
        Some(Row { way, cells })
    });
    Table { experiment, settings, runs: runs.len(), rows: rows.collect() }
}

fn figure(units: usize, runs: &Runs) -> Figure {
    let mut curves = Vec::new();
    for way in [Way::PracticalOne, Way::PracticalTwo] {
        for test in [false, true] {
            let by_sigma = |pick: &dyn Fn(&Came) -> f64| {
                (0..SIGMAS.len())
                    .map(|case| mean(&of_way(runs, case, Some(units), way), pick))
                    .collect()
            };
            curves.push(Curve {
                way,
                test,
                error: by_sigma(&|one| if test { one.test_error } else { one.train_error }),
                violation: by_sigma(&|one| {
                    worst(if test { &one.test_losses } else { &one.train_losses })
                }),
            });
        }
    }
    let runs = runs.keys().filter(|(case, _)| *case == 0).count();
    Figure { units, sigmas: SIGMAS.to_vec(), runs, curves }
}

/// How far the worst violation on test rows is above that where it was enforced.
fn carried(came: &Came) -> f64 {
    worst(&came.test_losses) - worst(&came.train_losses)
}

/// One number for each run, of two trainings of it.
fn paired(
    runs: &Runs,
    case: usize,
    units: Option<usize>,
    ways: [Way; 2],
    pick: impl Fn(&Came) -> f64,
) -> Vec<f64> {
    let [first, second] = ways.map(|way| of_way(runs, case, units, way));
    first.iter().zip(second).map(|(a, b)| pick(a) - pick(b)).collect()
}

fn claims(experiment: Experiment, runs: &Runs) -> Vec<Claim> {
    let title = match experiment {
        // One set of test rows, whatever the split: what holds on it need not on others.
        Experiment::Adult => "Adult, official test rows",
        _ => experiment.title(),
    };
    let algorithms = [
        ("Algorithm 3", [Way::PracticalOne, Way::PracticalTwo]),
        ("Algorithm 4", [Way::LagrangianOne, Way::LagrangianTwo]),
    ];
    let mut claims = Vec::new();
    for (algorithm, ways) in algorithms {
        claims.push(Claim::new(
            experiment,
            format!("{title}, {algorithm}: violations carry over better with two datasets"),
            &paired(runs, 0, None, ways, carried),
        ));
        claims.push(Claim::new(
            experiment,
            format!("{title}, {algorithm}: test violations are smaller with two datasets"),
            &paired(runs, 0, None, ways, |came| worst(&came.test_losses)),
        ));
        claims.push(Claim::new(
            experiment,
            format!("{title}, {algorithm}: the price is a higher test error"),
            &paired(runs, 0, None, [ways[1], ways[0]], |came| came.test_error),
        ));
    }
    claims
}

/// What the paper says of the simulated data. "Consistently" closer on test rows is held against every model and every σ;
/// that violations carry over, the price, and that wide networks gain most, against the mean over all σ.
fn simulated_claims(runs: &Runs) -> Vec<Claim> {
    let ways = [Way::PracticalOne, Way::PracticalTwo];
    let cases = SIGMAS.len();
    // One number a run: the mean over all σ.
    let over_all = |units: usize, pick: &dyn Fn(&Came) -> f64| -> Vec<f64> {
        let by_case: Vec<Vec<f64>> =
            (0..cases).map(|case| paired(runs, case, Some(units), ways, pick)).collect();
        let runs = by_case.iter().map(Vec::len).min().unwrap_or(0);
        (0..runs)
            .map(|run| by_case.iter().map(|case| case[run]).sum::<f64>() / cases as f64)
            .collect()
    };
    let test = |came: &Came| worst(&came.test_losses);
    let error = |came: &Came| -came.test_error;
    let mut claims = Vec::new();
    for units in UNITS {
        let model = model(units);
        for (case, sigma) in SIGMAS.iter().enumerate() {
            claims.push(Claim::new(
                Experiment::Simulated,
                format!(
                    "Simulated, {model}, σ = {sigma}: test violations are smaller with two datasets"
                ),
                &paired(runs, case, Some(units), ways, test),
            ));
        }
        claims.push(Claim::new(
            Experiment::Simulated,
            format!("Simulated, {model}, all σ: violations carry over better with two datasets"),
            &over_all(units, &carried),
        ));
        claims.push(Claim::new(
            Experiment::Simulated,
            format!("Simulated, {model}, all σ: the price is a higher test error"),
            &over_all(units, &error),
        ));
    }
    let (least, most) = (over_all(UNITS[0], &test), over_all(UNITS[UNITS.len() - 1], &test));
    let more: Vec<f64> = most.iter().zip(&least).map(|(most, least)| most - least).collect();
    claims.push(Claim::new(
        Experiment::Simulated,
        format!(
            "Simulated, all σ: two datasets gain more with {} units than with a linear model",
            UNITS[UNITS.len() - 1]
        ),
        &more,
    ));
    claims
}

/// A model by its hidden units.
pub(crate) fn model(units: usize) -> String {
    match units {
        0 => "linear model".to_owned(),
        units => format!("{units} hidden units"),
    }
}

fn promise(experiment: Experiment, seed: u64, runs: &Runs) -> Result<Promise> {
    let constants = constants(experiment, seed)?;
    let Constants { constraints, rows, loss, ramp, hinge, lipschitz } = constants;
    let smooth =
        Smoothness { convexity: REGION.convexity, lipschitz, loss_range: loss, proxy_size: hinge };
    let gap = |came: &&Came| {
        let pairs = came.test_losses.iter().zip(&came.train_losses);
        pairs.map(|(test, enforced)| (test - enforced).abs()).fold(0.0, f64::max)
    };
    let gaps = |way: Way| -> Vec<f64> {
        // Of simulated data, at σ = 0.5, linear.
        let (case, units) = match experiment {
            Experiment::Simulated => {
                (SIGMAS.iter().position(|&sigma| sigma == 0.5).unwrap_or(0), Some(0))
            }
            _ => (0, None),
        };
        of_way(runs, case, units, way).iter().map(gap).collect()
    };
    let two = gaps(Way::PracticalTwo);
    Ok(Promise {
        experiment,
        constants,
        theorem_1: bounds::theorem_1(constraints, rows, DELTA, EPSILON, loss, ramp),
        theorem_2: bounds::theorem_2(constraints, rows, DELTA, EPSILON, smooth),
        one: Mean::of(&gaps(Way::PracticalOne)),
        two_most: two.iter().copied().fold(0.0, f64::max),
        two: Mean::of(&two),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(mean: f64) -> Mean {
        Mean { mean, error: Some(0.001) }
    }

    /// A mean is compared as it is, not as it is printed: .1374 is printed as .137, and off .131 by .0064.
    #[test]
    fn nearness_is_of_means_before_rounding() {
        let nearness = |ours: f64, paper: f64| Cell::new(mean(ours), paper).nearness;
        assert_eq!(nearness(0.1374, 0.131), Nearness::Near);
        assert_eq!(nearness(0.1369, 0.131), Nearness::Agrees);
        assert_eq!(nearness(-0.0069, -0.001), Nearness::Agrees);
        assert_eq!(nearness(-0.0074, -0.001), Nearness::Near);
        assert_eq!(nearness(0.1429, 0.131), Nearness::Near);
        assert_eq!(nearness(0.1431, 0.131), Nearness::Apart);
        assert_eq!(nearness(0.119, 0.1311), Nearness::Apart);
        assert_eq!(nearness(f64::NAN, 0.131), Nearness::Apart);
    }

    /// A claim holds, or does not, where its difference is away from 0 by more than two standard errors.
    #[test]
    fn claims_hold_by_two_standard_errors() {
        let claim = |differences: &[f64]| {
            let claim = Claim::new(Experiment::Adult, String::new(), differences);
            assert!(claim.of_paper);
            (claim.holds, claim.verdict())
        };
        // Means ±2 with a standard error of √(1/3), which is .58.
        assert_eq!(claim(&[1.0, 2.0, 3.0]), (Some(true), "yes"));
        assert_eq!(claim(&[-1.0, -2.0, -3.0]), (Some(false), "no"));
        // A mean of 1 with the same error is within twice it.
        assert_eq!(claim(&[0.0, 1.0, 2.0]), (None, "too near to say"));
        assert_eq!(claim(&[1.0]), (None, "one run cannot say"));
        assert!(!Claim::new(Experiment::Entities, String::new(), &[1.0]).of_paper);
    }
}
