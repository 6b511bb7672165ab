//! The second pass: rows are encoded and stored, in a random order.
//!
//! The order is that of a hash of each row's number, as in memory. Rows come in the order of their files, so each is put
//! into the bucket that its hash falls into, behind the rows that are there: as many sequential writes as there are
//! buckets. Where buckets are in files, some rows of each are held in memory until they are written together. When all
//! rows are there, each bucket is sorted by hash, and then so are all rows.

use std::ops::Range;

use crate::encode::{Codes, Features};
use crate::random::mix;
use crate::slab::Shelf;
use crate::{Result, Slab, Store, Threads};

/// Most buckets: so many places are written to in turns.
const BUCKETS: usize = 4096;

/// About so many rows are in a bucket, if there are not too many rows.
const BUCKET: usize = 4096;

/// Rows that wait to be written to a file together: at most so many of a bucket, and so many bytes of all buckets.
const STAGED: usize = 256;
pub(in crate::train) const STAGED_BYTES: usize = 64 << 20;

/// Rows that are stored beside each other, in the order of their hashes.
#[derive(Debug, Default, Clone)]
pub(super) struct Pile {
    /// How many rows each bucket has.
    counts: Vec<usize>,
    /// Where the next row of each bucket goes, and where it ends.
    next: Vec<usize>,
    ends: Vec<usize>,
    /// The number of the first bucket, among those of all piles that are stored together.
    first: usize,
    /// Of which buckets the rows are stored: of all, unless some are elsewhere.
    kept: Vec<bool>,
}

/// Where a row goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spot {
    place: usize,
    bucket: usize,
}

impl Pile {
    /// A pile of about so many rows.
    pub(super) fn new(rows: usize) -> Self {
        let buckets = (rows / BUCKET).clamp(1, BUCKETS);
        Pile { counts: vec![0; buckets], kept: vec![true; buckets], ..Pile::default() }
    }

    fn bucket(&self, hash: u64) -> usize {
        bucket(hash, self.counts.len())
    }

    /// Keeps only the buckets that have rows in places which `wanted` says yes to, and says which these are.
    pub(super) fn keep(&mut self, wanted: impl Fn(Range<usize>) -> bool) -> &[bool] {
        let mut end = 0;
        for (kept, count) in self.kept.iter_mut().zip(&self.counts) {
            end += count;
            *kept = wanted(end - count..end);
        }
        &self.kept
    }

    /// Counts a row.
    pub(super) fn count(&mut self, hash: u64) {
        let bucket = self.bucket(hash);
        self.counts[bucket] += 1;
    }

    /// How many rows there are.
    pub(super) fn rows(&self) -> usize {
        self.counts.iter().sum()
    }

    /// All rows are counted; they are stored behind those of another pile.
    pub(super) fn place(&mut self, behind: Option<&Pile>) {
        let mut next = behind.map_or(0, Pile::rows);
        self.first = behind.map_or(0, |pile| pile.counts.len());
        (self.next, self.ends) = self
            .counts
            .iter()
            .map(|count| {
                next += count;
                (next - count, next)
            })
            .unzip();
    }

    /// Whether all rows that were counted have got their places, but for those of buckets that are elsewhere.
    pub(super) fn is_full(&self) -> bool {
        let places = self.next.iter().zip(&self.ends).zip(&self.kept);
        places.into_iter().all(|((next, end), kept)| !kept || next == end)
    }

    /// Where a row goes; none if it was not counted.
    pub(super) fn next(&mut self, hash: u64) -> Option<Spot> {
        let bucket = self.bucket(hash);
        let place = self.next[bucket];
        self.next[bucket] += 1;
        (place < self.ends[bucket]).then_some(Spot { place, bucket: self.first + bucket })
    }
}

/// What is stored of one player's rows.
pub(super) struct Stored {
    pub(super) seen: Seen,
    pub(super) cells: Slab<u32>,
    /// Weights that add up without rounding, and as they were given.
    pub(super) weights: Option<[Slab<f32>; 2]>,
    /// What rows share that belong together.
    pub(super) keys: Option<Slab<u64>>,
    /// A hash of each row's features, where these are not stored.
    pub(super) hashes: Option<Slab<u64>>,
    /// The number of each row; once they are in order, only where that is asked for.
    pub(super) numbers: Option<Slab<u32>>,
}

/// What models see of rows.
pub(super) enum Seen {
    Features {
        codes: Codes,
        values: Slab<f32>,
    },
    /// The codes of trees, so many a row.
    Bins(Slab<u8>, usize),
}

