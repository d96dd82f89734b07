//! Business messages that are not the next in sequence: held, dropped, rejected or delivered.

use super::{Context, Session};
use crate::listener::{Gap, Message};
use crate::{Error, Listener, State, Warning};

impl Session {
    /// Handles a message that is not the next one of the current UUID. Returns `true` if it must be
    /// delivered because it was missing under a previous UUID. Any other message is held, dropped
    /// or a fault.
    #[cold]
    pub(super) fn handle_out_of_sequence<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        message: Message<'_>,
    ) -> bool {
        let message = &message;
        let (state, progress) = (self.state(), &self.outbound.progress);
        let missing =
            progress.previous_uuids.first_gap().filter(|_| self.recovery.current_uuid_blocked);
        let is_backup = self.outbound.backup && !self.is_takeover_pending();
        if is_backup || !matches!(state, State::Established | State::Terminating) {
            let template_id = message.header.template_id;
            self.fail(context, Error::Unexpected { template_id, state });
        } else if !self.was_established {
            // The session started to terminate before the logon response, which would report the
            // messages before this one.
            self.inbound.counters.undelivered += 1;
        } else if message.uuid == progress.uuid {
            self.handle_current_uuid(context, message);
        } else if !message.possible_retransmission {
            let (expected, received) = (progress.uuid, message.uuid);
            self.fail(context, Error::Uuid { expected, received });
        } else if let Some(gap) = missing.filter(|gap| gap.uuid == message.uuid) {
            return self.handle_previous_uuid(context, gap, message);
        } else {
            self.drop_retransmitted(context, message);
        }
        false
    }

    /// Handles a message of the current UUID that is not next, or that may not be delivered yet.
    fn handle_current_uuid<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        message: &Message<'_>,
    ) {
        let expected = self.outbound.progress.next_incoming;
        let (received, known) = (message.seq_num, self.last_published());
        let possible = message.possible_retransmission;
        if possible && received < expected {
            self.drop_retransmitted(context, message);
        } else if possible && received <= known {
            self.handle_retransmission_gap(context, message);
        } else if received <= known || received > crate::SEQ_NUM_MAX {
            self.fail(context, Error::SeqNum { expected: known + 1, received });
        } else {
            self.record_published(context, received - 1);
            self.recovery.last_published = received;
            self.hold(context, message);
        }
    }

    /// Handles a possible retransmission under the previous UUID of `gap`.
    fn handle_previous_uuid<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        gap: Gap,
        message: &Message<'_>,
    ) -> bool {
        if !(gap.from..=gap.to).contains(&message.seq_num) {
            self.drop_retransmitted(context, message);
        } else if message.seq_num > gap.from {
            self.handle_retransmission_gap(context, message);
        } else {
            self.outbound.progress.previous_uuids.close_to(message.seq_num);
            self.inbound.counters.business_messages += 1;
            self.inbound.counters.retransmitted += 1;
            return true;
        }
        false
    }

    fn drop_retransmitted<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        message: &Message<'_>,
    ) {
        self.inbound.counters.retransmissions_dropped += 1;
        let Message { uuid, seq_num, .. } = *message;
        self.warn(context, Warning::Retransmitted { uuid, seq_num });
    }

    /// Handles a retransmitted message that arrived before others of the same retransmission. The
    /// missing ones, and all later ones of this retransmission, are requested again.
    fn handle_retransmission_gap<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        message: &Message<'_>,
    ) {
        let Message { uuid, seq_num, .. } = *message;
        self.inbound.counters.retransmission_gaps += 1;
        self.recovery.extend_deadline(context.now, self.retransmission_timeout());
        self.warn(context, Warning::RetransmissionGap { uuid, seq_num });
        if self.recovery.ends_request(uuid, seq_num) {
            self.retry_request(context);
        }
    }

    /// Holds a message until the messages before it have arrived.
    fn hold<L: Listener>(&mut self, context: &mut Context<'_, L>, message: &Message<'_>) {
        self.mark_incomplete();
        // A terminating session requests nothing more.
        let terminating = self.state() != State::Established;
        if terminating {
            self.inbound.counters.undelivered += 1;
            return;
        }
        if self.recovery.held.push(message.seq_num, &message.header, message.body) {
            self.inbound.counters.held += 1;
            return;
        }
        self.inbound.counters.undelivered += 1;
        if !core::mem::replace(&mut self.recovery.overflowed, true) {
            self.inbound.counters.held_overflows += 1;
            self.warn(context, Warning::HeldOverflow { seq_num: message.seq_num });
        }
    }
}
