//! Party details: registered, on demand, listed.

use hairpin_cme_codecs::ilink3::party_details_definition_request_ack519 as ack519;
use hairpin_cme_codecs::ilink3::party_details_list_report538::NoPartyDetails;
use hairpin_cme_codecs::ilink3::{
    AvgPxInd, BusinessReject521, ClearingAcctType, CmtaGiveUpCD, CustOrdHandlInst,
    CustOrderCapacity, ExecMode, ExecutionReportNew522, KeepAliveLapsed, ListUpdAct,
    PartyDetailRole, PartyDetailsDefinitionRequestAck519, PartyDetailsListReport538, ReqResult,
    SLEDS, SMPI, SecurityDefinitionRequest560,
};
use hairpin_exchange::ConnectionId;

use super::harness::{Harness, UUID};
use crate::client::{
    Definition, QuoteEntry, Reply, cross, definition, definition_with, establish, frame,
    mass_action_with, mass_quote, mass_quote_request_with, mass_status_request_with, negotiate,
    order_with, party_list_request, retransmit_request_of, sequence, status_request, terminate,
};
use crate::decode;

const ON_DEMAND: u64 = 0;

/// Returns the reason, the tag and the sequence number of the rejected message.
fn reject_fields(reply: &Reply) -> (u16, Option<u16>, Option<u32>) {
    let reject = decode!(BusinessReject521, reply);
    (reject.business_reject_reason(), reject.ref_tag_id(), reject.ref_seq_num())
}

/// Encodes a valid order that refers to party details.
fn order_of(harness: &Harness, number: u32, parties: u64) -> Vec<u8> {
    order_with(number, harness.far_price(), |order| {
        order.set_party_details_list_req_id(parties);
    })
}

fn templates(replies: &[Reply]) -> Vec<u16> {
    replies.iter().map(Reply::template).collect()
}

#[test]
fn registers_and_deletes_party_details() {
    let (mut harness, id) = Harness::established();
    let parties =
        [("ACCOUNT", PartyDetailRole::CUSTOMER_ACCOUNT), ("ME", PartyDetailRole::OPERATOR)];
    let early = order_of(&harness, 1, 7);
    assert_eq!(reject_fields(&harness.send_one(id, &early)), (1, Some(1_505), Some(1)));
    let message = definition(&Definition { number: 2, parties: &parties, ..Definition::new(7) });
    let reply = harness.send_one(id, &message);
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
    let mut reported = Vec::new();
    while let Some(entry) = entries.next(&mut scratch) {
        reported.push((entry.party_detail_id().to_string(), entry.party_detail_role()));
    }
    assert_eq!(reported, parties.map(|(id, role)| (id.to_owned(), role)));
    let with = order_of(&harness, 3, 7);
    let reply = harness.send_one(id, &with);
    assert_eq!(decode!(ExecutionReportNew522, reply).party_details_list_req_id(), 7);
    // Other sessions cannot use it.
    let other = harness.connect();
    harness.log_on_by(other, ("OTHERKEY", "XYZ"));
    let theirs = order_of(&harness, 1, 7);
    assert_eq!(reject_fields(&harness.send_one(other, &theirs)), (1, Some(1_505), Some(1)));
    let delete = Definition { number: 4, action: ListUpdAct::DELETE, ..Definition::new(7) };
    let reply = harness.send_one(id, &definition(&delete));
    let ack = decode!(PartyDetailsDefinitionRequestAck519, reply);
    assert_eq!(ack.list_update_action(), ListUpdAct::DELETE);
    let late = order_of(&harness, 5, 7);
    assert_eq!(reject_fields(&harness.send_one(id, &late)), (1, Some(1_505), Some(5)));
    let again = Definition { number: 6, ..delete };
    assert_eq!(
        reject_fields(&harness.send_one(id, &definition(&again))),
        (1, Some(1_505), Some(6))
    );
}

