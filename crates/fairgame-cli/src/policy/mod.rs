//! The settings of a training: a policy file, and flags that win over it.
//!
//! The library declares every setting, with its flag if it has one. Here the layers are put over each other: the
//! recipe, the policy file, the flags that choose a model or an algorithm, `--set`, and all other flags.

mod file;
mod flags;
mod typed;
mod words;

use std::path::Path;

use clap::Args;
use fairgame::algorithm::Algorithm;
use fairgame::preset::Preset;
use fairgame::train::{Recipe, Spec};
use fairgame::{Error, ErrorKind, Result, rate};

pub(crate) use file::printed;
pub(crate) use flags::{Flags, Problem, Rows, Training};
use flags::{apply, is_choice, recipe};
pub(crate) use typed::Typed;

fn settings(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Settings, message)
}

/// What is to hold, and of what.
#[derive(Args)]
pub(crate) struct ProblemArguments {
    /// Policy file (TOML), or @NAME for one of the paper's problems; flags win over it
    #[arg(long, value_name = "FILE", help_heading = "Problem")]
    policy: Option<String>,

    #[command(flatten)]
    flags: Flags<Problem>,
}

impl ProblemArguments {
    /// What the policy says.
    fn policy(&self) -> Result<Spec> {
        let recipe = self.flags.text("recipe").and_then(recipe);
        match self.policy.as_deref() {
            None => Ok(Spec::of::<&str>(recipe.unwrap_or_default(), "", &[])),
            Some(name) if name.starts_with('@') => named(name, recipe.unwrap_or_default()),
            Some(path) => file::read(Path::new(path), recipe),
        }
    }

    /// What the flags say instead.
    fn put(&self, spec: &Spec) -> Result<Spec> {
        let spec = self.put_flags(spec)?;
        if spec.label.is_empty() {
            return Err(settings("no label says which rows are positive")
                .help("give --label 'income == \">50K\"', or a policy that has one"));
        }
        Ok(spec)
    }

    fn put_flags(&self, spec: &Spec) -> Result<Spec> {
        let mut flags = self.flags.typed.iter().filter(|(flag, _)| flag.name != "recipe");
        flags.try_fold(spec.clone(), |spec, flag| apply(&spec, flag))
    }

    /// The problem alone, which may have neither label nor constraints.
    pub(crate) fn spec_if_any(&self) -> Result<Spec> {
        let spec = self.put_flags(&self.policy()?)?;
        if spec.label.is_empty() && !spec.constraints.is_empty() {
            self.put(&spec)
        } else {
            Ok(spec)
        }
    }

    /// The problem alone, with all else as the policy or the default has it.
    pub(crate) fn spec(&self) -> Result<Spec> {
        self.put(&self.policy()?)
    }
}

/// One of the paper's problems; of a dataset that is shipped, with the features that the paper has.
fn named(name: &str, recipe: Recipe) -> Result<Spec> {
    let policy = rate::Policy::find(name.trim_start_matches('@'))?;
    let mut spec = Spec::of(recipe, policy.label, policy.constraints);
    spec.objective = policy.objective.to_owned();
    if let Ok(preset) = Preset::find(policy.name) {
        spec.encoder = preset.encoder();
        spec.features = preset.protected().map(str::to_owned).collect();
    }
    Ok(spec)
}

/// What is to be learnt, under what, and how.
#[derive(Args)]
pub(crate) struct PolicyArguments {
    #[command(flatten)]
    problem: ProblemArguments,

    #[command(flatten)]
    flags: Flags<Training>,

    /// Any setting of a policy file, as TOML: 'algorithm.practical.constraint.floor = 0.0' (repeatable)
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Training")]
    set: Vec<String>,
}

impl PolicyArguments {
    /// The policy file, if there is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.problem.policy.as_deref().filter(|name| !name.starts_with('@')).map(Path::new)
    }

    /// The number that a flag gives, if it was typed.
    pub(crate) fn number(&self, flag: &str) -> Result<Option<f64>> {
        let parse = |text: &str| {
            text.parse().map_err(|_| settings(format!("--{flag} {text}: this is not a number")))
        };
        self.flags.text(flag).map(parse).transpose()
    }

    /// What will run: the policy, and what the flags say instead.
    pub(crate) fn spec(&self, rows: &Flags<Rows>) -> Result<Spec> {
        let spec =
            rows.typed.iter().try_fold(self.layered(&[])?, |spec, flag| apply(&spec, flag))?;
        spec.check()?;
        Ok(spec)
    }

    /// The same without some flags, which mean something else to whoever asks; settings may be wrong.
    pub(crate) fn layered(&self, without: &[&str]) -> Result<Spec> {
        let flags = || self.typed_but(without);
        if let (Some(_), Some(model)) = (self.flags.text("score"), self.flags.text("model")) {
            return Err(settings(format!("--score and --model {model} are both given"))
                .help("give --score for the scores of another model, or --model to train one"));
        }
        let mut spec = self.chosen(without)?;
        // Other flags are about the model and the algorithm that will be used.
        spec = spec.settled();
        let mut rest: Vec<_> = flags().filter(|flag| !is_choice(flag)).collect();
        // What chooses an optimizer comes before its settings.
        rest.sort_by_key(|(flag, _)| flag.uses[0].path.len());
        for flag in rest {
            spec = apply(&spec, flag)?;
        }
        self.problem.put(&spec)
    }

    /// Whether the policy, a flag or `--set` names the algorithm.
    pub(crate) fn names_algorithm(&self) -> Result<bool> {
        Ok(self.chosen(&[])?.algorithm != Algorithm::Auto)
    }

    /// The policy with the flags that choose, and `--set`: that is as if the policy had said it, of the algorithm and the
    /// model that flags may name.
    fn chosen(&self, without: &[&str]) -> Result<Spec> {
        let mut spec = self.problem.policy()?;
        for flag in self.typed_but(without).filter(|flag| is_choice(flag)) {
            spec = apply(&spec, flag)?;
        }
        for text in &self.set {
            spec = set(&spec, text).map_err(|error| error.at(format!("--set '{text}'")))?;
        }
        Ok(spec)
    }

    /// The flags that were typed, without some.
    fn typed_but(&self, without: &[&str]) -> impl Iterator<Item = &flags::Typed> {
        self.flags.typed.iter().filter(|(flag, _)| !without.contains(&flag.name.as_str()))
    }
}

/// The settings with a piece of a policy file put over them.
fn set(spec: &Spec, text: &str) -> Result<Spec> {
    let given = file::parse(text)?;
    if given.get("recipe").is_some() {
        // What is set stands over a recipe: that comes first.
        return Err(settings("a recipe is chosen before anything is set")
            .help("give --recipe, or have it in the policy file"));
    }
    Ok(spec.over(&given)?)
}
