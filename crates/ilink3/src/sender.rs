//! The session's sending half, used by callbacks and strategies.

use hairpin_sbe::EncodeError;
use hairpin_time::{Duration, Instant, Now, Utc};
use thiserror::Error;

use crate::pending::{Pending, Queued};
use crate::reassembly::{FRAMING_HEADER_LENGTH, write_framing_header};
use crate::replay::{AdvertisedSeqNums, Replay};
use crate::throttle::{MessageClass, Throttle};
use crate::version::{self, Version};
use crate::{GatewayKind, Operator, OutboundCounters, Progress, RequestError, State};

/// The greatest SeqNum. Continuing requires a new UUID.
pub const SEQ_NUM_MAX: u32 = 999_999_999;

/// The offset of SeqNum from the start of the SBE header in every client message except template
/// 537.
const SEQ_NUM_OFFSET: usize = 8 + 17;
const PARTY_DETAILS_LIST_REQUEST: u16 = 537;

/// A business message that a client sends.
///
/// A type of this crate implements it for each business message of clients, from
/// [`NewOrder`](crate::NewOrder) to
/// [`SecurityDefinitionRequest`](crate::SecurityDefinitionRequest). Implement it to send other
/// bytes with the generated encoders.
pub trait Outgoing {
    /// The maximum number of bytes that [`encode`](Self::encode) writes, SBE header included.
    const MAX_LENGTH: usize;

    /// The class in which the [throttle](crate::Session::set_throttle) counts the message.
    const CLASS: MessageClass = MessageClass::Other;

    /// Checks that the message's values are valid together. Called before any other step.
    ///
    /// # Errors
    /// [`RequestError`] with the first invalid value.
    #[inline]
    fn check(&self) -> Result<(), RequestError> {
        Ok(())
    }

    /// Checks that a gateway of this kind accepts the message. Called after [`check`](Self::check).
    ///
    /// # Errors
    /// [`RequestError`].
    #[inline]
    fn check_gateway(&self, kind: GatewayKind) -> Result<(), RequestError> {
        let _ = kind;
        Ok(())
    }

    /// Returns the id that identifies this message in BusinessRejectRefID (379) if it is sent under
    /// `seq_num`: OrderRequestID for orders and cancels, the request's own id for other requests. A
    /// message without an id cannot be matched with its reject. The session then cannot reclaim a
    /// number that the exchange has not used.
    #[inline]
    fn request_id(&self, seq_num: u32) -> Option<u64> {
        let _ = seq_num;
        None
    }

    /// Encodes the message at the start of `buffer`, which has at least [`Self::MAX_LENGTH`] bytes,
    /// and returns its length, SBE header included. The session stores SeqNum afterwards.
    /// SendingTimeEpoch is [`Stamp::sending_time`].
    ///
    /// # Errors
    /// Any error of the encoder. Nothing is sent and no number is used. A length beyond the buffer,
    /// or too short for SeqNum, results in [`EncodeError::Buffer`].
    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError>;
}

/// The session's values for a message to be encoded.
#[derive(Debug, Clone, Copy)]
pub struct Stamp<'a> {
    /// The message's SeqNum.
    pub seq_num: u32,
    /// SendingTimeEpoch: UTC of the current wakeup.
    pub sending_time: Utc,
    /// The sender of the message.
    pub operator: &'a Operator,
}

/// Writes SenderID, Location, ManualOrderIndicator and SendingTimeEpoch of a request.
macro_rules! set_sender_fields {
    ($root:ident, $stamp:ident) => {
        $root
            .set_sender_id($stamp.operator.sender_id)
            .set_location($stamp.operator.location)
            .set_manual_order_indicator($stamp.operator.manual_order_indicator)
            .set_sending_time_epoch($stamp.sending_time.as_nanos());
    };
}

pub(crate) use set_sender_fields;

/// The destination of committed messages: a journal followed by a connection.
pub trait OutboundSink {
    /// Reserves a buffer of at least `max` bytes for one frame: a business message, or the Sequence
    /// that fills a gap and must stay in order with business messages. The buffer may contain old
    /// data. A claim without a commit has no effect, and the next claim reuses the buffer.
    ///
    /// # Errors
    /// [`OutboundError`], if there is no room or no connection.
    fn claim(&mut self, max: usize) -> Result<&mut [u8], OutboundError>;

