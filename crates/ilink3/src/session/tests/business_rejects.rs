//! Business messages that the exchange rejects without using their number.

use super::*;

/// Creates the exchange's message `seq_num`, a reject of the message with request id `reference`.
fn refuse(seq_num: u32, ref_seq_num: Option<u32>, reference: Option<u64>) -> Vec<u8> {
    frame(BusinessReject521::ENCODED_LENGTH, |buffer| {
        let mut message = BusinessReject521::encode(buffer).unwrap();
        message.set_uuid(UUID).set_seq_num(seq_num).set_poss_retrans_flag(BooleanFlag::FALSE);
        message.set_ref_seq_num(ref_seq_num).set_business_reject_ref_id(reference);
    })
}

fn next_outgoing(trace: &Trace) -> u32 {
    trace.session.progress().next_outgoing
}

/// Creates an established session that has sent numbers 1 to `count`.
fn having_sent(count: u64) -> Trace {
    let mut trace = Trace::established();
    (1..=count).for_each(|id| assert!(trace.send(id).is_ok()));
    trace.transmitted();
    trace
}

#[test]
fn newest_number_is_reclaimed_before_the_listener_sends() {
    let mut trace = having_sent(10);
    trace.log.order_on = Some("message");
    trace.receive(&refuse(1, None, Some(10)));
    let sent = "Ok(Sent { seq_num: 10, delivery: Written })";
    assert_eq!(trace.events(), ["message 1 of 521", sent]);
    assert_eq!(trace.sent(), ["Order 10 id 1"]);
    assert_eq!(trace.session.outbound_counters().taken_back, 1);
}

#[test]
fn older_number_is_resolved_by_not_applied() {
    let mut trace = having_sent(12);
    trace.receive(&refuse(1, None, Some(10)));
    assert_eq!(next_outgoing(&trace), 13);
    trace.receive(&not_applied(10, 2));
    assert_eq!(trace.events(), ["message 1 of 521", "not applied 2 from 10"]);
    assert_eq!(trace.sent(), ["Sequence 13"]);
    assert_eq!(trace.send(13), Ok(13));
    assert_eq!(trace.session.outbound_counters().taken_back, 0);
}

#[test]
fn reject_with_ref_seq_num_changes_no_number() {
    let mut trace = having_sent(10);
    trace.receive(&refuse(1, Some(10), Some(10)));
    assert_eq!(next_outgoing(&trace), 11);
}

#[test]
fn reject_without_any_reference_changes_no_number() {
    let mut trace = having_sent(10);
    trace.receive(&[refuse(1, None, None), refuse(2, None, Some(0))].concat());
    assert_eq!(next_outgoing(&trace), 11);
}

#[test]
fn number_is_reclaimed_once() {
    let mut trace = having_sent(10);
    trace.receive(&[refuse(1, None, Some(10)), refuse(2, None, Some(9))].concat());
    assert_eq!(next_outgoing(&trace), 10);
    trace.receive(&refuse(3, None, Some(10)));
    assert_eq!(next_outgoing(&trace), 10);
}

#[test]
fn undelivered_reject_reclaims_nothing() {
    let mut trace = having_sent(10);
    trace.receive(&refuse(2, None, Some(10)));
    assert_eq!(next_outgoing(&trace), 11, "after a gap");
}

#[test]
fn number_below_an_advertised_one_is_never_reused() {
    // A keep-alive, a gap fill and an Establish each carry NextSeqNo.
    let mut trace = having_sent(10);
    trace.at(9_000);
    assert_eq!(trace.sent(), ["Sequence 11"]);
    trace.receive(&[refuse(1, None, Some(10)), refuse(2, None, None)].concat());
    assert_eq!(next_outgoing(&trace), 11);

    let mut trace = having_sent(10);
    trace.receive(&[not_applied(3, 8), refuse(1, None, Some(10))].concat());
    assert_eq!((trace.sent(), next_outgoing(&trace)), (vec!["Sequence 11".to_string()], 11));

    let mut trace = having_sent(10);
    trace.disconnect();
    trace.connect(Binding::Resume);
    trace.acknowledge();
    trace.receive(&refuse(1, None, Some(10)));
    assert_eq!(next_outgoing(&trace), 11);
}

#[test]
fn any_request_is_matched_by_its_own_id() {
    let replace = crate::ReplaceOrder::limit(7, 42, SideReq::BUY, Decimal(1), 3, ClOrdId::from(1));
    let cancel = CancelOrder::new(7, 42, SideReq::BUY, ClOrdId::from(2));
    let mut trace = having_sent(1);
    trace.session.sender(trace.now, &mut trace.sink).send(&replace).unwrap();
    trace.receive(&refuse(1, None, Some(2)));
    assert_eq!(next_outgoing(&trace), 2);
    let cancel = cancel.with_order_request_id(4_711);
    trace.session.sender(trace.now, &mut trace.sink).send(&cancel).unwrap();
    trace.receive(&refuse(2, None, Some(2)));
    assert_eq!(next_outgoing(&trace), 3);
    trace.receive(&refuse(3, None, Some(4_711)));
    assert_eq!(next_outgoing(&trace), 2);
}

#[test]
fn message_encoded_by_its_owner_is_matched() {
    let mut trace = Trace::established();
    let (now, mut frame) = (trace.now, [0; 200]);
    let length = trace.session.send(now, &order(5), &mut frame).unwrap();
    assert_eq!(trace.session.commit(now, length), 1);
    trace.receive(&refuse(1, None, Some(1)));
    assert_eq!(next_outgoing(&trace), 1);
}
