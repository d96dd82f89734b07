//! Copies every message field by field. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use crate::plain_value::ValueLog;
use hairpin_sbe::{EncodeError, MessageHeader};
use hairpin_cme_codecs::ilink3::*;

pub(crate) fn copy(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    match header.template_id {
        Negotiate500::TEMPLATE_ID => negotiate500(header, body, buffer, values),
        NegotiationResponse501::TEMPLATE_ID => negotiation_response501(header, body, buffer, values),
        NegotiationReject502::TEMPLATE_ID => negotiation_reject502(header, body, buffer, values),
        Establish503::TEMPLATE_ID => establish503(header, body, buffer, values),
        EstablishmentAck504::TEMPLATE_ID => establishment_ack504(header, body, buffer, values),
        EstablishmentReject505::TEMPLATE_ID => establishment_reject505(header, body, buffer, values),
        Sequence506::TEMPLATE_ID => sequence506(header, body, buffer, values),
        Terminate507::TEMPLATE_ID => terminate507(header, body, buffer, values),
        RetransmitRequest508::TEMPLATE_ID => retransmit_request508(header, body, buffer, values),
        Retransmission509::TEMPLATE_ID => retransmission509(header, body, buffer, values),
        RetransmitReject510::TEMPLATE_ID => retransmit_reject510(header, body, buffer, values),
        NotApplied513::TEMPLATE_ID => not_applied513(header, body, buffer, values),
        NewOrderSingle514::TEMPLATE_ID => new_order_single514(header, body, buffer, values),
        OrderCancelReplaceRequest515::TEMPLATE_ID => order_cancel_replace_request515(header, body, buffer, values),
        OrderCancelRequest516::TEMPLATE_ID => order_cancel_request516(header, body, buffer, values),
        MassQuote517::TEMPLATE_ID => mass_quote517(header, body, buffer, values),
        PartyDetailsDefinitionRequest518::TEMPLATE_ID => party_details_definition_request518(header, body, buffer, values),
        PartyDetailsDefinitionRequestAck519::TEMPLATE_ID => party_details_definition_request_ack519(header, body, buffer, values),
        BusinessReject521::TEMPLATE_ID => business_reject521(header, body, buffer, values),
        ExecutionReportNew522::TEMPLATE_ID => execution_report_new522(header, body, buffer, values),
        ExecutionReportReject523::TEMPLATE_ID => execution_report_reject523(header, body, buffer, values),
        ExecutionReportElimination524::TEMPLATE_ID => execution_report_elimination524(header, body, buffer, values),
        ExecutionReportTradeOutright525::TEMPLATE_ID => execution_report_trade_outright525(header, body, buffer, values),
        ExecutionReportTradeSpread526::TEMPLATE_ID => execution_report_trade_spread526(header, body, buffer, values),
        ExecutionReportTradeSpreadLeg527::TEMPLATE_ID => execution_report_trade_spread_leg527(header, body, buffer, values),
        QuoteCancel528::TEMPLATE_ID => quote_cancel528(header, body, buffer, values),
        OrderMassActionRequest529::TEMPLATE_ID => order_mass_action_request529(header, body, buffer, values),
        OrderMassStatusRequest530::TEMPLATE_ID => order_mass_status_request530(header, body, buffer, values),
        ExecutionReportModify531::TEMPLATE_ID => execution_report_modify531(header, body, buffer, values),
        ExecutionReportStatus532::TEMPLATE_ID => execution_report_status532(header, body, buffer, values),
        OrderStatusRequest533::TEMPLATE_ID => order_status_request533(header, body, buffer, values),
        ExecutionReportCancel534::TEMPLATE_ID => execution_report_cancel534(header, body, buffer, values),
        OrderCancelReject535::TEMPLATE_ID => order_cancel_reject535(header, body, buffer, values),
        OrderCancelReplaceReject536::TEMPLATE_ID => order_cancel_replace_reject536(header, body, buffer, values),
        PartyDetailsListRequest537::TEMPLATE_ID => party_details_list_request537(header, body, buffer, values),
        PartyDetailsListReport538::TEMPLATE_ID => party_details_list_report538(header, body, buffer, values),
        ExecutionAck539::TEMPLATE_ID => execution_ack539(header, body, buffer, values),
        RequestForQuote543::TEMPLATE_ID => request_for_quote543(header, body, buffer, values),
        NewOrderCross544::TEMPLATE_ID => new_order_cross544(header, body, buffer, values),
        MassQuoteAck545::TEMPLATE_ID => mass_quote_ack545(header, body, buffer, values),
        RequestForQuoteAck546::TEMPLATE_ID => request_for_quote_ack546(header, body, buffer, values),
        ExecutionReportTradeAddendumOutright548::TEMPLATE_ID => execution_report_trade_addendum_outright548(header, body, buffer, values),
        ExecutionReportTradeAddendumSpread549::TEMPLATE_ID => execution_report_trade_addendum_spread549(header, body, buffer, values),
        ExecutionReportTradeAddendumSpreadLeg550::TEMPLATE_ID => execution_report_trade_addendum_spread_leg550(header, body, buffer, values),
        SecurityDefinitionRequest560::TEMPLATE_ID => security_definition_request560(header, body, buffer, values),
        SecurityDefinitionResponse561::TEMPLATE_ID => security_definition_response561(header, body, buffer, values),
        OrderMassActionReport562::TEMPLATE_ID => order_mass_action_report562(header, body, buffer, values),
        QuoteCancelAck563::TEMPLATE_ID => quote_cancel_ack563(header, body, buffer, values),
        ExecutionReportPendingCancel564::TEMPLATE_ID => execution_report_pending_cancel564(header, body, buffer, values),
        ExecutionReportPendingReplace565::TEMPLATE_ID => execution_report_pending_replace565(header, body, buffer, values),
        RequestForCross566::TEMPLATE_ID => request_for_cross566(header, body, buffer, values),
        MassQuoteRequest567::TEMPLATE_ID => mass_quote_request567(header, body, buffer, values),
        QuoteCancelBySet568::TEMPLATE_ID => quote_cancel_by_set568(header, body, buffer, values),
        QuoteCancelByGroup569::TEMPLATE_ID => quote_cancel_by_group569(header, body, buffer, values),
        QuoteCancelByInstrument570::TEMPLATE_ID => quote_cancel_by_instrument570(header, body, buffer, values),
        MassQuoteResponse571::TEMPLATE_ID => mass_quote_response571(header, body, buffer, values),
        other => panic!("template {other}"),
    }
}

pub(crate) fn empty(template_id: u16, buffer: &mut [u8]) -> Result<usize, EncodeError> {
    match template_id {
        Negotiate500::TEMPLATE_ID => Negotiate500::encode(buffer).map(|_| Negotiate500::ENCODED_LENGTH),
        NegotiationResponse501::TEMPLATE_ID => NegotiationResponse501::encode(buffer).map(|_| NegotiationResponse501::ENCODED_LENGTH),
        NegotiationReject502::TEMPLATE_ID => NegotiationReject502::encode(buffer).map(|_| NegotiationReject502::ENCODED_LENGTH),
        Establish503::TEMPLATE_ID => Establish503::encode(buffer).map(|_| Establish503::ENCODED_LENGTH),
        EstablishmentAck504::TEMPLATE_ID => EstablishmentAck504::encode(buffer).map(|_| EstablishmentAck504::ENCODED_LENGTH),
        EstablishmentReject505::TEMPLATE_ID => EstablishmentReject505::encode(buffer).map(|_| EstablishmentReject505::ENCODED_LENGTH),
        Sequence506::TEMPLATE_ID => Sequence506::encode(buffer).map(|_| Sequence506::ENCODED_LENGTH),
        Terminate507::TEMPLATE_ID => Terminate507::encode(buffer).map(|_| Terminate507::ENCODED_LENGTH),
        RetransmitRequest508::TEMPLATE_ID => RetransmitRequest508::encode(buffer).map(|_| RetransmitRequest508::ENCODED_LENGTH),
        Retransmission509::TEMPLATE_ID => Retransmission509::encode(buffer).map(|_| Retransmission509::ENCODED_LENGTH),
        RetransmitReject510::TEMPLATE_ID => RetransmitReject510::encode(buffer).map(|_| RetransmitReject510::ENCODED_LENGTH),
        NotApplied513::TEMPLATE_ID => NotApplied513::encode(buffer).map(|_| NotApplied513::ENCODED_LENGTH),
        NewOrderSingle514::TEMPLATE_ID => NewOrderSingle514::encode(buffer).map(|_| NewOrderSingle514::ENCODED_LENGTH),
        OrderCancelReplaceRequest515::TEMPLATE_ID => OrderCancelReplaceRequest515::encode(buffer).map(|_| OrderCancelReplaceRequest515::ENCODED_LENGTH),
        OrderCancelRequest516::TEMPLATE_ID => OrderCancelRequest516::encode(buffer).map(|_| OrderCancelRequest516::ENCODED_LENGTH),
        MassQuote517::TEMPLATE_ID => {
            let (_, mut groups) = MassQuote517::encode(buffer)?;
            groups.no_quote_entries()?.push()?;
            groups.finish()
        }
        PartyDetailsDefinitionRequest518::TEMPLATE_ID => {
            let (_, mut groups) = PartyDetailsDefinitionRequest518::encode(buffer)?;
            groups.no_party_details()?.push()?;
            groups.no_trd_reg_publications()?.push()?;
            groups.finish()
        }
        PartyDetailsDefinitionRequestAck519::TEMPLATE_ID => {
            let (_, mut groups) = PartyDetailsDefinitionRequestAck519::encode(buffer)?;
            groups.no_party_details()?.push()?;
            groups.no_trd_reg_publications()?.push()?;
            groups.finish()
        }
        BusinessReject521::TEMPLATE_ID => BusinessReject521::encode(buffer).map(|_| BusinessReject521::ENCODED_LENGTH),
        ExecutionReportNew522::TEMPLATE_ID => ExecutionReportNew522::encode(buffer).map(|_| ExecutionReportNew522::ENCODED_LENGTH),
        ExecutionReportReject523::TEMPLATE_ID => ExecutionReportReject523::encode(buffer).map(|_| ExecutionReportReject523::ENCODED_LENGTH),
        ExecutionReportElimination524::TEMPLATE_ID => ExecutionReportElimination524::encode(buffer).map(|_| ExecutionReportElimination524::ENCODED_LENGTH),
        ExecutionReportTradeOutright525::TEMPLATE_ID => {
            let (_, mut groups) = ExecutionReportTradeOutright525::encode(buffer)?;
            groups.no_fills()?.push()?;
            groups.no_order_events()?.push()?;
            groups.finish()
        }
        ExecutionReportTradeSpread526::TEMPLATE_ID => {
            let (_, mut groups) = ExecutionReportTradeSpread526::encode(buffer)?;
            groups.no_fills()?.push()?;
            groups.no_legs()?.push()?;
            groups.no_order_events()?.push()?;
            groups.finish()
        }
        ExecutionReportTradeSpreadLeg527::TEMPLATE_ID => {
            let (_, mut groups) = ExecutionReportTradeSpreadLeg527::encode(buffer)?;
            groups.no_fills()?.push()?;
            groups.no_order_events()?.push()?;
            groups.finish()
        }
        QuoteCancel528::TEMPLATE_ID => {
            let (_, mut groups) = QuoteCancel528::encode(buffer)?;
            groups.no_quote_entries()?.push()?;
            groups.no_quote_sets()?.push()?;
            groups.finish()
        }
        OrderMassActionRequest529::TEMPLATE_ID => OrderMassActionRequest529::encode(buffer).map(|_| OrderMassActionRequest529::ENCODED_LENGTH),
        OrderMassStatusRequest530::TEMPLATE_ID => OrderMassStatusRequest530::encode(buffer).map(|_| OrderMassStatusRequest530::ENCODED_LENGTH),
        ExecutionReportModify531::TEMPLATE_ID => ExecutionReportModify531::encode(buffer).map(|_| ExecutionReportModify531::ENCODED_LENGTH),
        ExecutionReportStatus532::TEMPLATE_ID => ExecutionReportStatus532::encode(buffer).map(|_| ExecutionReportStatus532::ENCODED_LENGTH),
        OrderStatusRequest533::TEMPLATE_ID => OrderStatusRequest533::encode(buffer).map(|_| OrderStatusRequest533::ENCODED_LENGTH),
        ExecutionReportCancel534::TEMPLATE_ID => ExecutionReportCancel534::encode(buffer).map(|_| ExecutionReportCancel534::ENCODED_LENGTH),
        OrderCancelReject535::TEMPLATE_ID => OrderCancelReject535::encode(buffer).map(|_| OrderCancelReject535::ENCODED_LENGTH),
        OrderCancelReplaceReject536::TEMPLATE_ID => OrderCancelReplaceReject536::encode(buffer).map(|_| OrderCancelReplaceReject536::ENCODED_LENGTH),
        PartyDetailsListRequest537::TEMPLATE_ID => {
            let (_, mut groups) = PartyDetailsListRequest537::encode(buffer)?;
            groups.no_requesting_party_i_ds()?.push()?;
            groups.no_party_i_ds()?.push()?;
            groups.finish()
        }
        PartyDetailsListReport538::TEMPLATE_ID => {
            let (_, mut groups) = PartyDetailsListReport538::encode(buffer)?;
            groups.no_party_details()?.push()?;
            groups.no_trd_reg_publications()?.push()?;
            groups.finish()
        }
        ExecutionAck539::TEMPLATE_ID => ExecutionAck539::encode(buffer).map(|_| ExecutionAck539::ENCODED_LENGTH),
        RequestForQuote543::TEMPLATE_ID => {
            let (_, mut groups) = RequestForQuote543::encode(buffer)?;
            groups.no_related_sym()?.push()?;
            groups.finish()
        }
        NewOrderCross544::TEMPLATE_ID => {
            let (_, mut groups) = NewOrderCross544::encode(buffer)?;
            groups.no_sides()?.push()?;
            groups.finish()
        }
        MassQuoteAck545::TEMPLATE_ID => {
            let (_, mut groups) = MassQuoteAck545::encode(buffer)?;
            groups.no_quote_entries()?.push()?;
            groups.finish()
        }
        RequestForQuoteAck546::TEMPLATE_ID => RequestForQuoteAck546::encode(buffer).map(|_| RequestForQuoteAck546::ENCODED_LENGTH),
        ExecutionReportTradeAddendumOutright548::TEMPLATE_ID => {
            let (_, mut groups) = ExecutionReportTradeAddendumOutright548::encode(buffer)?;
            groups.no_fills()?.push()?;
            groups.no_order_events()?.push()?;
            groups.finish()
        }
        ExecutionReportTradeAddendumSpread549::TEMPLATE_ID => {
            let (_, mut groups) = ExecutionReportTradeAddendumSpread549::encode(buffer)?;
            groups.no_fills()?.push()?;
            groups.no_legs()?.push()?;
            groups.no_order_events()?.push()?;
            groups.finish()
        }
        ExecutionReportTradeAddendumSpreadLeg550::TEMPLATE_ID => {
            let (_, mut groups) = ExecutionReportTradeAddendumSpreadLeg550::encode(buffer)?;
            groups.no_fills()?.push()?;
            groups.no_order_events()?.push()?;
            groups.finish()
        }
        SecurityDefinitionRequest560::TEMPLATE_ID => {
            let (_, mut groups) = SecurityDefinitionRequest560::encode(buffer)?;
            groups.no_legs()?.push()?;
            groups.no_broken_dates()?.push()?;
            groups.finish()
        }
        SecurityDefinitionResponse561::TEMPLATE_ID => {
            let (_, mut groups) = SecurityDefinitionResponse561::encode(buffer)?;
            groups.no_legs()?.push()?;
            groups.no_broken_dates()?.push()?;
            groups.finish()
        }
        OrderMassActionReport562::TEMPLATE_ID => {
            let (_, mut groups) = OrderMassActionReport562::encode(buffer)?;
            groups.no_affected_orders()?.push()?;
            groups.finish()
        }
        QuoteCancelAck563::TEMPLATE_ID => {
            let (_, mut groups) = QuoteCancelAck563::encode(buffer)?;
            groups.no_quote_entries()?.push()?;
            groups.no_quote_sets()?.push()?;
            groups.finish()
        }
        ExecutionReportPendingCancel564::TEMPLATE_ID => ExecutionReportPendingCancel564::encode(buffer).map(|_| ExecutionReportPendingCancel564::ENCODED_LENGTH),
        ExecutionReportPendingReplace565::TEMPLATE_ID => ExecutionReportPendingReplace565::encode(buffer).map(|_| ExecutionReportPendingReplace565::ENCODED_LENGTH),
        RequestForCross566::TEMPLATE_ID => {
            let (_, mut groups) = RequestForCross566::encode(buffer)?;
            groups.no_sides()?.push()?;
            groups.finish()
        }
        MassQuoteRequest567::TEMPLATE_ID => {
            let (_, mut groups) = MassQuoteRequest567::encode(buffer)?;
            groups.no_quote_entries()?.push()?;
            groups.finish()
        }
        QuoteCancelBySet568::TEMPLATE_ID => {
            let (_, mut groups) = QuoteCancelBySet568::encode(buffer)?;
            groups.no_quote_sets()?.push()?;
            groups.finish()
        }
        QuoteCancelByGroup569::TEMPLATE_ID => {
            let (_, mut groups) = QuoteCancelByGroup569::encode(buffer)?;
            groups.no_quote_entries()?.push()?;
            groups.finish()
        }
        QuoteCancelByInstrument570::TEMPLATE_ID => {
            let (_, mut groups) = QuoteCancelByInstrument570::encode(buffer)?;
            groups.no_quote_entries()?.push()?;
            groups.finish()
        }
        MassQuoteResponse571::TEMPLATE_ID => {
            let (_, mut groups) = MassQuoteResponse571::encode(buffer)?;
            groups.no_quote_entries()?.push()?;
            groups.finish()
        }
        other => panic!("template {other}"),
    }
}

