//! A count of what each thread asks of the allocator, for tests that nothing allocates.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, which counts the calls of each thread that ask for memory: a test makes
/// it its `#[global_allocator]`.
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

/// How often this thread has asked for memory, to have more included. It stays 0 where
/// [`CountingAllocator`] is not the global allocator.
#[must_use]
pub fn allocations() -> u64 {
    ALLOCATIONS.get()
}

/// How many bytes this thread has asked for, given back or not; of memory that is to grow, all that
/// it is to have. It stays 0 where [`CountingAllocator`] is not the global allocator.
#[must_use]
pub fn allocated_bytes() -> u64 {
    BYTES.get()
}

fn count(bytes: usize) {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
    BYTES.set(BYTES.get().wrapping_add(bytes as u64));
}

// SAFETY: every call is passed on unchanged to the system's allocator, whose contract holds then;
// counting touches a thread-local without a destructor, which allocates nothing and is there for as
// long as its thread. What the trait does by itself (`alloc_zeroed`) calls `alloc`.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller keeps to the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps to the contract of `dealloc`, and the pointer is the system's.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: the caller keeps to the contract of `realloc`, and the pointer is the system's.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
