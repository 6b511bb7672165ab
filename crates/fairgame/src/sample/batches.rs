//! Minibatches as a pure function of seed and turn: several epochs, each without replacement.
//!
//! Rows are stored in a random order, so a minibatch can be a run of rows: it is read sequentially. Rows lie in
//! *blocks*, fixed runs of [`BLOCK`] stored rows, of which a sample may have some rows only. Position p of the
//! endless stream of a sample's rows is in epoch e = p div n. Within an epoch
//!
//! - the blocks stand in an order drawn by (seed, e),
//! - and each block is read from an offset drawn by (seed, e, block) on, and around its end.
//!
//! Turn t of batches of b rows has the positions from t·b on. A minibatch that reaches over the end of a block
//! has several *pieces*, each of one block. Whoever holds a block can sum its piece alone; the pieces are then
//! added up in the order of the stream.

use std::ops::Range;

use crate::random::mix;

/// Rows that are always held, and summed, together.
pub(crate) const BLOCK: usize = 16_384;

/// The rows of a sample: all of the stored rows, or some of them, ascending.
#[derive(Debug, Clone, Copy)]
pub(super) enum Members<'a> {
    All(usize),
    Some(&'a [u32]),
}

impl Members<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Members::All(rows) => *rows,
            Members::Some(rows) => rows.len(),
        }
    }

    /// The stored row at a place among the members.
    fn row(&self, place: usize) -> u32 {
        match self {
            Members::All(_) => place as u32,
            Members::Some(rows) => rows[place],
        }
    }

    /// Calls `see` with the number of each block that has members, and with the places of these members.
    pub(super) fn each_block(&self, mut see: impl FnMut(usize, Range<usize>)) {
        let mut start = 0;
        while start < self.len() {
            let block = self.row(start) as usize / BLOCK;
            let end = match self {
                Members::All(rows) => (*rows).min((block + 1) * BLOCK),
                Members::Some(rows) => rows.partition_point(|&row| row as usize / BLOCK <= block),
            };
            see(block, start..end);
            start = end;
        }
    }

    /// Which rows these are, for a cache: their number, and where their list is.
    fn key(&self) -> (usize, usize) {
        match self {
            Members::All(rows) => (*rows, 0),
            Members::Some(rows) => (rows.len(), rows.as_ptr() as usize),
        }
    }
}

/// The order of one epoch; kept from turn to turn, since most turns are of the same epoch.
#[derive(Debug, Default)]
pub(super) struct Epoch {
    /// Whose it is: the seed, the number of the epoch, and the rows.
    key: Option<(u64, u64, (usize, usize))>,
    /// The blocks in order.
    blocks: Vec<Drawn>,
    /// Where in the epoch each block ends.
    ends: Vec<usize>,
}

/// A block of an epoch.
#[derive(Debug)]
struct Drawn {
    /// What puts it in order.
    key: u64,
    block: usize,
    /// The places of its members, and the offset at which they are read first.
    places: Range<usize>,
    offset: usize,
}

impl Epoch {
    fn draw(&mut self, members: &Members<'_>, seed: u64, epoch: u64) {
        let key = Some((seed, epoch, members.key()));
        if self.key == key {
            return;
        }
        self.key = key;
        let draw = mix(mix(seed) ^ epoch);
        let drawn = |block: usize, what: u64| mix(draw ^ mix(((block as u64) << 1) | what));
        self.blocks.clear();
        members.each_block(|block, places| {
            let offset = ((u128::from(drawn(block, 1)) * places.len() as u128) >> 64) as usize;
            self.blocks.push(Drawn { key: drawn(block, 0), block, places, offset });
        });
        self.blocks.sort_unstable_by_key(|one| (one.key, one.block));
        let mut end = 0;
        self.ends.clear();
        self.ends.extend(self.blocks.iter().map(|one| {
            end += one.places.len();
            end
        }));
    }
}

/// Writes the stored rows of a turn's minibatch, and where each of its pieces ends.
///
/// A minibatch never has more rows than there are, and none only where there are none.
pub(super) fn rows_of(
    members: Members<'_>,
    (seed, turn, size): (u64, u64, usize),
    epoch: &mut Epoch,
    rows: &mut Vec<u32>,
    pieces: &mut Vec<usize>,
) {
    rows.clear();
    pieces.clear();
    let all = members.len();
    if all == 0 {
        return;
    }
    let size = size.clamp(1, all);
    let first = u128::from(turn) * size as u128;
    let mut number = (first / all as u128) as u64;
    let mut at = (first % all as u128) as usize;
    while rows.len() < size {
        epoch.draw(&members, seed, number);
        let mut block = epoch.ends.partition_point(|&end| end <= at);
        while rows.len() < size && block < epoch.blocks.len() {
            let Drawn { places, offset, .. } = &epoch.blocks[block];
            let length = places.len();
            let into = at + length - epoch.ends[block];
            let count = (size - rows.len()).min(length - into);
            for step in into..into + count {
                let turned = offset + step;
                let turned = if turned >= length { turned - length } else { turned };
                rows.push(members.row(places.start + turned));
            }
            pieces.push(rows.len());
            at += count;
            block += 1;
        }
        (number, at) = (number + 1, 0);
    }
}