#[test]
fn registered_party_is_optional() {
    let mut harness = Harness::with(2, |settings| settings.registered_party = None);
    let id = harness.connect();
    harness.log_on(id);
    let order = order_of(&harness, 1, 1);
    assert_eq!(reject_fields(&harness.send_one(id, &order)), (1, Some(1_505), Some(1)));
    let message = definition(&Definition { number: 2, ..Definition::new(1) });
    assert_eq!(harness.send_one(id, &message).template(), 519);
    let order = order_of(&harness, 3, 1);
    assert_eq!(harness.send_one(id, &order).template(), 522);
}

#[test]
fn rejects_invalid_party_details_with_cmes_codes() {
    let mut harness = Harness::with(2, |settings| settings.party_definitions = 2);
    let id = harness.connect();
    harness.log_on(id);
    let twice = [("A", PartyDetailRole::OPERATOR), ("B", PartyDetailRole::OPERATOR)];
    let of = Definition::new;
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
        let reply = harness.send_one(id, &definition(&Definition { number, ..wrong }));
        assert_eq!(reject_fields(&reply), (reason, tag, Some(number)), "{wrong:?}");
        let reject = decode!(BusinessReject521, reply);
        assert_eq!(reject.ref_msg_type(), "CX");
        let given = (wrong.id != u64::MAX).then_some(wrong.id);
        assert_eq!(reject.party_details_list_req_id(), given);
    }
    for (list, expected) in [(5, None), (5, Some(108)), (6, None), (7, Some(111))] {
        number += 1;
        let reply = harness.send_one(id, &definition(&Definition { number, ..of(list) }));
        match expected {
            None => assert_eq!(reply.template(), 519),
            Some(reason) => assert_eq!(reject_fields(&reply), (reason, Some(1_505), Some(number))),
        }
    }
    assert_eq!(harness.counters().party_definitions, 13);
}

fn on_demand(number: u32) -> Vec<u8> {
    definition(&Definition { number, ..Definition::new(ON_DEMAND) })
}

#[test]
fn acknowledges_on_demand_details_before_the_answer() {
    let (mut harness, id) = Harness::established();
    assert_eq!(harness.send(id, &on_demand(1)), []);
    // A session message may come in between.
    assert_eq!(harness.send(id, &sequence(UUID, 2, KeepAliveLapsed::NOT_LAPSED)), []);
    let order = order_of(&harness, 2, ON_DEMAND);
    let replies = harness.send(id, &order);
    assert_eq!(templates(&replies), [519, 522]);
    let ack = decode!(PartyDetailsDefinitionRequestAck519, replies[0]);
    assert_eq!((ack.seq_num(), ack.party_details_list_req_id()), (1, ON_DEMAND));
    assert_eq!(decode!(ExecutionReportNew522, replies[1]).party_details_list_req_id(), ON_DEMAND);
    // The details apply to one message only.
    let order = order_of(&harness, 3, ON_DEMAND);
    assert_eq!(reject_fields(&harness.send_one(id, &order)), (1, Some(1_505), Some(3)));
    // A status request has party details too.
    harness.send(id, &on_demand(4));
    let mut request = status_request(5, 99);
    request[12..20].copy_from_slice(&ON_DEMAND.to_le_bytes());
    assert_eq!(templates(&harness.send(id, &request)), [519, 532]);
}

#[test]
fn null_id_may_mean_on_demand() {
    let mut harness = Harness::with(2, |settings| settings.on_demand_party = u64::MAX);
    let id = harness.connect();
    harness.log_on(id);
    let message = definition(&Definition { number: 1, ..Definition::new(u64::MAX) });
    assert_eq!(harness.send(id, &message), []);
    let order = order_of(&harness, 2, u64::MAX);
    assert_eq!(templates(&harness.send(id, &order)), [519, 522]);
}

