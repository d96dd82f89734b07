//! When to send, if every send waits for the answer to the one before.

use hairpin_time::{Duration, Instant};

use crate::Departure;

/// A closed loop: one send at a time, the next when the answer came, yet not before an interval has
/// passed since the last was meant to leave.
///
/// It is how ping tools and benchmarks of the ping-pong kind send, and it omits what it should
/// measure: while the other side stalls it sends nothing, so that a stall is one slow sample,
/// however many sends of a [`Schedule`](crate::Schedule) it would have held up (coordinated
/// omission). A command that measures so must say it; what its rows would have shown can be
/// estimated by [`Histogram::corrected`](crate::Histogram::corrected).
#[derive(Debug, Clone)]
pub struct ClosedLoop {
    interval: Duration,
    /// When the next send is due; `None` while an answer is awaited.
    due: Option<Instant>,
    intended: Instant,
    departed: u64,
}

impl ClosedLoop {
    /// A loop whose first send is meant to leave at `start`. With an interval of zero every other
    /// send is meant to leave when the answer came.
    #[must_use]
    pub const fn new(start: Instant, interval: Duration) -> Self {
        Self { interval, due: Some(start), intended: start, departed: 0 }
    }

    /// Takes the next send if it is due at `now`; none while an answer is awaited.
    #[inline]
    pub fn depart(&mut self, now: Instant) -> Option<Departure> {
        let intended = self.due.filter(|&due| now >= due)?;
        (self.due, self.intended) = (None, intended);
        let departure = Departure { index: self.departed, intended, lateness: now - intended };
        self.departed += 1;
        Some(departure)
    }

    /// The answer came at `now`, or was given up then. Without a send that waits for one it changes
    /// nothing.
    #[inline]
    pub fn answered(&mut self, now: Instant) {
        if self.due.is_none() {
            self.due = Some(now.max(self.intended + self.interval));
        }
    }

    /// When the next send is due; `None` while an answer is awaited.
    #[must_use]
    #[inline]
    pub const fn next_departure(&self) -> Option<Instant> {
        self.due
    }

    /// How many sends have left.
    #[must_use]
    pub const fn departed(&self) -> u64 {
        self.departed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(1_000 + nanos)
    }

    fn departs(closed: &mut ClosedLoop, now: u64) -> Option<(Instant, u64)> {
        closed.depart(at(now)).map(|it| (it.intended, it.lateness.as_nanos()))
    }

    #[test]
    fn nothing_departs_before_the_answer() {
        let mut closed = ClosedLoop::new(at(0), Duration::from_nanos(100));
        assert_eq!(closed.depart(Instant::from_nanos(999)), None);
        assert_eq!(departs(&mut closed, 5), Some((at(0), 5)));
        assert_eq!((departs(&mut closed, 900), closed.next_departure()), (None, None));
        closed.answered(at(901));
        assert_eq!(departs(&mut closed, 950), Some((at(901), 49)));
        assert_eq!(closed.departed(), 2);
    }

    #[test]
    fn an_early_answer_waits_for_the_interval() {
        let mut closed = ClosedLoop::new(at(0), Duration::from_nanos(100));
        departs(&mut closed, 0);
        closed.answered(at(30));
        assert_eq!(closed.next_departure(), Some(at(100)));
        assert_eq!(departs(&mut closed, 99), None);
        assert_eq!(departs(&mut closed, 100), Some((at(100), 0)));
    }

    #[test]
    fn without_an_interval_the_answer_is_the_next_intended_time() {
        let mut closed = ClosedLoop::new(at(0), Duration::ZERO);
        departs(&mut closed, 0);
        closed.answered(at(30));
        assert_eq!(departs(&mut closed, 31), Some((at(30), 1)));
    }

    #[test]
    fn a_second_answer_moves_nothing() {
        let mut closed = ClosedLoop::new(at(0), Duration::ZERO);
        closed.answered(at(700));
        assert_eq!(closed.next_departure(), Some(at(0)));
        departs(&mut closed, 0);
        closed.answered(at(30));
        closed.answered(at(40));
        assert_eq!(closed.next_departure(), Some(at(30)));
    }
}
