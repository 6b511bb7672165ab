//! The fitted encoder, and its application to tables.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::{Codes, Features, Steps};
use crate::slab::Store;
use crate::table::{Category, Column, Kind, MISSING, Table, Values};
use crate::{Error, ErrorKind, Remedy, Result};

/// A fitted encoder: a pure function from rows to features.
///
/// It serialises (with serde) to a plain description; reading one back checks it, so that no
/// description, however damaged, makes [`Encoder::encode`] panic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Description", into = "Description")]
pub struct Encoder {
    features: Vec<Feature>,
}

/// An encoder as it is written down.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    version: u32,
    features: Vec<Feature>,
}

const VERSION: u32 = 1;

/// Numbers are at most this large. Standardised training rows are never so far out (|z| is at most the root of their
/// number); the limit keeps a wild later value from becoming an infinite score.
pub(crate) const FAR: f64 = 1e30;

/// One column, and what it becomes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Feature {
    pub(super) column: String,
    pub(super) kind: Kind,
    pub(super) map: Map,
}

/// What a column becomes. `missing` says that training had missing values, so that they have a
/// weight of their own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Map {
    /// (x − shift) · scale, or `fill` where x is missing.
    Number { shift: f64, scale: f64, fill: f64, missing: bool },
    /// Which of the buckets that end at `cuts`.
    Buckets { cuts: Vec<f64>, steps: Steps, missing: bool },
    /// Which of the `values`, which are in ascending order; `pooled` stands for all others.
    Values { values: Vec<String>, pooled: bool, missing: bool },
}

impl Map {
    /// How many codes a row gets.
    fn slots(&self) -> usize {
        match self {
            Map::Number { missing, .. } => usize::from(*missing),
            Map::Buckets { .. } | Map::Values { .. } => 1,
        }
    }

    /// How many weights the codes index.
    fn weights(&self) -> usize {
        match self {
            Map::Number { missing, .. } => usize::from(*missing),
            Map::Buckets { cuts, steps, missing } => {
                let first = usize::from(*steps == Steps::Single);
                first + cuts.len() + usize::from(*missing)
            }
            Map::Values { values, pooled, missing } => {
                values.len() + usize::from(*pooled) + usize::from(*missing)
            }
        }
    }

    /// How many numbers a row gets.
    fn numbers(&self) -> usize {
        usize::from(matches!(self, Map::Number { .. }))
    }

    /// Whether missing values have a weight of their own.
    fn missing(&self) -> bool {
        match self {
            Map::Number { missing, .. }
            | Map::Buckets { missing, .. }
            | Map::Values { missing, .. } => *missing,
        }
    }

    /// How the codes are ordered.
    fn scale(&self) -> Scale {
        match self {
            Map::Values { .. } => Scale::Categories,
            Map::Buckets { steps: Steps::Cumulative, .. } => Scale::Steps,
            Map::Buckets { .. } | Map::Number { .. } => Scale::Buckets,
        }
    }

    /// How many of the weights, the first ones, are steps.
    fn steps(&self) -> usize {
        match self {
            Map::Buckets { cuts, steps: Steps::Cumulative, .. } => cuts.len(),
            _ => 0,
        }
    }
}

/// Part of the features that a model may take as one input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A number.
    Number {
        /// The column it comes from.
        column: String,
        /// Its place among a row's numbers.
        number: usize,
        /// The slot whose code is on where the number is missing, if training had such rows.
        missing: Option<usize>,
    },
    /// A code.
    Code {
        /// The column it comes from.
        column: String,
        /// Its place among a row's codes.
        slot: usize,
        /// The first of the weights that it may index.
        first: usize,
        /// How many there are; any other code of the slot is silent.
        count: usize,
        /// How the codes are ordered, and what silence means.
        scale: Scale,
        /// The weight that stands for a missing value, the last of them, if training had such rows.
        missing: Option<usize>,
    },
}

/// How the codes of one slot are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Values without an order; a value that training did not see is silent.
    Categories,
    /// Buckets of a number, in ascending order.
    Buckets,
    /// Steps that a number has climbed, in ascending order; a number below the first step is silent.
    Steps,
}

impl Input {
    /// The column it comes from.
    pub fn column(&self) -> &str {
        match self {
            Input::Number { column, .. } | Input::Code { column, .. } => column,
        }
    }
}

