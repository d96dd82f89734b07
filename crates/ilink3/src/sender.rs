//! The sending half of a session: what callbacks and strategies hold.

use hairpin_sbe::EncodeError;
use hairpin_time::{Duration, Instant, Now, Utc};
use thiserror::Error;

use crate::pending::{Pending, Wanted};
use crate::reassembly::{FRAMING_HEADER_LENGTH, write_framing_header};
use crate::replay::{Replay, Told};
use crate::throttle::{MessageClass, Throttle};
use crate::version::{self, Version};
use crate::{
    Operator, OutboundCounters, PartyDetails, Progress, RequestError, State, TerminateCode,
};

/// The greatest SeqNum; after it a new UUID must be negotiated.
pub const SEQ_NUM_MAX: u32 = 999_999_999;

/// Bytes from the SBE header to SeqNum in a message of a client, but for template 537.
const SEQ_NUM_OFFSET: usize = 8 + 17;
const PARTY_DETAILS_LIST_REQUEST: u16 = 537;

/// A business message a client sends.
///
/// [`NewOrder`](crate::NewOrder), [`ReplaceOrder`](crate::ReplaceOrder) and
/// [`CancelOrder`](crate::CancelOrder) are such. Implement it to fill any other, or any other
/// field, with the generated encoders.
pub trait Outgoing {
    /// The most bytes [`encode`](Self::encode) writes, from the SBE header on.
    const MAX_LENGTH: usize;

    /// What it counts as where messages are [limited](crate::Session::set_throttle).
    const CLASS: MessageClass = MessageClass::Other;

    /// Whether the values of the message go together. Asked before anything else is done.
    ///
    /// # Errors
    /// [`RequestError`] with the first that do not.
    #[inline]
    fn check(&self) -> Result<(), RequestError> {
        Ok(())
    }

    /// The id by which the exchange refers to the message under the number `seq_num` in
    /// BusinessRejectRefID (379): of orders and their cancels OrderRequestID, of other requests the
    /// id that layout calls the request's own. A message without one is never known to be the one
    /// that was refused, so that a number the exchange has not used is not taken back.
    #[inline]
    fn request_id(&self, seq_num: u32) -> Option<u64> {
        let _ = seq_num;
        None
    }

    /// Writes the message to the start of `buffer`, which has at least [`Self::MAX_LENGTH`]
    /// bytes, from the SBE header on, and returns its length. SeqNum is stored by the session
    /// afterwards; SendingTimeEpoch is [`Stamp::sending_time`].
    ///
    /// # Errors
    /// Whatever the encoder refuses. Nothing is sent then and no number is used. A length that is
    /// beyond the buffer, or that leaves no room for SeqNum, is refused as [`EncodeError::Buffer`].
    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError>;
}

/// What the session knows of a message about to be encoded.
#[derive(Debug, Clone, Copy)]
pub struct Stamp<'a> {
    /// The SeqNum it will carry.
    pub seq_num: u32,
    /// SendingTimeEpoch: UTC of the wake.
    pub sending_time: Utc,
    /// Who sends.
    pub operator: &'a Operator,
}

/// Where committed messages go: a journal with a connection behind it.
pub trait OutboundSink {
    /// Room of at least `max` bytes for one frame: a business message, or the Sequence that fills a
    /// gap, which has to leave in order with them. Whatever is in it may stay there: a claim that
    /// is not committed leaves nothing, and the next one takes its place.
    ///
    /// # Errors
    /// [`OutboundError`], and there is nothing to commit.
    fn claim(&mut self, max: usize) -> Result<&mut [u8], OutboundError>;

    /// Keeps the first `length` bytes of what was claimed last, and only then begins to write them
    /// to the connection. `seq_num` is the number of the business message; a Sequence has none.
    ///
    /// # Panics
    /// It may, if `length` is more than was claimed.
    fn commit(&mut self, length: usize, seq_num: Option<u32>) -> Delivery;

    /// From here to [`end_batch`](Self::end_batch) messages are kept and do not leave: then they do
    /// together. Batches may be nested; the outermost counts. By default there are none, and each
    /// message leaves when it is committed.
    fn begin_batch(&mut self) {}