    /// Keeps the first `length` bytes of the claimed buffer, and then starts to write them to the
    /// connection. `seq_num` is the business message's number; `None` for a Sequence.
    ///
    /// # Panics
    /// May panic if `length` is greater than the claimed size.
    fn commit(&mut self, length: usize, seq_num: Option<u32>) -> Delivery;

    /// Checks that `messages` more messages of `bytes` bytes in total can be kept, so that several
    /// messages are sent together or not at all. By default there is no limit.
    ///
    /// # Errors
    /// [`OutboundError`], if a claim would fail before all of them are committed.
    fn reserve(&mut self, messages: usize, bytes: usize) -> Result<(), OutboundError> {
        let _ = (messages, bytes);
        Ok(())
    }

    /// Starts a batch: until [`end_batch`](Self::end_batch), messages are kept but not written.
    /// Batches may be nested; only the outermost one counts. By default there are no batches, and
    /// each message is written when committed.
    fn begin_batch(&mut self) {}

    /// Ends a batch and starts to write its messages. Returns the delivery state and the number of
    /// frames not fully written.
    fn end_batch(&mut self) -> (Delivery, usize) {
        (Delivery::Written, 0)
    }

    /// Reserves a buffer like [`claim`](Self::claim), for a message that is never committed. Has no
    /// effect visible outside.
    ///
    /// # Errors
    /// [`OutboundError`], if a claim would fail now or would have to make room first.
    fn warm_up(&mut self, max: usize) -> Result<&mut [u8], OutboundError> {
        self.claim(max)
    }

    /// Executes [`commit`](Self::commit) for the first `length` bytes of the warm-up buffer without
    /// visible effects. Does nothing by default.
    fn warm_up_commit(&mut self, length: usize, seq_num: u32) {
        let _ = (length, seq_num);
    }

    /// Writes the last committed business message with number `seq_num` again, byte for byte, after
    /// all messages committed or replayed before. Keeps no second copy. Used only for
    /// [`NotAppliedAnswer::Replay`](crate::NotAppliedAnswer). By default nothing can be replayed.
    ///
    /// # Errors
    /// [`OutboundError::NotKept`] if the message is unknown; another error if it cannot be written
    /// now.
    fn resend(&mut self, seq_num: u32) -> Result<Delivery, OutboundError> {
        let _ = seq_num;
        Err(OutboundError::NotKept)
    }

    /// Keeps a business message of the exchange, from its SBE header on, before its callback runs.
    /// Keeps nothing by default.
    fn keep(&mut self, uuid: u64, seq_num: u32, message: &[u8]) {
        let _ = (uuid, seq_num, message);
    }

    /// Keeps a business message of the exchange with its framing header. Copying the whole frame is
    /// cheaper than copying from an offset within it.
    fn keep_frame(&mut self, uuid: u64, seq_num: u32, frame: &[u8]) {
        self.keep(uuid, seq_num, &frame[FRAMING_HEADER_LENGTH..]);
    }

    /// Marks the last kept message as processed: its callback has returned.
    fn mark(&mut self) {}
}

/// The delivery state of a committed message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// The connection has accepted all bytes.
    Written,
    /// The connection accepts no more bytes now. The remaining bytes are written in order as soon
    /// as possible.
    Waiting {
        /// The number of committed bytes not yet written, of this message and earlier ones.
        waiting: usize,
    },
    /// The connection broke. The message keeps its number. The next logon shows whether the
    /// exchange has applied it.
    Broken,
}

/// The reason a sink cannot accept a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum OutboundError {
    /// The journal has no room for another record.
    #[error("the journal is full")]
    Full,
    /// The connection accepts no more bytes and the limit of waiting bytes is reached.
    #[error("the connection is blocked and {waiting} bytes are waiting")]
    WouldBlock {
        /// The number of committed bytes not yet written.
        waiting: usize,
    },
    /// No connection is open.
    #[error("no connection is open")]
    Closed,
    /// The message to be replayed was not kept.
    #[error("the message was not kept")]
    NotKept,
    /// The journal has failed, and no more messages are sent.
    #[error("the journal has failed")]
    JournalFailed,
}

