//! Locks out forks while a descriptor or a mapping is being created or destroyed.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// The thread that holds the lock; 0 if it is free.
static HOLDER: AtomicU64 = AtomicU64::new(0);
/// `true` if the holder itself has forked, for example in a signal handler. Written only by the
/// holder.
static HOLDER_FORKED: AtomicBool = AtomicBool::new(false);

/// Yields before sleeping. The lock is held for a few system calls only.
const YIELDS: u32 = 100;
const PAUSE: Duration = Duration::from_micros(50);

/// Returns the identity of this thread in this process. Both numbers come from the kernel, so a
/// forked child has new ones.
///
/// ```text
/// 63        32 31        0
/// |  process  |  thread  |
/// ```
fn this_thread() -> u64 {
    // SAFETY: the calls only return numbers.
    let [process, thread] = unsafe { [libc::getpid(), libc::gettid()] };
    u64::from(process.cast_unsigned()) << 32 | u64::from(thread.cast_unsigned())
}

/// Returns `true` if both threads belong to one process.
///
/// A holder of another process does not exist here: it held the lock when this process was copied
/// without waiting (`_Fork`, or a fork(3) before the fork handlers were registered).
fn are_same_process(one: u64, other: u64) -> bool {
    one >> 32 == other >> 32
}

/// Releases the lock on drop, unless the thread already held it before.
struct Guard {
    outermost: bool,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.outermost {
            HOLDER.store(0, Ordering::Release);
        }
    }
}

/// Runs `body` while no other thread forks or runs such a body.
pub(crate) fn without_forks<R>(body: impl FnOnce() -> R) -> R {
    let _inside = enter();
    body()
}

fn enter() -> Guard {
    let this = this_thread();
    let mut yields = 0;
    loop {
        let holder = HOLDER.load(Ordering::Relaxed);
        if holder == this {
            return Guard { outermost: false };
        }
        let is_free = holder == 0 || !are_same_process(holder, this);
        if is_free
            && HOLDER.compare_exchange(holder, this, Ordering::Acquire, Ordering::Relaxed).is_ok()
        {
            return Guard { outermost: true };
        }
        yields += 1;
        if yields < YIELDS { std::thread::yield_now() } else { std::thread::sleep(PAUSE) }
    }
}

/// Takes the lock before a fork, until [`unlock_after_fork`]. The forking thread may already hold
/// it.
pub(super) fn lock_for_fork() {
    let holder = enter();
    HOLDER_FORKED.store(!holder.outermost, Ordering::Relaxed);
    std::mem::forget(holder);
}

/// Releases the lock after a fork, in both processes. In the child the thread has another identity.
pub(super) fn unlock_after_fork() {
    let is_inside = HOLDER_FORKED.swap(false, Ordering::Relaxed);
    HOLDER.store(if is_inside { this_thread() } else { 0 }, Ordering::Release);
}
