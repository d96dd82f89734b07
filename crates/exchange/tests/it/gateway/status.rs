//! Order status requests, for one order and for many.

use hairpin_cme_codecs::ilink3::{
    BooleanNULL, BusinessReject521, ExecutionReportNew522, ExecutionReportStatus532,
    MassStatusReqTyp, MassStatusTIF, OrderMassStatusRequest530Encoder, OrderStatus, OrderTypeReq,
    SideReq, TimeInForce,
};
use hairpin_exchange::{ConnectionId, GatewayKind, Side};
use hairpin_sbe::Decimal;

use super::harness::{Harness, UUID};
use crate::client::{
    Reply, establish, mass_status_request_with, order, order_with, status_request,
};
use crate::decode;

fn number(reply: &Reply) -> u64 {
    decode!(ExecutionReportNew522, reply).order_id()
}

/// Returns the sorted ClOrdIDs of reports. Checks that only the last is marked as the last.
fn reported(replies: &[Reply]) -> Vec<String> {
    let mut names = Vec::new();
    for (place, reply) in (1..).zip(replies) {
        let status = decode!(ExecutionReportStatus532, reply);
        let is_last = status.last_rpt_requested() == Some(BooleanNULL::TRUE);
        assert_eq!(is_last, place == replies.len());
        names.push(status.cl_ord_id().to_string());
    }
    names.sort_unstable();
    names
}

