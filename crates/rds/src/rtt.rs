//! Round-trip time and response delay of a peer, and the timeout that follows from them.

use hairpin_time::Duration;

/// The shortest probe timeout in µs: less than a scheduling interruption, more than a round trip on
/// a local network.
const TIMEOUT_MIN_US: u32 = 200;
/// The timeout before the first sample.
const TIMEOUT_INITIAL_US: u32 = 1_000;
/// The longest interval between probes.
const BACKOFF_MAX: Duration = Duration::from_millis(100);
/// The longest sample: a longer one comes from an idle connection.
const SAMPLE_MAX_US: u32 = 1_000_000;

/// An estimator of one peer.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct RoundTrip {
    /// The shortest recent round trip in µs, plus 1; 0 before the first sample.
    minimum: u32,
    /// The peer's response delay in µs, from the longest recent samples above the minimum.
    response: u32,
}

impl RoundTrip {
    /// Adds the time between a packet and the peer's answer, in µs.
    #[inline]
    pub(crate) fn add(&mut self, sample: u32) {
        if sample > SAMPLE_MAX_US {
            return;
        }
        let sample = sample + 1;
        if self.minimum == 0 || sample < self.minimum {
            self.minimum = sample;
        } else {
            // A longer path becomes the new minimum after some hundred samples.
            self.minimum += (sample - self.minimum).div_ceil(256);
        }
        let excess = sample - self.minimum;
        if excess > self.response {
            // At most doubled, so that one interruption of a host does not delay later probes.
            self.response = excess.min(2 * self.response + TIMEOUT_MIN_US);
        } else {
            self.response -= (self.response - excess) / 16;
        }
    }

    /// Returns the time to wait for an answer before the first probe: twice the round trip, but at
    /// least 200 µs, plus the response delay.
    #[inline]
    pub(crate) fn timeout(&self) -> Duration {
        self.probe_timeout() + Duration::from_micros(u64::from(self.response))
    }

    /// Returns the time to wait for the answer to a probe. Such an answer does not wait for the
    /// peer's owner.
    #[inline]
    fn probe_timeout(&self) -> Duration {
        let timeout = match self.minimum {
            0 => TIMEOUT_INITIAL_US,
            minimum => (2 * minimum).max(TIMEOUT_MIN_US),
        };
        Duration::from_micros(u64::from(timeout))
    }

    /// Returns the time to wait after a number of unanswered probes: twice the round trip, but at
    /// least 200 µs, after the first, since a single probe may be lost. Doubled for each further
    /// one, up to 100 ms.
    pub(crate) fn backoff(&self, probes: u32) -> Duration {
        let timeout = self.probe_timeout();
        let doubled = timeout * (1 << probes.saturating_sub(1).min(10));
        if doubled < BACKOFF_MAX { doubled } else { BACKOFF_MAX.max(timeout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeout_is_twice_the_round_trip_plus_the_response_delay() {
        let mut round_trip = RoundTrip::default();
        assert_eq!(round_trip.timeout(), Duration::from_millis(1));
        round_trip.add(19);
        assert_eq!(round_trip.timeout(), Duration::from_micros(200));
        round_trip.add(5_019);
        assert!(round_trip.timeout() < Duration::from_micros(500));
        (0..5).for_each(|_| round_trip.add(5_019));
        let timeout = round_trip.timeout();
        assert!(timeout > Duration::from_millis(5) && timeout < Duration::from_micros(5_300));
        (0..100).for_each(|_| round_trip.add(19));
        assert!(round_trip.timeout() < Duration::from_micros(250));
    }

    #[test]
    fn backoff_doubles_after_the_second_probe_up_to_100_ms() {
        let mut round_trip = RoundTrip::default();
        round_trip.add(9);
        let intervals = [1, 2, 3].map(|probes| round_trip.backoff(probes));
        assert_eq!(intervals, [200, 400, 800].map(Duration::from_micros));
        assert_eq!(round_trip.backoff(40), Duration::from_millis(100));
    }
}
