//! The second pass: each row is encoded, and stored with the rows of its player.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::counts::Counts;
use super::depot::{self, Depot, Pile, Row, Stored, Wanted};
use super::divide::drawn;
use super::scan::{By, Notes, Scanned, TEST, noted, pass};
use super::{Stream, tell};
use crate::classifier::{Fingerprint, Sketch, View, row_hashes};
use crate::encode::{Encoder, Features};
use crate::model::ModelSpec;
use crate::model::trees::Bins;
use crate::random::mix;
use crate::rate::{Quantiser, Unnamed};
use crate::table::Table;
use crate::train::training::Print;
use crate::train::{Pass, Plan, Watch};
use crate::{Error, ErrorKind, Result};

/// Most rows that are set aside, of plenty: calibration fits two numbers on them, and early stopping compares losses.
const ASIDE: f64 = 262_144.0;

/// What the second pass needs.
pub(super) struct Storing<'a> {
    pub(super) plan: &'a Plan,
    pub(super) view: &'a View,
    pub(super) like: &'a Features,
    pub(super) bins: Option<&'a Arc<Bins>>,
    pub(super) cell_of: &'a [u32],
    pub(super) counts: &'a [Counts],
    pub(super) order: u64,
    pub(super) plug_in: bool,
}

/// What the second pass stored.
pub(super) struct AllStored {
    pub(super) train: Stored,
    pub(super) val: Stored,
    /// How many of the training rows teach: the first ones.
    pub(super) teach: usize,
    /// What these weigh together.
    pub(super) taught_weight: f64,
    pub(super) prints: [Fingerprint; 2],
}

/// Where a row belongs.
pub(super) const TEACH: usize = 0;
const SET_ASIDE: usize = 1;
const VAL: usize = 2;

/// Whose a row is: it teaches, is set aside, or is one that constraints are enforced on.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Whose {
    aside: f64,
    key: u64,
    /// The key that puts stored rows in order.
    pub(super) order: u64,
}

impl Whose {
    #[inline]
    pub(super) fn pile(&self, of_val: bool, key: u64) -> usize {
        match of_val {
            true => VAL,
            false if self.aside > 0.0 && drawn(self.key, key, self.aside) => SET_ASIDE,
            false => TEACH,
        }
    }
}

/// The rows of each pile, in their places, and what the second pass stores of them.
pub(super) struct Piles {
    pub(super) whose: Whose,
    pub(super) piles: [Pile; 3],
    taught_weight: f64,
}

/// How rows become what is stored of them.
pub(super) struct Stamp<'a> {
    pub(super) encoder: &'a Encoder,
    pub(super) bins: Option<&'a Bins>,
    /// The cell of each pattern.
    pub(super) cell_of: &'a [u32],
    pub(super) quantisers: [Quantiser; 2],
    pub(super) plug_in: bool,
}

/// What is added up of rows as they are stored.
pub(super) struct Stamped {
    pub(super) prints: [Print; 2],
    pub(super) sketches: [Sketch; 2],
    codes: Vec<u8>,
}

impl Stamped {
    pub(super) fn new(prints: [Print; 2]) -> Self {
        Stamped { prints, sketches: [Sketch::default(), Sketch::default()], codes: Vec::new() }
    }
}

/// A chunk of rows, and what the first pass noted of them.
pub(super) struct Noticed<'a> {
    pub(super) chunk: &'a Table,
    pub(super) notes: &'a Notes,
    pub(super) weights: Option<&'a [f32]>,
    pub(super) keys: Option<&'a [u64]>,
    /// The number of the first row among all rows, and in its source.
    pub(super) first: [u64; 2],
}

