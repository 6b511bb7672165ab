//! Functions that stand in for the step 1{f > 0} where a slope is needed.

use serde_json::Value;

use crate::settings::{Declared, Kind, Place, Schema, Variant, Wrong, chosen, declare};

declare! {
    /// A function h of a score that stands in for 1{f > 0}.
    ///
    /// | | h(f) | upper bound | convex |
    /// |---|---|---|---|
    /// | hinge | max(0, 1 + f) | yes | yes |
    /// | logistic | log₂(1 + eᶠ) | yes | yes |
    /// | sigmoid | 1 / (1 + e⁻ᶠ) | no: ½ at 0 | no |
    /// | ramp | min(1, max(0, 1 + f)) | yes | no |
    ///
    /// "Upper bound" means h(f) ≥ 1{f > 0} for every f, and h(−f) ≥ 1{f ≤ 0}; then every proxy loss is at
    /// least its exact loss. The paper's experiments use the hinge.
    ///
    /// ```
    /// use fairgame::rate::Surrogate;
    /// assert_eq!(Surrogate::Hinge.value(0.5), 1.5);
    /// assert_eq!(Surrogate::Ramp.value(0.5), 1.0);
    /// assert_eq!(Surrogate::Sigmoid.value(0.0), 0.5);
    /// ```
    #[derive(Copy, Eq)]
    pub enum Surrogate (default Surrogate::Hinge) {
        /// max(0, 1 + f).
        Hinge = "hinge",
        /// log₂(1 + eᶠ).
        Logistic = "logistic",
        /// 1/(1 + e⁻ᶠ): no upper bound.
        Sigmoid = "sigmoid",
        /// min(1, max(0, 1 + f)): not convex.
        Ramp = "ramp",
    }
}

/// A surrogate, or the one that suits the model: `auto`.
impl Declared for Option<Surrogate> {
    fn schema() -> Schema {
        let Schema { mut kind, short } = Surrogate::schema();
        if let Kind::Choice(variants) = &mut kind {
            let help = "The one that suits the model".to_owned();
            variants.insert(0, Variant { name: AUTO, help, schema: None, flag: None });
        }
        Schema { kind, short }
    }

    fn read(given: &Value, at: &Place, _: Option<&Self>) -> Result<Self, Wrong> {
        let words: Vec<&'static str> =
            Self::schema().variants().iter().map(|variant| variant.name).collect();
        match chosen(given, at, &words)? {
            (AUTO, _) => Ok(None),
            _ => Surrogate::read(given, at, None).map(Some),
        }
    }

    fn write(&self) -> Value {
        self.map_or_else(|| AUTO.into(), |surrogate| surrogate.write())
    }
}

const AUTO: &str = "auto";

impl Surrogate {
    /// Every surrogate.
    pub const ALL: [Surrogate; 4] =
        [Surrogate::Hinge, Surrogate::Logistic, Surrogate::Sigmoid, Surrogate::Ramp];

    /// Whether it is at least 1{f > 0} everywhere.
    pub fn is_upper_bound(self) -> bool {
        self != Surrogate::Sigmoid
    }

    /// h(f).
    #[inline]
    pub fn value(self, score: f32) -> f32 {
        match self {
            // Written so that a score that is not a number stays one: a model that has diverged must
            // not look good.
            Surrogate::Hinge => {
                if score < -1.0 {
                    0.0
                } else {
                    1.0 + score
                }
            }
            // log(1 + eᶠ) = max(0, f) + log(1 + e^−|f|), which cannot overflow.
            Surrogate::Logistic => {
                (score.max(0.0) + (-score.abs()).exp().ln_1p()) * std::f32::consts::LOG2_E
            }
            Surrogate::Sigmoid => sigmoid(score),
            Surrogate::Ramp => (1.0 + score).clamp(0.0, 1.0),
        }
    }

    /// Whether h is convex.
    pub fn is_convex(self) -> bool {
        matches!(self, Surrogate::Hinge | Surrogate::Logistic)
    }

    /// h'(f); at a kink, the slope on its right.
    #[inline]
    pub fn slope(self, score: f32) -> f32 {
        match self {
            _ if score.is_nan() => score,
            Surrogate::Hinge => f32::from(u8::from(score >= -1.0)),
            Surrogate::Logistic => sigmoid(score) * std::f32::consts::LOG2_E,
            Surrogate::Sigmoid => {
                let share = sigmoid(score);
                share * (1.0 - share)
            }
            Surrogate::Ramp => f32::from(u8::from((-1.0..0.0).contains(&score))),
        }
    }
}

/// 1 / (1 + e⁻ᶠ), without overflow.
#[inline]
fn sigmoid(score: f32) -> f32 {
    let small = (-score.abs()).exp();
    (if score >= 0.0 { 1.0 } else { small }) / (1.0 + small)
}
