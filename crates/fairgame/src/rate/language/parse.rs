//! Tokens to trees, by recursive descent.
//!
//! Chains of one operator are one node, so a tree is only as deep as its parentheses, and those are
//! limited: no text, however long or nested, overflows the stack.

use super::syntax::KEYWORDS;
use super::token::{Symbol, Token, tokens};
use super::{Condition, Expression, Factor, Group, Rate, Relation, Sign, Span, Statement, fail};
use crate::{Result, nearest, shown};

/// How deep parentheses, `not` and `-` may nest.
const DEPTH: usize = 64;

impl Condition {
    /// Reads a condition on rows: `race == "Black" and age < 25`.
    ///
    /// ```
    /// use fairgame::rate::language::Condition;
    /// let condition = Condition::parse("not (age<25 or race in ['Black'])")?;
    /// assert_eq!(condition.to_string(), "not (age < 25 or race in [\"Black\"])");
    /// # Ok::<(), fairgame::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self> {
        whole(text, Parser::label)
    }
}

impl Expression {
    /// Reads a sum of rates: `0.7 * error() + 0.3 * fnr(segment == "new")`.
    pub fn parse(text: &str) -> Result<Self> {
        whole(text, Parser::objective)
    }
}

impl Statement {
    /// Reads a constraint: `positive_rate(each sex) >= 0.8 * positive_rate()`.
    pub fn parse(text: &str) -> Result<Self> {
        whole(text, Parser::statement)
    }
}

fn whole<'a, T>(text: &'a str, rule: fn(&mut Parser<'a>) -> Result<T>) -> Result<T> {
    let mut parser = Parser { text, tokens: tokens(text)?, at: 0, depth: 0 };
    let tree = rule(&mut parser)?;
    match parser.peek() {
        Token::End => Ok(tree),
        found => Err(parser.fail(parser.unexpected(), misplaced(found))),
    }
}

/// What to say of a token that nothing leads to.
fn misplaced(token: &Token) -> &'static str {
    match token {
        Token::Word(word) if word == "and" || word == "or" => {
            "it joins conditions, inside a rate's parentheses; write constraints one by one"
        }
        Token::Word(word) if word == "within" => "it goes with `==`",
        Token::Word(_) | Token::Quoted(_) | Token::Number(_) | Token::Text(_) => {
            "is an operator missing before it?"
        }
        Token::Symbol(Symbol::Close) => "no parenthesis is open here",
        Token::Symbol(Symbol::Comma) => "a fraction is written with a point, as in `0.5`",
        Token::Symbol(Symbol::Equal) => "`==` cannot be part of a chain",
        _ => "it ends before this",
    }
}

/// What to say of a word after a condition.
pub(super) const SPACES: &str =
    "is an operator missing before it? names with spaces go in backticks";

pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: Vec<(Token, Span)>,
    pub(super) at: usize,
    depth: usize,
}

