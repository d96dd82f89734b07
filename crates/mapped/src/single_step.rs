//! Runs code one instruction at a time, so that a test can check the memory between any two stores.
//! The test then sees what another thread could see, or the next process after a crash.
//!
//! While the processor's trap flag is set, it raises SIGTRAP after each instruction.

use std::arch::asm;
use std::cell::Cell;
use std::sync::Once;

/// The callback, in a form that a signal handler can use.
type Callback = Option<(unsafe fn(*mut ()), *mut ())>;

thread_local! {
    static CALLBACK: Cell<Callback> = const { Cell::new(None) };
}

/// Calls `inspect` after each instruction of `work`, on this thread. `inspect` runs in a signal
/// handler, so it must not allocate or panic.
pub(crate) fn each_instruction<W, R, L>(work: W, mut inspect: L) -> R
where
    W: FnOnce() -> R,
    L: FnMut(),
{
    static HANDLER: Once = Once::new();
    HANDLER.call_once(handle_traps);
    CALLBACK.set(Some((call::<L>, (&raw mut inspect).cast())));
    let _guard = StepGuard;
    // SAFETY: this sets the trap flag, and the trap is handled. Otherwise the compiler's
    // assumptions about assembly hold: flags may change, and the stack is unchanged.
    unsafe { asm!("pushfq", "or qword ptr [rsp], 0x100", "popfq") };
    work()
}

/// A guard that clears the trap flag, also if `work` panics.
struct StepGuard;

impl Drop for StepGuard {
    fn drop(&mut self) {
        // SAFETY: clears the trap flag in the same way as it was set.
        unsafe { asm!("pushfq", "and qword ptr [rsp], -0x101", "popfq") };
        CALLBACK.set(None);
    }
}

/// # Safety
/// `inspect` points to an `L` that no other code uses now.
unsafe fn call<L: FnMut()>(inspect: *mut ()) {
    // SAFETY: guaranteed by the caller.
    unsafe { (*inspect.cast::<L>())() }
}

extern "C" fn on_trap(_signal: libc::c_int) {
    if let Some((call, inspect)) = CALLBACK.get() {
        // SAFETY: the callback lives until this thread is no longer stepped, and only this handler
        // uses it, in which no trap occurs.
        unsafe { call(inspect) }
    }
}

fn handle_traps() {
    let handler: extern "C" fn(libc::c_int) = on_trap;
    // SAFETY: all zeros is a valid value of this plain structure.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as libc::sighandler_t;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: the handler is a static function and accesses only its own thread's callback.
    let set = unsafe { libc::sigaction(libc::SIGTRAP, &raw const action, std::ptr::null_mut()) };
    assert_eq!(set, 0);
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn sees_each_store_separately() {
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
