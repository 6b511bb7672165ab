//! A forest as plain arrays, which are checked before they are a forest again.

use serde::{Deserialize, Serialize};

use super::forest::{Forest, Fork, LEAF, NO_SET};
use crate::archive::{Arrays, Numbers};
use crate::{Error, ErrorKind, Result};

/// A forest as it is written down: one entry for each tree, split, leaf, or word of a set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Description {
    columns: usize,
    base: f32,
    /// The first split of each tree.
    roots: Vec<u32>,
    /// The column of each split.
    column: Vec<u32>,
    /// 0 for a cut with missing values right, 1 for one with missing values left, 2 for a set.
    kind: Vec<u32>,
    /// The greatest code that goes left, or which set goes left.
    cut: Vec<u32>,
    /// A split, or from 2³¹ on a leaf.
    left: Vec<u32>,
    right: Vec<u32>,
    gain: Vec<f32>,
    leaves: Vec<f32>,
    /// Four words for each set.
    sets: Vec<u64>,
}

impl From<Forest> for Description {
    fn from(forest: Forest) -> Self {
        let splits = &forest.splits;
        let each = |of: fn(&Fork) -> u32| splits.iter().map(of).collect();
        Description {
            columns: forest.columns,
            base: forest.base,
            column: each(|split| u32::from(split.column)),
            kind: each(|split| match split.set {
                NO_SET => u32::from(split.shift),
                _ => 2,
            }),
            cut: each(|split| match split.set {
                NO_SET => u32::from(split.cut - split.shift),
                set => set,
            }),
            left: each(|split| split.children[0]),
            right: each(|split| split.children[1]),
            roots: forest.roots,
            gain: forest.gains,
            leaves: forest.leaves,
            sets: forest.sets.into_flattened(),
        }
    }
}

impl TryFrom<Description> for Forest {
    type Error = Error;

    fn try_from(given: Description) -> Result<Self> {
        Forest::checked(given)
            .ok_or_else(|| Error::new(ErrorKind::Format, "the description of trees is not sound"))
    }
}

impl Forest {
    fn checked(given: Description) -> Option<Forest> {
        let (trees, count) = (given.roots.len(), given.column.len());
        let lengths = [given.kind.len(), given.cut.len(), given.left.len(), given.right.len()];
        let (sets, rest) = given.sets.as_chunks::<4>();
        let finite = |numbers: &[f32]| numbers.iter().all(|number| number.is_finite());
        let roots_sound = given.roots.first().is_none_or(|&root| root == 0)
            && given.roots.is_sorted_by(|a, b| a < b)
            && given.roots.last().map_or(count == 0, |&root| (root as usize) < count);
        let sound = lengths.iter().all(|&length| length == count)
            && given.gain.len() == count
            && given.leaves.len() == count + trees
            && given.leaves.len() < LEAF as usize
            && given.columns <= usize::from(u16::MAX)
            && rest.is_empty()
            && finite(&[given.base])
            && finite(&given.gain)
            && finite(&given.leaves)
            && roots_sound;
        if !sound {
            return None;
        }
        let mut splits = Vec::with_capacity(count);
        // Each split but the roots, and each leaf, is the child of one split: otherwise there would be walks without number.
        let mut is_child = [vec![false; count], vec![false; count + trees]];
        for tree in 0..trees {
            let start = given.roots[tree];
            let end = given.roots.get(tree + 1).map_or(count as u32, |&next| next);
            // A tree of m splits has m + 1 leaves; they lie in the order of the trees.
            let leaves = start + tree as u32..=end + tree as u32;
            for at in start..end {
                let place = at as usize;
                let children = [given.left[place], given.right[place]];
                let sound = children.iter().all(|&child| match child.checked_sub(LEAF) {
                    None => at < child && child < end,
                    Some(leaf) => leaves.contains(&leaf),
                });
                let again = |&child: &u32| {
                    let (kind, place) = match child.checked_sub(LEAF) {
                        None => (0, child),
                        Some(leaf) => (1, leaf),
                    };
                    let known = is_child[kind].get_mut(place as usize);
                    known.is_none_or(|known| std::mem::replace(known, true))
                };
                let sound = sound && !children.iter().any(again);
                if !sound || given.column[place] as usize >= given.columns {
                    return None;
                }
                let cut = given.cut[place];
                let (set, shift, cut) = match given.kind[place] {
                    kind @ (0 | 1) if cut <= 255 && cut + kind <= 255 => {
                        (NO_SET, kind as u8, (cut + kind) as u8)
                    }
                    2 if (cut as usize) < sets.len() => (cut, 0, 0),
                    _ => return None,
                };
                let column = given.column[place] as u16;
                splits.push(Fork { children, set, column, shift, cut });
            }
        }
        Some(Forest {
            columns: given.columns,
            base: given.base,
            roots: given.roots,
            splits,
            gains: given.gain,
            leaves: given.leaves,
            sets: sets.to_vec(),
        })
    }

    /// The forest as named arrays.
    pub fn to_arrays(&self) -> Arrays {
        let given = Description::from(self.clone());
        let shape = [given.columns, given.roots.len(), given.column.len(), given.sets.len()];
        let mut arrays = Arrays::default();
        arrays.put("shape", Numbers::U64(shape.map(|size| size as u64).to_vec()));
        arrays.put("base", Numbers::F32(vec![given.base]));
        arrays.put("roots", Numbers::U32(given.roots));
        arrays.put("column", Numbers::U32(given.column));
        arrays.put("kind", Numbers::U32(given.kind));
        arrays.put("cut", Numbers::U32(given.cut));
        arrays.put("left", Numbers::U32(given.left));
        arrays.put("right", Numbers::U32(given.right));
        arrays.put("gain", Numbers::F32(given.gain));
        arrays.put("leaves", Numbers::F32(given.leaves));
        arrays.put("sets", Numbers::U64(given.sets));
        arrays
    }

    /// The forest of [`Forest::to_arrays`].
    ///
    /// # Errors
    /// If an array is absent or not sound.
    pub fn from_arrays(arrays: &mut Arrays) -> Result<Forest> {
        let shape = arrays.take_u64("shape", 4)?;
        // What does not fit a size is longer than any array.
        let size = |at: usize| usize::try_from(shape[at]).unwrap_or(usize::MAX);
        let (columns, trees, splits, sets) = (size(0), size(1), size(2), size(3));
        Forest::try_from(Description {
            columns,
            base: arrays.take_f32("base", 1)?[0],
            roots: arrays.take_u32("roots", trees)?,
            column: arrays.take_u32("column", splits)?,
            kind: arrays.take_u32("kind", splits)?,
            cut: arrays.take_u32("cut", splits)?,
            left: arrays.take_u32("left", splits)?,
            right: arrays.take_u32("right", splits)?,
            gain: arrays.take_f32("gain", splits)?,
            leaves: arrays.take_f32("leaves", splits.saturating_add(trees))?,
            sets: arrays.take_u64("sets", sets)?,
        })
    }
}
