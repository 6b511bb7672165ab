//! What a machine can do that the language does not say: wide registers, and fetching ahead.
//!
//! A loop that works on each item alone, without fusing or reordering, gives the same bits however many
//! items are worked on at once; so it may be compiled twice.

/// Runs a loop as compiled for AVX2 on a machine that has it, and as it is elsewhere.
///
/// What is run must be inlined to gain from it.
#[inline]
#[allow(unsafe_code, reason = "AVX2 after asking for it")]
pub(crate) fn wide<R>(run: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has AVX2.
        return unsafe { avx2(run) };
    }
    run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<R>(run: impl FnOnce() -> R) -> R {
    run()
}

/// Asks for an item that is needed soon.
#[inline(always)]
#[allow(unsafe_code, reason = "a prefetch reads nothing")]
pub(crate) fn prefetch<T>(item: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing, and the address is that of a reference.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = item;
}
