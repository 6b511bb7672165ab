//! Which experiments there are, and how each is trained.

use fairgame::algorithm::{Algorithm, Lagrangian, Practical, Unconstrained};
use fairgame::model::ModelSpec;
use fairgame::optimize::Optimizer;
use fairgame::player::{Start, SwapRegretSpec};
use fairgame::{Error, ErrorKind, Result, nearest};
use serde::{Deserialize, Serialize};

use crate::entities;

/// An experiment of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Experiment {
    /// Two Gaussians with radial features, overfitted on purpose.
    Simulated,
    /// Communities and Crime, a linear model.
    Communities,
    /// A stand-in for the proprietary entity resolution data, a lattice.
    Entities,
    /// Adult, a network of 50 units.
    Adult,
    /// COMPAS, a network of 50 units.
    Compas,
}

impl Experiment {
    /// All of them, in the order of the paper.
    pub const ALL: [Experiment; 5] = [
        Experiment::Simulated,
        Experiment::Communities,
        Experiment::Entities,
        Experiment::Adult,
        Experiment::Compas,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Experiment::Simulated => "simulated",
            Experiment::Communities => "communities",
            Experiment::Entities => "entities",
            Experiment::Adult => "adult",
            Experiment::Compas => "compas",
        }
    }

    /// The name in a table.
    pub fn title(self) -> &'static str {
        match self {
            Experiment::Simulated => "Simulated",
            Experiment::Communities => "Communities and Crime",
            Experiment::Entities => "Entity resolution",
            Experiment::Adult => "Adult",
            Experiment::Compas => "COMPAS",
        }
    }

    /// The experiments of these names; `all` names each of them, and so does no name.
    ///
    /// ```
    /// use fairgame_paper::Experiment;
    /// assert_eq!(Experiment::find(&["adult"])?, [Experiment::Adult]);
    /// assert_eq!(Experiment::find(&["all"])?.len(), 5);
    /// # Ok::<(), fairgame::Error>(())
    /// ```
    pub fn find<S: AsRef<str>>(names: &[S]) -> Result<Vec<Experiment>> {
        let mut wanted = Vec::new();
        for name in names.iter().map(AsRef::as_ref) {
            match Experiment::ALL.into_iter().find(|one| one.name() == name) {
                Some(one) => wanted.push(one),
                None if name == "all" => wanted.extend(Experiment::ALL),
                None => {
                    let names = Experiment::ALL.map(Experiment::name);
                    let message = format!("the paper has no experiment `{name}`");
                    let error = Error::new(ErrorKind::Settings, message);
                    let others = ["all", "beyond", "communities-grid", "promise"];
                    return Err(match nearest(name, names.into_iter().chain(others)) {
                        Some(near) => error.help(format!("did you mean `{near}`?")),
                        None => error.help(format!(
                            "there are {}, {}",
                            names.join(", "),
                            others.join(", ")
                        )),
                    });
                }
            }
        }
        if wanted.is_empty() {
            wanted.extend(Experiment::ALL);
        }
        wanted.sort();
        wanted.dedup();
        Ok(wanted)
    }
}

/// A column of the paper's table of results: an algorithm, with one dataset or two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// The objective alone, on all training rows.
    Unconstrained,
    /// Algorithm 3 with all training rows for both players.
    PracticalOne,
    /// Algorithm 3 with half of them for each player.
    PracticalTwo,
    /// Algorithm 4 with all training rows for both players.
    LagrangianOne,
    /// Algorithm 4 with half of them for each player.
    LagrangianTwo,
}

impl Way {
    /// All of them, in the order of the paper.
    pub const ALL: [Way; 5] = [
        Way::Unconstrained,
        Way::PracticalOne,
        Way::PracticalTwo,
        Way::LagrangianOne,
        Way::LagrangianTwo,
    ];

