//! Waiting: busy-polling for the profile's budget, then sleeping in the kernel.
//!
//! There is one way to sleep: ppoll(2) on the kernel's descriptors of the call, on the rings of
//! each
//! stack, and on an event of the sleeper. A thread that takes a frame of another socket off a ring
//! signals the events of all sleepers; each checks its own sockets.

use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::time::Duration;

use libc::{pollfd, sigset_t, timespec};

use crate::clock::now_ns;
use crate::errno::errno;
use crate::guard::{self, Signals};
use crate::process;
use crate::real;
use crate::settings::settings;

/// The most threads that sleep at the same time with an event; more poll once per millisecond.
const SLEEPERS: usize = 256;
/// The longest sleep of a thread without an event.
const NO_EVENT_NS: u64 = 1_000_000;

/// The events of the sleepers: a descriptor in use is stored as itself, a free one as `-2 - fd`, an
/// empty place as -1.
static EVENTS: [AtomicI32; SLEEPERS] = [const { AtomicI32::new(EMPTY) }; SLEEPERS];
const EMPTY: i32 = -1;
/// The number of sleepers.
static COUNT: AtomicU32 = AtomicU32::new(0);

/// Wakes all sleepers, if there are any. Async-signal-safe.
///
/// Stacks call it under the lock of a data plane, so a sleeper that checked before has already
/// registered.
pub(crate) fn wake_all() {
    if COUNT.load(Ordering::SeqCst) == 0 {
        return;
    }
    for event in &EVENTS {
        let fd = event.load(Ordering::Acquire);
        if fd >= 0 {
            let one = 1_u64;
            let (from, length) = (&raw const one, size_of::<u64>());
            // SAFETY: the kernel reads eight bytes of a local variable. The call is
            // async-signal-safe.
            unsafe { libc::syscall(libc::SYS_write, fd, from, length) };
        }
    }
}

/// Forgets all events, in a forked child: its copies are inert there.
pub(crate) fn forget_all() {
    EVENTS.iter().for_each(|event| event.store(EMPTY, Ordering::Relaxed));
    COUNT.store(0, Ordering::Relaxed);
}

/// Returns `true` if the descriptor is an event of this module.
pub(crate) fn is_event(fd: c_int) -> bool {
    EVENTS.iter().any(|event| {
        let at = event.load(Ordering::Relaxed);
        at == fd || at == -2 - fd
    })
}

/// A registered sleeper.
struct Sleeper(Option<usize>);

impl Sleeper {
    fn register() -> Self {
        COUNT.fetch_add(1, Ordering::SeqCst);
        for (at, event) in EVENTS.iter().enumerate() {
            let found = event.load(Ordering::Acquire);
            if found < EMPTY
                && event
                    .compare_exchange(found, -2 - found, Ordering::AcqRel, Ordering::Relaxed)
                    .is_ok()
            {
                return Self(Some(at));
            }
        }
        for (at, event) in EVENTS.iter().enumerate() {
            if event.load(Ordering::Acquire) == EMPTY {
                // SAFETY: the call takes integers.
                let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
                if fd < 0 {
                    break;
                }
                if event.compare_exchange(EMPTY, fd, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                    return Self(Some(at));
                }
                // SAFETY: the descriptor was created above and not published.
                unsafe { real::close(fd) };
            }
        }
        Self(None)
    }

    fn event(&self) -> Option<c_int> {
        self.0.map(|at| EVENTS[at].load(Ordering::Relaxed))
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        if let Some(at) = self.0 {
            let fd = EVENTS[at].load(Ordering::Relaxed);
            let mut count = 0_u64;
            // SAFETY: the kernel writes eight bytes to a local variable.
            unsafe { real::read(fd, (&raw mut count).cast(), size_of::<u64>()) };
            EVENTS[at].store(-2 - fd, Ordering::Release);
        }
        COUNT.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The outcome of one turn of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Check again.
    Again,
    TimedOut,
    /// A signal handler has run.
    Interrupted,
}

/// The signals that end a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndsOn {
    /// Every handler: poll(2), select(2), epoll_wait(2).
    AnySignal,
    /// Handlers without `SA_RESTART`: receives.
    Interrupts,
    /// Every handler, even with `SA_RESTART`: receives with a timeout (signal(7)).
    TimedReceive,
}

