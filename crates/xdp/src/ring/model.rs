//! Loom models of the index protocol: every interleaving and every value that a weakly ordered
//! machine may read, for a few entries.
//!
//! Each model includes `queue.rs` itself, with loom's types in place of the real ones. `exact`
//! has the memory orderings of `ring.rs`. Every other model weakens one of them to `Relaxed`, and
//! its test passes only if loom reports the resulting data race. The tests take less than a second:
//!
//! ```text
//! cargo test -p hairpin-xdp --lib ring::model
//! ```

/// A model of the ring with these orderings: `transfer` and `transfer_batch` run it.
macro_rules! model {
    ($name:ident, $publish_producer:expr, $observe_producer:expr, $publish_consumer:expr,
     $observe_consumer:expr) => {
        mod $name {
            use std::sync::Arc;
            use std::sync::atomic::Ordering;

            use loom::sync::atomic::AtomicU32;

            type EntryCell<T> = loom::cell::UnsafeCell<T>;

            const PUBLISH_PRODUCER: Ordering = $publish_producer;
            const OBSERVE_PRODUCER: Ordering = $observe_producer;
            const PUBLISH_CONSUMER: Ordering = $publish_consumer;
            const OBSERVE_CONSUMER: Ordering = $observe_consumer;

            #[allow(dead_code, reason = "a model drives only a part of the protocol")]
            mod queue {
                include!("queue.rs");
            }

            use queue::{Consumer, Memory, Producer};

            /// The memory of a ring in place of a mapping.
            #[derive(Debug)]
            struct Mapping {
                producer: AtomicU32,
                consumer: AtomicU32,
                flags: AtomicU32,
                entries: Box<[EntryCell<u64>]>,
            }

            /// Returns both sides of an empty ring whose indices wrap at the second entry.
            fn ring(size: u32) -> (Producer<u64>, Consumer<u64>) {
                let index = || AtomicU32::new(u32::MAX);
                let mapping = Arc::new(Mapping {
                    producer: index(),
                    consumer: index(),
                    flags: AtomicU32::new(0),
                    entries: (0..size).map(|_| EntryCell::new(u64::MAX)).collect(),
                });
                let memory = || Memory {
                    producer: &raw const mapping.producer,
                    consumer: &raw const mapping.consumer,
                    flags: &raw const mapping.flags,
                    entries: mapping.entries.as_ptr(),
                    mask: size - 1,
                    mapping: Arc::clone(&mapping),
                };
                (Producer::from_memory(memory()), Consumer::from_memory(memory()))
            }

            /// Explores a producer that writes up to `attempts` batches and a consumer that polls
            /// as often: each entry arrives once, in order, and no access races with another.
            pub(super) fn transfer(size: u32, attempts: u32) {
                let mut model = loom::model::Builder::new();
                model.preemption_bound = Some(3);
                model.check(move || {
                    let (mut producer, mut consumer) = ring(size);
                    let reader = loom::thread::spawn(move || {
                        let mut read = Vec::new();
                        for _ in 0..attempts {
                            while let Some(entry) = consumer.next() {
                                read.push(entry);
                            }
                            loom::thread::yield_now();
                        }
                        (consumer, read)
                    });
                    let mut written = 0;
                    for _ in 0..attempts {
                        while let Some(place) = producer.reserve() {
                            place.write(written);
                            written += 1;
                            if written % u64::from(size) == 0 {
                                break;
                            }
                        }
                        producer.submit();
                        loom::thread::yield_now();
                    }
                    let (mut consumer, mut read) = reader.join().unwrap();
                    while let Some(entry) = consumer.next() {
                        read.push(entry);
                    }
                    assert_eq!(read, (0..written).collect::<Vec<_>>());
                });
            }
        }
    };
}

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

model!(
    exact,
    super::super::PUBLISH_PRODUCER,
    super::super::OBSERVE_PRODUCER,
    super::super::PUBLISH_CONSUMER,
    super::super::OBSERVE_CONSUMER
);
model!(relaxed_publish_producer, super::Relaxed, super::Acquire, super::Release, super::Acquire);
model!(relaxed_observe_producer, super::Release, super::Relaxed, super::Release, super::Acquire);
model!(relaxed_publish_consumer, super::Release, super::Acquire, super::Relaxed, super::Acquire);
model!(relaxed_observe_consumer, super::Release, super::Acquire, super::Release, super::Relaxed);

#[test]
fn entries_arrive_once_and_in_order_without_a_race() {
    exact::transfer(1, 3);
    exact::transfer(2, 2);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn relaxed_store_of_the_producer_index_is_a_race() {
    relaxed_publish_producer::transfer(1, 3);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn relaxed_load_of_the_producer_index_is_a_race() {
    relaxed_observe_producer::transfer(1, 3);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn relaxed_store_of_the_consumer_index_is_a_race() {
    relaxed_publish_consumer::transfer(1, 3);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn relaxed_load_of_the_consumer_index_is_a_race() {
    relaxed_observe_consumer::transfer(1, 3);
}
