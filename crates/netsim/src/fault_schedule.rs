//! Faults with a begin and an end, drawn from a seed.

use std::ops::Range;

use hairpin_time::{Duration, Instant};

use crate::{Random, Timeline};

/// The begin or the end of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Change<F> {
    /// The fault begins.
    Begins(F),
    /// The fault ends.
    Ends(F),
}

/// The times at which faults begin and end.
///
/// ```
/// use hairpin_netsim::{Change, FaultSchedule, Random};
/// use hairpin_time::{Duration, Instant};
///
/// let second = Instant::ZERO..Instant::from_nanos(1_000_000_000);
/// let length = Duration::from_millis(1)..Duration::from_millis(50);
/// let cuts = ["cut A", "cut B"];
/// let mut schedule = FaultSchedule::new(&mut Random::new(1), second, &cuts, 3, length);
/// while let Some(at) = schedule.poll_timeout() {
///     match schedule.poll(at) {
///         Some(Change::Begins(fault)) => println!("{at:?}: {fault} begins"),
///         Some(Change::Ends(fault)) => println!("{at:?}: {fault} ends"),
///         None => unreachable!(),
///     }
/// }
/// ```
#[derive(Debug, Clone)]
pub struct FaultSchedule<F> {
    changes: Timeline<Change<F>>,
}

impl<F: Copy> FaultSchedule<F> {
    /// Returns an empty schedule.
    #[must_use]
    pub const fn none() -> Self {
        Self { changes: Timeline::new() }
    }

    /// Draws `count` faults of these kinds. Each lasts for a span in `length` and is within
    /// `within`. The time is divided among them, so each ends before the next begins. A share that
    /// is shorter than the span shortens the fault.
    #[must_use]
    pub fn new(
        random: &mut Random,
        within: Range<Instant>,
        faults: &[F],
        count: u64,
        length: Range<Duration>,
    ) -> Self {
        let mut schedule = Self::none();
        let share = (within.end - within.start) / count.max(1);
        for number in 0..if faults.is_empty() { 0 } else { count } {
            let begins_within = within.start + share * number;
            let length = random.span(length.start, length.end).min(share);
            let begins = begins_within + random.span(Duration::ZERO, share - length);
            schedule.add(*random.pick(faults), begins, begins + length);
        }
        schedule
    }

    /// Adds a fault.
    pub fn add(&mut self, fault: F, begins: Instant, ends: Instant) {
        self.changes.push(begins, Change::Begins(fault));
        self.changes.push(ends, Change::Ends(fault));
    }

    /// Returns the next change that is due at `now`; `None` if there is no more.
    pub fn poll(&mut self, now: Instant) -> Option<Change<F>> {
        self.changes.pop(now).map(|(_, change)| change)
    }

    /// Returns the time of the next change.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.changes.next_at()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_do_not_overlap_and_end_in_time() {
        let within = Instant::from_nanos(1_000)..Instant::from_nanos(9_000);
        let length = Duration::from_nanos(10)..Duration::from_nanos(5_000);
        for seed in 0..200 {
            let random = &mut Random::new(seed);
            let mut schedule =
                FaultSchedule::new(random, within.clone(), &['a', 'b'], 5, length.clone());
            let (mut open, mut begun, mut last) = (None, 0, within.start);
            while let Some(at) = schedule.poll_timeout() {
                assert!(at >= last && at <= within.end);
                match schedule.poll(at) {
                    Some(Change::Begins(fault)) => {
                        assert_eq!(open.replace(fault), None);
                        begun += 1;
                    }
                    Some(Change::Ends(fault)) => assert_eq!(open.take(), Some(fault)),
                    None => unreachable!(),
                }
                last = at;
            }
            assert_eq!((open, begun), (None, 5));
        }
    }

    #[test]
    fn changes_are_due_at_their_time() {
        let mut schedule = FaultSchedule::none();
        assert_eq!(schedule.poll_timeout(), None);
        schedule.add('a', Instant::from_nanos(5), Instant::from_nanos(7));
        assert_eq!(schedule.poll(Instant::from_nanos(4)), None);
        assert_eq!(schedule.poll(Instant::from_nanos(9)), Some(Change::Begins('a')));
        assert_eq!(schedule.poll(Instant::from_nanos(9)), Some(Change::Ends('a')));
        let within = Instant::ZERO..Instant::from_nanos(9);
        let length = Duration::ZERO..Duration::from_nanos(1);
        let none = FaultSchedule::<char>::new(&mut Random::new(1), within, &[], 5, length);
        assert_eq!(none.poll_timeout(), None);
    }
}
