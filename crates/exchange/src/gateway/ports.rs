//! Automated port closure: too many bad logons in a minute.

use hairpin_time::{Duration, Instant};

/// Bad logons that close the ports.
const ATTEMPTS: usize = 5;

/// Within this time.
const SPAN: Duration = Duration::from_secs(60);

/// When the last bad logons were.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct BadLogons {
    at: [Option<Instant>; ATTEMPTS],
    next: usize,
}

impl BadLogons {
    /// Notes one; `true` if it is the fifth within 60 s.
    pub(super) fn note(&mut self, now: Instant) -> bool {
        self.at[self.next] = Some(now);
        self.next = (self.next + 1) % ATTEMPTS;
        // The place of the next one has the oldest.
        self.at[self.next].is_some_and(|oldest| now < oldest + SPAN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fifth_within_a_minute_is_one_too_many() {
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        let mut bad = BadLogons::default();
        let noted: Vec<bool> =
            [0, 15, 30, 45, 60, 74, 75, 76].map(|seconds| bad.note(at(seconds))).into();
        // The fifth comes 60 s after the first; the sixth 59 s after the second.
        assert_eq!(noted, [false, false, false, false, false, true, true, true]);
    }
}
