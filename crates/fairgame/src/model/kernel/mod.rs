//! The inner loops, compiled twice: for any machine, and for those with AVX2.
//!
//! Both copies come from the same source, over vectors of eight lanes that only add, multiply and
//! compare. Neither fuses a multiplication with an addition, so they give the same bits, on every
//! machine; which of them runs is decided at run time. The matrix product is here too, because one that
//! is not ours allocates, and adds up in an order of its own.
//!
//! This module and [`crate::wide`] are the only ones with unsafe code: AVX2's own functions, which only a
//! token that detection makes can reach, and prefetching. The loops themselves have none.

mod network;
mod product;
mod sum;
mod vector;

use super::rows::Rows;
use crate::wide::{Avx2, prefetch};

pub(super) use network::{Backward, Forward, Layer};
pub(super) use product::{Product, ProductBack};
pub(super) use sum::{Sum, SumBack};
pub(super) use vector::Vector;

/// How many floats are worked on at once.
pub(super) const LANES: usize = 8;

/// How many rows ahead of use a row is fetched.
const AHEAD: usize = 12;

/// A code as it is stored.
pub(super) trait Code: Copy + Send + Sync {
    fn index(self) -> usize;
}

impl Code for u8 {
    #[inline(always)]
    fn index(self) -> usize {
        usize::from(self)
    }
}

impl Code for u16 {
    #[inline(always)]
    fn index(self) -> usize {
        usize::from(self)
    }
}

impl Code for u32 {
    #[inline(always)]
    fn index(self) -> usize {
        self as usize
    }
}

/// Which copy of the loops runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Path {
    Portable,
    Wide(Avx2),
}

impl Path {
    /// The fastest that this machine has.
    #[inline]
    pub(super) fn best() -> Self {
        Avx2::detect().map_or(Path::Portable, Path::Wide)
    }
}

/// A loop over rows, for any vectors.
pub(super) trait Kernel {
    fn run<V: Vector>(self);
}

/// Runs a loop on the path that is asked for.
#[allow(unsafe_code, reason = "AVX2 after detection")]
pub(super) fn run(path: Path, kernel: impl Kernel) {
    match path {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: only detection makes the token, so the machine has AVX2.
        Path::Wide(_) => unsafe { run_avx2(kernel) },
        _ => kernel.run::<[f32; LANES]>(),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn run_avx2(kernel: impl Kernel) {
    kernel.run::<std::arch::x86_64::__m256>();
}

/// Asks for the codes and numbers of a row that comes soon: rows of a minibatch lie anywhere.
#[inline(always)]
pub(super) fn fetch_ahead<C: Code>(codes: &[C], rows: Rows<'_>, index: usize) {
    let ahead = index + AHEAD;
    if ahead < rows.len() {
        let place = rows.place(ahead);
        let (slots, numbers) = (rows.features().slots(), rows.features().numbers());
        if slots > 0 {
            prefetch(&codes[place * slots]);
            prefetch(&codes[place * slots + slots - 1]);
        }
        // Of a long row, what the first lines hold; by then the machine sees what comes next.
        let values = &rows.features().values()[place * numbers..(place + 1) * numbers];
        values.iter().step_by(2 * LANES).take(4).for_each(prefetch);
    }
}

/// Calls `run` with the codes in the width they are stored in.
macro_rules! with_codes {
    ($codes:expr, $name:ident => $run:expr) => {
        match $codes {
            crate::encode::Codes::Byte($name) => $run,
            crate::encode::Codes::Narrow($name) => $run,
            crate::encode::Codes::Wide($name) => $run,
        }
    };
}
pub(super) use with_codes;
