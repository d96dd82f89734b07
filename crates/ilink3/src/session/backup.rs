//! The backup connection: only session messages, until the exchange promotes it to primary.

use hairpin_time::{Instant, Now};

use super::{Context, Session};
use crate::listener::{Failover, Takeover};
use crate::pending::Pending;
use crate::{
    ConnectError, DisconnectReason, Error, Gap, Listener, OutboundSink, Progress, SEQ_NUM_MAX,
    State, Warning,
};

impl Session {
    /// Continues from another session's progress. Call this on a backup session, with its primary's
    /// progress, before it [connects](Session::connect).
    ///
    /// # Errors
    /// [`ConnectError::Busy`] if the session is connected or connecting.
    pub fn follow(&mut self, progress: Progress) -> Result<(), ConnectError> {
        if self.state() != State::Disconnected {
            return Err(ConnectError::Busy(self.state()));
        }
        self.outbound.progress = progress;
        self.primary = (progress.uuid, progress.next_incoming);
        // The progress does not show which messages the exchange has applied.
        self.outbound.confirmed_below = 1;
        Ok(())
    }

    /// Returns `true` if the exchange has promoted this backup session and
    /// [`take_over`](Self::take_over) must be called.
    #[must_use]
    pub fn is_takeover_pending(&self) -> bool {
        self.failover.is_some()
    }

    /// Returns `true` on the backup connection.
    #[must_use]
    pub fn is_backup(&self) -> bool {
        self.outbound.backup
    }

    /// Raises the last used RequestTimestamp to at least `request_timestamp`. A primary and its
    /// backup share the sequence, so each must receive the other's.
    pub fn raise_request_timestamp(&mut self, request_timestamp: u64) {
        let progress = &mut self.outbound.progress;
        progress.request_timestamp = progress.request_timestamp.max(request_timestamp);
    }

    /// Updates the primary's progress on its backup. The next RequestTimestamp here is above the
    /// primary's. A promotion with another UUID, or with fewer messages than the primary has
    /// received, is outdated. It ends this backup connection only.
    ///
    /// Call this before [`handle_bytes`](Self::handle_bytes).
    pub fn update_primary(&mut self, primary: &Progress) {
        self.raise_request_timestamp(primary.request_timestamp);
        self.primary = (primary.uuid, primary.next_incoming);
    }

    /// Takes over from the old primary, given its progress. Business messages flow on this
    /// connection from now on, as [`Listener::on_takeover`] reports. Missing messages are
    /// requested. Does nothing unless a takeover is [pending](Self::is_takeover_pending).
    pub fn take_over<L: Listener>(
        &mut self,
        now: Now,
        primary: Progress,
        sink: &mut dyn OutboundSink,
        listener: &mut L,
    ) {
        let Some((failover, since)) = self.failover.take() else { return };
        self.activate(&mut Context { now, sink, listener }, failover, primary, since);
    }

    /// [Takes over](Self::take_over) from a session whose connection is closed, together with its
    /// throttle, counters and termination request. Afterwards `primary` is disconnected without a
    /// callback and may become the backup of this session.
    ///
    /// The sink must be the one that kept the primary's messages.
    pub fn take_over_from<L: Listener>(
        &mut self,
        now: Now,
        primary: &mut Self,
        sink: &mut dyn OutboundSink,
        listener: &mut L,
    ) {
        let Some((failover, promoted)) = self.failover.take() else { return };
        let since = primary.down_since.map_or(promoted, |down_since| down_since.min(promoted));
        let terminating = primary.is_terminating_gracefully();
        let is_known = primary.last_reported_state == State::Established;
        self.take_over_state(primary);
        let progress = primary.progress();
        primary.disconnect_silently();
        let mut context = Context { now, sink, listener };
        if !is_known && self.state() == State::Established {
            self.notify(&mut context, |listener, sender| {
                listener.on_state(sender, State::Established);
            });
        }
        self.activate(&mut context, failover, progress, since);
        if terminating {
            self.terminate(now);
        }
    }

    /// Returns `true` if a graceful termination was requested.
    fn is_terminating_gracefully(&self) -> bool {
        self.state() == State::Terminating && !self.outbound.pending.is_closing()
    }

