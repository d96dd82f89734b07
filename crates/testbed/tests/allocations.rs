//! The counts of the counting allocator. A program of its own, because it sets the global
//! allocator.

use std::hint::black_box;
use std::sync::Barrier;

use hairpin_testbed::{CountingAllocator, allocations};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn allocations_and_reallocations_are_counted() {
    let count = |work: fn()| {
        let before = allocations();
        work();
        allocations() - before
    };
    assert_eq!(count(|| ()), 0);
    assert_eq!(count(|| drop(black_box(Box::new([1_u8; 64])))), 1);
    assert_eq!(count(|| drop(black_box(vec![0_u8; 64]))), 1, "zeroed");
    let grown = count(|| {
        let mut list = Vec::<u8>::with_capacity(64);
        list.resize(4_096, 1);
        black_box(&mut list);
        list.shrink_to(128);
    });
    assert_eq!(grown, 3, "allocated, grown and shrunk");
}

#[test]
fn threads_have_separate_counts() {
    let barrier = Barrier::new(2);
    let count = |work: &dyn Fn()| {
        let before = allocations();
        barrier.wait();
        work();
        barrier.wait();
        allocations() - before
    };
    let many = || (0..1_000).for_each(|byte| drop(black_box(Box::new(byte))));
    std::thread::scope(|scope| {
        let other = scope.spawn(|| count(&many));
        assert_eq!(count(&|| ()), 0);
        assert_eq!(other.join().expect("no panic"), 1_000);
    });
}
