//! Communities and Crime under other readings of its constraints: slack, and where groups are cut.
//!
//! As the paper words its constraints, the largest violation is never below 0: the low and the high half of an attribute
//! are everyone together. It prints −.008 and −.012 on test rows, and −.001 on training rows, so its constraints had slack,
//! or its groups did not cover everyone. Each cell of the grid is one such reading:
//!
//! ```text
//! fpr(x ≤ low) ≤ fpr() + s,   fpr(x > high) ≤ fpr() + s,   for four attributes x
//! ```
//!
//! with s in [`SLACKS`], and low = high the median or the mean, or the 30th and the 70th percentile. Test rows are those of
//! a few fixed splits, since the paper has one; of each, training rows are halved many times. Training with one dataset
//! halves nothing, so it is done once a split.

mod page;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;

use fairgame::encode::{Coding, Cuts, EncoderSpec, Steps};
use fairgame::player::Start;
use fairgame::preset::{PAPER, Preset};
use fairgame::rate::Policy;
use fairgame::table::{ReadOptions, Source, Table, Values, read, split};
use fairgame::{Error, ErrorKind, Result};
use serde::Serialize;

use crate::experiment::{Experiment, Settings, Way};
use crate::paper::{Four, printed};
use crate::run::{Came, Data, worst};
use crate::schedule::{Agenda, Kind, Progress};
use crate::store::{Key, Store};
use crate::summary::{Cell, Mean, Row};

/// The slacks that are tried.
pub const SLACKS: [f64; 4] = [0.0, 0.02, 0.05, 0.1];

/// Where the four attributes are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cut {
    /// At the median: as the paper words it.
    Median,
    /// At the mean.
    Mean,
    /// Low is up to the 30th percentile, high is above the 70th: groups do not cover everyone.
    Outer,
}

impl Cut {
    /// All of them.
    pub const ALL: [Cut; 3] = [Cut::Median, Cut::Mean, Cut::Outer];

    /// The name in a table.
    pub fn title(self) -> &'static str {
        match self {
            Cut::Median => "median",
            Cut::Mean => "mean",
            Cut::Outer => "30th and 70th percentile",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Cut::Median => "median",
            Cut::Mean => "mean",
            Cut::Outer => "outer",
        }
    }

    /// The ends of the low and of the high group of a column, as text of the language.
    fn ends(self, column: &str, train: &Table) -> Result<[String; 2]> {
        Ok(match self {
            Cut::Median => [format!("median({column})"), format!("median({column})")],
            Cut::Outer => [format!("quantile({column}, 0.3)"), format!("quantile({column}, 0.7)")],
            Cut::Mean => {
                let mean = mean_of(train, column)?;
                [mean.to_string(), mean.to_string()]
            }
        })
    }

    /// How a column shows which group a row is in.
    fn coding(self, column: &str, train: &Table) -> Result<Coding> {
        let cuts = match self {
            Cut::Median => Cuts::Levels(vec![0.5]),
            Cut::Outer => Cuts::Levels(vec![0.3, 0.7]),
            Cut::Mean => Cuts::Points(vec![mean_of(train, column)?]),
        };
        Ok(Coding::Buckets { cuts, steps: Steps::Single })
    }
}

const ATTRIBUTES: [&str; 4] = ["racePctAsian", "racepctblack", "racePctHisp", "racePctWhite"];

fn mean_of(table: &Table, name: &str) -> Result<f64> {
    let column = table.columns().iter().find(|column| column.name == name);
    match column.map(|column| &column.values) {
        Some(Values::Number(numbers)) if !numbers.is_empty() => {
            Ok(numbers.iter().sum::<f64>() / numbers.len() as f64)
        }
        _ => Err(Error::new(ErrorKind::Value, format!("`{name}` is not a column of numbers"))),
    }
}

/// One reading of the constraints, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reading {
    /// Where groups are cut.
    pub cut: Cut,
    /// s.
    pub slack: f64,
    /// Errors and worst violations of each way, beside the paper's: means over splits of means over halvings.
    pub rows: Vec<Row>,
    /// How far the two unconstrained violations are from the paper's, on average.
    pub unconstrained_apart: f64,
    /// How far the four test violations under constraints are from the paper's, on average.
    pub test_apart: f64,
}

