//! Encoding of orders, replacements and cancels.

use super::*;
use crate::{
    GatewayKind, InFlightMitigation, OrderTimeInForce, Pricing, ReplaceOrder, RequestError,
};

const PRICE: Decimal<-9> = Decimal(4_500_250_000_000);
const STOP: Decimal<-9> = Decimal(4_499_000_000_000);

fn id() -> ClOrdId {
    ClOrdId::from(11)
}

/// The fields that depend on an order's type and time in force.
#[derive(Debug, PartialEq)]
struct Terms {
    order_type: u8,
    price: Option<i64>,
    stop_price: Option<i64>,
    time_in_force: Option<u8>,
    expire_date: Option<u16>,
    min_quantity: Option<u32>,
    display_quantity: Option<u32>,
}

/// The terms of a limit order for the day.
const DAY_LIMIT: Terms = Terms {
    order_type: b'2',
    price: Some(PRICE.0),
    stop_price: None,
    time_in_force: Some(0),
    expire_date: None,
    min_quantity: None,
    display_quantity: None,
};

macro_rules! terms {
    ($message:expr) => {
        Terms {
            order_type: $message.ord_type().0,
            price: $message.price().map(|price| price.0),
            stop_price: $message.stop_px().map(|price| price.0),
            time_in_force: $message.time_in_force().map(|it| it.0),
            expire_date: $message.expire_date(),
            min_quantity: $message.min_qty(),
            display_quantity: $message.display_qty(),
        }
    };
}

/// Returns the frame of `message`, sent as number 1 of an established session.
fn sent<M: Outgoing>(message: &M) -> Vec<u8> {
    let mut trace = Trace::established();
    trace.session.sender(trace.now, &mut trace.sink).send(message).unwrap();
    trace.transmitted().remove(0)
}

fn terms_of(order: NewOrder) -> Terms {
    let frame = sent(&order);
    decode!(frame => NewOrderSingle514 as message);
    terms!(message)
}

