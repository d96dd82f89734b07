//! The round-trip time and the timeouts that follow from it (RFC 6298, RFC 8985 §7.2).

use hairpin_time::{Duration, Instant};

/// The delay of acknowledgments that is always allowed for: the shortest of Linux, in milliseconds.
const ACK_DELAY_MIN: Duration = Duration::from_millis(40);
/// The longest delay of an acknowledgment that is learned (RFC 9293 §3.8.6.3: below 0.5 s).
const ACK_DELAY_MAX: Duration = Duration::from_millis(500);
/// The lowest timeout beyond the delay of acknowledgments.
const TIMEOUT_FLOOR: Duration = Duration::from_millis(5);
/// The highest timeout (RFC 6298 §2.4).
const TIMEOUT_MAX: Duration = Duration::from_secs(60);
/// The age at which the lowest round-trip time is measured again, as Linux does not for RACK but
/// BBR does.
const MINIMUM_AGE: Duration = Duration::from_secs(10);
/// The round-trip time assumed until one is measured, for the probe timeout.
const INITIAL: Duration = Duration::from_millis(10);

/// The estimate of the round-trip time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rtt {
    smoothed: Option<Duration>,
    variation: Duration,
    minimum: Duration,
    minimum_at: Instant,
    ack_delay: Duration,
}

impl Rtt {
    pub(crate) fn new(now: Instant, known: Option<Duration>) -> Self {
        let minimum = known.unwrap_or(Duration::MAX);
        let variation = Duration::from_nanos(known.unwrap_or(INITIAL).as_nanos() / 2);
        Self { smoothed: known, variation, minimum, minimum_at: now, ack_delay: ACK_DELAY_MIN }
    }

    /// Adds a sample of a segment that was sent once (RFC 6298 §2, §3).
    pub(crate) fn add(&mut self, now: Instant, sample: Duration) {
        if sample < self.minimum || now - self.minimum_at > MINIMUM_AGE {
            (self.minimum, self.minimum_at) = (sample, now);
        }
        let delay = sample.saturating_sub(self.minimum).min(ACK_DELAY_MAX).max(ACK_DELAY_MIN);
        let decayed = self.ack_delay.as_nanos() - self.ack_delay.as_nanos() / 64;
        self.ack_delay = delay.max(Duration::from_nanos(decayed));
        let (sample, variation) = (sample.as_nanos(), self.variation.as_nanos());
        match self.smoothed {
            None => self.variation = Duration::from_nanos(sample / 2),
            Some(smoothed) => {
                let error = smoothed.as_nanos().abs_diff(sample);
                self.variation = Duration::from_nanos(variation - variation / 4 + error / 4);
            }
        }
        let smoothed = self
            .smoothed
            .map_or(sample, |smoothed| smoothed.as_nanos() - smoothed.as_nanos() / 8 + sample / 8);
        self.smoothed = Some(Duration::from_nanos(smoothed));
    }

    pub(crate) fn smoothed(&self) -> Option<Duration> {
        self.smoothed
    }

    /// Returns the lowest sample; zero before the first.
    pub(crate) fn minimum(&self) -> Duration {
        if self.minimum == Duration::MAX { Duration::ZERO } else { self.minimum }
    }

    pub(crate) fn ack_delay(&self) -> Duration {
        self.ack_delay
    }

    /// Returns the retransmission timeout after a number of timeouts in a row.
    pub(crate) fn timeout(&self, backoff: u32) -> Duration {
        let smoothed = self.smoothed.unwrap_or(INITIAL).as_nanos();
        let measured = Duration::from_nanos(smoothed + 4 * self.variation.as_nanos());
        let base = measured.max(TIMEOUT_FLOOR) + self.ack_delay;
        Duration::from_nanos(base.as_nanos() << backoff.min(10)).min(TIMEOUT_MAX)
    }

    /// Returns the probe timeout: two round trips, and the delay of acknowledgments if the peer may
    /// delay this one (RFC 8985 §7.2).
    pub(crate) fn probe_timeout(&self, is_delayed: bool) -> Duration {
        let smoothed = self.smoothed.unwrap_or(INITIAL).as_nanos();
        let delay = if is_delayed { self.ack_delay } else { Duration::from_millis(2) };
        Duration::from_nanos(2 * smoothed) + delay
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn timeout_has_floor_and_backs_off() {
        let mut rtt = Rtt::new(Instant::ZERO, None);
        (0..100).for_each(|_| rtt.add(Instant::ZERO, Duration::from_micros(20)));
        assert_eq!(rtt.timeout(0).as_millis(), 45);
        assert_eq!(rtt.timeout(1).as_millis(), 90);
        assert_eq!(rtt.timeout(30), TIMEOUT_MAX.min(Duration::from_nanos(45_000_000 << 10)));
    }

    #[test]
    fn slow_acknowledgments_are_learned_and_forgotten() {
        let mut rtt = Rtt::new(Instant::ZERO, None);
        rtt.add(Instant::ZERO, MS);
        rtt.add(Instant::ZERO, Duration::from_millis(201));
        assert_eq!(rtt.ack_delay(), Duration::from_millis(200));
        (0..1_000).for_each(|_| rtt.add(Instant::ZERO, MS));
        assert_eq!(rtt.ack_delay(), ACK_DELAY_MIN);
    }

    #[test]
    fn minimum_expires() {
        let mut rtt = Rtt::new(Instant::ZERO, Some(MS));
        let later = Instant::ZERO + Duration::from_secs(11);
        rtt.add(later, Duration::from_millis(3));
        assert_eq!(rtt.minimum(), Duration::from_millis(3));
    }
}