    /// Ends a batch and begins to write what was committed since it began: how far the bytes are,
    /// and how many of the frames have not left wholly.
    fn end_batch(&mut self) -> (Delivery, usize) {
        (Delivery::Written, 0)
    }

    /// Room as of [`claim`](Self::claim), for a message that is never committed: nothing is given
    /// up for it that others could see.
    ///
    /// # Errors
    /// [`OutboundError`], as a claim now would have, or because it would have to make room first.
    fn rehearse(&mut self, max: usize) -> Result<&mut [u8], OutboundError> {
        self.claim(max)
    }

    /// Does for the first `length` bytes of what was rehearsed what a commit does, but for all that
    /// others could see. Nothing by default.
    fn rehearse_commit(&mut self, length: usize, seq_num: u32) {
        let _ = (length, seq_num);
    }

    /// Writes the business message that was committed last under `seq_num` again, byte for byte,
    /// behind all that was committed and sent again before, and keeps nothing new. Only for
    /// [`NotAppliedAnswer::Replay`](crate::NotAppliedAnswer); by default nothing can be sent
    /// again.
    ///
    /// # Errors
    /// [`OutboundError::NotKept`] if it has no such message, else why it cannot be written now.
    fn resend(&mut self, seq_num: u32) -> Result<Delivery, OutboundError> {
        let _ = seq_num;
        Err(OutboundError::NotKept)
    }

    /// Keeps a business message of the exchange, its SBE header and what follows, before its
    /// callback is called. Nothing is kept by default.
    fn keep(&mut self, uuid: u64, seq_num: u32, message: &[u8]) {
        let _ = (uuid, seq_num, message);
    }

    /// The same with what stood before the message when it came, its framing header: a copy of all
    /// of it is cheaper than one that begins within what was just copied.
    fn keep_frame(&mut self, uuid: u64, seq_num: u32, frame: &[u8]) {
        self.keep(uuid, seq_num, &frame[FRAMING_HEADER_LENGTH..]);
    }

    /// The callback of the message that was kept last has returned.
    fn mark(&mut self) {}
}

/// How far the bytes of a committed message are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// The connection has taken them all.
    Written,
    /// The connection takes no more now: `waiting` bytes, of this message and those before it,
    /// leave in order when it does.
    Waiting {
        /// Bytes committed and not yet written.
        waiting: usize,
    },
    /// The connection broke. The message keeps its number; whether the exchange has applied it
    /// shows at the next logon.
    Broken,
}

/// Why an outlet keeps nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum OutboundError {
    /// The journal has no room for another record.
    #[error("the journal is full")]
    Full,
    /// The connection takes no more and the limit of what may wait is reached.
    #[error("the connection is blocked and {waiting} bytes are waiting")]
    WouldBlock {
        /// Bytes committed and not yet written.
        waiting: usize,
    },
    /// There is no connection.
    #[error("there is no connection")]
    Closed,
    /// The message that is to be sent again is not there.
    #[error("the message was not kept")]
    NotKept,
}

/// Why a message was not sent. It has no number and is not in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SendError {
    /// Business messages flow only while established.
    #[error("the session is {0}, not established")]
    NotEstablished(State),
    /// Business messages flow over the primary connection only; this is the backup.
    #[error("the session is the backup")]
    Backup,
    /// As many messages have left as the limit that was set allows.
    #[error("as many messages have left as the limit allows")]
    Throttled {
        /// When the next one may leave.
        until: Instant,
    },
    /// Earlier messages are being sent again and wait for the connection: first they must leave.
    #[error("earlier messages are still to be sent again")]
    Replaying,
    /// Numbers end at 999,999,999: negotiate a new session.
    #[error("the session has used its last sequence number")]
    NumbersExhausted,
    /// Values of the message do not go together.
    #[error(transparent)]
    Request(RequestError),
    /// The message does not fit its layout.
    #[error("encoding: {0}")]
    Encode(EncodeError),
    /// The version of the schema that the session speaks has no such message.
    #[error("version {0} of the schema has no such message")]
    Version(u16),
    /// The outlet keeps nothing.
    #[error(transparent)]
    OutboundSink(OutboundError),
}

/// A message that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// Its SeqNum.
    pub seq_num: u32,
    /// How far its bytes are.
    pub delivery: Delivery,
}

