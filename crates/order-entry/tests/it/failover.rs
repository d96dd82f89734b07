//! Primary and backup at the simulated exchange's gateway: no failure loses or duplicates a
//! message.

use crate::in_memory_gateway::{self, InMemoryGateway, TestClient, host};
use crate::mock_exchange;
use hairpin_exchange::Designation;
use hairpin_mapped::{MemoryStorage, Storage};
use hairpin_order_entry::*;
use hairpin_time::Duration;

const BOTH: (State, State) = (State::Established, State::Established);
const ONE: (State, State) = (State::Established, State::Disconnected);
const NONE: (State, State) = (State::Disconnected, State::Disconnected);

/// Creates a client with five accepted orders, of which two reports are lost, and two lost orders.
fn with_orders_in_flight() -> TestClient {
    let mut client = TestClient::established();
    send_with_losses(&mut client);
    client
}

fn send_with_losses(client: &mut TestClient) {
    client.send_many(3);
    client.run_until_idle();
    client.gateway.inner().drops_inbound = true;
    client.send_many(2);
    client.poll();
    client.gateway.inner().drops_outbound = true;
    client.send_many(2);
    client.poll();
    let mut inner = client.gateway.inner();
    (inner.drops_inbound, inner.drops_outbound) = (false, false);
    assert_eq!(inner.accepted.0, [1, 2, 3, 4, 5]);
}

#[test]
fn standby_is_established_next_to_the_primary() {
    let mut client = TestClient::established();
    assert_eq!(client.take_connect_calls(), [host(1), host(9)]);
    assert_eq!(client.events.backup, ["connecting", "establishing", "established"]);
    client.send().unwrap();
    // Longer than both sides' keep-alive timeouts.
    client.run_millis(45_000);
    assert_eq!(client.states(), BOTH);
    assert_eq!(client.take_session_events(), Vec::<String>::new());
    assert!(client.reconnecting.backup_counters().unwrap().bytes_written > 0);
    client.audit();
}

#[test]
fn backup_frames_are_tapped_without_credentials() {
    let client = TestClient::established();
    let inner = client.gateway.inner();
    let ids: Vec<_> = inner.tapped_frames.iter().map(|it| mock_exchange::template_id(it)).collect();
    assert_eq!(ids, [500, 503, 503]);
    // HMACSignature is the first field of the body.
    assert!(inner.tapped_frames.iter().all(|it| it[12..44] == [b'*'; 32]));
}

#[test]
fn backup_keep_alive_sets_the_deadline() {
    let mut client = TestClient::established();
    client.run_millis(3_000);
    client.send().unwrap();
    client.run_until_idle();
    let (both, primary) =
        (client.reconnecting.next_deadline(), client.reconnecting.session().next_deadline());
    assert!(both.is_some() && both < primary, "{both:?} {primary:?}");
    client.audit();
}

#[test]
fn received_bytes_of_both_connections_are_tapped() {
    let mut client = with_orders_in_flight();
    client.gateway.fail_primary(false);
    client.run_until_idle();
    let inner = client.gateway.inner();
    assert!(inner.tapped_bytes.len() > 1_000);
    assert_eq!(inner.tapped_bytes, inner.delivered_bytes);
}

#[test]
fn send_is_refused_while_only_the_backup_is_connected() {
    let mut client = TestClient::established();
    client.send().unwrap();
    client.run_until_idle();
    client.gateway.inner().drops_inbound = true;
    client.gateway.cut(Designation::Primary);
    client.poll_client();
    assert_eq!(client.states(), (State::Disconnected, State::Established));
    let (before, frames) =
        (client.reconnecting.session().progress(), client.gateway.inner().tapped_frames.len());
    assert_eq!(client.send(), Err(SendError::Backup));
    assert_eq!(SendError::Backup.to_string(), "the session is the backup");
    assert_eq!(client.reconnecting.session().progress(), before);
    assert_eq!(client.gateway.inner().tapped_frames.len(), frames);
    client.audit_journal();
    // The exchange closes the backup's connection, so no connection is left.
    client.gateway.inner().drops_inbound = false;
    client.gateway.cut(Designation::Backup);
    client.poll_client();
    assert_eq!(client.send(), Err(SendError::NotEstablished(State::Disconnected)));
    client.run_millis(3_000);
    assert_eq!(client.states(), BOTH);
    assert_eq!(client.send().unwrap().seq_num, 2);
    client.run_until_idle();
    client.audit();
}

