//! Columns that grow row by row and settle on a kind once.

use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::Arc;

use super::text::{self, Parsed};
use super::{
    Category, Column, Dictionary, Kind, MISSING, Missing, ReadOptions, Table, Values, list,
    no_such_column,
};
use crate::{Error, ErrorKind, Remedy, Result, memory, shown};

/// A table that grows; all sources of one read append to the same one.
#[derive(Default)]
pub(super) struct TableBuilder {
    pub(super) columns: Vec<ColumnBuilder>,
    started: bool,
    /// The bytes of values that memory was last asked for.
    foreseen: usize,
}

/// A column that grows.
pub(super) struct ColumnBuilder {
    pub(super) name: String,
    /// What tells the kind.
    pub(super) origin: Origin,
    values: Growing,
}

/// What tells the kind of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// Its values.
    Content,
    /// Whoever reads it.
    Declared,
    /// Another table, which this one is to be like.
    Expected,
}

enum Growing {
    /// So many missing values, and nothing else yet.
    Undecided(usize),
    Number(Vec<f64>),
    Category(Vec<u32>, Dictionary),
    Boolean(Vec<Option<bool>>),
}

/// Why a value does not fit its column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Misfit {
    NotNumber,
    Inexact,
    TooLarge,
    NotBoolean,
    NotUtf8,
    /// It has more bytes than are allowed.
    TooLong(usize),
}

impl Misfit {
    /// The error for `text` in the column `name`, whose kind was told by `origin`.
    pub(super) fn error(self, text: &[u8], name: &str, origin: Origin) -> Error {
        let column = shown(name);
        let text = String::from_utf8_lossy(text);
        let value = shown(&text);
        let found = |what: &str| {
            Error::new(ErrorKind::Value, format!("column `{column}` holds `{value}`, {what}"))
        };
        // What is shown in another way than it is written cannot be typed.
        let with_marker = |error: Error| match value == text {
            true => error.remedy(Remedy::Missing(text.to_string())),
            false => error,
        };
        let so_far = match origin {
            Origin::Content => "has been so far",
            Origin::Declared => "is declared to be",
            Origin::Expected => "has to be",
        };
        let category = Remedy::Kind(name.to_owned(), Kind::Category);
        // What has to be of a kind is of no use as another.
        let with_kind = |error: Error| match origin {
            Origin::Expected => error,
            _ => error.remedy(category.clone()),
        };
        match self {
            Misfit::NotNumber => {
                let what = format!("which is not the finite number that the column {so_far}");
                with_kind(with_marker(found(&what)))
            }
            Misfit::Inexact => with_kind(found("an integer too long to keep exactly as a number"))
                .remedy(Remedy::Drop(name.to_owned())),
            Misfit::TooLarge => {
                let what = "a number larger than any that can be held (1.8e308)";
                with_kind(with_marker(found(what)))
            }
            Misfit::NotBoolean => {
                let what = format!("which is not the true or false that the column {so_far}");
                with_kind(with_marker(found(&what)))
            }
            Misfit::NotUtf8 => Error::new(
                ErrorKind::Format,
                format!("column `{column}` holds bytes that are not UTF-8 (`{value}`)"),
            )
            .help("convert the file to UTF-8, for example with `iconv -f LATIN1 -t UTF-8`"),
            Misfit::TooLong(most) => Error::new(
                ErrorKind::Value,
                format!("column `{column}` holds a text of more than {most} bytes (`{value}`)"),
            )
            .remedy(Remedy::MaxField)
            .remedy(Remedy::Drop(name.to_owned())),
        }
    }
}

