//! Tracks whether a complete pass of the instrument or snapshot loop was received.
//!
//! Both lines send the same packets, numbered from 1 in each pass of the loop. The SendingTime of
//! its first packet identifies a pass. Packets of both lines count together: a pass is complete if
//! each packet arrived on either line.

use alloc::vec;
use alloc::vec::Vec;

use hairpin_time::Utc;

use crate::FeedLine;

/// The position of a packet in the current pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PassPosition {
    /// The first packet of a new pass.
    First,
    /// Another packet of the current pass, or of a pass whose start was not received.
    New,
    /// A packet of an earlier pass, or one already received in this pass.
    Duplicate,
}

#[derive(Debug, Default, Clone, Copy)]
struct LineState {
    sequence: u32,
    sending_time: Utc,
}

#[derive(Debug)]
pub(crate) struct LoopTracker {
    /// The received packets of the pass, one bit each.
    seen: Vec<u64>,
    seen_count: u32,
    highest: u32,
    /// The number of the current pass; 0 before the first packet 1.
    pass: u32,
    pass_start: Utc,
    /// The start of the current pass was received, and no packet beyond the bitmap out of order.
    valid: bool,
    lines: [LineState; 2],
}

impl LoopTracker {
    /// Creates a tracker for passes of up to `packets` packets.
    pub(crate) fn new(packets: usize) -> Self {
        Self {
            seen: vec![0; packets.div_ceil(64)],
            seen_count: 0,
            highest: 0,
            pass: 0,
            pass_start: Utc::EPOCH,
            valid: false,
            lines: [LineState::default(); 2],
        }
    }

    /// Discards the current pass. Only a pass that starts after this call counts.
    pub(crate) fn abandon(&mut self) {
        self.valid = false;
        // A pass with a wrong start time must not invalidate later passes.
        self.pass_start = Utc::EPOCH;
        self.lines = [LineState::default(); 2];
    }

    /// Returns the SendingTime of the first packet of the current pass.
    pub(crate) fn pass_start(&self) -> Utc {
        self.pass_start
    }

    /// Returns the number of the current pass. Marks on what the pass named carry this number.
    pub(crate) fn pass(&self) -> u32 {
        self.pass
    }

    /// Returns `true` if the pass began with packet 1 and no packet up to the highest is missing.
    pub(crate) fn is_complete(&self) -> bool {
        self.valid && self.seen_count == self.highest
    }

    /// Returns `true` if the pass has more packets than the bitmap.
    pub(crate) fn is_too_long(&self) -> bool {
        self.highest as usize > self.seen.len() * 64
    }

    /// Records a packet and returns its position.
    pub(crate) fn observe(
        &mut self,
        line: FeedLine,
        sequence: u32,
        sending_time: Utc,
    ) -> PassPosition {
        let state = &mut self.lines[line as usize];
        let wrapped = sequence <= state.sequence && sending_time > state.sending_time;
        if sending_time >= state.sending_time {
            *state = LineState { sequence, sending_time };
        }
        if sequence == 1 && sending_time > self.pass_start {
            self.start(sending_time);
            return PassPosition::First;
        }
        if sending_time < self.pass_start {
            return PassPosition::Duplicate;
        }
        if wrapped && sequence > 1 && self.was_seen(sequence) {
            // This line is in a later pass, whose start neither line delivered.
            self.valid = false;
        }
        if !self.valid {
            return PassPosition::New;
        }
        self.mark(sequence)
    }

    fn start(&mut self, sending_time: Utc) {
        self.seen.fill(0);
        (self.seen_count, self.highest) = (0, 0);
        self.pass = self.pass.wrapping_add(1).max(1);
        self.pass_start = sending_time;
        self.valid = true;
        self.mark(1);
    }

    fn mark(&mut self, sequence: u32) -> PassPosition {
        self.highest = self.highest.max(sequence);
        let bit = sequence.wrapping_sub(1) as usize;
        let Some(word) = self.seen.get_mut(bit / 64) else { return self.count_in_order(sequence) };
        if *word >> (bit % 64) & 1 == 1 {
            return PassPosition::Duplicate;
        }
        *word |= 1 << (bit % 64);
        self.seen_count += 1;
        PassPosition::New
    }

    /// Counts a packet beyond the bitmap. Such a packet counts only if all before it were received.
    fn count_in_order(&mut self, sequence: u32) -> PassPosition {
        if sequence <= self.seen_count {
            return PassPosition::Duplicate;
        }
        if sequence == self.seen_count + 1 {
            self.seen_count = sequence;
        } else {
            self.valid = false;
        }
        PassPosition::New
    }

    fn was_seen(&self, sequence: u32) -> bool {
        let bit = sequence.wrapping_sub(1) as usize;
        self.seen.get(bit / 64).is_some_and(|word| *word >> (bit % 64) & 1 == 1)
    }
}

/// Detects a whole pass by its repetition, whatever TotNumReports (911) counts.
///
/// A pass from packet 1 to the next packet 1 without a gap may still not be whole: its last packets
/// may be lost, or, if the next packet 1 is lost, packets of the next pass continue it. A pass is
/// whole if the one before it had no gap and the same reports.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct WholePass {
    reports: Reports,
    /// The reports of the last pass, if it had no gap.
    before: Option<Reports>,
}