#[test]
fn backup_requests_are_journaled() {
    let client = TestClient::established();
    let journal = client.reconnecting.session().journal();
    let records = std::iter::successors(journal.next(None), |&it| journal.next(Some(it)));
    let journaled: Vec<_> =
        records.map(|it| mock_exchange::template_id(journal.bytes(it))).collect();
    assert_eq!(journaled, [500, 503, 503]);
    client.audit();
}

#[test]
fn simultaneous_requests_have_distinct_timestamps() {
    let mut client = TestClient::established();
    client.gateway.cut(Designation::Backup);
    client.poll();
    let noticed = client.millis;
    client.send_many(3);
    client.poll();
    // The gap is detected at the time at which the backup reconnects.
    client.gateway.lose_frame(0);
    client.millis = noticed + 1_000;
    client.poll_client();
    assert_eq!(client.reconnecting.session().outbound_counters().retransmit_requests, 1);
    client.run_until_idle();
    assert_eq!(client.states(), BOTH);
    assert!(!client.events.backup.iter().any(|events| events.starts_with("rejected")));
    client.audit();
}

#[test]
fn backup_request_timestamp_exceeds_the_primary_one() {
    let mut client = TestClient::established();
    client.send_many(2);
    client.poll();
    client.gateway.lose_frame(0);
    client.poll_client();
    assert_eq!(client.reconnecting.session().outbound_counters().retransmit_requests, 1);
    // Both connections terminate in the same call, the backup first.
    client.reconnecting.stop();
    client.poll_client();
    client.audit_journal();
}

#[test]
fn keep_alive_that_crosses_the_promotion_is_harmless() {
    // Of its 26 bytes none, some, or all are written.
    for room in [0, 5, 26] {
        let mut client = TestClient::established();
        client.run_until_keep_alive();
        client.gateway.inner().drops_outbound = true;
        client.gateway.inner().room = room;
        client.run_millis(20);
        client.gateway.fail_primary(false);
        client.poll();
        client.poll_client();
        assert!(client.events.active.is_some(), "{room}");
        client.gateway.inner().room = usize::MAX;
        client.gateway.inner().drops_outbound = false;
        client.run_until_idle();
        assert_eq!(client.reconnecting.session().state(), State::Established, "{room}");
        client.send().unwrap();
        client.run_until_idle();
        assert_eq!(client.gateway.inner().gateway.counters().terminates, 0);
        // An unsent keep-alive has the sequence number of a backup and must be discarded.
        let expected: &[u16] = if room == 0 { &[503, 514] } else { &[503, 506, 514] };
        assert_eq!(client.gateway.sent_templates(Designation::Backup), expected, "{room}");
        client.audit();
    }
}

/// Creates a client whose backup keep-alive is partly written.
fn with_partial_keep_alive() -> TestClient {
    let mut client = TestClient::established();
    client.run_until_keep_alive();
    client.gateway.inner().room = 5;
    client.run_millis(20);
    assert_eq!(client.gateway.inner().room, 0);
    client
}

#[test]
fn unwritten_backup_bytes_are_dropped_with_their_connection() {
    let mut client = with_partial_keep_alive();
    client.gateway.cut(Designation::Backup);
    client.poll();
    client.gateway.inner().room = usize::MAX;
    client.run_millis(1_050);
    assert_eq!(client.states(), BOTH);
    assert_eq!(client.gateway.sent_templates(Designation::Backup), [503]);
    client.audit();
}

#[test]
fn backup_control_message_waits_for_the_rest_of_another() {
    let mut client = with_partial_keep_alive();
    client.reconnecting.stop();
    client.poll();
    client.gateway.inner().room = usize::MAX;
    client.run_until_idle();
    assert_eq!(client.states(), NONE);
    assert_eq!(client.gateway.sent_templates(Designation::Backup), [503, 506, 507]);
    let events = ["terminating", "terminated 0", "disconnected"];
    assert!(
        client.events.backup.ends_with(&events.map(String::from)),
        "{:?}",
        client.events.backup
    );
}

#[test]
fn backup_promoted_just_before_its_end_takes_over() {
    let mut client = with_orders_in_flight();
    client.gateway.fail_primary(true);
    client.gateway.poll(in_memory_gateway::now(client.millis));
    client.gateway.cut(Designation::Backup);
    client.poll_client();
    assert_eq!(client.take_session_events(), ["failover from 6", "active 8", "gap 4 to 5"]);
    client.take_connect_calls();
    client.run_millis(1_500);
    assert_eq!(client.take_connect_calls()[0], host(9), "the former backup is the primary");
    assert_eq!(client.reconnecting.session().state(), State::Established);
    client.send().unwrap();
    client.run_until_idle();
    client.audit();
}