/// What the grid came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Grid {
    /// Fixed splits into training and test rows.
    pub splits: u64,
    /// Times that the training rows of each are halved.
    pub halvings: u64,
    /// The seed of the first split.
    pub seed: u64,
    /// At most so many turns a training, if they were cut short.
    pub turns: Option<u64>,
    /// How long all of it took, of one core.
    #[serde(skip)]
    pub seconds: f64,
    /// Cut by cut, slack by slack.
    pub readings: Vec<Reading>,
}

/// What to run.
#[derive(Debug, Clone, PartialEq)]
pub struct GridPlan {
    /// Fixed splits into training and test rows.
    pub splits: u64,
    /// Times that the training rows of each are halved.
    pub halvings: u64,
    /// The seed of the first split; the others follow.
    pub seed: u64,
    /// At most so many turns a training, for a quick look.
    pub turns: Option<u64>,
    /// Where the matrix of Algorithm 3 starts.
    pub start: Start,
    /// Where finished runs are kept.
    pub folder: PathBuf,
    /// How many threads; the numbers do not depend on it.
    pub threads: usize,
}

impl GridPlan {
    fn settings(&self) -> Settings {
        Settings::of(Experiment::Communities).starting(self.start).shortened(self.turns)
    }

    /// Runs what is not yet done.
    ///
    /// # Errors
    /// If a run fails, or the folder cannot be written to; what was finished is kept.
    pub fn carry_out(&self, progress: impl FnMut(Progress)) -> Result<Grid> {
        let readings: Vec<(Cut, f64)> =
            Cut::ALL.into_iter().flat_map(|cut| SLACKS.map(|slack| (cut, slack))).collect();
        let (splits, halvings) = (self.splits.max(1), self.halvings.max(1));
        let settings = self.settings();
        let mut agenda = Agenda::new();
        for &(cut, slack) in &readings {
            let identity = (cut, slack, &settings, Way::ALL.map(|way| settings.algorithm(way)));
            let name = format!("grid-{}-{slack}", cut.name());
            let opened = Store::open(&self.folder.join("runs"), &name, &identity, self.seed)?;
            let wanted = (0..splits as usize)
                .flat_map(|split| (0..halvings).map(move |halving| (split, halving)));
            agenda.add(Kind { name: "communities-grid", cost: 1.0 }, opened, wanted);
        }
        let file = OnceLock::new();
        let (done, seconds) = agenda.carry_out(
            self.threads,
            |at, key| run(readings[at], &settings, self.seed, key, &file),
            progress,
        )?;
        let readings = readings.into_iter().zip(done);
        let readings = readings.map(|((cut, slack), runs)| summed(cut, slack, &runs)).collect();
        let turns = self.turns;
        Ok(Grid { splits, halvings, seed: self.seed, turns, seconds, readings })
    }
}

/// One halving of one split: the two ways with two datasets, and of the first halving the others too.
fn run(
    (cut, slack): (Cut, f64),
    settings: &Settings,
    seed: u64,
    (at, halving): Key,
    file: &OnceLock<Table>,
) -> Result<Vec<Came>> {
    let all = match file.get() {
        Some(all) => all,
        None => {
            let all = read([Source::parse("@communities")?], &ReadOptions::default())?;
            file.get_or_init(|| all)
        }
    };
    let size = PAPER[1].paper;
    let share = size.test as f64 / (size.train + size.test) as f64;
    let split_seed = seed.wrapping_add(at as u64);
    let parts = split::by_fraction(all.rows(), &[1.0 - share, share], split_seed, None)?;
    let (train, test) = (all.take(&parts[0]), all.take(&parts[1]));
    let data = data(cut, slack, train, test)?;
    let ways = Way::ALL.into_iter().filter(|way| way.is_two() || halving == 0);
    let seed = split_seed.wrapping_mul(100_003).wrapping_add(halving);
    ways.map(|way| data.train(settings, way, seed, None)).collect()
}

/// The data of a reading.
fn data(cut: Cut, slack: f64, train: Table, test: Table) -> Result<Data> {
    let mut constraints = Vec::new();
    let mut encoder: EncoderSpec = Preset::find("communities")?.encoder();
    for column in ATTRIBUTES {
        let [low, high] = cut.ends(column, &train)?;
        constraints.push(format!("fpr({column} <= {low}) <= fpr() + {slack}"));
        constraints.push(format!("fpr({column} > {high}) <= fpr() + {slack}"));
        let codings = vec![Coding::AsIs, cut.coding(column, &train)?];
        encoder.columns.insert(column.to_owned(), codings);
    }
    Data::new(Policy::find("communities")?.label, constraints, encoder, train, test)
}

