//! Party details, registered or on demand, and messages of older schema versions.

use super::*;
use crate::{Operator, Party, PartyDetails, RequestError, Text, TrdRegPublication, Version};

fn parties() -> [Party; 2] {
    [
        Party::new(PartyDetailRole::EXECUTING_FIRM, "FIRM").unwrap(),
        Party::new(PartyDetailRole::OPERATOR, "TRADER").unwrap(),
    ]
}

/// Returns the template, PartyDetailsListReqID and SeqNum of an order or definition.
fn reference(frame: &[u8]) -> (u16, u64, u32) {
    let (header, _) = MessageHeader::decode(&frame[4..]).unwrap();
    if header.template_id == PartyDetailsDefinitionRequest518::TEMPLATE_ID {
        decode!(frame => PartyDetailsDefinitionRequest518 as message);
        return (518, message.party_details_list_req_id(), message.seq_num());
    }
    decode!(frame => NewOrderSingle514 as message);
    (514, message.party_details_list_req_id(), message.seq_num())
}

#[test]
fn registers_party_details_under_their_id() {
    let mut trace = Trace::established();
    let parties = parties();
    let details = PartyDetails::new(77, &parties);
    let mut sender = trace.session.sender(trace.now, &mut trace.sink);
    assert_eq!(sender.send(&details).unwrap().seq_num, 1);
    let frames = trace.transmitted();
    decode!(frames[0] => PartyDetailsDefinitionRequest518 as message);
    assert_eq!((message.party_details_list_req_id(), message.seq_num()), (77, 1));
    assert_eq!(message.list_update_action(), ListUpdAct::ADD);
    assert_eq!(message.encoded_length() + 4, frames[0].len());
    let mut entries = message.no_party_details();
    let mut scratch = [0; 22];
    let first = entries.next(&mut scratch).unwrap();
    assert_eq!(first.party_detail_id(), "FIRM");
    assert_eq!(first.party_detail_role(), PartyDetailRole::EXECUTING_FIRM);
}

/// Returns the references of all frames sent.
fn references(trace: &mut Trace) -> Vec<(u16, u64, u32)> {
    trace.transmitted().iter().map(|frame| reference(frame)).collect()
}

/// Sends an order with party details on demand.
fn send_on_demand(trace: &mut Trace) -> Result<crate::Sent, SendError> {
    let parties = parties();
    let details = PartyDetails::new(5, &parties);
    let mut sender = trace.session.sender(trace.now, &mut trace.sink);
    sender.send_with_party(&details, &order(1))
}

#[test]
fn details_on_demand_have_id_0() {
    let mut trace = Trace::established();
    let sent = send_on_demand(&mut trace).unwrap();
    assert_eq!(sent.seq_num, 2);
    trace.send(2).unwrap();
    assert_eq!(references(&mut trace), [(518, 0, 1), (514, 0, 2), (514, 1, 3)]);
}

#[test]
fn id_of_details_on_demand_can_be_set() {
    for id in [0xFFFF_FFFF, u64::MAX] {
        let policy = SessionPolicy { on_demand_party_id: id, ..SessionPolicy::default() };
        let mut trace = Trace::with_policy(Progress::default(), policy);
        trace.connect(Binding::New);
        trace.log_on();
        send_on_demand(&mut trace).unwrap();
        assert_eq!(references(&mut trace), [(518, id, 1), (514, id, 2)]);
    }
}

#[test]
fn details_on_demand_and_their_message_are_one_batch() {
    let mut trace = Trace::established();
    send_on_demand(&mut trace).unwrap();
    assert_eq!(trace.sink.batches, (1, 1));
}

#[test]
fn id_0_cannot_be_registered() {
    let mut trace = Trace::established();
    let parties = parties();
    let mut sender = trace.session.sender(trace.now, &mut trace.sink);
    let sent = sender.send(&PartyDetails::new(0, &parties));
    assert_eq!(sent, Err(SendError::Request(RequestError::PartyDetailsId)));
    assert!(trace.sent().is_empty());
}

#[test]
fn throttle_needs_room_for_details_and_message() {
    let mut trace = Trace::established();
    let rate = Rate { messages: 3, interval: Duration::from_millis(100) };
    let rates = crate::Rates { others: Some(rate), cancels: None, quotes: None };
    trace.session.set_throttle(Some(&rates));
    send_on_demand(&mut trace).unwrap();
    let until = trace.now.monotonic + Duration::from_millis(100);
    assert_eq!(send_on_demand(&mut trace), Err(SendError::Throttled { until }));
    trace.send(2).unwrap();
    assert_eq!(references(&mut trace), [(518, 0, 1), (514, 0, 2), (514, 1, 3)]);
}

