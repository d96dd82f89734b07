//! The system's clocks.

/// Returns CLOCK_MONOTONIC in nanoseconds.
#[inline]
pub(crate) fn now_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// Returns the CLOCK_REALTIME time of a timestamp on CLOCK_TAI, both in nanoseconds; the current
/// time for `None`.
pub(crate) fn realtime_ns(tai_ns: Option<u64>) -> u64 {
    let now = read(libc::CLOCK_REALTIME);
    let Some(tai_ns) = tai_ns else { return now };
    // The clocks differ by the leap seconds, or not at all if the system does not know them.
    let offset = (read(libc::CLOCK_TAI) + SECOND_NS / 2).saturating_sub(now) / SECOND_NS;
    tai_ns.saturating_sub(offset * SECOND_NS)
}

const SECOND_NS: u64 = 1_000_000_000;

#[inline]
fn read(clock: libc::clockid_t) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure outlives the call, which cannot fail for these clocks.
    unsafe { libc::clock_gettime(clock, &raw mut now) };
    now.tv_sec.cast_unsigned() * SECOND_NS + now.tv_nsec.cast_unsigned()
}
