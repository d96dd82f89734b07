//! An open-loop schedule: sends do not wait for answers.

use hairpin_time::{Duration, Instant};

/// An open-loop schedule: send `i` is intended at `start + i × interval`.
///
/// The schedule never waits for an answer. After a delay of the sender, every missed send is due at
/// once, each with its own intended time; none is skipped. An interval of zero means no pause: a
/// send is intended at the time of its departure, so it is never late.
#[derive(Debug, Clone)]
pub struct Schedule {
    start: Instant,
    interval: Duration,
    departed: u64,
}

/// A send of a [`Schedule`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Departure {
    /// The index, counted from zero.
    pub index: u64,
    /// The intended time, from which latency is measured.
    pub intended: Instant,
    /// The time from the intended time to the departure.
    pub lateness: Duration,
}

impl Schedule {
    /// Returns a schedule with its first send intended at `start`.
    #[must_use]
    pub const fn new(start: Instant, interval: Duration) -> Self {
        Self { start, interval, departed: 0 }
    }

    /// Returns the next send if it is due at `now`, at most one per call.
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

    /// Returns the intended time of the next send, which is the deadline of the sending loop.
    #[must_use]
    #[inline]
    pub fn next_departure(&self) -> Instant {
        self.start + self.interval * self.departed
    }

    /// Returns the number of sends so far.
    #[must_use]
    pub const fn departed(&self) -> u64 {
        self.departed
    }

    /// Returns the span between two intended times; zero for no pause.
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
    fn sends_wait_for_their_intended_time() {
        let mut schedule = Schedule::new(START, INTERVAL);
        assert_eq!(schedule.depart(Instant::from_nanos(999)), None);
        let first = Departure { index: 0, intended: START, lateness: Duration::ZERO };
        assert_eq!(schedule.depart(START), Some(first));
        assert_eq!(schedule.depart(at(99)), None);
        assert_eq!(schedule.next_departure(), at(100));
    }

    #[test]
    fn late_departure_does_not_move_the_next() {
        let mut schedule = Schedule::new(START, INTERVAL);
        schedule.depart(at(70));
        let second = schedule.depart(at(130)).expect("due at 100");
        assert_eq!((second.intended, second.lateness), (at(100), Duration::from_nanos(30)));
        assert_eq!(schedule.next_departure(), at(200));
    }

    #[test]
    fn missed_departures_are_due_at_once() {
        let mut schedule = Schedule::new(START, INTERVAL);
        let missed: Vec<_> = std::iter::from_fn(|| schedule.depart(at(350))).collect();
        let lateness: Vec<_> = missed.iter().map(|d| (d.index, d.lateness.as_nanos())).collect();
        assert_eq!(lateness, [(0, 350), (1, 250), (2, 150), (3, 50)]);
        assert_eq!(schedule.departed(), 4);
    }

    #[test]
    fn zero_interval_is_always_due_and_never_late() {
        let mut schedule = Schedule::new(START, Duration::ZERO);
        assert_eq!(schedule.depart(Instant::from_nanos(1)), None);
        for now in [at(0), at(5), at(5), at(900)] {
            let departure = schedule.depart(now).expect("always due");
            assert_eq!((departure.intended, departure.lateness), (now, Duration::ZERO));
        }
    }
}
