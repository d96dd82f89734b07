//! Runs something one instruction at a time, so that a test can look between any two of its stores:
//! what it sees then is what another thread could see, or the next process after a death.
//!
//! The processor does it: while its trap flag is set it raises SIGTRAP after each instruction.

use std::arch::asm;
use std::cell::Cell;
use std::sync::Once;

/// Who looks, as a handler of signals can know it.
type Watch = Option<(unsafe fn(*mut ()), *mut ())>;

thread_local! {
    static WATCH: Cell<Watch> = const { Cell::new(None) };
}

/// Calls `look` after each instruction of `work`, on this thread. It is called by a handler of
/// signals: it neither allocates nor panics.
pub(crate) fn each_instruction<W, R, L>(work: W, mut look: L) -> R
where
    W: FnOnce() -> R,
    L: FnMut(),
{
    static HANDLER: Once = Once::new();
    HANDLER.call_once(handle_traps);
    WATCH.set(Some((call::<L>, (&raw mut look).cast())));
    let _watched = Watched;
    // SAFETY: sets the trap flag, and what traps is handled. The rest is as the compiler expects
    // it of any assembly: flags may change, and the stack is as it was.
    unsafe { asm!("pushfq", "or qword ptr [rsp], 0x100", "popfq") };
    work()
}

/// Ends it, also where `work` panics.
struct Watched;

impl Drop for Watched {
    fn drop(&mut self) {
        // SAFETY: takes the trap flag away, as it was set.
        unsafe { asm!("pushfq", "and qword ptr [rsp], -0x101", "popfq") };
        WATCH.set(None);
    }
}

/// # Safety
/// `look` is an `L` that nobody else uses now.
unsafe fn call<L: FnMut()>(look: *mut ()) {
    // SAFETY: the caller's promise.
    unsafe { (*look.cast::<L>())() }
}

extern "C" fn on_trap(_signal: libc::c_int) {
    if let Some((call, look)) = WATCH.get() {
        // SAFETY: it lives until this thread is no longer watched, and only this handler uses it,
        // in which nothing traps.
        unsafe { call(look) }
    }
}

fn handle_traps() {
    let handler: extern "C" fn(libc::c_int) = on_trap;
    // SAFETY: all zeros is a value of this plain structure.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as libc::sighandler_t;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: a handler that outlives the process and touches its own thread's watch alone.
    let set = unsafe { libc::sigaction(libc::SIGTRAP, &raw const action, std::ptr::null_mut()) };
    assert_eq!(set, 0);
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn each_store_is_seen_by_itself() {
        let (first, second) = (AtomicU32::new(0), AtomicU32::new(0));
        let mut seen = [false; 4];
        let work = || {
            first.store(1, Ordering::Relaxed);
            second.store(1, Ordering::Release);
            7
        };
        let done = each_instruction(work, || {
            let (first, second) = (first.load(Ordering::Relaxed), second.load(Ordering::Relaxed));
            seen[(first + 2 * second) as usize] = true;
        });
        assert_eq!((done, seen), (7, [true, true, false, true]));
    }
}
