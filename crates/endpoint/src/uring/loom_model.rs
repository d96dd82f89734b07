//! A loom model of the completion queue: loom runs its two threads in every order that the memory
//! model permits, up to a number of preemptions.
//!
//! The model compiles `completion_queue.rs` a second time, with loom's atomics. It runs with the
//! other tests. `HAIRPIN_LOOM_PREEMPTIONS` sets the number of preemptions, for a longer run:
//!
//! ```text
//! HAIRPIN_LOOM_PREEMPTIONS=5 cargo test --release -p hairpin-endpoint --lib loom_model
//! ```

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use completion_queue::{Completion, CompletionQueue};

#[path = "completion_queue.rs"]
#[allow(dead_code, reason = "the model uses a part of the queue")]
mod completion_queue;

mod atomic {
    pub(super) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};
}

/// The preemptions of a run with the other tests, which takes about a second.
const PREEMPTIONS: usize = 3;
/// The capacity of the queue: the smallest that wraps around.
const CAPACITY: usize = 2;
/// The completions of a run: each slot is used again.
const COUNT: usize = 4;

/// A buffer for each slot. The ring's thread writes it like the kernel does, before the push. The
/// source reads it before the pop. Loom reports an access that the queue does not order.
type Buffers = [UnsafeCell<usize>; CAPACITY];

/// Checks each ordering of the queue: the source sees what was written before a push, and the ring
/// uses a slot and its buffer again only after the source's last access.
#[test]
fn push_and_pop_order_all_accesses() {
    let mut model = loom::model::Builder::new();
    let preemptions = std::env::var("HAIRPIN_LOOM_PREEMPTIONS");
    let preemptions = preemptions.map_or(PREEMPTIONS, |text| text.parse().unwrap());
    model.preemption_bound = Some(preemptions);
    model.check(|| {
        let queue = Arc::new(CompletionQueue::new(CAPACITY));
        let buffers: Arc<Buffers> = Arc::new(std::array::from_fn(|_| UnsafeCell::new(0)));
        let (ring_queue, ring_buffers) = (Arc::clone(&queue), Arc::clone(&buffers));
        let ring = thread::spawn(move || run_ring(&ring_queue, &ring_buffers));
        run_source(&queue, &buffers);
        ring.join().unwrap();
    });
}

fn run_ring(queue: &CompletionQueue, buffers: &Buffers) {
    for number in 0..COUNT {
        while queue.count() == CAPACITY {
            thread::yield_now();
        }
        // SAFETY: loom checks that no other access is concurrent.
        buffers[number % CAPACITY].with_mut(|buffer| unsafe { *buffer = number });
        queue.push(Completion { result: number as i32, flags: number as u32 });
    }
}

fn run_source(queue: &CompletionQueue, buffers: &Buffers) {
    for number in 0..COUNT {
        let completion = loop {
            if let Some(completion) = queue.first() {
                break completion;
            }
            thread::yield_now();
        };
        assert_eq!((completion.result, completion.flags), (number as i32, number as u32));
        // SAFETY: as above.
        let content = buffers[number % CAPACITY].with(|buffer| unsafe { *buffer });
        assert_eq!(content, number);
        queue.pop();
    }
}
