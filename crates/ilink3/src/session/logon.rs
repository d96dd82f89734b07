//! Logon responses, and the missing messages that they reveal.

use hairpin_cme_codecs::ilink3::{EstablishmentAck504, NegotiationResponse501};

use super::logon_history::MissingMessages;
use super::{Context, Session};
use crate::listener::{Established, Rejected};
use crate::pending::Queued;
use crate::{DisconnectReason, Error, Listener, State, Warning};

impl Session {
    pub(super) fn handle_negotiation_response<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        response: NegotiationResponse501<'_>,
    ) {
        if self.check_answer(context, response.uuid(), response.request_timestamp()) {
            self.outbound.pending.queue(Queued::ESTABLISH);
            self.enter(context, State::Establishing);
            let previous = (response.previous_uuid(), response.previous_seq_no());
            let progress = &mut self.outbound.progress;
            let missing =
                self.logon_history.handle_negotiation_response(progress, response.uuid(), previous);
            self.report_missing_messages(context, missing);
        }
    }

    pub(super) fn handle_establishment_ack<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        ack: EstablishmentAck504<'_>,
    ) {
        if !self.check_answer(context, ack.uuid(), ack.request_timestamp())
            || !self.check_next_seq_no(context, ack.next_seq_no())
        {
            return;
        }
        if ack.keep_alive_interval() != self.settings.keep_alive_millis() {
            self.warn(context, Warning::KeepAliveInterval(ack.keep_alive_interval()));
        }
        if !self.outbound.backup {
            // Only now: an unanswered Establish confirms nothing.
            self.outbound.confirmed_below = self.outbound.progress.next_outgoing;
        }
        self.was_established = true;
        self.enter(context, State::Established);
        let established = Established {
            uuid: ack.uuid(),
            next_seq_no: ack.next_seq_no(),
            previous_seq_no: ack.previous_seq_no(),
            previous_uuid: ack.previous_uuid(),
            secret_key_expiration: ack.secret_key_secure_id_expiration(),
            fault_tolerance: ack.fault_tolerance_indicator(),
            environment: ack.environment_indicator(),
        };
        self.notify(context, |listener, sender| listener.on_established(sender, &established));
        self.check_key_expiry(context);
        if !self.outbound.backup {
            self.report_missing(context, &established);
            self.record_published(context, ack.next_seq_no() - 1);
            self.begin_recovery(context);
        }
    }

    pub(super) fn handle_reject<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        rejected: &Rejected<'_>,
    ) {
        self.inbound.counters.rejects += 1;
        self.disconnect_reason = DisconnectReason::Rejected(rejected.code);
        self.outbound.pending.close();
        self.notify(context, |listener, sender| listener.on_reject(sender, rejected));
        self.enter(context, State::Terminating);
    }

    /// Checks that a response echoes the UUID and RequestTimestamp of our request.
    fn check_answer<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        uuid: u64,
        received: u64,
    ) -> bool {
        if !self.check_uuid(context, uuid) {
            return false;
        }
        let is_ours =
            (self.first_request_timestamp..=self.last_request_timestamp).contains(&received);
        if !is_ours {
            let expected = self.last_request_timestamp;
            self.fail(context, Error::RequestTimestamp { expected, received });
        }
        is_ours
    }

    /// Reports missing messages of previous UUIDs.
    fn report_missing<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        established: &Established,
    ) {
        let missing =
            self.logon_history.handle_establishment_ack(&mut self.outbound.progress, established);
        self.report_missing_messages(context, missing);
    }

    fn report_missing_messages<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        missing: MissingMessages,
    ) {
        if let Some(warning) = missing.warning {
            self.inbound.counters.unknown_ends += 1;
            self.warn(context, warning);
        }
        if let Some(gap) = missing.gap {
            self.report_gap(context, gap);
        }
        if let Some(gap) = missing.gap.filter(|_| missing.lost) {
            self.inbound.counters.lost += u64::from(gap.to - gap.from) + 1;
            self.notify(context, |listener, sender| listener.on_lost(sender, gap));
        }
    }
}
