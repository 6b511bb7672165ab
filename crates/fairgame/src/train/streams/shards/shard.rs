//! Some of the rows, and the answers that they give.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::super::depot::{self, Wanted};
use super::super::gather::Gather;
use super::super::scan::{By, Found, Look, Noted, pass};
use super::super::storing::{Noticed, Stamp, Stamped, TEACH};
use super::super::{Stream, tested};
use super::wire::{
    Begin, Carried, Counted, Question, RunNotes, Samples, ScanAnswer, Seal, Store, StoreAnswer,
    answered, answered_bytes, failed, of_bytes, seal,
};
use crate::classifier::Classifier;
use crate::encode::Encoder;
use crate::evaluate::Accumulator;
use crate::model::trees::{Answer, Bins, Holder};
use crate::rate::{Quantiles, Question as Asked};
use crate::table::{Feed, HeldTable, PLENTY, Table};
use crate::train::training::Print;
use crate::train::{Plan, Shape, Spec};
use crate::{Error, ErrorKind, Result, Threads};

/// Some of the rows of a training: runs of consecutive rows, such as files or the partitions of a data frame.
pub struct Shard {
    runs: Vec<Run>,
    threads: Threads,
    begun: Option<Begun>,
    /// What the first pass found, until the second is through.
    found: Option<(By, Found)>,
    /// The rows that trees grow on.
    held: Option<Held>,
    /// Rows that the driver needs.
    carried: Carried,
    /// What the second pass found.
    seal: Option<Seal>,
    /// The first error, which is the answer to all that is asked later: a shard that is asked again what is remembered
    /// does not hand out every answer.
    failed: Option<Vec<u8>>,
}

/// A run of rows.
struct Run {
    /// Which of all runs it is.
    number: u32,
    stream: Stream<'static>,
    noted: Noted,
}

/// A training that has begun.
struct Begun {
    plan: Plan,
    firsts: Vec<u64>,
}

/// Rows that trees grow on.
struct Held {
    holder: Holder,
    bins: Bins,
    cells: Vec<u32>,
    weights: Option<Vec<f32>>,
}

