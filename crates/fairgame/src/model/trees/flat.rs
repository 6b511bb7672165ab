//! Trees laid out to score many rows at once.
//!
//! A row's walk down a tree waits for memory and guesses branches. Here every split is a set of codes that go left, and a
//! leaf leads to itself, so that all rows take the same number of steps without a branch. The walks of rows beside each
//! other then overlap.

use super::forest::{Forest, LEAF, NO_SET};
use super::split::Set;

/// A split or a leaf.
#[derive(Clone, Copy)]
struct Node {
    /// The codes that go left.
    left: Set,
    /// Where codes go: left, right.
    children: [u32; 2],
    column: u32,
}

/// A tree, laid out.
pub(super) struct FlatTree {
    nodes: Vec<Node>,
    /// Values of the leaves, by node; of splits 0.
    values: Vec<f32>,
    /// How many splits the longest walk has.
    depth: usize,
}

/// Deeper trees are walked row by row: most rows would wait for the longest walk.
const DEEPEST: usize = 48;

impl FlatTree {
    /// Lays out one tree of a forest, unless it is too deep.
    pub(super) fn new(forest: &Forest, tree: usize) -> Option<Self> {
        let mut flat = FlatTree { nodes: Vec::new(), values: Vec::new(), depth: 0 };
        // Where in the forest, which child of which node it is, and how deep.
        let mut open = vec![(forest.roots[tree], None::<(usize, usize)>, 0)];
        while let Some((at, parent, depth)) = open.pop() {
            if depth > DEEPEST {
                return None;
            }
            let place = flat.nodes.len();
            flat.depth = flat.depth.max(depth);
            if let Some((node, side)) = parent {
                flat.nodes[node].children[side] = place as u32;
            }
            if at >= LEAF {
                let children = [place as u32; 2];
                flat.nodes.push(Node { left: Set::default(), children, column: 0 });
                flat.values.push(forest.leaves[(at - LEAF) as usize]);
                continue;
            }
            let split = &forest.splits[at as usize];
            let mut left = Set::default();
            match split.set {
                NO_SET => {
                    let goes = |code: &u8| code.wrapping_add(split.shift) <= split.cut;
                    (0..=255_u8).filter(goes).for_each(|code| {
                        left[usize::from(code / 64)] |= 1 << (code % 64);
                    });
                }
                set => left = forest.sets[set as usize],
            }
            flat.nodes.push(Node { left, children: [0; 2], column: u32::from(split.column) });
            flat.values.push(0.0);
            let below = split.children.into_iter().enumerate();
            open.extend(below.map(|(side, child)| (child, Some((place, side)), depth + 1)));
        }
        Some(flat)
    }

    /// Adds the values of the leaves that rows fall into to their scores; `width` codes are a row.
    pub(super) fn add_to(&self, codes: &[u8], width: usize, scores: &mut [f32]) {
        const LANES: usize = 16;
        let rows = codes.chunks(LANES * width).zip(scores.chunks_mut(LANES));
        for (codes, scores) in rows {
            let mut at = [0_u32; LANES];
            let at = &mut at[..scores.len()];
            for _ in 0..self.depth {
                for (at, codes) in at.iter_mut().zip(codes.chunks_exact(width)) {
                    let node = &self.nodes[*at as usize];
                    let code = codes[node.column as usize];
                    let left = node.left[usize::from(code / 64)] >> (code % 64) & 1;
                    *at = node.children[1 - left as usize];
                }
            }
            for (score, at) in scores.iter_mut().zip(at) {
                *score += self.values[*at as usize];
            }
        }
    }
}
