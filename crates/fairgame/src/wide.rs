//! What a machine can do that the language does not say: wide registers, and fetching ahead.
//!
//! A loop that works on each item alone, without fusing or reordering, gives the same bits however many
//! items are worked on at once; so it may be compiled twice.

/// A machine that has AVX2: [`Avx2::detect`] is the only way to make one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// Whether this machine has AVX2.
    #[inline]
    pub(crate) fn detect() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            return Some(Avx2(()));
        }
        None
    }
}

/// Runs a loop as compiled for AVX2 on a machine that has it, and as it is elsewhere.
///
/// What is run must be inlined to gain from it.
#[inline]
#[allow(unsafe_code, reason = "AVX2 after detection")]
pub(crate) fn wide<R>(run: impl FnOnce() -> R) -> R {
    match Avx2::detect() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: only detection makes the token, so the machine has AVX2.
        Some(Avx2(())) => unsafe { avx2(run) },
        _ => run(),
    }
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