impl Stamp<'_> {
    /// Encodes a chunk, and hands each row that is not to be tested on to `put`, with its key and whether constraints are
    /// enforced on it.
    pub(super) fn each(
        &self,
        rows: &Noticed<'_>,
        sums: &mut Stamped,
        mut put: impl FnMut((bool, u64), &Row<'_>) -> Result<()>,
    ) -> Result<()> {
        let features = self.encoder.encode(rows.chunk)?;
        let hashes = match self.plug_in {
            true => (0..features.rows()).map(|row| features.hash(row)).collect(),
            false => row_hashes(&features),
        };
        sums.codes.resize(self.bins.map_or(0, Bins::columns), 0);
        let [first, start] = rows.first;
        for (at, note) in rows.notes.iter().enumerate().filter(|(_, note)| *note != TEST) {
            let (pattern, of_val) = noted(note);
            let part = usize::from(of_val);
            let number = first + at as u64;
            let key = rows.keys.map_or(start + at as u64, |keys| keys[at]);
            let given = rows.weights.map(|weights| weights[at]);
            let exact = given.map(|given| self.quantisers[part].of(given));
            let cell = self.cell_of[pattern];
            sums.prints[part].row(number, &features, at, cell, exact);
            sums.sketches[part].add(std::iter::once(hashes[at]));
            if let Some(bins) = self.bins {
                bins.write(&features, at, &mut sums.codes);
            }
            let row = Row {
                number: number as u32,
                cell,
                weights: [exact.unwrap_or(1.0), given.unwrap_or(1.0)],
                key,
                features: &features,
                at,
                bins: &sums.codes,
            };
            put((of_val, key), &row)?;
        }
        Ok(())
    }
}

