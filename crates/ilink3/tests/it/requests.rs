//! Encoded requests decode to the same values.

use crate::test_session::{UTC, now, session};
use hairpin_cme_codecs::ilink3::*;
use hairpin_ilink3::*;
use hairpin_sbe::{Decimal, MessageHeader};
use proptest::prelude::*;

/// Returns the bytes of `message`, sent as the first one of an established session, after the
/// framing header.
fn sent<M: Outgoing>(message: &M) -> Vec<u8> {
    let mut session = session(State::Established);
    let mut frame = [0xEE; 200];
    let length = session.send(now(1), message, &mut frame).unwrap();
    assert_eq!(usize::from(u16::from_le_bytes([frame[0], frame[1]])), length);
    assert_eq!(length, FRAMING_HEADER_LENGTH + M::MAX_LENGTH);
    assert_eq!(session.commit(now(1), length), 1);
    frame[FRAMING_HEADER_LENGTH..length].to_vec()
}

/// Returns a flag as encoded on the wire.
fn boolean(flag: Option<bool>) -> Option<BooleanNULL> {
    flag.map(|flag| BooleanNULL(flag.into()))
}

/// Creates any price except the null.
fn price() -> impl Strategy<Value = Price9> {
    prop_oneof![any::<i64>(), Just(0), Just(i64::MAX - 1), Just(i64::MIN)]
        .prop_map(|mantissa| Decimal(mantissa.min(i64::MAX - 1)))
}

fn pricing() -> impl Strategy<Value = Pricing> {
    prop_oneof![
        price().prop_map(|price| Pricing::Limit { price }),
        Just(Pricing::Market),
        Just(Pricing::MarketLimit),
        price().prop_map(|stop_price| Pricing::Stop { stop_price }),
        (price(), price()).prop_map(|(stop_price, price)| Pricing::StopLimit { stop_price, price }),
    ]
}

fn time_in_force() -> impl Strategy<Value = OrderTimeInForce> {
    prop_oneof![
        Just(OrderTimeInForce::Day),
        Just(OrderTimeInForce::GoodTillCancel),
        (0..u16::MAX).prop_map(|expire_date| OrderTimeInForce::GoodTillDate { expire_date }),
        Just(OrderTimeInForce::FillAndKill),
        Just(OrderTimeInForce::FillOrKill),
        Just(OrderTimeInForce::GoodForSession),
    ]
}

fn cl_ord_id() -> impl Strategy<Value = ClOrdId> {
    prop_oneof![
        any::<u64>().prop_map(ClOrdId::from),
        "[ -~]{1,20}".prop_map(|text| ClOrdId::new(&text).unwrap()),
    ]
}

/// Creates a valid combination of OrderQty, MinQty and DisplayQty.
fn quantities() -> impl Strategy<Value = (u32, Option<u32>, Option<u32>)> {
    let quantity = prop_oneof![1_u32..100, 1..=u32::MAX - 1];
    let shares = (prop::option::of(0_u32..=100), prop::option::of(0_u32..=100));
    (quantity, shares).prop_map(|(quantity, (least, shown))| {
        let share =
            |of: u32, percent: u32| 1 + (u64::from(of - 1) * u64::from(percent) / 100) as u32;
        let least = least.map(|percent| share(quantity, percent));
        let shown = shown.map(|percent| share(quantity, percent).max(least.unwrap_or(1)));
        (quantity, least, shown)
    })
}

prop_compose! {
    fn new_order()(
        (security_id, side) in (any::<i32>(), prop_oneof![Just(SideReq::BUY), Just(SideReq::SELL)]),
        pricing in pricing(),
        (quantity, min_quantity, display_quantity) in quantities(),
        cl_ord_id in cl_ord_id(),
        order_request_id in prop::option::of(any::<u64>()),
        time_in_force in time_in_force(),
        execution_instructions in any::<u8>().prop_map(ExecInst),
        execution_mode in prop::option::of(prop_oneof![
            Just(ExecMode::AGGRESSIVE), Just(ExecMode::PASSIVE)
        ]),
        (liquidity_flag, managed_order) in any::<(Option<bool>, Option<bool>)>(),
        short_sale_type in prop::option::of((0_u8..4).prop_map(ShortSaleType)),
        (discretion_price, reservation_price) in
            (prop::option::of(price()), prop::option::of(price())),
    ) -> NewOrder {
        NewOrder {
            security_id: SecurityId(security_id), side, pricing, quantity, cl_ord_id,
            order_request_id, time_in_force, min_quantity, display_quantity,
            execution_instructions, execution_mode, liquidity_flag, managed_order,
            short_sale_type, discretion_price, reservation_price,
        }
    }
}

