//! The kernel's clocks.

use hairpin_time::Duration;

/// Returns CLOCK_MONOTONIC in nanoseconds.
pub(crate) fn monotonic_nanos() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// Returns CLOCK_REALTIME in nanoseconds since the epoch.
pub(crate) fn realtime_nanos() -> u64 {
    read(libc::CLOCK_REALTIME)
}

/// Returns the kernel's tick, the unit of its coarse clock and of every socket timeout.
///
/// The tick is 1, 3⅓, 4 or 10 ms, depending on the kernel's build (1000, 300, 250 or 100 Hz).
#[must_use]
pub fn kernel_tick() -> Duration {
    let mut resolution = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `resolution` is a valid timespec for the kernel to write to.
    let status = unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &raw mut resolution) };
    assert_eq!(status, 0, "every Linux has the coarse monotonic clock");
    Duration::from_nanos(nanos_of(resolution))
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec for the kernel to write to.
    let status = unsafe { libc::clock_gettime(clock, &raw mut time) };
    assert_eq!(status, 0, "every Linux has the monotonic and the realtime clock");
    nanos_of(time)
}

/// Converts a time to nanoseconds. Neither clock is ever negative: one counts from boot, the other
/// from 1970.
fn nanos_of(time: libc::timespec) -> u64 {
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tick_is_1_to_10_milliseconds() {
        let tick = kernel_tick();
        assert!(tick >= Duration::from_millis(1) && tick <= Duration::from_millis(10), "{tick}");
    }
}
