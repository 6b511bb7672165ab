//! Rows through calibrators and lattices, and back: eight at a time, one a lane.

use std::ops::Range;

use super::interpolate::{Fold, with_inputs};
use super::{Calibrator, Lattice, Placed};
use crate::model::kernel::{Code, Kernel, LANES, Vector, fetch_ahead};
use crate::model::{Rows, Tape};
use crate::wide::prefetch;

/// Calibrates rows and writes their scores.
pub(super) struct Forward<'a, C> {
    pub(super) model: &'a Lattice,
    pub(super) codes: &'a [C],
    pub(super) theta: &'a [f32],
    pub(super) rows: Rows<'a>,
    /// Where each row of the features lies, if it was found before.
    pub(super) placed: Option<&'a Placed>,
    /// Where each row lies on each calibrator, how far on to the next place, and what it is there: eight
    /// rows at a time, each input of the eight side by side.
    pub(super) places: &'a mut [u32],
    pub(super) shares: &'a mut [f32],
    pub(super) kept: &'a mut [f32],
    pub(super) scores: &'a mut [f32],
}

/// Finds where rows lie on the calibrators, all inputs of a row beside each other.
pub(super) struct Place<'a, C> {
    pub(super) model: &'a Lattice,
    pub(super) codes: &'a [C],
    pub(super) rows: Rows<'a>,
    pub(super) spots: &'a mut [(u32, f32)],
}

impl<C: Code> Kernel for Place<'_, C> {
    #[inline(always)]
    fn run<V: Vector>(self) {
        let inputs = self.model.description.inputs.len();
        for first in (0..self.rows.len()).step_by(LANES) {
            let eight = Eight::of(self.codes, self.rows, self.model.description.slots, first);
            for input in 0..inputs {
                let (places, shares) = self.model.place::<V, C>(input, &eight);
                for (lane, spot) in places.into_iter().zip(shares).enumerate() {
                    if first + lane < self.rows.len() {
                        self.spots[(first + lane) * inputs + input] = spot;
                    }
                }
            }
        }
    }
}

/// Codes and numbers of eight rows.
struct Eight<'a, C> {
    codes: [&'a [C]; LANES],
    values: [&'a [f32]; LANES],
}

impl<'a, C: Code> Eight<'a, C> {
    /// Eight rows from `first` on; beyond the last row, the last row again: nobody asks for it.
    #[inline(always)]
    fn of(codes: &'a [C], rows: Rows<'a>, slots: usize, first: usize) -> Self {
        let mut eight = Eight { codes: [&[]; LANES], values: [&[]; LANES] };
        for lane in 0..LANES {
            let index = (first + lane).min(rows.len() - 1);
            fetch_ahead(codes, rows, index);
            let row = rows.place(index);
            eight.codes[lane] = &codes[row * slots..(row + 1) * slots];
            eight.values[lane] = rows.values(index);
        }
        eight
    }
}

impl<C: Code> Kernel for Forward<'_, C> {
    #[inline(always)]
    fn run<V: Vector>(mut self) {
        let width = self.model.description.inputs.len() * LANES;
        for first in (0..self.rows.len()).step_by(LANES) {
            let here = first * width / LANES..(first / LANES + 1) * width;
            match self.placed {
                Some(placed) => self.calibrate_placed::<V>(placed, first, here.start),
                None => self.calibrate::<V>(first, here.start),
            }
            let end = self.rows.len().min(first + LANES);
            self.fold::<V>(here, first..end);
        }
    }
}

