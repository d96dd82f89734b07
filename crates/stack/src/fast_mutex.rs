//! A mutex that is unlocked without an atomic read-modify-write operation.
//!
//! Such an operation is a full fence: it waits until all earlier stores, such as those to a frame
//! that another core has read, are visible to all cores. std's mutex needs one to lock and one to
//! unlock.
//!
//! | file | contents |
//! |---|---|
//! | `fast_mutex/lock.rs` | the protocol |
//! | `fast_mutex/model.rs` | its check with loom |

mod lock;
#[cfg(test)]
mod model;

use std::cell::UnsafeCell;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering};

use lock::Lock;

/// The memory orders of the protocol.
const LOCK: Ordering = Ordering::Acquire;
const UNLOCK: Ordering = Ordering::Release;
/// The attempts of a waiting thread before it sleeps.
const ATTEMPTS: u32 = 100;
/// The longest sleep: a thread that unlocks can miss one that falls asleep at the same moment.
const SLEEP_NS: libc::c_long = 50_000;

/// Like [`std::sync::Mutex`] without poisoning, for values that are locked often and briefly, and
/// seldom by two threads at once.
///
/// A thread that waits tries 100 times, then sleeps until another one unlocks, at most 50 µs at a
/// time. So a thread of a real-time class does not keep the one that holds the lock from running.
#[derive(Default)]
pub struct FastMutex<T> {
    lock: Lock,
    value: UnsafeCell<T>,
}

// SAFETY: only the thread that holds the lock has access to the value.
unsafe impl<T: Send> Sync for FastMutex<T> {}

/// The lock of a [`FastMutex`], held until this value is dropped.
#[must_use]
pub struct FastGuard<'m, T>(&'m FastMutex<T>);

// SAFETY: a shared guard gives shared access to the value.
unsafe impl<T: Sync> Sync for FastGuard<'_, T> {}

impl<T> FastMutex<T> {
    /// Creates a mutex that is not locked.
    pub fn new(value: T) -> Self {
        Self { lock: Lock::default(), value: UnsafeCell::new(value) }
    }

    /// Waits until no other thread holds the lock, and locks.
    #[inline]
    pub fn lock(&self) -> FastGuard<'_, T> {
        self.lock.lock();
        FastGuard(self)
    }

    /// Locks; `None` if the lock is held.
    #[inline]
    pub fn try_lock(&self) -> Option<FastGuard<'_, T>> {
        self.lock.try_lock().then(|| FastGuard(self))
    }
}

impl<T> Deref for FastGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the lock is held as long as this guard exists.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for FastGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and the guard is borrowed exclusively.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for FastGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.0.lock.unlock();
    }
}

impl<T> fmt::Debug for FastMutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FastMutex").finish_non_exhaustive()
    }
}

impl<T: fmt::Debug> fmt::Debug for FastGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

fn pause() {
    std::hint::spin_loop();
}

/// Sleeps while the number has this value.
fn sleep(number: &AtomicU32, value: u32) {
    let limit = libc::timespec { tv_sec: 0, tv_nsec: SLEEP_NS };
    let (operation, limit) = (libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG, &raw const limit);
    // SAFETY: number and limit outlive the call.
    unsafe { libc::syscall(libc::SYS_futex, number.as_ptr(), operation, value, limit) };
}

/// Wakes a thread that sleeps at the number.
fn wake(number: &AtomicU32) {
    let operation = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the kernel uses only the address.
    unsafe { libc::syscall(libc::SYS_futex, number.as_ptr(), operation, 1) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_threads_hold_the_lock() {
        const ROUNDS: u64 = 20_000;
        let counts = FastMutex::new([0_u64; 2]);
        let add = |number: u64| {
            for _ in 0..ROUNDS {
                let mut counts = match number % 2 {
                    0 => counts.lock(),
                    _ => std::iter::repeat_with(|| counts.try_lock()).flatten().next().unwrap(),
                };
                counts[0] += 1;
                if number == 0 {
                    // The others fall asleep.
                    std::thread::yield_now();
                }
                counts[1] += 1;
                assert_eq!(counts[0], counts[1]);
            }
        };
        std::thread::scope(|scope| {
            (0..4).for_each(|number| drop(scope.spawn(move || add(number))));
        });
        assert_eq!(*counts.lock(), [4 * ROUNDS; 2]);
    }

    #[test]
    fn held_lock_is_not_locked_again() {
        let mutex = FastMutex::new(7);
        let guard = mutex.lock();
        assert!(mutex.try_lock().is_none());
        drop(guard);
        assert_eq!(mutex.try_lock().as_deref(), Some(&7));
    }
}
