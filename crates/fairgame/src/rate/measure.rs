//! What each rate is: one table.
//!
//! Every rate is made of means over the rows of a group. Beside the group, such a mean is told by one more
//! predicate t: the label y, or for churn the older decision. Of a row of the group, with p its chance of a
//! positive decision, it takes the outcome u + v·p, or does not count the row:
//!
//! ```text
//!                    t holds   t does not   mean
//! Positive           p         p            P(g) / W(g)
//! TruePositive       p         –            P(g ∧ y) / W(g ∧ y)
//! FalsePositive      –         p            P(g ∧ ¬y) / W(g ∧ ¬y)
//! Error, Churn       1 − p     p            the share of g whose decision is not t
//! RightlyPositive    p         0            P(g ∧ y) / W(g)
//! Label              1         0            W(g ∧ y) / W(g): does not depend on the model
//! ```
//!
//! The denominator is the weight of the rows that count.

use std::sync::Arc;

use super::language::Span;
use super::lower::LABEL;

/// A mean that rates are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    Positive,
    TruePositive,
    FalsePositive,
    Error,
    Churn,
    RightlyPositive,
    Label,
}

/// u + v·p.
pub(crate) type Outcome = (f64, f64);

impl Measure {
    /// The outcome of a row that meets t or does not; `None` where it is not counted.
    pub(super) fn outcome(self, told: bool) -> Option<Outcome> {
        const P: Option<Outcome> = Some((0.0, 1.0));
        const NOT_P: Option<Outcome> = Some((1.0, -1.0));
        const ONE: Option<Outcome> = Some((1.0, 0.0));
        const ZERO: Option<Outcome> = Some((0.0, 0.0));
        let (holds, does_not) = match self {
            Measure::Positive => (P, P),
            Measure::TruePositive => (P, None),
            Measure::FalsePositive => (None, P),
            Measure::Error | Measure::Churn => (NOT_P, P),
            Measure::RightlyPositive => (P, ZERO),
            Measure::Label => (ONE, ZERO),
        };
        if told { holds } else { does_not }
    }
}

/// A measure over a group, and where it was written. Predicates are places in the list of the problem.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Atom {
    pub(super) measure: Measure,
    /// The predicate of the group; `None` is all rows.
    pub(crate) group: Option<usize>,
    /// The predicate t; `None` where the outcome does not depend on one.
    pub(crate) told: Option<usize>,
    /// The group as written.
    pub(super) shown: Arc<str>,
    pub(super) span: Span,
}

impl Atom {
    /// A measure over a group that is written nowhere.
    pub(super) fn over(measure: Measure, group: Option<usize>, shown: &str) -> Self {
        let told = (measure != Measure::Positive).then_some(LABEL);
        Atom { measure, group, told, shown: shown.into(), span: Span::whole("") }
    }

    /// The outcome of a row of the group that meets t or does not; `None` where it is not counted.
    pub(crate) fn outcome(&self, told: bool) -> Option<Outcome> {
        self.measure.outcome(told)
    }

    /// Whether it is the same mean, wherever it is written.
    pub(super) fn is(&self, other: &Atom) -> bool {
        (self.measure, self.group, self.told) == (other.measure, other.group, other.told)
    }

    /// Why there is nothing to measure, where `counted` of the `rows` of the group count.
    pub(crate) fn nothing(&self, rows: usize, counted: usize) -> String {
        let (grouped, shown) = (self.group.is_some(), &self.shown);
        let with = if grouped { format!(" with {shown}") } else { String::new() };
        let side = if self.measure == Measure::TruePositive { "positive" } else { "negative" };
        match (rows, counted) {
            (0, _) if grouped => format!("no row has {shown}"),
            (0, _) => "there is no row".to_owned(),
            (1, 0) => format!("the one row{with} is not {side}"),
            (rows, 0) => format!("none of the {rows} rows{with} is {side}"),
            _ => format!("every row{with} that counts here has weight 0"),
        }
    }
}
