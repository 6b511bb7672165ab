//! Conditions on rows: `race == "Black" and age < 25`.

use super::parse::{Parser, SPACES};
use super::syntax::KEYWORDS;
use super::token::{Symbol, Token};
use super::{Condition, Literal, Name, fail};
use crate::Result;
use crate::table::Comparison;

impl Parser<'_> {
    pub(super) fn label(&mut self) -> Result<Condition> {
        let condition = self.condition()?;
        if matches!(self.peek(), Token::Word(_)) {
            return Err(self.fail(self.unexpected(), SPACES));
        }
        if self.comparison_symbol().is_some() {
            return Err(self.second_comparison());
        }
        Ok(condition)
    }

    pub(super) fn condition(&mut self) -> Result<Condition> {
        let mut parts = vec![self.conjunction()?];
        while self.take_word("or") {
            parts.push(self.conjunction()?);
        }
        Ok(only(parts).unwrap_or_else(Condition::Or))
    }

    fn conjunction(&mut self) -> Result<Condition> {
        let mut parts = vec![self.negation()?];
        while self.take_word("and") {
            parts.push(self.negation()?);
        }
        Ok(only(parts).unwrap_or_else(Condition::And))
    }

    fn negation(&mut self) -> Result<Condition> {
        if self.take_word("not") {
            let inner = self.nested(Self::negation)?;
            return Ok(Condition::Not(Box::new(inner)));
        }
        if self.take(Symbol::Open) {
            let inner = self.nested(Self::condition)?;
            self.expect(Symbol::Close)?;
            return Ok(inner);
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Result<Condition> {
        if self.begins_literal() {
            return self.literal_first();
        }
        let column = self.name()?;
        if self.take_word("in") {
            return Ok(Condition::In { column, values: self.list()? });
        }
        if matches!(self.peek(), Token::Word(word) if word == "not") {
            self.next();
            if !self.take_word("in") {
                return Err(self.fail(self.unexpected(), "`in` is needed here, or write `!=`"));
            }
            // Nested, as it is where it is printed: `not column in [value]`.
            let values = self.nested(Self::list)?;
            return Ok(Condition::Not(Box::new(Condition::In { column, values })));
        }
        match self.comparison_symbol() {
            None => Ok(Condition::Is(column)),
            Some(comparison) => {
                let value = self.literal()?;
                if self.comparison_symbol().is_some() {
                    return Err(self.second_comparison());
                }
                Ok(Condition::Compare { column, comparison, value })
            }
        }
    }

    /// The error for the comparison just read, in `age >= 20 <= 30` or `tpr(age < 30 >= 0.9`.
    pub(super) fn second_comparison(&self) -> crate::Error {
        let count = |symbol: Symbol| {
            let read = &self.tokens[..self.at];
            read.iter().filter(|(token, _)| *token == Token::Symbol(symbol)).count()
        };
        let label = if count(Symbol::Open) > count(Symbol::Close) {
            "is a `)` missing before it? two comparisons are joined with `and`"
        } else {
            "write `low <= column <= high`, or join two comparisons with `and`"
        };
        fail(self.text, self.last(), "a second comparison", label)
    }

    /// `20 <= age`, `20 <= age < 30`.
    fn literal_first(&mut self) -> Result<Condition> {
        let low = self.literal()?;
        let Some(comparison) = self.comparison_symbol() else {
            let compare = || "compare a column with it, as in `age >= 30`".to_owned();
            let label = self.hyphenated().unwrap_or_else(compare);
            return Err(fail(self.text, low.span(), "a value alone is no condition", label));
        };
        if self.begins_literal() {
            return Err(self.fail(
                format!("two values are compared, {low} and {}", self.peek()),
                "one side must be a column",
            ));
        }
        let column = self.name()?;
        let first =
            Condition::Compare { column: column.clone(), comparison: flip(comparison), value: low };
        match self.comparison_symbol() {
            None => Ok(first),
            Some(comparison) => {
                // Nested, as it is where it is printed: `not (age >= 20 and age < 30)`.
                let value = self.nested(Self::literal)?;
                Ok(Condition::And(vec![first, Condition::Compare { column, comparison, value }]))
            }
        }
    }

    pub(super) fn comparison_symbol(&mut self) -> Option<Comparison> {
        let Token::Symbol(symbol) = self.peek() else { return None };
        let comparison = match symbol {
            Symbol::Equal => Comparison::Eq,
            Symbol::Unequal => Comparison::Ne,
            Symbol::Less => Comparison::Lt,
            Symbol::LessEqual => Comparison::Le,
            Symbol::Greater => Comparison::Gt,
            Symbol::GreaterEqual => Comparison::Ge,
            _ => return None,
        };
        self.next();
        Some(comparison)
    }

    pub(super) fn begins_literal(&self) -> bool {
        match self.peek() {
            Token::Number(_) | Token::Text(_) | Token::Symbol(Symbol::Minus) => true,
            Token::Word(word) => {
                matches!(word.as_str(), "true" | "false")
                    || (matches!(word.as_str(), "median" | "quantile")
                        && *self.peek_second() == Token::Symbol(Symbol::Open))
            }
            _ => false,
        }
    }

    fn literal(&mut self) -> Result<Literal> {
        let start = self.span();
        if self.take(Symbol::Minus) {
            let Token::Number(number) = *self.peek() else {
                return Err(self.fail(self.unexpected(), "a number is needed here"));
            };
            self.next();
            return Ok(Literal::Number(0.0 - number, start.to(self.last())));
        }
        if !self.begins_literal() {
            let label = match self.peek() {
                Token::Word(name) | Token::Quoted(name) => format!(
                    "a text goes in double quotes, \"{name}\"; a column can only stand on one side"
                ),
                _ => "a number, a text in double quotes, `true` or `false`".to_owned(),
            };
            return Err(self.fail(format!("a value is needed, not {}", self.peek()), label));
        }
        match self.next() {
            Token::Number(number) => Ok(Literal::Number(number, start)),
            Token::Text(text) => Ok(Literal::Text(text, start)),
            Token::Word(word) if word == "median" || word == "quantile" => {
                self.expect(Symbol::Open)?;
                let column = self.name()?;
                let level = if word == "median" { 0.5 } else { self.level()? };
                self.expect(Symbol::Close)?;
                Ok(Literal::Quantile { column, level, span: start.to(self.last()) })
            }
            truth => Ok(Literal::Boolean(truth == Token::Word("true".into()), start)),
        }
    }

    /// The level of a quantile, after its column.
    fn level(&mut self) -> Result<f64> {
        let comma = self.take(Symbol::Comma);
        match *self.peek() {
            Token::Number(level) if comma && level <= 1.0 => {
                self.next();
                Ok(level)
            }
            _ => Err(self.fail(
                format!("a level is needed, not {}", self.peek()),
                "between 0 and 1, as in `quantile(age, 0.7)` or `quantile(age, 70%)`",
            )),
        }
    }

    fn list(&mut self) -> Result<Vec<Literal>> {
        self.expect(Symbol::OpenList)?;
        let mut values = vec![self.literal()?];
        while self.take(Symbol::Comma) {
            values.push(self.literal()?);
        }
        self.expect(Symbol::CloseList)?;
        Ok(values)
    }

    pub(super) fn name(&mut self) -> Result<Name> {
        let span = self.span();
        let text = match self.peek() {
            Token::Quoted(name) => name.clone(),
            Token::Word(word) if !KEYWORDS.contains(&word.as_str()) => word.clone(),
            Token::Word(word) => {
                return Err(self.fail(
                    format!("a column is needed, not `{word}`"),
                    "the word has a meaning of its own; a column of that name goes in backticks",
                ));
            }
            found => {
                return Err(self.fail(
                    format!("a column is needed, not {found}"),
                    "such as `age`; odd names go in backticks",
                ));
            }
        };
        if *self.peek_second() == Token::Symbol(Symbol::Open) {
            return Err(self.fail(
                format!("`{text}` is called, but conditions compare columns"),
                "only `median(column)` and `quantile(column, level)` can stand here, after a comparison",
            ));
        }
        self.next();
        Ok(Name { text, span })
    }
}

/// The only item, or all of them.
fn only<T>(items: Vec<T>) -> Result<T, Vec<T>> {
    <[T; 1]>::try_from(items).map(|[item]| item)
}

/// The comparison as seen from the other side.
fn flip(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Lt => Comparison::Gt,
        Comparison::Le => Comparison::Ge,
        Comparison::Gt => Comparison::Lt,
        Comparison::Ge => Comparison::Le,
        same => same,
    }
}
