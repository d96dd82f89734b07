//! What is counted as an allocation, and whose.

use std::hint::black_box;
use std::sync::Barrier;

use hairpin_testbed::{CountingAllocator, allocations};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn every_request_for_memory_is_counted_and_no_return_of_it() {
    let counted = |work: fn()| {
        let before = allocations();
        work();
        allocations() - before
    };
    assert_eq!(counted(|| ()), 0);
    assert_eq!(counted(|| drop(black_box(Box::new([1_u8; 64])))), 1);
    assert_eq!(counted(|| drop(black_box(vec![0_u8; 64]))), 1, "zeroed");
    let grown = counted(|| {
        let mut list = Vec::<u8>::with_capacity(64);
        list.resize(4_096, 1);
        black_box(&mut list);
        list.shrink_to(128);
    });
    assert_eq!(grown, 3, "had, grown and shrunk");
}

#[test]
fn each_thread_counts_for_itself() {
    let barrier = Barrier::new(2);
    let counted = |work: &dyn Fn()| {
        let before = allocations();
        barrier.wait();
        work();
        barrier.wait();
        allocations() - before
    };
    let many = || (0..1_000).for_each(|byte| drop(black_box(Box::new(byte))));
    std::thread::scope(|scope| {
        let other = scope.spawn(|| counted(&many));
        assert_eq!(counted(&|| ()), 0);
        assert_eq!(other.join().expect("it only counts"), 1_000);
    });
}
