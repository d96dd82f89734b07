//! Party details: registered, on demand, listed.

use hairpin_cme_codecs::ilink3::party_details_definition_request_ack519 as ack519;
use hairpin_cme_codecs::ilink3::party_details_list_report538::NoPartyDetails;
use hairpin_cme_codecs::ilink3::{
    BusinessReject521, CustOrderCapacity, ExecutionReportNew522, KeepAliveLapsed, ListUpdAct,
    PartyDetailRole, PartyDetailsDefinitionRequestAck519, PartyDetailsListReport538, ReqResult,
};
use hairpin_exchange::ConnectionId;

use crate::bench::{Bench, UUID};
use crate::client::{
    Definition, QuoteEntry, Reply, cross, definition, frame, mass_quote, mass_quote_request_with,
    order_with, party_list_request, retransmit_request_of, sequence, status_request,
};
use crate::decode;

const ON_DEMAND: u64 = 0xFFFF_FFFF;

/// Reason, tag and the number of what was refused.
fn refused(reply: &Reply) -> (u16, Option<u16>, Option<u32>) {
    let reject = decode!(BusinessReject521, reply);
    (reject.business_reject_reason(), reject.ref_tag_id(), reject.ref_seq_num())
}

/// A good order that refers to party details.
fn order_of(bench: &Bench, number: u32, parties: u64) -> Vec<u8> {
    order_with(number, bench.far(), |order| {
        order.set_party_details_list_req_id(parties);
    })
}

fn templates(replies: &[Reply]) -> Vec<u16> {
    replies.iter().map(Reply::template).collect()
}

#[test]
fn what_is_registered_is_acknowledged_and_orders_refer_to_it_until_it_is_deleted() {
    let (mut bench, id) = Bench::established();
    let parties =
        [("ACCOUNT", PartyDetailRole::CUSTOMER_ACCOUNT), ("ME", PartyDetailRole::OPERATOR)];
    let early = order_of(&bench, 1, 7);
    assert_eq!(refused(&bench.send_one(id, &early)), (1, Some(1_505), Some(1)));
    let message = definition(&Definition { number: 2, parties: &parties, ..Definition::of(7) });
    let reply = bench.send_one(id, &message);
    let ack = decode!(PartyDetailsDefinitionRequestAck519, reply);
    assert_eq!((ack.seq_num(), ack.uuid(), ack.party_details_list_req_id()), (2, UUID, 7));
    assert_eq!((ack.party_detail_request_status(), ack.party_detail_definition_status()), (0, 0));
    assert_eq!(
        (ack.list_update_action(), ack.memo().to_string()),
        (ListUpdAct::ADD, "MEMO".into())
    );
    assert_eq!(ack.cust_order_capacity(), Some(CustOrderCapacity(4)));
    assert_eq!((ack.self_match_prevention_id(), ack.executor()), (Some(99), Some(5)));
    assert_eq!(ack.no_trd_reg_publications().len(), 1);
    let (mut entries, mut scratch) = (ack.no_party_details(), ack519::NoPartyDetails::SCRATCH);
    let mut told = Vec::new();
    while let Some(entry) = entries.next(&mut scratch) {
        told.push((entry.party_detail_id().to_string(), entry.party_detail_role()));
    }
    assert_eq!(told, parties.map(|(id, role)| (id.to_owned(), role)));
    let with = order_of(&bench, 3, 7);
    let reply = bench.send_one(id, &with);
    assert_eq!(decode!(ExecutionReportNew522, reply).party_details_list_req_id(), 7);
    // It is nobody else's.
    let other = bench.connect();
    bench.log_on_by(other, ("OTHERKEY", "XYZ"));
    let theirs = order_of(&bench, 1, 7);
    assert_eq!(refused(&bench.send_one(other, &theirs)), (1, Some(1_505), Some(1)));
    let delete = Definition { number: 4, action: ListUpdAct::DELETE, ..Definition::of(7) };
    let reply = bench.send_one(id, &definition(&delete));
    let ack = decode!(PartyDetailsDefinitionRequestAck519, reply);
    assert_eq!(ack.list_update_action(), ListUpdAct::DELETE);
    let late = order_of(&bench, 5, 7);
    assert_eq!(refused(&bench.send_one(id, &late)), (1, Some(1_505), Some(5)));
    let again = Definition { number: 6, ..delete };
    assert_eq!(refused(&bench.send_one(id, &definition(&again))), (1, Some(1_505), Some(6)));
}

