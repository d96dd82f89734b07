//! Signal handlers of the program, run through this library's handler.
//!
//! It keeps signals while the thread is inside the library, and counts handlers, so that a thread
//! that busy-polls notices the interruption.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use libc::{sigaction, sighandler_t, siginfo_t, sigset_t, ucontext_t};

use crate::errno::set_errno;
use crate::{guard, real};

/// The signal numbers of Linux.
const SIGNALS: usize = 65;

/// The program's handler and flags of each signal.
struct Handler {
    function: AtomicUsize,
    /// The signals that are blocked while it runs.
    mask: AtomicU64,
    /// The set that the program has named: without the signal itself.
    named: AtomicU64,
    has_info: AtomicBool,
    restarts: AtomicBool,
    /// `true` if the handler runs once (`SA_RESETHAND`).
    runs_once: AtomicBool,
}

static HANDLERS: [Handler; SIGNALS] = [const {
    Handler {
        function: AtomicUsize::new(libc::SIG_DFL),
        mask: AtomicU64::new(0),
        named: AtomicU64::new(0),
        has_info: AtomicBool::new(false),
        restarts: AtomicBool::new(false),
        runs_once: AtomicBool::new(false),
    }
}; SIGNALS];

const SYNCHRONOUS: [c_int; 7] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGSYS,
    libc::SIGABRT,
];

/// Returns `true` for signals that an instruction causes: their handlers must run at once.
fn is_synchronous(signal: c_int) -> bool {
    SYNCHRONOUS.contains(&signal)
}

fn trampoline() -> sighandler_t {
    on_signal as *const () as sighandler_t
}

extern "C" fn on_signal(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes valid structures to a handler with SA_SIGINFO.
    let is_kept = unsafe { guard::keep_signal(info, context.cast()) };
    if !is_kept {
        // SAFETY: as above; the kernel's set has eight bytes.
        let before =
            unsafe { (&raw const (*context.cast::<ucontext_t>()).uc_sigmask).cast::<u64>().read() };
        call_handler(signal, info, context, before);
    }
}

/// Returns the signals of a set: the kernel's sets have 64 bits, and are the beginning of the C
/// library's.
fn bits(set: &sigset_t) -> u64 {
    // SAFETY: the set has at least eight bytes, and any bytes are a number.
    unsafe { std::ptr::from_ref(set).cast::<u64>().read() }
}

fn set_of(bits: u64) -> sigset_t {
    let mut set = MaybeUninit::<sigset_t>::zeroed();
    // SAFETY: the set has at least eight bytes, and all others are zero.
    unsafe {
        set.as_mut_ptr().cast::<u64>().write(bits);
        set.assume_init()
    }
}

fn bit(signal: c_int) -> u64 {
    1 << (signal - 1)
}

/// Returns all signals but those that an instruction causes.
fn asynchronous() -> u64 {
    !SYNCHRONOUS.iter().fold(0, |all, signal| all | bit(*signal))
}

/// Returns a copy of a handler's context that is valid after the handler has returned, and makes
/// the thread continue with all signals blocked but those that an instruction causes.
///
/// # Safety
/// The context is that of a handler that runs.
pub(crate) unsafe fn interrupt(context: *mut ucontext_t) -> ucontext_t {
    // SAFETY: the kernel's structure ends with the eight bytes of its set; what follows is on the
    // stack of the handler too, and is replaced in the copy.
    unsafe {
        let mut copy = context.read();
        let set = (&raw mut (*context).uc_sigmask).cast::<u64>();
        copy.uc_sigmask = set_of(set.read());
        copy.uc_mcontext.fpregs = std::ptr::null_mut();
        set.write(asynchronous());
        copy
    }
}

/// Runs the program's handler of a signal that was kept, as the kernel does, and continues with the
/// mask of the context.
pub(crate) fn run_handler(info: &mut siginfo_t, context: &mut ucontext_t) {
    let before = bits(&context.uc_sigmask);
    call_handler(info.si_signo, info, std::ptr::from_mut(context).cast(), before);
    set_mask(bits(&context.uc_sigmask));
}

fn set_mask(mask: u64) {
    let set = set_of(mask);
    // SAFETY: the set outlives the call, and no old set is requested.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut()) };
}

/// Calls the program's handler with the signals blocked that were before, and those that the
/// program has named.
fn call_handler(signal: c_int, info: *mut siginfo_t, context: *mut c_void, before: u64) {
    let Some(handler) = HANDLERS.get(signal as usize) else { return };
    set_mask(before | handler.mask.load(Ordering::Relaxed));
    guard::count_signal(handler.restarts.load(Ordering::Relaxed));
    let function = handler.function.load(Ordering::Relaxed);
    if matches!(function, libc::SIG_DFL | libc::SIG_IGN) {
        return;
    }
    if handler.runs_once.load(Ordering::Relaxed) {
        reset(signal);
    }
    // SAFETY: the program registered this address as a handler of the kind that its flags name.
    unsafe {
        if handler.has_info.load(Ordering::Relaxed) {
            let call: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) =
                std::mem::transmute(function);
            call(signal, info, context);
        } else {
            let call: extern "C" fn(c_int) = std::mem::transmute(function);
            call(signal);
        }
    }
}

