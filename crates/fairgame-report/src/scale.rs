//! From numbers to places: scales and their ticks.
//!
//! A linear scale maps [low, high] to [from, to]; its ticks are the multiples of a step 1, 2 or 5 × 10ᵏ.
//! A logarithmic one does so with log₁₀, from 1 on, and its ticks are powers of ten.

use crate::format;

/// Larger numbers are not drawn: differences of theirs would overflow, and no axis could show them.
pub(crate) const LARGEST: f64 = 1e15;

/// Whether a number has a place in a figure.
pub(crate) fn drawable(x: f64) -> bool {
    x.abs() <= LARGEST
}

/// A place with its text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub(crate) at: f64,
    pub(crate) text: String,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Linear { step: f64 },
    Log,
}

/// Numbers to places.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    kind: Kind,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// A scale that holds all drawable values and ends at ticks, of which there are about `ticks`.
    pub(crate) fn linear(
        values: impl IntoIterator<Item = f64>,
        ticks: usize,
        from: f64,
        to: f64,
    ) -> Scale {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for x in values.into_iter().filter(|&x| drawable(x)) {
            (low, high) = (low.min(x), high.max(x));
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        // Room around a single value; and no step so small that ticks would be one number.
        let room = (low.abs().max(high.abs()) * 1e-4).max(1e-12);
        if high - low < room {
            let half = if low == 0.0 { 0.5 } else { low.abs() * 0.1 };
            (low, high) = (low - half, high + half);
        }
        let step = nice_step((high - low) / ticks.max(1) as f64);
        let kind = Kind::Linear { step };
        Scale {
            kind,
            low: (low / step).floor() * step,
            high: (high / step).ceil() * step,
            from,
            to,
        }
    }

    /// A scale for counts, from 1 to the power of ten that holds the largest; 0 is drawn at 1.
    pub(crate) fn log(counts: impl IntoIterator<Item = f64>, from: f64, to: f64) -> Scale {
        let most = counts.into_iter().filter(|x| x.is_finite()).fold(10.0, f64::max);
        Scale { kind: Kind::Log, low: 0.0, high: most.log10().ceil(), from, to }
    }

    /// Whether a number has a place of its own.
    pub(crate) fn holds(&self, x: f64) -> bool {
        match self.kind {
            Kind::Linear { .. } => drawable(x),
            Kind::Log => x.is_finite(),
        }
    }

    /// Where a number is; outside the scale, at its nearer end.
    pub(crate) fn place(&self, x: f64) -> f64 {
        let x = match self.kind {
            Kind::Linear { .. } => x,
            Kind::Log => x.max(1.0).log10(),
        };
        let share = (x.clamp(self.low, self.high) - self.low) / (self.high - self.low);
        self.from + share * (self.to - self.from)
    }

    /// The ticks, from low to high.
    pub(crate) fn ticks(&self) -> Vec<Tick> {
        match self.kind {
            Kind::Linear { step } => {
                let first = (self.low / step).round() as i64;
                let last = (self.high / step).round() as i64;
                let tick = |x: f64| Tick { at: self.place(x), text: tick_text(x, step) };
                (first..=last).map(|i| tick(i as f64 * step)).collect()
            }
            Kind::Log => (0..=self.high as i32)
                .step_by(self.high as usize / 6 + 1)
                .map(|power| Tick { at: self.place(10f64.powi(power)), text: short_count(power) })
                .collect(),
        }
    }
}

/// The smallest of 1, 2, 5 × 10ᵏ that is at least `rough`.
fn nice_step(rough: f64) -> f64 {
    let power = 10f64.powi(rough.log10().floor() as i32);
    let factor = [1.0, 2.0, 5.0].into_iter().find(|f| f * power >= rough * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

/// A tick's number, with the decimals that its step needs.
fn tick_text(x: f64, step: f64) -> String {
    let decimals = -step.log10().floor();
    if decimals > 5.0 || x.abs() >= 1e6 {
        if (x / step).round() == 0.0 {
            return "0".into();
        }
        let digits = (x.abs() / step).log10().max(0.0).ceil() as usize;
        let text = format!("{x:.digits$e}");
        let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
        let digits = digits.trim_end_matches('0').trim_end_matches('.');
        return format!("{digits}e{power}").replace('-', "−");
    }
    format::signed(x, decimals.max(0.0) as usize)
}

/// A power of ten: 1, 10, 100, 1k, 10k, 100k, 1M.
fn short_count(power: i32) -> String {
    let suffix = ["", "k", "M", "G", "T", "P", "E"][(power / 3).clamp(0, 6) as usize];
    format!("1{}{suffix}", "0".repeat((power % 3) as usize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(scale: &Scale) -> Vec<String> {
        scale.ticks().into_iter().map(|tick| tick.text).collect()
    }

    #[test]
    fn ticks_are_round_and_end_the_scale() {
        assert_eq!(
            texts(&Scale::linear([-0.013, 0.071], 5, 0.0, 100.0)),
            ["−0.02", "0.00", "0.02", "0.04", "0.06", "0.08"]
        );
        assert_eq!(
            texts(&Scale::linear([0.0, 4000.0], 4, 0.0, 1.0)),
            ["0", "1,000", "2,000", "3,000", "4,000"]
        );
        assert_eq!(
            texts(&Scale::log([3.0, 30_000.0], 0.0, 1.0)),
            ["1", "10", "100", "1k", "10k", "100k"]
        );
        assert_eq!(
            texts(&Scale::log([u64::MAX as f64], 0.0, 1.0)),
            ["1", "10k", "100M", "1T", "10P", "100E"]
        );
        assert_eq!(texts(&Scale::linear([0.0, 2e-7], 2, 0.0, 1.0)), ["0", "1e−7", "2e−7"]);
    }

    #[test]
    fn nothing_and_one_value_have_a_scale_too() {
        assert_eq!(texts(&Scale::linear([], 2, 0.0, 1.0)), ["0.0", "0.5", "1.0"]);
        assert_eq!(
            Scale::linear([f64::NAN, f64::INFINITY, 1e300], 2, 0.0, 1.0),
            Scale::linear([], 2, 0.0, 1.0)
        );
        let one = Scale::linear([0.3], 4, 0.0, 100.0);
        assert!((10.0..=90.0).contains(&one.place(0.3)));
    }

    #[test]
    fn zero_and_what_lies_outside_are_at_an_end() {
        let scale = Scale::log([1000.0], 10.0, 70.0);
        assert_eq!((scale.place(0.0), scale.place(1.0), scale.place(1e9)), (10.0, 10.0, 70.0));
        assert_eq!(scale.place(10.0), 30.0);
    }

    proptest! {
        #[test]
        fn ticks_are_few_distinct_in_order_and_hold_the_values(
            a in -1e15..1e15f64, b in -1e15..1e15f64, power in -20i32..=0, ticks in 1usize..8,
        ) {
            let (a, b) = (a * 10f64.powi(power), b * 10f64.powi(power));
            let scale = Scale::linear([a, b], ticks, 0.0, 100.0);
            let marks = scale.ticks();
            prop_assert!((2..=ticks + 3).contains(&marks.len()), "{marks:?}");
            prop_assert!(marks.windows(2).all(|w| w[0].at < w[1].at && w[0].text != w[1].text), "{marks:?}");
            prop_assert!(marks.iter().all(|m| m.text.chars().count() <= 12), "{marks:?}");
            for x in [a, b] {
                prop_assert!(scale.low <= x + 1e-9 * x.abs() && x <= scale.high + 1e-9 * x.abs());
                prop_assert!((0.0..=100.0).contains(&scale.place(x)));
            }
        }
    }
}
