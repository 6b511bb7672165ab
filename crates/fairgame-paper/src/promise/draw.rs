//! One draw: rows to train on, a training, and the population's judgement of it.

use std::time::Instant;

use fairgame::classifier::Margin;
use fairgame::train::{Enforcement, Standing, Trained};
use fairgame::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

use super::judge::{Judged, judge};
use super::population::Shelf;
use super::{Learner, Problem};

/// One constraint in one draw. Values are losses: a constraint holds where its loss is at most 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Constraint {
    /// Its name.
    pub name: String,
    /// On the rows it was enforced on.
    pub enforced: f64,
    /// By how much the training expects the true value to be above that.
    pub optimism: Option<f64>,
    /// The margin that the training kept.
    pub margin: f64,
    /// What the training said of it.
    pub said: Standing,
    /// In the population.
    pub truth: f64,
    /// The standard error of `truth`, because finitely many rows judge.
    pub error: f64,
}

/// What one draw came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Draw {
    /// The objective in the population.
    pub objective: f64,
    /// The constraints, in the order of the problem.
    pub constraints: Vec<Constraint>,
    /// How long the training took, of one core.
    pub seconds: f64,
}

impl Draw {
    /// Whether every constraint is promised.
    pub fn promised(&self) -> bool {
        self.constraints.iter().all(|one| one.said == Standing::Promised)
    }

    /// Whether some constraint is said not to hold.
    pub fn violated(&self) -> bool {
        self.constraints.iter().any(|one| one.said == Standing::Violated)
    }

    /// Whether some constraint fails in the population, as far as the judging rows can tell.
    pub fn fails(&self) -> bool {
        self.constraints.iter().any(|one| one.truth > 0.0)
    }
}

/// What a training says of one constraint.
struct Statement {
    value: f64,
    optimism: Option<f64>,
    margin: f64,
    said: Standing,
}

/// What a training says of each constraint, in the order of the problem: all that is read of its statements.
fn statements(trained: &Trained) -> Vec<Statement> {
    let statement = |one: &Enforcement| Statement {
        value: one.value,
        optimism: one.optimism,
        margin: one.margin,
        said: one.standing,
    };
    trained.enforcement.iter().map(statement).collect()
}

/// One draw of a problem by one model.
pub(super) fn draw(
    problem: &Problem,
    model: Learner,
    (margin, turns): (Margin, Option<u64>),
    seed: u64,
    shelf: &Shelf,
) -> Result<Draw> {
    let (train, judging) = problem.population.draw(seed, problem.rows, shelf)?;
    let mut spec = problem.spec(model, margin, turns)?;
    spec.seed = seed;
    let start = Instant::now();
    let trained = spec.train(&train)?;
    let seconds = start.elapsed().as_secs_f64();
    let Judged { objective, constraints } = judge(&trained.classifier, &judging, problem.weight)?;
    let statements = statements(&trained);
    let named = trained.classifier.bound().constraints();
    if statements.len() != named.len() || constraints.len() != named.len() {
        return Err(Error::new(ErrorKind::Value, "the training does not speak of each constraint"));
    }
    let said = named.iter().zip(statements).zip(constraints);
    let constraints = said.map(|((named, said), (truth, error))| Constraint {
        name: named.name().to_owned(),
        enforced: said.value,
        optimism: said.optimism,
        margin: said.margin,
        said: said.said,
        truth,
        error,
    });
    Ok(Draw { objective, constraints: constraints.collect(), seconds })
}
