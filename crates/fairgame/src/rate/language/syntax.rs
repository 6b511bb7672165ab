//! The tree of a text.

use std::ops::Range;

use crate::table::Comparison;

/// Where in its text a part stands, in bytes. Two trees are equal wherever their parts stand.
#[derive(Debug, Clone, Copy, Default)]
pub struct Span {
    start: usize,
    end: usize,
}

impl Span {
    pub(super) fn new(start: usize, end: usize) -> Self {
        Span { start, end }
    }

    /// From the beginning of this to the end of `other`.
    pub(super) fn to(self, other: Span) -> Self {
        Span { start: self.start, end: other.end }
    }

    /// All of a text.
    pub(crate) fn whole(text: &str) -> Self {
        Span { start: 0, end: text.len() }
    }

    /// The bytes of the text.
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

impl PartialEq for Span {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The name of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct Name {
    /// As in the table.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// What a column is compared with.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// A number.
    Number(f64, Span),
    /// A text.
    Text(String, Span),
    /// `true` or `false`.
    Boolean(bool, Span),
    /// `median(column)` or `quantile(column, level)`, taken on the training table.
    Quantile {
        /// The column whose quantile it is.
        column: Name,
        /// Between 0 and 1.
        level: f64,
        /// Where it stands.
        span: Span,
    },
}

impl Literal {
    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            Literal::Number(_, span)
            | Literal::Text(_, span)
            | Literal::Boolean(_, span)
            | Literal::Quantile { span, .. } => *span,
        }
    }
}

/// A condition on a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// `column == value`
    Compare {
        /// What is compared.
        column: Name,
        /// How.
        comparison: Comparison,
        /// With what.
        value: Literal,
    },
    /// `column in [value, value]`
    In {
        /// What is compared.
        column: Name,
        /// With what.
        values: Vec<Literal>,
    },
    /// `column`: it is true, or 1.
    Is(Name),
    /// `a and b`
    And(Vec<Condition>),
    /// `a or b`
    Or(Vec<Condition>),
    /// `not a`
    Not(Box<Condition>),
}

/// The rates by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rate {
    /// The share of rows whose decision is not their label.
    Error,
    /// The share of rows whose decision is their label.
    Accuracy,
    /// The share of rows decided positive.
    PositiveRate,
    /// The share of rows decided negative.
    NegativeRate,
    /// The share of positive rows decided positive.
    Tpr,
    /// Another name of the same.
    Recall,
    /// The share of positive rows decided negative.
    Fnr,
    /// The share of negative rows decided positive.
    Fpr,
    /// The share of negative rows decided negative.
    Tnr,
    /// The share of rows decided positive that are positive.
    Precision,
    /// The harmonic mean of precision and recall.
    F1,
    /// The share of rows whose decision is not that of an older model.
    Churn,
}

impl Rate {
    /// Every rate.
    pub const ALL: [Rate; 12] = [
        Rate::Error,
        Rate::Accuracy,
        Rate::PositiveRate,
        Rate::NegativeRate,
        Rate::Tpr,
        Rate::Recall,
        Rate::Fnr,
        Rate::Fpr,
        Rate::Tnr,
        Rate::Precision,
        Rate::F1,
        Rate::Churn,
    ];

    /// The name in the language.
    pub fn name(self) -> &'static str {
        match self {
            Rate::Error => "error",
            Rate::Accuracy => "accuracy",
            Rate::PositiveRate => "positive_rate",
            Rate::NegativeRate => "negative_rate",
            Rate::Tpr => "tpr",
            Rate::Recall => "recall",
            Rate::Fnr => "fnr",
            Rate::Fpr => "fpr",
            Rate::Tnr => "tnr",
            Rate::Precision => "precision",
            Rate::F1 => "f1",
            Rate::Churn => "churn",
        }
    }
}

/// The rows that a rate is taken over.
#[derive(Debug, Clone, PartialEq)]
pub enum Group {
    /// `()`: all rows.
    All,
    /// `(condition)`: the rows that meet it.
    Where(Condition),
    /// `(each column where condition)`: one group for each value that occurs.
    Each {
        /// One column, or several whose combinations count.
        columns: Vec<Name>,
        /// What the rows of every group meet.
        condition: Option<Condition>,
    },
}

/// A number, a rate, or a sum or product of them.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "trees are small and few")]
pub enum Expression {
    /// A number, not below 0.
    Number(f64, Span),
    /// A rate over a group.
    Rate {
        /// Which.
        rate: Rate,
        /// For churn, what the older model decided.
        old: Option<Condition>,
        /// Over which rows.
        group: Group,
        /// Where it stands.
        span: Span,
    },
    /// `-a`
    Negate(Box<Expression>, Span),
    /// `a + b - c`; the first sign is a plus.
    Sum(Vec<(Sign, Expression)>, Span),
    /// `a * b / c`; the first factor is multiplied.
    Product(Vec<(Factor, Expression)>, Span),
}

/// Added or taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// `+`
    Plus,
    /// `-`
    Minus,
}

/// Multiplied or divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Factor {
    /// `*`
    Times,
    /// `/`
    Over,
}

impl Expression {
    /// Visits its rates, in the order in which they are written.
    pub(crate) fn rates<'a>(&'a self, visit: &mut dyn FnMut(&'a Expression)) {
        match self {
            Expression::Number(..) => {}
            Expression::Rate { .. } => visit(self),
            Expression::Negate(part, _) => part.rates(visit),
            Expression::Sum(parts, _) => parts.iter().for_each(|(_, part)| part.rates(visit)),
            Expression::Product(parts, _) => parts.iter().for_each(|(_, part)| part.rates(visit)),
        }
    }

    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            Expression::Number(_, span)
            | Expression::Rate { span, .. }
            | Expression::Negate(_, span)
            | Expression::Sum(_, span)
            | Expression::Product(_, span) => *span,
        }
    }
}

/// How two sides of a constraint stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// `<=`
    AtMost,
    /// `>=`
    AtLeast,
}

/// A constraint as it is written; it may stand for several.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "trees are small and few")]
pub enum Statement {
    /// `a <= b`, or a chain such as `a <= b <= c`.
    Chain {
        /// The leftmost side.
        first: Expression,
        /// The relations, each with its right side.
        rest: Vec<(Relation, Expression)>,
    },
    /// `a == b within 0.05`
    Equal {
        /// One side.
        left: Expression,
        /// The other.
        right: Expression,
        /// How far apart they may be.
        within: f64,
    },
}

/// A single constraint: no chain, no `each`, no equality.
#[derive(Debug, Clone, PartialEq)]
pub struct Inequality {
    /// The left side.
    pub left: Expression,
    /// How it stands to the right side.
    pub relation: Relation,
    /// The right side.
    pub right: Expression,
}

/// Words that are not columns unless they stand in backticks.
pub(super) const KEYWORDS: [&str; 11] =
    ["and", "or", "not", "in", "each", "where", "within", "true", "false", "median", "quantile"];