impl Parser<'_> {
    pub(super) fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    pub(super) fn peek_second(&self) -> &Token {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].0
    }

    pub(super) fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    /// The place of the token before.
    pub(super) fn last(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].1
    }

    pub(super) fn next(&mut self) -> Token {
        let token = self.tokens[self.at].0.clone();
        // The end stays where it is, however often it is read.
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    pub(super) fn take(&mut self, symbol: Symbol) -> bool {
        let found = *self.peek() == Token::Symbol(symbol);
        if found {
            self.next();
        }
        found
    }

    pub(super) fn take_word(&mut self, wanted: &str) -> bool {
        let found = matches!(self.peek(), Token::Word(word) if word == wanted);
        if found {
            self.next();
        }
        found
    }

    pub(super) fn expect(&mut self, symbol: Symbol) -> Result<()> {
        if self.take(symbol) {
            return Ok(());
        }
        let wanted = Token::Symbol(symbol);
        Err(self.fail(self.unexpected(), format!("{wanted} is needed here")))
    }

    /// The message for a next token that nothing leads to.
    pub(super) fn unexpected(&self) -> String {
        match self.peek() {
            Token::End => "it ends too soon".to_owned(),
            found => format!("unexpected {found}"),
        }
    }

    /// An error that points at the next token.
    pub(super) fn fail(
        &self,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> crate::Error {
        let (message, label) = (message.into(), label.into());
        let hyphen = message.starts_with("unexpected `-`").then(|| self.hyphenated()).flatten();
        fail(self.text, self.span(), message, hyphen.unwrap_or(label))
    }

    /// What to do where the next token is a hyphen within what looks like a name.
    pub(super) fn hyphenated(&self) -> Option<String> {
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
        let (before, from) = self.text.split_at_checked(self.span().range().start)?;
        let own = before.char_indices().rev().take_while(|(_, c)| is_name(*c)).last();
        let start = own.map_or(before.len(), |(at, _)| at);
        let end = from.char_indices().find(|(_, c)| !is_name(*c)).map_or(from.len(), |(at, _)| at);
        let name = &self.text[start..before.len() + end];
        let within = name.chars().next()?.is_alphanumeric()
            && name.contains(char::is_alphabetic)
            && name.contains('-')
            && !name.ends_with('-')
            && name.parse::<f64>().is_err();
        within.then(|| format!("a name with a hyphen is written in backticks: `{}`", shown(name)))
    }

    pub(super) fn nested<T>(&mut self, rule: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == DEPTH {
            return Err(self.fail(
                format!("nested more than {DEPTH} deep"),
                "take some parentheses, `not` or `-` away",
            ));
        }
        self.depth += 1;
        let tree = rule(self)?;
        self.depth -= 1;
        Ok(tree)
    }

    fn objective(&mut self) -> Result<Expression> {
        let sum = self.sum()?;
        if self.comparison_symbol().is_some() {
            return Err(fail(
                self.text,
                self.last(),
                "an objective is made small, and has no bound",
                "a bound goes in a constraint",
            ));
        }
        Ok(sum)
    }

    pub(super) fn sum(&mut self) -> Result<Expression> {
        let start = self.span();
        let mut parts = vec![(Sign::Plus, self.product()?)];
        loop {
            let sign = match self.peek() {
                Token::Symbol(Symbol::Plus) => Sign::Plus,
                Token::Symbol(Symbol::Minus) => Sign::Minus,
                _ => break,
            };
            self.next();
            parts.push((sign, self.product()?));
        }
        Ok(match <[_; 1]>::try_from(parts) {
            Ok([(_, part)]) => part,
            Err(parts) => Expression::Sum(parts, start.to(self.last())),
        })
    }

    fn product(&mut self) -> Result<Expression> {
        let start = self.span();
        let mut parts = vec![(Factor::Times, self.unary()?)];
        loop {
            let factor = match self.peek() {
                Token::Symbol(Symbol::Times) => Factor::Times,
                Token::Symbol(Symbol::Divide) => Factor::Over,
                _ => break,
            };
            self.next();
            parts.push((factor, self.unary()?));
        }
        Ok(match <[_; 1]>::try_from(parts) {
            Ok([(_, part)]) => part,
            Err(parts) => Expression::Product(parts, start.to(self.last())),
        })
    }

    fn unary(&mut self) -> Result<Expression> {
        let start = self.span();
        if self.take(Symbol::Minus) {
            let inner = self.nested(Self::unary)?;
            return Ok(Expression::Negate(Box::new(inner), start.to(self.last())));
        }
        if self.take(Symbol::Open) {
            let inner = self.nested(Self::sum)?;
            if self.comparison_symbol().is_some() {
                return Err(fail(
                    self.text,
                    self.last(),
                    "a bound inside parentheses",
                    "parentheses go around one side of a constraint, not around all of it",
                ));
            }
            self.expect(Symbol::Close)?;
            return Ok(inner);
        }
        match self.peek().clone() {
            Token::Number(number) => {
                self.next();
                Ok(Expression::Number(number, start))
            }
            Token::Word(word) => self.rate(&word),
            found => Err(self.fail(
                format!("a rate or a number is needed, not {found}"),
                "as in `tpr(race == \"Black\")` or `0.8`",
            )),
        }
    }

    fn rate(&mut self, word: &str) -> Result<Expression> {
        let start = self.span();
        let Some(rate) = Rate::ALL.into_iter().find(|rate| rate.name() == word) else {
            return Err(self.unknown_rate(word));
        };
        self.next();
        if *self.peek() != Token::Symbol(Symbol::Open) {
            return Err(fail(
                self.text,
                start,
                format!("`{word}` lacks its parentheses"),
                format!("over all rows, write `{word}()`"),
            ));
        }
        self.next();
        let old = (rate == Rate::Churn).then(|| self.old_decision()).transpose()?;
        let more = old.is_none() || self.take(Symbol::Comma);
        if old.is_some() && more && *self.peek() == Token::Symbol(Symbol::Close) {
            return Err(self.fail("a group is needed after the comma", "or take the comma away"));
        }
        let group = if more { self.group()? } else { Group::All };
        if !self.take(Symbol::Close) {
            return Err(self.unclosed(&group));
        }
        Ok(Expression::Rate { rate, old, group, span: start.to(self.last()) })
    }

    /// The error for what follows a group and does not close its rate.
    fn unclosed(&self, group: &Group) -> crate::Error {
        let each = matches!(group, Group::Each { condition: None, .. });
        let label = match self.peek() {
            Token::Symbol(Symbol::Comma) if each => {
                "several columns go in brackets, as in `each [race, sex]`"
            }
            Token::Symbol(Symbol::Comma) => "a rate takes one condition: join several with `and`",
            Token::Word(word) if each && word == "and" => "a condition comes after `where`",
            Token::Word(_) => SPACES,
            _ => "`)` is needed here",
        };
        self.fail(self.unexpected(), label)
    }

    fn unknown_rate(&self, word: &str) -> crate::Error {
        /// What other tools and texts call it.
        const ELSEWHERE: [(&str, &str); 19] = [
            ("selection_rate", "`positive_rate`"),
            ("acceptance_rate", "`positive_rate`"),
            ("demographic_parity", "`positive_rate(each …)`"),
            ("statistical_parity", "`positive_rate(each …)`"),
            ("equal_opportunity", "`tpr(each …)`"),
            ("equalized_odds", "two constraints, on `tpr(each …)` and on `fpr(each …)`"),
            ("sensitivity", "`tpr`"),
            ("specificity", "`tnr`"),
            ("true_positive_rate", "`tpr`"),
            ("false_positive_rate", "`fpr`"),
            ("true_negative_rate", "`tnr`"),
            ("false_negative_rate", "`fnr`"),
            ("ppv", "`precision`"),
            ("fdr", "`1 - precision()`"),
            ("accuracy_score", "`accuracy`"),
            ("precision_score", "`precision`"),
            ("recall_score", "`recall`"),
            ("f1_score", "`f1`"),
            ("abs", "`a == b within 0.05`"),
        ];
        let names = Rate::ALL.map(Rate::name);
        let unknown = format!("unknown rate `{word}`");
        if let Some((_, ours)) = ELSEWHERE.iter().find(|(name, _)| name.eq_ignore_ascii_case(word))
        {
            return self.fail(unknown, format!("write {ours}"));
        }
        if let Some(near) = nearest(word, names) {
            return self.fail(unknown, format!("did you mean `{near}`?"));
        }
        if *self.peek_second() == Token::Symbol(Symbol::Open) && !KEYWORDS.contains(&word) {
            return self.fail(unknown, format!("the rates are {}", names.join(", ")));
        }
        self.fail(
            format!("a rate or a number is needed, not `{word}`"),
            "columns and conditions go inside a rate's parentheses, as in `tpr(each race)`",
        )
    }

    fn old_decision(&mut self) -> Result<Condition> {
        let label = match self.peek() {
            Token::Symbol(Symbol::Close) => {
                "name the column with the older model's decisions, as in `churn(old)`"
            }
            Token::Word(word) if word == "each" => {
                "the older model's decisions come first, as in `churn(old, each race)`"
            }
            _ => return self.condition(),
        };
        Err(self.fail("churn from what?", label))
    }

    fn group(&mut self) -> Result<Group> {
        if *self.peek() == Token::Symbol(Symbol::Close) {
            return Ok(Group::All);
        }
        if !self.take_word("each") {
            return Ok(Group::Where(self.condition()?));
        }
        let mut columns = Vec::new();
        if self.take(Symbol::OpenList) {
            columns.push(self.name()?);
            while self.take(Symbol::Comma) {
                columns.push(self.name()?);
            }
            self.expect(Symbol::CloseList)?;
        } else {
            columns.push(self.name()?);
        }
        let condition = if self.take_word("where") { Some(self.condition()?) } else { None };
        if condition.is_none() && self.comparison_symbol().is_some() {
            return Err(fail(
                self.text,
                self.last(),
                "`each` goes over the values of a column, and compares nothing",
                "to limit the rows, write `each column where condition`",
            ));
        }
        Ok(Group::Each { columns, condition })
    }

    fn statement(&mut self) -> Result<Statement> {
        let first = self.sum()?;
        if self.take(Symbol::Equal) {
            return self.equality(first);
        }
        let mut rest = Vec::new();
        loop {
            let relation = match self.peek() {
                Token::Symbol(Symbol::LessEqual) => Relation::AtMost,
                Token::Symbol(Symbol::GreaterEqual) => Relation::AtLeast,
                Token::Symbol(Symbol::Less) => return Err(self.strict("<=")),
                Token::Symbol(Symbol::Greater) => return Err(self.strict(">=")),
                Token::Symbol(Symbol::Unequal) => {
                    return Err(
                        self.fail("a constraint cannot ask rates to differ", "use `<=` or `>=`")
                    );
                }
                Token::End if rest.is_empty() => {
                    return Err(self.fail("this is no constraint yet", "add a bound: `<=` or `>=`"));
                }
                _ => break,
            };
            self.next();
            rest.push((relation, self.sum()?));
        }
        if rest.is_empty() {
            return Err(self.fail(self.unexpected(), misplaced(self.peek())));
        }
        Ok(Statement::Chain { first, rest })
    }

    fn strict(&self, loose: &str) -> crate::Error {
        self.fail(
            "a strict bound cannot be enforced",
            format!("write `{loose}`, with a little room if need be"),
        )
    }

    fn equality(&mut self, left: Expression) -> Result<Statement> {
        let right = self.sum()?;
        if !self.take_word("within") {
            return Err(self.fail(
                "rates are never exactly equal",
                "say how far apart they may be: `within 0.05`",
            ));
        }
        match *self.peek() {
            Token::Number(within) => {
                self.next();
                Ok(Statement::Equal { left, right, within })
            }
            _ => Err(self.fail(
                format!("a tolerance is needed, not {}", self.peek()),
                "a number such as 0.05",
            )),
        }
    }
}