impl<C: Code> Forward<'_, C> {
    /// The calibrated inputs of eight rows.
    #[inline(always)]
    fn calibrate<V: Vector>(&mut self, first: usize, start: usize) {
        let eight = Eight::of(self.codes, self.rows, self.model.description.slots, first);
        for input in 0..self.model.description.inputs.len() {
            let (places, shares) = self.model.place::<V, C>(input, &eight);
            self.keep::<V>(start + input * LANES, &places, &shares);
        }
    }

    /// The same where it was found before where rows lie.
    #[inline(always)]
    fn calibrate_placed<V: Vector>(&mut self, placed: &Placed, first: usize, start: usize) {
        let (rows, inputs) = (self.rows, self.model.description.inputs.len());
        let mut eight: [&[(u32, f32)]; LANES] = [&[]; LANES];
        for (lane, spots) in eight.iter_mut().enumerate() {
            if first + lane + LANES < rows.len() {
                let soon = rows.place(first + lane + LANES) * inputs;
                placed.spots[soon..soon + inputs].iter().step_by(LANES).for_each(prefetch);
            }
            // Beyond the last row, the last row again: nobody asks for it.
            let row = rows.place((first + lane).min(rows.len() - 1));
            *spots = &placed.spots[row * inputs..(row + 1) * inputs];
        }
        for input in 0..inputs {
            let (mut places, mut shares) = ([0; LANES], [0.0; LANES]);
            for (lane, spots) in eight.iter().enumerate() {
                (places[lane], shares[lane]) = spots[input];
            }
            self.keep::<V>(start + input * LANES, &places, &shares);
        }
    }

    /// Keeps an input of eight rows, calibrated, and where it lies.
    #[inline(always)]
    fn keep<V: Vector>(&mut self, here: usize, places: &[u32; LANES], shares: &[f32; LANES]) {
        let (mut low, mut high) = ([0.0; LANES], [0.0; LANES]);
        for lane in 0..LANES {
            let at = places[lane] as usize;
            // The bias is the last parameter, so that there is always one after a calibrator's.
            (low[lane], high[lane]) = (self.theta[at], self.theta[at + 1]);
        }
        let (low, high, on) = (V::load(&low), V::load(&high), V::load(shares));
        low.add(high.sub(low).mul(on)).store(&mut self.kept[here..]);
        self.places[here..here + LANES].copy_from_slice(places);
        on.store(&mut self.shares[here..]);
    }

    /// The scores of eight rows, or of as many as there are.
    #[inline(always)]
    fn fold<V: Vector>(&mut self, here: Range<usize>, rows: Range<usize>) {
        let Forward { model, theta, .. } = *self;
        let (kept, scores) = (&self.kept[here], &mut self.scores[rows]);
        let mut sum = V::splat(0.0);
        for (lattice, &start) in model.description.lattices.iter().zip(&model.corners) {
            sum = sum.add(with_inputs!(lattice.len(), |D, N| {
                let inputs = inputs::<V, D>(lattice, kept);
                Fold::<V, D, N>::new().run(corners(theta, start), &inputs)
            }));
        }
        let (share, bias) = (1.0 / model.corners.len() as f32, theta[model.params - 1]);
        let mut lanes = [0.0; LANES];
        sum.mul(V::splat(share)).add(V::splat(bias)).store(&mut lanes);
        scores.copy_from_slice(&lanes[..scores.len()]);
    }
}

/// Adds to the gradients of corners, and writes the slopes of calibrated inputs.
pub(super) struct Backward<'a> {
    pub(super) model: &'a Lattice,
    pub(super) theta: &'a [f32],
    pub(super) kept: &'a [f32],
    pub(super) slopes: &'a [f32],
    pub(super) inner: &'a mut [f32],
    pub(super) gradient: &'a mut [f32],
}

impl Kernel for Backward<'_> {
    #[inline(always)]
    fn run<V: Vector>(mut self) {
        self.inner.fill(0.0);
        for (lattice, &start) in self.model.description.lattices.iter().zip(&self.model.corners) {
            with_inputs!(lattice.len(), |D, N| self.lattice::<V, D, N>(lattice, start));
        }
    }
}

impl Backward<'_> {
    #[inline(always)]
    fn lattice<V: Vector, const D: usize, const N: usize>(
        &mut self,
        lattice: &[usize],
        start: usize,
    ) {
        let width = self.model.description.inputs.len() * LANES;
        let share = V::splat(1.0 / self.model.corners.len() as f32);
        let (corners, mut fold) = (corners(self.theta, start), Fold::<V, D, N>::new());
        let mut sums = [V::splat(0.0); N];
        let groups = self.kept.chunks_exact(width).zip(self.inner.chunks_exact_mut(width));
        for ((kept, inner), slopes) in groups.zip(self.slopes.chunks(LANES)) {
            let mut lanes = [0.0; LANES];
            lanes[..slopes.len()].copy_from_slice(slopes);
            if lanes == [0.0; LANES] {
                continue;
            }
            let inputs = inputs::<V, D>(lattice, kept);
            fold.run(corners, &inputs);
            let along = fold.back(&inputs, V::load(&lanes).mul(share), &mut sums);
            for (&input, along) in lattice.iter().zip(along) {
                let inner = &mut inner[input * LANES..];
                V::load(inner).add(along).store(inner);
            }
        }
        let gradient = &mut self.gradient[start..start + N];
        gradient.iter_mut().zip(sums).for_each(|(slope, sum)| *slope += sum.total());
    }
}

