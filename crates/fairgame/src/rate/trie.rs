//! Tuples of codes and their numbers.
//!
//! A row is a tuple of codes, one a column. Tuples are told apart column by column: at each level a pair
//! (number of the tuple so far, next code) has a number of its own. So a tuple costs one look-up a
//! column, in a plain table for the first pairs and in a hash table for the others.

use hashbrown::HashMap;

/// The numbers of tuples, level by level.
#[derive(Debug, Clone)]
pub(super) struct Trie {
    levels: Vec<Level>,
}

/// Pairs of a tuple and a code, and the number of each.
#[derive(Debug, Clone)]
pub(super) struct Level {
    /// How many codes there are.
    codes: usize,
    /// The pairs, by number.
    pairs: Vec<(u32, u32)>,
    /// The numbers of pairs whose place is below [`PLAIN`].
    plain: Vec<u32>,
    /// The numbers of the others.
    others: HashMap<(u32, u32), u32>,
}

/// No tuple.
pub(super) const NONE: u32 = u32::MAX;

/// Up to so many pairs of a level have a place in a plain table.
const PLAIN: usize = 1 << 18;

impl Level {
    fn place(&self, (tuple, code): (u32, u32)) -> usize {
        tuple as usize * self.codes + code as usize
    }

    /// The number of a pair, or [`NONE`].
    #[inline]
    pub(super) fn find(&self, pair: (u32, u32)) -> u32 {
        let place = self.place(pair);
        if place < PLAIN {
            return self.plain.get(place).copied().unwrap_or(NONE);
        }
        self.others.get(&pair).copied().unwrap_or(NONE)
    }

    /// The number of a pair, the next one if it is new.
    #[inline]
    pub(super) fn number(&mut self, pair: (u32, u32)) -> u32 {
        match self.find(pair) {
            NONE => self.add(pair),
            known => known,
        }
    }

    fn add(&mut self, pair: (u32, u32)) -> u32 {
        let (place, number) = (self.place(pair), self.pairs.len() as u32);
        if place < PLAIN {
            if place >= self.plain.len() {
                let whole = (place + 1).next_multiple_of(self.codes.max(1));
                self.plain.resize(whole.max(2 * self.plain.len()).min(PLAIN), NONE);
            }
            self.plain[place] = number;
        } else {
            self.others.insert(pair, number);
        }
        self.pairs.push(pair);
        number
    }
}

impl Trie {
    /// Without tuples; `codes` says how many codes there are at each level.
    pub(super) fn new(codes: impl IntoIterator<Item = usize>) -> Self {
        let level =
            |codes| Level { codes, pairs: Vec::new(), plain: Vec::new(), others: HashMap::new() };
        Trie { levels: codes.into_iter().map(level).collect() }
    }

    fn empty(&self) -> Trie {
        Trie::new(self.levels.iter().map(|level| level.codes))
    }

    pub(super) fn levels(&self) -> &[Level] {
        &self.levels
    }

    pub(super) fn levels_mut(&mut self) -> &mut [Level] {
        &mut self.levels
    }

    /// How many tuples there are.
    pub(super) fn len(&self) -> usize {
        self.levels.last().map_or(1, |level| level.pairs.len())
    }

    /// The pairs of each level, by number.
    pub(super) fn pairs(
        &self,
    ) -> impl DoubleEndedIterator<Item = &[(u32, u32)]> + ExactSizeIterator {
        self.levels.iter().map(|level| level.pairs.as_slice())
    }

    /// Takes in the tuples of another, and says which number each of them has here.
    pub(super) fn merge(&mut self, other: &Trie) -> Vec<u32> {
        let mut numbers = vec![0];
        for (level, pairs) in self.levels.iter_mut().zip(other.pairs()) {
            let here = |&(tuple, code): &(u32, u32)| level.number((numbers[tuple as usize], code));
            numbers = pairs.iter().map(here).collect();
        }
        numbers
    }

    /// The same tuples in ascending order, and which number each of them has there.
    pub(super) fn sorted(&self) -> (Trie, Vec<u32>) {
        let (mut sorted, mut numbers) = (self.empty(), vec![0]);
        for (level, pairs) in sorted.levels.iter_mut().zip(self.pairs()) {
            let there = |&(tuple, code): &(u32, u32)| (numbers[tuple as usize], code);
            let mut order: Vec<(u32, u32)> = pairs.iter().map(there).collect();
            order.sort_unstable();
            for pair in order {
                level.add(pair);
            }
            numbers = pairs.iter().map(|pair| level.find(there(pair))).collect();
        }
        (sorted, numbers)
    }

    /// The trie of these pairs, which must ascend; `None` where they do not, or a number is too large.
    pub(super) fn from_pairs(
        codes: impl IntoIterator<Item = usize>,
        all: &[Vec<(u32, u32)>],
    ) -> Option<Trie> {
        let mut trie = Trie::new(codes);
        if trie.levels.len() != all.len() {
            return None;
        }
        let mut tuples = 1;
        for (level, pairs) in trie.levels.iter_mut().zip(all) {
            let known = |&(tuple, code): &(u32, u32)| {
                (tuple as usize) < tuples && (code as usize) < level.codes
            };
            if !pairs.is_sorted_by(|a, b| a < b) || !pairs.iter().all(known) {
                return None;
            }
            for &pair in pairs {
                level.add(pair);
            }
            tuples = pairs.len();
        }
        Some(trie)
    }
}
