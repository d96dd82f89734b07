//! Signals that ask the process to stop.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};

use hairpin_time::Duration;

use crate::kernel_clock::monotonic_nanos;

/// The least time between two requests: timeout(1) sends its signal to the process and at once to
/// its process group, which is one request.
const BETWEEN: Duration = Duration::from_millis(200);
/// The highest signal number plus one.
const SIGNALS: usize = 65;

/// The last of the handled signals; 0 before the first.
static LAST: AtomicI32 = AtomicI32::new(0);
/// The time of the first arrival of each signal; 0 before it.
static FIRST: [AtomicU64; SIGNALS] = [const { AtomicU64::new(0) }; SIGNALS];

/// Handles `signal` from now on: [`stop_signal`] returns it. When it arrives again, at least 200 ms
/// after its first arrival, the process ends at once with the shell's exit status for it.
///
/// Handlers that were installed before are called too.
///
/// # Errors
/// The kernel's errors; `InvalidInput` for a number that is no signal, or for one that cannot be
/// handled, such as SIGKILL.
pub fn handle_stop_signal(signal: i32) -> io::Result<()> {
    register(signal, None)
}

/// Handles `signal` as [`handle_stop_signal`] does, and sets `flag` when it arrives.
///
/// # Errors
/// Those of [`handle_stop_signal`].
pub fn set_on_stop_signal(signal: i32, flag: Arc<AtomicBool>) -> io::Result<()> {
    register(signal, Some(flag))
}

fn register(signal: i32, flag: Option<Arc<AtomicBool>>) -> io::Result<()> {
    let is_signal = usize::try_from(signal).is_ok_and(|signal| (1..SIGNALS).contains(&signal));
    if !is_signal || signal_hook::consts::FORBIDDEN.contains(&signal) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let handler = move || {
        if let Some(flag) = &flag {
            flag.store(true, Ordering::Relaxed);
        }
        on_signal(signal);
    };
    // SAFETY: the handler stores to atomic variables, and calls only clock_gettime(2) and _exit(2):
    // all of it is async-signal-safe. It does not panic.
    unsafe { signal_hook::low_level::register(signal, handler) }.map(drop)
}

/// Returns the last signal that [`handle_stop_signal`] has handled in this process, if any.
#[inline]
#[must_use]
pub fn stop_signal() -> Option<i32> {
    Some(LAST.load(Ordering::Relaxed)).filter(|&signal| signal != 0)
}

/// Calls only clock_gettime(2) and _exit(2), which are safe in a signal handler.
fn on_signal(signal: i32) {
    let Some(first) = usize::try_from(signal).ok().and_then(|signal| FIRST.get(signal)) else {
        return;
    };
    LAST.store(signal, Ordering::Relaxed);
    let now = monotonic_nanos().max(1);
    let first = first.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
    if first.is_err_and(|first| now.saturating_sub(first) >= BETWEEN.as_nanos()) {
        // SAFETY: _exit(2) ends the process and returns to no code.
        unsafe { libc::_exit(128 + signal) };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use super::*;

    /// Runs in a child of its own: the handler and the time of the first signal stay.
    fn in_child(body: fn()) -> i32 {
        // SAFETY: the child calls `body` alone, which allocates nothing, and ends.
        match unsafe { libc::fork() } {
            0 => {
                body();
                // SAFETY: ends the child.
                unsafe { libc::_exit(0) }
            }
            child => {
                let mut status = 0;
                // SAFETY: `status` is valid for writes.
                assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
                assert!(libc::WIFEXITED(status), "{status}");
                libc::WEXITSTATUS(status)
            }
        }
    }

    fn raise() {
        // SAFETY: sends a signal to this thread, which handles it.
        unsafe { libc::raise(libc::SIGINT) };
    }

    #[test]
    fn only_a_later_repetition_ends_the_process() {
        static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
        let flag = Arc::clone(FLAG.get_or_init(Arc::default));
        // In the parent, because it allocates.
        set_on_stop_signal(libc::SIGINT, flag).expect("a signal");
        handle_stop_signal(libc::SIGINT).expect("a signal");
        let at_once = || {
            (0..3).for_each(|_| raise());
            assert_eq!(stop_signal(), Some(libc::SIGINT));
            assert!(FLAG.get().is_some_and(|flag| flag.load(Ordering::Relaxed)));
        };
        assert_eq!(in_child(at_once), 0);
        let later = || {
            raise();
            std::thread::sleep(std::time::Duration::from_millis(250));
            raise();
        };
        assert_eq!(in_child(later), 130);
        assert_eq!(stop_signal(), None);
        for invalid in [0, 65, libc::SIGKILL] {
            assert!(handle_stop_signal(invalid).is_err(), "{invalid}");
        }
    }
}
