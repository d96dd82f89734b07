//! What the kernel knows of a thread beside where it runs.

use std::ffi::CString;
use std::io;

use hairpin_time::Duration;

/// Names the calling thread for `ps -L`, `top -H` and `perf`: the first 15 bytes of `name`.
///
/// # Errors
/// The kernel's. A name with a NUL in it ends there.
pub fn name_thread(name: &str) -> io::Result<()> {
    const LONGEST: usize = 15;
    let bytes: Vec<u8> = name.bytes().take(LONGEST).take_while(|&byte| byte != 0).collect();
    let name = CString::new(bytes).expect("cut at the first NUL");
    // SAFETY: PR_SET_NAME reads a NUL-terminated string, which lives until the call returns.
    check(unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) })
}

/// By how much the kernel may delay the calling thread's timers so as to serve several at once.
///
/// 50 µs unless set, which every wait with a timeout is late by; 1 ns is the least and what a
/// loop with microsecond deadlines wants. Real-time threads have none.
///
/// # Errors
/// The kernel's.
pub fn set_timer_slack(slack: Duration) -> io::Result<()> {
    // Zero would mean the default again.
    let nanos = libc::c_ulong::try_from(slack.as_nanos().max(1)).unwrap_or(libc::c_ulong::MAX);
    // SAFETY: PR_SET_TIMERSLACK takes a number and touches no memory of ours.
    check(unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, nanos) })
}

fn check(status: libc::c_int) -> io::Result<()> {
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_knows_the_thread_by_its_first_fifteen_bytes() {
        std::thread::spawn(|| {
            name_thread("feed-handler-channel-310").unwrap();
            let name = std::fs::read_to_string("/proc/thread-self/comm").unwrap();
            assert_eq!(name.trim_end(), "feed-handler-ch");
        })
        .join()
        .unwrap();
    }

    #[test]
    fn the_kernel_keeps_the_timer_slack_and_never_zero() {
        std::thread::spawn(|| {
            for (asked, kept) in [(Duration::from_micros(7), 7_000), (Duration::ZERO, 1)] {
                set_timer_slack(asked).unwrap();
                // SAFETY: PR_GET_TIMERSLACK takes nothing and returns a number.
                assert_eq!(unsafe { libc::prctl(libc::PR_GET_TIMERSLACK) }, kept);
            }
        })
        .join()
        .unwrap();
    }
}