/// One row, to be stored.
pub(super) struct Row<'a> {
    pub(super) number: u32,
    pub(super) cell: u32,
    pub(super) weights: [f32; 2],
    pub(super) key: u64,
    pub(super) features: &'a Features,
    /// Its place in the features.
    pub(super) at: usize,
    /// The codes of trees, if these are stored.
    pub(super) bins: &'a [u8],
}

/// What to store.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    pub(super) weights: bool,
    pub(super) keys: bool,
    pub(super) hashes: bool,
    /// Their numbers, once they are in order.
    pub(super) numbers: bool,
    /// The columns of trees, where these are what a model sees.
    pub(super) bins: Option<usize>,
}

impl Stored {
    /// Room for so many rows with features like these.
    fn new(store: &Store, rows: usize, like: &Features, wanted: Wanted) -> Result<Self> {
        let seen = match wanted.bins {
            Some(columns) => Seen::Bins(store.zeros(rows * columns)?, columns),
            None => Seen::Features {
                codes: Codes::zeros(store, like.weights(), rows * like.slots())?,
                values: store.zeros(rows * like.numbers())?,
            },
        };
        let weights = match wanted.weights {
            true => Some([store.zeros(rows)?, store.zeros(rows)?]),
            false => None,
        };
        Ok(Stored {
            seen,
            cells: store.zeros(rows)?,
            weights,
            keys: wanted.keys.then(|| store.zeros(rows)).transpose()?,
            hashes: wanted.hashes.then(|| store.zeros(rows)).transpose()?,
            numbers: Some(store.zeros(rows)?),
        })
    }

    fn rows(&self) -> usize {
        self.cells.len()
    }

    /// Stores a row in memory.
    #[inline]
    fn put(&mut self, place: usize, row: &Row<'_>) {
        match &mut self.seen {
            Seen::Bins(codes, columns) => {
                codes[place * *columns..(place + 1) * *columns].copy_from_slice(row.bins);
            }
            Seen::Features { codes, values } => {
                codes.put_row(place, row.features, row.at);
                let numbers = row.features.numbers();
                values[place * numbers..(place + 1) * numbers]
                    .copy_from_slice(row.features.row_values(row.at));
            }
        }
        self.cells[place] = row.cell;
        if let Some(numbers) = &mut self.numbers {
            numbers[place] = row.number;
        }
        if let Some(weights) = &mut self.weights {
            weights.iter_mut().zip(row.weights).for_each(|(to, weight)| to[place] = weight);
        }
        if let Some(keys) = &mut self.keys {
            keys[place] = row.key;
        }
        if let Some(hashes) = &mut self.hashes {
            hashes[place] = row.features.hash(row.at);
        }
    }

    /// All that is stored of rows.
    fn shelves(&mut self) -> Vec<&mut dyn Shelf> {
        let mut all: Vec<&mut dyn Shelf> = vec![&mut self.cells];
        all.extend(self.numbers.iter_mut().map(|one| one as &mut dyn Shelf));
        match &mut self.seen {
            Seen::Bins(codes, _) => all.push(codes),
            Seen::Features { codes, values } => all.extend([codes.shelf_mut(), values]),
        }
        all.extend(self.weights.iter_mut().flatten().map(|one| one as &mut dyn Shelf));
        all.extend(self.keys.iter_mut().map(|one| one as &mut dyn Shelf));
        all.extend(self.hashes.iter_mut().map(|one| one as &mut dyn Shelf));
        all
    }
}

/// Rows of buckets that are written to files, some at a time.
struct Stage {
    held: Stored,
    /// How many rows of a bucket are held at most.
    room: usize,
    /// How many rows of each bucket are held, and where the first of them goes.
    buckets: Vec<(usize, usize)>,
}

impl Stage {
    /// A place in memory for some rows of each bucket.
    fn new(stored: &mut Stored, buckets: usize, like: &Features, wanted: Wanted) -> Result<Self> {
        let rows = stored.rows().max(1);
        let a_row: usize = stored.shelves().iter().map(|shelf| shelf.bytes().len() / rows).sum();
        let room = (STAGED_BYTES / (buckets * a_row).max(1)).clamp(1, STAGED);
        let held = Stored::new(&Store::default(), buckets * room, like, wanted)?;
        Ok(Stage { held, room, buckets: vec![(0, 0); buckets] })
    }

    fn put(&mut self, spot: Spot, row: &Row<'_>, to: &mut Stored) -> Result<()> {
        let (count, first) = &mut self.buckets[spot.bucket];
        if *count == 0 {
            *first = spot.place;
        }
        self.held.put(spot.bucket * self.room + *count, row);
        *count += 1;
        match *count == self.room {
            true => self.write(spot.bucket, to),
            false => Ok(()),
        }
    }