#[test]
fn backup_promoted_at_its_logon_gets_its_own_backup() {
    let mut client = TestClient::new();
    client.reconnecting.start(in_memory_gateway::now(0));
    while client.reconnecting.backup_state() != State::Establishing {
        client.poll();
    }
    client.gateway.fail_primary(false);
    client.gateway.poll(in_memory_gateway::now(client.millis));
    client.poll_client();
    assert_eq!(client.events.backup.last().unwrap(), "established");
    assert_eq!((client.states(), client.events.active.is_some()), (ONE, true));
    client.gateway.inner().gateway.restore();
    client.run_millis(1_500);
    assert_eq!(client.states(), BOTH);
    client.send().unwrap();
    client.run_until_idle();
    client.audit();
}

#[test]
fn backup_lost_right_after_its_logon_does_not_use_up_attempts() {
    let mut client = TestClient::with_attempts(1);
    client.reconnecting.start(in_memory_gateway::now(0));
    while client.reconnecting.backup_state() != State::Establishing {
        client.poll();
    }
    client.gateway.cut(Designation::Backup);
    client.poll_client();
    let events = ["established", "connection lost while established", "disconnected"];
    assert!(
        client.events.backup.ends_with(&events.map(String::from)),
        "{:?}",
        client.events.backup
    );
    client.run_millis(1_050);
    assert_eq!((client.states(), client.reconnecting.has_given_up_backup()), (BOTH, false));
}

/// Creates a client on a primary whose gateway has lost the session; only the backup's logon shows
/// it.
fn with_a_backup_that_is_refused() -> TestClient {
    let mut client = TestClient::new();
    client.gateway.inner().refusing_hosts = vec![host(9)];
    client.reconnecting.start(in_memory_gateway::now(0));
    client.run_until_idle();
    assert_eq!(client.states(), ONE);
    client.gateway.forget_connections(Designation::Primary);
    client.gateway.inner().refusing_hosts.clear();
    client.take_connect_calls();
    client
}

#[test]
fn backup_rejection_is_reported() {
    let mut client = with_a_backup_that_is_refused();
    client.run_millis(1_050);
    assert!(client.events.backup.contains(&"rejected 27".into()), "{:?}", client.events.backup);
    assert_eq!(client.take_session_events().last().unwrap(), "established");
}

#[test]
fn rejected_backup_leaves_logon_attempts_to_the_primary() {
    let mut client = with_a_backup_that_is_refused();
    client.run_millis(10_000);
    assert_eq!(client.take_connect_calls(), [host(9); 2], "a third attempt could close the port");
    assert_eq!(client.reconnecting.session().state(), State::Established);
}

#[test]
fn backup_warning_is_reported_as_a_warning() {
    let mut client = TestClient::established();
    client.gateway.inner().drops_inbound = true;
    client.run_millis(12_000);
    assert!(
        client.events.backup.contains(&"Warning(Silence)".into()),
        "{:?}",
        client.events.backup
    );
    let silence = format!("warning: {}", Warning::Silence);
    assert_eq!(client.take_session_events(), [silence], "the primary's warning");
}

#[test]
fn session_continues_after_the_backup_has_given_up() {
    let mut client = TestClient::with_attempts(2);
    client.gateway.inner().refusing_hosts = vec![host(9)];
    client.reconnecting.start(in_memory_gateway::now(0));
    client.run_millis(5_000);
    assert_eq!(client.take_connect_calls(), [host(1), host(9), host(9)]);
    assert_eq!(
        (client.reconnecting.has_given_up_backup(), client.reconnecting.has_given_up()),
        (true, false)
    );
    assert_eq!(client.states(), ONE);
    client.gateway.inner().refusing_hosts.clear();
    client.reconnecting.start(in_memory_gateway::now(client.millis));
    assert!(!client.reconnecting.has_given_up_backup());
    client.run_until_idle();
    assert_eq!(client.states(), BOTH);
}

