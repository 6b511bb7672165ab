//! The settings of a training: a policy file, and flags that win over it.
//!
//! Flags and file meet as TOML tables, before either means anything; what they come to is one
//! [`Spec`], which knows which keys there are.

mod learning;
mod tree;

use std::path::Path;

use clap::Args;
use fairgame::Result;
use fairgame::train::Spec;
use toml::{Table, Value};

use learning::LearningArguments;
use tree::{merge, named, put, read, settings, whole};

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

impl PolicyArguments {
    /// The policy file, if there is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.problem.policy.as_deref().filter(|name| !name.starts_with('@')).map(Path::new)
    }

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
