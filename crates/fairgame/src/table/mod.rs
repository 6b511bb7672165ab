//! Columns in: a table of typed columns, read from CSV, Parquet or Arrow; predicates; splits.
//!
//! Every column is a [`Kind`]: number, category or boolean. Kinds come from content (CSV) or from
//! the declared type (Parquet, Arrow) and can be overridden in [`ReadOptions::kinds`]. Missing
//! values are NaN in a number, [`MISSING`] in a category and `None` in a boolean.

mod arrow;
mod arrow_values;
mod builder;
mod checksum;
mod chunks;
mod column;
mod csv;
mod dictionary;
mod feed;
mod held;
mod input;
mod ipc;
mod predicate;
mod quotes;
mod read;
mod shipped;
pub mod split;
mod stream_summary;
mod summary;
mod text;
mod write;

pub use crate::kind::Kind;
pub use crate::whole::{remove_leftovers, write_beside, write_bytes, write_text};
pub use chunks::{Chunks, files};
pub(crate) use column::is_probability;
pub use column::{Category, Column, MISSING, Values};
pub use dictionary::Dictionary;
pub use feed::PLENTY;
pub(crate) use feed::{Extent, Head, KindFrom, PartColumn};
pub use feed::{Feed, Runs};
pub(crate) use held::{Held, HeldTable};
pub(crate) use predicate::mismatch;
pub use predicate::{Comparison, Predicate, Value};
pub use read::{Header, Missing, ReadOptions, Source, Untyped, chunks, read};
pub use shipped::{SHIPPED, Shipped};
pub use summary::{ColumnSummary, Range, Summary, TopValue, quantile};
pub(crate) use text::canonical;
pub use write::{Format, Writer, write};

use std::collections::HashMap;
use std::sync::Arc;

use crate::{Error, ErrorKind, Result, nearest, shown};

/// A table: named columns of one length, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    rows: usize,
    columns: Vec<Column>,
    /// Where each name is, for tables of a hundred thousand columns; tables cut from one another share it.
    places: Arc<HashMap<String, usize>>,
}

