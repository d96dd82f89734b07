//! Sending of business messages.

use super::*;

#[test]
fn business_messages_are_numbered_from_1_and_stamped() {
    let mut trace = Trace::established();
    assert_eq!((trace.send(11), trace.send(12)), (Ok(1), Ok(2)));
    trace.now.utc = Utc::from_nanos(UTC + 99);
    let cancel = CancelOrder::new(70_001, 42, SideReq::BUY, ClOrdId::from(13));
    let sent = trace.session.sender(trace.now, &mut trace.sink).send(&cancel).unwrap();
    assert_eq!(sent.seq_num, 3);
    let frames = trace.transmitted();
    decode!(frames[0] => NewOrderSingle514 as order);
    assert_eq!((order.seq_num(), order.sending_time_epoch()), (1, UTC));
    assert_eq!((order.price(), order.order_qty()), (Some(Decimal(4_500_250_000_000)), 3));
    assert_eq!((order.security_id(), order.side()), (42, SideReq::BUY));
    assert_eq!(order.cl_ord_id(), "11");
    assert_eq!((order.sender_id(), order.order_request_id()).0, "TRADER");
    assert_eq!((order.location(), order.party_details_list_req_id()).0, "US,IL");
    assert_eq!((order.party_details_list_req_id(), order.order_request_id()), (1, 1));
    assert_eq!(order.ord_type(), OrderTypeReq::LIMIT);
    assert_eq!(order.time_in_force(), Some(TimeInForce::DAY));
    assert_eq!(order.manual_order_indicator(), ManualOrdIndReq::AUTOMATED);
    assert_eq!((order.stop_px(), order.min_qty(), order.expire_date()), (None, None, None));
    assert_eq!((order.execution_mode(), order.discretion_price()), (None, None));
    decode!(frames[2] => OrderCancelRequest516 as cancel);
    assert_eq!((cancel.seq_num(), cancel.sending_time_epoch()), (3, UTC + 99));
    assert_eq!((cancel.order_id(), cancel.security_id()), (Some(70_001), 42));
    assert_eq!(cancel.cl_ord_id(), "13");
    assert_eq!(trace.session.outbound_counters().business_messages, 3);
}

#[test]
fn rejected_message_uses_no_number() {
    let mut trace = Trace::established();
    trace.sink.rejection = Some(OutboundError::Full);
    assert_eq!(trace.send(1), Err(SendError::Sink(OutboundError::Full)));
    trace.sink.rejection = None;
    assert_eq!(trace.send(2), Ok(1));
    assert_eq!(trace.session.outbound_counters().refused_by_outlet, 1);
}

#[test]
fn encoded_message_uses_its_number_on_commit() {
    let mut trace = Trace::established();
    let mut frame = [0; 200];
    let now = trace.now;
    for _ in 0..2 {
        let length = trace.session.send(now, &order(5), &mut frame).unwrap();
        assert_eq!(describe(&frame[..length]), "Order 1 id 5");
    }
    let length = trace.session.send(now, &order(5), &mut frame).unwrap();
    assert_eq!(trace.session.commit(now, length), 1);
    trace.session.send(now, &order(6), &mut frame).unwrap();
    assert_eq!(describe(&frame[..length]), "Order 2 id 6");
    let short = trace.session.send(now, &order(6), &mut frame[..100]);
    assert!(matches!(short, Err(SendError::Encode(_))));
    assert_eq!(trace.session.outbound_counters().encode_errors, 1);
}

#[test]
fn numbers_end_at_999_999_999() {
    let next_outgoing = 999_999_999;
    let mut trace = Trace::with(Progress { uuid: 7, next_outgoing, ..Progress::default() });
    trace.connect(Binding::Resume);
    trace.acknowledge();
    assert_eq!(trace.send(1), Ok(999_999_999));
    assert_eq!(trace.send(2), Err(SendError::NumbersExhausted));
}

#[test]
fn gap_is_filled_before_the_listener_sends() {
    let mut trace = Trace::established();
    trace.send(1).unwrap();
    trace.send(2).unwrap();
    trace.transmitted();
    trace.log.order_on = Some("not applied");
    trace.receive(&not_applied(1, 2));
    let sent = "Ok(Sent { seq_num: 3, delivery: Written })";
    assert_eq!(trace.events(), ["not applied 2 from 1", sent]);
    assert_eq!(trace.sent(), ["Sequence 3", "Order 3 id 1"]);
}

#[test]
fn gap_fill_rejected_by_the_sink_is_queued() {
    let mut trace = Trace::established();
    trace.sink.rejection = Some(OutboundError::WouldBlock { waiting: 7 });
    trace.receive(&not_applied(1, 2));
    assert_eq!(trace.sent(), ["Sequence 1"]);
}

#[test]
fn waiting_message_keeps_its_number() {
    let mut trace = Trace::established();
    trace.sink.delivery = Some(Delivery::Waiting { waiting: 140 });
    let sent = trace.session.sender(trace.now, &mut trace.sink).send(&order(1)).unwrap();
    assert_eq!(sent.delivery, Delivery::Waiting { waiting: 140 });
    assert_eq!(trace.send(2), Ok(2));
    assert_eq!(trace.session.outbound_counters().queued, 2);
}

/// The only client message with SeqNum at a different offset.
struct PartyList;

impl Outgoing for PartyList {
    const MAX_LENGTH: usize = 200;

    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let (mut root, groups) = PartyDetailsListRequest537::encode(buffer)?;
        root.set_sending_time_epoch(stamp.sending_time.as_nanos());
        root.set_party_details_list_req_id(0x0101_0101_0101_0101);
        groups.finish()
    }
}

