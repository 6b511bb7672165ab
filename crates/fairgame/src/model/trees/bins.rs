//! Columns as trees see them: every value is one of at most 256 codes.
//!
//! A column of trees is one input of the encoder. Its values have *levels* 0, 1, …, at most 255 of them; code 255
//! stands for missing, in every column. A number's level is the bin it falls into, a bucket or a number of steps
//! is its level, and so is a category. Where there are more buckets than levels, neighbours share one; where
//! there are more categories, the rarest share one. What training never saw is missing.

use serde::{Deserialize, Serialize};

use super::cuts::cuts;
use super::spec::TreesSpec;
use crate::encode::{Encoder, Features, Input, Scale};
use crate::model::Monotone;
use crate::slab::Slab;
use crate::table::no_such_column;
use crate::threads::Threads;
use crate::{Error, ErrorKind, Result};

/// Most levels of a column.
pub(super) const LEVELS: usize = 255;

/// The code of a missing value.
pub(super) const MISSING: u8 = 255;

/// How features become codes, fitted on training rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Description", into = "Description")]
pub struct Bins {
    description: Description,
    /// How many levels each column has, and whether they have an order.
    pub(super) shapes: Vec<Shape>,
}

/// What a tree must know of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shape {
    pub(super) levels: usize,
    pub(super) order: Order,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Order {
    Ordered(Option<Monotone>),
    Categories,
}

/// How a column becomes codes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TreeColumn {
    /// The level is the number of cuts below the number.
    Number { cuts: Vec<f32> },
    /// The code of each of the slot's weights, and of silence.
    Codes { codes: Vec<u8>, silent: u8 },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    weights: usize,
    slots: usize,
    numbers: usize,
    columns: Vec<Column>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Column {
    /// The level is the number of cuts below the number.
    Number { number: usize, cuts: Vec<f32>, missing: Option<usize>, monotone: Option<Monotone> },
    /// The code of each of the slot's weights from `first` on, and of silence.
    Ordered { slot: usize, first: usize, codes: Vec<u8>, silent: u8, monotone: Option<Monotone> },
    /// The code of each of the slot's weights from `first` on; silence is missing.
    Categories { slot: usize, first: usize, codes: Vec<u8> },
}

impl Column {
    fn shape(&self) -> Shape {
        // Code 255 is missing, so that a level is at most 254.
        let levels = |codes: &[u8]| {
            let present = codes.iter().filter(|&&code| code != MISSING);
            present.max().map_or(0, |&code| usize::from(code) + 1)
        };
        match self {
            Column::Number { cuts, monotone, .. } => {
                Shape { levels: cuts.len() + 1, order: Order::Ordered(*monotone) }
            }
            Column::Ordered { codes, silent, monotone, .. } => {
                let levels = levels(codes).max(levels(&[*silent]));
                Shape { levels, order: Order::Ordered(*monotone) }
            }
            Column::Categories { codes, .. } => {
                Shape { levels: levels(codes), order: Order::Categories }
            }
        }
    }

    #[inline]
    fn code(&self, features: &Features, row: usize) -> u8 {
        let coded = |slot, first, codes: &[u8], silent| {
            let place = features.code(row, slot).and_then(|code: usize| code.checked_sub(first));
            place.map_or(silent, |place| codes.get(place).copied().unwrap_or(silent))
        };
        match self {
            Column::Number { number, cuts, missing, .. } => {
                let value = features.row_values(row)[*number];
                let is_missing = missing.is_some_and(|slot| features.code(row, slot).is_some());
                if is_missing || value.is_nan() {
                    return MISSING;
                }
                cuts.partition_point(|cut| *cut < value) as u8
            }
            Column::Ordered { slot, first, codes, silent, .. } => {
                coded(*slot, *first, codes, *silent)
            }
            Column::Categories { slot, first, codes } => coded(*slot, *first, codes, MISSING),
        }
    }
}

impl From<Bins> for Description {
    fn from(bins: Bins) -> Self {
        bins.description
    }
}

impl TryFrom<Description> for Bins {
    type Error = Error;