/// The reason a message was not sent. The message has no number and is not in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SendError {
    /// The session is not established.
    #[error("the session is {0}, not established")]
    NotEstablished(State),
    /// The session is the backup. Business messages are sent on the primary connection only.
    #[error("the session is the backup")]
    Backup,
    /// The throttle's limit is reached.
    #[error("the rate limit is reached")]
    Throttled {
        /// The time at which the next message may be sent.
        until: Instant,
    },
    /// A replay of earlier messages is in progress and must finish first.
    #[error("a replay of earlier messages is in progress")]
    Replaying,
    /// SeqNum 999,999,999 is used. Negotiate a new session.
    #[error("the session has used its last sequence number")]
    NumbersExhausted,
    /// The message has invalid or contradictory values.
    #[error(transparent)]
    Request(RequestError),
    /// The message cannot be encoded.
    #[error("cannot encode the message: {0}")]
    Encode(EncodeError),
    /// The session's schema version does not contain the message.
    #[error("schema version {0} does not contain the message")]
    Version(u16),
    /// The sink cannot accept the message.
    #[error(transparent)]
    Sink(OutboundError),
}

/// A sent message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// The message's SeqNum.
    pub seq_num: u32,
    /// The delivery state of its bytes.
    pub delivery: Delivery,
}

/// The part of the session's state that a send reads and writes.
#[derive(Debug)]
pub(crate) struct Outbound {
    pub(crate) state: State,
    pub(crate) progress: Progress,
    /// The request id of the message with the last used number. `None` once a NextSeqNo above that
    /// number was advertised: the exchange then rejects lower numbers.
    pub(crate) newest: Option<u64>,
    /// The time at which the last message of any kind was sent.
    pub(crate) last_sent: Instant,
    pub(crate) operator: Operator,
    pub(crate) on_demand_party_id: u64,
    pub(crate) version: Version,
    pub(crate) gateway_kind: GatewayKind,
    pub(crate) pending: Pending,
    /// The replay in progress. Nothing else is sent before it ends.
    pub(crate) replay: Option<Replay>,
    pub(crate) advertised: AdvertisedSeqNums,
    /// A logon has confirmed all our messages below this number.
    pub(crate) confirmed_below: u32,
    /// The number that was next at a takeover with messages in doubt. The doubt ends with the next
    /// message.
    pub(crate) in_doubt_at: Option<u32>,
    /// This is the backup connection.
    pub(crate) backup: bool,
    /// A send must run `check_limits`: the session may not be established, may be a backup, may be
    /// replaying, or may have a throttle. Only `check_limits` clears the flag.
    pub(crate) send_gated: bool,
    pub(crate) throttle: Option<Throttle>,
    /// Received frames can take the fast path: the session is established and has reported this
    /// state; nothing is missing, held, partially received, being replayed or closing. Any code
    /// that changes one of these clears the flag. The slow path sets it again.
    pub(crate) fast_path_armed: bool,
    /// The number of open batches.
    pub(crate) batches: u32,
    pub(crate) keep_alive_interval: Duration,
    pub(crate) counters: OutboundCounters,
}

impl Outbound {
    /// Writes the frame of `message` with the next number, without using the number.
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

    /// Converts a frame to the session's schema version.
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

    /// Checks that `message` may be sent now. `leaves` counts it in the throttle.
    #[inline]
    pub(crate) fn check<M: Outgoing>(
        &mut self,
        now: Now,
        message: &M,
        leaves: bool,
    ) -> Result<(), SendError> {
        debug_assert!(self.send_gated || self.may_send());
        if self.send_gated {
            self.check_limits(now, M::CLASS, leaves)?;
        }
        if self.progress.next_outgoing > SEQ_NUM_MAX {
            self.counters.refused_without_number += 1;
            return Err(SendError::NumbersExhausted);
        }
        let checked = message.check().and_then(|()| message.check_gateway(self.gateway_kind));
        checked.map_err(|error| {
            self.counters.refused_requests += 1;
            SendError::Request(error)
        })
    }

    /// Returns an error if no message may be sent now. Also counts the message in the throttle,
    /// although a later check may reject it. Without a throttle this check therefore runs only
    /// once.
    #[cold]
    fn check_limits(
        &mut self,
        now: Now,
        class: MessageClass,
        leaves: bool,
    ) -> Result<(), SendError> {
        if self.state != State::Established {
            self.counters.refused_not_established += 1;
            return Err(SendError::NotEstablished(self.state));
        }
        if self.backup {
            self.counters.refused_on_backup += 1;
            return Err(SendError::Backup);
        }
        if self.replay.is_some() {
            self.counters.refused_replaying += 1;
            return Err(SendError::Replaying);
        }
        let Some(throttle) = &mut self.throttle else {
            self.send_gated = false;
            return Ok(());
        };
        if let Some(until) = throttle.blocked_until(class, now.monotonic) {
            self.counters.refused_throttled += 1;
            return Err(SendError::Throttled { until });
        }
        if leaves {
            throttle.record(class, now.monotonic);
        }
        Ok(())
    }

