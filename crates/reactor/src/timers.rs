//! Deadlines, a few of them.

use hairpin_time::Instant;

/// One deadline of a [`Timers`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimerId(u8);

/// A fixed table of deadlines, each armed and disarmed any number of times.
///
/// A loop has a handful: its protocols', and one or two of its own. At that size a scan of the
/// table is faster than any heap, and happens only when a deadline changes or passes.
#[derive(Debug, Clone)]
pub struct Timers {
    /// The earliest of all; `Instant::MAX` if none is armed.
    next: Instant,
    /// `Instant::MAX`: not armed.
    deadlines: [Instant; Timers::CAPACITY],
    count: u8,
}

impl Timers {
    /// Timers in a table.
    pub const CAPACITY: usize = 32;

    /// A table without timers.
    #[must_use]
    pub const fn new() -> Self {
        Self { next: Instant::MAX, deadlines: [Instant::MAX; Self::CAPACITY], count: 0 }
    }

    /// A new timer, not armed.
    ///
    /// # Panics
    /// If there are [`Timers::CAPACITY`] already: timers are named in the code of a loop, and
    /// never made while it runs.
    #[must_use]
    pub fn add(&mut self) -> TimerId {
        assert!(usize::from(self.count) < Self::CAPACITY, "a table holds 32 timers");
        let id = TimerId(self.count);
        self.count += 1;
        id
    }

    /// Sets the deadline of a timer, whether it had one or not.
    #[inline]
    pub fn arm(&mut self, id: TimerId, deadline: Instant) {
        self.set(id, Some(deadline));
    }

    /// Takes the deadline of a timer away, if it has one.
    #[inline]
    pub fn disarm(&mut self, id: TimerId) {
        self.set(id, None);
    }

    /// Arms or disarms: what a protocol's `poll_timeout` says, as it is. Cheap when nothing has
    /// changed.
    #[inline]
    pub fn set(&mut self, id: TimerId, deadline: Option<Instant>) {
        let slot = &mut self.deadlines[usize::from(id.0)];
        let old = core::mem::replace(slot, deadline.unwrap_or(Instant::MAX));
        let new = *slot;
        if new <= self.next {
            self.next = new;
        } else if old == self.next {
            self.next = self.earliest();
        }
    }

    /// The earliest deadline of all.
    #[inline]
    #[must_use]
    pub fn next(&self) -> Option<Instant> {
        (self.next < Instant::MAX).then_some(self.next)
    }

    /// Disarms the timer with the earliest deadline that has passed at `now`, and returns it; of
    /// equal ones the one added first. To be called until there is none.
    #[inline]
    pub fn expired(&mut self, now: Instant) -> Option<TimerId> {
        if self.next > now || self.next == Instant::MAX {
            return None;
        }
        self.take_next()
    }

    fn take_next(&mut self) -> Option<TimerId> {
        let index = self.armed().position(|&deadline| deadline == self.next)?;
        self.deadlines[index] = Instant::MAX;
        self.next = self.earliest();
        u8::try_from(index).ok().map(TimerId)
    }

    fn earliest(&self) -> Instant {
        self.armed().min().copied().unwrap_or(Instant::MAX)
    }

    fn armed(&self) -> impl Iterator<Item = &Instant> {
        self.deadlines[..usize::from(self.count)].iter()
    }
}

impl Default for Timers {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    #[test]
    fn deadlines_expire_in_order_and_once() {
        let mut timers = Timers::new();
        let [late, early, never] = std::array::from_fn(|_| timers.add());
        timers.arm(late, at(20));
        timers.arm(early, at(10));
        timers.disarm(never);
        assert_eq!(timers.next(), Some(at(10)));
        assert_eq!(timers.expired(at(9)), None);
        assert_eq!(timers.expired(at(20)), Some(early));
        assert_eq!(timers.next(), Some(at(20)));
        assert_eq!(timers.expired(at(20)), Some(late));
        assert_eq!(timers.expired(at(1_000)), None);
        assert_eq!(timers.next(), None);
        assert_eq!(timers.expired(Instant::MAX), None);
    }

    #[test]
    fn the_next_deadline_follows_one_that_is_moved() {
        let mut timers = Timers::new();
        let [a, b] = std::array::from_fn(|_| timers.add());
        timers.arm(a, at(10));
        timers.arm(b, at(20));
        timers.arm(a, at(30));
        assert_eq!(timers.next(), Some(at(20)));
        timers.arm(a, at(5));
        assert_eq!(timers.next(), Some(at(5)));
        timers.set(a, None);
        assert_eq!(timers.next(), Some(at(20)));
        timers.disarm(b);
        assert_eq!(timers.next(), None);
    }

    #[test]
    fn equal_deadlines_expire_in_the_order_of_their_timers() {
        let mut timers = Timers::new();
        let ids: [TimerId; 3] = std::array::from_fn(|_| timers.add());
        for &id in ids.iter().rev() {
            timers.arm(id, at(7));
        }
        let order: Vec<_> = std::iter::from_fn(|| timers.expired(at(7))).collect();
        assert_eq!(order, ids);
    }

    #[test]
    #[should_panic(expected = "32 timers")]
    fn a_table_holds_no_more_than_it_has_room_for() {
        let mut timers = Timers::new();
        for _ in 0..=Timers::CAPACITY {
            let _ = timers.add();
        }
    }
}