fn negotiate500(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = Negotiate500::SCRATCH;
    let from = Negotiate500::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = Negotiate500::encode(buffer).unwrap();
    values.push(Negotiate500::CUSTOMER_FLOW);
    values.push(Negotiate500::HMAC_VERSION);
    _to.set_hmac_signature(from.hmac_signature()); values.push(from.hmac_signature());
    _to.set_access_key_id(from.access_key_id()); values.push(from.access_key_id());
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_request_timestamp(from.request_timestamp()); values.push(from.request_timestamp());
    _to.set_session(from.session()); values.push(from.session());
    _to.set_firm(from.firm()); values.push(from.firm());
    values.push(from.credentials());
    Negotiate500::ENCODED_LENGTH
}

fn negotiation_response501(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = NegotiationResponse501::SCRATCH;
    let from = NegotiationResponse501::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = NegotiationResponse501::encode(buffer).unwrap();
    values.push(NegotiationResponse501::SERVER_FLOW);
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_request_timestamp(from.request_timestamp()); values.push(from.request_timestamp());
    _to.set_secret_key_secure_id_expiration(from.secret_key_secure_id_expiration()); values.push(from.secret_key_secure_id_expiration());
    _to.set_fault_tolerance_indicator(from.fault_tolerance_indicator()); values.push(from.fault_tolerance_indicator().map(|v| v.0));
    _to.set_split_msg(from.split_msg()); values.push(from.split_msg().map(|v| v.0));
    _to.set_previous_seq_no(from.previous_seq_no()); values.push(from.previous_seq_no());
    _to.set_previous_uuid(from.previous_uuid()); values.push(from.previous_uuid());
    _to.set_environment_indicator(from.environment_indicator()); values.push(from.environment_indicator());
    values.push(from.credentials());
    NegotiationResponse501::ENCODED_LENGTH
}

fn negotiation_reject502(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = NegotiationReject502::SCRATCH;
    let from = NegotiationReject502::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = NegotiationReject502::encode(buffer).unwrap();
    _to.set_reason(from.reason()); values.push(from.reason());
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_request_timestamp(from.request_timestamp()); values.push(from.request_timestamp());
    _to.set_error_codes(from.error_codes()); values.push(from.error_codes());
    _to.set_fault_tolerance_indicator(from.fault_tolerance_indicator()); values.push(from.fault_tolerance_indicator().map(|v| v.0));
    _to.set_split_msg(from.split_msg()); values.push(from.split_msg().map(|v| v.0));
    _to.set_environment_indicator(from.environment_indicator()); values.push(from.environment_indicator());
    NegotiationReject502::ENCODED_LENGTH
}

fn establish503(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = Establish503::SCRATCH;
    let from = Establish503::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = Establish503::encode(buffer).unwrap();
    values.push(Establish503::HMAC_VERSION);
    _to.set_hmac_signature(from.hmac_signature()); values.push(from.hmac_signature());
    _to.set_access_key_id(from.access_key_id()); values.push(from.access_key_id());
    _to.set_trading_system_name(from.trading_system_name()); values.push(from.trading_system_name());
    _to.set_trading_system_version(from.trading_system_version()); values.push(from.trading_system_version());
    _to.set_trading_system_vendor(from.trading_system_vendor()); values.push(from.trading_system_vendor());
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_request_timestamp(from.request_timestamp()); values.push(from.request_timestamp());
    _to.set_next_seq_no(from.next_seq_no()); values.push(from.next_seq_no());
    _to.set_session(from.session()); values.push(from.session());
    _to.set_firm(from.firm()); values.push(from.firm());
    _to.set_keep_alive_interval(from.keep_alive_interval()); values.push(from.keep_alive_interval());
    values.push(from.credentials());
    Establish503::ENCODED_LENGTH
}

fn establishment_ack504(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = EstablishmentAck504::SCRATCH;
    let from = EstablishmentAck504::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = EstablishmentAck504::encode(buffer).unwrap();
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_request_timestamp(from.request_timestamp()); values.push(from.request_timestamp());
    _to.set_next_seq_no(from.next_seq_no()); values.push(from.next_seq_no());
    _to.set_previous_seq_no(from.previous_seq_no()); values.push(from.previous_seq_no());
    _to.set_previous_uuid(from.previous_uuid()); values.push(from.previous_uuid());
    _to.set_keep_alive_interval(from.keep_alive_interval()); values.push(from.keep_alive_interval());
    _to.set_secret_key_secure_id_expiration(from.secret_key_secure_id_expiration()); values.push(from.secret_key_secure_id_expiration());
    _to.set_fault_tolerance_indicator(from.fault_tolerance_indicator()); values.push(from.fault_tolerance_indicator().map(|v| v.0));
    _to.set_split_msg(from.split_msg()); values.push(from.split_msg().map(|v| v.0));
    _to.set_environment_indicator(from.environment_indicator()); values.push(from.environment_indicator());
    EstablishmentAck504::ENCODED_LENGTH
}

fn establishment_reject505(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = EstablishmentReject505::SCRATCH;
    let from = EstablishmentReject505::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = EstablishmentReject505::encode(buffer).unwrap();
    _to.set_reason(from.reason()); values.push(from.reason());
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_request_timestamp(from.request_timestamp()); values.push(from.request_timestamp());
    _to.set_next_seq_no(from.next_seq_no()); values.push(from.next_seq_no());
    _to.set_error_codes(from.error_codes()); values.push(from.error_codes());
    _to.set_fault_tolerance_indicator(from.fault_tolerance_indicator()); values.push(from.fault_tolerance_indicator().map(|v| v.0));
    _to.set_split_msg(from.split_msg()); values.push(from.split_msg().map(|v| v.0));
    _to.set_environment_indicator(from.environment_indicator()); values.push(from.environment_indicator());
    EstablishmentReject505::ENCODED_LENGTH
}

fn sequence506(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = Sequence506::SCRATCH;
    let from = Sequence506::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = Sequence506::encode(buffer).unwrap();
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_next_seq_no(from.next_seq_no()); values.push(from.next_seq_no());
    _to.set_fault_tolerance_indicator(from.fault_tolerance_indicator()); values.push(from.fault_tolerance_indicator().map(|v| v.0));
    _to.set_keep_alive_interval_lapsed(from.keep_alive_interval_lapsed()); values.push(from.keep_alive_interval_lapsed().0);
    Sequence506::ENCODED_LENGTH
}

fn terminate507(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = Terminate507::SCRATCH;
    let from = Terminate507::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = Terminate507::encode(buffer).unwrap();
    _to.set_reason(from.reason()); values.push(from.reason());
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_request_timestamp(from.request_timestamp()); values.push(from.request_timestamp());
    _to.set_error_codes(from.error_codes()); values.push(from.error_codes());
    _to.set_split_msg(from.split_msg()); values.push(from.split_msg().map(|v| v.0));
    Terminate507::ENCODED_LENGTH
}

fn retransmit_request508(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = RetransmitRequest508::SCRATCH;
    let from = RetransmitRequest508::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = RetransmitRequest508::encode(buffer).unwrap();
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_last_uuid(from.last_uuid()); values.push(from.last_uuid());
    _to.set_request_timestamp(from.request_timestamp()); values.push(from.request_timestamp());
    _to.set_from_seq_no(from.from_seq_no()); values.push(from.from_seq_no());
    _to.set_msg_count(from.msg_count()); values.push(from.msg_count());
    RetransmitRequest508::ENCODED_LENGTH
}

fn retransmission509(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = Retransmission509::SCRATCH;
    let from = Retransmission509::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = Retransmission509::encode(buffer).unwrap();
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_last_uuid(from.last_uuid()); values.push(from.last_uuid());
    _to.set_request_timestamp(from.request_timestamp()); values.push(from.request_timestamp());
    _to.set_from_seq_no(from.from_seq_no()); values.push(from.from_seq_no());
    _to.set_msg_count(from.msg_count()); values.push(from.msg_count());
    _to.set_split_msg(from.split_msg()); values.push(from.split_msg().map(|v| v.0));
    Retransmission509::ENCODED_LENGTH
}

fn retransmit_reject510(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = RetransmitReject510::SCRATCH;
    let from = RetransmitReject510::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = RetransmitReject510::encode(buffer).unwrap();
    _to.set_reason(from.reason()); values.push(from.reason());
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_last_uuid(from.last_uuid()); values.push(from.last_uuid());
    _to.set_request_timestamp(from.request_timestamp()); values.push(from.request_timestamp());
    _to.set_error_codes(from.error_codes()); values.push(from.error_codes());
    _to.set_split_msg(from.split_msg()); values.push(from.split_msg().map(|v| v.0));
    RetransmitReject510::ENCODED_LENGTH
}

fn not_applied513(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = NotApplied513::SCRATCH;
    let from = NotApplied513::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = NotApplied513::encode(buffer).unwrap();
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_from_seq_no(from.from_seq_no()); values.push(from.from_seq_no());
    _to.set_msg_count(from.msg_count()); values.push(from.msg_count());
    _to.set_split_msg(from.split_msg()); values.push(from.split_msg().map(|v| v.0));
    NotApplied513::ENCODED_LENGTH
}

fn new_order_single514(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = NewOrderSingle514::SCRATCH;
    let from = NewOrderSingle514::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = NewOrderSingle514::encode(buffer).unwrap();
    _to.set_price(from.price()); values.push(from.price());
    _to.set_order_qty(from.order_qty()); values.push(from.order_qty());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    _to.set_side(from.side()); values.push(from.side().0);
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_cl_ord_id(from.cl_ord_id()); values.push(from.cl_ord_id());
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_order_request_id(from.order_request_id()); values.push(from.order_request_id());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_stop_px(from.stop_px()); values.push(from.stop_px());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_min_qty(from.min_qty()); values.push(from.min_qty());
    _to.set_display_qty(from.display_qty()); values.push(from.display_qty());
    _to.set_expire_date(from.expire_date()); values.push(from.expire_date());
    _to.set_ord_type(from.ord_type()); values.push(from.ord_type().0);
    _to.set_time_in_force(from.time_in_force()); values.push(from.time_in_force().map(|v| v.0));
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_exec_inst(from.exec_inst()); values.push(from.exec_inst().0);
    _to.set_execution_mode(from.execution_mode()); values.push(from.execution_mode().map(|v| v.0));
    _to.set_liquidity_flag(from.liquidity_flag()); values.push(from.liquidity_flag().map(|v| v.0));
    _to.set_managed_order(from.managed_order()); values.push(from.managed_order().map(|v| v.0));
    _to.set_short_sale_type(from.short_sale_type()); values.push(from.short_sale_type().map(|v| v.0));
    _to.set_discretion_price(from.discretion_price()); values.push(from.discretion_price());
    _to.set_reservation_price(from.reservation_price()); values.push(from.reservation_price());
    NewOrderSingle514::ENCODED_LENGTH
}

fn order_cancel_replace_request515(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = OrderCancelReplaceRequest515::SCRATCH;
    let from = OrderCancelReplaceRequest515::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = OrderCancelReplaceRequest515::encode(buffer).unwrap();
    _to.set_price(from.price()); values.push(from.price());
    _to.set_order_qty(from.order_qty()); values.push(from.order_qty());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    _to.set_side(from.side()); values.push(from.side().0);
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_cl_ord_id(from.cl_ord_id()); values.push(from.cl_ord_id());
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_order_id(from.order_id()); values.push(from.order_id());
    _to.set_stop_px(from.stop_px()); values.push(from.stop_px());
    _to.set_order_request_id(from.order_request_id()); values.push(from.order_request_id());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_min_qty(from.min_qty()); values.push(from.min_qty());
    _to.set_display_qty(from.display_qty()); values.push(from.display_qty());
    _to.set_expire_date(from.expire_date()); values.push(from.expire_date());
    _to.set_ord_type(from.ord_type()); values.push(from.ord_type().0);
    _to.set_time_in_force(from.time_in_force()); values.push(from.time_in_force().map(|v| v.0));
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_ofm_override(from.ofm_override()); values.push(from.ofm_override().0);
    _to.set_exec_inst(from.exec_inst()); values.push(from.exec_inst().0);
    _to.set_execution_mode(from.execution_mode()); values.push(from.execution_mode().map(|v| v.0));
    _to.set_liquidity_flag(from.liquidity_flag()); values.push(from.liquidity_flag().map(|v| v.0));
    _to.set_managed_order(from.managed_order()); values.push(from.managed_order().map(|v| v.0));
    _to.set_short_sale_type(from.short_sale_type()); values.push(from.short_sale_type().map(|v| v.0));
    _to.set_discretion_price(from.discretion_price()); values.push(from.discretion_price());
    OrderCancelReplaceRequest515::ENCODED_LENGTH
}

fn order_cancel_request516(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = OrderCancelRequest516::SCRATCH;
    let from = OrderCancelRequest516::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = OrderCancelRequest516::encode(buffer).unwrap();
    _to.set_order_id(from.order_id()); values.push(from.order_id());
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_cl_ord_id(from.cl_ord_id()); values.push(from.cl_ord_id());
    _to.set_order_request_id(from.order_request_id()); values.push(from.order_request_id());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    _to.set_side(from.side()); values.push(from.side().0);
    _to.set_liquidity_flag(from.liquidity_flag()); values.push(from.liquidity_flag().map(|v| v.0));
    _to.set_orig_order_user(from.orig_order_user()); values.push(from.orig_order_user());
    OrderCancelRequest516::ENCODED_LENGTH
}

