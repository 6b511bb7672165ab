//! The model player of Algorithm 1: the best answer to λ, the same for the same λ.
//!
//! Definition "oracle" of the paper asks for a deterministic O with f(O(f)) ≤ inf f + ρ for each f(θ) =
//! L_θ(θ, λ). Where f is convex in θ (a linear model, a convex surrogate, μ > 0) this is met, and the ρ is
//! not hoped for but measured. Steps over all rows are θ_{s+1} = Π_Θ(θ_s − 2·g_s/(μ(s+1))) from 0, and the
//! answer is θ̄ = Σ w_s·θ_s with w_s ∝ s (Lacoste-Julien et al. 2012). Each step bounds f from below,
//! f(θ) ≥ f(θ_s) + g_s·(θ − θ_s) + (μ/2)‖θ − θ_s‖², and so does the mean of these bounds, whose least value
//! over all θ is plain to see. With ḡ, θ̄ the w-means of g_s, θ_s:
//!
//! ```text
//! ρ = f(θ̄) − Σ_s w_s·(f(θ_s) − g_s·θ_s + (μ/2)‖θ_s‖²) + max_{θ ∈ Θ} (c·θ − (μ/2)‖θ‖²),   c = μθ̄ − ḡ
//! ```
//!
//! of which the last is ‖c‖²/(2μ), or in a ball of radius R < ‖c‖/μ, R‖c‖ − μR²/2.
//!
//! The steps end where that is at most the ρ asked for. Elsewhere (a network, a lattice, a surrogate that
//! is not convex) the answer is what a fixed number of full-batch steps of an optimizer give: still
//! deterministic, but with no ρ to state. A model that answers costs itself is asked for its best response.
//!
//! With a [`Covering`], λ is first rounded to the nearest centre, and each centre is answered once; there
//! are then never more models than centres.

use std::collections::BTreeMap;

use super::covering::Centre;
use super::{Covering, Learner, ModelPlayer};
use crate::Result;
use crate::archive::{Arrays, Numbers};
use crate::model::Scorer;
use crate::optimize::{Memory, Optimizer};
use crate::rate::{LossValues, Multipliers, Side};
use crate::sample::{Batch, Hypothesis, Work};
use crate::settings::declare;

declare! {
    /// How well an oracle answers.
    #[derive(Copy)]
    pub struct OracleSpec {
        /// Largest suboptimality ρ of an answer, for models whose loss is convex.
        pub rho: f64 = with(0.01).above(0.0),
        /// Most steps of an answer; for models whose loss is not convex, exactly as many.
        pub steps: u64 = with(20_000).above(0.0),
        /// Optimizer of models whose loss is not convex.
        pub optimizer: Optimizer = with(Optimizer::adam(0.01)).no_flags(),
    }
}

/// An answer, and how far it is above the best where that can be told.
type Answer = (Hypothesis, Option<f64>);

/// A deterministic, approximate minimiser.
pub struct Oracle<'a> {
    learner: Learner<'a>,
    spec: OracleSpec,
    covering: Option<Covering>,
    /// The answers so far, by centre.
    memo: BTreeMap<Centre, Answer>,
    /// The answer where nothing is rounded.
    played: Hypothesis,
    /// The largest ρ of an answer so far; `None` once one could not be told.
    rho: Option<f64>,
    work: Work,
}

impl<'a> Oracle<'a> {
    /// An oracle that answers each λ, or each centre of a covering.
    pub fn new(learner: Learner<'a>, spec: OracleSpec, covering: Option<Covering>) -> Self {
        Oracle {
            spec,
            covering,
            memo: BTreeMap::new(),
            played: Hypothesis::Theta(Vec::new()),
            rho: Some(0.0).filter(|_| is_convex(&learner)),
            work: Work::new(&learner.threads),
            learner,
        }
    }

    /// A near-best θ for λ, and how near where that can be told.
    fn answer(&mut self, lambda: &Multipliers) -> Result<Answer> {
        if let Some(best) = self.learner.train.best_response(lambda, &mut self.work)? {
            return Ok((best, None));
        }
        if is_convex(&self.learner) {
            let (theta, rho) = self.certified(lambda)?;
            return Ok((Hypothesis::Theta(theta), Some(rho)));
        }
        let Learner { region, seed, .. } = self.learner;
        let model = self.learner.model.slopes()?;
        let mut theta = model.initial(seed);
        let (mut memory, mut gradient) = (Memory::default(), vec![0.0; theta.len()]);
        for _ in 0..self.spec.steps {
            self.learner.gradient(&theta, lambda, Batch::All, &mut self.work, &mut gradient)?;
            memory.step(&self.spec.optimizer, &mut theta, &gradient);
            region.project(model, &mut theta);
        }
        Ok((Hypothesis::Theta(theta), None))
    }

