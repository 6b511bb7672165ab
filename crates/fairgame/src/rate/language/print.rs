//! Trees as text that parses back to them, with no more parentheses than that takes.

use std::fmt::{self, Display, Formatter, Write};

use super::syntax::KEYWORDS;
use super::token::is_bare;
use super::{
    Condition, Expression, Factor, Group, Inequality, Literal, Name, Relation, Sign, Statement,
};
use crate::table::Comparison;

impl Display for Name {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if is_bare(&self.text) && !KEYWORDS.contains(&self.text.as_str()) {
            f.write_str(&self.text)
        } else {
            quote(f, &self.text, '`')
        }
    }
}

fn quote(f: &mut Formatter<'_>, text: &str, quote: char) -> fmt::Result {
    f.write_char(quote)?;
    for c in text.chars() {
        match c {
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\t' => f.write_str("\\t")?,
            '\r' => f.write_str("\\r")?,
            c if c == quote => write!(f, "\\{c}")?,
            c if c.is_control() => write!(f, "\\u{{{:x}}}", u32::from(c))?,
            c => f.write_char(c)?,
        }
    }
    f.write_char(quote)
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Literal::Number(number, _) => write!(f, "{number}"),
            Literal::Text(text, _) => quote(f, text, '"'),
            Literal::Boolean(truth, _) => write!(f, "{truth}"),
            Literal::Quantile { column, level: 0.5, .. } => write!(f, "median({column})"),
            Literal::Quantile { column, level, .. } => write!(f, "quantile({column}, {level})"),
        }
    }
}

impl Display for Comparison {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Comparison::Eq => "==",
            Comparison::Ne => "!=",
            Comparison::Lt => "<",
            Comparison::Le => "<=",
            Comparison::Gt => ">",
            Comparison::Ge => ">=",
        })
    }
}

/// Items with something between them.
fn join<T: Display>(f: &mut Formatter<'_>, items: &[T], between: &str) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        f.write_str(if index > 0 { between } else { "" })?;
        write!(f, "{item}")?;
    }
    Ok(())
}

/// In parentheses, if it must be.
struct Inner<'a, T>(&'a T, bool);

impl<T: Display> Display for Inner<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.1 { write!(f, "({})", self.0) } else { write!(f, "{}", self.0) }
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let chain =
            |condition: &Condition| matches!(condition, Condition::And(_) | Condition::Or(_));
        match self {
            Condition::Compare { column, comparison, value } => {
                write!(f, "{column} {comparison} {value}")
            }
            Condition::In { column, values } => {
                write!(f, "{column} in [")?;
                join(f, values, ", ")?;
                f.write_char(']')
            }
            Condition::Is(column) => write!(f, "{column}"),
            Condition::And(parts) => {
                let parts: Vec<_> = parts.iter().map(|part| Inner(part, chain(part))).collect();
                join(f, &parts, " and ")
            }
            Condition::Or(parts) => {
                let or = |part: &Condition| matches!(part, Condition::Or(_));
                let parts: Vec<_> = parts.iter().map(|part| Inner(part, or(part))).collect();
                join(f, &parts, " or ")
            }
            Condition::Not(part) => write!(f, "not {}", Inner(part.as_ref(), chain(part))),
        }
    }
}

impl Display for Group {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Group::All => Ok(()),
            Group::Where(condition) => write!(f, "{condition}"),
            Group::Each { columns, condition } => {
                f.write_str("each ")?;
                match columns.as_slice() {
                    [column] => write!(f, "{column}")?,
                    columns => {
                        f.write_char('[')?;
                        join(f, columns, ", ")?;
                        f.write_char(']')?;
                    }
                }
                match condition {
                    Some(condition) => write!(f, " where {condition}"),
                    None => Ok(()),
                }
            }
        }
    }
}

impl Display for Expression {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let sum = |part: &Expression| matches!(part, Expression::Sum(..));
        let product = |part: &Expression| matches!(part, Expression::Product(..));
        match self {
            Expression::Number(number, _) => write!(f, "{number}"),
            Expression::Rate { rate, old, group, .. } => {
                write!(f, "{}(", rate.name())?;
                if let Some(old) = old {
                    write!(f, "{old}")?;
                    f.write_str(if *group == Group::All { "" } else { ", " })?;
                }
                write!(f, "{group})")
            }
            Expression::Negate(part, _) => {
                write!(f, "-{}", Inner(part.as_ref(), sum(part) || product(part)))
            }
            Expression::Sum(parts, _) => {
                for (index, (sign, part)) in parts.iter().enumerate() {
                    f.write_str(match (index, sign) {
                        (0, _) => "",
                        (_, Sign::Plus) => " + ",
                        (_, Sign::Minus) => " - ",
                    })?;
                    write!(f, "{}", Inner(part, sum(part)))?;
                }
                Ok(())
            }
            Expression::Product(parts, _) => {
                for (index, (factor, part)) in parts.iter().enumerate() {
                    f.write_str(match (index, factor) {
                        (0, _) => "",
                        (_, Factor::Times) => " * ",
                        (_, Factor::Over) => " / ",
                    })?;
                    write!(f, "{}", Inner(part, sum(part) || product(part)))?;
                }
                Ok(())
            }
        }
    }
}

impl Display for Relation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Relation::AtMost => "<=",
            Relation::AtLeast => ">=",
        })
    }
}

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Statement::Chain { first, rest } => {
                write!(f, "{first}")?;
                rest.iter().try_for_each(|(relation, side)| write!(f, " {relation} {side}"))
            }
            Statement::Equal { left, right, within } => {
                write!(f, "{left} == {right} within {within}")
            }
        }
    }
}

impl Display for Inequality {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.left, self.relation, self.right)
    }
}
