//! The loop: two players, turn by turn.
//!
//! ```text
//! for t in 1..=T:
//!     λ ← constraint player          its fixed point, or its multipliers
//!     θ ← model player, given λ      kept, if this turn is one of those to keep
//!     ℓ ← losses of θ on val         a minibatch of it, or all
//!     model player learns λ          on train
//!     constraint player learns ℓ
//! ```
//!
//! Every algorithm is this loop with other players ([`crate::algorithm`]). A turn is a pure function of
//! what the players save and of the seed, so a game that is saved and resumed is the same game to the bit.
//! Whoever wants to watch, stop or save a game is an [`Observer`] of it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::ControlFlow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::archive::{Archive, Arrays, Numbers};
use crate::player::{ConstraintPlayer, ModelPlayer};
use crate::random::mix;
use crate::rate::{LossValues, Multipliers, Side};
use crate::sample::{Batch, Hypothesis, Sample, Work};
use crate::settings::{Place, Wrong, declare};
use crate::{Error, ErrorKind, Result, Threads};

declare! {
    /// Which turns' models are kept; the default is that of the paper's experiments.
    #[derive(Copy, Eq)]
    pub enum Keep (default Keep::Spaced(100)) (short "a number of models, or every" spaced) {
        /// Every model.
        Every = "every",
        /// So many, evenly spaced, the last among them.
        Spaced(u64) = "spaced",
    }
}

/// A number alone is so many, evenly spaced.
fn spaced(given: &Value, at: &Place) -> Result<Option<Value>, Wrong> {
    match given {
        Value::Number(count) => Ok(Some(json!({ "spaced": count }))),
        Value::String(word) if word != "every" => {
            Err(Wrong::expected(at, "a number of models, or `every`", given))
        }
        _ => Ok(None),
    }
}

impl Keep {
    /// Whether turn `turn` of `turns`, counted from 1, is kept.
    ///
    /// ```
    /// use fairgame::game::Keep;
    /// let kept: Vec<u64> = (1..=10).filter(|&turn| Keep::Spaced(4).keeps(turn, 10)).collect();
    /// assert_eq!(kept, [3, 5, 8, 10]);
    /// ```
    pub fn keeps(self, turn: u64, turns: u64) -> bool {
        match self {
            Keep::Every => true,
            Keep::Spaced(count) => {
                let count = u128::from(count.max(1));
                let before = |turn: u64| u128::from(turn) * count / u128::from(turns.max(1));
                before(turn) > before(turn.saturating_sub(1))
            }
        }
    }
}

/// What a kept turn was like.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// The turn, from 1.
    pub turn: u64,
    /// Which of the kept models was played.
    pub model: usize,
    /// What the constraint player played.
    pub lambda: Multipliers,
}

/// The models that a game kept, each once, and the turns that it kept them at.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Kept {
    /// The models.
    pub models: Vec<Hypothesis>,
    /// The turns.
    pub moments: Vec<Moment>,
    /// Where models of a hash are among them.
    index: HashMap<u64, Vec<usize>>,
}

impl Kept {
    pub(crate) fn keep(&mut self, turn: u64, model: &Hypothesis, lambda: &Multipliers) {
        let theta = model.theta();
        let hash = theta.iter().fold(0, |hash, x| mix(hash ^ u64::from(x.to_bits())));
        let places = match self.index.entry(hash) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(Vec::new()),
        };
        let bits = |theta: &[f32], at: usize| theta[at].to_bits();
        let same = |&&place: &&usize| {
            let kept = self.models[place].theta();
            (0..theta.len()).all(|at| bits(theta, at) == bits(kept, at))
        };
        let place = places.iter().find(same).copied().unwrap_or_else(|| {
            self.models.push(model.clone());
            places.push(self.models.len() - 1);
            self.models.len() - 1
        });
        self.moments.push(Moment { turn, model: place, lambda: lambda.clone() });
    }
}

/// What the constraint player is shown of each model.
#[derive(Clone)]
pub struct Referee<'a> {
    /// The sample that constraints are measured on.
    pub val: Arc<dyn Sample + 'a>,
    /// The seed and the size of its minibatches, or `None` for all rows each turn.
    pub batch: Option<(u64, usize)>,
    /// The losses themselves, or their proxies.
    pub side: Side,
}

/// How a game ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// All turns were played.
    Played,
    /// An observer stopped it.
    Stopped,
}

