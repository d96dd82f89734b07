//! Whether a whole loop of the instrument or snapshot feed has been seen.
//!
//! Both sides send the same packets, numbered from 1 in each pass of the loop. A pass is known by
//! the SendingTime of its first packet; packets of both sides count toward it together, so that a
//! pass is whole if each of its packets came on either side.

use alloc::vec;
use alloc::vec::Vec;

use hairpin_time::Utc;

use crate::FeedLine;

/// How a packet stands to the current pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PassPosition {
    /// It is the first of a new pass.
    First,
    /// It is another packet of the current pass, or of one whose start was not seen.
    New,
    /// It is of an earlier pass, or has been seen in this one.
    Duplicate,
}

#[derive(Debug, Default, Clone, Copy)]
struct LineState {
    sequence: u32,
    sending_time: Utc,
}

#[derive(Debug)]
pub(crate) struct LoopTracker {
    /// One bit for each packet of the pass.
    seen: Vec<u64>,
    seen_count: u32,
    highest: u32,
    /// Which pass this is; 0 until the first packet 1.
    pass: u32,
    pass_start: Utc,
    /// The start of the current pass was seen, and no packet too far for the bits.
    valid: bool,
    lines: [LineState; 2],
}

impl LoopTracker {
    /// Keeps account of passes of up to `packets` packets.
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

    /// Forgets the current pass: only one that starts from now on will count.
    pub(crate) fn abandon(&mut self) {
        self.valid = false;
        // If it was not what it seemed, no later pass shall be measured by it.
        self.pass_start = Utc::EPOCH;
        self.lines = [LineState::default(); 2];
    }

    /// When the first packet of the current pass was sent.
    pub(crate) fn pass_start(&self) -> Utc {
        self.pass_start
    }

    /// The number of the current pass; marks of what was seen in it carry this.
    pub(crate) fn pass(&self) -> u32 {
        self.pass
    }

    /// Whether the pass began with packet 1 and no packet up to the highest is missing.
    pub(crate) fn is_complete(&self) -> bool {
        self.valid && self.seen_count == self.highest
    }

    /// Whether the pass has more packets than can be kept account of.
    pub(crate) fn is_too_long(&self) -> bool {
        self.highest as usize > self.seen.len() * 64
    }

    /// Takes account of a packet.
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
            // This side is in a later pass, whose start neither side has delivered.
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

    /// A packet for which there is no bit counts only if all before it have been seen.
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
    fn a_pass_seen_from_its_middle_does_not_count() {
        let tracker = trace(&[(A, 2, 2, New), (A, 3, 3, New)]);
        assert!(!tracker.is_complete());
    }

    #[test]
    fn both_sides_together_make_a_pass_whole() {
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
    fn a_packet_missing_on_both_sides_leaves_a_hole() {
        let tracker = trace(&[(A, 1, 1, First), (A, 3, 3, New), (B, 3, 3, Duplicate)]);
        assert!(!tracker.is_complete());
    }

    #[test]
    fn the_next_packet_1_starts_the_next_pass() {
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
    fn a_pass_whose_start_was_lost_spoils_the_one_before() {
        let tracker = trace(&[(A, 1, 1, First), (A, 2, 2, New), (A, 2, 12, New)]);
        assert!(!tracker.is_complete());
    }

    #[test]
    fn an_abandoned_pass_is_no_measure_for_later_ones() {
        let mut tracker = trace(&[(A, 1, 1_000, First)]);
        assert_eq!(tracker.observe(A, 1, Utc::from_nanos(11)), Duplicate);
        tracker.abandon();
        assert_eq!(tracker.observe(A, 1, Utc::from_nanos(21)), First);
        assert!(tracker.is_complete());
    }

    #[test]
    fn a_pass_longer_than_the_account_counts_in_order_alone() {
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
    fn a_pass_longer_than_the_account_with_a_hole_does_not_count() {
        let tracker = trace(&[(A, 1, 1, First), (A, 129, 2, New)]);
        assert!(!tracker.is_complete());
        assert!(tracker.is_too_long());
    }
}
