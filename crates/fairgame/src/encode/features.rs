//! Compact features: a few codes and a few numbers a row.

use std::ops::Range;

use crate::Result;
use crate::random::mix;
use crate::slab::{Shelf, Slab, Store};

/// The features of a dataset: for each row, [`Features::slots`] codes and [`Features::numbers`]
/// numbers, both row by row.
///
/// A code is the index of a weight, below [`Features::weights`]; the code that equals it is
/// *silent* and adds nothing. A code among the steps of a ladder, one of [`Features::ladders`], stands
/// for all steps up to it. Rows are contiguous, so that a row of a minibatch is one or two cache lines.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    pub(super) rows: usize,
    pub(super) slots: usize,
    pub(super) weights: usize,
    pub(super) numbers: usize,
    pub(super) ladders: Vec<Range<usize>>,
    pub(super) codes: Codes,
    pub(super) values: Slab<f32>,
    /// A hash of each row, where these features were made of others: the hash is of those.
    pub(super) hashes: Option<Slab<u64>>,
}

/// Codes, in as few bytes as they fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Codes {
    /// At most 255 weights.
    Byte(Slab<u8>),
    /// At most 65,535 weights.
    Narrow(Slab<u16>),
    /// More.
    Wide(Slab<u32>),
}

impl Codes {
    /// The code at a place.
    #[inline(always)]
    fn at(&self, place: usize) -> usize {
        match self {
            Codes::Byte(codes) => usize::from(codes[place]),
            Codes::Narrow(codes) => usize::from(codes[place]),
            Codes::Wide(codes) => codes[place] as usize,
        }
    }

    /// Their bytes.
    pub(crate) fn shelf_mut(&mut self) -> &mut dyn Shelf {
        match self {
            Codes::Byte(codes) => codes,
            Codes::Narrow(codes) => codes,
            Codes::Wide(codes) => codes,
        }
    }

    /// So many codes of a row's weights, each 0.
    pub(crate) fn zeros(store: &Store, weights: usize, count: usize) -> Result<Self> {
        Ok(match weights {
            0..=255 => Codes::Byte(store.zeros(count)?),
            256..=65_535 => Codes::Narrow(store.zeros(count)?),
            _ => Codes::Wide(store.zeros(count)?),
        })
    }
}

impl Codes {
    /// Writes the codes of a row of features, which are as many bytes each, to the place of another.
    ///
    /// # Panics
    /// If there is no such row or place.
    #[inline]
    pub(crate) fn put_row(&mut self, place: usize, features: &Features, row: usize) {
        let slots = features.slots;
        let (to, from) = (place * slots..(place + 1) * slots, row * slots..(row + 1) * slots);
        match (self, &features.codes) {
            (Codes::Byte(to_codes), Codes::Byte(codes)) => {
                to_codes[to].copy_from_slice(&codes[from]);
            }
            (Codes::Narrow(to_codes), Codes::Narrow(codes)) => {
                to_codes[to].copy_from_slice(&codes[from]);
            }
            (Codes::Wide(to_codes), Codes::Wide(codes)) => {
                to_codes[to].copy_from_slice(&codes[from]);
            }
            _ => unreachable!("features of one encoder have codes of one width"),
        }
    }
}

impl Codes {
    /// Codes of so many weights that were packed.
    pub(crate) fn unpacked(weights: usize, bytes: &[u8]) -> Self {
        let word =
            |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
        match weights {
            0..=255 => Codes::Byte(bytes.to_vec().into()),
            256..=65_535 => {
                let codes = bytes.chunks_exact(2).map(|bytes| word(bytes) as u16);
                Codes::Narrow(codes.collect::<Vec<_>>().into())
            }
            _ => Codes::Wide(bytes.chunks_exact(4).map(word).collect::<Vec<_>>().into()),
        }
    }
}

impl Features {
    /// Adds the codes of a row to bytes, for [`Codes::unpacked`].
    pub(crate) fn pack(&self, row: usize, bytes: &mut Vec<u8>) {
        let codes = row * self.slots..(row + 1) * self.slots;
        match &self.codes {
            Codes::Byte(all) => bytes.extend_from_slice(&all[codes]),
            Codes::Narrow(all) => {
                bytes.extend(all[codes].iter().flat_map(|code| code.to_le_bytes()))
            }
            Codes::Wide(all) => bytes.extend(all[codes].iter().flat_map(|code| code.to_le_bytes())),
        }
    }

    /// Rows with these codes and numbers, of the same encoder as others.
    pub(crate) fn stored(&self, rows: usize, codes: Codes, values: Slab<f32>) -> Self {
        Features { rows, codes, values, ladders: self.ladders.clone(), hashes: None, ..*self }
    }

    /// So many rows of which nothing but a hash is known.
    pub(crate) fn of_hashes(rows: usize, hashes: Option<Slab<u64>>) -> Self {
        let (slots, weights, numbers, ladders) = (0, 0, 0, Vec::new());
        let (codes, values) = (Codes::Byte(Vec::new().into()), Vec::new().into());
        Features { rows, slots, weights, numbers, ladders, codes, values, hashes }
    }

    /// The first rows.
    #[must_use]
    pub(crate) fn first(&self, rows: usize) -> Self {
        self.take(&(0..rows.min(self.rows) as u32).collect::<Vec<_>>())
    }

