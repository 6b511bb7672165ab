//! The sparse matrices behind [`Losses`](super::Losses), each laid out for the loop that reads it.
//!
//! [`Short`] has a row for each sum of a few terms: each loss over its events, each event over its losses.
//! [`Members`] has a row for each cell: which events it is in, without numbers.

use std::ops::Range;
use std::rc::Rc;

use super::set::Set;
use crate::wide::prefetch;

/// Sums of a few terms each, of which the first `N` stand side by side and the others apart.
///
/// A row of a sparse matrix, that is, whose rows are mostly alike: a loop over each row's own number of
/// terms would take longer to begin than to end.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Short<const N: usize, T> {
    /// Of each sum, what its first terms are of, and beside it the numbers: apart, because together they
    /// would take more room. A sum that has fewer terms has 0 of the first.
    pub(super) of: Vec<[u32; N]>,
    pub(super) by: Vec<[T; N]>,
    /// Which sums have more, and where in the two that follow.
    pub(super) long: Vec<(u32, Range<usize>)>,
    pub(super) rest_of: Vec<u32>,
    pub(super) rest_by: Vec<T>,
}

impl<const N: usize, T: Copy + Default> Short<N, T> {
    pub(super) fn new(sums: impl Iterator<Item = Vec<(u32, T)>>) -> Self {
        let mut short = Short {
            of: Vec::new(),
            by: Vec::new(),
            long: Vec::new(),
            rest_of: Vec::new(),
            rest_by: Vec::new(),
        };
        for (sum, terms) in sums.enumerate() {
            let term = |at: usize| terms.get(at).copied().unwrap_or((0, T::default()));
            short.of.push(std::array::from_fn(|at| term(at).0));
            short.by.push(std::array::from_fn(|at| term(at).1));
            if terms.len() > N {
                let start = short.rest_of.len();
                short.rest_of.extend(terms[N..].iter().map(|term| term.0));
                short.rest_by.extend(terms[N..].iter().map(|term| term.1));
                short.long.push((sum as u32, start..short.rest_of.len()));
            }
        }
        short
    }
}

/// The events of each cell: a list where most cells are in few, a bit each where they are in many.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Members {
    /// The events of cell c are `events[starts[c]..starts[c + 1]]`, four by four, so that a loop over them
    /// ends where a machine expects it to; what is missing is one past the last event, of which there is
    /// nothing.
    Lists { starts: Vec<usize>, events: Vec<[u32; FOUR]> },
    /// Those of cell c are the bits of `words[c * width..(c + 1) * width]`.
    Bits { width: usize, words: Vec<u64> },
}

/// Events that are looked up together.
const FOUR: usize = 4;

impl Members {
    pub(super) fn new(cells: usize, sets: &[Rc<Set>]) -> Self {
        let width = sets.len().div_ceil(64);
        let total: usize = sets.iter().map(|set| set.len()).sum();
        if total > 2 * cells * width {
            let mut words = vec![0_u64; cells * width];
            for (event, set) in sets.iter().enumerate() {
                for cell in set.iter() {
                    words[cell as usize * width + event / 64] |= 1 << (event % 64);
                }
            }
            return Members::Bits { width, words };
        }
        let mut lists = vec![0_usize; cells + 1];
        sets.iter().flat_map(|set| set.iter()).for_each(|cell| lists[cell as usize + 1] += 1);
        for cell in 0..cells {
            lists[cell + 1] = lists[cell] + lists[cell + 1].div_ceil(FOUR);
        }
        let mut events = vec![[sets.len() as u32; FOUR]; lists[cells]];
        let mut next: Vec<usize> = lists[..cells].iter().map(|list| list * FOUR).collect();
        for (event, set) in sets.iter().enumerate() {
            for cell in set.iter() {
                let place = &mut next[cell as usize];
                events[*place / FOUR][*place % FOUR] = event as u32;
                *place += 1;
            }
        }
        Members::Lists { starts: lists, events }
    }

    /// Asks for the events of a cell that is soon looked at.
    #[inline]
    pub(super) fn fetch(&self, cell: usize) {
        match self {
            Members::Lists { starts, events } => {
                if let Some(first) = events.get(starts[cell]) {
                    prefetch(first);
                }
            }
            Members::Bits { width, words } => {
                if let Some(first) = words.get(cell * width) {
                    prefetch(first);
                }
            }
        }
    }

    /// Hands the events of a cell on, ascending, and then perhaps the one past the last.
    #[inline]
    pub(super) fn each(&self, cell: usize, mut run: impl FnMut(usize)) {
        match self {
            Members::Lists { starts, events } => {
                for four in &events[starts[cell]..starts[cell + 1]] {
                    four.iter().for_each(|&event| run(event as usize));
                }
            }
            Members::Bits { width, words } => {
                for (place, &word) in words[cell * width..(cell + 1) * width].iter().enumerate() {
                    let mut word = word;
                    while word != 0 {
                        run(place * 64 + word.trailing_zeros() as usize);
                        word &= word - 1;
                    }
                }
            }
        }
    }
}
