//! The pacing of a feed loop, which repeats its packets.

use hairpin_time::{Duration, Instant};

/// The pace of the feed loops.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Packets follow each other without a pause, or at the highest rate of
    /// [`PublisherSettings::loop_rate`](crate::PublisherSettings::loop_rate).
    #[default]
    FlatOut,
    /// A loop per period, with its packets spread evenly.
    Paced,
}

/// The position of a loop over `total` items, and the time of its next packet.
///
/// The packet sequence restarts at 1 with every loop; receivers recognize a new loop by it.
#[derive(Debug)]
pub(super) struct LoopPacer {
    period: Duration,
    /// The shortest pause between packets at [`Pace::FlatOut`].
    pause: Duration,
    total: u32,
    next: u32,
    /// The number of messages of the next item already sent, for items with several.
    part: u32,
    sequence: u32,
    due: Instant,
    number: u64,
}

impl LoopPacer {
    pub(super) fn new(total: u32, period: Duration, now: Instant) -> Self {
        let pause = Duration::ZERO;
        Self { period, pause, total, next: 0, part: 0, sequence: 0, due: now, number: 1 }
    }

    /// Limits the rate at [`Pace::FlatOut`] to this number of packets per second.
    pub(super) fn with_rate(self, rate: Option<u32>) -> Self {
        let second = Duration::from_secs(1).as_nanos();
        let pause = rate.map_or(0, |rate| second / u64::from(rate.max(1)));
        Self { pause: Duration::from_nanos(pause), ..self }
    }

    /// Returns the time of the next packet.
    pub(super) const fn due(&self) -> Instant {
        self.due
    }

    /// Returns the next item, less than the total.
    pub(super) const fn next(&self) -> u32 {
        self.next
    }

    /// Returns the number of messages of the next item already sent.
    pub(super) const fn part(&self) -> u32 {
        self.part
    }

    /// Returns the number of loops started, including the current one.
    pub(super) const fn number(&self) -> u64 {
        self.number
    }

    /// Returns `true` if the next packet is the first of a loop.
    pub(super) const fn is_at_start(&self) -> bool {
        self.sequence == 0
    }

    /// Advances over a packet with the items before `next`, and returns its sequence number.
    pub(super) fn advance(&mut self, next: u32, pace: Pace, now: Instant) -> u32 {
        self.advance_to((next, 0), pace, now)
    }

    /// Advances over a packet that ends after `part` messages of `next`, and returns its sequence
    /// number.
    pub(super) fn advance_to(&mut self, (next, part): (u32, u32), pace: Pace, now: Instant) -> u32 {
        let items = u64::from(next - self.next);
        self.sequence += 1;
        let sequence = self.sequence;
        let paced = self.period * items / u64::from(self.total.max(1));
        let gap = match pace {
            Pace::FlatOut => self.pause.min(paced),
            Pace::Paced => paced,
        };
        // Late packets are not caught up: a burst would delay event packets.
        self.due = (self.due + gap).max(now);
        (self.next, self.part) = (next, part);
        if next == self.total {
            self.next = 0;
            self.sequence = 0;
            self.number += 1;
        }
        sequence
    }

    /// Advances over an empty loop of one packet, and returns its sequence number. The next one is
    /// due a period later at any pace, because its content would be the same.
    pub(super) fn advance_empty(&mut self, now: Instant) -> u32 {
        self.due = now + self.period;
        self.number += 1;
        1
    }

    /// Abandons the current loop: the next packet is the first of a new one.
    pub(super) fn restart(&mut self) {
        (self.next, self.part) = (0, 0);
        self.sequence = 0;
        self.number += 1;
    }

    /// Makes the next packet due at once, after a change from paced to flat out.
    pub(super) fn schedule_now(&mut self, now: Instant) {
        self.due = self.due.min(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Duration = Duration::from_millis(100);

    #[test]
    fn spreads_a_loop_over_its_period() {
        let at = |millis| Instant::ZERO + Duration::from_millis(millis);
        let mut pacer = LoopPacer::new(10, PERIOD, at(0));
        assert_eq!(pacer.advance(4, Pace::Paced, at(0)), 1);
        assert_eq!((pacer.due(), pacer.is_at_start()), (at(40), false));
        assert_eq!(pacer.advance(8, Pace::Paced, at(41)), 2);
        assert_eq!(pacer.due(), at(80));
        assert_eq!(pacer.advance(10, Pace::Paced, at(80)), 3);
        assert_eq!((pacer.due(), pacer.number(), pacer.next()), (at(100), 2, 0));
        assert_eq!(pacer.advance(4, Pace::Paced, at(100)), 1);
    }

    #[test]
    fn empty_loop_is_one_packet_per_period() {
        let mut pacer = LoopPacer::new(10, PERIOD, Instant::ZERO);
        let now = Instant::from_nanos(77);
        assert_eq!(pacer.advance_empty(now), 1);
        assert_eq!((pacer.due(), pacer.number()), (now + PERIOD, 2));
        assert!(pacer.is_at_start());
        assert_eq!(pacer.advance(5, Pace::FlatOut, now), 1);
    }

    #[test]
    fn loop_starts_with_a_partial_item() {
        let mut pacer = LoopPacer::new(2, PERIOD, Instant::ZERO);
        assert_eq!(pacer.advance_to((0, 3), Pace::FlatOut, Instant::ZERO), 1);
        assert_eq!((pacer.next(), pacer.part(), pacer.is_at_start()), (0, 3, false));
        assert_eq!(pacer.advance_to((2, 0), Pace::FlatOut, Instant::ZERO), 2);
        assert_eq!((pacer.next(), pacer.part(), pacer.is_at_start()), (0, 0, true));
    }

    #[test]
    fn schedule_now_never_postpones() {
        let at = |millis| Instant::ZERO + Duration::from_millis(millis);
        let mut pacer = LoopPacer::new(10, PERIOD, at(0));
        pacer.advance(4, Pace::Paced, at(0));
        pacer.schedule_now(at(10));
        assert_eq!(pacer.due(), at(10));
        pacer.schedule_now(at(20));
        assert_eq!(pacer.due(), at(10));
    }

    #[test]
    fn skips_missed_packets_after_a_stall() {
        let mut pacer = LoopPacer::new(10, PERIOD, Instant::ZERO);
        let late = Instant::ZERO + Duration::from_secs(5);
        pacer.advance(1, Pace::Paced, late);
        assert_eq!(pacer.due(), late);
    }

    #[test]
    fn rate_limits_a_loop_before_it_is_paced() {
        let at = |micros| Instant::ZERO + Duration::from_micros(micros);
        let mut pacer = LoopPacer::new(10, PERIOD, at(0)).with_rate(Some(2_000));
        pacer.advance(5, Pace::FlatOut, at(0));
        assert_eq!(pacer.due(), at(500));
        pacer.advance(10, Pace::FlatOut, at(500));
        assert_eq!(pacer.due(), at(1_000));
        // The pause is never longer than that of a paced loop.
        let mut pacer = LoopPacer::new(1_000_000, PERIOD, at(0)).with_rate(Some(2_000));
        pacer.advance(10, Pace::FlatOut, at(0));
        assert_eq!(pacer.due(), at(1));
    }

    #[test]
    fn flat_out_has_no_pause() {
        let now = Instant::from_nanos(77);
        let mut pacer = LoopPacer::new(10, PERIOD, now);
        pacer.advance(5, Pace::FlatOut, now);
        assert_eq!(pacer.due(), now);
    }
}