fn mass_quote517(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = MassQuote517::SCRATCH;
    let from = MassQuote517::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = MassQuote517::encode(buffer).unwrap();
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_quote_req_id(from.quote_req_id()); values.push(from.quote_req_id());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_quote_id(from.quote_id()); values.push(from.quote_id());
    _to.set_tot_no_quote_entries(from.tot_no_quote_entries()); values.push(from.tot_no_quote_entries());
    _to.set_mm_protection_reset(from.mm_protection_reset()); values.push(from.mm_protection_reset().0);
    _to.set_liquidity_flag(from.liquidity_flag()); values.push(from.liquidity_flag().map(|v| v.0));
    _to.set_short_sale_type(from.short_sale_type()); values.push(from.short_sale_type().map(|v| v.0));
    _to.set_reserved(from.reserved()); values.push(from.reserved());
    _to.set_reserved1(from.reserved1()); values.push(from.reserved1());
    _to.set_quote_entry_open(from.quote_entry_open()); values.push(from.quote_entry_open().map(|v| v.0));
    let mut entries = from.no_quote_entries();
    let mut scratch = mass_quote517::NoQuoteEntries::SCRATCH;
    let mut pushed = groups.no_quote_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_bid_px(entry.bid_px()); values.push(entry.bid_px());
        _to.set_offer_px(entry.offer_px()); values.push(entry.offer_px());
        _to.set_quote_entry_id(entry.quote_entry_id()); values.push(entry.quote_entry_id());
        _to.set_security_id(entry.security_id()); values.push(entry.security_id());
        _to.set_bid_size(entry.bid_size()); values.push(entry.bid_size());
        _to.set_offer_size(entry.offer_size()); values.push(entry.offer_size());
        _to.set_underlying_security_id(entry.underlying_security_id()); values.push(entry.underlying_security_id());
        _to.set_quote_set_id(entry.quote_set_id()); values.push(entry.quote_set_id());
    }
    groups.finish().unwrap()
}

fn party_details_definition_request518(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = PartyDetailsDefinitionRequest518::SCRATCH;
    let from = PartyDetailsDefinitionRequest518::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = PartyDetailsDefinitionRequest518::encode(buffer).unwrap();
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_list_update_action(from.list_update_action()); values.push(from.list_update_action().0);
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_memo(from.memo()); values.push(from.memo());
    _to.set_avg_px_group_id(from.avg_px_group_id()); values.push(from.avg_px_group_id());
    _to.set_self_match_prevention_id(from.self_match_prevention_id()); values.push(from.self_match_prevention_id());
    _to.set_cmta_giveup_cd(from.cmta_giveup_cd()); values.push(from.cmta_giveup_cd().map(|v| v.0));
    _to.set_cust_order_capacity(from.cust_order_capacity()); values.push(from.cust_order_capacity().map(|v| v.0));
    _to.set_clearing_account_type(from.clearing_account_type()); values.push(from.clearing_account_type().map(|v| v.0));
    _to.set_self_match_prevention_instruction(from.self_match_prevention_instruction()); values.push(from.self_match_prevention_instruction().map(|v| v.0));
    _to.set_avg_px_indicator(from.avg_px_indicator()); values.push(from.avg_px_indicator().map(|v| v.0));
    _to.set_clearing_trade_price_type(from.clearing_trade_price_type()); values.push(from.clearing_trade_price_type().map(|v| v.0));
    _to.set_cust_order_handling_inst(from.cust_order_handling_inst()); values.push(from.cust_order_handling_inst().map(|v| v.0));
    _to.set_executor(from.executor()); values.push(from.executor());
    _to.set_idm_short_code(from.idm_short_code()); values.push(from.idm_short_code());
    values.push(PartyDetailsDefinitionRequest518::NO_PARTY_UPDATES);
    let mut entries = from.no_party_details();
    let mut scratch = party_details_definition_request518::NoPartyDetails::SCRATCH;
    let mut pushed = groups.no_party_details().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_party_detail_id(entry.party_detail_id()); values.push(entry.party_detail_id());
        values.push(party_details_definition_request518::NoPartyDetails::PARTY_DETAIL_ID_SOURCE);
        _to.set_party_detail_role(entry.party_detail_role()); values.push(entry.party_detail_role().0);
    }
    let mut entries = from.no_trd_reg_publications();
    let mut scratch = party_details_definition_request518::NoTrdRegPublications::SCRATCH;
    let mut pushed = groups.no_trd_reg_publications().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_trd_reg_publication_type(entry.trd_reg_publication_type()); values.push(entry.trd_reg_publication_type());
        _to.set_trd_reg_publication_reason(entry.trd_reg_publication_reason()); values.push(entry.trd_reg_publication_reason());
    }
    groups.finish().unwrap()
}

fn party_details_definition_request_ack519(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = PartyDetailsDefinitionRequestAck519::SCRATCH;
    let from = PartyDetailsDefinitionRequestAck519::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = PartyDetailsDefinitionRequestAck519::encode(buffer).unwrap();
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_memo(from.memo()); values.push(from.memo());
    _to.set_avg_px_group_id(from.avg_px_group_id()); values.push(from.avg_px_group_id());
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_self_match_prevention_id(from.self_match_prevention_id()); values.push(from.self_match_prevention_id());
    _to.set_party_detail_request_status(from.party_detail_request_status()); values.push(from.party_detail_request_status());
    _to.set_cust_order_capacity(from.cust_order_capacity()); values.push(from.cust_order_capacity().map(|v| v.0));
    _to.set_clearing_account_type(from.clearing_account_type()); values.push(from.clearing_account_type().map(|v| v.0));
    _to.set_self_match_prevention_instruction(from.self_match_prevention_instruction()); values.push(from.self_match_prevention_instruction().map(|v| v.0));
    _to.set_avg_px_indicator(from.avg_px_indicator()); values.push(from.avg_px_indicator().map(|v| v.0));
    _to.set_clearing_trade_price_type(from.clearing_trade_price_type()); values.push(from.clearing_trade_price_type().map(|v| v.0));
    _to.set_cmta_giveup_cd(from.cmta_giveup_cd()); values.push(from.cmta_giveup_cd().map(|v| v.0));
    _to.set_cust_order_handling_inst(from.cust_order_handling_inst()); values.push(from.cust_order_handling_inst().map(|v| v.0));
    values.push(PartyDetailsDefinitionRequestAck519::NO_PARTY_UPDATES);
    _to.set_list_update_action(from.list_update_action()); values.push(from.list_update_action().0);
    _to.set_party_detail_definition_status(from.party_detail_definition_status()); values.push(from.party_detail_definition_status());
    _to.set_executor(from.executor()); values.push(from.executor());
    _to.set_idm_short_code(from.idm_short_code()); values.push(from.idm_short_code());
    _to.set_poss_retrans_flag(from.poss_retrans_flag()); values.push(from.poss_retrans_flag().0);
    _to.set_split_msg(from.split_msg()); values.push(from.split_msg().map(|v| v.0));
    let mut entries = from.no_party_details();
    let mut scratch = party_details_definition_request_ack519::NoPartyDetails::SCRATCH;
    let mut pushed = groups.no_party_details().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_party_detail_id(entry.party_detail_id()); values.push(entry.party_detail_id());
        values.push(party_details_definition_request_ack519::NoPartyDetails::PARTY_DETAIL_ID_SOURCE);
        _to.set_party_detail_role(entry.party_detail_role()); values.push(entry.party_detail_role().0);
    }
    let mut entries = from.no_trd_reg_publications();
    let mut scratch = party_details_definition_request_ack519::NoTrdRegPublications::SCRATCH;
    let mut pushed = groups.no_trd_reg_publications().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_trd_reg_publication_type(entry.trd_reg_publication_type()); values.push(entry.trd_reg_publication_type());
        _to.set_trd_reg_publication_reason(entry.trd_reg_publication_reason()); values.push(entry.trd_reg_publication_reason());
    }
    groups.finish().unwrap()
}

fn business_reject521(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = BusinessReject521::SCRATCH;
    let from = BusinessReject521::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = BusinessReject521::encode(buffer).unwrap();
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_text(from.text()); values.push(from.text());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_business_reject_ref_id(from.business_reject_ref_id()); values.push(from.business_reject_ref_id());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_ref_seq_num(from.ref_seq_num()); values.push(from.ref_seq_num());
    _to.set_ref_tag_id(from.ref_tag_id()); values.push(from.ref_tag_id());
    _to.set_business_reject_reason(from.business_reject_reason()); values.push(from.business_reject_reason());
    _to.set_ref_msg_type(from.ref_msg_type()); values.push(from.ref_msg_type());
    _to.set_poss_retrans_flag(from.poss_retrans_flag()); values.push(from.poss_retrans_flag().0);
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().map(|v| v.0));
    _to.set_split_msg(from.split_msg()); values.push(from.split_msg().map(|v| v.0));
    BusinessReject521::ENCODED_LENGTH
}

fn execution_report_new522(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = ExecutionReportNew522::SCRATCH;
    let from = ExecutionReportNew522::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = ExecutionReportNew522::encode(buffer).unwrap();
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_exec_id(from.exec_id()); values.push(from.exec_id());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_cl_ord_id(from.cl_ord_id()); values.push(from.cl_ord_id());
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_order_id(from.order_id()); values.push(from.order_id());
    _to.set_price(from.price()); values.push(from.price());
    _to.set_stop_px(from.stop_px()); values.push(from.stop_px());
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_order_request_id(from.order_request_id()); values.push(from.order_request_id());
    _to.set_cross_id(from.cross_id()); values.push(from.cross_id());
    _to.set_host_cross_id(from.host_cross_id()); values.push(from.host_cross_id());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    _to.set_order_qty(from.order_qty()); values.push(from.order_qty());
    _to.set_min_qty(from.min_qty()); values.push(from.min_qty());
    _to.set_display_qty(from.display_qty()); values.push(from.display_qty());
    _to.set_expire_date(from.expire_date()); values.push(from.expire_date());
    _to.set_delay_duration(from.delay_duration()); values.push(from.delay_duration());
    values.push(ExecutionReportNew522::ORD_STATUS);
    values.push(ExecutionReportNew522::EXEC_TYPE);
    _to.set_ord_type(from.ord_type()); values.push(from.ord_type().map(|v| v.0));
    _to.set_side(from.side()); values.push(from.side().0);
    _to.set_time_in_force(from.time_in_force()); values.push(from.time_in_force().map(|v| v.0));
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_poss_retrans_flag(from.poss_retrans_flag()); values.push(from.poss_retrans_flag().0);
    _to.set_split_msg(from.split_msg()); values.push(from.split_msg().map(|v| v.0));
    _to.set_cross_type(from.cross_type()); values.push(from.cross_type());
    _to.set_exec_inst(from.exec_inst()); values.push(from.exec_inst().0);
    _to.set_execution_mode(from.execution_mode()); values.push(from.execution_mode().map(|v| v.0));
    _to.set_liquidity_flag(from.liquidity_flag()); values.push(from.liquidity_flag().map(|v| v.0));
    _to.set_managed_order(from.managed_order()); values.push(from.managed_order().map(|v| v.0));
    _to.set_short_sale_type(from.short_sale_type()); values.push(from.short_sale_type().map(|v| v.0));
    _to.set_delay_to_time(from.delay_to_time()); values.push(from.delay_to_time());
    _to.set_discretion_price(from.discretion_price()); values.push(from.discretion_price());
    _to.set_reservation_price(from.reservation_price()); values.push(from.reservation_price());
    _to.set_priority_indicator(from.priority_indicator()); values.push(from.priority_indicator());
    ExecutionReportNew522::ENCODED_LENGTH
}

fn execution_report_reject523(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = ExecutionReportReject523::SCRATCH;
    let from = ExecutionReportReject523::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = ExecutionReportReject523::encode(buffer).unwrap();
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_text(from.text()); values.push(from.text());
    _to.set_exec_id(from.exec_id()); values.push(from.exec_id());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_cl_ord_id(from.cl_ord_id()); values.push(from.cl_ord_id());
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_order_id(from.order_id()); values.push(from.order_id());
    _to.set_price(from.price()); values.push(from.price());
    _to.set_stop_px(from.stop_px()); values.push(from.stop_px());
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_order_request_id(from.order_request_id()); values.push(from.order_request_id());
    _to.set_cross_id(from.cross_id()); values.push(from.cross_id());
    _to.set_host_cross_id(from.host_cross_id()); values.push(from.host_cross_id());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    _to.set_order_qty(from.order_qty()); values.push(from.order_qty());
    _to.set_min_qty(from.min_qty()); values.push(from.min_qty());
    _to.set_display_qty(from.display_qty()); values.push(from.display_qty());
    _to.set_ord_rej_reason(from.ord_rej_reason()); values.push(from.ord_rej_reason());
    _to.set_expire_date(from.expire_date()); values.push(from.expire_date());
    _to.set_delay_duration(from.delay_duration()); values.push(from.delay_duration());
    values.push(ExecutionReportReject523::ORD_STATUS);
    values.push(ExecutionReportReject523::EXEC_TYPE);
    _to.set_ord_type(from.ord_type()); values.push(from.ord_type().map(|v| v.0));
    _to.set_side(from.side()); values.push(from.side().0);
    _to.set_time_in_force(from.time_in_force()); values.push(from.time_in_force().map(|v| v.0));
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_poss_retrans_flag(from.poss_retrans_flag()); values.push(from.poss_retrans_flag().0);
    _to.set_split_msg(from.split_msg()); values.push(from.split_msg().map(|v| v.0));
    _to.set_cross_type(from.cross_type()); values.push(from.cross_type());
    _to.set_exec_inst(from.exec_inst()); values.push(from.exec_inst().0);
    _to.set_execution_mode(from.execution_mode()); values.push(from.execution_mode().map(|v| v.0));
    _to.set_liquidity_flag(from.liquidity_flag()); values.push(from.liquidity_flag().map(|v| v.0));
    _to.set_managed_order(from.managed_order()); values.push(from.managed_order().map(|v| v.0));
    _to.set_short_sale_type(from.short_sale_type()); values.push(from.short_sale_type().map(|v| v.0));
    _to.set_delay_to_time(from.delay_to_time()); values.push(from.delay_to_time());
    _to.set_discretion_price(from.discretion_price()); values.push(from.discretion_price());
    _to.set_reservation_price(from.reservation_price()); values.push(from.reservation_price());
    ExecutionReportReject523::ENCODED_LENGTH
}

fn execution_report_elimination524(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = ExecutionReportElimination524::SCRATCH;
    let from = ExecutionReportElimination524::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = ExecutionReportElimination524::encode(buffer).unwrap();
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_exec_id(from.exec_id()); values.push(from.exec_id());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_cl_ord_id(from.cl_ord_id()); values.push(from.cl_ord_id());
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_order_id(from.order_id()); values.push(from.order_id());
    _to.set_price(from.price()); values.push(from.price());
    _to.set_stop_px(from.stop_px()); values.push(from.stop_px());
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_order_request_id(from.order_request_id()); values.push(from.order_request_id());
    _to.set_cross_id(from.cross_id()); values.push(from.cross_id());
    _to.set_host_cross_id(from.host_cross_id()); values.push(from.host_cross_id());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    _to.set_cum_qty(from.cum_qty()); values.push(from.cum_qty());
    _to.set_order_qty(from.order_qty()); values.push(from.order_qty());
    _to.set_min_qty(from.min_qty()); values.push(from.min_qty());
    _to.set_display_qty(from.display_qty()); values.push(from.display_qty());
    values.push(ExecutionReportElimination524::ORD_STATUS);
    values.push(ExecutionReportElimination524::EXEC_TYPE);
    _to.set_expire_date(from.expire_date()); values.push(from.expire_date());
    _to.set_ord_type(from.ord_type()); values.push(from.ord_type().map(|v| v.0));
    _to.set_side(from.side()); values.push(from.side().0);
    _to.set_time_in_force(from.time_in_force()); values.push(from.time_in_force().map(|v| v.0));
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_poss_retrans_flag(from.poss_retrans_flag()); values.push(from.poss_retrans_flag().0);
    _to.set_cross_type(from.cross_type()); values.push(from.cross_type());
    _to.set_exec_inst(from.exec_inst()); values.push(from.exec_inst().0);
    _to.set_execution_mode(from.execution_mode()); values.push(from.execution_mode().map(|v| v.0));
    _to.set_liquidity_flag(from.liquidity_flag()); values.push(from.liquidity_flag().map(|v| v.0));
    _to.set_managed_order(from.managed_order()); values.push(from.managed_order().map(|v| v.0));
    _to.set_short_sale_type(from.short_sale_type()); values.push(from.short_sale_type().map(|v| v.0));
    _to.set_discretion_price(from.discretion_price()); values.push(from.discretion_price());
    _to.set_reservation_price(from.reservation_price()); values.push(from.reservation_price());
    _to.set_priority_indicator(from.priority_indicator()); values.push(from.priority_indicator());
    ExecutionReportElimination524::ENCODED_LENGTH
}

