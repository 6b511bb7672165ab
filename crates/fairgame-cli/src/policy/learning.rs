//! Flags that say how something is learnt, and the settings they stand for.

use clap::{Args, ValueEnum};
use fairgame::Result;
use toml::{Table, Value};

use super::tree::{put, settings, whole};

/// How it is learnt.
#[derive(Args)]
#[command(next_help_heading = "How it is learnt")]
pub(super) struct LearningArguments {
    /// The family of models
    #[arg(long, value_name = "NAME")]
    model: Option<ModelName>,

    /// Hidden units of --model mlp [default: 50]
    #[arg(long, value_name = "N")]
    units: Option<u64>,

    /// The algorithm; of the paper's, discrete, continuous, practical and lagrangian are 1 to 4
    #[arg(long, value_name = "NAME")]
    algorithm: Option<AlgorithmName>,

    /// How many turns to play (T)
    #[arg(long, value_name = "N")]
    turns: Option<u64>,

    /// Rows in each player's minibatch
    #[arg(long, value_name = "N")]
    batch: Option<u64>,

    /// How the model moves
    #[arg(long, value_name = "NAME")]
    optimizer: Option<OptimizerName>,

    /// How far the model moves at a time
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    step: Option<f64>,

    /// How the multipliers move
    #[arg(long, value_name = "NAME")]
    constraint_optimizer: Option<OptimizerName>,

    /// How far the multipliers move at a time
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    constraint_step: Option<f64>,

    /// The ε of Theorems 1 and 2, for --algorithm discrete or continuous
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(super) epsilon: Option<f64>,

    /// What stands in for decisions where slopes are needed
    #[arg(long, value_name = "NAME")]
    surrogate: Option<SurrogateName>,

    /// Hold the parameters within a ball of this radius
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    radius: Option<f64>,

    /// Add (X/2)·‖θ‖² to the loss
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(super) convexity: Option<f64>,

    /// How many models to keep, evenly spaced, or `every`
    #[arg(long, value_name = "N")]
    keep: Option<String>,

    /// Stop once so many kept models in a row have not helped
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "20")]
    early_stop: Option<u64>,

    /// How the classifier is made of the models that were kept
    #[arg(long, value_name = "NAME")]
    selection: Option<SelectionName>,
}

#[derive(Clone, Copy, ValueEnum)]
enum ModelName {
    /// A weighted sum of the features
    Linear,
    /// One hidden layer of rectified linear units
    Mlp,
    /// An ensemble of calibrated lattices
    Lattice,
}

#[derive(Clone, Copy, ValueEnum)]
enum AlgorithmName {
    /// An oracle on a covering, against swap regret (Theorem 1)
    Discrete,
    /// Averaged descent, against swap regret (Theorem 2)
    Continuous,
    /// One step a turn, against swap regret: the one to use
    Practical,
    /// One step a turn, against ascent on Lagrange multipliers
    Lagrangian,
    /// The Lagrangian with bounded multipliers
    Baseline,
    /// The objective alone
    Unconstrained,
}

#[derive(Clone, Copy, ValueEnum)]
enum OptimizerName {
    /// Adam
    Adam,
    /// Plain steps
    Sgd,
}

#[derive(Clone, Copy, ValueEnum)]
enum SurrogateName {
    /// max(0, 1 + f)
    Hinge,
    /// log₂(1 + eᶠ)
    Logistic,
    /// 1/(1 + e⁻ᶠ): no upper bound
    Sigmoid,
    /// min(1, max(0, 1 + f)): not convex
    Ramp,
}

#[derive(Clone, Copy, ValueEnum)]
enum SelectionName {
    /// The best mixture of at most one more model than there are constraints
    Shrink,
    /// Each model as often as the objective counted when it was played
    Theorem,
    /// Each model as often as any other
    Uniform,
    /// The last model
    Last,
    /// The best single model, by rank
    Best,
}

/// The word that a flag's value is written with.
fn word(value: impl ValueEnum) -> String {
    value.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
}

