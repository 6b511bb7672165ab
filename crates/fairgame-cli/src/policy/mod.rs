//! The settings of a training: a policy file, and flags that win over it.
//!
//! A file is read as a [`Spec`], which knows which settings there are. `--set` puts more of a file over
//! it, as TOML; every other flag changes the one setting that it is about, and nothing beside it.

mod learning;
mod tree;
mod typed;
mod words;

use std::path::Path;

use clap::{Args, ValueEnum};
use fairgame::Result;
use fairgame::train::{Recipe, Spec};
use toml::{Table, Value};

use learning::LearningArguments;
pub(crate) use typed::Typed;

use tree::{named, read, set, settings};
use words::Words;

/// A recipe by its name.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum RecipeName {
    Recommended,
    Paper,
}

impl RecipeName {
    fn recipe(self) -> Recipe {
        match self {
            RecipeName::Recommended => Recipe::Recommended,
            RecipeName::Paper => Recipe::Paper,
        }
    }
}

/// What is to hold, and of what.
#[derive(Args)]
#[command(next_help_heading = "What is to hold")]
pub(crate) struct ProblemArguments {
    /// A policy file (TOML), or @NAME for one of the paper's problems; flags win over it
    #[arg(long, value_name = "FILE")]
    policy: Option<String>,

    /// What stands where neither the policy nor a flag says: `recommended` (cross-fitting, a margin, early stopping) or
    /// `paper` (two halves, all turns) [default: recommended]
    #[arg(long, value_name = "NAME", value_parser = Words::<RecipeName>::new())]
    recipe: Option<RecipeName>,

    /// The condition that makes a row positive: 'income == ">50K"'
    #[arg(long, value_name = "EXPR")]
    label: Option<String>,

    /// What to minimise [default: error()]
    #[arg(long, value_name = "EXPR")]
    objective: Option<String>,

    /// What is to hold: 'positive_rate(each sex) >= 0.8 * positive_rate()' (repeatable); the
    /// policy's constraints are then not asked for
    #[arg(long = "constraint", value_name = "EXPR")]
    constraints: Vec<String>,

    /// Leave out groups of an `each` that have no rows, rather than refuse
    #[arg(long)]
    skip_empty_groups: bool,
}

impl ProblemArguments {
    /// What the policy says.
    fn policy(&self) -> Result<Spec> {
        let recipe = self.recipe.map(RecipeName::recipe);
        match self.policy.as_deref() {
            None => Ok(Spec::of::<&str>(recipe.unwrap_or_default(), "", &[])),
            Some(name) if name.starts_with('@') => named(name, recipe.unwrap_or_default()),
            Some(path) => read(Path::new(path), recipe),
        }
    }

    /// What the flags say instead.
    fn put(&self, spec: &mut Spec) -> Result<()> {
        if let Some(label) = &self.label {
            spec.label.clone_from(label);
        }
        if let Some(objective) = &self.objective {
            spec.objective.clone_from(objective);
        }
        if !self.constraints.is_empty() {
            spec.constraints.clone_from(&self.constraints);
        }
        spec.skip_empty_groups |= self.skip_empty_groups;
        if spec.label.is_empty() {
            return Err(settings("no label says which rows are positive")
                .help("give --label 'income == \">50K\"', or a policy that has one"));
        }
        Ok(())
    }

    /// The problem alone, with all else as the policy or the default has it.
    pub(crate) fn spec(&self) -> Result<Spec> {
        let mut spec = self.policy()?;
        self.put(&mut spec)?;
        Ok(spec)
    }
}

/// What is to be learnt, under what, and how.
#[derive(Args)]
pub(crate) struct PolicyArguments {
    #[command(flatten)]
    problem: ProblemArguments,

    /// A column that is not a feature, beside those of the policy; constraints may still speak of it
    /// (repeatable)
    #[arg(long, value_name = "COLUMN")]
    ignore: Vec<String>,

    /// The column that says how much each row counts
    #[arg(long, value_name = "COLUMN")]
    weight: Option<String>,

    /// Draws the splits, the start, the minibatches and the decisions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..1 << 63))]
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
        let mut spec = self.unchecked()?;
        self.learning.put_epsilon(&mut spec.algorithm)?;
        for (key, value) in more {
            spec = set(&spec, &Table::from_iter([((*key).to_owned(), value.clone())]))?;
        }
        spec.check()?;
        Ok(spec)
    }

    /// The same as long as nothing is to run: --epsilon is for whoever asks, and settings may be wrong.
    pub(crate) fn unchecked(&self) -> Result<Spec> {
        // --set is as if the policy had said it, of the algorithm and the model that flags may name.
        let mut spec = self.learning.choose(self.problem.policy()?)?;
        for text in &self.set {
            let place = format!("--set '{text}'");
            let given: Table = text.parse().map_err(|error: toml::de::Error| {
                settings(error.message())
                    .help("write it as in a policy file: 'model.mlp.units = 20'")
                    .at(&place)
            })?;
            if given.contains_key("recipe") {
                // What is set stands over a recipe: that comes first.
                return Err(settings("a recipe is chosen before anything is set")
                    .help("give --recipe, or have it in the policy file")
                    .at(&place));
            }
            spec = set(&spec, &given).map_err(|error| error.at(&place))?;
        }
        for column in &self.ignore {
            if !spec.encoder.ignore.contains(column) {
                spec.encoder.ignore.push(column.clone());
            }
        }
        if self.weight.is_some() {
            spec.weight.clone_from(&self.weight);
        }
        spec.seed = self.seed.unwrap_or(spec.seed);
        self.learning.put(&mut spec)?;
        self.problem.put(&mut spec)?;
        Ok(spec)
    }
}

/// A policy file that says all of what will run.
pub(crate) fn printed(spec: &Spec) -> Result<String> {
    toml::to_string_pretty(spec)
        .map_err(|error| settings(format!("the policy cannot be written: {error}")))
}
