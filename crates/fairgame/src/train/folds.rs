//! Which rows teach, which are set aside, and which judge.
//!
//! With cross-fitting the rows are cut into K folds. Each fold judges models that were taught by the others:
//!
//! ```text
//! all rows = judge (one fold) ∪ aside ∪ teach
//! ```
//!
//! The model player learns on `teach`. The constraint player plays, and early stopping looks, on `aside`. The encoder is
//! fitted on both. So nothing that judges has taught. Parts cut the judging rows once more, to measure by how much
//! a choice that was made without a part is worse on that part.
//!
//! Cuts are stratified by cell. Rows of one unit, such as a person, are never apart.

use super::training::{Rows, exact_weights};
use super::{Data, Datasets, Plan, units};
use crate::random::mix;
use crate::rate::Weighted;
use crate::{Error, ErrorKind, Result};

/// The rows of one fold's games, by their places among the stored rows; `None` is all of them.
#[derive(Debug, Clone)]
pub(super) struct Fold {
    /// The model player learns on these, of the training rows.
    pub(super) teach: Option<Vec<u32>>,
    /// The constraint player plays on these, of the training rows; without them, on those that judge.
    pub(super) aside: Option<Vec<u32>>,
    /// The models are judged on these, of the rows that constraints are enforced on.
    pub(super) judge: Option<Vec<u32>>,
    /// The view that the fold's games have of the rows.
    pub(super) view: usize,
    /// Of which repeat it is.
    pub(super) repeat: usize,
}

/// With so many rows, the parts of one fold are drawn and not dealt out cell by cell.
const MANY: usize = 1 << 18;

/// Rows as cuts see them.
#[derive(Clone, Copy)]
pub(super) struct Deck<'a> {
    /// The cell of each row.
    pub(super) cells: &'a [u32],
    /// The unit of each row, where rows may be of the same.
    pub(super) units: Option<&'a [u32]>,
}

impl Deck<'_> {
    /// Deals rows out: those of a cell one after the other, in an order drawn by `key`. `hand` says whose turn it is at
    /// each place. Gives the hand of each row.
    fn deal(&self, rows: &[u32], key: u64, hand: impl Fn(usize) -> usize) -> Vec<(u32, usize)> {
        let cell = |row: u32| self.cells[row as usize];
        let Some(units) = self.units else {
            let mut order = rows.to_vec();
            order.sort_by_key(|&row| (cell(row), mix(key ^ u64::from(row)), row));
            return order.into_iter().enumerate().map(|(place, row)| (row, hand(place))).collect();
        };
        let unit = |row: u32| units[row as usize];
        let mut order: Vec<(u32, u32)> = rows.iter().map(|&row| (unit(row), row)).collect();
        order.sort_unstable();
        // A unit counts as of the cell of its first row.
        let mut dealt: Vec<&[(u32, u32)]> = order.chunk_by(|a, b| a.0 == b.0).collect();
        dealt.sort_by_key(|rows| {
            let (unit, first) = rows[0];
            (cell(first), mix(key ^ u64::from(unit)), unit)
        });
        let hands = dealt.into_iter().enumerate();
        hands
            .flat_map(|(place, rows)| rows.iter().map(move |row| (row.1, place)))
            .map(|(row, place)| (row, hand(place)))
            .collect()
    }

    /// Sets a share of some rows aside: those that are left, and those set aside, ascending.
    fn set_aside(&self, rows: &[u32], share: f64, key: u64) -> (Vec<u32>, Vec<u32>) {
        let before = |place: usize| (place as f64 * share).floor();
        let hand = |place: usize| usize::from(before(place + 1) > before(place));
        let mut hands = [Vec::new(), Vec::new()];
        self.deal(rows, key, hand).into_iter().for_each(|(row, hand)| hands[hand].push(row));
        hands.iter_mut().for_each(|rows| rows.sort_unstable());
        let [left, aside] = hands;
        (left, aside)
    }

    fn rows(&self) -> Vec<u32> {
        (0..self.cells.len() as u32).collect()
    }

    /// How many things there are to deal out: units, or rows.
    fn count(&self) -> usize {
        let Some(units) = self.units else { return self.cells.len() };
        let mut units = units.to_vec();
        units.sort_unstable();
        units.dedup();
        units.len()
    }

    /// The part of each row, of so many.
    pub(super) fn parts(&self, count: usize, folds: &[Fold], seed: u64) -> Vec<u16> {
        let mut of = vec![0; self.cells.len()];
        let key = mix(seed ^ 0x7061_7274);
        if let ([fold], true) = (folds, self.cells.len() >= MANY)
            && fold.judge.is_none()
        {
            // Of so many rows, parts that are drawn are as even as parts that are dealt out.
            let unit = |row: usize| self.units.map_or(row as u64, |units| u64::from(units[row]));
            let part = |row: usize| (mix(key ^ unit(row)) % count.max(1) as u64) as u16;
            return (0..self.cells.len()).map(part).collect();
        }
        // Fold by fold, going on where the last one ended: parts are as even within folds as over all rows.
        let mut dealt = 0;
        let first = folds.iter().filter(|fold| fold.repeat == 0);
        for fold in first {
            let rows = fold.judge.clone().unwrap_or_else(|| self.rows());
            let hands = self.deal(&rows, key, |place| place + dealt);
            dealt = hands.iter().map(|(_, place)| place + 1).max().unwrap_or(dealt);
            hands.into_iter().for_each(|(row, at)| of[row as usize] = (at % count.max(1)) as u16);
        }
        of
    }
}