/// Someone who watches a game, and may stop it.
pub trait Observer {
    /// Called after every turn.
    fn after_turn(&mut self, game: &Game<'_>) -> Result<ControlFlow<()>>;
}

/// A game between two players.
pub struct Game<'a> {
    model: Box<dyn ModelPlayer + 'a>,
    constraint: Box<dyn ConstraintPlayer + 'a>,
    referee: Referee<'a>,
    keep: Keep,
    turns: u64,
    turn: u64,
    kept: Kept,
    /// Σ_t λ⁽ᵗ⁾.
    sum: Multipliers,
    /// What was last shown to the constraint player.
    losses: LossValues,
    work: Work,
}

impl<'a> Game<'a> {
    /// A game of that many turns, by that many threads where all rows are measured.
    pub fn new(
        model: Box<dyn ModelPlayer + 'a>,
        constraint: Box<dyn ConstraintPlayer + 'a>,
        referee: Referee<'a>,
        (turns, keep): (u64, Keep),
        threads: &Threads,
    ) -> Self {
        let constraints = referee.val.losses().constraints();
        Game {
            model,
            constraint,
            referee,
            keep,
            turns: turns.max(1),
            turn: 0,
            kept: Kept::default(),
            sum: Multipliers { objective: 0.0, constraints: vec![0.0; constraints] },
            losses: LossValues::default(),
            work: Work::new(threads),
        }
    }

    /// Plays until the last turn, or until an observer stops it.
    ///
    /// Observers first see where a game that is taken up again is: it may have been saved at the very turn
    /// at which one of them stops it.
    pub fn run(&mut self, observers: &mut [&mut dyn Observer]) -> Result<Ending> {
        loop {
            if self.turn > 0 {
                for observer in &mut *observers {
                    if observer.after_turn(self)?.is_break() {
                        return Ok(Ending::Stopped);
                    }
                }
            }
            if self.turn >= self.turns {
                return Ok(Ending::Played);
            }
            self.play_turn()?;
        }
    }

    /// Plays one turn.
    pub fn play_turn(&mut self) -> Result<()> {
        let lambda = self.constraint.play();
        let model = self.model.play(lambda)?;
        self.turn += 1;
        self.sum.objective += lambda.objective;
        for (sum, lambda) in self.sum.constraints.iter_mut().zip(&lambda.constraints) {
            *sum += lambda;
        }
        if self.keep.keeps(self.turn, self.turns) {
            check_finite(model.theta(), self.turn)?;
            self.kept.keep(self.turn, model, lambda);
        }
        if !self.constraint.listens() {
            return self.model.learn(lambda);
        }
        let Referee { val, batch, side } = &self.referee;
        let batch = match *batch {
            None => Batch::All,
            Some((seed, size)) => Batch::Turn { seed, turn: self.turn - 1, size },
        };
        val.measure(model, batch, *side, &mut self.work, &mut self.losses)?;
        self.model.learn(lambda)?;
        self.constraint.learn(&self.losses.constraints);
        Ok(())
    }

    /// How many turns were played.
    pub fn turn(&self) -> u64 {
        self.turn
    }

    /// How many turns there are.
    pub fn turns(&self) -> u64 {
        self.turns
    }

    /// What was kept so far.
    pub fn kept(&self) -> &Kept {
        &self.kept
    }

    /// What the constraint player was last shown: of a minibatch, an estimate.
    pub fn losses(&self) -> &LossValues {
        &self.losses
    }

    /// λ̄: the mean of what the constraint player played.
    pub fn mean_lambda(&self) -> Multipliers {
        let share = 1.0 / self.turn.max(1) as f64;
        Multipliers {
            objective: self.sum.objective * share,
            constraints: self.sum.constraints.iter().map(|sum| sum * share).collect(),
        }
    }

    /// ρ: how far above the least possible the Lagrangian of each θ played so far is at most, where the
    /// model player can say.
    pub fn suboptimality(&self) -> Option<f64> {
        self.model.suboptimality()
    }

