//! Virtual time.

use hairpin_time::{Duration, Instant, Now, Utc};

/// The clock of a simulation: it moves when it is told to, and never back.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    now: Now,
}

impl Clock {
    /// A clock that shows this wall time, and a monotonic time of one second: a program that takes
    /// zero for "never" would be found out.
    #[must_use]
    pub const fn new(utc: Utc) -> Self {
        Self { now: Now { monotonic: Instant::from_nanos(1_000_000_000), utc } }
    }

    /// Both clocks.
    #[must_use]
    pub const fn now(&self) -> Now {
        self.now
    }

    /// Time passes.
    pub fn advance(&mut self, span: Duration) {
        self.now = Now { monotonic: self.now.monotonic + span, utc: self.now.utc + span };
    }

    /// Time passes until `instant`; none if that is over.
    pub fn advance_to(&mut self, instant: Instant) {
        self.advance(instant.saturating_since(self.now.monotonic));
    }

    /// The wall clock alone steps back, as a correction of it may.
    pub fn step_back(&mut self, span: Duration) {
        self.now.utc = self.now.utc - span;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_move_together_and_never_back() {
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