#[test]
fn a_gateway_may_have_nothing_registered_from_the_start() {
    let mut bench = Bench::with(2, |settings| settings.registered_party = None);
    let id = bench.connect();
    bench.log_on(id);
    let order = order_of(&bench, 1, 1);
    assert_eq!(refused(&bench.send_one(id, &order)), (1, Some(1_505), Some(1)));
    let message = definition(&Definition { number: 2, ..Definition::of(1) });
    assert_eq!(bench.send_one(id, &message).template(), 519);
    let order = order_of(&bench, 3, 1);
    assert_eq!(bench.send_one(id, &order).template(), 522);
}

#[test]
fn what_cannot_be_registered_is_refused_with_cmes_codes() {
    let mut bench = Bench::with(2, |settings| settings.party_definitions = 2);
    let id = bench.connect();
    bench.log_on(id);
    let twice = [("A", PartyDetailRole::OPERATOR), ("B", PartyDetailRole::OPERATOR)];
    let of = Definition::of;
    let cases = [
        (of(u64::MAX), 5, Some(1_505)),
        (Definition { action: ListUpdAct(b'X'), ..of(5) }, 115, Some(1_324)),
        (Definition { parties: &[], ..of(5) }, 5, Some(1_671)),
        (Definition { parties: &[("", PartyDetailRole::OPERATOR)], ..of(5) }, 5, Some(1_691)),
        (
            Definition { parties: &[("\u{7}", PartyDetailRole::OPERATOR)], ..of(5) },
            101,
            Some(1_691),
        ),
        (Definition { parties: &[("A", PartyDetailRole(2))], ..of(5) }, 115, Some(1_693)),
        (Definition { parties: &twice, ..of(5) }, 110, Some(1_693)),
        (Definition { publications: 2, ..of(5) }, 100, Some(2_668)),
        (of(1), 108, Some(1_505)),
    ];
    let mut number = 0;
    for (wrong, reason, tag) in cases {
        number += 1;
        let reply = bench.send_one(id, &definition(&Definition { number, ..wrong }));
        assert_eq!(refused(&reply), (reason, tag, Some(number)), "{wrong:?}");
        let reject = decode!(BusinessReject521, reply);
        assert_eq!(reject.ref_msg_type(), "CX");
        let given = (wrong.id != u64::MAX).then_some(wrong.id);
        assert_eq!(reject.party_details_list_req_id(), given);
    }
    for (list, expected) in [(5, None), (5, Some(108)), (6, None), (7, Some(111))] {
        number += 1;
        let reply = bench.send_one(id, &definition(&Definition { number, ..of(list) }));
        match expected {
            None => assert_eq!(reply.template(), 519),
            Some(reason) => assert_eq!(refused(&reply), (reason, Some(1_505), Some(number))),
        }
    }
    assert_eq!(bench.counters().party_definitions, 13);
}

fn on_demand(number: u32) -> Vec<u8> {
    definition(&Definition { number, ..Definition::of(ON_DEMAND) })
}

#[test]
fn on_demand_they_are_answered_behind_the_message_they_are_for() {
    let (mut bench, id) = Bench::established();
    assert_eq!(bench.send(id, &on_demand(1)), []);
    // A session message may come in between.
    assert_eq!(bench.send(id, &sequence(UUID, 2, KeepAliveLapsed::NOT_LAPSED)), []);
    let order = order_of(&bench, 2, ON_DEMAND);
    let replies = bench.send(id, &order);
    assert_eq!(templates(&replies), [522, 519]);
    let ack = decode!(PartyDetailsDefinitionRequestAck519, replies[1]);
    assert_eq!((ack.seq_num(), ack.party_details_list_req_id()), (2, ON_DEMAND));
    // They are for one message.
    let order = order_of(&bench, 3, ON_DEMAND);
    assert_eq!(refused(&bench.send_one(id, &order)), (1, Some(1_505), Some(3)));
    // A status request has party details too.
    bench.send(id, &on_demand(4));
    let mut request = status_request(5, 99);
    request[12..20].copy_from_slice(&ON_DEMAND.to_le_bytes());
    assert_eq!(templates(&bench.send(id, &request)), [532, 519]);
}

#[test]
fn the_null_may_stand_for_on_demand() {
    let mut bench = Bench::with(2, |settings| settings.on_demand_party = u64::MAX);
    let id = bench.connect();
    bench.log_on(id);
    let message = definition(&Definition { number: 1, ..Definition::of(u64::MAX) });
    assert_eq!(bench.send(id, &message), []);
    let order = order_of(&bench, 2, u64::MAX);
    assert_eq!(templates(&bench.send(id, &order)), [522, 519]);
}