#[test]
fn session_continues_on_the_backup_when_the_primary_fails() {
    for hangs in [false, true] {
        let mut client = with_orders_in_flight();
        client.gateway.fail_primary(hangs);
        client.run_until_idle();
        assert_eq!(client.states(), ONE);
        let mut expected = vec!["failover from 6", "active 8", "gap 4 to 5"];
        if !hangs {
            let lost = ["connection lost while established", "disconnected"];
            expected.splice(0..0, lost);
            expected.insert(3, "established");
        }
        assert_eq!(client.take_session_events(), expected);
        assert!(client.events.active.unwrap().in_doubt);
        // The next order reveals the lost messages, and is not applied either.
        assert_eq!(client.send().unwrap().seq_num, 8);
        client.run_until_idle();
        assert_eq!(client.events.not_applied, [6, 7, 8]);
        assert_eq!(client.send().unwrap().seq_num, 9);
        client.run_until_idle();
        assert_eq!(client.gateway.inner().accepted.0, [1, 2, 3, 4, 5, 9]);
        client.audit();
    }
}

#[test]
fn downtime_is_reported_at_the_failover() {
    let mut client = TestClient::established();
    client.gateway.inner().drops_inbound = true;
    client.gateway.cut(Designation::Primary);
    client.run_millis(300);
    // The exchange detects the failure later.
    assert_eq!(client.states(), (State::Disconnected, State::Established));
    let client = TestClient::established();
    let mut client = client;
    client.gateway.fail_primary(false);
    client.poll_client();
    assert_eq!(client.reconnecting.session().state(), State::Disconnected);
    client.gateway.poll(in_memory_gateway::now(client.millis));
    client.millis += 250;
    client.poll_client();
    assert_eq!(client.events.active.unwrap().down_for, Duration::from_millis(250));
}

#[test]
fn logon_resolves_in_doubt_orders_without_another_send() {
    let mut client = with_orders_in_flight();
    client.gateway.fail_primary(false);
    client.run_until_idle();
    client.take_session_events();
    client.run_millis(12_000);
    assert_eq!(client.events.not_applied, [6, 7]);
    assert_eq!(client.take_connect_calls()[2..4], [host(1), host(1)], "refused as the backup");
    assert_eq!(client.reconnecting.session().state(), State::Established);
    client.send().unwrap();
    client.run_until_idle();
    client.audit();
}

#[test]
fn messages_waiting_on_the_failed_connection_are_resolved() {
    for hangs in [false, true] {
        let mut client = TestClient::established();
        client.send().unwrap();
        client.run_until_idle();
        client.gateway.inner().room = 100;
        assert!(matches!(client.send().unwrap().delivery, Delivery::Waiting { .. }));
        client.send().unwrap();
        client.gateway.fail_primary(hangs);
        // The failed connection accepts no bytes until the backup is the primary.
        client.poll();
        client.poll();
        client.gateway.inner().room = usize::MAX;
        client.run_until_idle();
        assert_eq!(client.reconnecting.session().counters().unsent_records, 2);
        assert_eq!(client.reconnecting.session().waiting(), 0);
        client.send().unwrap();
        client.run_until_idle();
        assert_eq!(client.events.not_applied, [2, 3, 4]);
        client.audit();
    }
}

#[test]
fn unapplied_orders_are_replayed_on_the_new_primary() {
    let conduct =
        SessionPolicy { not_applied: NotAppliedAnswer::Replay, ..SessionPolicy::default() };
    let settings = Settings { conduct, ..mock_exchange::settings(9) };
    let mut client = TestClient::with_settings(settings).establish();
    send_with_losses(&mut client);
    client.gateway.fail_primary(false);
    client.run_until_idle();
    client.send().unwrap();
    client.run_until_idle();
    assert_eq!(client.events.not_applied, [6, 7, 8]);
    assert_eq!(client.gateway.inner().accepted.0, [1, 2, 3, 4, 5, 6, 7, 8]);
    client.events.not_applied.clear();
    client.audit();
}

#[test]
fn throttle_counts_messages_from_before_the_failover() {
    let rates = Rates { others: Some(Rate::per_second(1)), ..Rates::default() };
    let beyond = WhenThrottled::Refuse;
    let settings = Settings {
        throttle: Some(ThrottleSettings { rates, beyond }),
        ..mock_exchange::settings(9)
    };
    let mut client = TestClient::with_settings(settings).establish();
    client.send_many(2);
    client.run_until_idle();
    client.gateway.fail_primary(false);
    client.run_until_idle();
    client.send().unwrap();
    assert!(matches!(client.send(), Err(SendError::Throttled { .. })));
    client.run_until_idle();
    client.audit();
}