/// The folds of a training: one without cross-fitting.
pub(super) fn cut(datasets: Datasets, aside: f64, deck: Deck<'_>, seed: u64) -> Result<Vec<Fold>> {
    let split = |rows: &[u32], key: u64| match aside > 0.0 {
        true => {
            let (teach, aside) = deck.set_aside(rows, aside, key);
            (Some(teach), Some(aside).filter(|rows| !rows.is_empty()))
        }
        false => (Some(rows.to_vec()), None),
    };
    let Datasets::Cross { folds, repeats } = datasets else {
        let (teach, set) = match aside > 0.0 {
            true => split(&deck.rows(), mix(seed ^ 0x6173_6964)),
            false => (None, None),
        };
        return Ok(vec![Fold { teach, aside: set, judge: None, view: 0, repeat: 0 }]);
    };
    let things = deck.count();
    if things < 2 * folds {
        let what = if deck.units.is_some() { "units" } else { "rows" };
        let message = format!("{things} {what} cannot be cut into {folds} folds");
        let help = match deck.units.is_some() && things < 10 {
            true => {
                "is this the column that says which rows are of one person? If so, get rows of more people"
            }
            false => "ask for fewer folds, or get more rows",
        };
        return Err(Error::new(ErrorKind::Settings, message).help(help));
    }
    let mut all = Vec::with_capacity(folds * repeats);
    for repeat in 0..repeats {
        let key = mix(seed ^ mix(0x666f_6c64 + repeat as u64));
        let mut of_row = vec![0; deck.cells.len()];
        let dealt = deck.deal(&deck.rows(), key, |place| place % folds);
        dealt.into_iter().for_each(|(row, fold)| of_row[row as usize] = fold);
        for fold in 0..folds {
            let (judge, rest): (Vec<u32>, Vec<u32>) =
                deck.rows().into_iter().partition(|&row| of_row[row as usize] == fold);
            let (teach, aside) = split(&rest, mix(key ^ mix(0x6173_6964 + fold as u64)));
            all.push(Fold { teach, aside, judge: Some(judge), view: 0, repeat });
        }
    }
    Ok(all)
}

/// The rows of one fold, by their places in the training table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoldRows {
    /// A model is trained on these.
    pub teach: Vec<u32>,
    /// These are set aside: early stopping and calibration look at them.
    pub aside: Vec<u32>,
    /// These judge the model; none with validation rows, which then judge.
    pub judge: Vec<u32>,
}