#[test]
fn on_demand_they_share_the_fate_of_their_message() {
    let (mut bench, id) = Bench::established();
    // The message is refused for another reason, and they are for that.
    bench.send(id, &on_demand(1));
    let nameless = order_with(2, bench.far(), |order| {
        order.set_sender_id("").set_party_details_list_req_id(ON_DEMAND);
    });
    let replies = bench.send(id, &nameless);
    let told: Vec<_> = replies.iter().map(refused).collect();
    assert_eq!(told, [(5, Some(5_392), Some(2)), (122, None, Some(1))]);
    // Its number is another.
    bench.send(id, &on_demand(3));
    let other = order_of(&bench, 4, 1);
    let told: Vec<_> = bench.send(id, &other).iter().map(refused).collect();
    assert_eq!(told, [(121, Some(1_505), Some(4)), (122, None, Some(3))]);
    // They are refused, and it is for that; the next is not.
    let wrong = Definition { number: 5, parties: &[], ..Definition::of(ON_DEMAND) };
    assert_eq!(refused(&bench.send_one(id, &definition(&wrong))), (5, Some(1_671), Some(5)));
    let order = order_of(&bench, 6, ON_DEMAND);
    assert_eq!(refused(&bench.send_one(id, &order)), (120, Some(1_505), Some(6)));
    let order = order_of(&bench, 7, 1);
    assert_eq!(bench.send_one(id, &order).template(), 522);
    // An order that is refused as one has been looked at with them.
    bench.send(id, &on_demand(8));
    let unknown = order_with(9, bench.far(), |order| {
        order.set_security_id(5).set_party_details_list_req_id(ON_DEMAND);
    });
    assert_eq!(templates(&bench.send(id, &unknown)), [523, 519]);
    // To delete them means nothing.
    let delete = Definition { number: 10, action: ListUpdAct::DELETE, ..Definition::of(ON_DEMAND) };
    assert_eq!(refused(&bench.send_one(id, &definition(&delete))), (1, Some(1_505), Some(10)));
}

#[test]
fn on_demand_no_other_message_comes_in_between() {
    let (mut bench, id) = Bench::established();
    bench.send(id, &on_demand(1));
    let replies = bench.send(id, &party_list_request(2, &["DEFGH"], &[]));
    assert_eq!(templates(&replies), [521, 538]);
    assert_eq!(refused(&replies[0]), (129, None, Some(1)));
    let order = order_of(&bench, 3, ON_DEMAND);
    assert_eq!(refused(&bench.send_one(id, &order)), (123, Some(1_505), Some(3)));
    // Party details in their turn: the later ones count.
    bench.send(id, &on_demand(4));
    assert_eq!(refused(&bench.send_one(id, &on_demand(5))), (129, None, Some(4)));
    let order = order_of(&bench, 6, ON_DEMAND);
    assert_eq!(templates(&bench.send(id, &order)), [522, 519]);
    // A message that is not applied is none.
    bench.send(id, &on_demand(7));
    let gap = order_of(&bench, 9, 1);
    assert_eq!(bench.send_one(id, &gap).template(), 513);
    let order = order_of(&bench, 8, ON_DEMAND);
    assert_eq!(templates(&bench.send(id, &order)), [522, 519]);
}

/// A session with party details 5, 6 and 7.
fn with_three() -> (Bench, ConnectionId) {
    let (mut bench, id) = Bench::established();
    for list in 5..8 {
        let number = list as u32 - 4;
        bench.send_one(id, &definition(&Definition { number, ..Definition::of(list) }));
    }
    (bench, id)
}

/// What reports list; the last says so, and each how many there are and what was asked.
fn listed(replies: &[Reply], request: u64) -> Vec<u64> {
    let mut ids = Vec::new();
    for (place, reply) in (1..).zip(replies) {
        let report = decode!(PartyDetailsListReport538, reply);
        assert_eq!(report.request_result(), ReqResult::VALID_REQUEST);
        assert_eq!(report.last_fragment().0, u8::from(place == replies.len()));
        assert_eq!(usize::from(report.tot_num_parties()), replies.len());
        assert_eq!(report.party_details_list_report_id(), request);
        let (mut parties, mut scratch) = (report.no_party_details(), NoPartyDetails::SCRATCH);
        assert_eq!(parties.next(&mut scratch).unwrap().party_detail_id(), "TRADER");
        assert_eq!(report.cust_order_capacity(), Some(CustOrderCapacity(4)));
        ids.push(report.party_details_list_req_id());
    }
    ids
}