/// A lattice's corners in θ.
#[inline(always)]
fn corners<const N: usize>(theta: &[f32], start: usize) -> &[f32; N] {
    theta[start..].first_chunk().expect("a description counts its corners")
}

/// A lattice's inputs of eight rows.
#[inline(always)]
fn inputs<V: Vector, const D: usize>(lattice: &[usize], kept: &[f32]) -> [V; D] {
    let mut inputs = [V::splat(0.0); D];
    for (input, &from) in inputs.iter_mut().zip(lattice) {
        *input = V::load(&kept[from * LANES..]);
    }
    inputs
}

impl Lattice {
    /// Where eight rows lie on an input's calibrator: places in θ, and how far each is on to the next.
    #[inline(always)]
    fn place<V: Vector, C: Code>(
        &self,
        input: usize,
        rows: &Eight<'_, C>,
    ) -> ([u32; LANES], [f32; LANES]) {
        /// Up to so many keypoints, comparing with each of them is faster than looking for the right ones.
        const FEW: usize = 32;
        let start = self.calibrators[input];
        let (mut places, mut shares) = ([0; LANES], [0.0; LANES]);
        match &self.description.inputs[input] {
            Calibrator::Number { number, keypoints, missing, .. } => {
                let mut x = [0.0; LANES];
                for (x, values) in x.iter_mut().zip(&rows.values) {
                    *x = values[*number];
                }
                // How many keypoints are not above it.
                let mut below = [0.0; LANES];
                if keypoints.len() <= FEW {
                    let (mut count, x) = (V::splat(0.0), V::load(&x));
                    for &point in keypoints {
                        count = count.add(x.at_least(V::splat(point)));
                    }
                    count.store(&mut below);
                } else {
                    below = x.map(|x| keypoints.partition_point(|point| *point <= x) as f32);
                }
                let last = keypoints.len() - 1;
                let (mut low, mut high) = ([0.0; LANES], [0.0; LANES]);
                for lane in 0..LANES {
                    let after = (below[lane] as u32 as usize).clamp(1, last);
                    (low[lane], high[lane]) = (keypoints[after - 1], keypoints[after]);
                    places[lane] = (start + after - 1) as u32;
                }
                let low = V::load(&low);
                V::load(&x).sub(low).div(V::load(&high).sub(low)).store(&mut shares);
                for share in &mut shares {
                    *share = share.clamp(0.0, 1.0);
                }
                if let Some(slot) = *missing {
                    for lane in 0..LANES {
                        if rows.codes[lane][slot].index() < self.description.weights {
                            (places[lane], shares[lane]) = ((start + keypoints.len()) as u32, 0.0);
                        }
                    }
                }
            }
            Calibrator::Code { slot, first, count } => {
                for (place, codes) in places.iter_mut().zip(&rows.codes) {
                    let code = codes[*slot].index();
                    let inside = code >= *first && code < first + count;
                    let value = if inside { code - first } else { *count };
                    *place = (start + value) as u32;
                }
            }
        }
        (places, shares)
    }

    /// Adds to the gradients of calibrators, and of the bias.
    pub(super) fn calibrate_back(&self, tape: &Tape, slopes: &[f32], gradient: &mut [f32]) {
        let width = self.description.inputs.len() * LANES;
        for (index, &slope) in slopes.iter().enumerate() {
            if slope == 0.0 {
                continue;
            }
            let first = index / LANES * width + index % LANES;
            for input in (first..first / width * width + width).step_by(LANES) {
                let (at, on) = (tape.places[input] as usize, tape.shares[input]);
                let slope = tape.slopes[input];
                gradient[at] += slope * (1.0 - on);
                if on > 0.0 {
                    gradient[at + 1] += slope * on;
                }
            }
            gradient[self.params - 1] += slope;
        }
    }
}
