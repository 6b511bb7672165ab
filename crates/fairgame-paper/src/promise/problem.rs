//! The problems of the promise suite, chosen before any of them was run.

use fairgame::algorithm::{Algorithm, PlugIn, Practical};
use fairgame::classifier::{Margin, Selection, ShrinkSpec};
use fairgame::encode::EncoderSpec;
use fairgame::model::ModelSpec;
use fairgame::model::trees::TreesSpec;
use fairgame::preset::Preset;
use fairgame::train::Spec;
use fairgame::{Error, ErrorKind, Result, nearest};

use super::Population;

/// Hidden units of a network: the recipe's.
const UNITS: usize = 50;

/// How many turns Algorithm 3 is played: fewer than the recipe's, so that thousands of trainings fit into an hour.
pub const GAME_TURNS: u64 = 8000;

/// What is asked of a classifier, and where its rows come from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Problem {
    /// Its name.
    pub name: &'static str,
    /// What it is like, in a few words.
    pub about: &'static str,
    /// What rows are drawn from.
    pub population: Population,
    /// How many rows are drawn to train on.
    pub rows: usize,
    /// The condition that makes a row positive.
    pub label: &'static str,
    /// What is minimised.
    pub objective: &'static str,
    /// What must hold.
    pub constraints: &'static [&'static str],
    /// The column with the weight of each row, if they have one.
    pub weight: Option<&'static str>,
    /// Columns that are no features, beside the label and the weight.
    ignore: &'static [&'static str],
    /// Why a 95 % promise can be had with so many rows; `None` where that was not said beforehand.
    pub feasible: Option<&'static str>,
}

/// Why a floor of recall can always be promised.
const ALL_POSITIVE: Option<&str> =
    Some("deciding every row positive meets it, and thresholds lead there");

impl Problem {
    /// The same with so many training rows.
    ///
    /// # Errors
    /// If its rows come from a file.
    pub fn with_rows(self, rows: usize) -> Result<Problem> {
        match self.population {
            Population::Adult | Population::Compas => {
                let message = format!("problem `{}` draws its rows from a file", self.name);
                Err(Error::new(ErrorKind::Settings, message)
                    .at("--rows")
                    .help("name problems with generated rows (--problem), such as credit"))
            }
            _ => Ok(Problem { rows, ..self }),
        }
    }

    /// All of them.
    pub const ALL: [Problem; 13] = [
        Problem {
            name: "credit",
            about: "a floor of recall on skewed columns with noisy labels",
            population: Population::Credit,
            rows: 5000,
            label: "label",
            objective: "fpr()",
            constraints: &["recall() >= 0.8"],
            weight: None,
            ignore: &[],
            feasible: ALL_POSITIVE,
        },
        Problem {
            name: "neyman-pearson",
            about: "the most recall with few false positives",
            population: Population::Curved,
            rows: 3000,
            label: "label",
            objective: "fnr()",
            constraints: &["fpr() <= 0.1"],
            weight: None,
            ignore: &["old"],
            feasible: Some("deciding no row positive meets it, and thresholds lead there"),
        },
        Problem {
            name: "adult",
            about: "the 80 % rule",
            population: Population::Adult,
            rows: 4000,
            label: "income == \">50K\"",
            objective: "error()",
            constraints: &["positive_rate(each sex) >= 0.8 * positive_rate()"],
            weight: None,
            ignore: &[],
            feasible: Some("sex is a feature, so that a model can decide both sexes alike"),
        },
        Problem {
            name: "small-group",
            about: "parity of recall, with a group of 2 % of the rows",
            population: Population::Groups,
            rows: 5000,
            label: "label",
            objective: "error()",
            constraints: &["tpr(each region) >= tpr() - 0.1"],
            weight: None,
            ignore: &["weight"],
            // About 35 positive rows of the smallest group: a margin of the order of the slack.
            feasible: None,
        },
        Problem {
            name: "precision",
            about: "a floor of precision",
            population: Population::Curved,
            rows: 4000,
            label: "label",
            objective: "fnr()",
            constraints: &["precision() >= 0.7"],
            weight: None,
            ignore: &["old"],
            feasible: Some("the rows of the highest scores are positive far more often than 70 %"),
        },
        Problem {
            name: "overlap",
            about: "the 80 % rule for two attributes at once",
            population: Population::Groups,
            rows: 4000,
            label: "label",
            objective: "error()",
            constraints: &[
                "positive_rate(each sex) >= 0.8 * positive_rate()",
                "positive_rate(each age) >= 0.8 * positive_rate()",
            ],
            weight: None,
            ignore: &["weight"],
            feasible: Some("both attributes are features, so that a model can decide groups alike"),
        },
        Problem {
            name: "weighted",
            about: "floors of recall where rows have weights",
            population: Population::Groups,
            rows: 4000,
            label: "label",
            objective: "fpr()",
            constraints: &["tpr(each sex) >= 0.7"],
            weight: Some("weight"),
            ignore: &[],
            feasible: ALL_POSITIVE,
        },
        Problem {
            name: "known",
            about: "a floor of recall where the rates of every linear model are known",
            population: Population::Gaussians,
            rows: 1500,
            label: "label",
            objective: "fpr()",
            constraints: &["recall() >= 0.9"],
            weight: None,
            ignore: &[],
            feasible: ALL_POSITIVE,
        },
        Problem {
            name: "corner",
            about: "two bounds against each other: the best model meets both, the margins of both only in lucky draws",
            population: Population::Gaussians,
            rows: 1500,
            label: "label",
            objective: "error()",
            constraints: &["recall() >= 0.9", "fpr() <= 0.5"],
            weight: None,
            ignore: &[],
            feasible: None,
        },
        Problem {
            name: "compas",
            about: "false positive rates of two groups",
            population: Population::Compas,
            rows: 1500,
            label: "two_year_recid == 1",
            objective: "error()",
            constraints: &["fpr(race == \"African-American\") <= fpr(race == \"Caucasian\") + 0.1"],
            weight: None,
            ignore: &[],
            feasible: Some("the margin is about half of the slack, and race is a feature"),
        },
        Problem {
            name: "rare",
            about: "a floor of recall with 3 % positives",
            population: Population::Rare,
            rows: 6000,
            label: "label",
            objective: "fpr()",
            constraints: &["recall() >= 0.7"],
            weight: None,
            ignore: &["old"],
            feasible: ALL_POSITIVE,
        },
        Problem {
            name: "categories",
            about: "a floor of recall on columns of many rare values",
            population: Population::Categories,
            rows: 4000,
            label: "label",
            objective: "fpr()",
            constraints: &["recall() >= 0.8"],
            weight: None,
            ignore: &[],
            feasible: ALL_POSITIVE,
        },
        Problem {
            name: "churn",
            about: "few decisions other than an older model's",
            population: Population::Curved,
            rows: 3000,
            label: "label",
            objective: "error()",
            constraints: &["churn(old) <= 0.1"],
            weight: None,
            ignore: &[],
            feasible: Some("the older decision is a feature, so that a model can repeat it"),
        },
    ];

