//! Keeps forks out while a descriptor or a mapping is half made.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// The thread inside; nought if none is.
static HOLDER: AtomicU64 = AtomicU64::new(0);
/// Whether the thread inside has forked itself, in a handler of a signal. Written by it alone.
static FORKED_INSIDE: AtomicBool = AtomicBool::new(false);

/// How often to look before sleeping. Whoever is inside is so for a few system calls.
const LOOKS: u32 = 100;
const PAUSE: Duration = Duration::from_micros(50);

/// This thread, of this process: both numbers are the kernel's, which a forked child has anew.
///
/// ```text
/// 63        32 31        0
/// |  process  |  thread  |
/// ```
fn this_thread() -> u64 {
    // SAFETY: asks for numbers.
    let [process, thread] = unsafe { [libc::getpid(), libc::gettid()] };
    u64::from(process.cast_unsigned()) << 32 | u64::from(thread.cast_unsigned())
}

/// Whether both are of one process. A thread of another is not there: it was inside when this
/// process was forked off by somebody who did not wait for it (`_Fork`; a fork(3) before we were
/// told of forks).
fn are_of_one_process(one: u64, other: u64) -> bool {
    one >> 32 == other >> 32
}

/// Lets go when it is dropped, unless its thread was inside before.
struct Inside {
    is_outermost: bool,
}

impl Drop for Inside {
    fn drop(&mut self) {
        if self.is_outermost {
            HOLDER.store(0, Ordering::Release);
        }
    }
}

/// Runs `body` while no other thread forks, nor runs another such.
pub(crate) fn without_forks<R>(body: impl FnOnce() -> R) -> R {
    let _inside = enter();
    body()
}

fn enter() -> Inside {
    let this = this_thread();
    let mut looks = 0;
    loop {
        let holder = HOLDER.load(Ordering::Relaxed);
        if holder == this {
            return Inside { is_outermost: false };
        }
        let is_free = holder == 0 || !are_of_one_process(holder, this);
        if is_free
            && HOLDER.compare_exchange(holder, this, Ordering::Acquire, Ordering::Relaxed).is_ok()
        {
            return Inside { is_outermost: true };
        }
        looks += 1;
        if looks < LOOKS { std::thread::yield_now() } else { std::thread::sleep(PAUSE) }
    }
}

/// Before a fork: nobody is inside until [`reopen`], but perhaps the thread that forks.
pub(super) fn shut() {
    let inside = enter();
    FORKED_INSIDE.store(!inside.is_outermost, Ordering::Relaxed);
    std::mem::forget(inside);
}

/// After the fork, in both processes. In the child the thread has another name.
pub(super) fn reopen() {
    let is_inside = FORKED_INSIDE.swap(false, Ordering::Relaxed);
    HOLDER.store(if is_inside { this_thread() } else { 0 }, Ordering::Release);
}