    /// All that the rest of the game depends on.
    ///
    /// `identity` says what game it is: settings and data. [`Game::resume`] takes up no other.
    pub fn save(&self, identity: &str) -> Result<Archive> {
        let mut arrays = Arrays::default();
        arrays.put_part("model", self.model.save());
        arrays.put_part("constraint", self.constraint.save());
        arrays.put("sum", Numbers::F64(flat([&self.sum])));
        let shown = std::iter::once(self.losses.objective).chain(self.losses.constraints.clone());
        arrays.put("losses", Numbers::F64(shown.collect()));
        let thetas = self.kept.models.iter().flat_map(|model| model.theta().iter().copied());
        arrays.put("thetas", Numbers::F32(thetas.collect()));
        let moments = &self.kept.moments;
        let number = |pick: fn(&Moment) -> u64| Numbers::U64(moments.iter().map(pick).collect());
        arrays.put("moment.turn", number(|moment| moment.turn));
        arrays.put("moment.theta", number(|moment| moment.model as u64));
        arrays
            .put("moment.lambda", Numbers::F64(flat(moments.iter().map(|moment| &moment.lambda))));
        let header = Header {
            identity: identity.to_owned(),
            turn: self.turn,
            turns: self.turns,
            thetas: self.kept.models.len(),
            params: self.kept.models.first().map_or(0, |model| model.theta().len()),
            moments: moments.len(),
        };
        let header = serde_json::to_string(&header).map_err(|error| {
            Error::new(ErrorKind::Format, format!("cannot be written: {error}"))
        })?;
        Ok(Archive { what: WHAT.to_owned(), header, arrays })
    }

    /// Takes up a game where [`Game::save`] left it.
    ///
    /// Refuses a checkpoint of another game; then nothing is changed but this game, which is not to be
    /// played on.
    pub fn resume(&mut self, archive: Archive, identity: &str) -> Result<()> {
        let broken = |why: &str| {
            Error::new(ErrorKind::Format, format!("this checkpoint cannot be resumed: {why}"))
        };
        let header: Header =
            serde_json::from_str(&archive.header).map_err(|error| broken(&error.to_string()))?;
        if header.identity != identity || header.turns != self.turns {
            return Err(broken("it is of other settings or other data")
                .help("resume with the settings and data it was made with, or start anew"));
        }
        let mut arrays = archive.arrays;
        self.model.load(arrays.take_part("model"))?;
        self.constraint.load(arrays.take_part("constraint"))?;
        let (size, params) = (self.sum.constraints.len() + 1, header.params);
        let product = |a: usize, b: usize| a.checked_mul(b).ok_or_else(|| broken("its sizes"));
        self.sum = unflat(&arrays.take_f64("sum", size)?);
        // A constraint player that does not listen was shown nothing.
        let shown = if self.constraint.listens() && header.turn > 0 { size } else { 1 };
        let losses = arrays.take_f64("losses", shown)?;
        self.losses = LossValues { objective: losses[0], constraints: losses[1..].to_vec() };
        let thetas = arrays.take_f32("thetas", product(header.thetas, params)?)?;
        let turns = arrays.take_u64("moment.turn", header.moments)?;
        let places = arrays.take_u64("moment.theta", header.moments)?;
        let lambdas = arrays.take_f64("moment.lambda", product(header.moments, size)?)?;
        let thetas: Vec<&[f32]> = thetas.chunks_exact(params.max(1)).collect();
        self.kept = Kept::default();
        for ((turn, place), lambda) in turns.into_iter().zip(places).zip(lambdas.chunks(size)) {
            let theta = usize::try_from(place).ok().and_then(|place| thetas.get(place));
            let theta = theta.ok_or_else(|| broken("a model is missing"))?;
            self.kept.keep(turn, &Hypothesis::Theta(theta.to_vec()), &unflat(lambda));
        }
        self.turn = header.turn;
        Ok(())
    }
}

/// What an [`Archive`] of a game is called.
pub const WHAT: &str = "checkpoint";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    identity: String,
    turn: u64,
    turns: u64,
    thetas: usize,
    params: usize,
    moments: usize,
}

fn flat<'b>(all: impl IntoIterator<Item = &'b Multipliers>) -> Vec<f64> {
    let one =
        |m: &'b Multipliers| std::iter::once(m.objective).chain(m.constraints.iter().copied());
    all.into_iter().flat_map(one).collect()
}

fn unflat(lambda: &[f64]) -> Multipliers {
    Multipliers { objective: lambda[0], constraints: lambda[1..].to_vec() }
}

fn check_finite(theta: &[f32], turn: u64) -> Result<()> {
    if theta.iter().all(|parameter| parameter.is_finite()) {
        return Ok(());
    }
    let message = format!("training diverged: by turn {turn} a parameter is not a finite number");
    Err(Error::new(ErrorKind::Settings, message)
        .help("use a smaller step, or standardise the numbers"))
}