/// The number of reports, and a sum over their instruments.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Reports {
    count: u32,
    sum: u64,
}

impl WholePass {
    /// Counts a report of an instrument, repeated ones too.
    pub(crate) fn count(&mut self, security_id: i32) {
        /// An odd number, so that different instruments rarely have the same sum.
        const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
        let Reports { count, sum } = &mut self.reports;
        *count += 1;
        let mixed = (security_id as u64).wrapping_mul(FACTOR);
        *sum = sum.wrapping_add(mixed ^ mixed >> 32);
    }

    /// Ends the pass. Returns `true` if it was whole and had at least `total` reports.
    pub(crate) fn end(&mut self, was_gapless: bool, total: u32) -> bool {
        let reports = core::mem::take(&mut self.reports);
        let before = core::mem::replace(&mut self.before, was_gapless.then_some(reports));
        was_gapless && reports.count >= total.max(1) && before == Some(reports)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use FeedLine::{A, B};
    use PassPosition::{Duplicate, First, New};

    fn trace(packets: &[(FeedLine, u32, u64, PassPosition)]) -> LoopTracker {
        let mut tracker = LoopTracker::new(128);
        for &(line, sequence, time, position) in packets {
            let observed = tracker.observe(line, sequence, Utc::from_nanos(time));
            assert_eq!(observed, position, "{line}{sequence} at {time}");
        }
        tracker
    }

    #[test]
    fn partial_pass_is_incomplete() {
        let tracker = trace(&[(A, 2, 2, New), (A, 3, 3, New)]);
        assert!(!tracker.is_complete());
    }

    #[test]
    fn both_lines_complete_pass() {
        let tracker = trace(&[
            (A, 1, 1, First),
            (B, 1, 1, Duplicate),
            (A, 3, 3, New),
            (B, 2, 2, New),
            (B, 3, 3, Duplicate),
        ]);
        assert!(tracker.is_complete());
    }

    #[test]
    fn loss_on_both_lines_leaves_pass_incomplete() {
        let tracker = trace(&[(A, 1, 1, First), (A, 3, 3, New), (B, 3, 3, Duplicate)]);
        assert!(!tracker.is_complete());
    }

    #[test]
    fn next_packet_1_starts_next_pass() {
        let tracker = trace(&[
            (A, 1, 1, First),
            (A, 3, 3, New),
            (A, 1, 11, First),
            (B, 3, 3, Duplicate),
            (B, 1, 11, Duplicate),
            (A, 2, 12, New),
        ]);
        assert!(tracker.is_complete());
        assert_eq!(tracker.pass(), 2);
    }

    #[test]
    fn lost_start_invalidates_previous_pass() {
        let tracker = trace(&[(A, 1, 1, First), (A, 2, 2, New), (A, 2, 12, New)]);
        assert!(!tracker.is_complete());
    }

    #[test]
    fn abandoned_pass_does_not_affect_later_ones() {
        let mut tracker = trace(&[(A, 1, 1_000, First)]);
        assert_eq!(tracker.observe(A, 1, Utc::from_nanos(11)), Duplicate);
        tracker.abandon();
        assert_eq!(tracker.observe(A, 1, Utc::from_nanos(21)), First);
        assert!(tracker.is_complete());
    }

    #[test]
    fn long_pass_counts_in_order_only() {
        let mut tracker = trace(&[(A, 1, 1, First)]);
        for sequence in 2..=200 {
            let time = Utc::from_nanos(u64::from(sequence));
            assert_eq!(tracker.observe(A, sequence, time), New);
            assert_eq!(tracker.observe(B, sequence, time), Duplicate);
        }
        assert!(tracker.is_complete() && tracker.is_too_long());
        assert_eq!(tracker.observe(A, 202, Utc::from_nanos(202)), New);
        assert_eq!(tracker.observe(B, 201, Utc::from_nanos(201)), New);
        assert!(!tracker.is_complete());
    }

    #[test]
    fn pass_is_whole_when_repeated_without_a_gap() {
        let mut pass = WholePass::default();
        let mut end = |ids: &[i32], was_gapless, total| {
            ids.iter().for_each(|&id| pass.count(id));
            pass.end(was_gapless, total)
        };
        assert!(!end(&[7, 8, 9], true, 3), "packets of another pass may have continued it");
        assert!(end(&[8, 7, 9], true, 3));
        assert!(!end(&[7, 8, 8], true, 3), "other reports");
        assert!(!end(&[7, 8, 8], false, 3), "with a gap");
        assert!(!end(&[7, 8], true, 3), "the last packets may be lost");
        assert!(!end(&[7, 8], true, 3), "fewer than stated");
        assert!(end(&[7, 8], true, 0));
        assert!(!end(&[], true, 0) && !end(&[], true, 0));
    }

    #[test]
    fn long_pass_with_gap_is_incomplete() {
        let tracker = trace(&[(A, 1, 1, First), (A, 129, 2, New)]);
        assert!(!tracker.is_complete());
        assert!(tracker.is_too_long());
    }
}
