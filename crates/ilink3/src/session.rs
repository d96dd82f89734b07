//! The session: its parts and the functions that concern all of them.
//!
//! `inbound` and `session_message` handle received messages, `transmit` writes session messages,
//! `timers` handles deadlines, and `recovery` requests missing messages.

mod backup;
mod connection;
mod hold_queue;
mod inbound;
mod logon;
mod logon_history;
mod not_applied;
mod out_of_sequence;
mod recovery;
mod redelivery;
mod retransmit_chunk;
mod retransmit_request;
mod session_message;
mod timers;
mod transmit;

use core::ops::ControlFlow;

use hairpin_time::{Instant, Now};

use crate::listener::Failover;
use crate::pending::{Pending, Queued};
use crate::reassembly::split_frame;
use crate::replay::AdvertisedSeqNums;
use crate::sender::{Outbound, Outgoing, Sender};
use crate::{
    Action, Binding, DisconnectReason, Error, InboundCounters, Listener, OnFault, OutboundCounters,
    OutboundSink, Progress, Rates, Reassembly, SendError, SessionPolicy, Settings, SettingsError,
    State, Throttle, Warning,
};

use logon_history::LogonHistory;
use recovery::Recovery;

pub use connection::ConnectError;
pub use recovery::REQUEST_MAX;
pub use transmit::CONTROL_LENGTH;

/// The number of unknown business templates with a warning. More templates are only counted.
const UNKNOWN_TEMPLATES_MAX: usize = 32;

/// The client side of an iLink 3 session, without I/O.
///
/// Pass events to the `handle_*` functions. After each event, send everything from
/// [`poll_transmit`](Self::poll_transmit), then execute each [action](Self::poll_action). Call
/// [`handle_timeout`](Self::handle_timeout) when [`poll_timeout`](Self::poll_timeout) has passed.
/// The session contains its sequence numbers. The journal belongs to the [`OutboundSink`].
#[derive(Debug)]
pub struct Session {
    outbound: Outbound,
    inbound: Inbound,
    reassembly: Reassembly,
    recovery: Recovery,
    settings: Settings,
    policy: SessionPolicy,
    binding: Binding,
    logon_history: LogonHistory,
    /// The request id of the message last encoded by [`send`](Session::send).
    encoded_request_id: Option<u64>,
    /// RequestTimestamp of the last logon request.
    last_request_timestamp: u64,
    /// RequestTimestamp of the first logon request of this kind, if it was repeated.
    first_request_timestamp: u64,
    /// The number of times the logon request was sent.
    logon_attempts: u32,
    /// A logon request was repeated on this connection.
    logon_repeated: bool,
    /// The promotion of this backup and its time, until the takeover.
    failover: Option<(Failover, Instant)>,
    /// On a backup: the UUID of its primary and the primary's next incoming SeqNum.
    primary: (u64, u32),
    /// The current or last connection was established.
    was_established: bool,
    /// The time at which the session stopped being established.
    down_since: Option<Instant>,
    /// The deadline for the connection or the pending response.
    response_deadline: Instant,
    /// A lower bound of all deadlines while only keep-alive deadlines are pending.
    no_deadline_before: Instant,
    /// The time of the next key expiry check.
    key_check_at: Option<Instant>,
    /// The state last reported to the listener.
    last_reported_state: State,
    /// A message of a previous process is being delivered.
    redelivering: bool,
    /// The unknown business templates that caused a warning; 0 for none.
    unknown_templates: [u16; UNKNOWN_TEMPLATES_MAX],
    /// A fault ends this connection. Of the messages received since, only a Terminate matters.
    faulted: bool,
    /// The boundaries of frames on this connection are unknown.
    framing_lost: bool,
    /// The reason for the end of the connection, known or expected.
    disconnect_reason: DisconnectReason,
}

/// The state that only the receiving half writes.
#[derive(Debug, Default)]
struct Inbound {
    /// The time at which the last frame arrived.
    last_received: Instant,
    /// The time at which a Sequence was requested from the exchange, until a frame arrives.
    sequence_requested_at: Option<Instant>,
    counters: InboundCounters,
}

