//! Faults that begin and end, by a seed.

use std::ops::Range;

use hairpin_time::{Duration, Instant};

use crate::{Random, Timeline};

/// A fault begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Change<F> {
    /// From now on.
    Begins(F),
    /// No longer.
    Ends(F),
}

/// When which fault begins and ends.
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
///         Some(Change::Begins(fault)) => println!("{at:?}: {fault}"),
///         Some(Change::Ends(fault)) => println!("{at:?}: no longer {fault}"),
///         None => unreachable!(),
///     }
/// }
/// ```
#[derive(Debug, Clone)]
pub struct FaultSchedule<F> {
    changes: Timeline<Change<F>>,
}

impl<F: Copy> FaultSchedule<F> {
    /// No fault ever.
    #[must_use]
    pub const fn none() -> Self {
        Self { changes: Timeline::new() }
    }

    /// `count` faults of these kinds that begin and end within `within`, and last for a span of
    /// `length`, as far as there is room. The time is divided among them, so that one has ended
    /// when the next begins.
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

    /// One more fault.
    pub fn add(&mut self, fault: F, begins: Instant, ends: Instant) {
        self.changes.push(begins, Change::Begins(fault));
        self.changes.push(ends, Change::Ends(fault));
    }

    /// The next change that is due by `now`, until there is none.
    pub fn poll(&mut self, now: Instant) -> Option<Change<F>> {
        self.changes.pop(now).map(|(_, change)| change)
    }

    /// When the next change is due.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.changes.next_at()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_lie_within_the_time_one_after_the_other_and_end() {
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
    fn nothing_is_due_before_its_time_and_without_faults_nothing_ever() {
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
