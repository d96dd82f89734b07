//! Replay of messages that were not applied, and the Sequence that fills a gap instead.

use hairpin_cme_codecs::ilink3::{KeepAliveLapsed, Sequence506};
use hairpin_sbe::EncodeError;
use hairpin_time::{Duration, Instant, Now};

use crate::reassembly::{FRAMING_HEADER_LENGTH, write_framing_header};
use crate::sender::Outbound;
use crate::{Delivery, OutboundError, OutboundSink};

/// The delay before a replay resumes when the sink had no room.
const RETRY: Duration = Duration::from_millis(1);

/// The SeqNums still to be replayed. During a replay the session sends nothing else.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Replay {
    pub(crate) next: u32,
    to: u32,
    pub(crate) retry_at: Instant,
}

/// The SeqNums advertised to the exchange on this connection.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct AdvertisedSeqNums {
    /// The highest NextSeqNo sent in a Sequence. The exchange rejects lower numbers.
    next_seq_no: u32,
    /// The highest replayed SeqNum.
    replayed: u32,
    /// A message was rejected without using its number, and later messages had already been sent.
    pub(crate) gap_after_reject: bool,
}

impl AdvertisedSeqNums {
    /// Returns the state for another connection, where it is unknown which replayed messages
    /// arrived.
    pub(crate) fn on_new_connection(self) -> Self {
        Self { replayed: 0, ..self }
    }
}

impl Outbound {
    /// Returns `true` if the messages from `from` on can be replayed under their numbers.
    pub(crate) fn can_replay(&self, from: u32) -> bool {
        from >= self.advertised.next_seq_no
            && from < self.progress.next_outgoing
            && !self.advertised.gap_after_reject
    }

    /// Returns `true` if all messages up to `last` have been replayed.
    pub(crate) fn has_replayed(&self, last: u32) -> bool {
        last <= self.advertised.replayed
    }

    /// Replays all messages from `from` on, as far as the sink has room.
    pub(crate) fn replay(&mut self, now: Now, sink: &mut dyn OutboundSink, from: u32) {
        let to = self.progress.next_outgoing - 1;
        self.advertised.replayed = to;
        self.replay = Some(Replay { next: from, to, retry_at: now.monotonic });
        (self.fast_path_armed, self.send_gated) = (false, true);
        self.continue_replay(now, sink);
    }

    /// Continues the replay as far as the sink has room.
    #[cold]
    pub(crate) fn continue_replay(&mut self, now: Now, sink: &mut dyn OutboundSink) {
        while let Some(Replay { next, to, .. }) = self.replay {
            match sink.resend(next) {
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
                    self.fill_gap(now, sink);
                }
                Err(_) => {
                    let retry_at = now.monotonic + RETRY;
                    self.replay = Some(Replay { next, to, retry_at });
                    return;
                }
            }
        }
    }

    /// Sends a Sequence in order with business messages. If the sink has no room, the Sequence is
    /// queued with the other session messages.
    pub(crate) fn fill_gap(&mut self, now: Now, sink: &mut dyn OutboundSink) {
        self.advertised.gap_after_reject = false;
        let claimed = sink.claim(FRAMING_HEADER_LENGTH + Sequence506::ENCODED_LENGTH).ok();
        match claimed.and_then(|frame| self.write_gap_fill(frame)) {
            Some(length) => {
                sink.commit(length, None);
                self.last_sent = now.monotonic;
            }
            None => self.pending.queue_sequence(false),
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

    /// Returns the NextSeqNo of a Sequence: 0 on a backup connection, otherwise at most the next
    /// SeqNum to replay.
    fn next_seq_no(&self) -> u32 {
        match self.replay {
            _ if self.backup => 0,
            Some(replay) => replay.next,
            None => self.progress.next_outgoing,
        }
    }

    /// Writes a Sequence506. FaultToleranceIndicator stays null: CME does not require it from
    /// clients.
    pub(crate) fn write_sequence(
        &mut self,
        lapsed: bool,
        body: &mut [u8],
    ) -> Result<usize, EncodeError> {
        let lapsed = if lapsed { KeepAliveLapsed::LAPSED } else { KeepAliveLapsed::NOT_LAPSED };
        let next_seq_no = self.next_seq_no();
        let mut sequence = Sequence506::encode(body)?;
        sequence
            .set_uuid(self.progress.uuid)
            .set_next_seq_no(next_seq_no)
            .set_keep_alive_interval_lapsed(lapsed);
        self.advertised.next_seq_no = self.advertised.next_seq_no.max(next_seq_no);
        self.newest = None;
        self.counters.sequences += 1;
        Ok(Sequence506::ENCODED_LENGTH)
    }
}
