//! Messages of ours that are sent again, and the Sequence that moves the exchange past others.

use hairpin_cme_codecs::ilink3::{KeepAliveLapsed, Sequence506};
use hairpin_sbe::EncodeError;
use hairpin_time::{Duration, Instant, Now};

use crate::reassembly::{FRAMING_HEADER_LENGTH, write_framing_header};
use crate::sender::Outbound;
use crate::{Delivery, OutboundError, OutboundSink};

/// How long after an outlet had no room the rest of a replay is tried again.
const RETRY: Duration = Duration::from_millis(1);

/// Numbers that are to be sent again. As long as there are any, nothing else is sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Replay {
    pub(crate) next: u32,
    to: u32,
    pub(crate) retry_at: Instant,
}

/// What the exchange was told of our numbers on this connection.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Told {
    /// The highest NextSeqNo in a Sequence: what is below is not taken any more.
    next_seq_no: u32,
    /// The highest number that was sent again.
    replayed: u32,
    /// A message was refused without using its number, and others were sent after it.
    pub(crate) has_hole: bool,
}

impl Told {
    /// The same on another connection: whether what was sent again has arrived is not known there.
    pub(crate) fn on_another_connection(self) -> Self {
        Self { replayed: 0, ..self }
    }
}

impl Outbound {
    /// Whether the messages from `from` on may be sent again under their numbers.
    pub(crate) fn can_replay(&self, from: u32) -> bool {
        from >= self.told.next_seq_no && from < self.progress.next_outgoing && !self.told.has_hole
    }

    /// Whether all up to `last` was sent again since it was found not to be applied.
    pub(crate) fn has_replayed(&self, last: u32) -> bool {
        last <= self.told.replayed
    }

    /// Sends all from `from` on again, as far as the outlet takes it now.
    pub(crate) fn replay(&mut self, now: Now, outlet: &mut dyn OutboundSink, from: u32) {
        let to = self.progress.next_outgoing - 1;
        self.told.replayed = to;
        self.replay = Some(Replay { next: from, to, retry_at: now.monotonic });
        (self.is_usual, self.is_restrained) = (false, true);
        self.continue_replay(now, outlet);
    }

    /// Goes on with what is to be sent again.
    #[cold]
    pub(crate) fn continue_replay(&mut self, now: Now, outlet: &mut dyn OutboundSink) {
        while let Some(Replay { next, to, .. }) = self.replay {
            match outlet.resend(next) {
                Ok(Delivery::Broken) => self.replay = None,
                Ok(_) => {
                    self.counters.replayed += 1;
                    self.last_sent = now.monotonic;
                    let retry_at = now.monotonic;
                    self.replay = (next < to).then_some(Replay { next: next + 1, to, retry_at });
                }
                Err(OutboundError::NotKept) => {
                    self.counters.not_kept += 1;
                    self.replay = None;
                    self.fill_gap(now, outlet);
                }
                Err(_) => {
                    let retry_at = now.monotonic + RETRY;
                    self.replay = Some(Replay { next, to, retry_at });
                    return;
                }
            }
        }
    }

    /// Sends a Sequence in the order of business messages, now; if the outlet does not take it, it
    /// leaves with the other control traffic.
    pub(crate) fn fill_gap(&mut self, now: Now, outlet: &mut dyn OutboundSink) {
        self.told.has_hole = false;
        let claimed = outlet.claim(FRAMING_HEADER_LENGTH + Sequence506::ENCODED_LENGTH).ok();
        match claimed.and_then(|frame| self.write_gap_fill(frame)) {
            Some(length) => {
                outlet.commit(length, None);
                self.last_sent = now.monotonic;
            }
            None => self.pending.sequence(false),
        }
    }

    /// Writes a Sequence with its framing header.
    fn write_gap_fill(&mut self, frame: &mut [u8]) -> Option<usize> {
        let (header, body) = frame.split_first_chunk_mut::<FRAMING_HEADER_LENGTH>()?;
        let length = FRAMING_HEADER_LENGTH + self.write_sequence(false, body).ok()?;
        self.version.mark(body);
        write_framing_header(header, length);
        Some(length)
    }

    /// NextSeqNo of a Sequence: 0 on a backup connection, and never above what is still to be sent
    /// again.
    fn next_seq_no(&self) -> u32 {
        match self.replay {
            _ if self.is_backup => 0,
            Some(replay) => replay.next,
            None => self.progress.next_outgoing,
        }
    }

    /// FaultToleranceIndicator stays null: CME does not ask clients for it.
    pub(crate) fn write_sequence(
        &mut self,
        asks_for_life: bool,
        body: &mut [u8],
    ) -> Result<usize, EncodeError> {
        let lapsed =
            if asks_for_life { KeepAliveLapsed::LAPSED } else { KeepAliveLapsed::NOT_LAPSED };
        let next_seq_no = self.next_seq_no();
        let mut sequence = Sequence506::encode(body)?;
        sequence
            .set_uuid(self.progress.uuid)
            .set_next_seq_no(next_seq_no)
            .set_keep_alive_interval_lapsed(lapsed);
        self.told.next_seq_no = self.told.next_seq_no.max(next_seq_no);
        self.newest = None;
        self.counters.sequences += 1;
        Ok(Sequence506::ENCODED_LENGTH)
    }
}
