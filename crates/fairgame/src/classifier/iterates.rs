//! The models that a game kept, measured on both samples.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::game::{Kept, Moment};
use crate::rate::{LossValues, Side, Tally};
use crate::sample::{Batch, Sample, Work};

/// Models, what each is like on train and on val, and the turns they were played at.
#[derive(Debug, Clone, PartialEq)]
pub struct Iterates {
    /// The models, each once.
    pub models: Vec<Iterate>,
    /// The turns that were kept, in order.
    pub moments: Vec<Moment>,
}

/// A model and what it is like.
#[derive(Debug, Clone, PartialEq)]
pub struct Iterate {
    /// θ.
    pub theta: Vec<f32>,
    /// The game that it was kept in, where there were several.
    pub game: usize,
    /// On the model player's sample.
    pub train: Measured,
    /// On the constraint player's sample.
    pub val: Measured,
}

/// What a model, or a mixture of models, is like on a sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Of all rows.
    pub tally: Tally,
    /// ℓ₀ … ℓ_m.
    pub exact: LossValues,
    /// ℓ̃₀ … ℓ̃_m.
    pub proxy: LossValues,
}

/// One of the two samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dataset {
    /// The model player's.
    Train,
    /// The constraint player's.
    Val,
}

impl Measured {
    /// A model on all rows of a sample.
    pub fn of(sample: &Sample<'_>, theta: &[f32], work: &mut Work) -> Self {
        let tally = sample.tally(theta, Batch::All, true, work);
        let (exact, proxy) = (sample.losses().exact(&tally), sample.losses().proxy(&tally));
        Measured { tally, exact, proxy }
    }

    /// The losses or their proxies.
    pub fn losses(&self, side: Side) -> &LossValues {
        match side {
            Side::Exact => &self.exact,
            Side::Proxy => &self.proxy,
        }
    }
}

impl Iterate {
    /// On one of the samples.
    pub fn on(&self, dataset: Dataset) -> &Measured {
        match dataset {
            Dataset::Train => &self.train,
            Dataset::Val => &self.val,
        }
    }
}

impl Iterates {
    /// Measures what a game kept, by that many threads; the result does not depend on their number.
    pub fn measure(kept: &Kept, train: &Sample<'_>, val: &Sample<'_>, threads: usize) -> Self {
        // One dataset is the same sample twice, and measured once.
        let one = std::ptr::eq(train.compiled, val.compiled) && val.among.is_none();
        let measure = |theta: &Vec<f32>, work: &mut Work| {
            let on_train = Measured::of(train, theta, work);
            let on_val = if one { on_train.clone() } else { Measured::of(val, theta, work) };
            Iterate { theta: theta.clone(), game: 0, train: on_train, val: on_val }
        };
        let models = each(&kept.thetas, threads, measure);
        Iterates { models, moments: kept.moments.clone() }
    }

    /// The models of several games, one after the other.
    pub(crate) fn join(games: impl IntoIterator<Item = Iterates>) -> Self {
        let mut all = Iterates { models: Vec::new(), moments: Vec::new() };
        for (game, one) in games.into_iter().enumerate() {
            let before = all.models.len();
            all.models.extend(one.models.into_iter().map(|model| Iterate { game, ..model }));
            let moments = one.moments.into_iter();
            all.moments
                .extend(moments.map(|moment| Moment { theta: before + moment.theta, ..moment }));
        }
        all
    }

    /// What is of one game, and the place of each of its models among all.
    pub(crate) fn of_game(&self, game: usize) -> (Iterates, Vec<usize>) {
        let own = self.models.iter().enumerate().filter(|(_, model)| model.game == game);
        let (places, models): (Vec<usize>, Vec<Iterate>) =
            own.map(|(place, model)| (place, model.clone())).unzip();
        let moments = self.moments.iter().filter_map(|moment| {
            let theta = places.binary_search(&moment.theta).ok()?;
            Some(Moment { theta, ..moment.clone() })
        });
        let moments = moments.collect();
        (Iterates { models, moments }, places)
    }

    /// Weights that add up to 1, for models each of which counts as the sum over its turns.
    pub(super) fn weigh(&self, by: impl Fn(&Moment) -> f64) -> Vec<(usize, f64)> {
        let mut sums = vec![0.0; self.models.len()];
        self.moments.iter().for_each(|moment| sums[moment.theta] += by(moment));
        let total: f64 = sums.iter().sum();
        let shares = sums.into_iter().enumerate().filter(|(_, sum)| *sum > 0.0);
        shares.map(|(model, sum)| (model, sum / total)).collect()
    }

    /// The losses of a mixture on a sample: the mean over its models.
    pub fn mixed(&self, weights: &[(usize, f64)], dataset: Dataset, side: Side) -> LossValues {
        let constraints = self.models.first().map_or(0, |m| m.train.exact.constraints.len());
        let mut mixed = LossValues { objective: 0.0, constraints: vec![0.0; constraints] };
        for &(model, weight) in weights {
            let losses = self.models[model].on(dataset).losses(side);
            mixed.objective += weight * losses.objective;
            let sums = mixed.constraints.iter_mut().zip(&losses.constraints);
            sums.for_each(|(sum, loss)| *sum += weight * loss);
        }
        mixed
    }
}

/// Runs over items with several threads, and gives the results in the order of the items.
fn each<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    run: impl Fn(&T, &mut Work) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let (mut work, mut done) = (Work::default(), Vec::new());
        while let Some((place, item)) = {
            let place = next.fetch_add(1, Ordering::Relaxed);
            items.get(place).map(|item| (place, item))
        } {
            done.push((place, run(item, &mut work)));
        }
        done
    };
    let mut results: Vec<(usize, R)> = match threads.min(items.len()) {
        0 | 1 => worker(),
        threads => thread::scope(|scope| {
            let running: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
            let joined = running.into_iter().map(thread::ScopedJoinHandle::join);
            joined
                .flat_map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        }),
    };
    results.sort_by_key(|(place, _)| *place);
    results.into_iter().map(|(_, result)| result).collect()
}