/// A call that waits.
#[derive(Debug)]
pub(crate) struct Wait {
    spin_until_ns: u64,
    deadline_ns: Option<u64>,
    signals: Signals,
    ends_on: EndsOn,
}

impl Wait {
    /// Begins a wait of at most `timeout`.
    pub(crate) fn new(timeout: Option<Duration>, ends_on: EndsOn, signals: Signals) -> Self {
        let now = now_ns();
        let deadline_ns = timeout
            .map(|timeout| now.saturating_add(timeout.as_nanos().try_into().unwrap_or(u64::MAX)));
        Self { spin_until_ns: now + settings().spin_ns, deadline_ns, signals, ends_on }
    }

    /// Waits after a check that found nothing. `fds` are the kernel's descriptors of the call;
    /// `check` repeats the check, after this thread can be woken. The mask is that of ppoll(2).
    ///
    /// The caller holds no lock and is not inside the library, so that handlers run.
    pub(crate) fn turn(
        &mut self,
        fds: &mut Vec<pollfd>,
        mask: *const sigset_t,
        check: impl FnOnce() -> bool,
    ) -> Turn {
        if self.was_interrupted() {
            return Turn::Interrupted;
        }
        let now = now_ns();
        if self.deadline_ns.is_some_and(|deadline| now >= deadline) {
            return Turn::TimedOut;
        }
        // Without descriptors the caller has not expected a sleep.
        if now < self.spin_until_ns || fds.is_empty() {
            std::hint::spin_loop();
            return Turn::Again;
        }
        self.sleep(now, fds, mask, check)
    }

    /// Returns `true` if the budget of busy-polling is spent, so that the next turn may sleep.
    pub(crate) fn may_sleep(&self) -> bool {
        now_ns() >= self.spin_until_ns
    }

    fn was_interrupted(&self) -> bool {
        let now = guard::signals();
        match self.ends_on {
            EndsOn::Interrupts => now.interrupts != self.signals.interrupts,
            EndsOn::AnySignal | EndsOn::TimedReceive => now.handled != self.signals.handled,
        }
    }

    #[cold]
    fn sleep(
        &mut self,
        now: u64,
        fds: &mut Vec<pollfd>,
        mask: *const sigset_t,
        check: impl FnOnce() -> bool,
    ) -> Turn {
        let own = fds.len();
        let (sleeper, is_ready) = {
            let inside = guard::enter();
            let sleeper = Sleeper::register();
            let is_ready = check();
            drop(inside);
            (sleeper, is_ready)
        };
        // A handler that runs after this check makes the sleeper's event readable.
        if is_ready || self.was_interrupted() {
            drop(sleeper);
            return Turn::Again;
        }
        let readable = |fd| pollfd { fd, events: libc::POLLIN, revents: 0 };
        fds.extend(process::ring_descriptors().iter().copied().map(readable));
        fds.extend(sleeper.event().map(readable));
        let mut left = self.deadline_ns.map(|deadline| deadline.saturating_sub(now));
        if sleeper.event().is_none() {
            left = Some(left.map_or(NO_EVENT_NS, |left| left.min(NO_EVENT_NS)));
        }
        let left = left.map(|left| timespec {
            tv_sec: (left / 1_000_000_000) as libc::time_t,
            tv_nsec: (left % 1_000_000_000) as libc::c_long,
        });
        let left = left.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: the entries and the timeout outlive the call; the caller guarantees the mask.
        let result = unsafe { real::ppoll(fds.as_mut_ptr(), fds.len() as u64, left, mask) };
        let was_interrupted = result < 0 && errno() == libc::EINTR;
        fds.truncate(own);
        drop(sleeper);
        // A handler that runs through a library function may not be counted: its signal still
        // interrupts poll(2) and its relatives.
        if was_interrupted && (self.ends_on != EndsOn::Interrupts || self.was_interrupted()) {
            return Turn::Interrupted;
        }
        Turn::Again
    }
}
