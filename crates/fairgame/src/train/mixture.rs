//! From kept models to one mixture: measured, selected, with margins.

use super::{Played, Training};
use crate::Result;
use crate::classifier::{Balance, Explained, Iterates, Selected, Selection, ShrinkSpec, Shrunk};
use crate::evaluate::{Decisions, margins};
use crate::sample::{Sample, Work};

/// How often margins are found anew of the mixture that the last ones led to.
const ROUNDS: usize = 8;

/// Margins that change by less are found.
const SAME: f64 = 1e-5;

impl Training<'_> {
    /// What the games kept, measured, and one mixture of it.
    pub(super) fn select(
        &self,
        played: &[Played],
        selection: Selection,
    ) -> Result<(Iterates, Selected, Option<Explained>)> {
        let measured = played.iter().enumerate().map(|(game, played)| {
            let setting = self.setting(game);
            let threads = &self.plan.threads;
            Iterates::measure(&played.kept, &setting.train, &setting.val, threads)
        });
        let iterates = Iterates::join(measured.collect::<Result<Vec<_>>>()?);
        let Selection::Shrink(spec) = selection else {
            let selected = self.select_each(&iterates, selection)?;
            return Ok((iterates, selected, None));
        };
        let (shrunk, asked) = self.shrink(&spec, &iterates)?;
        // Prices are good to know, and no reason to have no classifier.
        let balance = self.balance(&iterates);
        let explain = |margins: &[f64]| spec.explain(&iterates, margins, balance.as_ref());
        let explained = explain(&[]).and_then(|without| match without.relaxation > 0.0 {
            // They cannot be met even without margins.
            true => Ok(without),
            false if shrunk.feasible => explain(&shrunk.margins),
            false => Ok(Explained { prices: explain(&shrunk.margins)?.prices, ..explain(&asked)? }),
        });
        let explained = explained.ok();
        let selected = Selected { weights: shrunk.weights.clone(), shrunk: Some(shrunk) };
        Ok((iterates, selected, explained))
    }

    /// Selects from each game, and weighs games by the rows that they are judged by.
    fn select_each(&self, iterates: &Iterates, selection: Selection) -> Result<Selected> {
        if self.folds.is_empty() {
            return selection.select(iterates);
        }
        let repeats = self.folds.iter().map(|fold| fold.repeat + 1).max().unwrap_or(1);
        let all = (self.train.features.rows() * repeats) as f64;
        let mut weights = Vec::new();
        for (game, fold) in self.folds.iter().enumerate() {
            let (own, places) = iterates.of_game(game);
            let share = fold.val.len() as f64 / all;
            let selected = selection.select(&own)?.weights.into_iter();
            weights.extend(selected.map(|(model, weight)| (places[model], share * weight)));
        }
        Ok(Selected { weights, shrunk: None })
    }

    fn balance(&self, iterates: &Iterates) -> Option<Balance> {
        let rows = self.train.features.rows() as f64;
        (!self.folds.is_empty()).then(|| Balance {
            game: iterates.models.iter().map(|model| model.game).collect(),
            folds: self
                .folds
                .iter()
                .map(|fold| (fold.val.len() as f64 / rows, fold.repeat))
                .collect(),
        })
    }

    /// Shrinks with margins of the mixture that comes of them; and the margins that were to be.
    fn shrink(&self, spec: &ShrinkSpec, iterates: &Iterates) -> Result<(Shrunk, Vec<f64>)> {
        let balance = self.balance(iterates);
        let mut shrunk = spec.shrink(iterates, &[], balance.as_ref())?;
        let constraints = self.bound.constraints().len();
        let Some(misses) = spec.margin.misses(constraints) else {
            return Ok((shrunk, Vec::new()));
        };
        let enforced = self.enforced();
        let cells = (&self.partition, enforced.compiled.cells());
        let weights = enforced.given.as_deref();
        let mut before = vec![0.0; constraints];
        for round in 0..ROUNDS {
            let chances = self.chances(iterates, &shrunk.weights)?;
            let decisions = Decisions::Probabilities(&chances);
            let mut found = margins(&self.bound, cells, weights, decisions, misses);
            if round >= ROUNDS / 2 {
                // Two mixtures may take turns: from here on margins only grow, and are enough for both.
                found.iter_mut().zip(&before).for_each(|(now, before)| *now = now.max(*before));
            }
            let moved = before.iter().zip(&found).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            if moved < SAME {
                break;
            }
            shrunk = spec.shrink_yielding(iterates, &found, balance.as_ref())?;
            before = found;
        }
        Ok((shrunk, before))
    }

    /// The chance of a positive decision of each row that constraints are enforced on, as they are stored: with
    /// cross-fitting, by models that were not trained on the row.
    pub(super) fn chances(
        &self,
        iterates: &Iterates,
        weights: &[(usize, f64)],
    ) -> Result<Vec<f64>> {
        let mut chances = vec![0.0; self.enforced().order.len()];
        let (mut total, mut work) = (vec![0.0; chances.len()], Work::default());
        for &(model, weight) in weights {
            let model = &iterates.models[model];
            let val = self.val_of(model.game);
            // As much as the repeat counts, whatever the fold's size.
            let weight = weight / val.rows() as f64;
            val.scores(&model.hypothesis, &mut work, |row, score| {
                total[row] += weight;
                chances[row] += if score > 0.0 { weight } else { 0.0 };
            })?;
        }
        let shares = chances.iter_mut().zip(&total).filter(|(_, total)| **total > 0.0);
        shares.for_each(|(chance, total)| *chance = (*chance / total).clamp(0.0, 1.0));
        Ok(chances)
    }
}