#[test]
fn lists_what_a_firm_or_a_number_stands_for() {
    let (mut bench, id) = with_three();
    let replies = bench.send(id, &party_list_request(4, &["DEFGH"], &[]));
    assert_eq!(listed(&replies, 6_004), [5, 6, 7]);
    let replies = bench.send(id, &party_list_request(5, &[], &[7, 99, 5]));
    assert_eq!(listed(&replies, 6_005), [5, 7]);
    // They are kept like any report.
    let timestamp = bench.timestamp();
    let again = bench.send(id, &retransmit_request_of(UUID, timestamp, None, 1, 5));
    assert_eq!(templates(&again), [509, 519, 519, 519, 538, 538]);
    let ack = decode!(PartyDetailsDefinitionRequestAck519, again[1]);
    assert_eq!(ack.poss_retrans_flag().0, 1);
    assert_eq!(decode!(PartyDetailsListReport538, again[5]).poss_retrans_flag().0, 1);
    for (number, firms, ids, result) in [
        (6, &["OTHER"][..], &[][..], ReqResult::NOT_AUTHORIZEDTO_RETRIEVE_DATA),
        (7, &["DEFGH", "OTHER"], &[], ReqResult::NOT_AUTHORIZEDTO_RETRIEVE_DATA),
        (8, &[], &[99], ReqResult::NO_DATA_FOUND_THAT_MATCHED_SELECTION_CRITERIA),
    ] {
        let reply = bench.send_one(id, &party_list_request(number, firms, ids));
        let report = decode!(PartyDetailsListReport538, reply);
        assert_eq!((report.request_result(), report.tot_num_parties()), (result, 0));
        assert_eq!((report.last_fragment().0, report.no_party_details().len()), (1, 0));
    }
    assert_eq!(bench.counters().party_requests, 5);
}

#[test]
fn a_list_of_nothing_of_both_or_of_too_many_is_refused() {
    let (mut bench, id) = with_three();
    let firms = ["DEFGH"; 11];
    for (number, firms, ids, reason) in
        [(4, &[][..], &[][..], 127), (5, &firms[..1], &[5], 128), (6, &firms[..], &[], 118)]
    {
        let reply = bench.send_one(id, &party_list_request(number, firms, ids));
        assert_eq!(refused(&reply), (reason, None, Some(number)));
        assert_eq!(decode!(BusinessReject521, reply).ref_msg_type(), "CF");
    }
    let replies = bench.send(id, &party_list_request(7, &firms[..10], &[]));
    assert_eq!(replies.len(), 3);
}

#[test]
fn a_number_that_is_not_registered_is_unknown_whatever_else_is() {
    let (mut bench, id) = with_three();
    let order = order_of(&bench, 4, 8);
    assert_eq!(refused(&bench.send_one(id, &order)), (1, Some(1_505), Some(4)));
}

#[test]
fn on_demand_they_are_for_quotes_side_by_side_and_not_for_a_cross() {
    let (mut bench, id) = Bench::established();
    bench.send(id, &on_demand(1));
    let quotes = mass_quote_request_with(2, &[], |root| {
        root.set_party_details_list_req_id(ON_DEMAND);
    });
    assert_eq!(templates(&bench.send(id, &quotes)), [571, 519]);
    // The sides of a cross have party details of their own, and it comes in between.
    bench.send(id, &on_demand(3));
    let replies = bench.send(id, &cross(4, bench.far(), &[]));
    let told: Vec<_> = replies.iter().map(refused).collect();
    assert_eq!(told, [(129, None, Some(3)), (132, Some(54), Some(4))]);
}

#[test]
fn on_demand_they_are_refused_with_a_message_that_cannot_be_read_or_after_a_deletion() {
    let (mut bench, id) = Bench::established();
    bench.send(id, &on_demand(1));
    // Its number can be read, its only entry cannot.
    let quotes = mass_quote(2, &[QuoteEntry::default()]);
    let cut = frame(&quotes[4..quotes.len() - 1]);
    let told: Vec<_> = bench.send(id, &cut).iter().map(refused).collect();
    assert_eq!(told, [(109, None, None), (122, None, Some(1))]);
    let delete = Definition { number: 2, action: ListUpdAct::DELETE, ..Definition::of(ON_DEMAND) };
    assert_eq!(refused(&bench.send_one(id, &definition(&delete))), (1, Some(1_505), Some(2)));
    let order = order_of(&bench, 3, ON_DEMAND);
    assert_eq!(refused(&bench.send_one(id, &order)), (120, Some(1_505), Some(3)));
}
