//! How much each column counts.
//!
//! - **Gain**: how much the splits of trees on the column have lowered the training loss, as a share of all.
//! - **Permutation** (Breiman 2001): by how much the objective and each constraint change on judging rows when the values
//!   of the column are dealt out among them at random. Each row is decided by models that were not trained on it. A column
//!   that says what another says, too, seems to count less than it does.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::mixture::Chosen;
use super::{Played, Training};
use crate::Result;
use crate::classifier::View;
use crate::model::{Rows, Scorer, Tape};
use crate::random::Stream;
use crate::rate::{LossValues, Tally};
use crate::table::Table;

/// At most so many rows have their values dealt out.
pub(super) const MOST_ROWS: usize = 4096;

/// With more columns than this, none has its values dealt out: it would take longer than the training.
const MOST_COLUMNS: usize = 200;

/// How much a column counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Importance {
    /// The column.
    pub column: String,
    /// Its share of the gain of all splits; `None` where no trees are in the model.
    pub gain: Option<f64>,
    /// By how much the objective rises if the values of the column are dealt out at random; `None` where that was not
    /// tried.
    pub objective: Option<f64>,
    /// By how much each constraint's loss rises; empty where that was not tried.
    pub constraints: Vec<f64>,
}

/// A few of the judging rows, as they are in the table.
pub(super) struct Excerpt {
    /// Their places among the stored rows.
    pub(super) rows: Vec<u32>,
    pub(super) table: Table,
}

impl Training<'_> {
    /// How much each column counts, the one that counts most first.
    pub(super) fn importance(&self, played: &[Played], chosen: &Chosen) -> Result<Vec<Importance>> {
        let views: Vec<&View> =
            (0..self.folds.len()).map(|fold| self.view_of(played, fold)).collect();
        let mut all: Vec<Importance> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut total = 0.0;
        for view in &views {
            let gains = view.probabilities.as_ref().and_then(|one| one.gains());
            for (at, input) in view.encoder.inputs().iter().enumerate() {
                let place = places.get(input.column()).copied().unwrap_or_else(|| {
                    let column = input.column().to_owned();
                    places.insert(column.clone(), all.len());
                    all.push(Importance {
                        column,
                        gain: None,
                        objective: None,
                        constraints: Vec::new(),
                    });
                    all.len() - 1
                });
                if let Some(gain) = gains.as_ref().and_then(|gains| gains.get(at)) {
                    *all[place].gain.get_or_insert(0.0) += gain;
                    total += gain;
                }
            }
        }
        if total > 0.0 {
            all.iter_mut().filter_map(|one| one.gain.as_mut()).for_each(|gain| *gain /= total);
        }
        if let (Some(excerpt), 1..=MOST_COLUMNS) = (&self.excerpt, all.len()) {
            let before = self.decided_again(played, chosen, excerpt, &excerpt.table)?;
            let names: Vec<String> = all.iter().map(|one| one.column.clone()).collect();
            let dealt = |name: &String| {
                let table = deal_out(&excerpt.table, name, self.plan.spec.seed);
                self.decided_again(played, chosen, excerpt, &table)
            };
            let found = self.plan.threads.each(&names, dealt);
            for (one, after) in all.iter_mut().zip(found) {
                let after = after?;
                one.objective = Some(after.objective - before.objective);
                let pairs = after.constraints.iter().zip(&before.constraints);
                one.constraints = pairs.map(|(after, before)| after - before).collect();
            }
        }
        let weight = |one: &Importance| one.gain.or(one.objective).unwrap_or(0.0);
        all.sort_by(|a, b| weight(b).total_cmp(&weight(a)).then_with(|| a.column.cmp(&b.column)));
        Ok(all)
    }

    /// The view of a fold, as its members have it.
    fn view_of<'b>(&'b self, played: &'b [Played], fold: usize) -> &'b View {
        let fitted = played.get(fold).and_then(|game| game.fitted.as_ref());
        fitted.map_or(&self.views[self.folds[fold].view], |fitted| &fitted.view)
    }

    /// The losses of the mixture on an excerpt whose values are those of a table.
    fn decided_again(
        &self,
        played: &[Played],
        chosen: &Chosen,
        excerpt: &Excerpt,
        table: &Table,
    ) -> Result<LossValues> {
        let enforced = self.enforced();
        let losses = enforced.compiled.losses();
        let mut tally = Tally::new(losses.cells());
        let (folds, mut tape) = (self.folds.len(), Tape::default());
        for (at, fold) in self.folds.iter().enumerate().filter(|(_, fold)| fold.repeat == 0) {
            let judged = |&place: &usize| {
                let row = excerpt.rows[place];
                fold.judge.as_ref().is_none_or(|judge| judge.binary_search(&row).is_ok())
            };
            let own: Vec<usize> = (0..excerpt.rows.len()).filter(judged).collect();
            let view = self.view_of(played, at);
            let features = view.encode(&table.take(&own))?;
            let mut chances = vec![0.0; own.len()];
            let mut scores = vec![0.0; own.len()];
            for &(column, weight) in &chosen.weights {
                let (hypothesis, threshold) =
                    chosen.measured.hypothesis(played, column, (at, folds));
                let rows = Rows::range(&features, 0..own.len());
                view.model.score(hypothesis.theta(), rows, &mut tape, &mut scores);
                for (chance, score) in chances.iter_mut().zip(&scores) {
                    *chance += if *score > threshold { weight } else { 0.0 };
                }
            }
            for (&place, chance) in own.iter().zip(&chances) {
                let row = excerpt.rows[place] as usize;
                let weight = enforced.weights.as_ref().map_or(1.0, |all| f64::from(all[row]));
                let count = &mut tally.counts[enforced.compiled.cells()[row] as usize];
                count.weight += weight;
                count.positive += weight * chance;
            }
        }
        tally.scale(enforced.count() as f64 / excerpt.rows.len().max(1) as f64);
        Ok(losses.exact(&tally))
    }
}

/// The same table with the values of a column dealt out among its rows.
fn deal_out(table: &Table, column: &str, seed: u64) -> Table {
    let mut order: Vec<usize> = (0..table.rows()).collect();
    Stream::new(seed, column).shuffle(&mut order);
    table.with_column_reordered(column, &order)
}
