//! Timestamps of packets: 32 bits, in units of 64 ns.
//!
//! A timestamp wraps after 275 s. Comparisons hold over half of that, which is far more than the
//! 10 s for which a packet is valid.

use hairpin_time::{Duration, Instant};

/// The unit as a power of two, in nanoseconds.
const UNIT_BITS: u32 = 6;

/// Returns the timestamp of a time.
#[inline]
pub(crate) fn from_instant(time: Instant) -> u32 {
    (time.as_nanos() >> UNIT_BITS) as u32
}

/// Returns a duration in units, at most `u32::MAX`.
#[inline]
pub(crate) const fn units(duration: Duration) -> u32 {
    let units = duration.as_nanos() >> UNIT_BITS;
    if units > u32::MAX as u64 { u32::MAX } else { units as u32 }
}

/// Returns the time since a timestamp of this clock; zero if the timestamp is in the future.
#[inline]
pub(crate) fn age(now: Instant, timestamp: u32) -> Duration {
    let units = from_instant(now).wrapping_sub(timestamp) as i32;
    Duration::from_nanos((units.max(0) as u64) << UNIT_BITS)
}
