//! The models that a game kept, measured on both samples.

use std::sync::Arc;

use crate::game::{Kept, Moment};
use crate::rate::{LossValues, Side, Tally};
use crate::sample::{Batch, Hypothesis, Sample, Work};
use crate::settings::declare;
use crate::{Result, Threads};

/// What each kept model is like on train and on val, and the turns they were played at.
#[derive(Debug, Clone, PartialEq)]
pub struct Iterates {
    /// The models, each once, in the order in which they were kept.
    pub models: Vec<Iterate>,
    /// The turns that were kept, in order.
    pub moments: Vec<Moment>,
}

/// What a kept model is like; with cross-fitting, the models of all folds that were kept at the same turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Iterate {
    /// On the model player's sample; with cross-fitting, as `val`.
    pub train: Measured,
    /// On the rows that judge it; with cross-fitting, all rows, each by the model that was not trained on it.
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

declare! {
    /// One of the two samples.
    #[derive(Copy, Eq)]
    pub enum Dataset {
        /// The rows that models are trained on.
        Train = "train",
        /// The rows that constraints are enforced on.
        Val = "val",
    }
}

impl Measured {
    /// A model on all rows of a sample.
    pub fn of(sample: &dyn Sample, model: &Hypothesis, work: &mut Work) -> Result<Self> {
        let tally = sample.tally(model, Batch::All, Side::Proxy, work)?;
        let (exact, proxy) = (sample.losses().exact(&tally), sample.losses().proxy(&tally));
        Ok(Measured { tally, exact, proxy })
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
    /// Measures what a game kept, by these threads; the result does not depend on their number.
    pub fn measure(
        kept: &Kept,
        train: &Arc<dyn Sample + '_>,
        val: &Arc<dyn Sample + '_>,
        threads: &Threads,
    ) -> Result<Self> {
        // One dataset is the same sample twice, and measured once.
        let one = Arc::ptr_eq(train, val);
        let measure = |model: &Hypothesis| {
            let mut work = Work::default();
            let on_train = Measured::of(&**train, model, &mut work)?;
            let on_val = match one {
                true => on_train.clone(),
                false => Measured::of(&**val, model, &mut work)?,
            };
            Ok(Iterate { train: on_train, val: on_val })
        };
        let models = threads.each(&kept.models, measure).into_iter().collect::<Result<_>>()?;
        Ok(Iterates { models, moments: kept.moments.clone() })
    }

    /// Weights that add up to 1, for models each of which counts as the sum over its turns.
    pub(super) fn weigh(&self, by: impl Fn(&Moment) -> f64) -> Vec<(usize, f64)> {
        let mut sums = vec![0.0; self.models.len()];
        self.moments.iter().for_each(|moment| sums[moment.model] += by(moment));
        let total: f64 = sums.iter().sum();
        let shares = sums.into_iter().enumerate().filter(|(_, sum)| *sum > 0.0);
        shares.map(|(model, sum)| (model, sum / total)).collect()
    }

    /// γ on the training rows: the most by which one of the models meets every *proxy* constraint there, its penalty added;
    /// below 0 where none does, and `None` without constraints.
    ///
    /// With μ > 0 the theorems' proxies are ℓ̃_i(θ) + (μ/2)·‖θ‖²: `penalty` says what that adds for each of the models.
    /// It is the margin of the theorems: the model player sees proxies, so that a model that meets only the constraints
    /// themselves holds nothing ([`crate::bounds::Errors::least_objective_weight`]).
    pub fn proxy_margin(&self, penalty: impl Fn(usize) -> f64) -> Option<f64> {
        let models = self.models.iter().enumerate();
        let worst = models.map(|(at, model)| model.train.proxy.worst() + penalty(at));
        worst.reduce(f64::min).filter(|worst| worst.is_finite()).map(|worst| -worst)
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
