//! Text to tokens.

use std::fmt;

use super::{Span, fail};
use crate::Result;

/// The smallest parts of a text.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A bare word: a keyword, a rate or a column.
    Word(String),
    /// A column in backticks.
    Quoted(String),
    Text(String),
    Number(f64),
    Symbol(Symbol),
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Symbol {
    Open,
    Close,
    OpenList,
    CloseList,
    Comma,
    Plus,
    Minus,
    Times,
    Divide,
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// Longest first, so that `<=` is not read as `<`.
const SYMBOLS: [(&str, Symbol); 15] = [
    ("==", Symbol::Equal),
    ("!=", Symbol::Unequal),
    ("<=", Symbol::LessEqual),
    (">=", Symbol::GreaterEqual),
    ("<", Symbol::Less),
    (">", Symbol::Greater),
    ("(", Symbol::Open),
    (")", Symbol::Close),
    ("[", Symbol::OpenList),
    ("]", Symbol::CloseList),
    (",", Symbol::Comma),
    ("+", Symbol::Plus),
    ("-", Symbol::Minus),
    ("*", Symbol::Times),
    ("/", Symbol::Divide),
];

/// What people write, and what to write instead; longest first.
const MISTAKES: [(&str, &str); 22] = [
    ("=>", "write `>=`"),
    ("=<", "write `<=`"),
    ("<>", "write `!=`"),
    ("&&", "write `and`"),
    ("||", "write `or`"),
    ("=", "to compare, write `==`"),
    ("≤", "write `<=`"),
    ("≥", "write `>=`"),
    ("≠", "write `!=`"),
    ("&", "write `and`"),
    ("|", "write `or`"),
    ("!", "write `not`"),
    ("~", "write `not`"),
    ("−", "write `-`"),
    ("–", "write `-`"),
    ("×", "write `*`"),
    ("“", "write a straight quote, `\"`"),
    ("”", "write a straight quote, `\"`"),
    ("‘", "write a straight quote, `'`"),
    ("’", "write a straight quote, `'`"),
    ("%", "a percent sign follows its number at once, as in `80%`"),
    (";", "constraints are written one by one"),
];

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(name) | Token::Quoted(name) => write!(f, "`{name}`"),
            Token::Text(text) => write!(f, "\"{text}\""),
            Token::Number(number) => write!(f, "{number}"),
            Token::Symbol(symbol) => {
                let text = SYMBOLS.iter().find(|entry| entry.1 == *symbol).map_or("", |e| e.0);
                write!(f, "`{text}`")
            }
            Token::End => f.write_str("the end"),
        }
    }
}

/// Whether a name can be written without backticks.
pub(super) fn is_bare(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(starts_word) && chars.all(continues_word)
}

fn starts_word(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn continues_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

/// The tokens of a text, each with its place; the last is [`Token::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, Span)>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let (token, length) = if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        } else if starts_word(c) {
            let length = rest.find(|c| !continues_word(c)).unwrap_or(rest.len());
            (Token::Word(rest[..length].to_owned()), length)
        } else if c.is_ascii_digit()
            || (c == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()))
        {
            number(text, at)?
        } else if matches!(c, '"' | '\'' | '`') {
            let (content, length) = quoted(text, at, c)?;
            (if c == '`' { Token::Quoted(content) } else { Token::Text(content) }, length)
        } else {
            symbol(text, at)?
        };
        tokens.push((token, Span::new(at, at + length)));
        at += length;
    }
    tokens.push((Token::End, Span::new(at, at)));
    Ok(tokens)
}

