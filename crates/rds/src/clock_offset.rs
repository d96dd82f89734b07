//! The age of packets, from two clocks with an unknown offset.

use hairpin_time::{Duration, Instant};

use crate::config::PACKET_LIFETIME;
use crate::{sequence, timestamp};

/// The time over which a minimum is kept. The clocks drift by a few milliseconds at most during two
/// of these periods.
const PERIOD: Duration = Duration::from_secs(30);

/// The silence after which the minimum is not kept. Clocks drift by less than 1 s in this time.
const IDLE: Duration = Duration::from_secs(3_600);

/// The smallest difference between the local clock and a peer's timestamps, over the last 30 to
/// 60 s. A packet with a difference of 10 s more is 10 s older than the fastest one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClockOffset {
    previous: u32,
    current: u32,
    started: Instant,
}

impl ClockOffset {
    /// Starts with a first packet. Differences are in timestamp units and wrap.
    pub(crate) fn new(now: Instant, difference: u32) -> Self {
        Self { previous: difference, current: difference, started: now }
    }

    /// Returns `true` if a packet is at most [`PACKET_LIFETIME`] older than the fastest one, and
    /// records its difference.
    #[inline]
    pub(crate) fn accept(&mut self, now: Instant, difference: u32) -> bool {
        if now.saturating_since(self.started) >= PERIOD {
            self.start_period(now, difference);
        }
        let minimum = sequence::earlier(self.previous, self.current);
        let age = difference.wrapping_sub(minimum);
        if age as i32 > timestamp::units(PACKET_LIFETIME) as i32 {
            return false;
        }
        self.current = sequence::earlier(self.current, difference);
        true
    }

    #[cold]
    fn start_period(&mut self, now: Instant, difference: u32) {
        let is_idle = now.saturating_since(self.started) >= IDLE;
        self.previous = if is_idle { difference } else { self.current };
        self.current = difference;
        self.started = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_packet_after_silence_is_refused() {
        let start = Instant::from_nanos(0);
        let mut offset = ClockOffset::new(start, 0);
        let age = |seconds| timestamp::units(Duration::from_secs(seconds));
        let at = |seconds| start + Duration::from_secs(seconds);
        assert!(!offset.accept(at(62), age(62)));
        // The clock of a peer may have stopped for a while.
        assert!(!offset.accept(at(80), age(62)));
        assert!(offset.accept(at(93), age(62)));
        assert!(offset.accept(at(5_000), age(100)));
    }

    #[test]
    fn packet_of_more_than_ten_seconds_is_refused() {
        let start = Instant::from_nanos(0);
        let mut offset = ClockOffset::new(start, u32::MAX - 3);
        assert!(offset.accept(start, 20));
        assert!(offset.accept(start, timestamp::units(Duration::from_secs(9))));
        assert!(!offset.accept(start, timestamp::units(Duration::from_secs(11))));
    }

    #[test]
    fn drifting_clock_stays_accepted() {
        let start = Instant::from_nanos(0);
        let mut offset = ClockOffset::new(start, 0);
        // 100 ppm over 100 hours are 36 s.
        for second in 1..360_000_u32 {
            let now = start + Duration::from_secs(u64::from(second));
            assert!(
                offset.accept(now, ((u64::from(second) * 100_000) >> 6) as u32),
                "after {second} s"
            );
        }
    }
}