impl Plan {
    /// The rows of each fold, for those who train a model of their own in each and give its scores
    /// ([`ModelSpec::Scores`](crate::model::ModelSpec::Scores)). They do not depend on the model or on the features.
    ///
    /// # Errors
    /// If the data do not fit the settings; if rows to test or to enforce constraints on are to be cut from them.
    pub fn folds(&self, data: Data<'_>) -> Result<Vec<FoldRows>> {
        let (rows, spec) = (data.train.table.rows(), &self.spec);
        let data = data.divided(spec)?;
        if data.train.table.rows() != rows {
            let message = "folds are of all training rows, and some are to be kept apart";
            return Err(Error::new(ErrorKind::Settings, message)
                .help("use cross-fitting, or give validation rows and test rows yourself"));
        }
        let train_weights = exact_weights(&data.train)?;
        let train = Weighted { table: &data.train.table, weights: train_weights.as_deref() };
        let val_weights = data.val.as_ref().map(exact_weights).transpose()?.flatten();
        let val = data.val.as_ref();
        let val = val.map(|val| Weighted { table: &val.table, weights: val_weights.as_deref() });
        let others: Vec<Weighted<'_>> = val.into_iter().collect();
        let binding = self.problem.compile(train, &others)?;
        let label = binding.bound.label().kinds().into_iter().map(|one| one.0);
        let label: Vec<&str> = label.collect();
        let compiled = binding.tables.into_iter().next();
        let unbound = || Error::new(ErrorKind::Problem, "the problem was not bound to rows");
        let compiled = compiled.ok_or_else(unbound)?;
        let units = units::together(&data.train.table, spec.unit.as_deref(), &label)?.units;
        let rows = Rows::new(compiled, None, &data.train, None, units, spec.seed)?;
        let placed = |stored: Option<Vec<u32>>| {
            let mut places: Vec<u32> = stored
                .unwrap_or_default()
                .into_iter()
                .map(|row| rows.order[row as usize])
                .collect();
            places.sort_unstable();
            places
        };
        let all = || Some((0..rows.count() as u32).collect());
        let folds = cut(spec.datasets, spec.aside, rows.deck(), spec.seed)?;
        let folds = folds.into_iter().map(|fold| FoldRows {
            teach: placed(fold.teach.or_else(all)),
            aside: placed(fold.aside),
            judge: placed(fold.judge),
        });
        Ok(folds.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every row judges once in each repeat and teaches nothing that judges it; units are never apart.
    #[test]
    fn nothing_that_judges_teaches() {
        let cells: Vec<u32> = (0..997).map(|row| mix(row) as u32 % 5).collect();
        let units: Vec<u32> = (0..997).map(|row| mix(row + 7) as u32 % 300).collect();
        for units in [None, Some(units.as_slice())] {
            let deck = Deck { cells: &cells, units };
            let cross = Datasets::Cross { folds: 4, repeats: 2 };
            let folds = cut(cross, 0.25, deck, 3).unwrap();
            assert_eq!(folds.len(), 8);
            let unit = |row: &u32| units.map_or(*row, |units| units[*row as usize]);
            for repeat in 0..2 {
                let own = || folds.iter().filter(|fold| fold.repeat == repeat);
                let mut judged: Vec<u32> =
                    own().flat_map(|fold| fold.judge.clone().unwrap()).collect();
                judged.sort_unstable();
                assert_eq!(judged, deck.rows());
                for fold in own() {
                    let [teach, aside, judge] =
                        [&fold.teach, &fold.aside, &fold.judge].map(|rows| rows.clone().unwrap());
                    assert_eq!(teach.len() + aside.len() + judge.len(), cells.len());
                    let apart = |a: &[u32], b: &[u32]| {
                        let b: std::collections::HashSet<u32> = b.iter().map(unit).collect();
                        a.iter().all(|row| !b.contains(&unit(row)))
                    };
                    assert!(
                        apart(&teach, &judge) && apart(&aside, &judge) && apart(&teach, &aside)
                    );
                    let share = aside.len() as f64 / (aside.len() + teach.len()) as f64;
                    assert!((share - 0.25).abs() < 0.04, "{share}");
                }
            }
            let parts = deck.parts(10, &folds, 3);
            for fold in folds.iter().filter(|fold| fold.repeat == 0) {
                let mut counts = [0; 10];
                let judge = fold.judge.as_ref().unwrap();
                judge.iter().for_each(|&row| counts[usize::from(parts[row as usize])] += 1);
                let even = judge.len() as f64 / 10.0;
                let least = if units.is_some() { 0.5 } else { 0.9 };
                assert!(
                    counts.iter().all(|count| f64::from(*count) > least * even - 1.0),
                    "{counts:?}"
                );
            }
        }
    }
}
