//! The settings of a training: a policy file, and flags that win over it.
//!
//! Flags and file meet as TOML tables, before either means anything; what they come to is one
//! [`Spec`], which knows which keys there are.

use std::fs;
use std::path::Path;

use clap::{Args, ValueEnum};
use fairgame::rate;
use fairgame::train::Spec;
use fairgame::{Error, ErrorKind, Result};
use toml::{Table, Value};

/// What is to hold, and of what.
#[derive(Args)]
#[command(next_help_heading = "What is to hold")]
pub(crate) struct ProblemArguments {
    /// A policy file (TOML), or @NAME for one of the paper's problems; flags win over it
    #[arg(long, value_name = "FILE")]
    policy: Option<String>,

    /// The condition that makes a row positive: 'income == ">50K"'
    #[arg(long, value_name = "EXPR")]
    label: Option<String>,

    /// What to minimise [default: error()]
    #[arg(long, value_name = "EXPR")]
    objective: Option<String>,

    /// What is to hold: 'positive_rate(each sex) >= 0.8 * positive_rate()' (repeatable)
    #[arg(long = "constraint", value_name = "EXPR")]
    constraints: Vec<String>,

    /// Leave out groups of an `each` that have no rows, rather than refuse
    #[arg(long)]
    skip_empty_groups: bool,
}

impl ProblemArguments {
    /// What the policy says, and the flags instead of it.
    fn table(&self) -> Result<Table> {
        let mut table = match self.policy.as_deref() {
            None => Table::new(),
            Some(name) if name.starts_with('@') => named(name)?,
            Some(path) => read(Path::new(path))?,
        };
        let text = |text: &String| Value::String(text.clone());
        if let Some(label) = &self.label {
            put(&mut table, "label", text(label))?;
        }
        if let Some(objective) = &self.objective {
            put(&mut table, "objective", text(objective))?;
        }
        if !self.constraints.is_empty() {
            let constraints = self.constraints.iter().map(text).collect::<Vec<_>>();
            put(&mut table, "constraints", constraints.into())?;
        }
        if self.skip_empty_groups {
            put(&mut table, "skip_empty_groups", true.into())?;
        }
        Ok(table)
    }

    /// The problem alone, with all else as the policy or the default has it.
    pub(crate) fn spec(&self) -> Result<Spec> {
        spec(self.table()?)
    }
}

/// What is to be learnt, under what, and how.
#[derive(Args)]
pub(crate) struct PolicyArguments {
    #[command(flatten)]
    problem: ProblemArguments,

    /// A column that is not a feature; constraints may still speak of it (repeatable)
    #[arg(long, value_name = "COLUMN")]
    ignore: Vec<String>,

    /// The column that says how much each row counts
    #[arg(long, value_name = "COLUMN")]
    weight: Option<String>,

    /// Draws the splits, the start, the minibatches and the decisions
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    #[command(flatten)]
    learning: LearningArguments,

    /// Any setting of a policy file, as TOML: 'algorithm.practical.constraint.floor = 0.0' (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

/// How it is learnt.
#[derive(Args)]
#[command(next_help_heading = "How it is learnt")]
struct LearningArguments {
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
    epsilon: Option<f64>,

    /// What stands in for decisions where slopes are needed
    #[arg(long, value_name = "NAME")]
    surrogate: Option<SurrogateName>,

    /// Hold the parameters within a ball of this radius
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    radius: Option<f64>,

    /// Add (X/2)·‖θ‖² to the loss
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    convexity: Option<f64>,

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

impl PolicyArguments {
    /// ε, if a flag gives it.
    pub(crate) fn epsilon(&self) -> Option<f64> {
        self.learning.epsilon
    }

    /// μ, if a flag gives it.
    pub(crate) fn convexity(&self) -> Option<f64> {
        self.learning.convexity
    }

    /// What will run: the policy, and what the flags say instead; `more` is what other flags add.
    pub(crate) fn spec(&self, more: &[(&str, Value)]) -> Result<Spec> {
        self.spec_for("practical", more)
    }

