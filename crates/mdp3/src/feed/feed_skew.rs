//! By how much one side is ahead of the other.
//!
//! One packet in [`SPACING`] is measured: when its first copy came, and when the second did on the
//! other side. Which it is, the second copy of an earlier one decides, so that first copies are
//! not burdened with it: the one to be measured is noted after it has been processed.

use crate::{FeedLine, Packet};

/// How many second copies go by from one measurement to the next.
const SPACING: u32 = 32;

/// By how much side A was ahead of side B, measured on packets that came on both: the time from
/// the first copy to the second, in nanoseconds, positive where A was first.
///
/// The times are those of [`crate::Input::received`] where both copies have one, otherwise those at
/// which they were handed over; copies handed over by one wake then count as simultaneous.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FeedSkew {
    /// Packets measured.
    pub samples: u64,
    /// Packets measured that came first on A.
    pub a_first: u64,
    /// Packets measured that came first on B.
    pub b_first: u64,
    /// The least lead of A; negative: B was ahead by as much at most.
    pub min_ns: i64,
    /// The greatest lead of A.
    pub max_ns: i64,
    sum_ns: i128,
}

impl FeedSkew {
    /// The mean lead of A, `None` if nothing has been measured.
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

/// What is being measured.
#[derive(Debug, Clone, Copy)]
enum Probe {
    /// Nothing.
    Idle,
    /// The next packet that is processed.
    Waiting,
    /// The second copy of this one.
    Open(Packet),
}

#[derive(Debug)]
pub(crate) struct FeedSkewMeter {
    skew: FeedSkew,
    probe: Probe,
    /// The lowest sequence of a second copy that is of interest.
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

    /// Whether the next packet that is processed is to be noted.
    pub(crate) fn is_waiting(&self) -> bool {
        matches!(self.probe, Probe::Waiting)
    }

    /// Whether a second copy may be of interest.
    #[inline]
    pub(crate) fn is_sample_due(&self, sequence: u32) -> bool {
        sequence >= self.next_sample
    }

    /// Notes a first copy, if that is waited for.
    pub(crate) fn record_first_copy(&mut self, packet: &Packet) {
        if self.is_waiting() {
            self.probe = Probe::Open(*packet);
            self.next_sample = packet.sequence;
        }
    }

    /// Takes a second copy that is due. Measures it, or begins the next measurement.
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
            // If one was being measured its second copy was lost.
            Probe::Idle | Probe::Open(_) => {
                self.probe = Probe::Waiting;
                // None, until a first copy is noted.
                self.next_sample = u32::MAX;
            }
        }
    }

    /// The numbering has restarted.
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
    // Two clocks of two cards may disagree: then the second copy came before the first.
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
    fn the_lead_is_positive_where_a_is_first() {
        let mut meter = waiting();
        meter.record_first_copy(&copy(2, FeedLine::A, 100));
        assert!(meter.is_sample_due(2) && !meter.is_sample_due(1));
        meter.record_second_copy(&copy(2, FeedLine::B, 350));
        let skew = meter.skew();
        assert_eq!((skew.samples, skew.a_first, skew.min_ns, skew.max_ns), (1, 1, 250, 250));
        // The next in a while.
        assert!(!meter.is_sample_due(33) && meter.is_sample_due(34));
        meter.record_second_copy(&copy(34, FeedLine::A, 500));
        meter.record_first_copy(&copy(35, FeedLine::B, 600));
        meter.record_second_copy(&copy(35, FeedLine::A, 650));
        let skew = meter.skew();
        assert_eq!((skew.samples, skew.b_first, skew.min_ns, skew.max_ns), (2, 1, -50, 250));
        assert_eq!(skew.mean_ns(), Some(100));
    }

    #[test]
    fn the_same_side_twice_measures_nothing() {
        let mut meter = waiting();
        meter.record_first_copy(&copy(2, FeedLine::A, 100));
        meter.record_second_copy(&copy(2, FeedLine::A, 350));
        assert_eq!((meter.skew().samples, meter.skew().mean_ns()), (0, None));
        meter.record_second_copy(&copy(2, FeedLine::B, 450));
        assert_eq!(meter.skew().max_ns, 350);
    }

    #[test]
    fn a_second_copy_that_was_lost_is_not_waited_for() {
        let mut meter = waiting();
        meter.record_first_copy(&copy(2, FeedLine::A, 100));
        meter.record_second_copy(&copy(3, FeedLine::B, 350));
        assert!(meter.is_waiting());
    }

    #[test]
    fn receive_times_count_where_both_copies_have_them() {
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
