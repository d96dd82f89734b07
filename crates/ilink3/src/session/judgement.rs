//! Business messages that are not plainly the next one: held, dropped, a fault, or delivered all
//! the same.

use super::{Context, Session};
use crate::listener::{Gap, Message};
use crate::{Error, Listener, State, Warning};

impl Session {
    /// Whether a message is to be delivered that is not plainly the next one: one that was missing
    /// under an earlier UUID. Any other is held, dropped or a fault.
    #[cold]
    pub(super) fn judge<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        message: Message<'_>,
    ) -> bool {
        let message = &message;
        let (state, progress) = (self.state(), &self.outbound.progress);
        let missing = progress.earlier.first_missing().filter(|_| self.recovery.is_earlier);
        let is_backup = self.outbound.is_backup && !self.awaits_take_over();
        if is_backup || !matches!(state, State::Established | State::Terminating) {
            let template_id = message.header.template_id;
            self.fail(context, Error::Unexpected { template_id, state });
        } else if !self.was_established {
            // We were leaving before the answer came that says what is before it.
            self.inbound.counters.undelivered += 1;
        } else if message.uuid == progress.uuid {
            self.judge_present(context, message);
        } else if !message.possible_retransmission {
            let (expected, received) = (progress.uuid, message.uuid);
            self.fail(context, Error::Uuid { expected, received });
        } else if let Some(gap) = missing.filter(|gap| gap.uuid == message.uuid) {
            return self.judge_earlier(context, gap, message);
        } else {
            self.drop_retransmitted(context, message);
        }
        false
    }

    /// A message of the present UUID that is not the next one, or that is not to be delivered yet.
    fn judge_present<L: Listener>(&mut self, context: &mut Context<'_, L>, message: &Message<'_>) {
        let expected = self.outbound.progress.next_incoming;
        let (received, known) = (message.seq_num, self.known());
        let possible = message.possible_retransmission;
        if possible && received < expected {
            self.drop_retransmitted(context, message);
        } else if possible && received <= known {
            self.come_too_early(context, message);
        } else if received <= known || received > crate::SEQ_NUM_MAX {
            self.fail(context, Error::SeqNum { expected: known + 1, received });
        } else {
            self.publish(context, received - 1);
            self.recovery.known = received;
            self.hold(context, message);
        }
    }

    /// A possible retransmission under the earlier UUID of which `gap` is missing.
    fn judge_earlier<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        gap: Gap,
        message: &Message<'_>,
    ) -> bool {
        if !(gap.from..=gap.to).contains(&message.seq_num) {
            self.drop_retransmitted(context, message);
        } else if message.seq_num > gap.from {
            self.come_too_early(context, message);
        } else {
            self.outbound.progress.earlier.settle(message.seq_num);
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

    /// A message of a retransmission has come before others of it: these are asked for again, and
    /// with them all that follows in this retransmission.
    fn come_too_early<L: Listener>(&mut self, context: &mut Context<'_, L>, message: &Message<'_>) {
        let Message { uuid, seq_num, .. } = *message;
        self.inbound.counters.retransmission_gaps += 1;
        self.recovery.moved(context.now, self.retransmission_timeout());
        self.warn(context, Warning::RetransmissionGap { uuid, seq_num });
        if self.recovery.is_asked_to(uuid, seq_num) {
            self.ask_again(context);
        }
    }

    /// Keeps a message until those before it are there.
    fn hold<L: Listener>(&mut self, context: &mut Context<'_, L>, message: &Message<'_>) {
        self.miss();
        // Nothing is asked for any more once we are leaving.
        let is_leaving = self.state() != State::Established;
        if is_leaving {
            self.inbound.counters.undelivered += 1;
            return;
        }
        if self.recovery.held.push(message.seq_num, &message.header, message.body) {
            self.inbound.counters.held += 1;
            return;
        }
        self.inbound.counters.undelivered += 1;
        if !core::mem::replace(&mut self.recovery.has_overflowed, true) {
            self.inbound.counters.held_overflows += 1;
            self.warn(context, Warning::HeldOverflow { seq_num: message.seq_num });
        }
    }
}
