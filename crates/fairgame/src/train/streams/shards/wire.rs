//! Questions to shards and their answers, as bytes.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::super::depot::{Row, Wanted};
use super::super::gather::Gathered;
use super::super::scan::{By, Notes, SAMPLES};
use super::super::storing::Whose;
use crate::encode::{Codes, Features};
use crate::model::trees;
use crate::rate::Quantiser;
use crate::table::{HeldTable, Kind, PartColumn};
use crate::{Error, ErrorKind, Result, Slab};

/// What is asked of every shard.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Question {
    /// How many rows there are, and of which columns, where what stands for a missing value is this, as JSON.
    Count(String),
    /// How to read them.
    Begin(Begin),
    /// All rows, as a table.
    Table,
    /// The numbers in the columns whose quantiles the problem asks for.
    Quantiles(By),
    /// The first pass, with the quantiles that are known.
    Scan(By, Vec<(String, f64, f64)>),
    /// The rows of the samples whose keys are below.
    Samples([Option<u64>; SAMPLES]),
    /// The second pass.
    Store(Box<Store>),
    /// What the second pass found. A shard that was built again in the meantime must have found the same.
    Stored(Vec<Seal>),
    /// Some of the rows that the driver needs, by their places among those that a shard has of them.
    Fetch { from: u64, rows: u64 },
    /// The driver has them.
    Fetched,
    /// What trees are to learn: which cells are positive, and what weights are multiplied with.
    Teach { inside: Vec<bool>, unit: Option<f64> },
    /// What trees ask.
    Trees(trees::Question),
    /// What a classifier comes to on the rows to test on.
    Test {
        by: By,
        #[serde(with = "serde_bytes")]
        classifier: Vec<u8>,
    },
}

/// How the rows are to be read.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Begin {
    /// The settings that were asked for.
    pub(super) spec: String,
    /// The number of the first row of each run.
    pub(super) firsts: Vec<u64>,
    pub(super) kinds: Vec<(String, Kind)>,
}

/// What the second pass needs.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Store {
    /// What the first pass noted of each run. A shard that was built again in the meantime must have noted the same.
    pub(super) noted: Vec<[u8; 32]>,
    pub(super) encoder: String,
    pub(super) bins: Option<String>,
    /// A row of each pattern, and its cell.
    pub(super) patterns: HeldTable,
    pub(super) cell_of: Vec<u32>,
    pub(super) quantisers: [Quantiser; 2],
    pub(super) weighted: [bool; 2],
    pub(super) plug_in: bool,
    pub(super) keyed: bool,
    pub(super) numbers: bool,
    pub(super) whose: Whose,
    /// Which of the buckets of the rows that teach the driver needs.
    pub(super) kept: Vec<bool>,
    /// The columns of groups, whose missing values are counted.
    pub(super) groups: Vec<String>,
}

/// What a run of rows is like.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Counted {
    /// Which run of all.
    pub(super) run: u32,
    pub(super) name: String,
    pub(super) rows: u64,
    pub(super) columns: Vec<PartColumn>,
}

/// What the second pass found in a shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Seal {
    /// The number of the shard's first run.
    pub(super) run: u32,
    pub(super) prints: [[u64; 4]; 2],
    pub(super) rows: u64,
}

/// A hash of what was noted of a run of rows, chunk by chunk.
pub(super) fn seal(notes: &[Notes], weights: &[Vec<f32>], keys: &[Vec<u64>]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for notes in notes {
        hash.update((notes.len() as u64).to_le_bytes());
        notes.iter().for_each(|note| hash.update(note.to_le_bytes()));
    }
    weights.iter().flatten().for_each(|weight| hash.update(weight.to_le_bytes()));
    keys.iter().flatten().for_each(|key| hash.update(key.to_le_bytes()));
    hash.finalize().into()
}

/// What was noted of a run of rows. A shard keeps it, and lends it to its answer.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RunNotes<'a> {
    pub(super) run: u32,
    pub(super) notes: Cow<'a, [Notes]>,
    pub(super) weights: Cow<'a, [Vec<f32>]>,
    pub(super) keys: Cow<'a, [Vec<u64>]>,
}

/// What the first pass found in a shard.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ScanAnswer<'a> {
    pub(super) patterns: HeldTable,
    /// The number of the first row of each pattern.
    pub(super) firsts: Vec<u64>,
    pub(super) runs: Vec<RunNotes<'a>>,
    pub(super) missing_units: u64,
    /// The keys of the samples.
    pub(super) keys: [Vec<u64>; SAMPLES],
    /// Of each sample, the key from which on rows were dropped already.
    pub(super) below: [Option<u64>; SAMPLES],
}

/// The rows of the samples of a shard.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Samples(pub(super) [Gathered; SAMPLES]);

/// What the second pass added up in a shard.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoreAnswer {
    pub(super) seal: Option<Seal>,
    pub(super) sketches: [Vec<(u64, u32)>; 2],
    /// How many rows miss each of the groups' columns.
    pub(super) missing: Vec<u64>,
}

/// Stored rows on their way.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Carried {
    pub(super) numbers: Vec<u32>,
    pub(super) cells: Vec<u32>,
    pub(super) of_val: Vec<bool>,
    keys: Vec<u64>,
    weights: Vec<[f32; 2]>,
    #[serde(with = "serde_bytes")]
    codes: Vec<u8>,
    values: Vec<f32>,
    #[serde(with = "serde_bytes")]
    bins: Vec<u8>,
    hashes: Vec<u64>,
}

