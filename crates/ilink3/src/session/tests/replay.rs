//! Messages of ours that were not applied.

use super::*;

/// An established session that sends again what was not applied, and has sent 1 to `count`.
pub(super) fn having_sent(count: u64) -> Trace {
    let conduct =
        SessionPolicy { not_applied: NotAppliedAnswer::Replay, ..SessionPolicy::default() };
    let mut trace = Trace::conducted(Progress::default(), conduct);
    trace.connect(Binding::New);
    trace.log_on();
    (1..=count).for_each(|id| assert!(trace.send(id).is_ok()));
    trace.transmitted();
    trace
}

fn orders(from: u32, to: u32) -> Vec<String> {
    (from..=to).map(|number| format!("Order {number} id {number}")).collect()
}

#[test]
fn a_gap_is_filled_unless_wanted_otherwise() {
    let mut trace = Trace::established();
    (1..=3).for_each(|id| assert!(trace.send(id).is_ok()));
    trace.transmitted();
    trace.receive(&not_applied(2, 2));
    assert_eq!(trace.sent(), ["Sequence 4"]);
    assert_eq!(trace.told(), ["not applied 2 from 2"]);
}

#[test]
fn what_was_not_applied_is_sent_again_with_all_that_followed() {
    let mut trace = having_sent(12);
    trace.log.order_on = Some("not applied");
    trace.receive(&not_applied(10, 2));
    let mut sent = orders(10, 12);
    // What the listener sends comes after it.
    sent.push("Order 13 id 1".to_string());
    assert_eq!(trace.sent(), sent);
    assert_eq!(trace.session.outbound_counters().replayed, 3);
}

#[test]
fn what_was_sent_again_is_not_sent_a_third_time() {
    let mut trace = having_sent(12);
    trace.receive(&not_applied(10, 2));
    trace.transmitted();
    // The exchange says so of 12 too, which had left before anything was sent again.
    trace.receive(&not_applied(12, 1));
    assert!(trace.sent().is_empty());
    assert_eq!(trace.told(), ["not applied 2 from 10", "not applied 1 from 12"]);
    // What is sent later can be lost again.
    trace.send(13).unwrap();
    trace.transmitted();
    trace.receive(&not_applied(13, 1));
    assert_eq!(trace.sent(), orders(13, 13));
}

#[test]
fn the_listener_chooses() {
    let mut trace = having_sent(3);
    trace.log.answer = Some(NotAppliedAnswer::FillGap);
    trace.receive(&not_applied(2, 2));
    assert_eq!(trace.sent(), ["Sequence 4"]);

    let mut trace = Trace::established();
    (1..=3).for_each(|id| assert!(trace.send(id).is_ok()));
    trace.transmitted();
    trace.log.answer = Some(NotAppliedAnswer::Replay);
    trace.receive(&not_applied(2, 2));
    assert_eq!(trace.sent(), orders(2, 3));
}

#[test]
fn what_the_exchange_was_told_to_pass_over_is_not_sent_again() {
    let mut trace = having_sent(3);
    trace.at(9_000);
    assert_eq!(trace.sent(), ["Sequence 4"]);
    trace.receive(&not_applied(2, 2));
    assert_eq!(trace.sent(), ["Sequence 4"]);
    let warning = "warning messages from 2 on cannot be sent again";
    assert_eq!(trace.told(), [warning, "not applied 2 from 2"]);
}

#[test]
fn what_an_establish_went_beyond_is_sent_again() {
    let mut trace = having_sent(3);
    trace.disconnect();
    trace.connect(Binding::Resume);
    trace.acknowledge();
    // CME counts the number that Establish said is next.
    trace.receive(&not_applied(2, 3));
    assert_eq!(trace.sent(), orders(2, 3));
}

#[test]
fn a_message_refused_without_its_number_is_not_sent_again_for_ever() {
    let mut trace = having_sent(12);
    trace.receive(&frame(BusinessReject521::ENCODED_LENGTH, |buffer| {
        let mut message = BusinessReject521::encode(buffer).unwrap();
        message.set_uuid(UUID).set_seq_num(1).set_business_reject_ref_id(10);
        message.set_ref_seq_num(None);
    }));
    trace.receive(&not_applied(10, 2));
    assert_eq!(trace.sent(), ["Sequence 13"]);
    // The next hole is another matter.
    trace.send(13).unwrap();
    trace.send(14).unwrap();
    trace.transmitted();
    trace.receive(&not_applied(13, 2));
    assert_eq!(trace.sent(), orders(13, 14));
}

#[test]
fn what_was_not_kept_is_passed_over() {
    let mut trace = having_sent(4);
    trace.wire.kept.retain(|frame| frame[29] != 3);
    trace.receive(&not_applied(2, 3));
    assert_eq!(trace.sent(), ["Order 2 id 2", "Sequence 5"]);
    assert_eq!(trace.session.outbound_counters().not_kept, 1);
}

#[test]
fn nothing_else_is_sent_until_all_is_sent_again() {
    let mut trace = having_sent(2);
    trace.wire.refusal = Some(OutboundError::WouldBlock { waiting: 9 });
    trace.receive(&not_applied(1, 2));
    assert_eq!(trace.send(3), Err(SendError::Replaying));
    assert_eq!(trace.deadline_millis(), Some(1), "tried again");
    // A sign of life does not move the exchange past what is still to come.
    trace.receive(&sequence(UUID, 1, KeepAliveLapsed::LAPSED));
    assert_eq!(trace.sent(), ["Sequence 1"]);
    trace.at(1);
    assert!(trace.sent().is_empty());
    trace.wire.refusal = None;
    trace.at(2);
    assert_eq!(trace.sent(), orders(1, 2));
    assert_eq!(trace.send(3), Ok(3));
}

#[test]
fn a_send_brings_the_rest_before_itself() {
    let mut trace = having_sent(2);
    trace.wire.refusal = Some(OutboundError::WouldBlock { waiting: 9 });
    trace.receive(&not_applied(1, 2));
    trace.wire.refusal = None;
    assert_eq!(trace.send(3), Ok(3));
    assert_eq!(trace.sent(), orders(1, 3));
}

#[test]
fn a_connection_that_breaks_ends_it() {
    let mut trace = having_sent(2);
    trace.wire.delivery = Some(Delivery::Broken);
    trace.receive(&not_applied(1, 2));
    assert_eq!(trace.sent(), orders(1, 1));
    trace.disconnect();
    trace.wire.delivery = None;
    trace.connect(Binding::Resume);
    trace.acknowledge();
    trace.receive(&not_applied(1, 3));
    assert_eq!(trace.sent(), orders(1, 2));
}
