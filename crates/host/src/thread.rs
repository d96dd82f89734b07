//! Thread settings other than affinity: name and timer slack.

use std::ffi::CString;
use std::io;

use hairpin_time::Duration;

/// Names the calling thread for `ps -L`, `top -H` and `perf`, with the first 15 bytes of `name`.
///
/// # Errors
/// The kernel's errors. A name ends at its first NUL.
pub fn name_thread(name: &str) -> io::Result<()> {
    const LONGEST: usize = 15;
    let bytes: Vec<u8> = name.bytes().take(LONGEST).take_while(|&byte| byte != 0).collect();
    let name = CString::new(bytes).expect("cut at the first NUL");
    // SAFETY: PR_SET_NAME reads a NUL-terminated string, which lives until the call returns.
    check(unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) })
}

/// Sets by how much the kernel may delay the calling thread's timers to coalesce them.
///
/// The default is 50 µs, by which every wait with a timeout is late. The minimum is 1 ns, which is
/// right for a loop with microsecond deadlines. Real-time threads have no slack.
///
/// # Errors
/// The kernel's errors.
pub fn set_timer_slack(slack: Duration) -> io::Result<()> {
    // Zero would select the default.
    let nanos = libc::c_ulong::try_from(slack.as_nanos().max(1)).unwrap_or(libc::c_ulong::MAX);
    // SAFETY: PR_SET_TIMERSLACK takes a number and accesses no memory of this process.
    check(unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, nanos) })
}

fn check(status: libc::c_int) -> io::Result<()> {
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_name_is_cut_to_15_bytes() {
        std::thread::spawn(|| {
            name_thread("feed-handler-channel-310").unwrap();
            let name = std::fs::read_to_string("/proc/thread-self/comm").unwrap();
            assert_eq!(name.trim_end(), "feed-handler-ch");
        })
        .join()
        .unwrap();
    }

    #[test]
    fn timer_slack_is_set_and_never_zero() {
        std::thread::spawn(|| {
            for (requested, kept) in [(Duration::from_micros(7), 7_000), (Duration::ZERO, 1)] {
                set_timer_slack(requested).unwrap();
                // SAFETY: PR_GET_TIMERSLACK takes nothing and returns a number.
                assert_eq!(unsafe { libc::prctl(libc::PR_GET_TIMERSLACK) }, kept);
            }
        })
        .join()
        .unwrap();
    }
}