/// Compares the fields common to 514 and 515 with `$order`.
macro_rules! assert_common {
    ($message:ident, $order:ident) => {
        prop_assert_eq!(($message.seq_num(), $message.sending_time_epoch()), (1, UTC + 1_000_000));
        prop_assert_eq!($message.security_id(), $order.security_id.0);
        prop_assert_eq!($message.side(), $order.side);
        prop_assert_eq!($message.ord_type(), $order.pricing.order_type());
        prop_assert_eq!($message.price(), $order.pricing.price());
        prop_assert_eq!($message.stop_px(), $order.pricing.stop_price());
        prop_assert_eq!($message.order_qty(), $order.quantity);
        prop_assert_eq!($message.min_qty(), $order.min_quantity);
        prop_assert_eq!($message.display_qty(), $order.display_quantity);
        prop_assert_eq!($message.cl_ord_id().raw(), &$order.cl_ord_id.0[..]);
        prop_assert_eq!($message.order_request_id(), $order.order_request_id.unwrap_or(1));
        prop_assert_eq!($message.time_in_force(), Some($order.time_in_force.code()));
        prop_assert_eq!($message.expire_date(), $order.time_in_force.expire_date());
        prop_assert_eq!($message.exec_inst(), $order.execution_instructions);
        prop_assert_eq!($message.execution_mode(), $order.execution_mode);
        prop_assert_eq!($message.manual_order_indicator(), ManualOrdIndReq::AUTOMATED);
        prop_assert_eq!($message.party_details_list_req_id(), 1);
        prop_assert_eq!($message.sender_id(), "TRADER");
        prop_assert_eq!($message.location(), "US,IL");
        prop_assert_eq!($message.liquidity_flag(), boolean($order.liquidity_flag));
        prop_assert_eq!($message.managed_order(), boolean($order.managed_order));
        prop_assert_eq!($message.short_sale_type(), $order.short_sale_type);
        prop_assert_eq!($message.discretion_price(), $order.discretion_price);
    };
}