fn execution_report_trade_outright525(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = ExecutionReportTradeOutright525::SCRATCH;
    let from = ExecutionReportTradeOutright525::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = ExecutionReportTradeOutright525::encode(buffer).unwrap();
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_exec_id(from.exec_id()); values.push(from.exec_id());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_cl_ord_id(from.cl_ord_id()); values.push(from.cl_ord_id());
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_last_px(from.last_px()); values.push(from.last_px());
    _to.set_order_id(from.order_id()); values.push(from.order_id());
    _to.set_price(from.price()); values.push(from.price());
    _to.set_stop_px(from.stop_px()); values.push(from.stop_px());
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_order_request_id(from.order_request_id()); values.push(from.order_request_id());
    _to.set_sec_exec_id(from.sec_exec_id()); values.push(from.sec_exec_id());
    _to.set_cross_id(from.cross_id()); values.push(from.cross_id());
    _to.set_host_cross_id(from.host_cross_id()); values.push(from.host_cross_id());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    _to.set_order_qty(from.order_qty()); values.push(from.order_qty());
    _to.set_last_qty(from.last_qty()); values.push(from.last_qty());
    _to.set_cum_qty(from.cum_qty()); values.push(from.cum_qty());
    _to.set_md_trade_entry_id(from.md_trade_entry_id()); values.push(from.md_trade_entry_id());
    _to.set_side_trade_id(from.side_trade_id()); values.push(from.side_trade_id());
    _to.set_trade_link_id(from.trade_link_id()); values.push(from.trade_link_id());
    _to.set_leaves_qty(from.leaves_qty()); values.push(from.leaves_qty());
    _to.set_trade_date(from.trade_date()); values.push(from.trade_date());
    _to.set_expire_date(from.expire_date()); values.push(from.expire_date());
    _to.set_ord_status(from.ord_status()); values.push(from.ord_status().0);
    values.push(ExecutionReportTradeOutright525::EXEC_TYPE);
    _to.set_ord_type(from.ord_type()); values.push(from.ord_type().map(|v| v.0));
    _to.set_side(from.side()); values.push(from.side().0);
    _to.set_time_in_force(from.time_in_force()); values.push(from.time_in_force().map(|v| v.0));
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_poss_retrans_flag(from.poss_retrans_flag()); values.push(from.poss_retrans_flag().0);
    _to.set_aggressor_indicator(from.aggressor_indicator()); values.push(from.aggressor_indicator().0);
    _to.set_cross_type(from.cross_type()); values.push(from.cross_type());
    _to.set_exec_inst(from.exec_inst()); values.push(from.exec_inst().0);
    _to.set_execution_mode(from.execution_mode()); values.push(from.execution_mode().map(|v| v.0));
    _to.set_liquidity_flag(from.liquidity_flag()); values.push(from.liquidity_flag().map(|v| v.0));
    _to.set_managed_order(from.managed_order()); values.push(from.managed_order().map(|v| v.0));
    _to.set_short_sale_type(from.short_sale_type()); values.push(from.short_sale_type().map(|v| v.0));
    _to.set_ownership(from.ownership()); values.push(from.ownership());
    _to.set_discretion_price(from.discretion_price()); values.push(from.discretion_price());
    _to.set_trd_type(from.trd_type()); values.push(from.trd_type());
    _to.set_exec_restatement_reason(from.exec_restatement_reason()); values.push(from.exec_restatement_reason().map(|v| v.0));
    _to.set_settl_date(from.settl_date()); values.push(from.settl_date());
    _to.set_maturity_date(from.maturity_date()); values.push(from.maturity_date());
    _to.set_calculated_ccy_last_qty(from.calculated_ccy_last_qty()); values.push(from.calculated_ccy_last_qty());
    _to.set_gross_trade_amt(from.gross_trade_amt()); values.push(from.gross_trade_amt());
    _to.set_benchmark_price(from.benchmark_price()); values.push(from.benchmark_price());
    _to.set_reservation_price(from.reservation_price()); values.push(from.reservation_price());
    _to.set_priority_indicator(from.priority_indicator()); values.push(from.priority_indicator());
    _to.set_display_limit_price(from.display_limit_price()); values.push(from.display_limit_price());
    let mut entries = from.no_fills();
    let mut scratch = execution_report_trade_outright525::NoFills::SCRATCH;
    let mut pushed = groups.no_fills().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_fill_px(entry.fill_px()); values.push(entry.fill_px());
        _to.set_fill_qty(entry.fill_qty()); values.push(entry.fill_qty());
        _to.set_fill_exec_id(entry.fill_exec_id()); values.push(entry.fill_exec_id());
        _to.set_fill_yield_type(entry.fill_yield_type()); values.push(entry.fill_yield_type());
    }
    let mut entries = from.no_order_events();
    let mut scratch = execution_report_trade_outright525::NoOrderEvents::SCRATCH;
    let mut pushed = groups.no_order_events().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_order_event_px(entry.order_event_px()); values.push(entry.order_event_px());
        _to.set_order_event_text(entry.order_event_text()); values.push(entry.order_event_text());
        _to.set_order_event_exec_id(entry.order_event_exec_id()); values.push(entry.order_event_exec_id());
        _to.set_order_event_qty(entry.order_event_qty()); values.push(entry.order_event_qty());
        _to.set_order_event_type(entry.order_event_type()); values.push(entry.order_event_type().map(|v| v.0));
        _to.set_order_event_reason(entry.order_event_reason()); values.push(entry.order_event_reason());
        _to.set_contra_gross_trade_amt(entry.contra_gross_trade_amt()); values.push(entry.contra_gross_trade_amt());
        _to.set_contra_calculated_ccy_last_qty(entry.contra_calculated_ccy_last_qty()); values.push(entry.contra_calculated_ccy_last_qty());
    }
    groups.finish().unwrap()
}

fn execution_report_trade_spread526(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = ExecutionReportTradeSpread526::SCRATCH;
    let from = ExecutionReportTradeSpread526::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = ExecutionReportTradeSpread526::encode(buffer).unwrap();
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_exec_id(from.exec_id()); values.push(from.exec_id());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_cl_ord_id(from.cl_ord_id()); values.push(from.cl_ord_id());
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_last_px(from.last_px()); values.push(from.last_px());
    _to.set_order_id(from.order_id()); values.push(from.order_id());
    _to.set_price(from.price()); values.push(from.price());
    _to.set_stop_px(from.stop_px()); values.push(from.stop_px());
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_order_request_id(from.order_request_id()); values.push(from.order_request_id());
    _to.set_sec_exec_id(from.sec_exec_id()); values.push(from.sec_exec_id());
    _to.set_cross_id(from.cross_id()); values.push(from.cross_id());
    _to.set_host_cross_id(from.host_cross_id()); values.push(from.host_cross_id());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    _to.set_order_qty(from.order_qty()); values.push(from.order_qty());
    _to.set_last_qty(from.last_qty()); values.push(from.last_qty());
    _to.set_cum_qty(from.cum_qty()); values.push(from.cum_qty());
    _to.set_md_trade_entry_id(from.md_trade_entry_id()); values.push(from.md_trade_entry_id());
    _to.set_side_trade_id(from.side_trade_id()); values.push(from.side_trade_id());
    _to.set_leaves_qty(from.leaves_qty()); values.push(from.leaves_qty());
    _to.set_trade_date(from.trade_date()); values.push(from.trade_date());
    _to.set_expire_date(from.expire_date()); values.push(from.expire_date());
    _to.set_ord_status(from.ord_status()); values.push(from.ord_status().0);
    values.push(ExecutionReportTradeSpread526::EXEC_TYPE);
    _to.set_ord_type(from.ord_type()); values.push(from.ord_type().map(|v| v.0));
    _to.set_side(from.side()); values.push(from.side().0);
    _to.set_time_in_force(from.time_in_force()); values.push(from.time_in_force().map(|v| v.0));
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_poss_retrans_flag(from.poss_retrans_flag()); values.push(from.poss_retrans_flag().0);
    _to.set_aggressor_indicator(from.aggressor_indicator()); values.push(from.aggressor_indicator().0);
    _to.set_cross_type(from.cross_type()); values.push(from.cross_type());
    _to.set_total_num_securities(from.total_num_securities()); values.push(from.total_num_securities());
    _to.set_exec_inst(from.exec_inst()); values.push(from.exec_inst().0);
    _to.set_execution_mode(from.execution_mode()); values.push(from.execution_mode().map(|v| v.0));
    _to.set_liquidity_flag(from.liquidity_flag()); values.push(from.liquidity_flag().map(|v| v.0));
    _to.set_short_sale_type(from.short_sale_type()); values.push(from.short_sale_type().map(|v| v.0));
    let mut entries = from.no_fills();
    let mut scratch = execution_report_trade_spread526::NoFills::SCRATCH;
    let mut pushed = groups.no_fills().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_fill_px(entry.fill_px()); values.push(entry.fill_px());
        _to.set_fill_qty(entry.fill_qty()); values.push(entry.fill_qty());
        _to.set_fill_exec_id(entry.fill_exec_id()); values.push(entry.fill_exec_id());
        _to.set_fill_yield_type(entry.fill_yield_type()); values.push(entry.fill_yield_type());
    }
    let mut entries = from.no_legs();
    let mut scratch = execution_report_trade_spread526::NoLegs::SCRATCH;
    let mut pushed = groups.no_legs().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_leg_exec_id(entry.leg_exec_id()); values.push(entry.leg_exec_id());
        _to.set_leg_last_px(entry.leg_last_px()); values.push(entry.leg_last_px());
        _to.set_leg_security_id(entry.leg_security_id()); values.push(entry.leg_security_id());
        _to.set_leg_trade_id(entry.leg_trade_id()); values.push(entry.leg_trade_id());
        _to.set_leg_last_qty(entry.leg_last_qty()); values.push(entry.leg_last_qty());
        _to.set_leg_side(entry.leg_side()); values.push(entry.leg_side().0);
    }
    let mut entries = from.no_order_events();
    let mut scratch = execution_report_trade_spread526::NoOrderEvents::SCRATCH;
    let mut pushed = groups.no_order_events().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_order_event_px(entry.order_event_px()); values.push(entry.order_event_px());
        _to.set_order_event_text(entry.order_event_text()); values.push(entry.order_event_text());
        _to.set_order_event_exec_id(entry.order_event_exec_id()); values.push(entry.order_event_exec_id());
        _to.set_order_event_qty(entry.order_event_qty()); values.push(entry.order_event_qty());
        _to.set_order_event_type(entry.order_event_type()); values.push(entry.order_event_type().map(|v| v.0));
        _to.set_order_event_reason(entry.order_event_reason()); values.push(entry.order_event_reason());
    }
    groups.finish().unwrap()
}

fn execution_report_trade_spread_leg527(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = ExecutionReportTradeSpreadLeg527::SCRATCH;
    let from = ExecutionReportTradeSpreadLeg527::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = ExecutionReportTradeSpreadLeg527::encode(buffer).unwrap();
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_exec_id(from.exec_id()); values.push(from.exec_id());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_cl_ord_id(from.cl_ord_id()); values.push(from.cl_ord_id());
    _to.set_volatility(from.volatility()); values.push(from.volatility());
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_last_px(from.last_px()); values.push(from.last_px());
    _to.set_order_id(from.order_id()); values.push(from.order_id());
    _to.set_underlying_px(from.underlying_px()); values.push(from.underlying_px());
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_sec_exec_id(from.sec_exec_id()); values.push(from.sec_exec_id());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_option_delta(from.option_delta()); values.push(from.option_delta());
    _to.set_time_to_expiration(from.time_to_expiration()); values.push(from.time_to_expiration());
    _to.set_risk_free_rate(from.risk_free_rate()); values.push(from.risk_free_rate());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    _to.set_last_qty(from.last_qty()); values.push(from.last_qty());
    _to.set_cum_qty(from.cum_qty()); values.push(from.cum_qty());
    _to.set_side_trade_id(from.side_trade_id()); values.push(from.side_trade_id());
    _to.set_trade_date(from.trade_date()); values.push(from.trade_date());
    _to.set_ord_status(from.ord_status()); values.push(from.ord_status().0);
    values.push(ExecutionReportTradeSpreadLeg527::EXEC_TYPE);
    _to.set_ord_type(from.ord_type()); values.push(from.ord_type().map(|v| v.0));
    _to.set_side(from.side()); values.push(from.side().0);
    _to.set_poss_retrans_flag(from.poss_retrans_flag()); values.push(from.poss_retrans_flag().0);
    _to.set_settl_date(from.settl_date()); values.push(from.settl_date());
    _to.set_calculated_ccy_last_qty(from.calculated_ccy_last_qty()); values.push(from.calculated_ccy_last_qty());
    _to.set_gross_trade_amt(from.gross_trade_amt()); values.push(from.gross_trade_amt());
    let mut entries = from.no_fills();
    let mut scratch = execution_report_trade_spread_leg527::NoFills::SCRATCH;
    let mut pushed = groups.no_fills().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_fill_px(entry.fill_px()); values.push(entry.fill_px());
        _to.set_fill_qty(entry.fill_qty()); values.push(entry.fill_qty());
        _to.set_fill_exec_id(entry.fill_exec_id()); values.push(entry.fill_exec_id());
        _to.set_fill_yield_type(entry.fill_yield_type()); values.push(entry.fill_yield_type());
    }
    let mut entries = from.no_order_events();
    let mut scratch = execution_report_trade_spread_leg527::NoOrderEvents::SCRATCH;
    let mut pushed = groups.no_order_events().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_order_event_px(entry.order_event_px()); values.push(entry.order_event_px());
        _to.set_order_event_text(entry.order_event_text()); values.push(entry.order_event_text());
        _to.set_order_event_exec_id(entry.order_event_exec_id()); values.push(entry.order_event_exec_id());
        _to.set_order_event_qty(entry.order_event_qty()); values.push(entry.order_event_qty());
        _to.set_order_event_type(entry.order_event_type()); values.push(entry.order_event_type().map(|v| v.0));
        _to.set_order_event_reason(entry.order_event_reason()); values.push(entry.order_event_reason());
        _to.set_contra_gross_trade_amt(entry.contra_gross_trade_amt()); values.push(entry.contra_gross_trade_amt());
        _to.set_contra_calculated_ccy_last_qty(entry.contra_calculated_ccy_last_qty()); values.push(entry.contra_calculated_ccy_last_qty());
    }
    groups.finish().unwrap()
}

fn quote_cancel528(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = QuoteCancel528::SCRATCH;
    let from = QuoteCancel528::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = QuoteCancel528::encode(buffer).unwrap();
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_quote_id(from.quote_id()); values.push(from.quote_id());
    _to.set_quote_cancel_type(from.quote_cancel_type()); values.push(from.quote_cancel_type().0);
    _to.set_liquidity_flag(from.liquidity_flag()); values.push(from.liquidity_flag().map(|v| v.0));
    _to.set_orig_order_user(from.orig_order_user()); values.push(from.orig_order_user());
    _to.set_quote_entry_open(from.quote_entry_open()); values.push(from.quote_entry_open().map(|v| v.0));
    let mut entries = from.no_quote_entries();
    let mut scratch = quote_cancel528::NoQuoteEntries::SCRATCH;
    let mut pushed = groups.no_quote_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_security_group(entry.security_group()); values.push(entry.security_group());
        _to.set_security_id(entry.security_id()); values.push(entry.security_id());
    }
    let mut entries = from.no_quote_sets();
    let mut scratch = quote_cancel528::NoQuoteSets::SCRATCH;
    let mut pushed = groups.no_quote_sets().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_bid_size(entry.bid_size()); values.push(entry.bid_size());
        _to.set_offer_size(entry.offer_size()); values.push(entry.offer_size());
        _to.set_quote_set_id(entry.quote_set_id()); values.push(entry.quote_set_id());
    }
    groups.finish().unwrap()
}