    /// Writes the rows of a bucket that are held.
    fn write(&mut self, bucket: usize, to: &mut Stored) -> Result<()> {
        let (count, first) = std::mem::take(&mut self.buckets[bucket]);
        let (from, held) = (bucket * self.room, self.buckets.len() * self.room);
        for (to, shelf) in to.shelves().into_iter().zip(self.held.shelves()) {
            let bytes = shelf.bytes();
            let width = bytes.len() / held;
            to.write(first * width, &bytes[from * width..(from + count) * width])?;
        }
        Ok(())
    }
}

/// Rows that come in any order and are stored in that of their hashes.
pub(super) struct Depot {
    stored: Stored,
    wanted: Wanted,
    /// Where a part is in files.
    stage: Option<Stage>,
}

impl Depot {
    /// Room for the rows of piles, with features like these.
    pub(super) fn new(
        store: &Store,
        piles: &[&Pile],
        like: &Features,
        wanted: Wanted,
    ) -> Result<Self> {
        let rows = piles.iter().map(|pile| pile.rows()).sum();
        let mut stored = Stored::new(store, rows, like, wanted)?;
        let buckets = piles.iter().map(|pile| pile.counts.len()).sum();
        let stage = match stored.shelves().iter().any(|shelf| shelf.is_file()) {
            true => Some(Stage::new(&mut stored, buckets, like, wanted)?),
            false => None,
        };
        Ok(Depot { stored, wanted, stage })
    }

    /// Stores a row.
    #[inline]
    pub(super) fn put(&mut self, spot: Spot, row: &Row<'_>) -> Result<()> {
        match &mut self.stage {
            Some(stage) => stage.put(spot, row, &mut self.stored),
            None => {
                self.stored.put(spot.place, row);
                Ok(())
            }
        }
    }

    /// Puts the rows of piles in order, by hashes with this key.
    pub(super) fn finish(mut self, piles: &[&Pile], key: u64, threads: &Threads) -> Result<Stored> {
        if let Some(mut stage) = self.stage.take() {
            for bucket in 0..stage.buckets.len() {
                stage.write(bucket, &mut self.stored)?;
            }
        }
        let mut stored = self.stored;
        let mut numbers = stored.numbers.take().unwrap_or_else(|| Slab::from(Vec::new()));
        let mut end = 0;
        let buckets = piles.iter().flat_map(|pile| &pile.counts).map(|count| {
            end += count;
            end - count..end
        });
        let buckets: Vec<Range<usize>> = buckets.collect();
        let is_kept: Vec<bool> = piles.iter().flat_map(|pile| &pile.kept).copied().collect();
        let sizes = |width: usize| -> Vec<usize> {
            buckets.iter().map(|rows| rows.len() * width).collect()
        };
        for shelf in stored.shelves() {
            let width = shelf.bytes().len() / numbers.len().max(1);
            shelf.each_part(&sizes(width), threads, &|bucket, bytes| {
                if width > 0 && is_kept[bucket] {
                    arrange(&numbers[buckets[bucket].clone()], key, bytes, width);
                }
            })?;
        }
        if self.wanted.numbers {
            let width = size_of::<u32>();
            Shelf::each_part(&mut numbers, &sizes(width), threads, &|bucket, bytes| {
                if is_kept[bucket] {
                    let word = |bytes: &[u8]| {
                        bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte))
                    };
                    let own: Vec<u32> = bytes.chunks_exact(width).map(word).collect();
                    arrange(&own, key, bytes, width);
                }
            })?;
            stored.numbers = Some(numbers);
        }
        Ok(stored)
    }
}

/// Puts rows of so many bytes in the order of the hashes of their numbers.
fn arrange(numbers: &[u32], key: u64, rows: &mut [u8], width: usize) {
    let mut order: Vec<(u64, u32)> =
        numbers.iter().zip(0..).map(|(&number, at)| (hash(key, number), at)).collect();
    order.sort_unstable_by_key(|&(hash, at)| (hash, numbers[at as usize]));
    let before = rows.to_vec();
    for ((_, from), to) in order.iter().zip(rows.chunks_exact_mut(width)) {
        to.copy_from_slice(&before[*from as usize * width..][..width]);
    }
}

/// The bucket of a hash, among so many.
#[inline]
pub(super) fn bucket(hash: u64, buckets: usize) -> usize {
    ((u128::from(hash) * buckets as u128) >> 64) as usize
}

/// What puts stored rows in order.
#[inline]
pub(super) fn hash(key: u64, number: u32) -> u64 {
    mix(key ^ u64::from(number))
}
