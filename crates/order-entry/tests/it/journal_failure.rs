//! A journal that cannot be written to disk: event, counter and policy.

use crate::mock_exchange;
use crate::session_harness::SessionHarness;
use hairpin_order_entry::*;

const REFUSED: Result<Sent, SendError> = Err(SendError::Sink(OutboundError::JournalFailed));

#[test]
fn failed_journal_refuses_messages_and_is_reported_once() {
    let (mut harness, _folder) = SessionHarness::with_failed_journal(mock_exchange::settings(1));
    harness.poll();
    let written = harness.connector.written().len();
    for _ in 0..3 {
        assert_eq!(harness.send(), REFUSED);
        harness.poll();
    }
    assert_eq!(harness.connector.written().len(), written, "nothing more is sent");
    assert_eq!(harness.session.progress().next_outgoing, 2);
    assert_eq!(harness.events.0, ["cannot write the journal to disk: os error 2"]);
    assert_eq!(harness.session.counters().journal_failures, 1);
    assert_eq!(harness.session.state(), State::Established);
    harness.session.terminate(mock_exchange::now(harness.time));
    harness.poll();
    assert_eq!(harness.connector.written().len(), written + 1, "a Terminate is sent");
    assert!(harness.session.close_journal().is_err());
}

#[test]
fn failure_is_noticed_without_a_send() {
    let (mut harness, _folder) = SessionHarness::with_failed_journal(mock_exchange::settings(1));
    harness.poll();
    assert_eq!(harness.events.0.len(), 1);
    assert_eq!(harness.send(), REFUSED);
    let mut sender = harness.session.sender(mock_exchange::now(harness.time));
    let cancel = MassCancel::all();
    let batched = sender.batch(|sender| sender.send(&cancel).map(drop));
    assert_eq!(batched.value, Err(SendError::Sink(OutboundError::JournalFailed)));
}

#[test]
fn session_continues_without_its_journal_if_configured() {
    let when_journal_fails = WhenJournalFails::Continue;
    let settings = Settings { when_journal_fails, ..mock_exchange::settings(1) };
    let (mut harness, _folder) = SessionHarness::with_failed_journal(settings);
    let written = harness.connector.written().len();
    harness.poll();
    assert_eq!(harness.send().unwrap().delivery, Delivery::Written);
    assert_eq!(harness.connector.written().len(), written + 1);
    assert_eq!(harness.events.0, ["cannot write the journal to disk: os error 2"]);
    assert!(harness.session.close_journal().is_err());
}
