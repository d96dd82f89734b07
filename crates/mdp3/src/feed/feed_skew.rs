//! The time by which one line is ahead of the other.
//!
//! The meter samples one packet in [`SPACING`]: the arrival of its first copy, and of the second
//! copy on the other line. The second copy of an earlier packet triggers a sample, so that first
//! copies cost nothing extra: the sampled packet is recorded after it was processed.

use crate::{FeedLine, Packet};

/// The number of second copies from one sample to the next.
const SPACING: u32 = 32;

/// The lead of line A over line B, sampled on packets that arrived on both: the time from the first
/// copy to the second in nanoseconds, positive where A was first.
///
/// The times are [`crate::Input::received`] where both copies have one, otherwise the times when
/// they were passed to the channel. Copies of one wakeup then count as simultaneous.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FeedSkew {
    /// The number of sampled packets.
    pub samples: u64,
    /// The number of sampled packets that arrived first on A.
    pub a_first: u64,
    /// The number of sampled packets that arrived first on B.
    pub b_first: u64,
    /// The smallest lead of A. A negative value is the largest lead of B.
    pub min_ns: i64,
    /// The largest lead of A.
    pub max_ns: i64,
    sum_ns: i128,
}

impl FeedSkew {
    /// Returns the mean lead of A, or `None` without samples.
    #[must_use]
    pub fn mean_ns(&self) -> Option<i64> {
        let mean = self.sum_ns.checked_div(i128::from(self.samples))?;
        i64::try_from(mean).ok()
    }

    fn add(&mut self, first: FeedLine, skew_ns: i64) {
        if self.samples == 0 {
            (self.min_ns, self.max_ns) = (skew_ns, skew_ns);
        }
        self.samples += 1;
        *match first {
            FeedLine::A => &mut self.a_first,
            FeedLine::B => &mut self.b_first,
        } += 1;
        (self.min_ns, self.max_ns) = (self.min_ns.min(skew_ns), self.max_ns.max(skew_ns));
        self.sum_ns += i128::from(skew_ns);
    }
}

/// The packet being sampled.
#[derive(Debug, Clone, Copy)]
enum Probe {
    /// No sample is in progress.
    Idle,
    /// The next processed packet is sampled.
    Waiting,
    /// This packet was recorded; its second copy is outstanding.
    Open(Packet),
}

#[derive(Debug)]
pub(crate) struct FeedSkewMeter {
    skew: FeedSkew,
    probe: Probe,
    /// The lowest sequence of a second copy to examine.
    next_sample: u32,
}

impl FeedSkewMeter {
    pub(crate) const fn new() -> Self {
        let skew = FeedSkew { samples: 0, a_first: 0, b_first: 0, min_ns: 0, max_ns: 0, sum_ns: 0 };
        Self { skew, probe: Probe::Idle, next_sample: 0 }
    }

    pub(crate) fn skew(&self) -> FeedSkew {
        self.skew
    }

    /// Returns `true` if the next processed packet is to be recorded.
    pub(crate) fn is_waiting(&self) -> bool {
        matches!(self.probe, Probe::Waiting)
    }

    /// Returns `true` if a second copy of this sequence is to be examined.
    #[inline]
    pub(crate) fn is_sample_due(&self, sequence: u32) -> bool {
        sequence >= self.next_sample
    }

    /// Records a first copy, if one is awaited.
    pub(crate) fn record_first_copy(&mut self, packet: &Packet) {
        if self.is_waiting() {
            self.probe = Probe::Open(*packet);
            self.next_sample = packet.sequence;
        }
    }

    /// Records a second copy that is due: completes the sample or starts the next.
    #[cold]
    pub(crate) fn record_second_copy(&mut self, packet: &Packet) {
        match self.probe {
            Probe::Waiting => {}
            Probe::Open(first) if first.sequence == packet.sequence => {
                if first.line != packet.line {
                    self.skew.add(first.line, signed(&first, elapsed_ns(&first, packet)));
                    self.probe = Probe::Idle;
                    self.next_sample = packet.sequence.saturating_add(SPACING);
                }
            }
            // The second copy of a packet being sampled was lost.
            Probe::Idle | Probe::Open(_) => {
                self.probe = Probe::Waiting;
                // No second copy before a first copy is recorded.
                self.next_sample = u32::MAX;
            }
        }
    }