fn order_mass_action_request529(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = OrderMassActionRequest529::SCRATCH;
    let from = OrderMassActionRequest529::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = OrderMassActionRequest529::encode(buffer).unwrap();
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_order_request_id(from.order_request_id()); values.push(from.order_request_id());
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    values.push(OrderMassActionRequest529::MASS_ACTION_TYPE);
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_security_group(from.security_group()); values.push(from.security_group());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    _to.set_mass_action_scope(from.mass_action_scope()); values.push(from.mass_action_scope().0);
    _to.set_market_segment_id(from.market_segment_id()); values.push(from.market_segment_id());
    _to.set_mass_cancel_request_type(from.mass_cancel_request_type()); values.push(from.mass_cancel_request_type().map(|v| v.0));
    _to.set_side(from.side()); values.push(from.side().map(|v| v.0));
    _to.set_ord_type(from.ord_type()); values.push(from.ord_type().map(|v| v.0));
    _to.set_time_in_force(from.time_in_force()); values.push(from.time_in_force().map(|v| v.0));
    _to.set_liquidity_flag(from.liquidity_flag()); values.push(from.liquidity_flag().map(|v| v.0));
    _to.set_orig_order_user(from.orig_order_user()); values.push(from.orig_order_user());
    OrderMassActionRequest529::ENCODED_LENGTH
}

fn order_mass_status_request530(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = OrderMassStatusRequest530::SCRATCH;
    let from = OrderMassStatusRequest530::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = OrderMassStatusRequest530::encode(buffer).unwrap();
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_mass_status_req_id(from.mass_status_req_id()); values.push(from.mass_status_req_id());
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_security_group(from.security_group()); values.push(from.security_group());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    _to.set_mass_status_req_type(from.mass_status_req_type()); values.push(from.mass_status_req_type().0);
    _to.set_ord_status_req_type(from.ord_status_req_type()); values.push(from.ord_status_req_type().map(|v| v.0));
    _to.set_time_in_force(from.time_in_force()); values.push(from.time_in_force().map(|v| v.0));
    _to.set_market_segment_id(from.market_segment_id()); values.push(from.market_segment_id());
    OrderMassStatusRequest530::ENCODED_LENGTH
}

fn execution_report_modify531(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = ExecutionReportModify531::SCRATCH;
    let from = ExecutionReportModify531::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = ExecutionReportModify531::encode(buffer).unwrap();
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_exec_id(from.exec_id()); values.push(from.exec_id());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_cl_ord_id(from.cl_ord_id()); values.push(from.cl_ord_id());
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_order_id(from.order_id()); values.push(from.order_id());
    _to.set_price(from.price()); values.push(from.price());
    _to.set_stop_px(from.stop_px()); values.push(from.stop_px());
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_order_request_id(from.order_request_id()); values.push(from.order_request_id());
    _to.set_cross_id(from.cross_id()); values.push(from.cross_id());
    _to.set_host_cross_id(from.host_cross_id()); values.push(from.host_cross_id());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    _to.set_order_qty(from.order_qty()); values.push(from.order_qty());
    _to.set_cum_qty(from.cum_qty()); values.push(from.cum_qty());
    _to.set_leaves_qty(from.leaves_qty()); values.push(from.leaves_qty());
    _to.set_min_qty(from.min_qty()); values.push(from.min_qty());
    _to.set_display_qty(from.display_qty()); values.push(from.display_qty());
    _to.set_expire_date(from.expire_date()); values.push(from.expire_date());
    _to.set_delay_duration(from.delay_duration()); values.push(from.delay_duration());
    values.push(ExecutionReportModify531::ORD_STATUS);
    values.push(ExecutionReportModify531::EXEC_TYPE);
    _to.set_ord_type(from.ord_type()); values.push(from.ord_type().map(|v| v.0));
    _to.set_side(from.side()); values.push(from.side().0);
    _to.set_time_in_force(from.time_in_force()); values.push(from.time_in_force().map(|v| v.0));
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_poss_retrans_flag(from.poss_retrans_flag()); values.push(from.poss_retrans_flag().0);
    _to.set_split_msg(from.split_msg()); values.push(from.split_msg().map(|v| v.0));
    _to.set_cross_type(from.cross_type()); values.push(from.cross_type());
    _to.set_exec_inst(from.exec_inst()); values.push(from.exec_inst().0);
    _to.set_execution_mode(from.execution_mode()); values.push(from.execution_mode().map(|v| v.0));
    _to.set_liquidity_flag(from.liquidity_flag()); values.push(from.liquidity_flag().map(|v| v.0));
    _to.set_managed_order(from.managed_order()); values.push(from.managed_order().map(|v| v.0));
    _to.set_short_sale_type(from.short_sale_type()); values.push(from.short_sale_type().map(|v| v.0));
    _to.set_delay_to_time(from.delay_to_time()); values.push(from.delay_to_time());
    _to.set_discretion_price(from.discretion_price()); values.push(from.discretion_price());
    _to.set_priority_indicator(from.priority_indicator()); values.push(from.priority_indicator());
    ExecutionReportModify531::ENCODED_LENGTH
}

fn execution_report_status532(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = ExecutionReportStatus532::SCRATCH;
    let from = ExecutionReportStatus532::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = ExecutionReportStatus532::encode(buffer).unwrap();
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_text(from.text()); values.push(from.text());
    _to.set_exec_id(from.exec_id()); values.push(from.exec_id());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_cl_ord_id(from.cl_ord_id()); values.push(from.cl_ord_id());
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_order_id(from.order_id()); values.push(from.order_id());
    _to.set_price(from.price()); values.push(from.price());
    _to.set_stop_px(from.stop_px()); values.push(from.stop_px());
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_order_request_id(from.order_request_id()); values.push(from.order_request_id());
    _to.set_ord_status_req_id(from.ord_status_req_id()); values.push(from.ord_status_req_id());
    _to.set_mass_status_req_id(from.mass_status_req_id()); values.push(from.mass_status_req_id());
    _to.set_cross_id(from.cross_id()); values.push(from.cross_id());
    _to.set_host_cross_id(from.host_cross_id()); values.push(from.host_cross_id());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    _to.set_order_qty(from.order_qty()); values.push(from.order_qty());
    _to.set_cum_qty(from.cum_qty()); values.push(from.cum_qty());
    _to.set_leaves_qty(from.leaves_qty()); values.push(from.leaves_qty());
    _to.set_min_qty(from.min_qty()); values.push(from.min_qty());
    _to.set_display_qty(from.display_qty()); values.push(from.display_qty());
    _to.set_expire_date(from.expire_date()); values.push(from.expire_date());
    _to.set_ord_status(from.ord_status()); values.push(from.ord_status().0);
    values.push(ExecutionReportStatus532::EXEC_TYPE);
    _to.set_ord_type(from.ord_type()); values.push(from.ord_type().map(|v| v.0));
    _to.set_side(from.side()); values.push(from.side().0);
    _to.set_time_in_force(from.time_in_force()); values.push(from.time_in_force().map(|v| v.0));
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_poss_retrans_flag(from.poss_retrans_flag()); values.push(from.poss_retrans_flag().0);
    _to.set_last_rpt_requested(from.last_rpt_requested()); values.push(from.last_rpt_requested().map(|v| v.0));
    _to.set_cross_type(from.cross_type()); values.push(from.cross_type());
    _to.set_exec_inst(from.exec_inst()); values.push(from.exec_inst().0);
    _to.set_execution_mode(from.execution_mode()); values.push(from.execution_mode().map(|v| v.0));
    _to.set_liquidity_flag(from.liquidity_flag()); values.push(from.liquidity_flag().map(|v| v.0));
    _to.set_managed_order(from.managed_order()); values.push(from.managed_order().map(|v| v.0));
    _to.set_short_sale_type(from.short_sale_type()); values.push(from.short_sale_type().map(|v| v.0));
    _to.set_discretion_price(from.discretion_price()); values.push(from.discretion_price());
    _to.set_reservation_price(from.reservation_price()); values.push(from.reservation_price());
    _to.set_priority_indicator(from.priority_indicator()); values.push(from.priority_indicator());
    _to.set_orig_order_user(from.orig_order_user()); values.push(from.orig_order_user());
    _to.set_cancel_text(from.cancel_text()); values.push(from.cancel_text());
    ExecutionReportStatus532::ENCODED_LENGTH
}

fn order_status_request533(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = OrderStatusRequest533::SCRATCH;
    let from = OrderStatusRequest533::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = OrderStatusRequest533::encode(buffer).unwrap();
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_ord_status_req_id(from.ord_status_req_id()); values.push(from.ord_status_req_id());
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_order_id(from.order_id()); values.push(from.order_id());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_location(from.location()); values.push(from.location());
    OrderStatusRequest533::ENCODED_LENGTH
}

fn execution_report_cancel534(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = ExecutionReportCancel534::SCRATCH;
    let from = ExecutionReportCancel534::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = ExecutionReportCancel534::encode(buffer).unwrap();
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_exec_id(from.exec_id()); values.push(from.exec_id());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_cl_ord_id(from.cl_ord_id()); values.push(from.cl_ord_id());
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_order_id(from.order_id()); values.push(from.order_id());
    _to.set_price(from.price()); values.push(from.price());
    _to.set_stop_px(from.stop_px()); values.push(from.stop_px());
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_order_request_id(from.order_request_id()); values.push(from.order_request_id());
    _to.set_cross_id(from.cross_id()); values.push(from.cross_id());
    _to.set_host_cross_id(from.host_cross_id()); values.push(from.host_cross_id());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    _to.set_order_qty(from.order_qty()); values.push(from.order_qty());
    _to.set_cum_qty(from.cum_qty()); values.push(from.cum_qty());
    _to.set_min_qty(from.min_qty()); values.push(from.min_qty());
    _to.set_display_qty(from.display_qty()); values.push(from.display_qty());
    _to.set_expire_date(from.expire_date()); values.push(from.expire_date());
    _to.set_delay_duration(from.delay_duration()); values.push(from.delay_duration());
    values.push(ExecutionReportCancel534::ORD_STATUS);
    values.push(ExecutionReportCancel534::EXEC_TYPE);
    _to.set_ord_type(from.ord_type()); values.push(from.ord_type().map(|v| v.0));
    _to.set_side(from.side()); values.push(from.side().0);
    _to.set_time_in_force(from.time_in_force()); values.push(from.time_in_force().map(|v| v.0));
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_poss_retrans_flag(from.poss_retrans_flag()); values.push(from.poss_retrans_flag().0);
    _to.set_split_msg(from.split_msg()); values.push(from.split_msg().map(|v| v.0));
    _to.set_exec_restatement_reason(from.exec_restatement_reason()); values.push(from.exec_restatement_reason().map(|v| v.0));
    _to.set_cross_type(from.cross_type()); values.push(from.cross_type());
    _to.set_exec_inst(from.exec_inst()); values.push(from.exec_inst().0);
    _to.set_execution_mode(from.execution_mode()); values.push(from.execution_mode().map(|v| v.0));
    _to.set_liquidity_flag(from.liquidity_flag()); values.push(from.liquidity_flag().map(|v| v.0));
    _to.set_managed_order(from.managed_order()); values.push(from.managed_order().map(|v| v.0));
    _to.set_short_sale_type(from.short_sale_type()); values.push(from.short_sale_type().map(|v| v.0));
    _to.set_delay_to_time(from.delay_to_time()); values.push(from.delay_to_time());
    _to.set_discretion_price(from.discretion_price()); values.push(from.discretion_price());
    _to.set_reservation_price(from.reservation_price()); values.push(from.reservation_price());
    _to.set_priority_indicator(from.priority_indicator()); values.push(from.priority_indicator());
    _to.set_orig_order_user(from.orig_order_user()); values.push(from.orig_order_user());
    _to.set_cancel_text(from.cancel_text()); values.push(from.cancel_text());
    ExecutionReportCancel534::ENCODED_LENGTH
}

fn order_cancel_reject535(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = OrderCancelReject535::SCRATCH;
    let from = OrderCancelReject535::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = OrderCancelReject535::encode(buffer).unwrap();
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_text(from.text()); values.push(from.text());
    _to.set_exec_id(from.exec_id()); values.push(from.exec_id());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_cl_ord_id(from.cl_ord_id()); values.push(from.cl_ord_id());
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    values.push(OrderCancelReject535::ORD_STATUS);
    values.push(OrderCancelReject535::CXL_REJ_RESPONSE_TO);
    _to.set_order_id(from.order_id()); values.push(from.order_id());
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_order_request_id(from.order_request_id()); values.push(from.order_request_id());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_cxl_rej_reason(from.cxl_rej_reason()); values.push(from.cxl_rej_reason());
    _to.set_delay_duration(from.delay_duration()); values.push(from.delay_duration());
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_poss_retrans_flag(from.poss_retrans_flag()); values.push(from.poss_retrans_flag().0);
    _to.set_split_msg(from.split_msg()); values.push(from.split_msg().map(|v| v.0));
    _to.set_liquidity_flag(from.liquidity_flag()); values.push(from.liquidity_flag().map(|v| v.0));
    _to.set_delay_to_time(from.delay_to_time()); values.push(from.delay_to_time());
    OrderCancelReject535::ENCODED_LENGTH
}

fn order_cancel_replace_reject536(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = OrderCancelReplaceReject536::SCRATCH;
    let from = OrderCancelReplaceReject536::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = OrderCancelReplaceReject536::encode(buffer).unwrap();
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_text(from.text()); values.push(from.text());
    _to.set_exec_id(from.exec_id()); values.push(from.exec_id());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_cl_ord_id(from.cl_ord_id()); values.push(from.cl_ord_id());
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_order_id(from.order_id()); values.push(from.order_id());
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_order_request_id(from.order_request_id()); values.push(from.order_request_id());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_cxl_rej_reason(from.cxl_rej_reason()); values.push(from.cxl_rej_reason());
    _to.set_delay_duration(from.delay_duration()); values.push(from.delay_duration());
    values.push(OrderCancelReplaceReject536::ORD_STATUS);
    values.push(OrderCancelReplaceReject536::CXL_REJ_RESPONSE_TO);
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_poss_retrans_flag(from.poss_retrans_flag()); values.push(from.poss_retrans_flag().0);
    _to.set_split_msg(from.split_msg()); values.push(from.split_msg().map(|v| v.0));
    _to.set_liquidity_flag(from.liquidity_flag()); values.push(from.liquidity_flag().map(|v| v.0));
    _to.set_delay_to_time(from.delay_to_time()); values.push(from.delay_to_time());
    OrderCancelReplaceReject536::ENCODED_LENGTH
}

fn party_details_list_request537(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = PartyDetailsListRequest537::SCRATCH;
    let from = PartyDetailsListRequest537::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = PartyDetailsListRequest537::encode(buffer).unwrap();
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    let mut entries = from.no_requesting_party_i_ds();
    let mut scratch = party_details_list_request537::NoRequestingPartyIDs::SCRATCH;
    let mut pushed = groups.no_requesting_party_i_ds().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_requesting_party_id(entry.requesting_party_id()); values.push(entry.requesting_party_id());
        _to.set_requesting_party_id_source(entry.requesting_party_id_source()); values.push(entry.requesting_party_id_source());
        _to.set_requesting_party_role(entry.requesting_party_role()); values.push(entry.requesting_party_role());
    }
    let mut entries = from.no_party_i_ds();
    let mut scratch = party_details_list_request537::NoPartyIDs::SCRATCH;
    let mut pushed = groups.no_party_i_ds().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_party_id(entry.party_id()); values.push(entry.party_id());
        _to.set_party_id_source(entry.party_id_source()); values.push(entry.party_id_source());
        _to.set_party_role(entry.party_role()); values.push(entry.party_role());
    }
    groups.finish().unwrap()
}