/// A symbol, unless something longer is a mistake that people make.
fn symbol(text: &str, at: usize) -> Result<(Token, usize)> {
    let rest = &text[at..];
    let known = SYMBOLS.iter().find(|entry| rest.starts_with(entry.0));
    let mistake = MISTAKES.iter().find(|entry| rest.starts_with(entry.0));
    match (known, mistake) {
        (Some((known, symbol)), mistake) if mistake.is_none_or(|m| m.0.len() <= known.len()) => {
            Ok((Token::Symbol(*symbol), known.len()))
        }
        _ => {
            let odd = rest.chars().next().map_or(0, char::len_utf8);
            let (length, advice) = mistake.map_or(
                (odd, "names of columns with odd characters go in backticks"),
                |(wrong, advice)| (wrong.len(), *advice),
            );
            let found = rest[..length].escape_debug();
            Err(fail(text, Span::new(at, at + length), format!("unexpected `{found}`"), advice))
        }
    }
}

/// Digits, a fraction, an exponent, and a percent sign.
fn number(text: &str, at: usize) -> Result<(Token, usize)> {
    let rest = &text[at..];
    let digits = |from: usize| rest[from..].bytes().take_while(u8::is_ascii_digit).count();
    let mut length = digits(0);
    if rest[length..].starts_with('.') {
        length += 1;
        length += digits(length);
    }
    if rest[length..].starts_with(['e', 'E']) {
        let sign = usize::from(rest[length + 1..].starts_with(['+', '-']));
        match digits(length + 1 + sign) {
            0 => {}
            exponent => length += 1 + sign + exponent,
        }
    }
    let span = Span::new(at, at + length);
    let number = match rest[..length].parse::<f64>() {
        Ok(number) if number.is_finite() => number,
        _ => return Err(fail(text, span, "this number is too large", "numbers end near 1.8e308")),
    };
    if rest[length..].starts_with('%') {
        return Ok((Token::Number(number / 100.0), length + 1));
    }
    if rest[length..].starts_with(starts_word) {
        let word = rest[length..].find(|c| !continues_word(c)).unwrap_or(rest.len() - length);
        return Err(fail(
            text,
            Span::new(at, at + length + word),
            "a name cannot begin with a digit",
            "if it is a column, put it in backticks; if it is a product, write `*`",
        ));
    }
    Ok((Token::Number(number), length))
}

/// What stands between two quotes, with escapes: `\\`, the quote, `\n`, `\t`, `\r`, `\u{…}`.
fn quoted(text: &str, at: usize, quote: char) -> Result<(String, usize)> {
    let mut content = String::new();
    let mut chars = text[at + 1..].char_indices();
    while let Some((offset, c)) = chars.next() {
        let here = at + 1 + offset;
        if c == quote {
            return Ok((content, offset + 2));
        }
        if c != '\\' {
            content.push(c);
            continue;
        }
        // A backslash at the very end escapes nothing: what is missing is the quote.
        let Some((_, escaped)) = chars.next() else { break };
        content.push(match escaped {
            '\\' | '"' | '\'' | '`' => escaped,
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'u' => {
                let (character, length) = coded(&text[here + 2..]).ok_or_else(|| {
                    let span = Span::new(here, here + 2);
                    fail(
                        text,
                        span,
                        "this is no character",
                        "write its code in hexadecimal, as in `\\u{e9}` for é",
                    )
                })?;
                chars.nth(length - 1);
                character
            }
            other => {
                return Err(fail(
                    text,
                    Span::new(here, here + 1 + other.len_utf8()),
                    format!("`\\{}` is no escape", other.escape_debug()),
                    "for a backslash, write `\\\\`",
                ));
            }
        });
    }
    let span = Span::new(at, text.len());
    Err(fail(text, span, format!("this {quote} is never closed"), format!("close it with {quote}")))
}

/// The character whose code stands in braces, and the length of both.
fn coded(text: &str) -> Option<(char, usize)> {
    let (code, _) = text.strip_prefix('{')?.split_once('}')?;
    let hex = code.bytes().all(|byte| byte.is_ascii_hexdigit());
    let character = char::from_u32(u32::from_str_radix(code, 16).ok()?)?;
    hex.then_some((character, code.len() + 2))
}