fn rejection<M: Outgoing>(message: &M) -> RequestError {
    let mut trace = Trace::established();
    let refused = trace.session.sender(trace.now, &mut trace.sink).send(message);
    assert!(trace.transmitted().is_empty() && trace.session.progress().next_outgoing == 1);
    match refused {
        Err(SendError::Request(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn order_encodes_only_the_prices_of_its_type() {
    let market = |order_type| Terms { order_type, price: None, ..DAY_LIMIT };
    assert_eq!(terms_of(NewOrder::limit(42, SideReq::BUY, PRICE, 3, id())), DAY_LIMIT);
    assert_eq!(terms_of(NewOrder::market(42, SideReq::BUY, 3, id())), market(b'1'));
    assert_eq!(terms_of(NewOrder::market_limit(42, SideReq::BUY, 3, id())), market(b'K'));
    let stop_price = Some(STOP.0);
    let stop = Terms { stop_price, ..market(b'3') };
    assert_eq!(terms_of(NewOrder::stop(42, SideReq::BUY, STOP, 3, id())), stop);
    let stop_limit = Terms { order_type: b'4', stop_price, ..DAY_LIMIT };
    let order = NewOrder::stop_limit(42, SideReq::BUY, STOP, PRICE, 3, id());
    assert_eq!(terms_of(order), stop_limit);
}

#[test]
fn order_encodes_only_the_date_of_its_time_in_force() {
    let order = NewOrder::limit(42, SideReq::BUY, PRICE, 3, id());
    let standing = |time_in_force| Terms { time_in_force: Some(time_in_force), ..DAY_LIMIT };
    assert_eq!(terms_of(order.good_till_cancel()), standing(1));
    assert_eq!(terms_of(order.fill_and_kill()), standing(3));
    assert_eq!(terms_of(order.fill_or_kill()), standing(4));
    let dated = Terms { expire_date: Some(20_800), ..standing(6) };
    assert_eq!(terms_of(order.good_till_date(20_800)), dated);
    assert_eq!(terms_of(order.good_till_date(20_800).fill_and_kill()), standing(3));
    let session = NewOrder { time_in_force: OrderTimeInForce::GoodForSession, ..order };
    assert_eq!(terms_of(session), standing(99));
}

#[test]
fn order_encodes_quantities_and_request_id() {
    let order = NewOrder::limit(42, SideReq::SELL, PRICE, 9, id());
    let order = order.with_min_quantity(2).with_display_quantity(4).with_order_request_id(77);
    let frame = sent(&order);
    decode!(frame => NewOrderSingle514 as message);
    assert_eq!(
        (message.order_qty(), message.min_qty(), message.display_qty()),
        (9, Some(2), Some(4))
    );
    assert_eq!((message.order_request_id(), message.side()), (77, SideReq::SELL));
}

#[test]
fn replacement_encodes_order_id_and_all_terms() {
    let replace = ReplaceOrder::limit(70_001, 42, SideReq::SELL, PRICE, 5, id());
    let frame = sent(&replace);
    decode!(frame => OrderCancelReplaceRequest515 as message);
    assert_eq!((message.order_id(), message.seq_num()), (Some(70_001), 1));
    assert_eq!(
        (message.security_id(), message.side(), message.order_qty()),
        (42, SideReq::SELL, 5)
    );
    assert_eq!(terms!(message), DAY_LIMIT);
    assert_eq!(message.cl_ord_id(), "11");
    assert_eq!(message.sender_id(), "TRADER");
    assert_eq!(message.location(), "US,IL");
    assert_eq!((message.party_details_list_req_id(), message.order_request_id()), (1, 1));
    assert_eq!(message.sending_time_epoch(), UTC);
    assert_eq!(message.manual_order_indicator(), ManualOrdIndReq::AUTOMATED);
    assert_eq!(message.ofm_override(), OFMOverrideReq::DISABLED);
    assert_eq!(frame.len(), 12 + 133);
}

#[test]
fn replacement_encodes_in_flight_mitigation() {
    let replace =
        ReplaceOrder::stop(70_001, 42, SideReq::BUY, STOP, 5, id()).with_in_flight_mitigation();
    assert_eq!(replace.in_flight_mitigation, InFlightMitigation::Enabled);
    let frame = sent(&replace);
    decode!(frame => OrderCancelReplaceRequest515 as message);
    assert_eq!(message.ofm_override(), OFMOverrideReq::ENABLED);
    assert_eq!((message.ord_type(), message.price()), (OrderTypeReq::STOPWITH_PROTECTION, None));
    assert_eq!(message.stop_px(), Some(STOP));
}

#[test]
fn replacement_copies_the_terms_of_an_order() {
    let pricing = Pricing::StopLimit { stop_price: STOP, price: PRICE };
    let mut order = NewOrder::new(43, SideReq::SELL, pricing, 9, id()).good_till_date(20_800);
    order = order.with_min_quantity(2).with_display_quantity(4).with_order_request_id(77);
    order.execution_instructions = ExecInst::AON;
    order.execution_mode = Some(ExecMode::PASSIVE);
    let frame = sent(&ReplaceOrder::from_order(70_001, &order));
    decode!(frame => OrderCancelReplaceRequest515 as replace);
    let frame = sent(&order);
    decode!(frame => NewOrderSingle514 as order);
    assert_eq!(terms!(replace), terms!(order));
    assert_eq!((replace.security_id(), replace.side()), (43, SideReq::SELL));
    assert_eq!((replace.order_qty(), replace.order_request_id()), (9, 77));
    assert_eq!(
        (replace.exec_inst(), replace.execution_mode()),
        (ExecInst::AON, Some(ExecMode::PASSIVE))
    );
    assert_eq!(replace.cl_ord_id(), "11");
}

#[test]
fn rejects_contradictory_values_before_any_effect() {
    let order = NewOrder::limit(42, SideReq::BUY, PRICE, 3, id());
    let null = Decimal(i64::MAX);
    assert_eq!(rejection(&NewOrder { quantity: 0, ..order }), RequestError::Quantity);
    for order in [
        NewOrder::limit(42, SideReq::BUY, null, 3, id()),
        NewOrder::stop(42, SideReq::BUY, null, 3, id()),
        NewOrder::stop_limit(42, SideReq::BUY, null, PRICE, 3, id()),
        NewOrder::stop_limit(42, SideReq::BUY, STOP, null, 3, id()),
    ] {
        assert_eq!(rejection(&order), RequestError::Price);
    }
    assert_eq!(rejection(&order.good_till_date(u16::MAX)), RequestError::ExpireDate);
    for quantity in [0, 4, u32::MAX] {
        assert_eq!(rejection(&order.with_min_quantity(quantity)), RequestError::MinQuantity);
        assert_eq!(
            rejection(&order.with_display_quantity(quantity)),
            RequestError::DisplayQuantity
        );
    }
    let hidden = order.with_min_quantity(2).with_display_quantity(1);
    assert_eq!(rejection(&hidden), RequestError::DisplayQuantity);
    for least in 1..=3 {
        let whole = order.with_min_quantity(least).with_display_quantity(3);
        assert_eq!(terms_of(whole).min_quantity, Some(least));
    }
}

#[test]
fn replacement_rejects_contradictions_and_a_null_order_id() {
    let order = NewOrder::limit(42, SideReq::BUY, PRICE, 3, id());
    let replace = |order| rejection(&ReplaceOrder::from_order(7, &order));
    assert_eq!(replace(NewOrder { quantity: 0, ..order }), RequestError::Quantity);
    assert_eq!(replace(order.good_till_date(u16::MAX)), RequestError::ExpireDate);
    assert_eq!(replace(order.with_display_quantity(4)), RequestError::DisplayQuantity);
    let no_order = ReplaceOrder::from_order(u64::MAX, &order);
    assert_eq!(rejection(&no_order), RequestError::OrderId);
    let cancel = CancelOrder::new(u64::MAX, 42, SideReq::BUY, id());
    assert_eq!(rejection(&cancel), RequestError::OrderId);
}

#[test]
fn status_of_all_orders_needs_a_convenience_gateway() {
    let all = crate::MassStatus::all();
    for (gateway_kind, expected) in [
        (GatewayKind::MarketSegment, Err(SendError::Request(RequestError::AllOrders))),
        (GatewayKind::Convenience, Ok(1)),
    ] {
        let policy = SessionPolicy { gateway_kind, ..SessionPolicy::default() };
        let mut trace = Trace::with_policy(Progress::default(), policy);
        trace.connect(Binding::New);
        trace.log_on();
        let mut sender = trace.session.sender(trace.now, &mut trace.sink);
        assert_eq!(sender.send(&all).map(|sent| sent.seq_num), expected);
        let segment = crate::MassStatus::market_segment(64);
        assert!(sender.send(&segment).is_ok(), "every gateway");
    }
}

#[test]
fn es_at_4500_25_has_the_wire_price_450025() {
    // The display price 4500.25 divided by DisplayFactor 0.01, in units of 10^-9.
    let price = Decimal(450_025 * 1_000_000_000);
    let frame = sent(&NewOrder::limit(42, SideReq::BUY, price, 1, id()));
    decode!(frame => NewOrderSingle514 as order);
    assert_eq!(order.price().map(|price| price.to_string()).as_deref(), Some("450025"));
    assert_eq!(frame[12..20], 450_025_000_000_000_i64.to_le_bytes());
}