proptest! {
    #[test]
    fn new_order_round_trips(order in new_order()) {
        let bytes = sent(&order);
        let (header, body) = MessageHeader::decode(&bytes).unwrap();
        let mut scratch = NewOrderSingle514::SCRATCH;
        let message = NewOrderSingle514::decode(&header, body, &mut scratch).unwrap();
        assert_common!(message, order);
        prop_assert_eq!(message.reservation_price(), order.reservation_price);
    }

    #[test]
    fn replacement_round_trips(
        order in new_order(), order_id in 0..u64::MAX, mitigated in any::<bool>()
    ) {
        let replace = ReplaceOrder::from_order(order_id, &order);
        let replace = if mitigated { replace.with_in_flight_mitigation() } else { replace };
        let bytes = sent(&replace);
        let (header, body) = MessageHeader::decode(&bytes).unwrap();
        let mut scratch = OrderCancelReplaceRequest515::SCRATCH;
        let message = OrderCancelReplaceRequest515::decode(&header, body, &mut scratch).unwrap();
        assert_common!(message, order);
        prop_assert_eq!(message.order_id(), Some(order_id));
        prop_assert_eq!(message.ofm_override(), OFMOverrideReq(u8::from(mitigated)));
    }

    #[test]
    fn cancel_round_trips(
        order_id in 0..u64::MAX, security_id in any::<i32>(), cl_ord_id in cl_ord_id(),
        request in prop::option::of(any::<u64>()), flag in any::<Option<bool>>(),
        user in "[ -~]{0,8}"
    ) {
        let mut cancel = CancelOrder::new(order_id, security_id, SideReq::SELL, cl_ord_id);
        cancel.order_request_id = request;
        (cancel.liquidity_flag, cancel.orig_order_user) = (flag, Text::new(&user).unwrap());
        let bytes = sent(&cancel);
        let (header, body) = MessageHeader::decode(&bytes).unwrap();
        let mut scratch = OrderCancelRequest516::SCRATCH;
        let message = OrderCancelRequest516::decode(&header, body, &mut scratch).unwrap();
        prop_assert_eq!((message.order_id(), message.seq_num()), (Some(order_id), 1));
        prop_assert_eq!((message.security_id(), message.side()), (security_id, SideReq::SELL));
        prop_assert_eq!(message.cl_ord_id().raw(), &cl_ord_id.0[..]);
        prop_assert_eq!(message.order_request_id(), request.unwrap_or(1));
        prop_assert_eq!(message.sending_time_epoch(), UTC + 1_000_000);
        prop_assert_eq!(message.sender_id(), "TRADER");
        prop_assert_eq!(message.party_details_list_req_id(), 1);
        prop_assert_eq!(message.liquidity_flag(), boolean(flag));
        prop_assert_eq!(message.orig_order_user().raw(), cancel.orig_order_user.as_ref());
    }

    #[test]
    fn mass_cancel_round_trips(
        security_id in any::<i32>(), flag in any::<Option<bool>>(), user in "[ -~]{0,8}",
        request_type in prop::option::of(Just(MassCxlReqTyp::ACCOUNT)),
        side in prop::option::of(Just(SideNULL::SELL)),
        time_in_force in prop::option::of(Just(MassCancelTIF::GOOD_TILL_CANCEL)),
    ) {
        let cancel = MassCancel {
            request_type, side, time_in_force, liquidity_flag: flag,
            orig_order_user: Text::new(&user).unwrap(), ..MassCancel::instrument(security_id)
        };
        let bytes = sent(&cancel);
        let (header, body) = MessageHeader::decode(&bytes).unwrap();
        let mut scratch = OrderMassActionRequest529::SCRATCH;
        let message = OrderMassActionRequest529::decode(&header, body, &mut scratch).unwrap();
        let expected = Some(security_id).filter(|id| *id != i32::MAX);
        prop_assert_eq!((message.security_id(), message.side()), (expected, side));
        prop_assert_eq!(message.mass_cancel_request_type(), request_type);
        prop_assert_eq!(message.time_in_force(), time_in_force);
        prop_assert_eq!(message.liquidity_flag(), boolean(flag));
        prop_assert_eq!(message.orig_order_user().raw(), cancel.orig_order_user.as_ref());
    }

    #[test]
    fn mass_status_round_trips(
        market_segment_id in 0..u8::MAX, request_id in prop::option::of(any::<u64>()),
        status_type in prop::option::of(Just(MassStatusOrdTyp::SENDER_SUB_ID)),
        time_in_force in prop::option::of(Just(MassStatusTIF::GTD)),
    ) {
        let status = MassStatus {
            status_type, time_in_force, request_id,
            ..MassStatus::market_segment(market_segment_id)
        };
        let bytes = sent(&status);
        let (header, body) = MessageHeader::decode(&bytes).unwrap();
        let mut scratch = OrderMassStatusRequest530::SCRATCH;
        let message = OrderMassStatusRequest530::decode(&header, body, &mut scratch).unwrap();
        prop_assert_eq!(message.market_segment_id(), Some(market_segment_id));
        prop_assert_eq!(message.ord_status_req_type(), status_type);
        prop_assert_eq!(message.time_in_force(), time_in_force);
        prop_assert_eq!(message.mass_status_req_id(), request_id.unwrap_or(1));
    }

    #[test]
    fn requests_without_order_id_carry_the_orders_cl_ord_id(order in new_order()) {
        let bytes = sent(&ReplaceOrder::by_cl_ord_id(&order));
        let (header, body) = MessageHeader::decode(&bytes).unwrap();
        let mut scratch = OrderCancelReplaceRequest515::SCRATCH;
        let message = OrderCancelReplaceRequest515::decode(&header, body, &mut scratch).unwrap();
        assert_common!(message, order);
        prop_assert_eq!(message.order_id(), None);
        let cancel = CancelOrder::by_cl_ord_id(order.cl_ord_id, order.security_id, order.side);
        let bytes = sent(&cancel);
        let (header, body) = MessageHeader::decode(&bytes).unwrap();
        let mut scratch = OrderCancelRequest516::SCRATCH;
        let message = OrderCancelRequest516::decode(&header, body, &mut scratch).unwrap();
        prop_assert_eq!(message.order_id(), None);
        prop_assert_eq!(message.cl_ord_id().raw(), &order.cl_ord_id.0[..]);
    }

    #[test]
    fn rejected_request_uses_no_number(
        order in new_order(), quantity in 0_u32..5, least in prop::option::of(0_u32..5),
        shown in prop::option::of(0_u32..5)
    ) {
        let order =
            NewOrder { quantity, min_quantity: least, display_quantity: shown, ..order };
        let valid = quantity > 0
            && least.is_none_or(|least| (1..=quantity).contains(&least))
            && shown.is_none_or(|shown| (least.unwrap_or(1)..=quantity).contains(&shown));
        let mut session = session(State::Established);
        let sent = session.send(now(1), &order, &mut [0; 200]);
        prop_assert_eq!(sent.is_ok(), valid);
        prop_assert_eq!(session.progress().next_outgoing, 1);
        prop_assert_eq!(session.outbound_counters().refused_requests, u64::from(!valid));
    }
}