/// What a send reads and writes of a session; all else is the receiving half.
#[derive(Debug)]
pub(crate) struct Outbound {
    pub(crate) state: State,
    pub(crate) progress: Progress,
    /// The id of the message that has the last number, until the exchange has been told a NextSeqNo
    /// above it: from then on it takes no lower number.
    pub(crate) newest: Option<u64>,
    /// When the last message of any kind left.
    pub(crate) last_sent: Instant,
    pub(crate) operator: Operator,
    pub(crate) on_demand_party_id: u64,
    pub(crate) version: Version,
    pub(crate) pending: Pending,
    /// What is to be sent again before anything else.
    pub(crate) replay: Option<Replay>,
    pub(crate) told: Told,
    /// All of ours below this number was settled by a logon on this connection or, if that was the
    /// backup's, on the one before.
    pub(crate) settled_below: u32,
    /// The number that was next when the session took over with messages in doubt: it is until
    /// another one is next.
    pub(crate) doubted_at: Option<u32>,
    /// The connection is the backup's.
    pub(crate) is_backup: bool,
    /// A send has to look closer: the session may not be established, or be a backup, or have
    /// messages to send again, or there is a throttle. Only who has looked takes it back.
    pub(crate) is_restrained: bool,
    pub(crate) throttle: Option<Throttle>,
    /// Nothing is to be looked out for when a message comes: the session is established and the
    /// listener knows it, nothing is missing, held, cut, to be sent again or about to be closed.
    /// Who changes any of that takes it back; where it is found not to be, it is looked at again.
    pub(crate) is_usual: bool,
    /// Batches that were begun and not ended.
    pub(crate) batches: u32,
    pub(crate) keep_alive_interval: Duration,
    pub(crate) counters: OutboundCounters,
}

impl Outbound {
    /// Writes the frame of `message` with the next number; does not use the number up.
    #[inline(always)]
    pub(crate) fn encode<M: Outgoing>(
        &mut self,
        now: Now,
        message: &M,
        frame: &mut [u8],
    ) -> Result<usize, SendError> {
        let seq_num = self.progress.next_outgoing;
        let stamp = Stamp { seq_num, sending_time: now.utc, operator: &self.operator };
        let length = write_frame(&stamp, message, frame).map_err(|error| {
            self.counters.encode_errors += 1;
            SendError::Encode(error)
        })?;
        if self.version.is_newest() { Ok(length) } else { self.lower(&mut frame[..length]) }
    }

    /// Lays a frame out as the version of the session has it.
    #[cold]
    fn lower(&mut self, frame: &mut [u8]) -> Result<usize, SendError> {
        let (header, message) = frame.split_at_mut(FRAMING_HEADER_LENGTH);
        let lowered = version::lower(message, self.version);
        let Some((length, header)) = lowered.zip(header.first_chunk_mut()) else {
            self.counters.encode_errors += 1;
            return Err(SendError::Version(self.version.number()));
        };
        write_framing_header(header, FRAMING_HEADER_LENGTH + length);
        Ok(FRAMING_HEADER_LENGTH + length)
    }

    /// Whether `message` may be sent now. If it `leaves` then, it counts.
    #[inline]
    pub(crate) fn check<M: Outgoing>(
        &mut self,
        now: Now,
        message: &M,
        leaves: bool,
    ) -> Result<(), SendError> {
        debug_assert!(self.is_restrained || self.is_free());
        if self.is_restrained {
            self.restrain(now, M::CLASS, leaves)?;
        }
        if self.progress.next_outgoing > SEQ_NUM_MAX {
            self.counters.refused_without_number += 1;
            return Err(SendError::NumbersExhausted);
        }
        message.check().map_err(|error| {
            self.counters.refused_requests += 1;
            SendError::Request(error)
        })
    }