impl TableBuilder {
    /// Takes the column names of the next source, and says for each which column it fills, or
    /// `None` where it is left out.
    pub(super) fn open(
        &mut self,
        names: Vec<String>,
        options: &ReadOptions,
    ) -> Result<Vec<Option<usize>>> {
        let wanted = options.wanted();
        check_names(&names, &wanted)?;
        let kept: Vec<String> = names.iter().filter(|name| wanted(name)).cloned().collect();
        if self.started {
            same_names(&self.columns, &kept)?;
        } else {
            self.start(&names, kept, options)?;
        }
        let places = self.columns.iter().enumerate();
        let places: HashMap<&str, usize> =
            places.map(|(place, column)| (column.name.as_str(), place)).collect();
        Ok(names.iter().map(|name| places.get(name.as_str()).copied()).collect())
    }

    fn start(&mut self, names: &[String], kept: Vec<String>, options: &ReadOptions) -> Result<()> {
        let asked =
            options.columns.iter().flatten().chain(&options.drop).chain(options.kinds.keys());
        let known: HashSet<&String> = names.iter().collect();
        for name in asked {
            if !known.contains(name) {
                return Err(no_such_column(name, names.iter().map(String::as_str)));
            }
        }
        if kept.is_empty() {
            return Err(Error::new(ErrorKind::Column, "there is no column to read")
                .help("keep at least one column"));
        }
        self.started = true;
        let kind = |name: &String| match (options.kinds.get(name), options.expected.get(name)) {
            // Saying what has to be changes nothing.
            (None, Some(kind)) => Ok(Some((*kind, Origin::Expected))),
            (Some(kind), Some(expected)) if kind == expected => Ok(Some((*kind, Origin::Expected))),
            (Some(kind), None) => Ok(Some((*kind, Origin::Declared))),
            (None, None) => Ok(None),
            (Some(kind), Some(expected)) => {
                let name = shown(name);
                let message = format!("column `{name}` has to be a {expected}, not a {kind}");
                Err(Error::new(ErrorKind::Column, message).help("do not declare it to be another"))
            }
        };
        self.columns = kept
            .into_iter()
            .map(|name| kind(&name).map(|kind| ColumnBuilder::new(name, kind)))
            .collect::<Result<_>>()?;
        Ok(())
    }

    /// Refuses so many more rows where there is no memory for them. Columns double as they grow, so memory is asked for
    /// each time that their size has doubled.
    pub(super) fn foresee(&mut self, rows: usize) -> Result<()> {
        const FROM: usize = 16 << 20;
        let rows = self.rows() + rows;
        let bytes = size_of::<f64>().saturating_mul(self.columns.len()).saturating_mul(rows);
        if bytes <= self.foreseen.max(FROM) {
            return Ok(());
        }
        self.foreseen = bytes.saturating_mul(2);
        let what = format!("{rows} rows of {} columns", self.columns.len());
        memory::check(
            bytes as u128,
            &what,
            "keep fewer columns, or read on a machine with more memory",
        )
    }

    /// How many rows were appended since the last table was taken.
    pub(super) fn rows(&self) -> usize {
        self.columns.first().map_or(0, ColumnBuilder::len)
    }

    /// The rows so far as a table. The columns go on without them, of the kinds that they have by now.
    pub(super) fn take(&mut self) -> Result<Table> {
        Table::new(self.columns.iter_mut().map(ColumnBuilder::take).collect())
    }
}

/// Refuses columns without a name, or with that of another, unless they are left out.
fn check_names(names: &[String], wanted: &impl Fn(&str) -> bool) -> Result<()> {
    let mut places = HashMap::with_capacity(names.len());
    for (index, name) in names.iter().enumerate().filter(|(_, name)| wanted(name)) {
        if name.is_empty() {
            return Err(Error::new(
                ErrorKind::Column,
                format!("column {} of {} has no name", index + 1, names.len()),
            )
            .help("name it in the header")
            .remedy(Remedy::Names));
        }
        if let Some(earlier) = places.insert(name.as_str(), index) {
            return Err(Error::new(ErrorKind::Column, {
                let name = shown(name);
                format!("columns {} and {} are both named `{name}`", earlier + 1, index + 1)
            })
            .help("rename one")
            .remedy(Remedy::Names)
            .remedy(Remedy::Drop(name.clone())));
        }
    }
    Ok(())
}