impl Shard {
    /// Of these runs, each with its number among the runs of all shards.
    pub fn new(runs: Vec<(u32, Feed<'static>)>, threads: Threads) -> Self {
        let run = |(number, feed): (u32, Feed<'static>)| {
            let stream = Stream::from(feed.into_part());
            Run { number, stream, noted: Noted::default() }
        };
        Shard {
            runs: runs.into_iter().map(run).collect(),
            threads,
            begun: None,
            found: None,
            held: None,
            carried: Carried::default(),
            seal: None,
            failed: None,
        }
    }

    /// Answers a question of a [`Driver`](super::Driver). An error is an answer, too.
    pub fn answer(&mut self, question: &[u8]) -> Vec<u8> {
        if let Some(failed) = &self.failed {
            return failed.clone();
        }
        self.reply(question).unwrap_or_else(|error| self.failed.insert(failed(error)).clone())
    }

    fn reply(&mut self, question: &[u8]) -> Result<Vec<u8>> {
        match of_bytes(question)? {
            Question::Count(missing) => answered(&self.count(&missing)?),
            Question::Begin(begin) => self.begin(begin),
            Question::Table => answered(&self.table()?),
            Question::Quantiles(by) => answered(&self.quantiles(&by)?),
            Question::Scan(by, quantiles) => answered(&self.scan(by, quantiles)?),
            Question::Samples(below) => answered(&self.samples(below)?),
            Question::Store(store) => answered(&self.store(*store)?),
            Question::Stored(seals) => match &self.seal {
                Some(own) if !seals.contains(own) => Err(super::super::storing::changed()),
                _ => nothing(),
            },
            Question::Fetch { from, rows } => {
                let end = self.carried.rows().min((from + rows) as usize);
                answered(&self.carried.some(end.min(from as usize)..end))
            }
            Question::Fetched => {
                self.carried = Carried::default();
                // Rows to test on are read once more.
                if self.begun.as_ref().is_some_and(|begun| !Look::of(&begun.plan).divide[0].tests())
                {
                    self.runs = Vec::new();
                }
                nothing()
            }
            Question::Teach { inside, unit } => self.teach(&inside, unit),
            Question::Trees(question) => {
                let held = self.held.as_mut().ok_or_else(too_early)?;
                let answer: Answer = held.holder.answer(&question, &held.bins, &self.threads)?;
                answered(&answer)
            }
            Question::Test { by, classifier } => self.test(&by, &classifier),
        }
    }

    fn count(&mut self, missing: &str) -> Result<Vec<Counted>> {
        let missing = serde_json::from_str(missing).map_err(|error| {
            Error::new(ErrorKind::Format, format!("what is missing cannot be read: {error}"))
        })?;
        self.runs.iter_mut().for_each(|run| run.stream.feed.mark_missing(&missing));
        let count = |run: &Run| -> Result<Counted> {
            let feed = &run.stream.feed;
            let part = feed.part()?;
            let name = feed.name().to_owned();
            Ok(Counted { run: run.number, name, rows: part.rows, columns: part.columns })
        };
        self.runs.iter().map(count).collect()
    }

    fn begin(&mut self, begin: Begin) -> Result<Vec<u8>> {
        let Begin { spec, firsts, kinds } = begin;
        let spec = Spec::from_json(&spec)?;
        let plan = spec.plan(&Shape { rows: Some(PLENTY), ..Shape::default() })?;
        for run in &mut self.runs {
            // One that was built again was not asked to count.
            run.stream.feed.mark_missing(&spec.missing);
            run.stream.feed.expect(&kinds);
        }
        self.begun = Some(Begun { plan, firsts });
        nothing()
    }

    fn table(&self) -> Result<Vec<(u32, HeldTable)>> {
        let table = |run: &Run| -> Result<(u32, HeldTable)> {
            let mut parts: Vec<Table> = Vec::new();
            pass(&run.stream.feed, &mut |chunk, _| {
                parts.push(chunk);
                Ok(())
            })?;
            Ok((run.number, Table::concat(&parts)?.into()))
        };
        self.runs.iter().map(table).collect()
    }

    /// The different numbers of each column, and how often each occurs.
    fn quantiles(&self, by: &By) -> Result<BTreeMap<String, Vec<(f64, u64)>>> {
        let begun = self.begun.as_ref().ok_or_else(too_early)?;
        let look = Look::of(&begun.plan);
        let question = Asked::of(look.problem);
        let mut all: BTreeMap<String, Vec<(f64, u64)>> = BTreeMap::new();
        for run in &self.runs {
            let first = begun.first(run.number)?;
            for (name, mut numbers) in look.quantiles(&question, by, &run.stream.feed, first)? {
                numbers.retain(|number| !number.is_nan());
                numbers.sort_unstable_by(f64::total_cmp);
                let own = all.entry(name).or_default();
                let same = numbers.chunk_by(|a, b| a.to_bits() == b.to_bits());
                own.extend(same.map(|same| (same[0], same.len() as u64)));
            }
        }
        Ok(all)
    }

    fn scan(&mut self, by: By, quantiles: Vec<(String, f64, f64)>) -> Result<ScanAnswer<'_>> {
        let begun = self.begun.as_ref().ok_or_else(too_early)?;
        let look = Look::of(&begun.plan);
        let question = Asked::of(look.problem);
        let quantiles = Quantiles::known(quantiles);
        let mut found = None;
        for run in &mut self.runs {
            let before = begun.first(run.number)?;
            let mut own = Noted::default();
            pass(&run.stream.feed, &mut |chunk, first| {
                let columns = chunk.columns().len();
                let found = found.get_or_insert_with(|| Found::new(&question, &quantiles, columns));
                look.add(&by, &run.stream, (chunk, 0, before + first, 0), found, &mut own)
            })?;
            run.noted = own;
        }
        let runs = self.runs.iter().map(|run| RunNotes {
            run: run.number,
            notes: Cow::Borrowed(&run.noted.notes),
            weights: Cow::Borrowed(&run.noted.weights),
            keys: Cow::Borrowed(&run.noted.keys),
        });
        let found = found.unwrap_or_else(|| Found::new(&question, &quantiles, 0));
        let answer = ScanAnswer {
            patterns: found.survey.table()?.into(),
            below: std::array::from_fn(|at| found.gathers[at].dropped_from()),
            firsts: found.firsts.clone(),
            runs: runs.collect(),
            missing_units: found.missing_units as u64,
            keys: std::array::from_fn(|at| found.gathers[at].keys().collect()),
        };
        self.found = Some((by, found));
        Ok(answer)
    }

