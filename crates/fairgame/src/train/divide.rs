//! Which rows are whose: parts of a table for training, validation and testing, and their weights.

use serde::{Deserialize, Serialize};

use super::{Recipe, Spec};
use crate::algorithm::Algorithm;
use crate::observe::Patience;
use crate::rate::Weighted;
use crate::table::{Table, Values, split};
use crate::{Error, ErrorKind, Result};

/// How many datasets the players have, and where the second comes from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Datasets {
    /// One, for both.
    One,
    /// Two: so large a share of the rows that are left for training is the constraint player's.
    Two {
        /// Between 0 and 1.
        #[serde(default = "half")]
        val_fraction: f64,
    },
    /// Every row is both, in different games: the rows are cut into folds, and in each of as many games one of
    /// them is the constraint player's and the others are the model player's.
    Cross {
        /// How many folds.
        #[serde(default = "five")]
        folds: usize,
        /// How often all of it is done, with rows cut anew.
        #[serde(default = "once")]
        repeats: usize,
    },
}

fn five() -> usize {
    5
}

fn once() -> usize {
    1
}

fn half() -> f64 {
    0.5
}

/// The parts of a table.
#[derive(Debug, Clone)]
pub struct Divided {
    /// The model player's rows.
    pub train: Table,
    /// The constraint player's rows, or `None` for one dataset.
    pub val: Option<Table>,
    /// Rows that neither has seen, if any were kept.
    pub test: Option<Table>,
}

/// A table and the weights of its rows.
#[derive(Debug, Clone)]
pub struct WeightedRows {
    /// The rows.
    pub table: Table,
    /// One weight a row, or 1 each.
    pub weights: Option<Vec<f32>>,
}

impl WeightedRows {
    /// To be borrowed by what learns from them.
    pub fn weighted(&self) -> Weighted<'_> {
        Weighted { table: &self.table, weights: self.weights.as_deref() }
    }
}

impl Spec {
    /// Draws the parts of a table by the spec's seed: first the test rows, then those of the constraint
    /// player.
    ///
    /// A `val` that is given in its own table makes no part of this one.
    pub fn divide(&self, table: Table, val_is_given: bool) -> Result<Divided> {
        self.check_fractions()?;
        let mut train = table;
        let mut test = None;
        let draw = |table: &Table, fraction: f64, seed: u64| -> Result<(Table, Table)> {
            let parts = split::by_fraction(table.rows(), &[1.0 - fraction, fraction], seed, None)?;
            Ok((table.take(&parts[0]), table.take(&parts[1])))
        };
        if self.test_fraction > 0.0 {
            let (rest, drawn) = draw(&train, self.test_fraction, self.seed ^ 0x7465_7374)?;
            (train, test) = (rest, Some(drawn));
        }
        let val = match self.datasets_in_use() {
            Datasets::Two { val_fraction } if !val_is_given => {
                let (rest, drawn) = draw(&train, val_fraction, self.seed)?;
                train = rest;
                Some(drawn)
            }
            _ => None,
        };
        Ok(Divided { train, val, test })
    }

    /// Whether the algorithm is one that recipes are for: the others are as the paper has them.
    fn is_played(&self) -> bool {
        matches!(self.algorithm, Algorithm::Practical(_) | Algorithm::Lagrangian(_))
    }

    /// The datasets that the algorithm has: only the practical ones are cross-fitted, and only under constraints, since
    /// without these one model is best, and a fold to stop it by is enough.
    pub(super) fn datasets_in_use(&self) -> Datasets {
        match (self.datasets, self.algorithm) {
            (Datasets::Cross { folds, .. }, _)
                if self.is_played() && self.constraints.is_empty() =>
            {
                Datasets::Two { val_fraction: 1.0 / folds as f64 }
            }
            (datasets, _) if self.is_played() => datasets,
            (Datasets::Cross { .. }, Algorithm::Unconstrained(_) | Algorithm::Baseline(_)) => {
                Datasets::One
            }
            (Datasets::Cross { .. }, _) => Recipe::Paper.datasets(),
            (datasets, _) => datasets,
        }
    }

    /// When a game stops early, if it does.
    pub(super) fn patience(&self) -> Option<Patience> {
        self.early_stop.filter(|_| self.is_played() || self.recipe == Recipe::Paper)
    }

    /// Refuses shares of the rows that are none.
    pub(super) fn check_fractions(&self) -> Result<()> {
        let share = |name: &str, fraction: f64, least: f64| {
            if fraction >= least && fraction < 1.0 {
                return Ok(());
            }
            Err(Error::new(ErrorKind::Settings, format!("a {name} fraction of {fraction}"))
                .help("give a number between 0 and 1"))
        };
        share("test", self.test_fraction, 0.0)?;
        match self.datasets {
            Datasets::One => Ok(()),
            Datasets::Cross { folds, repeats } => {
                if (2..=100).contains(&folds) && (1..=100).contains(&repeats) {
                    return Ok(());
                }
                let message = format!("cross-fitting with folds = {folds} and repeats = {repeats}");
                Err(Error::new(ErrorKind::Settings, message)
                    .help("give 2 to 100 folds, and 1 to 100 repeats"))
            }
            Datasets::Two { val_fraction } => share("validation", val_fraction, f64::MIN_POSITIVE),
        }
    }

    /// A table with the weights that its weight column holds, if the spec names one.
    pub fn rows(&self, table: Table) -> Result<WeightedRows> {
        let Some(name) = &self.weight else { return Ok(WeightedRows { table, weights: None }) };
        let wrong = |message: String, help: &str| {
            Err(Error::new(ErrorKind::Column, message).help(help.to_owned()))
        };
        let Some(column) = table.columns().iter().find(|column| column.name == *name) else {
            let near =
                crate::nearest(name, table.columns().iter().map(|column| column.name.as_str()));
            return match near {
                Some(near) => wrong(
                    format!("there is no weight column `{name}`"),
                    &format!("did you mean `{near}`?"),
                ),
                None => {
                    wrong(format!("there is no weight column `{name}`"), "name a column of numbers")
                }
            };
        };
        let Values::Number(numbers) = &column.values else {
            let kind = column.values.kind();
            return wrong(
                format!("weight column `{name}` is a {kind}"),
                "name a column of numbers",
            );
        };
        if let Some(row) = numbers.iter().position(|x| !(*x >= 0.0 && *x <= f64::from(f32::MAX))) {
            let found = numbers[row];
            let found = if found.is_nan() { "missing".to_owned() } else { found.to_string() };
            return Err(Error::new(
                ErrorKind::Value,
                format!("the weight of row {} is {found}", row + 1),
            )
            .at(format!("column `{name}`"))
            .help("weights are numbers from 0 up"));
        }
        let weights = Some(numbers.iter().map(|&number| number as f32).collect());
        Ok(WeightedRows { table, weights })
    }
}
