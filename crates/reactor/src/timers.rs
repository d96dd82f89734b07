//! A small table of deadlines.

use hairpin_time::Instant;

/// A handle of a deadline in a [`Timers`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimerId(u8);

/// A fixed table of deadlines, each of which can be armed and disarmed any number of times.
///
/// A loop has a few deadlines: those of its protocols, and one or two of its own. For so few a scan
/// of the table is faster than a heap, and it happens only when a deadline changes or expires.
#[derive(Debug, Clone)]
pub struct Timers {
    /// The earliest deadline; `Instant::MAX` if no timer is armed.
    next: Instant,
    /// The deadlines; `Instant::MAX` if not armed.
    deadlines: [Instant; Timers::CAPACITY],
    count: u8,
}

impl Timers {
    /// The maximum number of timers in a table.
    pub const CAPACITY: usize = 32;

    /// Creates a table without timers.
    #[must_use]
    pub const fn new() -> Self {
        Self { next: Instant::MAX, deadlines: [Instant::MAX; Self::CAPACITY], count: 0 }
    }

    /// Adds a timer, which is not armed.
    ///
    /// # Panics
    /// If there are [`Timers::CAPACITY`] timers already. Timers are fixed in the code of a loop and
    /// not added while it runs.
    #[must_use]
    pub fn add(&mut self) -> TimerId {
        assert!(usize::from(self.count) < Self::CAPACITY, "a table holds 32 timers");
        let id = TimerId(self.count);
        self.count += 1;
        id
    }

    /// Sets the deadline of a timer.
    #[inline]
    pub fn arm(&mut self, id: TimerId, deadline: Instant) {
        self.set(id, Some(deadline));
    }

    /// Clears the deadline of a timer.
    #[inline]
    pub fn disarm(&mut self, id: TimerId) {
        self.set(id, None);
    }

    /// Arms or disarms a timer, with the result of a protocol's `poll_timeout`. Cheap if nothing
    /// has changed.
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

    /// Returns the earliest deadline.
    #[inline]
    #[must_use]
    pub fn next(&self) -> Option<Instant> {
        (self.next < Instant::MAX).then_some(self.next)
    }

    /// Disarms and returns the timer with the earliest expired deadline at `now`. Of equal
    /// deadlines, the timer added first. Call this until it returns `None`.
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
    fn next_deadline_follows_changes() {
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
    fn equal_deadlines_expire_in_timer_order() {
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
    fn panics_on_too_many_timers() {
        let mut timers = Timers::new();
        for _ in 0..=Timers::CAPACITY {
            let _ = timers.add();
        }
    }
}
