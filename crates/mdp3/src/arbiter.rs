//! Which packet of the incremental feed is next, when two sides send each of them.
//!
//! Packets are taken by sequence: what was taken is a duplicate, what is ahead waits for the hole
//! to be filled. Sequences of different *epochs* do not compare: numbering restarts each week,
//! after a channel reset, and when a publisher is started again, and the sides need not restart
//! at the same moment. So each side carries the epoch it is in, and a side that has not restarted
//! yet is not listened to.

use hairpin_time::{Duration, Utc};

use crate::Side;

/// What to do with a packet of the incremental feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is the next one.
    Next,
    /// Packets before it are missing.
    Ahead,
    /// It was processed before.
    Duplicate,
    /// Its side is still in the numbering before the restart.
    OlderEpoch,
}

/// A verdict, and whether the packet began a new epoch: then nothing before it counts any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arbitration {
    pub(crate) verdict: Verdict,
    pub(crate) restart: Option<Restart>,
}

/// What is known of the reason for a restart of the numbering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Restart {
    /// A ChannelReset was processed right before: the books are known to be empty.
    AfterReset,
    /// Nothing announced it.
    Unannounced,
}

/// How much later than the first side the other may restart, by SendingTime, before it is taken
/// to have restarted unseen. CME restarts its sides within about a second.
const LONGEST_LAG: Duration = Duration::from_secs(5);

/// How much earlier than the first side's the SendingTime of the other side's restart may be.
const CLOCK_SKEW: Duration = Duration::from_secs(1);

/// How far a sequence must fall to be a restart if it is not 1 and no reset preceded: farther
/// than a network reorders packets.
const RESTART_DISTANCE: u32 = 64;

#[derive(Debug, Default, Clone, Copy)]
struct SideState {
    seen: bool,
    epoch: u32,
    /// The highest sequence in this epoch, and the latest SendingTime.
    sequence: u32,
    sending_time: Utc,
}

#[derive(Debug, Default)]
pub(crate) struct Arbiter {
    /// The next sequence; meaningless until `started`.
    expected: u32,
    started: bool,
    epoch: u32,
    epoch_began: Utc,
    /// The sequence of a ChannelReset, until a later packet of the same numbering is processed.
    reset_at: Option<u32>,
    sides: [SideState; 2],
}

impl Arbiter {
    /// The sequence that comes next.
    pub(crate) fn expected(&self) -> u32 {
        self.expected
    }

    /// The SendingTime of the first packet of the current numbering, if it has ever restarted.
    pub(crate) fn epoch_began(&self) -> Utc {
        self.epoch_began
    }

    /// Judges a packet by its header. Changes nothing but what is known of its side, and the
    /// expected sequence if the numbering starts or restarts.
    #[inline]
    pub(crate) fn judge(&mut self, side: Side, sequence: u32, sending_time: Utc) -> Arbitration {
        let state = &mut self.sides[side as usize];
        let in_order = state.epoch == self.epoch && sequence > state.sequence && state.seen;
        let restart = if in_order { None } else { self.settle_epoch(side, sequence, sending_time) };
        let state = &mut self.sides[side as usize];
        state.sequence = state.sequence.max(sequence);
        state.sending_time = state.sending_time.max(sending_time);
        Arbitration { verdict: self.place(side, sequence), restart }
    }

    #[inline]
    fn place(&self, side: Side, sequence: u32) -> Verdict {
        if self.sides[side as usize].epoch != self.epoch {
            return Verdict::OlderEpoch;
        }
        match sequence.cmp(&self.expected) {
            core::cmp::Ordering::Equal => Verdict::Next,
            core::cmp::Ordering::Greater => Verdict::Ahead,
            core::cmp::Ordering::Less => Verdict::Duplicate,
        }
    }