    /// Takes over the primary's state that its progress does not contain.
    fn take_over_state(&mut self, primary: &mut Self) {
        self.logon_history = primary.logon_history;
        self.inbound.counters.absorb(&mut primary.inbound.counters);
        let (outbound, theirs) = (&mut self.outbound, &mut primary.outbound);
        outbound.counters.absorb(&mut theirs.counters);
        core::mem::swap(&mut outbound.throttle, &mut theirs.throttle);
        outbound.newest = theirs.newest;
        outbound.advertised = theirs.advertised.on_new_connection();
        outbound.confirmed_below = theirs.confirmed_below;
    }

    /// Disconnects without a callback.
    fn disconnect_silently(&mut self) {
        self.outbound.enter(State::Disconnected);
        self.last_reported_state = State::Disconnected;
        (self.outbound.pending, self.outbound.replay) = (Pending::default(), None);
        (self.failover, self.down_since, self.disconnect_reason) =
            (None, None, DisconnectReason::Lost);
        self.outbound.in_doubt_at = None;
        self.recovery.begin();
        self.reassembly.clear();
    }

    /// Becomes the primary. Nothing could be sent since `since`.
    fn activate<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        failover: Failover,
        primary: Progress,
        since: Instant,
    ) {
        let present = self.outbound.progress;
        let expected = primary.next_incoming;
        self.outbound.set_backup(false);
        if primary.uuid != present.uuid {
            let (expected, received) = (primary.uuid, present.uuid);
            return self.fail(context, Error::Uuid { expected, received });
        }
        if failover.next_seq_no < expected {
            let received = failover.next_seq_no;
            return self.fail(context, Error::NextSeqNo { expected, received });
        }
        let request_timestamp = primary.request_timestamp.max(present.request_timestamp);
        self.outbound.progress = Progress { request_timestamp, ..primary };
        if self.state() != State::Established {
            // The session has already ended; the next logon continues it.
            return;
        }
        self.mark_in_doubt();
        let Progress { uuid, next_outgoing, .. } = primary;
        let (down_for, in_doubt) =
            (context.now.monotonic.saturating_since(since), self.outbound.is_in_doubt());
        let active = Takeover { uuid, next_outgoing, down_for, in_doubt };
        self.notify(context, |listener, sender| listener.on_takeover(sender, active));
        if failover.next_seq_no > expected {
            let to = failover.next_seq_no - 1;
            self.report_gap(context, Gap { uuid, from: expected, to });
        }
        self.begin_recovery(context);
    }

    /// Records that messages sent since the last logon may not have arrived.
    fn mark_in_doubt(&mut self) {
        let outbound = &mut self.outbound;
        let next = outbound.progress.next_outgoing;
        if next > outbound.confirmed_below {
            outbound.in_doubt_at = Some(next);
            // A Sequence queued on the backup would carry the new number.
            outbound.pending.take_sequence();
        }
    }

    /// Terminates gracefully instead of sending a Sequence. The next logon resolves the doubt.
    #[cold]
    pub(super) fn resolve_doubt_by_logon<L: Listener>(&mut self, context: &mut Context<'_, L>) {
        if self.state() != State::Established {
            return;
        }
        self.inbound.counters.settled_by_logon += 1;
        let from = self.outbound.confirmed_below;
        self.outbound.terminate(context.now);
        self.warn(context, Warning::InDoubt { from });
    }

    /// Handles the promotion of this connection to primary. Repeated promotions are ignored.
    pub(super) fn handle_failover<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        next_seq_no: u32,
    ) {
        if self.is_takeover_pending() {
            return;
        }
        if !(1..=SEQ_NUM_MAX + 1).contains(&next_seq_no) {
            let error = Error::NextSeqNo { expected: 1, received: next_seq_no };
            return self.fail(context, error);
        }
        let (uuid, expected) = self.primary;
        let present = self.outbound.progress.uuid;
        if uuid != present {
            return self.fail(context, Error::Uuid { expected: uuid, received: present });
        }
        if next_seq_no < expected {
            return self.fail(context, Error::NextSeqNo { expected, received: next_seq_no });
        }
        self.inbound.counters.failovers += 1;
        let failover = Failover { uuid, next_seq_no };
        self.failover = Some((failover, context.now.monotonic));
        self.hold_from(next_seq_no);
        self.notify(context, |listener, sender| listener.on_failover(sender, failover));
    }

    /// Checks that NextSeqNo is 0, as it always is on a backup.
    pub(super) fn check_backup_next_seq_no<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        received: u32,
    ) -> bool {
        if received != 0 {
            self.fail(context, Error::NextSeqNo { expected: 0, received });
        }
        received == 0
    }
}
