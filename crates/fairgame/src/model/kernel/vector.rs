//! Eight floats at once, portable or in an AVX2 register: arithmetic, comparisons, and nothing fused.
#![allow(unsafe_code, reason = "AVX2's own functions")]

use super::LANES;

/// Eight floats.
pub(in crate::model) trait Vector: Copy {
    /// The first eight items.
    fn load(from: &[f32]) -> Self;
    fn store(self, into: &mut [f32]);
    fn splat(item: f32) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    /// 1 for each item that is at least the other's, and 0 elsewhere; what is not a number is not.
    fn at_least(self, other: Self) -> Self;
    /// Each item where `gate` is not 0 or below, and 0 elsewhere. What is not a number passes: a model
    /// that has diverged must show it.
    fn gated(self, gate: Self) -> Self;

    /// Each item, or 0 where it is below.
    #[inline(always)]
    fn relu(self) -> Self {
        self.gated(self)
    }

    /// The items added up, always in the same order.
    #[inline(always)]
    fn total(self) -> f32 {
        let mut lanes = [0.0; LANES];
        self.store(&mut lanes);
        let half: [f32; 4] = std::array::from_fn(|lane| lanes[lane] + lanes[lane + 4]);
        (half[0] + half[2]) + (half[1] + half[3])
    }
}

impl Vector for [f32; LANES] {
    #[inline(always)]
    fn load(from: &[f32]) -> Self {
        std::array::from_fn(|lane| from[..LANES][lane])
    }

    #[inline(always)]
    fn store(self, into: &mut [f32]) {
        into[..LANES].copy_from_slice(&self);
    }

    #[inline(always)]
    fn splat(item: f32) -> Self {
        [item; LANES]
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        std::array::from_fn(|lane| self[lane] + other[lane])
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        std::array::from_fn(|lane| self[lane] - other[lane])
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        std::array::from_fn(|lane| self[lane] * other[lane])
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        std::array::from_fn(|lane| self[lane] / other[lane])
    }

    #[inline(always)]
    fn at_least(self, other: Self) -> Self {
        std::array::from_fn(|lane| f32::from(u8::from(self[lane] >= other[lane])))
    }

    #[inline(always)]
    fn gated(self, gate: Self) -> Self {
        std::array::from_fn(|lane| if gate[lane] <= 0.0 { 0.0 } else { self[lane] })
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256, _CMP_GE_OQ, _CMP_NLE_UQ, _mm256_add_ps, _mm256_and_ps, _mm256_cmp_ps,
        _mm256_div_ps, _mm256_loadu_ps, _mm256_mul_ps, _mm256_set1_ps, _mm256_setzero_ps,
        _mm256_storeu_ps, _mm256_sub_ps,
    };

    use super::{LANES, Vector};

    // SAFETY, for every block below: these vectors are used only within functions that are compiled for
    // AVX2 and called where the machine has it; loads and stores are of eight floats of a slice.
    impl Vector for __m256 {
        #[inline(always)]
        fn load(from: &[f32]) -> Self {
            let from = &from[..LANES];
            // SAFETY: see above.
            unsafe { _mm256_loadu_ps(from.as_ptr()) }
        }

        #[inline(always)]
        fn store(self, into: &mut [f32]) {
            let into = &mut into[..LANES];
            // SAFETY: see above.
            unsafe { _mm256_storeu_ps(into.as_mut_ptr(), self) }
        }

        #[inline(always)]
        fn splat(item: f32) -> Self {
            // SAFETY: see above.
            unsafe { _mm256_set1_ps(item) }
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            // SAFETY: see above.
            unsafe { _mm256_add_ps(self, other) }
        }

        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            // SAFETY: see above.
            unsafe { _mm256_sub_ps(self, other) }
        }

        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            // SAFETY: see above.
            unsafe { _mm256_mul_ps(self, other) }
        }

        #[inline(always)]
        fn div(self, other: Self) -> Self {
            // SAFETY: see above.
            unsafe { _mm256_div_ps(self, other) }
        }

        #[inline(always)]
        fn at_least(self, other: Self) -> Self {
            // SAFETY: see above.
            unsafe {
                let mask = _mm256_cmp_ps::<_CMP_GE_OQ>(self, other);
                _mm256_and_ps(_mm256_set1_ps(1.0), mask)
            }
        }

        #[inline(always)]
        fn gated(self, gate: Self) -> Self {
            // SAFETY: see above.
            unsafe {
                let above = _mm256_cmp_ps::<_CMP_NLE_UQ>(gate, _mm256_setzero_ps());
                _mm256_and_ps(self, above)
            }
        }
    }
}

#[inline(always)]
pub(super) fn load<V: Vector, const K: usize>(from: &[f32]) -> [V; K] {
    let from = &from[..K * LANES];
    std::array::from_fn(|k| V::load(&from[k * LANES..]))
}

#[inline(always)]
pub(super) fn store<V: Vector, const K: usize>(vectors: &[V; K], into: &mut [f32]) {
    let into = &mut into[..K * LANES];
    for k in 0..K {
        vectors[k].store(&mut into[k * LANES..]);
    }
}

#[inline(always)]
pub(super) fn add_to<V: Vector, const K: usize>(row: &mut [f32], vectors: &[V; K]) {
    let row = &mut row[..K * LANES];
    for k in 0..K {
        V::load(&row[k * LANES..]).add(vectors[k]).store(&mut row[k * LANES..]);
    }
}