impl LearningArguments {
    pub(super) fn put(&self, table: &mut Table, algorithm: &str) -> Result<()> {
        match (self.model, self.units) {
            (Some(ModelName::Mlp), units) => {
                put(table, "model", one("mlp", "units", whole(units.unwrap_or(50), "--units")?))?;
            }
            (None, Some(units)) => {
                if table.get("model").is_none_or(|model| model.get("mlp").is_none()) {
                    return Err(settings("--units is for --model mlp").help("give --model mlp"));
                }
                put(table, "model", one("mlp", "units", whole(units, "--units")?))?;
            }
            (Some(name), None) => put(table, "model", word(name).into())?,
            (Some(_), Some(_)) => {
                return Err(settings("--units is for --model mlp").help("leave it out"));
            }
            (None, None) => {}
        }
        self.put_algorithm(table, algorithm)?;
        if let Some(surrogate) = self.surrogate {
            put(table, "surrogate", word(surrogate).into())?;
        }
        if let Some(radius) = self.radius {
            put(table, "region.radius", radius.into())?;
        }
        if let Some(convexity) = self.convexity {
            put(table, "region.convexity", convexity.into())?;
        }
        match self.keep.as_deref() {
            None => {}
            Some("every") => put(table, "keep", "every".into())?,
            Some(count) => {
                let count: u64 = count.parse().map_err(|_| {
                    settings(format!("--keep {count} is neither a number nor `every`"))
                })?;
                let mut keep = Table::new();
                keep.insert("spaced".to_owned(), whole(count, "--keep")?);
                put(table, "keep", Value::Table(keep))?;
            }
        }
        if let Some(kept) = self.early_stop {
            put(table, "early_stop.kept", whole(kept, "--early-stop")?)?;
        }
        match self.selection {
            None => {}
            // What the policy says of shrinking stays.
            Some(SelectionName::Shrink)
                if table.get("selection").is_some_and(|s| s.get("shrink").is_some()) => {}
            Some(other) => put(table, "selection", word(other).into())?,
        }
        Ok(())
    }

    fn put_algorithm(&self, table: &mut Table, default: &str) -> Result<()> {
        let found = table.get("algorithm").and_then(Value::as_table).and_then(|t| t.keys().next());
        let name = match (self.algorithm, found) {
            (Some(name), _) => word(name),
            (None, Some(name)) => name.clone(),
            (None, None) => default.to_owned(),
        };
        let mut algorithm = match table.get("algorithm").and_then(|all| all.get(&name)) {
            Some(Value::Table(settings)) => settings.clone(),
            _ => Table::new(),
        };
        let steps = matches!(name.as_str(), "practical" | "lagrangian" | "unconstrained");
        let theory = matches!(name.as_str(), "discrete" | "continuous");
        let unfit = |flag: &str, names: &str| {
            Err(settings(format!("{flag} is not for --algorithm {name}"))
                .help(format!("it is for {names}")))
        };
        if let Some(turns) = self.turns {
            put(&mut algorithm, "turns", whole(turns, "--turns")?)?;
        }
        if let Some(batch) = self.batch {
            let batch = whole(batch, "--batch")?;
            match name.as_str() {
                "discrete" => return unfit("--batch", "the others: an oracle sees all rows"),
                "baseline" => put(&mut algorithm, "model.descent.batch", batch)?,
                _ => put(&mut algorithm, "batch", batch)?,
            }
        }
        if let Some(epsilon) = self.epsilon {
            if !theory {
                return unfit("--epsilon", "discrete and continuous");
            }
            put(&mut algorithm, "epsilon", epsilon.into())?;
        }
        let model = optimizer(self.optimizer, self.step);
        if let Some(optimizer) = model {
            match name.as_str() {
                "baseline" => put(&mut algorithm, "model.descent.optimizer", optimizer)?,
                _ if steps => put(&mut algorithm, "model", optimizer)?,
                _ => return unfit("--optimizer and --step", "the algorithms of one step a turn"),
            }
        }
        match (name.as_str(), self.constraint_optimizer, self.constraint_step) {
            (_, None, None) => {}
            ("discrete" | "continuous", None, Some(step)) => {
                put(&mut algorithm, "step", step.into())?;
            }
            ("practical", how, step) => {
                if let Some(optimizer) = optimizer(how, step) {
                    put(&mut algorithm, "constraint.optimizer", optimizer)?;
                }
            }
            ("lagrangian" | "baseline", how, step) => {
                if let Some(optimizer) = optimizer(how, step) {
                    put(&mut algorithm, "constraint", optimizer)?;
                }
            }
            _ => return unfit("--constraint-optimizer and --constraint-step", "those with both"),
        }
        // What the baseline's descent is not told stays as it is by default.
        if let Some(Value::Table(descent)) =
            algorithm.get_mut("model").and_then(|model| model.get_mut("descent"))
        {
            descent.entry("batch").or_insert(Value::Integer(100));
            if !descent.contains_key("optimizer") {
                descent.insert("optimizer".to_owned(), one("adam", "step", 1e-3.into()));
            }
        }
        let mut all = Table::new();
        all.insert(name, Value::Table(algorithm));
        put(table, "algorithm", Value::Table(all))
    }
}

fn optimizer(name: Option<OptimizerName>, step: Option<f64>) -> Option<Value> {
    if name.is_none() && step.is_none() {
        return None;
    }
    let step = Value::Float(step.unwrap_or(1e-3));
    Some(match name {
        Some(OptimizerName::Sgd) => one("sgd", "step", step),
        _ => one("adam", "step", step),
    })
}

/// `{ outer = { inner = value } }`
fn one(outer: &str, inner: &str, value: Value) -> Value {
    let mut inside = Table::new();
    inside.insert(inner.to_owned(), value);
    let mut table = Table::new();
    table.insert(outer.to_owned(), Value::Table(inside));
    Value::Table(table)
}
