//! What a part of some rows is like, when the other parts are elsewhere.

use serde::{Deserialize, Serialize};

use super::super::builder::infer;
use super::super::csv::SAMPLE;
use super::super::{Chunks, Column, Kind, ReadOptions, Table, Untyped, Values, chunks};
use super::{Feed, Held};
use crate::Result;

/// Rows that are read at a time.
const CHUNK: usize = 1 << 16;

/// How many rows a part has, and of which columns.
pub(crate) struct Part {
    pub(crate) rows: u64,
    pub(crate) columns: Vec<PartColumn>,
}

/// A column of a part.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PartColumn {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) from: KindFrom,
}

/// Where the kind of a column comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum KindFrom {
    /// It is stored with the rows.
    Type,
    /// It was inferred from text, once so many rows of the part were read.
    Text(u64),
    /// All values are missing, so that it is a guess.
    Nothing,
}

impl Feed<'_> {
    /// How many rows there are, and of which columns. Whatever text is like, it can be counted: that of another part may tell
    /// what kind a column is of.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub(crate) fn part(&self) -> Result<Part> {
        match &self.rows {
            Held::Table(table) => {
                let columns = table.columns().iter().map(|one| described(one, is_missing(one)));
                Ok(Part { rows: table.rows() as u64, columns: columns.collect() })
            }
            Held::Runs(_) => self.part_of_runs(),
            Held::Sources(..) if self.is_text()? => self.part_of_text(),
            Held::Sources(sources, options) => {
                let mut all = self.sources(1)?;
                let first = all.next().transpose()?.map_or_else(|| Table::new(Vec::new()), Ok)?;
                let mut rows = 0;
                for source in sources {
                    rows += source.count(options, 1, &mut None)?.0;
                }
                let untyped = |one: &Column| all.untyped.contains(&one.name);
                let columns = first.columns().iter().map(|one| described(one, untyped(one)));
                Ok(Part { rows, columns: columns.collect() })
            }
        }
    }

    fn part_of_runs(&self) -> Result<Part> {
        let Held::Runs(all) = &self.rows else { return Ok(Part { rows: 0, columns: Vec::new() }) };
        let first = all.run(0..all.rows().min(1))?;
        let mut missing: Vec<bool> = first.columns().iter().map(is_missing).collect();
        // A column whose first value is there is not read on.
        for from in (0..all.rows()).step_by(CHUNK) {
            if !missing.contains(&true) {
                break;
            }
            let run = all.run(from..all.rows().min(from + CHUNK))?;
            missing.iter_mut().zip(run.columns()).for_each(|(all, one)| *all &= is_missing(one));
        }
        let columns = first.columns().iter().zip(missing);
        let columns = columns.map(|(one, missing)| described(one, missing)).collect();
        Ok(Part { rows: all.rows() as u64, columns })
    }

    fn part_of_text(&self) -> Result<Part> {
        let Held::Sources(sources, options) = &self.rows else {
            return Ok(Part { rows: 0, columns: Vec::new() });
        };
        let mut options = (**options).clone();
        options.untyped = Untyped::Text;
        let open = |options: &ReadOptions, rows: usize| -> Result<Chunks> {
            let sources = sources.iter().map(super::Again::open).collect::<Result<Vec<_>>>()?;
            let mut all = chunks(sources, options, rows)?;
            all.may_be_empty = self.is_part;
            Ok(all)
        };
        let first = open(&options, SAMPLE)?.next().transpose()?;
        let first = first.map_or_else(|| Table::new(Vec::new()), Ok)?;
        let sampled = |one: &Column| match &one.values {
            Values::Category(texts) => {
                let texts = texts.texts().flatten().map(str::as_bytes);
                infer(texts, &options.missing).map(|kind| (kind, KindFrom::Text(0)))
            }
            other => Some((other.kind(), KindFrom::Type)),
        };
        let mut found: Vec<_> = first.columns().iter().map(sampled).collect();
        let mut rows = first.rows() as u64;
        if first.rows() == SAMPLE {
            // To count, one column is enough; those whose kind is not known yet are read beside it.
            let columns = first.columns().iter().zip(&found).enumerate();
            let read = columns.filter(|(at, (_, kind))| *at == 0 || kind.is_none());
            let mut options = options.clone();
            options.columns = Some(read.map(|(_, (one, _))| one.name.clone()).collect());
            rows = 0;
            for chunk in open(&options, CHUNK)? {
                let chunk = chunk?;
                let unknown = first.columns().iter().zip(&mut found);
                for (one, found) in unknown.filter(|(_, found)| found.is_none()) {
                    let Some(Values::Category(texts)) =
                        chunk.find(&one.name).map(|one| &one.values)
                    else {
                        continue;
                    };
                    // Behind the first rows, the first value decides alone.
                    let mut texts = texts.texts().zip(rows..);
                    if let Some((text, row)) = texts.find_map(|(text, row)| Some((text?, row))) {
                        let kind = infer([text.as_bytes()], &options.missing);
                        *found = kind.map(|kind| (kind, KindFrom::Text(row)));
                    }
                }
                rows += chunk.rows() as u64;
            }
        }
        let columns = first.columns().iter().zip(found).map(|(one, found)| {
            let (kind, from) = found.unwrap_or((Kind::Category, KindFrom::Nothing));
            PartColumn { name: one.name.clone(), kind, from }
        });
        Ok(Part { rows, columns: columns.collect() })
    }
}

fn is_missing(column: &Column) -> bool {
    let values = &column.values;
    (0..values.len()).all(|row| values.is_missing(row))
}

fn described(column: &Column, missing: bool) -> PartColumn {
    let from = if missing { KindFrom::Nothing } else { KindFrom::Type };
    PartColumn { name: column.name.clone(), kind: column.values.kind(), from }
}