    fn try_from(description: Description) -> Result<Self> {
        let Description { weights, slots, numbers, ref columns } = description;
        let within = |slot: usize, first: usize, codes: &[u8]| {
            slot < slots && first.checked_add(codes.len()).is_some_and(|end| end <= weights)
        };
        let sound = |column: &Column| match column {
            Column::Number { number, cuts, missing, .. } => {
                *number < numbers
                    && missing.is_none_or(|slot| slot < slots)
                    && cuts.len() < LEVELS
                    && cuts.iter().all(|cut| cut.is_finite())
                    && cuts.is_sorted_by(|a, b| a < b)
            }
            Column::Ordered { slot, first, codes, .. }
            | Column::Categories { slot, first, codes } => within(*slot, *first, codes),
        };
        if !columns.iter().all(sound) || u16::try_from(columns.len()).is_err() {
            return Err(Error::new(ErrorKind::Format, "the description of bins is not sound"));
        }
        let shapes = columns.iter().map(Column::shape).collect();
        Ok(Bins { description, shapes })
    }
}

impl Bins {
    /// Fits bins to these rows of the features, or to all. Where a number's column is named beside them, its values are
    /// one bin, so that no tree sees them.
    ///
    /// # Errors
    /// If a monotone column is unknown or has no order, or if there are more than 65,535 columns.
    pub fn fit(
        spec: &TreesSpec,
        encoder: &Encoder,
        features: &Features,
        (rows, but): (Option<&[u32]>, Option<&str>),
        threads: &Threads,
    ) -> Result<Self> {
        spec.check()?;
        let inputs = encoder.inputs();
        if inputs.len() > usize::from(u16::MAX) {
            let found = inputs.len();
            return Err(Error::new(
                ErrorKind::Settings,
                format!("trees take at most 65,535 columns, not {found}"),
            )
            .help("ignore some columns, or choose another model, such as `linear`"));
        }
        for name in spec.monotone.keys() {
            let mut named = inputs.iter().filter(|input| input.column() == name).peekable();
            if named.peek().is_none() {
                return Err(no_such_column(name, inputs.iter().map(Input::column)));
            }
            if named.any(|input| matches!(input, Input::Code { scale: Scale::Categories, .. })) {
                let message =
                    format!("column `{name}` is encoded by value, so no score is monotone in it");
                return Err(Error::new(ErrorKind::Settings, message)
                    .help("encode it as a number or in buckets, or ask for no order"));
            }
        }
        let every: Vec<u32>;
        let rows = match rows {
            Some(rows) => rows,
            None => {
                every = (0..features.rows() as u32).collect();
                &every
            }
        };
        let columns = threads.each(&inputs, |input| {
            let rows = if but == Some(input.column()) { &[] } else { rows };
            fit(spec, input, features, rows)
        });
        let (weights, slots, numbers) = (features.weights(), features.slots(), features.numbers());
        Bins::try_from(Description { weights, slots, numbers, columns })
    }

    /// The same bins where no score must be monotone.
    pub(crate) fn without_order(&self) -> Self {
        let mut free = self.clone();
        for column in &mut free.description.columns {
            if let Column::Number { monotone, .. } | Column::Ordered { monotone, .. } = column {
                *monotone = None;
            }
        }
        free.shapes = free.description.columns.iter().map(Column::shape).collect();
        free
    }

    /// How many columns there are.
    pub fn columns(&self) -> usize {
        self.shapes.len()
    }

    /// How each column of the features becomes codes.
    pub(crate) fn tree_columns(&self) -> Vec<TreeColumn> {
        let column = |column: &Column| match column {
            Column::Number { cuts, .. } => TreeColumn::Number { cuts: cuts.clone() },
            Column::Ordered { codes, silent, .. } => {
                TreeColumn::Codes { codes: codes.clone(), silent: *silent }
            }
            Column::Categories { codes, .. } => {
                TreeColumn::Codes { codes: codes.clone(), silent: MISSING }
            }
        };
        self.description.columns.iter().map(column).collect()
    }

    /// Whether the features are of the shape that the bins were fitted to.
    pub fn fits(&self, features: &Features) -> bool {
        let Description { weights, slots, numbers, .. } = self.description;
        (features.weights(), features.slots(), features.numbers()) == (weights, slots, numbers)
    }

    /// Writes the codes of one row.
    ///
    /// # Panics
    /// If there is no such row, or the features do not fit.
    #[inline]
    pub fn write(&self, features: &Features, row: usize, codes: &mut [u8]) {
        for (column, code) in self.description.columns.iter().zip(codes) {
            *code = column.code(features, row);
        }
    }

