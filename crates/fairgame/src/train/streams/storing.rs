//! The second pass: each row is encoded, and stored with the rows of its player.

use std::sync::Arc;

use super::counts::Counts;
use super::depot::{self, Depot, Pile, Row, Stored, Wanted};
use super::divide::drawn;
use super::scan::{By, Notes, Scanned, TEST, noted, pass};
use super::{Stream, tell};
use crate::classifier::{Fingerprint, Sketch, View, row_hashes};
use crate::encode::Features;
use crate::model::trees::Bins;
use crate::random::mix;
use crate::rate::Unnamed;
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
    pub(super) prints: [Fingerprint; 2],
}

/// Where a row belongs.
const TEACH: usize = 0;
const SET_ASIDE: usize = 1;
const VAL: usize = 2;

impl Storing<'_> {
    pub(super) fn run(
        &self,
        sources: &[&Stream<'_>],
        scanned: &mut Scanned,
        strange: &mut [Unnamed; 2],
        watch: &mut dyn Watch,
    ) -> Result<AllStored> {
        let spec = &self.plan.spec;
        let rows: [usize; 2] = [0, 1].map(|at| self.counts[at].rows.iter().sum());
        let aside = spec.aside.min(ASIDE / rows[0].max(1) as f64);
        let key_of_aside = mix(spec.seed ^ 0x6173_6964);
        // Whose a row is: it teaches, is set aside, or is one that constraints are enforced on.
        let pile_of = |note: u32, key: u64| match noted(note).1 {
            true => VAL,
            false if aside > 0.0 && drawn(key_of_aside, key, aside) => SET_ASIDE,
            false => TEACH,
        };
        // Rows of several sources are numbered through.
        let mut firsts = vec![0];
        for source in &scanned.sources {
            firsts.push(firsts[firsts.len() - 1] + source.rows);
        }
        let set_aside = (rows[0] as f64 * aside) as usize;
        let mut piles = [rows[0] - set_aside, set_aside, rows[1]].map(Pile::new);
        for (source, noted) in scanned.sources.iter().enumerate() {
            let mut number = firsts[source];
            for (chunk, notes) in noted.notes.iter().enumerate() {
                let keys = noted.keys.get(chunk);
                for (at, note) in notes.iter().enumerate() {
                    if note != TEST {
                        let key = keys.map_or(number - firsts[source], |keys| keys[at]);
                        piles[pile_of(note, key)].count(depot::hash(self.order, number as u32));
                    }
                    number += 1;
                }
            }
        }
        let [teaching, set_aside, val] = &mut piles;
        let teach = teaching.rows();
        teaching.place(None);
        set_aside.place(Some(teaching));
        val.place(None);
        let keyed = scanned.by != By::Row;
        let mut depots = Vec::with_capacity(2);
        for (at, own) in [&[&*teaching, &*set_aside][..], &[&*val]].into_iter().enumerate() {
            let wanted = Wanted {
                weights: self.counts[at].weighted,
                keys: keyed,
                hashes: self.bins.is_some() && at == 1,
                bins: self.bins.map(|bins| bins.columns()),
            };
            depots.push(Depot::new(&self.plan.store, own, self.like, wanted)?);
        }
        let mut prints = [0, 1].map(|at| Print::new(self.like, rows[at], self.counts[at].weighted));
        let mut sketches = [Sketch::default(), Sketch::default()];
        let total = firsts[firsts.len() - 1];
        let mut codes = vec![0; self.bins.map_or(0, |bins| bins.columns())];
        let mut done = 0;
        for (source, stream) in sources.iter().enumerate() {
            let (own, before) = (&mut scanned.sources[source], firsts[source]);
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
                let features = self.view.encoder.encode(&chunk)?;
                let hashes = match self.plug_in {
                    true => (0..features.rows()).map(|row| features.hash(row)).collect(),
                    false => row_hashes(&features),
                };
                for (at, note) in notes.iter().enumerate().filter(|(_, note)| *note != TEST) {
                    let (pattern, of_val) = noted(note);
                    let part = usize::from(of_val);
                    let number = before + start + at as u64;
                    let key = own.keys.get(chunks).map_or(start + at as u64, |keys| keys[at]);
                    let given = own.weights.get(chunks).map(|weights| weights[at]);
                    let exact = given.map(|given| self.counts[part].quantiser.of(given));
                    let cell = self.cell_of[pattern];
                    prints[part].row(&features, at, cell, exact);
                    sketches[part].add(std::iter::once(hashes[at]));
                    if let Some(bins) = self.bins {
                        bins.write(&features, at, &mut codes);
                    }
                    let hash = depot::hash(self.order, number as u32);
                    let spot = piles[pile_of(note, key)].next(hash).ok_or_else(changed)?;
                    depots[part].put(
                        spot,
                        &Row {
                            number: number as u32,
                            cell,
                            weights: [exact.unwrap_or(1.0), given.unwrap_or(1.0)],
                            key,
                            features: &features,
                            at,
                            bins: &codes,
                        },
                    )?;
                }
                read += chunk.rows() as u64;
                chunks += 1;
                Ok(())
            })?;
            if read != own.rows {
                return Err(changed());
            }
        }
        let threads = &self.plan.threads;
        let mut finished =
            depots.into_iter().zip([&piles[..VAL], &piles[VAL..]]).map(|(depot, piles)| {
                depot.finish(&piles.iter().collect::<Vec<_>>(), self.order, threads)
            });
        let mut finish = || finished.next().transpose();
        let (train, val) = (finish()?, finish()?);
        let mut prints = prints.into_iter().zip(sketches);
        let mut print = || {
            let (print, sketch) = prints.next()?;
            Some(print.finish(sketch.finish()))
        };
        match (print(), print(), train, val) {
            (Some(own), Some(others), Some(train), Some(val)) => {
                Ok(AllStored { train, val, teach, prints: [own, others] })
            }
            _ => Err(changed()),
        }
    }
}

/// The rows are not those of the first pass.
fn changed() -> Error {
    Error::new(ErrorKind::Io, "the rows have changed between the first and the second reading")
        .help("train again once nobody writes to the files")
}
