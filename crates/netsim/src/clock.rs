//! The virtual clock.

use hairpin_time::{Duration, Instant, Now, Utc};

/// The clock of a simulation. It moves only when the simulation advances it, and never back.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    now: Now,
}

impl Clock {
    /// Returns a clock with this wall time and a monotonic time of one second. Zero would hide code
    /// that uses zero for "never".
    #[must_use]
    pub const fn new(utc: Utc) -> Self {
        Self { now: Now { monotonic: Instant::from_nanos(1_000_000_000), utc } }
    }

    /// Returns both times.
    #[must_use]
    pub const fn now(&self) -> Now {
        self.now
    }

    /// Advances both times.
    pub fn advance(&mut self, span: Duration) {
        self.now = Now { monotonic: self.now.monotonic + span, utc: self.now.utc + span };
    }

    /// Advances both times to `instant`, if it is in the future.
    pub fn advance_to(&mut self, instant: Instant) {
        self.advance(instant.saturating_since(self.now.monotonic));
    }

    /// Steps the wall time back, as a clock correction does.
    pub fn step_back(&mut self, span: Duration) {
        self.now.utc = self.now.utc - span;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_times_advance_together() {
        let mut clock = Clock::new(Utc::from_nanos(500));
        let before = clock.now();
        clock.advance(Duration::from_nanos(7));
        assert_eq!(clock.now().monotonic - before.monotonic, Duration::from_nanos(7));
        assert_eq!(clock.now().utc, Utc::from_nanos(507));
        clock.advance_to(before.monotonic);
        assert_eq!(clock.now().utc, Utc::from_nanos(507));
        clock.advance_to(before.monotonic + Duration::from_nanos(9));
        assert_eq!(clock.now().utc, Utc::from_nanos(509));
        clock.step_back(Duration::from_nanos(9));
        assert_eq!(clock.now().utc, Utc::from_nanos(500));
        assert_eq!(clock.now().monotonic - before.monotonic, Duration::from_nanos(9));
    }
}
