//! A count of each thread's allocations, for tests that code does not allocate.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, with a count of each thread's allocations. A test program declares it as
/// its `#[global_allocator]`.
///
/// ```
/// use hairpin_testbed::{CountingAllocator, allocated_bytes, allocations};
///
/// #[global_allocator]
/// static ALLOCATOR: CountingAllocator = CountingAllocator;
///
/// let before = (allocations(), allocated_bytes());
/// drop(Box::new([0_u8; 64]));
/// assert_eq!((allocations() - before.0, allocated_bytes() - before.1), (1, 64));
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct CountingAllocator;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<u64> = const { Cell::new(0) };
}

/// Returns the number of allocations and reallocations of this thread. Always 0 unless
/// [`CountingAllocator`] is the global allocator.
#[must_use]
pub fn allocations() -> u64 {
    ALLOCATIONS.get()
}

/// Returns the number of bytes that this thread has allocated, freed or not. A reallocation counts
/// with its whole new size. Always 0 unless [`CountingAllocator`] is the global allocator.
#[must_use]
pub fn allocated_bytes() -> u64 {
    BYTES.get()
}

fn count(bytes: usize) {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
    BYTES.set(BYTES.get().wrapping_add(bytes as u64));
}

// SAFETY: every call is passed unchanged to the system's allocator, so its contract holds. Counting
// uses a thread-local without a destructor, which allocates nothing and lives as long as its
// thread. The trait's own `alloc_zeroed` calls `alloc`.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller fulfills the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller fulfills the contract of `dealloc`; the system allocated the pointer.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: the caller fulfills the contract of `realloc`; the system allocated the pointer.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
