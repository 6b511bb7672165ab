//! The system's allocator with its calls, the bytes in use and their peak counted, for the whole process.
#![allow(dead_code, reason = "each test crate uses its part")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

struct Counting;

static CALLS: AtomicUsize = AtomicUsize::new(0);
static USED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Relaxed);
        PEAK.fetch_max(USED.fetch_add(layout.size(), Relaxed) + layout.size(), Relaxed);
        // SAFETY: the caller's layout.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the block came from the same allocator with the same layout.
        unsafe { System.dealloc(block, layout) }
    }

    // `realloc` is the default one: allocate, copy, free. Its peak, with the old and the new block
    // both in use, is the worst that any system can show.
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How many times memory was asked for so far.
pub(crate) fn calls() -> usize {
    CALLS.load(Relaxed)
}

/// The most bytes in use while `work` runs, beyond those before it.
pub(crate) fn peak<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = USED.load(Relaxed);
    PEAK.store(before, Relaxed);
    let result = work();
    (PEAK.load(Relaxed) - before, result)
}