fn party_details_list_report538(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = PartyDetailsListReport538::SCRATCH;
    let from = PartyDetailsListReport538::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = PartyDetailsListReport538::encode(buffer).unwrap();
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_avg_px_group_id(from.avg_px_group_id()); values.push(from.avg_px_group_id());
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_party_details_list_report_id(from.party_details_list_report_id()); values.push(from.party_details_list_report_id());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_self_match_prevention_id(from.self_match_prevention_id()); values.push(from.self_match_prevention_id());
    _to.set_tot_num_parties(from.tot_num_parties()); values.push(from.tot_num_parties());
    _to.set_request_result(from.request_result()); values.push(from.request_result().0);
    _to.set_last_fragment(from.last_fragment()); values.push(from.last_fragment().0);
    _to.set_cust_order_capacity(from.cust_order_capacity()); values.push(from.cust_order_capacity().map(|v| v.0));
    _to.set_clearing_account_type(from.clearing_account_type()); values.push(from.clearing_account_type().map(|v| v.0));
    _to.set_self_match_prevention_instruction(from.self_match_prevention_instruction()); values.push(from.self_match_prevention_instruction().map(|v| v.0));
    _to.set_avg_px_indicator(from.avg_px_indicator()); values.push(from.avg_px_indicator().map(|v| v.0));
    _to.set_clearing_trade_price_type(from.clearing_trade_price_type()); values.push(from.clearing_trade_price_type().map(|v| v.0));
    _to.set_cmta_giveup_cd(from.cmta_giveup_cd()); values.push(from.cmta_giveup_cd().map(|v| v.0));
    _to.set_cust_order_handling_inst(from.cust_order_handling_inst()); values.push(from.cust_order_handling_inst().map(|v| v.0));
    _to.set_executor(from.executor()); values.push(from.executor());
    _to.set_idm_short_code(from.idm_short_code()); values.push(from.idm_short_code());
    _to.set_poss_retrans_flag(from.poss_retrans_flag()); values.push(from.poss_retrans_flag().0);
    _to.set_split_msg(from.split_msg()); values.push(from.split_msg().map(|v| v.0));
    let mut entries = from.no_party_details();
    let mut scratch = party_details_list_report538::NoPartyDetails::SCRATCH;
    let mut pushed = groups.no_party_details().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_party_detail_id(entry.party_detail_id()); values.push(entry.party_detail_id());
        values.push(party_details_list_report538::NoPartyDetails::PARTY_DETAIL_ID_SOURCE);
        _to.set_party_detail_role(entry.party_detail_role()); values.push(entry.party_detail_role().0);
    }
    let mut entries = from.no_trd_reg_publications();
    let mut scratch = party_details_list_report538::NoTrdRegPublications::SCRATCH;
    let mut pushed = groups.no_trd_reg_publications().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_trd_reg_publication_type(entry.trd_reg_publication_type()); values.push(entry.trd_reg_publication_type());
        _to.set_trd_reg_publication_reason(entry.trd_reg_publication_reason()); values.push(entry.trd_reg_publication_reason());
    }
    groups.finish().unwrap()
}

fn execution_ack539(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = ExecutionAck539::SCRATCH;
    let from = ExecutionAck539::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = ExecutionAck539::encode(buffer).unwrap();
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_order_id(from.order_id()); values.push(from.order_id());
    _to.set_exec_ack_status(from.exec_ack_status()); values.push(from.exec_ack_status().0);
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_cl_ord_id(from.cl_ord_id()); values.push(from.cl_ord_id());
    _to.set_sec_exec_id(from.sec_exec_id()); values.push(from.sec_exec_id());
    _to.set_last_px(from.last_px()); values.push(from.last_px());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    _to.set_last_qty(from.last_qty()); values.push(from.last_qty());
    _to.set_dk_reason(from.dk_reason()); values.push(from.dk_reason().map(|v| v.0));
    _to.set_side(from.side()); values.push(from.side().0);
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().map(|v| v.0));
    ExecutionAck539::ENCODED_LENGTH
}

fn request_for_quote543(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = RequestForQuote543::SCRATCH;
    let from = RequestForQuote543::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = RequestForQuote543::encode(buffer).unwrap();
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_quote_req_id(from.quote_req_id()); values.push(from.quote_req_id());
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_quote_type(from.quote_type()); values.push(from.quote_type().map(|v| v.0));
    let mut entries = from.no_related_sym();
    let mut scratch = request_for_quote543::NoRelatedSym::SCRATCH;
    let mut pushed = groups.no_related_sym().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_security_id(entry.security_id()); values.push(entry.security_id());
        _to.set_order_qty(entry.order_qty()); values.push(entry.order_qty());
        _to.set_side(entry.side()); values.push(entry.side().map(|v| v.0));
    }
    groups.finish().unwrap()
}

fn new_order_cross544(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = NewOrderCross544::SCRATCH;
    let from = NewOrderCross544::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = NewOrderCross544::encode(buffer).unwrap();
    _to.set_cross_id(from.cross_id()); values.push(from.cross_id());
    _to.set_order_request_id(from.order_request_id()); values.push(from.order_request_id());
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    values.push(NewOrderCross544::ORD_TYPE);
    values.push(NewOrderCross544::CROSS_TYPE);
    values.push(NewOrderCross544::CROSS_PRIORITIZATION);
    _to.set_price(from.price()); values.push(from.price());
    _to.set_trans_bkd_time(from.trans_bkd_time()); values.push(from.trans_bkd_time());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    let mut entries = from.no_sides();
    let mut scratch = new_order_cross544::NoSides::SCRATCH;
    let mut pushed = groups.no_sides().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_cl_ord_id(entry.cl_ord_id()); values.push(entry.cl_ord_id());
        _to.set_party_details_list_req_id(entry.party_details_list_req_id()); values.push(entry.party_details_list_req_id());
        _to.set_order_qty(entry.order_qty()); values.push(entry.order_qty());
        _to.set_side(entry.side()); values.push(entry.side().0);
        _to.set_side_time_in_force(entry.side_time_in_force()); values.push(entry.side_time_in_force().0);
    }
    groups.finish().unwrap()
}

fn mass_quote_ack545(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = MassQuoteAck545::SCRATCH;
    let from = MassQuoteAck545::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = MassQuoteAck545::encode(buffer).unwrap();
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_text(from.text()); values.push(from.text());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_request_time(from.request_time()); values.push(from.request_time());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_quote_req_id(from.quote_req_id()); values.push(from.quote_req_id());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_quote_id(from.quote_id()); values.push(from.quote_id());
    _to.set_quote_reject_reason(from.quote_reject_reason()); values.push(from.quote_reject_reason());
    _to.set_delay_duration(from.delay_duration()); values.push(from.delay_duration());
    _to.set_quote_status(from.quote_status()); values.push(from.quote_status().0);
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_no_processed_entries(from.no_processed_entries()); values.push(from.no_processed_entries());
    _to.set_mm_protection_reset(from.mm_protection_reset()); values.push(from.mm_protection_reset().0);
    _to.set_split_msg(from.split_msg()); values.push(from.split_msg().map(|v| v.0));
    _to.set_liquidity_flag(from.liquidity_flag()); values.push(from.liquidity_flag().map(|v| v.0));
    _to.set_short_sale_type(from.short_sale_type()); values.push(from.short_sale_type().map(|v| v.0));
    _to.set_tot_no_quote_entries(from.tot_no_quote_entries()); values.push(from.tot_no_quote_entries());
    _to.set_poss_retrans_flag(from.poss_retrans_flag()); values.push(from.poss_retrans_flag().map(|v| v.0));
    _to.set_delay_to_time(from.delay_to_time()); values.push(from.delay_to_time());
    _to.set_quote_entry_open(from.quote_entry_open()); values.push(from.quote_entry_open().map(|v| v.0));
    _to.set_quote_entry_control(from.quote_entry_control()); values.push(from.quote_entry_control().map(|v| v.0));
    let mut entries = from.no_quote_entries();
    let mut scratch = mass_quote_ack545::NoQuoteEntries::SCRATCH;
    let mut pushed = groups.no_quote_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_quote_entry_id(entry.quote_entry_id()); values.push(entry.quote_entry_id());
        _to.set_security_id(entry.security_id()); values.push(entry.security_id());
        _to.set_quote_set_id(entry.quote_set_id()); values.push(entry.quote_set_id());
        _to.set_quote_entry_reject_reason(entry.quote_entry_reject_reason()); values.push(entry.quote_entry_reject_reason());
    }
    groups.finish().unwrap()
}

fn request_for_quote_ack546(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = RequestForQuoteAck546::SCRATCH;
    let from = RequestForQuoteAck546::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = RequestForQuoteAck546::encode(buffer).unwrap();
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_text(from.text()); values.push(from.text());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_exchange_quote_req_id(from.exchange_quote_req_id()); values.push(from.exchange_quote_req_id());
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_request_time(from.request_time()); values.push(from.request_time());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_quote_req_id(from.quote_req_id()); values.push(from.quote_req_id());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_quote_reject_reason(from.quote_reject_reason()); values.push(from.quote_reject_reason());
    _to.set_delay_duration(from.delay_duration()); values.push(from.delay_duration());
    _to.set_quote_status(from.quote_status()); values.push(from.quote_status().0);
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_split_msg(from.split_msg()); values.push(from.split_msg().map(|v| v.0));
    _to.set_poss_retrans_flag(from.poss_retrans_flag()); values.push(from.poss_retrans_flag().map(|v| v.0));
    _to.set_delay_to_time(from.delay_to_time()); values.push(from.delay_to_time());
    RequestForQuoteAck546::ENCODED_LENGTH
}

fn execution_report_trade_addendum_outright548(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = ExecutionReportTradeAddendumOutright548::SCRATCH;
    let from = ExecutionReportTradeAddendumOutright548::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = ExecutionReportTradeAddendumOutright548::encode(buffer).unwrap();
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_exec_id(from.exec_id()); values.push(from.exec_id());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_cl_ord_id(from.cl_ord_id()); values.push(from.cl_ord_id());
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_last_px(from.last_px()); values.push(from.last_px());
    _to.set_order_id(from.order_id()); values.push(from.order_id());
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_sec_exec_id(from.sec_exec_id()); values.push(from.sec_exec_id());
    _to.set_orig_secondary_execution_id(from.orig_secondary_execution_id()); values.push(from.orig_secondary_execution_id());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    _to.set_last_qty(from.last_qty()); values.push(from.last_qty());
    _to.set_side_trade_id(from.side_trade_id()); values.push(from.side_trade_id());
    _to.set_orig_side_trade_id(from.orig_side_trade_id()); values.push(from.orig_side_trade_id());
    _to.set_trade_date(from.trade_date()); values.push(from.trade_date());
    _to.set_ord_status(from.ord_status()); values.push(from.ord_status().0);
    _to.set_exec_type(from.exec_type()); values.push(from.exec_type().0);
    _to.set_side(from.side()); values.push(from.side().0);
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_poss_retrans_flag(from.poss_retrans_flag()); values.push(from.poss_retrans_flag().0);
    _to.set_exec_inst(from.exec_inst()); values.push(from.exec_inst().0);
    _to.set_execution_mode(from.execution_mode()); values.push(from.execution_mode().map(|v| v.0));
    _to.set_liquidity_flag(from.liquidity_flag()); values.push(from.liquidity_flag().map(|v| v.0));
    _to.set_managed_order(from.managed_order()); values.push(from.managed_order().map(|v| v.0));
    _to.set_short_sale_type(from.short_sale_type()); values.push(from.short_sale_type().map(|v| v.0));
    _to.set_discretion_price(from.discretion_price()); values.push(from.discretion_price());
    _to.set_trd_type(from.trd_type()); values.push(from.trd_type());
    _to.set_exec_restatement_reason(from.exec_restatement_reason()); values.push(from.exec_restatement_reason().map(|v| v.0));
    _to.set_settl_date(from.settl_date()); values.push(from.settl_date());
    _to.set_maturity_date(from.maturity_date()); values.push(from.maturity_date());
    _to.set_calculated_ccy_last_qty(from.calculated_ccy_last_qty()); values.push(from.calculated_ccy_last_qty());
    _to.set_gross_trade_amt(from.gross_trade_amt()); values.push(from.gross_trade_amt());
    _to.set_benchmark_price(from.benchmark_price()); values.push(from.benchmark_price());
    _to.set_md_trade_entry_id(from.md_trade_entry_id()); values.push(from.md_trade_entry_id());
    _to.set_exec_ref_id(from.exec_ref_id()); values.push(from.exec_ref_id());
    let mut entries = from.no_fills();
    let mut scratch = execution_report_trade_addendum_outright548::NoFills::SCRATCH;
    let mut pushed = groups.no_fills().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_fill_px(entry.fill_px()); values.push(entry.fill_px());
        _to.set_fill_qty(entry.fill_qty()); values.push(entry.fill_qty());
        _to.set_fill_exec_id(entry.fill_exec_id()); values.push(entry.fill_exec_id());
        _to.set_fill_yield_type(entry.fill_yield_type()); values.push(entry.fill_yield_type());
    }
    let mut entries = from.no_order_events();
    let mut scratch = execution_report_trade_addendum_outright548::NoOrderEvents::SCRATCH;
    let mut pushed = groups.no_order_events().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_order_event_px(entry.order_event_px()); values.push(entry.order_event_px());
        _to.set_order_event_text(entry.order_event_text()); values.push(entry.order_event_text());
        _to.set_order_event_exec_id(entry.order_event_exec_id()); values.push(entry.order_event_exec_id());
        _to.set_order_event_qty(entry.order_event_qty()); values.push(entry.order_event_qty());
        _to.set_order_event_type(entry.order_event_type()); values.push(entry.order_event_type().0);
        _to.set_order_event_reason(entry.order_event_reason()); values.push(entry.order_event_reason());
        _to.set_original_order_event_exec_id(entry.original_order_event_exec_id()); values.push(entry.original_order_event_exec_id());
        _to.set_contra_gross_trade_amt(entry.contra_gross_trade_amt()); values.push(entry.contra_gross_trade_amt());
        _to.set_contra_calculated_ccy_last_qty(entry.contra_calculated_ccy_last_qty()); values.push(entry.contra_calculated_ccy_last_qty());
    }
    groups.finish().unwrap()
}