/// Sources of one table have the same columns, in any order.
fn same_names(first: &[ColumnBuilder], names: &[String]) -> Result<()> {
    let first = || first.iter().map(|column| column.name.as_str());
    let names = || names.iter().map(String::as_str);
    let (before, now): (HashSet<&str>, HashSet<&str>) = (first().collect(), names().collect());
    let absent: Vec<&str> = first().filter(|name| !now.contains(name)).collect();
    let extra: Vec<&str> = names().filter(|name| !before.contains(name)).collect();
    let found = match (absent.as_slice(), extra.as_slice()) {
        ([], []) => return Ok(()),
        ([], extra) => format!("has {}, which the first file lacks", list(extra.iter().copied())),
        (absent, _) => format!("lacks {}, which the first file has", list(absent.iter().copied())),
    };
    let error = Error::new(ErrorKind::Column, format!("the file {found}"))
        .help("files read as one table need the same columns");
    Err(absent
        .iter()
        .chain(&extra)
        .take(3)
        .fold(error, |error, name| error.remedy(Remedy::Drop((*name).to_owned()))))
}

impl ColumnBuilder {
    fn new(name: String, kind: Option<(Kind, Origin)>) -> Self {
        let origin = kind.map_or(Origin::Content, |(_, origin)| origin);
        let mut column = ColumnBuilder { name, origin, values: Growing::Undecided(0) };
        if let Some((kind, _)) = kind {
            column.decide(kind);
        }
        column
    }

    /// The kind, once it is settled.
    pub(super) fn kind(&self) -> Option<Kind> {
        match self.values {
            Growing::Undecided(_) => None,
            Growing::Number(_) => Some(Kind::Number),
            Growing::Category(..) => Some(Kind::Category),
            Growing::Boolean(_) => Some(Kind::Boolean),
        }
    }

    /// Settles the kind of a column that has only missing values so far.
    pub(super) fn decide(&mut self, kind: Kind) {
        let Growing::Undecided(missing) = self.values else { return };
        self.values = match kind {
            Kind::Number => Growing::Number(vec![f64::NAN; missing]),
            Kind::Category => Growing::Category(vec![MISSING; missing], Dictionary::default()),
            Kind::Boolean => Growing::Boolean(vec![None; missing]),
        };
    }

    /// Makes a column that has no kind yet one of text, which takes any value as it is written.
    pub(super) fn decide_text(&mut self) {
        if self.kind().is_none() {
            self.decide(Kind::Category);
            self.origin = Origin::Declared;
        }
    }

    fn len(&self) -> usize {
        match &self.values {
            Growing::Undecided(missing) => *missing,
            Growing::Number(numbers) => numbers.len(),
            Growing::Category(codes, _) => codes.len(),
            Growing::Boolean(truths) => truths.len(),
        }
    }

    /// Makes room for so many more rows.
    pub(super) fn reserve(&mut self, rows: usize) {
        match &mut self.values {
            Growing::Undecided(_) => {}
            Growing::Number(numbers) => numbers.reserve(rows),
            Growing::Category(codes, _) => codes.reserve(rows),
            Growing::Boolean(truths) => truths.reserve(rows),
        }
    }

