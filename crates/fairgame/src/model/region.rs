//! Where parameters may be, and how they are held back, for any model.
//!
//! Algorithm 2 and Theorem 2 of the paper ask for a bounded convex set Θ that contains 0, and for losses
//! that are μ-strongly convex in θ. A ball of radius R gives the one, and (μ/2)·‖θ‖² added to the loss
//! the other.

use super::Differentiable;
use crate::Result;
use crate::settings::{self, declare};

declare! {
    /// A ball around 0 and a pull towards it.
    #[derive(Copy)]
    pub struct Region {
        /// Radius R of the ball that holds the parameters: ‖θ‖₂ ≤ R.
        pub radius: Option<f64> =
            with(None).above(0.0).unset("none", "parameters of any size").flag("radius"),
        /// Strength μ of the L2 regularisation: (μ/2)·‖θ‖² is added to the loss.
        pub convexity: f64 = with(0.0).at_least(0.0).flag("convexity"),
    }
}

impl Region {
    /// Moves θ to where the model and the ball allow it to be.
    ///
    /// Shrinking θ towards 0 keeps what models ask of it: order and values between 0 and 1.
    ///
    /// ```
    /// use fairgame::model::Region;
    /// let mut theta = [3.0, 4.0];
    /// Region { radius: Some(1.0), convexity: 0.0 }.shrink(&mut theta);
    /// assert!((theta[0] - 0.6).abs() < 1e-6 && (theta[1] - 0.8).abs() < 1e-6);
    /// ```
    pub fn project(&self, model: &dyn Differentiable, theta: &mut [f32]) {
        model.project(theta);
        self.shrink(theta);
    }

    /// Refuses a radius or a convexity that is none.
    pub fn check(&self) -> Result<()> {
        settings::check(self)
    }

    /// Moves θ into the ball.
    pub fn shrink(&self, theta: &mut [f32]) {
        let Some(radius) = self.radius else { return };
        let norm = square(theta).sqrt();
        if norm > radius {
            let factor = (radius.max(0.0) / norm) as f32;
            theta.iter_mut().for_each(|parameter| *parameter *= factor);
        }
    }

    /// (μ/2)·‖θ‖².
    pub fn penalty(&self, theta: &[f32]) -> f64 {
        self.convexity / 2.0 * square(theta)
    }

    /// Adds the penalty's gradient, μ·θ.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn add_gradient(&self, theta: &[f32], gradient: &mut [f32]) {
        assert_eq!(theta.len(), gradient.len(), "one slope for each parameter");
        if self.convexity != 0.0 {
            let by = self.convexity as f32;
            gradient.iter_mut().zip(theta).for_each(|(slope, parameter)| *slope += by * parameter);
        }
    }
}

fn square(theta: &[f32]) -> f64 {
    theta.iter().map(|&parameter| f64::from(parameter) * f64::from(parameter)).sum()
}
