//! Automated port closure: too many bad logons within a minute.

use hairpin_time::{Duration, Instant};

/// The number of bad logons that closes the ports.
const BAD_LOGONS_MAX: usize = 5;

/// The period in which bad logons are counted.
const PERIOD: Duration = Duration::from_secs(60);

/// The times of the last bad logons.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct BadLogons {
    at: [Option<Instant>; BAD_LOGONS_MAX],
    next: usize,
}

impl BadLogons {
    /// Records a bad logon. Returns `true` if it is the fifth within 60 s.
    pub(super) fn record(&mut self, now: Instant) -> bool {
        self.at[self.next] = Some(now);
        self.next = (self.next + 1) % BAD_LOGONS_MAX;
        // The next slot contains the oldest time.
        self.at[self.next].is_some_and(|oldest| now < oldest + PERIOD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifth_bad_logon_within_a_minute_closes_ports() {
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        let mut bad = BadLogons::default();
        let closed: Vec<bool> =
            [0, 15, 30, 45, 60, 74, 75, 76].map(|seconds| bad.record(at(seconds))).into();
        // The fifth is 60 s after the first; the sixth is 59 s after the second.
        assert_eq!(closed, [false, false, false, false, false, true, true, true]);
    }
}
