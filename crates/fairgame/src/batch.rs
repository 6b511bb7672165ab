//! Minibatches as a pure function of seed and turn: several epochs, each without replacement.
//!
//! Row number p of the endless stream of rows is, in epoch e = p div n, the image of p mod n under a
//! permutation that the seed and e choose. The permutation is a Feistel network over the smallest square
//! of bits that holds n, walked until it lands below n: it is computed where it is needed, so there is no
//! order of n rows to keep, to shuffle or to save in a checkpoint.

use crate::random::mix;

/// The batches of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batches {
    rows: u64,
    size: usize,
    seed: u64,
    /// Bits of each half of the network.
    half: u32,
}

impl Batches {
    /// Batches of `size` rows out of `rows`; never more than all, and never none unless there are none.
    ///
    /// ```
    /// use fairgame::batch::Batches;
    /// let batches = Batches::new(10, 5, 7);
    /// let (mut first, mut second) = (Vec::new(), Vec::new());
    /// batches.rows_of(0, &mut first);
    /// batches.rows_of(1, &mut second);
    /// // Two batches of five are an epoch of ten: every row once.
    /// let mut all = [first, second].concat();
    /// all.sort_unstable();
    /// assert_eq!(all, (0..10).collect::<Vec<u32>>());
    /// ```
    ///
    /// # Panics
    /// If there are more than 2³² rows.
    pub fn new(rows: usize, size: usize, seed: u64) -> Self {
        assert!(rows <= u32::MAX as usize, "rows are counted in 32 bits");
        let bits = u64::BITS - (rows.max(2) as u64 - 1).leading_zeros();
        let (rows, size) = (rows as u64, size.clamp(usize::from(rows > 0), rows.max(1)));
        Batches { rows, size, seed, half: bits.div_ceil(2) }
    }

    /// How many rows a batch has.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Writes the rows of a turn's batch.
    pub fn rows_of(&self, turn: u64, into: &mut Vec<u32>) {
        into.clear();
        if self.rows == 0 {
            return;
        }
        let first = u128::from(turn) * self.size as u128;
        let rows = u128::from(self.rows);
        let (mut epoch, mut index) = ((first / rows) as u64, (first % rows) as u64);
        let mut key = self.key(epoch);
        for _ in 0..self.size {
            into.push(self.permuted(key, index));
            index += 1;
            if index == self.rows {
                (epoch, index) = (epoch + 1, 0);
                key = self.key(epoch);
            }
        }
    }

    /// What chooses the permutation of an epoch.
    fn key(&self, epoch: u64) -> u64 {
        mix(mix(self.seed) ^ epoch)
    }

    /// The image of `index` under the permutation of a key.
    #[inline]
    fn permuted(&self, key: u64, index: u64) -> u32 {
        let mask = (1_u64 << self.half) - 1;
        let mut at = index;
        loop {
            let (mut left, mut right) = (at >> self.half, at & mask);
            for round in 0..4 {
                (left, right) = (right, left ^ (mix(key ^ (round << 56) ^ right) & mask));
            }
            at = left << self.half | right;
            // Outside the rows, on: a permutation of more that ends inside is one of the rows.
            if at < self.rows {
                return at as u32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every epoch has every row once, whatever the size of a batch, and epochs differ.
    #[test]
    fn epochs_are_permutations() {
        for rows in [1, 2, 3, 7, 64, 65, 1000] {
            for size in [1, 3, 10, 100] {
                let batches = Batches::new(rows, size, 5);
                let mut stream: Vec<u32> = Vec::new();
                let mut batch = Vec::new();
                let turns = 3 * rows.div_ceil(batches.size());
                for turn in 0..turns as u64 {
                    batches.rows_of(turn, &mut batch);
                    assert_eq!(batch.len(), size.min(rows));
                    stream.extend(&batch);
                }
                let epochs: Vec<&[u32]> = stream.chunks_exact(rows).collect();
                for epoch in &epochs {
                    let mut sorted = epoch.to_vec();
                    sorted.sort_unstable();
                    assert_eq!(sorted, (0..rows as u32).collect::<Vec<_>>());
                }
                assert!(rows < 7 || epochs[0] != epochs[1], "{rows} rows");
            }
        }
    }

    /// Written down, so that no later release can change what a seed means unnoticed; and pure.
    #[test]
    fn a_turn_is_a_turn() {
        let batches = Batches::new(1000, 4, 9);
        let mut batch = Vec::new();
        batches.rows_of(123_456_789, &mut batch);
        let again = batch.clone();
        batches.rows_of(0, &mut batch);
        assert_eq!(batch, [429, 777, 897, 937]);
        batches.rows_of(123_456_789, &mut batch);
        assert_eq!(batch, again);
        let other = Batches::new(1000, 4, 10);
        assert_ne!(other.permuted(other.key(0), 0), batches.permuted(batches.key(0), 0));
    }

    /// Each row comes first about as often as any other.
    #[test]
    fn rows_are_drawn_evenly() {
        let mut counts = [0_u32; 10];
        for seed in 0..20_000 {
            let batches = Batches::new(10, 1, seed);
            counts[batches.permuted(batches.key(0), 0) as usize] += 1;
        }
        // Each count has mean 2,000 and standard deviation 42.
        assert!(counts.iter().all(|count| count.abs_diff(2_000) < 210), "{counts:?}");
    }

    #[test]
    fn no_rows_have_no_batches() {
        let mut batch = vec![1];
        Batches::new(0, 5, 1).rows_of(3, &mut batch);
        assert!(batch.is_empty());
    }
}