impl Table {
    /// A table of `columns`, which must have one length and different names, and numbers that are
    /// finite or NaN.
    pub fn new(mut columns: Vec<Column>) -> Result<Self> {
        let rows = columns.first().map_or(0, |column| column.values.len());
        let mut places = HashMap::with_capacity(columns.len());
        for (index, column) in columns.iter().enumerate() {
            let name = || shown(&column.name);
            if column.values.len() != rows {
                let found = column.values.len();
                return Err(Error::new(
                    ErrorKind::Column,
                    format!("column `{}` has {found} rows where others have {rows}", name()),
                ));
            }
            if places.insert(column.name.clone(), index).is_some() {
                return Err(Error::new(
                    ErrorKind::Column,
                    format!("two columns are named `{}`", name()),
                ));
            }
        }
        for Column { name, values } in &mut columns {
            let Values::Number(numbers) = values else { continue };
            if let Some(row) = numbers.iter().position(|number| number.is_infinite()) {
                return Err(Error::new(
                    ErrorKind::Value,
                    format!("row {} of column `{}` is infinite", row + 1, shown(name)),
                ));
            }
            // There is one zero: −0 would be a value of its own to a hash table.
            numbers.iter_mut().for_each(|number| *number += 0.0);
        }
        Ok(Table { rows, columns, places: Arc::new(places) })
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The columns, in order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The column of that name; where there is none, the error suggests the nearest.
    pub fn column(&self, name: &str) -> Result<&Column> {
        self.find(name)
            .ok_or_else(|| no_such_column(name, self.columns.iter().map(|c| c.name.as_str())))
    }

    /// The column of that name, if there is one.
    pub(crate) fn find(&self, name: &str) -> Option<&Column> {
        self.places.get(name).map(|&place| &self.columns[place])
    }

    /// The table of these rows, in this order; categories share their dictionaries.
    ///
    /// # Panics
    /// If a row is not below [`Table::rows`].
    #[must_use]
    pub fn take(&self, rows: &[usize]) -> Table {
        let columns = self.columns.iter().map(|column| column.take(rows)).collect();
        Table { rows: rows.len(), columns, places: Arc::clone(&self.places) }
    }

    /// The rows of tables with the same columns, one after the other.
    ///
    /// # Errors
    /// If a table lacks a column of the first, or has one of another kind.
    pub(crate) fn concat(tables: &[Table]) -> Result<Table> {
        let Some(first) = tables.first() else { return Table::new(Vec::new()) };
        let column = |own: &Column| -> Result<Column> {
            let all = tables.iter().map(|table| table.column(&own.name));
            let all = all.collect::<Result<Vec<_>>>()?;
            Ok(Column::new(&own.name, Values::concat(all.iter().map(|one| &one.values))?))
        };
        Table::new(first.columns.iter().map(column).collect::<Result<_>>()?)
    }

    /// The same rows with columns in this order and of these kinds, where they are there; other columns come after them. A
    /// column whose values are all missing becomes one of the kind that is expected.
    ///
    /// # Errors
    /// If a column with values is of another kind.
    pub(crate) fn like(self, kinds: &[(String, Kind)]) -> Result<Table> {
        let same = |(own, (name, kind)): (&Column, &(String, Kind))| {
            own.name == *name && own.values.kind() == *kind
        };
        if kinds.len() == self.columns.len() && self.columns.iter().zip(kinds).all(same) {
            return Ok(self);
        }
        let mut rest: Vec<Option<Column>> = self.columns.into_iter().map(Some).collect();
        let mut columns = Vec::with_capacity(rest.len());
        for (name, kind) in kinds {
            let place = self.places.get(name).and_then(|&place| rest[place].take());
            let Some(mut column) = place else { continue };
            let found = column.values.kind();
            if found != *kind {
                let rows = column.values.len();
                if (0..rows).any(|row| !column.values.is_missing(row)) {
                    let message =
                        format!("column `{}` has to be a {kind}, and is a {found}", shown(name));
                    return Err(Error::new(ErrorKind::Column, message)
                        .help("give all parts the same columns, of the same types"));
                }
                column.values = Values::missing_of(*kind, rows);
            }
            columns.push(column);
        }
        columns.extend(rest.into_iter().flatten());
        Table::new(columns)
    }

    /// The same table with the values of one column in another order; an unknown column changes nothing.
    pub(crate) fn with_column_reordered(&self, name: &str, order: &[usize]) -> Table {
        let columns = self.columns.iter().map(|column| match column.name == name {
            true => column.take(order),
            false => column.clone(),
        });
        let places = Arc::clone(&self.places);
        Table { rows: self.rows, columns: columns.collect(), places }
    }

    /// The table of the rows for which `keep` is true.
    #[must_use]
    ///
    /// # Panics
    /// If there is not one truth a row.
    pub fn filter(&self, keep: &[bool]) -> Table {
        assert_eq!(keep.len(), self.rows(), "one truth a row");
        let rows: Vec<usize> = (0..self.rows).filter(|&row| keep[row]).collect();
        self.take(&rows)
    }
}

/// The error for a column that is not there.
pub(crate) fn no_such_column<'a>(
    name: &str,
    names: impl Iterator<Item = &'a str> + Clone,
) -> Error {
    let error = Error::new(ErrorKind::Column, no_column(name));
    let error = match one_column(names.clone()) {
        true => error.remedy(crate::Remedy::Delimiter),
        false => error,
    };
    let several: Vec<&str> = name.split(',').map(str::trim).collect();
    if several.len() > 1 && several.iter().all(|one| names.clone().any(|known| known == *one)) {
        let several = list(several.into_iter());
        return error
            .help(format!("names are not joined by commas: give it once for each of {several}"));
    }
    match nearest(name, names.clone()) {
        Some(near) => error.help(format!("did you mean `{}`?", shown(near))),
        None => error.help(format!("the columns are {}", list(names))),
    }
}

/// That there is no such column.
pub(crate) fn no_column(name: &str) -> String {
    format!("there is no column `{}`", shown(name))
}

/// Whether there is one column whose name looks like several: a file read with the wrong delimiter.
pub fn one_column<'a>(mut names: impl Iterator<Item = &'a str>) -> bool {
    let first = names.next();
    names.next().is_none()
        && first.is_some_and(|name| name.contains([',', ';', '\t', '|', ' ', ':']))
}

/// Names in backticks, at most a dozen of them.
pub(crate) fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const SHOWN: usize = 12;
    let mut names = names.map(|name| format!("`{}`", shown(name)));
    let mut shown: Vec<String> = names.by_ref().take(SHOWN).collect();
    match names.count() {
        0 => {}
        more => shown.push(format!("and {more} more")),
    }
    shown.join(", ")
}
