//! The kernel's clock discipline.

use std::io;

use hairpin_time::Duration;

/// The state of the kernel's clock discipline, which NTP and PTP daemons steer (adjtimex(2)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockSync {
    /// `true` if a daemon keeps the clock synchronized.
    pub synchronized: bool,
    /// The largest error of the clock that the daemon reports; 16 s without a daemon.
    pub error_max: Duration,
}

/// Reads the state of the clock discipline. It changes nothing.
///
/// # Errors
/// The kernel's, if a sandbox denies the call.
pub fn clock_sync() -> io::Result<ClockSync> {
    // SAFETY: the structure consists of integers, for which zero is valid. Mode 0 sets nothing.
    let mut state: libc::timex = unsafe { std::mem::zeroed() };
    // SAFETY: the structure is valid for the kernel to write to.
    let status = unsafe { libc::adjtimex(&raw mut state) };
    if status < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(ClockSync {
        synchronized: state.status & libc::STA_UNSYNC == 0,
        error_max: Duration::from_micros(state.maxerror.unsigned_abs()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_without_a_daemon_has_a_large_error() {
        let sync = clock_sync().unwrap();
        assert!(sync.synchronized || sync.error_max >= Duration::from_secs(1), "{sync:?}");
    }
}