    /// The codes of all rows.
    ///
    /// # Errors
    /// If the features do not fit.
    pub fn codes(&self, features: &Features, threads: &Threads) -> Result<Binned> {
        const BLOCK: usize = 16_384;
        if !self.fits(features) {
            let message = "the features are not those that the bins were fitted to";
            return Err(Error::new(ErrorKind::Format, message));
        }
        let (rows, columns) = (features.rows(), self.columns());
        let mut codes = vec![MISSING; rows * columns];
        let mut blocks: Vec<(usize, &mut [u8])> =
            codes.chunks_mut(BLOCK * columns.max(1)).enumerate().collect();
        threads.each_mut(&mut blocks, |(block, codes)| {
            for (at, codes) in codes.chunks_exact_mut(columns.max(1)).enumerate() {
                self.write(features, *block * BLOCK + at, codes);
            }
        });
        Ok(Binned { rows, columns, codes: codes.into() })
    }
}

fn fit(spec: &TreesSpec, input: &Input, features: &Features, rows: &[u32]) -> Column {
    let monotone = spec.monotone.get(input.column()).copied();
    match *input {
        Input::Number { number, missing, .. } => {
            let present =
                |row: &usize| missing.is_none_or(|slot| features.code(*row, slot).is_none());
            let rows = rows.iter().map(|&row| row as usize).filter(present);
            // Adding 0 makes −0 and 0 one value.
            let values = rows.map(|row| features.row_values(row)[number] + 0.0);
            let mut values: Vec<f32> = values.filter(|value| !value.is_nan()).collect();
            Column::Number { number, cuts: cuts(&mut values, spec.bins), missing, monotone }
        }
        Input::Code { slot, first, count, scale, missing, .. } => {
            // Levels before sharing, the last of the weights being missing where there is one.
            let present = count - usize::from(missing.is_some());
            let steps = usize::from(scale == Scale::Steps);
            let mut counts = vec![0_usize; present + steps];
            for &row in rows {
                let code = features.code(row as usize, slot);
                let level = code.map_or(Some(0).filter(|_| steps == 1), |code| {
                    code.checked_sub(first).map(|place| place + steps)
                });
                if let Some(count) = level.and_then(|level| counts.get_mut(level)) {
                    *count += 1;
                }
            }
            let shared = match scale {
                Scale::Categories => share_rare(&counts),
                Scale::Buckets | Scale::Steps => share_neighbours(&counts),
            };
            let mut codes = shared[steps..].to_vec();
            codes.resize(count, MISSING);
            match scale {
                Scale::Categories => Column::Categories { slot, first, codes },
                Scale::Buckets => Column::Ordered { slot, first, codes, silent: MISSING, monotone },
                Scale::Steps => Column::Ordered { slot, first, codes, silent: shared[0], monotone },
            }
        }
    }
}

/// The level of each category: its own, or the last one for the rarest of too many.
fn share_rare(counts: &[usize]) -> Vec<u8> {
    if counts.len() <= LEVELS {
        return (0..counts.len()).map(|level| level as u8).collect();
    }
    let mut order: Vec<usize> = (0..counts.len()).collect();
    order.sort_by_key(|&category| std::cmp::Reverse(counts[category]));
    let mut levels = vec![(LEVELS - 1) as u8; counts.len()];
    for (level, &category) in order[..LEVELS - 1].iter().enumerate() {
        levels[category] = level as u8;
    }
    levels
}

/// The level of each bucket: its own, or shared with neighbours so that levels hold about equally many rows.
fn share_neighbours(counts: &[usize]) -> Vec<u8> {
    if counts.len() <= LEVELS {
        return (0..counts.len()).map(|level| level as u8).collect();
    }
    // An empty bucket counts as one row, so that it too has a level.
    let total: usize = counts.iter().map(|count| count + 1).sum();
    let mut before = 0;
    let level = |count: &usize| {
        let level = before * LEVELS / total;
        before += count + 1;
        level as u8
    };
    counts.iter().map(level).collect()
}

/// The codes of some rows, row by row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binned {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) codes: Slab<u8>,
}

impl Binned {
    /// Rows of so many columns, whose codes stand row by row.
    pub(crate) fn new(columns: usize, codes: Slab<u8>) -> Self {
        Binned { rows: codes.len() / columns.max(1), columns, codes }
    }

    /// The bytes that the codes take.
    pub(crate) fn bytes(&self) -> usize {
        self.codes.len()
    }

    /// Its first rows.
    #[must_use]
    pub(crate) fn first(&self, rows: usize) -> Self {
        Binned::new(self.columns, self.codes[..rows.min(self.rows) * self.columns].to_vec().into())
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The codes of a row.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn row(&self, row: usize) -> &[u8] {
        &self.codes[row * self.columns..(row + 1) * self.columns]
    }
}
