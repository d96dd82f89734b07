//! The backup connection: session messages only, until the exchange makes it the primary.

use hairpin_time::{Instant, Now};

use super::{Context, Session};
use crate::listener::{Active, Failover};
use crate::pending::Pending;
use crate::{
    ConnectError, Ending, Error, Gap, Listener, OutboundSink, Progress, SEQ_NUM_MAX, State, Warning,
};

impl Session {
    /// Goes on from another session's progress: for a backup session, its primary's, before it
    /// [connects](Session::connect).
    ///
    /// # Errors
    /// [`ConnectError::Busy`] if it is connected, or about to be.
    pub fn follow(&mut self, progress: Progress) -> Result<(), ConnectError> {
        if self.state() != State::Disconnected {
            return Err(ConnectError::Busy(self.state()));
        }
        self.outbound.progress = progress;
        self.primary = (progress.uuid, progress.next_incoming);
        // Which of them the exchange has is not told here.
        self.outbound.settled_below = 1;
        Ok(())
    }

    /// Whether the exchange has made this backup session the primary and
    /// [`take_over`](Self::take_over) is to be called.
    #[must_use]
    pub fn awaits_take_over(&self) -> bool {
        self.failover.is_some()
    }

    /// Whether the session is on the backup connection.
    #[must_use]
    pub fn is_backup(&self) -> bool {
        self.outbound.is_backup
    }

    /// Another session of the same identity has used this RequestTimestamp: the next one here is
    /// above it. For a primary and its backup, each told of the other's.
    pub fn note_request_timestamp(&mut self, request_timestamp: u64) {
        let progress = &mut self.outbound.progress;
        progress.request_timestamp = progress.request_timestamp.max(request_timestamp);
    }

    /// What the primary of this backup has come to since the backup [followed](Self::follow) it:
    /// above its RequestTimestamp is the next one here, and a failover that says less than it has
    /// received, or is of another UUID, is of the past. That ends this connection alone: it stands
    /// by for nothing any more.
    ///
    /// To be called before [`handle_bytes`](Self::handle_bytes).
    pub fn note_primary(&mut self, primary: &Progress) {
        self.note_request_timestamp(primary.request_timestamp);
        self.primary = (primary.uuid, primary.next_incoming);
    }

    /// Takes the place of the session that was the primary, whose progress is given: messages flow
    /// on this connection from now on, and [`Listener::on_active`] says so. What it has not
    /// received is asked for. Does nothing unless [awaited](Self::awaits_take_over).
    pub fn take_over<L: Listener>(
        &mut self,
        now: Now,
        primary: Progress,
        outlet: &mut dyn OutboundSink,
        listener: &mut L,
    ) {
        let Some((failover, since)) = self.failover.take() else { return };
        self.activate(&mut Context { now, outlet, listener }, failover, primary, since);
    }

    /// [Takes over](Self::take_over) from a session whose connection is gone, with all it knows
    /// beyond its progress: its limits go on and so does its counting, and if it was about to
    /// terminate so is this one. It is disconnected afterwards without a word to the listener, and
    /// may be the backup of this one.
    ///
    /// The outlet has to be the one that keeps what the primary has sent.
    pub fn take_over_from<L: Listener>(
        &mut self,
        now: Now,
        primary: &mut Self,
        outlet: &mut dyn OutboundSink,
        listener: &mut L,
    ) {
        let Some((failover, promoted)) = self.failover.take() else { return };
        let since = primary.ceased.map_or(promoted, |ceased| ceased.min(promoted));
        let is_leaving = primary.is_leaving();
        let is_known = primary.told == State::Established;
        self.inherit(primary);
        let progress = primary.progress();
        primary.step_back();
        let mut context = Context { now, outlet, listener };
        if !is_known && self.state() == State::Established {
            self.tell(&mut context, |listener, sender| {
                listener.on_state(sender, State::Established);
            });
        }
        self.activate(&mut context, failover, progress, since);
        if is_leaving {
            self.terminate(now);
        }
    }

    /// Whether it has been asked to terminate gracefully.
    fn is_leaving(&self) -> bool {
        self.state() == State::Terminating && !self.outbound.pending.is_closing()
    }

    /// Takes what `primary` knows and its progress does not say.
    fn inherit(&mut self, primary: &mut Self) {
        self.earlier = primary.earlier;
        self.inbound.counters.absorb(&mut primary.inbound.counters);
        let (outbound, theirs) = (&mut self.outbound, &mut primary.outbound);
        outbound.counters.absorb(&mut theirs.counters);
        core::mem::swap(&mut outbound.throttle, &mut theirs.throttle);
        outbound.newest = theirs.newest;
        outbound.told = theirs.told.on_another_connection();
        outbound.settled_below = theirs.settled_below;
    }

    /// Is disconnected from now on, and nobody is told.
    fn step_back(&mut self) {
        self.outbound.enter(State::Disconnected);
        self.told = State::Disconnected;
        (self.outbound.pending, self.outbound.replay) = (Pending::default(), None);
        (self.failover, self.ceased, self.ending) = (None, None, Ending::Lost);
        self.outbound.doubted_at = None;
        self.recovery.begin();
        self.reassembly.clear();
    }

    /// Is the primary from now on; nothing could be sent since `since`.
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
            // It has ended already: the next logon goes on.
            return;
        }
        self.doubt();
        let Progress { uuid, next_outgoing, .. } = primary;
        let (down_for, in_doubt) =
            (context.now.monotonic.saturating_since(since), self.outbound.is_in_doubt());
        let active = Active { uuid, next_outgoing, down_for, in_doubt };
        self.tell(context, |listener, sender| listener.on_active(sender, active));
        if failover.next_seq_no > expected {
            let to = failover.next_seq_no - 1;
            self.report_gap(context, Gap { uuid, from: expected, to });
        }
        self.begin_recovery(context);
    }

    /// What was sent since the last logon may not have arrived.
    fn doubt(&mut self) {
        let outbound = &mut self.outbound;
        let next = outbound.progress.next_outgoing;
        if next > outbound.settled_below {
            outbound.doubted_at = Some(next);
            // One that was to leave on the backup would have the new number.
            outbound.pending.take_sequence();
        }
    }

    /// Ends the session gracefully in the place of a sign of life: the next logon settles what is
    /// in doubt.
    #[cold]
    pub(super) fn settle_by_logon<L: Listener>(&mut self, context: &mut Context<'_, L>) {
        if self.state() != State::Established {
            return;
        }
        self.inbound.counters.settled_by_logon += 1;
        let from = self.outbound.settled_below;
        self.outbound.terminate(context.now);
        self.warn(context, Warning::InDoubt { from });
    }

    /// The exchange says that this connection is the primary now. The first time counts.
    pub(super) fn handle_failover<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        next_seq_no: u32,
    ) {
        if self.awaits_take_over() {
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
        self.tell(context, |listener, sender| listener.on_failover(sender, failover));
    }

    /// Whether NextSeqNo is 0, as everywhere on the backup.
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
