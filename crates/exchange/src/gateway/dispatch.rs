//! Dispatch of frames: decodes the message and checks whether the session state allows it.

use hairpin_cme_codecs::ilink3::{
    Establish503, KeepAliveLapsed, MESSAGES, MassQuote517, MassQuoteRequest567, Negotiate500,
    NewOrderCross544, NewOrderSingle514, OrderCancelReplaceRequest515, OrderCancelRequest516,
    OrderMassActionRequest529, OrderMassStatusRequest530, OrderStatusRequest533,
    PartyDetailsDefinitionRequest518, PartyDetailsListRequest537, QuoteCancel528,
    QuoteCancelByGroup569, QuoteCancelByInstrument570, QuoteCancelBySet568, RequestForCross566,
    RequestForQuote543, RetransmitRequest508, SCHEMA_ID, Sequence506, Terminate507,
};
use hairpin_sbe::MessageHeader;
use hairpin_time::Now;

use super::account::Account;
use super::check::{self, RejectCause};
use super::faults::Faults;
use super::order_parties::OrderParties;
use super::order_requests::SEQUENCE_MAX;
use super::party_requests::OnDemand;
use super::reason_codes::{BusinessReason, TerminateCode};
use super::request::{ClientOrder, Request};
use super::session::Session;
use super::settings::Rules;
use super::{GatewayCounters, Rejected, SessionState};
use crate::{Listener, Market};

/// The context for handling one frame of one connection.
pub(super) struct FrameHandler<'a, L> {
    pub(super) now: Now,
    pub(super) session: &'a mut Session,
    pub(super) accounts: &'a mut [Account],
    pub(super) orders: &'a mut [ClientOrder],
    pub(super) departed: &'a mut Vec<ClientOrder>,
    pub(super) order_parties: &'a mut OrderParties,
    pub(super) executions: &'a mut u64,
    pub(super) counters: &'a mut GatewayCounters,
    pub(super) rules: &'a Rules,
    pub(super) faults: &'a mut Option<Box<Faults>>,
    pub(super) listener: &'a mut L,
    /// The number of orders to reject, for tests.
    pub(super) orders_to_reject: &'a mut u32,
    /// A connection that this one has displaced.
    pub(super) displaced: &'a mut Option<u32>,
    /// Set if other connections have to end too.
    pub(super) has_orphans: &'a mut bool,
}

/// The templates of business messages that clients may send and this gateway does not support, with
/// the offset of SeqNum in each.
const UNSUPPORTED: [(u16, usize); 2] = [(539, 17), (560, 17)];

/// Returns CME's message type, the FIX tag 35 value.
pub(super) fn message_type(header: &MessageHeader) -> &'static str {
    let message = MESSAGES.iter().find(|message| message.template_id == header.template_id);
    message.map_or("", |message| message.semantic_type)
}

/// Returns the offset of SeqNum in a business message that clients send, supported or not.
pub(super) fn number_offset(template: u16) -> Option<usize> {
    match template {
        514..=518 | 528..=530 | 533 | 543 | 544 | 566..=570 => Some(17),
        537 => Some(16),
        _ => UNSUPPORTED
            .iter()
            .find(|(unsupported, _)| *unsupported == template)
            .map(|(_, offset)| *offset),
    }
}

/// Returns the tag of a character that contains the text `0`. The schema's null value of characters
/// reads like that, but the null on the wire is 0x00, and CME refuses `0`.
fn text_null(header: &MessageHeader, body: &[u8]) -> Option<u16> {
    let fields: &[(usize, u16)] = match header.template_id {
        NewOrderSingle514::TEMPLATE_ID => &[(112, check::tag::EXECUTION_MODE)],
        OrderCancelReplaceRequest515::TEMPLATE_ID => &[(121, check::tag::EXECUTION_MODE)],
        PartyDetailsDefinitionRequest518::TEMPLATE_ID => {
            &[(124, check::tag::CMTA_GIVEUP_CD), (127, check::tag::SMPI)]
        }
        _ => return None,
    };
    let block = body.get(..usize::from(header.block_length))?;
    let found = fields.iter().find(|(offset, _)| block.get(*offset) == Some(&b'0'))?;
    Some(found.1)
}

/// Reads the sequence number at `offset` of a message's block, if the block is long enough.
pub(super) fn number_at(header: &MessageHeader, body: &[u8], offset: usize) -> Option<u32> {
    let block = body.get(..usize::from(header.block_length))?;
    block.get(offset..)?.first_chunk().copied().map(u32::from_le_bytes)
}

