// The protocol of the lock. `fast_mutex.rs` supplies the number's type, the orders, and how to wait
// and wake; `model.rs` includes this file once more with loom's.

use super::{ATTEMPTS, AtomicU32, LOCK, Ordering, UNLOCK, pause, sleep, wake};

const FREE: u32 = 0;
const HELD: u32 = 1;

/// A lock without a value.
pub(super) struct Lock {
    state: AtomicU32,
    /// The number of threads that sleep or are about to.
    sleepers: AtomicU32,
}

impl Default for Lock {
    fn default() -> Self {
        Self { state: AtomicU32::new(FREE), sleepers: AtomicU32::new(0) }
    }
}

impl Lock {
    #[inline]
    pub(super) fn try_lock(&self) -> bool {
        self.state.compare_exchange(FREE, HELD, LOCK, Ordering::Relaxed).is_ok()
    }

    #[inline]
    pub(super) fn lock(&self) {
        if !self.try_lock() {
            self.wait();
        }
    }

    #[cold]
    fn wait(&self) {
        for _ in 0..ATTEMPTS {
            pause();
            if self.state.load(Ordering::Relaxed) == FREE && self.try_lock() {
                return;
            }
        }
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        while !self.try_lock() {
            sleep(&self.state, HELD);
        }
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
    }

    /// Unlocks. Only the thread that holds the lock may call it.
    #[inline]
    pub(super) fn unlock(&self) {
        self.state.store(FREE, UNLOCK);
        if self.sleepers.load(Ordering::Relaxed) > 0 {
            wake(&self.state);
        }
    }
}
