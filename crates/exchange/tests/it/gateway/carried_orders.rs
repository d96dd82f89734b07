//! GTC and GTD orders of an earlier week: party details under id 0 precede each report.

use hairpin_cme_codecs::ilink3::party_details_definition_request_ack519::NoPartyDetails;
use hairpin_cme_codecs::ilink3::{
    ExecutionReportCancel534, ExecutionReportModify531, ExecutionReportNew522,
    ExecutionReportStatus532, ExecutionReportTradeOutright525, PartyDetailRole,
    PartyDetailsDefinitionRequestAck519, SideReq, TimeInForce,
};
use hairpin_exchange::{ConnectionId, Side};

use super::harness::{Harness, UUID};
use crate::client::{
    Definition, Reply, cancel, definition, establish, mass_status_request_with, negotiate,
    order_with, replace_with, status_request, terminate,
};
use crate::decode;

fn definition_of(number: u32, account: &str) -> Vec<u8> {
    let parties = &[(account, PartyDetailRole::CUSTOMER_ACCOUNT)];
    definition(&Definition { number, parties, ..Definition::new(7) })
}

/// Creates a session with a GTC order for account A1 from the previous week. In this week the
/// session has registered the same id for account B2. Returns the order's price and id.
fn carried() -> (Harness, ConnectionId, i64, u64) {
    let mut harness = Harness::with_connections(3);
    let id = harness.connect();
    harness.log_on(id);
    let price = harness.market.matching().best(0, Side::Bid).unwrap().price.0 + 250_000_000;
    harness.send_one(id, &definition_of(1, "A1"));
    let order = order_with(2, price, |order| {
        order
            .set_time_in_force(TimeInForce::GOOD_TILL_CANCEL)
            .set_order_qty(5)
            .set_party_details_list_req_id(7);
    });
    let reply = harness.send_one(id, &order);
    let report = decode!(ExecutionReportNew522, reply);
    assert_eq!(report.party_details_list_req_id(), 7);
    let order_id = report.order_id();
    harness.gateway.begin_week(harness.now, &mut harness.listener);
    harness.send(id, &terminate(UUID, 1, 0));
    assert!(harness.gateway.poll_action(&mut harness.listener).is_some());
    let id = harness.connect();
    let timestamp = harness.timestamp();
    harness.send(id, &negotiate(UUID + 1, timestamp));
    let timestamp = harness.timestamp();
    harness.send(id, &establish(UUID + 1, timestamp, 1));
    assert_eq!(harness.send_one(id, &definition_of(1, "B2")).template(), 519);
    (harness, id, price, order_id)
}

/// Expects party details of account A1 under id 0, then a report. Returns the report.
#[track_caller]
fn report_after_details(replies: Vec<Reply>) -> Reply {
    let templates: Vec<u16> = replies.iter().map(Reply::template).collect();
    assert_eq!((templates.len(), templates[0]), (2, 519), "{templates:?}");
    let ack = decode!(PartyDetailsDefinitionRequestAck519, replies[0]);
    assert_eq!(ack.party_details_list_req_id(), 0);
    let (mut parties, mut scratch) = (ack.no_party_details(), NoPartyDetails::SCRATCH);
    assert_eq!(parties.next(&mut scratch).unwrap().party_detail_id(), "A1");
    replies.into_iter().nth(1).unwrap()
}

#[test]
fn details_precede_status_reports_of_a_carried_order() {
    let (mut harness, id, _, order) = carried();
    let report = report_after_details(harness.send(id, &status_request(2, order)));
    let status = decode!(ExecutionReportStatus532, report);
    assert_eq!((status.order_id(), status.party_details_list_req_id()), (order, 0));
    let report = report_after_details(harness.send(id, &mass_status_request_with(3, |_| {})));
    let status = decode!(ExecutionReportStatus532, report);
    assert_eq!((status.order_id(), status.party_details_list_req_id()), (order, 0));
}

#[test]
fn details_precede_trades_of_a_carried_order() {
    let (mut harness, id, price, order) = carried();
    let other = harness.connect();
    harness.log_on_by(other, ("OTHERKEY", "XYZ"));
    for (number, quantity) in [(1, 2), (2, 3)] {
        let sell = order_with(number, price, |order| {
            order.set_side(SideReq::SELL).set_order_qty(quantity);
        });
        harness.send(other, &sell);
        harness.drain_feed();
        let report = report_after_details(harness.read(id));
        let trade = decode!(ExecutionReportTradeOutright525, report);
        let fields = (trade.order_id(), trade.last_qty(), trade.party_details_list_req_id());
        assert_eq!(fields, (order, quantity, 0));
    }
}

#[test]
fn details_precede_the_cancel_of_a_carried_order() {
    let (mut harness, id, _, order) = carried();
    let report = report_after_details(harness.send(id, &cancel(2, order)));
    let report = decode!(ExecutionReportCancel534, report);
    assert_eq!((report.order_id(), report.party_details_list_req_id()), (order, 0));
}

#[test]
fn replaced_order_has_the_details_of_its_week() {
    let (mut harness, id, price, order) = carried();
    let today = harness.now.utc.days() as u16;
    let replace = replace_with(2, order, price, |replace| {
        replace
            .set_time_in_force(TimeInForce::GOOD_TILL_DATE)
            .set_expire_date(today)
            .set_order_qty(5)
            .set_party_details_list_req_id(7);
    });
    // A replacement gives the order the details of this week.
    let reply = harness.send_one(id, &replace);
    assert_eq!(decode!(ExecutionReportModify531, reply).party_details_list_req_id(), 7);
    harness.drain_feed();
    harness.market.end_session(harness.now);
    harness.report();
    let templates: Vec<u16> = harness.read(id).iter().map(Reply::template).collect();
    assert_eq!(templates, [524]);
}
