//! What is known of one side of the incremental feed.

use core::cmp::Ordering;

use hairpin_time::{Duration, Utc};

use super::{MAX_CONFIRM_STEP, Verdict};
use crate::PacketHeader;

/// How much later than the first side the other may restart, by SendingTime, before it is taken
/// to have restarted unseen. CME restarts its sides within about a second.
pub(super) const MAX_LINE_LAG: Duration = Duration::from_secs(5);

/// Where one side is.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct LineState {
    pub(super) seen: bool,
    pub(super) epoch: u32,
    /// The highest sequence in this epoch, and the SendingTime of its packet.
    pub(super) sequence: u32,
    pub(super) sending_time: Utc,
    /// The highest sequence in this epoch that is known to have been sent before that.
    pub(super) earlier_sequence: u32,
    /// The last time that sequences were left out: from where to where.
    pub(super) jumped_from: u32,
    pub(super) jumped_to: u32,
    /// Where the side was when it last restarted.
    pub(super) previous: PreviousEpoch,
}

/// The end of a side's numbering, as in [`LineState`], and what began the next one.
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
    /// Whether a packet was sent before the one that showed the restart, and yet has a higher
    /// number: it is of the numbering before, though it has come behind.
    fn is_late(self, header: PacketHeader) -> bool {
        header.sequence > self.restarted_at
            && header.sending_time < self.restarted
            && header.sending_time + MAX_LINE_LAG > self.restarted
    }
}

impl LineState {
    /// Whether the packet's sequence was passed before it was sent: its numbering is another.
    pub(super) fn starts_new_numbering(self, header: PacketHeader) -> bool {
        match header.sending_time.cmp(&self.sending_time) {
            Ordering::Less => false,
            Ordering::Equal => header.sequence <= self.earlier_sequence,
            Ordering::Greater => {
                header.sequence <= self.sequence && !self.resumes_after_stray(header)
            }
        }
    }

    /// Whether the packet is number 1, right behind the ChannelReset `reset_at` and of the same
    /// time. It could be a copy of an old packet 1 only if all the numbering were of that time.
    pub(super) fn follows_reset(self, header: PacketHeader, reset_at: Option<u32>) -> bool {
        header.sequence == 1
            && header.sending_time == self.sending_time
            && reset_at == Some(self.sequence)
    }

    /// What becomes of a packet of the numbering that the side has left, come late: it is dropped.
    /// One of the very time of the restart may be of either numbering, so that this is told.
    /// `previous_reset` is the ChannelReset that ended it, if one is known.
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
            // However well its number goes on. A clock that was set back since is another matter.
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

    /// Whether a packet was sent with the one that showed the restart, and goes on where the
    /// numbering before was left, while the new one is far from there.
    fn may_be_late(self, header: PacketHeader) -> bool {
        let PreviousEpoch { sequence, restarted, .. } = self.previous;
        header.sending_time == restarted
            && sequence > self.sequence
            && header.sequence > sequence
            && header.sequence - sequence <= MAX_CONFIRM_STEP
    }

    /// Notes the packet as the side's last.
    pub(super) fn advance_to(&mut self, header: PacketHeader) {
        let PacketHeader { sequence, sending_time } = header;
        self.earlier_sequence = match sending_time.cmp(&self.sending_time) {
            Ordering::Equal => self.earlier_sequence,
            Ordering::Greater if sequence > self.sequence => self.sequence,
            _ => 0,
        };
        (self.sequence, self.sending_time) = (sequence, sending_time);
    }

    /// Whether the last packet jumped and this one goes on from before: then that was a stray.
    pub(super) fn resumes_after_stray(self, header: PacketHeader) -> bool {
        self.sequence == self.jumped_to
            && header.sequence > self.jumped_from
            && header.sequence < self.jumped_to
            && header.sending_time > self.sending_time
    }
}
