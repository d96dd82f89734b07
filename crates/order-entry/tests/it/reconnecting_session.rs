//! Reconnection by schedule, after a failure, and to the next host. `failover.rs` tests the backup.

use std::net::{Ipv4Addr, SocketAddrV4};

use crate::mock_exchange::{self, frames};
use crate::session_harness::{RecordedEvents, TestConnector};
use hairpin_mapped::MemoryStorage;
use hairpin_order_entry::*;
use hairpin_reactor::{Reactor, Ready, Wait};
use hairpin_time::{Duration, Instant, Now, Utc};

/// A Wednesday, noon UTC.
const NOON: u64 = 1_700_049_600;

fn now(seconds: u64) -> Now {
    let utc = Utc::from_nanos((NOON + seconds) * 1_000_000_000);
    Now { monotonic: Instant::from_nanos(seconds * 1_000_000_000 + 1), utc }
}

fn host(last: u8) -> SocketAddrV4 {
    SocketAddrV4::new(Ipv4Addr::new(127, 0, 0, last), 9)
}

fn settings() -> ConnectorSettings<SocketAddrV4> {
    ConnectorSettings {
        primary: vec![host(1), host(2)],
        backup: Vec::new(),
        attempts: None,
        interval: Duration::from_secs(5),
        schedule: None,
    }
}

struct Harness {
    reconnecting: ReconnectingSession<TestConnector, MemoryStorage, FixedZone>,
    connector: TestConnector,
    reactor: Reactor,
    events: RecordedEvents,
}

impl Harness {
    fn new(settings: ConnectorSettings<SocketAddrV4>) -> Self {
        let connector = TestConnector::default();
        connector.connection().room = usize::MAX;
        let storage = MemoryStorage::new(false);
        let session =
            Session::with_connect(mock_exchange::settings(1), storage, connector.clone()).unwrap();
        let reconnecting = ReconnectingSession::new(session, settings, FixedZone(0));
        let reactor = Reactor::new(Wait::Spin).unwrap();
        Self { reconnecting, connector, reactor, events: RecordedEvents::default() }
    }

    /// Processes one wakeup at `seconds` after noon, then the exchange's answers.
    fn poll(&mut self, seconds: u64) {
        let now = now(seconds);
        let ready = match self.reconnecting.session().state() {
            State::Disconnected => Ready::EMPTY,
            _ => self.reactor.wait(now.monotonic, None).unwrap(),
        };
        self.reconnecting.process(now, ready, &mut self.reactor, &mut self.events).unwrap();
        let mut connection = self.connector.connection();
        let written = std::mem::take(&mut connection.written);
        for frame in frames(&written) {
            let answer = connection.exchange.answer(frame);
            connection.incoming.extend(answer);
        }
    }

    /// Runs until no message is in flight.
    fn run_until_idle(&mut self, seconds: u64) -> State {
        (0..8).for_each(|_| self.poll(seconds));
        self.reconnecting.session().state()
    }

    fn connect_calls(&self) -> Vec<SocketAddrV4> {
        std::mem::take(&mut self.connector.connection().connect_calls)
    }

    /// Returns the next deadline in seconds after noon.
    fn due(&self) -> Option<u64> {
        let deadline = self.reconnecting.next_deadline()?;
        Some(deadline.saturating_since(now(0).monotonic).as_nanos().div_ceil(1_000_000_000))
    }
}

#[test]
fn connects_only_between_start_and_stop() {
    let mut harness = Harness::new(settings());
    assert_eq!((harness.run_until_idle(0), harness.due()), (State::Disconnected, None));
    assert_eq!(harness.connect_calls(), []);
    harness.reconnecting.start(now(1));
    assert_eq!(harness.run_until_idle(1), State::Established);
    assert_eq!(harness.connect_calls(), [host(1)]);
    harness.reconnecting.stop();
    assert_eq!(harness.run_until_idle(2), State::Disconnected);
    assert_eq!((harness.run_until_idle(100), harness.due()), (State::Disconnected, None));
    assert_eq!(harness.connect_calls(), []);
    harness.reconnecting.start(now(101));
    assert_eq!(harness.run_until_idle(101), State::Established);
}