fn execution_report_trade_addendum_spread549(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = ExecutionReportTradeAddendumSpread549::SCRATCH;
    let from = ExecutionReportTradeAddendumSpread549::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = ExecutionReportTradeAddendumSpread549::encode(buffer).unwrap();
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_exec_id(from.exec_id()); values.push(from.exec_id());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_cl_ord_id(from.cl_ord_id()); values.push(from.cl_ord_id());
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_last_px(from.last_px()); values.push(from.last_px());
    _to.set_order_id(from.order_id()); values.push(from.order_id());
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_sec_exec_id(from.sec_exec_id()); values.push(from.sec_exec_id());
    _to.set_orig_secondary_execution_id(from.orig_secondary_execution_id()); values.push(from.orig_secondary_execution_id());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    _to.set_md_trade_entry_id(from.md_trade_entry_id()); values.push(from.md_trade_entry_id());
    _to.set_last_qty(from.last_qty()); values.push(from.last_qty());
    _to.set_side_trade_id(from.side_trade_id()); values.push(from.side_trade_id());
    _to.set_orig_side_trade_id(from.orig_side_trade_id()); values.push(from.orig_side_trade_id());
    _to.set_trade_date(from.trade_date()); values.push(from.trade_date());
    _to.set_ord_status(from.ord_status()); values.push(from.ord_status().0);
    _to.set_exec_type(from.exec_type()); values.push(from.exec_type().0);
    _to.set_ord_type(from.ord_type()); values.push(from.ord_type().map(|v| v.0));
    _to.set_side(from.side()); values.push(from.side().0);
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_poss_retrans_flag(from.poss_retrans_flag()); values.push(from.poss_retrans_flag().0);
    _to.set_total_num_securities(from.total_num_securities()); values.push(from.total_num_securities());
    _to.set_exec_inst(from.exec_inst()); values.push(from.exec_inst().0);
    _to.set_execution_mode(from.execution_mode()); values.push(from.execution_mode().map(|v| v.0));
    _to.set_liquidity_flag(from.liquidity_flag()); values.push(from.liquidity_flag().map(|v| v.0));
    _to.set_managed_order(from.managed_order()); values.push(from.managed_order().map(|v| v.0));
    _to.set_short_sale_type(from.short_sale_type()); values.push(from.short_sale_type().map(|v| v.0));
    _to.set_exec_ref_id(from.exec_ref_id()); values.push(from.exec_ref_id());
    let mut entries = from.no_fills();
    let mut scratch = execution_report_trade_addendum_spread549::NoFills::SCRATCH;
    let mut pushed = groups.no_fills().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_fill_px(entry.fill_px()); values.push(entry.fill_px());
        _to.set_fill_qty(entry.fill_qty()); values.push(entry.fill_qty());
        _to.set_fill_exec_id(entry.fill_exec_id()); values.push(entry.fill_exec_id());
        _to.set_fill_yield_type(entry.fill_yield_type()); values.push(entry.fill_yield_type());
    }
    let mut entries = from.no_legs();
    let mut scratch = execution_report_trade_addendum_spread549::NoLegs::SCRATCH;
    let mut pushed = groups.no_legs().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_leg_exec_id(entry.leg_exec_id()); values.push(entry.leg_exec_id());
        _to.set_leg_last_px(entry.leg_last_px()); values.push(entry.leg_last_px());
        _to.set_leg_exec_ref_id(entry.leg_exec_ref_id()); values.push(entry.leg_exec_ref_id());
        _to.set_leg_trade_id(entry.leg_trade_id()); values.push(entry.leg_trade_id());
        _to.set_leg_trade_ref_id(entry.leg_trade_ref_id()); values.push(entry.leg_trade_ref_id());
        _to.set_leg_security_id(entry.leg_security_id()); values.push(entry.leg_security_id());
        _to.set_leg_last_qty(entry.leg_last_qty()); values.push(entry.leg_last_qty());
        _to.set_leg_side(entry.leg_side()); values.push(entry.leg_side().0);
    }
    let mut entries = from.no_order_events();
    let mut scratch = execution_report_trade_addendum_spread549::NoOrderEvents::SCRATCH;
    let mut pushed = groups.no_order_events().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_order_event_px(entry.order_event_px()); values.push(entry.order_event_px());
        _to.set_order_event_text(entry.order_event_text()); values.push(entry.order_event_text());
        _to.set_order_event_exec_id(entry.order_event_exec_id()); values.push(entry.order_event_exec_id());
        _to.set_order_event_qty(entry.order_event_qty()); values.push(entry.order_event_qty());
        _to.set_order_event_type(entry.order_event_type()); values.push(entry.order_event_type().0);
        _to.set_order_event_reason(entry.order_event_reason()); values.push(entry.order_event_reason());
        _to.set_original_order_event_exec_id(entry.original_order_event_exec_id()); values.push(entry.original_order_event_exec_id());
    }
    groups.finish().unwrap()
}

fn execution_report_trade_addendum_spread_leg550(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = ExecutionReportTradeAddendumSpreadLeg550::SCRATCH;
    let from = ExecutionReportTradeAddendumSpreadLeg550::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = ExecutionReportTradeAddendumSpreadLeg550::encode(buffer).unwrap();
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_exec_id(from.exec_id()); values.push(from.exec_id());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_cl_ord_id(from.cl_ord_id()); values.push(from.cl_ord_id());
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_last_px(from.last_px()); values.push(from.last_px());
    _to.set_order_id(from.order_id()); values.push(from.order_id());
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_sec_exec_id(from.sec_exec_id()); values.push(from.sec_exec_id());
    _to.set_orig_secondary_execution_id(from.orig_secondary_execution_id()); values.push(from.orig_secondary_execution_id());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    _to.set_last_qty(from.last_qty()); values.push(from.last_qty());
    _to.set_side_trade_id(from.side_trade_id()); values.push(from.side_trade_id());
    _to.set_orig_side_trade_id(from.orig_side_trade_id()); values.push(from.orig_side_trade_id());
    _to.set_trade_date(from.trade_date()); values.push(from.trade_date());
    _to.set_ord_status(from.ord_status()); values.push(from.ord_status().0);
    _to.set_exec_type(from.exec_type()); values.push(from.exec_type().0);
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_poss_retrans_flag(from.poss_retrans_flag()); values.push(from.poss_retrans_flag().0);
    _to.set_side(from.side()); values.push(from.side().map(|v| v.0));
    _to.set_settl_date(from.settl_date()); values.push(from.settl_date());
    _to.set_calculated_ccy_last_qty(from.calculated_ccy_last_qty()); values.push(from.calculated_ccy_last_qty());
    _to.set_gross_trade_amt(from.gross_trade_amt()); values.push(from.gross_trade_amt());
    _to.set_exec_ref_id(from.exec_ref_id()); values.push(from.exec_ref_id());
    let mut entries = from.no_fills();
    let mut scratch = execution_report_trade_addendum_spread_leg550::NoFills::SCRATCH;
    let mut pushed = groups.no_fills().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_fill_px(entry.fill_px()); values.push(entry.fill_px());
        _to.set_fill_qty(entry.fill_qty()); values.push(entry.fill_qty());
        _to.set_fill_exec_id(entry.fill_exec_id()); values.push(entry.fill_exec_id());
        _to.set_fill_yield_type(entry.fill_yield_type()); values.push(entry.fill_yield_type());
    }
    let mut entries = from.no_order_events();
    let mut scratch = execution_report_trade_addendum_spread_leg550::NoOrderEvents::SCRATCH;
    let mut pushed = groups.no_order_events().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_order_event_px(entry.order_event_px()); values.push(entry.order_event_px());
        _to.set_order_event_text(entry.order_event_text()); values.push(entry.order_event_text());
        _to.set_order_event_exec_id(entry.order_event_exec_id()); values.push(entry.order_event_exec_id());
        _to.set_order_event_qty(entry.order_event_qty()); values.push(entry.order_event_qty());
        _to.set_order_event_type(entry.order_event_type()); values.push(entry.order_event_type().0);
        _to.set_order_event_reason(entry.order_event_reason()); values.push(entry.order_event_reason());
        _to.set_original_order_event_exec_id(entry.original_order_event_exec_id()); values.push(entry.original_order_event_exec_id());
        _to.set_contra_gross_trade_amt(entry.contra_gross_trade_amt()); values.push(entry.contra_gross_trade_amt());
        _to.set_contra_calculated_ccy_last_qty(entry.contra_calculated_ccy_last_qty()); values.push(entry.contra_calculated_ccy_last_qty());
    }
    groups.finish().unwrap()
}

fn security_definition_request560(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = SecurityDefinitionRequest560::SCRATCH;
    let from = SecurityDefinitionRequest560::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = SecurityDefinitionRequest560::encode(buffer).unwrap();
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_security_req_id(from.security_req_id()); values.push(from.security_req_id());
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    values.push(SecurityDefinitionRequest560::SECURITY_REQ_TYPE);
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_security_sub_type(from.security_sub_type()); values.push(from.security_sub_type());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_start_date(from.start_date()); values.push(from.start_date());
    _to.set_end_date(from.end_date()); values.push(from.end_date());
    _to.set_max_no_of_substitutions(from.max_no_of_substitutions()); values.push(from.max_no_of_substitutions());
    _to.set_source_repo_id(from.source_repo_id()); values.push(from.source_repo_id());
    _to.set_broken_date_term_type(from.broken_date_term_type()); values.push(from.broken_date_term_type());
    let mut entries = from.no_legs();
    let mut scratch = security_definition_request560::NoLegs::SCRATCH;
    let mut pushed = groups.no_legs().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        values.push(security_definition_request560::NoLegs::LEG_SECURITY_ID_SOURCE);
        _to.set_leg_price(entry.leg_price()); values.push(entry.leg_price());
        _to.set_leg_security_id(entry.leg_security_id()); values.push(entry.leg_security_id());
        _to.set_leg_option_delta(entry.leg_option_delta()); values.push(entry.leg_option_delta());
        _to.set_leg_side(entry.leg_side()); values.push(entry.leg_side().0);
        _to.set_leg_ratio_qty(entry.leg_ratio_qty()); values.push(entry.leg_ratio_qty());
    }
    let mut entries = from.no_broken_dates();
    let mut scratch = security_definition_request560::NoBrokenDates::SCRATCH;
    let mut pushed = groups.no_broken_dates().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_broken_date_start(entry.broken_date_start()); values.push(entry.broken_date_start());
        _to.set_broken_date_end(entry.broken_date_end()); values.push(entry.broken_date_end());
    }
    groups.finish().unwrap()
}

fn security_definition_response561(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = SecurityDefinitionResponse561::SCRATCH;
    let from = SecurityDefinitionResponse561::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = SecurityDefinitionResponse561::encode(buffer).unwrap();
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_text(from.text()); values.push(from.text());
    _to.set_financial_instrument_full_name(from.financial_instrument_full_name()); values.push(from.financial_instrument_full_name());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_symbol(from.symbol()); values.push(from.symbol());
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_security_req_id(from.security_req_id()); values.push(from.security_req_id());
    _to.set_security_response_id(from.security_response_id()); values.push(from.security_response_id());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_security_group(from.security_group()); values.push(from.security_group());
    _to.set_security_type(from.security_type()); values.push(from.security_type());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    _to.set_currency(from.currency()); values.push(from.currency());
    values.push(SecurityDefinitionResponse561::SECURITY_ID_SOURCE);
    _to.set_maturity_month_year(from.maturity_month_year()); values.push(from.maturity_month_year());
    _to.set_delay_duration(from.delay_duration()); values.push(from.delay_duration());
    _to.set_start_date(from.start_date()); values.push(from.start_date());
    _to.set_end_date(from.end_date()); values.push(from.end_date());
    _to.set_max_no_of_substitutions(from.max_no_of_substitutions()); values.push(from.max_no_of_substitutions());
    _to.set_source_repo_id(from.source_repo_id()); values.push(from.source_repo_id());
    _to.set_termination_type(from.termination_type()); values.push(from.termination_type());
    _to.set_security_response_type(from.security_response_type()); values.push(from.security_response_type().0);
    values.push(SecurityDefinitionResponse561::USER_DEFINED_INSTRUMENT);
    _to.set_expiration_cycle(from.expiration_cycle()); values.push(from.expiration_cycle().map(|v| v.0));
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_split_msg(from.split_msg()); values.push(from.split_msg().map(|v| v.0));
    _to.set_auto_quote_request(from.auto_quote_request()); values.push(from.auto_quote_request().0);
    _to.set_poss_retrans_flag(from.poss_retrans_flag()); values.push(from.poss_retrans_flag().0);
    _to.set_broken_date_term_type(from.broken_date_term_type()); values.push(from.broken_date_term_type());
    let mut entries = from.no_legs();
    let mut scratch = security_definition_response561::NoLegs::SCRATCH;
    let mut pushed = groups.no_legs().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_leg_price(entry.leg_price()); values.push(entry.leg_price());
        _to.set_leg_option_delta(entry.leg_option_delta()); values.push(entry.leg_option_delta());
        values.push(security_definition_response561::NoLegs::LEG_SECURITY_ID_SOURCE);
        _to.set_leg_security_id(entry.leg_security_id()); values.push(entry.leg_security_id());
        _to.set_leg_side(entry.leg_side()); values.push(entry.leg_side().0);
        _to.set_leg_ratio_qty(entry.leg_ratio_qty()); values.push(entry.leg_ratio_qty());
    }
    let mut entries = from.no_broken_dates();
    let mut scratch = security_definition_response561::NoBrokenDates::SCRATCH;
    let mut pushed = groups.no_broken_dates().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_broken_date_guid(entry.broken_date_guid()); values.push(entry.broken_date_guid());
        _to.set_broken_date_security_id(entry.broken_date_security_id()); values.push(entry.broken_date_security_id());
        _to.set_broken_date_start(entry.broken_date_start()); values.push(entry.broken_date_start());
        _to.set_broken_date_end(entry.broken_date_end()); values.push(entry.broken_date_end());
    }
    groups.finish().unwrap()
}

fn order_mass_action_report562(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = OrderMassActionReport562::SCRATCH;
    let from = OrderMassActionReport562::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = OrderMassActionReport562::encode(buffer).unwrap();
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_order_request_id(from.order_request_id()); values.push(from.order_request_id());
    _to.set_mass_action_report_id(from.mass_action_report_id()); values.push(from.mass_action_report_id());
    values.push(OrderMassActionReport562::MASS_ACTION_TYPE);
    _to.set_security_group(from.security_group()); values.push(from.security_group());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    _to.set_delay_duration(from.delay_duration()); values.push(from.delay_duration());
    _to.set_mass_action_response(from.mass_action_response()); values.push(from.mass_action_response().0);
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_mass_action_scope(from.mass_action_scope()); values.push(from.mass_action_scope().0);
    _to.set_total_affected_orders(from.total_affected_orders()); values.push(from.total_affected_orders());
    _to.set_last_fragment(from.last_fragment()); values.push(from.last_fragment().0);
    _to.set_mass_action_reject_reason(from.mass_action_reject_reason()); values.push(from.mass_action_reject_reason());
    _to.set_market_segment_id(from.market_segment_id()); values.push(from.market_segment_id());
    _to.set_mass_cancel_request_type(from.mass_cancel_request_type()); values.push(from.mass_cancel_request_type().map(|v| v.0));
    _to.set_side(from.side()); values.push(from.side().map(|v| v.0));
    _to.set_ord_type(from.ord_type()); values.push(from.ord_type().map(|v| v.0));
    _to.set_time_in_force(from.time_in_force()); values.push(from.time_in_force().map(|v| v.0));
    _to.set_split_msg(from.split_msg()); values.push(from.split_msg().map(|v| v.0));
    _to.set_liquidity_flag(from.liquidity_flag()); values.push(from.liquidity_flag().map(|v| v.0));
    _to.set_poss_retrans_flag(from.poss_retrans_flag()); values.push(from.poss_retrans_flag().0);
    _to.set_delay_to_time(from.delay_to_time()); values.push(from.delay_to_time());
    _to.set_orig_order_user(from.orig_order_user()); values.push(from.orig_order_user());
    _to.set_cancel_text(from.cancel_text()); values.push(from.cancel_text());
    let mut entries = from.no_affected_orders();
    let mut scratch = order_mass_action_report562::NoAffectedOrders::SCRATCH;
    let mut pushed = groups.no_affected_orders().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_orig_ci_ord_id(entry.orig_ci_ord_id()); values.push(entry.orig_ci_ord_id());
        _to.set_affected_order_id(entry.affected_order_id()); values.push(entry.affected_order_id());
        _to.set_cxl_quantity(entry.cxl_quantity()); values.push(entry.cxl_quantity());
    }
    groups.finish().unwrap()
}