    /// Checks that two messages, of the classes of `A` and `B`, may be sent now.
    pub(crate) fn check_pair<A: Outgoing, B: Outgoing>(
        &mut self,
        now: Now,
    ) -> Result<(), SendError> {
        if self.progress.next_outgoing >= SEQ_NUM_MAX {
            self.counters.refused_without_number += 1;
            return Err(SendError::NumbersExhausted);
        }
        let count = 1 + u32::from(A::CLASS == B::CLASS);
        let throttle = self.throttle.as_ref();
        let blocked = throttle.and_then(|it| it.blocked_until_nth(B::CLASS, count, now.monotonic));
        blocked.map_or(Ok(()), |until| {
            self.counters.refused_throttled += 1;
            Err(SendError::Throttled { until })
        })
    }

    /// Returns `true` if nothing prevents sending business messages.
    fn may_send(&self) -> bool {
        let blocked = self.backup || self.replay.is_some() || self.throttle.is_some();
        self.state == State::Established && !blocked
    }

    /// Sets whether this is the backup connection.
    pub(crate) fn set_backup(&mut self, backup: bool) {
        (self.backup, self.send_gated) = (backup, true);
    }

    /// Returns `true` if messages of ours may be missing at the exchange without a NotApplied yet.
    /// The next business message reveals them; a Sequence would hide them.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.in_doubt_at == Some(self.progress.next_outgoing)
    }

    /// Uses the next number for a message of `length` bytes that is now in the journal.
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

    /// Counts messages that were not fully written. Those of a batch are counted at its end.
    #[cold]
    pub(crate) fn record_unwritten(&mut self, delivery: Delivery, messages: usize) {
        match delivery {
            Delivery::Waiting { .. } if self.batches == 0 => {
                self.counters.queued += messages as u64
            }
            Delivery::Broken => self.counters.broken += messages as u64,
            Delivery::Written | Delivery::Waiting { .. } => {}
        }
    }

    /// Reclaims the newest message's number if that message is the one rejected, by `request_id`,
    /// without using its number. For any other message the number stays used: the exchange finds
    /// the gap at the next message and sends NotApplied.
    #[cold]
    pub(crate) fn reclaim_seq_num(&mut self, request_id: Option<u64>) {
        if request_id.is_some() && request_id == self.newest {
            self.newest = None;
            self.progress.next_outgoing -= 1;
            self.counters.taken_back += 1;
        } else {
            self.advertised.gap_after_reject = true;
        }
    }

    /// Starts a graceful termination, if there is a session to terminate.
    pub(crate) fn terminate(&mut self, now: Now) {
        match self.state {
            State::Disconnected | State::Terminating => {}
            State::Connecting => self.pending.close(),
            // No message, not even a Terminate, may precede Negotiate.
            State::Negotiating if self.pending.is_queued(Queued::NEGOTIATE) => self.pending.close(),
            State::Negotiating | State::Establishing | State::Established => {
                let deadline = now.monotonic + self.keep_alive_interval;
                self.pending.terminate(deadline);
            }
        }
        if self.state != State::Disconnected {
            self.enter(State::Terminating);
        }
    }

    /// Enters `state`.
    pub(crate) fn enter(&mut self, state: State) {
        (self.state, self.fast_path_armed, self.send_gated) = (state, false, true);
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

/// Stores `seq_num` in `message`, which starts with its SBE header.
#[inline]
fn store_seq_num(message: &mut [u8], seq_num: u32) -> Result<(), EncodeError> {
    // Every valid client message is longer.
    if message.len() < SEQ_NUM_OFFSET + 4 {
        return Err(EncodeError::Buffer);
    }
    let template_id = u16::from_le_bytes([message[2], message[3]]);
    let offset = SEQ_NUM_OFFSET - usize::from(template_id == PARTY_DETAILS_LIST_REQUEST);
    message[offset..offset + 4].copy_from_slice(&seq_num.to_le_bytes());
    Ok(())
}

/// The session's sending half: numbers, encodes, journals and transmits business messages.
///
/// Callbacks receive one. Outside of callbacks, [`Session::sender`](crate::Session::sender) creates
/// one.
pub struct Sender<'a> {
    pub(crate) outbound: &'a mut Outbound,
    pub(crate) sink: &'a mut dyn OutboundSink,
    pub(crate) now: Now,
}

