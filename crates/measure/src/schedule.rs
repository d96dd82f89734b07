//! When to send, whatever became of what was sent before.

use hairpin_time::{Duration, Instant};

/// An open-loop schedule: send `i` is meant to leave at `start + i × interval`.
///
/// It never waits for an answer, and a sender that was held up finds every send it missed due at
/// once, each with its own intended time; none is skipped. An interval of zero means no pause: a
/// send is then intended at the moment it leaves, so it is never late.
#[derive(Debug, Clone)]
pub struct Schedule {
    start: Instant,
    interval: Duration,
    departed: u64,
}

/// One send of a [`Schedule`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Departure {
    /// Counted from zero.
    pub index: u64,
    /// When it was meant to leave: where its latency is counted from.
    pub intended: Instant,
    /// How much later it left.
    pub lateness: Duration,
}

impl Schedule {
    /// A schedule whose first send is meant to leave at `start`.
    #[must_use]
    pub const fn new(start: Instant, interval: Duration) -> Self {
        Self { start, interval, departed: 0 }
    }

    /// Takes the next send if it is due at `now`; at most one a call.
    #[inline]
    pub fn depart(&mut self, now: Instant) -> Option<Departure> {
        let due = self.next_departure();
        if now < due {
            return None;
        }
        let intended = if self.interval == Duration::ZERO { now } else { due };
        let departure = Departure { index: self.departed, intended, lateness: now - intended };
        self.departed += 1;
        Some(departure)
    }

    /// When the next send is due: the deadline of the loop that sends.
    #[must_use]
    #[inline]
    pub fn next_departure(&self) -> Instant {
        self.start + self.interval * self.departed
    }

    /// How many sends have left.
    #[must_use]
    pub const fn departed(&self) -> u64 {
        self.departed
    }

    /// The span between two intended times; zero for no pause.
    #[must_use]
    pub const fn interval(&self) -> Duration {
        self.interval
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Instant = Instant::from_nanos(1_000);
    const INTERVAL: Duration = Duration::from_nanos(100);

    fn at(nanos: u64) -> Instant {
        START + Duration::from_nanos(nanos)
    }

    #[test]
    fn nothing_departs_before_its_time() {
        let mut schedule = Schedule::new(START, INTERVAL);
        assert_eq!(schedule.depart(Instant::from_nanos(999)), None);
        let first = Departure { index: 0, intended: START, lateness: Duration::ZERO };
        assert_eq!(schedule.depart(START), Some(first));
        assert_eq!(schedule.depart(at(99)), None);
        assert_eq!(schedule.next_departure(), at(100));
    }

    #[test]
    fn a_late_departure_does_not_move_the_next() {
        let mut schedule = Schedule::new(START, INTERVAL);
        schedule.depart(at(70));
        let second = schedule.depart(at(130)).expect("due at 100");
        assert_eq!((second.intended, second.lateness), (at(100), Duration::from_nanos(30)));
        assert_eq!(schedule.next_departure(), at(200));
    }

    #[test]
    fn a_sender_that_was_stopped_owes_every_departure_it_missed() {
        let mut schedule = Schedule::new(START, INTERVAL);
        let owed: Vec<_> = std::iter::from_fn(|| schedule.depart(at(350))).collect();
        let lateness: Vec<_> = owed.iter().map(|d| (d.index, d.lateness.as_nanos())).collect();
        assert_eq!(lateness, [(0, 350), (1, 250), (2, 150), (3, 50)]);
        assert_eq!(schedule.departed(), 4);
    }

    #[test]
    fn without_a_pause_every_departure_is_due_now_and_never_late() {
        let mut schedule = Schedule::new(START, Duration::ZERO);
        assert_eq!(schedule.depart(Instant::from_nanos(1)), None);
        for now in [at(0), at(5), at(5), at(900)] {
            let departure = schedule.depart(now).expect("always due");
            assert_eq!((departure.intended, departure.lateness), (now, Duration::ZERO));
        }
    }
}