fn quote_cancel_ack563(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = QuoteCancelAck563::SCRATCH;
    let from = QuoteCancelAck563::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = QuoteCancelAck563::encode(buffer).unwrap();
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_text(from.text()); values.push(from.text());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_request_time(from.request_time()); values.push(from.request_time());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_cancelled_symbol(from.cancelled_symbol()); values.push(from.cancelled_symbol());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_quote_id(from.quote_id()); values.push(from.quote_id());
    _to.set_quote_reject_reason(from.quote_reject_reason()); values.push(from.quote_reject_reason());
    _to.set_delay_duration(from.delay_duration()); values.push(from.delay_duration());
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_quote_status(from.quote_status()); values.push(from.quote_status().0);
    _to.set_no_processed_entries(from.no_processed_entries()); values.push(from.no_processed_entries());
    _to.set_mm_protection_reset(from.mm_protection_reset()); values.push(from.mm_protection_reset().0);
    _to.set_unsolicited_cancel_type(from.unsolicited_cancel_type()); values.push(from.unsolicited_cancel_type());
    _to.set_split_msg(from.split_msg()); values.push(from.split_msg().map(|v| v.0));
    _to.set_tot_no_quote_entries(from.tot_no_quote_entries()); values.push(from.tot_no_quote_entries());
    _to.set_liquidity_flag(from.liquidity_flag()); values.push(from.liquidity_flag().map(|v| v.0));
    _to.set_poss_retrans_flag(from.poss_retrans_flag()); values.push(from.poss_retrans_flag().0);
    _to.set_delay_to_time(from.delay_to_time()); values.push(from.delay_to_time());
    _to.set_orig_order_user(from.orig_order_user()); values.push(from.orig_order_user());
    _to.set_cancel_text(from.cancel_text()); values.push(from.cancel_text());
    _to.set_quote_entry_open(from.quote_entry_open()); values.push(from.quote_entry_open().map(|v| v.0));
    _to.set_cxl_linked_sessions(from.cxl_linked_sessions()); values.push(from.cxl_linked_sessions().map(|v| v.0));
    _to.set_quote_entry_control(from.quote_entry_control()); values.push(from.quote_entry_control().map(|v| v.0));
    let mut entries = from.no_quote_entries();
    let mut scratch = quote_cancel_ack563::NoQuoteEntries::SCRATCH;
    let mut pushed = groups.no_quote_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_quote_entry_id(entry.quote_entry_id()); values.push(entry.quote_entry_id());
        _to.set_security_id(entry.security_id()); values.push(entry.security_id());
        _to.set_quote_entry_reject_reason(entry.quote_entry_reject_reason()); values.push(entry.quote_entry_reject_reason());
    }
    let mut entries = from.no_quote_sets();
    let mut scratch = quote_cancel_ack563::NoQuoteSets::SCRATCH;
    let mut pushed = groups.no_quote_sets().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_quote_set_id(entry.quote_set_id()); values.push(entry.quote_set_id());
        _to.set_quote_error_code(entry.quote_error_code()); values.push(entry.quote_error_code());
    }
    groups.finish().unwrap()
}

fn execution_report_pending_cancel564(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = ExecutionReportPendingCancel564::SCRATCH;
    let from = ExecutionReportPendingCancel564::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = ExecutionReportPendingCancel564::encode(buffer).unwrap();
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_exec_id(from.exec_id()); values.push(from.exec_id());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_cl_ord_id(from.cl_ord_id()); values.push(from.cl_ord_id());
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_order_id(from.order_id()); values.push(from.order_id());
    _to.set_price(from.price()); values.push(from.price());
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_order_request_id(from.order_request_id()); values.push(from.order_request_id());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    _to.set_order_qty(from.order_qty()); values.push(from.order_qty());
    _to.set_cum_qty(from.cum_qty()); values.push(from.cum_qty());
    _to.set_leaves_qty(from.leaves_qty()); values.push(from.leaves_qty());
    _to.set_min_qty(from.min_qty()); values.push(from.min_qty());
    _to.set_display_qty(from.display_qty()); values.push(from.display_qty());
    _to.set_expire_date(from.expire_date()); values.push(from.expire_date());
    values.push(ExecutionReportPendingCancel564::ORD_STATUS);
    values.push(ExecutionReportPendingCancel564::EXEC_TYPE);
    _to.set_ord_type(from.ord_type()); values.push(from.ord_type().map(|v| v.0));
    _to.set_side(from.side()); values.push(from.side().0);
    _to.set_time_in_force(from.time_in_force()); values.push(from.time_in_force().map(|v| v.0));
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_poss_retrans_flag(from.poss_retrans_flag()); values.push(from.poss_retrans_flag().0);
    _to.set_split_msg(from.split_msg()); values.push(from.split_msg().map(|v| v.0));
    _to.set_liquidity_flag(from.liquidity_flag()); values.push(from.liquidity_flag().map(|v| v.0));
    _to.set_delay_to_time(from.delay_to_time()); values.push(from.delay_to_time());
    _to.set_discretion_price(from.discretion_price()); values.push(from.discretion_price());
    _to.set_reservation_price(from.reservation_price()); values.push(from.reservation_price());
    _to.set_priority_indicator(from.priority_indicator()); values.push(from.priority_indicator());
    _to.set_orig_order_user(from.orig_order_user()); values.push(from.orig_order_user());
    _to.set_cancel_text(from.cancel_text()); values.push(from.cancel_text());
    ExecutionReportPendingCancel564::ENCODED_LENGTH
}

fn execution_report_pending_replace565(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = ExecutionReportPendingReplace565::SCRATCH;
    let from = ExecutionReportPendingReplace565::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let mut _to = ExecutionReportPendingReplace565::encode(buffer).unwrap();
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_exec_id(from.exec_id()); values.push(from.exec_id());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_cl_ord_id(from.cl_ord_id()); values.push(from.cl_ord_id());
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_order_id(from.order_id()); values.push(from.order_id());
    _to.set_price(from.price()); values.push(from.price());
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_order_request_id(from.order_request_id()); values.push(from.order_request_id());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    _to.set_order_qty(from.order_qty()); values.push(from.order_qty());
    _to.set_cum_qty(from.cum_qty()); values.push(from.cum_qty());
    _to.set_leaves_qty(from.leaves_qty()); values.push(from.leaves_qty());
    _to.set_min_qty(from.min_qty()); values.push(from.min_qty());
    _to.set_display_qty(from.display_qty()); values.push(from.display_qty());
    _to.set_expire_date(from.expire_date()); values.push(from.expire_date());
    values.push(ExecutionReportPendingReplace565::ORD_STATUS);
    values.push(ExecutionReportPendingReplace565::EXEC_TYPE);
    _to.set_ord_type(from.ord_type()); values.push(from.ord_type().map(|v| v.0));
    _to.set_side(from.side()); values.push(from.side().0);
    _to.set_time_in_force(from.time_in_force()); values.push(from.time_in_force().map(|v| v.0));
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_poss_retrans_flag(from.poss_retrans_flag()); values.push(from.poss_retrans_flag().0);
    _to.set_split_msg(from.split_msg()); values.push(from.split_msg().map(|v| v.0));
    _to.set_liquidity_flag(from.liquidity_flag()); values.push(from.liquidity_flag().map(|v| v.0));
    _to.set_short_sale_type(from.short_sale_type()); values.push(from.short_sale_type().map(|v| v.0));
    _to.set_delay_to_time(from.delay_to_time()); values.push(from.delay_to_time());
    _to.set_discretion_price(from.discretion_price()); values.push(from.discretion_price());
    _to.set_priority_indicator(from.priority_indicator()); values.push(from.priority_indicator());
    ExecutionReportPendingReplace565::ENCODED_LENGTH
}

fn request_for_cross566(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = RequestForCross566::SCRATCH;
    let from = RequestForCross566::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = RequestForCross566::encode(buffer).unwrap();
    _to.set_cross_id(from.cross_id()); values.push(from.cross_id());
    _to.set_order_request_id(from.order_request_id()); values.push(from.order_request_id());
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    values.push(RequestForCross566::ORD_TYPE);
    _to.set_cross_type(from.cross_type()); values.push(from.cross_type().0);
    values.push(RequestForCross566::CROSS_PRIORITIZATION);
    _to.set_price(from.price()); values.push(from.price());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_security_id(from.security_id()); values.push(from.security_id());
    let mut entries = from.no_sides();
    let mut scratch = request_for_cross566::NoSides::SCRATCH;
    let mut pushed = groups.no_sides().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_cl_ord_id(entry.cl_ord_id()); values.push(entry.cl_ord_id());
        _to.set_party_details_list_req_id(entry.party_details_list_req_id()); values.push(entry.party_details_list_req_id());
        _to.set_order_qty(entry.order_qty()); values.push(entry.order_qty());
        _to.set_side(entry.side()); values.push(entry.side().0);
        _to.set_side_time_in_force(entry.side_time_in_force()); values.push(entry.side_time_in_force().0);
    }
    groups.finish().unwrap()
}

fn mass_quote_request567(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = MassQuoteRequest567::SCRATCH;
    let from = MassQuoteRequest567::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = MassQuoteRequest567::encode(buffer).unwrap();
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_quote_req_id(from.quote_req_id()); values.push(from.quote_req_id());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_quote_id(from.quote_id()); values.push(from.quote_id());
    _to.set_tot_no_quote_entries(from.tot_no_quote_entries()); values.push(from.tot_no_quote_entries());
    _to.set_mm_protection_reset(from.mm_protection_reset()); values.push(from.mm_protection_reset().0);
    _to.set_liquidity_flag(from.liquidity_flag()); values.push(from.liquidity_flag().map(|v| v.0));
    _to.set_short_sale_type(from.short_sale_type()); values.push(from.short_sale_type().map(|v| v.0));
    _to.set_quote_entry_open(from.quote_entry_open()); values.push(from.quote_entry_open().map(|v| v.0));
    _to.set_quote_entry_control(from.quote_entry_control()); values.push(from.quote_entry_control().map(|v| v.0));
    _to.set_reserved(from.reserved()); values.push(from.reserved());
    let mut entries = from.no_quote_entries();
    let mut scratch = mass_quote_request567::NoQuoteEntries::SCRATCH;
    let mut pushed = groups.no_quote_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_security_id(entry.security_id()); values.push(entry.security_id());
        _to.set_price(entry.price()); values.push(entry.price());
        _to.set_order_qty(entry.order_qty()); values.push(entry.order_qty());
        _to.set_side(entry.side()); values.push(entry.side().0);
        _to.set_quote_entry_id(entry.quote_entry_id()); values.push(entry.quote_entry_id());
        _to.set_quote_set_id(entry.quote_set_id()); values.push(entry.quote_set_id());
    }
    groups.finish().unwrap()
}

fn quote_cancel_by_set568(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = QuoteCancelBySet568::SCRATCH;
    let from = QuoteCancelBySet568::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = QuoteCancelBySet568::encode(buffer).unwrap();
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_quote_id(from.quote_id()); values.push(from.quote_id());
    values.push(QuoteCancelBySet568::QUOTE_CANCEL_TYPE);
    _to.set_cxl_linked_sessions(from.cxl_linked_sessions()); values.push(from.cxl_linked_sessions().map(|v| v.0));
    _to.set_quote_entry_control(from.quote_entry_control()); values.push(from.quote_entry_control().map(|v| v.0));
    let mut entries = from.no_quote_sets();
    let mut scratch = quote_cancel_by_set568::NoQuoteSets::SCRATCH;
    let mut pushed = groups.no_quote_sets().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_quote_set_id(entry.quote_set_id()); values.push(entry.quote_set_id());
    }
    groups.finish().unwrap()
}

fn quote_cancel_by_group569(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = QuoteCancelByGroup569::SCRATCH;
    let from = QuoteCancelByGroup569::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = QuoteCancelByGroup569::encode(buffer).unwrap();
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_quote_id(from.quote_id()); values.push(from.quote_id());
    values.push(QuoteCancelByGroup569::QUOTE_CANCEL_TYPE);
    _to.set_cxl_linked_sessions(from.cxl_linked_sessions()); values.push(from.cxl_linked_sessions().map(|v| v.0));
    _to.set_quote_entry_control(from.quote_entry_control()); values.push(from.quote_entry_control().map(|v| v.0));
    let mut entries = from.no_quote_entries();
    let mut scratch = quote_cancel_by_group569::NoQuoteEntries::SCRATCH;
    let mut pushed = groups.no_quote_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_security_group(entry.security_group()); values.push(entry.security_group());
    }
    groups.finish().unwrap()
}

fn quote_cancel_by_instrument570(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = QuoteCancelByInstrument570::SCRATCH;
    let from = QuoteCancelByInstrument570::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = QuoteCancelByInstrument570::encode(buffer).unwrap();
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_quote_id(from.quote_id()); values.push(from.quote_id());
    values.push(QuoteCancelByInstrument570::QUOTE_CANCEL_TYPE);
    _to.set_cxl_linked_sessions(from.cxl_linked_sessions()); values.push(from.cxl_linked_sessions().map(|v| v.0));
    let mut entries = from.no_quote_entries();
    let mut scratch = quote_cancel_by_instrument570::NoQuoteEntries::SCRATCH;
    let mut pushed = groups.no_quote_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_security_id(entry.security_id()); values.push(entry.security_id());
    }
    groups.finish().unwrap()
}

fn mass_quote_response571(header: &MessageHeader, body: &[u8], buffer: &mut [u8], values: &mut ValueLog) -> usize {
    let mut scratch = MassQuoteResponse571::SCRATCH;
    let from = MassQuoteResponse571::decode(header, body, &mut scratch).unwrap();
    let _ = (from.encoded_length(), &values);
    let (mut _to, mut groups) = MassQuoteResponse571::encode(buffer).unwrap();
    _to.set_seq_num(from.seq_num()); values.push(from.seq_num());
    _to.set_uuid(from.uuid()); values.push(from.uuid());
    _to.set_text(from.text()); values.push(from.text());
    _to.set_sender_id(from.sender_id()); values.push(from.sender_id());
    _to.set_party_details_list_req_id(from.party_details_list_req_id()); values.push(from.party_details_list_req_id());
    _to.set_transact_time(from.transact_time()); values.push(from.transact_time());
    _to.set_sending_time_epoch(from.sending_time_epoch()); values.push(from.sending_time_epoch());
    _to.set_quote_req_id(from.quote_req_id()); values.push(from.quote_req_id());
    _to.set_location(from.location()); values.push(from.location());
    _to.set_quote_id(from.quote_id()); values.push(from.quote_id());
    _to.set_quote_reject_reason(from.quote_reject_reason()); values.push(from.quote_reject_reason());
    _to.set_quote_status(from.quote_status()); values.push(from.quote_status().0);
    _to.set_manual_order_indicator(from.manual_order_indicator()); values.push(from.manual_order_indicator().0);
    _to.set_no_processed_entries(from.no_processed_entries()); values.push(from.no_processed_entries());
    _to.set_mm_protection_reset(from.mm_protection_reset()); values.push(from.mm_protection_reset().0);
    _to.set_split_msg(from.split_msg()); values.push(from.split_msg().map(|v| v.0));
    _to.set_liquidity_flag(from.liquidity_flag()); values.push(from.liquidity_flag().map(|v| v.0));
    _to.set_short_sale_type(from.short_sale_type()); values.push(from.short_sale_type().map(|v| v.0));
    _to.set_tot_no_quote_entries(from.tot_no_quote_entries()); values.push(from.tot_no_quote_entries());
    _to.set_poss_retrans_flag(from.poss_retrans_flag()); values.push(from.poss_retrans_flag().0);
    _to.set_delay_to_time(from.delay_to_time()); values.push(from.delay_to_time());
    _to.set_quote_entry_open(from.quote_entry_open()); values.push(from.quote_entry_open().map(|v| v.0));
    _to.set_quote_entry_control(from.quote_entry_control()); values.push(from.quote_entry_control().map(|v| v.0));
    let mut entries = from.no_quote_entries();
    let mut scratch = mass_quote_response571::NoQuoteEntries::SCRATCH;
    let mut pushed = groups.no_quote_entries().unwrap();
    while let Some(entry) = entries.next(&mut scratch) {
        let mut _to = pushed.push().unwrap();
        _to.set_order_id(entry.order_id()); values.push(entry.order_id());
        _to.set_quote_entry_id(entry.quote_entry_id()); values.push(entry.quote_entry_id());
        _to.set_quote_set_id(entry.quote_set_id()); values.push(entry.quote_set_id());
        _to.set_security_id(entry.security_id()); values.push(entry.security_id());
        _to.set_side(entry.side()); values.push(entry.side().0);
        _to.set_quote_entry_reject_reason(entry.quote_entry_reject_reason()); values.push(entry.quote_entry_reject_reason());
    }
    groups.finish().unwrap()
}