/// The arguments of a `handle_*` call.
struct Context<'a, L> {
    now: Now,
    sink: &'a mut dyn OutboundSink,
    listener: &'a mut L,
}

impl<L> Context<'_, L> {
    /// Creates a second context for a function that is not inlined. The original context then never
    /// has to be in memory. Where the sink's type is known, its functions are called without a
    /// vtable.
    #[inline(always)]
    fn reborrow(&mut self) -> Context<'_, L> {
        Context { now: self.now, sink: &mut *self.sink, listener: &mut *self.listener }
    }
}

impl Session {
    /// Creates a disconnected session that continues from `progress`, with the
    /// [default](SessionPolicy) policy. A new session starts from the default progress, a restarted
    /// process from its stored progress.
    ///
    /// # Errors
    /// [`SettingsError`] with the first invalid setting.
    pub fn new(settings: Settings, progress: Progress) -> Result<Self, SettingsError> {
        Self::with_policy(settings, progress, SessionPolicy::default())
    }

    /// Creates a session like [`new`](Self::new), with the given policy.
    ///
    /// # Errors
    /// [`SettingsError`] with the first invalid setting.
    pub fn with_policy(
        settings: Settings,
        progress: Progress,
        policy: SessionPolicy,
    ) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self {
            outbound: Outbound {
                state: State::Disconnected,
                progress,
                newest: None,
                last_sent: Instant::ZERO,
                operator: settings.operator,
                on_demand_party_id: policy.on_demand_party_id,
                version: policy.version,
                gateway_kind: policy.gateway_kind,
                pending: Pending::default(),
                replay: None,
                advertised: AdvertisedSeqNums::default(),
                confirmed_below: 1,
                in_doubt_at: None,
                backup: false,
                send_gated: true,
                fast_path_armed: false,
                throttle: None,
                batches: 0,
                keep_alive_interval: settings.keep_alive_interval,
                counters: OutboundCounters::default(),
            },
            inbound: Inbound::default(),
            reassembly: Reassembly::new(),
            recovery: Recovery::new(policy.held_bytes),
            settings,
            policy,
            binding: Binding::New,
            logon_history: LogonHistory::default(),
            encoded_request_id: None,
            last_request_timestamp: 0,
            first_request_timestamp: 0,
            logon_attempts: 0,
            logon_repeated: false,
            failover: None,
            primary: (0, 0),
            down_since: None,
            response_deadline: Instant::MAX,
            no_deadline_before: Instant::ZERO,
            key_check_at: None,
            last_reported_state: State::Disconnected,
            redelivering: false,
            unknown_templates: [0; UNKNOWN_TEMPLATES_MAX],
            faulted: false,
            framing_lost: false,
            disconnect_reason: DisconnectReason::Lost,
            was_established: false,
        })
    }

    /// Handles received bytes, which may start and end anywhere in a frame, and calls the listener
    /// for each message. Complete frames are processed in place.
    #[inline]
    pub fn handle_bytes<L: Listener>(
        &mut self,
        now: Now,
        bytes: &[u8],
        sink: &mut dyn OutboundSink,
        listener: &mut L,
    ) {
        let mut context = Context { now, sink, listener };
        self.inbound.counters.bytes += bytes.len() as u64;
        let mut rest = bytes;
        debug_assert!(!self.outbound.fast_path_armed || self.can_arm_fast_path());
        while self.outbound.fast_path_armed
            && let Some((frame, tail)) = split_frame(rest)
        {
            rest = tail;
            self.handle_frame_fast_path(&mut context, frame);
        }
        if !rest.is_empty() || !self.outbound.fast_path_armed {
            self.handle_rest(&mut context.reborrow(), rest, rest.len() == bytes.len());
        }
    }

    /// Handles bytes off the fast path, for example a partial frame or a logon. `is_all` is `true`
    /// if no bytes of the same input were handled before.
    #[cold]
    fn handle_rest<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        bytes: &[u8],
        is_all: bool,
    ) {
        self.report_state(context);
        let connected = !matches!(self.state(), State::Disconnected | State::Connecting);
        if !connected || self.outbound.pending.is_closing() || self.framing_lost {
            // Bytes after a message that ended the session are not counted.
            if is_all {
                self.inbound.counters.bytes_discarded += bytes.len() as u64;
            }
            return;
        }
        let mut rest = bytes;
        if self.reassembly.is_empty() {
            while let Some((frame, tail)) = split_frame(rest) {
                rest = tail;
                self.handle_frame(context, frame);
                if self.outbound.pending.is_closing() {
                    return;
                }
            }
        }
        if !rest.is_empty() {
            self.reassemble(context, rest);
        }
        self.outbound.fast_path_armed = self.can_arm_fast_path();
    }

    /// Returns `true` if the conditions of [`fast_path_armed`](Outbound::fast_path_armed) hold.
    fn can_arm_fast_path(&self) -> bool {
        let Self { recovery, reassembly, outbound, .. } = self;
        outbound.state == State::Established
            && self.last_reported_state == State::Established
            && !outbound.pending.is_closing()
            && outbound.replay.is_none()
            && !recovery.active
            && !recovery.current_uuid_blocked
            && recovery.request.is_none()
            && reassembly.is_empty()
    }

    /// Handles bytes that do not start with a complete frame.
    fn reassemble<L: Listener>(&mut self, context: &mut Context<'_, L>, bytes: &[u8]) {
        let mut reassembly = core::mem::take(&mut self.reassembly);
        let fed = reassembly.feed(bytes, |frame| {
            self.handle_frame(context, frame);
            if self.outbound.pending.is_closing() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        self.reassembly = reassembly;
        if let Err(error) = fed {
            self.fail(context, Error::Framing(error));
        }
    }

    /// Returns the sending half, for sends outside of callbacks.
    #[inline]
    pub fn sender<'a>(&'a mut self, now: Now, sink: &'a mut dyn OutboundSink) -> Sender<'a> {
        Sender { outbound: &mut self.outbound, sink, now }
    }

    /// Writes the frame of `message` with the next number into `frame`, for owners that do not use
    /// an [`OutboundSink`]. [`commit`](Self::commit) uses the number. Without a commit the next
    /// call writes the same number again.
    ///
    /// # Errors
    /// [`SendError`] if no business message may be sent, or if the message does not fit.
    pub fn send<M: Outgoing>(
        &mut self,
        now: Now,
        message: &M,
        frame: &mut [u8],
    ) -> Result<usize, SendError> {
        self.outbound.check(now, message, true)?;
        self.encoded_request_id = message.request_id(self.outbound.progress.next_outgoing);
        self.outbound.encode(now, message, frame)
    }

    /// Uses the number of the message of `length` bytes written by [`send`](Self::send), once the
    /// message is kept. Returns the number.
    pub fn commit(&mut self, now: Now, length: usize) -> u32 {
        self.outbound.commit(now, length, self.encoded_request_id)
    }

    /// Sets the limits on business messages. A send above a limit returns [`SendError::Throttled`].
    /// Without rates, the default, there is no limit. [Replayed](crate::NotAppliedAnswer::Replay)
    /// messages are not counted.
    pub fn set_throttle(&mut self, rates: Option<&Rates>) {
        self.outbound.throttle = rates.map(Throttle::new);
        self.outbound.send_gated = true;
    }

    /// Starts a graceful termination: see [`Sender::terminate`].
    pub fn terminate(&mut self, now: Now) {
        self.outbound.terminate(now);
    }

    /// Returns the next action for the owner of the connection. Call this function after
    /// [`poll_transmit`](Self::poll_transmit), until it returns `None`.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.outbound.pending.action()
    }

    /// Returns `true` if [`poll_transmit`](Self::poll_transmit) or
    /// [`poll_action`](Self::poll_action) has something to return, for example after a `terminate`.
    #[inline]
    #[must_use]
    pub fn has_pending(&self) -> bool {
        let fast_path_armed = self.outbound.fast_path_armed;
        self.outbound.pending.has_any() || (!fast_path_armed && self.has_retransmit_request())
    }

    /// Returns `true` if a RetransmitRequest is to be sent.
    fn has_retransmit_request(&self) -> bool {
        self.recovery.has_unsent_request() && self.state() == State::Established
    }

    /// Returns the session's state.
    #[must_use]
    pub fn state(&self) -> State {
        self.outbound.state
    }

    /// Returns the session's UUID and sequence numbers, which the owner should store.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.outbound.progress
    }

    /// Returns the reason for the end of the last connection. Valid while disconnected.
    #[must_use]
    pub fn disconnect_reason(&self) -> DisconnectReason {
        self.disconnect_reason
    }

    /// Returns `true` if the current or last connection was established. A connection may be
    /// established and end between two calls of [`state`](Self::state).
    #[must_use]
    pub fn was_established(&self) -> bool {
        self.was_established
    }

    /// Returns the counters of received messages since the session was created.
    #[must_use]
    pub fn inbound_counters(&self) -> &InboundCounters {
        &self.inbound.counters
    }

    /// Returns the counters of sent messages since the session was created.
    #[must_use]
    pub fn outbound_counters(&self) -> &OutboundCounters {
        &self.outbound.counters
    }

    /// Returns the session's policy.
    #[must_use]
    pub fn policy(&self) -> &SessionPolicy {
        &self.policy
    }

    /// Returns the session's settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Reports a fault and ends the connection as [`SessionPolicy::on_fault`] selects. Never sends
    /// a Terminate with a code other than 0.
    #[cold]
    fn fail<L: Listener>(&mut self, context: &mut Context<'_, L>, error: Error) {
        self.inbound.counters.count(&error);
        let code = error.code();
        // A later fault, such as a missing response to Terminate, does not change the cause.
        if !self.faulted {
            // An invalid number has the same consequence, no matter which side detects it.
            self.disconnect_reason =
                code.map_or(DisconnectReason::Lost, DisconnectReason::Terminated);
        }
        let may_terminate = self.policy.on_fault == OnFault::Terminate && !self.faulted;
        let pending = &mut self.outbound.pending;
        // Nothing may be sent after our own Terminate, and nothing may precede Negotiate.
        let has_session = !pending.awaiting_confirmation && !pending.is_queued(Queued::NEGOTIATE);
        if may_terminate && code.is_some() && has_session {
            pending.terminate(context.now.monotonic + self.settings.keep_alive_interval);
        } else {
            pending.close();
        }
        self.faulted = true;
        self.framing_lost |= matches!(error, Error::Framing(_));
        self.notify(context, |listener, sender| listener.on_error(sender, &error));
        self.enter(context, State::Terminating);
    }

    fn warn<L: Listener>(&mut self, context: &mut Context<'_, L>, warning: Warning) {
        self.notify(context, |listener, sender| listener.on_warning(sender, &warning));
    }

    /// Enters `state` and reports the change to the listener.
    fn enter<L: Listener>(&mut self, context: &mut Context<'_, L>, state: State) {
        self.outbound.enter(state);
        if matches!(state, State::Negotiating | State::Establishing) {
            self.response_deadline = self.response_deadline_after(context.now);
            self.logon_attempts = 0;
        }
        self.report_state(context);
    }

    /// Reports state changes that the listener has not received yet.
    #[inline(never)]
    fn report_state<L: Listener>(&mut self, context: &mut Context<'_, L>) {
        while self.last_reported_state != self.outbound.state {
            let state = self.outbound.state;
            self.record_down_since(context.now, state);
            self.last_reported_state = state;
            self.notify(context, |listener, sender| listener.on_state(sender, state));
        }
    }

    /// Records when the session stops being established. Later failed attempts do not change the
    /// time.
    #[cold]
    fn record_down_since(&mut self, now: Now, state: State) {
        if state == State::Established {
            self.down_since = None;
        } else if self.last_reported_state == State::Established {
            self.down_since = Some(now.monotonic);
        }
    }

    /// Calls the listener with the sending half.
    #[inline(always)]
    fn notify<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        call: impl FnOnce(&mut L, &mut Sender<'_>),
    ) {
        let mut sender =
            Sender { outbound: &mut self.outbound, sink: &mut *context.sink, now: context.now };
        call(context.listener, &mut sender);
    }
}

#[cfg(test)]
mod tests;
