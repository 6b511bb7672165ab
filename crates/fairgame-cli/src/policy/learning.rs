//! Flags that say how something is learnt, and the settings they stand for.

use clap::{Args, ValueEnum};
use fairgame::Result;
use fairgame::algorithm::{
    Algorithm, Answer, Baseline, Continuous, Discrete, Lagrangian, Practical, Unconstrained,
};
use fairgame::classifier::{Margin, Selection};
use fairgame::game::Keep;
use fairgame::model::ModelSpec;
use fairgame::optimize::Optimizer;
use fairgame::train::Spec;

use super::tree::{choose, settings};
use super::words::{Words, word};

/// How it is learnt.
#[derive(Args)]
#[command(next_help_heading = "How it is learnt")]
pub(super) struct LearningArguments {
    /// The family of models
    #[arg(long, value_name = "NAME", value_parser = Words::<ModelName>::new())]
    model: Option<ModelName>,

    /// Hidden units of --model mlp [default: 50]
    #[arg(long, value_name = "N")]
    units: Option<usize>,

    /// The algorithm; of the paper's, discrete, continuous, practical and lagrangian are 1 to 4
    #[arg(long, value_name = "NAME", value_parser = Words::<AlgorithmName>::new())]
    algorithm: Option<AlgorithmName>,

    /// How many turns to play (T)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..1 << 63))]
    turns: Option<u64>,

    /// Rows in each player's minibatch
    #[arg(long, value_name = "N")]
    batch: Option<usize>,

    /// How the model moves
    #[arg(long, value_name = "NAME", value_parser = Words::<OptimizerName>::new())]
    optimizer: Option<OptimizerName>,

    /// How far the model moves at a time
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    step: Option<f64>,

    /// Try steps so many times as long, with cross-fitting, and choose by rows that were not learnt from: 0.3,1,3
    #[arg(long, value_name = "X,…", value_delimiter = ',', allow_negative_numbers = true)]
    steps: Option<Vec<f64>>,

    /// How the multipliers move
    #[arg(long, value_name = "NAME", value_parser = Words::<OptimizerName>::new())]
    constraint_optimizer: Option<OptimizerName>,

    /// How far the multipliers move at a time
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    constraint_step: Option<f64>,

    /// The ε of Theorems 1 and 2, for --algorithm discrete or continuous
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(super) epsilon: Option<f64>,

    /// What stands in for decisions where slopes are needed
    #[arg(long, value_name = "NAME", value_parser = Words::<SurrogateName>::new())]
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

    /// Stop once so many kept models in a row have not helped; 0 plays every game out
    #[arg(long, value_name = "N")]
    early_stop: Option<Option<u64>>,

    /// How much to spare: `1` standard error of each constraint, `95%` for all to hold that surely, or `none`
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = margin)]
    margin: Option<Margin>,

    /// How the classifier is made of the models that were kept
    #[arg(long, value_name = "NAME", value_parser = Words::<SelectionName>::new())]
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

impl LearningArguments {
    /// Which model, algorithm, surrogate and selection.
    pub(super) fn choose(&self, mut spec: Spec) -> Result<Spec> {
        let before = counts(&mut spec.algorithm).map(|(turns, batch)| (*turns, *batch));
        for (key, name) in [
            ("model", self.model.as_ref().map(word)),
            ("algorithm", self.algorithm.as_ref().map(word)),
            ("surrogate", self.surrogate.as_ref().map(word)),
            ("selection", self.selection.as_ref().map(word)),
        ] {
            if let Some(name) = name {
                spec = choose(&spec, key, &name)?;
            }
        }
        // Another algorithm plays as long as the one that was to be played.
        if let (Some(before), Some((turns, batch))) = (before, counts(&mut spec.algorithm)) {
            (*turns, *batch) = before;
        }
        Ok(spec)
    }