type Change = fn(&mut OrderMassStatusRequest530Encoder<'_>);

#[test]
fn reports_the_status_of_a_resting_order() {
    let (mut harness, id) = Harness::established();
    let offer = harness.market.matching().best(0, Side::Offer).unwrap();
    let resting = order_with(1, offer.price.0, |order| {
        order.set_order_qty(offer.quantity + 3);
    });
    let replies = harness.send(id, &resting);
    let order_id = number(&replies[0]);
    let reply = harness.send_one(id, &status_request(2, order_id));
    let status = decode!(ExecutionReportStatus532, reply);
    assert_eq!((status.order_id(), status.cl_ord_id().to_string()), (order_id, "1".into()));
    assert_eq!((status.ord_status_req_id(), status.mass_status_req_id()), (Some(8_002), None));
    assert_eq!(status.ord_status(), OrderStatus::PARTIALLY_FILLED);
    assert_eq!((status.cum_qty(), status.leaves_qty()), (offer.quantity, 3));
    assert_eq!((status.order_qty(), status.price()), (offer.quantity + 3, Some(offer.price)));
    assert_eq!(status.last_rpt_requested(), Some(BooleanNULL::TRUE));
    let price = harness.far_price();
    let order_id = number(&harness.send_one(id, &order(3, price)));
    let reply = harness.send_one(id, &status_request(4, order_id));
    assert_eq!(decode!(ExecutionReportStatus532, reply).ord_status(), OrderStatus::NEW);
    assert_eq!(harness.counters().status_requests, 2);
}

#[test]
fn reports_the_status_of_a_stop_order() {
    let (mut harness, id) = Harness::established();
    let offer = harness.market.matching().best(0, Side::Offer).unwrap().price;
    let stop = order_with(1, offer.0, |order| {
        order.set_ord_type(OrderTypeReq::STOP_LIMIT).set_stop_px(offer);
    });
    let order_id = number(&harness.send_one(id, &stop));
    let reply = harness.send_one(id, &status_request(2, order_id));
    let status = decode!(ExecutionReportStatus532, reply);
    assert_eq!((status.stop_px(), status.ord_status()), (Some(offer), OrderStatus::NEW));
}

#[test]
fn reports_undefined_status_for_inactive_orders() {
    let (mut harness, id) = Harness::established();
    let house = harness.market.matching().orders_at_best(0, Side::Bid).next().unwrap().id;
    for (number, order_id) in [(1, 99), (2, house.0), (3, u64::MAX)] {
        let reply = harness.send_one(id, &status_request(number, order_id));
        let status = decode!(ExecutionReportStatus532, reply);
        assert_eq!(status.ord_status(), OrderStatus::UNDEFINED);
        assert_eq!(
            (status.order_id(), status.text().to_string()),
            (order_id, "Order Status Not Found".into())
        );
        assert_eq!(status.ord_status_req_id(), Some(u64::from(number) + 8_000));
    }
    let mut strange = status_request(4, 99);
    strange[12] = 9;
    let reply = harness.send_one(id, &strange);
    let reject = decode!(BusinessReject521, reply);
    assert_eq!(
        (reject.business_reject_reason(), reject.ref_msg_type().to_string()),
        (1, "H".into())
    );
}

/// Creates orders 1 to 4: to buy, to sell far off, GTC, and in another instrument.
fn with_orders() -> (Harness, ConnectionId) {
    let (mut harness, id) = Harness::established();
    let price = harness.far_price();
    let high = price + 200 * 250_000_000;
    harness.send_one(id, &order(1, price));
    let sell = order_with(2, high, |order| {
        order.set_side(SideReq::SELL);
    });
    harness.send_one(id, &sell);
    let good = order_with(3, price, |order| {
        order.set_time_in_force(TimeInForce::GOOD_TILL_CANCEL);
    });
    harness.send_one(id, &good);
    let other = order_with(4, 0, |order| {
        order.set_security_id(1_002).set_price(Decimal(250_000_000));
    });
    harness.send_one(id, &other);
    (harness, id)
}

#[test]
fn mass_status_reports_each_order_and_marks_the_last() {
    let (mut harness, id) = with_orders();
    let mut sorted = |number, change: Change| {
        let replies = harness.send(id, &mass_status_request_with(number, change));
        for reply in &replies {
            let status = decode!(ExecutionReportStatus532, reply);
            assert_eq!(status.mass_status_req_id(), Some(u64::from(number) + 8_000));
            assert_eq!(status.ord_status_req_id(), None);
        }
        reported(&replies)
    };
    assert_eq!(sorted(5, |_| {}), ["1", "2", "3", "4"]);
    let instrument = sorted(6, |request| {
        request.set_mass_status_req_type(MassStatusReqTyp::INSTRUMENT).set_security_id(1_002);
    });
    assert_eq!(instrument, ["4"]);
    let group = sorted(7, |request| {
        request
            .set_mass_status_req_type(MassStatusReqTyp::INSTRUMENT_GROUP)
            .set_security_group("HP");
    });
    assert_eq!(group.len(), 4);
    let segment = sorted(8, |request| {
        request
            .set_mass_status_req_type(MassStatusReqTyp::MARKET_SEGMENT)
            .set_time_in_force(MassStatusTIF::GTC);
    });
    assert_eq!(segment, ["3"]);
    // An empty result is a single report marked as the last.
    let nothing = sorted(9, |request| {
        request.set_time_in_force(MassStatusTIF::GTD);
    });
    assert_eq!(nothing, [""]);
}

#[test]
fn rejects_invalid_mass_status_requests() {
    let (mut harness, id) = with_orders();
    let mut refuse = |number, change: Change| {
        let reply = harness.send_one(id, &mass_status_request_with(number, change));
        let reject = decode!(BusinessReject521, reply);
        assert_eq!(reject.ref_msg_type(), "AF");
        (reject.business_reject_reason(), reject.ref_tag_id())
    };
    let none = refuse(5, |request| {
        request.set_mass_status_req_type(MassStatusReqTyp::INSTRUMENT).set_security_id(None);
    });
    assert_eq!(none, (5, Some(48)));
    let unknown = refuse(6, |request| {
        request.set_mass_status_req_type(MassStatusReqTyp::INSTRUMENT).set_security_id(7);
    });
    assert_eq!(unknown, (2, Some(48)));
    let group = refuse(7, |request| {
        request
            .set_mass_status_req_type(MassStatusReqTyp::INSTRUMENT_GROUP)
            .set_security_group("X");
    });
    assert_eq!(group, (2, Some(1_151)));
    let kind = refuse(8, |request| {
        request.set_mass_status_req_type(MassStatusReqTyp(42));
    });
    assert_eq!(kind, (115, Some(585)));
}

#[test]
fn mass_status_waits_for_a_slow_client() {
    let (mut harness, id) = Harness::established();
    let price = harness.far_price();
    let count = 600;
    for number in 1..=count {
        harness.send_one(id, &order(number, price));
    }
    let request = |number| mass_status_request_with(number, |_| {});
    let bytes = [request(count + 1), request(count + 2)].concat();
    let mut replies = harness.send(id, &bytes);
    assert!(harness.gateway.is_stalled(id) && replies.len() < count as usize);
    while harness.gateway.is_stalled(id) {
        replies.extend(harness.send(id, &[]));
    }
    let place = replies.iter().position(|reply| reply.template() == 521).unwrap();
    let reject = decode!(BusinessReject521, replies[place]);
    assert_eq!((reject.business_reject_reason(), reject.ref_seq_num()), (124, Some(count + 2)));
    replies.remove(place);
    let mut names: Vec<String> = (1..=count).map(|number| number.to_string()).collect();
    names.sort_unstable();
    assert_eq!(reported(&replies), names);
}

#[test]
fn mass_status_ends_with_its_connection() {
    let (mut harness, id) = Harness::established();
    let price = harness.far_price();
    for number in 1..=600 {
        harness.send_one(id, &order(number, price));
        harness.drain_feed();
    }
    let reported = harness.send(id, &mass_status_request_with(601, |_| {})).len();
    assert!(reported < 600 && harness.gateway.is_stalled(id));
    harness.gateway.handle_closed(id, &mut harness.listener);
    let id = harness.connect();
    assert!(!harness.gateway.is_stalled(id));
    let timestamp = harness.timestamp();
    assert_eq!(harness.send_one(id, &establish(UUID, timestamp, 602)).template(), 504);
    assert!(harness.send(id, &[]).is_empty());
}

#[test]
fn status_of_all_orders_requires_a_convenience_gateway() {
    let all: Change = |request| {
        request.set_mass_status_req_type(MassStatusReqTyp::ALL_ORDERS);
    };
    let (mut harness, id) = with_orders();
    let reply = harness.send_one(id, &mass_status_request_with(5, all));
    let reject = decode!(BusinessReject521, reply);
    assert_eq!((reject.business_reject_reason(), reject.ref_tag_id()), (114, Some(585)));
    let text = "Order Status for all Orders Not Available on Market Segment Session";
    assert_eq!(reject.text(), text);
    let mut harness = Harness::with(2, |settings| settings.kind = GatewayKind::Cgw);
    let id = harness.connect();
    harness.log_on(id);
    let price = harness.far_price();
    harness.send_one(id, &order(1, price));
    let replies = harness.send(id, &mass_status_request_with(2, all));
    assert_eq!(reported(&replies), ["1"]);
}