#[test]
fn any_schema_message_can_be_sent() {
    let mut trace = Trace::established();
    trace.send(1).unwrap();
    let sent = trace.session.sender(trace.now, &mut trace.sink).send(&PartyList).unwrap();
    assert_eq!(sent.seq_num, 2);
    let frames = trace.transmitted();
    decode!(frames[1] => PartyDetailsListRequest537 as request);
    assert_eq!((request.seq_num(), request.sending_time_epoch()), (2, UTC));
    assert_eq!(request.party_details_list_req_id(), 0x0101_0101_0101_0101);
    assert_eq!(frames[1].len(), 12 + 20 + 3 + 3);
}

/// A message that declares this length, regardless of its content.
struct Claims(usize);

impl Outgoing for Claims {
    const MAX_LENGTH: usize = 140;

    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        order(1).encode(stamp, buffer)?;
        Ok(self.0)
    }
}

#[test]
fn invalid_length_is_rejected_without_a_number() {
    let mut trace = Trace::established();
    for length in [0, 3, 8, 28, 141, usize::MAX] {
        let sent = trace.session.sender(trace.now, &mut trace.sink).send(&Claims(length));
        assert_eq!(sent, Err(SendError::Encode(EncodeError::Buffer)), "{length}");
    }
    let sent = trace.session.sender(trace.now, &mut trace.sink).send(&Claims(29));
    assert_eq!(sent.unwrap().seq_num, 1);
    assert_eq!(trace.transmitted().len(), 1);
}

/// Creates a session limited to two orders and one cancel in 100 ms.
pub(super) fn limited() -> Trace {
    let mut trace = Trace::established();
    let rate = |messages| Some(Rate { messages, interval: Duration::from_millis(100) });
    trace.session.set_throttle(Some(&Rates { cancels: rate(1), quotes: None, others: rate(2) }));
    trace
}

#[test]
fn throttle_rejects_sends_above_the_limit() {
    let mut trace = limited();
    assert_eq!((trace.send(1), trace.send(2)), (Ok(1), Ok(2)));
    let until = trace.now.monotonic + Duration::from_millis(100);
    assert_eq!(trace.send(3), Err(SendError::Throttled { until }));
    let cancel = CancelOrder::new(70_001, 42, SideReq::BUY, ClOrdId::from(13));
    let mut sender = trace.session.sender(trace.now, &mut trace.sink);
    assert_eq!(sender.send(&cancel).unwrap().seq_num, 3, "cancels have their own limit");
    assert_eq!(sender.send(&cancel), Err(SendError::Throttled { until }));
    trace.now.monotonic = until;
    assert_eq!(trace.send(4), Ok(4));
    trace.session.set_throttle(None);
    (5..9).for_each(|number| assert_eq!(trace.send(u64::from(number)), Ok(number)));
}

#[test]
fn mass_cancel_encodes_only_its_scope() {
    let mut trace = Trace::established();
    let side = Some(SideNULL::SELL);
    let bids = MassCancel { side, ..MassCancel::instrument(42) };
    for message in [MassCancel::all(), bids, MassCancel::group(*b"ES\0\0\0\0")] {
        trace.session.sender(trace.now, &mut trace.sink).send(&message).unwrap();
    }
    let last = MassCancel { order_request_id: Some(9), ..MassCancel::market_segment(64) };
    trace.session.sender(trace.now, &mut trace.sink).send(&last).unwrap();
    let frames = trace.transmitted();
    decode!(frames[0] => OrderMassActionRequest529 as all);
    assert_eq!((all.mass_action_scope(), all.seq_num()), (MassActionScope::ALL, 1));
    assert_eq!((all.security_id(), all.side(), all.order_request_id()), (None, None, 1));
    assert!(all.security_group().is_empty() && all.market_segment_id().is_none());
    assert_eq!((all.ord_type(), all.time_in_force()), (None, None));
    decode!(frames[1] => OrderMassActionRequest529 as bids);
    assert_eq!((bids.security_id(), bids.side()), (Some(42), side));
    assert_eq!(bids.mass_action_scope(), MassActionScope::INSTRUMENT);
    decode!(frames[2] => OrderMassActionRequest529 as group);
    assert_eq!(group.security_group(), "ES");
    assert_eq!(group.mass_action_scope(), MassActionScope::INSTRUMENT_GROUP);
    decode!(frames[3] => OrderMassActionRequest529 as segment);
    assert_eq!((segment.market_segment_id(), segment.order_request_id()), (Some(64), 9));
    assert_eq!(segment.mass_action_scope(), MassActionScope::MARKET_SEGMENT_ID);
}

/// An empty MassQuoteRequest567, which exists since schema version 9.
struct Quotes;

impl Outgoing for Quotes {
    const MAX_LENGTH: usize = 8 + 124 + 3;

    fn encode(&self, _: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let header =
            MessageHeader { block_length: 124, template_id: 567, schema_id: 8, version: 9 };
        buffer[..Self::MAX_LENGTH].fill(0);
        buffer[..8].copy_from_slice(&header.to_bytes());
        Ok(Self::MAX_LENGTH)
    }
}

#[test]
fn message_missing_in_the_version_is_rejected() {
    let version = crate::Version::new(8).unwrap();
    let mut trace = Trace::with_policy(
        Progress::default(),
        SessionPolicy { version, ..SessionPolicy::default() },
    );
    trace.connect(Binding::New);
    trace.log_on();
    let sent = trace.session.sender(trace.now, &mut trace.sink).send(&Quotes);
    assert_eq!(sent, Err(SendError::Version(8)));
    assert_eq!(trace.session.outbound_counters().encode_errors, 1);
    assert_eq!(trace.send(1), Ok(1));
    let mut trace = Trace::established();
    assert!(trace.session.sender(trace.now, &mut trace.sink).send(&Quotes).is_ok());
}
