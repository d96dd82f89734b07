//! Loom models of the lock: every interleaving of two threads, and every value that a weakly
//! ordered machine may read.
//!
//! `exact` has the memory orders of `fast_mutex.rs`. Both other models weaken one to `Relaxed`, and
//! loom must report the data race.

/// A model with these orders.
macro_rules! model {
    ($name:ident, $lock:expr, $unlock:expr) => {
        mod $name {
            use std::sync::Arc;
            use std::sync::atomic::Ordering;

            use loom::cell::UnsafeCell;
            use loom::sync::atomic::AtomicU32;

            const LOCK: Ordering = $lock;
            const UNLOCK: Ordering = $unlock;
            const ATTEMPTS: u32 = 1;

            mod lock {
                include!("lock.rs");
            }

            fn pause() {
                loom::thread::yield_now();
            }

            /// Ends at once: the protocol permits any sleep to end early.
            fn sleep(_: &AtomicU32, _: u32) {
                loom::thread::yield_now();
            }

            fn wake(_: &AtomicU32) {}

            /// Two threads that each add 1 to a number twice.
            pub(super) fn count() {
                let mut model = loom::model::Builder::new();
                model.preemption_bound = Some(3);
                model.check(|| {
                    let shared = Arc::new((lock::Lock::default(), UnsafeCell::new(0)));
                    let add = |shared: &(lock::Lock, UnsafeCell<u32>)| {
                        for _ in 0..2 {
                            shared.0.lock();
                            // SAFETY: loom checks that no other thread has access.
                            shared.1.with_mut(|number| unsafe { *number += 1 });
                            shared.0.unlock();
                        }
                    };
                    let other = Arc::clone(&shared);
                    let thread = loom::thread::spawn(move || add(&other));
                    add(&shared);
                    thread.join().unwrap();
                    shared.0.lock();
                    // SAFETY: as above.
                    shared.1.with(|number| assert_eq!(unsafe { *number }, 4));
                });
            }
        }
    };
}

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

model!(exact, super::super::LOCK, super::super::UNLOCK);
model!(relaxed_lock, super::Relaxed, super::Release);
model!(relaxed_unlock, super::Acquire, super::Relaxed);

#[test]
fn value_is_used_by_one_thread_at_a_time() {
    exact::count();
}

#[test]
#[should_panic(expected = "Causality violation")]
fn relaxed_lock_is_a_race() {
    relaxed_lock::count();
}

#[test]
#[should_panic(expected = "Causality violation")]
fn relaxed_unlock_is_a_race() {
    relaxed_unlock::count();
}
