//! Keeps forks out while a descriptor or a mapping is half made.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// The thread inside, as pthread_self(3) names it also in a forked child; nought if none is.
static HOLDER: AtomicUsize = AtomicUsize::new(0);
/// Whether the thread inside has forked itself, in a handler of a signal. Written by it alone.
static FORKED_INSIDE: AtomicBool = AtomicBool::new(false);

/// How often to look before sleeping. Whoever is inside is so for a few system calls.
const LOOKS: u32 = 100;
const PAUSE: Duration = Duration::from_micros(50);

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
    // SAFETY: asks for a number.
    let this = unsafe { libc::pthread_self() } as usize;
    if HOLDER.load(Ordering::Relaxed) == this {
        return Inside { is_outermost: false };
    }
    let mut looks = 0;
    while HOLDER.compare_exchange_weak(0, this, Ordering::Acquire, Ordering::Relaxed).is_err() {
        looks += 1;
        if looks < LOOKS { std::thread::yield_now() } else { std::thread::sleep(PAUSE) }
    }
    Inside { is_outermost: true }
}

/// Before a fork: nobody is inside until [`reopen`], but perhaps the thread that forks.
pub(super) fn shut() {
    let inside = enter();
    FORKED_INSIDE.store(!inside.is_outermost, Ordering::Relaxed);
    std::mem::forget(inside);
}

/// After the fork, in both processes.
pub(super) fn reopen() {
    let is_outermost = !FORKED_INSIDE.swap(false, Ordering::Relaxed);
    drop(Inside { is_outermost });
}
