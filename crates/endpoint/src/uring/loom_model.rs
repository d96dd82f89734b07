//! A loom model of the completion queue: loom runs the ring's and the source's thread in every order
//! that the memory model permits, up to a number of preemptions.
//!
//! Each model includes `completion_queue.rs` once more, with loom's atomics. `exact` has the memory
//! orderings of the queue. Every other model weakens one of them to `Relaxed`, and its test passes
//! only if loom reports the resulting data race. The models run with the other tests.
//! `HAIRPIN_LOOM_PREEMPTIONS` sets the number of preemptions, for a longer run:
//!
//! ```text
//! HAIRPIN_LOOM_PREEMPTIONS=6 cargo test --release -p hairpin-endpoint --lib loom_model
//! ```

/// The preemptions of a run with the other tests, which takes about a second.
const PREEMPTIONS: usize = 3;

/// A model of the queue with these orderings.
macro_rules! model {
    ($name:ident, $publish_pushed:expr, $observe_pushed:expr, $publish_popped:expr,
     $observe_popped:expr) => {
        mod $name {
            use loom::cell::UnsafeCell;
            use loom::sync::Arc;
            use loom::thread;

            use completion_queue::{Completion, CompletionQueue};

            #[allow(dead_code, reason = "the model uses a part of the queue")]
            mod completion_queue {
                include!("completion_queue.rs");
            }

            mod memory {
                use std::sync::atomic::Ordering;

                pub(super) use loom::sync::atomic::{AtomicU32, AtomicU64};

                pub(super) const PUBLISH_PUSHED: Ordering = $publish_pushed;
                pub(super) const OBSERVE_PUSHED: Ordering = $observe_pushed;
                pub(super) const PUBLISH_POPPED: Ordering = $publish_popped;
                pub(super) const OBSERVE_POPPED: Ordering = $observe_popped;
            }

            /// The capacity of the queue: the smallest that wraps around.
            const CAPACITY: usize = 2;
            /// The completions of a run: each slot is used again.
            const COUNT: usize = 4;

            /// A buffer for each slot. The ring's thread writes it like the kernel does, before the
            /// push. The source reads it before the pop. Loom reports an access that the queue does
            /// not order.
            type Buffers = [UnsafeCell<usize>; CAPACITY];

            /// Checks that the source sees what was written before each push, and that the ring
            /// uses a slot and its buffer again only after the source's last access.
            pub(super) fn check() {
                let mut model = loom::model::Builder::new();
                let preemptions = std::env::var("HAIRPIN_LOOM_PREEMPTIONS")
                    .map_or(super::PREEMPTIONS, |text| text.parse().unwrap());
                model.preemption_bound = Some(preemptions);
                model.check(|| {
                    let queue = Arc::new(CompletionQueue::new(CAPACITY));
                    let buffers: Arc<Buffers> =
                        Arc::new(std::array::from_fn(|_| UnsafeCell::new(0)));
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
                    assert_eq!(completion.result, number as i32);
                    assert_eq!(completion.flags, number as u32);
                    // SAFETY: loom checks that no other access is concurrent.
                    let content = buffers[number % CAPACITY].with(|buffer| unsafe { *buffer });
                    assert_eq!(content, number);
                    queue.pop();
                }
            }
        }
    };
}

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::memory as queue_memory;

model!(
    exact,
    super::super::queue_memory::PUBLISH_PUSHED,
    super::super::queue_memory::OBSERVE_PUSHED,
    super::super::queue_memory::PUBLISH_POPPED,
    super::super::queue_memory::OBSERVE_POPPED
);
model!(
    relaxed_push,
    super::super::Relaxed,
    super::super::Acquire,
    super::super::Release,
    super::super::Acquire
);
model!(
    relaxed_push_count,
    super::super::Release,
    super::super::Relaxed,
    super::super::Release,
    super::super::Acquire
);
model!(
    relaxed_pop,
    super::super::Release,
    super::super::Acquire,
    super::super::Relaxed,
    super::super::Acquire
);
model!(
    relaxed_pop_count,
    super::super::Release,
    super::super::Acquire,
    super::super::Release,
    super::super::Relaxed
);

#[test]
fn push_and_pop_order_all_accesses() {
    exact::check();
}

#[test]
#[should_panic(expected = "Causality violation")]
fn relaxed_store_of_push_count_is_a_race() {
    relaxed_push::check();
}

#[test]
#[should_panic(expected = "Causality violation")]
fn relaxed_load_of_push_count_is_a_race() {
    relaxed_push_count::check();
}

#[test]
#[should_panic(expected = "Causality violation")]
fn relaxed_store_of_pop_count_is_a_race() {
    relaxed_pop::check();
}

#[test]
#[should_panic(expected = "Causality violation")]
fn relaxed_load_of_pop_count_is_a_race() {
    relaxed_pop_count::check();
}
