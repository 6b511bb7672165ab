//! Ladders: weights that are steps, of which a row has all up to the one it has climbed to.
//!
//! A row has one code for the whole ladder, and a model adds one sum for it rather than a weight for each
//! step: the sums are made once for a block of rows. On the way back, the slope of a code is the slope of
//! every step up to it.

use std::ops::Range;

use super::Tape;

/// What each code of a ladder adds: the weights of its steps, added up.
///
/// Kept for all weights from the first ladder to the end of the last one; those between ladders stand for
/// themselves.
#[derive(Debug, Clone, Copy)]
pub(super) struct Climb<'a> {
    first: usize,
    count: usize,
    units: usize,
    sums: &'a [f32],
}

impl<'a> Climb<'a> {
    /// Adds up the rows of `matrix`, `units` wide, along each ladder.
    pub(super) fn new(
        ladders: &[Range<usize>],
        matrix: &[f32],
        units: usize,
        space: &'a mut Vec<f32>,
    ) -> Self {
        let span = span(ladders);
        let sums = Tape::fit(space, span.len() * units);
        sums.copy_from_slice(&matrix[span.start * units..span.end * units]);
        for ladder in ladders {
            for step in ladder.start + 1 - span.start..ladder.end - span.start {
                let (below, above) = sums.split_at_mut(step * units);
                add(&mut above[..units], &below[(step - 1) * units..]);
            }
        }
        Climb { first: span.start, count: span.len(), units, sums }
    }

    /// What a code adds, from its first unit on; `None` if it is outside of what is kept.
    #[inline(always)]
    pub(super) fn of(&self, code: usize) -> Option<&'a [f32]> {
        let at = code.wrapping_sub(self.first);
        (at < self.count).then(|| &self.sums[at * self.units..])
    }
}

/// Runs the way back, which adds to the row of `gradient` of each code, and spreads what is added to the
/// code of a ladder over its steps.
pub(super) fn pull_back(
    ladders: &[Range<usize>],
    gradient: &mut [f32],
    units: usize,
    space: &mut Vec<f32>,
    run: impl FnOnce(&mut [f32]),
) {
    let span = span(ladders);
    let place = span.start * units..span.end * units;
    let before = Tape::fit(space, place.len());
    before.copy_from_slice(&gradient[place.clone()]);
    gradient[place.clone()].fill(0.0);
    run(gradient);
    let slopes = &mut gradient[place];
    for ladder in ladders {
        for step in (ladder.start + 1 - span.start..ladder.end - span.start).rev() {
            let (below, above) = slopes.split_at_mut(step * units);
            add(&mut below[(step - 1) * units..], &above[..units]);
        }
    }
    add(slopes, before);
}

fn add(into: &mut [f32], what: &[f32]) {
    into.iter_mut().zip(what).for_each(|(into, what)| *into += what);
}

/// From the first ladder to the end of the last.
fn span(ladders: &[Range<usize>]) -> Range<usize> {
    let start = ladders.first().map_or(0, |ladder| ladder.start);
    start..ladders.last().map_or(0, |ladder| ladder.end)
}