#[test]
fn rejects_on_demand_details_with_their_message() {
    let (mut harness, id) = Harness::established();
    // The message is rejected for another reason, and the details with it.
    harness.send(id, &on_demand(1));
    let nameless = order_with(2, harness.far_price(), |order| {
        order.set_sender_id("").set_party_details_list_req_id(ON_DEMAND);
    });
    let replies = harness.send(id, &nameless);
    let reported: Vec<_> = replies.iter().map(reject_fields).collect();
    assert_eq!(reported, [(5, Some(5_392), Some(2)), (122, None, Some(1))]);
    // The message carries another id.
    harness.send(id, &on_demand(3));
    let other = order_of(&harness, 4, 1);
    let reported: Vec<_> = harness.send(id, &other).iter().map(reject_fields).collect();
    assert_eq!(reported, [(121, Some(1_505), Some(4)), (122, None, Some(3))]);
    // The details are rejected, and the message with them; the next message is accepted.
    let wrong = Definition { number: 5, parties: &[], ..Definition::new(ON_DEMAND) };
    assert_eq!(
        reject_fields(&harness.send_one(id, &definition(&wrong))),
        (5, Some(1_671), Some(5))
    );
    let order = order_of(&harness, 6, ON_DEMAND);
    assert_eq!(reject_fields(&harness.send_one(id, &order)), (120, Some(1_505), Some(6)));
    let order = order_of(&harness, 7, 1);
    assert_eq!(harness.send_one(id, &order).template(), 522);
    // An order rejected as an order has used its details.
    harness.send(id, &on_demand(8));
    let unknown = order_with(9, harness.far_price(), |order| {
        order.set_security_id(5).set_party_details_list_req_id(ON_DEMAND);
    });
    assert_eq!(templates(&harness.send(id, &unknown)), [519, 523]);
    // A deletion of on-demand details has no effect.
    let delete =
        Definition { number: 10, action: ListUpdAct::DELETE, ..Definition::new(ON_DEMAND) };
    assert_eq!(
        reject_fields(&harness.send_one(id, &definition(&delete))),
        (1, Some(1_505), Some(10))
    );
}

#[test]
fn interruption_rejects_on_demand_details() {
    let (mut harness, id) = Harness::established();
    harness.send(id, &on_demand(1));
    let replies = harness.send(id, &party_list_request(2, &["DEFGH"], &[]));
    assert_eq!(templates(&replies), [521, 538]);
    assert_eq!(reject_fields(&replies[0]), (129, None, Some(1)));
    let order = order_of(&harness, 3, ON_DEMAND);
    assert_eq!(reject_fields(&harness.send_one(id, &order)), (123, Some(1_505), Some(3)));
    // Other party details: the later ones count.
    harness.send(id, &on_demand(4));
    assert_eq!(reject_fields(&harness.send_one(id, &on_demand(5))), (129, None, Some(4)));
    let order = order_of(&harness, 6, ON_DEMAND);
    assert_eq!(templates(&harness.send(id, &order)), [519, 522]);
    // A message that is not applied does not count.
    harness.send(id, &on_demand(7));
    let gap = order_of(&harness, 9, 1);
    assert_eq!(harness.send_one(id, &gap).template(), 513);
    let order = order_of(&harness, 8, ON_DEMAND);
    assert_eq!(templates(&harness.send(id, &order)), [519, 522]);
}

/// Creates a session with party details 5, 6 and 7.
fn with_three() -> (Harness, ConnectionId) {
    let (mut harness, id) = Harness::established();
    for list in 5..8 {
        let number = list as u32 - 4;
        harness.send_one(id, &definition(&Definition { number, ..Definition::new(list) }));
    }
    (harness, id)
}

