//! Marks the calling thread as inside the library.
//!
//! While a thread is inside, the exported functions pass its calls directly to the C library, so
//! the library's own calls never reach its wrappers. A signal handler of the program does not run
//! inside: the first signal is kept, and all others stay blocked, so that the kernel queues them.
//! When the thread leaves, the handler of the kept signal runs, and then those of the others. So a
//! handler finds no lock held and may leave by longjmp(3).
//!
//! Nor is a thread canceled inside (pthread_cancel(3)). It is where it waits: there its stack is
//! unwound: the functions on it are `C-unwind`.

use std::cell::Cell;
use std::ffi::c_int;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use libc::{siginfo_t, ucontext_t};

use crate::{errno, signals};

/// The depth of a thread that never leaves.
const FOREVER: u32 = 2;
/// `PTHREAD_CANCEL_DISABLE`.
const CANCEL_DISABLE: c_int = 1;

unsafe extern "C" {
    safe fn pthread_setcancelstate(state: c_int, before: &mut c_int) -> c_int;
}

/// The state of a thread. It has no destructor, so it is usable at any time in the thread's life.
struct Thread {
    depth: Cell<u32>,
    /// The thread's cancelability before it entered: its locks must not be left locked.
    cancel_state: Cell<c_int>,
    /// The memory of the thread is lent to a child of vfork(2).
    is_lent: Cell<bool>,
    /// Other threads are to be woken when this one leaves.
    wakes: Cell<bool>,
    /// Signals handled that interrupt a wait: handlers without `SA_RESTART`, and all handlers.
    interrupts: Cell<u32>,
    handled: Cell<u32>,
    has_signal: Cell<bool>,
    signal: Cell<MaybeUninit<(siginfo_t, ucontext_t)>>,
}

thread_local! {
    static THREAD: Thread = const {
        Thread {
            depth: Cell::new(0),
            cancel_state: Cell::new(0),
            is_lent: Cell::new(false),
            wakes: Cell::new(false),
            interrupts: Cell::new(0),
            handled: Cell::new(0),
            has_signal: Cell::new(false),
            signal: Cell::new(MaybeUninit::uninit()),
        }
    };
}

/// The thread is inside until this value is dropped.
pub(crate) struct Inside {
    /// `false` if the thread's cancelability was not changed.
    restores: bool,
    not_send: PhantomData<*const ()>,
}

/// Enters the library. Returns `None` if the thread is inside already: the call is the library's
/// own.
#[inline]
pub(crate) fn enter() -> Option<Inside> {
    THREAD.with(|thread| {
        if thread.depth.get() > 0 {
            return None;
        }
        thread.depth.set(1);
        disable_cancellation();
        Some(Inside { restores: true, not_send: PhantomData })
    })
}

/// Enters the library for work without a cancellation point (pthreads(7)). Returns `None` if the
/// thread is inside already.
#[inline]
pub(crate) fn enter_briefly() -> Option<Inside> {
    THREAD.with(|thread| {
        let is_outside = thread.depth.get() == 0;
        is_outside.then(|| {
            thread.depth.set(1);
            Inside { restores: false, not_send: PhantomData }
        })
    })
}

/// Returns `true` if the calling thread is inside: the call is the library's own.
#[inline]
pub(crate) fn is_inside() -> bool {
    THREAD.with(|thread| thread.depth.get() > 0)
}

/// Marks the calling thread as inside while a child of vfork(2) uses its memory.
pub(crate) fn lend() {
    if let Some(inside) = enter() {
        std::mem::forget(inside);
        THREAD.with(|thread| thread.is_lent.set(true));
    }
}

/// Ends what [`lend`] began.
pub(crate) fn end_loan() {
    if THREAD.with(|thread| thread.is_lent.replace(false)) {
        drop(Inside { restores: true, not_send: PhantomData });
    }
}

/// Returns `true` in a child of vfork(2): the memory is the parent's.
pub(crate) fn is_lent() -> bool {
    THREAD.with(|thread| thread.is_lent.get())
}

/// Marks a thread of the library itself as inside forever.
pub(crate) fn enter_forever() {
    THREAD.with(|thread| thread.depth.set(FOREVER));
}

/// Makes the calling thread wake others when it leaves. Returns `false` if it is not inside, or
/// never leaves.
pub(crate) fn wake_later() -> bool {
    THREAD.with(|thread| {
        let is_inside = (1..FOREVER).contains(&thread.depth.get());
        thread.wakes.set(thread.wakes.get() || is_inside);
        is_inside
    })
}

impl Inside {
    /// Makes cancellation points permitted.
    pub(crate) fn widen(&mut self) {
        if !self.restores {
            disable_cancellation();
            self.restores = true;
        }
    }
}

fn disable_cancellation() {
    let mut before = 0;
    pthread_setcancelstate(CANCEL_DISABLE, &mut before);
    THREAD.with(|thread| thread.cancel_state.set(before));
}

impl Drop for Inside {
    #[inline]
    fn drop(&mut self) {
        THREAD.with(|thread| {
            thread.depth.set(0);
            if self.restores {
                pthread_setcancelstate(thread.cancel_state.get(), &mut 0);
            }
            if thread.wakes.replace(false) {
                errno::keep(crate::sleep::signal_due);
            }
            if thread.has_signal.get() {
                run_handler(thread);
            }
        });
    }
}

/// Keeps a signal if the thread is inside the library, and blocks all others until it leaves.
/// Returns `true` if so. A child of vfork(2) runs its handlers at once.
///
/// # Safety
/// The arguments are those of a handler that runs.
pub(crate) unsafe fn keep_signal(info: *const siginfo_t, context: *mut ucontext_t) -> bool {
    THREAD.with(|thread| {
        if thread.depth.get() == 0 || thread.is_lent.get() {
            return false;
        }
        // SAFETY: the caller's guarantee.
        let kept = unsafe { (info.read(), signals::interrupt(context)) };
        thread.signal.set(MaybeUninit::new(kept));
        thread.has_signal.set(true);
        true
    })
}

#[cold]
fn run_handler(thread: &Thread) {
    thread.has_signal.set(false);
    // SAFETY: `keep_signal` has written it.
    let (mut info, mut context) = unsafe { thread.signal.get().assume_init() };
    signals::run_handler(&mut info, &mut context);
}

/// Records that a handler is about to run on this thread.
pub(crate) fn count_signal(restarts: bool) {
    THREAD.with(|thread| {
        thread.handled.set(thread.handled.get().wrapping_add(1));
        if !restarts {
            thread.interrupts.set(thread.interrupts.get().wrapping_add(1));
        }
    });
    // The thread may be about to sleep, after its last check of these counts.
    errno::keep(crate::sleep::wake_all);
}

/// The signals that a thread has handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Signals {
    /// All handlers.
    pub(crate) handled: u32,
    /// Handlers without `SA_RESTART`.
    pub(crate) interrupts: u32,
}

/// Returns the signals that the calling thread has handled so far.
#[inline]
pub(crate) fn signals() -> Signals {
    THREAD.with(|thread| Signals {
        handled: thread.handled.get(),
        interrupts: thread.interrupts.get(),
    })
}
