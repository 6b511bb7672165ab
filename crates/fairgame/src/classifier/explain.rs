//! Why one row is decided as it is: the members of the mixture, their scores and thresholds, and what each column adds.
//!
//! Contributions are Shapley values, relative to other rows. For a function f of columns, a row x and another row z, the
//! contribution of column c is the mean, over all orders of the columns, of how much f changes when c is switched from its
//! value in z to that in x. Over all columns they add up to f(x) − f(z), and they are averaged over the other rows.
//!
//! - **Linear models** add up what each column adds, so the contribution is what c adds in x less what it adds in z.
//! - **Trees** are exact, too (Lundberg et al. 2020, the interventional form): a leaf is reached if the columns in a set X are
//!   those of x and the columns in a set Z those of z. Its value v adds v·(|X| − 1)!·|Z|!/(|X| + |Z|)! to each column of X,
//!   and takes v·|X|!·(|Z| − 1)!/(|X| + |Z|)! from each of Z. A walk that follows both rows finds these leaves.
//! - **Networks** and lattices have no such sum, and no contributions.
//!
//! In the plug-in game f is the calibrated log-odds of a probability, averaged over the folds by their weights, since rules
//! decide by the probability. In games of turns it is the mean score of the mixture.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::view::LogOdds;
use super::{Blend, Classifier, Draw, Prediction, View};
use crate::encode::{Features, Input};
use crate::model::trees::{Bins, Forest};
use crate::model::{AnyModel, Scorer};
use crate::table::Table;
use crate::{Error, ErrorKind, Result, Threads};

/// Why a row is decided as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// The decision.
    pub positive: bool,
    /// How the folds of a column decide together.
    pub blend: Deciding,
    /// The chance of a positive decision.
    pub probability: f64,
    /// The mean score above the thresholds.
    pub score: f64,
    /// In the plug-in game, what each probability of a member is of, in the language; `null` where no short condition says
    /// it.
    pub conditions: Vec<Option<String>>,
    /// The members of the mixture.
    pub members: Vec<MemberExplanation>,
    /// What each column adds; empty where a model has no exact contributions.
    pub contributions: Vec<Contributions>,
    /// How many other rows the row is compared with.
    pub background: usize,
}

/// What decides in a column of the mixture, which has a member for each fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deciding {
    /// One member, drawn with its weight ([`Blend::Draw`]).
    Fold,
    /// The mean over the folds of the scores above their thresholds, by weight ([`Blend::Mean`]).
    Mean,
}

/// What a member says of a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemberExplanation {
    /// How likely it is drawn.
    pub weight: f64,
    /// The column of the mixture that it is of.
    pub column: usize,
    /// The fold whose encoder and models it decides by.
    pub view: usize,
    /// Its score; above `threshold` it decides positive.
    pub score: f64,
    /// The threshold.
    pub threshold: f64,
    /// Whether its score is above the threshold. Where the mean of the folds decides, the row may be decided otherwise.
    pub positive: bool,
    /// In the plug-in game, the probabilities that its rule decides by.
    pub probabilities: Vec<f64>,
    /// Where its rule is a threshold on one probability: it decides positive above this, or below where `below` says so.
    pub cut: Option<f64>,
    /// Whether it decides positive below the cut.
    pub below: bool,
}

/// What each column adds to a sum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contributions {
    /// Of what: `score`, or `log-odds`.
    pub of: String,
    /// The place of the probability that these are the log-odds of, among those of each member.
    pub probability: Option<usize>,
    /// The mean over the other rows. Log-odds are averaged over the folds first.
    pub base: f64,
    /// Of the row: `base` and all contributions together.
    pub value: f64,
    /// Each column, the one that adds or takes most first.
    pub columns: Vec<ColumnContribution>,
}

/// What a column adds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ColumnContribution {
    /// The column.
    pub column: String,
    /// What it adds.
    pub contribution: f64,
}

/// A sum over columns: what it is of the row, its mean over the others, and what each column adds.
#[derive(Default)]
struct Sum {
    value: f64,
    base: f64,
    columns: BTreeMap<String, f64>,
}

impl Sum {
    fn add(&mut self, weight: f64, other: &Sum) {
        self.value += weight * other.value;
        self.base += weight * other.base;
        for (column, by) in &other.columns {
            *self.columns.entry(column.clone()).or_default() += weight * by;
        }
    }

    /// What it is of: the log-odds of a probability, or a score.
    fn finish(self, probability: Option<usize>) -> Contributions {
        let of = if probability.is_some() { "log-odds" } else { "score" }.to_owned();
        let one = |(column, contribution)| ColumnContribution { column, contribution };
        let mut columns: Vec<ColumnContribution> = self.columns.into_iter().map(one).collect();
        columns.sort_by(|a, b| b.contribution.abs().total_cmp(&a.contribution.abs()));
        Contributions { of, probability, base: self.base, value: self.value, columns }
    }
}

/// A row is compared with so many others, unless it is said with which.
const OTHERS: usize = 100;