    /// The name in a table.
    pub fn title(self) -> &'static str {
        match self {
            Way::Unconstrained => "unconstrained",
            Way::PracticalOne => "Algorithm 3, one dataset",
            Way::PracticalTwo => "Algorithm 3, two datasets",
            Way::LagrangianOne => "Algorithm 4, one dataset",
            Way::LagrangianTwo => "Algorithm 4, two datasets",
        }
    }

    /// Whether the constraint player has rows of its own.
    pub fn is_two(self) -> bool {
        matches!(self, Way::PracticalTwo | Way::LagrangianTwo)
    }
}

/// How an experiment is trained. What the paper leaves open was found to fit its table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The family of models.
    pub model: ModelSpec,
    /// Turns under constraints.
    pub turns: u64,
    /// Turns without.
    pub unconstrained_turns: u64,
    /// Where the matrix of Algorithm 3 starts: by default as in the authors' library, with all weight but the floor on the
    /// objective, for every dataset.
    pub start: Start,
    /// Adam's step, for both players.
    pub step: f64,
}

impl Settings {
    /// The algorithm of a way, with all else as in the paper: Adam with its default parameters, and what it
    /// does not say: minibatches of 100 rows.
    pub(crate) fn algorithm(&self, way: Way) -> Algorithm {
        let (turns, adam) = (self.turns, Optimizer::adam(self.step));
        match way {
            Way::Unconstrained => Algorithm::Unconstrained(Unconstrained {
                turns: self.unconstrained_turns,
                model: adam,
                ..Unconstrained::default()
            }),
            Way::PracticalOne | Way::PracticalTwo => {
                let (optimizer, start) = (adam, self.start);
                let constraint = SwapRegretSpec { optimizer, start, ..SwapRegretSpec::default() };
                Algorithm::Practical(Practical {
                    turns,
                    model: adam,
                    constraint,
                    ..Practical::default()
                })
            }
            Way::LagrangianOne | Way::LagrangianTwo => {
                let (model, constraint) = (adam, adam);
                Algorithm::Lagrangian(Lagrangian {
                    turns,
                    model,
                    constraint,
                    ..Lagrangian::default()
                })
            }
        }
    }

    /// For a model of so many hidden units on simulated data, 0 for linear. Networks learn 333 rows by heart in fewer
    /// turns, each of which takes longer.
    pub(crate) fn with_units(mut self, units: usize) -> Self {
        (self.model, self.turns) = match units {
            0 => (ModelSpec::Linear, self.turns),
            _ => (ModelSpec::Mlp { units }, self.turns.div_ceil(2)),
        };
        self
    }

    /// With another start of Algorithm 3's matrix.
    #[must_use]
    pub fn starting(mut self, start: Start) -> Self {
        self.start = start;
        self
    }

    /// With at most so many turns, for a quick look.
    pub(crate) fn shortened(mut self, turns: Option<u64>) -> Self {
        if let Some(most) = turns {
            self.turns = self.turns.min(most);
            self.unconstrained_turns = self.unconstrained_turns.min(most);
        }
        self
    }
}

impl Settings {
    /// What fits the paper's table.
    pub fn of(experiment: Experiment) -> Self {
        let settings = |model, turns| Settings {
            model,
            turns,
            unconstrained_turns: turns,
            start: Start::Objective,
            step: 0.001,
        };
        match experiment {
            // With a step of .001, a constraint is not heard before 7,600 turns: log M moves by a step a turn at most.
            Experiment::Simulated => {
                Settings { step: 0.01, ..settings(ModelSpec::Linear, SIMULATED_TURNS) }
            }
            Experiment::Communities => {
                Settings { unconstrained_turns: 8_000, ..settings(ModelSpec::Linear, 50_000) }
            }
            Experiment::Entities => {
                Settings { step: entities::STEP, ..settings(entities::model(), entities::TURNS) }
            }
            Experiment::Adult => settings(ModelSpec::Mlp { units: 50 }, 110_000),
            Experiment::Compas => settings(ModelSpec::Mlp { units: 50 }, 40_000),
        }
    }
}

/// Of a linear model on simulated data; networks have fewer, see [`Settings::with_units`].
const SIMULATED_TURNS: u64 = 2_000;
