//! Minibatches as a pure function of seed and turn: several epochs, each without replacement.
//!
//! Row number p of the endless stream of rows is, in epoch e = p div n, the image of p mod n under a
//! permutation that the seed and e choose. The permutation is a Feistel network over as many bits as n needs,
//! walked until it lands below n, which takes two steps at most on average (but for fewer than 128 rows): it is
//! computed where it is needed, so there is no order of n rows to keep, to shuffle or to save in a checkpoint. A
//! round is the highest bits of a·x + b, with a and b its own: any two x come out nearly as if independent
//! (Dietzfelbinger 1996), at the price of one multiplication.

use crate::random::mix;

/// The batches of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Batches {
    rows: u64,
    size: usize,
    seed: u64,
    /// Bits of the halves of the network: of the upper, and of the lower, which has one more if they are odd.
    upper: u32,
    lower: u32,
}

/// How often the halves of the network change places: an even number, since they may differ in size.
const ROUNDS: usize = 6;

/// So many rows walk together.
const BLOCK: usize = 128;

/// What chooses a permutation: a, which is odd, and b of each round.
type Keys = [(u64, u64); ROUNDS];

impl Batches {
    /// Batches of `size` rows out of `rows`; never more than all, and never none unless there are none.
    ///
    /// # Panics
    /// If there are more than 2³² rows.
    pub(super) fn new(rows: usize, size: usize, seed: u64) -> Self {
        assert!(rows <= u32::MAX as usize, "rows are counted in 32 bits");
        let bits = u64::BITS - (rows.max(2) as u64 - 1).leading_zeros();
        let (rows, size) = (rows as u64, size.clamp(usize::from(rows > 0), rows.max(1)));
        // Small networks are poor ones, and of few rows a longer walk costs nothing.
        let bits = bits.max(8);
        Batches { rows, size, seed, upper: bits / 2, lower: bits.div_ceil(2) }
    }

    /// Writes the rows of a turn's batch.
    pub(super) fn rows_of(&self, turn: u64, into: &mut Vec<u32>) {
        into.clear();
        if self.rows == 0 {
            return;
        }
        into.resize(self.size, 0);
        let first = u128::from(turn) * self.size as u128;
        let rows = u128::from(self.rows);
        let (mut epoch, mut index) = ((first / rows) as u64, (first % rows) as u64);
        let mut rest = into.as_mut_slice();
        while !rest.is_empty() {
            let count = rest.len().min((self.rows - index) as usize);
            let (of_epoch, later) = rest.split_at_mut(count);
            let keys = self.keys(epoch);
            for (part, block) in of_epoch.chunks_mut(BLOCK).enumerate() {
                self.permute(&keys, index + (part * BLOCK) as u64, block);
            }
            (epoch, index, rest) = (epoch + 1, 0, later);
        }
    }

    /// What chooses the permutation of an epoch.
    fn keys(&self, epoch: u64) -> Keys {
        let key = mix(mix(self.seed) ^ epoch);
        let draw = |place: u64| mix(key ^ place << 56);
        std::array::from_fn(|round| (draw(2 * round as u64) | 1, draw(2 * round as u64 + 1)))
    }

    /// Writes the images of `first` and of those that follow, under the permutation of these keys.
    ///
    /// Those that land outside the rows walk on, together: a permutation of more that ends inside is one of
    /// the rows. No step waits for another row's, nor on a guess whether its walk is over.
    fn permute(&self, keys: &Keys, first: u64, into: &mut [u32]) {
        let mut outside = [0_usize; BLOCK];
        let mut left = 0;
        for (place, row) in into.iter_mut().enumerate() {
            let at = self.step(keys, first + place as u64);
            *row = at as u32;
            outside[left] = place;
            left += usize::from(at >= self.rows);
        }
        while left > 0 {
            let walking = std::mem::take(&mut left);
            for walker in 0..walking {
                let place = outside[walker];
                let at = self.step(keys, u64::from(into[place]));
                into[place] = at as u32;
                outside[left] = place;
                left += usize::from(at >= self.rows);
            }
        }
    }

    /// The network: a permutation of as many bits as the rows need.
    #[inline]
    fn step(&self, keys: &Keys, at: u64) -> u64 {
        let hash = |x: u64, (a, b): (u64, u64), bits: u32| {
            a.wrapping_mul(x).wrapping_add(b) >> (64 - bits)
        };
        let (mut high, mut low) = (at >> self.lower, at & ((1 << self.lower) - 1));
        for pair in keys.chunks_exact(2) {
            high ^= hash(low, pair[0], self.upper);
            low ^= hash(high, pair[1], self.lower);
        }
        high << self.lower | low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every epoch has every row once, whatever the size of a batch, and epochs differ.
    #[test]
    fn epochs_are_permutations() {
        for rows in [1, 2, 3, 7, 64, 65, 300, 1000, 5000] {
            for size in [1, 3, 10, 100] {
                let batches = Batches::new(rows, size, 5);
                let mut stream: Vec<u32> = Vec::new();
                let mut batch = Vec::new();
                let turns = 3 * rows.div_ceil(size.min(rows));
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
        assert_eq!(batch, [435, 670, 861, 596]);
        batches.rows_of(123_456_789, &mut batch);
        assert_eq!(batch, again);
        Batches::new(1000, 4, 10).rows_of(123_456_789, &mut batch);
        assert_ne!(batch, again);
    }

    /// Each row comes first about as often as any other.
    #[test]
    fn rows_are_drawn_evenly() {
        let (mut counts, mut batch) = ([0_u32; 10], Vec::new());
        for seed in 0..20_000 {
            Batches::new(10, 1, seed).rows_of(0, &mut batch);
            counts[batch[0] as usize] += 1;
        }
        // Each count has mean 2,000 and standard deviation 42.
        assert!(counts.iter().all(|count| count.abs_diff(2_000) < 210), "{counts:?}");
    }

    /// Any two rows meet in a batch about as often as any others, and any follows any.
    #[test]
    fn pairs_of_rows_are_drawn_evenly() {
        for rows in [8_usize, 13, 32, 100] {
            let mut follows = vec![0_u32; rows * rows];
            let draws = 2_000 * rows as u64;
            let mut batch = Vec::new();
            for seed in 0..draws {
                Batches::new(rows, 2, seed).rows_of(seed % 3, &mut batch);
                follows[batch[0] as usize * rows + batch[1] as usize] += 1;
            }
            // Of the pairs of different rows; within an epoch none follows itself, and turns 0 to 2 are within.
            let mean = draws as f64 / (rows * (rows - 1)) as f64;
            let counts = follows.iter().enumerate().filter(|(at, _)| at / rows != at % rows);
            let chi: f64 = counts.map(|(_, &count)| (f64::from(count) - mean).powi(2) / mean).sum();
            let freedom = (rows * (rows - 1) - 1) as f64;
            // Five standard deviations of χ².
            assert!(
                chi < freedom + 5.0 * (2.0 * freedom).sqrt(),
                "{rows} rows: {chi} of {freedom}"
            );
        }
    }

    #[test]
    fn no_rows_have_no_batches() {
        let mut batch = vec![1];
        Batches::new(0, 5, 1).rows_of(3, &mut batch);
        assert!(batch.is_empty());
    }
}