impl Carried {
    /// Adds a row.
    pub(super) fn add(&mut self, (of_val, key): (bool, u64), row: &Row<'_>, wanted: Wanted) {
        self.numbers.push(row.number);
        self.cells.push(row.cell);
        self.of_val.push(of_val);
        if wanted.keys {
            self.keys.push(key);
        }
        if wanted.weights {
            self.weights.push(row.weights);
        }
        match wanted.bins {
            Some(_) => {
                self.bins.extend_from_slice(row.bins);
                self.hashes.push(row.features.hash(row.at));
            }
            None => {
                row.features.pack(row.at, &mut self.codes);
                self.values.extend_from_slice(row.features.row_values(row.at));
            }
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.numbers.len()
    }

    /// Some of the rows.
    pub(super) fn some(&self, rows: std::ops::Range<usize>) -> Carried {
        let all = self.rows().max(1);
        fn cut<T: Clone>(from: &[T], rows: &std::ops::Range<usize>, all: usize) -> Vec<T> {
            let width = from.len() / all;
            from[rows.start * width..rows.end * width].to_vec()
        }
        Carried {
            numbers: cut(&self.numbers, &rows, all),
            cells: cut(&self.cells, &rows, all),
            of_val: cut(&self.of_val, &rows, all),
            keys: cut(&self.keys, &rows, all),
            weights: cut(&self.weights, &rows, all),
            codes: cut(&self.codes, &rows, all),
            values: cut(&self.values, &rows, all),
            bins: cut(&self.bins, &rows, all),
            hashes: cut(&self.hashes, &rows, all),
        }
    }

    /// Hands out the rows, whose features are like these.
    pub(super) fn each(
        self,
        like: &Features,
        mut see: impl FnMut((bool, u64), &Row<'_>) -> Result<()>,
    ) -> Result<()> {
        let rows = self.rows();
        let features = match self.hashes.is_empty() {
            true => {
                let codes = Codes::unpacked(like.weights(), &self.codes);
                like.stored(rows, codes, Slab::from(self.values))
            }
            false => Features::of_hashes(rows, Some(Slab::from(self.hashes))),
        };
        let bins = self.bins.len() / rows.max(1);
        for at in 0..rows {
            // A row that stands alone has its number.
            let key = self.keys.get(at).copied().unwrap_or(u64::from(self.numbers[at]));
            let row = Row {
                number: self.numbers[at],
                cell: self.cells[at],
                weights: self.weights.get(at).copied().unwrap_or([1.0; 2]),
                key,
                features: &features,
                at,
                bins: &self.bins[at * bins..(at + 1) * bins],
            };
            see((self.of_val[at], key), &row)?;
        }
        Ok(())
    }
}

/// The first byte of a reply with an answer, and of one that says why there is none.
const ANSWERED: u8 = 0;
const FAILED: u8 = 1;

/// A reply with an answer.
pub(super) fn answered(answer: &impl Serialize) -> Result<Vec<u8>> {
    extended(ANSWERED, answer)
}

/// A reply whose answer is these bytes.
pub(super) fn answered_bytes(answer: &[u8]) -> Vec<u8> {
    [&[ANSWERED], answer].concat()
}

/// A reply that says why there is no answer.
pub(super) fn failed(error: Error) -> Vec<u8> {
    extended(FAILED, &Failure::from(error)).unwrap_or_default()
}

/// The answer of a reply.
pub(super) fn answer_of(reply: &[u8]) -> Result<&[u8]> {
    match reply.split_first() {
        Some((&ANSWERED, answer)) => Ok(answer),
        Some((&FAILED, failure)) => Err(of_bytes::<Failure>(failure)?.into()),
        _ => Err(damaged(&"it is no reply")),
    }
}

/// An error on its way.
#[derive(Debug, Serialize, Deserialize)]
struct Failure {
    kind: u8,
    text: String,
    help: Option<String>,
}

const KINDS: [ErrorKind; 8] = [
    ErrorKind::Io,
    ErrorKind::Format,
    ErrorKind::Column,
    ErrorKind::Value,
    ErrorKind::Settings,
    ErrorKind::Syntax,
    ErrorKind::Problem,
    ErrorKind::Group,
];

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let kind = KINDS.iter().position(|kind| *kind == error.kind()).unwrap_or(0) as u8;
        Failure { kind, text: error.message(), help: error.advice().map(str::to_owned) }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        let kind = KINDS.get(usize::from(failure.kind)).copied().unwrap_or(ErrorKind::Io);
        let error = Error::new(kind, failure.text);
        match failure.help {
            Some(help) => error.help(help),
            None => error,
        }
    }
}

/// Something as bytes.
pub(super) fn to_bytes(what: &impl Serialize) -> Result<Vec<u8>> {
    postcard::to_allocvec(what).map_err(unsent)
}

/// Something as bytes behind a first one.
fn extended(first: u8, what: &impl Serialize) -> Result<Vec<u8>> {
    postcard::to_extend(what, vec![first]).map_err(unsent)
}

/// Something of bytes.
pub(super) fn of_bytes<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T> {
    postcard::from_bytes(bytes).map_err(|error| damaged(&error))
}

fn unsent(error: postcard::Error) -> Error {
    Error::new(ErrorKind::Format, format!("cannot be sent: {error}"))
}

fn damaged(why: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::Format, format!("what came over the network is damaged: {why}"))
        .help("use the same version of fairgame on all machines")
}
