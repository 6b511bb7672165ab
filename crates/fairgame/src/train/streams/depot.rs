//! The second pass: rows are encoded and stored, in a random order.
//!
//! The order is that of a hash of each row's number, as in memory. Rows come in the order of their files, so each is put
//! into the bucket that its hash falls into, behind the rows that are there: as many sequential writes as there are
//! buckets. When all rows are there, each bucket is sorted by hash, and then so are all rows.

use crate::encode::{Codes, Features};
use crate::random::mix;
use crate::{Result, Slab, Store, Threads};

/// Most buckets: so many places are written to in turns.
const BUCKETS: usize = 4096;

/// About so many rows are in a bucket, if there are not too many rows.
const BUCKET: usize = 4096;

/// Rows that are stored beside each other, in the order of their hashes.
#[derive(Debug, Default, Clone)]
pub(super) struct Pile {
    /// How many rows each bucket has.
    counts: Vec<usize>,
    /// Where the next row of each bucket goes, and where it ends.
    next: Vec<usize>,
    ends: Vec<usize>,
}

impl Pile {
    /// A pile of about so many rows.
    pub(super) fn new(rows: usize) -> Self {
        Pile { counts: vec![0; (rows / BUCKET).clamp(1, BUCKETS)], ..Pile::default() }
    }

    fn bucket(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.counts.len() as u128) >> 64) as usize
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

    /// All rows are counted; they are stored from `start` on.
    pub(super) fn place(&mut self, start: usize) {
        let mut next = start;
        (self.next, self.ends) = self
            .counts
            .iter()
            .map(|count| {
                next += count;
                (next - count, next)
            })
            .unzip();
    }

    /// Where a row goes; none if it was not counted.
    pub(super) fn next(&mut self, hash: u64) -> Option<usize> {
        let bucket = self.bucket(hash);
        let place = self.next[bucket];
        self.next[bucket] += 1;
        (place < self.ends[bucket]).then_some(place)
    }
}

/// What is stored of one player's rows.
pub(super) struct Depot {
    pub(super) seen: Seen,
    pub(super) cells: Slab<u32>,
    /// Weights that add up without rounding, and as they were given.
    pub(super) weights: Option<[Slab<f32>; 2]>,
    /// What rows share that belong together.
    pub(super) keys: Option<Slab<u64>>,
    /// A hash of each row's features, where these are not stored.
    pub(super) hashes: Option<Slab<u64>>,
    /// The number of each row, until they are in order.
    numbers: Slab<u32>,
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
    /// The columns of trees, where these are what a model sees.
    pub(super) bins: Option<usize>,
}

impl Depot {
    /// Room for so many rows with features like these.
    pub(super) fn new(store: &Store, rows: usize, like: &Features, wanted: Wanted) -> Result<Self> {
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
        Ok(Depot {
            seen,
            cells: store.zeros(rows)?,
            weights,
            keys: wanted.keys.then(|| store.zeros(rows)).transpose()?,
            hashes: wanted.hashes.then(|| store.zeros(rows)).transpose()?,
            numbers: store.zeros(rows)?,
        })
    }

    /// Stores a row.
    #[inline]
    pub(super) fn put(&mut self, place: usize, row: &Row<'_>) {
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
        self.numbers[place] = row.number;
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

    /// Puts the rows of piles in order, by hashes with this key. Nothing knows their numbers afterwards.
    pub(super) fn sort(&mut self, piles: &[&Pile], key: u64, threads: &Threads) {
        let sizes: Vec<usize> = piles.iter().flat_map(|pile| pile.counts.iter().copied()).collect();
        let numbers = std::mem::replace(&mut self.numbers, Slab::from(Vec::new()));
        let mut starts: Vec<usize> = Vec::with_capacity(sizes.len());
        let mut start = 0;
        for size in &sizes {
            starts.push(start);
            start += size;
        }
        let buckets: Vec<(usize, usize)> = starts.into_iter().zip(sizes.iter().copied()).collect();
        let orders: Orders<'_> = Orders { buckets: &buckets, numbers: &numbers, key };
        match &mut self.seen {
            Seen::Bins(codes, columns) => orders.apply(codes, *columns, threads),
            Seen::Features { codes, values } => {
                let width = values.len() / numbers.len().max(1);
                orders.apply(values, width, threads);
                let slots = codes.count() / numbers.len().max(1);
                match codes {
                    Codes::Byte(codes) => orders.apply(codes, slots, threads),
                    Codes::Narrow(codes) => orders.apply(codes, slots, threads),
                    Codes::Wide(codes) => orders.apply(codes, slots, threads),
                }
            }
        }
        orders.apply(&mut self.cells, 1, threads);
        for weights in self.weights.iter_mut().flatten() {
            orders.apply(weights, 1, threads);
        }
        for hashes in self.keys.iter_mut().chain(&mut self.hashes) {
            orders.apply(hashes, 1, threads);
        }
    }
}

/// How the rows of each bucket are put in order.
struct Orders<'a> {
    /// Where each bucket starts, and how many rows it has.
    buckets: &'a [(usize, usize)],
    numbers: &'a [u32],
    key: u64,
}

impl Orders<'_> {
    /// Puts so many numbers a row in order.
    fn apply<T: Copy + Send + Sync>(&self, all: &mut [T], width: usize, threads: &Threads) {
        if width == 0 {
            return;
        }
        let mut rest = all;
        let mut parts: Vec<(&(usize, usize), &mut [T])> = Vec::with_capacity(self.buckets.len());
        for bucket in self.buckets {
            let (own, more) = rest.split_at_mut(bucket.1 * width);
            parts.push((bucket, own));
            rest = more;
        }
        threads.each_mut(&mut parts, |((start, count), own)| {
            let numbers = &self.numbers[*start..start + count];
            let mut order: Vec<(u64, u32)> =
                (0..*count).map(|at| (hash(self.key, numbers[at]), at as u32)).collect();
            order.sort_unstable_by_key(|&(hash, at)| (hash, numbers[at as usize]));
            let before = own.to_vec();
            for ((_, from), to) in order.iter().zip(own.chunks_exact_mut(width)) {
                to.copy_from_slice(&before[*from as usize * width..][..width]);
            }
        });
    }
}

/// What puts stored rows in order.
#[inline]
pub(super) fn hash(key: u64, number: u32) -> u64 {
    mix(key ^ u64::from(number))
}