/// Restores the default action, as the kernel does before a handler with `SA_RESETHAND`. It cannot
/// do so itself: the handler of a signal that is kept runs later.
#[cold]
fn reset(signal: c_int) {
    let action = MaybeUninit::<sigaction>::zeroed();
    // SAFETY: a zeroed structure is the default action. The call is async-signal-safe.
    unsafe { real::sigaction(signal, action.as_ptr(), std::ptr::null_mut()) };
}

/// Does the same as sigaction(2), with the program's handler behind this library's.
///
/// # Safety
/// As for sigaction(2).
pub(crate) unsafe fn set_action(
    signal: c_int,
    new: *const sigaction,
    old: *mut sigaction,
) -> c_int {
    let handler = usize::try_from(signal).ok().and_then(|at| HANDLERS.get(at));
    let Some(handler) = handler.filter(|_| signal != 0 && !is_synchronous(signal)) else {
        // SAFETY: the caller's guarantees.
        return unsafe { real::sigaction(signal, new, old) };
    };
    let before = handler.function.load(Ordering::Relaxed);
    let had_info = handler.has_info.load(Ordering::Relaxed);
    let ran_once = handler.runs_once.load(Ordering::Relaxed);
    let named = handler.named.load(Ordering::Relaxed);
    // SAFETY: the caller passes a valid structure or null.
    let mut wanted = unsafe { new.as_ref() }.copied();
    if let Some(action) = &mut wanted
        && !matches!(action.sa_sigaction, libc::SIG_DFL | libc::SIG_IGN)
    {
        handler.has_info.store(action.sa_flags & libc::SA_SIGINFO != 0, Ordering::Relaxed);
        handler.restarts.store(action.sa_flags & libc::SA_RESTART != 0, Ordering::Relaxed);
        handler.runs_once.store(action.sa_flags & libc::SA_RESETHAND != 0, Ordering::Relaxed);
        let named = bits(&action.sa_mask);
        let own = if action.sa_flags & libc::SA_NODEFER == 0 { bit(signal) } else { 0 };
        handler.named.store(named, Ordering::Relaxed);
        handler.mask.store(named | own, Ordering::Relaxed);
        handler.function.store(action.sa_sigaction, Ordering::Relaxed);
        action.sa_sigaction = trampoline();
        // Otherwise the kernel would begin several handlers at once, of which one is kept.
        action.sa_mask = set_of(asynchronous());
        action.sa_flags |= libc::SA_SIGINFO;
        action.sa_flags &= !libc::SA_RESETHAND;
    }
    let wanted = wanted.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: a local structure or null; the caller guarantees `old`.
    let result = unsafe { real::sigaction(signal, wanted, old) };
    // SAFETY: the kernel filled the structure in, unless it is null.
    if let Some(old) = unsafe { old.as_mut() }
        && result == 0
        && old.sa_sigaction == trampoline()
    {
        old.sa_sigaction = before;
        old.sa_mask = set_of(named);
        if !had_info {
            old.sa_flags &= !libc::SA_SIGINFO;
        }
        if ran_once {
            old.sa_flags |= libc::SA_RESETHAND;
        }
    }
    result
}

/// Does the same as signal(2): restarts calls, and keeps the handler.
pub(crate) fn set_handler(signal: c_int, handler: sighandler_t, flags: c_int) -> sighandler_t {
    if handler == libc::SIG_ERR {
        set_errno(libc::EINVAL);
        return libc::SIG_ERR;
    }
    let mut new = MaybeUninit::<sigaction>::zeroed();
    let mut old = MaybeUninit::<sigaction>::zeroed();
    // SAFETY: a zeroed structure is valid: no flags, an empty mask. Both outlive the call.
    unsafe {
        let action = new.assume_init_mut();
        action.sa_sigaction = handler;
        action.sa_flags = flags;
        if set_action(signal, new.as_ptr(), old.as_mut_ptr()) != 0 {
            return libc::SIG_ERR;
        }
        old.assume_init().sa_sigaction
    }
}

/// Does the same as siginterrupt(3).
pub(crate) fn set_interrupt(signal: c_int, interrupts: bool) -> c_int {
    let mut action = MaybeUninit::<sigaction>::zeroed();
    // SAFETY: the structure outlives both calls, and the first fills it in.
    unsafe {
        if set_action(signal, std::ptr::null(), action.as_mut_ptr()) != 0 {
            return -1;
        }
        let mut action = action.assume_init();
        if interrupts {
            action.sa_flags &= !libc::SA_RESTART;
        } else {
            action.sa_flags |= libc::SA_RESTART;
        }
        set_action(signal, &raw const action, std::ptr::null_mut())
    }
}