    /// The problems of these names, each once and in the order of [`Problem::ALL`]; all of them for no name.
    ///
    /// # Errors
    /// If there is none of a name.
    pub fn find<S: AsRef<str>>(names: &[S]) -> Result<Vec<Problem>> {
        let known = Problem::ALL.map(|problem| problem.name);
        for name in names.iter().map(AsRef::as_ref) {
            if !known.contains(&name) {
                let message = format!("the promise suite has no problem `{name}`");
                let error = Error::new(ErrorKind::Settings, message);
                return Err(match nearest(name, known) {
                    Some(near) => error.help(format!("did you mean `{near}`?")),
                    None => error.help(format!("the problems are {}", known.join(", "))),
                });
            }
        }
        let wanted = |problem: &Problem| {
            names.is_empty() || names.iter().any(|name| name.as_ref() == problem.name)
        };
        Ok(Problem::ALL.into_iter().filter(wanted).collect())
    }

    /// The settings of a training: the recommended recipe as it is, or with at most so many turns.
    pub(super) fn spec(&self, model: Learner, margin: Margin, turns: Option<u64>) -> Result<Spec> {
        let mut spec = Spec::new(self.label, self.constraints);
        spec.objective = self.objective.to_owned();
        spec.weight = self.weight.map(str::to_owned);
        spec.encoder = match self.population {
            Population::Adult => Preset::find("adult")?.encoder(),
            Population::Compas => Preset::find("compas")?.encoder(),
            _ => EncoderSpec {
                ignore: self.ignore.iter().map(|&name| name.to_owned()).collect(),
                ..EncoderSpec::default()
            },
        };
        spec.model = model.spec();
        let at_most = |own: u64| turns.map_or(own, |most| most.min(own));
        spec.algorithm = match model {
            Learner::Game => {
                let turns = at_most(GAME_TURNS);
                Algorithm::Practical(Practical { turns, ..Practical::default() })
            }
            _ => {
                let own = PlugIn::default();
                Algorithm::PlugIn(PlugIn { turns: at_most(own.turns), ..own })
            }
        };
        if let Selection::Shrink(shrink) = spec.selection {
            spec.selection = Selection::Shrink(ShrinkSpec { margin, ..shrink });
        }
        Ok(spec)
    }
}

/// A family of models that every problem is tried with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Learner {
    /// A weighted sum of the features.
    Linear,
    /// A network of one hidden layer.
    Mlp,
    /// Boosted trees.
    Trees,
    /// A weighted sum of the features, trained by Algorithm 3 in place of the plug-in game.
    Game,
}

impl Learner {
    /// All of them.
    pub const ALL: [Learner; 4] = [Learner::Linear, Learner::Mlp, Learner::Trees, Learner::Game];

    /// The models of these names, each once and in the order of [`Learner::ALL`]; all of them for no name.
    ///
    /// # Errors
    /// If there is none of a name.
    pub fn find<S: AsRef<str>>(names: &[S]) -> Result<Vec<Learner>> {
        let known = Learner::ALL.map(Learner::name);
        if let Some(name) = names.iter().map(AsRef::as_ref).find(|name| !known.contains(name)) {
            let message = format!("the promise suite has no model `{name}`");
            let help = format!("the models are {}", known.join(", "));
            return Err(Error::new(ErrorKind::Settings, message).help(help));
        }
        let wanted = |model: &Learner| {
            names.is_empty() || names.iter().any(|name| name.as_ref() == model.name())
        };
        Ok(Learner::ALL.into_iter().filter(wanted).collect())
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Learner::Linear => "linear",
            Learner::Mlp => "mlp",
            Learner::Trees => "trees",
            Learner::Game => "game",
        }
    }

    fn spec(self) -> ModelSpec {
        match self {
            Learner::Linear | Learner::Game => ModelSpec::Linear,
            Learner::Mlp => ModelSpec::Mlp { units: UNITS },
            Learner::Trees => ModelSpec::Trees(TreesSpec::default()),
        }
    }

    /// How many times as long a training takes as a linear one, about.
    pub(super) fn cost(self) -> f64 {
        match self {
            Learner::Linear => 1.0,
            Learner::Mlp => 3.0,
            Learner::Trees => 1.0,
            Learner::Game => 2.0,
        }
    }
}