    /// Rows of so many classes, one code each, and numbers.
    ///
    /// # Panics
    /// If there are not as many numbers as rows need.
    pub(crate) fn of_classes(
        classes: usize,
        of_row: &[u32],
        numbers: usize,
        values: Vec<f32>,
    ) -> Self {
        assert_eq!(values.len(), of_row.len() * numbers, "so many numbers a row");
        let codes = match classes {
            0..=255 => {
                Codes::Byte(of_row.iter().map(|&class| class as u8).collect::<Vec<_>>().into())
            }
            256..=65_535 => {
                Codes::Narrow(of_row.iter().map(|&class| class as u16).collect::<Vec<_>>().into())
            }
            _ => Codes::Wide(of_row.to_vec().into()),
        };
        let (rows, hashes, values) = (of_row.len(), None, values.into());
        let (slots, weights, ladders) = (1, classes, Vec::new());
        Features { rows, slots, weights, numbers, ladders, codes, values, hashes }
    }

    /// A hash of all that a model sees of a row, or of what these features were made of.
    pub(crate) fn hash(&self, row: usize) -> u64 {
        if let Some(hashes) = &self.hashes {
            return hashes[row];
        }
        let (slots, start) = (self.slots, row * self.slots);
        let add = |hash: u64, word: u64| mix(hash ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        let codes = (start..start + slots).fold(1, |hash, at| add(hash, self.codes.at(at) as u64));
        // 0 and −0 are the same number.
        let bits = |value: f32| u64::from((value + 0.0).to_bits());
        self.row_values(row).iter().fold(codes, |hash, &value| add(hash, bits(value)))
    }

    /// The same features, with the hashes of those that they were made of.
    #[must_use]
    pub(crate) fn made_of(mut self, others: &Features) -> Self {
        let hashes: Vec<u64> = (0..others.rows()).map(|row| others.hash(row)).collect();
        self.hashes = Some(hashes.into());
        self
    }

    /// The codes of a row as they are hashed for a model's file, in the fewest bytes of two or four.
    pub(crate) fn code_bytes(&self, row: usize, bytes: &mut Vec<u8>) {
        let codes = row * self.slots..(row + 1) * self.slots;
        match &self.codes {
            Codes::Byte(all) => {
                bytes.extend(all[codes].iter().flat_map(|&code| u16::from(code).to_le_bytes()));
            }
            Codes::Narrow(all) => bytes.extend(all[codes].iter().flat_map(|c| c.to_le_bytes())),
            Codes::Wide(all) => bytes.extend(all[codes].iter().flat_map(|c| c.to_le_bytes())),
        }
    }

    /// Whether hashes are of other features.
    pub(crate) fn is_made_of_others(&self) -> bool {
        self.hashes.is_some()
    }

    /// Drops these hashes.
    pub(crate) fn forget_hashes(&mut self) {
        self.hashes = None;
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many codes a row has.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// How many weights the codes index; also the silent code.
    pub fn weights(&self) -> usize {
        self.weights
    }

    /// How many numbers a row has.
    pub fn numbers(&self) -> usize {
        self.numbers
    }

    /// How many inputs a model has: weights that codes index, and numbers.
    ///
    /// This is the count of features as the literature counts them, one for each column of the
    /// one-hot matrix that is never built.
    pub fn width(&self) -> usize {
        self.weights + self.numbers
    }

    /// Weights that are steps, ladder by ladder: a row that has climbed to one is also on those before.
    pub fn ladders(&self) -> &[Range<usize>] {
        &self.ladders
    }

    /// All codes, row by row.
    pub fn codes(&self) -> &Codes {
        &self.codes
    }

    /// All numbers, row by row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The weights that are on in a row; silent codes are left out.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row_codes(&self, row: usize) -> impl Iterator<Item = usize> {
        let codes = (row * self.slots..(row + 1) * self.slots).map(|place| self.codes.at(place));
        codes.filter(|&code| code < self.weights).flat_map(|code| {
            let ladder = self.ladders.iter().find(|ladder| ladder.contains(&code));
            ladder.map_or(code, |ladder| ladder.start)..code + 1
        })
    }

    /// The code of a row's slot, or `None` where it is silent.
    ///
    /// # Panics
    /// If there is no such row or slot.
    pub fn code(&self, row: usize, slot: usize) -> Option<usize> {
        assert!(slot < self.slots, "a slot of the row");
        let place = row * self.slots + slot;
        let code = self.codes.at(place);
        (code < self.weights).then_some(code)
    }

    /// The numbers of a row.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row_values(&self, row: usize) -> &[f32] {
        &self.values[row * self.numbers..(row + 1) * self.numbers]
    }

    /// These rows, in this order.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn take(&self, rows: &[u32]) -> Features {
        fn gather<T: Copy>(all: &[T], width: usize, rows: &[u32]) -> Slab<T> {
            let mut taken = Vec::with_capacity(rows.len() * width);
            for &row in rows {
                taken.extend_from_slice(&all[row as usize * width..(row as usize + 1) * width]);
            }
            taken.into()
        }
        let codes = match &self.codes {
            Codes::Byte(codes) => Codes::Byte(gather(codes, self.slots, rows)),
            Codes::Narrow(codes) => Codes::Narrow(gather(codes, self.slots, rows)),
            Codes::Wide(codes) => Codes::Wide(gather(codes, self.slots, rows)),
        };
        let values = gather(&self.values, self.numbers, rows);
        let hashes = self.hashes.as_ref().map(|hashes| gather(hashes, 1, rows));
        Features { rows: rows.len(), codes, values, ladders: self.ladders.clone(), hashes, ..*self }
    }

    /// The bytes that the codes and numbers take.
    pub fn bytes(&self) -> usize {
        let codes = match &self.codes {
            Codes::Byte(codes) => size_of_val(&**codes),
            Codes::Narrow(codes) => size_of_val(&**codes),
            Codes::Wide(codes) => size_of_val(&**codes),
        };
        codes + size_of_val(&*self.values)
    }

    /// The bytes of all that is stored, hashes too.
    pub(crate) fn all_bytes(&self) -> usize {
        self.bytes() + self.hashes.as_ref().map_or(0, |hashes| size_of_val(&**hashes))
    }
}