    /// The same, where another algorithm is meant unless one is named.
    pub(crate) fn spec_for(&self, algorithm: &str, more: &[(&str, Value)]) -> Result<Spec> {
        let mut table = self.problem.table()?;
        self.put(&mut table)?;
        self.learning.put(&mut table, algorithm)?;
        for (key, value) in more {
            put(&mut table, key, value.clone())?;
        }
        for text in &self.set {
            let given: Table = text.parse().map_err(|error: toml::de::Error| {
                settings(format!("--set '{text}': {}", error.message()))
                    .help("write it as in a policy file: 'model.mlp.units = 20'")
            })?;
            merge(&mut table, given);
        }
        spec(table)
    }

    fn put(&self, table: &mut Table) -> Result<()> {
        let text = |text: &String| Value::String(text.clone());
        if !self.ignore.is_empty() {
            put(table, "encoder.ignore", self.ignore.iter().map(text).collect::<Vec<_>>().into())?;
        }
        if let Some(weight) = &self.weight {
            put(table, "weight", text(weight))?;
        }
        if let Some(seed) = self.seed {
            put(table, "seed", whole(seed, "--seed")?)?;
        }
        Ok(())
    }
}

impl LearningArguments {
    fn put(&self, table: &mut Table, algorithm: &str) -> Result<()> {
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

/// TOML's whole numbers have a sign.
fn whole(number: u64, flag: &str) -> Result<Value> {
    i64::try_from(number)
        .map(Value::Integer)
        .map_err(|_| settings(format!("{flag} {number} is too large")).help("give less than 2^63"))
}

fn settings(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Settings, message)
}

/// Puts a value under a dotted key.
fn put(table: &mut Table, key: &str, value: Value) -> Result<()> {
    match key.split_once('.') {
        None => {
            table.insert(key.to_owned(), value);
            Ok(())
        }
        Some((first, rest)) => {
            let inner = table.entry(first).or_insert_with(|| Value::Table(Table::new()));
            // A word such as `linear` gives way to a table of settings.
            if !inner.is_table() {
                *inner = Value::Table(Table::new());
            }
            match inner {
                Value::Table(inner) => put(inner, rest, value),
                _ => Err(settings(format!("`{first}` has no settings of its own"))),
            }
        }
    }
}

/// Puts all of `given` over what is there, table by table.
fn merge(table: &mut Table, given: Table) {
    for (key, value) in given {
        match (table.get_mut(&key), value) {
            (Some(Value::Table(inner)), Value::Table(given)) => merge(inner, given),
            (_, value) => {
                table.insert(key, value);
            }
        }
    }
}

/// One of the paper's problems.
fn named(name: &str) -> Result<Table> {
    let policy = rate::Policy::find(name.trim_start_matches('@'))?;
    let mut table = Table::new();
    table.insert("label".to_owned(), policy.label.into());
    table.insert("objective".to_owned(), policy.objective.into());
    let constraints: Vec<Value> = policy.constraints.iter().map(|&text| text.into()).collect();
    table.insert("constraints".to_owned(), constraints.into());
    Ok(table)
}

fn read(path: &Path) -> Result<Table> {
    let text = fs::read_to_string(path).map_err(|error| {
        Error::new(ErrorKind::Io, format!("the policy cannot be read: {error}"))
            .help("give a TOML file, or @NAME for one of the paper's problems")
            .at(path.display())
    })?;
    text.parse().map_err(|error: toml::de::Error| {
        let message = format!("the policy is not TOML: {}", error.message());
        let failed = Error::new(ErrorKind::Syntax, message);
        match error.span() {
            Some(span) => {
                let line = text[..span.start.min(text.len())].matches('\n').count() + 1;
                failed.at(format!("line {line}")).at(path.display())
            }
            None => failed.at(path.display()),
        }
    })
}

/// The settings that a table holds.
fn spec(table: Table) -> Result<Spec> {
    if !table.contains_key("label") {
        return Err(settings("no label says which rows are positive")
            .help("give --label 'income == \">50K\"', or a policy that has one"));
    }
    Value::Table(table).try_into().map_err(|error: toml::de::Error| {
        let message = error.to_string();
        settings(format!("the policy has a setting that cannot be: {}", message.trim()))
            .help("`--print-policy` without it shows every setting there is")
    })
}

/// A policy file that says all of what will run.
pub(crate) fn printed(spec: &Spec) -> Result<String> {
    toml::to_string_pretty(spec)
        .map_err(|error| settings(format!("the policy cannot be written: {error}")))
}
