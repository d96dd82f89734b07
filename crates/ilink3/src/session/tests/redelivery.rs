//! What is kept of the exchange's messages, and given again by the next process.

use super::*;

/// Numbers of what was kept, and whether all of it was marked.
fn inbox(trace: &Trace) -> (Vec<u32>, bool) {
    let numbers = trace.wire.inbox.iter().map(|kept| kept.1).collect();
    (numbers, trace.wire.inbox.iter().all(|kept| kept.3))
}

fn redeliver(trace: &mut Trace, message: &[u8]) {
    trace.session.redeliver(trace.now, message, &mut trace.wire, &mut trace.log);
}

#[test]
fn a_business_message_is_kept_as_it_came_and_marked() {
    let mut trace = Trace::established();
    let (report, sequence) = (report(1), sequence(UUID, 2, KeepAliveLapsed::NOT_LAPSED));
    trace.receive(&[&report[..], &sequence].concat());
    assert_eq!(trace.told(), ["new 1"]);
    assert_eq!(trace.wire.inbox, [(UUID, 1, report[4..].to_vec(), true)]);
}

#[test]
fn what_waits_for_others_is_kept_when_it_is_delivered() {
    let mut trace = Trace::established();
    trace.receive(&report(3));
    assert_eq!(inbox(&trace).0, [0; 0]);
    let again = |number| report_of(UUID, number, BooleanFlag::TRUE);
    assert_eq!(trace.sent(), ["Retransmit 1 count 2"]);
    let requested = trace.session.progress().request_timestamp;
    trace.receive(&retransmission(None, requested, 1, 2));
    trace.receive(&[again(1), again(2)].concat());
    assert_eq!(inbox(&trace), (vec![1, 2, 3], true));
    // A second copy is dropped, and not kept.
    trace.receive(&again(2));
    assert_eq!(inbox(&trace), (vec![1, 2, 3], true));
}

#[test]
fn what_is_refused_is_not_kept() {
    let mut trace = Trace::established();
    trace.receive(&report_of(UUID + 1, 1, BooleanFlag::FALSE));
    assert_eq!(inbox(&trace).0, [0; 0]);
}

#[test]
fn a_message_is_delivered_again_and_no_number_moves() {
    let progress = Progress { uuid: UUID, next_incoming: 8, ..Progress::default() };
    let mut trace = Trace::with(progress);
    for number in [6, 7] {
        redeliver(&mut trace, &report(number)[4..]);
    }
    assert_eq!(trace.told(), ["new 6 redelivered", "new 7 redelivered"]);
    assert_eq!((trace.session.progress(), trace.session.state()), (progress, State::Disconnected));
    assert_eq!(inbox(&trace).0, [0; 0], "it is kept already");
    let counters = trace.session.inbound_counters();
    assert_eq!((counters.redelivered, counters.business_messages), (2, 0));
    // What comes later is new again.
    trace.connect(Binding::Resume);
    trace.acknowledge();
    trace.receive(&report(8));
    assert_eq!((trace.told(), inbox(&trace)), (vec!["new 8".to_string()], (vec![8], true)));
}

#[test]
fn what_is_answered_to_a_message_delivered_again_is_not_sent() {
    let mut trace = Trace::with(Progress { uuid: UUID, ..Progress::default() });
    trace.log.order_on = Some("new");
    redeliver(&mut trace, &report(1)[4..]);
    let told = trace.told();
    assert_eq!(told[0], "new 1 redelivered");
    assert!(told[1].starts_with("Err(NotEstablished"), "{told:?}");
}

#[test]
fn what_cannot_be_read_again_is_a_warning() {
    let report = &report(1)[4..];
    let foreign = template_only(522, 9, 4);
    let session = &sequence(UUID, 2, KeepAliveLapsed::NOT_LAPSED)[4..];
    for (message, template_id) in
        [(&[][..], 0), (&report[..20], 522), (&foreign[4..], 0), (session, 506)]
    {
        let mut trace = Trace::new();
        redeliver(&mut trace, message);
        let warning = format!("warning a kept message, template {template_id}, cannot be read");
        assert_eq!(trace.told(), [warning]);
        assert_eq!(trace.session.state(), State::Disconnected);
        assert_eq!(trace.session.inbound_counters().not_redelivered, 1);
    }
}