impl From<Encoder> for Description {
    fn from(encoder: Encoder) -> Self {
        Description { version: VERSION, features: encoder.features }
    }
}

impl TryFrom<Description> for Encoder {
    type Error = Error;

    fn try_from(description: Description) -> Result<Self> {
        if description.version != VERSION {
            return Err(Error::new(
                ErrorKind::Format,
                format!("the encoder is of version {}, not {VERSION}", description.version),
            )
            .help("use the release that made it, or fit it again"));
        }
        Encoder::new(description.features)
    }
}

impl Encoder {
    /// An encoder of these features, which are checked.
    pub(super) fn new(features: Vec<Feature>) -> Result<Self> {
        for feature in &features {
            let sound = match &feature.map {
                Map::Number { shift, scale, fill, .. } => {
                    feature.kind == Kind::Number
                        && [shift, scale, fill].into_iter().all(|number| number.is_finite())
                        && *scale > 0.0
                }
                Map::Buckets { cuts, .. } => {
                    feature.kind == Kind::Number
                        && cuts.iter().all(|cut| cut.is_finite())
                        && cuts.is_sorted_by(|a, b| a < b)
                }
                Map::Values { values, .. } => values.is_sorted_by(|a, b| a < b),
            };
            if !sound {
                return Err(Error::new(
                    ErrorKind::Format,
                    format!("the encoding of column `{}` is not sound", feature.column),
                ));
            }
        }
        let encoder = Encoder { features };
        if u32::try_from(encoder.weights()).is_err() {
            return Err(Error::new(ErrorKind::Settings, "more than 4 billion features"));
        }
        Ok(encoder)
    }

    fn weights(&self) -> usize {
        self.features.iter().map(|feature| feature.map.weights()).sum()
    }

    fn numbers(&self) -> usize {
        self.features.iter().map(|feature| feature.map.numbers()).sum()
    }

    /// Columns of numbers as they are, fitted on nothing: scores of other models.
    pub(crate) fn of_numbers(columns: &[String]) -> Result<Self> {
        let map = Map::Number { shift: 0.0, scale: 1.0, fill: 0.0, missing: false };
        let feature = |column: &String| Feature {
            column: column.clone(),
            kind: Kind::Number,
            map: map.clone(),
        };
        Encoder::new(columns.iter().map(feature).collect())
    }

    /// The same encoder with a column under another name.
    pub(crate) fn renamed(&self, column: &str, name: &str) -> Self {
        let mut encoder = self.clone();
        encoder.features.iter_mut().filter(|one| one.column == column).for_each(|one| {
            one.column = name.to_owned();
        });
        encoder
    }

    /// The columns that are features, each with what it becomes.
    pub(crate) fn maps(&self) -> impl Iterator<Item = (&str, &Map)> {
        self.features.iter().map(|feature| (feature.column.as_str(), &feature.map))
    }

    /// How many inputs a model has; see [`Features::width`].
    pub fn width(&self) -> usize {
        self.weights() + self.numbers()
    }

    /// The columns that the encoder needs, and their kinds.
    ///
    /// Give them to [`ReadOptions::kinds`](crate::table::ReadOptions::kinds) when reading a table to
    /// encode, so that a short file whose categories happen to look like numbers is read right.
    pub fn kinds(&self) -> BTreeMap<String, Kind> {
        self.features.iter().map(|feature| (feature.column.clone(), feature.kind)).collect()
    }

    /// What a model may take as one input each: a number, or all codes of one slot.
    pub fn inputs(&self) -> Vec<Input> {
        let (mut slot, mut weight, mut number) = (0, 0, 0);
        let mut inputs = Vec::new();
        for Feature { column, map, .. } in &self.features {
            let column = || column.clone();
            match map {
                Map::Number { missing, .. } => {
                    inputs.push(Input::Number {
                        column: column(),
                        number,
                        missing: missing.then_some(slot),
                    });
                }
                Map::Buckets { .. } | Map::Values { .. } => {
                    let (first, count) = (weight, map.weights());
                    let missing = map.missing().then(|| first + count - 1);
                    let scale = map.scale();
                    inputs.push(Input::Code {
                        column: column(),
                        slot,
                        first,
                        count,
                        scale,
                        missing,
                    });
                }
            }
            slot += map.slots();
            weight += map.weights();
            number += map.numbers();
        }
        inputs
    }

