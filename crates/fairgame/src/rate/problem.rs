//! A problem as it is written: label, objective, constraints.

use std::fmt;
use std::sync::Arc;

use super::language::{Condition, Expression, Span, Statement};
use crate::{Error, ErrorKind, Result, printable};

/// What to minimise, subject to what, for which label.
///
/// ```
/// use fairgame::rate::Problem;
/// let problem = Problem::parse(
///     "income == \">50K\"",
///     "error()",
///     &["positive_rate(each sex) >= 0.8 * positive_rate()"],
/// )?;
/// assert_eq!(problem.constraints().len(), 1);
/// # Ok::<(), fairgame::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    pub(super) label: Parsed<Condition>,
    pub(super) objective: Parsed<Expression>,
    pub(super) constraints: Vec<Parsed<Statement>>,
    pub(super) skip_empty: bool,
}

/// A tree and the text it was read from, for errors that point into it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parsed<T> {
    pub(super) tree: T,
    pub(super) source: Source,
}

/// A text and what messages call it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Source {
    pub(super) place: Arc<str>,
    pub(super) text: Arc<str>,
}

impl Source {
    /// An error that points at a part of the text.
    pub(super) fn fail(
        &self,
        kind: ErrorKind,
        span: Span,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Error {
        Error::new(kind, message).pointing(&self.text, span.range(), label).at(&self.place)
    }
}

pub(super) fn parsed<T>(
    place: String,
    text: &str,
    parse: fn(&str) -> Result<T>,
) -> Result<Parsed<T>> {
    if text.trim().is_empty() {
        return Err(Error::new(ErrorKind::Syntax, "there is nothing to read").at(place));
    }
    let tree = parse(text).map_err(|error| error.at(&place))?;
    Ok(Parsed { tree, source: Source { place: place.into(), text: text.into() } })
}

impl Problem {
    /// Reads a problem; errors point into the text.
    pub fn parse<S: AsRef<str>>(label: &str, objective: &str, constraints: &[S]) -> Result<Self> {
        let constraints = constraints.iter().enumerate().map(|(index, text)| {
            parsed(format!("constraint {}", index + 1), text.as_ref(), Statement::parse)
        });
        Ok(Problem {
            label: parsed("label".into(), label, Condition::parse)?,
            objective: parsed("objective".into(), objective, Expression::parse)?,
            constraints: constraints.collect::<Result<_>>()?,
            skip_empty: false,
        })
    }

    /// The same problem, in which groups of an `each` that have nothing to measure are left out with a
    /// notice rather than refused.
    #[must_use]
    pub fn skip_empty_groups(mut self) -> Self {
        self.skip_empty = true;
        self
    }

    /// The label's condition.
    pub fn label(&self) -> &Condition {
        &self.label.tree
    }

    /// The objective.
    pub fn objective(&self) -> &Expression {
        &self.objective.tree
    }

    /// The constraints as they are written, each of which may stand for several.
    pub fn constraints(&self) -> Vec<&Statement> {
        self.constraints.iter().map(|constraint| &constraint.tree).collect()
    }
}

/// Something that binding a problem found worth telling the user.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum BindNotice {
    /// A group of an `each` has nothing to measure, and its constraint is left out.
    EmptyGroup {
        /// The constraint that is left out.
        constraint: String,
        /// Why.
        reason: String,
    },
    /// Several groups of an `each` have nothing to measure, and their constraints are left out.
    EmptyGroups {
        /// The constraints that are left out.
        constraints: Vec<String>,
        /// Why the first of them is.
        reason: String,
    },
    /// No classifier violates the constraint.
    AlwaysMet {
        /// The constraint.
        constraint: String,
    },
}

impl fmt::Display for BindNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BindNotice::EmptyGroup { constraint, reason } => {
                write!(f, "left out `{}`: {}", printable(constraint), printable(reason))
            }
            BindNotice::EmptyGroups { constraints, reason } => {
                const SHOWN: usize = 3;
                let some =
                    constraints.iter().take(SHOWN).map(|one| format!("`{}`", printable(one)));
                let some = some.collect::<Vec<_>>().join(", ");
                let more = if constraints.len() > SHOWN { ", …" } else { "" };
                let (count, reason) = (constraints.len(), printable(reason));
                write!(
                    f,
                    "left out {count} constraints, of the first because {reason}: {some}{more}"
                )
            }
            BindNotice::AlwaysMet { constraint } => {
                let constraint = printable(constraint);
                write!(f, "no classifier can violate `{constraint}`: it changes nothing")
            }
        }
    }
}