#[test]
fn failed_backup_reconnects_without_effect_on_the_session() {
    let mut client = TestClient::established();
    client.gateway.cut(Designation::Backup);
    client.run_until_idle();
    assert_eq!(client.states(), ONE);
    client.send().unwrap();
    client.run_millis(1_000);
    assert_eq!(client.states(), BOTH);
    assert_eq!(client.take_session_events(), Vec::<String>::new());
    assert_eq!(client.take_connect_calls(), [host(1), host(9), host(9)]);
    assert!(client.events.backup.contains(&"connection lost while established".into()));
    client.audit();
}

#[test]
fn stale_promotion_does_not_disturb_the_primary() {
    let mut client = TestClient::established();
    client.send_many(2);
    client.run_until_idle();
    let progress = client.reconnecting.session().progress();
    assert_eq!(progress.next_incoming, 3);
    let promotion = mock_exchange::MockExchange::promotion(progress.uuid, 2);
    client.gateway.inject(Designation::Backup, &promotion);
    client.run_until_idle();
    assert_eq!(client.take_session_events(), Vec::<String>::new());
    assert!(client.events.backup.contains(&"NextSeqNo is 2, expected 3".into()));
    assert_eq!(client.send().unwrap().seq_num, 3);
    // The backup's connection is reopened.
    client.run_millis(2_000);
    assert_eq!(client.states(), BOTH);
    assert_eq!(client.take_session_events(), Vec::<String>::new());
    client.audit();
}

#[test]
fn broken_primary_also_terminates_the_backup_and_both_return() {
    let mut client = TestClient::established();
    client.send().unwrap();
    client.run_until_idle();
    client.gateway.cut(Designation::Primary);
    client.run_until_idle();
    assert_eq!(client.states(), NONE);
    assert!(client.events.backup.contains(&"terminated 26".into()));
    client.run_millis(1_000);
    assert_eq!(client.states(), BOTH);
    client.send().unwrap();
    client.run_until_idle();
    client.audit();
}

#[test]
fn either_gateway_resumes_the_session_after_both_failed() {
    for (back, gone) in [(1, 9), (9, 1)] {
        let mut client = with_orders_in_flight();
        let uuid = client.reconnecting.session().progress().uuid;
        client.gateway.inner().refusing_hosts = vec![host(1), host(9)];
        client.gateway.cut(Designation::Backup);
        client.gateway.fail_primary(false);
        if back == 1 {
            // The backup failed first.
            client.gateway.fail_primary(false);
            client.gateway.inner().gateway.restore();
        }
        client.run_millis(4_000);
        assert_eq!(client.states(), NONE);
        client.gateway.inner().refusing_hosts = vec![host(gone)];
        client.run_millis(4_000);
        assert_eq!(client.reconnecting.session().state(), State::Established, "{back}");
        assert_eq!(client.reconnecting.session().progress().uuid, uuid);
        assert_eq!(client.events.not_applied, [6, 7]);
        client.send().unwrap();
        client.run_until_idle();
        client.audit();
    }
}

#[test]
fn missing_primary_is_searched_among_the_backups() {
    let mut client = TestClient::new();
    client.gateway.fail_primary(false);
    client.gateway.inner().refusing_hosts = vec![host(1)];
    client.reconnecting.start(in_memory_gateway::now(0));
    client.run_millis(1_200);
    assert_eq!(client.take_connect_calls()[..2], [host(1), host(9)]);
    assert_eq!(client.reconnecting.session().state(), State::Established);
    // The other host becomes its backup when it returns.
    client.gateway.inner().refusing_hosts.clear();
    client.gateway.inner().gateway.restore();
    client.run_millis(2_000);
    assert_eq!(client.states(), BOTH);
    client.send().unwrap();
    client.run_until_idle();
    client.audit();
}

#[test]
fn error_code_identifies_the_backup_gateway() {
    let mut client = TestClient::new();
    client.gateway.fail_primary(false);
    client.gateway.inner().gateway.restore();
    client.reconnecting.start(in_memory_gateway::now(0));
    client.run_millis(2_500);
    assert!(client.take_session_events().contains(&"rejected 27".into()));
    assert_eq!(client.states(), BOTH);
    assert_eq!(client.take_connect_calls(), [host(1), host(9), host(1)]);
}