#[test]
fn every_field_of_party_details_is_sent() {
    let mut trace = Trace::established();
    let parties = parties();
    let publications =
        [TrdRegPublication { kind: 1, reason: 2 }, TrdRegPublication { kind: 3, reason: 4 }];
    let details = PartyDetails {
        memo: Text::new("a memo").unwrap(),
        avg_px_group_id: Text::new("GROUP").unwrap(),
        self_match_prevention_id: Some(6),
        self_match_prevention_instruction: Some(SMPI::CANCEL_NEWEST),
        cmta_giveup: Some(CmtaGiveUpCD::GIVE_UP),
        capacity: Some(CustOrderCapacity(4)),
        account_type: Some(ClearingAcctType::FIRM),
        avg_px_indicator: Some(AvgPxInd(3)),
        clearing_trade_price_type: Some(SLEDS(1)),
        handling: Some(CustOrdHandlInst::ALGO_ENGINE),
        executor: Some(7),
        idm_short_code: Some(8),
        publications: &publications,
        ..PartyDetails::new(77, &parties)
    };
    let mut sender = trace.session.sender(trace.now, &mut trace.sink);
    sender.send(&details).unwrap();
    let frames = trace.transmitted();
    decode!(frames[0] => PartyDetailsDefinitionRequest518 as message);
    assert_eq!((message.memo(), message.avg_px_group_id()).0, "a memo");
    assert_eq!(message.avg_px_group_id(), "GROUP");
    assert_eq!(message.self_match_prevention_id(), details.self_match_prevention_id);
    let instruction = details.self_match_prevention_instruction;
    assert_eq!(message.self_match_prevention_instruction(), instruction);
    assert_eq!(message.cmta_giveup_cd(), details.cmta_giveup);
    assert_eq!(message.cust_order_capacity(), details.capacity);
    assert_eq!(message.clearing_account_type(), details.account_type);
    assert_eq!(message.avg_px_indicator(), details.avg_px_indicator);
    assert_eq!(message.clearing_trade_price_type(), details.clearing_trade_price_type);
    assert_eq!(message.cust_order_handling_inst(), details.handling);
    assert_eq!((message.executor(), message.idm_short_code()), (Some(7), Some(8)));
    let (mut entries, mut scratch) = (message.no_trd_reg_publications(), [0; 2]);
    for publication in publications {
        let entry = entries.next(&mut scratch).unwrap();
        assert_eq!(entry.trd_reg_publication_type(), publication.kind);
        assert_eq!(entry.trd_reg_publication_reason(), publication.reason);
    }
    assert!(entries.next(&mut scratch).is_none());
}

/// Returns SenderID, Location, PartyDetailsListReqID and ManualOrderIndicator of an order.
fn operator_of(frame: &[u8]) -> (String, String, u64, ManualOrdIndReq) {
    decode!(frame => NewOrderSingle514 as order);
    let (sender_id, location) = (order.sender_id().to_string(), order.location().to_string());
    (sender_id, location, order.party_details_list_req_id(), order.manual_order_indicator())
}

#[test]
fn two_operators_interleave_on_one_session() {
    let mut trace = Trace::established();
    let other = Operator {
        party_details_list_req_id: 9,
        manual_order_indicator: ManualOrdIndReq::MANUAL,
        ..Operator::automated("DESK_2", "GB").unwrap()
    };
    for id in [1, 3] {
        trace.send(id).unwrap();
        let mut sender = trace.session.sender(trace.now, &mut trace.sink);
        sender.send_as(&other, &order(id + 1)).unwrap();
    }
    let text = String::from;
    let usual = (text("TRADER"), text("US,IL"), 1, ManualOrdIndReq::AUTOMATED);
    let theirs = (text("DESK_2"), text("GB"), 9, ManualOrdIndReq::MANUAL);
    let sent: Vec<_> = trace.transmitted().iter().map(|frame| operator_of(frame)).collect();
    assert_eq!(sent, [usual.clone(), theirs.clone(), usual, theirs]);
}

