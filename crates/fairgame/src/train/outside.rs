//! A game whose model player is outside the library: a network of another framework, which gives scores and takes slopes.
//!
//! The library is the constraint player of Algorithm 3 or 4, and all that comes after a game. A turn, with λ what the
//! constraint player plays:
//!
//! ```text
//! θ is kept, if this turn is one of those to keep          keep(scores of train, scores of val)
//! g_r = ∂/∂f_r (λ₁·ℓ̃₀ + Σ_i λ_{i+1}·ℓ̃_i), f_r = f(x_r; θ)   slopes(rows of train, their scores)
//! λ ← the constraint player's, having seen ℓ₁ … ℓ_m        judge(rows of val, their scores)
//! θ ← a step along −Σ_r g_r·∂f_r/∂θ                        by whoever has θ
//! ```
//!
//! A kept model is known by its scores of all rows. To everything after the game it is a linear model over columns of
//! scores, with the weight 1 on its own column. So selection, verdicts, draws and files are those of any other training.

use super::training::Rows;
use super::{Data, Datasets, Played, Sheet, Spec, Trained, Training};
use crate::algorithm::Algorithm;
use crate::classifier::{Classifier, Member, View, sketch};
use crate::encode::Encoder;
use crate::game::{Ending, Kept};
use crate::model::{AnyModel, Linear, ModelSpec};
use crate::player::ConstraintPlayer;
use crate::rate::{
    LossValues, Losses, Multipliers, Pushes, Side, Surrogate, Tally, push_scores, tally_scores,
};
use crate::sample::Hypothesis;
use crate::table::{Column, Table, Values};
use crate::{Error, ErrorKind, Result, Threads};

/// Whose rows scores are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// The rows that the model player learns on.
    Train,
    /// The rows that the constraint player plays on; with one dataset, the same.
    Val,
}

/// The rows of one player, in the order of their table.
struct Hand {
    cells: Vec<u32>,
    weights: Option<Vec<f32>>,
}

/// A game whose model player is outside the library.
pub struct Outside {
    training: Training<'static>,
    /// What the model is called.
    name: String,
    train: Hand,
    val: Option<Hand>,
    constraint: Box<dyn ConstraintPlayer>,
    surrogate: Surrogate,
    turns: u64,
    turn: u64,
    sum: Multipliers,
    kept: Vec<Snapshot>,
}

/// A model that was kept.
struct Snapshot {
    turn: u64,
    lambda: Multipliers,
    /// The scores of the rows of train, and of val where they are others.
    scores: [Vec<f32>; 2],
}

/// What a game with an outside model came to.
pub struct Selected {
    /// The classifier, over columns of scores, and all about it.
    pub trained: Trained,
    /// Of each column of scores that it decides by, its name and which of the kept models gives it.
    pub columns: Vec<(String, usize)>,
}

