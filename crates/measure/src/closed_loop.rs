//! A closed-loop schedule: every send waits for the answer to the previous one.

use hairpin_time::{Duration, Instant};

use crate::Departure;

/// A closed loop: the next send follows the answer to the previous one, at the earliest an interval
/// after the previous intended time.
///
/// Ping tools and ping-pong benchmarks work this way, and suffer from coordinated omission: while
/// the peer stalls, the loop sends nothing. A stall is then one slow sample, however many sends of
/// a [`Schedule`](crate::Schedule) it would have delayed. A command that uses a closed loop must
/// print that it does. [`Histogram::corrected`](crate::Histogram::corrected) estimates the missing
/// samples.
#[derive(Debug, Clone)]
pub struct ClosedLoop {
    interval: Duration,
    /// The time of the next send; `None` while waiting for an answer.
    due: Option<Instant>,
    intended: Instant,
    departed: u64,
}

impl ClosedLoop {
    /// Returns a loop with its first send intended at `start`. With an interval of zero, each later
    /// send is intended at the arrival of the answer.
    #[must_use]
    pub const fn new(start: Instant, interval: Duration) -> Self {
        Self { interval, due: Some(start), intended: start, departed: 0 }
    }

    /// Returns the next send if it is due at `now`; `None` while waiting for an answer.
    #[inline]
    pub fn depart(&mut self, now: Instant) -> Option<Departure> {
        let intended = self.due.filter(|&due| now >= due)?;
        (self.due, self.intended) = (None, intended);
        let departure = Departure { index: self.departed, intended, lateness: now - intended };
        self.departed += 1;
        Some(departure)
    }

    /// Records the arrival of the answer at `now`, or its timeout. Without an outstanding send,
    /// this has no effect.
    #[inline]
    pub fn answered(&mut self, now: Instant) {
        if self.due.is_none() {
            self.due = Some(now.max(self.intended + self.interval));
        }
    }

    /// Returns the time of the next send; `None` while waiting for an answer.
    #[must_use]
    #[inline]
    pub const fn next_departure(&self) -> Option<Instant> {
        self.due
    }

    /// Returns the number of sends so far.
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
    fn next_send_waits_for_the_answer() {
        let mut closed = ClosedLoop::new(at(0), Duration::from_nanos(100));
        assert_eq!(closed.depart(Instant::from_nanos(999)), None);
        assert_eq!(departs(&mut closed, 5), Some((at(0), 5)));
        assert_eq!((departs(&mut closed, 900), closed.next_departure()), (None, None));
        closed.answered(at(901));
        assert_eq!(departs(&mut closed, 950), Some((at(901), 49)));
        assert_eq!(closed.departed(), 2);
    }

    #[test]
    fn next_send_waits_for_the_interval() {
        let mut closed = ClosedLoop::new(at(0), Duration::from_nanos(100));
        departs(&mut closed, 0);
        closed.answered(at(30));
        assert_eq!(closed.next_departure(), Some(at(100)));
        assert_eq!(departs(&mut closed, 99), None);
        assert_eq!(departs(&mut closed, 100), Some((at(100), 0)));
    }

    #[test]
    fn zero_interval_sends_at_the_answer() {
        let mut closed = ClosedLoop::new(at(0), Duration::ZERO);
        departs(&mut closed, 0);
        closed.answered(at(30));
        assert_eq!(departs(&mut closed, 31), Some((at(30), 1)));
    }

    #[test]
    fn second_answer_has_no_effect() {
        let mut closed = ClosedLoop::new(at(0), Duration::ZERO);
        closed.answered(at(700));
        assert_eq!(closed.next_departure(), Some(at(0)));
        departs(&mut closed, 0);
        closed.answered(at(30));
        closed.answered(at(40));
        assert_eq!(closed.next_departure(), Some(at(30)));
    }
}