#[test]
fn broken_connection_is_reopened_and_resumed() {
    let mut harness = Harness::new(settings());
    harness.reconnecting.start(now(0));
    harness.run_until_idle(0);
    let uuid = harness.reconnecting.session().progress().uuid;
    harness.connector.connection().ended = true;
    harness.poll(10);
    assert_eq!(harness.reconnecting.session().state(), State::Disconnected);
    harness.connector.connection().ended = false;
    assert_eq!((harness.run_until_idle(14), harness.due()), (State::Disconnected, Some(15)));
    assert_eq!(harness.run_until_idle(15), State::Established);
    assert_eq!(harness.reconnecting.session().progress().uuid, uuid, "the session was resumed");
    assert_eq!(harness.connect_calls(), [host(1), host(1)], "a host that worked is tried first");
}

#[test]
fn session_lost_right_after_its_logon_is_resumed() {
    let mut harness = Harness::new(ConnectorSettings { attempts: Some(1), ..settings() });
    harness.reconnecting.start(now(0));
    harness.run_until_idle(0);
    // The exchange terminates because of wrong numbers, so a new session must begin.
    let terminate = harness.connector.connection().exchange.terminate(11, 5);
    harness.connector.connection().incoming = terminate;
    assert_eq!(harness.run_until_idle(10), State::Disconnected);
    let mut connection = harness.connector.connection();
    connection.incoming.clear();
    connection.exchange.received.clear();
    drop(connection);
    while harness.reconnecting.session().state() != State::Establishing {
        assert!(!harness.reconnecting.has_given_up());
        harness.poll(15);
    }
    // The answer and the end of the connection arrive together.
    assert_eq!(harness.connector.connection().exchange.received, [500, 503]);
    harness.connector.connection().ended = true;
    harness.poll(16);
    assert_eq!(harness.reconnecting.session().state(), State::Disconnected);
    assert!(
        harness.reconnecting.session().was_established() && !harness.reconnecting.has_given_up()
    );
    let uuid = harness.reconnecting.session().progress().uuid;
    harness.connector.connection().ended = false;
    harness.connect_calls();
    assert_eq!(harness.run_until_idle(21), State::Established);
    assert_eq!(harness.reconnecting.session().progress().uuid, uuid);
    assert_eq!(
        harness.connector.connection().exchange.received,
        [500, 503, 503],
        "the last one resumes"
    );
    assert_eq!(harness.connect_calls(), [host(1)], "a host that worked is tried first");
}

#[test]
fn hosts_are_tried_in_turn_until_attempts_are_used_up() {
    let mut harness = Harness::new(ConnectorSettings { attempts: Some(3), ..settings() });
    harness.connector.connection().refusal = Some(std::io::ErrorKind::ConnectionRefused);
    harness.reconnecting.start(now(0));
    for seconds in 0..30 {
        harness.run_until_idle(seconds);
    }
    assert_eq!(harness.connect_calls(), [host(1), host(2), host(1)]);
    assert!(harness.reconnecting.has_given_up());
    assert_eq!(harness.due(), None);
    harness.connector.connection().refusal = None;
    harness.reconnecting.start(now(30));
    assert!(!harness.reconnecting.has_given_up());
    assert_eq!(harness.run_until_idle(30), State::Established);
    assert_eq!(harness.connect_calls(), [host(2)]);
}

#[test]
fn schedule_opens_and_closes_the_session() {
    let at = |day, hour| WeekTime::new(day, hour, 0).unwrap();
    // Wednesday is day 3: from 13:00 to 14:00.
    let schedule = Schedule::weekly(at(0, 0), &[(at(3, 13), at(3, 14))]).unwrap();
    let mut harness = Harness::new(ConnectorSettings { schedule: Some(schedule), ..settings() });
    harness.reconnecting.start(now(0));
    assert_eq!((harness.run_until_idle(0), harness.due()), (State::Disconnected, Some(3_600)));
    assert_eq!(harness.run_until_idle(3_600), State::Established);
    let first = harness.reconnecting.session().progress().uuid;
    assert_eq!(harness.run_until_idle(7_200), State::Disconnected);
    // In the next week no session can be resumed.
    let week = 7 * 24 * 3_600;
    assert_eq!(harness.due(), Some(week + 3_600));
    assert_eq!(harness.run_until_idle(week + 3_600), State::Established);
    assert!(harness.reconnecting.session().progress().uuid > first);
}