impl Outside {
    /// A game on rows that have the label and the groups as columns; validation rows are the constraint player's.
    ///
    /// # Errors
    /// If the settings do not fit the rows, or the algorithm is not one whose model player takes steps.
    pub fn new(spec: &Spec, name: &str, data: Data<'static>, threads: &Threads) -> Result<Self> {
        let mut spec = spec.clone();
        let open = spec.algorithm == Algorithm::Auto;
        if open {
            spec.algorithm = Algorithm::default();
        }
        if spec.algorithm.constraint_player(0).is_none() {
            let message = format!(
                "the algorithm is `{}`, and a model of another library plays `practical` or `lagrangian`",
                spec.algorithm.name()
            );
            return Err(Error::new(ErrorKind::Settings, message).at("algorithm"));
        }
        // All rows of train teach, and all rows of val are the constraint player's.
        spec.datasets = if data.val.is_some() { Datasets::Given } else { Datasets::One };
        (spec.model, spec.aside, spec.plain) = (ModelSpec::Linear, 0.0, false);
        (spec.early_stop, spec.steps, spec.test_fraction) = (None, vec![1.0], 0.0);
        spec.surrogate = Some(spec.surrogate.unwrap_or(Surrogate::Hinge));
        let plan =
            spec.plan(&data.shape())?.with_threads(threads.clone()).with_open_algorithm(open);
        let data = data.divided(plan.spec())?;
        let others: Vec<_> = data.val.iter().map(Sheet::weighted).collect();
        let (bound, _) = plan.problem.bind(data.train.weighted(), &others)?;
        let training = plan.prepare(data.fitted(bound, Encoder::of_numbers(&[])?))?;
        let losses = training.enforced().compiled.losses();
        let constraints = losses.constraints();
        let unplayable =
            || Error::new(ErrorKind::Settings, "the algorithm has no constraint player");
        let (constraint, turns) =
            training.plan.spec.algorithm.constraint_player(constraints).ok_or_else(unplayable)?;
        let hand = |rows: &Rows| {
            let mut cells = vec![0; rows.count()];
            let mut weights = rows.weights.as_ref().map(|_| vec![0.0; rows.count()]);
            for (place, &row) in rows.order.iter().enumerate() {
                cells[row as usize] = rows.compiled.cells()[place];
                if let (Some(into), Some(from)) = (&mut weights, &rows.weights) {
                    into[row as usize] = from[place];
                }
            }
            Hand { cells, weights }
        };
        Ok(Outside {
            train: hand(&training.train),
            val: training.val.as_ref().map(hand),
            name: name.to_owned(),
            constraint,
            surrogate: training.plan.spec.surrogate.unwrap_or_default(),
            turns,
            turn: 0,
            sum: Multipliers { objective: 0.0, constraints: vec![0.0; constraints] },
            kept: Vec::new(),
            training,
        })
    }

    /// How many turns there are.
    pub fn turns(&self) -> u64 {
        self.turns
    }

    /// How many turns were played.
    pub fn turn(&self) -> u64 {
        self.turn
    }

    /// How many models were kept.
    pub fn kept(&self) -> usize {
        self.kept.len()
    }

    /// How many rows there are of a player.
    pub fn rows(&self, whose: Whose) -> usize {
        self.hand(whose).0.cells.len()
    }

    /// The names of the constraints.
    pub fn constraints(&self) -> Vec<&str> {
        self.training.bound.constraints().iter().map(|one| one.name()).collect()
    }

    /// λ: what the constraint player plays this turn.
    pub fn lambda(&self) -> &Multipliers {
        self.constraint.play()
    }

    /// Whether the model of this turn is one to keep.
    pub fn keeps(&self) -> bool {
        self.turn < self.turns && self.training.plan.spec.keep.keeps(self.turn + 1, self.turns)
    }

    fn hand(&self, whose: Whose) -> (&Hand, &Losses) {
        match (whose, &self.val, &self.training.val) {
            (Whose::Val, Some(hand), Some(rows)) => (hand, rows.compiled.losses()),
            _ => (&self.train, self.training.train.compiled.losses()),
        }
    }

    /// The cells and weights of rows (`None` is all of them), and how many rows each stands for.
    fn dealt(
        &self,
        whose: Whose,
        rows: Option<&[u32]>,
        scores: &[f32],
    ) -> Result<(Vec<u32>, Option<Vec<f32>>, f64)> {
        let hand = self.hand(whose).0;
        let count = hand.cells.len();
        let given = rows.map_or(count, <[u32]>::len);
        if scores.len() != given {
            let message = format!("{} scores are given for {given} rows", scores.len());
            return Err(Error::new(ErrorKind::Value, message).help("give one score for each row"));
        }
        if let Some(at) = scores.iter().position(|score| !score.is_finite()) {
            let message =
                format!("score {at} is {}, by turn {} of the game", scores[at], self.turn);
            return Err(Error::new(ErrorKind::Value, message)
                .help("training may have diverged: use a smaller learning rate"));
        }
        let Some(rows) = rows else { return Ok((hand.cells.clone(), hand.weights.clone(), 1.0)) };
        if let Some(row) = rows.iter().find(|row| **row as usize >= count) {
            let message = format!("there is no row {row}: the table has {count} rows");
            return Err(Error::new(ErrorKind::Value, message));
        }
        let cells = rows.iter().map(|&row| hand.cells[row as usize]).collect();
        let weights = hand.weights.as_ref();
        let weights = weights.map(|all| rows.iter().map(|&row| all[row as usize]).collect());
        Ok((cells, weights, count as f64 / rows.len().max(1) as f64))
    }

