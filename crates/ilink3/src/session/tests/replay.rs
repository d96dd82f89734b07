//! Messages that were not applied.

use super::*;

/// Creates an established session that replays messages not applied, and has sent 1 to `count`.
pub(super) fn having_sent(count: u64) -> Trace {
    let policy =
        SessionPolicy { not_applied: NotAppliedAnswer::Replay, ..SessionPolicy::default() };
    let mut trace = Trace::with_policy(Progress::default(), policy);
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
fn fills_the_gap_by_default() {
    let mut trace = Trace::established();
    (1..=3).for_each(|id| assert!(trace.send(id).is_ok()));
    trace.transmitted();
    trace.receive(&not_applied(2, 2));
    assert_eq!(trace.sent(), ["Sequence 4"]);
    assert_eq!(trace.events(), ["not applied 2 from 2"]);
}

#[test]
fn replays_unapplied_messages_and_all_later_ones() {
    let mut trace = having_sent(12);
    trace.log.order_on = Some("not applied");
    trace.receive(&not_applied(10, 2));
    let mut sent = orders(10, 12);
    // The listener's own messages follow.
    sent.push("Order 13 id 1".to_string());
    assert_eq!(trace.sent(), sent);
    assert_eq!(trace.session.outbound_counters().replayed, 3);
}

#[test]
fn replays_only_once() {
    let mut trace = having_sent(12);
    trace.receive(&not_applied(10, 2));
    trace.transmitted();
    // The exchange also reports 12 as not applied, which was sent before the replay.
    trace.receive(&not_applied(12, 1));
    assert!(trace.sent().is_empty());
    assert_eq!(trace.events(), ["not applied 2 from 10", "not applied 1 from 12"]);
    // A later message can be lost again.
    trace.send(13).unwrap();
    trace.transmitted();
    trace.receive(&not_applied(13, 1));
    assert_eq!(trace.sent(), orders(13, 13));
}

#[test]
fn listener_chooses_the_response() {
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
fn skipped_numbers_are_not_replayed() {
    let mut trace = having_sent(3);
    trace.at(9_000);
    assert_eq!(trace.sent(), ["Sequence 4"]);
    trace.receive(&not_applied(2, 2));
    assert_eq!(trace.sent(), ["Sequence 4"]);
    let warning = "warning cannot replay messages from 2 on: gap filled";
    assert_eq!(trace.events(), [warning, "not applied 2 from 2"]);
}

#[test]
fn numbers_below_an_establish_are_replayed() {
    let mut trace = having_sent(3);
    trace.disconnect();
    trace.connect(Binding::Resume);
    trace.acknowledge();
    // CME counts the number that Establish announced as next.
    trace.receive(&not_applied(2, 3));
    assert_eq!(trace.sent(), orders(2, 3));
}

#[test]
fn message_rejected_without_its_number_is_not_replayed() {
    let mut trace = having_sent(12);
    trace.receive(&frame(BusinessReject521::ENCODED_LENGTH, |buffer| {
        let mut message = BusinessReject521::encode(buffer).unwrap();
        message.set_uuid(UUID).set_seq_num(1).set_business_reject_ref_id(10);
        message.set_ref_seq_num(None);
    }));
    trace.receive(&not_applied(10, 2));
    assert_eq!(trace.sent(), ["Sequence 13"]);
    // The next gap is handled separately.
    trace.send(13).unwrap();
    trace.send(14).unwrap();
    trace.transmitted();
    trace.receive(&not_applied(13, 2));
    assert_eq!(trace.sent(), orders(13, 14));
}

#[test]
fn unkept_messages_are_skipped() {
    let mut trace = having_sent(4);
    trace.sink.kept.retain(|frame| frame[29] != 3);
    trace.receive(&not_applied(2, 3));
    assert_eq!(trace.sent(), ["Order 2 id 2", "Sequence 5"]);
    assert_eq!(trace.session.outbound_counters().not_kept, 1);
}

#[test]
fn replay_blocks_other_sends() {
    let mut trace = having_sent(2);
    trace.sink.rejection = Some(OutboundError::WouldBlock { waiting: 9 });
    trace.receive(&not_applied(1, 2));
    assert_eq!(trace.send(3), Err(SendError::Replaying));
    assert_eq!(trace.deadline_millis(), Some(1), "tried again");
    // A keep-alive does not move the exchange past numbers still to be replayed.
    trace.receive(&sequence(UUID, 1, KeepAliveLapsed::LAPSED));
    assert_eq!(trace.sent(), ["Sequence 1"]);
    trace.at(1);
    assert!(trace.sent().is_empty());
    trace.sink.rejection = None;
    trace.at(2);
    assert_eq!(trace.sent(), orders(1, 2));
    assert_eq!(trace.send(3), Ok(3));
}

#[test]
fn send_continues_the_replay_first() {
    let mut trace = having_sent(2);
    trace.sink.rejection = Some(OutboundError::WouldBlock { waiting: 9 });
    trace.receive(&not_applied(1, 2));
    trace.sink.rejection = None;
    assert_eq!(trace.send(3), Ok(3));
    assert_eq!(trace.sent(), orders(1, 3));
}

#[test]
fn lost_connection_ends_the_replay() {
    let mut trace = having_sent(2);
    trace.sink.delivery = Some(Delivery::Broken);
    trace.receive(&not_applied(1, 2));
    assert_eq!(trace.sent(), orders(1, 1));
    trace.disconnect();
    trace.sink.delivery = None;
    trace.connect(Binding::Resume);
    trace.acknowledge();
    trace.receive(&not_applied(1, 3));
    assert_eq!(trace.sent(), orders(1, 2));
}