/// What a reading came to.
fn summed(cut: Cut, slack: f64, runs: &BTreeMap<Key, Vec<Came>>) -> Reading {
    let splits = runs.keys().map(|(split, _)| split + 1).max().unwrap_or(0);
    // A split's test rows are the same in all of its halvings: its mean is one draw.
    let mean = |way: Way, pick: &dyn Fn(&Came) -> f64| {
        let of_split = |split: usize| {
            let own = runs.iter().filter(|((at, _), _)| *at == split).flat_map(|(_, came)| came);
            Mean::of(&own.filter(|came| came.way == way).map(pick).collect::<Vec<_>>()).mean
        };
        Mean::of(&(0..splits).map(of_split).collect::<Vec<_>>())
    };
    let row = |way: Way| {
        let paper = printed(Experiment::Communities, way)?;
        let cells = Four {
            train_error: Cell::new(mean(way, &|one| one.train_error), paper.train_error),
            train_worst: Cell::new(mean(way, &|one| worst(&one.train_losses)), paper.train_worst),
            test_error: Cell::new(mean(way, &|one| one.test_error), paper.test_error),
            test_worst: Cell::new(mean(way, &|one| worst(&one.test_losses)), paper.test_worst),
        };
        Some(Row { way, cells })
    };
    let rows: Vec<Row> = Way::ALL.into_iter().filter_map(row).collect();
    let apart = |cell: &Cell| (cell.ours.mean - cell.paper).abs();
    let free = &rows[0].cells;
    let under = rows[1..].iter().map(|row| apart(&row.cells.test_worst));
    Reading {
        cut,
        slack,
        unconstrained_apart: (apart(&free.train_worst) + apart(&free.test_worst)) / 2.0,
        test_apart: under.sum::<f64>() / (rows.len() - 1) as f64,
        rows,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A split's test rows are the same in all of its halvings: first the mean of each split, then that of the splits, with
    /// the standard error over splits.
    #[test]
    fn a_split_is_one_draw() {
        let came = |way: Way, violation: f64| Came {
            units: None,
            way,
            train_error: 0.125,
            train_losses: vec![violation - 1.0, violation],
            test_error: 0.25,
            test_losses: vec![violation + 0.5, 0.0],
            models: 1,
        };
        let mut runs = BTreeMap::new();
        // One dataset is trained once a split, in its first halving; two datasets in each: .5 and 1.5, and 3.
        let others = |violation: f64| {
            let ways = Way::ALL.into_iter().filter(|way| !way.is_two());
            ways.map(|way| came(way, violation)).collect::<Vec<_>>()
        };
        let two = |violation: f64| {
            let ways = Way::ALL.into_iter().filter(|way| way.is_two());
            ways.map(|way| came(way, violation)).collect::<Vec<_>>()
        };
        runs.insert((0, 0), [others(2.0), two(0.5)].concat());
        runs.insert((0, 1), two(1.5));
        runs.insert((1, 0), [others(4.0), two(3.0)].concat());
        let reading = summed(Cut::Mean, 0.05, &runs);
        let of = |way: Way| reading.rows.iter().find(|row| row.way == way).unwrap().cells;
        // (2 + 4)/2 ± |4 − 2|/2, and of two datasets (1 + 3)/2 ± 1; not (.5 + 1.5 + 3)/3.
        let mean = |mean: f64| Mean { mean, error: Some(1.0) };
        assert_eq!(of(Way::PracticalOne).train_worst.ours, mean(3.0));
        assert_eq!(of(Way::PracticalTwo).train_worst.ours, mean(2.0));
        assert_eq!(of(Way::LagrangianTwo).test_worst.ours, mean(2.5));
        assert_eq!(of(Way::Unconstrained).test_error.ours, Mean { mean: 0.25, error: Some(0.0) });
        // The paper's .231 and .300 unconstrained, beside 3 and 3.5.
        assert!((reading.unconstrained_apart - (2.769 + 3.2) / 2.0).abs() < 1e-12);
        // .022, −.008, .001 and −.012 under constraints, beside 3.5 with one dataset and 2.5 with two.
        let apart = (3.478 + 2.508 + 3.499 + 2.512) / 4.0;
        assert!((reading.test_apart - apart).abs() < 1e-12, "{}", reading.test_apart);
    }
}