/// Returns the listed ids. Checks that each report has the total and the request id, and that only
/// the last is marked as the last.
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
fn lists_party_details_by_firm_or_id() {
    let (mut harness, id) = with_three();
    let replies = harness.send(id, &party_list_request(4, &["DEFGH"], &[]));
    assert_eq!(listed(&replies, 6_004), [5, 6, 7]);
    let replies = harness.send(id, &party_list_request(5, &[], &[7, 99, 5]));
    assert_eq!(listed(&replies, 6_005), [5, 7]);
    // The reports are stored like all others.
    let timestamp = harness.timestamp();
    let again = harness.send(id, &retransmit_request_of(UUID, timestamp, None, 1, 5));
    assert_eq!(templates(&again), [509, 519, 519, 519, 538, 538]);
    let ack = decode!(PartyDetailsDefinitionRequestAck519, again[1]);
    assert_eq!(ack.poss_retrans_flag().0, 1);
    assert_eq!(decode!(PartyDetailsListReport538, again[5]).poss_retrans_flag().0, 1);
    for (number, firms, ids, result) in [
        (6, &["OTHER"][..], &[][..], ReqResult::NOT_AUTHORIZEDTO_RETRIEVE_DATA),
        (7, &["DEFGH", "OTHER"], &[], ReqResult::NOT_AUTHORIZEDTO_RETRIEVE_DATA),
        (8, &[], &[99], ReqResult::NO_DATA_FOUND_THAT_MATCHED_SELECTION_CRITERIA),
    ] {
        let reply = harness.send_one(id, &party_list_request(number, firms, ids));
        let report = decode!(PartyDetailsListReport538, reply);
        assert_eq!((report.request_result(), report.tot_num_parties()), (result, 0));
        assert_eq!((report.last_fragment().0, report.no_party_details().len()), (1, 0));
    }
    assert_eq!(harness.counters().party_requests, 5);
}

#[test]
fn rejects_invalid_list_requests() {
    let (mut harness, id) = with_three();
    let firms = ["DEFGH"; 11];
    for (number, firms, ids, reason) in
        [(4, &[][..], &[][..], 127), (5, &firms[..1], &[5], 128), (6, &firms[..], &[], 118)]
    {
        let reply = harness.send_one(id, &party_list_request(number, firms, ids));
        assert_eq!(reject_fields(&reply), (reason, None, Some(number)));
        assert_eq!(decode!(BusinessReject521, reply).ref_msg_type(), "CF");
    }
    let replies = harness.send(id, &party_list_request(7, &firms[..10], &[]));
    assert_eq!(replies.len(), 3);
}

#[test]
fn unregistered_id_is_unknown() {
    let (mut harness, id) = with_three();
    let order = order_of(&harness, 4, 8);
    assert_eq!(reject_fields(&harness.send_one(id, &order)), (1, Some(1_505), Some(4)));
}

#[test]
fn details_on_demand_apply_to_quotes_but_not_crosses() {
    let (mut harness, id) = Harness::established();
    harness.send(id, &on_demand(1));
    let quotes = mass_quote_request_with(2, &[], |root| {
        root.set_party_details_list_req_id(ON_DEMAND);
    });
    assert_eq!(templates(&harness.send(id, &quotes)), [519, 571]);
    // The sides of a cross have their own party details, so a cross interrupts.
    harness.send(id, &on_demand(3));
    let replies = harness.send(id, &cross(4, harness.far_price(), &[]));
    let reported: Vec<_> = replies.iter().map(reject_fields).collect();
    assert_eq!(reported, [(129, None, Some(3)), (132, Some(54), Some(4))]);
}

#[test]
fn undecodable_message_rejects_on_demand_details() {
    let (mut harness, id) = Harness::established();
    harness.send(id, &on_demand(1));
    // The SeqNum can be decoded, the only entry cannot.
    let quotes = mass_quote(2, &[QuoteEntry::default()]);
    let cut = frame(&quotes[4..quotes.len() - 1]);
    let reported: Vec<_> = harness.send(id, &cut).iter().map(reject_fields).collect();
    assert_eq!(reported, [(109, None, None), (122, None, Some(1))]);
    let delete = Definition { number: 2, action: ListUpdAct::DELETE, ..Definition::new(ON_DEMAND) };
    assert_eq!(
        reject_fields(&harness.send_one(id, &definition(&delete))),
        (1, Some(1_505), Some(2))
    );
    let order = order_of(&harness, 3, ON_DEMAND);
    assert_eq!(reject_fields(&harness.send_one(id, &order)), (120, Some(1_505), Some(3)));
}