/// Up to 100 rows to compare a row with, spread evenly over a table without the row itself; `None` where there is no other.
pub fn other_rows(table: &Table, own: Option<usize>) -> Option<Table> {
    let own = own.filter(|own| *own < table.rows());
    let rows = table.rows() - usize::from(own.is_some());
    let count = rows.min(OTHERS);
    let places = (0..count).map(|at| at * rows / count);
    let places = places.map(|at| at + usize::from(own.is_some_and(|own| at >= own)));
    (count > 0).then(|| table.take(&places.collect::<Vec<_>>()))
}

impl Classifier {
    /// Why the only row of a table is decided as it is, in comparison with other rows. `draw` is as of
    /// [`predict`](Classifier::predict): with the same one, the decision is the same.
    ///
    /// # Errors
    /// If the table has not one row, if there is no other, if a table lacks a column of the features, or if there is not one
    /// key.
    pub fn explain(&self, row: &Table, others: &Table, draw: Draw<'_>) -> Result<Explanation> {
        if row.rows() != 1 || others.rows() == 0 {
            let message = "one row is explained, in comparison with at least one other";
            return Err(Error::new(ErrorKind::Value, message));
        }
        let features = self.encode(row)?;
        let Prediction { positive, probability, score } = self.predict(&features, draw)?[0];
        let mut members = Vec::with_capacity(self.members.len());
        for (at, member) in self.members.iter().enumerate() {
            let above = f64::from(self.scores(at, &features)?[0]);
            let threshold = f64::from(member.threshold);
            let (mut probabilities, mut cut, mut below) = (Vec::new(), None, false);
            if let AnyModel::Rule(rule) = &self.views[member.view].model {
                let own = &features[member.view];
                probabilities = own.row_values(0).iter().map(|p| f64::from(*p)).collect();
                let width = 1 + rule.probabilities();
                let class = own.code(0, 0).filter(|class| *class < rule.classes()).unwrap_or(0);
                let theta = &member.hypothesis.theta()[class * width..][..width];
                if let [base, gain] = theta {
                    cut = (*gain != 0.0)
                        .then(|| f64::from(threshold as f32 - base) / f64::from(*gain));
                    below = *gain < 0.0;
                }
            }
            members.push(MemberExplanation {
                weight: member.weight,
                column: member.column,
                view: member.view,
                score: above + threshold,
                threshold,
                positive: above > 0.0,
                probabilities,
                cut,
                below,
            });
        }
        let contributions = self.contributions(row, others)?;
        let background = others.rows();
        let rules = self.views.first().and_then(|view| view.probabilities.as_ref());
        let models = rules.map_or(&[][..], |rules| rules.models());
        let conditions = models.iter().map(|one| one.condition.clone()).collect();
        let blend = match self.blend {
            Blend::Draw => Deciding::Fold,
            Blend::Mean => Deciding::Mean,
        };
        Ok(Explanation {
            positive,
            blend,
            probability,
            score,
            conditions,
            members,
            contributions,
            background,
        })
    }

    /// What each column adds to what decides; empty where a model has no exact contributions.
    fn contributions(&self, row: &Table, others: &Table) -> Result<Vec<Contributions>> {
        let rules = self.views.iter().all(|view| view.probabilities.is_some());
        let count = match self.views.first().and_then(|view| view.probabilities.as_ref()) {
            Some(first) if rules => first.models().len(),
            _ => 1,
        };
        let mut sums: Vec<Sum> = (0..count).map(|_| Sum::default()).collect();
        let mut weights = vec![0.0; self.views.len()];
        self.members.iter().for_each(|member| weights[member.view] += member.weight);
        for (at, view) in self.views.iter().enumerate() {
            let encoded = [view.encoder.encode(row)?, view.encoder.encode(others)?];
            if rules {
                let own = view.log_odds(&encoded)?;
                let Some(own) = own.filter(|own| own.len() == count) else {
                    return Ok(Vec::new());
                };
                sums.iter_mut().zip(&own).for_each(|(sum, own)| sum.add(weights[at], own));
                continue;
            }
            for member in self.members.iter().filter(|member| member.view == at) {
                let theta = member.hypothesis.theta();
                let Some(mut own) = linear(&view.model, theta, view, &encoded) else {
                    return Ok(Vec::new());
                };
                own.value -= f64::from(member.threshold);
                own.base -= f64::from(member.threshold);
                sums[0].add(member.weight, &own);
            }
        }
        let finish = |(at, sum): (usize, Sum)| sum.finish(rules.then_some(at));
        Ok(sums.into_iter().enumerate().map(finish).collect())
    }
}

impl View {
    /// What each column adds to the calibrated log-odds of each probability; `None` where one has no such sum.
    fn log_odds(&self, encoded: &[Features; 2]) -> Result<Option<Vec<Sum>>> {
        let Some(probabilities) = &self.probabilities else { return Ok(None) };
        let mut sums = Vec::new();
        for one in probabilities.models() {
            let found = match &one.scorer {
                LogOdds::Trees(Some(forest)) => match probabilities.bins() {
                    Some(bins) => Some(trees(forest, bins, self, encoded)?),
                    None => None,
                },
                LogOdds::Model { model, theta } => linear(model, theta, self, encoded),
                LogOdds::Trees(None) | LogOdds::Score { .. } => None,
            };
            let Some(found) = found else { return Ok(None) };
            let mut sum = Sum::default();
            sum.add(one.slope, &found);
            sum.value += one.shift;
            sum.base += one.shift;
            sums.push(sum);
        }
        Ok(Some(sums))
    }
}