    /// Settings of those that were chosen; ε is apart.
    pub(super) fn put(&self, spec: &mut Spec) -> Result<()> {
        if let Some(given) = self.units {
            let ModelSpec::Mlp { units } = &mut spec.model else {
                return Err(settings("--units is for --model mlp").help("give both, or neither"));
            };
            *units = given;
        }
        self.put_counts(&mut spec.algorithm)?;
        self.put_steps(&mut spec.algorithm)?;
        if let Some(steps) = &self.steps {
            spec.steps.clone_from(steps);
        }
        if let Some(radius) = self.radius {
            spec.region.radius = Some(radius);
        }
        if let Some(convexity) = self.convexity {
            spec.region.convexity = convexity;
        }
        match self.keep.as_deref() {
            None => {}
            Some("every") => spec.keep = Keep::Every,
            Some(count) => {
                spec.keep = Keep::Spaced(count.parse().map_err(|_| {
                    settings(format!("--keep {count} is neither a number nor `every`"))
                })?);
            }
        }
        if let Some(given) = self.margin {
            if let Algorithm::Unconstrained(_) = spec.algorithm {
                return Err(unfit("--margin", &spec.algorithm, "those with constraints"));
            }
            let Selection::Shrink(shrink) = &mut spec.selection else {
                return Err(settings("--margin is for --selection shrink").help("give no other"));
            };
            shrink.margin = given;
        }
        match self.early_stop {
            None => {}
            Some(Some(0)) => spec.early_stop = None,
            Some(given) => {
                let patience = spec.early_stop.get_or_insert_default();
                patience.kept = given.unwrap_or(patience.kept);
            }
        }
        Ok(())
    }

    /// The ε of a theorem's algorithm.
    pub(super) fn put_epsilon(&self, algorithm: &mut Algorithm) -> Result<()> {
        let Some(given) = self.epsilon else { return Ok(()) };
        match algorithm {
            Algorithm::Discrete(Discrete { epsilon, .. })
            | Algorithm::Continuous(Continuous { epsilon, .. }) => *epsilon = given,
            other => return Err(unfit("--epsilon", other, "discrete and continuous")),
        }
        Ok(())
    }

    fn put_counts(&self, algorithm: &mut Algorithm) -> Result<()> {
        if let Some(given) = self.turns {
            match algorithm {
                Algorithm::Discrete(Discrete { turns, .. })
                | Algorithm::Continuous(Continuous { turns, .. }) => *turns = Some(given),
                Algorithm::Practical(Practical { turns, .. })
                | Algorithm::Lagrangian(Lagrangian { turns, .. })
                | Algorithm::Baseline(Baseline { turns, .. })
                | Algorithm::Unconstrained(Unconstrained { turns, .. }) => *turns = given,
            }
        }
        if let Some(given) = self.batch {
            match algorithm {
                Algorithm::Continuous(Continuous { batch, .. }) => *batch = Some(given),
                Algorithm::Practical(Practical { batch, .. })
                | Algorithm::Lagrangian(Lagrangian { batch, .. })
                | Algorithm::Baseline(Baseline { model: Answer::Descent { batch, .. }, .. })
                | Algorithm::Unconstrained(Unconstrained { batch, .. }) => *batch = given,
                Algorithm::Discrete(_) | Algorithm::Baseline(_) => {
                    let whose = "the others: an oracle sees all rows";
                    return Err(unfit("--batch", algorithm, whose));
                }
            }
        }
        Ok(())
    }