    /// g: the slope of the Lagrangian λ₁·ℓ̃₀ + Σ_i λ_{i+1}·ℓ̃_i in each score of rows of train; of a minibatch, as an
    /// estimate for all rows.
    ///
    /// # Errors
    /// If there is not one finite score for each row, or no such row.
    pub fn slopes(&self, rows: Option<&[u32]>, scores: &[f32]) -> Result<Vec<f32>> {
        let (mut cells, weights, scale) = self.dealt(Whose::Train, rows, scores)?;
        let losses = self.hand(Whose::Train).1;
        let mut pushes = Pushes::default();
        losses.pushes(self.lambda(), &mut pushes);
        let mut push_of = Vec::with_capacity(cells.len());
        for (at, cell) in cells.iter_mut().enumerate() {
            let mut push = losses.push(&pushes, *cell as usize);
            (push.down, push.up) = (push.down * scale as f32, push.up * scale as f32);
            push_of.push(push);
            *cell = at as u32;
        }
        let mut slopes = vec![0.0; cells.len()];
        push_scores(&cells, weights.as_deref(), scores, &push_of, self.surrogate, &mut slopes);
        Ok(slopes)
    }

    /// ℓ₀ … ℓ_m of scores, or their proxies; of a minibatch, as an estimate for all rows.
    ///
    /// # Errors
    /// If there is not one finite score for each row, or no such row.
    pub fn measure(
        &self,
        whose: Whose,
        side: Side,
        rows: Option<&[u32]>,
        scores: &[f32],
    ) -> Result<LossValues> {
        let (cells, weights, scale) = self.dealt(whose, rows, scores)?;
        let losses = self.hand(whose).1;
        let mut tally = Tally::new(losses.cells());
        let surrogate = (side == Side::Proxy).then_some(self.surrogate);
        tally_scores(&cells, weights.as_deref(), scores, surrogate, &mut tally);
        tally.scale(scale);
        Ok(match side {
            Side::Exact => losses.exact(&tally),
            Side::Proxy => losses.proxy(&tally),
        })
    }

    /// Ends the turn: the constraint player learns from scores of val, whose losses are returned.
    ///
    /// # Errors
    /// If there is not one finite score for each row, or no such row; if all turns were played.
    pub fn judge(&mut self, rows: Option<&[u32]>, scores: &[f32]) -> Result<LossValues> {
        if self.turn >= self.turns {
            let message = format!("all {} turns of the game were played", self.turns);
            return Err(Error::new(ErrorKind::Value, message).help("select, or set more turns"));
        }
        let losses = self.measure(Whose::Val, Side::Exact, rows, scores)?;
        let lambda = self.constraint.play();
        self.sum.objective += lambda.objective;
        let sums = self.sum.constraints.iter_mut().zip(&lambda.constraints);
        sums.for_each(|(sum, lambda)| *sum += lambda);
        self.constraint.learn(&losses.constraints);
        self.turn += 1;
        Ok(losses)
    }

    /// Keeps this turn's model, which gives these scores to all rows of train and, if they are others, of val.
    ///
    /// # Errors
    /// If there is not one finite score for each row.
    pub fn keep(&mut self, train: Vec<f32>, val: Option<Vec<f32>>) -> Result<()> {
        self.dealt(Whose::Train, None, &train).map_err(|error| error.at("the training rows"))?;
        let val = match (val, &self.val) {
            (Some(val), Some(_)) => {
                self.dealt(Whose::Val, None, &val)
                    .map_err(|error| error.at("the validation rows"))?;
                val
            }
            (None, None) => Vec::new(),
            (Some(_), None) => {
                let message = "scores of validation rows are given, and the game has none";
                return Err(Error::new(ErrorKind::Value, message));
            }
            (None, Some(_)) => {
                let message = "the game has validation rows, and their scores are not given";
                return Err(Error::new(ErrorKind::Value, message));
            }
        };
        let lambda = self.constraint.play().clone();
        self.kept.push(Snapshot { turn: self.turn + 1, lambda, scores: [train, val] });
        Ok(())
    }

