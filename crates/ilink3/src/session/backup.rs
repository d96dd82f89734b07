//! The backup connection: session messages only, until the exchange makes it the primary.

use hairpin_time::Now;

use super::{Context, Session};
use crate::listener::Failover;
use crate::{ConnectError, Error, Gap, Listener, Outlet, Progress, SEQ_NUM_MAX, State};

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

    /// Takes the place of the session that was the primary, whose progress is given: messages flow
    /// on this connection from now on. What it has not received is asked for. Does nothing unless
    /// [awaited](Self::awaits_take_over).
    pub fn take_over<L: Listener>(
        &mut self,
        now: Now,
        primary: Progress,
        outlet: &mut dyn Outlet,
        listener: &mut L,
    ) {
        let Some(failover) = self.failover.take() else { return };
        let mut context = Context { now, outlet, listener };
        let present = self.outbound.progress;
        let expected = primary.next_incoming;
        self.outbound.set_backup(false);
        if primary.uuid != present.uuid {
            let (expected, received) = (primary.uuid, present.uuid);
            return self.fail(&mut context, Error::Uuid { expected, received });
        }
        if failover.next_seq_no < expected {
            let received = failover.next_seq_no;
            return self.fail(&mut context, Error::NextSeqNo { expected, received });
        }
        let request_timestamp = primary.request_timestamp.max(present.request_timestamp);
        self.outbound.progress = Progress { request_timestamp, ..primary };
        if failover.next_seq_no > expected {
            let (uuid, to) = (primary.uuid, failover.next_seq_no - 1);
            self.report_gap(&mut context, Gap { uuid, from: expected, to });
        }
        self.begin_recovery(&mut context);
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
        self.inbound.counters.failovers += 1;
        let failover = Failover { uuid: self.outbound.progress.uuid, next_seq_no };
        self.failover = Some(failover);
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