    fn samples(&mut self, below: [Option<u64>; 4]) -> Result<Samples> {
        let (_, found) = self.found.as_mut().ok_or_else(too_early)?;
        let nothing = [Gather::new(0), Gather::new(0), Gather::new(0), Gather::new(0)];
        let gathers = std::mem::replace(&mut found.gathers, nothing);
        let parts: Result<Vec<_>> =
            gathers.into_iter().zip(below).map(|(gather, below)| gather.part(below)).collect();
        parts?.try_into().map(Samples).map_err(|_| too_early())
    }

    fn store(&mut self, store: Store) -> Result<StoreAnswer> {
        let begun = self.begun.as_ref().ok_or_else(too_early)?;
        let (_, mut found) = self.found.take().ok_or_else(too_early)?;
        let broken = |error: serde_json::Error| {
            Error::new(ErrorKind::Format, format!("the encoder cannot be read: {error}"))
        };
        let encoder: Encoder = serde_json::from_str(&store.encoder).map_err(broken)?;
        let bins: Option<Bins> =
            store.bins.as_deref().map(serde_json::from_str).transpose().map_err(broken)?;
        let same = |run: &Run| {
            let own = seal(&run.noted.notes, &run.noted.weights, &run.noted.keys);
            store.noted.get(run.number as usize) == Some(&own)
        };
        if !self.runs.iter().all(same) {
            return Err(super::super::storing::changed());
        }
        // The cells of this shard's own patterns: others get numbers behind these.
        let own = found.survey.add(&Table::try_from(store.patterns)?)?;
        let mut cell_of = vec![0; found.survey.len()];
        own.iter().zip(&store.cell_of).for_each(|(&own, &cell)| cell_of[own as usize] = cell);
        let stamp = Stamp {
            encoder: &encoder,
            bins: bins.as_ref(),
            cell_of: &cell_of,
            quantisers: store.quantisers,
            plug_in: store.plug_in,
        };
        let mut sums = Stamped::new([Print::nothing(), Print::nothing()]);
        let wanted = Wanted {
            weights: store.weighted.contains(&true),
            keys: store.keyed,
            hashes: bins.is_some(),
            numbers: store.numbers,
            bins: bins.as_ref().map(Bins::columns),
        };
        let (mut carried, mut missing) = (Carried::default(), vec![0; store.groups.len()]);
        let (mut codes, mut numbers, mut cells) = (Vec::new(), Vec::new(), Vec::new());
        let (mut weights, mut all) = (Vec::new(), 0);
        for run in &mut self.runs {
            let before = begun.first(run.number)?;
            let noted = std::mem::take(&mut run.noted);
            let mut chunks = 0;
            pass(&run.stream.feed, &mut |chunk, first| {
                let notes = noted.notes.get(chunks).filter(|notes| notes.len() == chunk.rows());
                let notes = notes.ok_or_else(super::super::storing::changed)?;
                for (missing, name) in missing.iter_mut().zip(&store.groups) {
                    if let Some(column) = chunk.find(name) {
                        let values = &column.values;
                        let count = (0..chunk.rows()).filter(|&row| values.is_missing(row)).count();
                        *missing += count as u64;
                    }
                }
                all += chunk.rows() as u64;
                let rows = Noticed {
                    chunk: &chunk,
                    notes,
                    weights: noted.weights.get(chunks).map(Vec::as_slice),
                    keys: noted.keys.get(chunks).map(Vec::as_slice),
                    first: [before + first; 2],
                };
                stamp.each(&rows, &mut sums, |(of_val, key), row| {
                    let teaches = store.whose.pile(of_val, key) == TEACH;
                    let hash = depot::hash(store.whose.order, row.number);
                    if !teaches || store.kept[depot::bucket(hash, store.kept.len())] {
                        carried.add((of_val, key), row, wanted);
                    }
                    // Rows without a weight teach trees nothing.
                    if teaches && wanted.bins.is_some() && row.weights[0] > 0.0 {
                        codes.extend_from_slice(row.bins);
                        numbers.push(row.number);
                        cells.push(row.cell);
                        if store.weighted[0] {
                            weights.push(row.weights[0]);
                        }
                    }
                    Ok(())
                })?;
                chunks += 1;
                Ok(())
            })?;
            if chunks != noted.notes.len() {
                return Err(super::super::storing::changed());
            }
        }
        self.carried = carried;
        self.held = bins.map(|bins| Held {
            holder: Holder::new(codes, bins.columns(), numbers),
            bins,
            cells,
            weights: store.weighted[0].then_some(weights),
        });
        let [own, others] = sums.sketches;
        let prints = sums.prints.map(|print| print.sum());
        self.seal = self.runs.first().map(|run| Seal { run: run.number, prints, rows: all });
        Ok(StoreAnswer {
            seal: self.seal,
            sketches: [own.counts().collect(), others.counts().collect()],
            missing,
        })
    }