    /// Appends a text, already trimmed.
    pub(super) fn push_text(&mut self, text: &[u8], missing: &Missing) -> Result<(), Misfit> {
        match &mut self.values {
            Growing::Number(numbers) => match text::number(text) {
                Parsed::Number(number) if !missing.is_number(number) => numbers.push(number),
                Parsed::Number(_) => numbers.push(f64::NAN),
                _ if missing.is_text(text) => numbers.push(f64::NAN),
                Parsed::Inexact => return Err(Misfit::Inexact),
                Parsed::TooLarge => return Err(Misfit::TooLarge),
                Parsed::NotNumber => return Err(Misfit::NotNumber),
            },
            Growing::Category(codes, dictionary) => {
                if missing.is_text(text) {
                    codes.push(MISSING);
                } else {
                    codes.push(dictionary.intern_bytes(text).map_err(|_| Misfit::NotUtf8)?);
                }
            }
            Growing::Boolean(truths) => {
                let read = match self.origin {
                    Origin::Content => text::truth,
                    _ => text::declared_truth,
                };
                match read(text) {
                    _ if missing.is_text(text) => truths.push(None),
                    Some(truth) => truths.push(Some(truth)),
                    None => return Err(Misfit::NotBoolean),
                }
            }
            Growing::Undecided(count) => {
                if missing.is_text(text) {
                    *count += 1;
                } else {
                    self.decide(infer([text], missing).unwrap_or(Kind::Category));
                    return self.push_text(text, missing);
                }
            }
        }
        Ok(())
    }

    /// Appends missing values.
    pub(super) fn push_missing(&mut self, count: usize) {
        match &mut self.values {
            Growing::Undecided(so_far) => *so_far += count,
            Growing::Number(numbers) => numbers.resize(numbers.len() + count, f64::NAN),
            Growing::Category(codes, _) => codes.resize(codes.len() + count, MISSING),
            Growing::Boolean(truths) => truths.resize(truths.len() + count, None),
        }
    }

    /// The numbers to append to, if the column holds numbers.
    pub(super) fn numbers(&mut self) -> Option<&mut Vec<f64>> {
        match &mut self.values {
            Growing::Number(numbers) => Some(numbers),
            _ => None,
        }
    }

    /// The codes and dictionary to append to, if the column holds categories.
    pub(super) fn category(&mut self) -> Option<(&mut Vec<u32>, &mut Dictionary)> {
        match &mut self.values {
            Growing::Category(codes, dictionary) => Some((codes, dictionary)),
            _ => None,
        }
    }

    /// The truth values to append to, if the column holds booleans.
    pub(super) fn truths(&mut self) -> Option<&mut Vec<Option<bool>>> {
        match &mut self.values {
            Growing::Boolean(truths) => Some(truths),
            _ => None,
        }
    }

    fn take(&mut self) -> Column {
        // A column of nothing but missing values has no content to go by.
        self.decide(Kind::Category);
        let values = match &mut self.values {
            Growing::Number(numbers) => {
                let mut numbers = mem::take(numbers);
                numbers.shrink_to_fit();
                Values::Number(numbers)
            }
            Growing::Category(codes, dictionary) => {
                let (mut codes, mut dictionary) = (mem::take(codes), mem::take(dictionary));
                codes.shrink_to_fit();
                dictionary.shrink();
                Values::Category(Category { codes, dictionary: Arc::new(dictionary) })
            }
            Growing::Boolean(truths) => {
                let mut truths = mem::take(truths);
                truths.shrink_to_fit();
                Values::Boolean(truths)
            }
            Growing::Undecided(_) => Values::Number(Vec::new()),
        };
        Column { name: self.name.clone(), values }
    }
}

/// The kind that fits every one of these texts, or `None` if all are missing.
pub(super) fn infer<'a>(
    texts: impl IntoIterator<Item = &'a [u8]>,
    missing: &Missing,
) -> Option<Kind> {
    let mut seen = None;
    for text in texts {
        if missing.is_text(text) {
            continue;
        }
        let kind = match text::number(text) {
            Parsed::Number(_) if text::zero_padded(text) => Kind::Category,
            // One number that is too large is an error among numbers, not the end of them.
            Parsed::Number(_) | Parsed::TooLarge => Kind::Number,
            _ if text::truth(text).is_some() => Kind::Boolean,
            _ => Kind::Category,
        };
        if kind == Kind::Category || seen.is_some_and(|seen| seen != kind) {
            return Some(Kind::Category);
        }
        seen = Some(kind);
    }
    seen
}