    /// What each input of a model stands for: first the weights in the order of their codes, then
    /// the numbers.
    pub fn names(&self) -> Vec<String> {
        let mut weights = Vec::new();
        let mut numbers = Vec::new();
        for Feature { column, map, .. } in &self.features {
            let (values, pooled, missing) = match map {
                Map::Number { missing, .. } => {
                    numbers.push(column.clone());
                    (Vec::new(), false, missing)
                }
                Map::Buckets { cuts, steps: Steps::Cumulative, missing } => {
                    (cuts.iter().map(|cut| format!("{column} > {cut}")).collect(), false, missing)
                }
                Map::Buckets { cuts, steps: Steps::Single, missing } => {
                    (bucket_names(column, cuts), false, missing)
                }
                Map::Values { values, pooled, missing } => {
                    let names = values.iter().map(|value| format!("{column} = {value}"));
                    (names.collect(), *pooled, missing)
                }
            };
            weights.extend(values);
            weights.extend(pooled.then(|| format!("{column} = (other)")));
            weights.extend(missing.then(|| format!("{column} = (missing)")));
        }
        weights.extend(numbers);
        weights
    }

    /// The features of a table's rows.
    ///
    /// Columns are found by name; other columns are ignored. A column that is absent, or of another
    /// kind than in training, is an error.
    pub fn encode(&self, table: &Table) -> Result<Features> {
        let (weights, numbers) = (self.weights(), self.numbers());
        let slots = self.features.iter().map(|feature| feature.map.slots()).sum();
        let silent = weights as u32;
        let mut base = 0;
        let mut readers = Vec::with_capacity(self.features.len());
        let mut ladders = Vec::new();
        for feature in &self.features {
            let column = feature.find(table)?;
            readers.push(Reader::new(&feature.map, column, base, silent));
            let steps = base as usize..base as usize + feature.map.steps();
            ladders.extend((!steps.is_empty()).then_some(steps));
            base += feature.map.weights() as u32;
        }

        let rows = table.rows();
        let mut values = vec![0.0; rows * numbers];
        let mut codes = Codes::zeros(&Store::default(), weights, rows * slots)?;
        match &mut codes {
            Codes::Byte(codes) => fill(&readers, codes, slots, &mut values, numbers, rows),
            Codes::Narrow(codes) => fill(&readers, codes, slots, &mut values, numbers, rows),
            Codes::Wide(codes) => fill(&readers, codes, slots, &mut values, numbers, rows),
        }
        let values = values.into();
        Ok(Features { rows, slots, weights, numbers, ladders, codes, values, hashes: None })
    }
}

fn bucket_names(column: &str, cuts: &[f64]) -> Vec<String> {
    (0..=cuts.len())
        .map(|bucket| match (bucket.checked_sub(1).map(|below| cuts[below]), cuts.get(bucket)) {
            (None, None) => format!("{column} = (present)"),
            (None, Some(above)) => format!("{column} <= {above}"),
            (Some(below), Some(above)) => format!("{below} < {column} <= {above}"),
            (Some(below), None) => format!("{column} > {below}"),
        })
        .collect()
}

impl Feature {
    fn find<'a>(&self, table: &'a Table) -> Result<&'a Column> {
        let column = table.column(&self.column)?;
        let found = column.values.kind();
        if found == self.kind || column.values.missing() == table.rows() {
            return Ok(column);
        }
        Err(Error::new(
            ErrorKind::Column,
            format!("column `{}` is a {found}, but was a {} in training", self.column, self.kind),
        )
        .remedy(Remedy::Kind(self.column.clone(), self.kind)))
    }
}

/// A code as it is stored.
trait Code: Copy {
    fn of(code: u32) -> Self;
}

impl Code for u8 {
    fn of(code: u32) -> Self {
        code as u8
    }
}

impl Code for u16 {
    fn of(code: u32) -> Self {
        code as u16
    }
}

impl Code for u32 {
    fn of(code: u32) -> Self {
        code
    }
}

/// Writes all features of all rows, a block of rows at a time so that what is written stays in
/// cache while the columns take their turns.
fn fill<C: Code>(
    readers: &[Reader],
    codes: &mut [C],
    slots: usize,
    values: &mut [f32],
    numbers: usize,
    rows: usize,
) {
    const BLOCK: usize = 1024;
    for start in (0..rows).step_by(BLOCK) {
        let block = start..rows.min(start + BLOCK);
        let (mut slot, mut number) = (0, 0);
        for reader in readers {
            for row in block.clone() {
                reader.read(
                    row,
                    |code| codes[row * slots + slot] = C::of(code),
                    |value| values[row * numbers + number] = value,
                );
            }
            slot += reader.map.slots();
            number += reader.map.numbers();
        }
    }
}