#[test]
fn on_demand_id_is_0() {
    let (mut harness, id) = Harness::established();
    // Without details before it, an order with id 0 is refused.
    let order = order_of(&harness, 1, 0);
    assert_eq!(reject_fields(&harness.send_one(id, &order)), (1, Some(1_505), Some(1)));
    assert_eq!(harness.send(id, &on_demand(2)), []);
    let order = order_of(&harness, 3, 0);
    assert_eq!(templates(&harness.send(id, &order)), [519, 522]);
    // The id of the schema's descriptions is an unknown one.
    let order = order_of(&harness, 4, 0xFFFF_FFFF);
    assert_eq!(reject_fields(&harness.send_one(id, &order)), (1, Some(1_505), Some(4)));
    let message = definition(&Definition { number: 5, ..Definition::new(0xFFFF_FFFF) });
    assert_eq!(harness.send_one(id, &message).template(), 519);
}

#[test]
fn id_0_cannot_be_registered() {
    let mut harness = Harness::with(2, |settings| settings.on_demand_party = 0xFFFF_FFFF);
    let id = harness.connect();
    harness.log_on(id);
    let message = definition(&Definition { number: 1, ..Definition::new(0) });
    assert_eq!(reject_fields(&harness.send_one(id, &message)), (100, Some(1_505), Some(1)));
    // The setting's id still means on demand.
    let message = definition(&Definition { number: 2, ..Definition::new(0xFFFF_FFFF) });
    assert_eq!(harness.send(id, &message), []);
    let order = order_of(&harness, 3, 0xFFFF_FFFF);
    assert_eq!(templates(&harness.send(id, &order)), [519, 522]);
}

#[test]
fn details_precede_reports_of_many_orders() {
    let (mut harness, id) = Harness::established();
    harness.send(id, &order_of(&harness, 1, 1));
    harness.send(id, &on_demand(2));
    let request = mass_status_request_with(3, |request| {
        request.set_party_details_list_req_id(ON_DEMAND);
    });
    assert_eq!(templates(&harness.send(id, &request)), [519, 532]);
    harness.send(id, &on_demand(4));
    let request = mass_action_with(5, |request| {
        request.set_party_details_list_req_id(ON_DEMAND);
    });
    assert_eq!(templates(&harness.send(id, &request)), [519, 562]);
}

#[test]
fn unsupported_message_uses_on_demand_details() {
    let (mut harness, id) = Harness::established();
    harness.send(id, &on_demand(1));
    let mut buffer = [0; 512];
    let (mut root, groups) = SecurityDefinitionRequest560::encode(&mut buffer).unwrap();
    root.set_party_details_list_req_id(ON_DEMAND).set_seq_num(2);
    let length = groups.finish().unwrap();
    let replies = harness.send(id, &frame(&buffer[..length]));
    let reported: Vec<_> = replies.iter().map(reject_fields).collect();
    assert_eq!(reported, [(3, None, Some(2)), (122, None, Some(1))]);
    assert_eq!(decode!(BusinessReject521, replies[0]).ref_msg_type(), "c");
}