#[test]
fn failover_during_a_retransmission_loses_nothing() {
    for answered in [0, 1, 2] {
        let mut client = TestClient::established();
        client.send().unwrap();
        client.run_until_idle();
        client.send_many(5);
        client.poll();
        // Reports 3 and 4 are lost: 5 and 6 are held back, and 3 and 4 are requested.
        (0..2).for_each(|_| client.gateway.lose_frame(1));
        client.poll_client();
        if answered > 0 {
            // The announcement and the first of two reports arrive.
            client.gateway.poll(in_memory_gateway::now(client.millis));
            if answered == 1 {
                client.gateway.lose_frame(2);
            }
            client.poll_client();
        }
        client.gateway.fail_primary(false);
        client.run_until_idle();
        assert_eq!(client.states(), ONE);
        client.send().unwrap();
        client.run_until_idle();
        assert_eq!(client.events.not_applied, Vec::<u32>::new());
        client.audit();
        assert_eq!(client.events.reports.len(), 7, "{answered}");
    }
}

#[test]
fn next_process_continues_after_a_failover() {
    let mut client = with_orders_in_flight();
    client.gateway.fail_primary(false);
    client.gateway.inner().refusing_hosts = vec![host(1)];
    client.run_until_idle();
    client.send().unwrap();
    client.run_until_idle();
    client.gateway.inner().drops_outbound = true;
    client.send().unwrap();
    client.poll();
    client.gateway.inner().drops_outbound = false;
    let before = client.reconnecting.session().progress();
    let mut client = client.restart();
    let after = client.reconnecting.session().progress();
    assert_eq!((after.uuid, after.next_outgoing), (before.uuid, before.next_outgoing));
    client.run_millis(1_500);
    assert_eq!(client.reconnecting.session().state(), State::Established);
    assert_eq!(client.events.not_applied, [6, 7, 8, 9]);
    client.send().unwrap();
    client.run_until_idle();
    client.audit();
}

#[test]
fn former_primary_stands_by_and_can_take_over_again() {
    let mut client = with_orders_in_flight();
    for round in 0..3 {
        client.gateway.fail_primary(round == 1);
        client.run_until_idle();
        assert_eq!(client.reconnecting.session().state(), State::Established);
        client.send().unwrap();
        client.run_until_idle();
        client.gateway.inner().gateway.restore();
        client.run_millis(1_500);
        assert_eq!(client.states(), BOTH);
        client.send().unwrap();
        client.run_until_idle();
    }
    assert_eq!(client.events.not_applied, [6, 7, 8]);
    assert_eq!(client.reconnecting.session().inbound_counters().failovers, 3);
    client.audit();
}

#[test]
fn stop_terminates_both_connections() {
    let mut client = TestClient::established();
    client.reconnecting.stop();
    client.run_until_idle();
    assert_eq!(client.states(), NONE);
    assert!(client.reconnecting.is_idle());
    assert_eq!(client.take_session_events(), ["terminating", "terminated 0", "disconnected"]);
    client.run_millis(3_000);
    assert_eq!(client.take_connect_calls(), [host(1), host(9)]);
}

#[test]
fn abandon_leaves_the_reactor() {
    let mut client = TestClient::established();
    client.abandon();
    assert!(client.reconnecting.is_idle());
    assert_eq!(client.sources(), 0);
}

#[test]
fn standby_requires_backup_hosts() {
    let gateway = InMemoryGateway::new();
    let settings = mock_exchange::settings(9);
    let session = Session::with_connect(settings, MemoryStorage::new(false), gateway).unwrap();
    let connector = ConnectorSettings { backup: Vec::new(), ..in_memory_gateway::connector() };
    let reconnecting = ReconnectingSession::new(session, connector, FixedZone(0));
    assert!(
        reconnecting.backup_counters().is_none() && reconnecting.last_backup_failure().is_none()
    );
    assert_eq!(reconnecting.backup_state(), State::Disconnected);
}

#[test]
fn unreachable_backup_is_reported_with_its_error() {
    let mut client = TestClient::new();
    client.gateway.inner().refusing_hosts = vec![host(9)];
    client.reconnecting.start(in_memory_gateway::now(0));
    client.run_until_idle();
    assert_eq!(client.states(), ONE);
    assert_eq!(client.events.backup[1], "connection lost while connecting");
    let failure = client.reconnecting.last_backup_failure().unwrap();
    assert_eq!(failure.kind(), std::io::ErrorKind::ConnectionRefused);
    assert_eq!(client.reconnecting.backup_counters().unwrap().failures, 1);
}

#[test]
fn abandon_stops_reconnecting() {
    let mut client = TestClient::established();
    client.take_connect_calls();
    client.abandon();
    client.run_millis(5_000);
    assert_eq!((client.states(), client.take_connect_calls().len()), (NONE, 0));
}
