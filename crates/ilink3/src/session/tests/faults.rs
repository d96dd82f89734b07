//! Malformed input, and input split anywhere.

use super::*;

#[test]
fn lost_connection_is_reported_and_drops_partial_frames() {
    let mut trace = Trace::established();
    trace.receive(&report(1)[..30]);
    trace.disconnect();
    assert_eq!(trace.events(), ["error connection lost while established", "state disconnected"]);
    trace.connect(Binding::Resume);
    trace.acknowledge();
    trace.receive(&report(1));
    assert_eq!(trace.events(), ["new 1"]);
}

#[test]
fn bad_framing_header_ends_the_connection() {
    let mut trace = Trace::established();
    let mut bad = report(2);
    bad[0..2].copy_from_slice(&[3, 0]);
    trace.receive(&[report(1), bad, report(2)].concat());
    let error = Error::Framing(FramingError::MessageSize(3));
    assert_eq!(trace.events(), ["new 1", &format!("error {error}"), "state terminating"]);
    trace.assert_fault(18);
    trace.receive(&report(2));
    assert!(trace.events().is_empty(), "input after a fault is ignored");
    assert_eq!(trace.session.inbound_counters().framing_errors, 1);
    assert_eq!(trace.session.inbound_counters().bytes_discarded, report(2).len() as u64);
}

#[test]
fn undecodable_message_ends_the_connection() {
    /// Removes the last byte of the frame and corrects its length.
    fn cut(mut frame: Vec<u8>) -> Vec<u8> {
        frame.pop();
        let length = frame.len();
        write_framing_header((&mut frame[..4]).try_into().unwrap(), length);
        frame
    }
    for (bytes, counter) in [
        (template_only(522, 7, 226), 0),
        (cut(template_only(506, 8, 14)), 1),
        (cut(template_only(507, 8, 67)), 1),
        (cut(report(1)), 1),
        (template_only(499, 8, 20), 2),
        (template_only(529, 8, 79), 2),
        (template_only(514, 8, 132), 2),
        (template_only(500, 8, 76), 2),
        (template_only(511, 8, 76), 2),
    ] {
        let mut trace = Trace::established();
        trace.receive(&bytes);
        trace.assert_fault(19);
        assert_eq!(trace.session.poll_action(), Some(Action::Close));
        let counters = trace.session.inbound_counters();
        let counted =
            [counters.schema_errors, counters.decode_errors, counters.unknown_templates][counter];
        assert_eq!((counted, counters.errors()), (1, 1));
    }
}

#[test]
fn message_in_the_wrong_state_ends_the_connection() {
    let mut trace = Trace::connected();
    trace.transmitted();
    trace.receive(&report(1));
    trace.assert_fault(3);

    let mut trace = Trace::established();
    trace.receive(&negotiation_response(UUID, UTC));
    trace.assert_fault(23);
    assert_eq!(trace.session.inbound_counters().unexpected_messages, 1);
}

#[test]
fn trailing_bytes_cause_only_a_warning() {
    let mut trace = Trace::established();
    let mut long = report(1);
    long.extend([0xAB; 5]);
    let length = long.len() as u16;
    long[..2].copy_from_slice(&length.to_le_bytes());
    trace.receive(&[long, report(2)].concat());
    let warning = "warning template 522 is followed by 5 unknown bytes in its frame";
    assert_eq!(trace.events(), [warning, "new 1", "new 2"]);
}

#[test]
fn decodes_older_and_newer_block_versions() {
    let mut trace = Trace::established();
    let mut newer = report(1);
    newer.extend([0xAB; 5]);
    let (size, block) = (newer.len() as u16, (newer.len() - 12) as u16);
    newer[..2].copy_from_slice(&size.to_le_bytes());
    newer[4..6].copy_from_slice(&block.to_le_bytes());
    newer[10..12].copy_from_slice(&10_u16.to_le_bytes());
    let mut older = report(2);
    older.truncate(12 + 209);
    older[..2].copy_from_slice(&221_u16.to_le_bytes());
    older[4..6].copy_from_slice(&209_u16.to_le_bytes());
    older[10..12].copy_from_slice(&5_u16.to_le_bytes());
    trace.receive(&[newer, older].concat());
    assert_eq!(trace.events(), ["new 1", "new 2"]);
}

#[test]
fn ignores_unrequested_retransmissions() {
    let mut trace = Trace::established();
    trace.receive(&template_only(509, 8, 31));
    assert_eq!(trace.events(), ["warning template 509 matches no pending request"]);
    assert_eq!(trace.session.inbound_counters().unrequested, 1);
}

/// Creates the exchange's bytes of a whole session, with one message of each kind.
fn conversation() -> Vec<u8> {
    [
        report(1),
        sequence(UUID, 2, KeepAliveLapsed::LAPSED),
        report_of(UUID, 1, BooleanFlag::TRUE),
        report(2),
        not_applied(1, 1),
        template_only(509, 8, 31),
        report(5),
        terminate(0, 9),
    ]
    .concat()
}

#[test]
fn splitting_the_stream_changes_nothing() {
    let stream = conversation();
    let mut whole = Trace::established();
    whole.receive(&stream);
    let (events, sent) = (whole.events(), whole.sent());
    assert_eq!(events.len(), 9, "{events:?}");
    for cut in 0..=stream.len() {
        let mut trace = Trace::established();
        trace.receive(&stream[..cut]);
        trace.receive(&stream[cut..]);
        assert_eq!((trace.events(), trace.sent()), (events.clone(), sent.clone()), "cut at {cut}");
    }
    let mut bytewise = Trace::established();
    stream.iter().for_each(|byte| bytewise.receive(&[*byte]));
    assert_eq!((bytewise.events(), bytewise.sent()), (events, sent));
}

#[test]
fn trailing_bytes_of_a_held_message_warn_once() {
    let mut trace = Trace::established();
    let mut long = report(2);
    long.push(0xAB);
    let length = long.len() as u16;
    long[..2].copy_from_slice(&length.to_le_bytes());
    trace.receive(&[long, report_of(UUID, 1, BooleanFlag::TRUE)].concat());
    let warning = "warning template 522 is followed by 1 unknown bytes in its frame";
    let gap = format!("gap 1 to 1 of {UUID}");
    assert_eq!(trace.events(), [warning, &gap, "new 1", "new 2"]);
}

#[test]
fn not_applied_of_another_uuid_is_a_fault() {
    let mut trace = Trace::established();
    trace.send(1).unwrap();
    trace.transmitted();
    trace.receive(&frame(NotApplied513::ENCODED_LENGTH, |buffer| {
        let mut message = NotApplied513::encode(buffer).unwrap();
        message.set_uuid(UUID + 1).set_from_seq_no(1).set_msg_count(1);
    }));
    trace.assert_fault(13);
    assert_eq!(trace.session.inbound_counters().not_applied, 0);
}