    /// Why nothing is sent now, if there is a reason. Counts here what leaves, though it may yet
    /// be refused: so those who set no limit need not look again.
    #[cold]
    fn restrain(&mut self, now: Now, class: MessageClass, leaves: bool) -> Result<(), SendError> {
        if self.state != State::Established {
            self.counters.refused_not_established += 1;
            return Err(SendError::NotEstablished(self.state));
        }
        if self.is_backup {
            self.counters.refused_on_backup += 1;
            return Err(SendError::Backup);
        }
        if self.replay.is_some() {
            self.counters.refused_replaying += 1;
            return Err(SendError::Replaying);
        }
        let Some(throttle) = &mut self.throttle else {
            self.is_restrained = false;
            return Ok(());
        };
        if let Some(until) = throttle.free_at(class, now.monotonic) {
            self.counters.refused_throttled += 1;
            return Err(SendError::Throttled { until });
        }
        if leaves {
            throttle.note(class, now.monotonic);
        }
        Ok(())
    }

    /// Whether any business message may be sent.
    fn is_free(&self) -> bool {
        let is_held_back = self.is_backup || self.replay.is_some() || self.throttle.is_some();
        self.state == State::Established && !is_held_back
    }

    /// The connection is, or is not, the backup's.
    pub(crate) fn set_backup(&mut self, is_backup: bool) {
        (self.is_backup, self.is_restrained) = (is_backup, true);
    }

    /// Whether messages may be missing at the exchange that it has not said are. The next business
    /// message brings it out, and a Sequence would hide it.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.doubted_at == Some(self.progress.next_outgoing)
    }

    /// Uses up the next number for a message of `length` bytes that is now in the journal.
    #[inline]
    pub(crate) fn commit(&mut self, now: Now, length: usize, request_id: Option<u64>) -> u32 {
        let seq_num = self.progress.next_outgoing;
        self.progress.next_outgoing += 1;
        self.newest = request_id;
        self.last_sent = now.monotonic;
        self.counters.business_messages += 1;
        self.counters.business_bytes += length as u64;
        seq_num
    }

    /// Counts messages that have not left wholly. Those of a batch are counted at its end.
    #[cold]
    pub(crate) fn not_written(&mut self, delivery: Delivery, messages: usize) {
        match delivery {
            Delivery::Waiting { .. } if self.batches == 0 => {
                self.counters.queued += messages as u64
            }
            Delivery::Broken => self.counters.broken += messages as u64,
            Delivery::Written | Delivery::Waiting { .. } => {}
        }
    }

    /// Takes the number of the newest message back, if that is the one the exchange has refused,
    /// under `request_id`, without using its number. Of any other the number is gone: the exchange
    /// finds the hole when it reads the next message, and says NotApplied.
    #[cold]
    pub(crate) fn take_back(&mut self, request_id: Option<u64>) {
        if request_id.is_some() && request_id == self.newest {
            self.newest = None;
            self.progress.next_outgoing -= 1;
            self.counters.taken_back += 1;
        } else {
            self.told.has_hole = true;
        }
    }

    /// Begins to terminate gracefully, if there is a session to terminate.
    pub(crate) fn terminate(&mut self, now: Now) {
        match self.state {
            State::Disconnected | State::Terminating => {}
            State::Connecting => self.pending.close(),
            // Nothing may be sent before Negotiate, a Terminate neither.
            State::Negotiating if self.pending.wants(Wanted::NEGOTIATE) => self.pending.close(),
            State::Negotiating | State::Establishing | State::Established => {
                let deadline = now.monotonic + self.keep_alive_interval;
                self.pending.terminate(TerminateCode::FINISHED, deadline);
            }
        }
        if self.state != State::Disconnected {
            self.enter(State::Terminating);
        }
    }

    /// Is in this state from now on.
    pub(crate) fn enter(&mut self, state: State) {
        (self.state, self.is_usual, self.is_restrained) = (state, false, true);
    }
}

/// Writes the frame of `message` and returns its length.
#[inline(always)]
fn write_frame<M: Outgoing>(
    stamp: &Stamp<'_>,
    message: &M,
    frame: &mut [u8],
) -> Result<usize, EncodeError> {
    let Some((header, body)) = frame.split_first_chunk_mut::<FRAMING_HEADER_LENGTH>() else {
        return Err(EncodeError::Buffer);
    };
    let length = message.encode(stamp, body)?;
    let message = body.get_mut(..length).ok_or(EncodeError::Buffer)?;
    store_seq_num(message, stamp.seq_num)?;
    write_framing_header(header, FRAMING_HEADER_LENGTH + length);
    Ok(FRAMING_HEADER_LENGTH + length)
}