    /// Discards the sample in progress because packet numbering restarted.
    pub(crate) fn restart(&mut self) {
        self.probe = Probe::Idle;
        self.next_sample = 0;
    }
}

fn elapsed_ns(first: &Packet, second: &Packet) -> i64 {
    let (earlier, later) = match (first.received, second.received) {
        (Some(first), Some(second)) => (first.as_nanos(), second.as_nanos()),
        _ => (first.handed_over.as_nanos(), second.handed_over.as_nanos()),
    };
    // The clocks of two network cards may disagree, so that the second copy appears earlier.
    later.wrapping_sub(earlier).cast_signed()
}

fn signed(first: &Packet, elapsed_ns: i64) -> i64 {
    match first.line {
        FeedLine::A => elapsed_ns,
        FeedLine::B => elapsed_ns.saturating_neg(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairpin_time::{Instant, Utc};

    fn copy(sequence: u32, line: FeedLine, nanos: u64) -> Packet {
        let handed_over = Instant::from_nanos(nanos);
        Packet { line, handed_over, ..Packet::with_sequence(sequence) }
    }

    /// A meter that waits for a first copy.
    fn waiting() -> FeedSkewMeter {
        let mut meter = FeedSkewMeter::new();
        meter.record_second_copy(&copy(1, FeedLine::B, 0));
        assert!(meter.is_waiting());
        meter
    }

    #[test]
    fn skew_is_positive_when_a_leads() {
        let mut meter = waiting();
        meter.record_first_copy(&copy(2, FeedLine::A, 100));
        assert!(meter.is_sample_due(2) && !meter.is_sample_due(1));
        meter.record_second_copy(&copy(2, FeedLine::B, 350));
        let skew = meter.skew();
        assert_eq!((skew.samples, skew.a_first, skew.min_ns, skew.max_ns), (1, 1, 250, 250));
        // The next sample follows after `SPACING` packets.
        assert!(!meter.is_sample_due(33) && meter.is_sample_due(34));
        meter.record_second_copy(&copy(34, FeedLine::A, 500));
        meter.record_first_copy(&copy(35, FeedLine::B, 600));
        meter.record_second_copy(&copy(35, FeedLine::A, 650));
        let skew = meter.skew();
        assert_eq!((skew.samples, skew.b_first, skew.min_ns, skew.max_ns), (2, 1, -50, 250));
        assert_eq!(skew.mean_ns(), Some(100));
    }

    #[test]
    fn ignores_duplicate_on_same_line() {
        let mut meter = waiting();
        meter.record_first_copy(&copy(2, FeedLine::A, 100));
        meter.record_second_copy(&copy(2, FeedLine::A, 350));
        assert_eq!((meter.skew().samples, meter.skew().mean_ns()), (0, None));
        meter.record_second_copy(&copy(2, FeedLine::B, 450));
        assert_eq!(meter.skew().max_ns, 350);
    }

    #[test]
    fn starts_over_after_lost_second_copy() {
        let mut meter = waiting();
        meter.record_first_copy(&copy(2, FeedLine::A, 100));
        meter.record_second_copy(&copy(3, FeedLine::B, 350));
        assert!(meter.is_waiting());
    }

    #[test]
    fn uses_receive_times_of_both_copies() {
        let mut meter = waiting();
        let received = |nanos| Some(Utc::from_nanos(nanos));
        meter.record_first_copy(&Packet { received: received(1_000), ..copy(2, FeedLine::A, 100) });
        meter
            .record_second_copy(&Packet { received: received(1_007), ..copy(2, FeedLine::B, 100) });
        assert_eq!(meter.skew().max_ns, 7);
        let mut meter = waiting();
        meter.record_first_copy(&Packet { received: received(1_000), ..copy(2, FeedLine::A, 100) });
        meter.record_second_copy(&copy(2, FeedLine::B, 103));
        assert_eq!(meter.skew().max_ns, 3);
    }
}
