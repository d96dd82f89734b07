//! The connection, from being asked for to its end, and the requests of a logon on it.

use hairpin_time::{Instant, Now};
use thiserror::Error;

use super::{Context, Inbound, Session};
use crate::pending::{Pending, Wanted};
use crate::replay::Told;
use crate::{
    Binding, Ending, Error, Listener, OutboundSink, PreviousUuids, SEQ_NUM_MAX, State, Warning,
};

/// Why a session does not connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// It is connected, or about to be.
    #[error("the session is {0} already")]
    Busy(State),
    /// There is no session to resume: nothing was negotiated yet.
    #[error("there is no session to resume")]
    NothingToResume,
    /// The session has used its last number: only a new one can be negotiated.
    #[error("the session has used its last sequence number")]
    NumbersExhausted,
}

impl Session {
    /// Asks for a connection: the next [`poll_action`](Self::poll_action) says so.
    ///
    /// # Errors
    /// [`ConnectError`] if there is one already, or nothing to resume.
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
        (self.ending, self.was_established) = (Ending::Lost, false);
        self.outbound.enter(State::Connecting);
        self.outbound.pending = Pending::connect();
        self.response_deadline = self.response_deadline_after(now);
        Ok(())
    }

    /// The connection is there: logs on.
    pub fn handle_connected<L: Listener>(
        &mut self,
        now: Now,
        outlet: &mut dyn OutboundSink,
        listener: &mut L,
    ) {
        if self.state() != State::Connecting {
            return;
        }
        let mut context = Context { now, outlet, listener };
        self.settle(&mut context);
        self.reassembly.clear();
        self.inbound = Inbound { counters: self.inbound.counters, ..Inbound::default() };
        self.recovery.begin();
        (self.has_repeated, self.failover) = (false, None);
        (self.outbound.replay, self.outbound.told) = (None, Told::default());
        self.outbound.doubted_at = None;
        let is_backup = self.binding == Binding::Backup;
        self.outbound.set_backup(is_backup);
        // No business message is taken as the next one while it is the backup.
        self.recovery.is_earlier = is_backup;
        match self.binding {
            Binding::New | Binding::NewWeek => {
                self.begin_stream(now);
                self.outbound.pending.want(Wanted::NEGOTIATE);
                self.enter(&mut context, State::Negotiating);
            }
            Binding::Resume | Binding::Backup => {
                self.outbound.pending.want(Wanted::ESTABLISH);
                self.enter(&mut context, State::Establishing);
            }
        }
    }

    /// Takes a new UUID; both streams begin at 1.
    fn begin_stream(&mut self, now: Now) {
        let progress = &mut self.outbound.progress;
        let uuid = progress.new_uuid(now.utc.as_nanos());
        self.earlier.negotiate(progress, uuid);
        if self.binding == Binding::NewWeek {
            progress.earlier = PreviousUuids::default();
        }
        (progress.uuid, progress.next_outgoing, progress.next_incoming) = (uuid, 1, 1);
    }

    /// The connection is gone, or could not be made, or was closed as the session wanted.
    pub fn handle_disconnected<L: Listener>(
        &mut self,
        now: Now,
        outlet: &mut dyn OutboundSink,
        listener: &mut L,
    ) {
        let mut context = Context { now, outlet, listener };
        self.settle(&mut context);
        let state = self.state();
        if state == State::Disconnected {
            return;
        }
        if !self.outbound.pending.was_closed() {
            let error = Error::ConnectionLost(state);
            self.inbound.counters.count(&error);
            self.tell(&mut context, |listener, sender| listener.on_error(sender, &error));
        }
        self.outbound.pending = Pending::default();
        self.outbound.replay = None;
        self.failover = None;
        self.enter(&mut context, State::Disconnected);
    }

    /// Sends the request that was not answered again, unless that was done often enough, or it
    /// could not even leave.
    pub(super) fn repeat_logon<L: Listener>(&mut self, context: &mut Context<'_, L>) {
        let state = self.state();
        let pending = &mut self.outbound.pending;
        let request = match state {
            State::Negotiating => Wanted::NEGOTIATE,
            _ => Wanted::ESTABLISH,
        };
        let attempts = self.conduct.logon_attempts.max(1);
        if state == State::Connecting || pending.wants(request) || self.logon_attempts >= attempts {
            return self.fail(context, Error::ResponseTimeout(state));
        }
        pending.want(request);
        self.has_repeated = true;
        self.inbound.counters.logons_repeated += 1;
        self.response_deadline = self.response_deadline_after(context.now);
        self.warn(context, Warning::LogonRepeated(state));
    }

    /// A connection or an answer is given up after two keep-alive intervals.
    pub(super) fn response_deadline_after(&self, now: Now) -> Instant {
        now.monotonic + self.settings.keep_alive_interval * 2
    }
}