impl Sender<'_> {
    /// Sends `message` under the next number: encodes it in the sink's buffer, keeps it, and then
    /// writes it. On `Ok`, the message is in the journal and its number is used. [`Sent::delivery`]
    /// reports whether the connection has accepted its bytes.
    ///
    /// # Errors
    /// [`SendError`], without any effect: no number is used, and nothing is kept or written.
    // Always inlined: the order type and the absent fields are mostly constant at the call site,
    // which removes their branches.
    #[inline(always)]
    pub fn send<M: Outgoing>(&mut self, message: &M) -> Result<Sent, SendError> {
        if self.outbound.send_gated && self.outbound.replay.is_some() {
            self.outbound.continue_replay(self.now, self.sink);
        }
        self.outbound.check(self.now, message, true)?;
        let frame = self.sink.claim(FRAMING_HEADER_LENGTH + M::MAX_LENGTH).map_err(|error| {
            self.outbound.counters.refused_by_outlet += 1;
            SendError::Sink(error)
        })?;
        let length = self.outbound.encode(self.now, message, frame)?;
        let seq_num = self.outbound.progress.next_outgoing;
        let delivery = self.sink.commit(length, Some(seq_num));
        self.outbound.commit(self.now, length, message.request_id(seq_num));
        if delivery != Delivery::Written {
            self.outbound.record_unwritten(delivery, 1);
        }
        Ok(Sent { seq_num, delivery })
    }

    /// Sends `message` like [`send`](Self::send), for `operator` instead of the session's.
    ///
    /// # Errors
    /// [`SendError`], like [`send`](Self::send).
    pub fn send_as<M: Outgoing>(
        &mut self,
        operator: &Operator,
        message: &M,
    ) -> Result<Sent, SendError> {
        self.with_operator(operator, |sender| sender.send(message))
    }

    /// Runs `send` with `operator` in place of the session's: for party details on demand, batches,
    /// and requests sent through an order tracker.
    ///
    /// ```
    /// # use hairpin_ilink3::{NewOrder, Operator, SendError, Sender, Sent};
    /// # fn send(sender: &mut Sender, order: &NewOrder) -> Result<Sent, SendError> {
    /// let account = Operator { party_details_list_req_id: 7, ..*sender.operator() };
    /// sender.with_operator(&account, |sender| sender.send(order))
    /// # }
    /// ```
    pub fn with_operator<T>(
        &mut self,
        operator: &Operator,
        send: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let usual = core::mem::replace(&mut self.outbound.operator, *operator);
        let scope = OperatorScope { sender: self, usual };
        send(scope.sender)
    }

    /// Borrows the sender again, for a value that owns its sender.
    #[inline]
    #[must_use]
    pub fn reborrow(&mut self) -> Sender<'_> {
        Sender { outbound: self.outbound, sink: self.sink, now: self.now }
    }

    /// Returns the operator of the messages sent now.
    #[must_use]
    pub fn operator(&self) -> &Operator {
        &self.outbound.operator
    }

    /// Starts a graceful termination: messages already sent are written, then a Terminate, and
    /// nothing after it. Reports may still arrive until the exchange confirms.
    pub fn terminate(&mut self) {
        self.outbound.terminate(self.now);
    }

    /// Returns the session's state.
    #[must_use]
    pub fn state(&self) -> State {
        self.outbound.state
    }

    /// Returns the session's UUID and sequence numbers.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.outbound.progress
    }

    /// Returns the time of the current wakeup.
    #[must_use]
    pub fn now(&self) -> Now {
        self.now
    }
}

/// The scope of another operator. Dropping it restores the session's, also on a panic.
struct OperatorScope<'a, 'b> {
    sender: &'a mut Sender<'b>,
    usual: Operator,
}

impl Drop for OperatorScope<'_, '_> {
    fn drop(&mut self) {
        self.sender.outbound.operator = self.usual;
    }
}
