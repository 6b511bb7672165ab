//! The language of labels, groups, objectives and constraints.
//!
//! The grammar stands in `docs/language.md`, with an example for every form. Text becomes tokens
//! (`token.rs`), tokens become a tree that remembers where each part stood (`parse.rs`,
//! `condition.rs`, `syntax.rs`), and a tree prints as text that parses back to it (`print.rs`). What a tree means is another stage: it is
//! bound to a training table in [`crate::rate::Problem::bind`].

mod condition;
mod parse;
mod print;
mod syntax;
mod token;

pub use syntax::{
    Condition, Expression, Factor, Group, Inequality, Literal, Name, Rate, Relation, Sign, Span,
    Statement,
};

use crate::{Error, ErrorKind};

/// An error that points at a part of a text.
pub(crate) fn fail(
    text: &str,
    span: Span,
    message: impl Into<String>,
    label: impl Into<String>,
) -> Error {
    Error::new(ErrorKind::Syntax, message).pointing(text, span.range(), label)
}