#[test]
fn acknowledgement_repeats_every_field() {
    let (mut harness, id) = Harness::established();
    let of = Definition { self_match: (Some(7), Some(SMPI::CANCEL_NEWEST)), ..Definition::new(7) };
    let message = definition_with(&of, |root| {
        root.set_avg_px_group_id("GROUP")
            .set_cmta_giveup_cd(CmtaGiveUpCD::GIVE_UP)
            .set_clearing_account_type(ClearingAcctType(1))
            .set_avg_px_indicator(AvgPxInd(1))
            .set_clearing_trade_price_type(SLEDS(1))
            .set_cust_order_handling_inst(CustOrdHandlInst(b'Y'))
            .set_idm_short_code(12);
    });
    let replies =
        [harness.send_one(id, &message), harness.send_one(id, &party_list_request(2, &[], &[7]))];
    let ack = decode!(PartyDetailsDefinitionRequestAck519, replies[0]);
    let report = decode!(PartyDetailsListReport538, replies[1]);
    macro_rules! expect_fields {
        ($message:expr) => {
            assert_eq!($message.avg_px_group_id(), "GROUP");
            assert_eq!($message.cmta_giveup_cd(), Some(CmtaGiveUpCD::GIVE_UP));
            assert_eq!($message.clearing_account_type(), Some(ClearingAcctType(1)));
            assert_eq!($message.avg_px_indicator(), Some(AvgPxInd(1)));
            assert_eq!($message.clearing_trade_price_type(), Some(SLEDS(1)));
            assert_eq!($message.cust_order_handling_inst(), Some(CustOrdHandlInst(b'Y')));
            assert_eq!($message.cust_order_capacity(), Some(CustOrderCapacity(4)));
            assert_eq!(($message.executor(), $message.idm_short_code()), (Some(5), Some(12)));
            assert_eq!($message.self_match_prevention_id(), Some(7));
            let instruction = $message.self_match_prevention_instruction();
            assert_eq!(instruction, Some(SMPI::CANCEL_NEWEST));
        };
    }
    expect_fields!(ack);
    expect_fields!(report);
    assert_eq!(ack.memo(), "MEMO");
    let mut scratch = ack519::NoTrdRegPublications::SCRATCH;
    let publication = ack.no_trd_reg_publications().next(&mut scratch).unwrap();
    let fields = (publication.trd_reg_publication_type(), publication.trd_reg_publication_reason());
    assert_eq!(fields, (2, 12));
}

#[test]
fn null_of_a_character_is_0() {
    let (mut harness, id) = Harness::established();
    let mut number = 0;
    for (value, reason) in [(b'0', 109), (0xFF, 109), (b'X', 115)] {
        number += 1;
        let of = Definition { number, self_match: (None, Some(SMPI(value))), ..Definition::new(7) };
        let reject = reject_fields(&harness.send_one(id, &definition(&of)));
        assert_eq!(reject, (reason, Some(8_000), Some(number)));
        number += 1;
        let of = Definition { number, ..Definition::new(7) };
        let message = definition_with(&of, |root| {
            root.set_cmta_giveup_cd(CmtaGiveUpCD(value));
        });
        assert_eq!(
            reject_fields(&harness.send_one(id, &message)),
            (reason, Some(9_708), Some(number))
        );
        number += 1;
        let order = order_with(number, harness.far_price(), |order| {
            order.set_execution_mode(ExecMode(value));
        });
        assert_eq!(
            reject_fields(&harness.send_one(id, &order)),
            (reason, Some(5_906), Some(number))
        );
    }
}

#[test]
fn party_details_end_with_their_week() {
    let (mut harness, id) = with_three();
    harness.gateway.begin_week(harness.now, &mut harness.listener);
    harness.send(id, &terminate(UUID, 1, 0));
    while harness.gateway.poll_action(&mut harness.listener).is_some() {}
    let id = harness.connect();
    let timestamp = harness.timestamp();
    harness.send(id, &negotiate(UUID + 1, timestamp));
    let timestamp = harness.timestamp();
    harness.send(id, &establish(UUID + 1, timestamp, 1));
    let order = order_of(&harness, 1, 5);
    assert_eq!(reject_fields(&harness.send_one(id, &order)), (1, Some(1_505), Some(1)));
    // The id can be registered again.
    let message = definition(&Definition { number: 2, ..Definition::new(5) });
    assert_eq!(harness.send_one(id, &message).template(), 519);
}

#[test]
fn unregistered_self_match_id_is_rejected() {
    let mut harness = Harness::with(2, |settings| settings.self_match_ids = Some(vec![7]));
    let id = harness.connect();
    harness.log_on(id);
    let of = |number, list, self_match| {
        definition(&Definition { number, self_match: (self_match, None), ..Definition::new(list) })
    };
    let reply = harness.send_one(id, &of(1, 5, Some(8)));
    assert_eq!(reject_fields(&reply), (0, Some(2_362), Some(1)));
    assert_eq!(harness.send_one(id, &of(2, 5, Some(7))).template(), 519);
    assert_eq!(harness.send_one(id, &of(3, 6, None)).template(), 519);
}