    fn put_steps(&self, algorithm: &mut Algorithm) -> Result<()> {
        if self.optimizer.is_some() || self.step.is_some() {
            match optimizers(algorithm).0 {
                Some(model) => tune(model, self.optimizer, self.step),
                None => {
                    let flag = if self.optimizer.is_some() { "--optimizer" } else { "--step" };
                    return Err(unfit(flag, algorithm, "the algorithms of one step a turn"));
                }
            }
        }
        let (how, far) = (self.constraint_optimizer, self.constraint_step);
        if how.is_none() && far.is_none() {
            return Ok(());
        }
        match algorithm {
            Algorithm::Discrete(Discrete { step, .. })
            | Algorithm::Continuous(Continuous { step, .. })
                if how.is_none() =>
            {
                *step = far;
            }
            _ => match optimizers(algorithm).1 {
                Some(constraint) => tune(constraint, how, far),
                None if how.is_some() => {
                    let whose = "practical, lagrangian and baseline";
                    return Err(unfit("--constraint-optimizer", algorithm, whose));
                }
                None => {
                    return Err(unfit("--constraint-step", algorithm, "those with constraints"));
                }
            },
        }
        Ok(())
    }
}

/// A margin as it is written: `1`, `95%`, `none`.
fn margin(text: &str) -> Result<Margin, String> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    if number(text).is_some_and(|errors| errors > 10.0) {
        return Err(format!("so many standard errors are too many; did you mean `{text}%`?"));
    }
    let found = match text.strip_suffix('%') {
        Some(percent) => number(percent).map(|percent| Margin::Confidence(percent / 100.0)),
        None if text == "none" => Some(Margin::None),
        None => number(text).map(Margin::Errors),
    };
    let wrong =
        || format!("`{text}` is neither standard errors (1) nor a confidence (95%), nor `none`");
    found.ok_or_else(wrong)
}

/// The turns and the rows in a minibatch of an algorithm that is told both.
fn counts(algorithm: &mut Algorithm) -> Option<(&mut u64, &mut usize)> {
    match algorithm {
        Algorithm::Practical(Practical { turns, batch, .. })
        | Algorithm::Lagrangian(Lagrangian { turns, batch, .. })
        | Algorithm::Baseline(Baseline { turns, model: Answer::Descent { batch, .. }, .. })
        | Algorithm::Unconstrained(Unconstrained { turns, batch, .. }) => Some((turns, batch)),
        Algorithm::Discrete(_) | Algorithm::Continuous(_) | Algorithm::Baseline(_) => None,
    }
}

fn unfit(flag: &str, algorithm: &Algorithm, whose: &str) -> fairgame::Error {
    settings(format!("{flag} is not for the algorithm {}", algorithm.name()))
        .help(format!("it is for {whose}"))
}

/// How the model moves and how the multipliers do, where it is for the user to say.
fn optimizers(algorithm: &mut Algorithm) -> (Option<&mut Optimizer>, Option<&mut Optimizer>) {
    match algorithm {
        Algorithm::Discrete(_) | Algorithm::Continuous(_) => (None, None),
        Algorithm::Practical(Practical { model, constraint, .. }) => {
            (Some(model), Some(&mut constraint.optimizer))
        }
        Algorithm::Lagrangian(Lagrangian { model, constraint, .. }) => {
            (Some(model), Some(constraint))
        }
        Algorithm::Baseline(Baseline { model, constraint, .. }) => match model {
            Answer::Oracle(_) => (None, Some(constraint)),
            Answer::Descent { optimizer, .. } => (Some(optimizer), Some(constraint)),
        },
        Algorithm::Unconstrained(Unconstrained { model, .. }) => (Some(model), None),
    }
}

/// Replaces what is said, and nothing else: another optimizer takes over the step.
fn tune(optimizer: &mut Optimizer, name: Option<OptimizerName>, given: Option<f64>) {
    *optimizer = match (*optimizer, name) {
        (Optimizer::Adam { step, .. }, Some(OptimizerName::Sgd)) => Optimizer::sgd(step),
        (Optimizer::Sgd { step }, Some(OptimizerName::Adam)) => Optimizer::adam(step),
        (same, _) => same,
    };
    let (Optimizer::Sgd { step } | Optimizer::Adam { step, .. }) = optimizer;
    *step = given.unwrap_or(*step);
}
