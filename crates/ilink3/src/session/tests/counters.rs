//! Each fault raises its own counter and no other.

use super::*;
use crate::{InboundCounters, OutboundCounters};

/// Counters of normal events. They are not marked as faults and have no test here.
const ORDINARY: [&str; 16] = [
    "bytes",
    "frames",
    "business_messages",
    "redelivered",
    "session_messages",
    "undelivered",
    "held",
    "retransmitted",
    "replayed",
    "gap_messages",
    "terminates",
    "business_bytes",
    "negotiates",
    "establishes",
    "sequences",
    "retransmit_requests",
];

/// Returns the counters of faults that are not zero.
fn faults(counters: impl Iterator<Item = (&'static str, u64)>) -> Vec<(&'static str, u64)> {
    counters.filter(|(name, count)| *count > 0 && !ORDINARY.contains(name)).collect()
}

/// The counter of the gap that accompanies the faults below.
const GAP: (&str, u64) = ("gaps", 1);

/// Asserts that the only faults counted are `name` and one gap.
#[track_caller]
fn assert_gap_and(trace: &Trace, name: &'static str, count: u64) {
    let counted = faults(trace.session.inbound_counters().iter());
    let others: Vec<_> = counted.iter().filter(|it| **it != GAP).copied().collect();
    assert_eq!((others, counted.contains(&GAP)), (vec![(name, count)], true));
}

/// Creates a session that has received message 3 and requested 1 and 2.
fn awaiting_retransmission() -> Trace {
    let mut trace = received(&report(3));
    assert_eq!(trace.sent(), ["Retransmit 1 count 2"]);
    trace
}

/// Asserts that the only fault counted is `name`, once.
#[track_caller]
fn assert_only(trace: &Trace, name: &'static str) {
    let inbound = trace.session.inbound_counters().iter();
    assert_eq!(faults(inbound.chain(trace.session.outbound_counters().iter())), [(name, 1)]);
}

/// Creates an established session and receives `bytes`.
fn received(bytes: &[u8]) -> Trace {
    let mut trace = Trace::established();
    trace.receive(bytes);
    trace
}

#[test]
fn tests_cover_every_fault_counter() {
    let this = include_str!("counters.rs");
    let inbound = InboundCounters::default();
    let outbound = OutboundCounters::default();
    for (name, _) in inbound.iter().chain(outbound.iter()) {
        let is_tested = this.contains(&format!("fn counts_{name}_only()"));
        assert!(is_tested != ORDINARY.contains(&name), "{name}");
    }
}

#[test]
fn counts_bytes_discarded_only() {
    let mut trace = Trace::new();
    trace.receive(&[7]);
    assert_only(&trace, "bytes_discarded");
}

#[test]
fn counts_not_redelivered_only() {
    let mut trace = Trace::new();
    trace.session.redeliver(trace.now, &[], &mut trace.sink, &mut trace.log);
    assert_only(&trace, "not_redelivered");
}

#[test]
fn counts_retransmissions_dropped_only() {
    let again = report_of(UUID, 1, BooleanFlag::TRUE);
    assert_only(&received(&[report(1), again].concat()), "retransmissions_dropped");
}

#[test]
fn counts_unrequested_only() {
    assert_only(&received(&template_only(510, 8, 75)), "unrequested");
}

#[test]
fn counts_unknown_messages_only() {
    assert_only(&received(&unknown(UUID, 1)), "unknown_messages");
}

#[test]
fn counts_trailing_bytes_only() {
    let mut long = report(1);
    long.push(0);
    let length = long.len();
    write_framing_header((&mut long[..4]).try_into().unwrap(), length);
    assert_only(&received(&long), "trailing_bytes");
}

#[test]
fn counts_gaps_only() {
    assert_only(&received(&report(3)), "gaps");
}

#[test]
fn counts_held_overflows_only() {
    let policy = SessionPolicy { held_bytes: 0, ..SessionPolicy::default() };
    let mut trace = Trace::with_policy(Progress::default(), policy);
    trace.connect(Binding::New);
    trace.log_on();
    trace.receive(&[report(3), report(4)].concat());
    assert_gap_and(&trace, "held_overflows", 1);
    assert_eq!(trace.session.inbound_counters().undelivered, 2);
}

#[test]
fn counts_retransmission_gaps_only() {
    let mut trace = awaiting_retransmission();
    trace.receive(&report_of(UUID, 2, BooleanFlag::TRUE));
    assert_gap_and(&trace, "retransmission_gaps", 1);
}

#[test]
fn counts_retransmissions_stalled_only() {
    let mut trace = awaiting_retransmission();
    trace.at(10_000);
    assert_gap_and(&trace, "retransmissions_stalled", 1);
}

#[test]
fn counts_retransmit_rejects_only() {
    let mut trace = awaiting_retransmission();
    trace.receive(&retransmit_reject(trace.session.progress().request_timestamp, 3));
    assert_gap_and(&trace, "retransmit_rejects", 1);
}

#[test]
fn counts_lost_only() {
    let mut trace = awaiting_retransmission();
    trace.receive(&retransmit_reject(trace.session.progress().request_timestamp, 1));
    assert_eq!(trace.session.inbound_counters().retransmit_rejects, 1);
    assert_eq!(trace.session.inbound_counters().lost, 2);
    assert_eq!(trace.session.inbound_counters().errors(), 0);
}

#[test]
fn counts_retransmission_errors_only() {
    let policy = SessionPolicy { retransmission_attempts: 1, ..SessionPolicy::default() };
    let mut trace = Trace::with_policy(Progress::default(), policy);
    trace.connect(Binding::New);
    trace.log_on();
    trace.receive(&report(3));
    trace.transmitted();
    trace.at(10_000);
    assert_eq!(trace.session.inbound_counters().retransmission_errors, 1);
    assert_eq!(trace.session.inbound_counters().errors(), 1);
}

#[test]
fn counts_unknown_ends_only() {
    let mut trace = Trace::with(Progress { uuid: 7, ..Progress::default() });
    trace.connect(Binding::New);
    trace.transmitted();
    let lost = trace.session.progress().uuid;
    // The end of a terminating session's connection is not a fault.
    trace.receive(&terminate(0, 5));
    trace.disconnect();
    trace.connect(Binding::New);
    let requested = trace.sent_request();
    trace.receive(&negotiation_response(trace.session.progress().uuid, requested));
    let ack = Ack { previous: (lost, 0), ..trace.ack() };
    trace.receive(&establishment_ack(&ack));
    assert_only(&trace, "unknown_ends");
}

#[test]
fn counts_not_applied_only() {
    assert_only(&received(&not_applied(1, 1)), "not_applied");
}

#[test]
fn counts_rejects_only() {
    let mut trace = Trace::connected();
    trace.transmitted();
    trace.receive(&frame(NegotiationReject502::ENCODED_LENGTH, |buffer| {
        NegotiationReject502::encode(buffer).unwrap().set_uuid(UUID);
    }));
    assert_only(&trace, "rejects");
}

#[test]
fn counts_silences_only() {
    let mut trace = Trace::established();
    trace.at(11_000);
    trace.receive(&sequence(UUID, 1, KeepAliveLapsed::NOT_LAPSED));
    assert_only(&trace, "silences");
}

#[test]
fn counts_asked_for_life_only() {
    assert_only(&received(&sequence(UUID, 1, KeepAliveLapsed::LAPSED)), "asked_for_life");
}

#[test]
fn counts_framing_errors_only() {
    assert_only(&received(&[0; 12]), "framing_errors");
}

#[test]
fn counts_schema_errors_only() {
    assert_only(&received(&template_only(522, 7, 226)), "schema_errors");
}

#[test]
fn counts_decode_errors_only() {
    let mut short = template_only(522, 8, 226);
    short.pop();
    let length = short.len();
    write_framing_header((&mut short[..4]).try_into().unwrap(), length);
    assert_only(&received(&short), "decode_errors");
}

#[test]
fn counts_unknown_templates_only() {
    assert_only(&received(&template_only(499, 8, 20)), "unknown_templates");
}

#[test]
fn counts_unexpected_messages_only() {
    let mut trace = Trace::connected();
    trace.transmitted();
    trace.receive(&report(1));
    assert_only(&trace, "unexpected_messages");
}

#[test]
fn counts_uuid_errors_only() {
    let other = report_of(UUID + 1, 1, BooleanFlag::FALSE);
    assert_only(&received(&other), "uuid_errors");
}

#[test]
fn counts_request_timestamp_errors_only() {
    let mut trace = Trace::connected();
    let requested = trace.sent_request();
    trace.receive(&negotiation_response(UUID, requested - 1));
    assert_only(&trace, "request_timestamp_errors");
}

#[test]
fn counts_sequence_errors_only() {
    assert_only(&received(&report(0)), "sequence_errors");
    assert_only(&received(&sequence(UUID, 0, KeepAliveLapsed::NOT_LAPSED)), "sequence_errors");
}

#[test]
fn counts_timeouts_only() {
    let policy = SessionPolicy { logon_attempts: 1, ..SessionPolicy::default() };
    let mut trace = Trace::with_policy(Progress::default(), policy);
    trace.connect(Binding::New);
    trace.transmitted();
    trace.at(2 * KEEP_ALIVE);
    assert_only(&trace, "timeouts");

    let mut trace = Trace::established();
    trace.session.terminate(trace.now);
    trace.transmitted();
    trace.at(KEEP_ALIVE);
    assert_only(&trace, "timeouts");
}

#[test]
fn counts_keep_alive_lapses_only() {
    let mut trace = Trace::established();
    trace.at(11_000);
    trace.at(21_000);
    assert_only(&trace, "keep_alive_lapses");
}

#[test]
fn counts_connections_lost_only() {
    let mut trace = Trace::established();
    trace.disconnect();
    assert_only(&trace, "connections_lost");
}

#[test]
fn counts_queued_only() {
    let mut trace = Trace::established();
    trace.sink.delivery = Some(Delivery::Waiting { waiting: 1 });
    trace.send(1).unwrap();
    assert_only(&trace, "queued");
}

#[test]
fn counts_broken_only() {
    let mut trace = Trace::established();
    trace.sink.delivery = Some(Delivery::Broken);
    trace.send(1).unwrap();
    assert_only(&trace, "broken");
}

#[test]
fn counts_taken_back_only() {
    let mut trace = Trace::established();
    trace.send(1).unwrap();
    trace.receive(&frame(BusinessReject521::ENCODED_LENGTH, |buffer| {
        let mut message = BusinessReject521::encode(buffer).unwrap();
        message.set_uuid(UUID).set_seq_num(1).set_poss_retrans_flag(BooleanFlag::FALSE);
        message.set_business_reject_ref_id(1);
    }));
    assert_only(&trace, "taken_back");
}

#[test]
fn counts_refused_not_established_only() {
    let mut trace = Trace::connected();
    assert!(trace.send(1).is_err());
    assert_only(&trace, "refused_not_established");
}

#[test]
fn counts_refused_without_number_only() {
    let next_outgoing = 999_999_999;
    let mut trace = Trace::with(Progress { uuid: 7, next_outgoing, ..Progress::default() });
    trace.connect(Binding::Resume);
    trace.acknowledge();
    assert_eq!(trace.send(1), Ok(999_999_999));
    assert_eq!(trace.send(1), Err(SendError::NumbersExhausted));
    assert_only(&trace, "refused_without_number");
}

#[test]
fn counts_failovers_only() {
    let mut trace = super::backup::established();
    trace.receive(&super::backup::promotion(3));
    assert_only(&trace, "failovers");
}

#[test]
fn counts_settled_by_logon_only() {
    let mut trace = super::backup::established();
    trace.receive(&super::backup::promotion(3));
    let primary = trace.session.progress();
    let primary = Progress { next_incoming: 3, ..primary };
    trace.session.take_over(trace.now, primary, &mut trace.sink, &mut trace.log);
    trace.session.inbound.counters = InboundCounters::default();
    trace.at(9_001);
    assert_only(&trace, "settled_by_logon");
}

#[test]
fn counts_logons_repeated_only() {
    let mut trace = Trace::connected();
    trace.transmitted();
    trace.at(2 * KEEP_ALIVE);
    assert_only(&trace, "logons_repeated");
}

#[test]
fn counts_not_replayed_only() {
    let mut trace = super::replay::having_sent(2);
    trace.at(9_000);
    assert_eq!(trace.sent(), ["Sequence 3"]);
    trace.receive(&not_applied(1, 1));
    assert_eq!(trace.session.inbound_counters().not_applied, 1);
    assert_eq!(trace.session.outbound_counters().not_replayed, 1);
    assert_eq!(trace.session.outbound_counters().not_kept, 0);
}

#[test]
fn counts_not_kept_only() {
    let mut trace = super::replay::having_sent(2);
    trace.sink.keeps_nothing = true;
    trace.receive(&not_applied(1, 1));
    assert_eq!(trace.session.outbound_counters().not_kept, 1);
    assert_eq!(trace.session.outbound_counters().not_replayed, 0);
}

#[test]
fn counts_refused_on_backup_only() {
    let mut trace = super::backup::established();
    assert_eq!(trace.send(1), Err(SendError::Backup));
    assert_only(&trace, "refused_on_backup");
}

#[test]
fn counts_refused_replaying_only() {
    let mut trace = super::replay::having_sent(2);
    trace.sink.rejection = Some(OutboundError::WouldBlock { waiting: 1 });
    trace.receive(&not_applied(1, 1));
    assert_eq!(trace.send(1), Err(SendError::Replaying));
    assert_eq!(trace.session.outbound_counters().refused_replaying, 1);
}

#[test]
fn counts_refused_requests_only() {
    let mut trace = Trace::established();
    let nothing = NewOrder { quantity: 0, ..order(1) };
    assert!(trace.session.sender(trace.now, &mut trace.sink).send(&nothing).is_err());
    assert_only(&trace, "refused_requests");
}

#[test]
fn counts_refused_by_outlet_only() {
    let mut trace = Trace::established();
    trace.sink.rejection = Some(OutboundError::Full);
    assert!(trace.send(1).is_err());
    assert_only(&trace, "refused_by_outlet");
}

/// A message that encodes more bytes than it declares.
struct TooLong;

impl Outgoing for TooLong {
    const MAX_LENGTH: usize = 20;

    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        order(1).encode(stamp, buffer)
    }
}

#[test]
fn counts_encode_errors_only() {
    let mut trace = Trace::established();
    assert!(trace.session.sender(trace.now, &mut trace.sink).send(&TooLong).is_err());
    assert_only(&trace, "encode_errors");
}

#[test]
fn counts_refused_throttled_only() {
    let mut trace = super::send::limited();
    let before = *trace.session.outbound_counters();
    (0..3).for_each(|id| assert_eq!(trace.send(id).is_ok(), id < 2));
    let after = *trace.session.outbound_counters();
    let changed = before.iter().zip(after.iter()).filter(|(old, new)| old.1 != new.1);
    let changed: Vec<_> = changed.map(|(_, new)| (new.0, new.1)).collect();
    let sent = after.business_bytes;
    let expected = [("business_messages", 2), ("business_bytes", sent), ("refused_throttled", 1)];
    assert_eq!(changed, expected);
}