/// What each column adds to the score of a linear model.
fn linear(
    model: &AnyModel,
    theta: &[f32],
    view: &View,
    [row, others]: &[Features; 2],
) -> Option<Sum> {
    let AnyModel::Linear(linear) = model else { return None };
    let (weights, bias) = (row.weights(), f64::from(theta[linear.params() - 1]));
    let added = |features: &Features, row: usize, input: &Input| -> f64 {
        let weight = |at: usize| f64::from(theta[at]);
        match input {
            Input::Number { number, missing, .. } => {
                let value = f64::from(features.row_values(row)[*number]);
                let absent = missing.and_then(|slot| features.code(row, slot));
                value * weight(weights + number) + absent.map_or(0.0, weight)
            }
            Input::Code { slot, .. } => match features.code(row, *slot) {
                None => 0.0,
                Some(code) => {
                    let ladder = features.ladders().iter().find(|ladder| ladder.contains(&code));
                    ladder.map_or(weight(code), |ladder| (ladder.start..=code).map(weight).sum())
                }
            },
        }
    };
    let mut sum = Sum { value: bias, base: bias, columns: BTreeMap::new() };
    for input in view.encoder.inputs() {
        let own = added(row, 0, &input);
        let mean = (0..others.rows()).map(|at| added(others, at, &input)).sum::<f64>()
            / others.rows() as f64;
        sum.value += own;
        sum.base += mean;
        *sum.columns.entry(input.column().to_owned()).or_default() += own - mean;
    }
    Some(sum)
}

/// What each column adds to the score of trees.
fn trees(forest: &Forest, bins: &Bins, view: &View, [row, others]: &[Features; 2]) -> Result<Sum> {
    let threads = Threads::default();
    let (own, background) = (bins.codes(row, &threads)?, bins.codes(others, &threads)?);
    let x = own.row(0);
    let mut by = vec![0.0; forest.columns()];
    let mut base = 0.0;
    for at in 0..background.rows() {
        let z = background.row(at);
        base += f64::from(forest.score_row(z));
        let mut walk = Walk { forest, x, z, by: &mut by, sides: vec![None; forest.columns()] };
        (0..forest.trees()).for_each(|tree| walk.from(forest.root(tree), [0, 0]));
    }
    let rows = background.rows() as f64;
    let mut columns: BTreeMap<String, f64> = BTreeMap::new();
    for (input, by) in view.encoder.inputs().iter().zip(&by) {
        *columns.entry(input.column().to_owned()).or_default() += by / rows;
    }
    Ok(Sum { value: f64::from(forest.score_row(x)), base: base / rows, columns })
}

/// A walk that follows two rows at once.
struct Walk<'a> {
    forest: &'a Forest,
    x: &'a [u8],
    z: &'a [u8],
    by: &'a mut [f64],
    /// Of each column, whether it has to be that of x, or of z, for the walk to come so far.
    sides: Vec<Option<bool>>,
}

impl Walk<'_> {
    /// Goes on from a node; `counts` are how many columns have to be those of x, and of z.
    fn from(&mut self, node: std::result::Result<usize, f32>, counts: [usize; 2]) {
        let split = match node {
            Ok(split) => split,
            Err(value) => return self.leaf(f64::from(value), counts),
        };
        let branch = self.forest.branch(split);
        let goes = |codes: &[u8]| usize::from(!branch.is_left(codes[branch.column]));
        let (own, other) = (goes(self.x), goes(self.z));
        if own == other {
            return self.from(branch.children[own], counts);
        }
        match self.sides[branch.column] {
            Some(of_x) => {
                self.from(branch.children[if of_x { own } else { other }], counts);
            }
            None => {
                self.sides[branch.column] = Some(true);
                self.from(branch.children[own], [counts[0] + 1, counts[1]]);
                self.sides[branch.column] = Some(false);
                self.from(branch.children[other], [counts[0], counts[1] + 1]);
                self.sides[branch.column] = None;
            }
        }
    }

    fn leaf(&mut self, value: f64, [of_x, of_z]: [usize; 2]) {
        // (a − 1)!·b!/(a + b)! = 1 / (a · C(a + b, a))
        let share = |a: usize, b: usize| {
            if a == 0 { 0.0 } else { 1.0 / (a as f64 * choose(a + b, a)) }
        };
        let (gives, takes) = (value * share(of_x, of_z), value * share(of_z, of_x));
        for (side, by) in self.sides.iter().zip(&mut *self.by) {
            match side {
                Some(true) => *by += gives,
                Some(false) => *by -= takes,
                None => {}
            }
        }
    }
}

/// C(n, k).
fn choose(n: usize, k: usize) -> f64 {
    (0..k.min(n - k)).fold(1.0, |all, at| all * (n - at) as f64 / (at + 1) as f64)
}