/// A map bound to a column: what each row becomes.
struct Reader<'a> {
    map: &'a Map,
    column: Bound<'a>,
    /// The map's first weight.
    base: u32,
    /// The code of a missing value.
    missing: u32,
    silent: u32,
}

enum Bound<'a> {
    Number(&'a [f64]),
    /// A number taken by value: the code of each number's bits, and of all other numbers.
    Value(&'a [f64], HashMap<u64, u32>, u32),
    /// The code of each dictionary entry.
    Category(&'a [u32], Vec<u32>),
    /// The codes of false and true.
    Boolean(&'a [Option<bool>], [u32; 2]),
    AllMissing,
}

impl<'a> Reader<'a> {
    fn new(map: &'a Map, column: &'a Column, base: u32, silent: u32) -> Self {
        let last = base + map.weights() as u32;
        let missing = if map.missing() { last - 1 } else { silent };
        let column = match (map, &column.values) {
            (Map::Values { values, pooled, .. }, bound) => {
                let other = if *pooled { base + values.len() as u32 } else { silent };
                let code = |value: &str| {
                    let place = values.binary_search_by(|entry| entry.as_str().cmp(value));
                    place.map_or(other, |place| base + place as u32)
                };
                match bound {
                    Values::Number(numbers) => {
                        let codes = values.iter().enumerate().filter_map(|(place, value)| {
                            let number: f64 = value.parse().ok()?;
                            Some((number.to_bits(), base + place as u32))
                        });
                        Bound::Value(numbers, codes.collect(), other)
                    }
                    Values::Category(Category { codes, dictionary }) => {
                        Bound::Category(codes, dictionary.texts().map(code).collect())
                    }
                    Values::Boolean(truths) => {
                        Bound::Boolean(truths, [code("false"), code("true")])
                    }
                }
            }
            (_, Values::Number(numbers)) => Bound::Number(numbers),
            // Another kind passes only where every value is missing.
            _ => Bound::AllMissing,
        };
        Reader { map, column, base, missing, silent }
    }

    /// Hands the row's code and its number to the two writers.
    #[inline]
    fn read(&self, row: usize, mut code: impl FnMut(u32), mut number: impl FnMut(f32)) {
        match &self.column {
            Bound::Category(codes, map) => match codes[row] {
                MISSING => code(self.missing),
                entry => code(map[entry as usize]),
            },
            Bound::Boolean(truths, map) => {
                code(truths[row].map_or(self.missing, |truth| map[usize::from(truth)]));
            }
            Bound::Value(numbers, map, other) => {
                let value = numbers[row];
                let known = || map.get(&value.to_bits()).copied().unwrap_or(*other);
                code(if value.is_nan() { self.missing } else { known() });
            }
            Bound::Number(numbers) => self.read_number(numbers[row], code, number),
            Bound::AllMissing => match self.map {
                Map::Values { .. } => code(self.missing),
                _ => self.read_number(f64::NAN, &mut code, &mut number),
            },
        }
    }

    #[inline]
    fn read_number(&self, x: f64, mut code: impl FnMut(u32), mut number: impl FnMut(f32)) {
        match self.map {
            Map::Number { shift, scale, fill, missing } => {
                let z = if x.is_nan() { *fill } else { (x - shift) * scale };
                number(z.clamp(-FAR, FAR) as f32);
                if *missing {
                    code(if x.is_nan() { self.missing } else { self.silent });
                }
            }
            Map::Buckets { cuts, steps: Steps::Single, .. } => {
                let bucket = cuts.partition_point(|cut| *cut < x) as u32;
                code(if x.is_nan() { self.missing } else { self.base + bucket });
            }
            Map::Buckets { cuts, steps: Steps::Cumulative, .. } => {
                let climbed = cuts.partition_point(|cut| *cut < x) as u32;
                code(match climbed {
                    _ if x.is_nan() => self.missing,
                    0 => self.silent,
                    steps => self.base + steps - 1,
                });
            }
            // Values of numbers are bound as such.
            Map::Values { .. } => {}
        }
    }
}
