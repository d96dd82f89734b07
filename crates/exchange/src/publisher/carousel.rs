//! The pace of a loop that is sent over and over, packet by packet.

use hairpin_time::{Duration, Instant};

/// How fast the loops go.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// One packet behind the other.
    #[default]
    FlatOut,
    /// One loop in each period, its packets spread over it.
    Paced,
}

/// Where a loop over `total` items is, and when its next packet is due.
///
/// The packet sequence restarts at 1 with every loop, which is how receivers recognise one.
#[derive(Debug)]
pub(super) struct Carousel {
    period: Duration,
    total: u32,
    next: u32,
    /// Messages of the next item that have left, where an item has several.
    part: u32,
    sequence: u32,
    due: Instant,
    number: u64,
}

impl Carousel {
    pub(super) fn new(total: u32, period: Duration, now: Instant) -> Self {
        Self { period, total, next: 0, part: 0, sequence: 0, due: now, number: 1 }
    }

    /// When the next packet is to leave.
    pub(super) const fn due(&self) -> Instant {
        self.due
    }

    /// The item that comes next: below the total.
    pub(super) const fn next(&self) -> u32 {
        self.next
    }

    /// How many messages of that item have left.
    pub(super) const fn part(&self) -> u32 {
        self.part
    }

    /// Loops begun, the present one included.
    pub(super) const fn number(&self) -> u64 {
        self.number
    }

    /// Whether the next packet is the first of a loop.
    pub(super) const fn is_at_start(&self) -> bool {
        self.sequence == 0
    }

    /// Notes that a packet with the items before `next` is leaving; returns its sequence number.
    pub(super) fn advance(&mut self, next: u32, pace: Pace, now: Instant) -> u32 {
        self.advance_to((next, 0), pace, now)
    }

    /// The same, of a packet that ends behind so many messages of `next`.
    pub(super) fn advance_to(&mut self, (next, part): (u32, u32), pace: Pace, now: Instant) -> u32 {
        let items = u64::from(next - self.next);
        self.sequence += 1;
        let sequence = self.sequence;
        let gap = match pace {
            Pace::FlatOut => Duration::ZERO,
            Pace::Paced => self.period * items / u64::from(self.total.max(1)),
        };
        // Late packets are not made up for: a burst would stand in the way of the market.
        self.due = (self.due + gap).max(now);
        (self.next, self.part) = (next, part);
        if next == self.total {
            self.next = 0;
            self.sequence = 0;
            self.number += 1;
        }
        sequence
    }

    /// Notes that a loop without items is leaving, a packet of its own; returns its sequence
    /// number. The next one is due a period later at any pace: it would say the same.
    pub(super) fn pass_empty(&mut self, now: Instant) -> u32 {
        self.due = now + self.period;
        self.number += 1;
        1
    }

    /// Gives up the loop under way: the next packet is the first of another.
    pub(super) fn restart(&mut self) {
        (self.next, self.part) = (0, 0);
        self.sequence = 0;
        self.number += 1;
    }

    /// The next packet is due at once (a loop that was paced shall go flat out).
    pub(super) fn hurry(&mut self, now: Instant) {
        self.due = self.due.min(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Duration = Duration::from_millis(100);

    #[test]
    fn spreads_a_loop_over_its_period_and_restarts_at_one() {
        let at = |millis| Instant::ZERO + Duration::from_millis(millis);
        let mut carousel = Carousel::new(10, PERIOD, at(0));
        assert_eq!(carousel.advance(4, Pace::Paced, at(0)), 1);
        assert_eq!((carousel.due(), carousel.is_at_start()), (at(40), false));
        assert_eq!(carousel.advance(8, Pace::Paced, at(41)), 2);
        assert_eq!(carousel.due(), at(80));
        assert_eq!(carousel.advance(10, Pace::Paced, at(80)), 3);
        assert_eq!((carousel.due(), carousel.number(), carousel.next()), (at(100), 2, 0));
        assert_eq!(carousel.advance(4, Pace::Paced, at(100)), 1);
    }

    #[test]
    fn an_empty_loop_is_one_packet_a_period_at_any_pace() {
        let mut carousel = Carousel::new(10, PERIOD, Instant::ZERO);
        let now = Instant::from_nanos(77);
        assert_eq!(carousel.pass_empty(now), 1);
        assert_eq!((carousel.due(), carousel.number()), (now + PERIOD, 2));
        assert!(carousel.is_at_start());
        assert_eq!(carousel.advance(5, Pace::FlatOut, now), 1);
    }

    #[test]
    fn a_loop_has_begun_although_its_first_item_is_not_complete() {
        let mut carousel = Carousel::new(2, PERIOD, Instant::ZERO);
        assert_eq!(carousel.advance_to((0, 3), Pace::FlatOut, Instant::ZERO), 1);
        assert_eq!((carousel.next(), carousel.part(), carousel.is_at_start()), (0, 3, false));
        assert_eq!(carousel.advance_to((2, 0), Pace::FlatOut, Instant::ZERO), 2);
        assert_eq!((carousel.next(), carousel.part(), carousel.is_at_start()), (0, 0, true));
    }

    #[test]
    fn a_paced_loop_that_is_hurried_is_due_at_once_and_one_that_is_due_stays_so() {
        let at = |millis| Instant::ZERO + Duration::from_millis(millis);
        let mut carousel = Carousel::new(10, PERIOD, at(0));
        carousel.advance(4, Pace::Paced, at(0));
        carousel.hurry(at(10));
        assert_eq!(carousel.due(), at(10));
        carousel.hurry(at(20));
        assert_eq!(carousel.due(), at(10));
    }

    #[test]
    fn makes_up_for_nothing_after_a_stall() {
        let mut carousel = Carousel::new(10, PERIOD, Instant::ZERO);
        let late = Instant::ZERO + Duration::from_secs(5);
        carousel.advance(1, Pace::Paced, late);
        assert_eq!(carousel.due(), late);
    }

    #[test]
    fn does_not_wait_when_flat_out() {
        let now = Instant::from_nanos(77);
        let mut carousel = Carousel::new(10, PERIOD, now);
        carousel.advance(5, Pace::FlatOut, now);
        assert_eq!(carousel.due(), now);
    }
}