/// Creates an acknowledgment of party details on demand.
fn acknowledgment(seq_num: u32) -> Vec<u8> {
    let length = 8 + 159 + 3 + 3;
    frame(length, |buffer| {
        let (mut root, groups) = PartyDetailsDefinitionRequestAck519::encode(buffer).unwrap();
        root.set_uuid(UUID).set_seq_num(seq_num).set_party_details_list_req_id(0);
        root.set_poss_retrans_flag(BooleanFlag::FALSE);
        assert_eq!(groups.finish().unwrap(), length);
    })
}

#[test]
fn acknowledgment_before_or_after_the_report_is_delivered() {
    let mut trace = Trace::established();
    send_on_demand(&mut trace).unwrap();
    trace.receive(&[acknowledgment(1), report(2)].concat());
    assert_eq!(trace.events(), ["message 1 of 519", "new 2"]);
    send_on_demand(&mut trace).unwrap();
    trace.receive(&[report(3), acknowledgment(4)].concat());
    assert_eq!(trace.events(), ["new 3", "message 4 of 519"]);
    assert_eq!(trace.session.inbound_counters().errors(), 0);
}

#[test]
fn another_operator_sends_details_on_demand() {
    let mut trace = Trace::established();
    let other = Operator::automated("DESK_2", "GB").unwrap();
    let parties = parties();
    let details = PartyDetails::new(5, &parties);
    let mut sender = trace.session.sender(trace.now, &mut trace.sink);
    let sent = sender.with_operator(&other, |sender| sender.send_with_party(&details, &order(1)));
    sent.unwrap();
    let (sender_id, _, list_req_id, _) = operator_of(&trace.transmitted()[1]);
    assert_eq!((sender_id.as_str(), list_req_id), ("DESK_2", 0));
}

#[test]
fn sends_neither_if_one_is_invalid() {
    let mut trace = Trace::established();
    let (parties, nothing) = (parties(), NewOrder { quantity: 0, ..order(1) });
    let mut sender = trace.session.sender(trace.now, &mut trace.sink);
    assert!(sender.send_with_party(&PartyDetails::new(5, &parties), &nothing).is_err());
    assert!(sender.send_with_party(&PartyDetails::new(5, &[]), &order(1)).is_err());
    assert!(trace.sent().is_empty());
    let next_outgoing = SEQ_NUM_MAX;
    let mut trace = Trace::with(Progress { uuid: 7, next_outgoing, ..Progress::default() });
    trace.connect(Binding::Resume);
    trace.acknowledge();
    let mut sender = trace.session.sender(trace.now, &mut trace.sink);
    let sent = sender.send_with_party(&PartyDetails::new(5, &parties), &order(1));
    assert_eq!(sent, Err(SendError::NumbersExhausted));
    assert!(trace.sent().is_empty());
}

#[test]
fn sends_the_configured_version() {
    for (number, order_length) in [(5, 116), (6, 124), (7, 124), (8, 132), (9, 132)] {
        let version = Version::new(number).unwrap();
        let policy = SessionPolicy { version, ..SessionPolicy::default() };
        let mut trace = Trace::with_policy(Progress::default(), policy);
        trace.connect(Binding::New);
        let frames = trace.transmitted();
        let (header, _) = MessageHeader::decode(&frames[0][4..]).unwrap();
        assert_eq!((header.template_id, header.version, header.block_length), (500, number, 76));
        trace.receive(&negotiation_response(UUID, trace.session.progress().request_timestamp));
        trace.acknowledge();
        trace.send(1).unwrap();
        trace.receive(&report(3));
        let frames = trace.transmitted();
        assert_eq!(frames.len(), 2, "an order and a request");
        assert_eq!(frames[0].len(), 12 + order_length);
        for frame in &frames {
            let (header, _) = MessageHeader::decode(&frame[4..]).unwrap();
            assert_eq!(header.version, number);
        }
        assert_eq!(describe(&frames[0]), "Order 1 id 1");
    }
}

#[test]
fn gap_fill_has_the_configured_version() {
    let policy = SessionPolicy { version: Version::OLDEST, ..SessionPolicy::default() };
    let mut trace = Trace::with_policy(Progress::default(), policy);
    trace.connect(Binding::New);
    trace.log_on();
    trace.send(1).unwrap();
    trace.transmitted();
    trace.receive(&not_applied(1, 1));
    let frames = trace.transmitted();
    assert_eq!(frames[0][10..12], [5, 0]);
}