    /// Notes that everything before `expected` has been processed or given up.
    #[inline]
    pub(crate) fn advance_to(&mut self, expected: u32) {
        self.expected = expected;
        if self.reset_at.is_some_and(|reset_at| expected > reset_at.saturating_add(1)) {
            self.reset_at = None;
        }
    }

    /// Notes a ChannelReset in the packet `sequence`: the numbering may restart after it.
    pub(crate) fn note_reset(&mut self, sequence: u32) {
        self.reset_at = Some(sequence);
    }

    /// Finds the epoch of a side whose packet is its first, or not above its last.
    #[cold]
    fn settle_epoch(&mut self, side: Side, sequence: u32, sending_time: Utc) -> Option<Restart> {
        let state = self.sides[side as usize];
        if !self.started {
            self.started = true;
            self.expected = sequence;
        }
        if state.seen && self.is_restart(state, sequence, sending_time) {
            return self.restart(side, sequence, sending_time);
        }
        let is_current = state.epoch == self.epoch
            || sending_time > self.epoch_began + LONGEST_LAG
            || (!state.seen && self.epoch == 0);
        if is_current && state.epoch != self.epoch {
            self.sides[side as usize].sequence = 0;
            self.sides[side as usize].epoch = self.epoch;
        }
        self.sides[side as usize].seen = true;
        None
    }

    /// A sequence that was passed, in a packet sent later: the numbering has restarted, unless
    /// the fall is so small that the publisher's clock may have stepped amid reordered packets.
    fn is_restart(&self, state: SideState, sequence: u32, sending_time: Utc) -> bool {
        let after_reset = self.reset_at.is_some_and(|reset_at| state.sequence >= reset_at);
        sequence <= state.sequence
            && sending_time > state.sending_time
            && (sequence == 1 || after_reset || state.sequence - sequence >= RESTART_DISTANCE)
    }