/// Returns the UUID of a message before a logon, which a Terminate repeats; 0 if it has none.
#[cold]
fn claimed_uuid(header: &MessageHeader, body: &[u8]) -> u64 {
    macro_rules! uuid_of {
        ($message:ident) => {{
            let mut scratch = $message::SCRATCH;
            $message::decode(header, body, &mut scratch).map(|message| message.uuid())
        }};
    }
    let uuid = match header.template_id {
        Negotiate500::TEMPLATE_ID => uuid_of!(Negotiate500),
        Establish503::TEMPLATE_ID => uuid_of!(Establish503),
        Sequence506::TEMPLATE_ID => uuid_of!(Sequence506),
        Terminate507::TEMPLATE_ID => uuid_of!(Terminate507),
        RetransmitRequest508::TEMPLATE_ID => uuid_of!(RetransmitRequest508),
        _ => Ok(0),
    };
    uuid.unwrap_or(0)
}

impl<L: Listener> FrameHandler<'_, L> {
    pub(super) fn fail(&mut self, code: TerminateCode) {
        self.session.fail(self.now, code, self.counters, self.listener);
    }

    /// Ends the session for a message that is not allowed in this state, or has invalid fields.
    pub(super) fn violate(&mut self, code: TerminateCode) {
        self.counters.violations += 1;
        self.fail(code);
    }

    /// Handles a frame, which starts at its SBE header.
    pub(super) fn handle_frame(&mut self, frame: &[u8], market: &mut impl Market) {
        self.counters.frames += 1;
        self.session.last_received = self.now.monotonic;
        self.session.lapse_sent = None;
        let Ok((header, body)) = MessageHeader::decode(frame) else {
            return self.fail_undecodable();
        };
        let is_terminate = header.template_id == Terminate507::TEMPLATE_ID;
        if self.session.state == SessionState::Terminating && !is_terminate {
            // After our own Terminate only its answer matters; nothing else may be sent.
            return;
        }
        if header.schema_id != SCHEMA_ID {
            return self.fail_undecodable();
        }
        if self.session.state == SessionState::Connected {
            self.session.uuid = claimed_uuid(&header, body);
        }
        match header.template_id {
            Negotiate500::TEMPLATE_ID => {
                let mut scratch = Negotiate500::SCRATCH;
                match Negotiate500::decode(&header, body, &mut scratch) {
                    Ok(message) => self.handle_negotiate(&message),
                    Err(_) => self.fail_undecodable(),
                }
            }
            Establish503::TEMPLATE_ID => {
                let mut scratch = Establish503::SCRATCH;
                match Establish503::decode(&header, body, &mut scratch) {
                    Ok(message) => self.handle_establish(&message),
                    Err(_) => self.fail_undecodable(),
                }
            }
            _ => self.handle_session_frame(&header, body, market),
        }
    }

    fn handle_session_frame(
        &mut self,
        header: &MessageHeader,
        body: &[u8],
        market: &mut impl Market,
    ) {
        let is_terminate = header.template_id == Terminate507::TEMPLATE_ID;
        let account = match (self.session.state, self.session.account) {
            (SessionState::Established, Some(account)) => account,
            (SessionState::Terminating | SessionState::Negotiated, _) if is_terminate => {
                return self.handle_terminate(header, body);
            }
            (SessionState::Negotiated, _) => return self.violate(TerminateCode::NotEstablished),
            _ => return self.violate(TerminateCode::Unnegotiated),
        };
        if self.session.backup && self.reject_on_backup(header, body) {
            return;
        }
        if self.rules.limits.is_some() && self.exceeds_rate_limits(account, header, body, market) {
            return;
        }
        if self.session.on_demand != OnDemand::None {
            return self.handle_after_on_demand(account, header, body, market);
        }
        self.handle_message(account, header, body, market);
    }

    /// Handles a message of an established session.
    pub(super) fn handle_message(
        &mut self,
        account: usize,
        header: &MessageHeader,
        body: &[u8],
        market: &mut impl Market,
    ) {
        if let Some(tag) = text_null(header, body) {
            return self.reject_text_null(account, header, body, tag);
        }
        match header.template_id {
            NewOrderSingle514::TEMPLATE_ID => {
                let mut scratch = NewOrderSingle514::SCRATCH;
                match NewOrderSingle514::decode(header, body, &mut scratch) {
                    Ok(message) => self.handle_new_order(account, &message, market),
                    Err(_) => self.reject_undecodable(account, b"D"),
                }
            }
            OrderCancelReplaceRequest515::TEMPLATE_ID => {
                let mut scratch = OrderCancelReplaceRequest515::SCRATCH;
                match OrderCancelReplaceRequest515::decode(header, body, &mut scratch) {
                    Ok(message) => self.handle_replace_request(account, &message, market),
                    Err(_) => self.reject_undecodable(account, b"G"),
                }
            }
            OrderCancelRequest516::TEMPLATE_ID => {
                let mut scratch = OrderCancelRequest516::SCRATCH;
                match OrderCancelRequest516::decode(header, body, &mut scratch) {
                    Ok(message) => self.handle_cancel_request(account, &message, market),
                    Err(_) => self.reject_undecodable(account, b"F"),
                }
            }
            517 | 518 | 528..=530 | 533 | 537 | 543 | 544 | 566..=570 => {
                self.handle_other_request(account, header, body, market);
            }
            _ => self.handle_session_message(account, header, body),
        }
    }

    /// Handles requests about many orders, order status, quotes, crosses or party details.
    fn handle_other_request(
        &mut self,
        account: usize,
        header: &MessageHeader,
        body: &[u8],
        market: &mut impl Market,
    ) {
        macro_rules! decoded {
            ($message:ident, $handle:ident, $message_type:literal) => {{
                let mut scratch = $message::SCRATCH;
                match $message::decode(header, body, &mut scratch) {
                    Ok(message) => self.$handle(account, &message, market),
                    Err(_) => self.reject_undecodable(account, $message_type),
                }
            }};
        }
        match header.template_id {
            OrderStatusRequest533::TEMPLATE_ID => {
                decoded!(OrderStatusRequest533, handle_status_request, b"H");
            }
            OrderMassStatusRequest530::TEMPLATE_ID => {
                decoded!(OrderMassStatusRequest530, handle_mass_status_request, b"AF");
            }
            OrderMassActionRequest529::TEMPLATE_ID => {
                decoded!(OrderMassActionRequest529, handle_mass_action, b"CA");
            }
            PartyDetailsDefinitionRequest518::TEMPLATE_ID => {
                let mut scratch = PartyDetailsDefinitionRequest518::SCRATCH;
                match PartyDetailsDefinitionRequest518::decode(header, body, &mut scratch) {
                    Ok(message) => self.handle_party_details(account, &message),
                    Err(_) => self.reject_undecodable(account, b"CX"),
                }
            }
            PartyDetailsListRequest537::TEMPLATE_ID => {
                let mut scratch = PartyDetailsListRequest537::SCRATCH;
                match PartyDetailsListRequest537::decode(header, body, &mut scratch) {
                    Ok(message) => self.handle_list_request(account, &message),
                    Err(_) => self.reject_undecodable(account, b"CF"),
                }
            }
            RequestForQuote543::TEMPLATE_ID => {
                decoded!(RequestForQuote543, handle_request_for_quote, b"R");
            }
            NewOrderCross544::TEMPLATE_ID => {
                decoded!(NewOrderCross544, handle_new_order_cross, b"s");
            }
            RequestForCross566::TEMPLATE_ID => {
                decoded!(RequestForCross566, handle_request_for_cross, b"s");
            }
            MassQuoteRequest567::TEMPLATE_ID => {
                decoded!(MassQuoteRequest567, handle_mass_quote_request, b"i");
            }
            MassQuote517::TEMPLATE_ID => decoded!(MassQuote517, handle_mass_quote, b"i"),
            QuoteCancel528::TEMPLATE_ID => decoded!(QuoteCancel528, handle_quote_cancel, b"Z"),
            QuoteCancelBySet568::TEMPLATE_ID => {
                decoded!(QuoteCancelBySet568, handle_quote_cancel_by_set, b"Z");
            }
            QuoteCancelByGroup569::TEMPLATE_ID => {
                decoded!(QuoteCancelByGroup569, handle_quote_cancel_by_group, b"Z");
            }
            _ => decoded!(QuoteCancelByInstrument570, handle_quote_cancel_by_instrument, b"Z"),
        }
    }

    fn handle_session_message(&mut self, account: usize, header: &MessageHeader, body: &[u8]) {
        match header.template_id {
            Sequence506::TEMPLATE_ID => self.handle_sequence(account, header, body),
            Terminate507::TEMPLATE_ID => self.handle_terminate(header, body),
            RetransmitRequest508::TEMPLATE_ID => {
                self.handle_retransmit_request(account, header, body);
            }
            template => {
                match UNSUPPORTED.iter().find(|(unsupported, _)| *unsupported == template) {
                    Some(&(_, offset)) => self.handle_unsupported(account, header, body, offset),
                    None => self.fail_undecodable(),
                }
            }
        }
    }

    fn handle_sequence(&mut self, account: usize, header: &MessageHeader, body: &[u8]) {
        let mut scratch = Sequence506::SCRATCH;
        let Ok(message) = Sequence506::decode(header, body, &mut scratch) else {
            return self.fail_undecodable();
        };
        if message.uuid() == u64::MAX {
            return self.violate(TerminateCode::RequiredUuidMissing);
        }
        if message.uuid() != self.session.uuid {
            return self.violate(TerminateCode::InvalidUuid);
        }
        let lapsed = message.keep_alive_interval_lapsed();
        if lapsed.0 == u8::MAX {
            return self.violate(TerminateCode::RequiredLapsedMissing);
        }
        let account_state = &mut self.accounts[account];
        let expected = self.session.sequence_for(account_state.next_inbound);
        let next = message.next_seq_no();
        if next == u32::MAX {
            return self.violate(TerminateCode::RequiredNextSeqNoMissing);
        }
        let is_too_high = next > SEQUENCE_MAX + 1 || self.session.backup && next != 0;
        let is_backup_number = next == 0 && self.session.promoted;
        if (next < expected || is_too_high) && !is_backup_number {
            return self.violate(TerminateCode::InvalidNextSeqNo);
        }
        self.session.promoted = is_backup_number;
        if next > expected {
            self.counters.gap_fills += 1;
            account_state.next_inbound = next;
        }
        if lapsed == KeepAliveLapsed::LAPSED {
            let next_sent = account_state.next_to_send(self.session.pending_reports);
            let next = self.session.sequence_for(next_sent);
            self.session.send_sequence(self.now, next, KeepAliveLapsed::NOT_LAPSED);
        }
    }

    fn handle_terminate(&mut self, header: &MessageHeader, body: &[u8]) {
        let mut scratch = Terminate507::SCRATCH;
        let Ok(message) = Terminate507::decode(header, body, &mut scratch) else {
            return self.fail_undecodable();
        };
        if self.session.state == SessionState::Terminating {
            return self.session.close(self.now);
        }
        let (uuid, timestamp) = (message.uuid(), message.request_timestamp());
        let checks = [
            (uuid == u64::MAX, TerminateCode::RequiredUuidMissing),
            (uuid != self.session.uuid, TerminateCode::InvalidUuid),
            (timestamp == u64::MAX, TerminateCode::RequiredRequestTimestampMissing),
            (message.error_codes() == u16::MAX, TerminateCode::RequiredCodeMissing),
            (message.error_codes() != TerminateCode::Finished.code(), TerminateCode::Other),
        ];
        if let Some((_, code)) = checks.into_iter().find(|(is_wrong, _)| *is_wrong) {
            return self.violate(code);
        }
        self.session.graceful = true;
        self.session.send_terminate(self.now, timestamp, TerminateCode::Finished);
        self.session.enter(SessionState::Terminating, self.listener);
        self.session.close(self.now);
    }

    /// Rejects a message with a character that contains the text `0`. The message consumes its
    /// sequence number.
    #[cold]
    fn reject_text_null(&mut self, account: usize, header: &MessageHeader, body: &[u8], tag: u16) {
        let message_type = message_type(header);
        let number = number_offset(header.template_id);
        let Some(number) = number.and_then(|offset| number_at(header, body, offset)) else {
            return self.reject_undecodable(account, message_type.as_bytes());
        };
        if self.consume_number(account, number) {
            let refusal = check::text_null(tag);
            self.reject(account, &Request::UNDECODED, message_type.as_bytes(), number, refusal);
        }
    }

    /// Rejects a business message that the schema defines and this gateway does not support. The
    /// message consumes its sequence number.
    fn handle_unsupported(
        &mut self,
        account: usize,
        header: &MessageHeader,
        body: &[u8],
        offset: usize,
    ) {
        let message_type = message_type(header);
        let Some(number) = number_at(header, body, offset) else {
            return self.reject_undecodable(account, message_type.as_bytes());
        };
        if !self.consume_number(account, number) {
            return;
        }
        let refusal = RejectCause::Business {
            reason: BusinessReason::UnsupportedMessageType,
            tag: None,
            text: "Unsupported message type",
        };
        self.reject(account, &Request::UNDECODED, message_type.as_bytes(), number, refusal);
    }

    /// Ends the session for a session message that cannot be decoded.
    pub(super) fn fail_undecodable(&mut self) {
        self.counters.undecodable += 1;
        self.fail(TerminateCode::DecodingError);
    }

    /// Rejects a business message that is too short to decode. The message does not consume a
    /// sequence number.
    fn reject_undecodable(&mut self, account: usize, message_type: &[u8]) {
        self.counters.undecodable += 1;
        let (reason, tag) = (BusinessReason::CouldNotBeDecoded, None);
        let cause = (reason, tag, "Could not be decoded");
        self.send_business_reject(account, &Request::UNDECODED, message_type, None, cause);
        self.listener
            .on_rejected(self.session.id, Rejected::Business { cl_ord_id: &[], reason, tag });
    }
}
