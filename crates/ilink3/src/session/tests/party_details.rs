//! Party details, registered or on demand, and messages of older schema versions.

use super::*;
use crate::{Party, PartyDetails, Version};

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

#[test]
fn details_on_demand_precede_their_message_with_its_id() {
    for id in [0xFFFF_FFFF, u64::MAX] {
        let policy = SessionPolicy { on_demand_party_id: id, ..SessionPolicy::default() };
        let mut trace = Trace::with_policy(Progress::default(), policy);
        trace.connect(Binding::New);
        trace.log_on();
        let parties = parties();
        let details = PartyDetails::new(5, &parties);
        let mut sender = trace.session.sender(trace.now, &mut trace.sink);
        let sent = sender.send_with_party(&details, &order(1)).unwrap();
        assert_eq!(sent.seq_num, 2);
        trace.send(2).unwrap();
        let sent: Vec<_> = trace.transmitted().iter().map(|frame| reference(frame)).collect();
        assert_eq!(sent, [(518, id, 1), (514, id, 2), (514, 1, 3)]);
    }
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
