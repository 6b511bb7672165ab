//! A covering of the simplex Δ^{m+1} by finitely many centres, in the 1-norm.
//!
//! The centres are the points whose coordinates are multiples of 1/q, of which there are C(q+m, m). To
//! round λ, each coordinate is rounded down and what is missing to 1 is given, 1/q each, to the
//! coordinates that lost most. No other centre is nearer: with fractional parts f_i of q·λ_i that add up
//! to s, a centre that rounds s of them up is (2/q)·Σ_{down} f_i away, least if the largest go up. With
//! d = m+1 that is at most (2/q)·s·(d−s)/d, most at s = ⌊d/2⌋, and so
//!
//! ```text
//! r ≤ 2·⌊d/2⌋·⌈d/2⌉ / (d·q)
//! ```

use crate::rate::Multipliers;
use crate::{Error, ErrorKind, Result};

/// Finitely many distributions, one of which is near any.
#[derive(Debug, Clone, PartialEq)]
pub struct Covering {
    constraints: usize,
    /// q: coordinates are multiples of 1/q.
    parts: u32,
}

/// A centre, as the multiples of 1/q that its coordinates are.
pub(super) type Centre = Vec<u32>;

impl Covering {
    /// More centres than this are refused: hardly one would be met twice.
    pub const MOST: f64 = 1e9;

    /// The covering for so many constraints in which no λ is further than `radius` from a centre.
    ///
    /// ```
    /// use fairgame::player::Covering;
    /// // Two coordinates in tenths, 0 to 1: eleven centres.
    /// let covering = Covering::new(1, 0.1)?;
    /// assert_eq!((covering.len(), covering.radius()), (11.0, 0.1));
    /// assert!(Covering::new(50, 0.01).is_err());
    /// # Ok::<(), fairgame::Error>(())
    /// ```
    pub fn new(constraints: usize, radius: f64) -> Result<Self> {
        let wrong = |message: String| Error::new(ErrorKind::Settings, message);
        Covering::check_radius(radius)?;
        // Less a hair, so that a radius of 0.1 asks for tenths however it is rounded.
        let parts = (unit_radius(constraints) / radius * (1.0 - 1e-12)).ceil().max(1.0);
        let covering = Covering { constraints, parts: parts.min(f64::from(u32::MAX)) as u32 };
        if covering.len() <= Self::MOST {
            return Ok(covering);
        }
        Err(wrong(format!(
            "a covering of radius {radius:.3e} for {constraints} constraints has {:.1e} centres, \
             and more than {:.0e} are too many to say anything",
            covering.len(),
            Self::MOST
        ))
        .help("allow a larger algorithm.discrete.radius (or epsilon), or use an algorithm without a covering: continuous or practical"))
    }

    /// Refuses a radius that is none.
    pub(crate) fn check_radius(radius: f64) -> Result<()> {
        if radius > 0.0 && radius.is_finite() {
            return Ok(());
        }
        let message = format!("a covering has no radius of {radius}");
        Err(Error::new(ErrorKind::Settings, message).help("give a radius above 0 and below 2"))
    }

    /// The radius: no λ is further from its centre.
    pub fn radius(&self) -> f64 {
        unit_radius(self.constraints) / f64::from(self.parts)
    }

    /// How many centres there are: C(q+m, m).
    #[allow(clippy::len_without_is_empty, reason = "a covering is never empty")]
    pub fn len(&self) -> f64 {
        let (parts, constraints) = (f64::from(self.parts), self.constraints as u32);
        let product = (1..=constraints)
            .fold(1.0, |product: f64, i| product * (parts + f64::from(i)) / f64::from(i));
        product.round()
    }

    /// The nearest centre, and λ rounded to it; of several, that which rounds up the first coordinates.
    pub(super) fn nearest(&self, lambda: &Multipliers) -> (Centre, Multipliers) {
        let parts = f64::from(self.parts);
        let all = || std::iter::once(&lambda.objective).chain(&lambda.constraints);
        let mut centre: Centre = all().map(|weight| (weight * parts).floor() as u32).collect();
        let rest = |i: usize, weight: &f64| weight * parts - f64::from(centre[i]);
        let rests: Vec<f64> = all().enumerate().map(|(i, weight)| rest(i, weight)).collect();
        let mut order: Vec<usize> = (0..centre.len()).collect();
        order.sort_by(|&a, &b| rests[b].total_cmp(&rests[a]).then(a.cmp(&b)));
        let missing = self.parts.saturating_sub(centre.iter().sum());
        order.iter().take(missing as usize).for_each(|&at| centre[at] += 1);
        let weight = |part: &u32| f64::from(*part) / parts;
        let rounded = Multipliers {
            objective: weight(&centre[0]),
            constraints: centre[1..].iter().map(weight).collect(),
        };
        (centre, rounded)
    }
}

/// The radius for q = 1.
fn unit_radius(constraints: usize) -> f64 {
    let all = constraints + 1;
    2.0 * (all / 2) as f64 * all.div_ceil(2) as f64 / all as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::ln_covering_size;
    use crate::random::Stream;

    /// All ways to give `parts` to `places`.
    fn centres(parts: u32, places: usize) -> Vec<Centre> {
        if places == 1 {
            return vec![vec![parts]];
        }
        let rest = |first: u32| {
            centres(parts - first, places - 1).into_iter().map(move |mut centre| {
                centre.insert(0, first);
                centre
            })
        };
        (0..=parts).flat_map(rest).collect()
    }

    /// There are as many centres as counted, no more than the lemma's bound; the one chosen is nearest;
    /// and none is further than the radius.
    #[test]
    fn centres_are_counted_nearest_and_near() {
        let mut stream = Stream::new(1, "covering");
        for (constraints, radius) in [(1, 0.25), (2, 0.3), (3, 0.5), (4, 0.4)] {
            let covering = Covering::new(constraints, radius).unwrap();
            let centres = centres(covering.parts, constraints + 1);
            assert_eq!(centres.len() as f64, covering.len());
            assert!(covering.len().ln() <= ln_covering_size(constraints, radius));
            assert!(covering.radius() <= radius * (1.0 + 1e-9));
            for _ in 0..300 {
                let draw: Vec<f64> =
                    (0..=constraints).map(|_| -stream.unit().max(1e-12).ln()).collect();
                let total: f64 = draw.iter().sum();
                let lambda: Vec<f64> = draw.iter().map(|x| x / total).collect();
                let multipliers =
                    Multipliers { objective: lambda[0], constraints: lambda[1..].to_vec() };
                let (chosen, rounded) = covering.nearest(&multipliers);
                let sum = rounded.objective + rounded.constraints.iter().sum::<f64>();
                assert!((sum - 1.0).abs() < 1e-12);
                let distance = |centre: &Centre| -> f64 {
                    let parts = f64::from(covering.parts);
                    centre.iter().zip(&lambda).map(|(&c, l)| (f64::from(c) / parts - l).abs()).sum()
                };
                assert!(distance(&chosen) <= covering.radius() + 1e-12);
                let least = centres.iter().map(distance).fold(f64::INFINITY, f64::min);
                assert!((distance(&chosen) - least).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn too_large_is_refused() {
        let error = Covering::new(20, 0.01).unwrap_err().to_string();
        assert!(error.contains("20 constraints") && error.contains("practical"), "{error}");
        assert!(Covering::new(2, 0.0).is_err() && Covering::new(2, f64::NAN).is_err());
    }
}