/// Stores `seq_num` in the message that begins with the SBE header `message`.
#[inline]
fn store_seq_num(message: &mut [u8], seq_num: u32) -> Result<(), EncodeError> {
    // Every message of a client is longer than this.
    if message.len() < SEQ_NUM_OFFSET + 4 {
        return Err(EncodeError::Buffer);
    }
    let template_id = u16::from_le_bytes([message[2], message[3]]);
    let offset = SEQ_NUM_OFFSET - usize::from(template_id == PARTY_DETAILS_LIST_REQUEST);
    message[offset..offset + 4].copy_from_slice(&seq_num.to_le_bytes());
    Ok(())
}

/// Numbers, encodes, journals and transmits business messages.
///
/// Callbacks are given one; between them [`Session::sender`](crate::Session::sender) makes one.
pub struct Sender<'a> {
    pub(crate) outbound: &'a mut Outbound,
    pub(crate) outlet: &'a mut dyn OutboundSink,
    pub(crate) now: Now,
}

impl Sender<'_> {
    /// Sends `message` under the next number: it is encoded where the outlet keeps it, kept, and
    /// then written. When this returns `Ok`, the message is in the journal and its number is
    /// used; [`Sent::delivery`] tells whether the connection has taken it.
    ///
    /// # Errors
    /// [`SendError`], and nothing has happened: no number is used, no byte is kept or written.
    // Always, since what kind of order it is, and what it leaves out, is mostly known where it is
    // sent: then neither is asked for.
    #[inline(always)]
    pub fn send<M: Outgoing>(&mut self, message: &M) -> Result<Sent, SendError> {
        if self.outbound.is_restrained && self.outbound.replay.is_some() {
            self.outbound.continue_replay(self.now, self.outlet);
        }
        self.outbound.check(self.now, message, true)?;
        let frame = self.outlet.claim(FRAMING_HEADER_LENGTH + M::MAX_LENGTH).map_err(|error| {
            self.outbound.counters.refused_by_outlet += 1;
            SendError::OutboundSink(error)
        })?;
        let length = self.outbound.encode(self.now, message, frame)?;
        let seq_num = self.outbound.progress.next_outgoing;
        let delivery = self.outlet.commit(length, Some(seq_num));
        self.outbound.commit(self.now, length, message.request_id(seq_num));
        if delivery != Delivery::Written {
            self.outbound.not_written(delivery, 1);
        }
        Ok(Sent { seq_num, delivery })
    }

    /// Sends party details and, with nothing between them, the message they are for. Both carry the
    /// id that [`SessionPolicy`](crate::SessionPolicy) has for it.
    ///
    /// # Errors
    /// [`SendError`], as of [`send`](Self::send). If the outlet has room for the details only,
    /// they are sent nevertheless: CME pairs them with the next message.
    pub fn send_with_party<M: Outgoing>(
        &mut self,
        party: &PartyDetails<'_>,
        message: &M,
    ) -> Result<Sent, SendError> {
        self.outbound.check(self.now, message, false)?;
        if self.outbound.progress.next_outgoing >= SEQ_NUM_MAX {
            self.outbound.counters.refused_without_number += 1;
            return Err(SendError::NumbersExhausted);
        }
        let list_req_id = self.outbound.on_demand_party_id;
        self.send(&PartyDetails { list_req_id, ..*party })?;
        let operator = &mut self.outbound.operator;
        let usual = core::mem::replace(&mut operator.party_details_list_req_id, list_req_id);
        let sent = self.send(message);
        self.outbound.operator.party_details_list_req_id = usual;
        sent
    }

    /// Begins to terminate the session gracefully: what was sent leaves, then a Terminate, and
    /// nothing after it. Reports may still come until the exchange has answered.
    pub fn terminate(&mut self) {
        self.outbound.terminate(self.now);
    }

    /// The state of the session.
    #[must_use]
    pub fn state(&self) -> State {
        self.outbound.state
    }

    /// The identity of the session and the numbers of its streams.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.outbound.progress
    }

    /// The wake this sender belongs to.
    #[must_use]
    pub fn now(&self) -> Now {
        self.now
    }
}