    fn certified(&mut self, lambda: &Multipliers) -> Result<(Vec<f32>, f64)> {
        let region = self.learner.region;
        let model = self.learner.model.slopes()?;
        let (mu, params) = (region.convexity, self.learner.model.params());
        let (mut at, mut gradient) =
            (Hypothesis::Theta(vec![0.0_f32; params]), vec![0.0_f32; params]);
        // Sums over steps, each times its number: of θ_s, of g_s, and of the bounds' constant parts.
        let (mut sum, mut slopes) = (vec![0.0_f64; params], vec![0.0_f64; params]);
        let (mut below, mut total) = (0.0, 0.0);
        let mut mean = Hypothesis::Theta(vec![0.0_f32; params]);
        let mut rho = f64::INFINITY;
        for step in 1..=self.spec.steps {
            let weight = step as f64;
            let value = self.value(&at, lambda)?;
            let Hypothesis::Theta(theta) = &mut at;
            self.learner.gradient(theta, lambda, Batch::All, &mut self.work, &mut gradient)?;
            let dot = |a: &[f32], b: &[f32]| -> f64 {
                a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
            };
            below += weight * (value - dot(&gradient, theta) + mu / 2.0 * dot(theta, theta));
            total += weight;
            for (k, (&at, &slope)) in theta.iter().zip(&gradient).enumerate() {
                sum[k] += weight * f64::from(at);
                slopes[k] += weight * f64::from(slope);
            }
            // What the certificate costs is a pass over the rows: so not after every step.
            if step.is_power_of_two() || step % 64 == 0 || step == self.spec.steps {
                let Hypothesis::Theta(means) = &mut mean;
                means.iter_mut().zip(&sum).for_each(|(mean, sum)| *mean = (sum / total) as f32);
                let off = slopes.iter().zip(&sum).map(|(slope, sum)| (slope - mu * sum) / total);
                let square: f64 = off.map(|off| off * off).sum();
                let most = match region.radius {
                    Some(radius) if square.sqrt() > mu * radius => {
                        radius * square.sqrt() - mu * radius * radius / 2.0
                    }
                    _ => square / (2.0 * mu),
                };
                rho = self.value(&mean, lambda)? - below / total + most;
                if rho <= self.spec.rho {
                    break;
                }
            }
            let by = (2.0 / (mu * (weight + 1.0))) as f32;
            theta.iter_mut().zip(&gradient).for_each(|(at, slope)| *at -= by * slope);
            region.project(model, theta);
        }
        let Hypothesis::Theta(theta) = mean;
        // Below 0 is rounding; what is no number is no certificate.
        Ok((theta, if rho.is_nan() { f64::INFINITY } else { rho.max(0.0) }))
    }

    /// The Lagrangian, over all rows.
    fn value(&mut self, by: &Hypothesis, lambda: &Multipliers) -> Result<f64> {
        let mut values = LossValues::default();
        let Learner { train, region, .. } = &self.learner;
        train.measure(by, Batch::All, Side::Proxy, &mut self.work, &mut values)?;
        Ok(values.weighted(lambda) + region.penalty(by.theta()))
    }
}

/// Whether the Lagrangian is strongly convex in θ, so that a ρ can be told.
fn is_convex(learner: &Learner<'_>) -> bool {
    learner.region.convexity > 0.0 && learner.model.is_linear() && learner.convex
}

impl ModelPlayer for Oracle<'_> {
    fn play(&mut self, lambda: &Multipliers) -> Result<&Hypothesis> {
        let Some(covering) = &self.covering else {
            let (answer, rho) = self.answer(lambda)?;
            self.rho = self.rho.zip(rho).map(|(most, rho)| most.max(rho));
            self.played = answer;
            return Ok(&self.played);
        };
        let (centre, rounded) = covering.nearest(lambda);
        if !self.memo.contains_key(&centre) {
            let answer = self.answer(&rounded)?;
            self.rho = self.rho.zip(answer.1).map(|(most, rho)| most.max(rho));
            self.memo.insert(centre.clone(), answer);
        }
        Ok(&self.memo[&centre].0)
    }

    fn learn(&mut self, _lambda: &Multipliers) -> Result<()> {
        Ok(())
    }

    /// No answers: they are a function of λ, and found again where they are needed.
    fn save(&self) -> Arrays {
        let mut arrays = Arrays::default();
        arrays.put("rho", Numbers::F64(self.rho.into_iter().collect()));
        arrays
    }

    fn load(&mut self, mut arrays: Arrays) -> Result<()> {
        self.rho = match is_convex(&self.learner) {
            true => Some(arrays.take_f64("rho", 1)?[0]),
            false => None,
        };
        Ok(())
    }

    fn suboptimality(&self) -> Option<f64> {
        self.rho
    }
}