/// Marks the blocks that the minibatches of the first turns are drawn from, of so many rows.
pub(crate) fn drawn_blocks(
    rows: usize,
    (seed, turns, size): (u64, u64, usize),
    needed: &mut [bool],
) {
    let members = Members::All(rows);
    let drawn = u128::from(turns) * size.clamp(1, rows.max(1)) as u128;
    if drawn >= rows as u128 {
        return needed.fill(true);
    }
    let mut epoch = Epoch::default();
    epoch.draw(&members, seed, 0);
    let last = epoch.ends.partition_point(|&end| (end as u128) < drawn);
    epoch.blocks.iter().take(last + 1).for_each(|one| needed[one.block] = true);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(members: Members<'_>, seed: u64, turn: u64, size: usize) -> (Vec<u32>, Vec<usize>) {
        let (mut rows, mut pieces) = (Vec::new(), Vec::new());
        rows_of(members, (seed, turn, size), &mut Epoch::default(), &mut rows, &mut pieces);
        (rows, pieces)
    }

    /// Every epoch has every row once, whatever the size of a batch, of all rows and of some; and epochs differ.
    #[test]
    fn epochs_have_every_row_once() {
        let some: Vec<u32> = (0..50_000).filter(|row| row % 5 != 2).collect();
        for (rows, size) in [(1, 1), (7, 3), (1000, 100), (40_000, 7_000), (50_000, 20_000)] {
            for some in [None, Some(&some[..rows.min(some.len())])] {
                let members = some.map_or(Members::All(rows), Members::Some);
                let all = members.len();
                let mut wanted: Vec<u32> = (0..all).map(|place| members.row(place)).collect();
                let (mut epoch, mut stream) = (Epoch::default(), Vec::new());
                let (mut rows, mut pieces) = (Vec::new(), Vec::new());
                for turn in 0..(3 * all.div_ceil(size.min(all))) as u64 {
                    rows_of(members, (5, turn, size), &mut epoch, &mut rows, &mut pieces);
                    assert_eq!(rows.len(), size.min(all));
                    assert_eq!(pieces.last(), Some(&rows.len()));
                    let mut start = 0;
                    for &end in &pieces {
                        let blocks: Vec<usize> =
                            rows[start..end].iter().map(|&row| row as usize / BLOCK).collect();
                        assert!(
                            blocks.iter().all(|block| *block == blocks[0]),
                            "one block a piece"
                        );
                        start = end;
                    }
                    stream.extend(&rows);
                }
                wanted.sort_unstable();
                let epochs: Vec<&[u32]> = stream.chunks_exact(all).collect();
                for epoch in &epochs {
                    let mut sorted = epoch.to_vec();
                    sorted.sort_unstable();
                    assert_eq!(sorted, wanted);
                }
                assert!(all < 7 || epochs[0] != epochs[1], "{all} rows");
            }
        }
    }

    /// Written down, so that no later release can change what a seed means unnoticed; and pure.
    #[test]
    fn a_turn_is_a_turn() {
        let members = Members::All(1000);
        let (rows, pieces) = batch(members, 9, 0, 4);
        assert_eq!((rows, pieces), (vec![527, 528, 529, 530], vec![4]));
        // Of several blocks, a minibatch that goes from one into another.
        let (rows, pieces) = batch(Members::All(3 * BLOCK), 9, 3276, 5);
        assert_eq!((rows, pieces), (vec![28390, 28391, 28392, 28393, 8647], vec![4, 5]));
        let far = batch(members, 9, 123_456_789, 4);
        assert_eq!(batch(members, 9, 123_456_789, 4), far);
        assert_ne!(batch(members, 10, 123_456_789, 4), far);
    }

    /// Each row comes first about as often as any other, and so does each block.
    #[test]
    fn rows_and_blocks_are_drawn_evenly() {
        let mut counts = [0_u32; 10];
        for seed in 0..20_000 {
            counts[batch(Members::All(10), seed, 0, 1).0[0] as usize] += 1;
        }
        // Each count has mean 2,000 and standard deviation 42.
        assert!(counts.iter().all(|count| count.abs_diff(2_000) < 210), "{counts:?}");
        let mut counts = [0_u32; 4];
        for seed in 0..4_000 {
            let row = batch(Members::All(4 * BLOCK), 7, seed * 4 * BLOCK as u64, 1).0[0];
            counts[row as usize / BLOCK] += 1;
        }
        // Each count has mean 1,000 and standard deviation 27.
        assert!(counts.iter().all(|count| count.abs_diff(1_000) < 140), "{counts:?}");
    }

    #[test]
    fn no_rows_have_no_batches() {
        assert_eq!(batch(Members::All(0), 1, 3, 5), (Vec::new(), Vec::new()));
    }
}
