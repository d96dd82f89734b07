//! The arbitration state of one line of the incremental feed.

use core::cmp::Ordering;

use hairpin_time::{Duration, Utc};

use super::{MAX_CONFIRM_STEP, Verdict};
use crate::PacketHeader;

/// The longest delay, by SendingTime, of the second line's restart. A line still in the old epoch
/// after it is taken to have restarted unseen. CME restarts both lines within about a second.
pub(super) const MAX_LINE_LAG: Duration = Duration::from_secs(5);

/// The position of one line.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct LineState {
    pub(super) seen: bool,
    pub(super) epoch: u32,
    /// The highest sequence in this epoch, and the SendingTime of its packet.
    pub(super) sequence: u32,
    pub(super) sending_time: Utc,
    /// The highest sequence in this epoch sent before `sending_time`.
    pub(super) earlier_sequence: u32,
    /// The last jump in sequence: from and to.
    pub(super) jumped_from: u32,
    pub(super) jumped_to: u32,
    /// The position when the line last restarted.
    pub(super) previous: PreviousEpoch,
}

/// The end of a line's previous epoch (fields as in [`LineState`]), and the packet that started the
/// next.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct PreviousEpoch {
    pub(super) sequence: u32,
    pub(super) sending_time: Utc,
    pub(super) earlier_sequence: u32,
    /// The packet that showed the restart.
    pub(super) restarted_at: u32,
    pub(super) restarted: Utc,
}

impl PreviousEpoch {
    /// Returns `true` if a packet was sent before the one that showed the restart but has a higher
    /// number. It belongs to the previous epoch and arrived late.
    fn is_late(self, header: PacketHeader) -> bool {
        header.sequence > self.restarted_at
            && header.sending_time < self.restarted
            && header.sending_time + MAX_LINE_LAG > self.restarted
    }
}

impl LineState {
    /// Returns `true` if the packet's number was passed before it was sent, so it belongs to
    /// another epoch.
    pub(super) fn starts_new_numbering(self, header: PacketHeader) -> bool {
        match header.sending_time.cmp(&self.sending_time) {
            Ordering::Less => false,
            Ordering::Equal => header.sequence <= self.earlier_sequence || self.wraps_at(header),
            Ordering::Greater => {
                header.sequence <= self.sequence && !self.resumes_after_stray(header)
            }
        }
    }

    /// Returns `true` if this packet follows that with the highest number. CME's numbers are from
    /// 1; a counter of 32 bits continues at 0.
    pub(super) fn wraps_at(self, header: PacketHeader) -> bool {
        self.sequence == u32::MAX && header.sequence <= 1
    }

    /// Returns `true` if this is packet 1 directly after the ChannelReset `reset_at`, with the same
    /// SendingTime. It could be a copy of an old packet 1 only if the whole epoch had that time.
    pub(super) fn follows_reset(self, header: PacketHeader, reset_at: Option<u32>) -> bool {
        header.sequence == 1
            && header.sending_time == self.sending_time
            && reset_at == Some(self.sequence)
    }

    /// Returns the verdict on a late packet of the previous epoch: dropped. A packet with the exact
    /// time of the restart may belong to either epoch and is suspect. `previous_reset` is the
    /// ChannelReset that ended the previous epoch, if known.
    pub(super) fn previous_epoch_verdict(
        self,
        header: PacketHeader,
        previous_reset: Option<u32>,
    ) -> Option<Verdict> {
        if self.previous.is_late(header) {
            return Some(Verdict::Duplicate);
        }
        if self.may_be_late(header)
            && previous_reset.is_none_or(|previous_reset| header.sequence <= previous_reset)
        {
            return Some(Verdict::Suspect);
        }
        let PreviousEpoch { sequence, sending_time, earlier_sequence, .. } = self.previous;
        let is_next = header.sequence == self.sequence.wrapping_add(1);
        match header.sending_time.cmp(&sending_time) {
            // Even if its number is the next. A clock set back by more than `MAX_LINE_LAG` is a
            // different case.
            Ordering::Less if header.sending_time + MAX_LINE_LAG > sending_time => {
                Some(Verdict::Duplicate)
            }
            _ if is_next => None,
            Ordering::Equal
                if header.sequence > earlier_sequence && header.sequence <= sequence =>
            {
                Some(Verdict::Suspect)
            }
            _ => None,
        }
    }

    /// Returns `true` if a packet has the time of the restart and continues the previous epoch,
    /// while the new epoch is far from that number.
    fn may_be_late(self, header: PacketHeader) -> bool {
        let PreviousEpoch { sequence, restarted, .. } = self.previous;
        header.sending_time == restarted
            && sequence > self.sequence
            && header.sequence > sequence
            && header.sequence - sequence <= MAX_CONFIRM_STEP
    }

    /// Records the packet as the last of its line.
    pub(super) fn advance_to(&mut self, header: PacketHeader) {
        let PacketHeader { sequence, sending_time } = header;
        self.earlier_sequence = match sending_time.cmp(&self.sending_time) {
            Ordering::Equal => self.earlier_sequence,
            Ordering::Greater if sequence > self.sequence => self.sequence,
            _ => 0,
        };
        (self.sequence, self.sending_time) = (sequence, sending_time);
    }

    /// Returns `true` if the line jumped and this packet continues from before the jump, so the
    /// jump was a stray.
    pub(super) fn resumes_after_stray(self, header: PacketHeader) -> bool {
        self.sequence == self.jumped_to
            && header.sequence > self.jumped_from
            && header.sequence < self.jumped_to
            && header.sending_time > self.sending_time
    }
}
