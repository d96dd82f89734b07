//! The life cycle of a connection and its logon requests.

use hairpin_time::{Instant, Now};
use thiserror::Error;

use super::{Context, Inbound, Session};
use crate::pending::{Pending, Queued};
use crate::replay::AdvertisedSeqNums;
use crate::{
    Binding, DisconnectReason, Error, Listener, OutboundSink, PreviousUuids, SEQ_NUM_MAX, State,
    Warning,
};

/// The reason a session cannot connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The session is connected or connecting.
    #[error("the session is already {0}")]
    Busy(State),
    /// No session was negotiated yet.
    #[error("there is no session to resume")]
    NothingToResume,
    /// The last SeqNum is used: only a new session can be negotiated.
    #[error("the session has used its last sequence number")]
    NumbersExhausted,
}

impl Session {
    /// Requests a connection. The next [`poll_action`](Self::poll_action) returns
    /// [`Action::Connect`](crate::Action::Connect).
    ///
    /// # Errors
    /// [`ConnectError`] if the session is not disconnected, or has nothing to resume.
    pub fn connect(&mut self, now: Now, binding: Binding) -> Result<(), ConnectError> {
        if self.state() != State::Disconnected {
            return Err(ConnectError::Busy(self.state()));
        }
        let begins = matches!(binding, Binding::New | Binding::NewWeek);
        if !begins && self.progress().uuid == 0 {
            return Err(ConnectError::NothingToResume);
        }
        if !begins && self.progress().next_outgoing > SEQ_NUM_MAX {
            return Err(ConnectError::NumbersExhausted);
        }
        self.binding = binding;
        (self.disconnect_reason, self.was_established) = (DisconnectReason::Lost, false);
        (self.faulted, self.framing_lost) = (false, false);
        self.outbound.enter(State::Connecting);
        self.outbound.pending = Pending::connect();
        self.response_deadline = self.response_deadline_after(now);
        Ok(())
    }

    /// Handles an open connection: starts the logon.
    pub fn handle_connected<L: Listener>(
        &mut self,
        now: Now,
        sink: &mut dyn OutboundSink,
        listener: &mut L,
    ) {
        if self.state() != State::Connecting {
            return;
        }
        let mut context = Context { now, sink, listener };
        self.report_state(&mut context);
        self.reassembly.clear();
        self.inbound = Inbound { counters: self.inbound.counters, ..Inbound::default() };
        self.recovery.begin();
        (self.logon_repeated, self.failover) = (false, None);
        (self.outbound.replay, self.outbound.advertised) = (None, AdvertisedSeqNums::default());
        self.outbound.in_doubt_at = None;
        let is_backup = self.binding == Binding::Backup;
        self.outbound.set_backup(is_backup);
        // A backup delivers no business messages.
        self.recovery.current_uuid_blocked = is_backup;
        match self.binding {
            Binding::New | Binding::NewWeek => {
                self.begin_stream(now);
                self.outbound.pending.queue(Queued::NEGOTIATE);
                self.enter(&mut context, State::Negotiating);
            }
            Binding::Resume | Binding::Backup => {
                self.outbound.pending.queue(Queued::ESTABLISH);
                self.enter(&mut context, State::Establishing);
            }
        }
    }

    /// Starts a new UUID; both streams start at 1.
    fn begin_stream(&mut self, now: Now) {
        let progress = &mut self.outbound.progress;
        let uuid = progress.new_uuid(now.utc.as_nanos());
        self.logon_history.record_negotiate(progress, uuid);
        if self.binding == Binding::NewWeek {
            progress.previous_uuids = PreviousUuids::default();
        }
        (progress.uuid, progress.next_outgoing, progress.next_incoming) = (uuid, 1, 1);
    }

    /// Handles the end of the connection: lost, never opened, or closed on the session's request.
    pub fn handle_disconnected<L: Listener>(
        &mut self,
        now: Now,
        sink: &mut dyn OutboundSink,
        listener: &mut L,
    ) {
        let mut context = Context { now, sink, listener };
        self.report_state(&mut context);
        let state = self.state();
        if state == State::Disconnected {
            return;
        }
        if !self.outbound.pending.is_closing() {
            let error = Error::ConnectionLost(state);
            self.inbound.counters.count(&error);
            self.notify(&mut context, |listener, sender| listener.on_error(sender, &error));
        }
        self.outbound.pending = Pending::default();
        self.outbound.replay = None;
        self.failover = None;
        self.enter(&mut context, State::Disconnected);
    }

    /// Repeats the unanswered logon request. Fails if the attempts are used up, or if the request
    /// could not be sent.
    pub(super) fn repeat_logon<L: Listener>(&mut self, context: &mut Context<'_, L>) {
        let state = self.state();
        let pending = &mut self.outbound.pending;
        let request = match state {
            State::Negotiating => Queued::NEGOTIATE,
            _ => Queued::ESTABLISH,
        };
        let attempts = self.policy.logon_attempts.max(1);
        if state == State::Connecting
            || pending.is_queued(request)
            || self.logon_attempts >= attempts
        {
            return self.fail(context, Error::ResponseTimeout(state));
        }
        pending.queue(request);
        self.logon_repeated = true;
        self.inbound.counters.logons_repeated += 1;
        self.response_deadline = self.response_deadline_after(context.now);
        self.warn(context, Warning::LogonRepeated(state));
    }

    /// Returns the deadline for a connection or response: two keep-alive intervals from now.
    pub(super) fn response_deadline_after(&self, now: Now) -> Instant {
        now.monotonic + self.settings.keep_alive_interval * 2
    }
}
