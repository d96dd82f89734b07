//! Session messages of the exchange, dispatched by template and state.

use hairpin_cme_codecs::ilink3::*;

use super::inbound::{Frame, decode};
use super::{Context, Session};
use crate::listener::{Rejected, Terminated};
use crate::{
    DisconnectReason, Error, Listener, RejectCode, SEQ_NUM_MAX, State, TerminateCode, Warning,
};

impl Session {
    pub(super) fn handle_session_message<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        frame: Frame<'_>,
    ) {
        self.inbound.counters.session_messages += 1;
        let (template_id, state) = (frame.header.template_id, self.state());
        match (template_id, state) {
            (Terminate507::TEMPLATE_ID, _) => decode!(self, context, frame,
                Terminate507 as terminate => self.handle_terminate(context, terminate)),
            (NegotiationResponse501::TEMPLATE_ID, State::Negotiating) => decode!(self, context,
                frame, NegotiationResponse501 as response =>
                self.handle_negotiation_response(context, response)),
            (NegotiationReject502::TEMPLATE_ID, State::Negotiating) => decode!(self, context,
            frame, NegotiationReject502 as reject =>
            self.handle_reject(context, &Rejected {
                state,
                code: RejectCode(reject.error_codes()),
                reason: reject.reason(),
                next_seq_no: None,
                fault_tolerance: reject.fault_tolerance_indicator(),
            })),
            (EstablishmentAck504::TEMPLATE_ID, State::Establishing) => decode!(self, context,
                frame, EstablishmentAck504 as ack =>
                self.handle_establishment_ack(context, ack)),
            (EstablishmentReject505::TEMPLATE_ID, State::Establishing) => decode!(self, context,
            frame, EstablishmentReject505 as reject =>
            self.handle_reject(context, &Rejected {
                state,
                code: RejectCode(reject.error_codes()),
                reason: reject.reason(),
                next_seq_no: Some(reject.next_seq_no()),
                fault_tolerance: reject.fault_tolerance_indicator(),
            })),
            // A repeated request may have been unnecessary; then both are answered.
            (NegotiationResponse501::TEMPLATE_ID, State::Establishing | State::Established)
            | (EstablishmentAck504::TEMPLATE_ID, State::Established)
                if self.logon_repeated =>
            {
                self.warn_unrequested(context, template_id);
            }
            (Sequence506::TEMPLATE_ID, State::Established) => decode!(self, context,
                frame, Sequence506 as sequence => self.handle_sequence(context, sequence)),
            (NotApplied513::TEMPLATE_ID, State::Established) => decode!(self, context,
                frame, NotApplied513 as not_applied =>
                self.handle_not_applied(context, not_applied)),
            (Retransmission509::TEMPLATE_ID, State::Established) => decode!(self, context,
                frame, Retransmission509 as announced =>
                self.handle_retransmission(context, announced)),
            (RetransmitReject510::TEMPLATE_ID, State::Established) => decode!(self, context,
                frame, RetransmitReject510 as reject =>
                self.handle_retransmit_reject(context, reject)),
            (
                Negotiate500::TEMPLATE_ID
                | Establish503::TEMPLATE_ID
                | RetransmitRequest508::TEMPLATE_ID
                | 511
                | 512,
                _,
            ) => {
                self.fail(context, Error::UnknownTemplate(template_id));
            }
            // While terminating, only the confirmation of our Terminate matters.
            (_, State::Terminating) => {}
            _ => self.fail(context, Error::Unexpected { template_id, state }),
        }
    }

    fn handle_sequence<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        sequence: Sequence506<'_>,
    ) {
        if !self.check_uuid(context, sequence.uuid()) {
            return;
        }
        let next_seq_no = sequence.next_seq_no();
        let is_primary = sequence.fault_tolerance_indicator() == Some(FTI::PRIMARY);
        if self.outbound.backup && (is_primary || self.is_takeover_pending()) {
            return self.handle_failover(context, next_seq_no);
        }
        if !self.check_next_seq_no(context, next_seq_no) {
            return;
        }
        if !self.outbound.backup {
            self.record_published(context, next_seq_no - 1);
        }
        if sequence.keep_alive_interval_lapsed() == KeepAliveLapsed::LAPSED {
            self.inbound.counters.asked_for_life += 1;
            self.send_sequence(context, false);
            self.warn(context, Warning::SequenceRequested);
        }
    }

    fn handle_terminate<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        terminate: Terminate507<'_>,
    ) {
        self.inbound.counters.terminates += 1;
        let deadline = context.now.monotonic + self.settings.keep_alive_interval;
        let pending = &mut self.outbound.pending;
        let solicited = pending.awaiting_confirmation;
        if !self.faulted {
            self.disconnect_reason = match solicited {
                true => DisconnectReason::Finished,
                false => DisconnectReason::Terminated(TerminateCode(terminate.error_codes())),
            };
        }
        if solicited {
            pending.close();
        } else {
            pending.confirm_and_close(terminate.request_timestamp(), deadline);
        }
        self.enter(context, State::Terminating);
        let terminated = Terminated {
            code: TerminateCode(terminate.error_codes()),
            reason: terminate.reason(),
            solicited,
        };
        self.notify(context, |listener, sender| listener.on_terminate(sender, &terminated));
    }

    pub(super) fn check_uuid<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        received: u64,
    ) -> bool {
        let expected = self.outbound.progress.uuid;
        if received != expected {
            self.fail(context, Error::Uuid { expected, received });
        }
        received == expected
    }

    /// Checks that the exchange's NextSeqNo is at least the expected number.
    pub(super) fn check_next_seq_no<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        received: u32,
    ) -> bool {
        if self.outbound.backup {
            return self.check_backup_next_seq_no(context, received);
        }
        let expected = self.next_published();
        // One above the maximum means that no more messages follow.
        let is_possible = (expected..=SEQ_NUM_MAX + 1).contains(&received);
        if !is_possible {
            self.fail(context, Error::NextSeqNo { expected, received });
        }
        is_possible
    }
}