    /// Ends the game: measures what was kept, selects the mixture, and judges it.
    ///
    /// # Errors
    /// If no model was kept.
    pub fn finish(mut self) -> Result<Selected> {
        let names: Vec<String> = (0..self.kept.len()).map(|at| format!("score{at}")).collect();
        let see = |which: usize| -> Result<Table> {
            let scores = |(name, one): (&String, &Snapshot)| {
                let numbers = one.scores[which].iter().map(|&score| f64::from(score)).collect();
                Column::new(name.clone(), Values::Number(numbers))
            };
            Table::new(names.iter().zip(&self.kept).map(scores).collect())
        };
        let training = &mut self.training;
        let encoder = Encoder::of_numbers(&names)?;
        training.train.features = vec![encoder.encode(&see(0)?)?.take(&training.train.order)];
        if let Some(val) = &mut training.val {
            val.features = vec![encoder.encode(&see(1)?)?.take(&val.order)];
        }
        let model = AnyModel::Linear(Linear::new(&training.train.features[0]));
        training.views = vec![View { encoder, model, probabilities: None }];
        training.provenance.train = training.train.provenance();
        training.provenance.val = training.val.as_ref().map(Rows::provenance);
        training.provenance.settings["model"] = serde_json::json!({ "own": { "name": self.name } });
        let mut kept = Kept::default();
        for (at, one) in self.kept.iter().enumerate() {
            let mut theta = vec![0.0; names.len() + 1];
            theta[at] = 1.0;
            kept.keep(one.turn, &Hypothesis::Theta(theta), &one.lambda);
        }
        let share = 1.0 / self.turn.max(1) as f64;
        let played = Played {
            kept,
            mean_lambda: Multipliers {
                objective: self.sum.objective * share,
                constraints: self.sum.constraints.iter().map(|sum| sum * share).collect(),
            },
            suboptimality: None,
            turn: self.turn,
            turns: self.turns,
            ending: if self.turn < self.turns { Ending::Stopped } else { Ending::Played },
            interrupted: false,
            fitted: None,
        };
        let mut trained = training.finish(&[played])?;
        let tables = (see(0)?, self.val.is_some().then(|| see(1)).transpose()?);
        let columns = keep_used(&mut trained.classifier, &names, &tables)?;
        Ok(Selected { trained, columns })
    }
}

/// Leaves out the columns of numbers that no linear model of the mixture weighs: the name and the place of each of
/// the others.
fn keep_used(
    classifier: &mut Classifier,
    names: &[String],
    (train, val): &(Table, Option<Table>),
) -> Result<Vec<(String, usize)>> {
    let weighs = |at: &usize| {
        classifier.members().iter().any(|member| member.hypothesis.theta()[*at] != 0.0)
    };
    let used: Vec<usize> = (0..names.len()).filter(weighs).collect();
    let columns: Vec<String> = used.iter().map(|&at| names[at].clone()).collect();
    let narrow = |theta: &[f32]| {
        let bias = theta.last().copied().unwrap_or(0.0);
        used.iter().map(|&at| theta[at]).chain([bias]).collect()
    };
    let members: Vec<Member> = classifier
        .members()
        .iter()
        .map(|one| Member {
            hypothesis: Hypothesis::Theta(narrow(one.hypothesis.theta())),
            ..one.clone()
        })
        .collect();
    let encoder = Encoder::of_numbers(&columns)?;
    // Rows are known again by the columns that are left.
    let train = encoder.encode(train)?;
    let val = val.as_ref().map(|val| encoder.encode(val)).transpose()?;
    let model = AnyModel::Linear(Linear::new(&train));
    let view = View { encoder, model, probabilities: None };
    classifier.replace(view, members, sketch(&train), val.as_ref().map(sketch))?;
    Ok(columns.into_iter().zip(used).collect())
}