impl Storing<'_> {
    /// Whether each tree sees only some of the rows.
    pub(super) fn samples_rows(&self) -> bool {
        matches!(&self.plan.spec.model, ModelSpec::Trees(trees) if trees.rows < 1.0)
    }

    pub(super) fn stamp(&self) -> Stamp<'_> {
        Stamp {
            encoder: &self.view.encoder,
            bins: self.bins.map(|bins| &**bins),
            cell_of: self.cell_of,
            quantisers: [self.counts[0].quantiser, self.counts[1].quantiser],
            plug_in: self.plug_in,
        }
    }

    /// How many rows there are to learn from, and to enforce constraints on.
    pub(super) fn rows(&self) -> [usize; 2] {
        [0, 1].map(|at| self.counts[at].rows.iter().sum())
    }

    /// Counts the rows of each pile.
    pub(super) fn piles(&self, scanned: &Scanned) -> Piles {
        let (spec, rows) = (&self.plan.spec, self.rows());
        let aside = spec.aside.min(ASIDE / rows[0].max(1) as f64);
        let whose = Whose { aside, key: mix(spec.seed ^ 0x6173_6964), order: self.order };
        let set_aside = (rows[0] as f64 * aside) as usize;
        let mut piles = [rows[0] - set_aside, set_aside, rows[1]].map(Pile::new);
        let mut taught_weight = 0.0;
        let mut before = 0;
        for noted_of in &scanned.sources {
            let mut row = 0;
            for (chunk, notes) in noted_of.notes.iter().enumerate() {
                let (keys, weights) = (noted_of.keys.get(chunk), noted_of.weights.get(chunk));
                for (at, note) in notes.iter().enumerate() {
                    if note != TEST {
                        let key = keys.map_or(row, |keys| keys[at]);
                        let pile = whose.pile(noted(note).1, key);
                        piles[pile].count(depot::hash(self.order, (before + row) as u32));
                        if pile == TEACH {
                            let weight = |all: &Vec<f32>| self.counts[0].quantiser.of(all[at]);
                            taught_weight += f64::from(weights.map_or(1.0, weight));
                        }
                    }
                    row += 1;
                }
            }
            before += noted_of.rows;
        }
        let [teaching, set_aside, val] = &mut piles;
        teaching.place(None);
        set_aside.place(Some(teaching));
        val.place(None);
        Piles { whose, piles, taught_weight }
    }

    /// Room for the rows of the piles: those to learn from, and those to enforce constraints on.
    pub(super) fn depots(&self, piles: &Piles, keyed: bool) -> Result<[Depot; 2]> {
        let depot = |at: usize, piles: &[&Pile]| {
            let wanted = Wanted {
                weights: self.counts[at].weighted,
                keys: keyed,
                hashes: self.bins.is_some() && at == 1,
                numbers: at == 0 && self.samples_rows(),
                bins: self.bins.map(|bins| bins.columns()),
            };
            Depot::new(&self.plan.store, piles, self.like, wanted)
        };
        let [teaching, set_aside, val] = &piles.piles;
        Ok([depot(0, &[teaching, set_aside])?, depot(1, &[val])?])
    }

    /// Prints of no rows yet.
    pub(super) fn prints(&self) -> [Print; 2] {
        let rows = self.rows();
        [0, 1].map(|at| Print::new(self.like, rows[at], self.counts[at].weighted))
    }

    /// All rows are stored.
    pub(super) fn finish(
        &self,
        [train, val]: [Depot; 2],
        Piles { piles: [teaching, set_aside, others], taught_weight, .. }: Piles,
        Stamped { prints: [own, other], sketches: [own_sketch, other_sketch], .. }: Stamped,
    ) -> Result<AllStored> {
        let threads = &self.plan.threads;
        Ok(AllStored {
            teach: teaching.rows(),
            train: train.finish(&[&teaching, &set_aside], self.order, threads)?,
            val: val.finish(&[&others], self.order, threads)?,
            taught_weight,
            prints: [own.finish(own_sketch.finish()), other.finish(other_sketch.finish())],
        })
    }

    /// Reads all rows again, and stores them.
    pub(super) fn run(
        &self,
        sources: &[&Stream<'_>],
        scanned: &mut Scanned,
        strange: &mut [Unnamed; 2],
        watch: &mut dyn Watch,
    ) -> Result<AllStored> {
        let mut piles = self.piles(scanned);
        let mut depots = self.depots(&piles, scanned.by != By::Row)?;
        let mut sums = Stamped::new(self.prints());
        let total = scanned.sources.iter().map(|source| source.rows).sum();
        let stamp = self.stamp();
        let (mut done, mut before) = (0, 0);
        for (source, stream) in sources.iter().enumerate() {
            let own = &mut scanned.sources[source];
            let mut chunks = 0;
            let mut read = 0;
            pass(&stream.feed, &mut |chunk, start| {
                done += chunk.rows() as u64;
                tell(watch, Pass { name: "storing", rows: done, of: Some(total) })?;
                // They are not needed any more, and memory is about to fill.
                let notes = own.notes.get_mut(chunks);
                let notes = notes.map(|notes| std::mem::replace(notes, Notes::Byte(Vec::new())));
                let notes = notes.filter(|notes| notes.len() == chunk.rows());
                let notes = notes.ok_or_else(changed)?;
                strange[source].add(&chunk)?;
                let rows = Noticed {
                    chunk: &chunk,
                    notes: &notes,
                    weights: own.weights.get(chunks).map(Vec::as_slice),
                    keys: own.keys.get(chunks).map(Vec::as_slice),
                    first: [before + start, start],
                };
                stamp.each(&rows, &mut sums, |(of_val, key), row| {
                    let hash = depot::hash(self.order, row.number);
                    let pile = piles.whose.pile(of_val, key);
                    let spot = piles.piles[pile].next(hash).ok_or_else(changed)?;
                    depots[usize::from(of_val)].put(spot, row)
                })?;
                read += chunk.rows() as u64;
                chunks += 1;
                Ok(())
            })?;
            if read != own.rows {
                return Err(changed());
            }
            before += own.rows;
        }
        self.finish(depots, piles, sums)
    }
}

/// The rows are not those of the first pass.
pub(super) fn changed() -> Error {
    Error::new(ErrorKind::Io, "the rows have changed between the first and the second reading")
        .help("train again once nobody writes to the files")
}