    fn teach(&mut self, inside: &[bool], unit: Option<f64>) -> Result<Vec<u8>> {
        let held = self.held.as_mut().ok_or_else(too_early)?;
        let wrong = || Error::new(ErrorKind::Format, "there are rows of unknown cells");
        let target = |&cell: &u32| {
            inside.get(cell as usize).map(|inside| f32::from(u8::from(*inside))).ok_or_else(wrong)
        };
        let target = held.cells.iter().map(target).collect::<Result<Vec<_>>>()?;
        let weights = held.weights.as_ref().zip(unit).map(|(weights, unit)| {
            weights.iter().map(|&weight| (f64::from(weight) * unit) as f32).collect()
        });
        held.holder.teach(target, weights);
        nothing()
    }

    fn test(&self, by: &By, classifier: &[u8]) -> Result<Vec<u8>> {
        let begun = self.begun.as_ref().ok_or_else(too_early)?;
        let (spec, look) = (&begun.plan.spec, Look::of(&begun.plan));
        let classifier = Classifier::from_bytes(classifier)?;
        let mut sums = Accumulator::new(classifier.bound());
        for run in &self.runs {
            let first = begun.first(run.number)?;
            let how = tested::How {
                divide: Some(look.divide[0]),
                by,
                weight: spec.weight.as_deref(),
                unit: spec.unit.as_deref(),
            };
            tested::add_up(&classifier, &run.stream, first, &how, &mut sums)?;
        }
        sums.to_bytes().map(|sums| answered_bytes(&sums))
    }
}

impl Begun {
    /// The number of the first row of a run.
    fn first(&self, run: u32) -> Result<u64> {
        self.firsts.get(run as usize).copied().ok_or_else(too_early)
    }
}

/// An answer that says no more than that the question was understood.
fn nothing() -> Result<Vec<u8>> {
    Ok(answered_bytes(&[]))
}

fn too_early() -> Error {
    Error::new(ErrorKind::Format, "a shard was asked too early")
        .help("ask its questions in their order, the remembered ones of a lost shard first")
}
