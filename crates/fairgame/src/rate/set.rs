//! Sets of small integers that are never much larger than they need to be.

/// A set of integers below a bound: a list where it is sparse, a bit each where it is not.
///
/// Which of the two is decided by how many there are, so equal sets are equal values.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Set {
    below: u32,
    items: Items,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Items {
    /// Ascending.
    List(Vec<u32>),
    Bits(Vec<u64>),
}

impl Set {
    /// All integers below the bound.
    pub(super) fn all(below: u32) -> Self {
        Set::new(below, 0..below)
    }

    /// The set of ascending integers.
    pub(crate) fn new(below: u32, ascending: impl Iterator<Item = u32>) -> Self {
        let mut list: Vec<u32> = Vec::new();
        let mut ascending = ascending;
        for item in ascending.by_ref() {
            list.push(item);
            if list.len() as u64 * 32 > u64::from(below) {
                let mut bits = vec![0_u64; below.div_ceil(64) as usize];
                for item in list.into_iter().chain(ascending) {
                    bits[item as usize / 64] |= 1 << (item % 64);
                }
                return Set { below, items: Items::Bits(bits) };
            }
        }
        list.shrink_to_fit();
        Set { below, items: Items::List(list) }
    }

    /// The bound.
    pub(super) fn below(&self) -> u32 {
        self.below
    }

    pub(super) fn len(&self) -> usize {
        match &self.items {
            Items::List(list) => list.len(),
            Items::Bits(bits) => bits.iter().map(|word| word.count_ones() as usize).sum(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        matches!(&self.items, Items::List(list) if list.is_empty())
    }

    pub(super) fn contains(&self, item: u32) -> bool {
        match &self.items {
            Items::List(list) => list.binary_search(&item).is_ok(),
            Items::Bits(bits) => bits[item as usize / 64] >> (item % 64) & 1 == 1,
        }
    }

    /// The items, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let (list, bits): (&[u32], &[u64]) = match &self.items {
            Items::List(list) => (list, &[]),
            Items::Bits(bits) => (&[], bits),
        };
        let set = bits.iter().enumerate().flat_map(|(place, &word)| {
            let mut word = word;
            std::iter::from_fn(move || {
                let bit = word.trailing_zeros();
                // Taking the lowest bit away; of none there is none.
                word = if word == 0 { return None } else { word & (word - 1) };
                Some(place as u32 * 64 + bit)
            })
        });
        list.iter().copied().chain(set)
    }

    pub(crate) fn and(&self, other: &Set) -> Set {
        match (&self.items, &other.items) {
            (Items::Bits(a), Items::Bits(b)) => self.joined(a, b, |a, b| a & b),
            (Items::List(_), _) => {
                Set::new(self.below, self.iter().filter(|&item| other.contains(item)))
            }
            (_, Items::List(_)) => other.and(self),
        }
    }

    pub(super) fn or(&self, other: &Set) -> Set {
        if let (Items::Bits(a), Items::Bits(b)) = (&self.items, &other.items) {
            return self.joined(a, b, |a, b| a | b);
        }
        let mut items: Vec<u32> = self.iter().chain(other.iter()).collect();
        items.sort_unstable();
        items.dedup();
        Set::new(self.below, items.into_iter())
    }

    pub(super) fn not(&self) -> Set {
        let mut inside = self.iter().peekable();
        let outside = (0..self.below).filter(|&item| inside.next_if_eq(&item).is_none());
        Set::new(self.below, outside)
    }

    fn joined(&self, a: &[u64], b: &[u64], join: impl Fn(u64, u64) -> u64) -> Set {
        let bits: Vec<u64> = a.iter().zip(b).map(|(&a, &b)| join(a, b)).collect();
        let set = Set { below: self.below, items: Items::Bits(bits) };
        // The rule of `new` decides how it is kept.
        if set.len() as u64 * 32 > u64::from(self.below) {
            set
        } else {
            Set::new(self.below, set.iter())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::random::Stream;

    /// Against the standard library's sets, from empty to full.
    #[test]
    fn sets_are_sets() {
        let mut stream = Stream::new(1, "sets");
        for turn in 0..400 {
            let below = 1 + stream.below(300) as u32;
            let mut draw = |share: u64| -> BTreeSet<u32> {
                (0..below).filter(|_| stream.below(100) < share).collect()
            };
            let (a, b) = (draw(turn % 101), draw(turn * 7 % 101));
            let set = |items: &BTreeSet<u32>| Set::new(below, items.iter().copied());
            let (x, y) = (set(&a), set(&b));
            assert_eq!(x.iter().collect::<BTreeSet<_>>(), a);
            assert_eq!((x.len(), x.is_empty()), (a.len(), a.is_empty()));
            assert!((0..below).all(|item| x.contains(item) == a.contains(&item)));
            assert_eq!(x.and(&y), set(&(&a & &b)));
            assert_eq!(x.or(&y), set(&(&a | &b)));
            assert_eq!(x.not(), set(&(&Set::all(below).iter().collect::<BTreeSet<u32>>() - &a)));
        }
    }
}