    /// The side restarts: either into a new epoch, or into the one the other side has begun.
    fn restart(&mut self, side: Side, sequence: u32, sending_time: Utc) -> Option<Restart> {
        let leads = self.sides[side as usize].epoch == self.epoch;
        let follows = !leads && sending_time + CLOCK_SKEW >= self.epoch_began;
        if leads {
            self.epoch += 1;
            self.epoch_began = sending_time;
            self.expected = 1;
        }
        let state = &mut self.sides[side as usize];
        if leads || follows {
            state.epoch = self.epoch;
        }
        state.sequence = sequence;
        match (leads, self.reset_at.is_some()) {
            (false, _) => None,
            (true, true) => {
                self.reset_at = None;
                Some(Restart::AfterReset)
            }
            (true, false) => Some(Restart::Unannounced),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Side::{A, B};
    use Verdict::{Ahead, Duplicate, Next, OlderEpoch};

    /// Drives an arbiter with `side sequence @ seconds`, processing whatever is next.
    #[derive(Default)]
    struct Trace {
        arbiter: Arbiter,
        restarts: u32,
    }

    impl Trace {
        #[track_caller]
        fn packet(&mut self, side: Side, sequence: u32, second: u64, verdict: Verdict) {
            let time = Utc::from_nanos(second * 1_000_000_000);
            let arbitration = self.arbiter.judge(side, sequence, time);
            assert_eq!(arbitration.verdict, verdict, "{side}{sequence} at {second} s");
            self.restarts += u32::from(arbitration.restart == Some(Restart::Unannounced));
            if verdict == Next {
                self.arbiter.advance_to(sequence + 1);
            }
        }

        #[track_caller]
        fn reset(&mut self, side: Side, sequence: u32, second: u64) {
            self.packet(side, sequence, second, Next);
            self.arbiter.note_reset(sequence);
        }
    }

    #[test]
    fn the_second_copy_is_a_duplicate_whichever_side_leads() {
        let mut trace = Trace::default();
        trace.packet(A, 7, 1, Next);
        trace.packet(B, 7, 1, Duplicate);
        trace.packet(B, 8, 2, Next);
        trace.packet(A, 8, 2, Duplicate);
    }

    #[test]
    fn a_packet_beyond_the_next_is_ahead_until_the_hole_is_filled() {
        let mut trace = Trace::default();
        trace.packet(A, 1, 1, Next);
        trace.packet(A, 3, 3, Ahead);
        trace.packet(B, 1, 1, Duplicate);
        trace.packet(B, 2, 2, Next);
        trace.packet(B, 3, 3, Next);
    }

    #[test]
    fn an_old_packet_that_comes_late_is_no_restart() {
        let mut trace = Trace::default();
        trace.packet(A, 100, 100, Next);
        trace.packet(A, 101, 101, Next);
        trace.packet(A, 1, 1, Duplicate);
        trace.packet(A, 102, 102, Next);
        trace.packet(A, 100, 103, Duplicate);
        assert_eq!(trace.restarts, 0);
    }

    #[test]
    fn both_sides_restart_without_a_reset() {
        let mut trace = Trace::default();
        trace.packet(A, 900, 10, Next);
        trace.packet(B, 900, 10, Duplicate);
        trace.packet(A, 1, 20, Next);
        trace.packet(B, 1, 20, Duplicate);
        trace.packet(A, 2, 21, Next);
        trace.packet(B, 2, 21, Duplicate);
        trace.packet(B, 3, 22, Next);
        assert_eq!(trace.restarts, 1);
    }

    #[test]
    fn a_side_that_has_not_restarted_is_not_listened_to() {
        let mut trace = Trace::default();
        trace.packet(A, 10, 10, Next);
        trace.packet(B, 10, 10, Duplicate);
        trace.packet(A, 1, 11, Next);
        trace.packet(B, 11, 11, OlderEpoch);
        trace.packet(B, 2, 9, OlderEpoch);
        trace.packet(A, 2, 12, Next);
        trace.packet(B, 1, 12, Duplicate);
        trace.packet(B, 3, 13, Next);
    }

    #[test]
    fn a_reset_after_which_numbering_continues_is_no_restart() {
        let mut trace = Trace::default();
        trace.packet(A, 9, 9, Next);
        trace.packet(B, 9, 9, Duplicate);
        trace.reset(A, 10, 10);
        trace.packet(A, 11, 11, Next);
        trace.packet(B, 10, 10, Duplicate);
        trace.packet(B, 12, 12, Next);
        trace.packet(A, 12, 12, Duplicate);
        assert_eq!(trace.arbiter.epoch, 0);
    }

    #[test]
    fn a_restart_after_a_reset_is_announced_even_if_the_first_packets_are_lost() {
        let mut trace = Trace::default();
        trace.packet(A, 9, 9, Next);
        trace.packet(B, 9, 9, Duplicate);
        trace.reset(A, 10, 10);
        trace.packet(A, 3, 11, Ahead);
        trace.packet(B, 10, 11, OlderEpoch);
        trace.packet(B, 1, 12, Next);
        trace.packet(B, 2, 12, Next);
        assert_eq!((trace.arbiter.epoch, trace.restarts), (1, 0));
    }

    #[test]
    fn a_side_that_restarted_unseen_is_heard_again_after_the_longest_lag() {
        let mut trace = Trace::default();
        trace.packet(A, 10, 10, Next);
        trace.packet(B, 10, 10, Duplicate);
        trace.packet(A, 1, 20, Next);
        trace.packet(B, 2, 21, OlderEpoch);
        trace.packet(B, 2, 26, Next);
    }

    #[test]
    fn a_side_first_heard_after_a_restart_may_still_be_in_the_old_numbering() {
        let mut trace = Trace::default();
        trace.packet(A, 10, 10, Next);
        trace.packet(A, 1, 20, Next);
        trace.packet(B, 11, 20, OlderEpoch);
        trace.packet(B, 1, 21, Duplicate);
        trace.packet(B, 2, 21, Next);
    }
}
